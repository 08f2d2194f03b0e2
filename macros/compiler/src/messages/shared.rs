//! Sentences about distributed shared memory.

#![warn(clippy::wildcard_enum_match_arm)]

use proc_macro2::Ident;

use crate::diag::Diag;
use crate::rules::Rule;
use crate::span::SpanRange;

pub(crate) fn remote_before_entry(at: SpanRange) -> Diag {
    Diag::new(
        Rule::RemoteBeforeEntry,
        at,
        "a barrier of the cluster must come before an access to a peer's shared memory: the peer may not have started",
    )
    .help("let all threads execute `cluster.sync()`, or arrive and wait, before this")
}

pub(crate) fn call_before_entry(at: SpanRange) -> Diag {
    Diag::new(
        Rule::RemoteBeforeEntry,
        at,
        "this function accesses a peer's shared memory, so a barrier of the cluster must come before the call: the peer may not have started",
    )
    .help("let all threads execute `cluster.sync()`, or arrive and wait, before this")
}

/// A method accesses a peer's memory that its callers do not see.
pub(crate) fn remote_in_method(at: SpanRange) -> Diag {
    Diag::new(
        Rule::RemoteBeforeEntry,
        at,
        "a method must not access a peer's shared memory that it was not given: its callers do not see that a barrier of the cluster must come before",
    )
    .help("take the remote memory as a parameter, or write a free `#[device]` function")
}

pub(crate) fn exit_before_peers_done(at: SpanRange, end: SpanRange) -> Diag {
    Diag::new(
        Rule::ExitBeforePeersDone,
        at,
        "a barrier of the cluster must come after the last access to a peer's shared memory: the peer may have exited",
    )
    .note(end, "the kernel ends here")
    .help("let all threads execute `cluster.sync()` after the last access, before they exit")
}

/// The block that gets what is sent waits for it, but for another number of bytes.
pub(crate) fn with_bytes_of_barrier(
    fault: Diag,
    at: SpanRange,
    (name, block): (&str, u64),
    (expected, sent): (u64, u64),
) -> Diag {
    let says = format!(
        "the block waits at `{name}` for the bytes that are sent, but in block {block} this barrier expects {expected} bytes in all, and {sent} are sent there"
    );
    fault.note(at, says).help(format!(
        "make `{name}` expect exactly the bytes that are sent there: a block that waits for all of them needs no barrier of the cluster"
    ))
}

pub(crate) fn call_before_exit(at: SpanRange, end: SpanRange) -> Diag {
    Diag::new(
        Rule::ExitBeforePeersDone,
        at,
        "this function may end with an access to a peer's shared memory, so a barrier of the cluster must come after the call: the peer may have exited",
    )
    .note(end, "the kernel ends here")
    .help("let all threads execute `cluster.sync()` after the last access, before they exit")
}

/// The note at a relaxed arrival that a fault names.
pub(crate) const RELAXED_ARRIVAL: &str = "this arrival is relaxed, and no fence comes before it";

/// Adds the place of another fault that the same change mends.
pub(crate) fn mended_with(fault: Diag, other: &Diag) -> Diag {
    let note = match fault.rule == other.rule && fault.message == other.message {
        true => "the same is true here".to_string(),
        false => format!("{} [{}]", other.message, other.rule),
    };
    fault.note(other.at, note)
}

/// The words after a place that comes earlier only in a loop's previous iteration.
fn before(earlier: bool) -> &'static str {
    if earlier { ", in the previous iteration" } else { "" }
}

pub(crate) fn unpublished_remote_read(read: SpanRange, write: SpanRange, name: &str, round: bool) -> Diag {
    Diag::new(
        Rule::UnpublishedRemoteRead,
        read,
        format!("a peer's {name} is read, but no barrier of the cluster orders this after the peer's write"),
    )
    .note(write, format!("the owner writes it here{}", before(round)))
    .help("let all threads execute `cluster.sync()`, or arrive and wait, between the write and the read")
}

pub(crate) fn overwrite_while_read(write: SpanRange, read: SpanRange, name: &str, round: bool) -> Diag {
    Diag::new(
        Rule::OverwriteWhileRead,
        write,
        format!("{name} is written, but no barrier of the cluster orders this after its peers' reads"),
    )
    .note(read, format!("a peer reads it here{}", before(round)))
    .help("let all threads execute `cluster.sync()`, or arrive after the read and wait before the write; or write to another buffer")
}

/// Adds that two slices of dynamic shared memory, or a slice and the whole, may overlap.
pub(crate) fn may_share_bytes(fault: Diag, one: &str, other: &str) -> Diag {
    fault.remark(format!("{one} and {other} may overlap: nothing shows that one ends before the other begins"))
}

/// Adds that the two indexes of a fault could not be compared.
pub(crate) fn index_not_followed(fault: Diag) -> Diag {
    fault.remark(
        "the two may access the same element: the compiler cannot analyse an index here (it handles sums, multiples and remainders of one variable, constants and the block's rank). If the array consists of several parts, give them a separate dimension, as in `[[T; N]; M]`",
    )
}

/// Adds that the accesses of a fault overlap only for some values of these constants.
pub(crate) fn for_values_of(fault: Diag, constants: &[String]) -> Diag {
    let names = constants.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
    fault.remark(format!("with the value of {names}, the two may access the same element"))
}

pub(crate) fn named_by_callee(fault: Diag) -> Diag {
    fault.remark("the called function names the dynamic shared memory itself")
}

pub(crate) fn beside_closure(fault: Diag) -> Diag {
    fault.remark(
        "the called function makes its access with no barrier of the cluster before or after it calls the closure",
    )
}

pub(crate) fn write_after_arrive(write: SpanRange, read: SpanRange, name: &str, round: bool) -> Diag {
    Diag::new(
        Rule::WriteAfterArrive,
        write,
        format!("{name} is written after the arrival, so the barrier does not publish it to the peers that read it"),
    )
    .note(read, format!("a peer reads it here, after the wait{}", if round { ", in the next iteration" } else { "" }))
    .help("write before `barrier_arrive`; between arrive and wait, write only what no peer reads")
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
                "a peer's {name} is written, but no barrier of the cluster orders this with the peer's own accesses"
            ),
            if own_written { "the owner writes to it here" } else { "the owner reads it here" },
        ),
        (false, true) => (
            format!("{name} is written, but no barrier of the cluster orders this with its peers' writes"),
            "a peer writes to it here",
        ),
        (false, false) => (
            format!("{name} is read, but no barrier of the cluster orders this with its peers' writes"),
            "a peer writes to it here",
        ),
    };
    Diag::new(Rule::UnorderedRemoteWrite, at, message)
        .note(other, format!("{note}{}", before(round)))
        .help("let all threads execute `cluster.sync()`, or arrive and wait, between the two")
}

/// All blocks of the cluster write the same element of one of them.
pub(crate) fn same_element_written(at: SpanRange, name: &str) -> Diag {
    Diag::new(
        Rule::UnorderedRemoteWrite,
        at,
        format!("all blocks of the cluster write this element of one block's {name}, and these writes are unordered"),
    )
    .help("let one block write it (`if cluster.block_rank() == 0`), give each block an element of its own, or use an atomic")
}

/// Two threads, each by the rank of its block and its own, send to the same element of a block's memory; `other` is where the first one does, if
/// that is elsewhere.
pub(crate) fn sent_twice(
    (at, other): (SpanRange, Option<SpanRange>),
    (name, owner): (&str, u64),
    [first, second]: [(u64, u64); 2],
) -> Diag {
    let who = match first.0 == second.0 {
        true => format!("threads {} and {} of block {}", first.1, second.1, first.0),
        false => format!("thread {} of block {} and thread {} of block {}", first.1, first.0, second.1, second.0),
    };
    let says = format!("{who} send to the same element of `{name}` of block {owner}, and the two writes are unordered");
    let diag = Diag::new(Rule::UnorderedRemoteWrite, at, says);
    let diag = match other {
        Some(other) => diag.note(other, "the first of them does so here"),
        None => diag,
    };
    diag.help("give each thread an element of its own, or let one thread send it")
}

/// `first` says whether the earlier access is a peer's, and whether it reads.
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
            format!(
                "a peer's {name} is accessed, but the relaxed arrival before it does not order this after its owner's accesses"
            ),
            "its owner accesses it here",
        ),
        (true, true) => (
            format!("{name} is written, but the relaxed arrival before it does not order this after its peers' reads"),
            "a peer reads it here",
        ),
        (true, false) => (
            format!(
                "{name} is accessed, but the relaxed arrival before it does not order this after its peers' writes"
            ),
            "a peer writes to it here",
        ),
    };
    Diag::new(Rule::RelaxedPublishes, at, message)
        .note(other, format!("{note}{}", before(round)))
        .note(arrival, RELAXED_ARRIVAL)
        .help("execute `fence(AcqRel, Scope::Cluster)` before the arrival, or use `barrier_arrive`, which includes one")
}

pub(crate) fn relaxed_before_exit(at: SpanRange, arrival: SpanRange, end: SpanRange) -> Diag {
    Diag::new(
        Rule::RelaxedPublishes,
        at,
        "a peer's shared memory is accessed, but the relaxed arrival after it does not order this before the peer's exit",
    )
    .note(arrival, RELAXED_ARRIVAL)
    .note(end, "the kernel ends here")
    .help("execute `fence(AcqRel, Scope::Cluster)` before the arrival, or use `barrier_arrive`, which includes one")
}

pub(crate) fn relaxed_token_leaves(at: SpanRange, arrival: SpanRange) -> Diag {
    Diag::new(
        Rule::RelaxedPublishes,
        arrival,
        "the token of this relaxed arrival is passed to another function, which relies on the arrival to order what came before it",
    )
    .note(at, "it is passed on here")
    .help("wait for it in this function, or use `barrier_arrive`")
}

pub(crate) fn twice_a_phase(at: SpanRange, first: SpanRange) -> Diag {
    let diag = Diag::new(
        Rule::OverwriteWhileRead,
        at,
        "this function writes to its own shared memory, which peers may still be reading since the previous call",
    );
    let again = (first.line(), first.column()) == (at.line(), at.column());
    let diag =
        if again { diag.remark("it is called in a loop") } else { diag.note(first, "the previous call is here") };
    diag.help("let all threads execute `cluster.sync()` between the calls")
}

pub(crate) fn calls_share_memory(at: SpanRange, first: SpanRange) -> Diag {
    Diag::new(
        Rule::OverwriteWhileRead,
        at,
        "two calls access the same shared memory, one as the block's own and one as a peer's, and at least one of them writes, with no barrier of the cluster in between",
    )
    .remark("the memory is dynamic memory that both functions name, or an array of a function that both call")
    .note(first, "the earlier call is here")
    .help("let all threads execute `cluster.sync()` between the calls")
}

pub(crate) fn same_memory_twice(at: SpanRange) -> Diag {
    Diag::new(
        Rule::OverwriteWhileRead,
        at,
        "this function is given the same shared memory twice, as the block's own and as a peer's, and accesses both with no barrier of the cluster in between",
    )
    .help("pass different memory, or put a barrier between the accesses in the function")
}

pub(crate) fn dynamic_memory_twice(at: SpanRange) -> Diag {
    Diag::new(
        Rule::OverwriteWhileRead,
        at,
        "this function accesses the dynamic shared memory both through this argument and by name, once as the block's own and once as a peer's, with no barrier of the cluster in between",
    )
    .help("pass all of it to the function, or put a barrier between the accesses in the function")
}

pub(crate) fn rank_out_of_range(at: SpanRange, rank: u64, blocks: u64) -> Diag {
    let noun = if blocks == 1 { "block" } else { "blocks" };
    Diag::new(Rule::RankOutOfRange, at, format!("rank {rank} is out of range: the cluster has {blocks} {noun}"))
        .help(format!("ranks are below {blocks}"))
}

pub(crate) fn uninit_shared_read(at: SpanRange, name: &str) -> Diag {
    Diag::new(
        Rule::UninitSharedRead,
        at,
        format!("{name} is read, but no write to it can have happened before: shared memory starts uninitialized"),
    )
    .help("write to it first, with a barrier between the write and the read")
}

/// A block of the cluster reads its memory, and no thread of any block writes to that of this one.
pub(crate) fn unwritten_in_block(at: SpanRange, name: &str, block: u64) -> Diag {
    Diag::new(
        Rule::UninitSharedRead,
        at,
        format!("block {block} of the cluster reads its {name}, to which no thread writes: shared memory starts uninitialized"),
    )
    .help("read it only in the blocks whose memory has been written, or write to it in each block")
}

/// A thread reads an element that no thread has written before. `block` is that of the cluster which has it.
pub(crate) fn unwritten_element(at: SpanRange, element: &str, block: Option<u64>) -> Diag {
    let whose = block.map_or_else(String::new, |block| format!(" of block {block}"));
    Diag::new(
        Rule::UninitSharedRead,
        at,
        format!(
            "`{element}`{whose} is read, but no thread has written to it before: shared memory starts uninitialized"
        ),
    )
    .help("write to each element that is read, also by an atomic that updates it")
}

/// Adds that nothing is written in a launch in which a condition on an argument has this outcome.
pub(crate) fn skipped_by_launch(fault: Diag, (condition, holds): (SpanRange, bool)) -> Diag {
    let outcome = if holds { "holds" } else { "does not hold" };
    fault.note(condition, format!("in a launch in which this {outcome}, no thread writes to it"))
}

/// A thread of a block accesses an element of shared memory that another one of its threads writes, with no barrier in between. `ranks` are
/// those of the threads.
pub(crate) fn unsynchronized_access(
    at: SpanRange,
    write: SpanRange,
    name: &str,
    reads: bool,
    ranks: (u64, u64),
    in_one_warp: bool,
) -> Diag {
    let (is_accessed, (thread, writer)) = (if reads { "read" } else { "written" }, ranks);
    if !reads && is_same_place(at, write) {
        let message =
            format!("an element of {name} is written by several threads, with no barrier of the block in between");
        return Diag::new(Rule::UnsynchronizedAccess, at, message)
            .note(write, format!("threads {} and {} of the block write the same element here", thread.min(writer), thread.max(writer)))
            .help("let one thread write each element; where two threads write it in different iterations of a loop, synchronize them in between: `block.sync();`");
    }
    let diag = Diag::new(
        Rule::UnsynchronizedAccess,
        at,
        format!(
            "an element of {name} is {is_accessed} by one thread and written by another, with no barrier of the block in between"
        ),
    )
    .note(write, format!("thread {writer} of the block writes here what thread {thread} accesses, before or after it"));
    diag.help(if in_one_warp {
        "synchronize the threads between the two: `block.sync();`, or `warp.sync();` where all of them are in one warp"
    } else {
        "synchronize the threads between the two: `block.sync();`, also between one iteration of a loop and the next"
    })
}

/// Adds that an arrival comes between two accesses of a block and does not order them.
pub(crate) fn with_relaxed_arrival(fault: Diag, arrival: SpanRange) -> Diag {
    fault
        .note(arrival, "this arrival is relaxed: it orders no accesses, of the block's own threads either")
        .help("arrive with `barrier_arrive()`, or put `block.sync();` or a `fence(AcqRel, Scope::Cluster)` before the arrival")
}

/// Whether two accesses are one statement, which several threads execute.
fn is_same_place(at: SpanRange, other: SpanRange) -> bool {
    (at.line(), at.column()) == (other.line(), other.column())
}

/// Two threads of two blocks of a grid, each by its rank in its block and the block's rank.
pub(crate) fn unsynchronized_blocks(
    at: SpanRange,
    write: SpanRange,
    name: &str,
    reads: bool,
    (thread, block): (u64, u64),
    (writer, writers_block): (u64, u64),
) -> Diag {
    let is_accessed = if reads { "read" } else { "written" };
    let message = format!(
        "an element of {name} is {is_accessed} by one block and written by another, with no barrier of the grid in between"
    );
    let note = format!(
        "thread {writer} of block {writers_block} writes here what thread {thread} of block {block} accesses, before or after it"
    );
    Diag::new(Rule::UnsynchronizedAccess, at, message).note(write, note).help(
        "synchronize the blocks between the two: `grid.sync();`, also between one iteration of a loop and the next",
    )
}

/// Adds the values of the constants of a kernel whose instances all have the fault, of the first few of them.
pub(crate) fn of_instances(fault: Diag, instances: &[Vec<(&Ident, i64, &str)>], number: usize) -> Diag {
    let each = instances.iter().map(|values| values_of(values)).collect::<Vec<_>>().join(", or with ");
    fault.remark(format!("this fault occurs with {each}, and with all other values that were tried: {number} in all"))
}

/// Adds the values of the constants of an instance that has the fault, where others have none.
pub(crate) fn of_one_instance(fault: Diag, instance: &[(&Ident, i64, &str)]) -> Diag {
    fault.remark(format!("this fault occurs with {}, and not with all other values", values_of(instance)))
}

fn values_of(instance: &[(&Ident, i64, &str)]) -> String {
    let value = |(name, value, ty): &(&Ident, i64, &str)| match *ty {
        "bool" => format!("`{name}` = {}", *value != 0),
        _ => format!("`{name}` = {value}"),
    };
    instance.iter().map(value).collect::<Vec<_>>().join(", ")
}

/// Threads that change an element each, of an array in the memory of some blocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crowd {
    pub(crate) threads: u64,
    pub(crate) elements: u64,
    pub(crate) blocks: u64,
}

/// More threads, of a block or of the cluster, change an element each than there are.
pub(crate) fn crowded(at: SpanRange, rule: Rule, name: &str, crowd: Crowd, of_cluster: bool) -> Diag {
    let (Crowd { threads, elements, blocks }, group) = (crowd, if of_cluster { "cluster" } else { "block" });
    let of_blocks = if blocks == 1 { String::new() } else { format!(" in one of {blocks} blocks") };
    let elements = match elements {
        1 => format!("the only element of `{name}`{of_blocks}"),
        _ => format!("one of the {elements} elements of `{name}`{of_blocks}"),
    };
    Diag::new(
        rule,
        at,
        format!(
            "each of the {threads} threads of the {group} reads and writes {elements} here, with no barrier in between: two of them \
             access the same one"
        ),
    )
    .help(format!("use an atomic for both: `{name}.atomic(index).fetch_add(value, Relaxed)`"))
}

/// Two blocks access an element of a third one's memory. `blocks` are their ranks: of the one that writes, of the other and of the owner.
pub(crate) fn two_blocks_meet(
    at: SpanRange,
    other: SpanRange,
    name: &str,
    both: bool,
    blocks: (u64, u64, u64),
) -> Diag {
    let (writer, second, owner) = blocks;
    let (does, is_accessed) = if both { ("writes", "written") } else { ("reads", "read") };
    Diag::new(
        Rule::UnorderedRemoteWrite,
        at,
        format!(
            "an element of one block's {name} is written by one peer and {is_accessed} by another, and the two accesses are unordered"
        ),
    )
    .note(other, format!("block {second} {does} the element of block {owner} here that block {writer} writes"))
    .help("give each block elements of its own, use an atomic, or let the cluster synchronize between the two: `cluster.sync();`")
}

/// A rank that some block of the cluster computes; `None` if it is a difference below zero, which wraps around.
pub(crate) fn rank_of_block_out_of_range(at: SpanRange, rank: Option<u64>, blocks: u64, block: u64) -> Diag {
    let rank = rank.map_or_else(|| "a rank below zero".into(), |rank| format!("rank {rank}"));
    let noun = if blocks == 1 { "block" } else { "blocks" };
    Diag::new(
        Rule::RankOutOfRange,
        at,
        format!("in block {block} this is {rank}, which is out of range: the cluster has {blocks} {noun}"),
    )
    .help(format!(
        "ranks are below {blocks}: take the remainder, `% cluster.num_blocks()`, or map only where the rank exists"
    ))
}
