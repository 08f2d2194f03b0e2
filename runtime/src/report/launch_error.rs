//! The rules that a launch can break, each with its numbers and the mend.

use crate::location::Location;
use crate::shape::{Dim3, Shape};

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
    /// The kernel, or a function that it calls, has an operation that the device lacks.
    #[error("{what}, at {location}, needs {needed}, and this GPU has {}.{}", .found.0, .found.1)]
    Capability {
        /// The operation.
        what: &'static str,
        /// What it needs.
        needed: &'static str,
        /// Where it is.
        location: Location,
        /// The device's compute capability.
        found: (i32, i32),
    },
    /// The kernel, or a function that it calls, has an operation of one generation of GPUs, and the architecture's name has no `a`.
    #[error(
        "{what}, at {location}, is for one generation of GPUs, whose name has `{architecture}a`, not `{architecture}`; name that"
    )]
    NoSuffix {
        /// The operation.
        what: &'static str,
        /// Where it is.
        location: Location,
        /// The architecture.
        architecture: String,
    },
    /// The kernel has floats of 8 bits, which the device does not convert.
    #[error(
        "`e4m3` and `e5m2` need compute capability 8.9 or later, and this GPU has {}.{}; use `f16` or `bf16`", .found.0, .found.1
    )]
    NarrowFloats {
        /// The device's compute capability.
        found: (i32, i32),
    },
    /// The cluster has several blocks, and the device has no clusters.
    #[error(
        "clusters of {blocks} blocks need compute capability 9.0 or later, and this GPU has {}.{}; launch clusters of one block", .found.0, .found.1
    )]
    NoClusters {
        /// The blocks of a cluster.
        blocks: u64,
        /// The device's compute capability.
        found: (i32, i32),
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
    /// The simulator was asked for what only machine code has.
    #[error("the simulator has no machine code of it, and so no registers to count; ask a GPU, by `Device::gpu(0)`")]
    NoMachineCode,
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
    /// Another library captures the stream into a CUDA graph of its own, which would not keep an argument's memory.
    #[error(
        "another library captures its stream into a CUDA graph, which would not keep the memory of an argument; pass \
         memory that outlives the graph by its address, `View::from_raw` and `ViewMut::from_raw`"
    )]
    OwnedInGraph,
    /// The launch is captured into a graph, and the host would wait for it.
    #[error(
        "it is captured into a graph, and runs when the graph is launched; call `.enqueue()`, which does not wait for it"
    )]
    WaitsInGraph,
    /// The launch is captured into a graph, and the kernel prints.
    #[error(
        "it is captured into a graph and prints, but nobody could tell the prints of a graph's launches apart; launch it on \
         a stream, or take its prints out"
    )]
    PrintsInGraph,
    /// The launch is captured into a graph, and has a deadline.
    #[error(
        "it is captured into a graph and has a deadline, but the host sees only the end of a graph's launch, not that of each kernel; launch it on \
         a stream, or take the deadline out"
    )]
    DeadlineInGraph,
    /// The launch is prepared on a stream that captures, where it would be started in the order of the graph alone.
    #[error(
        "it is prepared on a stream that captures a graph, which takes launches as they are enqueued; call `.enqueue()` in place of \
         `.prepare()`: to launch the graph again costs the host as little"
    )]
    PreparedInGraph,
    /// The launch is captured into a graph, which would outlive the borrow of an argument's memory.
    #[error(
        "it is captured into a graph, which would outlive the borrow of a memory that belongs to another user of cudarc; copy \
         it to a buffer first, or hand it over by `Buffer::from_cuda_slice`"
    )]
    BorrowedInGraph,
    /// The launch may begin before those in front of it have ended, and the kernel does not wait for them.
    #[error(
        "it may begin before the launches in front of it have ended, but never waits for them; call `wait_previous()` in the kernel before it uses \
         global memory, or take `.dependent()` out"
    )]
    NeverWaits,
    /// The launch may begin before those in front of it have ended, and all of its blocks wait for each other.
    #[error(
        "its blocks wait for each other at a barrier of the grid, so that all of them run at once, which they cannot beside the launches in front of \
         it; take `.dependent()` out"
    )]
    DependentGridBarrier,
    /// Two arguments have the same memory, and the kernel may write one of them.
    #[error(
        "arguments {first} and {second} share memory, of which the kernel may write one, and it takes both for memory of their own; pass buffers, \
         or parts of one, that do not overlap"
    )]
    Overlap {
        /// The position of the first of them, counted from 1.
        first: usize,
        /// The position of the second.
        second: usize,
    },
    /// An argument is in the memory of another device.
    #[error(
        "argument {argument} is on {found}, but the launch is on {device}; upload it there, or let that device access the memory by `Device::enable_access`"
    )]
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
