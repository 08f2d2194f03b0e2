//! What is certain to happen on the arms of a branch that a thread passes over: with certain arguments, in the first iteration of a loop.

use std::collections::BTreeSet;

use super::value::{Value, binary};
use super::walk::Walker;
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{BlockId, End, Extent, NodeId, Source};
use crate::check::uniform::control::following_until;

/// The longest chain of operands that is followed.
const DEPTH: u32 = 8;

impl Walker<'_, '_, '_, '_> {
    /// The blocks that a thread comes to whenever it comes to a branch: those of the first iteration, if the branch is that of a loop.
    pub(super) fn certain(&self, head: BlockId) -> BTreeSet<BlockId> {
        let cfg = self.kernel().cfg;
        let mut certain = BTreeSet::new();
        let is_run = |head: BlockId| match cfg.counted.get(&head) {
            Some(counted) => self.evaluator.trips(counted).filter(|trips| *trips > 0).map(|_| counted.inside),
            None => self.first_arm(head),
        };
        let has_run = |block: BlockId, certain: &BTreeSet<BlockId>| {
            cfg.counted.get(&block).is_some_and(|counted| certain.contains(&counted.inside))
        };
        let mut next = is_run(head);
        while let Some(block) = next {
            next = match cfg.blocks[block.0].end {
                // The numbers of an inner loop follow, and then the rest. One that is not empty may begin behind its head.
                End::Branch { otherwise, .. } if certain.contains(&block) || has_run(block, &certain) => {
                    Some(otherwise)
                }
                End::Branch { .. } => is_run(block),
                End::Goto(next) if next != head => Some(next),
                End::Goto(_) | End::Option { .. } | End::Never | End::Leave => None,
            };
            if !certain.insert(block) && next.is_some_and(|next| certain.contains(&next)) {
                break;
            }
        }
        certain
    }

    /// The arm that a thread goes to where it comes to a branch first, if what decides about it is known then.
    fn first_arm(&self, branch: BlockId) -> Option<BlockId> {
        let End::Branch { on, then, otherwise } = self.kernel().cfg.blocks[branch.0].end else { return None };
        let kernel = self.kernel();
        let (arms, end) = kernel.regions.get(&branch)?;
        let counts = |variable| self.evaluator.counter(variable).is_some();
        // A part of the condition of a loop that is passed over, too: control comes here from before the loop.
        let around = end.filter(|end| kernel.is_skipped(*end, &counts)).and_then(|end| kernel.regions.get(&end));
        let (arms, end) = around.filter(|(arms, _)| arms.contains(branch)).unwrap_or(&(arms.clone(), *end)).clone();
        let holds = self.on_entry(on, (branch, &arms, end?), DEPTH).known()?;
        Some(if holds != 0 { then } else { otherwise })
    }

    /// The value of a node where a thread comes to a branch, but not by its arms.
    fn on_entry(&self, node: NodeId, (branch, arms, end): (BlockId, &BlockSet, BlockId), depth: u32) -> Value {
        let cfg = self.kernel().cfg;
        let Some(depth) = depth.checked_sub(1) else { return Value::Unknown };
        let of = &cfg.nodes[node.0];
        match (&of.source, &of.operands[..]) {
            (Source::Binary(op) | Source::Round(_, op), [left, right]) if !cfg.cuts.contains_key(&node) => {
                let operand = |node: &NodeId| self.on_entry(*node, (branch, arms, end), depth);
                binary(*op, operand(left), operand(right))
            }
            (Source::Read(variable), _) if cfg.only_value(*variable).is_none() => {
                let sets = self.kernel().sets(*variable).iter();
                let mut before = sets.filter(|((block, _), ..)| *block == branch || !arms.contains(*block));
                let (Some((set, value, Extent::Whole)), None) = (before.next(), before.next()) else {
                    return Value::Unknown;
                };
                // Where it comes here again, it passes by there.
                let is_set_anew =
                    set.0 != branch && (end == set.0 || !following_until(cfg, end, set.0).contains(branch));
                if is_set_anew { self.evaluator.value(*value, *set) } else { Value::Unknown }
            }
            _ => self.evaluator.value(node, (branch, cfg.blocks[branch.0].steps.len())),
        }
    }
}
