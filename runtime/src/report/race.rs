//! A data race as data: both accesses, and what would have ordered them. How one is found is `sim::race`'s.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

use crate::location::Location;
use crate::shape::Dim3;

/// Two accesses to the same bytes, at least one of them a write, that nothing orders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Race {
    /// Where the bytes are.
    pub memory: RaceMemory,
    /// Which, in the buffer or in the block's array.
    pub bytes: Range<usize>,
    /// The access that came first in the schedule that ran.
    pub first: RaceAccess,
    /// The access at which the race was found.
    pub second: RaceAccess,
    /// What would have ordered them.
    pub help: String,
}

/// The memory that a race is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub enum RaceMemory {
    /// A `&mut [T]` of the kernel.
    Global,
    /// A shared array.
    Shared {
        /// Where `shared_array` stands; `None` for dynamic shared memory.
        declared: Option<Location>,
        /// The block that owns it: its index in the grid.
        block: Dim3,
    },
}

/// One side of a race.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RaceAccess {
    /// What it does.
    pub kind: RaceKind,
    /// Where in the Rust source.
    pub location: Location,
    /// The block's index in the grid.
    pub block: Dim3,
    /// The thread's index in its block.
    pub thread: Dim3,
    /// It is done by an asynchronous copy, which the thread began.
    pub by_copy: bool,
    /// What was read or written, in the order of memory.
    pub value: Vec<u8>,
    /// The value's type, as the second access has it.
    pub type_name: String,
}

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum RaceKind {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// An atomic that does not write.
    AtomicRead,
    /// An atomic that writes.
    AtomicWrite,
}

impl RaceKind {
    fn verb(self) -> &'static str {
        match self {
            RaceKind::Read => "read",
            RaceKind::Write => "write",
            RaceKind::AtomicRead => "atomic read",
            RaceKind::AtomicWrite => "atomic write",
        }
    }
}

impl RaceAccess {
    /// The value as its type shows it, where that is a scalar; else its bytes.
    pub fn shown(&self) -> String {
        macro_rules! scalar {
            ($($t:ident)*) => {
                match &*self.type_name {
                    "bool" if self.value.len() == 1 => return (self.value[0] != 0).to_string(),
                    $(stringify!($t) => {
                        if let Ok(bytes) = (&*self.value).try_into() {
                            return format!("{:?}", $t::from_ne_bytes(bytes));
                        }
                    })*
                    _ => {}
                }
            };
        }
        scalar!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64);
        if self.value.len() > 16 {
            return format!("{} bytes", self.value.len());
        }
        let hex: Vec<String> = self.value.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("bytes {}", hex.join(" "))
    }

    /// `write of 7 by block (0,0,0) thread (1,0,0)`.
    pub(crate) fn sentence(&self) -> String {
        let by = if self.by_copy { "a copy of " } else { "" };
        format!("{} of {} by {by}block {} thread {}", self.kind.verb(), self.shown(), self.block, self.thread)
    }
}

impl fmt::Display for RaceMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RaceMemory::Global => write!(f, "of a buffer in global memory"),
            RaceMemory::Shared { declared: Some(location), block } => {
                write!(f, "of the shared array at {location}, of block {block}")
            }
            RaceMemory::Shared { declared: None, block } => write!(f, "of the dynamic shared memory of block {block}"),
        }
    }
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, end) = (self.bytes.start, self.bytes.end);
        write!(f, "data race: {}, and nothing orders it with the ", self.second.sentence())?;
        write!(f, "{} at {}; bytes {start}..{end} {}", self.first.sentence(), self.first.location, self.memory)?;
        write!(f, "; {}", self.help)
    }
}
