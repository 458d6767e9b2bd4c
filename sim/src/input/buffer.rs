use std::collections::VecDeque;

use super::arrivals::ArrivalSpread;
use super::press_audit::PressAudit;
use super::{HeldState, InputBufferConfig, InputBufferConfigError, InputBufferStats, PressActions, StepInput};
use crate::sequence::Sequence;

/// Where a step's input came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputPresence {
    /// The client sent it.
    Present,
    /// Nothing arrived in time: it repeats the last input.
    Guessed,
    /// Nothing ever arrived, or nothing for so long that the player is let go of: it is neutral.
    Absent,
}

/// What became of one offered input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OfferVerdict {
    /// It waits for its step.
    Queued,
    /// It equals the guess that was applied in its place.
    Hit,
    /// Its step is over.
    Stale,
    /// It waits already.
    Duplicate,
}

/// The input of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConsumedInput<H> {
    /// What to step with.
    pub input: StepInput<H>,
    /// Buttons that act in this step, in no order: [`PressActions::presses`] has it. Measured against the last input of
    /// the client, so a button held through neutral steps does not act again.
    pub pressed: u32,
    /// Where it came from.
    pub presence: InputPresence,
    /// The newest sequence this and earlier steps stand for, guesses included; the snapshot's acknowledgement.
    pub acknowledged: Sequence,
    /// How many sequences up to the acknowledged one are guesses nobody confirmed yet.
    pub guessed: u32,
    /// Inputs left in the queue.
    pub depth: u32,
    /// The depth the client is asked to keep.
    pub target: u32,
}

#[derive(Clone, Copy, Debug)]
struct Guess<H> {
    sequence: u64,
    input: StepInput<H>,
    spoiled: bool,
}

/// A server's queue of one client's inputs: one per step, no press lost, guesses for what is late (S-6).
///
/// However much arrives, a step consumes one input, so a client that sends faster moves no faster. Nothing allocates
/// after construction.
#[derive(Clone, Debug)]
pub struct InputBuffer<H> {
    config: InputBufferConfig,
    actions: PressActions,
    neutral: StepInput<H>,
    /// Sequences widened, ascending.
    queue: VecDeque<(u64, StepInput<H>)>,
    /// Standing guesses, ascending. All that is queued is older than all of them.
    guesses: VecDeque<Guess<H>>,
    applied: u64,
    last: StepInput<H>,
    newest: StepInput<H>,
    ever_applied: bool,
    steps: u64,
    starved_for: u32,
    above_target_for: u32,
    arrivals: ArrivalSpread,
    audit: PressAudit,
    stats: InputBufferStats,
}

/// Sequences are counted from here, so that those before the first have room below.
const EPOCH: u64 = 1 << 32;

impl<H: HeldState> InputBuffer<H> {
    /// An empty buffer that waits for sequence 1.
    ///
    /// # Errors
    ///
    /// When a number of `config` is out of range.
    pub fn new(
        config: InputBufferConfig,
        actions: PressActions,
        neutral: StepInput<H>,
    ) -> Result<Self, InputBufferConfigError> {
        config.check()?;
        Ok(Self {
            config,
            actions,
            neutral,
            queue: VecDeque::with_capacity(config.max_queued as usize + 1),
            guesses: VecDeque::with_capacity(config.max_speculation as usize),
            applied: EPOCH,
            last: neutral,
            newest: neutral,
            ever_applied: false,
            steps: 0,
            starved_for: 0,
            above_target_for: 0,
            arrivals: ArrivalSpread::new(config.jitter_window),
            audit: PressAudit::new(),
            stats: InputBufferStats::default(),
        })
    }

    /// The same buffer, waiting for the sequence after `last`. Only sensible before the first offer.
    #[must_use]
    pub fn starting_after(mut self, last: Sequence) -> Self {
        self.applied = EPOCH + u64::from(last.0);
        self
    }

    /// Takes in one input.
    pub fn offer(&mut self, sequence: Sequence, input: StepInput<H>) -> OfferVerdict {
        let (sequence, input) = (self.widened(sequence), input.sanitised());
        if sequence <= self.applied {
            return self.answer(sequence, input);
        }
        if self.is_queued(sequence) {
            self.stats.duplicates += 1;
            return OfferVerdict::Duplicate;
        }
        self.guesses.clear();
        self.accept(sequence, &input);
        self.enqueue(sequence, input);
        OfferVerdict::Queued
    }

    /// Takes in consecutive inputs that end in `last`, oldest first, passing over those known already. Returns how many
    /// were new.
    pub fn offer_range(&mut self, last: Sequence, inputs: &[StepInput<H>]) -> usize {
        let mut new = 0;
        for (index, input) in inputs.iter().enumerate() {
            let earlier = (inputs.len() - 1 - index) as u32;
            let sequence = Sequence(last.0.wrapping_sub(earlier));
            let wide = self.widened(sequence);
            let known = if wide <= self.applied { self.guess(wide).is_none() } else { self.is_queued(wide) };
            if !known {
                self.offer(sequence, *input);
                new += 1;
            }
        }
        new
    }

    /// The input of the next step.
    pub fn consume(&mut self) -> ConsumedInput<H> {
        self.steps += 1;
        let before = self.last.buttons;
        let (input, presence) = match self.queue.pop_front() {
            Some((sequence, input)) => (self.apply(sequence, input), InputPresence::Present),
            None => self.starve(),
        };
        let pressed =
            if presence == InputPresence::Present { input.buttons & !before & self.actions.mask() } else { 0 };
        ConsumedInput {
            input,
            pressed,
            presence,
            acknowledged: self.acknowledged(),
            guessed: self.guesses.len() as u32,
            depth: self.depth(),
            target: self.target(),
        }
    }

    /// The newest sequence steps stand for, guesses included.
    #[must_use]
    pub fn acknowledged(&self) -> Sequence {
        Sequence(self.applied.wrapping_sub(EPOCH) as u32)
    }

    /// Inputs waiting.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.queue.len() as u32
    }

    /// The depth to ask of the client: the jitter of arrivals in steps, rounded, within the configured bounds.
    #[must_use]
    pub fn target(&self) -> u32 {
        // The jitter is a whole number of steps, so rounding up what is half a step less leaves it.
        let jitter = u32::try_from(self.arrivals.spread()).unwrap_or(u32::MAX);
        jitter.clamp(self.config.min_target, self.config.max_target)
    }

    /// The actions presses are judged by.
    #[must_use]
    pub fn actions(&self) -> &PressActions {
        &self.actions
    }

    /// What became of inputs so far.
    #[must_use]
    pub fn stats(&self) -> InputBufferStats {
        InputBufferStats { presses: self.audit.counts(), ..self.stats }
    }

    /// The wide sequence nearest to the applied one.
    fn widened(&self, sequence: Sequence) -> u64 {
        let distance = sequence.distance_from(self.acknowledged());
        self.applied.saturating_add_signed(i64::from(distance))
    }

    fn is_queued(&self, sequence: u64) -> bool {
        self.queue.back().is_some_and(|(newest, _)| sequence <= *newest)
    }

    fn guess(&self, sequence: u64) -> Option<usize> {
        self.guesses.iter().position(|guess| guess.sequence == sequence)
    }

    /// An input whose step is over answers the guess that was made for it, if that still stands.
    fn answer(&mut self, sequence: u64, input: StepInput<H>) -> OfferVerdict {
        let Some(index) = self.guess(sequence) else {
            self.stats.stale += 1;
            return OfferVerdict::Stale;
        };
        let guess = self.guesses[index];
        self.guesses.drain(..=index);
        self.accept(sequence, &input);
        if guess.input == input && !guess.spoiled {
            self.stats.speculation_hits += 1;
            return OfferVerdict::Hit;
        }
        for later in &mut self.guesses {
            later.spoiled = true;
        }
        self.enqueue(sequence, input);
        OfferVerdict::Queued
    }

    /// Accepted sequences only ever grow: an arrival discards the guesses before it.
    fn accept(&mut self, sequence: u64, input: &StepInput<H>) {
        self.stats.offered += 1;
        self.arrivals.push(self.steps.wrapping_sub(sequence) as i64);
        self.audit.expect(sequence, &self.actions, self.newest.buttons, input.buttons);
        self.newest = *input;
    }

    fn enqueue(&mut self, sequence: u64, input: StepInput<H>) {
        self.queue.push_back((sequence, input));
        if self.queue.len() <= self.config.max_queued as usize {
            return;
        }
        let mut before = &self.last;
        let pair = self.queue.iter().zip(self.queue.iter().skip(1)).position(|((_, first), (_, second))| {
            let merges = self.actions.can_merge(before, first, second);
            before = first;
            merges
        });
        if let Some(first) = pair {
            self.queue.remove(first);
            self.stats.merged += 1;
        } else {
            self.queue.pop_front();
            self.stats.dropped += 1;
        }
    }

    fn apply(&mut self, mut sequence: u64, mut input: StepInput<H>) -> StepInput<H> {
        self.stats.applied += 1;
        if self.drains(&input)
            && let Some(next) = self.queue.pop_front()
        {
            (sequence, input) = next;
            self.stats.merged += 1;
        }
        let above = self.depth() > self.config.max_target;
        self.above_target_for = if above { self.above_target_for.saturating_add(1) } else { 0 };
        self.audit.apply(sequence, &self.actions, self.last.buttons, input.buttons);
        self.applied = self.applied.max(sequence);
        (self.last, self.ever_applied, self.starved_for) = (input, true, 0);
        input
    }

    /// Whether the queue has been, and still is, too long, and `input` can take in the next one.
    fn drains(&self, input: &StepInput<H>) -> bool {
        let too_long = self.above_target_for >= self.config.drain_window && self.depth() > self.config.max_target;
        let next = self.queue.front().filter(|_| self.config.catch_up && too_long);
        next.is_some_and(|(_, next)| self.actions.can_merge(&self.last, input, next))
    }

    fn starve(&mut self) -> (StepInput<H>, InputPresence) {
        self.stats.starved += 1;
        self.above_target_for = 0;
        self.starved_for = self.starved_for.saturating_add(1);
        let let_go = self.config.neutral_after.is_some_and(|after| self.starved_for > after);
        if !self.ever_applied || let_go {
            self.stats.neutral += 1;
            return (self.neutral, InputPresence::Absent);
        }
        if self.config.catch_up && self.guesses.len() < self.config.max_speculation as usize {
            self.applied += 1;
            self.guesses.push_back(Guess { sequence: self.applied, input: self.last, spoiled: false });
            self.stats.speculated += 1;
        }
        (self.last, InputPresence::Guessed)
    }
}
