//! Sentences about distributed shared memory.

use crate::diag::Diag;
use crate::rules::Rule;
use crate::span::SpanRange;

pub(crate) fn remote_before_entry(at: SpanRange) -> Diag {
    Diag::new(
        Rule::RemoteBeforeEntry,
        at,
        "a peer's shared memory is touched before a barrier of the cluster: the peer may not have started",
    )
    .help("let all threads execute `cluster.sync()`, or arrive and wait, before this")
}

pub(crate) fn call_before_entry(at: SpanRange) -> Diag {
    Diag::new(
        Rule::RemoteBeforeEntry,
        at,
        "this function touches a peer's shared memory, and no barrier of the cluster comes before: the peer may not have started",
    )
    .help("let all threads execute `cluster.sync()`, or arrive and wait, before this")
}

/// In a method, whose callers do not see what it does.
pub(crate) fn remote_in_method(at: SpanRange) -> Diag {
    Diag::new(
        Rule::RemoteBeforeEntry,
        at,
        "a method touches a peer's shared memory that it was not given: its callers do not see that they must have entered the cluster",
    )
    .help("take the remote memory as a parameter, or write a function with a path of its own")
}

pub(crate) fn exit_before_peers_done(at: SpanRange, end: SpanRange) -> Diag {
    Diag::new(
        Rule::ExitBeforePeersDone,
        at,
        "a peer's shared memory is touched with no barrier of the cluster after it: the peer may have left by then",
    )
    .note(end, "the kernel ends here")
    .help("let all threads execute `cluster.sync()` after the last access, before they leave")
}

pub(crate) fn call_before_exit(at: SpanRange, end: SpanRange) -> Diag {
    Diag::new(
        Rule::ExitBeforePeersDone,
        at,
        "this function may touch a peer's shared memory last, and no barrier of the cluster comes after it: the peer may have left by then",
    )
    .note(end, "the kernel ends here")
    .help("let all threads execute `cluster.sync()` after the last access, before they leave")
}

/// What follows a place that comes later in the text, and first all the same.
fn before(earlier: bool) -> &'static str {
    if earlier { ", in the round before" } else { "" }
}

pub(crate) fn unpublished_remote_read(read: SpanRange, write: SpanRange, name: &str, round: bool) -> Diag {
    Diag::new(
        Rule::UnpublishedRemoteRead,
        read,
        format!("a peer's {name} is read while the peer may not have written it: no barrier of the cluster is between"),
    )
    .note(write, format!("the owner writes it here{}", before(round)))
    .help("let all threads execute `cluster.sync()`, or arrive and wait, between the write and the read")
}

pub(crate) fn overwrite_while_read(write: SpanRange, read: SpanRange, name: &str, round: bool) -> Diag {
    Diag::new(
        Rule::OverwriteWhileRead,
        write,
        format!("{name} is written while peers may still read it: no barrier of the cluster is between"),
    )
    .note(read, format!("a peer reads it here{}", before(round)))
    .help("let all threads execute `cluster.sync()`, or arrive after the read and wait before the write; or write to another buffer")
}

/// Of two slices of the dynamic shared memory, or of one and the whole.
pub(crate) fn may_share_bytes(fault: Diag, one: &str, other: &str) -> Diag {
    fault.remark(format!(
        "{one} and {other} may have bytes in common: nothing shows that one ends before the other begins"
    ))
}

pub(crate) fn write_after_arrive(write: SpanRange, read: SpanRange, name: &str, round: bool) -> Diag {
    Diag::new(
        Rule::WriteAfterArrive,
        write,
        format!(
            "{name} is written after the arrival, so that the barrier does not publish it to the peers that read it"
        ),
    )
    .note(read, format!("a peer reads it here, after the wait{}", if round { ", in the next round" } else { "" }))
    .help("write before `barrier_arrive`; between arrive and wait, touch only what no peer reads")
}

pub(crate) fn unordered_remote_write(
    at: SpanRange,
    other: SpanRange,
    name: &str,
    (remote_last, own_written): (bool, bool),
    round: bool,
) -> Diag {
    let (message, note) = match (remote_last, own_written) {
        (true, _) => (
            format!(
                "a peer's {name} is written while the peer may not be done with it: no barrier of the cluster is between"
            ),
            if own_written { "the owner writes to it here" } else { "the owner reads it here" },
        ),
        (false, true) => (
            format!("{name} is written while peers may be writing to it: no barrier of the cluster is between"),
            "a peer writes to it here",
        ),
        (false, false) => (
            format!("{name} is read while peers may be writing to it: no barrier of the cluster is between"),
            "a peer writes to it here",
        ),
    };
    Diag::new(Rule::UnorderedRemoteWrite, at, message)
        .note(other, format!("{note}{}", before(round)))
        .help("let all threads execute `cluster.sync()`, or arrive and wait, between the two")
}

/// `first` is a peer's, and reads.
pub(crate) fn relaxed_publishes(
    at: SpanRange,
    other: SpanRange,
    arrival: SpanRange,
    name: &str,
    first: (bool, bool),
    round: bool,
) -> Diag {
    let (message, note) = match first {
        (false, _) => (
            format!("a peer's {name} is touched, and the relaxed arrival before publishes nothing that its owner did"),
            "its owner touches it here",
        ),
        (true, true) => (
            format!("{name} is written, and the relaxed arrival before does not wait for its peers' reads"),
            "a peer reads it here",
        ),
        (true, false) => (
            format!("{name} is touched, and the relaxed arrival before publishes nothing that its peers wrote"),
            "a peer writes to it here",
        ),
    };
    Diag::new(Rule::RelaxedPublishes, at, message)
        .note(other, format!("{note}{}", before(round)))
        .note(arrival, "this arrival is relaxed, and no fence comes before it")
        .help("execute `fence(AcqRel, Scope::Cluster)` before it; or use `barrier_arrive`, which has one")
}

pub(crate) fn relaxed_before_exit(at: SpanRange, arrival: SpanRange, end: SpanRange) -> Diag {
    Diag::new(
        Rule::RelaxedPublishes,
        at,
        "a peer's shared memory is touched, and the relaxed arrival after it does not wait until that is done: the peer may have left by then",
    )
    .note(arrival, "this arrival is relaxed, and no fence comes before it")
    .note(end, "the kernel ends here")
    .help("execute `fence(AcqRel, Scope::Cluster)` before it; or use `barrier_arrive`, which has one")
}

pub(crate) fn relaxed_token_leaves(at: SpanRange, arrival: SpanRange) -> Diag {
    Diag::new(
        Rule::RelaxedPublishes,
        arrival,
        "the token of this relaxed arrival goes to another function, which counts on what was done before the arrival",
    )
    .note(at, "it leaves here")
    .help("wait for it in this function; or use `barrier_arrive`")
}

pub(crate) fn twice_a_phase(at: SpanRange, first: SpanRange) -> Diag {
    let diag = Diag::new(
        Rule::OverwriteWhileRead,
        at,
        "this function writes to shared memory of its own that peers may still read since it was called before",
    );
    let again = (first.line(), first.column()) == (at.line(), at.column());
    let diag = if again { diag.remark("it is called in a loop") } else { diag.note(first, "it was called here") };
    diag.help("let all threads execute `cluster.sync()` between the calls")
}

pub(crate) fn same_memory_twice(at: SpanRange) -> Diag {
    Diag::new(
        Rule::OverwriteWhileRead,
        at,
        "this function is given one piece of shared memory twice, as the block's own and as a peer's, and touches both with no barrier of the cluster between",
    )
    .help("give it two pieces, or let a barrier come between in the function")
}

pub(crate) fn rank_out_of_range(at: SpanRange, rank: u64, blocks: u64) -> Diag {
    Diag::new(Rule::RankOutOfRange, at, format!("no block has rank {rank}: the cluster has {blocks}"))
        .help(format!("ranks are below {blocks}"))
}

pub(crate) fn uninit_shared_read(at: SpanRange, name: &str) -> Diag {
    Diag::new(
        Rule::UninitSharedRead,
        at,
        format!("{name} is read, and nothing can have been written to it before: shared memory begins with anything"),
    )
    .help("write to it first, and let a barrier come between")
}
