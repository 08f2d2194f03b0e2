//! Branches that a variable passes once: `if stride < 128 { .. }` in a loop that only makes `stride` larger goes the other way from some
//! iteration on, and stays so. `branch_correlation` follows them.
//!
//! Not done here: variables that may wrap around. Each step that makes one larger must come after a test, since it was last set, that it is less than a
//! known number, so small that the next value fits every type which has that number.

use std::collections::BTreeSet;

use super::cfg::{BlockId, Cfg, End, Extent, NodeId, Source, Variable};
use super::fixed::{FixedValues, MAX_DEPTH};
use super::uniform::control::following_until;
use super::uniform::values::Values;
use crate::model::expr::BinaryOp;
use crate::model::group::Group;
use crate::model::query::Answer;

/// A branch that a variable passes once.
pub(super) struct Threshold {
    /// The block that ends with the branch.
    pub(super) block: BlockId,
    pub(super) variable: Variable,
    /// Whether the `then` edge is taken where the variable has passed.
    pub(super) then: bool,
    /// The values by which the variable is made larger.
    pub(super) growing: BTreeSet<NodeId>,
}

/// A step that sets a variable.
#[derive(Clone, Copy)]
struct Setting {
    block: BlockId,
    value: NodeId,
    extent: Extent,
}

/// Returns the branches among these that a variable passes once.
pub(super) fn find(values: &Values<'_, '_>, fixed: &FixedValues<'_, '_>, ends: &[(BlockId, &End)]) -> Vec<Threshold> {
    let cfg = values.cfg;
    let mut found = Vec::new();
    for (block, end) in ends {
        let End::Branch { then, otherwise, .. } = end else { continue };
        // Of a branch that leaves its loop, the other way is not taken again.
        let comes_back = |arm: &BlockId| *arm == *block || values.control.following(*arm).contains(*block);
        let Some((variable, limit, is_below)) = compared(cfg, *block) else { continue };
        if ![then, otherwise].into_iter().all(comes_back) || fixed.text(limit, MAX_DEPTH).is_none() {
            continue;
        }
        let settings = settings(cfg, variable);
        let growing: Vec<Setting> =
            settings.iter().copied().filter(|setting| growth(cfg, variable, setting.value).is_some()).collect();
        let wrap = |setting: &Setting| !is_bounded(values, variable, &settings, *setting);
        if growing.is_empty() || growing.iter().any(wrap) {
            continue;
        }
        let growing = growing.iter().map(|setting| setting.value).collect();
        found.push(Threshold { block: *block, variable, then: !is_below, growing });
    }
    found
}

fn settings(cfg: &Cfg<'_>, variable: Variable) -> Vec<Setting> {
    let blocks = (0..).map(BlockId).zip(&cfg.blocks);
    let all = blocks.flat_map(|(block, content)| content.steps.iter().map(move |step| (block, step)));
    let sets = all
        .filter_map(|(block, step)| step.kind.set().map(|(of, value, extent)| (of, Setting { block, value, extent })));
    sets.filter(|(of, _)| *of == variable).map(|(_, setting)| setting).collect()
}

/// If a block ends with a comparison of a variable with a limit: both, and whether the comparison holds below the limit.
fn compared(cfg: &Cfg<'_>, block: BlockId) -> Option<(Variable, NodeId, bool)> {
    let End::Branch { on, .. } = cfg.blocks[block.0].end else { return None };
    let sets =
        |variable| cfg.blocks[block.0].steps.iter().any(|step| step.kind.set().is_some_and(|(of, ..)| of == variable));
    let (condition, holds) = without_negation(cfg, on);
    let node = &cfg.nodes[condition.0];
    let (Source::Binary(op) | Source::Round(_, op), [first, second]) = (&node.source, &node.operands[..]) else {
        return None;
    };
    let variable =
        |node: &NodeId| cfg.nodes[node.0].source.read().filter(|variable| cfg.only_value(*variable).is_none());
    let (variable, limit, is_turned) = match (variable(first), variable(second)) {
        (Some(variable), _) => (variable, *second, false),
        (None, Some(variable)) => (variable, *first, true),
        (None, None) => return None,
    };
    let is_below = match op {
        BinaryOp::Lt | BinaryOp::Le => !is_turned,
        BinaryOp::Gt | BinaryOp::Ge => is_turned,
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
        | BinaryOp::And
        | BinaryOp::Or => return None,
    };
    // What it holds at the end of the block is what is compared.
    (!sets(variable)).then_some((variable, limit, is_below == holds))
}

/// The largest value that a step makes of a number, if it adds or multiplies by a literal.
fn growth(cfg: &Cfg<'_>, variable: Variable, value: NodeId) -> Option<impl Fn(u64) -> Option<u64>> {
    let node = &cfg.nodes[value.0];
    let (Source::Binary(op), [first, second]) = (&node.source, &node.operands[..]) else { return None };
    let (op, is_its_own) = (*op, cfg.nodes[first.0].source.read() == Some(variable));
    let by = cfg.nodes[second.0].source.integer().filter(|by| is_its_own && *by >= 1)?;
    let grows = matches!(op, BinaryOp::Add | BinaryOp::Mul);
    let next = move |most: u64| if op == BinaryOp::Mul { most.checked_mul(by) } else { most.checked_add(by) };
    grows.then_some(next)
}

/// Whether a step that makes a variable larger comes only after a test, since the variable was set, that keeps it from wrapping around.
fn is_bounded(values: &Values<'_, '_>, variable: Variable, settings: &[Setting], setting: Setting) -> bool {
    let cfg = values.cfg;
    let Some(next) = growth(cfg, variable, setting.value) else { return false };
    if matches!(setting.extent, Extent::Field | Extent::Part)
        || settings.iter().filter(|other| other.block == setting.block).count() > 1
    {
        return false;
    }
    let tests = (0..cfg.blocks.len()).map(BlockId).filter(|block| *block != setting.block);
    tests.into_iter().any(|test| {
        let Some((_, limit, true)) = compared(cfg, test).filter(|(of, ..)| *of == variable) else { return false };
        let End::Branch { otherwise, .. } = cfg.blocks[test.0].end else { return false };
        let fits = |limit: u64| next(limit).is_some_and(|most| most <= most_of_types_with(limit));
        let passes_by = |from: BlockId| following_until(cfg, from, test).contains(setting.block);
        number(values, limit).is_some_and(fits)
            && otherwise != setting.block
            && !passes_by(otherwise)
            && !settings.iter().any(|other| passes_by(other.block))
    })
}

/// The largest number of the smallest type that has a number.
fn most_of_types_with(number: u64) -> u64 {
    let bits = [7, 8, 15, 16, 31, 32];
    bits.into_iter().map(|bits| (1 << bits) - 1).find(|most| number <= *most).unwrap_or(u64::MAX >> 1)
}

/// A number that the text shows: a literal, or the size of a group that the kernel's attribute fixes.
pub(super) fn number(values: &Values<'_, '_>, node: NodeId) -> Option<u64> {
    let cfg = values.cfg;
    let node = cfg.origin(node);
    let options = &values.function().options;
    let threads = || options.block.as_ref()?.count();
    let blocks = || options.cluster.as_ref()?.count();
    match cfg.queries.get(&node).map(|(group, query)| (*group, query.answer)) {
        Some((Group::ThreadBlock, Answer::ThreadCount)) => threads(),
        Some((Group::Cluster, Answer::ThreadCount)) => threads()?.checked_mul(blocks()?),
        Some((Group::Cluster, Answer::BlockCount)) => blocks(),
        Some(_) => None,
        None => cfg.nodes[node.0].source.integer(),
    }
}

/// The condition that a value is or negates, and whether it is.
pub(super) fn without_negation(cfg: &Cfg<'_>, mut condition: NodeId) -> (NodeId, bool) {
    let mut holds = true;
    while let (Source::Not, [negated]) = (&cfg.nodes[condition.0].source, &cfg.nodes[condition.0].operands[..]) {
        (condition, holds) = (*negated, !holds);
    }
    (condition, holds)
}
