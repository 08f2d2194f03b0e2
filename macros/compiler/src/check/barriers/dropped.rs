//! Arrivals of a thread that has dropped out of a barrier on some path, from which the thread cannot but arrive again.

use std::collections::{BTreeMap, BTreeSet};

use super::Context;
use super::conditions::Condition;
use super::counts::init_of_full_count;
use super::lifecycle::{Id, id_of, is_exact};
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{BarrierCallId, BlockId, CallId, End, StepKind};
use crate::check::uniform::control::reachable;
use crate::model::barrier::PhaseAction;

/// The first use of a barrier in a block by a thread that has dropped out of it.
enum Next {
    /// An arrival.
    Arrival(BarrierCallId),
    /// A new life of the barrier, which may expect the thread again.
    NewLife,
    Nothing,
}

/// The arrivals, each with where the thread dropped out: all paths from there lead to one of them.
pub(super) fn arrivals(
    cx: &Context<'_, '_>,
    conditions: &BTreeMap<BlockId, Condition>,
) -> BTreeMap<BarrierCallId, BarrierCallId> {
    let mut all = BTreeMap::new();
    for (at, call) in cx.cfg.barrier_calls.iter().enumerate() {
        let id = id_of(cx.cfg, &call.region).filter(|id| is_exact(call, *id));
        // Where more arrivals are expected than there are threads, a thread may drop one of several.
        if let (PhaseAction::ArriveAndDrop, Some(id)) = (call.method.action, id)
            && init_of_full_count(cx, id).is_some()
        {
            let drop = BarrierCallId(at);
            all.extend(after(cx, conditions, drop, id).into_iter().flatten().map(|arrival| (arrival, drop)));
        }
    }
    all
}

/// The first arrivals after a drop; `None` if a path from it has none.
fn after(
    cx: &Context<'_, '_>,
    conditions: &BTreeMap<BlockId, Condition>,
    drop: BarrierCallId,
    id: Id,
) -> Option<BTreeSet<BarrierCallId>> {
    let start = cx.block_of(drop)?;
    let assumed = assumed(cx, conditions, start)?;
    let steps = &cx.cfg.blocks[start.0].steps;
    let at = steps.iter().position(|step| matches!(step.kind, StepKind::BarrierCall(call) if call == drop))?;
    let mut seen = BlockSet::none(cx.cfg.blocks.len());
    let (mut work, mut arrivals) = (vec![(start, at + 1)], BTreeSet::new());
    while let Some((block, from)) = work.pop() {
        match next(cx, block, from, id) {
            Next::Arrival(arrival) => {
                arrivals.insert(arrival);
            }
            Next::NewLife => return None,
            Next::Nothing => {
                let end = &cx.cfg.blocks[block.0].end;
                if matches!(end, End::Leave | End::Never) {
                    return None;
                }
                let known =
                    conditions.get(&block).and_then(|condition| Some((condition, assumed.get(&condition.number)?)));
                let taken = end.successors().filter(|next| {
                    known.is_none_or(|(condition, holds)| {
                        condition.value_on_edge(end, *next).is_none_or(|value| value == *holds)
                    })
                });
                work.extend(taken.filter(|next| seen.insert(*next)).map(|next| (next, 0)));
            }
        }
    }
    Some(arrivals)
}

/// The conditions whose outcomes a thread at the block has seen, and which have no others later; `None` if they contradict each
/// other, so that no thread comes there.
fn assumed(
    cx: &Context<'_, '_>,
    conditions: &BTreeMap<BlockId, Condition>,
    block: BlockId,
) -> Option<BTreeMap<usize, bool>> {
    let mut outcomes = BTreeMap::new();
    for branch in cx.values.control.deciders(block) {
        let Some(condition) = conditions.get(&branch).filter(|condition| condition.fixed) else { continue };
        let end = &cx.cfg.blocks[branch.0].end;
        let mut sides = end.successors().filter(|side| reachable(cx.cfg, *side, Some(branch)).contains(block));
        let side = sides.next().filter(|_| sides.next().is_none());
        if let Some(holds) = side.and_then(|side| condition.value_on_edge(end, side))
            && outcomes.insert(condition.number, holds).is_some_and(|known| known != holds)
        {
            return None;
        }
    }
    Some(outcomes)
}

fn next(cx: &Context<'_, '_>, block: BlockId, from: usize, id: Id) -> Next {
    for step in cx.cfg.blocks[block.0].steps.iter().skip(from) {
        match step.kind {
            StepKind::BarrierCall(at) if cx.is_of(at, id.shared) => {
                let call = &cx.cfg.barrier_calls[at.0];
                let is_it = id_of(cx.cfg, &call.region) == Some(id) && is_exact(call, id);
                if call.method.action.life_change().is_some() {
                    return Next::NewLife;
                } else if is_it && call.method.action.arrives() {
                    return Next::Arrival(at);
                }
            }
            StepKind::Call(CallId(call)) => {
                let mut given = cx.cfg.calls[call].barriers.iter();
                if given.any(|(_, region)| id_of(cx.cfg, region).is_some_and(|of| of.shared == id.shared)) {
                    return Next::NewLife;
                }
            }
            StepKind::BarrierCall(_)
            | StepKind::Value(_)
            | StepKind::Memory(_)
            | StepKind::Copy(_)
            | StepKind::Group(_)
            | StepKind::Token(_) => {}
        }
    }
    Next::Nothing
}
