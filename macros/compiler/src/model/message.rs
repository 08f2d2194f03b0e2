//! The messages of `assert!`, `panic!`, `println!` and their like. A kernel passes values; the host, which has the user's
//! format string, makes text of them.

#![warn(clippy::wildcard_enum_match_arm)]

use proc_macro2::Literal;

use super::expr::{BinaryOp, Expr};
use super::{SiteId, SlotId};

/// A message: `lead: format` with its values, or only one of the two.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) site: SiteId,
    pub(crate) slot: SlotId,
    /// The text that Rust prints before the user's message.
    pub(crate) lead: Option<String>,
    pub(crate) format: Option<Format>,
    pub(crate) ending: Ending,
    /// The values of `format`, in its order.
    pub(crate) values: Vec<Expr>,
}

/// The user's format string. In the host body, rustc checks that the values fit it.
#[derive(Debug)]
pub(crate) struct Format {
    pub(crate) literal: Literal,
    /// The name of each value in the format string, if it has one.
    pub(crate) names: Vec<Option<String>>,
}

/// The text that follows a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Nothing,
    Newline,
    /// The two operands of a comparison, in parentheses.
    Sides,
    /// The two operands of a comparison on lines of their own, as `assert_eq!` shows them.
    SidesBelow,
}

/// The condition of an assertion.
#[derive(Debug)]
pub(crate) enum Test {
    Value(Box<Expr>),
    /// A comparison whose operands are shown: their values come before those of the message.
    Compare(BinaryOp, Box<Expr>, Box<Expr>),
}

impl Test {
    /// Returns the operands from left to right.
    pub(crate) fn operands(&self) -> Vec<&Expr> {
        match self {
            Test::Value(value) => vec![value],
            Test::Compare(_, left, right) => vec![left, right],
        }
    }
}
