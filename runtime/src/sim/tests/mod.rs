//! Tests of the engine through the host API, as generated code calls it. Kernels are closures here.

mod barriers;
mod copies;
mod grid;
mod leaving;
mod memory;
mod phase_barriers;
mod races;
mod schedules;
mod spinning;
mod uniform_checks;
mod user_code;
mod warps;
mod weak;

use super::{Simulator, run};
use crate::report::failure::{Cause, Failure};
use crate::shape::{Dim3, Shape};

/// Returns the shape of `grid` blocks of `block` threads, in clusters of `cluster`.
fn shape(grid: u32, cluster: u32, block: u32) -> Shape {
    Shape { grid: grid.into(), cluster: cluster.into(), block: block.into(), dynamic_shared_bytes: 0 }
}

fn simulate(shape: Shape, body: impl Fn() + Send + Sync) -> Result<(), Box<Failure>> {
    run("test", &shape, &Simulator::new(), &body).1
}

/// Returns the failure that `body` ends with, and its line.
#[track_caller]
fn failure(shape: Shape, body: impl Fn() + Send + Sync) -> (Failure, u32) {
    let failure = simulate(shape, body).expect_err("the kernel should fail");
    let line = failure.location.as_ref().map_or(0, |location| location.line);
    (*failure, line)
}

/// Returns the sentence of the protocol failure that `body` ends with.
#[track_caller]
fn protocol(shape: Shape, body: impl Fn() + Send + Sync) -> String {
    match failure(shape, body).0.cause {
        Cause::Protocol(sentence) => sentence,
        other => panic!("{other:?}"),
    }
}

/// Returns an index in the first dimension.
fn at(x: u32) -> Dim3 {
    Dim3::new(x, 0, 0)
}
