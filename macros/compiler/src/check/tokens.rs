//! Arrival tokens: `token_never_waited`, `arrive_while_pending`, `collective_while_pending`.
//!
//! CUDA C++ Programming Guide 11.6.1.1: all threads of a group arrive and wait once per phase; between the two, any other
//! collective of the group is undefined. A thread is between the two exactly while some variable holds the token, so that
//! it is enough to know where tokens are. rustc refuses a token that is used twice (E0382) or at another group (E0308).
//!
//! Not checked here: whether all threads of the group arrive (uniformity), and what happens to memory between the two.

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::Groups;

use super::cfg::{BlockId, Call, CallId, Cfg, End, GroupStep, Step, StepKind, TokenStep, Variable};
use super::engine::{self, Analysis, Join};
use super::liveness::Live;
use super::partition;
use super::uniform::values::Values;
use crate::diag::{Diag, Diags};
use crate::messages;
use crate::model::Function;
use crate::model::group::Group;
use crate::model::kind::Kind;
use crate::model::token::{TokenHolder, TokenLoss, TokenOrigin};
use crate::rules::Rule;
use crate::span::SpanRange;

/// For each call of a device function, by slot, the groups of which the callee must execute no collective.
pub(crate) type PendingAtCalls = BTreeMap<u16, Groups>;

pub(crate) fn check<'f>(cfg: &Cfg<'f>, tokens: &Tokens<'f>, diags: &mut Diags) -> PendingAtCalls {
    let mut report = Report {
        analysis: tokens,
        calls: &cfg.calls,
        diags,
        losses: BTreeMap::new(),
        while_pending: Vec::new(),
        pending: BTreeMap::new(),
    };
    engine::visit(tokens, cfg, &tokens.states, |state, step| report.step(state, step));
    report.finish()
}

/// Whether no token is lost on the paths that are left where a branch goes the way of an earlier one: under a condition that does not change,
/// and that all threads of the cluster test alike, a token may be made at one branch and waited for at another.
pub(super) fn is_right_by_outcomes<'f>(
    function: &'f Function,
    cfg: &Cfg<'f>,
    live: &Live,
    values: &Values<'_, 'f>,
    diags: &Diags,
) -> bool {
    partition::split(cfg, live, values).is_some_and(|split| {
        let mut found = diags.nested();
        check(&split, &Tokens::of(function, &split), &mut found);
        found.is_empty()
    })
}

/// The step or parameter that a token comes from.
#[derive(Debug)]
struct Arrival {
    group: Group,
    at: SpanRange,
    origin: TokenOrigin,
    /// The variable that first holds it.
    into: Variable,
    /// Whether the arrival publishes nothing.
    relaxed: bool,
}

/// An index into [`Tokens::arrivals`].
type ArrivalId = usize;

/// The solved analysis: the tokens that variables may hold at each point.
pub(crate) struct Tokens<'f> {
    function: &'f Function,
    arrivals: Vec<Arrival>,
    /// The variable that gets the token that each call returns.
    returned: Vec<Option<Variable>>,
    states: Vec<Option<Held>>,
}

fn arrivals(function: &Function, cfg: &Cfg<'_>) -> Vec<Arrival> {
    let params = function.params.iter().filter_map(|param| {
        let at = SpanRange::of(&function.local(param.local).name);
        let into = Variable::Local(param.local);
        let group = function.kind(param.local).token()?;
        Some(Arrival { group, at, origin: TokenOrigin::Parameter, into, relaxed: false })
    });
    let steps = cfg.blocks.iter().flat_map(|block| &block.steps).filter_map(|step| match step.kind {
        StepKind::Group(
            GroupStep::Arrive { group, method, into } | GroupStep::ArriveForgotten { group, method, into },
        ) => Some(Arrival { group, at: step.at, origin: TokenOrigin::Arrival, into, relaxed: method.relaxed }),
        StepKind::Call(CallId(call)) => {
            let (group, into) = cfg.calls[call].returned_token?;
            Some(Arrival { group, at: step.at, origin: TokenOrigin::Call, into, relaxed: false })
        }
        StepKind::Value(_)
        | StepKind::Memory(_)
        | StepKind::Copy(_)
        | StepKind::Group(
            GroupStep::Collective { .. }
            | GroupStep::Aligned { .. }
            | GroupStep::FormGroup(_)
            | GroupStep::Convergent { .. }
            | GroupStep::Wait { .. }
            | GroupStep::WaitElected { .. },
        )
        | StepKind::BarrierCall(_)
        | StepKind::Token(_) => None,
    });
    params.chain(steps).collect()
}

/// The arrivals whose tokens each variable may hold. A variable that is missing holds none. No rule depends on whether a
/// variable may *also* be empty.
#[derive(Debug, Clone, Default)]
pub(crate) struct Held(BTreeMap<Variable, BTreeSet<ArrivalId>>);

impl Join for Held {
    // bottom = no variable holds anything; join = union
    fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (variable, arrivals) in &other.0 {
            let known = self.0.entry(*variable).or_default();
            let before = known.len();
            known.extend(arrivals);
            changed |= known.len() != before;
        }
        changed
    }
}

impl Held {
    fn take(&mut self, variable: Variable) -> BTreeSet<ArrivalId> {
        self.0.remove(&variable).unwrap_or_default()
    }

    fn at(&self, variable: Variable) -> impl Iterator<Item = ArrivalId> + '_ {
        self.0.get(&variable).into_iter().flatten().copied()
    }

    /// Every pending arrival, with the variable that holds its token.
    fn all(&self) -> impl Iterator<Item = (Variable, ArrivalId)> + '_ {
        self.0.iter().flat_map(|(variable, arrivals)| arrivals.iter().map(|arrival| (*variable, *arrival)))
    }
}

impl<'f> Tokens<'f> {
    pub(crate) fn of(function: &'f Function, cfg: &Cfg<'_>) -> Tokens<'f> {
        let returned = cfg.calls.iter().map(|call| call.returned_token.map(|(_, into)| into)).collect();
        let mut tokens = Tokens { function, arrivals: arrivals(function, cfg), returned, states: Vec::new() };
        tokens.states = engine::solve(&tokens, cfg);
        tokens
    }

    /// The state at the start of each block.
    pub(crate) fn states(&self) -> &[Option<Held>] {
        &self.states
    }

    /// Whether an arrival at a barrier of one of these groups may be pending.
    pub(crate) fn is_pending(&self, held: &Held, of: impl Fn(Group) -> bool) -> bool {
        held.all().any(|(_, arrival)| of(self.arrivals[arrival].group))
    }

    /// The arrivals whose token a variable may hold: where each token came from, and the variable that held it first.
    pub(super) fn arrivals_at(
        &self,
        held: &Held,
        variable: Variable,
    ) -> impl Iterator<Item = (TokenOrigin, Variable)> + '_ {
        let arrivals: Vec<ArrivalId> = held.at(variable).collect();
        arrivals.into_iter().map(|arrival| (self.arrivals[arrival].origin, self.arrivals[arrival].into))
    }

    fn arrival_into(&self, into: Variable) -> BTreeSet<ArrivalId> {
        self.arrivals.iter().position(|arrival| arrival.into == into).into_iter().collect()
    }
}

impl Analysis for Tokens<'_> {
    type State = Held;

    fn entry(&self) -> Held {
        let params = self.arrivals.iter().enumerate().filter(|(_, arrival)| arrival.origin == TokenOrigin::Parameter);
        Held(params.map(|(id, arrival)| (arrival.into, BTreeSet::from([id]))).collect())
    }

    fn transfer(&self, state: &mut Held, step: &Step) {
        match &step.kind {
            StepKind::Group(
                GroupStep::Collective { .. }
                | GroupStep::Convergent { .. }
                | GroupStep::Aligned { .. }
                | GroupStep::FormGroup(_),
            )
            | StepKind::Copy(_)
            | StepKind::Memory(_)
            | StepKind::BarrierCall(_)
            | StepKind::Value(_) => {}
            StepKind::Call(CallId(call)) => {
                if let Some(into) = self.returned[*call] {
                    state.0.insert(into, self.arrival_into(into));
                }
            }
            StepKind::Group(GroupStep::Arrive { into, .. } | GroupStep::ArriveForgotten { into, .. }) => {
                state.0.insert(*into, self.arrival_into(*into));
            }
            StepKind::Group(GroupStep::Wait { from, .. } | GroupStep::WaitElected { from, .. })
            | StepKind::Token(TokenStep::HandOver { from } | TokenStep::Forget { from, .. }) => {
                state.take(*from);
            }
            StepKind::Token(TokenStep::Move { from, into }) => {
                let token = state.take(*from);
                state.0.insert(*into, token);
            }
            StepKind::Token(TokenStep::Clear { variable }) | StepKind::Token(TokenStep::Drop { variable, .. }) => {
                state.take(*variable);
            }
        }
    }

    fn edge(&self, state: &mut Held, cfg: &Cfg<'_>, from: BlockId, to: BlockId) {
        if let End::Option { variable, none, some, .. } = &cfg.blocks[from.0].end
            && to == *none
            && none != some
        {
            state.take(*variable);
        }
    }
}

struct Report<'a, 'f> {
    analysis: &'a Tokens<'f>,
    calls: &'a [Call<'f>],
    diags: &'a mut Diags,
    /// The places where each arrival's token is lost, so that an arrival is reported once, with all of them.
    losses: BTreeMap<ArrivalId, Vec<(TokenLoss, SpanRange, Option<TokenHolder>)>>,
    /// The arrivals and collectives that come while other arrivals are pending, with those.
    while_pending: Vec<(Diag, Vec<ArrivalId>)>,
    pending: PendingAtCalls,
}

impl Report<'_, '_> {
    fn step(&mut self, state: &Held, step: &Step) {
        match &step.kind {
            StepKind::Token(TokenStep::Move { .. } | TokenStep::Clear { .. } | TokenStep::Forget { .. })
            | StepKind::Group(GroupStep::Convergent { .. } | GroupStep::Aligned { .. } | GroupStep::FormGroup(_))
            | StepKind::Copy(_)
            | StepKind::Memory(_)
            | StepKind::BarrierCall(_)
            | StepKind::Value(_) => {}
            StepKind::Token(TokenStep::Drop { variable, how }) => self.check_dropped(state, *variable, *how, step.at),
            StepKind::Token(TokenStep::HandOver { from }) => self.check_handed_over(state, *from, step.at),
            StepKind::Group(
                GroupStep::Arrive { group, method, .. } | GroupStep::ArriveForgotten { group, method, .. },
            ) => self.check_arrive(state, *group, method.name, step.at),
            StepKind::Group(GroupStep::Wait { group, from } | GroupStep::WaitElected { group, from }) => {
                self.check_wait(state, *group, *from, step.at)
            }
            StepKind::Group(GroupStep::Collective { team, name, .. }) => {
                self.check_collective(state, team.group, name, step.at)
            }
            StepKind::Call(CallId(call)) => self.note_pending(state, self.calls[*call].slot.0),
        }
    }

    /// `token_never_waited`: every arrival is waited for, on every path.
    ///
    /// ```text
    /// let token = cluster.barrier_arrive();
    /// if done { return; }                     // the token is dropped here
    /// cluster.barrier_wait(token);
    /// ```
    fn check_dropped(&mut self, state: &Held, variable: Variable, how: TokenLoss, at: SpanRange) {
        let holder = match variable {
            Variable::Local(local) => {
                let local = self.analysis.function.local(local);
                let is_option = matches!(local.kind, Kind::OptionalToken(_));
                Some(TokenHolder { name: local.name.to_string(), is_option })
            }
            Variable::Field(..) | Variable::Temporary(_) => None,
        };
        for arrival in state.at(variable) {
            self.losses.entry(arrival).or_default().push((how, at, holder.clone()));
        }
    }

    /// `relaxed_publishes`: the function that takes or receives a token relies on what was done before its arrival.
    ///
    /// ```text
    /// fn publish(cluster: &Cluster, ..) -> ArrivalToken<Cluster> { ..; cluster.barrier_arrive_relaxed() }
    /// ```
    fn check_handed_over(&mut self, state: &Held, from: Variable, at: SpanRange) {
        let relaxed = state.at(from).map(|arrival| &self.analysis.arrivals[arrival]).find(|arrival| arrival.relaxed);
        if let Some(arrival) = relaxed {
            self.diags.push(messages::relaxed_token_leaves(at, arrival.at));
        }
    }

    /// `arrive_while_pending`: a thread arrives once per phase.
    ///
    /// ```text
    /// let first = cluster.barrier_arrive();
    /// let second = cluster.barrier_arrive();  // the first phase has not ended
    /// ```
    fn check_arrive(&mut self, state: &Held, group: Group, name: &str, at: SpanRange) {
        let arrivals = &self.analysis.arrivals;
        let pending = self.pending(state, |pending| pending == group);
        match pending.first() {
            Some(first) => {
                let first = &arrivals[*first];
                let fault = messages::arrive_while_pending(at, group, first.at, first.origin);
                self.while_pending.push((fault, pending));
            }
            None => self.check_collective(state, group, name, at),
        }
    }

    /// `collective_while_pending`: between an arrival and its wait there is no other collective of the group, nor of one
    /// that contains it. A collective of a smaller group is legal, and common.
    ///
    /// ```text
    /// let token = cluster.barrier_arrive();
    /// cluster.sync();                         // of the same group
    /// block.sync();                           // would be fine
    /// cluster.barrier_wait(token);
    /// ```
    fn check_collective(&mut self, state: &Held, group: Group, name: &str, at: SpanRange) {
        let pending = self.pending(state, |pending| pending <= group);
        if let Some(first) = pending.first() {
            let first = &self.analysis.arrivals[*first];
            let fault = messages::collective_while_pending(at, name, group, first.group, first.at);
            self.while_pending.push((fault, pending));
        }
    }

    /// The pending arrivals of these groups.
    fn pending(&self, state: &Held, of: impl Fn(Group) -> bool) -> Vec<ArrivalId> {
        state.all().map(|(_, arrival)| arrival).filter(|arrival| of(self.analysis.arrivals[*arrival].group)).collect()
    }

    /// A wait is a collective too. Another pending arrival of its own group was reported at that arrival.
    fn check_wait(&mut self, state: &Held, group: Group, from: Variable, at: SpanRange) {
        let mut others = state.clone();
        others.0.retain(|variable, _| *variable != from);
        others.0.values_mut().for_each(|held| held.retain(|id| self.analysis.arrivals[*id].group != group));
        self.check_collective(&others, group, "barrier_wait", at);
    }

    /// Records the groups of which a callee must execute no collective. rustc compares them with the callee's
    /// `collectives`.
    fn note_pending(&mut self, state: &Held, slot: u16) {
        let arrivals = &self.analysis.arrivals;
        let groups = state.all().map(|(_, arrival)| arrivals[arrival].group);
        let forbidden = groups.flat_map(|pending| Group::ALL.into_iter().filter(move |group| *group >= pending));
        let forbidden: Groups = forbidden.map(Group::flag).collect();
        if !forbidden.is_empty() {
            *self.pending.entry(slot).or_insert(Groups::empty()) |= forbidden;
        }
    }

    /// Reports what was found. Where only arrivals are pending whose missing wait is reported, what comes meanwhile is a
    /// consequence of that fault.
    fn finish(self) -> PendingAtCalls {
        let Tokens { function, arrivals, .. } = self.analysis;
        let is_reported = |arrival: &ArrivalId| {
            self.losses.contains_key(arrival) && !function.waives_at(Rule::TokenNeverWaited, arrivals[*arrival].at)
        };
        let is_consequence = |pending: &[ArrivalId]| pending.iter().all(is_reported);
        let while_pending = self.while_pending.into_iter().filter(|(_, pending)| !is_consequence(pending));
        while_pending.for_each(|(fault, _)| self.diags.push(fault));
        for (arrival, mut losses) in self.losses {
            losses.sort_by_key(|(how, at, _)| (at.line(), at.column(), *how));
            losses.dedup_by_key(|(how, at, _)| (at.line(), at.column(), *how));
            let arrival = &self.analysis.arrivals[arrival];
            self.diags.push(messages::token_never_waited(arrival.at, arrival.group, arrival.origin, &losses));
        }
        self.pending
    }
}
