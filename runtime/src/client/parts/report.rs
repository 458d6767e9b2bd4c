use tidelock_net::{Egress, LaneSet, Span};
use tidelock_replication::ids::InstanceId;
use tidelock_replication::wire::write_owned_parts;
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
/// Bytes of one message, so that it fits the lane.
const MESSAGE: usize = 1_024;
/// Messages of one report at most, which hold some 64 parts; those that find no room come first the next time.
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
    for id in sooner.iter().chain(later) {
        let part = ColliderId(id.0);
        let (Some(entity), Some(state)) = (replica.touch(*id), bodies.state(*id)) else { continue };
        let near = heartbeat && state.position.distance(motor.position) <= KEEP;
        if !near && reporting.stirred.binary_search(&part).is_err() {
            continue;
        }
        let Ok(epoch) = replica.world.get::<&PartView>(entity).map(|view| view.epoch()) else { continue };
        reporting.report.snapshots.push(OwnedSnapshot { part, epoch, state });
        if reporting.report.snapshots.len() == MESSAGES * OwnedReport::MAX_SNAPSHOTS {
            break;
        }
    }
    for _ in 0..MESSAGES {
        if !reporting.report.snapshots.is_empty() {
            egress.push(message(reporting, time, connection));
            stats.owned_reports += 1;
        }
    }
}

/// A message of the report's first parts, which leave it.
fn message(reporting: &mut Reporting, time: SimTime, connection: tidelock_net::ConnectionId) -> Egress {
    reporting.sequence = reporting.sequence.next();
    let Reporting { report, sequence, stirred, turn, .. } = reporting;
    (report.sequence, report.time) = (*sequence, time);
    let mut bytes = Vec::with_capacity(64);
    let written = write_owned_parts(&mut bytes, report, MESSAGE);
    for OwnedSnapshot { part, .. } in report.snapshots.drain(..written) {
        *turn = InstanceId(part.0);
        if let Ok(at) = stirred.binary_search(&part) {
            stirred.remove(at);
        }
    }
    Egress::Send { connection, lane: LaneSet::MOTION, bytes: Span::from(bytes), receipt: None }
}
