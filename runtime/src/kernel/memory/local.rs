//! Local arrays and vectors, which belong to one thread and are plain Rust values with a checked index. They are not
//! simulated memory, because no other thread can access them.

use super::index::position;
use super::{Index, Memory, Vector, VectorElement, sealed};
use crate::program::types::DeviceCopy;
use crate::sim::Site;

/// A value that consists of elements of one type: an array, a vector, or a lane's part of a matrix.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be indexed in a kernel",
    note = "arrays, vectors and matrices can; where a type has `Index`, write a method of its `#[device] impl`, `m.at(row, column)`"
)]
pub trait Elements {
    /// The type of the elements.
    type Element;
    #[doc(hidden)]
    const LENGTH: usize;
    /// Returns the offset in bytes of an element of a value that starts at this byte of its memory.
    #[doc(hidden)]
    #[inline]
    fn offset(index: usize, _start: usize) -> usize {
        index * size_of::<Self::Element>()
    }
    #[doc(hidden)]
    fn elements(&self) -> &[Self::Element];
    #[doc(hidden)]
    fn elements_mut(&mut self) -> &mut [Self::Element];
}

impl<T, const N: usize> Elements for [T; N] {
    type Element = T;
    const LENGTH: usize = N;
    #[inline]
    fn elements(&self) -> &[T] {
        self
    }
    #[inline]
    fn elements_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<T: VectorElement<N>, const N: usize> Elements for Vector<T, N> {
    type Element = T;
    const LENGTH: usize = N;
    #[inline]
    fn elements(&self) -> &[T] {
        self.lanes()
    }
    #[inline]
    fn elements_mut(&mut self) -> &mut [T] {
        self.lanes_mut()
    }
}

/// Evaluates `array.len()`.
#[inline]
pub fn array_len<A: Elements>(_array: &A) -> usize {
    A::LENGTH
}

/// Evaluates `&array[index]`.
#[inline]
#[track_caller]
pub fn element<A: Elements, I: Index>(array: &A, index: I) -> &A::Element {
    let elements = array.elements();
    &elements[position(index, elements.len())]
}

/// Evaluates `&mut array[index]`.
#[inline]
#[track_caller]
pub fn element_mut<A: Elements, I: Index>(array: &mut A, index: I) -> &mut A::Element {
    let elements = array.elements_mut();
    &mut elements[position(index, elements.len())]
}

/// Evaluates `&mut array[index]` where the index is evaluated before the array is borrowed.
#[inline]
#[track_caller]
pub fn element_at_mut<A: Elements, I: Index>(index: I, array: &mut A) -> &mut A::Element {
    element_mut(array, index)
}

/// The index of an element of an array on which a method is called: rustc decides, by the method, whether it borrows the
/// element mutably.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct At<I>(pub I);

/// Implements Rust's indexing by index types for a type with elements.
macro_rules! indexed {
    ($element:ty, $array:ty, $index:ty, [$($generics:tt)*]) => {
        impl<I: $crate::kernel::memory::Index, $($generics)*> std::ops::Index<$index> for $array {
            type Output = $element;
            #[inline]
            #[track_caller]
            fn index(&self, index: $index) -> &$element {
                $crate::kernel::memory::element(self, index)
            }
        }

        impl<I: $crate::kernel::memory::Index, $($generics)*> std::ops::IndexMut<$index> for $array {
            #[inline]
            #[track_caller]
            fn index_mut(&mut self, index: $index) -> &mut $element {
                $crate::kernel::memory::element_mut(self, index)
            }
        }
    };
}
pub(crate) use indexed;

indexed!(T, [T; N], At<I>, [T, const N: usize]);
indexed!(T, Vector<T, N>, I, [T: VectorElement<N>, const N: usize]);

impl<T, const N: usize> sealed::Sealed for [T; N] {}

impl<T: DeviceCopy, const N: usize> Memory for [T; N] {
    type Element = T;

    #[inline]
    fn length(&self) -> usize {
        N
    }

    #[inline]
    fn read(&self, index: usize, _site: Site) -> T {
        self[index]
    }
}
