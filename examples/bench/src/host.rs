//! Measures the host runtime beside the launch itself: launches of a graph, kernels on two streams, a launch that is ended at its deadline, and the
//! device's time from one launch to the next, which has what our kernels are told besides their arguments.

use std::time::{Duration, Instant};

use phalanx::Error;
use phalanx::prelude::*;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::launches::touch;
use crate::memory;
use crate::timing::Times;
use crate::twin::{Call, Twin, Twins};

/// The rounds of each measurement.
const ROUNDS: usize = 31;
/// The launches of a graph, and of a round on the device.
const BATCH: usize = 200;
/// The deadline of the launch that does not end.
const DEADLINE: Duration = Duration::from_millis(100);
/// The blocks of a kernel that fills less than half of a GPU.
const BLOCKS: u32 = 60;

/// Does nothing, so that a launch costs what every launch does.
#[cluster_kernel(block = 32)]
fn empty() {}

/// Returns the same kernel for the driver's own call, without our parameter block.
pub fn twin() -> Twin {
    Twin::new("empty", include_str!("../twins/empty.cu"))
}

/// Takes a time in proportion to `rounds`.
#[cluster_kernel(block = 128)]
fn busy(out: &mut [u32], rounds: u32) {
    let i = this_grid().thread_rank();
    let mut value = i as u32;
    for _ in 0..rounds {
        value = value * 1_664_525 + 1_013_904_223;
    }
    out[i] = value;
}

/// Waits for more arrivals than there are threads.
#[cluster_kernel(block = 32)]
fn starved(out: &mut [u32], missing: u32) {
    let (block, bar) = (this_thread_block(), shared_barrier());
    bar.init_collective(&block, block.num_threads() + missing);
    let token = bar.arrive();
    bar.wait(token);
    out[this_grid().thread_rank()] = 1;
}

/// Times in microseconds.
#[derive(Debug, Serialize, Deserialize)]
pub struct Host {
    /// A launch in a graph, from one launch of the graph to the next.
    replayed: Times,
    /// The device's time from one launch to the next, on a stream that has them all.
    on_device: Times,
    /// The time from one launch by the driver's own call to the next one.
    driver_on_device: Times,
    /// A kernel that fills less than half of the GPU.
    alone: Times,
    /// Two of them on two streams.
    two: Times,
    /// From a launch that does not end to its error.
    ended: Times,
}

/// Measures on a GPU.
pub fn measure(device: &Device) -> Result<Host> {
    let [on_device, driver_on_device] = on_device(device)?;
    let [alone, two] = on_streams(device)?;
    Ok(Host { replayed: replayed(device)?, on_device, driver_on_device, alone, two, ended: ended(device)? })
}

/// Returns the times of `rounds` rounds of `work`, which are of so many launches each, after one that warms up.
fn times(rounds: usize, launches: usize, mut work: impl FnMut() -> Result<Duration>) -> Result<Times> {
    work()?;
    let micros = |time: Duration| time.as_secs_f64() * 1e6 / launches as f64;
    Ok(Times::of((0..rounds).map(|_| work().map(micros)).collect::<Result<_>>()?))
}

fn replayed(device: &Device) -> Result<Times> {
    let stream = device.stream()?;
    let (input, mut out) = (device.upload(&[1.0f32; 32])?, device.zeros(32)?);
    let graph = device.capture(|stream| {
        (0..BATCH).try_for_each(|_| touch(&input, &mut out, 2.0).grid(1).on(stream).enqueue().map(drop))
    })?;
    times(ROUNDS, 10 * BATCH, || {
        let start = Instant::now();
        (0..10).try_for_each(|_| graph.enqueue(&stream).map(drop))?;
        stream.synchronize()?;
        Ok(start.elapsed())
    })
}

fn on_device(device: &Device) -> Result<[Times; 2]> {
    let driver = memory::stream(device)?.ok_or("launches are measured on a GPU")?;
    let twins = Twins::new(driver);
    let mut ready = twins.prepare(&twins.load(&twin())?, &Call::new(1, 32, Vec::new()))?;
    let (stream, mut lead) = (device.default_stream(), device.zeros(BLOCKS as usize * 128)?);
    let mut between = |launch: &mut dyn FnMut() -> Result<()>| -> Result<Duration> {
        // The device is busy until the host has enqueued all.
        busy(&mut lead, 4_000_000).grid(BLOCKS).enqueue(device)?;
        let start = stream.record()?;
        (0..BATCH).try_for_each(|_| launch())?;
        let end = stream.record()?;
        Ok(start.elapsed(&end)?)
    };
    let ours = times(ROUNDS, BATCH, || between(&mut || Ok(empty().grid(1).enqueue(device)?)))?;
    Ok([ours, times(ROUNDS, BATCH, || between(&mut || ready.launch()))?])
}

fn on_streams(device: &Device) -> Result<[Times; 2]> {
    let streams = [device.stream()?, device.stream()?];
    let mut outs = [device.zeros(BLOCKS as usize * 128)?, device.zeros(BLOCKS as usize * 128)?];
    let mut together = |count: usize| {
        times(ROUNDS, 1, || {
            let start = Instant::now();
            for (stream, out) in streams.iter().zip(&mut outs).take(count) {
                busy(out, 2_000_000).grid(BLOCKS).on(stream).enqueue()?;
            }
            streams.iter().try_for_each(|stream| stream.synchronize())?;
            Ok(start.elapsed())
        })
    };
    Ok([together(1)?, together(2)?])
}

fn ended(device: &Device) -> Result<Times> {
    let mut out = device.zeros(32)?;
    times(5, 1, || {
        let start = Instant::now();
        match starved(&mut out, 1).grid(1).deadline(DEADLINE).launch(device) {
            Err(Error::Kernel(_)) => Ok(start.elapsed()),
            other => Err(format!("a launch that does not end is no failure: {other:?}").into()),
        }
    })
}

/// Runs the kernels in the simulator.
pub fn simulate(device: &Device) -> Result<()> {
    let mut out = device.zeros(BLOCKS as usize * 128)?;
    empty().grid(1).launch(device)?;
    busy(&mut out, 2).grid(BLOCKS).launch(device)?;
    starved(&mut out, 0).grid(1).deadline(DEADLINE).launch(device)?;
    if out.read()?[..32] == [1; 32] { Ok(()) } else { Err("a kernel is wrong".into()) }
}

/// Returns the times as Markdown.
pub fn markdown(host: &Host) -> String {
    let Host { replayed, on_device, driver_on_device, alone, two, ended } = host;
    let row = |what: &str, times: &Times, limit: String| {
        format!("| {what} | {:.2} ({:.2} to {:.2}) | {limit} |\n", times.median, times.low, times.high)
    };
    let of = |times: &Times, to: &Times| format!("{:.3}", times.median / to.median);
    [
        "| the host runtime | µs | ratio |\n|---|---|---|\n".to_owned(),
        row("a launch in a graph of 200", replayed, String::new()),
        row(
            "from one launch of an empty kernel to the next, on the device",
            on_device,
            of(on_device, driver_on_device),
        ),
        row("the same by the driver's own call", driver_on_device, String::new()),
        row("a kernel of 60 blocks", alone, String::new()),
        row("two of them on two streams", two, of(two, alone)),
        row(
            "a launch that is ended at its deadline of 100 ms",
            ended,
            format!("{:.2}", ended.median / DEADLINE.as_micros() as f64),
        ),
    ]
    .concat()
}
