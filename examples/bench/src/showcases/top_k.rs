//! The largest values of long rows: a cluster holds a row in shared memory and narrows down the smallest value of the
//! result by its digits, which the blocks count together in distributed shared memory.

use phalanx::Launch;
use phalanx::prelude::*;
use serde_json::json;

use super::blocks::{BLOCK, WARPS};
use super::{Before, Map};
use crate::case::{Case, Scale, Showcase};
use crate::twin::{Argument, Call, Twin};
use crate::{compare, data};

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "top_k", about: "the largest `f32`s of long rows, a row for each cluster", cases };

// ANCHOR: kernel
/// The values of a digit.
const BINS: usize = 2_048;
/// The bins of a thread.
const OWN: usize = BINS / BLOCK;

/// Returns a number that is larger for larger values.
#[device]
fn ordered(x: f32) -> u32 {
    let bits = x.to_bits();
    bits ^ ((bits as i32 >> 31) as u32 | 0x8000_0000)
}

/// Returns the value of such a number.
#[device]
fn value(key: u32) -> f32 {
    f32::from_bits(if key >> 31 == 1 { key & 0x7fff_ffff } else { !key })
}

/// The `k` largest of each row of `C * PART` columns, in no order (Alabi and others, "Fast K-selection Algorithms for
/// Graphics Processing Units", 2012: radix selection).
#[cluster_kernel(cluster = C, block = 512)]
fn top_k<const C: usize, const PART: usize>(input: &[f32], out: &mut [f32], k: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let warps = tiled_partition::<16>(&block); // as many threads as the block has warps
    let keys = shared_array::<u32, PART>();
    let bins = shared_array::<u32, BINS>();
    let totals = shared_array::<u32, BINS>(); // the cluster's, in its first block
    let of_warps = shared_array::<u32, WARPS>();
    let found = shared_array::<u32, 2>(); // a digit, and how many values with it are wanted
    let taken = shared_array::<u32, 1>(); // the places of the result, in the first block
    let i = block.thread_rank();
    let start = this_grid().block_rank() * PART;
    let row = this_grid().cluster_rank();
    let first_totals = cluster.map_shared_rank(&totals, 0);
    let first_taken = cluster.map_shared_rank(&taken, 0);

    for column in (i as usize * 4..PART).step_by(BLOCK * 4) {
        let v = input.load_vec::<4>(start + column);
        keys.store_vec(column, u32x4::new([ordered(v[0]), ordered(v[1]), ordered(v[2]), ordered(v[3])]));
    }
    if i == 0 {
        taken[0] = 0;
    }
    let (mut prefix, mut wanted) = (0, k);
    for pass in 0..3u32 {
        // Digits of 11, 11 and 10 bits, from the top.
        let shift = if pass == 0 {
            21
        } else if pass == 1 {
            10
        } else {
            0
        };
        let known = if pass == 0 {
            0
        } else if pass == 1 {
            0xffe0_0000
        } else {
            0xffff_fc00
        };
        bins.store_vec(i as usize * OWN, u32x4::splat(0));
        totals.store_vec(i as usize * OWN, u32x4::splat(0));
        cluster.sync(); // all bins are zero
        for column in (i as usize * 4..PART).step_by(BLOCK * 4) {
            let v = keys.load_vec::<4>(column);
            for lane in 0..4 {
                if v[lane] & known == prefix {
                    bins.atomic((v[lane] >> shift) % BINS as u32).scope(Scope::Block).fetch_add(1, Relaxed);
                }
            }
        }
        block.sync();
        for bin in (i as usize..BINS).step_by(BLOCK) {
            let count = bins[bin];
            if count > 0 {
                first_totals.atomic(bin).fetch_add(count, Relaxed);
            }
        }
        cluster.sync(); // all values are counted

        // Each thread adds up its bins, of which the first thread has the highest.
        let top = BINS as u32 - OWN as u32 * (i + 1);
        let counts = first_totals.load_vec::<OWN>(top);
        let own = counts[0] + counts[1] + counts[2] + counts[3];
        let sums = warp.inclusive_scan(own, op::Plus);
        if warp.thread_rank() == 31 {
            of_warps[warp.meta_group_rank()] = sums;
        }
        block.sync();
        let scanned = warps.inclusive_scan(of_warps[warps.thread_rank()], op::Plus);
        let preceding = warps.shfl(scanned, warp.meta_group_rank() + 15); // that of rank 0 is not used
        let mut above = sums - own;
        if warp.meta_group_rank() > 0 {
            above += preceding;
        }
        if above < wanted && above + own >= wanted {
            for bin in (0..OWN).rev() {
                if above < wanted && above + counts[bin] >= wanted {
                    found[0] = top + bin as u32;
                    found[1] = wanted - above;
                }
                above += counts[bin];
            }
        }
        cluster.sync(); // the digit is found, and no block reads the totals any more
        prefix |= found[0] << shift;
        wanted = found[1];
    }

    // All values above the smallest, and as many equal to it as are wanted.
    for column in (i as usize * 4..PART).step_by(BLOCK * 4) {
        let v = keys.load_vec::<4>(column);
        for lane in 0..4 {
            if v[lane] > prefix {
                let place = first_taken.atomic(0).fetch_add(1, Relaxed);
                out[row * k as usize + place as usize] = value(v[lane]);
            }
        }
    }
    if cluster.block_rank() == 0 {
        for place in (k - wanted + i..k).step_by(BLOCK) {
            out[row * k as usize + place as usize] = value(prefix);
        }
    }
    cluster.sync(); // the first block's count is no longer used
}
// ANCHOR_END: kernel

fn cases(scale: Scale) -> Vec<Case> {
    vec![
        case(scale, 32_768, 2, 64, top_k::<2, 16_384>),
        case(scale, 131_072, 8, 64, top_k::<8, 16_384>),
        case(scale, 131_072, 8, 2_048, top_k::<8, 16_384>),
    ]
}

type Kernel = for<'a> fn(&'a Buffer<f32>, &'a mut Buffer<f32>, u32) -> Launch<'a>;

fn case(scale: Scale, columns: usize, cluster: u32, k: usize, kernel: Kernel) -> Case {
    let rows = scale.pick((1 << 28) / columns, 2);
    let part = columns / cluster as usize;
    let grid = rows as u32 * cluster;
    Case {
        version: format!("{k} of a row, cluster of {cluster}"),
        size: columns as u64,
        unit: "columns",
        bytes: 4 * (rows * (columns + k)) as u64,
        twin: Twin::new("top_k", include_str!("../../twins/top_k.cu")).with("C", cluster).with("PART", part),
        library: Some(json!({ "operation": "top_k", "rows": rows, "columns": columns, "k": k })),
        prepare: Box::new(move |device| {
            let call = move |input, out| {
                let arguments = [Argument::Word(input), Argument::Word(out), Argument::Number(k as u32)];
                Call::new(grid, BLOCK, arguments).cluster(cluster).shared_bytes(4 * part)
            };
            let ours =
                move |device: &Device, input: &_, out: &mut _| kernel(input, out, k as u32).grid(grid).enqueue(device);
            let values = data::reals(20, rows * columns);
            Map::prepared(device, values, rows * k, Before::Spoiled, ours, call, move |input, read| {
                for row in data::sample(rows, 16) {
                    let mut got = read(row * k..(row + 1) * k)?;
                    let mut want = input[row * columns..(row + 1) * columns].to_vec();
                    got.sort_unstable_by(|a, b| b.total_cmp(a));
                    want.sort_unstable_by(|a, b| b.total_cmp(a));
                    compare::equal(&format!("row {row}"), &got, &want[..k])?;
                }
                Ok(())
            })
        }),
    }
}
