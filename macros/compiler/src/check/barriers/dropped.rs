//! Arrivals of a thread that has dropped out of a barrier: on every path to the arrival, or on some path from which the thread cannot
//! but arrive again. A device function may drop out, and may arrive: its summary says what it does on all paths.

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::protocol::{BarrierUses, ParameterUses};
use phalanx_contract::uniformity::Uniformity;

use super::conditions::Condition;
use super::counts::{init_of_full_count, init_of_full_count_here};
use super::lifecycle::{Id, Lifecycles, State, id_of, is_exact};
use super::path_states::BarrierArgument;
use super::summary::Summary;
use super::{Check, Context};
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{BarrierCallId, BlockId, CallId, End, Root, Shared, Step, StepKind};
use crate::check::dsm::protocol::{Effect, Guard, Predicate};
use crate::check::uniform::control::reachable;
use crate::diag::Diag;
use crate::messages;
use crate::model::Role;
use crate::model::barrier::PhaseAction;
use crate::span::SpanRange;

/// The first use of a barrier in a block by a thread that has dropped out of it.
enum Next {
    /// An arrival.
    Arrival(Arrival),
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
    let is_it = |step: &Step| matches!(step.kind, StepKind::BarrierCall(call) if call == drop);
    let paths = Paths { cx, conditions, id, calls: Calls::Unknown };
    let (arrivals, _) = paths.after(is_it)?;
    let of_function = |arrival| match arrival {
        Arrival::Itself(call) => Some(call),
        Arrival::InCall(..) => None,
    };
    Some(arrivals.into_iter().filter_map(of_function).collect())
}

impl Check<'_, '_, '_> {
    /// `barrier_use_after_drop`: a thread that has dropped out of a barrier does not arrive again.
    ///
    /// ```text
    /// bar.arrive_and_drop(); bar.arrive_and_wait();
    /// if rank == 0 { bar.arrive_and_drop(); } bar.arrive_and_wait();
    /// ```
    pub(super) fn check_dropped(&mut self, state: &State, at: BarrierCallId, id: Id) {
        let call = &self.cx.cfg.barrier_calls[at.0];
        let arrives = call.method.action.arrives() && is_exact(call, id);
        if arrives && self.lives.within == Uniformity::Block {
            self.summary.asked.extend(before(self.cx, state, id, call.at, None));
        }
        let always = arrives && state.dropped.get(&(id, None)).is_some_and(BTreeSet::is_empty);
        let dropped = match self.dropped.get(&at) {
            Some(drop) => Some(self.cx.cfg.barrier_calls[drop.0].at),
            None if always => self.place(id, &[PhaseAction::ArriveAndDrop]),
            None => return,
        };
        self.report(id, messages::barrier_use_after_drop(call.at, &self.cx.name(id), dropped));
    }
}

/// How calls that are given the barrier count on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Calls {
    /// They may do anything.
    Unknown,
    /// They do not initialize it.
    Keep,
    /// They arrive.
    Arrive,
}

/// An arrival of the function, or in one that it calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Arrival {
    Itself(BarrierCallId),
    InCall(CallId, BarrierArgument),
}

/// The paths from a drop to the next arrivals.
struct Paths<'p, 'a, 'f> {
    cx: &'p Context<'a, 'f>,
    conditions: &'p BTreeMap<BlockId, Condition>,
    id: Id,
    calls: Calls,
}

impl Paths<'_, '_, '_> {
    /// The first arrivals after a step, and the calls that come before them; `None` if a path has no arrival.
    fn after(&self, is_drop: impl Fn(&Step) -> bool) -> Option<(BTreeSet<Arrival>, BTreeSet<BarrierArgument>)> {
        let (cx, conditions) = (self.cx, self.conditions);
        let found = cx
            .cfg
            .blocks
            .iter()
            .enumerate()
            .find_map(|(block, steps)| Some((BlockId(block), steps.steps.iter().position(&is_drop)?)));
        let (start, at) = found?;
        let assumed = assumed(cx, conditions, start)?;
        let mut passed = BTreeSet::new();
        let mut seen = BlockSet::none(cx.cfg.blocks.len());
        let (mut work, mut arrivals) = (vec![(start, at + 1)], BTreeSet::new());
        while let Some((block, from)) = work.pop() {
            match self.next(block, from, &mut passed) {
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
        Some((arrivals, passed))
    }

    fn next(&self, block: BlockId, from: usize, passed: &mut BTreeSet<BarrierArgument>) -> Next {
        let Paths { cx, id, .. } = *self;
        for step in cx.cfg.blocks[block.0].steps.iter().skip(from) {
            match step.kind {
                StepKind::BarrierCall(at) if cx.is_of(at, id.shared) => {
                    let call = &cx.cfg.barrier_calls[at.0];
                    let is_it = id_of(cx.cfg, &call.region) == Some(id) && is_exact(call, id);
                    if call.method.action.life_change().is_some() {
                        return Next::NewLife;
                    } else if is_it && call.method.action.arrives() {
                        return Next::Arrival(Arrival::Itself(at));
                    }
                }
                StepKind::Call(call) => {
                    let mut given = cx.cfg.calls[call.0].barriers.iter();
                    let may_be =
                        given.any(|(_, region)| id_of(cx.cfg, region).is_some_and(|of| of.shared == id.shared));
                    match (may_be, argument(cx, call, id), self.calls) {
                        (false, ..) => {}
                        (true, None, _) | (true, Some(_), Calls::Unknown) => return Next::NewLife,
                        (true, Some(argument), Calls::Keep) => drop(passed.insert(argument)),
                        (true, Some(argument), Calls::Arrive) => return Next::Arrival(Arrival::InCall(call, argument)),
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
}

/// The argument of a call that is exactly this barrier, if the call is of a function whose summary rustc knows.
pub(super) fn argument(cx: &Context<'_, '_>, call: CallId, id: Id) -> Option<BarrierArgument> {
    let call = &cx.cfg.calls[call.0];
    let mut given = call.barriers.iter().filter(|(_, region)| id_of(cx.cfg, region) == Some(id));
    let (argument, region) = given.next().filter(|_| given.next().is_none())?;
    let exact = matches!(region.root, Root::Shared(_)) && (region.path.is_empty() || id.index.is_some());
    (exact && call.is_of_function()).then_some(BarrierArgument { slot: call.slot.0, argument: *argument })
}

fn does(argument: BarrierArgument, what: BarrierUses) -> Predicate {
    Predicate::Uses(argument.slot, argument.argument, ParameterUses::of_barrier(what))
}

/// The place of a call.
fn place(cx: &Context<'_, '_>, argument: BarrierArgument) -> Option<SpanRange> {
    cx.cfg.calls.iter().find(|call| call.slot.0 == argument.slot).map(|call| call.at)
}

/// The faults at an arrival, or at a call that may arrive, if all paths to it drop out of the barrier, and a call is among them.
pub(super) fn before(
    cx: &Context<'_, '_>,
    state: &State,
    id: Id,
    at: SpanRange,
    arrival: Option<BarrierArgument>,
) -> Vec<(Guard, Diag)> {
    let dropped = state
        .dropped
        .iter()
        .filter(|((of, by), since)| *of == id && (by.is_some() || !since.is_empty() || arrival.is_some()));
    let faults = dropped.map(|((_, by), since)| {
        let own = || {
            let mut calls = cx.calls(id).filter(|call| call.method.action == PhaseAction::ArriveAndDrop);
            calls.next().map(|call| call.at)
        };
        let place = by.map_or_else(own, |by| place(cx, by));
        let guard = by.iter().fold(Guard::default(), |guard, by| guard.when(does(*by, BarrierUses::DROPS)));
        let guard = since.iter().fold(guard, |guard, call| guard.when(does(*call, BarrierUses::KEEPS)));
        let guard = arrival.into_iter().fold(guard, |guard, call| guard.when(does(call, BarrierUses::ARRIVES)));
        (guard, messages::barrier_use_after_drop(at, &cx.name(id), place))
    });
    faults.collect()
}

/// The faults of drops on some path of a barrier that expects each thread once, if the drop or the next arrival is in a call.
pub(super) fn in_calls(cx: &Context<'_, '_>, conditions: &BTreeMap<BlockId, Condition>) -> Vec<(Guard, Diag)> {
    let mut faults = Vec::new();
    for id in cx.ids() {
        let given: Vec<(CallId, BarrierArgument)> =
            (0..cx.cfg.calls.len()).filter_map(|call| Some((CallId(call), argument(cx, CallId(call), id)?))).collect();
        if given.is_empty() || init_of_full_count_here(cx, id).is_none() {
            continue;
        }
        let own = (0..cx.cfg.barrier_calls.len()).map(BarrierCallId).filter(|at| {
            let call = &cx.cfg.barrier_calls[at.0];
            let is_it = id_of(cx.cfg, &call.region) == Some(id) && is_exact(call, id);
            is_it && call.method.action == PhaseAction::ArriveAndDrop
        });
        let drops = own.map(|at| (StepKind::BarrierCall(at), cx.cfg.barrier_calls[at.0].at, None));
        let in_calls =
            given.iter().map(|(call, argument)| (StepKind::Call(*call), cx.cfg.calls[call.0].at, Some(*argument)));
        for (kind, dropped, by) in drops.chain(in_calls) {
            let is_drop = |step: &Step| match (&step.kind, &kind) {
                (StepKind::BarrierCall(call), StepKind::BarrierCall(other)) => call == other,
                (StepKind::Call(call), StepKind::Call(other)) => call == other,
                _ => false,
            };
            for calls in [Calls::Keep, Calls::Arrive] {
                let Some((arrivals, passed)) = (Paths { cx, conditions, id, calls }).after(is_drop) else { continue };
                let guard = by.into_iter().fold(Guard::default(), |guard, by| guard.when(does(by, BarrierUses::DROPS)));
                let guard = passed.iter().fold(guard, |guard, call| guard.when(does(*call, BarrierUses::KEEPS)));
                let arriving = arrivals.iter().filter_map(|arrival| match arrival {
                    Arrival::InCall(_, argument) => Some(*argument),
                    Arrival::Itself(_) => None,
                });
                let guard = arriving.fold(guard, |guard, call| guard.when(does(call, BarrierUses::ARRIVES)));
                if guard.is_certain() {
                    continue;
                }
                let name = cx.name(id);
                faults.extend(arrivals.iter().map(|arrival| {
                    let at = match arrival {
                        Arrival::Itself(call) => cx.cfg.barrier_calls[call.0].at,
                        Arrival::InCall(call, _) => cx.cfg.calls[call.0].at,
                    };
                    (guard.clone(), messages::barrier_use_after_drop(at, &name, Some(dropped)))
                }));
            }
        }
    }
    faults
}

/// Adds to the summary that the function drops out of a parameter, or arrives at it, on all paths.
pub(super) fn add_ends(cx: &Context<'_, '_>, lives: &Lifecycles<'_, '_>, ends: &[State], summary: &mut Summary) {
    let [first, others @ ..] = ends else { return };
    if cx.function.role != Role::Device {
        return;
    }
    let is_param = |id: &Id| matches!(id.shared, Shared::Param(_)) && id.index.is_none() && lives.is_one(id);
    let begins = |id: &Id| cx.calls(*id).any(|call| call.method.action.begins());
    let mut add = |id: Id, what: BarrierUses, by: Option<BarrierArgument>, guard: Guard| {
        let Shared::Param(param) = id.shared else { return };
        let guard = by.into_iter().fold(guard, |guard, by| guard.when(does(by, what)));
        summary.effects.push((Effect::Uses(param, ParameterUses::of_barrier(what)), guard));
    };
    for ((id, by), since) in first.dropped.iter().filter(|((id, _), _)| is_param(id)) {
        if others.iter().all(|end| end.dropped.contains_key(&(*id, *by))) {
            let since = others
                .iter()
                .filter_map(|end| end.dropped.get(&(*id, *by)))
                .fold(since.clone(), |all, since| all.union(since).copied().collect());
            let guard = since.iter().fold(Guard::default(), |guard, call| guard.when(does(*call, BarrierUses::KEEPS)));
            add(*id, BarrierUses::DROPS, *by, guard);
        }
    }
    for (id, by) in first.arrived.iter().filter(|(id, _)| is_param(id) && !begins(id)) {
        if others.iter().all(|end| end.arrived.contains(&(*id, *by))) {
            let given = (0..cx.cfg.calls.len()).filter_map(|call| argument(cx, CallId(call), *id));
            let given: BTreeSet<BarrierArgument> = given.collect();
            let guard = given.iter().fold(Guard::default(), |guard, call| guard.when(does(*call, BarrierUses::KEEPS)));
            add(*id, BarrierUses::ARRIVES, *by, guard);
        }
    }
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
