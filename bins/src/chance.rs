/// Seeded luck for bots (SplitMix64): equal seeds give equal draws on every machine.
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any 64 bits.
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    /// Evenly from `low` up to `high`.
    pub(crate) fn between(&mut self, low: f32, high: f32) -> f32 {
        let share = (self.word() >> 40) as f32 / (1u32 << 24) as f32;
        low + (high - low) * share
    }

    /// True in a share of `probability` of all draws.
    pub(crate) fn strikes(&mut self, probability: f32) -> bool {
        self.between(0.0, 1.0) < probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_draw_equally_and_draws_spread() {
        let (mut a, mut b, mut c) = (Chance::new(7), Chance::new(7), Chance::new(8));
        let draws: Vec<f32> = (0..1000).map(|_| a.between(-1.0, 1.0)).collect();
        assert!(draws.iter().all(|draw| b.between(-1.0, 1.0).to_bits() == draw.to_bits()));
        assert!(draws.iter().any(|draw| c.between(-1.0, 1.0).to_bits() != draw.to_bits()));
        let mean = draws.iter().sum::<f32>() / 1000.0;
        assert!(mean.abs() < 0.1 && draws.iter().all(|draw| (-1.0..1.0).contains(draw)), "{mean}");
    }
}
