//! Sentences about functions that were read in the file, for the case that rustc finds others.

use proc_macro2::Ident;

use crate::diag::Diag;
use crate::rules::Rule;
use crate::span::SpanRange;

pub(crate) fn another_function(name: &Ident) -> Diag {
    let message = format!("`{name}` is another function than the device function of this name in the file");
    Diag::new(Rule::UnsupportedSyntax, SpanRange::of(name), message).help("give one of the two another name")
}
