use std::collections::BTreeMap;

use super::lease::{Lease, OwnershipPolicy};
use super::{
    OwnedCounters, OwnedOutcome, OwnedReport, OwnedSnapshot, OwnedVerdict, OwnershipLimits, OwnershipNotice, PlayerId,
    SnapshotRefusal,
};
use crate::collision::ColliderId;
use crate::part::PartState;
use crate::report::{SampleClock, TokenBucket};
use crate::sequence::Sequence;
use crate::tick::Tick;
use crate::time::SimTime;
use crate::tracks::turn;

/// A state an owner gave that holds from now on: publish it for its time, and put what it has become by now into the server's
/// physics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AcceptedState {
    /// Which part.
    pub part: ColliderId,
    /// Where it is and how it moves, rotation of unit length.
    pub state: PartState,
    /// Server time for which it is to be shown.
    pub at: SimTime,
}

impl AcceptedState {
    /// Where the part is at `now`, moved on evenly from its time, or back when that is still to come.
    #[must_use]
    pub fn by(&self, now: SimTime) -> PartState {
        let seconds = (now.seconds() - self.at.seconds()) as f32;
        let PartState { position, rotation, velocity, angular } = self.state;
        PartState {
            position: position + velocity * seconds,
            rotation: turn(rotation, angular, seconds),
            velocity,
            angular,
        }
    }
}

#[derive(Clone, Debug)]
struct PlayerRecord {
    last: Option<Sequence>,
    rate: TokenBucket,
    clock: SampleClock,
}

/// The server's leases of all loose parts of a place (S-51, S-51a). Anchored parts are not in it.
///
/// It never decides who should own what: [`Election`](super::Election) and the game do. Nothing allocates while parts and
/// players stay the same.
#[derive(Clone, Debug)]
pub struct OwnershipTable {
    limits: OwnershipLimits,
    parts: BTreeMap<ColliderId, Lease>,
    players: BTreeMap<PlayerId, PlayerRecord>,
    dirty: Vec<ColliderId>,
    ids: Vec<ColliderId>,
    counters: OwnedCounters,
    handovers: u64,
    /// Epoch of a new part: no removed one had a later one.
    first_epoch: u32,
}

impl OwnershipTable {
    /// A table without parts and players.
    #[must_use]
    pub fn new(limits: OwnershipLimits) -> Self {
        Self {
            limits,
            parts: BTreeMap::new(),
            players: BTreeMap::new(),
            dirty: Vec::new(),
            ids: Vec::new(),
            counters: OwnedCounters::default(),
            handovers: 0,
            first_epoch: 0,
        }
    }

    /// The numbers it judges by.
    #[must_use]
    pub fn limits(&self) -> &OwnershipLimits {
        &self.limits
    }

    /// How owned reports fared so far.
    #[must_use]
    pub fn counters(&self) -> &OwnedCounters {
        &self.counters
    }

    /// Changes of owner so far.
    #[must_use]
    pub fn handovers(&self) -> u64 {
        self.handovers
    }

    /// Adds a loose part, the server's; false when it is there already. Its epochs go on above those of all parts that were
    /// removed, so that one which is loose again is not taken for its former self.
    pub fn insert_part(&mut self, part: ColliderId, state: PartState, now: SimTime) -> bool {
        let free = !self.parts.contains_key(&part);
        if free {
            let mut lease = Lease::new(state, now);
            lease.epoch = self.first_epoch;
            self.parts.insert(part, lease);
        }
        free
    }

    /// Removes a part; false when there was none. Nobody is told: the part's own removal says it.
    pub fn remove_part(&mut self, part: ColliderId) -> bool {
        self.dirty.retain(|dirty| *dirty != part);
        let removed = self.parts.remove(&part);
        self.first_epoch = removed.as_ref().map_or(0, |lease| lease.epoch).max(self.first_epoch);
        removed.is_some()
    }

    /// Lets a player own parts from now on. A known player's reports go on as they were.
    pub fn insert_player(&mut self, player: PlayerId) {
        let rate = TokenBucket::new(self.limits.reports_per_second, self.limits.report_burst);
        self.players.entry(player).or_insert(PlayerRecord { last: None, rate, clock: SampleClock::default() });
    }

    /// Takes all parts from a player who is gone.
    pub fn remove_player(&mut self, player: PlayerId, now: SimTime) {
        self.players.remove(&player);
        self.take_back(now, |lease| lease.owner == Some(player));
        for lease in self.parts.values_mut() {
            if lease.policy == OwnershipPolicy::Fixed(player) {
                lease.policy = OwnershipPolicy::Elected;
            }
        }
    }

    /// Who owns a part; `None` for the server, or when there is no such part.
    #[must_use]
    pub fn owner(&self, part: ColliderId) -> Option<PlayerId> {
        self.parts.get(&part).and_then(|lease| lease.owner)
    }

    /// Owner and epoch of a part that a player has owned, as last told, for whoever has heard nothing of it. `None` when it
    /// has always been the server's, or when there is no such part.
    #[must_use]
    pub fn told(&self, part: ColliderId) -> Option<(Option<PlayerId>, u32)> {
        let lease = self.parts.get(&part).filter(|lease| lease.changed.is_some())?;
        Some((lease.told, lease.epoch))
    }

    /// A part's epoch: it grows with each change of owner and each write of the game.
    #[must_use]
    pub fn epoch(&self, part: ColliderId) -> Option<u32> {
        self.parts.get(&part).map(|lease| lease.epoch)
    }

    /// Whether the server's physics decides where a part is: it owns it, or the owner has not reported yet (S-52).
    #[must_use]
    pub fn is_simulated_here(&self, part: ColliderId) -> bool {
        self.parts.get(&part).is_some_and(|lease| lease.owner.is_none() || !lease.reported)
    }

    /// The last state that counts.
    #[must_use]
    pub fn state(&self, part: ColliderId) -> Option<&PartState> {
        self.parts.get(&part).map(|lease| &lease.state)
    }

    /// Server time for which that state is to be shown.
    #[must_use]
    pub fn state_time(&self, part: ColliderId) -> Option<SimTime> {
        self.parts.get(&part).map(|lease| lease.shown)
    }

    /// Says who may own a part, at once: a forbidden one goes to the server, a fixed one to its player, cooldown or not.
    /// False when there is no such part, or no such player.
    pub fn set_policy(&mut self, part: ColliderId, policy: OwnershipPolicy, now: SimTime) -> bool {
        if matches!(policy, OwnershipPolicy::Fixed(player) if !self.players.contains_key(&player)) {
            return false;
        }
        let Some(lease) = self.parts.get_mut(&part) else { return false };
        lease.policy = policy;
        match policy {
            OwnershipPolicy::Elected => {}
            OwnershipPolicy::Forbidden => self.give(part, None, now),
            OwnershipPolicy::Fixed(player) => self.give(part, Some(player), now),
        }
        true
    }

    /// Who may own a part.
    #[must_use]
    pub fn policy(&self, part: ColliderId) -> Option<OwnershipPolicy> {
        self.parts.get(&part).map(|lease| lease.policy)
    }

    /// Whether another player may get a part at `now`.
    #[must_use]
    pub fn is_cool(&self, part: ColliderId, now: SimTime) -> bool {
        self.parts.get(&part).is_some_and(|lease| lease.is_cool(now, &self.limits))
    }

    /// Gives a part to a player, or to the server; nothing happens when it is theirs already, or the player is unknown.
    pub fn give(&mut self, part: ColliderId, owner: Option<PlayerId>, now: SimTime) {
        if owner.is_some_and(|player| !self.players.contains_key(&player)) {
            return;
        }
        let Some(lease) = self.parts.get_mut(&part).filter(|lease| lease.owner != owner) else { return };
        lease.hand_over(owner, now);
        self.handovers += 1;
        mark(&mut self.dirty, part, lease);
    }

    /// The game moves a part: explicit authoritative motion, which its owner has to follow. False when there is none.
    pub fn write(&mut self, part: ColliderId, state: PartState, now: SimTime) -> bool {
        let Some(lease) = self.parts.get_mut(&part).filter(|_| state.is_sound()) else { return false };
        lease.epoch = lease.epoch.checked_add(1).expect("four thousand million writes to one part");
        (lease.state, lease.at, lease.shown, lease.heard) = (state, now, now, now);
        (lease.reported, lease.written) = (false, true);
        mark(&mut self.dirty, part, lease);
        true
    }

    /// Notes where the server's physics has a part that it simulates; others are left alone.
    pub fn record(&mut self, part: ColliderId, state: &PartState, now: SimTime) {
        if let Some(lease) = self.parts.get_mut(&part).filter(|lease| lease.owner.is_none() || !lease.reported) {
            (lease.state, lease.at, lease.shown) = (*state, now, now);
        }
    }

    /// Takes parts from owners who have been silent about them for too long.
    pub fn expire(&mut self, now: SimTime) {
        let silence = self.limits.silence;
        self.take_back(now, |lease| {
            lease.owner.is_some() && lease.policy == OwnershipPolicy::Elected && now.since(lease.heard) > silence
        });
    }

    /// Judges what a player says of their parts at `now`, in server tick `tick`, and appends to `accepted` what holds from
    /// now on, in the report's order.
    pub fn judge(
        &mut self,
        player: PlayerId,
        report: &OwnedReport,
        (now, tick): (SimTime, Tick),
        accepted: &mut Vec<AcceptedState>,
    ) -> OwnedOutcome {
        let verdict = self.check(player, report, now);
        self.counters.count_report(verdict);
        let (mut taken, mut ignored) = (0, 0);
        if verdict == OwnedVerdict::Processed {
            let sampled = self.sampled(player, report.time, now);
            for snapshot in &report.snapshots {
                match self.take(player, snapshot, (now, tick, sampled)) {
                    Ok(state) => {
                        let at = self.state_time(snapshot.part).unwrap_or(now);
                        accepted.push(AcceptedState { part: snapshot.part, state, at });
                        taken += 1;
                    }
                    Err(reason) => {
                        self.counters.count_refusal(reason);
                        ignored += 1;
                    }
                }
            }
        }
        self.counters.accepted += u64::from(taken);
        OwnedOutcome { verdict, accepted: taken, ignored }
    }

    /// Moves this tick's notices to `notices`, one a part, by id.
    pub fn drain_notices(&mut self, notices: &mut Vec<OwnershipNotice>) {
        self.dirty.sort_unstable();
        for part in self.dirty.drain(..) {
            let Some(lease) = self.parts.get_mut(&part) else { continue };
            let Lease { epoch, owner, told: previous, state, shown: at, written, .. } = *lease;
            notices.push(OwnershipNotice { part, epoch, owner, previous, state, at, written });
            (lease.told, lease.written, lease.dirty) = (lease.owner, false, false);
        }
    }

    fn check(&mut self, player: PlayerId, report: &OwnedReport, now: SimTime) -> OwnedVerdict {
        let Some(record) = self.players.get_mut(&player) else { return OwnedVerdict::Stale };
        if record.last.is_some_and(|last| !report.sequence.is_newer_than(last)) {
            return OwnedVerdict::Stale;
        }
        if report.snapshots.len() > self.limits.max_snapshots || !report.snapshots.iter().all(is_possible) {
            return OwnedVerdict::Malformed;
        }
        self.ids.clear();
        self.ids.extend(report.snapshots.iter().map(|snapshot| snapshot.part));
        self.ids.sort_unstable();
        if self.ids.windows(2).any(|pair| pair[0] == pair[1]) {
            return OwnedVerdict::Malformed;
        }
        if !record.rate.take(now) {
            return OwnedVerdict::Rate;
        }
        record.last = Some(report.sequence);
        OwnedVerdict::Processed
    }

    /// When a report's states are shown to have been.
    fn sampled(&mut self, player: PlayerId, claimed: SimTime, now: SimTime) -> SimTime {
        let Some(record) = self.players.get_mut(&player) else { return now };
        record.clock.observe(claimed, now);
        now - record.clock.age(now, self.limits.max_sample_age)
    }

    fn take(
        &mut self,
        player: PlayerId,
        snapshot: &OwnedSnapshot,
        at: (SimTime, Tick, SimTime),
    ) -> Result<PartState, SnapshotRefusal> {
        let lease = self.parts.get_mut(&snapshot.part).ok_or(SnapshotRefusal::Unknown)?;
        let rotation = snapshot.state.rotation.normalize();
        let unit = OwnedSnapshot { state: PartState { rotation, ..snapshot.state }, ..*snapshot };
        lease.take(player, &unit, at, &self.limits)?;
        Ok(unit.state)
    }

    fn take_back(&mut self, now: SimTime, which: impl Fn(&Lease) -> bool) {
        for (part, lease) in &mut self.parts {
            if which(lease) {
                lease.hand_over(None, now);
                self.handovers += 1;
                mark(&mut self.dirty, *part, lease);
            }
        }
    }
}

fn mark(dirty: &mut Vec<ColliderId>, part: ColliderId, lease: &mut Lease) {
    if !lease.dirty {
        lease.dirty = true;
        dirty.push(part);
    }
}

/// Below this norm a rotation has no direction.
const LEAST_NORM: f32 = 1e-6;

fn is_possible(snapshot: &OwnedSnapshot) -> bool {
    let norm = snapshot.state.rotation.length();
    snapshot.state.is_finite() && norm.is_finite() && norm >= LEAST_NORM
}
