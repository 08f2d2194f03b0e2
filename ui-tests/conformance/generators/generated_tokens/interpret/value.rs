//! Interprets values, and tests of `Option`s.

use std::collections::BTreeMap;

use phalanx_compiler::Rule;

use super::super::tree::{Arm, Jump, Site, Test, Value};
use super::flow::{Flow, Place, State, States};
use super::{Interpreter, Options};

impl Interpreter {
    fn arm(&mut self, arm: &Arm, states: States) -> Flow {
        self.body(Vec::new(), &arm.body, arm.value.as_ref(), states)
    }

    /// Evaluates into `State::value`.
    pub(super) fn value(&mut self, value: &Value, states: States) -> Flow {
        let mut flow = Flow::to(states);
        match value {
            Value::Arrive(site) => flow.each(|state| {
                let pending: Vec<Site> = state.places.values().flatten().copied().collect();
                if pending.iter().any(|pending| pending.group == site.group) {
                    let same = pending.iter().filter(|pending| pending.group == site.group);
                    same.for_each(|pending| self.while_pending(Rule::ArriveWhilePending, *site, *pending));
                } else {
                    self.collective(*site, pending);
                }
                self.use_group(state, *site);
                state.value = Some(*site);
            }),
            // The effect of a device function on the barrier is checked where it is defined, and against its callers by
            // rustc.
            Value::Start(site) => {
                self.foreign.insert(*site);
                flow.each(|state| state.value = Some(*site));
            }
            Value::Pass(site, var) => {
                self.foreign.insert(*site);
                flow.each(|state| {
                    self.take(state, *var);
                    state.value = Some(*site);
                });
            }
            Value::Move(var) => flow.each(|state| state.value = self.take(state, *var)),
            Value::Take(var) => flow.each(|state| {
                state.value = self.take(state, *var);
                state.hold(Place::Var(*var), None);
            }),
            Value::None => flow.each(|state| state.value = None),
            Value::Some(inner) => flow.then(|states| self.value(inner, states)),
            Value::Block(arm) => flow.then(|states| self.arm(arm, states)),
            Value::If(then, otherwise) => flow.then(|states| {
                let mut flow = self.arm(then, states.clone());
                flow.merge(self.arm(otherwise, states));
                flow
            }),
            Value::Loop(label, body) => flow.then(|states| self.plain_loop(*label, body, states)),
            Value::Labelled(label, arm) => {
                flow.then(|states| self.arm(arm, states));
                let left = flow.catch(Jump::Break(*label));
                flow.next.extend(left);
            }
        }
        flow
    }

    /// Passes the value to `f` with the state that its evaluation leaves.
    pub(super) fn value_then(
        &mut self,
        value: &Value,
        states: States,
        mut f: impl FnMut(&mut Self, &mut State, Option<Site>),
    ) -> Flow {
        let mut flow = self.value(value, states);
        let next = std::mem::take(&mut flow.next);
        flow.next = next
            .into_iter()
            .map(|mut state| {
                let value = state.value.take();
                f(self, &mut state, value);
                state
            })
            .collect();
        flow
    }

    /// Returns the states in which a test holds and in which it does not, the jumps that leave it, and what it binds.
    pub(super) fn test(&mut self, test: &Test, states: States) -> (States, States, BTreeMap<Jump, States>, Vec<Place>) {
        let (value, wants_some) = match test {
            Test::Opaque => return (states.clone(), states, BTreeMap::new(), Vec::new()),
            Test::Some(value, _) | Test::IsSome(value) => (value, true),
            Test::None(value) | Test::IsNone(value) => (value, false),
        };
        let (mut some, mut none) = (States::new(), States::new());
        let mut bound = Vec::new();
        let jumps = match value {
            // A variable is tested in place; only a name moves its token out.
            Value::Move(var) => {
                let place = self.named(*var);
                let name = match test {
                    Test::Some(_, Some(name)) => Some(Place::Var(*name)),
                    _ => None,
                };
                for mut state in states {
                    let held = self.take(&mut state, *var);
                    if self.may_be(held, true) {
                        let mut state = state.clone();
                        state.hold(name.unwrap_or(place), held);
                        some.insert(state);
                    }
                    if self.may_be(held, false) {
                        state.hold(place, None);
                        none.insert(state);
                    }
                }
                bound.extend(name);
                BTreeMap::new()
            }
            value => {
                let flow = self.value(value, states);
                let place = match test {
                    Test::Some(_, Some(name)) => Some(Place::Var(*name)),
                    // Not moved out of the value, which lives as long as the arm.
                    Test::Some(_, None) => Some(self.temporary()),
                    Test::Opaque | Test::None(_) | Test::IsSome(_) | Test::IsNone(_) => None,
                };
                for mut state in flow.next {
                    let held = state.value.take();
                    if self.may_be(held, false) {
                        none.insert(state.clone());
                    }
                    if self.may_be(held, true) {
                        match place {
                            Some(place) => state.hold(place, held),
                            None => self.lose(held),
                        }
                        some.insert(state);
                    }
                }
                bound.extend(place);
                flow.jumps
            }
        };
        if wants_some { (some, none, jumps, bound) } else { (none, some, jumps, bound) }
    }

    fn may_be(&self, held: Option<Site>, some: bool) -> bool {
        self.options == Options::Opaque || held.is_some() == some
    }
}
