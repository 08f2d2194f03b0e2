//! The shared memory of a block of the cluster, as `map_shared_rank` gives it: distributed shared memory. Whether the
//! block lives is checked at each access, by `sim`.

use std::marker::PhantomData;

use super::Sliced;
use super::shared_handle::shared_memory;
use crate::program::types::DeviceCopy;
use crate::sim::SharedId;

/// A [`SharedArray`](super::SharedArray) of some block of the cluster.
#[derive(Debug)]
pub struct RemoteArray<T, const N: usize> {
    id: SharedId,
    /// A pointer, so that the handle stays with its thread.
    elements: PhantomData<*const T>,
}

/// A part of the shared memory of some block of the cluster: a [`SharedSlice`](super::SharedSlice) there.
#[derive(Debug)]
pub struct RemoteSlice<T> {
    id: SharedId,
    /// The first byte in the allocation.
    start: usize,
    length: usize,
    /// A pointer, so that the handle stays with its thread.
    elements: PhantomData<*const T>,
}

impl<T: DeviceCopy, const N: usize> RemoteArray<T, N> {
    pub(super) fn new(id: SharedId) -> Self {
        RemoteArray { id, elements: PhantomData }
    }

    /// `N`.
    #[inline]
    pub fn len(&self) -> usize {
        N
    }

    /// Whether `N` is zero.
    #[inline]
    pub fn is_empty(&self) -> bool {
        N == 0
    }
}

impl<T: DeviceCopy> RemoteSlice<T> {
    pub(super) fn new(id: SharedId, start: usize, length: usize) -> Self {
        RemoteSlice { id, start, length, elements: PhantomData }
    }

    /// How many elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
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

/// An array where a slice is expected, as in Rust.
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
