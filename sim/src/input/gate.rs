use super::{HeldState, InputPacket, StepInput};
use crate::sequence::Sequence;
use crate::time::SimTime;

/// What an [`InputGate`] lets through (S-6a).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputGateConfig {
    /// How far ahead of where an honest client could be a sequence may lie, inputs, default 128.
    pub max_ahead: u32,
    /// Most inputs in one packet, default 120.
    pub max_inputs: u32,
    /// Steps in one second, default 60: the rate at which an honest client numbers inputs.
    pub hz: u32,
    /// New inputs a second, default 66: what the pacer may ask for, and a little.
    pub inputs_per_second: u32,
    /// New inputs that may come at once, default 128.
    pub burst: u32,
}

impl Default for InputGateConfig {
    fn default() -> Self {
        Self { max_ahead: 128, max_inputs: 120, hz: 60, inputs_per_second: 66, burst: 128 }
    }
}

impl InputGateConfig {
    /// The numbers for a simulation of `hz` steps a second.
    #[must_use]
    pub fn for_rate(hz: u32) -> Self {
        Self { hz, inputs_per_second: hz.saturating_add(hz.div_ceil(10)), ..Self::default() }
    }
}

/// Why a packet of inputs was refused whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum InputRefusal {
    /// The session does not own what it steers.
    NotOwned = 0,
    /// It holds no input, or more than a packet may.
    Length = 1,
    /// Nothing in it is newer than what was let through.
    Stale = 2,
    /// Its sequence lies too far ahead.
    Ahead = 3,
    /// A number that must be finite is not.
    Nonfinite = 4,
    /// More inputs than the rate allows.
    Rate = 5,
}

impl InputRefusal {
    /// All reasons, in the order of their numbers, which is the order of the checks.
    pub const ALL: [Self; 6] = [Self::NotOwned, Self::Length, Self::Stale, Self::Ahead, Self::Nonfinite, Self::Rate];

    /// Its name in metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NotOwned => "not_owned",
            Self::Length => "length",
            Self::Stale => "stale",
            Self::Ahead => "ahead",
            Self::Nonfinite => "nonfinite",
            Self::Rate => "rate",
        }
    }
}

/// How packets fared at a gate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputGateCounters {
    /// Packets let through.
    pub admitted: u64,
    refused: [u64; InputRefusal::ALL.len()],
}

impl InputGateCounters {
    /// Packets refused for `reason`.
    #[must_use]
    pub fn refused(&self, reason: InputRefusal) -> u64 {
        self.refused[reason as usize]
    }

    /// What was counted since `earlier`, an older state of the same counters.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut since = Self { admitted: self.admitted - earlier.admitted, ..*self };
        for (count, before) in since.refused.iter_mut().zip(earlier.refused) {
            *count -= before;
        }
        since
    }

    /// Packets refused in all.
    #[must_use]
    pub fn all_refused(&self) -> u64 {
        self.refused.iter().sum()
    }

    /// Adds another set, e.g. that of another client.
    pub fn add(&mut self, other: &Self) {
        self.admitted += other.admitted;
        for (sum, count) in self.refused.iter_mut().zip(other.refused) {
            *sum += count;
        }
    }
}

/// The one way in for a client's inputs: what passes may be stored, what does not has touched nothing (S-6a).
///
/// Numbers grow by the wall as well as by what arrives: after a stall of any length an honest client is let in again.
#[derive(Clone, Copy, Debug)]
pub struct InputGate {
    config: InputGateConfig,
    newest: Sequence,
    /// When `newest` came, `None` before the first input.
    newest_at: Option<SimTime>,
    /// Inputs saved up, in units of 1/61,440 s times the rate.
    saved: u64,
    saved_at: SimTime,
    counters: InputGateCounters,
}

impl InputGate {
    /// A gate that waits for sequence 1.
    #[must_use]
    pub fn new(config: InputGateConfig) -> Self {
        Self::starting_after(Sequence(0), config)
    }

    /// A gate that waits for the sequence after `last`.
    #[must_use]
    pub fn starting_after(last: Sequence, config: InputGateConfig) -> Self {
        let saved = u64::from(config.burst) * SimTime::UNITS_PER_SECOND;
        Self { config, newest: last, newest_at: None, saved, saved_at: SimTime(0), counters: Default::default() }
    }

    /// Judges a packet that arrived at `now`; `owned` says whether its session owns what it steers. Returns how many of
    /// its inputs are newer than all before.
    ///
    /// # Errors
    ///
    /// The first reason to refuse it whole, which is counted.
    pub fn admit<H: HeldState>(
        &mut self,
        packet: &InputPacket<'_, StepInput<H>>,
        owned: bool,
        now: SimTime,
    ) -> Result<u32, InputRefusal> {
        let verdict = self.judge(packet, owned, now);
        match verdict {
            Ok(_) => {
                self.counters.admitted += 1;
                self.newest = packet.last;
                self.newest_at = Some(self.newest_at.map_or(now, |at| at.max(now)));
            }
            Err(refusal) => self.counters.refused[refusal as usize] += 1,
        }
        verdict
    }

    /// How packets fared so far.
    #[must_use]
    pub fn counters(&self) -> &InputGateCounters {
        &self.counters
    }

    /// The newest sequence let through.
    #[must_use]
    pub fn newest(&self) -> Sequence {
        self.newest
    }

    fn judge<H: HeldState>(
        &mut self,
        packet: &InputPacket<'_, StepInput<H>>,
        owned: bool,
        now: SimTime,
    ) -> Result<u32, InputRefusal> {
        if !owned {
            return Err(InputRefusal::NotOwned);
        }
        let count = packet.inputs.len();
        if count == 0 || count > self.config.max_inputs as usize {
            return Err(InputRefusal::Length);
        }
        if !packet.last.is_newer_than(self.newest) {
            return Err(InputRefusal::Stale);
        }
        let ahead = packet.last.0.wrapping_sub(self.newest.0);
        if u64::from(ahead) > self.reach(now) {
            return Err(InputRefusal::Ahead);
        }
        if !packet.inputs.iter().all(|input| input.held.is_finite()) {
            return Err(InputRefusal::Nonfinite);
        }
        let new = ahead.min(count as u32);
        if self.take(new, now) { Ok(new) } else { Err(InputRefusal::Rate) }
    }

    /// How far beyond the newest sequence an honest client could be by `now`, and the slack on top.
    fn reach(&self, now: SimTime) -> u64 {
        let elapsed = now.0.saturating_sub(self.newest_at.unwrap_or(now).0);
        let steps = elapsed.saturating_mul(u64::from(self.config.hz)) / SimTime::UNITS_PER_SECOND;
        steps.saturating_add(u64::from(self.config.max_ahead))
    }

    fn take(&mut self, inputs: u32, now: SimTime) -> bool {
        let elapsed = now.0.saturating_sub(self.saved_at.0);
        let gained = elapsed.saturating_mul(u64::from(self.config.inputs_per_second));
        let capacity = u64::from(self.config.burst) * SimTime::UNITS_PER_SECOND;
        self.saved = self.saved.saturating_add(gained).min(capacity);
        self.saved_at = self.saved_at.max(now);
        let price = u64::from(inputs) * SimTime::UNITS_PER_SECOND;
        let enough = self.saved >= price;
        if enough {
            self.saved -= price;
        }
        enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use proptest::prelude::*;

    fn at(step: u64) -> SimTime {
        SimTime((1 << 40) + step * 1024)
    }

    fn admit(gate: &mut InputGate, last: u32, held: f32, step: u64) -> Result<u32, InputRefusal> {
        let inputs = [StepInput { buttons: 1, held }];
        gate.admit(&InputPacket { last: Sequence(last), inputs: &inputs }, true, at(step))
    }

    // S-6a: the first reason wins.
    #[test]
    fn checks_come_in_order() {
        let mut gate = InputGate::new(InputGateConfig { burst: 1, ..InputGateConfig::default() });
        let bad = [StepInput { buttons: 0, held: f32::NAN }];
        let far = InputPacket { last: Sequence(1 << 31), inputs: &bad };
        assert_eq!(gate.admit(&far, false, at(0)), Err(InputRefusal::NotOwned));
        assert_eq!(gate.admit(&InputPacket { inputs: &bad[..0], ..far }, true, at(0)), Err(InputRefusal::Length));
        assert_eq!(gate.admit(&far, true, at(0)), Err(InputRefusal::Stale));
        assert_eq!(admit(&mut gate, 129, f32::NAN, 0), Err(InputRefusal::Ahead));
        assert_eq!(admit(&mut gate, 128, f32::NAN, 0), Err(InputRefusal::Nonfinite));
        assert_eq!(admit(&mut gate, 128, 0.0, 0), Ok(1));
        assert_eq!(admit(&mut gate, 128, 0.0, 0), Err(InputRefusal::Stale));
        assert_eq!(admit(&mut gate, 129, 0.0, 0), Err(InputRefusal::Rate));
        assert_eq!(admit(&mut gate, 129, 0.0, 1), Ok(1));
        assert!(InputRefusal::ALL.iter().all(|refusal| gate.counters().refused(*refusal) > 0));
        assert_eq!((gate.counters().admitted, gate.counters().all_refused()), (2, 7));
    }

    // B18
    #[test]
    fn far_labels_are_refused_and_counted() {
        let mut gate = InputGate::starting_after(Sequence(u32::MAX - 20), InputGateConfig::default());
        for (count, ahead) in [30_000, (1 << 31) - 1, 1 << 31, u32::MAX].into_iter().enumerate() {
            let last = (u32::MAX - 20).wrapping_add(ahead);
            let refused = admit(&mut gate, last, 0.0, 5);
            assert!(matches!(refused, Err(InputRefusal::Ahead | InputRefusal::Stale)));
            assert_eq!(gate.counters().all_refused(), count as u64 + 1);
        }
        assert_eq!(gate.newest(), Sequence(u32::MAX - 20));
    }

    // B8, S-6a
    #[test]
    fn a_client_is_let_in_again_after_any_stall() {
        let mut gate = InputGate::new(InputGateConfig::default());
        assert_eq!(admit(&mut gate, 1, 0.0, 0), Ok(1));
        for stall in [120_u64, 1_800, 54_000] {
            let mut stalled = gate;
            assert_eq!(admit(&mut stalled, 1 + stall as u32, 0.0, stall), Ok(1));
            assert_eq!(admit(&mut gate.clone(), 1 + stall as u32, 0.0, 2).is_err(), stall > 130);
        }
    }

    // B21
    #[test]
    fn nonfinite_numbers_go_no_further() {
        let mut gate = InputGate::new(InputGateConfig::default());
        for (last, number) in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY].into_iter().enumerate() {
            let inputs = [StepInput { buttons: 0, held: Vec3::new(0.0, number, 0.0) }];
            let packet = InputPacket { last: Sequence(last as u32 + 1), inputs: &inputs };
            assert_eq!(gate.admit(&packet, true, at(0)), Err(InputRefusal::Nonfinite));
        }
        assert_eq!(admit(&mut gate, 1, f32::MAX, 0), Ok(1), "large and finite is the game's to limit");
    }

    proptest! {
        // B20: in no window come more inputs through than rate and burst allow.
        #[test]
        fn the_rate_holds_in_every_window(gaps in prop::collection::vec((0_u64..4, 1_u32..6), 1..400)) {
            let mut gate = InputGate::new(InputGateConfig::default());
            let inputs = [StepInput { buttons: 0, held: 0_i32 }; 8];
            let (mut step, mut last, mut passed) = (0, 0_u32, Vec::new());
            for (gap, count) in gaps {
                step += gap;
                let packet = InputPacket { last: Sequence(last + count), inputs: &inputs[..count as usize] };
                if let Ok(new) = gate.admit(&packet, true, at(step)) {
                    prop_assert_eq!(new, count);
                    last += count;
                    passed.push((step, u64::from(new)));
                }
            }
            for (index, (from, _)) in passed.iter().enumerate() {
                let mut sum = 0;
                for (to, new) in &passed[index..] {
                    sum += new;
                    prop_assert!(sum as f64 <= 128.0 + 66.0 * (to - from) as f64 / 60.0);
                }
            }
        }
    }
}
