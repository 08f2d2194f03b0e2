//! The conditions that closures compute, at the values of a call's arguments: `inside(x + dx, y + dy)` is `x + dx >= 0 && x + dx < width && ..`
//! as a guard of the accesses behind it (`guards`). These expressions are never printed.

use std::collections::BTreeMap;

use super::closures::{Closures, Conditions};
use crate::model::expr::{Expr, ExprKind};
use crate::model::facts::Effect;
use crate::model::kind::Kind;
use crate::model::walk::walk_block;
use crate::model::{Function, LocalId};

/// Returns the conditions that the calls of closures stand for.
pub(super) fn conditions(function: &Function, closures: &Closures<'_>) -> Conditions {
    let mut conditions = Conditions::new();
    walk_block(&function.body, &mut |expr| {
        let ExprKind::CallClosure { closure, arguments, site } = &expr.kind else { return };
        let Some(called) = closures.get(closure).filter(|called| called.effect == Effect::Pure) else { return };
        let params = called.params.iter().map(|(param, _)| *param);
        let bound: Bound<'_> = params.zip(arguments).collect();
        let condition = called.result().filter(|result| is_condition(result));
        conditions.extend(condition.and_then(|condition| Some((*site, with(condition, &bound)?))));
    });
    conditions
}

/// The arguments of a call, by the parameters.
type Bound<'e> = BTreeMap<LocalId, &'e Expr>;

fn is_condition(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Unary(_, inner) => is_condition(inner),
        ExprKind::Binary { op, .. } => !op.is_arithmetic(),
        _ => false,
    }
}

/// Returns an expression with arguments in place of parameters; `None` if it has other parts than arithmetic.
fn with(expr: &Expr, bound: &Bound<'_>) -> Option<Expr> {
    let part = |part: &Expr| with(part, bound).map(Box::new);
    let kind = match &expr.kind {
        ExprKind::Int { digits, ty } => ExprKind::Int { digits: digits.clone(), ty: *ty },
        ExprKind::Constant(value) => ExprKind::Constant(*value),
        ExprKind::Local(local) => match bound.get(local) {
            // What an argument names is no parameter.
            Some(argument) => return with(argument, &Bound::new()),
            None => ExprKind::Local(*local),
        },
        ExprKind::Unary(op, inner) => ExprKind::Unary(*op, part(inner)?),
        ExprKind::Cast(inner, ty) => ExprKind::Cast(part(inner)?, ty.clone()),
        ExprKind::Typed(inner, slot) => ExprKind::Typed(part(inner)?, *slot),
        ExprKind::Field { base, member } => ExprKind::Field { base: part(base)?, member: member.clone() },
        ExprKind::Binary { op, left, right, site: None } => {
            ExprKind::Binary { op: *op, left: part(left)?, right: part(right)?, site: None }
        }
        _ => return None,
    };
    Some(Expr { kind, result_kind: Kind::Value, span: expr.span })
}
