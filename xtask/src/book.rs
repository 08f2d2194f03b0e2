//! `cargo xtask book` builds the book from `docs/`. The package `phalanx-book` has mdBook, so that the other commands need not build it.

use crate::run::{Result, cargo, run, target};

pub(crate) fn book() -> Result<()> {
    run(cargo(&["run", "--quiet", "--release", "-p", "phalanx-book", "--"]).arg(target().join("book")))
}
