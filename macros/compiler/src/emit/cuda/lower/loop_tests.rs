//! The tests before a loop, as data: memory, and the values that an index takes. Those whose values differ by what the loop does not
//! change are one test, of the lowest and the highest of them.

use std::collections::{BTreeMap, BTreeSet};

use super::access::converted;
use super::boxes::{BoundsTest, in_boxes};
use crate::emit::cuda::ast::{AtLaunchForm, CuExpr, Fragment};

/// The most tests before a loop, and the most accesses that one test is about.
const MOST_TESTS: usize = 12;
const MOST_SHIFTS: usize = 32;

/// The values of an interval, plus and minus what the loop does not change.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shifted {
    base: CuExpr,
    /// What is added, with whether it is subtracted.
    by: Vec<(bool, CuExpr)>,
    /// The whole, as the index has it.
    whole: CuExpr,
}

impl Shifted {
    pub(super) fn of(base: CuExpr) -> Shifted {
        Shifted { whole: base.clone(), base, by: Vec::new() }
    }

    /// Returns `values + by`, or `values - by`.
    pub(super) fn shifted(mut self, is_minus: bool, by: CuExpr) -> Shifted {
        let (left, right) = (Box::new(self.whole), Box::new(by.clone()));
        self.whole = CuExpr::Infix { op: if is_minus { "-" } else { "+" }, left, right, site: None };
        self.by.push((is_minus, by));
        self
    }

    /// Returns `by + values`.
    pub(super) fn shifted_before(mut self, by: CuExpr) -> Shifted {
        self.whole = CuExpr::Infix { op: "+", left: Box::new(by.clone()), right: Box::new(self.whole), site: None };
        self.by.push((false, by));
        self
    }

    /// Returns the name of a test, and the values that it is about (`access::converted`).
    pub(super) fn converted(self, callee: &'static str) -> (Vec<Fragment>, Shifted) {
        if !self.by.is_empty() {
            return (vec![callee.into()], self);
        }
        let (callee, values) = converted(callee, self.whole);
        (callee, Shifted::of(values))
    }

    pub(super) fn text(self) -> CuExpr {
        self.whole
    }

    /// Returns how far the values are from those of `start`, if they are `start + length`, or `(i + 1) * length` where `start` is
    /// `i * length`.
    pub(super) fn distance_from(&self, start: &Shifted) -> Option<Distance> {
        if let Some(((false, length), before)) = self.by.split_last()
            && self.base == start.base
            && *before == start.by[..]
        {
            return Some(Distance::Length(length.clone()));
        }
        let is_next = |of: &CuExpr, number: &CuExpr| matches!(of, CuExpr::Infix { op: "+", left, right, .. } if **left == *number && **right == CuExpr::name("1"));
        match (&self.whole, &start.whole) {
            (
                CuExpr::Infix { op: "*", left, right, .. },
                CuExpr::Infix { op: "*", left: number, right: length, .. },
            ) if right == length && is_next(left, number) => Some(Distance::Factor),
            _ => None,
        }
    }

    /// Returns `up_by(a).down_by(b)`.
    fn shift(&self) -> CuExpr {
        displacement(&self.by)
    }
}

/// Returns `up_by(a).down_by(b)` for what is added, with whether it is subtracted.
pub(super) fn displacement(terms: &[(bool, CuExpr)]) -> CuExpr {
    let name = |is_minus| if is_minus { "down_by" } else { "up_by" };
    let mut terms = terms.iter();
    let first = match terms.next() {
        Some((is_minus, by)) => CuExpr::call(name(*is_minus), vec![by.clone()]),
        None => CuExpr::call("up_by", vec![CuExpr::name("0")]),
    };
    terms.fold(first, |base, (is_minus, by)| CuExpr::Method {
        base: Box::new(base),
        name: name(*is_minus),
        arguments: vec![by.clone()],
        site: None,
    })
}

/// How far the end of a range is from its start.
pub(super) enum Distance {
    /// A value that the loop does not change. One of a signed type may be negative.
    Length(CuExpr),
    /// A factor of the start, which is a natural number where the values of a product are known.
    Factor,
}

/// The test that the elements of memory at the values of an index are within bounds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Test {
    pub(super) callee: Vec<Fragment>,
    pub(super) memory: Option<CuExpr>,
    pub(super) values: Shifted,
    /// What the loop does not change, and without which it does not make the access.
    pub(super) condition: Option<CuExpr>,
}

/// What makes a test unnecessary.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unless {
    /// A variable that is true then.
    pub(super) all_within: Option<String>,
    /// The number of the check that the host may make instead, before the launch.
    pub(super) at_launch: Option<u16>,
}

/// What makes tests unnecessary: a variable, and whether the host makes checks instead of them.
type Class = (Option<String>, bool);

/// The tests before a loop.
#[derive(Debug, Default)]
pub(super) struct Tests {
    /// Tests whose values are those of one interval, shifted.
    groups: Vec<(Class, Vec<Test>)>,
    /// The checks that the host may make instead of some.
    at_launch: BTreeSet<u16>,
}

impl Tests {
    /// Adds a test. Returns false if there are too many already.
    pub(super) fn add(&mut self, Unless { all_within, at_launch }: Unless, test: Test) -> bool {
        let class = (all_within, at_launch.is_some());
        // The same test is about the same indexes, and holds if it is known to hold of one access.
        if self.has(&test, class.1) {
            self.at_launch.extend(at_launch);
            return true;
        }
        let is_alike = |group: &&mut (Class, Vec<Test>)| {
            group.0 == class
                && group.1.first().is_some_and(|first| {
                    first.callee == test.callee
                        && first.memory == test.memory
                        && first.values.base == test.values.base
                        && first.condition == test.condition
                })
        };
        let is_full = self.groups.len() == MOST_TESTS;
        match self.groups.iter_mut().find(is_alike) {
            Some((_, group)) if group.len() < MOST_SHIFTS => group.push(test),
            Some(_) => return false,
            None if is_full => return false,
            None => self.groups.push((class, vec![test])),
        }
        self.at_launch.extend(at_launch);
        true
    }

    /// Adds a test without which there can be no loop, however many there are.
    pub(super) fn require(&mut self, test: Test) {
        if !self.has(&test, false) {
            self.groups.push(((None, false), vec![test]));
        }
    }

    /// Whether a test is made, perhaps only if the host has not made checks instead.
    pub(super) fn has(&self, test: &Test, perhaps: bool) -> bool {
        let holds_always = Test { condition: None, ..test.clone() };
        let groups = self.groups.iter().filter(|((_, at_launch), _)| !at_launch || perhaps);
        groups.flat_map(|(_, group)| group).any(|known| known == test || *known == holds_always)
    }

    /// Returns the conjunction of the tests, of which those with a variable hold if the variable is true.
    pub(super) fn conjunction(self) -> Option<CuExpr> {
        let mut by_class: BTreeMap<Class, Vec<BoundsTest>> = BTreeMap::new();
        for (class, mut group) in self.groups {
            let values = match &group[..] {
                [] => continue,
                [one] => one.values.clone().text(),
                [first, ..] => {
                    let shifts = group.iter().map(|test| test.values.shift());
                    CuExpr::call("spread_by", [first.values.base.clone()].into_iter().chain(shifts).collect())
                }
            };
            let Test { callee, memory, condition, .. } = group.swap_remove(0);
            by_class.entry(class).or_default().push(BoundsTest { callee, memory, values, condition });
        }
        let checks: Vec<u16> = self.at_launch.into_iter().collect();
        let of_class = |((all_within, at_launch), tests): (Class, Vec<BoundsTest>)| {
            let tests = in_boxes(tests);
            if all_within.is_none() && !at_launch {
                return tests;
            }
            let test = tests.into_iter().reduce(CuExpr::and).map(|tests| match all_within {
                Some(all_within) => CuExpr::name(&all_within).or(tests),
                None => tests,
            });
            let unless_held = |of: CuExpr| match at_launch {
                true => CuExpr::AtLaunch { checks: checks.clone(), form: AtLaunchForm::Or, of: Box::new(of) },
                false => of,
            };
            test.map(unless_held).into_iter().collect()
        };
        let mut classes: Vec<(Class, Vec<BoundsTest>)> = by_class.into_iter().collect();
        // What may be unnecessary comes first.
        classes.sort_by_key(|((all_within, at_launch), _)| (all_within.is_none(), !at_launch));
        classes.into_iter().flat_map(of_class).reduce(CuExpr::and)
    }
}
