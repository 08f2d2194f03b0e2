//! `cargo xtask test` runs every test of the workspace, including documentation, with NVRTC, and verifies that NVRTC
//! was used.

use std::fs;

use crate::run::{Result, cargo, run, target};
use crate::{fuzz, nvrtc};

pub(crate) fn test(version: Option<&str>, arguments: &[String]) -> Result<()> {
    let nvrtc = nvrtc::folder(version)?;
    let count = target().join("nvrtc-count");
    // The file is absent in a first run.
    let _ = fs::remove_file(&count);
    let mut command = nvrtc::with_nvrtc(cargo(&["test", "--release"]), &nvrtc)?;
    // cargo accepts no package together with `--workspace`.
    if !arguments.iter().any(|argument| argument == "-p" || argument.starts_with("--package")) {
        command.arg("--workspace");
    }
    // A store would save the compilations that are being tested.
    run(command
        .args(arguments)
        .env("PHALANX_NVRTC_COUNT", &count)
        .env("PHALANX_REQUIRE_NVRTC", "1")
        .env("CXX", fuzz::compiler()?)
        .env_remove("PHALANX_CUBINS"))?;

    let compiled = fs::read_to_string(&count).unwrap_or_default();
    let (all, kernels) = (compiled.lines().count(), compiled.lines().collect::<std::collections::BTreeSet<_>>().len());
    // A selection of the tests may compile no kernel.
    if all == 0 && arguments.is_empty() {
        return Err(format!("the tests passed, but NVRTC of {} compiled no kernel", nvrtc.display()));
    }
    println!("NVRTC compiled {all} times, {kernels} kernels by name");
    Ok(())
}
