use tidelock_replication::ids::{InstanceId, PlayerId, Slot};
use tidelock_replication::instance::Audience;
use tidelock_replication::wire::{OwnershipWord, write_ownership};
use tidelock_sim::collision::ColliderId;
use tidelock_sim::motor::CharacterState;
use tidelock_sim::ownership::{
    AcceptedState, Candidate, Election, OwnershipNotice, OwnershipPolicy, OwnershipTable, Partition,
    PlayerId as Simulating,
};
use tidelock_sim::{PartState, SimSpan, SimTime, Tick};

use super::body::CharacterBody;
use super::commands::PartOwnership;
use super::place_world::PlaceWorld;
use super::{Server, ServerConfig, physics};

/// Ticks between two elections.
const ELECTION_TICKS: u64 = 3;
/// Ticks in which all resting parts are looked at once, for players who have come near.
const SCAN_TICKS: u64 = 6;
/// How near to a resting part a player gets it before touching it, studs.
const TOUCH: f32 = 12.0;
/// How long after its last owned report a client still counts as one that simulates, 2 s.
const SIMULATES: SimSpan = SimSpan(2 * 61_440);

/// Who simulates each loose part of a place, and what this tick brought (S-50 to S-51a).
pub(crate) struct Owners {
    table: OwnershipTable,
    election: Election,
    islands: Partition,
    candidates: Vec<Candidate>,
    near: Vec<ColliderId>,
    /// States that owners reported in this tick and that hold.
    pub(super) accepted: Vec<AcceptedState>,
    notices: Vec<OwnershipNotice>,
    /// Slots of parts that are loose no longer, since the last tick.
    freed: Vec<Slot>,
}

impl Owners {
    pub(super) fn new(config: &ServerConfig) -> Self {
        Self {
            table: OwnershipTable::new(config.ownership_limits),
            election: Election { config: config.election },
            islands: Partition::default(),
            candidates: Vec::new(),
            near: Vec::new(),
            accepted: Vec::new(),
            notices: Vec::new(),
            freed: Vec::new(),
        }
    }

    /// A loose part that physics holds; one that was there before goes on as it was.
    pub(super) fn add(&mut self, part: InstanceId, state: PartState) {
        self.table.insert_part(ColliderId(part.0), state, SimTime(0));
    }

    pub(super) fn remove(&mut self, part: InstanceId, slot: Slot) {
        if self.table.remove_part(ColliderId(part.0)) {
            self.freed.push(slot);
        }
    }

    pub(super) fn join(&mut self, player: PlayerId) {
        self.table.insert_player(Simulating(player.0));
    }

    pub(super) fn leave(&mut self, player: PlayerId, tick: Tick) {
        self.table.remove_player(Simulating(player.0), tick.time());
    }

    /// The game puts a part somewhere. An owner has to be told; of the server's own parts, motion tells.
    pub(super) fn write(&mut self, part: InstanceId, state: PartState, tick: Tick) {
        let part = ColliderId(part.0);
        if self.table.owner(part).is_some() {
            self.table.write(part, state, tick.time());
        } else {
            self.table.record(part, &state, tick.time());
        }
    }

    /// Says who may own a part; false when there is no such part, or no such player.
    pub(super) fn set_policy(&mut self, part: InstanceId, policy: PartOwnership, tick: Tick) -> bool {
        let policy = match policy {
            PartOwnership::Nearest => OwnershipPolicy::Elected,
            PartOwnership::Server => OwnershipPolicy::Forbidden,
            PartOwnership::Player(player) => OwnershipPolicy::Fixed(Simulating(player.0)),
        };
        self.table.set_policy(ColliderId(part.0), policy, tick.time())
    }

    /// A part that not everyone may know of is the server's.
    pub(super) fn set_hidden(&mut self, part: InstanceId, hidden: bool, tick: Tick) {
        self.set_policy(part, if hidden { PartOwnership::Server } else { PartOwnership::Nearest }, tick);
    }

    pub(super) fn owner(&self, part: InstanceId) -> Option<PlayerId> {
        self.table.owner(ColliderId(part.0)).map(|owner| PlayerId(owner.0))
    }

    /// Takes in where the server's own physics has a part, which counts while no owner has spoken.
    pub(super) fn record(&mut self, part: ColliderId, state: &PartState, now: SimTime) {
        self.table.record(part, state, now);
    }
}

/// Judges what owners say of their parts, in slot order.
pub(super) fn take_reports(server: &mut Server) {
    let (now, tick) = (server.time(), server.tick);
    let Server { sessions, place, metrics, .. } = server;
    let owners = &mut place.owners;
    owners.accepted.clear();
    for (_, session) in sessions.iter_mut() {
        let player = Simulating(session.player.0);
        for report in &session.inbox.owned[..session.inbox.owned_count] {
            let first = owners.accepted.len();
            owners.table.judge(player, report, (now, tick), &mut owners.accepted);
            // Where the parts are now is reckoned from the instant their owner simulated: server and owners then have one course
            // of them, however unevenly reports arrive.
            let most = owners.table.limits().max_sample_age;
            let at = SimTime(report.time.0.clamp((now - most).0, (now + most).0));
            owners.accepted[first..].iter_mut().for_each(|state| state.at = at);
            session.simulates = Some(now);
        }
    }
    metrics.owned = *owners.table.counters();
}

/// Gives islands of parts to the nearest players, takes back what nobody speaks of, and tells those concerned.
pub(super) fn elect(server: &mut Server) {
    let now = server.time();
    if server.tick.0.is_multiple_of(ELECTION_TICKS) {
        candidates(server);
        let PlaceWorld { owners, loose, .. } = &mut server.place;
        if server.tick.0.is_multiple_of(SCAN_TICKS) {
            owners.near.clear();
            let Owners { near, candidates, table, .. } = owners;
            // In the order of ids, as the islands want them.
            for (part, state) in loose.simulated() {
                if candidates.iter().any(|one| one.position.distance_squared(state.position) <= TOUCH * TOUCH) {
                    table.record(part, &state, now);
                    near.push(part);
                }
            }
        }
        if !owners.candidates.is_empty() || owners.table.handovers() > 0 {
            loose.partition_with(&mut owners.islands, &owners.near);
            owners.election.run(&mut owners.table, &owners.islands, &owners.candidates, now);
        }
    }
    server.place.owners.table.expire(now);
    settle(server);
}

/// Living characters whose clients simulate, in slot order.
fn candidates(server: &mut Server) {
    let now = server.time();
    let Server { sessions, place, .. } = server;
    place.owners.candidates.clear();
    for (_, session) in sessions.iter() {
        let Some(character) = session.character() else { continue };
        let Ok(body) = place.world().get::<&CharacterBody>(character.entity).map(|body| *body) else { continue };
        let simulates = session.simulates.is_some_and(|heard| now.since(heard) <= SIMULATES);
        if simulates && body.state != CharacterState::Dead {
            let candidate = Candidate { player: Simulating(session.player.0), position: body.position };
            place.owners.candidates.push(candidate);
        }
    }
}

/// Notes what this tick changed, for [`tell`]. Of parts that come back, what physics has made of them since their owner's last
/// word is the truth from now on.
fn settle(server: &mut Server) {
    let Server { place, metrics, .. } = server;
    let mut notices = std::mem::take(&mut place.owners.notices);
    place.owners.table.drain_notices(&mut notices);
    metrics.handovers = place.owners.table.handovers();
    for notice in notices.iter().filter(|notice| notice.owner.is_none()) {
        if let Some(state) = place.loose.state(notice.part) {
            physics::write(place, notice.part, &state);
            place.owners.table.record(notice.part, &state, notice.at);
        }
    }
    place.owners.notices = notices;
}

/// Tells old owners, new owners and those who see a part; whoever owns it is sent none of its motion. After this tick's
/// records, so that a part which has just been made is known to whoever gets it.
pub(super) fn tell(server: &mut Server) {
    let generation = server.place.generation();
    let mut notices = std::mem::take(&mut server.place.owners.notices);
    let mut freed = std::mem::take(&mut server.place.owners.freed);
    for slot in freed.drain(..) {
        server.sessions.iter_mut().for_each(|(_, session)| session.schedule.set_own(slot, false));
    }
    server.place.owners.freed = freed;
    for notice in notices.drain(..) {
        let part = InstanceId(notice.part.0);
        let Some(entity) = server.place.entity(part) else { continue };
        let placed = server
            .place
            .world()
            .query_one::<(&Slot, &Audience)>(entity)
            .get()
            .map(|(slot, audience)| (*slot, *audience));
        let Ok((slot, audience)) = placed else { continue };
        let known = Some((notice.at, notice.state));
        let owner = notice.owner.map(|owner| PlayerId(owner.0));
        let word = OwnershipWord { generation, part, epoch: notice.epoch, owner, written: notice.written, known };
        let silent = OwnershipWord { known: known.filter(|_| notice.written), ..word };
        let mut shared = None;
        for (_, session) in server.sessions.iter_mut().filter(|(_, session)| session.character().is_some()) {
            let player = Some(Simulating(session.player.0));
            session.schedule.set_own(slot, notice.owner == player);
            if !audience.admits(session.player, &session.groups) {
                // It has just been hidden; nothing speaks of it any more.
                continue;
            }
            if notice.owner == player {
                server.outbox.send_state(session.connection, |bytes| write_ownership(bytes, &word));
            } else if notice.previous == player || session.visible.contains(slot) {
                let bytes = shared.get_or_insert_with(|| server.outbox.write(|bytes| write_ownership(bytes, &silent)));
                server.outbox.send(session.connection, bytes.clone());
            }
        }
    }
    server.place.owners.notices = notices;
}

/// Tells whoever has come to see a part who simulates it: nothing of what changed out of sight was said.
pub(super) fn tell_sights(server: &mut Server) {
    let Server { sessions, place, outbox, .. } = server;
    let generation = place.generation();
    for (_, session) in sessions.iter().filter(|(_, session)| session.served) {
        for index in session.visible.entered() {
            let Some(part) = place.part_at(index) else { continue };
            let Some((owner, epoch)) = place.owners.table.told(ColliderId(part.0)) else { continue };
            if owner == Some(Simulating(session.player.0)) {
                continue;
            }
            let owner = owner.map(|owner| PlayerId(owner.0));
            let word = OwnershipWord { generation, part, epoch, owner, written: false, known: None };
            outbox.send_state(session.connection, |bytes| write_ownership(bytes, &word));
        }
    }
}
