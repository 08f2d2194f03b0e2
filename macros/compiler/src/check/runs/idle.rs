//! Loops of which a run needs nothing: they access no memory, and what they compute is unknown before, in between and after, as the sums of a
//! product are. A run passes over them, so that it comes further.

use std::collections::{BTreeMap, BTreeSet};

use super::{Runs, Thread};
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{BlockId, Extent, NodeId, Source, StepKind, ValueStep, Variable};
use crate::model::expr::BinaryOp;

/// The longest chain of operands that is followed.
const DEPTH: u32 = 12;

/// A loop that a run may pass over.
#[derive(Debug)]
pub(super) struct Idle {
    /// The block after it.
    end: BlockId,
    /// Where the variables are kept that it sets and that stay unknown if they are.
    unknown: Vec<usize>,
}

impl Runs<'_, '_> {
    /// Returns the runs, which pass over idle loops.
    pub(super) fn without_idle_loops(self) -> Self {
        let loops = self.cfg.counted.keys().filter_map(|head| {
            let (arms, end) = self.regions.get(head)?;
            Some((*head, self.idle(arms, (*end)?)?))
        });
        let idle: BTreeMap<BlockId, Idle> = loops.collect();
        Runs { idle, ..self }
    }

    fn idle(&self, arms: &BlockSet, end: BlockId) -> Option<Idle> {
        if self.cfg.assertions.iter().any(|assertion| arms.contains(assertion.at.0)) {
            return None;
        }
        let mut sets: Vec<(Variable, NodeId, Extent)> = Vec::new();
        for block in arms.iter() {
            for step in &self.plan.blocks[block.0].steps {
                match self.cfg.blocks[block.0].steps[step.number].kind {
                    StepKind::Value(ValueStep::Set { variable, value, extent }) => sets.push((variable, value, extent)),
                    StepKind::Value(ValueStep::Evaluate(_) | ValueStep::Return(_)) => {}
                    StepKind::Value(ValueStep::Name { .. })
                    | StepKind::Memory(_)
                    | StepKind::Group(_)
                    | StepKind::Token(_)
                    | StepKind::BarrierCall(_)
                    | StepKind::Copy(_)
                    | StepKind::Call(_) => return None,
                }
            }
        }
        let mut unknown: BTreeSet<Variable> = sets.iter().map(|(variable, ..)| *variable).collect();
        loop {
            let stays = |(_, value, extent): &(Variable, NodeId, Extent)| {
                *extent == Extent::Part || self.is_unknown(*value, &unknown, DEPTH)
            };
            let known: Vec<Variable> = sets.iter().filter(|set| !stays(set)).map(|(variable, ..)| *variable).collect();
            let before = unknown.len();
            unknown.retain(|variable| !known.contains(variable));
            if unknown.len() == before {
                break;
            }
        }
        let is_of =
            |one: Variable, other: Variable| one == other || one.whole() == Some(other) || other.whole() == Some(one);
        let is_lost =
            |variable: Variable| !unknown.contains(&variable) && sets.iter().any(|set| is_of(set.0, variable));
        let outside = (0..self.cfg.blocks.len()).filter(|block| !arms.contains(BlockId(*block)));
        let mut reads = outside.flat_map(|block| {
            let steps = &self.cfg.blocks[block].steps;
            let evaluated = self.plan.blocks[block].steps.iter().filter_map(|step| {
                let StepKind::Value(ValueStep::Evaluate(node)) = steps[step.number].kind else { return None };
                Some(node)
            });
            evaluated.filter_map(|node| self.cfg.nodes[node.0].source.read())
        });
        let kept = || unknown.iter().filter_map(|variable| self.plan.variable(*variable)).collect();
        (!reads.any(is_lost)).then(|| Idle { end, unknown: kept() })
    }

    /// Whether a value is unknown in each launch, if some variables are.
    fn is_unknown(&self, node: NodeId, variables: &BTreeSet<Variable>, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let of = &self.cfg.nodes[node.0];
        match &of.source {
            Source::Read(variable) => variables.contains(variable),
            Source::Binary(op) if !matches!(op, BinaryOp::And | BinaryOp::Or) => {
                of.operands.iter().any(|operand| self.is_unknown(*operand, variables, depth))
            }
            // A float, or what is computed from one.
            Source::Operands => {
                let has_formula = self.cfg.formulas.contains_key(&node) || self.cfg.computed.contains_key(&node);
                !has_formula && !self.cfg.axes.contains_key(&node) && !self.cfg.cuts.contains_key(&node)
            }
            Source::Binary(_)
            | Source::Integer(_)
            | Source::Constant(_)
            | Source::Not
            | Source::Counter { .. }
            | Source::Param(_)
            | Source::Known { .. }
            | Source::ThreadRank
            | Source::Round(..)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => false,
        }
    }
}

impl Thread<'_, '_, '_> {
    /// The block after a loop that the thread is at, if it may pass over it.
    pub(super) fn after_idle_loop(&self, head: BlockId) -> Option<BlockId> {
        let idle = self.runs.idle.get(&head)?;
        let is_known = |variable: &usize| self.variables[*variable].is_some();
        (!idle.unknown.iter().any(is_known)).then_some(idle.end)
    }
}
