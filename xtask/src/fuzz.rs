//! `cargo xtask fuzz` compares random programs in three forms, plain Rust, the simulator and the CUDA C++ compiled for the
//! host, for as long as requested. Each seed is one build of `phalanx-fuzz`, whose build script writes the programs.

use std::collections::BTreeSet;
use std::env;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::run::{Result, build, cargo, run};
use crate::wheels;

/// A C++ compiler as a wheel, for machines that have none.
const ZIG: &str = "ziglang==0.13.0";

pub(crate) fn fuzz(minutes: f64, seed: u64, count: u64) -> Result<()> {
    let compiler = compiler()?;
    let start = Instant::now();
    let limit = Duration::from_secs_f64(minutes * 60.0);
    for seed in seed.. {
        let without = built(seed, count)?;
        if !without.is_empty() {
            println!("seed {seed}: rustc refuses {}", without.iter().cloned().collect::<Vec<_>>().join(", "));
        }
        let mut fuzz = cargo(&["run", "--quiet", "--release", "--package", "phalanx-fuzz"]);
        run(with_seed(&mut fuzz, seed, count, &without).env("CXX", &compiler))?;
        if start.elapsed() >= limit {
            break;
        }
    }
    Ok(())
}

/// Returns the words that run the host's C++ compiler.
pub(crate) fn compiler() -> Result<String> {
    if let Ok(compiler) = env::var("CXX") {
        return Ok(compiler);
    }
    if Command::new("c++").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return Ok("c++".into());
    }
    let zig = wheels::unpacked("zig", ZIG, &[ZIG.into()])?.join("ziglang/zig");
    // The archive keeps no permissions.
    run(Command::new("chmod").arg("+x").arg(&zig))?;
    Ok(format!("{} c++", zig.display()))
}

/// Builds the programs of a seed, and returns those that had to be left out because rustc refuses what the macro made of
/// them.
fn built(seed: u64, count: u64) -> Result<BTreeSet<String>> {
    let mut without = BTreeSet::new();
    loop {
        let mut command =
            cargo(&["build", "--quiet", "--release", "--package", "phalanx-fuzz", "--message-format=json"]);
        let Err(failure) = build(with_seed(&mut command, seed, count, &without))? else { return Ok(without) };
        let before = without.len();
        let errors = failure.diagnostics.iter().filter(|diagnostic| diagnostic["level"] == "error");
        without.extend(errors.flat_map(programs));
        if without.len() == before {
            return Err(failure.stderr);
        }
    }
}

fn with_seed<'c>(command: &'c mut Command, seed: u64, count: u64, without: &BTreeSet<String>) -> &'c mut Command {
    let without: Vec<&str> = without.iter().map(String::as_str).collect();
    command
        .env("PHALANX_FUZZ_SEED", seed.to_string())
        .env("PHALANX_FUZZ_COUNT", count.to_string())
        .env("PHALANX_FUZZ_WITHOUT", without.join(","))
}

/// Returns the programs in whose files an error is.
fn programs(error: &Value) -> BTreeSet<String> {
    let spans = error["spans"].as_array().into_iter().flatten();
    let files = spans.filter_map(|span| span["file_name"].as_str());
    let names = files.filter_map(|file| file.rsplit(['/', '\\']).next()?.strip_suffix(".rs"));
    names.filter(|name| name.starts_with("random_")).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_file() {
        let error = serde_json::json!({ "spans": [
            { "file_name": "target/out/random_17.rs" },
            { "file_name": "runtime/src/lib.rs" },
        ] });
        assert_eq!(programs(&error), BTreeSet::from(["random_17".to_string()]));
    }
}
