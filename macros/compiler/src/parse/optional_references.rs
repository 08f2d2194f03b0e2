//! Options of references to elements, `v.get(i)`, `v.first()`, `v.iter().max()`. No value of the language is one: where it is consumed, it is
//! rewritten as an option of a copy. `if let Some(&x) = v.get(i)` becomes `if let Some(x) = v.get(i).copied()`, and `*v.last().unwrap()`
//! `v.last().copied().unwrap()`; a name for the reference becomes one for a reference to the copy.
//!
//! Another type may have a `get` of its own. Its result holds no reference, so that what takes one off shows that this is not it.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{Arm, Expr, ExprIf, ExprLet, ExprMatch, ExprMethodCall, ExprWhile, Local, LocalInit, Pat, Stmt, parse2};

use super::Parser;
use super::copied_items;
use super::iter_consumers::{gives_item, is_iterator};
use super::referenced_fields::{elements_of, fields_of, hidden};
use super::syntax::strip;
use crate::model::kind::Kind;
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
                Expr::Path(_) => return self.copied_option(&call.receiver, true),
                _ => return None,
            },
            ("unwrap" | "expect" | "unwrap_or", _) => {
                return self.copied_reference(&Expr::MethodCall(call.clone()), false);
            }
            _ => return None,
        };
        Some(Expr::MethodCall(call))
    }

    /// Returns the copy of what a reference out of an option refers to: `v.get(i).unwrap()`, `v.get(i)?`, `v.get(i).unwrap_or(&0)`. It is certainly a
    /// reference if it is dereferenced.
    pub(super) fn copied_reference(&self, reference: &Expr, is_certain: bool) -> Option<Expr> {
        let call = match strip(reference) {
            Expr::MethodCall(call) => call,
            Expr::Try(attempt) => {
                let expr = Box::new(self.copied_option(&attempt.expr, is_certain)?);
                return Some(Expr::Try(syn::ExprTry { expr, ..attempt.clone() }));
            }
            _ => return None,
        };
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
    pub(super) fn copied_option(&self, option: &Expr, is_certain: bool) -> Option<Expr> {
        let call = match strip(option) {
            Expr::MethodCall(call) => call,
            // A block is no name, whose uses are rewritten.
            path @ Expr::Path(_) => {
                let local = self.named_local(path)?;
                return self.optional_copies.contains(&local).then(|| parse2(quote!({ #path })).ok())?;
            }
            _ => return None,
        };
        if is_element(call) {
            let is_known = is_certain || self.is_elements(&call.receiver);
            let at = SpanRange::of(&call.method).lo;
            return is_known.then(|| parse2(quote_spanned!(at=> #call.copied())).ok())?;
        }
        if (call.method == "ok_or" || call.method == "ok_or_else") && call.args.len() == 1 {
            let receiver = Box::new(self.copied_option(&call.receiver, is_certain)?);
            return Some(Expr::MethodCall(ExprMethodCall { receiver, ..call.clone() }));
        }
        // The names of the pair's parts are references.
        if call.method == "zip"
            && let [other] = &call.args.iter().collect::<Vec<_>>()[..]
            && !is_iterator(&call.receiver)
        {
            let receiver = Box::new(self.copied_option(&call.receiver, is_certain)?);
            let mut call = ExprMethodCall { receiver, ..call.clone() };
            call.args[0] = self.copied_option(other, is_certain)?;
            return Some(Expr::MethodCall(call));
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

    /// Returns `let option = v.get(i);` with an option of a copy.
    pub(super) fn named_option(&self, local: &Local) -> Option<Local> {
        let Pat::Ident(syn::PatIdent { by_ref: None, subpat: None, .. }) = &local.pat else { return None };
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let expr = Box::new(self.copied_option(&init.expr, false)?);
        Some(Local { init: Some(LocalInit { expr, ..init.clone() }), ..local.clone() })
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

    /// Returns a `let` in a chain of conditions over a copy: its names are in scope in the rest of the chain, so that the pattern itself binds
    /// the references.
    pub(super) fn condition_over_copy(&self, binding: &ExprLet) -> Option<ExprLet> {
        let of_slice = self.over_elements(&binding.expr, &[&*binding.pat]).and_then(|(expr, mut patterns)| {
            let (pat, names) = patterns.pop()?;
            names.is_empty().then_some((pat, expr))
        });
        let (pat, expr) = match self
            .converted_pattern(&binding.pat, &binding.expr)
            .or(of_slice)
            .or_else(|| self.behind_reference(&binding.pat, &binding.expr))
        {
            Some(converted) => converted,
            None => match self.tuple_over_copies(&binding.expr, &[&*binding.pat]) {
                Some((expr, mut patterns)) => (patterns.pop()?, expr),
                None => {
                    let (pat, is_explicit) = by_reference(&binding.pat)?;
                    (pat, self.copied_option(&binding.expr, is_explicit)?)
                }
            },
        };
        Some(ExprLet { pat: Box::new(pat), expr: Box::new(expr), ..binding.clone() })
    }

    /// Returns `match option { Some(x) => .., None => .. }` over a copy.
    pub(super) fn match_over_copy(&self, choice: &ExprMatch) -> Option<ExprMatch> {
        if let Some(converted) = self.converted_match(choice).or_else(|| self.match_over_elements(choice)) {
            return Some(converted);
        }
        if let Some(place) = self.shared(&choice.expr) {
            let pattern = |pat: &Pat| match pat {
                Pat::Reference(reference) if reference.mutability.is_none() => Some((*reference.pat).clone()),
                pat => with_references(pat),
            };
            let arm = |arm: &Arm| Some(Arm { pat: pattern(&arm.pat)?, ..arm.clone() });
            let arms = choice.arms.iter().map(arm).collect::<Option<Vec<Arm>>>()?;
            return Some(ExprMatch { expr: Box::new(place), arms, ..choice.clone() });
        }
        if let Some((expr, arms)) = self.arms_over_copies(&choice.expr, &choice.arms) {
            return Some(ExprMatch { expr: Box::new(expr), arms, ..choice.clone() });
        }
        let mut is_certain = false;
        let arm_over_copy = |arm: &Arm| {
            let (pat, names, is_explicit) = match &arm.pat {
                // The names are in scope in the guard, too.
                Pat::Guard(guarded) => {
                    let (pat, is_explicit) = by_reference(&guarded.pat)?;
                    let pat = Pat::Guard(syn::PatGuard { pat: Box::new(pat), ..guarded.clone() });
                    (pat, Vec::new(), is_explicit)
                }
                pat => off_reference(pat)?,
            };
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
        if let Some(split) = self.split_let(local) {
            return Some(split);
        }
        let init = local.init.as_ref()?;
        let at = SpanRange::of(&local.pat).lo;
        let (pat, expr, names) = match (&local.pat, &init.diverge) {
            (pat, Some(_)) => self.pattern_over_copy(pat, &init.expr)?,
            (pat @ (Pat::Tuple(_) | Pat::Struct(_) | Pat::TupleStruct(_) | Pat::Slice(_)), None) => {
                let (pat, expr) = self.behind_reference(pat, &init.expr)?;
                (pat, expr, Vec::new())
            }
            (Pat::Reference(reference), None) => {
                let value = self.target_of(&init.expr).or_else(|| self.copied_reference(&init.expr, true))?;
                ((*reference.pat).clone(), value, Vec::new())
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

    /// Returns a pattern and an option of a position in place of `Some(x)` and `v.get_mut(i)`, and the statement that binds the name to the
    /// element at that position.
    fn element_in_place(&self, pat: &Pat, option: &Expr) -> Option<(Pat, Expr, Vec<Stmt>)> {
        let Expr::MethodCall(call) = strip(option) else { return None };
        let Pat::TupleStruct(some) = pat else { return None };
        let [Pat::Ident(name)] = some.elems.iter().collect::<Vec<_>>()[..] else { return None };
        let is_place = self.is_elements(&call.receiver) || self.named_part(&call.receiver).is_some();
        if !is_place || name.by_ref.is_some() || name.subpat.is_some() {
            return None;
        }
        let (place, at) = (&call.receiver, SpanRange::of(&call.method).lo);
        if let ("get", Some(Expr::Range(range))) = (call.method.to_string().as_str(), call.args.first().map(strip)) {
            return part_in_place(some, name, place, range);
        }
        let index = match (call.method.to_string().as_str(), call.args.first()) {
            ("get_mut", Some(index)) if !matches!(strip(index), Expr::Range(_)) => quote!(#index),
            ("first_mut", None) => quote!(0),
            // The index of an empty array's last element wraps, and is above every length.
            ("last_mut", None) => quote!(#place.len() - 1),
            _ => return None,
        };
        let position = hidden(&Ident::new("position", at));
        let position_of = quote_spanned!(at=> {
            let #position = #index;
            if (#position as ::core::primitive::usize) < #place.len() { Some(#position as ::core::primitive::usize) } else { None }
        });
        let mut some = some.clone();
        some.elems[0] = pat_of(position.clone());
        let element = parse2(quote_spanned!(at=> let #name = &mut #place[#position];)).ok()?;
        Some((Pat::TupleStruct(some), parse2(position_of).ok()?, vec![element]))
    }

    /// Returns a pattern and a place, in place of a pattern and a reference to the place: `match &self.state { .. }`.
    fn behind_reference(&self, pat: &Pat, reference: &Expr) -> Option<(Pat, Expr)> {
        Some((with_references(pat)?, self.shared(reference)?))
    }

    /// Returns the place of a reference that changes nothing.
    fn shared(&self, expr: &Expr) -> Option<Expr> {
        match strip(expr) {
            Expr::Reference(reference) if reference.mutability.is_none() => match strip(&reference.expr) {
                place @ (Expr::Path(_) | Expr::Field(_) | Expr::Tuple(_)) => Some(place.clone()),
                // A part of an array is no value.
                place @ Expr::Index(index) if !matches!(strip(&index.index), Expr::Range(_)) => Some(place.clone()),
                _ => None,
            },
            name => self.target_of(name),
        }
    }

    /// Returns `*name`, if the name is that of a reference that changes nothing, and of no part of an array.
    fn target_of(&self, name: &Expr) -> Option<Expr> {
        let Expr::Path(_) = strip(name) else { return None };
        let local = self.named_local(name)?;
        let is_reference = self.function.kind(local) == Kind::Reference { mutable: false };
        let is_value = !self.local_parts.contains_key(&local) && !self.optional_copies.contains(&local);
        (is_reference && is_value).then(|| parse2(quote_spanned!(SpanRange::of(name).lo=> (*#name))).ok())?
    }

    /// Returns a pattern and its option over a copy, and the statements that bind names to the reference.
    fn pattern_over_copy(&self, pat: &Pat, option: &Expr) -> Option<(Pat, Expr, Vec<Stmt>)> {
        if let Some((pat, expr)) = self.converted_pattern(pat, option).or_else(|| self.behind_reference(pat, option)) {
            return Some((pat, expr, Vec::new()));
        }
        if let Some(in_place) = self.element_in_place(pat, option) {
            return Some(in_place);
        }
        if let Some((expr, mut patterns)) = self.over_elements(option, &[pat]) {
            let (pat, names) = patterns.pop()?;
            return Some((pat, expr, names));
        }
        if let Some((expr, mut patterns)) = self.tuple_over_copies(option, &[pat]) {
            return Some((patterns.pop()?, expr, Vec::new()));
        }
        let (pat, names, is_explicit) = off_reference(pat)?;
        Some((pat, self.copied_option(option, is_explicit)?, names))
    }
}

/// Returns a pattern and an option of bounds in place of `Some(part)` and `v.get(a..b)`, and the statement that binds the name to the part.
fn part_in_place(
    some: &syn::PatTupleStruct,
    name: &syn::PatIdent,
    place: &Expr,
    range: &syn::ExprRange,
) -> Option<(Pat, Expr, Vec<Stmt>)> {
    let at = SpanRange::of(range).lo;
    let (low, high) = (hidden(&Ident::new("low", at)), hidden(&Ident::new("high", at)));
    let start = range.start.as_ref().map_or(quote!(0), |start| quote!(#start));
    let end = match (&range.end, &range.limits) {
        (Some(end), syn::RangeLimits::HalfOpen(_)) => quote!(#end),
        (Some(end), syn::RangeLimits::Closed(_)) => quote!((#end) + 1),
        (None, _) => quote!(#place.len()),
    };
    let bounds = quote_spanned!(at=> {
        let #low: ::core::primitive::usize = #start;
        let #high: ::core::primitive::usize = #end;
        if #low <= #high && #high <= #place.len() { Some((#low, #high)) } else { None }
    });
    let mut some = some.clone();
    some.elems[0] = syn::parse::Parser::parse2(Pat::parse_single, quote_spanned!(at=> (#low, #high))).ok()?;
    let part = parse2(quote_spanned!(at=> let #name = &#place[#low..#high];)).ok()?;
    Some((Pat::TupleStruct(some), parse2(bounds).ok()?, vec![part]))
}

/// Takes the reference off the pattern of an option. Returns the pattern, what binds the names that are references, and whether the pattern
/// says `&`.
fn off_reference(pat: &Pat) -> Option<(Pat, Vec<Stmt>, bool)> {
    let some = match pat {
        Pat::Wild(_) | Pat::Path(_) => return Some((pat.clone(), Vec::new(), false)),
        Pat::Ident(name) if name.ident == "None" => return Some((pat.clone(), Vec::new(), false)),
        // All alternatives bind the same names.
        Pat::Or(_) => return by_reference(pat).map(|(pat, is_explicit)| (pat, Vec::new(), is_explicit)),
        Pat::TupleStruct(some) if some.elems.len() == 1 => some,
        _ => return None,
    };
    let mut some = some.clone();
    let mut names = TokenStream::new();
    let inner = &some.elems[0];
    let at = SpanRange::of(inner).lo;
    let (inner, is_explicit) = match inner {
        Pat::Wild(_) => (inner.clone(), false),
        inner if !binds_names(inner) => (inner.clone(), false),
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

/// Takes the reference off the pattern of an option whose names are bound by reference: `Some(ref x)` for `Some(x)`. Returns whether the
/// pattern says `&`.
pub(super) fn by_reference(pat: &Pat) -> Option<(Pat, bool)> {
    match pat {
        Pat::Wild(_) | Pat::Path(_) => Some((pat.clone(), false)),
        Pat::Ident(name) if name.ident == "None" => Some((pat.clone(), false)),
        Pat::Paren(paren) => by_reference(&paren.pat),
        Pat::Or(alternatives) => {
            let (mut alternatives, mut is_certain) = (alternatives.clone(), false);
            for case in &mut alternatives.cases {
                let (pat, is_explicit) = by_reference(case)?;
                (*case, is_certain) = (pat, is_certain | is_explicit);
            }
            Some((Pat::Or(alternatives), is_certain))
        }
        Pat::TupleStruct(some) if some.elems.len() == 1 => {
            let mut some = some.clone();
            let is_explicit = match &some.elems[0] {
                Pat::Reference(reference) if reference.mutability.is_none() => {
                    some.elems[0] = (*reference.pat).clone();
                    true
                }
                inner => {
                    some.elems[0] = with_references(inner)?;
                    false
                }
            };
            Some((Pat::TupleStruct(some), is_explicit))
        }
        _ => None,
    }
}

/// Returns a pattern that binds its names by reference.
pub(super) fn with_references(pat: &Pat) -> Option<Pat> {
    let (mut pat, mut names) = (pat.clone(), ByReference { is_possible: true });
    names.visit_pat_mut(&mut pat);
    names.is_possible.then_some(pat)
}

/// Has a pattern bind its names by reference, as Rust's default binding modes have it.
struct ByReference {
    is_possible: bool,
}

impl VisitMut for ByReference {
    fn visit_pat_mut(&mut self, pat: &mut Pat) {
        match pat {
            // A constant, by Rust's convention.
            Pat::Ident(name) if name.ident.to_string().starts_with(char::is_uppercase) => {}
            Pat::Ident(name) if name.by_ref.is_none() && name.mutability.is_none() => {
                name.by_ref = Some(syn::token::Ref { span: name.ident.span() });
                if let Some((_, sub)) = &mut name.subpat {
                    self.visit_pat_mut(sub);
                }
            }
            Pat::Ident(_) | Pat::Reference(_) => self.is_possible = false,
            pat => visit_mut::visit_pat_mut(self, pat),
        }
    }
}

/// Whether a pattern binds names.
fn binds_names(pat: &Pat) -> bool {
    struct Names(bool);
    impl Visit<'_> for Names {
        fn visit_pat_ident(&mut self, name: &syn::PatIdent) {
            self.0 |= !name.ident.to_string().starts_with(char::is_uppercase);
        }
    }
    let mut names = Names(false);
    names.visit_pat(pat);
    names.0
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
