//! Lowers a loop over memory to two: one without checks of the accesses that a test before it shows to be within
//! bounds, for all of its iterations, and one with them, which runs if the test fails and reports the first access that
//! is out of bounds. The test computes with intervals of values (interval.cuh). It is about an access whose index comes,
//! by arithmetic, from the variables of the loop and of loops inside of it, and from values that the loop does not
//! change. The tests never fail themselves. What is not understood keeps its check.
//!
//! A loop in which threads do something together is printed once, after a variable with the value of the same test. If
//! it is true, the tests inside of the loop, of its loops and of its straight-line code, are not made: they hold in all
//! iterations. If it is false, they are made in each iteration, as if it were not there.

use std::collections::BTreeMap;

use super::Lower;
use super::access::{Access, AccessForm, Region};
use super::ahead::{Ahead, STAGES, ahead, is_combination};
use super::counter::Counter;
use super::deferred::{Deferred, deferred};
use super::few_rounds::few_rounds;
use super::intervals::Values;
use super::loop_tests::{Shifted, Test, Tests, Unless};
use super::nest::{Form, Nest};

use crate::emit::cuda::ast::Unrolling;
use crate::emit::cuda::ast::{CuExpr, Fragment};
use crate::emit::cuda::signature::template;
use crate::model::expr::{Expr, ExprKind};
use crate::model::op::Op;
use crate::model::{LocalId, SiteId, SlotId, Unroll};

/// The test before a loop, and what it shows.
pub(super) struct Hoisted<'e> {
    pub(super) test: CuExpr,
    /// The accesses that need no check where the test holds.
    pub(super) accesses: Vec<SiteId>,
    /// The indexes of those that are printed in another form in a loop that is printed twice.
    pub(super) widened: BTreeMap<SiteId, CuExpr>,
    /// Whether the loop is printed once or twice.
    pub(super) form: Form,
    /// The slots of the functions that the loop calls. The loop is printed twice only if in none of them threads do
    /// something together, which the runtime knows.
    pub(super) callees: Vec<SlotId>,
    /// The accesses that are reported after the loop.
    pub(super) deferred: Option<Deferred<'e>>,
    /// How far the loop is unrolled if the kernel does not say so; of one that is printed twice, that without checks.
    pub(super) unroll: Option<Unrolling>,
    /// The values of the counter of a `while`.
    pub(super) counted: Option<CuExpr>,
    /// Whether the loop may be left before its end.
    pub(super) is_left: bool,
    /// Whether the test is about the length of a slice. One of arrays, the compiler of CUDA C++ often decides.
    pub(super) is_of_slices: bool,
    /// Whether all threads of a warp come to the loop together, so that the test is to be one of all of them.
    pub(super) is_of_warp: bool,
    /// The short array of which the loop reads the elements of its range.
    pub(super) array: Option<LocalId>,
}

impl Lower<'_> {
    /// Returns the test before a loop whose range is in the variable `steps`, if it shows anything. The values of the range may be in a
    /// variable, too.
    pub(super) fn hoist<'e>(&mut self, whole: &'e Expr, steps: &str, values: Option<&str>) -> Option<Hoisted<'e>>
    where
        Self: 'e,
    {
        let nest = Nest::of(whole, self.closures, self.conditions)?;
        let variable = nest.variable;
        // The tests of a round's vectors keep the assembler from moving their loads to where each is used, so that all are in flight.
        let loads_vectors = nest
            .accesses
            .iter()
            .any(|(_, access)| Access::of(access).is_some_and(|access| matches!(access.form, AccessForm::LoadVec(_))));
        let form = match nest.form {
            Form::OfWarp if self.is_loop_of_warp(whole) && (!loads_vectors || is_combination(self.function, &nest)) => {
                Form::Twice
            }
            Form::OfWarp => Form::Once,
            form @ (Form::Untested | Form::Once | Form::Twice) => form,
        };
        let (candidates, mut callees) = (nest.accesses.clone(), nest.callees.clone());
        // The threads of a warp are in the same copy of the loop only if its test is one of all of them.
        if form != nest.form {
            callees.extend(self.meetings.callees());
        }
        let mut known = Values::new(self, nest, CuExpr::name(steps));
        let counted = match Counter::of(whole) {
            Some(counter) => Some(known.counted(&counter)?),
            None => None,
        };
        if let Some(variable) = variable {
            let of_steps = || CuExpr::call("values_of", vec![CuExpr::name(steps)]);
            known.insert(variable, values.map_or_else(of_steps, CuExpr::name), Vec::new());
        }
        known.insert_inner();
        let adjacent = known.adjacent();
        known.lower.adjacent.extend(adjacent);
        let mut tests = Tests::default();
        let mut accesses = Vec::new();
        let mut widened = BTreeMap::new();
        let mut conditional = Vec::new();
        let mut is_of_slices = false;
        for (statement, access) in candidates.into_iter().filter(|(_, access)| !is_plain(whole, access)) {
            let Some((site, mut of_access)) = known.tests(access, statement) else { continue };
            if known.lower.unchecked.contains(&site) {
                continue;
            }
            if known.nest.conditional.contains_key(&site) {
                let Some(guarded) = known.guarded_tests(access, statement, site) else {
                    conditional.push((site, Access::of(access).is_some_and(|of| of.is_constant()), of_access));
                    continue;
                };
                of_access = guarded;
            }
            let all_within = known.lower.all_within.get(&site).cloned();
            // What an outer loop has tested for all of its iterations, or the compiler of CUDA C++ decides.
            if form == Form::Once && (all_within.is_some() || Access::of(access).is_some_and(|of| of.is_constant())) {
                continue;
            }
            let unless = Unless { all_within, at_launch: known.lower.held_check(site) };
            if of_access.into_iter().all(|test| tests.add(unless.clone(), test)) {
                accesses.push(site);
                widened.extend(known.widened(access).map(|index| (site, index)));
                is_of_slices |= Access::of(access).is_some_and(|of| !of.is_of_array());
            }
        }
        // What an access that happens in each iteration needs anyway, or the compiler of CUDA C++ decides.
        for (site, is_constant, of_access) in conditional {
            let unless = Unless { all_within: None, at_launch: known.lower.held_check(site) };
            if of_access.iter().all(|test| is_constant || tests.has(test, unless.at_launch.is_some()))
                && of_access.into_iter().all(|test| tests.add(unless.clone(), test))
            {
                accesses.push(site);
            }
        }
        let unroll = match ahead(known.lower.function, &known.nest) {
            Some(Ahead::Rounds(rounds)) => Some(Unroll::Ahead(rounds).into()),
            Some(Ahead::RoundsIf { rounds, size, most }) => {
                let only_if = Some(known.lower.number_within(size, [1, most]));
                Some(Unrolling { unroll: Unroll::Ahead(rounds), only_if })
            }
            Some(Ahead::Stages(stages)) => {
                let of = known.lower.number_within(stages, STAGES);
                Some(Unrolling { unroll: Unroll::By(of.number), only_if: Some(of) })
            }
            None => few_rounds(known.lower, whole),
        };
        let is_known =
            |expr, site| accesses.contains(&site) || known.lower.unchecked.contains(&site) || is_plain(whole, expr);
        let deferred = deferred(&known, &known.nest, is_known);
        // The first element takes the place of others.
        let first = |access: &Access<'_>| {
            let callee = match access.form {
                AccessForm::LoadVec(lanes) => template("covers_vectors", vec![Fragment::Digits(lanes)]),
                AccessForm::Element
                | AccessForm::Row
                | AccessForm::StoreVec(_)
                | AccessForm::Range(_)
                | AccessForm::From => {
                    vec!["covers".into()]
                }
            };
            let values = Shifted::of(CuExpr::call("values_of", vec![CuExpr::name("0")]));
            Some(Test { callee, memory: Some(known.memory(access.memory)?), values, condition: None })
        };
        for test in deferred.iter().flat_map(|deferred| &deferred.accesses).filter_map(first) {
            tests.require(test);
        }
        let is_left = known.nest.is_left;
        let array = known.lower.array_of_range(whole, |site| accesses.contains(&site));
        let is_of_warp = deferred.is_none() && self.is_loop_of_warp(whole);
        let test = tests.conjunction()?;
        Some(Hoisted {
            test,
            accesses,
            widened,
            form,
            callees,
            deferred,
            unroll,
            counted,
            is_left,
            is_of_slices,
            is_of_warp,
            array,
        })
    }
}

/// Whether an access is `memory[i]` in a loop over `0..memory.len()`, whose check the compiler of CUDA C++ removes.
fn is_plain(whole: &Expr, access: &Expr) -> bool {
    let ExprKind::For { local: Some(variable), range, .. } = &whole.kind else { return false };
    let ExprKind::Index { base, index, .. } = &access.kind else { return false };
    let ExprKind::Op { op: Op::Length, operands, .. } = &range.end.kind else { return false };
    let [ExprKind::Local(bound)] = operands.iter().map(|memory| &memory.kind).collect::<Vec<_>>()[..] else {
        return false;
    };
    let is = |expr: &Expr, local: &LocalId| matches!(&expr.kind, ExprKind::Local(other) if other == local);
    range.adaptors.is_empty() && !range.inclusive && is(base, bound) && is(index, variable)
}
