//! Compiles kernels for every architecture that they run on, and looks whether the others are refused. It needs NVRTC and no GPU.

use std::env;

use phalanx::{Error, LaunchError};
use phalanx_conformance::{corpus, kernels};

/// Those of the GPUs: an A100, an L40S, Hopper without and with its own instructions, and Blackwell's.
const ARCHITECTURES: [&str; 8] = ["sm_80", "sm_89", "sm_90", "sm_90a", "sm_100f", "sm_103a", "sm_120f", "sm_121a"];

/// Every so many kernels are compiled for an architecture, each time others.
const OF: usize = 24;

#[test]
fn kernels_compile_for_the_architectures_that_they_run_on() {
    let modules: Vec<_> = corpus::modules().into_iter().chain(kernels::modules()).collect();
    let mut refused = 0;
    for (turn, architecture) in ARCHITECTURES.iter().enumerate() {
        let all = modules.iter().flat_map(|module| &module.kernels);
        for kernel in all.skip(turn * OF / ARCHITECTURES.len()).step_by(OF) {
            let program = (kernel.program)().unwrap();
            // What is written by hand is not known to any check.
            let is_handwritten =
                program.cuda_source().contains("asm volatile") || program.cuda_source().contains("asm(");
            match program.check_architecture(architecture) {
                Err(Error::Launch {
                    reason:
                        LaunchError::Capability { .. }
                        | LaunchError::NoSuffix { .. }
                        | LaunchError::NarrowFloats { .. }
                        | LaunchError::NoClusters { .. },
                    ..
                }) => {
                    refused += 1;
                    continue;
                }
                checked => checked.unwrap(),
            }
            match program.compile(architecture) {
                Err(missing @ Error::NvrtcMissing { .. }) => {
                    assert!(env::var_os("PHALANX_REQUIRE_NVRTC").is_none(), "{missing}");
                    return eprintln!("not compiled: {missing}");
                }
                Err(error) if !is_handwritten => panic!("{architecture}: {error}"),
                Ok(_) | Err(_) => {}
            }
        }
    }
    assert!(refused > 10, "kernels of clusters and products are among them: {refused}");
}
