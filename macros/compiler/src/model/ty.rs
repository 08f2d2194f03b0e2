//! Types as far as syntax shows them, and the kind of thing that an expression is. The exact types are rustc's.

use phalanx_contract::Groups;
use proc_macro2::TokenStream;

use super::barrier::{Barrier, BarrierScope};
use super::{TypeId, ValueId};

/// A group of threads, smallest first: each may be contained in those after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Group {
    Coalesced,
    Tile,
    ThreadBlock,
    Cluster,
    Grid,
}

impl Group {
    pub(crate) const ALL: [Group; 5] = [Group::Coalesced, Group::Tile, Group::ThreadBlock, Group::Cluster, Group::Grid];

    /// The type's name in Rust.
    pub(crate) fn rust_name(self) -> &'static str {
        match self {
            Group::Coalesced => "CoalescedGroup",
            Group::Tile => "Tile",
            Group::ThreadBlock => "ThreadBlock",
            Group::Cluster => "Cluster",
            Group::Grid => "Grid",
        }
    }

    /// The type's name in CUDA C++; a tile's is followed by its size.
    pub(crate) fn cuda_name(self) -> &'static str {
        match self {
            Group::Coalesced => "coalesced_group",
            Group::Tile => "thread_block_tile",
            Group::ThreadBlock => "thread_block",
            Group::Cluster => "cluster_group",
            Group::Grid => "grid_group",
        }
    }

    /// The function that gives the running thread's, in Rust and in CUDA C++.
    pub(crate) fn origin(self) -> &'static str {
        match self {
            Group::Coalesced => "coalesced_threads",
            Group::Tile => "tiled_partition",
            Group::ThreadBlock => "this_thread_block",
            Group::Cluster => "this_cluster",
            Group::Grid => "this_grid",
        }
    }

    /// `barrier_arrive` and `barrier_wait`. Every group has `sync`.
    pub(crate) fn has_split_barrier(self) -> bool {
        !self.is_of_a_warp()
    }

    /// Its threads are of one warp.
    pub(crate) fn is_of_a_warp(self) -> bool {
        match self {
            Group::Coalesced | Group::Tile => true,
            Group::ThreadBlock | Group::Cluster | Group::Grid => false,
        }
    }

    /// The set of this group alone.
    pub(crate) fn flag(self) -> Groups {
        match self {
            Group::ThreadBlock => Groups::THREAD_BLOCK,
            Group::Cluster => Groups::CLUSTER,
            Group::Grid => Groups::GRID,
            Group::Tile => Groups::TILE,
            Group::Coalesced => Groups::COALESCED,
        }
    }

    /// In a sentence.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Group::Coalesced => "coalesced group",
            Group::Tile => "tile",
            Group::ThreadBlock => "thread block",
            Group::Cluster => "cluster",
            Group::Grid => "grid",
        }
    }

    pub(crate) fn by_name(name: &str) -> Option<Group> {
        Group::ALL.into_iter().find(|group| group.rust_name() == name)
    }
}

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

/// The scalar types, by their Rust names, which are also the prelude's.
pub(crate) const SCALARS: [&str; 15] =
    ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32", "f64", "bool"];

/// The scalar of this name.
pub(crate) fn scalar(name: &str) -> Option<&'static str> {
    SCALARS.into_iter().find(|scalar| *scalar == name)
}

/// A type that the syntax shows, with the user's tokens for the host body.
#[derive(Debug, Clone)]
pub(crate) struct ValueType {
    pub(crate) shape: TypeShape,
    pub(crate) tokens: TokenStream,
}

#[derive(Debug, Clone)]
pub(crate) enum TypeShape {
    Scalar(&'static str),
    Array(Box<TypeShape>, ValueId),
    /// A generic parameter or an alias.
    Named(TypeId),
    Token(Group),
    OptionalToken(Group),
    /// `ArrivalToken<Barrier>`
    BarrierToken(BarrierScope),
    Tuple(Vec<TypeShape>),
    Option(Box<TypeShape>),
}

impl TypeShape {
    /// Of a scalar.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let TypeShape::Scalar(name) = self else { return None };
        match *name {
            "bool" => Some(1),
            "usize" | "isize" => Some(8),
            name => {
                name.trim_start_matches(|of: char| of.is_ascii_alphabetic()).parse::<u64>().ok().map(|bits| bits / 8)
            }
        }
    }
}

/// What a parameter can be.
#[derive(Debug, Clone)]
pub(crate) enum ParamType {
    Value(ValueType),
    /// `&T`, `&mut T`
    Reference {
        mutable: bool,
        target: ValueType,
    },
    /// `&[T]`, `&mut [T]`
    Slice {
        mutable: bool,
        element: ValueType,
    },
    /// `Option<&[T]>`, `Option<&mut [T]>`
    OptionalSlice {
        mutable: bool,
        element: ValueType,
    },
    /// `&Cluster`
    Group(Group),
    /// `&Tile<32>`, with the size as the user wrote it.
    Tile {
        size: ValueId,
        tokens: TokenStream,
    },
    /// `&SharedArray<T, N>` and the like, with the type's own tokens.
    Memory {
        memory: Memory,
        element: ValueType,
        length: Option<ValueId>,
        /// Written with `&`.
        by_reference: bool,
        /// The type without its `&`.
        tokens: TokenStream,
    },
    /// `&Barrier`, `&Barriers<4>`, `RemoteBarrier`
    Barrier {
        barrier: Barrier,
        /// Of an array.
        length: Option<ValueId>,
        brand: Option<Brand>,
    },
    /// `impl Fn(A) -> B`
    Closure {
        /// Among the closures of the function.
        index: usize,
        inputs: Vec<ValueType>,
        output: Option<ValueType>,
    },
}

/// What tells a barrier of a signature, or its tokens, from others.
#[derive(Debug, Clone)]
pub(crate) enum Brand {
    /// The user wrote none: a type parameter of the function, by its number.
    Elided(usize),
    /// What the user wrote: `Barrier<B>`.
    Written(TokenStream),
}
