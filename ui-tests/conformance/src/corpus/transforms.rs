//! Transforms: Fourier in shared memory, Walsh and Hadamard over a cluster, cosines of 8 by 8 pixels.

use phalanx::prelude::*;

use super::{random, reals};
use crate::{Module, Outcome, check_list, kernel_list, read, same};

type Complex = (f32, f32);

#[device]
fn multiplied(a: Complex, b: Complex) -> Complex {
    let ((ar, ai), (br, bi)) = (a, b);
    (ar * br - ai * bi, ar * bi + ai * br)
}

/// Returns the sum and the difference.
#[device]
fn butterfly(a: Complex, b: Complex) -> (Complex, Complex) {
    let ((ar, ai), (br, bi)) = (a, b);
    ((ar + br, ai + bi), (ar - br, ai - bi))
}

/// Fourier transforms of `2 * N` complex numbers, radix 2, a block each (Stockham's order, which needs no reversal of bits:
/// Govindaraju and others, "High Performance Discrete Fourier Transforms on Graphics Processors", 2008; VkFFT).
#[cluster_kernel]
fn fourier<const N: usize>(signal: &[f32], twiddles: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let front = shared_array::<[f32; 2], N>();
    let back = shared_array::<[f32; 2], N>();
    let i = block.thread_rank();
    let base = this_grid().block_rank() as u32 * 4 * N as u32;
    let at = |k: u32| base + 2 * k;
    let n = N as u32;
    let mut a = (signal[at(i)], signal[at(i) + 1]);
    let mut b = (signal[at(i + n)], signal[at(i + n) + 1]);
    let mut span = 1;
    while span < n {
        let k = i % span;
        let angle = k * (n / span);
        let (sum, difference) = butterfly(a, multiplied(b, (twiddles[2 * angle], twiddles[2 * angle + 1])));
        // Chooses the destination of the two: positions below n are in `front`, the others in `back`.
        for half in 0..2 {
            let to = 2 * (i - k) + k + half * span;
            let (re, im) = if half == 0 { sum } else { difference };
            if to < n {
                front[to] = [re, im];
            } else {
                back[to - n] = [re, im];
            }
        }
        block.sync();
        let ([ar, ai], [br, bi]) = (front[i], back[i]);
        a = (ar, ai);
        b = (br, bi);
        block.sync();
        span *= 2;
    }
    let ((ar, ai), (br, bi)) = butterfly(a, multiplied(b, (twiddles[2 * i], twiddles[2 * i + 1])));
    out[at(i)] = ar;
    out[at(i) + 1] = ai;
    out[at(i + n)] = br;
    out[at(i + n) + 1] = bi;
}

/// A Walsh-Hadamard transform over all threads of a cluster (the CUDA sample `fastWalshTransform`; QuIP# rotates weights
/// with it): near partners through the block's memory, far ones through a peer's, two buffers in turn. Once partners are far they stay
/// so: a peer reads one buffer while the other is written, and a barrier comes next.
#[cluster_kernel(cluster = 4, block = 128)]
fn walsh<T: Number>(input: &[T], out: &mut [T]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let buffers = shared_array::<[T; 2], 128>();
    let (i, rank) = (block.thread_rank(), cluster.block_rank());
    let at = this_grid().thread_rank();
    let mut value = input[at];
    let mut buffer = 0u32;
    let mut stride = 1;
    while stride < cluster.num_threads() {
        buffers[i][buffer] = value;
        let theirs = if stride < 128 {
            block.sync();
            buffers[i ^ stride][buffer]
        } else {
            let token = cluster.barrier_arrive();
            let peer = cluster.map_shared_rank(&buffers, rank ^ stride / 128);
            cluster.barrier_wait(token);
            peer[i][buffer]
        };
        value = if cluster.thread_rank() & stride == 0 { value + theirs } else { theirs - value };
        buffer ^= 1;
        stride *= 2;
    }
    cluster.sync();
    out[at] = value;
}

/// Cosine transforms of blocks of 8 by 8, rows and then columns, as JPEG codecs do (Obukhov and Kharlamov 2008; the CUDA
/// sample `dct8x8`).
#[cluster_kernel(block = (8, 8))]
fn cosines(pixels: &[u8], basis: &[f32], out: &mut [i16], width: u32) {
    let block = this_thread_block();
    let shifted = shared_array::<[f32; 9], 8>();
    let rows = shared_array::<[f32; 9], 8>();
    let (x, y) = (block.thread_index().x, block.thread_index().y);
    let corner = block.group_index();
    let at = (corner.y * 8 + y) * width + corner.x * 8 + x;
    shifted[y][x] = pixels[at] as f32 - 128.0;
    block.sync();
    let dot = |f: f32, g: f32, sum: f32| f.mul_add(g, sum);
    let mut sum = 0.0;
    for k in 0..8 {
        sum = dot(basis[x * 8 + k], shifted[y][k], sum);
    }
    rows[y][x] = sum;
    block.sync();
    sum = 0.0;
    for k in 0..8 {
        sum = dot(basis[y * 8 + k], rows[k][x], sum);
    }
    out[at] = if sum < 0.0 { sum - 0.5 } else { sum + 0.5 } as i16;
}

fn fourier_of<const N: usize>(device: &Device) -> Outcome {
    let signals = 3;
    let turn = |k: usize| -std::f64::consts::PI * k as f64 / N as f64;
    let twiddles: Vec<f32> = (0..N).flat_map(|k| [turn(k).cos() as f32, turn(k).sin() as f32]).collect();
    let signal = reals(201, signals * 4 * N);
    let (input, factors) = (device.upload(&signal)?, device.upload(&twiddles)?);
    let got =
        read!(device, signal.len(), |out| { fourier::<N>(&input, &factors, out).grid(signals as u32).block(N as u32) });
    for (number, (got, signal)) in got.chunks(4 * N).zip(signal.chunks(4 * N)).enumerate() {
        for k in 0..2 * N {
            let mut sum = (0.0, 0.0);
            for (j, value) in signal.chunks(2).enumerate() {
                let (sin, cos) = turn(j * k % (2 * N)).sin_cos();
                let (re, im) = (f64::from(value[0]), f64::from(value[1]));
                sum = (sum.0 + re * cos - im * sin, sum.1 + re * sin + im * cos);
            }
            // Relative to the signal's norm, some roundings a round.
            let bound = f64::from(f32::EPSILON) * (N as f64).sqrt() * 16.0;
            let error = (f64::from(got[2 * k]) - sum.0).abs().max((f64::from(got[2 * k + 1]) - sum.1).abs());
            if error > bound {
                return Err(format!("{N}: signal {number}, frequency {k} is wrong by {error:e}").into());
            }
        }
    }
    Ok(())
}

fn fouriers(device: &Device) -> Outcome {
    fourier_of::<2>(device)?;
    fourier_of::<32>(device)?;
    fourier_of::<128>(device)
}

fn walsh_of<T: phalanx::Number + crate::Bits + std::ops::Add<Output = T> + std::ops::Sub<Output = T>>(
    device: &Device,
    values: &[T],
) -> Outcome {
    let input = device.upload(values)?;
    let got = read!(device, values.len(), |out| walsh(&input, out).grid(values.len() as u32 / 128));
    let mut want = values.to_vec();
    for part in want.chunks_mut(512) {
        for stride in (0..9).map(|bit| 1 << bit) {
            for i in (0..512).filter(|i| i & stride == 0) {
                (part[i], part[i + stride]) = (part[i] + part[i + stride], part[i] - part[i + stride]);
            }
        }
    }
    same(&got, &want, |i| format!("{i}"))
}

fn walshes(device: &Device) -> Outcome {
    walsh_of(device, &reals(202, 1024))?;
    let small: Vec<i64> = random(203, 512).into_iter().map(|value| i64::from(value as i32)).collect();
    walsh_of(device, &small)
}

fn cosine_blocks(device: &Device) -> Outcome {
    let angle = |k: usize, x: usize| (std::f64::consts::PI * (2 * x + 1) as f64 * k as f64 / 16.0).cos();
    let basis: Vec<f32> =
        (0..64).map(|i| ((if i < 8 { 0.125f64.sqrt() } else { 0.5 }) * angle(i / 8, i % 8)) as f32).collect();
    for (width, height) in [(16, 8), (40, 24)] {
        let pixels: Vec<u8> = random(204, width * height).into_iter().map(|value| value as u8).collect();
        let (input, factors) = (device.upload(&pixels)?, device.upload(&basis)?);
        let grid = (width as u32 / 8, height as u32 / 8);
        let got = read!(device, pixels.len(), |out| cosines(&input, &factors, out, width as u32).grid(grid));
        let result = |i: usize| {
            let (x, y) = (i % width, i / width);
            let pixel = |k: usize, j: usize| f32::from(pixels[(y / 8 * 8 + k) * width + x / 8 * 8 + j]) - 128.0;
            let row = |k: usize| (0..8).fold(0.0, |sum, j| basis[x % 8 * 8 + j].mul_add(pixel(k, j), sum));
            let sum = (0..8).fold(0.0, |sum, k| basis[y % 8 * 8 + k].mul_add(row(k), sum));
            (if sum < 0.0 { sum - 0.5 } else { sum + 0.5 }) as i16
        };
        same(&got, &(0..pixels.len()).map(result).collect::<Vec<_>>(), |i| format!("{width} wide, {i}"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::transforms",
        checks: check_list![fouriers, walshes, cosine_blocks],
        kernels: kernel_list![fourier<2>, fourier<32>, fourier<128>, walsh<f32>, walsh<i64>, cosines],
    }
}
