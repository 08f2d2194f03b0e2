//! Control dependence, and the points where the arms of a branch merge. These are facts of the graph alone: what branches test
//! is not considered.
//!
//! Control dependence is that of Ferrante, Ottenstein and Warren (1987), from post-dominators. A variable that is set on one
//! arm of a branch has, where the arms merge, a value that depends on the branch, inside of loops and behind them. A thread
//! that fails ends the launch, so that no path leads on from there.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::bit_set::BlockSet;
use crate::check::cfg::{BasicBlock, BlockId, Cfg, End, Extent, Variable};

/// The control dependence of a graph.
pub(crate) struct Control {
    /// For each block, the branches that decide whether control reaches it, directly or through others.
    deciders: Vec<BlockSet>,
    /// For each block, the branches whose arms merge at its start.
    pub(crate) merges: Vec<Vec<BlockId>>,
    /// For each branch, the variables that are set on its arms before they merge.
    pub(crate) assigned: BTreeMap<BlockId, BTreeSet<Variable>>,
    /// For each branch, the block where its arms have merged, if they do.
    ends: BTreeMap<BlockId, Option<BlockId>>,
    /// For each block, those that control can reach from its end.
    following: Vec<BlockSet>,
}

impl Control {
    pub(crate) fn of(cfg: &Cfg<'_>) -> Control {
        let post_dominators = post_dominators(cfg);
        let mut control = Control {
            deciders: deciders(cfg, &post_dominators),
            merges: vec![Vec::new(); cfg.blocks.len()],
            assigned: BTreeMap::new(),
            ends: BTreeMap::new(),
            following: all_following(cfg),
        };
        let mut entries = vec![0_u32; cfg.blocks.len()];
        cfg.blocks.iter().flat_map(|block| block.end.successors()).for_each(|next| entries[next.0] += 1);
        let fields = fields(cfg);
        for branch in branches(cfg) {
            let end = nearest(&post_dominators, branch);
            control.add_branch(cfg, branch, end, &entries, &fields);
            control.ends.insert(branch, end);
        }
        control
    }

    /// Records the variables that are set on the arms from `branch` to `end`, where all paths have merged, and the blocks where
    /// some merge before.
    fn add_branch(
        &mut self,
        cfg: &Cfg<'_>,
        branch: BlockId,
        end: Option<BlockId>,
        entries: &[u32],
        fields: &BTreeSet<Variable>,
    ) {
        let mut arms = cfg.blocks[branch.0].end.successors().map(|next| reachable(cfg, next, end));
        let (Some(first), Some(second)) = (arms.next(), arms.next()) else { return };
        let between = first.clone().or(&second);
        let steps = between.iter().flat_map(|block| &cfg.blocks[block.0].steps);
        let mut assigned = BTreeSet::new();
        for (variable, _, extent) in steps.filter_map(|step| step.kind.set()) {
            assigned.insert(variable);
            // Setting the whole sets its fields, which have no step of their own.
            if let (Some(its_fields), Extent::Whole | Extent::Part) = (variable.fields(), extent) {
                assigned.extend(fields.range(its_fields));
            }
        }
        self.assigned.insert(branch, assigned);
        let met = first.and(&second);
        for block in met.iter().filter(|block| entries[block.0] > 1).chain(end) {
            self.merges[block.0].push(branch);
        }
    }

    /// The branches, each with the blocks on its arms and the block where those have merged.
    pub(crate) fn regions(&self, cfg: &Cfg<'_>) -> impl Iterator<Item = (BlockId, BlockSet, Option<BlockId>)> {
        self.ends.iter().map(|(branch, end)| {
            let arms = cfg.blocks[branch.0].end.successors().map(|next| reachable(cfg, next, *end));
            (*branch, arms.fold(BlockSet::none(cfg.blocks.len()), |all, arm| all.or(&arm)), *end)
        })
    }

    /// The blocks that control can reach from the end of this block, which is one of them if it stands in a loop.
    pub(crate) fn following(&self, block: BlockId) -> &BlockSet {
        &self.following[block.0]
    }

    /// The branches that decide whether control reaches a block.
    pub(crate) fn deciders(&self, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        self.deciders[block.0].iter()
    }

    /// The branches that decide whether control reaches `block`, without those that already decided it for `formed_at`.
    pub(super) fn deciders_since(&self, block: BlockId, formed_at: Option<BlockId>) -> BlockSet {
        let own = self.deciders[block.0].clone();
        match formed_at {
            Some(formed_at) => own.without(&self.deciders[formed_at.0]),
            None => own,
        }
    }

    pub(super) fn decides(&self, branch: BlockId, block: BlockId) -> bool {
        self.deciders[block.0].contains(branch)
    }
}

/// Whether the arm of `branch` that does not reach `block` leaves the function by a `return` of its own, and not at the end
/// of the body, which `block` reaches too.
pub(super) fn leaves(cfg: &Cfg<'_>, branch: BlockId, block: BlockId) -> bool {
    let mut arms = cfg.blocks[branch.0].end.successors().map(|next| reachable(cfg, next, None));
    let Some(away) = arms.find(|arm| !arm.contains(block)) else { return false };
    let is_end = |block: &BlockId| matches!(cfg.blocks[block.0].end, End::Leave);
    let staying = reachable(cfg, block, None);
    let mut ends = away.iter().filter(is_end).peekable();
    ends.peek().is_some() && ends.all(|end| !staying.contains(end))
}

/// The fields that some step sets by themselves.
fn fields(cfg: &Cfg<'_>) -> BTreeSet<Variable> {
    let steps = cfg.blocks.iter().flat_map(|block| &block.steps);
    let set = steps.filter_map(|step| step.kind.set()).map(|(variable, ..)| variable);
    set.filter(|variable| matches!(variable, Variable::Field(..))).collect()
}

/// The blocks that end in a branch to two different blocks.
fn branches<'c>(cfg: &'c Cfg<'_>) -> impl Iterator<Item = BlockId> + 'c {
    let chooses = |block: &usize| {
        let mut next = cfg.blocks[*block].end.successors();
        matches!((next.next(), next.next()), (Some(first), Some(second)) if first != second)
    };
    (0..cfg.blocks.len()).filter(chooses).map(BlockId)
}

/// The blocks that control can reach from the start of `from` without passing `end`.
pub(crate) fn reachable(cfg: &Cfg<'_>, from: BlockId, end: Option<BlockId>) -> BlockSet {
    reachable_from_all(cfg, vec![from], end)
}

/// The blocks that control can reach from the end of this block, which is one of them if it stands in a loop.
pub(crate) fn following(cfg: &Cfg<'_>, block: BlockId) -> BlockSet {
    reachable_from_all(cfg, cfg.blocks[block.0].end.successors().collect(), None)
}

/// For each block, the blocks that control can reach from its end.
fn all_following(cfg: &Cfg<'_>) -> Vec<BlockSet> {
    let mut all = vec![BlockSet::none(cfg.blocks.len()); cfg.blocks.len()];
    loop {
        let mut changed = false;
        for (number, block) in cfg.blocks.iter().enumerate().rev() {
            let mut following = all[number].clone();
            for next in block.end.successors() {
                changed |= following.insert(next) | following.insert_all(&all[next.0]);
            }
            all[number] = following;
        }
        if !changed {
            return all;
        }
    }
}

/// The blocks that control can reach from the end of this block without passing `end`.
pub(crate) fn following_until(cfg: &Cfg<'_>, block: BlockId, end: BlockId) -> BlockSet {
    reachable_from_all(cfg, cfg.blocks[block.0].end.successors().collect(), Some(end))
}

fn reachable_from_all(cfg: &Cfg<'_>, mut work: Vec<BlockId>, end: Option<BlockId>) -> BlockSet {
    let mut reached = BlockSet::none(cfg.blocks.len());
    while let Some(block) = work.pop() {
        if Some(block) != end && reached.insert(block) {
            for next in cfg.blocks[block.0].end.successors() {
                work.push(next);
            }
        }
    }
    reached
}

/// The heads of the loops that no path leaves. Post-dominators treat them as exits, so that each iteration stands by itself.
fn endless(cfg: &Cfg<'_>) -> BlockSet {
    let count = cfg.blocks.len();
    let mut endless = BlockSet::none(count);
    for block in BlockSet::all(count).without(&ending(cfg)).iter() {
        let after = following(cfg, block);
        // The head of a loop has a lower number than its body.
        if after.contains(block) && after.and(&endless).is_empty() {
            endless.insert(block);
        }
    }
    endless
}

/// The blocks from which a path leads to the function's end.
fn ending(cfg: &Cfg<'_>) -> BlockSet {
    let mut ending = BlockSet::none(cfg.blocks.len());
    loop {
        let mut changed = false;
        for (block, BasicBlock { end, .. }) in cfg.blocks.iter().enumerate().rev() {
            if matches!(end, End::Leave) || end.successors().any(|next| ending.contains(next)) {
                changed |= ending.insert(BlockId(block));
            }
        }
        if !changed {
            return ending;
        }
    }
}

/// The post-dominators of each block: the blocks on every path from it to the function's end, itself among them. A block
/// without such a path has all blocks.
fn post_dominators(cfg: &Cfg<'_>) -> Vec<BlockSet> {
    let count = cfg.blocks.len();
    let mut after = vec![BlockSet::all(count); count];
    let endless = endless(cfg);
    loop {
        let mut changed = false;
        for block in (0..count).rev() {
            let mut passed = match cfg.blocks[block].end {
                End::Leave => BlockSet::none(count),
                _ if endless.contains(BlockId(block)) => BlockSet::none(count),
                End::Never | End::Goto(_) | End::Branch { .. } | End::Option { .. } => BlockSet::all(count),
            };
            for next in cfg.blocks[block].end.successors() {
                passed = passed.and(&after[next.0]);
            }
            passed.insert(BlockId(block));
            if passed != after[block] {
                after[block] = passed;
                changed = true;
            }
        }
        if !changed {
            return after;
        }
    }
}

/// The nearest post-dominator of a branch.
fn nearest(post_dominators: &[BlockSet], branch: BlockId) -> Option<BlockId> {
    let passed = &post_dominators[branch.0];
    if passed.len() as usize == post_dominators.len() {
        return None;
    }
    passed.iter().filter(|other| *other != branch).max_by_key(|other| post_dominators[other.0].len())
}

/// For each block, the branches on which it is control-dependent, transitively.
fn deciders(cfg: &Cfg<'_>, post_dominators: &[BlockSet]) -> Vec<BlockSet> {
    let mut deciders = vec![BlockSet::none(cfg.blocks.len()); cfg.blocks.len()];
    for branch in branches(cfg) {
        let mut always = post_dominators[branch.0].clone();
        always.remove(branch);
        for next in cfg.blocks[branch.0].end.successors() {
            // The blocks that this arm always passes and the branch does not. An arm without a path to the end has all blocks as
            // post-dominators, so that the reachable ones stand in for them.
            let passed = match post_dominators[next.0].len() as usize == post_dominators.len() {
                true => reachable(cfg, next, None),
                false => post_dominators[next.0].clone(),
            };
            let decided = passed.without(&always);
            decided.iter().for_each(|block| {
                deciders[block.0].insert(branch);
            });
        }
    }
    loop {
        let mut changed = false;
        for block in 0..deciders.len() {
            let own = deciders[block].clone();
            let all = own.iter().fold(own.clone(), |all, branch| all.or(&deciders[branch.0]));
            changed |= all != own;
            deciders[block] = all;
        }
        if !changed {
            return deciders;
        }
    }
}
