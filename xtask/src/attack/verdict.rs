//! The verdict on a mutant that was accepted: how its kernels end in the simulator, and whether a rule excludes that.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::run::Result;

/// The verdict that makes an attack a success.
pub(super) const MISSED: &str = "break a rule";

/// The time after which a mutant is taken to hang.
const PATIENCE: Duration = Duration::from_secs(90);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// All tests pass.
    Equal,
    /// A test fails by a wrong result or an error that no rule of the checks excludes.
    Differs(String),
    /// A kernel breaks what a rule of the checks guarantees.
    Missed(String),
    /// The tests do not end.
    Hangs,
}

impl Verdict {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Verdict::Equal => "make no difference",
            Verdict::Differs(_) => "fail otherwise",
            Verdict::Missed(_) => MISSED,
            Verdict::Hangs => "do not end",
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Verdict::Equal => None,
            Verdict::Differs(text) | Verdict::Missed(text) => Some(text),
            Verdict::Hangs => Some("no end"),
        }
    }

    /// Judges what the program printed.
    fn of(printed: &str) -> Verdict {
        let failures: Vec<Value> = printed.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let text = |failure: &Value| {
            format!(
                "{} under {}: {}",
                failure["check"],
                failure["schedule"],
                failure["text"].as_str().unwrap_or_default()
            )
        };
        match failures.iter().find(|failure| is_excluded(&failure["failure"]["cause"])) {
            Some(missed) => Verdict::Missed(text(missed)),
            None => failures.first().map_or(Verdict::Equal, |failure| Verdict::Differs(text(failure))),
        }
    }
}

/// Returns whether a rule of the checks excludes this cause of a kernel's failure. A race is excluded between the owner of
/// shared memory and a peer; a deadlock, if all wait for barriers of groups rather than for phases, which depend on counts,
/// or for memory.
fn is_excluded(cause: &Value) -> bool {
    let has = |name: &str| cause.get(name).is_some();
    if let Some(race) = cause.get("Race") {
        let Some(owner) = race["memory"]["Shared"].get("block") else { return false };
        return (race["first"]["block"] == *owner) != (race["second"]["block"] == *owner);
    }
    if let Some(waiting) = cause.get("Deadlock").and_then(Value::as_array) {
        let is_counted = |waiting: &Value| {
            let what = waiting["what"].as_str().unwrap_or_default();
            waiting["spins"] == true || !(what.contains("sync") || what.contains("barrier_wait"))
        };
        return !waiting.iter().any(is_counted);
    }
    // How many arrivals a phase gets is counted only where the text shows it.
    let is_protocol = cause["Protocol"].as_str().is_some_and(|sentence| !sentence.contains("the expected arrivals"));
    is_protocol || has("PeerMayNotHaveStarted") || has("PeerMayHaveExited")
}

/// Runs the tests of a module.
pub(super) fn run(program: &Path, module: &str) -> Result<Verdict> {
    let child = Command::new(program).arg(module).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = child.map_err(|error| format!("{} cannot be run: {error}", program.display()))?;
    let start = Instant::now();
    let reader = child.stdout.take().map(|mut stdout| {
        thread::spawn(move || {
            let mut text = String::new();
            // What is no text is no report.
            let _ = stdout.read_to_string(&mut text);
            text
        })
    });
    let ended = loop {
        match child.try_wait() {
            Ok(Some(_)) => break true,
            Ok(None) if start.elapsed() > PATIENCE => break false,
            Ok(None) => thread::sleep(Duration::from_millis(20)),
            Err(error) => return Err(format!("{} is lost: {error}", program.display())),
        }
    };
    if !ended {
        child
            .kill()
            .and_then(|()| child.wait())
            .map_err(|error| format!("{} cannot be ended: {error}", program.display()))?;
    }
    let printed = reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
    Ok(match Verdict::of(&printed) {
        Verdict::Equal if !ended => Verdict::Hangs,
        verdict => verdict,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(cause: &Value) -> Verdict {
        let line = serde_json::json!({ "check": "c", "schedule": "s", "failure": { "cause": cause }, "text": "t" });
        Verdict::of(&line.to_string())
    }

    #[test]
    fn what_the_rules_exclude_is_missed() {
        let race = |first: u32, second: u32| {
            serde_json::json!({ "Race": {
                "memory": { "Shared": { "block": 0 } },
                "first": { "block": first },
                "second": { "block": second },
            } })
        };
        assert!(matches!(verdict(&race(0, 1)), Verdict::Missed(_)));
        assert!(matches!(verdict(&race(0, 0)), Verdict::Differs(_)));
        assert!(matches!(verdict(&race(1, 2)), Verdict::Differs(_)));
        let deadlock = |what: &str| serde_json::json!({ "Deadlock": [{ "what": what, "spins": false }] });
        assert!(matches!(verdict(&deadlock("wait at `block.sync()`")), Verdict::Missed(_)));
        assert!(matches!(verdict(&deadlock("wait at `full.wait()`")), Verdict::Differs(_)));
        assert!(matches!(verdict(&serde_json::json!({ "Protocol": "a sentence" })), Verdict::Missed(_)));
        let counted = serde_json::json!({ "Protocol": "`bar.arrive()` exceeds the expected arrivals" });
        assert!(matches!(verdict(&counted), Verdict::Differs(_)));
        assert!(matches!(verdict(&serde_json::json!({ "Assertion": "no" })), Verdict::Differs(_)));
        assert_eq!(Verdict::of(""), Verdict::Equal);
    }
}
