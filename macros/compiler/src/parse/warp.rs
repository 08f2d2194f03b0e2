//! Groups within one warp: the partitions that make them, and their collectives.

use proc_macro2::{Ident, Span};
use quote::{ToTokens, quote_spanned};
use syn::punctuated::Punctuated;
use syn::{ExprMethodCall, PathArguments, PathSegment, Token};

use super::Parser;
use crate::messages;
use crate::model::ValueId;
use crate::model::expr::{BinaryOp, Condition, Expr, ExprKind, LiteralType};
use crate::model::group::Group;
use crate::model::kind::Kind;
use crate::model::op::Op;
use crate::model::query::THREAD_RANK;
use crate::model::warp::{OPERATORS, PARTITIONS, WarpMethod, WarpOperand};
use crate::span::SpanRange;

type Arguments = Punctuated<syn::Expr, Token![,]>;

impl Parser<'_> {
    /// Parses `tiled_partition::<N>(&group)`.
    pub(super) fn tiled_partition(&mut self, segment: &PathSegment, arguments: &Arguments, span: SpanRange) -> Expr {
        const FORM: &str = "tiled_partition::<32>(&block)";
        let name = Group::Tile.origin();
        let size = self.tile_size(&segment.arguments, |at| messages::turbofish(at, name, FORM), span);
        let (Some(parent), 1) = (arguments.first(), arguments.len()) else {
            return self.error(messages::argument_count(span, name, 1, arguments.len()));
        };
        let parent =
            self.group_argument(parent, "a block or a tile", |group| matches!(group, Group::ThreadBlock | Group::Tile));
        match (size, parent) {
            (Some(size), Some((group, parent))) => self.op(Op::TiledPartition(group, size), vec![parent], span),
            _ => Expr::error(span),
        }
    }

    /// Parses the `N` of `tiled_partition::<N>` and of `Tile<N>`.
    pub(super) fn tile_size(
        &mut self,
        arguments: &PathArguments,
        missing: impl FnOnce(SpanRange) -> crate::diag::Diag,
        span: SpanRange,
    ) -> Option<ValueId> {
        let Some(size) = super::syntax::const_argument(arguments, 0) else {
            self.diags.push(missing(span));
            return None;
        };
        if let Ok(literal) = syn::parse2::<syn::LitInt>(size.clone())
            && !matches!(literal.base10_parse(), Ok(1_u32 | 2 | 4 | 8 | 16 | 32 | 128))
        {
            self.diags.push(messages::tile_size(SpanRange::of(&literal)));
            return None;
        }
        Some(self.digits_hole(size, "u32"))
    }

    /// Parses `labeled_partition(&group, label)` and its like.
    pub(super) fn partition(&mut self, name: &str, arguments: &Arguments, span: SpanRange) -> Option<Expr> {
        let (name, operand) = *PARTITIONS.iter().find(|(known, _)| *known == name)?;
        let (Some(parent), Some(key), 2) = (arguments.first(), arguments.get(1), arguments.len()) else {
            return Some(self.error(messages::argument_count(span, name, 2, arguments.len())));
        };
        let parent = self.group_argument(parent, "a tile or a coalesced group", Group::is_of_a_warp);
        let key = self.warp_operand(operand, key);
        Some(match parent {
            Some((group, parent)) => self.op(Op::Partition(group, name), vec![parent, key], span),
            None => Expr::error(span),
        })
    }

    /// Parses `&group`, or a name that is a reference already.
    pub(super) fn group_argument(
        &mut self,
        argument: &syn::Expr,
        expected: &str,
        fits: impl Fn(Group) -> bool,
    ) -> Option<(Group, Expr)> {
        let (group, by_reference) = match argument {
            syn::Expr::Reference(reference) if reference.mutability.is_none() => (self.expr(&reference.expr), true),
            other => (self.expr(other), false),
        };
        match group.result_kind {
            Kind::Group(kind) if fits(kind) && (by_reference || self.is_reference(&group)) => Some((kind, group)),
            Kind::Unknown => None,
            Kind::Group(kind) if fits(kind) => {
                let at = SpanRange::of(argument);
                self.diags
                    .push(messages::wrong_kind(at, "a group by reference", Kind::Group(kind)).help("write `&group`"));
                None
            }
            kind => {
                self.diags.push(messages::wrong_kind(SpanRange::of(argument), expected, kind));
                None
            }
        }
    }

    /// Parses `tile.shfl(value, 0)` and its like.
    pub(super) fn warp_method(
        &mut self,
        group: Group,
        method: &'static WarpMethod,
        receiver: Expr,
        call: &ExprMethodCall,
        span: SpanRange,
    ) -> Expr {
        if call.args.len() != method.operands.len() {
            return self.error(messages::argument_count(span, method.name, method.operands.len(), call.args.len()));
        }
        let mut operands = vec![receiver];
        for (operand, argument) in method.operands.iter().zip(&call.args) {
            // A closure joins values like the one before it.
            self.closure_hint = operands.get(1).map(|value| self.hint(value));
            operands.push(self.warp_operand(*operand, argument));
        }
        self.closure_hint = None;
        self.op(Op::Warp(group, method), operands, span)
    }

    /// Parses `group.uniform(value)`.
    pub(super) fn uniform(&mut self, group: Group, receiver: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let (Some(value), 1) = (call.args.first(), call.args.len()) else {
            return self.error(messages::argument_count(span, "uniform", 1, call.args.len()));
        };
        let value = self.warp_operand(WarpOperand::AnyType, value);
        self.op(Op::Uniform(group), vec![receiver, value], span)
    }

    /// Parses `group.invoke_one(|| { ... })` as a branch that the thread of rank 0 takes.
    pub(super) fn invoke_one(&mut self, group: Group, receiver: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let (Some(syn::Expr::Closure(closure)), 1) = (call.args.first(), call.args.len()) else {
            return self.error(messages::invoke_one(span));
        };
        let is_plain = closure.inputs.is_empty()
            && closure.asyncness.is_none()
            && matches!(closure.output, syn::ReturnType::Default);
        if !is_plain {
            return self.error(messages::invoke_one(span));
        }
        let body = match &*closure.body {
            syn::Expr::Block(body) => body.block.clone(),
            body => syn::parse_quote!({ #body }),
        };
        if let Some(local) = self.captured_token(closure) {
            return self.escape(Expr { kind: ExprKind::Local(local), result_kind: Kind::Unknown, span }, "a closure");
        }
        let rank = Box::new(self.op(Op::Query(group, &THREAD_RANK), vec![receiver], span));
        let zero = ExprKind::Int { digits: "0".into(), ty: LiteralType::Beside };
        let zero = Box::new(Expr { kind: zero, result_kind: Kind::Value, span });
        let test = ExprKind::Binary { op: BinaryOp::Eq, left: rank, right: zero, site: None };
        let condition = Box::new(Condition::Value(Expr { kind: test, result_kind: Kind::Value, span }));
        let then = self.in_closure(|parser| parser.block(&body));
        Expr { kind: ExprKind::If { condition, then, otherwise: None, slot: None }, result_kind: Kind::Unit, span }
    }

    fn warp_operand(&mut self, operand: WarpOperand, argument: &syn::Expr) -> Expr {
        match operand {
            WarpOperand::AnyType => {
                let value = self.value(argument);
                self.with_type(value)
            }
            WarpOperand::FixedType => {
                let value = self.beside(argument);
                self.require_value(&value);
                value
            }
            WarpOperand::Operator => self.operator(argument),
            WarpOperand::NullaryClosure => self.once(argument),
        }
    }

    /// Parses the closure `|| value` that one thread executes for all, or the name of such a closure.
    fn once(&mut self, argument: &syn::Expr) -> Expr {
        let takes_something = matches!(argument, syn::Expr::Closure(closure) if !closure.inputs.is_empty());
        let once = if takes_something { Expr::error(SpanRange::of(argument)) } else { self.expr(argument) };
        match once.result_kind {
            Kind::Closure => once,
            Kind::Unknown if !takes_something => once,
            _ => self.error(messages::invoke_one_broadcast(SpanRange::of(argument))),
        }
    }

    /// Parses `op::Plus` and its like, or a closure with two parameters.
    fn operator(&mut self, argument: &syn::Expr) -> Expr {
        let span = SpanRange::of(argument);
        match argument {
            syn::Expr::Closure(_) => self.expr(argument),
            syn::Expr::Path(path) => {
                if self.named_local(argument).is_some_and(|local| self.function.kind(local) == Kind::Closure) {
                    return self.expr(argument);
                }
                let name = path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
                match OPERATORS.iter().find(|operator| operator.rust_name == name) {
                    Some(operator) => {
                        let kind = ExprKind::Operator(operator, path.to_token_stream());
                        Expr { kind, result_kind: Kind::Value, span }
                    }
                    // A function of two values, as the closure that calls it.
                    None if name.starts_with(char::is_lowercase) => {
                        let at = span.lo.resolved_at(Span::mixed_site());
                        let (first, second) = (Ident::new("first", at), Ident::new("second", at));
                        self.in_place(quote_spanned!(span.lo=> |#first, #second| #path(#first, #second)), span)
                    }
                    None => self.error(messages::operator(span)),
                }
            }
            _ => self.error(messages::operator(span)),
        }
    }
}
