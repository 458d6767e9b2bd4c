use glam::{Quat, Vec3};
use tidelock_replication::ids::{InstanceId, PlayerId};
use tidelock_replication::instance::{Audience, PartProperties, Pose, Seat};
use tidelock_sim::allowance::MovementGrants;
use tidelock_sim::motor::CharacterState;

use crate::controller::Controller;

/// Changes a game asks for; systems see the world, commands alter it, so that nothing changes unseen.
///
/// They apply in order, before the next stage begins. Those for players or instances that are not here are counted and dropped.
#[derive(Debug, Default)]
pub struct Commands {
    pub(crate) queue: Vec<Command>,
    pub(crate) next_id: u64,
}

#[derive(Clone, Debug)]
pub(crate) enum Command {
    Player { player: PlayerId, command: PlayerCommand },
    CreatePart { id: InstanceId, properties: Box<PartProperties>, pose: Pose, audience: Audience },
    SetPart { id: InstanceId, properties: Box<PartProperties> },
    MovePart { id: InstanceId, pose: Pose, linear_velocity: Vec3, angular_velocity: Vec3 },
    SetAudience { id: InstanceId, audience: Audience },
    SetOwnership { id: InstanceId, policy: PartOwnership },
    Destroy { id: InstanceId },
    MoveCharacter { id: InstanceId, to: CharacterMove },
}

/// Where the game has moved a character that it moves by itself ([`Controller::Poses`]).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CharacterMove {
    /// Centre of the capsule, studs.
    pub position: Vec3,
    /// Velocity, studs/s.
    pub velocity: Vec3,
    /// Facing, radians.
    pub yaw: f32,
    /// What it is doing, for whoever draws it; not seated and not dead, which are commands.
    pub state: CharacterState,
}

/// A change of one player or its character.
#[derive(Clone, Debug, PartialEq)]
pub enum PlayerCommand {
    /// Puts the character elsewhere, at rest.
    Teleport {
        /// Centre of the capsule, studs.
        position: Vec3,
        /// Facing, radians.
        yaw: f32,
    },
    /// Kills the character; it stays until it is brought back.
    Kill,
    /// Brings the character to life at a spawn.
    Respawn,
    /// Lets the character do more than its motor settings, from now on and instead of earlier grants; for characters whose
    /// reports are judged by allowances, others refuse it.
    Grant(MovementGrants),
    /// Puts the character on a spot of a part that everyone may know of: it follows the part, its reports count for what its player
    /// holds alone ([`ControlInput`](crate::ControlInput) on its entity), and its entity carries the [`Seat`]. Until
    /// [`Self::Stand`], [`Self::Teleport`], [`Self::Kill`] or [`Self::Respawn`], or the part's end.
    Sit(Seat),
    /// Puts a character that sits on its own feet, where it sits.
    Stand,
    /// Puts the character, as it is now and at rest, under another controller of the protocol. Not while it sits.
    Control(Controller),
    /// Puts the player into these audience groups and no others.
    SetGroups(Vec<u32>),
    /// Ends the player's session.
    Kick {
        /// Words for the player, cut at 256 bytes.
        text: String,
    },
}

/// Who may simulate a loose part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartOwnership {
    /// The nearest player, with hysteresis.
    #[default]
    Nearest,
    /// The server alone.
    Server,
    /// This player, until the game says otherwise or it leaves.
    Player(PlayerId),
}

impl Commands {
    /// Changes a player or its character.
    pub fn player(&mut self, player: PlayerId, command: PlayerCommand) {
        self.queue.push(Command::Player { player, command });
    }

    /// Creates a part and returns its id.
    pub fn create_part(&mut self, properties: PartProperties, pose: Pose, audience: Audience) -> InstanceId {
        let id = self.new_id();
        self.queue.push(Command::CreatePart { id, properties: Box::new(properties), pose, audience });
        id
    }

    /// Gives a part other properties; those that differ are sent.
    pub fn set_part(&mut self, id: InstanceId, properties: PartProperties) {
        self.queue.push(Command::SetPart { id, properties: Box::new(properties) });
    }

    /// Moves a part: a loose one goes on from there by itself, an anchored one stays.
    pub fn move_part(&mut self, id: InstanceId, position: Vec3, rotation: Quat) {
        let pose = Pose { position, rotation };
        let (linear_velocity, angular_velocity) = (Vec3::ZERO, Vec3::ZERO);
        self.queue.push(Command::MovePart { id, pose, linear_velocity, angular_velocity });
    }

    /// Moves a loose part and gives it velocities, studs/s and radians/s about the world's axes.
    pub fn launch_part(&mut self, id: InstanceId, pose: Pose, linear_velocity: Vec3, angular_velocity: Vec3) {
        self.queue.push(Command::MovePart { id, pose, linear_velocity, angular_velocity });
    }

    /// Changes who may know of a part.
    pub fn set_audience(&mut self, id: InstanceId, audience: Audience) {
        self.queue.push(Command::SetAudience { id, audience });
    }

    /// Says who may simulate a loose part; it changes hands at once.
    pub fn set_ownership(&mut self, id: InstanceId, policy: PartOwnership) {
        self.queue.push(Command::SetOwnership { id, policy });
    }

    /// Moves a character that the game moves by itself, as its inputs of this tick ask for ([`CharacterInputs`](crate::CharacterInputs)):
    /// once a tick, from a system that runs after replay. Dropped for characters of other controllers, dead and seated ones. To
    /// put one elsewhere against its owner's inputs, use [`PlayerCommand::Teleport`].
    pub fn move_character(&mut self, id: InstanceId, to: CharacterMove) {
        self.queue.push(Command::MoveCharacter { id, to });
    }

    /// Destroys a part; its id never comes back.
    pub fn destroy(&mut self, id: InstanceId) {
        self.queue.push(Command::Destroy { id });
    }

    /// An id never used before.
    pub(crate) fn new_id(&mut self) -> InstanceId {
        self.next_id += 1;
        InstanceId(self.next_id)
    }
}
