//! Compares the programs of this build: `fuzz` in the simulator and as C++ on the host, `fuzz --device gpu` on a GPU.

use std::process::ExitCode;

use clap::Parser;
use phalanx::Device;
use phalanx_fuzz::compare::compare;
use phalanx_fuzz::{PROGRAMS, REFUSED, SEED, input};

/// Compares random programs with plain Rust.
#[derive(Parser)]
struct Options {
    /// auto, gpu, gpu:1 or sim; the C++ also runs on the host with sim
    #[arg(long, default_value = "sim")]
    device: Device,
    /// Prints what the compiler refused of the random programs
    #[arg(long)]
    refused: bool,
    /// Prints the CUDA C++ of the programs whose name contains this
    #[arg(long)]
    source: Option<String>,
}

fn main() -> ExitCode {
    let Options { device, refused, source } = Options::parse();
    if let Some(name) = source {
        for program in PROGRAMS.iter().filter(|program| program.name.contains(&name)) {
            match (program.cuda)() {
                Ok(cuda) => println!("{}\n{}", program.source, cuda.cuda_source()),
                Err(error) => println!("{}: {error}", program.name),
            }
        }
        return ExitCode::SUCCESS;
    }
    if refused {
        REFUSED.iter().for_each(|(fault, function)| println!("{fault}\n{function}\n"));
        return ExitCode::SUCCESS;
    }
    match compare(PROGRAMS, &input::inputs(), &device, device.is_simulator()) {
        Ok(report) => {
            let unexpected = report.unexpected();
            unexpected.iter().for_each(|fault| println!("{fault}\n"));
            println!(
                "seed {SEED}: {} programs, {} comparisons, {} refused",
                PROGRAMS.len(),
                report.comparisons,
                REFUSED.len()
            );
            if unexpected.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
