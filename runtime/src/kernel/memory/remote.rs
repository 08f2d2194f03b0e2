//! The shared memory of some block of the cluster, as `map_shared_rank` returns it: distributed shared memory. `sim`
//! checks at each access whether the block is running.

use std::marker::PhantomData;

use super::Sliced;
use super::operations::{reading, writing};
use super::shared_handle::shared_memory;
use crate::program::types::DeviceCopy;
use crate::sim::SharedId;

/// The [`SharedArray`](super::SharedArray) of some block of the cluster; `cluster.map_shared_rank(&array, rank)`
/// returns it.
///
/// # In kernels
///
#[doc = reading!("remote", "a [`RemoteSlice`]")]
#[doc = writing!("remote")]
/// | `remote.store_async(i, value, &remote_bar)` | sends a scalar of 4 or 8 bytes and completes on a barrier of the same peer ([`RemoteBarrier`](crate::RemoteBarrier)) |
/// | `bulk_copy_async(&remote, &shared, &remote_bar)` | copies the block's own shared memory there ([`bulk_copy_async`](crate::bulk_copy_async)) |
/// | `cluster.query_shared_rank(&remote)` | the rank of the block that owns the memory |
///
/// ```
/// use phalanx::prelude::*;
///
/// #[cluster_kernel(cluster = 2, block = 4)]
/// fn exchange(out: &mut [u32]) {
///     let cluster = this_cluster();
///     let (i, rank) = (this_thread_block().thread_rank(), cluster.block_rank());
///     let values = shared_array::<u32, 4>();
///     let sums = shared_array::<u32, 1>();
///     values[i] = rank * 10 + i;
///     if i == 0 {
///         sums[0] = 0;
///     }
///     cluster.sync(); // the peer runs, and its values are published
///     let remote = cluster.map_shared_rank(&values, 1 - rank);
///     let pair = remote.load_vec::<2>(i / 2 * 2);
///     let rest = &remote[2..];
///     cluster.map_shared_rank(&sums, 1 - rank).atomic(0).fetch_add(pair[0] + rest[0], Relaxed);
///     cluster.sync(); // all blocks are done with their peers
///     out[cluster.thread_rank()] = sums[0] + remote.len() as u32;
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let mut out = device.zeros(8)?;
/// exchange(&mut out).grid(2).launch(&device)?;
/// assert_eq!(out.read()?, [16, 16, 16, 16, 96, 96, 96, 96]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct RemoteArray<T, const N: usize> {
    id: SharedId,
    /// A pointer, so that the handle stays with its thread.
    elements: PhantomData<*const T>,
}

/// A slice of the shared memory of some block of the cluster, which is a [`SharedSlice`](super::SharedSlice) there. A
/// device function takes it by value, and accepts whole arrays as well.
///
/// # In kernels
///
#[doc = reading!("remote", "a `RemoteSlice`")]
#[doc = writing!("remote")]
/// | `remote.store_async(i, value, &remote_bar)` | sends a scalar, as for a [`RemoteArray`] |
/// | `bulk_copy_async(&remote, &shared, &remote_bar)` | copies the block's own shared memory there |
/// | `cluster.query_shared_rank(&remote)` | the rank of the block that owns the memory |
///
/// ```
/// use phalanx::prelude::*;
///
/// #[device]
/// fn last(values: RemoteSlice<u32>) -> u32 {
///     values[values.len() - 1]
/// }
///
/// #[cluster_kernel(cluster = 2, block = 4)]
/// fn peek(out: &mut [u32]) {
///     let cluster = this_cluster();
///     let values = shared_array::<u32, 4>();
///     values[this_thread_block().thread_rank()] = cluster.thread_rank();
///     cluster.sync();
///     let remote = cluster.map_shared_rank(&values, 1 - cluster.block_rank());
///     out[cluster.thread_rank()] = last(&remote[..2]) * 10 + last(remote);
///     cluster.sync();
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let mut out = device.zeros(8)?;
/// peek(&mut out).grid(2).launch(&device)?;
/// assert_eq!(out.read()?[3..5], [57, 13]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct RemoteSlice<T> {
    id: SharedId,
    /// The offset of the first byte in the allocation.
    start: usize,
    length: usize,
    /// A pointer, so that the handle stays with its thread.
    elements: PhantomData<*const T>,
}

impl<T: DeviceCopy, const N: usize> RemoteArray<T, N> {
    pub(super) fn new(id: SharedId) -> Self {
        RemoteArray { id, elements: PhantomData }
    }

    /// Returns `N`.
    #[inline]
    pub fn len(&self) -> usize {
        N
    }

    /// Returns whether `N` is zero.
    #[inline]
    pub fn is_empty(&self) -> bool {
        N == 0
    }
}

impl<T: DeviceCopy> RemoteSlice<T> {
    pub(super) fn new(id: SharedId, start: usize, length: usize) -> Self {
        RemoteSlice { id, start, length, elements: PhantomData }
    }

    /// Returns the number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns whether there are no elements.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

impl<T, const N: usize> Clone for RemoteArray<T, N> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const N: usize> Copy for RemoteArray<T, N> {}

impl<T> Clone for RemoteSlice<T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for RemoteSlice<T> {}

shared_memory!(RemoteArray<T, const N: usize>, self => N, 0, RemoteSlice);
shared_memory!(RemoteSlice<T>, self => self.length, self.start, RemoteSlice);

/// Converts an array where a slice is expected, as in Rust.
impl<T: DeviceCopy, const N: usize> From<RemoteArray<T, N>> for RemoteSlice<T> {
    #[inline]
    fn from(array: RemoteArray<T, N>) -> Self {
        array.part(0, N)
    }
}

impl<T: DeviceCopy, const N: usize> From<&RemoteArray<T, N>> for RemoteSlice<T> {
    #[inline]
    fn from(array: &RemoteArray<T, N>) -> Self {
        array.part(0, N)
    }
}
