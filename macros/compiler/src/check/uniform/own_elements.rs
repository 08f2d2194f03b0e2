//! Shared arrays with an element for each warp, which no other warp writes: `items[warp.meta_group_rank()] = k; warp.sync();`. What the
//! warp reads of its own element then is one value, whatever other warps do meanwhile. The warp meets between a read and the next write,
//! too: an array that a lane may write while others still read it is none of these.

use std::collections::BTreeSet;

use super::rewritten::is_rewritten_early;
use crate::check::cfg::{
    Access, AccessKind, Cfg, Coordinate, Digit, Granule, GroupStep, NodeId, Offset, Region, Root, Select, Shared,
    Source, Step, StepKind, Team,
};
use crate::model::expr::BinaryOp;
use crate::model::group::Group;

/// The number of threads in a warp.
const WARP: u64 = 32;

/// Returns the arrays of whose elements each warp writes its own alone, and that nothing accesses in another way than by one index.
pub(super) fn of(cfg: &Cfg<'_>) -> BTreeSet<Shared> {
    let (mut written, mut others) = (BTreeSet::new(), BTreeSet::new());
    for access in &cfg.accesses {
        match access.region.root {
            Root::Shared(shared) | Root::Remote(shared) if !matches!(shared, Shared::Array(_)) => {
                // It may be any array.
                if access.kind.changes() {
                    return BTreeSet::new();
                }
            }
            Root::Shared(shared) if is_own(cfg, access) => drop(written.insert(shared)),
            Root::Shared(shared) | Root::Remote(shared) => drop(others.insert(shared)),
            Root::ReadOnly | Root::Global => {}
        }
    }
    let is_lent = |region: &Region| region.root.party().map(|(_, shared)| shared);
    others.extend(cfg.calls.iter().flat_map(|call| call.regions.iter().flatten()).filter_map(is_lent));
    written.retain(|shared| !others.contains(shared) && !is_rewritten_before_its_warp_meets(cfg, *shared));
    written
}

/// Whether a thread may come from a read of an array to a write without its warp having met: other lanes may not have read yet.
fn is_rewritten_before_its_warp_meets(cfg: &Cfg<'_>, shared: Shared) -> bool {
    let meets = |step: &Step| match &step.kind {
        StepKind::Group(GroupStep::Collective { team, barrier: true, .. }) => {
            is_warp(team) || !team.group.is_of_a_warp()
        }
        StepKind::Memory(_)
        | StepKind::Value(_)
        | StepKind::Group(_)
        | StepKind::BarrierCall(_)
        | StepKind::Copy(_)
        | StepKind::Call(_)
        | StepKind::Token(_) => false,
    };
    is_rewritten_early(cfg, |access| access.region.root == Root::Shared(shared), meets)
}

/// Whether an access is of one element, and if it may change that, of the warp's own.
fn is_own(cfg: &Cfg<'_>, access: &Access) -> bool {
    let region = &access.region;
    let [Select::At(index)] = region.path[..] else { return false };
    let is_plain = access.given_to.is_none() && access.completion.is_none();
    let is_element = region.via.is_none() && region.inner.is_none() && !region.open && !region.part;
    is_plain
        && is_element
        && match access.kind {
            AccessKind::Read | AccessKind::AtomicRead => true,
            AccessKind::Write | AccessKind::Atomic => is_of_warp(cfg, index),
            AccessKind::Lent | AccessKind::AsyncWrite | AccessKind::Opaque | AccessKind::ByClosure => false,
        }
}

/// Whether a place in an array is that of the warp's own element: its operands are the array and the index.
pub(super) fn is_own_place(cfg: &Cfg<'_>, place: NodeId) -> bool {
    let of = &cfg.nodes[place.0];
    matches!((&of.source, &of.operands[..]), (Source::Operands, [_, index]) if is_of_warp(cfg, *index))
}

/// Whether an index is the warp's rank in the block, and no other warp has the same.
fn is_of_warp(cfg: &Cfg<'_>, index: NodeId) -> bool {
    let warp = Digit { of: Coordinate::Rank, modulus: None, divisor: Granule::Number(WARP) };
    let index = cfg.origin(index);
    let is_at = |node: NodeId, digit: Digit| {
        let position = cfg.positions.get(&cfg.origin(node));
        position.is_some_and(|at| at.digit == digit && at.offset == Offset::Zero && at.rank_in.is_none())
    };
    let is_rank = |node: NodeId| is_at(node, Digit::whole(Coordinate::Rank));
    let of = &cfg.nodes[index.0];
    match (&of.source, &of.operands[..]) {
        (Source::Round(Granule::Number(WARP), BinaryOp::Div), [rank, ..]) => is_rank(*rank),
        (Source::Binary(BinaryOp::Div), [rank, by]) => {
            is_rank(*rank) && cfg.nodes[cfg.origin(*by).0].source.integer() == Some(WARP)
        }
        _ => is_at(index, warp),
    }
}

/// Whether a group is a whole warp.
pub(super) fn is_warp(team: &Team) -> bool {
    team.group == Group::Tile && team.tile.is_some_and(|tile| tile.size == Granule::Number(WARP))
}
