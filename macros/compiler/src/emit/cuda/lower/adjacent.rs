//! Loops with a constant number of iterations over elements that are next to each other: `for k in 0..8 { sum += w[k] * x[i * 8 + k]; }`,
//! `for (sum, &x) in sums.iter_mut().zip(&x[i * 8..])` over the elements of an array, and loops over chunks of which they take element by element.
//! Once it has unrolled such a loop, the compiler of CUDA C++ joins the accesses to a few of 16 bytes, if it knows that the first is
//! aligned (arguments.cuh). It joins no loads past the coherent path, which need no order with stores: where a loop
//! stores nothing, these gain nothing either, and plain ones take their place.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use proc_macro2::TokenStream;

use super::Lower;
use super::access::{Access, AccessForm, Region};
use super::bounded::lengths;
use super::guards::Limitable;
use super::intervals::Values;
use super::numbers::count;
use crate::emit::cuda::ast::{CuExpr, Fragment};
use crate::emit::cuda::signature::template;
use crate::model::expr::{BinaryOp, Block, Callee, Expr, ExprKind};
use crate::model::facts::Effect;
use crate::model::kind::{Kind, Memory};
use crate::model::op::{Op, Part};
use crate::model::place::local_of;
use crate::model::range::Range;
use crate::model::walk::walk_block;
use crate::model::{Function, LocalId, SiteId, ValueId};

/// The numbers of iterations of a loop that the compiler unrolls and that have something to join.
const ROUNDS: RangeInclusive<u64> = 2..=32;

/// How many elements are next to each other.
#[derive(Clone, Copy)]
pub(super) enum Neighbours {
    /// A few, as the text says.
    Few,
    /// So many as constants with names give.
    Number(ValueId),
    /// As many as this variable has, if it is an array.
    Length(LocalId),
}

/// The number of iterations of a loop, by what gives it.
pub(super) enum Rounds {
    Literal(u64),
    Named(TokenStream),
    Length(LocalId),
    /// Nothing that is known.
    Other,
}

impl Rounds {
    /// Returns the number, unless the loop has too many iterations, or skips some.
    pub(super) fn of(function: &Function, range: &Range) -> Option<Rounds> {
        if !range.adaptors.is_empty() {
            return None;
        }
        if let Some(literal) = range.count() {
            return ROUNDS.contains(&literal).then_some(Rounds::Literal(literal));
        }
        let named = count(function, range).map(Rounds::Named);
        Some(named.or_else(|| array_of(&range.end).map(Rounds::Length)).unwrap_or(Rounds::Other))
    }
}

impl Lower<'_> {
    /// Lowers an access without a check to an element that is next to those of other iterations.
    pub(super) fn adjacent_place(&mut self, of: Neighbours, base: &Expr, index: &Expr, changes_later: bool) -> CuExpr {
        let number = match of {
            Neighbours::Few => return self.unchecked_place("get_adjacent", base, index, changes_later),
            Neighbours::Number(number) => vec![Fragment::Digits(number)],
            Neighbours::Length(array) => {
                vec![Fragment::Text(format!("length_of<decltype({})>()", self.names.local(array)))]
            }
        };
        let (base, index) = self.indexed(base, index, changes_later);
        CuExpr::Call { callee: template("get_adjacent_of", number), arguments: vec![base, index], site: None }
    }
}

impl Values<'_, '_, '_> {
    /// Returns the accesses to global memory whose indexes the loop raises by one in each iteration, or that it makes to the elements of a chunk.
    pub(super) fn adjacent(&mut self) -> Vec<(SiteId, Neighbours)> {
        let ExprKind::For { local: Some(variable), range, body, .. } = &self.nest.whole.kind else { return Vec::new() };
        let Some(rounds) = Rounds::of(self.lower.function, range) else { return Vec::new() };
        let (stored, is_changed) = stores(body, |closure| self.lower.is_pure(closure));
        let (mut found, mut of_chunks) = (Vec::new(), Vec::new());
        for (_, access) in self.nest.accesses.clone() {
            let Some(Access { site, memory, index, form: AccessForm::Element }) = Access::of(access) else { continue };
            // An element that is an array or a vector is loaded as a whole, plainly.
            let is_part = matches!(memory.kind, ExprKind::Index { .. } | ExprKind::Field { .. });
            let is_global = matches!(memory.memory(), Some(Memory::Global | Memory::GlobalMut));
            if !is_global
                || is_part
                || is_changed && !stored.contains(&site)
                || self.nest.conditional.contains_key(&site)
            {
                continue;
            }
            let steps = || steps_by_one(index, *variable, &|local| self.named(local), &|part| self.is_evaluable(part));
            if !matches!(rounds, Rounds::Other) && steps() {
                found.push(site);
            } else if index.integer().is_some() && self.is_chunk(memory) {
                of_chunks.push(site);
            }
        }
        let neighbours = match rounds {
            Rounds::Named(number) if !found.is_empty() => Neighbours::Number(self.lower.number(number)),
            Rounds::Length(array) => Neighbours::Length(array),
            Rounds::Literal(_) | Rounds::Named(_) | Rounds::Other => Neighbours::Few,
        };
        let found = found.into_iter().map(|site| (site, neighbours));
        found.chain(of_chunks.into_iter().map(|site| (site, Neighbours::Few))).collect()
    }

    /// Whether memory is a chunk that the loop takes in its iteration.
    fn is_chunk(&self, memory: &Expr) -> bool {
        let ExprKind::Local(local) = memory.kind else { return false };
        let is_chunk = |init: &Expr| {
            matches!(init.kind, ExprKind::Op { op: Op::Part { form: Part::Chunk | Part::ExactChunk, .. }, .. })
        };
        self.init(local).is_some_and(is_chunk)
    }
}

/// Whether an index is a variable, and what the loop does not change, also under a name.
pub(super) fn steps_by_one<'e>(
    index: &Expr,
    variable: LocalId,
    named: &impl Fn(LocalId) -> Option<&'e Expr>,
    is_fixed: &impl Fn(&Expr) -> bool,
) -> bool {
    let steps = |index: &Expr| steps_by_one(index, variable, named, is_fixed);
    match &index.kind {
        ExprKind::Local(local) => *local == variable || named(*local).is_some_and(steps),
        ExprKind::Cast(inner, _) => steps(inner),
        ExprKind::Binary { op: BinaryOp::Add, left, right, .. } => {
            steps(left) && is_fixed(right) || steps(right) && is_fixed(left)
        }
        _ => false,
    }
}

/// Whether a call of a function passes nothing by which it could change what others see.
pub(super) fn passes_values(callee: &Callee, arguments: &[Expr]) -> bool {
    let is_value = |argument: &Expr| argument.result_kind == Kind::Value;
    !matches!(callee, Callee::Method(..)) && arguments.iter().all(is_value)
}

/// Returns the local array whose length a number is at most.
fn array_of(number: &Expr) -> Option<LocalId> {
    let mut arrays = Vec::new();
    lengths(number, &mut |of| {
        if let ExprKind::Deref(reference) = &of.kind {
            arrays.extend(local_of(reference));
        }
    });
    arrays.first().copied()
}

/// Returns the elements of memory that a body assigns, and whether it changes any memory, or may. `is_pure` tells of a closure that has a name.
fn stores(body: &Block, is_pure: impl Fn(LocalId) -> bool) -> (BTreeSet<SiteId>, bool) {
    let (mut stored, mut is_changed) = (BTreeSet::new(), false);
    walk_block(body, &mut |expr| match &expr.kind {
        ExprKind::Assign(place, _) | ExprKind::AssignOp { place, .. } => {
            if let Some(access) = Access::of(place).filter(|access| access.memory.memory().is_some()) {
                is_changed = true;
                stored.insert(access.site);
            }
        }
        ExprKind::Op { op, .. } => is_changed |= op.facts().effect == Effect::Changes,
        // A method may change its receiver.
        ExprKind::Call { callee: Callee::Method(..), arguments, .. } => {
            let is_own = |argument: &Expr| argument.result_kind == Kind::Value && argument.memory().is_none();
            is_changed |= !arguments.iter().all(is_own);
        }
        ExprKind::Call { callee, arguments, .. } => is_changed |= !passes_values(callee, arguments),
        ExprKind::CallClosure { closure, .. } => is_changed |= !is_pure(*closure),
        ExprKind::Cuda(_) => is_changed = true,
        _ => {}
    });
    (stored, is_changed)
}
