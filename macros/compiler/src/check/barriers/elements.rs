//! Barriers that no thread initializes, that are initialized twice, and arrivals after a drop, where an index, a loop or a condition of
//! numbers decides: what the [runs](crate::check::runs) of a block's threads with certain arguments do, one thread for all that take the same way,
//! and again each thread, where ranks select barriers.
//!
//! A barrier is followed if the text names it, and no function gets it. Which thread comes first is not followed, so that
//! a barrier that is initialized too late is not reported here.

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::uniformity::Uniformity;

use super::Context;
use super::lifecycle::{Id, id_of};
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{BarrierCall, BarrierCallId, BlockId, Cfg, Root, Select, Shared, Step, StepKind};
use crate::check::reached::Reached;
use crate::check::runs::{Launch, Observer, Runs, Thread, ThreadId};
use crate::diag::{Diag, Diags};
use crate::messages;
use crate::model::Role;
use crate::model::barrier::{BarrierForm, PhaseAction};
use crate::rules::Rule;
use crate::span::SpanRange;

/// The largest number of steps that are followed in all runs of a kernel.
const STEPS: usize = 60_000;

/// A call of a method of a phase barrier that a thread makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Event {
    call: BarrierCallId,
    /// The index of the barrier in its array, if the call selects one by an index that is known.
    index: Option<u64>,
    /// The call's last operand, if it is known.
    operand: Option<u64>,
}

/// The run of one thread: the calls that it makes.
struct Run<'a, 'f> {
    cfg: &'a Cfg<'f>,
    events: Vec<Event>,
    /// The blocks that the run passed over.
    passed: BTreeSet<BlockId>,
    /// Whether the run reaches the end of the kernel.
    ends: bool,
}

impl Observer for Run<'_, '_> {
    fn step(&mut self, thread: &Thread<'_, '_, '_>, _at: (BlockId, usize), step: &Step) {
        let StepKind::BarrierCall(call) = step.kind else { return };
        let of = &self.cfg.barrier_calls[call.0];
        let index = thread.index(&of.region).and_then(|index| index.natural());
        let operand = of.operands.last().and_then(|operand| thread.known(*operand)?.natural());
        self.events.push(Event { call, index, operand });
    }

    fn iterates(&mut self) -> bool {
        false
    }

    fn shortens(&self) -> bool {
        false
    }

    fn sees_values(&self) -> bool {
        false
    }

    fn pass_over(&mut self, _branch: BlockId, blocks: &BlockSet) {
        self.passed.extend(blocks.iter());
    }
}

/// A barrier: its array and its index there.
type Element = (Shared, u64);

/// Reports the first fault of each rule.
pub(super) fn check(cx: &Context<'_, '_>, diags: &mut Diags) {
    let Some(threads) = cx.threads().filter(|_| cx.function.role == Role::Kernel) else { return };
    let is_any = |call: &BarrierCall| matches!(call.region.root, Root::Shared(Shared::Any));
    // An `init_collective` of all barriers of an array leaves none out.
    let begins_some = |call: &BarrierCall| {
        let action = call.method.action;
        begins_alone(action) || action.begins() && !call.region.path.is_empty()
    };
    let calls = &cx.cfg.barrier_calls;
    if calls.iter().any(is_any) || !calls.iter().any(begins_some) && !has(cx, drops) {
        return;
    }
    let reached = Reached::of(cx.function, cx.cfg);
    let runs = Runs::of(cx.function, cx.cfg, cx.values.control, threads);
    let given = cx.cfg.calls.iter().flat_map(|call| &call.barriers).filter_map(|(_, region)| id_of(cx.cfg, region));
    let check = Check { cx, runs, hidden: given.map(|id| id.shared).chain(cx.hidden.clone()).collect() };
    // Threads that take one way may still use different barriers.
    for of_all_threads in [false].into_iter().chain(check.is_by_rank().then_some(true)) {
        let mut left = STEPS;
        for (number, launch) in check.launches().into_iter().enumerate() {
            let Some(runs) = check.run_all(launch, &reached, of_all_threads, &mut left) else { continue };
            let argument = launch.argument.filter(|_| check.runs.has_integers);
            let element = launch.element;
            for fault in check.faults(&runs, number == 0) {
                // What is reported for all arguments need not be reported for some.
                let is_known = |rule, _| rule == fault.rule || rule == Rule::BarrierInitNotElected;
                if !diags.any(is_known) {
                    diags.push(messages::where_integers_are(fault, argument, element));
                }
            }
        }
    }
}

fn begins_alone(action: PhaseAction) -> bool {
    action == PhaseAction::Init
}

fn drops(action: PhaseAction) -> bool {
    action == PhaseAction::ArriveAndDrop
}

fn has(cx: &Context<'_, '_>, does: impl Fn(PhaseAction) -> bool) -> bool {
    cx.cfg.barrier_calls.iter().any(|call| does(call.method.action))
}

struct Check<'a, 'f> {
    cx: &'a Context<'a, 'f>,
    runs: Runs<'a, 'f>,
    /// The barriers that functions and inline CUDA get.
    hidden: BTreeSet<Shared>,
}

/// A thread's rank with its run.
type OfThread<'a, 'f> = (u64, Run<'a, 'f>);

impl<'a, 'f> Check<'a, 'f> {
    /// The launches that are tried. Loops over as many rounds as there are barriers leave none out; those over two more come back to
    /// the first.
    fn launches(&self) -> Vec<Launch> {
        // An argument may also be the rank of a thread: arrays that no call names do not make it larger.
        let named = self.cx.cfg.barrier_calls.iter().filter_map(|call| id_of(self.cx.cfg, &call.region));
        let longest = named.filter_map(|id| self.runs.length(id.shared)).max().unwrap_or(1).max(2);
        let mut launches = Vec::new();
        for (argument, element) in [(longest, longest), (longest + 2, 1), (longest + 2, 0)] {
            let launch = Launch {
                argument: Some(if self.runs.has_integers { argument } else { 0 }),
                element: self.runs.reads_integers.then_some(element),
                length: None,
                agreed: None,
                data: None,
                holds: None,
            };
            if !launches.contains(&launch) {
                launches.push(launch);
            }
        }
        launches
    }

    /// Whether threads of a block select a barrier by something in which they differ.
    fn is_by_rank(&self) -> bool {
        let Context { cfg, values, .. } = *self.cx;
        let mut indexes = cfg.barrier_calls.iter().flat_map(|call| &call.region.path).flat_map(Select::nodes);
        indexes.any(|index| !values.level(index).is_uniform(Uniformity::Block))
    }

    /// The runs of the threads that may initialize or drop out, or of all threads, and of one of the others that come to the same places;
    /// `None` if a thread fails, or if they take too long.
    fn run_all(
        &self,
        launch: Launch,
        reached: &Reached,
        all_threads: bool,
        left: &mut usize,
    ) -> Option<Vec<OfThread<'a, 'f>>> {
        let blocks: BTreeSet<BlockId> = (0..self.cx.cfg.barrier_calls.len())
            .map(BarrierCallId)
            .filter(|call| begins_alone(self.action(*call)))
            .filter_map(|call| self.cx.block_of(call))
            .collect();
        let counts = all_threads || has(self.cx, drops);
        let mut all = Vec::new();
        for (set, ranks) in reached.sets() {
            let each = counts || blocks.iter().any(|block| set.contains(*block));
            for rank in &ranks[..if each { ranks.len() } else { 1 }] {
                let mut run = Run { cfg: self.cx.cfg, events: Vec::new(), passed: BTreeSet::new(), ends: false };
                run.ends = self.runs.run(launch, ThreadId { block: None, rank: *rank }, left, &mut run).ok()?;
                all.push((*rank, run));
                if *left == 0 {
                    return None;
                }
            }
        }
        Some(all)
    }

    fn action(&self, BarrierCallId(call): BarrierCallId) -> PhaseAction {
        self.cx.cfg.barrier_calls[call].method.action
    }

    /// The barriers of an event that are followed.
    fn elements(&self, event: &Event) -> Vec<Element> {
        let call = &self.cx.cfg.barrier_calls[event.call.0];
        let followed = |shared: &Shared| !self.hidden.contains(shared);
        let shared = if let Root::Shared(shared) = call.region.root { Some(shared).filter(followed) } else { None };
        match (shared, call.region.path.is_empty(), call.barrier.form) {
            (None, ..) | (_, _, BarrierForm::Remote) => Vec::new(),
            (Some(shared), true, BarrierForm::Array) => {
                (0..self.runs.length(shared).unwrap_or(0)).map(|index| (shared, index)).collect()
            }
            (Some(shared), true, BarrierForm::One) => vec![(shared, 0)],
            (Some(shared), false, BarrierForm::One | BarrierForm::Array) => {
                event.index.map(|index| (shared, index)).into_iter().collect()
            }
        }
    }

    /// The arrays with a call for which this holds and of which it is not known which barrier it means, or whether a thread makes it.
    fn open(&self, runs: &[OfThread<'_, '_>], is: impl Fn(PhaseAction) -> bool) -> BTreeSet<Shared> {
        let shared = |BarrierCallId(call): BarrierCallId| {
            self.cx.cfg.barrier_calls[call].region.root.party().map(|(_, shared)| shared)
        };
        let mut open = BTreeSet::new();
        let passed: BTreeSet<BlockId> = runs.iter().flat_map(|(_, run)| &run.passed).copied().collect();
        for block in passed {
            for step in &self.cx.cfg.blocks[block.0].steps {
                if let StepKind::BarrierCall(call) = step.kind
                    && is(self.action(call))
                {
                    open.extend(shared(call));
                }
            }
        }
        for event in runs.iter().flat_map(|(_, run)| &run.events) {
            if is(self.action(event.call)) && self.elements(event).is_empty() {
                open.extend(shared(event.call));
            }
        }
        open
    }

    fn name(&self, (shared, index): Element) -> String {
        let single = self.runs.length(shared) == Some(1);
        self.cx.name(Id { shared, index: (!single).then_some(index) })
    }

    fn at(&self, BarrierCallId(call): BarrierCallId) -> SpanRange {
        self.cx.cfg.barrier_calls[call].at
    }

    /// The first fault of each rule.
    fn faults(&self, runs: &[OfThread<'_, '_>], is_long: bool) -> impl Iterator<Item = Diag> {
        // In other launches, a loop that initializes barriers may be shorter than it has to be.
        let uninitialized = if is_long { self.uninitialized(runs) } else { None };
        [uninitialized, self.initialized_again(runs), self.dropped(runs)].into_iter().flatten()
    }

    /// `barrier_uninitialized`: each barrier that is used is initialized.
    ///
    /// ```text
    /// let bars = shared_barriers::<4>(); .. for i in 0..3 { bars[i].init(n); } .. for i in 0..4 { bars[i].arrive_and_wait(); }
    /// ```
    fn uninitialized(&self, runs: &[OfThread<'_, '_>]) -> Option<Diag> {
        if !runs.iter().all(|(_, run)| run.ends) {
            return None;
        }
        let open = self.open(runs, PhaseAction::begins);
        let events = || runs.iter().flat_map(|(_, run)| &run.events);
        let begun: BTreeSet<Element> =
            events().filter(|event| self.action(event.call).begins()).flat_map(|event| self.elements(event)).collect();
        let used = events().filter(|event| !self.action(event.call).begins());
        let raw = used.flat_map(|event| self.elements(event).into_iter().map(|element| (element, event.call)));
        let mut raw = raw.filter(|(element, _)| !begun.contains(element) && !open.contains(&element.0));
        let (element, call) = raw.next()?;
        let init = self.cx.cfg.barrier_calls.iter().find(|other| {
            other.method.action.begins() && id_of(self.cx.cfg, &other.region).is_some_and(|id| id.shared == element.0)
        });
        Some(messages::barrier_never_initialized(self.at(call), &self.name(element), init.map(|init| init.at)))
    }

    /// `barrier_reinit`: a barrier is initialized once.
    ///
    /// ```text
    /// for k in 0..n { if rank == 0 { bars[k % 2].init(64); } block.sync(); bars[k % 2].arrive_and_wait(); block.sync(); }
    /// ```
    fn initialized_again(&self, runs: &[OfThread<'_, '_>]) -> Option<Diag> {
        let ended: BTreeSet<Shared> = self
            .cx
            .cfg
            .barrier_calls
            .iter()
            .filter(|call| call.method.action == PhaseAction::Invalidate)
            .filter_map(|call| Some(call.region.root.party()?.1))
            .collect();
        let mut begun: BTreeMap<Element, (u64, BarrierCallId)> = BTreeMap::new();
        for (rank, run) in runs {
            for event in run.events.iter().filter(|event| self.action(event.call).begins()) {
                let collective = self.action(event.call) == PhaseAction::InitCollective;
                for element in self.elements(event).into_iter().filter(|(shared, _)| !ended.contains(shared)) {
                    match begun.get(&element) {
                        // All threads execute it together.
                        Some((first, call)) if first != rank && collective && *call == event.call => {}
                        Some((_, call)) => {
                            let (at, first) = (self.at(event.call), self.at(*call));
                            return Some(messages::barrier_reinit(at, &self.name(element), Some(first)));
                        }
                        None => drop(begun.insert(element, (*rank, event.call))),
                    }
                }
            }
        }
        None
    }

    /// `barrier_use_after_drop`: a thread that has dropped out of a barrier that counts each of its threads once does not arrive.
    ///
    /// ```text
    /// for k in 0..n { if input[rank] == k { bar.arrive_and_drop(); } else { bar.arrive_and_wait(); } }
    /// ```
    fn dropped(&self, runs: &[OfThread<'_, '_>]) -> Option<Diag> {
        let mut counts: BTreeMap<Element, u64> = BTreeMap::new();
        let mut arriving: BTreeMap<Element, BTreeSet<u64>> = BTreeMap::new();
        for (rank, run) in runs {
            for event in &run.events {
                let action = self.action(event.call);
                for element in self.elements(event) {
                    if action.begins() {
                        let most = counts.entry(element).or_default();
                        *most = (*most).max(event.operand.unwrap_or(u64::MAX));
                    } else if action.arrives() {
                        arriving.entry(element).or_default().insert(*rank);
                    }
                }
            }
        }
        let begins_open = self.open(runs, |action| action.begins() || action == PhaseAction::Invalidate);
        let is_counted = |element: &Element| {
            let threads = arriving.get(element).map_or(0, BTreeSet::len) as u64;
            !begins_open.contains(&element.0) && counts.get(element).is_some_and(|count| *count <= threads)
        };
        for (_, run) in runs {
            let mut dropped: BTreeMap<Element, BarrierCallId> = BTreeMap::new();
            for event in &run.events {
                let action = self.action(event.call);
                for element in self.elements(event).into_iter().filter(is_counted) {
                    if action.begins() {
                        dropped.remove(&element);
                    } else if let (true, Some(drop)) = (action.arrives(), dropped.get(&element)) {
                        let (at, drop) = (self.at(event.call), self.at(*drop));
                        return Some(messages::barrier_use_after_drop(at, &self.name(element), Some(drop)));
                    } else if drops(action) {
                        dropped.insert(element, event.call);
                    }
                }
            }
        }
        None
    }
}
