//! The timers: they advance, for each thread, also where a loop waits for nothing else. How fast is not tested.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, kernel_list};

/// Each thread measures its own work, of which there is more for larger ranks, by both timers.
#[cluster_kernel(block = 64)]
fn measured(input: &[u32], out: &mut [u32], cycles: &mut [u64], nanoseconds: &mut [u64]) {
    let i = this_thread_block().thread_rank();
    let (begin, since) = (cuda::clock64(), cuda::globaltimer());
    let mut x = input[i];
    for k in 0..16 * (i + 1) {
        x = x * 3 + k;
    }
    out[i] = x;
    nanoseconds[i] = cuda::globaltimer() - since;
    cycles[i] = cuda::clock64() - begin;
}

fn advance(device: &Device) -> Outcome {
    let input = device.upload(&Vec::from_iter(0..64u32))?;
    let (mut out, mut cycles, mut nanoseconds) = (device.zeros(64)?, device.zeros(64)?, device.zeros(64)?);
    measured(&input, &mut out, &mut cycles, &mut nanoseconds).grid(1).launch(device)?;
    let (cycles, nanoseconds) = (cycles.read()?, nanoseconds.read()?);
    match cycles.iter().all(|cycles| (1..1 << 40).contains(cycles)) && nanoseconds.iter().all(|time| *time < 1 << 40) {
        true => Ok(()),
        false => Err(format!("{cycles:?} cycles, {nanoseconds:?} ns").into()),
    }
}

/// Reads the clock in a device function.
#[device]
fn since(begin: u64) -> u64 {
    cuda::clock64() - begin
}

/// Waits for a while, by the timer alone.
#[cluster_kernel(block = 32)]
fn wait(out: &mut [u64], cycles: u64) {
    let begin = cuda::clock64();
    while since(begin) < cycles {}
    out[this_thread_block().thread_rank()] = since(begin);
}

fn a_loop_waits(device: &Device) -> Outcome {
    let mut out = device.zeros(32)?;
    wait(&mut out, 500).grid(1).launch(device)?;
    match out.read()?.iter().all(|cycles| *cycles >= 500) {
        true => Ok(()),
        false => Err(format!("{:?}", out.read()?).into()),
    }
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module { name: "timers", checks: check_list![advance, a_loop_waits], kernels: kernel_list![measured, wait] }]
}
