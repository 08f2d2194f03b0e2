//! `cargo xtask mutate`: switches each rule off in turn and lists the tests of the macro crate that fail for it. A rule that
//! none misses is a fault. What rustc is asked about calls is not switched off: `ui-tests/reject` has that.

use std::fs;

use crate::run::{Result, at, cargo, root};

/// Those that the macro does not report itself: rustc has the move, and the size.
const OF_RUSTC: [&str; 1] = ["token_reused"];

pub(crate) fn mutate() -> Result<()> {
    let pages = root().join("docs/rules.md");
    let text = fs::read_to_string(&pages).map_err(at(&pages))?;
    let rows = text.lines().filter_map(|line| line.strip_prefix("| [")?.split(']').next());
    let mut missed = Vec::new();
    println!("| rule | tests that fail without it |\n|---|---|");
    for rule in rows.filter(|rule| !OF_RUSTC.contains(rule)) {
        let failed = failed_without(rule)?;
        println!("| {rule} | {} |", failed.join(", "));
        if failed.is_empty() {
            missed.push(rule);
        }
    }
    if missed.is_empty() { Ok(()) } else { Err(format!("no test misses {}", missed.join(", "))) }
}

fn failed_without(rule: &str) -> Result<Vec<String>> {
    let mut test = cargo(&["test", "--release", "--package", "phalanx-compiler", "--lib"]);
    let output = test.env("PHALANX_WITHOUT_RULE", rule).output();
    let output = output.map_err(|error| format!("cargo cannot be run: {error}"))?;
    let report = String::from_utf8_lossy(&output.stdout);
    if !report.contains("test result:") {
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        // Who goes on where a parser has refused may not come to an end.
        return if error.contains("signal: ") { Ok(vec!["all of them: they are aborted".into()]) } else { Err(error) };
    }
    let failed = report.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
    Ok(failed.map(|name| name.trim_start_matches("tests::").to_owned()).collect())
}
