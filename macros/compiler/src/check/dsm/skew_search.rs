//! Finds the variables that differ between blocks by their ranks (`skew`): they are guessed from the values that they are set to, and
//! each guess is held against all assignments. It stays if every value is of its form, given that reads of the variables are.

use std::collections::BTreeMap;

use phalanx_contract::uniformity::Uniformity;

use super::index_analysis::IndexAnalysis;
use super::skew::{Assigned, Skews};
use crate::check::cfg::{BlockId, Cfg, Extent, StepKind, ValueStep, Variable};
use crate::check::engine;
use crate::check::uniform::values::Values;

/// Finds the variables, and tells the analysis.
pub(super) fn find(analysis: &mut IndexAnalysis<'_, '_>, cfg: &Cfg<'_>, values: &Values<'_, '_>) {
    let candidates = candidates(analysis, cfg, values);
    if candidates.is_empty() {
        return;
    }
    analysis.skews = Skews::guessed(assigned(analysis, cfg), &candidates);
    // Each round drops a variable, or knows less of one.
    while !analysis.skews.is_empty() {
        let confirmed = analysis.skews.clone().confirmed(&assigned(analysis, cfg));
        if confirmed == analysis.skews {
            return;
        }
        analysis.skews = confirmed;
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
fn assigned(analysis: &IndexAnalysis<'_, '_>, cfg: &Cfg<'_>) -> Assigned {
    let mut all = Assigned::new();
    let known = engine::solve(analysis, cfg);
    engine::visit(analysis, cfg, &known, |state, step| {
        if let Some((variable, value)) = analysis.assigned(state, step) {
            all.entry(variable).or_default().push(value.affine());
        }
    });
    all
}
