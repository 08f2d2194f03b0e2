//! `group.uniform(value)`: a claim that all threads of the group hold the same, for groups larger than a warp. It is no
//! barrier: each thread compares with what the first of them brought to the same call, and goes on. A thread that never
//! comes is not noticed here.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::{Context, Site};
use crate::failure::Cause;

/// A group whose threads claim something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Claimant {
    Block,
    Cluster,
    Grid,
}

/// The calls of a launch that not all threads have come to.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    open: Mutex<BTreeMap<Call, Claim>>,
}

/// The n-th time that the threads of a group come to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Call {
    /// The group, and the rank in the grid of the block or cluster that it is.
    group: (Claimant, u64),
    site: Site,
    round: u64,
}

#[derive(Debug)]
struct Claim {
    value: Box<[u8]>,
    left: u64,
}

impl Context<'_> {
    /// Compares with the others of the group. `what` is the same, as a sentence begins that says so.
    pub(crate) fn claim(&self, claimant: Claimant, what: &str, value: &[u8], site: Site) {
        let (cluster, launch) = (self.cluster, self.cluster.launch);
        let (rank, threads) = match claimant {
            Claimant::Block => (
                cluster.rank * u64::from(launch.cluster_blocks) + u64::from(self.thread.block_rank),
                u64::from(launch.block_threads),
            ),
            Claimant::Cluster => (cluster.rank, cluster.threads.len() as u64),
            Claimant::Grid => (0, launch.shape.grid.count() * u64::from(launch.block_threads)),
        };
        let group = (claimant, rank);
        let round = {
            let mut rounds = self.thread.claims.borrow_mut();
            let round = rounds.entry((claimant, site)).or_insert(0);
            *round += 1;
            *round
        };
        let call = Call { group, site, round };
        let mut open = launch.claims.open.lock().unwrap_or_else(PoisonError::into_inner);
        let claim = open.entry(call).or_insert_with(|| Claim { value: value.into(), left: threads });
        claim.left -= 1;
        let same = *claim.value == *value;
        if claim.left == 0 {
            open.remove(&call);
        }
        drop(open);
        if !same {
            let noun = match claimant {
                Claimant::Block => "block",
                Claimant::Cluster => "cluster",
                Claimant::Grid => "grid",
            };
            self.fail(Cause::Protocol(format!("{what} not the same for all threads of the {noun}")), site);
        }
    }
}
