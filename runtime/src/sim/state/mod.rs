//! The state of a launch while it runs: what a cluster, a block and a thread are (`cluster`), and the state of their
//! barriers, meetings, copies and checks. This folder has the data and its queries; what threads do to it is in the
//! files of the same names in the folder above.

mod barrier;
mod cluster;
mod copy;
mod phase_barrier;
mod prints;
mod shared;
mod uniform_check;
mod warp;

pub(in crate::sim) use barrier::{Arrival, Barrier, Collective, Operation, Phases};
pub(in crate::sim) use cluster::{Cluster, Launch, Status, Thread, Threads};
pub(crate) use copy::Batch;
pub(in crate::sim) use copy::Flight;
pub(crate) use copy::Tells;
pub(crate) use phase_barrier::{BarrierCall, BarrierId, Ticket};
pub(in crate::sim) use phase_barrier::{Live, PhaseBarriers, State};
pub(in crate::sim) use prints::Record;
pub(crate) use shared::Key;
pub(in crate::sim) use shared::View;
pub(in crate::sim) use uniform_check::{Call, Check};
pub(in crate::sim) use warp::Warp;
pub(crate) use warp::{Meeting, WarpCall};
