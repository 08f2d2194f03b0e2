//! Timelines: that every barrier of every warp is in them, with its place, on the simulator and on a GPU; and that a kernel
//! does the same with the option `profile`, with or without a timeline.

use phalanx::prelude::*;
use phalanx::{EventKind, Timeline};

use crate::{Module, Outcome, check_list, equal, find, kernel_list, read};

const SOURCE: &str = include_str!("timelines.rs");

#[device]
fn busy(turns: u32) -> u32 {
    let mut state = 1_u32;
    for i in 0..turns {
        state = state.rotate_left(5) ^ i;
    }
    state
}

/// Uses each kind of barrier, once or twice per iteration. The last warp arrives late at those of its block.
#[cluster_kernel(cluster = 2, block = 64, profile)]
fn rounds(out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let filled = shared_barrier();
    let staged = shared_array::<u32, 64>();
    let i = block.thread_rank();
    if i == 0 {
        filled.init(64);
    }
    block.sync();
    let mut sum = 0;
    for round in 0..rounds {
        staged[i] = i + round;
        let token = /* arrive */ cluster.barrier_arrive();
        sum += busy(if i >= 32 { 40 } else { 10 }) & 1;
        /* wait */
        cluster.barrier_wait(token);
        sum += cluster.map_shared_rank(&staged, 1 - cluster.block_rank())[63 - i];
        let token = filled./* phase */ arrive();
        filled.wait(token);
        cluster./* sync */ sync();
        if round % 2 == 0 {
            block.sync();
        }
    }
    out[this_grid().thread_rank()] = sum;
}

fn launched(device: &Device, timeline: bool) -> Outcome<(Vec<u32>, Option<Timeline>)> {
    let mut out = device.zeros(256)?;
    let launch = rounds(&mut out, 3).grid(4);
    let timeline = match timeline {
        true => Some(launch.timeline(device)?),
        false => launch.launch(device).map(|()| None)?,
    };
    Ok((out.read()?, timeline))
}

/// Counts how often each is in the timeline.
fn all_barriers(device: &Device) -> Outcome {
    let (with, timeline) = launched(device, true)?;
    let (without, _) = launched(device, false)?;
    equal(&with, &without)?;
    let timeline = timeline.unwrap_or_default();
    let count = |kind: EventKind, barrier: &str| {
        timeline.events.iter().filter(|event| (event.kind, event.barrier) == (kind, barrier)).count()
    };
    let warps = 4 * 2;
    let counts = [
        count(EventKind::Run, ""),
        count(EventKind::Arrive, "cluster"),
        count(EventKind::Wait, "cluster"),
        count(EventKind::Sync, "cluster"),
        count(EventKind::Arrive, "bar"),
        count(EventKind::Wait, "bar"),
        count(EventKind::Sync, "block"),
    ];
    equal(&counts, &[warps, 3 * warps, 3 * warps, 3 * warps, 3 * warps, 3 * warps, 3 * warps])?;
    equal(&[timeline.lost], &[0])?;
    if let Some(event) = timeline.events.iter().find(|event| event.start > event.end) {
        return Err(format!("{event:?}").into());
    }
    let lines = |kind: EventKind, barrier: &str| {
        let of_it = timeline.events.iter().filter(move |event| (event.kind, event.barrier) == (kind, barrier));
        of_it.map(|event| event.location.as_ref().map(|location| location.line)).collect::<Vec<_>>()
    };
    for (marker, kind, barrier) in [
        ("arrive", EventKind::Arrive, "cluster"),
        ("wait", EventKind::Wait, "cluster"),
        ("sync", EventKind::Sync, "cluster"),
        ("phase", EventKind::Arrive, "bar"),
    ] {
        let want = find(file!(), SOURCE, marker).line;
        equal(&lines(kind, barrier), &vec![Some(want); 3 * warps])?;
    }
    Ok(())
}

/// The work since the arrival hides a wait: the late warps wait less.
fn late_warps_wait_less(device: &Device) -> Outcome {
    let (_, timeline) = launched(device, true)?;
    let timeline = timeline.unwrap_or_default();
    let waited = |warp: u32| {
        let waits = timeline.events.iter().filter(|event| event.kind == EventKind::Wait && event.barrier == "cluster");
        waits.filter(|event| event.warp == warp).map(|event| event.end - event.start).sum::<u64>()
    };
    // A GPU's timer is too coarse for these few cycles.
    if !device.is_simulator() {
        return Ok(());
    }
    if waited(0) != 0 {
        return Err(format!("the arrival is all that is waited for, and warp 0 waited {}", waited(0)).into());
    }
    let stall = timeline.stalls().into_iter().find(|stall| stall.hidden > 0).ok_or("nothing is hidden")?;
    equal(&[stall.barrier], &["cluster"])
}

#[cluster_kernel(block = 32)]
fn plain(out: &mut [u32]) {
    this_thread_block().sync();
    out[this_grid().thread_rank()] = 1;
}

/// Without the option, a GPU records nothing, and reports that.
fn without_the_option(device: &Device) -> Outcome {
    let mut out = device.zeros(32)?;
    let timeline = plain(&mut out).grid(1).timeline(device);
    match (device.is_simulator(), timeline) {
        (true, Ok(timeline)) => equal(&[timeline.events.len()], &[2])?,
        (false, Err(error)) if error.to_string().contains("profile") => {}
        (_, other) => return Err(format!("{other:?}").into()),
    }
    equal(&read!(device, 32, |out| plain(out).grid(1)), &[1; 32])
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "timelines",
        checks: check_list![all_barriers, late_warps_wait_less, without_the_option],
        kernels: kernel_list![rounds, plain],
    }]
}
