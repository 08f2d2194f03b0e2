//! Checks that the tests and headings that `docs/guarantees.md` names exist. The names of checks come from the table of modules.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Returns the text of a file of the repository, by its path from the root; empty if there is none.
fn text(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap_or_default()
}

#[track_caller]
fn none(what: &str, found: impl IntoIterator<Item = String>) {
    let found: Vec<String> = found.into_iter().collect();
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

/// Each word in backticks that has `::` in it is a test of the simulator or a check on devices; each link leads to a heading.
#[test]
fn what_the_page_of_guarantees_names_is_there() {
    let page = text("docs/guarantees.md");
    let checks: BTreeSet<String> = phalanx_conformance::modules()
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
