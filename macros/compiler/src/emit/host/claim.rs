//! What the parser took names for, stated for rustc. An item is looked up among the user's names and, in a block inside,
//! among phalanx's: if both are one item, rustc accepts the name, and otherwise it says that the name is ambiguous, and
//! shows the user's item. Scalars are compared by type.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use crate::model::Function;
use crate::model::name::{Claim, Meaning, Space};
use crate::same_item::{same_item, same_items, unnamed};
use crate::span::SpanRange;

/// The modules of the names, in `runtime/src/kernel/spelling.rs`: some orders and scopes have the names of types.
const MODULES: [&str; 3] = ["items", "orders", "scopes"];

/// Makes the statements that compare the function's claims with the user's names.
pub(super) fn claims(function: &Function) -> TokenStream {
    let alone = MODULES.into_iter().map(|module| {
        let claimed: Vec<(Space, &Ident)> = function.claims.iter().filter_map(|claim| alone(claim, module)).collect();
        let imported = claimed.iter().filter(|(space, _)| space.is_imported()).map(|(_, name)| unnamed(name));
        let names: Vec<&Ident> = claimed.iter().map(|(_, name)| *name).collect();
        let module = format_ident!("{module}");
        let ours = quote!(#[allow(unused_imports, reason = "the names are only looked up")] use ::phalanx::__private::names::#module::*;);
        (!names.is_empty()).then(|| same_items(&quote!(#(#imported)*), &ours, &names))
    });
    let others = function.claims.iter().map(other);
    quote!(#(#alone)* #(#others)*)
}

fn module(space: Space) -> &'static str {
    match space {
        Space::Type | Space::Function | Space::Exchange | Space::Variant | Space::Macro => MODULES[0],
        Space::Order => MODULES[1],
        Space::Scope => MODULES[2],
    }
}

/// Returns the name of an item of this module that is named without a path.
fn alone<'c>(claim: &'c Claim, of: &str) -> Option<(Space, &'c Ident)> {
    match &claim.meaning {
        Meaning::Item { name, space, in_path: false } => (module(*space) == of).then_some((*space, name)),
        Meaning::Item { in_path: true, .. } | Meaning::Cast(_) | Meaning::Element(_) => None,
    }
}

fn other(claim: &Claim) -> Option<TokenStream> {
    let (path, lo) = (&claim.path, SpanRange::of(&claim.path).lo);
    let is = |function: &str, scalar: &str| {
        let (function, scalar) = (Ident::new(function, lo), Ident::new(scalar, lo));
        quote_spanned!(lo=> const _: fn() = ::phalanx::__private::#function::<#path, ::core::primitive::#scalar>;)
    };
    Some(match &claim.meaning {
        Meaning::Item { in_path: false, .. } => return None,
        Meaning::Item { name, space, in_path: true } => same_item(path, lo, &format_ident!("{}", module(*space)), name),
        Meaning::Cast(scalar) => is("holds", scalar),
        Meaning::Element(scalar) => is("is", scalar),
    })
}
