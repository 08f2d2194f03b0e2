//! The least value that a variable which only grows can have where control comes to a block, over all ways to it: where a token of an
//! earlier round is waited for, the round is not the first one, so that `round - 1` is no number below zero.
//!
//! It takes the graph as it is: that a way which no thread takes is none, `partition` has to have shown.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::cfg::{BasicBlock, Cfg, Extent, NodeId, Source, Step, StepKind, ValueStep, Variable};
use crate::model::expr::BinaryOp;

/// The values above this one are not told apart.
const MOST: i64 = 64;

/// The way in which a step sets a variable: to a number, or to a number more than before.
#[derive(Debug, Clone, Copy)]
enum Set {
    To(i64),
    By(i64),
}

/// The least values that variables can have.
type Least = BTreeMap<Variable, i64>;

/// For each block, the least values of variables where control comes to it. One that is not there may have any value.
#[derive(Debug, Default)]
pub(super) struct LeastValues {
    blocks: Vec<Least>,
    /// The variables that start with a number and grow by numbers.
    counters: BTreeSet<Variable>,
}

impl LeastValues {
    /// Finds the least values of those variables of which each step that sets them is understood.
    pub(super) fn of(cfg: &Cfg<'_>, is_relevant: impl Fn(Variable) -> bool) -> LeastValues {
        let of_block = |block: &BasicBlock| -> Vec<(Variable, Option<Set>)> {
            let sets = block.steps.iter().enumerate().filter_map(|(at, step)| Some((at, step.kind.set()?)));
            let sets = sets.filter(|(_, (variable, ..))| is_relevant(*variable));
            let sets = sets.map(|(at, (variable, value, extent))| {
                let set = set(cfg, variable, value, &block.steps[..at]);
                (variable, set.filter(|_| extent == Extent::Whole))
            });
            sets.collect()
        };
        let sets: Vec<_> = cfg.blocks.iter().map(of_block).collect();
        let all = || sets.iter().flatten();
        let unknown: BTreeSet<Variable> =
            all().filter(|(_, set)| set.is_none()).map(|(variable, _)| *variable).collect();
        let grow = all().filter(|(_, set)| matches!(set, Some(Set::By(_)))).map(|(variable, _)| *variable);
        let counters: BTreeSet<Variable> = grow.filter(|variable| !unknown.contains(variable)).collect();
        let leave = |block: usize, mut values: Least| {
            for (variable, set) in sets[block].iter().filter(|(variable, _)| counters.contains(variable)) {
                let value = match set {
                    Some(Set::To(value)) => Some(*value),
                    Some(Set::By(by)) => values.get(variable).map(|value| (value + by).min(MOST)),
                    None => None,
                };
                match value {
                    Some(value) => values.insert(*variable, value),
                    None => values.remove(variable),
                };
            }
            values
        };
        let mut blocks: Vec<Option<Least>> = vec![None; cfg.blocks.len()];
        blocks[cfg.entry.0] = Some(Least::new());
        let mut work = vec![cfg.entry];
        // Values only fall, to no less than what variables are set to, so that this ends.
        while let Some(block) = work.pop() {
            let values = leave(block.0, blocks[block.0].clone().unwrap_or_default());
            for next in cfg.blocks[block.0].end.successors() {
                let joined: Least = match &blocks[next.0] {
                    None => values.clone(),
                    Some(known) => {
                        let of =
                            |(variable, value): (&Variable, &i64)| Some((*variable, *values.get(variable)?.min(value)));
                        known.iter().filter_map(of).collect()
                    }
                };
                if blocks[next.0].as_ref() != Some(&joined) {
                    blocks[next.0] = Some(joined);
                    work.push(next);
                }
            }
        }
        LeastValues { blocks: blocks.into_iter().map(Option::unwrap_or_default).collect(), counters }
    }

    /// Whether a variable starts with a number and grows by numbers.
    pub(super) fn counts(&self, variable: Variable) -> bool {
        self.counters.contains(&variable)
    }

    /// The variables that are certainly not zero where control comes to a block, with the least that they can be.
    pub(super) fn at(&self, block: usize) -> impl Iterator<Item = (Variable, u64)> {
        let known = self.blocks.get(block).into_iter().flatten();
        let natural = known.map(|(variable, value)| (*variable, u64::try_from(*value).unwrap_or(0)));
        natural.filter(|(_, value)| *value > 0)
    }
}

/// Returns the way in which a step sets a variable that comes after others of its block, if the step sets it to a number or adds one.
fn set(cfg: &Cfg<'_>, variable: Variable, value: NodeId, before: &[Step]) -> Option<Set> {
    let of = &cfg.nodes[value.0];
    let literal = |node: NodeId| i64::try_from(cfg.nodes[cfg.origin(node).0].source.integer()?).ok();
    let counter = |source: &Source<'_>| {
        if let Source::Counter { of, by, .. } = source { by.filter(|by| *of == variable && *by > 0) } else { None }
    };
    if let Some(number) = of.source.integer() {
        return Some(Set::To(i64::try_from(number).ok()?));
    }
    if let Some(by) = counter(&of.source) {
        return Some(Set::By(by));
    }
    // Before a loop over a range: the first number is one step further.
    if of.operands.is_empty() && matches!(of.source, Source::Operands) {
        let mut counters = cfg.nodes.iter().filter_map(|node| Some((counter(&node.source)?, *node.operands.first()?)));
        let (by, start) = counters.next()?;
        return Some(Set::To(literal(start)?.checked_sub(by)?));
    }
    let (Source::Binary(BinaryOp::Add), [left, right]) = (&of.source, &of.operands[..]) else { return None };
    let is_read = cfg.nodes[left.0].source.read() == Some(variable);
    // Between the read and this step, nothing sets the variable.
    let reads = |step: &Step| matches!(step.kind, StepKind::Value(ValueStep::Evaluate(node)) if node == *left);
    let read = before.iter().rposition(reads).filter(|_| is_read)?;
    let is_set = before[read..].iter().any(|step| step.kind.set().is_some_and(|(set, ..)| set == variable));
    literal(*right).filter(|_| !is_set).map(Set::By)
}
