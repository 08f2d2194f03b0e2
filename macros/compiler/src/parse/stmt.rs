//! Blocks and statements.

use std::borrow::Cow;
use std::collections::VecDeque;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Item, Local, LocalInit, Pat, Stmt as SynStmt, Type, parse2};

use super::Parser;
use super::filled_arrays::Filling;
use super::iter_consumers::is_iterator;
use super::operand_types::TypeHint;
use super::readable::name_of;
use super::signature::shape_kind;
use super::stated_totals::with_stated_type;
use super::syntax::strip;
use crate::messages;
use crate::model::expr::{Block, Expr, ExprKind, Stmt, StmtKind};
use crate::model::kind::Kind;
use crate::model::name::{Space, known};
use crate::model::op::Op;
use crate::model::ty::{TypeShape, ValueType};
use crate::model::{LocalId, SlotUse, ValueId, barrier, group_barrier, query};
use crate::span::SpanRange;

impl Parser<'_> {
    pub(super) fn block(&mut self, block: &syn::Block) -> Block {
        let ((statements, tail), declared) = self.scoped(|parser| parser.statements(&block.stmts));
        let braces = block.brace_token.span;
        Block { statements, tail, span: SpanRange { lo: braces.open(), hi: braces.close() }, declared }
    }

    pub(super) fn statements(&mut self, stmts: &[SynStmt]) -> (Vec<Stmt>, Option<Box<Expr>>) {
        let mut statements = Vec::new();
        let mut tail = None;
        let mut stmts: VecDeque<Cow<'_, SynStmt>> = stmts.iter().flat_map(separate_lets).collect();
        while let Some(stmt) = stmts.pop_front() {
            let span = SpanRange::of(&*stmt);
            let is_last = stmts.is_empty();
            if let SynStmt::Local(local) = &*stmt
                && let Some(separate) = self
                    .chosen_memory(local)
                    .or_else(|| self.with_chosen_parts(local))
                    .or_else(|| self.let_over_copy(local))
            {
                separate.into_iter().rev().for_each(|stmt| stmts.push_front(Cow::Owned(stmt)));
                continue;
            }
            if let SynStmt::Local(local) = &*stmt
                && let Some(option) = self.named_option(local)
                && let Pat::Ident(name) = &local.pat
            {
                statements.extend(self.local(&option).map(|kind| Stmt { kind, span }));
                let bound = self.lookup(&name.ident);
                self.optional_copies.extend(bound);
                continue;
            }
            if let SynStmt::Local(local) = &*stmt
                && let Some(rest) = self.without_name(local, &stmts.iter().map(|stmt| &**stmt).collect::<Vec<_>>())
            {
                stmts = rest.into_iter().map(Cow::Owned).collect();
                continue;
            }
            if let SynStmt::Local(local) = &*stmt
                && let Some(part) = self.part_let(local)
            {
                statements.extend(part);
                continue;
            }
            let kind = match &*stmt {
                SynStmt::Local(local) => self.local(local),
                SynStmt::Item(item) => self.item(item),
                // `const { assert!(N > 0) }`: rustc evaluates it where it builds the function.
                SynStmt::Expr(syn::Expr::Const(check), semicolon) if is_check(check, semicolon.is_some()) => {
                    Some(StmtKind::Item(quote!(#check;)))
                }
                SynStmt::Expr(syn::Expr::Try(attempt), Some(_)) => {
                    Some(StmtKind::Expr(self.attempt(attempt, true, span)))
                }
                // A lone semicolon.
                SynStmt::Expr(syn::Expr::Verbatim(nothing), Some(_)) if nothing.is_empty() => None,
                SynStmt::Expr(expr, semicolon) => {
                    // An `if` without `else` has no value: it is a statement of the block, with those before it.
                    let is_value = !matches!(expr, syn::Expr::If(syn::ExprIf { else_branch: None, .. }));
                    let expr = self.expr(expr);
                    if is_last && semicolon.is_none() && is_value {
                        tail = Some(Box::new(expr));
                        break;
                    }
                    Some(StmtKind::Expr(expr))
                }
                SynStmt::Macro(stmt) => {
                    let call = syn::ExprMacro { attrs: Vec::new(), mac: stmt.mac.clone() };
                    Some(StmtKind::Expr(self.expr(&syn::Expr::Macro(call))))
                }
            };
            statements.extend(kind.into_iter().flat_map(|kind| self.filled(kind, span)));
        }
        (statements, tail)
    }

    fn item(&mut self, item: &Item) -> Option<StmtKind> {
        match item {
            // The text's constants are evaluated beside the body, where only the function's outermost items are in
            // scope.
            Item::Const(_) | Item::Static(_) | Item::Use(_) | Item::Type(_) if self.scopes.len() > 2 => {
                self.diags.push(messages::nested_item(SpanRange::of(item)));
                None
            }
            Item::Static(of) if matches!(of.mutability, syn::StaticMutability::Mut(_)) => {
                self.diags.push(messages::unsupported_syntax(SpanRange::of(item), "a `static mut` is"));
                None
            }
            Item::Const(_) | Item::Static(_) | Item::Use(_) | Item::Type(_) => {
                Some(StmtKind::Item(item.to_token_stream()))
            }
            _ => {
                self.diags.push(
                    messages::unsupported_syntax(
                        SpanRange::of(item),
                        "items other than `fn`, `const`, `static`, `type` and `use` are",
                    )
                    .help("move it out of the function"),
                );
                None
            }
        }
    }

    pub(super) fn local(&mut self, local: &Local) -> Option<StmtKind> {
        if let (Pat::Type(typed), Some(init)) = (&local.pat, &local.init)
            && let Some(expr) = with_stated_type(&init.expr, &typed.ty)
        {
            let init = LocalInit { expr: Box::new(expr), ..init.clone() };
            return self.local(&Local { init: Some(init), ..local.clone() });
        }
        let (pat, ty) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, self.value_type(&typed.ty)),
            pat => (pat, None),
        };
        if let Some(init) = local.init.as_ref().filter(|init| init.diverge.is_none())
            && let Some(split) = self.split(pat, &init.expr)
        {
            return split;
        }
        if !matches!(pat, Pat::Wild(_)) && name_of(pat).is_none()
            || local.init.as_ref().is_some_and(|init| init.diverge.is_some())
        {
            return self.let_pattern(pat, ty, local);
        }
        let around = self.filling;
        if let Some(init) = &local.init {
            self.note_filling(ty.as_ref().map(|ty| &ty.shape), &init.expr);
        }
        let init = local.init.as_ref().map(|init| {
            if let Some(made) = self.shared_array_call(&init.expr).or_else(|| self.shared_barrier_call(&init.expr)) {
                return made;
            }
            if let (syn::Expr::Reference(reference), Pat::Ident(name)) = (strip(&init.expr), pat) {
                return self.bound_reference(reference, name.mutability.is_some());
            }
            if let Pat::Ident(name) = pat
                && name.mutability.is_some()
                && self.names_memory(&init.expr)
            {
                return self.slice_of_name(&init.expr);
            }
            match &ty {
                // The type of the local is written, and a literal takes its type from it.
                Some(_) => self.beside(&init.expr),
                None => {
                    let value = self.expr(&init.expr);
                    self.with_type(value)
                }
            }
        });
        self.filling = if around == Filling::Inside { around } else { Filling::No };
        match pat {
            Pat::Wild(_) => Some(StmtKind::Discard(init?)),
            Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
                self.bind(&name.ident, name.mutability.map(|token| token.span), ty, init)
            }
            _ => None,
        }
    }

    /// Parses `let (a, b) = e;` or `let Some(x) = e else { return };`.
    fn let_pattern(&mut self, pat: &Pat, ty: Option<ValueType>, local: &Local) -> Option<StmtKind> {
        let Some(init) = &local.init else {
            self.diags.push(messages::pattern_without_value(SpanRange::of(pat)));
            // The names are known from here on.
            let _ = self.pattern(pat, Kind::Value);
            return None;
        };
        let mut value = self.scrutinee(&init.expr);
        if let Some(ty) = &ty {
            self.expect_token(&mut value, shape_kind(&ty.shape));
        }
        // The names that the pattern binds are not in scope in the `else` block.
        let otherwise = init.diverge.as_ref().map(|(_, otherwise)| match self.expr(otherwise) {
            Expr { kind: ExprKind::Block(block), .. } => block,
            other => {
                Block { statements: Vec::new(), span: other.span, tail: Some(Box::new(other)), declared: Vec::new() }
            }
        });
        let pattern = self.pattern(pat, value.result_kind);
        self.note_arrays(&pattern, &value);
        Some(StmtKind::LetPattern { pattern, ty, init: value, otherwise })
    }

    fn bind(
        &mut self,
        name: &Ident,
        mutable: Option<Span>,
        ty: Option<ValueType>,
        mut init: Option<Expr>,
    ) -> Option<StmtKind> {
        match (&ty, &mut init) {
            (Some(ty), Some(init)) => self.expect_token(init, shape_kind(&ty.shape)),
            (None, Some(init)) => self.result_of_call(init),
            (_, None) => {}
        }
        if let Some(init) = &init {
            self.barrier_copy(init);
            self.array_of_tokens(init);
        }
        let kind = match (&ty, &init) {
            (Some(ty), _) => shape_kind(&ty.shape),
            (None, Some(init)) => init.result_kind,
            (None, None) => Kind::Value,
        };
        // rustc infers the type of a local without type and value from its uses.
        let slot = (ty.is_none() && init.is_none()).then(|| self.slot(SlotUse::Type));
        let is_borrowed = init
            .as_ref()
            .is_some_and(|init| matches!(init.kind, ExprKind::Borrow { .. }) || self.is_reference_to_array(init));
        if let (Kind::Reference { .. }, Some(init), false) = (kind, &init, is_borrowed) {
            self.diags.push(messages::reference_local(init.span, kind));
        }
        // A map has one place, whose address copies take.
        if let Some(Expr { result_kind: kind @ Kind::TensorMap { .. }, span, .. }) = &init {
            self.diags.push(messages::reference_local(*span, *kind));
        }
        let is_option = match (&ty, &init) {
            (Some(ty), _) => matches!(ty.shape, TypeShape::Option(_)),
            (None, Some(init)) => matches!(init.kind, ExprKind::None(_) | ExprKind::Some(_)),
            (None, None) => false,
        };
        let is_array = match (&ty, &init) {
            (Some(ty), _) => matches!(ty.shape, TypeShape::Array(..)),
            (None, Some(init)) => self.is_array(init),
            (None, None) => false,
        };
        let hint = init.as_ref().map(|init| self.hint(init));
        let is_copy = init.as_ref().is_some_and(|init| {
            matches!(
                init.kind,
                ExprKind::Index { .. } | ExprKind::Field { .. } | ExprKind::Call { .. } | ExprKind::Constant(_)
            )
        });
        let is_array = is_array || is_copy && kind == Kind::Value && matches!(hint, Some(TypeHint::Array(_)));
        let local = self.declare(name, mutable, kind, ty.clone());
        self.hints.extend(hint.map(|hint| (local, hint)));
        self.optional.extend(is_option.then_some(local));
        if let (Some(ExprKind::Closure { by_value: Some(_), .. }), Some(at)) =
            (init.as_ref().map(|init| &init.kind), self.changed_by_closure)
        {
            self.changing_closures.insert(local, at);
        }
        if init.as_ref().is_some_and(|init| self.is_phase_token(init)) {
            self.phase_tokens.insert(local);
        }
        self.function.locals[local.0].slot = slot;
        self.function.locals[local.0].is_array = is_array;
        self.function.locals[local.0].rows = init.as_ref().and_then(rows);
        self.function.locals[local.0].by_reference = is_borrowed && !matches!(kind, Kind::Reference { .. });
        Some(StmtKind::Let { local, ty, init })
    }

    /// Notes that the next local is the result of a device function; or makes a token of it, if a wait is known to take it.
    fn result_of_call(&mut self, init: &mut Expr) {
        let next = LocalId(self.function.locals.len());
        if let (ExprKind::Call { .. }, Kind::Value) = (&init.kind, init.result_kind) {
            self.results.insert(next);
            self.known.get(next.0).copied().into_iter().for_each(|kind| self.expect_token(init, kind));
        }
    }

    /// Refines the kind of a local to which a token or an optional token is assigned.
    pub(super) fn refine(&mut self, local: LocalId, kind: Kind) {
        let local = &mut self.function.locals[local.0];
        match (local.kind, kind, &local.ty) {
            (Kind::OptionalToken(None), Kind::OptionalToken(Some(_)) | Kind::Value, None) => {
                local.kind = kind;
                self.learned = true;
            }
            // The local of `let token;` was taken for a value. A `None` says nothing of what the option holds.
            (Kind::Value, Kind::OptionalToken(Some(_)), None) => {
                local.kind = kind;
                self.learned = true;
            }
            (Kind::Value, Kind::Token(group), None) => {
                local.kind = kind;
                local.ty = Some(ValueType { shape: TypeShape::Token(group), tokens: Default::default() });
            }
            _ => {}
        }
    }
}

/// Whether a `const` block has no value.
fn is_check(check: &syn::ExprConst, is_statement: bool) -> bool {
    match check.block.stmts.last() {
        Some(SynStmt::Expr(_, None)) => is_statement,
        Some(SynStmt::Macro(_) | SynStmt::Expr(_, Some(_)) | SynStmt::Local(_) | SynStmt::Item(_)) | None => true,
    }
}

/// Separates `let (grid, block) = (this_grid(), this_thread_block());` and `let (a, b) = (&x, &y);`, whose values are no parts of a
/// tuple, `let (mut from, mut to) = (first, second);`, whose values may be none, and those of which one is an array that a closure makes. No value may use a name that an earlier one gets.
fn separate_lets(stmt: &SynStmt) -> Vec<Cow<'_, SynStmt>> {
    let whole = || vec![Cow::Borrowed(stmt)];
    if let Some(separate) = declared(stmt) {
        return separate.into_iter().map(Cow::Owned).collect();
    }
    let SynStmt::Local(Local { attrs, pat, init: Some(init), .. }) = stmt else { return whole() };
    let (names, types): (_, Vec<Option<&Type>>) = match pat {
        Pat::Tuple(names) => (names, vec![None; names.elems.len()]),
        Pat::Type(typed) => match (&*typed.pat, &*typed.ty) {
            (Pat::Tuple(names), Type::Tuple(types)) => (names, types.elems.iter().map(Some).collect()),
            _ => return whole(),
        },
        _ => return whole(),
    };
    let syn::Expr::Tuple(values) = &*init.expr else { return whole() };
    let separable = attrs.is_empty()
        && types.len() == names.elems.len()
        && init.diverge.is_none()
        && names.elems.len() == values.elems.len()
        && names.elems.iter().all(|name| name_of(name).is_some())
        && (values.elems.iter().any(is_origin) || values.elems.iter().all(is_name))
        && !values.elems.iter().enumerate().any(|(at, value)| {
            names.elems.iter().take(at).filter_map(name_of).any(|name| mentions(value, &name.ident))
        });
    if !separable {
        return whole();
    }
    let lets = names.elems.iter().zip(types).zip(&values.elems);
    let separate = |((name, ty), value): ((&Pat, Option<&Type>), &syn::Expr)| {
        let ty = ty.map(|ty| quote!(: #ty));
        parse2(quote_spanned!(SpanRange::of(value).lo=> let #name #ty = #value;)).map(Cow::Owned)
    };
    lets.map(separate).collect::<Result<_, _>>().unwrap_or_else(|_| whole())
}

/// Whether a value is a name alone.
fn is_name(value: &syn::Expr) -> bool {
    matches!(value, syn::Expr::Path(path) if path.path.get_ident().is_some())
}

/// Separates `let (a, mut b);` into `let a; let mut b;`, and one with types likewise.
fn declared(stmt: &SynStmt) -> Option<Vec<SynStmt>> {
    fn names(pat: &Pat, ty: Option<&Type>, declared: &mut Vec<SynStmt>) -> Option<()> {
        match (pat, ty) {
            (Pat::Type(typed), None) => names(&typed.pat, Some(&typed.ty), declared),
            (Pat::Tuple(parts), None) => parts.elems.iter().try_for_each(|part| names(part, None, declared)),
            (Pat::Tuple(parts), Some(Type::Tuple(types))) if parts.elems.len() == types.elems.len() => {
                let mut parts = parts.elems.iter().zip(&types.elems);
                parts.try_for_each(|(part, ty)| names(part, Some(ty), declared))
            }
            (name, ty) => {
                name_of(name)?;
                let ty = ty.map(|ty| quote!(: #ty));
                declared.push(parse2(quote_spanned!(SpanRange::of(name).lo=> let #name #ty;)).ok()?);
                Some(())
            }
        }
    }
    let SynStmt::Local(Local { attrs, pat, init: None, .. }) = stmt else { return None };
    let is_pattern = match pat {
        Pat::Type(typed) => name_of(&typed.pat).is_none(),
        pat => name_of(pat).is_none(),
    };
    if !attrs.is_empty() || !is_pattern {
        return None;
    }
    let mut all = Vec::new();
    names(pat, None, &mut all)?;
    Some(all)
}

/// Whether an expression may make a group, a `Dim3`, memory, a barrier, a token, a closure, a reference, an option of one, or an iterator.
fn is_origin(value: &syn::Expr) -> bool {
    match value {
        value if is_iterator(value) => true,
        syn::Expr::Call(call) => {
            let syn::Expr::Path(path) = &*call.func else { return false };
            let is_known = |name: &str| known(name, Space::Function).is_some() || name == "from_fn";
            path.path.segments.last().is_some_and(|last| is_known(&last.ident.to_string()))
        }
        syn::Expr::MethodCall(call) => {
            let name = call.method.to_string();
            ["map_shared_rank", "get", "first", "last", "next", "nth", "peek"].contains(&name.as_str())
                || group_barrier::makes_token(&name)
                || barrier::makes_token(&name)
                || query::gives_extent(&name)
        }
        syn::Expr::Reference(_) | syn::Expr::Closure(_) => true,
        _ => false,
    }
}

/// Whether a name occurs in an expression.
pub(super) fn mentions(value: &syn::Expr, name: &Ident) -> bool {
    fn within(tokens: TokenStream, name: &Ident) -> bool {
        tokens.into_iter().any(|tree| match tree {
            TokenTree::Ident(ident) => ident == *name,
            TokenTree::Group(group) => within(group.stream(), name),
            // A format string may name it.
            TokenTree::Literal(literal) => literal.to_string().contains(&name.to_string()),
            TokenTree::Punct(_) => false,
        })
    }
    within(value.to_token_stream(), name)
}

/// The name that a pattern is, if it is nothing else.
/// The length of the arrays that a shared array has for elements.
fn rows(value: &Expr) -> Option<ValueId> {
    let ExprKind::Op { op: Op::SharedArray(_), types: Some((row, _)), .. } = &value.kind else { return None };
    if let TypeShape::Array(_, length) = &row.shape { Some(*length) } else { None }
}
