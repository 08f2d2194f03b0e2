//! How long NVRTC takes for each kernel of the corpus, one after the other: `compile_times [rounds]`. A table for
//! docs/performance.md.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use phalanx_ui_tests::kernels;

fn main() -> ExitCode {
    let rounds = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(3);
    let mut times: Vec<(Duration, String)> = Vec::new();
    for module in kernels::modules() {
        for kernel in &module.kernels {
            let name = format!("{}::{}", module.name, kernel.name);
            // The least of a few rounds: the compiler's work without what else the machine did.
            let mut least = Duration::MAX;
            for _ in 0..rounds {
                let compiled = (kernel.program)().map(|program| {
                    let start = Instant::now();
                    program.compile("sm_90a").map(|_| start.elapsed())
                });
                match compiled.flatten() {
                    Ok(time) => least = least.min(time),
                    Err(error) => {
                        eprintln!("{name}: {error}");
                        return ExitCode::FAILURE;
                    }
                }
            }
            times.push((least, name));
        }
    }
    times.sort();
    let at = |part: usize| times[(times.len() - 1) * part / 100].0.as_secs_f64() * 1000.0;
    println!("NVRTC, {} kernels, least of {rounds}: median {:.0} ms, 90 % below {:.0} ms", times.len(), at(50), at(90));
    for (time, name) in times.iter().rev().take(10) {
        println!("| {name} | {:.0} ms |", time.as_secs_f64() * 1000.0);
    }
    ExitCode::SUCCESS
}
