//! A block's own shared memory. The handles name an allocation of the simulator and hold no bytes.

use std::any::type_name;
use std::marker::PhantomData;
use std::panic::Location;

use super::remote::{RemoteArray, RemoteSlice};
use super::sealed;
use crate::sim::{self, Key, SharedId};
use crate::types::DeviceCopy;

/// `N` elements of static shared memory, one array a block. From [`shared_array`].
#[derive(Debug)]
pub struct SharedArray<T, const N: usize> {
    pub(super) id: SharedId,
    /// A pointer, so that the handle stays with its thread.
    elements: PhantomData<*const T>,
}

/// The dynamic shared memory of the block, whose size the launch says. From [`dynamic_shared`].
#[derive(Debug)]
pub struct DynamicShared<T> {
    pub(super) id: SharedId,
    length: usize,
    /// A pointer, so that the handle stays with its thread.
    elements: PhantomData<*const T>,
}

/// Shared memory with an owner: what `query_shared_rank` takes.
#[diagnostic::on_unimplemented(message = "`{Self}` is not shared memory")]
pub trait Shared: sealed::Sealed {
    #[doc(hidden)]
    fn rank(&self) -> u32;
}

/// The block's own shared memory: what `map_shared_rank` takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the block's own shared memory",
    note = "`map_shared_rank` takes what `shared_array` and `dynamic_shared` return"
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
pub fn dynamic_shared<T: DeviceCopy>() -> DynamicShared<T> {
    let key = Key { site: Location::caller(), type_name: type_name::<T>() };
    let (id, bytes) =
        sim::with("`dynamic_shared()`", |context| (context.dynamic_shared(key), context.dynamic_shared_bytes()));
    DynamicShared { id, length: bytes / size_of::<T>().max(1), elements: PhantomData }
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

impl<T: DeviceCopy> DynamicShared<T> {
    /// How many elements there is room for.
    #[inline]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is room for none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

/// What all shared memory has in common, own and remote.
macro_rules! shared_memory {
    ($name:ident<T $(, const $n:ident: usize)?>, $self:ident => $length:expr) => {
        impl<T $(, const $n: usize)?> $crate::memory::sealed::Sealed for $name<T $(, $n)?> {}

        impl<T: DeviceCopy $(, const $n: usize)?> $crate::memory::Memory for $name<T $(, $n)?> {
            type Element = T;

            #[inline]
            fn length(&$self) -> usize {
                $length
            }

            #[inline]
            fn read(&self, index: usize, site: $crate::sim::Site) -> T {
                $crate::memory::read(self, index, site)
            }
        }

        impl<T: DeviceCopy $(, const $n: usize)?> $crate::memory::Addressed for $name<T $(, $n)?> {
            #[inline]
            fn id(&self) -> $crate::sim::MemoryId {
                $crate::sim::MemoryId::Shared(self.id)
            }
        }

        impl<T: DeviceCopy $(, const $n: usize)?> $crate::memory::MemoryMut for $name<T $(, $n)?> {}

        impl<T: DeviceCopy $(, const $n: usize)?> $crate::memory::Shared for $name<T $(, $n)?> {
            #[inline]
            fn rank(&self) -> u32 {
                self.id.rank
            }
        }
    };
}

pub(super) use shared_memory;

shared_memory!(SharedArray<T, const N: usize>, self => N);
shared_memory!(DynamicShared<T>, self => self.length);

impl<T: DeviceCopy, const N: usize> OwnedShared for SharedArray<T, N> {
    type Remote = RemoteArray<T, N>;

    #[inline]
    fn remote(&self, rank: u32) -> RemoteArray<T, N> {
        RemoteArray::new(SharedId { rank, ..self.id })
    }
}

impl<T: DeviceCopy> OwnedShared for DynamicShared<T> {
    type Remote = RemoteSlice<T>;

    #[inline]
    fn remote(&self, rank: u32) -> RemoteSlice<T> {
        RemoteSlice::new(SharedId { rank, ..self.id }, self.length)
    }
}

impl<S: Shared + ?Sized> Shared for &S {
    #[inline]
    fn rank(&self) -> u32 {
        (**self).rank()
    }
}

impl<S: OwnedShared + ?Sized> OwnedShared for &S {
    type Remote = S::Remote;

    #[inline]
    fn remote(&self, rank: u32) -> S::Remote {
        (**self).remote(rank)
    }
}
