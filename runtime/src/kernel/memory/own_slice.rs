//! Parts of a thread's own arrays as arguments of device functions that take a `&[T]`, and what such functions take.

use std::marker::PhantomData;
use std::ptr::NonNull;

use super::global::{Global, GlobalMut};
use super::local::Elements;
use super::{Addressed, Memory, Sliced, sealed};
use crate::program::types::DeviceCopy;
use crate::sim::{MemoryId, Site};

/// A part of a thread's own array, which nobody writes while it is borrowed.
#[derive(Debug)]
pub struct OwnSlice<'a, T> {
    /// The array's first byte.
    base: NonNull<u8>,
    start: usize,
    length: usize,
    memory: PhantomData<&'a [T]>,
}

/// Evaluates `&array[..]`.
#[inline]
pub fn slice_of<A: Elements<Element: DeviceCopy>>(array: &A) -> OwnSlice<'_, A::Element> {
    let elements = array.elements();
    OwnSlice { base: NonNull::from(elements).cast(), start: 0, length: elements.len(), memory: PhantomData }
}

impl<T> Clone for OwnSlice<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for OwnSlice<'_, T> {}

impl<T> sealed::Sealed for OwnSlice<'_, T> {}

impl<T: DeviceCopy> Memory for OwnSlice<'_, T> {
    type Element = T;

    #[inline]
    fn length(&self) -> usize {
        self.length
    }

    #[inline]
    fn read(&self, index: usize, site: Site) -> T {
        super::read(self, index, site)
    }
}

impl<T: DeviceCopy> Addressed for OwnSlice<'_, T> {
    #[inline]
    fn id(&self) -> MemoryId {
        MemoryId::Own(self.base)
    }

    #[inline]
    fn start(&self) -> usize {
        self.start
    }
}

impl<'a, T: DeviceCopy> Sliced for OwnSlice<'a, T> {
    type Slice<U: DeviceCopy> = OwnSlice<'a, U>;

    #[inline]
    fn part<U: DeviceCopy>(&self, start: usize, length: usize) -> OwnSlice<'a, U> {
        OwnSlice { base: self.base, start, length, memory: PhantomData }
    }
}

/// What a device function takes for a `&[T]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be lent as `&[{T}]` in a kernel",
    label = "no slice",
    note = "write a part of a local array, `&array[..]`; copy a constant first: `let table = TABLE;`"
)]
pub trait Lent<'a, T> {
    #[doc(hidden)]
    fn lend(self) -> Global<'a, T>;
}

impl<'a, T> Lent<'a, T> for Global<'a, T> {
    #[inline]
    fn lend(self) -> Global<'a, T> {
        self
    }
}

impl<'a, T> Lent<'a, T> for GlobalMut<'a, T> {
    #[inline]
    fn lend(self) -> Global<'a, T> {
        self.into()
    }
}

impl<'a, T> Lent<'a, T> for OwnSlice<'a, T> {
    #[inline]
    fn lend(self) -> Global<'a, T> {
        Global::of_own(self.base, self.start, self.length)
    }
}

/// What a device function takes for a `&[T]` whose elements it copies or loads as vectors.
#[diagnostic::on_unimplemented(
    message = "this function copies memory or loads vectors of it, and `{Self}` is no memory that other threads have",
    label = "a thread's own array",
    note = "copy it to a shared array first, or have the function read element by element"
)]
pub trait LentMemory<'a, T>: Lent<'a, T> {}

impl<'a, T> LentMemory<'a, T> for Global<'a, T> {}
impl<'a, T> LentMemory<'a, T> for GlobalMut<'a, T> {}

/// What a device function takes for a `&mut [T]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be lent as `&mut [{T}]` in a kernel",
    label = "no memory that all threads share",
    note = "a function that changes a local array takes `&mut [T; N]` of a const parameter `N`"
)]
pub trait LentMut<'a, T> {
    #[doc(hidden)]
    fn lend_mut(self) -> GlobalMut<'a, T>;
}

impl<'a, T> LentMut<'a, T> for GlobalMut<'a, T> {
    #[inline]
    fn lend_mut(self) -> GlobalMut<'a, T> {
        self
    }
}
