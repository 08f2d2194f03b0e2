//! Runs the corpus on a device: `device_tests --device gpu [filter]`. Prints a line a check, and fails if one does.

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use phalanx::Device;

/// Checks the kernel language on a device.
#[derive(Parser)]
struct Options {
    /// auto, gpu, gpu:1 or sim
    #[arg(long, default_value = "auto")]
    device: Device,
    /// Runs the checks whose `module::check` contains this
    #[arg(default_value = "")]
    filter: String,
}

fn main() -> ExitCode {
    let Options { device, filter } = Options::parse();
    println!("on {device}");
    let mut start = Instant::now();
    let report = phalanx_ui_tests::run(&device, &filter, |name, error| {
        let time = start.elapsed().as_millis();
        match error {
            None => println!("ok     {name} ({time} ms)"),
            Some(error) => println!("FAILED {name} ({time} ms)\n    {error}"),
        }
        start = Instant::now();
    });
    println!("{} passed, {} failed", report.passed, report.failed.len());
    if report.failed.is_empty() && report.passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
