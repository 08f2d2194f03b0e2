//! The kind of thing that an expression is, as far as syntax shows it. The exact types are rustc's.

#![warn(clippy::wildcard_enum_match_arm)]

use super::barrier::Barrier;
use super::group::Group;

/// Memory that is indexed through the host API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// `&[T]`
    Global,
    /// `&mut [T]`
    GlobalMut,
    SharedArray,
    /// A subslice of shared memory: of an array, or of dynamic shared memory.
    SharedSlice,
    RemoteArray,
    RemoteSlice,
}

impl Memory {
    /// Returns the memory that `&` or `&mut` makes of a part of this memory.
    pub(crate) fn part(self, mutable: bool) -> Memory {
        match self {
            Memory::GlobalMut if mutable => Memory::GlobalMut,
            Memory::Global | Memory::GlobalMut => Memory::Global,
            Memory::SharedArray | Memory::SharedSlice => Memory::SharedSlice,
            Memory::RemoteArray | Memory::RemoteSlice => Memory::RemoteSlice,
        }
    }

    /// Whether it is itself a reference that the host body copies: an address and a length.
    pub(crate) fn is_slice(self) -> bool {
        match self {
            Memory::Global | Memory::GlobalMut | Memory::SharedSlice | Memory::RemoteSlice => true,
            Memory::SharedArray | Memory::RemoteArray => false,
        }
    }
}

/// The kind of an expression, as far as syntax shows it: enough to know which operation a method call names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An error was reported; no further one is.
    Unknown,
    /// Plain data: scalars, arrays, structs, enums, tuples, and options of them.
    Value,
    /// A parameter `&T` or `&mut T` that refers to a value.
    Reference {
        mutable: bool,
    },
    /// A `Dim3`: three extents, `x`, `y` and `z`.
    Extent,
    Unit,
    /// The kind of `return` and `break`, which have no value.
    Never,
    Group(Group),
    Token(Group),
    /// `Option<ArrivalToken<_>>`; the group is unknown where only `None` was seen.
    OptionalToken(Option<Group>),
    Memory(Memory),
    /// A parameter `&TensorMap<Tile>` or `&mut TensorMap<Tile>`.
    TensorMap {
        mutable: bool,
    },
    Barrier(Barrier),
    /// A parameter `Option<&[T]>` or `Option<&mut [T]>`.
    OptionalMemory(Memory),
    /// A closure, or a parameter that is one.
    Closure,
}

impl Kind {
    /// Returns the more informative of the kinds of two arms of an `if`.
    pub(crate) fn join(self, other: Kind) -> Kind {
        match (self, other) {
            (Kind::Unknown | Kind::Never, kind)
            | (Kind::OptionalToken(None), kind @ (Kind::OptionalToken(_) | Kind::Value)) => kind,
            (kind, _) => kind,
        }
    }

    /// Returns the group whose token it is, or may be.
    pub(crate) fn token(self) -> Option<Group> {
        match self {
            Kind::Token(group) => Some(group),
            Kind::OptionalToken(group) => group,
            Kind::Unknown
            | Kind::Value
            | Kind::Reference { .. }
            | Kind::Extent
            | Kind::Unit
            | Kind::Never
            | Kind::Group(_)
            | Kind::Memory(_)
            | Kind::TensorMap { .. }
            | Kind::Barrier(_)
            | Kind::OptionalMemory(_)
            | Kind::Closure => None,
        }
    }

    /// Returns the kind's name for a sentence.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Kind::Unknown => "an unknown value",
            Kind::Value => "a value",
            Kind::Reference { .. } => "a reference",
            Kind::Extent => "a `Dim3`",
            Kind::Unit => "`()`",
            Kind::Never => "`!`",
            Kind::Group(Group::Coalesced) => "a `CoalescedGroup`",
            Kind::Group(Group::Tile) => "a `Tile`",
            Kind::Group(Group::ThreadBlock) => "a `ThreadBlock`",
            Kind::Group(Group::Cluster) => "a `Cluster`",
            Kind::Group(Group::Grid) => "a `Grid`",
            Kind::Token(_) => "an `ArrivalToken`",
            Kind::OptionalToken(_) => "an `Option<ArrivalToken>`",
            Kind::Closure => "a closure",
            Kind::OptionalMemory(_) => "an optional slice",
            Kind::TensorMap { mutable: false } => "a `&TensorMap`",
            Kind::TensorMap { mutable: true } => "a `&mut TensorMap`",
            Kind::Barrier(barrier) => barrier.noun(),
            Kind::Memory(Memory::Global) => "a `&[T]`",
            Kind::Memory(Memory::GlobalMut) => "a `&mut [T]`",
            Kind::Memory(Memory::SharedArray) => "a `SharedArray`",
            Kind::Memory(Memory::SharedSlice) => "a `SharedSlice`",
            Kind::Memory(Memory::RemoteArray) => "a `RemoteArray`",
            Kind::Memory(Memory::RemoteSlice) => "a `RemoteSlice`",
        }
    }
}
