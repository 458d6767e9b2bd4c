use glam::Vec3;
use hecs::{Entity, World};
use tidelock_sim::SimTime;
use tidelock_sim::allowance::{AllowanceEnvironment, AllowanceLimits, AllowanceValidator};
use tidelock_sim::module::SimulationModule;
use tidelock_sim::motor::{CharacterState, MotorSettings, MotorSnapshot};
use tidelock_sim::report::{CharacterTruth, Correction, CorrectionCause, ReplayLimits};
use tidelock_sim::simulation::CharacterSim;

use super::allowances::{AllowanceResult, AllowanceTruth, MovementSignals};
use super::body::CharacterBody;
use super::replay::ReplayResult;
use super::{PlayerCommand, Server};
use crate::control::ControlInput;
use crate::controller::Controller;

/// What the server keeps of a character, by its controller. Its stage and commands of the game alone change it.
pub(crate) trait Truth {
    /// Obeys the game.
    fn obey(&mut self, command: &BodyCommand, rules: &Rules<'_>) -> Obeyed;
    /// Moves a character that sits with its seat.
    fn carry(&mut self, position: Vec3, velocity: Vec3, yaw: f32);
    /// Where the character is, whole, for its owner.
    fn word(&self, cause: CorrectionCause) -> Correction;
    /// Where it is, for everyone.
    fn body(&self, rules: &Rules<'_>) -> CharacterBody;
}

/// What came of a command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Obeyed {
    /// This controller knows no such command.
    Unknown,
    /// It was done, and its owner need not know.
    Quietly,
    /// It moved the character; this is for its owner.
    Moved(Correction),
}

/// A command to a character.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum BodyCommand {
    Teleport { position: Vec3, yaw: f32 },
    Kill,
    Respawn { position: Vec3, yaw: f32 },
    Sit { position: Vec3, yaw: f32 },
    Grant(tidelock_sim::allowance::MovementGrants),
}

/// What truths are judged by.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub(crate) now: SimTime,
    pub(crate) settings: &'a MotorSettings,
    pub(crate) module: &'a dyn SimulationModule,
    pub(crate) replay: &'a ReplayLimits,
    pub(crate) allowance: &'a AllowanceLimits,
}

impl<'a> Rules<'a> {
    pub(crate) fn judging(&self) -> AllowanceEnvironment<'a> {
        AllowanceEnvironment { now: self.now, settings: self.settings, limits: self.allowance, envelope: self.replay }
    }
}

/// Gives an entity the components of a character that stands at a spawn.
pub(super) fn insert(server: &mut Server, entity: Entity, position: Vec3, yaw: f32) {
    let controller = server.protocol.controller();
    let (now, settings) = (server.time(), *server.place.settings());
    let Server { place, protocol, config, .. } = server;
    let (replay, allowance) = (&config.replay_limits, &config.allowance_limits);
    let rules = Rules { now, settings: &settings, module: protocol.module(), replay, allowance };
    let world = place.world_mut();
    let inserted = match controller {
        Controller::Replay => {
            let motor = MotorSnapshot { position, yaw, state: CharacterState::Falling, ..MotorSnapshot::default() };
            let truth = CharacterTruth::new(CharacterSim::new(motor, rules.module), replay);
            let body = truth.body(&rules);
            world.insert(entity, (truth, ReplayResult::default(), ControlInput::default(), body))
        }
        Controller::Allowances => {
            let validator = AllowanceValidator::new(position, yaw, &rules.judging());
            let truth = AllowanceTruth::new(validator, rules.module.initial());
            let body = truth.body(&rules);
            let components = (truth, AllowanceResult::default(), MovementSignals::default());
            world.insert(entity, components).and_then(|()| world.insert(entity, (ControlInput::default(), body)))
        }
    };
    inserted.expect("the entity has just been made");
}

/// The truth of a character, whatever its controller.
pub(super) fn get<T>(world: &mut World, entity: Entity, read: impl FnOnce(&mut dyn Truth) -> T) -> Option<T> {
    if let Ok(truth) = world.query_one_mut::<&mut CharacterTruth>(entity) {
        return Some(read(truth));
    }
    let truth = world.query_one_mut::<&mut AllowanceTruth>(entity).ok()?;
    Some(read(truth))
}

/// Commands a character.
pub(super) fn command(server: &mut Server, entity: Entity, command: &BodyCommand) -> Obeyed {
    let (now, settings) = (server.time(), *server.place.settings());
    let Server { place, protocol, config, .. } = server;
    let (replay, allowance) = (&config.replay_limits, &config.allowance_limits);
    let rules = Rules { now, settings: &settings, module: protocol.module(), replay, allowance };
    let world = place.world_mut();
    let done = get(world, entity, |truth| (truth.obey(command, &rules), truth.body(&rules)));
    let Some((obeyed, body)) = done else { return Obeyed::Unknown };
    if let (Obeyed::Moved(_), Ok(held)) = (obeyed, world.query_one_mut::<&mut CharacterBody>(entity)) {
        *held = CharacterBody { moved: true, ..body };
    }
    obeyed
}

impl BodyCommand {
    /// The part of a player's command that is for its character.
    pub(super) fn of(command: &PlayerCommand) -> Option<Self> {
        match command {
            PlayerCommand::Teleport { position, yaw } => Some(Self::Teleport { position: *position, yaw: *yaw }),
            PlayerCommand::Kill => Some(Self::Kill),
            PlayerCommand::Grant(grants) => Some(Self::Grant(*grants)),
            _ => None,
        }
    }
}
