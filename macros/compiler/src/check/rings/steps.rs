//! What regions, groups and steps of the graph are, by themselves.

use crate::check::cfg::{
    BarrierCall, BlockId, Cfg, Granule, GroupStep, Region, Root, Shared, Source, Step, StepKind, Team, Tile, ValueStep,
};
use crate::model::barrier::{PhaseAction, PhaseOperand};
use crate::model::group::Group;

/// A place in the graph: a block, and the index of a step.
pub(super) type Point = (BlockId, usize);

/// The number of dynamic shared memory among the arrays, which none of `Function::shared` has.
pub(super) const DYNAMIC: usize = usize::MAX - 1;

/// Returns the shared array that a region is a part of, if that is certain.
pub(super) fn array_of(region: &Region) -> Option<usize> {
    match (region.root, region.via) {
        (Root::Shared(Shared::Array(array)) | Root::Remote(Shared::Array(array)), None) => Some(array),
        (Root::Shared(Shared::Dynamic) | Root::Remote(Shared::Dynamic), None) => Some(DYNAMIC),
        _ => None,
    }
}

/// Whether a step does more than compute a value that no other thread has a part in: what is loaded, or given to others, may be handed out.
pub(super) fn acts(cfg: &Cfg<'_>, step: &StepKind) -> bool {
    match step {
        StepKind::Value(ValueStep::Evaluate(node)) => match cfg.nodes[node.0].source {
            Source::Known { .. }
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => true,
            Source::Operands
            | Source::Integer(_)
            | Source::Constant(_)
            | Source::Binary(_)
            | Source::Not
            | Source::Counter { .. }
            | Source::Read(_)
            | Source::Param(_)
            | Source::ThreadRank
            | Source::Round(..) => false,
        },
        StepKind::Value(ValueStep::Set { .. } | ValueStep::Name { .. } | ValueStep::Return(_))
        | StepKind::Memory(_)
        | StepKind::Group(_)
        | StepKind::Token(_)
        | StepKind::BarrierCall(_)
        | StepKind::Copy(_)
        | StepKind::Call(_) => true,
    }
}

/// The number of threads in a warp.
pub(super) const WARP: u32 = 32;

/// Whether the group is a warp: a tile of its size, of the block.
pub(super) fn is_warp(team: &Team) -> bool {
    team.tile == Some(Tile { size: Granule::Number(u64::from(WARP)), of: Some(None) })
}

/// Whether the group is a warp or a part of one: a tile of at most its size, or the threads that have come together.
pub(super) fn is_within_warp(team: &Team) -> bool {
    match (team.group, team.tile) {
        (Group::Coalesced, _) => true,
        (Group::Tile, Some(Tile { size: Granule::Number(size), .. })) => size <= u64::from(WARP),
        _ => false,
    }
}

/// Whether a call tests whether a phase is over that it names by its parity.
pub(super) fn is_by_parity(call: &BarrierCall) -> bool {
    call.method.action == PhaseAction::TryWait && call.method.operands.first() == Some(&PhaseOperand::FixedType)
}

/// Whether lanes of a warp come to a step together.
pub(super) fn meets(step: &Step) -> bool {
    matches!(&step.kind, StepKind::Group(GroupStep::Collective { team, .. }) if is_within_warp(team))
}
