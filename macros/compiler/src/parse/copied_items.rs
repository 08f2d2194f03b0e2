//! Iterators over references, with a filter: `values.iter().filter(|x| **x > 2).count()` is rewritten as one over copies,
//! `values.iter().copied().filter(|x| *x > 2).count()`, because the item of a loop has no second name in the text.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::parse::ParseStream;
use syn::visit_mut::{self, VisitMut};
use syn::{ExprClosure, ExprMethodCall, Ident, Pat, Token, Type, UnOp};

use super::item_references::gives_references;
use super::iter_steps::MAPS;
use super::referenced_fields::fields_of;
use super::syntax::strip;
use crate::model::words::words;
use crate::span::SpanRange;

/// Consumers that give an item itself.
pub(super) const ITEM_CONSUMERS: [&str; 11] =
    ["min", "max", "min_by_key", "max_by_key", "min_by", "max_by", "find", "last", "next", "nth", "reduce"];

/// Returns the call over copied items, if its result is the same: the least item is a reference itself.
pub(super) fn over_copies(call: &ExprMethodCall) -> Option<ExprMethodCall> {
    let (receiver, items) = of_iterator(&call.receiver)?;
    if matches!(items, Items::Pairs(..)) && ITEM_CONSUMERS.iter().any(|name| call.method == name) {
        // A pair of copies is used as one of references, of which only the parts are.
        return item_over_copies(call);
    }
    let mut call = ExprMethodCall { receiver: Box::new(receiver), ..call.clone() };
    match call.method.to_string().as_str() {
        "sum" | "product" | "count" => {}
        "any" | "all" | "for_each" | "fold" | "try_fold" | "try_for_each" | "find_map" | "position" | "rposition" => {
            take_item(&mut call, &items)?
        }
        _ if matches!(items, Items::Values) => {}
        _ => return None,
    }
    Some(call)
}

/// Returns a call that gives one item over copied items: it gives a copy of what it would refer to.
pub(super) fn item_over_copies(call: &ExprMethodCall) -> Option<ExprMethodCall> {
    let (receiver, items) = of_iterator(&call.receiver)?;
    if !items.have_references() {
        return None;
    }
    let mut call = ExprMethodCall { receiver: Box::new(receiver), ..call.clone() };
    match call.method.to_string().as_str() {
        "find" | "min_by_key" | "max_by_key" => take_item(&mut call, &items)?,
        "min_by" | "max_by" | "reduce" => {
            let syn::Expr::Closure(ExprClosure { inputs, body, .. }) = call.args.last_mut()? else { return None };
            let by_reference = call.method != "reduce";
            inputs.iter_mut().try_for_each(|input| take(input, body, &items, by_reference))?;
        }
        _ => {}
    }
    Some(call)
}

/// The methods whose closures take references to items.
const TAKE_REFERENCES: [&str; 6] = ["filter", "take_while", "skip_while", "find", "min_by_key", "max_by_key"];

/// What an iterator yields.
enum Items {
    /// References to the elements of its source, which become copies.
    References,
    /// What has been values before.
    Values,
    Pairs(Box<Items>, Box<Items>),
}

impl Items {
    fn have_references(&self) -> bool {
        match self {
            Items::References => true,
            Items::Values => false,
            Items::Pairs(first, second) => first.have_references() || second.have_references(),
        }
    }
}

fn of_iterator(iterator: &syn::Expr) -> Option<(syn::Expr, Items)> {
    let syn::Expr::MethodCall(call) = strip(iterator) else { return None };
    let with = |receiver: syn::Expr| ExprMethodCall { receiver: Box::new(receiver), ..call.clone() };
    match call.method.to_string().as_str() {
        name @ ("filter" | "take_while" | "skip_while" | "map" | "filter_map" | "map_while" | "scan") => {
            let (receiver, items) = of_iterator(&call.receiver)?;
            let mut call = with(receiver);
            take_item(&mut call, &items)?;
            let items = if MAPS.contains(&name) { Items::Values } else { items };
            Some((syn::Expr::MethodCall(call), items))
        }
        "enumerate" => {
            let (receiver, items) = of_iterator(&call.receiver)?;
            let pairs = Items::Pairs(Box::new(Items::Values), Box::new(items));
            Some((syn::Expr::MethodCall(with(receiver)), pairs))
        }
        "take" | "skip" | "step_by" => {
            let (receiver, items) = of_iterator(&call.receiver)?;
            Some((syn::Expr::MethodCall(with(receiver)), items))
        }
        _ => of_source(iterator),
    }
}

fn of_source(source: &syn::Expr) -> Option<(syn::Expr, Items)> {
    let at = SpanRange::of(source).lo;
    let call = match strip(source) {
        syn::Expr::MethodCall(call) => call,
        syn::Expr::Reference(reference) if reference.mutability.is_none() => {
            let elements = &reference.expr;
            let copied = syn::parse2(quote_spanned!(at=> (#elements).iter().copied())).ok()?;
            return Some((copied, Items::References));
        }
        syn::Expr::Range(_) => return Some((source.clone(), Items::Values)),
        _ => return None,
    };
    let with = |receiver: syn::Expr| ExprMethodCall { receiver: Box::new(receiver), ..call.clone() };
    match call.method.to_string().as_str() {
        "iter" => {
            let at = SpanRange::of(&call.method).lo;
            Some((syn::parse2(quote_spanned!(at=> #call.copied())).ok()?, Items::References))
        }
        "flatten" | "flat_map" if gives_references(source) => {
            let at = SpanRange::of(&call.method).lo;
            Some((syn::parse2(quote_spanned!(at=> #call.copied())).ok()?, Items::References))
        }
        "flatten" | "flat_map" => Some((source.clone(), Items::Values)),
        "copied" | "cloned" | "into_iter" => Some((source.clone(), Items::Values)),
        "rev" | "skip" | "take" | "step_by" => {
            let (receiver, items) = of_source(&call.receiver)?;
            Some((syn::Expr::MethodCall(with(receiver)), items))
        }
        "enumerate" => {
            let (receiver, items) = of_source(&call.receiver)?;
            let pairs = Items::Pairs(Box::new(Items::Values), Box::new(items));
            Some((syn::Expr::MethodCall(with(receiver)), pairs))
        }
        "chain" => {
            let (receiver, first) = of_source(&call.receiver)?;
            let (other, second) = of_source(call.args.first()?)?;
            let mut call = with(receiver);
            *call.args.first_mut()? = other;
            let items = match (first, second) {
                (Items::References, Items::References) => Items::References,
                (Items::Values, Items::Values) => Items::Values,
                _ => return None,
            };
            Some((syn::Expr::MethodCall(call), items))
        }
        "zip" => {
            let (receiver, first) = of_source(&call.receiver)?;
            let (other, second) = of_source(call.args.first()?)?;
            let mut call = with(receiver);
            *call.args.first_mut()? = other;
            Some((syn::Expr::MethodCall(call), Items::Pairs(Box::new(first), Box::new(second))))
        }
        _ => None,
    }
}

/// Takes one `&` from what the closure of an option's method takes, which is a reference to an element.
pub(super) fn take_copy(call: &mut ExprMethodCall) -> Option<()> {
    take_item(call, &Items::References)
}

/// Takes one `&` from each reference of the item that a call's closure takes last.
fn take_item(call: &mut ExprMethodCall, items: &Items) -> Option<()> {
    if matches!(items, Items::Values) {
        return Some(());
    }
    let by_reference = TAKE_REFERENCES.iter().any(|name| call.method == name);
    let Some(syn::Expr::Closure(ExprClosure { inputs, body, .. })) = call.args.last_mut() else { return None };
    take(inputs.last_mut()?, body, items, by_reference)
}

/// Does so in a pattern, to which the item itself or a reference to it is bound.
fn take(input: &mut Pat, body: &mut syn::Expr, items: &Items, by_reference: bool) -> Option<()> {
    match (&mut *input, items) {
        (Pat::Wild(_), _) | (_, Items::Values) => Some(()),
        (Pat::Paren(paren), _) => take(&mut paren.pat, body, items, by_reference),
        (Pat::Reference(reference), Items::Pairs(..)) if by_reference && reference.mutability.is_none() => {
            take(&mut reference.pat, body, items, false)
        }
        (Pat::Tuple(tuple), Items::Pairs(first, second)) if tuple.elems.len() == 2 => {
            take(&mut tuple.elems[0], body, first, by_reference)?;
            take(&mut tuple.elems[1], body, second, by_reference)
        }
        (_, Items::Pairs(..)) => None,
        (Pat::Type(typed), Items::References) => {
            if let Type::Reference(reference) = &*typed.ty {
                typed.ty = reference.elem.clone();
            }
            take(&mut typed.pat, body, items, by_reference)
        }
        (Pat::Reference(reference), Items::References) if reference.mutability.is_none() => {
            *input = (*reference.pat).clone();
            Some(())
        }
        (Pat::Ident(name), Items::References) if name.by_ref.is_none() && name.subpat.is_none() => {
            read_directly(&name.ident, body)
        }
        // The names of its parts are references, also behind a reference to the copy.
        (Pat::Tuple(_) | Pat::Struct(_) | Pat::Slice(_), Items::References) if by_reference => Some(()),
        (Pat::Slice(array), Items::References) => array.elems.iter().try_for_each(|pat| match pat {
            Pat::Wild(_) | Pat::Rest(_) => Some(()),
            Pat::Ident(name) => read_directly(&name.ident, body),
            _ => None,
        }),
        (pat @ (Pat::Tuple(_) | Pat::Struct(_)), Items::References) => {
            fields_of(pat)?.into_iter().try_for_each(|(pat, _)| match pat {
                Pat::Wild(_) => Some(()),
                Pat::Ident(name) => read_directly(&name.ident, body),
                _ => None,
            })
        }
        _ => None,
    }
}

/// Has a closure's body read a name that is no reference any more.
fn read_directly(name: &Ident, body: &mut syn::Expr) -> Option<()> {
    let mut derefs = Derefs { name: name.clone(), is_hidden: false };
    derefs.visit_expr_mut(body);
    (!derefs.is_hidden).then_some(())
}

/// Replaces `*name` by `name`.
struct Derefs {
    name: Ident,
    /// Whether the name may mean something else inside.
    is_hidden: bool,
}

impl VisitMut for Derefs {
    fn visit_expr_mut(&mut self, expr: &mut syn::Expr) {
        if let syn::Expr::Unary(unary) = expr
            && matches!(unary.op, UnOp::Deref(_))
            && matches!(strip(&unary.expr), syn::Expr::Path(path) if path.path.is_ident(&self.name))
        {
            *expr = (*unary.expr).clone();
            return;
        }
        visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_pat_ident_mut(&mut self, pat: &mut syn::PatIdent) {
        self.is_hidden |= pat.ident == self.name;
        visit_mut::visit_pat_ident_mut(self, pat);
    }

    /// The arguments of a macro are values, and those of `matches!` a value and a pattern.
    fn visit_macro_mut(&mut self, call: &mut syn::Macro) {
        let is_named = |tokens: &TokenStream, name: &Ident| words(tokens).any(|word| word == *name);
        if !is_named(&call.tokens, &self.name) {
            return;
        }
        let parsed = call.parse_body_with(|input: ParseStream<'_>| {
            let mut values = vec![input.parse::<syn::Expr>()?];
            if call.path.is_ident("matches") {
                return Ok((values, input.parse::<TokenStream>()?));
            }
            while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
                values.push(input.parse()?);
            }
            Ok((values, TokenStream::new()))
        });
        match parsed {
            Ok((mut values, rest)) if !is_named(&rest, &self.name) => {
                values.iter_mut().for_each(|value| self.visit_expr_mut(value));
                call.tokens = quote!(#(#values),* #rest);
            }
            // It may be in a guard, or not an expression.
            _ => self.is_hidden = true,
        }
    }
}
