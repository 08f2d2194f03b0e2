//! Blocks that exit while peers or copies may access their shared memory: for each way to complete an access before the
//! exit, a kernel that relies on it, and a neighbour that does not. The neighbour is reported under every schedule.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use super::shape;
use crate::kernel::barrier::shared_cluster_barrier;
use crate::kernel::copy::bulk_copy_to_peer;
use crate::kernel::group::{this_cluster, this_thread_block};
use crate::kernel::intrinsics::tick;
use crate::kernel::memory::{RemoteArray, SharedArray, atomic, fence, load, shared_array, store};
use crate::report::failure::{Cause, Failure};
use crate::schedule::Schedule;
use crate::scope::Scope;
use crate::sim::{Simulator, run};

enum Bar {}

const SCHEDULES: [Schedule; 5] = [
    Schedule::RoundRobin,
    Schedule::Random { seed: 1 },
    Schedule::Priority { seed: 1, changes: 0 },
    Schedule::Priority { seed: 9, changes: 0 },
    Schedule::Lockstep { seed: 0 },
];

/// Runs `kernel` with two blocks of 32 threads, and says whether to complete the accesses before the blocks exit: if
/// not, it fails by `is_it`.
fn check(name: &str, is_it: impl Fn(&Cause) -> bool, kernel: fn(bool)) {
    let under = |schedule, ordered| -> Result<(), Box<Failure>> {
        let simulator = Simulator::new().schedule(schedule).step_limit(1 << 20);
        run("test", &shape(2, 2, 32), &simulator, &|| kernel(ordered)).1
    };
    for schedule in SCHEDULES {
        if let Err(failure) = under(schedule.clone(), true) {
            panic!("{name}, ordered, {schedule}: {failure}");
        }
        match under(schedule.clone(), false) {
            Err(failure) if is_it(&failure.cause) => {}
            other => panic!("{name}, {schedule}: {other:?}"),
        }
    }
}

fn is_late(cause: &Cause) -> bool {
    matches!(cause, Cause::PeerMayHaveExited { .. })
}

fn rank() -> u32 {
    this_thread_block().thread_rank()
}

/// Returns the block's array and its peer's, both written, with both blocks known to run.
fn arrays() -> (SharedArray<u32, 32>, RemoteArray<u32, 32>) {
    let (cluster, array) = (this_cluster(), shared_array::<u32, 32>());
    store(&array, rank(), 0);
    cluster.sync();
    let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    (array, peer)
}

#[test]
fn barriers_of_the_cluster() {
    check("none", is_late, |ordered| {
        let (_, peer) = arrays();
        load(&peer, rank());
        if ordered {
            this_cluster().sync();
        } else {
            this_thread_block().sync();
        }
    });
    check("after the arrival", is_late, |ordered| {
        let (_, peer) = arrays();
        if ordered {
            load(&peer, rank());
        }
        let token = this_cluster().barrier_arrive();
        if !ordered {
            load(&peer, rank());
        }
        this_cluster().barrier_wait(token);
    });
}

/// A relaxed arrival orders nothing that precedes it, not even reads: the peer's value may be used later.
#[test]
fn relaxed_barriers() {
    fn then_relaxed(ordered: bool, touch: fn(&RemoteArray<u32, 32>)) {
        touch(&arrays().1);
        if ordered {
            fence(AcqRel, Scope::Cluster);
        }
        let token = this_cluster().barrier_arrive_relaxed();
        this_cluster().barrier_wait(token);
    }
    check("read", is_late, |ordered| {
        then_relaxed(ordered, |peer| {
            load(peer, rank());
        });
    });
    check("write", is_late, |ordered| then_relaxed(ordered, |peer| store(peer, rank(), 1)));
    check("atomic", is_late, |ordered| {
        then_relaxed(ordered, |peer| {
            atomic(peer, 0).fetch_add(1, Relaxed);
        });
    });
}

/// The owner has observed that its peer is done.
#[test]
fn flags_and_phase_barriers() {
    check("flag", is_late, |ordered| {
        let (array, peer) = arrays();
        if rank() == 0 {
            atomic(&peer, 0).fetch_add(1, if ordered { Release } else { Relaxed });
            while atomic(&array, 0).load(Acquire) == 0 {
                tick();
            }
        }
    });
    check("phase barrier", is_late, |ordered| {
        let (cluster, bar) = (this_cluster(), shared_cluster_barrier::<Bar>());
        bar.init_collective(&cluster, 32);
        let (_, peer) = arrays();
        load(&peer, rank());
        cluster.map_shared_rank(&bar, 1 - cluster.block_rank()).arrive();
        if ordered || cluster.block_rank() == 0 {
            bar.wait_parity(false);
        }
    });
}

/// An arrival at the block's barrier is an access itself, and over when the block has seen the end of its phase.
#[test]
fn arrivals() {
    check("arrival", is_late, |ordered| {
        let (cluster, bar) = (this_cluster(), shared_cluster_barrier::<Bar>());
        bar.init_collective(&cluster, 32);
        cluster.map_shared_rank(&bar, 1 - cluster.block_rank()).arrive();
        if ordered || cluster.block_rank() == 0 {
            bar.wait_parity(false);
        }
    });
    check("arrival of another phase", is_late, |ordered| {
        let (cluster, bar) = (this_cluster(), shared_cluster_barrier::<Bar>());
        bar.init_collective(&cluster, 64);
        let peer = cluster.map_shared_rank(&bar, 1 - cluster.block_rank());
        peer.arrive();
        bar.arrive_and_wait();
        cluster.sync();
        peer.arrive();
        if ordered || cluster.block_rank() == 0 {
            bar.arrive_and_wait();
        }
    });
}

/// The copy reads from its own block's memory until the barrier of its peer shows that it has completed.
#[test]
fn copies() {
    let is_it = |cause: &Cause| matches!(cause, Cause::Protocol(sentence) if sentence.contains("must complete before the block exits"));
    check("copy", is_it, |ordered| {
        let (cluster, bar) = (this_cluster(), shared_cluster_barrier::<Bar>());
        bar.init_collective(&cluster, 1);
        let (array, peer) = arrays();
        if cluster.block_rank() == 0 {
            if rank() == 0 {
                bulk_copy_to_peer(&peer, &array, &cluster.map_shared_rank(&bar, 1));
            }
        } else {
            if rank() == 0 {
                bar.expect_tx(128);
                _ = bar.arrive();
            }
            bar.wait_parity(false);
        }
        if ordered {
            cluster.sync();
        }
    });
}
