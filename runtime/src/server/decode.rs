use rayon::prelude::*;
use tidelock_net::{LaneId, LaneSet};
use tidelock_replication::wire::{ClientMessage, WireError, read_owned_report, read_report};

use super::Server;
use super::session::{Inbox, SessionStage};
use super::workers::SESSIONS_PER_JOB;

/// Turns every inbox's bytes into messages, each checked whole, in parallel. What cannot be read is dropped and counted.
pub(super) fn run(server: &mut Server) {
    let Server { sessions, workers, protocol, .. } = server;
    let reports = protocol.controller().report_lane();
    workers.run(|| {
        sessions.slots_mut().par_chunks_mut(SESSIONS_PER_JOB).for_each(|job| {
            for session in job.iter_mut().flatten() {
                session.inbox.control.clear();
                session.inbox.report_count = 0;
                session.inbox.owned_count = 0;
                if session.stage == SessionStage::Leaving {
                    session.inbox.messages.clear();
                }
                decode(&mut session.inbox, reports);
            }
        });
    });
}

fn decode(inbox: &mut Inbox, reports: LaneId) {
    let mut messages = std::mem::take(&mut inbox.messages);
    for (lane, bytes) in messages.drain(..) {
        if message(inbox, lane, reports, &bytes).is_err() {
            inbox.faults += 1;
        }
    }
    inbox.messages = messages;
}

fn message(inbox: &mut Inbox, lane: LaneId, reports: LaneId, bytes: &[u8]) -> Result<(), WireError> {
    match lane {
        LaneSet::STATE => inbox.control.push(ClientMessage::read(bytes)?),
        lane if lane == reports => {
            let read = read_report(bytes, inbox.next_report());
            if read.is_err() {
                inbox.report_count -= 1;
            }
            read?;
        }
        LaneSet::MOTION => {
            let read = read_owned_report(bytes, inbox.next_owned());
            if read.is_err() {
                inbox.owned_count -= 1;
            }
            read?;
        }
        _ => return Err(WireError::Kind),
    }
    Ok(())
}
