//! Tests of what barriers order, and what they do not.

use super::*;

/// Two threads access a word, one before and one after what all threads do.
macro_rules! across {
    (@writes $words:ident) => { store($words, 1, 7) };
    (@reads $words:ident) => { _ = load($words, 1) };
    ($name:literal, $shape:expr, $first:literal $does:ident, $second:literal $then:ident, |$ordered:ident| $all:expr) => {
        Case {
            name: $name,
            shape: $shape,
            kernel: |$ordered, words| {
                if me() == $first {
                    across!(@$does words);
                }
                $all;
                if me() == $second {
                    across!(@$then words);
                }
            },
        }
    };
}

#[test]
fn barriers() {
    let cases = [
        across! { "block_sync", shape(1, 1, 64), 0 writes, 40 reads, |ordered|
            if ordered {
                this_thread_block().sync();
            }
        },
        across! { "write_after_read", shape(1, 1, 64), 0 reads, 40 writes, |ordered|
            if ordered {
                this_thread_block().sync();
            }
        },
        across! { "cluster_sync", shape(4, 2, 64), 3 writes, 70 reads, |ordered|
            if ordered {
                this_cluster().sync()
            } else {
                this_thread_block().sync()
            }
        },
        across! { "relaxed_arrival", shape(2, 2, 64), 5 writes, 100 reads, |ordered| {
            this_thread_block().sync();
            if me() == 9 && ordered {
                fence(AcqRel, Scope::Cluster);
            }
            let token = this_cluster().barrier_arrive_relaxed();
            this_cluster().barrier_wait(token);
        } },
        across! { "fence_of_a_block", shape(2, 2, 64), 7 reads, 100 writes, |ordered| {
            fence(SeqCst, if ordered { Scope::Cluster } else { Scope::Block });
            let token = this_cluster().barrier_arrive_relaxed();
            this_cluster().barrier_wait(token);
        } },
        Case {
            name: "split_block_barrier",
            shape: shape(1, 1, 64),
            kernel: |ordered, words| {
                if me() == 0 && ordered {
                    store(words, 1, 7);
                }
                let token = this_thread_block().barrier_arrive();
                if me() == 0 && !ordered {
                    store(words, 1, 7); // split_block_barrier
                }
                this_thread_block().barrier_wait(token);
                if me() == 40 {
                    load(words, 1); // split_block_barrier
                }
            },
        },
        Case {
            name: "split_cluster_barrier",
            shape: shape(2, 2, 64),
            kernel: |ordered, words| {
                let token = if ordered {
                    store(words, me() % 64, me() as u32 % 64);
                    this_cluster().barrier_arrive()
                } else {
                    let token = this_cluster().barrier_arrive();
                    // The barrier of the block in between must not publish it to the cluster.
                    this_thread_block().sync();
                    if me() == 5 {
                        store(words, 1, 7); // split_cluster_barrier
                    }
                    this_thread_block().sync();
                    token
                };
                this_cluster().barrier_wait(token);
                if me() == 100 {
                    load(words, 1); // split_cluster_barrier
                }
            },
        },
        Case {
            name: "grid_sync",
            shape: shape(6, 2, 64),
            kernel: |ordered, words| {
                if me() == 0 {
                    store(words, 1, 7); // grid_sync
                }
                if ordered {
                    this_grid().sync()
                } else {
                    this_cluster().sync()
                }
                if me() == 300 {
                    load(words, 1); // grid_sync
                }
                this_grid().sync();
            },
        },
        Case {
            name: "clusters",
            shape: shape(8, 2, 64),
            kernel: |ordered, words| {
                this_cluster().sync();
                if this_cluster().thread_rank() == 1 {
                    let rank = this_grid().cluster_rank();
                    store(words, if ordered { rank } else { 0 }, rank as u32); // clusters
                }
            },
        },
        Case {
            name: "tile_sync",
            shape: shape(1, 1, 64),
            kernel: |ordered, words| {
                let tile: Tile<16> = tiled_partition::<16>(&this_thread_block());
                store(words, me(), 7); // tile_sync
                if ordered {
                    tile.sync()
                } else {
                    tile.shfl(1_u32, 0);
                }
                load(words, me() ^ 1); // tile_sync
            },
        },
        Case {
            name: "other_tile",
            shape: shape(1, 1, 64),
            kernel: |ordered, words| {
                let tile: Tile<16> = tiled_partition::<16>(&this_thread_block());
                store(words, me(), 7); // other_tile
                tile.sync();
                load(words, me() ^ if ordered { 15 } else { 16 }); // other_tile
            },
        },
    ];
    check(include_str!("barriers.rs"), &cases);
}
