//! Sentences about the options of `#[cluster_kernel(...)]` and `#[device(...)]`.

use super::list;
use crate::diag::Diag;
use crate::rules::Rule;
use crate::span::SpanRange;

pub(crate) fn unknown_option(at: SpanRange, name: &str, known: &[&str]) -> Diag {
    Diag::new(Rule::AttributeOption, at, format!("unknown option `{name}`"))
        .help(format!("the options are {}", list(known.iter().copied())))
}

pub(crate) fn repeated_option(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::AttributeOption, at, format!("option `{name}` is given twice"))
}

pub(crate) fn malformed_option(at: SpanRange, name: &str, form: &str) -> Diag {
    Diag::new(Rule::AttributeOption, at, format!("option `{name}` is written `{form}`"))
}

pub(crate) fn malformed_options(at: SpanRange) -> Diag {
    Diag::new(Rule::AttributeOption, at, "options are names, each with its value if it has one")
        .help("write `cluster = 4, block = 256, non_portable`")
}

pub(crate) fn inferred_fence(at: SpanRange) -> Diag {
    Diag::new(Rule::AttributeOption, at, "fences are not inferred yet: every barrier orders all memory")
        .help("write `fence = \"full\"` to keep that, or leave the option out")
}

pub(crate) fn fmad_beside_fast_math(at: SpanRange) -> Diag {
    Diag::new(Rule::AttributeOption, at, "`fast_math` contracts already").help("leave `fmad` out")
}

pub(crate) fn min_blocks_and_registers(at: SpanRange) -> Diag {
    Diag::new(
        Rule::AttributeOption,
        at,
        "`min_blocks` and `max_registers` both say how many registers a thread may have",
    )
    .help("leave one of them out")
}

pub(crate) fn min_blocks_without_block(at: SpanRange) -> Diag {
    Diag::new(Rule::AttributeOption, at, "`min_blocks` needs `block`: blocks of what size are to fit?")
        .help("fix the block in the attribute too: `block = 256, min_blocks = 4`")
}

// `unchecked(...)`.

pub(crate) fn unknown_rule(at: SpanRange, name: &str) -> Diag {
    let known: Vec<String> = Rule::switchable().map(|(rule, summary)| format!("`{rule}` ({summary})")).collect();
    Diag::new(Rule::Unchecked, at, format!("there is no rule `{name}`"))
        .help(format!("these can be switched off: {}", known.join("; ")))
}

pub(crate) fn fixed_rule(at: SpanRange, rule: Rule, why: &str) -> Diag {
    Diag::new(Rule::Unchecked, at, format!("`{rule}` cannot be switched off: {why}"))
        .help(format!("these can: {}", list(Rule::switchable().map(|(rule, _)| rule.name()))))
}

pub(crate) fn repeated_rule(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::Unchecked, at, format!("`{name}` is given twice"))
}

pub(crate) fn unchecked_methods(at: SpanRange) -> Diag {
    Diag::new(Rule::Unchecked, at, "rules are switched off for one function, and not for an `impl` or a trait")
        .help("write a free `#[device]` function")
}

pub(crate) fn not_needed(at: SpanRange, rule: Rule, summary: &str) -> Diag {
    Diag::new(Rule::Unchecked, at, format!("`{rule}` is not broken here: {summary}"))
        .help("leave it out of `unchecked`: what holds stays checked")
}

// Limits of a launch.

pub(crate) fn zero_extent(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::LaunchLimit, at, format!("`{name}` has an extent of 0")).help("every extent is at least 1")
}

pub(crate) fn cluster_too_large(at: SpanRange, blocks: u64) -> Diag {
    Diag::new(Rule::LaunchLimit, at, format!("a cluster of {blocks} blocks: no device has clusters of more than 16"))
}

pub(crate) fn cluster_not_portable(at: SpanRange, blocks: u64) -> Diag {
    Diag::new(Rule::LaunchLimit, at, format!("a cluster of {blocks} blocks: more than 8 do not run on every device"))
        .help("add `non_portable` to the attribute to ask for up to 16")
}

pub(crate) fn block_too_large(at: SpanRange, threads: u64) -> Diag {
    Diag::new(Rule::LaunchLimit, at, format!("a block of {threads} threads: no device has blocks of more than 1024"))
}

pub(crate) fn block_too_deep(at: SpanRange, z: u64) -> Diag {
    Diag::new(Rule::LaunchLimit, at, format!("a block of depth {z}: no device has blocks deeper than 64"))
}

pub(crate) fn min_blocks(at: SpanRange, blocks: u64) -> Diag {
    Diag::new(Rule::LaunchLimit, at, format!("`min_blocks` of {blocks}: a multiprocessor holds 1 to 32 at once"))
}

pub(crate) fn min_blocks_of_block(at: SpanRange, blocks: u64, threads: u64) -> Diag {
    let message = format!(
        "`min_blocks` of {blocks}, with {threads} threads each: no multiprocessor holds more than 2048 threads"
    );
    Diag::new(Rule::LaunchLimit, at, message)
}

pub(crate) fn max_registers(at: SpanRange, registers: u64) -> Diag {
    Diag::new(Rule::LaunchLimit, at, format!("`max_registers` of {registers}: a thread has 24 to 255"))
}

pub(crate) fn registers_of_block(at: SpanRange, threads: u64, most: u64) -> Diag {
    let message = format!("a block of {threads} threads would not run: its registers are {most} a thread at most");
    Diag::new(Rule::LaunchLimit, at, message)
}

pub(crate) fn shared_bytes(at: SpanRange, bytes: u64) -> Diag {
    Diag::new(Rule::LaunchLimit, at, format!("`shared_bytes` of {bytes}: no device has more than 232448 for a block"))
}

pub(crate) fn standard_trait(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, format!("`{name}` is the standard library's: it has no place for device functions"))
        .help("write methods in `#[device] impl Type { .. }`, or a `#[device] trait` of your own; operators are those of numbers")
}
