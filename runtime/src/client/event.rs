use glam::Vec3;
use tidelock_net::DisconnectReason;
use tidelock_replication::ids::{InstanceId, PlayerId};
use tidelock_sim::report::CorrectionCause;

use crate::controller::Controller;

/// Something that happened on a client, handed out once.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientEvent {
    /// The server has taken the client in.
    Joined {
        /// This client's player.
        player: PlayerId,
    },
    /// The own character stands in the place.
    Spawned {
        /// The character.
        character: InstanceId,
    },
    /// The own character has come under another controller.
    Controlled {
        /// Which.
        controller: Controller,
    },
    /// The server's word moved the own character.
    Corrected {
        /// Why.
        cause: CorrectionCause,
        /// From where it was to where it is now, studs.
        offset: Vec3,
        /// Motor ticks run again.
        replayed_ticks: u32,
    },
    /// The session is over.
    Disconnected {
        /// What ended it.
        reason: DisconnectReason,
    },
}

/// How far a client has come.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientState {
    /// Asking the server for a connection.
    Connecting,
    /// Connected; waiting to be taken in.
    Joining,
    /// Fetching the place.
    Loading {
        /// Compressed bytes here.
        received: u64,
        /// Compressed bytes in all; 0 until the first piece says.
        total: u64,
    },
    /// In the place.
    Playing,
    /// Over; this client will not come back by itself.
    Disconnected {
        /// What ended it.
        reason: DisconnectReason,
    },
}
