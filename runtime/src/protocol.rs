use std::fmt;
use std::sync::Arc;

use tidelock_replication::wire;
use tidelock_sim::module::SimulationModule;
use tidelock_sim::stock::StockModule;

/// What both ends must agree on before they play together: the wire format and the simulation module.
///
/// Built once, shared by every server and client of a process, compared by hash in the first message of a session.
#[derive(Clone)]
pub struct Protocol {
    module: Arc<dyn SimulationModule>,
    hash: [u8; 32],
}

impl Protocol {
    /// The netcode protocol id of this wire format: connect tokens carry it, other ids are foreign.
    pub const NETCODE_ID: u64 = 0x7469_6465_0000_0000 | wire::WIRE_VERSION as u64;

    /// Starts a protocol with the stock module.
    #[must_use]
    pub fn builder() -> ProtocolBuilder {
        ProtocolBuilder { module: Arc::new(StockModule::default()) }
    }

    /// The simulation module both sides run.
    #[must_use]
    pub fn module(&self) -> &dyn SimulationModule {
        &*self.module
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
            .finish_non_exhaustive()
    }
}

/// Collects the parts of a [`Protocol`].
pub struct ProtocolBuilder {
    module: Arc<dyn SimulationModule>,
}

impl ProtocolBuilder {
    /// Replaces the stock simulation module by the game's own.
    #[must_use]
    pub fn module(mut self, module: impl SimulationModule + 'static) -> Self {
        self.module = Arc::new(module);
        self
    }

    /// Hashes what was collected.
    #[must_use]
    pub fn build(self) -> Arc<Protocol> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"tidelock protocol\0");
        hasher.update(&u64::from(wire::WIRE_VERSION).to_le_bytes());
        hasher.update(&(self.module.name().len() as u64).to_le_bytes());
        hasher.update(self.module.name().as_bytes());
        hasher.update(&self.module.version().to_le_bytes());
        Arc::new(Protocol { hash: *hasher.finalize().as_bytes(), module: self.module })
    }
}

impl fmt::Debug for ProtocolBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProtocolBuilder").field("module", &self.module.name()).finish()
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
}
