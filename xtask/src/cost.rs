//! `cargo xtask cost` measures the time that the macro adds to a build, by rustc's own clock and stage by stage, and
//! the time that NVRTC takes for each kernel of the corpus. It prints tables for docs/performance.md and sets no
//! limits.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::nvrtc;
use crate::run::{Result, at, cargo, crate_of, output, run, target};

/// The number of measurements of each time, whose median and quartiles are shown.
const ROUNDS: usize = 15;

/// The same for kernels of 3,000 lines.
const ROUNDS_OF_LONG: usize = 5;

/// The passes of rustc that are shown: macros alone, and everything.
const PASSES: [&str; 2] = ["macro_expand_crate", "total"];

pub(crate) fn cost() -> Result<()> {
    println!("| crate | macro expansion, ms | whole `cargo check`, ms |\n|---|---|---|");
    let folder = target().join("cost");
    for (name, text, rounds) in [
        ("no kernel", prelude(), ROUNDS),
        ("20 lines", kernel(1), ROUNDS),
        ("300 lines", kernel(18), ROUNDS),
        ("3,000 lines", kernel(176), ROUNDS_OF_LONG),
        ("3,000 lines, each on the one before", chain(3000), ROUNDS_OF_LONG),
    ] {
        let times = check(&folder, &text, rounds)?;
        println!("| {name} | {} | {} |", shown(&times[0]), shown(&times[1]));
    }
    println!();
    stages(&folder)?;
    println!();
    let nvrtc = nvrtc::folder(None)?;
    let measure = cargo(&["run", "--quiet", "--release", "--package", "phalanx-conformance", "--bin", "compile_times"]);
    run(&mut nvrtc::with_nvrtc(measure, &nvrtc)?)
}

/// Measures the macro stage by stage, in an optimized build and in a debug build.
fn stages(folder: &Path) -> Result<()> {
    let path = folder.join("kernel.rs");
    println!(
        "| kernel | build of the macro | parse, ms | check, ms | emit, ms | whole, ms |\n|---|---|---|---|---|---|"
    );
    for (lines, text, rounds) in [
        ("300 lines", kernel(18), 101),
        ("3,000 lines", kernel(176), 11),
        ("3,000 lines, each on the one before", chain(3000), 11),
    ] {
        fs::write(&path, text).map_err(at(&path))?;
        for (name, profile) in [("unoptimized", "dev"), ("optimized", "release")] {
            let mut test = cargo(&["test", "--quiet", "--profile", profile, "--package", "phalanx-compiler", "--lib"]);
            if profile == "dev" {
                test.args(["--config", "profile.dev.opt-level = 0", "--target-dir"]).arg(folder.join("stages"));
            }
            test.args(["--", "--ignored", "--nocapture", "stages_of_an_expansion"]);
            let report = output(test.env("KERNEL", &path).env("ROUNDS", rounds.to_string()))?;
            let row = report.lines().find(|line| line.starts_with("| ")).ok_or("the test shows no times")?;
            println!("| {lines} | {name} {row}");
        }
    }
    Ok(())
}

fn prelude() -> String {
    "#![allow(unused)]\nuse phalanx::prelude::*;\n".into()
}

/// Returns a kernel of about 16 lines per step, which are halves of a reduction with an exchange between the blocks of
/// a cluster.
fn kernel(steps: usize) -> String {
    let mut text =
        prelude() + "#[cluster_kernel(cluster = 2, block = 256)]\nfn kernel(input: &[f32], output: &mut [f32]) {\n";
    text += "let cluster = this_cluster();\nlet block = this_thread_block();\nlet i = cluster.thread_rank();\n";
    for step in 0..steps {
        text += &format!(
            "let array{step} = shared_array::<f32, 256>();
            let rank = block.thread_rank();
            array{step}[rank] = input[i] * {step}.5 + output[i];
            let mut half = block.num_threads() / 2;
            while half > 0 {{
                block.sync();
                if rank < half {{
                    array{step}[rank] += array{step}[rank + half];
                }}
                half /= 2;
            }}
            let token = cluster.barrier_arrive();
            let other = (cluster.block_rank() + 1) % cluster.num_blocks();
            let remote = cluster.map_shared_rank(&array{step}, other);
            cluster.barrier_wait(token);
            output[i] = remote[0] + array{step}[0];
            cluster.sync();\n"
        );
    }
    text + "}\n"
}

/// Returns a kernel of about this many lines, each of which computes with the result of the line before.
fn chain(lines: usize) -> String {
    let mut text =
        prelude() + "#[cluster_kernel(cluster = 2, block = 256)]\nfn kernel(input: &[f32], output: &mut [f32]) {\n";
    text += "let i = this_grid().thread_rank();\nlet x0 = input[i];\n";
    for line in 1..lines {
        text += &format!("let x{line} = x{} * {line}.5 + input[i];\n", line - 1);
    }
    text + &format!("output[i] = x{};\n}}\n", lines - 1)
}

/// Returns the milliseconds of each pass, sorted.
fn check(folder: &Path, text: &str, rounds: usize) -> Result<[Vec<f64>; 2]> {
    let source = crate_of(folder, "cost")?;
    let mut times = [Vec::new(), Vec::new()];
    // The first round builds the crate's dependencies.
    for round in 0..=rounds {
        fs::write(&source, format!("// {round}\n{text}")).map_err(at(&source))?;
        let report = passes(folder)?;
        for (pass, times) in PASSES.iter().zip(&mut times).filter(|_| round > 0) {
            times.push(milliseconds(&report, pass).ok_or_else(|| format!("rustc did not time `{pass}`:\n{report}"))?);
        }
    }
    times.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
    Ok(times)
}

/// Returns the output of `-Ztime-passes`. The option is for nightly compilers; the variable makes a stable one accept
/// it.
fn passes(folder: &Path) -> Result<String> {
    let mut command: Command = cargo(&["rustc", "--quiet", "--profile", "check", "--lib"]);
    command.args(["--target-dir"]).arg(folder.join("target")).args(["--", "-Ztime-passes"]);
    let output = command.current_dir(folder).env("RUSTC_BOOTSTRAP", "1").stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("cargo cannot be run: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(text) } else { Err(text) }
}

/// Returns the time in a line `time:   0.012; rss: ...  pass`.
fn milliseconds(report: &str, pass: &str) -> Option<f64> {
    let line = report.lines().find(|line| line.split_whitespace().last() == Some(pass))?;
    let seconds = line.trim_start().strip_prefix("time:")?.split(';').next()?;
    seconds.trim().parse::<f64>().ok().map(|seconds| seconds * 1000.0)
}

/// Formats the median and the quartiles.
fn shown(sorted: &[f64]) -> String {
    let at = |part: usize| sorted[(sorted.len() - 1) * part / 4];
    format!("{:.0} ({:.0} to {:.0})", at(2), at(1), at(3))
}
