//! Indexes that follow from what threads tell each other of the host's data: the place of a key by a scan, a ticket. The host cannot be meant
//! to pass only data with which each thread gets its own rank.
//!
//! ```text
//! sorted[zeros + i - before] = key;       // and no `block.sync()`
//! let next = sorted[i];                   // an element that another thread has written, but if it got its own rank
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::Check;
use super::grouped::Grouped;
use super::trace::{Made, Trace, Use};
use crate::check::cfg::{
    AccessId, BlockId, MemoryStep, NodeId, Root, Shared, Source, Step, StepKind, ValueStep, Variable,
};

/// The sources of a value.
pub(super) struct Exchanged {
    /// Whether a thread has some of it from others.
    of_others: bool,
    /// Whether the host passes some of it, or the order decides in which threads come.
    of_host: bool,
    /// The shared memory that it follows from.
    through: BTreeSet<Shared>,
}

impl Exchanged {
    /// Whether a warp has some of it from another one: data that this has written, or what both change by an atomic.
    pub(super) fn is_of_warps(&self, check: &Check<'_, '_>, traces: &[Trace], others: &Grouped<'_>) -> bool {
        let mut of_data: BTreeMap<AccessId, bool> = BTreeMap::new();
        let mut gives = |made: &Made| {
            let stored = || check.cfg.accesses[made.access.0].stored;
            let is_data = || stored().and_then(|stored| check.followed(stored)).is_some_and(|from| from.of_host);
            made.by == Use::AtomicWrite || made.by == Use::Write && *of_data.entry(made.access).or_insert_with(is_data)
        };
        let elements = traces.iter().flat_map(|trace| &trace.made).map(|made| made.element);
        let elements: BTreeSet<_> = elements.filter(|(_, of, _)| self.through.contains(of)).collect();
        elements.into_iter().any(|element| {
            let all = others.get(element).unwrap_or_default();
            let givers: Vec<&Trace> = all.iter().filter(|(_, made)| gives(made)).map(|(giver, _)| *giver).collect();
            let mut takers = all.iter().filter(|(_, made)| made.by != Use::Write);
            takers.any(|(taker, _)| givers.iter().any(|giver| !giver.is_in_warp_of(taker)))
        })
    }
}

impl Check<'_, '_> {
    /// Returns the sources of a value if the thread has some of it from others, and the host passes some of it or the order decides in which
    /// threads come.
    pub(super) fn exchanged(&self, value: NodeId) -> Option<Exchanged> {
        self.followed(value).filter(|from| from.of_others && from.of_host)
    }

    /// Returns the sources of a value; `None` if a call may give it.
    fn followed(&self, value: NodeId) -> Option<Exchanged> {
        let cfg = self.cfg;
        let sets = cfg.values_of_variables();
        let deciding = self.deciding();
        let mut seen = vec![false; cfg.nodes.len()];
        let (mut of_others, mut of_host) = (false, false);
        let mut through = BTreeSet::new();
        let mut work = vec![value];
        while let Some(node) = work.pop() {
            if std::mem::replace(&mut seen[node.0], true) {
                continue;
            }
            let of = &cfg.nodes[node.0];
            work.extend(&of.operands);
            if let Some(variable) = of.source.read() {
                let whole = variable.whole().into_iter();
                let all = || [variable].into_iter().chain(whole.clone());
                work.extend(all().filter_map(|variable| sets.get(&variable)).flatten());
                work.extend(all().filter_map(|variable| deciding.get(&variable)).flatten());
            }
            of_others |= cfg.of_lanes.contains(&node) || cfg.added.contains_key(&node);
            of_host |= cfg.added.contains_key(&node);
            through.extend(self.counter_of(node));
            match of.source {
                Source::Load(Root::Shared(shared)) => {
                    of_others = true;
                    through.insert(shared);
                    let is_of = |root: Root| root.party().is_some_and(|(_, of)| of == shared);
                    let written = cfg.accesses.iter().filter(|access| is_of(access.region.root));
                    work.extend(written.filter_map(|access| access.stored));
                }
                Source::Load(Root::ReadOnly | Root::Global) => of_host = true,
                // What they give is not known, or the same for all.
                Source::Call { .. } => return None,
                Source::Load(_)
                | Source::Known { .. }
                | Source::Operands
                | Source::Integer(_)
                | Source::Constant(_)
                | Source::Binary(_)
                | Source::Not
                | Source::Counter { .. }
                | Source::Read(_)
                | Source::Param(_)
                | Source::ThreadRank
                | Source::Round(..)
                | Source::Agreed { .. }
                | Source::Shuffled { .. } => {}
            }
        }
        Some(Exchanged { of_others, of_host, through })
    }

    /// The shared memory that a ticket is drawn from: the step before its value is the access.
    fn counter_of(&self, ticket: NodeId) -> Option<Shared> {
        self.cfg.added.get(&ticket)?;
        let is_it = |step: &Step| matches!(step.kind, StepKind::Value(ValueStep::Evaluate(node)) if node == ticket);
        let before = self.cfg.blocks.iter().find_map(|block| {
            let at = block.steps.iter().position(is_it)?;
            block.steps.get(at.checked_sub(1)?)
        });
        let StepKind::Memory(MemoryStep::Access(access)) = before?.kind else { return None };
        self.cfg.accesses[access.0].region.root.party().map(|(_, shared)| shared)
    }

    /// The conditions that decide whether a variable is set.
    fn deciding(&self) -> BTreeMap<Variable, Vec<NodeId>> {
        let mut deciding: BTreeMap<Variable, Vec<NodeId>> = BTreeMap::new();
        for (number, block) in self.cfg.blocks.iter().enumerate() {
            let Some((condition, arms)) = block.end.condition().zip(self.runs.arms(BlockId(number))) else { continue };
            let steps = arms.iter().flat_map(|arm| &self.cfg.blocks[arm.0].steps);
            for (variable, ..) in steps.filter_map(|step| step.kind.set()) {
                deciding.entry(variable).or_default().push(condition);
            }
        }
        deciding
    }
}
