//! Finds the assignment to a variable that a thread comes to, where its rank decides: of `let role = if warp == 0 { 1 } else { 2 };` each thread
//! has one.

use super::kernel::{Kernel, Point};
use super::value::Evaluator;
use crate::check::cfg::{BlockId, End, Extent, NodeId, Variable};
use crate::check::uniform::control::following_until;
use crate::rings::Expr;

impl Kernel<'_, '_> {
    /// The branches on whose arms a block is, and nowhere behind them, each with whether it has to go to its first arm.
    pub(super) fn guards_of(&self, block: BlockId) -> Vec<(BlockId, bool)> {
        let guard = |branch: &BlockId| {
            let End::Branch { then, otherwise, .. } = self.cfg.blocks[branch.0].end else { return None };
            let (arms, end) = &self.regions[branch];
            let end = end.filter(|_| arms.contains(block))?;
            let leads =
                |arm: BlockId| arm != end && (arm == block || following_until(self.cfg, arm, end).contains(block));
            match (leads(then), leads(otherwise)) {
                (true, false) => Some((*branch, true)),
                (false, true) => Some((*branch, false)),
                (true, true) | (false, false) => None,
            }
        };
        let mut known = self.guards.borrow_mut();
        known.entry(block).or_insert_with(|| self.regions.keys().filter_map(guard).collect()).clone()
    }
}

impl Evaluator<'_, '_, '_> {
    /// The conditions of the branches on whose arms a block is, each with what it has to be, where they depend on ranks alone.
    pub(super) fn guards_before(&self, block: BlockId) -> Vec<(Expr, bool)> {
        let guard = |(branch, first): (BlockId, bool)| {
            let content = &self.kernel.cfg.blocks[branch.0];
            let on = self.value(content.end.condition()?, (branch, content.steps.len())).expr()?;
            (!on.has_counters()).then_some((on, first))
        };
        self.kernel.guards_of(block).into_iter().filter_map(guard).collect()
    }

    /// Whether the thread may come to a block, as far as its rank decides, in some block of the cluster.
    pub(super) fn may_come_to(&self, block: BlockId) -> bool {
        self.ranks_that_come_to(block).next().is_some()
    }

    /// The ranks of the blocks of the cluster in which the thread may come to a block of the graph.
    pub(super) fn ranks_that_come_to(&self, block: BlockId) -> impl Iterator<Item = u32> + use<> {
        let guards = self.guards_before(block);
        (0..self.kernel.blocks).filter(move |rank| is_passed(&guards, i64::from(*rank)))
    }

    /// The assignment whose value a variable has for the thread at a point, if there are several and its rank decides which one it comes to
    /// last.
    pub(super) fn reached(&self, variable: Variable, at: Point, depth: u32) -> Option<(Point, NodeId)> {
        let kernel = self.kernel;
        let sets = kernel.sets(variable);
        let once =
            |(point, _, extent): &(Point, NodeId, Extent)| *extent == Extent::Whole && !kernel.is_in_loop(point.0);
        if sets.len() < 2 || !sets.iter().all(once) {
            return None;
        }
        // Whether the thread comes to a block, as far as its rank decides.
        let comes_to = |block: BlockId| {
            let passes = kernel.guards_of(block).into_iter().map(|(branch, first)| {
                let content = &kernel.cfg.blocks[branch.0];
                let on = content.end.condition()?;
                let holds = self.value_within(on, (branch, content.steps.len()), depth).known()?;
                Some((holds != 0) == first)
            });
            let passes: Vec<Option<bool>> = passes.collect();
            match passes.contains(&Some(false)) {
                true => Some(false),
                false => passes.iter().all(Option::is_some).then_some(true),
            }
        };
        let reached: Vec<_> =
            sets.iter().map(|set| (set, comes_to(set.0.0))).filter(|(_, comes)| *comes != Some(false)).collect();
        if let [((point, value, _), _)] = reached[..] {
            return Some((*point, *value));
        }
        let is_before = |one: Point, other: Point| {
            one.0 == other.0 && one.1 < other.1 || one.0 != other.0 && kernel.following(one.0).contains(other.0)
        };
        let is_last = |last: Point| {
            is_before(last, at) && reached.iter().all(|((other, ..), _)| *other == last || is_before(*other, last))
        };
        let last = reached.iter().find(|((point, ..), comes)| *comes == Some(true) && is_last(*point));
        last.map(|((point, value, _), _)| (*point, *value))
    }
}

/// Whether conditions may be what they have to be in the block of a rank.
pub(super) fn is_passed(guards: &[(Expr, bool)], rank: i64) -> bool {
    !guards.iter().any(|(on, first)| on.value(&[], rank, 0).is_ok_and(|holds| (holds != 0) != *first))
}
