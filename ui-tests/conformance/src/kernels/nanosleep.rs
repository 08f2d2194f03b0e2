//! Sleeps of threads that wait for a flag: in the other block of two, around a ring of blocks, of some threads of a warp.
//! That time passes is not tested.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, kernel_list};

const THREADS: usize = 64;

/// Each thread of the second block waits, with back-off, for what its counterpart in the first block writes.
#[cluster_kernel(block = THREADS)]
fn hand_over(input: &[u32], values: &mut [u32], flags: &mut [u32], out: &mut [u32]) {
    let i = this_thread_block().thread_rank();
    if this_grid().block_rank() == 0 {
        values[i] = input[i] * 3;
        flags.atomic(i).store(1, Release);
    } else {
        let mut backoff = 16;
        while flags.atomic(i).load(Acquire) == 0 {
            nanosleep(backoff);
            backoff = (2 * backoff).min(1_024);
        }
        out[i] = values[i] + 1;
    }
}

fn waits_for_another_block(device: &Device) -> Outcome {
    let input: Vec<u32> = (0..THREADS as u32).map(|i| i * i).collect();
    let (mut values, mut flags, mut out) = (device.zeros(THREADS)?, device.zeros(THREADS)?, device.zeros(THREADS)?);
    hand_over(&device.upload(&input)?, &mut values, &mut flags, &mut out).grid(2).launch(device)?;
    equal(&out.read()?, &input.iter().map(|x| x * 3 + 1).collect::<Vec<_>>())
}

/// Waits for a turn, and sleeps for the same time after each look.
#[device]
fn wait_for(turns: &mut [u32], turn: u32, duration: u32) {
    while turns.atomic(0).load(Acquire) != turn {
        nanosleep(duration);
    }
}

/// Blocks take turns in the order of their ranks; one thread of each waits, the others sleep once.
#[cluster_kernel(block = THREADS)]
fn ring(out: &mut [u32], turns: &mut [u32]) {
    let block = this_grid().block_rank() as usize;
    if this_thread_block().thread_rank() == 7 {
        wait_for(turns, block as u32, 50);
        out[block + 1] = out[block] * 2 + block as u32;
        turns.atomic(0).store(block as u32 + 1, Release);
    } else {
        let sleep = |duration: u32| nanosleep(duration);
        sleep(0);
    }
}

fn takes_turns(device: &Device) -> Outcome {
    let (mut out, mut turns) = (device.upload(&[1, 0, 0, 0, 0, 0])?, device.zeros(1)?);
    ring(&mut out, &mut turns).grid(5).launch(device)?;
    let mut want = vec![1];
    for block in 0..5 {
        want.push(want[block] * 2 + block as u32);
    }
    equal(&out.read()?, &want)
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    let checks = check_list![waits_for_another_block, takes_turns];
    let kernels = kernel_list![hand_over, ring];
    vec![Module { name: "nanosleep", checks, kernels }]
}
