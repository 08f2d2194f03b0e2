//! A data race as data: both accesses, and what would have ordered them. `sim::race` detects races.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

use crate::location::Location;
use crate::shape::Dim3;

/// Two accesses to the same bytes, at least one of them a write, that happens-before does not order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Race {
    /// The memory that the bytes are in.
    pub memory: RaceMemory,
    /// The byte range, in the buffer or in the block's array.
    pub bytes: Range<usize>,
    /// The access that was executed first under this schedule.
    pub first: RaceAccess,
    /// The access at which the race was detected.
    pub second: RaceAccess,
    /// What would have ordered them.
    pub help: String,
}

/// The memory of a race.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub enum RaceMemory {
    /// Global memory: a `&mut [T]` of the kernel.
    Global,
    /// Shared memory of a block.
    Shared {
        /// The position of the `shared_array` call; `None` for dynamic shared memory.
        declared: Option<Location>,
        /// The index in the grid of the block that owns it.
        block: Dim3,
    },
}

/// One of the two accesses of a race.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RaceAccess {
    /// The kind of the access.
    pub kind: AccessKind,
    /// The position in the Rust source.
    pub location: Location,
    /// The index of the thread's block in the grid.
    pub block: Dim3,
    /// The index of the thread in its block.
    pub thread: Dim3,
    /// Whether an asynchronous copy that the thread started makes the access.
    pub by_copy: bool,
    /// The bytes that were read or written, in memory order.
    pub value: Vec<u8>,
    /// The Rust name of the value's type, which is that of the second access.
    pub type_name: String,
}

/// The kind of an access to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum AccessKind {
    /// A plain read.
    Read,
    /// A plain write.
    Write,
    /// An atomic operation that does not write.
    AtomicRead,
    /// An atomic operation that writes.
    AtomicWrite,
}

impl AccessKind {
    fn verb(self) -> &'static str {
        match self {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::AtomicRead => "atomic read",
            AccessKind::AtomicWrite => "atomic write",
        }
    }
}

impl RaceAccess {
    /// Returns the value as text: as its type formats it, if that is a scalar, and otherwise its bytes.
    pub fn value_text(&self) -> String {
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

    /// Returns the access as a phrase: `write of 7 by block (0,0,0) thread (1,0,0)`.
    pub(crate) fn sentence(&self) -> String {
        let by = if self.by_copy { "a copy of " } else { "" };
        format!("{} of {} by {by}block {} thread {}", self.kind.verb(), self.value_text(), self.block, self.thread)
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
        write!(f, "data race: {} is not ordered with ", self.second.sentence())?;
        write!(f, "{} at {}; bytes {start}..{end} {}", self.first.sentence(), self.first.location, self.memory)?;
        write!(f, "; {}", self.help)
    }
}
