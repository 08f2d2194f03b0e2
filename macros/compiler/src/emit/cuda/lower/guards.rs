//! What the conditions before an access say of the variables of which its index is computed: with
//! `if x > 0 && x + 1 < n { sum += a[x - 1]; }`, the access is made for values of `x` from 1 to `n - 2` only. A limit is data
//! here; `intervals` computes with it.

use std::collections::BTreeSet;

use super::access::Region;
use super::nest::Guard;
use super::numbers::number;
use crate::model::expr::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::model::ty::{TypeShape, ValueType};
use crate::model::{LocalId, SiteId};

/// A comparison that holds where an access is made: `variable + terms relation bound`.
pub(super) struct Limit<'e> {
    pub(super) variable: LocalId,
    /// What is added to the variable, with whether it is subtracted.
    pub(super) terms: Vec<(bool, &'e Expr)>,
    pub(super) relation: Relation,
    pub(super) bound: &'e Expr,
}

/// How the variable and what is added to it compare with the bound.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Below,
    UpTo,
    From,
    Above,
    Equal,
    Other,
}

impl Relation {
    fn of(op: BinaryOp) -> Option<Relation> {
        match op {
            BinaryOp::Lt => Some(Relation::Below),
            BinaryOp::Le => Some(Relation::UpTo),
            BinaryOp::Ge => Some(Relation::From),
            BinaryOp::Gt => Some(Relation::Above),
            BinaryOp::Eq => Some(Relation::Equal),
            BinaryOp::Ne => Some(Relation::Other),
            _ => None,
        }
    }

    fn negated(self) -> Relation {
        match self {
            Relation::Below => Relation::From,
            Relation::UpTo => Relation::Above,
            Relation::From => Relation::Below,
            Relation::Above => Relation::UpTo,
            Relation::Equal => Relation::Other,
            Relation::Other => Relation::Equal,
        }
    }

    /// Returns the relation of the right side to the left one.
    fn mirrored(self) -> Relation {
        match self {
            Relation::Below => Relation::Above,
            Relation::UpTo => Relation::From,
            Relation::From => Relation::UpTo,
            Relation::Above => Relation::Below,
            Relation::Equal | Relation::Other => self,
        }
    }
}

/// A region whose variables conditions may limit.
pub(super) trait Limitable<'e>: Region {
    /// Returns the condition that an iteration gives a name, `let inside = x > 0 && x + 1 < n;`, if the name is one of it alone. A limitable
    /// variable has the same value there as where the name is used.
    fn named(&self, local: LocalId) -> Option<&'e Expr>;

    /// Returns the condition that a call of a closure stands for.
    fn condition_of(&self, site: SiteId) -> Option<&'e Expr>;

    /// Whether a variable is an integer that has one value throughout an iteration, or up to the access and its conditions.
    fn is_limitable(&self, local: LocalId) -> bool;

    /// Whether a variable is that of a loop.
    fn counts(&self, local: LocalId) -> bool;
}

/// Returns what conditions say of variables: a limit for each part of them, or nothing if one is no such comparison. One that
/// leaves out one iteration of several loops says nothing: the others have the same limits.
pub(super) fn limits<'e>(guards: &[Guard<'e>], region: &impl Limitable<'e>) -> Option<Vec<Limit<'e>>> {
    let mut limits = Vec::new();
    for guard in guards {
        match *guard {
            Guard::Is(condition, holds) => {
                if !leaves_one_out(condition, holds, region) {
                    add(condition, holds, region, &mut limits)?;
                }
            }
            // An exit says of most indexes nothing.
            Guard::Stays(condition, holds) => {
                let mut of_exit = Vec::new();
                if add(condition, holds, region, &mut of_exit).is_some() {
                    limits.extend(of_exit);
                }
            }
            Guard::Unknown => return None,
        }
    }
    Some(limits)
}

/// Whether a condition is `x != 0 || y != 0`, also as the opposite of `x == 0 && y == 0`, of the variables of several loops. Some may be
/// conditions that the loops do not change, so that one iteration is left out for some threads.
fn leaves_one_out<'e>(condition: &Expr, holds: bool, region: &impl Limitable<'e>) -> bool {
    let mut sides = BTreeSet::new();
    let is_such = differs(condition, holds, region, &mut sides).is_some();
    is_such && sides.len() > 1
}

/// Adds the variables of the parts of such a condition, `None` for a part that the loops do not change.
fn differs<'e>(
    condition: &Expr,
    holds: bool,
    region: &impl Limitable<'e>,
    sides: &mut BTreeSet<Option<LocalId>>,
) -> Option<()> {
    match &condition.kind {
        ExprKind::Unary(UnaryOp::Not, inner) => differs(inner, !holds, region, sides),
        ExprKind::Binary { op: BinaryOp::And | BinaryOp::Or, left, right, .. } => {
            let is_or = matches!(condition.kind, ExprKind::Binary { op: BinaryOp::Or, .. });
            (is_or == holds).then_some(())?;
            differs(left, holds, region, sides)?;
            differs(right, holds, region, sides)
        }
        ExprKind::Binary { op, left, right, .. } if Relation::of(*op).is_some() => {
            let side = match left.kind {
                ExprKind::Local(variable) if region.counts(variable) => Some(variable),
                _ => None,
            };
            let is_such = match side {
                Some(_) => number(region.lower().function, right).is_some() && leaves_out(*op, holds),
                None => region.is_evaluable(left) && region.is_evaluable(right),
            };
            sides.insert(side);
            is_such.then_some(())
        }
        _ => None,
    }
}

/// Whether a comparison is that with all numbers but one.
fn leaves_out(op: BinaryOp, holds: bool) -> bool {
    match op {
        BinaryOp::Ne => holds,
        BinaryOp::Eq => !holds,
        _ => false,
    }
}

fn add<'e>(condition: &'e Expr, holds: bool, region: &impl Limitable<'e>, limits: &mut Vec<Limit<'e>>) -> Option<()> {
    match &condition.kind {
        ExprKind::Unary(UnaryOp::Not, inner) => add(inner, !holds, region, limits),
        ExprKind::Local(local) => add(region.named(*local)?, holds, region, limits),
        ExprKind::CallClosure { site, .. } => add(region.condition_of(*site)?, holds, region, limits),
        ExprKind::Binary { op: BinaryOp::And, left, right, .. } if holds => {
            add(left, holds, region, limits)?;
            add(right, holds, region, limits)
        }
        ExprKind::Binary { op: BinaryOp::Or, left, right, .. } if !holds => {
            add(left, holds, region, limits)?;
            add(right, holds, region, limits)
        }
        ExprKind::Binary { op, left, right, .. } => {
            let relation = Relation::of(*op)?;
            let relation = if holds { relation } else { relation.negated() };
            let limit =
                limit(left, relation, right, region).or_else(|| limit(right, relation.mirrored(), left, region));
            limits.push(limit?);
            Some(())
        }
        _ => None,
    }
}

fn limit<'e>(sum: &'e Expr, relation: Relation, bound: &'e Expr, region: &impl Limitable<'e>) -> Option<Limit<'e>> {
    let mut terms = Vec::new();
    let sum = match (&sum.kind, relation) {
        // A negative number becomes larger than every bound whose value is known.
        (ExprKind::Cast(inner, ty), Relation::Below | Relation::UpTo) if is_widest(ty) => inner,
        _ => sum,
    };
    let variable = variable(sum, region, &mut terms)?;
    region.is_evaluable(bound).then_some(Limit { variable, terms, relation, bound })
}

/// Whether a type has all natural numbers of the others.
fn is_widest(ty: &ValueType) -> bool {
    matches!(ty.shape, TypeShape::Scalar("usize" | "u64", _))
}

/// Returns the variable of `variable + terms`.
fn variable<'e>(sum: &'e Expr, region: &impl Limitable<'e>, terms: &mut Vec<(bool, &'e Expr)>) -> Option<LocalId> {
    match &sum.kind {
        ExprKind::Local(local) => region.is_limitable(*local).then_some(*local),
        ExprKind::Binary { op: op @ (BinaryOp::Add | BinaryOp::Sub), left, right, .. } => {
            let (inner, term) = match (region.is_evaluable(right), op) {
                (true, _) => (left, right),
                (false, BinaryOp::Add) if region.is_evaluable(left) => (right, left),
                (false, _) => return None,
            };
            terms.push((*op == BinaryOp::Sub, term));
            variable(inner, region, terms)
        }
        _ => None,
    }
}
