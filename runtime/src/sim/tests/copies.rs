//! Asynchronous copies: what arrives, when, and each misuse that only a run can show.

use super::{failure, protocol, shape, simulate};
use crate::kernel::barrier::{Barrier, ClusterScope, shared_barrier, shared_cluster_barrier};
use crate::kernel::copy::{
    bulk_copy_async, bulk_copy_to_global, bulk_copy_to_peer, bulk_wait_group, bulk_wait_group_read, memcpy_async,
    store_async,
};
use crate::kernel::group::{this_cluster, this_thread_block, tile};
use crate::kernel::memory::{Global, GlobalMemory, GlobalMut, load, shared_array, store, subslice, subslice_mut};
use crate::report::failure::Cause;
use crate::schedule::Schedule;
use crate::shape::Shape;
use crate::sim::{Simulator, run};

enum Bar {}

/// Runs a kernel on `0..64` and 64 zeros; returns the contents of the latter, or why the kernel failed.
fn copying(
    shape: &Shape,
    schedule: Schedule,
    kernel: impl Fn(&Global<'_, u32>, &GlobalMut<'_, u32>) + Sync,
) -> Result<Vec<u32>, String> {
    let (input, output) =
        (GlobalMemory::from_slice(&Vec::from_iter(0..64_u32)), GlobalMemory::from_slice(&[0_u32; 64]));
    let simulator = Simulator::new().schedule(schedule).step_limit(1 << 16);
    {
        let (input, output) = (Global::new(&input), GlobalMut::new(&output));
        let body = || kernel(&input, &output);
        run("test", shape, &simulator, &body).1.map_err(|failure| failure.cause.to_string())?;
    }
    Ok(output.read())
}

const SCHEDULES: [Schedule; 4] = [
    Schedule::RoundRobin,
    Schedule::Random { seed: 1 },
    Schedule::Random { seed: 77 },
    Schedule::Priority { seed: 3, changes: 5 },
];

/// Returns the outcome under every schedule.
fn all(shape: &Shape, kernel: impl Fn(&Global<'_, u32>, &GlobalMut<'_, u32>) + Sync) -> Vec<Result<Vec<u32>, String>> {
    SCHEDULES.into_iter().map(|schedule| copying(shape, schedule, &kernel)).collect()
}

fn right(shape: &Shape, want: impl Fn(u32) -> u32, kernel: impl Fn(&Global<'_, u32>, &GlobalMut<'_, u32>) + Sync) {
    let want = Vec::from_iter((0..64).map(want));
    all(shape, kernel).into_iter().for_each(|got| assert_eq!(got, Ok(want.clone())));
}

fn wrong(shape: &Shape, part: &str, kernel: impl Fn(&Global<'_, u32>, &GlobalMut<'_, u32>) + Sync) {
    for got in all(shape, kernel) {
        let sentence = got.expect_err("a failure");
        assert!(sentence.contains(part), "{sentence}");
    }
}

fn rank() -> u32 {
    this_thread_block().thread_rank()
}

/// Returns the block's barrier, initialized for this many arrivals.
fn ready(count: u32) -> Barrier<Bar> {
    let bar = shared_barrier::<Bar>();
    bar.init_collective(&this_thread_block(), count);
    bar
}

#[test]
fn a_barrier_waits_for_the_bytes() {
    right(
        &shape(1, 1, 64),
        |i| 63 - i,
        |input, output| {
            let array = shared_array::<u32, 64>();
            let bar = ready(64);
            memcpy_async(&this_thread_block(), &array, input, &bar);
            bar.arrive_and_wait();
            store(output, rank(), load(&array, 63 - rank()));
        },
    );
    right(
        &shape(1, 1, 64),
        |i| 63 - i,
        |input, output| {
            let array = shared_array::<u32, 64>();
            let bar = ready(1);
            if rank() == 7 {
                bar.expect_tx(256);
                bulk_copy_async(&array, input, &bar);
                let _ = bar.arrive();
            }
            while !bar.try_wait_parity(false) {}
            store(output, rank(), load(&array, 63 - rank()));
        },
    );
}

#[test]
fn a_group_waits_for_its_copies() {
    right(
        &shape(1, 1, 64),
        |i| 63 - i,
        |input, output| {
            let (array, block) = (shared_array::<u32, 64>(), this_thread_block());
            block.memcpy_async(&array, input);
            block.wait_async();
            store(output, rank(), load(&array, 63 - rank()));
        },
    );
    // The first half has arrived, and the second has not.
    let halves = |second: bool| {
        move |input: &Global<'_, u32>, output: &GlobalMut<'_, u32>| {
            let (array, block) = (shared_array::<u32, 64>(), this_thread_block());
            block.memcpy_async(&subslice(&array, 0, 32), &subslice(input, 0, 32));
            block.memcpy_async(&subslice(&array, 32, 64), &subslice(input, 32, 64));
            block.wait_prior::<1>();
            let i = rank() % 32 + if second { 32 } else { 0 };
            store(output, rank(), load(&array, i));
            block.wait_async();
        }
    };
    right(&shape(1, 1, 64), |i| i % 32, halves(false));
    wrong(&shape(1, 1, 64), "", halves(true));
    right(
        &shape(1, 1, 64),
        |i| i ^ 1,
        |input, output| {
            let (array, block) = (shared_array::<u32, 64>(), this_thread_block());
            let warp = tile::<32, _>(&block);
            let start = rank() / 32 * 32;
            warp.memcpy_async(&subslice(&array, start, start + 32), &subslice(input, start, start + 32));
            warp.wait_async();
            store(output, rank(), load(&array, rank() ^ 1));
        },
    );
}

#[test]
fn global_memory_is_written_behind() {
    right(
        &shape(1, 1, 64),
        |i| 3 * i,
        |_, output| {
            let (array, block) = (shared_array::<u32, 64>(), this_thread_block());
            store(&array, rank(), 3 * rank());
            block.sync();
            if rank() == 0 {
                bulk_copy_to_global(&subslice_mut(output, 0, 32), &subslice(&array, 0, 32));
                bulk_copy_to_global(&subslice_mut(output, 32, 64), &subslice(&array, 32, 64));
                bulk_wait_group_read::<0>();
            }
            block.sync();
            store(&array, rank(), 0);
        },
    );
    wrong(
        &shape(1, 1, 64),
        "`bulk_copy_async()` must be waited for, but its thread exited without a wait",
        |_, output| {
            let array = shared_array::<u32, 64>();
            store(&array, rank(), rank());
            this_thread_block().sync();
            if rank() == 0 {
                bulk_copy_to_global(output, &array);
            }
        },
    );
    // The source has been read, and the destination is not written yet.
    let reads = |all: bool| {
        move |_: &Global<'_, u32>, output: &GlobalMut<'_, u32>| {
            let array = shared_array::<u32, 64>();
            store(&array, rank(), rank() + 1);
            this_thread_block().sync();
            if rank() == 0 {
                bulk_copy_to_global(output, &array);
                if all {
                    bulk_wait_group::<0>()
                } else {
                    bulk_wait_group_read::<0>()
                }
                let last = load(output, 63);
                store(output, 0, last);
            }
        }
    };
    right(&shape(1, 1, 64), |i| if i == 0 { 64 } else { i + 1 }, reads(true));
    wrong(&shape(1, 1, 64), "data race", reads(false));
}

#[test]
fn peers_send_to_a_barrier() {
    let exchange = |bulk: bool, expected: u32| {
        move |input: &Global<'_, u32>, output: &GlobalMut<'_, u32>| {
            let (cluster, block) = (this_cluster(), this_thread_block());
            let (own, got) = (shared_array::<u32, 32>(), shared_array::<u32, 32>());
            let bar = shared_cluster_barrier::<Bar>();
            bar.init_collective(&cluster, 1);
            let i = cluster.thread_rank();
            if rank() == 0 {
                bar.expect_tx(expected);
                let _ = bar.arrive();
            }
            store(&own, rank(), load(input, i) + 100);
            block.sync();
            let peer = 1 - cluster.block_rank();
            let (there, told) = (cluster.map_shared_rank(&got, peer), cluster.map_shared_rank(&bar, peer));
            if !bulk {
                store_async(&there, rank(), load(&own, rank()), &told);
            } else if rank() == 0 {
                bulk_copy_to_peer(&there, &own, &told);
            }
            bar.wait_parity(false);
            store(output, i, load(&got, rank()));
            cluster.sync();
        }
    };
    for bulk in [false, true] {
        right(&shape(2, 2, 32), |i| 100 + (i + 32) % 64, exchange(bulk, 128));
        wrong(&shape(2, 2, 32), "deadlock", exchange(bulk, 132));
        wrong(&shape(2, 2, 32), "still expects 4 bytes", exchange(bulk, 132));
    }
    wrong(&shape(2, 2, 32), "has received 4 bytes more than expected", exchange(true, 124));
    wrong(&shape(2, 2, 32), "but the memory is of block rank 0 and the barrier of block rank 1", |_, _| {
        let cluster = this_cluster();
        let got = shared_array::<u32, 32>();
        let bar = shared_cluster_barrier::<Bar>();
        let _: &Barrier<Bar, ClusterScope> = &bar;
        bar.init_collective(&cluster, 1);
        let (there, told) = (cluster.map_shared_rank(&got, 0), cluster.map_shared_rank(&bar, 1));
        store_async(&there, rank(), 1, &told);
    });
}

/// Each kernel uses a copy before its end, or changes what is in flight; with the wait it is right.
#[test]
fn a_use_before_the_end_is_a_race() {
    let reads = |waits: bool| {
        move |input: &Global<'_, u32>, output: &GlobalMut<'_, u32>| {
            let array = shared_array::<u32, 64>();
            let bar = ready(64);
            memcpy_async(&this_thread_block(), &array, input, &bar);
            let token = bar.arrive();
            if waits {
                bar.wait(token);
            } else {
                this_thread_block().sync();
            }
            store(output, rank(), load(&array, rank()));
        }
    };
    right(&shape(1, 1, 64), |i| i, reads(true));
    wrong(&shape(1, 1, 64), "", reads(false));
    // Two stages are used here, and the wait is at the barrier of the other one.
    let stages = |stage: u32| {
        move |input: &Global<'_, u32>, output: &GlobalMut<'_, u32>| {
            let array = shared_array::<u32, 64>();
            store(&array, rank(), 5);
            let (first, second) = (shared_barrier::<Bar>(), shared_barrier::<Bar>());
            first.init_collective(&this_thread_block(), 1);
            second.init_collective(&this_thread_block(), 1);
            if rank() == 0 {
                for (bar, start) in [(&first, 0), (&second, 32)] {
                    bar.expect_tx(128);
                    bulk_copy_async(&subslice(&array, start, start + 32), &subslice(input, start, start + 32), bar);
                    let _ = bar.arrive();
                }
            }
            second.wait_parity(false);
            store(output, rank(), load(&array, rank() % 32 + 32 * stage));
            first.wait_parity(false);
        }
    };
    right(&shape(1, 1, 64), |i| i % 32 + 32, stages(1));
    wrong(&shape(1, 1, 64), "a copy of block (0,0,0) thread (0,0,0)", stages(0));
    let overwrites = |waits: bool| {
        move |_: &Global<'_, u32>, output: &GlobalMut<'_, u32>| {
            let array = shared_array::<u32, 64>();
            store(&array, rank(), rank());
            this_thread_block().sync();
            if rank() == 0 {
                bulk_copy_to_global(output, &array);
                if waits {
                    bulk_wait_group_read::<0>();
                }
                store(&array, 0, 9);
                bulk_wait_group::<0>();
            }
        }
    };
    right(&shape(1, 1, 64), |i| i, overwrites(true));
    wrong(&shape(1, 1, 64), "data race: write of 9", overwrites(false));
    // A barrier orders threads: whoever did not wait for the copy does not know that it has read the array.
    let overwritten_after = |barriers: u32, waits: bool| {
        move |_: &Global<'_, u32>, output: &GlobalMut<'_, u32>| {
            let (array, block) = (shared_array::<u32, 64>(), this_thread_block());
            store(&array, rank(), rank());
            block.sync();
            if rank() == 0 {
                bulk_copy_to_global(output, &array);
                if waits {
                    bulk_wait_group_read::<0>();
                }
            }
            (0..barriers).for_each(|_| block.sync());
            store(&array, rank(), 9);
            block.sync();
            if rank() == 0 {
                bulk_wait_group::<0>();
            }
        }
    };
    for barriers in 1..4 {
        right(&shape(1, 1, 64), |i| i, overwritten_after(barriers, true));
        wrong(&shape(1, 1, 64), "data race: write of 9", overwritten_after(barriers, false));
    }
    let unordered = |synced: bool| {
        move |_: &Global<'_, u32>, output: &GlobalMut<'_, u32>| {
            let array = shared_array::<u32, 64>();
            store(&array, rank(), rank());
            if synced {
                this_thread_block().sync();
            }
            if rank() == 63 {
                bulk_copy_to_global(output, &array);
                bulk_wait_group::<0>();
            }
        }
    };
    right(&shape(1, 1, 64), |i| i, unordered(true));
    wrong(&shape(1, 1, 64), "", unordered(false));
}

#[test]
fn what_is_never_said_is_missed() {
    // Without `expect_tx` the phase completes before the bytes have arrived.
    let forgets = |input: &Global<'_, u32>, output: &GlobalMut<'_, u32>| {
        let array = shared_array::<u32, 64>();
        store(&array, rank(), 5);
        let bar = ready(1);
        if rank() == 0 {
            bulk_copy_async(&array, input, &bar);
            let _ = bar.arrive();
        }
        bar.wait_parity(false);
        store(output, rank(), load(&array, rank()));
    };
    for got in all(&shape(1, 1, 64), forgets) {
        let sentence = got.expect_err("a failure");
        assert!(sentence.contains("data race") || sentence.contains("256 bytes more"), "{sentence}");
    }
    wrong(&shape(1, 1, 64), "so it must complete before the block exits", |input, _| {
        let array = shared_array::<u32, 64>();
        let bar = ready(1);
        if rank() == 63 {
            bulk_copy_async(&array, input, &bar);
        }
    });
}

#[test]
fn bytes_and_lengths_are_checked() {
    let memory = GlobalMemory::from_slice(&Vec::from_iter(0..64_u32));
    let input: Global<'_, u32> = Global::new(&memory);
    let cause = |to: u32, from: u32, length: u32, bulk: bool| {
        let body = || {
            let array = shared_array::<u32, 64>();
            let bar = ready(1);
            let (to, from) = (subslice(&array, to, to + length), subslice(&input, from, from + length.min(32)));
            if bulk { bulk_copy_async(&to, &from, &bar) } else { memcpy_async(&this_thread_block(), &to, &from, &bar) }
        };
        run("test", &shape(1, 1, 1), &Simulator::new(), &body).1.unwrap_err().cause
    };
    assert_eq!(cause(0, 0, 33, false), Cause::CopyLengths { to: 33, from: 32 });
    assert_eq!(cause(0, 0, 33, true), Cause::CopyLengths { to: 33, from: 32 });
    assert_eq!(cause(0, 0, 6, true), Cause::BulkBytes { bytes: 24 });
    assert_eq!(cause(4, 1, 8, true), Cause::BulkMisaligned { to: 0, from: 4 });
    assert_eq!(cause(6, 4, 8, true), Cause::BulkMisaligned { to: 8, from: 0 });
    let (differs, _) = failure(shape(1, 1, 64), || {
        let array = shared_array::<u32, 64>();
        let bar = ready(64);
        memcpy_async(
            &this_thread_block(),
            &subslice(&array, rank() / 32, 32),
            &subslice(&input, rank() / 32, 32),
            &bar,
        );
    });
    let sentence = differs.cause.to_string();
    assert_eq!(
        sentence,
        "the memory of `memcpy_async()` must be the same in all threads of the block, but differs between them"
    );
    let before = protocol(shape(1, 1, 1), || {
        let bar = shared_barrier::<Bar>();
        memcpy_async(&this_thread_block(), &shared_array::<u32, 64>(), &input, &bar);
    });
    assert_eq!(before, "`bar.memcpy_async()` needs an initialized barrier, but no thread has initialized this one");
    // Nothing is copied at once.
    simulate(shape(1, 1, 1), || {
        let bar = ready(1);
        let array = shared_array::<u32, 64>();
        memcpy_async(&this_thread_block(), &subslice(&array, 0, 0), &subslice(&input, 5, 5), &bar);
        bar.arrive_and_wait();
    })
    .unwrap();
}

#[test]
fn a_read_before_the_wait_names_the_copy() {
    let kernel = |input: &Global<'_, u32>, _: &GlobalMut<'_, u32>| {
        let (array, barrier) = (shared_array::<u32, 64>(), shared_barrier::<Bar>());
        barrier.init(1);
        bulk_copy_async(&array, input, &barrier);
        load(&array, 5);
        let token = barrier.arrive();
        barrier.wait(token);
    };
    let sentence = copying(&shape(1, 1, 1), Schedule::RoundRobin, kernel).expect_err("the copy is in flight");
    let place = format!("the copy at {}:{}:", file!(), line!() - 6);
    assert!(sentence.contains(&place) && sentence.ends_with("is still in flight"), "{sentence}");
}
