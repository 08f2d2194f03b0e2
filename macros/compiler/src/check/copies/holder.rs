//! Variables and values that hold an `Option`, a flag or a product, by which the facts of `held` and `newest` are kept.

use crate::check::cfg::{NodeId, Variable};

/// A variable, or a value as it was evaluated, whose variable may have been set since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holder {
    Variable(Variable),
    Node(NodeId),
}

impl Holder {
    /// Whether it is a field of a variable.
    pub(super) fn is_field_of(self, whole: Variable) -> bool {
        match self {
            Holder::Variable(variable) => whole.fields().is_some_and(|fields| fields.contains(&variable)),
            Holder::Node(_) => false,
        }
    }
}
