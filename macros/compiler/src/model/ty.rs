//! The types that a kernel writes, as far as syntax shows them. The exact types are rustc's.

#![warn(clippy::wildcard_enum_match_arm)]

use proc_macro2::{Ident, Span, TokenStream};

use super::barrier::{Barrier, BarrierScope};
use super::group::Group;
use super::kind::{Kind, Memory};
use super::{TypeId, ValueId};

/// The scalar types, by their Rust names, which are also their names in the prelude.
pub(crate) const SCALARS: [&str; 15] =
    ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32", "f64", "bool"];

/// Returns the scalar type of this name.
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
    /// The name that the user wrote, for the checks, and what rustc resolves it to, for the text: an alias may have the
    /// name of a scalar.
    Scalar(&'static str, TypeId),
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
    /// Returns the size of a scalar in bytes.
    pub(crate) fn bytes(&self) -> Option<u64> {
        if let TypeShape::Scalar(name, _) = self { bytes_of(name) } else { None }
    }
}

/// Returns the size in bytes of a scalar of this name: all but `bool` and the sizes of pointers say it.
pub(crate) fn bytes_of(scalar: &str) -> Option<u64> {
    match scalar {
        "bool" => Some(1),
        "usize" | "isize" => Some(8),
        name => name.trim_start_matches(|of: char| of.is_ascii_alphabetic()).parse::<u64>().ok().map(|bits| bits / 8),
    }
}

/// The type of a parameter.
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
    /// `&SharedArray<T, N>` and its like, with the type's own tokens.
    Memory {
        memory: Memory,
        element: ValueType,
        length: Option<ValueId>,
        /// Whether the type is written with `&`.
        by_reference: bool,
        /// The type without its `&`.
        tokens: TokenStream,
    },
    /// `&TensorMap<Tile>`, `&mut TensorMap<Tile>`
    TensorMap {
        mutable: bool,
        tile: ValueType,
    },
    /// `&Barrier`, `&Barriers<4>`, `RemoteBarrier`
    Barrier {
        barrier: Barrier,
        /// The length of an array of barriers.
        length: Option<ValueId>,
        brand: Option<Brand>,
    },
    /// `impl Fn(A) -> B`, `impl FnMut(A) -> B` or `impl FnOnce(A) -> B`
    Closure {
        /// The parameter's index among the closures of the function.
        index: usize,
        inputs: Vec<ValueType>,
        output: Option<ValueType>,
        /// The trait's name, by which rustc knows whether it may change variables of the caller, and whether it is called once.
        calls: &'static str,
    },
}

impl ParamType {
    /// Whether the code of a launch knows something of the argument: of what a slice's address or an integer is a multiple, or how large
    /// an integer is.
    pub(crate) fn is_known_of_a_launch(&self) -> bool {
        match self {
            ParamType::Slice { .. } => true,
            ParamType::Value(value) => {
                matches!(value.shape, TypeShape::Scalar("i32" | "u32" | "i64" | "u64" | "isize" | "usize", _))
            }
            ParamType::Reference { .. }
            | ParamType::OptionalSlice { .. }
            | ParamType::Group(_)
            | ParamType::Tile { .. }
            | ParamType::Memory { .. }
            | ParamType::TensorMap { .. }
            | ParamType::Barrier { .. }
            | ParamType::Closure { .. } => false,
        }
    }
}

/// The brand that distinguishes a barrier of a signature, or its tokens, from others.
#[derive(Debug, Clone)]
pub(crate) enum Brand {
    /// The user wrote none: it is a type parameter of the function, given by its number.
    Elided(usize),
    /// The brand that the user wrote: `B` in `Barrier<B>`.
    Written(TokenStream),
}

impl Brand {
    /// Returns the name of the type parameter that stands for an elided brand.
    pub(crate) fn elided_name(index: usize) -> Ident {
        Ident::new(&format!("__PhalanxBrand{index}"), Span::call_site())
    }
}

/// Returns the C++ type of a value of an `if` or a block, if its kind alone has one; otherwise rustc is asked.
pub(crate) fn known_shape(kind: Kind) -> Option<TypeShape> {
    match kind {
        Kind::Token(group) => Some(TypeShape::Token(group)),
        Kind::OptionalToken(Some(group)) => Some(TypeShape::OptionalToken(group)),
        // It may as well be plain data.
        Kind::OptionalToken(None)
        | Kind::Unknown
        | Kind::Value
        | Kind::Reference { .. }
        | Kind::Extent
        | Kind::Unit
        | Kind::Never
        | Kind::Group(_)
        | Kind::Closure
        | Kind::OptionalMemory(_)
        | Kind::Barrier(_)
        | Kind::TensorMap { .. }
        | Kind::Memory(_) => None,
    }
}
