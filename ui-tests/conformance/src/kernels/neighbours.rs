//! Loops over neighbours: of cells, whose accesses one test of a box finds within bounds, of elements, whose loads and stores are joined, and
//! of threads, whose values are combined. A comment with the kernel's name stands before each expression that fails.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, fails, find, kernel_list, read};

const SOURCE: &str = include_str!("neighbours.rs");

/// The sum of the cells up to two away along each axis, of each cell inside a border of two.
#[cluster_kernel(block = 64)]
fn stars(cells: &[u32], out: &mut [u32], nx: u32, ny: u32, nz: u32) {
    let i = this_grid().thread_rank() as u32;
    let (x, y, z) = (i % nx, i / nx % ny, i / nx / ny);
    if x < 2 || y < 2 || z < 2 || x + 2 >= nx || y + 2 >= ny || z + 2 >= nz {
        return;
    }
    let at = |x: u32, y: u32, z: u32| (z as usize * ny as usize + y as usize) * nx as usize + x as usize;
    let mut sum = 0;
    for r in 1..=2 {
        sum += r * (cells[at(x - r, y, z)] + cells[at(x + r, y, z)]);
        sum += 3 * r * (cells[at(x, y - r, z)] + cells[at(x, y + r, z)]);
        sum += 7 * r * (cells[at(x, y, z - r)] + cells[at(x, y, z + r)]);
    }
    out[i] = sum;
}

/// The sum of a row and of a column that begin at a cell, whose box may reach farther than the memory.
#[cluster_kernel(block = 32)]
fn corner(cells: &[u32], out: &mut [u32], x: u32, y: u32) {
    let at = |x: u32, y: u32| y as usize * 8 + x as usize;
    let mut sum = 0;
    for r in 1..3 {
        sum += cells[at(x + r, y)];
        sum += cells[at(x, y + r)] * 1000;
        sum += /* corner */ cells[at(x - r, y)] * 1_000_000;
    }
    out[this_thread_block().thread_rank()] = sum;
}

fn cells_have_boxes(device: &Device) -> Outcome {
    let [nx, ny, nz] = [11usize, 7, 6];
    let cells: Vec<u32> = (0..nx * ny * nz).map(|i| (i * i % 101) as u32).collect();
    let count = cells.len();
    let at = |x: usize, y: usize, z: usize| cells[(z * ny + y) * nx + x];
    let want: Vec<u32> = (0..count)
        .map(|i| {
            let (x, y, z) = (i % nx, i / nx % ny, i / nx / ny);
            if x < 2 || y < 2 || z < 2 || x + 2 >= nx || y + 2 >= ny || z + 2 >= nz {
                return 0;
            }
            let along = |r: usize| {
                at(x - r, y, z)
                    + at(x + r, y, z)
                    + 3 * (at(x, y - r, z) + at(x, y + r, z))
                    + 7 * (at(x, y, z - r) + at(x, y, z + r))
            };
            along(1) + 2 * along(2)
        })
        .collect();
    let buffer = device.upload(&cells)?;
    let blocks = count.div_ceil(64) as u32;
    let got = read!(device, count, |out| stars(&buffer, out, nx as u32, ny as u32, nz as u32).grid(blocks));
    equal(&got, &want)
}

fn boxes_reach_farther(device: &Device) -> Outcome {
    let numbers: Vec<u32> = (0..30).collect();
    let cells = device.upload(&numbers)?;
    // Of the box, the last cell is the 32nd.
    let sum = (14 + 15) + (21 + 29) * 1000 + (12 + 11) * 1_000_000;
    equal(&read!(device, 32, |out| corner(&cells, out, 5, 1).grid(1)), &[sum; 32])?;
    let mut out = device.zeros(32)?;
    let launched = corner(&cells, &mut out, 0, 1).grid(1).launch(device);
    let cause = "index 4294967303 out of bounds for length 30";
    fails(launched, cause, &find(file!(), SOURCE, "corner"), (0, 0, 0), (0, 0, 0))
}

/// Sums and copies of eight elements for each thread, from a place on that may not be aligned.
#[cluster_kernel(block = 32)]
fn eights(words: &[u32], bytes: &[u8], out: &mut [u32], from: usize) {
    let i = this_thread_block().thread_rank() as usize;
    let part = &words[from..];
    let (mut whole, mut own, mut small) = (0, 0, 0);
    for k in 0..8 {
        whole += words[i * 8 + k] * (k as u32 + 1);
        own += part[i * 8 + k] * (k as u32 + 1);
    }
    for k in 0..16 {
        small += u32::from(bytes[16 * i + k]) << (k % 4);
    }
    for k in 0..8 {
        out[8 * i + k] = whole + own * k as u32 + small;
    }
}

fn eight_elements_are_neighbours(device: &Device) -> Outcome {
    let words: Vec<u32> = (0..260).map(|i| i * 37 % 1009).collect();
    let bytes: Vec<u8> = (0..512).map(|i| (i * 7 % 251) as u8).collect();
    let (buffer, small) = (device.upload(&words)?, device.upload(&bytes)?);
    for from in [0usize, 1, 2, 4] {
        let sum = |first: usize| (0..8).map(|k| words[first + k] * (k as u32 + 1)).sum::<u32>();
        let want: Vec<u32> = (0..256)
            .map(|at| {
                let (i, k) = (at / 8, at % 8);
                let bytes = &bytes[16 * i..16 * i + 16];
                let small: u32 = bytes.iter().enumerate().map(|(k, &byte)| u32::from(byte) << (k % 4)).sum();
                sum(8 * i) + sum(8 * i + from) * k as u32 + small
            })
            .collect();
        equal(&read!(device, 256, |out| eights(&buffer, &small, out, from).grid(1)), &want)?;
    }
    Ok(())
}

/// What is left of chunks of five, and of every other one behind the first.
#[cluster_kernel(block = 32)]
fn fives(words: &[u32], out: &mut [u32]) {
    let i = this_thread_block().thread_rank() as usize;
    let mut sum = 0;
    for chunk in words.chunks_exact(5) {
        sum = sum * 3 + chunk[i % 5] + chunk.len() as u32;
    }
    for (k, chunk) in words.chunks_exact(5).skip(1).step_by(2).enumerate() {
        sum = sum * 5 + chunk[(i + k) % 5];
    }
    out[i] = sum;
}

fn chunks_are_exact(device: &Device) -> Outcome {
    for length in [0u32, 4, 5, 23, 30] {
        let words: Vec<u32> = (0..length).map(|i| i * i + 1).collect();
        let want: Vec<u32> = (0..32)
            .map(|i| {
                let all = words.chunks_exact(5);
                let sum = all.clone().fold(0u32, |sum, chunk| sum.wrapping_mul(3).wrapping_add(chunk[i % 5] + 5));
                let others = all.skip(1).step_by(2).enumerate();
                others.fold(sum, |sum, (k, chunk)| sum.wrapping_mul(5).wrapping_add(chunk[(i + k) % 5]))
            })
            .collect();
        let buffer = device.upload(&words)?;
        equal(&read!(device, 32, |out| fives(&buffer, out).grid(1)), &want)?;
    }
    Ok(())
}

/// A map `x * factor + term`.
#[derive(Debug, Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Line {
    factor: u32,
    term: u32,
}

#[device]
impl Line {
    fn then(self, next: Line) -> Line {
        Line { factor: self.factor * next.factor, term: self.term * next.factor + next.term }
    }
}

/// Compositions of the threads' maps, in their order: of warps, of eight threads, and with a closure that fails for any other order.
#[cluster_kernel(block = 64)]
fn compositions(out: &mut [u32]) {
    let block = this_thread_block();
    let (warp, eight) = (tiled_partition::<32>(&block), tiled_partition::<8>(&block));
    let i = block.thread_rank();
    let own = Line { factor: i | 1, term: i * 3 };
    let whole = warp.reduce(own, |a, b| a.then(b));
    let part = eight.reduce(own, |a, b| a.then(b));
    let ends = warp.reduce((i, i), |a, b| {
        assert!(a.1 + 1 == b.0, "from {} to {}, and from {} to {}", a.0, a.1, b.0, b.1);
        (a.0, b.1)
    });
    let mut sum = 0;
    for k in 0..8 {
        sum += eight.shfl(i, (i + k) % 8) * k;
    }
    out[4 * i] = whole.factor + whole.term;
    out[4 * i + 1] = part.factor + part.term;
    out[4 * i + 2] = ends.0 * 100 + ends.1;
    out[4 * i + 3] = sum;
}

fn closures_combine_in_order(device: &Device) -> Outcome {
    let of = |threads: std::ops::Range<u32>| {
        let all = threads.map(|i| (i | 1, i * 3));
        let (factor, term) = all.fold((1u32, 0u32), |(factor, term), (own, added)| {
            (factor.wrapping_mul(own), term.wrapping_mul(own).wrapping_add(added))
        });
        factor.wrapping_add(term)
    };
    let want: Vec<u32> = (0..64u32)
        .flat_map(|i| {
            let (warp, eight) = (i / 32 * 32, i / 8 * 8);
            let sum = (0..8).map(|k| (eight + (i % 8 + k) % 8) * k).sum();
            [of(warp..warp + 32), of(eight..eight + 8), warp * 100 + warp + 31, sum]
        })
        .collect();
    equal(&read!(device, 256, |out| compositions(out).grid(1)), &want)
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "neighbours",
        checks: check_list![
            cells_have_boxes,
            boxes_reach_farther,
            eight_elements_are_neighbours,
            chunks_are_exact,
            closures_combine_in_order
        ],
        kernels: kernel_list![stars, corner, eights, fives, compositions],
    }]
}
