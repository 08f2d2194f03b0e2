//! Sentences about rings of phase barriers: what goes wrong, and the interleaving that leads there.

#![warn(clippy::wildcard_enum_match_arm)]

use crate::diag::Diag;
use crate::rules::Rule;
use crate::span::SpanRange;

/// The most steps of an interleaving that a message has; those before them are left out.
const STEPS: usize = 16;

pub(crate) fn deadlock(at: SpanRange) -> Diag {
    Diag::new(
        Rule::RingDeadlock,
        at,
        "each phase that a thread waits for must be completed, but this wait may never end",
    )
}

/// Nothing but a parity seems to be wrong.
pub(crate) fn wrong_parity(deadlock: Diag) -> Diag {
    deadlock.help(
        "compare the parities of waits and arrivals round by round: the first wait for an empty stage passes at once if its parity is that of the phase before the first",
    )
}

/// A phase gets other bytes than it expects.
pub(crate) fn wrong_bytes(deadlock: Diag) -> Diag {
    deadlock
        .help("expect exactly the bytes that the copies of a phase transfer, once: `bar.expect_tx(bytes)`, before the arrival")
}

/// Some arrivals have come, and nobody is left to make the others.
pub(crate) fn fewer_arrivals(
    deadlock: Diag,
    barrier: &str,
    (came, expected): (u32, u32),
    init: Option<SpanRange>,
) -> Diag {
    let arrivals = if expected == 1 { "arrival" } else { "arrivals" };
    let diag = init.into_iter().fold(deadlock, |diag, init| diag.note(init, "the expected count is set here"));
    diag.help(format!(
        "{barrier} expects {expected} {arrivals} per phase but gets {came}: initialize it with {came}, or make the missing threads arrive"
    ))
}

pub(crate) fn no_arrival(deadlock: Diag, array: &str) -> Diag {
    deadlock.help(format!(
        "no thread arrives at {array}: the threads whose reads or writes this wait is for must arrive there in each round"
    ))
}

/// One lane arrives for a warp that has not met.
pub(crate) fn not_met(diag: Diag) -> Diag {
    Diag { help: None, ..diag }.help(
        "one lane arrives for its warp, but the other lanes may not have reached this point: call `warp.sync()` before the arrival",
    )
}

/// Replaces the help where a copy to global memory still reads the slot.
pub(crate) fn still_stored(diag: Diag) -> Diag {
    Diag { help: None, ..diag }.help(
        "the thread that starts the copy must wait until its source has been read, `bulk_wait_group_read::<0>()`, and then synchronize with the \
         writing threads before they write",
    )
}

/// Replaces the help where a product of a warpgroup still reads the slot.
pub(crate) fn still_multiplied(diag: Diag, begun: SpanRange) -> Diag {
    Diag { help: None, ..diag }.note(begun, "the product that may still read it starts here").help(
        "the warpgroup must wait for the product before its lanes arrive at the barrier that releases the stage: \
         `let sum = warpgroup.wait_mma(product);`, or `warpgroup.wait_mma_prior::<N>()`, which leaves the last `N` products in flight",
    )
}

/// Replaces the help where a copy to a peer still reads the slot, or reads it too early.
pub(crate) fn still_sent(diag: Diag) -> Diag {
    Diag { help: None, ..diag }.help(
        "the copy reads its source until it completes: synchronize the writing threads with the copying thread before the copy, and write again \
         only after the receiver has arrived at a barrier following its wait",
    )
}

/// A phase does not wait for the copy, because no bytes are expected.
pub(crate) fn no_bytes(at: SpanRange, slot: &str, who: (String, bool)) -> Diag {
    Diag { help: None, ..read(at, slot, who) }
        .help("make the phase wait for the copy: call `bar.expect_tx(bytes)` before the arrival of the same thread")
}

/// A thread reads without having waited.
pub(crate) fn no_wait(at: SpanRange, slot: &str, who: (String, bool)) -> Diag {
    Diag { help: None, ..read(at, slot, who) }
        .help("each reading thread must first wait at the barrier on which the copies complete or the writers arrive")
}

/// A lane of the warp waits somewhere, perhaps for all.
pub(crate) fn no_wait_of_all(at: SpanRange, slot: &str, who: (String, bool)) -> Diag {
    Diag { help: None, ..read(at, slot, who) }.help(
        "each reading thread must first wait at the barrier on which the copies complete or the writers arrive; if one lane waits for its warp, \
         call `warp.sync()` after its wait",
    )
}

pub(crate) fn overwrite(at: SpanRange, slot: &str, (who, several): (String, bool), fills: bool) -> Diag {
    let ending = if several { "" } else { "s" };
    let still = if fills { "it is still being filled" } else { "threads may still read it" };
    let help = if fills {
        "wait for the phase in which all readers of the stage arrive after their last read, and let one thread of one block start each copy \
         into a stage, once"
    } else {
        "wait for the phase in which all readers of the stage arrive after their last read"
    };
    Diag::new(Rule::RingOverwrite, at, format!("{slot} must be empty before {who} fill{ending} it, but {still}"))
        .help(help)
}

pub(crate) fn read(at: SpanRange, slot: &str, (who, several): (String, bool)) -> Diag {
    let ending = if several { "" } else { "s" };
    Diag::new(
        Rule::RingRead,
        at,
        format!("{slot} must be full before {who} read{ending} it, but it may not be filled yet"),
    )
    .help("wait for the phase that the stage's copies or writers complete, with that round's parity")
}

pub(crate) fn stale(
    at: SpanRange,
    (barrier, first): (&str, SpanRange),
    (partner, answer): (&str, SpanRange),
    (who, several): (String, bool),
) -> Diag {
    let (ending, have) = if several { ("", "have") } else { ("s", "has") };
    let message = format!(
        "a wait at {barrier} must be for the current round's phase, but the previous round's phase may satisfy it, whose data {who} {have} already released"
    );
    Diag::new(Rule::RingRead, at, message)
        .note(first, format!("{who} wait{ending} for the phase here"))
        .note(answer, format!("{who} arrive{ending} at {partner}"))
        .note(at, "the same phase satisfies this wait")
        .help("do not restart the counter from which the parity is computed, or use each stage an even number of times")
}

pub(crate) fn count(
    at: SpanRange,
    barrier: &str,
    who: &str,
    arrivals: u32,
    lacks: u32,
    init: Option<SpanRange>,
) -> Diag {
    let are = if lacks == 1 { "is" } else { "are" };
    let diag = Diag::new(
        Rule::RingCount,
        at,
        format!(
            "a phase of {barrier} must get exactly as many arrivals as it expects, but {who} may arrive {} when only {lacks} {are} missing",
            times(arrivals)
        ),
    );
    init.into_iter().fold(diag, |diag, init| diag.note(init, "the expected count is set here")).help(
        "initialize the barrier with the number of arrivals of all threads in a phase, and let each thread wait before it arrives again",
    )
}

fn times(number: u32) -> String {
    match number {
        1 => "once".into(),
        2 => "twice".into(),
        _ => format!("{number} times"),
    }
}

pub(crate) fn index(at: SpanRange) -> Diag {
    Diag::new(Rule::RingCount, at, "a stage must exist, but this index may be beyond the last one")
        .help("take the index modulo the number of stages")
}

pub(crate) fn overtaken(at: SpanRange, barrier: &str, (who, several): (String, bool)) -> Diag {
    let ending = if several { "" } else { "s" };
    Diag::new(
        Rule::RingOvertaken,
        at,
        format!("a wait at {barrier} must be for the current phase or the one before, but two phases may complete before {who} wait{ending}"),
    )
    .help("let each thread that waits for a phase arrive in the next one, or signal a second barrier that the arriving threads wait for")
}

pub(crate) fn undrained(at: SpanRange, what: &str) -> Diag {
    Diag::new(
        Rule::RingUndrained,
        at,
        format!("nothing must be in flight to or from a block or thread that exits, but {what} may be"),
    )
    .help("wait before the end: for bulk copies by `bulk_wait_group_read::<0>()`, for peers by `cluster.sync()`")
}

/// A copy for whose barrier no thread waits.
pub(crate) fn not_awaited(at: SpanRange, what: &str) -> Diag {
    Diag { help: None, ..undrained(at, what) }
        .help("wait for it at its barrier on every path to the end, or start it only if a later iteration waits for it")
}

/// Adds the values of constants with which the kernel has the fault.
pub(crate) fn for_values(diag: Diag, values: &[(String, i64)]) -> Diag {
    where_are(diag, values)
}

/// Adds the arguments of a launch that has the fault.
pub(crate) fn for_arguments(diag: Diag, arguments: &[(String, String)]) -> Diag {
    where_are(diag, arguments)
}

/// Says of which data a fault is, and whether threads load some of them themselves.
pub(crate) fn for_data(diag: Diag, are_large: Option<bool>, are_loaded: bool) -> Diag {
    let Some(are_large) = are_large else { return diag };
    let which = if are_loaded { "copied or loaded" } else { "copied" };
    let size = if are_large { "large" } else { "small" };
    diag.remark(format!("this happens if all elements that are {which} are {size}"))
}

fn where_are(diag: Diag, values: &[(String, impl std::fmt::Display)]) -> Diag {
    if values.is_empty() {
        return diag;
    }
    let values = values.iter().map(|(name, value)| format!("`{name}` is {value}")).collect::<Vec<_>>().join(", ");
    diag.remark(format!("this happens if {values}"))
}

/// Adds the steps that lead to a fault, and the threads that then wait.
pub(crate) fn interleaving(
    diag: Diag,
    steps: Vec<(Option<SpanRange>, String)>,
    waits: Vec<(SpanRange, String)>,
) -> Diag {
    let left_out = steps.len().saturating_sub(STEPS);
    let diag = match left_out {
        0 => diag,
        1 => diag.remark("the first step is left out"),
        _ => diag.remark(format!("the first {left_out} steps are left out")),
    };
    let diag = steps.into_iter().skip(left_out).fold(diag, |diag, (at, step)| match at {
        Some(at) => diag.note(at, step),
        None => diag.remark(step),
    });
    waits.into_iter().fold(diag, |diag, (at, waits)| diag.note(at, format!("{waits} for ever")))
}

/// Copies bring another number of bytes to a barrier of a block than it is told to expect. The numbers are those of the whole launch.
pub(crate) fn bytes_of_launch(at: SpanRange, name: &str, block: u64, (expected, copied): (u64, u64)) -> Diag {
    let then = if copied < expected { "a phase never ends" } else { "a phase ends too early" };
    Diag::new(
        Rule::RingCount,
        at,
        format!(
            "`{name}` of block {block} expects {expected} bytes in all, but the copies that signal it transfer {copied}: {then}"
        ),
    )
    .help("expect exactly the bytes that the copies of a phase transfer, those of all threads: `bar.expect_tx(bytes)`")
}

/// A copy to a peer that is counted by a barrier of another block than that of the memory.
pub(crate) fn ends_of_copy(at: SpanRange, by: u64, memory: u64, barrier: u64) -> Diag {
    Diag::new(
        Rule::RingCount,
        at,
        format!(
            "a copy must signal a barrier of the block whose memory it writes, but block {by} writes to block {memory} and signals a barrier of block {barrier}"
        ),
    )
    .help("map the barrier with the same rank as the memory: the block that receives the bytes waits there")
}
