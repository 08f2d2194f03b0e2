//! Rows of a tile in shared memory whose 16-byte units are exchanged, so that the same columns of several rows lie in
//! different banks (PTX ISA, Swizzling modes). The device's implementation is `swizzled.cuh`.

use super::{Addressed, Elements, FilledRow, sealed};
use crate::program::constant::Value;
use crate::program::tensor::check_swizzled;
use crate::program::type_info::{TypeArgument, TypeInfo};
use crate::program::types::{DeviceConstant, DeviceCopy, DeviceScalar, DeviceType};

/// The bytes that are exchanged together.
const UNIT: usize = 16;

/// A row of `N` elements in shared memory, of 32, 64 or 128 bytes, in which the units of 16 bytes lie in another order in each
/// row: unit `u` of the row that starts at byte `a` is at `u ^ (a / 128 % (bytes / 16))`. A matrix whose rows are loaded
/// together, as `warp.load_matrix(..)` does, so comes from all banks without padding, and it is how tensor cores and tensor
/// maps take tiles.
///
/// Kernels index it as they index an array, `tile[row][column]`; only where a column lies differs. It exists in shared memory
/// alone: a row has no value that could be kept elsewhere.
///
/// ```
/// use phalanx::prelude::*;
///
/// /// Transposes a tile of 64 by 64 numbers.
/// #[cluster_kernel(block = 64)]
/// fn transpose(input: &[u16], out: &mut [u16]) {
///     let i = this_thread_block().thread_rank() as usize;
///     let tile = shared_array::<Swizzled<u16, 64>, 64>();
///     for row in 0..64 {
///         tile[row][i] = input[row * 64 + i];
///     }
///     this_thread_block().sync();
///     for row in 0..64 {
///         out[row * 64 + i] = tile[i][row];
///     }
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let input = device.upload(&Vec::from_iter(0..64 * 64))?;
/// let mut out = device.zeros(64 * 64)?;
/// transpose(&input, &mut out).grid(1).launch(&device)?;
/// assert_eq!(out.read()?[..3], [0, 64, 128]);
/// # Ok(())
/// # }
/// ```
///
/// `memcpy_async(&group, &tile[row], slice)` fills a whole row. No row is read or written as a whole otherwise, nor copied by other
/// copies than these and those of tensor maps, because its bytes mean something else at another place:
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// #[cluster_kernel(block = 1)]
/// fn exchange(out: &mut [u16]) {
///     let tile = shared_array::<Swizzled<u16, 64>, 2>();
///     tile[0] = tile[1];
///     out[0] = tile[0][0];
/// }
///
/// let device = Device::simulator();
/// exchange(&mut device.zeros(1).unwrap()).grid(1).launch(&device).unwrap();
/// ```
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct Swizzled<T, const N: usize> {
    elements: [T; N],
}

/// Returns the byte at which a row's byte lies, if the row starts at this byte of its memory.
#[inline]
pub(crate) fn exchanged(byte: usize, start: usize, row: usize) -> usize {
    let phase = start / 128 % (row / UNIT);
    ((byte / UNIT) ^ phase) * UNIT + byte % UNIT
}

impl<T: DeviceScalar, const N: usize> DeviceType for Swizzled<T, N> {
    fn info() -> TypeInfo {
        const { check_swizzled(N * size_of::<T>()) };
        let arguments = vec![TypeArgument::Type(T::info()), TypeArgument::Value(N.scalar())];
        TypeInfo::template::<Self>("swizzled", "swizzled.cuh", arguments)
    }
}

#[diagnostic::do_not_recommend]
impl<T: DeviceScalar, const N: usize> DeviceConstant for Swizzled<T, N> {
    fn value(&self) -> Value {
        self.elements.value()
    }
}

// SAFETY: an array of plain data, in a `repr(transparent)`. No bytes of one become a value, because `LAYOUT` does not compile.
#[diagnostic::do_not_recommend]
unsafe impl<T: DeviceScalar, const N: usize> DeviceCopy for Swizzled<T, N> {
    const LAYOUT: () =
        panic!("a swizzled row has no value of its own: read and write its elements, `tile[row][column]`");
}

impl<T: DeviceScalar, const N: usize> Elements for Swizzled<T, N> {
    type Element = T;
    const LENGTH: usize = N;

    #[inline]
    fn offset(index: usize, start: usize) -> usize {
        const { check_swizzled(N * size_of::<T>()) };
        exchanged(index * size_of::<T>(), start, N * size_of::<T>())
    }

    #[inline]
    fn elements(&self) -> &[T] {
        &self.elements
    }

    #[inline]
    fn elements_mut(&mut self) -> &mut [T] {
        &mut self.elements
    }
}

impl<T: DeviceScalar, const N: usize> FilledRow for Swizzled<T, N> {
    type Element = T;
    type Of<S> = SwizzledRow<S>;
    const LENGTH: usize = N;

    #[inline]
    fn of<S>(elements: S) -> SwizzledRow<S> {
        const { check_swizzled(N * size_of::<T>()) };
        SwizzledRow(elements)
    }
}

/// A swizzled row as the destination of a copy: the memory in which its elements lie, in another order.
#[derive(Debug)]
pub struct SwizzledRow<S>(pub(crate) S);

impl<S: Addressed> SwizzledRow<S> {
    /// The bytes that lie next to each other as in the source.
    pub(crate) const UNIT: usize = UNIT;

    /// Returns the place in the row of a byte of the source.
    pub(crate) fn place(&self, byte: usize) -> usize {
        exchanged(byte, self.0.start(), self.0.length() * size_of::<S::Element>())
    }
}

impl<T, const N: usize> sealed::Sealed for Swizzled<T, N> {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The patterns of CUTLASS's `Swizzle<1, 4, 3>`, `Swizzle<2, 4, 3>` and `Swizzle<3, 4, 3>`, by addresses.
    #[test]
    fn units_are_exchanged_as_the_hardware_does() {
        for (row, bits) in [(32usize, 1), (64, 2), (128, 3)] {
            for address in 0..2048usize {
                let swizzled = address ^ ((address >> 3) & (((1 << bits) - 1) << 4));
                let start = address / row * row;
                assert_eq!(start + exchanged(address - start, start, row), swizzled, "{row} bytes, {address}");
            }
        }
    }
}
