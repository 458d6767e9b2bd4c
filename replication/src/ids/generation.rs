/// A delivery generation: opened each time a client enters a place.
///
/// Ordered by wrapping distance, so it has no `Ord`. Zero is the direct path: messages that belong to no place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Generation(pub u32);

impl Generation {
    /// The direct path: always applies.
    pub const DIRECT: Self = Self(0);

    /// Whether `self` was opened after `other`.
    #[must_use]
    pub fn is_newer_than(self, other: Self) -> bool {
        let distance = self.0.wrapping_sub(other.0);
        distance != 0 && distance < 0x8000_0000
    }

    /// The generation after this one; never [`Self::DIRECT`].
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.wrapping_add(1).max(1))
    }

    /// What a client in `self` does with a message of `message`.
    #[must_use]
    pub fn admit(self, message: Self) -> Admission {
        if message == self || message == Self::DIRECT {
            Admission::Apply
        } else if message.is_newer_than(self) {
            Admission::Hold
        } else {
            Admission::Drop
        }
    }
}

/// What becomes of a message that carries a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It belongs to the entered place.
    Apply,
    /// It belongs to a place not entered yet: keep it until then.
    Hold,
    /// It belongs to a place that was left.
    Drop,
}

#[cfg(test)]
mod tests {
    use super::*;

    //
    #[test]
    fn equal_and_direct_apply_newer_waits_older_drops_across_the_wrap() {
        let entered = Generation(u32::MAX);
        assert_eq!(entered.admit(entered), Admission::Apply);
        assert_eq!(entered.admit(Generation::DIRECT), Admission::Apply);
        assert_eq!(entered.admit(entered.next()), Admission::Hold);
        assert_eq!(entered.admit(Generation(u32::MAX - 1)), Admission::Drop);
        assert_eq!(entered.next(), Generation(1));
    }
}
