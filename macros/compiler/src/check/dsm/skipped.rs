//! Writes that a launch skips: those on one arm of a branch on an argument, which the host chooses.

use crate::check::bit_set::BlockSet;
use crate::check::cfg::{BlockId, Cfg, End, NodeId, Source};
use crate::check::uniform::control::following;
use crate::check::uniform::values::Values;
use crate::model::expr::BinaryOp;
use crate::span::SpanRange;

/// A way that some launch takes: all of its threads come to a branch on an argument and take one arm.
pub(super) struct Way {
    branch: BlockId,
    /// The condition, and whether it holds.
    pub(super) condition: (SpanRange, bool),
    /// The blocks to which control may come.
    reached: BlockSet,
}

/// The ways of a kernel that asserts nothing: what it asserts may be that it is not launched so.
pub(super) fn ways(cfg: &Cfg<'_>, values: &Values<'_, '_>) -> Vec<Way> {
    if !cfg.assertions.is_empty() {
        return Vec::new();
    }
    let mut ways = Vec::new();
    for branch in (0..cfg.blocks.len()).map(BlockId) {
        let End::Branch { on, then, otherwise } = cfg.blocks[branch.0].end else { continue };
        let is_open = is_decided_by_host(cfg, on)
            && values.control.deciders(branch).next().is_none()
            && !following(cfg, branch).contains(branch);
        if is_open {
            let at = cfg.nodes[cfg.origin(on).0].at;
            ways.extend([(then, true), (otherwise, false)].map(|(arm, holds)| Way {
                branch,
                condition: (at, holds),
                reached: reached_by(cfg, branch, arm),
            }));
        }
    }
    ways
}

impl Way {
    /// Whether all threads of the launch come to the block of a read, and none to the blocks of these writes.
    pub(super) fn skips(
        &self,
        values: &Values<'_, '_>,
        read: BlockId,
        mut writes: impl Iterator<Item = BlockId>,
    ) -> bool {
        self.reached.contains(read)
            && values.control.deciders(read).all(|decider| decider == self.branch)
            && !writes.any(|write| self.reached.contains(write))
    }
}

/// Whether a condition compares an argument with a literal, so that the host decides about it, one way or the other.
fn is_decided_by_host(cfg: &Cfg<'_>, on: NodeId) -> bool {
    let source = |node: NodeId| &cfg.nodes[cfg.origin(node).0].source;
    let compares = |op: BinaryOp, number: u64| match op {
        BinaryOp::Gt | BinaryOp::Le | BinaryOp::Eq | BinaryOp::Ne => true,
        // No number is below 0.
        BinaryOp::Lt | BinaryOp::Ge => number > 0,
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::And
        | BinaryOp::Or => false,
    };
    let operands = &cfg.nodes[cfg.origin(on).0].operands;
    match (source(on), &operands[..]) {
        (Source::Param(_), _) => true,
        (Source::Binary(op) | Source::Round(_, op), [argument, number]) => {
            let number = source(*number).integer();
            matches!(source(*argument), Source::Param(_)) && number.is_some_and(|number| compares(*op, number))
        }
        _ => false,
    }
}

/// The blocks to which control comes if a branch leads to this arm.
fn reached_by(cfg: &Cfg<'_>, branch: BlockId, arm: BlockId) -> BlockSet {
    let mut reached = BlockSet::none(cfg.blocks.len());
    let mut work = vec![cfg.entry];
    while let Some(block) = work.pop() {
        if reached.insert(block) {
            let next = cfg.blocks[block.0].end.successors();
            work.extend(next.filter(|next| block != branch || *next == arm));
        }
    }
    reached
}
