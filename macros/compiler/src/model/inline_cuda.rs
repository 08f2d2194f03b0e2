//! `cuda!`: CUDA C++ that the user wrote, with its operands, and the closure that stands for it in the simulator.

use proc_macro2::{Ident, TokenStream};

use super::expr::Expr;
use crate::span::SpanRange;

#[derive(Debug)]
pub(crate) struct InlineCuda {
    pub(crate) text: String,
    /// Of the Rust file, where the text starts.
    pub(crate) line: u32,
    /// In the order in which they are written, each under a name of its own.
    pub(crate) operands: Vec<Operand>,
    pub(crate) closure: Option<Closure>,
}

#[derive(Debug)]
pub(crate) struct Operand {
    pub(crate) direction: Direction,
    /// What the text calls it.
    pub(crate) name: Ident,
    /// Changes nothing. For all but `in`, a local; memory is a local too.
    pub(crate) value: Expr,
    pub(crate) at: SpanRange,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    In,
    Out,
    InOut,
}

/// From the inputs, in their order, to the outputs: one value, or a tuple of them.
#[derive(Debug)]
pub(crate) struct Closure {
    pub(crate) patterns: Vec<TokenStream>,
    pub(crate) types: Vec<TokenStream>,
    /// With its result's type, if that is written.
    pub(crate) body: TokenStream,
    pub(crate) at: SpanRange,
}
