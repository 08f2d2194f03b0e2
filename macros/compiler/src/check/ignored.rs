//! Tests of phase barriers whose answer decides nothing: they order nothing that comes after them, and are no waits.
//!
//! ```text
//! if !bar.try_wait(&token) { late += 1; }
//! sum += tile[i];                              // whether the phase is over or not
//! ```
//!
//! A loop that asks a limited number of times decides nothing either: it may end although the phase is not over.
//!
//! An answer counts as decisive wherever what it leads to is not seen.

use std::collections::{BTreeMap, BTreeSet};

use super::bit_set::BlockSet;
use super::cfg::{
    Access, AccessKind, BarrierCall, BlockId, Cfg, MemoryStep, NodeId, Root, Source, Step, StepKind, ValueStep,
    Variable,
};
use super::thresholds::without_negation;
use super::uniform::control::Control;
use crate::model::barrier::PhaseAction;
use crate::model::expr::BinaryOp;

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
            if self.spread(&mut values, &variables) || self.branch(answer, &values, &mut variables) {
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
    fn branch(&self, answer: NodeId, values: &BTreeSet<NodeId>, variables: &mut BTreeSet<Variable>) -> bool {
        for (number, block) in self.cfg.blocks.iter().enumerate() {
            if !block.end.condition().is_some_and(|on| values.contains(&on)) {
                continue;
            }
            let branch = BlockId(number);
            let Some(arms) = self.arms.get(&branch) else { return true };
            let is_loop = arms.contains(branch);
            if is_loop && !self.is_limited(branch, arms) {
                return true;
            }
            for step in arms.iter().flat_map(|arm| &self.cfg.blocks[arm.0].steps) {
                match step.kind {
                    StepKind::Value(ValueStep::Set { variable, .. }) => _ = variables.insert(variable),
                    StepKind::Value(ValueStep::Evaluate(_)) => {}
                    // It asks again.
                    StepKind::BarrierCall(call) if self.cfg.barrier_calls[call.0].result == answer => {}
                    StepKind::Memory(MemoryStep::Access(id)) if self.tells_nobody(&self.cfg.accesses[id.0]) => {}
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

    /// Whether an access of global memory is a plain one of which no other thread of the launch learns, and that reads nothing which one writes.
    fn tells_nobody(&self, access: &Access) -> bool {
        let is_plain = access.atomic.is_none() && access.completion.is_none();
        let may_be_same = |other: &Access| {
            other.region.root == Root::Global
                && (other.region.param.is_none()
                    || access.region.param.is_none()
                    || other.region.param == access.region.param)
        };
        match (access.kind, access.region.root) {
            (AccessKind::Read, Root::ReadOnly) => is_plain,
            (AccessKind::Write, Root::Global) => {
                let mut others = self.cfg.accesses.iter().filter(|other| may_be_same(other));
                is_plain && others.all(|other| other.kind == AccessKind::Write && other.completion.is_none())
            }
            (
                AccessKind::Read
                | AccessKind::Write
                | AccessKind::AtomicRead
                | AccessKind::Atomic
                | AccessKind::AsyncWrite
                | AccessKind::Lent
                | AccessKind::Opaque
                | AccessKind::ByClosure,
                Root::ReadOnly | Root::Global | Root::Shared(_) | Root::Remote(_),
            ) => false,
        }
    }

    /// Whether a loop of these blocks, with the branch on the answer, ends after a number of iterations, whatever is asked in it.
    fn is_limited(&self, branch: BlockId, blocks: &BlockSet) -> bool {
        let sets = |variable: Variable| {
            let steps = blocks.iter().flat_map(|block| &self.cfg.blocks[block.0].steps);
            steps.filter_map(move |step| step.kind.set().filter(|(of, ..)| *of == variable).map(|(_, value, _)| value))
        };
        let read = |node: NodeId| self.cfg.nodes[node.0].source.read();
        let grows = |variable: Variable, by_ones: bool| {
            let adds = |value: NodeId| match (&self.cfg.nodes[value.0].source, &self.cfg.nodes[value.0].operands[..]) {
                (Source::Binary(BinaryOp::Add), &[of, by]) => {
                    let by = self.cfg.nodes[by.0].source.integer();
                    read(of) == Some(variable) && by.is_some_and(|by| by == 1 || by > 1 && !by_ones)
                }
                _ => false,
            };
            sets(variable).next().is_some() && sets(variable).all(adds)
        };
        let is_number = |node: NodeId| {
            let source = &self.cfg.nodes[node.0].source;
            let is_kept = source.read().is_some_and(|variable| sets(variable).next().is_none());
            is_kept || matches!(source, Source::Integer(_) | Source::Constant(_) | Source::Param(_))
        };
        let counts = |on: NodeId| {
            let of = &self.cfg.nodes[on.0];
            let (Source::Binary(op) | Source::Round(_, op)) = of.source else { return false };
            let is_order = matches!(op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge);
            // What grows by ones passes no number by.
            let is_equality = matches!(op, BinaryOp::Eq | BinaryOp::Ne);
            let is_comparison = is_order || is_equality;
            let grows = |node: NodeId| read(node).is_some_and(|variable| grows(variable, is_equality));
            is_comparison && matches!(of.operands[..], [a, b] if grows(a) && is_number(b) || grows(b) && is_number(a))
        };
        let comes_back = |from: BlockId| {
            let mut seen = vec![from];
            let mut at = 0;
            while let Some(block) = seen.get(at).copied().filter(|_| !seen.contains(&branch)) {
                let next = self.cfg.blocks[block.0].end.successors();
                let inside: Vec<BlockId> = next.into_iter().filter(|next| blocks.contains(*next)).collect();
                inside.into_iter().for_each(|next| {
                    if !seen.contains(&next) {
                        seen.push(next)
                    }
                });
                at += 1;
            }
            blocks.contains(from) && seen.contains(&branch)
        };
        blocks.iter().any(|block| {
            let end = &self.cfg.blocks[block.0].end;
            end.successors().any(|next| {
                let goes_on = |on: NodeId| self.parts(on, end.holds_on_edge(next) == Some(false));
                let is_count = || end.condition().is_some_and(|on| goes_on(on).into_iter().any(counts));
                !comes_back(next) && (self.cfg.counted.contains_key(&block) || is_count())
            })
        })
    }

    /// Returns the conditions of which each has to be as it is, without its negation, for a condition to have a value.
    fn parts(&self, condition: NodeId, holds: bool) -> Vec<NodeId> {
        let (node, is_itself) = without_negation(self.cfg, condition);
        let holds = holds == is_itself;
        let joins = if holds { BinaryOp::And } else { BinaryOp::Or };
        let of = &self.cfg.nodes[node.0];
        if matches!(of.source, Source::Binary(op) if op == joins) {
            of.operands.iter().flat_map(|part| self.parts(*part, holds)).collect()
        } else {
            vec![node]
        }
    }
}
