//! Messages. Each file under `reject/` and `shipped/` is refused with the text beside it (`TRYBUILD=overwrite` rewrites the
//! texts); each rule has correct kernels under `accept/` that are as close to those of `reject/` as possible.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use phalanx_compiler::Rule;

#[test]
fn rejected_with_their_messages() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("reject/*.rs");
    cases.compile_fail("shipped/*.rs");
}

/// Files below a folder with this ending, by their paths from this crate, with their text.
fn files(folder: &str, ending: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder is in the repository") {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == ending) {
                let text = fs::read_to_string(&path).expect("text");
                found.push((path, text));
            }
        }
    }
    found
}

fn stems(folder: &str) -> BTreeSet<String> {
    files(folder, "rs").iter().filter_map(|(path, _)| Some(path.file_stem()?.to_str()?.to_string())).collect()
}

/// The attributes of kernels and device functions in a file.
fn cases(folder: &str, stem: &str) -> usize {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(stem).with_extension("rs");
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter(|line| line.starts_with("#[cluster_kernel") || line.starts_with("#[device")).count()
}

#[test]
fn every_accepted_file_has_its_rejected_pair() {
    let mut accepted = stems("accept");
    accepted.remove("main");
    let rejected = stems("reject");
    let alone: Vec<_> = accepted.difference(&rejected).collect();
    assert!(alone.is_empty(), "no rejected pair: {alone:?}");
}

/// A file that no module names is not compiled.
#[test]
fn every_accepted_file_is_compiled() {
    let main = include_str!("../accept/main.rs");
    let named = |stem: &String| {
        stem == "main" || main.contains(&format!("mod {stem};\n")) && main.contains(&format!(" {stem}::KERNELS,\n"))
    };
    let left: Vec<String> = stems("accept").into_iter().filter(|stem| !named(stem)).collect();
    assert!(left.is_empty(), "not compiled: {left:?}");
}

#[test]
fn every_rule_has_five_kernels_on_either_side() {
    for rule in Rule::ALL.iter().filter(|rule| rule.requirement().is_some()) {
        let (rejected, accepted) = (cases("reject", rule.name()), cases("accept", rule.name()));
        assert!(rejected >= 5 && accepted >= 5, "{rule}: {rejected} rejected, {accepted} accepted");
    }
    let all = |folder| stems(folder).iter().map(|stem| cases(folder, stem)).sum::<usize>();
    assert!(all("reject") + all("accept") >= 500, "{} and {}", all("reject"), all("accept"));
}

#[test]
fn every_rule_has_a_rejected_kernel() {
    let shown: String = files("reject", "stderr").into_iter().map(|(_, text)| text).collect();
    // rustc has the move of a token.
    let rules = Rule::ALL.iter().filter(|rule| **rule != Rule::TokenReused);
    let unseen: Vec<&str> =
        rules.map(|rule| rule.name()).filter(|rule| !shown.contains(&format!("[{rule}]"))).collect();
    assert!(unseen.is_empty(), "no file under reject/ shows: {unseen:?}");
}
