//! One connection's sealing: the standard's, then the extension's.

use std::time::Duration;

use crate::counters::Fault;
use crate::extension::{ExtendedTunnel, is_extended};
use crate::netcode::packet::PacketKind;
use crate::netcode::tunnel::Tunnel;
use crate::prefetch::prefetch;

/// How long packets of the standard are still opened after the connection went over to the extension.
const OVERLAP: Duration = Duration::from_secs(2);

/// Seals and opens a connection's packets.
pub(crate) struct Sealer {
    standard: Option<Box<Tunnel>>,
    extended: Option<ExtendedTunnel>,
    /// Whether what is sent is of the extension.
    leads: bool,
    /// When the standard's keys are forgotten.
    standard_until: Option<Duration>,
    /// The standard's next sequence number, once its keys are forgotten.
    standard_sequence: u64,
}

/// A packet opened.
pub(crate) struct OpenedPacket<'a> {
    pub(crate) kind: PacketKind,
    pub(crate) body: &'a mut [u8],
    pub(crate) is_extended: bool,
    /// Whether it is the newest of the extension's packets.
    pub(crate) is_newest: bool,
}

impl Sealer {
    pub(crate) fn new(standard: Tunnel) -> Self {
        let standard = Some(Box::new(standard));
        Self { standard, extended: None, leads: false, standard_until: None, standard_sequence: 0 }
    }

    /// First sequence number of the standard not used for sealing.
    pub(crate) fn next_sequence(&self) -> u64 {
        self.standard.as_ref().map_or(self.standard_sequence, |standard| standard.next_sequence())
    }

    /// Opens packets of the extension from now on.
    pub(crate) fn extend(&mut self, tunnel: ExtendedTunnel) {
        self.extended = Some(tunnel);
    }

    /// Sends packets of the extension from now on; returns whether that is new.
    pub(crate) fn lead(&mut self) -> bool {
        self.extended.is_some() && !std::mem::replace(&mut self.leads, true)
    }

    /// Whether packets of the extension are sent.
    pub(crate) fn leads(&self) -> bool {
        self.leads
    }

    /// Bytes around the content of the extension's packets.
    pub(crate) fn overhead(&self) -> usize {
        self.extended.as_ref().map_or(0, |extended| extended.overhead())
    }

    /// Lets time pass.
    pub(crate) fn advance(&mut self, now: Duration) {
        if self.standard_until.is_some_and(|until| until <= now) {
            self.standard_sequence = self.next_sequence();
            (self.standard, self.standard_until) = (None, None);
        }
    }

    /// Empties `out` and begins a packet in it: append the body, then [`finish`](Self::finish) with what this returned.
    pub(crate) fn begin(&self, kind: PacketKind, out: &mut Vec<u8>) -> usize {
        match (&self.extended, &self.standard) {
            (Some(extended), _) if self.leads => extended.begin(kind, out),
            (_, Some(standard)) => standard.begin(kind, out),
            _ => unreachable!("the standard's keys are forgotten only when the extension leads"),
        }
    }

    /// Seals the packet begun in `out`.
    pub(crate) fn finish(&mut self, body: usize, out: &mut Vec<u8>) {
        match (&mut self.extended, &mut self.standard) {
            (Some(extended), _) if self.leads => extended.finish(body, out),
            (_, Some(standard)) => standard.finish(body, out),
            _ => unreachable!("the standard's keys are forgotten only when the extension leads"),
        }
    }

    /// Asks for the memory, beside its own, that opening reads.
    pub(crate) fn prefetch_received(&self) {
        match &self.extended {
            Some(extended) => extended.prefetch_received(),
            None => self.standard.iter().for_each(|standard| prefetch(&**standard)),
        }
    }

    /// Asks for the memory, beside its own, that sealing reads.
    pub(crate) fn prefetch_sent(&self) {
        match &self.extended {
            Some(extended) if self.leads => extended.prefetch_sent(),
            _ => self.standard.iter().for_each(|standard| prefetch(&**standard)),
        }
    }

    /// Gives memory back that a quiet connection does not need.
    pub(crate) fn rest(&mut self) {
        if let Some(extended) = &mut self.extended {
            extended.rest();
        }
    }

    /// Opens a packet in place.
    pub(crate) fn open<'a>(&mut self, now: Duration, packet: &'a mut [u8]) -> Result<OpenedPacket<'a>, Fault> {
        if is_extended(packet) {
            let extended = self.extended.as_mut().ok_or(Fault::Unexpected)?;
            let opened = extended.open(packet)?;
            if self.standard.is_some() && self.leads && self.standard_until.is_none() {
                self.standard_until = Some(now + OVERLAP);
            }
            let (kind, body, is_newest) = (opened.kind, opened.body, opened.is_newest);
            return Ok(OpenedPacket { kind, body, is_extended: true, is_newest });
        }
        let (kind, body) = self.standard.as_mut().ok_or(Fault::Unexpected)?.open(packet)?;
        Ok(OpenedPacket { kind, body, is_extended: false, is_newest: false })
    }
}
