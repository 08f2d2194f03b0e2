//! Sentences about memory, vectors and atomics.

use super::{group_methods, list};
use crate::diag::Diag;
use crate::model::atomic::{ATOMIC_METHODS, MemoryOrder, MemoryScope};
use crate::model::kind::Kind;
use crate::rules::Rule;
use crate::span::SpanRange;

pub(crate) fn optional_slice(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, "a device function cannot take an optional slice")
        .help("pass the slice itself, inside `if let Some(slice) = option`")
}

pub(crate) fn read_only_part(at: SpanRange) -> Diag {
    Diag::new(Rule::ReadOnlyMemory, at, "a part of a `&[T]` cannot be borrowed as mutable")
        .help("borrow it with `&`, or declare the parameter as `&mut [T]`")
}

pub(crate) fn unborrowed_part(at: SpanRange) -> Diag {
    Diag::new(Rule::PartOfMemory, at, "a part of memory must be borrowed").help("write `&` or `&mut` before it")
}

pub(crate) fn no_parts(at: SpanRange, kind: Kind) -> Diag {
    Diag::new(Rule::PartOfMemory, at, format!("{} has no parts that can be borrowed", kind.noun()))
        .help("memory can be borrowed in parts, and a local array that has a name")
}

pub(crate) fn chunks(at: SpanRange) -> Diag {
    Diag::new(Rule::PartOfMemory, at, "`chunks` must be followed by the index of a chunk")
        .help("write `&memory.chunks(n)[i]`; for all chunks, loop over `i` in `0..memory.len().div_ceil(n)`")
}

pub(crate) fn split_at(at: SpanRange) -> Diag {
    Diag::new(Rule::PartOfMemory, at, "the result of `split_at` must be destructured by a `let`")
        .help("write `let (left, right) = memory.split_at(mid);`")
}

pub(crate) fn split_at_mut(at: SpanRange) -> Diag {
    Diag::new(Rule::PartOfMemory, at, "a local array cannot be split into two mutable parts")
        .help("write to the array by its index, `array[mid + i] = ..`, or loop over `array.chunks_exact_mut(n)`")
}

pub(crate) fn element_place(at: SpanRange) -> Diag {
    Diag::new(Rule::PartOfMemory, at, "an element that a loop changes is used as more than a place")
        .help("use it as `*x` or `x.field`, not in a macro's arguments, and give other names to what the loop's body declares; or write to the array by its index, `array[i] = ..`")
}

pub(crate) fn mutable_parts(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedBorrow, at, "a pattern cannot take a mutable reference apart")
        .help("write to the parts by the name of the place, `pair.0 = ..` or `array[i] = ..`, or bind one reference: `let x = &mut pair.0;`")
}

pub(crate) fn part_as_value(at: SpanRange) -> Diag {
    Diag::new(Rule::PartOfMemory, at, "a part of a local array is used by its elements alone")
        .help("write `part[i]`, `part.len()` or `part.iter()`, or pass it to a function that takes a `&[T]` or a `&mut [T]`, `f(&mut array[a..b])`")
}

pub(crate) fn read_only_memory(at: SpanRange) -> Diag {
    Diag::new(Rule::ReadOnlyMemory, at, "this memory is read-only")
        .help("declare the parameter as `&mut [T]` to write to it")
}

pub(crate) fn not_indexable(at: SpanRange, kind: Kind) -> Diag {
    let diag = Diag::new(Rule::NotIndexable, at, format!("{} cannot be indexed", kind.noun()));
    match kind {
        Kind::Extent => diag.help("its fields are `x`, `y` and `z`"),
        Kind::OptionalMemory(_) => diag.help("take the slice out: `if let Some(slice) = option`"),
        _ => diag,
    }
}

pub(crate) fn no_fields(at: SpanRange, kind: Kind) -> Diag {
    let diag = Diag::new(Rule::NoFields, at, format!("{} has no fields", kind.noun()));
    match kind {
        Kind::Group(group) => diag.help(format!("its methods are {}", list(group_methods(group)))),
        _ => diag,
    }
}

pub(crate) fn unknown_atomic(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::UnknownMethod, at, format!("an atomic has no method `{name}`"))
        .help(format!("its methods are {}", list(ATOMIC_METHODS.iter().map(|method| method.name))))
}

pub(crate) fn atomic_alone(at: SpanRange) -> Diag {
    Diag::new(Rule::AtomicUse, at, "`atomic(i)` must be followed by an operation")
        .help("write `memory.atomic(i).fetch_add(1, Relaxed)`: an atomic has no name of its own")
}

pub(crate) fn not_atomic(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::AtomicUse, at, format!("`{name}` with a memory order is an operation of `memory.atomic(i)`")).help(
        "write `memory.atomic(i).fetch_add(1, Relaxed)` in place: neither a reference to an element nor a name stands for an atomic",
    )
}

pub(crate) fn atomic_ordering(at: SpanRange, of: &str, allowed: &[MemoryOrder]) -> Diag {
    Diag::new(Rule::AtomicOrdering, at, format!("this is not a valid memory order for `{of}`"))
        .help(format!("valid orders are {}", list(allowed.iter().map(|order| order.rust_name()))))
}

pub(crate) fn atomic_scope(at: SpanRange) -> Diag {
    let scopes = MemoryScope::ALL.map(|scope| format!("Scope::{}", scope.rust_name()));
    Diag::new(Rule::AtomicScope, at, "this is not a memory scope")
        .help(format!("the scopes are {}", list(scopes.iter().map(String::as_str))))
}

pub(crate) fn unknown_constructor(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::UnknownMethod, at, format!("`{name}` has no such function in a kernel"))
        .help(format!("write `{name}::new([a, b])` or `{name}::splat(x)`"))
}

pub(crate) fn vector_lanes(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::ArgumentCount, at, format!("`{name}::new` takes its lanes as one array"))
        .help(format!("write `{name}::new([a, b])`"))
}

pub(crate) fn matrix_memory(at: SpanRange, kind: Kind) -> Diag {
    let found = kind.noun();
    Diag::new(
        Rule::WrongKind,
        at,
        format!("a matrix is loaded from and stored to the block's own shared memory, not {found}"),
    )
    .help("copy its rows to shared memory first: `shared_array::<[bf16; 72], 64>()` has 64 rows of 72")
}

pub(crate) fn unbound_shared_array(at: SpanRange) -> Diag {
    Diag::new(Rule::UnboundSharedArray, at, "a shared array must be bound to a name")
        .help("bind it first: `let array = shared_array::<T, N>();`")
}

/// Memory is not given by reference; `form` is the call as it should be written.
pub(crate) fn shared_address(at: SpanRange, form: &str) -> Diag {
    Diag::new(Rule::WrongKind, at, "expected shared memory by reference").help(format!("write `{form}`"))
}

pub(crate) fn assignment_target(at: SpanRange) -> Diag {
    Diag::new(Rule::AssignmentTarget, at, "this cannot be assigned to")
        .help("assign to a local variable, to `memory[i]`, to a field of these, or through a `&mut` parameter")
}

pub(crate) fn place_of_operator(at: SpanRange, op: &str) -> Diag {
    Diag::new(
        Rule::UnsupportedSyntax,
        at,
        format!("a right side of `{op}` that changes what selects the element on the left is not part of the kernel language"),
    )
    .help("bind the right side to a name first: `let change = ...;`")
}

/// The name is a constant, or is not defined at all.
pub(crate) fn not_a_variable(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::AssignmentTarget, at, format!("`{name}` is not a variable in scope here"))
        .help("assign to a local variable or a parameter; inside a `macro_rules!` macro, a name is distinct from the same name at the call")
}

pub(crate) fn no_elements_in_array(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedType, at, "an array in a kernel must have at least one element")
        .help("remove the array: C++ has no arrays of length 0")
}

/// `whole` is what a value cannot be while a part of it is memory: a tuple, a struct, an array.
pub(crate) fn memory_in_value(at: SpanRange, kind: Kind, whole: &str) -> Diag {
    Diag::new(Rule::WrongKind, at, format!("{} cannot be a part of {whole}", kind.noun())).help(
        "copy its elements, `(x[i], y[i])`, or bind each by a `let` of its own: `let (from, to) = (&mut x[..], &mut y[..]);`; where an `if` or a `match` chooses, borrow the names: `if swap { (&y, &x) } else { (&x, &y) }`",
    )
}
