//! Sentences about phase barriers, and about the one that a group of a warp has not got.

use super::{list, short};
use crate::diag::Diag;
use crate::model::barrier::{Barrier, BarrierForm, BarrierScope};
use crate::model::ty::Group;
use crate::span::SpanRange;

pub(crate) fn no_split_barrier(at: SpanRange, group: Group) -> Diag {
    Diag::new("unknown_method", at, format!("a {} has no split barrier", group.noun()))
        .help("its threads run side by side: `sync` waits for them")
}

pub(crate) fn unbound_barrier(at: SpanRange, origin: &str) -> Diag {
    Diag::new("unbound_shared_array", at, "a barrier in shared memory needs a name")
        .help(format!("bind it first: `let bar = {origin}();`"))
}

pub(crate) fn barrier_copy(at: SpanRange, barrier: Barrier) -> Diag {
    Diag::new("barrier_copy", at, format!("{} has one place in shared memory and one name", barrier.noun())).help(
        "use it under the name that `shared_barrier()` or its like was bound to; a device function takes it by `&`",
    )
}

pub(crate) fn remote_barrier_by_reference(at: SpanRange) -> Diag {
    Diag::new("unsupported_type", at, "`RemoteBarrier` is passed by value").help("write `RemoteBarrier`")
}

pub(crate) fn token_of_array(at: SpanRange, barrier: Barrier) -> Diag {
    let one = barrier.element().rust_name();
    let diag = Diag::new("unsupported_type", at, format!("{} gives no tokens", barrier.noun()));
    match barrier.form {
        BarrierForm::Remote => diag.help("who arrives at a peer's barrier does not wait there"),
        BarrierForm::One | BarrierForm::Array => diag.help(format!("each barrier in it does: `ArrivalToken<{one}>`")),
    }
}

pub(crate) fn token_of_unknown_barrier(at: SpanRange) -> Diag {
    Diag::new("barrier_token_mixed", at, "the signature does not say which barrier this token is of").help(
        "name the barrier's brand by a type parameter: `fn f<B: Brand>(full: &Barrier<B>, empty: &Barrier, token: ArrivalToken<Barrier<B>>)`",
    )
}

pub(crate) fn token_reference(at: SpanRange) -> Diag {
    Diag::new("wrong_kind", at, "expected a token by reference: it is not consumed")
        .help("write `bar.try_wait(&token)`")
}

pub(crate) fn barrier_group(at: SpanRange, barrier: Barrier) -> Diag {
    let group = barrier.scope.group();
    Diag::new("wrong_kind", at, format!("expected the {} by reference: its threads use the barrier", group.noun()))
        .help(format!("write `bar.init_collective(&{0}, count)`, of `let {0} = {1}();`", short(group), group.origin()))
}

pub(crate) fn unknown_barrier_method(at: SpanRange, name: &str, barrier: Barrier) -> Diag {
    let diag = |what: String| Diag::new("unknown_method", at, what);
    let methods = list(barrier.methods().iter().map(|method| method.name));
    match barrier.form {
        BarrierForm::Remote => Diag::new(
            "barrier_scope",
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
    Diag::new("barrier_scope", at, "this barrier is for the threads of its own block: a peer cannot arrive at it")
        .help(format!("make it one for the cluster: `let bar = {}();`", peers.origin()))
}

pub(crate) fn mapped_barrier(at: SpanRange, barrier: Barrier) -> Diag {
    let diag =
        Diag::new("wrong_kind", at, format!("expected a barrier of the thread's own block, found {}", barrier.noun()));
    match barrier.form {
        BarrierForm::Array => diag.help("take one of them: `cluster.map_shared_rank(&bars[i], rank)`"),
        BarrierForm::One | BarrierForm::Remote => diag,
    }
}

pub(crate) fn barrier_count(at: SpanRange, count: u64, most: u64) -> Diag {
    Diag::new("barrier_count", at, format!("no phase has {count} arrivals: there can be 1 to {most}"))
}
