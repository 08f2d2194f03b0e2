//! Runs every part of the benchmark in the simulator at a small size, and compiles the twins where there is an NVRTC. A
//! GPU runs them all in `cargo xtask bench`.

use phalanx::{Device, Schedule, Simulator};
use phalanx_bench::part::Part;
use phalanx_bench::{atlas, twin};

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
