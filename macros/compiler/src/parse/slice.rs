//! Parts of memory, `&a[2..5]`, `&grid[y]`, `&a.chunks(64)[i]`, `a.split_at(mid)`, and memory as the receiver of a
//! method.

use proc_macro2::{Ident, Span};
use syn::{ExprIndex, ExprMethodCall, ExprRange, ExprReference, Pat, RangeLimits};

use super::Parser;
use super::syntax::strip;
use crate::messages;
use crate::model::SiteMessage;
use crate::model::expr::{Expr, ExprKind, LiteralType, StmtKind};
use crate::model::kind::{Kind, Memory};
use crate::model::op::{Op, Part};
use crate::span::SpanRange;

impl Parser<'_> {
    /// Parses what `&` or `&mut` stands before: a part of memory, which is a reference by itself, or a place.
    pub(super) fn borrowed_place(&mut self, reference: &ExprReference) -> Expr {
        let index = match strip(&reference.expr) {
            syn::Expr::Index(index) => index,
            // `&*x` reborrows `x`.
            syn::Expr::Unary(syn::ExprUnary { op: syn::UnOp::Deref(_), expr: name, .. }) if self.names_shared(name) => {
                return self.expr(name);
            }
            place => return self.expr(place),
        };
        if let Some(place) = self.indexed_by_hand(index).map(Box::new) {
            return self.borrowed_place(&ExprReference { expr: place, ..reference.clone() });
        }
        let part = self.part_of_memory(index, Some(reference.mutability.is_some()), SpanRange::of(reference));
        self.unless_read_only(part)
    }

    /// Refuses a mutable part of read-only memory.
    fn unless_read_only(&mut self, part: Expr) -> Expr {
        match part.kind {
            ExprKind::Op { op: Op::Part { of: Memory::Global, mutable: true, .. }, .. } => {
                self.error(messages::read_only_part(part.span))
            }
            _ => part,
        }
    }

    /// Makes a slice of whole memory, as `&memory[..]` does.
    pub(super) fn whole_slice(&mut self, memory: Expr, of: Memory, mutable: bool) -> Expr {
        let span = memory.span;
        let part = self.op(Op::Part { form: Part::From, of, mutable }, vec![memory, zero(span)], span);
        self.unless_read_only(part)
    }

    /// Parses an expression whose place is used: memory that is a part of other memory needs no `&` there.
    pub(super) fn place(&mut self, expr: &syn::Expr) -> Expr {
        if let syn::Expr::Index(index) = strip(expr)
            && is_part(index)
        {
            return self.part_of_memory(index, None, SpanRange::of(expr));
        }
        self.expr(expr)
    }

    /// Parses the part that an index names, which is borrowed as `&` or `&mut`, or used in place. An element of anything but
    /// memory is a place.
    fn part_of_memory(&mut self, index: &ExprIndex, borrow: Option<bool>, span: SpanRange) -> Expr {
        let (base, form, bounds) = match (&*index.index, strip(&index.expr)) {
            (syn::Expr::Range(range), _) => {
                let base = self.place(&index.expr);
                let (form, bounds) = self.bounds(range);
                (base, form, bounds)
            }
            (at, syn::Expr::MethodCall(chunks)) if is_chunks(chunks) => {
                let base = self.place(&chunks.receiver);
                if chunks.args.len() != 1 {
                    let diag = messages::argument_count(SpanRange::of(chunks), "chunks", 1, chunks.args.len());
                    return self.error(diag);
                }
                let bounds = chunks.args.iter().chain([at]).map(|bound| self.bound(bound)).collect();
                let form = if chunks.method == EXACT_CHUNKS { Part::ExactChunk } else { Part::Chunk };
                (base, form, bounds)
            }
            (at, _) => {
                let base = self.place(&index.expr);
                if base.memory().is_none() {
                    return self.element_of(base, at, SpanRange::of(index));
                }
                let bound = self.bound(at);
                (base, Part::Row, vec![bound])
            }
        };
        let base = self.as_memory(base);
        let of = match base.result_kind {
            Kind::Memory(memory) => memory,
            Kind::Unknown => return Expr::error(span),
            Kind::Value if self.is_local_array(&index.expr) => return self.error(messages::part_as_value(span)),
            kind => return self.error(messages::no_parts(base.span, kind)),
        };
        let mutable = borrow.unwrap_or(of == Memory::GlobalMut);
        let operands = std::iter::once(base).chain(bounds).collect();
        let part = self.op(Op::Part { form, of, mutable }, operands, span);
        if let (Part::Chunk, ExprKind::Op { site: Some(site), .. }) = (form, &part.kind) {
            let message = SiteMessage::Text("chunk size must be non-zero".into());
            self.function.sites[usize::from(site.0)].message = message;
        }
        part
    }

    /// Makes memory of an element of memory that is an array.
    pub(super) fn as_memory(&mut self, expr: Expr) -> Expr {
        let (span, memory) = (expr.span, expr.memory());
        match (expr.kind, memory) {
            (ExprKind::Index { base, index, .. }, Some(_)) if expr.result_kind == Kind::Value => {
                let base = self.as_memory(*base);
                let Kind::Memory(of) = base.result_kind else { return Expr::error(span) };
                let op = Op::Part { form: Part::Row, of, mutable: of == Memory::GlobalMut };
                self.op(op, vec![base, *index], span)
            }
            (kind, _) => Expr { kind, result_kind: expr.result_kind, span },
        }
    }

    fn bound(&mut self, bound: &syn::Expr) -> Expr {
        let bound = self.beside(bound);
        self.require_value(&bound);
        bound
    }

    pub(super) fn bounds(&mut self, range: &ExprRange) -> (Part, Vec<Expr>) {
        let span = SpanRange::of(range);
        let start = match &range.start {
            Some(start) => self.bound(start),
            None => zero(SpanRange::at(span.lo)),
        };
        match (&range.end, &range.limits) {
            (Some(end), RangeLimits::HalfOpen(_)) => (Part::Range, vec![start, self.bound(end)]),
            (Some(end), RangeLimits::Closed(_)) => (Part::Inclusive, vec![start, self.bound(end)]),
            (None, _) => (Part::From, vec![start]),
        }
    }

    /// Parses `let (left, right) = memory.split_at(mid);`, if the statement is that.
    pub(super) fn split(&mut self, pat: &Pat, init: &syn::Expr) -> Option<Option<StmtKind>> {
        let syn::Expr::MethodCall(call) = strip(init) else { return None };
        let (Pat::Tuple(tuple), Some(mutable)) = (pat, split_name(call)) else { return None };
        let span = SpanRange::of(call);
        let names: Option<Vec<_>> = tuple.elems.iter().map(half).collect();
        let Some([left, right]) = names.and_then(|names| <[_; 2]>::try_from(names).ok()) else {
            self.diags.push(messages::split_at(SpanRange::of(pat)));
            return Some(None);
        };
        let (Some(mid), 1) = (call.args.first(), call.args.len()) else {
            self.diags.push(messages::argument_count(span, &call.method.to_string(), 1, call.args.len()));
            return Some(None);
        };
        let base = self.place(&call.receiver);
        let base = self.as_memory(base);
        let mid = self.bound(mid);
        let of = match base.result_kind {
            Kind::Memory(Memory::Global) if mutable => {
                self.diags.push(messages::read_only_part(span));
                return Some(None);
            }
            Kind::Memory(memory) => memory,
            Kind::Unknown => return Some(None),
            kind => {
                self.diags.push(messages::no_parts(base.span, kind));
                return Some(None);
            }
        };
        let init = self.op(Op::SplitAt { of, mutable }, vec![base, mid], span);
        let result_kind = init.result_kind;
        let hint = self.hint(&init);
        let halves =
            [left, right].map(|half| half.map(|(name, mutable)| self.declare(&name, mutable, result_kind, None)));
        self.hints.extend(halves.iter().flatten().map(|half| (*half, hint.clone())));
        Some(Some(StmtKind::Split { halves, init }))
    }
}

/// Whether an index names a part by itself: any other index names an element until it is borrowed.
pub(super) fn is_part(index: &ExprIndex) -> bool {
    matches!(&*index.index, syn::Expr::Range(_))
        || matches!(strip(&index.expr), syn::Expr::MethodCall(call) if is_chunks(call))
}

fn zero(span: SpanRange) -> Expr {
    let kind = ExprKind::Int { digits: "0".into(), ty: LiteralType::Beside };
    Expr { kind, result_kind: Kind::Value, span }
}

fn is_chunks(call: &ExprMethodCall) -> bool {
    call.method == "chunks" || call.method == "chunks_mut" || call.method == EXACT_CHUNKS
}

/// The method that stands for `chunks_exact` where an iterator's loop has an item.
pub(super) const EXACT_CHUNKS: &str = "__phalanx_exact_chunks";

/// Returns whether a call that splits memory makes the halves mutable.
pub(super) fn split_name(call: &ExprMethodCall) -> Option<bool> {
    match call.method.to_string().as_str() {
        "split_at" => Some(false),
        "split_at_mut" => Some(true),
        _ => None,
    }
}

fn half(pat: &Pat) -> Option<Option<(Ident, Option<Span>)>> {
    match pat {
        Pat::Wild(_) => Some(None),
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
            Some(Some((name.ident.clone(), name.mutability.map(|token| token.span))))
        }
        _ => None,
    }
}
