//! The tickets and numbers that one thread hands out to others, for certain arguments, as data: tickets of a queue in global memory, numbers in elements of a shared array,
//! and numbers that a lane gives to its warp. `queues` finds them.

use std::collections::{BTreeMap, BTreeSet};

use super::counters::Counter;
use crate::check::cfg::{BlockId, NodeId};

/// The tickets and numbers that a kernel's threads hand out, and the values that depend on them.
#[derive(Debug, Clone)]
pub(super) struct Handed {
    /// The results of the operations that take tickets, each with the parameter that its queue is in, and what it adds.
    pub(super) tickets: BTreeMap<NodeId, (usize, NodeId)>,
    pub(super) array: Option<Published>,
    /// The results of the operations by which lanes give numbers to their warps, each with the number and the rank of the lane.
    pub(super) given: BTreeMap<NodeId, (NodeId, u32)>,
    /// The nodes whose values depend on what is handed out.
    pub(super) depending: BTreeSet<NodeId>,
    /// The numbers that are known, in their order.
    pub(super) numbers: BTreeMap<By, Vec<i64>>,
    /// Whether the one is followed who hands out: it has what it hands out itself.
    pub(super) is_own: bool,
}

/// The one who hands out numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum By {
    /// The thread that publishes them in the array.
    Publisher,
    /// A lane of the warp of this number, by the result.
    Lane(NodeId, u32),
}

/// The array in whose elements one thread publishes numbers.
#[derive(Debug, Clone)]
pub(super) struct Published {
    pub(super) array: usize,
    pub(super) by: u32,
    pub(super) loads: BTreeMap<NodeId, BlockId>,
}

impl Handed {
    /// The array in which numbers are published.
    pub(super) fn array(&self) -> Option<usize> {
        self.array.as_ref().map(|of| of.array)
    }

    /// Whether threads take tickets.
    pub(super) fn has_tickets(&self) -> bool {
        !self.tickets.is_empty()
    }

    /// Whether a thread is handed something where it evaluates a node.
    pub(super) fn hands(&self, node: NodeId) -> bool {
        self.tickets.contains_key(&node) || self.given.contains_key(&node) || self.is_load(node)
    }

    /// Whether a node is a number that is read.
    pub(super) fn is_load(&self, node: NodeId) -> bool {
        self.array.as_ref().is_some_and(|of| of.loads.contains_key(&node))
    }

    /// From whom a thread has a number that is no ticket, and the counter of those that it has had.
    pub(super) fn from(&self, node: NodeId, warp: u32) -> Option<(By, Counter)> {
        match self.given.contains_key(&node) {
            true => Some((By::Lane(node, warp), Counter::Given(node))),
            false => self.is_load(node).then_some((By::Publisher, Counter::Taken)),
        }
    }

    /// The blocks in which numbers are read.
    pub(super) fn blocks_of_loads(&self) -> impl Iterator<Item = BlockId> {
        self.array.iter().flat_map(|of| of.loads.values().copied())
    }
}
