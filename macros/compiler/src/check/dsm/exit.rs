//! The ends of a function: what must be over when a kernel exits, and what callers must know of a device function's end.

use phalanx_contract::protocol::Behavior;

use super::Check;
use super::access_site::in_time;
use super::in_flight::State;
use super::protocol::{Effect, Guard, Predicate};
use super::questions::About;
use super::record::RecordKey;
use crate::check::cfg::{Access, Call, CallId};
use crate::messages;
use crate::model::Role;
use crate::span::SpanRange;

impl Check<'_, '_> {
    /// `exit_before_peers_done`: no block exits while a peer may access its memory. A device function leaves that to its callers.
    ///
    /// ```text
    /// out[i] = peer[i];
    /// }                                                       // the peer may have exited before this read
    /// ```
    pub(super) fn check_exit(&mut self, state: &State, end: SpanRange) {
        for (key, open) in state.open.iter() {
            let guard = Guard::unless(&open.calls_since, Behavior::MAY_NOT_ARRIVE);
            match (*key, self.function.role) {
                (RecordKey::Access(id), Role::Kernel) if self.receipts().has(id) => {}
                (RecordKey::Access(id), Role::Kernel) => {
                    let Access { at, given_to, .. } = self.in_flight.cfg.accesses[id.0];
                    let guard = in_time(given_to, guard);
                    let diag = match open.relaxed {
                        Some(arrival) => messages::relaxed_before_exit(at, arrival, end),
                        None => self.noting_bytes(id, messages::exit_before_peers_done(at, end)),
                    };
                    self.report(guard, diag);
                }
                (RecordKey::Call(CallId(call)), Role::Kernel) => {
                    let cfg = self.in_flight.cfg;
                    let Call { at, given_to, .. } = cfg.calls[call];
                    let slot = cfg.representative(&cfg.calls[call]);
                    let guard = in_time(given_to, guard).when(Predicate::Does(slot, Behavior::LEAVES_REMOTE_OPEN));
                    if !self.is_new_question(About::Exit, [given_to, None], &guard) {
                        continue;
                    }
                    let diag = match open.relaxed {
                        Some(arrival) => messages::relaxed_before_exit(at, arrival, end),
                        None => messages::call_before_exit(at, end),
                    };
                    self.report(guard, diag);
                }
                (RecordKey::Access(id), _) => {
                    let guard = in_time(self.in_flight.cfg.accesses[id.0].given_to, guard);
                    self.add_effect(Effect::Does(Behavior::LEAVES_REMOTE_OPEN), guard);
                }
                (RecordKey::Call(CallId(call)), _) => {
                    let cfg = self.in_flight.cfg;
                    let (slot, given_to) = (cfg.representative(&cfg.calls[call]), cfg.calls[call].given_to);
                    let guard = in_time(given_to, guard).when(Predicate::Does(slot, Behavior::LEAVES_REMOTE_OPEN));
                    self.add_effect(Effect::Does(Behavior::LEAVES_REMOTE_OPEN), guard);
                }
                (RecordKey::Caller, _) => self.add_effect(Effect::Does(Behavior::MAY_NOT_ARRIVE), guard),
                (RecordKey::Argument { .. } | RecordKey::CallerArrived, _) => {}
            }
        }
        if self.function.role == Role::Kernel {
            return;
        }
        if let Some(calls) = &state.not_entered {
            self.add_effect(Effect::Does(Behavior::MAY_NOT_ENTER), Guard::unless(calls, Behavior::MAY_NOT_ENTER));
        }
        for (instance, record) in state.records.iter() {
            self.summarize_in_flight(instance.key, record);
        }
    }
}
