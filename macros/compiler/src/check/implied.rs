//! Branches that an earlier branch on the same value implies: `if step > 0 { .. } .. if step >= 3 { .. }`, `match step { 1 | 2 => .. }`. What
//! is known of a value that is the same wherever it is computed (`fixed`) is a set of numbers; for two such values, whether the first one is less, equal or
//! greater. `branch_correlation` follows them.
//!
//! Not done here: values that are set several times (`moving`), and how different values relate, but by a comparison of just these two.

use std::collections::{BTreeMap, BTreeSet};

use super::cfg::{BlockId, Cfg, End, NodeId, Source};
use super::fixed::{FixedValues, MAX_DEPTH};
use super::sorted_map::SortedMap;
use super::thresholds::without_negation;
use crate::model::expr::BinaryOp;
use crate::model::{Function, Param};

/// The most values that are followed.
const MOST_VALUES: usize = 4;

/// Numbers, as inclusive ranges in order, with a gap between one and the next.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Numbers(Vec<(i64, i64)>);

impl Numbers {
    fn between(first: i64, last: i64) -> Numbers {
        Numbers(vec![(first, last)])
    }

    /// The numbers that compare with a number in this way.
    fn compared(op: BinaryOp, with: i64) -> Option<Numbers> {
        Some(match op {
            BinaryOp::Lt => Numbers::between(i64::MIN, with - 1),
            BinaryOp::Le => Numbers::between(i64::MIN, with),
            BinaryOp::Gt => Numbers::between(with + 1, i64::MAX),
            BinaryOp::Ge => Numbers::between(with, i64::MAX),
            BinaryOp::Eq => Numbers::between(with, with),
            BinaryOp::Ne => Numbers::between(with, with).complement(),
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
        })
    }

    fn intersection(&self, other: &Numbers) -> Numbers {
        let pairs = self.0.iter().flat_map(|a| other.0.iter().map(move |b| (a.0.max(b.0), a.1.min(b.1))));
        Numbers(pairs.filter(|(first, last)| first <= last).collect())
    }

    fn complement(&self) -> Numbers {
        let mut gaps = Vec::new();
        let mut next = Some(i64::MIN);
        for (first, last) in &self.0 {
            if let Some(start) = next.filter(|start| start < first) {
                gaps.push((start, first - 1));
            }
            next = last.checked_add(1);
        }
        gaps.extend(next.map(|start| (start, i64::MAX)));
        Numbers(gaps)
    }

    fn union(&self, other: &Numbers) -> Numbers {
        self.complement().intersection(&other.complement()).complement()
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A branch at the end of a block, its condition, and the numbers for which that holds.
type Branch = (BlockId, NodeId, Numbers);

/// What is known of the values at a point, by their numbers.
pub(super) type Known = SortedMap<usize, Numbers>;

/// The branches that are followed: the value that each tests, and the numbers for which the test holds.
#[derive(Default)]
pub(super) struct Implied {
    tests: BTreeMap<BlockId, (usize, Numbers)>,
    /// The numbers that each value may have at all.
    possible: BTreeMap<usize, Numbers>,
}

impl Implied {
    /// Finds the values that several of these branches test in different ways.
    pub(super) fn of(
        function: &Function,
        cfg: &Cfg<'_>,
        fixed: &FixedValues<'_, '_>,
        ends: &[(BlockId, &End)],
    ) -> Implied {
        let mut tested: BTreeMap<(String, Numbers), Vec<Branch>> = BTreeMap::new();
        for (block, end) in ends {
            if let End::Branch { on, .. } = end
                && let Some(Test { value, possible, numbers }) = test(function, cfg, fixed, *on)
            {
                tested.entry((value, possible)).or_default().push((*block, *on, numbers));
            }
        }
        // The same condition is followed by itself.
        let text = |on: &NodeId| fixed.text(without_negation(cfg, *on).0, MAX_DEPTH);
        let differ = |tests: &Vec<Branch>| tests.iter().map(|(_, on, _)| text(on)).collect::<BTreeSet<_>>().len() > 1;
        let mut implied = Implied::default();
        let several = tested.into_iter().filter(|(_, tests)| differ(tests)).take(MOST_VALUES);
        for (value, ((_, possible), tests)) in several.enumerate() {
            implied.possible.insert(value, possible);
            implied.tests.extend(tests.into_iter().map(|(block, _, numbers)| (block, (value, numbers))));
        }
        implied
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// The value that the branch at the end of a block tests.
    pub(super) fn tested(&self, block: BlockId) -> Option<usize> {
        self.tests.get(&block).map(|(value, _)| *value)
    }

    /// Whether the test at the end of a block holds, if that is known.
    pub(super) fn decided(&self, known: &Known, block: BlockId) -> Option<bool> {
        let (value, test) = self.tests.get(&block)?;
        let known = known.get(value).or_else(|| self.possible.get(value))?;
        if known.intersection(test).is_empty() {
            return Some(false);
        }
        known.intersection(&test.complement()).is_empty().then_some(true)
    }

    /// Adds what the edge says on which the test at the end of a block holds, or does not.
    pub(super) fn learn(&self, known: &mut Known, block: BlockId, holds: bool) {
        let Some((value, test)) = self.tests.get(&block) else { return };
        let told = if holds { test.clone() } else { test.complement() };
        let before = known.get(value).or_else(|| self.possible.get(value));
        let numbers = before.map(|before| before.intersection(&told));
        known.extend(numbers.map(|numbers| (*value, numbers)));
    }
}

/// A condition: the value that it tests, the numbers that this may have at all, and those for which the condition holds.
struct Test {
    value: String,
    possible: Numbers,
    numbers: Numbers,
}

fn test(function: &Function, cfg: &Cfg<'_>, fixed: &FixedValues<'_, '_>, condition: NodeId) -> Option<Test> {
    let (condition, holds) = without_negation(cfg, condition);
    if cfg.cuts.contains_key(&condition) {
        return None;
    }
    let node = &cfg.nodes[condition.0];
    let (Source::Binary(op) | Source::Round(_, op)) = node.source else { return None };
    let [first, second] = node.operands[..] else { return None };
    let (value, possible, numbers) = match op {
        BinaryOp::And | BinaryOp::Or => {
            let (a, b) = (test(function, cfg, fixed, first)?, test(function, cfg, fixed, second)?);
            let both =
                if op == BinaryOp::And { a.numbers.intersection(&b.numbers) } else { a.numbers.union(&b.numbers) };
            ((a.value == b.value).then_some(a.value)?, a.possible, both)
        }
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
        | BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le
        | BinaryOp::Gt
        | BinaryOp::Ge => {
            let literal = |node: NodeId| cfg.nodes[node.0].source.integer().map(limit);
            let of_one = |value: NodeId, op, limit| {
                let first = if is_unsigned(function, cfg, value) { 0 } else { i64::MIN };
                let possible = Numbers::between(first, i64::MAX);
                Some((fixed.text(value, MAX_DEPTH)?, possible, Numbers::compared(op, limit)?))
            };
            match (literal(first), literal(second)) {
                (None, Some(limit)) => of_one(first, op, limit?)?,
                (Some(limit), None) => of_one(second, turned(op), limit?)?,
                (Some(_), Some(_)) => return None,
                (None, None) => {
                    let (a, b) = (fixed.text(first, MAX_DEPTH)?, fixed.text(second, MAX_DEPTH)?);
                    // Of two values, the numbers are those of an ordering: less, equal or greater.
                    let (pair, op) = if a <= b { ((a, b), op) } else { ((b, a), turned(op)) };
                    (format!("{} beside {}", pair.0, pair.1), Numbers::between(-1, 1), Numbers::compared(op, 0)?)
                }
            }
        }
    };
    Some(Test { value, possible, numbers: if holds { numbers } else { numbers.complement() } })
}

/// Whether a value is a parameter of an unsigned type or a rank.
fn is_unsigned(function: &Function, cfg: &Cfg<'_>, value: NodeId) -> bool {
    if cfg.recast.contains_key(&value) {
        return false;
    }
    let value = cfg.origin(value);
    let source = &cfg.nodes[value.0].source;
    let param = if let Source::Param(position) = source { function.params.get(*position) } else { None };
    let is_rank = matches!(source, Source::ThreadRank) || cfg.positions.contains_key(&value);
    is_rank || param.is_some_and(Param::is_unsigned)
}

/// A literal, if the numbers on both sides of it are numbers as well.
fn limit(number: u64) -> Option<i64> {
    i64::try_from(number).ok().filter(|number| *number < i64::MAX)
}

/// The comparison of the operands in the other order.
fn turned(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Ge => BinaryOp::Le,
        BinaryOp::Eq
        | BinaryOp::Ne
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
        | BinaryOp::Or => op,
    }
}
