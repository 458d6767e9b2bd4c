//! Who simulates which loose part, and how a part changes hands without anyone seeing it (S-50 to S-52).
//!
//! The server decides: [`OwnershipTable`] holds a lease for each part and judges what owners report, [`Election`] says who
//! should own what. A client keeps a [`PartView`] for each part, which draws it without a seam whoever simulates it.

mod change;
mod election;
mod lease;
mod limits;
mod partition;
mod report;
mod table;
mod view;

pub use change::{OwnershipNotice, PlayerId};
pub use election::{Candidate, Election, ElectionConfig};
pub use lease::OwnershipPolicy;
pub use limits::OwnershipLimits;
pub use partition::Partition;
pub use report::{OwnedCounters, OwnedOutcome, OwnedReport, OwnedSnapshot, OwnedVerdict, SnapshotRefusal};
pub use table::{AcceptedState, OwnershipTable};
pub use view::{PartRole, PartView, PartViewConfig, ViewedPose};
