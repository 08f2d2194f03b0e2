//! What each fence of a cluster barrier's arrival orders, and what a weaker one does not.

use phalanx_contract::fence::Fence;

use super::*;
use crate::kernel::group::with_fence;

fn meet(fence: Fence) {
    with_fence(fence, || this_cluster().sync());
}

fn either(ordered: bool, right: Fence, weaker: Fence) {
    meet(if ordered { right } else { weaker });
}

#[test]
fn fences() {
    use Fence::{Full, Relaxed, Shared};
    let cases = [
        Case {
            name: "read_by_a_peer",
            shape: shape(2, 2, 64),
            kernel: |ordered, _| {
                let array = shared_array::<u32, 64>();
                let (cluster, i) = (this_cluster(), me() % 64);
                store(&array, i, 7); // read_by_a_peer
                either(ordered, Shared, Relaxed);
                load(&cluster.map_shared_rank(&array, 1 - cluster.block_rank()), i); // read_by_a_peer
                cluster.sync();
            },
        },
        Case {
            name: "read_by_the_block",
            shape: shape(2, 2, 64),
            kernel: |ordered, _| {
                let array = shared_array::<u32, 64>();
                store(&array, me() % 64, 7); // read_by_the_block
                either(ordered, Shared, Relaxed);
                load(&array, (me() + 40) % 64); // read_by_the_block
            },
        },
        Case {
            name: "overwritten_by_a_peer",
            shape: shape(2, 2, 64),
            kernel: |ordered, _| {
                let array = shared_array::<u32, 64>();
                let (cluster, i) = (this_cluster(), me() % 64);
                store(&array, i, 7);
                cluster.sync();
                load(&array, i); // overwritten_by_a_peer
                either(ordered, Shared, Relaxed);
                store(&cluster.map_shared_rank(&array, 1 - cluster.block_rank()), i, 9); // overwritten_by_a_peer
                cluster.sync();
            },
        },
        Case {
            name: "written_to_a_peer",
            shape: shape(2, 2, 64),
            kernel: |ordered, _| {
                let array = shared_array::<u32, 64>();
                let (cluster, i) = (this_cluster(), me() % 64);
                meet(Relaxed);
                store(&cluster.map_shared_rank(&array, 1 - cluster.block_rank()), i, 7); // written_to_a_peer
                either(ordered, Full, Shared);
                load(&array, i); // written_to_a_peer
            },
        },
        Case {
            name: "read_from_a_peer",
            shape: shape(2, 2, 64),
            kernel: |ordered, _| {
                let array = shared_array::<u32, 64>();
                let (cluster, i) = (this_cluster(), me() % 64);
                store(&array, i, 7);
                meet(Shared);
                load(&cluster.map_shared_rank(&array, 1 - cluster.block_rank()), i); // read_from_a_peer
                either(ordered, Full, Shared);
                store(&array, i, 9); // read_from_a_peer
            },
        },
        Case {
            name: "in_global_memory",
            shape: shape(2, 2, 64),
            kernel: |ordered, words| {
                if me() == 3 {
                    store(words, 1, 7); // in_global_memory
                }
                either(ordered, Full, Shared);
                if me() == 100 {
                    load(words, 1); // in_global_memory
                }
            },
        },
        // The write of one thread, which another thread of its block has seen, is not the other's to publish.
        Case {
            name: "not_cumulative",
            shape: shape(2, 2, 64),
            kernel: |ordered, _| {
                let array = shared_array::<u32, 64>();
                let (cluster, i) = (this_cluster(), me() % 64);
                if i == 5 {
                    store(&array, 5, 7); // not_cumulative
                }
                this_thread_block().sync();
                either(ordered || i != 5, Shared, Relaxed);
                if i == 9 {
                    load(&cluster.map_shared_rank(&array, 1 - cluster.block_rank()), 5); // not_cumulative
                }
                cluster.sync();
            },
        },
        // What one barrier ordered stays ordered, however weak the next one is.
        Case {
            name: "stays_ordered",
            shape: shape(2, 2, 64),
            kernel: |ordered, words| {
                if me() == 3 {
                    store(words, 1, 7); // stays_ordered
                }
                either(ordered, Full, Relaxed);
                meet(Shared);
                meet(Relaxed);
                if me() == 100 {
                    load(words, 1); // stays_ordered
                }
            },
        },
    ];
    check(include_str!("fences.rs"), &cases);
}
