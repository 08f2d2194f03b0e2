//! Branches on whether a loop will have an iteration so many rounds later: `if k + 2 < n { load(k + 2) }` in a loop over `0..n`, and
//! `if s < n { load(s) }` before it. They are the decisions that the loop comes to later, and no decisions of their own.
//!
//! [docs/analyses.md](../../../../../docs/analyses.md#rings-of-a-kernel) says when a branch is one.

use std::collections::BTreeMap;

use super::counters::Counter;
use super::decision::{ByHand, Decision, Key, Looked};
use super::kernel::Point;
use super::symbol::Symbol;
use super::value::{Evaluator, Value};
use super::walk::Walker;
use crate::check::cfg::{BlockId, CountedLoop, End, Formula, NodeId, Source, Variable};
use crate::check::uniform::control::{following, following_until};
use crate::model::expr::BinaryOp;
use crate::rings::expr::Term;
use crate::rings::{Condition, Expr, Operator};

/// The first numbers of loops that are taken to begin at 0.
const LATEST: i64 = 16;

/// A question about a loop: whether its next decisions are to go on.
struct Asked {
    head: BlockId,
    /// The number of its decisions that come next and have to be to go on.
    number: Linear,
    within: bool,
    /// If the loop has iterations that are certain: the number of the one that is asked about, and the first that is not certain.
    certain: Option<(Linear, i64)>,
}

/// A loop whose decisions are about consecutive numbers.
struct Range {
    head: BlockId,
    inside: BlockId,
    /// The variable that holds the number.
    variable: Option<Variable>,
    first: i64,
    /// The number with which its decisions begin.
    begins: i64,
    end: Symbol,
    /// The number of the first iterations, which are certain.
    certain: i64,
}

/// A sum of multiples of counters.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Linear {
    terms: BTreeMap<u32, i64>,
    constant: i64,
}

impl Linear {
    fn of(expr: &Expr) -> Option<Linear> {
        let mut stack: Vec<Linear> = Vec::new();
        for term in &expr.terms {
            let next = match *term {
                Term::Constant(constant) => Linear { terms: BTreeMap::new(), constant },
                Term::Counter(counter) => Linear { terms: BTreeMap::from([(counter, 1)]), constant: 0 },
                Term::Rank | Term::Unknown => return None,
                Term::Apply(operator) => {
                    let (right, left) = (stack.pop()?, stack.pop()?);
                    match operator {
                        Operator::Add => left.plus(1, &right)?,
                        Operator::Sub => left.plus(-1, &right)?,
                        Operator::Mul if left.terms.is_empty() => Linear::constant(0).plus(left.constant, &right)?,
                        Operator::Mul if right.terms.is_empty() => Linear::constant(0).plus(right.constant, &left)?,
                        Operator::Mul
                        | Operator::Div
                        | Operator::Rem
                        | Operator::And
                        | Operator::Xor
                        | Operator::Shl
                        | Operator::Shr
                        | Operator::Eq
                        | Operator::Ne
                        | Operator::Lt
                        | Operator::Le => return None,
                    }
                }
            };
            stack.push(next);
        }
        stack.pop()
    }

    fn constant(constant: i64) -> Linear {
        Linear { terms: BTreeMap::new(), constant }
    }

    /// Returns `self + times * other`.
    fn plus(mut self, times: i64, other: &Linear) -> Option<Linear> {
        for (counter, factor) in &other.terms {
            let term = self.terms.entry(*counter).or_insert(0);
            *term = term.checked_add(factor.checked_mul(times)?)?;
        }
        self.terms.retain(|_, factor| *factor != 0);
        self.constant = self.constant.checked_add(other.constant.checked_mul(times)?)?;
        Some(self)
    }

    fn expr(&self) -> Expr {
        let of = |(counter, factor): (&u32, &i64)| match factor {
            1 => Expr::counter(*counter),
            _ => Expr::counter(*counter).apply(Operator::Mul, Expr::constant(*factor)),
        };
        let add = |sum: Expr, term: Expr| sum.apply(Operator::Add, term);
        let terms = self.terms.iter().map(of);
        match terms.reduce(add) {
            Some(sum) if self.constant == 0 => sum,
            Some(sum) => add(sum, Expr::constant(self.constant)),
            None => Expr::constant(self.constant),
        }
    }
}

impl Walker<'_, '_, '_, '_> {
    /// If a branch looks ahead, its decision, and whether its first arm is the one for a loop that goes on so far. Without the loop's decisions,
    /// it would be one with these keys.
    pub(super) fn looks_ahead(&self, on: NodeId, point: Point, keys: Vec<Key>) -> Option<(Decision, bool)> {
        let cfg = self.kernel().cfg;
        let (mut on, mut holds) = (cfg.origin(on), true);
        while let (Source::Not, [operand]) = (&cfg.nodes[on.0].source, &cfg.nodes[on.0].operands[..]) {
            (on, holds) = (cfg.origin(*operand), !holds);
        }
        let of = &cfg.nodes[on.0];
        let (Source::Binary(op) | Source::Round(_, op), [left, right]) = (&of.source, &of.operands[..]) else {
            return None;
        };
        // `less < greater + more`, or whether it is not.
        let (less, greater, more, is) = match op {
            BinaryOp::Lt => (*left, *right, 0, true),
            BinaryOp::Le => (*left, *right, 1, true),
            BinaryOp::Gt => (*right, *left, 0, true),
            BinaryOp::Ge => (*right, *left, 1, true),
            BinaryOp::Eq => return self.is_last([*left, *right], point, keys, !holds),
            BinaryOp::Ne => return self.is_last([*left, *right], point, keys, holds),
            BinaryOp::Add
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
        let value = |node: NodeId| self.number_at(node, point);
        let (asked, is) = match (value(less), value(greater)) {
            (Value::Expr(less), Value::Symbol(greater)) => (self.asked(&less, more, &greater, point)?, is),
            // The other way round, it says that there is no such iteration.
            (Value::Symbol(less), Value::Expr(greater)) => (self.asked(&greater, 1 - more, &less, point)?, !is),
            _ => return None,
        };
        Some((self.looking(asked, point, keys), is == holds))
    }

    /// A number, in terms of the numbers of loops where it can be: `next` after `let next = k + 2;`.
    fn number_at(&self, node: NodeId, point: Point) -> Value {
        let inlined = (Evaluator { inlines: true, ..*self.evaluator }).value(node, point);
        let all = self.evaluator.counters.all();
        let is_number = |counter: u32| {
            all.get(counter as usize).and_then(|counter| counter.variable()).is_some_and(|variable| {
                self.kernel().loop_of(variable).is_some() && self.kernel().is_kept_by_body(variable)
            })
        };
        match inlined {
            Value::Expr(expr) if expr.counters().all(is_number) => Value::Expr(expr),
            Value::Expr(_) | Value::Symbol(_) | Value::Unknown => self.evaluator.value(node, point),
        }
    }

    /// Whether a round is the last one, by a comparison of its number: `k + 1 != n`.
    fn is_last(&self, sides: [NodeId; 2], point: Point, keys: Vec<Key>, holds: bool) -> Option<(Decision, bool)> {
        let asked = match sides.map(|side| self.number_at(side, point)) {
            [Value::Expr(number), Value::Symbol(end)] | [Value::Symbol(end), Value::Expr(number)] => {
                self.asked(&number, 0, &end, point)?
            }
            _ => return None,
        };
        // The next number is not above the end, and nor is 0.
        let is_next = asked.number == Linear::constant(1) && (asked.within || self.is_of_first(sides, point));
        is_next.then(|| (self.looking(asked, point, keys), holds))
    }

    /// Whether a comparison is one of 0 with a number that is not below it.
    fn is_of_first(&self, sides: [NodeId; 2], point: Point) -> bool {
        let values = sides.map(|side| self.evaluator.value(side, point));
        let is_zero = values.iter().any(|value| value.known() == Some(0));
        is_zero && values.iter().any(|value| value.symbol().is_some_and(|of| self.is_natural(&of)))
    }

    /// Whether a symbol is that of a number that is not negative.
    fn is_natural(&self, symbol: &Symbol) -> bool {
        symbol.unit().is_some_and(|(name, more)| more == 0 && self.kernel().tests.is_natural(name))
    }

    fn looking(&self, asked: Asked, point: Point, keys: Vec<Key>) -> Decision {
        let cfg = self.kernel().cfg;
        let at = cfg.blocks[point.0.0].end.condition().map_or(self.kernel().whole(), |on| self.kernel().at(on));
        let Asked { head, mut number, within, certain } = asked;
        let (mut already, mut cases) = (Vec::new(), Vec::new());
        if let Some((of, open)) = certain {
            let compare = |operator, with: i64| of.expr().apply(operator, Expr::constant(with));
            already.push(compare(Operator::Lt, open));
            match within {
                // Of the decisions that come next, the first ones are about iterations that are certain.
                true => cases.extend(
                    (1..number.constant).map(|some| (compare(Operator::Eq, open + some - 1), Expr::constant(some))),
                ),
                false => number.constant -= open,
            }
        }
        // Whether the loop runs at all may be asked once for all rounds of another one.
        let before = cfg.counted.get(&head).map(|counted| counted.before);
        let first = before.and_then(|before| self.first_time(before, head).ok().flatten()).filter(|_| !within);
        let any = first.map(|(says, ..)| self.sites.constant(says));
        number.constant -= i64::from(any.is_some());
        let only_if = any.map(Condition::Constant).into_iter().collect();
        let looked = Some(Looked { head, any, at });
        Decision { looked, only_if, already, cases, ..Decision::new(Condition::Ahead(number.expr()), keys, None) }
    }

    /// The loop whose decisions say whether a number is less than an end and so many more.
    fn asked(&self, number: &Expr, more: i64, end: &Symbol, point: Point) -> Option<Asked> {
        let cfg = self.kernel().cfg;
        let number = Linear::of(number)?;
        let ranges = cfg.counted.iter().filter_map(|(head, counted)| self.range_of(*head, counted));
        let by_hand = (0..cfg.blocks.len()).map(BlockId).filter_map(|head| self.range_by_hand(head));
        let loops =
            ranges.chain(by_hand).filter_map(|Range { head, inside, variable, first, begins, end: ends, certain }| {
                // The number of the loop that is as far from its end.
                let further = end.clone().plus(-1, &ends)?.known()?;
                let within = point.0 == inside || following_until(cfg, inside, head).contains(point.0);
                let is_exact = match further {
                    0 => true,
                    // Within the loop, its end is above its first number, so that what is less does not wrap. Nor does it where the end is
                    // a sum of this and more.
                    _ => {
                        let is_less = || within && -further <= first + 1 || self.is_natural(end);
                        ends.clone().split().1 >= 0 && (further > 0 || is_less())
                    }
                };
                let of = number.clone().plus(-1, &Linear::constant(more + further))?;
                let number = match within {
                    // The next decision is about the next number.
                    true => of.clone().plus(-1, &Linear::of(&self.number_within(variable?, inside, point)?)?)?,
                    false => of.clone().plus(1, &Linear::constant(1 - begins))?,
                };
                let is_ahead = match within {
                    true => number.terms.is_empty(),
                    false => following(cfg, point.0).contains(head) && number.terms.values().all(|factor| *factor > 0),
                };
                // What a test says is certain behind it.
                let is_tested = within || certain == 0 || self.evaluator.least(&ends, point) >= Some(certain);
                let certain = (certain > 0).then_some((of, certain));
                let is_one = is_exact && is_ahead && is_tested && number.constant >= 1;
                is_one.then_some((inside, Asked { head, number, within, certain }))
            });
        // The innermost loop, or else the next one: what the thread comes to before has to show that.
        let found = loops.min_by_key(|(inside, asked)| {
            let from = if asked.within { *inside } else { point.0 };
            (!asked.within, following_until(cfg, from, asked.head).iter().count())
        });
        found.map(|(_, asked)| asked)
    }

    /// A loop over a range of numbers, about whose iterations shared decisions are made, but for the first ones.
    fn range_of(&self, head: BlockId, counted: &CountedLoop) -> Option<Range> {
        let kernel = self.kernel();
        let End::Branch { on, .. } = kernel.cfg.blocks[head.0].end else { return None };
        let before = (counted.before, kernel.cfg.blocks[counted.before.0].steps.len());
        let first = self.evaluator.start(counted).known().filter(|first| *first >= 0)?;
        let end = self.evaluator.value(counted.end, before).symbol().filter(|end| end.known().is_none())?;
        let is_sum = !counted.inclusive || end.clone().split().1 >= 0;
        let is_lesser = kernel.cfg.formulas.get(&kernel.cfg.origin(counted.end)) == Some(&Formula::Min);
        if is_lesser {
            return None;
        }
        let decision = self.counted(head, on, counted).ok()?;
        let is_plain = counted.by == Some(1)
            && is_sum
            && decision.condition == Condition::Shared
            && decision.certain.as_ref().is_none_or(|certain| certain.any.is_none() && first == 0)
            && decision.keys.iter().any(|key| matches!(key, Key::Form(_)));
        let certain = decision.certain.map_or(0, |certain| certain.iterations);
        let end = end.plus(i64::from(counted.inclusive), &Symbol::constant(1))?;
        let mut steps = kernel.cfg.blocks[counted.inside.0].steps.iter();
        let variable = steps.find_map(|step| step.kind.set()).map(|(variable, ..)| variable);
        let is_number = |variable: &Variable| {
            kernel.loop_of(*variable).is_some_and(|of| of.inside == counted.inside) && kernel.is_kept_by_body(*variable)
        };
        let variable = variable.filter(is_number);
        is_plain.then_some(Range {
            head,
            inside: counted.inside,
            variable,
            first,
            begins: self.begins_at(first),
            end,
            certain,
        })
    }

    /// A loop that counts by hand in the same way.
    fn range_by_hand(&self, head: BlockId) -> Option<Range> {
        let cfg = self.kernel().cfg;
        let End::Branch { on, .. } = cfg.blocks[head.0].end else { return None };
        if cfg.counted.contains_key(&head) || !self.kernel().is_in_loop(head) {
            return None;
        }
        let ByHand { inside, range: Some((variable, first, end)), .. } = self.by_hand(head, on)? else { return None };
        let is_open = end.known().is_none();
        is_open.then_some(Range { head, inside, variable: Some(variable), first, begins: first, end, certain: 0 })
    }

    /// The number of the iteration that a thread is in, which has not been raised yet.
    fn number_within(&self, variable: Variable, inside: BlockId, point: Point) -> Option<Expr> {
        let is_kept = self.kernel().loop_of(variable).is_some()
            || !self.kernel().may_be_set_between(variable, (inside, 0), point)
                && !self.kernel().sets(variable).iter().any(|((block, index), ..)| (*block, *index) == (inside, 0));
        is_kept.then(|| Expr::counter(self.evaluator.counters.number(Counter::Variable(variable))))
    }

    /// The number with which the decisions of a loop begin.
    pub(super) fn begins_at(&self, first: i64) -> i64 {
        if self.kernel().from_zero.get() && (1..=LATEST).contains(&first) { 0 } else { first }
    }

    /// If a loop over a range ends at the lesser of a small number and another: the number of its iterations that is certain to be enough, and
    /// the decision whether there are as many by the other end, which a later loop makes.
    pub(super) fn at_most(&self, head: BlockId, counted: &CountedLoop, keys: Vec<Key>) -> Option<(i64, Decision)> {
        let kernel = self.kernel();
        let node = &kernel.cfg.nodes[kernel.cfg.origin(counted.end).0];
        let is_min = kernel.cfg.formulas.get(&kernel.cfg.origin(counted.end)) == Some(&Formula::Min);
        let point = (head, kernel.cfg.blocks[head.0].steps.len());
        let before = (counted.before, kernel.cfg.blocks[counted.before.0].steps.len());
        let first = self.evaluator.start(counted).known().filter(|first| *first >= 0)?;
        let [one, other] = &node.operands[..] else { return None };
        let values = [*one, *other].map(|side| self.evaluator.value(side, before));
        let (most, end) = match &values {
            [most, Value::Symbol(end)] | [Value::Symbol(end), most] => (most.known()?, end),
            _ => return None,
        };
        if !is_min || counted.by != Some(1) || counted.inclusive || !(1..=LATEST).contains(&most) {
            return None;
        }
        let begun = Expr::counter(self.evaluator.counters.number(Counter::Iterations(head)));
        let asked = self.asked(&begun.apply(Operator::Add, Expr::constant(first)), 0, end, point)?;
        Some(((most - first).max(0), self.looking(asked, point, keys)))
    }
}
