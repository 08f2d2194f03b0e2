//! Loops and jumps.

use crate::diag::Diag;
use crate::model::kind::Kind;
use crate::rules::Rule;
use crate::span::SpanRange;

pub(crate) fn loop_range(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedLoop, at, "a range in `for` must have both ends")
        .help("write `a..b` or `a..=b`, in parentheses with `.rev()` or `.step_by(n)` where needed; `a..` stands alone, or in `zip`, with a name for its numbers: `for (x, k) in values.iter().zip(1..)`")
}

pub(crate) fn jump_out_of_closure(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedLoop, at, "a `return` or a `?` cannot leave the closure of an iterator")
        .help("write an `if` that has both values: `if x > limit { None } else { Some(x) }`; or write a `for` loop")
}

pub(crate) fn range_adaptor(at: SpanRange, adaptor: &str) -> Diag {
    let instead = match adaptor {
        "take" => "end the range earlier: `for i in first..end.min(first + count)`",
        "skip" => "begin the range later: `for i in first + count..end`",
        "zip" => {
            "compute the second number from the position: `for (k, i) in (first..end).enumerate() { let j = other + k; }`"
        }
        _ => {
            "increment a variable yourself; `enumerate` gives a pair: `for (k, i) in (first..n).step_by(stride).enumerate()`"
        }
    };
    Diag::new(
        Rule::UnsupportedLoop,
        at,
        "a range in `for` can have one `rev`, one `step_by` and an `enumerate` as the last, and no other adaptor",
    )
    .help(instead)
}

pub(crate) fn loop_adaptor(at: SpanRange, name: &str) -> Diag {
    let diag = Diag::new(Rule::UnsupportedLoop, at, format!("`{name}` is not supported in a `for` loop"));
    if name.starts_with("chunks") {
        return diag.help(
            "write by indexes: `for i in 0..array.len() { array[i] = ..; }`, where `i / n` is the number of the chunk",
        );
    }
    diag.help(instead_of_adaptor(name).unwrap_or(
        "the supported adaptors are `iter`, `iter_mut`, `rev`, `enumerate`, `zip`, `chain`, `step_by`, `skip`, `take`, `chunks`, `chunks_exact`, `rchunks`, `windows`, and `copied` of references, then `map`, `filter`, `filter_map`, `take_while`, `skip_while`, `map_while` and `scan`; write anything else in the loop body",
    ))
}

pub(crate) fn chained_items(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedLoop, at, "the items of these iterators cannot be chained")
        .help("chain elements of arrays and of memory, before `zip`, `enumerate` and closures; otherwise write two loops, one after the other")
}

/// What to write instead of a method of iterators.
fn instead_of_adaptor(name: &str) -> Option<&'static str> {
    Some(match name {
        "flat_map" | "flatten" => {
            "it stands last, or before `map`, `filter` and what consumes all; otherwise write a loop inside the loop: `for row in &rows`, and in it `for x in row`"
        }
        "cycle" => "write an index: `values[i % values.len()]`",
        "peekable" => {
            "write `let mut it = values.iter().copied().peekable();`, for the elements of an array or a slice; otherwise write an index, and look at `values[i + 1]`"
        }
        "inspect" => "write it in the loop's body, or in the closure of `map`",
        "collect" => {
            "write into an array by its index, in a loop over `values.iter().enumerate()`, or write `array.map(f)`"
        }
        "eq" | "ne" => {
            "write iterators of names without closures, `a.iter().eq(b.iter())`, compare arrays, `a == b`, or compare in a `for` loop over `a.iter().zip(&b)`"
        }
        "lt" | "le" | "gt" | "ge" | "cmp" | "partial_cmp" => {
            "compare arrays, `a < b`, or find the first pair that differs in a `for` loop over `a.iter().zip(&b)`"
        }
        "is_sorted" | "is_sorted_by_key" | "is_sorted_by" => {
            "call it on the array or slice, `values.is_sorted()`, or write `values.windows(2).all(|w| w[0] <= w[1])`"
        }
        "unzip" | "partition" => "write into two arrays, with a counter for each",
        _ => return None,
    })
}

pub(crate) fn iterator_value(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedLoop, at, "an iterator is not a value that a kernel can keep or pass on").help(
        "write the whole of it where it is consumed: `for x in values.iter().map(f) { .. }`, `values.iter().map(f).sum::<f32>()`",
    )
}

pub(crate) fn adapted_loop(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedLoop, at, "closures of an iterator in this form are not part of the kernel language").help(
        "write the closures in place, with names for the items: `for x in a.iter().filter(|x| **x > 0)`, or write the test in the loop body",
    )
}

pub(crate) fn no_elements(at: SpanRange, found: Kind) -> Diag {
    Diag::new(Rule::UnsupportedLoop, at, format!("{} cannot be iterated over", found.noun()))
        .help("`for` iterates over ranges, arrays, slices and shared memory")
}

pub(crate) fn elements_of_memory(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedLoop, at, "a loop cannot yield `&mut` elements of memory that all threads share")
        .help("read elements with `.iter()`; write them by index: `for i in 0..memory.len() { memory[i] = ...; }`")
}

pub(crate) fn element_pattern(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedPattern, at, "this pattern does not match the items of the loop").help(
        "elements of `.iter()` are references: bind a name, or the value with `&pattern`; `enumerate` and `zip` yield pairs; of `.iter_mut()`, bind one name, and write its parts: `pair.0 += 1`",
    )
}

pub(crate) fn no_consumer(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::UnsupportedLoop, at, format!("`{name}` is not supported on an iterator")).help(
        instead_of_adaptor(name).unwrap_or(
            "the supported methods are `sum`, `product`, `fold`, `reduce`, `any`, `all`, `count`, `min`, `max`, `min_by`, `max_by`, `min_by_key`, `max_by_key`, `find`, `find_map`, `position`, `rposition`, `next`, `nth`, `last`, `for_each`, `try_fold` and `try_for_each`, with `map`, `filter`, `filter_map`, `take_while`, `skip_while`, `map_while` and `scan` before them; write others as a `for` loop",
        ),
    )
}

pub(crate) fn consumer_form(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::UnsupportedLoop, at, format!("`{name}` in this form is not part of the kernel language"))
        .help("write `.fold(start, |total, x| ..)`, closures in place, `.filter(|x| ..)` after `.copied()`, and `Some`, `None`, `Ok` or `Err` in the closure of `try_fold`")
}

pub(crate) fn item_reference(at: SpanRange, name: &str) -> Diag {
    Diag::new(
        Rule::UnsupportedLoop,
        at,
        format!("the items of this iterator are references, but `{name}` must give a value here"),
    )
    .help("write `.copied()` after `.iter()`; then `filter` takes `|&x| ..`")
}

pub(crate) fn element_reference(at: SpanRange, name: &str) -> Diag {
    let call = if name == "get" { "get(i)" } else { &format!("{name}()") };
    Diag::new(Rule::UnknownMethod, at, format!("`{name}` cannot return a reference into memory in a kernel"))
        .help(format!("bind the memory to a name, and copy the element: `memory.{call}.copied()`"))
}

pub(crate) fn optional_part(at: SpanRange) -> Diag {
    Diag::new(Rule::UnknownMethod, at, "an option of a part of memory must be taken apart where it is made")
        .help("bind the part: `if let Some(part) = memory.get(a..b) { .. }`, or `let Some(part) = memory.get(a..b) else { .. };`")
}

pub(crate) fn filter_form(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSyntax, at, "`filter` requires a closure that is written in place, of one argument")
        .help("write `|x| *x > 0` or `|&x| x > 0`; after `.iter()`, which yields references, write `.copied()` first")
}

pub(crate) fn no_option_to_return(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSyntax, at, "`?` can only be used in a device function that returns an `Option`")
        .help("write `let Some(x) = option else { ... };`, or `match`")
}

pub(crate) fn unknown_label(at: SpanRange, label: &str) -> Diag {
    Diag::new(Rule::UnknownLabel, at, format!("no enclosing loop or block is labelled `'{label}`"))
}

pub(crate) fn outside_loop(at: SpanRange, keyword: &str) -> Diag {
    Diag::new(Rule::OutsideLoop, at, format!("`{keyword}` must be inside a loop"))
}

pub(crate) fn guarded_choice(at: SpanRange) -> Diag {
    Diag::new(
        Rule::UnsupportedPattern,
        at,
        "a guard on alternatives that bind names is supported only if they are the whole pattern and the guard has no `let`",
    )
    .help("write an arm for each alternative, each with the guard")
}

/// An iterator that a function of `std::iter` makes.
pub(crate) fn made_iterator(at: SpanRange, name: &str) -> Diag {
    let help = match name {
        "repeat" | "repeat_n" | "repeat_with" => "write a loop over a range, `for _ in 0..n`",
        "once" | "empty" => "write what is done with the one item before or after the loop over the others",
        _ => "write a loop: `let mut next = first; while let Some(x) = next { next = ..; .. }`",
    };
    Diag::new(
        Rule::UnsupportedLoop,
        at,
        format!("the iterators of `std::iter::{name}` are not part of the kernel language"),
    )
    .help(help)
}
