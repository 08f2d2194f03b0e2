//! The failure of a kernel, as data and as text. One type represents both the failure record of a GPU and the reports
//! of the simulator; how either detects a failure is not here.

mod page;
mod parts;
mod text;

use std::fmt;
use std::time::Duration;

use super::race::Race;
pub use super::waiting::{MissingThreads, WaitingThreads};
use crate::location::Location;
use crate::scalar::Scalar;
use crate::schedule::Schedule;
use crate::shape::Dim3;

/// The failure of a kernel that stopped before its end. Its `Display` is the report, which shows the source of each
/// location if the files can be read.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Failure {
    /// The kernel's name.
    pub kernel: String,
    /// The position in the Rust source at which it stopped.
    pub location: Option<Location>,
    /// The calls of device functions that led there, the innermost first. It is empty on a GPU, which does not record
    /// them.
    pub calls: Vec<Location>,
    /// The cause of the failure.
    pub cause: Cause,
    /// The index of the failing thread's block in the grid.
    pub block: Dim3,
    /// The index of the failing thread in its block.
    pub thread: Dim3,
    /// The schedule that replays the failure, for [`Simulator::schedule`](crate::Simulator::schedule). It is `None` on a
    /// GPU, and where clusters that depend on each other ran in parallel, so that none replays it exactly.
    pub schedule: Option<Schedule>,
}

/// The cause of a failure. Only the simulator detects the causes from [`Deadlock`](Cause::Deadlock) on. [`Deadline`](Cause::Deadline) is for
/// launches that have one.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum Cause {
    /// An index is not below the length.
    IndexOutOfBounds {
        /// The index.
        index: i128,
        /// The length.
        length: u64,
    },
    /// A slice of memory, or a vector in it, does not lie within it: Rust's `start <= end && end <= length` is false.
    RangeOutOfBounds {
        /// The first element.
        start: i128,
        /// The end of the range.
        end: i128,
        /// Whether the end belongs to the range, as in `start..=end`.
        inclusive: bool,
        /// The length of the memory.
        length: u64,
    },
    /// The address of a `load_vec` or `store_vec` is not a multiple of the vector's size.
    MisalignedVector {
        /// The index of the first element.
        index: i128,
        /// The size of the vector in bytes.
        bytes: u64,
    },
    /// A matrix that is loaded from or stored to shared memory does not lie within it.
    MatrixOutOfBounds {
        /// The first row, or the first column.
        start: i128,
        /// The number of rows or columns.
        count: u64,
        /// The number of rows or columns of the memory.
        length: u64,
        /// Whether these are columns.
        columns: bool,
    },
    /// A matrix that is loaded from or stored to shared memory does not start at a multiple of 16 bytes.
    MisalignedMatrix {
        /// The first column.
        column: i128,
    },
    /// The byte offset of a `dynamic_shared_slice` is not a multiple of the type's alignment.
    DynamicSharedMisaligned {
        /// The byte offset.
        offset: i128,
        /// The alignment of the type.
        alignment: u64,
    },
    /// A `dynamic_shared_slice` ends after the dynamic shared memory of the launch.
    DynamicSharedOutOfBounds {
        /// The byte offset.
        offset: i128,
        /// The number of elements.
        length: i128,
        /// The size of an element in bytes.
        size: u64,
        /// The bytes of dynamic shared memory that the launch provides.
        available: u64,
    },
    /// An integer was divided by zero, by `/`, `%` or a method.
    DivisionByZero {
        /// The dividend.
        dividend: Scalar,
    },
    /// The smallest signed integer was divided by -1, by `/`, `%` or a method.
    DivisionOverflow {
        /// The dividend.
        dividend: Scalar,
    },
    /// The rank given to `map_shared_rank` is not below the number of blocks in the cluster.
    RankOutOfRange {
        /// The rank.
        rank: u32,
        /// The number of blocks in the cluster.
        num_blocks: u32,
    },
    /// A multicast names one block twice.
    RepeatedReceiver {
        /// The block's rank.
        rank: u32,
    },
    /// The block given to `tiled_partition` is not a multiple of the tile.
    PartialTile {
        /// The number of threads in the block.
        threads: u32,
        /// The number of threads in a tile.
        size: u32,
    },
    /// The count given to `init` of a phase barrier is zero, or too large.
    BarrierCount {
        /// The expected arrivals of a phase.
        count: u32,
    },
    /// The two sides of a copy differ in length.
    CopyLengths {
        /// The number of elements of the destination.
        to: u64,
        /// The number of elements of the source.
        from: u64,
    },
    /// The size of a bulk copy is not a multiple of 16 bytes.
    BulkBytes {
        /// The size in bytes.
        bytes: u64,
    },
    /// An address of a bulk copy is not a multiple of 16.
    BulkMisaligned {
        /// The destination's address, modulo 16.
        to: u64,
        /// The source's address, modulo 16.
        from: u64,
    },
    /// A tile that is copied from or to a tensor does not start at a multiple of 128 bytes.
    MisalignedTile {
        /// The bytes from the last multiple of 128 to the tile.
        past: u64,
    },
    /// The last coordinate of a copy between a tile and a tensor is not a multiple of 16 bytes.
    MisalignedCoordinate {
        /// The coordinate, in elements.
        at: i32,
        /// The number of elements in 16 bytes.
        elements: u64,
    },
    /// A tile is stored to or combined with a tensor from a negative coordinate on.
    NegativeCoordinate {
        /// The coordinate.
        at: i32,
        /// The dimension, from the outermost on.
        dimension: u64,
    },
    /// An operand of a warpgroup's product does not have the rows that the product takes.
    ProductRows {
        /// The rows of the left operand and of the right one.
        rows: [u64; 2],
        /// The rows that the product takes of each.
        expected: [u64; 2],
    },
    /// The operands of a warpgroup's product do not have the same number of elements in the direction of the sum, or none that the tensor
    /// cores multiply.
    ProductDepth {
        /// The elements of the left operand and of the right one.
        depths: [u64; 2],
        /// The number that it must be a multiple of.
        step: u64,
    },
    /// An operand of a warpgroup's product does not start where the pattern of its swizzled rows does.
    MisalignedOperand {
        /// The number of bytes past the last start of the pattern.
        past: u64,
        /// The number of bytes after which the pattern repeats.
        pattern: u64,
    },
    /// An `assert!` or a similar macro failed, with this message.
    Assertion(String),
    /// The kernel panicked, with this message.
    Panic(String),

    /// The launch had not ended by its [deadline](crate::Launch::deadline), and its threads waited. The simulator finds at once that they wait
    /// forever, and says what is missing. A GPU has at most seven places, and threads at the hardware's own barriers are not among them.
    Deadline {
        /// The deadline.
        limit: Duration,
        /// The threads that waited.
        waiting: Vec<WaitingThreads>,
    },
    /// The launch had not ended by its [deadline](crate::Launch::deadline), and could not be ended: no thread waited in a way that the host can
    /// end. The GPU stays busy with it.
    DeadlineIgnored {
        /// The deadline.
        limit: Duration,
    },

    /// No thread can make progress: each waits for one that will not arrive.
    Deadlock(Vec<WaitingThreads>),
    /// No thread has changed memory or exited for as long as [`Simulator::spin_limit`](crate::Simulator::spin_limit)
    /// allows, although some can run.
    SpinLimit {
        /// The limit.
        limit: Duration,
        /// The threads that spin or wait.
        waiting: Vec<WaitingThreads>,
    },
    /// A thread read shared memory that has never been written.
    UninitializedShared {
        /// The first byte that was not written, counted from the start of the allocation.
        byte: usize,
        /// The element that holds it, if the size of an element is known.
        element: Option<usize>,
        /// Where the array is made; `None` for dynamic shared memory.
        declared: Option<Location>,
        /// The rank in the cluster of the block that owns the memory.
        rank: u32,
        /// The position of a copy to that byte that is still in flight.
        copy: Option<Location>,
    },
    /// A thread accessed a peer's shared memory before a cluster barrier established that the peer has started.
    PeerMayNotHaveStarted {
        /// The peer's rank in the cluster.
        rank: u32,
    },
    /// A thread accessed a peer's shared memory, and the access does not happen-before the peer's exit.
    PeerMayHaveExited {
        /// The peer's rank in the cluster.
        rank: u32,
    },
    /// Two accesses to the same bytes race: one of them writes, and happens-before orders neither before the other.
    Race(Box<Race>),
    /// The protocol of a barrier or another collective was violated, as this sentence says.
    Protocol(String),
    /// A thread reached a `cuda!` without a closure, which only a GPU can execute.
    NoClosure,
    /// A thread exceeded this limit of loop iterations ([`Simulator::step_limit`](crate::Simulator::step_limit)).
    StepLimit(u64),
}

impl Cause {
    /// Returns the panic of `step_by(0)`, with the standard library's message.
    pub(crate) fn step_of_zero() -> Cause {
        Cause::Panic("assertion failed: step != 0".into())
    }

    /// Returns the title of a report about threads that wait or spin.
    fn title(&self) -> String {
        match self {
            Cause::SpinLimit { limit, .. } => format!(
                "threads spin: none has changed memory or exited for {limit:?}, the limit that `Simulator::spin_limit` sets"
            ),
            Cause::Deadline { limit, .. } => {
                format!("the launch was ended at its deadline of {limit:?}, when its threads waited")
            }
            _ => "deadlock: no thread can make progress".to_owned(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(rendered) = self.rendered() {
            return f.write_str(&rendered);
        }
        write!(f, "{}: {}", self.place(), self.cause)?;
        let comma = match &self.cause {
            // The texts of these causes name the threads.
            Cause::Deadlock(_) | Cause::SpinLimit { .. } | Cause::Deadline { .. } | Cause::Race(_) => None,
            Cause::Assertion(message) | Cause::Panic(message) if message.contains('\n') => Some("\n"),
            _ => Some(", "),
        };
        if let Some(comma) = comma {
            write!(f, "{comma}block {} thread {}", self.block, self.thread)?;
        }
        for call in self.call_chain() {
            write!(f, "\n  {call}")?;
        }
        self.replay().map_or(Ok(()), |replay| write!(f, "; {replay}"))
    }
}

impl std::error::Error for Failure {}
