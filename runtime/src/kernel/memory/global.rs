//! Global memory: what a kernel's slice parameters are in the simulator. Both kinds are handles that copy; that two
//! `&mut` parameters do not overlap is the launcher's, by Rust's borrows.

use std::marker::PhantomData;
use std::ptr::NonNull;

use super::bytes::GlobalMemory;
use super::{Addressed, Memory, MemoryMut, Sliced, SlicedMut, sealed};
use crate::program::types::DeviceCopy;
use crate::sim::{MemoryId, Site};

/// A `&[T]` of a kernel: global memory that it only reads.
#[derive(Debug)]
pub struct Global<'a, T> {
    /// The whole buffer.
    id: MemoryId,
    /// The first byte of this part of it.
    start: usize,
    length: usize,
    memory: PhantomData<&'a [T]>,
}

/// A `&mut [T]` of a kernel: global memory that the whole grid shares and writes.
#[derive(Debug)]
pub struct GlobalMut<'a, T> {
    /// The whole buffer.
    id: MemoryId,
    /// The first byte of this part of it.
    start: usize,
    length: usize,
    memory: PhantomData<&'a [T]>,
}

macro_rules! global {
    ($name:ident, $memory:ident) => {
        impl<'a, T: DeviceCopy> $name<'a, T> {
            /// The elements of a buffer of the simulator. Panics if they are not `T`s.
            pub(crate) fn new(memory: &'a GlobalMemory) -> Self {
                let (base, length) = memory.elements::<T>();
                $name { id: MemoryId::$memory(base), start: 0, length, memory: PhantomData }
            }

            /// No elements: stands for a buffer of a GPU in a body that never runs here.
            pub(crate) fn empty() -> Self {
                let id = MemoryId::$memory(NonNull::<u128>::dangling().cast());
                $name { id, start: 0, length: 0, memory: PhantomData }
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

        impl<T> Clone for $name<'_, T> {
            #[inline]
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $name<'_, T> {}

        // SAFETY: all access to the bytes is by atomics (`bytes`).
        unsafe impl<T: DeviceCopy> Send for $name<'_, T> {}
        // SAFETY: as for Send.
        unsafe impl<T: DeviceCopy> Sync for $name<'_, T> {}

        impl<T> sealed::Sealed for $name<'_, T> {}

        impl<T: DeviceCopy> Memory for $name<'_, T> {
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

        impl<T: DeviceCopy> Addressed for $name<'_, T> {
            #[inline]
            fn id(&self) -> MemoryId {
                self.id
            }

            #[inline]
            fn start(&self) -> usize {
                self.start
            }
        }

        impl<'a, T: DeviceCopy> Sliced for $name<'a, T> {
            type Slice<U: DeviceCopy> = Global<'a, U>;

            #[inline]
            fn part<U: DeviceCopy>(&self, start: usize, length: usize) -> Global<'a, U> {
                Global { id: self.id, start, length, memory: PhantomData }
            }
        }
    };
}

global!(Global, Constant);
global!(GlobalMut, Global);

impl<T: DeviceCopy> MemoryMut for GlobalMut<'_, T> {}

impl<'a, T: DeviceCopy> SlicedMut for GlobalMut<'a, T> {
    type SliceMut<U: DeviceCopy> = GlobalMut<'a, U>;

    #[inline]
    fn part_mut<U: DeviceCopy>(&self, start: usize, length: usize) -> GlobalMut<'a, U> {
        GlobalMut { id: self.id, start, length, memory: PhantomData }
    }
}

impl<'a, T> From<GlobalMut<'a, T>> for Global<'a, T> {
    #[inline]
    fn from(GlobalMut { id, start, length, .. }: GlobalMut<'a, T>) -> Self {
        Global { id, start, length, memory: PhantomData }
    }
}
