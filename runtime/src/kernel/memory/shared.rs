//! A block's own shared memory. The handles name an allocation of the simulator and hold no bytes themselves.

use std::any::{TypeId, type_name};
use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::Location;

use super::operations::{reading, writing};
use super::remote::{RemoteArray, RemoteSlice};
use super::shared_handle::{Shared, shared_memory};
use super::{Index, Sliced};
use crate::program::types::DeviceCopy;
use crate::program::validity;
use crate::report::failure::Cause;
use crate::sim::{self, AllocationKey, ElementType, SharedId};

/// An array of `N` elements in the block's static shared memory; [`shared_array`] returns it.
///
/// # In kernels
///
#[doc = reading!("array", "a [`SharedSlice`]")]
#[doc = writing!("array")]
/// | `cluster.map_shared_rank(&array, rank)` | the same array of a peer, a [`RemoteArray`] |
///
/// ```
/// use phalanx::prelude::*;
///
/// #[cluster_kernel(block = 32)]
/// fn reverse(input: &[f32], out: &mut [f32], counts: &mut [u32]) {
///     let block = this_thread_block();
///     let i = block.thread_rank();
///     let array = shared_array::<f32, 32>();
///     let histogram = shared_array::<u32, 4>();
///     if i < 8 {
///         array.store_vec(i * 4, input.load_vec::<4>(i * 4)); // 16 bytes at once
///     }
///     if i == 0 {
///         histogram.fill(0);
///     }
///     block.sync();
///     histogram.atomic(i % 4).fetch_add(1, Relaxed);
///     let (low, high) = array.split_at(array.len() / 2);
///     out[i] = if i < 16 { high[15 - i] } else { low[31 - i] };
///     block.sync();
///     if i < 4 {
///         counts[i] = histogram[i] + (&array.chunks(8)[i]).len() as u32;
///     }
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let input = device.upload(&Vec::from_iter((0..32).map(|i| i as f32)))?;
/// let (mut out, mut counts) = (device.zeros(32)?, device.zeros(4)?);
/// reverse(&input, &mut out, &mut counts).grid(1).launch(&device)?;
/// assert_eq!(out.read()?[..3], [31.0, 30.0, 29.0]);
/// assert_eq!(counts.read()?, [16; 4]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct SharedArray<T, const N: usize> {
    pub(super) id: SharedId,
    /// A pointer, so that the handle stays with its thread.
    elements: PhantomData<*const T>,
}

/// A slice of the block's shared memory: of an array, by `&array[a..b]`, or of the dynamic shared memory, by
/// [`dynamic_shared`] and [`dynamic_shared_slice`]. A device function takes it as `&SharedSlice<T>`, and accepts whole
/// arrays as well.
///
/// # In kernels
///
#[doc = reading!("slice", "a `SharedSlice`")]
#[doc = writing!("slice")]
/// | `cluster.map_shared_rank(&slice, rank)` | the same memory of a peer, a [`RemoteSlice`] |
///
/// ```
/// use phalanx::prelude::*;
///
/// #[device]
/// fn sum(values: &SharedSlice<u32>) -> u32 {
///     values.iter().sum::<u32>()
/// }
///
/// #[cluster_kernel(block = 8)]
/// fn halves(out: &mut [u32]) {
///     let block = this_thread_block();
///     let i = block.thread_rank();
///     let all = dynamic_shared::<u32>(); // as many elements as the launch has room for
///     all[i] = i;
///     block.sync();
///     if i == 0 {
///         out[0] = sum(&all[..4]);
///         out[1] = sum(&all[4..]) + all.len() as u32;
///     }
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let mut out = device.zeros(2)?;
/// halves(&mut out).grid(1).shared_bytes(8 * 4).launch(&device)?;
/// assert_eq!(out.read()?, [6, 22 + 8]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct SharedSlice<T> {
    pub(super) id: SharedId,
    /// The offset of the first byte in the allocation.
    start: usize,
    length: usize,
    /// A pointer, so that the handle stays with its thread.
    elements: PhantomData<*const T>,
}

/// The block's own shared memory, which `map_shared_rank` takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the block's own shared memory",
    note = "`map_shared_rank` takes memory that `shared_array` and `dynamic_shared` return, and parts of it"
)]
pub trait OwnedShared: Shared {
    /// The type of the same memory of a peer.
    type Remote;

    #[doc(hidden)]
    fn remote(&self, rank: u32) -> Self::Remote;
}

thread_local! {
    /// The number of the array that a kernel's body makes next.
    static NUMBER: Cell<u16> = const { Cell::new(0) };
}

/// Makes an array in a kernel's body. The number tells it from another of its type at the same place: a `macro_rules!` writes all of
/// its text at the place of its call.
#[doc(hidden)]
pub fn numbered<A>(number: u16, make: impl FnOnce() -> A) -> A {
    NUMBER.set(number);
    make()
}

/// Returns an array in static shared memory, `__shared__ T array[N]`. All threads of a block get the same array from
/// the same call. It starts uninitialized.
#[inline]
#[track_caller]
pub fn shared_array<T: DeviceCopy, const N: usize>() -> SharedArray<T, N> {
    let (site, number) = (Location::caller(), NUMBER.take());
    let key = AllocationKey { site, number, array: TypeId::of::<[T; N]>(), element_bytes: size_of::<T>() };
    let id = sim::with("`shared_array()`", |context| context.static_shared(key, size_of::<[T; N]>()));
    SharedArray { id, elements: PhantomData }
}

/// Returns the dynamic shared memory, `extern __shared__ T array[]`, with as many elements as fit into the launch's
/// bytes. It starts uninitialized.
#[inline]
#[track_caller]
pub fn dynamic_shared<T: DeviceCopy>() -> SharedSlice<T> {
    let site = Location::caller();
    sim::with("`dynamic_shared()`", |context| {
        let length = context.dynamic_shared_bytes() / size_of::<T>().max(1);
        let id = context.dynamic_shared(element_type::<T>(), 0, length * size_of::<T>(), site);
        SharedSlice { id, start: 0, length, elements: PhantomData }
    })
}

/// Returns `length` elements of the dynamic shared memory from a byte offset on, for several arrays in one allocation.
/// The offset must be a multiple of the type's alignment, and the end must lie within the memory of the launch; both
/// are checked. Arrays that overlap share their bytes.
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
        let id = context.dynamic_shared(element_type::<T>(), offset, offset + length * size, site);
        SharedSlice { id, start: offset, length, elements: PhantomData }
    })
}

fn element_type<T: DeviceCopy>() -> ElementType {
    ElementType { id: TypeId::of::<T>(), name: type_name::<T>(), any_bits: validity::any_bits::<T> }
}

impl<T: DeviceCopy, const N: usize> SharedArray<T, N> {
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

impl<T: DeviceCopy> SharedSlice<T> {
    pub(super) fn new(id: SharedId, start: usize, length: usize) -> Self {
        SharedSlice { id, start, length, elements: PhantomData }
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

shared_memory!(SharedArray<T, const N: usize>, self => N, 0, SharedSlice);
shared_memory!(SharedSlice<T>, self => self.length, self.start, SharedSlice);

impl<T> Clone for SharedSlice<T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SharedSlice<T> {}

/// Converts an array where a slice is expected, as in Rust.
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

#[cfg(test)]
mod tests {
    use crate::prelude::*;

    /// A macro writes all of its text at the place of its call.
    macro_rules! kernel {
        ($name:ident) => {
            #[cluster_kernel(block = 32)]
            fn $name(out: &mut [u32]) {
                let block = this_thread_block();
                let (first, second) = (shared_array::<u32, 32>(), shared_array::<u32, 32>());
                let (one, other) = (shared_barrier(), shared_barrier());
                if block.thread_rank() == 0 {
                    one.init(32);
                    other.init(32);
                }
                block.sync();
                let i = block.thread_rank() as usize;
                first[i] = 1;
                one.arrive_and_wait();
                second[i] = 2;
                other.arrive_and_wait();
                out[i] = first[31 - i] * 10 + second[31 - i];
            }
        };
    }

    kernel!(two_of_each);

    #[test]
    fn arrays_of_a_type_that_a_macro_makes_are_two() -> crate::Result<()> {
        let device = Device::simulator();
        let mut out = device.zeros(32)?;
        two_of_each(&mut out).grid(1).launch(&device)?;
        assert_eq!(out.read()?, [12; 32]);
        Ok(())
    }
}
