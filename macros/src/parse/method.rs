//! Method calls: which operation a name is depends on what its receiver is.

use quote::ToTokens;
use syn::ExprMethodCall;

use super::Parser;
use super::expr::dereferenced;
use crate::messages;
use crate::model::Segment;
use crate::model::expr::{Callee, Expr, ExprKind};
use crate::model::op::{ATOMIC_METHODS, Op, VALUE_METHODS, Variant};
use crate::model::ty::{Group, Kind, Memory};
use crate::span::SpanRange;

impl Parser<'_> {
    pub(super) fn method_call(&mut self, call: &ExprMethodCall, span: SpanRange) -> Expr {
        // `memory.atomic(i).fetch_add(1, Relaxed)` is one operation.
        if let syn::Expr::MethodCall(atomic) = strip(&call.receiver)
            && atomic.method == "atomic"
        {
            return self.atomic(atomic, call, span);
        }
        let receiver = self.expr(&call.receiver);
        let name = call.method.to_string();
        match receiver.gives {
            Kind::Unknown => Expr::error(span),
            Kind::Group(group) => self.group_method(group, receiver, call, span),
            Kind::Memory(memory) => self.memory_method(memory, receiver, call, span),
            kind @ Kind::OptionalToken(_) => match (name.as_str(), call.args.is_empty()) {
                ("take", true) => self.take(receiver, span),
                ("is_some", true) => self.op(Op::Is(Variant::Some), vec![receiver], span),
                ("is_none", true) => self.op(Op::Is(Variant::None), vec![receiver], span),
                _ => self.error(messages::unknown_method(SpanRange::of(&call.method), &name, kind)),
            },
            Kind::Reference { .. } => self.value_method(dereferenced(receiver), call, span),
            Kind::Value => self.value_method(receiver, call, span),
            kind @ (Kind::Extent | Kind::Unit | Kind::Never | Kind::Token(_) | Kind::Closure) => {
                self.error(messages::unknown_method(SpanRange::of(&call.method), &name, kind))
            }
        }
    }

    fn value_method(&mut self, receiver: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let name = call.method.to_string();
        if name == "len" && call.args.is_empty() {
            return self.op(Op::Length, vec![receiver], span);
        }
        if let Some(op) = option_method(&name) {
            return self.option_method(op, receiver, call, span);
        }
        let Some(method) = VALUE_METHODS.iter().find(|method| method.name == name) else {
            return self.user_method(receiver, call, span);
        };
        if call.args.len() != method.arguments {
            return self.error(messages::argument_count(span, &name, method.arguments, call.args.len()));
        }
        let mut operands = vec![receiver];
        for argument in &call.args {
            operands.push(self.value(argument));
        }
        let site = method.fails.then(|| self.site(span, Vec::new()));
        Expr { kind: ExprKind::Method { method, operands, site }, gives: Kind::Value, span }
    }

    fn group_method(&mut self, group: Group, receiver: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let name = call.method.to_string();
        let has_barrier = group != Group::Grid;
        let op = match name.as_str() {
            "sync" if has_barrier => Op::Sync(group),
            "barrier_arrive" if has_barrier => Op::Arrive(group),
            "barrier_wait" if has_barrier => return self.wait(group, receiver, call, span),
            "map_shared_rank" if group == Group::Cluster => return self.map_shared_rank(receiver, call, span),
            "query_shared_rank" if group == Group::Cluster => return self.query_shared_rank(receiver, call, span),
            _ => match group.queries().iter().find(|query| query.name == name) {
                Some(query) => Op::Query(group, query),
                None => {
                    return self.error(messages::unknown_method(SpanRange::of(&call.method), &name, receiver.gives));
                }
            },
        };
        if !call.args.is_empty() {
            return self.error(messages::argument_count(span, &name, 0, call.args.len()));
        }
        self.op(op, vec![receiver], span)
    }

    /// A method of a user's type, from `#[device] impl`; rustc knows whether there is one.
    fn user_method(&mut self, receiver: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let mut arguments = vec![receiver];
        for argument in &call.args {
            let argument = self.argument(argument);
            arguments.push(argument);
        }
        let turbofish = call.turbofish.to_token_stream();
        self.device_callee(Callee::Method(call.method.clone(), turbofish), arguments, span)
    }

    /// `is_some`, `unwrap` and their like, on an `Option` or the `Result` of a compare-exchange.
    fn option_method(&mut self, op: Op, receiver: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let name = call.method.to_string();
        let expected = usize::from(name == "expect" || op == Op::UnwrapOr);
        if call.args.len() != expected {
            return self.error(messages::argument_count(span, &name, expected, call.args.len()));
        }
        match op {
            Op::Take => self.take(receiver, span),
            Op::Unwrap => {
                let message = match call.args.first() {
                    None => "called `unwrap()` on a `None` or `Err` value".to_string(),
                    Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. })) => text.value(),
                    Some(other) => {
                        return self.error(messages::format_string(SpanRange::of(other), "it is not a string literal"));
                    }
                };
                let site = Some(self.site(span, vec![Segment::Text(message)]));
                let kind = ExprKind::Op { op, operands: vec![receiver], site, types: None };
                Expr { kind, gives: Kind::Value, span }
            }
            _ => {
                let mut operands = vec![receiver];
                for argument in &call.args {
                    operands.push(self.value(argument));
                }
                self.op(op, operands, span)
            }
        }
    }

    fn take(&mut self, receiver: Expr, span: SpanRange) -> Expr {
        if !matches!(receiver.kind, ExprKind::Local(_)) {
            return self.error(messages::borrow_target(receiver.span));
        }
        let gives = receiver.gives;
        Expr { gives, ..self.op(Op::Take, vec![receiver], span) }
    }

    fn wait(&mut self, group: Group, receiver: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let (Some(token), 1) = (call.args.first(), call.args.len()) else {
            return self.error(messages::argument_count(span, "barrier_wait", 1, call.args.len()));
        };
        let mut token = self.expr(token);
        match token.gives {
            // A token of another group is rustc's to refuse: it shows both types.
            Kind::Token(_) | Kind::Unknown => {}
            Kind::Value if matches!(token.kind, ExprKind::Call { .. }) => {
                self.expect_token(&mut token, Kind::Token(group));
            }
            kind => return self.error(messages::not_a_token(token.span, kind)),
        }
        self.op(Op::Wait(group), vec![receiver, token], span)
    }

    /// `&array` as the argument of an operation on shared memory.
    fn shared_argument(&mut self, argument: &syn::Expr) -> Option<Expr> {
        let target = match argument {
            syn::Expr::Reference(reference) if reference.mutability.is_none() => self.expr(&reference.expr),
            // A parameter is a reference already.
            other => self.expr(other),
        };
        let by_reference = matches!(argument, syn::Expr::Reference(_)) || self.is_parameter(&target);
        match target.gives {
            Kind::Memory(_) if by_reference => Some(target),
            Kind::Unknown => None,
            _ => {
                self.diags.push(messages::shared_address(SpanRange::of(argument)));
                None
            }
        }
    }

    fn is_parameter(&self, expr: &Expr) -> bool {
        matches!(expr.kind, ExprKind::Local(local) if self.function.params.iter().any(|param| param.local == local))
    }

    fn map_shared_rank(&mut self, receiver: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let (Some(array), Some(rank), 2) = (call.args.get(0), call.args.get(1), call.args.len()) else {
            return self.error(messages::argument_count(span, "map_shared_rank", 2, call.args.len()));
        };
        let array = self.shared_argument(array);
        let rank = self.beside(rank);
        self.require_value(&rank);
        let Some(array) = array else { return Expr::error(span) };
        match array.gives {
            Kind::Memory(memory @ (Memory::SharedArray | Memory::DynamicShared)) => {
                self.op(Op::MapSharedRank(memory), vec![receiver, array, rank], span)
            }
            kind => self.error(messages::wrong_kind(array.span, "a block's own shared memory", kind)),
        }
    }

    fn query_shared_rank(&mut self, receiver: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let (Some(array), 1) = (call.args.first(), call.args.len()) else {
            return self.error(messages::argument_count(span, "query_shared_rank", 1, call.args.len()));
        };
        let Some(array) = self.shared_argument(array) else { return Expr::error(span) };
        match array.gives {
            Kind::Memory(Memory::Global | Memory::GlobalMut) => {
                self.error(messages::wrong_kind(array.span, "shared memory", array.gives))
            }
            _ => self.op(Op::QuerySharedRank, vec![receiver, array], span),
        }
    }

    fn memory_method(&mut self, memory: Memory, receiver: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let name = call.method.to_string();
        match (name.as_str(), call.args.first()) {
            ("len", None) => self.op(Op::Length, vec![receiver], span),
            ("get_unchecked", Some(index)) if call.args.len() == 1 => {
                let index = self.beside(index);
                self.require_value(&index);
                self.op(Op::LoadUnchecked, vec![receiver, index], span)
            }
            ("get_unchecked_mut", Some(index)) if call.args.len() == 1 => {
                if memory == Memory::Global {
                    return self.error(messages::read_only_memory(receiver.span));
                }
                let index = self.beside(index);
                self.require_value(&index);
                let kind = ExprKind::UncheckedPlace { base: Box::new(receiver), index: Box::new(index) };
                Expr { kind, gives: Kind::Reference { mutable: true }, span }
            }
            ("atomic", _) => self.error(messages::atomic_alone(span)),
            ("len", Some(_)) => self.error(messages::argument_count(span, "len", 0, call.args.len())),
            ("get_unchecked" | "get_unchecked_mut", _) => {
                self.error(messages::argument_count(span, &name, 1, call.args.len()))
            }
            _ => self.error(messages::unknown_method(SpanRange::of(&call.method), &name, receiver.gives)),
        }
    }

    fn atomic(&mut self, atomic: &ExprMethodCall, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let memory = self.expr(&atomic.receiver);
        let (Some(index), 1) = (atomic.args.first(), atomic.args.len()) else {
            return self.error(messages::argument_count(SpanRange::of(atomic), "atomic", 1, atomic.args.len()));
        };
        let index = self.beside(index);
        self.require_value(&index);
        match memory.gives {
            Kind::Memory(Memory::Global) => return self.error(messages::read_only_memory(memory.span)),
            Kind::Memory(_) => {}
            Kind::Unknown => return Expr::error(span),
            kind => return self.error(messages::unknown_method(SpanRange::of(&atomic.method), "atomic", kind)),
        }
        let name = call.method.to_string();
        let Some(method) = ATOMIC_METHODS.iter().find(|method| method.name == name) else {
            return self.error(messages::unknown_atomic(SpanRange::of(&call.method), &name));
        };
        let expected = method.operands + method.orderings;
        if call.args.len() != expected {
            return self.error(messages::argument_count(span, &name, expected, call.args.len()));
        }
        let mut operands = vec![memory, index];
        for (position, argument) in call.args.iter().enumerate() {
            if position < method.operands {
                let operand = self.beside(argument);
                self.require_value(&operand);
                operands.push(operand);
            } else if !is_relaxed(argument) {
                self.diags.push(messages::atomic_ordering(SpanRange::of(argument)));
            }
        }
        self.op(Op::Atomic(method), operands, span)
    }
}

/// The operation of a method of `Option` or `Result`.
fn option_method(name: &str) -> Option<Op> {
    match name {
        "is_some" => Some(Op::Is(Variant::Some)),
        "is_none" => Some(Op::Is(Variant::None)),
        "is_ok" => Some(Op::Is(Variant::Ok)),
        "is_err" => Some(Op::Is(Variant::Err)),
        "take" => Some(Op::Take),
        "unwrap" | "expect" => Some(Op::Unwrap),
        "unwrap_or" => Some(Op::UnwrapOr),
        _ => None,
    }
}

fn is_relaxed(argument: &syn::Expr) -> bool {
    matches!(argument, syn::Expr::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Relaxed"))
}

fn strip(expr: &syn::Expr) -> &syn::Expr {
    match expr {
        syn::Expr::Paren(paren) => strip(&paren.expr),
        syn::Expr::Group(group) => strip(&group.expr),
        expr => expr,
    }
}
