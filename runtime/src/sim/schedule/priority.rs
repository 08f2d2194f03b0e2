//! Runs threads by priority (PCT: Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler with
//! Probabilistic Guarantees of Finding Bugs", 2010): the thread of the highest priority runs until it waits, and at a
//! few random points the running thread drops below all others. Under every second seed the threads of a block have
//! neighbouring priorities, so that whole blocks start after others have ended.

use std::collections::BTreeMap;

use super::rng::Rng;
use super::scheduler::{Pending, Scheduler, Turn};

/// The fuel of a turn. A thread that has used it up may be waiting for another one, and drops below all others.
const PATIENCE: u32 = 4096;

/// The number of turns after which a thread drops below all others, even if each ends in a wait: the lanes of a warp
/// that spins through votes wake each other.
const MOST_TURNS: u32 = 1 << 8;

pub(super) struct Priority {
    rng: Rng,
    block_threads: usize,
    by_block: bool,
    /// The priorities of the threads that have been ready so far, of which the greatest runs first.
    priorities: BTreeMap<usize, (u64, u64)>,
    /// The ready threads by priority.
    ready: BTreeMap<(u64, u64), usize>,
    /// The lowest priority given so far.
    lowest: u64,
    /// The fuel to spend before each of the next changes of priority, in reverse order.
    changes: Vec<u64>,
    /// The turn of the running thread.
    running: Option<Turn>,
    /// The number of turns of each thread since its priority changed.
    turns: BTreeMap<usize, u32>,
}

impl Priority {
    pub(super) fn new(seed: u64, changes: u32, block_threads: usize) -> Self {
        let mut rng = Rng::new(seed);
        // The length of the run is guessed from a wide range, because the number of scheduling points is unknown.
        let length = 1 << (4 + rng.draw() % 14);
        let changes = (0..changes).map(|_| rng.draw() % length).collect();
        Priority {
            rng,
            block_threads,
            by_block: seed % 2 == 1,
            priorities: BTreeMap::new(),
            ready: BTreeMap::new(),
            lowest: 1 << 32,
            changes,
            running: None,
            turns: BTreeMap::new(),
        }
    }

    fn priority(&mut self, thread: usize) -> (u64, u64) {
        let Priority { rng, priorities, by_block, block_threads, .. } = self;
        let above = |draw: u64| (1 << 32) + draw % (1 << 62);
        if !*by_block {
            return *priorities.entry(thread).or_insert_with(|| (above(rng.draw()), 0));
        }
        let first = thread / *block_threads * *block_threads;
        let block = priorities.entry(first).or_insert_with(|| (above(rng.draw()), rng.draw())).0;
        *priorities.entry(thread).or_insert_with(|| (block, rng.draw()))
    }
}

impl Scheduler for Priority {
    fn ready(&mut self, thread: usize, _: Pending) {
        // The running thread has become ready again, so it has used up its turn.
        if let Some(turn) = self.running.take_if(|turn| turn.thread == thread) {
            self.lowest -= 1;
            self.priorities.insert(thread, (self.lowest, 0));
            if let Some(left) = self.changes.last_mut() {
                *left = left.saturating_sub(turn.fuel.into());
                if *left == 0 {
                    self.changes.pop();
                }
            }
        }
        if self.turns.get(&thread).is_some_and(|turns| *turns >= MOST_TURNS) {
            self.turns.remove(&thread);
            self.lowest -= 1;
            self.priorities.insert(thread, (self.lowest, 0));
        }
        let priority = self.priority(thread);
        self.ready.insert((priority.0, priority.1 << 20 | thread as u64), thread);
    }

    fn next(&mut self) -> Option<Turn> {
        let (_, thread) = self.ready.pop_last()?;
        let left = self.changes.last().map_or(u64::MAX, |left| *left);
        let turn = Turn { thread, fuel: left.min(PATIENCE.into()) as u32 };
        self.running = Some(turn);
        *self.turns.entry(thread).or_insert(0) += 1;
        Some(turn)
    }

    fn rng(&mut self) -> Option<&mut Rng> {
        Some(&mut self.rng)
    }
}
