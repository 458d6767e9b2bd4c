use proptest::prelude::*;
use tidelock_sim::Sequence;
use tidelock_sim::input::{InputBuffer, InputBufferConfig, InputBufferStats, InputPresence, PressActions, StepInput};

type Input = StepInput<i32>;

/// (mask, stage), in order of declaration.
const ACTIONS: [(u32, u8); 3] = [(0b1, 0), (0b110, 1), (0b1000, 2)];

/// Presses from one input to the next as (stage, declaration and bit).
fn presses(before: Input, after: Input) -> Vec<(u8, u32)> {
    let risen = after.buttons & !before.buttons;
    let bits = ACTIONS
        .iter()
        .flat_map(|(mask, stage)| (0..32).filter(move |bit| mask >> bit & 1 == 1).map(move |bit| (*stage, bit)));
    let mut presses: Vec<_> = bits.filter(|(_, bit)| risen >> bit & 1 == 1).collect();
    presses.sort();
    presses
}

/// The rule of merging, said once more.
fn merges(before: Input, first: Input, second: Input) -> bool {
    let mask = 0b1111;
    let (of_first, of_second) = (presses(before, first), presses(first, second));
    if first == before {
        return true;
    }
    if before.buttons & !first.buttons & second.buttons & mask != 0 {
        return false;
    }
    if of_first.is_empty() {
        return true;
    }
    let added = second.buttons & !first.buttons & mask;
    let all: Vec<_> = of_first.iter().chain(&of_second).map(|(stage, _)| *stage).collect();
    second.buttons == (first.buttons | added) && first.held == second.held && all.is_sorted_by(|a, b| a < b)
}

/// The buffer with plain lists and no thought of speed; sequences are wide from the start.
struct Model {
    config: InputBufferConfig,
    queue: Vec<(i64, Input)>,
    guesses: Vec<(i64, Input, bool)>,
    arrivals: Vec<i64>,
    depths: Vec<usize>,
    expected: Vec<(i64, (u8, u32))>,
    applied: i64,
    last: Input,
    newest: Input,
    ever: bool,
    starved_for: u32,
    steps: i64,
    stats: InputBufferStats,
}

impl Model {
    fn new(config: InputBufferConfig) -> Self {
        let neutral = Input::default();
        Self {
            config,
            queue: vec![],
            guesses: vec![],
            arrivals: vec![],
            depths: vec![],
            expected: vec![],
            applied: 0,
            last: neutral,
            newest: neutral,
            ever: false,
            starved_for: 0,
            steps: 0,
            stats: InputBufferStats::default(),
        }
    }

    fn offer_range(&mut self, last: i64, inputs: &[Input]) -> usize {
        let mut new = 0;
        for (index, input) in inputs.iter().enumerate() {
            let sequence = last - (inputs.len() - 1 - index) as i64;
            let guessed = self.guesses.iter().any(|(guess, ..)| *guess == sequence);
            let queued = self.queue.last().is_some_and(|(newest, _)| sequence <= *newest);
            if guessed || (sequence > self.applied && !queued) {
                self.accept(sequence, *input);
                new += 1;
            }
        }
        new
    }

    fn accept(&mut self, sequence: i64, input: Input) {
        self.stats.offered += 1;
        self.arrivals.push(self.steps - sequence);
        let new = presses(self.newest, input);
        self.stats.presses.offered += new.len() as u64;
        self.expected.extend(new.into_iter().map(|press| (sequence, press)));
        self.newest = input;
        let guess = self.guesses.iter().find(|(guess, ..)| *guess == sequence).copied();
        self.guesses.retain(|(guess, ..)| *guess > sequence);
        if guess.is_some_and(|(_, guessed, spoiled)| guessed == input && !spoiled) {
            self.stats.speculation_hits += 1;
            return;
        }
        self.guesses.iter_mut().for_each(|(.., spoiled)| *spoiled = true);
        self.queue.push((sequence, input));
        if self.queue.len() > self.config.max_queued as usize {
            let before = |index: usize| if index == 0 { self.last } else { self.queue[index - 1].1 };
            let pair = (0..self.queue.len() - 1)
                .find(|index| merges(before(*index), self.queue[*index].1, self.queue[index + 1].1));
            self.queue.remove(pair.unwrap_or(0));
            *(if pair.is_some() { &mut self.stats.merged } else { &mut self.stats.dropped }) += 1;
        }
    }

    fn consume(&mut self) -> (Input, i64, InputPresence) {
        self.steps += 1;
        if self.queue.is_empty() {
            return self.starve();
        }
        let (mut sequence, mut input) = self.queue.remove(0);
        self.stats.applied += 1;
        let most = self.config.max_target as usize;
        let window = self.config.drain_window as usize;
        let recent = self.depths.iter().rev().take(window);
        let long = self.depths.len() >= window && recent.copied().all(|depth| depth > most) && self.queue.len() > most;
        if self.config.catch_up && long && merges(self.last, input, self.queue[0].1) {
            (sequence, input) = self.queue.remove(0);
            self.stats.merged += 1;
        }
        self.depths.push(self.queue.len());
        for press in presses(self.last, input) {
            match self.expected.iter().position(|(_, expected)| *expected == press) {
                Some(index) => {
                    self.expected.remove(index);
                    self.stats.presses.applied += 1;
                    self.stats.presses.reordered += u64::from(index > 0);
                }
                None => self.stats.presses.extra += 1,
            }
        }
        self.stats.presses.lost += self.expected.iter().filter(|(expected, _)| *expected <= sequence).count() as u64;
        self.expected.retain(|(expected, _)| *expected > sequence);
        self.applied = self.applied.max(sequence);
        (self.last, self.ever, self.starved_for) = (input, true, 0);
        (input, self.applied, InputPresence::Present)
    }

    fn starve(&mut self) -> (Input, i64, InputPresence) {
        self.depths.push(0);
        self.stats.starved += 1;
        self.starved_for += 1;
        if !self.ever || self.config.neutral_after.is_some_and(|after| self.starved_for > after) {
            self.stats.neutral += 1;
            return (Input::default(), self.applied, InputPresence::Absent);
        }
        if self.config.catch_up && self.guesses.len() < self.config.max_speculation as usize {
            self.applied += 1;
            self.guesses.push((self.applied, self.last, false));
            self.stats.speculated += 1;
        }
        (self.last, self.applied, InputPresence::Guessed)
    }

    fn target(&self) -> u32 {
        let window = &self.arrivals[self.arrivals.len().saturating_sub(self.config.jitter_window as usize)..];
        let jitter = window.iter().max().map_or(0, |max| max - window.iter().min().unwrap());
        (jitter as f64 - 0.5).ceil().clamp(f64::from(self.config.min_target), f64::from(self.config.max_target)) as u32
    }
}

fn configs() -> impl Strategy<Value = InputBufferConfig> {
    let numbers = (1_u32..20, 0_u32..3, 0_u32..5, 1_u32..30, 1_u32..8, 0_u32..10);
    (numbers, any::<bool>(), prop::option::of(1_u32..20)).prop_map(|(numbers, catch_up, neutral_after)| {
        let (max_queued, min_target, more, jitter_window, drain_window, max_speculation) = numbers;
        let max_target = min_target + more;
        InputBufferConfig {
            max_queued,
            min_target,
            max_target,
            jitter_window,
            drain_window,
            catch_up,
            max_speculation,
            neutral_after,
        }
    })
}

#[derive(Clone, Debug)]
enum Op {
    /// This many inputs, the last so far beyond the newest ever offered.
    Offer(i64, Vec<(u32, i32)>),
    Consume(u32),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let inputs = prop::collection::vec((prop_oneof![2 => 0_u32..16, 1 => Just(1)], 0..2_i32), 1..6);
    let offer =
        (prop_oneof![4 => -3_i64..4, 1 => -40_i64..40], inputs).prop_map(|(ahead, inputs)| Op::Offer(ahead, inputs));
    prop::collection::vec(prop_oneof![1 => offer, 1 => (1_u32..4).prop_map(Op::Consume)], 1..200)
}

proptest! {
    // S-6: every configuration, every order of arrival, across the wrap.
    #[test]
    fn the_buffer_does_as_the_model(config in configs(), before: u32, ops in ops()) {
        let actions = PressActions::new(&ACTIONS).unwrap();
        let mut buffer = InputBuffer::new(config, actions, Input::default()).unwrap().starting_after(Sequence(before));
        let mut model = Model::new(config);
        let wire = |sequence: i64| Sequence(before.wrapping_add(sequence as u32));
        let mut newest = 0;
        for op in ops {
            match op {
                Op::Offer(ahead, inputs) => {
                    let last = (newest + ahead).max(inputs.len() as i64);
                    newest = newest.max(last);
                    let inputs: Vec<_> = inputs.iter().map(|(buttons, held)| Input { buttons: *buttons, held: *held }).collect();
                    prop_assert_eq!(buffer.offer_range(wire(last), &inputs), model.offer_range(last, &inputs));
                }
                Op::Consume(count) => for _ in 0..count {
                    let before = model.last.buttons;
                    let (input, acknowledged, presence) = model.consume();
                    let got = buffer.consume();
                    prop_assert_eq!((got.input, got.presence), (input, presence));
                    prop_assert_eq!(got.acknowledged, wire(acknowledged));
                    prop_assert_eq!(got.guessed as usize, model.guesses.len());
                    let pressed = if presence == InputPresence::Present { input.buttons & !before & 15 } else { 0 };
                    prop_assert_eq!(got.pressed, pressed);
                },
            }
            prop_assert_eq!((buffer.depth() as usize, buffer.target()), (model.queue.len(), model.target()));
            prop_assert!(buffer.depth() <= config.max_queued);
        }
        prop_assert_eq!(buffer.stats(), model.stats);
    }
}
