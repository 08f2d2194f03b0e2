//! Phase barriers: completion, and each misuse that the hardware does not detect.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::{failure, protocol, shape, simulate};
use crate::kernel::barrier::{Barrier, barrier_at, shared_barrier, shared_barriers, shared_cluster_barrier};
use crate::kernel::group::{this_cluster, this_thread_block};
use crate::report::failure::Cause;

enum Bar {}

/// Returns the block's barrier, initialized for this many arrivals.
fn ready(count: u32) -> Barrier<Bar> {
    let bar = shared_barrier::<Bar>();
    bar.init_collective(&this_thread_block(), count);
    bar
}

fn rank() -> u32 {
    this_thread_block().thread_rank()
}

#[test]
fn a_phase_ends_with_its_last_arrival_and_begins_anew() {
    let arrived = AtomicU32::new(0);
    simulate(shape(1, 1, 32), || {
        let bar = ready(32);
        for round in 1..=5 {
            arrived.fetch_add(1, Relaxed);
            let token = bar.arrive();
            bar.wait(token);
            assert_eq!(arrived.load(Relaxed), round * 32);
            bar.arrive_and_wait();
        }
    })
    .unwrap();
}

#[test]
fn bytes_are_counted_too() {
    let (failure, _) = failure(shape(1, 1, 2), || {
        let bar = ready(2);
        bar.expect_tx(16);
        bar.arrive_and_wait();
    });
    let text = failure.to_string();
    assert!(
        text.contains("2 thread(s)")
            && text.contains("wait at `bar.arrive_and_wait()` for a phase that still expects 32 bytes"),
        "{text}"
    );
    let most = protocol(shape(1, 1, 1), || {
        let bar = ready(1);
        bar.expect_tx((1 << 20) - 1);
        bar.expect_tx(1);
    });
    assert_eq!(
        most,
        "`bar.expect_tx()` exceeds the limit of 1048575 bytes per phase: it expects 1 more, but 1048575 are expected already"
    );
    let late = protocol(shape(1, 1, 1), || {
        let bar = ready(1);
        bar.expect_tx(8);
        let _ = bar.arrive();
        let _ = bar.arrive();
    });
    assert_eq!(
        late,
        "`bar.arrive()` exceeds the expected arrivals: the phase has received 1 of 1 and still expects 8 bytes"
    );
}

#[test]
fn a_barrier_is_used_while_it_lives() {
    let before = protocol(shape(1, 1, 1), || shared_barrier::<Bar>().arrive_and_wait());
    assert_eq!(before, "`bar.arrive_and_wait()` needs an initialized barrier, but no thread has initialized this one");
    let twice = protocol(shape(1, 1, 1), || {
        let bar = ready(1);
        bar.init(2);
    });
    assert!(
        twice.starts_with("`bar.init()` must not initialize a barrier that is in use: it was initialized at ")
            && twice.contains("phase_barriers.rs"),
        "{twice}"
    );
    let after = protocol(shape(1, 1, 1), || {
        let bar = ready(1);
        bar.invalidate();
        bar.wait_parity(true);
    });
    assert!(
        after.starts_with("`bar.wait_parity()` needs an initialized barrier, but this one was invalidated at "),
        "{after}"
    );
    let waited = protocol(shape(1, 1, 2), || {
        let bar = ready(3);
        match rank() {
            0 => bar.arrive_and_wait(),
            _ => {
                // The other thread arrives meanwhile.
                let token = bar.arrive();
                assert!(!bar.try_wait_for(&token, 10_000));
                bar.invalidate();
            }
        }
    });
    assert_eq!(waited, "`bar.invalidate()` must not be called while threads wait at the barrier, but 1 thread(s) wait");
}

#[test]
fn a_count_is_kept() {
    for count in [0, 1 << 20] {
        let (failure, _) = failure(shape(1, 1, 1), || shared_barrier::<Bar>().init(count));
        assert_eq!(failure.cause, Cause::BarrierCount { count });
    }
    let more = protocol(shape(1, 1, 1), || drop(ready(4).arrive_n(5)));
    assert_eq!(more, "`bar.arrive_n()` exceeds the expected arrivals: it counts 5, but the phase still expects 4 of 4");
    let none = protocol(shape(1, 1, 1), || drop(ready(4).arrive_n(0)));
    assert_eq!(none, "`bar.arrive_n()` must count at least 1 arrival");
    let dropped = protocol(shape(1, 1, 1), || {
        let bar = ready(2);
        bar.arrive_and_drop();
        bar.arrive_and_drop();
        let _ = bar.arrive();
    });
    assert_eq!(dropped, "`bar.arrive()` must not be called after all threads have dropped out of the barrier");
}

#[test]
fn a_token_is_of_this_barrier_and_of_its_last_phases() {
    let mixed = protocol(shape(1, 1, 1), || {
        let bars = shared_barriers::<Bar, 2>();
        bars.init_collective(&this_thread_block(), 1);
        barrier_at(&bars, 1).wait(barrier_at(&bars, 0).arrive());
    });
    assert_eq!(mixed, "`bar.wait()` needs a token of this barrier since its last `init`, but this token is of another");
    let stale = protocol(shape(1, 1, 1), || {
        let bar = ready(1);
        let first = bar.arrive();
        assert!(bar.try_wait(&first));
        let _ = bar.arrive();
        bar.wait(first);
    });
    assert_eq!(
        stale,
        "`bar.wait()` needs a token of the current or the previous phase: this token is of phase 0, but the barrier is in phase 2"
    );
    let anew = protocol(shape(1, 1, 1), || {
        let bar = ready(1);
        let token = bar.arrive();
        bar.invalidate();
        bar.init(1);
        let _ = bar.try_wait(&token);
    });
    assert_eq!(
        anew,
        "`bar.try_wait()` needs a token of this barrier since its last `init`, but this token is of another"
    );
}

#[test]
fn parities_take_turns() {
    simulate(shape(1, 1, 1), || {
        let bar = ready(1);
        for round in 0..5 {
            let parity = round % 2 == 1;
            // The previous phase has completed, the current one has not.
            assert!(bar.try_wait_parity(!parity) && !bar.try_wait_parity(parity));
            bar.wait_parity(!parity);
            let _ = bar.arrive();
            bar.wait_parity(parity);
        }
    })
    .unwrap();
}

#[test]
fn a_time_limit_passes() {
    simulate(shape(1, 1, 2), || {
        let bar = ready(2);
        let token = bar.arrive_n(1);
        if rank() == 0 {
            while !bar.try_wait_for(&token, 3000) {}
        } else {
            // The other thread has arrived, or arrives while this one waits.
            assert!(bar.try_wait_for(&token, 1_000_000));
        }
        let token = bar.arrive_n(1);
        bar.wait(token);
    })
    .unwrap();
    simulate(shape(1, 1, 1), || {
        let bar = ready(2);
        let token = bar.arrive();
        assert!(!bar.try_wait_for(&token, 1_000_000));
    })
    .unwrap();
}

#[test]
fn a_deadlock_says_what_is_missing() {
    let (failure, _) = failure(shape(1, 1, 4), || {
        let bar = ready(4);
        if rank() != 3 {
            bar.arrive_and_wait();
        }
    });
    let text = failure.to_string();
    assert!(text.contains("3 thread(s), first block (0,0,0) thread (0,0,0): wait at `bar.arrive_and_wait()` for a phase that still expects 1 of 4 arrivals"), "{text}");
    assert!(text.contains("1 thread(s), first block (0,0,0) thread (3,0,0): exited"), "{text}");
}

#[test]
fn a_peer_arrives_once_it_is_known_to_run() {
    let (failure, _) = failure(shape(2, 2, 1), || {
        let bar = shared_cluster_barrier::<Bar>();
        bar.init(1);
        this_cluster().map_shared_rank(&bar, 1).arrive();
    });
    assert_eq!(failure.cause, Cause::PeerMayNotHaveStarted { rank: 1 });
    simulate(shape(2, 2, 1), || {
        let cluster = this_cluster();
        let bar = shared_cluster_barrier::<Bar>();
        bar.init_collective(&cluster, 1);
        cluster.map_shared_rank(&bar, 1 - cluster.block_rank()).arrive();
        bar.wait_parity(false);
        cluster.sync();
    })
    .unwrap();
}
