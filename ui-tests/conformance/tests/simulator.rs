//! Runs the corpus in the simulator, under the default schedule and under seeded ones. `device_tests` runs it on a GPU.

use phalanx::{Device, Schedule, Simulator};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

#[track_caller]
fn run(device: &Device, filter: &str) {
    let report = phalanx_conformance::run(&phalanx_conformance::modules(), device, filter, |_, _| {});
    let failed: Vec<String> = report.failed.iter().map(|(name, error)| format!("{name}\n    {error}")).collect();
    assert!(failed.is_empty(), "{} passed, {} failed on {device}:\n{}", report.passed, failed.len(), failed.join("\n"));
    assert!(report.passed > 0, "no check has `{filter}` in its name");
}

#[test]
fn every_check() {
    run(&Device::simulator(), "");
}

/// The result of what threads do together must not depend on the schedule.
#[test]
fn under_random_schedules() {
    let schedules = [
        Schedule::Random { seed: 0 },
        Schedule::Random { seed: 1 },
        Schedule::Priority { seed: 1, changes: 3 },
        Schedule::Priority { seed: 2, changes: 3 },
        Schedule::Lockstep { seed: 1 },
    ];
    schedules.into_par_iter().for_each(|schedule| {
        let device = Device::simulator_with(Simulator::new().schedule(schedule));
        for area in [
            "guide::",
            "groups::",
            "tiles::",
            "atomics::",
            "nanosleep::",
            "dependent::",
            "forgotten::",
            "matrices::",
            "memory::",
            "tokens::",
            "phase_barriers::",
            "phase_tokens::",
            "cluster_phases::",
            "async_copies::",
            "swizzled_rows::",
            "async_peers::",
            "pipelines::",
            "failures::",
            "straight::",
            "deferred::",
            "left_early::",
            "tensor_maps::",
            "multicast::",
            "vectors::",
            "warpgroups::several_steps",
            "warpgroups::registers_change",
            "warpgroup_transposed::of_tensors",
            "orders::",
            "litmus::",
            "weak::",
            "corpus::",
        ] {
            run(&device, area);
        }
    });
}
