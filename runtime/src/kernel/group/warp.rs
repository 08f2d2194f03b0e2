//! Groups of threads of one warp: tiles and coalesced groups, with the names of cooperative groups (CUDA C++
//! Programming Guide, Cooperative Groups). Ranks count the lanes of a group from the lowest. The device's
//! implementation is `tile.cuh`.

use std::panic::Location;

use super::ThreadBlock;
use super::members::{Call, Members};
use super::op::Operator;
use crate::program::refusal::Message;
use crate::program::types::{DeviceCopy, DeviceType};
use crate::report::failure::Cause;
use crate::sim::{self, LANES, Site};

/// The number of threads of a warpgroup, which multiplies matrices together (PTX ISA, Warpgroup).
pub(crate) const WARPGROUP: u32 = 128;

/// `N` adjacent threads of a warp, where `N` is 1, 2, 4, 8, 16 or 32: `cooperative_groups::thread_block_tile`.
/// [`tiled_partition`] returns it; a device function takes `&Tile<N>`. A `Tile<128>` is a warpgroup, four warps, whose
/// operations are products of matrices ([`mma_async`](Tile::mma_async)).
///
/// All operations but the queries are collective: every thread of the tile must reach them, with the same call. In
/// kernels it also has `invoke_one(|| { .. })`, which runs the closure in the thread of rank 0 only.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[cluster_kernel(block = 64)]
/// fn collectives(input: &[u32], out: &mut [u32], sums: &mut [u32]) {
///     let block = this_thread_block();
///     let warp = tiled_partition::<32>(&block);
///     let quad = tiled_partition::<4>(&warp); // one of 8 in the warp
///     let i = block.thread_rank();
///     let x = input[i];
///     let sum = warp.reduce(x, op::Plus);
///     let rank_of_next = warp.shfl_down(warp.thread_rank(), 1);
///     let partner = quad.shfl_xor(x, 1);
///     let before = quad.exclusive_scan(1, op::Plus); // 0, 1, 2, 3
///     let odd = warp.ballot(x % 2 == 1).count_ones();
///     out[i] = if warp.any(x > 40) { rank_of_next } else { partner * 100 + before + odd };
///     warp.invoke_one(|| {
///         sums[warp.meta_group_rank()] = sum;
///     });
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let input = device.upload(&Vec::from_iter(0..64))?;
/// let (mut out, mut sums) = (device.zeros(64)?, device.zeros(2)?);
/// collectives(&input, &mut out, &mut sums).grid(1).launch(&device)?;
/// assert_eq!((out.read()?[5], out.read()?[40], sums.read()?), (417, 9, vec![496, 1520]));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Tile<const N: u32> {
    meta_group_rank: u32,
    meta_group_size: u32,
}

/// Some threads of a warp: `cooperative_groups::coalesced_group`. [`coalesced_threads`], [`labeled_partition`] and
/// [`binary_partition`] return it; a device function takes `&CoalescedGroup`.
///
/// All operations but the queries are collective: every thread of the group must reach them, with the same call. In
/// kernels it also has `invoke_one(|| { .. })`, which runs the closure in the thread of rank 0 only.
///
/// ```
/// use phalanx::prelude::*;
///
/// /// Keeps the positive values, with one atomic for all threads that keep one.
/// #[cluster_kernel(block = 64)]
/// fn keep(input: &[i32], kept: &mut [i32], count: &mut [u32]) {
///     let value = input[this_grid().thread_rank()];
///     if value > 0 {
///         let group = coalesced_threads();
///         let first = group.invoke_one_broadcast(|| count.atomic(0).fetch_add(group.num_threads(), Relaxed));
///         kept[first + group.thread_rank()] = value;
///     }
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let input = device.upload(&(0..64).map(|i| i % 3 - 1).collect::<Vec<i32>>())?;
/// let (mut kept, mut count) = (device.zeros(64)?, device.zeros(1)?);
/// keep(&input, &mut kept, &mut count).grid(1).launch(&device)?;
/// assert_eq!((count.read()?, kept.read()?[20]), (vec![21], 1));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct CoalescedGroup {
    lanes: u32,
    meta_group_rank: u32,
    meta_group_size: u32,
}

/// A group that [`tiled_partition`] divides: a block or a tile.
pub trait Parent: sealed::Parent {}

/// A group that [`labeled_partition`] and [`binary_partition`] divide: a tile or a coalesced group.
pub trait WarpGroup: sealed::Warp {}

mod sealed {
    use crate::sim::Site;

    pub trait Parent {
        /// The number of threads of the largest tile.
        const MOST: u32;
        /// Returns the rank of the running thread's tile of `size` threads, and the number of tiles.
        fn tile(&self, size: u32, site: Site) -> (u32, u32);
    }

    pub trait Warp {
        fn lanes(&self) -> u32;
    }
}

impl Parent for ThreadBlock {}
impl sealed::Parent for ThreadBlock {
    const MOST: u32 = WARPGROUP;

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

/// Returns the running thread's tile of `N` threads, in a block or in a larger tile.
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
/// The launch fails if the block's size is not a multiple of `N`.
#[track_caller]
pub fn tiled_partition<const N: u32>(parent: &impl Parent) -> Tile<N> {
    const { tile_size(N) };
    tile(parent)
}

/// Rejects a size that no tile has. Generated code calls it where the size is written, so that rustc's error points
/// there.
#[doc(hidden)]
#[track_caller]
pub const fn tile_size(size: u32) {
    if size != WARPGROUP && (!size.is_power_of_two() || size > LANES) {
        let message = Message::new().text("there is no tile of ").number(size as usize);
        message.text(" threads, only of 1, 2, 4, 8, 16, 32 and 128").panic();
    }
}

/// Does what `tiled_partition` does, for a size that was checked.
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

/// Returns the group of the threads of the warp that execute this call together.
///
/// The hardware determines these threads (PTX ISA, `activemask`), and a program must be correct for every choice. In
/// the simulator, a thread waits here until no other thread of its warp can join it, because all others wait, here or
/// elsewhere, or have exited. If threads of a warp wait at several such calls, those at the first in the source
/// continue first. The wait for a thread ends when it has executed 16,384 loop iterations, because it may be polling a
/// flag that only this thread sets.
#[track_caller]
pub fn coalesced_threads() -> CoalescedGroup {
    let site = Location::caller();
    let lanes = sim::with("`coalesced_threads()`", |context| context.coalesced_lanes(site));
    CoalescedGroup { lanes, meta_group_rank: 0, meta_group_size: 1 }
}

/// Returns the group of the threads that have the same label, compared by its bits. The groups are ordered by their
/// first thread.
#[track_caller]
pub fn labeled_partition<T: DeviceCopy>(group: &impl WarpGroup, label: T) -> CoalescedGroup {
    let call = Call { name: "labeled_partition", site: Location::caller() };
    let (lanes, firsts) = Members { lanes: group.lanes() }.labelled(call, label);
    let before = (1 << lanes.trailing_zeros()) - 1;
    CoalescedGroup { lanes, meta_group_rank: (firsts & before).count_ones(), meta_group_size: firsts.count_ones() }
}

/// Returns the group of the threads for which the predicate holds, as group 1, or for which it does not, as group 0.
#[track_caller]
pub fn binary_partition(group: &impl WarpGroup, predicate: bool) -> CoalescedGroup {
    let call = Call { name: "binary_partition", site: Location::caller() };
    let members = Members { lanes: group.lanes() };
    let holds = members.votes(call, predicate);
    let lanes = if predicate { holds } else { members.lanes & !holds };
    CoalescedGroup { lanes, meta_group_rank: predicate.into(), meta_group_size: 2 }
}

/// Implements the collectives of a type, which has the name `$name` in reports.
macro_rules! collectives {
    ([$($generics:tt)*] $type:ty, $name:literal) => {
        impl<$($generics)*> $type {
            /// Returns the number of threads in the group. It is another name for `num_threads`.
            pub fn size(&self) -> u32 {
                self.num_threads()
            }

            /// Returns the rank of this group among those that its partition made.
            pub fn meta_group_rank(&self) -> u32 {
                self.meta_group_rank
            }

            /// Returns the number of groups that its partition made.
            pub fn meta_group_size(&self) -> u32 {
                self.meta_group_size
            }

            /// Waits until all threads of the group have arrived.
            #[track_caller]
            pub fn sync(&self) {
                self.members().sync(Call { name: concat!($name, ".sync"), site: Location::caller() });
            }

            /// Asserts that `value` is uniform in the group, and returns it, for a condition whose uniformity the
            /// source does not show. The simulator verifies the assertion; a GPU relies on it.
            #[track_caller]
            pub fn uniform<T: DeviceCopy>(&self, value: T) -> T {
                let call = Call { name: concat!($name, ".uniform"), site: Location::caller() };
                self.members().uniform(call, value)
            }

            /// Returns the value of the thread of rank `source`, modulo the size.
            #[track_caller]
            pub fn shfl<T: DeviceType + Copy>(&self, value: T, source: u32) -> T {
                let call = Call { name: concat!($name, ".shfl"), site: Location::caller() };
                self.members().shuffle(call, value, |_, count| Some(source % count))
            }

            /// Returns the value of the thread `delta` ranks below, or the thread's own if there is none.
            #[track_caller]
            pub fn shfl_up<T: DeviceType + Copy>(&self, value: T, delta: u32) -> T {
                let call = Call { name: concat!($name, ".shfl_up"), site: Location::caller() };
                self.members().shuffle(call, value, |rank, _| rank.checked_sub(delta))
            }

            /// Returns the value of the thread `delta` ranks above, or the thread's own if there is none.
            #[track_caller]
            pub fn shfl_down<T: DeviceType + Copy>(&self, value: T, delta: u32) -> T {
                let call = Call { name: concat!($name, ".shfl_down"), site: Location::caller() };
                self.members().shuffle(call, value, |rank, _| rank.checked_add(delta))
            }

            /// Returns whether the predicate of any thread holds.
            #[track_caller]
            pub fn any(&self, predicate: bool) -> bool {
                let call = Call { name: concat!($name, ".any"), site: Location::caller() };
                self.members().ballot(call, predicate) != 0
            }

            /// Returns whether the predicates of all threads hold.
            #[track_caller]
            pub fn all(&self, predicate: bool) -> bool {
                let call = Call { name: concat!($name, ".all"), site: Location::caller() };
                self.members().ballot(call, predicate).count_ones() == self.num_threads()
            }

            /// Returns a bit mask of the ranks whose predicate holds.
            #[track_caller]
            pub fn ballot(&self, predicate: bool) -> u32 {
                let call = Call { name: concat!($name, ".ballot"), site: Location::caller() };
                self.members().ballot(call, predicate)
            }

            /// Returns a bit mask of the ranks whose value has the same bits as the thread's own.
            #[track_caller]
            pub fn match_any<T: DeviceCopy>(&self, value: T) -> u32 {
                let call = Call { name: concat!($name, ".match_any"), site: Location::caller() };
                self.members().match_any(call, value)
            }

            /// Returns a bit mask of all ranks if all values have the same bits, and otherwise 0.
            #[track_caller]
            pub fn match_all<T: DeviceCopy>(&self, value: T) -> u32 {
                let call = Call { name: concat!($name, ".match_all"), site: Location::caller() };
                self.members().match_all(call, value)
            }

            /// Returns the values of all threads, joined by `op`. Neighbours are joined first, ((0 1) (2 3)) ((4 5)
            /// ...), both on the GPU and in the simulator, so that floats are equal bit by bit.
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

            /// Returns the values up to the thread's own, joined by `op` in steps of 1, 2, 4, ... ranks.
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

            /// Returns the values below the thread's own, joined as by `inclusive_scan`. The first thread gets the
            /// operator's identity, or its own value if the operator is a closure, which has none.
            #[track_caller]
            pub fn exclusive_scan<T: DeviceType + Copy>(&self, value: T, op: impl Operator<T>) -> T {
                let call = Call { name: concat!($name, ".exclusive_scan"), site: Location::caller() };
                self.members().exclusive_scan(call, value, &op)
            }

            /// Returns the result of `once` to all threads. Only the thread of rank 0 calls it.
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
    /// Returns the thread's rank in the tile.
    #[track_caller]
    pub fn thread_rank(&self) -> u32 {
        sim::with("`thread_rank()`", |context| context.thread.rank_in_block % N)
    }

    /// Returns the number of threads in the tile, `N`.
    pub fn num_threads(&self) -> u32 {
        N
    }

    /// Returns the value of the thread whose rank is the thread's own with the bits of `mask` (modulo the size)
    /// flipped.
    #[track_caller]
    pub fn shfl_xor<T: DeviceType + Copy>(&self, value: T, mask: u32) -> T {
        let call = Call { name: "tile.shfl_xor", site: Location::caller() };
        self.members().shuffle(call, value, |rank, count| Some(rank ^ (mask % count)))
    }

    #[track_caller]
    pub(super) fn members(&self) -> Members {
        const {
            if N > LANES {
                let message = Message::new().text("the threads of a tile of ").number(N as usize);
                message.text(" are in several warps, which have no collectives but `mma_async` and its waits: `tiled_partition::<32>(&warpgroup)` is one of the warps").panic();
            }
        };
        let lane = sim::with("a tile", |context| context.thread.lane());
        Members { lanes: (u32::MAX >> (LANES - N)) << (lane & !(N - 1)) }
    }
}

impl CoalescedGroup {
    /// Returns the thread's rank in the group.
    #[track_caller]
    pub fn thread_rank(&self) -> u32 {
        self.members().rank()
    }

    /// Returns the number of threads in the group.
    pub fn num_threads(&self) -> u32 {
        self.members().count()
    }

    fn members(&self) -> Members {
        Members { lanes: self.lanes }
    }
}
