//! What is known of what a function does to distributed shared memory, as constants that rustc joins with those of the
//! functions that it calls (`phalanx::__private::protocol`).

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::template;
use crate::check::Checked;
use crate::check::dsm::protocol::{Case, Demand, Gives, Has, Row, Side, When, uses};
use crate::model::Role;

fn path(name: &str) -> TokenStream {
    let name = Ident::new(name, Span::call_site());
    quote!(::phalanx::__private::protocol::#name)
}

/// The calls that are asked about, in the order of the table of callees.
struct Table(Vec<u16>);

/// The constants of the function's `Summary`: none where the trait's own are right.
pub(super) fn constants(checked: &Checked<'_>, items: &[TokenStream]) -> TokenStream {
    let (function, protocol) = (checked.function(), checked.protocol());
    let table = Table::of(checked);
    let span = function.name.span();
    let callees = (!table.0.is_empty()).then(|| {
        let of = |slot: &u16| checked.summary().calls.iter().find(|call| call.slot == *slot);
        let callees = table.0.iter().filter_map(of).map(|call| template::summary(&call.function, "PROTOCOL"));
        let ty = path("Protocol");
        quote_spanned!(span=> const CALLEES: &'static [#ty] = { #(#items)* &[#(#callees),*] };)
    });
    let own = (function.role == Role::Device).then(|| {
        let gives = protocol.gives.iter().map(|(gives, case)| {
            let (gives, case) = (table.gives(gives), table.case(case));
            quote!((#gives, #case))
        });
        let (ty, does, params, count) = (path("Protocol"), path("does"), path("params"), function.params.len());
        let clashes = path("clashes");
        let (given, case, rows) = (path("Gives"), path("Case"), &protocol.rows);
        quote_spanned! {span=>
            const PROTOCOL: #ty = {
                const GIVES: &[(#given, #case)] = &[#(#gives),*];
                #ty {
                    does: #does(GIVES, Self::CALLEES),
                    params: &#params::<#count>(GIVES, Self::CALLEES),
                    clashes: #clashes(GIVES, Self::CALLEES),
                    rows: &[#(#rows),*],
                }
            };
        }
    });
    quote!(#callees #own)
}

/// What the body asks of the functions that it calls, at its places.
pub(super) fn checks(checked: &Checked<'_>) -> TokenStream {
    let (marker, table) = (&checked.function().name, Table::of(checked));
    let asked = checked.protocol().demands.iter().map(|Demand { case, at, message, .. }| {
        let (span, case) = (at.lo, table.case(case));
        // The function's name too is at the place: there rustc points.
        quote_spanned! {span=>
            const _: () = ::phalanx::__private::protocol::refuse(
                #case, <#marker as ::phalanx::__private::Summary>::CALLEES, #message
            );
        }
    });
    asked.collect()
}

impl Table {
    fn of(checked: &Checked<'_>) -> Table {
        let asked: BTreeSet<u16> = checked.protocol().calls();
        Table(asked.into_iter().collect())
    }

    fn call(&self, slot: u16) -> usize {
        self.0.iter().position(|known| *known == slot).unwrap_or(usize::MAX)
    }

    fn case(&self, case: &Case) -> TokenStream {
        let (ty, has) = (path("Case"), path("Has"));
        let when = case.when.iter().map(|what| match *what {
            Has::Does(slot, does) => {
                let call = self.call(slot);
                quote!(#has::Does(#call, #does))
            }
            Has::Uses(slot, param, when, uses) => {
                let (call, uses) = (self.call(slot), at(when, uses));
                quote!(#has::Uses(#call, #param, #uses))
            }
            Has::Clashes(slot, first, second) => {
                let call = self.call(slot);
                quote!(#has::Clashes(#call, #first, #second))
            }
            Has::Beyond(row, other) => {
                let other = match other {
                    Some(other) => {
                        let other = self.row(other);
                        quote!(::core::option::Option::Some(#other))
                    }
                    None => quote!(::core::option::Option::None),
                };
                let row = self.row(row);
                quote!(#has::Beyond(#row, #other))
            }
        });
        let unless = case.unless.iter().map(|(slot, does)| {
            let call = self.call(*slot);
            quote!((#call, #does))
        });
        quote!(#ty { when: &[#(#when),*], unless: &[#(#unless),*] })
    }

    fn row(&self, Row { slot, param, by }: Row) -> TokenStream {
        let (ty, call) = (path("Row"), self.call(slot));
        quote!(#ty { call: #call, param: #param, by: #by })
    }

    fn gives(&self, gives: &Gives) -> TokenStream {
        let ty = path("Gives");
        match *gives {
            Gives::Does(does) => quote!(#ty::Does(#does)),
            Gives::Uses(param, when, uses) => {
                let uses = at(when, uses);
                quote!(#ty::Uses(#param, #uses))
            }
            Gives::Clashes(first, second) => quote!(#ty::Clashes(#first, #second)),
            Gives::Passes { own, slot, param, when } => {
                let all = uses::of(Side::Own, uses::ALL) | uses::of(Side::Remote, uses::ALL);
                let (call, mask) = (self.call(slot), at(when, all));
                quote!(#ty::Passes { own: #own, call: #call, param: #param, mask: #mask })
            }
        }
    }
}

/// Among the bits of a parameter.
fn at(when: When, uses: u32) -> u32 {
    uses << when as u16
}
