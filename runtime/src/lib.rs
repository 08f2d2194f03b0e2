//! CUDA cluster kernels in Rust, with every barrier token checked at compile time.
//!
//! A `#[cluster_kernel]` function is an ordinary Rust function to rustc, CUDA C++ to a Hopper GPU, and a program for the
//! simulator on a machine without one.
//!
//! ```
//! use phalanx::prelude::*;
//!
//! /// Each block of a cluster publishes its values, and reads those of the next.
//! #[cluster_kernel(cluster = 4, block = 64)]
//! fn rotate(input: &[i32], output: &mut [i32]) {
//!     let cluster = this_cluster();
//!     let block = this_thread_block();
//!     let array = shared_array::<i32, 64>();
//!     let i = this_grid().thread_rank();
//!
//!     array[block.thread_rank()] = input[i];
//!     let token = cluster.barrier_arrive(); // does not block
//!     let next = (cluster.block_rank() + 1) % cluster.num_blocks();
//!     let remote = cluster.map_shared_rank(&array, next);
//!     cluster.barrier_wait(token); // consumes the token
//!
//!     output[i] = remote[block.thread_rank()];
//!     cluster.sync(); // no block leaves while a peer reads it
//! }
//!
//! fn main() -> phalanx::Result<()> {
//!     let device = Device::simulator(); // or `Device::auto()`: a GPU where there is one
//!     let input = device.upload(&Vec::from_iter(0..512))?;
//!     let mut output = device.zeros(512)?;
//!     rotate(&input, &mut output).grid(8).launch(&device)?;
//!     assert_eq!(output.read()?[0], 64);
//!     Ok(())
//! }
//! ```
//!
//! # Environment
//!
//! | variable | meaning |
//! |---|---|
//! | `PHALANX_NVRTC` | the folder that holds `libnvrtc.so.13`, where the system's loader does not find it |
//! | `PHALANX_SCHEDULE` | the order of threads in the simulator, as a report names it: `random:7` |
//! | `PHALANX_CUBINS` | a folder of compiled kernels, read before and written after NVRTC; the simulator fills it too |
//! | `PHALANX_NVRTC_COUNT` | a file that gets a line for each kernel that NVRTC compiled; for tests |

// Device functions of this crate name it as all others do.
extern crate self as phalanx;

// Six rooms. Each imports only from those above it here, and all of them from the data at the top; ARCHITECTURE.md says
// why, and a test reads the imports.
mod location; // data that several rooms share
mod scalar;
mod scope;
mod shape;

mod report;

mod program;

mod gpu;
mod sim;

mod kernel;

mod launch;

pub use half::{bf16, f16};
pub use kernel::barrier::{
    Barrier, BarrierScope, Barriers, Brand, ClusterBarrier, ClusterBarriers, OfBlock, OfCluster, RemoteBarrier,
    shared_barrier, shared_barriers, shared_cluster_barrier, shared_cluster_barriers,
};
pub use kernel::copy::{
    AsyncScalar, GlobalEnd, RemoteEnd, SharedEnd, bulk_copy_async, bulk_wait_group, bulk_wait_group_read, memcpy_async,
};
pub use kernel::group::{
    Cluster, CoalescedGroup, CopyGroup, Grid, ThreadBlock, Tile, binary_partition, coalesced_threads,
    labeled_partition, op, this_cluster, this_grid, this_thread_block, tiled_partition,
};
pub use kernel::memory::{
    Atomic, Global, GlobalMut, RemoteArray, RemoteSlice, SharedArray, SharedSlice, Vector, VectorElement,
    dynamic_shared, dynamic_shared_slice, fence, shared_array, vectors,
};
pub use kernel::numeric::{Float, Integer, Number, SignedInteger, UnsignedInteger, fast, ulp};
pub use kernel::pipeline::Pipeline;
pub use kernel::token::ArrivalToken;
pub use launch::{Buffer, Device, Explored, Found, Launch, Occupancy};
pub use location::Location;
pub use phalanx_macros::{DeviceCopy, cluster_kernel, device};
pub use program::Program;
pub use program::template::Function;
pub use program::types::{DeviceConstant, DeviceCopy, DeviceEq, DeviceOrd, DeviceScalar, DeviceType};
pub use report::error::{Error, LaunchError, Result};
pub use report::failure::{Cause, Failure, Missing, Waiting};
pub use report::race::{Race, RaceAccess, RaceKind, RaceMemory};
pub use report::timeline::{Doing, Event, Stall, TimeUnit, Timeline, Trace};
pub use scalar::Scalar;
pub use scope::Scope;
pub use shape::Dim3;
pub use sim::{Schedule, Simulator, UnknownSchedule};

/// What a file with kernels needs: `use phalanx::prelude::*;`.
pub mod prelude {
    pub use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

    pub use crate::vectors::*;
    pub use crate::{
        ArrivalToken, Barrier, Barriers, Brand, Buffer, Cluster, ClusterBarrier, ClusterBarriers, CoalescedGroup,
        Device, DeviceCopy, Dim3, Error, Failure, Float, Grid, Integer, Number, Pipeline, RemoteArray, RemoteBarrier,
        RemoteSlice, Schedule, Scope, SharedArray, SharedSlice, SignedInteger, Simulator, ThreadBlock, Tile,
        UnsignedInteger, Vector, VectorElement, bf16, binary_partition, bulk_copy_async, bulk_wait_group,
        bulk_wait_group_read, cluster_kernel, coalesced_threads, device, dynamic_shared, dynamic_shared_slice, f16,
        fast, fence, labeled_partition, memcpy_async, op, shared_array, shared_barrier, shared_barriers,
        shared_cluster_barrier, shared_cluster_barriers, this_cluster, this_grid, this_thread_block, tiled_partition,
    };
}

/// For the closure of a `cuda!`, which is plain Rust: what a kernel writes as `memory[i]`. The simulator checks these
/// accesses as it does a kernel's own.
pub mod by_hand {
    pub use crate::kernel::memory::{load, store};
}

pub mod rules {
    #![doc = include_str!("../../docs/rules.md")]
}

/// What generated code names. No part of the interface: it changes with the macros.
#[doc(hidden)]
pub mod __private {
    pub use crate::kernel::barrier::{BarrierWord, barrier_at};
    pub use crate::kernel::copy::*;
    pub use crate::kernel::group::*;
    pub use crate::kernel::inline_cuda::{by_hand, without_closure};
    pub use crate::kernel::intrinsics::*;
    pub use crate::kernel::memory::*;
    pub use crate::kernel::numeric::*;
    pub use crate::kernel::token::*;
    pub use crate::launch::{Arguments, Buffer, Launch, Occupancy, Threads, global, global_mut};
    pub use crate::program::Program;
    pub use crate::program::constant::*;
    pub use crate::program::cuda::Header;
    pub use crate::program::cuda::replace::{Replacement, replace};
    pub use crate::program::layout::*;
    pub use crate::program::message::{MessageSlot, Shown, Values, led, line, with_sides, with_sides_below};
    pub use crate::program::options::*;
    pub use crate::program::template::*;
    pub use crate::program::type_info::*;
    pub use crate::program::types::*;
    pub use crate::scalar::Scalar;
    pub use crate::shape::*;
    pub use phalanx_contract as contract;
}

/// The kernels in the documents compile, or fail to, as the documents say.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../README.md")]
    struct Readme;

    #[doc = include_str!("../../docs/language.md")]
    struct Language;

    #[doc = include_str!("../../docs/simulator.md")]
    struct TheSimulator;
}
