//! What each fence orders of an arrival at the cluster's barrier or at a peer's phase barrier, and what a weaker one does not.

use std::sync::atomic::Ordering;

use phalanx_contract::fence::Fence;

use super::*;
use crate::kernel::barrier::{ClusterBarrier, shared_cluster_barrier};
use crate::kernel::group::with_fence;

enum Bar {}

/// Returns a barrier that expects one arrival.
fn ready() -> ClusterBarrier<Bar> {
    let bar = shared_cluster_barrier::<Bar>();
    bar.init_collective(&this_cluster(), 1);
    bar
}

/// Thread 0 of the first block of the cluster arrives at the barrier of the second, whose threads wait.
fn tell(bar: &ClusterBarrier<Bar>, fence: Fence) {
    this_thread_block().sync();
    if me() == 0 {
        with_fence(fence, || this_cluster().map_shared_rank(bar, 1).arrive());
    } else if me() >= 64 {
        bar.wait_parity(false);
    }
}

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
                either(ordered, Shared, Relaxed);
                store(&array, i, 9); // read_from_a_peer
            },
        },
        // What the owner knows of the reads, it tells others.
        Case {
            name: "read_from_a_peer_and_told",
            shape: shape(2, 2, 64),
            kernel: |ordered, _| {
                let array = shared_array::<u32, 64>();
                let cluster = this_cluster();
                if me() == 3 {
                    store(&array, 1, 7);
                }
                meet(Shared);
                if me() == 64 {
                    load(&cluster.map_shared_rank(&array, 0), 1); // read_from_a_peer_and_told
                }
                either(ordered, Shared, Relaxed);
                meet(Relaxed);
                if me() == 5 {
                    store(&array, 1, 9); // read_from_a_peer_and_told
                }
            },
        },
        // An atomic load is not waited for.
        Case {
            name: "read_atomically_from_a_peer",
            shape: shape(2, 2, 64),
            kernel: |ordered, _| {
                let array = shared_array::<u32, 64>();
                let (cluster, i) = (this_cluster(), me() % 64);
                store(&array, i, 7);
                meet(Shared);
                let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
                atomic(&peer, i).load(Ordering::Relaxed); // read_atomically_from_a_peer
                either(ordered, Full, Shared);
                store(&array, i, 9); // read_atomically_from_a_peer
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

#[test]
fn arrivals_at_peers() {
    use Fence::{Full, Relaxed, Shared};
    let cases = [
        // One thread arrives for another one of its block, by whose barrier it knows.
        Case {
            name: "given_back",
            shape: shape(2, 2, 64),
            kernel: |ordered, _| {
                let (array, cluster) = (shared_array::<u32, 64>(), this_cluster());
                if me() == 5 {
                    store(&array, 5, 7);
                }
                let bar = ready();
                if me() == 5 {
                    load(&array, 5); // given_back
                }
                tell(&bar, if ordered { Shared } else { Relaxed });
                if me() == 64 {
                    store(&cluster.map_shared_rank(&array, 0), 5, 9); // given_back
                }
                cluster.sync();
            },
        },
        Case {
            name: "pushed",
            shape: shape(2, 2, 64),
            kernel: |ordered, _| {
                let (array, bar, cluster) = (shared_array::<u32, 64>(), ready(), this_cluster());
                if me() == 5 {
                    store(&cluster.map_shared_rank(&array, 1), 5, 7); // pushed
                }
                tell(&bar, if ordered { Full } else { Shared });
                if me() == 69 {
                    load(&array, 5); // pushed
                }
            },
        },
        // The thread that arrives does not wait for what another has read of a peer.
        Case {
            name: "pulled",
            shape: shape(2, 2, 64),
            kernel: |ordered, _| {
                let (array, cluster) = (shared_array::<u32, 64>(), this_cluster());
                store(&array, me() % 64, 7);
                let bar = ready();
                if me() == 5 {
                    load(&cluster.map_shared_rank(&array, 1), 5); // pulled
                }
                tell(&bar, if ordered { Full } else { Shared });
                if me() == 69 {
                    store(&array, 5, 9); // pulled
                }
            },
        },
        Case {
            name: "through_global_memory",
            shape: shape(2, 2, 64),
            kernel: |ordered, words| {
                let bar = ready();
                if me() == 5 {
                    store(words, 1, 7); // through_global_memory
                }
                tell(&bar, if ordered { Full } else { Shared });
                if me() == 69 {
                    load(words, 1); // through_global_memory
                }
            },
        },
    ];
    check(include_str!("fences.rs"), &cases);
}
