//! Whether a thread may come from a read of a shared array to a write, with nothing in between by which it could know that others have
//! read, too. What that is, and which accesses are of the array, those say who ask.

use std::collections::BTreeSet;

use crate::check::cfg::{Access, BlockId, Cfg, MemoryStep, Step, StepKind};

/// Whether there is such a path, from an access of the array to a write of it, without a step that `meets`.
pub(super) fn is_rewritten_early(
    cfg: &Cfg<'_>,
    is_of_array: impl Fn(&Access) -> bool,
    meets: impl Fn(&Step) -> bool,
) -> bool {
    let touches = |step: &Step, changes: bool| match step.kind {
        StepKind::Memory(MemoryStep::Access(id)) => {
            let access = &cfg.accesses[id.0];
            is_of_array(access) && access.kind.changes() == changes
        }
        StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
        | StepKind::Value(_)
        | StepKind::Group(_)
        | StepKind::BarrierCall(_)
        | StepKind::Copy(_)
        | StepKind::Call(_)
        | StepKind::Token(_) => false,
    };
    let reads = (0..cfg.blocks.len()).map(BlockId).flat_map(|block| {
        let steps = cfg.blocks[block.0].steps.iter().enumerate();
        steps.filter(|(_, step)| touches(step, false)).map(move |(number, _)| (block, number + 1))
    });
    reaches(cfg, reads.collect(), |step| touches(step, true), meets)
}

/// Whether a path leads from one of these points to a step that `writes`, without one that `meets`.
pub(super) fn reaches(
    cfg: &Cfg<'_>,
    mut work: Vec<(BlockId, usize)>,
    writes: impl Fn(&Step) -> bool,
    meets: impl Fn(&Step) -> bool,
) -> bool {
    let mut seen = BTreeSet::new();
    while let Some((block, from)) = work.pop() {
        let content = &cfg.blocks[block.0];
        match content.steps[from..].iter().find(|step| writes(step) || meets(step)) {
            Some(step) if writes(step) => return true,
            Some(_) => {}
            None => {
                let successors = content.end.successors();
                work.extend(successors.filter(|block| seen.insert(*block)).map(|block| (block, 0)));
            }
        }
    }
    false
}
