//! For each rule that can be switched off, runs a kernel that is wrong by it alone, with the rule off: the simulator
//! shows the very fault that the compiler would have refused. So no rule forbids something harmless. For the others,
//! rustc and the language exclude such a kernel.

use std::collections::BTreeSet;

use phalanx::prelude::*;
use phalanx::{Error, Result};
use phalanx_compiler::{Rule, Unchecked};
use previous::{leaves_at_once, writes_at_once};
use rings::{
    more_arrive, one_round_less, released_too_early, releases_the_next, waits_for_the_first, waits_for_the_phase_before,
};
use tensor::written_while_read;

#[path = "witnesses/previous.rs"]
mod previous;
#[path = "witnesses/rings.rs"]
mod rings;
#[path = "witnesses/tensor.rs"]
mod tensor;

/// A rule, the words of the failure, and a launch of its kernel.
type Witness = (&'static str, &'static str, fn(&Device) -> Result<()>);

/// Takes `rule: kernel says "words"`; the kernel writes to a buffer with as many words as it has threads.
macro_rules! witnesses {
    ($($rule:literal: $kernel:ident says $words:literal,)*) => {
        &[$(($rule, $words, |device| {
            let mut out = device.zeros(64)?;
            // SAFETY: in the simulator, what the rule would have refused is an error.
            unsafe { $kernel(&mut out) }.grid(2).launch(device)
        })),*]
    };
}

const WITNESSES: &[Witness] = witnesses![
    "token_never_waited": never_waited says "must be waited for",
    "token_forgotten": arrives_after_forgetting says "`cluster.barrier_arrive()` must not come after a forgotten token of the cluster",
    "arrive_while_pending": arrives_twice says "`cluster.barrier_arrive()` must not come between `cluster.barrier_arrive()` at",
    "collective_while_pending": syncs_between says "`cluster.sync()` must not come between `cluster.barrier_arrive()` at",
    "divergent_collective": half_a_block says "deadlock",
    "divergent_exit": some_leave says "deadlock",
    "divergent_aligned": half_a_warp says "deadlock",
    "remote_before_entry": before_entry says "may not have started",
    "exit_before_peers_done": no_barrier_at_the_end says "may have exited",
    "unpublished_remote_read": unpublished says "data race",
    "overwrite_while_read": overwritten says "data race",
    "write_after_arrive": after_the_arrival says "data race",
    "relaxed_publishes": relaxed says "data race",
    "unordered_remote_write": written_from_both_sides says "data race",
    "rank_out_of_range": no_such_rank says "rank 2",
    "unsynchronized_access": read_too_early says "data race",
    "uninit_shared_read": never_written says "never written",
    "copy_in_flight": read_early says "data race",
    "mma_in_flight": written_while_read says "data race",
    "barrier_uninitialized": by_nobody says "no thread has initialized",
    "barrier_unpublished": not_met says "data race",
    "barrier_init_not_elected": by_all_of_them says "must not initialize a barrier that is in use",
    "barrier_reinit": twice says "must not initialize a barrier that is in use",
    "barrier_count": half_arrive says "deadlock",
    "barrier_use_after_drop": left_before says "after all threads have dropped out",
    "barrier_stale_token": two_phases_old says "needs a token of the current or the previous phase",
    "ring_deadlock": waits_for_the_first says "deadlock",
    "ring_overwrite": released_too_early says "data race",
    "ring_read": waits_for_the_phase_before says "never written",
    "ring_count": more_arrive says "arrive",
    "ring_overtaken": releases_the_next says "deadlock",
    "ring_undrained": one_round_less says "exit",
    "access_before_previous": writes_at_once says "launches before this one may still use `out`",
    "access_before_previous": leaves_at_once says "must come before a thread exits",
];

#[test]
fn every_rule_is_about_a_fault() {
    for (rule, words, launch) in WITNESSES.iter().chain([&tensor::MULTICAST]) {
        let found = match Simulator::new().explore(200, launch) {
            Err(found) => found,
            Ok(explored) => panic!("{rule}: {} runs, and nothing is wrong", explored.runs),
        };
        let text = found.error.to_string();
        assert!(matches!(found.error, Error::Kernel(_)), "{rule}: {text}");
        assert!(text.contains(words), "{rule}: {text}");
        // Each failure recurs under its schedule.
        let again = launch(&Device::simulator_with(Simulator::new().schedule(found.schedule)));
        assert_eq!(again.map_err(|error| error.to_string()), Err(text), "{rule}");
    }
}

#[test]
fn every_rule_has_its_witness() {
    let is_switchable = |rule: &&Rule| rule.requirement().is_some_and(|known| known.unchecked == Unchecked::Allowed);
    let rules: BTreeSet<&str> = Rule::ALL.iter().filter(is_switchable).map(|rule| rule.name()).collect();
    let witnesses = WITNESSES.iter().chain([&tensor::MULTICAST]);
    assert_eq!(rules, witnesses.map(|(rule, ..)| *rule).collect::<BTreeSet<&str>>());
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(token_never_waited))]
fn never_waited(out: &mut [u32]) {
    let _token = this_cluster().barrier_arrive();
    out[this_grid().thread_rank()] = 1;
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(token_forgotten))]
fn arrives_after_forgetting(out: &mut [u32]) {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    if cluster.num_blocks() == 2 {
        token.forget();
    } else {
        cluster.barrier_wait(token);
    }
    let second = cluster.barrier_arrive();
    cluster.barrier_wait(second);
    out[this_grid().thread_rank()] = 1;
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(arrive_while_pending))]
fn arrives_twice(out: &mut [u32]) {
    let cluster = this_cluster();
    let first = cluster.barrier_arrive();
    let second = cluster.barrier_arrive();
    cluster.barrier_wait(first);
    cluster.barrier_wait(second);
    out[this_grid().thread_rank()] = 1;
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(collective_while_pending))]
fn syncs_between(out: &mut [u32]) {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    cluster.sync();
    cluster.barrier_wait(token);
    out[this_grid().thread_rank()] = 1;
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(divergent_collective))]
fn half_a_block(out: &mut [u32]) {
    let block = this_thread_block();
    if block.thread_rank() < 16 {
        block.sync();
    }
    out[this_grid().thread_rank()] = 1;
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(divergent_exit))]
fn some_leave(out: &mut [u32]) {
    let block = this_thread_block();
    if block.thread_rank() >= 16 {
        return;
    }
    block.sync();
    out[this_grid().thread_rank()] = 1;
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(divergent_aligned, divergent_collective))]
fn half_a_warp(out: &mut [u32]) {
    let block = this_thread_block();
    if block.thread_rank() < 16 {
        block.sync_aligned();
    }
    out[this_grid().thread_rank()] = 1;
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(remote_before_entry))]
fn before_entry(out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    cluster.map_shared_rank(&array, 1 - cluster.block_rank())[i] = i;
    cluster.sync();
    out[this_grid().thread_rank()] = array[i];
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(exit_before_peers_done))]
fn no_barrier_at_the_end(out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    array[i] = i;
    cluster.sync();
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&array, 1 - cluster.block_rank())[i];
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(unpublished_remote_read))]
fn unpublished(out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    array[i] = 0;
    cluster.sync();
    array[i] = i + 1;
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&array, 1 - cluster.block_rank())[i];
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(overwrite_while_read))]
fn overwritten(out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    array[i] = 0;
    cluster.sync();
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&array, 1 - cluster.block_rank())[i];
    array[i] = i + 1;
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(write_after_arrive))]
fn after_the_arrival(out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    array[i] = 0;
    let token = cluster.barrier_arrive();
    array[i] = i + 1;
    cluster.barrier_wait(token);
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&array, 1 - cluster.block_rank())[i];
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(relaxed_publishes))]
fn relaxed(out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    array[i] = i;
    let token = cluster.barrier_arrive_relaxed();
    cluster.barrier_wait(token);
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&array, 1 - cluster.block_rank())[i];
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(unordered_remote_write))]
fn written_from_both_sides(out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    array[i] = 0;
    cluster.sync();
    cluster.map_shared_rank(&array, 1 - cluster.block_rank())[i] = i + 1;
    out[this_grid().thread_rank()] = array[i];
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(rank_out_of_range))]
fn no_such_rank(out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    array[i] = i;
    cluster.sync();
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&array, 2)[i];
    cluster.sync();
}

#[cluster_kernel(block = 32, unchecked(unsynchronized_access))]
fn read_too_early(out: &mut [u32]) {
    let block = this_thread_block();
    let array = shared_array::<u32, 32>();
    let i = block.thread_rank();
    array[i] = 0;
    block.sync();
    array[i] = i;
    out[this_grid().thread_rank()] = array[31 - i];
}

#[cluster_kernel(block = 32, unchecked(uninit_shared_read))]
fn never_written(out: &mut [u32]) {
    let array = shared_array::<u32, 32>();
    out[this_grid().thread_rank()] = array[this_thread_block().thread_rank()];
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(barrier_uninitialized))]
fn by_nobody(out: &mut [u32]) {
    let bar = shared_barrier();
    bar.arrive_and_wait();
    out[this_grid().thread_rank()] = 1;
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(barrier_unpublished))]
fn not_met(out: &mut [u32]) {
    let bar = shared_barrier();
    if this_thread_block().thread_rank() == 0 {
        bar.init(32);
    }
    bar.arrive_and_wait();
    out[this_grid().thread_rank()] = 1;
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(barrier_init_not_elected))]
fn by_all_of_them(out: &mut [u32]) {
    let bar = shared_barrier();
    bar.init(32);
    this_thread_block().sync();
    bar.arrive_and_wait();
    out[this_grid().thread_rank()] = 1;
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(barrier_reinit))]
fn twice(out: &mut [u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 32);
    bar.arrive_and_wait();
    bar.init_collective(&block, 16);
    out[this_grid().thread_rank()] = 1;
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(barrier_count))]
fn half_arrive(out: &mut [u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, block.num_threads());
    if block.thread_rank() < 16 {
        bar.arrive_and_wait();
    }
    out[this_grid().thread_rank()] = 1;
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(barrier_use_after_drop))]
fn left_before(out: &mut [u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 32);
    bar.arrive_and_drop();
    block.sync();
    bar.arrive_and_wait();
    out[this_grid().thread_rank()] = 1;
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(barrier_stale_token))]
fn two_phases_old(out: &mut [u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    // Half of the threads, which the text does not show.
    bar.init_collective(&block, block.num_threads() / this_cluster().num_blocks());
    let old = bar.arrive();
    bar.arrive_and_wait();
    bar.arrive_and_wait();
    bar.arrive_and_wait();
    bar.wait(old);
    out[this_grid().thread_rank()] = 1;
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(copy_in_flight))]
fn read_early(out: &mut [u32]) {
    let block = this_thread_block();
    let tile = shared_array::<u32, 32>();
    let i = block.thread_rank();
    tile[i] = i;
    block.sync();
    memcpy_async(&block, &tile, &out[..32]);
    let early = tile[31 - i];
    block.wait_async();
    block.sync();
    out[32 + i] = early;
}
