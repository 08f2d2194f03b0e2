//! Memory as a kernel sees it: global slices, shared arrays, a peer's shared arrays, and local arrays. All of them are
//! indexed through the functions here, which check the index; `sim::access` checks the rest.
//!
//! A launch on a GPU does not run this code: its memory is in `memory.cuh`.

mod atomic;
mod bytes;
mod global;
mod index;
mod lent;
mod local;
mod operations;
mod own_slice;
mod place;
mod remote;
mod rows;
mod shared;
mod shared_handle;
mod slice;
mod swizzled;
mod vector;

use std::any::type_name;
use std::panic::Location;
use std::ptr::NonNull;

pub use self::atomic::{Atomic, AtomicInteger, AtomicScalar, AtomicValue, atomic, fence};
pub(crate) use self::bytes::{GlobalMemory, bits, bytes_of};
pub use self::global::{Global, GlobalMut};
pub use self::index::Index;
pub(crate) use self::index::position;
pub use self::lent::lent;
pub(crate) use self::local::indexed;
pub use self::local::{At, Elements, array_len, element, element_at_mut, element_mut};
pub use self::own_slice::{
    Lent, LentMemory, LentMut, LentMutMemory, OwnSlice, OwnSliceMut, lend, lend_mut, slice_of, slice_of_mut,
};
pub use self::place::{MemoryPlace, field, nth, place, place_unchecked, read_place, update_place, write_place};
pub use self::remote::{RemoteArray, RemoteSlice};
pub use self::rows::{MatrixMemory, SwizzledMemory, SwizzledTiles};
pub use self::shared::{
    OwnedShared, SharedArray, SharedSlice, dynamic_shared, dynamic_shared_slice, numbered, shared_array,
};
pub use self::shared_handle::Shared;
pub use self::slice::*;
pub(crate) use self::swizzled::exchanged;
pub use self::swizzled::{Swizzled, SwizzledRow};
pub use self::vector::*;

use crate::program::types::DeviceCopy;
use crate::sim::{self, Access, MemoryId, MemoryOp, Site};

/// Memory that can be read by an index: global, shared, remote and local memory, and references to them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be indexed in a kernel",
    note = "slices that are kernel parameters, shared and remote memory and local arrays can"
)]
pub trait Memory: sealed::Sealed {
    /// The type of the elements.
    type Element: DeviceCopy;

    #[doc(hidden)]
    fn length(&self) -> usize;

    /// Reads the element at `index`, which is below the length.
    #[doc(hidden)]
    fn read(&self, index: usize, site: Site) -> Self::Element;
}

/// Memory that threads share, which is all but local arrays, with its identity in the simulator.
#[doc(hidden)]
pub trait Addressed: Memory {
    fn id(&self) -> MemoryId;

    /// Returns the offset of the first byte in the allocation.
    fn start(&self) -> usize;
}

/// Memory that many threads can write by an index: global memory that is a `&mut` parameter, shared and remote memory.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written by an index",
    note = "a parameter `&mut [T]` of a kernel can, and so can shared and remote memory"
)]
pub trait MemoryMut: Addressed {}

pub(crate) mod sealed {
    pub trait Sealed {}
    impl<M: Sealed + ?Sized> Sealed for &M {}
    impl<M: Sealed + ?Sized> Sealed for &mut M {}
}

/// Evaluates `memory.len()`.
#[inline]
pub fn len<M: Memory + ?Sized>(memory: &M) -> usize {
    memory.length()
}

/// Evaluates `memory.is_empty()`.
#[inline]
pub fn is_empty<M: Memory + ?Sized>(memory: &M) -> bool {
    memory.length() == 0
}

/// Reads `memory[index]`.
#[inline]
#[track_caller]
pub fn load<M: Memory + ?Sized, I: Index>(memory: &M, index: I) -> M::Element {
    memory.read(position(index, memory.length()), Location::caller())
}

/// Executes `memory[index] = value`.
#[inline]
#[track_caller]
pub fn store<M: MemoryMut + ?Sized, I: Index>(memory: &M, index: I, value: M::Element) {
    write(memory, position(index, memory.length()), value, Location::caller());
}

/// Executes `memory[index] op= change`, a read followed by a write, which together are not atomic.
#[inline]
#[track_caller]
pub fn update<M, I, C>(memory: &M, index: I, change: C, new: impl FnOnce(M::Element, C) -> M::Element)
where
    M: MemoryMut + ?Sized,
    I: Index,
{
    let (index, site) = (position(index, memory.length()), Location::caller());
    let old = memory.read(index, site);
    write(memory, index, new(old, change), site);
}

/// Executes `*memory.get_unchecked_mut(index) op= change`.
///
/// # Safety
/// `index` must be below the length. The simulator checks it nonetheless; the device does not.
#[inline]
#[track_caller]
pub unsafe fn update_unchecked<M, I, C>(memory: &M, index: I, change: C, new: impl FnOnce(M::Element, C) -> M::Element)
where
    M: MemoryMut + ?Sized,
    I: Index,
{
    update(memory, index, change, new);
}

/// Reads `*memory.get_unchecked(index)`.
///
/// # Safety
/// `index` must be below the length. The simulator checks it nonetheless; the device does not.
#[inline]
#[track_caller]
pub unsafe fn load_unchecked<M: Memory + ?Sized, I: Index>(memory: &M, index: I) -> M::Element {
    load(memory, index)
}

/// Executes `*memory.get_unchecked_mut(index) = value`.
///
/// # Safety
/// `index` must be below the length. The simulator checks it nonetheless; the device does not.
#[inline]
#[track_caller]
pub unsafe fn store_unchecked<M: MemoryMut + ?Sized, I: Index>(memory: &M, index: I, value: M::Element) {
    store(memory, index, value);
}

impl<M: Memory + ?Sized> Memory for &M {
    type Element = M::Element;

    #[inline]
    fn length(&self) -> usize {
        (**self).length()
    }

    #[inline]
    fn read(&self, index: usize, site: Site) -> M::Element {
        (**self).read(index, site)
    }
}

impl<M: Addressed + ?Sized> Addressed for &M {
    #[inline]
    fn id(&self) -> MemoryId {
        (**self).id()
    }

    #[inline]
    fn start(&self) -> usize {
        (**self).start()
    }
}

impl<M: MemoryMut + ?Sized> MemoryMut for &M {}

impl<M: Memory + ?Sized> Memory for &mut M {
    type Element = M::Element;

    #[inline]
    fn length(&self) -> usize {
        (**self).length()
    }

    #[inline]
    fn read(&self, index: usize, site: Site) -> M::Element {
        (**self).read(index, site)
    }
}

/// Reads the element at `index`, which is below the length.
#[inline]
fn read<M: Addressed + ?Sized>(memory: &M, index: usize, site: Site) -> M::Element {
    read_as(memory, index, site)
}

/// Writes the element at `index`, which is below the length.
#[inline]
fn write<M: Addressed + ?Sized>(memory: &M, index: usize, value: M::Element, site: Site) {
    write_as(memory, index, value, site);
}

/// Reads a `T` from the bytes of as many elements as it takes. They lie in the memory, and the first is aligned for a
/// `T`.
#[inline]
fn read_as<M: Addressed + ?Sized, T: DeviceCopy>(memory: &M, index: usize, site: Site) -> T {
    access(memory, index, MemoryOp::Read, site, |address| {
        // SAFETY: inside the memory, aligned, and accessed by atomics only.
        unsafe { bytes::load(address) }
    })
}

/// Writes a `T` to the bytes of as many elements as it takes. They lie in the memory, and the first is aligned for a
/// `T`.
#[inline]
fn write_as<M: Addressed + ?Sized, T: DeviceCopy>(memory: &M, index: usize, value: T, site: Site) {
    access(memory, index, MemoryOp::Write(bytes::bits(&value)), site, |address| {
        // SAFETY: inside the memory, aligned, and accessed by atomics only.
        unsafe { bytes::store(address, value) }
    });
}

/// Lets the simulator check an access to a `T` at the element at `index`, and makes it by calling `f`.
#[inline]
fn access<M: Addressed + ?Sized, T, R>(
    memory: &M,
    index: usize,
    op: MemoryOp<'_>,
    site: Site,
    f: impl FnOnce(NonNull<T>) -> R,
) -> R {
    let start = memory.start() + index * size_of::<M::Element>();
    // The simulator has nothing to check, and there may be none: the function is called on the host, too.
    if let MemoryId::Own(base) = memory.id() {
        // SAFETY: the range lies inside the array.
        return f(unsafe { base.add(start) }.cast());
    }
    let access = Access { memory: memory.id(), start, len: size_of::<T>(), op, site, type_name: type_name::<T>() };
    sim::with("device memory", |context| f(context.access(access).cast()))
}
