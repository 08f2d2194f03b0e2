//! NVIDIA's libraries that are loaded when they are first used: what the loader says where it finds none.

use std::error::Error;

/// Returns what the loader says, which libloading's own text leaves to its source.
pub(super) fn reason(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}
