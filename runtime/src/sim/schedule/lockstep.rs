//! Runs warps in lockstep, as a converged warp runs, and as all warps ran on hardware before Volta: each thread that
//! can run takes one step before any of them takes another, or another warp runs. A step ends at an access, an arrival
//! or the end of a loop iteration. The warp, its number of steps and its first thread are chosen uniformly at random.
//!
//! Diverged threads of a warp take their steps, too, so that none starves, as on GPUs since Volta.

use std::collections::BTreeMap;

use super::rng::Rng;
use super::scheduler::{Pending, Scheduler, Turn};
use crate::sim::group::LANES;

/// The largest number of steps that a warp takes before another may run.
const STEPS: u64 = 16;

pub(super) struct Lockstep {
    rng: Rng,
    block_threads: usize,
    /// The ready threads that have finished this step, by their warp's first thread.
    ready: BTreeMap<usize, Vec<usize>>,
    /// The running warp, the steps it has left, and its threads that have not taken this step, in reverse order.
    warp: usize,
    left: u64,
    step: Vec<usize>,
}

impl Lockstep {
    pub(super) fn new(seed: u64, block_threads: usize) -> Self {
        Lockstep { rng: Rng::new(seed), block_threads, ready: BTreeMap::new(), warp: 0, left: 0, step: Vec::new() }
    }
}

impl Scheduler for Lockstep {
    fn ready(&mut self, thread: usize, _: Pending) {
        let lane = thread % self.block_threads % LANES as usize;
        self.ready.entry(thread - lane).or_default().push(thread);
    }

    fn next(&mut self) -> Option<Turn> {
        if self.step.is_empty() {
            if self.left == 0 || !self.ready.contains_key(&self.warp) {
                let at = self.rng.draw() as usize % self.ready.len().max(1);
                self.warp = *self.ready.keys().nth(at)?;
                self.left = 1 + self.rng.draw() % STEPS;
            }
            self.left -= 1;
            self.step = self.ready.remove(&self.warp)?;
            self.step.sort_unstable_by(|a, b| b.cmp(a));
            let first = self.rng.draw() as usize % self.step.len();
            self.step.rotate_left(first);
        }
        self.step.pop().map(|thread| Turn { thread, fuel: 0 })
    }

    fn stops_at_accesses(&self) -> bool {
        true
    }

    fn rng(&mut self) -> Option<&mut Rng> {
        Some(&mut self.rng)
    }
}
