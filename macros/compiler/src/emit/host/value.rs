//! Expressions of the host body. Arithmetic calls functions that mean the same in every build profile; comparisons, bit
//! operations and casts are Rust's own.

use proc_macro2::{Literal, TokenStream};
use quote::{quote, quote_spanned};

use super::place::{MemoryPlace, host_member};
use super::{Host, body_label, braces, internal, private};
use crate::model::SlotId;
use crate::model::expr::{BinaryOp, Callee, Expr, ExprKind, LiteralType, UnaryOp};
use crate::model::kind::Kind;
use crate::model::method::ScalarFunction;
use crate::span::SpanRange;

impl Host<'_> {
    pub(super) fn expr(&self, expr: &Expr) -> TokenStream {
        let at = expr.span;
        let lo = at.lo;
        match &expr.kind {
            ExprKind::Error => quote!(()),
            ExprKind::Int { digits, ty } | ExprKind::Float { digits, ty } => self.literal(digits, *ty, false, at),
            ExprKind::Bool(value) => quote_spanned!(lo=> #value),
            ExprKind::Local(local) => {
                let ident = self.ident(*local, at);
                quote!(#ident)
            }
            ExprKind::Constant(value) => {
                let tokens = &self.function.values[usize::from(value.0)].tokens;
                quote!(#tokens)
            }
            ExprKind::Index { base, index, .. } if matches!(base.result_kind, Kind::Barrier(_)) => {
                let (base, index) = (self.borrowed(base), self.expr(index));
                private(at, "barrier_at", quote!(#base, #index))
            }
            ExprKind::Operator(operator, path) => {
                let name = proc_macro2::Ident::new(operator.rust_name, lo);
                quote_spanned!(lo=> ::phalanx::op::operator::<::phalanx::op::#name>(#path))
            }
            ExprKind::Unary(op, value) => self.unary(*op, value, at),
            ExprKind::Binary { op, left, right, .. } => {
                let (left, right) = (self.binary_operand(*op, left), self.binary_operand(*op, right));
                binary(*op, left, right, at)
            }
            ExprKind::Cast(value, ty) => {
                let (value, ty) = (self.operand(value), &ty.tokens);
                quote_spanned!(lo=> (#value as #ty))
            }
            ExprKind::Typed(value, slot) => {
                let value = self.expr(value);
                self.typed(*slot, value, at)
            }
            ExprKind::Index { .. } | ExprKind::UncheckedPlace { .. } | ExprKind::Field { .. } => {
                match self.memory_place(expr, "load") {
                    Some(MemoryPlace::Element { function, base, index }) => {
                        private(at, &function, quote!(#base, #index))
                    }
                    Some(MemoryPlace::Inside(place)) => private(at, "read_place", place),
                    None => self.place(expr, false),
                }
            }
            ExprKind::Deref(target) => {
                let target = self.expr(target);
                quote_spanned!(lo=> *#target)
            }
            ExprKind::Axis(base, axis) => {
                let base = self.operand(base);
                let axis = proc_macro2::Ident::new(&axis.to_string(), at.hi);
                quote_spanned!(lo=> #base.#axis)
            }
            ExprKind::Borrow { target, .. }
                if matches!(
                    target.result_kind,
                    Kind::Memory(_) | Kind::TensorMap { .. } | Kind::Barrier(_) | Kind::Group(_)
                ) =>
            {
                self.passed(target)
            }
            ExprKind::Borrow { mutable, target } => {
                let target = if *mutable { self.place(target, true) } else { self.expr(target) };
                let mutable = mutable.then(|| quote_spanned!(lo=> mut));
                quote_spanned!(lo=> &#mutable #target)
            }
            ExprKind::Array { elements, slot } => {
                let elements = elements.iter().map(|element| self.expr(element));
                self.typed(*slot, quote_spanned!(lo=> [#(#elements),*]), at)
            }
            ExprKind::Repeat { element, length, slot } => {
                let element = self.expr(element);
                self.typed(*slot, quote_spanned!(lo=> [#element; #length]), at)
            }
            ExprKind::Struct { path, variant, fields, base, slot } => {
                let fields = fields.iter().map(|(member, field)| {
                    let (member, field) = (host_member(member, at), self.expr(field));
                    quote_spanned!(lo=> #member: #field)
                });
                let base = base.as_ref().map(|base| {
                    let base = self.expr(base);
                    quote_spanned!(lo=> ..#base)
                });
                let value = quote_spanned!(lo=> #path { #(#fields,)* #base });
                let slot = self.slot(*slot, at);
                match variant {
                    // rustc asks what the value is, not what is expected here: of a name that there is not, it says that alone.
                    None => {
                        let checked = private(at, "is_struct", quote_spanned!(lo=> &__phalanx_literal));
                        let value =
                            quote_spanned!(lo=> { let __phalanx_literal = #value; #checked; __phalanx_literal });
                        private(at, "of_struct", quote!(#slot, #value))
                    }
                    Some(_) => private(at, "of_enum", quote!(#slot, #value)),
                }
            }
            ExprKind::Vector { path, is_matrix, is_accumulator, argument, slot, .. } => {
                let kind = match (is_accumulator, is_matrix) {
                    (true, _) => "accumulator",
                    (false, true) => "matrix",
                    (false, false) => "vector",
                };
                let value = self.vector(path, kind, argument, at);
                self.typed(*slot, value, at)
            }
            ExprKind::Tuple { elements, slot } => {
                let elements = elements.iter().map(|element| self.expr(element));
                self.typed(*slot, quote_spanned!(lo=> (#(#elements,)*)), at)
            }
            ExprKind::Some(value) => {
                let value = self.expr(value);
                quote_spanned!(lo=> ::core::option::Option::Some(#value))
            }
            ExprKind::None(slot) => {
                // The braces have the user's span.
                let slot = braces(SpanRange::at(lo), self.slot(*slot, at));
                private(at, "none", slot)
            }
            ExprKind::Op { op, operands, site, types } => self.op(*op, operands, *site, types.as_ref(), at),
            ExprKind::Method { method, operands, .. } => {
                let operands = operands.iter().map(|operand| self.expr(operand));
                private(at, method.name, quote!(#(#operands),*))
            }
            ExprKind::Call { callee, slot, arguments } => self.device_call(callee, *slot, arguments, expr),
            ExprKind::CallClosure { closure, arguments, .. } => {
                let closure = self.ident(*closure, at);
                let arguments = arguments.iter().map(|argument| self.expr(argument));
                private(at, "plain", quote_spanned!(lo=> #closure(#(#arguments),*)))
            }
            ExprKind::Closure { params, body, by_value } => {
                let by_value = by_value.as_ref().map(|_| quote_spanned!(lo=> move));
                let params = params.iter().map(|(local, ty)| {
                    let info = self.function.local(*local);
                    let (name, mutable) = (&info.name, info.mutable.map(|at| quote_spanned!(at=> mut)));
                    let ty = ty.as_ref().map(|ty| &ty.tokens).map(|ty| quote_spanned!(lo=> : #ty));
                    quote!(#mutable #name #ty)
                });
                let body = self.expr(body);
                quote_spanned!(lo=> #by_value |#(#params),*| #body)
            }
            ExprKind::ScalarCall { owner: ty, function, operands, .. } => {
                let operands = operands.iter().map(|operand| self.expr(operand));
                let (name, types) = match function {
                    ScalarFunction::Default => ("zero", quote!(#ty)),
                    ScalarFunction::From => ("from", quote_spanned!(lo=> #ty, _)),
                    ScalarFunction::CheckedFrom => ("checked_from", quote_spanned!(lo=> #ty, _)),
                    ScalarFunction::Constructor(name) => (*name, quote!(#ty)),
                    ScalarFunction::Method(method) => (method.name, quote!(#ty)),
                };
                let name = proc_macro2::Ident::new(name, at.hi);
                quote_spanned!(lo=> ::phalanx::__private::#name::<#types>(#(#operands),*))
            }
            ExprKind::Intrinsic { path, function, operands } => {
                let operands = operands.iter().map(|operand| match function.is_of_rust() {
                    true => private(operand.span, "ordered", self.expr(operand)),
                    false => self.expr(operand),
                });
                let name = proc_macro2::Ident::new(function.name, at.hi);
                // Another function under this path is a type error: each has a type of its own.
                let module = proc_macro2::Ident::new(function.module, at.hi);
                let ours = match function.is_of_rust() {
                    true => quote_spanned!(lo=> ::core::#module::#name),
                    false => quote_spanned!(lo=> ::phalanx::#module::#name),
                };
                let function = private(at, "same", quote!(#path, #ours));
                quote_spanned!(lo=> #function(#(#operands),*))
            }
            ExprKind::Block(block) => self.block(block),
            ExprKind::Unsafe(block) => {
                let block = self.block(block);
                quote_spanned!(lo=> unsafe #block)
            }
            ExprKind::Labelled { label, block, slot, .. } => {
                let value = self.labelled(label, self.block(block), at);
                self.with_slot(*slot, value, at)
            }
            ExprKind::If { condition, then, otherwise, slot } => {
                let discarded = expr.result_kind == Kind::Unit;
                let value = self.branch(condition, then, otherwise.as_deref(), discarded, at);
                self.with_slot(*slot, value, at)
            }
            ExprKind::Match { scrutinee, arms, slot } => {
                let value = self.match_expr(scrutinee, arms, expr.result_kind == Kind::Unit, at);
                self.with_slot(*slot, value, at)
            }
            ExprKind::Loop { id, label, body, slot } => {
                let value = self.plain_loop(*id, label.as_ref(), body, at);
                self.with_slot(*slot, value, at)
            }
            ExprKind::While { id, label, condition, body } => self.while_loop(*id, label.as_ref(), condition, body, at),
            ExprKind::For { id, label, local, range, body } => {
                let name = local.map(|local| self.function.local(local)).map(|local| (&local.name, local.mutable));
                self.for_loop(*id, label.as_ref(), name, range, body, at)
            }
            ExprKind::Assign(place, value) => self.assign(place, value, at),
            ExprKind::AssignOp { op, place, value, function, .. } => match function.as_deref() {
                Some((callee, slot)) => self.assign_by_function((callee, *slot), place, value, at),
                None => self.assign_op(*op, place, value, at),
            },
            ExprKind::Break { label, value, .. } => {
                let value = value.as_ref().map(|value| self.jump_value(value));
                self.jump("break", label.as_ref(), value, lo)
            }
            ExprKind::Continue { label, .. } => self.jump("continue", label.as_ref(), None, lo),
            ExprKind::Return { value, .. } => {
                let label = body_label();
                let value = value.as_ref().map(|value| self.jump_value(value));
                quote_spanned!(lo=> break #label #value)
            }
            ExprKind::Cuda(inline_cuda) => self.inline_cuda(inline_cuda, at),
            ExprKind::Assert(test, message) => self.assert(test, message, at),
            ExprKind::Panic(message) => self.message("fail_panic", message, &[], at),
            ExprKind::Print(message) => self.message("print", message, &[], at),
        }
    }

    fn with_slot(&self, slot: Option<crate::model::SlotId>, value: TokenStream, at: SpanRange) -> TokenStream {
        match slot {
            Some(slot) => self.typed(slot, value, at),
            None => value,
        }
    }

    fn literal(&self, digits: &str, ty: LiteralType, negated: bool, at: SpanRange) -> TokenStream {
        let (suffix, slot) = match ty {
            LiteralType::Start(slot) => {
                let function = if digits == "1" { "start_of_product" } else { "start_of_sum" };
                return self.typed(slot, private(at, function, TokenStream::new()), at);
            }
            LiteralType::Beside => ("", None),
            LiteralType::Suffix(suffix) => (suffix, None),
            LiteralType::Slot(slot) => ("", Some(slot)),
        };
        // The digits come from a literal that rustc has parsed.
        let mut literal: Literal = format!("{digits}{suffix}").parse().unwrap_or_else(|_| Literal::u8_unsuffixed(0));
        literal.set_span(at.lo);
        let minus = negated.then(|| quote_spanned!(at.lo=> -));
        let value = quote!(#minus #literal);
        match slot {
            Some(slot) => self.typed(slot, value, at),
            None => value,
        }
    }

    pub(super) fn binary_operand(&self, op: BinaryOp, operand: &Expr) -> TokenStream {
        let is_literal = matches!(operand.kind, ExprKind::Int { .. } | ExprKind::Float { .. } | ExprKind::Bool(_));
        match operator_guard(op) {
            Some(guard) if !is_literal => private(operand.span, guard, self.expr(operand)),
            _ => self.operand(operand),
        }
    }

    fn unary(&self, op: UnaryOp, value: &Expr, at: SpanRange) -> TokenStream {
        match (op, &value.kind) {
            (UnaryOp::Not, ExprKind::Int { .. } | ExprKind::Bool(_)) => {
                let value = self.operand(value);
                quote_spanned!(at.lo=> (!#value))
            }
            (UnaryOp::Not, _) => {
                let value = private(value.span, "plain_scalar", self.expr(value));
                quote_spanned!(at.lo=> (!#value))
            }
            // The lowest integer is one literal with a minus.
            (UnaryOp::Neg, ExprKind::Int { digits, ty } | ExprKind::Float { digits, ty }) => {
                self.literal(digits, *ty, true, at)
            }
            (UnaryOp::Neg, _) => {
                let value = self.expr(value);
                private(at, "neg", value)
            }
        }
    }

    fn assign(&self, place: &Expr, value: &Expr, at: SpanRange) -> TokenStream {
        let lo = at.lo;
        let (memory, order_matters) = (self.memory_place(place, "store"), self.order_matters(place, value));
        let new = match &place.kind {
            ExprKind::Local(local) => match self.function.local(*local) {
                info if info.kind == Kind::Value && info.slot.is_some() => {
                    info.slot.map(|slot| self.typed(slot, self.expr(value), value.span))
                }
                _ => None,
            },
            _ => None,
        };
        let new = new.unwrap_or_else(|| self.expr(value));
        let Some(memory) = memory else {
            let place = self.place(place, true);
            return quote_spanned!(lo=> #place = #new);
        };
        let store = |value: TokenStream| match &memory {
            MemoryPlace::Element { function, base, index } => private(at, function, quote!(#base, #index, #value)),
            MemoryPlace::Inside(place) => private(at, "write_place", quote!(#place, #value)),
        };
        if !order_matters {
            return store(new);
        }
        let name = internal("__phalanx_value", value.span);
        let store = store(quote!(#name));
        quote_spanned!(lo=> match #new { #name => #store })
    }

    fn assign_op(&self, op: BinaryOp, place: &Expr, value: &Expr, at: SpanRange) -> TokenStream {
        let lo = at.lo;
        let (old, new) = (internal("__phalanx_old", place.span), internal("__phalanx_value", value.span));
        let (before, by) = (guarded(op, quote!(#old), place.span), guarded(op, quote!(#new), value.span));
        let result = binary(op, before, by, at);
        let change = self.expr(value);
        let Some(memory) = self.memory_place(place, "update") else {
            if let (ExprKind::Local(_), false) = (&place.kind, self.order_matters(place, value)) {
                let place = self.place(place, true);
                let old = guarded(op, quote!(#place), at);
                let result = binary(op, old, self.binary_operand(op, value), at);
                return quote_spanned!(lo=> #place = #result);
            }
            let reference = self.place(place, true);
            let reference = quote_spanned!(lo=> &mut #reference);
            // The value comes first, as Rust evaluates it for numbers, then the place.
            let target = internal("__phalanx_place", place.span);
            return quote_spanned!(lo=> match #change { #new => match #reference { #target => {
                let #old = *#target;
                *#target = #result;
            } } });
        };
        let closure = quote_spanned!(lo=> |#old, #new| #result);
        let update = |change: TokenStream| match &memory {
            MemoryPlace::Element { function, base, index } => {
                private(at, function, quote!(#base, #index, #change, #closure))
            }
            MemoryPlace::Inside(place) => private(at, "update_place", quote!(#place, #change, #closure)),
        };
        if !self.order_matters(place, value) {
            return update(change);
        }
        let held = internal("__phalanx_change", value.span);
        let update = update(quote!(#held));
        quote_spanned!(lo=> match #change { #held => #update })
    }
}

impl Host<'_> {
    /// Prints an operator that assigns, and is a function of the place and the value. The order of these is not observed.
    fn assign_by_function(
        &self,
        (callee, slot): (&Callee, SlotId),
        place: &Expr,
        value: &Expr,
        at: SpanRange,
    ) -> TokenStream {
        let lo = at.lo;
        let (old, new) = (internal("__phalanx_old", place.span), internal("__phalanx_value", value.span));
        let (slot, function) = (self.slot(slot, at), format!("operator_{}", callee.name()));
        let change = self.expr(value);
        let memory = match self.memory_place(place, "update") {
            Some(memory) => memory,
            None => {
                let reference = self.place(place, true);
                let apply = private(at, &function, quote_spanned!(lo=> &mut #reference, #new, #slot));
                return quote_spanned!(lo=> match #change { #new => #apply });
            }
        };
        let apply = private(at, &function, quote_spanned!(lo=> &mut #old, #new, #slot));
        let closure = quote_spanned!(lo=> |mut #old, #new| { #apply; #old });
        let update = match &memory {
            MemoryPlace::Element { function, base, index } => {
                private(at, function, quote!(#base, #index, #new, #closure))
            }
            MemoryPlace::Inside(place) => private(at, "update_place", quote!(#place, #new, #closure)),
        };
        quote_spanned!(lo=> match #change { #new => #update })
    }
}

/// Returns the function with which rustc checks that an operator is the language's own, and not overloaded by the user.
fn operator_guard(op: BinaryOp) -> Option<&'static str> {
    match op {
        BinaryOp::Eq | BinaryOp::Ne => Some("comparable"),
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => Some("ordered"),
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => Some("plain_scalar"),
        // These are numeric functions, or take only `bool`.
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Shl
        | BinaryOp::Shr => None,
        BinaryOp::And | BinaryOp::Or => None,
    }
}

/// Has rustc check that an operand's type has the operator in C++ too.
fn guarded(op: BinaryOp, operand: TokenStream, at: SpanRange) -> TokenStream {
    match operator_guard(op) {
        // The braces have the user's span; a generated name would not.
        Some(guard) => private(at, guard, braces(at, operand)),
        None => operand,
    }
}

pub(super) fn binary(op: BinaryOp, left: TokenStream, right: TokenStream, at: SpanRange) -> TokenStream {
    let function = match op {
        BinaryOp::Add => "add",
        BinaryOp::Sub => "sub",
        BinaryOp::Mul => "mul",
        BinaryOp::Div => "div",
        BinaryOp::Rem => "rem",
        BinaryOp::Shl => "shl",
        BinaryOp::Shr => "shr",
        BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le
        | BinaryOp::Gt
        | BinaryOp::Ge
        | BinaryOp::And
        | BinaryOp::Or => {
            let symbol: TokenStream = op.symbol().parse().unwrap_or_default();
            let symbol = symbol.into_iter().map(|mut tree| {
                tree.set_span(at.lo);
                tree
            });
            let symbol: TokenStream = symbol.collect();
            return quote_spanned!(at.lo=> (#left #symbol #right));
        }
    };
    private(at, function, quote!(#left, #right))
}
