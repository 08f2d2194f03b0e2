//! Sentences about asynchronous copies.

use crate::diag::Diag;
use crate::model::ty::Kind;
use crate::span::SpanRange;

pub(crate) fn copy_form(at: SpanRange) -> Diag {
    Diag::new("argument_count", at, "`memcpy_async` takes a group, where to and from where, and a barrier or none").help(
        "write `memcpy_async(&block, &shared, &slice[a..b], &bar)`, or leave the barrier out and wait by `block.wait_async()`",
    )
}

pub(crate) fn bulk_copy_form(at: SpanRange) -> Diag {
    Diag::new(
        "argument_count",
        at,
        "a bulk copy to shared memory tells a barrier, and one to global memory is waited for by its thread",
    )
    .help("write `bulk_copy_async(&shared, &slice[a..b], &bar)`, or `bulk_copy_async(&mut slice[a..b], &shared)` and `bulk_wait_group::<0>()`")
}

pub(crate) fn copy_ends(at: SpanRange, name: &str) -> Diag {
    let diag = Diag::new("wrong_kind", at, format!("`{name}` does not copy between these kinds of memory"));
    match name {
        "memcpy_async" => diag.help("it copies from global memory to the block's own shared memory"),
        _ => diag.help(
            "it copies from global memory to the block's own shared memory, and from there to global memory or to a peer's",
        ),
    }
}

pub(crate) fn told_barrier(at: SpanRange, expected: &str, found: Kind) -> Diag {
    Diag::new("wrong_kind", at, format!("expected {expected}, found {}", found.noun()))
        .help("the barrier is of the block whose memory is written: it is told when the bytes have arrived")
}

pub(crate) fn barrier_by_value(at: SpanRange) -> Diag {
    Diag::new("wrong_kind", at, "expected the barrier by reference").help("write `&` before it")
}

pub(crate) fn store_async_target(at: SpanRange) -> Diag {
    Diag::new("wrong_kind", at, "`store_async` sends a value to a peer's shared memory")
        .help("its receiver is what `cluster.map_shared_rank(&array, rank)` gives")
}
