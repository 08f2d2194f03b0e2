//! Method calls: the kind of the receiver decides which operation a name is.

use std::ops::ControlFlow;

use proc_macro2::Ident;
use quote::{ToTokens, quote_spanned};
use syn::ExprMethodCall;

use super::Parser;
use super::expr::dereferenced;
use super::operand_types::{Operand, TypeHint};
use super::refused_functions::zipped;
use super::syntax::strip;
use crate::messages;
use crate::model::expr::{Callee, Expr, ExprKind};
use crate::model::group::Group;
use crate::model::group_barrier::{BarrierMethod, BarrierOperation};
use crate::model::kind::{Kind, Memory};
use crate::model::method::{Intrinsic, ValueMethod};
use crate::model::op::{MEMORY_METHODS, Op, RegisterChange, Stored, Variant};
use crate::model::warp::WarpMethod;
use crate::model::{Role, SiteMessage};
use crate::source;
use crate::span::SpanRange;

/// The message of a failed `unwrap`.
const ON_NONE: &str = "called `unwrap()` on a `None` or `Err` value";

impl Parser<'_> {
    pub(super) fn method_call(&mut self, call: &ExprMethodCall, span: SpanRange) -> Expr {
        if let Some(refused) = self.refused_iterator(&call.receiver) {
            return refused;
        }
        if let Some(receiver) = zipped(&call.receiver) {
            return self.method_call(&ExprMethodCall { receiver: Box::new(receiver), ..call.clone() }, span);
        }
        if let Some(call) = self.without_lent_closures(call) {
            return self.method_call(&call, span);
        }
        if let Some(operation) = self.atomic_operation(call, span) {
            return operation;
        }
        if let Some(part) = self.method_of_part(call, span) {
            return part;
        }
        if let Some(converted) = self.converted(call) {
            return Expr { span, ..self.expr(&converted) };
        }
        if let Some(copied) = self.over_copy(call) {
            return Expr { span, ..self.expr(&copied) };
        }
        if let Some(value) = self.consumed(call, span) {
            return value;
        }
        if let Some(value) = self.shorthand(call, span) {
            return value;
        }
        let name = call.method.to_string();
        let is_source = matches!(name.as_str(), "iter" | "iter_mut" | "windows" | "chunks_exact" | "chunks_exact_mut");
        if is_source && (self.is_elements(&call.receiver) || self.named_part(&call.receiver).is_some()) {
            return self.error(messages::iterator_value(span));
        }
        let mut receiver = self.place(&call.receiver);
        if is_source && matches!(receiver.result_kind, Kind::Memory(_)) {
            return self.error(messages::iterator_value(span));
        }
        if MEMORY_METHODS.contains(&name.as_str()) {
            receiver = self.as_memory(receiver);
        }
        match receiver.result_kind {
            Kind::Unknown => Expr::error(span),
            Kind::Group(group) => self.group_method(group, receiver, call, span),
            Kind::Memory(memory) => self.memory_method(memory, receiver, call, span),
            Kind::TensorMap { mutable } => self.tensor_copy(mutable, receiver, call, span),
            Kind::Barrier(barrier) => self.barrier_method(barrier, receiver, call, span),
            kind @ Kind::OptionalToken(_) => match (name.as_str(), call.args.is_empty()) {
                ("take", true) => self.take(receiver, span),
                ("unwrap", true) => self.unwrapped(receiver, ON_NONE, span),
                ("expect", false) => match only_string(call) {
                    Some(message) => self.unwrapped(receiver, &message, span),
                    None => self.error(messages::unknown_method(SpanRange::of(&call.method), &name, kind)),
                },
                ("is_some", true) => self.op(Op::Is(Variant::Some), vec![receiver], span),
                ("is_none", true) => self.op(Op::Is(Variant::None), vec![receiver], span),
                _ => self.error(messages::unknown_method(SpanRange::of(&call.method), &name, kind)),
            },
            kind @ Kind::OptionalMemory(_) => match (name.as_str(), call.args.is_empty()) {
                ("is_some", true) => self.op(Op::Is(Variant::Some), vec![receiver], span),
                ("is_none", true) => self.op(Op::Is(Variant::None), vec![receiver], span),
                _ => self.error(messages::unknown_method(SpanRange::of(&call.method), &name, kind)),
            },
            Kind::Reference { .. } => self.value_method(dereferenced(receiver), call, span),
            Kind::Value => self.value_method(receiver, call, span),
            Kind::Token(group) if name == "forget" => self.forget(group, receiver, call, span),
            kind @ (Kind::Extent | Kind::Unit | Kind::Never | Kind::Token(_) | Kind::Closure) => {
                self.error(messages::unknown_method(SpanRange::of(&call.method), &name, kind))
            }
        }
    }

    fn value_method(&mut self, receiver: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let name = call.method.to_string();
        if self.has_own_method(&receiver, &name) {
            return self.user_method(receiver, call, span);
        }
        if name == "len" && call.args.is_empty() {
            return self.op(Op::Length, vec![receiver], span);
        }
        let receiver = match self.is_result(&receiver) {
            true => self.method_of_result(receiver, call, span),
            false => self.result_of_option(receiver, call, span),
        };
        let receiver = match receiver {
            ControlFlow::Break(value) => return value,
            ControlFlow::Continue(receiver) => receiver,
        };
        if self.is_choice(call) {
            return match self.hint(&receiver) {
                // The result of a function, as the file shows.
                TypeHint::Array(element) if call.method == "map" => self.mapped(receiver, *element, call, span),
                _ => self.choice(receiver, call, span),
            };
        }
        if let Some(op) = option_method(&name) {
            return self.option_method(op, receiver, call, span);
        }
        if let (Some(function), [other]) = (Intrinsic::by_name("cmp", &name), &call.args.iter().collect::<Vec<_>>()[..])
            && (self.operand(&receiver) == Operand::User
                || matches!(self.hint(&receiver), TypeHint::Named(name) if name == "Reverse"))
        {
            return match self.greater_by_hand(function.name == "max", receiver, other, span) {
                ControlFlow::Break(greater) => greater,
                ControlFlow::Continue(receiver) => self.of_ordered(function, receiver, other, span),
            };
        }
        // rustc would refuse it, but only a kernel without other faults comes that far.
        if let ExprKind::Local(local) = receiver.kind
            && self.optional.contains(&local)
            && let Some(fault) = messages::refused_method(SpanRange::of(&call.method), &name)
        {
            return self.error(fault);
        }
        let Some(method) = ValueMethod::by_name(&name) else {
            return self.user_method(receiver, call, span);
        };
        if call.args.len() != method.arguments {
            return self.error(messages::argument_count(span, &name, method.arguments, call.args.len()));
        }
        let mut operands = vec![receiver];
        operands.extend(call.args.iter().map(|argument| self.argument_beside(argument)));
        let site = self.method_site(method, span);
        Expr { kind: ExprKind::Method { method, operands, site }, result_kind: Kind::Value, span }
    }

    /// Parses `a.max(b)` and `a.min(b)` of a type of the file, which are those of `Ord`.
    fn of_ordered(&mut self, function: &'static Intrinsic, receiver: Expr, other: &syn::Expr, span: SpanRange) -> Expr {
        let name = Ident::new(function.name, span.hi);
        let path = quote_spanned!(span.hi=> ::core::cmp::#name);
        let operands = vec![receiver, self.value(other)];
        Expr { kind: ExprKind::Intrinsic { path, function, operands }, result_kind: Kind::Value, span }
    }

    fn group_method(&mut self, group: Group, receiver: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let name = call.method.to_string();
        if let Some(method) = WarpMethod::of(group, &name) {
            return self.warp_method(group, method, receiver, call, span);
        }
        if group == Group::Tile
            && let Some(stored) = Stored::of_load(&name)
        {
            return self.load_matrix(stored, receiver, call, span);
        }
        if group == Group::Tile
            && let Some(stored) = Stored::of_store(&name)
        {
            return self.store_matrix(stored, receiver, call, span);
        }
        if group == Group::Tile
            && matches!(name.as_str(), "mma_async" | "wait_mma" | "wait_mma_prior" | "wait_mma_except_last")
        {
            return self.product_method(&name, receiver, call, span);
        }
        if group == Group::Tile
            && let Some(change) = RegisterChange::by_name(&name)
        {
            return self.register_change(change, receiver, call, span);
        }
        if let Some(method) = group.barrier_method(&name) {
            return self.barrier(group, method, receiver, call, span);
        }
        match self.copy_wait(group, call, span) {
            Some(Some(wait)) => return self.op(wait, vec![receiver], span),
            Some(None) => return Expr::error(span),
            None => {}
        }
        let op = match name.as_str() {
            "invoke_one" => return self.invoke_one(group, receiver, call, span),
            "uniform" => return self.uniform(group, receiver, call, span),
            "barrier_arrive" | "barrier_wait" if group.is_of_a_warp() => {
                return self.error(messages::no_split_barrier(SpanRange::of(&call.method), group));
            }
            "map_shared_rank" if group == Group::Cluster => return self.map_shared_rank(receiver, call, span),
            "query_shared_rank" if group == Group::Cluster => return self.query_shared_rank(receiver, call, span),
            _ => match group.query(&name) {
                Some(query) => Op::Query(group, query),
                None => {
                    return self.error(messages::unknown_method(
                        SpanRange::of(&call.method),
                        &name,
                        receiver.result_kind,
                    ));
                }
            },
        };
        if !call.args.is_empty() {
            return self.error(messages::argument_count(span, &name, 0, call.args.len()));
        }
        self.op(op, vec![receiver], span)
    }

    /// Parses a method of a user's type, from `#[device] impl`; rustc knows whether the type has it.
    fn user_method(&mut self, receiver: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let mut arguments = vec![receiver];
        let name = call.method.to_string();
        for (position, argument) in call.args.iter().enumerate() {
            let whole = self.lent_array(&name, position, argument);
            let argument = whole.unwrap_or_else(|| self.argument_of(&name, argument));
            arguments.push(argument);
        }
        // A method of Rust that no kernel has is declared without parameters, so that the only error is that there is none.
        let is_refused = messages::instead_of_method(&name).is_some()
            && !self.file().is_some_and(|file| source::has_method(file, &name));
        let turbofish = call.turbofish.as_ref().filter(|_| !is_refused).to_token_stream();
        self.device_callee(Callee::Method(call.method.clone(), turbofish), arguments, span)
    }

    /// Parses `is_some`, `unwrap` and their like, of an `Option` or of the `Result` of a compare-exchange.
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
                    None => ON_NONE.to_string(),
                    Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. })) => text.value(),
                    Some(other) => {
                        return self.error(messages::format_string(SpanRange::of(other), "it is not a string literal"));
                    }
                };
                let site = Some(self.site_with(span, SiteMessage::Text(message)));
                let kind = ExprKind::Op { op, operands: vec![receiver], site, types: None };
                Expr { kind, result_kind: Kind::Value, span }
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
        if let ExprKind::Index { .. } = receiver.kind {
            return self.error(messages::take_of_element(span));
        }
        if !matches!(receiver.kind, ExprKind::Local(_)) {
            return self.error(messages::borrow_target(receiver.span));
        }
        let result_kind = receiver.result_kind;
        Expr { result_kind, ..self.op(Op::Take, vec![receiver], span) }
    }

    fn barrier(
        &mut self,
        group: Group,
        method: &'static BarrierMethod,
        receiver: Expr,
        call: &ExprMethodCall,
        span: SpanRange,
    ) -> Expr {
        let expected = usize::from(method.operation == BarrierOperation::Wait);
        if call.args.len() != expected {
            return self.error(messages::argument_count(span, method.name, expected, call.args.len()));
        }
        let op = match method.operation {
            BarrierOperation::Sync => Op::Sync(group, method),
            BarrierOperation::Arrive => Op::Arrive(group, method),
            BarrierOperation::Wait => Op::Wait(group, method),
        };
        let mut operands = vec![receiver];
        for token in &call.args {
            match self.token(group, token) {
                Some(token) => operands.push(token),
                None => return Expr::error(span),
            }
        }
        self.op(op, operands, span)
    }

    /// Parses `token.forget()`, which only kernels have: callers of a device function would not see it.
    fn forget(&mut self, group: Group, token: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        if !call.args.is_empty() {
            self.diags.push(messages::argument_count(span, "forget", 0, call.args.len()));
        }
        match self.function.role {
            Role::Kernel => {}
            Role::Device | Role::Method => self.diags.push(messages::forget_in_function(span)),
        }
        self.op(Op::Forget(group), vec![token], span)
    }

    /// Parses the token that a wait consumes.
    fn token(&mut self, group: Group, written: &syn::Expr) -> Option<Expr> {
        let mut token = self.expr(written);
        match token.result_kind {
            // rustc refuses the token of another group, and shows both types.
            Kind::Token(_) | Kind::Unknown => {}
            Kind::Value if matches!(token.kind, ExprKind::Call { .. }) => {
                self.expect_token(&mut token, Kind::Token(group));
            }
            kind => match token.kind {
                ExprKind::Local(local) if self.results.contains(&local) => {
                    self.function.locals[local.0].kind = Kind::Token(group);
                    self.learned = true;
                }
                _ => {
                    self.diags.push(match token.kind {
                        ExprKind::Constant(_) => {
                            messages::unknown_token(token.span, &written.to_token_stream().to_string())
                        }
                        _ => messages::not_a_token(token.span, kind),
                    });
                    return None;
                }
            },
        }
        Some(token)
    }

    /// Parses `&array` as the argument of an operation on shared memory, a call of this form.
    pub(super) fn shared_argument(&mut self, argument: &syn::Expr, form: &str) -> Option<Expr> {
        let target = match argument {
            syn::Expr::Reference(reference) if reference.mutability.is_none() => self.borrowed_place(reference),
            // A parameter is a reference already, and so are a part and a local that is bound to one.
            other => self.expr(other),
        };
        let is_slice = matches!(target.result_kind, Kind::Memory(memory) if memory.is_slice());
        let by_reference = matches!(argument, syn::Expr::Reference(_)) || self.is_reference(&target) || is_slice;
        match target.result_kind {
            Kind::Memory(_) | Kind::Barrier(_) if by_reference => Some(target),
            Kind::Unknown => None,
            _ => {
                self.diags.push(messages::shared_address(SpanRange::of(argument), form));
                None
            }
        }
    }

    fn map_shared_rank(&mut self, receiver: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let (Some(array), Some(rank), 2) = (call.args.get(0), call.args.get(1), call.args.len()) else {
            return self.error(messages::argument_count(span, "map_shared_rank", 2, call.args.len()));
        };
        let array = self.shared_argument(array, "cluster.map_shared_rank(&array, rank)");
        let rank = self.beside(rank);
        self.require_value(&rank);
        let Some(array) = array else { return Expr::error(span) };
        match array.result_kind {
            Kind::Memory(memory @ (Memory::SharedArray | Memory::SharedSlice)) => {
                self.op(Op::MapSharedRank(memory), vec![receiver, array, rank], span)
            }
            Kind::Barrier(barrier) => self.map_barrier(barrier, vec![receiver, array, rank], span),
            kind => self.error(messages::wrong_kind(array.span, "a block's own shared memory", kind)),
        }
    }

    fn query_shared_rank(&mut self, receiver: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let (Some(array), 1) = (call.args.first(), call.args.len()) else {
            return self.error(messages::argument_count(span, "query_shared_rank", 1, call.args.len()));
        };
        let form = "cluster.query_shared_rank(&array)";
        let Some(array) = self.shared_argument(array, form) else { return Expr::error(span) };
        match array.result_kind {
            Kind::Memory(Memory::Global | Memory::GlobalMut) | Kind::Barrier(_) => {
                self.error(messages::wrong_kind(array.span, "shared memory", array.result_kind))
            }
            _ => self.op(Op::QuerySharedRank, vec![receiver, array], span),
        }
    }

    fn memory_method(&mut self, memory: Memory, receiver: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let name = call.method.to_string();
        if let Some(turbofish) = call.turbofish.as_ref().filter(|_| name != "load_vec") {
            let at = SpanRange::of(turbofish);
            return self
                .error(messages::unsupported_syntax(at, "type arguments of this method are").help("remove them"));
        }
        match (name.as_str(), call.args.first()) {
            ("len", None) => self.op(Op::Length, vec![receiver], span),
            ("is_empty", None) => self.op(Op::IsEmpty, vec![receiver], span),
            ("load_vec", _) => self.load_vec(receiver, call, span),
            ("store_async", _) => self.store_async(receiver, call, span),
            ("store_vec", _) => self.store_vec(receiver, call, span),
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
                Expr { kind, result_kind: Kind::Reference { mutable: true }, span }
            }
            ("get", Some(index)) if matches!(strip(index), syn::Expr::Range(_)) => {
                self.error(messages::optional_part(SpanRange::of(&call.method)))
            }
            ("get" | "first" | "last", _) => {
                self.error(messages::element_reference(SpanRange::of(&call.method), &name))
            }
            ("atomic", _) => self.error(messages::atomic_alone(span)),
            ("chunks" | "chunks_mut", _) => self.error(messages::chunks(span)),
            ("split_at" | "split_at_mut", _) => self.error(messages::split_at(span)),
            ("len" | "is_empty", Some(_)) => self.error(messages::argument_count(span, &name, 0, call.args.len())),
            ("get_unchecked" | "get_unchecked_mut", _) => {
                self.error(messages::argument_count(span, &name, 1, call.args.len()))
            }
            _ => self.error(messages::unknown_method(SpanRange::of(&call.method), &name, receiver.result_kind)),
        }
    }
}

/// Returns the operation of a method of `Option` or `Result`.
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

/// The only argument of a call, if it is the literal of a string.
fn only_string(call: &ExprMethodCall) -> Option<String> {
    match call.args.first().filter(|_| call.args.len() == 1) {
        Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. })) => Some(text.value()),
        Some(_) | None => None,
    }
}
