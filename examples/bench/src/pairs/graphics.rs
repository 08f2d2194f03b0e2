//! Pictures and shapes: filters that keep edges, colours, vertices that bones move, and the maxima of windows.

use phalanx::prelude::*;

use super::{Pair, launch};
use crate::case::{Case, Scale, Showcase};
use crate::data;
use crate::memory::Memory;
use crate::twin::Argument;

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "graphics", about: "bilateral filters, colours, skinned vertices, pooling", cases };

/// How far the bilateral filter reaches, and the pixels of a block with that border.
const REACH: usize = 3;
const WIDE: usize = 32 + 2 * REACH;
const HIGH: usize = 8 + 2 * REACH;

/// A filter that keeps edges: the weight of a neighbour falls with its distance and with its difference (Tomasi and
/// Manduchi, 1998). Beyond the border lies the outermost pixel again.
#[cluster_kernel(block = (32, 8))]
fn bilateral(picture: &[f32], out: &mut [f32], width: usize, height: usize, near: f32, alike: f32) {
    let block = this_thread_block();
    let tile = shared_array::<[f32; WIDE], HIGH>();
    let (left, top) = (block.group_index().x as usize * 32, block.group_index().y as usize * 8);
    for k in (block.thread_rank() as usize..WIDE * HIGH).step_by(256) {
        let (row, column) = (k / WIDE, k % WIDE);
        let y = (top + row).saturating_sub(REACH).min(height - 1);
        let x = (left + column).saturating_sub(REACH).min(width - 1);
        tile[row][column] = picture[y * width + x];
    }
    block.sync();

    let (x, y) = (block.thread_index().x as usize, block.thread_index().y as usize);
    let own = tile[y + REACH][x + REACH];
    let (mut sum, mut weights) = (0.0, 0.0);
    for dy in 0..=2 * REACH {
        for dx in 0..=2 * REACH {
            let distance = (dx.abs_diff(REACH).pow(2) + dy.abs_diff(REACH).pow(2)) as f32;
            let other = tile[y + dy][x + dx];
            let difference = other - own;
            let weight = fast::exp(-(distance * near + difference * difference * alike));
            sum += weight * other;
            weights += weight;
        }
    }
    out[(top + y) * width + left + x] = sum / weights;
}

/// A pixel.
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy, Default)]
struct Rgb {
    red: u8,
    green: u8,
    blue: u8,
}

/// The luminance of a pixel and its two differences of colours, as JPEG has them, in 8-bit fixed point.
#[device]
fn converted(pixel: Rgb) -> [u8; 3] {
    let [red, green, blue] = [pixel.red as i32, pixel.green as i32, pixel.blue as i32];
    let luma = (77 * red + 150 * green + 29 * blue + 128) >> 8;
    let bluish = ((128 * blue - 43 * red - 85 * green + 128) >> 8) + 128;
    let reddish = ((128 * red - 107 * green - 21 * blue + 128) >> 8) + 128;
    [luma, bluish, reddish].map(|x| x.clamp(0, 255) as u8)
}

/// Planes of luminance and colour: a thread takes four pixels.
#[cluster_kernel(block = 256)]
fn planes(pixels: &[Rgb], out: &mut [u8]) {
    let first = 4 * this_grid().thread_rank();
    if first >= pixels.len() {
        return;
    }
    let (luma, colour) = out.split_at_mut(pixels.len());
    let (bluish, reddish) = colour.split_at_mut(pixels.len());
    let mut four = [u8x4::splat(0); 3];
    for (k, &pixel) in pixels[first..first + 4].iter().enumerate() {
        for (plane, value) in converted(pixel).into_iter().enumerate() {
            four[plane][k] = value;
        }
    }
    luma.store_vec(first, four[0]);
    bluish.store_vec(first, four[1]);
    reddish.store_vec(first, four[2]);
}

/// A vertex with the bones that move it, and how much each does, in 255ths.
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy, Default)]
struct Vertex {
    place: [f32; 3],
    bones: [u8; 4],
    normal: [f32; 3],
    weights: [u8; 4],
}

/// A rotation, as a quaternion whose real part is last, and then a translation.
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy, Default)]
struct Bone {
    turn: [f32; 4],
    shift: [f32; 3],
    unused: f32,
}

#[device]
fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[device]
impl Bone {
    fn turned(self, v: [f32; 3]) -> [f32; 3] {
        let [x, y, z, w] = self.turn;
        let axis = [x, y, z];
        let product: [f32; 3] = cross(axis, v);
        let twice = product.map(|x| 2.0 * x);
        let along = cross(axis, twice);
        std::array::from_fn(|k| v[k] + w * twice[k] + along[k])
    }

    fn moved(self, v: [f32; 3]) -> [f32; 3] {
        let turned = self.turned(v);
        std::array::from_fn(|k| turned[k] + self.shift[k])
    }
}

/// Places and normals of vertices, as mixtures of what four bones make of them.
#[cluster_kernel(block = 256)]
fn skinned(vertices: &[Vertex], bones: &[Bone], out: &mut [[f32; 6]]) {
    let i = this_grid().thread_rank();
    let Some(vertex) = vertices.get(i).copied() else {
        return;
    };
    let (mut place, mut normal) = ([0.0; 3], [0.0; 3]);
    for (&bone, &weight) in vertex.bones.iter().zip(&vertex.weights) {
        let (bone, weight) = (bones[bone as usize], f32::from(weight) / 255.0);
        let (moved, turned) = (bone.moved(vertex.place), bone.turned(vertex.normal));
        for k in 0..3 {
            place[k] += weight * moved[k];
            normal[k] += weight * turned[k];
        }
    }
    let scale = normal.iter().map(|x| x * x).sum::<f32>().max(1e-12).rsqrt();
    let [nx, ny, nz] = normal.map(|x| x * scale);
    let [x, y, z] = place;
    out[i] = [x, y, z, nx, ny, nz];
}

/// The channels that a thread takes.
const LANES: usize = 8;

/// The maxima of windows of 3 by 3 pixels, every two pixels, of pictures whose channels lie side by side.
#[cluster_kernel(block = 128)]
fn pooled(pictures: &[f16], out: &mut [f16], height: usize, width: usize, channels: usize) {
    let i = this_grid().thread_rank();
    let (groups, across, down) = (channels / LANES, width / 2, height / 2);
    let (group, x) = (i % groups, i / groups % across);
    let (y, picture) = (i / groups / across % down, i / groups / across / down);
    let mut most = f16x8::splat(f16::NEG_INFINITY);
    for row in (2 * y).saturating_sub(1)..(2 * y + 2).min(height) {
        for column in (2 * x).saturating_sub(1)..(2 * x + 2).min(width) {
            let at = ((picture * height + row) * width + column) * channels + group * LANES;
            let values = pictures.load_vec::<LANES>(at);
            for k in 0..LANES {
                most[k] = most[k].max(values[k]);
            }
        }
    }
    out.store_vec(i * LANES, most);
}

const TWINS: &str = include_str!("../../twins/graphics.cu");

fn filtered(picture: &[f32], width: usize, near: f64, alike: f64) -> Vec<f64> {
    let height = picture.len() / width;
    let reach = REACH as isize;
    let at = |x: isize, y: isize| {
        let (x, y) = (x.clamp(0, width as isize - 1) as usize, y.clamp(0, height as isize - 1) as usize);
        f64::from(picture[y * width + x])
    };
    let one = |i: usize| {
        let (x, y) = ((i % width) as isize, (i / width) as isize);
        let (mut sum, mut weights) = (0.0, 0.0);
        for dy in -reach..=reach {
            for dx in -reach..=reach {
                let other = at(x + dx, y + dy);
                let weight = (-((dx * dx + dy * dy) as f64) * near - (other - at(x, y)).powi(2) * alike).exp();
                sum += weight * other;
                weights += weight;
            }
        }
        sum / weights
    };
    (0..picture.len()).map(one).collect()
}

/// Quaternions of length one, and translations.
fn skeleton(count: usize) -> Vec<Bone> {
    let bone = |numbers: &[f32]| {
        let length = numbers[..4].iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-3);
        let shift = [numbers[4], numbers[5], numbers[6]];
        Bone { turn: std::array::from_fn(|k| numbers[k] / length), shift, unused: 0.0 }
    };
    data::reals(202, 8 * count).chunks(8).map(bone).collect()
}

/// Vertices with four bones each, whose weights are 255 together.
fn mesh(count: usize, bones: u8) -> Vec<Vertex> {
    let vertex = |numbers: &[f32]| {
        let part = |x: f32| (40.0 * (x + 1.0)) as u8;
        let [a, b, c] = [part(numbers[6]), part(numbers[7]), part(numbers[8])];
        Vertex {
            place: std::array::from_fn(|k| numbers[k]),
            normal: std::array::from_fn(|k| numbers[3 + k]),
            bones: std::array::from_fn(|k| (f32::from(bones) * (numbers[9 + k] + 1.0) / 2.0) as u8),
            weights: [a, b, c, 255 - a - b - c],
        }
    };
    data::reals(203, 13 * count).chunks(13).map(vertex).collect()
}

/// Skins by matrices.
fn moved_exactly(vertex: &Vertex, bones: &[Bone]) -> Vec<f64> {
    let (mut place, mut normal) = ([0.0; 3], [0.0; 3]);
    for (&bone, &weight) in vertex.bones.iter().zip(&vertex.weights) {
        let Bone { turn, shift, .. } = bones[usize::from(bone)];
        let [x, y, z, w] = turn.map(f64::from);
        let matrix = [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
            [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
            [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
        ];
        let weight = f64::from(weight) / 255.0;
        for (k, row) in matrix.iter().enumerate() {
            let times = |v: &[f32; 3]| row.iter().zip(v).map(|(a, &b)| a * f64::from(b)).sum::<f64>();
            place[k] += weight * (times(&vertex.place) + f64::from(shift[k]));
            normal[k] += weight * times(&vertex.normal);
        }
    }
    let length = normal.iter().map(|x| x * x).sum::<f64>().max(1e-12).sqrt();
    [place, normal.map(|x| x / length)].concat()
}

fn cases(scale: Scale) -> Vec<Case> {
    let (width, height): (usize, usize) = scale.pick((4096, 4096), (64, 16));
    let pixels: usize = scale.pick(1 << 26, 2048);
    let (vertices, bones): (usize, usize) = scale.pick((1 << 22, 128), (512, 16));
    let (pictures, edge, channels): (usize, usize, usize) = scale.pick((64, 128, 64), (2, 16, 16));
    let pair =
        |entry, size: usize, unit, grid: usize, block| Pair::new(entry, TWINS, (size as u64, unit), grid as u32, block);
    let (near, alike) = (0.08f32, 6.0f32);
    let threads = pictures * edge * edge * channels / (4 * LANES);
    vec![
        pair("bilateral", width, "columns", width * height / 256, 256).bytes(8 * width * height).case(
            move || data::reals(200, width * height),
            width * height,
            move |_| {
                let size = [width, height].map(|x| Argument::Word(x as u64));
                let further = [&size[..], &[near, alike].map(Argument::Real)].concat();
                launch(further, move |device, input, out| {
                    let call = bilateral(input, out, width, height, near, alike);
                    call.grid((width as u32 / 32, height as u32 / 8)).enqueue(device)
                })?
                .like(move |picture| filtered(picture, width, near.into(), alike.into()))
            },
        ),
        pair("planes", pixels, "pixels", pixels / 1024, 256).bytes(6 * pixels).case(
            move || {
                let colour = |bits: u64| Rgb { red: bits as u8, green: (bits >> 8) as u8, blue: (bits >> 16) as u8 };
                data::random(201, pixels, colour)
            },
            3 * pixels,
            move |_| {
                launch([Argument::Word(pixels as u64)], move |device, input, out| {
                    planes(input, out).grid((pixels / 1024) as u32).enqueue(device)
                })?
                .like(|pixels| {
                    let plane = |factors: [f64; 3], zero: f64| {
                        pixels.iter().map(move |pixel| {
                            let parts = [pixel.red, pixel.green, pixel.blue].map(f64::from);
                            let sum = parts.iter().zip(&factors).map(|(x, factor)| x * factor).sum::<f64>();
                            ((sum + 128.0) / 256.0).floor() + zero
                        })
                    };
                    let luma = plane([77.0, 150.0, 29.0], 0.0);
                    let colour = plane([-43.0, -85.0, 128.0], 128.0).chain(plane([128.0, -107.0, -21.0], 128.0));
                    luma.chain(colour).map(|x| x.clamp(0.0, 255.0)).collect()
                })
            },
        ),
        pair("skinned", vertices, "vertices", vertices / 256, 256).bytes(56 * vertices).case(
            move || mesh(vertices, bones as u8),
            6 * vertices,
            move |device| {
                let skeleton = skeleton(bones);
                let b = Memory::upload(device, &skeleton)?;
                let words = [b.address(), vertices as u64].map(Argument::Word);
                launch(words, move |device, input, out| {
                    let mut out = out.as_chunks_mut()?;
                    skinned(input, &b.buffer, &mut out).grid((vertices / 256) as u32).enqueue(device)
                })?
                .like(move |vertices| {
                    vertices.iter().flat_map(|vertex| moved_exactly(vertex, &skeleton)).collect::<Vec<f64>>()
                })
            },
        ),
        pair("pooled", channels, "channels", threads / 128, 128).bytes(5 * LANES * 2 * threads).case(
            move || data::random(204, 4 * LANES * threads, |bits| f16::from_f32(data::real(bits))),
            LANES * threads,
            move |_| {
                let words = [edge, edge, channels].map(|x| Argument::Word(x as u64));
                launch(words, move |device, input, out| {
                    pooled(input, out, edge, edge, channels).grid((threads / 128) as u32).enqueue(device)
                })?
                .like(move |pictures| {
                    let one = |i: usize| {
                        let (channel, x) = (i % channels, i / channels % (edge / 2));
                        let (y, picture) = (i / channels * 2 / edge % (edge / 2), i / channels * 4 / (edge * edge));
                        let rows = (2 * y).saturating_sub(1)..(2 * y + 2).min(edge);
                        let window = rows.flat_map(|row| {
                            let columns = (2 * x).saturating_sub(1)..(2 * x + 2).min(edge);
                            columns.map(move |column| ((picture * edge + row) * edge + column) * channels + channel)
                        });
                        window.map(|at| f64::from(pictures[at])).fold(f64::NEG_INFINITY, f64::max)
                    };
                    (0..LANES * threads).map(one).collect()
                })
            },
        ),
    ]
}
