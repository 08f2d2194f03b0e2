//! Every sentence that a user can see, one function a fault, named after what is wrong. Lower case, no full stop,
//! code in backticks; each carries the name of its rule. The rules about tokens are those of `docs/rules.md`.

mod attribute;
mod barrier;
mod by_hand;
mod control;
mod copy;
mod memory;
mod shared;
mod uniform;

pub(crate) use attribute::*;
pub(crate) use barrier::*;
pub(crate) use by_hand::*;
pub(crate) use control::*;
pub(crate) use copy::*;
pub(crate) use memory::*;
pub(crate) use shared::*;
pub(crate) use uniform::*;

use crate::diag::Diag;
use crate::model::group::Group;
use crate::model::kind::Kind;
use crate::model::op::MEMORY_METHODS;
use crate::model::ty::SCALARS;
use crate::model::warp::{OPERATORS, WARP_METHODS};
use crate::rules::Rule;
use crate::span::SpanRange;

fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

// What an attribute is on.

pub(crate) fn not_parsed(at: SpanRange, why: &str) -> Diag {
    Diag::new(Rule::NotParsed, at, format!("this function cannot be read: {why}"))
}

pub(crate) fn not_a_function(at: SpanRange, attribute: &str) -> Diag {
    Diag::new(Rule::AttributeTarget, at, format!("`#[{attribute}]` goes on a function"))
}

// Signatures.

pub(crate) fn unsupported_qualifier(at: SpanRange, what: &str) -> Diag {
    let diag = Diag::new(Rule::UnsupportedSignature, at, format!("a kernel or device function cannot be {what}"));
    diag.help(match what {
        "`unsafe`" => "leave it out: what `unchecked(...)` switches off makes a function `unsafe` to call",
        _ => "leave it out",
    })
}

pub(crate) fn receiver(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, "the attribute goes on the `impl`")
        .help("write `#[device] impl Type { ... }`: all its functions become device functions")
}

pub(crate) fn typed_receiver(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, "a receiver is `self`, `&self` or `&mut self`")
}

pub(crate) fn implementing_type(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, "`#[device] impl` is for a type that has a name")
}

pub(crate) fn implementation_member(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSyntax, at, "`#[device]` takes functions, constants and types only")
}

pub(crate) fn provided_method(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, "a device trait provides no bodies")
        .help("write the method in each `impl`, or as a generic device function")
}

pub(crate) fn generic_trait_method(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, "a method of a device trait is not generic")
        .help("make the trait generic, or write a generic device function")
}

pub(crate) fn collective_in_closure(at: SpanRange) -> Diag {
    Diag::new(Rule::CollectiveInClosure, at, "a collective in a closure, whose callers may not be the whole group")
        .help("call it outside of the closure")
}

pub(crate) fn lifetime_parameter(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, "lifetime parameters are not supported")
        .help("leave lifetimes out: every reference parameter lives for the whole call")
}

pub(crate) fn unbounded_parameter(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, format!("nothing is known of the type `{name}`: it has no bound"))
        .help(format!("write `{name}: DeviceCopy` for plain data, `{name}: Number` for arithmetic, or another bound"))
}

pub(crate) fn impl_trait_parameter(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, "`impl Trait` parameters are closures: `impl Fn(A) -> B`")
        .help("for another trait, write a type parameter: `fn f<T: Trait>(x: T)`")
}

pub(crate) fn tuple_parameter(at: SpanRange) -> Diag {
    Diag::new(Rule::KernelParameter, at, "a kernel takes no tuples: Rust does not say how they lie in memory")
        .help("take the parts one by one, or a struct with `#[derive(DeviceCopy)]` and `#[repr(C)]`")
}

pub(crate) fn parameter_pattern(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, "a parameter is a name, or a pattern of names")
        .help("take the value under one name and bind its parts with `let`")
}

pub(crate) fn kernel_parameter(at: SpanRange) -> Diag {
    Diag::new(Rule::KernelParameter, at, "a kernel takes slices and plain values only")
        .help("`&[T]` is read-only global memory, `&mut [T]` is global memory that the whole grid shares, either may be in an `Option`, scalars, arrays and `DeviceCopy` types go by value; groups and shared memory come from `this_cluster()`, `shared_array()` and their like")
}

pub(crate) fn kernel_result(at: SpanRange) -> Diag {
    Diag::new(Rule::KernelResult, at, "a kernel returns nothing").help("write results through a `&mut [T]` parameter")
}

pub(crate) fn unsupported_type(at: SpanRange) -> Diag {
    unsupported_type_with(
        at,
        "there are the integer types, `f32`, `f64`, `f16`, `bf16`, `bool`, arrays, tuples and `Option`s of them, types with `#[derive(DeviceCopy)]`, and `ArrivalToken<Cluster>` and its like",
    )
}

/// The same, with the mend.
pub(crate) fn unsupported_type_with(at: SpanRange, mend: &str) -> Diag {
    Diag::new(Rule::UnsupportedType, at, "this type is not part of the kernel language").help(mend)
}

pub(crate) fn group_by_value(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::UnsupportedType, at, format!("`{name}` is passed by reference")).help(format!("write `&{name}`"))
}

// Syntax.

pub(crate) fn unsupported_syntax(at: SpanRange, what: &str) -> Diag {
    Diag::new(Rule::UnsupportedSyntax, at, format!("{what} not part of the kernel language"))
}

pub(crate) fn statement_attribute(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSyntax, at, "attributes inside a function are not part of the kernel language")
        .help("put the attribute on the function")
}

pub(crate) fn nested_item(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSyntax, at, "an item in an inner block is not part of the kernel language")
        .help("move it to the top of the function")
}

pub(crate) fn unsupported_pattern(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedPattern, at, "this pattern is not part of the kernel language").help(
        "there are names, `_`, integers and their ranges, constants, tuples, structs, arrays, `Some`, `None`, `Ok`, `Err`, `a | b`, and `..` in arrays, or as the last part of a tuple or a struct; `for` binds one name or `_`",
    )
}

pub(crate) fn pattern_without_value(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedPattern, at, "a pattern needs a value")
        .help("declare the names one by one: `let a; let b;`")
}

pub(crate) fn scrutinee_kind(at: SpanRange, found: Kind) -> Diag {
    let diag = Diag::new(Rule::WrongKind, at, format!("{} cannot be matched", found.noun()));
    match found {
        Kind::Reference { .. } => diag.help("match what it refers to: `*reference`"),
        _ => diag,
    }
}

pub(crate) fn matches_form(at: SpanRange) -> Diag {
    Diag::new(
        Rule::FormatString,
        at,
        "`matches!` is written `matches!(value, pattern)` or `matches!(value, pattern if condition)`",
    )
}

pub(crate) fn borrow(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedBorrow, at, "`&` stands only before an argument")
        .help("pass `&group`, `&array` or `&mut local` directly to the function that takes it")
}

pub(crate) fn reference_local(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedBorrow, at, "a local cannot hold a reference")
        .help("copy the value: `let x = *reference;`")
}

pub(crate) fn borrow_target(at: SpanRange) -> Diag {
    Diag::new(
        Rule::UnsupportedBorrow,
        at,
        "only a local variable, a field of one, or a constant can be passed by reference",
    )
    .help("bind the value with `let` first")
}

pub(crate) fn deref(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedBorrow, at, "`*` reads through a reference parameter or `get_unchecked`")
        .help("what is no reference is written without it")
}

pub(crate) fn literal(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedLiteral, at, "this literal is not part of the kernel language")
        .help("there are integers, floats, `true` and `false`")
}

pub(crate) fn literal_suffix(at: SpanRange, suffix: &str) -> Diag {
    Diag::new(Rule::UnsupportedLiteral, at, format!("unknown suffix `{suffix}`"))
        .help(format!("the types are {}", list(SCALARS)))
}

pub(crate) fn reserved_name(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::ReservedName, at, format!("names that start with `__phalanx` are reserved: `{name}`"))
}

pub(crate) fn collective_in_method(at: SpanRange) -> Diag {
    Diag::new(Rule::CollectiveInMethod, at, "a collective in a method, which its callers' checks do not see")
        .help("make it a device function: `#[device] fn f(x: &Type, block: &ThreadBlock)`")
}

// Names and calls.

pub(crate) fn unknown_method(at: SpanRange, name: &str, kind: Kind) -> Diag {
    let known = match kind {
        Kind::Group(group) => group_methods(group),
        Kind::Memory(_) => list(MEMORY_METHODS),
        Kind::OptionalMemory(_) => {
            return Diag::new(Rule::UnknownMethod, at, format!("an optional slice has no method `{name}` in a kernel"))
                .help("there are `is_some` and `is_none`; what is in it comes out by `if let Some(slice) = option`");
        }
        Kind::OptionalToken(_) => list(["is_some", "is_none", "take"]),
        Kind::Token(_) => {
            return Diag::new(Rule::UnknownMethod, at, format!("an arrival token has no method `{name}`"))
                .help("pass it to `barrier_wait`");
        }
        Kind::Unknown
        | Kind::Value
        | Kind::Reference { .. }
        | Kind::Extent
        | Kind::Unit
        | Kind::Never
        | Kind::Barrier(_)
        | Kind::Closure => "Rust's methods of numbers, as far as a GPU has them: docs/language.md".into(),
    };
    Diag::new(Rule::UnknownMethod, at, format!("{} has no method `{name}` in a kernel", kind.noun()))
        .help(format!("there are {known}"))
}

fn group_methods(group: Group) -> String {
    let queries = group.queries().iter().map(|query| query.name);
    let barrier = group.barrier_methods().map(|method| method.name);
    match group {
        Group::Coalesced | Group::Tile => {
            let methods = WARP_METHODS.iter().filter(|method| group == Group::Tile || !method.tiles_only);
            let methods = ["uniform", "invoke_one"].into_iter().chain(methods.map(|method| method.name));
            list(barrier.chain(methods).chain(queries))
        }
        Group::ThreadBlock | Group::Grid => list(barrier.chain(["uniform", "invoke_one"]).chain(queries)),
        Group::Cluster => {
            list(barrier.chain(["map_shared_rank", "query_shared_rank", "uniform", "invoke_one"]).chain(queries))
        }
    }
}

pub(crate) fn tile_size(at: SpanRange) -> Diag {
    Diag::new(Rule::TileSize, at, "no tile has this size").help("there are tiles of 1, 2, 4, 8, 16 and 32 threads")
}

pub(crate) fn invoke_one(at: SpanRange) -> Diag {
    Diag::new(Rule::ArgumentCount, at, "`invoke_one` takes a closure without arguments or result")
        .help("write `group.invoke_one(|| { ... })`")
}

pub(crate) fn invoke_one_broadcast(at: SpanRange) -> Diag {
    Diag::new(Rule::ArgumentCount, at, "`invoke_one_broadcast` takes a closure without arguments")
        .help("write `group.invoke_one_broadcast(|| value)`")
}

pub(crate) fn operator(at: SpanRange) -> Diag {
    let operators: Vec<String> = OPERATORS.iter().map(|operator| format!("op::{}", operator.rust_name)).collect();
    Diag::new(Rule::Operator, at, "this is no operator of a reduction")
        .help(format!("there are {}", list(operators.iter().map(String::as_str))))
}

pub(crate) fn argument_count(at: SpanRange, name: &str, expected: usize, found: usize) -> Diag {
    let arguments = if expected == 1 { "argument" } else { "arguments" };
    Diag::new(Rule::ArgumentCount, at, format!("`{name}` takes {expected} {arguments}, {found} given"))
}

pub(crate) fn turbofish(at: SpanRange, name: &str, form: &str) -> Diag {
    Diag::new(Rule::TypeArguments, at, format!("`{name}` is written `{form}`"))
}

pub(crate) fn recursion(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::Recursion, at, format!("`{name}` calls itself, which kernels and device functions cannot"))
        .help("write a loop")
}

pub(crate) fn not_a_path(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedCall, at, "only a function's path can be called")
        .help("mark the function with `#[device]` and call it by name")
}

pub(crate) fn unknown_macro(at: SpanRange, name: &str) -> Diag {
    let diag = Diag::new(Rule::UnknownMacro, at, format!("`{name}!` is not part of the kernel language"));
    diag.help(match name {
        "dbg" => "write `println!(\"{x:?}\")`".into(),
        "eprint" | "eprintln" => "kernels print to one output: write `println!`".into(),
        "write" | "writeln" | "format" | "format_args" | "concat" | "stringify" => {
            "a kernel has no strings: write the format string in `println!` or `panic!` itself".into()
        }
        _ => format!("there are {}", list(MACROS)),
    })
}

const MACROS: [&str; 14] = [
    "assert!",
    "assert_eq!",
    "assert_ne!",
    "debug_assert!",
    "debug_assert_eq!",
    "debug_assert_ne!",
    "panic!",
    "unreachable!",
    "todo!",
    "unimplemented!",
    "cuda!",
    "print!",
    "println!",
    "matches!",
];

pub(crate) fn format_string(at: SpanRange, why: &str) -> Diag {
    Diag::new(Rule::FormatString, at, format!("this message cannot be formatted: {why}"))
        .help("write a string literal, and after it the values that its `{}` stand for")
}

pub(crate) fn too_many_values(at: SpanRange, most: usize) -> Diag {
    Diag::new(Rule::FormatString, at, format!("a message shows at most {most} values"))
}

pub(crate) fn not_shown(at: SpanRange, kind: Kind) -> Diag {
    Diag::new(Rule::WrongKind, at, format!("{} cannot be shown in a message", kind.noun()))
        .help("a message shows plain values and a `Dim3`")
}

pub(crate) fn wrong_kind(at: SpanRange, expected: &str, found: Kind) -> Diag {
    Diag::new(Rule::WrongKind, at, format!("expected {expected}, found {}", found.noun()))
}

pub(crate) fn not_a_token(at: SpanRange, found: Kind) -> Diag {
    wrong_kind(at, "an `ArrivalToken`", found).help(
        "a token that a device function returned is bound with its type: `let token: ArrivalToken<Cluster> = ...`; a phase barrier's is waited for at its barrier: `bar.wait(token)`",
    )
}

pub(crate) fn operand_kind(at: SpanRange, found: Kind) -> Diag {
    let diag = Diag::new(Rule::WrongKind, at, format!("{} is not a number or a truth value", found.noun()));
    match found {
        Kind::Reference { .. } => diag.help("read what it refers to: `*reference`"),
        _ => diag,
    }
}

pub(crate) fn group_memory_copy(at: SpanRange, kind: Kind) -> Diag {
    Diag::new(Rule::UnsupportedSyntax, at, format!("{} cannot be a value of a block or an `if`", kind.noun()))
        .help("use it under the name that it was bound to")
}

// Tokens (CUDA C++ Programming Guide 11.6.1.1).

/// How a token is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Loss {
    /// The statement's value is not used.
    Unused,
    /// `let _ =`
    Discarded,
    Overwritten,
    EndOfScope,
    Return,
    /// `?`
    Question,
    Break,
    Continue,
}

/// Where a token comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Arrival,
    /// A device function returned it.
    Call,
    /// It was passed in.
    Parameter,
}

/// `losses`: how, where, and the name of the variable.
pub(crate) fn token_never_waited(
    arrival: SpanRange,
    group: Group,
    origin: Origin,
    losses: &[(Loss, SpanRange, Option<String>)],
) -> Diag {
    let noun = group.noun();
    let what = match origin {
        Origin::Arrival => format!("this arrival of the {noun}"),
        Origin::Call => format!("the arrival of the {noun} whose token this call returns"),
        Origin::Parameter => format!("the arrival of the {noun} behind this token"),
    };
    let mut diag = Diag::new(Rule::TokenNeverWaited, arrival, format!("{what} is not waited for on every path"));
    let mut waited = None;
    for (how, at, name) in losses {
        waited = waited.or(name.as_deref());
        let note = match (how, name) {
            (Loss::Unused, _) => "the token is dropped at once: nothing holds it".to_string(),
            (Loss::Discarded, _) => "the token is dropped here: no name holds it".to_string(),
            (Loss::Overwritten, Some(name)) => format!("`{name}` is overwritten while it holds the token"),
            (Loss::EndOfScope, Some(name)) => format!("`{name}` may still hold the token here, where its scope ends"),
            (Loss::Return, Some(name)) => format!("`{name}` may still hold the token at this `return`"),
            (Loss::Question, Some(name)) => format!("`{name}` may still hold the token at this `?`"),
            (Loss::Break, Some(name)) => format!("`{name}` may still hold the token at this `break`"),
            (Loss::Continue, Some(name)) => format!("`{name}` may still hold the token at this `continue`"),
            (Loss::Return, None) => "the token is on its way to another use, and lost at this `return`".to_string(),
            (Loss::Question, None) => "the token is on its way to another use, and lost at this `?`".to_string(),
            (Loss::Break, None) => "the token is on its way to another use, and lost at this `break`".to_string(),
            (Loss::Continue, None) => "the token is on its way to another use, and lost at this `continue`".to_string(),
            (Loss::Overwritten | Loss::EndOfScope, None) => "the token is lost here".to_string(),
        };
        diag = diag.note(*at, note);
    }
    let group = short(group);
    diag.help(match waited {
        Some(name) => format!("call `{group}.barrier_wait({name})` on every path before that"),
        None => {
            format!("bind the token and wait: `let token = {group}.barrier_arrive(); ... {group}.barrier_wait(token);`")
        }
    })
}

pub(crate) fn arrive_while_pending(at: SpanRange, group: Group, pending: SpanRange, origin: Origin) -> Diag {
    Diag::new(
        Rule::ArriveWhilePending,
        at,
        format!("a second arrival of the {} before the first was waited for", group.noun()),
    )
    .note(
        pending,
        match origin {
            Origin::Arrival => "the first arrival is here, and its token is still held",
            Origin::Call => "this call returned the token of the first arrival, which is still held",
            Origin::Parameter => "this parameter is the token of the first arrival, and is still held",
        },
    )
    .help(format!("a thread arrives once a phase: call `{}.barrier_wait` with the first token before", short(group)))
}

pub(crate) fn collective_while_pending(
    at: SpanRange,
    what: &str,
    group: Group,
    pending: Group,
    arrival: SpanRange,
) -> Diag {
    let diag = Diag::new(
        Rule::CollectiveWhilePending,
        at,
        format!(
            "`{what}` is a collective of the {} while an arrival of the {} is pending",
            group.noun(),
            pending.noun()
        ),
    )
    .note(arrival, "the token comes from here, and is still held");
    if group == pending {
        diag.help("wait with the token first: between arrive and wait, a group's other collectives are undefined")
    } else {
        diag.help(format!("wait with the token first: the {} contains the {}", group.noun(), pending.noun()))
    }
}

pub(crate) fn token_escapes(at: SpanRange, whereto: &str) -> Diag {
    Diag::new(
        Rule::TokenEscapes,
        at,
        format!("an arrival token cannot be put into {whereto}, where it cannot be followed"),
    )
    .help("keep tokens in local variables or `Option`s, one a variable")
}

/// A usual name for a value of this group.
fn short(group: Group) -> &'static str {
    match group {
        Group::Coalesced => "group",
        Group::Tile => "tile",
        Group::ThreadBlock => "block",
        Group::Cluster => "cluster",
        Group::Grid => "grid",
    }
}
