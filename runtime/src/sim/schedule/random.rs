//! By lot: the thread, and the length of its turn. The same seed gives the same order.

use super::{Scheduler, Turn};

/// Turns are shorter than this: from one that ends at the first scheduling point to 15 atomics.
const FUEL: u64 = 64;

pub(super) struct Random {
    threads: Vec<usize>,
    state: u64,
}

impl Random {
    pub(super) fn new(seed: u64, cluster: u64) -> Self {
        let mut random = Random { threads: Vec::new(), state: seed };
        // Mixed before the cluster comes in, so that seed 1 of cluster 0 is not seed 0 of cluster 1.
        random.state = random.draw() ^ cluster;
        random
    }

    /// The next number of SplitMix64 (Steele, Lea, Flood 2014).
    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Scheduler for Random {
    fn ready(&mut self, thread: usize) {
        self.threads.push(thread);
    }

    fn next(&mut self) -> Option<Turn> {
        if self.threads.is_empty() {
            return None;
        }
        let at = self.draw() % self.threads.len() as u64;
        let fuel = (self.draw() % FUEL) as u32;
        Some(Turn { thread: self.threads.swap_remove(at as usize), fuel })
    }
}
