//! What stopped a kernel: one type for the GPU's failure record and for the simulator's reports. Says nothing of how
//! either finds it.

use std::fmt;

use serde::Serialize;

use super::race::{Race, RaceAccess};
use super::render::{self, Note};
use crate::location::Location;
use crate::scalar::Scalar;
use crate::shape::Dim3;

/// A kernel that stopped before its end, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failure {
    /// The kernel's name.
    pub kernel: String,
    /// Where in the Rust source.
    pub location: Option<Location>,
    /// What happened.
    pub cause: Cause,
    /// The block's index in the grid.
    pub block: Dim3,
    /// The thread's index in its block.
    pub thread: Dim3,
    /// The order of threads that shows it, as [`Schedule`](crate::Schedule) reads it; `None` of a GPU.
    pub schedule: Option<String>,
}

/// What a kernel did that stopped it. The last group only the simulator finds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub enum Cause {
    /// An index not below the length.
    IndexOutOfBounds {
        /// The index.
        index: i128,
        /// The length.
        length: u64,
    },
    /// A part of memory, or a vector in it, that does not lie in it: Rust's `start <= end && end <= length`.
    RangeOutOfBounds {
        /// Its first element.
        start: i128,
        /// Its end.
        end: i128,
        /// The end belongs to it: `start..=end`.
        inclusive: bool,
        /// The length.
        length: u64,
    },
    /// `load_vec` or `store_vec` at an element that is not on a boundary of the vector's size.
    MisalignedVector {
        /// The index.
        index: i128,
        /// The vector's size.
        bytes: u64,
    },
    /// `dynamic_shared_slice` from a byte at which the type cannot lie.
    DynamicSharedMisaligned {
        /// The first byte.
        offset: i128,
        /// The type's alignment.
        alignment: u64,
    },
    /// `dynamic_shared_slice` of more than the launch gave room for.
    DynamicSharedOutOfBounds {
        /// The first byte.
        offset: i128,
        /// Elements.
        length: i128,
        /// Bytes of an element.
        size: u64,
        /// Bytes that the launch gave.
        available: u64,
    },
    /// `x / 0` or `x % 0` of integers.
    DivisionByZero {
        /// `x`.
        dividend: Scalar,
    },
    /// `MIN / -1` or `MIN % -1`.
    DivisionOverflow {
        /// `MIN`.
        dividend: Scalar,
    },
    /// `map_shared_rank` of a rank that the cluster does not have.
    RankOutOfRange {
        /// The rank.
        rank: u32,
        /// Blocks in the cluster.
        num_blocks: u32,
    },
    /// `tiled_partition` of a block that leaves a rest.
    PartialTile {
        /// Threads in the block.
        threads: u32,
        /// Threads in a tile.
        size: u32,
    },
    /// `init` of a barrier that expects none, or more than there can be.
    BarrierCount {
        /// Arrivals in a phase.
        count: u32,
    },
    /// A copy between parts of memory of different lengths.
    CopyLengths {
        /// Elements of the destination.
        to: u64,
        /// Elements of the source.
        from: u64,
    },
    /// A bulk copy of a number of bytes that the hardware does not copy at once.
    BulkBytes {
        /// How many.
        bytes: u64,
    },
    /// A bulk copy from or to an address that the hardware does not copy at.
    BulkMisaligned {
        /// Bytes by which the destination is past a multiple of 16.
        to: u64,
        /// The same of the source.
        from: u64,
    },
    /// `assert!` of something false, with its message.
    Assertion(String),
    /// `panic!`, with its message.
    Panic(String),

    /// Every thread that is left waits for one that will not come.
    Deadlock(Vec<Waiting>),
    /// A read of shared memory that no thread has written.
    UninitializedShared {
        /// First byte that was not written, from the start of the allocation.
        byte: usize,
        /// The rank in the cluster of the block that owns the memory.
        rank: u32,
    },
    /// A peer's shared memory was touched before a cluster barrier showed that the peer runs.
    PeerMayNotHaveStarted {
        /// The peer's rank in the cluster.
        rank: u32,
    },
    /// A peer's shared memory was touched, and nothing orders that before the peer's exit.
    PeerMayHaveExited {
        /// The peer's rank in the cluster.
        rank: u32,
    },
    /// Two accesses to the same bytes, one of them a write, that nothing orders.
    Race(Box<Race>),
    /// A barrier was used against its protocol: what, in a sentence.
    Protocol(String),
    /// A `cuda!` without a closure: what it does, only a GPU can say.
    NoClosure,
    /// A thread went round its loops more often than the simulator's limit.
    StepLimit(u64),
}

/// Threads that wait at one place, or have exited, when nothing can go on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Waiting {
    /// What they wait for, or that they exited: ``wait at `cluster.sync()` ``, ``exited``.
    pub what: String,
    /// Where, if they have not exited.
    pub location: Option<Location>,
    /// How many threads.
    pub threads: usize,
    /// The first of them: block in the grid and thread in the block.
    pub first: (Dim3, Dim3),
    /// Who has not come, of those that they wait for.
    pub missing: Vec<Missing>,
}

/// Threads that others wait for, and where they are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Missing {
    /// What they do: ``wait at `block.sync()` ``, `exited`.
    pub what: String,
    /// Where, if they have not exited.
    pub location: Option<Location>,
    /// How many threads.
    pub threads: usize,
    /// The first of them: block in the grid and thread in the block.
    pub first: (Dim3, Dim3),
}

impl Cause {
    /// `step_by(0)`, in Rust's words.
    pub(crate) fn step_of_zero() -> Cause {
        Cause::Panic("assertion failed: step != 0".into())
    }
}

/// `24 thread(s), first block (0,0,0) thread (0,0,0): exited`.
fn threads(count: usize, (block, thread): (Dim3, Dim3), what: &str, location: Option<&Location>) -> String {
    let at = location.map(|location| format!(" at {location}")).unwrap_or_default();
    format!("{count} thread(s), first block {block} thread {thread}: {what}{at}")
}

impl Failure {
    /// What shows the failure once more.
    fn replay(&self) -> Option<String> {
        self.schedule.as_ref().map(|schedule| format!("PHALANX_SCHEDULE={schedule} in the environment replays it"))
    }

    /// With the source of what more than one place is part of, if it is at hand.
    fn rendered(&self) -> Option<String> {
        let location = self.location.as_ref()?;
        let at = format!("kernel `{}` at {location}: ", self.kernel);
        let (title, notes, help) = match &self.cause {
            Cause::Race(race) => {
                let note = |access: &RaceAccess, is_primary| (access.location.clone(), access.sentence(), is_primary);
                let notes = vec![note(&race.second, true), note(&race.first, false)];
                let title = format!("data race: bytes {}..{} {}", race.bytes.start, race.bytes.end, race.memory);
                (title, notes, vec![race.help.clone()])
            }
            Cause::Deadlock(waiting) => {
                let notes = waiting.iter().filter_map(|group| {
                    let what = group.what.trim_end_matches(',');
                    let text = threads(group.threads, group.first, what, None);
                    Some((group.location.clone()?, text, group.location.as_ref() == Some(location)))
                });
                let missing = waiting.iter().flat_map(|group| &group.missing).map(|missing| {
                    let there = threads(missing.threads, missing.first, &missing.what, missing.location.as_ref());
                    format!("who has not come: {there}")
                });
                let mut missing: Vec<String> = missing.collect();
                missing.dedup();
                ("deadlock: no thread can go on".to_owned(), notes.collect(), missing)
            }
            _ => return None,
        };
        let notes: Vec<Note<'_>> = notes
            .iter()
            .map(|(location, text, is_primary)| Note { location, text: text.clone(), is_primary: *is_primary })
            .collect();
        render::rendered(&(at + &title), &notes, &[help, Vec::from_iter(self.replay())].concat())
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
            // They name their threads themselves.
            Cause::Deadlock(_) | Cause::Race(_) => {
                return self.replay().map_or(Ok(()), |replay| write!(f, "; {replay}"));
            }
            Cause::Assertion(message) | Cause::Panic(message) if message.contains('\n') => "\n",
            _ => ", ",
        };
        write!(f, "{comma}block {} thread {}", self.block, self.thread)
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
                write!(f, "a vector of {bytes} bytes at index {index}, whose address is no multiple of {bytes}")
            }
            Cause::DynamicSharedMisaligned { offset, alignment } => {
                write!(f, "byte {offset} of dynamic shared memory, where a type of alignment {alignment} cannot start")
            }
            Cause::DynamicSharedOutOfBounds { offset, length, size, available } => write!(
                f,
                "{length} elements of {size} bytes from byte {offset} of dynamic shared memory, which has {available} bytes"
            ),
            Cause::DivisionByZero { dividend } => write!(f, "attempt to divide {dividend} by zero"),
            Cause::DivisionOverflow { dividend } => write!(f, "attempt to divide {dividend} by -1 with overflow"),
            Cause::PartialTile { threads, size } => {
                write!(f, "a block of {threads} threads cannot be partitioned into tiles of {size}")
            }
            Cause::RankOutOfRange { rank, num_blocks } => {
                write!(f, "block rank {rank} out of range for a cluster of {num_blocks} blocks")
            }
            Cause::BarrierCount { count } => {
                write!(f, "a barrier of {count} arrivals a phase; there can be 1 to 1048575")
            }
            Cause::CopyLengths { to, from } => {
                write!(
                    f,
                    "a copy of {from} elements to {to}: both are as long, so take a part of the longer: `&x[..n]`"
                )
            }
            Cause::BulkBytes { bytes } => {
                write!(f, "a bulk copy of {bytes} bytes, which is no multiple of 16; `memcpy_async` copies any number")
            }
            Cause::BulkMisaligned { to, from } => write!(
                f,
                "a bulk copy to {to} bytes past a multiple of 16, from {from} past one: both begin at one; `memcpy_async` copies from and to any element"
            ),
            Cause::Assertion(message) | Cause::Panic(message) => f.write_str(message),
            Cause::Deadlock(waiting) => {
                write!(f, "deadlock: no thread can go on")?;
                for group in waiting {
                    write!(f, "\n  {}", threads(group.threads, group.first, &group.what, group.location.as_ref()))?;
                    for missing in &group.missing {
                        let missing = threads(missing.threads, missing.first, &missing.what, missing.location.as_ref());
                        write!(f, "\n    who has not come: {missing}")?;
                    }
                }
                Ok(())
            }
            Cause::UninitializedShared { byte, rank } => {
                write!(
                    f,
                    "read of shared memory that was never written (byte {byte} of the array of block rank {rank})"
                )
            }
            Cause::PeerMayNotHaveStarted { rank } => {
                write!(
                    f,
                    "access to the shared memory of block rank {rank} before a cluster barrier: it may not have started"
                )
            }
            Cause::PeerMayHaveExited { rank } => {
                write!(
                    f,
                    "access to the shared memory of block rank {rank} without a cluster barrier after it: it may have exited"
                )
            }
            Cause::Race(race) => race.fmt(f),
            Cause::Protocol(what) => f.write_str(what),
            Cause::NoClosure => write!(f, "`cuda!` has no closure for the simulator"),
            Cause::StepLimit(limit) => write!(f, "still looping after {limit} iterations"),
        }
    }
}
