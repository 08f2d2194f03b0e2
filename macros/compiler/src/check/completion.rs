//! Relates waits to the asynchronous copies that they show to be complete: a wait at the barrier on which the copy completes, and one
//! at a barrier where a thread arrives that has waited there. Facts of the function's text, no analysis of its states.

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::uniformity::Uniformity;

use super::cfg::{BlockId, Cfg, Completion, CopyId, CopyStep, Region, Shared, Step, StepKind};
use super::uniform::control::following;
use super::uniform::values::Values;
use crate::model::barrier::PhaseAction;

/// The waits of a function, related to the copies that they show to be complete.
#[derive(Default)]
pub(super) struct Completions {
    /// By barrier, the barriers at which a thread may arrive after a wait at it.
    relays: BTreeMap<Shared, BTreeSet<Shared>>,
    /// By branch at which the threads of a block may diverge, the copies that begin in its arms.
    begun: BTreeMap<BlockId, BTreeSet<CopyId>>,
}

impl Completions {
    pub(super) fn of(cfg: &Cfg<'_>, values: &Values<'_, '_>) -> Completions {
        if cfg.accesses.iter().all(|access| access.completion.is_none()) && cfg.copies.is_empty() {
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
        let mut completions = Completions { relays, begun: begun_in_arms(cfg, values) };
        while completions.extend() {}
        completions
    }

    /// The copies that some threads begin in an arm of this branch, while others do not. What a thread has waited for before the
    /// branch says nothing of these, even if it takes the other arm.
    pub(super) fn begun_in_arms(&self, branch: BlockId) -> impl Iterator<Item = CopyId> {
        self.begun.get(&branch).into_iter().flatten().copied()
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
        let told = || self.relays.iter().filter(|(waited, _)| may_be_same(**waited, barrier));
        may_be_same(wait_at, barrier)
            || told().any(|(_, relays)| relays.iter().any(|relay| may_be_same(wait_at, *relay)))
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
            call.method.action.observation().and(barrier_of(&call.region)).into_iter().collect()
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

/// By divergent branch that is no loop's test, the copies that begin in its arms.
fn begun_in_arms(cfg: &Cfg<'_>, values: &Values<'_, '_>) -> BTreeMap<BlockId, BTreeSet<CopyId>> {
    let begun_in = |block: BlockId| {
        cfg.blocks[block.0].steps.iter().filter_map(|step| match step.kind {
            StepKind::Copy(copy) => matches!(cfg.copies[copy.0], CopyStep::Begin { .. }).then_some(copy),
            StepKind::Memory(_)
            | StepKind::Value(_)
            | StepKind::Group(_)
            | StepKind::BarrierCall(_)
            | StepKind::Token(_)
            | StepKind::Call(_) => None,
        })
    };
    let divergent = values.control.regions(cfg).filter(|(branch, region, _)| {
        let repeats = region.iter().any(|block| cfg.blocks[block.0].end.successors().any(|next| next == *branch));
        !repeats && !values.tested(*branch).is_uniform(Uniformity::Block)
    });
    divergent.map(|(branch, region, _)| (branch, region.iter().flat_map(begun_in).collect())).collect()
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
