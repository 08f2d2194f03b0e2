//! Rules that are switched off: which can be, where it is not needed, and who then promises what.

use phalanx::prelude::*;

#[cluster_kernel(unchecked(uniform_barrier))]
fn unknown_rule() {}

#[cluster_kernel(unchecked(token_not_waited))]
fn misspelt_rule() {}

#[cluster_kernel(unchecked(token_escapes, token_reused, launch_limit))]
fn rules_that_stay() {}

#[cluster_kernel(unchecked)]
fn no_rule() {}

#[cluster_kernel(unchecked())]
fn empty_list() {}

#[cluster_kernel(unchecked = "token_never_waited")]
fn rule_as_a_value() {}

#[cluster_kernel(unchecked(token_never_waited, token_never_waited))]
fn rule_twice() {
    let token = this_cluster().barrier_arrive();
}

#[cluster_kernel(unchecked(token_never_waited, arrive_while_pending, collective_while_pending))]
fn nothing_is_broken() {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    cluster.barrier_wait(token);
}

#[device(unchecked(collective_while_pending))]
fn not_needed_in_a_device_function(cluster: &Cluster) {
    cluster.sync();
}

/// Another rule stays on.
#[cluster_kernel(unchecked(token_never_waited))]
fn one_of_two() {
    let cluster = this_cluster();
    let first = cluster.barrier_arrive();
    let second = cluster.barrier_arrive();
}

/// The placeholder of a language fault is no fault of the rule.
#[cluster_kernel(unchecked(token_never_waited))]
fn not_understood(values: &[u32]) {
    let letter = 'x';
}

struct One;

#[device(unchecked(token_never_waited))]
impl One {
    fn number() -> u32 {
        1
    }
}

#[cluster_kernel(cluster = 2, block = 32)]
fn no_block(out: &mut [u32]) {
    #[unchecked(divergent_collective)]
    if this_cluster().thread_rank() == 0 {
        out[0] = 1;
    }
}

/// Blocks: one without a fault, and a fault beside another one.
#[cluster_kernel(cluster = 2, block = 32)]
fn in_blocks() {
    let cluster = this_cluster();
    #[unchecked(divergent_collective)]
    unsafe {
        cluster.sync();
    }
    #[unchecked(token_never_waited)]
    unsafe {
        let lost = cluster.barrier_arrive();
    }
    let lost = cluster.barrier_arrive();
}

fn main() {}
