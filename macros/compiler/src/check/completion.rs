//! Relates waits to the asynchronous copies that they show to be complete: a wait at the barrier on which the copy completes, and one
//! at a barrier where a thread arrives that has waited there. Facts of the function's text, no analysis of its states.

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::uniformity::Uniformity;

use super::cfg::{
    BarrierCallId, BlockId, CallId, Cfg, Completion, CopyId, CopyStep, NodeId, Region, Root, Shared, Source, Step,
    StepKind,
};
use super::reached::Reached;
use super::uniform::control::{following, reachable};
use super::uniform::values::Values;
use crate::model::Function;
use crate::model::barrier::PhaseAction;

/// The waits of a function, related to the copies that they show to be complete.
#[derive(Default)]
pub(super) struct Completions {
    /// By barrier, the barriers at which a thread may arrive after a wait at it.
    relays: BTreeMap<Shared, BTreeSet<Shared>>,
    /// By branch at which the threads of a block may diverge, the steps in its arms at which copies may begin.
    begun: BTreeMap<BlockId, BTreeSet<Begun>>,
    /// By wait, the copies of which it [says nothing](Completions::says_nothing) on other paths.
    apart: BTreeSet<(WaitId, CopyId)>,
    /// By step that may wait for bulk copies of the thread, the steps at which other threads alone may begin them.
    by_others: BTreeSet<(Begun, Begun)>,
}

/// A step that waits for copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum WaitId {
    Copies(CopyId),
    Barrier(BarrierCallId),
}

/// A step at which copies may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Begun {
    Copy(CopyId),
    Call(CallId),
}

impl Begun {
    pub(super) fn of(cfg: &Cfg<'_>, step: &Step) -> Option<Begun> {
        match step.kind {
            StepKind::Copy(_) => begun(cfg, step).map(Begun::Copy),
            StepKind::Call(call) => Some(Begun::Call(call)),
            StepKind::Value(_)
            | StepKind::Memory(_)
            | StepKind::Group(_)
            | StepKind::Token(_)
            | StepKind::BarrierCall(_) => None,
        }
    }
}

impl Completions {
    pub(super) fn of(function: &Function, cfg: &Cfg<'_>, values: &Values<'_, '_>) -> Completions {
        let has_copies = cfg.accesses.iter().any(|access| access.completion.is_some()) || !cfg.copies.is_empty();
        if !has_copies && cfg.calls.is_empty() {
            return Completions::default();
        }
        let mut relays: BTreeMap<Shared, BTreeSet<Shared>> = BTreeMap::new();
        for (number, block) in cfg.blocks.iter().enumerate() {
            for (at, step) in block.steps.iter().enumerate() {
                let waits = waits_of(cfg, step);
                if !waits.is_empty() {
                    let arrivals = arrivals_after(cfg, BlockId(number), at);
                    waits.into_iter().for_each(|wait| relays.entry(wait).or_default().extend(&arrivals));
                }
            }
        }
        let (begun, apart, by_others) = (begun_in_arms(cfg, values), apart(cfg, values), by_others(function, cfg));
        let mut completions = Completions { relays, begun, apart, by_others };
        while completions.extend() {}
        completions
    }

    /// The copies that some threads begin in an arm of this branch, while others do not. What a thread has waited for before the
    /// branch says nothing of these, even if it takes the other arm.
    pub(super) fn begun_in_arms(&self, branch: BlockId) -> impl Iterator<Item = Begun> {
        self.begun.get(&branch).into_iter().flatten().copied()
    }

    /// Whether a wait says nothing of a copy on the paths that pass it by. All threads of a block that have begun the copy come to the
    /// wait then, or none, and the branches that decide about it are independent of all others.
    pub(super) fn says_nothing(&self, wait: &Step, copy: CopyId) -> bool {
        wait_id(wait).is_some_and(|wait| self.apart.contains(&(wait, copy)))
    }

    /// Whether a step may wait only for bulk copies of other threads than those that begin copies at another step. Each thread waits for
    /// its own alone.
    pub(super) fn is_by_others(&self, wait: &Step, begun: Begun) -> bool {
        let wait = match wait.kind {
            StepKind::Copy(copy) => Begun::Copy(copy),
            StepKind::Call(call) => Begun::Call(call),
            StepKind::Value(_)
            | StepKind::Memory(_)
            | StepKind::Group(_)
            | StepKind::Token(_)
            | StepKind::BarrierCall(_) => return false,
        };
        self.by_others.contains(&(wait, begun))
    }

    /// Adds the arrivals of threads that were told by an arrival; says whether there was any new one.
    fn extend(&mut self) -> bool {
        let mut changed = false;
        for barrier in self.relays.keys().copied().collect::<Vec<_>>() {
            let told = self.relays[&barrier].iter().flat_map(|relay| {
                let same = self.relays.iter().filter(|(other, _)| may_be_same(**other, *relay));
                same.flat_map(|(_, further)| further.iter().copied())
            });
            let told: Vec<Shared> = told.collect();
            let known = self.relays.entry(barrier).or_default();
            let before = known.len();
            known.extend(told);
            changed |= known.len() != before;
        }
        changed
    }

    /// Whether a wait at a phase barrier may show that copies with this completion are complete: the thread itself, or one that
    /// has told it, has waited for them.
    pub(super) fn shows(&self, wait_at: Shared, completion: Completion) -> bool {
        let Completion::Barrier(barrier) = completion else { return false };
        may_be_same(wait_at, barrier) || self.tells(wait_at, barrier)
    }

    /// Whether a thread that waits at a phase barrier may be told by one that has waited at another.
    pub(super) fn tells(&self, wait_at: Shared, waited_at: Shared) -> bool {
        let told = self.relays.iter().filter(|(waited, _)| may_be_same(**waited, waited_at));
        told.flat_map(|(_, relays)| relays).any(|relay| may_be_same(wait_at, *relay))
    }
}

/// Whether two barriers may be the same one, or of the same array.
pub(super) fn may_be_same(a: Shared, b: Shared) -> bool {
    let is_known = |shared| matches!(shared, Shared::Array(_) | Shared::Dynamic | Shared::Slice(_));
    a == b || !is_known(a) || !is_known(b)
}

/// The barriers at which a step may wait.
pub(super) fn waits_of(cfg: &Cfg<'_>, step: &Step) -> Vec<Shared> {
    match &step.kind {
        StepKind::BarrierCall(call) => {
            let call = &cfg.barrier_calls[call.0];
            let observes = call.method.action.observation().filter(|_| !call.is_ignored);
            observes.and(barrier_of(&call.region)).into_iter().collect()
        }
        StepKind::Call(call) => {
            cfg.calls[call.0].barriers.iter().filter_map(|(_, region)| barrier_of(region)).collect()
        }
        StepKind::Value(_) | StepKind::Memory(_) | StepKind::Group(_) | StepKind::Token(_) | StepKind::Copy(_) => {
            Vec::new()
        }
    }
}

/// The barrier, or the array of barriers, that a region is a part of.
pub(super) fn barrier_of(region: &Region) -> Option<Shared> {
    region.root.party().map(|(_, shared)| shared)
}

/// The copy that a step begins.
fn begun(cfg: &Cfg<'_>, step: &Step) -> Option<CopyId> {
    match step.kind {
        StepKind::Copy(copy) => matches!(cfg.copies[copy.0], CopyStep::Begin { .. }).then_some(copy),
        StepKind::Memory(_)
        | StepKind::Value(_)
        | StepKind::Group(_)
        | StepKind::BarrierCall(_)
        | StepKind::Token(_)
        | StepKind::Call(_) => None,
    }
}

/// The steps that may wait for bulk copies of the thread, each with those that only other threads come to.
fn by_others(function: &Function, cfg: &Cfg<'_>) -> BTreeSet<(Begun, Begun)> {
    let (mut waits, mut begins) = (Vec::new(), Vec::new());
    for (number, block) in cfg.blocks.iter().enumerate() {
        for step in &block.steps {
            let (wait, begin) = match step.kind {
                StepKind::Call(call) => (true, Some(Begun::Call(call))),
                StepKind::Copy(copy) if cfg.copies[copy.0].completion() == Completion::BulkGroup => {
                    (matches!(cfg.copies[copy.0], CopyStep::Wait { .. }), Some(Begun::Copy(copy)))
                }
                StepKind::Copy(_)
                | StepKind::Value(_)
                | StepKind::Memory(_)
                | StepKind::Group(_)
                | StepKind::Token(_)
                | StepKind::BarrierCall(_) => (false, None),
            };
            let is_call = matches!(step.kind, StepKind::Call(_));
            waits.extend(begin.filter(|_| wait).map(|step| (step, BlockId(number))));
            begins.extend(begin.filter(|_| is_call || !wait).map(|step| (step, BlockId(number))));
        }
    }
    // Calls alone are compared only where they are in branches.
    if waits.is_empty() || begins.is_empty() {
        return BTreeSet::new();
    }
    let reached = Reached::of(function, cfg);
    let pairs = waits.iter().flat_map(|wait| begins.iter().map(move |begin| (wait, begin)));
    let apart = pairs.filter(|((_, wait), (_, begin))| wait != begin && !reached.by_one_thread(*wait, *begin));
    apart.map(|((wait, _), (begin, _))| (*wait, *begin)).collect()
}

/// By divergent branch that is no loop's test, the steps in its arms at which copies may begin.
fn begun_in_arms(cfg: &Cfg<'_>, values: &Values<'_, '_>) -> BTreeMap<BlockId, BTreeSet<Begun>> {
    let begun_in = |block: BlockId| cfg.blocks[block.0].steps.iter().filter_map(|step| Begun::of(cfg, step));
    let divergent = values.control.regions(cfg).filter(|(branch, region, _)| {
        let repeats = region.iter().any(|block| cfg.blocks[block.0].end.successors().any(|next| next == *branch));
        !repeats && !values.tested(*branch).is_uniform(Uniformity::Block)
    });
    divergent.map(|(branch, region, _)| (branch, region.iter().flat_map(begun_in).collect())).collect()
}

fn wait_id(step: &Step) -> Option<WaitId> {
    match step.kind {
        StepKind::Copy(copy) => Some(WaitId::Copies(copy)),
        StepKind::BarrierCall(call) => Some(WaitId::Barrier(call)),
        StepKind::Value(_) | StepKind::Memory(_) | StepKind::Group(_) | StepKind::Token(_) | StepKind::Call(_) => None,
    }
}

/// The waits and copies that are [apart](Completions::says_nothing).
fn apart(cfg: &Cfg<'_>, values: &Values<'_, '_>) -> BTreeSet<(WaitId, CopyId)> {
    let tested = (0..cfg.blocks.len()).map(BlockId).filter_map(|block| {
        let on = cfg.blocks[block.0].end.condition()?;
        Some((block, inputs(cfg, on)))
    });
    let tested: BTreeMap<BlockId, Option<BTreeSet<Input>>> = tested.collect();
    let is_independent = |branch: BlockId| {
        let Some(Some(own)) = tested.get(&branch) else { return false };
        // How often a loop runs is not independent of what is in it.
        let comes_back = |next: &BlockId| reachable(cfg, *next, None).contains(branch);
        let ends_loop = cfg.blocks[branch.0].end.successors().filter(comes_back).count() == 1;
        if ends_loop {
            return false;
        }
        let mut others = tested.iter().filter(|(other, _)| **other != branch).filter_map(|(_, inputs)| inputs.as_ref());
        values.tested(branch).is_uniform(Uniformity::Block) && others.all(|inputs| inputs.is_disjoint(own))
    };
    let independent: BTreeSet<BlockId> = tested.keys().copied().filter(|branch| is_independent(*branch)).collect();
    // A split graph has a step several times.
    let mut begun: BTreeMap<CopyId, Vec<BlockId>> = BTreeMap::new();
    let mut waits: BTreeMap<WaitId, Vec<BlockId>> = BTreeMap::new();
    for (number, block) in cfg.blocks.iter().enumerate() {
        for step in &block.steps {
            match (self::begun(cfg, step), wait_id(step)) {
                (Some(copy), _) => begun.entry(copy).or_default().push(BlockId(number)),
                (None, Some(wait)) => waits.entry(wait).or_default().push(BlockId(number)),
                (None, None) => {}
            }
        }
    }
    let decided = |wait: BlockId, begin: BlockId| {
        // The threads that have begun the copy have taken this arm.
        let is_taken = |branch: BlockId| {
            let arms = |block: BlockId| {
                let arms = cfg.blocks[branch.0].end.successors();
                arms.map(move |arm| reachable(cfg, arm, Some(branch)).contains(block))
            };
            values.control.deciders(begin).any(|other| other == branch) && arms(wait).eq(arms(begin))
        };
        values.control.deciders(wait).all(|branch| is_taken(branch) || independent.contains(&branch))
    };
    let mut apart = BTreeSet::new();
    for (wait, wait_blocks) in &waits {
        for (copy, begin_blocks) in &begun {
            if wait_blocks.iter().all(|wait| begin_blocks.iter().all(|begin| decided(*wait, *begin))) {
                apart.insert((*wait, *copy));
            }
        }
    }
    apart
}

/// A value that a kernel begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Input {
    Parameter(usize),
    Known(&'static str),
    /// An element of memory that nothing writes.
    Memory,
}

/// The inputs from which alone a value is computed; `None` if there may be others.
fn inputs(cfg: &Cfg<'_>, node: NodeId) -> Option<BTreeSet<Input>> {
    let mut inputs = BTreeSet::new();
    let are_known = cfg.is_computed_from(node, |source| match source {
        Source::Operands
        | Source::Integer(_)
        | Source::Constant(_)
        | Source::Binary(_)
        | Source::Not
        | Source::Round(..) => true,
        Source::Load(Root::ReadOnly) => {
            inputs.insert(Input::Memory);
            true
        }
        Source::Param(position) => {
            inputs.insert(Input::Parameter(*position));
            true
        }
        Source::Known { what, .. } => {
            inputs.insert(Input::Known(what));
            true
        }
        Source::Read(_)
        | Source::Counter { .. }
        | Source::ThreadRank
        | Source::Load(_)
        | Source::Agreed { .. }
        | Source::Shuffled { .. }
        | Source::Call { .. } => false,
    });
    are_known.then_some(inputs)
}

/// The barriers at which a thread may arrive after a step.
fn arrivals_after(cfg: &Cfg<'_>, block: BlockId, step: usize) -> BTreeSet<Shared> {
    let mut arrivals = BTreeSet::new();
    let mut collect = |steps: &[Step]| {
        for step in steps {
            match &step.kind {
                StepKind::BarrierCall(call) => {
                    let call = &cfg.barrier_calls[call.0];
                    if call.method.action.arrives() || call.method.action == PhaseAction::Copy {
                        arrivals.extend(barrier_of(&call.region));
                    }
                }
                StepKind::Call(call) => {
                    arrivals.extend(cfg.calls[call.0].barriers.iter().filter_map(|(_, region)| barrier_of(region)));
                }
                StepKind::Value(_)
                | StepKind::Memory(_)
                | StepKind::Group(_)
                | StepKind::Token(_)
                | StepKind::Copy(_) => {}
            }
        }
    };
    collect(&cfg.blocks[block.0].steps[step + 1..]);
    following(cfg, block).iter().for_each(|next| collect(&cfg.blocks[next.0].steps));
    arrivals
}
