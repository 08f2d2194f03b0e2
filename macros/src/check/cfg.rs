//! The control-flow graph that the checks walk: basic blocks of steps in the order of evaluation. `break`, `continue`
//! and `return` are ordinary edges here, with the locals that they drop spelled out, so that no check needs to know
//! how they nest. `build` makes it from the model's tree.

use crate::messages::Loss;
use crate::model::ty::Group;
use crate::model::{LocalId, SlotId};
use crate::span::SpanRange;

/// Index into [`Cfg::blocks`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BlockId(pub(crate) usize);

#[derive(Debug)]
pub(crate) struct Cfg {
    pub(crate) blocks: Vec<BasicBlock>,
    pub(crate) entry: BlockId,
}

#[derive(Debug, Default)]
pub(crate) struct BasicBlock {
    pub(crate) steps: Vec<Step>,
    pub(crate) end: End,
}

/// How control leaves a block.
#[derive(Debug, Default)]
pub(crate) enum End {
    /// The function's end, or code that is never reached.
    #[default]
    Leave,
    Goto(BlockId),
    /// On a condition of which nothing is known but its expression.
    Branch {
        then: BlockId,
        otherwise: BlockId,
    },
    /// On whether an optional token is there.
    Option {
        place: Place,
        some: BlockId,
        none: BlockId,
    },
}

impl End {
    pub(crate) fn successors(&self) -> impl Iterator<Item = BlockId> {
        let (first, second) = match *self {
            End::Leave => (None, None),
            End::Goto(next) => (Some(next), None),
            End::Branch { then, otherwise } => (Some(then), Some(otherwise)),
            End::Option { some, none, .. } => (Some(some), Some(none)),
        };
        first.into_iter().chain(second)
    }
}

/// Something that can hold a token: a variable, or a value on its way to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Local(LocalId),
    Temporary(usize),
}

#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) kind: StepKind,
    pub(crate) at: SpanRange,
}

#[derive(Debug)]
pub(crate) enum StepKind {
    /// A collective of a group that is neither arrival nor wait.
    Collective {
        group: Group,
        name: &'static str,
    },
    Arrive {
        group: Group,
        into: Place,
    },
    Wait {
        group: Group,
        from: Place,
    },
    /// A device function. The tokens that it was given have moved to it; it may give one back.
    Call {
        slot: SlotId,
        gives: Option<(Group, Place)>,
    },
    Move {
        from: Place,
        into: Place,
    },
    /// A token leaves the function by its result or into a device function.
    HandOver {
        from: Place,
    },
    /// The place holds `None`.
    Clear {
        place: Place,
    },
    /// What the place holds is dropped.
    Drop {
        place: Place,
        how: Loss,
    },
}
