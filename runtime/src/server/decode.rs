use rayon::prelude::*;
use tidelock_net::{LaneId, LaneSet};
use tidelock_replication::wire::{
    ClientMessage, NewestKind, WireError, read_inputs, read_newest_report, read_owned_report, read_report,
};

use super::Server;
use super::session::{Inbox, SessionStage};
use super::workers::SESSIONS_PER_JOB;
use crate::controller::Controller;

/// Turns every inbox's bytes into messages, each checked whole, in parallel. What cannot be read is dropped and counted.
pub(super) fn run(server: &mut Server) {
    let Server { sessions, workers, protocol, .. } = server;
    let controllers = protocol.controllers();
    workers.run(|| {
        sessions.slots_mut().par_chunks_mut(SESSIONS_PER_JOB).for_each(|job| {
            for session in job.iter_mut().flatten() {
                session.inbox.forget_decoded();
                if session.stage == SessionStage::Leaving {
                    session.inbox.messages.clear();
                }
                decode(&mut session.inbox, controllers);
            }
        });
    });
}

fn decode(inbox: &mut Inbox, controllers: &[Controller]) {
    let mut messages = std::mem::take(&mut inbox.messages);
    for (lane, bytes) in messages.drain(..) {
        if message(inbox, lane, controllers, &bytes).is_err() {
            inbox.faults += 1;
        }
    }
    inbox.messages = messages;
}

fn message(inbox: &mut Inbox, lane: LaneId, controllers: &[Controller], bytes: &[u8]) -> Result<(), WireError> {
    match lane {
        LaneSet::STATE => inbox.control.push(ClientMessage::read(bytes)?),
        LaneSet::REPORT if controllers.contains(&Controller::Replay) => {
            let read = read_report(bytes, inbox.next_report());
            inbox.report_count -= usize::from(read.is_err());
            read?;
        }
        LaneSet::NEWEST => newest(inbox, controllers, bytes)?,
        LaneSet::MOTION => {
            let read = read_owned_report(bytes, inbox.next_owned());
            inbox.owned_count -= usize::from(read.is_err());
            read?;
        }
        _ => return Err(WireError::Kind),
    }
    Ok(())
}

fn newest(inbox: &mut Inbox, controllers: &[Controller], bytes: &[u8]) -> Result<(), WireError> {
    match NewestKind::of(bytes)? {
        NewestKind::Report if controllers.contains(&Controller::Allowances) => {
            let read = read_newest_report(bytes, inbox.next_report());
            inbox.report_count -= usize::from(read.is_err());
            read
        }
        NewestKind::Inputs if controllers.iter().any(|controller| controller.takes_inputs()) => {
            let read = read_inputs(bytes, inbox.next_inputs());
            inbox.input_count -= usize::from(read.is_err());
            read
        }
        _ => Err(WireError::Kind),
    }
}
