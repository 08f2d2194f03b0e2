//! The kind of thing that an expression is, as far as syntax shows it. The exact types are rustc's.

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
    /// A part of shared memory: of an array, or of the dynamic one.
    SharedSlice,
    RemoteArray,
    RemoteSlice,
}

impl Memory {
    /// What `&` or `&mut` makes of a part of it.
    pub(crate) fn part(self, mutable: bool) -> Memory {
        match self {
            Memory::GlobalMut if mutable => Memory::GlobalMut,
            Memory::Global | Memory::GlobalMut => Memory::Global,
            Memory::SharedArray | Memory::SharedSlice => Memory::SharedSlice,
            Memory::RemoteArray | Memory::RemoteSlice => Memory::RemoteSlice,
        }
    }

    /// A reference by itself, which the host body copies: an address and a length.
    pub(crate) fn is_slice(self) -> bool {
        match self {
            Memory::Global | Memory::GlobalMut | Memory::SharedSlice | Memory::RemoteSlice => true,
            Memory::SharedArray | Memory::RemoteArray => false,
        }
    }
}

/// What an expression is, as far as syntax tells: enough to know which operation a method call names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A fault was reported; says nothing more about it.
    Unknown,
    /// Plain data: scalars, arrays, structs, enums, tuples, options of them.
    Value,
    /// `&T` or `&mut T` of a value: a parameter.
    Reference {
        mutable: bool,
    },
    /// Three extents, `x`, `y` and `z`.
    Extent,
    Unit,
    /// Never comes to a value: `return`, `break`.
    Never,
    Group(Group),
    Token(Group),
    /// `Option<ArrivalToken<_>>`; the group is unknown where only `None` was seen.
    OptionalToken(Option<Group>),
    Memory(Memory),
    Barrier(Barrier),
    /// `Option<&[T]>`, `Option<&mut [T]>`: a parameter.
    OptionalMemory(Memory),
    /// A closure, or a parameter that is one.
    Closure,
}

impl Kind {
    /// Of two arms of an `if`: the one that says more.
    pub(crate) fn join(self, other: Kind) -> Kind {
        match (self, other) {
            (Kind::Unknown | Kind::Never, kind)
            | (Kind::OptionalToken(None), kind @ (Kind::OptionalToken(_) | Kind::Value)) => kind,
            (kind, _) => kind,
        }
    }

    /// The group whose token it is, or may be.
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
            | Kind::Barrier(_)
            | Kind::OptionalMemory(_)
            | Kind::Closure => None,
        }
    }

    /// In a sentence.
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
