//! Finds the values that a run has to know: those that branches and places in memory depend on. The steps of others are left out.

use crate::check::cfg::{ByVariable, Cfg, CopyStep, NodeId, Region, Root, Select, StepKind, ValueStep};

/// Returns for each node whether it is needed.
pub(super) fn nodes(cfg: &Cfg<'_>) -> Vec<bool> {
    let mut sets: ByVariable<Vec<NodeId>> = ByVariable::default();
    let mut work: Vec<NodeId> = Vec::new();
    let of_region = |region: &Region| {
        let selecting: Vec<NodeId> = region.path.iter().flat_map(Select::nodes).collect();
        selecting.into_iter().chain(region.rank).chain(region.inner.map(|(_, index)| index))
    };
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
    work.extend(cfg.accesses.iter().flat_map(|access| of_region(&access.region)));
    work.extend(cfg.accesses.iter().flat_map(|access| access.covers.nodes()));
    // Of shared memory, and of a kernel's parameters, it is asked whether two threads write the same.
    let is_asked =
        |region: &Region| region.root.party().is_some() || region.root == Root::Global && region.param.is_some();
    let shared = cfg.accesses.iter().filter(|access| is_asked(&access.region));
    work.extend(shared.filter_map(|access| access.stored));
    for call in &cfg.barrier_calls {
        work.extend(of_region(&call.region).chain(call.operands.iter().copied()));
    }
    for copy in &cfg.copies {
        if let CopyStep::Begin { reads, writes, .. } = copy {
            work.extend(reads.iter().chain(writes).flat_map(of_region));
        }
    }
    work.extend(cfg.assertions.iter().flat_map(|assertion| &assertion.operands));
    work.extend(cfg.counted.values().flat_map(|counted| [counted.start, counted.end]));
    let mut needed = vec![false; cfg.nodes.len()];
    while let Some(node) = work.pop() {
        if std::mem::replace(&mut needed[node.0], true) {
            continue;
        }
        let of = &cfg.nodes[node.0];
        work.extend(&of.operands);
        work.extend(of.source.read().and_then(|variable| sets.get(variable)).into_iter().flatten());
    }
    needed
}
