//! Tests of values that are uniform in a group because of the sizes that the attribute fixes.

use super::rules;

/// A rank in the grid, divided by the size of the cluster or the block, is the same for all of its threads.
#[test]
fn quotients_of_ranks() {
    let broken = |attribute: &str, rank: &str, group: &str| {
        rules(&format!(
            "#[cluster_kernel({attribute})]
            fn rows(out: &mut [u32], rows: usize) {{
                if this_grid().{rank} >= rows {{ return; }}
                {group}().sync();
            }}"
        ))
    };
    let (cluster, block) = ("this_cluster", "this_thread_block");
    for (attribute, rank, group) in [
        ("cluster = 4, block = 64", "block_rank() / 4", cluster),
        ("cluster = 4, block = 64", "block_rank() / 8", cluster),
        ("cluster = BLOCKS, block = 64", "block_rank() / BLOCKS", cluster),
        ("block = 64", "thread_rank() / 64", block),
        ("block = 64", "thread_rank() / 128", block),
        ("block = THREADS", "thread_rank() / THREADS", block),
    ] {
        assert!(broken(attribute, rank, group).is_empty(), "{attribute}: {rank}");
    }
    for (attribute, rank, group) in [
        ("cluster = 4, block = 64", "block_rank() / 2", cluster),
        ("cluster = 4, block = 64", "block_rank() / 6", cluster),
        ("cluster = (2, 2), block = 64", "block_rank() / 4", cluster),
        ("cluster = BLOCKS, block = 64", "block_rank() / OTHERS", cluster),
        ("cluster = 4, block = 64", "block_rank() % 4", cluster),
        ("block = 64", "thread_rank() / 32", block),
        ("block = 64", "thread_rank() / THREADS", block),
        ("", "thread_rank() / 64", block),
    ] {
        assert_eq!(broken(attribute, rank, group), ["divergent_exit"], "{attribute}: {rank}");
    }
}
