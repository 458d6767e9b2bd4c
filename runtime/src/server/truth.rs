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
use super::inputs::{CharacterInputs, InputTruth};
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

/// Where and when a character comes under a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Beginning {
    pub(super) controller: Controller,
    pub(super) position: Vec3,
    pub(super) yaw: f32,
    /// Its first epoch there.
    pub(super) epoch: u32,
}

/// Gives an entity the components of a character under a controller, in place of those it had under another.
pub(super) fn insert(server: &mut Server, entity: Entity, beginning: Beginning) {
    let Beginning { controller, position, yaw, epoch } = beginning;
    let (now, settings) = (server.time(), *server.place.settings());
    let Server { place, protocol, config, .. } = server;
    let (replay, allowance) = (&config.replay_limits, &config.allowance_limits);
    let rules = Rules { now, settings: &settings, module: protocol.module_of(controller), replay, allowance };
    let world = place.world_mut();
    remove(world, entity);
    let motor = MotorSnapshot { position, yaw, state: CharacterState::Falling, ..MotorSnapshot::default() };
    let truth = || CharacterTruth::new(CharacterSim::new(motor, rules.module), replay).with_epoch(epoch);
    let (body, inserted) = match controller {
        Controller::Replay => {
            let truth = truth();
            (truth.body(&rules), world.insert(entity, (truth, ReplayResult::default())))
        }
        Controller::Allowances => {
            let validator = AllowanceValidator::new(position, yaw, &rules.judging()).with_epoch(epoch);
            let truth = AllowanceTruth::new(validator, rules.module.initial());
            let components = (AllowanceResult::default(), MovementSignals::default());
            (truth.body(&rules), world.insert(entity, components).and_then(|()| world.insert_one(entity, truth)))
        }
        Controller::Ticked | Controller::Poses => {
            let truth = InputTruth::new(truth(), controller == Controller::Ticked, protocol.actions());
            (truth.body(&rules), world.insert(entity, (truth, CharacterInputs::default())))
        }
    };
    let common = (controller, ControlInput::default(), CharacterBody { moved: true, ..body });
    inserted.and_then(|()| world.insert(entity, common)).expect("the entity of a character in the place");
}

/// Takes away what a character has of its controller alone.
fn remove(world: &mut World, entity: Entity) {
    // Whatever it does not have is not there to be taken.
    drop(world.remove::<(CharacterTruth, ReplayResult)>(entity));
    drop(world.remove::<(AllowanceTruth, AllowanceResult, MovementSignals)>(entity));
    drop(world.remove::<(InputTruth, CharacterInputs)>(entity));
}

/// The truth of a character, whatever its controller.
pub(super) fn get<T>(world: &mut World, entity: Entity, read: impl FnOnce(&mut dyn Truth) -> T) -> Option<T> {
    if let Ok(truth) = world.query_one_mut::<&mut CharacterTruth>(entity) {
        return Some(read(truth));
    }
    if let Ok(truth) = world.query_one_mut::<&mut InputTruth>(entity) {
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
    let world = place.world_mut();
    let Ok(controller) = world.query_one_mut::<&Controller>(entity).copied() else { return Obeyed::Unknown };
    let rules = Rules { now, settings: &settings, module: protocol.module_of(controller), replay, allowance };
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
