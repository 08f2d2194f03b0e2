//! Tests the layers that ARCHITECTURE.md states, crate by crate: which room may import from which, which libraries only
//! some rooms may name, and that no files import each other in a cycle. A room is a folder or a file at the root of
//! `src`.

use std::collections::{BTreeMap, BTreeSet};

use crate::imports::imports;
use crate::{files, none};

/// A crate's rooms, each with those that it may import from, and the libraries that only some of them may name.
struct Layers {
    source: &'static str,
    rooms: &'static [(&'static str, &'static [&'static str])],
    libraries: &'static [(&'static str, &'static [&'static str])],
    /// The files that hold the parts of one recursive type, and therefore name each other.
    recursive: &'static [&'static [&'static str]],
}

const COMPILER: Layers = Layers {
    source: "macros/compiler/src",
    rooms: &[
        ("span", &[]),
        ("stack", &[]),
        ("fragment", &[]),
        ("member", &[]),
        ("rings", &[]),
        ("rules", &[]),
        ("session", &["rules"]),
        ("diag", &["rules", "session", "span"]),
        ("model", &["rules", "span"]),
        ("messages", &["diag", "model", "rules", "span"]),
        ("parse", &["diag", "messages", "model", "rules", "span"]),
        ("check", &["diag", "messages", "model", "rules", "span"]),
        ("emit", &["check", "member", "model", "rules", "span"]),
        ("derive", &["diag", "fragment", "member", "messages", "rules", "session", "span"]),
        ("expand", &["check", "diag", "emit", "fragment", "messages", "model", "parse", "rules", "session", "span"]),
    ],
    libraries: &[
        // The printers create lifetimes with it, and read no syntax tree.
        ("syn::", &["parse", "derive", "expand", "emit"]),
        ("quote::", &["parse", "derive", "expand", "emit", "diag", "span"]),
        ("corosensei::", &["stack"]),
    ],
    recursive: &[&["model/expr", "model/inline_cuda", "model/message", "model/pattern", "model/range"]],
};

const CONTRACT: Layers = Layers {
    source: "macros/contract/src",
    rooms: &[
        ("constant", &[]),
        ("fence", &[]),
        ("groups", &[]),
        ("index_set", &[]),
        ("protocol", &[]),
        ("uniformity", &["groups", "index_set"]),
    ],
    libraries: &[],
    recursive: &[],
};

const RUNTIME: Layers = Layers {
    source: "runtime/src",
    rooms: &[
        ("location", &[]),
        ("scalar", &[]),
        ("schedule", &[]),
        ("scope", &[]),
        ("shape", &[]),
        ("report", &["location", "scalar", "schedule", "scope", "shape"]),
        ("program", &["location", "scalar", "schedule", "scope", "shape", "report"]),
        ("gpu", &["location", "scalar", "schedule", "scope", "shape", "report", "program"]),
        ("sim", &["location", "scalar", "schedule", "scope", "shape", "report"]),
        ("kernel", &["location", "scalar", "schedule", "scope", "shape", "report", "program", "sim"]),
        ("launch", &["location", "scalar", "schedule", "scope", "shape", "report", "program", "gpu", "sim", "kernel"]),
    ],
    libraries: &[("cudarc::", &["gpu", "launch"]), ("libloading::", &["gpu"]), ("corosensei::", &["sim"])],
    // The traits of numbers, which their implementations seal.
    recursive: &[&["kernel/numeric/float", "kernel/numeric/half", "kernel/numeric/integer", "kernel/numeric/traits"]],
};

#[test]
fn rooms_import_one_way() {
    for layers in [COMPILER, CONTRACT, RUNTIME] {
        let mut found = Vec::new();
        for (module, text) in layers.modules() {
            let own = room_of(&module);
            let Some((_, allowed)) = layers.rooms.iter().find(|(room, _)| *room == own) else {
                found.push(format!("{module} is in no room that ARCHITECTURE.md names"));
                continue;
            };
            // A name that is no room is one that the root re-exports, which would evade the layers. `tests` is built in
            // tests alone.
            let rooms = imports(&format!("{module}.rs"), &text).into_iter().filter_map(|path| path.first().cloned());
            let forbidden = rooms.filter(|room| room != own && room != "tests" && !allowed.contains(&room.as_str()));
            found.extend(forbidden.map(|room| format!("{module} imports from {room}")));
            let code = || text.lines().filter(|line| !line.trim_start().starts_with("//"));
            for (library, rooms) in layers.libraries {
                if !rooms.contains(&own) && code().any(|line| line.contains(library)) {
                    found.push(format!("{module} names {library}"));
                }
            }
        }
        none(&format!("{}: imports against the layers of ARCHITECTURE.md", layers.source), found);
    }
}

#[test]
fn no_files_import_in_a_circle() {
    for layers in [COMPILER, CONTRACT, RUNTIME] {
        let circles = circles(&layers.graph());
        let is_one_type = |circle: &BTreeSet<String>| {
            layers.recursive.iter().any(|files| circle.iter().all(|file| files.contains(&file.as_str())))
        };
        let found = circles.into_iter().filter(|circle| !is_one_type(circle));
        none(
            &format!("{}: files that import each other in a circle", layers.source),
            found.map(|circle| Vec::from_iter(circle).join(", ")),
        );
    }
}

fn room_of(module: &str) -> &str {
    module.split('/').next().unwrap_or_default()
}

impl Layers {
    /// Returns the crate's files except its root and its tests, by their module's path: `check/dsm` for
    /// `check/dsm/mod.rs`.
    fn modules(&self) -> Vec<(String, String)> {
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
        let modules = self.modules();
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
fn circles(graph: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<BTreeSet<String>> {
    let reachable = |from: &String| {
        let (mut seen, mut work) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(file) = work.pop() {
            let next = graph.get(&file).into_iter().flatten();
            work.extend(next.filter(|next| seen.insert((*next).clone())).cloned());
        }
        seen
    };
    let reachable: BTreeMap<&String, BTreeSet<String>> = graph.keys().map(|file| (file, reachable(file))).collect();
    let circles = graph.keys().filter(|file| reachable[file].contains(*file)).map(|file| {
        let back = |other: &&String| reachable.get(other).is_some_and(|reached| reached.contains(file));
        reachable[file].iter().filter(back).cloned().collect()
    });
    circles.collect()
}

#[test]
fn circles_are_found() {
    let edges = [("a", "b"), ("b", "c"), ("c", "b"), ("c", "d"), ("e", "f"), ("f", "g"), ("g", "e"), ("d", "h")];
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, to) in edges {
        graph.entry(from.into()).or_default().insert(to.into());
    }
    let found: Vec<String> = circles(&graph).into_iter().map(|circle| Vec::from_iter(circle).join(" ")).collect();
    assert_eq!(found, ["b c", "e f g"]);
}
