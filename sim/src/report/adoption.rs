use crate::time::SimTime;

/// How much a character may still deviate from its replay by adopted reports (S-24a): a leaky budget in studs. An honest
/// client replays to the bit and never spends any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdoptionBudget {
    capacity: f32,
    refill: f32,
    available: f32,
    last: Option<SimTime>,
}

impl AdoptionBudget {
    /// A full budget of `capacity` studs (0.75 by default) regaining `refill` studs/s (0.05 by default).
    #[must_use]
    pub fn new(capacity: f32, refill: f32) -> Self {
        Self { capacity, refill, available: capacity, last: None }
    }

    /// Spends `residual` studs at `now`, or spends nothing and says it does not fit. 0 always fits.
    pub fn spend(&mut self, residual: f32, now: SimTime) -> bool {
        let last = *self.last.get_or_insert(now);
        let elapsed = now.since(last).seconds() as f32;
        self.available = (self.available + elapsed * self.refill).min(self.capacity);
        self.last = Some(last.max(now));
        // Not `>`: a residual that is no number does not fit.
        let fits = residual <= self.available;
        if fits {
            self.available -= residual;
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-24a: targets.md allows 0.05 studs/s.
    #[test]
    fn adopted_offsets_add_up_to_less_than_a_creep() {
        let mut budget = AdoptionBudget::new(0.75, 0.05);
        let mut gained = 0.0;
        for report in 0..20 * 600_u64 {
            for residual in [0.7, 0.1, 0.01] {
                if budget.spend(residual, SimTime(report * 3_072)) {
                    gained += residual;
                }
            }
        }
        assert!(gained <= 0.75 + 0.05 * 600.0 + 0.01, "{gained} studs in ten minutes");
        assert!(!budget.spend(f32::NAN, SimTime(u64::MAX)));
        assert!(budget.spend(0.0, SimTime(0)));
    }
}
