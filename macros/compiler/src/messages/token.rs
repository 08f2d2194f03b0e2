//! Sentences about arrival tokens (CUDA C++ Programming Guide 11.6.1.1).

#![warn(clippy::wildcard_enum_match_arm)]

use super::{short, wrong_kind};
use crate::diag::Diag;
use crate::model::group::Group;
use crate::model::kind::Kind;
use crate::model::token::{TokenHolder, TokenLoss, TokenOrigin};
use crate::rules::Rule;
use crate::span::SpanRange;

/// Each loss has its kind, its place, and the variable that held the token.
pub(crate) fn token_never_waited(
    arrival: SpanRange,
    group: Group,
    origin: TokenOrigin,
    losses: &[(TokenLoss, SpanRange, Option<TokenHolder>)],
) -> Diag {
    let noun = group.noun();
    let what = match origin {
        TokenOrigin::Arrival => format!("this arrival at the barrier of the {noun}"),
        TokenOrigin::Call => format!("the arrival at the barrier of the {noun} whose token this call returns"),
        TokenOrigin::Parameter => format!("the arrival at the barrier of the {noun} that this token is from"),
    };
    let mut diag = Diag::new(
        Rule::TokenNeverWaited,
        arrival,
        format!("{what} must be waited for on every path, but some path does not wait"),
    );
    let mut waited = None;
    for (how, at, holder) in losses {
        waited = waited.or(holder.as_ref());
        let note = match (how, holder.as_ref().map(|holder| &holder.name)) {
            (TokenLoss::Unused, _) => "the token is dropped immediately: nothing holds it".to_string(),
            (TokenLoss::Discarded, _) => "the token is dropped here: no name holds it".to_string(),
            (TokenLoss::Overwritten, Some(name)) => format!("`{name}` is overwritten while it holds the token"),
            (TokenLoss::EndOfScope, Some(name)) => {
                format!("`{name}` may still hold the token here, where its scope ends")
            }
            (TokenLoss::Return, Some(name)) => format!("`{name}` may still hold the token at this `return`"),
            (TokenLoss::Question, Some(name)) => format!("`{name}` may still hold the token at this `?`"),
            (TokenLoss::Break, Some(name)) => format!("`{name}` may still hold the token at this `break`"),
            (TokenLoss::Continue, Some(name)) => format!("`{name}` may still hold the token at this `continue`"),
            (TokenLoss::Return, None) => {
                "the token has not reached its use yet, and is lost at this `return`".to_string()
            }
            (TokenLoss::Question, None) => "the token has not reached its use yet, and is lost at this `?`".to_string(),
            (TokenLoss::Break, None) => {
                "the token has not reached its use yet, and is lost at this `break`".to_string()
            }
            (TokenLoss::Continue, None) => {
                "the token has not reached its use yet, and is lost at this `continue`".to_string()
            }
            (TokenLoss::Overwritten | TokenLoss::EndOfScope, None) => "the token is lost here".to_string(),
        };
        diag = diag.note(*at, note);
    }
    let group = short(group);
    diag.help(match waited {
        Some(TokenHolder { name, is_option: true }) => format!(
            "take the token and wait on every path before it is lost: `if let Some(token) = {name}.take()`, then `{group}.barrier_wait(token)`"
        ),
        Some(TokenHolder { name, is_option: false }) => {
            format!("call `{group}.barrier_wait({name})` on every path before the token is lost")
        }
        None => {
            format!("bind the token and wait: `let token = {group}.barrier_arrive(); ... {group}.barrier_wait(token);`")
        }
    })
}

pub(crate) fn arrive_while_pending(at: SpanRange, group: Group, pending: SpanRange, origin: TokenOrigin) -> Diag {
    Diag::new(
        Rule::ArriveWhilePending,
        at,
        format!("a thread must wait for its arrival at the barrier of the {} before it arrives again", group.noun()),
    )
    .note(
        pending,
        match origin {
            TokenOrigin::Arrival => "the first arrival is here, and its token is still held",
            TokenOrigin::Call => "this call returned the token of the first arrival, which is still held",
            TokenOrigin::Parameter => "this parameter is the token of the first arrival, and is still held",
        },
    )
    .help(format!(
        "a thread arrives once per phase: call `{}.barrier_wait` with the first token before this",
        short(group)
    ))
}

pub(crate) fn collective_while_pending(
    at: SpanRange,
    what: &str,
    group: Group,
    pending: Group,
    arrival: SpanRange,
) -> Diag {
    let diag = Diag::new(
        Rule::CollectiveWhilePending,
        at,
        format!(
            "`{what}` is a collective of the {}, which must not be executed while an arrival of the {} is pending",
            group.noun(),
            pending.noun()
        ),
    )
    .note(arrival, "the token comes from here, and is still held");
    if group == pending {
        diag.help("wait for the arrival first: between arrive and wait, other collectives of the group are undefined")
    } else {
        diag.help(format!("wait for the arrival first: the {} contains the {}", group.noun(), pending.noun()))
    }
}

pub(crate) fn token_forgotten(at: SpanRange, what: &str, group: Group, of: Group, forget: SpanRange) -> Diag {
    let again =
        if (forget.line(), forget.column()) >= (at.line(), at.column()) { ", in an earlier iteration" } else { "" };
    let inside = if group == of { "" } else { " inside it" };
    Diag::new(
        Rule::TokenForgotten,
        at,
        format!(
            "`{what}` is a collective of the {}, which must not be used after a token of the {}{inside} was forgotten",
            group.noun(),
            of.noun()
        ),
    )
    .note(forget, format!("the token may be forgotten here{again}: this thread does not wait for the phase"))
    .help(format!("call `{}.barrier_wait` instead of `forget`, on every path that leads here", short(of)))
}

/// Says of a divergent wait, where other threads forget the token, which threads may wait.
pub(crate) fn elected_wait(diag: Diag, group: Group) -> Diag {
    diag.remark(match group {
        Group::Coalesced | Group::Tile | Group::ThreadBlock | Group::Cluster => {
            "other threads forget the token, so only whole warps may wait: select them by `block.thread_rank() / 32` or by \
             the block's rank"
        }
        Group::Grid => "other threads forget the token, so only whole blocks may wait: select them by the block's rank",
    })
}

pub(crate) fn call_after_forget(at: SpanRange, forget: SpanRange) -> Diag {
    Diag::new(
        Rule::TokenForgotten,
        at,
        "this function executes a collective of a group that must not be used after its token was forgotten",
    )
    .note(forget, "the token may be forgotten here: this thread does not wait for the phase")
    .help("wait for the token instead of forgetting it, on every path that leads to the call")
}

pub(crate) fn forget_in_function(at: SpanRange) -> Diag {
    Diag::new(
        Rule::ForgetAcrossCalls,
        at,
        "only a kernel can forget a token: the checks of a device function's callers would not see it",
    )
    .help("return the token to the kernel, and wait for it there")
}

pub(crate) fn forgets_foreign_token(at: SpanRange) -> Diag {
    Diag::new(
        Rule::ForgetAcrossCalls,
        at,
        "only the token of an arrival in the kernel itself can be forgotten, but a device function returned this one",
    )
    .help("arrive in the kernel, or wait for the token")
}

pub(crate) fn token_escapes(at: SpanRange, whereto: &str) -> Diag {
    Diag::new(
        Rule::TokenEscapes,
        at,
        format!("an arrival token cannot be moved into {whereto}, where it cannot be tracked"),
    )
    .help("keep each token in a local variable of its own, plain or in an `Option`")
}

pub(crate) fn not_a_token(at: SpanRange, found: Kind) -> Diag {
    wrong_kind(at, "an `ArrivalToken`", found).help(
        "write the type of a token that a device function returned: `let token: ArrivalToken<Cluster> = ...`; wait for the token of a phase barrier at that barrier: `bar.wait(token)`",
    )
}

/// A wait is given a name that no `let` of the function binds.
pub(crate) fn unknown_token(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::WrongKind, at, format!("expected an `ArrivalToken`, but no variable `{name}` is in scope here"))
        .help("bind the token of the arrival: `let token = cluster.barrier_arrive();`, and wait with it where it is in scope")
}
