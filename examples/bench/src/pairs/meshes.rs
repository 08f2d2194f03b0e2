//! Meshes, particles and rays: lattices, elements, neighbours in cells, triangles.

use phalanx::prelude::*;

use super::{Pair, launch};
use crate::case::{Case, Scale, Showcase};
use crate::data;
use crate::memory::Memory;
use crate::twin::Argument;

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "meshes", about: "lattice Boltzmann, finite elements, smoothed particles, rays", cases };

/// The directions and weights of the lattice D2Q9.
const DIRECTIONS: [(i32, i32); 9] = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)];
const WEIGHTS: [f32; 9] = {
    let (straight, slanted) = (1.0 / 9.0, 1.0 / 36.0);
    [4.0 / 9.0, straight, straight, straight, straight, slanted, slanted, slanted, slanted]
};

/// A step of the lattice Boltzmann method on a torus: each cell pulls what streams into it, and relaxes.
#[cluster_kernel(block = 256)]
fn lattice(before: &[f32], after: &mut [f32], width: i32, height: i32, rate: f32) {
    let i = this_grid().thread_rank();
    let cells = (width * height) as usize;
    if i >= cells {
        return;
    }
    let (x, y) = (i as i32 % width, i as i32 / width);
    let pulled: [f32; 9] = std::array::from_fn(|k| {
        let (dx, dy) = DIRECTIONS[k];
        let (column, row) = ((x - dx).rem_euclid(width), (y - dy).rem_euclid(height));
        before[k * cells + (row * width + column) as usize]
    });
    let density = pulled.iter().sum::<f32>();
    let (mut ux, mut uy) = (0.0, 0.0);
    for (f, &(dx, dy)) in pulled.iter().zip(&DIRECTIONS) {
        ux += f * dx as f32;
        uy += f * dy as f32;
    }
    (ux, uy) = (ux / density, uy / density);
    let square = ux * ux + uy * uy;
    for (k, (&f, (dx, dy))) in pulled.iter().zip(DIRECTIONS).enumerate() {
        let along = ux * dx as f32 + uy * dy as f32;
        let balanced = WEIGHTS[k] * density * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * square);
        after[k * cells + i] = f + rate * (balanced - f);
    }
}

/// The stiffness of a unit cube for Laplace's equation, with linear elements: corners are numbers of three bits.
const STIFFNESS: [[f32; 8]; 8] = {
    let mut all = [[0.0; 8]; 8];
    let mut k = 0;
    while k < 64 {
        let (a, b) = (k / 8, k % 8);
        all[a][b] = match (a ^ b).count_ones() {
            0 => 1.0 / 3.0,
            1 => 0.0,
            _ => -1.0 / 12.0,
        };
        k += 1;
    }
    all
};

/// The operator of a mesh of cubes without its matrix: each element adds to its eight nodes.
#[cluster_kernel(block = 256)]
fn elements(values: &[f32], cubes: &[[u32; 8]], coefficients: &[f32], out: &mut [f32]) {
    let i = this_grid().thread_rank();
    if i >= cubes.len() {
        return;
    }
    let nodes = cubes[i];
    let local = nodes.map(|node| values[node as usize]);
    for (&node, row) in nodes.iter().zip(&STIFFNESS) {
        let flux = row.iter().zip(&local).map(|(k, value)| k * value).sum::<f32>();
        out.atomic(node).fetch_add(coefficients[i] * flux, Relaxed);
    }
}

#[repr(C)]
#[derive(Clone, Copy, DeviceCopy, Default)]
struct Particle {
    position: [f32; 3],
    mass: f32,
}

/// The reach of a particle, and the width of a cell.
const REACH: f32 = 1.0;

/// The kernel of a smoothed particle, but for its norm (Müller et al., 2003).
#[device]
fn smoothed(square: f32) -> Option<f32> {
    let inside = REACH * REACH - square;
    (inside > 0.0).then_some(inside * inside * inside)
}

/// The densities of particles that are sorted by cells: three rows of three cells in each of three planes.
#[cluster_kernel(block = 128)]
fn densities(particles: &[Particle], starts: &[u32], out: &mut [f32], edge: usize) {
    let i = this_grid().thread_rank();
    let Some(own) = particles.get(i).copied() else {
        return;
    };
    let position: [f32; 3] = own.position;
    let [x, y, z] = position.map(|p| (p / REACH) as usize);
    let mut density = 0.0;
    for plane in z - 1..=z + 1 {
        for row in y - 1..=y + 1 {
            let cell = (plane * edge + row) * edge + x;
            let near = &particles[starts[cell - 1] as usize..starts[cell + 2] as usize];
            for other in near {
                let square = own.position.iter().zip(&other.position).map(|(a, b)| (a - b) * (a - b)).sum::<f32>();
                if let Some(weight) = smoothed(square) {
                    density += other.mass * weight;
                }
            }
        }
    }
    out[i] = density;
}

#[repr(C)]
#[derive(Clone, Copy, DeviceCopy, Default)]
struct Ray {
    origin: [f32; 3],
    direction: [f32; 3],
}

#[device]
fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[device]
fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a.iter().zip(&b).map(|(a, b)| a * b).sum::<f32>()
}

#[device]
fn minus(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    std::array::from_fn(|k| a[k] - b[k])
}

/// A corner and the sides to the other two.
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy, Default)]
struct Triangle {
    corner: [f32; 3],
    sides: [[f32; 3]; 2],
}

#[device]
impl Triangle {
    /// Where the ray meets the triangle (Möller and Trumbore, 1997).
    fn hit(&self, ray: &Ray) -> Option<f32> {
        let [first, second] = self.sides;
        let normal = cross(ray.direction, second);
        let scale = dot(first, normal);
        if scale.abs() < 1e-8 {
            return None;
        }
        let to = minus(ray.origin, self.corner);
        let u = dot(to, normal) / scale;
        let across = cross(to, first);
        let v = dot(ray.direction, across) / scale;
        let distance = dot(second, across) / scale;
        (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance > 0.0).then_some(distance)
    }
}

/// The triangles that a block holds at a time, one loaded by each thread.
const TILE: usize = 128;

/// How far each ray goes before it meets a triangle, or -1.
#[cluster_kernel(block = TILE)]
fn rays(rays: &[Ray], triangles: &[Triangle], out: &mut [f32]) {
    let block = this_thread_block();
    let tile = shared_array::<Triangle, TILE>();
    let ray = rays[this_grid().thread_rank()];
    let mut nearest: Option<f32> = None;
    for part in triangles.chunks(TILE) {
        if let Some(triangle) = part.get(block.thread_rank() as usize).copied() {
            tile[block.thread_rank()] = triangle;
        }
        block.sync();
        for triangle in tile.iter().take(part.len()) {
            if let Some(distance) = triangle.hit(&ray)
                && nearest.is_none_or(|so_far| distance < so_far)
            {
                nearest = Some(distance);
            }
        }
        block.sync();
    }
    out[this_grid().thread_rank()] = nearest.unwrap_or(-1.0);
}

const TWINS: &str = include_str!("../../twins/meshes.cu");

/// The step of the lattice in `f64`.
fn relaxed(before: &[f32], width: usize, height: usize, rate: f64) -> Vec<f64> {
    let cells = width * height;
    let mut after = vec![0.0; 9 * cells];
    for i in 0..cells {
        let pulled: [f64; 9] = std::array::from_fn(|k| {
            let (dx, dy) = DIRECTIONS[k];
            let column = (i % width + width).wrapping_add_signed(-dx as isize) % width;
            let row = (i / width + height).wrapping_add_signed(-dy as isize) % height;
            f64::from(before[k * cells + row * width + column])
        });
        let moment = |of: fn((i32, i32)) -> i32| (0..9).map(|k| f64::from(of(DIRECTIONS[k])) * pulled[k]).sum::<f64>();
        let (density, ux, uy) = (moment(|_| 1), moment(|d| d.0), moment(|d| d.1));
        let (ux, uy) = (ux / density, uy / density);
        for k in 0..9 {
            let along = ux * f64::from(DIRECTIONS[k].0) + uy * f64::from(DIRECTIONS[k].1);
            let terms = 1.0 + 3.0 * along + 4.5 * along * along - 1.5 * (ux * ux + uy * uy);
            after[k * cells + i] = pulled[k] + rate * (f64::from(WEIGHTS[k]) * density * terms - pulled[k]);
        }
    }
    after
}

/// A mesh of `edge` cubes along each axis: the nodes of its cubes.
fn cubes(edge: usize) -> Vec<[u32; 8]> {
    let node = |x: usize, y: usize, z: usize| ((z * (edge + 1) + y) * (edge + 1) + x) as u32;
    let cube = |i: usize| {
        let (x, y, z) = (i % edge, i / edge % edge, i / (edge * edge));
        std::array::from_fn(|k| node(x + (k & 1), y + (k >> 1 & 1), z + (k >> 2)))
    };
    (0..edge * edge * edge).map(cube).collect()
}

/// Particles in the inner cells of a box, sorted by cell, and where each cell's begin.
fn sorted(count: usize, edge: usize) -> (Vec<Particle>, Vec<u32>) {
    let place = |x: f32| 1.0 + (x + 1.0) * 0.499 * (edge - 2) as f32;
    let numbers = data::reals(150, 4 * count);
    let particle = |p: &[f32]| Particle { position: [place(p[0]), place(p[1]), place(p[2])], mass: 1.5 + p[3] };
    let mut all: Vec<Particle> = numbers.chunks(4).map(particle).collect();
    let cell = |p: &Particle| {
        let [x, y, z] = p.position.map(|x| (x / REACH) as usize);
        (z * edge + y) * edge + x
    };
    all.sort_by_key(cell);
    let mut starts = vec![0u32; edge * edge * edge + 1];
    all.iter().for_each(|p| starts[cell(p) + 1] += 1);
    for k in 1..starts.len() {
        starts[k] += starts[k - 1];
    }
    (all, starts)
}

fn cases(scale: Scale) -> Vec<Case> {
    let (width, height): (usize, usize) = scale.pick((4096, 2048), (32, 16));
    let edge: usize = scale.pick(160, 8);
    let (count, cells): (usize, usize) = scale.pick((1 << 20, 64), (256, 6));
    let (shot, triangles): (usize, usize) = scale.pick((1 << 18, 2000), (256, 200));
    let nodes = (edge + 1) * (edge + 1) * (edge + 1);
    let all = edge * edge * edge;
    let pair =
        |entry, size: usize, unit, grid: usize, block| Pair::new(entry, TWINS, (size as u64, unit), grid as u32, block);
    vec![
        pair("lattice", width, "columns", width * height / 256, 256).bytes(72 * width * height).case(
            move || data::random(151, 9 * width * height, |bits| 0.3 + 0.1 * data::real(bits)),
            9 * width * height,
            move |_| {
                let further =
                    vec![Argument::Number(width as u32), Argument::Number(height as u32), Argument::Real(0.6)];
                launch(further, move |device, input, out| {
                    let call = lattice(input, out, width as i32, height as i32, 0.6);
                    call.grid((width * height / 256) as u32).enqueue(device)
                })?
                .like(move |before| relaxed(before, width, height, 0.6))
            },
        ),
        pair("elements", edge, "cubes along an edge", all / 256, 256).bytes(44 * all).adds().case(
            move || data::reals(152, nodes),
            nodes,
            move |device| {
                let (mesh, coefficients) = (cubes(edge), data::reals(153, all));
                let (m, c) = (Memory::upload(device, &mesh)?, Memory::upload(device, &coefficients)?);
                let words = [m.address(), c.address(), all as u64].map(Argument::Word);
                launch(words, move |device, input, out| {
                    elements(input, &m.buffer, &c.buffer, out).grid((all / 256) as u32).enqueue(device)
                })?
                .like(move |values| {
                    let mut out = vec![0.0; nodes];
                    for (cube, &coefficient) in mesh.iter().zip(&coefficients) {
                        for (a, b) in (0..64).map(|k| (k / 8, k % 8)) {
                            let term = STIFFNESS[a][b] * values[cube[b] as usize];
                            out[cube[a] as usize] += f64::from(coefficient) * f64::from(term);
                        }
                    }
                    out
                })
            },
        ),
        pair("densities", count, "particles", count / 128, 128).bytes(20 * count).case(
            move || sorted(count, cells).0,
            count,
            move |device| {
                let starts = Memory::upload(device, &sorted(count, cells).1)?;
                let words = [starts.address(), cells as u64, count as u64].map(Argument::Word);
                launch(words, move |device, input, out| {
                    densities(input, &starts.buffer, out, cells).grid((count / 128) as u32).enqueue(device)
                })?
                .like(|particles| {
                    let term = |a: &Particle, b: &Particle| {
                        let square = |k: usize| f64::from(a.position[k] - b.position[k]).powi(2);
                        f64::from(b.mass) * (1.0 - square(0) - square(1) - square(2)).max(0.0).powi(3)
                    };
                    let density = |own| particles.iter().map(|other| term(own, other)).sum::<f64>();
                    particles.iter().map(density).collect()
                })
            },
        ),
        pair("rays", triangles, "triangles", shot / TILE, TILE).bytes(28 * shot).case(
            move || {
                let ray = |r: &[f32]| Ray { origin: [r[0], r[1], -2.0], direction: [0.3 * r[2], 0.3 * r[3], 1.0] };
                data::reals(154, 4 * shot).chunks(4).map(ray).collect::<Vec<Ray>>()
            },
            shot,
            move |device| {
                let triangle = |r: &[f32]| {
                    let side = |k: usize| std::array::from_fn(|axis| 0.2 * r[k + axis]);
                    Triangle { corner: [r[0], r[1], r[2]], sides: [side(3), side(6)] }
                };
                let all: Vec<Triangle> = data::reals(155, 9 * triangles).chunks(9).map(triangle).collect();
                let memory = Memory::upload(device, &all)?;
                launch([memory.address(), triangles as u64].map(Argument::Word), move |device, input, out| {
                    rays(input, &memory.buffer, out).grid((shot / TILE) as u32).enqueue(device)
                })?
                .like(move |rays| {
                    let nearest = |ray: &Ray| {
                        let hits = all.iter().filter_map(|triangle| triangle.hit(ray));
                        hits.reduce(f32::min).unwrap_or(-1.0)
                    };
                    rays.iter().map(nearest).collect()
                })
            },
        ),
    ]
}
