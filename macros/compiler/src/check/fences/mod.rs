//! The cheapest correct fence of each cluster barrier: for each arrival, what the thread may have done to memory since its last
//! arrival, what it may do before the wait, and what any thread may do later. `phalanx_contract::fence` chooses, once rustc has
//! added the effects of the device functions that are called.
//!
//! Why this is right is in docs/analyses.md. In short: each thread's own arrival covers each of its own accesses since its
//! last one, every thread of the cluster arrives, and every wait is an unrestricted acquire.
//!
//! Not inferred: the fences of barriers inside of device functions, of a kernel with inline CUDA and of one with an `unchecked`
//! rule, all of which are full; and those of phase barriers and of grids.

mod effects;
mod later;
mod pairs;
mod pending;

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::fence::{Cause, ChosenFence, MemoryEffects};

pub(crate) use effects::{EffectOf, Effects};

use super::cfg::Cfg;
use super::tokens::Tokens;
use crate::model::expr::{ExprKind, FunctionPath};
use crate::model::group::Group;
use crate::model::group_barrier::{BarrierMethod, BarrierOperation};
use crate::model::op::Op;
use crate::model::walk::walk_block;
use crate::model::{Function, Role, SiteId, SlotId};
use crate::span::SpanRange;
use effects::StepEffects;

/// The fences of a function's barriers of the cluster, before rustc adds what its callees do.
#[derive(Debug)]
pub(crate) struct Fences<'f> {
    /// The barriers, in the order of their places in the source.
    pub(crate) barriers: Vec<Barrier>,
    /// Everything that the function does to memory itself, and its calls.
    pub(crate) effects: Effects,
    /// For each operation in the source, its barrier's index. Operations that a macro gave the same place share one.
    indexes: BTreeMap<SiteId, usize>,
    /// The device functions that are called, by slot.
    callees: BTreeMap<SlotId, &'f FunctionPath>,
}

/// An operation at the cluster's barrier.
#[derive(Debug)]
pub(crate) struct Barrier {
    pub(crate) at: SpanRange,
    pub(crate) method: &'static BarrierMethod,
    pub(crate) needs: Needs,
}

/// What the fence of an arrival depends on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Needs {
    /// The effects since the last arrival.
    pub(crate) before: Effects,
    /// The effects between the arrival and its wait.
    pub(crate) between: Effects,
    /// The effects after it.
    pub(crate) after: Effects,
    /// Whether the arrival waits too, so that nothing is between.
    is_whole: bool,
}

impl Needs {
    fn join(&mut self, other: &Needs) {
        self.before.join(&other.before);
        self.between.join(&other.between);
        self.after.join(&other.after);
    }

    /// Has the fence be full, for a reason that completes a report.
    fn must_be_full(&mut self, what: &'static str, at: SpanRange) {
        self.before.add(EffectOf::own(what, MemoryEffects::all()), at);
    }
}

impl<'f> Fences<'f> {
    /// The barrier of an operation whose fence is inferred. The others are full, or as they are written.
    pub(crate) fn inferred(&self, site: SiteId) -> Option<usize> {
        let index = *self.indexes.get(&site)?;
        let BarrierMethod { relaxed, aligned, .. } = self.barriers[index].method;
        (!relaxed && !aligned).then_some(index)
    }

    /// The fences, if each device function that is called has these effects. rustc finds them with those that it has.
    pub(crate) fn chosen(&self, called: MemoryEffects) -> Vec<ChosenFence> {
        let causes = |effects: &Effects| -> Vec<Cause> {
            let known = effects.iter().map(|(effect, at)| match effect {
                EffectOf::Own(what, bits) => {
                    Cause { effects: MemoryEffects::from_bits_truncate(bits), line: at.line(), what }
                }
                EffectOf::Call(_) => Cause { effects: called, line: at.line(), what: "calls a function" },
            });
            known.collect()
        };
        let barriers = self.barriers.iter().map(|Barrier { at, method, needs }| {
            let waits = method.operation == BarrierOperation::Wait;
            let after = causes(&needs.after).iter().fold(MemoryEffects::empty(), |all, cause| all | cause.effects);
            let needs = (&causes(&needs.before)[..], &causes(&needs.between)[..], after);
            ChosenFence::inferred(position(*at), method.name, waits, needs)
        });
        barriers.collect()
    }

    /// The device function that is called at this slot.
    pub(crate) fn callee(&self, slot: SlotId) -> Option<&'f FunctionPath> {
        self.callees.get(&slot).copied()
    }
}

/// A place in the source: its line and column.
type Position = (u32, u32);

/// The barriers by place.
type Barriers = BTreeMap<Position, Barrier>;

fn position(at: SpanRange) -> Position {
    (at.line(), at.column())
}

pub(super) fn infer<'f>(function: &'f Function, cfg: &Cfg<'f>, tokens: &Tokens<'f>) -> Fences<'f> {
    let Operations { mut barriers, sites, inline_cuda, has_narrow_atomics } = Operations::of(function);
    let step_effects = StepEffects::of(cfg);
    let mut effects = step_effects.all();
    if let Some(at) = inline_cuda {
        effects.add(EffectOf::own("runs inline CUDA", MemoryEffects::all()), at);
    }
    if !barriers.is_empty() {
        let places: BTreeSet<Position> = barriers.keys().copied().collect();
        let mut reached = pending::needs(cfg, &step_effects, &places);
        for (place, barrier) in &mut barriers {
            match reached.remove(place) {
                Some(needs) => barrier.needs = needs,
                None => barrier.needs.must_be_full("is not understood", barrier.at),
            }
            if has_narrow_atomics && !barrier.needs.is_whole {
                barrier.needs.must_be_full("is in a kernel with atomics of a narrow scope", barrier.at);
            }
            if let Some((what, at)) = always_full(function, inline_cuda, barrier) {
                barrier.needs.must_be_full(what, at);
            }
        }
        pairs::share_with_waits(cfg, tokens, &mut barriers);
        // The user says that these order nothing.
        for barrier in barriers.values_mut().filter(|barrier| barrier.method.relaxed) {
            barrier.needs = Needs::default();
        }
    }
    let indexes: BTreeMap<Position, usize> =
        barriers.keys().enumerate().map(|(index, place)| (*place, index)).collect();
    let indexes = sites.into_iter().filter_map(|(site, place)| Some((site, *indexes.get(&place)?))).collect();
    let callees = cfg.calls.iter().filter_map(|call| Some((call.slot, call.function()?))).collect();
    Fences { barriers: barriers.into_values().collect(), effects, indexes, callees }
}

/// Why a barrier is full whatever the kernel accesses.
fn always_full(
    function: &Function,
    inline_cuda: Option<SpanRange>,
    barrier: &Barrier,
) -> Option<(&'static str, SpanRange)> {
    let at = barrier.at;
    if let Some(at) = inline_cuda {
        return Some(("runs inline CUDA", at));
    }
    match function.role {
        // What its callers do before and after it is unknown.
        Role::Device | Role::Method => Some(("is in a device function", at)),
        Role::Kernel if function.options.full_fences => Some(("is in a kernel with `fence = \"full\"`", at)),
        // Threads may then be at different barriers, or access memory in ways that the checks exclude.
        Role::Kernel if function.waivers().next().is_some() => Some(("is in a kernel with an `unchecked` rule", at)),
        Role::Kernel => barrier.method.aligned.then_some(("names an aligned barrier", at)),
    }
}

/// What the source has of barriers, and of what the graph does not show.
#[derive(Default)]
struct Operations {
    barriers: Barriers,
    sites: Vec<(SiteId, Position)>,
    inline_cuda: Option<SpanRange>,
    /// Whether there are atomics that are none for a peer, which the graph shows as plain accesses.
    has_narrow_atomics: bool,
}

impl Operations {
    fn of(function: &Function) -> Operations {
        let mut found = Operations::default();
        walk_block(&function.body, &mut |expr| {
            if let ExprKind::Cuda(_) = &expr.kind {
                found.inline_cuda.get_or_insert(expr.span);
            }
            let ExprKind::Op { op, site, .. } = &expr.kind else { return };
            if let Op::Atomic(atomic) = op {
                found.has_narrow_atomics |= atomic.scope.is_some_and(|scope| !scope.includes_cluster());
            }
            if let Op::Sync(Group::Cluster, method)
            | Op::Arrive(Group::Cluster, method)
            | Op::Wait(Group::Cluster, method) = op
            {
                let place = position(expr.span);
                found.sites.extend(site.map(|site| (site, place)));
                let new = || Barrier { at: expr.span, method, needs: Needs::default() };
                found.barriers.entry(place).or_insert_with(new);
            }
        });
        found
    }
}
