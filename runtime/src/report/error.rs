//! The errors of the host, as one enum: everything that can fail before, around and after a launch. Each message says
//! what was asked for, what the limit is and how to fix it. Failures of a running kernel are in `failure`.

use std::fmt;
use std::path::PathBuf;

use super::failure::Failure;
use super::graph::GraphError;
use super::tensor::TensorError;
use crate::shape::{Dim3, Shape};

/// The result of every operation on devices, buffers and launches; its error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An operation on a device, a buffer or a launch failed.
///
/// The driver's own error is the [`source`](std::error::Error::source), and [`cuda_code`](Error::cuda_code) is its
/// number. `Debug` shows the same text as `Display`, so that a `main` that returns an error prints it as it is meant to be
/// read.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// libcuda was not found.
    #[error(
        "no CUDA driver: libcuda was not found; install NVIDIA's driver, or use `Device::simulator()`, which needs none"
    )]
    DriverMissing,

    /// The CUDA driver is older than cluster launches.
    #[error("the CUDA driver is too old: it supports CUDA {major}.{minor}, but cluster launches need 12.0; update it")]
    DriverTooOld {
        /// The major number of the CUDA version that the driver supports.
        major: i32,
        /// The minor number of the CUDA version that the driver supports.
        minor: i32,
    },

    /// A kernel had to be compiled, and libnvrtc was not found.
    #[error(
        "NVRTC, CUDA's run-time compiler, was not found ({tried}); install the CUDA toolkit, or `pip install \
         nvidia-cuda-nvrtc` in the active virtual environment, or set PHALANX_NVRTC to the folder that holds libnvrtc.so.13"
    )]
    NvrtcMissing {
        /// The places that were looked at, with what was found there.
        tried: String,
    },

    /// The driver reports fewer GPUs than the ordinal asks for.
    #[error("no GPU {ordinal}: the driver reports {count} GPU(s), counted from 0")]
    NoSuchDevice {
        /// The ordinal that was asked for, counted from 0.
        ordinal: usize,
        /// The number of GPUs.
        count: usize,
    },

    /// The GPU has no thread block clusters.
    #[error("{name} has compute capability {major}.{minor}; thread block clusters need 9.0 (Hopper) or later")]
    CapabilityTooLow {
        /// The GPU's name.
        name: String,
        /// The major number of its compute capability.
        major: i32,
        /// The minor number of its compute capability.
        minor: i32,
    },

    /// A text does not name a device.
    #[error("`{0}` names no device; write `auto`, `gpu`, `gpu:1` or `sim`")]
    UnknownDevice(String),

    /// A device function was used where a kernel is needed.
    #[error("`{0}` is a device function; only a `#[cluster_kernel]` can be launched")]
    NotAKernel(String),

    /// A device function calls itself, directly or through others.
    #[error("device functions cannot be recursive: {}", .cycle.join(" calls "))]
    Recursion {
        /// The names of the functions along the cycle of calls, which ends with the first one.
        cycle: Vec<String>,
    },

    /// NVRTC rejected the generated CUDA C++.
    #[error(
        "NVRTC refused the CUDA C++ of kernel `{kernel}`{}; unless it names a `cuda!` of yours, this is a \
         bug in phalanx\n{}\nthe CUDA C++ was written to {}",
        .location.as_ref().map(|at| format!(" at {at}")).unwrap_or_default(),
        indented(log),
        .source_file.as_ref().map_or("no file: no temporary folder".into(), |path| path.display().to_string())
    )]
    Compile {
        /// The kernel's name.
        kernel: String,
        /// The Rust file and line that NVRTC's first error names.
        location: Option<String>,
        /// NVRTC's log.
        log: String,
        /// The file to which the CUDA C++ was written, for inspection.
        source_file: Option<PathBuf>,
    },

    /// The launch asks for what the kernel or the device does not allow.
    #[error("kernel `{kernel}` cannot be launched: {reason}")]
    Launch {
        /// The kernel's name.
        kernel: String,
        /// The rule that the launch breaks, with the numbers.
        reason: LaunchError,
    },

    /// The kernel ran and stopped before its end.
    #[error(transparent)]
    Kernel(Box<Failure>),

    /// A buffer and the data for it differ in length.
    #[error("the buffer and the data must have the same length, but have {buffer} and {data} elements")]
    LengthMismatch {
        /// The number of elements in the buffer.
        buffer: usize,
        /// The number of elements in the data.
        data: usize,
    },

    /// The bytes that a kernel left in a buffer are no value of the element's type: a `bool` that is neither 0 nor 1,
    /// or an enum without such a variant. A `cuda!` may write them.
    #[error("element {index} of the buffer holds no value of `{ty}`; a `cuda!` may have written other bytes there")]
    InvalidValue {
        /// The index of the first such element.
        index: usize,
        /// The name of the element's type.
        ty: String,
    },

    /// A range is not in a buffer, or ends before it starts.
    #[error("elements {start}..{end} are not all in a buffer of {len}")]
    RangeOutOfBounds {
        /// The index of the first element.
        start: usize,
        /// The index behind the last element.
        end: usize,
        /// The number of elements in the buffer.
        len: usize,
    },

    /// No tensor is made of a buffer with this shape and these strides.
    #[error(transparent)]
    Tensor(#[from] TensorError),

    /// A graph, or the stream that captures one, was used against its rules.
    #[error(transparent)]
    Graph(#[from] GraphError),

    /// A buffer was asked for that is larger than the address space.
    #[error("{len} elements of {size} bytes are more than a buffer can hold")]
    BufferTooLarge {
        /// The number of elements that was asked for.
        len: usize,
        /// The size of an element in bytes.
        size: usize,
    },

    /// The simulator has too little memory left for a buffer, of the host's or of the 80 GiB that it has as a device.
    #[error("the simulator has no memory for a buffer of {bytes} bytes")]
    OutOfMemory {
        /// The size of the buffer in bytes.
        bytes: usize,
    },

    /// The memory of a buffer cannot be handed out, because a view of it was leaked.
    #[error("the buffer's memory cannot be handed out, because a view of it was leaked by `std::mem::forget`")]
    Leaked,

    /// A buffer is in the memory of another device.
    #[error("this needs memory of {expected}, but the buffer is on {found}")]
    WrongDevice {
        /// The device that the operation is for.
        expected: String,
        /// The device that the buffer is on.
        found: String,
    },

    /// The program has been built without GPUs.
    #[error("this program was built without the feature `gpu` of phalanx; it has the simulator alone")]
    NoGpuSupport,

    /// A stream of cudarc's cannot be used on the device.
    #[error("this needs a stream of {expected}, but the stream is one of {found}")]
    ForeignStream {
        /// The device that the stream is for.
        expected: String,
        /// What the stream belongs to.
        found: String,
    },

    /// An event was recorded on another device.
    #[error("this needs an event of {expected}, but the event was recorded on {found}")]
    WrongEvent {
        /// The device that the operation is on.
        expected: String,
        /// The device that the event was recorded on.
        found: String,
    },

    /// A call of the CUDA driver failed.
    #[error("{call} failed: {name} ({code}), {description}")]
    Driver {
        /// The name of the driver's function.
        call: &'static str,
        /// The name of the `CUresult`, such as `CUDA_ERROR_OUT_OF_MEMORY`.
        name: String,
        /// The number of the `CUresult`.
        code: u32,
        /// The driver's description of it.
        description: String,
        /// The driver's error as cudarc returns it, a `cudarc::driver::DriverError`.
        source: Box<dyn std::error::Error + Send + Sync>,
    },

    /// A call of NVRTC failed for a reason other than the text that it compiles.
    #[error("{call} failed: nvrtcResult {code}, {description}")]
    Nvrtc {
        /// The name of NVRTC's function.
        call: &'static str,
        /// The number of the `nvrtcResult`.
        code: i32,
        /// NVRTC's description of it.
        description: String,
    },
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// Returns the number of the driver's error (`CUresult`), if a call of the CUDA driver failed: 2 is
    /// `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// ```
    /// fn is_out_of_memory(error: &phalanx::Error) -> bool {
    ///     error.cuda_code() == Some(2)
    /// }
    /// ```
    pub fn cuda_code(&self) -> Option<u32> {
        match self {
            Error::Driver { code, .. } => Some(*code),
            Error::DriverMissing
            | Error::DriverTooOld { .. }
            | Error::NvrtcMissing { .. }
            | Error::NoSuchDevice { .. }
            | Error::CapabilityTooLow { .. }
            | Error::UnknownDevice(_)
            | Error::NotAKernel(_)
            | Error::Recursion { .. }
            | Error::Compile { .. }
            | Error::Launch { .. }
            | Error::Kernel(_)
            | Error::LengthMismatch { .. }
            | Error::InvalidValue { .. }
            | Error::RangeOutOfBounds { .. }
            | Error::BufferTooLarge { .. }
            | Error::OutOfMemory { .. }
            | Error::Leaked
            | Error::WrongDevice { .. }
            | Error::ForeignStream { .. }
            | Error::WrongEvent { .. }
            | Error::NoGpuSupport
            | Error::Tensor(_)
            | Error::Graph(_)
            | Error::Nvrtc { .. } => None,
        }
    }
}

/// The rule that a launch breaks. CUDA's own limits are in the programming guide's table of compute capabilities.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The launch has no grid.
    #[error("it has no grid; call `.grid(blocks)`")]
    NoGrid,
    /// Neither the attribute nor the launch gives the block size.
    #[error("it has no block size; call `.block(threads)`, or write `#[cluster_kernel(block = ..)]`")]
    NoBlock,
    /// The launch asks for a different size than the attribute fixes.
    #[error("its attribute fixes {what} = {fixed}, but `.{what}(..)` asks for {asked}")]
    SizeMismatch {
        /// The name of the size: `cluster` or `block`.
        what: &'static str,
        /// The size that the attribute fixes.
        fixed: Dim3,
        /// The size that the launch asks for.
        asked: Dim3,
    },
    /// The launch asks for a different amount of dynamic shared memory than the attribute fixes.
    #[error("its attribute fixes shared_bytes = {fixed}, but `.shared_bytes(..)` asks for {asked}")]
    SharedBytesMismatch {
        /// The bytes that the attribute fixes.
        fixed: usize,
        /// The bytes that the launch asks for.
        asked: usize,
    },
    /// A size is zero in some dimension.
    #[error("the {what} size {extent} has a zero")]
    ZeroSize {
        /// The name of the size: `grid`, `cluster` or `block`.
        what: &'static str,
        /// The size.
        extent: Dim3,
    },
    /// The grid exceeds CUDA's limits.
    #[error("the grid {grid} is larger than (2147483647,65535,65535)")]
    GridTooLarge {
        /// The grid, in blocks.
        grid: Dim3,
    },
    /// The grid is not a multiple of the cluster in every dimension.
    #[error(
        "the grid {grid} is not a multiple of the cluster {cluster} in each dimension; the grid is given in blocks"
    )]
    GridNotMultiple {
        /// The grid, in blocks.
        grid: Dim3,
        /// The cluster, in blocks.
        cluster: Dim3,
    },
    /// The cluster has more than eight blocks, and the attribute does not say `non_portable`.
    #[error(
        "a cluster of {blocks} blocks is larger than 8, the most that every device supports; write \
         `#[cluster_kernel(non_portable)]` to allow up to 16"
    )]
    NonPortable {
        /// The number of blocks in a cluster.
        blocks: u64,
    },
    /// The cluster has more than sixteen blocks.
    #[error("a cluster of {blocks} blocks is larger than 16, the limit of the hardware")]
    ClusterTooLarge {
        /// The number of blocks in a cluster.
        blocks: u64,
    },
    /// The block has more than 1,024 threads.
    #[error("a block of {threads} threads is larger than 1024, the limit of the hardware")]
    BlockTooLarge {
        /// The number of threads in a block.
        threads: u64,
    },
    /// The block has more than 64 threads in z.
    #[error("the block {block} has z larger than 64, the limit of the hardware")]
    BlockTooDeep {
        /// The block, in threads.
        block: Dim3,
    },
    /// The block has more threads than the kernel's registers allow.
    #[error(
        "a block of {threads} threads needs more registers than a multiprocessor has; this kernel runs with at most {limit}"
    )]
    TooManyRegisters {
        /// The number of threads in a block.
        threads: u64,
        /// The largest number of threads for this kernel on this device.
        limit: u64,
    },
    /// The block needs more shared memory than the device has.
    #[error(
        "{fixed} bytes of shared arrays and {dynamic} of dynamic shared memory are more than the {limit} that a block \
         may have on this device"
    )]
    SharedMemoryTooLarge {
        /// The bytes of all `shared_array`s together.
        fixed: usize,
        /// The bytes that the launch asks for.
        dynamic: usize,
        /// The bytes that a block may have on the device.
        limit: usize,
    },
    /// A value of the kernel is larger than the local memory of a thread.
    #[error(
        "it creates a value of {bytes} bytes, but a thread has {limit} bytes of local memory; keep the value in shared \
         or global memory"
    )]
    LocalMemoryTooLarge {
        /// The size of the value in bytes.
        bytes: usize,
        /// The bytes of local memory that a thread may have.
        limit: usize,
    },
    /// The kernel uses `dynamic_shared`, and nothing gives its size.
    #[error(
        "it uses `dynamic_shared`; call `.shared_bytes(n)`, or write `#[cluster_kernel(shared_bytes = n)]`, to say how many bytes a block gets"
    )]
    NoSharedBytes,
    /// A timeline was asked for on a GPU, and the kernel is not compiled with `profile`.
    #[error("it records no timeline on a GPU; write `#[cluster_kernel(profile)]`, or ask for it in the simulator")]
    NoTimeline,
    /// Not a single cluster of this shape fits on the device.
    #[error(
        "no cluster of {blocks} blocks with {threads} threads and {shared} bytes of shared memory each fits on this \
         device; make one of them smaller"
    )]
    NoActiveCluster {
        /// The number of blocks in a cluster.
        blocks: u64,
        /// The number of threads in a block.
        threads: u64,
        /// The bytes of shared memory of a block, static and dynamic.
        shared: usize,
    },
    /// The kernel has a barrier of the grid, and not all of its blocks can be resident at once.
    #[error(
        "its blocks wait for each other at a barrier of the grid, so all must be resident at once: the grid has {blocks} \
         blocks, but this device holds at most {most}; `.occupancy(&device)` returns this limit"
    )]
    GridNotResident {
        /// The number of blocks in the grid.
        blocks: u64,
        /// The largest number of blocks of this shape that can be resident at once.
        most: u64,
    },
    /// The stream is being captured into a CUDA graph.
    #[error(
        "its stream is being captured into a CUDA graph, whose replays would all report to one launch; end the capture \
         first"
    )]
    Capturing,
    /// The launch is captured into a graph, and the host would wait for it.
    #[error(
        "it is captured into a graph, and runs when the graph is launched; call `.enqueue()`, which does not wait for it"
    )]
    WaitsInGraph,
    /// The launch is captured into a graph, and the kernel prints.
    #[error(
        "it is captured into a graph and prints, but nobody could tell the prints of a graph's launches apart; launch it on          a stream, or take its prints out"
    )]
    PrintsInGraph,
    /// The launch is captured into a graph, which would outlive the borrow of an argument's memory.
    #[error(
        "it is captured into a graph, which would outlive the borrow of a memory that belongs to another user of cudarc; copy          it to a buffer first, or hand it over by `Buffer::from_cuda_slice`"
    )]
    BorrowedInGraph,
    /// An argument is in the memory of another device.
    #[error("argument {argument} is on {found}, but the launch is on {device}; upload it there")]
    WrongDevice {
        /// The position of the argument, counted from 1.
        argument: usize,
        /// The device that the buffer is on.
        found: String,
        /// The device of the launch.
        device: String,
    },
}

impl LaunchError {
    /// Rejects a grid with a barrier that has more blocks than can be resident, which is as many as `clusters` clusters
    /// have.
    pub(crate) fn check_resident(shape: &Shape, clusters: u64) -> Result<(), LaunchError> {
        let (blocks, most) = (shape.grid.count(), clusters.saturating_mul(shape.cluster.count()));
        if blocks > most { Err(LaunchError::GridNotResident { blocks, most }) } else { Ok(()) }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Error::Kernel(Box::new(failure))
    }
}

/// Indents each line of the log, to set it apart from the sentence around it.
fn indented(log: &str) -> String {
    log.trim_end().lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn an_error_of_the_driver_keeps_its_code_and_its_source() {
        let error = Error::Driver {
            call: "cuMemAllocAsync",
            name: "CUDA_ERROR_OUT_OF_MEMORY".into(),
            code: 2,
            description: "out of memory".into(),
            source: "the driver's own".into(),
        };
        assert_eq!(error.to_string(), "cuMemAllocAsync failed: CUDA_ERROR_OUT_OF_MEMORY (2), out of memory");
        assert_eq!(error.cuda_code(), Some(2));
        assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("the driver's own"));
        assert_eq!(Error::DriverMissing.cuda_code(), None);
    }

    #[test]
    fn a_main_that_returns_an_error_prints_its_message() {
        assert_eq!(format!("{:?}", Error::DriverMissing), Error::DriverMissing.to_string());
    }
}
