//! Loops of a few iterations behind a place where threads meet, whose accesses are tested before it with those of the statements around the
//! loop (`straight`). Each iteration is scanned as if it stood in the text, with the number that the loop's variable is in it:
//!
//! ```text
//! let scale = rsqrt(warp.reduce(squares, op::Plus) / 256.0);
//! for k in 0..2 { out[2 * lane + k] = values[k] * scale * weights[2 * lane + k]; }
//! ```
//!
//! Before the loop, its tests would keep the loads from being issued before the threads meet. Other loops have tests of their own (`hoist`).

use super::access::Region;
use super::computed::Number;
use super::known::Variables;
use super::straight::Scan;
use crate::emit::cuda::ast::CuExpr;
use crate::model::expr::{Expr, ExprKind};
use crate::model::place::{local_of, may_write};

/// The most iterations that are scanned.
const MOST_ITERATIONS: u64 = 4;

/// The state of a scan in the middle of its run, to which it can go back.
struct SoFar<'e> {
    variables: Variables<'e>,
    /// The numbers of tests, of loads, of accesses and of calls.
    counts: [usize; 4],
    meets: bool,
}

impl<'f: 'e, 'e> Scan<'_, 'f, 'e> {
    /// Adds the iterations of a loop. One that ends the run ends it before the loop.
    pub(super) fn iterations(&mut self, whole: &'e Expr) -> Option<()> {
        let ExprKind::For { local, range, body, .. } = &whole.kind else { return None };
        let (first, count) = (range.start.integer()?, range.count()?);
        let is_changed = local.is_some_and(|local| may_write(whole, local));
        if !self.has_meeting || count > MOST_ITERATIONS || !range.adaptors.is_empty() || is_changed {
            return None;
        }
        let before = self.so_far();
        for iteration in 0..count {
            if let Some(local) = *local {
                let start = self.values.fixed(&range.start)?;
                let value = CuExpr::infix("+", start, CuExpr::name(&iteration.to_string()), None);
                self.values.declare_number(local, first + iteration, value);
            }
            if self.block(body).is_none() {
                self.go_back(before);
                return None;
            }
        }
        Some(())
    }

    /// Returns what has been found, to which the scan can go back.
    fn so_far(&self) -> SoFar<'e> {
        SoFar {
            variables: self.values.variables.clone(),
            counts: [self.tests.len(), self.loads, self.accesses.len(), self.calls.len()],
            meets: self.meets,
        }
    }

    fn go_back(&mut self, to: SoFar<'e>) {
        let SoFar { variables, counts: [tests, loads, accesses, calls], meets } = to;
        self.values.variables = variables;
        self.tests.truncate(tests);
        self.loads = loads;
        self.accesses.truncate(accesses);
        self.calls.truncate(calls);
        self.meets = meets;
    }

    /// Whether an element of a local array or a vector needs no test: rustc decides the check of a literal.
    pub(super) fn is_element(&self, base: &Expr, index: &Expr) -> bool {
        if base.memory().is_some() {
            return false;
        }
        let is_within = |number: u64| {
            let length = local_of(base).and_then(|local| self.length(local));
            length.is_some_and(|length| Number::Literal(number.saturating_add(1)).is_at_most(&length))
        };
        matches!(base.kind, ExprKind::Local(_)) && index.integer().is_some()
            || self.values.number(index).is_some_and(is_within)
    }
}
