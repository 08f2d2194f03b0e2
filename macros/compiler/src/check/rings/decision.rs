//! The decisions of threads about which way to go, with the keys by which two of them are the same one.

use super::symbol::Symbol;
use crate::check::cfg::{BlockId, NodeId, Variable};
use crate::rings::{Condition, Expr};
use crate::span::SpanRange;

/// A mark of a decision: two decisions with a key in common are the same one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    /// All threads of the scope decide alike at this branch.
    Branch(BlockId),
    /// All threads of the scope decide alike about this part of the branch's condition, which is open for some of them.
    Part(BlockId, NodeId),
    /// The canonical form of what is decided.
    Form(String),
    /// The canonical form of what is decided about what has been published in the turn to which threads have come: the same if that is the
    /// same turn.
    Turn(String),
}

/// The decision at a branch. At that of a loop, it is whether there is one more iteration.
pub(super) struct Decision {
    pub(super) condition: Condition,
    pub(super) keys: Vec<Key>,
    /// The counter of the iterations.
    pub(super) counts: Option<u32>,
    pub(super) certain: Option<Certain>,
    /// Where one of these holds, so does the condition, which is not asked.
    pub(super) already: Vec<Expr>,
    /// Where one of these holds, the condition is about as many decisions that come later.
    pub(super) cases: Vec<(Expr, Expr)>,
    /// The conditions that have to hold, too, and are asked before.
    pub(super) only_if: Vec<Condition>,
    /// If the condition is about decisions that come later, the loop that they are of.
    pub(super) looked: Option<Looked>,
}

/// A branch that looks ahead.
#[derive(Debug, Clone)]
pub(super) struct Looked {
    /// The head of the loop whose decisions it looks at.
    pub(super) head: BlockId,
    /// The constant that says whether the loop has iterations, if it holds where the branch looks ahead.
    pub(super) any: Option<u32>,
    pub(super) at: SpanRange,
}

/// A loop that counts a variable by hand.
pub(super) struct ByHand {
    /// The key of its decisions.
    pub(super) key: Key,
    /// The arm that goes on, and the one that leaves.
    pub(super) inside: BlockId,
    pub(super) outside: BlockId,
    /// If it counts up by ones: the variable, its first number, and the one that it does not reach.
    pub(super) range: Option<(Variable, i64, Symbol)>,
}

/// The iterations that a loop has before the first one about which arguments decide.
pub(super) struct Certain {
    pub(super) iterations: i64,
    /// The canonical form of whether there are more, if that is the same each time.
    pub(super) any: Option<String>,
}

impl Decision {
    pub(super) fn new(condition: Condition, keys: Vec<Key>, counts: Option<u32>) -> Decision {
        Decision {
            condition,
            keys,
            counts,
            certain: None,
            already: Vec::new(),
            cases: Vec::new(),
            only_if: Vec::new(),
            looked: None,
        }
    }
}

/// Returns the canonical form of whether a loop has the iterations that decisions with these keys are about.
pub(super) fn any_of(keys: &[Key]) -> Option<String> {
    let form = keys.iter().find_map(|key| if let Key::Form(form) = key { Some(form) } else { None });
    form.map(|form| format!("any {form}"))
}
