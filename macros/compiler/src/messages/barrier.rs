//! Sentences about phase barriers, and about the one that a group of a warp has not got.

use super::{list, short};
use crate::diag::Diag;
use crate::model::barrier::{Barrier, BarrierForm, BarrierScope};
use crate::model::group::Group;
use crate::rules::Rule;
use crate::span::SpanRange;

pub(crate) fn no_split_barrier(at: SpanRange, group: Group) -> Diag {
    Diag::new(Rule::UnknownMethod, at, format!("a {} has no split barrier", group.noun()))
        .help("its threads run side by side: `sync` waits for them")
}

pub(crate) fn unbound_barrier(at: SpanRange, origin: &str) -> Diag {
    Diag::new(Rule::UnboundSharedArray, at, "a barrier in shared memory needs a name")
        .help(format!("bind it first: `let bar = {origin}();`"))
}

pub(crate) fn barrier_copy(at: SpanRange, barrier: Barrier) -> Diag {
    Diag::new(Rule::BarrierCopy, at, format!("{} has one place in shared memory and one name", barrier.noun())).help(
        "use it under the name that `shared_barrier()` or its like was bound to; a device function takes it by `&`",
    )
}

pub(crate) fn remote_barrier_by_reference(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedType, at, "`RemoteBarrier` is passed by value").help("write `RemoteBarrier`")
}

pub(crate) fn token_of_array(at: SpanRange, barrier: Barrier) -> Diag {
    let one = barrier.element().rust_name();
    let diag = Diag::new(Rule::UnsupportedType, at, format!("{} gives no tokens", barrier.noun()));
    match barrier.form {
        BarrierForm::Remote => diag.help("who arrives at a peer's barrier does not wait there"),
        BarrierForm::One | BarrierForm::Array => diag.help(format!("each barrier in it does: `ArrivalToken<{one}>`")),
    }
}

pub(crate) fn token_of_unknown_barrier(at: SpanRange) -> Diag {
    Diag::new(Rule::BarrierTokenMixed, at, "the signature does not say which barrier this token is of").help(
        "name the barrier's brand by a type parameter: `fn f<B: Brand>(full: &Barrier<B>, empty: &Barrier, token: ArrivalToken<Barrier<B>>)`",
    )
}

pub(crate) fn token_reference(at: SpanRange) -> Diag {
    Diag::new(Rule::WrongKind, at, "expected a token by reference: it is not consumed")
        .help("write `bar.try_wait(&token)`")
}

pub(crate) fn barrier_group(at: SpanRange, barrier: Barrier) -> Diag {
    let group = barrier.scope.group();
    Diag::new(Rule::WrongKind, at, format!("expected the {} by reference: its threads use the barrier", group.noun()))
        .help(format!("write `bar.init_collective(&{0}, count)`, of `let {0} = {1}();`", short(group), group.origin()))
}

pub(crate) fn unknown_barrier_method(at: SpanRange, name: &str, barrier: Barrier) -> Diag {
    let diag = |what: String| Diag::new(Rule::UnknownMethod, at, what);
    let methods = list(barrier.methods().iter().map(|method| method.name));
    match barrier.form {
        BarrierForm::Remote => Diag::new(
            Rule::BarrierScope,
            at,
            format!("a peer's barrier has no `{name}`: its block's threads are the ones who wait at it"),
        )
        .help(format!("arrive at it: there are {methods}; wait at a barrier of the thread's own block")),
        BarrierForm::One => {
            diag(format!("{} has no method `{name}`", barrier.noun())).help(format!("there are {methods}"))
        }
        BarrierForm::Array => diag(format!("{} has no method `{name}`", barrier.noun()))
            .help(format!("there is {methods}; one of its barriers is written `bars[i].{name}(...)`")),
    }
}

pub(crate) fn barrier_scope(at: SpanRange) -> Diag {
    let peers = Barrier { scope: BarrierScope::Cluster, form: BarrierForm::One };
    Diag::new(Rule::BarrierScope, at, "this barrier is for the threads of its own block: a peer cannot arrive at it")
        .help(format!("make it one for the cluster: `let bar = {}();`", peers.origin()))
}

pub(crate) fn mapped_barrier(at: SpanRange, barrier: Barrier) -> Diag {
    let diag = Diag::new(
        Rule::WrongKind,
        at,
        format!("expected a barrier of the thread's own block, found {}", barrier.noun()),
    );
    match barrier.form {
        BarrierForm::Array => diag.help("take one of them: `cluster.map_shared_rank(&bars[i], rank)`"),
        BarrierForm::One | BarrierForm::Remote => diag,
    }
}

pub(crate) fn barrier_count(at: SpanRange, count: u64, most: u64) -> Diag {
    Diag::new(Rule::BarrierCount, at, format!("no phase has {count} arrivals: there can be 1 to {most}"))
}

/// `ended`: where it was invalidated; `later`: where it is initialised, after all.
pub(crate) fn barrier_uninitialized(
    at: SpanRange,
    name: &str,
    ended: Option<SpanRange>,
    later: Option<SpanRange>,
) -> Diag {
    let diag = match ended {
        Some(_) => format!("{name} may have been invalidated before, and not initialised since"),
        None => format!("{name} may not have been initialised by any thread before this"),
    };
    let diag = Diag::new(Rule::BarrierUninitialized, at, diag);
    let diag = match (ended, later) {
        (Some(ended), _) => diag.note(ended, "it is invalidated here"),
        (None, Some(later)) => diag.note(later, "it is initialised here, to which not every way leads before"),
        (None, None) => diag,
    };
    diag.help("let one thread call `init` and all of them meet before: `if block.thread_rank() == 0 { bar.init(count); } block.sync();`, or all of them `bar.init_collective(&block, count)`")
}

/// `peers`: it is a peer's barrier, of this group.
pub(crate) fn barrier_unpublished(at: SpanRange, name: &str, init: Option<SpanRange>, peers: Option<Group>) -> Diag {
    let who = if peers.is_some() { "its block" } else { "the thread that initialises it" };
    let diag = Diag::new(Rule::BarrierUnpublished, at, format!("{who} may not have come to the `init` of {name} yet"));
    let diag = init.into_iter().fold(diag, |diag, init| diag.note(init, "it is initialised here"));
    let group = peers.unwrap_or(Group::ThreadBlock);
    diag.help(format!(
        "all threads of the {} meet in between: `{}.sync();` after the `init`",
        group.noun(),
        short(group)
    ))
}

pub(crate) fn barrier_init_not_elected(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::BarrierInitNotElected, at, format!("more than one thread initialises {name} here"))
        .help("let one do it, `if block.thread_rank() == 0 { bar.init(count); }`, or all of them together: `bar.init_collective(&block, count)`")
}

pub(crate) fn barrier_reinit(at: SpanRange, name: &str, earlier: Option<SpanRange>) -> Diag {
    let diag = Diag::new(Rule::BarrierReinit, at, format!("{name} is initialised while it is in use"));
    let diag = earlier.into_iter().fold(diag, |diag, earlier| diag.note(earlier, "its life begins here"));
    diag.help("a barrier's count begins anew by itself with each phase; for another count, one thread calls `invalidate` and all meet before")
}

pub(crate) fn barrier_use_after_drop(at: SpanRange, name: &str, dropped: Option<SpanRange>) -> Diag {
    let diag =
        Diag::new(Rule::BarrierUseAfterDrop, at, format!("the thread arrives at {name} after it has dropped out"));
    let diag = dropped
        .into_iter()
        .fold(diag, |diag, dropped| diag.note(dropped, "here it leaves for good: later phases do not count it"));
    diag.help("`arrive_and_drop` is a thread's last arrival; it may still wait, by the phase's parity")
}

/// `other`: the element that the token is of.
pub(crate) fn barrier_token_mixed(at: SpanRange, name: &str, other: &str, arrival: SpanRange) -> Diag {
    Diag::new(Rule::BarrierTokenMixed, at, format!("this token is of {other}, and not of {name}"))
        .note(arrival, "it comes from this arrival")
        .help("a token is good at the barrier that gave it")
}

pub(crate) fn barrier_stale_token(at: SpanRange, name: &str, arrival: SpanRange) -> Diag {
    Diag::new(Rule::BarrierStaleToken, at, format!("this token may be of a phase of {name} before the last one"))
        .note(
            arrival,
            "the token comes from this arrival; since then two phases have ended, or the barrier was initialised anew",
        )
        .help("wait with it before the next phase is over: a token is good in its own phase and in the next")
}

pub(crate) fn phase_arrive_while_pending(at: SpanRange, name: &str, first: SpanRange) -> Diag {
    Diag::new(
        Rule::ArriveWhilePending,
        at,
        format!("a second arrival of the thread at {name} in what may be one phase"),
    )
    .note(first, "the first arrival is here, and nothing has told the thread since that its phase is over")
    .help("each phase counts each thread once: wait for the phase before the next arrival")
}

pub(crate) fn barrier_count_apart(at: SpanRange, name: &str, init: SpanRange, branch: SpanRange) -> Diag {
    Diag::new(
        Rule::BarrierCount,
        at,
        format!("not all threads come to this arrival at {name}, and no phase ends without all"),
    )
    .note(init, "each phase expects as many arrivals as the block has threads")
    .note(branch, "this decides which threads arrive; the others arrive nowhere")
    .help("expect as many arrivals as come, or let the other threads arrive too")
}
