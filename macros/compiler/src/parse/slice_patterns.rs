//! Patterns of slices: `match bytes { [b'-', rest @ ..] => .., [] => .., _ => .. }`, `if let [a, b] = window`, `let &[x, y] = pair else { .. }`.
//! A slice has no type of the text that a pattern could take apart: its length and copies of its first and last elements are matched in
//! its place, whose names are references as in Rust.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Arm, Expr, ExprMatch, Pat, PatGuard, Stmt, parse2};

use super::Parser;
use super::named_iterators::names_in;
use super::optional_references::with_references;
use super::syntax::{binds, strip};
use crate::model::kind::Kind;
use crate::span::SpanRange;

/// A pattern of a slice.
struct SlicePattern {
    first: Vec<Pat>,
    /// `..` or `rest @ ..`, with its name.
    rest: Option<Option<Ident>>,
    last: Vec<Pat>,
}

/// A pattern in place of one of a slice, and the statements that bind its further names.
pub(super) type Case = (Pat, Vec<Stmt>);

/// One alternative of an arm.
enum Alternative {
    Elements(SlicePattern),
    /// `_`, or a name for the slice itself.
    Any(Option<Ident>),
}

impl Parser<'_> {
    /// Whether an expression is the name of a slice.
    pub(super) fn is_slice_name(&self, expr: &Expr) -> bool {
        self.named_part(expr).is_some()
            || self.named_local(expr).is_some_and(|local| match self.function.kind(local) {
                Kind::Memory(memory) => memory.is_slice(),
                _ => false,
            })
    }

    /// Returns what is matched in place of a slice, and the patterns in place of those of the slice, each with the statements that bind its
    /// further names.
    pub(super) fn over_elements(&self, slice: &Expr, patterns: &[&Pat]) -> Option<(Expr, Vec<Case>)> {
        if let Some((slice, split)) = self.split_as_slice(slice, patterns) {
            let (slice, mut converted) =
                self.over_elements(&slice, &split.iter().map(|(pat, _)| pat).collect::<Vec<_>>())?;
            converted.iter_mut().zip(split).for_each(|((_, names), (_, further))| names.extend(further));
            return Some((slice, converted));
        }
        // The elements of `*slice` are values.
        let (slice, by_reference) = match strip(slice) {
            Expr::Unary(deref) if matches!(deref.op, syn::UnOp::Deref(_)) => (strip(&deref.expr), false),
            slice => (slice, true),
        };
        if !self.is_slice_name(slice) || !patterns.iter().any(|pat| has_elements(pat)) {
            return None;
        }
        let alternatives = patterns.iter().map(|pat| alternatives_of(pat, by_reference)).collect::<Option<Vec<_>>>()?;
        let (mut first, mut last) = (0, 0);
        for alternative in alternatives.iter().flatten() {
            if let Alternative::Elements(of) = alternative {
                (first, last) = (first.max(of.first.len()), last.max(of.last.len()));
            }
        }
        let at = SpanRange::of(slice).lo;
        let from_start = (0..first).map(|index| {
            let index = syn::Index::from(index);
            quote_spanned!(at=> #slice.get(#index).copied())
        });
        // The index of the last element of a shorter slice wraps, and is above every length.
        let from_end = (1..=last).map(|back| {
            let back = syn::Index::from(back);
            quote_spanned!(at=> #slice.get(#slice.len().wrapping_sub(#back)).copied())
        });
        let matched = match first + last {
            0 => quote_spanned!(at=> #slice.len()),
            _ => quote_spanned!(at=> (#slice.len(), #(#from_start,)* #(#from_end),*)),
        };
        let converted = patterns.iter().zip(&alternatives).map(|(pat, alternatives)| {
            let (mut cases, mut names) = (Vec::new(), TokenStream::new());
            for alternative in alternatives {
                let (case, bound) = case_of(alternative, (first, last), slice);
                cases.push(case);
                names.extend(bound);
            }
            // All alternatives bind the same names.
            if cases.len() > 1 && !names.is_empty() {
                return None;
            }
            let case = quote_spanned!(SpanRange::of(*pat).lo=> #(#cases)|*);
            let case = syn::parse::Parser::parse2(Pat::parse_multi, case).ok()?;
            let names = syn::parse::Parser::parse2(syn::Block::parse_within, names).ok()?;
            Some((case, names))
        });
        Some((parse2(matched).ok()?, converted.collect::<Option<Vec<_>>>()?))
    }

    /// Returns the `match` over the elements of a slice in place of one of the slice.
    pub(super) fn match_over_elements(&self, choice: &ExprMatch) -> Option<ExprMatch> {
        if let Some(choice) = self.split_match(choice) {
            return self.match_over_elements(&choice);
        }
        let patterns: Vec<&Pat> = choice.arms.iter().map(|arm| unguarded(&arm.pat)).collect();
        let (matched, converted) = self.over_elements(&choice.expr, &patterns)?;
        let mut arms = Vec::new();
        for (arm, (pat, names)) in choice.arms.iter().zip(converted) {
            let pat = match &arm.pat {
                // Names of parts are not in scope in the guard.
                Pat::Guard(guarded) if !uses_bound(&guarded.guard, &names) => {
                    Pat::Guard(PatGuard { pat: Box::new(pat), ..guarded.clone() })
                }
                Pat::Guard(_) => return None,
                _ => pat,
            };
            let body = &arm.body;
            let body = match names.is_empty() {
                true => body.clone(),
                false => Box::new(parse2(quote!({ #(#names)* #body })).ok()?),
            };
            arms.push(Arm { pat, body, ..arm.clone() });
        }
        // rustc does not see that the lengths are all that there are.
        let is_total = choice.arms.iter().any(|arm| matches!(arm.pat, Pat::Wild(_) | Pat::Ident(_)));
        if !is_total {
            covers_all_lengths(&choice.arms).then_some(())?;
            let at = SpanRange::of(choice).lo;
            let otherwise: ExprMatch = parse2(quote_spanned!(at=> match () { _ => unreachable!() })).ok()?;
            arms.extend(otherwise.arms);
        }
        Some(ExprMatch { expr: Box::new(matched), arms, ..choice.clone() })
    }
}

/// Whether a guard uses what statements bind.
fn uses_bound(guard: &impl ToTokens, statements: &[Stmt]) -> bool {
    let used = names_in(guard.to_token_stream());
    used.iter().any(|name| binds(statements, name))
}

/// Whether a pattern takes elements of a slice.
fn has_elements(pat: &Pat) -> bool {
    match pat {
        Pat::Slice(_) => true,
        Pat::Paren(paren) => has_elements(&paren.pat),
        Pat::Reference(reference) => has_elements(&reference.pat),
        Pat::Or(or) => or.cases.iter().any(has_elements),
        _ => false,
    }
}

fn unguarded(pat: &Pat) -> &Pat {
    match pat {
        Pat::Guard(guarded) => &guarded.pat,
        pat => pat,
    }
}

fn alternatives_of(pat: &Pat, by_reference: bool) -> Option<Vec<Alternative>> {
    match pat {
        Pat::Paren(paren) => alternatives_of(&paren.pat, by_reference),
        Pat::Or(or) => {
            let each = or.cases.iter().map(|case| alternatives_of(case, by_reference)).collect::<Option<Vec<_>>>()?;
            Some(each.into_iter().flatten().collect())
        }
        Pat::Wild(_) => Some(vec![Alternative::Any(None)]),
        Pat::Ident(name)
            if by_reference && name.by_ref.is_none() && name.mutability.is_none() && name.subpat.is_none() =>
        {
            Some(vec![Alternative::Any(Some(name.ident.clone()))])
        }
        Pat::Slice(_) => Some(vec![Alternative::Elements(elements_of(pat, by_reference)?)]),
        Pat::Reference(reference) if by_reference && reference.mutability.is_none() => {
            Some(vec![Alternative::Elements(elements_of(&reference.pat, false)?)])
        }
        _ => None,
    }
}

/// Takes a pattern of elements apart, whose names are references (`by_reference`) or values.
fn elements_of(pat: &Pat, by_reference: bool) -> Option<SlicePattern> {
    let Pat::Slice(slice) = pat else { return None };
    let mut parts = SlicePattern { first: Vec::new(), rest: None, last: Vec::new() };
    for element in &slice.elems {
        match element {
            Pat::Rest(_) if parts.rest.is_none() => parts.rest = Some(None),
            Pat::Ident(name) if matches!(&name.subpat, Some((_, sub)) if matches!(**sub, Pat::Rest(_))) => {
                // The rest of a slice by value has no size.
                (parts.rest.is_none() && by_reference && name.by_ref.is_none() && name.mutability.is_none())
                    .then_some(())?;
                parts.rest = Some(Some(name.ident.clone()));
            }
            element => {
                let element = if by_reference { with_references(element)? } else { element.clone() };
                if parts.rest.is_none() { parts.first.push(element) } else { parts.last.push(element) }
            }
        }
    }
    Some(parts)
}

/// Returns the pattern of the length and the elements, and the statements that bind the names of parts.
fn case_of(alternative: &Alternative, (first, last): (usize, usize), slice: &Expr) -> (TokenStream, TokenStream) {
    let of = match alternative {
        Alternative::Any(name) => {
            let names = name.iter().map(|name| quote!(let #name = #slice;));
            return (quote!(_), quote!(#(#names)*));
        }
        Alternative::Elements(of) => of,
    };
    let (taken, behind) = (of.first.len(), of.last.len());
    let least = syn::Index::from(taken + behind);
    let length = match (&of.rest, taken + behind) {
        (None, _) => quote!(#least),
        (Some(_), 0) => quote!(_),
        (Some(_), _) => quote!(#least..),
    };
    if first + last == 0 {
        return (length, rest_of(of, slice));
    }
    let held = |pat: Option<&Pat>| match pat {
        None | Some(Pat::Wild(_)) => quote!(_),
        Some(pat) => quote!(Some(#pat)),
    };
    let from_start = (0..first).map(|index| held(of.first.get(index)));
    let from_end = (1..=last).map(|back| held(behind.checked_sub(back).and_then(|index| of.last.get(index))));
    (quote!((#length, #(#from_start,)* #(#from_end),*)), rest_of(of, slice))
}

fn rest_of(of: &SlicePattern, slice: &Expr) -> TokenStream {
    let Some(Some(name)) = &of.rest else { return TokenStream::new() };
    let start = syn::Index::from(of.first.len());
    let part = match of.last.len() {
        0 => quote!(#start..),
        behind => {
            let behind = syn::Index::from(behind);
            quote!(#start..#slice.len() - #behind)
        }
    };
    quote_spanned!(name.span()=> let #name = &#slice[#part];)
}

/// Whether arms without guards that test no element are there for each length.
fn covers_all_lengths(arms: &[Arm]) -> bool {
    let (mut exact, mut open) = (Vec::new(), None::<usize>);
    for arm in arms {
        for alternative in alternatives_of(&arm.pat, true).into_iter().flatten() {
            let Alternative::Elements(of) = alternative else { continue };
            let is_total = of.first.iter().chain(&of.last).all(|pat| match pat {
                Pat::Wild(_) => true,
                Pat::Ident(name) => name.subpat.is_none() && !name.ident.to_string().starts_with(char::is_uppercase),
                _ => false,
            });
            let length = of.first.len() + of.last.len();
            match of.rest {
                _ if !is_total => {}
                Some(_) => open = Some(open.map_or(length, |open| open.min(length))),
                None => exact.push(length),
            }
        }
    }
    open.is_some_and(|open| (0..open).all(|length| exact.contains(&length)))
}

/// Returns the tokens of a comparison of two slices, or of one with an array.
pub(super) fn compared(left: &TokenStream, right: &TokenStream, at: proc_macro2::Span) -> TokenStream {
    let (x, y) = (
        quote_spanned!(at.resolved_at(proc_macro2::Span::mixed_site())=> x),
        quote_spanned!(at.resolved_at(proc_macro2::Span::mixed_site())=> y),
    );
    quote_spanned!(at=> (#left.len() == #right.len() && #left.iter().zip(#right.iter()).all(|(#x, #y)| *#x == *#y)))
}

impl Parser<'_> {
    /// Returns a comparison of slices by their elements: `window == [0, 1]`, `&v[..2] != w`, if one of the sides is a slice.
    pub(super) fn compared_slices(&self, binary: &syn::ExprBinary) -> Option<TokenStream> {
        let is_equal = match binary.op {
            syn::BinOp::Eq(_) => true,
            syn::BinOp::Ne(_) => false,
            _ => return None,
        };
        let at = SpanRange::of(binary).lo;
        let fresh = at.resolved_at(proc_macro2::Span::mixed_site());
        let sides = [(&*binary.left, "left"), (&*binary.right, "right")];
        if !sides.iter().any(|(side, _)| self.is_slice_name(place_of(side)) || self.is_part_of_elements(place_of(side)))
        {
            return None;
        }
        let mut bindings = TokenStream::new();
        let mut names = Vec::new();
        for (side, name) in sides {
            let place = place_of(side);
            let name = Ident::new(name, fresh);
            names.push(match place {
                place if self.is_slice_name(place) || self.is_elements(place) => place.to_token_stream(),
                place if self.is_part_of_elements(place) => {
                    bindings.extend(quote_spanned!(at=> let #name = &#place;));
                    name.to_token_stream()
                }
                Expr::Array(array) if array.elems.is_empty() => {
                    let other = place_of(if std::ptr::eq(side, &*binary.left) { &binary.right } else { &binary.left });
                    return self.is_slice_name(other).then(|| match is_equal {
                        true => quote_spanned!(at=> #other.is_empty()),
                        false => quote_spanned!(at=> (!#other.is_empty())),
                    });
                }
                place @ (Expr::Array(_) | Expr::Repeat(_) | Expr::Path(_) | Expr::Lit(_)) => {
                    bindings.extend(quote_spanned!(at=> let #name = #place;));
                    name.to_token_stream()
                }
                _ => return None,
            });
        }
        let [left, right] = &names[..] else { return None };
        let equal = compared(left, right, at);
        let not = (!is_equal).then(|| quote!(!));
        Some(quote_spanned!(at=> { #bindings #not #equal }))
    }

    /// Whether an expression is a part of an array or of memory that has a name.
    fn is_part_of_elements(&self, place: &Expr) -> bool {
        match place {
            Expr::Index(index) => {
                matches!(strip(&index.index), Expr::Range(_))
                    && (self.is_elements(&index.expr)
                        || self.is_local_array(&index.expr)
                        || self.is_slice_name(&index.expr))
            }
            _ => false,
        }
    }
}

/// What a side of a comparison refers to: `&v[..2]` and `*w` are compared as what they are of.
fn place_of(side: &Expr) -> &Expr {
    match strip(side) {
        Expr::Reference(reference) if reference.mutability.is_none() => place_of(&reference.expr),
        side => side,
    }
}
