//! Asks whether a block has waited for all that peers do to its memory before it accesses that (`receipts`), which orders the two without a
//! barrier of the cluster.

use super::Check;
use super::access_site::{AccessSite, name_of};
use crate::check::cfg::AccessId;
use crate::check::receipts::{Receipts, Unbalanced, is_written_by_peers_alone, receipts};
use crate::diag::{Diag, Diags};
use crate::messages;
use crate::model::Role;
use phalanx_contract::protocol::Party;

impl Check<'_, '_> {
    /// The accesses to peers' memory whose owners wait for them.
    pub(super) fn receipts(&self) -> &Receipts {
        self.receipts.get_or_init(|| receipts(self.function, self.in_flight.cfg, self.values.control))
    }

    /// `uninit_shared_read`: where blocks write to the memory of one of them, the others do not read theirs.
    ///
    /// ```text
    /// cluster.map_shared_rank(&sums, 0)[rank] = x;
    /// ..
    /// let total = sums[0] + sums[1];                          // in block 1, too, whose memory nobody has written
    /// ```
    pub(super) fn check_unwritten(&self, diags: &mut Diags) {
        let cfg = self.in_flight.cfg;
        let receipts = match is_written_by_peers_alone(cfg) {
            true => Some(self.receipts()),
            false => self.receipts.get(),
        };
        for (access, shared, block) in receipts.into_iter().flat_map(|receipts| &receipts.unwritten) {
            let name = name_of(self.function, cfg, *shared);
            diags.push(messages::unwritten_in_block(cfg.accesses[access.0].at, &name, *block));
        }
    }

    /// Notes that the block to which an access sends would wait for it, but for the number of bytes.
    pub(super) fn noting_bytes(&self, access: AccessId, diag: Diag) -> Diag {
        let unbalanced = self.receipts().unbalanced(access);
        let named = unbalanced.and_then(|at| Some((at, self.in_flight.cfg.name_of(self.function, at.shared)?)));
        let Some((Unbalanced { block, expected, sent, .. }, name)) = named else { return diag };
        let at = self.in_flight.cfg.accesses[access.0].at;
        messages::with_bytes_of_barrier(diag, at, (&name.to_string(), block), (expected, sent))
    }

    /// Whether one of two accesses is a peer's, and the other is the owner's, whose block has then waited for all that the peer's brings.
    pub(super) fn is_received_before(&self, one: &AccessSite, other: &AccessSite) -> bool {
        let (owner, peer) = if one.party == Party::Owner { (one, other) } else { (other, one) };
        let is_by_kernel = self.function.role == Role::Kernel && owner.given_to.is_none();
        peer.number
            .zip(owner.number)
            .is_some_and(|(write, access)| is_by_kernel && self.receipts().orders(write, access))
    }
}
