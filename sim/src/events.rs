//! Events born in simulation, surfaced once however often their step is replayed (S-36).

use std::collections::VecDeque;

use crate::tick::Tick;

/// Which event: the same in the first run of a step and in every replay of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventIdentity {
    /// The step it was born in.
    pub tick: Tick,
    /// What bore it: an entity's id, a system's number.
    pub source: u64,
    /// Which of its source's events in that step, from 0.
    pub ordinal: u32,
}

/// An event to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SurfacedEvent<E> {
    /// Which.
    pub identity: EventIdentity,
    /// Steps between its birth and the newest predicted step: 0 in a first run, more when a replay brought it up.
    pub age: u64,
    /// What happened.
    pub event: E,
}

/// How events fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventCounters {
    /// Events surfaced.
    pub surfaced: u64,
    /// Of those, events that a replay brought up.
    pub late: u64,
    /// Events of replays that were surfaced before.
    pub repeated: u64,
    /// Surfaced events that a replay did not bear out.
    pub cancelled: u64,
    /// Identities forgotten early because too many were remembered.
    pub forgotten: u64,
}

/// Remembers which events were surfaced. Within a step, emit with [`EventLedger::emit`]; around a replay, call
/// [`EventLedger::begin_replay`] and [`EventLedger::end_replay`]. Nothing allocates once as many
/// sources as there will be have borne events in one step; 64 are foreseen.
#[derive(Clone, Debug)]
pub struct EventLedger {
    /// Surfaced, in order of identity.
    known: VecDeque<Known>,
    capacity: usize,
    tick: Tick,
    /// The newest step predicted before the replay, while one goes on.
    replaying: Option<Tick>,
    /// Events of the current step by source, as (source, how many).
    ordinals: Vec<(u64, u32)>,
    counters: EventCounters,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    identity: EventIdentity,
    /// Whether the replay going on has borne it again.
    seen: bool,
}

impl EventLedger {
    /// An empty ledger that remembers up to `capacity` identities, at least one; 1,024 suit two seconds of a lively game.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.max(1);
        Self {
            known: VecDeque::with_capacity(capacity),
            capacity,
            tick: Tick(0),
            replaying: None,
            ordinals: Vec::with_capacity(64),
            counters: EventCounters::default(),
        }
    }

    /// Begins the step `tick`: ordinals count from 0 again.
    pub fn begin_step(&mut self, tick: Tick) {
        self.tick = tick;
        self.ordinals.clear();
    }

    /// Names an event of `source` in the current step and says whether to surface it: `None` when that was done before.
    pub fn emit<E>(&mut self, source: u64, event: E) -> Option<SurfacedEvent<E>> {
        let ordinal = match self.ordinals.iter_mut().find(|(other, _)| *other == source) {
            Some((_, next)) => {
                *next += 1;
                *next - 1
            }
            None => {
                self.ordinals.push((source, 1));
                0
            }
        };
        let identity = EventIdentity { tick: self.tick, source, ordinal };
        let place = self.known.partition_point(|known| known.identity < identity);
        if let Some(known) = self.known.get_mut(place).filter(|known| known.identity == identity) {
            known.seen = true;
            self.counters.repeated += 1;
            return None;
        }
        self.remember(place, identity);
        let age = self.replaying.map_or(0, |newest| newest.0.saturating_sub(self.tick.0));
        self.counters.surfaced += 1;
        self.counters.late += u64::from(self.replaying.is_some());
        Some(SurfacedEvent { identity, age, event })
    }

    /// Begins a replay of the steps after `snapshot`, when `newest` is the newest step predicted so far. What happened up
    /// to the snapshot is settled and forgotten.
    pub fn begin_replay(&mut self, snapshot: Tick, newest: Tick) {
        self.replaying = Some(newest);
        let settled = self.known.partition_point(|known| known.identity.tick <= snapshot);
        self.known.drain(..settled);
        for known in &mut self.known {
            known.seen = false;
        }
    }

    /// Ends a replay. Surfaced events that it did not bear out are handed to `cancel`, each once.
    pub fn end_replay(&mut self, mut cancel: impl FnMut(EventIdentity)) {
        if self.replaying.take().is_none() {
            return;
        }
        let cancelled = &mut self.counters.cancelled;
        self.known.retain(|known| {
            if !known.seen {
                *cancelled += 1;
                cancel(known.identity);
            }
            known.seen
        });
    }

    /// How events fared so far.
    #[must_use]
    pub fn counters(&self) -> EventCounters {
        self.counters
    }

    /// Identities remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether nothing is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    fn remember(&mut self, place: usize, identity: EventIdentity) {
        let mut place = place;
        if self.known.len() == self.capacity {
            self.counters.forgotten += 1;
            if place == 0 {
                return;
            }
            self.known.pop_front();
            place -= 1;
        }
        self.known.insert(place, Known { identity, seen: true });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn run(ledger: &mut EventLedger, tick: u64, sources: &[u64], out: &mut Vec<(EventIdentity, u64)>) {
        ledger.begin_step(Tick(tick));
        for source in sources {
            out.extend(ledger.emit(*source, ()).map(|surfaced| (surfaced.identity, surfaced.age)));
        }
    }

    fn identity(tick: u64, source: u64, ordinal: u32) -> EventIdentity {
        EventIdentity { tick: Tick(tick), source, ordinal }
    }

    // S-36
    #[test]
    fn replays_surface_what_is_new_and_cancel_once_what_is_gone() {
        let mut ledger = EventLedger::new(64);
        let mut out = Vec::new();
        run(&mut ledger, 10, &[7, 7], &mut out);
        run(&mut ledger, 11, &[7], &mut out);
        run(&mut ledger, 12, &[], &mut out);
        assert_eq!(out, [(identity(10, 7, 0), 0), (identity(10, 7, 1), 0), (identity(11, 7, 0), 0)]);
        for round in 0..2 {
            out.clear();
            let mut cancelled = Vec::new();
            ledger.begin_replay(Tick(9), Tick(12));
            run(&mut ledger, 10, &[7, 8], &mut out);
            run(&mut ledger, 11, &[7], &mut out);
            run(&mut ledger, 12, &[], &mut out);
            ledger.end_replay(|identity| cancelled.push(identity));
            let first = round == 0;
            assert_eq!(out, if first { vec![(identity(10, 8, 0), 2)] } else { vec![] });
            assert_eq!(cancelled, if first { vec![identity(10, 7, 1)] } else { vec![] });
        }
        ledger.begin_replay(Tick(12), Tick(12));
        ledger.end_replay(|_| panic!("what the snapshot holds is settled"));
        assert!(ledger.is_empty());
    }

    proptest! {
        // S-36, B28: against a set, with replays from anywhere and a small memory.
        #[test]
        fn the_ledger_is_a_set_of_identities(
            capacity in 40_usize..80,
            replays in prop::collection::vec((0_u64..8, prop::collection::vec(0_u64..4, 0..4)), 1..60),
        ) {
            let mut ledger = EventLedger::new(capacity);
            let mut known = BTreeSet::new();
            let mut newest = 100;
            for (back, sources) in replays {
                let (mut out, mut cancelled) = (Vec::new(), Vec::new());
                let from = newest - back;
                ledger.begin_replay(Tick(from), Tick(newest));
                known.retain(|identity: &EventIdentity| identity.tick > Tick(from));
                let mut born = BTreeSet::new();
                for tick in from + 1..=newest {
                    run(&mut ledger, tick, &sources, &mut out);
                    for source in 0..4 {
                        let count = sources.iter().filter(|other| **other == source).count();
                        born.extend((0..count as u32).map(|ordinal| identity(tick, source, ordinal)));
                    }
                }
                ledger.end_replay(|identity| cancelled.push(identity));
                out.sort();
                let new: Vec<_> = born.difference(&known).map(|new| (*new, newest - new.tick.0)).collect();
                prop_assert_eq!(out, new);
                prop_assert_eq!(cancelled, known.difference(&born).copied().collect::<Vec<_>>());
                known = born;
                newest += 1;
                let mut out = Vec::new();
                run(&mut ledger, newest, &[9], &mut out);
                known.insert(identity(newest, 9, 0));
                prop_assert_eq!(out, [(identity(newest, 9, 0), 0)]);
                prop_assert_eq!(ledger.len(), known.len());
                prop_assert!(ledger.len() <= capacity);
            }
        }
    }
}
