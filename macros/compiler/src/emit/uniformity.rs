//! The summary of a function's uniformity, as constants that rustc combines with those of its callees
//! (`phalanx_contract::uniformity`).

#![warn(clippy::wildcard_enum_match_arm)]

use phalanx_contract::Groups;
use phalanx_contract::uniformity::{MAX_GROUPS, Uniformity};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::{callee, constant};
use crate::check::cfg::Team;
use crate::check::uniform::level::{Level, Unknown};
use crate::check::uniform::summary::{Call, Need, Obligation, Summary};
use crate::check::{Asks, Checked};
use crate::model::{Function, Role, SlotId};

struct Tables<'a> {
    function: &'a Function,
    summary: &'a Summary,
}

/// Makes the constants of the function's `Summary`, or nothing where the trait's defaults are right.
pub(super) fn constants(checked: &Checked<'_>, items: &[TokenStream]) -> TokenStream {
    let (function, summary) = (checked.function(), checked.summary());
    let tables = Tables { function, summary };
    // rustc reports recursion among functions at this span.
    let span = function.name.span();
    let results = (!summary.calls.is_empty()).then(|| {
        let calls = summary.calls.iter().map(|call| tables.call(call));
        let results = path("results");
        let bound = path("Bound");
        quote_spanned!(span=> const RESULTS: &'static [#bound] = { #(#items)* &#results(&[#(#calls),*]) };)
    });
    let uniformity = (function.role != Role::Kernel).then(|| tables.uniformity(checked.collectives(), items));
    quote!(#results #uniformity)
}

/// Makes the checks of what the body requires of its callees, at the spans where it requires it.
pub(super) fn checks(checked: &Checked<'_>) -> TokenStream {
    let (function, summary) = (checked.function(), checked.summary());
    let tables = Tables { function, summary };
    let marker = &function.name;
    let asked: Vec<_> = summary.asked().filter(|obligation| obligation.message.is_some()).collect();
    // One constant is made for each place, because each takes rustc some time.
    let places =
        asked.chunk_by(|first, second| first.at.line() == second.at.line() && first.at.column() == second.at.column());
    let asked = places.filter_map(|obligations| {
        let span = obligations.first()?.at.lo;
        let agree = obligations.iter().map(|obligation| {
            let (data, message) = (tables.obligation(obligation, Uniformity::Grid), &obligation.message);
            quote_spanned! {span=>
                ::phalanx::__private::contract::uniformity::agree(
                    #data, <#marker as ::phalanx::__private::Summary>::RESULTS, #message
                );
            }
        });
        Some(match checked.is_answered_if(Asks::UNIFORMITY) {
            None => quote_spanned!(span=> const _: () = { #(#agree)* };),
            Some(condition) => {
                let unless = quote_spanned!(span=> { if !(#condition) { #(#agree)* } });
                constant::evaluated(function, condition, &unless, span)
            }
        })
    });
    // The height is a constant of a type, which can name none of the function's own.
    let answered = checked.is_answered_if(Asks::METHODS).filter(|answered| !function.generics.names_one_of(answered));
    let methods = summary.methods().map(|(slot, obligation)| {
        let Obligation { at, need, .. } = obligation;
        let slot = super::host::slot_place(SlotId(slot), *at);
        let need = tables.need(need);
        let height = match answered {
            None => quote_spanned!(at.lo=> #need.strictest_height()),
            Some(condition) => quote_spanned!(at.lo=> if #condition { 0 } else { #need.strictest_height() }),
        };
        quote_spanned!(at.lo=> ::phalanx::__private::agreed_result::<{ #height }, _>(#slot);)
    });
    quote!(#(#asked)* #(#methods)*)
}

fn path(name: &str) -> TokenStream {
    constant::path("uniformity", name)
}

impl Tables<'_> {
    fn uniformity(&self, collectives: Groups, items: &[TokenStream]) -> TokenStream {
        let count = self.function.params.len();
        let control = self.summary.calls.iter().map(|call| self.at_call(call, &call.groups, &quote!(control)));
        let own = self.together();
        let obligations =
            self.summary.obligations.iter().map(|obligation| self.obligation(obligation, Uniformity::Divergent));
        let (groups, others) = (self.groups(), self.others());
        let result = self.term(&self.summary.result, Uniformity::Divergent);
        let (summary, needs) = (path("UniformitySummary"), path("parameter_needs"));
        let callees = self.summary.calls.iter().map(callee_summary);
        let collectives = constant::groups(collectives);
        quote_spanned! {self.function.name.span()=>
            const UNIFORMITY: #summary = {
                #(#items)*
                #summary {
                    collectives: #collectives #(.union(#callees.collectives))*,
                    control: #own #(.and(#control))*.to_callers(#groups, #others),
                    parameters: &#needs::<#count>(&[#(#obligations),*], Self::RESULTS, #groups, #others),
                    result: #result.bound(Self::RESULTS).to_callers(#groups),
                }
            };
        }
    }

    fn call(&self, call: &Call) -> TokenStream {
        let callee = callee_summary(call);
        let groups = uniformities(&call.groups);
        let arguments = call.arguments.iter().map(|argument| self.term(argument, Uniformity::Divergent));
        let called = path("Called");
        quote!(#called { callee: #callee, groups: #groups, arguments: &[#(#arguments),*] })
    }

    /// Returns a requirement of the callee, in terms of the caller's groups.
    fn at_call(&self, call: &Call, groups: &[Uniformity], field: &TokenStream) -> TokenStream {
        let (callee, groups) = (callee_summary(call), uniformities(groups));
        quote!(#callee.#field.at_call(#groups))
    }

    fn need(&self, need: &Need) -> Option<TokenStream> {
        let of = |slot: u16| self.summary.calls.iter().find(|call| call.slot == slot);
        match need {
            Need::Team(team) => Some(team_need(*team)),
            Need::Control(slot, groups) => of(*slot).map(|call| self.at_call(call, groups, &quote!(control))),
            Need::Argument(slot, index) => {
                of(*slot).map(|call| self.at_call(call, &call.groups, &quote!(parameter(#index))))
            }
        }
    }

    /// Returns an obligation, in which the results of methods count as this uniform.
    fn obligation(&self, obligation: &Obligation, methods: Uniformity) -> TokenStream {
        let (need, on) = (self.need(&obligation.need), self.term(&obligation.on, methods));
        let obligation = path("Obligation");
        quote!(#obligation { need: #need, on: #on })
    }

    /// Returns a level. Whether the results of methods meet a need of the function itself is asked of them one by one
    /// (`agreed_result`); its callers take them to diverge.
    fn term(&self, level: &Level, methods: Uniformity) -> TokenStream {
        let mut known = level.at_most;
        let (mut parameters, mut calls, mut multiples) = (Vec::new(), Vec::new(), Vec::new());
        for unknown in level.unknown.iter() {
            match unknown {
                Unknown::Param(position) => parameters.push(*position),
                Unknown::Call(slot) => calls.extend(self.summary.calls.iter().position(|call| call.slot == *slot)),
                Unknown::Multiple(value) => multiples.push(&self.function.values[usize::from(*value)].tokens),
                Unknown::Method(_) => known = known.meet(methods),
            }
        }
        let (uniformity, term, bound) = (path("Uniformity"), path("Term"), path("Bound"));
        let known = constant::uniformity(known);
        quote! {
            #term {
                bound: #bound::of(#known #(.meet(#uniformity::of_threads((#multiples) as u128)))*)
                    #(.and_parameter(#parameters))*,
                calls: &[#(#calls),*],
            }
        }
    }

    fn together(&self) -> TokenStream {
        let none = path("Need");
        let needs =
            self.summary.collective_groups.iter().filter(|team| team.formed_at.is_none()).map(|team| team_need(*team));
        quote!(#none::NONE #(.and(#needs))*)
    }

    /// Returns the numbers of the groups that are parameters of the function, with their positions.
    fn groups(&self) -> TokenStream {
        let groups = self.summary.groups.iter().filter_map(|(uniformity, position)| {
            let group = group_number(*uniformity)?;
            Some(quote!((#group, #position)))
        });
        quote!(&[#(#groups),*])
    }

    /// Returns the groups within one warp that are not parameters, as tiles of a size that only the instance knows.
    fn others(&self) -> TokenStream {
        let own = |team: &&Team| team.formed_at.is_none() && team.param.is_none();
        let others = self.summary.collective_groups.iter().filter(own).filter_map(|team| group_number(team.uniformity));
        constant::index_set(others.map(usize::from).filter(|group| *group < MAX_GROUPS))
    }
}

fn callee_summary(call: &Call) -> TokenStream {
    callee::summary(&call.function, "UNIFORMITY")
}

fn uniformities(uniformities: &[Uniformity]) -> TokenStream {
    let uniformities = uniformities.iter().map(|uniformity| constant::uniformity(*uniformity));
    quote!(&[#(#uniformities),*])
}

fn group_number(uniformity: Uniformity) -> Option<u16> {
    if let Uniformity::Group(group) = uniformity { Some(group) } else { None }
}

fn team_need(team: Team) -> TokenStream {
    let (need, uniformity) = (path("Need"), constant::uniformity(team.uniformity));
    quote!(#need::of(#uniformity))
}
