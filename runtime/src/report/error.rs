//! Everything that can go wrong on the host, as one enum, each with what, where, the limit and the mend. What stops a
//! kernel while it runs is `failure`'s; what rustc and the macros reject never gets here.

use std::path::PathBuf;

use super::failure::Failure;
use crate::shape::{Dim3, Shape};

/// [`Error`] is the error of every operation on devices, buffers and launches.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation on a device, a buffer or a launch failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// libcuda was not found.
    #[error(
        "no CUDA driver: libcuda was not found; install NVIDIA's driver, or use `Device::simulator()`, which needs none"
    )]
    DriverMissing,

    /// libcuda has no cluster launch.
    #[error("the CUDA driver is too old: it speaks CUDA {major}.{minor}, and cluster launches need 12.0; update it")]
    DriverTooOld {
        /// Of the driver's CUDA version.
        major: i32,
        /// Of the driver's CUDA version.
        minor: i32,
    },

    /// libnvrtc was not found, and a kernel had to be compiled.
    #[error(
        "NVRTC, CUDA's run-time compiler, was not found ({tried}); install the CUDA toolkit, or `pip install \
         nvidia-cuda-nvrtc` and set PHALANX_NVRTC to the folder that holds libnvrtc.so.13"
    )]
    NvrtcMissing {
        /// What was tried.
        tried: String,
    },

    /// The driver knows fewer GPUs.
    #[error("no GPU {ordinal}: the driver reports {count} GPU(s), counted from 0")]
    NoSuchDevice {
        /// Asked for.
        ordinal: usize,
        /// How many there are.
        count: usize,
    },

    /// A GPU without clusters.
    #[error("{name} has compute capability {major}.{minor}; thread block clusters need 9.0 (Hopper) or later")]
    CapabilityTooLow {
        /// The GPU's name.
        name: String,
        /// Of its compute capability.
        major: i32,
        /// Of its compute capability.
        minor: i32,
    },

    /// Text that names no device.
    #[error("`{0}` names no device; write `auto`, `gpu`, `gpu:1` or `sim`")]
    UnknownDevice(String),

    /// A device function where a kernel is needed.
    #[error("`{0}` is a device function; only a `#[cluster_kernel]` can be launched")]
    NotAKernel(String),

    /// A device function calls itself.
    #[error("device functions cannot be recursive: {}", .cycle.join(" calls "))]
    Recursion {
        /// The functions' names, the first again at the end.
        cycle: Vec<String>,
    },

    /// NVRTC refused the generated CUDA C++.
    #[error(
        "NVRTC refused the CUDA C++ of kernel `{kernel}`{}; unless it names a `cuda!` of yours, this is a \
         fault of phalanx\n{}\nthe CUDA C++ was written to {}",
        .location.as_ref().map(|at| format!(" at {at}")).unwrap_or_default(),
        indented(log),
        .source_file.as_ref().map_or("no file: no temporary folder".into(), |path| path.display().to_string())
    )]
    Compile {
        /// The kernel's name.
        kernel: String,
        /// The Rust file and line that NVRTC's first message names.
        location: Option<String>,
        /// What NVRTC said.
        log: String,
        /// The CUDA C++, kept for inspection.
        source_file: Option<PathBuf>,
    },

    /// The launch asks for what the kernel or the device does not allow.
    #[error("kernel `{kernel}` cannot be launched: {reason}")]
    Launch {
        /// The kernel's name.
        kernel: String,
        /// Which rule, with the numbers.
        reason: LaunchError,
    },

    /// The kernel ran and stopped before its end.
    #[error(transparent)]
    Kernel(Box<Failure>),

    /// A buffer and the data for it differ in length.
    #[error("the buffer holds {buffer} elements and the data {data}; they must be equal")]
    LengthMismatch {
        /// Elements in the buffer.
        buffer: usize,
        /// Elements in the data.
        data: usize,
    },

    /// More bytes than the address space has.
    #[error("{len} elements of {size} bytes are more than a buffer can hold")]
    BufferTooLarge {
        /// Elements asked for.
        len: usize,
        /// Bytes of one.
        size: usize,
    },

    /// Memory of another device, or of none.
    #[error("this needs memory of {expected}, and the buffer is on {found}")]
    WrongDevice {
        /// The device that was asked.
        expected: String,
        /// Where the buffer is.
        found: String,
    },

    /// A call of the driver or of NVRTC failed.
    #[error("{call} failed: {code} ({description})")]
    Driver {
        /// The function's name.
        call: &'static str,
        /// The code's name, as `CUDA_ERROR_OUT_OF_MEMORY`.
        code: String,
        /// What the driver says of it.
        description: String,
    },
}

/// Which rule of a launch was broken. CUDA's own limits are in the programming guide's table of compute capabilities.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// No grid.
    #[error("it has no grid; call `.grid(blocks)`")]
    NoGrid,
    /// No block, neither in the attribute nor here.
    #[error("it has no block size; call `.block(threads)`, or write `#[cluster_kernel(block = ..)]`")]
    NoBlock,
    /// The attribute fixed another size.
    #[error("its attribute fixes {what} = {fixed}, and `.{what}(..)` asks for {asked}")]
    Fixed {
        /// `cluster` or `block`.
        what: &'static str,
        /// By the attribute.
        fixed: Dim3,
        /// By the launch.
        asked: Dim3,
    },
    /// The attribute fixed another size of dynamic shared memory.
    #[error("its attribute fixes shared_bytes = {fixed}, and `.shared_bytes(..)` asks for {asked}")]
    FixedShared {
        /// In bytes, by the attribute.
        fixed: usize,
        /// In bytes, by the launch.
        asked: usize,
    },
    /// A size with a zero.
    #[error("the {what} size {extent} has a zero")]
    Zero {
        /// `grid`, `cluster` or `block`.
        what: &'static str,
        /// The size.
        extent: Dim3,
    },
    /// A grid beyond CUDA's limits.
    #[error("the grid {grid} is larger than (2147483647,65535,65535)")]
    GridTooLarge {
        /// In blocks.
        grid: Dim3,
    },
    /// A grid that is not whole clusters.
    #[error(
        "the grid {grid} is not a multiple of the cluster {cluster} in each dimension; the grid is given in blocks"
    )]
    GridNotWhole {
        /// In blocks.
        grid: Dim3,
        /// In blocks.
        cluster: Dim3,
    },
    /// More than eight blocks, not asked for.
    #[error(
        "a cluster of {blocks} blocks is larger than 8, which is all that every device offers; write \
         `#[cluster_kernel(non_portable)]` to allow up to 16"
    )]
    NonPortable {
        /// In a cluster.
        blocks: u64,
    },
    /// More than sixteen blocks.
    #[error("a cluster of {blocks} blocks is larger than 16, the limit of the hardware")]
    ClusterTooLarge {
        /// In a cluster.
        blocks: u64,
    },
    /// More than 1,024 threads.
    #[error("a block of {threads} threads is larger than 1024, the limit of the hardware")]
    BlockTooLarge {
        /// In a block.
        threads: u64,
    },
    /// More than 64 threads in z.
    #[error("the block {block} has z larger than 64, the limit of the hardware")]
    BlockTooDeep {
        /// In threads.
        block: Dim3,
    },
    /// More threads than the kernel's registers allow.
    #[error(
        "a block of {threads} threads needs more registers than a multiprocessor has; this kernel runs with at most {limit}"
    )]
    TooManyRegisters {
        /// In a block.
        threads: u64,
        /// For this kernel on this device.
        limit: u64,
    },
    /// More shared memory than the device has.
    #[error(
        "{fixed} bytes of shared arrays and {dynamic} of dynamic shared memory are more than the {limit} that a block \
         may have on this device"
    )]
    Shared {
        /// Of all `shared_array`s together.
        fixed: usize,
        /// Asked for at the launch.
        dynamic: usize,
        /// The device's.
        limit: usize,
    },
    /// `dynamic_shared` with no size.
    #[error(
        "it uses `dynamic_shared`; call `.shared_bytes(n)`, or write `#[cluster_kernel(shared_bytes = n)]`, to say how many bytes a block gets"
    )]
    NoSharedBytes,
    /// A timeline was asked for, and the kernel records none on a GPU.
    #[error("it records no timeline on a GPU; write `#[cluster_kernel(profile)]`, or ask for it in the simulator")]
    NoTimeline,
    /// Fits no part of the device.
    #[error(
        "no cluster of {blocks} blocks with {threads} threads and {shared} bytes of shared memory each fits on this \
         device; make one of them smaller"
    )]
    NoActiveCluster {
        /// In a cluster.
        blocks: u64,
        /// In a block.
        threads: u64,
        /// Of a block, static and dynamic.
        shared: usize,
    },
    /// A kernel whose grid has a barrier, of more blocks than run at once.
    #[error(
        "its blocks wait for each other at a barrier of the grid, so all of them must run at once: a grid of {blocks} is \
         larger than {most}, which is all that this device runs; `.occupancy(&device)` says it before"
    )]
    GridNotAtOnce {
        /// In the grid.
        blocks: u64,
        /// In whole clusters, of this shape.
        most: u64,
    },
    /// An argument that is elsewhere.
    #[error("argument {argument} is on {found}, and the launch is on {device}; upload it there")]
    WrongDevice {
        /// Counted from 1.
        argument: usize,
        /// Where the buffer is.
        found: String,
        /// Where the launch is.
        device: String,
    },
}

impl LaunchError {
    /// Refuses a grid with a barrier that has more clusters than the `clusters` that run at once.
    pub(crate) fn check_at_once(shape: &Shape, clusters: u64) -> Result<(), LaunchError> {
        let (blocks, most) = (shape.grid.count(), clusters.saturating_mul(shape.cluster.count()));
        if blocks > most { Err(LaunchError::GridNotAtOnce { blocks, most }) } else { Ok(()) }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Error::Kernel(Box::new(failure))
    }
}

/// The log with each line moved in, so that it stands apart from the sentence round it.
fn indented(log: &str) -> String {
    log.trim_end().lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
