//! `copy_in_flight`: a thread does not touch what an asynchronous copy reads or writes until a wait has shown that the copy
//! is complete, and the kernel does not end before.
//!
//! A copy is in flight on the paths from its beginning to a wait of its kind: at any phase barrier (another thread may have
//! waited for the copy before it arrived there), of its group, or of the thread's bulk copies. If another path has such a
//! wait, the thread may have synchronized with that path's thread: nothing is reported, and a barrier of a group completes
//! the copy. Only certain overlap is reported: all of what is copied, or the same literal element. The simulator finds the
//! rest.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeSet;

use super::cfg::{
    Access, AccessId, AccessKind, BlockId, Cfg, CopyId, CopyStep, GroupStep, MemoryStep, Region, Root, Select, Shared,
    Step, StepKind,
};
use super::engine::{self, Analysis, Join};
use crate::diag::{Diag, Diags};
use crate::messages;
use crate::model::copy::CompletionMechanism;
use crate::model::{Function, Role};

/// `copy_in_flight`: what a copy reads and writes is left alone until a wait has shown its completion.
///
/// ```text
/// bulk_copy_async(&tile, slice, &full);
/// let x = tile[0];                        // the copy may not be complete
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
            found.extend(flights.left_at_end(&state));
        }
    }
    let mut reported = BTreeSet::new();
    found.retain(|diag| reported.insert((diag.at.line(), diag.at.column())));
    found.into_iter().for_each(|diag| diags.push(diag));
}

#[derive(Clone, Default)]
struct State {
    in_flight: BTreeSet<CopyId>,
    /// The completion mechanisms for which some thread has waited, on some path since the last such copy began.
    waited: BTreeSet<CompletionMechanism>,
}

impl Join for State {
    // bottom = no copy in flight, no wait; join = union of both
    fn join(&mut self, other: &Self) -> bool {
        let before = (self.in_flight.len(), self.waited.len());
        self.in_flight.extend(&other.in_flight);
        self.waited.extend(&other.waited);
        before != (self.in_flight.len(), self.waited.len())
    }
}

impl State {
    /// The copies whose completion no thread can have observed.
    fn surely_in_flight(&self, flights: &Flights<'_, '_>) -> impl Iterator<Item = CopyId> {
        self.in_flight.iter().copied().filter(|copy| !self.waited.contains(&flights.completion_of(*copy)))
    }
}

struct Flights<'a, 'f> {
    cfg: &'a Cfg<'f>,
}

impl Flights<'_, '_> {
    fn completion_of(&self, copy: CopyId) -> CompletionMechanism {
        match self.cfg.copies[copy.0] {
            CopyStep::Begin { completion, .. } | CopyStep::Wait { completion, .. } => completion,
        }
    }

    fn wait(&self, state: &mut State, completion: CompletionMechanism) {
        state.waited.insert(completion);
        state.in_flight.retain(|copy| self.completion_of(*copy) != completion);
    }

    fn fault(&self, function: &Function, state: &State, id: AccessId) -> Option<Diag> {
        let Access { region, kind, at, .. } = &self.cfg.accesses[id.0];
        let writes = match kind {
            AccessKind::Read | AccessKind::AtomicRead => false,
            AccessKind::Write | AccessKind::Atomic => true,
            // A device function may wait itself, and inline CUDA is unknown.
            AccessKind::Lent | AccessKind::Opaque | AccessKind::ByClosure | AccessKind::AsyncWrite => return None,
        };
        state.surely_in_flight(self).find_map(|copy| {
            let CopyStep::Begin { reads, writes: written, completion, at: begun } = &self.cfg.copies[copy.0] else {
                return None;
            };
            let meets = |end: &Option<Region>| end.as_ref().is_some_and(|end| self.overlap(end, region));
            let name = match region.root {
                Root::Shared(shared) => self.cfg.names.get(&shared).map(|local| &function.local(*local).name)?,
                Root::ReadOnly | Root::Global | Root::Remote(_) => return None,
            };
            let to = meets(written);
            (to || writes && meets(reads))
                .then(|| messages::copy_in_flight(*at, *begun, &name.to_string(), writes, to, *completion))
        })
    }

    /// Reports copies that only their own thread can wait for, and that it has not waited for.
    fn left_at_end(&self, state: &State) -> Vec<Diag> {
        let left = state.surely_in_flight(self).filter_map(|copy| match &self.cfg.copies[copy.0] {
            CopyStep::Begin {
                completion: completion @ (CompletionMechanism::Group | CompletionMechanism::BulkGroup),
                at,
                ..
            } => Some(messages::copy_left(*at, *completion)),
            CopyStep::Begin { completion: CompletionMechanism::Barrier, .. } | CopyStep::Wait { .. } => None,
        });
        left.collect()
    }

    /// Whether both regions certainly have memory in common.
    fn overlap(&self, copied: &Region, touched: &Region) -> bool {
        let known = |shared: Shared| shared != Shared::Any;
        let same = matches!((copied.root, touched.root), (Root::Shared(a), Root::Shared(b)) if a == b && known(a));
        let literal = |select: &Select| match select {
            Select::At(node) => self.cfg.nodes[node.0].source.integer(),
            Select::Chunk { .. } | Select::Range { .. } | Select::Half { .. } | Select::Unknown => None,
        };
        let equal = |a: &Select, b: &Select| literal(a).is_some() && literal(a) == literal(b);
        // Where one path is a prefix of the other, the longer one is a part of it.
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
                CopyStep::Begin { completion, .. } => {
                    state.in_flight.insert(*id);
                    state.waited.remove(&completion);
                }
                CopyStep::Wait { completion, .. } => self.wait(state, completion),
            },
            StepKind::BarrierCall(id) => {
                if self.cfg.barrier_calls[id.0].method.action.observation().is_some() {
                    self.wait(state, CompletionMechanism::Barrier);
                }
            }
            // Another thread may have waited for these copies before it reached the barrier.
            StepKind::Group(
                GroupStep::Collective { barrier: true, .. } | GroupStep::Wait { .. } | GroupStep::WaitElected { .. },
            ) => {
                state.in_flight.retain(|copy| !state.waited.contains(&self.completion_of(*copy)));
            }
            // The callee may wait.
            StepKind::Call(_) => {
                [CompletionMechanism::Barrier, CompletionMechanism::Group, CompletionMechanism::BulkGroup]
                    .into_iter()
                    .for_each(|completion| self.wait(state, completion))
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
