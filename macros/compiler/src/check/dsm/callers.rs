//! Tells whether accesses that the caller of a function made before the call may still be in flight. A function that is given a
//! token waits for an arrival of its caller, which does not order what the caller did after it.

use std::collections::BTreeSet;

use super::in_flight::State;
use super::record::{Instance, Record, RecordKey, Timing};
use crate::check::cfg::spans_cluster;
use crate::model::Function;
use crate::model::kind::Kind;

/// Whether the function is given a token of a barrier of the cluster.
pub(super) fn is_given_token(function: &Function) -> bool {
    let kinds = function.params.iter().map(|param| function.kind(param.local));
    kinds.filter_map(|kind| if let Kind::Token(group) = kind { Some(group) } else { None }).any(spans_cluster)
}

impl State {
    /// The state after a wait at a barrier of the cluster.
    pub(super) fn after_wait(&self) -> State {
        let mut after = self.clone();
        after.wait();
        after
    }

    /// `None` if the caller's accesses are no longer in flight. Otherwise the calls since the function's start, on all paths: one
    /// of them may have a barrier that orders what the caller did.
    pub(super) fn calls_since_caller(&self) -> Option<&BTreeSet<u16>> {
        let caller = self.records.iter().filter(|(instance, _)| instance.key == RecordKey::Caller);
        caller.map(|(_, record)| &record.calls_since).min_by_key(|calls| calls.len())
    }

    /// `None` if the function has not waited for an arrival of its caller, or what the caller did after that arrival is no longer in
    /// flight. Otherwise the calls since, on all paths: one of them may have a barrier that orders it.
    pub(super) fn calls_since_arrival_of_caller(&self) -> Option<&BTreeSet<u16>> {
        let has_waited = |(instance, record): &(&Instance, &Record)| {
            instance.key == RecordKey::CallerArrived && record.timing.contains(Timing::BEFORE_WAIT)
        };
        self.records.iter().filter(has_waited).map(|(_, record)| &record.calls_since).min_by_key(|calls| calls.len())
    }
}
