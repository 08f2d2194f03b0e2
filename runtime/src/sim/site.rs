//! The positions in the Rust source that threads report.

use crate::location::Location;

/// A position in the Rust source, as `#[track_caller]` reports it.
pub(crate) type Site = &'static std::panic::Location<'static>;

/// Converts a site to data.
pub(crate) fn location(site: Site) -> Location {
    Location { file: site.file().to_owned(), line: site.line(), column: site.column() }
}
