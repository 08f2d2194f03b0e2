//! Runs every showcase in the simulator at a small size, and compiles its twin where there is an NVRTC. A GPU runs them
//! all in `cargo xtask bench`.

use phalanx::{Device, Schedule, Simulator};
use phalanx_bench::{atlas, run, showcases, timing, twin};

fn each(device: &Device) {
    for showcase in showcases::ALL {
        run::simulate(showcase, device).unwrap();
    }
}

#[test]
fn showcases_are_right_in_the_simulator() {
    each(&Device::simulator());
}

#[test]
fn showcases_are_right_under_a_random_schedule() {
    each(&Device::simulator_with(Simulator::new().schedule(Schedule::Random { seed: 7 })));
}

#[test]
fn the_atlas_is_right_in_the_simulator() {
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
    timing::copy().cubin().unwrap();
    for showcase in showcases::ALL {
        run::compile_twins(showcase).unwrap();
    }
}
