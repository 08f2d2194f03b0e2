//! The library's `Pipeline`, which is written in the kernel language: rings of one to five stages, one producer or many, one
//! arrival a thread or one a warp.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, kernel_list, read, same};

/// One thread fetches; all of the others consume.
#[cluster_kernel(block = 96)]
fn ring<const STAGES: usize>(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], STAGES>();
    let full = shared_barriers::<STAGES>();
    let empty = shared_barriers::<STAGES>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
    let mut pipeline = Pipeline::<STAGES>::new();
    if i == 64 {
        for chunk in 0..chunks {
            let stage = pipeline.producer_acquire(&empty);
            full[stage].expect_tx(256);
            bulk_copy_async(&stages[stage], &input[chunk * 64..(chunk + 1) * 64], &full[stage]);
            pipeline.producer_commit(&full);
        }
    } else if i < 64 {
        let mut sum = 0;
        for _ in 0..chunks {
            let stage = pipeline.consumer_wait(&full);
            sum = sum * 3 + stages[stage][63 - i];
            pipeline.consumer_release(&empty);
        }
        out[i] = sum;
    }
}

fn rings_of_stages(device: &Device) -> Outcome {
    let values: Vec<u32> = (0..64 * 40).map(|i: u32| i.wrapping_mul(2_654_435_761)).collect();
    let input = device.upload(&values)?;
    for chunks in [0, 1, 2, 3, 5, 6, 40] {
        let sum = |i: u32| {
            (0..chunks)
                .fold(0u32, |sum, chunk| sum.wrapping_mul(3).wrapping_add(values[(chunk * 64 + 63 - i) as usize]))
        };
        let want: Vec<u32> = (0..64).map(sum).collect();
        let one = read!(device, 64, |out| ring::<1>(&input, out, chunks).grid(1));
        same(&one, &want, |i| format!("1 stage, {chunks} chunks, {i}"))?;
        let three = read!(device, 64, |out| ring::<3>(&input, out, chunks).grid(1));
        same(&three, &want, |i| format!("3 stages, {chunks} chunks, {i}"))?;
        let five = read!(device, 64, |out| ring::<5>(&input, out, chunks).grid(1));
        same(&five, &want, |i| format!("5 stages, {chunks} chunks, {i}"))?;
    }
    Ok(())
}

/// A warp copies together; one thread of each consuming warp releases, and the others continue with it.
#[cluster_kernel(block = 128)]
fn by_warps(input: &[f32], out: &mut [f32], chunks: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let stages = shared_array::<[f32; 97], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 32);
    empty.init_collective(&block, 3);
    let mut pipeline = Pipeline::<2>::new();
    if warp.meta_group_rank() == 3 {
        for chunk in 0..chunks {
            let stage = pipeline.producer_acquire(&empty);
            memcpy_async(&warp, &stages[stage], &input[chunk * 97..(chunk + 1) * 97], &full[stage]);
            pipeline.producer_commit(&full);
        }
    } else {
        let mut sum = 0.0;
        for chunk in 0..chunks {
            let stage = pipeline.consumer_wait(&full);
            sum = sum * 0.5 + stages[stage][(block.thread_rank() + chunk) % 97];
            warp.sync();
            if warp.thread_rank() == 0 {
                pipeline.consumer_release(&empty);
            } else {
                pipeline.advance();
            }
        }
        out[block.thread_rank()] = sum;
    }
}

fn warps_copy_and_release(device: &Device) -> Outcome {
    let values: Vec<f32> = (0..97 * 23).map(|i| (i % 89) as f32 - 44.0).collect();
    let input = device.upload(&values)?;
    for chunks in [0, 1, 2, 3, 23] {
        let got = read!(device, 96, |out| by_warps(&input, out, chunks).grid(1));
        let sum =
            |i: u32| (0..chunks).fold(0.0, |sum, chunk| sum * 0.5 + values[(chunk * 97 + (i + chunk) % 97) as usize]);
        same(&got, &(0..96).map(sum).collect::<Vec<f32>>(), |i| format!("{chunks} chunks, {i}"))?;
    }
    Ok(())
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "pipelines",
        checks: check_list![rings_of_stages, warps_copy_and_release],
        kernels: kernel_list![ring::<1>, ring::<3>, by_warps],
    }]
}
