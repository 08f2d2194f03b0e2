//! Tokens of phase barriers: `barrier_stale_token`, and `barrier_token_mixed` for the elements of one array, which share a
//! brand. A token is followed from its arrival through variables, with the number of phases that the thread has seen complete
//! since; a wait with a token observes the completion of its phase. rustc refuses the tokens of other barriers.
//!
//! Only elements of an array at literal indices are followed, and no tokens that device functions return.

use std::collections::BTreeMap;

use super::Context;
use super::lifecycle::{Id, id_of, is_exact};
use crate::check::cfg::{
    BarrierCall, BarrierCallId, BlockId, Cfg, End, Extent, NodeId, Source, Step, StepKind, ValueStep, Variable,
};
use crate::check::engine::{self, Analysis, Join};
use crate::check::uniform::control::reachable;
use crate::diag::Diags;
use crate::messages;
use crate::model::barrier::{BarrierForm, PhaseAction, PhaseOperand};
use crate::span::SpanRange;

/// Something that may hold a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Holder {
    Variable(Variable),
    Node(NodeId),
}

/// A token that some variable or value holds.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    /// The barrier that returned it.
    id: Id,
    /// The call that arrived, by its index.
    arrival: usize,
    /// The largest number of phases, its own and later ones, that the thread has seen complete on some path.
    completed: u8,
    /// For other tokens, the least number of phases by which this one's phase comes after theirs.
    phases_after: BTreeMap<Holder, u8>,
}

/// The number of completed phases from which on a token is stale.
const STALE: u8 = 2;

#[derive(Debug, Clone, Default)]
struct State(BTreeMap<Holder, Token>);

impl Join for State {
    // bottom = no tokens; join = the greater age; tokens of two barriers are followed no more
    fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (holder, token) in &other.0 {
            let Some(known) = self.0.get_mut(holder) else {
                self.0.insert(*holder, token.clone());
                changed = true;
                continue;
            };
            let mut both = known.clone();
            both.completed = both.completed.max(token.completed);
            both.arrival = both.arrival.min(token.arrival);
            for (other, after) in &token.phases_after {
                let of = both.phases_after.entry(*other).or_default();
                *of = (*of).max(*after);
            }
            if both.id != token.id {
                both.completed = u8::MAX;
            }
            changed |= both != *known;
            *known = both;
        }
        changed
    }
}

impl State {
    /// A phase of the barrier has completed, which came that many phases after those of the tokens in `after`.
    fn complete(&mut self, id: Id, after: &BTreeMap<Holder, u8>) {
        for (holder, token) in self.0.iter_mut().filter(|(_, token)| token.id == id && token.completed < STALE) {
            if let Some(before) = after.get(holder) {
                token.completed = token.completed.max(before + 1).min(STALE);
            }
        }
    }

    /// For each token of the barrier, the number of phases by which the current phase comes after its own.
    fn phases_since(&self, id: Id) -> BTreeMap<Holder, u8> {
        let tokens = self.0.iter().filter(|(_, token)| token.id == id && token.completed <= STALE);
        tokens.map(|(holder, token)| (*holder, token.completed)).collect()
    }

    /// A holder gets a token, or none. What was known about the token that it held before is forgotten.
    fn put(&mut self, holder: Holder, token: Option<Token>) {
        self.0.remove(&holder);
        self.0.values_mut().for_each(|other| {
            other.phases_after.remove(&holder);
        });
        self.0.extend(token.map(|token| (holder, token)));
    }

    /// A second holder gets the token of the first.
    fn copy(&mut self, from: Holder, into: Holder) {
        let Some(token) = self.0.get(&from).cloned().filter(|_| from != into) else { return self.put(into, None) };
        self.put(into, None);
        let mut copy = token;
        copy.phases_after.insert(from, 0);
        for other in self.0.values_mut() {
            if let Some(after) = other.phases_after.get(&from).copied() {
                other.phases_after.insert(into, after);
            }
        }
        if let Some(token) = self.0.get_mut(&from) {
            token.phases_after.insert(into, 0);
        }
        self.0.insert(into, copy);
    }

    fn node(&self, node: NodeId) -> Option<&Token> {
        self.0.get(&Holder::Node(node))
    }
}

struct Tokens<'a, 'f> {
    cx: &'a Context<'a, 'f>,
    /// The calls of `try_wait`, by their results.
    tests: BTreeMap<NodeId, BarrierCallId>,
}

impl Tokens<'_, '_> {
    fn id(&self, call: &BarrierCall) -> Option<Id> {
        let id = id_of(self.cx.cfg, &call.region).filter(|id| is_exact(call, *id))?;
        (call.barrier.form != BarrierForm::Remote && !self.cx.hidden.contains(&id.shared)).then_some(id)
    }

    fn barrier_call(&self, state: &mut State, BarrierCallId(index): BarrierCallId) {
        let call = &self.cx.cfg.barrier_calls[index];
        if call.method.action.begins() {
            let begun = id_of(self.cx.cfg, &call.region);
            let whole = call.region.path.is_empty();
            let of = |token: &&mut Token| {
                Some(token.id) == begun || whole && begun.is_some_and(|id| id.shared == token.id.shared)
            };
            state.0.values_mut().filter(of).for_each(|token| token.completed = token.completed.max(STALE));
        }
        let Some(id) = self.id(call) else { return };
        match call.method.action {
            PhaseAction::Arrive | PhaseAction::ArriveN => {
                let token = Token { id, arrival: index, completed: 0, phases_after: state.phases_since(id) };
                state.put(Holder::Node(call.result), Some(token));
            }
            PhaseAction::ArriveAndWait => state.complete(id, &state.phases_since(id)),
            PhaseAction::Wait => {
                let token = token_of(call).and_then(|node| state.node(node)).cloned();
                if let Some(token) = token.filter(|token| token.id == id) {
                    state.complete(id, &token.phases_after);
                }
            }
            PhaseAction::ArriveAndDrop
            | PhaseAction::WaitParity
            | PhaseAction::TryWait
            | PhaseAction::ExpectTx
            | PhaseAction::Copy
            | PhaseAction::Init
            | PhaseAction::InitCollective
            | PhaseAction::Invalidate => {}
        }
    }
}

/// The token that is an argument of a call.
fn token_of(call: &BarrierCall) -> Option<NodeId> {
    let is_token = |operand: &PhaseOperand| matches!(operand, PhaseOperand::Token | PhaseOperand::TokenRef);
    let at = call.method.operands.iter().position(is_token)?;
    call.operands.get(at).copied()
}

impl Analysis for Tokens<'_, '_> {
    type State = State;

    fn entry(&self) -> State {
        State::default()
    }

    fn transfer(&self, state: &mut State, step: &Step) {
        match &step.kind {
            StepKind::BarrierCall(call) => self.barrier_call(state, *call),
            StepKind::Value(ValueStep::Evaluate(node)) => match self.cx.cfg.nodes[node.0].source.read() {
                Some(variable) => state.copy(Holder::Variable(variable), Holder::Node(*node)),
                None => state.put(Holder::Node(*node), None),
            },
            StepKind::Value(ValueStep::Set { variable, value, extent: Extent::Whole }) => {
                state.copy(Holder::Node(*value), Holder::Variable(*variable));
            }
            StepKind::Value(ValueStep::Set { variable, .. }) => state.put(Holder::Variable(*variable), None),
            // A callee may have seen phases complete, but their number is unknown.
            StepKind::Call(_)
            | StepKind::Memory(_)
            | StepKind::Group(_)
            | StepKind::Copy(_)
            | StepKind::Token(_)
            | StepKind::Value(ValueStep::Name { .. } | ValueStep::Return(_)) => {}
        }
    }

    /// On an edge that is only taken if a `try_wait` returned true, its phase has completed.
    fn edge(&self, state: &mut State, cfg: &Cfg<'_>, from: BlockId, to: BlockId) {
        let End::Branch { mut on, then, otherwise } = cfg.blocks[from.0].end else { return };
        let mut holds = to == then;
        while let (Source::Not, [operand]) = (&cfg.nodes[on.0].source, &cfg.nodes[on.0].operands[..]) {
            (on, holds) = (*operand, !holds);
        }
        let Some(BarrierCallId(index)) = self.tests.get(&on).filter(|_| holds && then != otherwise) else { return };
        let away = if to == then { otherwise } else { then };
        let paths = |side| reachable(cfg, side, Some(from));
        if !paths(away).and(&paths(to)).is_empty() {
            return;
        }
        let call = &cfg.barrier_calls[*index];
        let token = token_of(call).and_then(|node| state.node(node)).cloned();
        if let Some(token) = token.filter(|token| Some(token.id) == self.id(call)) {
            state.complete(token.id, &token.phases_after);
        }
    }
}

pub(super) fn check(cx: &Context<'_, '_>, diags: &mut Diags) {
    let calls = cx.cfg.barrier_calls.iter().enumerate();
    let tests = calls
        .filter(|(_, call)| call.method.action == PhaseAction::TryWait)
        .map(|(at, call)| (call.result, BarrierCallId(at)));
    let tokens = Tokens { cx, tests: tests.collect() };
    let states = engine::solve(&tokens, cx.cfg);
    engine::visit(&tokens, cx.cfg, &states, |state, step| {
        let StepKind::BarrierCall(BarrierCallId(index)) = step.kind else { return };
        let call = &cx.cfg.barrier_calls[index];
        let Some(id) = tokens.id(call) else { return };
        let Some(token) = token_of(call).and_then(|node| state.node(node)) else { return };
        let arrival = cx.cfg.barrier_calls[token.arrival].at;
        check_token(cx, id, token, call, arrival, diags);
    });
}

/// `barrier_stale_token`: a token belongs to the current phase or the preceding one. `barrier_token_mixed`: it belongs to the
/// barrier that it is used at.
///
/// ```text
/// let old = bar.arrive(); bar.arrive_and_wait(); bar.arrive_and_wait(); bar.wait(old);
/// let token = bars[0].arrive(); bars[1].wait(token);
/// ```
fn check_token(cx: &Context<'_, '_>, id: Id, token: &Token, call: &BarrierCall, arrival: SpanRange, diags: &mut Diags) {
    let is_known = token.completed <= STALE;
    if is_known && token.id.shared == id.shared && token.id != id {
        diags.push(messages::barrier_token_mixed(call.at, &cx.name(id), &cx.name(token.id), arrival));
    } else if token.id == id && token.completed == STALE {
        diags.push(messages::barrier_stale_token(call.at, &cx.name(id), arrival));
    }
}
