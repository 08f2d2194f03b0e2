//! Tests that the documents have what they are to have: each function of the language, each chapter, and no kernel untested.

use std::collections::BTreeSet;
use std::fs;

use crate::{files, none, root};

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The host body names a function of the kernel language by its full path, so that rustc asks for no import.
#[test]
fn every_function_of_the_language_is_in_the_prelude_and_documented() {
    // Host programs call the first, and the prelude has what is in the second.
    const MODULES: [&str; 2] = ["ulp", "vectors"];
    let (library, language) = (read("runtime/src/lib.rs"), chapters().concat());
    let words = |text: &str| -> BTreeSet<String> {
        text.split(|c: char| !c.is_alphanumeric() && c != '_').map(String::from).collect()
    };
    let (face, prelude) = library.split_once("pub mod prelude {").expect("the library has a prelude");
    let prelude = words(prelude.split_once("\n}").expect("the prelude ends").0);
    let documented = words(&language);
    let exports = face.split("pub use kernel::").skip(1).filter_map(|export| export.split_once(';'));
    let names = exports.flat_map(|(names, _)| words(names.rsplit_once("::").map_or(names, |(_, last)| last)));
    let names = names.filter(|name| name.starts_with(char::is_lowercase) && !MODULES.contains(&name.as_str()));
    let names: BTreeSet<String> = names.collect();
    assert!(names.contains("this_cluster"), "{names:?}");
    none("not in the prelude", names.difference(&prelude).cloned());
    none("not in docs/language/", names.difference(&documented).cloned());
}

/// Returns the text of each chapter of the language, in the order of the list in `docs/language.md`, which has all of them under
/// their titles.
fn chapters() -> Vec<String> {
    let page = read("docs/language.md");
    let (_, contents) = page.split_once("\nChapters: ").expect("the page has a list of its chapters");
    let contents = contents.split_once(".\n").map_or("", |(contents, _)| contents).replace('\n', " ");
    let listed: Vec<&str> = contents.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    let chapters: Vec<String> = listed.iter().map(|path| read(&format!("docs/{path}"))).collect();
    let titles = chapters.iter().map(|text| text.lines().next().and_then(|line| line.strip_prefix("# ")).unwrap_or(""));
    let titled: Vec<String> = titles.zip(&listed).map(|(title, path)| format!("[{title}]({path})")).collect();
    assert_eq!(contents, titled.join(", "));
    assert_eq!(files("docs/language", "md").len(), listed.len(), "each chapter of docs/language/ is in the list");
    chapters
}

/// A document whose kernels are no doc tests could show code that does not compile. Only what a page includes from a source that is
/// compiled elsewhere is exempt, as the one line of a block that doc tests ignore.
#[test]
fn every_document_with_kernels_is_tested() {
    let library = read("runtime/src/lib.rs");
    let is_tested = |path: &str| library.contains(&format!("include_str!(\"../../{path}\")"));
    let included = |block: &str| block.starts_with(",ignore\n{{#include ") && block.lines().nth(2) == Some("```");
    let has_kernels = |text: &str| text.split("\n```rust").skip(1).any(|block| !included(block));
    let documents = files("docs", "md").into_iter().filter(|(_, text)| has_kernels(text));
    let documents: Vec<String> = documents.map(|(path, _)| path).collect();
    assert!(documents.len() > 10, "{documents:?}");
    none("documents that no doc test reads", documents.into_iter().filter(|path| !is_tested(path)));
}
