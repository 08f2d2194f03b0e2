//! Atomics and fences: `memory.atomic(i).scope(s).fetch_add(1, Relaxed)` is one operation, and its orders and scope are
//! constants.

use syn::ExprMethodCall;
use syn::punctuated::Punctuated;

use super::Parser;
use super::syntax::strip;
use crate::messages;
use crate::model::atomic::{AtomicMethod, AtomicUse, FENCES, MemoryOrder, MemoryScope};
use crate::model::expr::Expr;
use crate::model::kind::{Kind, Memory};
use crate::model::name::Space;
use crate::model::op::Op;
use crate::span::SpanRange;

impl Parser<'_> {
    /// Parses an atomic operation, if the receiver is `memory.atomic(i)` or that with a scope.
    pub(super) fn atomic_operation(&mut self, call: &ExprMethodCall, span: SpanRange) -> Option<Expr> {
        self.of_atomic(call, span).or_else(|| self.without_atomic(call, span))
    }

    /// Refuses an operation with an order on anything else: nothing but `memory.atomic(i)` has one.
    fn without_atomic(&mut self, call: &ExprMethodCall, span: SpanRange) -> Option<Expr> {
        let name = call.method.to_string();
        let method = AtomicMethod::by_name(&name).filter(|method| !method.orders.is_empty())?;
        let order = call.args.last().and_then(path_of).and_then(|path| path.segments.last())?;
        let has_order = MemoryOrder::ALL.iter().any(|known| order.ident == known.rust_name());
        let is_whole = call.args.len() == method.operands + method.orders.len();
        if !has_order || !is_whole {
            return None;
        }
        Some(match self.place(&call.receiver).result_kind {
            Kind::Unknown => Expr::error(span),
            _ => self.error(messages::not_atomic(SpanRange::of(&call.method), &name)),
        })
    }

    fn of_atomic(&mut self, call: &ExprMethodCall, span: SpanRange) -> Option<Expr> {
        let syn::Expr::MethodCall(receiver) = strip(&call.receiver) else { return None };
        if receiver.method == "atomic" {
            return Some(match call.method == "scope" {
                true => self.error(messages::atomic_alone(span)),
                false => self.atomic(receiver, None, call, span),
            });
        }
        let syn::Expr::MethodCall(atomic) = strip(&receiver.receiver) else { return None };
        if receiver.method != "scope" || atomic.method != "atomic" {
            return None;
        }
        let (Some(scope), 1) = (receiver.args.first(), receiver.args.len()) else {
            return Some(self.error(messages::argument_count(
                SpanRange::of(receiver),
                "scope",
                1,
                receiver.args.len(),
            )));
        };
        let scope = self.scope(scope);
        Some(self.atomic(atomic, scope, call, span))
    }

    fn atomic(
        &mut self,
        atomic: &ExprMethodCall,
        scope: Option<MemoryScope>,
        call: &ExprMethodCall,
        span: SpanRange,
    ) -> Expr {
        let memory = self.place(&atomic.receiver);
        let memory = self.as_memory(memory);
        let (Some(index), 1) = (atomic.args.first(), atomic.args.len()) else {
            return self.error(messages::argument_count(SpanRange::of(atomic), "atomic", 1, atomic.args.len()));
        };
        let index = self.beside(index);
        self.require_value(&index);
        match memory.result_kind {
            Kind::Memory(Memory::Global) => return self.error(messages::read_only_memory(memory.span)),
            Kind::Memory(_) => {}
            Kind::Unknown => return Expr::error(span),
            kind => return self.error(messages::unknown_method(SpanRange::of(&atomic.method), "atomic", kind)),
        }
        let name = call.method.to_string();
        let Some(method) = AtomicMethod::by_name(&name) else {
            return self.error(messages::unknown_atomic(SpanRange::of(&call.method), &name));
        };
        let expected = method.operands + method.orders.len();
        if call.args.len() != expected {
            return self.error(messages::argument_count(span, &name, expected, call.args.len()));
        }
        let mut operands = vec![memory, index];
        for argument in call.args.iter().take(method.operands) {
            let operand = self.beside(argument);
            self.require_value(&operand);
            operands.push(operand);
        }
        let mut orders = [None; 2];
        for (position, (argument, allowed)) in call.args.iter().skip(method.operands).zip(method.orders).enumerate() {
            orders[position] = self.order(argument, allowed, &name);
        }
        self.op(Op::Atomic(AtomicUse { method, scope, orders }), operands, span)
    }

    /// Parses `fence(AcqRel, Scope::Cluster)`.
    pub(super) fn fence(&mut self, arguments: &Punctuated<syn::Expr, syn::Token![,]>, span: SpanRange) -> Expr {
        let (Some(order), Some(scope), 2) = (arguments.get(0), arguments.get(1), arguments.len()) else {
            return self.error(messages::argument_count(span, "fence", 2, arguments.len()));
        };
        let (order, scope) = (self.order(order, FENCES, "fence"), self.scope(scope));
        match (order, scope) {
            (Some(order), Some(scope)) => self.op(Op::Fence(order, scope), Vec::new(), span),
            _ => Expr::error(span),
        }
    }

    fn order(&mut self, argument: &syn::Expr, allowed: &[MemoryOrder], of: &str) -> Option<MemoryOrder> {
        let name = path_of(argument).and_then(|path| self.known(path, Space::Order));
        let order = allowed.iter().copied().find(|order| name == Some(order.rust_name()));
        if order.is_none() {
            self.diags.push(messages::atomic_ordering(SpanRange::of(argument), of, allowed));
        }
        order
    }

    fn scope(&mut self, argument: &syn::Expr) -> Option<MemoryScope> {
        let name = path_of(argument).and_then(|path| self.known(path, Space::Scope));
        let scope = MemoryScope::ALL.into_iter().find(|scope| name == Some(scope.rust_name()));
        if scope.is_none() {
            self.diags.push(messages::atomic_scope(SpanRange::of(argument)));
        }
        scope
    }
}

/// Returns the path that an argument is.
fn path_of(argument: &syn::Expr) -> Option<&syn::Path> {
    match strip(argument) {
        syn::Expr::Path(path) if path.qself.is_none() => Some(&path.path),
        _ => None,
    }
}
