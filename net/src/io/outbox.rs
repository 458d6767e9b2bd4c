//! Datagrams waiting to be sent, in as few system calls as possible.

use std::io;
use std::net::{SocketAddr, SocketAddrV6};

use mio::net::UdpSocket;
use quinn_udp::{Transmit, UdpSockRef, UdpSocketState};

/// Most bytes of one segmented send.
const MAX_SEGMENTED_BYTES: usize = 60_000;
/// Datagrams of one system call, where it takes several to different addresses.
const BATCH: usize = 32;

/// Datagrams back to back, with where each goes.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// Whether the socket is an IPv6 one, which reaches IPv4 addresses by their mapped form.
    maps_v4: bool,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    to: SocketAddr,
    start: usize,
    end: usize,
}

/// What a flush did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flushed {
    pub(super) sent: u64,
    pub(super) calls: u64,
    /// Datagrams the socket had no room for or refused.
    pub(super) dropped: u64,
}

impl Outbox {
    pub(super) fn new(maps_v4: bool) -> Self {
        Self { maps_v4, ..Self::default() }
    }

    /// Whether to flush before a datagram to `to` is added: there are enough for a system call, and none of them is to that address.
    pub(super) fn is_full_for(&self, to: SocketAddr) -> bool {
        self.entries.len() >= BATCH && self.entries.last().is_some_and(|last| last.to != self.mapped(to))
    }

    fn mapped(&self, to: SocketAddr) -> SocketAddr {
        match to {
            SocketAddr::V4(v4) if self.maps_v4 => SocketAddrV6::new(v4.ip().to_ipv6_mapped(), v4.port(), 0, 0).into(),
            to => to,
        }
    }

    pub(super) fn push(&mut self, to: SocketAddr, datagram: &[u8]) {
        let to = self.mapped(to);
        let start = self.bytes.len();
        self.bytes.extend_from_slice(datagram);
        self.entries.push(Entry { to, start, end: self.bytes.len() });
    }

    /// Sends everything: runs of datagrams to one address segmented by the kernel, the others in batches. What the socket has no
    /// room for is dropped.
    pub(super) fn flush(&mut self, socket: &UdpSocket, state: &UdpSocketState) -> Flushed {
        let mut flushed = Flushed::default();
        let mut singles = 0..0;
        let mut at = 0;
        while at < self.entries.len() {
            let run = self.run(at, state.max_gso_segments());
            if run == 1 {
                singles = if singles.is_empty() { at..at + 1 } else { singles.start..at + 1 };
            } else {
                flushed.add(send_batch(socket, &self.bytes, &self.entries[std::mem::take(&mut singles)]));
                flushed.add(self.send_run(socket, state, at, run));
            }
            at += run;
        }
        flushed.add(send_batch(socket, &self.bytes, &self.entries[singles]));
        self.bytes.clear();
        self.entries.clear();
        flushed
    }

    /// How many datagrams from `at` on go to one address and can be segments of one send: all of one length, but for a shorter last.
    fn run(&self, at: usize, max: usize) -> usize {
        let first = self.entries[at];
        let segment = first.end - first.start;
        let mut run = 1;
        while run < max && at + run < self.entries.len() {
            let next = self.entries[at + run];
            let bytes = next.end - next.start;
            if next.to != first.to || bytes > segment || next.end - first.start > MAX_SEGMENTED_BYTES {
                break;
            }
            run += 1;
            if bytes < segment {
                break;
            }
        }
        run
    }

    fn send_run(&self, socket: &UdpSocket, state: &UdpSocketState, at: usize, run: usize) -> Flushed {
        let entries = &self.entries[at..at + run];
        let (first, last) = (entries[0], entries[run - 1]);
        let transmit = Transmit {
            destination: first.to,
            ecn: None,
            contents: &self.bytes[first.start..last.end],
            segment_size: Some(first.end - first.start),
            src_ip: None,
        };
        match state.try_send(UdpSockRef::from(socket), &transmit) {
            Ok(()) => Flushed { sent: run as u64, calls: 1, dropped: 0 },
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Flushed { sent: 0, calls: 1, dropped: run as u64 }
            }
            // The device refuses segmented sends; quinn-udp lowers its limit, and these go one by one.
            Err(_) => send_batch(socket, &self.bytes, entries),
        }
    }
}

impl Flushed {
    pub(super) fn add(&mut self, other: Self) {
        self.sent += other.sent;
        self.calls += other.calls;
        self.dropped += other.dropped;
    }
}

/// Sends datagrams to different addresses with one system call for up to [`BATCH`] of them.
#[cfg(target_os = "linux")]
fn send_batch(socket: &UdpSocket, bytes: &[u8], entries: &[Entry]) -> Flushed {
    linux::send_batch(socket, bytes, entries)
}

#[cfg(not(target_os = "linux"))]
fn send_batch(socket: &UdpSocket, bytes: &[u8], entries: &[Entry]) -> Flushed {
    let mut flushed = Flushed::default();
    for entry in entries {
        flushed.add(send_one(socket, bytes, entry));
    }
    flushed
}

fn send_one(socket: &UdpSocket, bytes: &[u8], entry: &Entry) -> Flushed {
    let sent = socket.send_to(&bytes[entry.start..entry.end], entry.to).is_ok();
    Flushed { sent: u64::from(sent), calls: 1, dropped: u64::from(!sent) }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::array;
    use std::io::IoSlice;

    use mio::net::UdpSocket;
    use rustix::io::Errno;
    use rustix::net::addr::SocketAddrArg;
    use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, sendmmsg};

    use super::{BATCH, Entry, Flushed, send_one};

    pub(super) fn send_batch(socket: &UdpSocket, bytes: &[u8], entries: &[Entry]) -> Flushed {
        let mut flushed = Flushed::default();
        let mut rest = entries;
        while !rest.is_empty() {
            let count = rest.len().min(BATCH);
            if count == 1 {
                flushed.add(send_one(socket, bytes, &rest[0]));
                break;
            }
            flushed.calls += 1;
            match send_some(socket, bytes, &rest[..count]) {
                Ok(sent) => {
                    flushed.sent += sent as u64;
                    rest = &rest[sent..];
                }
                Err(Errno::AGAIN) => {
                    flushed.dropped += rest.len() as u64;
                    break;
                }
                Err(Errno::INTR) => {}
                // The first datagram's own fault, such as an address without a route.
                Err(_) => {
                    flushed.dropped += 1;
                    rest = &rest[1..];
                }
            }
        }
        flushed
    }

    /// Sends up to [`BATCH`] datagrams; how many the kernel took.
    fn send_some(socket: &UdpSocket, bytes: &[u8], entries: &[Entry]) -> Result<usize, Errno> {
        let entry = |index: usize| entries[index.min(entries.len() - 1)];
        let addresses: [_; BATCH] = array::from_fn(|index| entry(index).to.as_any());
        let slices: [_; BATCH] = array::from_fn(|index| [IoSlice::new(&bytes[entry(index).start..entry(index).end])]);
        let mut controls: [_; BATCH] = array::from_fn(|_| SendAncillaryBuffer::default());
        let mut parts = addresses.iter().zip(&slices).zip(&mut controls);
        let mut heads: [_; BATCH] = array::from_fn(|_| {
            let ((address, slice), control) = parts.next().expect("as many parts as heads");
            MMsgHdr::new_with_addr(address, slice, control)
        });
        sendmmsg(socket, &mut heads[..entries.len()], SendFlags::DONTWAIT)
    }
}
