//! Asynchronous copies: the kinds of source and destination decide the form of the copy.

use syn::{ExprMethodCall, PathArguments, PathSegment};

use super::Parser;
use super::syntax::Arguments;
use crate::messages;
use crate::model::Role;
use crate::model::barrier::BarrierForm;
use crate::model::copy::{BulkDirection, CopyOp};
use crate::model::expr::Expr;
use crate::model::group::Group;
use crate::model::kind::{Kind, Memory};
use crate::model::op::Op;
use crate::span::SpanRange;

impl Parser<'_> {
    /// Parses a call of one of the copy functions.
    pub(super) fn copy(&mut self, segment: &PathSegment, arguments: &Arguments, span: SpanRange) -> Option<Expr> {
        Some(match segment.ident.to_string().as_str() {
            "memcpy_async" => self.memcpy_async(arguments, span),
            "bulk_copy_async" => self.bulk_copy(arguments, span),
            name @ ("bulk_wait_group" | "bulk_wait_group_read") => {
                let read = name == "bulk_wait_group_read";
                let Some(prior) = self.length_argument(&segment.arguments, 0) else {
                    return Some(self.error(messages::turbofish(span, name, &format!("{name}::<0>()"))));
                };
                if !arguments.is_empty() {
                    return Some(self.error(messages::argument_count(span, name, 0, arguments.len())));
                }
                if self.function.role == Role::Method {
                    return Some(self.error(messages::wait_in_method(span)));
                }
                self.op(Op::Copy(CopyOp::BulkWait { read, prior }), Vec::new(), span)
            }
            _ => return None,
        })
    }

    fn memcpy_async(&mut self, arguments: &Arguments, span: SpanRange) -> Expr {
        if !(3..=4).contains(&arguments.len()) {
            return self.error(messages::copy_form(span));
        }
        let copies = |group: Group| group.is_of_a_warp() || group == Group::ThreadBlock;
        let group = self.group_argument(&arguments[0], "a block, a tile or a coalesced group", copies);
        let (to, from) = (self.copied(&arguments[1]), self.copied(&arguments[2]));
        let bar = arguments.get(3).map(|bar| self.completion_barrier(bar, false));
        let (Some((group, first)), Some(to), Some(from)) = (group, to, from) else { return Expr::error(span) };
        if self.bulk_direction(&to, &from) != Some(BulkDirection::GlobalToShared) {
            return self.error(messages::copy_ends(span, "memcpy_async"));
        }
        let mut operands = vec![first, to, from];
        let to_barrier = bar.is_some();
        match bar {
            Some(None) => return Expr::error(span),
            Some(Some(bar)) => operands.push(bar),
            None => {}
        }
        self.op(Op::Copy(CopyOp::Cooperative { group, to_barrier }), operands, span)
    }

    fn bulk_copy(&mut self, arguments: &Arguments, span: SpanRange) -> Expr {
        if !(2..=3).contains(&arguments.len()) {
            return self.error(messages::bulk_copy_form(span));
        }
        let (to, from) = (self.copied(&arguments[0]), self.copied(&arguments[1]));
        let (Some(to), Some(from)) = (to, from) else { return Expr::error(span) };
        let direction = match self.bulk_direction(&to, &from) {
            Some(direction) if (direction == BulkDirection::SharedToGlobal) == (arguments.len() == 2) => direction,
            Some(_) => return self.error(messages::bulk_copy_form(span)),
            None => return self.error(messages::copy_ends(span, "bulk_copy_async")),
        };
        if to.result_kind == Kind::Memory(Memory::Global) {
            return self.error(messages::read_only_memory(to.span));
        }
        let mut operands = vec![to, from];
        if let Some(bar) = arguments.get(2) {
            match self.completion_barrier(bar, direction == BulkDirection::SharedToPeer) {
                Some(bar) => operands.push(bar),
                None => return Expr::error(span),
            }
        }
        self.op(Op::Copy(CopyOp::Bulk(direction)), operands, span)
    }

    /// Parses `remote.store_async(i, value, &bar)`.
    pub(super) fn store_async(&mut self, memory: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let (Some(index), Some(value), Some(bar), 3) =
            (call.args.get(0), call.args.get(1), call.args.get(2), call.args.len())
        else {
            return self.error(messages::argument_count(span, "store_async", 3, call.args.len()));
        };
        let index = self.beside(index);
        self.require_value(&index);
        let value = self.value(value);
        let bar = self.completion_barrier(bar, true);
        if !matches!(memory.result_kind, Kind::Memory(Memory::RemoteArray | Memory::RemoteSlice)) {
            return self.error(messages::store_async_target(memory.span));
        }
        match bar {
            Some(bar) => self.op(Op::Copy(CopyOp::Store), vec![memory, index, value, bar], span),
            None => Expr::error(span),
        }
    }

    /// Parses `group.wait_async()` or `group.wait_prior::<1>()`, if the call is one of them and is right.
    pub(super) fn copy_wait(&mut self, group: Group, call: &ExprMethodCall, span: SpanRange) -> Option<Option<Op>> {
        let name = call.method.to_string();
        let copies = group.is_of_a_warp() || group == Group::ThreadBlock;
        let prior = match name.as_str() {
            "wait_async" if copies => None,
            "wait_prior" if copies => {
                let turbofish = call.turbofish.clone().map(PathArguments::AngleBracketed);
                let prior = turbofish.and_then(|turbofish| self.length_argument(&turbofish, 0));
                match prior {
                    Some(prior) => Some(prior),
                    None => {
                        self.diags.push(messages::turbofish(span, &name, "group.wait_prior::<1>()"));
                        return Some(None);
                    }
                }
            }
            _ => return None,
        };
        if !call.args.is_empty() {
            self.diags.push(messages::argument_count(span, &name, 0, call.args.len()));
            return Some(None);
        }
        Some(Some(Op::Copy(CopyOp::Wait { group, prior })))
    }

    /// Parses the source or the destination of a copy: memory, by reference.
    fn copied(&mut self, argument: &syn::Expr) -> Option<Expr> {
        let memory = match argument {
            syn::Expr::Reference(reference) => self.borrowed_place(reference),
            other => self.expr(other),
        };
        match memory.result_kind {
            Kind::Memory(_) => Some(memory),
            Kind::Unknown => None,
            kind => {
                let at = SpanRange::of(argument);
                self.diags.push(messages::wrong_kind(at, "memory to copy", kind));
                None
            }
        }
    }

    fn bulk_direction(&self, to: &Expr, from: &Expr) -> Option<BulkDirection> {
        let (Kind::Memory(to), Kind::Memory(from)) = (to.result_kind, from.result_kind) else { return None };
        let side = |memory| match memory {
            Memory::Global | Memory::GlobalMut => 0,
            Memory::SharedArray | Memory::SharedSlice => 1,
            Memory::RemoteArray | Memory::RemoteSlice => 2,
        };
        match (side(to), side(from)) {
            (1, 0) => Some(BulkDirection::GlobalToShared),
            (2, 1) => Some(BulkDirection::SharedToPeer),
            (0, 1) => Some(BulkDirection::SharedToGlobal),
            _ => None,
        }
    }

    /// Parses the barrier on which a copy completes: the block's own, or a peer's.
    pub(super) fn completion_barrier(&mut self, argument: &syn::Expr, remote: bool) -> Option<Expr> {
        let barrier = match argument {
            syn::Expr::Reference(reference) if reference.mutability.is_none() => self.expr(&reference.expr),
            other => self.expr(other),
        };
        let expected = if remote { "a peer's barrier" } else { "a barrier of the thread's own block" };
        match barrier.result_kind {
            Kind::Unknown => None,
            Kind::Barrier(found)
                if found.form != BarrierForm::Array && (found.form == BarrierForm::Remote) == remote =>
            {
                let by_reference = matches!(argument, syn::Expr::Reference(_)) || self.is_reference(&barrier) || remote;
                if !by_reference {
                    self.diags.push(messages::barrier_by_value(barrier.span));
                }
                by_reference.then_some(barrier)
            }
            kind => {
                self.diags.push(messages::completion_barrier(SpanRange::of(argument), expected, kind));
                None
            }
        }
    }
}
