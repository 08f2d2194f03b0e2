//! Arrivals in device functions: the part of `barrier_count` that depends on how often a thread arrives in a function that is given
//! the barrier. The function's summary says so, and rustc is asked.

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::protocol::{BarrierUses, ParameterUses};

use super::Context;
use super::counts::{divergent_branch, init_of_full_count_here, tested};
use super::dropped::argument;
use super::expected::{Counted, counted_here};
use super::lifecycle::{Id, id_of, is_exact};
use super::path_states::BarrierArgument;
use super::summary::Summary;
use crate::check::cfg::{BarrierCall, BarrierCallId, BlockId, CallId, Root, Shared, Step, StepKind};
use crate::check::dsm::protocol::{Effect, Guard, Predicate};
use crate::check::election::Election;
use crate::check::uniform::control::following;
use crate::messages;
use crate::model::Role;
use crate::model::barrier::PhaseAction;
use crate::model::kind::Kind;
use crate::span::SpanRange;

/// The flags that say that a thread may arrive so many times in a phase: once, twice, and so on.
const AT_LEAST: [BarrierUses; 4] = [
    BarrierUses::MAY_ARRIVE,
    BarrierUses::MAY_ARRIVE_TWICE,
    BarrierUses::MAY_ARRIVE_THREE_TIMES,
    BarrierUses::MAY_ARRIVE_FOUR_TIMES,
];

/// A call that is given the barrier.
#[derive(Debug, Clone, Copy)]
struct Site {
    argument: BarrierArgument,
    block: BlockId,
    at: SpanRange,
}

impl Site {
    fn does(self, what: BarrierUses) -> Predicate {
        Predicate::Uses(self.argument.slot, self.argument.argument, ParameterUses::of_barrier(what))
    }

    fn never(self, what: BarrierUses) -> Predicate {
        Predicate::NeverUses(self.argument.slot, self.argument.argument, ParameterUses::of_barrier(what))
    }
}

/// The calls that are given a barrier; `None` if it is not exactly known at one of them, or that is of a method.
fn sites(cx: &Context<'_, '_>, id: Id) -> Option<Vec<Site>> {
    let mut sites = Vec::new();
    for (index, call) in cx.cfg.calls.iter().enumerate() {
        let is_it = |(_, region): &(usize, _)| id_of(cx.cfg, region).is_some_and(|of| of.shared == id.shared);
        if call.barriers.iter().any(is_it) {
            let argument = argument(cx, CallId(index), id)?;
            let is_call = |step: &Step| matches!(step.kind, StepKind::Call(call) if call == CallId(index));
            let block = cx.cfg.blocks.iter().position(|block| block.steps.iter().any(is_call))?;
            sites.push(Site { argument, block: BlockId(block), at: call.at });
        }
    }
    Some(sites)
}

fn is_in_loop(cx: &Context<'_, '_>, block: BlockId) -> bool {
    following(cx.cfg, block).contains(block)
}

/// The guard that a call neither initializes the barrier nor changes how many arrivals a phase expects.
fn countable(sites: &[Site]) -> Guard {
    let of_site =
        |guard: Guard, site: &Site| guard.when(site.does(BarrierUses::KEEPS)).when(site.never(BarrierUses::UNCOUNTED));
    sites.iter().fold(Guard::default(), of_site)
}

/// `barrier_count` where device functions arrive.
///
/// ```text
/// fn meet(bar: &Barrier) { bar.arrive_and_wait(); }
/// bar.init(block.num_threads()); .. if rank < 32 { meet(&bar); }
/// bar.init(block.num_threads() + 1); .. meet(&bar);
/// ```
pub(super) fn check(cx: &Context<'_, '_>, election: &Election<'_, '_>, summary: &mut Summary) {
    if cx.function.role != Role::Kernel || cx.threads() == Some(1) {
        return;
    }
    for id in cx.ids() {
        let Some(sites) = sites(cx, id).filter(|sites| !sites.is_empty()) else { continue };
        check_divergent(cx, id, &sites, summary);
        check_numbers(cx, election, id, &sites, summary);
    }
}

/// All arrivals are on one arm of a divergent branch, or one function has them all on an arm of one of its own.
fn check_divergent(cx: &Context<'_, '_>, id: Id, sites: &[Site], summary: &mut Summary) {
    let Some(init) = init_of_full_count_here(cx, id) else { return };
    let init = cx.cfg.barrier_calls[init.0].at;
    let is_arrival = |call: &BarrierCall| call.method.action.arrives() && id_of(cx.cfg, &call.region) == Some(id);
    let own: Vec<BarrierCallId> = (0..cx.cfg.barrier_calls.len())
        .map(BarrierCallId)
        .filter(|at| is_arrival(&cx.cfg.barrier_calls[at.0]))
        .collect();
    let Some(own_blocks) = own.iter().map(|at| cx.block_of(*at)).collect::<Option<BTreeSet<BlockId>>>() else { return };
    let own_wait = own.iter().all(|at| cx.cfg.barrier_calls[at.0].method.action == PhaseAction::ArriveAndWait);
    let slots: BTreeSet<u16> = sites.iter().map(|site| site.argument.slot).collect();
    // All of the functions arrive, or one of them does.
    let cases = slots.iter().map(|slot| Some(*slot)).chain((slots.len() > 1).then_some(None));
    for case in cases {
        let arrives = |site: &&Site| case.is_none_or(|slot| site.argument.slot == slot);
        let arriving: Vec<Site> = sites.iter().filter(arrives).copied().collect();
        let blocks: BTreeSet<BlockId> = arriving.iter().map(|site| site.block).chain(own_blocks.clone()).collect();
        let follows = |block: &BlockId| {
            let next = following(cx.cfg, *block);
            blocks.iter().any(|other| next.contains(*other))
        };
        let several = arriving.len() + own.len() > blocks.len() || blocks.iter().any(follows);
        if several && !own_wait {
            continue;
        }
        let once =
            BarrierUses::MAY_ARRIVE_TWICE | if several { BarrierUses::LEAVES_ARRIVED } else { BarrierUses::empty() };
        let guard = arriving.iter().fold(countable(sites), |guard, site| guard.when(site.never(once)));
        let others = sites.iter().filter(|site| !arrives(site));
        let guard = others.fold(guard, |guard, site| guard.when(site.never(BarrierUses::MAY_ARRIVE)));
        let Some(first) = arriving.first() else { continue };
        if let Some(branch) = divergent_branch(cx, &blocks) {
            let fault = messages::barrier_count_divergent(first.at, &cx.name(id), init, tested(cx.cfg, branch));
            summary.asked.push((guard.when(first.does(BarrierUses::MAY_ARRIVE)), fault));
        } else if arriving.len() == 1 && own.is_empty() {
            let fault = messages::barrier_count_divergent(first.at, &cx.name(id), init, None);
            summary.asked.push((guard.when(first.does(BarrierUses::ARRIVES_IN_SOME)), fault));
        }
    }
}

/// Too many or too few arrivals are expected, where the text shows how many.
fn check_numbers(cx: &Context<'_, '_>, election: &Election<'_, '_>, id: Id, sites: &[Site], summary: &mut Summary) {
    let (Some(threads), Some(calls)) = (cx.threads(), counted_here(cx, id)) else { return };
    let counted = Counted { cx, election, id, threads, calls };
    let (Some(counts), Some(init)) = (counted.counts(), counted.init()) else { return };
    let (Some(least), Some(most)) = (counts.iter().min().copied(), counts.iter().max().copied()) else { return };
    let name = cx.name(id);
    let in_calls = |each: u64| {
        let of_site = |site: &Site| counted.threads_at(site.block)?.checked_mul(each);
        sites.iter().map(of_site).try_fold(counted.arrivals()?, |all, some| all.checked_add(some?))
    };
    // The largest number of arrivals of each thread with which they are too few.
    let bound = (0..=4_u64).rev().find_map(|each| Some((each, in_calls(each).filter(|all| *all < least)?)));
    if let Some((each, arrivals)) = bound {
        let repeated = sites.iter().filter(|site| is_in_loop(cx, site.block));
        let guard = repeated.fold(countable(sites), |guard, site| guard.when(site.never(BarrierUses::LEAVES_ARRIVED)));
        let more = AT_LEAST.get(each as usize).copied();
        let guard = more
            .into_iter()
            .fold(guard, |guard, more| sites.iter().fold(guard, |guard, site| guard.when(site.never(more))));
        match counted.blocking_wait() {
            Some(at) => {
                let fault = messages::barrier_count_too_many(at, &name, init, Some(least), arrivals);
                summary.asked.push((guard, fault));
            }
            None => {
                for site in sites {
                    let fault = messages::barrier_count_too_many(site.at, &name, init, Some(least), arrivals);
                    summary.asked.push((guard.clone().when(site.does(BarrierUses::WAITS)), fault));
                }
            }
        }
    }
    if most < threads {
        for site in sites.iter().filter(|site| cx.is_reached_by_all_at(site.block)) {
            let all = BarrierUses::ARRIVES;
            let guard = countable(sites).when(site.does(all)).when(site.does(BarrierUses::WAITS));
            summary.asked.push((guard, messages::barrier_count_too_few(site.at, &name, init, most, (threads, 1))));
        }
    }
}

/// Adds to the summary how often a thread arrives at each parameter in a phase.
pub(super) fn summarize(cx: &Context<'_, '_>, summary: &mut Summary) {
    if cx.function.role != Role::Device {
        return;
    }
    for (param, declared) in cx.function.params.iter().enumerate() {
        if matches!(cx.function.kind(declared.local), Kind::Barrier(_)) {
            let id = Id { shared: Shared::Param(param), index: None };
            let effects = arrivals_of(cx, id);
            let effect = |(what, guard)| (Effect::Uses(param, ParameterUses::of_barrier(what)), guard);
            summary.effects.extend(effects.into_iter().map(effect));
        }
    }
}

fn arrivals_of(cx: &Context<'_, '_>, id: Id) -> Vec<(BarrierUses, Guard)> {
    let uncounted = vec![(BarrierUses::UNCOUNTED, Guard::default())];
    // What is not followed may do anything.
    let may_be_it = |call: &&BarrierCall| matches!(call.region.root, Root::Shared(Shared::Any) | Root::Remote(_));
    let Some(sites) = sites(cx, id).filter(|_| !cx.hidden.contains(&id.shared)) else { return uncounted };
    if cx.cfg.barrier_calls.iter().any(|call| may_be_it(&call)) {
        return uncounted;
    }
    let mut effects = Vec::new();
    let mut own: BTreeMap<BlockId, u64> = BTreeMap::new();
    let (mut all_wait, mut sum) = (true, 0_u64);
    for (index, call) in cx.cfg.barrier_calls.iter().enumerate() {
        if id_of(cx.cfg, &call.region).is_none_or(|of| of.shared != id.shared) {
            continue;
        }
        let Some(block) = cx.block_of(BarrierCallId(index)).filter(|_| is_exact(call, id)) else { return uncounted };
        let literal = call.operands.last().and_then(|count| cx.cfg.nodes[cx.resolved(*count).0].source.integer());
        let each = match call.method.action {
            PhaseAction::Arrive | PhaseAction::ArriveAndWait => 1,
            PhaseAction::ArriveN => match literal {
                Some(count) => count,
                None => return uncounted,
            },
            PhaseAction::Wait | PhaseAction::WaitParity | PhaseAction::TryWait | PhaseAction::ExpectTx => 0,
            PhaseAction::Init
            | PhaseAction::InitCollective
            | PhaseAction::ArriveAndDrop
            | PhaseAction::Copy
            | PhaseAction::Invalidate => return uncounted,
        };
        if call.method.action.waits() && cx.values.control.deciders(block).next().is_none() {
            effects.push((BarrierUses::WAITS, Guard::default()));
        }
        if each > 0 {
            let waits = call.method.action == PhaseAction::ArriveAndWait;
            if !waits && is_in_loop(cx, block) {
                return uncounted;
            }
            all_wait &= waits;
            sum = sum.saturating_add(each);
            own.insert(block, each);
        }
    }
    let once = |sum: u64| if all_wait { sum.min(1) } else { sum };
    if !all_wait && !sites.is_empty() || once(sum) > 4 {
        return uncounted;
    }
    effects.extend(AT_LEAST.iter().take(once(sum) as usize).map(|what| (*what, Guard::default())));
    if !all_wait {
        effects.push((BarrierUses::LEAVES_ARRIVED, Guard::default()));
    }
    let blocks: BTreeSet<BlockId> = own.into_keys().collect();
    if sites.is_empty() && once(sum) == 1 && divergent_branch(cx, &blocks).is_some() {
        effects.push((BarrierUses::ARRIVES_IN_SOME, Guard::default()));
    }
    let single = sites.len() == 1 && blocks.is_empty() && !is_in_loop(cx, sites[0].block);
    for site in sites {
        let passed = |what: BarrierUses| (what, Guard::default().when(site.does(what)));
        effects.extend(AT_LEAST.map(passed));
        effects.extend([passed(BarrierUses::UNCOUNTED), passed(BarrierUses::LEAVES_ARRIVED)]);
        let always = cx.values.control.deciders(site.block).next().is_none();
        effects.extend(always.then(|| passed(BarrierUses::WAITS)));
        if single {
            effects.extend(always.then(|| passed(BarrierUses::ARRIVES_IN_SOME)));
        } else {
            let leaves = Guard::default().when(site.does(BarrierUses::LEAVES_ARRIVED));
            effects.push((BarrierUses::UNCOUNTED, leaves));
        }
    }
    effects
}
