//! Bit tricks: transposes of bits, Morton codes, distances of signatures, packed integers.

use phalanx::prelude::*;

use super::random;
use crate::{Module, Outcome, check_list, kernel_list, read, same};

/// A 32 by 32 matrix of bits transposed in registers by five rounds of swaps (Hacker's Delight, section 7-3), as bit-sliced
/// ciphers and columnar formats do.
#[cluster_kernel(block = 64)]
pub(super) fn transpose_bits(input: &[u32], out: &mut [u32]) {
    let at = this_grid().thread_rank() as u32 * 32;
    if at >= input.len() as u32 {
        return;
    }
    let mut rows = [0; 32];
    for i in 0..32 {
        rows[i] = input[at + i as u32];
    }
    let mut width = 16;
    let mut mask = 0x0000_ffff;
    while width > 0 {
        let mut k = 0;
        while k < 32 {
            let swapped = (rows[k] >> width ^ rows[k + width]) & mask;
            rows[k + width] ^= swapped;
            rows[k] ^= swapped << width;
            k = (k + width + 1) & !width;
        }
        width /= 2;
        mask ^= mask << width;
    }
    for i in 0..32 {
        out[at + i as u32] = rows[i];
    }
}

/// Returns ten bits with two zeros after each.
#[device]
fn spread(bits: u32) -> u32 {
    let mut x = bits & 1023;
    x = (x | x << 16) & 0x0300_00ff;
    x = (x | x << 8) & 0x0300_f00f;
    x = (x | x << 4) & 0x030c_30c3;
    (x | x << 2) & 0x0924_9249
}

/// Morton codes of points in the unit cube (Karras, "Thinking Parallel, Part III: Tree Construction on the GPU", 2012).
#[cluster_kernel(block = 128)]
pub(super) fn morton(x: &[f32], y: &[f32], z: &[f32], codes: &mut [u32]) {
    let i = this_grid().thread_rank();
    if i >= codes.len() {
        return;
    }
    let cell = |coordinate: f32| (coordinate * 1024.0).max(0.0).min(1023.0) as u32;
    codes[i] = spread(cell(x[i])) << 2 | spread(cell(y[i])) << 1 | spread(cell(z[i]));
}

/// The nearest of all signatures of 128 bits to each query, by Hamming distance (OpenCV's brute-force matcher of ORB
/// descriptors): distance and index in one number, so that the smallest is both.
#[cluster_kernel(block = 64)]
fn nearest(queries: &[u64], signatures: &[u64], out: &mut [u64]) {
    let block = this_thread_block();
    let tile = shared_array::<u64, 128>();
    let i = block.thread_rank();
    let query = this_grid().thread_rank() as u32;
    let inside = query < out.len() as u32;
    let (low, high) = if inside { (queries[2 * query], queries[2 * query + 1]) } else { (0, 0) };
    let count = signatures.len() as u32 / 2;
    let mut best = u64::MAX;
    for start in (0..count).step_by(64) {
        let here = (count - start).min(64);
        for k in (i..2 * here).step_by(64) {
            tile[k] = signatures[2 * start + k];
        }
        block.sync();
        for k in 0..here {
            let distance = (tile[2 * k] ^ low).count_ones() + (tile[2 * k + 1] ^ high).count_ones();
            best = best.min((distance as u64) << 32 | (start + k) as u64);
        }
        block.sync();
    }
    if inside {
        out[query] = best;
    }
}

/// Integers of `width` bits out of a stream of words (Parquet's bit packing, as cuIO decodes it).
#[cluster_kernel(block = 128)]
pub(super) fn unpack(words: &[u32], out: &mut [u32], width: u32, base: u32) {
    let i = this_grid().thread_rank();
    if i >= out.len() {
        return;
    }
    let bit = i as u64 * width as u64;
    let (word, shift) = ((bit / 32) as u32, bit % 32);
    let low = words[word] as u64;
    let high = if word + 1 < words.len() as u32 { words[word + 1] as u64 } else { 0 };
    let mask = (1u64 << width) - 1;
    out[i] = base + ((high << 32 | low) >> shift & mask) as u32;
}

/// The eight queens' problem and larger ones: each thread counts the boards that continue its first two rows, with the
/// attacked columns as bits (Richards 1997; the usual GPU benchmark since).
#[cluster_kernel(block = 64)]
fn queens(count: &mut [u64], size: u32) {
    let i = this_grid().thread_rank() as u32;
    if i >= size * size {
        return;
    }
    let all = (1u32 << size) - 1;
    let (first, second) = (1u32 << i / size, 1u32 << i % size);
    if (first | first << 1 | first >> 1) & second != 0 {
        return;
    }
    let mut columns = [0; 16];
    let mut left = [0; 16];
    let mut right = [0; 16];
    let mut open = [0; 16];
    columns[2] = first | second;
    left[2] = first << 2 | second << 1;
    right[2] = first >> 2 | second >> 1;
    open[2] = all & !(columns[2] | left[2] | right[2]);
    let mut row = 2;
    let mut found = 0;
    while row >= 2 {
        if open[row] == 0 {
            row -= 1;
            continue;
        }
        let place = open[row] & open[row].wrapping_neg();
        open[row] ^= place;
        if row as u32 + 1 == size {
            found += 1;
            continue;
        }
        columns[row + 1] = columns[row] | place;
        left[row + 1] = (left[row] | place) << 1;
        right[row + 1] = (right[row] | place) >> 1;
        open[row + 1] = all & !(columns[row + 1] | left[row + 1] | right[row + 1]);
        row += 1;
    }
    count.atomic(0).fetch_add(found, Relaxed);
}

fn bit_matrices(device: &Device) -> Outcome {
    for matrices in [64, 3] {
        let values = random(171, 32 * matrices);
        let input = device.upload(&values)?;
        let got = read!(device, values.len(), |out| transpose_bits(&input, out).grid(matrices.div_ceil(64) as u32));
        let row = |i: usize| {
            let matrix = &values[i / 32 * 32..][..32];
            (0..32).fold(0, |row, k| row | (matrix[k] >> (i % 32) & 1) << k)
        };
        same(&got, &(0..values.len()).map(row).collect::<Vec<u32>>(), |i| format!("row {i}"))?;
    }
    Ok(())
}

fn morton_codes(device: &Device) -> Outcome {
    let unit = |seed| super::reals(seed, 300).into_iter().map(|x| x * 0.6 + 0.5).collect::<Vec<f32>>();
    let (x, y, z) = (unit(172), unit(173), unit(174));
    let (a, b, c) = (device.upload(&x)?, device.upload(&y)?, device.upload(&z)?);
    let got = read!(device, 300, |codes| morton(&a, &b, &c, codes).grid(3));
    let code = |i: usize| {
        let cells = [z[i], y[i], x[i]].map(|x| (x * 1024.0).clamp(0.0, 1023.0) as u32);
        (0..30).fold(0, |code, bit| code | (cells[bit % 3] >> (bit / 3) & 1) << bit)
    };
    same(&got, &(0..300).map(code).collect::<Vec<u32>>(), |i| format!("point {i}"))
}

fn nearest_signatures(device: &Device) -> Outcome {
    for (queries, count) in [(64, 128), (77, 150)] {
        let wide = |seed, len| {
            random(seed, 2 * len).chunks(2).map(|x| u64::from(x[0]) << 32 | u64::from(x[1])).collect::<Vec<_>>()
        };
        let (asked, known) = (wide(175, 2 * queries), wide(176, 2 * count));
        let (a, b) = (device.upload(&asked)?, device.upload(&known)?);
        let got = read!(device, queries, |out| nearest(&a, &b, out).grid(queries.div_ceil(64) as u32));
        let best = |query: usize| {
            let distance = |k: usize| {
                (asked[2 * query] ^ known[2 * k]).count_ones() + (asked[2 * query + 1] ^ known[2 * k + 1]).count_ones()
            };
            (0..count).map(|k| u64::from(distance(k)) << 32 | k as u64).min().unwrap_or(u64::MAX)
        };
        same(&got, &(0..queries).map(best).collect::<Vec<_>>(), |i| format!("query {i} of {queries}"))?;
    }
    Ok(())
}

fn packed(device: &Device) -> Outcome {
    for (width, len) in [(1, 300), (13, 257), (32, 40)] {
        let values: Vec<u32> = random(177, len).into_iter().map(|value| value >> (32 - width)).collect();
        let mut words = vec![0u32; (len * width as usize).div_ceil(32)];
        for bit in 0..len * width as usize {
            words[bit / 32] |= (values[bit / width as usize] >> (bit % width as usize) & 1) << (bit % 32);
        }
        let input = device.upload(&words)?;
        let got = read!(device, len, |out| unpack(&input, out, width, 7).grid(len.div_ceil(128) as u32));
        let want: Vec<u32> = values.iter().map(|value| value.wrapping_add(7)).collect();
        same(&got, &want, |i| format!("{width} bits, {i}"))?;
    }
    Ok(())
}

fn boards(device: &Device) -> Outcome {
    for (size, want) in [(4, 2), (5, 10), (8, 92), (9, 352)] {
        let got = read!(device, 1, |count| queens(count, size).grid(2));
        same(&got, &[want], |_| format!("{size} queens"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::bits",
        checks: check_list![bit_matrices, morton_codes, nearest_signatures, packed, boards],
        kernels: kernel_list![transpose_bits, morton, nearest, unpack, queens],
    }
}
