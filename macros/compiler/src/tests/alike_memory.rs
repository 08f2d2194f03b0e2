//! Tests of shared memory that all blocks of a cluster have alike: tiles of persistent kernels that each block hands on to its threads, or
//! one thread to all blocks.

use super::rules;

/// Returns the rules that a kernel of clusters of four blocks breaks, which loops over tiles: it takes the first one by `take`, and then as many
/// more.
#[track_caller]
fn broken(take: &str, meet: &str) -> Vec<String> {
    rules(&format!(
        "#[cluster_kernel(cluster = 4, block = 64)]
        fn persistent(x: &[f32], out: &mut [f32], queue: &mut [u32], tiles: u32) {{
            let (grid, cluster, block) = (this_grid(), this_cluster(), this_thread_block());
            let i = block.thread_rank();
            let rank = cluster.block_rank();
            let (tile, next) = (shared_array::<f32, 64>(), shared_array::<u32, 2>());
            let step = grid.num_clusters() as u32;
            let mut t = grid.cluster_rank() as u32;
            let mut k = 0u32;
            cluster.sync();
            {take}
            {meet}
            t = next[0];
            while t < tiles {{
                tile[i] = x[t * 64 + i];
                cluster.sync();
                out[t * 64 + i] = cluster.map_shared_rank(&tile, 3 - rank)[63 - i];
                cluster.sync();
                t += step;
                {take}
                {meet}
                t = next[0];
                k += 1;
            }}
            cluster.sync();
        }}"
    ))
}

const OF_ALL: &str = "if i == 0 && rank == 0 {
        let w = queue.atomic(0).fetch_add(1, Relaxed);
        for b in 0..BLOCKS { cluster.map_shared_rank(&next, b)[0] = w; }
    }";

/// Each block writes the same, or one thread writes to all blocks.
#[test]
fn tiles_that_all_blocks_have() {
    for take in [
        "if i == 0 { next[0] = t; }",
        "if i < 1 { let w = t; next[0] = w; }",
        "if i == 63 { next[0] = t + 1; }",
        "if tiles > 3 { if i == 0 { next[0] = t; } } else if i == 1 { next[0] = 1; } if i == 2 { next[0] = t; }",
    ] {
        for meet in ["block.sync();", "cluster.sync();"] {
            let found = broken(take, meet);
            assert!(found.iter().all(|rule| rule == "uninit_shared_read"), "{take}: {found:?}");
        }
    }
    for blocks in ["cluster.num_blocks()", "4"] {
        let take = OF_ALL.replace("BLOCKS", blocks);
        assert_eq!(broken(&take, "cluster.sync();"), [""; 0], "{take}");
    }
}

/// A block may have another tile, or none yet.
#[test]
fn tiles_that_blocks_may_not_have() {
    for take in [
        "if i == 0 { next[0] = t + rank; }",
        "if i == 0 && rank < 2 { next[0] = t; }",
        "if i == 0 { next[0] = queue.atomic(0).fetch_add(1, Relaxed); }",
        "if i == 0 { next[rank / 2] = t; }",
        "if cluster.thread_rank() == 0 { next[0] = t; }",
        "if grid.thread_rank() % 256 == 0 { next[0] = t; }",
        "if cluster.thread_rank() < 64 && i == 0 { next[0] = t; }",
        "if i == 0 { next[0] = t; } if i == 0 && rank == 1 { cluster.map_shared_rank(&next, 2)[0] = t + 1; }",
        "if i == 0 && x[rank] > 0.0 { next[0] = t; }",
        &OF_ALL.replace("BLOCKS", "3"),
        &OF_ALL.replace("0..BLOCKS", "1..4"),
        &OF_ALL.replace("BLOCKS", "4").replace("= w;", "= w + b;"),
        &OF_ALL.replace("BLOCKS", "4").replace("[0] = w", "[b % 2] = w"),
        &OF_ALL.replace("BLOCKS", "4").replace("cluster.map", "if x[b] > 0.0 { break; } cluster.map"),
        &OF_ALL.replace("BLOCKS", "4").replace("cluster.map", "if b == k { continue; } cluster.map"),
        &OF_ALL.replace("BLOCKS", "4").replace("let w =", "let mut w =").replace("cluster.map", "w += 1; cluster.map"),
    ] {
        let found = broken(take, "cluster.sync();");
        assert!(found.iter().any(|rule| rule == "divergent_collective"), "{take}: {found:?}");
    }
    // Nobody may have written the element that is read, which differs from block to block.
    for take in [
        "if i == 0 { next[1] = t; }",
        "if i == 63 && tiles > 3 { next[0] = t + 1; }",
        "for b in 0..tiles { if i == 0 { next[0] = b; } }",
        &OF_ALL.replace("BLOCKS", "4").replace("[0] = w", "[1] = w"),
        &OF_ALL.replace("BLOCKS", "4").replace("rank == 0", "tiles > 3"),
    ] {
        let found = broken(take, "cluster.sync();");
        assert!(found.iter().any(|rule| rule == "divergent_collective"), "{take}: {found:?}");
    }
    for meet in ["block.sync();", ""] {
        let found = broken(&OF_ALL.replace("BLOCKS", "4"), meet);
        assert!(found.iter().any(|rule| rule == "divergent_collective"), "{meet}: {found:?}");
    }
}
