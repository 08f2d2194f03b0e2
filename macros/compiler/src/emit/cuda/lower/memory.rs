//! Lowers parts of memory, vectors and atomics.

use super::Lower;
use crate::emit::cuda::ast::{AtLaunchForm, CuExpr, CuStmt, Fragment};
use crate::emit::cuda::signature::template;
use crate::model::atomic::AtomicUse;
use crate::model::copy::CopyOp;
use crate::model::expr::{Expr, ExprKind};
use crate::model::op::Part;
use crate::model::{LocalId, SiteId, SlotId, ValueId};

/// Lowers a part of memory to a function of subslice.cuh. Rust has checked mutability: `&` and `&mut` are the same
/// here.
pub(super) fn part(form: Part, operands: Vec<CuExpr>, site: Option<SiteId>) -> CuExpr {
    // It has no check.
    let site = site.filter(|_| form != Part::ExactChunk);
    function(part_name(form), operands, site)
}

/// Lowers a part of memory to a function without a check, which a test before it has made.
pub(super) fn unchecked_part(form: Part, operands: Vec<CuExpr>, site: Option<SiteId>) -> CuExpr {
    match form {
        Part::Row => function("row_of_unchecked", operands, None),
        Part::Range => function("subslice_unchecked", operands, None),
        Part::From => function("subslice_from_unchecked", operands, None),
        Part::Inclusive | Part::Chunk | Part::ExactChunk | Part::Array => part(form, operands, site),
    }
}

fn part_name(form: Part) -> &'static str {
    match form {
        Part::Range => "subslice",
        Part::Inclusive => "subslice_inclusive",
        Part::From => "subslice_from",
        Part::Row => "row_of",
        Part::Chunk => "chunk_of",
        Part::ExactChunk => "exact_chunk_of",
        Part::Array => "slice_of",
    }
}

pub(super) fn function(name: &str, arguments: Vec<CuExpr>, site: Option<SiteId>) -> CuExpr {
    CuExpr::Call { callee: vec![name.into()], arguments, site }
}

pub(super) fn load_vec(name: &str, lanes: ValueId, arguments: Vec<CuExpr>, site: Option<SiteId>) -> CuExpr {
    CuExpr::Call { callee: template(name, vec![Fragment::Digits(lanes)]), arguments, site }
}

/// Lowers an asynchronous copy to a function of copy.cuh: `memcpy_async(block, array, slice, bar)`,
/// `wait_prior<1>(block)`.
pub(super) fn copy(copy: CopyOp, mut arguments: Vec<CuExpr>, site: Option<SiteId>) -> CuExpr {
    if let CopyOp::Cooperative { .. } = copy {
        arguments.iter_mut().for_each(locate);
    }
    let callee = match copy {
        CopyOp::Cooperative { .. }
        | CopyOp::Bulk(_)
        | CopyOp::Tensor(_)
        | CopyOp::Store
        | CopyOp::Wait { prior: None, .. } => vec![copy.name().into()],
        CopyOp::Wait { prior: Some(prior), .. } | CopyOp::BulkWait { prior, .. } => {
            template(copy.name(), vec![Fragment::Digits(prior)])
        }
    };
    CuExpr::Call { callee, arguments, site }
}

/// Lets a copy know of which memory a slice is a part.
fn locate(argument: &mut CuExpr) {
    if let CuExpr::AtLaunch { form: AtLaunchForm::Otherwise(unchecked), of, .. } = argument {
        return [unchecked, of].into_iter().for_each(|argument| locate(argument));
    }
    let CuExpr::Call { callee, .. } = argument else { return };
    if *callee == [part_name(Part::Range).into()] {
        *callee = vec!["copied_part".into()];
    } else if *callee == ["subslice_unchecked".into()] {
        *callee = vec!["copied_part_unchecked".into()];
    }
}

/// Lowers an atomic to `memory.atomic(i).scope(s).method(values, orders)`.
pub(super) fn atomic(atomic: AtomicUse, operands: Vec<CuExpr>, site: Option<SiteId>) -> CuExpr {
    let mut operands = operands.into_iter();
    let base = Box::new(operands.next().unwrap_or_else(|| CuExpr::name("0")));
    let index = operands.by_ref().take(1).collect();
    let mut place = CuExpr::Method { base, name: "atomic", arguments: index, site };
    if let Some(scope) = atomic.scope {
        let arguments = vec![CuExpr::name(scope.cuda_name())];
        place = CuExpr::Method { base: Box::new(place), name: "scope", arguments, site: None };
    }
    let orders = atomic.orders.into_iter().flatten().map(|order| CuExpr::name(order.cuda_name()));
    let arguments = operands.chain(orders).collect();
    CuExpr::Method { base: Box::new(place), name: atomic.method.name, arguments, site: None }
}

impl Lower<'_> {
    /// Lowers a split to `auto [left, right] = split_at(memory, mid);`.
    pub(super) fn split(&mut self, halves: [Option<LocalId>; 2], init: &Expr) {
        let names = halves.map(|half| match half {
            Some(local) => self.names.local(local).to_string(),
            None => self.names.fresh("rest"),
        });
        let value = self.value(init);
        let name = format!("[{}]", names.join(", "));
        self.out.push(CuStmt::Declare { ty: vec!["auto".into()], name, init: Some(value) });
    }

    pub(super) fn vector(&mut self, splat: bool, argument: &Expr, slot: SlotId) -> CuExpr {
        let ty = Fragment::Type(slot);
        let of = |name: &str, value| CuExpr::Call {
            callee: vec![ty.clone(), name.into()],
            arguments: vec![value],
            site: None,
        };
        match &argument.kind {
            _ if splat => of("::filled", self.value(argument)),
            ExprKind::Array { elements, .. } => {
                let elements = self.operands(&elements.iter().collect::<Vec<_>>());
                CuExpr::Braces(vec![ty], elements)
            }
            _ => of("::of", self.value(argument)),
        }
    }
}
