//! Trace partitioning by identity: a name of memory that is assigned anew, as two buffers are that a loop swaps, stands for one
//! object at one time and for another at another. Where all blocks of the cluster assign it alike, the graph is split: each of its
//! blocks stands in the split graph once for each combination of what the names stand for there, so that the checks of memory see
//! fixed objects, and swapped buffers stay disjoint.
//!
//! Partitions are merged where the names that are still used stand for the same. A name that only some blocks assign, or of
//! which there are too many combinations, keeps the region that covers all that it may stand for ([`Region::via`]). After
//! Rival and Mauborgne, "The Trace Partitioning Abstract Domain" (TOPLAS 2007).
//!
//! Not done here: anything about groups and tokens. Their checks use the graph as it was built.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use phalanx_contract::uniformity::Uniformity;

use super::cfg::{
    Access, AccessId, BarrierCall, BarrierCallId, BasicBlock, BlockId, Call, CallId, Cfg, CopyId, CopyStep, End,
    MemoryStep, Region, Step, StepKind, ValueStep,
};
use super::uniform::values::Values;
use crate::model::LocalId;

/// The most combinations for each block of the graph, on average.
const MOST_PARTITIONS: usize = 8;

/// What the names stand for that are followed and still used; those that are not here, are not known.
type Names = BTreeMap<LocalId, Region>;

/// Splits the graph; `None` if there is nothing to split, or too much.
pub(super) fn split<'f>(cfg: &Cfg<'f>, values: &Values<'_, 'f>) -> Option<Cfg<'f>> {
    let followed = followed(cfg, values);
    if followed.is_empty() {
        return None;
    }
    let splitter = Splitter { cfg, live: live_names(cfg), followed };
    let partitions = splitter.partitions()?;
    Some(splitter.build(&partitions))
}

/// The names that all blocks of the cluster assign alike.
fn followed(cfg: &Cfg<'_>, values: &Values<'_, '_>) -> BTreeSet<LocalId> {
    let (mut alike, mut others) = (BTreeSet::new(), BTreeSet::new());
    for (number, block) in cfg.blocks.iter().enumerate() {
        for step in &block.steps {
            if let StepKind::Value(ValueStep::Name { local, .. }) = step.kind {
                let is_alike = values.is_reached_uniformly(BlockId(number), Uniformity::Cluster);
                if is_alike {
                    alike.insert(local)
                } else {
                    others.insert(local)
                };
            }
        }
    }
    &alike - &others
}

/// By block, the names that are used after its start before they are assigned.
fn live_names(cfg: &Cfg<'_>) -> Vec<BTreeSet<LocalId>> {
    let mut live: Vec<BTreeSet<LocalId>> = cfg.blocks.iter().map(|_| BTreeSet::new()).collect();
    loop {
        let mut changed = false;
        for (number, block) in cfg.blocks.iter().enumerate().rev() {
            let mut names: BTreeSet<LocalId> =
                block.end.successors().flat_map(|next| live[next.0].iter().copied()).collect();
            for step in block.steps.iter().rev() {
                if let StepKind::Value(ValueStep::Name { local, .. }) = step.kind {
                    names.remove(&local);
                }
                each_region(cfg, step, |region| names.extend(region.via));
            }
            changed |= names != live[number];
            live[number] = names;
        }
        if !changed {
            return live;
        }
    }
}

/// Visits the regions of a step.
fn each_region(cfg: &Cfg<'_>, step: &Step, mut visit: impl FnMut(&Region)) {
    match &step.kind {
        StepKind::Value(ValueStep::Name { region, .. }) => visit(region),
        StepKind::Memory(MemoryStep::Access(AccessId(access))) => visit(&cfg.accesses[*access].region),
        StepKind::BarrierCall(BarrierCallId(call)) => visit(&cfg.barrier_calls[*call].region),
        StepKind::Copy(CopyId(copy)) => match &cfg.copies[*copy] {
            CopyStep::Begin { reads, writes, .. } => reads.iter().chain(writes).for_each(visit),
            CopyStep::Wait(_) => {}
        },
        StepKind::Call(CallId(call)) => {
            let Call { regions, barriers, .. } = &cfg.calls[*call];
            regions.iter().flatten().chain(barriers.iter().map(|(_, region)| region)).for_each(visit);
        }
        StepKind::Value(ValueStep::Evaluate(_) | ValueStep::Set { .. } | ValueStep::Return(_))
        | StepKind::Memory(MemoryStep::Fence)
        | StepKind::Group(_)
        | StepKind::Token(_) => {}
    }
}

/// A block of the graph with what the names stand for at its start.
struct Partition {
    block: BlockId,
    names: Names,
    /// The numbers of the partitions that follow, by their blocks.
    next: BTreeMap<BlockId, BlockId>,
}

struct Splitter<'a, 'f> {
    cfg: &'a Cfg<'f>,
    live: Vec<BTreeSet<LocalId>>,
    followed: BTreeSet<LocalId>,
}

impl<'f> Splitter<'_, 'f> {
    /// The partitions that control reaches; `None` if there are too many.
    fn partitions(&self) -> Option<Vec<Partition>> {
        let most = MOST_PARTITIONS * self.cfg.blocks.len();
        let start = (self.cfg.entry, Names::new());
        let mut numbers = BTreeMap::from([(start.clone(), BlockId(0))]);
        let mut work = VecDeque::from([start]);
        let mut partitions = Vec::new();
        while let Some((block, names)) = work.pop_front() {
            let mut after = names.clone();
            self.cfg.blocks[block.0].steps.iter().for_each(|step| self.transfer(&mut after, step));
            let mut next = BTreeMap::new();
            for to in self.cfg.blocks[block.0].end.successors() {
                let live = after.iter().filter(|(local, _)| self.live[to.0].contains(local));
                let names: Names = live.map(|(local, region)| (*local, region.clone())).collect();
                let unseen = BlockId(numbers.len());
                let number = *numbers.entry((to, names.clone())).or_insert(unseen);
                if number == unseen {
                    work.push_back((to, names));
                }
                next.insert(to, number);
            }
            partitions.push(Partition { block, names, next });
            if numbers.len() > most {
                return None;
            }
        }
        Some(partitions)
    }

    fn transfer(&self, names: &mut Names, step: &Step) {
        match &step.kind {
            StepKind::Value(ValueStep::Name { local, region }) => {
                let region = self.resolved(names, region);
                match region.via {
                    None if self.followed.contains(local) => names.insert(*local, region),
                    _ => names.remove(local),
                };
            }
            // An index that is computed anew is another one from now on.
            StepKind::Value(ValueStep::Evaluate(node)) => {
                names.values_mut().for_each(|region| region.forget(*node));
            }
            StepKind::Value(ValueStep::Set { .. } | ValueStep::Return(_))
            | StepKind::Memory(_)
            | StepKind::Group(_)
            | StepKind::Token(_)
            | StepKind::BarrierCall(_)
            | StepKind::Copy(_)
            | StepKind::Call(_) => {}
        }
    }

    /// The region with the name that leads to it replaced by what that stands for, if it is known.
    fn resolved(&self, names: &Names, region: &Region) -> Region {
        let known = region.via.and_then(|via| names.get(&via));
        known.map_or_else(|| region.clone(), |base| region.within(base))
    }

    fn build(&self, partitions: &[Partition]) -> Cfg<'f> {
        let mut split = Cfg {
            blocks: Vec::new(),
            entry: BlockId(0),
            nodes: self.cfg.nodes.clone(),
            accesses: Vec::new(),
            copies: Vec::new(),
            barrier_calls: Vec::new(),
            calls: Vec::new(),
            queries: self.cfg.queries.clone(),
            positions: self.cfg.positions.clone(),
            cuts: self.cfg.cuts.clone(),
            slices: self.cfg.slices.clone(),
            names: self.cfg.names.clone(),
            teams: self.cfg.teams.clone(),
        };
        for Partition { block, names, next } in partitions {
            let mut names = names.clone();
            let BasicBlock { steps, end } = &self.cfg.blocks[block.0];
            let mut copied = Vec::new();
            for step in steps {
                copied.push(Step { kind: self.copy(&mut split, &names, &step.kind), at: step.at });
                self.transfer(&mut names, step);
            }
            let end = match *end {
                End::Never => End::Never,
                End::Leave => End::Leave,
                End::Goto(to) => End::Goto(next[&to]),
                End::Branch { on, then, otherwise } => {
                    End::Branch { on, then: next[&then], otherwise: next[&otherwise] }
                }
                End::Option { on, variable, some, none } => {
                    End::Option { on, variable, some: next[&some], none: next[&none] }
                }
            };
            split.blocks.push(BasicBlock { steps: copied, end });
        }
        split
    }

    /// A step of a partition: its own access, call or copy, of known memory.
    fn copy(&self, split: &mut Cfg<'f>, names: &Names, step: &StepKind) -> StepKind {
        let resolve = |region: &Region| self.resolved(names, region);
        match step {
            StepKind::Memory(MemoryStep::Access(AccessId(id))) => {
                let access = &self.cfg.accesses[*id];
                split.accesses.push(Access { region: resolve(&access.region), ..access.clone() });
                StepKind::Memory(MemoryStep::Access(AccessId(split.accesses.len() - 1)))
            }
            StepKind::BarrierCall(BarrierCallId(id)) => {
                let call = &self.cfg.barrier_calls[*id];
                split.barrier_calls.push(BarrierCall { region: resolve(&call.region), ..call.clone() });
                StepKind::BarrierCall(BarrierCallId(split.barrier_calls.len() - 1))
            }
            StepKind::Copy(CopyId(id)) => {
                split.copies.push(match &self.cfg.copies[*id] {
                    CopyStep::Begin { reads, writes, completion, at } => CopyStep::Begin {
                        reads: reads.as_ref().map(resolve),
                        writes: writes.as_ref().map(resolve),
                        completion: *completion,
                        at: *at,
                    },
                    CopyStep::Wait(completion) => CopyStep::Wait(*completion),
                });
                StepKind::Copy(CopyId(split.copies.len() - 1))
            }
            StepKind::Call(CallId(id)) => {
                let call = &self.cfg.calls[*id];
                let regions = call.regions.iter().map(|region| region.as_ref().map(resolve)).collect();
                let barriers = call.barriers.iter().map(|(at, region)| (*at, resolve(region))).collect();
                split.calls.push(Call { regions, barriers, ..call.clone() });
                StepKind::Call(CallId(split.calls.len() - 1))
            }
            StepKind::Value(_) | StepKind::Memory(MemoryStep::Fence) | StepKind::Group(_) | StepKind::Token(_) => {
                step.clone()
            }
        }
    }
}
