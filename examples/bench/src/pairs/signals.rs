//! Signals: transforms of short pieces, filters with a state, and a change of the rate.

use phalanx::prelude::*;

use super::{Pair, launch};
use crate::case::{Case, Scale, Showcase};
use crate::data;
use crate::memory::Memory;
use crate::twin::Argument;

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "signals", about: "Fourier and cosine transforms, recursive filters, resampling", cases };

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, DeviceCopy)]
struct Complex {
    re: f32,
    im: f32,
}

#[device]
impl Complex {
    fn plus(self, other: Complex) -> Complex {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }

    fn minus(self, other: Complex) -> Complex {
        Complex { re: self.re - other.re, im: self.im - other.im }
    }

    fn times(self, other: Complex) -> Complex {
        Complex { re: self.re * other.re - self.im * other.im, im: self.re.mul_add(other.im, self.im * other.re) }
    }

    fn power(self) -> f32 {
        self.re * self.re + self.im * self.im
    }

    /// The product with `-i`.
    fn turned(self) -> Complex {
        Complex { re: self.im, im: -self.re }
    }
}

/// The transform of four values.
#[device]
fn butterfly([a, b, c, d]: [Complex; 4]) -> [Complex; 4] {
    let (even, odd) = (a.plus(c), b.plus(d));
    let (evens, odds) = (a.minus(c), b.minus(d).turned());
    [even.plus(odd), evens.plus(odds), even.minus(odd), evens.minus(odds)]
}

/// The points of a transform, a quarter of which is a block's threads.
const POINTS: usize = 1024;

/// The power spectra of pieces of 1024 points: five passes of radix 4 (Stockham), each through shared memory.
#[cluster_kernel(block = POINTS / 4)]
fn fourier(input: &[Complex], roots: &[Complex], out: &mut [f32]) {
    const QUARTER: usize = POINTS / 4;
    let block = this_thread_block();
    let points = shared_array::<Complex, POINTS>();
    let i = block.thread_rank() as usize;
    let signal = &input[this_grid().block_rank() * POINTS..][..POINTS];
    let spectrum = &mut out[this_grid().block_rank() * POINTS..][..POINTS];

    let mut values: [Complex; 4] = std::array::from_fn(|k| signal[i + k * QUARTER]);
    let mut span = 1;
    while span < POINTS {
        let place = i % span;
        for k in 1..4 {
            values[k] = values[k].times(roots[k * place * (QUARTER / span)]);
        }
        values = butterfly(values);
        if span == QUARTER {
            for (k, &value) in values.iter().enumerate() {
                spectrum[i + k * QUARTER] = value.power();
            }
        } else {
            let first = (i - place) * 4 + place;
            for (k, &value) in values.iter().enumerate() {
                points[first + k * span] = value;
            }
            block.sync();
            values = std::array::from_fn(|k| points[i + k * QUARTER]);
            block.sync();
        }
        span *= 4;
    }
}

/// The basis of the cosine transform of eight values (JPEG's, DCT-II): a row for each frequency.
const BASIS: [[f32; 8]; 8] = [
    [0.353_553_4; 8],
    [0.490_392_6, 0.415_734_8, 0.277_785_1, 0.097_545_2, -0.097_545_2, -0.277_785_1, -0.415_734_8, -0.490_392_6],
    [0.461_939_8, 0.191_341_7, -0.191_341_7, -0.461_939_8, -0.461_939_8, -0.191_341_7, 0.191_341_7, 0.461_939_8],
    [0.415_734_8, -0.097_545_2, -0.490_392_6, -0.277_785_1, 0.277_785_1, 0.490_392_6, 0.097_545_2, -0.415_734_8],
    [0.353_553_4, -0.353_553_4, -0.353_553_4, 0.353_553_4, 0.353_553_4, -0.353_553_4, -0.353_553_4, 0.353_553_4],
    [0.277_785_1, -0.490_392_6, 0.097_545_2, 0.415_734_8, -0.415_734_8, -0.097_545_2, 0.490_392_6, -0.277_785_1],
    [0.191_341_7, -0.461_939_8, 0.461_939_8, -0.191_341_7, -0.191_341_7, 0.461_939_8, -0.461_939_8, 0.191_341_7],
    [0.097_545_2, -0.277_785_1, 0.415_734_8, -0.490_392_6, 0.490_392_6, -0.415_734_8, 0.277_785_1, -0.097_545_2],
];

#[device]
fn cosine_transform(values: [f32; 8]) -> [f32; 8] {
    std::array::from_fn(|frequency| BASIS[frequency].iter().zip(&values).fold(0.0, |sum, (b, v)| b.mul_add(*v, sum)))
}

/// The squares of 8 by 8 pixels that a block transforms.
const SQUARES: usize = 32;

/// Cosine transforms of squares of 8 by 8 pixels, quantized: a thread transforms a row, and then a column.
#[cluster_kernel(block = (8, SQUARES))]
fn cosines(pixels: &[u8], steps: &[f32], out: &mut [i16], width: usize) {
    let block = this_thread_block();
    let tile = shared_array::<[[f32; 9]; 8], SQUARES>();
    let (i, square) = (block.thread_index().x as usize, block.thread_index().y as usize);
    let across = width / 8;
    let rank = this_grid().block_rank() * SQUARES + square;
    let first = rank / across * 8 * width + rank % across * 8;

    let row = pixels.load_vec::<8>(first + i * width);
    let transformed = cosine_transform(std::array::from_fn(|k| row[k] as f32 - 128.0));
    for (k, &value) in transformed.iter().enumerate() {
        tile[square][i][k] = value;
    }
    block.sync();
    let column = cosine_transform(std::array::from_fn(|k| tile[square][k][i]));
    for (k, &value) in column.iter().enumerate() {
        out[first + k * width + i] = (value / steps[8 * k + i]).round() as i16;
    }
}

/// A recursive filter of second order, and its two last values (direct form II, transposed).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, DeviceCopy)]
struct Biquad {
    b: [f32; 3],
    a: [f32; 2],
    state: [f32; 2],
}

#[device]
impl Biquad {
    fn next(&mut self, x: f32) -> f32 {
        let y = self.b[0].mul_add(x, self.state[0]);
        self.state[0] = self.b[1].mul_add(x, self.state[1]) - self.a[0] * y;
        self.state[1] = self.b[2] * x - self.a[1] * y;
        y
    }
}

/// A cascade of four filters for each channel of a recording, whose channels lie side by side.
#[cluster_kernel(block = 64)]
fn cascade(recording: &[f32], filters: &[[Biquad; 4]], out: &mut [f32], channels: usize) {
    let channel = this_grid().thread_rank();
    if channel >= channels {
        return;
    }
    let mut stages = filters[channel];
    for (time, frame) in recording.chunks_exact(channels).enumerate() {
        let mut x = frame[channel];
        for stage in &mut stages {
            x = stage.next(x);
        }
        out[time * channels + channel] = x;
    }
}

/// The rate grows by `UP` and falls by `DOWN`; each new sample is a sum over `TAPS` old ones.
const UP: usize = 3;
const DOWN: usize = 2;
const TAPS: usize = 16;

/// A signal at another rate, by a filter with a set of taps for each phase.
#[cluster_kernel(block = 256)]
fn resampled(signal: &[f32], phases: &[[f32; TAPS]], out: &mut [f32]) {
    let taps = shared_array::<[f32; TAPS], UP>();
    let block = this_thread_block();
    let rank = block.thread_rank() as usize;
    if rank < UP * TAPS {
        taps[rank / TAPS][rank % TAPS] = phases[rank / TAPS][rank % TAPS];
    }
    block.sync();
    let i = this_grid().thread_rank();
    if i < out.len() {
        let (newest, phase) = (i * DOWN / UP, i * DOWN % UP);
        let mut sum = 0.0;
        for (k, &tap) in taps[phase].iter().enumerate() {
            if let Some(x) = newest.checked_sub(k).and_then(|at| signal.get(at).copied()) {
                sum = tap.mul_add(x, sum);
            }
        }
        out[i] = sum;
    }
}

const TWINS: &str = include_str!("../../twins/signals.cu");

/// The power spectra by their definition, in `f64`.
fn transformed(signal: &[Complex]) -> Vec<f64> {
    let one = |signal: &[Complex]| {
        let at = |frequency: usize| {
            let [re, im] = signal.iter().enumerate().fold([0.0, 0.0], |[re, im], (k, x)| {
                let angle = -std::f64::consts::TAU * (frequency * k % POINTS) as f64 / POINTS as f64;
                let (s, c) = angle.sin_cos();
                let (a, b) = (f64::from(x.re), f64::from(x.im));
                [re + a * c - b * s, im + a * s + b * c]
            });
            re * re + im * im
        };
        (0..POINTS).map(at).collect::<Vec<f64>>()
    };
    signal.chunks(POINTS).flat_map(one).collect()
}

fn cases(scale: Scale) -> Vec<Case> {
    let signals: usize = scale.pick(1 << 14, 2);
    let (width, height): (usize, usize) = scale.pick((8192, 8192), (128, 16));
    let (channels, times): (usize, usize) = scale.pick((1 << 14, 2048), (64, 32));
    let samples: usize = scale.pick(1 << 25, 1 << 10);
    let pair =
        |entry, size: usize, unit, grid: usize, block| Pair::new(entry, TWINS, (size as u64, unit), grid as u32, block);
    vec![
        pair("fourier", signals, "signals", signals, POINTS / 4).bytes(12 * POINTS * signals).case(
            move || {
                let numbers = data::reals(140, 2 * POINTS * signals);
                numbers.chunks(2).map(|z| Complex { re: z[0], im: z[1] }).collect::<Vec<Complex>>()
            },
            POINTS * signals,
            move |device| {
                let root = |k: usize| {
                    let (s, c) = (-std::f64::consts::TAU * k as f64 / POINTS as f64).sin_cos();
                    Complex { re: c as f32, im: s as f32 }
                };
                let roots = Memory::upload(device, &(0..POINTS).map(root).collect::<Vec<Complex>>())?;
                launch([Argument::Word(roots.address())], move |device, input, out| {
                    fourier(input, &roots.buffer, out).grid(signals as u32).enqueue(device)
                })?
                .like(transformed)
            },
        ),
        pair("cosines", width, "columns", width * height / (64 * SQUARES), 8 * SQUARES).bytes(3 * width * height).case(
            move || data::random(141, width * height, |bits| bits as u8),
            width * height,
            move |device| {
                let step = |k: usize| 4.3 + (3 * (k / 8 + k % 8)) as f32;
                let steps = Memory::upload(device, &(0..64).map(step).collect::<Vec<f32>>())?;
                launch([steps.address(), width as u64].map(Argument::Word), move |device, input, out| {
                    let blocks = (width * height / (64 * SQUARES)) as u32;
                    cosines(input, &steps.buffer, out, width).grid(blocks).enqueue(device)
                })?
                .like(move |pixels| {
                    let mut all = vec![0.0; width * height];
                    for (at, all) in all.iter_mut().enumerate() {
                        let (y, x) = (at / width, at % width);
                        let (top, left, v, u) = (y / 8 * 8, x / 8 * 8, y % 8, x % 8);
                        let of = |k: usize| {
                            let pixel = f64::from(pixels[(top + k / 8) * width + left + k % 8]) - 128.0;
                            let wave = |f: usize, at: usize| {
                                let unit = if f == 0 { 0.125f64.sqrt() } else { 0.5 };
                                unit * (std::f64::consts::PI * f as f64 * (2 * at + 1) as f64 / 16.0).cos()
                            };
                            pixel * wave(v, k / 8) * wave(u, k % 8)
                        };
                        *all = ((0..64).map(of).sum::<f64>() / f64::from(step(8 * v + u))).round();
                    }
                    all
                })
            },
        ),
        pair("cascade", channels, "channels", channels / 64, 64).bytes(8 * channels * times).case(
            move || data::reals(142, channels * times),
            channels * times,
            move |device| {
                let of = |r: &[f32]| Biquad {
                    b: [0.5 + 0.1 * r[0], 0.3 * r[1], 0.2 * r[2]],
                    a: [0.4 * r[3], 0.3 * r[4]],
                    state: [0.0; 2],
                };
                let stages: Vec<Biquad> = data::reals(143, 20 * channels).chunks(5).map(of).collect();
                let filters = Memory::upload(device, stages.as_chunks::<4>().0)?;
                let words = [filters.address(), channels as u64, times as u64].map(Argument::Word);
                launch(words, move |device, input, out| {
                    cascade(input, &filters.buffer, out, channels).grid(channels as u32 / 64).enqueue(device)
                })?
                .like(move |recording| {
                    let mut out = recording.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
                    for (k, stage) in stages.iter().enumerate() {
                        let Biquad { b, a, .. } = stage;
                        let mut last = [[0.0; 2]; 2];
                        for value in out.iter_mut().skip(k / 4).step_by(channels) {
                            let x = *value;
                            let [[x1, x2], [y1, y2]] = last;
                            let [b0, b1, b2] = b.map(f64::from);
                            let y = b0 * x + b1 * x1 + b2 * x2 - f64::from(a[0]) * y1 - f64::from(a[1]) * y2;
                            last = [[x, x1], [y, y1]];
                            *value = y;
                        }
                    }
                    out
                })
            },
        ),
        pair("resampled", samples, "samples", samples / DOWN * UP / 256, 256).bytes(10 * samples).case(
            move || data::reals(144, samples),
            samples / DOWN * UP,
            move |device| {
                let taps = data::reals(145, UP * TAPS);
                let phases = Memory::upload(device, taps.as_chunks::<TAPS>().0)?;
                let len = samples / DOWN * UP;
                launch([phases.address(), len as u64].map(Argument::Word), move |device, input, out| {
                    resampled(input, &phases.buffer, out).grid((len / 256) as u32).enqueue(device)
                })?
                .like(move |signal| {
                    let at = |i: usize| {
                        let (newest, phase) = (i * DOWN / UP, i * DOWN % UP);
                        let term = |k: usize| f64::from(taps[TAPS * phase + k]) * f64::from(signal[newest - k]);
                        (0..TAPS.min(newest + 1)).map(term).sum::<f64>()
                    };
                    (0..len).map(at).collect::<Vec<f64>>()
                })
            },
        ),
    ]
}
