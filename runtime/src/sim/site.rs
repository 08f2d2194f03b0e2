//! Places in the Rust source, as threads bring them.

use crate::location::Location;

/// A place in the Rust source, as `#[track_caller]` tells it.
pub(crate) type Site = &'static std::panic::Location<'static>;

/// A site as data.
pub(crate) fn location(site: Site) -> Location {
    Location { file: site.file().to_owned(), line: site.line(), column: site.column() }
}
