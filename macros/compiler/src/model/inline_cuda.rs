//! `cuda!`: CUDA C++ written by the user, with its operands, and the closure that replaces it in the simulator.

#![warn(clippy::wildcard_enum_match_arm)]

use proc_macro2::{Ident, TokenStream};

use super::expr::Expr;
use crate::span::SpanRange;

#[derive(Debug)]
pub(crate) struct InlineCuda {
    pub(crate) text: String,
    /// The line of the Rust file where the text starts.
    pub(crate) line: u32,
    /// The operands in source order, each with a name of its own.
    pub(crate) operands: Vec<Operand>,
    pub(crate) closure: Option<Closure>,
}

#[derive(Debug)]
pub(crate) struct Operand {
    pub(crate) direction: Direction,
    /// The operand's name in the text.
    pub(crate) name: Ident,
    /// The operand's expression, which has no side effects. Outputs are locals, and so is memory.
    pub(crate) value: Expr,
    pub(crate) at: SpanRange,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    In,
    Out,
    InOut,
}

/// A closure from the inputs, in their order, to the outputs: one value, or a tuple of them.
#[derive(Debug)]
pub(crate) struct Closure {
    pub(crate) patterns: Vec<TokenStream>,
    pub(crate) types: Vec<TokenStream>,
    /// The closure's body, with the type of its result if that is written.
    pub(crate) body: TokenStream,
    pub(crate) at: SpanRange,
}
