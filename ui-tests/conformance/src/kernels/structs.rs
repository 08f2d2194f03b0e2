//! Structs and enums: in buffers, in shared memory and local arrays, as parameters and results; their literals, fields
//! and methods. Each kernel is compared with the same in plain Rust.

use phalanx::prelude::*;

use super::struct_order;
use crate::{Module, Outcome, check_list, equal, kernel_list, read};

#[derive(Clone, Copy, PartialEq, Debug, Default, DeviceCopy)]
#[repr(C)]
struct Arrow {
    x: f32,
    y: f32,
}

#[derive(Clone, Copy, PartialEq, Debug, Default, DeviceCopy)]
#[repr(u8)]
enum State {
    #[default]
    Free,
    Bound = 7,
    Lost,
}

#[derive(Clone, Copy, PartialEq, Debug, Default, DeviceCopy)]
#[repr(C)]
struct Particle {
    pos: Arrow,
    vel: Arrow,
    mass: f32,
    state: State,
    fixed: bool,
    _pad: [u8; 2],
}

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(transparent)]
struct Meters(f32);

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Pair<T> {
    first: T,
    second: T,
}

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Row<T, const N: usize> {
    values: [T; N],
    count: T,
}

fn particles(n: u32) -> Vec<Particle> {
    let particle = |i: u32| Particle {
        pos: Arrow { x: i as f32, y: -(i as f32) },
        vel: Arrow { x: 0.5, y: 0.25 * i as f32 },
        mass: 1.0 + i as f32,
        state: if i.is_multiple_of(3) { State::Bound } else { State::Free },
        fixed: i.is_multiple_of(5),
        _pad: [i as u8, 1],
    };
    (0..n).map(particle).collect()
}

// In memory: fields that are read and written in place, whole values, literals.

#[device]
fn advanced(p: Particle, dt: f32) -> Particle {
    if p.fixed {
        return p;
    }
    Particle { pos: Arrow { x: p.pos.x + p.vel.x * dt, y: p.pos.y + p.vel.y * dt }, ..p }
}

#[cluster_kernel(block = 64)]
fn advance(particles: &mut [Particle], dt: f32) {
    let i = this_grid().thread_rank();
    particles[i] = advanced(particles[i], dt);
    particles[i].vel.y -= 9.81 * dt;
    if particles[i].state == State::Bound && particles[i].pos.y < -20.0 {
        particles[i].state = State::Lost;
        particles[i].mass = 0.0;
    }
    particles[i]._pad[1] += 1;
}

fn advance_particles(device: &Device) -> Outcome {
    let start = particles(64);
    let want: Vec<Particle> = start
        .iter()
        .map(|p| {
            let mut p = advanced(*p, 0.5);
            p.vel.y -= 9.81 * 0.5;
            if p.state == State::Bound && p.pos.y < -20.0 {
                p.state = State::Lost;
                p.mass = 0.0;
            }
            p._pad[1] += 1;
            p
        })
        .collect();
    let mut buffer = device.upload(&start)?;
    advance(&mut buffer, 0.5).grid(1).launch(device)?;
    equal(&buffer.read()?, &want)
}

// By value and by reference, through functions.

#[device]
fn scale(v: &mut Arrow, by: f32) {
    v.x *= by;
    v.y = v.y * by;
}

#[device]
fn dot(a: &Arrow, b: Arrow) -> f32 {
    a.x * b.x + a.y * b.y
}

#[device]
fn swapped(p: Pair<u32>) -> Pair<u32> {
    Pair { second: p.first, first: p.second }
}

#[cluster_kernel(block = 32)]
fn by_value(
    v: Arrow,
    m: Meters,
    pair: Pair<u32>,
    state: State,
    row: Row<u16, 3>,
    many: [Pair<u32>; 2],
    out: &mut [f32],
    flags: &mut [u32],
) {
    let i = this_thread_block().thread_rank();
    let mut own = v;
    scale(&mut own, i as f32);
    let length = Meters(m.0 + 1.5);
    out[i] = dot(&own, v) + length.0;
    let mut turned = swapped(pair);
    turned.first += i;
    let mut copy = row;
    copy.values[i % 3] += 5;
    copy.count = copy.values[0] + copy.values[1] * copy.values[2];
    flags[i] = turned.first * 1000 + turned.second + state as u32 + copy.count as u32 + many[i % 2].second;
    if state != State::Bound {
        flags[i] = 0;
    }
}

fn values(device: &Device) -> Outcome {
    let (v, m, pair, row) =
        (Arrow { x: 1.25, y: -3.0 }, Meters(0.1), Pair { first: 3, second: 8 }, Row { values: [1u16, 2, 3], count: 0 });
    let mut flags = device.zeros(32)?;
    let out = read!(device, 32, |out| by_value(
        v,
        m,
        pair,
        State::Bound,
        row,
        [pair, Pair { first: 0, second: 70 }],
        out,
        &mut flags
    )
    .grid(1));
    let want: Vec<f32> = (0..32)
        .map(|i| {
            let mut own = v;
            scale(&mut own, i as f32);
            dot(&own, v) + (m.0 + 1.5)
        })
        .collect();
    equal(&out, &want)?;
    let want: Vec<u32> = (0..32u32)
        .map(|i| {
            let mut values = row.values;
            values[i as usize % 3] += 5;
            let many = [8, 70][i as usize % 2];
            (8 + i) * 1000 + 3 + 7 + u32::from(values[0] + values[1] * values[2]) + many
        })
        .collect();
    equal(&flags.read()?, &want)
}

// Shared memory, local arrays, arrays in structs, structs in arrays in structs.

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Bin {
    total: f64,
    seen: [Pair<u32>; 2],
}

#[cluster_kernel(block = 32)]
fn through_shared(particles: &[Particle], out: &mut [Particle], bins: &mut [Bin]) {
    let i = this_thread_block().thread_rank();
    let shared = shared_array::<Particle, 32>();
    let rows = shared_array::<[Arrow; 2], 32>();
    shared[i] = particles[i];
    shared[i].pos.x = particles[31 - i].mass * 0.0 + 2.0 * shared[i].pos.x;
    rows[i][1].x = 3.0;
    rows[i][1].y = rows[i][1].x;
    this_thread_block().sync();
    let mut local = [shared[(i + 1) % 32]; 3];
    local[i % 3].vel = rows[i][1];
    local[0]._pad[0] = local[2]._pad[0] + 1;
    out[i] = local[i % 3];
    bins[i].seen[1].first = i;
    bins[i].seen[i % 2].second += 2;
    bins[i].total = bins[i].total + 0.5;
}

fn shared(device: &Device) -> Outcome {
    let input = particles(32);
    let buffer = device.upload(&input)?;
    let bin = Bin { total: 1.0, seen: [Pair { first: 1, second: 2 }, Pair { first: 3, second: 4 }] };
    let mut bins = device.upload(&[bin; 32])?;
    let out = read!(device, 32, |out| through_shared(&buffer, out, &mut bins).grid(1));
    let want: Vec<Particle> = (0..32)
        .map(|i| {
            let mut next = input[(i + 1) % 32];
            next.pos.x *= 2.0;
            let mut local = [next; 3];
            local[i % 3].vel = Arrow { x: 3.0, y: 3.0 };
            local[0]._pad[0] = local[2]._pad[0] + 1;
            local[i % 3]
        })
        .collect();
    equal(&out, &want)?;
    let want: Vec<Bin> = (0..32)
        .map(|i| {
            let mut bin = Bin { total: 1.5, ..bin };
            bin.seen[1].first = i;
            bin.seen[i as usize % 2].second += 2;
            bin
        })
        .collect();
    equal(&bins.read()?, &want)
}

// A field alone: its bytes and no others.

#[cluster_kernel(cluster = 2, block = 32)]
fn fields_alone(out: &mut [f32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let cells = shared_array::<Particle, 32>();
    let i = block.thread_rank();
    // The other fields stay unwritten: to read them would be reported.
    cells[i].vel.y = (i + 100 * cluster.block_rank()) as f32;
    cluster.sync();
    let peer = cluster.map_shared_rank(&cells, 1 - cluster.block_rank());
    peer[i].mass = peer[31 - i].vel.y;
    cluster.sync();
    out[this_grid().thread_rank()] = cells[i].mass + unsafe { cells.get_unchecked(i).vel.y };
    unsafe { *cells.get_unchecked_mut(i) = Particle { mass: 1.0, ..cells_default() } };
    unsafe { cells.get_unchecked_mut(i).pos.x += 2.0 };
    out[this_grid().thread_rank()] += cells[i].pos.x;
}

#[device]
fn cells_default() -> Particle {
    Particle {
        pos: Arrow { x: 0.0, y: 0.0 },
        vel: Arrow { x: 0.0, y: 0.0 },
        mass: -0.0,
        state: State::Free,
        fixed: false,
        _pad: [0; 2],
    }
}

fn alone(device: &Device) -> Outcome {
    let out = read!(device, 64, |out| fields_alone(out).grid(2));
    let want: Vec<f32> = (0..64u32)
        .map(|t| {
            let (rank, i) = (t / 32, t % 32);
            (31 - i + 100 * rank) as f32 + (i + 100 * rank) as f32 + 2.0
        })
        .collect();
    equal(&out, &want)
}

// Methods, patterns, and fields by reference.

#[device]
impl Arrow {
    fn norm(&self) -> f32 {
        (self.x * self.x + self.y * self.y).sqrt()
    }

    fn turn(&mut self) {
        let x = self.x;
        self.x = -self.y;
        self.y = x;
    }

    fn add(&mut self, x: f32) {
        self.x += x;
    }

    fn along(self, x: f32) -> Self {
        Self { x, ..self }
    }

    fn of(x: f32, y: f32) -> Arrow {
        Arrow { x, y }
    }
}

const EAST: Arrow = Arrow { x: 1.0, y: 0.0 };

#[cluster_kernel(block = 32)]
fn methods(particles: &mut [Particle], out: &mut [f32]) {
    let i = this_thread_block().thread_rank();
    let mut p = particles[i];
    p.vel.turn();
    scale(&mut p.vel, 3.0);
    let turned = p.pos.along(p.mass).norm() + particles[i].vel.norm() + dot(&EAST, p.vel) + dot(&p.pos, EAST);
    p.pos = Arrow::of(turned, EAST.norm());
    let Particle { pos: Arrow { x, .. }, state, .. } = p;
    let named = match state {
        State::Free if x > 40.0 => 1,
        State::Free => 2,
        State::Bound | State::Lost => 3,
    };
    let (first, second) = match (p.fixed, Meters(x)) {
        (true, Meters(x)) => (x, State::Lost),
        (false, _) => (0.5, state),
    };
    assert!(second == State::Lost || second == state);
    assert!(second != State::Bound || p.state == State::Bound);
    let kept = if second == State::Free { None } else { Some(p.vel) };
    particles[i] = p;
    if let Some(Arrow { x, y }) = kept {
        particles[i].vel = Arrow { x: y, y: x };
    }
    out[i] = first + named as f32;
}

fn of_methods(device: &Device) -> Outcome {
    let start = particles(32);
    let mut buffer = device.upload(&start)?;
    let out = read!(device, 32, |out| methods(&mut buffer, out).grid(1));
    let mut want = Vec::new();
    let expected: Vec<Particle> = start
        .iter()
        .map(|start| {
            let mut p = *start;
            p.vel.turn();
            scale(&mut p.vel, 3.0);
            let turned = p.pos.along(p.mass).norm() + start.vel.norm() + dot(&EAST, p.vel) + dot(&p.pos, EAST);
            p.pos = Arrow::of(turned, 1.0);
            let named = match p.state {
                State::Free if turned > 40.0 => 1.0,
                State::Free => 2.0,
                State::Bound | State::Lost => 3.0,
            };
            want.push(named + if p.fixed { turned } else { 0.5 });
            if p.fixed || p.state != State::Free {
                p.vel = Arrow { x: p.vel.y, y: p.vel.x };
            }
            p
        })
        .collect();
    equal(&buffer.read()?, &expected)?;
    equal(&out, &want)
}

/// Receivers stay in place whatever the other arguments do, unless those change them.
#[cluster_kernel(block = 1)]
fn receivers(out: &mut [f32]) {
    let mut count = 0u32;
    let mut v = Arrow { x: 1.0, y: 2.0 };
    v.add(struct_order::step(&mut count) as f32);
    out[0] = v.x;
    let mut pair = Pair { first: v, second: v };
    pair.second.add({
        count += 1;
        count as f32
    });
    out[1] = pair.first.x;
    out[2] = pair.second.x;
    let moved = v.along({
        v.y = 9.0;
        v.y
    });
    out[3] = moved.x;
    out[4] = moved.y;
    out[5] = v.y;
}

fn of_receivers(device: &Device) -> Outcome {
    let out = read!(device, 6, |out| receivers(out).grid(1));
    equal(&out, &[2.0, 2.0, 4.0, 9.0, 2.0, 9.0])
}

/// Messages show structs and enums as Rust does.
#[cluster_kernel(block = 1)]
fn asserted(particles: &[Particle]) {
    assert_eq!(particles[0].state, State::Lost, "at {:?}", particles[0].pos);
}

fn assertions(device: &Device) -> Outcome {
    let buffer = device.upload(&particles(1))?;
    let failure = crate::failure(asserted(&buffer).grid(1).launch(device))?;
    let want = "at Arrow { x: 0.0, y: -0.0 }\n  left: Bound\n right: Lost";
    let shown = failure.cause.to_string();
    if shown.ends_with(want) { Ok(()) } else { Err(shown.into()) }
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "structs",
        checks: check_list![advance_particles, values, shared, alone, of_methods, of_receivers, assertions],
        kernels: kernel_list![advance, by_value, through_shared, fields_alone, methods, receivers, asserted],
    }]
}
