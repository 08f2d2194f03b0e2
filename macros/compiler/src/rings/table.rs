//! The set of visited states: all of them in one row of numbers, found by hash.

/// States of one size, numbered in the order in which they were found.
pub(super) struct Table<N> {
    size: usize,
    states: Vec<N>,
    /// For each place of the hash, half of the hash and a state's number plus one.
    slots: Vec<(u32, u32)>,
    count: usize,
}

/// A number of which states are made.
pub(super) trait Number: Copy + PartialEq {
    fn hash(state: &[Self]) -> u32;
}

impl<N: Number> Table<N> {
    pub(super) fn new(size: usize) -> Table<N> {
        // A machine without actors has one state, of no numbers.
        Table { size, states: Vec::new(), slots: vec![(0, 0); 1 << 10], count: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn state(&self, number: usize) -> &[N] {
        &self.states[number * self.size..(number + 1) * self.size]
    }

    /// Adds a state; returns whether it is new.
    pub(super) fn insert(&mut self, state: &[N]) -> bool {
        let before = self.count;
        self.number(state) == before
    }

    /// Returns the number of a state, which is added if it is new.
    pub(super) fn number(&mut self, state: &[N]) -> usize {
        let (hash, mask) = (N::hash(state), self.slots.len() - 1);
        let mut at = hash as usize & mask;
        while self.slots[at].1 != 0 {
            if self.slots[at].0 == hash && self.state(self.slots[at].1 as usize - 1) == state {
                return self.slots[at].1 as usize - 1;
            }
            at = (at + 1) & mask;
        }
        self.states.extend_from_slice(state);
        self.count += 1;
        self.slots[at] = (hash, u32::try_from(self.count).unwrap_or(u32::MAX));
        if self.count * 2 > self.slots.len() {
            self.grow();
        }
        self.count - 1
    }

    fn grow(&mut self) {
        let mut slots = vec![(0, 0); self.slots.len() * 4];
        let mask = slots.len() - 1;
        for slot in self.slots.iter().filter(|slot| slot.1 != 0) {
            let mut at = slot.0 as usize & mask;
            while slots[at].1 != 0 {
                at = (at + 1) & mask;
            }
            slots[at] = *slot;
        }
        self.slots = slots;
    }
}

/// Mixes a word into others by multiplication (Fibonacci hashing).
fn mix(mixed: u64, word: u64) -> u64 {
    (mixed.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The numbers are mixed four at a time. A loop over indexes is several times faster than one over an iterator where the compiler does not
/// optimize, as in most users' builds.
impl Number for u16 {
    fn hash(state: &[u16]) -> u32 {
        let (mut mixed, mut at) = (0, 0);
        while at + 4 <= state.len() {
            let four = state[at] as u64
                | (state[at + 1] as u64) << 16
                | (state[at + 2] as u64) << 32
                | (state[at + 3] as u64) << 48;
            mixed = mix(mixed, four);
            at += 4;
        }
        while at < state.len() {
            mixed = mix(mixed, state[at] as u64);
            at += 1;
        }
        (mixed >> 32) as u32
    }
}

impl Number for u128 {
    fn hash(state: &[u128]) -> u32 {
        let (mut mixed, mut at) = (0, 0);
        while at < state.len() {
            mixed = mix(mixed, state[at] as u64 ^ ((state[at] >> 64) as u64).rotate_left(32));
            at += 1;
        }
        (mixed >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_found_again() {
        let mut table = Table::<u16>::new(2);
        assert!(table.insert(&[1, 2]) && table.insert(&[1, 3]) && !table.insert(&[1, 2]));
        assert_eq!((table.len(), table.state(1)), (2, &[1, 3][..]));
        let mut empty = Table::<u16>::new(0);
        assert!(empty.insert(&[]) && !empty.insert(&[]));
        assert_eq!(empty.state(0), [0u16; 0]);
    }

    #[test]
    fn states_stay_found_when_the_table_grows() {
        let mut table = Table::new(5);
        let states = || (0..3000_u16).map(|number| [number % 7, 0, number, 1, number / 9]);
        assert!(states().all(|state| table.insert(&state)));
        assert!(states().all(|state| !table.insert(&state)));
        assert_eq!((table.len(), table.state(2999)), (3000, &[3, 0, 2999, 1, 333][..]));
        let mut sets = Table::new(2);
        assert!((0..3000).all(|number| sets.number(&[1_u128 << 100, number << 64]) == number as usize));
        assert_eq!((sets.number(&[1 << 100, 7 << 64]), sets.len()), (7, 3000));
    }
}
