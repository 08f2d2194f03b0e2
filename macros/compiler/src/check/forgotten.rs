//! Forgotten tokens: `token_forgotten`, `forget_across_calls`, and which waits are by elected threads.
//!
//! A thread that forgets its token has arrived and never waits (PTX ISA, barrier.cluster: an arrival does not wait). The
//! barrier's next phase would begin with threads that have not seen the end of this one, so that this is the group's
//! last. Of memory, such a thread knows nothing: what a wait proves, it does not prove for the whole group.
//!
//! Not checked here: that every token is waited for or forgotten (`tokens`), and that whole warps wait (`uniform`).

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::Groups;

use super::cfg::{BlockId, CallId, Cfg, GroupStep, Step, StepKind, TokenStep, Variable};
use super::engine::{self, Analysis, Join};
use super::tokens::Tokens;
use crate::diag::Diags;
use crate::messages;
use crate::model::group::Group;
use crate::model::token::TokenOrigin;
use crate::span::SpanRange;

/// For calls of device functions, by slot: the groups that must not be used in them, and what rustc says if one is.
pub(crate) type ForgottenAtCalls = BTreeMap<u16, (Groups, String)>;

/// Marks the arrivals whose token may be forgotten, and the waits for them: not all threads of the group wait there.
///
/// `forget_across_calls`: the arrival is in the kernel itself, so that what came before it is known here.
///
/// ```text
/// let token: ArrivalToken<Cluster> = publish(&cluster);    // of a device function
/// token.forget();
/// ```
pub(super) fn mark(cfg: &mut Cfg<'_>, tokens: &Tokens<'_>, diags: &mut Diags) {
    if forgets(cfg).is_empty() {
        return;
    }
    let mut forgotten: BTreeSet<Variable> = BTreeSet::new();
    engine::visit(tokens, cfg, tokens.states(), |held, step| {
        if let StepKind::Token(TokenStep::Forget { from, .. }) = step.kind {
            // A parameter is a device function's, which the parser has refused.
            if tokens.arrivals_at(held, from).any(|(origin, _)| origin == TokenOrigin::Call) {
                diags.push(messages::forgets_foreign_token(step.at));
            }
            forgotten.extend(tokens.arrivals_at(held, from).map(|(_, into)| into));
        }
    });
    for (block, held) in cfg.blocks.iter_mut().zip(tokens.states()) {
        let Some(mut held) = held.clone() else { continue };
        for step in &mut block.steps {
            if let StepKind::Group(kind) = &mut step.kind {
                match *kind {
                    GroupStep::Arrive { group, method, into } if forgotten.contains(&into) => {
                        *kind = GroupStep::ArriveForgotten { group, method, into };
                    }
                    GroupStep::Wait { group, from }
                        if tokens.arrivals_at(&held, from).any(|(_, into)| forgotten.contains(&into)) =>
                    {
                        *kind = GroupStep::WaitElected { group, from };
                    }
                    GroupStep::Arrive { .. }
                    | GroupStep::Wait { .. }
                    | GroupStep::ArriveForgotten { .. }
                    | GroupStep::WaitElected { .. }
                    | GroupStep::Collective { .. }
                    | GroupStep::Convergent { .. }
                    | GroupStep::Aligned { .. }
                    | GroupStep::FormGroup(_) => {}
                }
            }
            tokens.transfer(&mut held, step);
        }
    }
}

/// `token_forgotten`: where a token may have been forgotten, no collective of its group, nor of one that contains it,
/// comes after, on any path.
///
/// ```text
/// let token = cluster.barrier_arrive();
/// if n == 0 { token.forget(); } else { cluster.barrier_wait(token); }
/// cluster.sync();                         // where n is 0, a new phase, which threads that have not waited may not begin
/// ```
pub(super) fn check(cfg: &Cfg<'_>, diags: &mut Diags) -> ForgottenAtCalls {
    let analysis = Forgetting { forgets: forgets(cfg) };
    if analysis.forgets.is_empty() {
        return ForgottenAtCalls::new();
    }
    let states = engine::solve(&analysis, cfg);
    let mut calls = ForgottenAtCalls::new();
    engine::visit(&analysis, cfg, &states, |state, step| {
        if let Some((group, name)) = used(step)
            && let Some((of, forget)) = analysis.forgotten(state, group).next()
        {
            diags.push(messages::token_forgotten(step.at, name, group, of, forget));
        }
        if let StepKind::Call(CallId(call)) = &step.kind
            && let Some((_, forget)) = analysis.forgotten(state, Group::Grid).next()
        {
            let of = analysis.forgotten(state, Group::Grid).map(|(of, _)| of);
            let groups = of.flat_map(|of| Group::ALL.into_iter().filter(move |group| *group >= of));
            calls.insert(
                cfg.calls[*call].slot.0,
                (groups.map(Group::flag).collect(), messages::call_after_forget(step.at, forget).text()),
            );
        }
    });
    calls
}

/// Returns the places at which a token is forgotten, each with the token's group.
fn forgets(cfg: &Cfg<'_>) -> Vec<(Group, SpanRange)> {
    let steps = cfg.blocks.iter().flat_map(|block| &block.steps);
    let forgets = steps.filter_map(|step| match step.kind {
        StepKind::Token(TokenStep::Forget { group, .. }) => Some((group, step.at)),
        StepKind::Token(
            TokenStep::Move { .. } | TokenStep::HandOver { .. } | TokenStep::Clear { .. } | TokenStep::Drop { .. },
        )
        | StepKind::Value(_)
        | StepKind::Memory(_)
        | StepKind::Group(_)
        | StepKind::BarrierCall(_)
        | StepKind::Copy(_)
        | StepKind::Call(_) => None,
    });
    forgets.collect()
}

/// Returns the group that a step is a collective of, and the collective's name.
fn used(step: &Step) -> Option<(Group, &'static str)> {
    match step.kind {
        StepKind::Group(GroupStep::Collective { team, name, .. }) => Some((team.group, name)),
        StepKind::Group(GroupStep::Arrive { group, method, .. } | GroupStep::ArriveForgotten { group, method, .. }) => {
            Some((group, method.name))
        }
        StepKind::Group(GroupStep::Wait { group, .. } | GroupStep::WaitElected { group, .. }) => {
            Some((group, "barrier_wait"))
        }
        StepKind::Group(GroupStep::Convergent { .. } | GroupStep::Aligned { .. } | GroupStep::FormGroup(_))
        | StepKind::Value(_)
        | StepKind::Memory(_)
        | StepKind::Token(_)
        | StepKind::BarrierCall(_)
        | StepKind::Copy(_)
        | StepKind::Call(_) => None,
    }
}

struct Forgetting {
    forgets: Vec<(Group, SpanRange)>,
}

/// The places, by their index, at which a token may have been forgotten since its group was last used.
#[derive(Clone, Default)]
struct Forgotten(BTreeSet<usize>);

impl Join for Forgotten {
    // bottom = none; join = union
    fn join(&mut self, other: &Self) -> bool {
        let before = self.0.len();
        self.0.extend(&other.0);
        self.0.len() != before
    }
}

impl Forgetting {
    /// Returns the places at which the token of this group, or of one inside it, may have been forgotten.
    fn forgotten(&self, state: &Forgotten, group: Group) -> impl Iterator<Item = (Group, SpanRange)> {
        state.0.iter().map(|at| self.forgets[*at]).filter(move |(of, _)| *of <= group)
    }
}

impl Analysis for Forgetting {
    type State = Forgotten;

    fn entry(&self) -> Forgotten {
        Forgotten::default()
    }

    fn transfer(&self, state: &mut Forgotten, step: &Step) {
        // A fault is reported once, at the first use.
        if let Some((group, _)) = used(step) {
            state.0.retain(|at| self.forgets[*at].0 > group);
        }
        if let StepKind::Token(TokenStep::Forget { group, .. }) = step.kind {
            let is_here = |(of, at): &(Group, SpanRange)| {
                *of == group && (at.line(), at.column()) == (step.at.line(), step.at.column())
            };
            state.0.extend(self.forgets.iter().position(is_here));
        }
    }

    fn edge(&self, _: &mut Forgotten, _: &Cfg<'_>, _: BlockId, _: BlockId) {}
}
