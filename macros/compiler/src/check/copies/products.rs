//! The products of warpgroups that are in flight, through device functions. A wait shows all products that the warpgroup has begun, in
//! whichever function, so that what a call does to those of its caller is three facts of the callee's summary: whether it may keep them in
//! flight, whether it may begin none itself, and whether it may leave one of its own. A product is left if there is a path on which no step
//! and no call waits for it; the calls of each path are kept apart, because rustc knows what they do.

use std::collections::BTreeSet;

use phalanx_contract::protocol::Behavior;

use super::flight::{Begin, Ending, Flight, FlightId};
use super::paths::{Passed, Paths};
use super::state::{InFlight, State};
use crate::check::cfg::{CallId, Computed, CopyBy, CopyId, CopyStep, NodeId, Source, WARPGROUP};
use crate::check::completion::Begun;
use crate::check::dsm::protocol::{Effect, Guard, Predicate};
use crate::diag::Diag;
use crate::messages;
use crate::model::ty::{ParamType, TypeShape};
use crate::model::{Function, Param, Role, ValueId};
use crate::span::SpanRange;

/// Whether a function may return a product: its result may be one, as far as syntax shows.
fn may_return_product(function: &Function) -> bool {
    fn may_be_one(function: &Function, shape: &TypeShape) -> bool {
        match shape {
            TypeShape::Scalar(..) | TypeShape::Token(_) | TypeShape::OptionalToken(_) | TypeShape::BarrierToken(_) => {
                false
            }
            TypeShape::Array(element, _) | TypeShape::Option(element) => may_be_one(function, element),
            TypeShape::Tuple(members) => members.iter().any(|member| may_be_one(function, member)),
            TypeShape::Named(of) => {
                let text = function.types[usize::from(of.0)].to_string();
                let name = text.split('<').next().and_then(|path| path.rsplit("::").next()).map(str::trim);
                !name.is_some_and(|name| ["Accumulator", "MatrixA", "MatrixB"].contains(&name))
            }
        }
    }
    function.ret.as_ref().is_some_and(|ret| may_be_one(function, &ret.shape))
}

/// Whether the callers of a function have to wait for the products that it leaves: it may return them, and is given the warpgroup. So they
/// ask only of calls that give one.
pub(super) fn is_left_to_callers(function: &Function) -> bool {
    let literal = |size: ValueId| function.values[usize::from(size.0)].literal;
    let may_be_warpgroup = |param: &Param| matches!(param.ty, ParamType::Tile { size, .. } if literal(size).is_none_or(|size| size == WARPGROUP));
    function.role == Role::Device && function.params.iter().any(may_be_warpgroup) && may_return_product(function)
}

impl InFlight<'_, '_> {
    fn is_product(&self, flight: FlightId) -> bool {
        self.flights.all[flight].ending == Ending::Product
    }

    /// The product that begins before the function.
    pub(super) fn of_callers(&self) -> Option<FlightId> {
        self.flights.all.iter().position(|flight| matches!(flight.begin, Begin::Callers))
    }

    /// The state at the function's beginning: its callers may have products in flight.
    pub(super) fn enter(&self, state: &mut State) {
        if let Some(callers) = self.of_callers() {
            state.in_flight.insert(callers, BTreeSet::new());
            state.last.insert(callers);
            state.only_last.insert(callers);
            state.open.insert(callers, Paths::begun());
            state.since_last.insert(callers, Paths::begun());
        }
    }

    /// A product begins, or may begin in a call.
    pub(super) fn begin_product(&self, state: &mut State, begun: FlightId) {
        // A call may begin none.
        if let Begin::Copy(_) = self.flights.all[begun].begin {
            let step = self.flights.all[begun].begin.step();
            let is_kept =
                |flight: &FlightId| !self.is_product(*flight) || self.flights.all[*flight].begin.step() == step;
            state.last.retain(is_kept);
            state.since_last.retain(|flight, _| is_kept(flight));
            state.newest.begin();
        }
        // What begins in one step, as the two tiles of one product, is one.
        let step = self.flights.all[begun].begin.step();
        state.only_last.retain(|flight| self.flights.all[*flight].begin.step() == step);
        state.only_last.insert(begun);
        state.last.insert(begun);
        state.open.insert(begun, Paths::begun());
        state.since_last.insert(begun, Paths::begun());
    }

    /// A function is called, which may wait for products, and begin others.
    pub(super) fn call_with_products(&self, state: &mut State, call: CallId) {
        state.open.values_mut().for_each(|paths| paths.pass(call, Behavior::KEEPS_PRODUCTS));
        state.since_last.values_mut().for_each(|paths| paths.pass(call, Behavior::BEGINS_NO_PRODUCT));
        state.newest.call(self.cfg, call);
    }

    /// A value is evaluated, which may be a product.
    pub(super) fn evaluate(&self, state: &mut State, value: NodeId) {
        let (mut begun, mut left_by) = (false, None);
        for flight in self.products_at(value) {
            match self.flights.all[flight].begin {
                Begin::Call { call, .. } => left_by = Some(call),
                Begin::Copy(_) | Begin::Callers => begun = true,
            }
        }
        state.newest.evaluate(self.cfg, value, begun, left_by);
    }

    /// The products of whose sums a wait is reported to ask too early, so that they are not reported once more.
    pub(super) fn products_asked_for(&self, state: &State, product: NodeId) -> BTreeSet<FlightId> {
        let mut asked = self.products(product).unwrap_or_default();
        let is_reported = state.newest.of(product).has_certain();
        asked.retain(|flight| is_reported || matches!(self.flights.all[*flight].begin, Begin::Callers));
        asked
    }

    /// The warpgroup waits, but for the last product if `last` has those that this may be.
    pub(super) fn wait_for_products(&self, state: &mut State, last: &BTreeSet<FlightId>) {
        let State { open, since_last, .. } = state;
        open.retain(|flight, _| last.contains(flight));
        for (flight, paths) in open.iter_mut() {
            if let Some(since) = since_last.get(flight) {
                *paths = paths.and(since);
            }
        }
    }

    /// The guards under which some path is as these say, for a product.
    fn guards(&self, flight: FlightId, paths: &Paths) -> Vec<Guard> {
        let first = match self.flights.all[flight].begin {
            Begin::Call { call, argument: None } => {
                Guard::default().when(Predicate::Does(self.slot(call), Behavior::LEAVES_PRODUCTS))
            }
            Begin::Call { .. } | Begin::Copy(_) | Begin::Callers => Guard::default(),
        };
        paths.iter().map(|path| self.passing(first.clone(), path)).collect()
    }

    fn passing<'p>(&self, guard: Guard, path: impl IntoIterator<Item = &'p Passed>) -> Guard {
        path.into_iter().fold(guard, |guard, (call, behavior)| {
            let predicate = Predicate::Does(self.slot(*call), *behavior);
            if guard.when.contains(&predicate) { guard } else { guard.when(predicate) }
        })
    }

    /// A statement begins a product whose left operand is in registers while the one that it began before is in flight: both are in the
    /// same registers (PTX ISA, wgmma.mma_async: they must not change before a wait). So does a call whose function leaves such a product.
    ///
    /// ```text
    /// for k in 0..n { product = warpgroup.mma_async(product, left, &tiles[k]); warpgroup.wait_mma_prior::<1>(); left = next(k); }
    /// ```
    pub(super) fn registers_in_flight(&self, state: &State, begun: Begun, at: SpanRange) -> Vec<(Guard, Diag)> {
        let needs = match begun {
            Begun::Copy(copy) => match &self.cfg.copies[copy.0] {
                CopyStep::Begin { by: CopyBy::Warpgroup { of_registers: true }, .. } => None,
                CopyStep::Begin { .. } | CopyStep::Wait { .. } => return Vec::new(),
            },
            Begun::Call(call) => Some(Predicate::Does(self.slot(call), Behavior::LEAVES_REGISTERS)),
        };
        let again = self.flights.from(begun).iter().filter(|flight| self.is_product(**flight));
        let again = again.filter_map(|flight| Some((flight, state.open.get(flight)?)));
        let guards = again.flat_map(|(flight, paths)| self.guards(*flight, paths));
        let guards = guards.map(|guard| needs.into_iter().fold(guard, Guard::when));
        guards.map(|guard| (guard, messages::registers_in_flight(at))).collect()
    }

    /// A wait that leaves the last product in flight returns the sums of one that is the last on some path.
    ///
    /// ```text
    /// let product = warpgroup.mma_async(sum, &a[0], &b[0]); let sum = warpgroup.wait_mma_except_last(product);
    /// ```
    pub(super) fn sums_in_flight(&self, state: &State, copy: CopyId, at: SpanRange) -> Vec<(Guard, Diag)> {
        let CopyStep::Wait { sums_of: Some(product), .. } = self.cfg.copies[copy.0] else { return Vec::new() };
        let Some(products) = self.products(product) else {
            return vec![(Guard::default(), messages::sums_of_another_function(at))];
        };
        let callers = self.of_callers().filter(|callers| products.contains(callers));
        let of_callers = callers.into_iter().flat_map(|callers| {
            let since = state.since_last.get(&callers).map(|paths| self.guards(callers, paths));
            since.into_iter().flatten().map(|guard| (guard, messages::sums_of_another_function(at)))
        });
        let newest = state.newest.of(product);
        let is_own = |flight: &FlightId| !matches!(self.flights.all[*flight].begin, Begin::Callers);
        let begun = products.iter().rfind(|flight| is_own(flight) && state.since_last.contains_key(flight));
        let own = begun.into_iter().flat_map(|flight| {
            let begun = self.flights.all[*flight].at;
            newest.iter().map(move |path| (self.passing(Guard::default(), path), messages::sums_in_flight(at, begun)))
        });
        of_callers.chain(own).collect()
    }

    /// The products that a value may be; `None` if it may be one of which the text shows nothing.
    pub(super) fn products(&self, value: NodeId) -> Option<BTreeSet<FlightId>> {
        let (mut found, mut seen, mut work) = (BTreeSet::new(), BTreeSet::new(), vec![(value, true)]);
        while let Some((value, is_product)) = work.pop() {
            for node in self.cfg.may_come_from(value).into_iter().filter(|node| seen.insert(*node)) {
                let begun: Vec<FlightId> = self.products_at(node).collect();
                let source = &self.cfg.nodes[node.0].source;
                let passes = match source {
                    // A function returns one that it begins or is given, and a field of a result, or of a tuple, may be any of its parts.
                    Source::Call { .. } => true,
                    // `None` holds none.
                    Source::Operands if self.cfg.computed.get(&node) == Some(&Computed::Number(0)) => continue,
                    Source::Operands => begun.is_empty(),
                    Source::Param(_)
                    | Source::Integer(_)
                    | Source::Constant(_)
                    | Source::Binary(_)
                    | Source::Not
                    | Source::Counter { .. }
                    | Source::Read(_)
                    | Source::Known { .. }
                    | Source::ThreadRank
                    | Source::Round(..)
                    | Source::Load(_)
                    | Source::Agreed { .. }
                    | Source::Shuffled { .. } => false,
                };
                let operands = self.cfg.nodes[node.0].operands.iter().filter(|_| passes);
                let before = work.len();
                work.extend(operands.map(|operand| (*operand, false)));
                let is_param = matches!(source, Source::Param(_));
                if is_product && begun.is_empty() && work.len() == before && !is_param {
                    return None;
                }
                found.extend(self.of_callers().filter(|_| is_param));
                found.extend(begun);
            }
        }
        (!found.is_empty()).then_some(found)
    }

    /// The products that begin at a node.
    fn products_at(&self, node: NodeId) -> impl Iterator<Item = FlightId> {
        let at = self.cfg.nodes[node.0].at;
        let is_it = move |flight: &Flight| match flight.begin {
            Begin::Copy(_) => flight.ending == Ending::Product && at.begins_with(flight.at),
            Begin::Call { call, argument: None } => self.cfg.calls[call.0].node == node,
            Begin::Call { argument: Some(_), .. } | Begin::Callers => false,
        };
        (0..self.flights.all.len()).filter(move |flight| is_it(&self.flights.all[*flight]))
    }

    /// Reports the products that nobody waits for at the function's ends, whatever another thread may have seen. A device function that may
    /// return them leaves them to its callers.
    pub(super) fn products_left(&self, ends: &[State]) -> Vec<(Guard, Diag)> {
        let mut left = Vec::new();
        for (flight, paths) in ends.iter().flat_map(|end| &end.open) {
            let Flight { begin, at, .. } = &self.flights.all[*flight];
            let message = match begin {
                Begin::Callers | Begin::Call { argument: Some(_), .. } => continue,
                _ if is_left_to_callers(self.function) => continue,
                Begin::Copy(_) => messages::product_left(*at),
                Begin::Call { argument: None, .. } => messages::product_of_function_left(*at),
            };
            left.extend(self.guards(*flight, paths).into_iter().map(|guard| (guard, message.clone())));
        }
        left
    }

    /// Adds what the callers of a device function must know of its products.
    pub(super) fn summarize_products(&self, ends: &[State], effects: &mut Vec<(Effect, Guard)>) {
        let mut add = |flight: FlightId, paths: &Paths, behavior: Behavior| {
            let guards = self.guards(flight, paths);
            effects.extend(guards.into_iter().map(|guard| (Effect::Does(behavior), guard)));
        };
        for end in ends {
            if let Some(callers) = self.of_callers() {
                end.open.get(&callers).into_iter().for_each(|paths| add(callers, paths, Behavior::KEEPS_PRODUCTS));
                let since = end.since_last.get(&callers);
                since.into_iter().for_each(|paths| add(callers, paths, Behavior::BEGINS_NO_PRODUCT));
            }
        }
        if !is_left_to_callers(self.function) {
            return;
        }
        for (flight, paths) in ends.iter().flat_map(|end| &end.open) {
            let Flight { begin, .. } = &self.flights.all[*flight];
            let guards = self.guards(*flight, paths);
            for guard in guards {
                match begin {
                    Begin::Copy(copy) => {
                        let by = &self.cfg.copies[copy.0];
                        effects.push((Effect::Does(Behavior::LEAVES_PRODUCTS), guard.clone()));
                        if let CopyStep::Begin { by: CopyBy::Warpgroup { of_registers: true }, .. } = by {
                            effects.push((Effect::Does(Behavior::LEAVES_REGISTERS), guard.clone()));
                        }
                    }
                    Begin::Call { call, argument: None } => {
                        effects.push((Effect::Does(Behavior::LEAVES_PRODUCTS), guard.clone()));
                        let of_registers = Predicate::Does(self.slot(*call), Behavior::LEAVES_REGISTERS);
                        effects.push((Effect::Does(Behavior::LEAVES_REGISTERS), guard.clone().when(of_registers)));
                    }
                    Begin::Call { .. } | Begin::Callers => {}
                }
            }
        }
    }
}
