use glam::{Quat, Vec3};

/// A 64-bit FNV-1a digest of values, bit for bit: equal histories, equal digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    /// Takes in bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Takes in a number.
    pub fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    /// Takes in a vector's bits.
    pub fn vector(&mut self, vector: Vec3) {
        for component in vector.to_array() {
            self.bytes(&component.to_bits().to_le_bytes());
        }
    }

    /// Takes in a rotation's bits.
    pub fn rotation(&mut self, rotation: Quat) {
        for component in rotation.to_array() {
            self.bytes(&component.to_bits().to_le_bytes());
        }
    }

    /// The digest so far.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.0
    }
}
