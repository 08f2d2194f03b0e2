//! Sentences about `#[device] impl` and `#[device] trait`.

use crate::diag::Diag;
use crate::rules::Rule;
use crate::span::SpanRange;

pub(crate) fn receiver(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, "the attribute must be on the `impl`, not on its functions")
        .help("write `#[device] impl Type { ... }`: all its functions become device functions")
}

pub(crate) fn typed_receiver(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, "a receiver must be `self`, `&self` or `&mut self`")
}

pub(crate) fn implementing_type(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, "`#[device] impl` requires a named type")
        .help("for a tuple, array or reference, write a struct that holds it, or a function")
}

pub(crate) fn implementation_member(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSyntax, at, "a `#[device]` block can contain only functions, constants and types")
}

pub(crate) fn generic_trait_method(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, "a method of a device trait cannot be generic")
        .help("make the trait generic, or write a generic device function")
}

pub(crate) fn index_of_place(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, format!("the function of `{name}` must end with a reference to a part of `self`"))
        .help("write `&self.cells[y * 4 + x]`, or `&mut` of the same, after `let` and `assert!` alone; otherwise write a method: `m.at(row, column)`")
}

/// A method that a trait of another file provides, whose body names what cannot be named beside the `impl`.
pub(crate) fn provided_elsewhere(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::UnsupportedSignature, at, format!("the method `{name}` of this trait cannot stand in an `impl` of another file"))
        .help(format!("write `{name}` in the `impl`; of the trait's file, its body can name functions, constants and structures that are visible here, and of macros assertions and the like"))
}
