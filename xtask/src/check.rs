//! `cargo xtask check` runs the checks that a change must pass besides the tests.

use crate::run::{Result, cargo, output, run, target};

pub(crate) fn check() -> Result<()> {
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    // Without GPUs, progress and serde.
    run(&mut cargo(&["clippy", "-p", "phalanx", "--no-default-features", "--", "-D", "warnings"]))?;
    // The Python module of the example.
    run(&mut cargo(&["clippy", "-p", "phalanx-torch-op", "--features", "python", "--", "-D", "warnings"]))?;
    has_no_cudarc()?;
    // Beside another user of cudarc that links CUDA's libraries.
    let beside = ["check", "--manifest-path", "ui-tests/beside_cudarc/Cargo.toml", "--locked", "--target-dir"];
    run(cargo(&beside).arg(target().join("beside_cudarc")))?;
    run(cargo(&["doc", "--workspace", "--no-deps", "--document-private-items"]).env("RUSTDOCFLAGS", "-D warnings"))
}

/// Fails if the library without its features depends on cudarc.
fn has_no_cudarc() -> Result<()> {
    let tree =
        output(&mut cargo(&["tree", "-p", "phalanx", "--no-default-features", "-e", "normal", "--prefix", "none"]))?;
    match tree.lines().find(|line| ["cudarc ", "indicatif ", "serde "].iter().any(|name| line.starts_with(name))) {
        None => Ok(()),
        Some(line) => Err(format!("phalanx without features depends on {line}")),
    }
}
