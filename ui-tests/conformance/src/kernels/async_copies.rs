//! Asynchronous copies within a block: by a group and in bulk, of any bytes, in stages, behind loads and stores of the
//! same memory; and arguments that they cannot copy. `async_peers` has copies to peers.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, failure, find, kernel_list, read, same};

const SOURCE: &str = include_str!("async_copies.rs");

/// Copies a part of the input to a part of shared memory, to the barrier or to the group, by the block or by its warps.
#[cluster_kernel(block = 96)]
fn parts<T: DeviceCopy>(input: &[T], out: &mut [T], from: u32, to: u32, length: u32, form: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let array = shared_array::<T, 512>();
    let bar = shared_barrier();
    bar.init_collective(&block, 96);
    if form == 0 {
        memcpy_async(&block, &array[to..to + length], &input[from..from + length], &bar);
        bar.arrive_and_wait();
    } else if form == 1 {
        memcpy_async(&block, &array[to..to + length], &input[from..from + length]);
        block.wait_async();
    } else {
        // Each copies a third, the last one the rest.
        let (rank, third) = (warp.meta_group_rank(), length / 3);
        let end = if rank == 2 { length } else { (rank + 1) * third };
        let start = rank * third;
        memcpy_async(&warp, &array[to + start..to + end], &input[from + start..from + end]);
        warp.wait_async();
        block.sync();
    }
    for i in (block.thread_rank()..length).step_by(96) {
        out[i] = array[to + i];
    }
}

/// Copies parts of this type: aligned and not, of any length.
fn of_type<T: DeviceCopy + PartialEq + std::fmt::Debug>(device: &Device, value: impl Fn(u32) -> T) -> Outcome {
    let values: Vec<T> = (0..512).map(value).collect();
    let input = device.upload(&values)?;
    for (from, to, length) in
        [(0, 0, 512), (16, 32, 64), (4, 8, 100), (1, 1, 96), (3, 1, 200), (2, 6, 7), (5, 5, 0), (9, 0, 1)]
    {
        for form in 0..3 {
            let mut out = device.upload(&vec![values[0]; length as usize])?;
            parts(&input, &mut out, from, to, length, form).grid(1).launch(device)?;
            if out.read()? != values[from as usize..(from + length) as usize] {
                let ty = std::any::type_name::<T>();
                return Err(format!("{length} {ty} from {from} to {to}, form {form}").into());
            }
        }
    }
    Ok(())
}

fn any_bytes_are_copied(device: &Device) -> Outcome {
    of_type(device, |i| (i * 7 % 251) as u8)?;
    of_type(device, |i| (i * 77) as u16)?;
    of_type(device, |i| i * 77_777)?;
    of_type(device, |i| u64::from(i) * 77_777_777_777)?;
    of_type(device, |i| [i as f32, 0.5, -1.0])?;
    of_type(device, |i| [i as u8, 3, 7])
}

/// Four parts are in flight, and the block waits for them one by one.
#[cluster_kernel(block = 64)]
fn staged(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let array = shared_array::<u32, 256>();
    let i = block.thread_rank();
    for part in 0..4u32 {
        memcpy_async(&block, &array[part * 64..part * 64 + 64], &input[part * 64..part * 64 + 64]);
    }
    block.wait_prior::<3>();
    out[i] = array[63 - i] + 1;
    block.wait_prior::<2>();
    out[64 + i] = array[127 - i] + 2;
    block.wait_prior::<1>();
    out[128 + i] = array[191 - i] + 3;
    block.wait_async();
    out[192 + i] = array[255 - i] + 4;
}

fn stages_are_waited_for(device: &Device) -> Outcome {
    let values: Vec<u32> = (0..256).map(|i| i * 1000).collect();
    let input = device.upload(&values)?;
    let got = read!(device, 256, |out| staged(&input, out).grid(1));
    let want = |i: u32| (i / 64 * 64 + 63 - i % 64) * 1000 + i / 64 + 1;
    equal(&got, &(0..256).map(want).collect::<Vec<u32>>())
}

const STAGE: u32 = 256;

/// One thread fetches ahead in bulk, the other warps add up; three stages take turns.
#[cluster_kernel(block = 160)]
fn fetched_ahead(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let stages = shared_array::<[u32; STAGE as usize], 3>();
    let full = shared_barriers::<3>();
    let empty = shared_barriers::<3>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 4);
    if warp.meta_group_rank() == 4 {
        if warp.thread_rank() == 0 {
            for chunk in 0..chunks {
                let stage = chunk % 3;
                empty[stage].wait_parity(chunk / 3 % 2 == 0);
                full[stage].expect_tx(STAGE * 4);
                bulk_copy_async(&stages[stage], &input[chunk * STAGE..(chunk + 1) * STAGE], &full[stage]);
                let _ = full[stage].arrive();
            }
        }
    } else {
        let i = block.thread_rank();
        let mut sum = 0;
        for chunk in 0..chunks {
            let stage = chunk % 3;
            full[stage].wait_parity(chunk / 3 % 2 == 1);
            sum = sum * 3 + stages[stage][i] + stages[stage][STAGE - 1 - i];
            warp.sync();
            if warp.thread_rank() == 0 {
                let _ = empty[stage].arrive();
            }
        }
        out[i] = sum;
    }
}

fn one_thread_fetches_ahead(device: &Device) -> Outcome {
    let values: Vec<u32> = (0..STAGE * 50).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let input = device.upload(&values)?;
    for chunks in [0, 1, 2, 3, 4, 7, 50] {
        let got = read!(device, 128, |out| fetched_ahead(&input, out, chunks).grid(1));
        let at = |chunk: u32, i: u32| values[(chunk * STAGE + i) as usize];
        let sum = |i: u32| {
            (0..chunks).fold(0u32, |sum, chunk| {
                sum.wrapping_mul(3).wrapping_add(at(chunk, i)).wrapping_add(at(chunk, STAGE - 1 - i))
            })
        };
        same(&got, &(0..128).map(sum).collect::<Vec<u32>>(), |i| format!("{chunks} chunks, {i}"))?;
    }
    Ok(())
}

/// Loads, stores and bulk copies of the same shared memory take turns: each must see the effects of the others.
#[cluster_kernel(block = 256)]
fn in_turns(words: &mut [u32], sums: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let array = shared_array::<u32, 1024>();
    let bar = shared_barrier();
    bar.init_collective(&block, 1);
    let i = block.thread_rank();
    let start = this_grid().block_rank() * 1024;
    let mut sum = 0;
    for round in 0..rounds {
        // What was loaded in the previous iteration is overwritten, and what is stored is copied out.
        for part in 0..4u32 {
            array[part * 256 + (i + round) % 256] = round * 1024 + part * 256 + i;
        }
        block.sync();
        if i == round % 256 {
            bulk_copy_async(&mut words[start..start + 1024], &array);
            bulk_wait_group_read::<0>();
        }
        block.sync();
        for part in 0..4u32 {
            array[part * 256 + i] = 7;
        }
        block.sync();
        if i == round % 256 {
            bulk_wait_group::<0>();
            bar.expect_tx(4096);
            bulk_copy_async(&array, &words[start..start + 1024], &bar);
            let _ = bar.arrive();
        }
        bar.wait_parity(round % 2 == 1);
        for part in 0..4u32 {
            sum = sum * 3 + array[part * 256 + 255 - i];
        }
        block.sync();
    }
    sums[this_grid().thread_rank()] = sum;
}

fn proxies_see_each_other(device: &Device) -> Outcome {
    let rounds = if device.is_simulator() { 6 } else { 20_000 };
    let blocks = if device.is_simulator() { 2 } else { 132 };
    let mut words = device.zeros::<u32>(1024 * blocks)?;
    let mut sums = device.zeros::<u32>(256 * blocks)?;
    in_turns(&mut words, &mut sums, rounds).grid(blocks as u32).launch(device)?;
    let stored = |round: u32, at: u32| round * 1024 + at / 256 * 256 + (at % 256 + 256 - round % 256) % 256;
    let sum = |i: u32| {
        (0..rounds).fold(0u32, |sum, round| {
            (0..4).fold(sum, |sum, part| sum.wrapping_mul(3).wrapping_add(stored(round, part * 256 + 255 - i)))
        })
    };
    let want: Vec<u32> = (0..256).map(sum).collect();
    same(&sums.read()?, &want.repeat(blocks), |i| format!("block {} thread {}", i / 256, i % 256))?;
    let last: Vec<u32> = (0..1024).map(|at| stored(rounds - 1, at)).collect();
    same(&words.read()?, &last.repeat(blocks), |i| format!("word {i}"))
}

/// A device function copies what it is given.
#[device]
fn load_row(block: &ThreadBlock, row: &SharedSlice<f32>, input: &[f32], bar: &Barrier) {
    memcpy_async(block, row, input, bar);
    bar.arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn by_functions(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let rows = shared_array::<[f32; 64], 4>();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    for row in 0..4u32 {
        load_row(&block, &rows[row], &input[(3 - row) * 64..(4 - row) * 64], &bar);
    }
    for row in 0..4u32 {
        out[row * 64 + block.thread_rank()] = rows[row][block.thread_rank()];
    }
}

fn functions_copy(device: &Device) -> Outcome {
    let values: Vec<f32> = (0..256).map(|i| i as f32).collect();
    let input = device.upload(&values)?;
    let got = read!(device, 256, |out| by_functions(&input, out).grid(1));
    equal(&got, &(0..256).map(|i| values[(3 - i / 64) * 64 + i % 64]).collect::<Vec<f32>>())
}

#[cluster_kernel(block = 1)]
fn bulk_parts(input: &[u32], from: u32, to: u32, length: u32, other: u32, form: u32) {
    let block = this_thread_block();
    let array = shared_array::<u32, 64>();
    let bar = shared_barrier();
    bar.init_collective(&block, 1);
    if form == 0 {
        bar.expect_tx(length * 4);
        bulk_copy_async(&array[to..to + length], &input[from..from + other], &bar);
    } else {
        memcpy_async(&block, &array[to..to + length], &input[from..from + other], &bar);
    }
    bar.arrive_and_wait();
}

/// Copies that the hardware does not support are refused before.
fn a_bulk_copy_is_of_sixteens(device: &Device) -> Outcome {
    let input = device.upload(&[5u32; 64])?;
    let cases = [
        (
            0,
            0,
            33,
            32,
            0,
            "the source and the destination of a copy must have the same length, but have 32 and 33 elements; take a part of the longer one: `&x[..n]`",
        ),
        (
            0,
            0,
            1,
            2,
            1,
            "the source and the destination of a copy must have the same length, but have 2 and 1 elements; take a part of the longer one: `&x[..n]`",
        ),
        (
            0,
            0,
            6,
            6,
            0,
            "the size of a bulk copy must be a multiple of 16 bytes, but is 24; `memcpy_async` copies any number",
        ),
        (
            1,
            6,
            8,
            8,
            0,
            "both addresses of a bulk copy must be multiples of 16, but the destination is 8 and the source 4 bytes past one; `memcpy_async` copies from and to any element",
        ),
    ];
    for (from, to, length, other, form, want) in cases {
        let failure = failure(bulk_parts(&input, from, to, length, other, form).grid(1).launch(device))?;
        if failure.cause.to_string() != want || failure.location.is_none() {
            return Err(format!("{failure}, and not {want}").into());
        }
    }
    bulk_parts(&input, 4, 8, 8, 8, 0).grid(1).launch(device)?;
    bulk_parts(&input, 4, 8, 0, 0, 0).grid(1).launch(device)?;
    Ok(())
}

/// Eight threads copy a row. The ranges of a block are tested before its loops; in the second one, a round waits for its copies.
#[cluster_kernel(block = 64)]
fn by_rows(input: &[u32], out: &mut [u32], width: u32, rounds: u32) {
    let block = this_thread_block();
    let eight = tiled_partition::<8>(&block);
    let tile = shared_array::<[u32; 36], 64>();
    let line = eight.meta_group_rank();
    for k in 0..8 {
        let first = (line + k * 8) * width;
        memcpy_async(&eight, &tile[line + k * 8][..32], &input[first..first + 32]);
    }
    eight.wait_async();
    block.sync();
    let mut sum = 0;
    for j in 0..32 {
        sum += tile[block.thread_rank()][j];
    }
    for k in 0..rounds {
        block.sync(); // all have read the row
        if eight.meta_group_rank() == 0 {
            memcpy_async(&eight, &tile[k % 64][..32], /* row */ &input[k * width..k * width + 32]);
        }
        eight.wait_async();
        block.sync();
        sum += tile[k % 64][block.thread_rank() % 32];
    }
    out[this_grid().thread_rank()] = sum;
}

fn rows_are_copied(device: &Device) -> Outcome {
    for (width, rounds) in [(32, 3), (40, 64), (33, 64)] {
        let host: Vec<u32> = (0..64 * width).map(|i| i * 7 % 1_001).collect();
        let input = device.upload(&host)?;
        let mut out = device.zeros(64)?;
        by_rows(&input, &mut out, width, rounds).grid(1).launch(device)?;
        let row = |k: u32| &host[(k * width) as usize..][..32];
        let want = Vec::from_iter(
            (0..64).map(|i| row(i).iter().sum::<u32>() + (0..rounds).map(|k| row(k)[i as usize % 32]).sum::<u32>()),
        );
        same(&out.read()?, &want, |i| format!("thread {i}, rows of {width}"))?;
        // One row more than there is.
        let failure = failure(by_rows(&input, &mut out, width, 65).grid(1).launch(device))?;
        let (start, length) = (64 * width, 64 * width);
        let want = format!("range {start}..{} out of bounds for length {length}", start + 32);
        if failure.cause.to_string() != want || failure.location != Some(find(file!(), SOURCE, "row")) {
            return Err(format!("{failure}, and not {want}").into());
        }
    }
    Ok(())
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "async_copies",
        checks: check_list![
            any_bytes_are_copied,
            stages_are_waited_for,
            one_thread_fetches_ahead,
            proxies_see_each_other,
            functions_copy,
            a_bulk_copy_is_of_sixteens,
            rows_are_copied,
        ],
        kernels: kernel_list![
            parts::<u8>,
            parts::<u64>,
            staged,
            fetched_ahead,
            in_turns,
            by_functions,
            bulk_parts,
            by_rows
        ],
    }]
}
