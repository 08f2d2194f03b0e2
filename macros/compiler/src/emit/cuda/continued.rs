//! Functions that return an `Option` and go on in their caller: the compiler of CUDA C++ does not join a branch that returns `None`
//! with the caller's branch on it, but makes a flag of the one and tests it in the other. So the function takes what its caller does
//! with the result, and calls it where it would return:
//!
//! ```text
//! template <class Then = whole<option<f32>>>
//! typename Then::result hit(Ray ray, const Then& then = {}) { if (..) { return then.none(); } return then.some(t); }
//! hit(ray, if_some([&](auto t) { nearest = min(nearest, t); }));
//! ```
//!
//! This rewrites the returns. Which callers have such statements is known where calls are lowered (`lower::continuation`).

use super::ast::{CuExpr, CuStmt, Fragment};
use crate::model::Function;
use crate::model::ty::TypeShape;

/// Rewrites the returns of a function that returns an `Option` as calls of `then`. Returns `None` if not each of them is `Some` or `None`
/// by its text, or if `Some` is returned at more than one place or in a loop: what its caller does would be printed more than once,
/// or done by fewer threads at a time.
pub(super) fn continued(function: &Function, body: &[CuStmt], then: &str) -> Option<Vec<CuStmt>> {
    let is_option = function.ret.as_ref().is_some_and(|ret| matches!(ret.shape, TypeShape::Option(_)));
    let mut returns = Returns { then, in_loop: false, values: 0 };
    let body = is_option.then(|| returns.statements(body))??;
    (returns.values == 1).then_some(body)
}

struct Returns<'n> {
    then: &'n str,
    in_loop: bool,
    /// The number of places that return `Some`.
    values: usize,
}

impl Returns<'_> {
    fn statements(&mut self, statements: &[CuStmt]) -> Option<Vec<CuStmt>> {
        statements.iter().map(|statement| self.statement(statement)).collect()
    }

    fn statement(&mut self, statement: &CuStmt) -> Option<CuStmt> {
        let mut statement = statement.clone();
        match &mut statement {
            CuStmt::Return(Some(value)) => *value = self.value(value)?,
            CuStmt::If { then, otherwise, .. } => {
                *then = self.statements(then)?;
                *otherwise = self.statements(otherwise)?;
            }
            CuStmt::Hoisted { unchecked, checked, .. } => {
                *unchecked = self.statements(unchecked)?;
                *checked = self.statements(checked)?;
            }
            CuStmt::While { body, .. } | CuStmt::For { body, .. } => {
                let outer = std::mem::replace(&mut self.in_loop, true);
                *body = self.statements(body)?;
                self.in_loop = outer;
            }
            CuStmt::Block(inner) => *inner = self.statements(inner)?,
            // Those of closures are in expressions.
            CuStmt::Return(None)
            | CuStmt::Line(_)
            | CuStmt::Expr(_)
            | CuStmt::Declare { .. }
            | CuStmt::Continued { .. }
            | CuStmt::Constant(_)
            | CuStmt::Shared { .. }
            | CuStmt::Break
            | CuStmt::Continue
            | CuStmt::Goto(_)
            | CuStmt::Label(_)
            | CuStmt::InlineCuda { .. } => {}
        }
        Some(statement)
    }

    fn value(&mut self, value: &CuExpr) -> Option<CuExpr> {
        let then = |name, arguments| {
            let base = Box::new(CuExpr::name(self.then));
            Some(CuExpr::Method { base, name, arguments, site: None })
        };
        match value {
            CuExpr::Call { callee, arguments, .. } => match (&callee[..], &arguments[..]) {
                ([Fragment::Text(some)], [_]) if some == "some" && !self.in_loop => {
                    let call = then("some", arguments.clone());
                    self.values += 1;
                    call
                }
                ([Fragment::Type(_)], [none]) if *none == CuExpr::name("none") => then("none", Vec::new()),
                _ => None,
            },
            CuExpr::Ternary(condition, first, second) => {
                let (first, second) = (Box::new(self.value(first)?), Box::new(self.value(second)?));
                Some(CuExpr::Ternary(condition.clone(), first, second))
            }
            _ => None,
        }
    }
}
