//! Values of the contract between macros and runtime, printed as constant expressions. `uniformity` and `protocol` make
//! tables of them; this file does not decide what a table says.

#![warn(clippy::wildcard_enum_match_arm)]

use phalanx_contract::Groups;
use phalanx_contract::capability::{Capability, Need};
use phalanx_contract::protocol::{Behavior, DYNAMIC, Effect, ParameterUses, Predicate, Row, When};
use phalanx_contract::uniformity::Uniformity;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::model::Function;

/// Returns the path `::phalanx::__private::contract::module::name`.
pub(super) fn path(module: &str, name: &str) -> TokenStream {
    let [module, name] = [module, name].map(|word| Ident::new(word, Span::call_site()));
    quote!(::phalanx::__private::contract::#module::#name)
}

/// Has rustc evaluate a block whose condition names these constants: at once, or with each instance of a generic function.
pub(super) fn evaluated(function: &Function, condition: &TokenStream, block: &TokenStream, span: Span) -> TokenStream {
    match function.generics.names_one_of(condition) {
        true => quote_spanned!(span=> const #block;),
        false => quote_spanned!(span=> const _: () = #block;),
    }
}

pub(super) fn groups(groups: Groups) -> TokenStream {
    let bits = groups.bits();
    quote!(::phalanx::__private::contract::Groups::from_bits_retain(#bits))
}

/// Prints a set of indexes. rustc reports an index that is too large; it is never left out.
pub(super) fn index_set(indexes: impl IntoIterator<Item = usize>) -> TokenStream {
    let indexes = indexes.into_iter();
    quote!(::phalanx::__private::contract::IndexSet::EMPTY #(.with(#indexes))*)
}

pub(super) fn need(need: Need) -> TokenStream {
    let Need { capability, what, line, column } = need;
    let (path, need) = (path("capability", "Capability"), path("capability", "Need"));
    let capability = match capability {
        Capability::Clusters => quote!(#path::Clusters),
        Capability::Warpgroups => quote!(#path::Warpgroups),
    };
    quote!(#need { capability: #capability, what: #what, line: #line, column: #column })
}

pub(super) fn uniformity(uniformity: Uniformity) -> TokenStream {
    let path = path("uniformity", "Uniformity");
    match uniformity {
        Uniformity::Divergent => quote!(#path::Divergent),
        Uniformity::Rank => quote!(#path::Rank),
        Uniformity::Group(group) => quote!(#path::Group(#group)),
        Uniformity::Parameter(position) => quote!(#path::Parameter(#position)),
        Uniformity::Tile(log2) => quote!(#path::Tile(#log2)),
        Uniformity::Warp => quote!(#path::Warp),
        Uniformity::Warpgroup => quote!(#path::Warpgroup),
        Uniformity::Block => quote!(#path::Block),
        Uniformity::Cluster => quote!(#path::Cluster),
        Uniformity::Grid => quote!(#path::Grid),
    }
}

pub(super) fn behavior(behavior: Behavior) -> TokenStream {
    let (path, bits) = (path("protocol", "Behavior"), behavior.bits());
    quote!(#path::from_bits_retain(#bits))
}

fn parameter_uses(uses: ParameterUses) -> TokenStream {
    let (path, bits) = (path("protocol", "ParameterUses"), uses.bits());
    quote!(#path::from_bits(#bits))
}

pub(super) fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

pub(super) fn predicate(predicate: Predicate) -> TokenStream {
    let path = path("protocol", "Predicate");
    match predicate {
        Predicate::Does(call, does) => {
            let does = behavior(does);
            quote!(#path::Does(#call, #does))
        }
        Predicate::Never(call, does) => {
            let does = behavior(does);
            quote!(#path::Never(#call, #does))
        }
        Predicate::Meet((first, when), (second, at)) => {
            let (when, at) = (moment(when), moment(at));
            quote!(#path::Meet((#first, #when), (#second, #at)))
        }
        Predicate::Uses(call, parameter, uses) => {
            let (parameter, uses) = (position(parameter), parameter_uses(uses));
            quote!(#path::Uses(#call, #parameter, #uses))
        }
        Predicate::NeverUses(call, parameter, uses) => {
            let (parameter, uses) = (position(parameter), parameter_uses(uses));
            quote!(#path::NeverUses(#call, #parameter, #uses))
        }
        Predicate::Clashes(call, first, second) => {
            let second = position(second);
            quote!(#path::Clashes(#call, #first, #second))
        }
        Predicate::Beyond(own, other) => {
            let (own, other) = (row(own), option(other.map(row)));
            quote!(#path::Beyond(#own, #other))
        }
    }
}

fn row(Row { call, parameter, by }: Row) -> TokenStream {
    let path = path("protocol", "Row");
    quote!(#path { call: #call, parameter: #parameter, by: #by })
}

pub(super) fn effect(effect: Effect) -> TokenStream {
    let path = path("protocol", "Effect");
    match effect {
        Effect::Does(does) => {
            let does = behavior(does);
            quote!(#path::Does(#does))
        }
        Effect::Uses(parameter, uses) => {
            let (parameter, uses) = (position(parameter), parameter_uses(uses));
            quote!(#path::Uses(#parameter, #uses))
        }
        Effect::Clashes(first, second) => {
            let second = position(second);
            quote!(#path::Clashes(#first, #second))
        }
        Effect::Passes { own, call, parameter, when, seen } => {
            let (own, when, seen) = (position(own), moment(when), moment(seen));
            quote!(#path::Passes { own: #own, call: #call, parameter: #parameter, when: #when, seen: #seen })
        }
        Effect::Executes { call, when, seen } => {
            let (when, seen) = (moment(when), moment(seen));
            quote!(#path::Executes { call: #call, when: #when, seen: #seen })
        }
        Effect::Again(when) => {
            let when = moment(when);
            quote!(#path::Again(#when))
        }
    }
}

/// The position of a parameter. A literal of the host's `usize` need not be one of the user's.
fn position(parameter: usize) -> TokenStream {
    match parameter {
        DYNAMIC => path("protocol", "DYNAMIC"),
        parameter => quote!(#parameter),
    }
}

fn moment(when: When) -> TokenStream {
    let path = path("protocol", "When");
    match when {
        When::First => quote!(#path::First),
        When::Last => quote!(#path::Last),
        When::Arrived => quote!(#path::Arrived),
        When::Waited => quote!(#path::Waited),
        When::BesideClosure => quote!(#path::BesideClosure),
        When::Ever => quote!(#path::Ever),
    }
}
