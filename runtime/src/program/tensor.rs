//! Tensors and their tiles as data: what a tensor map describes (CUDA driver API, cuTensorMapEncodeTiled). All dimensions
//! stand in the order of indexes, the outermost first. `kernel::tensor` has the copies, `gpu::tensor_map` the driver's call.

use half::{bf16, f16};

use crate::fp8::{e4m3, e5m2};
use crate::program::refusal::Message;
use crate::program::types::DeviceScalar;
use crate::report::tensor::TensorError;

/// The most dimensions that a tensor has.
pub(crate) const MAX_RANK: usize = 5;

/// The most elements that a tile has in a dimension.
const MAX_TILE: usize = 256;

/// The type of a tensor's elements, as a map names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataType {
    /// A byte of an integer or a float: a copy only moves it.
    Byte,
    /// 16 bits of an integer.
    Word,
    /// `u32`
    U32,
    /// `i32`
    I32,
    /// `u64`
    U64,
    /// `i64`
    I64,
    /// `f16`
    F16,
    /// `bf16`
    Bf16,
    /// `f32`
    F32,
    /// `f64`
    F64,
}

/// The type of a tensor's elements. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "there are no tensors of `{Self}`",
    note = "the elements of a tensor are integers of 8 to 64 bits, e4m3, e5m2, f16, bf16, f32 or f64"
)]
pub trait TensorElement: DeviceScalar {
    /// The type as a map names it.
    #[doc(hidden)]
    const DATA_TYPE: DataType;
    /// Returns the value of these bytes.
    #[doc(hidden)]
    fn of_bytes(bytes: &[u8]) -> Self;
    /// Writes the bytes of the value.
    #[doc(hidden)]
    fn write_bytes(self, to: &mut [u8]);
}

macro_rules! elements {
    ($($t:ident: $data_type:ident;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl TensorElement for $t {
            const DATA_TYPE: DataType = DataType::$data_type;
            fn of_bytes(bytes: &[u8]) -> Self {
                let mut of = [0; size_of::<$t>()];
                of.copy_from_slice(bytes);
                <$t>::from_ne_bytes(of)
            }
            fn write_bytes(self, to: &mut [u8]) {
                to.copy_from_slice(&self.to_ne_bytes());
            }
        }
    )*};
}

elements! {
    i8: Byte;
    u8: Byte;
    i16: Word;
    u16: Word;
    i32: I32;
    u32: U32;
    i64: I64;
    u64: U64;
    isize: I64;
    usize: U64;
    f16: F16;
    bf16: Bf16;
    e4m3: Byte;
    e5m2: Byte;
    f32: F32;
    f64: F64;
}

/// The part of a tensor that one copy moves, and how it lies in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileShape {
    pub(crate) data_type: DataType,
    /// The size of an element in bytes.
    pub(crate) element: usize,
    /// The number of dimensions.
    pub(crate) rank: usize,
    /// The number of elements in each dimension.
    pub(crate) dims: [usize; MAX_RANK],
    /// Whether the 16 bytes of a row at a place are exchanged with others of the row.
    pub(crate) swizzled: bool,
}

impl TileShape {
    /// Returns the size of an innermost row in bytes.
    pub(crate) const fn row(&self) -> usize {
        self.dims[self.rank - 1] * self.element
    }

    /// Refuses, when the program is compiled, what no tensor map describes.
    pub(crate) const fn check(&self) {
        let mut dimension = 0;
        while dimension < self.rank {
            let length = self.dims[dimension];
            if length == 0 || length > MAX_TILE {
                let message = Message::new().text("a tile has 1 to 256 elements in each dimension, not ");
                message.number(length).text(": copy it in parts").panic();
            }
            dimension += 1;
        }
        if !self.row().is_multiple_of(16) {
            let message = Message::new().text("the rows of a tile must be a multiple of 16 bytes, not ");
            message.number(self.row()).panic();
        }
        if self.swizzled {
            check_swizzled(self.row());
        }
    }
}

/// Refuses, when the program is compiled, a swizzled row that has another size than a pattern of the hardware.
pub(crate) const fn check_swizzled(bytes: usize) {
    if bytes != 32 && bytes != 64 && bytes != 128 {
        let message = Message::new().text("a swizzled row has 32, 64 or 128 bytes, not ").number(bytes);
        message.text(": change its number of elements, or use an array, which is not swizzled").panic();
    }
}

/// What a load writes for elements outside of the tensor (CUDA driver API, CUtensorMapFloatOOBfill).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Fill {
    #[default]
    Zeros,
    /// The NaN of the hardware, for floats alone.
    Nan,
}

impl Fill {
    /// Returns each 16 bits of what is filled. Those of the NaN are not documented (PTX ISA calls it `OOB-NaN`); the conformance tests compare
    /// them with the hardware's.
    pub(crate) const fn bits(self) -> u16 {
        match self {
            Fill::Zeros => 0,
            Fill::Nan => 0x7ff7,
        }
    }
}

/// Where a tensor's elements lie in its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TensorShape {
    /// The number of dimensions.
    pub(crate) rank: usize,
    /// The number of elements in each dimension.
    pub(crate) dims: [u64; MAX_RANK],
    /// The distance in bytes between two neighbours in each dimension.
    pub(crate) strides: [u64; MAX_RANK],
    /// What stands for the elements outside.
    pub(crate) fill: Fill,
}

impl TensorShape {
    /// Returns a tensor of this shape whose neighbours are so many elements apart, in memory of `len` elements that starts
    /// at this address.
    pub(crate) fn new(
        dims: &[usize],
        strides: &[usize],
        element: usize,
        (address, len): (u64, usize),
    ) -> Result<TensorShape, TensorError> {
        let rank = dims.len();
        if rank == 0 || rank > MAX_RANK {
            return Err(TensorError::Rank { rank });
        }
        if !address.is_multiple_of(16) {
            return Err(TensorError::Misaligned { past: address % 16 });
        }
        let mut shape = TensorShape { rank, dims: [1; MAX_RANK], strides: [0; MAX_RANK], fill: Fill::Zeros };
        let mut last = 0u128;
        for (dimension, (&length, &stride)) in dims.iter().zip(strides).enumerate() {
            if length == 0 || length as u64 > 1 << 32 {
                return Err(TensorError::Length { dimension, length });
            }
            let bytes = (stride as u64).saturating_mul(element as u64);
            match dimension == rank - 1 {
                true if stride != 1 => return Err(TensorError::InnerStride { stride }),
                true => {}
                false if !bytes.is_multiple_of(16) || bytes == 0 || bytes >= 1 << 40 => {
                    return Err(TensorError::Stride { dimension, bytes });
                }
                false => {}
            }
            last += (length as u128 - 1) * stride as u128;
            shape.dims[dimension] = length as u64;
            shape.strides[dimension] = bytes;
        }
        match last < len as u128 {
            true => Ok(shape),
            false => Err(TensorError::OutOfBounds { last, len }),
        }
    }

    /// Returns the strides of a tensor without gaps, in elements.
    pub(crate) fn dense<const R: usize>(dims: [usize; R]) -> [usize; R] {
        let mut strides = [1usize; R];
        for dimension in (1..R).rev() {
            strides[dimension - 1] = strides[dimension].saturating_mul(dims[dimension]);
        }
        strides
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF_BUFFER: (u64, usize) = (0, 4096);

    #[test]
    fn a_dense_tensor_is_row_major() {
        let shape = TensorShape::new(&[4, 8, 16], &TensorShape::dense([4, 8, 16]), 4, OF_BUFFER).unwrap();
        assert_eq!((&shape.dims[..3], &shape.strides[..3]), (&[4, 8, 16][..], &[512, 64, 4][..]));
    }

    #[test]
    fn every_limit_is_checked() {
        let of = |dims: &[usize], strides: &[usize]| TensorShape::new(dims, strides, 4, OF_BUFFER).unwrap_err();
        assert_eq!(of(&[], &[]), TensorError::Rank { rank: 0 });
        assert_eq!(of(&[1; 6], &[4; 6]), TensorError::Rank { rank: 6 });
        assert_eq!(of(&[4, 0], &[4, 1]), TensorError::Length { dimension: 1, length: 0 });
        assert_eq!(of(&[4, 4], &[4, 2]), TensorError::InnerStride { stride: 2 });
        assert_eq!(of(&[4, 5], &[5, 1]), TensorError::Stride { dimension: 0, bytes: 20 });
        assert_eq!(of(&[4, 4], &[1 << 38, 1]), TensorError::Stride { dimension: 0, bytes: 1 << 40 });
        assert_eq!(of(&[65, 64], &[64, 1]), TensorError::OutOfBounds { last: 4159, len: 4096 });
        let misaligned = TensorShape::new(&[4], &[1], 4, (24, 4)).unwrap_err();
        assert_eq!(misaligned, TensorError::Misaligned { past: 8 });
        assert_eq!(of(&[(1 << 32) + 1], &[1]), TensorError::Length { dimension: 0, length: (1 << 32) + 1 });
    }
}
