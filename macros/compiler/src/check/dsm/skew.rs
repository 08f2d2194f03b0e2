//! Variables that hold the block's rank, or a multiple of it, plus something that is the same in all blocks: the part of a ring
//! that a block works on, `part = (part + N - 1) % N` from its rank on. What is the same is a base as a variable is that is uniform
//! for the cluster, so that the parts of two blocks are compared by their ranks.
//!
//! The variables are guessed from the values that they are set to, and each guess is held against all assignments: it stays if
//! every value is of its form, given that reads of the variables are.

use std::collections::BTreeMap;

use phalanx_contract::uniformity::Uniformity;

use super::affine::{Affine, Base, Change, Cycle, Wraparound};
use super::index_analysis::IndexAnalysis;
use super::index_value::{Form, IndexValue};
use crate::check::cfg::{BlockId, Cfg, Extent, StepKind, ValueStep, Variable, gcd};
use crate::check::engine;
use crate::check::uniform::values::Values;

/// The variables, each with the coefficient of the rank and what the rest is known modulo.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Skews(BTreeMap<Variable, Skew>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Skew {
    rank: i32,
    modulus: u32,
    cycle: Option<Cycle>,
}

impl Skews {
    /// What a variable holds, in terms of the part that is the same in all blocks.
    pub(super) fn read(&self, variable: Variable) -> Option<IndexValue> {
        let Skew { rank, modulus, cycle } = *self.0.get(&variable)?;
        let value = Affine { rank, ..Affine::of(Base::Variable(variable)) }.modulo(modulus)?;
        let value = cycle.map_or(Some(value), |cycle| value.modulo_cycle(cycle))?;
        Some(Form::Affine(value).into())
    }

    /// What assigning a value does to the variable, or to the part that is the same in all blocks.
    pub(super) fn change(&self, variable: Variable, value: &IndexValue) -> Change {
        let (Some(skew), Some(affine)) = (self.0.get(&variable), value.affine()) else {
            return value.change_of(variable);
        };
        match affine.rank.checked_sub(skew.rank) {
            Some(rank) => Affine { rank, ..affine }.change_of(variable),
            None => Change::Lost,
        }
    }

    /// Finds the variables.
    pub(super) fn of(analysis: &mut IndexAnalysis<'_, '_>, cfg: &Cfg<'_>, values: &Values<'_, '_>) {
        let candidates = candidates(analysis, cfg, values);
        if candidates.is_empty() {
            return;
        }
        let guesses = assigned(analysis, cfg).into_iter().filter(|(variable, _)| candidates.contains(variable));
        let guess = |(variable, values): (Variable, Vec<Option<Affine>>)| {
            Some((variable, values.into_iter().flatten().find_map(Skew::of)?))
        };
        analysis.skews.0 = guesses.filter_map(guess).collect();
        // Each round drops a variable, or knows less of one.
        while !analysis.skews.0.is_empty() {
            let assigned = assigned(analysis, cfg);
            let before = analysis.skews.clone();
            analysis.skews.0.retain(|variable, skew| {
                let mut values = assigned.get(variable).into_iter().flatten();
                values.all(|value| value.is_some_and(|value| skew.covers(*variable, value)))
            });
            if analysis.skews == before {
                return;
            }
        }
    }
}

impl Skew {
    fn of(value: Affine) -> Option<Skew> {
        let Affine { rank, modulus, cycle, .. } = value;
        (rank != 0).then_some(Skew { rank, modulus, cycle })
    }

    /// Whether a value is of this form, perhaps known modulo less.
    fn covers(&mut self, variable: Variable, value: Affine) -> bool {
        let is_same = match value.base {
            Base::Variable(base) => base != variable || value.factor == 1,
            Base::Zero | Base::Fixed(_) => true,
        };
        self.modulus = gcd(u64::from(self.modulus), u64::from(value.modulus)) as u32;
        let in_cycle = value.cycle.is_none() || self.cycle.is_none() || value.cycle == self.cycle;
        self.cycle = self.cycle.or(value.cycle);
        value.rank == self.rank && is_same && self.modulus != 1 && in_cycle && value.wraparound == Wraparound::No
    }
}

/// The variables that all threads of the cluster set at the same places, to values that are not the same in all blocks.
fn candidates(analysis: &IndexAnalysis<'_, '_>, cfg: &Cfg<'_>, values: &Values<'_, '_>) -> Vec<Variable> {
    let mut sets: BTreeMap<Variable, Vec<bool>> = BTreeMap::new();
    let mut differs = Vec::new();
    for (block, step) in
        (0..).map(BlockId).zip(&cfg.blocks).flat_map(|(id, block)| block.steps.iter().map(move |step| (id, step)))
    {
        let StepKind::Value(ValueStep::Set { variable, value, extent }) = step.kind else { continue };
        let is_alike = extent == Extent::Whole && values.is_reached_uniformly(block, Uniformity::Cluster);
        sets.entry(variable).or_default().push(is_alike);
        if !analysis.is_uniform(value) {
            differs.push(variable);
        }
    }
    let is_candidate = |variable: &Variable, alike: &[bool]| {
        alike.len() > 1
            && alike.iter().all(|alike| *alike)
            && differs.contains(variable)
            && analysis.is_relevant(*variable)
    };
    sets.into_iter().filter(|(variable, alike)| is_candidate(variable, alike)).map(|(variable, _)| variable).collect()
}

/// The values that variables are set to.
fn assigned(analysis: &IndexAnalysis<'_, '_>, cfg: &Cfg<'_>) -> BTreeMap<Variable, Vec<Option<Affine>>> {
    let mut all: BTreeMap<Variable, Vec<Option<Affine>>> = BTreeMap::new();
    let known = engine::solve(analysis, cfg);
    engine::visit(analysis, cfg, &known, |state, step| {
        if let Some((variable, value)) = analysis.assigned(state, step) {
            all.entry(variable).or_default().push(value.affine());
        }
    });
    all
}
