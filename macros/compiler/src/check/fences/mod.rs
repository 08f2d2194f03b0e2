//! The cheapest correct fence of each arrival that other blocks wait for, at the cluster's barrier or at a peer's phase barrier: what
//! may have been done to memory before it that it must publish, and what any thread may do later. `phalanx_contract::fence` chooses,
//! once the runtime has added the effects of the functions that are called, and of the callers.
//!
//! Why this is right is in docs/analyses.md. In short, at the cluster's barrier: each thread's own arrival covers each of its own
//! accesses since its last one, every thread of the cluster arrives, and every wait is an unrestricted acquire. `remote` has the
//! arrivals at peers.
//!
//! Not inferred: the fences of a function with inline CUDA, those of a kernel with an `unchecked` rule, and of arrivals at peers in a device
//! function, all of which are full; and those of grids. An arrival at a phase barrier of the own block needs no fence of the cluster.

mod effects;
mod later;
mod pairs;
mod pending;
mod remote;

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::fence::{Cause, ChosenFence, MemoryEffects};

pub(crate) use effects::{EffectOf, Effects};

use super::cfg::Cfg;
use super::tokens::Tokens;
use crate::model::atomic::MemoryOrder;
use crate::model::barrier::BarrierForm;
use crate::model::expr::{Callee, ExprKind};
use crate::model::group::Group;
use crate::model::group_barrier::{BarrierMethod, BarrierOperation};
use crate::model::op::Op;
use crate::model::ty::ParamType;
use crate::model::walk::walk_block;
use crate::model::{Function, Role, SiteId, SlotId};
use crate::span::SpanRange;
use effects::StepEffects;
use pending::Reached;

/// The fences of a function's arrivals that other blocks wait for, before the effects of its callees and callers are known.
#[derive(Debug)]
pub(crate) struct Fences<'f> {
    /// The barriers, in the order of their places in the source.
    pub(crate) barriers: Vec<Barrier>,
    /// The needs of the calls of functions that may have barriers.
    pub(crate) calls: Vec<CallNeeds>,
    /// Everything that the function does to memory itself, and its calls.
    pub(crate) effects: Effects,
    /// The effects that no arrival of the function has ordered where it ends.
    pub(crate) left: Effects,
    /// Whether all fences of a program are full whose kernel it is.
    pub(crate) keeps_full: bool,
    /// For each operation in the source, its barrier's index. Operations that a macro gave the same place share one.
    indexes: BTreeMap<SiteId, usize>,
    /// The functions that are called, by slot.
    callees: BTreeMap<SlotId, &'f Callee>,
}

/// The effects before and after a call, on which the fences of the called function's barriers depend.
#[derive(Debug)]
pub(crate) struct CallNeeds {
    pub(crate) slot: SlotId,
    /// The effects since the last arrival.
    pub(crate) before: Effects,
    /// The effects after it.
    pub(crate) after: Effects,
    /// Whether there may have been no arrival since the function began.
    pub(crate) follows_entry: bool,
}

/// An operation at a barrier for which threads of several blocks wait, its place and what its fence depends on.
#[derive(Debug)]
pub(crate) struct Barrier {
    pub(crate) at: SpanRange,
    pub(crate) operation: Operation,
    pub(crate) needs: Needs,
}

/// An operation at a barrier for which threads of several blocks wait, as the source names it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Operation {
    /// A method of the cluster.
    Cluster(&'static BarrierMethod),
    /// A method of a peer's phase barrier, by which a thread arrives.
    Peer(&'static str),
}

impl Operation {
    /// The name of the method.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Operation::Cluster(method) => method.name,
            Operation::Peer(name) => name,
        }
    }

    /// Whether it is a wait alone.
    pub(crate) fn waits(self) -> bool {
        match self {
            Operation::Cluster(method) => method.operation == BarrierOperation::Wait,
            Operation::Peer(_) => false,
        }
    }

    /// Whether the user says that it orders nothing.
    fn is_relaxed(self) -> bool {
        matches!(self, Operation::Cluster(BarrierMethod { relaxed: true, .. }))
    }

    /// Whether its fence is chosen.
    fn has_choice(self) -> bool {
        !self.is_relaxed() && !self.is_aligned()
    }

    /// Whether the method is that of one instruction, whose fence is not chosen.
    fn is_aligned(self) -> bool {
        matches!(self, Operation::Cluster(BarrierMethod { aligned: true, .. }))
    }
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
    /// Whether there may have been no arrival since the function began.
    pub(crate) follows_entry: bool,
}

impl Needs {
    fn join(&mut self, other: &Needs) {
        self.before.join(&other.before);
        self.between.join(&other.between);
        self.after.join(&other.after);
        self.follows_entry |= other.follows_entry;
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
        self.barriers[index].operation.has_choice().then_some(index)
    }

    /// Whether the arrival waits for what the thread has read of its peers since the last one, if nothing else makes its fence full.
    pub(crate) fn waits_for_reads(&self, index: usize) -> bool {
        let Barrier { operation, needs, .. } = &self.barriers[index];
        let own = needs.before.iter().fold(MemoryEffects::empty(), |all, (effect, _)| match effect {
            EffectOf::Own(_, bits) => all | MemoryEffects::from_bits_truncate(bits),
            EffectOf::Call(_) => all,
        });
        !operation.waits() && own.contains(MemoryEffects::PEER_READ) && !own.contains(MemoryEffects::OTHER)
    }

    /// Whether any arrival does.
    pub(crate) fn any_waits_for_reads(&self) -> bool {
        (0..self.barriers.len()).any(|index| self.barriers[index].operation.has_choice() && self.waits_for_reads(index))
    }

    /// The fences, if each function that is called has these effects, and no caller has any.
    pub(crate) fn chosen(&self, called: MemoryEffects) -> Vec<ChosenFence> {
        let causes = |effects: &Effects| -> Vec<Cause> {
            let known = effects.iter().map(|(effect, at)| match effect {
                EffectOf::Own(what, bits) => {
                    Cause { effects: MemoryEffects::from_bits_truncate(bits), call: None, line: at.line(), what }
                }
                EffectOf::Call(_) => Cause { effects: called, call: None, line: at.line(), what: "calls a function" },
            });
            known.collect()
        };
        let barriers = self.barriers.iter().map(|Barrier { at, operation, needs }| {
            let after = causes(&needs.after).iter().fold(MemoryEffects::empty(), |all, cause| all | cause.effects);
            let needs = (&causes(&needs.before)[..], &causes(&needs.between)[..], after);
            ChosenFence::inferred(position(*at), operation.name(), operation.waits(), needs)
        });
        barriers.collect()
    }

    /// The slots of the calls, in ascending order.
    pub(crate) fn called(&self) -> impl Iterator<Item = SlotId> {
        self.callees.keys().copied()
    }

    /// The name of the function that is called at this slot.
    pub(crate) fn callee(&self, slot: SlotId) -> String {
        self.callees.get(&slot).map(|callee| callee.name().to_string()).unwrap_or_default()
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
    let Operations { mut barriers, sites, inline_cuda, has_narrow_atomics, has_orders } = Operations::of(function);
    let step_effects = StepEffects::of(cfg);
    let places: BTreeSet<Position> = barriers.keys().copied().collect();
    let Reached { barriers: mut reached, calls, left } = pending::needs(cfg, &step_effects, &places);
    let [mut effects, mut left] = [step_effects.all(), step_effects.named(&left)].map(Effects::without_closures);
    if let Some(at) = inline_cuda {
        let unknown = EffectOf::own("runs inline CUDA", MemoryEffects::all());
        effects.add(unknown, at);
        left.add(unknown, at);
    }
    if has_orders && function.role != Role::Kernel {
        let told = EffectOf::own("orders accesses of others", MemoryEffects::OTHER);
        effects.add(told, SpanRange::of(&function.name));
        left.add(told, SpanRange::of(&function.name));
    }
    if !barriers.is_empty() {
        if barriers.values().any(|barrier| matches!(barrier.operation, Operation::Peer(_))) {
            reached.extend(needs_of_peers(cfg, &barriers, has_orders));
        }
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
        for barrier in barriers.values_mut().filter(|barrier| barrier.operation.is_relaxed()) {
            barrier.needs = Needs::default();
        }
    }
    let indexes: BTreeMap<Position, usize> =
        barriers.keys().enumerate().map(|(index, place)| (*place, index)).collect();
    let indexes = sites.into_iter().filter_map(|(site, place)| Some((site, *indexes.get(&place)?))).collect();
    let callees = cfg.calls.iter().map(|call| (call.slot, call.callee)).collect();
    let keeps_full = keeps_full(function, inline_cuda).is_some();
    Fences { barriers: barriers.into_values().collect(), calls, effects, left, keeps_full, indexes, callees }
}

/// The needs of the arrivals at peers' phase barriers that control reaches.
fn needs_of_peers(cfg: &Cfg<'_>, barriers: &Barriers, has_orders: bool) -> BTreeMap<Position, Needs> {
    let effects = StepEffects::before_peers(cfg);
    // Where threads tell each other something in ways that are not followed, each of them may know of all effects.
    let everything_is_told = has_orders || remote::has_unknown_barriers(cfg);
    let needs = remote::needs(cfg, &effects).into_iter().map(|(place, known)| {
        let mut before = if everything_is_told { effects.all() } else { known };
        // The barrier lies in shared memory: that it has been initialized is the least that an arrival tells.
        if let Some(barrier) = barriers.get(&place) {
            before.add(EffectOf::own("arrives at a peer's barrier", MemoryEffects::SHARED), barrier.at);
        }
        (place, Needs { before, after: effects.all(), ..Needs::default() })
    });
    needs.collect()
}

/// Why a barrier is full whatever the kernel accesses.
fn always_full(
    function: &Function,
    inline_cuda: Option<SpanRange>,
    barrier: &Barrier,
) -> Option<(&'static str, SpanRange)> {
    let at = barrier.at;
    match (barrier.operation, function.role) {
        // What its callers know of is unknown.
        (Operation::Peer(_), Role::Device | Role::Method) => Some(("is in a device function", at)),
        // The memory of a slice or a reference may be that of a block, and what the function does to it is no access to shared memory here.
        (_, Role::Device | Role::Method) if function.params.iter().any(|param| hides_memory(&param.ty)) => {
            Some(("is in a function that is given a slice or a reference", at))
        }
        _ if barrier.operation.is_aligned() => Some(("names an aligned barrier", at)),
        (Operation::Peer(_) | Operation::Cluster(_), _) => {
            keeps_full(function, inline_cuda).map(|(what, of)| (what, of.unwrap_or(at)))
        }
    }
}

/// Whether a parameter may be any memory.
fn hides_memory(ty: &ParamType) -> bool {
    match ty {
        ParamType::Reference { .. } | ParamType::Slice { .. } | ParamType::OptionalSlice { .. } => true,
        ParamType::Value(_)
        | ParamType::Group(_)
        | ParamType::Tile { .. }
        | ParamType::Memory { .. }
        | ParamType::TensorMap { .. }
        | ParamType::Barrier { .. }
        | ParamType::Closure { .. } => false,
    }
}

/// Why all barriers of a function are full, and those in the functions that a kernel calls.
fn keeps_full(function: &Function, inline_cuda: Option<SpanRange>) -> Option<(&'static str, Option<SpanRange>)> {
    if let Some(at) = inline_cuda {
        return Some(("runs inline CUDA", Some(at)));
    }
    if function.options.full_fences {
        return Some(("is in a kernel with `fence = \"full\"`", None));
    }
    // Threads may then be at different barriers, or access memory in ways that the checks exclude.
    let why = match function.role {
        Role::Kernel => "is in a kernel with an `unchecked` rule",
        Role::Device | Role::Method => "is in a function with an `unchecked` rule",
    };
    function.waivers().next().is_some().then_some((why, None))
}

/// What the source has of barriers, and of what the graph does not show.
#[derive(Default)]
struct Operations {
    barriers: Barriers,
    sites: Vec<(SiteId, Position)>,
    inline_cuda: Option<SpanRange>,
    /// Whether there are atomics that are none for a peer, which the graph shows as plain accesses.
    has_narrow_atomics: bool,
    /// Whether there are fences, or atomics that order other accesses, by which threads may tell each other anything.
    has_orders: bool,
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
                found.has_orders |= atomic.orders.iter().flatten().any(|order| *order != MemoryOrder::Relaxed);
            }
            found.has_orders |= matches!(op, Op::Fence(..));
            let mut add = |operation| {
                let place = position(expr.span);
                found.sites.extend(site.map(|site| (site, place)));
                let new = || Barrier { at: expr.span, operation, needs: Needs::default() };
                found.barriers.entry(place).or_insert_with(new);
            };
            // A peer's barrier has no methods but arrivals.
            if let Op::Barrier(barrier, method) = op
                && barrier.form == BarrierForm::Remote
            {
                add(Operation::Peer(method.name));
            }
            if let Op::Sync(Group::Cluster, method)
            | Op::Arrive(Group::Cluster, method)
            | Op::Wait(Group::Cluster, method) = op
            {
                add(Operation::Cluster(method));
            }
        });
        found
    }
}
