//! Loops and jumps.

use crate::diag::Diag;
use crate::model::kind::Kind;
use crate::rules::Rule;
use crate::span::SpanRange;

pub(crate) fn loop_range(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedLoop, at, "`for` goes over a range with two ends")
        .help("write `a..b` or `a..=b`, in parentheses with `.rev()` or `.step_by(n)` where needed")
}

pub(crate) fn range_adaptor(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedLoop, at, "a range in `for` has one `rev` and one `step_by`, and nothing else")
        .help("count with a variable of your own; elements have `enumerate` and `zip`: `for (i, x) in array.iter().enumerate()`")
}

pub(crate) fn loop_adaptor(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::UnsupportedLoop, at, format!("a loop has no `{name}` here")).help(
        "there are `iter`, `iter_mut`, `rev`, `enumerate`, `zip`, `step_by`, `skip`, `take`, `chunks`, `chunks_exact`, `windows`, and `copied` of references; write the rest in the body",
    )
}

pub(crate) fn no_elements(at: SpanRange, found: Kind) -> Diag {
    Diag::new(Rule::UnsupportedLoop, at, format!("{} has no elements", found.noun()))
        .help("`for` goes over ranges, arrays, slices and shared memory")
}

pub(crate) fn elements_of_memory(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedLoop, at, "a loop gives no `&mut` elements of memory, which all threads share")
        .help("read them by `.iter()`; write them by index: `for i in 0..memory.len() { memory[i] = ...; }`")
}

pub(crate) fn parts_of_array(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::UnsupportedLoop, at, format!("`{name}` takes parts of global, shared and remote memory only"))
        .help("go over the local array by index")
}

pub(crate) fn element_pattern(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedPattern, at, "this pattern does not fit what the loop gives").help(
        "elements of `.iter()` are references: bind a name, or the value by `&pattern`; `enumerate` and `zip` give pairs",
    )
}

pub(crate) fn no_consumer(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::UnsupportedLoop, at, format!("an iterator has no `{name}` here")).help(
        "there are `sum`, `product`, `fold`, `any`, `all`, `count`, `min`, `max`, `position` and `for_each`, with `map` and `filter` before them; write others as a `for` loop",
    )
}

pub(crate) fn consumer_form(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::UnsupportedLoop, at, format!("`{name}` in this form is not part of the kernel language")).help(
        "write `.sum::<f32>()` and `.product::<f32>()` with the type, `.fold(start, |total, x| ..)`, and closures in place, `.filter(|&x| ..)` behind `.copied()`; `position` comes behind no `map`",
    )
}

pub(crate) fn item_reference(at: SpanRange, name: &str) -> Diag {
    Diag::new(
        Rule::UnsupportedLoop,
        at,
        format!("the items of this iterator are references, and what `{name}` gives is none here"),
    )
    .help("write `.copied()` behind `.iter()`; `filter` before the end takes `|&x| ..`")
}

pub(crate) fn element_reference(at: SpanRange, name: &str) -> Diag {
    let call = if name == "get" { "get(i)" } else { &format!("{name}()") };
    Diag::new(Rule::UnknownMethod, at, format!("`{name}` gives no reference into memory in a kernel"))
        .help(format!("copy the element, where memory has a name: `memory.{call}.copied()`"))
}

pub(crate) fn map_or(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSyntax, at, "`map_or` takes a name or a literal first here")
        .help("write `match`, or bind the value with `let` before")
}

pub(crate) fn filter_form(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSyntax, at, "`filter` takes a closure that looks through its reference here")
        .help("write `|&x| ..`; behind `.iter()`, which gives references, write `.copied()` before it")
}

pub(crate) fn no_option_to_return(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSyntax, at, "`?` stands in a device function that returns an `Option`")
        .help("write `let Some(x) = option else { ... };`, or `match`")
}

pub(crate) fn unknown_label(at: SpanRange, label: &str) -> Diag {
    Diag::new(Rule::UnknownLabel, at, format!("no enclosing loop or block is labelled `'{label}`"))
}

pub(crate) fn outside_loop(at: SpanRange, keyword: &str) -> Diag {
    Diag::new(Rule::OutsideLoop, at, format!("`{keyword}` outside of a loop"))
}

pub(crate) fn guarded_choice(at: SpanRange) -> Diag {
    Diag::new(
        Rule::UnsupportedPattern,
        at,
        "a guard is tried for each alternative that binds names, and here they are part of a pattern, or the guard has a `let`",
    )
    .help("write an arm for each alternative, each with the guard")
}
