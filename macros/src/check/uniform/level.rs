//! What is known of a value's uniformity: how many threads hold the same, as far as it depends on this function, and on
//! what else it depends that only rustc sees.

use std::collections::BTreeSet;

use crate::check::scope::Scope;
use crate::model::ValueId;

/// The most that all of these say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Level {
    pub(crate) scope: Scope,
    pub(crate) unknown: BTreeSet<Unknown>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unknown {
    /// What the function's caller gave it, by the parameter's position.
    Param(usize),
    /// The result of a device function, by the call's slot.
    Call(u16),
    /// The same of a method, which only rustc finds.
    Method(u16),
    /// A thread's rank over a constant: as many threads as that is a multiple of.
    Multiple(u16),
}

impl Level {
    pub(super) fn known(scope: Scope) -> Level {
        Level { scope, unknown: BTreeSet::new() }
    }

    pub(super) fn of(unknown: Unknown) -> Level {
        Level { scope: Scope::Grid, unknown: BTreeSet::from([unknown]) }
    }

    pub(super) fn multiple(of: ValueId) -> Level {
        Level { scope: Scope::Warp, unknown: BTreeSet::from([Unknown::Multiple(of.0)]) }
    }

    /// Says whether it changed.
    pub(super) fn meet(&mut self, other: &Level) -> bool {
        let scope = self.scope.meet(other.scope);
        let before = self.unknown.len();
        // Mostly there is none.
        if !other.unknown.is_empty() {
            self.unknown.extend(&other.unknown);
        }
        std::mem::replace(&mut self.scope, scope) != scope || self.unknown.len() != before
    }

    /// What is made of several values is the rank of none.
    pub(super) fn combined(mut self) -> Level {
        if self.scope == Scope::Rank {
            self.scope = Scope::Nothing;
        }
        self
    }

    pub(super) fn is_top(&self) -> bool {
        self.scope == Scope::Grid && self.unknown.is_empty()
    }
}
