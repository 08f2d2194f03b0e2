//! Accesses that the host checks before a launch (`launch_checks`), whose indexes are limited by conditions of what is computed of them. A comment with the
//! kernel's name stands before each expression that fails.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, fails, find, kernel_list};

const SOURCE: &str = include_str!("launch_conditions.rs");

/// Sums of the pixels beside each other, at the edges of fewer.
#[cluster_kernel(block = 32)]
fn beside(image: &[u32], out: &mut [u32], width: usize) {
    let i = this_grid().thread_rank();
    if i >= out.len() {
        return;
    }
    let (row, rows) = (i / width, out.len() / width);
    let mut sum = image[i];
    if i % width != 0 {
        sum += 3 * image[i - 1];
    }
    if i % width != width - 1 {
        sum += 5 * /* beside */ image[i + 1];
    }
    sum += if row == 0 { 0 } else { 7 * image[i - width] };
    if rows > 1 && row != rows - 1 {
        sum += 11 * image[i + width];
    }
    out[i] = sum;
}

/// Every second cell of each row, as on a chessboard, and the cell beside it on the other side of the pair.
#[cluster_kernel(block = (8, 4))]
fn paired(cells: &[[u32; 8]], out: &mut [[u32; 8]], colour: u32) {
    let at = this_thread_block().thread_index();
    let (x, y) = (at.x as usize, at.y as usize);
    let column = 2 * x + (y + colour as usize) % 2;
    let is_border = column == 0 || column == 15;
    out[y][x] = if is_border {
        0
    } else if column % 2 == 0 {
        cells[y][x - 1]
    } else {
        cells[y][x + 1]
    };
}

/// Pairs of a heap, by the number of the parent.
#[cluster_kernel(block = 32)]
fn children(heap: &[u32], out: &mut [u32], nodes: usize) {
    let i = this_grid().thread_rank();
    if 2 * i + 2 < nodes {
        out[i] = heap[2 * i + 1].max(/* children */ heap[2 * i + 2]);
    }
}

fn numbers(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| i * i % 89 + i).collect()
}

fn images(device: &Device) -> Outcome {
    for (width, rows) in [(7, 9), (1, 5), (33, 1), (64, 2)] {
        let count = width * rows;
        let pixels = numbers(count);
        let (image, mut out) = (device.upload(&pixels)?, device.zeros::<u32>(count)?);
        beside(&image, &mut out, width).grid(count.div_ceil(32) as u32).launch(device)?;
        let of = |i: usize| {
            let near = [
                (3, !i.is_multiple_of(width), i.wrapping_sub(1)),
                (5, i % width != width - 1, i + 1),
                (7, i >= width, i.wrapping_sub(width)),
                (11, i + width < count, i + width),
            ];
            pixels[i] + near.iter().filter(|(_, is, _)| *is).map(|(by, _, place)| by * pixels[*place]).sum::<u32>()
        };
        equal(&out.read()?, &(0..count).map(of).collect::<Vec<u32>>())?;
    }
    // Of a wider image, whose rows do not end here.
    let (image, mut out) = (device.upload(&numbers(63))?, device.zeros::<u32>(63)?);
    let failed = beside(&image, &mut out, 100).grid(2).launch(device);
    fails(failed, "index 63 out of bounds for length 63", &find(file!(), SOURCE, "beside"), (1, 0, 0), (30, 0, 0))
}

fn chessboards(device: &Device) -> Outcome {
    let cells: [[u32; 8]; 4] = std::array::from_fn(|y| std::array::from_fn(|x| 10 * y as u32 + x as u32));
    let plane = device.upload(&cells)?;
    for colour in [0, 1, 7] {
        let mut out = device.upload(&[[0u32; 8]; 4])?;
        paired(&plane, &mut out, colour).grid(1).launch(device)?;
        let of = |x: usize, y: usize| match (2 * x + (y + colour as usize) % 2, (y + colour as usize) % 2) {
            (0 | 15, _) => 0,
            (_, 0) => cells[y][x - 1],
            _ => cells[y][x + 1],
        };
        let want: Vec<[u32; 8]> = (0..4).map(|y| std::array::from_fn(|x| of(x, y))).collect();
        equal(&out.read()?, &want)?;
    }
    Ok(())
}

fn heaps(device: &Device) -> Outcome {
    let all = numbers(50);
    let heap = device.upload(&all)?;
    for nodes in [0, 1, 3, 49, 50] {
        let mut out = device.zeros::<u32>(24)?;
        children(&heap, &mut out, nodes).grid(2).launch(device)?;
        let of = |i: usize| if 2 * i + 2 < nodes { all[2 * i + 1].max(all[2 * i + 2]) } else { 0 };
        equal(&out.read()?, &(0..24).map(of).collect::<Vec<u32>>())?;
    }
    let mut out = device.zeros::<u32>(64)?;
    let failed = children(&heap, &mut out, 51).grid(2).launch(device);
    fails(failed, "index 50 out of bounds for length 50", &find(file!(), SOURCE, "children"), (0, 0, 0), (24, 0, 0))
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "launch_conditions",
        checks: check_list![images, chessboards, heaps],
        kernels: kernel_list![beside, paired, children],
    }]
}
