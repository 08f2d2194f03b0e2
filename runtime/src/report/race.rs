//! A data race as data: both accesses, and what would have ordered them. `sim::race` detects races.

use std::fmt;
use std::ops::Range;

use super::render::Note;
use crate::location::Location;
use crate::shape::Dim3;

/// Two accesses to the same bytes, at least one of them a write, that happens-before does not order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Race {
    /// The memory that the bytes are in.
    pub memory: RaceMemory,
    /// The bytes that both accesses cover, counted from the start of the buffer or of the block's array.
    pub bytes: Range<usize>,
    /// The elements that hold these bytes, if the size of an element is known.
    pub elements: Option<Range<usize>>,
    /// The access that was executed first under this schedule.
    pub first: RaceAccess,
    /// The access at which the race was detected.
    pub second: RaceAccess,
    /// The synchronization between the two accesses that was too weak to order them, if there was one.
    pub weak: Option<WeakSynchronization>,
    /// What would have ordered them.
    pub help: String,
}

/// A synchronization that did not order what came before it, because its fence or its scope was too narrow.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct WeakSynchronization {
    /// The position in the Rust source.
    pub location: Location,
    /// The reason: `this arrival orders no memory`.
    pub what: String,
    /// What would have been strong enough.
    pub help: String,
}

/// The memory of a race.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum RaceMemory {
    /// Global memory: a `&mut [T]` of the kernel.
    Global {
        /// The name of the kernel's parameter.
        name: Option<String>,
    },
    /// Shared memory of a block.
    Shared {
        /// The position of the `shared_array` call; `None` for dynamic shared memory.
        declared: Option<Location>,
        /// The index in the grid of the block that owns it.
        block: Dim3,
    },
}

/// One of the two accesses of a race.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
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
    /// The bytes that the access covers, counted like those of the race.
    pub bytes: Range<usize>,
    /// The bytes that were read or written, in memory order.
    pub value: Vec<u8>,
    /// The Rust name of the value's type, which is that of the second access.
    pub type_name: String,
}

/// The kind of an access to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
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

    /// Returns the access as a phrase: `write of 7 by block (0,0,0) thread (1,0,0)`. If it covers more bytes than both
    /// accesses do, the phrase names them.
    pub(crate) fn sentence(&self, both: &Range<usize>) -> String {
        let Range { start, end } = self.bytes;
        let at = if self.bytes == *both { String::new() } else { format!(" in bytes {start}..{end}") };
        let by = if self.by_copy { "a copy of " } else { "" };
        format!("{} of {}{at} by {by}block {} thread {}", self.kind.verb(), self.value_text(), self.block, self.thread)
    }
}

impl Race {
    /// Returns the title of the report.
    pub(crate) fn title(&self) -> String {
        format!("data race: {}", region(&self.memory, &self.bytes, self.elements.as_ref()))
    }

    /// Returns the labels of the report's lines; the access at which the race was detected is the primary one.
    pub(crate) fn notes(&self) -> Vec<Note<'_>> {
        let note = |access: &'_ RaceAccess| access.sentence(&self.bytes);
        let mut notes = vec![
            Note { location: &self.second.location, text: note(&self.second), is_primary: true },
            Note { location: &self.first.location, text: note(&self.first), is_primary: false },
        ];
        notes.extend(self.weak.iter().map(|weak| Note {
            location: &weak.location,
            text: weak.what.clone(),
            is_primary: false,
        }));
        notes
    }

    /// Returns the sentences that say what would have ordered the accesses.
    pub(crate) fn helps(&self) -> Vec<String> {
        self.weak.iter().map(|weak| weak.help.clone()).chain([self.help.clone()]).collect()
    }
}

/// Returns bytes of a memory as a phrase: `bytes 8..12 (element 2) of`, and the memory.
pub(crate) fn region(memory: &RaceMemory, bytes: &Range<usize>, elements: Option<&Range<usize>>) -> String {
    let elements = match elements {
        Some(elements) if elements.len() == 1 => format!(" (element {})", elements.start),
        Some(Range { start, end }) => format!(" (elements {start}..{end})"),
        None => String::new(),
    };
    format!("bytes {}..{}{elements} {memory}", bytes.start, bytes.end)
}

impl fmt::Display for RaceMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RaceMemory::Global { name: Some(name) } => write!(f, "of `{name}` in global memory"),
            RaceMemory::Global { name: None } => write!(f, "of a buffer in global memory"),
            RaceMemory::Shared { declared: Some(location), block } => {
                write!(f, "of the shared array at {location}, of block {block}")
            }
            RaceMemory::Shared { declared: None, block } => write!(f, "of the dynamic shared memory of block {block}"),
        }
    }
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Race { memory, bytes, elements, first, second, .. } = self;
        write!(f, "data race: {} is not ordered with ", second.sentence(bytes))?;
        write!(f, "{} at {}; {}", first.sentence(bytes), first.location, region(memory, bytes, elements.as_ref()))?;
        self.helps().iter().try_for_each(|help| write!(f, "; {help}"))
    }
}
