use tidelock_net::{ConnectionId, DisconnectCode, Ingress, LaneSet, ReceiptKey, Refusal};
use tidelock_replication::motion::Delivery;

use super::Server;
use super::place_transfer::PlaceTransfer;
use super::session::Session;

/// Messages one session may have waiting for a tick; a client sends two or three.
const MAX_WAITING: usize = 512;
/// Bytes of them: more than a client that stood still for a second says at once.
const MAX_WAITING_BYTES: usize = 512 * 1_024;

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
            let inbox = &mut session.inbox;
            let waiting = inbox.messages_bytes + bytes.len();
            if inbox.messages.len() < MAX_WAITING && waiting <= MAX_WAITING_BYTES {
                inbox.messages_bytes = waiting;
                inbox.messages.push((lane, bytes));
            } else {
                inbox.faults += 1;
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tidelock_net::emulator::LinkConfig;
    use tidelock_net::{LaneId, Span};
    use tidelock_replication::place::Place;

    use super::*;
    use crate::testing::VirtualNetwork;
    use crate::{Protocol, ServerConfig};

    // Bad input: what one session has waiting for a tick is bounded by number and by bytes.
    #[test]
    fn a_sessions_messages_of_one_tick_are_bounded_in_number_and_bytes() {
        for (len, most) in [(1, MAX_WAITING), (200 * 1_024, 2)] {
            let place = "name = \"Dot\"\n[[spawn]]\nposition = [0, 3, 0]\n";
            let place = Place::compile(place).expect("a sound place");
            let (network, start) = (VirtualNetwork::new(LinkConfig::default(), 1), Duration::from_secs(1));
            let config = ServerConfig { worker_threads: 1, ..ServerConfig::new([7; 32]) };
            let mut server = Server::in_network(config, Protocol::builder().build(), place, network, (start, start))
                .expect("a sound configuration");
            let connection = ConnectionId::new(0, 0, 1);
            let (user_data, address) = (Box::new([0; 256]), ([10, 0, 0, 9], 1).into());
            sort(&mut server, Ingress::Connected { connection, client_id: 1, user_data, address, lanes: true });
            for _ in 0..most + 3 {
                let bytes = Span::from(vec![0; len]);
                sort(&mut server, Ingress::Message { connection, lane: LaneId(0), bytes });
            }
            let inbox = &server.sessions.get(0).expect("it is here").inbox;
            assert_eq!((inbox.messages.len(), inbox.faults), (most, 3));
            assert_eq!(server.metrics.counters.messages_dropped, 3);
        }
    }
}
