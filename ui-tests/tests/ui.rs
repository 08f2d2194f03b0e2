//! Messages. Each file under `reject/` is refused with the text beside it (`TRYBUILD=overwrite` rewrites the texts); each
//! rule has correct kernels under `accept/` that are as close to them as possible.

use std::collections::BTreeSet;
use std::path::Path;

use phalanx_compiler::Rule;

#[test]
fn rejected_with_their_messages() {
    trybuild::TestCases::new().compile_fail("reject/*.rs");
}

fn stems(folder: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = std::fs::read_dir(folder).expect("the folder is in the repository");
    let paths = files.map(|file| file.expect("a readable folder").path());
    let sources = paths.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    sources.filter_map(|path| Some(path.file_stem()?.to_str()?.to_string())).collect()
}

/// The attributes of kernels and device functions in a file.
fn cases(folder: &str, stem: &str) -> usize {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(stem).with_extension("rs");
    let text = std::fs::read_to_string(path).unwrap_or_default();
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
    for rule in Rule::ALL.iter().filter(|rule| rule.behavior().is_some()) {
        let (rejected, accepted) = (cases("reject", rule.name()), cases("accept", rule.name()));
        assert!(rejected >= 5 && accepted >= 5, "{rule}: {rejected} rejected, {accepted} accepted");
    }
    let all = |folder| stems(folder).iter().map(|stem| cases(folder, stem)).sum::<usize>();
    assert!(all("reject") + all("accept") >= 500, "{} and {}", all("reject"), all("accept"));
}
