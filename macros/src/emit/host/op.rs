//! One arm an operation, by its full path: where the macro takes `x.sync()` for `Cluster::sync`, the host body says
//! `Cluster::sync(&x)`, so that a wrong guess is a type error. Matched without a wildcard.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::{Host, call, private};
use crate::model::expr::{Expr, ExprKind};
use crate::model::op::Op;
use crate::model::ty::{Group, Kind, ValueType};
use crate::model::{SiteId, SlotId, ValueId};
use crate::span::SpanRange;

impl Host<'_> {
    pub(super) fn op(
        &self,
        op: Op,
        operands: &[Expr],
        site: Option<SiteId>,
        types: Option<&(ValueType, Option<ValueId>)>,
        at: SpanRange,
    ) -> TokenStream {
        let group_method = |group: Group, name: &str| {
            let receiver = operands.first().map(|receiver| self.borrowed(receiver));
            let rest = operands.iter().skip(1).map(|operand| match operand.gives {
                Kind::Memory(_) => self.borrowed(operand),
                _ => self.expr(operand),
            });
            call(at, &[group.rust_name(), name], quote!(#receiver #(, #rest)*))
        };
        let method = |name: &str| {
            let receiver = operands.first().map(|receiver| self.operand(receiver));
            let name = proc_macro2::Ident::new(name, at.hi);
            quote_spanned!(at.lo=> #receiver.#name())
        };
        match op {
            Op::This(Group::ThreadBlock) => call(at, &["this_thread_block"], TokenStream::new()),
            Op::This(Group::Cluster) => call(at, &["this_cluster"], TokenStream::new()),
            Op::This(Group::Grid) => call(at, &["this_grid"], TokenStream::new()),
            Op::Query(group, query) => group_method(group, query.name),
            Op::Sync(group) => group_method(group, "sync"),
            Op::Arrive(group) => group_method(group, "barrier_arrive"),
            Op::Wait(group) => group_method(group, "barrier_wait"),
            Op::MapSharedRank(_) => group_method(Group::Cluster, "map_shared_rank"),
            Op::QuerySharedRank => group_method(Group::Cluster, "query_shared_rank"),
            Op::SharedArray(_) | Op::DynamicShared => {
                let lo = at.lo;
                let Some((element, length)) = types else { return quote!(()) };
                let element = &element.tokens;
                match length {
                    Some(length) => {
                        let length = &self.function.values[usize::from(length.0)].tokens;
                        quote_spanned!(lo=> ::phalanx::shared_array::<#element, { #length }>())
                    }
                    None => quote_spanned!(lo=> ::phalanx::dynamic_shared::<#element>()),
                }
            }
            Op::Length => method("len"),
            Op::LoadUnchecked => {
                let memory = operands.first().map(|memory| self.borrowed(memory));
                let index = operands.get(1).map(|index| self.expr(index));
                private(at, "load_unchecked", quote!(#memory, #index))
            }
            Op::Atomic(atomic) => {
                let memory = operands.first().map(|memory| self.borrowed(memory));
                let index = operands.get(1).map(|index| self.expr(index));
                let place = private(at, "atomic", quote!(#memory, #index));
                let values = operands.iter().skip(2).map(|operand| self.expr(operand));
                let orderings = std::iter::repeat_n(quote!(::core::sync::atomic::Ordering::Relaxed), atomic.orderings);
                let arguments = values.chain(orderings);
                let name = proc_macro2::Ident::new(atomic.name, at.lo);
                quote_spanned!(at.lo=> #place.#name(#(#arguments),*))
            }
            Op::Is(variant) => method(variant.test()),
            Op::Take => method("take"),
            Op::Unwrap => {
                let value = operands.first().map(|value| self.expr(value));
                let message = site.map(|site| self.message(site));
                private(at, "unwrap", quote!(#value, #message))
            }
            Op::UnwrapOr => {
                let values = operands.iter().map(|value| self.expr(value));
                private(at, "unwrap_or", quote!(#(#values),*))
            }
        }
    }

    pub(super) fn device_call(&self, path: &TokenStream, slot: SlotId, arguments: &[Expr], expr: &Expr) -> TokenStream {
        let lo = expr.span.lo;
        let place = self.slot(slot, expr.span);
        let arguments = arguments.iter().map(|argument| match (&argument.kind, argument.gives) {
            // `&cluster` where `cluster` is a reference already.
            (ExprKind::Borrow { target, .. }, Kind::Group(_) | Kind::Memory(_)) => self.passed(target),
            _ => self.expr(argument),
        });
        let value = quote_spanned!(lo=> ::phalanx::__private::callee(#place, <#path as ::phalanx::__private::DeviceFunction>::marker()).call(#(#arguments),*));
        let check = self.pending.get(&slot.0).map(|groups| {
            quote_spanned!(lo=> const _: () = ::phalanx::__private::no_collective(<#path as ::phalanx::__private::Function>::COLLECTIVES, #groups);)
        });
        let value = match expr.gives {
            Kind::Token(_) | Kind::OptionalToken(Some(_)) => value,
            // Holds rustc to the macro's view that this is no token.
            _ => private(expr.span, "plain", value),
        };
        match check {
            Some(check) => quote!({ #check #value }),
            None => value,
        }
    }

    /// An argument written with `&`. Slices go by value in the host body: they are references already.
    fn passed(&self, target: &Expr) -> TokenStream {
        use crate::model::ty::Memory;
        match target.gives {
            Kind::Memory(Memory::Global | Memory::GlobalMut) => self.expr(target),
            _ => self.borrowed(target),
        }
    }
}
