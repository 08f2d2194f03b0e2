//! Rings in which each of hundreds of threads expects bytes, sends or arrives, in clusters of up to 16 blocks: too much for a search, so that
//! single runs show the fault.

use super::verdict;

/// Each block sends to the next one, by asynchronous stores of all its threads.
fn sent_around(blocks: u32, threads: u32, expect: &str, free: &str) -> String {
    let cluster = if blocks > 8 { format!("{blocks}, non_portable") } else { blocks.to_string() };
    format!(
        "#[cluster_kernel(cluster = {cluster}, block = {threads})] fn k(x: &[u32], out: &mut [u32], n: u32) {{
            let cluster = this_cluster();
            let block = this_thread_block();
            let i = block.thread_rank();
            let next = (cluster.block_rank() + 1) % cluster.num_blocks();
            let before = (cluster.block_rank() + cluster.num_blocks() - 1) % cluster.num_blocks();
            let inbox = shared_array::<[u32; {threads}], 2>();
            let (full, empty) = (shared_cluster_barriers::<2>(), shared_cluster_barriers::<2>());
            full.init_collective(&cluster, 1);
            empty.init_collective(&cluster, {threads});
            let mut sum = 0;
            for k in 0..n {{
                let s = k % 2;
                {expect}
                empty[s].wait_parity(k / 2 % 2 == 0);
                cluster.map_shared_rank(&inbox[s], next)
                    .store_async(i, x[k * {threads} + i], &cluster.map_shared_rank(&full[s], next));
                full[s].wait_parity(k / 2 % 2 == 1);
                sum += inbox[s][i];
                {free}
            }}
            out[cluster.thread_rank()] = sum;
            cluster.sync();
        }}"
    )
}

const FREE: &str = "cluster.map_shared_rank(&empty[s], before).arrive();";

#[test]
fn what_each_thread_of_a_large_block_does() {
    for (blocks, threads) in [(2, 512), (4, 256), (8, 512), (16, 32), (16, 128)] {
        let bytes = 4 * threads;
        let once = format!("if i == 0 {{ full[s].expect_tx({bytes}); let _ = full[s].arrive(); }}");
        let of = |expect: &str, free: &str| verdict("", &sent_around(blocks, threads, expect, free));
        let right = of(&once, FREE);
        assert!(right.starts_with("open"), "{blocks} {threads}: {right}");
        let all = format!("full[s].expect_tx({bytes}); let _ = full[s].arrive();");
        assert_eq!(of(&all, FREE), "ring_count", "{blocks} {threads}");
        let expected_by_all = format!("full[s].expect_tx({bytes}); if i == 0 {{ let _ = full[s].arrive(); }}");
        assert_eq!(of(&expected_by_all, FREE), "ring_deadlock", "{blocks} {threads}");
        for free in ["", "if i % 32 == 0 { <free> }", "cluster.map_shared_rank(&empty[1 - s], before).arrive();"] {
            let found = of(&once, &free.replace("<free>", FREE));
            assert!(found.starts_with("ring_"), "{blocks} {threads} {free}: {found}");
        }
        // With two blocks, the next one is the one before.
        let to_the_next = of(&once, &FREE.replace("before", "next"));
        assert_eq!(to_the_next.starts_with("ring_"), blocks > 2, "{blocks} {threads}: {to_the_next}");
    }
}
