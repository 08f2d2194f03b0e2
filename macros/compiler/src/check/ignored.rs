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
use super::cfg::{BlockId, Cfg, NodeId, Source, Step, StepKind, ValueStep, Variable};
use super::uniform::control::Control;
use crate::model::barrier::PhaseAction;

/// Marks the tests whose answer decides nothing.
pub(super) fn mark(cfg: &mut Cfg<'_>) {
    let is_test = |(id, call): (usize, &super::cfg::BarrierCall)| {
        (call.method.action == PhaseAction::TryWait).then_some((id, call.result))
    };
    let tests: Vec<(usize, NodeId)> = cfg.barrier_calls.iter().enumerate().filter_map(is_test).collect();
    if tests.is_empty() {
        return;
    }
    let control = Control::of(cfg);
    let arms =
        control.regions(cfg).filter(|(_, _, end)| end.is_some()).map(|(branch, arms, _)| (branch, arms)).collect();
    for (id, answer) in tests {
        cfg.barrier_calls[id].is_ignored = !decides(cfg, &arms, answer);
    }
}

/// Whether an answer decides what a thread does later that others may see: it is not forgotten where the arms of a branch on it merge.
fn decides(cfg: &Cfg<'_>, arms: &BTreeMap<BlockId, BlockSet>, answer: NodeId) -> bool {
    let mut same = BTreeSet::from([answer]);
    for (number, node) in cfg.nodes.iter().enumerate() {
        let is_not = matches!(node.source, Source::Not) && node.operands.iter().any(|operand| same.contains(operand));
        let read = node.source.read().and_then(|variable| cfg.only_value(variable));
        let is_answer = is_not || read.is_some_and(|value| same.contains(&value));
        match is_answer {
            true => _ = same.insert(NodeId(number)),
            false if node.operands.iter().any(|operand| same.contains(operand)) => return true,
            false => {}
        }
    }
    let mut set = BTreeSet::new();
    for block in &cfg.blocks {
        let keeps = |step: &Step| match step.kind.set() {
            Some((variable, value, _)) => same.contains(&value) && cfg.only_value(variable) != Some(value),
            None => false,
        };
        if block.steps.iter().any(keeps) {
            return true;
        }
    }
    for (number, block) in cfg.blocks.iter().enumerate() {
        if !block.end.condition().is_some_and(|on| same.contains(&on)) {
            continue;
        }
        let branch = BlockId(number);
        let Some(arms) = arms.get(&branch).filter(|arms| !arms.contains(branch)) else { return true };
        for step in arms.iter().flat_map(|arm| &cfg.blocks[arm.0].steps) {
            match step.kind {
                StepKind::Value(ValueStep::Set { variable, .. }) => _ = set.insert(variable),
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
    select(cfg, set)
}

/// Whether a branch or what threads tell each other depends on one of these variables.
fn select(cfg: &Cfg<'_>, mut variables: BTreeSet<Variable>) -> bool {
    let mut nodes: BTreeSet<NodeId> = BTreeSet::new();
    loop {
        let before = (variables.len(), nodes.len());
        for (number, node) in cfg.nodes.iter().enumerate() {
            let reads = node.source.read().is_some_and(|variable| variables.contains(&variable));
            let counts = matches!(node.source, Source::Counter { of, .. } if variables.contains(&of));
            if reads || counts || node.operands.iter().any(|operand| nodes.contains(operand)) {
                nodes.insert(NodeId(number));
                if matches!(node.source, Source::Agreed { .. } | Source::Shuffled { .. } | Source::Call { .. }) {
                    return true;
                }
            }
        }
        for (variable, value, _) in cfg.blocks.iter().flat_map(|block| &block.steps).filter_map(|step| step.kind.set())
        {
            if nodes.contains(&value) {
                variables.insert(variable);
            }
        }
        if (variables.len(), nodes.len()) == before {
            break;
        }
    }
    cfg.blocks.iter().any(|block| block.end.condition().is_some_and(|on| nodes.contains(&on)))
}
