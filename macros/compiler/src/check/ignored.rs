//! Tests of phase barriers whose answer decides nothing: they order nothing that comes after them, and are no waits.
//!
//! ```text
//! if !bar.try_wait(&token) { late += 1; }
//! sum += tile[i];                              // whether the phase is over or not
//! ```
//!
//! An answer counts as decisive wherever what it leads to is not seen.

use std::collections::{BTreeMap, BTreeSet};

use super::bit_set::BlockSet;
use super::cfg::{
    Access, AccessKind, BarrierCall, BlockId, Cfg, NodeId, Root, Source, Step, StepKind, ValueStep, Variable,
};
use super::uniform::control::Control;
use crate::model::barrier::PhaseAction;

/// Marks the tests whose answer decides nothing.
pub(super) fn mark(cfg: &mut Cfg<'_>) {
    let is_test =
        |(id, call): (usize, &BarrierCall)| (call.method.action == PhaseAction::TryWait).then_some((id, call.result));
    let tests: Vec<(usize, NodeId)> = cfg.barrier_calls.iter().enumerate().filter_map(is_test).collect();
    if tests.is_empty() {
        return;
    }
    let control = Control::of(cfg);
    let arms =
        control.regions(cfg).filter(|(_, _, end)| end.is_some()).map(|(branch, arms, _)| (branch, arms)).collect();
    for (id, answer) in tests {
        cfg.barrier_calls[id].is_ignored = !Flow { cfg, arms: &arms }.decides(answer);
    }
}

/// Where what is computed from an answer goes.
struct Flow<'a, 'f> {
    cfg: &'a Cfg<'f>,
    /// The blocks on the arms of each branch whose arms merge.
    arms: &'a BTreeMap<BlockId, BlockSet>,
}

impl Flow<'_, '_> {
    /// Whether an answer decides what a thread does later that others may see, or what it tells them.
    fn decides(&self, answer: NodeId) -> bool {
        let (mut values, mut variables) = (BTreeSet::from([answer]), BTreeSet::new());
        loop {
            let before = (values.len(), variables.len());
            if self.spread(&mut values, &variables) || self.branch(&values, &mut variables) {
                return true;
            }
            let sets = self.steps().filter_map(|step| step.kind.set());
            variables.extend(sets.filter(|(_, value, _)| values.contains(value)).map(|(variable, ..)| variable));
            if (values.len(), variables.len()) == before {
                return false;
            }
        }
    }

    fn steps(&self) -> impl Iterator<Item = &Step> {
        self.cfg.blocks.iter().flat_map(|block| &block.steps)
    }

    /// Adds what is computed from values and variables. Returns whether another thread, or a function, may get one of them.
    fn spread(&self, values: &mut BTreeSet<NodeId>, variables: &BTreeSet<Variable>) -> bool {
        for (number, node) in self.cfg.nodes.iter().enumerate() {
            let reads = node.source.read().is_some_and(|variable| variables.contains(&variable));
            let counts = matches!(node.source, Source::Counter { of, .. } if variables.contains(&of));
            if reads || counts || node.operands.iter().any(|operand| values.contains(operand)) {
                values.insert(NodeId(number));
                if matches!(node.source, Source::Agreed { .. } | Source::Shuffled { .. } | Source::Call { .. }) {
                    return true;
                }
            }
        }
        let accesses = &self.cfg.accesses;
        let is_read =
            |root: Root| accesses.iter().any(|access| access.region.root == root && access.kind != AccessKind::Write);
        let is_passed_on = |access: &Access| {
            access.atomic.is_some()
                || access.stored.is_some_and(|stored| values.contains(&stored)) && is_read(access.region.root)
        };
        // What an atomic stores is not known.
        (values.len() > 1 || !variables.is_empty()) && accesses.iter().any(is_passed_on)
    }

    /// Adds what is set on the arms of branches on these values. Returns whether the arms do anything else, or do not merge.
    fn branch(&self, values: &BTreeSet<NodeId>, variables: &mut BTreeSet<Variable>) -> bool {
        for (number, block) in self.cfg.blocks.iter().enumerate() {
            if !block.end.condition().is_some_and(|on| values.contains(&on)) {
                continue;
            }
            let branch = BlockId(number);
            let Some(arms) = self.arms.get(&branch).filter(|arms| !arms.contains(branch)) else { return true };
            for step in arms.iter().flat_map(|arm| &self.cfg.blocks[arm.0].steps) {
                match step.kind {
                    StepKind::Value(ValueStep::Set { variable, .. }) => _ = variables.insert(variable),
                    StepKind::Value(ValueStep::Evaluate(_)) => {}
                    StepKind::Value(ValueStep::Name { .. } | ValueStep::Return(_))
                    | StepKind::Memory(_)
                    | StepKind::Group(_)
                    | StepKind::BarrierCall(_)
                    | StepKind::Copy(_)
                    | StepKind::Call(_)
                    | StepKind::Token(_) => return true,
                }
            }
        }
        false
    }
}
