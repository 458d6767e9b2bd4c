//! Sans-IO publishers and mirrors of shared state.
//!
//! State and bytes in, bytes and change notices out: no sockets, no clocks, no entity store. A server compiles or opens a
//! [`place::Place`], publishes what differs from it with [`publish::InstancePublisher`], and sends what moves with
//! [`motion::MotionArena`] to those whose [`interest::VisibleSet`] holds it. A client opens the same place, applies records with
//! [`mirror::Mirror`], and reads [`motion::MotionBatch`]es.
#![forbid(unsafe_code)]

pub mod collection;
pub mod ids;
pub mod instance;
pub mod interest;
pub mod mirror;
pub mod motion;
pub mod place;
pub mod publish;
pub mod wire;
