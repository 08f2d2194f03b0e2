//! The effects of a step on memory, as far as a cluster barrier must order them.
//!
//! A call has the effects of the function, which are known when the program is put together. Inline CUDA is taken for everything.

use std::collections::BTreeMap;
use std::ops::Range;

use phalanx_contract::fence::MemoryEffects;

use super::position;
use crate::check::bit_set::{BitSet, Index};
use crate::check::cfg::{
    Access, AccessId, AccessKind, BarrierCall, BarrierCallId, CallId, Cfg, CopyId, GroupStep, MemoryStep, Root, Shared,
    Step, StepKind,
};
use crate::model::SlotId;
use crate::model::group::Group;
use crate::span::SpanRange;

/// Something that a barrier may have to order, identified by what a report says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EffectOf {
    /// What the function does itself: the words that complete a report, and the bits of its effects.
    Own(&'static str, u8),
    /// The effects of the function that is called at this slot.
    Call(SlotId),
}

/// The effect of calling a closure that is a parameter.
const BY_CLOSURE: EffectOf = EffectOf::own("calls a closure", MemoryEffects::all());

/// Effects, each with its first place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Effects(BTreeMap<EffectOf, SpanRange>);

impl EffectOf {
    pub(super) const fn own(what: &'static str, effects: MemoryEffects) -> EffectOf {
        EffectOf::Own(what, effects.bits())
    }
}

impl Effects {
    /// Adds an effect at a place, unless it is known at an earlier one.
    pub(super) fn add(&mut self, effect: EffectOf, at: SpanRange) {
        let known = self.0.entry(effect).or_insert(at);
        if position(at) < position(*known) {
            *known = at;
        }
    }

    pub(super) fn join(&mut self, other: &Effects) {
        other.0.iter().for_each(|(effect, at)| self.add(*effect, *at));
    }

    /// Leaves out what closures do that are parameters: the caller, whose closures they are, counts that itself.
    pub(super) fn without_closures(mut self) -> Effects {
        self.0.remove(&BY_CLOSURE);
        self
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (EffectOf, SpanRange)> {
        self.0.iter().map(|(effect, at)| (*effect, *at))
    }
}

/// The number of an effect at a place. The numbers of one effect follow each other, in the order of its places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EffectId(usize);

/// A set of effects at places.
pub(super) type EffectSet = BitSet<EffectId>;

impl Index for EffectId {
    fn new(index: usize) -> Self {
        EffectId(index)
    }

    fn index(self) -> usize {
        self.0
    }
}

/// The effects of the steps of a graph, by number.
pub(super) struct StepEffects {
    /// The numbers of each effect.
    numbers: Vec<(EffectOf, Range<usize>)>,
    places: Vec<SpanRange>,
    /// The effect of each step, by what the step is about.
    of: Vec<Option<EffectId>>,
    tables: Tables,
}

/// The lengths of the tables of a graph, which together number what a step may be about.
struct Tables {
    accesses: usize,
    barrier_calls: usize,
    copies: usize,
    calls: usize,
}

impl Tables {
    /// Returns the number of what a step with an effect may be about.
    fn subject(&self, step: &StepKind) -> Option<usize> {
        let barrier_calls = self.accesses;
        let copies = barrier_calls + self.barrier_calls;
        let calls = copies + self.copies;
        match step {
            StepKind::Memory(MemoryStep::Access(AccessId(access))) => Some(*access),
            StepKind::BarrierCall(BarrierCallId(call)) => Some(barrier_calls + call),
            StepKind::Copy(CopyId(copy)) => Some(copies + copy),
            StepKind::Call(CallId(call)) => Some(calls + call),
            StepKind::Group(group) => waits_where_others_forget(group).then_some(calls + self.calls),
            // A fence orders what precedes it only where an atomic or an arrival follows: that the arrival orders it too costs
            // time alone.
            StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
            | StepKind::Value(_)
            | StepKind::Token(_) => None,
        }
    }
}

impl StepEffects {
    /// The effects as an arrival at the cluster's barrier must order them.
    pub(super) fn of(cfg: &Cfg<'_>) -> StepEffects {
        StepEffects::by(cfg, effect)
    }

    /// The effects as an arrival at a peer's phase barrier must order them.
    pub(super) fn before_peers(cfg: &Cfg<'_>) -> StepEffects {
        StepEffects::by(cfg, effect_before_peers)
    }

    fn by(cfg: &Cfg<'_>, effect: fn(&Cfg<'_>, &StepKind) -> Option<EffectOf>) -> StepEffects {
        let (accesses, barrier_calls) = (cfg.accesses.len(), cfg.barrier_calls.len());
        let tables = Tables { accesses, barrier_calls, copies: cfg.copies.len(), calls: cfg.calls.len() };
        let mut found: BTreeMap<EffectOf, Vec<(usize, SpanRange)>> = BTreeMap::new();
        for step in cfg.blocks.iter().flat_map(|block| &block.steps) {
            if let Some(subject) = tables.subject(&step.kind)
                && let Some(effect) = effect(cfg, &step.kind)
            {
                found.entry(effect).or_default().push((subject, step.at));
            }
        }
        let subjects = tables.accesses + tables.barrier_calls + tables.copies + tables.calls + 1;
        let mut effects = StepEffects { numbers: Vec::new(), places: Vec::new(), of: vec![None; subjects], tables };
        for (effect, places) in found {
            let first = effects.places.len();
            for (subject, at) in places {
                effects.of[subject].get_or_insert(EffectId(effects.places.len()));
                effects.places.push(at);
            }
            effects.numbers.push((effect, first..effects.places.len()));
        }
        effects
    }

    /// The effect of a step.
    pub(super) fn number(&self, step: &Step) -> Option<EffectId> {
        self.of[self.tables.subject(&step.kind)?]
    }

    pub(super) fn none(&self) -> EffectSet {
        BitSet::none(self.places.len())
    }

    /// The effects of all steps.
    pub(super) fn all(&self) -> Effects {
        self.named(&BitSet::all(self.places.len()))
    }

    /// The effects of a set, each at the first of its places there.
    pub(super) fn named(&self, set: &EffectSet) -> Effects {
        let first = |(effect, numbers): &(EffectOf, Range<usize>)| {
            let EffectId(number) = set.first_in(numbers.clone())?;
            Some((*effect, self.places[number]))
        };
        Effects(self.numbers.iter().filter_map(first).collect())
    }
}

/// The effect of a step.
fn effect(cfg: &Cfg<'_>, step: &StepKind) -> Option<EffectOf> {
    match step {
        StepKind::Memory(MemoryStep::Access(AccessId(access))) => {
            let access = &cfg.accesses[*access];
            let can_wait = access.kind == AccessKind::Read && access.reads_value;
            of_access(cfg, access, if can_wait { MemoryEffects::PEER_READ } else { MemoryEffects::OTHER })
        }
        StepKind::BarrierCall(_) => Some(EffectOf::own("uses a phase barrier", MemoryEffects::OTHER)),
        StepKind::Copy(_) => Some(EffectOf::own("copies asynchronously", MemoryEffects::OTHER)),
        StepKind::Call(CallId(call)) => Some(EffectOf::Call(cfg.calls[*call].slot)),
        // What an elected thread learns of other clusters, the others learn by its next arrival.
        StepKind::Group(_) => Some(EffectOf::own("waits where others forget", MemoryEffects::OTHER)),
        StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious) | StepKind::Value(_) | StepKind::Token(_) => {
            None
        }
    }
}

/// The effect of a step, as what arrives at a peer's phase barrier must order it. The phase barriers themselves and the ends of copies are
/// followed from thread to thread (`remote`). A copy to a peer ends at a barrier of that peer, with all that it wrote. What other threads have
/// read of a peer, the one that arrives cannot wait for.
fn effect_before_peers(cfg: &Cfg<'_>, step: &StepKind) -> Option<EffectOf> {
    match step {
        StepKind::Memory(MemoryStep::Access(AccessId(access))) => {
            let access = &cfg.accesses[*access];
            match (access.kind, access.region.root) {
                (AccessKind::AsyncWrite, Root::Remote(_)) => None,
                (AccessKind::Atomic, Root::Remote(shared)) if is_barrier(cfg, shared) => None,
                _ => of_access(cfg, access, MemoryEffects::OTHER),
            }
        }
        StepKind::BarrierCall(_) | StepKind::Copy(_) => None,
        // A fence in a method would tell the thread of what others did.
        StepKind::Call(CallId(call)) if cfg.calls[*call].function().is_none() => {
            Some(EffectOf::own("calls a method", MemoryEffects::all()))
        }
        StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
        | StepKind::Group(_)
        | StepKind::Call(_)
        | StepKind::Value(_)
        | StepKind::Token(_) => effect(cfg, step),
    }
}

/// Whether this object is a phase barrier, at which an arrival counts as an atomic access.
fn is_barrier(cfg: &Cfg<'_>, shared: Shared) -> bool {
    let of = |call: &BarrierCall| call.region.root.party().is_some_and(|(_, barrier)| barrier == shared);
    shared != Shared::Any && cfg.barrier_calls.iter().any(of)
}

/// Whether an elected thread waits for all threads of more than one block, of which others forget their tokens.
fn waits_where_others_forget(step: &GroupStep) -> bool {
    match step {
        GroupStep::WaitElected { group, .. } => matches!(group, Group::Cluster | Group::Grid),
        GroupStep::Collective { .. }
        | GroupStep::Convergent { .. }
        | GroupStep::Aligned { .. }
        | GroupStep::FormGroup(_)
        | GroupStep::Arrive { .. }
        | GroupStep::ArriveForgotten { .. }
        | GroupStep::Wait { .. } => false,
    }
}

/// The effect of an access; `peer_read` is that of a read of a peer's memory. Memory that is only read by the whole launch needs no order.
fn of_access(cfg: &Cfg<'_>, access: &Access, peer_read: MemoryEffects) -> Option<EffectOf> {
    let changes = match access.kind {
        AccessKind::Read | AccessKind::AtomicRead => false,
        AccessKind::Write | AccessKind::Atomic | AccessKind::AsyncWrite | AccessKind::Lent => true,
        // What a method does is known, as is that of a function, and what inline CUDA does counts for itself.
        AccessKind::Opaque => true,
        AccessKind::ByClosure => return Some(BY_CLOSURE),
    };
    let is_read_only =
        access.region.root == Root::ReadOnly || access.region.via.is_some_and(|name| cfg.read_only.contains(&name));
    let is_constant = is_read_only && (!changes || access.kind == AccessKind::Lent);
    (!is_constant).then(|| match (access.region.root, changes) {
        // An atomic load may learn of the writes of another cluster, which any later access may conflict with.
        (Root::Global, false) if access.kind == AccessKind::AtomicRead => {
            EffectOf::own("reads global memory atomically", MemoryEffects::GLOBAL_WRITE)
        }
        (Root::ReadOnly | Root::Global, true) => EffectOf::own("writes global memory", MemoryEffects::GLOBAL_WRITE),
        (Root::ReadOnly | Root::Global, false) => EffectOf::own("reads global memory", MemoryEffects::GLOBAL_READ),
        (Root::Shared(_), _) => EffectOf::own("accesses shared memory", MemoryEffects::SHARED),
        (Root::Remote(_), true) => EffectOf::own("writes to a peer's shared memory", MemoryEffects::OTHER),
        (Root::Remote(_), false) => EffectOf::own("reads a peer's shared memory", peer_read),
    })
}
