use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hecs::Entity;
use tidelock_net::{ConnectionId, Feedback, LaneId, Span};
use tidelock_replication::ids::{InstanceId, Placed, PlayerId, Slot};
use tidelock_replication::instance::Color;
use tidelock_replication::interest::VisibleSet;
use tidelock_replication::motion::{Delivery, MotionOutput, MotionSchedule};
use tidelock_replication::wire::{ClientMessage, TickedInputs};
use tidelock_sim::SimTime;
use tidelock_sim::ownership::OwnedReport;
use tidelock_sim::report::Report;

use super::place_transfer::PlaceTransfer;

/// One connected player, from its connection to its end (T-4).
pub(crate) struct Session {
    pub(crate) connection: ConnectionId,
    pub(crate) address: SocketAddr,
    /// The identity its token names.
    pub(crate) client_id: u64,
    pub(crate) player: PlayerId,
    pub(crate) name: Arc<str>,
    pub(crate) color: Color,
    pub(crate) stage: SessionStage,
    /// When it last came closer to the place: connected, was welcomed, or got a piece of it.
    pub(crate) advanced: Duration,
    /// The id its character has or will have.
    pub(crate) reserved: InstanceId,
    /// Whether it entered in this tick and has not been told of the place.
    pub(crate) entering: bool,
    pub(crate) inbox: Inbox,
    /// Audience groups the player belongs to.
    pub(crate) groups: Vec<u32>,
    pub(crate) visible: VisibleSet,
    pub(crate) schedule: MotionSchedule,
    pub(crate) motion: MotionOutput,
    /// Whether this tick broadcasts to it.
    pub(crate) served: bool,
    pub(crate) transfer: Option<PlaceTransfer>,
    /// Times it has asked for the place.
    pub(crate) place_requests: u32,
    pub(crate) feedback: Option<Feedback>,
    pub(crate) traffic: SessionTraffic,
    /// When it last sent a report of owned parts, if ever.
    pub(crate) simulates: Option<SimTime>,
}

/// How far a session has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SessionStage {
    /// Connected; has not said what it speaks.
    Joining,
    /// Welcomed; has not entered the place.
    Loading,
    /// In the place, with this character.
    Playing(CharacterHandle),
    /// Told to go; nothing it sends counts.
    Leaving,
}

/// Where a character is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CharacterHandle {
    pub(crate) entity: Entity,
    pub(crate) id: InstanceId,
    pub(crate) slot: Slot,
}

impl CharacterHandle {
    /// The character as the publisher knows it.
    pub(crate) fn placed(&self) -> Placed {
        Placed { slot: self.slot, id: self.id }
    }
}

/// What came from a session since the last tick.
#[derive(Default)]
pub(crate) struct Inbox {
    /// As received, and how many bytes in all.
    pub(crate) messages: Vec<(LaneId, Span)>,
    pub(crate) messages_bytes: usize,
    /// Decoded session messages.
    pub(crate) control: Vec<ClientMessage>,
    /// Decoded reports; the first `report_count` are this tick's, the rest wait to be reused.
    pub(crate) reports: Vec<Report>,
    pub(crate) report_count: usize,
    /// Decoded reports of owned parts; the first `owned_count` are this tick's.
    pub(crate) owned: Vec<OwnedReport>,
    pub(crate) owned_count: usize,
    /// Decoded inputs of ticks; the first `input_count` are this tick's.
    pub(crate) inputs: Vec<TickedInputs>,
    pub(crate) input_count: usize,
    /// Fates of motion batches.
    pub(crate) receipts: Vec<(u64, Delivery)>,
    /// Messages that could not be read, ever.
    pub(crate) faults: u32,
}

/// Decoded messages of each kind whose memory is kept from tick to tick: more than a client says in one.
const KEPT: usize = 16;

impl Inbox {
    /// Forgets the last tick's messages, and gives back the memory of all but a few: what one flood took is not held for good.
    pub(crate) fn forget_decoded(&mut self) {
        self.control.clear();
        self.reports.truncate(KEPT);
        self.owned.truncate(KEPT);
        self.inputs.truncate(KEPT);
        (self.report_count, self.owned_count, self.input_count, self.messages_bytes) = (0, 0, 0, 0);
    }

    /// This tick's reports, in order.
    pub(crate) fn reports(&self) -> &[Report] {
        &self.reports[..self.report_count]
    }

    /// This tick's messages of inputs, in order.
    pub(crate) fn inputs(&self) -> &[TickedInputs] {
        &self.inputs[..self.input_count]
    }

    /// Inputs to decode into.
    pub(crate) fn next_inputs(&mut self) -> &mut TickedInputs {
        if self.input_count == self.inputs.len() {
            self.inputs.push(TickedInputs::default());
        }
        self.input_count += 1;
        &mut self.inputs[self.input_count - 1]
    }

    /// A report to decode into.
    pub(crate) fn next_report(&mut self) -> &mut Report {
        if self.report_count == self.reports.len() {
            self.reports.push(Report::default());
        }
        self.report_count += 1;
        &mut self.reports[self.report_count - 1]
    }

    /// A report of owned parts to decode into.
    pub(crate) fn next_owned(&mut self) -> &mut OwnedReport {
        if self.owned_count == self.owned.len() {
            self.owned.push(OwnedReport::default());
        }
        self.owned_count += 1;
        &mut self.owned[self.owned_count - 1]
    }
}

/// Bytes of messages to one player, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionTraffic {
    /// Motion batches sent.
    pub motion_out: u64,
    /// Messages received, of all lanes.
    pub messages_in: u64,
}

impl Session {
    pub(crate) fn new(connection: ConnectionId, client_id: u64, address: SocketAddr, player: PlayerId) -> Self {
        Self {
            connection,
            address,
            client_id,
            player,
            name: Arc::from(""),
            color: Color::default(),
            stage: SessionStage::Joining,
            advanced: Duration::ZERO,
            reserved: InstanceId(0),
            entering: false,
            inbox: Inbox::default(),
            groups: Vec::new(),
            visible: VisibleSet::default(),
            schedule: MotionSchedule::new(),
            motion: MotionOutput::default(),
            served: false,
            transfer: None,
            place_requests: 0,
            feedback: None,
            traffic: SessionTraffic::default(),
            simulates: None,
        }
    }

    /// Its character, while it is in the place.
    pub(crate) fn character(&self) -> Option<CharacterHandle> {
        match self.stage {
            SessionStage::Playing(character) => Some(character),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Bad input: the memory of one tick's flood is given back with the next tick.
    #[test]
    fn what_a_flood_was_decoded_into_is_given_back() {
        let mut inbox = Inbox::default();
        for _ in 0..512 {
            inbox.next_report().frames.reserve(Report::MAX_FRAMES);
            inbox.next_owned().snapshots.reserve(OwnedReport::MAX_SNAPSHOTS);
            inbox.next_inputs();
        }
        assert_eq!((inbox.reports().len(), inbox.inputs().len()), (512, 512));
        inbox.forget_decoded();
        assert_eq!((inbox.reports().len(), inbox.inputs().len(), inbox.owned_count), (0, 0, 0));
        assert!([inbox.reports.len(), inbox.owned.len(), inbox.inputs.len()].iter().all(|held| *held == KEPT));
        // Those of every tick are decoded into the same memory.
        let first = inbox.next_report().frames.as_ptr();
        inbox.forget_decoded();
        assert_eq!(inbox.next_report().frames.as_ptr(), first);
    }
}
