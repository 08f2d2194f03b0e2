//! Sentences about launches that may begin before the earlier ones have ended.

use crate::diag::Diag;
use crate::rules::Rule;
use crate::span::SpanRange;

pub(crate) fn access_before_previous(at: SpanRange, name: Option<&str>, may_be_early: bool, wait: SpanRange) -> Diag {
    let memory = name.map_or_else(|| "global memory".to_string(), |name| format!("`{name}`"));
    let sentence =
        format!("{memory} must not be accessed before `wait_previous()`, but some path to here does not call it");
    let diag = Diag::new(Rule::AccessBeforePrevious, at, sentence)
        .remark("the launches before this one may still run until then, and read and write the memory")
        .note(wait, "this waits for them, for the thread that calls it");
    match (name, may_be_early) {
        (Some(name), true) => diag.help(format!(
            "call it first, or write `early({name})` in the attribute if the launches before do not write it: a launch whose preceding launches do write it does not begin before they have ended"
        )),
        _ => diag.help("call it first, in every thread and on every path"),
    }
}

pub(crate) fn exit_before_previous(at: SpanRange, wait: SpanRange) -> Diag {
    Diag::new(
        Rule::AccessBeforePrevious,
        at,
        "a thread must not exit before `wait_previous()`, but some path to here does not call it",
    )
    .remark("the next launch assumes that all earlier launches have ended when this one has")
    .note(wait, "this waits for them, for the thread that calls it")
    .help("call it before the `return`, in every thread and on every path")
}

pub(crate) fn wait_previous_in_function(at: SpanRange) -> Diag {
    Diag::new(
        Rule::UnsupportedCall,
        at,
        "`wait_previous` must be called in the kernel itself, because the checks do not follow it into other functions",
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
    Diag::new(Rule::AttributeOption, at, format!("`{name}` is not memory that the kernel only reads"))
        .help("`early` takes parameters of the types `&[T]` and `&TensorMap<Tile>`; values need no option")
}

pub(crate) fn repeated_early_parameter(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::AttributeOption, at, format!("`{name}` is given twice")).help("remove one of them")
}
