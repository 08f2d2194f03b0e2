//! The summary of a function's effects on shared memory and barriers, as constants that rustc combines with those of
//! its callees (`phalanx_contract::protocol`).

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::{callee, constant};
use crate::check::dsm::overlap::ConstantIs;
use crate::check::dsm::protocol::{Demand, Guard};
use crate::check::{Asks, Checked};
use crate::model::ty::ParamType;
use crate::model::{Function, Role};
use crate::rules::Rule;
use crate::span::SpanRange;

fn path(name: &str) -> TokenStream {
    constant::path("protocol", name)
}

/// The slots of the calls that are asked about, in the order of the table of callees.
struct Table(Vec<u16>);

/// Makes the constants of the function's `Summary`, or nothing where the trait's defaults are right.
pub(super) fn constants(checked: &Checked<'_>, items: &[TokenStream]) -> TokenStream {
    let (function, protocol) = (checked.function(), checked.protocol());
    let table = Table::of(checked);
    let span = function.name.span();
    let summary = path("ProtocolSummary");
    let callees = (!table.0.is_empty()).then(|| {
        let of = |slot: &u16| checked.summary().calls.iter().find(|call| call.slot == *slot);
        let callees = table.0.iter().filter_map(of).map(|call| callee::summary(&call.function, "PROTOCOL"));
        quote_spanned!(span=> const CALLEES: &'static [#summary] = { #(#items)* &[#(#callees),*] };)
    });
    let own = (function.role == Role::Device).then(|| {
        let effects = protocol.effects.iter().map(|(effect, guard)| {
            let (effect, guard) = (constant::effect(effect.rename(|slot| table.call(slot))), table.guard(guard));
            quote!((#effect, #guard))
        });
        let (behavior, uses, clashes) = (path("behavior"), path("parameter_uses"), path("clashes"));
        let (effect, guard, count) = (path("Effect"), path("Guard"), function.params.len());
        let (dynamic, executions, identity) = (path("dynamic_uses"), path("executions"), path("identity"));
        let name = function.name.to_string();
        let rows = protocol.rows.iter().map(|row| constant::option(row.map(|row| quote!(#row))));
        quote_spanned! {span=>
            const PROTOCOL: #summary = {
                const EFFECTS: &[(#effect, #guard)] = &[#(#effects),*];
                const IDENTITY: u64 = #identity(
                    ::core::module_path!(), ::core::file!(), (::core::line!(), ::core::column!()), #name
                );
                #summary {
                    behavior: #behavior(EFFECTS, Self::CALLEES),
                    parameters: &#uses::<#count>(EFFECTS, Self::CALLEES),
                    dynamic: #dynamic(EFFECTS, Self::CALLEES),
                    executions: #executions(IDENTITY, EFFECTS, Self::CALLEES),
                    clashes: #clashes(EFFECTS, Self::CALLEES),
                    rows: &[#(#rows),*],
                }
            };
        }
    });
    let names = (function.role == Role::Method).then(|| super::operator::names_memory(function)).flatten();
    let takes_slices = function.params.iter().any(|param| matches!(param.ty, ParamType::Slice { .. }));
    let needs = takes_slices.then(|| super::device::needs_memory(function));
    quote!(#callees #own #names #needs)
}

/// Makes the checks of what the body requires of its callees, at the spans where it requires it.
pub(super) fn checks(checked: &Checked<'_>) -> TokenStream {
    let (marker, table) = (&checked.function().name, Table::of(checked));
    let function = checked.function();
    let ty = path("Guard");
    // What is said of one place in the same words is said once: rustc stops at the first panic of a constant.
    let mut said: Vec<(SpanRange, &str, Vec<TokenStream>)> = Vec::new();
    let mut others = TokenStream::new();
    for Demand { guard: condition, rule, at, message } in &checked.protocol().demands {
        let (span, guard) = (at.lo, table.guard(condition));
        // The function's name has this span too, where rustc points.
        let refuse = quote_spanned! {span=>
            ::phalanx::__private::contract::protocol::refuse(
                GUARD, <#marker as ::phalanx::__private::Summary>::CALLEES, #message
            )
        };
        let right_if = checked.is_answered_if(Asks::MEMORY).filter(|_| Rule::OF_PAIRS.contains(rule));
        if condition.constants.is_empty() && right_if.is_none() {
            let asked = quote_spanned!(span=> { const GUARD: #ty = #guard; #refuse });
            match said.iter_mut().find(|(other, text, _)| other.begins_with(*at) && text == message) {
                Some((.., known)) => known.push(asked),
                None => said.push((*at, message, vec![asked])),
            }
            continue;
        }
        let constants = condition.constants.iter().map(|condition| constant_is(function, condition));
        let unknown = right_if.map(|right_if| quote_spanned!(span=> !(#right_if)));
        let condition: TokenStream = {
            let each = constants.chain(unknown);
            quote_spanned!(span=> #(#each)&&*)
        };
        let checked = quote_spanned!(span=> { const GUARD: #ty = #guard; if #condition { #refuse } });
        others.extend(constant::evaluated(function, &condition, &checked, span));
    }
    let said = said.into_iter().map(|(at, _, asked)| quote_spanned!(at.lo=> const _: () = { #(#asked)* };));
    quote!(#(#said)* #others)
}

/// Makes the expression of a condition on a constant.
fn constant_is(function: &Function, condition: &ConstantIs) -> TokenStream {
    let constant = &function.values[usize::from(condition.constant.0)].tokens;
    let (one_of, or_no_power_of_two) = (condition.one_of.iter().copied().map(i128::from), condition.or_no_power_of_two);
    let is_one_of = constant::path("constant", "is_one_of");
    let below = i128::from(condition.below);
    quote!(#is_one_of((#constant) as i128, #below, &[#(#one_of),*], #or_no_power_of_two))
}

impl Table {
    fn of(checked: &Checked<'_>) -> Table {
        let asked: BTreeSet<u16> = checked.protocol().calls();
        Table(asked.into_iter().collect())
    }

    fn call(&self, slot: u16) -> usize {
        self.0.iter().position(|known| *known == slot).unwrap_or(usize::MAX)
    }

    fn guard(&self, guard: &Guard) -> TokenStream {
        let ty = path("Guard");
        let when = guard.when.iter().map(|what| constant::predicate(what.rename(|slot| self.call(slot))));
        let unless = guard.unless.iter().map(|(slot, behavior)| {
            let (call, behavior) = (self.call(*slot), constant::behavior(*behavior));
            quote!((#call, #behavior))
        });
        quote!(#ty { when: &[#(#when),*], unless: &[#(#unless),*] })
    }
}
