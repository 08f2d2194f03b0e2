//! Messages. Each file under `reject/` is refused with the text beside it (`TRYBUILD=overwrite` rewrites the texts); each
//! rule has correct kernels under `accept/` that are as close to them as possible. The catalogues of messages, read as text, say
//! which rules must be shown.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn rejected_with_their_messages() {
    trybuild::TestCases::new().compile_fail("reject/*.rs");
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

/// The index of `docs/rules.md`, which is the catalogue's.
#[test]
fn every_rule_has_five_kernels_on_either_side() {
    let pages = include_str!("../../docs/rules.md");
    let rules: Vec<&str> = pages.lines().filter_map(|line| line.strip_prefix("| [")?.split(']').next()).collect();
    assert!(rules.len() > 7, "{rules:?}");
    for rule in rules {
        let (rejected, accepted) = (cases("reject", rule), cases("accept", rule));
        assert!(rejected >= 5 && accepted >= 5, "{rule}: {rejected} rejected, {accepted} accepted");
    }
    let all = |folder| stems(folder).iter().map(|stem| cases(folder, stem)).sum::<usize>();
    assert!(all("reject") + all("accept") >= 500, "{} and {}", all("reject"), all("accept"));
}

/// The rules that the catalogues of messages name.
fn rules() -> BTreeSet<String> {
    let of_messages = |(path, _): &(PathBuf, String)| {
        ["compiler/src/messages", "compiler/src/messages.rs", "compiler/src/derive/messages.rs"]
            .iter()
            .any(|catalogue| path.ancestors().any(|path| path.ends_with(catalogue)))
    };
    let text: String =
        files("../macros/compiler/src", "rs").into_iter().filter(of_messages).map(|(_, text)| text).collect();
    let starts = text.split("Diag::new(").skip(1);
    starts.filter_map(|rest| Some(rest.trim_start().strip_prefix('"')?.split('"').next()?.to_string())).collect()
}

#[test]
fn every_rule_has_a_rejected_kernel() {
    let shown: String = files("reject", "stderr").into_iter().map(|(_, text)| text).collect();
    let unseen: Vec<String> = rules().into_iter().filter(|rule| !shown.contains(&format!("[{rule}]"))).collect();
    assert!(unseen.is_empty(), "no file under reject/ shows: {unseen:?}");
}

#[test]
fn every_rule_about_tokens_has_its_page() {
    let pages = include_str!("../../docs/rules.md");
    let tokens =
        ["token_never_waited", "token_escapes", "arrive_while_pending", "collective_while_pending", "launch_limit"];
    for rule in tokens {
        assert!(rules().contains(rule), "the catalogue has no `{rule}`");
        assert!(pages.contains(&format!("\n## {rule}\n")), "docs/rules.md has no page for `{rule}`");
    }
}
