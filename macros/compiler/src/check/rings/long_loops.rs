//! Loops of a known length that are so long that they are followed exactly only if there is no proof otherwise: each iteration is steps of its own.

use std::cell::Cell;

/// The largest number of iterations that is followed exactly where arguments are open. The iterations of longer loops are taken
/// to be open, too, unless there is no proof so; of the longest ones, they always are.
pub(super) const LONG: i64 = 8;
const LONGEST: i64 = 64;

/// Decides which loops of a known length are followed exactly where arguments are open.
#[derive(Debug, Default)]
pub(super) struct LongLoops {
    /// Whether long ones are, too.
    follows: Cell<bool>,
    /// Whether there is one that is not.
    any: Cell<bool>,
}

impl LongLoops {
    /// Whether a loop of so many iterations is followed exactly.
    pub(super) fn is_followed(&self, length: i64) -> bool {
        self.any.set(self.any.get() || (LONG + 1..=LONGEST).contains(&length));
        length <= if self.follows.get() { LONGEST } else { LONG }
    }

    /// Follows long loops, or not any more; says whether there are any.
    pub(super) fn follow(&self, follows: bool) -> bool {
        self.follows.set(follows);
        self.any.get()
    }
}
