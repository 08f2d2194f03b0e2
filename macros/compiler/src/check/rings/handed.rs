//! The tickets and numbers that one thread hands out to others, for certain arguments, as data: tickets of a queue in global memory, numbers in elements of shared arrays,
//! and numbers that a lane gives to its warp. `queues` and `published` find them.

use std::collections::{BTreeMap, BTreeSet};

use super::counters::Counter;
use super::part::Part;
use crate::check::cfg::{AccessId, NodeId};

/// The tickets and numbers that a kernel's threads hand out, and the values that depend on them.
#[derive(Debug, Clone)]
pub(super) struct Handed {
    /// The results of the operations that take tickets, each with the parameter that its queue is in, and what it adds.
    pub(super) tickets: BTreeMap<NodeId, (usize, NodeId)>,
    /// Whether a thread of each block of the cluster takes tickets, and not only one of them all.
    pub(super) in_each_block: bool,
    pub(super) published: Option<Published>,
    /// The results of the operations by which lanes give numbers to their warps, each with the number and the rank of the lane.
    pub(super) given: BTreeMap<NodeId, (NodeId, u32)>,
    /// The nodes whose values depend on what is handed out.
    pub(super) depending: BTreeSet<NodeId>,
    /// The numbers that are known, by who hands them out and the rank of the block that has them, and then by their turn.
    pub(super) numbers: BTreeMap<By, BTreeMap<u32, BTreeMap<i64, i64>>>,
    /// Whether the one is followed who hands out: it has what it hands out itself.
    pub(super) is_own: bool,
}

/// The one who hands out numbers, and what they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum By {
    /// The thread that publishes them in arrays.
    Publisher(Part),
    /// A lane of the warp of this number, by the result.
    Lane(NodeId, u32),
}

/// The arrays in whose elements one thread publishes numbers, turn by turn.
#[derive(Debug, Clone)]
pub(super) struct Published {
    pub(super) arrays: BTreeSet<usize>,
    /// The rank of the thread in its block.
    pub(super) by: u32,
    /// The ranks of the blocks whose thread publishes: one, or each does for its own block.
    pub(super) ranks: BTreeSet<u32>,
    /// The block to which the thread publishes first in each turn, if it publishes to several.
    pub(super) first: Option<u32>,
    pub(super) loads: BTreeMap<NodeId, Load>,
    /// The accesses, each with whether a turn begins with it.
    pub(super) turns: BTreeMap<AccessId, bool>,
}

/// A load of what is published.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) access: AccessId,
    pub(super) part: Part,
    /// The rank of the block, if it may be another one's memory.
    pub(super) rank: Option<NodeId>,
}

impl Handed {
    /// What a thread publishes, whatever the numbers are: for a proof.
    pub(super) fn of_turns(published: Published) -> Handed {
        Handed {
            tickets: BTreeMap::new(),
            in_each_block: false,
            published: Some(published),
            given: BTreeMap::new(),
            depending: BTreeSet::new(),
            numbers: BTreeMap::new(),
            is_own: false,
        }
    }

    /// Whether numbers are published in an array.
    pub(super) fn is_published(&self, array: usize) -> bool {
        self.published.as_ref().is_some_and(|of| of.arrays.contains(&array))
    }

    /// Whether an access stores or reads what is published.
    pub(super) fn is_access(&self, access: AccessId) -> bool {
        self.published.as_ref().is_some_and(|of| of.turns.contains_key(&access))
    }

    /// Whether threads take tickets.
    pub(super) fn has_tickets(&self) -> bool {
        !self.tickets.is_empty()
    }

    /// Whether a thread is handed something where it evaluates a node.
    pub(super) fn hands(&self, node: NodeId) -> bool {
        self.tickets.contains_key(&node) || self.given.contains_key(&node) || self.load(node).is_some()
    }

    /// The load of what is published that a node is.
    pub(super) fn load(&self, node: NodeId) -> Option<Load> {
        self.published.as_ref()?.loads.get(&node).copied()
    }

    /// Whether a turn begins with a load of what is published.
    pub(super) fn begins(&self, load: Load) -> bool {
        self.published.as_ref().is_some_and(|of| of.turns.get(&load.access) == Some(&true))
    }

    /// From whom a thread has a number that is no ticket, and the counter of those that it has had.
    pub(super) fn from(&self, node: NodeId, warp: u32) -> Option<(By, Counter)> {
        match self.given.contains_key(&node) {
            true => Some((By::Lane(node, warp), Counter::Given(node))),
            false => self.load(node).map(|load| (By::Publisher(load.part), Counter::Taken)),
        }
    }
}
