//! Vector clocks of a grid, which hold for each thread the epoch before which its accesses happen-before the clock's
//! owner. A clock is a tree of clusters, blocks, warps and threads, in which a subtree of equal epochs is a single
//! number, as for a whole block after its barrier. Clocks share subtrees, so a copy is free and the cost of a join is
//! that of the differences.

use std::sync::Arc;

/// An epoch of an actor, drawn from a counter of its cluster. Only epochs of the same actor are compared.
pub(crate) type Epoch = u64;

/// Identifies a thread of the grid, by its cluster, block, warp and lane from the high bits down, or an asynchronous
/// copy. A copy has the number of a thread in a second cluster beside its own, and the issuing thread in the highest
/// bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ActorId(u64);

/// A unit of threads that a subtree of a clock stands for. Its value is the level of the subtree's root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unit {
    Thread = 0,
    Warp = 1,
    Block = 2,
    Cluster = 3,
}

/// The bits at which the digits of an `ActorId` begin. A digit selects a child of a node; the index is the node's level
/// less one.
const SHIFTS: [u32; 4] = [0, 5, 10, 14];

/// The bit that marks a copy. A cluster's copies are a cluster of their own in the tree, so that barriers exclude them.
const COPY: u32 = SHIFTS[3];

/// The bits at which the cluster begins, and at which the thread that issued a copy begins.
const CLUSTER: u32 = COPY + 1;
const ISSUER: u32 = 64 - SHIFTS[3];

impl ActorId {
    /// Returns the id of the thread of this rank in its block.
    pub(crate) fn new(cluster: u64, block: u32, thread: u32) -> Self {
        ActorId(cluster << CLUSTER | u64::from(block) << SHIFTS[2] | u64::from(thread))
    }

    /// Returns the id of a copy that the thread issues, or that continues a copy of its own. There are as many ids as the cluster has threads in whole
    /// warps, and later copies reuse them.
    pub(super) fn copy(self, number: u32, layout: &Layout) -> ActorId {
        let of_block = layout.warps as u32 * 32;
        let number = number % (of_block * layout.blocks as u32);
        let copy = ActorId::new(self.cluster(), number / of_block, number % of_block);
        ActorId(copy.0 | 1 << COPY | self.issuer().0 << ISSUER)
    }

    /// Returns whether the actor is a copy.
    pub(crate) fn is_copy(self) -> bool {
        self.0 >> COPY & 1 == 1
    }

    /// Returns the actor's number among the cluster's threads and copies.
    pub(super) fn number(self, layout: &Layout) -> usize {
        let of_block = layout.warps * 32;
        let copies = if self.is_copy() { of_block * layout.blocks } else { 0 };
        copies + self.block() as usize * of_block + self.thread() as usize
    }

    /// Returns the thread itself, or the thread that issued a copy.
    pub(crate) fn issuer(self) -> ActorId {
        if self.is_copy() { ActorId(self.cluster() << CLUSTER | self.0 >> ISSUER) } else { self }
    }

    /// Returns the rank of the actor's cluster in the grid.
    pub(crate) fn cluster(self) -> u64 {
        self.0 << SHIFTS[3] >> SHIFTS[3] >> CLUSTER
    }

    /// Returns the cluster rank of the thread's block.
    pub(crate) fn block(self) -> u32 {
        (self.0 >> SHIFTS[2]) as u32 & 15
    }

    /// Returns the thread's rank in its block.
    pub(crate) fn thread(self) -> u32 {
        self.0 as u32 & 1023
    }

    /// Returns the thread's lane in its warp.
    pub(crate) fn lane(self) -> u32 {
        self.0 as u32 & 31
    }

    /// Returns the first thread of the unit that contains this one.
    pub(crate) fn first(self, unit: Unit) -> ActorId {
        let shift = if unit == Unit::Thread { 0 } else { [0, 5, 10, 14][unit as usize] };
        ActorId(self.0 >> shift << shift)
    }

    /// Returns the thread of this lane in the same warp.
    pub(crate) fn with_lane(self, lane: u32) -> ActorId {
        ActorId(self.first(Unit::Warp).0 | u64::from(lane))
    }

    /// Returns the index of the child that contains this thread in a node at `level`.
    fn digit(self, level: u32) -> usize {
        let (shift, bits) = match level {
            1 => (SHIFTS[0], 5),
            2 => (SHIFTS[1], 5),
            3 => (SHIFTS[2], 4),
            _ => (SHIFTS[3] + 5 * (level - 4), 5),
        };
        (self.0 >> shift) as usize & ((1 << bits) - 1)
    }
}

/// The shape of a clock's tree, which is the number of children of its nodes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// The level of the root, and the number of its children.
    top: u32,
    roots: usize,
    warps: usize,
    blocks: usize,
}

impl Layout {
    pub(crate) fn new(clusters: u64, blocks: u32, threads: u32) -> Self {
        // Each cluster has a second one beside it, for its copies.
        let clusters = 2 * clusters;
        let mut top = Unit::Cluster as u32;
        while clusters > 1 << (5 * (top - Unit::Cluster as u32)) {
            top += 1;
        }
        let roots = clusters.div_ceil(1 << (5 * (top - 1 - Unit::Cluster as u32))) as usize;
        Layout { top, roots, warps: threads.div_ceil(32) as usize, blocks: blocks as usize }
    }

    fn children(&self, level: u32) -> usize {
        match level {
            2 => self.warps,
            3 => self.blocks,
            level if level == self.top => self.roots,
            _ => 32,
        }
    }
}

/// A vector clock, which holds for each thread the epoch before which its accesses happen-before the clock's owner. A second
/// epoch of each thread is that of its accesses to its own block's shared memory, which a fence may order alone, and a third that of its
/// reads of its peers', for which an arrival may wait.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Clock {
    all: Tree,
    own_shared: Tree,
    peer_reads: Tree,
}

#[derive(Debug, Clone)]
enum Tree {
    /// All threads of the subtree have this epoch.
    All(Epoch),
    Node(Arc<Node>),
}

#[derive(Debug, Clone, PartialEq)]
struct Node {
    min: Epoch,
    max: Epoch,
    children: Box<[Tree]>,
}

impl Default for Clock {
    /// Returns the bottom element, before which nothing happens.
    fn default() -> Self {
        Clock { all: Tree::All(0), own_shared: Tree::All(0), peer_reads: Tree::All(0) }
    }
}

impl Clock {
    /// Returns the epoch of a thread.
    pub(crate) fn of(&self, layout: &Layout, id: ActorId) -> Epoch {
        self.least(layout, id, Unit::Thread)
    }

    /// Returns the smallest epoch of the threads in the unit that contains this one.
    pub(crate) fn least(&self, layout: &Layout, id: ActorId, unit: Unit) -> Epoch {
        self.all.least(layout, id, unit)
    }

    /// Returns the epoch of a thread's accesses to its own block's shared memory, as far as a fence ordered those alone.
    pub(super) fn of_own_shared(&self, layout: &Layout, id: ActorId) -> Epoch {
        self.own_shared.least(layout, id, Unit::Thread)
    }

    /// Returns the epoch of a thread's reads of shared memory, as far as it waited for those alone.
    pub(super) fn of_peer_reads(&self, layout: &Layout, id: ActorId) -> Epoch {
        self.peer_reads.least(layout, id, Unit::Thread)
    }

    /// Joins `other` into this clock: each epoch becomes the larger of both.
    pub(crate) fn join(&mut self, other: &Clock) {
        let pairs = [
            (&mut self.all, &other.all),
            (&mut self.own_shared, &other.own_shared),
            (&mut self.peer_reads, &other.peer_reads),
        ];
        for (known, other) in pairs {
            if !known.is(other) {
                *known = known.joined(other);
            }
        }
    }

    /// Returns whether both clocks are the same object, which is cheap to test. Equal clocks may be different objects.
    pub(crate) fn is(&self, other: &Clock) -> bool {
        self.all.is(&other.all) && self.own_shared.is(&other.own_shared) && self.peer_reads.is(&other.peer_reads)
    }

    /// Sets the epoch of all threads in a unit.
    pub(crate) fn set(&mut self, layout: &Layout, id: ActorId, unit: Unit, epoch: Epoch) {
        self.all.set(layout, layout.top, id, unit as u32, epoch);
    }

    /// Returns the clock before whose owner only those accesses happen that a block made to its own shared memory.
    pub(super) fn confined_to_own_shared(&self) -> Clock {
        Clock { own_shared: self.own_shared.joined(&self.all), ..Clock::default() }
    }

    /// Sets the epoch of a thread's accesses to its own block's shared memory.
    pub(super) fn set_own_shared(&mut self, layout: &Layout, id: ActorId, epoch: Epoch) {
        self.own_shared.set(layout, layout.top, id, Unit::Thread as u32, epoch);
    }

    /// Sets the epoch of a thread's reads of its peers' shared memory.
    pub(super) fn set_peer_reads(&mut self, layout: &Layout, id: ActorId, epoch: Epoch) {
        self.peer_reads.set(layout, layout.top, id, Unit::Thread as u32, epoch);
    }
}

impl Tree {
    /// Returns the smallest epoch of the threads in the unit that contains this one.
    fn least(&self, layout: &Layout, id: ActorId, unit: Unit) -> Epoch {
        let (mut tree, mut level) = (self, layout.top);
        while let Tree::Node(node) = tree
            && level > unit as u32
        {
            tree = &node.children[id.digit(level)];
            level -= 1;
        }
        tree.min()
    }

    fn min(&self) -> Epoch {
        match self {
            Tree::All(epoch) => *epoch,
            Tree::Node(node) => node.min,
        }
    }

    fn max(&self) -> Epoch {
        match self {
            Tree::All(epoch) => *epoch,
            Tree::Node(node) => node.max,
        }
    }

    fn is(&self, other: &Tree) -> bool {
        match (self, other) {
            (Tree::All(a), Tree::All(b)) => a == b,
            (Tree::Node(a), Tree::Node(b)) => Arc::ptr_eq(a, b),
            (Tree::All(_), Tree::Node(_)) | (Tree::Node(_), Tree::All(_)) => false,
        }
    }

    fn new(children: Box<[Tree]>) -> Tree {
        let min = children.iter().map(Tree::min).min().unwrap_or(0);
        let max = children.iter().map(Tree::max).max().unwrap_or(0);
        if min == max { Tree::All(min) } else { Tree::Node(Arc::new(Node { min, max, children })) }
    }

    fn joined(&self, other: &Tree) -> Tree {
        if self.is(other) || self.min() >= other.max() {
            return self.clone();
        }
        if other.min() >= self.max() {
            return other.clone();
        }
        let children: Box<[Tree]> = match (self, other) {
            (Tree::Node(a), Tree::Node(b)) => a.children.iter().zip(&b.children).map(|(a, b)| a.joined(b)).collect(),
            (Tree::Node(node), all @ Tree::All(_)) | (all @ Tree::All(_), Tree::Node(node)) => {
                node.children.iter().map(|child| child.joined(all)).collect()
            }
            (Tree::All(a), Tree::All(b)) => return Tree::All(*a.max(b)),
        };
        // If the join equals an operand, that operand is returned, so that it stays shared.
        for known in [self, other] {
            if let Tree::Node(node) = known
                && node.children.iter().zip(&children).all(|(a, b)| a.is(b))
            {
                return known.clone();
            }
        }
        Tree::new(children)
    }

    fn set(&mut self, layout: &Layout, level: u32, id: ActorId, target: u32, epoch: Epoch) {
        if level == target {
            *self = Tree::All(epoch);
            return;
        }
        if self.min() == epoch && self.max() == epoch {
            return;
        }
        let mut children = match self {
            Tree::All(all) => vec![Tree::All(*all); layout.children(level)].into_boxed_slice(),
            Tree::Node(node) => match Arc::get_mut(node) {
                Some(node) => std::mem::take(&mut node.children),
                None => node.children.clone(),
            },
        };
        children[id.digit(level)].set(layout, level - 1, id, target, epoch);
        *self = Tree::new(children);
    }
}

impl PartialEq for Tree {
    fn eq(&self, other: &Tree) -> bool {
        match (self, other) {
            (Tree::Node(a), Tree::Node(b)) => Arc::ptr_eq(a, b) || a == b,
            (Tree::All(_), Tree::All(_)) | (Tree::All(_), Tree::Node(_)) | (Tree::Node(_), Tree::All(_)) => {
                self.is(other)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares clocks with plain tables of epochs under random operations.
    #[test]
    fn a_clock_is_a_table_of_epochs() {
        let layout = Layout::new(40, 3, 70);
        let all: Vec<ActorId> =
            (0..40).flat_map(|c| (0..3).flat_map(move |b| (0..70).map(move |t| ActorId::new(c, b, t)))).collect();
        let mut state = 7_u64;
        let mut draw = |most: usize| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (state >> 33) as usize % most
        };
        let mut clocks = vec![(Clock::default(), vec![0; all.len()]); 4];
        for _ in 0..2000 {
            let (to, from) = (draw(4), draw(4));
            if draw(3) == 0 {
                let (other, table) = clocks[from].clone();
                clocks[to].0.join(&other);
                clocks[to].1.iter_mut().zip(table).for_each(|(a, b)| *a = b.max(*a));
            } else {
                let (id, epoch) = (all[draw(all.len())], draw(50) as u64);
                let unit = [Unit::Thread, Unit::Warp, Unit::Block, Unit::Cluster][draw(4)];
                clocks[to].0.set(&layout, id, unit, epoch);
                let same = |other: &ActorId| other.first(unit) == id.first(unit);
                let table = &mut clocks[to].1;
                all.iter().zip(table).filter(|(other, _)| same(other)).for_each(|(_, known)| *known = epoch);
            }
        }
        for (clock, table) in &clocks {
            for (id, known) in all.iter().zip(table) {
                assert_eq!(clock.of(&layout, *id), *known, "{id:?}");
            }
        }
    }

    /// A copy that another one continues, as its writes do its reads, is by the same thread.
    #[test]
    fn a_copy_is_by_the_thread_that_issued_it() {
        let layout = Layout::new(3, 4, 64);
        let thread = ActorId::new(2, 3, 40);
        let copy = thread.copy(10, &layout);
        let continued = copy.copy(11, &layout);
        assert!(copy.is_copy() && continued.is_copy() && copy != continued);
        assert_eq!([copy.issuer(), continued.issuer()], [thread, thread]);
        assert_eq!([copy.cluster(), continued.cluster()], [2, 2]);
    }

    #[test]
    fn a_block_of_equal_epochs_is_one_number() {
        let layout = Layout::new(1, 2, 64);
        let mut clock = Clock::default();
        (0..64).for_each(|thread| clock.set(&layout, ActorId::new(0, 1, thread), Unit::Thread, 5));
        let mut whole = Clock::default();
        whole.set(&layout, ActorId::new(0, 1, 0), Unit::Block, 5);
        assert_eq!(clock, whole);
        assert_eq!(
            (clock.least(&layout, ActorId::new(0, 1, 9), Unit::Block), clock.of(&layout, ActorId::new(0, 0, 9))),
            (5, 0)
        );
    }
}
