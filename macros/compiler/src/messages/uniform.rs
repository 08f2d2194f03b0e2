//! Sentences about uniformity.

use phalanx_contract::uniformity::Uniformity;

use crate::diag::Diag;
use crate::model::group::Group;
use crate::rules::Rule;
use crate::span::SpanRange;

/// What a fault depends on, from the fault back to where threads first differ.
type Chain = Vec<(SpanRange, String)>;

fn with(diag: Diag, chain: Chain, more: usize) -> Diag {
    let diag = chain.into_iter().fold(diag, |diag, (at, note)| diag.note(at, note));
    match more {
        0 => diag,
        1 => diag.remark("it decides about 1 more collective"),
        more => diag.remark(format!("it decides about {more} more collectives")),
    }
}

pub(crate) fn divergent_collective(at: SpanRange, name: &str, group: Group, more: usize, chain: Chain) -> Diag {
    let noun = group.noun();
    let diag = Diag::new(
        Rule::DivergentCollective,
        at,
        format!("`{name}` is for all threads of the {noun}, and not all of them may come here"),
    );
    with(diag, chain, more).help(format!(
        "let all of them execute it, outside of the branch; if they do agree, say so: `{}.uniform(condition)`",
        variable(group)
    ))
}

pub(crate) fn divergent_exit(at: SpanRange, name: &str, group: Group, more: usize, chain: Chain) -> Diag {
    let noun = group.noun();
    let diag = Diag::new(
        Rule::DivergentExit,
        at,
        format!("`{name}` is for all threads of the {noun}, and some of them may have left before"),
    );
    with(diag, chain, more).help(format!(
        "let no thread return before the last collective of the {noun}: put the work under the condition instead"
    ))
}

/// A device function has the collective.
pub(crate) fn divergent_call(at: SpanRange, chain: Chain) -> Diag {
    let diag = Diag::new(
        Rule::DivergentCollective,
        at,
        "this function executes a collective, and not all threads of its group may come here",
    );
    with(diag, chain, 0).help("let all of them call it, outside of the branch")
}

/// A device function decides by an argument who comes to a collective.
pub(crate) fn divergent_argument(at: SpanRange, chain: Chain) -> Diag {
    let diag = Diag::new(
        Rule::DivergentCollective,
        at,
        "this function decides by an argument whether a collective is executed, and it may not be the same for all threads of the group",
    );
    with(diag, chain, 0).help("pass what they agree on; if they do, say so: `group.uniform(argument)`")
}

pub(crate) fn divergent_aligned(at: SpanRange, name: &str, chain: Chain) -> Diag {
    let diag = Diag::new(
        Rule::DivergentAligned,
        at,
        format!("`{name}` is for whole warps, and not all threads of a warp may come here"),
    );
    let plain = name.trim_end_matches("_aligned");
    with(diag, chain, 0).help(format!(
        "use `{plain}`, which is not `.aligned` while a rule is off that has all threads come to a barrier"
    ))
}

pub(crate) fn aligned_in_function(at: SpanRange, name: &str) -> Diag {
    let plain = name.trim_end_matches("_aligned");
    Diag::new(
        Rule::DivergentAligned,
        at,
        format!("`{name}` is for whole warps, and who comes here is up to the callers of this function"),
    )
    .help(format!("use `{plain}`, which is `.aligned` by itself in kernels that keep `divergent_collective`; or move it to the kernel"))
}

fn variable(group: Group) -> &'static str {
    match group {
        Group::Coalesced => "group",
        Group::Tile => "tile",
        Group::ThreadBlock => "block",
        Group::Cluster => "cluster",
        Group::Grid => "grid",
    }
}

/// "all threads of the ...".
fn all(scope: Uniformity) -> String {
    format!("all threads of the {}", scope.noun())
}

pub(crate) fn depends_on_condition() -> String {
    "which threads come depends on this condition".into()
}

pub(crate) fn differs(what: &str, scope: Uniformity, needed: Uniformity) -> String {
    match scope {
        Uniformity::Divergent | Uniformity::Rank => format!("{} is not the same for {}", quoted(what), all(needed)),
        _ => format!("{} is the same for {}, not for {}", quoted(what), all(scope), all(needed)),
    }
}

/// A name in backticks, other words as they are.
fn quoted(what: &str) -> String {
    if what.contains(' ') { what.into() } else { format!("`{what}`") }
}

pub(crate) fn others_may_write(needed: Uniformity) -> String {
    format!("other threads may write to this memory, so that it is not the same for {}", all(needed))
}

pub(crate) fn read_before_barrier(needed: Uniformity) -> String {
    format!(
        "this memory may have been written to since the last barrier, so that it is not the same for {}",
        all(needed)
    )
}

pub(crate) fn result_may_differ() -> String {
    "the result of this call may not be the same for all of them".into()
}

pub(crate) fn gets_its_value(name: &str) -> String {
    format!("`{name}` gets its value here")
}

pub(crate) fn set_under_condition(name: Option<&str>) -> String {
    match name {
        Some(name) => format!("`{name}` depends on this condition"),
        None => "the value depends on this condition".into(),
    }
}
