//! CUDA cluster kernels in Rust, with every barrier token checked at compile time.
//!
//! A `#[cluster_kernel]` function is an ordinary Rust function to rustc, CUDA C++ to a Hopper GPU, and a program for
//! the simulator on a machine without one.
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
//! | `PHALANX_NVRTC` | the folder that holds `libnvrtc.so.13`. By default it is searched for as cuda.pathfinder does: loaded already, the wheel of the virtual environment, conda, the loader, `CUDA_HOME`, `/usr/local/cuda*` |
//! | `PHALANX_SCHEDULE` | the order of threads in the simulator, as a report names it: `random:7` |
//! | `PHALANX_EQUAL_WRITES` | `race`: unordered plain writes that store equal bytes are an error in the simulator; `allow`: not even a warning |
//! | `PHALANX_CACHE` | the folder in which kernels that were compiled for a GPU are kept, in place of `phalanx` in the user's cache folder; `off` keeps none |
//! | `PHALANX_CUBINS` | a folder of compiled kernels, read before and written after NVRTC in place of the cache; the simulator fills it too |
//! | `PHALANX_NVRTC_COUNT` | a file that gets a line for each kernel that NVRTC compiled; for tests |

#![cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "what only a GPU needs stays where it is"))]

// The device functions of this crate name it as those of any other crate do.
extern crate self as phalanx;

// The crate has six modules. Each imports only from those above it here, and all of them from the data at the top.
// ARCHITECTURE.md says why, and a test reads the imports.
mod fp8; // data that several modules share
mod location;
mod scalar;
mod schedule;
mod scope;
mod shape;

mod report;

mod program;

mod gpu;
mod sim;

mod kernel;

mod launch;

#[cfg(feature = "gpu")]
pub use cudarc;
pub use fp8::{e4m3, e5m2};
pub use half::{bf16, f16};
pub use kernel::barrier::{
    Barrier, BarrierScope, Barriers, BlockScope, Brand, ClusterBarrier, ClusterBarriers, ClusterScope, RemoteBarrier,
    shared_barrier, shared_barriers, shared_cluster_barrier, shared_cluster_barriers,
};
pub use kernel::copy::{bulk_copy_async, bulk_wait_group, bulk_wait_group_read, memcpy_async};
pub use kernel::group::{
    Cluster, CoalescedGroup, Grid, ThreadBlock, Tile, binary_partition, coalesced_threads, labeled_partition, op,
    this_cluster, this_grid, this_thread_block, tiled_partition,
};
pub use kernel::matrix::{
    Accumulator, AccumulatorElement, ElementOfA, ElementOfB, InFlight, Matrix, MatrixA, MatrixB, MatrixElement,
    MultipliedBy, StoredByRows, StoredTransposed, Summed, Transposed, WarpgroupElement, WarpgroupOperand, tf32,
};
pub use kernel::memory::{
    Atomic, Global, GlobalMut, RemoteArray, RemoteSlice, SharedArray, SharedSlice, Swizzled, Vector, VectorElement,
    dynamic_shared, dynamic_shared_slice, fence, shared_array, vectors,
};
pub use kernel::nanosleep::nanosleep;
pub use kernel::numeric::{Float, Integer, Number, SignedInteger, UnsignedInteger, cuda, fast, ulp};
pub use kernel::pipeline::Pipeline;
pub use kernel::previous::{launch_dependents, wait_previous};
pub use kernel::tensor::{TensorMap, TensorMapMut, TensorTile};
pub use kernel::token::ArrivalToken;
#[cfg(feature = "gpu")]
pub use launch::DlpackTensor;
pub use launch::{
    Archive, Buffer, CollectiveElement, Communicator, Completion, Device, Enqueued, Exploration, Finding, Graph,
    Launch, Occupancy, PinnedBuffer, PinnedCopy, PreparedLaunch, Stream, StreamEvent, Tensor, TensorMut, View, ViewMut,
};
pub use location::Location;
pub use phalanx_contract::fence::Fence;
pub use phalanx_macros::{DeviceCopy, DeviceType, cluster_kernel, device};
pub use program::Program;
pub use program::tensor::TensorElement;
pub use program::types::{DeviceCopy, DeviceScalar};
pub use report::attributes::KernelAttributes;
pub use report::barrier_fence::BarrierFence;
pub use report::dlpack::DlpackError;
pub use report::error::{Error, LaunchError, Result};
pub use report::failure::{Cause, Failure, MissingThreads, WaitingThreads};
pub use report::graph::GraphError;
pub use report::nccl::{CollectiveError, Reduction};
pub use report::race::{AccessKind, Race, RaceAccess, RaceMemory, WeakSynchronization};
pub use report::ring::{Ring, RingVerdict};
pub use report::tensor::TensorError;
#[cfg(feature = "serde")]
pub use report::timeline::Trace;
pub use report::timeline::{Event, EventKind, Stall, TimeUnit, Timeline};
pub use report::warning::Warning;
pub use scalar::Scalar;
pub use schedule::{ParseScheduleError, Schedule};
pub use scope::Scope;
pub use shape::Dim3;
pub use sim::Simulator;

// The bounds of the functions that generated code calls. No user writes them; they are here and not in `__private`,
// because rustc's messages print the path at which it finds them first.
#[doc(hidden)]
pub use kernel::copy::{AsyncScalar, GlobalEnd, RemoteEnd, SharedEnd};
#[doc(hidden)]
pub use kernel::group::CopyGroup;
#[doc(hidden)]
pub use kernel::tensor::{AddedElement, BitsElement, ComparedElement, TileEnd};
#[doc(hidden)]
pub use program::types::{DeviceConstant, DeviceEq, DeviceOrd, DeviceType};

/// The names that a file with kernels needs, for `use phalanx::prelude::*;`.
///
/// These are the attributes, the groups, memory, barriers, copies and numbers of the kernel language, the orders of
/// atomics, and [`Device`] and [`Buffer`] for the launch.
///
/// The crate's errors and reports are not among them, nor is a name that a host program usually means for a type of the
/// standard library: `Error` and `Barrier` are [`phalanx::Error`](crate::Error) and
/// [`phalanx::Barrier`](crate::Barrier) by their path or an import of their own. The signature of a `#[device]`
/// function may say `&Barrier` without one, because the attribute resolves it. `Scope` and `fence` are here, because
/// kernels use them with every explicit scope; an explicit import of `std::thread::Scope` takes precedence over a glob
/// import, as always.
///
/// ```
/// use phalanx::prelude::*;
/// use std::error::*;
/// use std::sync::*;
///
/// /// Waits for the block; this `Barrier` is the kernel language's.
/// #[device]
/// fn meet(bar: &Barrier) {
///     bar.arrive_and_wait();
/// }
///
/// // These two are the standard library's.
/// fn main() -> Result<(), Box<dyn Error>> {
///     Barrier::new(1).wait();
///     Ok(())
/// }
/// ```
pub mod prelude {
    pub use phalanx_macros::DeviceType;
    pub use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

    pub use crate::vectors::*;
    pub use crate::{
        Accumulator, AccumulatorElement, ArrivalToken, Barriers, Brand, Buffer, Cluster, ClusterBarrier,
        ClusterBarriers, CoalescedGroup, Device, DeviceCopy, Dim3, ElementOfA, ElementOfB, Float, Grid, InFlight,
        Integer, MatrixA, MatrixB, MultipliedBy, Number, Pipeline, RemoteArray, RemoteBarrier, RemoteSlice, Schedule,
        Scope, SharedArray, SharedSlice, SignedInteger, Simulator, Swizzled, TensorElement, TensorMap, TensorTile,
        ThreadBlock, Tile, UnsignedInteger, Vector, VectorElement, bf16, binary_partition, bulk_copy_async,
        bulk_wait_group, bulk_wait_group_read, cluster_kernel, coalesced_threads, cuda, device, dynamic_shared,
        dynamic_shared_slice, e4m3, e5m2, f16, fast, fence, labeled_partition, launch_dependents, memcpy_async,
        nanosleep, op, shared_array, shared_barrier, shared_barriers, shared_cluster_barrier, shared_cluster_barriers,
        tf32, this_cluster, this_grid, this_thread_block, tiled_partition, wait_previous,
    };
}

/// Adds an archive of CUBINs to the program, which an [`Archive`] wrote: launches of its kernels then ask for no NVRTC. This is the first
/// statement of `main`, or of whatever a library does first; a repetition has no effect.
///
/// `embed!()` is the archive that the crate's build script wrote by [`Archive::write_to_out_dir`], and `embed!("path")` that of a file, whose
/// path begins at the source file as that of `include_bytes!` does.
///
/// A launch takes the code that assumes most of what is true of it. If the archive has no code of a kernel, because the kernel was forgotten
/// or changed, or the GPU is of another architecture, NVRTC compiles it as without an archive; where there is none, the
/// error says what the archive has. [`Program::is_embedded`] tells in a test.
#[macro_export]
macro_rules! embed {
    () => {
        $crate::embed!(::core::concat!(::core::env!("OUT_DIR"), "/phalanx.cubins"))
    };
    ($path:expr $(,)?) => {{
        const ARCHIVE: $crate::__private::Embedded = $crate::__private::Embedded::new(::core::include_bytes!($path));
        $crate::__private::embed(ARCHIVE)
    }};
}

/// Functions that access a kernel's memory in the closure of a `cuda!`, which is plain Rust and cannot write
/// `memory[i]`. The simulator checks these accesses as it does a kernel's own.
///
/// ```
/// use phalanx::intrinsics::{load, store};
/// use phalanx::prelude::*;
///
/// /// Doubles each value by inline CUDA C++.
/// #[cluster_kernel(block = 32)]
/// fn double(values: &mut [u32]) {
///     let i = this_grid().thread_rank();
///     // SAFETY: each thread accesses its own element.
///     unsafe {
///         cuda!(
///             "values[i] = values[i] * u32(2);",
///             in(values), in(i);
///             else |values, i: usize| store(&values, i, 2 * load(&values, i))
///         );
///     }
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let mut values = device.upload(&[21; 32])?;
/// double(&mut values).grid(1).launch(&device)?;
/// assert_eq!(values.read()?, [42; 32]);
/// # Ok(())
/// # }
/// ```
pub mod intrinsics {
    pub use crate::kernel::memory::{load, store};
}

pub mod rules {
    #![doc = include_str!("rules.md")]
}

/// The items that generated code names. They are not part of the public interface, and change with the macros.
#[doc(hidden)]
pub mod __private {
    pub use crate::gpu::store::archive::{Embedded, embed};
    pub use crate::kernel::arrays::*;
    pub use crate::kernel::barrier::{BarrierWord, barrier_at};
    pub use crate::kernel::call::Call;
    pub use crate::kernel::conversion::DeviceFrom;
    pub use crate::kernel::copy::*;
    pub use crate::kernel::group::*;
    pub use crate::kernel::inline_cuda::{inline_cuda, without_closure};
    pub use crate::kernel::intrinsics::*;
    pub use crate::kernel::matrix::{accumulator, matrix, transposed};
    pub use crate::kernel::memory::*;
    pub use crate::kernel::methods_of_rust::{DefaultValue, IntoNumber, unnamed};
    pub use crate::kernel::numeric::*;
    pub use crate::kernel::operators::*;
    pub use crate::kernel::pipeline::OtherPipeline;
    pub use crate::kernel::spelling::*;
    pub use crate::kernel::tensor::tensor_tile;
    pub use crate::kernel::token::*;
    pub use crate::launch::{
        Arguments, Buffer, Launch, Occupancy, Ranked, TensorMutOf, TensorOf, Threads, global, global_mut, tensor_map,
        tensor_map_mut,
    };
    pub use crate::program::Program;
    pub use crate::program::alias::{OtherTypes, Types};
    pub use crate::program::cases::*;
    pub use crate::program::collectives::*;
    pub use crate::program::constant::*;
    pub use crate::program::cuda::Header;
    pub use crate::program::cuda::replace::{Replacement, replace};
    pub use crate::program::launch_terms::{
        ClosureCall, Comparison, LaunchCall, LaunchCheck, LaunchParameter, LaunchPart, LaunchTerms, LaunchValue,
        Operation, Rounded, Term, VectorCheck,
    };
    pub use crate::program::layout::*;
    pub use crate::program::message::{MessageSlot, Shown, Values, led, line, with_sides, with_sides_below};
    pub use crate::program::options::*;
    pub use crate::program::refused::{Refused, RefusedFunction, RefusedType};
    pub use crate::program::template::*;
    pub use crate::program::type_info::*;
    pub use crate::program::types::*;
    pub use crate::program::visitor::*;
    pub use crate::report::ring::rings;
    pub use crate::scalar::Scalar;
    pub use crate::shape::*;
    pub use phalanx_contract as contract;
}

/// The documents, whose kernels are tested to compile, or to fail, as the documents say.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../README.md")]
    struct Readme;

    #[doc = include_str!("../../docs/host.md")]
    struct Host;

    #[doc = include_str!("../../docs/simulator.md")]
    struct TheSimulator;

    #[doc = include_str!("../../docs/from_cuda.md")]
    struct FromCuda;

    mod tour {
        #[doc = include_str!("../../docs/tour/first.md")]
        struct First;

        #[doc = include_str!("../../docs/tour/wrong.md")]
        struct Wrong;

        #[doc = include_str!("../../docs/tour/race.md")]
        struct Race;

        #[doc = include_str!("../../docs/tour/gpu.md")]
        struct Gpu;
    }

    mod ideas {
        #[doc = include_str!("../../docs/ideas/phases.md")]
        struct Phases;

        #[doc = include_str!("../../docs/ideas/uniformity.md")]
        struct Uniformity;

        #[doc = include_str!("../../docs/ideas/distributed.md")]
        struct Distributed;

        #[doc = include_str!("../../docs/ideas/proxies.md")]
        struct Proxies;
    }

    /// The chapters of the language. `xtask/tests/tidy/documents.rs` holds the list against the folder.
    mod language {
        #[doc = include_str!("../../docs/language/atomics.md")]
        struct Atomics;

        #[doc = include_str!("../../docs/language/copies.md")]
        struct Copies;

        #[doc = include_str!("../../docs/language/cuda_by_hand.md")]
        struct CudaByHand;

        #[doc = include_str!("../../docs/language/functions.md")]
        struct Functions;

        #[doc = include_str!("../../docs/language/groups.md")]
        struct Groups;

        #[doc = include_str!("../../docs/language/loops.md")]
        struct Loops;

        #[doc = include_str!("../../docs/language/memory.md")]
        struct Memory;

        #[doc = include_str!("../../docs/language/messages.md")]
        struct Messages;

        #[doc = include_str!("../../docs/language/names.md")]
        struct Names;

        #[doc = include_str!("../../docs/language/numbers.md")]
        struct Numbers;

        #[doc = include_str!("../../docs/language/options.md")]
        struct Options;

        #[doc = include_str!("../../docs/language/patterns.md")]
        struct Patterns;

        #[doc = include_str!("../../docs/language/phase_barriers.md")]
        struct PhaseBarriers;

        #[doc = include_str!("../../docs/language/structs.md")]
        struct Structs;

        #[doc = include_str!("../../docs/language/tensor_cores.md")]
        struct TensorCores;

        #[doc = include_str!("../../docs/language/tensor_maps.md")]
        struct TensorMaps;

        #[doc = include_str!("../../docs/language/tiles.md")]
        struct Tiles;

        #[doc = include_str!("../../docs/language/vectors.md")]
        struct Vectors;
    }
}
