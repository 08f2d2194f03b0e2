//! Sentences about uniformity.

#![warn(clippy::wildcard_enum_match_arm)]

use phalanx_contract::uniformity::Uniformity;

use super::short;
use crate::diag::Diag;
use crate::model::group::Group;
use crate::rules::Rule;
use crate::span::SpanRange;

/// The values that a fault depends on, from the fault back to where threads first differ.
type Chain = Vec<(SpanRange, String)>;

fn with(diag: Diag, chain: Chain, more: usize) -> Diag {
    let diag = chain.into_iter().fold(diag, |diag, (at, note)| diag.note(at, note));
    match more {
        0 => diag,
        1 => diag.remark("another collective depends on it"),
        more => diag.remark(format!("another {more} collectives depend on it")),
    }
}

pub(crate) fn divergent_collective(at: SpanRange, name: &str, group: Group, more: usize, chain: Chain) -> Diag {
    let noun = group.noun();
    let diag = Diag::new(
        Rule::DivergentCollective,
        at,
        format!("`{name}` must be reached by all threads of the {noun}, but some may not reach it"),
    );
    // The name of a group of a warp is the user's.
    let say_so = match group {
        Group::Tile | Group::Coalesced => format!("with `uniform(condition)` of the {noun}"),
        Group::ThreadBlock | Group::Cluster | Group::Grid => format!("`{}.uniform(condition)`", short(group)),
    };
    with(diag, chain, more).help(format!("move it out of the branch; if the condition is uniform, say so: {say_so}"))
}

/// A value on which the fault depends is read from shared memory with no barrier of `group` since it may have been written: that
/// is the cause to mend, and comes first.
pub(crate) fn barrier_before(mut diag: Diag, read: SpanRange, group: Group) -> Diag {
    let is_of_read = |(at, _): &(Option<SpanRange>, String)| at.is_some_and(|at| at.begins_with(read));
    if let Some(cause) = diag.notes.iter().rposition(is_of_read) {
        diag.notes[..=cause].rotate_right(1);
    }
    let sync = format!("{}.sync()", short(group));
    let help = format!(
        "let all threads execute `{sync}` before line {}, after the last write; then the value is the same for all of them",
        read.line()
    );
    Diag { help: None, ..diag }.help(help)
}

/// The value differs because a thread may write to the memory while others read it.
pub(crate) fn barrier_after(diag: Diag, read: SpanRange) -> Diag {
    let help = format!("let all threads execute `block.sync()` after line {}, before any of them writes", read.line());
    Diag { help: None, ..diag }.help(help)
}

/// The condition is known to differ between threads.
pub(crate) fn certainly(diag: Diag, group: Group) -> Diag {
    Diag { help: None, ..diag }.help(match group {
        Group::Tile | Group::Coalesced => "move it out of the branch, or use a group of the threads that take it",
        Group::ThreadBlock | Group::Cluster | Group::Grid => "move it out of the branch",
    })
}

/// The place of another condition on which a fault depends.
pub(crate) fn decides_too(diag: Diag, condition: SpanRange) -> Diag {
    diag.note(condition, "which threads reach it depends on this condition, too")
}

pub(crate) fn divergent_exit(at: SpanRange, name: &str, group: Group, more: usize, chain: Chain) -> Diag {
    let noun = group.noun();
    let diag = Diag::new(
        Rule::DivergentExit,
        at,
        format!("`{name}` must be reached by all threads of the {noun}, but some may have returned before"),
    );
    with(diag, chain, more).help(format!(
        "let no thread return before the last collective of the {noun}: put the work under the condition instead"
    ))
}

/// The collective is in a device function that is called under a divergent condition.
pub(crate) fn divergent_call(at: SpanRange, chain: Chain) -> Diag {
    let diag = Diag::new(
        Rule::DivergentCollective,
        at,
        "this function executes a collective, so all threads of the group must reach this call, but some may not reach it",
    );
    with(diag, chain, 0).help("move the call out of the branch")
}

/// A device function is passed a divergent argument that decides which threads reach a collective.
pub(crate) fn divergent_argument(at: SpanRange, chain: Chain) -> Diag {
    let diag = Diag::new(
        Rule::DivergentCollective,
        at,
        "this argument decides whether a collective is reached, or which part of shared memory is meant, so it must be uniform across the group, but it may differ between threads",
    );
    with(diag, chain, 0).help("pass a uniform value; if the argument is uniform, say so: `group.uniform(argument)`")
}

/// A collective is given an argument that must be the same in all threads of its group.
pub(crate) fn divergent_place(at: SpanRange, name: &str, argument: &str, group: Group, chain: Chain) -> Diag {
    let noun = group.noun();
    let diag = Diag::new(
        Rule::DivergentCollective,
        at,
        format!(
            "the {argument} of `{name}` must be the same for all threads of the {noun}, but it may differ between them"
        ),
    );
    let help = format!("pass a uniform value; if it is uniform, say so: with `uniform(index)` of the {noun}");
    with(diag, chain, 0).help(help)
}

pub(crate) fn divergent_aligned(at: SpanRange, name: &str, chain: Chain) -> Diag {
    let diag = Diag::new(
        Rule::DivergentAligned,
        at,
        format!("`{name}` must be reached by whole warps, but some threads of a warp may not reach it"),
    );
    let plain = name.trim_end_matches("_aligned");
    with(diag, chain, 0).help(format!("use `{plain}`, which is not `.aligned` where a convergence rule is `unchecked`"))
}

pub(crate) fn aligned_in_function(at: SpanRange, name: &str) -> Diag {
    let plain = name.trim_end_matches("_aligned");
    Diag::new(
        Rule::DivergentAligned,
        at,
        format!(
            "`{name}` must be reached by whole warps, but which threads reach it is up to the callers of this function"
        ),
    )
    .help(format!(
        "use `{plain}`, which is `.aligned` wherever the kernel keeps `{}`, or move it to the kernel",
        Rule::DivergentCollective.name()
    ))
}

pub(crate) fn depends_on_condition() -> String {
    "which threads reach it depends on this condition".into()
}

pub(crate) fn differs(what: &str, within: Uniformity, needed: Uniformity) -> String {
    match within {
        Uniformity::Divergent | Uniformity::Rank => {
            format!("{} may differ between threads of the {}", quoted(what), needed.noun())
        }
        Uniformity::Group(_)
        | Uniformity::Parameter(_)
        | Uniformity::Tile(_)
        | Uniformity::Warp
        | Uniformity::Warpgroup
        | Uniformity::Block
        | Uniformity::Cluster
        | Uniformity::Grid => {
            format!("{} is uniform across the {}, but not across the {}", quoted(what), within.noun(), needed.noun())
        }
    }
}

/// Quotes a name with backticks, and leaves a description as it is.
fn quoted(what: &str) -> String {
    if what.contains(' ') { what.into() } else { format!("`{what}`") }
}

pub(crate) fn others_may_write(needed: Uniformity) -> String {
    format!("other threads may write to this memory, so its value may differ between threads of the {}", needed.noun())
}

pub(crate) fn read_before_barrier(needed: Uniformity) -> String {
    format!(
        "this memory may have been written to since the last barrier, so its value may differ between threads of the {}",
        needed.noun()
    )
}

pub(crate) fn overwritten_early(needed: Uniformity) -> String {
    format!(
        "a thread may write to this memory before the others have read it, so its value may differ between threads of the {}",
        needed.noun()
    )
}

pub(crate) fn result_may_differ() -> String {
    "the result of this call may differ between the threads".into()
}

pub(crate) fn gets_its_value(name: &str) -> String {
    format!("`{name}` is assigned here")
}

pub(crate) fn set_under_condition(name: Option<&str>) -> String {
    match name {
        Some(name) => format!("`{name}` depends on this condition"),
        None => "the value depends on this condition".into(),
    }
}
