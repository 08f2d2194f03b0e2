//! The messages of `assert!`, `panic!`, `println!` and their like. A kernel passes values; the host, which has the user's
//! format string, makes text of them.

use proc_macro2::Literal;

use super::expr::{BinaryOp, Expr};
use super::{SiteId, SlotId};

/// `lead: format` with its values, or one of both.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) site: SiteId,
    pub(crate) slot: SlotId,
    /// What Rust says before the user's words.
    pub(crate) lead: Option<String>,
    pub(crate) format: Option<Format>,
    pub(crate) ending: Ending,
    /// Those of `format`, in its order.
    pub(crate) values: Vec<Expr>,
}

/// The user's format string. That it fits its values, rustc checks in the host body.
#[derive(Debug)]
pub(crate) struct Format {
    pub(crate) literal: Literal,
    /// Of each value, the name that it goes by.
    pub(crate) names: Vec<Option<String>>,
}

/// What follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Nothing,
    Newline,
    /// The sides of a comparison, in parentheses.
    Sides,
    /// The same on lines of their own, as `assert_eq!` shows them.
    SidesBelow,
}

/// What an assertion tests.
#[derive(Debug)]
pub(crate) enum Test {
    Value(Box<Expr>),
    /// Both sides are shown: their values come before those of the message.
    Compare(BinaryOp, Box<Expr>, Box<Expr>),
}

impl Test {
    /// From left to right.
    pub(crate) fn operands(&self) -> Vec<&Expr> {
        match self {
            Test::Value(value) => vec![value],
            Test::Compare(_, left, right) => vec![left, right],
        }
    }
}
