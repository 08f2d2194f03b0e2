//! Names that are references: to a thread's own variables and their parts, to elements of memory, to shared arrays, to
//! barriers and groups.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, fails, find, kernel_list, read, same};

const SOURCE: &str = include_str!("references.rs");

#[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
#[repr(C)]
struct Body {
    mass: u32,
    place: [u32; 3],
}

#[device]
fn add(total: &mut u32, x: u32) -> u32 {
    *total += x;
    *total
}

/// A thread's own variables, their fields and their elements.
#[cluster_kernel(block = 1)]
fn own(input: &[u32], out: &mut [u32], n: usize) {
    let mut sums = [[1u32, 2], [3, 4]];
    let mut body = Body { mass: 5, place: [6, 7, 8] };
    let mut i = n;
    let chosen = &mut sums[i][1 - i];
    *chosen += 10;
    let place = &mut body.place;
    place[2] += 20;
    let mass = &mut body.mass;
    *mass = *mass * 2 + input[0];
    add(mass, 3);
    let row = &mut sums[1];
    (row[0], row[1]) = (row[1], row[0]);
    for x in row.iter_mut() {
        *x += 1;
    }
    // The element is chosen before the second argument changes the index.
    out[0] = add(&mut sums[0][i], {
        i += 1;
        input[i]
    });
    out[1] = add(&mut body.place[i - n], add(&mut sums[1][n], 100));
    let both = &mut sums;
    both.swap(0, 1);
    let whole = &sums;
    out[2] = whole[0][0] * 1000 + whole[0][1];
    out[3] = whole[1][0] * 1000 + whole[1][1];
    out[4] = body.mass;
    let Body { place, .. } = body;
    out[5] = place[0] * 10_000 + place[1] * 100 + place[2];
}

fn of_own_variables(device: &Device) -> Outcome {
    let input = [4u32, 5, 6];
    let a = device.upload(&input)?;
    for n in [0usize, 1] {
        let mut sums = [[1u32, 2], [3, 4]];
        let mut body = Body { mass: 5, place: [6, 7, 8] };
        sums[n][1 - n] += 10;
        body.place[2] += 20;
        body.mass = body.mass * 2 + input[0] + 3;
        sums[1].swap(0, 1);
        sums[1].iter_mut().for_each(|x| *x += 1);
        sums[0][n] += input[n + 1];
        let first = sums[0][n];
        sums[1][n] += 100;
        body.place[1] += sums[1][n];
        sums.swap(0, 1);
        let want = [
            first,
            body.place[1],
            sums[0][0] * 1000 + sums[0][1],
            sums[1][0] * 1000 + sums[1][1],
            body.mass,
            body.place[0] * 10_000 + body.place[1] * 100 + body.place[2],
        ];
        let got = read!(device, 6, |out| own(&a, out, n).grid(1));
        same(&got, &want, |i| format!("n = {n}, out[{i}]"))?;
    }
    Ok(())
}

#[cluster_kernel(block = 1)]
fn beyond_own(out: &mut [u32], n: usize) {
    let mut sums = [1u32, 2];
    let chosen = /* bound */ &mut sums[n];
    *chosen = 3;
    out[0] = add(&mut /* lent */ sums[n + 1], 1) + sums[0];
}

fn elements_are_found_where_they_are_borrowed(device: &Device) -> Outcome {
    let mut out = device.zeros(1)?;
    let at = |name| find(file!(), SOURCE, name);
    let say = |index: u32| format!("index {index} out of bounds for length 2");
    fails(beyond_own(&mut out, 1).grid(1).launch(device), &say(2), &at("lent"), (0, 0, 0), (0, 0, 0))?;
    beyond_own(&mut out, 0).grid(1).launch(device)?;
    same(&out.read()?, &[6], |_| "the sum".into())
}

/// Elements of memory, which are read where the reference is bound, and their rows, which are memory.
#[cluster_kernel(block = 32)]
fn of_memory(bodies: &[Body], grid: &[[u32; 4]], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let shared = shared_array::<u32, 32>();
    let body = &bodies[i];
    let place = &bodies[31 - i].place;
    let row = &grid[i];
    shared[i] = body.mass + place[1];
    block.sync();
    let other = &shared[31 - i];
    block.sync();
    shared[i] = 0;
    let sum: u32 = row.iter().sum();
    out[i] = *other + row[i % 4] + sum;
}

fn of_elements_of_memory(device: &Device) -> Outcome {
    let bodies: Vec<Body> = (0..32).map(|i| Body { mass: i * i, place: [i, 3 * i, 2] }).collect();
    let grid: Vec<[u32; 4]> = (0..32).map(|i| [i, i + 1, i * 2, 7]).collect();
    let (a, b) = (device.upload(&bodies)?, device.upload(&grid)?);
    let got = read!(device, 32, |out| of_memory(&a, &b, out).grid(1));
    let shared = |i: usize| bodies[i].mass + bodies[31 - i].place[1];
    let want: Vec<u32> = (0..32).map(|i| shared(31 - i) + grid[i][i % 4] + grid[i].iter().sum::<u32>()).collect();
    same(&got, &want, |i| format!("thread {i}"))
}

#[device]
fn rotate(block: &ThreadBlock, from: &SharedArray<u32, 64>, to: &SharedArray<u32, 64>) {
    let i = block.thread_rank();
    to[i] = from[(i + 1) % 64];
}

/// Shared arrays and groups by other names, two arrays that take turns, and slices of whole memory.
#[cluster_kernel(block = 64)]
fn by_other_names(input: &[u32], out: &mut [u32], rounds: u32) {
    let (block, a, b) = (this_thread_block(), shared_array::<u32, 64>(), shared_array::<u32, 64>());
    let group = &block;
    let i = group.thread_rank();
    let (first, second) = (&a, &b);
    let source = &input;
    first[i] = source[i];
    group.sync();
    rotate(group, first, second);
    group.sync();
    let again = &*first;
    rotate(&block, second, again);
    group.sync();
    let (mut front, mut back) = (&first[..], &b[..]);
    for round in 0..rounds {
        back[i] = front[(i + 1) % 64] + round;
        block.sync();
        if round % 2 == 0 {
            core::mem::swap(&mut front, &mut back);
        } else {
            (back, front) = (front, back);
        }
    }
    let last = if rounds % 2 == 1 { &b } else { &a };
    let result = &mut out;
    result[i] = last[i];
}

fn other_names(device: &Device) -> Outcome {
    let input: Vec<u32> = (0..64).map(|i| i * i).collect();
    let a = device.upload(&input)?;
    for rounds in [0, 1, 2, 5] {
        let got = read!(device, 64, |out| by_other_names(&a, out, rounds).grid(1));
        let extra = (0..rounds).sum::<u32>();
        let want: Vec<u32> = (0..64).map(|i| input[(i + 2 + rounds as usize) % 64] + extra).collect();
        same(&got, &want, |i| format!("{rounds} rounds, thread {i}"))?;
    }
    Ok(())
}

#[device]
fn meet(bar: &Barrier) {
    let token = bar.arrive();
    bar.wait(token);
}

/// Barriers that are chosen by an index and used by a name, and a peer's memory.
#[cluster_kernel(cluster = 2, block = 64)]
fn chosen_barriers(out: &mut [u32], rounds: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let values = shared_array::<[u32; 64], 2>();
    let bars = shared_barriers::<2>();
    let i = block.thread_rank();
    if i == 0 {
        bars[0].init(block.num_threads());
        bars[1].init(block.num_threads());
    }
    block.sync();
    let mut value = i;
    for round in 0..rounds {
        let (bar, row) = (&bars[round % 2], &values[round % 2]);
        row[i] = value;
        if round % 3 == 0 {
            meet(bar);
        } else {
            let token = bar.arrive();
            bar.wait(token);
        }
        value = row[(i + 1) % 64] + round;
    }
    cluster.sync();
    let last = &values[0];
    last[i] = value;
    cluster.sync();
    let peers = cluster.map_shared_rank(last, 1 - cluster.block_rank());
    let peer = &peers;
    out[this_grid().thread_rank()] = peer[63 - i];
    cluster.sync();
}

fn barriers_by_a_name(device: &Device) -> Outcome {
    for rounds in [1u32, 2, 7] {
        let got = read!(device, 128, |out| chosen_barriers(out, rounds).grid(2));
        let extra = (0..rounds).sum::<u32>();
        let want: Vec<u32> = (0..128).map(|i| (63 - i % 64 + rounds) % 64 + extra).collect();
        same(&got, &want, |i| format!("{rounds} rounds, thread {i}"))?;
    }
    Ok(())
}

/// Buffers that an `if` and a `match` choose by the number of the round.
#[cluster_kernel(cluster = 2, block = 64)]
fn chosen_buffers(out: &mut [u32], rounds: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let a = shared_array::<u32, 64>();
    let b = shared_array::<u32, 64>();
    let c = shared_array::<u32, 64>();
    let i = block.thread_rank();
    let other = 1 - cluster.block_rank();
    let mut value = cluster.thread_rank();
    for round in 0..rounds {
        let (from, unused) = match (round + 1) % 3 {
            0 => (&a, &b),
            1 => (&b, &c),
            _ => (&c, &a),
        };
        from[i] = value;
        unused[i] = 1000;
        cluster.sync();
        value = cluster.map_shared_rank(from, other)[63 - i] + round;
    }
    cluster.sync();
    let last = if rounds % 2 == 0 { &a } else { &b };
    last[i] = value;
    block.sync();
    out[cluster.thread_rank()] = last[(i + 1) % 64];
}

fn buffers_by_a_choice(device: &Device) -> Outcome {
    for rounds in [0u32, 1, 2, 7] {
        let got = read!(device, 128, |out| chosen_buffers(out, rounds).grid(2));
        let mut values: Vec<u32> = (0..128).collect();
        for round in 0..rounds {
            values = (0..128).map(|t: usize| values[(1 - t / 64) * 64 + 63 - t % 64] + round).collect();
        }
        let want: Vec<u32> = (0..128).map(|t: usize| values[t / 64 * 64 + (t + 1) % 64]).collect();
        same(&got, &want, |i| format!("{rounds} rounds, thread {i}"))?;
    }
    Ok(())
}

#[device]
fn weight(body: &Body, factors: &[u32]) -> u32 {
    body.mass * factors[0] + body.place[2] * factors[1]
}

#[device]
fn heavier(body: &Body, of: &[Body], i: usize) -> u32 {
    // An element of a slice that the function got is passed on.
    (body.mass * 3 + body.place[2]).max(mass(&of[i], 1))
}

#[device]
fn mass(body: &Body, times: u32) -> u32 {
    body.mass * times
}

#[device]
fn double<T: Number>(x: &T) -> T {
    *x + *x
}

#[device]
impl Body {
    fn dot(&self, other: &Body) -> u32 {
        self.place[0] * other.place[0] + self.place[1] * other.place[1] + self.place[2] * other.place[2]
    }
}

/// Elements of memory that nothing writes, as arguments: structs and numbers by reference, arrays as slices.
#[cluster_kernel(block = 8)]
fn lent(bodies: &[Body], factors: &[[u32; 2]], numbers: &[f32], out: &mut [u32]) {
    let i = this_thread_block().thread_rank() as usize;
    let part = &bodies[2..];
    let mut sum = weight(&bodies[i], &factors[i % 2]);
    sum += weight(&part[i % 3], &factors[1]) * 1_000;
    sum += double(&numbers[i]) as u32 * 1_000_000;
    let body = bodies[i];
    out[i] = sum;
    out[8 + i] = body.dot(&bodies[7 - i]) + mass(&bodies[factors[0][1]], 2);
    out[16 + i] = heavier(&bodies[i], bodies, (i + 1) % 8);
}

fn elements_as_arguments(device: &Device) -> Outcome {
    let bodies: Vec<Body> = (0..8).map(|i| Body { mass: i * i % 11, place: [i, 1, 2 * i] }).collect();
    let factors = [[1, 2], [3, 4]];
    let numbers: Vec<f32> = (0..8).map(|i| i as f32 + 0.5).collect();
    let (b, f, n) = (device.upload(&bodies)?, device.upload(&factors)?, device.upload(&numbers)?);
    let got = read!(device, 24, |out| lent(&b, &f, &n, out).grid(1));
    let of = |body: Body, factors: [u32; 2]| body.mass * factors[0] + body.place[2] * factors[1];
    let dot = |a: Body, b: Body| (0..3).map(|k| a.place[k] * b.place[k]).sum::<u32>();
    let sums = (0..8).map(|i| {
        of(bodies[i], factors[i % 2]) + of(bodies[2 + i % 3], factors[1]) * 1_000 + (2 * i as u32 + 1) * 1_000_000
    });
    let dots = (0..8).map(|i| dot(bodies[i], bodies[7 - i]) + 2 * bodies[2].mass);
    let heavier = (0..8).map(|i| of(bodies[i], [3, 1]).max(bodies[(i + 1) % 8].mass));
    let want: Vec<u32> = sums.chain(dots).chain(heavier).collect();
    same(&got, &want, |i| format!("value {i}"))
}

/// An element beyond the end is found where it is passed.
#[cluster_kernel(block = 1)]
fn lent_beyond(bodies: &[Body], i: u32, out: &mut [u32]) {
    out[0] = mass(/* passed */ &bodies[i], 2);
}

fn elements_are_found_where_they_are_passed(device: &Device) -> Outcome {
    let bodies = device.upload(&[Body { mass: 1, place: [0; 3] }; 4])?;
    let mut out = device.zeros(1)?;
    let cause = "index 4 out of bounds for length 4";
    let at = find(file!(), SOURCE, "passed");
    fails(lent_beyond(&bodies, 4, &mut out).grid(1).launch(device), cause, &at, (0, 0, 0), (0, 0, 0))
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    let checks = check_list![
        of_own_variables,
        elements_are_found_where_they_are_borrowed,
        of_elements_of_memory,
        other_names,
        barriers_by_a_name,
        buffers_by_a_choice,
        elements_as_arguments,
        elements_are_found_where_they_are_passed,
    ];
    let kernels =
        kernel_list![own, beyond_own, of_memory, by_other_names, chosen_barriers, chosen_buffers, lent, lent_beyond];
    vec![Module { name: "references", checks, kernels }]
}
