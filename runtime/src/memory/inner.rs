//! An element that is an array itself, seen as memory: `grid[y][x]` touches the bytes of one inner element, not of the
//! whole row.

use super::index::position;
use super::{Addressed, Index, Memory, MemoryMut, sealed};
use crate::sim::{MemoryId, Site};
use crate::types::DeviceCopy;

/// `memory[index]`, where the elements of `memory` are arrays. From [`inner`].
#[derive(Debug)]
pub struct Inner<'m, M: ?Sized> {
    memory: &'m M,
    index: usize,
}

/// `memory[index]` as memory, for a second index.
#[inline]
#[track_caller]
pub fn inner<M: Addressed + ?Sized, I: Index>(memory: &M, index: I) -> Inner<'_, M> {
    Inner { memory, index: position(index, memory.length()) }
}

impl<M: ?Sized> sealed::Sealed for Inner<'_, M> {}

impl<M: Addressed<Element = [T; N]> + ?Sized, T: DeviceCopy, const N: usize> Memory for Inner<'_, M> {
    type Element = T;

    #[inline]
    fn length(&self) -> usize {
        N
    }

    #[inline]
    fn read(&self, index: usize, site: Site) -> T {
        super::read(self, index, site)
    }
}

impl<M: Addressed<Element = [T; N]> + ?Sized, T: DeviceCopy, const N: usize> Addressed for Inner<'_, M> {
    #[inline]
    fn id(&self) -> MemoryId {
        self.memory.id()
    }

    #[inline]
    fn first(&self) -> usize {
        (self.memory.first() + self.index) * N
    }
}

impl<M: MemoryMut<Element = [T; N]> + ?Sized, T: DeviceCopy, const N: usize> MemoryMut for Inner<'_, M> {}
