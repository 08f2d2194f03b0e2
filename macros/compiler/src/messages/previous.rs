//! Sentences about launches that may begin before the earlier ones have ended.

use crate::diag::Diag;
use crate::rules::Rule;
use crate::span::SpanRange;

pub(crate) fn access_before_previous(at: SpanRange, name: Option<&str>, may_be_early: bool, wait: SpanRange) -> Diag {
    let memory = name.map_or_else(|| "global memory".to_string(), |name| format!("`{name}`"));
    let sentence =
        format!("{memory} must not be accessed before `wait_previous()`, which some path to here does not come to");
    let diag = Diag::new(Rule::AccessBeforePrevious, at, sentence)
        .remark("the launches before this one may still run until then, and read and write the memory")
        .note(wait, "this waits for them, for the thread that calls it");
    match (name, may_be_early) {
        (Some(name), true) => diag.help(format!(
            "call it first, or write `early({name})` in the attribute if the launches before do not write it: a launch for which that is not so does not begin before they have ended"
        )),
        _ => diag.help("call it first, in every thread and on every path"),
    }
}

pub(crate) fn exit_before_previous(at: SpanRange, wait: SpanRange) -> Diag {
    Diag::new(
        Rule::AccessBeforePrevious,
        at,
        "the kernel must not be left before `wait_previous()`, which some path to here does not come to",
    )
    .remark("a launch that has ended tells the next one that the launches before it have ended, too")
    .note(wait, "this waits for them, for the thread that calls it")
    .help("call it before the `return`, in every thread and on every path")
}

pub(crate) fn wait_previous_in_function(at: SpanRange) -> Diag {
    Diag::new(
        Rule::UnsupportedCall,
        at,
        "`wait_previous` must stand in the kernel itself, where what comes before it and after it is seen",
    )
    .help("move the call to the kernel, out of the device function or the closure")
}

pub(crate) fn early_without_wait(at: SpanRange) -> Diag {
    Diag::new(Rule::AttributeOption, at, "`early` has no effect: the kernel never calls `wait_previous()`")
        .help("remove it")
}

pub(crate) fn no_early_parameter(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::AttributeOption, at, format!("the kernel has no parameter `{name}`"))
        .help("`early` names the parameters that may be read before `wait_previous()`")
}

pub(crate) fn wrong_early_parameter(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::AttributeOption, at, format!("`{name}` is no memory that the kernel only reads"))
        .help("`early` takes parameters of the types `&[T]` and `&TensorMap<Tile>`; values need no option")
}

pub(crate) fn repeated_early_parameter(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::AttributeOption, at, format!("`{name}` is given twice")).help("remove one of them")
}
