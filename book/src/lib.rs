//! Builds the book: the pages of `docs/` in the order of `docs/SUMMARY.md`, by mdBook. The tests of this crate read the built pages,
//! and open them in Chromium where it is installed. That the kernels of the pages run is not tested here: they are doc tests of the
//! library.

mod links;

use std::path::Path;

use mdbook_driver::MDBook;
use mdbook_driver::errors::Result;

/// Builds the book into this folder.
///
/// # Errors
///
/// If a chapter of `docs/SUMMARY.md` has no file, or the folder cannot be written.
pub fn build(folder: &Path) -> Result<()> {
    let mut book = MDBook::load(env!("CARGO_MANIFEST_DIR"))?;
    book.config.build.build_dir = folder.to_path_buf();
    book.with_preprocessor(links::Links);
    book.build()
}
