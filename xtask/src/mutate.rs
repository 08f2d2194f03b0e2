//! `cargo xtask mutate` switches each rule off in turn and lists the tests that fail without it: the compiler's own, and
//! where all of them pass, those on generated kernels. A rule without which no test fails is an error. Checks of calls
//! that rustc completes are not switched off; `ui-tests/reject` tests those.

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use phalanx_compiler::Rule;

use crate::run::{Program, Result, programs};

/// The tests that run without a rule, the faster ones first.
const TESTS: [[&str; 3]; 2] =
    [["--package", "phalanx-compiler", "--lib"], ["--package", "phalanx-generators", "--tests"]];

pub(crate) fn mutate() -> Result<()> {
    let built = TESTS.map(|tests| programs(&[&["test", "--no-run", "--release"], &tests[..]].concat()));
    let [own, generated] = built;
    let tests = [own?, generated?];
    // rustc checks the moves of tokens, so the compiler itself does not report a second use.
    let reported = |rule: &&Rule| rule.requirement().is_some() && **rule != Rule::TokenReused;
    let rules = Mutex::new(Rule::ALL.iter().filter(reported));
    let missed = Mutex::new(Vec::new());
    println!("| rule | tests that fail without it |\n|---|---|");
    let worker = || -> Result<()> {
        // The lock is held for the next rule alone.
        while let Some(rule) = { rules.lock().map_err(|_| "a thread panicked")?.next() } {
            let failed = failed_without(*rule, &tests)?;
            println!("| {rule} | {} |", failed.join(", "));
            if failed.is_empty() {
                missed.lock().map_err(|_| "a thread panicked")?.push(rule.name());
            }
        }
        Ok(())
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        running.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
    })?;
    let missed = missed.into_inner().map_err(|_| "a thread panicked")?;
    if missed.is_empty() { Ok(()) } else { Err(format!("no test misses {}", missed.join(", "))) }
}

fn failed_without(rule: Rule, tests: &[Vec<Program>]) -> Result<Vec<String>> {
    for programs in tests {
        let mut failed = Vec::new();
        for program in programs {
            failed.extend(failed_of(&program.path, rule)?);
        }
        if !failed.is_empty() {
            return Ok(failed);
        }
    }
    Ok(Vec::new())
}

fn failed_of(program: &Path, rule: Rule) -> Result<Vec<String>> {
    // The rules run side by side, each test program by itself.
    let output = Command::new(program).arg("--test-threads=1").env("PHALANX_WITHOUT_RULE", rule.name()).output();
    let output = output.map_err(|error| format!("{} cannot be run: {error}", program.display()))?;
    let report = String::from_utf8_lossy(&output.stdout);
    if !report.contains("test result:") {
        // A parser that continues after a refused construct may not terminate.
        let is_aborted = output.status.code().is_none();
        let aborted = || vec![format!("all of {}: they are aborted", program.display())];
        return if is_aborted { Ok(aborted()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) };
    }
    let failed = report.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
    Ok(failed.map(|name| name.trim_start_matches("tests::").to_owned()).collect())
}
