//! Fields on lines, planes and in space: tridiagonal systems, wavelets, relaxation in two colours, light through fog.

use phalanx::prelude::*;

use super::{Pair, launch};
use crate::case::{Case, Scale, Showcase};
use crate::data;
use crate::twin::Argument;

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "fields", about: "tridiagonal systems, wavelets, relaxation, light through fog", cases };

/// The equations of a system.
const EQUATIONS: usize = 512;

/// An equation of three neighbouring unknowns.
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy, Default)]
struct Equation {
    before: f32,
    own: f32,
    after: f32,
    right: f32,
}

/// An unknown beside the system, which is zero.
const NOTHING: Equation = Equation { before: 0.0, own: 1.0, after: 0.0, right: 0.0 };

/// The equation without its neighbours' unknowns, which theirs replace by those twice as far away.
#[device]
fn eliminated(above: &Equation, own: &Equation, below: &Equation) -> Equation {
    let (a, b) = (-own.before / above.own, -own.after / below.own);
    Equation {
        before: a * above.before,
        own: b.mul_add(below.before, a.mul_add(above.after, own.own)),
        after: b * below.after,
        right: b.mul_add(below.right, a.mul_add(above.right, own.right)),
    }
}

/// The solutions of tridiagonal systems by parallel cyclic reduction (Hockney and Jesshope, 1981): a block for each.
#[cluster_kernel(block = EQUATIONS)]
fn tridiagonal(systems: &[Equation], out: &mut [f32]) {
    let block = this_thread_block();
    let equations = shared_array::<Equation, EQUATIONS>();
    let (at, i) = (this_grid().thread_rank(), block.thread_rank() as usize);
    let mut own = systems[at];
    let mut reach = 1;
    while reach < EQUATIONS {
        equations[i] = own;
        block.sync();
        let above = i.checked_sub(reach).map_or(NOTHING, |place| equations[place]);
        let below = equations.get(i + reach).copied().unwrap_or(NOTHING);
        own = eliminated(&above, &own, &below);
        block.sync();
        reach *= 2;
    }
    out[at] = own.right / own.own;
}

/// The numbers of a signal, and how often its half is split again.
const LENGTH: usize = 2048;
const LEVELS: usize = 3;

/// The steps of the biorthogonal wavelet 9/7 (Daubechies and Sweldens, 1998), and the weight of its smooth half.
const STEPS: [f32; 4] = [-1.586_134_3, -0.052_980_12, 0.882_911_1, 0.443_506_85];
const NORM: f32 = 1.230_174_1;

/// Adds to each number of one half the weighted sum of its neighbours in the other half; beyond the end lies the last one again.
#[device]
fn lift(block: &ThreadBlock, to: &SharedSlice<f32>, from: &SharedSlice<f32>, is_odd: bool, weight: f32) {
    for i in (block.thread_rank() as usize..to.len()).step_by(block.num_threads() as usize) {
        let beside = if is_odd { (i + 1).min(from.len() - 1) } else { i.saturating_sub(1) };
        to[i] += weight * (from[i] + from[beside]);
    }
    block.sync();
}

/// Wavelet transforms of signals in three levels, by lifting: a block for each.
#[cluster_kernel(block = 256)]
fn wavelets(signals: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let smooth = shared_array::<f32, LENGTH>();
    let (even, odd) = (shared_array::<f32, { LENGTH / 2 }>(), shared_array::<f32, { LENGTH / 2 }>());
    let i = block.thread_rank() as usize;
    let signal = &signals[this_grid().block_rank() * LENGTH..][..LENGTH];
    let out = &mut out[this_grid().block_rank() * LENGTH..][..LENGTH];
    for k in (i..LENGTH).step_by(256) {
        smooth[k] = signal[k];
    }
    block.sync();

    let mut half = LENGTH / 2;
    for _ in 0..LEVELS {
        let (even, odd) = (&even[..half], &odd[..half]);
        for k in (i..half).step_by(256) {
            even[k] = smooth[2 * k];
            odd[k] = smooth[2 * k + 1];
        }
        block.sync();
        lift(&block, odd, even, true, STEPS[0]);
        lift(&block, even, odd, false, STEPS[1]);
        lift(&block, odd, even, true, STEPS[2]);
        lift(&block, even, odd, false, STEPS[3]);
        for k in (i..half).step_by(256) {
            smooth[k] = even[k] / NORM;
            out[half + k] = odd[k] * NORM;
        }
        block.sync();
        half /= 2;
    }
    for k in (i..2 * half).step_by(256) {
        out[k] = smooth[k];
    }
}

/// The blocks that share a plate, the rows of each, and the cells of a row that have one colour.
const PARTS: u32 = 4;
const ROWS: usize = 32;
const COLUMNS: usize = 128;
const PAIRS: usize = COLUMNS / 2;

/// Successive over-relaxation of plates that a cluster holds, in the colours of a chess board: a thread takes eight cells of each
/// colour, whose neighbours have the other one. The border of the plate stays.
#[cluster_kernel(cluster = PARTS, block = (PAIRS, 4))]
fn relaxed(plates: &[[f32; COLUMNS]], out: &mut [[f32; COLUMNS]], steps: u32, rate: f32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let (red, black) = (shared_array::<[f32; PAIRS], ROWS>(), shared_array::<[f32; PAIRS], ROWS>());
    let part = cluster.block_rank();
    let first = this_grid().block_rank() * ROWS;
    let x = block.thread_index().x as usize;
    let top = block.thread_index().y as usize * (ROWS / 4);
    for row in top..top + ROWS / 4 {
        let pair = [plates[first + row][2 * x], plates[first + row][2 * x + 1]];
        red[row][x] = pair[row % 2];
        black[row][x] = pair[1 - row % 2];
    }
    cluster.sync();

    for step in 0..2 * steps {
        let colour = step as usize % 2;
        let (own, other) = if step % 2 == 0 { (&red, &black) } else { (&black, &red) };
        let above = cluster.map_shared_rank(other, part.saturating_sub(1));
        let below = cluster.map_shared_rank(other, (part + 1).min(PARTS - 1));
        for row in top..top + ROWS / 4 {
            let column = 2 * x + (row + colour) % 2;
            let is_border = column == 0
                || column == COLUMNS - 1
                || (part == 0 && row == 0)
                || (part == PARTS - 1 && row == ROWS - 1);
            if !is_border {
                let up = if row == 0 { above[ROWS - 1][x] } else { other[row - 1][x] };
                let down = if row == ROWS - 1 { below[0][x] } else { other[row + 1][x] };
                let beside = if column % 2 == 0 { other[row][x - 1] } else { other[row][x + 1] };
                let mean = 0.25 * (up + down + other[row][x] + beside);
                own[row][x] += rate * (mean - own[row][x]);
            }
        }
        cluster.sync();
    }

    for row in top..top + ROWS / 4 {
        let pair = if row % 2 == 0 { [red[row][x], black[row][x]] } else { [black[row][x], red[row][x]] };
        out[first + row][2 * x] = pair[0];
        out[first + row][2 * x + 1] = pair[1];
    }
}

/// A point or a direction.
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy, Default)]
struct Point {
    x: f32,
    y: f32,
    z: f32,
}

#[device]
impl Point {
    fn plus(self, other: Point, times: f32) -> Point {
        let part = |a: f32, b: f32| b.mul_add(times, a);
        Point { x: part(self.x, other.x), y: part(self.y, other.y), z: part(self.z, other.z) }
    }

    fn normed(self) -> Point {
        let length = (self.x * self.x + self.y * self.y + self.z * self.z).sqrt();
        Point { x: self.x / length, y: self.y / length, z: self.z / length }
    }
}

#[device]
fn mixed([a, b]: [f32; 2], t: f32) -> f32 {
    (b - a).mul_add(t, a)
}

/// The cell of a coordinate, and how far it lies in it.
#[device]
fn cell(x: f32, edge: usize) -> (usize, f32) {
    let x = x.clamp(0.0, (edge - 1) as f32);
    let whole = (x as usize).min(edge - 2);
    (whole, x - whole as f32)
}

/// A volume at a point between its samples.
#[device]
fn sampled(volume: &[f32], edge: usize, at: Point) -> f32 {
    let ((x, s), (y, t), (z, u)) = (cell(at.x, edge), cell(at.y, edge), cell(at.z, edge));
    let along = |y: usize, z: usize| {
        let row = &volume[(z * edge + y) * edge + x..][..2];
        mixed([row[0], row[1]], s)
    };
    let plane = |z: usize| mixed([along(y, z), along(y + 1, z)], t);
    mixed([plane(z), plane(z + 1)], u)
}

/// The light that a ray through fog brings, and the share of the light behind that passes.
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy, Default)]
struct Light {
    brought: f32,
    passed: f32,
}

/// Goes along a ray until nearly nothing passes, or for so many steps.
#[device]
fn marched(from: Point, along: Point, steps: u32, density: impl Fn(Point) -> f32) -> Light {
    let mut light = Light { brought: 0.0, passed: 1.0 };
    for step in 0..steps {
        let thickness = density(from.plus(along, step as f32));
        let passes = fast::exp(-thickness);
        light.brought += light.passed * (1.0 - passes) * (1.0 - 0.5 * thickness);
        light.passed *= passes;
        if light.passed < 1e-4 {
            break;
        }
    }
    light
}

/// A picture of fog in a cube, as it looks from a point before it: a thread for each pixel.
#[cluster_kernel(block = (16, 16))]
fn fog(volume: &[f32], out: &mut [[f32; 2]], edge: usize, width: usize, steps: u32) {
    let block = this_thread_block();
    let place = this_grid().block_rank();
    let x = place % (width / 16) * 16 + block.thread_index().x as usize;
    let y = place / (width / 16) * 16 + block.thread_index().y as usize;
    let size = edge as f32;
    let eye = Point { x: 0.5 * size, y: 0.4 * size, z: -size };
    let at = |pixel: usize| (pixel as f32 + 0.5) / width as f32 - 0.5;
    let along = Point { x: at(x), y: at(y), z: 1.0 }.normed();
    let light = marched(eye.plus(along, size), along, steps, |at| sampled(volume, edge, at));
    out[y * width + x] = [light.brought, light.passed];
}

const TWINS: &str = include_str!("../../twins/fields.cu");

/// Systems whose middle exceeds both sides.
fn systems(count: usize) -> Vec<Equation> {
    data::random(330, count * EQUATIONS, |bits| {
        let part = |k: u32| data::real(bits.rotate_left(16 * k));
        Equation { before: part(0), own: 2.5 + part(1), after: 0.4 * part(2), right: 4.0 * part(3) }
    })
}

/// Thomas' algorithm.
fn solved(system: &[Equation]) -> Vec<f64> {
    let mut upper: Vec<[f64; 2]> = Vec::new();
    for equation in system {
        let [above, right] = upper.last().copied().unwrap_or_default();
        let own = f64::from(equation.own) - f64::from(equation.before) * above;
        let right = (f64::from(equation.right) - f64::from(equation.before) * right) / own;
        upper.push([f64::from(equation.after) / own, right]);
    }
    let mut after = 0.0;
    let mut solution: Vec<f64> = upper
        .iter()
        .rev()
        .map(|[upper, right]| {
            after = right - upper * after;
            after
        })
        .collect();
    solution.reverse();
    solution
}

/// The transform of a signal that is extended symmetrically, in place.
fn transformed(signal: &[f32]) -> Vec<f64> {
    let mut all: Vec<f64> = signal.iter().map(|&x| x.into()).collect();
    for level in 0..LEVELS {
        let length = LENGTH >> level;
        for (k, &step) in STEPS.iter().enumerate() {
            for i in (1 - k % 2..length).step_by(2) {
                let after = if i + 1 < length { i + 1 } else { i - 1 };
                all[i] += f64::from(step) * (all[i.abs_diff(1)] + all[after]);
            }
        }
        let smooth: Vec<f64> = (0..length).step_by(2).map(|i| all[i] / f64::from(NORM)).collect();
        let rough: Vec<f64> = (1..length).step_by(2).map(|i| all[i] * f64::from(NORM)).collect();
        all.splice(..length, smooth.into_iter().chain(rough));
    }
    all
}

/// Relaxation in `f64`, in place: cells whose row and column are even together come first.
fn relaxed_exactly(plates: &[f32], steps: u32, rate: f64) -> Vec<f64> {
    let height = ROWS * PARTS as usize;
    let mut all: Vec<f64> = plates.iter().map(|&x| x.into()).collect();
    for plate in all.chunks_mut(height * COLUMNS) {
        for step in 0..2 * steps as usize {
            for row in 1..height - 1 {
                for column in (1..COLUMNS - 1).filter(|column| (row + column) % 2 == step % 2) {
                    let at = row * COLUMNS + column;
                    let sum = plate[at - COLUMNS] + plate[at + COLUMNS] + plate[at - 1] + plate[at + 1];
                    plate[at] += rate * (sum / 4.0 - plate[at]);
                }
            }
        }
    }
    all
}

/// The light of a pixel of the fog, and the share that passes.
fn seen(volume: &[f32], edge: usize, width: usize, steps: u32, pixel: usize) -> [f64; 2] {
    let size = edge as f64;
    let at = |pixel: usize| (pixel as f64 + 0.5) / width as f64 - 0.5;
    let along = [at(pixel % width), at(pixel / width), 1.0];
    let length = along.iter().map(|x| x * x).sum::<f64>().sqrt();
    let eye = [0.5 * size, 0.4 * size, -size];
    let (mut brought, mut passed) = (0.0, 1.0);
    for step in 0..steps {
        let at: Vec<f64> =
            (0..3).map(|k| (eye[k] + along[k] / length * (size + f64::from(step))).clamp(0.0, size - 1.0)).collect();
        let corner = |corner: usize| {
            let part = |k: usize| {
                let whole = at[k].floor().min(size - 2.0);
                let t = at[k] - whole;
                if corner >> k & 1 == 1 { (whole as usize + 1, t) } else { (whole as usize, 1.0 - t) }
            };
            let [(x, s), (y, t), (z, u)] = std::array::from_fn(part);
            f64::from(volume[(z * edge + y) * edge + x]) * s * t * u
        };
        let thickness = (0..8).map(corner).sum::<f64>();
        brought += passed * (1.0 - (-thickness).exp()) * (1.0 - thickness / 2.0);
        passed *= (-thickness).exp();
    }
    [brought, passed]
}

fn cases(scale: Scale) -> Vec<Case> {
    let count: usize = scale.pick(1 << 14, 2);
    let signals: usize = scale.pick(1 << 15, 2);
    let (plates, steps, rate): (usize, u32, f32) = (scale.pick(1024, 2), scale.pick(24, 3), 1.6);
    let (edge, width): (usize, usize) = scale.pick((192, 1536), (16, 32));
    let reach = 3 * edge as u32 / 2;
    let pair =
        |entry, size: usize, unit, grid: usize, block| Pair::new(entry, TWINS, (size as u64, unit), grid as u32, block);
    vec![
        pair("tridiagonal", count, "systems", count, EQUATIONS).bytes(20 * count * EQUATIONS).case(
            move || systems(count),
            count * EQUATIONS,
            move |_| {
                launch([], move |device, input, out| tridiagonal(input, out).grid(count as u32).enqueue(device))?
                    .like(|systems| systems.chunks(EQUATIONS).flat_map(solved).collect::<Vec<f64>>())
            },
        ),
        pair("wavelets", signals, "signals", signals, 256).bytes(8 * signals * LENGTH).case(
            move || data::reals(331, signals * LENGTH),
            signals * LENGTH,
            move |_| {
                launch([], move |device, input, out| wavelets(input, out).grid(signals as u32).enqueue(device))?
                    .like(|signals| signals.chunks(LENGTH).flat_map(transformed).collect::<Vec<f64>>())
            },
        ),
        pair("relaxed", plates, "plates", 4 * plates, 256).cluster(4).bytes(8 * plates * 4 * ROWS * COLUMNS).case(
            move || data::reals(332, plates * 4 * ROWS * COLUMNS),
            plates * 4 * ROWS * COLUMNS,
            move |_| {
                launch([Argument::Number(steps), Argument::Real(rate)], move |device, input, out| {
                    let (input, mut out) = (input.as_chunks()?, out.as_chunks_mut()?);
                    relaxed(&input, &mut out, steps, rate).grid(4 * plates as u32).enqueue(device)
                })?
                .like(move |plates| relaxed_exactly(plates, steps, rate.into()))
            },
        ),
        pair("fog", width * width, "pixels", width * width / 256, 256)
            .bytes(4 * edge * edge * edge + 8 * width * width)
            .case(
                move || {
                    let clear = |bits: u64| (data::real(bits) - 0.4).max(0.0) * 0.3;
                    data::random(333, edge * edge * edge, clear)
                },
                2 * width * width,
                move |_| {
                    let words = [edge as u64, width as u64].map(Argument::Word);
                    launch([&words[..], &[Argument::Number(reach)]].concat(), move |device, input, out| {
                        let mut out = out.as_chunks_mut()?;
                        fog(input, &mut out, edge, width, reach).grid((width * width / 256) as u32).enqueue(device)
                    })?
                    .like(move |volume| {
                        (0..width * width)
                            .flat_map(|pixel| seen(volume, edge, width, reach, pixel))
                            .collect::<Vec<f64>>()
                    })
                },
            ),
    ]
}
