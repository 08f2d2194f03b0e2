//! The copies in flight at a point: a forward may-analysis. A copy is in flight on the paths from its beginning to a wait for it. What a
//! device function does rustc knows, so that a fault depends on the calls since: none of them must have waited.

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::protocol::{BarrierUses, Behavior, ParameterUses};

use super::flight::{Begin, Ending, Flight, FlightId, Flights, flag_of};
use super::held::Held;
use super::newest::Newest;
use super::paths::Paths;
use super::rounds::{Head, Rounds};
use super::sends::{Sends, Told};
use crate::check::cfg::{
    AccessKind, BlockId, CallId, Cfg, Completion, CopyStep, GroupStep, MemoryStep, Shared, Step, StepKind, Team,
    ValueStep, spans_cluster,
};
use crate::check::completion::{Completions, barrier_of, waits_of};
use crate::check::dsm::protocol::{Guard, Predicate};
use crate::check::engine::{Analysis, Join};
use crate::model::{Function, ValueId};

/// The copies at a point.
#[derive(Clone, Default)]
pub(super) struct State {
    /// The copies that have begun and that the thread has not waited for, each with the calls since, which may have.
    pub(super) in_flight: BTreeMap<FlightId, BTreeSet<CallId>>,
    /// The loops that have a further round, and those that are in their last one, on all paths.
    going_on: BTreeSet<Head>,
    in_last: BTreeSet<Head>,
    /// No thread comes here.
    is_unreachable: bool,
    /// The loops that have a further round where a copy is in flight, by copy.
    while_going_on: BTreeMap<FlightId, BTreeSet<Head>>,
    /// The `Option`s and flags that tell whether a copy is in flight.
    pub(super) held: Held,
    /// The products after which certainly none has begun, wherever they are in flight.
    pub(super) only_last: BTreeSet<FlightId>,
    /// The calls since a product began at which another one may have been the last.
    not_last: BTreeSet<(FlightId, CallId)>,
    /// The values that may be the product that was begun last.
    pub(super) newest: Newest,
    /// The copies of which none of the same completion has begun later.
    pub(super) last: BTreeSet<FlightId>,
    /// The paths on which a product is in flight, and those on which none has begun after it.
    pub(super) open: BTreeMap<FlightId, Paths>,
    pub(super) since_last: BTreeMap<FlightId, Paths>,
    /// The copies for which some thread has waited, on some path since they began.
    waited: BTreeSet<FlightId>,
    /// The copies to peers whose receiver has waited for them before its next barrier of the cluster, on some path.
    received: BTreeSet<FlightId>,
    /// The calls in which some thread may have waited for a copy, on some path since it began.
    waited_in: BTreeMap<FlightId, BTreeSet<CallId>>,
    /// The calls since the function began, if it has not waited for anything itself on some path.
    pub(super) first: Option<BTreeSet<CallId>>,
}

impl State {
    /// Whether a product is in flight, and none has begun after it on any path.
    pub(super) fn is_certainly_last(&self, product: FlightId) -> bool {
        self.in_flight.contains_key(&product) && self.only_last.contains(&product)
    }
}

impl Join for State {
    // bottom = no copy in flight, no wait; join = union of both
    fn join(&mut self, other: &Self) -> bool {
        let unite = |known: &mut BTreeMap<FlightId, BTreeSet<CallId>>, other: &BTreeMap<FlightId, BTreeSet<CallId>>| {
            let mut changed = false;
            for (flight, calls) in other {
                changed |= !known.contains_key(flight);
                let known = known.entry(*flight).or_default();
                let before = known.len();
                known.extend(calls);
                changed |= known.len() != before;
            }
            changed
        };
        if other.is_unreachable {
            return false;
        }
        if self.is_unreachable {
            self.clone_from(other);
            return true;
        }
        let mut changed = false;
        for flight in other.in_flight.keys() {
            match (self.in_flight.contains_key(flight), other.only_last.contains(flight)) {
                (true, false) => changed |= self.only_last.remove(flight),
                (false, true) => _ = self.only_last.insert(*flight),
                (true, true) => {}
                (false, false) => _ = self.only_last.remove(flight),
            }
        }
        for (flight, heads) in &mut self.while_going_on {
            // Where the copy is in flight on one path alone, it is as on that one.
            if other.in_flight.contains_key(flight) && self.in_flight.contains_key(flight) {
                changed |= keep_common(heads, other.while_going_on.get(flight));
            }
        }
        for (flight, heads) in &other.while_going_on {
            if !self.in_flight.contains_key(flight) {
                self.while_going_on.insert(*flight, heads.clone());
            }
        }
        changed |= self.held.join(
            &other.held,
            |flight| self.in_flight.contains_key(&flight) || self.open.contains_key(&flight),
            |flight| other.in_flight.contains_key(&flight) || other.open.contains_key(&flight),
        );
        changed |= self.newest.join(&other.newest);
        changed |= keep_common(&mut self.going_on, Some(&other.going_on));
        changed |= keep_common(&mut self.in_last, Some(&other.in_last));
        changed |= unite(&mut self.in_flight, &other.in_flight) | unite(&mut self.waited_in, &other.waited_in);
        for (known, other) in [(&mut self.open, &other.open), (&mut self.since_last, &other.since_last)] {
            for (flight, paths) in other {
                match known.get_mut(flight) {
                    Some(known) => changed |= known.unite(paths),
                    None => {
                        known.insert(*flight, paths.clone());
                        changed = true;
                    }
                }
            }
        }
        let before = self.not_last.len();
        self.not_last.extend(&other.not_last);
        changed |= self.not_last.len() != before;
        let sets =
            [(&mut self.last, &other.last), (&mut self.waited, &other.waited), (&mut self.received, &other.received)];
        for (known, other) in sets {
            let before = known.len();
            known.extend(other);
            changed |= known.len() != before;
        }
        if let Some(calls) = &other.first {
            changed |= self.first.is_none();
            let known = self.first.get_or_insert_default();
            let before = known.len();
            known.extend(calls);
            changed |= known.len() != before;
        }
        changed
    }
}

/// Removes what is not in the other set; says whether there was any.
fn keep_common(heads: &mut BTreeSet<Head>, others: Option<&BTreeSet<Head>>) -> bool {
    let before = heads.len();
    heads.retain(|head| others.is_some_and(|others| others.contains(head)));
    heads.len() != before
}

/// The analysis.
pub(super) struct InFlight<'a, 'f> {
    pub(super) function: &'a Function,
    pub(super) cfg: &'a Cfg<'f>,
    pub(super) waits: &'a Completions,
    pub(super) sends: Sends<'a>,
    pub(super) rounds: Rounds,
    pub(super) flights: Flights,
}

impl InFlight<'_, '_> {
    /// The copies whose completion no thread can have observed, each with the guard under which that is so.
    pub(super) fn surely_in_flight(&self, state: &State) -> impl Iterator<Item = (FlightId, Guard)> {
        let surely = state.in_flight.iter().filter(|(flight, _)| !state.waited.contains(flight));
        surely.map(|(id, since)| {
            let flight = &self.flights.all[*id];
            let left = match flight.begin {
                Begin::Copy(_) | Begin::Callers | Begin::Call { argument: None, .. } => Guard::default(),
                Begin::Call { call, argument: Some(argument) } => {
                    let uses = ParameterUses::of_copies(flag_of(flight));
                    Guard::default().when(Predicate::Uses(self.slot(call), argument, uses))
                }
            };
            let elsewhere = state.waited_in.get(id).into_iter().flatten();
            let calls: BTreeSet<CallId> = since.iter().chain(elsewhere).copied().collect();
            (
                *id,
                calls.into_iter().fold(left, |guard, call| {
                    let is_last = !state.not_last.contains(&(*id, call));
                    self.unless_waited(guard, call, Some((&flight.ending, is_last)))
                }),
            )
        })
    }

    pub(super) fn slot(&self, CallId(call): CallId) -> u16 {
        self.cfg.representative(&self.cfg.calls[call])
    }

    /// Adds that a called function does not wait for what ends a copy, which may be the last product when it is called, or for anything.
    pub(super) fn unless_waited(&self, guard: Guard, id: CallId, ending: Option<(&Ending, bool)>) -> Guard {
        let slot = self.slot(id);
        let (ending, is_last) = ending.unzip();
        let behavior = match ending {
            None => Behavior::WAITS,
            Some(Ending::Product) if is_last == Some(true) => Behavior::WAITS_FOR_LAST_PRODUCT,
            Some(Ending::Group) => Behavior::WAITS_FOR_GROUP_COPIES,
            Some(Ending::BulkReads) => Behavior::WAITS_FOR_BULK_READS,
            Some(Ending::BulkWrites) => Behavior::WAITS_FOR_BULK_WRITES,
            Some(Ending::Product) => Behavior::WAITS_FOR_PRODUCTS,
            Some(Ending::Barriers(_) | Ending::Receiver(_)) => Behavior::empty(),
        };
        let add = |guard: Guard, predicate| if guard.when.contains(&predicate) { guard } else { guard.when(predicate) };
        let guard = if behavior.is_empty() { guard } else { add(guard, Predicate::Never(slot, behavior)) };
        let barriers = self.cfg.calls[id.0].barriers.iter().filter(|(_, region)| match ending {
            None => true,
            Some(Ending::Barriers(of) | Ending::Receiver(of)) => {
                barrier_of(region).is_none_or(|barrier| self.is_shown_at(barrier, of))
            }
            Some(Ending::Group | Ending::BulkReads | Ending::BulkWrites | Ending::Product) => false,
        });
        let observes = ParameterUses::of_barrier(BarrierUses::MAY_OBSERVE);
        barriers.fold(guard, |guard, (argument, _)| add(guard, Predicate::NeverUses(slot, *argument, observes)))
    }

    fn is_shown_at(&self, barrier: Shared, completes_on: &[Shared]) -> bool {
        completes_on.iter().any(|on| self.waits.shows(barrier, Completion::Barrier(*on)))
    }

    /// What a step that may wait at phase barriers tells of a copy.
    fn told(&self, state: &State, step: &Step, flight: FlightId) -> Told {
        let told = |wait_at: Shared| match &self.flights.all[flight].ending {
            Ending::Barriers(on) if self.is_shown_at(wait_at, on) => Told::Ended,
            Ending::Receiver(on) => {
                let received = state.received.contains(&flight);
                let told = on.iter().map(|on| self.sends.told(step, wait_at, *on, received));
                told.max().unwrap_or(Told::Nothing)
            }
            Ending::Barriers(_) | Ending::Group | Ending::BulkReads | Ending::BulkWrites | Ending::Product => {
                Told::Nothing
            }
        };
        waits_of(self.cfg, step).into_iter().map(told).max().unwrap_or(Told::Nothing)
    }

    /// Whether a wait is known to leave copies in flight, or, if it is one for products, may do so.
    fn leaves_some(&self, completion: Completion, but: Option<ValueId>) -> bool {
        let literal = |but: ValueId| self.function.values[usize::from(but.0)].literal;
        but.is_some_and(|but| literal(but).map_or(completion == Completion::Product, |value| value > 0))
    }

    /// Some thread begins a copy: what was waited for before says nothing of it.
    fn begin(&self, state: &mut State, begun: FlightId) {
        let ending = |flight: FlightId| &self.flights.all[flight].ending;
        // That some thread of the block begins a product says nothing of those that this one begins.
        if *ending(begun) != Ending::Product {
            let step = self.flights.all[begun].begin.step();
            // A copy has several ends.
            let is_kept =
                |flight: &FlightId| ending(*flight) != ending(begun) || self.flights.all[*flight].begin.step() == step;
            state.last.retain(is_kept);
            state.last.insert(begun);
        }
        state.waited.remove(&begun);
        state.received.remove(&begun);
        state.waited_in.remove(&begun);
        state.not_last.retain(|(flight, _)| *flight != begun);
    }

    /// A wait that shows the completion of these copies.
    fn wait(&self, state: &mut State, step: &Step, shown: impl Fn(FlightId) -> bool) {
        // Each thread waits for its own bulk copies.
        let shown = |flight| shown(flight) && !self.is_by_others(step, flight);
        let shown_elsewhere = |flight: &FlightId| {
            let says_nothing = match self.flights.all[*flight].begin {
                Begin::Copy(copy) => self.waits.says_nothing(step, copy),
                Begin::Call { .. } | Begin::Callers => false,
            };
            shown(*flight) && !says_nothing
        };
        // Only at a barrier does a thread wait for what others began.
        let may_be_here = |flight: &FlightId| {
            matches!(self.flights.all[*flight].ending, Ending::Barriers(_) | Ending::Receiver(_))
                || state.in_flight.contains_key(flight)
        };
        let waited = (0..self.flights.all.len()).filter(|flight| shown_elsewhere(flight) && may_be_here(flight));
        state.waited.extend(waited);
        state.in_flight.retain(|flight, _| !shown(*flight));
        state.first = None;
    }

    fn is_by_others(&self, step: &Step, flight: FlightId) -> bool {
        let Flight { begin, ending, .. } = &self.flights.all[flight];
        matches!(ending, Ending::BulkReads | Ending::BulkWrites)
            && begin.step().is_some_and(|begun| self.waits.is_by_others(step, begun))
    }

    /// A wait at a step's own phase barrier or for copies of the group or the thread.
    fn waits_for(&self, step: &Step, state: &mut State) {
        if waits_of(self.cfg, step).is_empty() {
            return;
        }
        let told: Vec<Told> = (0..self.flights.all.len()).map(|flight| self.told(state, step, flight)).collect();
        self.wait(state, step, |flight| told[flight] == Told::Ended);
        state.received.extend((0..told.len()).filter(|flight| told[*flight] == Told::Received));
    }

    /// All blocks come to a barrier of the cluster.
    fn meet_peers(state: &mut State) {
        let State { in_flight, received, .. } = state;
        in_flight.retain(|copy, _| !received.contains(copy));
    }

    fn call(&self, state: &mut State, step: &Step, id: CallId) {
        let call = &self.cfg.calls[id.0];
        // It may have a barrier of the cluster.
        if call.teams.iter().flatten().any(|team| spans_cluster(team.group)) {
            Self::meet_peers(state);
        }
        if call.passes_closure {
            // A closure of the caller may wait, for its barriers and for copies of the thread or the group.
            self.waits_for(step, state);
            let may_wait = |flight: FlightId| {
                matches!(self.flights.all[flight].ending, Ending::Group | Ending::BulkReads | Ending::BulkWrites)
            };
            self.wait(state, step, may_wait);
        } else if !call.is_of_function() {
            // A method may wait for its barriers alone (`wait_in_method`).
            self.waits_for(step, state);
        } else {
            let told: Vec<Told> = (0..self.flights.all.len()).map(|flight| self.told(state, step, flight)).collect();
            let may_wait = |flight: FlightId| match &self.flights.all[flight].ending {
                Ending::Group | Ending::Product => true,
                Ending::BulkReads | Ending::BulkWrites => !self.is_by_others(step, flight),
                Ending::Barriers(_) | Ending::Receiver(_) => told[flight] == Told::Ended,
            };
            state.received.extend((0..told.len()).filter(|flight| told[*flight] == Told::Received));
            for flight in (0..self.flights.all.len()).filter(|flight| may_wait(*flight)) {
                state.waited_in.entry(flight).or_default().insert(id);
                if !state.is_certainly_last(flight) {
                    state.not_last.insert((flight, id));
                }
                if let Some(since) = state.in_flight.get_mut(&flight) {
                    since.insert(id);
                }
            }
            if let Some(calls) = &mut state.first {
                calls.insert(id);
            }
            self.call_with_products(state, id);
        }
    }
}

impl Analysis for InFlight<'_, '_> {
    type State = State;

    fn entry(&self) -> State {
        let mut state = State { first: Some(BTreeSet::new()), ..State::default() };
        self.enter(&mut state);
        state
    }

    fn transfer(&self, state: &mut State, step: &Step) {
        if state.is_unreachable {
            return;
        }
        match &step.kind {
            StepKind::Copy(id) => {
                if let CopyStep::Wait { completion, but, of_reads, sums_of } = self.cfg.copies[id.0] {
                    let mut last = if self.leaves_some(completion, but) { state.last.clone() } else { BTreeSet::new() };
                    // What the wait returns is not asked for once more.
                    if let Some(product) = sums_of {
                        self.products_asked_for(state, product).iter().for_each(|product| _ = last.remove(product));
                    }
                    let shows = |ending: &Ending| match ending {
                        Ending::Group => completion == Completion::Group,
                        Ending::BulkReads => completion == Completion::BulkGroup,
                        Ending::BulkWrites => completion == Completion::BulkGroup && !of_reads,
                        Ending::Product => completion == Completion::Product,
                        Ending::Barriers(_) | Ending::Receiver(_) => false,
                    };
                    self.wait(state, step, |id| shows(&self.flights.all[id].ending) && !last.contains(&id));
                    if completion == Completion::Product {
                        self.wait_for_products(state, &last);
                    }
                }
            }
            StepKind::BarrierCall(_) => self.waits_for(step, state),
            // Another thread may have waited for these copies before it reached the barrier.
            StepKind::Group(
                GroupStep::Collective { team: Team { group, .. }, barrier: true, .. }
                | GroupStep::Wait { group, .. }
                | GroupStep::WaitElected { group, .. },
            ) => {
                if spans_cluster(*group) {
                    Self::meet_peers(state);
                }
                let State { in_flight, waited, .. } = state;
                let is_product = |copy: &FlightId| self.flights.all[*copy].ending == Ending::Product;
                in_flight.retain(|copy, _| is_product(copy) || !waited.contains(copy));
            }
            StepKind::Call(id) => self.call(state, step, *id),
            StepKind::Memory(MemoryStep::Access(access)) => match self.cfg.accesses[access.0].kind {
                // A closure of the caller, or inline CUDA, may wait.
                AccessKind::ByClosure | AccessKind::Opaque => state.first = None,
                AccessKind::Read
                | AccessKind::Write
                | AccessKind::AtomicRead
                | AccessKind::Atomic
                | AccessKind::AsyncWrite
                | AccessKind::Lent => {}
            },
            StepKind::Group(GroupStep::Collective { barrier: false, .. })
            | StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
            | StepKind::Group(
                GroupStep::Arrive { .. }
                | GroupStep::ArriveForgotten { .. }
                | GroupStep::FormGroup(_)
                | GroupStep::Convergent { .. }
                | GroupStep::Aligned { .. },
            )
            | StepKind::Value(ValueStep::Name { .. } | ValueStep::Return(_))
            | StepKind::Token(_) => {}
            StepKind::Value(ValueStep::Evaluate(value)) => {
                state.held.evaluate(self.cfg, *value);
                self.evaluate(state, *value);
            }
            StepKind::Value(ValueStep::Set { variable, value, extent }) => {
                state.held.set(self.cfg, *variable, *value, *extent);
                state.newest.set(*variable, *value, *extent);
            }
        }
        for begun in self.flights.begun_at(self.cfg, step) {
            state.in_flight.insert(*begun, BTreeSet::new());
            state.while_going_on.insert(*begun, state.going_on.clone());
            state.held.begin(*begun);
            self.begin(state, *begun);
            if self.flights.all[*begun].ending == Ending::Product {
                self.begin_product(state, *begun);
            }
        }
    }

    fn edge(&self, state: &mut State, _: &Cfg<'_>, from: BlockId, to: BlockId) {
        if state.is_unreachable {
            return;
        }
        for over in state.held.edge(self.cfg, from, to) {
            state.in_flight.remove(&over);
            state.open.remove(&over);
        }
        state.in_last.extend(self.rounds.last(from, to));
        for head in self.rounds.going_on(from, to) {
            if state.in_last.contains(&head) {
                *state = State { is_unreachable: true, ..State::default() };
                return;
            }
            state.going_on.insert(head);
            for flight in state.in_flight.keys() {
                state.while_going_on.entry(*flight).or_default().insert(head);
            }
        }
        if let Some(head) = self.rounds.left(from, to) {
            let State { in_flight, open, while_going_on, .. } = state;
            let is_over = |flight: &FlightId| while_going_on.get(flight).is_some_and(|heads| heads.contains(&head));
            in_flight.retain(|flight, _| !is_over(flight));
            open.retain(|flight, _| !is_over(flight));
        }
        if let Some(head) = self.rounds.begins(to) {
            state.going_on.remove(&head);
            state.in_last.remove(&head);
            state.while_going_on.values_mut().for_each(|heads| _ = heads.remove(&head));
        }
        for step in self.waits.begun_in_arms(from) {
            for begun in self.flights.from(step) {
                self.begin(state, *begun);
            }
        }
    }
}
