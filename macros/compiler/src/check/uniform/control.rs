//! Which branches decide whether control comes to a block, and where the ways from a branch meet again. Facts of the graph
//! alone: what the branches test is not looked at.
//!
//! Control dependence is that of Ferrante, Ottenstein and Warren (1987), by post-dominators; where ways meet is where
//! a variable that was set on one of them has a value that depends on the branch, inside of loops and behind them. A
//! thread that fails ends the launch, so no way leads from there to anywhere.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::{BTreeMap, BTreeSet};

use crate::check::block_set::BlockSet;
use crate::check::cfg::{BasicBlock, BlockId, Cfg, End, Extent, Variable};

pub(crate) struct Control {
    /// For each block, the blocks whose branches decide whether control comes to it, at once or through others.
    deciders: Vec<BlockSet>,
    /// For each block, the branches whose ways meet at its start.
    pub(super) merges: Vec<Vec<BlockId>>,
    /// For each branch, the variables that are set before its ways have met.
    pub(crate) assigned: BTreeMap<BlockId, BTreeSet<Variable>>,
    /// For each branch, where its ways have met, if they do.
    ends: BTreeMap<BlockId, Option<BlockId>>,
}

impl Control {
    pub(crate) fn of(cfg: &Cfg<'_>) -> Control {
        let after = post_dominators(cfg);
        let mut control = Control {
            deciders: deciders(cfg, &after),
            merges: vec![Vec::new(); cfg.blocks.len()],
            assigned: BTreeMap::new(),
            ends: BTreeMap::new(),
        };
        let mut entries = vec![0_u32; cfg.blocks.len()];
        cfg.blocks.iter().flat_map(|block| block.end.successors()).for_each(|next| entries[next.0] += 1);
        let fields = fields(cfg);
        for branch in branches(cfg) {
            let end = nearest(&after, branch);
            control.meet(cfg, branch, end, &entries, &fields);
            control.ends.insert(branch, end);
        }
        control
    }

    /// What is set on the ways from `branch` to `end`, where all of them have met, and where some meet before.
    fn meet(
        &mut self,
        cfg: &Cfg<'_>,
        branch: BlockId,
        end: Option<BlockId>,
        entries: &[u32],
        fields: &BTreeSet<Variable>,
    ) {
        let mut ways = cfg.blocks[branch.0].end.successors().map(|next| reachable(cfg, next, end));
        let (Some(first), Some(second)) = (ways.next(), ways.next()) else { return };
        let between = first.clone().or(&second);
        let steps = between.iter().flat_map(|block| &cfg.blocks[block.0].steps);
        let mut assigned = BTreeSet::new();
        for (variable, _, extent) in steps.filter_map(|step| step.kind.set()) {
            assigned.insert(variable);
            // The whole is set: so are its fields, which have no step of their own.
            if let (Variable::Local(local), Extent::Whole | Extent::Part) = (variable, extent) {
                assigned.extend(fields.range(Variable::Field(local, 0)..=Variable::Field(local, u16::MAX)));
            }
        }
        self.assigned.insert(branch, assigned);
        let met = first.and(&second);
        for block in met.iter().filter(|block| entries[block.0] > 1).chain(end) {
            self.merges[block.0].push(branch);
        }
    }

    /// The branches, with the blocks between each and where its ways have met, and where they have.
    pub(crate) fn regions(&self, cfg: &Cfg<'_>) -> impl Iterator<Item = (BlockId, BlockSet, Option<BlockId>)> {
        self.ends.iter().map(|(branch, end)| {
            let ways = cfg.blocks[branch.0].end.successors().map(|next| reachable(cfg, next, *end));
            (*branch, ways.fold(BlockSet::none(cfg.blocks.len()), |all, way| all.or(&way)), *end)
        })
    }

    /// The branches that decide whether control comes to a block.
    pub(crate) fn deciders(&self, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        self.deciders[block.0].iter()
    }

    /// Those that decide about `block` and not about `made`, if that is given.
    pub(super) fn deciders_since(&self, block: BlockId, made: Option<BlockId>) -> BlockSet {
        let own = self.deciders[block.0].clone();
        match made {
            Some(made) => own.without(&self.deciders[made.0]),
            None => own,
        }
    }

    pub(super) fn decides(&self, branch: BlockId, block: BlockId) -> bool {
        self.deciders[block.0].contains(branch)
    }
}

/// Whether control that goes from `branch` where it does not come to `block` leaves the function by a `return` of its
/// own: the last end is that of the body, where those that stayed come to.
pub(super) fn leaves(cfg: &Cfg<'_>, branch: BlockId, block: BlockId) -> bool {
    let mut ways = cfg.blocks[branch.0].end.successors().map(|next| reachable(cfg, next, None));
    let Some(away) = ways.find(|way| !way.contains(block)) else { return false };
    let is_end = |block: &BlockId| matches!(cfg.blocks[block.0].end, End::Leave);
    let staying = reachable(cfg, block, None);
    let mut ends = away.iter().filter(is_end).peekable();
    ends.peek().is_some() && ends.all(|end| !staying.contains(end))
}

/// The fields that are set by themselves anywhere.
fn fields(cfg: &Cfg<'_>) -> BTreeSet<Variable> {
    let steps = cfg.blocks.iter().flat_map(|block| &block.steps);
    let set = steps.filter_map(|step| step.kind.set()).map(|(variable, ..)| variable);
    set.filter(|variable| matches!(variable, Variable::Field(..))).collect()
}

/// BlockSet that end in a choice.
fn branches<'c>(cfg: &'c Cfg<'_>) -> impl Iterator<Item = BlockId> + 'c {
    let chooses = |block: &usize| {
        let mut next = cfg.blocks[*block].end.successors();
        matches!((next.next(), next.next()), (Some(first), Some(second)) if first != second)
    };
    (0..cfg.blocks.len()).filter(chooses).map(BlockId)
}

/// PhaseAction control can come to from the start of `from`, without passing `end`.
pub(crate) fn reachable(cfg: &Cfg<'_>, from: BlockId, end: Option<BlockId>) -> BlockSet {
    let mut reached = BlockSet::none(cfg.blocks.len());
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        if Some(block) != end && reached.insert(block) {
            for next in cfg.blocks[block.0].end.successors() {
                work.push(next);
            }
        }
    }
    reached
}

/// The heads of loops from which no way leads to the function's end. As if one did from there, each round is by itself.
fn endless(cfg: &Cfg<'_>) -> BlockSet {
    let count = cfg.blocks.len();
    let mut endless = BlockSet::none(count);
    for block in BlockSet::all(count).without(&ending(cfg)).iter() {
        let ways = cfg.blocks[block.0].end.successors().map(|next| reachable(cfg, next, None));
        let after = ways.fold(BlockSet::none(count), |after, way| after.or(&way));
        // The head of a loop is built before its inside.
        if after.contains(block) && after.and(&endless).len() == 0 {
            endless.insert(block);
        }
    }
    endless
}

/// The blocks from which a way leads to the function's end.
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

/// For each block, the blocks that control passes on every way from it to the function's end, itself among them. A
/// block from which no way leads there has all of them.
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

/// The first block that all ways from the branch's two sides pass.
fn nearest(after: &[BlockSet], branch: BlockId) -> Option<BlockId> {
    let passed = &after[branch.0];
    if passed.len() as usize == after.len() {
        return None;
    }
    passed.iter().filter(|other| *other != branch).max_by_key(|other| after[other.0].len())
}

fn deciders(cfg: &Cfg<'_>, after: &[BlockSet]) -> Vec<BlockSet> {
    let mut deciders = vec![BlockSet::none(cfg.blocks.len()); cfg.blocks.len()];
    for branch in branches(cfg) {
        let mut always = after[branch.0].clone();
        always.remove(branch);
        for next in cfg.blocks[branch.0].end.successors() {
            // What is passed on this side, and not on every. From where no way leads to the end, everything would be.
            let passed = match after[next.0].len() as usize == after.len() {
                true => reachable(cfg, next, None),
                false => after[next.0].clone(),
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
