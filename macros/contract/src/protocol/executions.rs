//! The functions that a call executes, as far as their own shared memory matters: an array that a function declares is one memory
//! in all executions of the function, whichever calls lead to it and under whatever name it is imported. Functions are told apart by
//! the place of their declaration.

#![warn(clippy::wildcard_enum_match_arm)]

use bitflags::bitflags;

use super::{Effect, Guard, ProtocolSummary, When};

bitflags! {
    /// The times of a function at which it executes another one.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    struct Times: u8 {
        const FIRST = 1;
        const LAST = 1 << 1;
        const ARRIVED = 1 << 2;
        const BESIDE_CLOSURE = 1 << 3;
        const EVER = 1 << 4;
        const WAITED = 1 << 5;
    }
}

impl Times {
    const fn of(when: When) -> Times {
        match when {
            When::First => Times::FIRST,
            When::Last => Times::LAST,
            When::Arrived => Times::ARRIVED,
            When::Waited => Times::WAITED,
            When::BesideClosure => Times::BESIDE_CLOSURE,
            When::Ever => Times::EVER,
        }
    }
}

/// Executions of functions of which a second one may conflict with the first, by [`identity`] and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Executions {
    known: [(u64, Times); Executions::MOST],
    count: usize,
    /// The times of all functions beyond the known ones, each of which may be any function.
    others: Times,
}

impl Executions {
    const MOST: usize = 8;

    /// No execution.
    pub const NONE: Executions =
        Executions { known: [(0, Times::empty()); Executions::MOST], count: 0, others: Times::empty() };

    /// Whether there is no execution.
    pub const fn is_none(&self) -> bool {
        self.count == 0 && self.others.is_empty()
    }

    const fn add(&mut self, function: u64, times: Times) {
        let mut at = 0;
        while at < self.count {
            if self.known[at].0 == function {
                self.known[at].1 = self.known[at].1.union(times);
                return;
            }
            at += 1;
        }
        if times.is_empty() {
        } else if self.count < Self::MOST {
            self.known[self.count] = (function, times);
            self.count += 1;
        } else {
            self.others = self.others.union(times);
        }
    }

    /// The times of a function, or of any function.
    const fn times(&self, function: Option<u64>) -> Times {
        let mut times = self.others;
        let mut at = 0;
        while at < self.count {
            if match function {
                Some(function) => function == self.known[at].0,
                None => true,
            } {
                times = times.union(self.known[at].1);
            }
            at += 1;
        }
        times
    }

    /// Whether both execute the same function, each at its time.
    pub(super) const fn meet(&self, when: When, others: &Executions, at: When) -> bool {
        let (when, at) = (Times::of(when), Times::of(at));
        let mut each = 0;
        while each < self.count {
            let (function, times) = self.known[each];
            if times.contains(when) && others.times(Some(function)).contains(at) {
                return true;
            }
            each += 1;
        }
        self.others.contains(when) && others.times(None).contains(at)
    }
}

/// Collects the executions of a function with this identity: [`ProtocolSummary::executions`].
pub const fn executions(function: u64, effects: &[(Effect, Guard)], callees: &[ProtocolSummary]) -> Executions {
    let mut all = Executions::NONE;
    let mut at = 0;
    while at < effects.len() {
        let (effect, guard) = effects[at];
        match effect {
            Effect::Again(When::Ever) if guard.holds(callees) => all.add(function, Times::EVER),
            Effect::Again(When::Waited) if guard.holds(callees) => {
                all.add(function, Times::ARRIVED.union(Times::WAITED));
            }
            Effect::Again(when) if guard.holds(callees) => all.add(function, Times::FIRST.union(Times::of(when))),
            Effect::Executes { call, when, seen } if guard.holds(callees) => {
                let inner = &callees[call].executions;
                let mut each = 0;
                while each < inner.count {
                    let (function, times) = inner.known[each];
                    if times.contains(Times::of(when)) {
                        all.add(function, Times::of(seen));
                    }
                    each += 1;
                }
                if inner.others.contains(Times::of(when)) {
                    all.others = all.others.union(Times::of(seen));
                }
            }
            Effect::Again(_)
            | Effect::Executes { .. }
            | Effect::Does(_)
            | Effect::Uses(..)
            | Effect::Clashes(..)
            | Effect::Passes { .. } => {}
        }
        at += 1;
    }
    all
}

/// The identity of a function: a hash (FNV-1a) of where it is declared, and of its name, by which two functions of one macro
/// differ. Two functions with the same hash would be taken for one, so that more is refused.
pub const fn identity(module: &str, file: &str, position: (u32, u32), name: &str) -> u64 {
    let module = part(BASIS, module.as_bytes(), module.len());
    identity_behind(ended(module), file, position, name)
}

/// The identity of a text in another module than this one: one that has `up` names fewer, and then these.
pub const fn identity_elsewhere(module: &str, up: usize, down: &[&str], position: (u32, u32)) -> u64 {
    let bytes = module.as_bytes();
    let (mut length, mut left) = (bytes.len(), up);
    // Two colons precede each name but the first.
    while left > 0 && length > 0 {
        length -= 1;
        if length > 0 && bytes[length] == b':' && bytes[length - 1] == b':' {
            length -= 1;
            left -= 1;
        }
    }
    let mut hash = part(BASIS, bytes, length);
    let mut at = 0;
    while at < down.len() {
        hash = part(part(hash, b"::", 2), down[at].as_bytes(), down[at].len());
        at += 1;
    }
    identity_behind(ended(hash), "", position, "")
}

const BASIS: u64 = 0xcbf2_9ce4_8422_2325;

const fn identity_behind(mut hash: u64, file: &str, position: (u32, u32), name: &str) -> u64 {
    let position = [position.0.to_le_bytes(), position.1.to_le_bytes()];
    let parts = [file.as_bytes(), &position[0], &position[1], name.as_bytes()];
    let mut at = 0;
    while at < parts.len() {
        hash = ended(part(hash, parts[at], parts[at].len()));
        at += 1;
    }
    hash
}

/// Adds so many bytes to a hash.
const fn part(mut hash: u64, bytes: &[u8], length: usize) -> u64 {
    let mut at = 0;
    while at < length {
        hash = add(hash, bytes[at]);
        at += 1;
    }
    hash
}

/// The end of each part counts as a byte that no text has.
const fn ended(hash: u64) -> u64 {
    add(hash, 0xff)
}

const fn add(hash: u64, byte: u8) -> u64 {
    (hash ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Predicate;

    const ALWAYS: Guard = Guard { when: &[], unless: &[] };

    const fn summary(executions: Executions) -> ProtocolSummary {
        ProtocolSummary { executions, ..ProtocolSummary::UNKNOWN }
    }

    fn meet(first: Executions, second: Executions) -> bool {
        const MEET: &[Predicate] = &[Predicate::Meet((0, When::Last), (1, When::First))];
        Guard { when: MEET, unless: &[] }.holds(&[summary(first), summary(second)])
    }

    #[test]
    fn a_function_is_itself_through_all_calls() {
        let inner = executions(7, &[(Effect::Again(When::Last), ALWAYS)], &[]);
        let passed = |when| (Effect::Executes { call: 0, when, seen: when }, ALWAYS);
        let callees = [summary(inner)];
        let (first, last) = ([passed(When::First)], [passed(When::Last)]);
        let (first, last) = (executions(1, &first, &callees), executions(2, &last, &callees));
        assert!(meet(inner, inner) && meet(last, first) && meet(inner, first) && meet(last, inner));
        assert!(!meet(first, last), "the first has a barrier behind it, the second one before");
        let other = executions(8, &[(Effect::Again(When::Last), ALWAYS)], &[]);
        assert!(!meet(inner, other), "another function has memory of its own");
        assert!(!meet(executions(7, &[(Effect::Again(When::Arrived), ALWAYS)], &[]), inner));
    }

    /// Barriers that a function leaves in use are so at all times, also behind barriers of the cluster.
    #[test]
    fn a_second_execution_at_any_time() {
        const MEET: &[Predicate] = &[Predicate::Meet((0, When::Ever), (0, When::Ever))];
        let inner = executions(7, &[(Effect::Again(When::Ever), ALWAYS)], &[]);
        let passed = [(Effect::Executes { call: 0, when: When::Ever, seen: When::Ever }, ALWAYS)];
        let outer = executions(1, &passed, &[summary(inner)]);
        assert!(Guard { when: MEET, unless: &[] }.holds(&[summary(outer)]));
        assert!(!meet(inner, inner), "their memory does not conflict");
    }

    #[test]
    fn of_many_functions_some_may_be_any() {
        let mut many = Executions::NONE;
        (0..20).for_each(|function| many.add(function, Times::LAST));
        let alone = |function| executions(function, &[(Effect::Again(When::Last), ALWAYS)], &[]);
        assert!(meet(many, alone(3)) && meet(many, alone(99)));
        assert!(!meet(many, Executions::NONE) && !meet(Executions::NONE, alone(3)));
    }

    #[test]
    fn identities() {
        let f = identity("a", "b", (1, 2), "f");
        assert_eq!(f, identity("a", "b", (1, 2), "f"));
        for other in [("ab", "", (1, 2), "f"), ("a", "b", (2, 1), "f"), ("a", "b", (1, 2), "g")] {
            assert_ne!(f, identity(other.0, other.1, other.2, other.3));
        }
    }

    #[test]
    fn modules_beside_a_module() {
        let elsewhere = |up, down: &[&str]| identity_elsewhere("krate::one::two", up, down, (1, 2));
        let own = |module| identity(module, "", (1, 2), "");
        assert_eq!(elsewhere(0, &[]), own("krate::one::two"));
        assert_eq!(elsewhere(0, &["three"]), own("krate::one::two::three"));
        assert_eq!(elsewhere(1, &["ring"]), own("krate::one::ring"));
        assert_eq!(elsewhere(2, &[]), own("krate"));
        assert_ne!(elsewhere(2, &[]), own("krate::one"));
    }
}
