//! The simulator's engine. It runs a launch with a coroutine for each GPU thread and reports violations of the abstract
//! rules of barriers and of shared memory, even where current hardware tolerates them. It knows thread ids, byte ranges
//! and sites; no user types, no program text and no CUDA.
//!
//! From the bottom up: plain data (`site`, `group`, `memory`, `cost`); the choice of the next thread (`schedule`) and
//! the happens-before relation (`race`); the state of a launch (`state`) and the running thread (`context`); what a
//! thread does to that state, one file each (`access`, `barrier`, `phase_barrier`, `copy`, `warp`, ...); and the launch
//! as a whole (`run`, over `runner`). `race` lists the data races that are not detected.

mod access;
mod barrier;
mod call_chain;
mod context;
mod copy;
pub(crate) mod cost;
mod deadlock;
mod group;
mod memory;
mod named_memory;
mod peers;
mod phase_barrier;
mod previous;
mod prints;
mod race;
mod race_report;
mod recorder;
mod run;
mod runner;
mod schedule;
mod serial;
mod shared;
mod simulator;
mod site;
mod spin;
mod stacks;
mod stale_loads;
mod state;
mod tick;
mod timeline;
mod uniform_check;
mod warnings;
mod warp;
mod weak_synchronization;
mod workers;

#[cfg(test)]
mod tests;

pub(crate) use call_chain::OpenCall;
pub(crate) use context::{Context, fail_at, outside, try_with, with};
pub(crate) use copy::{CopyCall, CopyEnd, CopyPiece, CopySource, ProductCall, TileCopy};
pub(crate) use group::{Group, LANES};
pub(crate) use memory::{Access, MemoryId, MemoryOp, SharedId};
pub(crate) use named_memory::NamedBuffer;
pub(crate) use race::{AtomicEffect, Synchronization};
pub(crate) use recorder::Recorder;
pub(crate) use run::{run, run_together};
pub(crate) use schedule::OrderSearch;
pub(crate) use serial::most_clusters;
pub use simulator::Simulator;
pub(crate) use site::Site;
pub(crate) use state::{
    AllocationKey, ArrivalPhase, BarrierCall, BarrierId, Batch, Combine, Completion, ElementType, Exchange, WarpCall,
};
pub(crate) use warnings::WarningCollector;
