//! Chains of blocks: each writes into the next one's memory, meets, and has one thread arrive at the next one's barrier.

use super::super::rules;

/// A chain of blocks, each of which passes its sums on.
fn chain(options: &str, passes: &[&str]) -> Vec<String> {
    rules(&format!(
        "#[cluster_kernel({options})] fn chain(input: &[u32], out: &mut [u32]) {{
            let (cluster, block) = (this_cluster(), this_thread_block());
            let (rank, i) = (cluster.block_rank(), block.thread_rank());
            let state = shared_array::<u32, 128>();
            let came = shared_cluster_barrier();
            came.init_collective(&cluster, 1);
            let at = this_grid().thread_rank();
            let mut carry = 0;
            if rank > 0 {{ came.wait_parity(false); carry = state[i]; }}
            let value = carry * 2 + input[at];
            if rank + 1 < cluster.num_blocks() {{ {} }}
            out[at] = value;
            cluster.sync();
        }}",
        passes.concat()
    ))
}

const WRITE: &str = "cluster.map_shared_rank(&state, rank + 1)[i] = value;";
const MEET: &str = "block.sync();";
const TELL: &str = "if i == 0 { cluster.map_shared_rank(&came, rank + 1).arrive(); }";

#[test]
fn one_thread_arrives_for_its_block() {
    for options in ["cluster = 2, block = 32", "cluster = 2, block = 128", "cluster = 4, block = 32"] {
        assert_eq!(chain(options, &[WRITE, MEET, TELL]), [""; 0], "{options}");
        for wrong in [&[WRITE, TELL][..], &[TELL, WRITE, MEET], &[MEET, TELL, WRITE], &[WRITE, MEET]] {
            assert_ne!(chain(options, wrong), [""; 0], "{options} {wrong:?}");
        }
    }
}

/// Each warp of a block arrives for itself, when its lanes have met.
#[test]
fn one_lane_arrives_for_its_warp() {
    let of_warps = |count: u32, passes: &[&str]| {
        rules(&format!(
            "#[cluster_kernel(cluster = 4, block = 64)] fn chain(input: &[u32], out: &mut [u32]) {{
                let (cluster, block) = (this_cluster(), this_thread_block());
                let warp = tiled_partition::<32>(&block);
                let (rank, i) = (cluster.block_rank(), block.thread_rank());
                let state = shared_array::<u32, 64>();
                let came = shared_cluster_barrier();
                came.init_collective(&cluster, {count});
                let mut value = input[this_grid().thread_rank()];
                if rank > 0 {{ came.wait_parity(false); value += state[i]; }}
                if rank < 3 {{ {} }}
                out[this_grid().thread_rank()] = value;
                cluster.sync();
            }}",
            passes.concat()
        ))
    };
    let tell = "if warp.thread_rank() == 0 { cluster.map_shared_rank(&came, rank + 1).arrive(); }";
    assert_eq!(of_warps(2, &[WRITE, "warp.sync();", tell]), [""; 0]);
    for (count, wrong) in [
        (1, &[WRITE, "warp.sync();", tell][..]),
        (2, &[WRITE, tell]),
        (2, &["warp.sync();", tell, WRITE]),
        (2, &[WRITE, "warp.sync();", "let x = cluster.map_shared_rank(&state, rank + 1)[i ^ 1]; value += x;", tell]),
    ] {
        assert_ne!(of_warps(count, wrong), [""; 0], "{count} {wrong:?}");
    }
}
