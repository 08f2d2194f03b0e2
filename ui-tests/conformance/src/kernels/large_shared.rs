//! More shared arrays than static shared memory holds: they lie in the dynamic segment, before what the launch asks for.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, kernel_list, read};

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Wide {
    a: u128,
}

/// Declares 61 KiB, in arrays of odd sizes and large alignments.
#[cluster_kernel(block = 256)]
fn two_arrays(out: &mut [u64]) {
    let block = this_thread_block();
    let bytes = shared_array::<u8, 333>();
    let floats = shared_array::<f64, 7680>();
    let wide = shared_array::<Wide, 64>();
    let i = block.thread_rank();
    bytes[i] = i as u8;
    for k in (i..7680).step_by(256) {
        floats[k] = k as f64;
    }
    wide[i % 64] = Wide { a: 5 };
    block.sync();
    out[i] = bytes[255 - i] as u64 + floats[7679 - i] as u64 * 1000 + wide[i / 4].a as u64 * 10_000_000;
}

fn arrays(device: &Device) -> Outcome {
    let out = read!(device, 256, |out| two_arrays(out).grid(2));
    let want: Vec<u64> = (0..256).map(|i| 255 - i + (7679 - i) * 1000 + 50_000_000).collect();
    equal(&out, &want)
}

#[device]
fn count_up(array: &SharedArray<f32, 20000>, from: f32) {
    let block = this_thread_block();
    for i in (block.thread_rank()..20_000).step_by(block.num_threads() as usize) {
        array[i] = from + i as f32;
    }
}

/// Two arrays of 80 KB, one of rows, are lent and copied from: none of it is on a stack, even in the simulator of a debug build.
#[cluster_kernel(block = 64)]
fn two_large(out: &mut [f32]) {
    let block = this_thread_block();
    let flat = shared_array::<f32, 20000>();
    let rows = shared_array::<[f32; 100], 200>();
    let i = block.thread_rank();
    count_up(&flat, 1.0);
    for row in (i..200).step_by(64) {
        rows[row] = [row as f32; 100];
    }
    block.sync();
    let row = rows[i + 1];
    out[i] = flat[19_999 - i] + row[99] * 0.5 + rows[i][5];
}

fn large_arrays(device: &Device) -> Outcome {
    let out = read!(device, 64, |out| two_large(out).grid(1));
    let want: Vec<f32> = (0..64).map(|i| i as f32).map(|i| 20_000.0 - i + (i + 1.0) * 0.5 + i).collect();
    equal(&out, &want)
}

#[device]
fn in_a_function(block: &ThreadBlock, value: u32) -> u32 {
    let own = shared_array::<u32, 9000>();
    let i = block.thread_rank();
    own[i * 70] = value;
    block.sync();
    let other = own[(127 - i) * 70];
    block.sync();
    other
}

/// Static arrays of the kernel and of a function, and dynamic memory behind them, all read by a peer.
#[cluster_kernel(cluster = 2, block = 128)]
fn with_dynamic(out: &mut [u32], lengths: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let own = shared_array::<u32, 9001>();
    let dynamic = dynamic_shared::<u32>();
    let i = block.thread_rank();
    own[9000 - i] = 100 * cluster.block_rank() + i;
    dynamic[i] = 7000 + 100 * cluster.block_rank() + i;
    dynamic[dynamic.len() as u32 - 1 - i] = 3;
    let other = in_a_function(&block, i);
    cluster.sync();
    let peer = cluster.map_shared_rank(&own, 1 - cluster.block_rank());
    let peer_dynamic = cluster.map_shared_rank(&dynamic, 1 - cluster.block_rank());
    out[this_grid().thread_rank()] = peer[9000 - i] + peer_dynamic[i] + 100_000 * other;
    lengths[this_grid().thread_rank()] = (dynamic.len() + peer_dynamic.len()) as u32;
    cluster.sync();
}

fn before_dynamic(device: &Device) -> Outcome {
    let mut lengths = device.zeros(256)?;
    let out = read!(device, 256, |out| with_dynamic(out, &mut lengths).grid(2).shared_bytes(1028));
    let want: Vec<u32> = (0..256)
        .map(|t| {
            let (peer, i) = (1 - t / 128, t % 128);
            let thread = 100 * peer + i;
            thread + 7000 + thread + 100_000 * (127 - i)
        })
        .collect();
    equal(&out, &want)?;
    equal(&lengths.read()?, &[514; 256])
}

/// Uses all that a block may have, and one byte more than that.
#[cluster_kernel(block = 32)]
fn most(out: &mut [u8]) {
    let all = shared_array::<u8, 232_448>();
    let i = this_thread_block().thread_rank();
    all[i * 7000] = i as u8;
    this_thread_block().sync();
    out[i] = all[(31 - i) * 7000];
}

#[cluster_kernel(block = 32)]
fn too_many(out: &mut [u8]) {
    let all = shared_array::<u8, 232_449>();
    all[0] = 1;
    out[0] = all[0];
}

fn limit(device: &Device) -> Outcome {
    equal(&read!(device, 32, |out| most(out).grid(1)), &(0..32).rev().collect::<Vec<u8>>())?;
    let mut out = device.zeros(1)?;
    let error = too_many(&mut out).grid(1).launch(device).err().map(|error| error.to_string());
    let want = "kernel `too_many` cannot be launched: 232576 bytes of shared arrays and 0 of dynamic shared memory are more \
                than the 232448 that a block may have on this device";
    equal(&[error.as_deref()], &[Some(want)])
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "large_shared",
        checks: check_list![arrays, large_arrays, before_dynamic, limit],
        kernels: kernel_list![two_arrays, two_large, with_dynamic, most, too_many],
    }]
}
