//! One test for the accesses to the neighbours of a cell: those of `now[at(x - r, y, z)]`, `now[at(x, y + r, z)]` and their like differ in
//! terms of the same expression, `(z * height + y) * width + x`. All of them are within bounds if the box around them is, of which each term
//! takes all values that one of the accesses has there. A box may reach farther than they do, so that their own tests are made if
//! its test fails.

use crate::emit::cuda::ast::{CuExpr, Fragment};

/// The fewest tests for which one of a box is made.
const FEWEST: usize = 3;

/// A test that the elements of memory at these values of an index are within bounds.
pub(super) struct BoundsTest {
    pub(super) callee: Vec<Fragment>,
    pub(super) memory: Option<CuExpr>,
    pub(super) values: CuExpr,
    /// Without it there is no access.
    pub(super) condition: Option<CuExpr>,
}

impl BoundsTest {
    /// Returns the test of other values, apart from its condition.
    fn of(&self, values: CuExpr) -> CuExpr {
        let arguments = self.memory.iter().cloned().chain([values]).collect();
        CuExpr::Call { callee: self.callee.clone(), arguments, site: None }
    }
}

/// Puts tests that are about the same memory together, where their values have a box.
pub(super) fn in_boxes(tests: Vec<BoundsTest>) -> Vec<CuExpr> {
    let mut sets: Vec<Vec<BoundsTest>> = Vec::new();
    for test in tests {
        let belongs = |set: &&mut Vec<BoundsTest>| {
            let first = &set[0];
            let is_alike =
                first.memory == test.memory && first.callee == test.callee && first.condition == test.condition;
            is_alike && around(&[&first.values, &test.values], false).is_some()
        };
        match sets.iter_mut().find(belongs) {
            Some(set) => set.push(test),
            None => sets.push(vec![test]),
        }
    }
    sets.iter().flat_map(|set| of_set(set)).collect()
}

/// Returns the tests of a set, which have a box two by two.
fn of_set(set: &[BoundsTest]) -> Vec<CuExpr> {
    let whole = around(&set.iter().map(|test| &test.values).collect::<Vec<_>>(), false);
    let whole = whole.filter(|_| set.len() >= FEWEST).map(|whole| set[0].of(whole));
    let each = set.iter().map(|test| test.of(test.values.clone()));
    let unless = |test: CuExpr| match &set[0].condition {
        Some(condition) => condition.clone().not().or(test),
        None => test,
    };
    match whole {
        Some(whole) => each.reduce(CuExpr::and).map(|each| unless(whole.or(each))).into_iter().collect(),
        None => each.map(unless).collect(),
    }
}

/// Returns the values from the least to the largest of these, by the form that they share: the same sums and products of terms, some of
/// which differ. Without a form around them they have nothing in common.
fn around(values: &[&CuExpr], is_term: bool) -> Option<CuExpr> {
    let (first, others) = values.split_first()?;
    if others.iter().all(|other| other == first) {
        return Some((*first).clone());
    }
    let by_form = match first {
        CuExpr::Infix { op: op @ ("+" | "*"), .. } if others.iter().all(|other| is_infix(other, op)) => {
            let [left, right] = sides(values).map(|side| around(&side, true));
            left.zip(right).map(|(left, right)| {
                let (left, right) = (Box::new(left), Box::new(right));
                CuExpr::Infix { op, left, right, site: None }
            })
        }
        CuExpr::Call { callee, .. } if is_conversion(callee) && others.iter().all(|other| calls(other, callee)) => {
            let arguments = values.iter().filter_map(|value| match value {
                CuExpr::Call { arguments, .. } => arguments.first(),
                _ => None,
            });
            let argument = around(&arguments.collect::<Vec<_>>(), is_term);
            argument.map(|argument| CuExpr::Call { callee: callee.clone(), arguments: vec![argument], site: None })
        }
        _ => None,
    };
    by_form.or_else(|| hull(values).filter(|_| is_term))
}

/// Returns the operands of operators, the left ones and the right ones.
fn sides<'v>(values: &[&'v CuExpr]) -> [Vec<&'v CuExpr>; 2] {
    let sides = values.iter().filter_map(|value| match value {
        CuExpr::Infix { left, right, .. } => Some((&**left, &**right)),
        _ => None,
    });
    let (left, right) = sides.unzip();
    [left, right]
}

/// Returns the values from the least to the largest of any terms, unless one is a literal, whose type the others give it.
fn hull(values: &[&CuExpr]) -> Option<CuExpr> {
    let mut terms: Vec<CuExpr> = Vec::new();
    for value in values {
        if !terms.contains(value) {
            terms.push((*value).clone());
        }
    }
    (!terms.iter().any(CuExpr::is_number)).then(|| CuExpr::call("hull", terms))
}

fn is_infix(value: &CuExpr, symbol: &str) -> bool {
    matches!(value, CuExpr::Infix { op, .. } if *op == symbol)
}

fn calls(value: &CuExpr, name: &[Fragment]) -> bool {
    matches!(value, CuExpr::Call { callee, .. } if *callee == name)
}

/// Whether a call is a conversion of integers: `as<usize>(value)`.
fn is_conversion(callee: &[Fragment]) -> bool {
    callee.first() == Some(&Fragment::Text("as<".into()))
}
