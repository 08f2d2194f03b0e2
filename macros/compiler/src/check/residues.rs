//! Counters of loops, modulo a number: which of several buffers an iteration uses (`if k % 2 == 0 { .. }`). A counter is followed if
//! a branch that decides what a name of memory stands for depends on its remainder, or if an index does and the counter begins
//! anew in each round of an outer loop. `constant_propagation` computes with the remainders, and `partition` splits the graph by them.

use std::collections::{BTreeMap, BTreeSet};

use super::cfg::{BlockId, Cfg, CountedLoop, Extent, NodeId, Source, StepKind, ValueStep, Variable, gcd};
use super::liveness;
use super::sorted_map::SortedMap;
use super::uniform::control::following;
use super::uniform::values::Values;
use crate::model::expr::BinaryOp;

/// The largest modulus that is followed.
const LARGEST: u64 = 12;

/// The remainders of counters at a point; `None` for one whose loop has not begun.
pub(super) type Remainders = SortedMap<Variable, Option<u64>>;

/// An assignment to a variable: where, of which value, and of which part.
pub(super) type Assignment = (BlockId, NodeId, Extent);

/// The counters that are followed.
#[derive(Debug, Default)]
pub(super) struct Residues {
    /// By counter, the number of its first iteration and the step to the next.
    counters: BTreeMap<Variable, (u64, u64)>,
    /// A multiple of every modulus that the branches use.
    modulus: u64,
    /// The values that the branches depend on, and the other variables that hold them.
    nodes: BTreeSet<NodeId>,
    variables: BTreeSet<Variable>,
    /// The counters that are used after the start of each block, for their next values as well.
    live: Vec<BTreeSet<Variable>>,
    /// By the block of its test, the counter of a loop over literals, with its last number.
    last: BTreeMap<BlockId, (Variable, u64)>,
}

impl Residues {
    /// Finds the counters. `set_alike` returns what a variable is set to, if all threads of the cluster set it alike: the paths of
    /// threads that set others differently would not be compared with each other.
    pub(super) fn of<'s>(
        cfg: &Cfg<'_>,
        values: &Values<'_, '_>,
        selectors: &BTreeSet<NodeId>,
        set_alike: impl Fn(Variable) -> Option<&'s [Assignment]>,
    ) -> Residues {
        let names = |block: &BlockId| {
            cfg.blocks[block.0].steps.iter().any(|step| matches!(step.kind, StepKind::Value(ValueStep::Name { .. })))
        };
        let deciding =
            (0..cfg.blocks.len()).map(BlockId).filter(names).flat_map(|block| values.control.deciders(block));
        let mut work: Vec<NodeId> = deciding.filter_map(|branch| cfg.blocks[branch.0].end.condition()).collect();
        let last = last_numbers(cfg);
        work.extend(restarting(cfg, &last, selectors));
        let mut residues = Residues { modulus: 1, ..Residues::default() };
        while let Some(node) = work.pop() {
            if residues.nodes.insert(node) {
                work.extend(&cfg.nodes[node.0].operands);
                if let Some(variable) = cfg.nodes[node.0].source.read()
                    && let Some(sets) = set_alike(variable)
                {
                    match sets.iter().find_map(|(_, value, _)| counter(cfg, *value)) {
                        Some(counter) => _ = residues.counters.insert(variable, counter),
                        None => {
                            residues.variables.insert(variable);
                            work.extend(sets.iter().map(|(_, value, _)| *value));
                        }
                    }
                }
                if let Some((_, modulus)) = remainder(cfg, node) {
                    let common = modulus / gcd(residues.modulus, modulus);
                    residues.modulus = residues.modulus.saturating_mul(common);
                }
            }
        }
        if !(2..=LARGEST).contains(&residues.modulus) || residues.counters.is_empty() {
            return Residues::default();
        }
        residues.live = live(cfg);
        residues.last = last.into_iter().filter(|(_, (counter, _))| residues.counters.contains_key(counter)).collect();
        residues
    }

    /// Whether the loop whose test is at the end of a block goes on, because this is not its last number.
    pub(super) fn goes_on(&self, remainders: &Remainders, test: BlockId) -> bool {
        let Some((counter, last)) = self.last.get(&test) else { return false };
        let now = remainders.get(counter).copied().flatten();
        now.is_some_and(|now| now != last % self.modulus)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.counters.is_empty()
    }

    /// The values that the branches depend on.
    pub(super) fn nodes(&self) -> &BTreeSet<NodeId> {
        &self.nodes
    }

    /// The variables that hold such values.
    pub(super) fn variables(&self) -> &BTreeSet<Variable> {
        &self.variables
    }

    /// The remainders that are still of use at the start of a block.
    pub(super) fn kept(&self, remainders: &Remainders, at: BlockId) -> Remainders {
        let is_live = |counter: &Variable| self.live.get(at.0).is_some_and(|live| live.contains(counter));
        remainders.iter().filter(|(counter, _)| is_live(counter)).map(|(counter, known)| (*counter, *known)).collect()
    }

    /// A variable is set: to its next value, or to none before its loop.
    pub(super) fn set(&self, cfg: &Cfg<'_>, remainders: &mut Remainders, variable: Variable, value: NodeId) {
        let Some((first, by)) = self.counters.get(&variable) else { return };
        let next = match (&cfg.nodes[value.0].source, remainders.get(&variable)) {
            (Source::Counter { .. }, Some(None)) => Some(first % self.modulus),
            (Source::Counter { .. }, Some(Some(now))) => Some((now + by) % self.modulus),
            (Source::Counter { .. }, None) => {
                remainders.remove(&variable);
                return;
            }
            (_, _) => None,
        };
        remainders.insert(variable, next);
    }

    /// The value of a remainder, or of the bits that a mask leaves.
    pub(super) fn evaluate(&self, cfg: &Cfg<'_>, remainders: &Remainders, node: NodeId) -> Option<u64> {
        let (of, modulus) = remainder(cfg, node).filter(|_| !self.is_empty() && self.nodes.contains(&node))?;
        Some(self.remainder_of(cfg, remainders, of)? % modulus)
    }

    /// A value modulo the modulus. The operands of a value are of the same iteration.
    fn remainder_of(&self, cfg: &Cfg<'_>, remainders: &Remainders, node: NodeId) -> Option<u64> {
        let operand = |index: usize| self.remainder_of(cfg, remainders, *cfg.nodes[node.0].operands.get(index)?);
        match &cfg.nodes[node.0].source {
            Source::Integer(number) => Some(number % self.modulus),
            Source::Read(variable) => match remainders.get(variable) {
                Some(known) => *known,
                // It is set once in each iteration, in which the counters are the same.
                None => Some(cfg.origin(node))
                    .filter(|origin| *origin != node)
                    .and_then(|origin| self.remainder_of(cfg, remainders, origin)),
            },
            Source::Binary(BinaryOp::Add) => Some((operand(0)? + operand(1)?) % self.modulus),
            Source::Binary(BinaryOp::Mul) => Some(operand(0)? * operand(1)? % self.modulus),
            Source::Binary(_)
            | Source::Operands
            | Source::Constant(_)
            | Source::Not
            | Source::Counter { .. }
            | Source::Param(_)
            | Source::Known { .. }
            | Source::ThreadRank
            | Source::Round(..)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => None,
        }
    }
}

/// By the block of its test, the counter of each loop over literals that counts up, with its last number.
fn last_numbers(cfg: &Cfg<'_>) -> BTreeMap<BlockId, (Variable, u64)> {
    let last = |counted: &CountedLoop| {
        let number = |node: NodeId| cfg.nodes[node.0].source.integer();
        let (start, end, by) = (number(counted.start)?, number(counted.end)?, u64::try_from(counted.by?).ok()?);
        let end = if counted.inclusive { end.checked_add(1)? } else { end };
        let steps = end.checked_sub(start)?.checked_sub(1)?.checked_div(by)?;
        let counter = cfg.blocks[counted.inside.0].steps.iter().find_map(|step| {
            let (variable, value, _) = step.kind.set()?;
            matches!(cfg.nodes[value.0].source, Source::Counter { of, .. } if of == variable).then_some(variable)
        })?;
        Some((counter, start.checked_add(steps.checked_mul(by)?)?))
    };
    cfg.counted.iter().filter_map(|(test, counted)| Some((*test, last(counted)?))).collect()
}

/// The remainders that select memory and depend on a counter that begins anew in each round of an outer loop.
fn restarting(
    cfg: &Cfg<'_>,
    last: &BTreeMap<BlockId, (Variable, u64)>,
    selectors: &BTreeSet<NodeId>,
) -> BTreeSet<NodeId> {
    let begins_anew = |test: &BlockId| {
        cfg.counted.get(test).is_some_and(|counted| following(cfg, counted.before).contains(counted.before))
    };
    let counters: BTreeSet<Variable> =
        last.iter().filter(|(test, _)| begins_anew(test)).map(|(_, (counter, _))| *counter).collect();
    if counters.is_empty() {
        return BTreeSet::new();
    }
    let mut found = BTreeSet::new();
    let (mut work, mut seen): (Vec<NodeId>, _) = (selectors.iter().copied().collect(), BTreeSet::new());
    while let Some(node) = work.pop() {
        if !seen.insert(node) {
            continue;
        }
        if remainder(cfg, node).is_some() && depends_on(cfg, node, &counters) {
            found.insert(node);
        }
        work.extend(&cfg.nodes[node.0].operands);
        work.extend(cfg.nodes[node.0].source.read().into_iter().flat_map(|variable| set_to(cfg, variable)));
    }
    found
}

/// Whether a value is computed from one of these variables.
pub(super) fn depends_on(cfg: &Cfg<'_>, node: NodeId, variables: &BTreeSet<Variable>) -> bool {
    let (mut work, mut seen) = (vec![node], BTreeSet::new());
    while let Some(node) = work.pop() {
        if seen.insert(node) {
            let read = cfg.nodes[node.0].source.read();
            if read.is_some_and(|variable| variables.contains(&variable)) {
                return true;
            }
            work.extend(&cfg.nodes[node.0].operands);
            work.extend(read.into_iter().flat_map(|variable| set_to(cfg, variable)));
        }
    }
    false
}

/// The values that a variable is set to.
fn set_to<'c>(cfg: &'c Cfg<'_>, variable: Variable) -> impl Iterator<Item = NodeId> + use<'c> {
    let sets = cfg.blocks.iter().flat_map(|block| &block.steps).filter_map(|step| step.kind.set());
    sets.filter(move |(set, ..)| *set == variable).map(|(_, value, _)| value)
}

/// The operand and the modulus of a remainder by a literal, or of a mask for one by a power of two.
fn remainder(cfg: &Cfg<'_>, node: NodeId) -> Option<(NodeId, u64)> {
    let node = &cfg.nodes[node.0];
    let [of, by] = node.operands[..] else { return None };
    let number = cfg.nodes[by.0].source.integer()?;
    let (Source::Binary(op) | Source::Round(_, op)) = node.source else { return None };
    let mask = || number.checked_add(1).filter(|modulus| modulus.is_power_of_two());
    let modulus = if op == BinaryOp::Rem { Some(number) } else { mask().filter(|_| op == BinaryOp::BitAnd) };
    modulus.filter(|modulus| *modulus > 1).map(|modulus| (of, modulus))
}

/// The first number and the step of a counter, if both are literals.
fn counter(cfg: &Cfg<'_>, value: NodeId) -> Option<(u64, u64)> {
    let Source::Counter { by: Some(by), .. } = cfg.nodes[value.0].source else { return None };
    let start = cfg.nodes[value.0].operands.first()?;
    Some((cfg.nodes[start.0].source.integer()?, u64::try_from(by).ok()?))
}

/// By block, the variables that are read after its start, or counted on.
pub(super) fn live(cfg: &Cfg<'_>) -> Vec<BTreeSet<Variable>> {
    liveness::solve(cfg, |block, live| {
        for step in cfg.blocks[block.0].steps.iter().rev() {
            if let Some((variable, ..)) = step.kind.set() {
                live.remove(&variable);
            }
            if let StepKind::Value(ValueStep::Evaluate(node)) = step.kind
                && let Source::Read(variable) | Source::Counter { of: variable, .. } = cfg.nodes[node.0].source
            {
                live.insert(variable);
            }
        }
    })
}
