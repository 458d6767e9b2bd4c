//! The operating system's randomness.

use std::fmt;

use ring::rand::{SecureRandom, SystemRandom};

use crate::entropy::Entropy;

/// Random bytes from the operating system, for keys.
#[derive(Clone)]
pub struct OsEntropy(SystemRandom);

impl OsEntropy {
    /// The source.
    #[must_use]
    pub fn new() -> Self {
        Self(SystemRandom::new())
    }

    /// A fresh seed, such as a shard is made with.
    #[must_use]
    pub fn seed(&mut self) -> [u8; 32] {
        let mut seed = [0; 32];
        self.fill(&mut seed);
        seed
    }
}

impl Default for OsEntropy {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for OsEntropy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("OsEntropy")
    }
}

impl Entropy for OsEntropy {
    /// # Panics
    /// If the operating system has no randomness to give: nothing secure can be done then.
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill(bytes).expect("the operating system gives randomness");
    }
}
