//! Runs the corpus on a device: `device_tests --device gpu [filter]`. Prints a line a check, and fails if one does.
//! `--source` prints the CUDA C++ of the kernels instead.

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use phalanx::Device;
use phalanx_conformance::kernels::{self, accuracy::Found};
use phalanx_conformance::toolkit;

/// Checks the kernel language on a device.
#[derive(Parser)]
struct Options {
    /// auto, gpu, gpu:1 or sim
    #[arg(long, default_value = "auto")]
    device: Device,
    /// Prints the CUDA C++ of the kernels whose `module::kernel` contains the filter, and runs nothing
    #[arg(long)]
    source: bool,
    /// Runs the checks of groups and barriers with CUDA's own headers in place of ours, which lie in PHALANX_TOOLKIT
    #[arg(long)]
    toolkit: bool,
    /// Measures the functions of floats, and prints the worst error of each
    #[arg(long)]
    accuracy: bool,
    /// Runs the checks whose `module::check` contains this
    #[arg(default_value = "")]
    filter: String,
}

fn main() -> ExitCode {
    let Options { device, source, toolkit, accuracy, filter } = Options::parse();
    if source {
        return print(&filter);
    }
    if accuracy {
        return measure(&device);
    }
    println!("on {device}");
    let modules = if toolkit {
        toolkit::use_headers(toolkit::folder().as_deref());
        toolkit::modules()
    } else {
        phalanx_conformance::modules()
    };
    let mut start = Instant::now();
    let report = phalanx_conformance::run(&modules, &device, &filter, |name, error| {
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

fn measure(device: &Device) -> ExitCode {
    println!("on {device}");
    match kernels::accuracy::measure(device) {
        Ok(found) => {
            for Found { name, float, error, input, got } in found {
                println!("{float} {name:<8} {error:6.3} ulp at {input}: {got:?}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("FAILED {error}");
            ExitCode::FAILURE
        }
    }
}

fn print(filter: &str) -> ExitCode {
    for module in phalanx_conformance::modules() {
        for kernel in &module.kernels {
            let name = format!("{}::{}", module.name, kernel.name);
            if name.contains(filter) {
                match (kernel.program)() {
                    Ok(program) => println!("// {name}\n{}", program.cuda_source()),
                    Err(error) => println!("// {name}: {error}"),
                }
            }
        }
    }
    ExitCode::SUCCESS
}
