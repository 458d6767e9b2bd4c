//! Publishers: what changed, as bytes, once per audience.

mod entry;
mod instances;
mod output;

pub use instances::{CurrentPoses, InstancePublisher, Regrouping, SETTLE_TICKS};
pub use output::{PublishOutput, PublishedMessage};
