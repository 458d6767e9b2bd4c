//! The way of parcels between the drivers of a set.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use crate::io::driver::Waker;
use crate::parcel::Parcel;

/// Parcels that wait for a driver at most; more are lost, as datagrams are on their way.
const QUEUED_PARCELS: usize = 4_096;

/// One driver's end: its own queue, and the queues of all.
pub(super) struct Exchange {
    arrivals: Receiver<Parcel>,
    others: Vec<(SyncSender<Parcel>, Waker)>,
    /// Drivers given something since they were last woken.
    given: Vec<bool>,
    /// Parcels that must not be lost and found no room.
    kept: Vec<(u8, Parcel)>,
}

impl Exchange {
    /// An end for each waker, in their order.
    pub(super) fn between(wakers: &[Waker]) -> Vec<Self> {
        let (senders, receivers): (Vec<_>, Vec<_>) = wakers.iter().map(|_| sync_channel(QUEUED_PARCELS)).unzip();
        let others: Vec<_> = senders.into_iter().zip(wakers.iter().cloned()).collect();
        let end =
            |arrivals| Self { arrivals, others: others.clone(), given: vec![false; others.len()], kept: Vec::new() };
        receivers.into_iter().map(end).collect()
    }

    /// Queues a parcel for the driver of shard `to`; whether it will get there. Datagrams do not when there is no room.
    pub(super) fn give(&mut self, to: u8, parcel: Parcel) -> bool {
        let Some((queue, _)) = self.others.get(usize::from(to)) else { return false };
        match queue.try_send(parcel) {
            Ok(()) => {}
            Err(TrySendError::Full(Parcel::Datagram { .. })) => return false,
            Err(TrySendError::Full(parcel)) => self.kept.push((to, parcel)),
            Err(TrySendError::Disconnected(_)) => return false,
        }
        self.given[usize::from(to)] = true;
        true
    }

    /// Tries those again for which there was no room.
    pub(super) fn retry(&mut self) {
        for (to, parcel) in std::mem::take(&mut self.kept) {
            self.give(to, parcel);
        }
    }

    /// Wakes the drivers that were given something.
    pub(super) fn wake(&mut self) {
        for (given, (_, waker)) in self.given.iter_mut().zip(&self.others) {
            if std::mem::take(given) {
                // A driver that cannot be woken finds its parcels at its next timeout.
                let _ = waker.wake();
            }
        }
    }

    /// Takes the next parcel for this driver.
    pub(super) fn take(&mut self) -> Option<Parcel> {
        self.arrivals.try_recv().ok()
    }
}
