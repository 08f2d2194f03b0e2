//! A kernel or device function as plain data: the parser makes it, the checks read it, the printers print it. It uses
//! neither syn nor quote, and it decides nothing.

pub(crate) mod array_functions;
pub(crate) mod atomic;
pub(crate) mod barrier;
pub(crate) mod capability;
pub(crate) mod copy;
pub(crate) mod effect;
pub(crate) mod expr;
pub(crate) mod facts;
pub(crate) mod followed;
pub(crate) mod fused_barriers;
pub(crate) mod group;
pub(crate) mod group_barrier;
pub(crate) mod inline_cuda;
pub(crate) mod kind;
pub(crate) mod message;
pub(crate) mod method;
pub(crate) mod name;
pub(crate) mod op;
pub(crate) mod operator;
pub(crate) mod options;
pub(crate) mod pattern;
pub(crate) mod place;
pub(crate) mod query;
pub(crate) mod range;
pub(crate) mod table;
pub(crate) mod token;
pub(crate) mod ty;
pub(crate) mod walk;
pub(crate) mod warp;
pub(crate) mod words;

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};

use crate::rules::Rule;
use crate::span::SpanRange;
use expr::{Block, StmtKind};
use kind::Kind;
use options::{Extents, Options, Waiver};
use ty::{ParamType, ValueType};

/// An index into [`Function::locals`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LocalId(pub(crate) usize);

/// The index of a slot that rustc fills with a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SlotId(pub(crate) u16);

/// An index into [`Function::types`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TypeId(pub(crate) u16);

/// An index into [`Function::values`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ValueId(pub(crate) u16);

/// An index into [`Function::sites`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SiteId(pub(crate) u16);

/// The index of a loop or labelled block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LoopId(pub(crate) usize);

/// The definition of a constant in a text.
#[derive(Debug, Clone)]
pub(crate) struct Definition {
    /// The constant's type, a scalar, or that it is a table, or another name of a type.
    pub(crate) ty: &'static str,
    pub(crate) value: TokenStream,
}

impl Definition {
    /// The type of a constant that is an array of which the text lists the rows.
    pub(crate) const TABLE: &'static str = "[_]";
    /// Stands in place of a constant's type, for another name of an array type or of a scalar.
    pub(crate) const ALIAS: &'static str = "type";
}

/// The key of the size of a type among the definitions.
pub(crate) fn size_of(name: &str) -> String {
    format!("::core::mem::size_of::<{name}>()")
}

/// The key of the instances of a function among the definitions: the arguments of its generics.
pub(crate) fn instances_of(name: &str) -> String {
    format!("{name}::<>")
}

/// A constant of numbers that the text shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Listed {
    Number(i64),
    Array(Vec<Listed>),
    Tuple(Vec<Listed>),
}

/// The definitions of constants by name, each with a value of its own.
pub(crate) type Definitions = BTreeMap<String, Vec<Definition>>;

/// A kernel or device function.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: Ident,
    /// The function's name in messages: `name`, `Type::name`.
    pub(crate) title: String,
    pub(crate) vis: TokenStream,
    /// Doc comments and lint attributes for the items that replace the function.
    pub(crate) attrs: TokenStream,
    /// Lint attributes for the body.
    pub(crate) lints: TokenStream,
    pub(crate) role: Role,
    pub(crate) options: Options,
    pub(crate) generics: Generics,
    pub(crate) params: Vec<Param>,
    pub(crate) ret: Option<Return>,
    pub(crate) locals: Vec<Local>,
    pub(crate) slots: Vec<SlotUse>,
    /// Types that the text names and that only rustc knows: generic parameters and aliases.
    pub(crate) types: Vec<TokenStream>,
    /// Constants that the text names.
    pub(crate) values: Vec<Constant>,
    pub(crate) sites: Vec<Site>,
    /// The element type and length of each `shared_array` and of each object that holds barriers, from which the amount
    /// of static shared memory is computed.
    pub(crate) shared: Vec<(TokenStream, ValueId)>,
    /// Whether the body calls a method with the name of one that is written in the kernel language for Rust's own types.
    pub(crate) calls_library: bool,
    /// The methods that values of Rust's own types do not have in a kernel, if they are called on such a value, by name.
    pub(crate) refused: BTreeMap<String, RefusedMethod>,
    /// Whether an operator may be a function or one of numbers, of operands of which the text shows no type.
    pub(crate) has_open_operators: bool,
    /// Whether the function is that of an operator.
    pub(crate) is_operator: bool,
    /// What the parser took the names for that it recognised.
    pub(crate) claims: Vec<name::Claim>,
    /// The number of elided brands of barriers and tokens in the signature, each a type parameter.
    pub(crate) brands: usize,
    /// The identity of the function's text, by which its callers know it.
    pub(crate) text: u64,
    /// The signature and the body of a `const fn` as the user wrote them, for the host's constants.
    pub(crate) constant: Option<TokenStream>,
    /// Whether the function uses `dynamic_shared`.
    pub(crate) dynamic_shared: bool,
    /// The constants that the file around a kernel with phase barriers defines. The kernel may name others: rustc has to confirm
    /// what rests on these.
    pub(crate) definitions: Definitions,
    /// The constants of numbers that the body itself defines, by name.
    pub(crate) listed: BTreeMap<String, Listed>,
    /// The loops that `#[unroll]` is on.
    pub(crate) unrolled: BTreeMap<LoopId, Unroll>,
    /// The rules that `#[unchecked(...)]` switches off in blocks of the function.
    pub(crate) block_waivers: Vec<Waiver>,
    pub(crate) body: Block,
}

/// What rustc says where a method is one of Rust's own types.
#[derive(Debug)]
pub(crate) struct RefusedMethod {
    pub(crate) name: Ident,
    /// The number of arguments beside the receiver.
    pub(crate) arguments: usize,
    /// The sentence, with `{Self}` for the type.
    pub(crate) message: String,
    pub(crate) instead: String,
}

/// How far the compiler of CUDA C++ unrolls a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unroll {
    /// `#[unroll]`: all iterations, if their number is a constant.
    Fully,
    /// `#[unroll(4)]`: this number of iterations at a time.
    By(ValueId),
    /// Without an attribute: so many iterations at a time.
    Ahead(u64),
}

/// The role that the attribute gives the function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Kernel,
    Device,
    /// A device function in an `impl`. It uses no collectives, because its callers do not see which function they call.
    Method,
}

/// Type and const parameters, as the user wrote them.
#[derive(Debug, Default)]
pub(crate) struct Generics {
    /// The parameters as they are declared: `T: Number`, `const N: usize`.
    pub(crate) declared: Vec<TokenStream>,
    pub(crate) params: Vec<GenericParam>,
    pub(crate) where_clause: TokenStream,
}

impl Generics {
    /// Whether one of the parameters occurs in these tokens.
    pub(crate) fn names_one_of(&self, tokens: &TokenStream) -> bool {
        tokens.clone().into_iter().any(|tree| match tree {
            TokenTree::Ident(ident) => self.params.iter().any(|param| match param {
                GenericParam::Type(name) | GenericParam::Const(name, _) => *name == ident,
            }),
            TokenTree::Group(group) => self.names_one_of(&group.stream()),
            TokenTree::Punct(_) | TokenTree::Literal(_) => false,
        })
    }
}

impl Generics {
    /// Whether a parameter has this name.
    pub(crate) fn has_parameter(&self, name: &str) -> bool {
        self.params.iter().any(|param| match param {
            GenericParam::Type(ident) | GenericParam::Const(ident, _) => ident == name,
        })
    }

    /// Whether a bound of this name is written anywhere.
    pub(crate) fn has_bound(&self, name: &str) -> bool {
        fn within(tokens: TokenStream, name: &str) -> bool {
            tokens.into_iter().any(|tree| match tree {
                TokenTree::Ident(ident) => ident == name,
                TokenTree::Group(group) => within(group.stream(), name),
                TokenTree::Punct(_) | TokenTree::Literal(_) => false,
            })
        }
        self.declared.iter().chain([&self.where_clause]).any(|tokens| within(tokens.clone(), name))
    }
}

/// An `impl` or a `trait` under `#[device]`.
#[derive(Debug)]
pub(crate) struct Implementation {
    /// The tokens before the braces, as the user wrote them.
    pub(crate) head: TokenStream,
    /// Associated constants and types.
    pub(crate) others: Vec<TokenStream>,
    pub(crate) methods: Vec<Method>,
    /// The operator that it is of.
    pub(crate) operator: Option<OperatorImpl>,
    /// The tokens before the braces of a second `impl`, of the type itself, which has what bodies call: a comparison of the standard library
    /// has no other members than Rust's.
    pub(crate) inherent: Option<TokenStream>,
    /// The conversion that it is of.
    pub(crate) conversion: Option<ConversionImpl>,
}

/// `impl From<Source> for OwnType`.
#[derive(Debug)]
pub(crate) struct ConversionImpl {
    pub(crate) generics: TokenStream,
    pub(crate) own_type: TokenStream,
    pub(crate) where_clause: TokenStream,
    pub(crate) source: TokenStream,
    /// Whether `x.into()` can be implemented, too: Rust allows it for types, and not for parameters of the `impl`.
    pub(crate) has_into: bool,
}

/// An `impl` of an operator's trait.
#[derive(Debug)]
pub(crate) struct OperatorImpl {
    pub(crate) generics: TokenStream,
    pub(crate) own_type: TokenStream,
    pub(crate) where_clause: TokenStream,
    /// The trait of the standard library.
    pub(crate) name: Ident,
    /// The trait by which bodies find the function.
    pub(crate) host_trait: Ident,
    /// The type of the right operand.
    pub(crate) right: Option<TokenStream>,
    pub(crate) assigns: bool,
}

/// A method, as a function beside the `impl`, and what its declaration inside the `impl` needs.
#[derive(Debug)]
pub(crate) struct Method {
    /// The function, whose first parameter is the receiver, if there is one.
    pub(crate) function: Function,
    pub(crate) name: Ident,
    pub(crate) vis: TokenStream,
    pub(crate) attrs: TokenStream,
    /// The generics that the method declares itself, without those of the type.
    pub(crate) own: Generics,
    pub(crate) has_receiver: bool,
    pub(crate) of_trait: bool,
}

#[derive(Debug)]
pub(crate) enum GenericParam {
    Type(Ident),
    /// A const parameter with its type.
    Const(Ident, TokenStream),
}

#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) local: LocalId,
    pub(crate) ty: ParamType,
}

impl Param {
    /// Whether it is a number of an unsigned type.
    pub(crate) fn is_unsigned(&self) -> bool {
        let ParamType::Value(ty) = &self.ty else { return false };
        matches!(ty.shape, ty::TypeShape::Scalar(name, _) if name.starts_with('u'))
    }
}

/// A declared result type.
#[derive(Debug)]
pub(crate) struct Return {
    pub(crate) shape: ty::TypeShape,
    /// The type as the user wrote it.
    pub(crate) tokens: TokenStream,
}

#[derive(Debug)]
pub(crate) struct Local {
    pub(crate) name: Ident,
    /// The place of `mut`, if it is written.
    pub(crate) mutable: Option<Span>,
    pub(crate) kind: Kind,
    pub(crate) ty: Option<ValueType>,
    /// The slot of a local that is declared without type and value; its assignments fill it.
    pub(crate) slot: Option<SlotId>,
    /// Whether syntax shows that the local is an array, or a reference to one.
    pub(crate) is_array: bool,
    /// The length of the arrays that are the elements of a shared array, if the local is one of these.
    pub(crate) rows: Option<ValueId>,
    /// Whether the local is a reference to memory, a barrier or a group that has another name.
    pub(crate) by_reference: bool,
    /// The loop behind the declaration of an array that `std::array::from_fn` makes, which assigns its elements.
    pub(crate) filled_by: Option<LoopId>,
}

/// The content of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlotUse {
    Type,
    Callee,
    /// The types of a message's values, and of the closure that formats them.
    Message,
    /// The type of a `None`.
    Option,
    /// The slot was allocated, and is not needed.
    Unused,
}

/// A constant of the Rust program that the body names.
#[derive(Debug)]
pub(crate) struct Constant {
    /// The path or length expression, which Rust evaluates.
    pub(crate) tokens: TokenStream,
    /// The constant's name in the text.
    pub(crate) name: String,
    /// Whether the body uses the constant as an expression, so that the text declares it.
    pub(crate) declared: bool,
    /// The type of a constant of which only the digits are printed: `usize` for a length, `u32` for the size of a tile.
    pub(crate) ty: Option<&'static str>,
    /// Whether a pattern compares with it.
    pub(crate) in_pattern: bool,
    /// Whether the file shows that it is a variant of an enum whose other variants have fields.
    pub(crate) is_variant: bool,
    /// The value of a literal.
    pub(crate) literal: Option<u64>,
}

/// A point of the source that can fail at run time, or that prints.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) at: SpanRange,
    pub(crate) message: SiteMessage,
}

/// The message of a site.
#[derive(Debug)]
pub(crate) enum SiteMessage {
    /// The language's own message.
    None,
    Text(String),
    /// A message with values.
    Slot(SlotId),
}

impl Function {
    /// Whether host code can construct the arguments.
    pub(crate) fn takes_values(&self) -> bool {
        self.params.iter().all(|param| match &param.ty {
            ParamType::Value(_) | ParamType::Reference { .. } | ParamType::Closure { .. } => true,
            ParamType::Slice { .. }
            | ParamType::OptionalSlice { .. }
            | ParamType::Group(_)
            | ParamType::Tile { .. }
            | ParamType::TensorMap { .. }
            | ParamType::Barrier { .. }
            | ParamType::Memory { .. } => false,
        })
    }

    pub(crate) fn local(&self, id: LocalId) -> &Local {
        &self.locals[id.0]
    }

    pub(crate) fn uses_phase_barriers(&self) -> bool {
        self.locals.iter().any(|local| matches!(local.kind, Kind::Barrier(_)))
    }

    /// Whether its threads are followed, because they have memory in common.
    pub(crate) fn is_traced(&self) -> bool {
        self.role == Role::Kernel && (self.dynamic_shared || !self.shared.is_empty())
    }

    /// Whether each value of some constants makes another instance of the function.
    pub(crate) fn is_generic_over_constants(&self) -> bool {
        self.generics.params.iter().any(|param| matches!(param, GenericParam::Const(..)))
    }

    /// Whether a constant of the body is the only extent in this dimension of the attribute: both name it alike, and the body
    /// declares no other of that name.
    pub(crate) fn is_extent(&self, value: ValueId, extents: &Extents) -> bool {
        let [extent] = &extents.each[..] else { return false };
        let name = extent.tokens.to_string();
        let names_it = |declared: &Ident| name.contains(&declared.to_string());
        !self.declares(&names_it) && self.values[usize::from(value.0)].tokens.to_string() == name
    }

    /// Whether an item of the body mentions such a name.
    pub(crate) fn declares(&self, is_name: &dyn Fn(&Ident) -> bool) -> bool {
        let names_it = |tree: TokenTree| matches!(tree, TokenTree::Ident(ident) if is_name(&ident));
        self.items().any(|item| item.clone().into_iter().any(names_it))
    }

    /// The constants, types and imports that the body declares.
    pub(crate) fn items(&self) -> impl Iterator<Item = &TokenStream> {
        self.body.statements.iter().filter_map(|statement| match &statement.kind {
            // What rustc evaluates for its failure alone declares nothing.
            StmtKind::Item(item) if matches!(item.clone().into_iter().nth(1), Some(TokenTree::Group(_))) => None,
            StmtKind::Item(item) => Some(item),
            StmtKind::Let { .. }
            | StmtKind::Split { .. }
            | StmtKind::LetPattern { .. }
            | StmtKind::Discard(_)
            | StmtKind::Expr(_) => None,
        })
    }

    pub(crate) fn is_unsafe(&self) -> bool {
        self.options.unchecked.is_some()
    }

    /// The rules that are off, in the whole function or in a block.
    pub(crate) fn waivers(&self) -> impl Iterator<Item = &Waiver> {
        self.options.unchecked.iter().flatten().chain(&self.block_waivers)
    }

    /// Whether the rule is off anywhere in the function.
    pub(crate) fn waives(&self, rule: Rule) -> bool {
        self.waivers().any(|waiver| waiver.rule == rule)
    }

    /// Whether faults of the rule that are reported at this place are waived.
    pub(crate) fn waives_at(&self, rule: Rule, at: SpanRange) -> bool {
        self.waivers().any(|waiver| waiver.covers(rule, at))
    }

    pub(crate) fn kind(&self, id: LocalId) -> Kind {
        self.locals[id.0].kind
    }
}
