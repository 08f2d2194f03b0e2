//! Products of warpgroups that device functions begin, are given in flight, return in flight and wait for.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, kernel_list, same};

const STAGES: usize = 2;

type Rows = [Swizzled<bf16, 64>; 64];
pub(super) type Sums = Accumulator<f32, 64, 64>;
type Busy = InFlight<Sums, bf16, bf16>;

#[device]
fn load(map: &TensorMap<Rows>, tiles: &SharedArray<Rows, STAGES>, full: &Barriers<STAGES>, step: u32) {
    map.load_async([0, (step * 64) as i32], &tiles[step % STAGES as u32], &full[step % STAGES as u32]);
}

/// Begins the product of the first stage.
#[device]
fn begin(
    warpgroup: &Tile<128>,
    left: &SharedArray<Rows, STAGES>,
    right: &SharedArray<Rows, STAGES>,
    full: &Barriers<STAGES>,
) -> Busy {
    full[0].wait_parity(false);
    warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &left[0], &right[0])
}

/// Adds the product of another stage to one in flight.
#[device]
fn add(
    warpgroup: &Tile<128>,
    busy: Busy,
    left: &SharedArray<Rows, STAGES>,
    right: &SharedArray<Rows, STAGES>,
    full: &Barriers<STAGES>,
    step: u32,
) -> InFlight<Accumulator<f32, 64, 64>, bf16, bf16> {
    let stage = step % STAGES as u32;
    full[stage].wait_parity(step / STAGES as u32 % 2 == 1);
    warpgroup.mma_async(busy, &left[stage], &right[stage])
}

#[device]
fn finish(warpgroup: &Tile<128>, busy: Busy) -> Sums {
    warpgroup.wait_mma(busy)
}

/// One product is always in flight between the functions.
#[cluster_kernel(block = 256)]
fn handed(a: &TensorMap<Rows>, b: &TensorMap<Rows>, out: &mut [f32], steps: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let (left, right) = (shared_array::<Rows, STAGES>(), shared_array::<Rows, STAGES>());
    let (full, empty) = (shared_barriers::<STAGES>(), shared_barriers::<STAGES>());
    full.init_collective(&block, 1);
    empty.init_collective(&block, 4);
    assert!(steps > 0);
    if warpgroup.meta_group_rank() == 1 {
        if rank == 0 {
            for step in 0..steps {
                empty[step % STAGES as u32].wait_parity(step / STAGES as u32 % 2 == 0);
                load(a, &left, &full, step);
                load(b, &right, &full, step);
                let _ = full[step % STAGES as u32].arrive();
            }
        }
    } else {
        let mut busy = begin(&warpgroup, &left, &right, &full);
        for step in 1..steps {
            busy = add(&warpgroup, busy, &left, &right, &full, step);
            warpgroup.wait_mma_prior::<1>();
            if rank % 32 == 0 {
                let _ = empty[(step - 1) % STAGES as u32].arrive();
            }
        }
        let sum = finish(&warpgroup, busy);
        #[unroll]
        for i in 0..32 {
            out[sum.row(rank, i) * 64 + sum.column(rank, i)] = sum[i];
        }
    }
}

/// Begins the product of a tile with itself.
#[device]
fn squared(warpgroup: &Tile<128>, tile: &SharedArray<Swizzled<bf16, 64>, 64>) -> Busy {
    warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), tile, tile)
}

/// The sums of a product that another one follows, which goes on.
#[device]
fn before(warpgroup: &Tile<128>, busy: Busy, tile: &SharedArray<Swizzled<bf16, 64>, 64>) -> (Sums, Busy) {
    let next = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(1.0), tile, tile);
    (warpgroup.wait_mma_except_last(busy), next)
}

/// Adds a product of registers to sums of the caller.
#[device]
fn add_registers(warpgroup: &Tile<128>, sum: &mut Sums, left: Sums, tile: &SharedArray<Swizzled<bf16, 64>, 64>) {
    let left = MatrixA::from_accumulator(left.to_bf16());
    let busy = warpgroup.mma_async(*sum, left, tile);
    *sum = warpgroup.wait_mma(busy);
}

/// The sums of a first product are the left operand of another one, while a third goes on.
#[cluster_kernel(block = 128)]
fn chained(input: &[bf16], out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    for i in (rank..64 * 64).step_by(128) {
        tile[i / 64][i % 64] = input[i];
    }
    block.sync();
    let mut sum = Accumulator::<f32, 64, 64>::splat(0.0);
    for _ in 0..rounds {
        let busy = squared(&warpgroup, &tile);
        let (scores, next) = before(&warpgroup, busy, &tile);
        let last = finish(&warpgroup, next);
        add_registers(&warpgroup, &mut sum, scores, &tile);
        #[unroll]
        for i in 0..32 {
            sum[i] += last[i];
        }
    }
    #[unroll]
    for i in 0..32 {
        out[sum.row(rank, i) * 64 + sum.column(rank, i)] = sum[i];
    }
}

/// The product in flight is in an option, and so is the step that it is of, in a tuple.
#[cluster_kernel(block = 256)]
fn carried(a: &TensorMap<Rows>, b: &TensorMap<Rows>, out: &mut [f32], steps: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let (left, right) = (shared_array::<Rows, STAGES>(), shared_array::<Rows, STAGES>());
    let (full, empty) = (shared_barriers::<STAGES>(), shared_barriers::<STAGES>());
    full.init_collective(&block, 1);
    empty.init_collective(&block, 4);
    if warpgroup.meta_group_rank() == 1 {
        if rank == 0 {
            for step in 0..steps {
                empty[step % STAGES as u32].wait_parity(step / STAGES as u32 % 2 == 0);
                load(a, &left, &full, step);
                load(b, &right, &full, step);
                let _ = full[step % STAGES as u32].arrive();
            }
        }
    } else {
        let mut sum = Sums::splat(0.0);
        let mut busy: Option<Busy> = None;
        let mut progress: (Option<u32>, u32) = (None, 0);
        for step in 0..steps {
            let stage = step % STAGES as u32;
            full[stage].wait_parity(step / STAGES as u32 % 2 == 1);
            if let Some(before) = busy.take() {
                sum = warpgroup.wait_mma(before);
                if rank % 32 == 0 {
                    let _ = empty[(step - 1) % STAGES as u32].arrive();
                }
            }
            if let Some(before) = progress.0.take() {
                progress.1 += before + 1;
            }
            busy = Some(warpgroup.mma_async(sum, &left[stage], &right[stage]));
            progress.0 = Some(step);
        }
        if let Some(last) = busy {
            sum = warpgroup.wait_mma(last);
        }
        // 1 + 2 + .. for all steps but the last one.
        let released = if progress.1 == (steps - 1) * steps / 2 { 0.0 } else { 0.5 };
        #[unroll]
        for i in 0..32 {
            out[sum.row(rank, i) * 64 + sum.column(rank, i)] = sum[i] + released;
        }
    }
}

/// Two products take turns: one goes on while the sums of the other are read.
#[cluster_kernel(block = 128)]
fn in_turns(input: &[bf16], out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    for i in (rank..64 * 64).step_by(128) {
        tile[i / 64][i % 64] = input[i];
    }
    block.sync();
    let mut total = Sums::splat(0.0);
    let mut busy = squared(&warpgroup, &tile);
    for round in 0..rounds {
        let next = squared(&warpgroup, &tile);
        let before = std::mem::replace(&mut busy, next);
        let sum = warpgroup.wait_mma_except_last(before);
        #[unroll]
        for i in 0..32 {
            total[i] += sum[i] * (round + 1) as f32;
        }
    }
    let last = warpgroup.wait_mma(busy);
    #[unroll]
    for i in 0..32 {
        out[total.row(rank, i) * 64 + total.column(rank, i)] = total[i] - last[i];
    }
}

/// Numbers whose sums are exact.
fn small(seed: usize, i: usize) -> i32 {
    ((i * 7 + i / 5 * 3 + i / 64 + seed * 11) % 3) as i32 - 1
}

fn products_are_handed_on(device: &Device) -> Outcome {
    for (steps, in_an_option) in [(1, false), (2, false), (5, false), (16, false), (1, true), (2, true), (5, true)] {
        let depth = steps * 64;
        let [a, b] = [1, 2].map(|seed| (0..64 * depth).map(|i| small(seed, i)).collect::<Vec<i32>>());
        let of = |x: &i32| bf16::from_f32(*x as f32);
        let x = device.upload(&a.iter().map(of).collect::<Vec<bf16>>())?;
        let y = device.upload(&b.iter().map(of).collect::<Vec<bf16>>())?;
        let mut out = device.zeros::<f32>(64 * 64)?;
        let (x, y) = (x.tensor([64, depth])?, y.tensor([64, depth])?);
        if in_an_option {
            carried(&x, &y, &mut out, steps as u32).grid(1).launch(device)?;
        } else {
            handed(&x, &y, &mut out, steps as u32).grid(1).launch(device)?;
        }
        let sum = |i: usize| (0..depth).map(|k| a[i / 64 * depth + k] * b[i % 64 * depth + k]).sum::<i32>() as f32;
        let want: Vec<f32> = (0..64 * 64).map(sum).collect();
        same(&out.read()?, &want, |i| format!("{steps} steps: element {i}"))?;
    }
    Ok(())
}

fn products_are_chained(device: &Device) -> Outcome {
    // Rows with few elements that are not zero: their products are exact in `bf16`.
    let number = |i: usize| if i % 64 % 8 == i / 64 % 8 { small(3, i) } else { 0 };
    let numbers: Vec<i32> = (0..64 * 64).map(number).collect();
    let input = device.upload(&numbers.iter().map(|x| bf16::from_f32(*x as f32)).collect::<Vec<bf16>>())?;
    let mut out = device.zeros::<f32>(64 * 64)?;
    chained(&input, &mut out, 3).grid(1).launch(device)?;
    let square = |i: usize, j: usize| (0..64).map(|k| numbers[i * 64 + k] * numbers[j * 64 + k]).sum::<i32>();
    let squares: Vec<i32> = (0..64 * 64).map(|i| square(i / 64, i % 64)).collect();
    let sum = |i: usize, j: usize| (0..64).map(|k| squares[i * 64 + k] * numbers[j * 64 + k]).sum::<i32>();
    let want: Vec<f32> = (0..64 * 64).map(|i| 3.0 * (sum(i / 64, i % 64) + squares[i] + 1) as f32).collect();
    same(&out.read()?, &want, |i| format!("element {i}"))
}

fn products_take_turns(device: &Device) -> Outcome {
    let numbers: Vec<i32> = (0..64 * 64).map(|i| small(4, i)).collect();
    let input = device.upload(&numbers.iter().map(|x| bf16::from_f32(*x as f32)).collect::<Vec<bf16>>())?;
    for rounds in [0, 1, 4] {
        let mut out = device.zeros::<f32>(64 * 64)?;
        in_turns(&input, &mut out, rounds).grid(1).launch(device)?;
        let square = |i: usize| (0..64).map(|k| numbers[i / 64 * 64 + k] * numbers[i % 64 * 64 + k]).sum::<i32>();
        let times = (rounds * (rounds + 1) / 2) as i32 - 1;
        let want: Vec<f32> = (0..64 * 64).map(|i| (square(i) * times) as f32).collect();
        same(&out.read()?, &want, |i| format!("{rounds} rounds: element {i}"))?;
    }
    Ok(())
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "warpgroup_functions",
        checks: check_list![products_are_handed_on, products_are_chained, products_take_turns],
        kernels: kernel_list![handed, carried, chained, in_turns],
    }]
}
