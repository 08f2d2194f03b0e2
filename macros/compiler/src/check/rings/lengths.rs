//! Whether the steps that rings are made of may depend on the length of a local array that the text does not show, as of `[0; ROWS]`: with
//! the length in place of its name, more may be known of them. An array of sums, of which nothing but data is computed, is no reason to
//! look at the rings once more.

use crate::check::cfg::{ByVariable, Cfg, CopyStep, NodeId, Region, Select, Source, StepKind, ValueStep};

/// Says so of a kernel.
pub(super) fn matter(cfg: &Cfg<'_>) -> bool {
    if cfg.named_lengths.is_empty() {
        return false;
    }
    let mut sets: ByVariable<Vec<NodeId>> = ByVariable::default();
    let mut work: Vec<NodeId> = Vec::new();
    for block in &cfg.blocks {
        work.extend(block.end.condition());
        for step in &block.steps {
            if let Some((variable, value, _)) = step.kind.set() {
                sets.get_or_insert(variable, Vec::new()).push(value);
            }
            if let StepKind::Value(ValueStep::Name { region, .. }) = &step.kind {
                work.extend(of_region(region));
            }
        }
    }
    for access in &cfg.accesses {
        work.extend(of_region(&access.region).chain(access.covers.nodes()));
    }
    for call in &cfg.barrier_calls {
        work.extend(of_region(&call.region).chain(call.operands.iter().copied()));
    }
    for copy in &cfg.copies {
        if let CopyStep::Begin { reads, writes, .. } = copy {
            work.extend(reads.iter().chain(writes).flat_map(of_region));
        }
    }
    work.extend(cfg.assertions.iter().flat_map(|assertion| &assertion.operands));
    work.extend(cfg.counted.values().flat_map(|counted| [counted.start, counted.end].into_iter().chain(counted.step)));
    let mut seen = vec![false; cfg.nodes.len()];
    let mut reads_memory = false;
    while let Some(node) = work.pop() {
        if std::mem::replace(&mut seen[node.0], true) {
            continue;
        }
        let of = &cfg.nodes[node.0];
        work.extend(&of.operands);
        if let Some(variable) = of.source.read() {
            let whole = variable.whole().into_iter();
            work.extend([variable].into_iter().chain(whole).filter_map(|variable| sets.get(variable)).flatten());
        }
        // A thread may have it from another one, which has stored it or added it. What groups say of themselves it has not.
        let is_query = || cfg.queries.contains_key(&node) || cfg.positions.contains_key(&node);
        let is_of_others = match of.source {
            Source::Load(_) => true,
            Source::Known { .. } => !is_query(),
            Source::Operands
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
            | Source::Shuffled { .. }
            | Source::Call { .. } => false,
        };
        if is_of_others && !std::mem::replace(&mut reads_memory, true) {
            work.extend(cfg.accesses.iter().filter_map(|access| access.stored));
            work.extend(cfg.added.values());
            let contents = cfg.contents.values();
            work.extend(contents.flat_map(|of| of.fields.iter().map(|(_, field)| *field).chain([of.value])));
        }
    }
    cfg.named_lengths.iter().any(|array| seen[array.0])
}

/// The values that select a region.
fn of_region(region: &Region) -> impl Iterator<Item = NodeId> + '_ {
    let selecting = region.path.iter().flat_map(Select::nodes);
    selecting.chain(region.rank).chain(region.inner.map(|(_, index)| index))
}
