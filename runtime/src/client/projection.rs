use std::sync::Arc;

use glam::{Quat, Vec3};
use tidelock_replication::ids::{InstanceId, PlayerId};
use tidelock_replication::instance::Color;
use tidelock_sim::motor::CharacterState;

/// What to draw this frame: ids and values, sorted by id. Nothing here feeds simulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Projection {
    /// Server time at which remote motion is drawn, seconds; zero before the first motion.
    pub playback_s: f64,
    /// Server time at which the own character and scripted movers are drawn, seconds.
    pub predicted_s: f64,
    /// Loose parts in sight and parts a script moves.
    pub parts: Vec<DrawnPart>,
    /// Parts whose motion is a function of time.
    pub movers: Vec<DrawnPart>,
    /// Characters in sight, the own one included.
    pub characters: Vec<DrawnCharacter>,
}

impl Projection {
    /// The own character, once it lives in the place.
    #[must_use]
    pub fn own(&self) -> Option<&DrawnCharacter> {
        self.characters.iter().find(|character| character.own)
    }
}

/// Where a moving part is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawnPart {
    /// Which part.
    pub id: InstanceId,
    /// Centre, studs.
    pub position: Vec3,
    /// Orientation.
    pub rotation: Quat,
    /// Who simulates it.
    pub owner: PartOwner,
}

/// Who simulates a loose part, as far as this client was told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartOwner {
    /// The server. So are scripted parts.
    #[default]
    Server,
    /// This client: the part answers to its character at once.
    Own,
    /// Another player.
    Other(PlayerId),
}

/// Where a character is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnCharacter {
    /// Which character.
    pub id: InstanceId,
    /// Whose it is.
    pub player: PlayerId,
    /// The player's name.
    pub name: Arc<str>,
    /// The player's colour.
    pub color: Color,
    /// Centre of the capsule, studs.
    pub position: Vec3,
    /// Facing about the up direction, radians.
    pub yaw: f32,
    /// Velocity, studs/s.
    pub velocity: Vec3,
    /// What it is doing.
    pub state: CharacterState,
    /// Whether it is this client's own, predicted instead of played back.
    pub own: bool,
}
