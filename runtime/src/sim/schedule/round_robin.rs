//! Runs the threads in turn. Turns are long, because switching threads dominates the cost.

use std::collections::VecDeque;

use super::scheduler::{Pending, Scheduler, Turn};

/// The fuel of a turn, which lasts for 256 loop iterations, 64 atomics or 16 polls of a flag.
const FUEL: u32 = 256;

#[derive(Default)]
pub(super) struct RoundRobin {
    queue: VecDeque<usize>,
}

impl Scheduler for RoundRobin {
    fn ready(&mut self, thread: usize, _: Pending) {
        self.queue.push_back(thread);
    }

    fn next(&mut self) -> Option<Turn> {
        self.queue.pop_front().map(|thread| Turn { thread, fuel: FUEL })
    }
}
