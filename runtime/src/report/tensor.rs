//! What is wrong with a tensor that a host program makes of a buffer: the limits of tensor maps (CUDA driver API,
//! cuTensorMapEncodeTiled).

/// A buffer, a shape and strides of which no tensor is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorError {
    /// The number of dimensions is not 1 to 5.
    #[error("a tensor has 1 to 5 dimensions, not {rank}")]
    Rank {
        /// The number of dimensions.
        rank: usize,
    },
    /// A dimension has no elements, or too many.
    #[error("a tensor has 1 to 2^32 elements in each dimension, but {length} in dimension {dimension}")]
    Length {
        /// The dimension, counted from 0 for the outermost.
        dimension: usize,
        /// The number of its elements.
        length: usize,
    },
    /// The elements of the innermost dimension do not follow each other.
    #[error("the innermost stride of a tensor is 1, because its rows are contiguous, but this one is {stride}")]
    InnerStride {
        /// The distance between two neighbours, in elements.
        stride: usize,
    },
    /// The distance between two neighbours is no multiple of 16 bytes, or too large.
    #[error(
        "the strides of a tensor must be multiples of 16 bytes, from 16 to 2^40 - 16, but that of dimension {dimension} is {bytes} \
         bytes; pad its rows"
    )]
    Stride {
        /// The dimension, counted from 0 for the outermost.
        dimension: usize,
        /// The distance between two neighbours, in bytes.
        bytes: u64,
    },
    /// The first element does not lie at a multiple of 16 bytes.
    #[error("a tensor must start at a multiple of 16 bytes, but this part of a buffer starts {past} bytes past one")]
    Misaligned {
        /// The address modulo 16.
        past: u64,
    },
    /// The last element does not lie in the buffer.
    #[error("the last element of the tensor is that at index {last}, but the buffer has {len} elements")]
    OutOfBounds {
        /// The index of the last element in the buffer.
        last: u128,
        /// The number of elements of the buffer.
        len: usize,
    },
}
