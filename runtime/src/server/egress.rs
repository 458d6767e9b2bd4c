use super::Server;

/// Hands everything the tick wants sent to the network.
pub(super) fn run(server: &mut Server) {
    let Server { outbox, transport, ingress, metrics, now, .. } = server;
    if transport.send(*now, outbox.finish(), ingress).is_err() {
        metrics.counters.network_errors += 1;
    }
}
