//! By lot: the thread, and the length of its turn. The same seed gives the same order.

use super::{Pending, Scheduler, Turn};

/// Turns are shorter than this: from one that ends at the first scheduling point to 15 atomics.
const FUEL: u64 = 64;

pub(super) struct Random {
    threads: Vec<usize>,
    lots: Lots,
}

/// The numbers of SplitMix64 (Steele, Lea, Flood 2014).
pub(crate) struct Lots(u64);

impl Lots {
    pub(super) fn new(seed: u64) -> Self {
        Lots(seed)
    }

    pub(crate) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Random { threads: Vec::new(), lots: Lots::new(seed) }
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
        let at = self.lots.draw() % self.threads.len() as u64;
        let fuel = (self.lots.draw() % FUEL) as u32;
        Some(Turn { thread: self.threads.swap_remove(at as usize), fuel })
    }

    fn lots(&mut self) -> Option<&mut Lots> {
        Some(&mut self.lots)
    }
}
