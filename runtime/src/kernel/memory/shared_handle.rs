//! The common part of all handles of shared memory, a block's own and a peer's: the identity of the memory in the
//! simulator, and the block that owns it.

use super::sealed;

/// Shared memory with an owner, which `query_shared_rank` takes.
#[diagnostic::on_unimplemented(message = "`{Self}` is not shared memory")]
pub trait Shared: sealed::Sealed {
    #[doc(hidden)]
    fn rank(&self) -> u32;
}

impl<S: Shared + ?Sized> Shared for &S {
    #[inline]
    fn rank(&self) -> u32 {
        (**self).rank()
    }
}

/// Implements the traits that all shared memory has, own and remote.
macro_rules! shared_memory {
    ($name:ident<T $(, const $n:ident: usize)?>, $self:ident => $length:expr, $start:expr, $slice:ident) => {
        impl<T $(, const $n: usize)?> $crate::kernel::memory::sealed::Sealed for $name<T $(, $n)?> {}

        impl<T: DeviceCopy $(, const $n: usize)?> $crate::kernel::memory::Memory for $name<T $(, $n)?> {
            type Element = T;

            #[inline]
            fn length(&$self) -> usize {
                $length
            }

            #[inline]
            fn read(&self, index: usize, site: $crate::sim::Site) -> T {
                $crate::kernel::memory::read(self, index, site)
            }
        }

        impl<T: DeviceCopy $(, const $n: usize)?> $crate::kernel::memory::Addressed for $name<T $(, $n)?> {
            #[inline]
            fn id(&self) -> $crate::sim::MemoryId {
                $crate::sim::MemoryId::Shared(self.id)
            }

            #[inline]
            fn start(&$self) -> usize {
                $start
            }
        }

        impl<T: DeviceCopy $(, const $n: usize)?> $crate::kernel::memory::Sliced for $name<T $(, $n)?> {
            type Slice<U: DeviceCopy> = $slice<U>;

            #[inline]
            fn part<U: DeviceCopy>(&self, start: usize, length: usize) -> $slice<U> {
                $slice::new(self.id, start, length)
            }
        }

        impl<T: DeviceCopy $(, const $n: usize)?> $crate::kernel::memory::SlicedMut for $name<T $(, $n)?> {
            type SliceMut<U: DeviceCopy> = $slice<U>;

            #[inline]
            fn part_mut<U: DeviceCopy>(&self, start: usize, length: usize) -> $slice<U> {
                $slice::new(self.id, start, length)
            }
        }

        impl<T: DeviceCopy $(, const $n: usize)?> $crate::kernel::memory::MemoryMut for $name<T $(, $n)?> {}

        impl<T: DeviceCopy $(, const $n: usize)?> $crate::kernel::memory::Shared for $name<T $(, $n)?> {
            #[inline]
            fn rank(&self) -> u32 {
                self.id.rank
            }
        }
    };
}

pub(super) use shared_memory;
