//! Counters of loops over a few literals that have a barrier inside: which number each iteration has. `constant_propagation` computes
//! with them, and `partition` splits the graph by them, so that `if c == 0 { .. }` is taken in the first iteration alone, and what
//! an iteration accesses is compared with what others access only where no barrier comes between.
//!
//! Not done here: loops without a barrier, whose iterations are all unordered; counters that the body may change; ranges with more
//! numbers than `partition` follows of a variable.

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::uniformity::Uniformity;

use super::accessors::selectors;
use super::cfg::{BlockId, Cfg, CountedLoop, GroupStep, NodeId, Source, StepKind, Variable};
use super::residues::{depends_on, live};
use super::sorted_map::SortedMap;
use super::uniform::values::Values;

/// The most iterations of a loop whose counter is followed.
const MOST_ITERATIONS: u64 = 8;

/// The numbers of the current iterations; `None` for a counter whose loop has not begun.
pub(super) type Iterations = SortedMap<Variable, Option<u64>>;

/// The numbers that a counter takes.
#[derive(Debug, Clone, Copy)]
struct Numbers {
    first: u64,
    by: i64,
    last: u64,
    /// How many there are.
    count: u64,
}

/// The counters that are followed.
#[derive(Debug, Clone, Default)]
pub(super) struct ShortLoops {
    counters: BTreeMap<Variable, Numbers>,
    /// The counter of the loop whose test is at the end of a block.
    tests: BTreeMap<BlockId, Variable>,
    /// The counters that are used after the start of each block, for their next values as well.
    live: Vec<BTreeSet<Variable>>,
}

impl ShortLoops {
    /// Finds the counters that all threads of the cluster set alike, and on which an index, a rank or a branch depends.
    pub(super) fn of(cfg: &Cfg<'_>, values: &Values<'_, '_>) -> ShortLoops {
        let mut used = selectors(cfg);
        used.extend(cfg.blocks.iter().filter_map(|block| block.end.condition()));
        let is_used = |counter| used.iter().any(|node| depends_on(cfg, *node, &BTreeSet::from([counter])));
        let mut loops = ShortLoops::default();
        for (test, counted) in &cfg.counted {
            if let Some((counter, numbers)) = numbers(cfg, counted)
                && (2..=MOST_ITERATIONS).contains(&numbers.count)
                && [counted.before, counted.inside]
                    .iter()
                    .all(|block| values.is_reached_uniformly(*block, Uniformity::Cluster))
                && has_barrier(cfg, values, *test, counted.inside)
                && is_used(counter)
            {
                loops.counters.insert(counter, numbers);
                loops.tests.insert(*test, counter);
            }
        }
        if !loops.counters.is_empty() {
            loops.live = live(cfg);
        }
        loops
    }

    pub(super) fn leave_out(&mut self, counter: Variable) {
        self.counters.remove(&counter);
        self.tests.retain(|_, of| *of != counter);
    }

    /// The counter of the loop with the most iterations.
    pub(super) fn longest(&self) -> Option<Variable> {
        self.counters.iter().max_by_key(|(_, numbers)| numbers.count).map(|(counter, _)| *counter)
    }

    pub(super) fn contains(&self, variable: Variable) -> bool {
        self.counters.contains_key(&variable)
    }

    /// The next number of a counter.
    pub(super) fn next(&self, iterations: &Iterations, counter: Variable) -> Option<u64> {
        let numbers = self.counters.get(&counter)?;
        match iterations.get(&counter)? {
            None => Some(numbers.first),
            Some(now) => now.checked_add_signed(numbers.by),
        }
    }

    /// A variable is set: to its next value, or to none before its loop.
    pub(super) fn set(&self, cfg: &Cfg<'_>, iterations: &mut Iterations, variable: Variable, value: NodeId) {
        if !self.contains(variable) {
            return;
        }
        if !matches!(cfg.nodes[value.0].source, Source::Counter { .. }) {
            iterations.insert(variable, None);
        } else if let Some(next) = self.next(iterations, variable) {
            iterations.insert(variable, Some(next));
        } else {
            iterations.remove(&variable);
        }
    }

    /// Whether the loop whose test is at the end of a block has another iteration, if that is known.
    pub(super) fn goes_on(&self, iterations: &Iterations, test: BlockId) -> Option<bool> {
        let counter = self.tests.get(&test)?;
        let now = iterations.get(counter).copied()?;
        Some(now.is_none_or(|now| now != self.counters[counter].last))
    }

    /// The numbers that are still of use at the start of a block.
    pub(super) fn kept(&self, iterations: &Iterations, at: BlockId) -> Iterations {
        let is_live = |counter: &Variable| self.live.get(at.0).is_some_and(|live| live.contains(counter));
        iterations.iter().filter(|(counter, _)| is_live(counter)).map(|(counter, now)| (*counter, *now)).collect()
    }
}

/// The counter of a loop over literals, and the numbers that it takes.
fn numbers(cfg: &Cfg<'_>, counted: &CountedLoop) -> Option<(Variable, Numbers)> {
    let number = |node: NodeId| cfg.nodes[node.0].source.integer();
    let (start, end) = (number(counted.start)?, number(counted.end)?);
    let end = if counted.inclusive { end.checked_add(1)? } else { end };
    let greatest = end.checked_sub(1).filter(|greatest| *greatest >= start)?;
    let (counter, by) = cfg.blocks[counted.inside.0].steps.iter().find_map(|step| {
        let (variable, value, _) = step.kind.set()?;
        let Source::Counter { of, by: Some(by), .. } = cfg.nodes[value.0].source else { return None };
        (of == variable).then_some((variable, by))
    })?;
    let (first, last, count) = match u64::try_from(by) {
        Ok(by) => {
            let steps = (greatest - start).checked_div(by)?;
            (start, start + steps * by, steps + 1)
        }
        // Of a larger step down, it depends on the order of the adaptors where the numbers begin.
        Err(_) if by == -1 => (greatest, start, greatest - start + 1),
        Err(_) => return None,
    };
    Some((counter, Numbers { first, by, last, count }))
}

/// Whether something in the loop may order accesses of different iterations.
fn has_barrier(cfg: &Cfg<'_>, values: &Values<'_, '_>, test: BlockId, inside: BlockId) -> bool {
    let from = values.control.following(inside);
    let is_inside =
        |block: BlockId| (block == inside || from.contains(block)) && values.control.following(block).contains(test);
    let orders = |step: &StepKind| match step {
        StepKind::Group(
            GroupStep::Collective { .. }
            | GroupStep::Arrive { .. }
            | GroupStep::ArriveForgotten { .. }
            | GroupStep::Wait { .. }
            | GroupStep::WaitElected { .. },
        )
        | StepKind::BarrierCall(_)
        | StepKind::Call(_) => true,
        StepKind::Group(GroupStep::Aligned { .. } | GroupStep::FormGroup(_) | GroupStep::Convergent { .. })
        | StepKind::Value(_)
        | StepKind::Memory(_)
        | StepKind::Token(_)
        | StepKind::Copy(_) => false,
    };
    let blocks = (0..cfg.blocks.len()).map(BlockId).filter(|block| is_inside(*block));
    blocks.into_iter().any(|block| cfg.blocks[block.0].steps.iter().any(|step| orders(&step.kind)))
}
