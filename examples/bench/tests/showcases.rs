//! Runs every part of the benchmark in the simulator at a small size, and compiles the twins where there is an NVRTC. A
//! GPU runs them all in `cargo xtask bench`.

use phalanx::{Device, Schedule, Simulator};
use phalanx_bench::part::Part;
use phalanx_bench::{atlas, tensor, twin};

fn simulate(device: &Device) {
    for part in Part::all() {
        part.simulate(device).unwrap();
    }
}

#[test]
fn showcases_are_right_in_the_simulator() {
    simulate(&Device::simulator());
}

#[test]
fn showcases_are_right_under_a_random_schedule() {
    simulate(&Device::simulator_with(Simulator::new().schedule(Schedule::Random { seed: 7 })));
}

/// Products whose blocks or warpgroups wait for each other, under orders that reach late and early arrivals.
#[test]
fn products_are_right_under_several_schedules() {
    let schedules = [
        Schedule::Random { seed: 1 },
        Schedule::Priority { seed: 2, changes: 3 },
        Schedule::Priority { seed: 3, changes: 3 },
        Schedule::Lockstep { seed: 4 },
    ];
    for schedule in schedules {
        let device = Device::simulator_with(Simulator::new().schedule(schedule.clone()));
        for (named, cases) in [("sum split", 4), ("ping-pong", 4), ("multicast", 3)] {
            let simulated = tensor::simulate_those_named(&device, named);
            assert_eq!(simulated.unwrap_or_else(|error| panic!("{schedule:?}: {error}")), cases);
        }
    }
}

#[test]
fn the_atlas_has_a_page_for_each_size() {
    let pages = atlas::measure(&Device::simulator()).unwrap();
    assert_eq!(pages.iter().map(|page| page.latency.len()).sum::<usize>(), 4 + 16 + 64 + 256);
    assert_eq!(atlas::markdown(&pages).lines().count(), 2 + pages.len());
}

#[test]
fn twins_compile() {
    if !twin::compiler_is_present() {
        assert!(std::env::var_os("PHALANX_REQUIRE_NVRTC").is_none(), "NVRTC was not found");
        eprintln!("skipped: no NVRTC");
        return;
    }
    for part in Part::all() {
        part.compile_twins().unwrap();
    }
}
