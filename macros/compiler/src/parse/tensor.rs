//! Copies between tensors in global memory and tiles in shared memory: `map.load_async([row, column], &tile, &bar)` and
//! its like. The blocks that receive a multicast are written out here, as a list of ranks.

use quote::quote_spanned;
use syn::ExprMethodCall;

use super::Parser;
use super::syntax::strip;
use crate::messages;
use crate::model::Role;
use crate::model::barrier::BarrierScope;
use crate::model::copy::{CopyOp, TensorCopy};
use crate::model::expr::Expr;
use crate::model::group::Group;
use crate::model::kind::{Kind, Memory};
use crate::model::op::Op;
use crate::span::SpanRange;

impl Parser<'_> {
    /// Parses a method of a tensor's map.
    pub(super) fn tensor_copy(&mut self, mutable: bool, map: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let name = call.method.to_string();
        let Some(copy) = TensorCopy::by_name(&name) else {
            return self.error(messages::unknown_method(SpanRange::of(&call.method), &name, map.result_kind));
        };
        if let Some(turbofish) = &call.turbofish {
            let at = SpanRange::of(turbofish);
            let diag = messages::unsupported_syntax(at, "type arguments of this method are");
            return self.error(diag.help("remove them: the tile's type is that of the map"));
        }
        if copy.writes() && !mutable {
            return self.error(messages::read_only_tensor(map.span));
        }
        if call.args.len() != copy.arguments() {
            let diag = messages::argument_count(span, &name, copy.arguments(), call.args.len());
            return self.error(diag.help(format!("write `{}`", copy.form())));
        }
        if matches!(copy, TensorCopy::Multicast | TensorCopy::Expect) && self.function.role != Role::Kernel {
            return self.error(messages::multicast_in_function(span, copy.name()));
        }
        let mut operands = vec![map];
        let mut arguments = call.args.iter();
        if copy != TensorCopy::Expect
            && let Some(first) = arguments.next()
        {
            let Some(coordinates) = self.coordinates(first, copy) else { return Expr::error(span) };
            operands.push(coordinates);
        }
        if let Some(tile) = arguments.next() {
            let Some(tile) = self.shared_argument(tile, &copy.form()) else { return Expr::error(span) };
            let Kind::Memory(Memory::SharedArray | Memory::SharedSlice) = tile.result_kind else {
                return self.error(messages::copied_tile(tile.span, tile.result_kind));
            };
            operands.push(tile);
        }
        if let Some(argument) = arguments.next() {
            let Some(bar) = self.completion_barrier(argument, false) else { return Expr::error(span) };
            if matches!(copy, TensorCopy::Multicast | TensorCopy::Expect)
                && !matches!(bar.result_kind, Kind::Barrier(barrier) if barrier.scope == BarrierScope::Cluster)
            {
                return self.error(messages::multicast_barrier(SpanRange::of(argument)));
            }
            operands.push(bar);
        }
        if let Some(ranks) = arguments.next() {
            let Some(ranks) = self.receivers(ranks) else { return Expr::error(span) };
            operands.push(ranks);
        }
        self.op(Op::Copy(CopyOp::Tensor(copy)), operands, span)
    }

    /// Parses the blocks that receive a multicast, `&cluster`, `cluster.row()`, `cluster.column()` or `[0, 1]`, as the list of their
    /// ranks.
    fn receivers(&mut self, receivers: &syn::Expr) -> Option<Expr> {
        let at = SpanRange::of(receivers);
        let (cluster, which) = match strip(receivers) {
            syn::Expr::Array(list) if list.elems.is_empty() => {
                self.diags.push(messages::receivers(at));
                return None;
            }
            syn::Expr::Array(_) => return Some(self.value(receivers)),
            syn::Expr::Reference(reference) => (&*reference.expr, Receivers::All),
            syn::Expr::MethodCall(call) if call.method == "row" && call.args.is_empty() => {
                (&*call.receiver, Receivers::Row)
            }
            syn::Expr::MethodCall(call) if call.method == "column" && call.args.is_empty() => {
                (&*call.receiver, Receivers::Column)
            }
            _ => {
                self.diags.push(messages::receivers(at));
                return None;
            }
        };
        let group = self.place(cluster);
        match group.result_kind {
            Kind::Group(Group::Cluster) => {}
            Kind::Unknown => return None,
            _ => {
                self.diags.push(messages::receivers(at));
                return None;
            }
        }
        let extents = self.options.cluster.as_ref().map(|extents| &extents.each[..]).unwrap_or_default();
        let literals: Option<Vec<u32>> = extents.iter().map(|extent| u32::try_from(extent.literal?).ok()).collect();
        let Some([x, y, z]) = literals.and_then(|literals| shape(&literals)) else {
            self.diags.push(messages::receivers_of_unknown_cluster(at));
            return None;
        };
        let rank = quote_spanned!(at.lo=> #cluster.block_rank());
        let ranks: Vec<_> = match which {
            Receivers::All => (0..x * y * z).map(|rank| quote_spanned!(at.lo=> #rank)).collect(),
            // The blocks of a cluster are numbered along x first.
            Receivers::Row => (0..x).map(|i| quote_spanned!(at.lo=> #rank / #x * #x + #i)).collect(),
            Receivers::Column => {
                let plane = x * y;
                (0..y)
                    .map(|i| i * x)
                    .map(|i| quote_spanned!(at.lo=> #rank / #plane * #plane + #rank % #x + #i))
                    .collect()
            }
        };
        let list = syn::parse2(quote_spanned!(at.lo=> [#(#ranks),*])).ok()?;
        Some(self.value(&list))
    }

    /// Parses the coordinates of a tile's first element, one for each dimension.
    fn coordinates(&mut self, coordinates: &syn::Expr, copy: TensorCopy) -> Option<Expr> {
        if let syn::Expr::Array(array) = strip(coordinates)
            && array.elems.len() > MAX_RANK
        {
            self.diags.push(messages::tensor_rank(SpanRange::of(array), array.elems.len(), &copy.form()));
            return None;
        }
        Some(self.value(coordinates))
    }
}

/// The blocks that receive a multicast.
#[derive(Debug, Clone, Copy)]
enum Receivers {
    All,
    /// The blocks with the same y and z as the block itself.
    Row,
    /// The blocks with the same x and z.
    Column,
}

/// The shape of a cluster that the launch can have.
fn shape(extents: &[u32]) -> Option<[u32; 3]> {
    let of = |dimension: usize| extents.get(dimension).copied().unwrap_or(1);
    let shape = [of(0), of(1), of(2)];
    let blocks = shape.iter().try_fold(1u32, |blocks, extent| blocks.checked_mul(*extent));
    (!extents.is_empty() && blocks.is_some_and(|blocks| (1..=MAX_BLOCKS).contains(&blocks))).then_some(shape)
}

/// The most blocks that a cluster has.
const MAX_BLOCKS: u32 = 16;

/// The most dimensions that a tensor has (PTX ISA, Tensors).
const MAX_RANK: usize = 5;
