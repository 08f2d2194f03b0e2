//! Launches that begin before those in front of them have ended: chains of them on a stream, in a graph, with clusters, with early reads of
//! memory that the launches before do and do not write, and with a failure in the middle. How much they overlap is not tested.

use phalanx::prelude::*;
use phalanx::{Cause, Error, LaunchError};

use crate::{Module, Outcome, check_list, equal, kernel_list};

const THREADS: usize = 128;
const BLOCKS: usize = 32;
const COUNT: usize = THREADS * BLOCKS;

/// The number of launches in a chain, and the iterations of a launch that is to last.
fn lasting(device: &Device) -> (usize, u32) {
    if device.is_simulator() { (4, 2) } else { (40, 500) }
}

/// Adds each element's neighbour, after a while of work that keeps the launch alive behind its `launch_dependents`.
#[cluster_kernel(block = THREADS, early(weights))]
fn add_next(weights: &[u32], from: &[u32], to: &mut [u32], work: u32) {
    let i = this_grid().thread_rank();
    launch_dependents();
    let mut weight = weights[i];
    for _ in 0..work {
        weight = weight.rotate_left(1) ^ 1;
    }
    for _ in 0..work {
        weight = (weight ^ 1).rotate_right(1);
    }
    wait_previous();
    to[i] = from[i].wrapping_add(from[(i + 1) % COUNT]).wrapping_mul(weight);
}

fn expected(weights: &[u32], mut values: Vec<u32>, rounds: usize) -> Vec<u32> {
    for _ in 0..rounds {
        let next = |i: usize| values[i].wrapping_add(values[(i + 1) % COUNT]).wrapping_mul(weights[i]);
        values = (0..COUNT).map(next).collect();
    }
    values
}

fn inputs() -> (Vec<u32>, Vec<u32>) {
    ((0..COUNT as u32).map(|i| i % 7 + 1).collect(), (0..COUNT as u32).map(|i| i * i).collect())
}

/// On a stream of its own and on the default one. Each launch reads what the one before has written.
fn a_chain(device: &Device) -> Outcome {
    let (weights, values) = inputs();
    let table = device.upload(&weights)?;
    let (rounds, work) = lasting(device);
    for stream in [device.stream()?, device.default_stream()] {
        let (mut a, mut b) = (device.upload(&values)?, device.zeros(COUNT)?);
        for round in 0..rounds {
            let (from, to) = if round % 2 == 0 { (&a, &mut b) } else { (&b, &mut a) };
            add_next(&table, from, to, work).grid(BLOCKS as u32).on(&stream).dependent().enqueue()?;
        }
        equal(&a.read()?, &expected(&weights, values.clone(), rounds))?;
    }
    Ok(())
}

/// The early memory is what the launch before writes, or a copy does: the launch runs in order.
fn early_memory_that_is_written(device: &Device) -> Outcome {
    let (weights, values) = inputs();
    let stream = device.stream()?;
    let (mut table, input) = (device.upload(&weights)?, device.upload(&values)?);
    let (mut first, mut second) = (device.zeros(COUNT)?, device.zeros(COUNT)?);
    let (rounds, work) = lasting(device);
    for _ in 0..rounds {
        add_next(&table, &input, &mut first, work).grid(BLOCKS as u32).on(&stream).dependent().enqueue()?;
        add_next(&first, &input, &mut second, work).grid(BLOCKS as u32).on(&stream).dependent().enqueue()?;
        stream.copy(&second, &mut table)?;
    }
    let mut want = weights;
    for _ in 0..rounds {
        want = expected(&want, values.clone(), 1);
        want = expected(&want, values.clone(), 1);
    }
    equal(&table.read()?, &want)
}

/// Clusters, whose failed threads are counted: more launches than may overlap.
#[cluster_kernel(cluster = 4, block = THREADS)]
fn rotate(from: &[u32], to: &mut [u32], failing: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let array = shared_array::<u32, THREADS>();
    let i = this_grid().thread_rank();
    launch_dependents();
    wait_previous();
    array[block.thread_rank()] = from[i];
    cluster.sync();
    let next = (cluster.block_rank() + 1) % cluster.num_blocks();
    let remote = cluster.map_shared_rank(&array, next);
    assert!(i as u32 / THREADS as u32 != failing, "block {failing}");
    to[i] = remote[block.thread_rank()] + 1;
    cluster.sync();
}

fn clusters(device: &Device) -> Outcome {
    let (_, values) = inputs();
    let stream = device.stream()?;
    let (mut a, mut b) = (device.upload(&values)?, device.zeros(COUNT)?);
    let (rounds, _) = lasting(device);
    for round in 0..rounds {
        let (from, to) = if round % 2 == 0 { (&a, &mut b) } else { (&b, &mut a) };
        rotate(from, to, u32::MAX).grid(BLOCKS as u32).on(&stream).dependent().enqueue()?;
    }
    // Whole turns of four blocks.
    equal(&a.read()?, &values.iter().map(|value| value + rounds as u32).collect::<Vec<_>>())
}

/// Each launch has the failure of its own, and the next ones run.
fn failures(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let (a, mut b) = (device.zeros(COUNT)?, device.zeros(COUNT)?);
    let mut launches = Vec::new();
    for round in 0..if device.is_simulator() { 6 } else { 30 } {
        let failing = if round % 3 == 1 { round } else { u32::MAX };
        launches.push((failing, rotate(&a, &mut b, failing).grid(BLOCKS as u32).on(&stream).dependent().enqueue()?));
    }
    for (failing, launch) in launches {
        match launch.wait() {
            Ok(()) if failing == u32::MAX => {}
            Err(Error::Kernel(failure)) if failure.cause == Cause::Assertion(format!("block {failing}")) => {}
            other => return Err(format!("of {failing}: {other:?}").into()),
        }
    }
    rotate(&a, &mut b, u32::MAX).grid(BLOCKS as u32).on(&stream).dependent().launch()?;
    equal(&b.read()?, &[1; COUNT])
}

/// As a graph, whose kernels depend on one another, on two of them, and with clusters.
fn in_a_graph(device: &Device) -> Outcome {
    let (weights, values) = inputs();
    let stream = device.stream()?;
    let table = device.upload(&weights)?;
    let (_, work) = lasting(device);
    let (mut a, mut b, mut c) = (device.upload(&values)?, device.zeros(COUNT)?, device.zeros(COUNT)?);
    let graph = device.capture(|stream| {
        let blocks = BLOCKS as u32;
        add_next(&table, &a, &mut b, work).grid(blocks).on(stream).dependent().enqueue()?;
        add_next(&table, &b, &mut c, work).grid(blocks).on(stream).dependent().enqueue()?;
        rotate(&c, &mut a, u32::MAX).grid(blocks).on(stream).dependent().enqueue()?;
        rotate(&a, &mut c, u32::MAX).grid(blocks).on(stream).dependent().enqueue()?;
        add_next(&c, &b, &mut a, work).grid(blocks).on(stream).dependent().enqueue()?;
        Ok(())
    })?;
    let turned = |values: &[u32]| -> Vec<u32> {
        let from = |i: usize| i / (4 * THREADS) * 4 * THREADS + (i + THREADS) % (4 * THREADS);
        (0..COUNT).map(|i| values[from(i)].wrapping_add(1)).collect()
    };
    let mut want = values;
    for _ in 0..if device.is_simulator() { 1 } else { 5 } {
        graph.launch(&stream)?;
        let second = expected(&weights, want.clone(), 1);
        let third = turned(&turned(&expected(&weights, second.clone(), 1)));
        want = expected(&third, second, 1);
    }
    equal(&a.read()?, &want)
}

/// A kernel that fails before it waits, behind one that still runs.
#[cluster_kernel(block = THREADS)]
fn fails_at_once(out: &mut [u32], n: u32) {
    assert!(this_grid().thread_rank() as u32 >= n, "at once");
    wait_previous();
    out[this_grid().thread_rank()] += 1;
}

fn a_failure_before_the_wait(device: &Device) -> Outcome {
    let (weights, values) = inputs();
    let stream = device.stream()?;
    let (table, input, mut out) = (device.upload(&weights)?, device.upload(&values)?, device.zeros(COUNT)?);
    let (_, work) = lasting(device);
    let want = expected(&weights, values, 1);
    add_next(&table, &input, &mut out, 20 * work).grid(BLOCKS as u32).on(&stream).dependent().enqueue()?;
    let failing = fails_at_once(&mut out, COUNT as u32).grid(BLOCKS as u32).on(&stream).dependent().enqueue()?;
    fails_at_once(&mut out, 0).grid(BLOCKS as u32).on(&stream).dependent().enqueue()?;
    match failing.wait() {
        Err(Error::Kernel(failure)) if failure.cause == Cause::Assertion("at once".into()) => {}
        other => return Err(format!("{other:?}").into()),
    }
    equal(&out.read()?, &want.iter().map(|value| value.wrapping_add(1)).collect::<Vec<_>>())
}

#[cluster_kernel(block = THREADS)]
fn never_waits(out: &mut [u32]) {
    out[this_grid().thread_rank()] = 1;
    launch_dependents();
}

#[cluster_kernel(block = THREADS)]
fn waits_for_the_grid(out: &mut [u32]) {
    wait_previous();
    this_grid().sync();
    out[this_grid().thread_rank()] = 1;
}

fn refused(device: &Device) -> Outcome {
    let mut out = device.zeros(COUNT)?;
    let reason = |result: phalanx::Result<()>| match result {
        Err(Error::Launch { reason, .. }) => Ok(reason),
        other => Err(format!("{other:?}")),
    };
    let never = reason(never_waits(&mut out).grid(1).dependent().launch(device))?;
    let grid = reason(waits_for_the_grid(&mut out).grid(1).dependent().launch(device))?;
    equal(&[never, grid], &[LaunchError::NeverWaits, LaunchError::DependentGridBarrier])?;
    // Both run in order.
    never_waits(&mut out).grid(1).launch(device)?;
    waits_for_the_grid(&mut out).grid(2).launch(device)?;
    equal(&out.read()?[..2 * THREADS], &[1; 2 * THREADS])
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    let checks = check_list![
        a_chain,
        early_memory_that_is_written,
        clusters,
        failures,
        in_a_graph,
        a_failure_before_the_wait,
        refused
    ];
    let kernels = kernel_list![add_next, rotate, fails_at_once, never_waits, waits_for_the_grid];
    vec![Module { name: "dependent", checks, kernels }]
}
