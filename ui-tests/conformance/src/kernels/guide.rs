//! Small whole programs: those of the CUDA C++ Programming Guide and similar ones. The texts of these kernels are kept
//! in `golden/`, which names lines of this file: new kernels go to its end.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, kernel_list, printed, read, same, same_text};

#[device]
fn local_processing(x: i32) -> i32 {
    let mut sum = 0;
    for i in 0..8 {
        sum += x * i;
    }
    sum
}

/// The guide's example: each block publishes its shared array, does local work while the others arrive, then reads its
/// neighbour's.
#[cluster_kernel(cluster = 4, block = 256)]
fn share(input: &[i32], output: &mut [i32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let array = shared_array::<i32, 256>();
    let i = cluster.thread_rank();

    array[block.thread_rank()] = input[i];
    let token = cluster.barrier_arrive(); // does not block
    let local = local_processing(input[i]); // hides the latency
    let next = (cluster.block_rank() + 1) % cluster.num_blocks();
    let dsmem = cluster.map_shared_rank(&array, next);
    cluster.barrier_wait(token); // consumes the token

    output[i] = dsmem[block.thread_rank()] + local;
    cluster.sync(); // no block leaves while a peer reads it
}

/// Computes `y = a * x + y`, for any grid.
#[cluster_kernel(block = 128)]
fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    let grid = this_grid();
    for i in (grid.thread_rank()..x.len()).step_by(grid.num_threads()) {
        y[i] = x[i].mul_add(a, y[i]);
    }
}

/// Adds up a block by halves.
#[cluster_kernel(block = 256)]
fn block_sum(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let sums = shared_array::<u32, 256>();
    let i = block.thread_rank();
    sums[i] = input[this_grid().thread_rank()];
    block.sync();
    let mut half = block.num_threads() / 2;
    while half > 0 {
        if i < half {
            sums[i] += sums[i + half];
        }
        block.sync();
        half /= 2;
    }
    if i == 0 {
        out[this_grid().block_rank()] = sums[0];
    }
}

/// A histogram whose bins are spread over the cluster, as in the guide.
#[cluster_kernel(cluster = 4, block = 128)]
fn histogram(input: &[u32], bins: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let own = dynamic_shared::<u32>();
    let width = own.len() as u32;
    for bin in (block.thread_rank()..width).step_by(128) {
        own[bin] = 0;
    }
    cluster.sync();
    let grid = this_grid();
    for i in (grid.thread_rank()..input.len()).step_by(grid.num_threads()) {
        let bin = input[i] % (width * cluster.num_blocks());
        cluster.map_shared_rank(&own, bin / width).atomic(bin % width).fetch_add(1, Relaxed);
    }
    cluster.sync();
    for bin in (block.thread_rank()..width).step_by(128) {
        bins.atomic(cluster.block_rank() * width + bin).fetch_add(own[bin], Relaxed);
    }
}

/// A transposed matrix, by tiles of shared memory.
#[cluster_kernel(block = (16, 16))]
fn transpose(input: &[f64], output: &mut [f64], width: u32, height: u32) {
    let block = this_thread_block();
    let tile = shared_array::<f64, 272>();
    let thread = block.thread_index();
    let corner = block.group_index();
    let x = corner.x * 16 + thread.x;
    let y = corner.y * 16 + thread.y;
    if x < width && y < height {
        tile[thread.y * 17 + thread.x] = input[y * width + x];
    }
    block.sync();
    let x = corner.y * 16 + thread.x;
    let y = corner.x * 16 + thread.y;
    if x < height && y < width {
        output[y * height + x] = tile[thread.x * 17 + thread.y];
    }
}

/// Values go round the cluster; each round's token is waited for in the next.
#[cluster_kernel(cluster = 4, block = 64)]
fn ring(out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let front = shared_array::<u32, 64>();
    let back = shared_array::<u32, 64>();
    let i = block.thread_rank();
    front[i] = cluster.thread_rank();
    let mut token = cluster.barrier_arrive();
    for round in 0..rounds {
        cluster.barrier_wait(token);
        let next = cluster.map_shared_rank(&front, (cluster.block_rank() + 1) % cluster.num_blocks());
        back[i] = next[i] + round;
        cluster.sync();
        front[i] = back[i];
        token = cluster.barrier_arrive();
    }
    cluster.barrier_wait(token);
    out[this_grid().thread_rank()] = front[i];
}

/// Arrives early if there is work to hide, and syncs if there is none.
#[cluster_kernel(cluster = 2, block = 32)]
fn split_or_whole(out: &mut [u32], split: bool) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    array[i] = cluster.thread_rank() * 3;
    let token = if split { Some(cluster.barrier_arrive()) } else { None };
    let work = i * i;
    if let Some(token) = token {
        cluster.barrier_wait(token);
    } else {
        cluster.sync();
    }
    let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    out[cluster.thread_rank()] = peer[i] + work;
    cluster.sync();
}

#[device]
fn raise(places: &mut [u64], at: u32, value: u64) {
    let mut seen = places.atomic(at).load(Relaxed);
    while seen < value {
        if let Err(actual) = places.atomic(at).compare_exchange(seen, value, Relaxed, Relaxed) {
            seen = actual;
        } else {
            break;
        }
    }
}

/// Finds the longest of Collatz's sequences, by a compare-exchange loop.
#[cluster_kernel(block = 64)]
fn collatz(longest: &mut [u64], limit: usize) {
    let grid = this_grid();
    'numbers: for start in (grid.thread_rank()..limit).step_by(grid.num_threads()) {
        let mut n = start as u64 + 1;
        let mut steps = 0;
        let length = loop {
            if n == 1 {
                break steps;
            }
            if steps > 1000 {
                continue 'numbers;
            }
            n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
            steps += 1;
        };
        raise(longest, 0, length << 32 | start as u64);
    }
}

#[device]
fn half(n: u32) -> Option<u32> {
    if n > 0 && n % 2 == 0 { Some(n / 2) } else { None }
}

/// Divides numbers by their factors of two.
#[cluster_kernel(block = 64)]
fn odd_parts(numbers: &mut [u32]) {
    let i = this_grid().thread_rank();
    let mut n = numbers[i];
    while let Some(halved) = half(n) {
        n = halved;
    }
    numbers[i] = n;
}

/// Computes the sums of all before, over a cluster of `N` threads a block.
#[cluster_kernel(cluster = 2)]
fn scan<T: Number, const N: usize>(input: &[T], out: &mut [T]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let sums = shared_array::<T, N>();
    let i = block.thread_rank();
    let at = this_grid().thread_rank();
    sums[i] = input[at];
    block.sync();
    let mut distance = 1;
    #[unroll]
    while distance < N as u32 {
        let mut sum = sums[i];
        if i >= distance {
            sum = sums[i - distance] + sum;
        }
        block.sync();
        sums[i] = sum;
        block.sync();
        distance *= 2;
    }
    cluster.sync();
    let mut sum = sums[i];
    if cluster.block_rank() == 1 {
        let before = cluster.map_shared_rank(&sums, 0);
        sum = before[N - 1] + sum;
    }
    cluster.sync();
    out[at] = sum;
}

/// Computes sums in loops that are unrolled in all ways.
#[cluster_kernel(block = 32)]
fn unrolled<const N: usize>(input: &[u32], out: &mut [u32]) {
    const TWO: usize = 2;
    let i = this_thread_block().thread_rank();
    let mut sums = [0; 4];
    #[unroll(N)]
    for (k, sum) in sums.iter_mut().enumerate() {
        #[unroll(TWO + 1)]
        'each: for x in &input[k * 8..k * 8 + 8] {
            if *x == i {
                continue 'each;
            }
            *sum += *x;
        }
    }
    let mut left = 5;
    #[unroll(1)]
    loop {
        #[unroll]
        for k in 0..4 {
            sums[k] += sums[(k + 1) % 4];
        }
        left -= 1;
        if left == 0 {
            break;
        }
    }
    out[i] = sums[i % 4];
}

/// Computes a mean of the requested values, with every way to fail.
#[cluster_kernel(block = 32)]
fn checked_mean(values: &[i64], counts: &[i32], out: &mut [i64]) {
    const MOST: i32 = 1 << 20;
    let i = this_thread_block().thread_rank();
    let count = counts[i];
    assert!(count >= 0);
    assert!(count < MOST, "{count} values are more than {}", MOST);
    let mut sum = 0;
    for k in 0..count {
        sum += values[k];
    }
    if sum == i64::MIN {
        panic!("the sum of {count} values has no magnitude");
    }
    out[i] = sum.abs() / count as i64;
}

/// Integers of all widths, casts and local arrays.
#[cluster_kernel(block = 32)]
fn mix(seeds: &[u8], out: &mut [u128]) {
    let i = this_thread_block().thread_rank();
    let mut state = [0x9e37_79b9_7f4a_7c15, seeds[i] as u64];
    let mut wide = 0u128;
    for round in (0..4).rev() {
        state[1] = (state[1] ^ state[1] >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state[0] = state[0].rotate_left(round * 7 + 1) + state[1];
        wide = wide << 32 | (state[0] as i32 as f32 as i64 as u32 & !0xff) as u128;
    }
    out[i] = wide ^ (state[1].leading_zeros() as i8 - 100) as u128;
}

/// Prints what is unusual, and stops at what cannot be.
#[cluster_kernel(cluster = 2, block = 4)]
fn narrate(values: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let i = this_grid().thread_rank();
    let x = values[i];
    assert_ne!(x, 0.0, "thread {i} has nothing to divide by");
    if x < 0.0 {
        println!("block {} of {}: {x:>8.3} at {i}", cluster.block_rank(), cluster.num_blocks());
    }
    out[i] = 1.0 / x;
}

fn shares(device: &Device) -> Outcome {
    let values: Vec<i32> = (0..1024).map(|i| i * 3 - 700).collect();
    let input = device.upload(&values)?;
    let got = read!(device, 1024, |out| share(&input, out).grid(4));
    let want: Vec<i32> = (0..1024).map(|i| values[(i + 256) % 1024] + 28 * values[i]).collect();
    same(&got, &want, |i| format!("output[{i}]"))
}

fn saxpies(device: &Device) -> Outcome {
    let x: Vec<f32> = (0..1000).map(|i| i as f32 * 0.3).collect();
    let y: Vec<f32> = (0..1000).map(|i| 1.0 / (i as f32 + 1.0)).collect();
    let mut out = device.upload(&y)?;
    saxpy(0.7, &device.upload(&x)?, &mut out).grid(3).launch(device)?;
    let want: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x.mul_add(0.7, *y)).collect();
    same(&out.read()?, &want, |i| format!("y[{i}]"))
}

fn sums_of_blocks(device: &Device) -> Outcome {
    let values: Vec<u32> = (0..4096).map(|i| i * i % 1009).collect();
    let input = device.upload(&values)?;
    let got = read!(device, 16, |out| block_sum(&input, out).grid(16));
    let want: Vec<u32> = values.chunks(256).map(|block| block.iter().sum()).collect();
    same(&got, &want, |i| format!("block {i}"))
}

fn histograms(device: &Device) -> Outcome {
    let values: Vec<u32> = (0..20_000u32).map(|i| i.wrapping_mul(2_654_435_761) >> 7).collect();
    let input = device.upload(&values)?;
    let got = read!(device, 400, |bins| histogram(&input, bins).grid(8).shared_bytes(400));
    let mut want = vec![0; 400];
    values.iter().for_each(|value| want[*value as usize % 400] += 1);
    same(&got, &want, |i| format!("bin {i}"))
}

fn transposed(device: &Device) -> Outcome {
    let (width, height) = (50, 37);
    let values: Vec<f64> = (0..width * height).map(|i| f64::from(i) * 0.1).collect();
    let input = device.upload(&values)?;
    let got = read!(device, values.len(), |out| transpose(&input, out, width, height).grid((4, 3)));
    let want: Vec<f64> = (0..width).flat_map(|x| (0..height).map(move |y| f64::from(y * width + x) * 0.1)).collect();
    same(&got, &want, |i| format!("element {i}"))
}

fn rings(device: &Device) -> Outcome {
    for rounds in [0, 1, 5, 32] {
        let got = read!(device, 512, |out| ring(out, rounds).grid(8));
        let added: u32 = (0..rounds).sum();
        let want: Vec<u32> = (0..512).map(|t| (t + rounds * 64) % 256 + added).collect();
        same(&got, &want, |i| format!("{rounds} rounds, thread {i}"))?;
    }
    Ok(())
}

fn split_and_whole(device: &Device) -> Outcome {
    for split in [false, true] {
        let got = read!(device, 64, |out| split_or_whole(out, split).grid(2));
        let want: Vec<u32> = (0..64).map(|i| (i + 32) % 64 * 3 + (i % 32) * (i % 32)).collect();
        same(&got, &want, |i| format!("split {split}, thread {i}"))?;
    }
    Ok(())
}

fn longest_sequence(device: &Device) -> Outcome {
    let got = read!(device, 1, |longest| collatz(longest, 10_000).grid(4));
    same(&got, &[261 << 32 | 6170], |_| "the longest and its start".into())
}

fn odd_parts_of_numbers(device: &Device) -> Outcome {
    let mut numbers = device.upload(&Vec::from_iter(0..64))?;
    odd_parts(&mut numbers).grid(1).launch(device)?;
    let want = (0..64).map(|n: u32| n.checked_shr(n.trailing_zeros()).unwrap_or(0));
    same(&numbers.read()?, &want.collect::<Vec<u32>>(), |n| format!("of {n}"))
}

fn scans(device: &Device) -> Outcome {
    let values: Vec<u32> = (0..256).map(|i| i * 7 % 31).collect();
    let input = device.upload(&values)?;
    let got = read!(device, 256, |out| scan::<u32, 64>(&input, out).grid(4).block(64));
    let sums = |pair: &[u32]| (1..=pair.len()).map(|n| pair[..n].iter().sum()).collect::<Vec<u32>>();
    same(&got, &values.chunks(128).flat_map(sums).collect::<Vec<u32>>(), |i| format!("sum {i}"))
}

fn unrolled_sums(device: &Device) -> Outcome {
    let values: Vec<u32> = (0..32).map(|i| i * 5 % 32).collect();
    let got = read!(device, 32, |out| unrolled::<4>(&device.upload(&values)?, out).grid(1));
    let of_thread = |i: u32| {
        let part = |k: usize| values[k * 8..k * 8 + 8].iter().filter(|x| **x != i).sum::<u32>();
        let mut sums = [0, 1, 2, 3].map(part);
        for _ in 0..5 {
            for k in 0..4 {
                sums[k] += sums[(k + 1) % 4];
            }
        }
        sums[i as usize % 4]
    };
    same(&got, &(0..32).map(of_thread).collect::<Vec<u32>>(), |i| format!("thread {i}"))
}

fn means(device: &Device) -> Outcome {
    let values = device.upload(&(0..64).map(|i| i * i - 1000).collect::<Vec<i64>>())?;
    let counts = device.upload(&(1..33).collect::<Vec<i32>>())?;
    let got = read!(device, 32, |out| checked_mean(&values, &counts, out).grid(1));
    let want: Vec<i64> = (1..33).map(|n: i64| (0..n).map(|i| i * i - 1000).sum::<i64>().abs() / n).collect();
    same(&got, &want, |i| format!("mean of {}", i + 1))
}

fn mixes(device: &Device) -> Outcome {
    let seeds: Vec<u8> = (0..32).map(|i| i * 8 + 1).collect();
    let input = device.upload(&seeds)?;
    let got = read!(device, 32, |out| mix(&input, out).grid(1));
    let host = |seed: u8| {
        let mut state = [0x9e37_79b9_7f4a_7c15u64, u64::from(seed)];
        let mut wide = 0u128;
        for round in (0..4).rev() {
            state[1] = (state[1] ^ (state[1] >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            state[0] = state[0].rotate_left(round * 7 + 1).wrapping_add(state[1]);
            wide = wide << 32 | u128::from(state[0] as i32 as f32 as i64 as u32 & !0xff);
        }
        wide ^ (state[1].leading_zeros() as i8 - 100) as u128
    };
    same(&got, &seeds.iter().map(|&seed| host(seed)).collect::<Vec<u128>>(), |i| format!("seed {}", seeds[i]))
}

fn narration(device: &Device) -> Outcome {
    let values: Vec<f32> = (0..8).map(|i| 2.5 - i as f32).collect();
    let input = device.upload(&values)?;
    let mut out = device.zeros(8)?;
    let (text, result) = printed(device, || narrate(&input, &mut out).grid(2).launch(device));
    result?;
    same(&out.read()?, &values.iter().map(|x| 1.0 / x).collect::<Vec<f32>>(), |i| format!("1 / {}", values[i]))?;
    same_text(
        &text,
        "block 0 of 2:   -0.500 at 3\nblock 1 of 2:   -1.500 at 4\nblock 1 of 2:   -2.500 at 5\n\
         block 1 of 2:   -3.500 at 6\nblock 1 of 2:   -4.500 at 7\n",
    )
}

/// Rows of half floats to bytes, each row by the power of two that its largest number needs.
#[cluster_kernel(block = 64)]
fn quantize(rows: &[f16], width: usize, out: &mut [i8], exponents: &mut [i32]) {
    let row = this_grid().thread_rank();
    let start = row * width;
    let mut largest = f16::MIN_POSITIVE;
    for i in start..start + width {
        largest = largest.max(rows[i].abs());
    }
    let exponent = (largest.to_f32().log2().ceil() as i32).saturating_sub(7);
    let scale = f32::from_bits((127 - exponent).cast_unsigned() << 23);
    exponents[row] = exponent;
    for i in start..start + width {
        out[i] = (f32::from(rows[i]) * scale).round_ties_even().clamp(-128.0, 127.0) as i8;
    }
}

fn quantized(device: &Device) -> Outcome {
    let rows: Vec<f16> = (0..1024).map(|i| f16::from_f32((i % 37 - 18) as f32 * (1.7_f32).powi(i / 64))).collect();
    let (input, mut exponents) = (device.upload(&rows)?, device.zeros(64)?);
    let got = read!(device, 1024, |out| quantize(&input, 16, out, &mut exponents).grid(1));
    let exponents = exponents.read()?;
    let want = |i: usize| (rows[i].to_f32() / (exponents[i / 16] as f32).exp2()).round_ties_even() as i8;
    same(&got, &(0..1024).map(want).collect::<Vec<i8>>(), |i| format!("{}", rows[i]))?;
    let largest =
        |row: &[f16]| row.iter().fold(f16::MIN_POSITIVE, |largest, x| largest.max(f16::from_f32(x.to_f32().abs())));
    let want: Vec<i32> = rows.chunks(16).map(|row| largest(row).to_f32().log2().ceil() as i32 - 7).collect();
    same(&exponents, &want, |row| format!("row {row}"))
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "guide",
        checks: check_list![
            shares,
            saxpies,
            sums_of_blocks,
            histograms,
            transposed,
            rings,
            split_and_whole,
            longest_sequence,
            odd_parts_of_numbers,
            scans,
            unrolled_sums,
            means,
            mixes,
            narration,
            quantized,
        ],
        kernels: kernel_list![
            share, saxpy, block_sum, histogram, transpose, ring, split_or_whole, collatz, odd_parts, scan<u32, 64>, unrolled<4>, checked_mean, mix,
            narrate, quantize,
        ],
    }]
}
