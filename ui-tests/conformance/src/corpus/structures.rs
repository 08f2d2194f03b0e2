//! Kernels over structs: moments, clusters of points, rays.

use phalanx::prelude::*;

use super::{below, reals};
use crate::{Module, Outcome, check_list, kernel_list, same};

const BLOCK: usize = 128;

/// The moments of a set of numbers.
#[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
#[repr(C)]
struct Moments {
    sum: i64,
    squares: i64,
    low: i32,
    high: i32,
}

#[device]
impl Moments {
    fn of(value: i32) -> Moments {
        Moments { sum: value as i64, squares: value as i64 * value as i64, low: value, high: value }
    }
    fn none() -> Moments {
        Moments { sum: 0, squares: 0, low: i32::MAX, high: i32::MIN }
    }
    fn and(self, other: Moments) -> Moments {
        Moments {
            sum: self.sum + other.sum,
            squares: self.squares + other.squares,
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }
}

/// A reduction of structs over threads, over a block, and over a cluster whose first block reads the others' results
/// (Thrust's `summary_statistics` example, on clusters).
#[cluster_kernel(cluster = 4, block = 128)]
fn statistics(values: &[i32], out: &mut [Moments]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let grid = this_grid();
    let partial = shared_array::<Moments, BLOCK>();
    let i = block.thread_rank();
    let mut all = Moments::none();
    for at in (grid.thread_rank()..values.len()).step_by(grid.num_threads()) {
        all = all.and(Moments::of(values[at]));
    }
    partial[i] = all;
    let mut half = BLOCK as u32 / 2;
    while half > 0 {
        block.sync();
        if i < half {
            partial[i] = partial[i].and(partial[i + half]);
        }
        half /= 2;
    }
    cluster.sync();
    if cluster.thread_rank() == 0 {
        all = Moments::none();
        for rank in 0..cluster.num_blocks() {
            all = all.and(cluster.map_shared_rank(&partial, rank)[0]);
        }
        out[grid.cluster_rank()] = all;
    }
    cluster.sync();
}

/// A point of the plane on a grid of integers.
#[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
#[repr(C)]
struct Point {
    x: i32,
    y: i32,
}

/// The points that are nearest to a centre.
#[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
#[repr(C)]
struct Group {
    x: i32,
    y: i32,
    count: u32,
}

/// A step of Lloyd's k-means: each point to its centre, and sums of each centre's points, by a block in shared memory and
/// then by the grid (cuML's and kmcuda's fused kernels).
#[cluster_kernel(block = 128)]
fn assign<const K: usize>(
    points: &[Point],
    centres: &[Point],
    nearest: &mut [u8],
    x: &mut [i32],
    y: &mut [i32],
    counts: &mut [u32],
) {
    let block = this_thread_block();
    let local = shared_array::<Point, K>();
    let sums_x = shared_array::<i32, K>();
    let sums_y = shared_array::<i32, K>();
    let sizes = shared_array::<u32, K>();
    let i = block.thread_rank();
    for k in (i as usize..K).step_by(BLOCK) {
        local[k] = centres[k];
        sums_x[k] = 0;
        sums_y[k] = 0;
        sizes[k] = 0;
    }
    block.sync();
    let at = this_grid().thread_rank();
    if at < points.len() {
        let point = points[at];
        let mut best = (i64::MAX, 0);
        for k in 0..K {
            let (dx, dy) = ((point.x - local[k].x) as i64, (point.y - local[k].y) as i64);
            let distance = dx * dx + dy * dy;
            best = match best {
                (least, _) if distance < least => (distance, k),
                other => other,
            };
        }
        let (_, k) = best;
        nearest[at] = k as u8;
        sums_x.atomic(k).fetch_add(point.x, Relaxed);
        sums_y.atomic(k).fetch_add(point.y, Relaxed);
        sizes.atomic(k).fetch_add(1, Relaxed);
    }
    block.sync();
    for k in (i as usize..K).step_by(BLOCK) {
        x.atomic(k).fetch_add(sums_x[k], Relaxed);
        y.atomic(k).fetch_add(sums_y[k], Relaxed);
        counts.atomic(k).fetch_add(sizes[k], Relaxed);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
#[repr(C)]
struct Vec3 {
    x: f32,
    y: f32,
    z: f32,
}

#[device]
impl Vec3 {
    fn dot(self, other: Vec3) -> f32 {
        self.z.mul_add(other.z, self.y.mul_add(other.y, self.x * other.x))
    }
    fn minus(self, other: Vec3) -> Vec3 {
        Vec3 { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
    }
    fn along(self, direction: Vec3, by: f32) -> Vec3 {
        Vec3 {
            x: direction.x.mul_add(by, self.x),
            y: direction.y.mul_add(by, self.y),
            z: direction.z.mul_add(by, self.z),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
#[repr(u32)]
enum Material {
    Matte,
    Mirror,
    Light,
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
#[repr(C)]
struct Sphere {
    centre: Vec3,
    radius: f32,
    material: Material,
}

/// Returns where a ray meets a sphere, in front of its start.
#[device]
fn distance(start: Vec3, direction: Vec3, sphere: Sphere) -> Option<f32> {
    let to = sphere.centre.minus(start);
    let along = to.dot(direction);
    let beside = along * along - to.dot(to) + sphere.radius * sphere.radius;
    if beside < 0.0 {
        return None;
    }
    let first = along - beside.sqrt();
    if first > 1e-3 { Some(first) } else { None }
}

/// Follows a ray over mirrors, at most `BOUNCES` times; the brightness at its end.
#[device]
fn trace<const BOUNCES: u32>(from: Vec3, towards: Vec3, spheres: &[Sphere]) -> f32 {
    let (mut start, mut direction, mut brightness) = (from, towards, 1.0);
    for _ in 0..BOUNCES {
        let mut hit: Option<(f32, u32)> = None;
        for k in 0..spheres.len() as u32 {
            hit = match (distance(start, direction, spheres[k]), hit) {
                (Some(near), Some((nearest, other))) => Some(if near < nearest { (near, k) } else { (nearest, other) }),
                (Some(near), None) => Some((near, k)),
                (None, before) => before,
            };
        }
        let Some((near, k)) = hit else { return brightness * 0.25 };
        let sphere = spheres[k];
        let at = start.along(direction, near);
        let normal = at.minus(sphere.centre);
        match sphere.material {
            Material::Light => return brightness,
            Material::Matte => return brightness * (normal.z / sphere.radius).max(0.0) * 0.5,
            Material::Mirror => {
                let turn = -2.0 * direction.dot(normal) / (sphere.radius * sphere.radius);
                direction = direction.along(normal, turn);
                start = at;
                brightness *= 0.75;
            }
        }
    }
    0.0
}

/// A picture of spheres (Shirley's "Ray Tracing in One Weekend", as NVIDIA's "Accelerated Ray Tracing in One Weekend in
/// CUDA" puts it on a GPU), from above, without random rays.
#[cluster_kernel(block = (16, 8))]
fn render(spheres: &[Sphere], out: &mut [f32], width: u32, height: u32) {
    let at = this_grid().block_index();
    let thread = this_thread_block().thread_index();
    let (column, row) = (at.x * 16 + thread.x, at.y * 8 + thread.y);
    if column >= width || row >= height {
        return;
    }
    let across = |i: u32, of: u32| (i as f32 + 0.5) / of as f32 * 2.0 - 1.0;
    let eye = Vec3 { x: across(column, width), y: across(row, height), z: 3.0 };
    out[row * width + column] = trace::<4>(eye, Vec3 { x: 0.0, y: 0.0, z: -1.0 }, spheres);
}

fn summaries(device: &Device) -> Outcome {
    for len in [5000, 300] {
        let values: Vec<i32> = super::random(311, len).into_iter().map(|value| value as i32).collect();
        let input = device.upload(&values)?;
        let mut out = device.upload(&[Moments::none(); 2])?;
        statistics(&input, &mut out).grid(8).launch(device)?;
        let got = out.read()?;
        let all = got[0].and(got[1]);
        let wide = || values.iter().map(|&value| i64::from(value));
        let want = Moments {
            sum: wide().sum(),
            squares: wide().fold(0, |sum: i64, value| sum.wrapping_add(value * value)),
            low: *values.iter().min().expect("values"),
            high: *values.iter().max().expect("values"),
        };
        if all != want {
            return Err(format!("{len} values: {all:?}, and not {want:?}").into());
        }
    }
    Ok(())
}

fn groups(device: &Device) -> Outcome {
    const K: usize = 5;
    for len in [256, 333] {
        let place = |seed, len| below(2000, seed, len).into_iter().map(|x| x as i32 - 1000).collect::<Vec<_>>();
        let pair = |(x, y)| Point { x, y };
        let points: Vec<Point> = place(312, len).into_iter().zip(place(313, len)).map(pair).collect();
        let centres: Vec<Point> = place(314, K).into_iter().zip(place(315, K)).map(pair).collect();
        let (a, b) = (device.upload(&points)?, device.upload(&centres)?);
        let (mut nearest, mut x, mut y, mut counts) =
            (device.zeros(len)?, device.zeros(K)?, device.zeros(K)?, device.zeros(K)?);
        assign::<K>(&a, &b, &mut nearest, &mut x, &mut y, &mut counts)
            .grid(len.div_ceil(BLOCK) as u32)
            .launch(device)?;
        let mut want = [Group { x: 0, y: 0, count: 0 }; K];
        let mut chosen = Vec::new();
        for point in &points {
            let distance = |k: &usize| {
                let (dx, dy) = (i64::from(point.x - centres[*k].x), i64::from(point.y - centres[*k].y));
                dx * dx + dy * dy
            };
            let k = (0..K).min_by_key(distance).expect("centres");
            chosen.push(k as u8);
            want[k] = Group { x: want[k].x + point.x, y: want[k].y + point.y, count: want[k].count + 1 };
        }
        same(&nearest.read()?, &chosen, |i| format!("point {i} of {len}"))?;
        same(&x.read()?, &want.map(|group| group.x), |i| format!("x of group {i}"))?;
        same(&y.read()?, &want.map(|group| group.y), |i| format!("y of group {i}"))?;
        same(&counts.read()?, &want.map(|group| group.count), |i| format!("count of group {i}"))?;
    }
    Ok(())
}

fn pictures(device: &Device) -> Outcome {
    let places = reals(316, 60);
    let materials = [Material::Matte, Material::Mirror, Material::Light];
    let spheres: Vec<Sphere> = (0..20)
        .map(|k| Sphere {
            centre: Vec3 { x: places[3 * k], y: places[3 * k + 1], z: places[3 * k + 2] },
            radius: 0.1 + k as f32 * 0.01,
            material: materials[k % 3],
        })
        .collect();
    let input = device.upload(&spheres)?;
    for (width, height) in [(32u32, 16u32), (21, 13)] {
        let mut out = device.zeros((width * height) as usize)?;
        render(&input, &mut out, width, height).grid((width.div_ceil(16), height.div_ceil(8))).launch(device)?;
        let across = |i: u32, of: u32| (i as f32 + 0.5) / of as f32 * 2.0 - 1.0;
        let pixel = |i: u32| {
            let (mut start, mut direction, mut brightness) = (
                Vec3 { x: across(i % width, width), y: across(i / width, height), z: 3.0 },
                Vec3 { x: 0.0, y: 0.0, z: -1.0 },
                1.0,
            );
            for _ in 0..4 {
                let hits = spheres.iter().filter_map(|s| Some((distance(start, direction, *s)?, s)));
                let Some((near, sphere)) = hits.min_by(|a, b| a.0.total_cmp(&b.0)) else { return brightness * 0.25 };
                let at = start.along(direction, near);
                let normal = at.minus(sphere.centre);
                match sphere.material {
                    Material::Light => return brightness,
                    Material::Matte => return brightness * (normal.z / sphere.radius).max(0.0) * 0.5,
                    Material::Mirror => {
                        let turn = -2.0 * direction.dot(normal) / (sphere.radius * sphere.radius);
                        (direction, start, brightness) = (direction.along(normal, turn), at, brightness * 0.75);
                    }
                }
            }
            0.0
        };
        same(&out.read()?, &(0..width * height).map(pixel).collect::<Vec<_>>(), |i| format!("{width} wide, {i}"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::structures",
        checks: check_list![summaries, groups, pictures],
        kernels: kernel_list![statistics, assign<5>, render],
    }
}
