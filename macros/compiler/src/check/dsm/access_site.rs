//! Something that sites memory: the function itself, or one that it calls.

use phalanx_contract::protocol::{Behavior, ParameterUses, Party, Uses, When};

use super::conflict::Conflict;
use super::in_flight::Record;
use super::path::Path;
use super::protocol::{Guard, Predicate, Row};
use crate::check::cfg::Shared;
use crate::span::SpanRange;

#[derive(Clone, Copy)]
pub(super) struct AccessSite {
    pub(super) party: Party,
    pub(super) shared: Shared,
    pub(super) at: SpanRange,
    pub(super) by: Accessor,
}

impl AccessSite {
    /// Whether the function itself accesses the memory, and reads it only.
    pub(super) fn only_reads(&self) -> bool {
        matches!(self.by, Accessor::Itself(uses) if Uses::READ.union(Uses::ATOMIC_READ).contains(uses))
    }

    pub(super) fn part<'p>(&self, path: &'p Path) -> Part<'p> {
        Part { party: self.party, shared: self.shared, path }
    }
}

/// Memory, as the thread that sites it names it.
#[derive(Clone, Copy)]
pub(super) struct Part<'p> {
    pub(super) party: Party,
    pub(super) shared: Shared,
    pub(super) path: &'p Path,
}

#[derive(Clone, Copy)]
pub(super) enum Accessor {
    /// By the function itself: what it does.
    Itself(Uses),
    /// By one that it calls: the argument, and when.
    Call(u16, usize, When),
}

/// Those that a call may site alone.
pub(super) fn rows(site: &AccessSite, path: &Path) -> Vec<(Row, Path)> {
    match site.by {
        Accessor::Itself(_) => Vec::new(),
        Accessor::Call(slot, param, _) => {
            path.rows().map(|(by, row)| (Row { call: slot, parameter: param, by }, row)).collect()
        }
    }
}

/// When the two do what must not be at once; `None` if they do other things.
pub(super) fn guard_of(first: &AccessSite, second: &AccessSite, pair: &Conflict, record: &Record) -> Option<Guard> {
    let mut guard = Guard::unless(&record.passed, Behavior::MAY_NOT_ORDER);
    for (site, mask) in [(first, pair.first), (second, pair.second)] {
        match site.by {
            Accessor::Itself(kind) if !kind.intersects(mask) => return None,
            Accessor::Itself(_) => {}
            Accessor::Call(slot, argument, when) => {
                guard = guard.when(Predicate::Uses(slot, argument, ParameterUses::of(site.party, when, mask)));
            }
        }
    }
    Some(guard)
}
