//! Local arrays: a thread's own, so plain Rust arrays with a checked index. Not simulated memory: nobody else can
//! see them.

use super::index::position;
use super::{Index, Memory, sealed};
use crate::sim::Site;
use crate::types::DeviceCopy;

/// `&array[index]`.
#[inline]
#[track_caller]
pub fn element<T, I: Index, const N: usize>(array: &[T; N], index: I) -> &T {
    &array[position(index, N)]
}

/// `&mut array[index]`.
#[inline]
#[track_caller]
pub fn element_mut<T, I: Index, const N: usize>(array: &mut [T; N], index: I) -> &mut T {
    &mut array[position(index, N)]
}

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
