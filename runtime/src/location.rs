//! A position in the Rust source, as reports name it.

use std::fmt;

/// A position in the Rust source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Location {
    /// The file, as rustc's `file!()` names it.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
}

impl Location {
    /// Returns a location, for comparison with that of a report.
    pub fn new(file: impl Into<String>, line: u32, column: u32) -> Self {
        Location { file: file.into(), line, column }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
