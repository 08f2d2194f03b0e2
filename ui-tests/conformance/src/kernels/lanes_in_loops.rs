//! Loops in which threads of a warp exchange values, or meet at a barrier, and then branch by their lanes: they must stay one loop,
//! which `tests/machine_code` counts.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, kernel_list, read};

/// Makes a kernel that adds up the values of each segment of sorted ids, by a segmented scan of each warp.
macro_rules! segments {
    ($($name:ident: ($($options:tt)*);)*) => {$(
        #[cluster_kernel($($options)*)]
        fn $name(ids: &[u32], values: &[u32], sums: &mut [u32]) {
            let warp = tiled_partition::<32>(&this_thread_block());
            let grid = this_grid();
            let lane = warp.thread_rank();
            for round in 0..ids.len() / grid.num_threads() {
                let i = round * grid.num_threads() + grid.thread_rank();
                let id = ids[i];
                let mut sum = values[i];
                for step in 0..5 {
                    let distance = 1 << step;
                    let (other, other_id) = (warp.shfl_up(sum, distance), warp.shfl_up(id, distance));
                    if lane >= distance && other_id == id {
                        sum += other;
                    }
                }
                let next = warp.shfl_down(id, 1);
                if lane == 31 || next != id {
                    sums.atomic(id).fetch_add(sum, Relaxed);
                }
            }
        }
    )*};
}

segments! {
    segments_of_any_block: ();
    segments_of_64: (block = 64);
    segments_of_two_dimensions: (block = (8, 16));
}

/// Passes values on from warp to warp through shared memory, by the last lanes.
#[cluster_kernel(block = 64)]
fn passed_on(input: &[u32], out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let last = shared_array::<u32, 2>();
    let i = block.thread_rank();
    let lane = warp.thread_rank();
    let mut value = input[i];
    for round in 0..rounds {
        if lane == 31 {
            last[warp.meta_group_rank()] = value + round;
        }
        block.sync();
        if lane == 31 || value % 3 == 1 {
            value += last[1 - warp.meta_group_rank()];
        }
        block.sync();
    }
    out[i] = value;
}

fn segmented_sums(device: &Device) -> Outcome {
    let ids: Vec<u32> = (0..1024).map(|i| i * i / 9000).collect();
    let values: Vec<u32> = (0..1024).map(|i| i * 7 % 13).collect();
    let mut want = vec![0; 117];
    ids.iter().zip(&values).for_each(|(id, value)| want[*id as usize] += value);
    let (ids, values) = (device.upload(&ids)?, device.upload(&values)?);
    equal(&read!(device, 117, |out| segments_of_any_block(&ids, &values, out).grid(2).block(128)), &want)?;
    equal(&read!(device, 117, |out| segments_of_64(&ids, &values, out).grid(4)), &want)?;
    equal(&read!(device, 117, |out| segments_of_two_dimensions(&ids, &values, out).grid(2)), &want)
}

fn values_pass_barriers(device: &Device) -> Outcome {
    let input: Vec<u32> = (0..64).map(|i| i * 5 % 17).collect();
    let mut want = input.clone();
    for round in 0..9 {
        let last = [want[31] + round, want[63] + round];
        for i in 0..64 {
            if i % 32 == 31 || want[i] % 3 == 1 {
                want[i] += last[1 - i / 32];
            }
        }
    }
    let input = device.upload(&input)?;
    equal(&read!(device, 64, |out| passed_on(&input, out, 9).grid(1)), &want)
}

pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "lanes_in_loops",
        checks: check_list![segmented_sums, values_pass_barriers],
        kernels: kernel_list![segments_of_any_block, segments_of_64, segments_of_two_dimensions, passed_on],
    }]
}
