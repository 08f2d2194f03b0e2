//! Questions that several analyses ask about steps and sources of values. Each is answered once and without a wildcard: a new
//! kind of step does not compile until it says whether it sets a variable, a new source until it says what it passes on.

use std::collections::BTreeSet;

use super::cfg::{
    AccessId, BarrierCallId, Call, CallId, Cfg, CopyId, CopyStep, Extent, MemoryStep, NodeId, Region, Select, Source,
    Step, StepKind, ValueStep, Variable,
};

impl StepKind {
    /// The access that the step is.
    pub(crate) fn accessed(&self) -> Option<AccessId> {
        if let StepKind::Memory(MemoryStep::Access(id)) = self { Some(*id) } else { None }
    }

    /// The variable that the step sets, its value, and the extent. Variables that hold tokens are moved to, not set.
    pub(crate) fn set(&self) -> Option<(Variable, NodeId, Extent)> {
        match *self {
            StepKind::Value(ValueStep::Set { variable, value, extent }) => Some((variable, value, extent)),
            StepKind::Value(ValueStep::Evaluate(_) | ValueStep::Name { .. } | ValueStep::Return(_))
            | StepKind::Memory(_)
            | StepKind::Copy(_)
            | StepKind::Group(_)
            | StepKind::BarrierCall(_)
            | StepKind::Call(_)
            | StepKind::Token(_) => None,
        }
    }
}

impl Source<'_> {
    /// The variable that is read, if the source is a read.
    pub(crate) fn read(&self) -> Option<Variable> {
        match *self {
            Source::Read(variable) => Some(variable),
            Source::Operands
            | Source::Integer(_)
            | Source::Constant(_)
            | Source::Binary(_)
            | Source::Not
            | Source::Counter { .. }
            | Source::Param(_)
            | Source::Known { .. }
            | Source::ThreadRank
            | Source::Round(..)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => None,
        }
    }

    /// The number, if the source is a literal.
    pub(crate) fn integer(&self) -> Option<u64> {
        match *self {
            Source::Integer(number) => Some(number),
            Source::Operands
            | Source::Constant(_)
            | Source::Binary(_)
            | Source::Not
            | Source::Counter { .. }
            | Source::Read(_)
            | Source::Param(_)
            | Source::Known { .. }
            | Source::ThreadRank
            | Source::Round(..)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => None,
        }
    }
}

/// Visits the regions of a step.
pub(super) fn each_region(cfg: &Cfg<'_>, step: &Step, mut visit: impl FnMut(&Region)) {
    match &step.kind {
        StepKind::Value(ValueStep::Name { region, .. }) => visit(region),
        StepKind::Memory(MemoryStep::Access(AccessId(access))) => visit(&cfg.accesses[*access].region),
        StepKind::BarrierCall(BarrierCallId(call)) => visit(&cfg.barrier_calls[*call].region),
        StepKind::Copy(CopyId(copy)) => match &cfg.copies[*copy] {
            CopyStep::Begin { reads, writes, .. } => reads.iter().chain(writes).for_each(visit),
            CopyStep::Wait { .. } => {}
        },
        StepKind::Call(CallId(call)) => {
            let Call { regions, barriers, .. } = &cfg.calls[*call];
            regions.iter().flatten().chain(barriers.iter().map(|(_, region)| region)).for_each(visit);
        }
        StepKind::Value(ValueStep::Evaluate(_) | ValueStep::Set { .. } | ValueStep::Return(_))
        | StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
        | StepKind::Group(_)
        | StepKind::Token(_) => {}
    }
}

/// The values that select parts of memory or its owner.
pub(super) fn selectors(cfg: &Cfg<'_>) -> BTreeSet<NodeId> {
    let mut all = BTreeSet::new();
    for step in cfg.blocks.iter().flat_map(|block| &block.steps) {
        each_region(cfg, step, |region: &Region| {
            all.extend(region.path.iter().flat_map(Select::nodes).chain(region.rank));
        });
    }
    all
}
