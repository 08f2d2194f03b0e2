//! Loops with a constant number of iterations that the compiler of CUDA C++ would unroll too little: `for t in 0..64 { w[t % 16] += w[(t + 9) % 16]; .. }`
//! indexes a local array by its variable. Registers have no addresses, so that the array stays in registers only where each index is a constant.
//! Small loops, the compiler unrolls by itself. An array that the loop also indexes by what is not known before the launch lies in memory in any case.
//!
//! Loops inside may have lengths that the variables of such loops give, as of a triangle: `for k in 0..32 { for j in k + 1..32 { .. } }`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use quote::quote;

use super::Lower;
use super::numbers::{self, count};
use crate::emit::cuda::ast::{Unrolling, Within};
use crate::model::expr::{BinaryOp, Block, Expr, ExprKind, StmtKind};
use crate::model::place::{local_of, may_write};
use crate::model::range::Range;
use crate::model::walk::{Node, nodes, walk, walk_block};
use crate::model::{LocalId, Unroll};

/// The expressions that all iterations evaluate: the least that the compiler may leave a loop, and the most that are worth it. The 64 rounds
/// of SHA-256 are about 10,000.
const SIZES: RangeInclusive<u64> = 128..=12_000;

impl Lower<'_> {
    /// Whether a loop without an attribute is to be unrolled, for an array that it indexes. `outer` has the variables of unrolled loops around
    /// it, with the condition under which they are.
    pub(super) fn unrolled_fully(
        &mut self,
        whole: &Expr,
        outer: &BTreeMap<LocalId, Option<Within>>,
    ) -> Option<Unrolling> {
        let ExprKind::For { local: Some(variable), range, body, .. } = &whole.kind else { return None };
        let around = outer.keys().copied().collect();
        if !keeps_an_array_in_registers(whole, *variable, &around) {
            return None;
        }
        if let Some(count) = range.count() {
            let mut variables = Variables::new();
            length(range, Some(*variable), &mut variables);
            if let Some(size) = size_with(body, variables) {
                return SIZES.contains(&size.saturating_mul(count)).then(|| Unroll::Fully.into());
            }
        }
        if let (Some(count), Some(size)) = (count(self.function, range), numbers::size(self.function, body)) {
            let only_if = self.number_within(quote!(#count.wrapping_mul(#size)), [*SIZES.start(), *SIZES.end()]);
            return Some(Unrolling { unroll: Unroll::Fully, only_if: Some(only_if) });
        }
        // The loop around it has been found small enough with it.
        let only_if = outer.values().copied().reduce(|first, further| first.or(further))?;
        let is_known = |bound: &Expr| match only_if {
            Some(_) => is_constant(bound, &around),
            None => is_known(bound, &around),
        };
        (is_known(&range.start) && is_known(&range.end)).then_some(Unrolling { unroll: Unroll::Fully, only_if })
    }
}

/// Whether a loop indexes an array that stays in registers if it is unrolled.
fn keeps_an_array_in_registers(whole: &Expr, variable: LocalId, outer: &BTreeSet<LocalId>) -> bool {
    let known = constants(whole, variable, outer);
    // What depends on this loop's variable. A loop inside that indexes the array by its own is unrolled without this one.
    let own = dependent(whole, variable);
    let (mut kept, mut in_memory) = (BTreeSet::new(), BTreeSet::new());
    walk(whole, &mut |expr| {
        if let ExprKind::Index { base, index, .. } = &expr.kind
            && let Some(array) = local_of(expr).filter(|_| base.memory().is_none())
            && index.integer().is_none()
        {
            if !is_constant(index, &known) {
                in_memory.insert(array);
            } else if mentions(index, &own) {
                kept.insert(array);
            }
        }
    });
    kept.difference(&in_memory).next().is_some()
}

/// The variable of a loop, and those that are computed of it: by a `let`, or as the variable of a loop whose length it gives.
fn dependent(whole: &Expr, variable: LocalId) -> BTreeSet<LocalId> {
    let mut own = BTreeSet::from([variable]);
    nodes(whole, &mut |node| match node {
        Node::Expr(expr) => {
            if let ExprKind::For { local: Some(local), range, .. } = &expr.kind
                && (mentions(&range.start, &own) || mentions(&range.end, &own))
            {
                own.insert(*local);
            }
        }
        Node::Statement(statement) => {
            if let StmtKind::Let { local, init: Some(init), .. } = &statement.kind
                && mentions(init, &own)
            {
                own.insert(*local);
            }
        }
    });
    own
}

fn mentions(expr: &Expr, variables: &BTreeSet<LocalId>) -> bool {
    let mut found = false;
    walk(expr, &mut |inner| found |= matches!(inner.kind, ExprKind::Local(local) if variables.contains(&local)));
    found
}

/// The number of expressions that a loop's body evaluates. `None` if it calls a function or has a loop whose length is not known.
pub(super) fn size(body: &Block) -> Option<u64> {
    size_with(body, Variables::new())
}

/// The least and the largest value of variables of loops.
type Variables = BTreeMap<LocalId, [i64; 2]>;

fn size_with(body: &Block, mut variables: Variables) -> Option<u64> {
    size_by(body, |expr| match &expr.kind {
        ExprKind::For { local, range, .. } => length(range, *local, &mut variables),
        ExprKind::While { .. } | ExprKind::Loop { .. } | ExprKind::Call { .. } => None,
        _ => Some(1),
    })
}

/// The number of expressions of a body, each as often as those around it repeat it. `None` if one of them does not say how often.
pub(super) fn size_by<'e>(body: &'e Block, mut repeats: impl FnMut(&'e Expr) -> Option<u64>) -> Option<u64> {
    let mut expressions = Vec::new();
    walk_block(body, &mut |expr| expressions.push(expr));
    let mut size = 0u64;
    // The expressions around one that repeat it: the number of the first that is behind each, and how often those inside are counted.
    let mut around: Vec<(usize, u64)> = Vec::new();
    for (at, expr) in expressions.into_iter().enumerate() {
        while around.last().is_some_and(|(end, _)| *end <= at) {
            around.pop();
        }
        let times = around.last().map_or(1, |(_, times)| *times);
        size = size.saturating_add(times);
        let repeats = repeats(expr)?;
        if repeats != 1 {
            let mut inside = 0;
            walk(expr, &mut |_| inside += 1);
            around.push((at + inside, times.saturating_mul(repeats)));
        }
    }
    Some(size)
}

/// The number of iterations of a loop, the mean of the least and the largest one, if literals and the variables of loops around it give it.
fn length(range: &Range, local: Option<LocalId>, variables: &mut Variables) -> Option<u64> {
    let [first, last_first] = interval(&range.start, variables)?;
    let [first_end, end] = interval(&range.end, variables)?;
    variables.extend(local.map(|local| (local, [first, end])));
    let [least, most] = [first_end.checked_sub(last_first)?, end.checked_sub(first)?].map(|length| length.max(0));
    Some((least.checked_add(most)? / 2) as u64 + u64::from(range.inclusive))
}

fn interval(expr: &Expr, variables: &Variables) -> Option<[i64; 2]> {
    match &expr.kind {
        ExprKind::Int { .. } => expr.integer().and_then(|number| i64::try_from(number).ok()).map(|number| [number; 2]),
        ExprKind::Local(local) => variables.get(local).copied(),
        ExprKind::Cast(inner, _) | ExprKind::Typed(inner, _) => interval(inner, variables),
        ExprKind::Binary { op, left, right, .. } => {
            let ([a, b], [c, d]) = (interval(left, variables)?, interval(right, variables)?);
            match op {
                BinaryOp::Add => Some([a.checked_add(c)?, b.checked_add(d)?]),
                BinaryOp::Sub => Some([a.checked_sub(d)?, b.checked_sub(c)?]),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The variables that are constants once a loop is unrolled: those of it and of such loops inside, and what is computed of them.
fn constants(whole: &Expr, variable: LocalId, outer: &BTreeSet<LocalId>) -> BTreeSet<LocalId> {
    let mut known = outer.clone();
    known.insert(variable);
    nodes(whole, &mut |node| match node {
        Node::Expr(expr) => {
            if let ExprKind::For { local: Some(local), range, .. } = &expr.kind
                && is_constant(&range.start, &known)
                && is_constant(&range.end, &known)
            {
                known.insert(*local);
            }
        }
        Node::Statement(statement) => {
            if let StmtKind::Let { local, init: Some(init), .. } = &statement.kind
                && is_constant(init, &known)
                && !may_write(whole, *local)
            {
                known.insert(*local);
            }
        }
    });
    known
}

/// Whether an expression is computed of constants, also those that have names, and of these variables.
pub(super) fn is_constant(expr: &Expr, known: &BTreeSet<LocalId>) -> bool {
    is_computed(expr, known, true)
}

/// Whether an expression is computed of literals and of these variables.
fn is_known(expr: &Expr, known: &BTreeSet<LocalId>) -> bool {
    is_computed(expr, known, false)
}

/// Whether an expression is computed of literals, of these variables and, if they count, of constants that have names.
fn is_computed(expr: &Expr, known: &BTreeSet<LocalId>, of_names: bool) -> bool {
    match &expr.kind {
        ExprKind::Int { .. } => true,
        ExprKind::Constant(_) => of_names,
        ExprKind::Local(local) => known.contains(local),
        ExprKind::Cast(inner, _) | ExprKind::Typed(inner, _) => is_computed(inner, known, of_names),
        ExprKind::Binary { left, right, .. } => {
            is_computed(left, known, of_names) && is_computed(right, known, of_names)
        }
        _ => false,
    }
}
