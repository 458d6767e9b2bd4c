//! Loose parts this client owns: simulated here, ahead of the server by half a round trip, and reported (S-52).

mod bodies;
mod characters;
mod path;
mod report;

use tidelock_replication::ids::{InstanceId, PlayerId};
use tidelock_replication::wire::OwnershipWord;
use tidelock_sim::collision::ColliderId;
use tidelock_sim::motor::CharacterState;
use tidelock_sim::ownership::{OwnershipNotice, PartRole, PartView, PlayerId as Simulating};
use tidelock_sim::physics::LooseParts;
use tidelock_sim::{PartState, SimTime};

use super::replica::Replica;
use super::{Client, PartOwner};

use bodies::Bodies;
use characters::Own;
use path::OwnPath;
use report::Reporting;

/// Notices kept until the own character lives; more than any join brings.
const MAX_NOTICES: usize = 65_536;
/// Steps of 1/60 s run in one frame at most; a longer stall jumps.
const MAX_STEPS: u64 = 15;

/// What this client simulates.
#[derive(Debug, Default)]
pub(super) struct OwnedParts {
    /// Physics of this place, made when the first part is gained.
    bodies: Option<Bodies>,
    /// Parts owned, ascending.
    own: Vec<InstanceId>,
    /// Server time up to which they are simulated.
    time: SimTime,
    /// Server time at which they are drawn, seconds.
    drawn: Option<f64>,
    notices: Vec<OwnershipWord>,
    path: OwnPath,
    reporting: Reporting,
}

impl OwnedParts {
    /// Server time at which own parts are drawn, seconds: a step behind, so that there are two states to draw between.
    pub(super) fn drawn_seconds(&self) -> Option<f64> {
        self.drawn
    }
}

/// Takes in the server's word on who simulates a part; it is acted on once the own character lives.
pub(super) fn notice(client: &mut Client, word: OwnershipWord) {
    let current = client.welcome.as_ref().is_some_and(|welcome| welcome.generation == word.generation);
    if current && client.config.draw && client.parts.notices.len() < MAX_NOTICES {
        client.parts.notices.push(word);
    } else {
        client.stats.stale_items += 1;
    }
}

/// Simulates own parts up to the own character's time, and reports them.
pub(super) fn run(client: &mut Client) {
    reshape(client);
    let (Some(prediction), Some(welcome)) = (&client.own.style, &client.welcome) else { return };
    if !client.config.draw {
        return;
    }
    let (predicted, me) = (SimTime::from_seconds(prediction.predicted_seconds()), welcome.player);
    // On the server's ticks, so that movers are where it has them.
    let last = SimTime(predicted.0 - predicted.0 % SimTime::UNITS_PER_TICK);
    let parts = &mut client.parts;
    let idle = parts.own.is_empty() || last.0.abs_diff(parts.time.0) > MAX_STEPS * SimTime::UNITS_PER_TICK;
    if idle {
        parts.time = last;
    }
    let motor = prediction.motor();
    if motor.state == CharacterState::Seated {
        parts.path.clear();
    } else {
        parts.path.record(predicted, motor.position);
    }
    parts.drawn = Some(predicted.seconds() - f64::from(LooseParts::STEP));
    apply(client, me);
    while client.parts.time < last {
        client.parts.time.0 += SimTime::UNITS_PER_TICK;
        step(client);
    }
    report::run(client);
    client.stats.owned_parts = client.parts.own.len();
}

/// Follows parts that came, went or changed shape.
fn reshape(client: &mut Client) {
    let Client { parts, replica, .. } = client;
    let reshaped = std::mem::take(&mut replica.reshaped);
    for id in reshaped {
        let loose = replica.part(id).filter(|(properties, _)| !properties.anchored && properties.can_collide);
        let still = parts.own.binary_search(&id);
        if let (Ok(at), true) = (still, loose.is_none()) {
            parts.own.remove(at);
            let entity = replica.touch(id);
            let held =
                entity.and_then(|entity| replica.world.query_one_mut::<(&mut PartView, &mut PartOwner)>(entity).ok());
            if let Some((view, owner)) = held {
                view.let_go();
                *owner = PartOwner::Server;
            }
        }
        if let Some(bodies) = &mut parts.bodies {
            bodies.reshape(id, replica.part(id), still.is_ok() && loose.is_some());
        }
    }
}

/// Acts on the server's word: takes parts over, lets them go, puts them elsewhere.
fn apply(client: &mut Client, me: PlayerId) {
    let Client { parts, replica, own, scene, stats, .. } = client;
    let Some(scene) = scene else { return };
    let views = replica.views;
    // Parts gained at one instant are run up to the present together, contacts and all.
    let mut gained: Vec<(ColliderId, PartState)> = Vec::new();
    let mut since = SimTime(0);
    for word in std::mem::take(&mut parts.notices) {
        let Some(entity) = replica.touch(word.part) else {
            stats.unknown_items += 1;
            continue;
        };
        let Some(notice) = sim_notice(&word, me) else { continue };
        let Ok((view, owner)) = replica.world.query_one_mut::<(&mut PartView, &mut PartOwner)>(entity) else {
            continue;
        };
        let newer = word.epoch > view.epoch();
        let role = view.notice(&notice, Simulating(me.0), parts.time.seconds(), &views);
        if newer {
            *owner = match word.owner {
                None => PartOwner::Server,
                Some(player) if player == me => PartOwner::Own,
                Some(player) => PartOwner::Other(player),
            };
        }
        let id = ColliderId(word.part.0);
        match role {
            PartRole::Unchanged => {}
            PartRole::Acquire { known, at, .. } => {
                let at = SimTime::from_seconds(at);
                if at != since && !gained.is_empty() {
                    take_over(parts, (&gained, since), (replica, own.id()));
                    gained.clear();
                }
                since = at;
                let bodies = parts.bodies.get_or_insert_with(|| Bodies::new(scene, replica, parts.time));
                if bodies.drives(id) {
                    gained.push((id, known));
                    // One that went and came back between two frames is still among them.
                    if let Err(place) = parts.own.binary_search(&word.part) {
                        parts.own.insert(place, word.part);
                    }
                }
            }
            PartRole::Release => {
                parts.own.retain(|own| *own != word.part);
                parts.bodies.iter_mut().for_each(|bodies| bodies.release(id));
            }
            PartRole::Place(state) => parts.bodies.iter_mut().for_each(|bodies| bodies.place(id, &state)),
        }
    }
    take_over(parts, (&gained, since), (replica, own.id()));
}

/// Simulates gained parts from the server's state on; what lies more than half a second back is at rest.
fn take_over(
    parts: &mut OwnedParts,
    (gained, since): (&[(ColliderId, PartState)], SimTime),
    (replica, own): (&Replica, Option<InstanceId>),
) {
    let ticks = parts.time.0.saturating_sub(since.0) / SimTime::UNITS_PER_TICK;
    if let Some(bodies) = &mut parts.bodies
        && !gained.is_empty()
    {
        let own = Own { id: own, path: &parts.path };
        bodies.acquire(gained, (parts.time, ticks.min(30) as u32), (replica, own));
    }
}

/// The notice as the view takes it; `None` when it cannot be acted on.
fn sim_notice(word: &OwnershipWord, me: PlayerId) -> Option<OwnershipNotice> {
    if word.owner == Some(me) && word.known.is_none() {
        return None;
    }
    let nowhere = (SimTime(0), PartState::resting(glam::Vec3::ZERO, glam::Quat::IDENTITY));
    let (at, state) = word.known.unwrap_or(nowhere);
    Some(OwnershipNotice {
        part: ColliderId(word.part.0),
        epoch: word.epoch,
        owner: word.owner.map(|owner| Simulating(owner.0)),
        previous: None,
        state,
        at,
        written: word.written,
    })
}

/// One step of 1/60 s of own parts, ending at the time reached.
fn step(client: &mut Client) {
    let Client { parts, replica, own, .. } = client;
    let (Some(bodies), false) = (&mut parts.bodies, parts.own.is_empty()) else { return };
    let (views, time) = (replica.views, parts.time);
    bodies.move_characters(replica, Own { id: own.id(), path: &parts.path }, time);
    let mut query = replica.world.query::<(&InstanceId, &PartView)>();
    for (id, view) in query.iter().filter(|(_, view)| !view.is_own()) {
        bodies.drive(*id, view, time.seconds(), &views);
    }
    drop(query);
    bodies.step(time);
    for id in &parts.own {
        let (Some(entity), Some(state)) = (replica.touch(*id), bodies.state(*id)) else { continue };
        if let Ok(view) = replica.world.query_one_mut::<&mut PartView>(entity) {
            view.simulated(time.seconds(), &state, &views);
        }
    }
    parts.reporting.stirred(bodies.moved());
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tidelock_net::emulator::LinkConfig;
    use tidelock_net::entropy::SeedEntropy;
    use tidelock_net::{ConnectToken, TokenRequest};
    use tidelock_replication::ids::InstanceId;

    use crate::testing::VirtualNetwork;
    use crate::{Client, ClientConfig, ControlInput, Protocol};

    // B28: a client that draws nothing, as bots do, or has no character yet, keeps no list of what changed.
    #[test]
    fn what_changed_is_not_kept_by_those_who_simulate_nothing() {
        let request = TokenRequest {
            protocol_id: Protocol::NETCODE_ID,
            private_key: [7; 32],
            client_id: 1,
            server_addresses: vec![([10, 0, 0, 1], 7_777).into()],
            create_s: 1,
            expire_s: 600,
            timeout_s: 10,
            user_data: [0; 256],
        };
        for draw in [false, true] {
            let token = ConnectToken::mint(&request, &mut SeedEntropy::from_number(1)).expect("a sound request");
            let config = ClientConfig { draw, ..ClientConfig::default() };
            let (network, start) = (VirtualNetwork::new(LinkConfig::default(), 1), Duration::from_secs(1));
            let client = Client::in_network(config, Protocol::builder().build(), token, network, (start, start));
            let mut client = client.expect("a sound configuration");
            client.replica.reshaped.push(InstanceId(1));
            client.update(start, &ControlInput::default());
            assert_eq!(client.replica.reshaped, []);
        }
    }
}
