//! Names of mutable references that stand for their places, because rustc would not have two mutable references into one array beside each
//! other which it does not take apart itself: `let [a, b] = &mut rows;`, and the items of both halves of `split_at_mut` in one loop. A name is
//! replaced by its place in the statements where it is in scope.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Local, Macro, Pat, PatIdent, Stmt, UnOp, parse2};

use super::Parser;
use super::named_iterators::names_in;
use super::syntax::{binds, strip};
use crate::span::SpanRange;

/// A name and the place that it refers to.
pub(super) struct NamedPlace {
    pub(super) name: Ident,
    pub(super) place: Expr,
}

impl Parser<'_> {
    /// Returns the statements after `let [a, b] = &mut rows;`, or `let (a, b) = &mut pair;`, if the statement is one of a variable.
    pub(super) fn with_named_places(&self, local: &Local, rest: &[&Stmt]) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let Expr::Reference(reference) = strip(&init.expr) else { return None };
        if reference.mutability.is_none() || !self.is_variable(&reference.expr) {
            return None;
        }
        let mut places = Vec::new();
        parts_of(&local.pat, &reference.expr, &mut places)?;
        let mut rest: Vec<Stmt> = rest.iter().map(|stmt| (*stmt).clone()).collect();
        for of in &places {
            let mut uses = Uses { of, is_possible: true };
            rest.iter_mut().for_each(|stmt| uses.visit_stmt_mut(stmt));
            if !uses.is_possible {
                return None;
            }
        }
        // The array's own name means the array there.
        let root = root_of(&reference.expr)?;
        let is_hidden = binds(&rest, root);
        // rustc compares the number of the parts. A name alone has none, and `let _ = product;` would discard its sums.
        let parts = unnamed(&local.pat);
        if !matches!(parts, Pat::Wild(_)) {
            let place = &reference.expr;
            let compared = parse2(quote_spanned!(SpanRange::of(&local.pat).lo=> let #parts = #place;)).ok()?;
            rest.insert(0, compared);
        }
        (!is_hidden).then_some(rest)
    }

    /// Whether an expression is a variable of the thread's own, or a part of one that is found without evaluating anything.
    fn is_variable(&self, place: &Expr) -> bool {
        match strip(place) {
            Expr::Path(_) => self.named_part(place).is_none() && self.is_own_variable(place),
            Expr::Field(field) => self.is_variable(&field.base),
            Expr::Index(index) => matches!(strip(&index.index), Expr::Lit(_)) && self.is_variable(&index.expr),
            _ => false,
        }
    }
}

/// Replaces the names in a block. Returns whether all of them could be replaced: not where the block, or the pattern that has the names,
/// declares a name of a place again.
pub(super) fn replace(places: &[NamedPlace], pat: &Pat, block: &mut syn::Block) -> bool {
    let bound = names_in(pat.to_token_stream());
    // The first part of a pattern is the loop's counter, of which places may be made.
    let is_bound =
        |name: &Ident| bound.iter().skip(1).any(|bound| bound == name) && !places.iter().any(|of| of.name == *name);
    let is_hidden = |of: &NamedPlace| {
        names_in(of.place.to_token_stream()).iter().any(|name| is_bound(name) || binds(&block.stmts, name))
    };
    if places.iter().any(is_hidden) {
        return false;
    }
    places.iter().all(|of| {
        let mut uses = Uses { of, is_possible: true };
        uses.visit_block_mut(block);
        uses.is_possible
    })
}

/// The places of a pattern's names.
fn parts_of(pat: &Pat, place: &Expr, places: &mut Vec<NamedPlace>) -> Option<()> {
    let part = |place: TokenStream| parse2::<Expr>(place).ok();
    match pat {
        Pat::Wild(_) => Some(()),
        Pat::Paren(paren) => parts_of(&paren.pat, place, places),
        Pat::Ident(PatIdent { by_ref: None, mutability: None, ident, subpat: None, .. }) => {
            places.push(NamedPlace { name: ident.clone(), place: place.clone() });
            Some(())
        }
        Pat::Slice(array) => array.elems.iter().enumerate().try_for_each(|(index, element)| {
            let index = syn::Index::from(index);
            parts_of(element, &part(quote!(#place[#index]))?, places)
        }),
        Pat::Tuple(tuple) => tuple.elems.iter().enumerate().try_for_each(|(index, element)| {
            let index = syn::Index::from(index);
            parts_of(element, &part(quote!(#place.#index))?, places)
        }),
        _ => None,
    }
}

/// The pattern without its names.
fn unnamed(pat: &Pat) -> Pat {
    struct Unnamed;
    impl VisitMut for Unnamed {
        fn visit_pat_mut(&mut self, pat: &mut Pat) {
            if let Pat::Ident(name) = pat {
                *pat =
                    Pat::Wild(syn::PatWild { attrs: Vec::new(), underscore_token: syn::Token![_](name.ident.span()) });
            }
            visit_mut::visit_pat_mut(self, pat);
        }
    }
    let mut pat = pat.clone();
    Unnamed.visit_pat_mut(&mut pat);
    pat
}

fn root_of(place: &Expr) -> Option<&Ident> {
    match strip(place) {
        Expr::Path(path) => path.path.get_ident(),
        Expr::Field(field) => root_of(&field.base),
        Expr::Index(index) => root_of(&index.expr),
        _ => None,
    }
}

/// Replaces a name by its place.
struct Uses<'p> {
    of: &'p NamedPlace,
    is_possible: bool,
}

impl Uses<'_> {
    fn is_name(&self, expr: &Expr) -> bool {
        matches!(strip(expr), Expr::Path(path) if path.path.is_ident(&self.of.name))
    }

    /// An argument is the reference itself.
    fn lend(&mut self, argument: &mut Expr) {
        if self.is_name(argument) {
            let place = &self.of.place;
            match parse2(quote!(&mut #place)) {
                Ok(lent) => *argument = lent,
                Err(_) => self.is_possible = false,
            }
        }
    }
}

impl VisitMut for Uses<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let is_target = match &*expr {
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => self.is_name(&unary.expr),
            _ => false,
        };
        match expr {
            _ if is_target => *expr = self.of.place.clone(),
            Expr::Call(call) => {
                call.args.iter_mut().for_each(|argument| self.lend(argument));
                visit_mut::visit_expr_call_mut(self, call);
            }
            Expr::MethodCall(call) => {
                call.args.iter_mut().for_each(|argument| self.lend(argument));
                if self.is_name(&call.receiver) {
                    *call.receiver = self.of.place.clone();
                }
                visit_mut::visit_expr_method_call_mut(self, call);
            }
            // What has parts is dereferenced where they are named.
            Expr::Index(index) if self.is_name(&index.expr) => {
                *index.expr = self.of.place.clone();
                self.visit_expr_mut(&mut index.index);
            }
            Expr::Field(field) if self.is_name(&field.base) => *field.base = self.of.place.clone(),
            // Any other use is one of the reference as a value.
            expr if self.is_name(expr) => self.is_possible = false,
            expr => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn visit_pat_ident_mut(&mut self, bound: &mut PatIdent) {
        self.is_possible &= bound.ident != self.of.name;
    }

    /// A macro's arguments are not parsed here.
    fn visit_macro_mut(&mut self, call: &mut Macro) {
        self.is_possible &= !call.tokens.to_token_stream().to_string().contains(&self.of.name.to_string());
    }
}
