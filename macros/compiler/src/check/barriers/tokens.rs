//! Tokens of phase barriers: `barrier_stale_token`, and `barrier_token_mixed` of the elements of one array, whose brand is
//! one. A token is followed through variables, from its arrival on, with the number of phases that the thread has seen end
//! since; a wait with a token sees the end of its phase. Other barriers' tokens are rustc's to refuse.
//!
//! Of an array, only elements that literals choose are followed; and no token that a device function gave.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeMap;

use super::Facts;
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

/// PhaseAction may hold a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Holder {
    Variable(Variable),
    Node(NodeId),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    id: Id,
    /// Its arrival.
    from: usize,
    /// So many phases have ended since on some way, of this and the later ones.
    ended: u8,
    /// So many phases after those of other tokens this one's came, at least.
    after: BTreeMap<Holder, u8>,
}

/// From so many on, a token is too old.
const STALE: u8 = 2;

#[derive(Debug, Clone, Default)]
struct State(BTreeMap<Holder, Token>);

impl Join for State {
    // bottom = no tokens; join = the oldest that each may be; of two barriers, none
    fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (holder, token) in &other.0 {
            let Some(known) = self.0.get_mut(holder) else {
                self.0.insert(*holder, token.clone());
                changed = true;
                continue;
            };
            let mut both = known.clone();
            both.ended = both.ended.max(token.ended);
            both.from = both.from.min(token.from);
            for (other, after) in &token.after {
                let of = both.after.entry(*other).or_default();
                *of = (*of).max(*after);
            }
            if both.id != token.id {
                both.ended = u8::MAX;
            }
            changed |= both != *known;
            *known = both;
        }
        changed
    }
}

impl State {
    /// The phase of a token, or of an arrival, that is over came so long after those of others.
    fn end(&mut self, id: Id, after: &BTreeMap<Holder, u8>) {
        for (holder, token) in self.0.iter_mut().filter(|(_, token)| token.id == id && token.ended < STALE) {
            if let Some(before) = after.get(holder) {
                token.ended = token.ended.max(before + 1).min(STALE);
            }
        }
    }

    /// How long after the phases of the tokens that are there the current one came.
    fn since(&self, id: Id) -> BTreeMap<Holder, u8> {
        let tokens = self.0.iter().filter(|(_, token)| token.id == id && token.ended <= STALE);
        tokens.map(|(holder, token)| (*holder, token.ended)).collect()
    }

    /// A holder gets a token, or none: what was known of the one before is not of this one.
    fn put(&mut self, holder: Holder, token: Option<Token>) {
        self.0.remove(&holder);
        self.0.values_mut().for_each(|other| {
            other.after.remove(&holder);
        });
        self.0.extend(token.map(|token| (holder, token)));
    }

    /// The same token is in both.
    fn copy(&mut self, from: Holder, into: Holder) {
        let Some(token) = self.0.get(&from).cloned().filter(|_| from != into) else { return self.put(into, None) };
        self.put(into, None);
        let mut copy = token;
        copy.after.insert(from, 0);
        for other in self.0.values_mut() {
            if let Some(after) = other.after.get(&from).copied() {
                other.after.insert(into, after);
            }
        }
        if let Some(token) = self.0.get_mut(&from) {
            token.after.insert(into, 0);
        }
        self.0.insert(into, copy);
    }

    fn node(&self, node: NodeId) -> Option<&Token> {
        self.0.get(&Holder::Node(node))
    }
}

struct Tokens<'a, 'f> {
    seen: &'a Facts<'a, 'f>,
    /// The calls that give truth values, by those.
    tries: BTreeMap<NodeId, BarrierCallId>,
}

impl Tokens<'_, '_> {
    fn id(&self, call: &BarrierCall) -> Option<Id> {
        let id = id_of(self.seen.cfg, &call.region).filter(|id| is_exact(call, *id))?;
        (call.barrier.form != BarrierForm::Remote && !self.seen.hidden.contains(&id.shared)).then_some(id)
    }

    fn phase(&self, state: &mut State, BarrierCallId(phase): BarrierCallId) {
        let call = &self.seen.cfg.barrier_calls[phase];
        if call.method.action.begins() {
            let begun = id_of(self.seen.cfg, &call.region);
            let whole = call.region.path.is_empty();
            let of = |token: &&mut Token| {
                Some(token.id) == begun || whole && begun.is_some_and(|id| id.shared == token.id.shared)
            };
            state.0.values_mut().filter(of).for_each(|token| token.ended = token.ended.max(STALE));
        }
        let Some(id) = self.id(call) else { return };
        match call.method.action {
            PhaseAction::Arrive | PhaseAction::ArriveN => {
                let token = Token { id, from: phase, ended: 0, after: state.since(id) };
                state.put(Holder::Node(call.gives), Some(token));
            }
            PhaseAction::ArriveAndWait => state.end(id, &state.since(id)),
            PhaseAction::Wait => {
                let token = token_of(call).and_then(|node| state.node(node)).cloned();
                if let Some(token) = token.filter(|token| token.id == id) {
                    state.end(id, &token.after);
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

/// What a call is given as its token.
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
            StepKind::BarrierCall(phase) => self.phase(state, *phase),
            StepKind::Value(ValueStep::Evaluate(node)) => match self.seen.cfg.nodes[node.0].source.read() {
                Some(variable) => state.copy(Holder::Variable(variable), Holder::Node(*node)),
                None => state.put(Holder::Node(*node), None),
            },
            StepKind::Value(ValueStep::Set { variable, value, extent: Extent::Whole }) => {
                state.copy(Holder::Node(*value), Holder::Variable(*variable));
            }
            StepKind::Value(ValueStep::Set { variable, .. }) => state.put(Holder::Variable(*variable), None),
            // It may have seen phases end: how many, nobody knows.
            StepKind::Call { .. }
            | StepKind::Memory(_)
            | StepKind::Group(_)
            | StepKind::Copy(_)
            | StepKind::Token(_)
            | StepKind::Value(ValueStep::Return(_)) => {}
        }
    }

    /// Where no way leads on but one on which a `try_wait` was true, the phase is over.
    fn edge(&self, state: &mut State, cfg: &Cfg<'_>, from: BlockId, to: BlockId) {
        let End::Branch { mut on, then, otherwise } = cfg.blocks[from.0].end else { return };
        let mut holds = to == then;
        while let (Source::Not, [operand]) = (&cfg.nodes[on.0].source, &cfg.nodes[on.0].operands[..]) {
            (on, holds) = (*operand, !holds);
        }
        let Some(BarrierCallId(phase)) = self.tries.get(&on).filter(|_| holds && then != otherwise) else { return };
        let away = if to == then { otherwise } else { then };
        let ways = |side| reachable(cfg, side, Some(from));
        if ways(away).and(&ways(to)).len() != 0 {
            return;
        }
        let call = &cfg.barrier_calls[*phase];
        let token = token_of(call).and_then(|node| state.node(node)).cloned();
        if let Some(token) = token.filter(|token| Some(token.id) == self.id(call)) {
            state.end(token.id, &token.after);
        }
    }
}

pub(super) fn check(seen: &Facts<'_, '_>, diags: &mut Diags) {
    let calls = seen.cfg.barrier_calls.iter().enumerate();
    let tries = calls
        .filter(|(_, call)| call.method.action == PhaseAction::TryWait)
        .map(|(at, call)| (call.gives, BarrierCallId(at)));
    let tokens = Tokens { seen, tries: tries.collect() };
    let states = engine::solve(&tokens, seen.cfg);
    engine::visit(&tokens, seen.cfg, &states, |state, step| {
        let StepKind::BarrierCall(BarrierCallId(phase)) = step.kind else { return };
        let call = &seen.cfg.barrier_calls[phase];
        let Some(id) = tokens.id(call) else { return };
        let Some(token) = token_of(call).and_then(|node| state.node(node)) else { return };
        let arrival = seen.cfg.barrier_calls[token.from].at;
        check_token(seen, id, token, call, arrival, diags);
    });
}

/// `barrier_stale_token`: a token is of the phase that lasts, or of the one before. `barrier_token_mixed`: it is of this
/// barrier.
///
/// ```text
/// let old = bar.arrive(); bar.arrive_and_wait(); bar.arrive_and_wait(); bar.wait(old);
/// let token = bars[0].arrive(); bars[1].wait(token);
/// ```
fn check_token(seen: &Facts<'_, '_>, id: Id, token: &Token, call: &BarrierCall, arrival: SpanRange, diags: &mut Diags) {
    let is_known = token.ended <= STALE;
    if is_known && token.id.shared == id.shared && token.id != id {
        diags.push(messages::barrier_token_mixed(call.at, &seen.name(id), &seen.name(token.id), arrival));
    } else if token.id == id && token.ended == STALE {
        diags.push(messages::barrier_stale_token(call.at, &seen.name(id), arrival));
    }
}
