//! Sentences about the options of `#[cluster_kernel(...)]` and `#[device(...)]`.

use super::list;
use crate::diag::Diag;
use crate::nearest::nearest;
use crate::rules::Rule;
use crate::span::SpanRange;

pub(crate) fn unknown_option(at: SpanRange, name: &str, known: &[&str]) -> Diag {
    let diag = Diag::new(Rule::AttributeOption, at, format!("unknown option `{name}`"));
    match nearest(name, known.iter().copied()) {
        Some(meant) => diag.help(format!("did you mean `{meant}`?")),
        None => diag.help(format!("the options are {}", list(known.iter().copied()))),
    }
}

pub(crate) fn repeated_option(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::AttributeOption, at, format!("option `{name}` is given twice"))
}

pub(crate) fn malformed_option(at: SpanRange, name: &str, form: &str) -> Diag {
    Diag::new(Rule::AttributeOption, at, format!("option `{name}` must be written `{form}`"))
}

pub(crate) fn beyond_arch(at: SpanRange, what: &str, needed: &str, (major, minor): (i32, i32)) -> Diag {
    Diag::new(Rule::LaunchLimit, at, format!("{what} needs {needed}, but the attribute's `arch` has {major}.{minor}"))
        .help("leave `arch` out, or do without it on such GPUs")
}

pub(crate) fn malformed_options(at: SpanRange) -> Diag {
    Diag::new(Rule::AttributeOption, at, "an option must be a name, with a value if it takes one")
        .help("write `cluster = 4, block = 256, non_portable`")
}

pub(crate) fn fmad_beside_fast_math(at: SpanRange) -> Diag {
    Diag::new(Rule::AttributeOption, at, "`fmad` has no effect beside `fast_math`, which contracts already")
        .help("remove `fmad`")
}

pub(crate) fn min_blocks_and_registers(at: SpanRange) -> Diag {
    Diag::new(
        Rule::AttributeOption,
        at,
        "`min_blocks` and `max_registers` cannot be combined: both limit the registers of a thread",
    )
    .help("remove one of them")
}

pub(crate) fn min_blocks_without_block(at: SpanRange) -> Diag {
    Diag::new(Rule::AttributeOption, at, "`min_blocks` requires `block`: how many blocks fit depends on their size")
        .help("fix the block in the attribute too: `block = 256, min_blocks = 4`")
}

// `unchecked(...)`.

pub(crate) fn unknown_rule(at: SpanRange, name: &str) -> Diag {
    let diag = Diag::new(Rule::Unchecked, at, format!("there is no rule `{name}`"));
    if let Some(meant) = nearest(name, Rule::switchable().map(|(rule, _)| rule.name())) {
        return diag.help(format!("did you mean `{meant}`?"));
    }
    let known: Vec<String> = Rule::switchable().map(|(rule, summary)| format!("`{rule}` ({summary})")).collect();
    diag.help(format!("these can be switched off: {}", known.join("; ")))
}

pub(crate) fn fixed_rule(at: SpanRange, rule: Rule, why: &str) -> Diag {
    Diag::new(Rule::Unchecked, at, format!("`{rule}` cannot be switched off: {why}"))
        .help(format!("these can: {}", list(Rule::switchable().map(|(rule, _)| rule.name()))))
}

pub(crate) fn repeated_rule(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::Unchecked, at, format!("`{name}` is given twice"))
}

pub(crate) fn unchecked_methods(at: SpanRange) -> Diag {
    Diag::new(Rule::Unchecked, at, "`unchecked` applies to a single function, not to an `impl` or a trait")
        .help("write a free `#[device]` function")
}

pub(crate) fn misplaced_unchecked(at: SpanRange) -> Diag {
    Diag::new(Rule::Unchecked, at, "`#[unchecked(...)]` must be on an `unsafe` block")
        .help("write `#[unchecked(rule)] unsafe { .. }` round the statements that are right without the rule")
}

pub(crate) fn not_needed(at: SpanRange, rule: Rule, summary: &str) -> Diag {
    Diag::new(Rule::Unchecked, at, format!("`{rule}` is not broken here: {summary}"))
        .help("remove it from `unchecked`, so that the rule stays checked")
}

// Limits of a launch.

pub(crate) fn zero_extent(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::LaunchLimit, at, format!("`{name}` has an extent of 0")).help("every extent must be at least 1")
}

pub(crate) fn cluster_too_large(at: SpanRange, blocks: u64) -> Diag {
    Diag::new(
        Rule::LaunchLimit,
        at,
        format!("a cluster of {blocks} blocks is too large: no device supports more than 16"),
    )
}

pub(crate) fn cluster_not_portable(at: SpanRange, blocks: u64) -> Diag {
    Diag::new(
        Rule::LaunchLimit,
        at,
        format!("a cluster of {blocks} blocks is not portable: some devices support no more than 8"),
    )
    .help("add `non_portable` to the attribute to ask for up to 16")
}

pub(crate) fn block_too_large(at: SpanRange, threads: u64) -> Diag {
    Diag::new(
        Rule::LaunchLimit,
        at,
        format!("a block of {threads} threads is too large: no device supports more than 1024"),
    )
}

/// The attribute's block has a rest that is no tile.
pub(crate) fn partial_tile(at: SpanRange, threads: u64, size: u64) -> Diag {
    Diag::new(
        Rule::LaunchLimit,
        at,
        format!("a block of {threads} threads cannot be partitioned into tiles of {size}: every launch fails here"),
    )
    .help(format!("make the attribute's `block` a multiple of {size}"))
}

pub(crate) fn block_too_deep(at: SpanRange, z: u64) -> Diag {
    Diag::new(Rule::LaunchLimit, at, format!("a block of depth {z} is too deep: no device supports more than 64"))
}

pub(crate) fn min_blocks(at: SpanRange, blocks: u64) -> Diag {
    Diag::new(Rule::LaunchLimit, at, format!("`min_blocks` is {blocks}, but a multiprocessor holds 1 to 32 blocks"))
}

pub(crate) fn min_blocks_of_block(at: SpanRange, blocks: u64, threads: u64) -> Diag {
    let message = format!(
        "`min_blocks` is {blocks} with {threads} threads per block, but a multiprocessor holds at most 2048 threads"
    );
    Diag::new(Rule::LaunchLimit, at, message)
}

pub(crate) fn max_registers(at: SpanRange, registers: u64) -> Diag {
    Diag::new(Rule::LaunchLimit, at, format!("`max_registers` is {registers}, but a thread can have 24 to 255"))
}

pub(crate) fn registers_of_block(at: SpanRange, threads: u64, most: u64) -> Diag {
    let message = format!("a block of {threads} threads can have at most {most} registers per thread");
    Diag::new(Rule::LaunchLimit, at, message)
}

pub(crate) fn shared_bytes(at: SpanRange, bytes: u64) -> Diag {
    Diag::new(
        Rule::LaunchLimit,
        at,
        format!("`shared_bytes` is {bytes}, but no device supports more than 232448 per block"),
    )
}

pub(crate) fn standard_trait(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, format!("`{name}` is a trait of the standard library, whose methods cannot be device functions"))
        .help("write methods in `#[device] impl Type { .. }`, or a `#[device] trait` of your own; of the standard library's, `From`, the comparisons, and the operators `+ - * / % & | ^ << >> !` and those that assign can be implemented")
}

/// An operator names shared memory.
pub(crate) fn memory_in_operator(at: SpanRange) -> Diag {
    Diag::new(
        Rule::UnsupportedSignature,
        at,
        "an operator cannot name shared memory: the checks of its callers do not see it",
    )
    .help("make it a device function, which is called by its name")
}

/// An operator takes a reference, or something else than a value.
pub(crate) fn operator_of_reference(at: SpanRange, name: &str) -> Diag {
    Diag::new(
        Rule::UnsupportedSignature,
        at,
        format!("the operands of `{name}` are values in kernels, but for the `&mut self` of one that assigns"),
    )
    .help("implement it for the type itself; in a kernel, `a + b` of references reads what they refer to")
}

/// A kernel has the name of one of Rust's own types.
pub(crate) fn kernel_named_as_type(at: SpanRange, name: &str) -> Diag {
    Diag::new(
        Rule::UnsupportedSignature,
        at,
        format!("a kernel cannot be named `{name}`: its launch is a type of that name"),
    )
    .help("give it a name that no type of Rust has")
}
