//! Values behind conditions against all numbers for which the condition holds with some other number.

use fastrand::Rng;

use super::super::{Graph, Id, Node};
use super::Numbers::Integers;
use crate::program::launch_checks::values::{Integer, Values};
use crate::program::launch_terms::{Comparison, Operation};
use crate::shape::Shape;

const OPERATIONS: [Operation; 8] = [
    Operation::Add,
    Operation::Sub,
    Operation::Mul,
    Operation::Div,
    Operation::Rem,
    Operation::And,
    Operation::Shr,
    Operation::Min,
];

const COMPARISONS: [Comparison; 6] = [
    Comparison::Less,
    Comparison::LessOrEqual,
    Comparison::Greater,
    Comparison::GreaterOrEqual,
    Comparison::Equal,
    Comparison::NotEqual,
];

/// An expression of one number, another one, and literals.
enum Tree {
    Conditioned,
    Other,
    Literal(u64),
    Of(Operation, Box<[Tree; 2]>),
}

impl Tree {
    fn any(rng: &mut Rng, depth: u32) -> Tree {
        match rng.u32(..if depth == 0 { 4 } else { 9 }) {
            0 | 1 => Tree::Conditioned,
            2 => Tree::Other,
            3 => Tree::Literal(rng.u64(..12)),
            _ => Tree::Of(OPERATIONS[rng.usize(..8)], Box::new([(); 2].map(|()| Tree::any(rng, depth - 1)))),
        }
    }

    /// Adds the expression.
    fn add(&self, graph: &mut Graph, [conditioned, other]: [Id; 2]) -> Id {
        let node = match self {
            Tree::Conditioned => return conditioned,
            Tree::Other => return other,
            Tree::Literal(number) => Node::Integers(Values::of(Integer::WORD, (*number).into(), (*number).into())),
            Tree::Of(operation, parts) => {
                let [first, second] = &**parts;
                Node::Operation(
                    *operation,
                    [first.add(graph, [conditioned, other]), second.add(graph, [conditioned, other])],
                )
            }
        };
        graph.node(node).unwrap()
    }

    /// Computes it; `None` if it fails.
    fn value(&self, conditioned: u64, other: u64) -> Option<u64> {
        let Tree::Of(operation, parts) = self else {
            return Some(match self {
                Tree::Conditioned => conditioned,
                Tree::Other => other,
                Tree::Literal(number) => *number,
                Tree::Of(..) => unreachable!(),
            });
        };
        let [first, second] = [parts[0].value(conditioned, other)?, parts[1].value(conditioned, other)?];
        match operation {
            Operation::Add => Some(first.wrapping_add(second)),
            Operation::Sub => Some(first.wrapping_sub(second)),
            Operation::Mul => Some(first.wrapping_mul(second)),
            Operation::Div => first.checked_div(second),
            Operation::Rem => first.checked_rem(second),
            Operation::And => Some(first & second),
            Operation::Shr => Some(first.wrapping_shr(second as u32)),
            Operation::Min => Some(first.min(second)),
            _ => unreachable!(),
        }
    }
}

fn holds(comparison: Comparison, one: u64, other: u64) -> bool {
    match comparison {
        Comparison::Less => one < other,
        Comparison::LessOrEqual => one <= other,
        Comparison::Greater => one > other,
        Comparison::GreaterOrEqual => one >= other,
        Comparison::Equal => one == other,
        Comparison::NotEqual => one != other,
    }
}

/// Returns the values that a number from `low` to `high` has behind a condition.
fn limited(low: u64, high: u64, others: [u64; 2], sides: &[Tree; 2], comparison: Comparison) -> Values {
    let mut graph = Graph::default();
    let mut range =
        |low: u64, high: u64| graph.node(Node::Integers(Values::of(Integer::WORD, low.into(), high.into()))).unwrap();
    let (value, other) = (range(low, high), range(others[0], others[1]));
    let conditioned = graph.node(Node::Conditioned(value)).unwrap();
    let [side, bound] = [&sides[0], &sides[1]].map(|side| side.add(&mut graph, [conditioned, other]));
    let id = graph.limit_by_condition(comparison, [value, side, bound], conditioned).unwrap();
    let shape = Shape { grid: 1.into(), cluster: 1.into(), block: 1.into(), dynamic_shared_bytes: 0 };
    let Integers(values) = graph.values(&shape, |_| None).unwrap()[id] else { panic!("no integers") };
    values
}

#[test]
fn numbers_for_which_a_condition_may_hold_stay() {
    let mut rng = Rng::with_seed(21);
    let (mut narrower, mut empty) = (0, 0);
    for _ in 0..20_000 {
        let low = rng.u64(..20);
        let (high, least) = (low + rng.u64(..40), rng.u64(..10));
        let most = least + rng.u64(..3);
        let sides = [(); 2].map(|()| Tree::any(&mut rng, 3));
        let comparison = COMPARISONS[rng.usize(..6)];
        let found = limited(low, high, [least, most], &sides, comparison);
        let mut passing = (low..=high).filter(|&number| {
            (least..=most).any(|other| {
                let values = [sides[0].value(number, other), sides[1].value(number, other)];
                matches!(values, [Some(one), Some(other)] if holds(comparison, one, other))
            })
        });
        let ends = found.interval().map(|(low, high)| (low as u64, high as u64));
        let Some((first, last)) = ends else {
            assert_eq!(passing.next(), None, "{comparison:?} of {low}..={high}");
            empty += 1;
            continue;
        };
        narrower += u32::from((first, last) != (low, high));
        assert!(passing.all(|number| (first..=last).contains(&number)), "{comparison:?} of {low}..={high}: {found:?}");
    }
    assert!(narrower > 2_000 && empty > 2_000, "{narrower} {empty}");
}

#[test]
fn parts_at_both_ends_are_left_out() {
    let of = |operation, parts: [Tree; 2]| Tree::Of(operation, Box::new(parts));
    let by = |operation, number| of(operation, [Tree::Conditioned, Tree::Literal(number)]);
    let ends = |low, high, sides: [Tree; 2], comparison| {
        limited(low, high, [0, 1], &sides, comparison).interval().map(|(low, high)| (low as u64, high as u64))
    };
    // `i / 1000 > 0`, `i % 640 != 639`, `i % 640 != 0`.
    let one = || Tree::Literal(1);
    assert_eq!(ends(0, 1 << 40, [by(Operation::Div, 1000), one()], Comparison::GreaterOrEqual), Some((1000, 1 << 40)));
    let last = [by(Operation::Rem, 640), Tree::Literal(639)];
    assert_eq!(ends(0, 640 * 480 - 1, last, Comparison::NotEqual), Some((0, 640 * 480 - 2)));
    assert_eq!(ends(0, 9999, [by(Operation::Rem, 640), Tree::Literal(0)], Comparison::NotEqual), Some((1, 9999)));
    // `2 * i + 1 < 100`
    let odd = of(Operation::Add, [by(Operation::Mul, 2), one()]);
    assert_eq!(ends(0, 9999, [odd, Tree::Literal(100)], Comparison::Less), Some((0, 49)));
    assert_eq!(ends(3, 9, [by(Operation::Mul, 2), Tree::Other], Comparison::Less), None);
}
