//! The partitions that a traversal of the graph has found, breadth first, so that the first ones are explored. Where less is followed
//! than before, the traversal goes back to the last point at which what it has found is the same.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::check::branch_correlation::Outcomes;
use crate::check::cfg::{BlockId, Cfg, Region, Variable};
use crate::check::constant_propagation::{Constants, Number};
use crate::check::sorted_map::SortedMap;
use crate::model::LocalId;

/// The memory or the barrier that each followed name stands for, as long as the name is still used. A name that is missing stands for
/// something unknown.
pub(super) type Names = SortedMap<LocalId, Region>;

/// The names, the numbers and the outcomes of tests that are known at a point of the graph.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Known {
    pub(super) names: Names,
    pub(super) numbers: Constants,
    pub(super) outcomes: Outcomes,
}

/// A block of the graph with what is known at its start.
pub(super) struct Partition {
    pub(super) block: BlockId,
    pub(super) known: Rc<Known>,
    /// The numbers of the partitions that follow, by their blocks.
    pub(super) next: BTreeMap<BlockId, BlockId>,
    /// How many partitions were found before this one was explored.
    found_before: usize,
}

/// The most values of a small number.
const MOST_VALUES: usize = 8;

/// The partitions that were found, in the order of their numbers.
pub(super) struct Explored {
    partitions: Vec<Partition>,
    /// The number of those whose successors were found, too: the first ones.
    explored: usize,
    /// By block of the graph, the numbers of its partitions.
    ids: Vec<BTreeMap<Rc<Known>, BlockId>>,
    /// The numbers that each variable has, each with the first partition in which it has it.
    held: BTreeMap<Variable, BTreeMap<Number, BlockId>>,
    /// The variables that have too many numbers.
    too_many: BTreeSet<Variable>,
}

impl Explored {
    /// Only the start of the function is found.
    pub(super) fn from_entry(cfg: &Cfg<'_>) -> Explored {
        let ids = vec![BTreeMap::new(); cfg.blocks.len()];
        let (held, too_many) = (BTreeMap::new(), BTreeSet::new());
        let mut explored = Explored { partitions: Vec::new(), explored: 0, ids, held, too_many };
        explored.id(cfg.entry, Known::default());
        explored
    }

    pub(super) fn partitions(&self) -> &[Partition] {
        &self.partitions
    }

    /// The first partition that is not explored.
    pub(super) fn next(&self) -> Option<(BlockId, &Known)> {
        self.partitions.get(self.explored).map(|partition| (partition.block, &*partition.known))
    }

    /// Adds what follows that partition, which is then explored.
    pub(super) fn add(&mut self, following: impl Iterator<Item = (BlockId, Known)>) {
        self.partitions[self.explored].found_before = self.partitions.len();
        let next = following.map(|(to, known)| (to, self.id(to, known))).collect();
        self.partitions[self.explored].next = next;
        self.explored += 1;
    }

    /// The number of a partition, which may be a new one.
    fn id(&mut self, block: BlockId, known: Known) -> BlockId {
        let unseen = BlockId(self.partitions.len());
        if let Some(id) = self.ids[block.0].get(&known) {
            return *id;
        }
        for (variable, number) in known.numbers.variables() {
            let numbers = self.held.entry(variable).or_default();
            numbers.entry(number).or_insert(unseen);
            if numbers.len() > MOST_VALUES {
                self.too_many.insert(variable);
            }
        }
        let known = Rc::new(known);
        self.ids[block.0].insert(Rc::clone(&known), unseen);
        self.partitions.push(Partition { block, known, next: BTreeMap::new(), found_before: 0 });
        unseen
    }

    /// The number of partitions that were found.
    pub(super) fn count(&self) -> usize {
        self.partitions.len()
    }

    /// The variables whose number is known in one of the partitions.
    pub(super) fn variables(&self) -> BTreeSet<Variable> {
        self.held.keys().copied().collect()
    }

    /// The variables that have too many numbers.
    pub(super) fn with_too_many_values(&self) -> &BTreeSet<Variable> {
        &self.too_many
    }

    /// Forgets what was found when the first partition was explored whose block is such, and later.
    pub(super) fn back_to_first(&mut self, is_such: impl Fn(BlockId) -> bool) {
        let explored = self.partitions[..self.explored].iter();
        if let Some(first) = explored.map(|partition| partition.block).position(is_such) {
            self.back_to(first);
        }
    }

    /// Forgets what was found after this many partitions were explored, which are not all.
    pub(super) fn back_to(&mut self, explored: usize) {
        let found = self.partitions[explored].found_before;
        self.explored = explored;
        for Partition { block, known, .. } in self.partitions.drain(found..) {
            self.ids[block.0].remove(&known);
        }
        self.partitions[explored..].iter_mut().for_each(|partition| partition.next.clear());
        self.held.retain(|_, numbers| {
            numbers.retain(|_, first| first.0 < found);
            !numbers.is_empty()
        });
        self.too_many.clear();
    }
}
