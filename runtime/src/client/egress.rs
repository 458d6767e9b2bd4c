use std::time::Duration;

use tidelock_net::{Egress, LaneId, LaneSet, Span};
use tidelock_replication::wire::{ClientMessage, write_newest_report, write_report};

use super::Client;
use super::own::OwnStyle;
use crate::controller::Controller;

/// Least time between two datagrams that have nothing new to say, seconds: a server tick, less the unevenness of frames.
const FLUSH_INTERVAL_S: f64 = 0.9 / 60.0;

/// Sends what the frame has to say: reports when due, and whatever the session said before.
pub(super) fn run(client: &mut Client, network_now: Duration) {
    reports(client);
    let Client { transport, egress, ingress, stats, next_flush, now, .. } = client;
    // Reports not acknowledged yet ride again in every datagram, so each tick's length has one (S-20a); more would only cost.
    if !egress.is_empty() || *now >= *next_flush {
        *next_flush = (*next_flush + FLUSH_INTERVAL_S).max(*now);
        egress.push(Egress::FlushAll);
    }
    if transport.send(network_now, egress, ingress).is_err() {
        stats.faults += 1;
    }
}

fn reports(client: &mut Client) {
    let Some(connection) = client.connection else { return };
    let controller = client.own.controller().unwrap_or_default();
    let Client { own, stats, egress, .. } = client;
    let mut send = |lane, bytes: Vec<u8>| {
        egress.push(Egress::Send { connection, lane, bytes: Span::from(bytes), receipt: None });
    };
    match &mut own.style {
        None => {}
        Some(OwnStyle::Reports(prediction)) => {
            while let Some(mut report) = prediction.poll_report() {
                let mut bytes = Vec::with_capacity(128);
                if controller == Controller::Replay {
                    write_report(&mut bytes, &report);
                    send(LaneSet::REPORT, bytes);
                } else {
                    // Nobody runs the frames; the last says what the player holds.
                    let before = report.frames.len().saturating_sub(1);
                    report.frames.drain(..before);
                    write_newest_report(&mut bytes, &report);
                    send(LaneSet::NEWEST, bytes);
                }
                prediction.recycle(report);
                stats.reports += 1;
            }
        }
        Some(style) => {
            if let Some(bytes) = style.take_inputs() {
                send(LaneSet::NEWEST, bytes);
                stats.inputs += 1;
            }
        }
    }
}

/// Queues a session message.
pub(super) fn send(client: &mut Client, message: &ClientMessage) {
    let Some(connection) = client.connection else { return };
    let mut bytes = Vec::new();
    message.write(&mut bytes);
    let bytes = Span::from(bytes);
    client.egress.push(Egress::Send { connection, lane: LaneSet::STATE, bytes, receipt: None });
}

/// Queues a message of a test's own making.
pub(super) fn forge(client: &mut Client, lane: LaneId, bytes: Vec<u8>) {
    let Some(connection) = client.connection else { return };
    client.egress.push(Egress::Send { connection, lane, bytes: Span::from(bytes), receipt: None });
}
