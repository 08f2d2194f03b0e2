//! Implements `group.uniform(value)`: a check that all threads of the group hold the same value, for groups larger than
//! a warp. It is no barrier: each thread compares with the value of the first thread at the same call, and goes on. A
//! thread that never calls it is not noticed.

use std::sync::PoisonError;

use super::context::Context;
use super::group::Group;
use super::site::Site;
use super::state::{UniformCall, UniformCheck};
use crate::report::failure::Cause;

impl Context<'_> {
    /// Compares `value` with that of the other threads of the group. `what` begins the sentence of a report: ... "not
    /// the same for all threads of the block".
    pub(crate) fn check_uniform(&self, kind: Group, what: &str, value: &[u8], site: Site) {
        let (cluster, launch) = (self.cluster, self.cluster.launch);
        let (rank, threads) = match kind {
            Group::Block => (
                cluster.rank * u64::from(launch.cluster_blocks) + u64::from(self.thread.block_rank),
                u64::from(launch.block_threads),
            ),
            Group::Cluster => (cluster.rank, cluster.threads.len() as u64),
            Group::Grid => (0, launch.shape.grid.count() * u64::from(launch.block_threads)),
        };
        let group = (kind, rank);
        let round = {
            let mut rounds = self.thread.uniform_calls.borrow_mut();
            let round = rounds.entry((kind, site)).or_insert(0);
            *round += 1;
            *round
        };
        let call = UniformCall { group, site, round };
        let mut open = launch.uniform_checks.open.lock().unwrap_or_else(PoisonError::into_inner);
        let check = open.entry(call).or_insert_with(|| UniformCheck { value: value.into(), left: threads });
        check.left -= 1;
        let same = *check.value == *value;
        if check.left == 0 {
            open.remove(&call);
        }
        drop(open);
        if !same {
            let noun = kind.name();
            self.fail(Cause::Protocol(format!("{what} not the same for all threads of the {noun}")), site);
        }
    }
}
