//! Options of references to elements, `v.get(i)`, `v.first()`, `v.iter().max()`. No value of the language is one: where it is consumed, it is
//! rewritten as an option of a copy. `if let Some(&x) = v.get(i)` becomes `if let Some(x) = v.get(i).copied()`, and `*v.last().unwrap()`
//! `v.last().copied().unwrap()`; a name for the reference becomes one for a reference to the copy.
//!
//! Another type may have a `get` of its own. Its result holds no reference, so that what takes one off shows that this is not it.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Arm, Expr, ExprIf, ExprLet, ExprMatch, ExprMethodCall, ExprWhile, Local, LocalInit, Pat, Stmt, parse2};

use super::Parser;
use super::copied_items;
use super::iter_consumers::{gives_item, is_iterator};
use super::referenced_fields::{elements_of, fields_of, hidden};
use super::syntax::strip;
use crate::span::SpanRange;

impl Parser<'_> {
    /// Returns the call of an option's method over a copy, if the option is one of a reference.
    pub(super) fn over_copy(&self, call: &ExprMethodCall) -> Option<Expr> {
        let arguments: Vec<&Expr> = call.args.iter().map(strip).collect();
        let with = |receiver| ExprMethodCall { receiver: Box::new(receiver), ..call.clone() };
        let call = match (call.method.to_string().as_str(), &arguments[..]) {
            ("map" | "and_then" | "is_some_and" | "is_none_or" | "filter", [Expr::Closure(closure)])
            | ("map_or", [_, Expr::Closure(closure)]) => {
                let is_certain = matches!(closure.inputs.first(), Some(Pat::Reference(_)));
                let mut call = with(self.copied_option(&call.receiver, is_certain)?);
                copied_items::take_copy(&mut call)?;
                call
            }
            ("is_some" | "is_none", []) => with(self.copied_option(&call.receiver, false)?),
            ("copied" | "cloned", []) => match strip(&call.receiver) {
                Expr::MethodCall(option) if !is_element(option) => return self.copied_option(&call.receiver, true),
                _ => return None,
            },
            ("unwrap" | "expect" | "unwrap_or", _) => {
                return self.copied_reference(&Expr::MethodCall(call.clone()), false);
            }
            _ => return None,
        };
        Some(Expr::MethodCall(call))
    }

    /// Returns the copy of what a reference out of an option refers to: `v.get(i).unwrap()`, `v.get(i).unwrap_or(&0)`. It is certainly a
    /// reference if it is dereferenced.
    pub(super) fn copied_reference(&self, reference: &Expr, is_certain: bool) -> Option<Expr> {
        let Expr::MethodCall(call) = strip(reference) else { return None };
        let mut call = call.clone();
        let is_certain = match (call.method.to_string().as_str(), call.args.len()) {
            ("unwrap", 0) | ("expect", 1) => is_certain,
            ("unwrap_or", 1) => {
                let Expr::Reference(other) = strip(&call.args[0]) else { return None };
                let other = (*other.expr).clone();
                call.args[0] = other;
                true
            }
            _ => return None,
        };
        call.receiver = Box::new(self.copied_option(&call.receiver, is_certain)?);
        Some(Expr::MethodCall(call))
    }

    /// Returns an option of a copy in place of one of a reference.
    fn copied_option(&self, option: &Expr, is_certain: bool) -> Option<Expr> {
        let Expr::MethodCall(call) = strip(option) else { return None };
        if is_element(call) {
            let is_known = is_certain || self.is_elements(&call.receiver);
            let at = SpanRange::of(&call.method).lo;
            return is_known.then(|| parse2(quote_spanned!(at=> #call.copied())).ok())?;
        }
        if call.method == "filter" && call.args.len() == 1 && !is_iterator(&call.receiver) {
            let receiver = Box::new(self.copied_option(&call.receiver, is_certain)?);
            let mut call = ExprMethodCall { receiver, ..call.clone() };
            copied_items::take_copy(&mut call)?;
            return Some(Expr::MethodCall(call));
        }
        if !gives_item(call) {
            return None;
        }
        copied_items::item_over_copies(call).map(Expr::MethodCall)
    }

    /// Returns `if let Some(x) = option { .. }` over a copy.
    pub(super) fn branch_over_copy(&self, branch: &ExprIf) -> Option<ExprIf> {
        let Expr::Let(binding) = &*branch.cond else { return None };
        let (pat, expr, names) = self.pattern_over_copy(&binding.pat, &binding.expr)?;
        let mut branch = branch.clone();
        branch.cond = Box::new(Expr::Let(ExprLet { pat: Box::new(pat), expr: Box::new(expr), ..binding.clone() }));
        branch.then_branch.stmts.splice(0..0, names);
        Some(branch)
    }

    /// Returns `while let Some(x) = option { .. }` over a copy.
    pub(super) fn loop_over_copy(&self, repeat: &ExprWhile) -> Option<ExprWhile> {
        let Expr::Let(binding) = &*repeat.cond else { return None };
        let (pat, expr, names) = self.pattern_over_copy(&binding.pat, &binding.expr)?;
        let mut repeat = repeat.clone();
        repeat.cond = Box::new(Expr::Let(ExprLet { pat: Box::new(pat), expr: Box::new(expr), ..binding.clone() }));
        repeat.body.stmts.splice(0..0, names);
        Some(repeat)
    }

    /// Returns a `let` in a chain of conditions over a copy: its names are in scope in the rest of the chain.
    pub(super) fn condition_over_copy(&self, binding: &ExprLet) -> Option<ExprLet> {
        let (pat, expr, names) = self.pattern_over_copy(&binding.pat, &binding.expr)?;
        names.is_empty().then(|| ExprLet { pat: Box::new(pat), expr: Box::new(expr), ..binding.clone() })
    }

    /// Returns `match option { Some(x) => .., None => .. }` over a copy.
    pub(super) fn match_over_copy(&self, choice: &ExprMatch) -> Option<ExprMatch> {
        let mut is_certain = false;
        let arm_over_copy = |arm: &Arm| {
            let (pat, names, is_explicit) = off_reference(&arm.pat)?;
            is_certain |= is_explicit;
            let body = &arm.body;
            let body = match names.is_empty() {
                true => body.clone(),
                false => Box::new(parse2(quote!({ #(#names)* #body })).ok()?),
            };
            Some(Arm { pat, body, ..arm.clone() })
        };
        let arms = choice.arms.iter().map(arm_over_copy).collect::<Option<Vec<Arm>>>()?;
        let expr = Box::new(self.copied_option(&choice.expr, is_certain)?);
        Some(ExprMatch { expr, arms, ..choice.clone() })
    }

    /// Returns the statements in place of `let Some(x) = option else { .. };`, or of `let x = option.unwrap();`, where `x` is a reference.
    pub(super) fn let_over_copy(&self, local: &Local) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref()?;
        let at = SpanRange::of(&local.pat).lo;
        let (pat, expr, names) = match (&local.pat, &init.diverge) {
            (pat, Some(_)) => self.pattern_over_copy(pat, &init.expr)?,
            (Pat::Reference(reference), None) => {
                ((*reference.pat).clone(), self.copied_reference(&init.expr, true)?, Vec::new())
            }
            (Pat::Ident(name), None) if name.by_ref.is_none() && name.mutability.is_none() => {
                let copy = hidden(&name.ident);
                let pat = parse2(quote_spanned!(at=> #copy)).ok()?;
                let named = parse2(quote_spanned!(at=> let #name = &#copy;)).ok()?;
                (pat_of(pat), self.copied_reference(&init.expr, false)?, vec![named])
            }
            _ => return None,
        };
        let init = Some(LocalInit { expr: Box::new(expr), ..init.clone() });
        let first = Stmt::Local(Local { pat, init, ..local.clone() });
        Some(std::iter::once(first).chain(names).collect())
    }

    /// Returns a pattern and its option over a copy, and the statements that bind names to the reference.
    fn pattern_over_copy(&self, pat: &Pat, option: &Expr) -> Option<(Pat, Expr, Vec<Stmt>)> {
        let (pat, names, is_explicit) = off_reference(pat)?;
        Some((pat, self.copied_option(option, is_explicit)?, names))
    }
}

/// Takes the reference off the pattern of an option. Returns the pattern, what binds the names that are references, and whether the pattern
/// says `&`.
fn off_reference(pat: &Pat) -> Option<(Pat, Vec<Stmt>, bool)> {
    let some = match pat {
        Pat::Wild(_) | Pat::Path(_) => return Some((pat.clone(), Vec::new(), false)),
        // The names are in scope in the guard, too.
        Pat::Guard(guarded) => {
            let (pat, names, is_explicit) = off_reference(&guarded.pat)?;
            let pat = Pat::Guard(syn::PatGuard { pat: Box::new(pat), ..guarded.clone() });
            return names.is_empty().then_some((pat, names, is_explicit));
        }
        Pat::Ident(name) if name.ident == "None" => return Some((pat.clone(), Vec::new(), false)),
        Pat::TupleStruct(some) if some.elems.len() == 1 => some,
        _ => return None,
    };
    let mut some = some.clone();
    let mut names = TokenStream::new();
    let inner = &some.elems[0];
    let at = SpanRange::of(inner).lo;
    let (inner, is_explicit) = match inner {
        Pat::Wild(_) => (inner.clone(), false),
        Pat::Reference(reference) if reference.mutability.is_none() => ((*reference.pat).clone(), true),
        Pat::Ident(name) if name.by_ref.is_none() && name.mutability.is_none() && name.subpat.is_none() => {
            let copy = hidden(&name.ident);
            names.extend(quote_spanned!(at=> let #name = &#copy;));
            (pat_of(copy), false)
        }
        pat => {
            let copy = hidden(&Ident::new("element", at));
            fields_to(pat, &quote!(#copy), &mut names)?;
            (pat_of(copy), false)
        }
    };
    some.elems[0] = inner;
    let names = syn::parse::Parser::parse2(syn::Block::parse_within, names).ok()?;
    Some((Pat::TupleStruct(some), names, is_explicit))
}

/// Binds the names of a pattern to references to the parts of a place.
fn fields_to(pat: &Pat, place: &TokenStream, names: &mut TokenStream) -> Option<()> {
    if let Pat::Slice(array) = pat {
        let (copied, references) = elements_of(array)?;
        names.extend(quote!(let #copied = #place; #references));
        return Some(());
    }
    for (pat, member) in fields_of(pat)? {
        match pat {
            Pat::Wild(_) => {}
            Pat::Ident(name) => names.extend(quote!(let #name = &#place.#member;)),
            pat => fields_to(pat, &quote!(#place.#member), names)?,
        }
    }
    Some(())
}

fn pat_of(ident: Ident) -> Pat {
    Pat::Ident(syn::PatIdent { attrs: Vec::new(), by_ref: None, mutability: None, ident, subpat: None })
}

/// Whether it is `get(i)`, `first()` or `last()` of what is no iterator.
fn is_element(call: &ExprMethodCall) -> bool {
    match call.method.to_string().as_str() {
        "get" => call.args.len() == 1 && !matches!(strip(&call.args[0]), Expr::Range(_)),
        "first" => call.args.is_empty(),
        "last" => call.args.is_empty() && !is_iterator(&call.receiver),
        _ => false,
    }
}
