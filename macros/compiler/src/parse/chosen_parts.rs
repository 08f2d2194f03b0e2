//! Slices that a `match` or an `if` chooses, alone or beside values: `let (negative, digits) = match text { [b'-', rest @ ..] => (true, rest),
//! _ => (false, text) };`. Memory is not the value of either: the names are declared first, and each arm assigns them.

use quote::{ToTokens, quote_spanned};
use syn::{Expr, Ident, Local, Pat, PatIdent, Stmt, parse2};

use super::Parser;
use super::syntax::strip;
use crate::span::SpanRange;

impl Parser<'_> {
    /// Returns the statements in place of a `let`, if it is one whose value has a slice.
    pub(super) fn with_chosen_parts(&self, local: &Local) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none() && local.attrs.is_empty())?;
        if !matches!(*init.expr, Expr::If(_) | Expr::Match(_)) {
            return None;
        }
        let names: Vec<&PatIdent> = match &local.pat {
            Pat::Tuple(tuple) => tuple.elems.iter().map(name_of).collect::<Option<_>>()?,
            pat => vec![name_of(pat)?],
        };
        let mut outcomes = Vec::new();
        let mut choice = (*init.expr).clone();
        each_outcome(&mut choice, names.len(), &mut |parts| {
            outcomes.push(parts.to_vec());
            None
        })?;
        // Each slice begins as the whole of the memory that one of the arms names.
        let whole = |at: usize| outcomes.iter().find_map(|parts| self.memory_of(parts.get(at)?));
        let wholes: Vec<Option<Expr>> = (0..names.len()).map(whole).collect();
        if wholes.iter().all(Option::is_none) {
            return None;
        }
        let mut statements: Vec<Stmt> = Vec::new();
        for (name, whole) in names.iter().zip(&wholes) {
            let (ident, at) = (&name.ident, SpanRange::of(*name).lo);
            statements.push(match whole {
                Some(whole) => parse2(quote_spanned!(at=> let mut #ident = &#whole[..];)).ok()?,
                None => parse2(quote_spanned!(at=> let #name;)).ok()?,
            });
        }
        let names: Vec<Ident> = names.iter().map(|name| name.ident.clone()).collect();
        each_outcome(&mut choice, names.len(), &mut |parts| {
            let assigned = names.iter().zip(parts);
            let assigned = assigned.map(|(name, value)| quote_spanned!(SpanRange::of(value).lo=> #name = #value;));
            let at = parts.first().map(|part| SpanRange::of(part).lo)?;
            Some(Expr::Verbatim(quote_spanned!(at=> { #(#assigned)* })))
        })?;
        let choice = parse2::<Expr>(choice.into_token_stream()).ok()?;
        statements.push(Stmt::Expr(choice, None));
        Some(statements)
    }

    /// The memory that a value is, or is a part of.
    fn memory_of(&self, value: &Expr) -> Option<Expr> {
        let named = |name: &Expr| (matches!(name, Expr::Path(_)) && self.names_memory(name)).then(|| name.clone());
        match strip(value) {
            Expr::Reference(reference) if reference.mutability.is_none() => match strip(&reference.expr) {
                Expr::Index(index) if matches!(strip(&index.index), Expr::Range(_)) => named(strip(&index.expr)),
                _ => None,
            },
            name => named(name),
        }
    }
}

/// Visits the values of the arms, `count` parts each, and replaces them. `None` if an arm has another form.
fn each_outcome(expr: &mut Expr, count: usize, visit: &mut dyn FnMut(&[Expr]) -> Option<Expr>) -> Option<()> {
    match expr {
        Expr::If(choice) => {
            let (_, otherwise) = choice.else_branch.as_mut()?;
            in_block(&mut choice.then_branch, count, visit)?;
            each_outcome(otherwise, count, visit)
        }
        Expr::Match(choice) => choice.arms.iter_mut().try_for_each(|arm| each_outcome(&mut arm.body, count, visit)),
        Expr::Block(block) if block.label.is_none() => in_block(&mut block.block, count, visit),
        Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => Some(()),
        Expr::Macro(call) if call.mac.path.is_ident("panic") || call.mac.path.is_ident("unreachable") => Some(()),
        value => {
            let parts = match strip(value) {
                Expr::Tuple(tuple) if count > 1 => tuple.elems.iter().cloned().collect(),
                value => vec![value.clone()],
            };
            let replaced = (parts.len() == count).then(|| visit(&parts))?;
            *value = replaced.unwrap_or_else(|| value.clone());
            Some(())
        }
    }
}

fn in_block(block: &mut syn::Block, count: usize, visit: &mut dyn FnMut(&[Expr]) -> Option<Expr>) -> Option<()> {
    match block.stmts.last_mut()? {
        Stmt::Expr(tail, None) => each_outcome(tail, count, visit),
        Stmt::Expr(Expr::Return(_) | Expr::Break(_) | Expr::Continue(_), Some(_)) => Some(()),
        _ => None,
    }
}

fn name_of(pat: &Pat) -> Option<&PatIdent> {
    match pat {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => Some(name),
        _ => None,
    }
}
