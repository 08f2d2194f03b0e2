//! The set of visited states: all of them in one row of numbers, found by hash.

/// States of one size, numbered in the order in which they were found.
pub(super) struct Table {
    size: usize,
    /// The numbers at the front of a state that the hash is made of.
    hashed: usize,
    states: Vec<u16>,
    /// For each place of the hash, a state's number plus one.
    slots: Vec<u32>,
    count: usize,
}

impl Table {
    pub(super) fn new(size: usize, hashed: usize) -> Table {
        // A machine without actors has one state, of no numbers.
        Table { size, hashed, states: Vec::new(), slots: vec![0; 1 << 10], count: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn state(&self, number: usize) -> &[u16] {
        &self.states[number * self.size..(number + 1) * self.size]
    }

    /// Adds a state; returns whether it is new.
    pub(super) fn insert(&mut self, state: &[u16]) -> bool {
        let mask = self.slots.len() - 1;
        let mut at = self.hash(state) & mask;
        while self.slots[at] != 0 {
            if self.state(self.slots[at] as usize - 1) == state {
                return false;
            }
            at = (at + 1) & mask;
        }
        self.states.extend_from_slice(state);
        self.count += 1;
        self.slots[at] = u32::try_from(self.count).unwrap_or(u32::MAX);
        if self.count * 2 > self.slots.len() {
            self.grow();
        }
        true
    }

    fn grow(&mut self) {
        let mut slots = vec![0; self.slots.len() * 4];
        let mask = slots.len() - 1;
        for number in 0..self.count {
            let mut at = self.hash(self.state(number)) & mask;
            while slots[at] != 0 {
                at = (at + 1) & mask;
            }
            slots[at] = u32::try_from(number + 1).unwrap_or(u32::MAX);
        }
        self.slots = slots;
    }

    /// Mixes the numbers at the front by multiplication (Fibonacci hashing).
    fn hash(&self, state: &[u16]) -> usize {
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut mixed: u64 = 0;
        for number in &state[..self.hashed] {
            mixed = (mixed.rotate_left(7) ^ u64::from(*number)).wrapping_mul(FACTOR);
        }
        (mixed >> 24) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_found_again() {
        let mut table = Table::new(2, 1);
        assert!(table.insert(&[1, 2]) && table.insert(&[1, 3]) && !table.insert(&[1, 2]));
        assert_eq!((table.len(), table.state(1)), (2, &[1, 3][..]));
        let mut empty = Table::new(0, 0);
        assert!(empty.insert(&[]) && !empty.insert(&[]));
        assert_eq!(empty.state(0), [0u16; 0]);
    }
}
