//! Loops with a constant number of iterations that the compiler of CUDA C++ would unroll too little: `for t in 0..64 { w[t % 16] += w[(t + 9) % 16]; .. }`
//! indexes a local array by its variable. Registers have no addresses, so that the array stays in registers only where each index is a constant.
//! Small loops, the compiler unrolls by itself. An array that the loop also indexes by what is not known before the launch lies in memory in any case.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::model::LocalId;
use crate::model::expr::{Block, Expr, ExprKind, StmtKind};
use crate::model::place::{local_of, may_write};
use crate::model::walk::{Node, nodes, walk, walk_block};

/// The expressions that all iterations evaluate: the least that the compiler may leave a loop, and the most that are worth it. The 64 rounds
/// of SHA-256 are about 10,000.
const SIZES: RangeInclusive<u64> = 128..=12_000;

/// Whether a loop without an attribute is to be unrolled, for an array that it indexes.
pub(super) fn is_unrolled(whole: &Expr) -> bool {
    let ExprKind::For { local: Some(variable), range, body, .. } = &whole.kind else { return false };
    let evaluated = range.count().and_then(|count| Some(size(body)?.saturating_mul(count)));
    evaluated.is_some_and(|evaluated| SIZES.contains(&evaluated)) && keeps_an_array_in_registers(whole, *variable)
}

/// Whether a loop indexes an array that stays in registers if it is unrolled.
fn keeps_an_array_in_registers(whole: &Expr, variable: LocalId) -> bool {
    let known = constants(whole, variable);
    let (mut kept, mut in_memory) = (BTreeSet::new(), BTreeSet::new());
    walk(whole, &mut |expr| {
        if let ExprKind::Index { base, index, .. } = &expr.kind
            && let Some(array) = local_of(expr).filter(|_| base.memory().is_none())
            && index.integer().is_none()
        {
            let of = if is_constant(index, &known) { &mut kept } else { &mut in_memory };
            of.insert(array);
        }
    });
    kept.difference(&in_memory).next().is_some()
}

/// The number of expressions that a loop's body evaluates. `None` if it calls a function or has a loop whose length is not known.
pub(super) fn size(body: &Block) -> Option<u64> {
    let mut expressions = Vec::new();
    walk_block(body, &mut |expr| expressions.push(expr));
    let mut size = 0u64;
    // The loops around an expression: the number of the first that is behind each, and how often those inside are evaluated.
    let mut around: Vec<(usize, u64)> = Vec::new();
    for (at, expr) in expressions.into_iter().enumerate() {
        while around.last().is_some_and(|(end, _)| *end <= at) {
            around.pop();
        }
        let times = around.last().map_or(1, |(_, times)| *times);
        size = size.saturating_add(times);
        match &expr.kind {
            ExprKind::For { range, .. } => {
                let mut length = 0;
                walk(expr, &mut |_| length += 1);
                around.push((at + length, times.saturating_mul(range.count()?)));
            }
            ExprKind::While { .. } | ExprKind::Loop { .. } | ExprKind::Call { .. } => return None,
            _ => {}
        }
    }
    Some(size)
}

/// The variables that are constants once a loop is unrolled: those of it and of such loops inside, and what is computed of them.
fn constants(whole: &Expr, variable: LocalId) -> BTreeSet<LocalId> {
    let mut known = BTreeSet::from([variable]);
    nodes(whole, &mut |node| match node {
        Node::Expr(expr) => {
            if let ExprKind::For { local: Some(local), range, .. } = &expr.kind
                && range.count().is_some()
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

fn is_constant(expr: &Expr, known: &BTreeSet<LocalId>) -> bool {
    match &expr.kind {
        ExprKind::Int { .. } | ExprKind::Constant(_) => true,
        ExprKind::Local(local) => known.contains(local),
        ExprKind::Cast(inner, _) | ExprKind::Typed(inner, _) => is_constant(inner, known),
        ExprKind::Binary { left, right, .. } => is_constant(left, known) && is_constant(right, known),
        _ => false,
    }
}
