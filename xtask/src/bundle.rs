//! `cargo xtask bundle` builds a folder to copy to a machine with a GPU and nothing else. Running everything once in
//! the simulator compiles the kernels, and stores them in PHALANX_CUBINS. Programs and kernels are compressed to a
//! quarter of their size; `tar` and `gzip` unpack them there.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::nvrtc;
use crate::run::{Program, Result, at, built_by, cargo, output, programs, root, run};

/// The script that runs everything in the bundle, and lists at the end what failed.
const RUN: &str = r#"#!/bin/sh
# Runs the tests and the examples on this machine's GPU, with kernels that were compiled when the bundle was made.
cd "$(dirname "$0")" || exit 1
tar -xzf packed.tar.gz || exit 1
export PHALANX_CUBINS="$PWD/cubins"
failed=""
for test in tests/*; do
    echo "== $test"
    "$test" || failed="$failed $test"
done
for program in checks/* examples/*; do
    echo "== $program"
    "$program" --device gpu || failed="$failed $program"
done
echo "== a program with its kernels inside, and no NVRTC"
PHALANX_CUBINS= PHALANX_CACHE=off PHALANX_NVRTC=none examples/phalanx-embedded --device gpu --time || failed="$failed embedded"
echo "== CUDA's own headers in place of ours"
timeout 300 checks/device_tests --device gpu --toolkit || failed="$failed toolkit"
echo "== kernels that this machine's NVRTC compiles, which may be of another version"
if [ -n "$PHALANX_NVRTC" ] || ls /usr/local/cuda*/lib64/libnvrtc.so* >/dev/null 2>&1; then
    PHALANX_CUBINS= PHALANX_CACHE=off checks/device_tests --device gpu || failed="$failed own_nvrtc"
else
    echo "not run: there is none in /usr/local/cuda*/lib64, and PHALANX_NVRTC is not set"
fi
[ -z "$failed" ] && echo "all passed" && exit 0
echo "failed:$failed"
exit 1
"#;

/// The script that measures the showcases, which takes minutes.
const BENCH: &str = r#"#!/bin/sh
# Measures the showcases on this machine's GPU; the table and its pictures are in ./results.
# Its arguments are the benchmark's: --only softmax, --no-libraries.
cd "$(dirname "$0")" || exit 1
tar -xzf packed.tar.gz || exit 1
export PHALANX_CUBINS="$PWD/cubins"
exec bench/bench --device gpu --out results "$@"
"#;

pub(crate) fn bundle() -> Result<()> {
    let nvrtc = nvrtc::folder(None)?;
    let bundle = root().join("bundle");
    if bundle.exists() {
        fs::remove_dir_all(&bundle).map_err(at(&bundle))?;
    }
    let cubins = bundle.join("cubins");
    fs::create_dir_all(&cubins).map_err(at(&cubins))?;

    let mut examples = programs(&["build", "--release", "--package", "phalanx-examples", "--bins", "--examples"])?;
    // Its build script compiles kernels.
    let embedded = cargo(&["build", "--release", "--package", "phalanx-embedded", "--bins"]);
    examples.extend(built_by(&mut nvrtc::with_nvrtc(embedded, &nvrtc)?)?);
    let mut checks = programs(&["build", "--release", "--package", "phalanx-conformance", "--bin", "device_tests"])?;
    checks.extend(programs(&["build", "--release", "--package", "phalanx-fuzz", "--bin", "fuzz"])?);
    let bench = programs(&["build", "--release", "--package", "phalanx-bench"])?;
    let tests = programs(&["test", "--no-run", "--release", "--package", "phalanx", "--lib", "--tests"])?;
    let simulated = &["--device", "sim"][..];
    for (kind, of_kind, arguments) in [
        ("examples", &examples, simulated),
        ("checks", &checks, simulated),
        ("bench", &bench, simulated),
        ("tests", &tests, &[]),
    ] {
        let folder = bundle.join(kind);
        fs::create_dir_all(&folder).map_err(at(&folder))?;
        for Program { name, path } in of_kind {
            println!("{kind}/{name}");
            let copy = folder.join(name);
            fs::copy(path, &copy).map_err(at(path))?;
            // Half of a program is symbols. Without `strip`, the bundle is larger.
            let _ = Command::new("strip").arg(&copy).status();
            simulate(&copy, arguments, &nvrtc, &cubins)?;
            if name == "device_tests" {
                simulate(&copy, &["--device", "sim", "--toolkit"], &nvrtc, &cubins)?;
            }
        }
    }
    let kernels = fs::read_dir(&cubins).map_err(at(&cubins))?.count();
    if kernels == 0 {
        return Err("no kernel was compiled".into());
    }
    let folders = ["cubins", "tests", "checks", "examples", "bench"];
    run(Command::new("tar").args(["-czf", "packed.tar.gz"]).args(folders).current_dir(&bundle))?;
    for folder in folders.map(|folder| bundle.join(folder)) {
        fs::remove_dir_all(&folder).map_err(at(&folder))?;
    }

    for (name, text) in [("run.sh", RUN), ("bench.sh", BENCH)] {
        let script = bundle.join(name);
        fs::write(&script, text).map_err(at(&script))?;
        run(Command::new("chmod").arg("+x").arg(&script))?;
    }

    let packed = bundle.join("packed.tar.gz");
    let bytes = fs::metadata(&packed).map_err(at(&packed))?.len();
    println!("{}: {kernels} kernels, {:.1} MB", bundle.display(), bytes as f64 / 1e6);
    Ok(())
}

/// Runs a program here, so that the kernels it compiles are stored in `cubins`.
fn simulate(program: &Path, arguments: &[&str], nvrtc: &Path, cubins: &Path) -> Result<()> {
    let mut command = nvrtc::with_nvrtc(Command::new(program), nvrtc)?;
    output(command.args(arguments).current_dir(root()).env("PHALANX_CUBINS", cubins)).map(drop)
}
