//! `cargo xtask agree` compares the checks with the simulator on generated kernels, for as long as requested: on whole
//! kernels, as the tests do for a short while, and on kernels with a part in a device function, for which rustc decides
//! whether they are refused.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::run::{Result, at, build, cargo, crate_of, run, target};

/// The number of kernels with a device function, for each minute of whole ones.
const KERNELS: f64 = 200.0;

pub(crate) fn agree(minutes: f64) -> Result<()> {
    test("agreement::for_minutes", &[("MINUTES", &minutes.to_string())])?;
    outlined((KERNELS * minutes).ceil())
}

fn test(name: &str, variables: &[(&str, &str)]) -> Result<()> {
    let mut test = cargo(&["test", "--quiet", "--release", "--package", "phalanx-generators", "--"]);
    run(test.args(["--ignored", "--nocapture", name]).envs(variables.iter().copied()))
}

fn outlined(count: f64) -> Result<()> {
    let folder = target().join("agree");
    let source = crate_of(&folder, "outlined")?;
    let place = source.parent().unwrap_or(&folder).display().to_string();
    test("agreement::outline", &[("OUTLINED_FOLDER", &place), ("OUTLINED_KERNELS", &count.to_string())])?;

    let text = fs::read_to_string(&source).map_err(at(&source))?;
    let refused = refused(&folder, &source, &text)?;
    let all = kernels(&text);
    let is_wrong = |name: &&str| name.starts_with("wrong_");
    let missed: Vec<&str> = all.iter().copied().filter(is_wrong).filter(|name| !refused.contains(*name)).collect();
    let wrong = all.iter().filter(|name| is_wrong(name)).count();
    let needless = refused.iter().filter(|name| !name.starts_with("wrong_")).count();
    println!(
        "{} kernels with a part in a device function: {wrong} go wrong; {needless} are refused for nothing",
        all.len()
    );
    match &missed[..] {
        [] => Ok(()),
        missed => Err(format!("accepted, and yet wrong: {} of {}", missed.join(", "), source.display())),
    }
}

/// Returns the kernels' modules, in the order of the text.
fn kernels(text: &str) -> Vec<&str> {
    text.lines().filter_map(module).collect()
}

fn module(line: &str) -> Option<&str> {
    line.strip_prefix("mod ")?.strip_suffix(" {")
}

/// Returns the kernels that do not compile. Some faults are found only in the absence of others: those kernels are
/// removed until all of the rest compiles.
fn refused(folder: &Path, source: &Path, text: &str) -> Result<BTreeSet<String>> {
    let mut refused = BTreeSet::new();
    loop {
        let rest = without(text, &refused);
        fs::write(source, &rest).map_err(at(source))?;
        let mut check = cargo(&["check", "--quiet", "--message-format=json", "--target-dir"]);
        let Err(failure) = build(check.arg(folder.join("target")).current_dir(folder))? else {
            fs::write(source, text).map_err(at(source))?;
            return Ok(refused);
        };
        let before = refused.len();
        let errors = failure.diagnostics.iter().filter(|diagnostic| diagnostic["level"] == "error");
        refused.extend(errors.flat_map(lines).filter_map(|line| module_at(&rest, line)));
        if refused.len() == before {
            return Err(failure.stderr);
        }
    }
}

/// Returns the lines of an error in the crate's one file.
fn lines(error: &Value) -> Vec<usize> {
    let spans = error["spans"].as_array().into_iter().flatten();
    let own = spans.filter(|span| span["file_name"].as_str().is_some_and(|name| name.ends_with("lib.rs")));
    own.filter_map(|span| usize::try_from(span["line_start"].as_u64()?).ok()).collect()
}

fn module_at(text: &str, line: usize) -> Option<String> {
    text.lines().take(line).filter_map(module).last().map(str::to_owned)
}

/// Returns the text without these modules.
fn without(text: &str, modules: &BTreeSet<String>) -> String {
    let mut is_out = false;
    let kept = text.lines().filter(|line| {
        if let Some(name) = module(line) {
            is_out = modules.contains(name);
        }
        !is_out
    });
    kept.map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "use a;\nmod right_1 {\nf();\n}\nmod wrong_2 {\ng();\n}\nmod right_3 {\n}\n";

    #[test]
    fn kernels_by_their_lines() {
        assert_eq!(kernels(TEXT), ["right_1", "wrong_2", "right_3"]);
        assert_eq!(module_at(TEXT, 1), None);
        assert_eq!(module_at(TEXT, 6).as_deref(), Some("wrong_2"));
        let rest = without(TEXT, &BTreeSet::from(["wrong_2".into()]));
        assert_eq!(rest, "use a;\nmod right_1 {\nf();\n}\nmod right_3 {\n}\n");
    }

    #[test]
    fn errors_are_where_they_are_in_the_crate() {
        let error = serde_json::json!({ "spans": [
            { "file_name": "src/lib.rs", "line_start": 6 },
            { "file_name": "macros/contract/src/protocol.rs", "line_start": 150 },
        ] });
        assert_eq!(lines(&error), [6]);
    }
}
