//! A program that carries its kernels for several architectures, and runs where no NVRTC is. Its build script compiles them.

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use phalanx_embedded_kernels::{Weights, axpy, smooth};
use phalanx_examples::{Options, Outcome, compare, finish};

/// Smooths rings and adds vectors by kernels that were compiled with the program.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
}

const CELLS: usize = 8 * 128;
const WEIGHTS: Weights = Weights { middle: 0.5, side: 0.25 };

fn main() -> ExitCode {
    finish(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Outcome {
    phalanx::embed!();
    let device = &arguments.options.device;
    let cells: Vec<f32> = (0..CELLS).map(|i| (i * 7 % 64) as f32).collect();
    let input = device.upload(&cells)?;
    let mut output = device.zeros(CELLS)?;
    let start = Instant::now();
    smooth(&input, &mut output, WEIGHTS).grid(16).launch(device)?;
    if arguments.options.time {
        eprintln!("first launch: {:.1?}", start.elapsed());
    }
    let smoothed = output.read()?;
    compare("cell", &smoothed, &smooth_in_rust(&cells), |a, b| a == b)?;

    let x: Vec<i64> = (0..100).collect();
    let (steps, mut sums) = (device.upload(&x)?, device.upload(&[1i64; 100])?);
    axpy(&mut sums, &steps, 1 << 40).grid(2).launch(device)?;
    let expected: Vec<i64> = x.iter().map(|x| 1 + (x << 40)).collect();
    compare("sum", &sums.read()?, &expected, |a, b| a == b)?;
    axpy(&mut output, &input, -0.5).grid(16).launch(device)?;
    let expected: Vec<f32> = smoothed.iter().zip(&cells).map(|(y, x)| y - 0.5 * x).collect();
    compare("difference", &output.read()?, &expected, |a, b| a == b)?;
    println!("device: {device}");
    println!("NVRTC is {} this process", if has_nvrtc() { "in" } else { "not in" });
    Ok(())
}

/// Computes the kernel's result in plain Rust.
fn smooth_in_rust(cells: &[f32]) -> Vec<f32> {
    let of_ring = |ring: &[f32]| {
        let at = |i: usize| ring[i % ring.len()];
        let mean = |i: usize| at(i) * WEIGHTS.middle + (at(i + ring.len() - 1) + at(i + 1)) * WEIGHTS.side;
        (0..ring.len()).map(mean).collect::<Vec<_>>()
    };
    cells.chunks(128).flat_map(of_ring).collect()
}

/// Returns whether the process has loaded NVRTC, as Linux tells.
fn has_nvrtc() -> bool {
    std::fs::read_to_string("/proc/self/maps").is_ok_and(|maps| maps.contains("libnvrtc"))
}

#[cfg(test)]
mod tests {
    use phalanx::{Program, Result};

    use super::*;

    #[test]
    fn every_kernel_is_embedded() -> Result<()> {
        phalanx::embed!();
        let programs = [Program::of::<smooth>()?, Program::of::<axpy<f32>>()?, Program::of::<axpy<i64>>()?];
        if std::env::var_os("PHALANX_REQUIRE_NVRTC").is_none() && !programs[0].is_embedded("sm_90a") {
            eprintln!("skipped: built without NVRTC");
            return Ok(());
        }
        for program in &programs {
            assert!(program.is_embedded("sm_90a") && program.is_embedded("sm_100a"), "{}", program.name());
            assert!(!program.is_embedded("sm_120a"), "{}", program.name());
        }
        assert!(!Program::of::<axpy<u8>>()?.is_embedded("sm_90a"), "an instance that the build script does not name");
        Ok(())
    }

    #[test]
    fn the_results_are_those_of_plain_rust() {
        let arguments = Arguments::parse_from(["embedded", "--device", "sim"]);
        run(&arguments).unwrap();
    }
}
