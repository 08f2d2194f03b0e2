//! Parts of a thread's own arrays as arguments of device functions that take a `&[T]` or a `&mut [T]`, and what such functions take.

use std::marker::PhantomData;
use std::ptr::NonNull;

use super::global::{Global, GlobalMut};
use super::local::Elements;
use super::{Addressed, Memory, MemoryMut, Sliced, SlicedMut, sealed};
use crate::program::template::Summary;
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

/// A part of a thread's own array, which one function changes while it is borrowed.
#[derive(Debug)]
pub struct OwnSliceMut<'a, T> {
    /// The array's first byte.
    base: NonNull<u8>,
    start: usize,
    length: usize,
    memory: PhantomData<&'a mut [T]>,
}

/// Evaluates `&mut array[..]`.
#[inline]
pub fn slice_of_mut<A: Elements<Element: DeviceCopy>>(array: &mut A) -> OwnSliceMut<'_, A::Element> {
    let elements = array.elements_mut();
    let length = elements.len();
    OwnSliceMut { base: NonNull::from(elements).cast(), start: 0, length, memory: PhantomData }
}

impl<T> sealed::Sealed for OwnSliceMut<'_, T> {}

impl<T: DeviceCopy> Memory for OwnSliceMut<'_, T> {
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

impl<T: DeviceCopy> Addressed for OwnSliceMut<'_, T> {
    #[inline]
    fn id(&self) -> MemoryId {
        MemoryId::Own(self.base)
    }

    #[inline]
    fn start(&self) -> usize {
        self.start
    }
}

impl<T: DeviceCopy> MemoryMut for OwnSliceMut<'_, T> {}

impl<'a, T: DeviceCopy> Sliced for OwnSliceMut<'a, T> {
    type Slice<U: DeviceCopy> = OwnSlice<'a, U>;

    #[inline]
    fn part<U: DeviceCopy>(&self, start: usize, length: usize) -> OwnSlice<'a, U> {
        OwnSlice { base: self.base, start, length, memory: PhantomData }
    }
}

impl<'a, T: DeviceCopy> SlicedMut for OwnSliceMut<'a, T> {
    type SliceMut<U: DeviceCopy> = OwnSliceMut<'a, U>;

    #[inline]
    fn part_mut<U: DeviceCopy>(&self, start: usize, length: usize) -> OwnSliceMut<'a, U> {
        OwnSliceMut { base: self.base, start, length, memory: PhantomData }
    }
}

/// What a device function takes for a `&[T]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be lent as `&[{T}]` in a kernel",
    label = "no slice",
    note = "write a part of an array, `&array[..]`"
)]
pub trait Lent<'a, T> {
    /// Whether it is a thread's own array.
    #[doc(hidden)]
    const IS_OWN: bool = false;

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
    const IS_OWN: bool = true;

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
    label = "no slice that can be changed",
    note = "write a part of a local array, `&mut array[..]`"
)]
pub trait LentMut<'a, T> {
    /// Whether it is a thread's own array.
    #[doc(hidden)]
    const IS_OWN: bool = false;

    #[doc(hidden)]
    fn lend_mut(self) -> GlobalMut<'a, T>;
}

impl<'a, T> LentMut<'a, T> for GlobalMut<'a, T> {
    #[inline]
    fn lend_mut(self) -> GlobalMut<'a, T> {
        self
    }
}

impl<'a, T> LentMut<'a, T> for OwnSliceMut<'a, T> {
    const IS_OWN: bool = true;

    #[inline]
    fn lend_mut(self) -> GlobalMut<'a, T> {
        GlobalMut::of_own(self.base, self.start, self.length)
    }
}

/// What a device function takes for a `&mut [T]` that it copies, or whose elements it changes by atomics.
#[diagnostic::on_unimplemented(
    message = "this function copies memory, loads vectors of it or has atomics, and `{Self}` is no memory that other threads have",
    label = "a thread's own array",
    note = "use a shared array, or have the function read and write element by element"
)]
pub trait LentMutMemory<'a, T>: LentMut<'a, T> {}

impl<'a, T> LentMutMemory<'a, T> for GlobalMut<'a, T> {}

/// The message for a function that passes what it is lent to another one, for which it is no memory.
const OWN_ARRAY_READ: &str = "a function that copies memory or loads vectors of it, or passes it to one that does, is given a thread's own array as a `&[T]`: copy it to a shared array first, or have the function read element by element";

/// Lends what the function with this marker takes for a `&[T]`.
///
/// ```compile_fail,E0080
/// use phalanx::prelude::*;
///
/// #[device]
/// fn last(values: &[f32]) -> f32 {
///     let four = values.load_vec::<4>(0);
///     four[3]
/// }
///
/// #[device]
/// fn passed_on(values: &[f32]) -> f32 {
///     last(values)
/// }
///
/// #[cluster_kernel(block = 32)]
/// fn of_own_array(out: &mut [f32]) {
///     let own = [out[0], out[1], out[2], out[3]];
///     out[this_thread_block().thread_rank()] = passed_on(&own);
/// }
///
/// let program = phalanx::Program::of::<of_own_array>();
/// ```
#[inline(always)]
pub fn lend<'a, M: Summary, T, L: Lent<'a, T>>(lent: L) -> Global<'a, T> {
    const {
        if L::IS_OWN && M::NEEDS_MEMORY {
            panic!("{}", OWN_ARRAY_READ);
        }
    }
    lent.lend()
}

/// The message for a function that passes what it is lent to another one, for which it is no memory.
const OWN_ARRAY_CHANGED: &str = "a function that copies memory, loads vectors of it, has atomics or passes it to a method is given a thread's own array as a `&mut [T]`: use a shared array, or have the function read and write element by element";

/// Lends what the function with this marker takes for a `&mut [T]`.
#[inline(always)]
pub fn lend_mut<'a, M: Summary, T, L: LentMut<'a, T>>(lent: L) -> GlobalMut<'a, T> {
    const {
        if L::IS_OWN && (M::NEEDS_MEMORY || M::CHANGED_BY_METHOD) {
            panic!("{}", OWN_ARRAY_CHANGED);
        }
    }
    lent.lend_mut()
}
