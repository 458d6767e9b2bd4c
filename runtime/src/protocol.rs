use std::fmt;
use std::sync::Arc;

use tidelock_replication::wire;
use tidelock_sim::module::SimulationModule;
use tidelock_sim::plain::PlainModule;
use tidelock_sim::stock::StockModule;

use crate::controller::Controller;

/// What both ends must agree on before they play together: the wire format, the controller and the simulation
/// module.
///
/// Built once, shared by every server and client of a process, compared by hash in the first message of a session.
#[derive(Clone)]
pub struct Protocol {
    module: Arc<dyn SimulationModule>,
    controller: Controller,
    hash: [u8; 32],
}

impl Protocol {
    /// The netcode protocol id of this wire format: connect tokens carry it, other ids are foreign.
    pub const NETCODE_ID: u64 = 0x7469_6465_0000_0000 | wire::WIRE_VERSION as u64;

    /// Starts a protocol with reports the server replays and the stock module.
    #[must_use]
    pub fn builder() -> ProtocolBuilder {
        ProtocolBuilder { module: None, controller: Controller::default() }
    }

    /// The simulation module both sides run.
    #[must_use]
    pub fn module(&self) -> &dyn SimulationModule {
        &*self.module
    }

    /// How characters are moved and checked.
    #[must_use]
    pub fn controller(&self) -> Controller {
        self.controller
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
            .field("module", &self.module.name())
            .field("module_version", &self.module.version())
            .field("controller", &self.controller)
            .finish_non_exhaustive()
    }
}

/// Collects the parts of a [`Protocol`].
pub struct ProtocolBuilder {
    /// Named by the game; else the controller's own.
    module: Option<Arc<dyn SimulationModule>>,
    controller: Controller,
}

impl ProtocolBuilder {
    /// Replaces the simulation module by the game's own. Default the stock module with [`Controller::Replay`], and
    /// [`PlainModule`] with every other: what a server does not run it can only judge by the motor's settings.
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

    /// Hashes what was collected.
    #[must_use]
    pub fn build(self) -> Arc<Protocol> {
        let controller = self.controller;
        let module = self.module.unwrap_or_else(|| match controller {
            Controller::Replay => Arc::new(StockModule::default()),
            _ => Arc::new(PlainModule),
        });
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"tidelock protocol\0");
        hasher.update(&u64::from(wire::WIRE_VERSION).to_le_bytes());
        hasher.update(&(module.name().len() as u64).to_le_bytes());
        hasher.update(module.name().as_bytes());
        hasher.update(&module.version().to_le_bytes());
        if controller.number() != 0 {
            hasher.update(&[controller.number()]);
        }
        Arc::new(Protocol { hash: *hasher.finalize().as_bytes(), module, controller })
    }
}

impl fmt::Debug for ProtocolBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let module = self.module.as_ref().map(|module| module.name());
        f.debug_struct("ProtocolBuilder").field("module", &module).field("controller", &self.controller).finish()
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
}
