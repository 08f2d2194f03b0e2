//! How counters without bounds become finite: a counter is kept modulo a period from some value on, if nothing that a role
//! does with it can tell the difference. What cannot be shown so is kept exactly.

use super::expr::{Expr, Operator, Term};
use super::skeleton::{Condition, Element, Op, Role};

/// The largest number of values of one counter.
const LARGEST: i64 = 1024;

/// How the values of a counter are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    Exactly,
    /// Values from `start` on are kept modulo the period.
    Modulo {
        start: i64,
        period: i64,
    },
}

impl Kept {
    /// Returns the value that stands for this one, or nothing for a negative value, which no period was shown for.
    pub(super) fn representative(self, value: i64) -> Option<i64> {
        match self {
            Kept::Exactly => Some(value),
            Kept::Modulo { .. } if value < 0 => None,
            Kept::Modulo { start, period } if value >= start + period => Some(start + (value - start) % period),
            Kept::Modulo { .. } => Some(value),
        }
    }
}

/// An expression as a function of one counter, the others held fixed: f(c + period) = f(c) + step for all c from `start` on.
#[derive(Clone, Copy)]
struct Shape {
    start: i64,
    period: i64,
    step: i64,
    /// The value at 0, of a function that is affine from there on and depends on nothing else.
    base: Option<i64>,
}

impl Shape {
    fn fixed(base: Option<i64>) -> Shape {
        Shape { start: 0, period: 1, step: 0, base }
    }

    fn constant(self) -> Option<i64> {
        self.base.filter(|_| self.step == 0)
    }

    /// Returns the shape over a multiple of its period.
    fn times(self, factor: i64) -> Option<Shape> {
        let (period, step) = (self.period.checked_mul(factor)?, self.step.checked_mul(factor)?);
        (self.start <= LARGEST && period <= LARGEST).then_some(Shape { period, step, ..self })
    }

    /// Returns two shapes over one period.
    fn aligned(self, other: Shape) -> Option<(Shape, Shape)> {
        let shared = gcd(self.period, other.period);
        Some((self.times(other.period / shared)?, other.times(self.period / shared)?))
    }

    /// Returns the shape over the least multiple of its period at which the step is a multiple of `divisor`.
    fn divisible(self, divisor: i64) -> Option<Shape> {
        self.times(divisor / gcd(divisor, self.step))
    }

    fn apply(self, operator: Operator, other: Shape) -> Option<Shape> {
        let (left, right) = self.aligned(other)?;
        let start = left.start.max(right.start);
        let affine = left.base.zip(right.base).filter(|_| left.period == 1);
        let periodic =
            (left.step == 0 && right.step == 0).then_some(Shape { start, period: left.period, step: 0, base: None });
        match operator {
            Operator::Add => {
                let base = affine.and_then(|(left, right)| left.checked_add(right));
                Some(Shape { start, period: left.period, step: left.step.checked_add(right.step)?, base })
            }
            Operator::Sub => {
                let base = affine.and_then(|(left, right)| left.checked_sub(right));
                let step = left.step.checked_sub(right.step)?;
                // Below this the difference of natural numbers would be negative, which has no value.
                // Of what other counters add, nothing is known but that it is not below 0.
                let least = base.or_else(|| right.constant().filter(|less| *less > 0)?.checked_neg());
                let natural = least.filter(|least| *least < 0 && step > 0).map_or(0, |least| (step - 1 - least) / step);
                Some(Shape { start: start.max(natural), period: left.period, step, base })
            }
            Operator::Mul => match (left.constant(), right.constant()) {
                (Some(factor), _) => right.scaled(factor),
                (_, Some(factor)) => left.scaled(factor),
                (None, None) => periodic,
            },
            Operator::Div | Operator::Rem => match right.constant() {
                // Where a value that falls becomes negative, the operators are others.
                Some(divisor) if divisor > 0 && left.step >= 0 => {
                    let shape = left.divisible(divisor)?;
                    let step = if operator == Operator::Div { shape.step / divisor } else { 0 };
                    Some(Shape { step, base: None, ..shape })
                }
                _ => periodic,
            },
            Operator::And => match right.constant() {
                Some(mask) if left.step >= 0 && mask >= 0 && (mask + 1) & mask == 0 => {
                    Some(Shape { step: 0, base: None, ..left.divisible(mask + 1)? })
                }
                _ => periodic,
            },
            Operator::Xor => match right.constant() {
                Some(bits) if left.step >= 0 && (0..LARGEST).contains(&bits) => {
                    Some(Shape { base: None, ..left.divisible(1 << (i64::BITS - bits.leading_zeros()))? })
                }
                _ => periodic,
            },
            Operator::Shl | Operator::Shr => periodic,
            Operator::Eq | Operator::Ne | Operator::Lt | Operator::Le if left.step == right.step => {
                Some(Shape { start, period: left.period, step: 0, base: None })
            }
            // The difference of two lines has one sign from where it has grown beyond what it was at 0.
            Operator::Eq | Operator::Ne | Operator::Lt | Operator::Le => affine.and_then(|(first, second)| {
                let apart = first.checked_sub(second)?.checked_abs()?;
                let start = apart / left.step.checked_sub(right.step)?.checked_abs()? + 1;
                (start <= LARGEST).then_some(Shape { start, ..Shape::fixed(None) })
            }),
        }
    }

    fn scaled(self, factor: i64) -> Option<Shape> {
        let base = self.base.and_then(|base| base.checked_mul(factor));
        Some(Shape { step: self.step.checked_mul(factor)?, base, ..self })
    }
}

/// The use that a role makes of the value of an expression.
#[derive(Clone, Copy)]
enum Use {
    /// It matters as it is.
    Exact,
    /// It becomes the value of a counter.
    Into(usize),
}

/// Returns how the values of each of a role's counters are kept.
pub(super) fn kept(role: &Role) -> Vec<Kept> {
    let uses = uses(role);
    let named = uses.iter().flat_map(|(expr, used)| {
        let target = match used {
            Use::Exact => None,
            Use::Into(counter) => u32::try_from(*counter).ok(),
        };
        expr.counters().chain(target)
    });
    let mut kept = vec![Kept::Modulo { start: 0, period: 1 }; named.max().map_or(0, |last| last as usize + 1)];
    // Starts and periods only grow, up to the limit, so that this ends.
    loop {
        let before = kept.clone();
        for (expr, used) in &uses {
            for counter in expr.counters() {
                let needed = needed(expr, counter, *used, &kept);
                let own = &mut kept[counter as usize];
                *own = joined(*own, needed);
            }
            // Values that are not bounded from below have no place before the start of the period.
            if let Use::Into(target) = *used
                && let Kept::Modulo { start: 1.., .. } = kept[target]
                && !expr.counters().all(|counter| grows(expr, counter, &kept))
            {
                kept[target] = Kept::Exactly;
            }
        }
        if kept == before {
            return kept;
        }
    }
}

/// Returns what the use of an expression asks of how a counter is kept.
fn needed(expr: &Expr, counter: u32, used: Use, kept: &[Kept]) -> Kept {
    let Some(shape) = shape(expr, counter) else { return Kept::Exactly };
    let (shape, start) = match used {
        Use::Into(target) => match kept[target] {
            Kept::Exactly if target == counter as usize => return Kept::Exactly,
            Kept::Exactly => (Some(shape).filter(|shape| shape.step == 0), 0),
            Kept::Modulo { start, period } => (shape.divisible(period), start),
        },
        Use::Exact => (Some(shape).filter(|shape| shape.step == 0), 0),
    };
    shape.map_or(Kept::Exactly, |shape| Kept::Modulo { start: shape.start.max(start), period: shape.period })
}

fn joined(one: Kept, other: Kept) -> Kept {
    match (one, other) {
        (Kept::Modulo { start: a, period: p }, Kept::Modulo { start: b, period: q }) => {
            let (start, period) = (a.max(b), (p / gcd(p, q)).saturating_mul(q));
            if start.saturating_add(period) > LARGEST { Kept::Exactly } else { Kept::Modulo { start, period } }
        }
        (Kept::Exactly, _) | (_, Kept::Exactly) => Kept::Exactly,
    }
}

/// Returns whether the expression is the counter plus what is not negative: constants, and counters that are kept modulo a period.
fn grows(expr: &Expr, counter: u32, kept: &[Kept]) -> bool {
    let adds = expr.terms.iter().all(|term| match *term {
        Term::Constant(value) => value >= 0,
        Term::Counter(other) => other == counter || matches!(kept[other as usize], Kept::Modulo { .. }),
        Term::Apply(operator) => operator == Operator::Add,
        Term::Rank | Term::Unknown => false,
    });
    let alone = |shape: Shape| shape.step == 1 && shape.period == 1;
    shape(expr, counter).is_some_and(|of| alone(of) && (of.base >= Some(0) || adds))
}

fn shape(expr: &Expr, counter: u32) -> Option<Shape> {
    let mut stack = Vec::new();
    for term in &expr.terms {
        let shape = match *term {
            Term::Constant(value) => Shape::fixed(Some(value)),
            Term::Counter(other) if other == counter => Shape { step: 1, ..Shape::fixed(Some(0)) },
            Term::Counter(_) | Term::Rank | Term::Unknown => Shape::fixed(None),
            Term::Apply(operator) => {
                let (right, left): (Shape, Shape) = (stack.pop()?, stack.pop()?);
                left.apply(operator, right)?
            }
        };
        stack.push(shape);
    }
    stack.pop()
}

fn uses(role: &Role) -> Vec<(Expr, Use)> {
    let mut uses = Vec::new();
    for step in &role.steps {
        let mut exact = |expr: &Expr| uses.push((expr.clone(), Use::Exact));
        let index = |element: &Element| element.index.clone();
        match &step.op {
            Op::Wait { barrier, parity } | Op::Branch { condition: Condition::Over { barrier, parity }, .. } => {
                exact(&index(barrier));
                exact(&parity.clone().apply(Operator::Rem, Expr::constant(2)));
            }
            Op::WaitToken { barrier }
            | Op::Expect { barrier, .. }
            | Op::Branch { condition: Condition::Past { barrier }, .. } => exact(&index(barrier)),
            Op::Arrive { barrier, block, .. } => {
                exact(&index(barrier));
                exact(block);
            }
            Op::Copy { slot, barrier, block, signals, from, .. } => {
                from.iter().for_each(|from| exact(&index(from)));
                exact(&index(slot));
                exact(&index(barrier));
                exact(block);
                exact(signals);
            }
            Op::Share { slot, barrier, .. } => {
                exact(&index(slot));
                exact(&index(barrier));
            }
            Op::BeginFill { slot, block, .. }
            | Op::EndFill { slot, block }
            | Op::BeginRead { slot, block, .. }
            | Op::EndRead { slot, block } => {
                exact(&index(slot));
                exact(block);
            }
            Op::Store { slot, .. } => exact(&index(slot)),
            Op::Set(values) => {
                uses.extend(values.iter().map(|(counter, expr)| (expr.clone(), Use::Into(*counter as usize))))
            }
            Op::Branch { condition: Condition::Counters(expr) | Condition::Ahead(expr), .. } => exact(expr),
            Op::Branch { condition: Condition::Shared | Condition::Constant(_) | Condition::Free, .. }
            | Op::WaitStores { .. }
            | Op::Sync { .. }
            | Op::NextRound
            | Op::Jump(_)
            | Op::Leave => {}
        }
    }
    uses
}

pub(super) fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.saturating_abs(), b.saturating_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}
