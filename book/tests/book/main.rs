//! Tests of the built book: its links, its pages and the library's reports in a browser, and its pictures.

mod browser;
mod links;
mod pages;
mod reports;
mod shown;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;

/// Returns the folder of the book, which the first call builds.
fn book() -> &'static Path {
    static BOOK: OnceLock<TempDir> = OnceLock::new();
    BOOK.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        phalanx_book::build(folder.path()).expect("the book is built");
        folder
    })
    .path()
}

/// Returns the book's pages, which are what the list of chapters names.
fn pages() -> Vec<PathBuf> {
    let summary = include_str!("../../../docs/SUMMARY.md");
    let links = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    links.map(|link| book().join(link).with_extension("html")).collect()
}
