//! Messages. Each file under `reject/` is refused with the text beside it (`TRYBUILD=overwrite` rewrites the texts); each
//! rule about tokens has a correct kernel under `accept/` that is as close to it as possible.

use std::collections::BTreeSet;
use std::path::Path;

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

#[test]
fn every_accepted_file_has_its_rejected_pair() {
    let mut accepted = stems("accept");
    accepted.remove("main");
    let rejected = stems("reject");
    let alone: Vec<_> = accepted.difference(&rejected).collect();
    assert!(alone.is_empty(), "no rejected pair: {alone:?}");
    for rule in [
        "token_never_waited",
        "token_reused",
        "token_escapes",
        "arrive_while_pending",
        "collective_while_pending",
        "divergent_collective",
        "divergent_exit",
    ] {
        assert!(accepted.contains(rule), "no accepted pair: {rule}");
    }
}
