//! The groups that copy together: which thread issues the copy, and how the group waits for it.

use super::members::{Call, Members};
use super::{CoalescedGroup, ThreadBlock, Tile, WarpGroup};
use crate::kernel::memory::bits;
use crate::sim::{self, Batch, Group, Site};

/// A group that `memcpy_async` takes: a block, a tile or a coalesced group.
#[diagnostic::on_unimplemented(
    message = "the threads of `{Self}` cannot copy together",
    note = "the threads of a block, a tile or a coalesced group can"
)]
pub trait CopyGroup: sealed::CopyGroup {}

mod sealed {
    use crate::sim::{Batch, Site};

    pub trait CopyGroup {
        /// Returns whether the thread is the first of the group.
        fn leads(&self) -> bool;
        fn batch(&self) -> Batch;
        /// Ends the launch with a failure unless all threads pass the same value.
        fn agree(&self, value: [u64; 3], site: Site);
        /// Waits for all threads of the group.
        fn meet(&self, site: Site);
    }
}

impl CopyGroup for ThreadBlock {}
impl sealed::CopyGroup for ThreadBlock {
    fn leads(&self) -> bool {
        self.thread_rank() == 0
    }

    fn batch(&self) -> Batch {
        Batch::Block
    }

    fn agree(&self, value: [u64; 3], site: Site) {
        let what = "the memory of `memcpy_async()`";
        sim::with("`memcpy_async()`", |context| context.check_uniform(Group::Block, what, bits(&value), site));
    }

    fn meet(&self, site: Site) {
        sim::with("`block.wait_async()`", |context| context.sync(Group::Block, site));
    }
}

macro_rules! of_a_warp {
    ($([$($generics:tt)*] $group:ty),*) => {$(
        impl<$($generics)*> CopyGroup for $group {}
        impl<$($generics)*> sealed::CopyGroup for $group {
            fn leads(&self) -> bool {
                members(self).rank() == 0
            }

            fn batch(&self) -> Batch {
                Batch::Lanes(members(self).lanes)
            }

            fn agree(&self, value: [u64; 3], site: Site) {
                members(self).uniform(Call { name: "memcpy_async", site }, value);
            }

            fn meet(&self, site: Site) {
                members(self).sync(Call { name: "wait_async", site });
            }
        }
    )*};
}

of_a_warp!([const N: u32] Tile<N>, [] CoalescedGroup);

fn members(group: &impl WarpGroup) -> Members {
    Members { lanes: group.lanes() }
}
