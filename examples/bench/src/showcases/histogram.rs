//! Histogram: bins in a block's shared memory, or, where they do not fit, in that of a cluster.

use phalanx::prelude::*;
use serde_json::json;

use super::{Before, Map};
use crate::case::{Case, Scale, Showcase};
use crate::twin::{Argument, Call, Twin};
use crate::{compare, data};

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "histogram", about: "bins in the shared memory of a block or a cluster", cases };

const BLOCK: usize = 1024;

/// Counts keys in `PART` bins. Each block has all bins.
#[cluster_kernel(block = 1024)]
fn histogram_of_blocks<const PART: usize>(keys: &[u32], counts: &mut [u32]) {
    let grid = this_grid();
    let block = this_thread_block();
    let bins = shared_array::<u32, PART>();
    let i = block.thread_rank();
    for bin in (i as usize..PART).step_by(BLOCK) {
        bins[bin] = 0;
    }
    block.sync();
    for at in (grid.thread_rank() * 4..keys.len()).step_by(grid.num_threads() * 4) {
        let v = keys.load_vec::<4>(at);
        for k in 0..4 {
            bins.atomic(v[k]).scope(Scope::Block).fetch_add(1, Relaxed);
        }
    }
    block.sync();
    for bin in (i as usize..PART).step_by(BLOCK) {
        counts.atomic(bin).fetch_add(bins[bin], Relaxed);
    }
}

/// Counts keys in `C * PART` bins. Each block of a cluster has `PART` of them.
#[cluster_kernel(cluster = C, block = 1024)]
fn histogram_of_clusters<const C: usize, const PART: usize>(keys: &[u32], counts: &mut [u32]) {
    let grid = this_grid();
    let cluster = this_cluster();
    let block = this_thread_block();
    let bins = shared_array::<u32, PART>();
    let i = block.thread_rank();
    for bin in (i as usize..PART).step_by(BLOCK) {
        bins[bin] = 0;
    }
    cluster.sync(); // all blocks have started, and all bins are zero
    for at in (grid.thread_rank() * 4..keys.len()).step_by(grid.num_threads() * 4) {
        let v = keys.load_vec::<4>(at);
        for k in 0..4 {
            let owner = cluster.map_shared_rank(&bins, v[k] / PART as u32);
            owner.atomic(v[k] % PART as u32).fetch_add(1, Relaxed);
        }
    }
    cluster.sync(); // all keys are counted, and no block accesses its peers any more
    let first = cluster.block_rank() as usize * PART;
    for bin in (i as usize..PART).step_by(BLOCK) {
        counts.atomic(first + bin).fetch_add(bins[bin], Relaxed);
    }
}

fn cases(scale: Scale) -> Vec<Case> {
    vec![
        // Two blocks of 1,024 threads on each of 132 multiprocessors, or one where the bins take too much memory.
        case(scale, 2_048, 1, 264, histogram_of_blocks::<2_048>),
        case(scale, 32_768, 1, 132, histogram_of_blocks::<32_768>),
        case(scale, 98_304, 2, 132, histogram_of_clusters::<2, 49_152>),
    ]
}

type Kernel = for<'a> fn(&'a Buffer<u32>, &'a mut Buffer<u32>) -> phalanx::Launch<'a>;

fn case(scale: Scale, bins: usize, cluster: u32, blocks: u32, kernel: Kernel) -> Case {
    let len = scale.pick(1 << 28, 1 << 14);
    let grid = scale.pick(blocks, 2);
    let part = bins as u32 / cluster;
    let entry = if cluster == 1 { "histogram_of_blocks" } else { "histogram_of_clusters" };
    Case {
        version: if cluster == 1 { "bins of a block".into() } else { format!("bins of a cluster of {cluster}") },
        size: bins as u64,
        unit: "bins",
        bytes: 4 * len as u64,
        twin: Twin::new(entry, include_str!("../../twins/histogram.cu")).with("C", cluster).with("PART", part),
        library: Some(json!({ "operation": "histogram", "len": len, "bins": bins })),
        prepare: Box::new(move |device| {
            Map::prepared(
                device,
                data::below(5, len, bins as u32),
                bins,
                Before::Zeros,
                move |device, input, out| kernel(input, out).grid(grid).enqueue(device),
                move |input, out| {
                    let call = Call::new(grid, BLOCK, [input, out, len as u64].map(Argument::Word));
                    call.cluster(cluster).shared_bytes(4 * part as usize)
                },
                move |keys, read| {
                    let mut want = vec![0; bins];
                    keys.iter().for_each(|&key| want[key as usize] += 1);
                    compare::equal("counts", &read(0..bins)?, &want)
                },
            )
        }),
    }
}
