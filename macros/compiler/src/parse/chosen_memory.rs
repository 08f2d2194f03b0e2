//! Memory that an `if` or a `match` chooses: `let (from, to) = if swap { (&y, &x) } else { (&x, &y) };`, and slices, alone or beside values: `let (negative, digits) = match text { [b'-', rest @ ..] => (true, rest),
//! _ => (false, text) };`. Memory is not the value of either: the names are declared first, and each arm assigns them.

use quote::{ToTokens, quote_spanned};
use syn::{Expr, Local, Pat, PatIdent, Stmt, parse2};

use super::Parser;
use super::readable::name_of;
use super::stmt::mentions;
use super::syntax::strip;
use crate::span::SpanRange;

impl Parser<'_> {
    /// Returns the statements in place of a `let` whose values are references to what has a name, or memory that has one.
    pub(super) fn chosen_memory(&self, local: &Local) -> Option<Vec<Stmt>> {
        let (names, mut choice) = choice(local)?;
        if names.iter().any(|name| mentions(&choice, &name.ident)) {
            return None;
        }
        let mut outcomes = Vec::new();
        each_outcome(&mut choice, names.len(), &mut |parts| {
            outcomes.push(parts.to_vec());
            None
        })?;
        let is_memory = |value: &Expr| match strip(value) {
            Expr::Reference(reference) => matches!(strip(&reference.expr), Expr::Path(_)),
            value => self.names_memory(value),
        };
        // Each begins as what the last arm says.
        let last = outcomes.last().filter(|_| outcomes.iter().flatten().all(is_memory))?;
        let declared = names
            .iter()
            .map(|name| &name.ident)
            .zip(last)
            .map(|(name, value)| parse2(quote_spanned!(SpanRange::of(value).lo=> let mut #name = #value;)));
        let mut statements = declared.collect::<Result<Vec<Stmt>, _>>().ok()?;
        statements.push(assigned_in_arms(&names, &mut choice)?);
        Some(statements)
    }

    /// Returns the statements in place of a `let`, if it is one whose value has a slice.
    pub(super) fn with_chosen_parts(&self, local: &Local) -> Option<Vec<Stmt>> {
        let (names, mut choice) = choice(local)?;
        let mut outcomes = Vec::new();
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
        statements.push(assigned_in_arms(&names, &mut choice)?);
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

/// Returns the names that a `let` gives to what an `if` or a `match` chooses.
fn choice(local: &Local) -> Option<(Vec<&PatIdent>, Expr)> {
    let init = local.init.as_ref().filter(|init| init.diverge.is_none() && local.attrs.is_empty())?;
    if !matches!(*init.expr, Expr::If(_) | Expr::Match(_)) {
        return None;
    }
    let names = match &local.pat {
        Pat::Tuple(tuple) => tuple.elems.iter().map(name_of).collect::<Option<_>>()?,
        pat => vec![name_of(pat)?],
    };
    Some((names, (*init.expr).clone()))
}

/// Returns the choice with assignments to the names in place of its values.
fn assigned_in_arms(names: &[&PatIdent], choice: &mut Expr) -> Option<Stmt> {
    each_outcome(choice, names.len(), &mut |parts| {
        let assigned = names.iter().map(|name| &name.ident).zip(parts);
        let assigned = assigned.map(|(name, value)| quote_spanned!(SpanRange::of(value).lo=> #name = #value;));
        let at = parts.first().map(|part| SpanRange::of(part).lo)?;
        Some(Expr::Verbatim(quote_spanned!(at=> { #(#assigned)* })))
    })?;
    let choice = parse2::<Expr>(choice.to_token_stream()).ok()?;
    Some(Stmt::Expr(choice, None))
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
