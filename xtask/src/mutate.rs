//! `cargo xtask mutate` switches each rule off in turn and lists the tests that fail without it: the compiler's own,
//! and those on generated kernels. A rule without which no test fails is an error. Checks of calls that rustc completes
//! are not switched off; `ui-tests/reject` tests those.

use phalanx_compiler::Rule;

use crate::run::{Result, cargo};

/// The tests that run without a rule: the compiler's own, and those of its checks on generated kernels.
const TESTS: [[&str; 3]; 2] =
    [["--package", "phalanx-compiler", "--lib"], ["--package", "phalanx-generators", "--tests"]];

pub(crate) fn mutate() -> Result<()> {
    let mut missed = Vec::new();
    println!("| rule | tests that fail without it |\n|---|---|");
    // rustc checks the moves of tokens, so the compiler itself does not report a second use.
    let reported = |rule: &&Rule| rule.requirement().is_some() && **rule != Rule::TokenReused;
    for rule in Rule::ALL.iter().filter(reported) {
        let failed = failed_without(*rule)?;
        println!("| {rule} | {} |", failed.join(", "));
        if failed.is_empty() {
            missed.push(rule.name());
        }
    }
    if missed.is_empty() { Ok(()) } else { Err(format!("no test misses {}", missed.join(", "))) }
}

fn failed_without(rule: Rule) -> Result<Vec<String>> {
    let mut failed = Vec::new();
    for tests in TESTS {
        failed.extend(failed_of(tests, rule)?);
    }
    Ok(failed)
}

fn failed_of(tests: [&str; 3], rule: Rule) -> Result<Vec<String>> {
    let mut test = cargo(&["test", "--release"]);
    let output = test.args(tests).env("PHALANX_WITHOUT_RULE", rule.name()).output();
    let output = output.map_err(|error| format!("cargo cannot be run: {error}"))?;
    let report = String::from_utf8_lossy(&output.stdout);
    if !report.contains("test result:") {
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        // A parser that continues after a refused construct may not terminate.
        let aborted = || vec![format!("all of {}: they are aborted", tests[1])];
        return if error.contains("signal: ") { Ok(aborted()) } else { Err(error) };
    }
    let failed = report.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
    Ok(failed.map(|name| name.trim_start_matches("tests::").to_owned()).collect())
}
