//! Interprets a kernel path by path. It runs the tree on every state in which a thread can reach a statement, so that
//! all paths are followed and equal ones once; loops iterate until no new state appears. A token is pending exactly
//! while something holds it. It shares nothing with the checks but the rules' names.

mod flow;
mod value;

use std::collections::{BTreeMap, BTreeSet};

use phalanx_compiler::Rule;

use super::tree::{Block, Jump, Kernel, Label, Site, Stmt, Value, Var};
use flow::{Flow, Place, State, States};

/// The rules that the interpreter judges by.
pub(super) const RULES: [Rule; 4] =
    [Rule::TokenNeverWaited, Rule::ArriveWhilePending, Rule::CollectiveWhilePending, Rule::TokenForgotten];

/// The knowledge that a test of an `Option` gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Options {
    /// The test follows what the `Option` holds.
    Known,
    /// The test goes either way: rustc's view of moves, and the most that a path-insensitive check may claim. If it
    /// finds nothing, there is nothing.
    Opaque,
}

#[derive(Debug, Default)]
pub(super) struct Verdict {
    pub(super) faults: BTreeSet<(Rule, Site)>,
    /// For each arrival and collective that comes while others are pending, those.
    pub(super) pending: BTreeMap<(Rule, Site), BTreeSet<Site>>,
    /// Whether a variable is used that holds nothing, for which rustc refuses the kernel.
    pub(super) misuse: bool,
}

pub(super) fn interpret(kernel: &Kernel, options: Options) -> Verdict {
    let mut interpreter = Interpreter {
        options,
        verdict: Verdict::default(),
        scopes: Vec::new(),
        temporaries: 0,
        foreign: BTreeSet::new(),
    };
    let mut entry = State::default();
    let parameters: Vec<Place> = kernel.parameters.iter().map(|(_, var)| Place::Var(*var)).collect();
    kernel.parameters.iter().for_each(|(site, var)| entry.hold(Place::Var(*var), Some(*site)));
    interpreter.body(parameters, &kernel.body, None, States::from([entry]));
    let mut verdict = interpreter.verdict;
    // One report per site: a second arrival is not also reported as a collective.
    let seconds: Vec<Site> = verdict.of(Rule::ArriveWhilePending).collect();
    verdict.faults.retain(|(rule, site)| *rule != Rule::CollectiveWhilePending || !seconds.contains(site));
    verdict
}

impl Verdict {
    fn of(&self, rule: Rule) -> impl Iterator<Item = Site> + '_ {
        self.faults.iter().filter(move |(found, _)| *found == rule).map(|(_, site)| *site)
    }
}

struct Interpreter {
    options: Options,
    verdict: Verdict,
    /// What is dropped at the end of each block.
    scopes: Vec<Vec<Place>>,
    temporaries: usize,
    /// Where device functions returned a token.
    foreign: BTreeSet<Site>,
}

impl Interpreter {
    fn fault(&mut self, rule: Rule, site: Site) {
        self.verdict.faults.insert((rule, site));
    }

    fn lose(&mut self, held: Option<Site>) {
        if let Some(site) = held {
            self.fault(Rule::TokenNeverWaited, site);
        }
    }

    /// Records a collective while `pending` arrivals exist.
    fn collective(&mut self, site: Site, pending: impl IntoIterator<Item = Site>) {
        for pending in pending.into_iter().filter(|pending| pending.group <= site.group) {
            self.while_pending(Rule::CollectiveWhilePending, site, pending);
        }
    }

    fn while_pending(&mut self, rule: Rule, site: Site, pending: Site) {
        self.fault(rule, site);
        self.verdict.pending.entry((rule, site)).or_default().insert(pending);
    }

    /// Records a use of a group, after which its forgotten tokens are not reported again.
    fn use_group(&mut self, state: &mut State, site: Site) {
        let before = state.forgotten.len();
        state.forgotten.retain(|forgotten| *forgotten > site.group);
        if state.forgotten.len() != before {
            self.fault(Rule::TokenForgotten, site);
        }
    }

    fn temporary(&mut self) -> Place {
        self.temporaries += 1;
        Place::Temporary(self.temporaries)
    }

    fn declare(&mut self, place: Place) {
        self.scopes.last_mut().expect("inside a block").push(place);
    }

    /// Resolves a variable by its name to the innermost one that has it.
    fn named(&mut self, var: Var) -> Place {
        let vars = self.scopes.iter().flatten().rev().filter_map(|place| match place {
            Place::Var(other) => Some(*other),
            Place::Temporary(_) => None,
        });
        let meant = vars.into_iter().find(|other| (other.name, other.optional) == (var.name, var.optional));
        self.verdict.misuse |= meant != Some(var);
        Place::Var(var)
    }

    /// Moves out of a variable.
    fn take(&mut self, state: &mut State, var: Var) -> Option<Site> {
        match state.places.remove(&self.named(var)) {
            Some(held) => held,
            None => {
                self.verdict.misuse = true;
                None
            }
        }
    }

    /// Interprets a block, with the variables that it binds and the value that it yields.
    fn body(&mut self, bound: Vec<Place>, block: &Block, value: Option<&Value>, states: States) -> Flow {
        self.scopes.push(bound);
        let mut flow = Flow::to(states);
        for stmt in block {
            flow.then(|states| self.statement(stmt, states));
        }
        if let Some(value) = value {
            flow.then(|states| self.value(value, states));
        }
        let declared = self.scopes.pop().unwrap_or_default();
        flow.each(|state| declared.iter().for_each(|place| self.lose(state.places.remove(place).flatten())));
        flow
    }

    fn statement(&mut self, stmt: &Stmt, states: States) -> Flow {
        match stmt {
            Stmt::Let(var, value) => {
                let place = Place::Var(*var);
                let flow = self.value_then(value, states, |_, state, held| state.hold(place, held));
                self.declare(place);
                flow
            }
            Stmt::Declare(var) => {
                self.declare(Place::Var(*var));
                Flow::to(states)
            }
            Stmt::Assign(var, value) => {
                let place = self.named(*var);
                self.value_then(value, states, |this, state, held| {
                    let old = state.places.insert(place, held);
                    this.lose(old.flatten());
                })
            }
            // Another pending arrival of the same group was reported where it was made.
            Stmt::Wait(site, value) => self.value_then(value, states, |this, state, _| {
                let others = state.places.values().flatten().copied();
                this.collective(*site, others.filter(|other| other.group != site.group));
                this.use_group(state, *site);
            }),
            Stmt::Forget(site, value) => self.value_then(value, states, |this, state, held| {
                state.forgotten.insert(site.group);
                if held.is_some_and(|held| this.foreign.contains(&held)) {
                    this.fault(Rule::ForgetAcrossCalls, *site);
                }
            }),
            Stmt::Finish(value) => self.value_then(value, states, |_, _, _| {}),
            Stmt::FinishBoth(first, second) => {
                let waiting = self.temporary();
                let mut flow = self.value_then(first, states, |_, state, held| state.hold(waiting, held));
                flow.then(|states| self.value_then(second, states, |_, state, _| _ = state.places.remove(&waiting)));
                flow.each(|state| self.lose(state.places.remove(&waiting).flatten()));
                flow
            }
            Stmt::Sync(site) => {
                let pending = states.iter().flat_map(|state| state.places.values().flatten().copied());
                self.collective(*site, pending);
                let mut flow = Flow::to(states);
                flow.each(|state| self.use_group(state, *site));
                flow
            }
            // A variable that is only named is not moved out of.
            Stmt::Discard(Value::Move(var)) => {
                let place = self.named(*var);
                self.verdict.misuse |= states.iter().any(|state| !state.places.contains_key(&place));
                Flow::to(states)
            }
            Stmt::Discard(value) | Stmt::Unused(value) => {
                self.value_then(value, states, |this, _, held| this.lose(held))
            }
            Stmt::If(test, then, otherwise) => {
                let (yes, no, jumps, bound) = self.test(test, states);
                let mut flow = self.body(bound, then, None, yes);
                flow.merge(self.body(Vec::new(), otherwise.as_ref().unwrap_or(&Vec::new()), None, no));
                flow.merge_jumps(jumps);
                flow
            }
            Stmt::While(label, test, body) => self.repeat(*label, states, |this, states| {
                let (yes, no, jumps, bound) = this.test(test, states);
                let mut flow = this.body(bound, body, None, yes);
                flow.merge_jumps(jumps);
                (no, flow)
            }),
            Stmt::For(label, body) => self.repeat(*label, states, |this, states| {
                let flow = this.body(Vec::new(), body, None, states.clone());
                (states, flow)
            }),
            Stmt::Loop(label, body) => self.plain_loop(*label, body, states),
            Stmt::Block(body) => self.body(Vec::new(), body, None, states),
            Stmt::Labelled(label, body) => {
                let mut flow = self.body(Vec::new(), body, None, states);
                let left = flow.catch(Jump::Break(*label));
                flow.next.extend(left);
                flow
            }
            Stmt::Jump(jump) => Flow { next: States::new(), jumps: BTreeMap::from([(*jump, states)]) },
            Stmt::BreakWith(label, value) => {
                let mut flow = self.value(value, states);
                let carried = std::mem::take(&mut flow.next);
                flow.merge_jumps(BTreeMap::from([(Jump::Break(*label), carried)]));
                flow
            }
        }
    }

    fn plain_loop(&mut self, label: Label, body: &Block, states: States) -> Flow {
        self.repeat(label, states, |this, states| (States::new(), this.body(Vec::new(), body, None, states)))
    }

    /// Interprets a loop. `once` makes one iteration: the states that leave by the test, and the flow of the body.
    fn repeat(
        &mut self,
        label: Label,
        states: States,
        mut once: impl FnMut(&mut Self, States) -> (States, Flow),
    ) -> Flow {
        let (mut entering, mut seen, mut out) = (states, States::new(), Flow::default());
        loop {
            entering = &entering - &seen;
            if entering.is_empty() {
                return out;
            }
            seen.extend(entering.iter().cloned());
            let (leaving, mut flow) = once(self, entering);
            out.next.extend(leaving);
            out.next.extend(flow.catch(Jump::Break(label)));
            entering = flow.catch(Jump::Continue(label));
            entering.extend(std::mem::take(&mut flow.next));
            out.merge_jumps(flow.jumps);
        }
    }
}
