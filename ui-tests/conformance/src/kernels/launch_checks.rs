//! Accesses that the host checks before a launch: in launches where all of them hold, where they do not although every access is within bounds,
//! and where one is not. A comment with the kernel's name stands before each expression that fails.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, fails, failure, find, kernel_list};

const SOURCE: &str = include_str!("launch_checks.rs");

#[device]
fn pixel(image: &[u32], width: usize, height: usize, x: i32, y: i32) -> u32 {
    let (x, y) = (x.clamp(0, width as i32 - 1) as usize, y.clamp(0, height as i32 - 1) as usize);
    /* smoothed */
    image[y * width + x]
}

/// The sum of nine pixels, each of which is the nearest one within the image.
#[cluster_kernel(block = (8, 4))]
fn smoothed(image: &[u32], out: &mut [u32], width: usize, height: usize) {
    let (block, at) = (this_grid().block_index(), this_thread_block().thread_index());
    let (x, y) = ((block.x * 8 + at.x) as i32, (block.y * 4 + at.y) as i32);
    if (x as usize) < width && (y as usize) < height {
        let mut sum = 0;
        for dy in -1..=1 {
            for dx in -1..=1 {
                sum += pixel(image, width, height, x + dx, y + dy);
            }
        }
        out[y as usize * width + x as usize] = sum;
    }
}

#[device]
fn dot(row: &[u32], vector: &[u32]) -> u32 {
    let mut sum = 0;
    for i in 0..row.len() {
        sum += row[i] * vector[i];
    }
    sum
}

/// A matrix times a vector, and the first element of each row.
#[cluster_kernel(block = 32)]
fn product(matrix: &[u32], vector: &[u32], out: &mut [u32], first: &mut [u32], columns: usize) {
    let row = this_grid().thread_rank();
    if row >= out.len() {
        return;
    }
    let of_row = /* product */ &matrix[row * columns..(row + 1) * columns];
    out[row] = dot(of_row, vector);
    first[row] = of_row[0] + matrix[row * columns..][..columns][columns - 1];
}

/// What each thread of a grid takes in turn, by a counter and by a closure; the closure rounds down to a multiple of four.
#[cluster_kernel(block = 32)]
fn strided(x: &[u32], out: &mut [u32], n: usize) {
    let rounded = |k: usize| x[k - k % 4];
    let mut i = this_grid().thread_rank();
    while i < n {
        out[i] = /* strided */ x[i] + 100 * rounded(i);
        i += this_grid().num_threads();
    }
}

/// Elements of a table that numbers of eight bits name, which wrap, and numbers that may be negative.
#[cluster_kernel(block = 32)]
fn wrapped(table: &[u32], out: &mut [u32], start: u8, shift: i32) {
    let rank = this_thread_block().thread_rank();
    let place = start + rank as u8;
    let behind = rank as i32 + shift;
    let far = if behind >= 0 {
        /* wrapped */
        table[behind as usize]
    } else {
        7
    };
    out[rank] = table[place as usize] + 1000 * far;
}

/// The rows of a tile, turned, by the ranks of warps and lanes and a row of each thread.
#[cluster_kernel(block = 64)]
fn turned(rows: &[[u32; 32]], out: &mut [[u32; 32]]) {
    let tile = shared_array::<[u32; 32], 2>();
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let (row, lane) = (warp.meta_group_rank() as usize, warp.thread_rank() as usize);
    let first = this_grid().block_rank() * 2;
    tile[row][lane] = rows[first + row][lane];
    block.sync();
    out[first + row][lane] = /* turned */ tile[1 - row][31 - lane];
}

#[device]
fn next(k: usize, n: usize) -> usize {
    (3 * k + 1) % n
}

/// The sum of the elements on a way through a table, whose places a function finds from the ones before.
#[cluster_kernel(block = 32)]
fn walked(x: &[u32], out: &mut [u32], n: usize) {
    let rank = this_thread_block().thread_rank() as usize;
    let (mut k, mut sum) = (rank % n, 0);
    for _ in 0..6 {
        sum = 2 * sum + /* walked */ x[k];
        k = next(k, n);
    }
    out[rank] = sum;
}

fn numbers(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| i * i % 89 + i).collect()
}

fn pixels_of_functions(device: &Device) -> Outcome {
    let (width, height) = (21usize, 10usize);
    let pixels = numbers(width * height);
    let image = device.upload(&pixels)?;
    let mut out = device.zeros::<u32>(width * height)?;
    smoothed(&image, &mut out, width, height).grid((3, 3)).launch(device)?;
    let of = |x: usize, y: usize| {
        let near = |at: usize, d: usize, most: usize| (at + d).saturating_sub(1).min(most);
        (0..9).map(|k| pixels[near(y, k / 3, height - 1) * width + near(x, k % 3, width - 1)]).sum()
    };
    equal(&out.read()?, &(0..width * height).map(|i| of(i % width, i / width)).collect::<Vec<u32>>())?;
    // The last row is missing, which only the threads above need.
    let image = device.upload(&pixels[..width * (height - 1)])?;
    smoothed(&image, &mut out, width, height).grid((3, 2)).launch(device)?;
    equal(&out.read()?[..width * 7], &(0..width * 7).map(|i| of(i % width, i / width)).collect::<Vec<u32>>())?;
    let failed = smoothed(&image, &mut out, width, height).grid((1, 3)).launch(device);
    let at = find(file!(), SOURCE, "smoothed");
    let message = failure(failed)?;
    match message.location == Some(at) && message.cause.to_string().contains("out of bounds for length 189") {
        true => Ok(()),
        false => Err(message.to_string().into()),
    }
}

fn rows_and_parts(device: &Device) -> Outcome {
    let (rows, columns) = (70usize, 9usize);
    let elements = numbers(rows * columns);
    let (matrix, vector) = (device.upload(&elements)?, device.upload(&numbers(columns))?);
    let (mut out, mut first) = (device.zeros::<u32>(rows)?, device.zeros::<u32>(rows)?);
    product(&matrix, &vector, &mut out, &mut first, columns).grid(3).launch(device)?;
    let want = elements.chunks(columns).map(|row| row.iter().zip(numbers(columns)).map(|(a, b)| a * b).sum());
    equal(&out.read()?, &want.collect::<Vec<u32>>())?;
    equal(&first.read()?, &elements.chunks(columns).map(|row| row[0] + row[columns - 1]).collect::<Vec<u32>>())?;
    let short = device.upload(&elements[..rows * columns - 1])?;
    let failed = product(&short, &vector, &mut out, &mut first, columns).grid(3).launch(device);
    let range = "range 621..630 out of bounds for length 629";
    fails(failed, range, &find(file!(), SOURCE, "product"), (2, 0, 0), (5, 0, 0))
}

fn counters(device: &Device) -> Outcome {
    let x = numbers(150);
    let (input, mut out) = (device.upload(&x)?, device.zeros::<u32>(150)?);
    strided(&input, &mut out, 150).grid(2).launch(device)?;
    equal(&out.read()?, &(0..150).map(|i| x[i] + 100 * x[i - i % 4]).collect::<Vec<u32>>())?;
    let failed = strided(&input, &mut out, 151).grid(2).launch(device);
    let at = find(file!(), SOURCE, "strided");
    fails(failed, "index 150 out of bounds for length 150", &at, (0, 0, 0), (22, 0, 0))
}

fn narrow_and_negative_numbers(device: &Device) -> Outcome {
    let x = numbers(256);
    let (table, mut out) = (device.upload(&x)?, device.zeros::<u32>(32)?);
    for (start, shift) in [(0, 0), (3, 224), (250, -5), (224, -40)] {
        wrapped(&table, &mut out, start, shift).grid(1).launch(device)?;
        let of = |rank: usize| {
            let far = usize::try_from(rank as i32 + shift).map_or(7, |behind| x[behind]);
            x[(rank + usize::from(start)) % 256] + 1000 * far
        };
        equal(&out.read()?, &(0..32).map(of).collect::<Vec<u32>>())?;
    }
    let failed = wrapped(&table, &mut out, 1, 225).grid(1).launch(device);
    let at = find(file!(), SOURCE, "wrapped");
    fails(failed, "index 256 out of bounds for length 256", &at, (0, 0, 0), (31, 0, 0))
}

fn rows_of_tiles(device: &Device) -> Outcome {
    let x: Vec<[u32; 32]> = numbers(8 * 32).as_chunks().0.to_vec();
    let (rows, mut out) = (device.upload(&x)?, device.upload(&[[0; 32]; 8])?);
    turned(&rows, &mut out).grid(4).launch(device)?;
    let mut want = x.clone();
    want.chunks_mut(2).for_each(|pair| pair.reverse());
    want.iter_mut().for_each(|row| row.reverse());
    equal(&out.read()?, &want)?;
    let mut short = device.upload(&[[0; 32]; 7])?;
    let failed = failure(turned(&rows, &mut short).grid(4).launch(device))?;
    match failed.cause.to_string().as_str() {
        "index 7 out of bounds for length 7" => Ok(()),
        _ => Err(failed.to_string().into()),
    }
}

fn results_that_are_arguments_again(device: &Device) -> Outcome {
    let x = numbers(40);
    let (input, mut out) = (device.upload(&x)?, device.zeros::<u32>(32)?);
    walked(&input, &mut out, 40).grid(1).launch(device)?;
    let of = |rank: usize| {
        let places = std::iter::successors(Some(rank), |k| Some((3 * k + 1) % 40)).take(6);
        places.fold(0, |sum, k| 2 * sum + x[k])
    };
    equal(&out.read()?, &(0..32).map(of).collect::<Vec<u32>>())?;
    let failed = failure(walked(&input, &mut out, 41).grid(1).launch(device))?;
    match failed.cause.to_string().as_str() {
        "index 40 out of bounds for length 40" => Ok(()),
        _ => Err(failed.to_string().into()),
    }
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "launch_checks",
        checks: check_list![
            pixels_of_functions,
            rows_and_parts,
            counters,
            narrow_and_negative_numbers,
            rows_of_tiles,
            results_that_are_arguments_again
        ],
        kernels: kernel_list![smoothed, product, strided, wrapped, turned, walked],
    }]
}
