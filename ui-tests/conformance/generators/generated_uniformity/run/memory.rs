//! Models the shared memory of all blocks, and which accesses barriers order: one before an arrival happens-before one
//! behind the wait of the same phase.

use super::super::tree::{BLOCK, CLUSTER, GRID, Group, SHARED};
use super::{Mask, Values};

/// The number of arrivals and of waits of a thread at the barriers of its block and its cluster.
#[derive(Debug, Clone, Copy, Default)]
struct Rounds {
    block: usize,
    cluster: usize,
}

/// An access: by which thread, and how often that thread had arrived.
#[derive(Debug, Clone, Copy)]
struct Access {
    thread: usize,
    arrived: Rounds,
}

#[derive(Debug, Clone)]
struct Cell {
    value: u32,
    /// The last write. The initial contents are unknown; as if each thread of the block had written them.
    written: Option<Access>,
    read: Vec<Access>,
}

#[derive(Debug)]
pub(super) struct Memory {
    cells: Vec<[Cell; SHARED]>,
    arrived: Vec<Rounds>,
    waited: Vec<Rounds>,
}

impl Memory {
    pub(super) fn new() -> Memory {
        let cell = |block: usize, index: usize| Cell {
            value: (block * 7 + index * 3 + 1) as u32,
            written: None,
            read: Vec::new(),
        };
        let cells = |block: usize| std::array::from_fn(|index| cell(block, index));
        let rounds = vec![Rounds::default(); GRID];
        Memory { cells: (0..GRID / BLOCK).map(cells).collect(), arrived: rounds.clone(), waited: rounds }
    }

    pub(super) fn arrive(&mut self, group: Group, mask: &Mask) {
        pass(&mut self.arrived, group, mask);
    }

    pub(super) fn wait(&mut self, group: Group, mask: &Mask) {
        pass(&mut self.waited, group, mask);
    }

    /// Returns whether `first` happens-before what `thread` does now.
    fn is_ordered(&self, first: Access, thread: usize) -> bool {
        let now = self.waited[thread];
        first.thread == thread
            || first.thread / BLOCK == thread / BLOCK && now.block > first.arrived.block
            || first.thread / CLUSTER == thread / CLUSTER && now.cluster > first.arrived.cluster
    }

    /// Returns the value, and whether it is certainly the latest.
    pub(super) fn read(&mut self, block: usize, index: usize, thread: usize) -> (u32, bool) {
        let own = thread / BLOCK == block;
        let now = self.waited[thread];
        let access = Access { thread, arrived: self.arrived[thread] };
        let cell = &self.cells[block][index];
        let ordered = match cell.written {
            Some(access) => self.is_ordered(access, thread),
            None => own && now.block > 0 || now.cluster > 0,
        };
        let value = cell.value;
        self.cells[block][index].read.push(access);
        (value, ordered)
    }

    /// Writes each thread's value to its own block's element. Returns whether that was a race.
    pub(super) fn write(&mut self, index: usize, values: &Values, mask: &Mask) -> bool {
        let mut races = false;
        for thread in (0..GRID).filter(|thread| mask[*thread]) {
            let cell = &self.cells[thread / BLOCK][index];
            let before = cell.read.iter().chain(&cell.written);
            races |= before.into_iter().any(|access| !self.is_ordered(*access, thread));
            let written = Some(Access { thread, arrived: self.arrived[thread] });
            self.cells[thread / BLOCK][index] = Cell { value: values[thread], written, read: Vec::new() };
        }
        races
    }
}

fn pass(rounds: &mut [Rounds], group: Group, mask: &Mask) {
    for (rounds, _) in rounds.iter_mut().zip(mask).filter(|(_, here)| **here) {
        match group {
            Group::Block => rounds.block += 1,
            Group::Cluster => rounds.cluster += 1,
            Group::Tile | Group::Warp => {}
        }
    }
}
