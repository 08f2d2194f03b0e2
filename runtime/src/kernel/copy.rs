//! Asynchronous copies: copies into the block's shared memory that a group makes together, and bulk copies that one
//! thread issues. Their operands are checked here, and `sim::copy` decides when the bytes arrive. The device's
//! implementation is `copy.cuh` (CUDA C++ Programming Guide, Asynchronous Data Copies; PTX ISA, cp.async, cp.async.bulk
//! and st.async).

use std::any::type_name;
use std::panic::Location;

use crate::kernel::barrier::{Barrier, BarrierScope, Brand, RemoteBarrier};
use crate::kernel::group::{CoalescedGroup, CopyGroup, ThreadBlock, Tile};
use crate::kernel::memory::{
    Addressed, Global, GlobalMut, Index, Memory, MemoryMut, OwnedShared, RemoteArray, RemoteSlice, SwizzledRow, bits,
    position,
};
use crate::program::types::{DeviceCopy, DeviceScalar};
use crate::report::failure::Cause;
use crate::sim::{self, Batch, Completion, CopyCall, CopyEnd, CopyPiece, CopySource, Site, TileCopy};

/// The size and the addresses of a bulk copy are multiples of this many bytes.
const BULK: usize = 16;

/// Global memory that a copy reads or writes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not global memory",
    note = "global memory is a slice that is a parameter of the kernel"
)]
pub trait GlobalEnd: Addressed {}

impl<T: DeviceCopy> GlobalEnd for Global<'_, T> {}
impl<T: DeviceCopy> GlobalEnd for GlobalMut<'_, T> {}
impl<M: GlobalEnd + ?Sized> GlobalEnd for &M {}

/// The shared memory of a peer that a copy writes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a peer's shared memory",
    note = "`cluster.map_shared_rank(&shared, rank)` returns it"
)]
pub trait RemoteEnd: MemoryMut {}

impl<T: DeviceCopy, const N: usize> RemoteEnd for RemoteArray<T, N> {}
impl<T: DeviceCopy> RemoteEnd for RemoteSlice<T> {}
impl<M: RemoteEnd + ?Sized> RemoteEnd for &M {}

/// The block's own shared memory that a copy reads or writes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the block's own shared memory",
    note = "`shared_array` and `dynamic_shared` return it"
)]
pub trait SharedEnd: MemoryMut + OwnedShared {}

impl<M: MemoryMut + OwnedShared> SharedEnd for M {}

/// What `memcpy_async` fills: the block's own shared memory, or a swizzled row of it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the block's own shared memory",
    note = "`shared_array` and `dynamic_shared` return it"
)]
pub trait FilledEnd {
    /// The memory that the copy writes.
    type Shared: SharedEnd;
    #[doc(hidden)]
    fn memory(&self) -> &Self::Shared;
    /// Returns the number of bytes that lie next to each other on both sides, of those that are copied.
    #[doc(hidden)]
    fn contiguous(&self, bytes: usize) -> usize;
    /// Returns the place in the memory of a byte of the source.
    #[doc(hidden)]
    fn place(&self, byte: usize) -> usize;
}

impl<M: SharedEnd> FilledEnd for M {
    type Shared = M;

    fn memory(&self) -> &M {
        self
    }

    fn contiguous(&self, bytes: usize) -> usize {
        bytes
    }

    fn place(&self, byte: usize) -> usize {
        byte
    }
}

impl<M: SharedEnd> FilledEnd for SwizzledRow<M> {
    type Shared = M;

    fn memory(&self) -> &M {
        &self.0
    }

    fn contiguous(&self, _: usize) -> usize {
        Self::UNIT
    }

    fn place(&self, byte: usize) -> usize {
        SwizzledRow::place(self, byte)
    }
}

/// A scalar of 4 or 8 bytes, which `remote.store_async(..)` sends.
#[diagnostic::on_unimplemented(
    message = "`store_async` cannot send a `{Self}`",
    note = "it sends scalars of 4 and 8 bytes"
)]
pub trait AsyncScalar: DeviceScalar {}

impl AsyncScalar for i32 {}
impl AsyncScalar for u32 {}
impl AsyncScalar for f32 {}
impl AsyncScalar for i64 {}
impl AsyncScalar for u64 {}
impl AsyncScalar for isize {}
impl AsyncScalar for usize {}
impl AsyncScalar for f64 {}

/// Copies global memory to the block's shared memory by all threads of the group together, and does not wait:
/// `cuda::memcpy_async(group, ...)`. The current phase of the barrier completes only after the bytes have arrived.
///
/// Without a barrier, in `memcpy_async(&group, &shared, slice)`, the group waits for the copy by `group.wait_async()`.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[cluster_kernel(block = 128)]
/// # fn first(input: &[f32], output: &mut [f32]) {
/// let block = this_thread_block();
/// let tile = shared_array::<f32, 512>();
/// let bar = shared_barrier();
/// bar.init_collective(&block, block.num_threads());
/// memcpy_async(&block, &tile, &input[..512], &bar);
/// // ... work that needs no tile ...
/// bar.arrive_and_wait();
/// output[this_grid().thread_rank()] = tile[block.thread_rank()];
/// # }
/// ```
#[track_caller]
pub fn memcpy_async<G, T, D, S, B, C>(group: &G, to: &D, from: &S, bar: &Barrier<B, C>)
where
    G: CopyGroup,
    D: FilledEnd<Shared: SharedEnd<Element = T>>,
    S: GlobalEnd<Element = T> + ?Sized,
    B: Brand,
    C: BarrierScope,
{
    let completion = Completion::Barrier { barrier: bar.id(), expect: true };
    together(group, to, from, completion, Location::caller());
}

/// Copies global memory to the block's shared memory by one thread, and does not wait: `cp.async.bulk`. The thread must
/// have called `bar.expect_tx(bytes)` before. The size and both addresses must be multiples of 16 bytes.
///
/// With two arguments, `bulk_copy_async(&mut slice, &shared)`, the copy goes from shared to global memory, and
/// [`bulk_wait_group`] waits for it. `bulk_copy_async(&remote, &shared, &remote_bar)` copies the block's own shared
/// memory to a peer's, and completes on the peer's barrier.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[cluster_kernel(block = 128)]
/// # fn first(input: &[f32], output: &mut [f32]) {
/// let block = this_thread_block();
/// let tile = shared_array::<f32, 512>();
/// let full = shared_barrier();
/// full.init_collective(&block, 1);
/// if block.thread_rank() == 0 {
///     full.expect_tx(512 * 4);
///     bulk_copy_async(&tile, &input[..512], &full);
///     let _ = full.arrive();
/// }
/// full.wait_parity(false);
/// output[this_grid().thread_rank()] = tile[block.thread_rank()];
/// # }
/// ```
#[track_caller]
pub fn bulk_copy_async<T, D, S, B, C>(to: &D, from: &S, bar: &Barrier<B, C>)
where
    D: SharedEnd<Element = T> + ?Sized,
    S: GlobalEnd<Element = T> + ?Sized,
    B: Brand,
    C: BarrierScope,
{
    bulk(to, from, Completion::Barrier { barrier: bar.id(), expect: false }, Location::caller());
}

/// Executes `bulk_copy_async(&remote, &shared, &remote_bar)`.
#[doc(hidden)]
#[track_caller]
pub fn bulk_copy_to_peer<T, D, S>(to: &D, from: &S, bar: &RemoteBarrier)
where
    D: RemoteEnd<Element = T> + ?Sized,
    S: SharedEnd<Element = T> + ?Sized,
{
    let site = Location::caller();
    same_block("bulk_copy_async", to, bar, site);
    bulk(to, from, Completion::Barrier { barrier: bar.id(), expect: false }, site);
}

/// Executes `bulk_copy_async(&mut slice, &shared)`.
#[doc(hidden)]
#[track_caller]
pub fn bulk_copy_to_global<T, D, S>(to: &D, from: &S)
where
    D: GlobalEnd<Element = T> + MemoryMut + ?Sized,
    S: SharedEnd<Element = T> + ?Sized,
{
    bulk(to, from, Completion::Batch(Batch::Bulk), Location::caller());
}

/// Waits until all but the thread's last `PRIOR` bulk copies to global memory have completed, so that their writes are
/// visible: `cp.async.bulk.wait_group`. Each copy is a group of its own.
#[track_caller]
pub fn bulk_wait_group<const PRIOR: usize>() {
    let site = Location::caller();
    sim::with("`bulk_wait_group()`", |context| context.wait_for_copies(Batch::Bulk, PRIOR, false, site));
}

/// Waits until all but the thread's last `PRIOR` bulk copies to global memory have read their shared memory, so that it
/// may be overwritten: `cp.async.bulk.wait_group.read`.
#[track_caller]
pub fn bulk_wait_group_read<const PRIOR: usize>() {
    let site = Location::caller();
    sim::with("`bulk_wait_group_read()`", |context| context.wait_for_copies(Batch::Bulk, PRIOR, true, site));
}

/// Executes `remote.store_async(index, value, &remote_bar)`: sends a value to a peer's shared memory, and completes on
/// the peer's barrier, whose phase must expect the bytes. A fence does not wait for it (PTX ISA, st.async).
#[doc(hidden)]
#[track_caller]
pub fn store_async<T: AsyncScalar, D: RemoteEnd<Element = T> + ?Sized, I: Index>(
    to: &D,
    index: I,
    value: T,
    bar: &RemoteBarrier,
) {
    let site = Location::caller();
    let index = position(index, to.length());
    same_block("store_async", to, bar, site);
    let end = CopyEnd { memory: to.id(), start: to.start() + index * size_of::<T>() };
    let call = CopyCall {
        name: "store_async",
        to: end,
        from: CopySource::Value(bits(&value)),
        len: size_of::<T>(),
        completion: Completion::Barrier { barrier: bar.id(), expect: false },
        site,
        type_name: type_name::<T>(),
    };
    sim::with("`store_async()`", |context| context.begin_copy(call));
}

/// Implements the waits of a group for its copies.
macro_rules! waits {
    ($([$($generics:tt)*] $group:ty),*) => {$(
        impl<$($generics)*> $group {
            /// Waits for the copies that the group issued by `memcpy_async(&group, ...)` without a barrier, and for all
            /// of its threads: `cooperative_groups::wait`.
            #[track_caller]
            pub fn wait_async(&self) {
                wait(self, 0, Location::caller());
            }

            /// Waits for all but the last `PRIOR` of those copies, and for all threads of the group:
            /// `cooperative_groups::wait_prior`.
            #[track_caller]
            pub fn wait_prior<const PRIOR: usize>(&self) {
                wait(self, PRIOR, Location::caller());
            }

            /// Executes `memcpy_async(&group, &shared, slice)`.
            #[doc(hidden)]
            #[track_caller]
            pub fn memcpy_async<T, D, S>(&self, to: &D, from: &S)
            where
                D: FilledEnd<Shared: SharedEnd<Element = T>>,
                S: GlobalEnd<Element = T> + ?Sized,
            {
                together(self, to, from, Completion::Batch(batch(self)), Location::caller());
            }

            /// Executes `memcpy_async(&group, &shared, slice, &bar)`.
            #[doc(hidden)]
            #[track_caller]
            pub fn memcpy_async_to_barrier<T, D, S, B, C>(&self, to: &D, from: &S, bar: &Barrier<B, C>)
            where
                D: FilledEnd<Shared: SharedEnd<Element = T>>,
                S: GlobalEnd<Element = T> + ?Sized,
                B: Brand,
                C: BarrierScope,
            {
                memcpy_async(self, to, from, bar);
            }
        }
    )*};
}

waits!([] ThreadBlock, [const N: u32] Tile<N>, [] CoalescedGroup);

fn batch(group: &impl CopyGroup) -> Batch {
    group.batch()
}

fn wait(group: &impl CopyGroup, prior: usize, site: Site) {
    sim::with("`wait_async()`", |context| context.wait_for_copies(group.batch(), prior, false, site));
    group.meet(site);
}

/// Issues a copy by the first thread of the group, on behalf of all of its threads.
fn together<T, D, S>(group: &impl CopyGroup, to: &D, from: &S, completion: Completion, site: Site)
where
    D: FilledEnd<Shared: SharedEnd<Element = T>>,
    S: GlobalEnd<Element = T> + ?Sized,
{
    let memory = to.memory();
    check_lengths(memory, from, site);
    group.agree([memory.start() as u64, from.start() as u64, memory.length() as u64], site);
    if !group.leads() {
        return;
    }
    const { has_values::<D::Shared>() };
    let bytes = memory.length() * size_of::<T>();
    if bytes == 0 {
        return;
    }
    let len = to.contiguous(bytes);
    let piece = |byte: usize| CopyPiece {
        to: Some(CopyEnd { memory: memory.id(), start: memory.start() + to.place(byte) }),
        from: Some(CopyEnd { memory: from.id(), start: from.start() + byte }),
        len,
    };
    let pieces: Vec<CopyPiece> = (0..bytes).step_by(len).map(piece).collect();
    let (name, type_name) = ("memcpy_async", type_name::<T>());
    let copy = TileCopy { name, pieces: &pieces, fill: 0, counted: bytes, combine: None, completion, site, type_name };
    sim::with(name, |context| context.begin_tile_copy(copy));
}

fn bulk<T, D, S>(to: &D, from: &S, completion: Completion, site: Site)
where
    D: Addressed<Element = T> + ?Sized,
    S: Addressed<Element = T> + ?Sized,
{
    check_lengths(to, from, site);
    let bytes = to.length() * size_of::<T>();
    if !bytes.is_multiple_of(BULK) {
        sim::fail_at(Cause::BulkBytes { bytes: bytes as u64 }, site);
    }
    // All memory starts at a multiple of 16 bytes.
    let (past_to, past_from) = (to.start() % BULK, from.start() % BULK);
    if past_to != 0 || past_from != 0 {
        sim::fail_at(Cause::BulkMisaligned { to: past_to as u64, from: past_from as u64 }, site);
    }
    begin("bulk_copy_async", to, from, completion, site);
}

fn check_lengths<D: Addressed + ?Sized, S: Addressed + ?Sized>(to: &D, from: &S, site: Site) {
    let (to, from) = (to.length() as u64, from.length() as u64);
    if to != from {
        sim::fail_at(Cause::CopyLengths { to, from }, site);
    }
}

/// Refuses memory whose elements have no values.
const fn has_values<M: Addressed + ?Sized>() {
    <M::Element as DeviceCopy>::LAYOUT
}

fn begin<T, D, S>(name: &'static str, to: &D, from: &S, completion: Completion, site: Site)
where
    D: Addressed<Element = T> + ?Sized,
    S: Addressed<Element = T> + ?Sized,
{
    // Other copies move bytes as they are, which mean something else at another place of a swizzled tile.
    const { has_values::<D>() };
    let len = to.length() * size_of::<T>();
    if len == 0 {
        return;
    }
    let end = |memory, start| CopyEnd { memory, start };
    let (to, from) = (end(to.id(), to.start()), CopySource::Memory(end(from.id(), from.start())));
    let call = CopyCall { name, to, from, len, completion, site, type_name: type_name::<T>() };
    sim::with(name, |context| context.begin_copy(call));
}

/// Ends the launch with a failure unless the memory and the barrier belong to the same peer (PTX ISA, st.async and
/// cp.async.bulk).
fn same_block<D: RemoteEnd + ?Sized>(name: &str, to: &D, bar: &RemoteBarrier, site: Site) {
    if let crate::sim::MemoryId::Shared(id) = to.id()
        && id.rank != bar.id().memory.rank
    {
        let (to, of) = (id.rank, bar.id().memory.rank);
        let sentence = format!(
            "`{name}()` needs memory and a barrier of the same block, but the memory is of block rank {to} and the barrier of block rank {of}"
        );
        sim::fail_at(Cause::Protocol(sentence), site);
    }
}
