//! Groups of threads of one warp: tiles and coalesced groups, with cooperative groups' names (CUDA C++ Programming
//! Guide, Cooperative Groups). Ranks count a group's lanes from below. The device has its own in `tile.cuh`.

use std::panic::Location;

use super::ThreadBlock;
use super::members::{Call, Members};
use super::op::Operator;
use crate::program::refusal::Message;
use crate::program::types::{DeviceCopy, DeviceType};
use crate::report::failure::Cause;
use crate::sim::{self, LANES, Site};

/// `N` neighbouring threads of a warp, where `N` is 1, 2, 4, 8, 16 or 32: `cooperative_groups::thread_block_tile`.
#[derive(Debug, Clone)]
pub struct Tile<const N: u32> {
    meta_group_rank: u32,
    meta_group_size: u32,
}

/// Any threads of a warp: `cooperative_groups::coalesced_group`.
#[derive(Debug, Clone)]
pub struct CoalescedGroup {
    lanes: u32,
    meta_group_rank: u32,
    meta_group_size: u32,
}

/// What [`tiled_partition`] divides: a block, and a tile.
pub trait Parent: sealed::Parent {}

/// What [`labeled_partition`] and [`binary_partition`] divide: a tile, and a coalesced group.
pub trait WarpGroup: sealed::Warp {}

mod sealed {
    use crate::sim::Site;

    pub trait Parent {
        /// Threads of the largest tile.
        const MOST: u32;
        /// The running thread's tile of `size`, and how many there are.
        fn tile(&self, size: u32, site: Site) -> (u32, u32);
    }

    pub trait Warp {
        fn lanes(&self) -> u32;
    }
}

impl Parent for ThreadBlock {}
impl sealed::Parent for ThreadBlock {
    const MOST: u32 = LANES;

    fn tile(&self, size: u32, site: Site) -> (u32, u32) {
        let threads = self.num_threads();
        if !threads.is_multiple_of(size) {
            sim::fail_at(Cause::PartialTile { threads, size }, site);
        }
        (self.thread_rank() / size, threads / size)
    }
}

impl<const M: u32> Parent for Tile<M> {}
impl<const M: u32> sealed::Parent for Tile<M> {
    const MOST: u32 = M;

    fn tile(&self, size: u32, _: Site) -> (u32, u32) {
        (self.thread_rank() / size, M / size)
    }
}

impl<const N: u32> WarpGroup for Tile<N> {}
impl<const N: u32> sealed::Warp for Tile<N> {
    fn lanes(&self) -> u32 {
        self.members().lanes
    }
}

impl WarpGroup for CoalescedGroup {}
impl sealed::Warp for CoalescedGroup {
    fn lanes(&self) -> u32 {
        self.lanes
    }
}

/// The running thread's tile of `N` threads, of a block or of a larger tile.
///
/// A size that no tile has is an error of the kernel's instance:
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// #[cluster_kernel(block = 96)]
/// fn heads<const N: u32>(out: &mut [u32]) {
///     let tile = tiled_partition::<N>(&this_thread_block());
///     out[this_grid().thread_rank()] = tile.shfl(tile.meta_group_rank(), 0);
/// }
///
/// let device = Device::simulator();
/// heads::<12>(&mut device.zeros(96).unwrap()).grid(1).launch(&device).unwrap();
/// ```
///
/// # Failures
/// If the block's size is no multiple of `N`.
#[track_caller]
pub fn tiled_partition<const N: u32>(parent: &impl Parent) -> Tile<N> {
    const { tile_size(N) };
    tile(parent)
}

/// Refuses a size that no tile has. A kernel says so where the size is written, so that rustc's error is there.
#[doc(hidden)]
#[track_caller]
pub const fn tile_size(size: u32) {
    if !size.is_power_of_two() || size > LANES {
        let message = Message::new().text("there is no tile of ").number(size as usize);
        message.text(" threads, only of 1, 2, 4, 8, 16 and 32").panic();
    }
}

/// `tiled_partition` of a size that was checked.
#[doc(hidden)]
#[track_caller]
pub fn tile<const N: u32, P: Parent>(parent: &P) -> Tile<N> {
    const {
        if N > P::MOST {
            let message = Message::new().text("a tile of ").number(N as usize);
            message.text(" threads is no part of one of ").number(P::MOST as usize).panic();
        }
    };
    let (meta_group_rank, meta_group_size) = parent.tile(N, Location::caller());
    Tile { meta_group_rank, meta_group_size }
}

/// The threads of the warp that come here together.
///
/// Which ones do is the hardware's to say (PTX ISA, `activemask`). In the simulator a thread waits here until no other
/// of its warp can join it: until all others wait, here or elsewhere, or have exited. Of several places where threads of
/// a warp coalesce, those at the first in the source go on first. A thread that has gone round its loops 16,384 times
/// meanwhile is waited for no longer, because it may wait for a flag that this thread will set.
#[track_caller]
pub fn coalesced_threads() -> CoalescedGroup {
    let site = Location::caller();
    let lanes = sim::with("`coalesced_threads()`", |context| context.coalesced_lanes(site));
    CoalescedGroup { lanes, meta_group_rank: 0, meta_group_size: 1 }
}

/// The threads of the group that have the same label, by its bits. The groups count by the rank of their first thread.
#[track_caller]
pub fn labeled_partition<T: DeviceCopy>(group: &impl WarpGroup, label: T) -> CoalescedGroup {
    let call = Call { name: "labeled_partition", site: Location::caller() };
    let (lanes, firsts) = Members { lanes: group.lanes() }.labelled(call, label);
    let before = (1 << lanes.trailing_zeros()) - 1;
    CoalescedGroup { lanes, meta_group_rank: (firsts & before).count_ones(), meta_group_size: firsts.count_ones() }
}

/// The threads of the group for which the predicate holds as group 1, the others as group 0.
#[track_caller]
pub fn binary_partition(group: &impl WarpGroup, predicate: bool) -> CoalescedGroup {
    let call = Call { name: "binary_partition", site: Location::caller() };
    let members = Members { lanes: group.lanes() };
    let holds = members.votes(call, predicate);
    let lanes = if predicate { holds } else { members.lanes & !holds };
    CoalescedGroup { lanes, meta_group_rank: predicate.into(), meta_group_size: 2 }
}

/// The collectives, of `$type` with the name `$name` in reports.
macro_rules! collectives {
    ([$($generics:tt)*] $type:ty, $name:literal) => {
        impl<$($generics)*> $type {
            /// The thread's rank in the group.
            #[track_caller]
            pub fn thread_rank(&self) -> u32 {
                self.members().rank()
            }

            /// Threads in the group: another name for `num_threads`.
            pub fn size(&self) -> u32 {
                self.num_threads()
            }

            /// Which of the groups that its partition made this one is.
            pub fn meta_group_rank(&self) -> u32 {
                self.meta_group_rank
            }

            /// How many groups its partition made.
            pub fn meta_group_size(&self) -> u32 {
                self.meta_group_size
            }

            /// Waits for all threads of the group.
            #[track_caller]
            pub fn sync(&self) {
                self.members().sync(Call { name: concat!($name, ".sync"), site: Location::caller() });
            }

            /// Says that `value` is the same for all threads of the group, and gives it: what it decides, all of them
            /// do. The simulator compares; a GPU goes by it.
            #[track_caller]
            pub fn uniform<T: DeviceCopy>(&self, value: T) -> T {
                let call = Call { name: concat!($name, ".uniform"), site: Location::caller() };
                self.members().uniform(call, value)
            }

            /// The value of the thread of rank `source`, modulo the size.
            #[track_caller]
            pub fn shfl<T: DeviceType + Copy>(&self, value: T, source: u32) -> T {
                let call = Call { name: concat!($name, ".shfl"), site: Location::caller() };
                self.members().shuffle(call, value, |_, count| Some(source % count))
            }

            /// The value of the thread `delta` ranks below; where there is none, its own.
            #[track_caller]
            pub fn shfl_up<T: DeviceType + Copy>(&self, value: T, delta: u32) -> T {
                let call = Call { name: concat!($name, ".shfl_up"), site: Location::caller() };
                self.members().shuffle(call, value, |rank, _| rank.checked_sub(delta))
            }

            /// The value of the thread `delta` ranks above; where there is none, its own.
            #[track_caller]
            pub fn shfl_down<T: DeviceType + Copy>(&self, value: T, delta: u32) -> T {
                let call = Call { name: concat!($name, ".shfl_down"), site: Location::caller() };
                self.members().shuffle(call, value, |rank, _| rank.checked_add(delta))
            }

            /// Whether the predicate of any thread holds.
            #[track_caller]
            pub fn any(&self, predicate: bool) -> bool {
                let call = Call { name: concat!($name, ".any"), site: Location::caller() };
                self.members().ballot(call, predicate) != 0
            }

            /// Whether those of all threads hold.
            #[track_caller]
            pub fn all(&self, predicate: bool) -> bool {
                let call = Call { name: concat!($name, ".all"), site: Location::caller() };
                self.members().ballot(call, predicate).count_ones() == self.num_threads()
            }

            /// The ranks whose predicate holds, a bit each.
            #[track_caller]
            pub fn ballot(&self, predicate: bool) -> u32 {
                let call = Call { name: concat!($name, ".ballot"), site: Location::caller() };
                self.members().ballot(call, predicate)
            }

            /// The ranks whose value has the same bits as the thread's own, a bit each.
            #[track_caller]
            pub fn match_any<T: DeviceCopy>(&self, value: T) -> u32 {
                let call = Call { name: concat!($name, ".match_any"), site: Location::caller() };
                self.members().match_any(call, value)
            }

            /// All ranks, a bit each, if all values have the same bits; else 0.
            #[track_caller]
            pub fn match_all<T: DeviceCopy>(&self, value: T) -> u32 {
                let call = Call { name: concat!($name, ".match_all"), site: Location::caller() };
                self.members().match_all(call, value)
            }

            /// The values of all threads, joined by `op`: neighbours first, ((0 1) (2 3)) ((4 5) ...), on both sides
            /// alike, so that floats are the same to the bit.
            #[track_caller]
            pub fn reduce<T: DeviceType + Copy>(&self, value: T, op: impl Operator<T>) -> T {
                let call = Call { name: concat!($name, ".reduce"), site: Location::caller() };
                self.members().reduce(call, value, &op)
            }

            #[doc(hidden)]
            #[track_caller]
            pub fn reduce_with<T: DeviceType + Copy>(&self, value: T, op: impl Fn(T, T) -> T) -> T {
                self.reduce(value, op)
            }

            /// The values up to the thread's own, joined by `op` in steps of 1, 2, 4, ... ranks.
            #[track_caller]
            pub fn inclusive_scan<T: DeviceType + Copy>(&self, value: T, op: impl Operator<T>) -> T {
                let call = Call { name: concat!($name, ".inclusive_scan"), site: Location::caller() };
                self.members().inclusive_scan(call, value, &op)
            }

            #[doc(hidden)]
            #[track_caller]
            pub fn inclusive_scan_with<T: DeviceType + Copy>(&self, value: T, op: impl Fn(T, T) -> T) -> T {
                self.inclusive_scan(value, op)
            }

            /// The values below the thread's own, joined as by `inclusive_scan`. The first thread gets the operator's
            /// identity; of a closure, which has none, its own value.
            #[track_caller]
            pub fn exclusive_scan<T: DeviceType + Copy>(&self, value: T, op: impl Operator<T>) -> T {
                let call = Call { name: concat!($name, ".exclusive_scan"), site: Location::caller() };
                self.members().exclusive_scan(call, value, &op)
            }

            /// What the thread of rank 0 computes, for all threads: it alone calls `once`.
            #[track_caller]
            pub fn invoke_one_broadcast<T: DeviceType + Copy>(&self, once: impl Fn() -> T) -> T {
                let call = Call { name: concat!($name, ".invoke_one_broadcast"), site: Location::caller() };
                self.members().broadcast(call, once)
            }

            #[doc(hidden)]
            #[track_caller]
            pub fn exclusive_scan_with<T: DeviceType + Copy>(&self, value: T, op: impl Fn(T, T) -> T) -> T {
                self.exclusive_scan(value, op)
            }
        }
    };
}

collectives!([const N: u32] Tile<N>, "tile");
collectives!([] CoalescedGroup, "coalesced");

impl<const N: u32> Tile<N> {
    /// Threads in the tile: `N`.
    pub fn num_threads(&self) -> u32 {
        N
    }

    /// The value of the thread whose rank is the thread's own with the bits of `mask` (modulo the size) flipped.
    #[track_caller]
    pub fn shfl_xor<T: DeviceType + Copy>(&self, value: T, mask: u32) -> T {
        let call = Call { name: "tile.shfl_xor", site: Location::caller() };
        self.members().shuffle(call, value, |rank, count| Some(rank ^ (mask % count)))
    }

    #[track_caller]
    fn members(&self) -> Members {
        let lane = sim::with("a tile", |context| context.thread.lane());
        Members { lanes: (u32::MAX >> (LANES - N)) << (lane & !(N - 1)) }
    }
}

impl CoalescedGroup {
    /// Threads in the group.
    pub fn num_threads(&self) -> u32 {
        self.members().count()
    }

    fn members(&self) -> Members {
        Members { lanes: self.lanes }
    }
}
