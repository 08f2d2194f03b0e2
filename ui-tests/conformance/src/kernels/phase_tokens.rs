//! Tokens of phase barriers through variables, options, blocks and functions, several of them pending at once.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, kernel_list, read, same};

#[device]
fn publish(bar: &Barrier, array: &SharedArray<u32, 96>, i: u32, value: u32) -> ArrivalToken<Barrier> {
    array[i] = value;
    bar.arrive()
}

#[device]
fn read_next(bar: &Barrier, array: &SharedArray<u32, 96>, i: u32, token: ArrivalToken<Barrier>) -> u32 {
    bar.wait(token);
    array[(i + 1) % 96]
}

/// A type parameter says which barrier the token belongs to.
#[device]
fn meet_twice<B: Brand>(written: &Barrier<B>, read: &Barrier, token: ArrivalToken<Barrier<B>>) {
    written.wait(token);
    read.arrive_and_wait();
}

#[device]
fn meet_all(bars: &Barriers<3>, rounds: u32) -> Option<ArrivalToken<Barrier>> {
    for round in 0..rounds {
        bars[round % 3].arrive_and_wait();
    }
    if rounds > 1 { Some(bars[0].arrive()) } else { None }
}

/// Tokens in variables, options, blocks and functions; several pending at once; and barriers of the groups in between.
#[cluster_kernel(block = 96)]
fn tokens_everywhere(out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let written = shared_barrier();
    let read = shared_barrier();
    let bars = shared_barriers::<3>();
    let array = shared_array::<u32, 96>();
    let i = block.thread_rank();
    written.init_collective(&block, 96);
    read.init_collective(&block, 96);
    bars.init_collective(&block, 96);
    let mut value = 7 * i;
    let mut token: ArrivalToken<Barrier> = publish(&written, &array, i, value);
    for round in 0..rounds {
        value = read_next(&written, &array, i, token);
        let pending = if round % 3 == 0 { Some(bars[1].arrive()) } else { None };
        let group = block.barrier_arrive();
        let other = { read.arrive() };
        if let Some(pending) = pending {
            bars[1].wait(pending);
        }
        read.wait(other);
        block.barrier_wait(group);
        token = publish(&written, &array, i, value + round);
    }
    meet_twice(&written, &read, token);
    let mut last = None;
    if let Some(token) = meet_all(&bars, rounds) {
        last = Some(token);
    }
    if last.is_some() {
        bars[0].wait(last.unwrap());
    }
    let late;
    late = match rounds {
        0 => written.arrive_n(1),
        _ => written.arrive(),
    };
    block.sync();
    if written.try_wait(&late) {
        value += array[95 - i];
    }
    out[i] = value;
}

fn tokens_go_anywhere(device: &Device) -> Outcome {
    for rounds in [0, 1, 2, 3, 10] {
        let got = read!(device, 96, |out| tokens_everywhere(out, rounds).grid(1));
        let mut array: Vec<u32> = (0..96).map(|i| 7 * i).collect();
        let mut values = array.clone();
        for round in 0..rounds {
            values = (0..96).map(|i| array[(i + 1) % 96]).collect();
            array = values.iter().map(|value| value + round).collect();
        }
        let want: Vec<u32> = (0..96).map(|i| values[i] + array[95 - i]).collect();
        same(&got, &want, |i| format!("{rounds} rounds, thread {i}"))?;
    }
    Ok(())
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "phase_tokens",
        checks: check_list![tokens_go_anywhere],
        kernels: kernel_list![tokens_everywhere],
    }]
}
