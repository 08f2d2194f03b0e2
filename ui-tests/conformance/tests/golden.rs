//! Compares the CUDA C++ of some kernels with files, and compiles every kernel with NVRTC. `UPDATE_GOLDEN=1` writes the files.

use std::path::Path;
use std::{env, fs};

use phalanx::{Error, Program};
use phalanx_conformance::{Kernel, modules};
use rayon::prelude::*;

fn all() -> Vec<(String, Kernel)> {
    let modules = modules();
    let all = modules.iter().flat_map(|module| module.kernels.iter().map(|kernel| (module.name.to_string(), *kernel)));
    all.collect()
}

/// Returns whether a launch with a deadline runs other code of the program.
fn waits(program: &Program) -> bool {
    let waits =
        [".wait(", "wait_parity(", "try_wait", "arrive_and_wait(", "block.barrier_wait(", "grid.sync(", ".atomic("];
    waits.iter().any(|wait| program.cuda_source().contains(wait))
}

/// NVRTC accepts every kernel as CUDA C++, and again for launches with a deadline. This needs no GPU.
#[test]
fn every_kernel_compiles() {
    let failed: Vec<Result<String, String>> = all()
        .par_iter()
        .filter_map(|(module, kernel)| {
            let compiled = (kernel.program)().and_then(|program| {
                program.compile_for_most_launches("sm_90a")?;
                if waits(&program) { program.compile_with_deadline("sm_90a").map(drop) } else { Ok(()) }
            });
            let failed = |error: Error| match error {
                Error::NvrtcMissing { .. } => Err(error.to_string()),
                error => Ok(format!("{module}::{}: {error}", kernel.name)),
            };
            compiled.err().map(failed)
        })
        .collect();
    if let Some(Err(missing)) = failed.iter().find(|failed| failed.is_err()) {
        assert!(env::var_os("PHALANX_REQUIRE_NVRTC").is_none(), "{missing}");
        eprintln!("not compiled: {missing}");
        return;
    }
    let failed: Vec<String> = failed.into_iter().flatten().collect();
    assert!(failed.is_empty(), "NVRTC refused {} kernels:\n{}", failed.len(), failed.join("\n"));
}

/// Every kernel is in its module's table; otherwise nothing would compile it.
#[test]
fn every_kernel_is_in_the_table() {
    let names: Vec<String> = all().iter().map(|(_, kernel)| kernel.name.to_string()).collect();
    let known = |name: &str| names.iter().any(|known| known.split(['<', ' ', ':']).any(|part| part.ends_with(name)));
    let folder = |name| fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
    for entry in folder("src/kernels").chain(folder("src/corpus")) {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        for after in text.split("#[cluster_kernel").skip(1) {
            let name = after.split_once("fn ").unwrap().1.split(['(', '<']).next().unwrap();
            // A macro makes the kernel, and its entry.
            let made = name.starts_with('$') || name == "kernel";
            assert!(made || known(name), "`{name}` of {} is in no table", path.display());
        }
    }
}

/// The modules whose texts are kept.
const MODULES: [&str; 2] = ["guide", "by_hand"];

/// Kernels of other modules whose texts are kept.
const KERNELS: &[(&str, &str)] = &[
    ("async_copies", "fetched_ahead"),
    ("async_peers", "bulk_ring"),
    ("block_phases", "all_kinds"),
    ("calls", "method_calls"),
    ("constants", "values"),
    ("folds", "of_closures"),
    ("grid_barriers", "three_levels"),
    ("groups", "claims"),
    ("large_shared", "two_arrays"),
    ("options", "fast"),
    ("phase_barriers", "by_parity"),
    ("cluster_phases", "all_to_all"),
    ("structs", "through_shared"),
    ("tensor_maps", "summed"),
    ("timelines", "rounds"),
    ("calls", "nested_closures"),
    ("half_atomics", "scatter"),
    ("corpus::tensor_cores", "product"),
    ("memory", "ordered"),
    ("memory", "parts"),
    ("elements", "chunked"),
    ("orders", "message"),
    ("patterns", "option_values"),
    ("vectors", "copy"),
];

/// Each kernel has one file.
#[test]
fn texts_are_as_before() {
    let update = env::var_os("UPDATE_GOLDEN").is_some_and(|value| value != "0");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let mut changed = Vec::new();
    let kept = |module: &str, kernel: &str| MODULES.contains(&module) || KERNELS.contains(&(module, kernel));
    for (_, kernel) in all().iter().filter(|(module, kernel)| kept(module, kernel.name)) {
        let text = without_own_lines((kernel.program)().unwrap().cuda_source());
        let path = folder.join(format!("{}.cu", kernel.name.split('<').next().unwrap()));
        let before = fs::read_to_string(&path).unwrap_or_default();
        if before == text {
            continue;
        }
        match update {
            true => fs::write(&path, text).unwrap(),
            false => changed.push(format!("{}\n{}", path.display(), diff(&before, &text))),
        }
    }
    assert!(changed.is_empty(), "UPDATE_GOLDEN=1 accepts these changes:\n{}", changed.join("\n"));
}

/// Leaves out the line numbers of the library's own files, which each change of a comment there moves.
fn without_own_lines(text: &str) -> String {
    let own = |line: &str| line.split_once("#line ").is_some_and(|(_, place)| place.contains("\"runtime/"));
    let lines = text.split_inclusive('\n').map(|line| match line.split_once('"').filter(|_| own(line)) {
        Some((_, file)) => format!("#line \"{file}"),
        None => line.to_string(),
    });
    lines.collect()
}

/// Returns the lines removed and the lines added, from the first to the last that differ, with their numbers.
fn diff(before: &str, after: &str) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let start = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let rest = before[start..].iter().rev().zip(after[start..].iter().rev()).take_while(|(a, b)| a == b).count();
    let lines = |sign: char, lines: &[&str]| {
        let numbered = lines[start..lines.len() - rest].iter().enumerate();
        numbered.map(|(index, line)| format!("{sign} {:4} {line}\n", start + index + 1)).collect::<String>()
    };
    lines('-', &before) + &lines('+', &after)
}
