//! Accesses that the host checks before a launch (`launch_checks`), whose indexes come from fields of structs, floats and the calls of closures, and
//! whose memory takes turns. A comment with the kernel's name stands before each expression that fails.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, fails, failure, find, kernel_list};

const SOURCE: &str = include_str!("launch_values.rs");

#[repr(C)]
#[derive(Clone, Copy, DeviceCopy)]
struct Extent {
    width: u32,
    height: u32,
}

#[repr(C)]
#[derive(Clone, Copy, DeviceCopy)]
struct Frame {
    shift: f64,
    scale: f32,
    _rows: u32,
    from: Extent,
}

#[device]
fn mixed(values: (f32, f32), t: f32) -> f32 {
    (values.1 - values.0).mul_add(t, values.0)
}

/// The part of a cell in which a coordinate lies, and where in it.
#[device]
fn cell(x: f32, extent: u32) -> (usize, f32) {
    let x = x.clamp(0.0, (extent - 1) as f32);
    let whole = x.floor().min((extent - 2) as f32);
    (whole as usize, x - whole)
}

#[device]
fn columns(frame: &Frame) -> usize {
    frame.from.width as usize
}

/// An image at other places: each pixel is between four.
#[cluster_kernel(block = (8, 4))]
fn sampled(image: &[f32], out: &mut [f32], frame: Frame, width: usize) {
    let (block, at) = (this_grid().block_index(), this_thread_block().thread_index());
    let (x, y) = (block.x * 8 + at.x, block.y * 4 + at.y);
    let place = y as usize * width + x as usize;
    if (x as usize) < width && place < out.len() {
        let shift = frame.shift as f32;
        let ((column, s), (row, t)) = (
            cell((x as f32 + 0.5) * frame.scale + shift, frame.from.width),
            cell((y as f32 + 0.5).mul_add(frame.scale, shift), frame.from.height),
        );
        let pixel = |x: usize, y: usize| /* sampled */ image[y * columns(&frame) + x];
        let along = |y: usize| mixed((pixel(column, y), pixel(column + 1, y)), s);
        out[place] = mixed((along(row), along(row + 1)), t);
    }
}

/// What a table has for numbers, which need not be any.
#[cluster_kernel(block = 32)]
fn looked_up(table: &[u32], numbers: &[f32], out: &mut [u32], low: f32, step: f32) {
    let i = this_grid().thread_rank();
    if i >= out.len() {
        return;
    }
    let last = (table.len() - 1) as f32;
    let number = numbers[i];
    let bin = ((number - low) / step).trunc();
    out[i] = table[bin.max(0.0).min(last) as usize];
    if !(number < 0.0 || number >= 8.0) {
        out[i] += 1000 * /* looked_up */ table[number as usize];
    }
}

#[device]
fn sum_of_two(of: impl Fn(usize) -> u32, i: usize, n: usize) -> u32 {
    of(i % n) + of((i + 1) % n)
}

/// Sums of neighbours, by a closure that a function calls.
#[cluster_kernel(block = 32)]
fn neighbours(x: &[u32], out: &mut [u32], n: usize) {
    let i = this_thread_block().thread_rank() as usize;
    let squared = |k: usize| x[k] * x[k];
    out[i] = sum_of_two(|k| /* neighbours */ x[k], i, n) + 1000 * sum_of_two(&squared, i, x.len());
}

/// Rounds of a smoothing in place, for which two buffers take turns: by their names, and by the round.
#[cluster_kernel(block = 64)]
fn rounds(x: &[u32], y: &[u32], out: &mut [u32], count: usize) {
    let block = this_thread_block();
    let (one, other) = (shared_array::<u32, 64>(), shared_array::<u32, 64>());
    let (first, second) = (&one, &other);
    let i = block.thread_rank() as usize;
    let input = if count == 3 { y } else { x };
    first[i] = input[i];
    block.sync();
    let (mut from, mut to) = (first, second);
    for _ in 0..count {
        to[i] = from[i] + from[(i + 1) % 64];
        block.sync();
        std::mem::swap(&mut from, &mut to);
    }
    for round in 0..count {
        let (own, other) = if (round + count) % 2 == 0 { (first, second) } else { (second, first) };
        other[i] = own[i] + own[63 - i];
        block.sync();
    }
    let last = if count % 2 == 0 { first } else { second };
    /* rounds */
    out[i] = if count == 0 { first[i] } else { last[i] };
}

/// Two arrays that get other names, which change: the arrays keep what is in them.
#[cluster_kernel(block = 64)]
fn renamed(out: &mut [[u32; 3]], swap: u32) {
    let (one, other) = (shared_array::<u32, 64>(), shared_array::<u32, 64>());
    let block = this_thread_block();
    let i = block.thread_rank() as usize;
    one[i] = i as u32;
    other[i] = 100 + i as u32;
    block.sync();
    let (mut first, mut second) = (one, other);
    if swap % 2 == 1 {
        std::mem::swap(&mut first, &mut second);
    }
    first[i] += 1000;
    let mut third = second;
    if swap > 1 {
        third = first;
    }
    block.sync();
    out[i] = [first[63 - i], second[63 - i], third[63 - i]];
}

/// The neighbours of a cell in a plane, as steps.
const NEIGHBOURS: [(i32, i32); 4] = [(1, 0), (0, 1), (-1, 0), (0, -1)];
const STRIDES: [[u8; 2]; 3] = [[1, 2], [3, 4], [5, 6]];

/// What tables, bytes from memory, the arms of an `if` and of a `match`, and both halves of memory have.
#[cluster_kernel(block = 32)]
fn from_tables(plane: &[u32], bytes: &[u8], table: &[u32], out: &mut [u32], half: usize) {
    let i = this_thread_block().thread_rank() as usize;
    let (x, y) = (1 + i as i32 % 6, 1 + i as i32 / 6);
    let mut sum = 0;
    for (dx, dy) in NEIGHBOURS {
        sum += plane[((y + dy) * 8 + x + dx) as usize];
    }
    let byte = bytes[i];
    sum += /* from_tables */ table[byte as usize];
    sum += 100 * table[(plane[i] >> 28) as usize];
    let [least, most] = STRIDES[i % 3];
    let (near, far) = if byte > 99 { (least, most as usize) } else { (most, 0) };
    let (low, high) = table.split_at(half);
    let place = match byte % 4 {
        0 => 1,
        1 => near as usize,
        2 => {
            let twice = 2 * far;
            twice + 1
        }
        _ => return,
    };
    out[i] = sum + 1000 * low[place] + 7 * high[near as usize];
}

/// Weighted sums of 3 by 3 numbers, whose rows and columns are in arrays of the thread's own.
#[cluster_kernel(block = 32)]
fn crossed(x: &[u32], out: &mut [u32], width: usize, height: usize) {
    let i = this_grid().thread_rank();
    if i >= width * height {
        return;
    }
    let (row, column) = (i / width, i % width);
    let columns = [column.saturating_sub(1), column, (column + 1).min(width - 1)];
    let rows = [row.saturating_sub(1), row, (row + 1).min(height - 1)];
    let mut sum = 0;
    for k in 0..9 {
        sum += (k as u32 + 1) * /* crossed */ x[rows[k / 3] * width + columns[k % 3]];
    }
    out[i] = sum;
}

fn numbers(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| i * i % 89 + i).collect()
}

fn structs_and_coordinates(device: &Device) -> Outcome {
    let (columns, rows, width, height) = (19usize, 7usize, 21usize, 10usize);
    let pixels: Vec<f32> = numbers(columns * rows).into_iter().map(|number| number as f32).collect();
    let image = device.upload(&pixels)?;
    let mut out = device.zeros::<f32>(width * height)?;
    let from = Extent { width: columns as u32, height: rows as u32 };
    for (scale, shift) in [(0.7, -0.5), (9.0, -20.25), (f32::NAN, 0.0), (f32::INFINITY, 1.5)] {
        sampled(&image, &mut out, Frame { shift, scale, _rows: 0, from }, width).grid((3, 3)).launch(device)?;
        let cell = |x: f32, extent: usize| {
            let x = x.clamp(0.0, (extent - 1) as f32);
            let whole = x.floor().min((extent - 2) as f32);
            (whole as usize, x - whole)
        };
        let of = |i: usize| {
            let (column, s) = cell(((i % width) as f32 + 0.5) * scale + shift as f32, columns);
            let (row, t) = cell(((i / width) as f32 + 0.5).mul_add(scale, shift as f32), rows);
            let along = |row: usize| {
                let at = row * columns + column;
                (pixels[at + 1] - pixels[at]).mul_add(s, pixels[at])
            };
            (along(row + 1) - along(row)).mul_add(t, along(row)).to_bits()
        };
        let found: Vec<u32> = out.read()?.into_iter().map(f32::to_bits).collect();
        let want: Vec<u32> = (0..width * height).map(of).collect();
        let is_nan = |bits: &u32| f32::from_bits(*bits).is_nan();
        let same = found.iter().zip(&want).all(|(one, other)| one == other || is_nan(one) && is_nan(other));
        if !same {
            equal(&found, &want)?;
        }
    }
    // Only what lies at the end is missing.
    let short = device.upload(&pixels[..columns * rows - 1])?;
    sampled(&short, &mut out, Frame { shift: -0.5, scale: 0.2, _rows: 0, from }, width).grid((3, 3)).launch(device)?;
    let failed =
        sampled(&short, &mut out, Frame { shift: -0.5, scale: 9.0, _rows: 0, from }, width).grid((3, 3)).launch(device);
    let failed = failure(failed)?;
    match failed.location == Some(find(file!(), SOURCE, "sampled")) {
        true => Ok(()),
        false => Err(failed.to_string().into()),
    }
}

fn floats_from_memory(device: &Device) -> Outcome {
    let table = numbers(12);
    let values: Vec<f32> = (0..64).map(|i| if i % 9 == 0 { f32::NAN } else { i as f32 * 0.37 - 4.0 }).collect();
    let (entries, input) = (device.upload(&table)?, device.upload(&values)?);
    let mut out = device.zeros::<u32>(64)?;
    looked_up(&entries, &input, &mut out, -1.0, 0.75).grid(2).launch(device)?;
    let of = |&number: &f32| {
        let bin = table[((number + 1.0) / 0.75).trunc().clamp(0.0, 11.0) as usize];
        let far = if !(number < 0.0 || number >= 8.0) { table[number as usize] } else { 0 };
        bin + 1000 * far
    };
    equal(&out.read()?, &values.iter().map(of).collect::<Vec<u32>>())?;
    let short = device.upload(&table[..7])?;
    let failed = failure(looked_up(&short, &input, &mut out, -1.0, 0.75).grid(2).launch(device))?;
    match failed.cause.to_string().as_str() {
        "index 7 out of bounds for length 7" => Ok(()),
        _ => Err(failed.to_string().into()),
    }
}

fn closures_of_functions(device: &Device) -> Outcome {
    let x = numbers(40);
    let (input, mut out) = (device.upload(&x)?, device.zeros::<u32>(32)?);
    let of = |i: usize, n: usize| {
        let squares = x[i % 40] * x[i % 40] + x[(i + 1) % 40] * x[(i + 1) % 40];
        x[i % n] + x[(i + 1) % n] + 1000 * squares
    };
    for n in [5, 40, 1000] {
        neighbours(&input, &mut out, n).grid(1).launch(device)?;
        equal(&out.read()?, &(0..32).map(|i| of(i, n)).collect::<Vec<u32>>())?;
    }
    let short = device.upload(&x[..20])?;
    let failed = neighbours(&short, &mut out, 21).grid(1).launch(device);
    let at = find(file!(), SOURCE, "neighbours");
    let failed = failure(failed)?;
    match failed.location == Some(at) && failed.cause.to_string() == "index 20 out of bounds for length 20" {
        true => Ok(()),
        false => Err(failed.to_string().into()),
    }
}

fn memory_that_takes_turns(device: &Device) -> Outcome {
    let x = numbers(64);
    let y: Vec<u32> = x.iter().map(|number| number ^ 5).collect();
    let (first, second, mut out) = (device.upload(&x)?, device.upload(&y)?, device.zeros::<u32>(64)?);
    for count in [0, 1, 2, 3, 5] {
        let x = if count == 3 { &y } else { &x };
        rounds(&first, &second, &mut out, count).grid(1).launch(device)?;
        let mut want = x.clone();
        (0..count).for_each(|_| want = (0..64).map(|i| want[i] + want[(i + 1) % 64]).collect());
        let ends_in_first = count % 2 == 0;
        let (mut first, mut second) = (want.clone(), want);
        if count > 0 {
            // The buffer that the last round did not write has the round before.
            let before = (1..count).fold(x.clone(), |now, _| (0..64).map(|i| now[i] + now[(i + 1) % 64]).collect());
            if ends_in_first { second = before } else { first = before }
        }
        for round in 0..count {
            let (own, other) = if (round + count) % 2 == 0 { (&first, &mut second) } else { (&second, &mut first) };
            *other = (0..64).map(|i| own[i] + own[63 - i]).collect();
        }
        let last = if count == 0 || count % 2 == 0 { first } else { second };
        equal(&out.read()?, &last)?;
    }
    let mut short = device.zeros::<u32>(63)?;
    let failed = rounds(&first, &second, &mut short, 1).grid(1).launch(device);
    fails(failed, "index 63 out of bounds for length 63", &find(file!(), SOURCE, "rounds"), (0, 0, 0), (63, 0, 0))
}

fn tables_and_arms(device: &Device) -> Outcome {
    let (plane, table) = (numbers(64), numbers(256));
    let bytes: Vec<u8> = (0..32).map(|i| (i * 37 % 256) as u8).collect();
    let of = |i: usize, half: usize| {
        let (x, y) = (1 + i as i32 % 6, 1 + i as i32 / 6);
        let near: u32 = NEIGHBOURS.iter().map(|(dx, dy)| plane[((y + dy) * 8 + x + dx) as usize]).sum();
        let [least, most] = STRIDES[i % 3];
        let (near_step, far) = if bytes[i] > 99 { (least, most) } else { (most, 0) };
        let place = [1, usize::from(near_step), 2 * usize::from(far) + 1, 256][usize::from(bytes[i] % 4)];
        let sum = near + table[usize::from(bytes[i])] + 100 * table[0];
        if place == 256 { 0 } else { sum + 1000 * table[place] + 7 * table[half + usize::from(near_step)] }
    };
    let (cells, codes, entries) = (device.upload(&plane)?, device.upload(&bytes)?, device.upload(&table)?);
    for half in [128, 14] {
        let mut out = device.zeros::<u32>(32)?;
        from_tables(&cells, &codes, &entries, &mut out, half).grid(1).launch(device)?;
        equal(&out.read()?, &(0..32).map(|i| of(i, half)).collect::<Vec<u32>>())?;
    }
    let short = device.upload(&table[..250])?;
    let mut out = device.zeros::<u32>(32)?;
    from_tables(&cells, &codes, &short, &mut out, 128).grid(1).launch(device)?;
    let short = device.upload(&table[..231])?;
    let failed = from_tables(&cells, &codes, &short, &mut out, 128).grid(1).launch(device);
    let at = find(file!(), SOURCE, "from_tables");
    let failed = failure(failed)?;
    match failed.location == Some(at) && failed.cause.to_string().ends_with("out of bounds for length 231") {
        true => Ok(()),
        false => Err(failed.to_string().into()),
    }
}

fn other_names(device: &Device) -> Outcome {
    for swap in 0..4 {
        let mut out = device.upload(&[[0; 3]; 64])?;
        renamed(&mut out, swap).grid(1).launch(device)?;
        let of = |i: u32| {
            let (low, high) = (63 - i, 163 - i);
            let (first, second) = if swap % 2 == 1 { (high + 1000, low) } else { (low + 1000, high) };
            [first, second, if swap > 1 { first } else { second }]
        };
        equal(&out.read()?, &(0..64).map(of).collect::<Vec<_>>())?;
    }
    Ok(())
}

fn own_arrays(device: &Device) -> Outcome {
    let (width, height) = (7, 5);
    let x = numbers(35);
    let (input, mut out) = (device.upload(&x)?, device.zeros::<u32>(35)?);
    crossed(&input, &mut out, width, height).grid(2).launch(device)?;
    let of = |i: usize| {
        let near = |at: usize, k: usize, length: usize| (at + k).saturating_sub(1).min(length - 1);
        let number = |k: usize| x[near(i / width, k / 3, height) * width + near(i % width, k % 3, width)];
        (0..9).fold(0u32, |sum, k| sum.wrapping_add(number(k).wrapping_mul(k as u32 + 1)))
    };
    equal(&out.read()?, &(0..35).map(of).collect::<Vec<u32>>())?;
    let short = device.upload(&x[..34])?;
    let failed = failure(crossed(&short, &mut out, width, height).grid(2).launch(device))?;
    match failed.location == Some(find(file!(), SOURCE, "crossed")) {
        true => Ok(()),
        false => Err(failed.to_string().into()),
    }
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "launch_values",
        checks: check_list![
            structs_and_coordinates,
            floats_from_memory,
            closures_of_functions,
            memory_that_takes_turns,
            tables_and_arms,
            other_names,
            own_arrays
        ],
        kernels: kernel_list![sampled, looked_up, neighbours, rounds, renamed, from_tables, crossed],
    }]
}
