//! Ticked inputs: one input per simulation step, from devices on the client to the step that consumes it on the server
//! (S-3 to S-7).
//!
//! On the client a [`Sequencer`] turns device changes into one [`StepInput`] per step, a [`SendQueue`] numbers them and
//! keeps what is not acknowledged, an [`InputPacer`] steers the client's clock. On the server an [`InputGate`] refuses
//! what no honest client sends, and an [`InputBuffer`] hands out exactly one input per step.

mod actions;
mod arrivals;
mod buffer;
mod buffer_config;
mod controls;
mod gate;
mod pacer;
mod press_audit;
mod send_queue;
mod sequencer;
mod step_input;

pub use actions::{ActionError, PressActions};
pub use buffer::{ConsumedInput, InputBuffer, InputPresence, OfferVerdict};
pub use buffer_config::{InputBufferConfig, InputBufferConfigError, InputBufferStats};
pub use controls::HeldControls;
pub use gate::{InputGate, InputGateConfig, InputGateCounters, InputRefusal};
pub use pacer::{InputPacer, PacerReport};
pub use press_audit::PressCounts;
pub use send_queue::{InputPacket, SendQueue};
pub use sequencer::{DeviceChange, DeviceEvent, Sequencer, SequencerCounters};
pub use step_input::{HeldState, StepInput};
