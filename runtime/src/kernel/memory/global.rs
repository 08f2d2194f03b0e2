//! Global memory: the slice parameters of a kernel in the simulator. Both types are handles that can be copied; the
//! launcher ensures, by Rust's borrows, that two `&mut` parameters are disjoint.

use std::marker::PhantomData;
use std::ptr::NonNull;

use super::bytes::GlobalMemory;
use super::operations::{reading, writing};
use super::{Addressed, Memory, MemoryMut, Sliced, SlicedMut, sealed};
use crate::program::types::DeviceCopy;
use crate::sim::{MemoryId, Site};

/// Global memory that a kernel only reads, which is its parameter `input: &[T]` in the simulator.
///
/// # In kernels
///
#[doc = reading!("input", "`Global`")]
///
/// ```
/// use phalanx::prelude::*;
///
/// #[cluster_kernel(block = 1)]
/// fn reads(input: &[f32], rows: &[[f32; 2]], out: &mut [f32]) {
///     out[0] = input[3] + input.len() as f32;
///     out[1] = input.get(9).copied().unwrap_or(-1.0);
///     out[2] = input.load_vec::<4>(4)[1];
///     let (head, tail) = input.split_at(6);
///     let part = &input[2..4];
///     out[3] = head[5] * 100.0 + tail[0] * 10.0 + part[1] + (&input.chunks(3)[2]).len() as f32;
///     for window in input.windows(7) {
///         out[4] += window[6] + rows[1][0];
///     }
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let input = device.upload(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])?;
/// let rows = device.upload(&[[1.0, 2.0], [3.0, 4.0]])?;
/// let mut out = device.zeros(5)?;
/// reads(&input, &rows, &mut out).grid(1).launch(&device)?;
/// assert_eq!(out.read()?, [11.0, -1.0, 5.0, 565.0, 19.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Global<'a, T> {
    /// The buffer that the memory is in.
    id: MemoryId,
    /// The offset of the first byte in the buffer.
    start: usize,
    length: usize,
    memory: PhantomData<&'a [T]>,
}

/// Global memory that the whole grid reads and writes, which is a kernel's parameter `out: &mut [T]` in the simulator.
///
/// # In kernels
///
#[doc = reading!("out", "[`Global`]")]
#[doc = writing!("out")]
///
/// ```
/// use phalanx::prelude::*;
///
/// #[cluster_kernel(block = 4)]
/// fn writes(out: &mut [u32], total: &mut [u32]) {
///     let i = this_grid().thread_rank();
///     out[i] = 1;
///     out[i] += i as u32;
///     total.atomic(0).fetch_add(out[i], Relaxed);
///     this_thread_block().sync();
///     if i == 0 {
///         out.swap(0, 3);
///         let tail = &mut out[8..];
///         tail.fill(7);
///         out.store_vec(4, u32x4::new([10, 20, 30, 40]));
///         let (_, right) = out.split_at_mut(6);
///         right[0] += out.load_vec::<2>(2)[0];
///     }
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let (mut out, mut total) = (device.zeros(10)?, device.zeros(1)?);
/// writes(&mut out, &mut total).grid(1).launch(&device)?;
/// assert_eq!(out.read()?, [4, 2, 3, 1, 10, 20, 33, 40, 7, 7]);
/// assert_eq!(total.read()?, [10]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct GlobalMut<'a, T> {
    /// The buffer that the memory is in.
    id: MemoryId,
    /// The offset of the first byte in the buffer.
    start: usize,
    length: usize,
    memory: PhantomData<&'a [T]>,
}

macro_rules! global {
    ($name:ident, $memory:ident) => {
        impl<'a, T: DeviceCopy> $name<'a, T> {
            /// Returns all elements of a buffer of the simulator.
            #[cfg(test)]
            pub(crate) fn new(memory: &'a GlobalMemory) -> Self {
                $name::part_of(memory, 0, memory.count::<T>())
            }

            /// Returns so many elements from a byte of a buffer of the simulator on. Panics if they are not of type `T`.
            pub(crate) fn part_of(memory: &'a GlobalMemory, start: usize, length: usize) -> Self {
                let base = memory.base_of::<T>(start, length);
                $name { id: MemoryId::$memory(base), start, length, memory: PhantomData }
            }

            /// Returns memory without elements, which represents a GPU's buffer in a host body that does not run.
            pub(crate) fn empty() -> Self {
                let id = MemoryId::$memory(NonNull::<u128>::dangling().cast());
                $name { id, start: 0, length: 0, memory: PhantomData }
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

impl<T> Global<'_, T> {
    /// Returns a part of a thread's own array, which nobody writes while it is borrowed.
    #[inline]
    pub(super) fn of_own(base: NonNull<u8>, start: usize, length: usize) -> Self {
        Global { id: MemoryId::Own(base), start, length, memory: PhantomData }
    }
}

impl<T> GlobalMut<'_, T> {
    /// Returns a part of a thread's own array, which nobody else uses while it is borrowed.
    #[inline]
    pub(super) fn of_own(base: NonNull<u8>, start: usize, length: usize) -> Self {
        GlobalMut { id: MemoryId::Own(base), start, length, memory: PhantomData }
    }
}

impl<'a, T> From<GlobalMut<'a, T>> for Global<'a, T> {
    #[inline]
    fn from(GlobalMut { id, start, length, .. }: GlobalMut<'a, T>) -> Self {
        Global { id, start, length, memory: PhantomData }
    }
}
