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

/// The operations `ATOM`, by the lowest 12 bits, and `MEMBAR`.
const ATOMIC: u64 = 0x98a;
const MEMORY_BARRIER: u64 = 0x992;
/// A compare-exchange, of a generic and of a global address.
const STAYS: [u64; 2] = [0x38b, 0x3a9];

/// Whether an instruction belongs to the record of a failure, which is claimed by an exchange and published to the host.
fn is_of_record([low, high]: [u64; 2]) -> bool {
    match low & 0xfff {
        ATOMIC | ATOMIC_GLOBAL => high >> 23 & 15 == 8,
        MEMORY_BARRIER => high >> 12 & 15 == 0xb,
        _ => false,
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
        // A failed thread that stays for its peers (failure.cuh) begins with a compare-exchange, behind everything else.
        let code = machine_code::of(&cubin, program.entry());
        let code = code.into_iter().take_while(|[low, _]| !STAYS.contains(&(low & 0xfff)));
        let code = code.filter(|instruction| !is_of_record(*instruction)).map(|[low, _]| low & 0xfff);
        let mut ordered = Ordered::default();
        for operation in code {
            match operation {
                0x9c7 | 0x9a7 | ATOMIC | ATOMIC_GLOBAL => ordered.arrivals += 1,
                MEMORY_BARRIER => ordered.releases += 1,
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
