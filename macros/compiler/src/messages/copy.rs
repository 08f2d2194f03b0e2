//! Sentences about asynchronous copies.

use crate::diag::Diag;
use crate::model::copy::CompletionMechanism;
use crate::model::kind::Kind;
use crate::rules::Rule;
use crate::span::SpanRange;

pub(crate) fn copy_form(at: SpanRange) -> Diag {
    Diag::new(Rule::ArgumentCount, at, "`memcpy_async` takes a group, where to and from where, and a barrier or none").help(
        "write `memcpy_async(&block, &shared, &slice[a..b], &bar)`, or leave the barrier out and wait by `block.wait_async()`",
    )
}

pub(crate) fn bulk_copy_form(at: SpanRange) -> Diag {
    Diag::new(
        Rule::ArgumentCount,
        at,
        "a bulk copy to shared memory tells a barrier, and one to global memory is waited for by its thread",
    )
    .help("write `bulk_copy_async(&shared, &slice[a..b], &bar)`, or `bulk_copy_async(&mut slice[a..b], &shared)` and `bulk_wait_group::<0>()`")
}

pub(crate) fn copy_ends(at: SpanRange, name: &str) -> Diag {
    let diag = Diag::new(Rule::WrongKind, at, format!("`{name}` does not copy between these kinds of memory"));
    match name {
        "memcpy_async" => diag.help("it copies from global memory to the block's own shared memory"),
        _ => diag.help(
            "it copies from global memory to the block's own shared memory, and from there to global memory or to a peer's",
        ),
    }
}

pub(crate) fn told_barrier(at: SpanRange, expected: &str, found: Kind) -> Diag {
    Diag::new(Rule::WrongKind, at, format!("expected {expected}, found {}", found.noun()))
        .help("the barrier is of the block whose memory is written: it is told when the bytes have arrived")
}

pub(crate) fn barrier_by_value(at: SpanRange) -> Diag {
    Diag::new(Rule::WrongKind, at, "expected the barrier by reference").help("write `&` before it")
}

pub(crate) fn store_async_target(at: SpanRange) -> Diag {
    Diag::new(Rule::WrongKind, at, "`store_async` sends a value to a peer's shared memory")
        .help("its receiver is what `cluster.map_shared_rank(&array, rank)` gives")
}

/// `to`: of the destination, and not of the source.
pub(crate) fn copy_in_flight(
    at: SpanRange,
    begun: SpanRange,
    name: &str,
    writes: bool,
    to: bool,
    told: CompletionMechanism,
) -> Diag {
    let sentence = match (writes, to) {
        (false, _) => format!("`{name}` is read while a copy to it is under way: its bytes may not have come"),
        (true, true) => format!("`{name}` is written while a copy to it is under way, which may come later"),
        (true, false) => {
            format!("`{name}` is written while a copy from it is under way, which may take what is written")
        }
    };
    let help = match told {
        CompletionMechanism::Barrier => {
            "wait at the copy's barrier before this: `bar.wait(token)`, or `bar.wait_parity(parity)`"
        }
        CompletionMechanism::Group => "let the group wait before this: `block.wait_async()`",
        CompletionMechanism::BulkGroup => {
            "let the copy's thread wait before this: `bulk_wait_group_read::<0>()`, and the others for it"
        }
    };
    Diag::new(Rule::CopyInFlight, at, sentence).note(begun, "the copy begins here").help(help)
}

pub(crate) fn copy_left(at: SpanRange, told: CompletionMechanism) -> Diag {
    let help = match told {
        CompletionMechanism::Group => "let the group wait for it: `block.wait_async()`",
        CompletionMechanism::BulkGroup | CompletionMechanism::Barrier => {
            "let its thread wait for it: `bulk_wait_group_read::<0>()` at least"
        }
    };
    Diag::new(
        Rule::CopyInFlight,
        at,
        "nobody waits for this copy: the block's shared memory may go before it has ended",
    )
    .help(help)
}
