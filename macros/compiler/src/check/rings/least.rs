//! The certain values of a number about which arguments decide: the least that it can be, by the comparisons that hold at a place, and that
//! it is the number of iterations of a loop that has ended.

use super::counters::{Counter, Counters};
use super::kernel::Point;
use super::symbol::Symbol;
use super::value::{Evaluator, Value};
use crate::check::cfg::{CountedLoop, Formula, NodeId};
use crate::check::uniform::control::following_until;
use crate::model::expr::BinaryOp;
use crate::rings::{Expr, Operator};

/// The largest number that is taken from a comparison: loops of several lengths that have one number of iterations at least then have one
/// number of iterations that are certain, but for a few.
const MOST: i64 = 8;

impl Evaluator<'_, '_, '_> {
    /// Returns the least that a number can be at a point, if something is known of it.
    pub(super) fn least(&self, number: &Symbol, point: Point) -> Option<i64> {
        let kernel = self.kernel;
        let natural = || number.unit().filter(|(name, _)| kernel.tests.is_natural(name)).map(|(_, more)| more);
        let mut least = number.known().or_else(natural);
        if self.arguments.is_some() {
            return least;
        }
        let aside = Counters::default();
        let open = Evaluator { counters: &aside, after: None, ..*self };
        for test in kernel.tests.behind(kernel.cfg, point) {
            let asked = kernel.constants.asked();
            let sides = test.sides.map(|side| open.value(side, test.at).symbol());
            let found =
                if let [Some(left), Some(right)] = sides { self.bound(test.op, left, right, number) } else { None };
            match found.filter(|found| least.is_none_or(|least| *found > least)) {
                Some(found) => {
                    least = Some(found);
                    kernel.tests.matters();
                }
                // What only this test asks for does not matter.
                None => kernel.constants.forget(asked),
            }
        }
        least
    }

    /// The first number of a range. One that begins at the lesser of a number and its own end has none where that is the end.
    pub(super) fn start(&self, counted: &CountedLoop) -> Value {
        let cfg = self.kernel.cfg;
        let before = (counted.before, cfg.blocks[counted.before.0].steps.len());
        let start = cfg.origin(counted.start);
        if let (Some(Formula::Min), [one, other], false) =
            (cfg.formulas.get(&start), &cfg.nodes[start.0].operands[..], counted.inclusive)
            && let Some(end) = self.value(counted.end, before).symbol()
        {
            let is_end = |side: &NodeId| self.value(*side, before).symbol().as_ref() == Some(&end);
            match (is_end(one), is_end(other)) {
                (true, false) => return self.value(*other, before),
                (false, true) => return self.value(*one, before),
                (true, true) | (false, false) => {}
            }
        }
        self.value(counted.start, before)
    }

    /// The least that a number can be where a comparison holds.
    fn bound(&self, op: BinaryOp, left: Symbol, right: Symbol, number: &Symbol) -> Option<i64> {
        let is_zero = |side: &Symbol| side.known() == Some(0);
        let is_natural = |side: &Symbol| side.unit().is_some_and(|(name, _)| self.kernel.tests.is_natural(name));
        let (greater, less, by): (Symbol, Symbol, i64) = match op {
            BinaryOp::Gt => (left, right, 1),
            BinaryOp::Ge => (left, right, 0),
            BinaryOp::Lt => (right, left, 1),
            BinaryOp::Le => (right, left, 0),
            BinaryOp::Ne if is_zero(&right) && is_natural(&left) => (left, right, 1),
            BinaryOp::Ne if is_zero(&left) && is_natural(&right) => (right, left, 1),
            BinaryOp::Eq => {
                // Both are as large as the other.
                let one = self.bound(BinaryOp::Ge, left.clone(), right.clone(), number);
                return one.or_else(|| self.bound(BinaryOp::Le, left, right, number));
            }
            BinaryOp::Ne
            | BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::And
            | BinaryOp::Or => return None,
        };
        // A sum that has wrapped is less than it says, so that the test would not say what it seems to.
        let is_exact = |side: &Symbol, may_add: bool| match (side.known(), side.unit()) {
            (Some(_), _) => true,
            // The name of a product or the like need not be that of one width.
            (None, Some((name, _))) if name.starts_with('(') => false,
            (None, Some((_, more))) => more == 0 || may_add && more > 0 && is_natural(side),
            (None, None) => false,
        };
        if !is_exact(&greater, true) || !is_exact(&less, false) {
            return None;
        }
        // The difference is `by` at least, and so is the number, but for what is known of the rest.
        let (terms, constant) = greater.plus(-1, &less)?.split();
        let rest = number.clone().plus(-1, &terms)?;
        let rest = rest.known().or_else(|| rest.unit().filter(|_| is_natural(&rest)).map(|(_, more)| more))?;
        rest.checked_add(by.checked_sub(constant)?.min(MOST))
    }

    /// A number in terms of the iterations of a loop that counts to it, or to a number so many more or less, and that has ended where
    /// control comes to the point.
    pub(super) fn counted_to(&self, number: &Symbol, point: Point) -> Option<Expr> {
        let cfg = self.kernel.cfg;
        if number.known().is_some() {
            return None;
        }
        let open = Evaluator { after: None, ..*self };
        cfg.counted.iter().find_map(|(head, counted)| {
            let before = (counted.before, cfg.blocks[counted.before.0].steps.len());
            let plain = counted.by == Some(1) && !counted.inclusive;
            // Control comes from the head, and not from within the loop.
            let has_ended = plain
                && point.0 != *head
                && point.0 != counted.inside
                && !following_until(cfg, cfg.entry, *head).contains(point.0)
                && point.0 != cfg.entry
                && !following_until(cfg, counted.inside, *head).contains(point.0);
            if !has_ended {
                return None;
            }
            let start = open.value(counted.start, before).known()?;
            let end = open.value(counted.end, before).symbol()?;
            let more = number.clone().plus(-1, &end)?.known()?;
            // A range that ends before it starts has no iterations.
            open.least(&end, before).filter(|least| *least >= start)?;
            let iterations = Expr::counter(self.counters.number(Counter::Iterations(*head)));
            Some(iterations.apply(Operator::Add, Expr::constant(start.checked_add(more)?)))
        })
    }
}
