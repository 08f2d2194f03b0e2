//! Runs the checks of some modules in the simulator under several schedules, and prints how their kernels fail, one JSON
//! object a line: `check`, `schedule`, `failure`, `text`. A wrong result or an error of the host has no `failure`. For
//! `cargo xtask attack`.

use clap::Parser;
use phalanx::{Device, Error, Schedule, Simulator};

/// Prints how the kernels of a module fail in the simulator.
#[derive(Parser)]
struct Options {
    /// Runs the modules whose names start with this
    module: String,
}

fn main() {
    let Options { module } = Options::parse();
    let schedules = [
        Schedule::RoundRobin,
        Schedule::Priority { seed: 1, changes: 0 },
        Schedule::Priority { seed: 2, changes: 3 },
        Schedule::Random { seed: 3 },
    ];
    for module in phalanx_conformance::modules().iter().filter(|one| one.name.starts_with(&module)) {
        for check in &module.checks {
            for schedule in &schedules {
                let device = Device::simulator_with(Simulator::new().schedule(schedule.clone()));
                let Err(error) = (check.run)(&device) else { continue };
                let failure = match error.downcast_ref::<Error>() {
                    Some(Error::Kernel(failure)) => Some(failure),
                    _ => None,
                };
                println!(
                    "{}",
                    serde_json::json!({
                        "check": check.name,
                        "schedule": schedule.to_string(),
                        "failure": failure,
                        "text": error.to_string(),
                    })
                );
                break;
            }
        }
    }
}
