//! Tests what the documents promise about the source itself, in the text of its files. `xtask` depends on no other
//! crate of the workspace, so that these tests run in seconds, even if the rest does not compile.

#[path = "tidy/documents.rs"]
mod documents;
#[path = "tidy/imports.rs"]
mod imports;
#[path = "tidy/layers.rs"]
mod layers;
#[path = "tidy/oldest_rust.rs"]
mod oldest_rust;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Files below `folder` with this ending, as paths from the root, with their text.
fn files(folder: &str, ending: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder is in the repository") {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == ending) {
                let name =
                    path.strip_prefix(root()).expect("it lies below the root").to_string_lossy().replace('\\', "/");
                found.push((name, fs::read_to_string(&path).expect("text")));
            }
        }
    }
    found.sort();
    found
}

fn sources() -> Vec<(String, String)> {
    let folders = [
        "macros/src",
        "macros/compiler/src",
        "macros/contract/src",
        "runtime/src",
        "examples/src",
        "examples/bench/src",
        "examples/bench/tests",
        "examples/candle_op/src",
        "examples/embedded",
        "ui-tests/accept",
        "ui-tests/beside_cudarc/src",
        "ui-tests/changed_lines",
        "ui-tests/tests",
        "ui-tests/conformance/src",
        "ui-tests/conformance/tests",
        "ui-tests/conformance/generators",
        "ui-tests/conformance/fuzz",
        "book/src",
        "book/tests",
        "xtask/src",
        "xtask/tests",
    ];
    folders.into_iter().flat_map(|folder| files(folder, "rs")).collect()
}

#[track_caller]
fn none(what: &str, found: impl IntoIterator<Item = String>) {
    let found: Vec<String> = found.into_iter().collect();
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

#[test]
fn every_file_says_what_it_is() {
    let silent = sources().into_iter().filter(|(_, text)| !text.starts_with("//! "));
    none("the first line is not `//! ...`", silent.map(|(name, _)| name));
}

#[test]
fn every_file_is_one_idea() {
    let long = sources().into_iter().filter(|(_, text)| text.lines().count() > 500);
    none("longer than 500 lines", long.map(|(name, text)| format!("{name}: {}", text.lines().count())));
}

/// A text that goes on in the next line without a backslash at the end of the first has the next one's indentation in its middle.
#[test]
fn messages_have_single_spaces() {
    let mut wide = Vec::new();
    for (name, text) in ["runtime/src/report", "macros/compiler/src"].into_iter().flat_map(|folder| files(folder, "rs"))
    {
        let is_wide = |line: &str| {
            let mut words = line.trim_start().split("    ");
            let before = words.next().is_some_and(|text| text.contains('"') && text.ends_with(char::is_alphanumeric));
            before && !line.contains("\\n") && words.any(|text| text.trim_start().starts_with(char::is_alphanumeric))
        };
        wide.extend(
            text.lines().zip(1..).filter(|(line, _)| is_wide(line)).map(|(_, number)| format!("{name}:{number}")),
        );
    }
    none("four spaces inside of a text", wide);
}

#[test]
fn unsafe_code_is_in_few_files() {
    const ALLOWED: [&str; 36] = [
        // The driver, NVRTC, and a launch whose arguments fit its kernel.
        "runtime/src/gpu/ffi.rs",
        "runtime/src/gpu/ffi/capture.rs",
        "runtime/src/gpu/ffi/graph.rs",
        "runtime/src/gpu/ffi/managed.rs",
        "runtime/src/gpu/ffi/nccl.rs",
        "runtime/src/gpu/ffi/nvtx.rs",
        "runtime/src/gpu/ffi/peer.rs",
        "runtime/src/gpu/ffi/pinned.rs",
        "runtime/src/gpu/queue/host_copy.rs",
        "runtime/src/gpu/graph.rs",
        "runtime/src/gpu/absent.rs",
        "runtime/src/gpu/context.rs",
        "runtime/src/gpu/nvrtc.rs",
        "runtime/src/launch/checked.rs",
        "runtime/src/launch/simulated.rs",
        // A test with a `cuda!`.
        "runtime/src/launch/pinned.rs",
        // Memory and streams at an address that the program vouches for.
        "runtime/src/launch/dlpack.rs",
        "runtime/src/launch/foreign.rs",
        "runtime/src/launch/view.rs",
        // The values of a message, from the bytes that a kernel wrote.
        "runtime/src/gpu/print.rs",
        "runtime/src/gpu/record.rs",
        "runtime/src/program/message.rs",
        // The values that the threads of a warp exchange.
        "runtime/src/kernel/group/members.rs",
        // The memory that simulated threads share, and the promise of the types that may lie in it.
        "runtime/src/kernel/memory/atomic.rs",
        "runtime/src/kernel/memory/bytes.rs",
        "runtime/src/kernel/memory/global.rs",
        "runtime/src/kernel/memory/mod.rs",
        "runtime/src/kernel/memory/place.rs",
        "runtime/src/kernel/memory/swizzled.rs",
        "runtime/src/kernel/memory/vector.rs",
        "runtime/src/sim/access.rs",
        // Texts that replace those of kernels, for a test.
        "runtime/src/program/cuda/replace.rs",
        // Handwritten CUDA C++, which is unsafe for its callers.
        "runtime/src/kernel/inline_cuda.rs",
        "runtime/src/sim/context.rs",
        "runtime/src/sim/runner.rs",
        "runtime/src/sim/state/shared.rs",
    ];
    // `program/types.rs` declares the promise and keeps it itself.
    let promise = "runtime/src/program/types.rs";
    let uses = |text: &str| {
        text.lines().any(|line| {
            let code = line.split("//").next().unwrap_or_default();
            ["unsafe {", "unsafe impl", "unsafe fn ", "unsafe trait"].iter().any(|form| code.contains(form))
        })
    };
    let own = sources().into_iter().filter(|(name, _)| name.starts_with("runtime/") && !name.contains("/tests"));
    let found: BTreeSet<String> = own.filter(|(_, text)| uses(text)).map(|(name, _)| name).collect();
    let listed: BTreeSet<String> = ALLOWED.into_iter().chain([promise]).map(String::from).collect();
    none("`unsafe` in a file that had none so far", found.difference(&listed).cloned());
    none("listed, and without `unsafe`", listed.difference(&found).cloned());
}

/// A package has no file outside of its folder. Its tests may include such a file, because its users do not compile them.
#[test]
fn a_library_includes_files_of_its_own_package() {
    let packages = ["macros", "macros/compiler", "macros/contract", "runtime"];
    let mut outside = Vec::new();
    for package in packages {
        for (name, text) in files(&format!("{package}/src"), "rs") {
            let own = text.split("#[cfg(test)]").next().unwrap_or_default();
            let own = own.split("#[cfg(doctest)]").next().unwrap_or_default();
            let depth = name[package.len() + 1..].matches('/').count();
            let paths = own.split("include_str!(\"").skip(1).filter_map(|rest| rest.split('"').next());
            let leaves = |path: &&str| path.matches("../").count() > depth;
            if !name.contains("/tests") {
                outside.extend(paths.filter(leaves).map(|path| format!("{name}: {path}")));
            }
        }
    }
    none("a published package would lack these files", outside);
}

/// A file of tests has a name that `include` in Cargo.toml leaves out of the packages.
#[test]
fn packages_have_no_tests() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("text");
    let mut packed = Vec::new();
    for (name, text) in ["macros", "runtime"].iter().flat_map(|package| files(package, "rs")) {
        for module in text.split("#[cfg(test)]\nmod ").skip(1).filter_map(|rest| rest.lines().next()?.strip_suffix(';'))
        {
            let is_left_out = name.contains("/tests/") || manifest.contains(&format!("\"!{module}.rs\""));
            if !is_left_out {
                packed.push(format!("{name}: mod {module};"));
            }
        }
    }
    none("a module of tests that a package would have", packed);
}
