//! Compiles every kernel of groups and barriers with NVRTC and CUDA's own headers in place of ours (`phalanx_conformance::toolkit`),
//! and compares what orders memory in the machine code of both. `device_tests --toolkit` runs the kernels on a GPU.

use std::env;

use phalanx::Program;
use phalanx_conformance::machine_code::{self, ATOMIC_GLOBAL};
use phalanx_conformance::toolkit;
use rayon::prelude::*;

/// This is one test, because the headers are replaced for the whole process.
#[test]
fn kernels_compile_with_the_toolkit_s_headers_and_ours_order_no_less() {
    let Some(folder) = toolkit::folder() else {
        assert!(env::var_os("PHALANX_REQUIRE_NVRTC").is_none(), "PHALANX_TOOLKIT names no folder");
        eprintln!("skipped: PHALANX_TOOLKIT names no folder of CUDA's headers");
        return;
    };
    let modules = toolkit::modules();
    let kernels: Vec<(String, Program)> = modules
        .iter()
        .flat_map(|module| module.kernels.iter().map(|kernel| (format!("{}::{}", module.name, kernel.name), kernel)))
        .map(|(name, kernel)| (kernel.program)().map(|program| (name, program)))
        .collect::<Result<_, _>>()
        .expect("each has a text");
    let checks: usize = modules.iter().map(|module| module.checks.len()).sum();
    assert!(kernels.len() >= 150 && checks >= 80, "only {} kernels and {checks} checks", kernels.len());

    let stages = || kernels.iter().filter(|(name, _)| name.starts_with("stages::"));
    let ordered = || -> Vec<Ordered> { stages().map(|(_, program)| Ordered::of(program)).collect() };
    let ours = ordered();
    toolkit::use_headers(Some(&folder));
    let failed: Vec<String> = kernels
        .par_iter()
        .filter_map(|(name, program)| Some(format!("{name}: {}", program.compile("sm_90a").err()?)))
        .collect();
    assert!(failed.is_empty(), "{} of {} kernels:\n{}", failed.len(), kernels.len(), failed.join("\n"));
    for (((name, _), ours), theirs) in stages().zip(&ours).zip(&ordered()) {
        assert!(ours.is_no_less_than(theirs), "{name}: {ours:?}, by hand {theirs:?}");
    }
}

/// The instructions that order memory at barriers, some of which the compiler repeats.
#[derive(Debug, Default)]
struct Ordered {
    /// Counts `UCGABAR_ARV`, `SYNCS.ARRIVE`, `ATOM`, `ATOMG`.
    arrivals: usize,
    /// Counts `MEMBAR`.
    releases: usize,
    /// Counts `CCTL.IVALL`.
    acquires: usize,
}

impl Ordered {
    fn of(program: &Program) -> Ordered {
        let cubin = program.compile("sm_90a").expect("it is CUDA C++");
        // A failed thread that stays for its peers (failure.cuh) begins with an atomic operation; so does the grid's barrier.
        let is_of_grid = program.name() == "grid_stages";
        let code = machine_code::of(&cubin, program.entry()).into_iter().map(|[low, _]| low & 0xfff);
        let mut ordered = Ordered::default();
        for operation in code.take_while(|operation| is_of_grid || *operation != ATOMIC_GLOBAL) {
            match operation {
                0x9c7 | 0x9a7 | 0x98a | ATOMIC_GLOBAL => ordered.arrivals += 1,
                0x992 => ordered.releases += 1,
                0x98f => ordered.acquires += 1,
                _ => {}
            }
        }
        ordered
    }

    /// Returns whether it has as many fences for an arrival, and one behind it for its wait, where the other has one.
    fn is_no_less_than(&self, other: &Ordered) -> bool {
        self.releases * other.arrivals >= other.releases * self.arrivals
            && (other.acquires == 0 || other.acquires < other.arrivals || self.acquires >= self.arrivals)
    }
}
