//! Parts of memory, arrays of arrays, several arrays in one dynamic allocation: each against Rust's own slices.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, fails, find, kernel_list, read, same};

const SOURCE: &str = include_str!("memory.rs");

#[device]
fn sum(values: &[u32]) -> u32 {
    let mut total = 0;
    for i in 0..values.len() {
        total += values[i] * (i as u32 + 1);
    }
    total
}

#[device]
fn fill(values: &mut [u32], first: u32) {
    for i in 0..values.len() {
        values[i] = first + i as u32;
    }
}

/// Takes every form of a part, of `&[T]` and of `&mut [T]`, bound and passed directly, of parts, too.
#[cluster_kernel(block = 1)]
fn parts(a: &[u32], out: &mut [u32], lo: u32, hi: usize) {
    let row = &a[lo..hi];
    out[0] = sum(row);
    out[1] = sum(&a[lo..]);
    out[2] = sum(&a[..hi]);
    out[3] = sum(&a[..]);
    out[4] = sum(&a[lo..=9u32]);
    out[5] = sum(&a[..=hi]);
    out[6] = sum(&row[1..][1..3]);
    out[7] = row.len() as u32 + a[3..5].len() as u32;
    out[8] = row.is_empty() as u32 + 2 * a[4..4].is_empty() as u32;
    out[9] = row[0] + row[row.len() - 1];
    out[10] = (&a[3..=2]).len() as u32;
    out[11] = a[2..8][3];

    let target = &mut out[16..];
    fill(target, 100);
    fill(&mut target[4..6], 500);
    let (left, right) = target.split_at_mut(8);
    right[0] = left[7] + 1;
    left[1] += 7;
    let view = &target[3..];
    out[12] = sum(view);
    let (_, end) = a.split_at(a.len() - 2);
    out[13] = sum(end);
    let tile = &a.chunks(7)[2u32];
    out[14] = sum(tile) + tile.len() as u32 * 1000;
    let last = &mut out.chunks_mut(9)[3];
    last[4] = last.len() as u32;
}

fn parts_are_rust_s(device: &Device) -> Outcome {
    let a: Vec<u32> = (0..20).map(|i| i * i + 1).collect();
    let input = device.upload(&a)?;
    let got = read!(device, 32, |out| parts(&input, out, 2, 11).grid(1));
    let mut out = vec![0; 32];
    let (lo, hi) = (2, 11);
    let row = &a[lo..hi];
    out[0] = sum_on_host(row);
    out[1] = sum_on_host(&a[lo..]);
    out[2] = sum_on_host(&a[..hi]);
    out[3] = sum_on_host(&a[..]);
    out[4] = sum_on_host(&a[lo..=9]);
    out[5] = sum_on_host(&a[..=hi]);
    out[6] = sum_on_host(&row[1..][1..3]);
    out[7] = 9 + 2;
    out[8] = 2;
    out[9] = row[0] + row[8];
    out[10] = 0;
    out[11] = a[5];
    for i in 0..16 {
        out[16 + i] = 100 + i as u32;
    }
    (out[20], out[21]) = (500, 501);
    out[24] = out[23] + 1;
    out[17] += 7;
    out[12] = sum_on_host(&out[19..]);
    out[13] = sum_on_host(&a[18..]);
    out[14] = sum_on_host(&a[14..]) + 6000;
    out[31] = 5;
    same(&got, &out, |i| format!("number {i}"))
}

fn sum_on_host(values: &[u32]) -> u32 {
    values.iter().zip(1..).map(|(value, place)| value * place).sum()
}

#[device]
fn reverse(values: &SharedSlice<u32>, block: &ThreadBlock) {
    let i = block.thread_rank() as usize;
    let half = values.len() / 2;
    if i < half {
        let other = values.len() - 1 - i;
        let kept = values[i];
        values[i] = values[other];
        values[other] = kept;
    }
}

#[device]
fn read_remote(values: RemoteSlice<u32>, i: u32) -> u32 {
    values[i] + values.len() as u32
}

/// Takes parts of shared arrays, static and dynamic, and of a peer's.
#[cluster_kernel(cluster = 2, block = 32)]
fn shared_parts(out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let fixed = shared_array::<u32, 32>();
    let dynamic = dynamic_shared::<u32>();
    let i = block.thread_rank();
    let base = cluster.thread_rank() * 10;
    fixed[i] = base;
    dynamic[i] = base + 1;
    block.sync();
    reverse(&fixed[4..20], &block);
    reverse(&dynamic, &block);
    block.sync();
    let middle = &dynamic[8..24];
    reverse(middle, &block);
    let (first, second) = fixed.split_at(16);
    if i < 16 {
        second[i] += first[15 - i];
    }
    block.sync();
    if i < 16 {
        first.atomic(0).fetch_add(1, Relaxed);
    }
    block.sync();
    reverse(&fixed, &block);
    cluster.sync();

    let peer = 1 - cluster.block_rank();
    let remote = cluster.map_shared_rank(&fixed, peer);
    let part = cluster.map_shared_rank(middle, peer);
    let piece = cluster.map_shared_rank(&fixed[8..12], peer);
    let tile = &remote[4..];
    let k = cluster.thread_rank() * 4;
    out[k] = read_remote(&remote[i..], 0);
    out[k + 1] = part[i / 2] + part.len() as u32 + cluster.query_shared_rank(part);
    out[k + 2] = read_remote(piece, i % 4) + read_remote(remote, i);
    out[k + 3] = tile[i % 28] + tile.chunks(5)[1][i % 5];
    cluster.sync();
    if i == 0 {
        tile.atomic(0).fetch_add(7, Relaxed);
    }
    cluster.sync();
    out[256 + cluster.thread_rank()] = fixed[i];
}

fn shared_parts_are_slices(device: &Device) -> Outcome {
    let got = {
        let mut buffer = device.zeros(256 + 64)?;
        shared_parts(&mut buffer).grid(2).shared_bytes(32 * 4).launch(device)?;
        buffer.read()?
    };
    let state = |block: u32| {
        let mut fixed: Vec<u32> = (0..32).map(|i| (block * 32 + i) * 10).collect();
        let mut dynamic: Vec<u32> = (0..32).map(|i| (block * 32 + i) * 10 + 1).collect();
        fixed[4..20].reverse();
        dynamic.reverse();
        dynamic[8..24].reverse();
        let (first, second) = fixed.split_at_mut(16);
        for i in 0..16 {
            second[i] += first[15 - i];
        }
        first[0] += 16;
        fixed.reverse();
        (fixed, dynamic)
    };
    let mut want = vec![0; 256 + 64];
    for block in 0..2 {
        let (mut own, _) = state(block);
        let (fixed, dynamic) = state(1 - block);
        for i in 0..32 {
            let k = (block as usize * 32 + i) * 4;
            want[k] = fixed[i] + (32 - i as u32);
            want[k + 1] = dynamic[8 + i / 2] + 16 + (1 - block);
            want[k + 2] = fixed[8 + i % 4] + 4 + fixed[i] + 32;
            want[k + 3] = fixed[4 + i % 28] + fixed[4 + 5 + i % 5];
        }
        own[4] += 7;
        want[256 + block as usize * 32..][..32].copy_from_slice(&own);
    }
    same(&got, &want, |i| format!("number {i}"))
}

/// Uses arrays of arrays in shared memory: elements, rows, planes, atomics, and what other threads wrote of one row.
#[cluster_kernel(block = (8, 4))]
fn shared_grids(out: &mut [u32], rows: &mut [[u32; 8]]) {
    let block = this_thread_block();
    let tile = shared_array::<[u32; 9], 4>();
    let volume = shared_array::<[[u32; 8]; 4], 2>();
    let bins = shared_array::<[u64; 2], 3>();
    let x = block.thread_index().x;
    let y = block.thread_index().y;
    tile[y][x] = y * 100 + x;
    volume[0][y][x] = tile[y][x] * 2;
    volume[1][y][x] = 7;
    volume[1][y][x] += volume[0][y][x];
    if y == 0 && x < 6 {
        bins[x / 2][x % 2] = 10;
    }
    block.sync();
    bins[y % 3].atomic(x % 2).fetch_add(1, Relaxed);
    let row = &tile[y];
    let plane = &volume[1];
    let line = &volume[0][y];
    let k = (y * 8 + x) * 4;
    out[k] = row[7 - x] + row.len() as u32;
    out[k + 1] = plane[3 - y][x] + plane.len() as u32;
    out[k + 2] = sum_shared(line) + volume[1][3 - y][7 - x];
    out[k + 3] = tile[y].len() as u32 + sum_shared(&tile[3 - y][2..5]);
    rows[y][x] = volume[1][y][x];
    rows[y][x] += x;
    rows[y].atomic(x).fetch_sub(3, Relaxed);
    block.sync();
    if y == 0 && x < 6 {
        out[128 + x] = bins[x / 2][x % 2] as u32;
    }
}

#[device]
fn sum_shared(values: &SharedSlice<u32>) -> u32 {
    let mut total = 0;
    for i in 0..values.len() {
        total += values[i];
    }
    total
}

fn grids_of_shared_memory(device: &Device) -> Outcome {
    let (mut out, mut rows) = (device.zeros(134)?, device.upload(&[[0u32; 8]; 4])?);
    shared_grids(&mut out, &mut rows).grid(1).launch(device)?;
    let tile = |y: u32, x: u32| y * 100 + x;
    let mut want = vec![0; 134];
    let mut want_rows = [[0u32; 8]; 4];
    for y in 0..4 {
        for x in 0..8 {
            let k = (y * 8 + x) as usize * 4;
            want[k] = tile(y, 7 - x) + 9;
            want[k + 1] = tile(3 - y, x) * 2 + 7 + 4;
            want[k + 2] = (0..8).map(|x| tile(y, x) * 2).sum::<u32>() + tile(3 - y, 7 - x) * 2 + 7;
            want[k + 3] = 9 + (2..5).map(|x| tile(3 - y, x)).sum::<u32>();
            want_rows[y as usize][x as usize] = tile(y, x) * 2 + 7 + x - 3;
        }
    }
    // Rows 0 and 3 count in the same bins.
    want[128..].copy_from_slice(&[18, 18, 14, 14, 14, 14]);
    same(&out.read()?, &want, |i| format!("number {i}"))?;
    same(&rows.read()?.concat(), &want_rows.concat(), |i| format!("row element {i}"))
}

/// Three arrays of different types in the block's dynamic shared memory.
#[cluster_kernel(cluster = 2, block = 64)]
fn several_dynamic(out: &mut [f64]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let doubles = dynamic_shared_slice::<f64>(0, 64);
    let words = dynamic_shared_slice::<u32>(512, 64u32);
    let flags = dynamic_shared_slice::<bool>(512 + 256, 64);
    doubles[i] = i as f64 * 0.5;
    words[i] = i * 3;
    flags[i] = i % 3 == 0;
    cluster.sync();
    let peer = cluster.map_shared_rank(words, 1 - cluster.block_rank());
    let j = 63 - i;
    out[cluster.thread_rank()] = if flags[j] { doubles[j] } else { peer[j] as f64 };
    cluster.sync();
}

fn several_arrays_in_one(device: &Device) -> Outcome {
    let mut out = device.zeros(128)?;
    several_dynamic(&mut out).grid(2).shared_bytes(512 + 256 + 64).launch(device)?;
    let want: Vec<f64> = (0..128)
        .map(|i| {
            let j = 63 - i % 64;
            if j % 3 == 0 { j as f64 * 0.5 } else { j as f64 * 3.0 }
        })
        .collect();
    same(&out.read()?, &want, |i| format!("thread {i}"))
}

#[device]
fn next(counter: &mut usize) -> usize {
    *counter += 1;
    *counter
}

#[device]
fn weigh(a: &[u32], b: &[u32], c: usize) -> u32 {
    a[0] + 100 * b[0] + 10_000 * c as u32
}

/// The ends of parts are evaluated from left to right, before what follows.
#[cluster_kernel(block = 1)]
fn ordered(a: &[u32], out: &mut [u32]) {
    let mut n = 0;
    out[0] = weigh(&a[next(&mut n)..], &a[next(&mut n)..next(&mut n)], next(&mut n));
    out[1] = n as u32;
    let tile = shared_array::<[u32; 8], 8>();
    n = 0;
    tile[next(&mut n)][next(&mut n)] = next(&mut n) as u32;
    out[2] = tile[2][3];
    out[3] = a[next(&mut n)..][next(&mut n)];
    tile[next(&mut n)][1] = 2;
    let m = n;
    tile[m][1] += next(&mut n) as u32;
    out[4] = tile[6][1];
    tile[n].store_vec(0, Vector::new([next(&mut n) as u32, next(&mut n) as u32]));
    out[5] = tile[7][0] + 10 * tile[7][1];
}

fn parts_in_order(device: &Device) -> Outcome {
    let a: Vec<u32> = (0..20).collect();
    let input = device.upload(&a)?;
    let got = read!(device, 6, |out| ordered(&input, out).grid(1));
    let mut n = 0;
    let mut next = || {
        n += 1;
        n
    };
    let mut want = vec![1 + 100 * 2 + 10_000 * 4, 4];
    // The value is evaluated before the place.
    let (value, y, x) = (next(), next(), next());
    assert_eq!((value, y, x), (1, 2, 3));
    want.push(1);
    want.push(a[4 + 5]);
    want.push(2 + 7);
    want.push(8 + 10 * 9);
    same(&got, &want, |i| format!("number {i}"))
}

#[cluster_kernel(block = 32)]
fn failing(a: &[u32], out: &mut [u32], which: u32, lo: i32, hi: u32) {
    let i = this_thread_block().thread_rank();
    let array = shared_array::<[u32; 3], 4>();
    if i == 5 {
        if which == 0 {
            out[0] = sum(/* range */ &a[lo..hi]);
        } else if which == 1 {
            let part = /* inclusive */ &mut out[1..=hi];
            part[0] = 1;
        } else if which == 2 {
            let part = /* from */ &array[hi..];
            part[0][0] = 1;
        } else if which == 3 {
            let tile = /* chunk */ &a.chunks(hi)[lo];
            out[0] = tile[0];
        } else if which == 4 {
            let (left, right) = /* split */ a.split_at(hi);
            out[0] = left[0] + right[0];
        } else if which == 5 {
            let row = /* row */ &array[lo];
            row[0] = 1;
        } else if which == 6 {
            /* inner */
            array[1][hi] = 4;
        } else if which == 7 {
            array[0][1] = 4;
            out[0] = /* outer */ array[hi][1];
        } else if which == 8 {
            let bytes = /* misaligned */ dynamic_shared_slice::<u32>(hi, 2);
            bytes[0] = 1;
        } else if which == 9 {
            let bytes = /* too_large */ dynamic_shared_slice::<u32>(lo, hi);
            bytes[0] = 1;
        } else if which == 10 {
            out[0] = a[2..6]/* in_part */ [hi];
        }
    }
}

fn bounds_of_parts(device: &Device) -> Outcome {
    let input = device.upload(&Vec::from_iter(0..10u32))?;
    let cases: [(u32, i32, u32, &str, &str); 16] = [
        (0, 3, 11, "range", "range 3..11 out of bounds for length 10"),
        (0, 4, 3, "range", "range 4..3 out of bounds for length 10"),
        (0, -1, 3, "range", "range -1..3 out of bounds for length 10"),
        (1, 0, 12, "inclusive", "range 1..=12 out of bounds for length 12"),
        (2, 0, 5, "from", "range 5..4 out of bounds for length 4"),
        (3, 4, 3, "chunk", "index 4 out of bounds for length 4"),
        (3, 0, 0, "chunk", "chunk size must be non-zero"),
        (3, -2, 3, "chunk", "index -2 out of bounds for length 4"),
        (4, 0, 11, "split", "range 0..11 out of bounds for length 10"),
        (5, 4, 0, "row", "index 4 out of bounds for length 4"),
        (6, 0, 3, "inner", "index 3 out of bounds for length 3"),
        (7, 0, 4, "outer", "index 4 out of bounds for length 4"),
        (8, 0, 6, "misaligned", "a type of alignment 4 cannot start at byte 6 of dynamic shared memory"),
        (9, 8, 99, "too_large", "99 elements of 4 bytes from byte 8 exceed the 64 bytes of dynamic shared memory"),
        (9, -4, 1, "too_large", "1 elements of 4 bytes from byte -4 exceed the 64 bytes of dynamic shared memory"),
        (10, 0, 4, "in_part", "index 4 out of bounds for length 4"),
    ];
    for (which, lo, hi, name, cause) in cases {
        let mut out = device.zeros(12)?;
        let result = failing(&input, &mut out, which, lo, hi).grid(1).shared_bytes(64).launch(device);
        // The site of an element is that of the whole `a[i]`, whose start stands before the comment.
        let mut place = find(file!(), SOURCE, name);
        if name == "in_part" {
            place.column -= "a[2..6]/* in_part */ ".len() as u32;
        }
        fails(result, cause, &place, (0, 0, 0), (5, 0, 0))?;
    }
    Ok(())
}

/// Takes slices that may be missing.
#[cluster_kernel(block = 32)]
fn optional(input: &[f32], bias: Option<&[f32]>, trace: Option<&mut [u32]>, out: &mut [f32]) {
    let i = this_grid().thread_rank();
    let mut x = input[i];
    if let Some(bias) = bias {
        x += bias[i % bias.len()];
        x += weight(&bias[..2]);
    }
    for round in 0..2 {
        if let Some(trace) = trace {
            trace[i] += x as u32 + round;
            trace.atomic(32).fetch_add(1, Relaxed);
        } else {
            x += 0.5;
        }
    }
    let factor = match bias {
        Some(values) => values[0],
        None => -1.0,
    };
    out[i] = x * factor + bias.is_some() as u32 as f32 * 100.0 + trace.is_none() as u32 as f32 * 1000.0;
}

#[device]
fn weight(values: &[f32]) -> f32 {
    values[0] * 2.0 + values[1]
}

fn slices_that_may_be_missing(device: &Device) -> Outcome {
    let values: Vec<f32> = (0..32).map(|i| i as f32).collect();
    let input = device.upload(&values)?;
    let table = [3.0f32, 5.0, 7.0];
    let bias = device.upload(&table)?;
    for (with_bias, with_trace) in [(false, false), (true, false), (false, true), (true, true)] {
        let (mut out, mut trace) = (device.zeros(32)?, device.zeros(33)?);
        let bias = with_bias.then_some(&bias);
        optional(&input, bias, with_trace.then_some(&mut trace), &mut out).grid(1).launch(device)?;
        let flag = |flag: bool, value: f32| if flag { value } else { 0.0 };
        let sums: Vec<f32> = (0..32).map(|i| values[i] + flag(with_bias, table[i % 3] + 11.0)).collect();
        let want: Vec<f32> = sums
            .iter()
            .map(|sum| {
                (sum + flag(!with_trace, 1.0)) * if with_bias { 3.0 } else { -1.0 }
                    + flag(with_bias, 100.0)
                    + flag(!with_trace, 1000.0)
            })
            .collect();
        same(&out.read()?, &want, |i| format!("thread {i}, bias {with_bias}, trace {with_trace}"))?;
        let mut traced: Vec<u32> = sums.iter().map(|&sum| if with_trace { sum as u32 * 2 + 1 } else { 0 }).collect();
        traced.push(if with_trace { 64 } else { 0 });
        same(&trace.read()?, &traced, |i| format!("trace {i}"))?;
    }
    Ok(())
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    let checks = check_list![
        parts_are_rust_s,
        shared_parts_are_slices,
        grids_of_shared_memory,
        several_arrays_in_one,
        parts_in_order,
        bounds_of_parts,
        slices_that_may_be_missing,
    ];
    let kernels = kernel_list![parts, shared_parts, shared_grids, several_dynamic, ordered, failing, optional];
    vec![Module { name: "memory", checks, kernels }]
}
