//! Tests of what atomics and fences order, and what they do not.

use super::*;

fn wait_for(words: &Words<'_>, value: u32, order: std::sync::atomic::Ordering, scope: Scope) {
    while atomic(words, 0).scope(scope).load(order) < value {
        tick();
    }
}

/// One thread writes a word and then notifies another, which reads the word after it has heard.
macro_rules! message {
    ($name:literal, $shape:expr, |$ordered:ident, $words:ident| $tell:expr, $hear:expr) => {
        Case {
            name: $name,
            shape: $shape,
            kernel: |$ordered, $words| {
                if me() == 0 {
                    store($words, 1, 7);
                    $tell;
                } else if me() == 100 {
                    $hear;
                    load($words, 1);
                }
            },
        }
    };
}

#[test]
fn atomics_and_fences() {
    let cases = [
        message! { "release_and_acquire", shape(2, 1, 64), |ordered, words|
            atomic(words, 0).store(1, if ordered { Release } else { Relaxed }),
            wait_for(words, 1, Acquire, Scope::Device)
        },
        message! { "the_last_of_a_chain", shape(2, 2, 64), |ordered, words|
            atomic(words, 0).fetch_add(1, if ordered { Release } else { Relaxed }),
            {
                wait_for(words, 1, Relaxed, Scope::Device);
                // The release sequence continues, and the thread reads its own value with the other's release.
                atomic(words, 0).fetch_add(1, Release);
                wait_for(words, 2, Acquire, Scope::Device);
            }
        },
        message! { "no_acquire", shape(2, 1, 64), |ordered, words|
            atomic(words, 0).fetch_add(1, AcqRel),
            wait_for(words, 1, if ordered { SeqCst } else { Relaxed }, Scope::Device)
        },
        message! { "a_narrow_fence_leaves_the_rest", shape(2, 1, 64), |ordered, words|
            atomic(words, 0).store(1, Release),
            {
                wait_for(words, 1, Relaxed, Scope::Device);
                fence(Acquire, Scope::Block);
                fence(Acquire, if ordered { Scope::Device } else { Scope::Block });
            }
        },
        message! { "fences", shape(2, 2, 64), |ordered, words|
            {
                fence(Release, Scope::Cluster);
                atomic(words, 0).store(1, Relaxed);
            },
            {
                wait_for(words, 1, Relaxed, Scope::Device);
                fence(AcqRel, if ordered { Scope::Device } else { Scope::Block });
            }
        },
        message! { "sequential_fences", shape(2, 1, 64), |ordered, words|
            {
                fence(SeqCst, Scope::Device);
                atomic(words, 0).fetch_add(1, Relaxed);
            },
            {
                wait_for(words, 1, Relaxed, Scope::Device);
                fence(if ordered { SeqCst } else { Release }, Scope::Device);
            }
        },
        Case {
            name: "through_a_third",
            shape: shape(1, 1, 64),
            kernel: |ordered, words| match me() {
                0 => {
                    store(words, 1, 7); // through_a_third
                    atomic(words, 0).store(1, Release);
                }
                1 => {
                    wait_for(words, 1, Relaxed, Scope::Block);
                    // A read-modify-write continues the release sequence; a store does not.
                    if ordered {
                        atomic(words, 0).fetch_add(1, Relaxed);
                    } else {
                        atomic(words, 0).store(2, Relaxed);
                    }
                }
                2 => {
                    wait_for(words, 2, Relaxed, Scope::Block);
                    atomic(words, 0).load(Acquire);
                    load(words, 1); // through_a_third
                }
                _ => {}
            },
        },
        Case {
            name: "for_a_whole_block",
            shape: shape(2, 1, 64),
            kernel: |ordered, words| {
                let (block, rank) = (this_grid().block_rank(), this_thread_block().thread_rank());
                if block == 0 {
                    store(words, 1 + rank % 32, 7); // for_a_whole_block
                    this_thread_block().sync();
                    if rank == 0 {
                        atomic(words, 0).store(1, Release);
                    }
                } else {
                    if rank == 0 || !ordered {
                        wait_for(words, 1, if rank == 0 { Acquire } else { Relaxed }, Scope::Device);
                    }
                    if ordered {
                        this_thread_block().sync();
                    }
                    if rank == 9 {
                        load(words, 20); // for_a_whole_block
                    }
                }
            },
        },
        Case {
            name: "scope_of_a_store",
            shape: shape(2, 2, 64),
            kernel: |ordered, words| {
                if me() == 0 {
                    atomic(words, 0).scope(if ordered { Scope::Cluster } else { Scope::Block }).store(1, Release); // scope_of_a_store
                } else if me() == 100 {
                    atomic(words, 0).load(Acquire); // scope_of_a_store
                }
            },
        },
        Case {
            name: "plain_and_atomic",
            shape: shape(1, 1, 64),
            kernel: |ordered, words| {
                if me() == 3 && !ordered {
                    load(words, 1); // plain_and_atomic
                }
                atomic(words, 1).fetch_add(1, Relaxed); // plain_and_atomic
            },
        },
        Case {
            name: "failed_exchange",
            shape: shape(1, 1, 64),
            kernel: |ordered, words| {
                // A compare-exchange that finds another value only reads.
                load(words, 1); // failed_exchange
                let old = if ordered || me() != 9 { 5 } else { 0 };
                let _ = atomic(words, 1).compare_exchange(old, 6, Relaxed, Relaxed); // failed_exchange
            },
        },
    ];
    check(include_str!("atomics.rs"), &cases);
}
