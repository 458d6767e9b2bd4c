use tidelock_sim::Tick;

use crate::ids::Slot;

/// Which motion is newer than what a client already has, per subject.
///
/// Indexed by the client's own slots. A reliable pose counts too: motion of its tick or before is older.
#[derive(Clone, Debug, Default)]
pub struct MotionGate {
    /// One above the newest tick let through, 0 for none.
    newest: Vec<u64>,
    rejected: u64,
}

impl MotionGate {
    /// A gate that has let nothing through.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets the subject's motion of `tick` ([`super::MotionItem::order`]) through unless motion of that tick or a newer one went
    /// before.
    pub fn admit(&mut self, slot: Slot, tick: Tick) -> bool {
        let newest = self.column(slot);
        let stamp = tick.0.saturating_add(1);
        if stamp > *newest {
            *newest = stamp;
            return true;
        }
        self.rejected += 1;
        false
    }

    /// Forgets a subject, so that the slot's next occupant starts anew.
    pub fn forget(&mut self, slot: Slot) {
        *self.column(slot) = 0;
    }

    /// Motion rejected as older so far.
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    fn column(&mut self, slot: Slot) -> &mut u64 {
        if slot.index() >= self.newest.len() {
            self.newest.resize(slot.index() + 1, 0);
        }
        &mut self.newest[slot.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    //
    #[test]
    fn older_and_equal_ticks_are_rejected_per_subject() {
        let mut gate = MotionGate::new();
        assert!(gate.admit(Slot(3), Tick(0)));
        assert!(!gate.admit(Slot(3), Tick(0)));
        assert!(gate.admit(Slot(3), Tick(5)));
        assert!(!gate.admit(Slot(3), Tick(4)));
        assert!(gate.admit(Slot(4), Tick(4)));
        gate.forget(Slot(3));
        assert!(gate.admit(Slot(3), Tick(4)));
        assert_eq!(gate.rejected(), 2);
    }
}
