//! Runs the kernels that differ from large ones of the project in a line that synchronizes and that the compiler accepts: each is found by the
//! simulator under one of a few schedules, under all of which the kernels as they are have the right results, or is refused by rustc.

mod accepted;

use std::env;
use std::process::Command;

use phalanx::prelude::*;
use phalanx::{Schedule, Simulator};

use accepted::{ACCEPTED, Net};

type Outcome = Result<(), String>;

/// A changed kernel, by the name of its module, and what runs it and checks its result.
type Run = (&'static str, fn(&Device) -> phalanx::Result<Outcome>);

fn schedules() -> [Schedule; 4] {
    [
        Schedule::RoundRobin,
        Schedule::Random { seed: 1 },
        Schedule::Priority { seed: 1, changes: 3 },
        Schedule::Priority { seed: 2, changes: 3 },
    ]
}

/// Integers that `bf16` has, and whose sums are exact.
fn small(seed: usize, len: usize) -> Vec<bf16> {
    (0..len).map(|i| bf16::from_f32(((i * 7 + i / 5 * 3 + seed) % 9) as f32 - 4.0)).collect()
}

/// Compares each element with one in `f64`, up to a hundredth.
fn close(got: &[bf16], want: impl Fn(usize) -> f64) -> Outcome {
    for (i, got) in got.iter().enumerate() {
        let want = want(i);
        if (f64::from(*got) - want).abs() > 1e-2 * want.abs().max(1.0) {
            return Err(format!("element {i} is {got}, and not {want}"));
        }
    }
    Ok(())
}

/// The product of row `i` of `a` with row `j` of `b`, both of `k` elements.
fn product_of(a: &[bf16], b: &[bf16], k: usize, i: usize, j: usize) -> f64 {
    a[i * k..][..k].iter().zip(&b[j * k..][..k]).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

/// Four tiles that are not full, by one block, in two parts each.
macro_rules! gemm {
    ($module:ident) => {
        (stringify!($module), |device| {
            let (m, n, k) = (130, 264, 72);
            let (a, b) = (small(1, m * k), small(5, n * k));
            let (x, y, mut c) = (device.upload(&a)?, device.upload(&b)?, device.zeros::<bf16>(m * n)?);
            let nothing = device.zeros(0)?;
            let (x, y) = (x.tensor([1, m, k])?, y.tensor([1, n, k])?);
            let mut to = c.tensor_mut([1, m, n])?;
            $module::gemm::<bf16, f32, epilogue::Scaled, 64>(&x, &y, &nothing, &nothing, &mut to, 1, 2, 2, 2, 1.0)
                .grid(1)
                .launch(device)?;
            Ok(close(&c.read()?, |i| product_of(&a, &b, k, i / n, i % n)))
        })
    };
}

/// Two pairs of tiles that are not full, by one cluster, in four parts each, so that the stages are filled again.
macro_rules! multicast {
    ($module:ident) => {
        (stringify!($module), |device| {
            let (m, n, k) = (130, 264, 200);
            let (a, b) = (small(1, m * k), small(5, n * k));
            let (x, y, mut c) = (device.upload(&a)?, device.upload(&b)?, device.zeros::<bf16>(m * n)?);
            let nothing = device.zeros(0)?;
            let (x, y) = (x.tensor([1, m, k])?, y.tensor([1, n, k])?);
            let mut to = c.tensor_mut([1, m, n])?;
            $module::multicast::<bf16, f32, epilogue::Scaled, 64>(&x, &y, &nothing, &nothing, &mut to, 1, 2, 1, 4, 1.0)
                .grid(2)
                .launch(device)?;
            Ok(close(&c.read()?, |i| product_of(&a, &b, k, i / n, i % n)))
        })
    };
}

/// Two pairs of tiles one after the other, in five parts each, so that the stages are filled again.
macro_rules! normed {
    ($module:ident) => {
        (stringify!($module), |device| {
            let (m, n, k) = (130, 264, 264);
            let (a, b) = (small(1, m * k), small(5, n * k));
            let (x, y, mut c) = (device.upload(&a)?, device.upload(&b)?, device.zeros::<bf16>(m * n)?);
            let (x, y) = (x.tensor([1, m, k])?, y.tensor([1, n, k])?);
            $module::normed(&x, &y, &mut c.tensor_mut([1, m, n])?, 2, 1, 5, k as u32, 1e-6).grid(2).launch(device)?;
            let norm = |i| 1.0 / (product_of(&a, &a, k, i, i) / k as f64 + 1e-6).sqrt();
            let norms: Vec<f64> = (0..m).map(norm).collect();
            Ok(close(&c.read()?, |i| product_of(&a, &b, k, i / n, i % n) * norms[i / n]))
        })
    };
}

/// A head of 200 keys: two blocks, of tiles that are not full.
macro_rules! attention {
    ($module:ident) => {
        (stringify!($module), |device| {
            const WIDTH: usize = 128;
            let len = 200;
            let [q, k, v] = [1, 2, 5].map(|seed| small(seed, len * WIDTH));
            let [x, y, z] = [&q, &k, &v].map(|operand| device.upload(operand));
            let (x, y, z) = (x?, y?, z?);
            let [x, y, z] =
                [&x, &y, &z].map(|one| one.tensor_with_strides([1, 2, len, 64], [len * WIDTH, 64, WIDTH, 1]));
            let (x, y, z, mut out) = (x?, y?, z?, device.zeros::<bf16>(len * WIDTH)?);
            let starts = device.upload(&[0, len as u32])?;
            let (factor, scale) = (0.02, 0.02 * std::f32::consts::LOG2_E);
            $module::attention::<false>(&x, &y, &z, &mut out, len * WIDTH, WIDTH, &starts, 1, scale)
                .grid((2, 1, 1))
                .launch(device)?;
            let weight = |i, j| (product_of(&q, &k, WIDTH, i, j) * factor).exp();
            let weights: Vec<Vec<f64>> = (0..len).map(|i| (0..len).map(|j| weight(i, j)).collect()).collect();
            Ok(close(&out.read()?, |at| {
                let (i, d) = (at / WIDTH, at % WIDTH);
                let sum = weights[i].iter().enumerate().map(|(j, weight)| weight * f64::from(v[j * WIDTH + d]));
                sum.sum::<f64>() / weights[i].iter().sum::<f64>()
            }))
        })
    };
}

/// Three tiles for each of two clusters.
macro_rules! product {
    ($module:ident) => {
        (stringify!($module), |device| {
            let (m, n, k) = (256, 192, 128);
            let (a, b) = (small(1, m * k), small(5, n * k));
            let (x, y, mut c) = (device.upload(&a)?, device.upload(&b)?, device.zeros::<bf16>(m * n)?);
            let (x, y) = (x.tensor([m, k])?, y.tensor([n, k])?);
            $module::product(&x, &y, &mut c.tensor_mut([m, n])?, 2, 3, 2).grid(4).launch(device)?;
            Ok(close(&c.read()?, |i| product_of(&a, &b, k, i / n, i % n)))
        })
    };
}

include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

/// What comes of a kernel under a schedule: nothing, if its result is right.
fn run(run: fn(&Device) -> phalanx::Result<Outcome>, schedule: Schedule) -> Outcome {
    let device = Device::simulator_with(Simulator::new().schedule(schedule));
    run(&device).map_err(|error| error.to_string())?
}

fn named(name: &str) -> fn(&Device) -> phalanx::Result<Outcome> {
    RUNS.iter().find(|(module, _)| *module == name).unwrap_or_else(|| panic!("no kernel {name}")).1
}

#[test]
fn the_kernels_are_right_as_they_are() {
    let right: Vec<&Run> = RUNS.iter().filter(|(name, _)| name.starts_with("right_")).collect();
    assert_eq!(right.len(), 5);
    for (name, kernel) in right {
        for schedule in schedules() {
            assert_eq!(run(*kernel, schedule.clone()), Ok(()), "{name}, {schedule:?}");
        }
    }
}

#[test]
fn the_simulator_finds_what_the_compiler_accepts() {
    for (number, change) in ACCEPTED.iter().enumerate() {
        let Net::Simulator(text) = change.net else { continue };
        let kernel = named(&format!("changed_{number}"));
        let mut failures = schedules().into_iter().filter_map(|schedule| run(kernel, schedule).err());
        let first = failures.next();
        let what = format!("{}: {}: {}", change.kernel, change.line, change.what);
        assert!(first.as_ref().is_some_and(|failure| failure.contains(text)), "{what}: {text:?} is not in {first:?}");
    }
}

#[test]
fn rustc_finds_the_others() {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["test", "--no-run", "--package", "phalanx-changed-lines", "--features", "refused"]);
    cargo.args(["--test", "refused", "--message-format", "short"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = cargo.output().expect("cargo runs");
    assert!(!output.status.success(), "rustc refuses nothing");
    let errors = String::from_utf8_lossy(&output.stderr);
    let mut tried = 0;
    for (number, change) in ACCEPTED.iter().enumerate() {
        let Net::Rustc(text) = change.net else { continue };
        let file = format!("changed_{number}.rs:");
        let is_found = errors.lines().any(|line| line.contains(&file) && line.contains(text));
        assert!(is_found, "{}: {}: {}: {text:?} is not in {errors}", change.kernel, change.line, change.what);
        tried += 1;
    }
    assert!(tried > 0);
}
