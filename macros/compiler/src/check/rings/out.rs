//! The numbers that a step of a program hands out to other threads, as data.

use super::handed::By;
use crate::rings::Expr;

/// A number that a thread hands out at a step.
#[derive(Debug, Clone)]
pub(super) struct Out {
    pub(super) by: By,
    pub(super) number: Expr,
    /// The rank of the block that has it.
    pub(super) block: Expr,
}
