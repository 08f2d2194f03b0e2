//! Other headers than the prelude's, and other texts than a kernel's own: for the test that holds both against NVIDIA's
//! headers (ui-tests/conformance/toolkit). Nothing else in the library replaces anything.

use std::sync::OnceLock;

use super::{HEADERS, Header};

/// What takes the place of what.
#[derive(Debug, Default)]
pub struct Replacement {
    /// Headers, in the place of those of the same path; the prelude's others stay.
    pub headers: Vec<Header>,
    /// Whole texts, in the place of those of the kernels whose entries have these names.
    pub kernels: Vec<(&'static str, &'static str)>,
    /// More options for NVRTC: where those include from.
    pub options: Vec<String>,
}

static REPLACEMENT: OnceLock<Replacement> = OnceLock::new();

/// For the rest of the process.
///
/// # Safety
/// The text of a kernel does what that in whose place it is does, with the same parameters.
pub unsafe fn replace(replacement: Replacement) {
    let is_own = |header: &Header| HEADERS.iter().any(|own| own.path == header.path);
    assert!(replacement.headers.iter().all(is_own), "no header of the prelude has this path");
    assert!(REPLACEMENT.set(replacement).is_ok(), "replaced twice");
}

/// What NVRTC is given.
pub(crate) fn headers() -> impl Iterator<Item = &'static Header> {
    let replaced = REPLACEMENT.get().map_or(&[][..], |replacement| &replacement.headers);
    HEADERS.iter().map(|own| replaced.iter().find(|header| header.path == own.path).unwrap_or(own))
}

/// The text of the kernel with this entry.
pub(crate) fn text<'a>(entry: &str, own: &'a str) -> &'a str {
    let replaced = REPLACEMENT.get().map_or(&[][..], |replacement| &replacement.kernels);
    replaced.iter().find(|(name, _)| *name == entry).map_or(own, |(_, text)| text)
}

/// More options for the compiler.
pub(crate) fn options() -> &'static [String] {
    REPLACEMENT.get().map_or(&[], |replacement| &replacement.options)
}
