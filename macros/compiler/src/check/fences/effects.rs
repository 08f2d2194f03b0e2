//! The effects of a step on memory, as far as a cluster barrier must order them.
//!
//! A call of a device function has the effects of its summary, which rustc knows. A method has no summary that its caller can
//! name, and the effects of inline CUDA are unknown: both are taken for everything.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeMap;

use phalanx_contract::fence::MemoryEffects;

use crate::check::cfg::{Access, AccessId, AccessKind, CallId, Cfg, GroupStep, MemoryStep, Root, Step, StepKind};
use crate::model::SlotId;
use crate::model::group::Group;
use crate::span::SpanRange;

/// Something that a barrier may have to order, identified by what a report says of it. Of several, a set keeps the first in the
/// source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EffectOf {
    /// What the function does itself: the words that complete a report, and the bits of its effects.
    Own(&'static str, u8),
    /// The effects of the device function that is called at this slot.
    Call(SlotId),
}

/// A set of effects, each with its place in the source.
#[derive(Debug, Clone, Default)]
pub(crate) struct Effects(BTreeMap<EffectOf, SpanRange>);

impl EffectOf {
    pub(super) const fn own(what: &'static str, effects: MemoryEffects) -> EffectOf {
        EffectOf::Own(what, effects.bits())
    }
}

impl Effects {
    /// Adds an effect, and returns whether that changed the set.
    pub(super) fn add(&mut self, effect: EffectOf, at: SpanRange) -> bool {
        let position = |at: SpanRange| (at.line(), at.column());
        let known = self.0.get(&effect).copied();
        let is_first = known.is_none_or(|known| position(at) < position(known));
        if is_first {
            self.0.insert(effect, at);
        }
        is_first
    }

    pub(super) fn join(&mut self, other: &Effects) -> bool {
        other.0.iter().fold(false, |changed, (effect, at)| self.add(*effect, *at) || changed)
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (EffectOf, SpanRange)> {
        self.0.iter().map(|(effect, at)| (*effect, *at))
    }

    /// Adds the effects of a step, and returns whether that changed the set.
    pub(super) fn add_step(&mut self, cfg: &Cfg<'_>, step: &Step) -> bool {
        let own = |what, effects| Some(EffectOf::own(what, effects));
        let effect = match &step.kind {
            StepKind::Memory(MemoryStep::Access(AccessId(access))) => of_access(&cfg.accesses[*access]),
            StepKind::BarrierCall(_) => own("uses a phase barrier", MemoryEffects::OTHER),
            StepKind::Copy(_) => own("copies asynchronously", MemoryEffects::OTHER),
            StepKind::Call(CallId(call)) => match cfg.calls[*call].function() {
                Some(_) => Some(EffectOf::Call(cfg.calls[*call].slot)),
                None => own("calls a method", MemoryEffects::all()),
            },
            // A fence orders what precedes it only where an atomic or an arrival follows: that the arrival orders it too costs
            // time alone.
            StepKind::Memory(MemoryStep::Fence) | StepKind::Value(_) | StepKind::Token(_) => None,
            StepKind::Group(group) => match group {
                // What an elected thread learns of other clusters, the others learn by its next arrival.
                GroupStep::WaitElected { group: Group::Cluster | Group::Grid, .. } => {
                    own("waits where others forget", MemoryEffects::OTHER)
                }
                GroupStep::WaitElected { .. }
                | GroupStep::Collective { .. }
                | GroupStep::Convergent { .. }
                | GroupStep::Aligned { .. }
                | GroupStep::FormGroup(_)
                | GroupStep::Arrive { .. }
                | GroupStep::ArriveForgotten { .. }
                | GroupStep::Wait { .. } => None,
            },
        };
        effect.is_some_and(|effect| self.add(effect, step.at))
    }
}

/// The effect of an access. Memory that is only read by the whole launch needs no order.
fn of_access(access: &Access) -> Option<EffectOf> {
    let changes = match access.kind {
        AccessKind::Read | AccessKind::AtomicRead => false,
        AccessKind::Write | AccessKind::Atomic | AccessKind::AsyncWrite | AccessKind::Lent => true,
        AccessKind::Opaque => return Some(EffectOf::own("hands memory to unknown code", MemoryEffects::all())),
        AccessKind::ByClosure => return Some(EffectOf::own("calls a closure", MemoryEffects::all())),
    };
    let is_constant = access.region.root == Root::ReadOnly && (!changes || access.kind == AccessKind::Lent);
    (!is_constant).then(|| match (access.region.root, changes) {
        // An atomic load may learn of the writes of another cluster, which any later access may conflict with.
        (Root::Global, false) if access.kind == AccessKind::AtomicRead => {
            EffectOf::own("reads global memory atomically", MemoryEffects::GLOBAL_WRITE)
        }
        (Root::ReadOnly | Root::Global, true) => EffectOf::own("writes global memory", MemoryEffects::GLOBAL_WRITE),
        (Root::ReadOnly | Root::Global, false) => EffectOf::own("reads global memory", MemoryEffects::GLOBAL_READ),
        (Root::Shared(_), _) => EffectOf::own("accesses shared memory", MemoryEffects::SHARED),
        (Root::Remote(_), true) => EffectOf::own("writes to a peer's shared memory", MemoryEffects::OTHER),
        (Root::Remote(_), false) => EffectOf::own("reads a peer's shared memory", MemoryEffects::OTHER),
    })
}
