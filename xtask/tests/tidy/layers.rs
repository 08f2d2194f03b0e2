//! Tests the layers that ARCHITECTURE.md states in tables, crate by crate: which module may import from which, which
//! libraries only some files may name, and that no files import each other in a cycle. A module is a folder or a file at
//! the root of `src`.

use std::collections::{BTreeMap, BTreeSet};

use crate::imports::imports;
use crate::{files, none, root};

/// What ARCHITECTURE.md says of a crate: its modules, each with those that it may import from, and the libraries that only
/// some files may name.
struct Layers {
    source: &'static str,
    modules: BTreeMap<String, BTreeSet<String>>,
    libraries: BTreeMap<String, BTreeSet<String>>,
}

/// The crates, in the order in which ARCHITECTURE.md has the tables of their modules.
const CRATES: [&str; 3] = ["macros/compiler/src", "macros/contract/src", "runtime/src"];

/// The modules of the runtime that are data, from which all others may import.
const SHARED_DATA: [&str; 6] = ["fp8", "location", "scalar", "schedule", "scope", "shape"];

/// The files that hold the parts of one recursive type, and therefore name each other.
const RECURSIVE_TYPES: [&[&str]; 2] = [
    &["model/expr", "model/inline_cuda", "model/message", "model/pattern", "model/range"],
    // The traits of numbers, which their implementations seal.
    &["kernel/numeric/float", "kernel/numeric/half", "kernel/numeric/integer", "kernel/numeric/traits"],
];

/// Reads the tables of ARCHITECTURE.md.
fn layers() -> Vec<Layers> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md can be read");
    let mut layers: Vec<Layers> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let is_of_modules = line.starts_with("| module |") && line.ends_with("| imports from |");
        if !is_of_modules && line != "| library | named in |" {
            continue;
        }
        let rows =
            lines.by_ref().skip(1).map_while(|row| Some(row.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ")));
        let rows = rows.flat_map(|mut cells| {
            let (first, last) = (cells.next().unwrap_or_default(), cells.last().unwrap_or_default());
            names(first).into_iter().map(|name| (name, last)).collect::<Vec<_>>()
        });
        let rows: BTreeMap<String, &str> = rows.collect();
        let entries = rows.iter().map(|(name, cell)| match *cell {
            "all others" => (name.clone(), rows.keys().cloned().collect()),
            cell => (name.clone(), names(cell)),
        });
        match layers.last_mut() {
            Some(own) if !is_of_modules => own.libraries = entries.collect(),
            _ => layers.push(Layers {
                source: CRATES[layers.len()],
                modules: entries.collect(),
                libraries: BTreeMap::new(),
            }),
        }
    }
    assert_eq!(layers.len(), CRATES.len(), "ARCHITECTURE.md has a table of modules for each crate");
    let runtime = layers.last_mut().expect("there are three");
    let above = runtime.modules.iter_mut().filter(|(name, _)| !SHARED_DATA.contains(&name.as_str()));
    above.for_each(|(_, allowed)| allowed.extend(SHARED_DATA.map(String::from)));
    layers
}

/// Returns the names in backticks, without the slash of a folder.
fn names(cell: &str) -> BTreeSet<String> {
    cell.split('`').skip(1).step_by(2).map(|name| name.trim_end_matches('/').to_string()).collect()
}

#[test]
fn tables_of_modules_are_read() {
    let layers = layers();
    let imports =
        |at: usize, module: &str| layers[at].modules.get(module).map(|names| Vec::from_iter(names.clone()).join(" "));
    assert_eq!(imports(0, "diag").as_deref(), Some("rules session span"));
    assert_eq!(imports(0, "rings").as_deref(), Some(""));
    assert_eq!(imports(1, "uniformity").as_deref(), Some("groups index_set"));
    assert_eq!(imports(2, "sim").as_deref(), Some("fp8 location report scalar schedule scope shape"));
    assert!(imports(2, "launch").is_some_and(|names| names.contains("kernel") && names.contains("gpu")));
    assert_eq!(layers[0].libraries.len(), 3);
    assert!(layers[2].libraries["cudarc"].contains("launch/foreign"));
}

#[test]
fn modules_import_one_way() {
    for layers in layers() {
        let mut found = Vec::new();
        let mut stated: BTreeSet<&str> = layers.modules.keys().map(String::as_str).collect();
        let files = layers.files();
        for (module, text) in &files {
            let own = top_module(module);
            stated.remove(own);
            let Some(allowed) = layers.modules.get(own) else {
                found.push(format!("{module} is in no module that ARCHITECTURE.md names"));
                continue;
            };
            // A name that is no module is one that the root re-exports, which would evade the layers. `tests` is built in
            // tests alone.
            let named = imports(&format!("{module}.rs"), text).into_iter().filter_map(|path| path.first().cloned());
            let forbidden = named.filter(|other| other != own && other != "tests" && !allowed.contains(other));
            found.extend(forbidden.map(|other| format!("{module} imports from {other}")));
            for (library, within) in &layers.libraries {
                let path = format!("{library}::");
                let mut code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                if !within.contains(own) && !within.contains(module) && code.any(|line| line.contains(&path)) {
                    found.push(format!("{module} names {library}"));
                }
            }
        }
        found.extend(stated.into_iter().map(|module| format!("ARCHITECTURE.md names {module}, which does not exist")));
        none(&format!("{}: imports against the layers of ARCHITECTURE.md", layers.source), found);
    }
}

#[test]
fn no_files_import_in_a_cycle() {
    for layers in layers() {
        let cycles = cycles(&layers.graph());
        let is_one_type = |cycle: &BTreeSet<String>| {
            RECURSIVE_TYPES.iter().any(|files| cycle.iter().all(|file| files.contains(&file.as_str())))
        };
        let found = cycles.into_iter().filter(|cycle| !is_one_type(cycle));
        none(
            &format!("{}: files that import each other in a cycle", layers.source),
            found.map(|cycle| Vec::from_iter(cycle).join(", ")),
        );
    }
}

fn top_module(module: &str) -> &str {
    module.split('/').next().unwrap_or_default()
}

impl Layers {
    /// Returns the crate's files except its root and its tests, by their module's path: `check/dsm` for
    /// `check/dsm/mod.rs`.
    fn files(&self) -> Vec<(String, String)> {
        let all = files(self.source, "rs").into_iter();
        let modules = all.map(|(name, text)| {
            let path = name.strip_prefix(self.source).unwrap_or(&name).trim_start_matches('/');
            (path.trim_end_matches(".rs").trim_end_matches("/mod").to_string(), text)
        });
        modules.filter(|(module, _)| module != "lib" && !module.split('/').any(|part| part == "tests")).collect()
    }

    /// Returns for each file those that it imports from. Imports between a module and those inside of it are left out,
    /// because they are one idea in several files.
    fn graph(&self) -> BTreeMap<String, BTreeSet<String>> {
        let modules = self.files();
        let names: BTreeSet<&str> = modules.iter().map(|(module, _)| module.as_str()).collect();
        let edges = modules.iter().map(|(module, text)| {
            let targets = imports(&format!("{module}.rs"), text).into_iter().filter_map(|path| {
                // The longest beginning that is a file.
                let file = (1..=path.len()).rev().map(|length| path[..length].join("/"));
                file.into_iter().find(|file| names.contains(file.as_str()))
            });
            let inside = |a: &str, b: &str| a.strip_prefix(b).is_some_and(|rest| rest.starts_with('/'));
            let targets =
                targets.filter(|target| target != module && !inside(target, module) && !inside(module, target));
            (module.clone(), targets.collect())
        });
        edges.collect()
    }
}

/// Returns the cycles, as sets of files that all reach each other.
fn cycles(graph: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<BTreeSet<String>> {
    let reachable = |from: &String| {
        let (mut seen, mut work) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(file) = work.pop() {
            let next = graph.get(&file).into_iter().flatten();
            work.extend(next.filter(|next| seen.insert((*next).clone())).cloned());
        }
        seen
    };
    let reachable: BTreeMap<&String, BTreeSet<String>> = graph.keys().map(|file| (file, reachable(file))).collect();
    let cycles = graph.keys().filter(|file| reachable[file].contains(*file)).map(|file| {
        let back = |other: &&String| reachable.get(other).is_some_and(|reached| reached.contains(file));
        reachable[file].iter().filter(back).cloned().collect()
    });
    cycles.collect()
}

#[test]
fn circles_are_found() {
    let edges = [("a", "b"), ("b", "c"), ("c", "b"), ("c", "d"), ("e", "f"), ("f", "g"), ("g", "e"), ("d", "h")];
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, to) in edges {
        graph.entry(from.into()).or_default().insert(to.into());
    }
    let found: Vec<String> = cycles(&graph).into_iter().map(|cycle| Vec::from_iter(cycle).join(" ")).collect();
    assert_eq!(found, ["b c", "e f g"]);
}
