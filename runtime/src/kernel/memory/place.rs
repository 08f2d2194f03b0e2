//! Typed places in memory: an element, a field of it, an element of an array in it, and so on. `grid[y][x]` and
//! `particles[i].pos.x` access the bytes of the innermost place only. A place holds no bytes; the offset of a field is
//! computed from a reference to it in a zeroed value.

use std::any::type_name;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::panic::Location;
use std::ptr::NonNull;

use super::index::position;
use super::{Addressed, Elements, Index, MemoryMut, bytes};
use crate::program::types::DeviceCopy;
use crate::sim::{self, Access, MemoryId, MemoryOp};

/// The place of a `T` in memory of type `M`, which determines whether it can be written.
#[derive(Debug)]
pub struct MemoryPlace<'m, M: ?Sized, T> {
    id: MemoryId,
    /// The offset in bytes from the start of the allocation.
    offset: usize,
    memory: PhantomData<&'m M>,
    value: PhantomData<fn() -> T>,
}

impl<'m, M: ?Sized, T: DeviceCopy> MemoryPlace<'m, M, T> {
    /// Returns the place of the `U` at `offset` in this one.
    fn inside<U>(self, offset: usize) -> MemoryPlace<'m, M, U> {
        MemoryPlace { id: self.id, offset: self.offset + offset, memory: PhantomData, value: PhantomData }
    }

    fn access<R>(&self, op: MemoryOp<'_>, site: sim::Site, f: impl FnOnce(NonNull<T>) -> R) -> R {
        let access =
            Access { memory: self.id, start: self.offset, len: size_of::<T>(), op, site, type_name: type_name::<T>() };
        sim::with("device memory", |context| f(context.access(access).cast()))
    }

    fn load(&self, site: sim::Site) -> T {
        self.access(MemoryOp::Read, site, |address| {
            // SAFETY: a `T` lies there, and it is accessed by atomics only.
            unsafe { bytes::load(address) }
        })
    }

    fn store(&self, value: T, site: sim::Site) {
        self.access(MemoryOp::Write(bytes::bits(&value)), site, |address| {
            // SAFETY: a `T` lies there, and it is accessed by atomics only.
            unsafe { bytes::store(address, value) }
        });
    }
}

/// Returns the place `memory[index]`.
#[inline]
#[track_caller]
pub fn place<M: Addressed + ?Sized, I: Index>(memory: &M, index: I) -> MemoryPlace<'_, M, M::Element> {
    let offset = memory.start() + position(index, memory.length()) * size_of::<M::Element>();
    MemoryPlace { id: memory.id(), offset, memory: PhantomData, value: PhantomData }
}

/// Returns the place `*memory.get_unchecked_mut(index)`.
///
/// # Safety
/// `index` must be below the length. The simulator checks it nonetheless; the device does not.
#[inline]
#[track_caller]
pub unsafe fn place_unchecked<M: Addressed + ?Sized, I: Index>(memory: &M, index: I) -> MemoryPlace<'_, M, M::Element> {
    place(memory, index)
}

/// Returns the place `place[index]` in an array or a vector.
#[inline]
#[track_caller]
pub fn nth<'m, M: ?Sized, T: DeviceCopy + Elements, I: Index>(
    place: MemoryPlace<'m, M, T>,
    index: I,
) -> MemoryPlace<'m, M, T::Element> {
    let offset = T::offset(position(index, T::LENGTH), place.offset);
    place.inside(offset)
}

/// Returns the place `place.name`, where `project` is `|value| &value.name`.
#[inline]
pub fn field<'m, M: ?Sized, T: DeviceCopy, F: DeviceCopy>(
    place: MemoryPlace<'m, M, T>,
    project: impl for<'v> FnOnce(&'v T) -> &'v F,
) -> MemoryPlace<'m, M, F> {
    let zeros = MaybeUninit::<T>::zeroed();
    // SAFETY: `DeviceCopy` promises that zeros are a value.
    let value = unsafe { zeros.assume_init_ref() };
    let offset = (&raw const *project(value)).addr().wrapping_sub((&raw const *value).addr());
    // A reference to something else, for example through a `Deref` of the user's, is not a place in the value.
    assert!(offset <= size_of::<T>() && size_of::<F>() <= size_of::<T>() - offset, "a field lies in its struct");
    place.inside(offset)
}

/// Reads the value at a place.
#[inline]
#[track_caller]
pub fn read_place<M: Addressed + ?Sized, T: DeviceCopy>(place: MemoryPlace<'_, M, T>) -> T {
    place.load(Location::caller())
}

/// Executes `place = value`.
#[inline]
#[track_caller]
pub fn write_place<M: MemoryMut + ?Sized, T: DeviceCopy>(place: MemoryPlace<'_, M, T>, value: T) {
    place.store(value, Location::caller());
}

/// Executes `place op= change`, a read followed by a write, which together are not atomic.
#[inline]
#[track_caller]
pub fn update_place<M: MemoryMut + ?Sized, T: DeviceCopy, C>(
    place: MemoryPlace<'_, M, T>,
    change: C,
    new: impl FnOnce(T, C) -> T,
) {
    let site = Location::caller();
    let old = place.load(site);
    place.store(new(old, change), site);
}
