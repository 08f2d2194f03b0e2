//! `copy_in_flight`: what an asynchronous copy reads and writes is left alone until a wait has shown its end, and the kernel does
//! not end before.
//!
//! A copy is under way on the ways from its beginning to a wait of its kind: at a phase barrier (whichever: who comes there may
//! tell), of its group, of the thread's bulk copies. Where another way has such a wait, it may be that of the thread: nothing
//! is said, and a barrier of a group ends it. Only what is certain to overlap is reported: the whole of what is copied, or the same literal element. The rest is the
//! simulator's.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeSet;

use super::cfg::{
    Access, AccessId, AccessKind, BlockId, Cfg, CopyId, CopyStep, GroupStep, MemoryStep, Region, Root, Select, Shared,
    Step, StepKind,
};
use super::engine::{self, Analysis, Join};
use crate::diag::{Diag, Diags};
use crate::messages;
use crate::model::barrier::PhaseAction;
use crate::model::copy::CompletionMechanism;
use crate::model::{Function, Role};

/// ```text
/// bulk_copy_async(&tile, slice, &full);
/// let x = tile[0];                        // the bytes may not have come
/// full.wait_parity(false);
/// ```
pub(super) fn check(function: &Function, cfg: &Cfg<'_>, diags: &mut Diags) {
    if !cfg.copies.iter().any(|copy| matches!(copy, CopyStep::Begin { .. })) {
        return;
    }
    let flights = Flights { cfg };
    let states = engine::solve(&flights, cfg);
    let mut found: Vec<Diag> = Vec::new();
    engine::visit(&flights, cfg, &states, |state, step| {
        if let StepKind::Memory(MemoryStep::Access(id)) = step.kind {
            found.extend(flights.fault(function, state, id));
        }
    });
    if function.role == Role::Kernel {
        for (_, state) in engine::leaves(&flights, cfg, &states) {
            found.extend(flights.left(&state));
        }
    }
    let mut told = BTreeSet::new();
    found.retain(|diag| told.insert((diag.at.line(), diag.at.column())));
    found.into_iter().for_each(|diag| diags.push(diag));
}

#[derive(Clone, Default)]
struct State {
    flying: BTreeSet<CopyId>,
    /// On some way, some thread has waited for a copy of these kinds since the last began.
    waited: BTreeSet<CompletionMechanism>,
}

impl Join for State {
    // bottom = nothing under way, nobody has waited; join = what may be
    fn join(&mut self, other: &Self) -> bool {
        let before = (self.flying.len(), self.waited.len());
        self.flying.extend(&other.flying);
        self.waited.extend(&other.waited);
        before != (self.flying.len(), self.waited.len())
    }
}

impl State {
    /// The copies of which nobody can have seen the end.
    fn under_way(&self, flights: &Flights<'_, '_>) -> impl Iterator<Item = CopyId> {
        self.flying.iter().copied().filter(|copy| !self.waited.contains(&flights.told(*copy)))
    }
}

struct Flights<'a, 'f> {
    cfg: &'a Cfg<'f>,
}

impl Flights<'_, '_> {
    fn told(&self, copy: CopyId) -> CompletionMechanism {
        match self.cfg.copies[copy.0] {
            CopyStep::Begin { told, .. } | CopyStep::Wait(told) => told,
        }
    }

    fn wait(&self, state: &mut State, told: CompletionMechanism) {
        state.waited.insert(told);
        state.flying.retain(|copy| self.told(*copy) != told);
    }

    fn fault(&self, function: &Function, state: &State, id: AccessId) -> Option<Diag> {
        let Access { region, kind, at } = &self.cfg.accesses[id.0];
        let writes = match kind {
            AccessKind::Read | AccessKind::AtomicRead => false,
            AccessKind::Write | AccessKind::Atomic => true,
            // By a function that may wait itself, and by text.
            AccessKind::Lent | AccessKind::ByHand | AccessKind::Sent => return None,
        };
        state.under_way(self).find_map(|copy| {
            let CopyStep::Begin { reads, writes: written, told, at: begun } = &self.cfg.copies[copy.0] else {
                return None;
            };
            let meets = |end: &Option<Region>| end.as_ref().is_some_and(|end| self.overlap(end, region));
            let name = match region.root {
                Root::Shared(shared) => self.cfg.names.get(&shared).map(|local| &function.local(*local).name)?,
                Root::ReadOnly | Root::Global | Root::Remote(_) => return None,
            };
            let to = meets(written);
            (to || writes && meets(reads))
                .then(|| messages::copy_in_flight(*at, *begun, &name.to_string(), writes, to, *told))
        })
    }

    /// Copies that nobody but their thread can wait for, and that it has not.
    fn left(&self, state: &State) -> Vec<Diag> {
        let left = state.under_way(self).filter_map(|copy| match &self.cfg.copies[copy.0] {
            CopyStep::Begin {
                told: told @ (CompletionMechanism::Group | CompletionMechanism::BulkGroup), at, ..
            } => Some(messages::copy_left(*at, *told)),
            CopyStep::Begin { told: CompletionMechanism::Barrier, .. } | CopyStep::Wait(_) => None,
        });
        left.collect()
    }

    /// Whether both have memory in common, for certain.
    fn overlap(&self, copied: &Region, touched: &Region) -> bool {
        let known = |shared: Shared| shared != Shared::Any;
        let same = matches!((copied.root, touched.root), (Root::Shared(a), Root::Shared(b)) if a == b && known(a));
        let literal = |select: &Select| match select {
            Select::At(node) => self.cfg.nodes[node.0].source.integer(),
            Select::Chunk { .. } | Select::Range { .. } | Select::Half { .. } | Select::Unknown => None,
        };
        let equal = |a: &Select, b: &Select| literal(a).is_some() && literal(a) == literal(b);
        // Of what one leaves open the other is a part.
        same && copied.path.iter().zip(&touched.path).all(|(a, b)| equal(a, b))
    }
}

impl Analysis for Flights<'_, '_> {
    type State = State;

    fn entry(&self) -> State {
        State::default()
    }

    fn transfer(&self, state: &mut State, step: &Step) {
        match &step.kind {
            StepKind::Copy(id) => match self.cfg.copies[id.0] {
                CopyStep::Begin { told, .. } => {
                    state.flying.insert(*id);
                    state.waited.remove(&told);
                }
                CopyStep::Wait(told) => self.wait(state, told),
            },
            StepKind::BarrierCall(id) => match self.cfg.barrier_calls[id.0].method.action {
                PhaseAction::Wait | PhaseAction::WaitParity | PhaseAction::ArriveAndWait | PhaseAction::TryWait => {
                    self.wait(state, CompletionMechanism::Barrier)
                }
                PhaseAction::Init
                | PhaseAction::InitCollective
                | PhaseAction::Arrive
                | PhaseAction::ArriveN
                | PhaseAction::ArriveAndDrop
                | PhaseAction::ExpectTx
                | PhaseAction::Copy
                | PhaseAction::Invalidate => {}
            },
            // What others have waited for by then.
            StepKind::Group(
                GroupStep::Collective { barrier: true, .. } | GroupStep::Wait { .. } | GroupStep::WaitElected { .. },
            ) => {
                state.flying.retain(|copy| !state.waited.contains(&self.told(*copy)));
            }
            // It may wait.
            StepKind::Call { .. } => {
                [CompletionMechanism::Barrier, CompletionMechanism::Group, CompletionMechanism::BulkGroup]
                    .into_iter()
                    .for_each(|told| self.wait(state, told))
            }
            StepKind::Group(GroupStep::Collective { barrier: false, .. })
            | StepKind::Memory(_)
            | StepKind::Group(
                GroupStep::Arrive { .. }
                | GroupStep::ArriveForgotten { .. }
                | GroupStep::FormGroup(_)
                | GroupStep::Convergent { .. }
                | GroupStep::Aligned { .. },
            )
            | StepKind::Value(_)
            | StepKind::Token(_) => {}
        }
    }

    fn edge(&self, _: &mut State, _: &Cfg<'_>, _: BlockId, _: BlockId) {}
}
