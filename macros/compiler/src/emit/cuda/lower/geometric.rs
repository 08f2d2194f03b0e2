//! `while` loops whose variable is multiplied or divided by a constant in each iteration, as the stages of a sorting network, a transform or a
//! scan are: `while half < 1024 { ..; half *= 2; }`. So are `for` loops with few iterations that end so, or in which threads meet and that
//! shift a constant: `for level in 0..8 { let distance = 1 << level; .. }`. The compiler of CUDA C++ unrolls only small ones. In each of their
//! iterations the variable is a constant, once they are unrolled: a division by it is a shift, and most indexes are known to be within bounds.

use std::collections::BTreeSet;

use super::collectives::is_collective;
use super::constant_loops::{is_constant, size_by};
use super::induction::local;
use crate::model::expr::{BinaryOp, Block, Condition, Expr, ExprKind, StmtKind};
use crate::model::place::writes;
use crate::model::range::Adaptor;
use crate::model::walk::{Node, block_nodes, walk_block};
use crate::model::{Function, LocalId};

/// The number of bits of the values that the variable is taken to have. A loop has an iteration for each, or for each two if it multiplies by 4.
const BITS: u64 = 11;

/// How often the text of the assembler has the body of another loop inside whose length is not known.
const ROUNDS: u64 = 4;

/// The number of expressions that a function which is called is taken to have, for each of its operands.
const CALLED: u64 = 8;

/// The most expressions that the iterations of such a loop have together, with those of the loops inside.
const LARGEST: u64 = 6000;

/// Returns the variable of a loop that is to be unrolled. `outer` has the variables of unrolled loops around it.
pub(super) fn unrolled(function: &Function, whole: &Expr, outer: &BTreeSet<LocalId>) -> Option<LocalId> {
    let ExprKind::While { condition, body, .. } = &whole.kind else { return None };
    let scaled = Scaled::of(body)?;
    let begins_constant = init(function, scaled.local).is_some_and(|init| is_constant(init, outer));
    let is_only_write = writes(whole, scaled.local) == 1;
    let is_small = || size(function, body).saturating_mul(scaled.iterations()) <= LARGEST;
    (begins_constant && is_only_write && ends(condition, scaled.local, outer) && is_small()).then_some(scaled.local)
}

/// The most iterations of a loop over a range.
const MOST_ITERATIONS: u64 = 16;

/// Returns the most iterations with which a loop over a range is unrolled, and the variable that it scales. `outer` has the variables of
/// unrolled loops around it.
pub(super) fn most_iterations(
    function: &Function,
    whole: &Expr,
    outer: &BTreeSet<LocalId>,
) -> Option<(u64, Option<LocalId>)> {
    let ExprKind::For { local, range, body, .. } = &whole.kind else { return None };
    let scaled = Scaled::of(body).map(|scaled| scaled.local).filter(|scaled| {
        let begins_constant = init(function, *scaled).is_some_and(|init| is_constant(init, outer));
        begins_constant && writes(whole, *scaled) == 1
    });
    let shifts = || local.is_some_and(|local| shifts_constant(body, local)) && meets(body);
    let is_plain = matches!(range.adaptors[..], [] | [Adaptor::Rev]);
    (is_plain && (scaled.is_some() || shifts()))
        .then(|| (MOST_ITERATIONS.min(LARGEST / size(function, body).max(1)), scaled))
}

/// Whether threads meet in a body.
fn meets(body: &Block) -> bool {
    let mut meets = false;
    walk_block(body, &mut |expr| meets |= matches!(expr.kind, ExprKind::Op { op, .. } if is_collective(op)));
    meets
}

/// Whether a body shifts a constant by a variable.
fn shifts_constant(body: &Block, variable: LocalId) -> bool {
    let mut shifts = false;
    walk_block(body, &mut |expr| {
        if let ExprKind::Binary { op: BinaryOp::Shl | BinaryOp::Shr, left, right, .. } = &expr.kind {
            shifts |= local(right) == Some(variable) && is_constant(left, &BTreeSet::new());
        }
    });
    shifts
}

/// Whether a condition compares the variable with a constant.
fn ends(condition: &Condition, variable: LocalId, outer: &BTreeSet<LocalId>) -> bool {
    let Condition::Value(Expr { kind: ExprKind::Binary { op, left, right, .. }, .. }) = condition else { return false };
    let compares = matches!(op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Ne);
    compares && local(left) == Some(variable) && is_constant(right, outer)
}

/// The variable that the last statement of a body multiplies or divides by a constant: `x *= 2`, `x = x >> 1`.
struct Scaled<'e> {
    local: LocalId,
    op: BinaryOp,
    factor: &'e Expr,
}

impl<'e> Scaled<'e> {
    fn of(body: &'e Block) -> Option<Scaled<'e>> {
        let StmtKind::Expr(last) = &body.statements.last().filter(|_| body.tail.is_none())?.kind else { return None };
        let (place, op, factor) = match &last.kind {
            ExprKind::AssignOp { op, place, value, function: None, .. } => (place, *op, &**value),
            ExprKind::Assign(place, value) => match &value.kind {
                ExprKind::Binary { op, left, right, .. } if local(left) == local(place) => (place, *op, &**right),
                _ => return None,
            },
            _ => return None,
        };
        let scales = matches!(op, BinaryOp::Mul | BinaryOp::Div | BinaryOp::Shl | BinaryOp::Shr);
        (scales && is_constant(factor, &BTreeSet::new())).then_some(Scaled { local: local(place)?, op, factor })
    }

    /// The number of iterations that the loop is taken to have.
    fn iterations(&self) -> u64 {
        let bits = match (self.op, self.factor.integer()) {
            (BinaryOp::Shl | BinaryOp::Shr, Some(bits)) => bits,
            (_, Some(factor)) => u64::from(factor.checked_ilog2().unwrap_or(0)),
            (_, None) => 1,
        };
        BITS.div_ceil(bits.max(1))
    }
}

/// Returns the value with which a variable is declared.
fn init(function: &Function, local: LocalId) -> Option<&Expr> {
    let mut found = None;
    block_nodes(&function.body, &mut |node| {
        if let Node::Statement(statement) = node
            && let StmtKind::Let { local: declared, init: Some(init), .. } = &statement.kind
            && *declared == local
        {
            found = Some(init);
        }
    });
    found
}

/// The number of expressions of a body with its loops unrolled. A loop whose variable does not begin with a constant is taken to begin with that
/// of a loop around it, as the rounds in a stage of a sorting network do: it has half of the iterations on average.
fn size(function: &Function, body: &Block) -> u64 {
    let iterations = |scaled: Scaled<'_>| {
        let begins_constant = init(function, scaled.local).is_some_and(|init| is_constant(init, &BTreeSet::new()));
        if begins_constant { scaled.iterations() } else { scaled.iterations().div_ceil(2) }
    };
    let size = size_by(body, |expr| match &expr.kind {
        ExprKind::For { range, .. } => Some(range.count().unwrap_or(ROUNDS)),
        ExprKind::While { body, .. } => Some(Scaled::of(body).map_or(ROUNDS, iterations)),
        ExprKind::Loop { .. } => Some(ROUNDS),
        ExprKind::Call { .. } => Some(CALLED),
        _ => Some(1),
    });
    size.unwrap_or(u64::MAX)
}
