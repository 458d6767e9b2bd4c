use std::fmt;
use std::sync::Arc;

use tidelock_replication::wire;
use tidelock_sim::input::PressActions;
use tidelock_sim::module::SimulationModule;
use tidelock_sim::plain::PlainModule;
use tidelock_sim::stock::StockModule;

use crate::controller::Controller;

/// What both ends must agree on before they play together: the wire format, the controllers and the simulation modules.
///
/// Built once, shared by every server and client of a process, compared by hash in the first message of a session.
#[derive(Clone)]
pub struct Protocol {
    /// By controller.
    modules: [Arc<dyn SimulationModule>; Controller::ALL.len()],
    /// The first is what a character has unless the game chooses.
    controllers: Vec<Controller>,
    actions: PressActions,
    hash: [u8; 32],
}

impl Protocol {
    /// The netcode protocol id of this wire format: connect tokens carry it, other ids are foreign.
    pub const NETCODE_ID: u64 = 0x7469_6465_0000_0000 | wire::WIRE_VERSION as u64;

    /// Starts a protocol with reports the server replays and the stock module.
    #[must_use]
    pub fn builder() -> ProtocolBuilder {
        ProtocolBuilder {
            module: None,
            controller: Controller::default(),
            others: Vec::new(),
            actions: PressActions::default(),
        }
    }

    /// The simulation module of characters the game chose no controller for.
    #[must_use]
    pub fn module(&self) -> &dyn SimulationModule {
        self.module_of(self.controller())
    }

    /// The simulation module of characters under a controller. With [`Controller::Poses`] it only gives the first state.
    #[must_use]
    pub fn module_of(&self, controller: Controller) -> &dyn SimulationModule {
        &*self.modules[controller as usize]
    }

    /// The same, shared.
    pub(crate) fn shared_module(&self, controller: Controller) -> Arc<dyn SimulationModule> {
        self.modules[controller as usize].clone()
    }

    /// How characters are moved and checked unless the game chooses otherwise.
    #[must_use]
    pub fn controller(&self) -> Controller {
        self.controllers[0]
    }

    /// Every controller a character can have; the first is the usual one.
    #[must_use]
    pub fn controllers(&self) -> &[Controller] {
        &self.controllers
    }

    /// Which buttons act on the press, and in what order.
    #[must_use]
    pub fn actions(&self) -> &PressActions {
        &self.actions
    }

    /// Hash of everything that must be equal on both ends.
    #[must_use]
    pub fn hash(&self) -> [u8; 32] {
        self.hash
    }
}

impl fmt::Debug for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Protocol")
            .field("module", &self.module().name())
            .field("module_version", &self.module().version())
            .field("controllers", &self.controllers)
            .finish_non_exhaustive()
    }
}

/// Collects the parts of a [`Protocol`].
pub struct ProtocolBuilder {
    /// Named by the game; else each controller's own.
    module: Option<Arc<dyn SimulationModule>>,
    controller: Controller,
    others: Vec<Controller>,
    actions: PressActions,
}

impl ProtocolBuilder {
    /// Replaces the simulation module by the game's own, whatever the controller. Default the stock module where the server runs
    /// it ([`Controller::Replay`], [`Controller::Ticked`]), and [`PlainModule`] elsewhere: what a server does not run it can only
    /// judge by the motor's settings.
    #[must_use]
    pub fn module(mut self, module: impl SimulationModule + 'static) -> Self {
        self.module = Some(Arc::new(module));
        self
    }

    /// Chooses how characters are moved and checked. Default [`Controller::Replay`].
    #[must_use]
    pub fn controller(mut self, controller: Controller) -> Self {
        self.controller = controller;
        self
    }

    /// Lets the game choose this controller, too, for single characters: as they come in by
    /// [`Server::choose_controllers`](crate::Server::choose_controllers), later by
    /// [`PlayerCommand::Control`](crate::PlayerCommand::Control).
    #[must_use]
    pub fn or_controller(mut self, controller: Controller) -> Self {
        self.others.push(controller);
        self
    }

    /// Says which buttons act on the press and in what order, for controllers that take inputs of ticks: what they press is never
    /// lost, doubled or put out of order. Default none: buttons only count as held.
    #[must_use]
    pub fn actions(mut self, actions: PressActions) -> Self {
        self.actions = actions;
        self
    }

    /// Hashes what was collected.
    #[must_use]
    pub fn build(self) -> Arc<Protocol> {
        let (stock, plain): (Arc<dyn SimulationModule>, Arc<dyn SimulationModule>) =
            (Arc::new(StockModule::default()), Arc::new(PlainModule));
        let modules = Controller::ALL.map(|controller| match (&self.module, controller) {
            (Some(module), _) => module.clone(),
            (None, Controller::Replay | Controller::Ticked) => stock.clone(),
            (None, Controller::Allowances | Controller::Poses) => plain.clone(),
        });
        let mut controllers = self.others;
        controllers.sort_unstable();
        controllers.dedup();
        controllers.retain(|other| *other != self.controller);
        controllers.insert(0, self.controller);
        let mut protocol = Protocol { modules, controllers, actions: self.actions, hash: [0; 32] };
        protocol.hash = hash(&protocol);
        Arc::new(protocol)
    }
}

fn hash(protocol: &Protocol) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"tidelock protocol\0");
    hasher.update(&u64::from(wire::WIRE_VERSION).to_le_bytes());
    for (index, controller) in protocol.controllers.iter().enumerate() {
        let module = protocol.module_of(*controller);
        hasher.update(&(module.name().len() as u64).to_le_bytes());
        hasher.update(module.name().as_bytes());
        hasher.update(&module.version().to_le_bytes());
        if index != 0 || *controller != Controller::Replay {
            hasher.update(&[*controller as u8]);
        }
    }
    if protocol.controllers.iter().any(|controller| controller.takes_inputs()) {
        for button in protocol.actions.presses(0, u32::MAX) {
            hasher.update(&[button, protocol.actions.stage(button).unwrap_or_default()]);
        }
    }
    *hasher.finalize().as_bytes()
}

impl fmt::Debug for ProtocolBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let module = self.module.as_ref().map(|module| module.name());
        f.debug_struct("ProtocolBuilder")
            .field("module", &module)
            .field("controller", &self.controller)
            .field("others", &self.others)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidelock_sim::module::{CustomState, ModuleState, ModuleStep};
    use tidelock_sim::motor::{InputFrame, MotorSettings};

    struct Other(u32);

    impl SimulationModule for Other {
        fn name(&self) -> &'static str {
            "other"
        }
        fn version(&self) -> u32 {
            self.0
        }
        fn initial(&self) -> CustomState {
            CustomState::default()
        }
        fn prepare(&self, _: &ModuleState, _: &InputFrame, _: &mut MotorSettings) {}
        fn step(&self, step: &ModuleStep<'_>) -> ModuleState {
            step.state
        }
    }

    // S-14, T-1
    #[test]
    fn module_name_and_version_are_part_of_the_hash() {
        let stock = Protocol::builder().build();
        assert_eq!(stock.hash(), Protocol::builder().build().hash());
        let first = Protocol::builder().module(Other(1)).build();
        assert_ne!(stock.hash(), first.hash());
        assert_ne!(first.hash(), Protocol::builder().module(Other(2)).build().hash());
    }

    // S-7, T-1
    #[test]
    fn the_controller_is_part_of_the_hash_and_names_the_module() {
        let judged = Protocol::builder().controller(Controller::Allowances).build();
        assert_eq!(judged.module().name(), "plain");
        assert_ne!(judged.hash(), Protocol::builder().module(PlainModule).build().hash());
    }

    // S-7: which ones there are counts, in what order they were named does not; nor does a button that nothing acts on.
    #[test]
    fn every_controller_and_action_is_part_of_the_hash() {
        let of = |first, others: &[Controller]| {
            let start = Protocol::builder().controller(first);
            others.iter().fold(start, |builder, other| builder.or_controller(*other)).build()
        };
        use Controller::{Allowances, Poses, Replay, Ticked};
        let both = of(Replay, &[Poses, Ticked, Replay]);
        assert_eq!(both.controllers(), [Replay, Ticked, Poses]);
        assert_eq!(both.hash(), of(Replay, &[Ticked, Poses]).hash());
        let hashes =
            [of(Replay, &[]), of(Ticked, &[]), of(Poses, &[]), of(Allowances, &[]), of(Ticked, &[Replay]), both];
        for (index, one) in hashes.iter().enumerate() {
            assert!(hashes[..index].iter().all(|other| other.hash() != one.hash()), "{one:?}");
        }
        let jump = PressActions::new(&[(1, 0)]).unwrap();
        assert_ne!(of(Ticked, &[]).hash(), Protocol::builder().controller(Ticked).actions(jump).build().hash());
        assert_eq!(of(Replay, &[]).hash(), Protocol::builder().actions(jump).build().hash());
        assert_eq!((of(Ticked, &[]).module().name(), of(Poses, &[]).module().name()), ("stock", "plain"));
    }
}
