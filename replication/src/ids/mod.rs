//! Identity: what names an instance on the wire, and where it lies in columns.

mod generation;
mod instance;
mod ranges;
mod set;
mod slot;

pub use generation::{Admission, Generation};
pub use instance::{InstanceId, InstanceIds, PlayerId};
pub use ranges::IdRanges;
pub use set::{Bits, SlotSet};
pub use slot::{Placed, Slot, SlotMap};
