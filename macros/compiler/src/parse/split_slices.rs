//! `split_first` and `split_last` of slices: `let Some((first, rest)) = values.split_first() else { .. };`. No value of the language is such an
//! option: where it is taken apart, it is the pattern of a slice, `[first, rest @ ..]`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::{Arm, Expr, ExprMatch, ExprMethodCall, Local, LocalInit, Pat, Stmt, parse2};

use super::Parser;
use super::slice_patterns::Case;
use super::syntax::strip;
use crate::span::SpanRange;

impl Parser<'_> {
    /// Returns the slice, and the patterns of it in place of those of the option, each with the statements that bind its further names.
    pub(super) fn split_as_slice(&self, option: &Expr, patterns: &[&Pat]) -> Option<(Expr, Vec<Case>)> {
        let call = split_call(option)?;
        if !self.is_slice_name(&call.receiver) {
            return None;
        }
        let is_last = call.method == "split_last";
        let patterns = patterns.iter().map(|pat| of_slice(pat, is_last)).collect::<Option<Vec<_>>>()?;
        Some((strip(&call.receiver).clone(), patterns))
    }

    /// Returns the `match` of the slice in place of one of the option.
    pub(super) fn split_match(&self, choice: &ExprMatch) -> Option<ExprMatch> {
        let patterns: Vec<&Pat> = choice.arms.iter().map(|arm| &arm.pat).collect();
        let (slice, patterns) = self.split_as_slice(&choice.expr, &patterns)?;
        let arm = |(arm, (pat, names)): (&Arm, Case)| {
            let body = &arm.body;
            let body = match names.is_empty() {
                true => body.clone(),
                false => Box::new(parse2(quote_spanned!(SpanRange::of(body).lo=> { #(#names)* #body })).ok()?),
            };
            Some(Arm { pat, body, ..arm.clone() })
        };
        let arms = choice.arms.iter().zip(patterns).map(arm).collect::<Option<Vec<Arm>>>()?;
        Some(ExprMatch { expr: Box::new(slice), arms, ..choice.clone() })
    }

    /// Returns the statements in place of `let (first, rest) = values.split_first()?;` or `.unwrap()`, and of one whose values are an array.
    pub(super) fn split_let(&self, local: &Local) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref()?;
        let at = SpanRange::of(&*init.expr).lo;
        if init.diverge.is_some() {
            let call = split_call(&init.expr).filter(|call| self.is_local_array(&call.receiver))?;
            if self.is_slice_name(&call.receiver) {
                return None;
            }
            let (array, part) = (&call.receiver, format_ident!("part", span = at.resolved_at(Span::mixed_site())));
            let whole = parse2(quote_spanned!(at=> let #part = &#array[..];)).ok()?;
            let call = ExprMethodCall { receiver: parse2(quote_spanned!(at=> #part)).ok()?, ..call.clone() };
            let init = Some(LocalInit { expr: Box::new(Expr::MethodCall(call)), ..init.clone() });
            return Some(vec![whole, Stmt::Local(Local { init, ..local.clone() })]);
        }
        let Pat::Tuple(names) = &local.pat else { return None };
        let (option, otherwise) = match strip(&init.expr) {
            Expr::Try(attempt) => (&*attempt.expr, quote_spanned!(at=> return None;)),
            Expr::MethodCall(call) if call.method == "unwrap" && call.args.is_empty() => {
                (&*call.receiver, quote_spanned!(at=> panic!("called `Option::unwrap()` on a `None` value");))
            }
            _ => return None,
        };
        split_call(option)?;
        Some(vec![parse2(quote_spanned!(at=> let Some(#names) = #option else { #otherwise };)).ok()?])
    }
}

fn split_call(option: &Expr) -> Option<&ExprMethodCall> {
    let Expr::MethodCall(call) = strip(option) else { return None };
    let is_split = call.method == "split_first" || call.method == "split_last";
    (is_split && call.args.is_empty()).then_some(call)
}

/// Returns `[first, rest @ ..]` for `Some((first, rest))`, and `[]` for `None`.
fn of_slice(pat: &Pat, is_last: bool) -> Option<Case> {
    let at = SpanRange::of(pat).lo;
    let parsed = |tokens| syn::parse::Parser::parse2(Pat::parse_single, tokens).ok();
    let some = match pat {
        Pat::Paren(paren) => return of_slice(&paren.pat, is_last),
        Pat::Wild(_) => return Some((pat.clone(), Vec::new())),
        Pat::Ident(name) if name.ident == "None" => return Some((parsed(quote_spanned!(at=> []))?, Vec::new())),
        Pat::TupleStruct(some) if some.path.is_ident("Some") && some.elems.len() == 1 => some,
        _ => return None,
    };
    match &some.elems[0] {
        Pat::Wild(_) => Some((parsed(quote_spanned!(at=> [_, ..]))?, Vec::new())),
        Pat::Tuple(both) if both.elems.len() == 2 => {
            let (element, rest) = (&both.elems[0], &both.elems[1]);
            let rest = match rest {
                Pat::Wild(_) => quote_spanned!(at=> ..),
                Pat::Ident(name) if name.by_ref.is_none() && name.mutability.is_none() && name.subpat.is_none() => {
                    quote_spanned!(at=> #name @ ..)
                }
                Pat::Slice(others) => others.elems.to_token_stream(),
                _ => return None,
            };
            let others = |is_before: bool| match (rest.is_empty(), is_before) {
                (true, _) => rest.clone(),
                (false, true) => quote_spanned!(at=> #rest,),
                (false, false) => quote_spanned!(at=> , #rest),
            };
            let with = |element: TokenStream| {
                let (before, after) = (others(true), others(false));
                parsed(if is_last {
                    quote_spanned!(at=> [#before #element])
                } else {
                    quote_spanned!(at=> [#element #after])
                })
            };
            Some(if let Pat::Reference(reference) = element {
                let (target, held) = (&reference.pat, format_ident!("held", span = at.resolved_at(Span::mixed_site())));
                let bound = parse2(quote_spanned!(at=> let #target = *#held;)).ok()?;
                (with(quote_spanned!(at=> #held))?, vec![bound])
            } else {
                (with(quote_spanned!(at=> #element))?, Vec::new())
            })
        }
        _ => None,
    }
}
