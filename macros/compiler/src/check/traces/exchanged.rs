//! Indexes that follow from what threads tell each other of the host's data: the place of a key by a scan, a ticket. The host cannot be meant
//! to pass only data with which each thread gets its own rank.
//!
//! ```text
//! sorted[zeros + i - before] = key;       // and no `block.sync()`
//! let next = sorted[i];                   // an element that another thread has written, but if it got its own rank
//! ```

use std::collections::BTreeMap;

use super::Check;
use crate::check::cfg::{BlockId, NodeId, Root, Source, Variable};

impl Check<'_, '_> {
    /// Whether a value follows from what a thread has of others, and that from what the host passes or from the order in which they come.
    pub(super) fn is_exchanged(&self, value: NodeId) -> bool {
        let cfg = self.cfg;
        let sets = cfg.values_of_variables();
        let deciding = self.deciding();
        let mut seen = vec![false; cfg.nodes.len()];
        let (mut of_others, mut of_host) = (false, false);
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
            match of.source {
                Source::Load(Root::Shared(shared)) => {
                    of_others = true;
                    let is_of = |root: Root| root.party().is_some_and(|(_, of)| of == shared);
                    let written = cfg.accesses.iter().filter(|access| is_of(access.region.root));
                    work.extend(written.filter_map(|access| access.stored));
                }
                Source::Load(Root::ReadOnly | Root::Global) => of_host = true,
                // What they give is not known, or the same for all.
                Source::Call { .. } => return false,
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
        of_others && of_host
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
