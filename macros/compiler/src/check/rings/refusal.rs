//! The reason for which rings are not extracted.

use crate::span::SpanRange;

/// Why a kernel, or a part of it, is not extracted.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) at: SpanRange,
    pub(crate) why: String,
    /// Whether other arguments may be followed: these ones do not work.
    of_arguments: bool,
}

impl Refusal {
    pub(super) fn new(at: SpanRange, why: impl Into<String>) -> Refusal {
        Refusal { at, why: why.into(), of_arguments: false }
    }

    /// Certain arguments do not work.
    pub(super) fn of_arguments(at: SpanRange, why: &str) -> Refusal {
        Refusal { of_arguments: true, ..Refusal::new(at, format!("{why} with these arguments")) }
    }

    /// Whether certain arguments do not work.
    pub(super) fn is_of_arguments(&self) -> bool {
        self.of_arguments
    }

    /// Whether more rounds are refused for the reason for which fewer ones were.
    pub(super) fn is_same(&self, fewer: &Refusal) -> bool {
        !self.of_arguments && self.why == fewer.why && self.at.begins_with(fewer.at)
    }
}
