/// A 32-bit counter that wraps: reports, inputs, owned-physics reports.
///
/// Ordered by wrapping distance, so it has no `Ord`: `a` is newer than `b` when `(a - b) mod 2^32` is in `1..=2^31-1`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sequence(pub u32);

impl Sequence {
    /// Whether `self` was issued after `other`.
    #[must_use]
    pub fn is_newer_than(self, other: Self) -> bool {
        let distance = self.0.wrapping_sub(other.0);
        distance != 0 && distance < 0x8000_0000
    }

    /// The sequence after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// Signed distance from `other` to `self`: positive when `self` is newer.
    #[must_use]
    pub fn distance_from(self, other: Self) -> i32 {
        self.0.wrapping_sub(other.0) as i32
    }
}
