//! What a collective of several devices is told, as data: the type of its elements, how they are combined, the identity of
//! a communicator. The numbers are those of nccl.h. Also what is wrong with a collective before it begins.

/// How the elements of all ranks are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// The sum. That of integers wraps.
    Sum,
    /// The product. That of integers wraps.
    Product,
    /// The largest element.
    Max,
    /// The smallest element.
    Min,
}

/// A type of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementKind {
    /// `i8`
    I8 = 0,
    /// `u8`
    U8 = 1,
    /// `i32`
    I32 = 2,
    /// `u32`
    U32 = 3,
    /// `i64`
    I64 = 4,
    /// `u64`
    U64 = 5,
    /// `f16`
    F16 = 6,
    /// `f32`
    F32 = 7,
    /// `f64`
    F64 = 8,
    /// `bf16`
    Bf16 = 9,
}

/// What the devices of a communicator do together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Collective {
    /// All get the combination of what each has.
    AllReduce(Reduction),
    /// All get what this rank has.
    Broadcast { root: usize },
}

/// The identity of a communicator, which one rank makes and all use.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct UniqueId {
    pub(crate) bytes: [u8; 128],
}

/// The rule of collectives that a call breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CollectiveError {
    /// There is no device, or one twice, or GPUs beside simulators.
    #[error("a communicator needs GPUs that are all different, or simulators alone, but was given {0}")]
    Devices(String),
    /// There is not one buffer and one stream for each rank of the process.
    #[error(
        "this process has {ranks} rank(s) of the communicator, but gave {buffers} buffer(s) and {streams} stream(s); give one of each for each rank"
    )]
    Count {
        /// The number of ranks that the process has.
        ranks: usize,
        /// The number of buffers.
        buffers: usize,
        /// The number of streams.
        streams: usize,
    },
    /// The buffers have different lengths.
    #[error(
        "the buffers of all ranks must have the same length, but that of rank {rank} has {found} elements, and that of the first rank {expected}"
    )]
    Lengths {
        /// The rank.
        rank: usize,
        /// The length of its buffer.
        found: usize,
        /// The length of the first buffer.
        expected: usize,
    },
    /// A buffer or a stream is not on the device of its rank.
    #[error(
        "rank {rank} of the communicator is {expected}, but its {what} is on {found}; give buffers and streams in the order of the devices"
    )]
    WrongDevice {
        /// The rank.
        rank: usize,
        /// `buffer` or `stream`.
        what: &'static str,
        /// The rank's device.
        expected: String,
        /// The device of the buffer or the stream.
        found: String,
    },
    /// There is no such rank.
    #[error("there is no rank {root}: the communicator has {size}, counted from 0")]
    NoSuchRank {
        /// The rank.
        root: usize,
        /// The number of ranks.
        size: usize,
    },
    /// The stream captures a graph.
    #[error(
        "a graph is for one GPU, and captures no collective; call it on the stream, before or after the graph's launch"
    )]
    Captured,
    /// A variable of the environment says nothing.
    #[error(
        "{variable} is {found}, but must be {expected}: RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT say which of the processes this is, and where rank 0 listens (at MASTER_PORT + 1)"
    )]
    Environment {
        /// The name of the variable.
        variable: &'static str,
        /// Its value, or that it is not set.
        found: String,
        /// What it must be.
        expected: String,
    },
    /// The processes did not find each other.
    #[error("the processes of the communicator did not meet at {address}: {reason}")]
    Meeting {
        /// The address at which rank 0 listens.
        address: String,
        /// What went wrong.
        reason: String,
    },
}
