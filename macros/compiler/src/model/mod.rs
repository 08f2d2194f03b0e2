//! A kernel or device function as plain data: what the parser makes, the checks read and the printers print. No syn,
//! no quote, and nothing is decided here.

pub(crate) mod atomic;
pub(crate) mod barrier;
pub(crate) mod copy;
pub(crate) mod effect;
pub(crate) mod expr;
pub(crate) mod facts;
pub(crate) mod fused_barriers;
pub(crate) mod group;
pub(crate) mod group_barrier;
pub(crate) mod inline_cuda;
pub(crate) mod kind;
pub(crate) mod message;
pub(crate) mod method;
pub(crate) mod op;
pub(crate) mod options;
pub(crate) mod pattern;
pub(crate) mod place;
pub(crate) mod query;
pub(crate) mod range;
pub(crate) mod ty;
pub(crate) mod walk;
pub(crate) mod warp;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};

use crate::span::SpanRange;
use expr::Block;
use kind::Kind;
use options::Options;
use ty::ValueType;

/// Index into [`Function::locals`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LocalId(pub(crate) usize);

/// Index of a slot that rustc fills with a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SlotId(pub(crate) u16);

/// Index into [`Function::types`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TypeId(pub(crate) u16);

/// Index into [`Function::values`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ValueId(pub(crate) u16);

/// Index into [`Function::sites`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SiteId(pub(crate) u16);

/// Index of a loop or labelled block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LoopId(pub(crate) usize);

/// A kernel or device function.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: Ident,
    /// What people call it: `name`, `Type::name`.
    pub(crate) title: String,
    pub(crate) vis: TokenStream,
    /// Doc comments and lint attributes, for what stands for the function.
    pub(crate) attrs: TokenStream,
    /// Lint attributes, for the body.
    pub(crate) lints: TokenStream,
    pub(crate) role: Role,
    pub(crate) options: Options,
    pub(crate) generics: Generics,
    pub(crate) params: Vec<Param>,
    pub(crate) ret: Option<Return>,
    pub(crate) locals: Vec<Local>,
    pub(crate) slots: Vec<SlotUse>,
    /// Types that the text names and only rustc knows: generic parameters, aliases.
    pub(crate) types: Vec<TokenStream>,
    /// Constants that the text names.
    pub(crate) values: Vec<Constant>,
    pub(crate) sites: Vec<Site>,
    /// Element type and length of each `shared_array`, and of what holds barriers, for the count of static shared memory.
    pub(crate) shared: Vec<(TokenStream, ValueId)>,
    /// Brands of barriers and tokens of the signature that have no name: type parameters.
    pub(crate) brands: usize,
    /// `dynamic_shared` is used.
    pub(crate) dynamic_shared: bool,
    pub(crate) body: Block,
}

/// What the attribute made of the function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Kernel,
    Device,
    /// A device function in an `impl`. It uses no collectives: its callers do not see which function it is.
    Method,
}

/// Type and const parameters, as the user wrote them.
#[derive(Debug, Default)]
pub(crate) struct Generics {
    /// `T: Number`, `const N: usize`.
    pub(crate) declared: Vec<TokenStream>,
    pub(crate) params: Vec<GenericParam>,
    pub(crate) where_clause: TokenStream,
}

impl Generics {
    /// Whether one of the parameters stands in these tokens.
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

/// What `#[device]` made of an `impl` or a `trait`.
#[derive(Debug)]
pub(crate) struct Implementation {
    /// All before the braces, as the user wrote it.
    pub(crate) head: TokenStream,
    /// Constants and types.
    pub(crate) others: Vec<TokenStream>,
    pub(crate) methods: Vec<Method>,
}

/// A method, as a function beside the `impl`, and what it takes to stand in the `impl` as well.
#[derive(Debug)]
pub(crate) struct Method {
    /// Its first parameter is the receiver, if there is one.
    pub(crate) function: Function,
    pub(crate) name: Ident,
    pub(crate) vis: TokenStream,
    pub(crate) attrs: TokenStream,
    /// The generics that are not the type's.
    pub(crate) own: Generics,
    pub(crate) has_receiver: bool,
    pub(crate) of_trait: bool,
}

#[derive(Debug)]
pub(crate) enum GenericParam {
    Type(Ident),
    /// With its type.
    Const(Ident, TokenStream),
}

#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) local: LocalId,
    pub(crate) ty: ty::ParamType,
}

/// A declared result.
#[derive(Debug)]
pub(crate) struct Return {
    pub(crate) shape: ty::TypeShape,
    /// As the user wrote it.
    pub(crate) tokens: TokenStream,
}

#[derive(Debug)]
pub(crate) struct Local {
    pub(crate) name: Ident,
    /// Where `mut` stands.
    pub(crate) mutable: Option<Span>,
    pub(crate) kind: Kind,
    pub(crate) ty: Option<ValueType>,
    /// Filled at the assignments of a local that is declared without type and value.
    pub(crate) slot: Option<SlotId>,
    /// Syntax shows that it is an array, or a reference to one.
    pub(crate) is_array: bool,
}

/// What a slot is filled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlotUse {
    Type,
    Callee,
    /// The values of a message, and what makes text of them.
    Message,
    /// The type of a `None`.
    Option,
    /// It was asked for, and is not needed.
    Unused,
}

/// A constant of the Rust program that the body names.
#[derive(Debug)]
pub(crate) struct Constant {
    /// The path or length expression, evaluated in Rust.
    pub(crate) tokens: TokenStream,
    /// What to call it in the text.
    pub(crate) name: String,
    /// It stands in the body as an expression, so the text declares it.
    pub(crate) declared: bool,
    /// What it is where only its digits are printed: a length is a `usize`, a tile's size a `u32`.
    pub(crate) ty: Option<&'static str>,
    /// A pattern compares with it.
    pub(crate) in_pattern: bool,
    /// The number that it is, if it is a literal.
    pub(crate) literal: Option<u64>,
}

/// A place that can fail at run time, or that prints.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) at: SpanRange,
    pub(crate) message: SiteMessage,
}

/// What is said where it fails.
#[derive(Debug)]
pub(crate) enum SiteMessage {
    /// What the language says.
    None,
    Text(String),
    /// A message with values.
    Slot(SlotId),
}

impl Function {
    pub(crate) fn local(&self, id: LocalId) -> &Local {
        &self.locals[id.0]
    }

    pub(crate) fn is_unsafe(&self) -> bool {
        self.options.unchecked.is_some()
    }

    pub(crate) fn kind(&self, id: LocalId) -> Kind {
        self.locals[id.0].kind
    }
}
