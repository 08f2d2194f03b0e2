//! Replaces headers of the prelude and texts of kernels, for the test that compares both with NVIDIA's headers
//! (ui-tests/conformance/toolkit). Nothing else in the library replaces anything.

use std::sync::OnceLock;

use super::{HEADERS, Header};

/// The replacements.
#[derive(Debug, Default)]
pub struct Replacement {
    /// Headers that replace those of the same path; the prelude's others stay.
    pub headers: Vec<Header>,
    /// Whole texts that replace those of the kernels with these entry names.
    pub kernels: Vec<(&'static str, &'static str)>,
    /// Additional options for NVRTC: the include paths of the headers.
    pub options: Vec<String>,
}

static REPLACEMENT: OnceLock<Replacement> = OnceLock::new();

/// Replaces headers and kernels for the rest of the process.
///
/// # Safety
/// The text of each kernel does the same as the one that it replaces, with the same parameters.
pub unsafe fn replace(replacement: Replacement) {
    let is_own = |header: &Header| HEADERS.iter().any(|own| own.path == header.path);
    assert!(replacement.headers.iter().all(is_own), "no header of the prelude has this path");
    assert!(REPLACEMENT.set(replacement).is_ok(), "replaced twice");
}

/// Returns the headers that NVRTC gets.
pub(crate) fn headers() -> impl Iterator<Item = &'static Header> {
    let replaced = REPLACEMENT.get().map_or(&[][..], |replacement| &replacement.headers);
    HEADERS.iter().map(|own| replaced.iter().find(|header| header.path == own.path).unwrap_or(own))
}

/// Returns the text of the kernel with this entry.
pub(crate) fn text<'a>(entry: &str, own: &'a str) -> &'a str {
    let replaced = REPLACEMENT.get().map_or(&[][..], |replacement| &replacement.kernels);
    replaced.iter().find(|(name, _)| *name == entry).map_or(own, |(_, text)| text)
}

/// Returns additional options for the compiler.
pub(crate) fn options() -> &'static [String] {
    REPLACEMENT.get().map_or(&[], |replacement| &replacement.options)
}
