use serde_json::{Value, json};

use crate::expectation::{Expectation, items, number};

/// S-7.
pub(crate) fn pacer(case: &Value, expectation: &mut Expectation) {
    let (mut average, mut jitter) = (2.0_f64, 0.0);
    for (step, report) in items(&case["reports"]).iter().enumerate() {
        expectation.enter_step(step);
        let depth = number(&report["depth"]);
        jitter += 0.1 * ((depth - average).abs() - jitter);
        average += 0.1 * (depth - average);
        let target = report["target"].as_f64().unwrap_or(0.0);
        let aim = target.max(1.0 + 2.0 * jitter).clamp(2.0, 5.0);
        let pace = 1.0 + ((aim - average) * 0.02).clamp(-0.05, 0.05);
        for (what, model) in [("average", average), ("jitter", jitter), ("aim", aim), ("pace", pace)] {
            expectation.number(what, model, &report["expect"][what]);
        }
    }
}

/// Buttons and held state.
type Input = [i64; 2];

/// (stage, declaration, bit) of each press from one input to the next, in the order they apply.
fn presses(actions: &[Input], before: Input, after: Input) -> Vec<(i64, usize, u32)> {
    let risen = after[0] & !before[0];
    let mut presses = Vec::new();
    for (declared, [mask, stage]) in actions.iter().enumerate() {
        presses.extend((0..32).filter(|bit| risen & mask & 1 << bit != 0).map(|bit| (*stage, declared, bit)));
    }
    presses.sort_unstable();
    presses
}

/// S-3.
fn merges(actions: &[Input], before: Input, first: Input, second: Input) -> bool {
    let mask = actions.iter().fold(0, |mask, action| mask | action[0]);
    let (of_first, of_second) = (presses(actions, before, first), presses(actions, first, second));
    let stages: Vec<i64> = of_first.iter().chain(&of_second).map(|press| press.0).collect();
    let added = second[0] & !first[0] & mask;
    first == before
        || before[0] & !first[0] & second[0] & mask == 0
            && (of_first.is_empty()
                || second[0] == first[0] | added && first[1] == second[1] && stages.is_sorted_by(|a, b| a < b))
}

/// S-6, with plain lists.
struct Buffer {
    actions: Vec<Input>,
    config: Value,
    queue: Vec<(i64, Input)>,
    /// Sequence, guessed input, whether a different one came before it.
    guesses: Vec<(i64, Input, bool)>,
    arrivals: Vec<i64>,
    depths: Vec<usize>,
    expected: Vec<(i64, (i64, usize, u32))>,
    applied: i64,
    last: Input,
    newest: Input,
    ever: bool,
    steps: i64,
    stats: Value,
}

impl Buffer {
    fn new(case: &Value) -> Self {
        let neutral = input(&case["neutral"]);
        let mut config = json!({
            "max_queued": 16, "min_target": 0, "max_target": 2, "jitter_window": 120, "drain_window": 30,
            "catch_up": true, "max_speculation": 8,
        });
        for (key, value) in case["config"].as_object().into_iter().flatten() {
            config[key] = value.clone();
        }
        Self {
            actions: items(&case["actions"]).iter().map(input).collect(),
            config,
            queue: Vec::new(),
            guesses: Vec::new(),
            arrivals: Vec::new(),
            depths: Vec::new(),
            expected: Vec::new(),
            applied: 0,
            last: neutral,
            newest: neutral,
            ever: false,
            steps: 0,
            stats: json!({}),
        }
    }

    fn most(&self, key: &str) -> usize {
        self.config[key].as_u64().expect("a number") as usize
    }

    fn count(&mut self, what: &str, more: usize) {
        self.stats[what] = json!(self.stats[what].as_u64().unwrap_or(0) + more as u64);
    }

    fn offer(&mut self, sequence: i64, input: Input) -> bool {
        let guess = self.guesses.iter().find(|guess| guess.0 == sequence).copied();
        if guess.is_none() && (sequence <= self.applied || self.queue.last().is_some_and(|last| sequence <= last.0)) {
            return false;
        }
        self.count("offered", 1);
        self.arrivals.push(self.steps - sequence);
        let new = presses(&self.actions, self.newest, input);
        self.count("presses_offered", new.len());
        self.expected.extend(new.into_iter().map(|press| (sequence, press)));
        self.newest = input;
        self.guesses.retain(|guess| guess.0 > sequence);
        if guess.is_some_and(|(_, guessed, spoiled)| guessed == input && !spoiled) {
            self.count("speculation_hits", 1);
            return true;
        }
        self.guesses.iter_mut().for_each(|guess| guess.2 = true);
        self.queue.push((sequence, input));
        if self.queue.len() > self.most("max_queued") {
            let before = |at: usize| if at == 0 { self.last } else { self.queue[at - 1].1 };
            let safe = |at: &usize| merges(&self.actions, before(*at), self.queue[*at].1, self.queue[at + 1].1);
            let pair = (0..self.queue.len() - 1).find(safe);
            self.count(if pair.is_some() { "merged" } else { "dropped" }, 1);
            self.queue.remove(pair.unwrap_or(0));
        }
        true
    }

    fn consume(&mut self) -> Input {
        self.steps += 1;
        if self.queue.is_empty() {
            return self.starve();
        }
        let (mut sequence, mut input) = self.queue.remove(0);
        self.count("applied", 1);
        let (most, window) = (self.most("max_target"), self.most("drain_window"));
        let long = self.depths.len() >= window && self.depths.iter().rev().take(window).all(|depth| *depth > most);
        let folds = self.config["catch_up"] == true && long && self.queue.len() > most;
        if folds && merges(&self.actions, self.last, input, self.queue[0].1) {
            (sequence, input) = self.queue.remove(0);
            self.count("merged", 1);
        }
        self.depths.push(self.queue.len());
        for press in presses(&self.actions, self.last, input) {
            match self.expected.iter().position(|expected| expected.1 == press) {
                Some(at) => {
                    self.expected.remove(at);
                    self.count("presses_applied", 1);
                    self.count("presses_reordered", usize::from(at > 0));
                }
                None => self.count("presses_extra", 1),
            }
        }
        let lost = self.expected.iter().filter(|expected| expected.0 <= sequence).count();
        self.count("presses_lost", lost);
        self.expected.retain(|expected| expected.0 > sequence);
        self.applied = self.applied.max(sequence);
        (self.last, self.ever) = (input, true);
        input
    }

    fn starve(&mut self) -> Input {
        self.depths.push(0);
        self.count("starved", 1);
        let guesses = self.config["catch_up"] == true && self.guesses.len() < self.most("max_speculation");
        if self.ever && guesses {
            self.applied += 1;
            self.guesses.push((self.applied, self.last, false));
            self.count("speculated", 1);
        }
        self.last
    }

    fn target(&self) -> u64 {
        let recent = &self.arrivals[self.arrivals.len().saturating_sub(self.most("jitter_window"))..];
        let jitter = recent.iter().max().map_or(0, |most| most - recent.iter().min().unwrap_or(most));
        let target = (jitter as f64 - 0.5).ceil() as u64;
        target.clamp(self.most("min_target") as u64, self.most("max_target") as u64)
    }
}

pub(crate) fn buffer(case: &Value, expectation: &mut Expectation) {
    let mut buffer = Buffer::new(case);
    for (step, op) in items(&case["ops"]).iter().enumerate() {
        expectation.enter_step(step);
        if op["op"] == "consume" {
            let input = buffer.consume();
            expectation.same("input", json!(input), &op["expect"]["input"]);
            expectation.same("ack", buffer.applied, &op["expect"]["ack"]);
            expectation.same("depth", buffer.queue.len(), &op["expect"]["depth"]);
            expectation.same("target", buffer.target(), &op["expect"]["target"]);
        } else {
            let (inputs, last) = (items(&op["inputs"]), op["last_seq"].as_i64().expect("a sequence"));
            let first = last - inputs.len() as i64 + 1;
            let new = inputs.iter().zip(first..).filter(|(one, sequence)| buffer.offer(*sequence, input(one))).count();
            expectation.same("new", new, &op["expect"]);
        }
    }
    // A range skips what is known without counting it as stale or a duplicate.
    for (what, stated) in case["stats"].as_object().into_iter().flatten() {
        let model = buffer.stats[what.as_str()].as_u64().unwrap_or(0);
        expectation.same(what, model, stated);
    }
}

fn input(value: &Value) -> Input {
    [0, 1].map(|at| value[at].as_i64().expect("an integer"))
}
