//! Parts of memory: `&a[2..5]`, rows, chunks and halves. Each is a slice of the same allocation, and its ends must
//! satisfy Rust's own conditions.

use std::ops::Range;
use std::panic::Location;

use super::index::position;
use super::{Addressed, Index, MemoryMut};
use crate::program::types::DeviceCopy;
use crate::report::failure::Cause;
use crate::sim::fail_at;

/// Memory that can be sliced for reading, by `&`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be sliced in a kernel",
    note = "global, shared and remote memory can be sliced"
)]
pub trait Sliced: Addressed {
    /// The type of a part, whose elements may be of another type.
    type Slice<U: DeviceCopy>;

    /// Returns `length` elements from the byte `start` of the allocation on, all of which lie in this memory.
    #[doc(hidden)]
    fn part<U: DeviceCopy>(&self, start: usize, length: usize) -> Self::Slice<U>;
}

/// Memory that can be sliced for writing, by `&mut`.
#[diagnostic::on_unimplemented(message = "`{Self}` cannot be sliced for writing", note = "borrow it with `&`")]
pub trait SlicedMut: Sliced + MemoryMut {
    /// The type of a part to be written.
    type SliceMut<U: DeviceCopy>;

    #[doc(hidden)]
    fn part_mut<U: DeviceCopy>(&self, start: usize, length: usize) -> Self::SliceMut<U>;
}

impl<M: Sliced + ?Sized> Sliced for &M {
    type Slice<U: DeviceCopy> = M::Slice<U>;

    #[inline]
    fn part<U: DeviceCopy>(&self, start: usize, length: usize) -> M::Slice<U> {
        (**self).part(start, length)
    }
}

impl<M: SlicedMut + ?Sized> SlicedMut for &M {
    type SliceMut<U: DeviceCopy> = M::SliceMut<U>;

    #[inline]
    fn part_mut<U: DeviceCopy>(&self, start: usize, length: usize) -> M::SliceMut<U> {
        (**self).part_mut(start, length)
    }
}

/// A row, which is an array as an element of memory.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an array: no single element of this memory can be borrowed",
    note = "copy it: `let x = memory[i];`, or borrow a part: `&memory[i..=i]`"
)]
pub trait Row: DeviceCopy {
    /// The type of the row's elements.
    type Element: DeviceCopy;
    #[doc(hidden)]
    const LENGTH: usize;
}

impl<T: DeviceCopy, const N: usize> Row for [T; N] {
    type Element = T;
    const LENGTH: usize = N;
}

/// A row that `memcpy_async` fills: an array, or a swizzled row, as an element of memory.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an array: no single element of this memory can be borrowed",
    note = "borrow a part: `&memory[i..=i]`"
)]
pub trait FilledRow: DeviceCopy {
    /// The type of the row's elements.
    type Element: DeviceCopy;
    /// The row, whose elements are this memory.
    type Of<S>;
    #[doc(hidden)]
    const LENGTH: usize;
    #[doc(hidden)]
    fn of<S>(elements: S) -> Self::Of<S>;
}

impl<T: DeviceCopy, const N: usize> FilledRow for [T; N] {
    type Element = T;
    type Of<S> = S;
    const LENGTH: usize = N;

    #[inline]
    fn of<S>(elements: S) -> S {
        elements
    }
}

/// Evaluates `&memory[index]` as the destination of `memcpy_async`.
#[inline]
#[track_caller]
pub fn row_to_fill<M>(
    memory: &M,
    index: impl Index,
) -> <M::Element as FilledRow>::Of<M::Slice<<M::Element as FilledRow>::Element>>
where
    M: Sliced<Element: FilledRow> + ?Sized,
{
    let index = position(index, memory.length());
    M::Element::of(memory.part(bytes(memory, &(index..index + 1)), <M::Element as FilledRow>::LENGTH))
}

/// Returns the range `start..end`, if it lies within the length.
#[inline]
#[track_caller]
fn range<I: Index, J: Index>(start: I, end: J, length: usize) -> Range<usize> {
    let range = start.to_usize()..end.to_usize();
    if range.start > range.end || range.end > length {
        out_of_bounds(start.to_i128(), end.to_i128(), false, length);
    }
    range
}

/// Returns the range `start..=end`, if it lies within the length.
#[inline]
#[track_caller]
fn range_inclusive<I: Index, J: Index>(start: I, end: J, length: usize) -> Range<usize> {
    if end.to_usize() >= length || start.to_usize() > end.to_usize() + 1 {
        out_of_bounds(start.to_i128(), end.to_i128(), true, length);
    }
    start.to_usize()..end.to_usize() + 1
}

/// Returns the range of the chunk at `index`.
#[inline]
#[track_caller]
fn chunk_range<I: Index, J: Index>(size: I, index: J, length: usize) -> Range<usize> {
    let size = size.to_usize();
    if size == 0 {
        fail_at(Cause::Panic("chunk size must be non-zero".into()), Location::caller());
    }
    let start = position(index, length.div_ceil(size)) * size;
    start..length.min(start.saturating_add(size))
}

#[cold]
#[track_caller]
pub(super) fn out_of_bounds(start: i128, end: i128, inclusive: bool, length: usize) -> ! {
    fail_at(Cause::RangeOutOfBounds { start, end, inclusive, length: length as u64 }, Location::caller())
}

/// Returns the offset of the first of these elements in the allocation.
#[inline]
fn bytes<M: Addressed + ?Sized>(memory: &M, elements: &Range<usize>) -> usize {
    memory.start() + elements.start * size_of::<M::Element>()
}

macro_rules! parts {
    ($trait:ident, $slice:ident, $part:ident:
        $range:ident $inclusive:ident $from:ident $row:ident $chunk:ident $split:ident; $borrow:literal) => {
        #[doc = concat!("Evaluates `", $borrow, "memory[start..end]`.")]
        #[inline]
        #[track_caller]
        pub fn $range<M: $trait + ?Sized>(memory: &M, start: impl Index, end: impl Index) -> M::$slice<M::Element> {
            let elements = range(start, end, memory.length());
            memory.$part(bytes(memory, &elements), elements.len())
        }

        #[doc = concat!("Evaluates `", $borrow, "memory[start..=end]`.")]
        #[inline]
        #[track_caller]
        pub fn $inclusive<M: $trait + ?Sized>(memory: &M, start: impl Index, end: impl Index) -> M::$slice<M::Element> {
            let elements = range_inclusive(start, end, memory.length());
            memory.$part(bytes(memory, &elements), elements.len())
        }

        #[doc = concat!("Evaluates `", $borrow, "memory[start..]`.")]
        #[inline]
        #[track_caller]
        pub fn $from<M: $trait + ?Sized>(memory: &M, start: impl Index) -> M::$slice<M::Element> {
            let elements = range(start, memory.length(), memory.length());
            memory.$part(bytes(memory, &elements), elements.len())
        }

        #[doc = concat!("Evaluates `", $borrow, "memory[index]`, for memory that holds arrays.")]
        #[inline]
        #[track_caller]
        pub fn $row<M>(memory: &M, index: impl Index) -> M::$slice<<M::Element as Row>::Element>
        where
            M: $trait<Element: Row> + ?Sized,
        {
            let index = position(index, memory.length());
            memory.$part(bytes(memory, &(index..index + 1)), <M::Element as Row>::LENGTH)
        }

        #[doc = concat!("Evaluates `", $borrow, "memory.chunks(size)[index]`.")]
        #[inline]
        #[track_caller]
        pub fn $chunk<M: $trait + ?Sized>(memory: &M, size: impl Index, index: impl Index) -> M::$slice<M::Element> {
            let elements = chunk_range(size, index, memory.length());
            memory.$part(bytes(memory, &elements), elements.len())
        }

        #[doc = concat!("Evaluates `memory.", stringify!($split), "(mid)`.")]
        #[inline]
        #[track_caller]
        pub fn $split<M>(memory: &M, mid: impl Index) -> (M::$slice<M::Element>, M::$slice<M::Element>)
        where
            M: $trait + ?Sized,
        {
            let left = range(0, mid, memory.length());
            let right = left.end..memory.length();
            (memory.$part(bytes(memory, &left), left.len()), memory.$part(bytes(memory, &right), right.len()))
        }
    };
}

parts!(Sliced, Slice, part: subslice subslice_inclusive subslice_from row chunk split_at; "&");
parts!(SlicedMut, SliceMut, part_mut:
    subslice_mut subslice_inclusive_mut subslice_from_mut row_mut chunk_mut split_at_mut; "&mut ");
