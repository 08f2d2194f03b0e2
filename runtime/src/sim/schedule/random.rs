//! Chooses the next thread and the length of its turn uniformly at random. The same seed gives the same order.

use super::rng::Rng;
use super::scheduler::{Pending, Scheduler, Turn};

/// The exclusive bound of a turn's fuel. Turns range from one that ends at the first scheduling point to 15 atomics.
const FUEL: u64 = 64;

pub(super) struct Random {
    threads: Vec<usize>,
    rng: Rng,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Random { threads: Vec::new(), rng: Rng::new(seed) }
    }
}

impl Scheduler for Random {
    fn ready(&mut self, thread: usize, _: Pending) {
        self.threads.push(thread);
    }

    fn next(&mut self) -> Option<Turn> {
        if self.threads.is_empty() {
            return None;
        }
        let at = self.rng.draw() % self.threads.len() as u64;
        let fuel = (self.rng.draw() % FUEL) as u32;
        Some(Turn { thread: self.threads.swap_remove(at as usize), fuel })
    }

    fn rng(&mut self) -> Option<&mut Rng> {
        Some(&mut self.rng)
    }
}
