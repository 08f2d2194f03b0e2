//! Sentences about asynchronous copies.

#![warn(clippy::wildcard_enum_match_arm)]

use crate::diag::Diag;
use crate::model::copy::CompletionMechanism;
use crate::model::kind::Kind;
use crate::rules::Rule;
use crate::span::SpanRange;

pub(crate) fn copy_form(at: SpanRange) -> Diag {
    Diag::new(Rule::ArgumentCount, at, "`memcpy_async` takes a group, a destination, a source, and optionally a barrier").help(
        "write `memcpy_async(&block, &shared, &slice[a..b], &bar)`, or omit the barrier and wait with `block.wait_async()`",
    )
}

pub(crate) fn bulk_copy_form(at: SpanRange) -> Diag {
    Diag::new(
        Rule::ArgumentCount,
        at,
        "a bulk copy to shared memory takes the barrier on which it completes; one to global memory takes none, and its thread waits for it",
    )
    .help("write `bulk_copy_async(&shared, &slice[a..b], &bar)`, or `bulk_copy_async(&mut slice[a..b], &shared)` and `bulk_wait_group::<0>()`")
}

pub(crate) fn copy_ends(at: SpanRange, name: &str) -> Diag {
    let diag = Diag::new(Rule::WrongKind, at, format!("`{name}` cannot copy between these kinds of memory"));
    match name {
        "memcpy_async" => diag.help("it copies from global memory to the block's own shared memory"),
        _ => diag.help(
            "it copies from global memory to the block's own shared memory, and from there to global memory or to a peer's shared memory",
        ),
    }
}

pub(crate) fn completion_barrier(at: SpanRange, expected: &str, found: Kind) -> Diag {
    Diag::new(Rule::WrongKind, at, format!("expected {expected}, found {}", found.noun()))
        .help("the barrier must belong to the block whose memory is written: it counts the bytes that arrive")
}

pub(crate) fn barrier_by_value(at: SpanRange) -> Diag {
    Diag::new(Rule::WrongKind, at, "expected the barrier by reference").help("write `&` before it")
}

pub(crate) fn store_async_target(at: SpanRange) -> Diag {
    Diag::new(Rule::WrongKind, at, "`store_async` sends a value to a peer's shared memory")
        .help("call it on the result of `cluster.map_shared_rank(&array, rank)`")
}

pub(crate) fn read_only_tensor(at: SpanRange) -> Diag {
    Diag::new(Rule::ReadOnlyMemory, at, "this tensor is read-only: its map is a `&TensorMap`")
        .help("declare the parameter as `&mut TensorMap<..>`, and launch the kernel with a `&mut TensorMut`")
}

pub(crate) fn copied_tile(at: SpanRange, found: Kind) -> Diag {
    Diag::new(Rule::WrongKind, at, format!("expected a tile in the block's own shared memory, found {}", found.noun()))
        .help("a tile is an element of a `shared_array` whose elements are tiles, `&tiles[stage]`, or the whole array of its rows")
}

pub(crate) fn tensor_rank(at: SpanRange, found: usize, form: &str) -> Diag {
    Diag::new(Rule::ArgumentCount, at, format!("a tensor has at most 5 dimensions, but these are {found} coordinates"))
        .help(format!("write a coordinate for each dimension of the tile, the outermost first: `{form}`"))
}

pub(crate) fn multicast_in_function(at: SpanRange, name: &str) -> Diag {
    Diag::new(
        Rule::UnsupportedCall,
        at,
        format!(
            "`{name}` must be called in the kernel itself, because the checks do not follow it into other functions"
        ),
    )
    .help("move the call from the device function to the kernel")
}

pub(crate) fn multicast_barrier(at: SpanRange) -> Diag {
    Diag::new(
        Rule::BarrierScope,
        at,
        "a multicast completes on the barrier of each block that receives it, but no other block can signal a barrier of the block",
    )
    .help("make it with `shared_cluster_barrier()` or `shared_cluster_barriers::<N>()`")
}

pub(crate) fn receivers(at: SpanRange) -> Diag {
    Diag::new(Rule::WrongKind, at, "expected the blocks that receive the tile").help(
        "write `&cluster` for all blocks, `cluster.row()` or `cluster.column()` for those of the block's row or column, or a list of ranks, `[0, 1]`",
    )
}

pub(crate) fn receivers_of_unknown_cluster(at: SpanRange) -> Diag {
    Diag::new(
        Rule::WrongKind,
        at,
        "the blocks that receive the tile are known only if the attribute fixes the cluster's size",
    )
    .help("fix it, `#[cluster_kernel(cluster = 2)]`, or write a list of ranks, `[0, 1]`")
}

/// A multicast reaches a block that does not expect it.
pub(crate) fn multicast_unarmed(at: SpanRange, tile: &str, bar: &str, blocks: &str, armed: Option<SpanRange>) -> Diag {
    let diag = Diag::new(
        Rule::MulticastUnarmed,
        at,
        format!(
            "the barrier of each receiving block must expect the tile, but {blocks} calls `map.expect_multicast(&{tile}, &{bar})`: the phase ends before the bytes have arrived"
        ),
    );
    let diag = match armed {
        Some(armed) => diag.note(armed, "other blocks do so here"),
        None => diag,
    };
    diag.help("let one thread of each receiving block call it before its arrival at the barrier, or leave the block out of the list")
}

/// A tile is sent again before its receivers can have read the one before.
pub(crate) fn multicast_unreleased(at: SpanRange, tile: &str) -> Diag {
    Diag::new(
        Rule::MulticastUnarmed,
        at,
        format!(
            "each receiving block must have read the previous tile, but on some path from the previous multicast to this one no wait shows that the other blocks have read `{tile}`"
        ),
    )
    .help("wait before it at a barrier at which the receivers arrive when they have read, `cluster.map_shared_rank(&empty, rank).arrive()`, or execute `cluster.sync()`")
}

/// `from` and `to` are the numbers of elements at both ends.
pub(crate) fn copy_length(at: SpanRange, from: u64, to: u64) -> Diag {
    Diag::new(
        Rule::CopyLength,
        at,
        format!("the source and the destination of a copy must have the same length, but it reads {from} elements and writes {to}"),
    )
    .help("select as many elements on both sides: `&slice[a..b]`")
}

pub(crate) fn copy_bytes(at: SpanRange, bytes: u64, multiple: u64) -> Diag {
    Diag::new(
        Rule::CopyLength,
        at,
        format!("the size of a bulk copy must be a multiple of {multiple} bytes, but this one has {bytes} bytes"),
    )
    .help("copy more elements, or let a group copy them: `memcpy_async(&block, &shared, slice)` has no such limit")
}

/// `to` says whether the access is to the copy's destination; otherwise it is to the source.
pub(crate) fn copy_in_flight(
    at: SpanRange,
    begun: SpanRange,
    name: &str,
    writes: bool,
    to: bool,
    completion: CompletionMechanism,
) -> Diag {
    let sentence = match (writes, to) {
        (false, _) => format!("`{name}` is read while a copy to it is in flight: the bytes may not have arrived"),
        (true, true) => format!("`{name}` is written while a copy to it is in flight, which may overwrite this value"),
        (true, false) => {
            format!("`{name}` is written while a copy from it is in flight, which may read this value")
        }
    };
    let help = match completion {
        CompletionMechanism::Barrier => {
            "wait at the copy's barrier before this: `bar.wait(token)`, or `bar.wait_parity(parity)`"
        }
        CompletionMechanism::PeersBarrier => {
            "a wait at the block's own barrier shows only what the block has received, not that what it sent has been read: after its wait, the receiver must signal the sender, by `cluster.sync()` or an arrival at another of the sender's barriers"
        }
        CompletionMechanism::Group => "let the group wait before this: `block.wait_async()`",
        CompletionMechanism::BulkGroup => {
            "let the copying thread call `bulk_wait_group_read::<0>()` before this, and synchronize the other threads with it"
        }
        CompletionMechanism::BulkWrites => {
            "let the copying thread call `bulk_wait_group::<0>()` before this: `bulk_wait_group_read` waits for the reads of the copy alone"
        }
        CompletionMechanism::Product => WAIT_MMA,
    };
    Diag::new(Rule::CopyInFlight, at, sentence).note(begun, "the copy starts here").help(help)
}

/// The owner of shared memory accesses what a peer's copy may still write.
pub(crate) fn copy_from_peer_in_flight(
    (at, begun): (SpanRange, SpanRange),
    name: &str,
    writes: bool,
    round: bool,
) -> Diag {
    let sentence = match writes {
        false => format!("{name} is read while a peer's copy to it is in flight: the bytes may not have arrived"),
        true => format!("{name} is accessed while a peer's copy to it is in flight, which may overwrite its value"),
    };
    let round = if round { ", in the previous iteration" } else { "" };
    Diag::new(Rule::CopyInFlight, at, sentence)
        .note(begun, format!("a peer starts the copy here{round}"))
        .help("wait at the copy's barrier before this: `bar.wait(token)`, or `bar.wait_parity(parity)`; a barrier of the cluster does not wait for copies")
}

/// Adds to a fault about a barrier of the cluster that a copy of the memory's owner goes on beyond it.
pub(crate) fn until_copy_is_complete(fault: Diag, completion: CompletionMechanism) -> Diag {
    let wait = match completion {
        CompletionMechanism::Barrier | CompletionMechanism::PeersBarrier => {
            "`bar.wait(token)`, or `bar.wait_parity(parity)`"
        }
        CompletionMechanism::Group => "`block.wait_async()`",
        CompletionMechanism::BulkGroup => "`bulk_wait_group_read::<0>()`",
        CompletionMechanism::BulkWrites => "`bulk_wait_group::<0>()`",
        CompletionMechanism::Product => "`warpgroup.wait_mma(product)`",
    };
    fault
        .remark("an asynchronous copy accesses the memory until a wait shows its completion; a barrier of the cluster does not wait for it")
        .help(format!("wait for the copy first: {wait}; and then let all threads execute `cluster.sync()`, or arrive and wait, between the two accesses"))
}

/// The help of `mma_in_flight`.
const WAIT_MMA: &str = "let the warpgroup wait before this: `let sum = warpgroup.wait_mma(product);`";

/// A tile is written while a product reads it.
pub(crate) fn tile_in_flight(at: SpanRange, begun: SpanRange, name: &str) -> Diag {
    let sentence = format!("`{name}` is written while a product of matrices is in flight, which may read this value");
    Diag::new(Rule::MmaInFlight, at, sentence).note(begun, "the product starts here").help(WAIT_MMA)
}

/// A statement begins a product of registers twice without a wait.
pub(crate) fn registers_in_flight(at: SpanRange) -> Diag {
    Diag::new(
        Rule::MmaInFlight,
        at,
        "a product whose left operand is in registers must complete before the same statement starts the next one, which uses the same registers, but that of the previous iteration may still be in flight",
    )
    .help("wait in each iteration: `let sum = warpgroup.wait_mma(product);`, or write the products one after the other")
}

/// A wait leaves the product in flight whose sums it returns.
pub(crate) fn sums_in_flight(at: SpanRange, begun: SpanRange) -> Diag {
    Diag::new(
        Rule::MmaInFlight,
        at,
        "this wait leaves the last product in flight, so a later product must have been started, but on some path this product is the last one",
    )
    .note(begun, "the product starts here")
    .help("start the next product before this, or wait for all of them: `let sum = warpgroup.wait_mma(product);`")
}

/// A wait leaves the last product in flight, and returns the sums of one that this function has not begun.
pub(crate) fn sums_of_another_function(at: SpanRange) -> Diag {
    Diag::new(
        Rule::MmaInFlight,
        at,
        "this wait leaves the last product in flight, so a later product must have been started, but this one was started elsewhere, and may be the last",
    )
    .help("start the next product before this, in this function, or wait for all of them: `let sum = warpgroup.wait_mma(product);`")
}

/// A called function leaves a product in flight that is not waited for on some path.
pub(crate) fn product_of_function_left(at: SpanRange) -> Diag {
    Diag::new(
        Rule::MmaInFlight,
        at,
        "this function leaves a product in flight, which its caller must wait for, but on some path the caller ends without a wait: the sums are lost, and the tensor cores may still read the tiles",
    )
    .help("let the warpgroup wait on every path: `let sum = warpgroup.wait_mma(product);`")
}

/// A product is not waited for on some path.
pub(crate) fn product_left(at: SpanRange) -> Diag {
    Diag::new(
        Rule::MmaInFlight,
        at,
        "this product must be waited for, but on some path the function ends without a wait: its sums are lost, and the tensor cores may still read the tiles",
    )
    .help("let the warpgroup wait on every path: `let sum = warpgroup.wait_mma(product);`, or return the product from a function that is given the warpgroup")
}

/// The sums of a product are never asked for on some path.
pub(crate) fn sums_lost(at: SpanRange) -> Diag {
    Diag::new(Rule::MmaInFlight, at, "nobody asks for the sums of this product on some path: they are lost")
        .help("ask for them on every path: `let sum = warpgroup.wait_mma(product);`, or add the next product to them: `warpgroup.mma_async(product, &a, &b)`; if they are not needed, say so after a wait: `let _ = product;`")
}

/// A variable is overwritten that holds a product.
pub(crate) fn product_overwritten(at: SpanRange, begun: SpanRange, name: &str) -> Diag {
    let sentence = format!("`{name}` is overwritten while it may hold a product in flight, whose sums are lost");
    Diag::new(Rule::MmaInFlight, at, sentence)
        .note(begun, "the product starts here")
        .help(format!("ask for its sums before this: `let sum = warpgroup.wait_mma({name});`, of an `Option` `if let Some(before) = {name}.take() {{ .. }}`; or keep it: `let before = std::mem::replace(&mut {name}, next);`"))
}

/// A parameter is an `Option` of a product.
pub(crate) fn optional_product(at: SpanRange) -> Diag {
    Diag::new(
        Rule::MmaInFlight,
        at,
        "a function cannot be given an `Option` of a product: its callers do not know whether it waits",
    )
    .help("give it the product: `if let Some(product) = busy.take() { finish(&warpgroup, product); }`")
}

/// A function returns an `Option` of a product.
pub(crate) fn optional_product_returned(at: SpanRange) -> Diag {
    Diag::new(Rule::MmaInFlight, at, "a function cannot return an `Option` of a product: its callers do not know whether they have to wait")
        .help("return the product, and call the function only where there is one: `if more { busy = Some(begin(&warpgroup, &tile)); }`")
}

/// A product is stored to an element of an array.
pub(crate) fn product_in_part(at: SpanRange, name: &str) -> Diag {
    let sentence = format!(
        "a product in flight is stored in a part of `{name}`, where it cannot be followed: its sums could be lost"
    );
    Diag::new(Rule::MmaInFlight, at, sentence)
        .help("keep each product in a variable of its own, which `std::mem::swap` and `std::mem::replace` exchange; or make an array of products as a whole, `[..]` or `std::array::from_fn(|k| ..)`, and take it apart: `let [first, second] = products;`")
}

pub(crate) fn copy_left(at: SpanRange, completion: CompletionMechanism) -> Diag {
    let help = match completion {
        CompletionMechanism::Group => "let the group wait for it: `block.wait_async()`",
        CompletionMechanism::Product => WAIT_MMA,
        CompletionMechanism::BulkGroup
        | CompletionMechanism::BulkWrites
        | CompletionMechanism::Barrier
        | CompletionMechanism::PeersBarrier => {
            "let the copying thread wait for it: `bulk_wait_group_read::<0>()` is enough"
        }
    };
    Diag::new(
        Rule::CopyInFlight,
        at,
        "this copy must be waited for, but no thread waits: the block may exit while its shared memory is still in use",
    )
    .help(help)
}

/// The same, where the integers among the arguments are one number.
pub(crate) fn copy_left_for(at: SpanRange, completion: CompletionMechanism, argument: Option<u64>) -> Diag {
    let diag = copy_left(at, completion);
    match argument {
        Some(0) => {
            diag.remark("this happens if an argument is 0, so that a loop has no iterations; exclude it with `assert!`")
        }
        Some(_) | None => diag,
    }
}

/// A place in shared memory that a bulk copy cannot begin at.
pub(crate) fn copy_place(at: SpanRange, first: u64, multiple: u64) -> Diag {
    Diag::new(
        Rule::CopyLength,
        at,
        format!("a bulk copy must begin at a multiple of {multiple} bytes, but this one begins {first} bytes into shared memory"),
    )
    .help("begin at another element, or let a group copy them: `memcpy_async(&block, &shared, slice)` has no such limit")
}

/// A group's copy begins to write what a thread of the group may still access.
pub(crate) fn copy_overtakes(at: SpanRange, access: SpanRange, name: &str, writes: bool) -> Diag {
    let does = if writes { "writes" } else { "reads" };
    Diag::new(
        Rule::UnsynchronizedAccess,
        at,
        format!("a copy to {name} begins while threads of the block may still access what it writes"),
    )
    .note(access, format!("a thread {does} it here, with no barrier of the block before other threads begin the copy"))
    .help("synchronize the threads before the copy: `block.sync();`")
}
