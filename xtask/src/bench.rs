//! `cargo xtask bench` measures the showcases on this machine's GPU, beside their twins in CUDA C++ and the libraries.

use std::process::Command;

use crate::nvrtc;
use crate::run::{Result, cargo, run, target};

pub(crate) fn bench(arguments: &[String]) -> Result<()> {
    let nvrtc = nvrtc::folder(None)?;
    run(&mut cargo(&["build", "--release", "--package", "phalanx-bench"]))?;
    let mut command = nvrtc::with_nvrtc(Command::new(target().join("release/bench")), &nvrtc)?;
    run(command.args(["--device", "gpu"]).args(arguments))
}
