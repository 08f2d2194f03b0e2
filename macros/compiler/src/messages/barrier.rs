//! Sentences about phase barriers, and about the split barrier that groups of a warp lack.

#![warn(clippy::wildcard_enum_match_arm)]

use super::{list, short};
use crate::diag::Diag;
use crate::model::barrier::{Barrier, BarrierForm, BarrierScope};
use crate::model::group::Group;
use crate::rules::Rule;
use crate::span::SpanRange;

pub(crate) fn no_split_barrier(at: SpanRange, group: Group) -> Diag {
    Diag::new(Rule::UnknownMethod, at, format!("a {} has no split barrier", group.noun()))
        .help("use `sync`, which waits for all threads of the group")
}

pub(crate) fn unbound_barrier(at: SpanRange, origin: &str) -> Diag {
    Diag::new(Rule::UnboundSharedArray, at, "a barrier in shared memory must be bound to a name")
        .help(format!("bind it first: `let bar = {origin}();`"))
}

pub(crate) fn barrier_copy(at: SpanRange, barrier: Barrier) -> Diag {
    Diag::new(
        Rule::BarrierCopy,
        at,
        format!("{} cannot be copied or moved: it has one address in shared memory", barrier.noun()),
    )
    .help(
        "use the name that `shared_barrier()` or a similar function was bound to; pass it to a device function by `&`",
    )
}

pub(crate) fn remote_barrier_by_reference(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedType, at, "`RemoteBarrier` must be passed by value").help("write `RemoteBarrier`")
}

pub(crate) fn token_of_array(at: SpanRange, barrier: Barrier) -> Diag {
    let one = barrier.element().rust_name();
    let diag = Diag::new(Rule::UnsupportedType, at, format!("{} has no arrival tokens", barrier.noun()));
    match barrier.form {
        BarrierForm::Remote => diag.help("a thread can arrive at a peer's barrier, but cannot wait there"),
        BarrierForm::One | BarrierForm::Array => {
            diag.help(format!("name the type of one of its barriers: `ArrivalToken<{one}>`"))
        }
    }
}

pub(crate) fn token_of_unknown_barrier(at: SpanRange) -> Diag {
    Diag::new(Rule::BarrierTokenMixed, at, "the signature does not say which barrier this token belongs to").help(
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
        .help(format!("write `let {0} = {1}();` and `bar.init_collective(&{0}, count)`", short(group), group.origin()))
}

pub(crate) fn unknown_barrier_method(at: SpanRange, name: &str, barrier: Barrier) -> Diag {
    let diag = |what: String| Diag::new(Rule::UnknownMethod, at, what);
    let methods = list(barrier.methods().iter().map(|method| method.name));
    match barrier.form {
        BarrierForm::Remote => Diag::new(
            Rule::BarrierScope,
            at,
            format!("a peer's barrier has no `{name}`: only threads of its own block can wait at it"),
        )
        .help(format!("its methods are {methods}; wait at a barrier of the thread's own block")),
        BarrierForm::One => {
            diag(format!("{} has no method `{name}`", barrier.noun())).help(format!("its methods are {methods}"))
        }
        BarrierForm::Array => diag(format!("{} has no method `{name}`", barrier.noun()))
            .help(format!("its methods are {methods}; select one of its barriers: `bars[i].{name}(...)`")),
    }
}

pub(crate) fn barrier_scope(at: SpanRange) -> Diag {
    let peers = Barrier { scope: BarrierScope::Cluster, form: BarrierForm::One };
    Diag::new(Rule::BarrierScope, at, "a peer cannot arrive at this barrier, which is for the threads of its own block")
        .help(format!("use a cluster barrier: `let bar = {}();`", peers.origin()))
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
    Diag::new(Rule::BarrierCount, at, format!("a phase cannot expect {count} arrivals: the count must be 1 to {most}"))
}

/// `ended` is the place where the barrier was invalidated, `later` a place where it is initialized on some path, `one_block` a
/// condition there that holds in one block alone.
pub(crate) fn barrier_uninitialized(
    at: SpanRange,
    name: &str,
    ended: Option<SpanRange>,
    later: Option<SpanRange>,
    one_block: Option<SpanRange>,
) -> Diag {
    let diag = match ended {
        Some(_) => {
            format!("{name} must be initialized before this use, but may have been invalidated since its last `init`")
        }
        None => format!("{name} must be initialized before this use, but may still be uninitialized"),
    };
    let diag = Diag::new(Rule::BarrierUninitialized, at, diag);
    let diag = match (ended, later) {
        (Some(ended), _) => diag.note(ended, "it is invalidated here"),
        (None, Some(later)) => diag.note(later, "it is initialized here, but not on every path to the use"),
        (None, None) => diag,
    };
    if let Some(condition) = one_block {
        return diag
            .note(condition, "this holds for a thread of one block, and each block has a barrier of its own")
            .help("let one thread of each block call `init`: `if block.thread_rank() == 0 { bar.init(count); }`");
    }
    diag.help("let one thread call `init` and synchronize the block before the use: `if block.thread_rank() == 0 { bar.init(count); } block.sync();`, or let all threads call `bar.init_collective(&block, count)`")
}

/// `init` is a place where other barriers of the array are initialized, or where no thread comes.
pub(crate) fn barrier_never_initialized(at: SpanRange, name: &str, init: Option<SpanRange>) -> Diag {
    let diag = Diag::new(
        Rule::BarrierUninitialized,
        at,
        format!("{name} must be initialized before this use, but no thread initializes it"),
    );
    let diag = init.into_iter().fold(diag, |diag, init| diag.note(init, "no thread executes this `init` for it"));
    diag.help("initialize each barrier that is used; for an array, let all threads call `bars.init_collective(&block, count)`")
}

/// Adds to a fault of certain runs which those are: those in which all integers that the host passes have these values, by value and
/// in read-only memory.
pub(crate) fn where_integers_are(fault: Diag, argument: Option<u64>, element: Option<u64>) -> Diag {
    let argument = argument.map(|value| format!("each integer argument is {value}"));
    let element = element.map(|value| format!("each element of read-only memory is {value}"));
    let known: Vec<String> = argument.into_iter().chain(element).collect();
    if known.is_empty() { fault } else { fault.remark(format!("for example, if {}", known.join(" and "))) }
}

/// `peers` is the group of a peer's barrier, `None` for the block's own.
pub(crate) fn barrier_unpublished(at: SpanRange, name: &str, init: Option<SpanRange>, peers: Option<Group>) -> Diag {
    let who = if peers.is_some() { "its block" } else { "the thread that initializes it" };
    let diag = Diag::new(
        Rule::BarrierUnpublished,
        at,
        format!(
            "{name} must be initialized before other threads use it, but {who} may not have reached its `init` yet"
        ),
    );
    let diag = init.into_iter().fold(diag, |diag, init| diag.note(init, "it is initialized here"));
    let group = peers.unwrap_or(Group::ThreadBlock);
    diag.help(format!("synchronize all threads of the {} after the `init`: `{}.sync();`", group.noun(), short(group)))
}

/// `condition` is the condition that chooses the threads, if one does.
pub(crate) fn barrier_init_not_elected(at: SpanRange, name: &str, condition: Option<SpanRange>) -> Diag {
    let diag = Diag::new(
        Rule::BarrierInitNotElected,
        at,
        format!("{name} must be initialized by one thread, but several threads may initialize it here"),
    );
    let diag = condition.into_iter().fold(diag, |diag, condition| {
        diag.note(condition, "the condition is not known to hold for at most one thread of the block")
    });
    diag.help("let one thread do it: `if block.thread_rank() == 0 { bar.init(count); }`; or let all threads call `bar.init_collective(&block, count)`")
}

/// `condition` is the condition that chooses the threads, if one does.
pub(crate) fn barrier_invalidate_not_elected(at: SpanRange, name: &str, condition: Option<SpanRange>) -> Diag {
    let diag = Diag::new(
        Rule::BarrierInitNotElected,
        at,
        format!("{name} must be invalidated by one thread, but several threads may invalidate it here"),
    );
    let diag = condition.into_iter().fold(diag, |diag, condition| {
        diag.note(condition, "the condition is not known to hold for at most one thread of the block")
    });
    diag.help("let one thread do it: `if block.thread_rank() == 0 { bar.invalidate(); }`")
}

pub(crate) fn barrier_reinit(at: SpanRange, name: &str, earlier: Option<SpanRange>) -> Diag {
    let diag = Diag::new(Rule::BarrierReinit, at, format!("{name} must not be initialized while it is in use"));
    let diag =
        earlier.into_iter().fold(diag, |diag, earlier| diag.note(earlier, "its current use begins with this `init`"));
    diag.help("a barrier's count restarts by itself in each phase; for another count, let one thread call `invalidate` and synchronize the block before the next `init`")
}

pub(crate) fn barrier_reinit_by_call(at: SpanRange, first: SpanRange) -> Diag {
    let diag = Diag::new(
        Rule::BarrierReinit,
        at,
        "this call initializes a barrier that an earlier call of the function left in use: all calls of a device function share its barriers",
    );
    let again = (first.line(), first.column()) == (at.line(), at.column());
    let diag = if again { diag.remark("it is called in a loop") } else { diag.note(first, "the earlier call is here") };
    diag.help("let one thread call `invalidate` at the function's end and synchronize the block, or initialize the barrier once and pass it to the function")
}

pub(crate) fn barrier_use_after_drop(at: SpanRange, name: &str, dropped: Option<SpanRange>) -> Diag {
    let diag = Diag::new(
        Rule::BarrierUseAfterDrop,
        at,
        format!("a thread must not arrive at {name} after it has dropped out"),
    );
    let diag = dropped
        .into_iter()
        .fold(diag, |diag, dropped| diag.note(dropped, "it drops out here: later phases do not count it"));
    diag.help("`arrive_and_drop` is a thread's last arrival; it may still wait, by the phase's parity")
}

/// `other` is the barrier that returned the token.
pub(crate) fn barrier_token_mixed(at: SpanRange, name: &str, other: &str, arrival: SpanRange) -> Diag {
    Diag::new(Rule::BarrierTokenMixed, at, format!("this token belongs to {other}, not to {name}"))
        .note(arrival, "it comes from this arrival")
        .help("a token is valid only at the barrier that returned it")
}

pub(crate) fn barrier_stale_token(at: SpanRange, name: &str, arrival: SpanRange) -> Diag {
    Diag::new(Rule::BarrierStaleToken, at, format!("this token may be older than the previous phase of {name}"))
        .note(
            arrival,
            "the token comes from this arrival; since then two phases may have completed, or the barrier may have been initialized again",
        )
        .help("wait with it before the next phase completes: a token is valid in its own phase and in the next")
}

pub(crate) fn phase_arrive_while_pending(at: SpanRange, name: &str, first: SpanRange) -> Diag {
    Diag::new(
        Rule::ArriveWhilePending,
        at,
        format!("a thread must not arrive at {name} twice in one phase, but the phase of its previous arrival may not have completed"),
    )
    .note(first, "the previous arrival is here, and the thread has not observed the end of its phase since")
    .help("each phase counts each thread once: wait for the phase before arriving again")
}

/// `expected` is the count, if the text shows it, and `arrivals` the largest number of arrivals.
pub(crate) fn barrier_count_too_many(
    wait: SpanRange,
    name: &str,
    init: SpanRange,
    expected: Option<u64>,
    arrivals: u64,
) -> Diag {
    let expected = match expected {
        None | Some(1) => "an arrival".into(),
        Some(expected) => format!("{expected} arrivals"),
    };
    let most = match arrivals {
        0 => "no thread arrives".into(),
        arrivals => format!("at most {arrivals} can occur"),
    };
    Diag::new(
        Rule::BarrierCount,
        wait,
        format!("the phase of {name} must receive {expected} to complete, but {most}: this wait never returns"),
    )
    .note(init, "the expected count is set here")
    .help("expect only as many arrivals as there are; `expect_tx` and copies do not arrive, so let a thread arrive for them")
}

/// `each` is the number of arrivals of each of the block's `threads`.
pub(crate) fn barrier_count_too_few(
    at: SpanRange,
    name: &str,
    init: SpanRange,
    expected: u64,
    (threads, each): (u64, u64),
) -> Diag {
    let times = if each == 1 { String::new() } else { format!(" {each} times each") };
    Diag::new(
        Rule::BarrierCount,
        at,
        format!("a phase of {name} must expect all threads that arrive and wait together, but it expects {expected} arrivals, and all {threads} threads arrive here{times}"),
    )
    .note(init, "the expected count is set here")
    .help("more than one phase may complete while a thread still waits: expect `block.num_threads()` arrivals, or let only as many threads arrive")
}

/// `used` is where other threads may still be, or come to: at a wait, or else an arrival.
pub(crate) fn barrier_invalidated_in_use(at: SpanRange, name: &str, used: SpanRange, waits: bool) -> Diag {
    let (what, note) = match waits {
        true => ("wait at", "other threads may still be in this wait"),
        false => ("arrive at", "other threads may still reach this arrival"),
    };
    Diag::new(
        Rule::BarrierUnpublished,
        at,
        format!("{name} must not be invalidated while other threads use it, but some may still {what} it"),
    )
    .note(used, note)
    .help("synchronize all threads of the thread block before the `invalidate`: `block.sync();`")
}

/// `branch` is the condition that decides which threads arrive, if it is in the same function.
pub(crate) fn barrier_count_divergent(at: SpanRange, name: &str, init: SpanRange, branch: Option<SpanRange>) -> Diag {
    let diag = Diag::new(
        Rule::BarrierCount,
        at,
        format!("all threads must arrive at {name} for its phase to complete, but some may not reach this arrival"),
    )
    .note(init, "each phase expects as many arrivals as the block has threads");
    let of_branch = "which threads arrive depends on this condition; the others do not arrive elsewhere";
    let diag = branch.into_iter().fold(diag, |diag, branch| diag.note(branch, of_branch));
    diag.help("expect only as many arrivals as there are, or let the other threads arrive too")
}
