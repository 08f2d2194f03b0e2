//! The host's time for a launch, beside the driver's own call with the same arguments: to enqueue it, and to launch and wait.

use std::time::Instant;

use phalanx::prelude::*;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::memory::{self, Memory};
use crate::timing::Times;
use crate::twin::{Argument, Call, Twin, Twins};

/// The rounds, in which ours and the driver's alternate.
const ROUNDS: usize = 101;
/// The launches of a round.
const BATCH: usize = 50;

#[cluster_kernel(block = 32)]
pub(crate) fn touch(input: &[f32], out: &mut [f32], scale: f32) {
    let i = this_thread_block().thread_rank();
    out[i] = input[i] * scale;
}

/// The host's times per launch, in microseconds.
#[derive(Debug, Serialize, Deserialize)]
pub struct Launches {
    /// `Launch::enqueue`.
    pub enqueue: Times,
    /// `PreparedLaunch::enqueue`.
    pub prepared: Times,
    /// `cuLaunchKernelEx`.
    pub driver: Times,
    /// `Launch::launch`, which waits.
    pub launch: Times,
    /// `PreparedLaunch::launch`.
    pub prepared_launch: Times,
    /// `cuLaunchKernelEx` and `cuStreamSynchronize`.
    pub driver_and_wait: Times,
}

/// Returns the kernel of the driver's own call.
pub fn twin() -> Twin {
    Twin::new("launch", include_str!("../twins/launch.cu"))
}

/// Returns the driver's own call of it.
pub(crate) fn call(input: &Memory<f32>, out: &Memory<f32>) -> Call {
    let words = [input.address(), 32, out.address(), 32].map(Argument::Word);
    Call::new(1, 32, [&words[..], &[Argument::Real(2.0)]].concat())
}

/// Measures on a GPU.
pub fn measure(device: &Device) -> Result<Launches> {
    let stream = memory::stream(device)?.ok_or("launches are measured on a GPU")?;
    let (input, mut out) = (Memory::upload(device, &[1.0f32; 32])?, Memory::zeros(device, 32)?);
    let twins = Twins::new(stream.clone());
    let mut ready = twins.prepare(&twins.load(&twin())?, &call(&input, &out))?;

    let mut times: [Vec<f64>; 6] = Default::default();
    // The first round warms up.
    for round in 0..=ROUNDS {
        let mut batch = |which: usize, launch: &mut dyn FnMut() -> Result<()>| -> Result<()> {
            let start = Instant::now();
            (0..BATCH).try_for_each(|_| launch())?;
            let micros = start.elapsed().as_secs_f64() * 1e6 / BATCH as f64;
            if round > 0 {
                times[which].push(micros);
            }
            Ok(device.synchronize()?)
        };
        batch(0, &mut || Ok(touch(&input.buffer, &mut out.buffer, 2.0).grid(1).enqueue(device)?))?;
        batch(1, &mut || ready.launch())?;
        batch(2, &mut || Ok(touch(&input.buffer, &mut out.buffer, 2.0).grid(1).launch(device)?))?;
        batch(3, &mut || {
            ready.launch()?;
            Ok(stream.synchronize()?)
        })?;
        let mut prepared = touch(&input.buffer, &mut out.buffer, 2.0).grid(1).prepare(device)?;
        batch(4, &mut || Ok(prepared.enqueue()?))?;
        batch(5, &mut || Ok(prepared.launch()?))?;
    }
    if out.read(0..32)? != [2.0; 32] {
        return Err("a launch did nothing".into());
    }
    let [enqueue, driver, launch, driver_and_wait, prepared, prepared_launch] = times.map(Times::of);
    Ok(Launches { enqueue, prepared, driver, launch, prepared_launch, driver_and_wait })
}

/// Runs the kernel in the simulator.
pub fn simulate(device: &Device) -> Result<()> {
    let (input, mut out) = (device.upload(&[1.0; 32])?, device.zeros(32)?);
    touch(&input, &mut out, 2.0).grid(1).launch(device)?;
    if out.read()? == [2.0; 32] { Ok(()) } else { Err("the kernel is wrong".into()) }
}

/// Returns the times as Markdown.
pub fn markdown(launches: &Launches) -> String {
    let Launches { enqueue, prepared, driver, launch, prepared_launch, driver_and_wait } = launches;
    let row = |what: &str, ours: &Times, driver: &Times| {
        let shown = |times: &Times| format!("{:.2} ({:.2} to {:.2})", times.median, times.low, times.high);
        format!("| {what} | {} | {} | {:.2} |\n", shown(ours), shown(driver), ours.median / driver.median)
    };
    let head = "| the host's time per launch, µs | ours | the driver's | ratio |\n|---|---|---|---|\n";
    let rows = [
        row("enqueue", enqueue, driver),
        row("enqueue, prepared", prepared, driver),
        row("launch and wait", launch, driver_and_wait),
        row("launch and wait, prepared", prepared_launch, driver_and_wait),
    ];
    head.to_owned() + &rows.concat()
}
