//! Kernels of the CUDA C++ Programming Guide and the like: whole programs rather than one feature.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, kernel_list, read, same};

#[device]
fn local_processing(x: i32) -> i32 {
    let mut sum = 0;
    for i in 0..8 {
        sum += x * i;
    }
    sum
}

/// The guide's example: each block publishes its shared array, does local work while the others arrive, then reads its
/// neighbour's.
#[cluster_kernel(cluster = 4, block = 256)]
pub fn share(input: &[i32], output: &mut [i32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let array = shared_array::<i32, 256>();
    let i = cluster.thread_rank();

    array[block.thread_rank()] = input[i];
    let token = cluster.barrier_arrive(); // does not block
    let local = local_processing(input[i]); // hides the latency
    let next = (cluster.block_rank() + 1) % cluster.num_blocks();
    let dsmem = cluster.map_shared_rank(&array, next);
    cluster.barrier_wait(token); // consumes the token

    output[i] = dsmem[block.thread_rank()] + local;
    cluster.sync(); // no block leaves while a peer reads it
}

fn shares(device: &Device) -> Outcome {
    let values: Vec<i32> = (0..1024).map(|i| i * 3 - 700).collect();
    let input = device.upload(&values)?;
    let got = read!(device, 1024, |out| share(&input, out).grid(4));
    let want: Vec<i32> = (0..1024).map(|i| values[(i + 256) % 1024] + 28 * values[i]).collect();
    same(&got, &want, |i| format!("output[{i}]"))
}

/// This file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module { name: "guide", checks: check_list![shares], kernels: kernel_list![share] }]
}
