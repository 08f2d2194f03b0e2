//! Tests of calls, methods, scopes and groups: what crosses the border of a function, and what does not hold for all.

use super::{expand, rules};

fn kernel(body: &str) -> Vec<String> {
    rules(&format!(
        "#[cluster_kernel(cluster = 2, block = 64)]
        fn calls(input: &[u32], output: &mut [u32]) {{
            let cluster = this_cluster();
            let block = this_thread_block();
            let rank = block.thread_rank();
            let u = shared_array::<u32, 64>();
            let p = cluster.map_shared_rank(&u, 1 - cluster.block_rank());
            {body}
        }}"
    ))
}

/// A peer's atomic and one of the block's scope are not ordered.
#[test]
fn atomics_of_a_narrow_scope() {
    let atomics = |own: &str| {
        kernel(&format!(
            "u[rank] = 0; cluster.sync(); p.atomic(0).fetch_add(1, Relaxed); u.atomic(0){own}.fetch_add(1, Relaxed); cluster.sync();"
        ))
    };
    assert!(atomics("").is_empty());
    assert!(atomics(".scope(Scope::Device)").is_empty());
    assert_eq!(atomics(".scope(Scope::Block)"), ["unordered_remote_write"]);
}

/// A method that maps its own block's memory needs the entry of the cluster, which its callers do not check.
#[test]
fn methods_that_map() {
    let method = |params: &str, value: &str| {
        rules(&format!("#[device] impl Point {{ fn get(&self, cluster: &Cluster, {params}) -> u32 {{ {value} }} }}"))
    };
    assert!(method("p: &RemoteArray<u32, 64>", "p[0]").is_empty());
    assert_eq!(
        method("u: &SharedArray<u32, 64>", "let p = cluster.map_shared_rank(u, 1); p[0]"),
        ["remote_before_entry"]
    );
}

/// What a call found to be the same in a group need not be in the next group of that name.
#[test]
fn results_of_calls_in_groups() {
    let looped = |group: &str| {
        kernel(&format!(
            "let tile = tiled_partition::<32>(&block); let mut v = false;
            for k in 0..3u32 {{ let g = {group}; if v {{ g.sync(); }} v = any_of(&g, rank == k); }}"
        ))
    };
    assert_eq!(looped("labeled_partition(&tile, rank % (k + 2))"), ["divergent_collective"]);
}

/// rustc is asked about each pair of functions that are called in a phase, and not about each pair of calls.
#[test]
fn questions_are_asked_once() {
    let questions = |calls: usize| {
        let calls: String = (0..calls).map(|k| format!("x += f{}(&block, &u, x, {k});", k % 3)).collect();
        let expansion = expand(&format!(
            "#[cluster_kernel(cluster = 2, block = 64)]
            fn calls(output: &mut [u32]) {{
                let (cluster, block) = (this_cluster(), this_thread_block());
                let u = shared_array::<u32, 64>();
                let p = cluster.map_shared_rank(&u, 1 - cluster.block_rank());
                u[block.thread_rank()] = 1;
                cluster.sync();
                let mut x = p[0];
                {calls}
                cluster.sync();
                output[0] = x;
            }}"
        ));
        expansion.to_string().matches("refuse").count()
    };
    let asked = questions(12);
    assert!(asked > 0);
    assert_eq!(questions(24), asked);
}
