//! What a forgotten token means for the other rules: which waits may be by elected threads, and that their wait proves
//! nothing about the threads that do not wait.

use super::faults;
use crate::Rule;

/// Compares the rules that a kernel of four blocks of 64 threads breaks.
#[track_caller]
fn breaks(body: &str, rules: &[Rule]) {
    let source = format!(
        "#[cluster_kernel(cluster = 4, block = 64)] fn subject(n: u32, values: &[u32], out: &mut [u32]) {{
            let cluster = this_cluster();
            let block = this_thread_block();
            let grid = this_grid();
            {body}
        }}"
    );
    let found: Vec<Rule> = faults(&source).iter().map(|fault| fault.rule()).collect();
    assert_eq!(found, rules, "{body}");
}

/// Takes the group and the condition of those that wait.
fn elected(group: &str, condition: &str) -> String {
    format!(
        "let token = {group}.barrier_arrive();
        if {condition} {{ {group}.barrier_wait(token); out[0] = 1; }} else {{ token.forget(); }}"
    )
}

#[test]
fn any_threads_of_a_block_may_be_elected() {
    breaks(&elected("block", "block.thread_rank() == 0"), &[]);
    breaks(&elected("block", "values[block.thread_rank()] > out[0]"), &[]);
    breaks(&elected("block", "n > 4"), &[]);
}

#[test]
fn whole_warps_of_a_cluster_may_be_elected() {
    breaks(&elected("cluster", "n > 4"), &[]);
    breaks(&elected("cluster", "cluster.block_rank() == 0"), &[]);
    breaks(&elected("cluster", "block.thread_rank() / 32 == 0"), &[]);
    breaks(&elected("cluster", "block.thread_rank() == 0"), &[Rule::DivergentCollective]);
    breaks(&elected("cluster", "is_elected(&block)"), &[]);
}

#[test]
fn whole_blocks_of_a_grid_may_be_elected() {
    breaks(&elected("grid", "grid.block_rank() == 0"), &[]);
    breaks(&elected("grid", "block.thread_rank() / 32 == 0"), &[Rule::DivergentCollective]);
}

#[test]
fn without_a_forget_all_threads_wait() {
    let waits = "let token = block.barrier_arrive();
        if block.thread_rank() == 0 { block.barrier_wait(token); out[0] = 1; } else { block.barrier_wait(token); }";
    breaks(waits, &[Rule::DivergentCollective]);
    let one_forgets = "let token = block.barrier_arrive();
        if block.thread_rank() == 0 { block.barrier_wait(token); return; }
        token.forget();
        block.sync();";
    breaks(one_forgets, &[Rule::TokenForgotten, Rule::DivergentExit]);
    let in_one_arm = "if block.thread_rank() == 0 { let token = block.barrier_arrive(); token.forget(); }";
    breaks(in_one_arm, &[Rule::DivergentCollective]);
}

/// The group may be used again where nobody has forgotten, and a smaller one everywhere.
#[test]
fn a_path_without_a_forget_goes_on() {
    breaks(
        "let token = cluster.barrier_arrive();
        if n > 4 { cluster.barrier_wait(token); cluster.sync(); } else { token.forget(); }
        block.sync();",
        &[],
    );
    breaks(
        "let token = cluster.barrier_arrive();
        if n > 4 { cluster.barrier_wait(token); } else { token.forget(); }
        cluster.sync();
        cluster.sync();",
        &[Rule::TokenForgotten],
    );
    breaks("for _ in 0..n { let token = block.barrier_arrive(); token.forget(); }", &[Rule::TokenForgotten]);
    breaks("let token = block.barrier_arrive(); token.forget(); cluster.sync();", &[Rule::TokenForgotten]);
    breaks(
        "let outer = cluster.barrier_arrive();
        let inner = block.barrier_arrive();
        inner.forget();
        cluster.barrier_wait(outer);",
        &[Rule::TokenForgotten],
    );
}

#[test]
fn a_thread_that_forgets_has_not_entered() {
    let access = "out[0] = peer[0];";
    let enters = |waiters: &str, others: &str| {
        format!(
            "let array = shared_array::<u32, 64>();
            array[block.thread_rank()] = 1;
            let peer = cluster.map_shared_rank(&array, 1);
            let token = cluster.barrier_arrive();
            if block.thread_rank() / 32 == 0 {{ cluster.barrier_wait(token); {waiters} }} else {{ token.forget(); {others} }}"
        )
    };
    breaks(&enters("", access), &[Rule::RemoteBeforeEntry, Rule::ExitBeforePeersDone]);
    // The others have written and may exit: a wait by elected threads is no barrier of the cluster.
    breaks(&enters(access, ""), &[Rule::ExitBeforePeersDone, Rule::UnpublishedRemoteRead]);
}

/// An owner whose threads forget may exit before the accesses that its peers made before they arrived.
#[test]
fn a_thread_that_forgets_may_exit() {
    let reads = |last: &str| {
        format!(
            "let array = shared_array::<u32, 64>();
            array[block.thread_rank()] = 1;
            let peer = cluster.map_shared_rank(&array, (cluster.block_rank() + 1) % 4);
            cluster.sync();
            out[cluster.thread_rank()] = peer[block.thread_rank()];
            let token = cluster.barrier_arrive();
            {last}"
        )
    };
    breaks(&reads("cluster.barrier_wait(token);"), &[]);
    breaks(&reads("token.forget();"), &[Rule::ExitBeforePeersDone]);
    let elected = "if block.thread_rank() / 32 == 0 { cluster.barrier_wait(token); } else { token.forget(); }";
    breaks(&reads(elected), &[Rule::ExitBeforePeersDone]);
    // The blocks that wait are those that read; those that are read may exit.
    let by_rank = "if cluster.block_rank() == 0 { cluster.barrier_wait(token); } else { token.forget(); }";
    breaks(&reads(by_rank), &[Rule::ExitBeforePeersDone]);
}

/// Memory that a peer has read before may be read still where its owner writes after a `forget`.
#[test]
fn a_thread_that_forgets_overwrites() {
    let writes = |last: &str| {
        format!(
            "let array = shared_array::<u32, 64>();
            array[block.thread_rank()] = 1;
            let peer = cluster.map_shared_rank(&array, (cluster.block_rank() + 1) % 4);
            cluster.sync();
            out[cluster.thread_rank()] = peer[block.thread_rank()];
            let token = cluster.barrier_arrive();
            if n > 4 {{
                cluster.barrier_wait(token); {last}
            }} else {{
                token.forget(); {last}
            }}"
        )
    };
    let found = [Rule::ExitBeforePeersDone, Rule::OverwriteWhileRead, Rule::OverwriteWhileRead];
    breaks(&writes("array[block.thread_rank()] = 2;"), &found);
}

#[test]
fn a_token_is_forgotten_where_it_was_got() {
    breaks("let token: ArrivalToken<Cluster> = start(&cluster); token.forget();", &[Rule::ForgetAcrossCalls]);
    let in_function = "#[device] fn f(token: ArrivalToken<Cluster>) { token.forget(); }";
    assert_eq!(faults(in_function).iter().map(|fault| fault.rule()).collect::<Vec<_>>(), [Rule::ForgetAcrossCalls]);
}
