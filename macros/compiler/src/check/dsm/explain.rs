//! The message of a race: which access of the two the user is told of, and how the other one comes to be at the same memory.

use phalanx_contract::protocol::Party;

use super::Check;
use super::access_site::{AccessSite, name_of};
use super::conflict::{Conflict, Race};
use super::index_path::IndexPath;
use super::overlap::ConstantIs;
use super::record::Record;
use crate::check::cfg::Shared;
use crate::diag::Diag;
use crate::messages;

impl Check<'_, '_> {
    pub(super) fn message(
        &self,
        first: &AccessSite,
        second: &AccessSite,
        conflict: &Conflict,
        (record, path): (&Record, &IndexPath),
        constants: &[ConstantIs],
    ) -> Diag {
        let diag = self.race_message(first, second, conflict, record);
        let diag = match record.completion.filter(|_| !record.is_sent) {
            Some(completion) => messages::until_copy_is_complete(diag, completion.mechanism()),
            None => diag,
        };
        let name = |condition: &ConstantIs| self.function.values[usize::from(condition.constant.0)].name.clone();
        let diag = match constants {
            [] => diag,
            constants => messages::for_values_of(diag, &constants.iter().map(name).collect::<Vec<_>>()),
        };
        let diag = match record.path.is_followed_beside(path) {
            true => diag,
            false => messages::index_not_followed(diag),
        };
        let diag = if second.is_beside_closure() { messages::beside_closure(diag) } else { diag };
        if [first, second].into_iter().any(AccessSite::is_named_by_callee) {
            return messages::named_by_callee(diag);
        }
        let are_dynamic = [first, second].iter().all(|site| site.shared.whole() == Shared::Dynamic);
        if !are_dynamic || first.shared == second.shared {
            return diag;
        }
        let name = |site: &AccessSite| name_of(self.function, self.in_flight.cfg, site.shared);
        messages::may_share_bytes(diag, &name(first), &name(second))
    }

    fn race_message(&self, first: &AccessSite, second: &AccessSite, conflict: &Conflict, record: &Record) -> Diag {
        let Record { on_other_arm, relaxed, .. } = *record;
        let has_no_name = second.shared == Shared::Any || second.is_named_by_callee();
        let shared = if has_no_name { first.shared } else { second.shared };
        let name = name_of(self.function, self.in_flight.cfg, shared);
        let round = !on_other_arm && !second.is_beside_closure() && first.is_of_earlier_iteration(second);
        if let (Race::RelaxedPublishes, Some(arrival)) = (conflict.race, relaxed) {
            let role = (first.party == Party::Peer, first.only_reads());
            return messages::relaxed_publishes(second.at, first.at, arrival, &name, role, round);
        }
        match conflict.race {
            Race::UnpublishedRead => messages::unpublished_remote_read(second.at, first.at, &name, round),
            Race::WriteAfterArrive => messages::write_after_arrive(first.at, second.at, &name, round),
            Race::OverwriteWhileRead => messages::overwrite_while_read(second.at, first.at, &name, round),
            Race::CopyInFlight => {
                let at = (second.at, first.at);
                messages::copy_from_peer_in_flight(at, &name, !second.only_reads(), round)
            }
            Race::RelaxedPublishes | Race::UnorderedWrite => {
                let own = if first.party == Party::Owner { first } else { second };
                let roles = (second.party == Party::Peer, !own.only_reads());
                messages::unordered_remote_write(second.at, first.at, &name, roles, round)
            }
        }
    }
}
