//! `cargo xtask mutate` switches each rule off in turn and lists the tests of the macro crate that fail without it. A
//! rule that no test misses is a fault. Checks that rustc makes of calls are not switched off: `ui-tests/reject` tests
//! those.

use phalanx_compiler::Rule;

use crate::run::{Result, cargo};

pub(crate) fn mutate() -> Result<()> {
    let mut missed = Vec::new();
    println!("| rule | tests that fail without it |\n|---|---|");
    // rustc checks the move of a token: the compiler itself does not report a second use.
    let reported = |rule: &&Rule| rule.behavior().is_some() && **rule != Rule::TokenReused;
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
    let mut test = cargo(&["test", "--release", "--package", "phalanx-compiler", "--lib"]);
    let output = test.env("PHALANX_WITHOUT_RULE", rule.name()).output();
    let output = output.map_err(|error| format!("cargo cannot be run: {error}"))?;
    let report = String::from_utf8_lossy(&output.stdout);
    if !report.contains("test result:") {
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        // A parser that continues after a refused construct may not terminate.
        return if error.contains("signal: ") { Ok(vec!["all of them: they are aborted".into()]) } else { Err(error) };
    }
    let failed = report.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
    Ok(failed.map(|name| name.trim_start_matches("tests::").to_owned()).collect())
}
