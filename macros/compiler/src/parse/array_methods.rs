//! The methods of arrays and of memory that are rewritten as loops and assignments: `array.swap(i, j)`, `array.rotate_left(k)`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{ExprMethodCall, Pat, RangeLimits};

use super::Parser;
use super::desugared_methods::{is_part, is_plain, test_of};
use super::iter_consumers::of_references;
use super::operand_order::whole;
use super::syntax::strip;
use crate::span::SpanRange;

impl Parser<'_> {
    /// Returns what stands for a method of an array, if the call is one.
    pub(super) fn array_method(&self, call: &ExprMethodCall) -> Option<TokenStream> {
        let at = SpanRange::of(&call.method).lo;
        let fresh = |name: &str| Ident::new(name, at.resolved_at(Span::mixed_site()));
        let receiver = strip(&call.receiver);
        let arguments: Vec<&syn::Expr> = call.args.iter().map(strip).collect();
        Some(match (call.method.to_string().as_str(), receiver, &arguments[..]) {
            ("partition_point", place, [function]) if self.is_elements(place) || is_part(place) => {
                let [base, size, half, middle] = ["base", "size", "half", "middle"].map(fresh);
                let element: syn::Expr = syn::parse2(quote!(#place[#middle])).ok()?;
                let test = of_reference(function, &element)?;
                // The number of rounds depends on the length alone, so that threads do not diverge, and the loop is unrolled if the
                // length is a constant. The point is among the `size` elements from `base` on, or behind them.
                quote_spanned!(at=> {
                    let mut #base: ::core::primitive::usize = 0;
                    let mut #size: ::core::primitive::usize = #place.len();
                    while #size > 0 {
                        let #half = (#size + 1) / 2;
                        let #middle = #base + (#half - 1);
                        if #test { #base = #middle + 1; }
                        #size -= #half;
                    }
                    #base
                })
            }
            ("binary_search", place, [syn::Expr::Reference(value)]) if self.is_elements(place) || is_part(place) => {
                let [sought, base, size, half, order] = ["sought", "base", "size", "half", "order"].map(fresh);
                let value = &value.expr;
                // The steps are those of the standard library, which finds the same one of several equal elements.
                quote_spanned!(at=> {
                    let #sought = #value;
                    let mut #base: ::core::primitive::usize = 0;
                    let mut #size: ::core::primitive::usize = #place.len();
                    if #size == 0 { Err(0) } else {
                        while #size > 1 {
                            let #half = #size / 2;
                            if !#place[#base + #half].cmp(&#sought).is_gt() { #base += #half; }
                            #size -= #half;
                        }
                        let #order = #place[#base].cmp(&#sought);
                        if #order.is_eq() { Ok(#base) } else { Err(#base + #order.is_lt() as ::core::primitive::usize) }
                    }
                })
            }
            ("sort_by" | "sort_unstable_by" | "sort_by_key" | "sort_unstable_by_key", place, [function])
                if self.is_elements(place) || is_part(place) =>
            {
                sorted(call, place, function)?
            }
            // Those of whole arrays are functions, whose loops are unrolled.
            ("sort" | "sort_unstable", place, []) if self.named_part(place).is_some() || self.names_memory(place) => {
                let (before, held) = (fresh("before"), fresh("held"));
                let is_above = quote_spanned!(at=> ::phalanx::__private::is_less(#held, #before));
                inserted(call, place, &quote!(), &is_above)
            }
            ("copy_within", place, [range, to]) if self.is_elements(place) || is_part(place) => {
                moved(call, place, range, to)?
            }
            ("swap", place, [first, second]) if self.is_elements(place) || is_part(place) => {
                let (i, j, held) = (fresh("i"), fresh("j"), fresh("held"));
                quote_spanned!(at=> {
                    let #i = #first;
                    let #j = #second;
                    let #held = #place[#i];
                    #place[#i] = #place[#j];
                    #place[#j] = #held;
                })
            }
            ("reverse", place, []) if self.is_elements(place) || is_part(place) => {
                let (i, end, held) = (fresh("i"), fresh("end"), fresh("held"));
                quote_spanned!(at=> {
                    let #end = #place.len();
                    for #i in 0..#end / 2 {
                        let #held = #place[#i];
                        #place[#i] = #place[#end - 1 - #i];
                        #place[#end - 1 - #i] = #held;
                    }
                })
            }
            ("rotate_left" | "rotate_right", place, [number]) if self.is_elements(place) => {
                let (i, k, n, held) = (fresh("i"), fresh("k"), fresh("n"), fresh("held"));
                let (left, message) = match call.method == "rotate_left" {
                    true => (quote!(#k), "assertion failed: mid <= self.len()"),
                    false => (quote!(#n - #k), "assertion failed: k <= self.len()"),
                };
                // Both sides turned around, and then all of it.
                let turn = |from: TokenStream, to: TokenStream| {
                    quote_spanned!(at=> for #i in 0..(#to - #from) / 2 {
                        let #held = #place[#from + #i];
                        #place[#from + #i] = #place[#to - 1 - #i];
                        #place[#to - 1 - #i] = #held;
                    })
                };
                let (first, second) = (turn(quote!(0), quote!(#k)), turn(quote!(#k), quote!(#n)));
                let all = turn(quote!(0), quote!(#n));
                quote_spanned!(at=> {
                    let #n: ::core::primitive::usize = #place.len();
                    let #k: ::core::primitive::usize = #number;
                    assert!(#k <= #n, #message);
                    let #k = #left;
                    #first
                    #second
                    #all
                })
            }
            ("copy_from_slice" | "clone_from_slice", place, [syn::Expr::Reference(source)])
                if self.is_elements(place) && source.mutability.is_none() =>
            {
                let (i, from, source) = (fresh("i"), fresh("from"), &source.expr);
                let (bound, from) = match strip(source) {
                    name @ syn::Expr::Path(_) => (TokenStream::new(), quote!(#name)),
                    place @ (syn::Expr::Index(_) | syn::Expr::Field(_)) => {
                        (quote!(let #from = &#place;), quote!(#from))
                    }
                    value => (quote!(let #from = #value;), quote!(#from)),
                };
                let message = "copy_from_slice: source slice length does not match destination slice length";
                quote_spanned!(at=> {
                    #bound
                    assert!(#place.len() == #from.len(), #message);
                    for #i in 0..#place.len() { #place[#i] = #from[#i]; }
                })
            }
            ("is_sorted", place, []) if self.is_elements(place) => {
                let (i, sorted) = (fresh("i"), fresh("sorted"));
                quote_spanned!(at=> {
                    let mut #sorted = true;
                    for #i in 1..#place.len() {
                        if !(#place[#i - 1] <= #place[#i]) { #sorted = false; break; }
                    }
                    #sorted
                })
            }
            ("contains", place, [syn::Expr::Reference(value)]) if self.is_elements(place) => {
                let (name, item, value) = (fresh("value"), fresh("item"), &value.expr);
                quote_spanned!(at=> { let #name = #value; #place.iter().any(|#item| *#item == #name) })
            }
            ("fill", place @ syn::Expr::Field(_), [value]) if is_part(place) => {
                let (i, name) = (fresh("i"), fresh("value"));
                quote_spanned!(at=> { let #name = #value; for #i in 0..#place.len() { #place[#i] = #name; } })
            }
            ("fill", place, [value]) if self.is_elements(place) => {
                let (i, name) = (fresh("i"), fresh("value"));
                quote_spanned!(at=> { let #name = #value; for #i in 0..#place.len() { #place[#i] = #name; } })
            }
            ("fill", syn::Expr::Index(row), [value]) if is_plain(&row.index) => {
                let (i, name) = (fresh("i"), fresh("value"));
                let length = self.rows(&row.expr)?;
                quote_spanned!(at=> { let #name = #value; for #i in 0..#length { #row[#i] = #name; } })
            }
            _ => return None,
        })
    }

    /// The length of the rows of a shared array, as far as syntax shows that they are arrays, which have the methods of slices.
    fn rows(&self, array: &syn::Expr) -> Option<TokenStream> {
        let length = self.function.local(self.named_local(array)?).rows?;
        let length = &self.function.values[usize::from(length.0)].tokens;
        match syn::parse2::<syn::LitInt>(length.clone()) {
            Ok(literal) if literal.suffix().is_empty() => {
                Some(syn::LitInt::new(&format!("{}usize", literal.base10_digits()), literal.span()).to_token_stream())
            }
            Ok(_) | Err(_) => Some(length.clone()),
        }
    }
}

/// Sorts by a comparison or by keys, by insertion, which keeps the order of equal elements.
fn sorted(call: &ExprMethodCall, place: &syn::Expr, function: &syn::Expr) -> Option<TokenStream> {
    let at = SpanRange::of(&call.method).lo;
    let fresh = |name: &str| Ident::new(name, at.resolved_at(Span::mixed_site()));
    let [held, before, key] = ["held", "before", "key"].map(fresh);
    let (of_held, is_above) = match call.method.to_string().ends_with("_key") {
        true => {
            let of = |name: &Ident| test_of(function, name);
            let (of_held, of_before) = (of(&held)?, of(&before)?);
            (
                quote_spanned!(at=> let #key = #of_held;),
                quote_spanned!(at=> ::phalanx::__private::is_less(#key, #of_before)),
            )
        }
        false => {
            let order = of_references(function, &before, &held)?;
            (quote!(), quote_spanned!(at=> #order.is_gt()))
        }
    };
    Some(inserted(call, place, &of_held, &is_above))
}

/// Inserts each element, `held`, behind those before it which `before` is not above.
fn inserted(call: &ExprMethodCall, place: &syn::Expr, of_held: &TokenStream, is_above: &TokenStream) -> TokenStream {
    let at = SpanRange::of(&call.method).lo;
    let fresh = |name: &str| Ident::new(name, at.resolved_at(Span::mixed_site()));
    let [end, held, hole, before] = ["end", "held", "hole", "before"].map(fresh);
    quote_spanned!(at=> {
        for #end in 1..#place.len() {
            let #held = #place[#end];
            #of_held
            let mut #hole: ::core::primitive::usize = #end;
            while #hole > 0 {
                let #before = #place[#hole - 1];
                if !#is_above { break; }
                #place[#hole] = #before;
                #hole -= 1;
            }
            #place[#hole] = #held;
        }
    })
}

/// Copies elements to others of the same place, in the order in which none is lost.
fn moved(call: &ExprMethodCall, place: &syn::Expr, range: &syn::Expr, to: &syn::Expr) -> Option<TokenStream> {
    let syn::Expr::Range(range) = range else { return None };
    let at = SpanRange::of(&call.method).lo;
    let fresh = |name: &str| Ident::new(name, at.resolved_at(Span::mixed_site()));
    let [low, high, dest, count, i] = ["low", "high", "dest", "count", "i"].map(fresh);
    let start = range.start.as_ref().map_or(quote!(0), |start| quote!(#start));
    let end = match (&range.end, &range.limits) {
        (Some(end), RangeLimits::HalfOpen(_)) => quote!(#end),
        (Some(end), RangeLimits::Closed(_)) => quote!((#end) + 1),
        (None, _) => quote!(#place.len()),
    };
    Some(quote_spanned!(at=> {
        let #low: ::core::primitive::usize = #start;
        let #high: ::core::primitive::usize = #end;
        let #dest: ::core::primitive::usize = #to;
        assert!(
            #low <= #high && #high <= #place.len(),
            "range {}..{} out of bounds: the len is {}", #low, #high, #place.len()
        );
        let #count = #high - #low;
        assert!(#dest <= #place.len() - #count, "dest is out of bounds");
        if #dest <= #low {
            for #i in 0..#count { #place[#dest + #i] = #place[#low + #i]; }
        } else {
            for #i in (0..#count).rev() { #place[#dest + #i] = #place[#low + #i]; }
        }
    }))
}

/// Applies a closure of `|x|`, or of `|&x|`, to a reference to an element.
fn of_reference(function: &syn::Expr, element: &syn::Expr) -> Option<TokenStream> {
    let syn::Expr::Closure(closure) = function else { return None };
    let (Some(input), 1) = (closure.inputs.first(), closure.inputs.len()) else { return None };
    let test = whole(&closure.body);
    match input {
        Pat::Reference(reference) if reference.mutability.is_none() => {
            let pattern = &reference.pat;
            Some(quote!({ let #pattern = #element; #test }))
        }
        name @ Pat::Ident(_) => Some(quote!({ let #name = &#element; #test })),
        Pat::Type(typed) if matches!(*typed.pat, Pat::Ident(_)) => {
            let name = &typed.pat;
            Some(quote!({ let #name = &#element; #test }))
        }
        Pat::Wild(_) => Some(test),
        _ => None,
    }
}
