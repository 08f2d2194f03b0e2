//! What is known of a function's uniformity, as constants that rustc joins with those of the functions that it calls
//! (`phalanx::__private::uniformity`).

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::template;
use crate::check::Checked;
use crate::check::scope::{Scope, Team};
use crate::check::uniform::level::{Level, Unknown};
use crate::check::uniform::summary::{Call, Need, Obligation, Summary};
use crate::model::{Function, Role, SlotId};

struct Tables<'a> {
    function: &'a Function,
    summary: &'a Summary,
}

/// The constants of the function's `Summary`: none where the trait's own are right.
pub(super) fn constants(checked: &Checked<'_>, items: &[TokenStream]) -> TokenStream {
    let (function, summary) = (checked.function(), checked.summary());
    let tables = Tables { function, summary };
    // Where rustc points if functions call each other in a circle.
    let span = function.name.span();
    let results = (!summary.calls.is_empty()).then(|| {
        let calls = summary.calls.iter().map(|call| tables.call(call));
        let results = path("results");
        let level = path("Level");
        quote_spanned!(span=> const RESULTS: &'static [#level] = { #(#items)* &#results(&[#(#calls),*]) };)
    });
    let uniformity = (function.role != Role::Kernel).then(|| tables.uniformity(checked.collectives(), items));
    quote!(#results #uniformity)
}

/// What the body needs of the functions that it calls, asked at its places.
pub(super) fn checks(function: &Function, summary: &Summary) -> TokenStream {
    let tables = Tables { function, summary };
    let marker = &function.name;
    if summary.waived {
        return TokenStream::new();
    }
    let asked: Vec<_> = summary.obligations.iter().filter(|obligation| obligation.message.is_some()).collect();
    // One constant a place: rustc takes its time for each.
    let places =
        asked.chunk_by(|first, second| first.at.line() == second.at.line() && first.at.column() == second.at.column());
    let asked = places.filter_map(|obligations| {
        let span = obligations.first()?.at.lo;
        let agree = obligations.iter().map(|obligation| {
            let (data, message) = (tables.obligation(obligation), &obligation.message);
            quote_spanned! {span=>
                ::phalanx::__private::uniformity::agree(
                    #data, <#marker as ::phalanx::__private::Summary>::RESULTS, #message
                );
            }
        });
        Some(quote_spanned!(span=> const _: () = { #(#agree)* };))
    });
    let count = function.slots.len();
    let methods = summary.methods().map(|(slot, obligation)| {
        let Obligation { at, need, .. } = obligation;
        let slot = super::host::slot_place(SlotId(slot), count, *at);
        let need = tables.need(need);
        quote_spanned!(at.lo=> ::phalanx::__private::uniformity::agreed_result::<{ #need.strictest() }, _>(#slot);)
    });
    quote!(#(#asked)* #(#methods)*)
}

fn path(name: &str) -> TokenStream {
    let name = proc_macro2::Ident::new(name, proc_macro2::Span::call_site());
    quote!(::phalanx::__private::uniformity::#name)
}

impl Tables<'_> {
    fn uniformity(&self, collectives: u8, items: &[TokenStream]) -> TokenStream {
        let count = self.function.params.len();
        let control = self.summary.calls.iter().map(|call| self.at_call(call, &call.groups, &quote!(control)));
        let own = self.together();
        let obligations = self.summary.obligations.iter().map(|obligation| self.obligation(obligation));
        let (groups, others) = (self.groups(), self.others());
        let result = self.term(&self.summary.result);
        let (uniformity, params) = (path("Uniformity"), path("params"));
        let callees = self.summary.calls.iter().map(callee);
        quote_spanned! {self.function.name.span()=>
            const UNIFORMITY: #uniformity = {
                #(#items)*
                #uniformity {
                    collectives: #collectives #(| #callees.collectives)*,
                    control: #own #(.and(#control))*.to_callers(#groups, #others),
                    params: &#params::<#count>(&[#(#obligations),*], Self::RESULTS, #groups, #others),
                    result: #result.level(Self::RESULTS).to_callers(#groups),
                }
            };
        }
    }

    fn call(&self, call: &Call) -> TokenStream {
        let callee = callee(call);
        let groups = call.groups.iter().map(|scope| scope.argument());
        let arguments = call.arguments.iter().map(|argument| self.term(argument));
        let called = path("Called");
        quote!(#called { callee: #callee, groups: &[#(#groups),*], arguments: &[#(#arguments),*] })
    }

    /// A need of the callee's, in the caller's groups.
    fn at_call(&self, call: &Call, groups: &[Scope], field: &TokenStream) -> TokenStream {
        let callee = callee(call);
        let groups = groups.iter().map(|scope| scope.argument());
        quote!(#callee.#field.at_call(&[#(#groups),*]))
    }

    fn need(&self, need: &Need) -> Option<TokenStream> {
        let of = |slot: u16| self.summary.calls.iter().find(|call| call.slot == slot);
        match need {
            Need::Team(team) => Some(team_need(*team)),
            Need::Control(slot, groups) => of(*slot).map(|call| self.at_call(call, groups, &quote!(control))),
            Need::Argument(slot, index) => {
                of(*slot).map(|call| self.at_call(call, &call.groups, &quote!(param(#index))))
            }
        }
    }

    fn obligation(&self, obligation: &Obligation) -> TokenStream {
        let (need, on) = (self.need(&obligation.need), self.term(&obligation.on));
        let obligation = path("Obligation");
        quote!(#obligation { need: #need, on: #on })
    }

    fn term(&self, level: &Level) -> TokenStream {
        let mut scope = level.scope.number();
        let (mut params, mut calls, mut multiples) = (0_u128, Vec::new(), Vec::new());
        for unknown in level.unknown.iter() {
            match unknown {
                Unknown::Param(index) => params |= 1_u128.checked_shl(*index as u32).unwrap_or(0),
                Unknown::Call(slot) => calls.extend(self.summary.calls.iter().position(|call| call.slot == *slot)),
                Unknown::Multiple(value) => multiples.push(&self.function.values[usize::from(*value)].tokens),
                // Asked by itself; a caller is told that nothing is known.
                Unknown::Method(_) => scope = 0,
            }
        }
        let (meet, threads, term, level) = (path("meet"), path("scope_of_threads"), path("Term"), path("Level"));
        let scope =
            multiples.iter().fold(quote!(#scope), |scope, value| quote!(#meet(#scope, #threads((#value) as u128))));
        quote!(#term { level: #level { scope: #scope, params: #params }, calls: &[#(#calls),*] })
    }

    fn together(&self) -> TokenStream {
        let none = path("Need");
        let needs = self.summary.together.iter().filter(|team| team.made.is_none()).map(|team| team_need(*team));
        quote!(#none::NONE #(.and(#needs))*)
    }

    /// The function's groups that are parameters.
    fn groups(&self) -> TokenStream {
        let groups = self.summary.groups.iter().filter(|(scope, _)| scope.group().is_some()).map(|(scope, param)| {
            let scope = scope.number();
            quote!((#scope, #param))
        });
        quote!(&[#(#groups),*])
    }

    /// Its groups of a warp that are not, as tiles of a size that only the instance knows.
    fn others(&self) -> u128 {
        let own = |team: &&Team| team.made.is_none() && team.param.is_none();
        let others = self.summary.together.iter().filter(own).map(|team| group_bit(team.scope));
        others.fold(0, |others, group| others | group)
    }
}

fn callee(call: &Call) -> TokenStream {
    template::summary(&call.function, "UNIFORMITY")
}

fn group_bit(scope: Scope) -> u128 {
    scope.group().map_or(0, |group| 1 << group)
}

fn team_need(team: Team) -> TokenStream {
    let (need, groups) = (path("Need"), group_bit(team.scope));
    let scope = if groups == 0 { team.scope.at_least() } else { 0 };
    quote!(#need { scope: #scope, groups: #groups })
}
