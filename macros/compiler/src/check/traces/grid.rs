//! Blocks of a grid: what one writes to a parameter and another accesses, in a kernel that has barriers of the grid. One without them may
//! be for a grid of one block.

use super::elements::Elements;
use super::{Check, races};
use crate::check::cfg::{Access, Cfg, GroupStep, Root, StepKind};
use crate::check::runs::Launch;
use crate::diag::Diag;
use crate::model::Function;
use crate::model::group::Group;

/// The number of blocks in the grid that is followed.
pub(super) const BLOCKS: u64 = 2;

/// Whether blocks of the grid may meet in memory that is followed, in clusters of one block each.
pub(super) fn is_asked(function: &Function, cfg: &Cfg<'_>, elements: &Elements<'_, '_>) -> bool {
    let is_barrier = |kind: &StepKind| match kind {
        StepKind::Group(GroupStep::Collective { team, barrier, .. }) => *barrier && team.group == Group::Grid,
        StepKind::Group(GroupStep::Arrive { group, .. }) => *group == Group::Grid,
        StepKind::Group(
            GroupStep::Convergent { .. }
            | GroupStep::Aligned { .. }
            | GroupStep::FormGroup(_)
            | GroupStep::Wait { .. }
            | GroupStep::ArriveForgotten { .. }
            | GroupStep::WaitElected { .. },
        )
        | StepKind::Value(_)
        | StepKind::Memory(_)
        | StepKind::BarrierCall(_)
        | StepKind::Copy(_)
        | StepKind::Call(_)
        | StepKind::Token(_) => false,
    };
    let has_barrier = || cfg.blocks.iter().flat_map(|block| &block.steps).any(|step| is_barrier(&step.kind));
    let writes = |access: &Access| access.region.root == Root::Global && access.kind.changes();
    function.options.cluster.is_none() && has_barrier() && cfg.accesses.iter().any(writes) && elements.may_meet()
}

/// The faults of two blocks in a launch; `None` if a thread fails.
pub(super) fn check(check: &Check<'_, '_>, launch: Launch) -> Option<Vec<Diag>> {
    let (mut traces, mut others) = (Vec::new(), Vec::new());
    check.trace(launch, None, &mut traces, &mut others)?;
    Some([false, true].into_iter().filter_map(|waived| races::across_grid(check, &traces, waived)).collect())
}
