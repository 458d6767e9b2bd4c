use serde_json::{Value, json};

use crate::chance::Chance;

/// Seeded luck for written vectors: numbers of four decimals, so that files stay short and say what they mean.
pub(super) struct Draws(Chance);

impl Draws {
    pub(super) fn new(seed: u64) -> Self {
        Self(Chance::new(seed))
    }

    pub(super) fn number(&mut self, low: f64, high: f64) -> f64 {
        let share = (self.0.word() >> 11) as f64 / (1_u64 << 53) as f64;
        ((low + (high - low) * share) * 1e4).round() / 1e4
    }

    /// From `low` up to but not `end`.
    pub(super) fn whole(&mut self, low: u64, end: u64) -> u64 {
        low + self.0.word() % (end - low)
    }

    pub(super) fn word(&mut self) -> u32 {
        self.0.word() as u32
    }

    pub(super) fn strikes(&mut self, probability: f32) -> bool {
        self.0.strikes(probability)
    }

    pub(super) fn pick<T: Clone>(&mut self, among: &[T]) -> T {
        among[self.whole(0, among.len() as u64) as usize].clone()
    }

    /// Each part within `half` of 0.
    pub(super) fn vector(&mut self, half: f64) -> [f64; 3] {
        std::array::from_fn(|_| self.number(-half, half))
    }

    /// A rotation of unit length.
    pub(super) fn rotation(&mut self) -> [f64; 4] {
        loop {
            let parts: [f64; 4] = std::array::from_fn(|_| self.number(-1.0, 1.0));
            let length = parts.iter().map(|part| part * part).sum::<f64>().sqrt();
            if length > 0.2 {
                return parts.map(|part| f64::from((part / length) as f32));
            }
        }
    }
}

/// A number as vector files write it.
pub(super) fn number(value: f64) -> Value {
    if value.is_nan() {
        json!("nan")
    } else if value.is_infinite() {
        json!(if value > 0.0 { "inf" } else { "-inf" })
    } else {
        json!(value)
    }
}
