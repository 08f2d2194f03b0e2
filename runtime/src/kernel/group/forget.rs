//! `token.forget()`, of each group with a split barrier. A phase barrier's token is dropped instead.

use std::panic::Location;

use super::{Cluster, Grid, ThreadBlock};
use crate::kernel::token::ArrivalToken;
use crate::sim::{self, Group};

macro_rules! forget {
    ($($group:ident: $number:expr;)*) => {$(
        impl ArrivalToken<$group> {
            /// Gives the token up: this thread has arrived and never waits, while others, the elected waiters, do. The group
            /// must not be used again on this path, nor a group that contains it
            /// ([token_forgotten](crate::rules#token_forgotten)), and what the wait would have proved, it does not prove here.
            ///
            /// Only a kernel can forget a token, and only one of an arrival of its own. The waits may be in a branch that is
            /// divergent in the group: any threads of a block may wait, whole warps of a cluster, and whole blocks of a grid.
            ///
            /// ```
            /// use phalanx::prelude::*;
            ///
            /// /// The first warp adds what all have written; the others leave at once.
            /// #[cluster_kernel(block = 128)]
            /// fn sums(values: &[u32], out: &mut [u32]) {
            ///     let block = this_thread_block();
            ///     let shared = shared_array::<u32, 128>();
            ///     let i = block.thread_rank();
            ///     shared[i] = values[this_grid().thread_rank()];
            ///     let token = block.barrier_arrive();
            ///     if i < 32 {
            ///         block.barrier_wait(token);
            ///         let warp = tiled_partition::<32>(&block);
            ///         let four = shared[i] + shared[i + 32] + shared[i + 64] + shared[i + 96];
            ///         out[this_grid().block_rank()] = warp.reduce(four, op::Plus);
            ///     } else {
            ///         token.forget();
            ///     }
            /// }
            ///
            /// # fn main() -> phalanx::Result<()> {
            /// let device = Device::simulator();
            /// let (values, mut out) = (device.upload(&Vec::from_iter(0..256))?, device.zeros(2)?);
            /// sums(&values, &mut out).grid(2).launch(&device)?;
            /// assert_eq!(out.read()?, [8128, 24512]);
            /// # Ok(())
            /// # }
            /// ```
            #[track_caller]
            pub fn forget(self) {
                let site = Location::caller();
                sim::with("`token.forget()`", |context| context.barrier_forget($number, site));
            }
        }
    )*};
}

forget! {
    ThreadBlock: Group::Block;
    Cluster: Group::Cluster;
    Grid: Group::Grid;
}
