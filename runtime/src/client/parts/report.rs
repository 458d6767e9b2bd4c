use tidelock_net::{Egress, LaneSet, Span};
use tidelock_replication::ids::InstanceId;
use tidelock_replication::wire::{MAX_OWNED_PART_BYTES, write_owned_report};
use tidelock_sim::collision::ColliderId;
use tidelock_sim::ownership::{OwnedReport, OwnedSnapshot, PartView};
use tidelock_sim::physics::LooseMotion;
use tidelock_sim::{Sequence, SimTime};

use super::super::Client;

/// Time between two reports of what moves: 20 a second.
const INTERVAL: u64 = 3 * SimTime::UNITS_PER_TICK;
/// Reports until parts at rest are spoken of too: twice a second.
const HEARTBEAT: u64 = 10;
/// First reports that are sent whether or not there is anything to say.
const GREETINGS: u64 = 3;
/// How far a resting part may be from the own character to be kept, studs.
const KEEP: f32 = 20.0;
/// Parts in one message, so that it fits the lane.
const PARTS: usize = (1_024 - 16) / MAX_OWNED_PART_BYTES;
/// Messages of one report at most; more parts than they hold take turns.
const MESSAGES: usize = 2;

/// When this client reports, and what of.
#[derive(Debug, Default)]
pub(super) struct Reporting {
    sequence: Sequence,
    next: SimTime,
    rounds: u64,
    /// Parts that moved since they were last reported, ascending.
    stirred: Vec<ColliderId>,
    /// The part last reported, from which on others take their turn.
    turn: InstanceId,
    report: OwnedReport,
}

impl Reporting {
    /// Takes in what a step moved.
    pub(super) fn stirred(&mut self, moved: &LooseMotion) {
        for id in &moved.ids {
            if let Err(place) = self.stirred.binary_search(id) {
                self.stirred.insert(place, *id);
            }
        }
    }
}

/// Reports own parts that moved, at times those at rest nearby, and that this client simulates at all.
pub(super) fn run(client: &mut Client) {
    let Client { parts, replica, own, egress, connection, stats, .. } = client;
    let (Some(connection), Some(motor)) = (*connection, own.motor()) else { return };
    let (reporting, time) = (&mut parts.reporting, parts.time);
    if time < reporting.next && reporting.next.0 - time.0 <= INTERVAL {
        return;
    }
    reporting.next = SimTime(time.0 + INTERVAL);
    // At once, and again lest it be lost: nobody is given parts before.
    let heartbeat = reporting.rounds < GREETINGS || reporting.rounds.is_multiple_of(HEARTBEAT);
    reporting.rounds += 1;
    reporting.report.snapshots.clear();
    let Some(bodies) = parts.bodies.as_ref().filter(|_| !parts.own.is_empty()) else {
        reporting.stirred.clear();
        if heartbeat {
            egress.push(message(reporting, time, connection));
        }
        return;
    };
    let first = parts.own.partition_point(|id| *id <= reporting.turn);
    let (later, sooner) = parts.own.split_at(first);
    let mut sent = 0;
    for id in sooner.iter().chain(later) {
        let part = ColliderId(id.0);
        let (Some(entity), Some(state)) = (replica.touch(*id), bodies.state(*id)) else { continue };
        let near = heartbeat && state.position.distance(motor.position) <= KEEP;
        let stirred = reporting.stirred.binary_search(&part);
        if stirred.is_err() && !near {
            continue;
        }
        let Ok(epoch) = replica.world.get::<&PartView>(entity).map(|view| view.epoch()) else { continue };
        reporting.report.snapshots.push(OwnedSnapshot { part, epoch, state });
        reporting.turn = *id;
        if let Ok(at) = stirred {
            reporting.stirred.remove(at);
        }
        if reporting.report.snapshots.len() == PARTS {
            egress.push(message(reporting, time, connection));
            sent += 1;
            if sent == MESSAGES {
                break;
            }
        }
    }
    if !reporting.report.snapshots.is_empty() {
        egress.push(message(reporting, time, connection));
        sent += 1;
    }
    stats.owned_reports += sent as u64;
}

/// The report as a message, which empties it.
fn message(reporting: &mut Reporting, time: SimTime, connection: tidelock_net::ConnectionId) -> Egress {
    reporting.sequence = reporting.sequence.next();
    (reporting.report.sequence, reporting.report.time) = (reporting.sequence, time);
    let mut bytes = Vec::with_capacity(64);
    write_owned_report(&mut bytes, &reporting.report);
    reporting.report.snapshots.clear();
    Egress::Send { connection, lane: LaneSet::MOTION, bytes: Span::from(bytes), receipt: None }
}
