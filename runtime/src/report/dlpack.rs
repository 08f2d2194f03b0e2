//! What keeps a tensor of another library, which came by DLPack, from being memory for a kernel.

/// A tensor that is no memory for a kernel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DlpackError {
    /// It is on another device.
    #[error("the tensor is on {found}, and the kernel would run on {expected}; move the tensor, or open its device")]
    Device {
        /// The device of the kernel.
        expected: String,
        /// Where the tensor is.
        found: String,
    },
    /// Its elements are of another type.
    #[error("the tensor has elements of {found}, not {expected}; convert it where it comes from")]
    Element {
        /// The type of the view.
        expected: String,
        /// The type of the tensor, as DLPack describes it.
        found: String,
    },
    /// Its elements do not follow each other.
    #[error(
        "the tensor of shape {shape:?} has strides {strides:?}, so that its elements do not follow each other; make it contiguous first"
    )]
    NotContiguous {
        /// The shape.
        shape: Vec<usize>,
        /// The distances of neighbours, in elements.
        strides: Vec<i64>,
    },
    /// It has more elements than there are addresses, or a negative number of them.
    #[error("the tensor's shape {0:?} is none of memory")]
    Shape(Vec<i64>),
}
