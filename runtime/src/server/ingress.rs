use tidelock_net::{ConnectionId, DisconnectCode, Ingress, LaneSet, ReceiptKey, Refusal};
use tidelock_replication::motion::Delivery;

use super::Server;
use super::place_transfer::PlaceTransfer;
use super::session::Session;

/// Messages one session may have waiting for a tick; a client sends two or three.
const MAX_WAITING: usize = 512;

/// Takes what the network has and sorts it into inboxes.
pub(super) fn run(server: &mut Server) {
    let mut ingress = std::mem::take(&mut server.ingress);
    if server.transport.receive(server.now, &mut ingress).is_err() {
        server.metrics.counters.network_errors += 1;
    }
    for event in ingress.drain(..) {
        sort(server, event);
    }
    server.ingress = ingress;
}

fn sort(server: &mut Server, event: Ingress) {
    match event {
        Ingress::Connected { connection, client_id, address, lanes, .. } => {
            if !lanes {
                server.outbox.disconnect(connection, DisconnectCode::VersionMismatch, "lanes are required");
                return;
            }
            let player = server.place.new_player();
            let mut session = Session::new(connection, client_id, address, player);
            session.advanced = server.now;
            server.sessions.insert(session);
            server.metrics.counters.connections += 1;
        }
        Ingress::Message { connection, lane, bytes } => {
            let Some(session) = session(server, connection) else { return };
            session.traffic.messages_in += 1;
            if session.inbox.messages.len() < MAX_WAITING {
                session.inbox.messages.push((lane, bytes));
            } else {
                session.inbox.faults += 1;
                server.metrics.counters.messages_dropped += 1;
            }
        }
        Ingress::Receipts { connection, delivered, lost } => {
            let now = server.now;
            let Some(session) = session(server, connection) else { return };
            if delivered.iter().any(|&key| PlaceTransfer::is_receipt(key)) {
                session.advanced = now;
            }
            receipts(session, &delivered, Delivery::Delivered);
            receipts(session, &lost, Delivery::Lost);
        }
        Ingress::Feedback { connection, feedback } => {
            if let Some(session) = session(server, connection) {
                session.feedback = Some(*feedback);
            }
        }
        Ingress::Blocked { connection, lane, refusal, receipt } => {
            server.metrics.counters.sends_refused += 1;
            let reliable = lane == LaneSet::STATE || lane == LaneSet::BULK;
            if let Some(key) = receipt
                && let Some(session) = session(server, connection)
            {
                receipts(session, &[key], Delivery::Lost);
            }
            // Reliable state that cannot be queued leaves this client's world wrong for good: it has to start anew.
            if reliable && refusal == Refusal::WouldBlock {
                server.outbox.disconnect(connection, DisconnectCode::Overloaded, "state could not be delivered");
            }
        }
        Ingress::Disconnected { connection, reason } => {
            if let Some(slot) = server.sessions.slot_of(connection) {
                server.metrics.count_disconnect(&reason);
                server.left.push(slot);
            }
        }
        Ingress::Raw { .. } => server.metrics.counters.messages_dropped += 1,
    }
}

fn session(server: &mut Server, connection: ConnectionId) -> Option<&mut Session> {
    let slot = server.sessions.slot_of(connection)?;
    server.sessions.get_mut(slot)
}

fn receipts(session: &mut Session, keys: &[ReceiptKey], delivery: Delivery) {
    for &key in keys {
        if PlaceTransfer::is_receipt(key) {
            if let Some(transfer) = &mut session.transfer {
                transfer.received();
            }
        } else {
            session.inbox.receipts.push((key.0, delivery));
        }
    }
}
