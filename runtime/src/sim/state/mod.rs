//! The state of a launch while it runs: the launch itself, its clusters and threads, and the state of their barriers,
//! collectives, copies and checks. This folder has the data and its queries; what threads do to it is in the files of
//! the same names in the folder above.

mod barrier;
mod cluster;
mod copy;
mod launch;
mod phase_barrier;
mod prints;
mod shared;
mod thread;
mod uniform_check;
mod warp;

pub(in crate::sim) use barrier::{Arrival, Barrier, Collective, Operation, Phases};
pub(in crate::sim) use cluster::{Cluster, SharedScheduler};
pub(crate) use copy::{Batch, Combine, Completion};
pub(in crate::sim) use copy::{PendingCopy, PendingPiece};
pub(in crate::sim) use launch::Launch;
pub(crate) use phase_barrier::{ArrivalPhase, BarrierCall, BarrierId};
pub(in crate::sim) use phase_barrier::{BarrierKey, BarrierState, LiveBarrier, PhaseBarriers};
pub(in crate::sim) use prints::PrintRecord;
pub(in crate::sim) use shared::View;
pub(crate) use shared::{AllocationKey, ElementType};
pub(in crate::sim) use thread::{Status, Thread};
pub(in crate::sim) use uniform_check::{UniformCall, UniformCheck, UniformGroup};
pub(in crate::sim) use warp::Warp;
pub(crate) use warp::{Exchange, WarpCall};
