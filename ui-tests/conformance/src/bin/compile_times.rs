//! Measures how long NVRTC takes for each kernel of the corpus, one after the other: `compile_times [rounds]`. It
//! prints a table for docs/performance.md.

use std::fs;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use phalanx_conformance::modules;

/// A clock of this thread's processor time, if the system provides it (Linux): NVRTC works on the thread that calls it,
/// so other load on the machine counts less. Otherwise it measures elapsed time.
struct Clock {
    ran: Option<u64>,
    passed: Instant,
}

impl Clock {
    fn start() -> Clock {
        Clock { ran: Clock::ran(), passed: Instant::now() }
    }

    /// Returns the processor time in nanoseconds.
    fn ran() -> Option<u64> {
        fs::read_to_string("/proc/thread-self/schedstat").ok()?.split_whitespace().next()?.parse().ok()
    }

    fn elapsed(&self) -> Duration {
        let passed = self.passed.elapsed();
        self.ran.zip(Clock::ran()).map_or(passed, |(start, end)| Duration::from_nanos(end - start))
    }
}

fn main() -> ExitCode {
    let rounds = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(3);
    let mut times: Vec<(Duration, String)> = Vec::new();
    for module in modules() {
        for kernel in &module.kernels {
            let name = format!("{}::{}", module.name, kernel.name);
            // The minimum of a few rounds excludes most of the machine's other work.
            let mut least = Duration::MAX;
            for _ in 0..rounds {
                let compiled = (kernel.program)().and_then(|program| {
                    let start = Clock::start();
                    program.compile("sm_90a").map(|_| start.elapsed())
                });
                match compiled {
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
    let (corpus, tests): (Vec<_>, Vec<_>) = times.into_iter().partition(|(_, name)| name.starts_with("corpus::"));
    println!("| kernels | how many | median, ms | 90 % below, ms | slowest |\n|---|---|---|---|---|");
    for (what, times) in [("of the corpus", corpus), ("of the tests", tests)] {
        let at = |part: usize| times[(times.len() - 1) * part / 100].0.as_secs_f64() * 1000.0;
        let slowest = &times[times.len() - 1].1;
        let (median, most, all) = (at(50), at(90), at(100));
        println!("| {what} | {} | {median:.0} | {most:.0} | {all:.0}: `{slowest}` |", times.len());
    }
    ExitCode::SUCCESS
}
