//! Checks that the table of errors in the documents is that of `phalanx::ulp`.

use std::fs;
use std::path::Path;

use phalanx::ulp::{Bound, ERRORS};

fn columns(bound: Bound) -> String {
    format!("{} | {} ", bound.documented, bound.measured.map_or(String::new(), |error| format!("{error:.2}")))
}

#[test]
fn documents_have_every_error() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/language/numbers.md");
    let text = fs::read_to_string(path).expect("the page is in the repository");
    let rows = ERRORS
        .iter()
        .map(|error| format!("| `{}` | {}| {}|", error.name, columns(error.single), columns(error.double)));
    let missing: Vec<String> = rows.filter(|row| !text.contains(row)).collect();
    assert!(missing.is_empty(), "docs/language/numbers.md lacks\n{}", missing.join("\n"));
}
