//! The checks ask each question about called functions once, and note each effect that depends on them once. All calls of a
//! function have the same answers, so that a kernel with hundreds of calls between two barriers asks about each pair of its
//! callees, and not about each pair of its calls.

use std::collections::BTreeMap;

use phalanx_contract::protocol::Behavior;

use super::Check;
use super::conflict::Race;
use super::overlap::ConstantIs;
use super::protocol::{Effect, Guard, Predicate};
use crate::check::cfg::{GivenTo, Shared};

/// The fault that a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum About {
    /// Accesses to these objects race in this way.
    Race(Race, Shared, Shared),
    /// Two callees name the same memory without being given it.
    Meeting,
    /// A callee accesses a peer's memory, and the function may end before it has arrived.
    Exit,
}

/// A fault or an effect, which happens if the guard about called functions holds.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    Fault(About),
    Effect(Effect),
}

/// The rest of a guard: the behavior of the calls in between, and the values of constants.
#[derive(Debug)]
struct Conditions {
    unless: Vec<(u16, Behavior)>,
    constants: Vec<ConstantIs>,
}

/// The questions that were asked and the effects that were found. One slot stands for all calls of a function
/// (`Cfg::representative`).
#[derive(Debug, Default)]
pub(super) struct Questions(BTreeMap<(Subject, Vec<Predicate>), Vec<Conditions>>);

impl Questions {
    /// Adds a question; says whether none is known that holds whenever its guard does.
    pub(super) fn is_new(&mut self, about: About, guard: &Guard) -> bool {
        self.add(Subject::Fault(about), guard)
    }

    /// Adds an effect; says whether it is not known under a guard that holds whenever this one does.
    pub(super) fn is_new_effect(&mut self, (effect, guard): &(Effect, Guard)) -> bool {
        self.add(Subject::Effect(*effect), guard)
    }

    fn add(&mut self, subject: Subject, guard: &Guard) -> bool {
        let Guard { when, constants, unless } = guard;
        let known = self.0.entry((subject, when.clone())).or_default();
        let is_weaker = |known: &Conditions| {
            known.unless.iter().all(|known| unless.contains(known))
                && known.constants.iter().all(|known| constants.contains(known))
        };
        let is_new = !known.iter().any(is_weaker);
        if is_new {
            known.push(Conditions { unless: unless.clone(), constants: constants.clone() });
        }
        is_new
    }
}

impl Check<'_, '_> {
    /// Whether a guard holds whatever callees do, or nothing is asked yet that holds whenever it does. What closures do that calls
    /// are given is always asked.
    pub(super) fn is_new_question(&mut self, about: About, given_to: [Option<GivenTo>; 2], guard: &Guard) -> bool {
        guard.depends_on_no_call() || given_to.iter().any(Option::is_some) || self.questions.is_new(about, guard)
    }
}
