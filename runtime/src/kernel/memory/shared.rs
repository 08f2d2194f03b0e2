//! A block's own shared memory. The handles name an allocation of the simulator and hold no bytes.

use std::any::type_name;
use std::marker::PhantomData;
use std::panic::Location;

use super::remote::{RemoteArray, RemoteSlice};
use super::shared_handle::{Shared, shared_memory};
use super::{Index, Sliced};
use crate::program::types::DeviceCopy;
use crate::report::failure::Cause;
use crate::sim::{self, Key, SharedId};

/// `N` elements of static shared memory, one array a block. From [`shared_array`].
#[derive(Debug)]
pub struct SharedArray<T, const N: usize> {
    pub(super) id: SharedId,
    /// A pointer, so that the handle stays with its thread.
    elements: PhantomData<*const T>,
}

/// A part of the block's shared memory: of an array, or of the dynamic shared memory, whose size the launch says. From
/// `&array[a..b]`, [`dynamic_shared`] and [`dynamic_shared_slice`].
#[derive(Debug)]
pub struct SharedSlice<T> {
    pub(super) id: SharedId,
    /// The first byte in the allocation.
    start: usize,
    length: usize,
    /// A pointer, so that the handle stays with its thread.
    elements: PhantomData<*const T>,
}

/// The block's own shared memory: what `map_shared_rank` takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the block's own shared memory",
    note = "`map_shared_rank` takes what `shared_array` and `dynamic_shared` return, and parts of it"
)]
pub trait OwnedShared: Shared {
    /// The same memory of a peer.
    type Remote;

    #[doc(hidden)]
    fn remote(&self, rank: u32) -> Self::Remote;
}

/// Static shared memory: `__shared__ T array[N]`. All threads of a block get the same array from the same call, with
/// nothing in it.
#[inline]
#[track_caller]
pub fn shared_array<T: DeviceCopy, const N: usize>() -> SharedArray<T, N> {
    let key = Key { site: Location::caller(), type_name: type_name::<[T; N]>() };
    let id = sim::with("`shared_array()`", |context| context.static_shared(key, size_of::<[T; N]>()));
    SharedArray { id, elements: PhantomData }
}

/// Dynamic shared memory: `extern __shared__ T array[]`. As many elements as the launch gave room for, with nothing
/// in them.
#[inline]
#[track_caller]
pub fn dynamic_shared<T: DeviceCopy>() -> SharedSlice<T> {
    let site = Location::caller();
    sim::with("`dynamic_shared()`", |context| {
        let length = context.dynamic_shared_bytes() / size_of::<T>().max(1);
        let id = context.dynamic_shared(type_name::<T>(), 0, length * size_of::<T>(), site);
        SharedSlice { id, start: 0, length, elements: PhantomData }
    })
}

/// `length` elements of the dynamic shared memory, from a byte of it on: several arrays in one allocation. The offset
/// is a multiple of the type's alignment, and the end lies within what the launch gave room for; both are checked. Arrays
/// that overlap share their bytes.
#[inline]
#[track_caller]
pub fn dynamic_shared_slice<T: DeviceCopy>(byte_offset: impl Index, length: impl Index) -> SharedSlice<T> {
    let (site, size, alignment) = (Location::caller(), size_of::<T>().max(1), align_of::<T>());
    sim::with("`dynamic_shared_slice()`", |context| {
        let available = context.dynamic_shared_bytes();
        let offset = byte_offset.to_usize();
        if !offset.is_multiple_of(alignment) {
            let cause = Cause::DynamicSharedMisaligned { offset: byte_offset.to_i128(), alignment: alignment as u64 };
            context.fail(cause, site);
        }
        if offset > available || length.to_usize() > (available - offset) / size {
            let cause = Cause::DynamicSharedOutOfBounds {
                offset: byte_offset.to_i128(),
                length: length.to_i128(),
                size: size as u64,
                available: available as u64,
            };
            context.fail(cause, site);
        }
        let length = length.to_usize();
        let id = context.dynamic_shared(type_name::<T>(), offset, offset + length * size, site);
        SharedSlice { id, start: offset, length, elements: PhantomData }
    })
}

impl<T: DeviceCopy, const N: usize> SharedArray<T, N> {
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

impl<T: DeviceCopy> SharedSlice<T> {
    pub(super) fn new(id: SharedId, start: usize, length: usize) -> Self {
        SharedSlice { id, start, length, elements: PhantomData }
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

shared_memory!(SharedArray<T, const N: usize>, self => N, 0, SharedSlice);
shared_memory!(SharedSlice<T>, self => self.length, self.start, SharedSlice);

impl<T> Clone for SharedSlice<T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SharedSlice<T> {}

/// An array where a slice is expected, as in Rust.
impl<T: DeviceCopy, const N: usize> From<&SharedArray<T, N>> for SharedSlice<T> {
    #[inline]
    fn from(array: &SharedArray<T, N>) -> Self {
        array.part(0, N)
    }
}

impl<T: DeviceCopy, const N: usize> OwnedShared for SharedArray<T, N> {
    type Remote = RemoteArray<T, N>;

    #[inline]
    fn remote(&self, rank: u32) -> RemoteArray<T, N> {
        RemoteArray::new(SharedId { rank, ..self.id })
    }
}

impl<T: DeviceCopy> OwnedShared for SharedSlice<T> {
    type Remote = RemoteSlice<T>;

    #[inline]
    fn remote(&self, rank: u32) -> RemoteSlice<T> {
        RemoteSlice::new(SharedId { rank, ..self.id }, self.start, self.length)
    }
}

impl<S: OwnedShared + ?Sized> OwnedShared for &S {
    type Remote = S::Remote;

    #[inline]
    fn remote(&self, rank: u32) -> S::Remote {
        (**self).remote(rank)
    }
}
