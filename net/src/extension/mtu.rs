//! Search for the longest datagram a path passes whole.

use std::time::Duration;

/// Bytes of a probe's number, and of its answer.
pub(crate) const PROBE_BYTES: usize = 8;

/// Lengths of IP packets tried, in bytes: IPv6's least, tunnels inside tunnels, PPPoE, Ethernet.
const STEPS: [usize; 5] = [1_280, 1_372, 1_452, 1_492, 1_500];
/// Attempts before a longer length is believed not to pass, and before one in use is.
const ATTEMPTS: u32 = 6;
const DOUBTED_ATTEMPTS: u32 = 10;
/// Shortest time between two attempts.
const MIN_INTERVAL: Duration = Duration::from_millis(100);
/// Time until lengths that did not pass are tried again.
const RAISE: Duration = Duration::from_secs(30);
/// Shorter probes answered, sent beside those of the length in doubt, that show that the path itself is there.
const PROOF: u32 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aim {
    /// Nothing to find out before this time.
    Rest(Duration),
    /// Whether the next length passes.
    Raise,
    /// Whether the length in use still passes.
    Doubt,
}

/// Which length is known to pass and which is tried. Lengths are known by their place in [`STEPS`], from 1; 0 is the length every
/// path is taken to pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MtuSearch {
    validated: usize,
    /// Lowest place known not to pass.
    ceiling: usize,
    aim: Aim,
    attempts: u32,
    next: Duration,
    /// Numbers of the probes; those below `first` are of an aim given up.
    first: u64,
    number: u64,
    /// Short probes answered while in doubt.
    proofs: u32,
    falls: u32,
}

/// A probe to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MtuProbe {
    /// Bytes of the IP packet; `None` for as short as a probe is.
    pub(crate) length: Option<usize>,
    pub(crate) number: u64,
}

impl MtuSearch {
    /// Knows nothing of the path and looks from `now` on.
    pub(crate) fn new(now: Duration) -> Self {
        Self {
            validated: 0,
            ceiling: STEPS.len() + 1,
            aim: Aim::Raise,
            attempts: 0,
            next: now,
            first: 0,
            number: 0,
            proofs: 0,
            falls: 0,
        }
    }

    /// Longest IP packet known to pass; `None` if that is only what every path passes.
    pub(crate) fn validated(&self) -> Option<usize> {
        self.validated.checked_sub(1).map(|place| STEPS[place])
    }

    /// How often a length in use was found to pass no longer.
    pub(crate) fn falls(&self) -> u32 {
        self.falls
    }

    /// When there is something to send.
    pub(crate) fn due(&self) -> Duration {
        if let Aim::Rest(until) = self.aim { until } else { self.next }
    }

    /// Notes that long packets seem to get lost, which random loss may be.
    pub(crate) fn doubt(&mut self, now: Duration) {
        if self.validated > 0 && self.aim != Aim::Doubt {
            self.pursue(now, Aim::Doubt);
        }
    }

    /// Notes that long packets arrive.
    pub(crate) fn trust(&mut self, now: Duration) {
        if self.aim == Aim::Doubt {
            self.go_on(now);
        }
    }

    /// The probes due at `now`: none, one, or a long and a short one. `timeout` is how long an answer may take.
    pub(crate) fn probe(&mut self, now: Duration, timeout: Duration) -> [Option<MtuProbe>; 2] {
        if self.due() > now {
            return [None; 2];
        }
        if let Aim::Rest(_) = self.aim {
            self.ceiling = STEPS.len() + 1;
            self.go_on(now);
        }
        if self.attempts == if self.aim == Aim::Doubt { DOUBTED_ATTEMPTS } else { ATTEMPTS } {
            self.give_up(now);
        }
        let place = match self.aim {
            Aim::Rest(_) => return [None; 2],
            Aim::Raise => self.validated + 1,
            Aim::Doubt => self.validated,
        };
        self.attempts += 1;
        self.next = now + (timeout / 2).max(MIN_INTERVAL);
        // Long ones have even numbers, short ones odd ones.
        let number = self.number;
        self.number += 2;
        let long = MtuProbe { length: Some(STEPS[place - 1]), number };
        let short = MtuProbe { length: None, number: number + 1 };
        [Some(long), (self.aim == Aim::Doubt).then_some(short)]
    }

    /// Takes the answer to probe `number`; whether the length in use changed.
    pub(crate) fn on_answer(&mut self, now: Duration, number: u64) -> bool {
        if !(self.first..self.number).contains(&number) {
            return false;
        }
        match self.aim {
            Aim::Rest(_) => false,
            Aim::Doubt if number % 2 == 1 => {
                self.proofs += 1;
                false
            }
            Aim::Doubt => {
                self.go_on(now);
                false
            }
            Aim::Raise => {
                self.validated += 1;
                self.go_on(now);
                true
            }
        }
    }

    /// Looks for the next length, if it may pass.
    fn go_on(&mut self, now: Duration) {
        let more = self.validated + 1 < self.ceiling;
        self.pursue(now, if more { Aim::Raise } else { Aim::Rest(now + RAISE) });
    }

    fn pursue(&mut self, now: Duration, aim: Aim) {
        (self.aim, self.attempts, self.next, self.proofs) = (aim, 0, now, 0);
        self.first = self.number;
    }

    /// No answer came to any attempt.
    fn give_up(&mut self, now: Duration) {
        match self.aim {
            Aim::Doubt if self.proofs >= PROOF => {
                // Short ones pass and long ones do not. What still passes is found from below.
                self.ceiling = self.validated;
                (self.validated, self.falls) = (0, self.falls + 1);
                self.go_on(now);
            }
            // The path was not there at all.
            Aim::Doubt => self.go_on(now),
            _ => {
                self.ceiling = self.validated + 1;
                self.pursue(now, Aim::Rest(now + RAISE));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Lets time pass on a path that passes `mtu` and loses what `is_lost` says; the lengths validated after each 10 ms.
    fn run(
        search: &mut MtuSearch,
        ms: std::ops::Range<u32>,
        mtu: usize,
        mut is_lost: impl FnMut() -> bool,
    ) -> Vec<usize> {
        let mut lengths = vec![];
        for at in ms.step_by(10) {
            let now = MS * at;
            for probe in search.probe(now, 50 * MS).into_iter().flatten() {
                if probe.length.is_none_or(|length| length <= mtu) && !is_lost() {
                    search.on_answer(now, probe.number);
                }
            }
            lengths.push(search.validated().unwrap_or(0));
        }
        lengths
    }

    // N-5: what passes is found, and found again when it is less or more.
    #[test]
    fn the_longest_that_passes_is_found_and_followed() {
        let mut search = MtuSearch::new(Duration::ZERO);
        assert_eq!(run(&mut search, 0..1_000, 1_460, || false).last(), Some(&1_452));
        search.doubt(1_000 * MS);
        assert_eq!(run(&mut search, 1_000..1_100, 1_280, || false).last(), Some(&1_452), "in doubt");
        assert_eq!(run(&mut search, 1_100..3_000, 1_280, || false).last(), Some(&1_280));
        assert_eq!(search.falls(), 1);
        assert_eq!(run(&mut search, 3_000..33_000, 1_500, || false).last(), Some(&1_500), "tried again");
        assert_eq!(run(&mut search, 33_000..90_000, 1_500, || false).last(), Some(&1_500), "and there is no more");
    }

    // B85: a path that is gone for a while is no reason to send shorter packets, nor are losses at random.
    #[test]
    fn an_outage_is_no_black_hole() {
        let mut search = MtuSearch::new(Duration::ZERO);
        run(&mut search, 0..1_000, 1_500, || false);
        search.doubt(1_000 * MS);
        assert_eq!(run(&mut search, 1_000..5_000, 1_500, || true).last(), Some(&1_500));
        let mut count = 0;
        let mut every_third = || {
            count += 1;
            count % 3 != 0
        };
        search.doubt(5_000 * MS);
        assert_eq!(run(&mut search, 5_000..9_000, 1_500, &mut every_third).last(), Some(&1_500));
        assert_eq!(search.falls(), 0);
        assert!(!search.on_answer(9_000 * MS, 3), "of an aim long given up");
    }
}
