//! Memory that an `if` or a `match` chooses: it is no value of one, so that a variable is assigned in the arms.

use proc_macro2::Ident;
use quote::{ToTokens, quote, quote_spanned};
use syn::{Local, Pat, Stmt as SynStmt, parse2};

use super::Parser;
use super::stmt::{mentions, name_of};
use super::syntax::strip;
use crate::span::SpanRange;

impl Parser<'_> {
    /// Separates `let x = if condition { &a } else { &b };` into `let mut x = &b; if condition { x = &a; } else {}`, and likewise a
    /// `match` and a tuple of names. The values are references to what has a name, or memory that has one.
    pub(super) fn chosen_memory(&self, local: &Local) -> Option<Vec<SynStmt>> {
        let Local { attrs, pat, init: Some(init), .. } = local else { return None };
        let names: Vec<&Ident> = match pat {
            Pat::Tuple(names) => names.elems.iter().map(name_of).collect::<Option<_>>()?,
            pat => vec![name_of(pat)?],
        };
        let is_plain = attrs.is_empty() && init.diverge.is_none();
        let may_choose = matches!(*init.expr, syn::Expr::If(_) | syn::Expr::Match(_));
        if !is_plain || !may_choose || names.iter().any(|name| mentions(&init.expr, name)) {
            return None;
        }
        let mut outcomes = Vec::new();
        let mut choice = (*init.expr).clone();
        let is_choice = each_outcome(&mut choice, &mut |outcome| outcomes.push(outcome.clone()));
        let references: Vec<Vec<syn::Expr>> =
            outcomes.iter().map(|outcome| self.references(outcome, names.len())).collect::<Option<_>>()?;
        let (last, others) = references.split_last().filter(|_| is_choice)?;
        let mut assigned = others.iter();
        each_outcome(&mut choice, &mut |outcome| {
            let values = assigned.next().into_iter().flatten();
            let statements =
                names.iter().zip(values).map(|(name, value)| quote_spanned!(SpanRange::of(value).lo=> #name = #value;));
            *outcome = syn::Expr::Verbatim(quote!({ #(#statements)* }));
        });
        let declared = names.iter().zip(last);
        let declared =
            declared.map(|(name, value)| parse2(quote_spanned!(SpanRange::of(value).lo=> let mut #name = #value;)));
        let choice = parse2::<syn::Expr>(choice.into_token_stream()).ok()?;
        declared.chain([Ok(SynStmt::Expr(choice, None))]).collect::<Result<_, _>>().ok()
    }

    /// Returns the references that a value consists of, if it is this many of them, each to something that has a name.
    fn references(&self, value: &syn::Expr, count: usize) -> Option<Vec<syn::Expr>> {
        let is_reference = |value: &syn::Expr| match strip(value) {
            syn::Expr::Reference(reference) => matches!(strip(&reference.expr), syn::Expr::Path(_)),
            value => self.names_memory(value),
        };
        let parts = match value {
            syn::Expr::Tuple(tuple) => tuple.elems.iter().cloned().collect(),
            value => vec![value.clone()],
        };
        (parts.len() == count && parts.iter().all(is_reference)).then_some(parts)
    }
}

/// Visits the values that the arms of an `if` with an `else`, or of a `match`, may have; says whether the expression is one, and each
/// arm nothing but its value. Names that a pattern binds may be in such a value, so that there must be none.
fn each_outcome(expr: &mut syn::Expr, visit: &mut impl FnMut(&mut syn::Expr)) -> bool {
    fn of_arm(arm: &mut syn::Expr, visit: &mut impl FnMut(&mut syn::Expr)) -> bool {
        match arm {
            syn::Expr::If(_) | syn::Expr::Match(_) => each_outcome(arm, visit),
            syn::Expr::Block(block) => of_block(&mut block.block, visit),
            value => {
                visit(value);
                true
            }
        }
    }
    fn of_block(block: &mut syn::Block, visit: &mut impl FnMut(&mut syn::Expr)) -> bool {
        match &mut block.stmts[..] {
            [SynStmt::Expr(tail, None)] => of_arm(tail, visit),
            _ => false,
        }
    }
    match expr {
        syn::Expr::If(choice) => {
            let Some((_, otherwise)) = &mut choice.else_branch else { return false };
            !matches!(*choice.cond, syn::Expr::Let(_))
                && of_block(&mut choice.then_branch, visit)
                && of_arm(otherwise, visit)
        }
        syn::Expr::Match(choice) => {
            choice.arms.iter_mut().all(|arm| binds_nothing(&arm.pat) && of_arm(&mut arm.body, visit))
        }
        _ => false,
    }
}

/// Whether a pattern has no part that may be a new name.
fn binds_nothing(pat: &Pat) -> bool {
    match pat {
        Pat::Lit(_) | Pat::Range(_) | Pat::Wild(_) | Pat::Path(_) => true,
        Pat::Or(or) => or.cases.iter().all(binds_nothing),
        Pat::Paren(paren) => binds_nothing(&paren.pat),
        Pat::Tuple(tuple) => tuple.elems.iter().all(binds_nothing),
        _ => false,
    }
}
