//! Every sentence that a user can see: one function per fault, named after the fault. Sentences are lower case without a full
//! stop, with code in backticks, and each carries the name of its rule.

mod attribute;
mod barrier;
mod control;
mod copy;
mod followed;
mod implementation;
mod inline_cuda;
mod memory;
mod method;
mod pattern;
mod previous;
mod registers;
pub(crate) mod rings;
mod shared;
mod token;
mod uniform;

pub(crate) use attribute::*;
pub(crate) use barrier::*;
pub(crate) use control::*;
pub(crate) use copy::*;
pub(crate) use followed::*;
pub(crate) use implementation::*;
pub(crate) use inline_cuda::*;
pub(crate) use memory::*;
pub(crate) use method::*;
pub(crate) use pattern::*;
pub(crate) use previous::*;
pub(crate) use registers::*;
pub(crate) use shared::*;
pub(crate) use token::*;
pub(crate) use uniform::*;

use crate::diag::Diag;
use crate::model::copy::TensorCopy;
use crate::model::group::Group;
use crate::model::kind::Kind;
use crate::model::method::VALUE_METHODS;
use crate::model::op::{MEMORY_METHODS, Stored};
use crate::model::ty::SCALARS;
use crate::model::warp::{OPERATORS, WARP_METHODS};
use crate::nearest::nearest;
use crate::rules::Rule;
use crate::span::SpanRange;

fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

// The items that an attribute can be on.

pub(crate) fn not_parsed(at: SpanRange, why: &str) -> Diag {
    Diag::new(Rule::NotParsed, at, format!("this function cannot be parsed: {why}"))
}

pub(crate) fn not_a_function(at: SpanRange, attribute: &str) -> Diag {
    Diag::new(Rule::AttributeTarget, at, format!("`#[{attribute}]` can only be applied to a function"))
}

// Signatures.

pub(crate) fn unsupported_qualifier(at: SpanRange, what: &str) -> Diag {
    let diag = Diag::new(Rule::UnsupportedSignature, at, format!("a kernel or device function cannot be {what}"));
    diag.help(match what {
        "`unsafe`" => "remove it: only `unchecked(...)` makes a function `unsafe` to call",
        _ => "remove it",
    })
}

pub(crate) fn constant_of_memory(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, "a `const` device function can take only values and references to them")
        .help("remove `const`: memory, groups and barriers exist only in a kernel")
}

pub(crate) fn collective_in_closure(at: SpanRange) -> Diag {
    Diag::new(
        Rule::CollectiveInClosure,
        at,
        "a closure cannot execute a collective: its callers may not be the whole group",
    )
    .help("call the collective outside of the closure; `let array: [T; N] = std::array::from_fn(|k| ..);` with this type is a loop, which may")
}

pub(crate) fn changing_closure(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSyntax, at, "a `move` closure that is passed on cannot change what it has copied")
        .help("remove `move`: the closure then changes the variable around it")
}

pub(crate) fn lifetime_parameter(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, "lifetime parameters are not supported")
        .help("remove the lifetimes: every reference parameter is valid for the whole call")
}

pub(crate) fn unbounded_parameter(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, format!("the type parameter `{name}` must have a bound"))
        .help(format!("write `{name}: DeviceCopy` for plain data, `{name}: Number` for arithmetic, or another bound"))
}

pub(crate) fn impl_trait_parameter(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, "an `impl Fn` parameter has no other bound")
        .help("write `impl Fn(A) -> B` alone")
}

/// An element of shared memory.
pub(crate) fn tuple_in_memory(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedType, at, "shared memory cannot hold tuples: Rust does not specify their layout")
        .help("write a struct with `#[derive(Clone, Copy, DeviceCopy)]` and `#[repr(C)]`, or one array for each part")
}

/// All of its bounds are traits of the standard library.
pub(crate) fn bounds_of_library(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, format!("the bounds of the type parameter `{name}` do not make it a type of kernels"))
        .help(format!("write `{name}: Number`, which has operators and comparisons, or `{name}: Integer` or `{name}: Float`; `{name}: DeviceCopy` for plain data; or a `#[device] trait` of your own with the operations"))
}

pub(crate) fn tuple_parameter(at: SpanRange) -> Diag {
    Diag::new(
        Rule::KernelParameter,
        at,
        "a kernel parameter cannot be a tuple: Rust does not specify the layout of tuples",
    )
    .help("take the parts as separate parameters, or a struct with `#[derive(DeviceCopy)]` and `#[repr(C)]`")
}

pub(crate) fn parameter_pattern(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, "a parameter must be a name or a pattern of names")
        .help("take the value under one name and bind its parts with `let`")
}

pub(crate) fn kernel_parameter(at: SpanRange) -> Diag {
    Diag::new(Rule::KernelParameter, at, "a kernel parameter must be a slice or a plain value")
        .help("`&[T]` is read-only global memory, `&mut [T]` is global memory that the whole grid shares, and either may be in an `Option`; scalars, arrays and `DeviceCopy` types are passed by value; groups and shared memory come from `this_cluster()`, `shared_array()` and similar functions")
}

pub(crate) fn kernel_result(at: SpanRange) -> Diag {
    Diag::new(Rule::KernelResult, at, "a kernel cannot return a value")
        .help("write results through a `&mut [T]` parameter")
}

pub(crate) fn unsupported_type(at: SpanRange) -> Diag {
    unsupported_type_with(
        at,
        "the supported types are the integers, `f32`, `f64`, `f16`, `bf16`, `e4m3`, `e5m2`, `bool`, arrays, tuples and `Option`s of them, types with `#[derive(DeviceCopy)]`, and tokens such as `ArrivalToken<Cluster>`",
    )
}

/// An enum of the file with fields, of which the kernel makes or matches a variant.
pub(crate) fn enum_without_derive(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::UnsupportedType, at, format!("the enum `{name}` is not a type of kernels"))
        .help(format!("derive it: `#[derive(Clone, Copy, DeviceType)]` above `enum {name}`"))
}

/// A type that kernels do not have, with a help for it in place of the list of [`unsupported_type`].
pub(crate) fn unsupported_type_with(at: SpanRange, help: &str) -> Diag {
    Diag::new(Rule::UnsupportedType, at, "this type is not part of the kernel language").help(help)
}

pub(crate) fn group_by_value(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::UnsupportedType, at, format!("`{name}` must be passed by reference"))
        .help(format!("write `&{name}`, or give a type of your own another name"))
}

// Syntax.

pub(crate) fn unsupported_syntax(at: SpanRange, what: &str) -> Diag {
    Diag::new(Rule::UnsupportedSyntax, at, format!("{what} not part of the kernel language"))
}

pub(crate) fn too_many_closure_bodies(at: SpanRange, most: usize) -> Diag {
    let fault = format!("the closures of a function must not expand to more than {most} bodies, one for each call");
    Diag::new(Rule::UnsupportedSyntax, at, fault)
        .help("make the closure that is called most often a `#[device]` function")
}

pub(crate) fn statement_attribute(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSyntax, at, "this attribute is not part of the kernel language here")
        .help("inside a function there are `#[unroll]`, `#[unchecked(..)]`, `#[allow(..)]`, and `#[cfg(..)]` on what may be left out; put others on the function")
}

pub(crate) fn misplaced_unroll(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSyntax, at, "`#[unroll]` must be on a loop")
        .help("put it before `for`, `while` or `loop`")
}

pub(crate) fn unroll_factor(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSyntax, at, "the number of iterations to unroll must be a positive constant")
        .help("write `#[unroll(4)]`, or `#[unroll]` for all iterations")
}

pub(crate) fn unrolled_twice(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSyntax, at, "a loop must not have more than one `#[unroll]`").help("keep one of them")
}

pub(crate) fn nested_item(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSyntax, at, "an item in an inner block is not part of the kernel language")
        .help("move it to the top of the function")
}

pub(crate) fn borrow(at: SpanRange) -> Diag {
    Diag::new(
        Rule::UnsupportedBorrow,
        at,
        "`&` can only be used on an argument of a call, on memory, and as the value of a `let`",
    )
    .help("bind the reference with `let name = &place;` first")
}

pub(crate) fn reference_local(at: SpanRange, kind: Kind) -> Diag {
    let (what, help) = match kind {
        Kind::Reference { .. } => ("a second reference to the same place", "copy the value: `let x = *reference;`"),
        Kind::Value | Kind::Barrier(_) | Kind::Group(_) => {
            ("a reference that may be assigned anew", "remove the `mut`, or choose by an index")
        }
        _ => (kind.noun(), "use the variable by its own name"),
    };
    Diag::new(Rule::UnsupportedBorrow, at, format!("a local variable cannot hold {what}")).help(help)
}

pub(crate) fn borrow_target(at: SpanRange) -> Diag {
    Diag::new(
        Rule::UnsupportedBorrow,
        at,
        "only a local variable, a part of one, memory, or a constant can be borrowed",
    )
    .help("bind the value with `let` first")
}

pub(crate) fn deref(at: SpanRange) -> Diag {
    Diag::new(
        Rule::UnsupportedBorrow,
        at,
        "`*` can only be used on a reference parameter or the result of `get_unchecked`",
    )
    .help("remove the `*` from a value that is not a reference")
}

pub(crate) fn literal(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedLiteral, at, "this literal is not part of the kernel language")
        .help("supported literals are integers, floats, `true`, `false`, bytes (`b'x'`), byte strings of at least one byte (`b\"text\"`), and a letter that is cast: `'x' as u32`")
}

pub(crate) fn literal_suffix(at: SpanRange, suffix: &str) -> Diag {
    Diag::new(Rule::UnsupportedLiteral, at, format!("unknown suffix `{suffix}`"))
        .help(format!("valid suffixes are {}", list(SCALARS)))
}

pub(crate) fn long_sleep(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedLiteral, at, "`nanosleep` sleeps for at most 1 ms, but this literal is longer")
        .help("sleep for at most `1_000_000` nanoseconds at a time, in a loop if that is too short")
}

pub(crate) fn reserved_name(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::ReservedName, at, format!("names that start with `__phalanx` are reserved: `{name}`"))
}

pub(crate) fn collective_in_method(at: SpanRange) -> Diag {
    Diag::new(
        Rule::CollectiveInMethod,
        at,
        "a method cannot execute a collective: the checks of its callers do not see it",
    )
    .help("make it a device function: `#[device] fn f(x: &Type, block: &ThreadBlock)`")
}

pub(crate) fn wait_in_method(at: SpanRange) -> Diag {
    Diag::new(Rule::WaitInMethod, at, "a method cannot wait for bulk copies: the checks of its callers do not see it")
        .help("make it a device function: `#[device] fn drain() { bulk_wait_group_read::<0>(); }`")
}

// Names and calls.

pub(crate) fn unknown_method(at: SpanRange, name: &str, kind: Kind) -> Diag {
    let all = |known: Vec<&'static str>| {
        let help = format!("available methods are {}", list(known.iter().copied()));
        (known, help)
    };
    let numeric =
        || "available methods are Rust's numeric methods that a GPU supports: see docs/language.md".to_string();
    let (known, help) = match kind {
        Kind::Group(group) => all(group_methods(group)),
        Kind::Memory(_) => all(MEMORY_METHODS.to_vec()),
        Kind::TensorMap { .. } => all(TensorCopy::ALL.map(TensorCopy::name).to_vec()),
        Kind::OptionalToken(_) => all(vec!["is_some", "is_none", "take", "unwrap", "expect"]),
        Kind::OptionalMemory(_) => (
            vec!["is_some", "is_none"],
            "its methods are `is_some` and `is_none`; take the slice out with `if let Some(slice) = option`".into(),
        ),
        Kind::Token(_) => (vec!["forget"], "pass it to `barrier_wait`, or `forget` it".into()),
        Kind::Unknown | Kind::Value | Kind::Reference { .. } => {
            (VALUE_METHODS.iter().map(|method| method.name).collect(), numeric())
        }
        Kind::Extent | Kind::Unit | Kind::Never | Kind::Barrier(_) | Kind::Closure => (Vec::new(), numeric()),
    };
    let help = match nearest(name, known) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => help,
    };
    Diag::new(Rule::UnknownMethod, at, format!("{} has no method `{name}` in a kernel", kind.noun())).help(help)
}

fn group_methods(group: Group) -> Vec<&'static str> {
    let queries = group.queries().iter().map(|query| query.name);
    let barrier = group.barrier_methods().map(|method| method.name);
    match group {
        Group::Coalesced | Group::Tile => {
            let methods = WARP_METHODS.iter().filter(|method| group == Group::Tile || !method.tiles_only);
            let methods = ["uniform", "invoke_one"].into_iter().chain(methods.map(|method| method.name));
            let of_matrices = Stored::ALL.into_iter().flat_map(|stored| [stored.load(), stored.store()]);
            let of_matrices = of_matrices.chain([
                "mma_async",
                "wait_mma",
                "wait_mma_prior",
                "wait_mma_except_last",
                "increase_registers",
                "decrease_registers",
            ]);
            let methods = methods.chain(of_matrices.filter(|_| group == Group::Tile));
            barrier.chain(methods).chain(queries).collect()
        }
        Group::ThreadBlock | Group::Grid => barrier.chain(["uniform", "invoke_one"]).chain(queries).collect(),
        Group::Cluster => {
            barrier.chain(["map_shared_rank", "query_shared_rank", "uniform", "invoke_one"]).chain(queries).collect()
        }
    }
}

pub(crate) fn collective_of_several_warps(at: SpanRange, name: &str, size: u64) -> Diag {
    let message =
        format!("`{name}` is for the threads of one warp, but the {size} threads of this tile are in several warps");
    Diag::new(Rule::TileSize, at, message).help(
        "`tiled_partition::<32>(&tile)` is one of the warps; a phase barrier that as many threads arrive at, or `block.sync()`, synchronizes several",
    )
}

pub(crate) fn tile_size(at: SpanRange) -> Diag {
    Diag::new(Rule::TileSize, at, "this is not a valid tile size")
        .help("a tile has 1, 2, 4, 8, 16 or 32 threads, or 128, those of a warpgroup")
}

pub(crate) fn invoke_one(at: SpanRange) -> Diag {
    Diag::new(Rule::ArgumentCount, at, "`invoke_one` takes a closure with no arguments and no result")
        .help("write `group.invoke_one(|| { ... })`")
}

pub(crate) fn invoke_one_broadcast(at: SpanRange) -> Diag {
    Diag::new(Rule::ArgumentCount, at, "`invoke_one_broadcast` takes a closure with no arguments")
        .help("write `group.invoke_one_broadcast(|| value)`")
}

pub(crate) fn operator(at: SpanRange) -> Diag {
    let operators: Vec<String> = OPERATORS.iter().map(|operator| format!("op::{}", operator.rust_name)).collect();
    Diag::new(Rule::Operator, at, "this is not a reduction operator")
        .help(format!("the operators are {}", list(operators.iter().map(String::as_str))))
}

pub(crate) fn argument_count(at: SpanRange, name: &str, expected: usize, found: usize) -> Diag {
    let arguments = if expected == 1 { "argument" } else { "arguments" };
    Diag::new(Rule::ArgumentCount, at, format!("`{name}` takes {expected} {arguments}, found {found}"))
}

pub(crate) fn turbofish(at: SpanRange, name: &str, form: &str) -> Diag {
    Diag::new(Rule::TypeArguments, at, format!("`{name}` must be written `{form}`"))
}

pub(crate) fn recursion(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::Recursion, at, format!("`{name}` calls itself: kernels and device functions cannot be recursive"))
        .help("write a loop")
}

pub(crate) fn not_a_path(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedCall, at, "only a function named by its path can be called")
        .help("mark the function with `#[device]` and call it by name")
}

pub(crate) fn called_variable(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::UnsupportedCall, at, format!("`{name}` is a variable here, which cannot be called"))
        .help(format!("rename the variable, which hides every function of the name `{name}`"))
}

pub(crate) fn dropped_by_call(at: SpanRange) -> Diag {
    Diag::new(
        Rule::UnsupportedCall,
        at,
        "a token must not be dropped: the thread has arrived, and others rely on its wait",
    )
    .help("wait with the token, or, where elected threads wait for all, say so: `token.forget()`")
}

pub(crate) fn unknown_macro(at: SpanRange, name: &str) -> Diag {
    let diag = Diag::new(Rule::UnknownMacro, at, format!("`{name}!` is not part of the kernel language"));
    diag.help(match name {
        "dbg" => "write `println!(\"{x:?}\")`".into(),
        "eprint" | "eprintln" => "a kernel has a single output: write `println!`".into(),
        "write" | "writeln" | "format" | "format_args" | "concat" | "stringify" => {
            "a kernel has no strings: write the format string in `println!` or `panic!` itself".into()
        }
        _ => format!(
            "supported macros are {}; in place of one of your own, write a function with `#[device]`",
            list(MACROS)
        ),
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
        .help("write a string literal, followed by the values for its `{}`")
}

pub(crate) fn too_many_values(at: SpanRange, most: usize) -> Diag {
    Diag::new(Rule::FormatString, at, format!("a message can show at most {most} values"))
}

pub(crate) fn not_shown(at: SpanRange, kind: Kind) -> Diag {
    Diag::new(Rule::WrongKind, at, format!("{} cannot be shown in a message", kind.noun()))
        .help("a message can show plain values and a `Dim3`")
}

pub(crate) fn wrong_kind(at: SpanRange, expected: &str, found: Kind) -> Diag {
    Diag::new(Rule::WrongKind, at, format!("expected {expected}, found {}", found.noun()))
}

pub(crate) fn operand_kind(at: SpanRange, found: Kind) -> Diag {
    let diag = Diag::new(Rule::WrongKind, at, format!("{} is not a number or a truth value", found.noun()));
    match found {
        Kind::Reference { .. } => diag.help("read the value that it refers to: `*reference`"),
        Kind::Extent => {
            diag.help("use one of its extents, such as `.x`, or bind it by itself: `let at = block.group_index();`")
        }
        Kind::Memory(_) => diag.help("use one of its elements: `memory[i]`"),
        Kind::Closure => diag.help("call it: `f(x)`; a closure of two values is `|x, y| ..`"),
        _ => diag,
    }
}

pub(crate) fn group_memory_copy(at: SpanRange, kind: Kind) -> Diag {
    Diag::new(Rule::UnsupportedSyntax, at, format!("{} cannot be the value of a block or an `if`", kind.noun()))
        .help("use it by the name that it was bound to")
}

/// The usual name of a variable that holds this group.
fn short(group: Group) -> &'static str {
    match group {
        Group::Coalesced => "group",
        Group::Tile => "tile",
        Group::ThreadBlock => "block",
        Group::Cluster => "cluster",
        Group::Grid => "grid",
    }
}
