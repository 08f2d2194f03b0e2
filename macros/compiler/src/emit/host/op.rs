//! Operations of the host body, one arm each, by their full path: where the macro takes `x.sync()` for `Cluster::sync`,
//! the host body says `Cluster::sync(&x)`, so that a wrong guess is a type error. They are matched without a wildcard.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

use super::{Host, call, generic_call, memory, parentheses, private};
use crate::check::BrokenAt;
use crate::emit::{callee, constant};
use crate::model::expr::{Callee, Expr, ExprKind, FunctionPath};
use crate::model::group::Group;
use crate::model::kind::Kind;
use crate::model::op::{Op, RegisterChange, Stored, Variant};
use crate::model::place::local_of;
use crate::model::ty::ValueType;
use crate::model::walk::walk_block;
use crate::model::warp::WarpOperand;
use crate::model::{Function, Role, SiteId, SiteMessage, SlotId, ValueId};
use crate::span::SpanRange;

/// Refuses an `unchecked(collective_while_pending)` where no callee breaks the rule.
pub(crate) fn one_collective(function: &Function, broken: &BrokenAt) -> TokenStream {
    let mut broken_by = Vec::new();
    walk_block(&function.body, &mut |expr| {
        if let ExprKind::Call { callee: Callee::Function(function), slot, .. } = &expr.kind
            && let Some(pending) = broken.calls.get(&slot.0)
        {
            let (callee, pending) = (callee::summary(function, "UNIFORMITY"), constant::groups(*pending));
            broken_by.push(quote!(#callee.collectives.intersection(#pending)));
        }
    });
    quote_spanned!(broken.waiver.lo=> const _: () = ::phalanx::__private::one_collective(&[#(#broken_by),*]);)
}

impl Host<'_> {
    /// Has rustc compare the rank with the size of the cluster, where the checks left that to it.
    fn constant_rank(&self, operands: &[Expr], site: Option<SiteId>) -> Option<TokenStream> {
        site.filter(|site| self.checked.ranks_left_to_rustc().contains(site))?;
        let rank = operands.get(2)?;
        let (value, options) = (self.of_constants(rank), self.options(rank.span));
        let check = quote_spanned!(rank.span.lo=> ::phalanx::__private::rank_of_cluster(#value, #options.cluster));
        Some(self.evaluated(check, rank.span))
    }

    /// A value that is made of constants, as rustc evaluates it in a constant.
    fn of_constants(&self, value: &Expr) -> TokenStream {
        let at = value.span.lo;
        match &value.kind {
            ExprKind::Cast(inner, ty) => {
                let (inner, ty) = (self.of_constants(inner), &ty.tokens);
                quote_spanned!(at=> (#inner as #ty))
            }
            ExprKind::Binary { op, left, right, .. } => {
                let (left, right) = (self.of_constants(left), self.of_constants(right));
                let op: TokenStream = op.symbol().parse().unwrap_or_default();
                quote_spanned!(at=> (#left #op #right))
            }
            _ => self.expr(value),
        }
    }

    /// Has an arrival that other blocks wait for release what the fence says that the program has here, as in CUDA C++.
    fn with_fence(&self, called: TokenStream, site: Option<SiteId>, at: SpanRange) -> TokenStream {
        if site.and_then(|site| self.checked.fences().inferred(site)).is_none() {
            return called;
        }
        let (line, column) = (at.line(), at.column());
        private(at, "with_fence_of", quote_spanned!(at.lo=> (::core::file!(), #line, #column), || #called))
    }

    /// Has rustc evaluate a check: a free constant at once, and one in a body with each instance.
    fn evaluated(&self, check: TokenStream, at: SpanRange) -> TokenStream {
        match self.function.generics.params.is_empty() {
            true => quote_spanned!(at.lo=> const _: () = #check),
            false => quote_spanned!(at.lo=> const { #check }),
        }
    }

    /// Returns the kernel's options, as rustc knows them.
    fn options(&self, at: SpanRange) -> TokenStream {
        let lo = at.lo;
        let kernel = match self.function.generics.params.is_empty() {
            true => self.function.name.to_token_stream(),
            false => quote_spanned!(lo=> Self),
        };
        quote_spanned!(lo=> #kernel::__PHALANX_OPTIONS)
    }

    pub(super) fn op(
        &self,
        op: Op,
        operands: &[Expr],
        site: Option<SiteId>,
        types: Option<&(ValueType, Option<ValueId>)>,
        at: SpanRange,
    ) -> TokenStream {
        let group_method_of = |group: Group, name: &str, generics: TokenStream| {
            let receiver = operands.first().map(|receiver| self.borrowed(receiver));
            let rest = operands.iter().skip(1).map(|operand| match (operand.result_kind, &operand.kind) {
                (Kind::Memory(_) | Kind::Barrier(_), _) | (Kind::Closure, ExprKind::Local(_)) => self.borrowed(operand),
                _ => self.expr(operand),
            });
            generic_call(at, &[group.rust_name(), name], generics, quote!(#receiver #(, #rest)*))
        };
        let group_method = |group: Group, name: &str| group_method_of(group, name, TokenStream::new());
        // A method of the user's may have the same name.
        let of_option = |ty: TokenStream, name: &str, borrow: TokenStream| {
            let receiver = operands.first().map(|receiver| self.operand(receiver));
            let name = Ident::new(name, at.hi);
            let arguments = parentheses(at, quote_spanned!(at.lo=> #borrow #receiver));
            quote_spanned!(at.lo=> #ty::#name #arguments)
        };
        let option = || quote_spanned!(at.lo=> ::core::option::Option);
        match op {
            Op::This(group) => call(at, &[group.origin()], TokenStream::new()),
            Op::TiledPartition(_, size) => {
                let parent = operands.first().map(|parent| self.borrowed(parent));
                let size = &self.function.values[usize::from(size.0)].tokens;
                let arguments = parentheses(at, quote!(#parent));
                // Only rustc can check a size that depends on a generic parameter.
                let check = quote_spanned!(at.lo=> const { ::phalanx::__private::tile_size(#size) });
                quote_spanned!(at.lo=> { #check; ::phalanx::__private::tile::<#size, _> #arguments })
            }
            Op::Partition(_, name) => {
                let parent = operands.first().map(|parent| self.borrowed(parent));
                let key = operands.get(1).map(|key| self.expr(key));
                call(at, &[name], quote!(#parent, #key))
            }
            // rustc infers the types of a closure's parameters only where a closure is expected.
            Op::Warp(group, method) => match (method.operands.last(), operands.last().map(|last| last.result_kind)) {
                (Some(WarpOperand::Operator), Some(Kind::Closure)) => {
                    group_method(group, &format!("{}_with", method.name))
                }
                _ => group_method(group, method.name),
            },
            Op::Query(group, query) => group_method(group, query.name),
            Op::Sync(group, barrier) | Op::Arrive(group, barrier) => {
                self.with_fence(group_method(group, barrier.name), site, at)
            }
            // A wait acquires whatever was released.
            Op::Wait(group, barrier) => group_method(group, barrier.name),
            Op::Uniform(group) => group_method(group, "uniform"),
            Op::Forget(group) => {
                let token = operands.first().map(|token| self.expr(token));
                let (group, arguments) = (Ident::new(group.rust_name(), at.lo), parentheses(at, quote!(#token)));
                quote_spanned!(at.lo=> ::phalanx::ArrivalToken::<::phalanx::#group>::forget #arguments)
            }
            Op::MapSharedRank(_) | Op::MapBarrier(_) => {
                let mapped = group_method(Group::Cluster, "map_shared_rank");
                match self.constant_rank(operands, site) {
                    Some(check) => quote_spanned!(at.lo=> { #check; #mapped }),
                    None => mapped,
                }
            }
            Op::QuerySharedRank => group_method(Group::Cluster, "query_shared_rank"),
            Op::SharedBarrier(..) => quote!(()), // Made by its `let`.
            Op::Barrier(barrier, barrier_method) => {
                let receiver = operands.first().map(|receiver| self.borrowed(receiver));
                let rest = operands.iter().skip(1).map(|operand| match (&operand.kind, operand.result_kind) {
                    (ExprKind::Borrow { target, .. }, Kind::Group(_)) => self.borrowed(target),
                    _ => self.expr(operand),
                });
                let called = call(at, &[barrier.rust_name(), barrier_method.name], quote!(#receiver #(, #rest)*));
                self.with_fence(called, site, at)
            }
            Op::SharedArray(index) => {
                let Some((element, Some(length))) = types else { return quote!(()) };
                let (element, length) = (&element.tokens, &self.function.values[usize::from(length.0)].tokens);
                let array = quote_spanned!(at.lo=> ::phalanx::shared_array::<#element, { #length }>());
                let number = index as u16;
                private(at, "numbered", quote_spanned!(at.lo=> #number, || #array))
            }
            Op::DynamicShared => {
                let Some((element, _)) = types else { return quote!(()) };
                let element = &element.tokens;
                quote_spanned!(at.lo=> ::phalanx::dynamic_shared::<#element>())
            }
            Op::Length if operands.first().is_some_and(|receiver| receiver.memory().is_none()) => {
                let value = operands.first().map(|receiver| self.expr(receiver));
                private(at, "array_len", quote_spanned!(at.lo=> &#value))
            }
            Op::Length => self.on_memory("len", operands, at),
            Op::IsEmpty => self.on_memory("is_empty", operands, at),
            Op::LoadUnchecked => self.on_memory("load_unchecked", operands, at),
            Op::DynamicSharedSlice => {
                let element = types.map(|(element, _)| &element.tokens);
                let arguments = operands.iter().map(|operand| self.expr(operand));
                generic_call(at, &["dynamic_shared_slice"], quote!(#element), quote!(#(#arguments),*))
            }
            Op::Part { form, mutable, .. } => self.part(form, mutable, operands, at),
            Op::SplitAt { mutable, .. } => {
                self.on_memory(if mutable { "split_at_mut" } else { "split_at" }, operands, at)
            }
            Op::LoadVec(lanes) => self.load_vec(lanes, operands, at),
            Op::StoreVec => self.on_memory("store_vec", operands, at),
            Op::LoadMatrix { stored, matrix } => {
                let ty = types.map(|(ty, _)| ty.tokens.clone()).unwrap_or_default();
                let loaded = group_method_of(Group::Tile, stored.load(), ty);
                self.typed(matrix, loaded, at)
            }
            Op::StoreMatrix { stored } => group_method(Group::Tile, stored.store()),
            Op::MmaAsync { product, left, right } => {
                let arguments = operands.iter().enumerate().map(|(index, operand)| {
                    let stored = [(2, left.stored()), (3, right)].contains(&(index, Stored::Transposed));
                    match operand.result_kind {
                        Kind::Memory(_) if stored => {
                            let tile = private(at, "transposed", self.borrowed(operand));
                            quote_spanned!(at.lo=> &#tile)
                        }
                        Kind::Memory(_) => self.borrowed(operand),
                        _ if index == 0 => self.borrowed(operand),
                        _ => self.expr(operand),
                    }
                });
                let path = [Group::Tile.rust_name(), left.method()];
                self.typed(product, generic_call(at, &path, TokenStream::new(), quote!(#(#arguments),*)), at)
            }
            Op::MmaWait { prior: None } => group_method(Group::Tile, "wait_mma"),
            Op::MmaWaitExceptLast { .. } => group_method(Group::Tile, "wait_mma_except_last"),
            Op::MmaWait { prior: Some(prior) } => {
                let prior = &self.function.values[usize::from(prior.0)].tokens;
                group_method_of(Group::Tile, "wait_mma_prior", quote!({ #prior }))
            }
            Op::ChangeRegisters { change, count } => {
                let count = &self.function.values[usize::from(count.0)].tokens;
                let called = group_method_of(Group::Tile, change.name(), quote!({ #count }));
                let (options, increases) = (self.options(at), change == RegisterChange::Increase);
                let check =
                    quote_spanned!(at.lo=> ::phalanx::__private::register_change(#count, #increases, &#options));
                let check = self.evaluated(check, at);
                quote_spanned!(at.lo=> { #check; #called })
            }
            Op::Atomic(atomic) => self.atomic(atomic, operands, at),
            Op::Copy(copy) => self.copy(copy, operands, at),
            Op::Fence(order, scope) => memory::fence(order, scope, at),
            Op::Nanosleep => {
                let duration = operands.first().map(|duration| self.expr(duration));
                call(at, &["nanosleep"], quote!(#duration))
            }
            Op::LaunchDependents => call(at, &["launch_dependents"], TokenStream::new()),
            Op::WaitPrevious => call(at, &["wait_previous"], TokenStream::new()),
            Op::Is(variant @ (Variant::Some | Variant::None)) => {
                of_option(option(), variant.test(), quote_spanned!(at.lo=> &))
            }
            Op::Is(variant @ (Variant::Ok | Variant::Err)) => {
                let result = quote_spanned!(at.lo=> ::core::result::Result);
                of_option(result, variant.test(), quote_spanned!(at.lo=> &))
            }
            Op::Take => of_option(option(), "take", quote_spanned!(at.lo=> &mut)),
            Op::Unwrap => {
                let value = operands.first().map(|value| self.expr(value));
                let text = site.and_then(|site| match &self.function.sites[usize::from(site.0)].message {
                    SiteMessage::Text(text) => Some(text),
                    SiteMessage::None | SiteMessage::Slot(_) => None,
                });
                private(at, "unwrap", quote!(#value, #text))
            }
            Op::UnwrapOr => {
                let values = operands.iter().map(|value| self.expr(value));
                private(at, "unwrap_or", quote!(#(#values),*))
            }
        }
    }

    /// A call whose result is a plain value, or nothing.
    pub(super) fn device_call(&self, callee: &Callee, slot: SlotId, arguments: &[Expr], expr: &Expr) -> TokenStream {
        self.checked_call(callee, slot, arguments, (expr, "plain"))
    }

    /// A call whose result goes through a function of the private API, unless it is a token.
    pub(super) fn checked_call(
        &self,
        callee: &Callee,
        slot: SlotId,
        arguments: &[Expr],
        (expr, check_of_result): (&Expr, &str),
    ) -> TokenStream {
        let lo = expr.span.lo;
        // The span is the name, where rustc reports an error of the function.
        let at = match callee {
            Callee::Function(FunctionPath { name, .. }) => SpanRange::of(name),
            Callee::Associated(_, name, _) | Callee::Method(name, _) => SpanRange::of(name),
            Callee::Operator(operator) => SpanRange::of(&operator.name),
        };
        let place = self.slot(slot, at);
        let of_variable = match callee {
            Callee::Method(..) => arguments.first().and_then(local_of),
            Callee::Function(_) | Callee::Associated(..) | Callee::Operator(_) => None,
        };
        let receivers = self.receivers.iter().copied().chain(of_variable).collect();
        let inside = Host { receivers, ..*self };
        let passed = |argument: &Expr| match (&argument.kind, argument.result_kind) {
            // `&cluster` where `cluster` is a reference already.
            (
                ExprKind::Borrow { target, .. },
                Kind::Group(_) | Kind::Memory(_) | Kind::TensorMap { .. } | Kind::Barrier(_),
            ) => inside.passed(target),
            (ExprKind::Op { op, operands, .. }, _) if op.lends_element() => inside.lent(operands, argument.span),
            _ => inside.expr(argument),
        };
        let given = |skipped: usize| arguments.iter().skip(skipped).map(passed);
        let (value, check) = match callee {
            Callee::Function(function) => {
                let turbofish = &function.turbofish;
                let marker = callee::with_marker(
                    function,
                    |callee| quote_spanned!(function.name.span()=> #callee #turbofish::__phalanx_marker()),
                );
                let marker = private(at, "callee", quote!(#place, #marker));
                let check = self.collectives_check(function, slot);
                let given = given(0);
                (quote_spanned!(at.lo=> #marker.call(#(#given),*)), check)
            }
            Callee::Associated(owner, name, turbofish) => {
                let (given, name) = (given(0), entry_name(name));
                (quote_spanned!(lo=> #owner::#name #turbofish(#(#given,)* #place)), None)
            }
            Callee::Operator(operator) => {
                let (given, function) = (given(0), format!("operator_{}", operator.name));
                (private(expr.span, &function, quote!(#(#given,)* #place)), None)
            }
            Callee::Method(name, turbofish) => {
                let name = entry_name(name);
                // A value without a place is passed behind a shared reference, so that no method changes a temporary.
                let mut indexes = Vec::new();
                let receiver = match of_variable {
                    Some(local) if !self.receivers.contains(&local) => {
                        let place = arguments.first().map(|receiver| inside.receiver(receiver, local, &mut indexes));
                        quote_spanned!(lo=> (#place))
                    }
                    _ => {
                        let value = arguments.first().map(passed);
                        quote_spanned!(lo=> (&#value))
                    }
                };
                let (lets, given) = self.before_receiver(arguments, given(1).collect(), expr.span);
                // The span of `self` resolves as the macro's own names do. A position from it to the name, which is that
                // of the call in reports, would be the attribute's.
                let lo = name.span().located_at(lo);
                let called = quote_spanned!(lo=> #receiver.#name #turbofish(#(#given,)* #place));
                let is_plain = indexes.is_empty() && lets.is_empty();
                (if is_plain { called } else { quote!({ #(#indexes)* #lets #called }) }, None)
            }
        };
        let value = match expr.result_kind {
            Kind::Token(_) | Kind::OptionalToken(Some(_)) => value,
            // No operator gives a token: its operands are values.
            _ if matches!(callee, Callee::Operator(_)) => value,
            // Makes rustc check that this is no token, as the macro assumes.
            _ => private(expr.span, check_of_result, value),
        };
        match check {
            Some(check) => quote!({ #check #value }),
            None => value,
        }
    }

    /// Checks that the callee uses no collective of a group whose arrival is pending or whose token may have been
    /// forgotten, and none at all where its callers may be a part of the group.
    fn collectives_check(&self, function: &FunctionPath, slot: SlotId) -> Option<TokenStream> {
        let (at, callee) = (SpanRange::of(&function.name), callee::summary(function, "UNIFORMITY"));
        let mut checks = Vec::new();
        if self.checked.hidden_calls().contains(&slot) {
            checks.push(private(at, "no_collective_at_all", quote_spanned!(at.lo=> #callee.collectives)));
            if self.checked.function().role == Role::Method {
                let protocol = callee::summary(function, "PROTOCOL");
                checks.push(private(at, "no_wait_for_copies", quote_spanned!(at.lo=> #protocol.behavior)));
                if self.checked.function().is_operator {
                    checks.push(private(at, "no_memory_in_operator", quote_spanned!(at.lo=> &#protocol)));
                }
            }
        } else if let Some(pending) = self.checked.pending_at_calls().get(&slot.0) {
            let pending = constant::groups(*pending);
            checks.push(private(at, "no_collective", quote_spanned!(at.lo=> #callee.collectives, #pending)));
        }
        if let Some((forgotten, text)) = self.checked.forgotten_at_calls().get(&slot.0) {
            let forgotten = constant::groups(*forgotten);
            let arguments = quote_spanned!(at.lo=> #callee.collectives, #forgotten, #text);
            checks.push(private(at, "no_collective_after_forget", arguments));
        }
        (!checks.is_empty()).then(|| quote_spanned!(at.lo=> #(const _: () = #checks;)*))
    }

    /// Prints an argument that is written with `&`. The host body passes slices by value, because they are references
    /// already.
    pub(super) fn passed(&self, target: &Expr) -> TokenStream {
        match target.result_kind {
            Kind::Memory(memory) if memory.is_slice() => self.expr(target),
            Kind::TensorMap { .. } => self.expr(target),
            _ => self.borrowed(target),
        }
    }
}

/// Returns the name of the method that bodies call in place of `name`.
pub(super) fn entry_name(name: &Ident) -> Ident {
    format_ident!("{name}__on_device", span = name.span())
}
