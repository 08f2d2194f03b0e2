//! Copies of groups to swizzled rows of each size, from any address, which the elements of the rows and matrices then have.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, kernel_list, same};

/// Rows of a tile, of which a group of eight threads fills each; with a barrier, the block fills them one by one.
#[cluster_kernel(block = 64)]
fn filled<T: Number, const N: usize>(input: &[T], out: &mut [T], start: u32, by_block: bool) {
    let block = this_thread_block();
    let eight = tiled_partition::<8>(&block);
    let tiles = shared_array::<[Swizzled<T, N>; 16], 3>();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    if by_block {
        for row in 0..16u32 {
            let first = (start + row * N as u32) as usize;
            memcpy_async(&block, &tiles[2][row], &input[first..first + N], &bar);
        }
        bar.arrive_and_wait();
    } else {
        for half in 0..2 {
            let row = half * 8 + eight.meta_group_rank();
            let first = (start + row * N as u32) as usize;
            memcpy_async(&eight, &tiles[2][row], &input[first..first + N]);
        }
        eight.wait_async();
        block.sync();
    }
    for i in (block.thread_rank() as usize..16 * N).step_by(64) {
        out[i] = tiles[2][i / N][i % N];
    }
}

fn rows_of<T: Number + PartialEq, const N: usize>(device: &Device, number: impl Fn(usize) -> T) -> Outcome {
    let host: Vec<T> = (0..16 * N + 16).map(number).collect();
    let input = device.upload(&host)?;
    for (start, by_block) in [0, 1, 2, 4, 8, 16].into_iter().flat_map(|start| [(start, false), (start, true)]) {
        let mut out = device.zeros::<T>(16 * N)?;
        filled::<T, N>(&input, &mut out, start, by_block).grid(1).launch(device)?;
        let (got, want) = (out.read()?, &host[start as usize..][..16 * N]);
        if let Some(i) = (0..16 * N).find(|i| got[*i] != want[*i]) {
            return Err(format!("element {i} of rows of {N} from {start} is another one").into());
        }
    }
    Ok(())
}

fn rows_are_filled(device: &Device) -> Outcome {
    rows_of::<u32, 8>(device, |i| i as u32)?;
    rows_of::<u32, 16>(device, |i| i as u32)?;
    rows_of::<u32, 32>(device, |i| i as u32)?;
    rows_of::<u8, 64>(device, |i| (i * 7 % 251) as u8)?;
    rows_of::<bf16, 64>(device, |i| bf16::from_f32((i % 251) as f32))
}

/// A part of a tile begins at any row; a warp loads a matrix of the rows that its quarters have filled.
#[cluster_kernel(block = 32)]
fn loaded<const N: usize>(input: &[bf16], out: &mut [f32], skipped: u32) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let eight = tiled_partition::<8>(&this_thread_block());
    let tile = shared_array::<Swizzled<bf16, N>, 40>();
    let part = &tile[skipped..];
    for quarter in 0..4 {
        let row = quarter * 4 + eight.meta_group_rank();
        let first = row as usize * N;
        memcpy_async(&eight, &part[row], &input[first..first + N]);
    }
    eight.wait_async();
    warp.sync();
    let a: MatrixA<bf16, 16, 16> = warp.load_matrix(part, 0, 0);
    let mut unit = MatrixB::<bf16, 16, 16>::splat(bf16::ZERO);
    let lane = warp.thread_rank();
    for i in 0..8 {
        unit[i] = bf16::from_f32(if unit.row(lane, i as u32) == unit.column(lane, i as u32) { 1.0 } else { 0.0 });
    }
    let sum = warp.mma(a, unit, Accumulator::<f32, 16, 16>::splat(0.0));
    for i in 0..8 {
        out[(sum.row(lane, i as u32) * 16 + sum.column(lane, i as u32)) as usize] = sum[i];
    }
}

fn matrices_of_filled_rows<const N: usize>(device: &Device) -> Outcome {
    let host: Vec<bf16> = (0..16 * N).map(|i| bf16::from_f32((i % 251) as f32)).collect();
    let input = device.upload(&host)?;
    for skipped in 0..9 {
        let mut out = device.zeros::<f32>(256)?;
        loaded::<N>(&input, &mut out, skipped).grid(1).launch(device)?;
        let want: Vec<f32> = (0..256).map(|i| host[i / 16 * N + i % 16].to_f32()).collect();
        same(&out.read()?, &want, |i| format!("element {i} of rows of {N}, {skipped} skipped"))?;
    }
    Ok(())
}

fn matrices_are_loaded(device: &Device) -> Outcome {
    matrices_of_filled_rows::<16>(device)?;
    matrices_of_filled_rows::<32>(device)?;
    matrices_of_filled_rows::<64>(device)
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "swizzled_rows",
        checks: check_list![rows_are_filled, matrices_are_loaded],
        kernels: kernel_list![
            filled::<u32, 8>,
            filled::<u32, 16>,
            filled::<u32, 32>,
            filled::<u8, 64>,
            filled::<bf16, 64>,
            loaded::<16>,
            loaded::<32>,
            loaded::<64>
        ],
    }]
}
