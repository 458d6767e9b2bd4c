//! Randomness as an argument.

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{ChaCha20Poly1305, Nonce};

/// A source of random bytes. Keys come from it, so outside tests it must be unpredictable: see
/// [`io::OsEntropy`](crate::io::OsEntropy).
pub trait Entropy {
    /// Fills `bytes`.
    fn fill(&mut self, bytes: &mut [u8]);
}

/// The ChaCha20 keystream of a seed: as unpredictable as the seed, and equal for equal seeds.
#[derive(Clone)]
pub struct SeedEntropy {
    cipher: ChaCha20Poly1305,
    block: u64,
}

impl SeedEntropy {
    /// A source that yields the same bytes for the same seed.
    #[must_use]
    pub fn new(seed: [u8; 32]) -> Self {
        Self { cipher: ChaCha20Poly1305::new(&seed.into()), block: 0 }
    }

    /// A source for tests, from a small number.
    #[must_use]
    pub fn from_number(number: u64) -> Self {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&number.to_le_bytes());
        Self::new(seed)
    }
}

impl std::fmt::Debug for SeedEntropy {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("SeedEntropy").finish_non_exhaustive()
    }
}

impl Entropy for SeedEntropy {
    fn fill(&mut self, bytes: &mut [u8]) {
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&self.block.to_le_bytes());
        self.block += 1;
        bytes.fill(0);
        self.cipher
            .encrypt_inout_detached(&Nonce::from(nonce), &[], bytes.into())
            .expect("random requests are far below the cipher's limit");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_agree_and_calls_differ() {
        let (mut one, mut two, mut other) =
            (SeedEntropy::from_number(1), SeedEntropy::from_number(1), SeedEntropy::from_number(2));
        let take = |source: &mut SeedEntropy| {
            let mut bytes = [0; 40];
            source.fill(&mut bytes);
            bytes
        };
        let first = take(&mut one);
        assert_eq!(first, take(&mut two));
        assert_ne!(first, take(&mut other));
        assert_ne!(first, take(&mut one));
    }
}
