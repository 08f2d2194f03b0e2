//! Preconditions of a kernel, which a launch's numbers have to meet so that no thread fails, and none leaves at once: assertions, and branches of which one arm ends
//! the thread. A launch in which something does not hold is given other numbers, where the condition is one about a single number.

use super::counters::Counters;
use super::given::{Arguments, Number};
use super::kernel::{Kernel, Point, Refusal};
use super::value::{Evaluator, Value, binary};
use super::walk::Walker;
use crate::check::cfg::{Assertion, BlockId, End, NodeId, Source};
use crate::model::expr::BinaryOp;
use crate::span::SpanRange;

/// How often a launch is given another number.
const MENDS: usize = 8;

/// The numbers above the one that does not do, each of which is tried.
const NEAR: i64 = 64;

/// The largest number for a parameter, which may be one of rounds, and for a length.
const LARGEST: i64 = 1 << 12;
const LONGEST: i64 = 1 << 30;

/// A condition that has to hold, or not.
struct Precondition {
    on: Condition,
    at: Point,
    holds: bool,
    /// Whether the launch fails otherwise.
    fails: bool,
}

enum Condition {
    Compares(BinaryOp, NodeId, NodeId),
    Value(NodeId),
}

/// The preconditions of a kernel.
pub(super) struct Preconditions<'p, 'a, 'f> {
    kernel: &'p Kernel<'a, 'f>,
    all: Vec<Precondition>,
}

impl<'p, 'a, 'f> Preconditions<'p, 'a, 'f> {
    pub(super) fn of(kernel: &'p Kernel<'a, 'f>) -> Preconditions<'p, 'a, 'f> {
        let mut found = Preconditions { kernel, all: Vec::new() };
        for assertion in &kernel.cfg.assertions {
            match (assertion.compares, &assertion.operands[..]) {
                (Some(op), [left, right]) => {
                    let on = Condition::Compares(op, *left, *right);
                    found.all.push(Precondition { on, at: assertion.at, holds: true, fails: true });
                }
                (None, [condition]) => found.add(*condition, assertion.at, (true, true)),
                _ => {}
            }
        }
        for (number, content) in kernel.cfg.blocks.iter().enumerate() {
            let End::Branch { on, then, otherwise } = content.end else { continue };
            let at = (BlockId(number), content.steps.len());
            for (ends, holds) in [(then, false), (otherwise, true)] {
                let arm = &kernel.cfg.blocks[ends.0];
                let does_nothing = !arm.steps.iter().any(|step| kernel.is_relevant(&step.kind, &|_| false));
                match arm.end {
                    End::Never if does_nothing => found.add(on, at, (holds, true)),
                    End::Leave if does_nothing && then != otherwise => found.add(on, at, (holds, false)),
                    End::Never | End::Leave | End::Goto(_) | End::Branch { .. } | End::Option { .. } => {}
                }
            }
        }
        found
    }

    /// Adds the parts of a condition, each of which has to hold.
    fn add(&mut self, on: NodeId, at: Point, (holds, fails): (bool, bool)) {
        let of = &self.kernel.cfg.nodes[self.kernel.cfg.origin(on).0];
        match (&of.source, &of.operands[..]) {
            (Source::Binary(op), [left, right]) => match (op, holds) {
                (BinaryOp::And, true) | (BinaryOp::Or, false) => {
                    self.add(*left, at, (holds, fails));
                    self.add(*right, at, (holds, fails));
                }
                _ => {
                    self.all.push(Precondition { on: Condition::Compares(*op, *left, *right), at, holds, fails });
                }
            },
            (Source::Not, [inverted]) => self.add(*inverted, at, (!holds, fails)),
            _ => self.all.push(Precondition { on: Condition::Value(on), at, holds, fails }),
        }
    }

    /// The launches to try in the place of one: itself, unless a thread fails in it, and the one in which no thread leaves at once.
    pub(super) fn launches(&self, arguments: &Arguments) -> Vec<Arguments> {
        let fails = |condition: &&Precondition| condition.fails;
        let first = self.met(arguments, fails).unwrap_or_else(|| arguments.clone());
        let second = self.met(&first, |_| true).filter(|second| *second != first);
        std::iter::once(first).chain(second).collect()
    }

    /// The launch in which such preconditions hold, with as few other numbers as possible.
    fn met(&self, arguments: &Arguments, such: impl Fn(&&Precondition) -> bool) -> Option<Arguments> {
        let mut arguments = arguments.clone();
        for _ in 0..MENDS {
            let broken = |condition: &&Precondition| self.difference(condition, &arguments).is_some_and(|off| off != 0);
            match self.all.iter().filter(&such).find(broken) {
                None => return Some(arguments),
                Some(broken) => arguments = self.mended(broken, &arguments)?,
            }
        }
        None
    }

    /// How far a precondition is from being met: 0 if it is, and otherwise a number whose sign says in which direction; `None` if it
    /// depends on more than the launch.
    fn difference(&self, condition: &Precondition, arguments: &Arguments) -> Option<i64> {
        let counters = Counters::default();
        let of_thread = |thread: u32| {
            let evaluator = Evaluator {
                kernel: self.kernel,
                counters: &counters,
                arguments: Some(arguments),
                thread,
                after: None,
                inlines: false,
            };
            let value = |node: NodeId| evaluator.value(node, condition.at);
            let (result, off) = match condition.on {
                Condition::Value(node) => (value(node).known()?, 1),
                Condition::Compares(op, left, right) => {
                    let result = binary(op, value(left), value(right)).known()?;
                    let off =
                        value(left).known().zip(value(right).known()).map(|(left, right)| left.checked_sub(right));
                    (result, off.flatten().filter(|off| *off != 0).unwrap_or(1))
                }
            };
            Some(if (result != 0) == condition.holds { 0 } else { off })
        };
        // Of a condition on the rank, the first and the last thread tell.
        match (of_thread(0)?, of_thread(self.kernel.threads.saturating_sub(1))?) {
            (0, last) => Some(last),
            (first, _) => Some(first),
        }
    }

    /// Gives one of the numbers that a precondition is about another value, with which it is met: a length, or else a parameter.
    fn mended(&self, condition: &Precondition, arguments: &Arguments) -> Option<Arguments> {
        let nodes: Vec<(NodeId, Point)> = match condition.on {
            Condition::Value(node) => vec![(node, condition.at)],
            Condition::Compares(_, left, right) => vec![(left, condition.at), (right, condition.at)],
        };
        let given = self.kernel.depends(&nodes).given;
        let (lengths, parameters): (Vec<Number>, Vec<Number>) =
            self.kernel.numbers_of(&given).into_iter().partition(|number| number.is_length);
        lengths.into_iter().chain(parameters).find_map(|number| {
            let with = |value: i64| arguments.with(number, value);
            let off = |value: i64| self.difference(condition, &with(value));
            self.nearest(arguments.value(number), if number.is_length { LONGEST } else { LARGEST }, off).map(with)
        })
    }

    /// A number for which a difference is 0: one close to the first, or the one where the sign of the difference changes.
    fn nearest(&self, first: i64, largest: i64, off: impl Fn(i64) -> Option<i64>) -> Option<i64> {
        let does = |value: &i64| off(*value) == Some(0);
        let far = || self.where_sign_changes(first, largest, &off).filter(does);
        (first..=first + NEAR).find(does).or_else(far).or_else(|| (0..first).find(does))
    }

    /// The first number from which on a difference has another sign.
    fn where_sign_changes(&self, first: i64, largest: i64, off: impl Fn(i64) -> Option<i64>) -> Option<i64> {
        let sign = off(first)?.signum();
        let (mut below, mut above) = (first, first.max(1) * 2);
        while off(above)?.signum() == sign {
            (below, above) = (above, above.checked_mul(2).filter(|value| *value <= largest)?);
        }
        while above - below > 1 {
            let middle = below + (above - below) / 2;
            *(if off(middle)?.signum() == sign { &mut below } else { &mut above }) = middle;
        }
        Some(above)
    }
}

impl Walker<'_, '_, '_, '_> {
    /// Refuses arguments with which an assertion does not hold.
    pub(super) fn asserts(&self, point: Point, at: SpanRange) -> Result<(), Refusal> {
        let Some(_) = self.evaluator.arguments else { return Ok(()) };
        let holds = |assertion: &Assertion| {
            let values: Vec<Value> = assertion.operands.iter().map(|node| self.evaluator.value(*node, point)).collect();
            match (assertion.compares, &values[..]) {
                (Some(op), [left, right]) => binary(op, left.clone(), right.clone()).known(),
                (_, values) => values.first().and_then(Value::known),
            }
        };
        let mut here = self.kernel().cfg.assertions.iter().filter(|assertion| assertion.at == point);
        match here.any(|assertion| holds(assertion) == Some(0)) {
            true => Err(Refusal::of_arguments(at, "a thread fails")),
            false => Ok(()),
        }
    }
}
