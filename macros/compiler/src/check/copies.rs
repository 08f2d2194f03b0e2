//! `copy_in_flight`: a thread does not touch what an asynchronous copy reads or writes until a wait has shown that the copy
//! is complete, and the kernel does not end before.
//!
//! A copy is in flight on the paths from its beginning to a wait for it (`completion`): at its phase barrier or at one where a
//! thread arrives that has waited there, of its group, or of the thread's bulk copies. If another path has such a wait, the
//! thread may have synchronized with that path's thread: nothing is reported, and a barrier of a group completes the copy.
//! Only certain overlap is reported: all of what is copied, or the same literal element. The simulator finds the rest.

use std::collections::BTreeSet;

use super::cfg::{
    Access, AccessId, AccessKind, BlockId, Cfg, Completion, CopyId, CopyStep, GroupStep, MemoryStep, Region, Root,
    Select, Shared, Step, StepKind,
};
use super::completion::{Completions, waits_of};
use super::engine::{self, Analysis, Join};
use crate::diag::{Diag, Diags};
use crate::messages;
use crate::model::{Function, Role, ValueId};

/// `copy_in_flight`: what a copy reads and writes is left alone until a wait has shown its completion.
///
/// ```text
/// bulk_copy_async(&tile, slice, &full);
/// let x = tile[0];                        // the copy may not be complete
/// full.wait_parity(false);
/// ```
pub(super) fn check(function: &Function, cfg: &Cfg<'_>, waits: &Completions, diags: &mut Diags) {
    if !cfg.copies.iter().any(|copy| matches!(copy, CopyStep::Begin { .. })) {
        return;
    }
    let flights = Flights { function, cfg, waits };
    let states = engine::solve(&flights, cfg);
    let mut found: Vec<Diag> = Vec::new();
    engine::visit(&flights, cfg, &states, |state, step| {
        if let StepKind::Memory(MemoryStep::Access(id)) = step.kind {
            found.extend(flights.fault(state, id));
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
    /// The copies of which none of the same completion has begun later.
    last: BTreeSet<CopyId>,
    /// The copies for which some thread has waited, on some path since they began.
    waited: BTreeSet<CopyId>,
}

impl Join for State {
    // bottom = no copy in flight, no wait; join = union of both
    fn join(&mut self, other: &Self) -> bool {
        let size = |state: &Self| (state.in_flight.len(), state.last.len(), state.waited.len());
        let before = size(self);
        self.in_flight.extend(&other.in_flight);
        self.last.extend(&other.last);
        self.waited.extend(&other.waited);
        before != size(self)
    }
}

struct Flights<'a, 'f> {
    function: &'a Function,
    cfg: &'a Cfg<'f>,
    waits: &'a Completions,
}

impl Flights<'_, '_> {
    fn completion_of(&self, copy: CopyId) -> Completion {
        self.cfg.copies[copy.0].completion()
    }

    /// The copies whose completion no thread can have observed.
    fn surely_in_flight(&self, state: &State) -> impl Iterator<Item = CopyId> {
        state.in_flight.difference(&state.waited).copied()
    }

    /// Whether the constant is known not to be 0.
    fn leaves_some(&self, but: Option<ValueId>) -> bool {
        but.is_some_and(|but| self.function.values[usize::from(but.0)].literal.is_some_and(|value| value > 0))
    }

    /// Some thread begins a copy: what was waited for before says nothing of it.
    fn begin(&self, state: &mut State, begun: CopyId) {
        state.last.retain(|copy| self.completion_of(*copy) != self.completion_of(begun));
        state.last.insert(begun);
        state.waited.remove(&begun);
    }

    /// A wait that shows the completion of these copies.
    fn wait(&self, state: &mut State, step: &Step, shown: impl Fn(CopyId) -> bool) {
        let shown_elsewhere = |copy: &CopyId| shown(*copy) && !self.waits.says_nothing(step, *copy);
        state.waited.extend((0..self.cfg.copies.len()).map(CopyId).filter(shown_elsewhere));
        state.in_flight.retain(|copy| !shown(*copy));
    }

    fn fault(&self, state: &State, id: AccessId) -> Option<Diag> {
        let Access { region, kind, at, .. } = &self.cfg.accesses[id.0];
        let writes = match kind {
            AccessKind::Read | AccessKind::AtomicRead => false,
            AccessKind::Write | AccessKind::Atomic => true,
            // A device function may wait itself, and inline CUDA is unknown.
            AccessKind::Lent | AccessKind::Opaque | AccessKind::ByClosure | AccessKind::AsyncWrite => return None,
        };
        self.surely_in_flight(state).find_map(|copy| {
            let CopyStep::Begin { reads, writes: written, completion, at: begun, .. } = &self.cfg.copies[copy.0] else {
                return None;
            };
            let meets = |end: &Option<Region>| end.as_ref().is_some_and(|end| self.overlap(end, region));
            let name = match region.root {
                Root::Shared(shared) => self.cfg.name_of(self.function, shared)?,
                Root::ReadOnly | Root::Global | Root::Remote(_) => return None,
            };
            let to = meets(written);
            (to || writes && meets(reads))
                .then(|| messages::copy_in_flight(*at, *begun, &name.to_string(), writes, to, completion.mechanism()))
        })
    }

    /// Reports copies that only their own thread can wait for, and that it has not waited for.
    fn left_at_end(&self, state: &State) -> Vec<Diag> {
        let left = self.surely_in_flight(state).filter_map(|copy| match &self.cfg.copies[copy.0] {
            CopyStep::Begin { completion: completion @ (Completion::Group | Completion::BulkGroup), at, .. } => {
                Some(messages::copy_left(*at, completion.mechanism()))
            }
            CopyStep::Begin { completion: Completion::Barrier(_), .. } | CopyStep::Wait { .. } => None,
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
                CopyStep::Begin { .. } => {
                    state.in_flight.insert(*id);
                    self.begin(state, *id);
                }
                CopyStep::Wait { completion, but } => {
                    let last = if self.leaves_some(but) { state.last.clone() } else { BTreeSet::new() };
                    self.wait(state, step, |copy| self.completion_of(copy) == completion && !last.contains(&copy));
                }
            },
            StepKind::BarrierCall(_) => {
                for barrier in waits_of(self.cfg, step) {
                    self.wait(state, step, |copy| self.waits.shows(barrier, self.completion_of(copy)));
                }
            }
            // Another thread may have waited for these copies before it reached the barrier.
            StepKind::Group(
                GroupStep::Collective { barrier: true, .. } | GroupStep::Wait { .. } | GroupStep::WaitElected { .. },
            ) => {
                let State { in_flight, waited, .. } = state;
                in_flight.retain(|copy| !waited.contains(copy));
            }
            // The callee may wait, for its barriers and for copies of the thread or the group.
            StepKind::Call(_) => {
                let barriers = waits_of(self.cfg, step);
                self.wait(state, step, |copy| match self.completion_of(copy) {
                    completion @ Completion::Barrier(_) => {
                        barriers.iter().any(|barrier| self.waits.shows(*barrier, completion))
                    }
                    Completion::Group | Completion::BulkGroup => true,
                });
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

    fn edge(&self, state: &mut State, _: &Cfg<'_>, from: BlockId, _: BlockId) {
        for copy in self.waits.begun_in_arms(from) {
            self.begin(state, copy);
        }
    }
}
