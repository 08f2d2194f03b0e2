//! The bounds checks of a function that the host may make before a launch, as data: what an index is computed of, in postfix order, and the
//! length of its memory (`phalanx::program::launch_terms`). `lower/launch` finds them.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::model::ty::{ParamType, TypeShape, ValueType};
use crate::model::{Function, Role, SiteId, SlotId, TypeId, ValueId};

/// The checks of a function.
#[derive(Debug, Default)]
pub(crate) struct AtLaunch {
    pub(crate) checks: Vec<LaunchCheck>,
    pub(crate) calls: Vec<LaunchCall>,
    pub(crate) closure_calls: Vec<ClosureCall>,
    /// The parts of what the function returns of which something may be known.
    pub(crate) results: Vec<LaunchPart>,
}

/// A check: an index, or the end of a part of memory, and the length of the memory; or, without an access, a number and what it is less than if it
/// is a word.
#[derive(Debug)]
pub(crate) struct LaunchCheck {
    pub(crate) index: Terms,
    pub(crate) length: Terms,
    pub(crate) is_end: bool,
    pub(crate) vector: Option<VectorCheck>,
    pub(crate) sites: Vec<SiteId>,
}

impl LaunchCheck {
    /// Whether both say the same, of whatever accesses.
    pub(crate) fn is_same(&self, other: &LaunchCheck) -> bool {
        let LaunchCheck { index, length, is_end, vector, sites: _ } = self;
        *index == other.index && *length == other.length && *is_end == other.is_end && *vector == other.vector
    }
}

/// The alignment that a vector's access needs: its first element, counted from where the memory begins, the number of lanes, and the type of an
/// element. There is no address if it is that of a shared array.
#[derive(Debug, PartialEq)]
pub(crate) struct VectorCheck {
    pub(crate) element: Terms,
    pub(crate) lanes: Terms,
    pub(crate) of: TypeId,
    pub(crate) start: Terms,
}

/// A call of a device function. For each argument, it has the parts of which something may be known.
#[derive(Debug)]
pub(crate) struct LaunchCall {
    pub(crate) callee: SlotId,
    pub(crate) arguments: Vec<Vec<LaunchPart>>,
}

/// A part of a struct or a tuple, by the names of the fields to it; with none, all of a value. It is an integer, the length of memory, or a
/// parameter, a field of one or a result, which may be a struct itself.
#[derive(Debug)]
pub(crate) struct LaunchPart {
    pub(crate) path: Vec<String>,
    pub(crate) value: Terms,
}

/// A call of a closure: of a parameter by its index, or of one with a name, behind the parameters.
#[derive(Debug)]
pub(crate) struct ClosureCall {
    pub(crate) closure: u8,
    pub(crate) arguments: Vec<Terms>,
}

/// An expression in postfix order.
pub(crate) type Terms = Vec<Term>;

/// A part of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Term {
    Literal(i64),
    Typed(i64, SlotId),
    Suffixed(i64, &'static str),
    Constant(ValueId),
    Parameter(u8),
    /// A field of a parameter, or a field of a field.
    Field(u8, Vec<String>),
    Length(u8),
    /// The address of memory.
    Start(u8),
    /// The lanes of a vector's type.
    Lanes(SlotId),
    /// What any call of a closure passes to one of its parameters.
    OfClosure(u8, u8),
    /// The same for the closure that is an argument of a call.
    OfPassedClosure(SlotId, u8, u8),
    Float(String),
    SuffixedFloat(String, &'static str),
    TypedFloat(String, SlotId),
    /// A number of the launch, with the dimension of one that has three.
    Launch(&'static str, Option<u8>),
    RankInTile(ValueId),
    TileRank(ValueId),
    /// The result of a call, or a part of it, by the names of the fields to it.
    Result(SlotId, Vec<String>),
    Unknown,
    /// Any value of an integer type; whether that alone says much, as of a byte.
    AnyOf(TypeId, NumberKind, bool),
    /// Any number that a constant has in it.
    AnyIn(ValueId),
    Operation(Operation),
    Cast(TypeId, NumberKind),
    Clamp,
    /// A method of floats: `floor`.
    Rounded(&'static str),
    Limit(Comparison),
    LimitOfSum(Comparison),
    /// The beginning of the sides of a comparison, which end with `LimitByCondition`. They are computed of the value before it, `Conditioned`.
    Condition,
    Conditioned,
    LimitByCondition(Comparison),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    RemEuclid,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    Min,
    Max,
    SaturatingSub,
    AbsDiff,
    Range,
    RangeInclusive,
    Either,
    Stepped,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

impl Comparison {
    /// Returns that of the right side with the left one.
    pub(crate) fn mirrored(self) -> Comparison {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
            Comparison::Equal | Comparison::NotEqual => self,
        }
    }
}

/// Whether something may be known of the value of terms, whatever the launch is. A value that is bounded by one of which that can be said may
/// be unknown itself.
pub(crate) fn may_be_known(terms: &[Term]) -> bool {
    let mut stack: Vec<bool> = Vec::new();
    let pop_last = |stack: &mut Vec<bool>| stack.pop().unwrap_or(false);
    for term in terms {
        let known = match term {
            Term::Literal(_)
            | Term::Typed(..)
            | Term::Suffixed(..)
            | Term::Constant(_)
            | Term::Parameter(_)
            | Term::Field(..)
            | Term::Length(_)
            | Term::Start(_)
            | Term::Lanes(_)
            | Term::OfClosure(..)
            | Term::OfPassedClosure(..)
            | Term::Float(_)
            | Term::SuffixedFloat(..)
            | Term::TypedFloat(..)
            | Term::Launch(..)
            | Term::RankInTile(_)
            | Term::TileRank(_)
            | Term::AnyIn(_)
            | Term::Conditioned
            | Term::Result(..) => true,
            Term::AnyOf(.., is_narrow) => *is_narrow,
            Term::Unknown => false,
            Term::Cast(..) | Term::Rounded(_) => pop_last(&mut stack),
            Term::Operation(operation) => {
                let (second, first) = (pop_last(&mut stack), pop_last(&mut stack));
                match operation {
                    Operation::Min | Operation::Max | Operation::And => first || second,
                    Operation::Rem
                    | Operation::RemEuclid
                    | Operation::Div
                    | Operation::Shr
                    | Operation::Range
                    | Operation::RangeInclusive => second,
                    Operation::Add
                    | Operation::Sub
                    | Operation::Mul
                    | Operation::Shl
                    | Operation::Or
                    | Operation::Xor
                    | Operation::SaturatingSub
                    | Operation::AbsDiff
                    | Operation::Either
                    | Operation::End => first && second,
                    Operation::Stepped => first,
                }
            }
            Term::Clamp => {
                let bounds = [pop_last(&mut stack), pop_last(&mut stack)];
                pop_last(&mut stack);
                bounds == [true; 2]
            }
            Term::Limit(_) => pop_last(&mut stack) | pop_last(&mut stack),
            Term::LimitOfSum(_) | Term::LimitByCondition(_) => {
                pop_last(&mut stack);
                pop_last(&mut stack);
                pop_last(&mut stack)
            }
            Term::Condition => continue,
        };
        stack.push(known);
    }
    pop_last(&mut stack)
}

/// The type of a number, as far as the text shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberKind {
    Float,
    /// An integer of at most 32 bits.
    Narrow,
    /// An integer of 64 bits.
    Wide,
    Unknown,
}

impl NumberKind {
    /// Returns that of a type with this name.
    pub(crate) fn named(name: &str) -> NumberKind {
        match name {
            "u8" | "i8" | "u16" | "i16" | "u32" | "i32" => NumberKind::Narrow,
            "u64" | "i64" | "usize" | "isize" => NumberKind::Wide,
            "f16" | "bf16" | "f32" | "f64" => NumberKind::Float,
            _ => NumberKind::Unknown,
        }
    }

    fn of_shape(shape: &TypeShape) -> NumberKind {
        match shape {
            TypeShape::Scalar(name, _) => NumberKind::named(name),
            _ => NumberKind::Unknown,
        }
    }

    fn of_launch(name: &str) -> NumberKind {
        match name {
            "RankInGrid" | "ThreadsOfGrid" | "BlockRankInGrid" | "BlocksOfGrid" | "ClusterRank" | "ClustersOfGrid" => {
                NumberKind::Wide
            }
            _ => NumberKind::Narrow,
        }
    }

    /// Returns that of two numbers which have one type.
    fn or(self, other: NumberKind) -> NumberKind {
        if self == NumberKind::Unknown { other } else { self }
    }
}

/// Returns what the text shows of the type of a function's expression.
pub(crate) fn number_kind(terms: &[Term], function: &Function) -> NumberKind {
    let mut stack: Vec<NumberKind> = Vec::new();
    let pop = |stack: &mut Vec<NumberKind>| stack.pop().unwrap_or(NumberKind::Unknown);
    for term in terms {
        let kind = match term {
            Term::Parameter(index) => match &function.params[usize::from(*index)].ty {
                ParamType::Value(ty) => NumberKind::of_shape(&ty.shape),
                _ => NumberKind::Unknown,
            },
            Term::Suffixed(_, name) => NumberKind::named(name),
            Term::Launch(name, _) => NumberKind::of_launch(name),
            Term::RankInTile(_) | Term::TileRank(_) => NumberKind::Narrow,
            Term::Length(_) | Term::Start(_) => NumberKind::Wide,
            Term::Float(_) | Term::SuffixedFloat(..) | Term::TypedFloat(..) => NumberKind::Float,
            Term::AnyOf(_, kind, _) => *kind,
            Term::Cast(_, kind) => {
                pop(&mut stack);
                *kind
            }
            Term::Literal(_)
            | Term::Typed(..)
            | Term::Constant(_)
            | Term::Lanes(_)
            | Term::Field(..)
            | Term::OfClosure(..)
            | Term::OfPassedClosure(..)
            | Term::Result(..)
            | Term::AnyIn(_)
            | Term::Conditioned
            | Term::Unknown => NumberKind::Unknown,
            Term::Operation(Operation::Shl | Operation::Shr) | Term::Limit(_) => {
                pop(&mut stack);
                pop(&mut stack)
            }
            Term::Operation(_) => {
                let (second, first) = (pop(&mut stack), pop(&mut stack));
                first.or(second)
            }
            Term::Clamp => {
                let (most, least) = (pop(&mut stack), pop(&mut stack));
                pop(&mut stack).or(least).or(most)
            }
            Term::Rounded(_) => pop(&mut stack),
            Term::LimitOfSum(_) | Term::LimitByCondition(_) => {
                pop(&mut stack);
                pop(&mut stack);
                pop(&mut stack)
            }
            Term::Condition => continue,
        };
        stack.push(kind);
    }
    pop(&mut stack)
}

/// Returns the checks, the calls and the kinds of a function's parameters for its template.
pub(crate) fn launch_terms(at_launch: &AtLaunch, function: &Function) -> TokenStream {
    let checks = at_launch.checks.iter().map(|LaunchCheck { index, length, is_end, vector, sites }| {
        let ([index, length], sites) = ([index, length].map(|terms| list(terms)), sites.iter().map(|site| site.0));
        let vector = match vector {
            Some(VectorCheck { element, lanes, of: TypeId(of), start }) => {
                let [element, lanes, start] = [element, lanes, start].map(|terms| list(terms));
                quote!(Some(VectorCheck { element: #element, lanes: #lanes, of: #of, start: #start }))
            }
            None => quote!(None),
        };
        quote!(LaunchCheck { index: #index, length: #length, is_end: #is_end, vector: #vector, sites: &[#(#sites),*] })
    });
    let calls = at_launch.calls.iter().map(|LaunchCall { callee, arguments }| {
        let (callee, arguments) = (callee.0, arguments.iter().map(|parts| part_list(parts)));
        quote!(LaunchCall { callee: #callee, arguments: &[#(#arguments),*] })
    });
    let parameters = function.params.iter().map(|param| match &param.ty {
        ParamType::Value(ValueType { shape: TypeShape::Scalar(_, ty) | TypeShape::Named(ty), .. }) => {
            let ty = ty.0;
            quote!(LaunchParameter::Value(#ty))
        }
        ParamType::Slice { .. } => quote!(LaunchParameter::Memory),
        _ => quote!(LaunchParameter::Other),
    });
    let results = at_launch.results.iter().map(part);
    let closure_calls = at_launch.closure_calls.iter().map(|ClosureCall { closure, arguments }| {
        let arguments = arguments.iter().map(|terms| list(terms));
        quote!(ClosureCall { closure: #closure, arguments: &[#(#arguments),*] })
    });
    let (checks, calls, results) = (slice(checks.collect()), slice(calls.collect()), slice(results.collect()));
    let closure_calls = slice(closure_calls.collect());
    let parameters = match function.role {
        Role::Kernel => slice(parameters.collect()),
        Role::Device | Role::Method => quote!(&[]),
    };
    quote!(::phalanx::__private::LaunchTerms {
        checks: #checks, device_calls: #calls, closure_calls: #closure_calls, results: #results, parameters: #parameters
    })
}

/// Makes a slice of values of the runtime's.
fn slice(values: Vec<TokenStream>) -> TokenStream {
    match values.is_empty() {
        true => quote!(&[]),
        false => quote!({
            #[allow(clippy::pedantic, unused_imports, reason = "a list of names of which not all are needed")]
            use {
                ::core::option::Option::{None, Some},
                ::phalanx::__private::{
                    ClosureCall, Comparison, LaunchCall, LaunchCheck, LaunchParameter, LaunchPart, LaunchValue, Operation,
                    Rounded, Term, VectorCheck,
                },
            };
            &[#(#values),*]
        }),
    }
}

fn part_list(parts: &[LaunchPart]) -> TokenStream {
    let parts = parts.iter().map(part);
    quote!(&[#(#parts),*])
}

fn part(LaunchPart { path, value }: &LaunchPart) -> TokenStream {
    let value = list(value);
    quote!(LaunchPart { path: &[#(#path),*], value: #value })
}

fn list(terms: &[Term]) -> TokenStream {
    let terms = terms.iter().map(|term| match term {
        Term::Literal(number) => quote!(Term::Literal(#number)),
        Term::Typed(number, SlotId(slot)) => quote!(Term::Typed(#number, #slot)),
        Term::Suffixed(number, name) => quote!(Term::Suffixed(#number, #name)),
        Term::Constant(ValueId(value)) => quote!(Term::Constant(#value)),
        Term::Parameter(index) => quote!(Term::Parameter(#index)),
        Term::Field(index, path) => quote!(Term::Field(#index, &[#(#path),*])),
        Term::Length(index) => quote!(Term::Length(#index)),
        Term::Start(index) => quote!(Term::Start(#index)),
        Term::Lanes(SlotId(slot)) => quote!(Term::Lanes(#slot)),
        Term::OfClosure(closure, param) => quote!(Term::OfClosure(#closure, #param)),
        Term::OfPassedClosure(SlotId(slot), argument, param) => {
            quote!(Term::OfPassedClosure(#slot, #argument, #param))
        }
        Term::Float(digits) => quote!(Term::Float(#digits)),
        Term::SuffixedFloat(digits, name) => quote!(Term::SuffixedFloat(#digits, #name)),
        Term::TypedFloat(digits, SlotId(slot)) => quote!(Term::TypedFloat(#digits, #slot)),
        Term::Launch(name, dimension) => {
            let name = format_ident!("{name}");
            let dimension = dimension.map(|dimension| quote!((#dimension)));
            quote!(Term::Launch(LaunchValue::#name #dimension))
        }
        Term::RankInTile(ValueId(size)) => quote!(Term::RankInTile(#size)),
        Term::TileRank(ValueId(size)) => quote!(Term::TileRank(#size)),
        Term::Result(SlotId(slot), path) => quote!(Term::Result(#slot, &[#(#path),*])),
        Term::Unknown => quote!(Term::Unknown),
        Term::AnyOf(TypeId(ty), ..) => quote!(Term::AnyOf(#ty)),
        Term::AnyIn(ValueId(value)) => quote!(Term::AnyIn(#value)),
        Term::Operation(operation) => {
            let name = format_ident!("{operation:?}");
            quote!(Term::Operation(Operation::#name))
        }
        Term::Cast(TypeId(ty), _) => quote!(Term::Cast(#ty)),
        Term::Clamp => quote!(Term::Clamp),
        Term::Rounded(name) => {
            let name = format_ident!("{name}");
            quote!(Term::Rounded(Rounded::#name))
        }
        Term::Limit(comparison) => {
            let name = format_ident!("{comparison:?}");
            quote!(Term::Limit(Comparison::#name))
        }
        Term::LimitOfSum(comparison) => {
            let name = format_ident!("{comparison:?}");
            quote!(Term::LimitOfSum(Comparison::#name))
        }
        Term::Condition => quote!(Term::Condition),
        Term::Conditioned => quote!(Term::Conditioned),
        Term::LimitByCondition(comparison) => {
            let name = format_ident!("{comparison:?}");
            quote!(Term::LimitByCondition(Comparison::#name))
        }
    });
    quote!(&[#(#terms),*])
}
