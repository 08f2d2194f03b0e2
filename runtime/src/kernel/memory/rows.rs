//! Rows of shared memory that matrices are loaded from and stored to, by the bytes of some elements of a row.

use super::{Addressed, Elements, Memory, OwnedShared, SharedArray, SharedSlice, Sliced, Swizzled, read_as, write_as};
use crate::program::types::{DeviceCopy, DeviceScalar};
use crate::sim::{MemoryId, Site};

/// The block's own shared memory, of which each element is a row of `T`s. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "no matrix is loaded from or stored to a `{Self}`",
    note = "the elements of a tile are its rows: `shared_array::<[f16; 72], 64>()` has 64 rows of 72",
    note = "`shared_array::<Swizzled<f16, 64>, 64>()` has swizzled rows, which need no padding"
)]
pub trait MatrixMemory<T>: OwnedShared + sealed::MatrixMemory<T> {}

/// The block's own shared memory, of which each element is a swizzled row.
pub trait SwizzledMemory: OwnedShared + Addressed {
    /// The type of the elements of a row.
    type Scalar: DeviceScalar;
    /// The number of elements in a row.
    const COLUMNS: usize;
}

impl<T: DeviceScalar, const C: usize, const N: usize> SwizzledMemory for SharedArray<Swizzled<T, C>, N> {
    type Scalar = T;
    const COLUMNS: usize = C;
}

impl<T: DeviceScalar, const C: usize> SwizzledMemory for SharedSlice<Swizzled<T, C>> {
    type Scalar = T;
    const COLUMNS: usize = C;
}

/// The block's own shared memory with swizzled rows: a tile, or several of the same size.
pub trait SwizzledTiles: OwnedShared + Addressed {
    /// The type of the elements of a row.
    type Scalar: DeviceScalar;
    /// The number of elements in a row.
    const COLUMNS: usize;
    /// Returns the number of tiles, and that of the rows of each.
    fn tiles(&self) -> (usize, usize);
}

macro_rules! tiles {
    ($([$($generics:tt)*] $memory:ty: |$length:ident| $tiles:expr;)*) => {$(
        impl<T: DeviceScalar, const C: usize $($generics)*> SwizzledTiles for $memory {
            type Scalar = T;
            const COLUMNS: usize = C;

            fn tiles(&self) -> (usize, usize) {
                let $length = self.length();
                $tiles
            }
        }
    )*};
}

tiles! {
    [, const N: usize] SharedArray<Swizzled<T, C>, N>: |rows| (1, rows);
    [] SharedSlice<Swizzled<T, C>>: |rows| (1, rows);
    [, const R: usize, const N: usize] SharedArray<[Swizzled<T, C>; R], N>: |tiles| (tiles, R);
    [, const R: usize] SharedSlice<[Swizzled<T, C>; R]>: |tiles| (tiles, R);
}

mod sealed {
    use crate::program::types::DeviceCopy;
    use crate::sim::Site;

    pub trait MatrixMemory<T> {
        /// The number of elements in a row.
        const COLUMNS: usize;
        fn rows(&self) -> usize;
        /// Returns the allocation and the offset of its first byte, which no other memory of the block has.
        fn identity(&self) -> [u64; 2];
        /// Reads as many elements of a row as a `U` has.
        fn read<U: DeviceCopy>(&self, place: (usize, usize), site: Site) -> U;
        /// Writes as many elements of a row as a `U` has.
        fn write<U: DeviceCopy>(&self, place: (usize, usize), value: U, site: Site);
    }
}

macro_rules! rows {
    ($bound:ident [$($generics:tt)*] $memory:ty, $row:ty) => {
        impl<T: $bound, const C: usize $($generics)*> MatrixMemory<T> for $memory {}
        impl<T: $bound, const C: usize $($generics)*> sealed::MatrixMemory<T> for $memory {
            const COLUMNS: usize = C;

            fn rows(&self) -> usize {
                self.length()
            }

            fn identity(&self) -> [u64; 2] {
                let allocation = match self.id() {
                    MemoryId::Shared(shared) => u64::from(shared.allocation),
                    // Shared memory has no address.
                    MemoryId::Own(_) | MemoryId::Constant(_) | MemoryId::Global(_) => u64::MAX,
                };
                [allocation, self.start() as u64]
            }

            fn read<U: DeviceCopy>(&self, (row, column): (usize, usize), site: Site) -> U {
                let start = self.start() + row * size_of::<$row>();
                let start = start + <$row as Elements>::offset(column, start);
                read_as(&self.part::<U>(start, 1), 0, site)
            }

            fn write<U: DeviceCopy>(&self, (row, column): (usize, usize), value: U, site: Site) {
                let start = self.start() + row * size_of::<$row>();
                let start = start + <$row as Elements>::offset(column, start);
                write_as(&self.part::<U>(start, 1), 0, value, site);
            }
        }
    };
}

rows!(DeviceCopy [, const N: usize] SharedArray<[T; C], N>, [T; C]);
rows!(DeviceCopy [] SharedSlice<[T; C]>, [T; C]);
rows!(DeviceScalar [, const N: usize] SharedArray<Swizzled<T, C>, N>, Swizzled<T, C>);
rows!(DeviceScalar [] SharedSlice<Swizzled<T, C>>, Swizzled<T, C>);

impl<T, S: MatrixMemory<T> + ?Sized> MatrixMemory<T> for &S {}
impl<T, S: MatrixMemory<T> + ?Sized> sealed::MatrixMemory<T> for &S {
    const COLUMNS: usize = S::COLUMNS;

    fn rows(&self) -> usize {
        (**self).rows()
    }

    fn identity(&self) -> [u64; 2] {
        (**self).identity()
    }

    fn read<U: DeviceCopy>(&self, place: (usize, usize), site: Site) -> U {
        (**self).read(place, site)
    }

    fn write<U: DeviceCopy>(&self, place: (usize, usize), value: U, site: Site) {
        (**self).write(place, value, site);
    }
}
