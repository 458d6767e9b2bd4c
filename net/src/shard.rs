//! The edge between connections and whoever owns their socket.

use std::net::SocketAddr;
use std::time::Duration;

use crate::counters::Counters;
use crate::event::{Egress, Ingress};
use crate::parcel::Parcel;

/// A set of connections behind one socket, owned whole: handshakes, lanes, packing, sealing.
///
/// `now` never goes back between calls. Nothing is sent by any call but [`transmit`](Shard::transmit): after feeding datagrams,
/// wishes or time, call it; then wait for a datagram, a wish or [`next_timeout`](Shard::next_timeout).
pub trait Shard {
    /// Takes one received datagram. It is opened in place, so its bytes are garbage afterwards. Whatever it holds, malformed or
    /// forged, at most counters change.
    fn handle(&mut self, now: Duration, from: SocketAddr, datagram: &mut [u8], ingress: &mut Vec<Ingress>);

    /// Takes datagrams received together, each with its sender: the same as one after the other, for less.
    fn handle_batch(
        &mut self,
        now: Duration,
        batch: &mut dyn Iterator<Item = (SocketAddr, &mut [u8])>,
        ingress: &mut Vec<Ingress>,
    ) {
        batch.for_each(|(from, datagram)| self.handle(now, from, datagram, ingress));
    }

    /// Carries out one wish of the owner. A wish for a connection that is gone is answered with
    /// [`Ingress::Blocked`] if it was a message, and otherwise ignored.
    fn apply(&mut self, now: Duration, egress: Egress, ingress: &mut Vec<Ingress>);

    /// Carries out wishes in their order and drains them: the same as one after the other, for less.
    fn apply_all(&mut self, now: Duration, egress: &mut Vec<Egress>, ingress: &mut Vec<Ingress>) {
        egress.drain(..).for_each(|wish| self.apply(now, wish, ingress));
    }

    /// Lets time pass: timeouts, found losses, due acknowledgements and keep-alives. Costs only what is due.
    fn advance(&mut self, now: Duration, ingress: &mut Vec<Ingress>);

    /// Hands out every datagram that may be sent now. Those to one address follow each other.
    fn transmit(&mut self, now: Duration, out: &mut dyn FnMut(SocketAddr, &[u8]));

    /// When [`advance`](Shard::advance) and [`transmit`](Shard::transmit) next have something to do without new datagrams or
    /// wishes; `None` means not at all. May be early.
    fn next_timeout(&self) -> Option<Duration>;

    /// What was counted since the shard was made.
    fn counters(&self) -> &Counters;

    /// Takes the next parcel for another shard of the same set, with that shard's number. Ask after [`handle`](Shard::handle).
    fn depart(&mut self) -> Option<(u8, Parcel)> {
        None
    }

    /// Takes a parcel of another shard of the same set, as [`depart`](Shard::depart) gave it.
    fn arrive(&mut self, _now: Duration, _parcel: Parcel, _ingress: &mut Vec<Ingress>) {}
}
