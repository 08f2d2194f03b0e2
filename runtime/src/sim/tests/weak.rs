//! The results that relaxed atomics may show, and those that coherence, orders, fences and barriers forbid: litmus
//! tests of a few threads, in separate blocks or one, with all their results under many schedules. Allowed results
//! occur, forbidden ones never, and round robin shows only the latest values.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

use super::shape;
use crate::kernel::group::{this_cluster, this_grid, this_thread_block};
use crate::kernel::intrinsics::tick;
use crate::kernel::memory::{GlobalMemory, GlobalMut, atomic, fence, shared_array};
use crate::schedule::Schedule;
use crate::scope::Scope;
use crate::shape::Shape;
use crate::sim::{Simulator, run};

type Words<'a> = GlobalMut<'a, u32>;

/// The number of runs of each program.
const RUNS: u64 = 300;

/// The number of words that programs share, and of result words.
const SHARED: usize = 4;
const RESULTS: usize = 4;

fn get(words: &Words<'_>, at: usize, order: Ordering) -> u32 {
    atomic(words, at).load(order)
}

fn put(words: &Words<'_>, at: usize, value: u32, order: Ordering) {
    atomic(words, at).store(value, order);
}

/// Records a result of the program.
fn say(words: &Words<'_>, at: usize, value: u32) {
    put(words, SHARED + at, value, Relaxed);
}

/// Returns the results of the threads under these schedules. `thread` is its number in the grid.
fn results(
    shape: Shape,
    schedules: impl Iterator<Item = Schedule>,
    program: impl Fn(&Words<'_>, usize) + Send + Sync,
) -> BTreeSet<[u32; RESULTS]> {
    let results = schedules.map(|schedule| {
        let memory = GlobalMemory::zeros(4 * (SHARED + RESULTS));
        let words = Words::new(&memory);
        let simulator = Simulator::new().schedule(schedule).step_limit(1 << 12);
        let body = || program(&words, this_grid().thread_rank());
        run("test", &shape, &simulator, &body).1.unwrap();
        let all = memory.read::<u32>();
        std::array::from_fn(|at| all[SHARED + at])
    });
    results.collect()
}

/// Returns the results that many schedules show.
fn shown(shape: Shape, program: impl Fn(&Words<'_>, usize) + Send + Sync) -> BTreeSet<[u32; RESULTS]> {
    let schedules = (0..RUNS).map(|seed| match seed % 3 {
        0 => Schedule::Random { seed },
        1 => Schedule::Priority { seed, changes: 2 },
        _ => Schedule::Lockstep { seed },
    });
    results(shape, schedules, program)
}

/// Returns the result `[a, b]`, with zeros after it.
fn pair(a: u32, b: u32) -> [u32; RESULTS] {
    [a, b, 0, 0]
}

/// Returns the shapes of two threads: in a block each, or as lanes of one warp.
fn two() -> [Shape; 3] {
    [shape(2, 1, 1), shape(2, 2, 1), shape(1, 1, 2)]
}

/// Each thread writes, and then reads what the other writes.
#[test]
fn store_buffering() {
    fn program(order: Ordering, between: Option<Ordering>) -> impl Fn(&Words<'_>, usize) + Send + Sync {
        move |words, me| {
            put(words, me, 1, if order == SeqCst { SeqCst } else { Relaxed });
            if let Some(between) = between {
                fence(between, Scope::Device);
            }
            say(words, me, get(words, 1 - me, order));
        }
    }
    for shape in two() {
        let all = BTreeSet::from([pair(0, 0), pair(0, 1), pair(1, 0), pair(1, 1)]);
        assert_eq!(shown(shape, program(Relaxed, None)), all);
        assert_eq!(shown(shape, program(Acquire, Some(AcqRel))), all);
        let in_an_order = BTreeSet::from([pair(0, 1), pair(1, 0), pair(1, 1)]);
        assert_eq!(shown(shape, program(Relaxed, Some(SeqCst))), in_an_order);
        assert_eq!(shown(shape, program(SeqCst, None)), in_an_order);
    }
}

/// One thread writes data and then a flag; the other reads the flag and then the data.
#[test]
fn message_passing() {
    fn program(write: Ordering, read: Ordering, fences: bool) -> impl Fn(&Words<'_>, usize) + Send + Sync {
        move |words, me| match me {
            0 => {
                put(words, 0, 1, Relaxed);
                if fences {
                    fence(Release, Scope::Device);
                }
                put(words, 1, 1, write);
            }
            _ => {
                let flag = get(words, 1, read);
                if fences {
                    fence(Acquire, Scope::Device);
                }
                say(words, 0, flag);
                say(words, 1, get(words, 0, Relaxed));
            }
        }
    }
    for shape in two() {
        let all = BTreeSet::from([pair(0, 0), pair(0, 1), pair(1, 0), pair(1, 1)]);
        for (write, read) in [(Relaxed, Relaxed), (Release, Relaxed), (Relaxed, Acquire)] {
            assert_eq!(shown(shape, program(write, read, false)), all, "{write:?} {read:?}");
        }
        let passed = BTreeSet::from([pair(0, 0), pair(0, 1), pair(1, 1)]);
        assert_eq!(shown(shape, program(Release, Acquire, false)), passed);
        assert_eq!(shown(shape, program(Relaxed, Relaxed, true)), passed);
    }
}

/// Two threads write, and two read both, each in its own order: do they agree on the order of the writes?
#[test]
fn independent_reads_of_independent_writes() {
    fn program(write: Ordering, read: Ordering) -> impl Fn(&Words<'_>, usize) + Send + Sync {
        move |words, me| match me {
            0 | 1 => put(words, me, 1, write),
            _ => {
                let first = get(words, me % 2, read);
                let second = get(words, 1 - me % 2, read);
                say(words, 2 * (me - 2), first);
                say(words, 2 * (me - 2) + 1, second);
            }
        }
    }
    let they_differ = [1, 0, 1, 0];
    for shape in [shape(4, 1, 1), shape(2, 2, 2)] {
        assert!(shown(shape, program(Relaxed, Relaxed)).contains(&they_differ));
        assert!(shown(shape, program(Release, Acquire)).contains(&they_differ));
        assert!(!shown(shape, program(SeqCst, SeqCst)).contains(&they_differ));
    }
}

/// No thread sees the values of one location in another order than they were stored in: neither a thread that reads
/// twice, nor one that knows what another found.
#[test]
fn coherence() {
    for shape in two() {
        let twice = shown(shape, |words, me| match me {
            0 => (1..=3).for_each(|value| put(words, 0, value, Relaxed)),
            _ => (0..RESULTS).for_each(|at| say(words, at, get(words, 0, Relaxed))),
        });
        assert!(twice.iter().all(|values| values.is_sorted()) && twice.len() > 10, "{twice:?}");
        // The thread's own store, and a read-modify-write, which finds the latest value.
        let own = shown(shape, |words, me| {
            put(words, 0, 1 + me as u32, Relaxed);
            say(words, me, get(words, 0, Relaxed));
            say(words, 2 + me, atomic(words, 0).fetch_add(0, Relaxed));
        });
        let is_right =
            |[a, b, x, y]: &[u32; 4]| (*a == 1 || *b == 2) && x >= &1 && y >= &1 && (x == y || *x == 1 || *y == 2);
        assert!(own.iter().all(is_right), "{own:?}");
    }
    let told = shown(shape(3, 1, 1), |words, me| match me {
        0 => put(words, 0, 1, Relaxed),
        1 => {
            say(words, 0, get(words, 0, Relaxed));
            put(words, 1, 1, Release);
        }
        _ => {
            say(words, 1, get(words, 1, Acquire));
            say(words, 2, get(words, 0, Relaxed));
        }
    });
    assert!(told.contains(&[1, 0, 0, 0]) && told.contains(&[0, 1, 0, 0]) && !told.contains(&[1, 1, 0, 0]), "{told:?}");
}

/// A chain of relaxed atomics publishes nothing, one of releases and acquires everything before it.
#[test]
fn through_a_third() {
    fn program(write: Ordering, read: Ordering) -> impl Fn(&Words<'_>, usize) + Send + Sync {
        move |words, me| match me {
            0 => put(words, 0, 1, write),
            1 => {
                say(words, 0, get(words, 0, read));
                put(words, 1, 1, write);
            }
            _ => {
                say(words, 1, get(words, 1, read));
                say(words, 2, get(words, 0, Relaxed));
            }
        }
    }
    assert!(shown(shape(3, 1, 1), program(Relaxed, Relaxed)).contains(&[1, 1, 0, 0]));
    assert!(!shown(shape(3, 1, 1), program(Release, Acquire)).contains(&[1, 1, 0, 0]));
}

/// After a barrier all threads find what was stored before it; after a relaxed one they need not.
#[test]
fn barriers() {
    let after = |wait: fn()| {
        shown(shape(2, 2, 2), move |words, me| {
            if me == 0 {
                put(words, 0, 1, Relaxed);
            }
            wait();
            if me == 3 {
                say(words, 0, get(words, 0, Relaxed));
            }
        })
    };
    assert_eq!(after(|| this_cluster().sync()), [pair(1, 0)].into());
    let relaxed = || {
        let token = this_cluster().barrier_arrive_relaxed();
        this_cluster().barrier_wait(token);
    };
    assert_eq!(after(relaxed), [pair(0, 0), pair(1, 0)].into());
    let fenced = || {
        fence(AcqRel, Scope::Cluster);
        let token = this_cluster().barrier_arrive_relaxed();
        this_cluster().barrier_wait(token);
    };
    assert_eq!(after(fenced), [pair(1, 0)].into());
}

/// Shared memory behaves the same; and uninitialized memory is never found.
#[test]
fn shared_memory() {
    let found = shown(shape(1, 1, 2), |words, me| {
        let flags = shared_array::<u32, 2>();
        atomic(&flags, me).store(1, Relaxed);
        this_thread_block().sync();
        atomic(&flags, me).store(2, Relaxed);
        say(words, me, atomic(&flags, 1 - me).load(Relaxed));
    });
    assert_eq!(found, [pair(1, 1), pair(1, 2), pair(2, 1), pair(2, 2)].into());
}

/// A thread that polls for a value finds it, whatever else the loop reads.
#[test]
fn who_waits_goes_on() {
    let found = shown(shape(2, 1, 1), |words, me| {
        put(words, me, 1, Relaxed);
        while get(words, 1 - me, Relaxed) == 0 || get(words, 2, Relaxed) == 7 {
            tick();
        }
        put(words, 2, 7, Relaxed);
        put(words, 2, 0, Relaxed);
        say(words, me, 1);
    });
    assert_eq!(found, [pair(1, 1)].into());
}

/// Round robin shows no stale value, nor does a run without race detection.
#[test]
fn the_latest_in_turn() {
    let program = |words: &Words<'_>, me: usize| {
        for round in 1..100 {
            put(words, me, round, Relaxed);
            let latest = atomic(words, 1 - me).fetch_add(0, Relaxed);
            assert!(get(words, 1 - me, Relaxed) >= latest);
            say(words, me, u32::from(get(words, me, Relaxed) == round));
        }
    };
    assert_eq!(results(shape(2, 2, 1), [Schedule::RoundRobin].into_iter(), program), [pair(1, 1)].into());
    let buffered = |races| {
        let all = (0..RUNS).map(|seed| {
            let memory = GlobalMemory::zeros(16);
            let words = Words::new(&memory);
            let body = || {
                let me = this_grid().thread_rank();
                put(&words, me, 1, Relaxed);
                put(&words, 2 + me, get(&words, 1 - me, Relaxed), Relaxed);
            };
            let simulator = Simulator::new().schedule(Schedule::Random { seed }).races(races);
            run("test", &shape(2, 2, 1), &simulator, &body).1.unwrap();
            memory.read::<u32>()
        });
        all.filter(|words| words[2..] == [0, 0]).count()
    };
    assert!(buffered(true) > 0);
    assert_eq!(buffered(false), 0);
}
