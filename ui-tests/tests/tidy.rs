//! Checks what the documents promise of the source itself. It reads files as text; the compiler knows nothing of these
//! rules.

#[path = "tidy/imports.rs"]
mod imports;

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
    let folders =
        ["macros/src", "runtime/src", "examples/src", "ui-tests/src", "ui-tests/tests", "ui-tests/accept", "xtask/src"];
    folders.into_iter().flat_map(|folder| files(folder, "rs")).collect()
}

#[track_caller]
fn none(what: &str, found: impl IntoIterator<Item = String>) {
    let found: Vec<String> = found.into_iter().collect();
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

#[test]
fn every_header_is_listed() {
    let listed: BTreeSet<&str> = phalanx::__private::HEADERS.iter().map(|header| header.path).collect();
    let files = files("runtime/src/program/cuda/phalanx", "cuh");
    let files: BTreeSet<&str> =
        files.iter().filter_map(|(name, _)| name.strip_prefix("runtime/src/program/cuda/")).collect();
    assert_eq!(files, listed);
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

#[test]
fn unsafe_code_is_in_few_files() {
    const ALLOWED: [&str; 20] = [
        // The driver, NVRTC, and a launch whose arguments fit its kernel.
        "runtime/src/gpu/ffi.rs",
        "runtime/src/gpu/context.rs",
        "runtime/src/gpu/nvrtc.rs",
        "runtime/src/launch/builder.rs",
        // The bytes that a kernel wrote for a message, as the values that they are.
        "runtime/src/gpu/print.rs",
        "runtime/src/gpu/record.rs",
        "runtime/src/program/message.rs",
        // Values that the threads of a warp exchange.
        "runtime/src/kernel/group/members.rs",
        // Memory that many simulated threads share, and the promise which types may live in it.
        "runtime/src/kernel/memory/atomic.rs",
        "runtime/src/kernel/memory/bytes.rs",
        "runtime/src/kernel/memory/global.rs",
        "runtime/src/kernel/memory/mod.rs",
        "runtime/src/kernel/memory/place.rs",
        "runtime/src/kernel/memory/vector.rs",
        "runtime/src/sim/access.rs",
        // Texts in the place of a kernel's own, for a test.
        "runtime/src/program/cuda/replace.rs",
        // CUDA by hand, which is unsafe to its callers.
        "runtime/src/kernel/inline_cuda.rs",
        "runtime/src/sim/context.rs",
        "runtime/src/sim/runner.rs",
        "runtime/src/sim/state/shared.rs",
    ];
    // `program/types.rs` declares and keeps the promise itself.
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

#[test]
fn levels_point_one_way() {
    // Who must not name whom.
    const FORBIDDEN: [(&str, &[&str]); 2] = [
        ("macros/src/model/", &["syn::", "quote", "crate::parse", "crate::check", "crate::emit"]),
        ("macros/src/check/", &["syn::", "quote", "crate::parse", "crate::emit"]),
    ];
    let mut found = Vec::new();
    for (name, text) in sources() {
        for (folder, names) in FORBIDDEN {
            if name.starts_with(folder) && !name.contains("/tests") {
                let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                let bad = code.filter(|line| names.iter().any(|forbidden| line.contains(forbidden)));
                found.extend(bad.map(|line| format!("{name}: {}", line.trim())));
            }
        }
    }
    none("imports against the levels of ARCHITECTURE.md", found);
}

/// The rooms of the runtime, as ARCHITECTURE.md's table has them, each with those that it may import from.
const ROOMS: [(&str, &[&str]); 6] = [
    ("report", &[]),
    ("program", &["report"]),
    ("gpu", &["report", "program"]),
    ("sim", &["report"]),
    ("kernel", &["report", "program", "sim"]),
    ("launch", &["report", "program", "gpu", "sim", "kernel"]),
];

/// Data at the root of the runtime, which all rooms share and which imports nothing.
const SHARED_DATA: [&str; 4] = ["location", "scalar", "scope", "shape"];

/// The crates that only these rooms know.
const OF_ROOMS: [(&str, &[&str]); 3] =
    [("cudarc::", &["gpu/", "launch/buffer.rs"]), ("libloading::", &["gpu/"]), ("corosensei::", &["sim/"])];

#[test]
fn rooms_of_the_runtime_import_one_way() {
    let mut found = Vec::new();
    for (name, text) in files("runtime/src", "rs").into_iter().filter(|(name, _)| !name.contains("/tests")) {
        let path = name.strip_prefix("runtime/src/").expect("it lies there");
        let own = path.split(['/', '.']).next().unwrap_or_default();
        // It names everything for the users.
        if own == "lib" {
            continue;
        }
        let allowed = match ROOMS.iter().find(|(room, _)| *room == own) {
            Some((_, rooms)) => rooms,
            None if SHARED_DATA.contains(&own) => &[][..],
            None => panic!("{name} is in no room, and no data that rooms share"),
        };
        for import in imports::imports(path, &text) {
            let named = import.first().map_or("", String::as_str);
            let is_data = SHARED_DATA.contains(&named) && !SHARED_DATA.contains(&own);
            if !(named == own || is_data || allowed.contains(&named)) {
                found.push(format!("{name}: {}", import.join("::")));
            }
        }
        let code = || text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for (library, rooms) in OF_ROOMS {
            if !rooms.iter().any(|room| path.starts_with(room)) && code().any(|line| line.contains(library)) {
                found.push(format!("{name}: {library}"));
            }
        }
    }
    none("imports against the rooms of ARCHITECTURE.md", found);
}

/// The rules that the catalogues of messages name.
fn rules() -> BTreeSet<String> {
    let of_messages = |(name, _): &(String, String)| {
        name.starts_with("macros/src/messages") || name == "macros/src/derive/messages.rs"
    };
    let text: String = files("macros/src", "rs").into_iter().filter(of_messages).map(|(_, text)| text).collect();
    let starts = text.split("Diag::new(").skip(1);
    starts.filter_map(|rest| Some(rest.trim_start().strip_prefix('"')?.split('"').next()?.to_string())).collect()
}

#[test]
fn every_rule_has_a_rejected_kernel() {
    let shown: String = files("ui-tests/reject", "stderr").into_iter().map(|(_, text)| text).collect();
    none("no file under reject/ shows", rules().into_iter().filter(|rule| !shown.contains(&format!("[{rule}]"))));
}

#[test]
fn every_rule_about_tokens_has_its_page() {
    let pages = fs::read_to_string(root().join("docs/rules.md")).expect("the pages are in the repository");
    let tokens =
        ["token_never_waited", "token_escapes", "arrive_while_pending", "collective_while_pending", "launch_limit"];
    for rule in tokens {
        assert!(rules().contains(rule), "the catalogue has no `{rule}`");
        assert!(pages.contains(&format!("\n## {rule}\n")), "docs/rules.md has no page for `{rule}`");
    }
}

/// Each word in backticks that has `::` in it is a test of the simulator or a check on devices; each link leads to a heading.
#[test]
fn what_the_page_of_guarantees_names_is_there() {
    let text = |path: &str| fs::read_to_string(root().join(path)).unwrap_or_default();
    let page = text("docs/guarantees.md");
    let checks: BTreeSet<String> = phalanx_ui_tests::modules()
        .iter()
        .flat_map(|module| module.checks.iter().map(|check| format!("{}::{}", module.name, check.name)))
        .collect();
    let exists = |name: &str| match name.strip_prefix("sim::").and_then(|path| path.rsplit_once("::")) {
        Some((file, test)) => {
            let file = text(&format!("runtime/src/sim/tests/{}.rs", file.replace("::", "/")));
            file.contains(&format!("#[test]\nfn {test}("))
        }
        None => checks.contains(name),
    };
    let names: Vec<&str> =
        page.split('`').skip(1).step_by(2).filter(|word| word.contains("::") && !word.contains(' ')).collect();
    assert!(names.len() > 40, "the page names tests: {names:?}");
    none(
        "no such test",
        names
            .into_iter()
            .filter(|name| *name != "module::check" && *name != "sim::…" && !exists(name))
            .map(str::to_string),
    );
    let links = page.split("](").skip(1).filter_map(|rest| rest.split(')').next()?.split_once('#'));
    let is_heading = |(file, heading): &(&str, &str)| {
        let heading = heading.replace('-', " ");
        text(&format!("docs/{file}")).lines().any(|line| line.trim_start_matches('#').trim().to_lowercase() == heading)
    };
    none("no such heading", links.filter(|link| !is_heading(link)).map(|(file, heading)| format!("{file}#{heading}")));
}
