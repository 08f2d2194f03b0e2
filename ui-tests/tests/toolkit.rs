//! Every kernel of groups and barriers through NVRTC with CUDA's own headers in place of ours (`phalanx_ui_tests::toolkit`). What
//! the kernels then do is for a GPU: `device_tests --toolkit`.

use std::env;

use phalanx_ui_tests::toolkit;
use rayon::prelude::*;

#[test]
fn every_kernel_compiles_with_the_toolkit_s_headers() {
    let Some(folder) = toolkit::folder() else {
        assert!(env::var_os("PHALANX_REQUIRE_NVRTC").is_none(), "PHALANX_TOOLKIT names no folder");
        eprintln!("skipped: PHALANX_TOOLKIT names no folder of CUDA's headers");
        return;
    };
    toolkit::use_headers(Some(&folder));
    let modules = toolkit::modules();
    let kernels: Vec<_> =
        modules.iter().flat_map(|module| module.kernels.iter().map(|kernel| (module.name, *kernel))).collect();
    let checks: usize = modules.iter().map(|module| module.checks.len()).sum();
    assert!(kernels.len() >= 150 && checks >= 80, "only {} kernels and {checks} checks", kernels.len());
    let compiled = kernels.par_iter().map(|(module, kernel)| {
        let program = (kernel.program)().unwrap_or_else(|error| panic!("{module}::{}: {error}", kernel.name));
        program.compile("sm_90a").map(drop).map_err(|error| format!("{module}::{}: {error}", kernel.name))
    });
    let failed: Vec<String> = compiled.filter_map(Result::err).collect();
    assert!(failed.is_empty(), "{} of {} kernels:\n{}", failed.len(), kernels.len(), failed.join("\n"));
}
