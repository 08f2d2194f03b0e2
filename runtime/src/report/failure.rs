//! The failure of a kernel, as data and as text. One type represents both the failure record of a GPU and the reports
//! of the simulator; how either detects a failure is not here.

use std::fmt;
use std::time::Duration;

use super::race::Race;
use super::render::{self, Level, Note};
pub use super::waiting::{MissingThreads, WaitingThreads};
use super::waiting::{called_from, threads};
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
    /// forever, and says what is missing. A GPU has at most ten places, and threads at the hardware's own barriers are not among them.
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

impl Failure {
    /// Returns the sentence that says how to replay the failure.
    fn replay(&self) -> Option<String> {
        self.schedule
            .as_ref()
            .map(|schedule| format!("set PHALANX_SCHEDULE={schedule} in the environment to replay this"))
    }

    /// Returns a line for each call that led to the failure. The texts about threads that wait have their own.
    fn call_chain(&self) -> Vec<String> {
        match self.cause {
            Cause::Deadlock(_) | Cause::SpinLimit { .. } | Cause::Deadline { .. } => Vec::new(),
            _ => self.calls.iter().map(|call| format!("called from {call}")).collect(),
        }
    }

    /// Returns the report with the source of each location, if the files can be read.
    fn rendered(&self) -> Option<String> {
        let location = self.location.as_ref()?;
        let (title, notes, help) = match &self.cause {
            Cause::Race(race) => (race.title(), race.notes(), race.helps()),
            Cause::Deadlock(waiting) | Cause::SpinLimit { waiting, .. } | Cause::Deadline { waiting, .. } => {
                let notes = waiting.iter().filter_map(|group| {
                    let what = group.what.clone() + &called_from(&group.calls);
                    let text = threads(group.threads, group.first, &what, None);
                    let is_primary = group.location.as_ref() == Some(location);
                    Some(Note { location: group.location.as_ref()?, text, is_primary })
                });
                let missing =
                    waiting.iter().flat_map(|group| group.missing.iter().map(|missing| (group.lacks(), missing)));
                let missing = missing.map(|(lacks, missing)| {
                    let there = threads(missing.threads, missing.first, &missing.what, missing.location.as_ref());
                    format!("{lacks}: {there}")
                });
                let mut missing: Vec<String> = missing.collect();
                missing.dedup();
                (self.cause.title(), notes.collect(), missing)
            }
            cause => {
                let thread = format!("block {} thread {}", self.block, self.thread);
                let mut notes = vec![Note { location, text: thread, is_primary: true }];
                if let Cause::UninitializedShared { copy: Some(copy), .. } = cause {
                    notes.push(Note {
                        location: copy,
                        text: "the copy that is in flight".to_owned(),
                        is_primary: false,
                    });
                }
                (cause.to_string(), notes, Vec::new())
            }
        };
        let title = format!("kernel `{}` at {location}: {title}", self.kernel);
        render::rendered(
            Level::ERROR,
            &title,
            &notes,
            &self.call_chain(),
            &[help, Vec::from_iter(self.replay())].concat(),
        )
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(rendered) = self.rendered() {
            return f.write_str(&rendered);
        }
        write!(f, "kernel `{}`", self.kernel)?;
        if let Some(location) = &self.location {
            write!(f, " at {location}")?;
        }
        write!(f, ": {}", self.cause)?;
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

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::IndexOutOfBounds { index, length } => write!(f, "index {index} out of bounds for length {length}"),
            Cause::RangeOutOfBounds { start, end, inclusive, length } => {
                let dots = if *inclusive { "..=" } else { ".." };
                write!(f, "range {start}{dots}{end} out of bounds for length {length}")
            }
            Cause::MisalignedVector { index, bytes } => {
                write!(
                    f,
                    "a vector of {bytes} bytes must be aligned to {bytes} bytes, but the one at index {index} is not"
                )
            }
            Cause::MatrixOutOfBounds { start, count, length, columns } => {
                let lines = if *columns { "columns" } else { "rows" };
                write!(
                    f,
                    "a matrix of {count} {lines} from {start} on is out of bounds for the {length} {lines} of the memory"
                )
            }
            Cause::MisalignedMatrix { column } => {
                write!(f, "a matrix must start at a multiple of 16 bytes, but the one from column {column} on does not")
            }
            Cause::DynamicSharedMisaligned { offset, alignment } => {
                write!(f, "a type of alignment {alignment} cannot start at byte {offset} of dynamic shared memory")
            }
            Cause::DynamicSharedOutOfBounds { offset, length, size, available } => write!(
                f,
                "{length} elements of {size} bytes from byte {offset} exceed the {available} bytes of dynamic shared memory"
            ),
            Cause::DivisionByZero { dividend } => write!(f, "attempt to divide {dividend} by zero"),
            Cause::DivisionOverflow { dividend } => write!(f, "attempt to divide {dividend} by -1 with overflow"),
            Cause::PartialTile { threads, size } => {
                write!(f, "a block of {threads} threads cannot be partitioned into tiles of {size}")
            }
            Cause::RankOutOfRange { rank, num_blocks } => {
                write!(f, "block rank {rank} out of range for a cluster of {num_blocks} blocks")
            }
            Cause::RepeatedReceiver { rank } => {
                write!(
                    f,
                    "a multicast must name each block that receives it once, but block rank {rank} is in the list twice"
                )
            }
            Cause::BarrierCount { count } => {
                write!(f, "a phase cannot expect {count} arrivals: the count must be 1 to 1048575")
            }
            Cause::CopyLengths { to, from } => {
                write!(
                    f,
                    "the source and the destination of a copy must have the same length, but have {from} and {to} elements; take a part of the longer one: `&x[..n]`"
                )
            }
            Cause::BulkBytes { bytes } => {
                write!(
                    f,
                    "the size of a bulk copy must be a multiple of 16 bytes, but is {bytes}; `memcpy_async` copies any number"
                )
            }
            Cause::BulkMisaligned { to, from } => write!(
                f,
                "both addresses of a bulk copy must be multiples of 16, but the destination is {to} and the source {from} bytes past one; `memcpy_async` copies from and to any element"
            ),
            Cause::MisalignedTile { past } => write!(
                f,
                "a tile that is copied from or to a tensor must start at a multiple of 128 bytes, but this one starts {past} bytes past one; give tiles that follow each other a multiple of 128 bytes"
            ),
            Cause::MisalignedCoordinate { at, elements } => write!(
                f,
                "the last coordinate of a tile must be a multiple of 16 bytes, which are {elements} elements here, but is {at}; begin the tile at such a multiple"
            ),
            Cause::NegativeCoordinate { at, dimension } => write!(
                f,
                "a tile must not be written to a tensor from a negative coordinate on, but coordinate {dimension} is {at}; only loads may begin before the tensor"
            ),
            Cause::ProductRows { rows: [a, b], expected: [rows, columns] } => write!(
                f,
                "this product takes {rows} rows of its left operand and {columns} of its right one, whose rows are the columns of the sum, but they have {a} and {b}; pass a part, such as `&tile[0..{rows}]`"
            ),
            Cause::MisalignedOperand { past, pattern } => write!(
                f,
                "an operand of a warpgroup's product must start at a multiple of {pattern} bytes, 8 of its rows, but this one starts {past} bytes past one; begin it at a row that is a multiple of 8"
            ),
            Cause::Assertion(message) | Cause::Panic(message) => f.write_str(message),
            Cause::Deadlock(waiting) | Cause::SpinLimit { waiting, .. } | Cause::Deadline { waiting, .. } => {
                f.write_str(&self.title())?;
                for group in waiting {
                    let waiting = threads(group.threads, group.first, &group.what, group.location.as_ref());
                    write!(f, "\n  {waiting}{}", called_from(&group.calls))?;
                    for missing in &group.missing {
                        let missing = threads(missing.threads, missing.first, &missing.what, missing.location.as_ref());
                        write!(f, "\n    {}: {missing}", group.lacks())?;
                    }
                }
                Ok(())
            }
            Cause::DeadlineIgnored { limit } => write!(
                f,
                "the launch did not end at its deadline of {limit:?}, and cannot be ended: its threads wait at a barrier of the hardware \
                 (`block.sync()`, `cluster.sync()`, a warp's collective), or loop without a wait; the GPU is busy with it until the process ends"
            ),
            Cause::UninitializedShared { byte, rank, copy: Some(copy) } => {
                write!(
                    f,
                    "a copy to shared memory must be waited for before the memory is read, but the copy at {copy} to byte {byte} of the array of block rank {rank} is still in flight"
                )
            }
            Cause::UninitializedShared { byte, rank, copy: None } => {
                write!(
                    f,
                    "shared memory must be written before it is read, but byte {byte} of the array of block rank {rank} was never written"
                )
            }
            Cause::PeerMayNotHaveStarted { rank } => {
                write!(
                    f,
                    "a barrier of the cluster must come before the first access to a peer's shared memory: block rank {rank} may not have started"
                )
            }
            Cause::PeerMayHaveExited { rank } => {
                write!(
                    f,
                    "a barrier of the cluster must come after the last access to a peer's shared memory: block rank {rank} may have exited"
                )
            }
            Cause::Race(race) => race.fmt(f),
            Cause::Protocol(what) => f.write_str(what),
            Cause::NoClosure => {
                write!(f, "`cuda!` needs a closure to run in the simulator: write `else |x| ..` after its operands")
            }
            Cause::StepLimit(limit) => {
                write!(f, "a thread exceeded the limit of {limit} loop iterations, which `Simulator::step_limit` sets")
            }
        }
    }
}
