//! Memory for unfinished and waiting messages.

/// Part of what is left that one connection may hold.
const SHARE: usize = 2;

/// Bytes that all connections of a shard hold in unfinished and waiting messages.
///
/// One alone may hold a third of all there may be, for it may hold half of what it leaves. The more hold as much as they may, the
/// less is that, so however many never finish what they begin, something is left for others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reassembly {
    pub(super) used: usize,
    pub(super) max: usize,
    is_shared: bool,
}

impl Reassembly {
    /// `max` bytes for many connections.
    pub(crate) fn shared(max: usize) -> Self {
        Self { used: 0, max, is_shared: true }
    }

    /// `max` bytes for one.
    pub(crate) fn of_one(max: usize) -> Self {
        Self { used: 0, max, is_shared: false }
    }

    /// Whether a connection that holds `held` bytes may hold `extra` more.
    pub(super) fn admits(&self, held: usize, extra: usize) -> bool {
        let left = self.max.saturating_sub(self.used);
        extra == 0 || (extra <= left && (!self.is_shared || held + extra <= left / SHARE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // B88, N-4: however many connections take all they may, there is room for an honest one.
    #[test]
    fn something_is_left_for_others() {
        let mut all = Reassembly::shared(256 << 20);
        let mut held = vec![0; 1_000];
        for _ in 0..3_000 {
            for held in &mut held {
                if all.admits(*held, 16 << 10) {
                    (*held, all.used) = (*held + (16 << 10), all.used + (16 << 10));
                }
            }
        }
        assert!(all.used < all.max);
        assert!(all.admits(0, 128 << 10), "{} are left", all.max - all.used);
    }

    #[test]
    fn one_alone_may_hold_a_third() {
        let (mut shared, mut own) = (Reassembly::shared(3 << 20), Reassembly::of_one(3 << 20));
        assert!(shared.admits(0, 1 << 20));
        assert!(!shared.admits(0, (3 << 19) + 1));
        shared.used = 1 << 20;
        assert!(!shared.admits(1 << 20, 1));
        assert!(shared.admits(1 << 20, 0), "what costs nothing is always taken");
        own.used = 2 << 20;
        assert!(own.admits(2 << 20, 1 << 20));
        assert!(!own.admits(2 << 20, (1 << 20) + 1));
    }
}
