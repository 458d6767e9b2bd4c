use glam::Vec3;
use tidelock_sim::SimTime;
use tidelock_sim::motor::CharacterState;
use tidelock_sim::report::ReportAck;

/// Where a character is, whoever moves it: a component of every character.
///
/// Its controller's stage writes it; interest, physics, publication and a game's systems read nothing else, so they are the
/// same for every [`Controller`](crate::Controller).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CharacterBody {
    /// Centre of the capsule, studs.
    pub position: Vec3,
    /// Its own velocity, studs/s.
    pub velocity: Vec3,
    /// Velocity of the ground it rides, studs/s.
    pub carried: Vec3,
    /// Facing, radians in (-π, π].
    pub yaw: f32,
    /// What it is doing.
    pub state: CharacterState,
    /// Server time at which it was there.
    pub sample: SimTime,
    /// What to acknowledge to its owner.
    pub(crate) ack: Option<ReportAck>,
    /// Whether it moved since its motion was last encoded.
    pub(crate) moved: bool,
}

impl CharacterBody {
    /// Whether it is alive and on its own feet.
    #[must_use]
    pub fn moves_itself(&self) -> bool {
        !matches!(self.state, CharacterState::Seated | CharacterState::Dead)
    }
}
