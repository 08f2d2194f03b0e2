//! Asynchronous copies in the analysis of accesses in flight: which accesses a wait at a phase barrier ends or orders.

use std::collections::BTreeSet;

use super::record::Record;
use crate::check::cfg::{AccessKind, Cfg, Completion, Shared};
use crate::check::completion::{Completions, may_be_same};

/// The asynchronous copies of a function, and the waits that show their completion.
pub(super) struct Copies<'a> {
    pub(super) waits: &'a Completions,
    /// The completions of all copies.
    completions: BTreeSet<Completion>,
    /// The barriers on which copies to peers complete.
    of_sends: BTreeSet<Shared>,
}

impl<'a> Copies<'a> {
    pub(super) fn of(cfg: &Cfg<'_>, waits: &'a Completions) -> Copies<'a> {
        let copies = || cfg.accesses.iter().filter_map(|access| Some((access.kind, access.completion?)));
        let sends = copies().filter(|(kind, _)| *kind == AccessKind::AsyncWrite);
        let of_sends = sends.filter_map(|(_, completion)| match completion {
            Completion::Barrier(barrier) => Some(barrier),
            Completion::Group | Completion::BulkGroup | Completion::Product => None,
        });
        Copies {
            waits,
            completions: copies().map(|(_, completion)| completion).collect(),
            of_sends: of_sends.collect(),
        }
    }

    /// The completions that a wait at one of these phase barriers may show.
    pub(super) fn shown_at(&self, barriers: &[Shared]) -> impl Iterator<Item = Completion> {
        self.completions.iter().copied().filter(|completion| self.is_shown_at(barriers, *completion))
    }

    fn is_shown_at(&self, barriers: &[Shared], completion: Completion) -> bool {
        barriers.iter().any(|barrier| self.waits.shows(*barrier, completion))
    }

    /// Whether a wait at one of these phase barriers may show the completion of the record's copy, or of what a peer's copy has
    /// to wait for.
    pub(super) fn is_waited_for_at(&self, barriers: &[Shared], is_own: bool, record: &Record) -> bool {
        match record.completion {
            Some(completion) => self.is_shown_at(barriers, completion),
            None => barriers.iter().any(|barrier| !is_own || self.tells_of_receiver(record, *barrier)),
        }
    }

    /// Whether a wait may tell what a peer has done since the access. One for what that peer sends does not, unless the thread has
    /// sent as well: then the peer may have waited for that.
    fn tells_of_receiver(&self, record: &Record, barrier: Shared) -> bool {
        let is_of_send = barrier != Shared::Any && self.of_sends.contains(&barrier);
        !is_of_send || record.sent_since.iter().any(|sent| may_be_same(*sent, barrier))
    }
}
