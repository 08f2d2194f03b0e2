//! Loads of integers that the host passes. A launch may take all of one thread's data to be one number; what that thread does then is
//! compared with what others do whatever their data are. A branch that has to be taken alike by all threads, because there is a barrier on it,
//! is left to all even then.

use std::collections::{BTreeMap, BTreeSet};

use super::{Runs, Thread};
use crate::check::cfg::{BlockId, NodeId, StepKind};

/// What depends on data.
#[derive(Debug, Default)]
pub(super) struct OnData {
    /// The loads, with the numbers of bits of what they give.
    loads: BTreeMap<NodeId, u32>,
    /// The values that depend on one, by themselves or by a branch.
    values: BTreeSet<NodeId>,
    /// The branches on such values on whose arms, or behind which, threads do something together.
    for_all: BTreeSet<BlockId>,
}

impl OnData {
    /// What a load gives of data that are all this number, as far as the type lets them: there it is one of the largest.
    pub(super) fn load(&self, node: NodeId, number: u64) -> Option<u64> {
        self.loads.get(&node).map(|bits| match bits {
            8 => number & 7 | 0xf8,
            16 => number & 0xff | 0x4000,
            _ => number,
        })
    }
}

impl Runs<'_, '_> {
    /// Returns the runs of threads of which one may have data that are all alike, by the loads of such data.
    pub(in crate::check) fn with_data(mut self, loads: BTreeMap<NodeId, u32>) -> Self {
        if loads.is_empty() {
            return self;
        }
        let (mut values, mut set): (BTreeSet<NodeId>, BTreeSet<_>) = (loads.keys().copied().collect(), BTreeSet::new());
        let conditions = || {
            let blocks = self.cfg.blocks.iter().enumerate();
            blocks.filter_map(|(number, block)| Some((BlockId(number), block.end.condition()?)))
        };
        loop {
            let before = (values.len(), set.len());
            for (number, node) in self.cfg.nodes.iter().enumerate() {
                let is_read = node.source.read().is_some_and(|variable| set.contains(&variable));
                if is_read || node.operands.iter().any(|operand| values.contains(operand)) {
                    values.insert(NodeId(number));
                }
            }
            let arms = conditions().filter(|(_, on)| values.contains(on)).filter_map(|(branch, _)| self.arms(branch));
            let on_arms: BTreeSet<BlockId> = arms.flat_map(|arms| arms.iter()).collect();
            for (number, block) in self.cfg.blocks.iter().enumerate() {
                let sets = block.steps.iter().filter_map(|step| step.kind.set());
                let is_on_arm = on_arms.contains(&BlockId(number));
                set.extend(sets.filter(|(_, value, _)| is_on_arm || values.contains(value)).map(|(of, ..)| of));
            }
            if (values.len(), set.len()) == before {
                break;
            }
        }
        let is_together = |block: BlockId| {
            self.cfg.blocks[block.0].steps.iter().any(|step| match step.kind {
                StepKind::Group(_) | StepKind::BarrierCall(_) | StepKind::Copy(_) | StepKind::Token(_) => true,
                StepKind::Call(call) => !self.cfg.calls[call.0].is_of_values(),
                StepKind::Value(_) | StepKind::Memory(_) => false,
            })
        };
        let is_for_all = |branch: BlockId| self.arms(branch).is_none_or(|arms| arms.iter().any(is_together));
        let for_all = conditions().filter(|(branch, on)| values.contains(on) && is_for_all(*branch));
        let for_all = for_all.map(|(branch, _)| branch).collect();
        self.on_data = OnData { loads, values, for_all };
        self
    }

    /// Whether a value depends on data.
    pub(in crate::check) fn is_on_data(&self, node: NodeId) -> bool {
        self.on_data.values.contains(&node)
    }
}

impl Thread<'_, '_, '_> {
    /// Whether the thread may not decide by its own data which arm of a branch all threads take.
    pub(super) fn is_left_to_all(&self, branch: BlockId) -> bool {
        self.launch.data.is_some() && self.runs.on_data.for_all.contains(&branch)
    }
}
