//! The types of tiles: arrays of up to five dimensions whose rows may be swizzled, and what a tensor map needs to know of
//! each.

use half::{bf16, f16};

use crate::kernel::memory::Swizzled;
use crate::program::tensor::{MAX_RANK, TensorElement, TileShape};
use crate::program::types::DeviceCopy;

/// A tile of a tensor, as it lies in shared memory: an array of 1 to 5 dimensions, `[[f32; 32]; 8]`, or one with swizzled
/// rows, `[Swizzled<bf16, 64>; 128]`. The trait is sealed.
///
/// It has at most 256 elements in each dimension, and its rows are a multiple of 16 bytes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tile of a tensor",
    note = "a tile is an array of 1 to 5 dimensions, `[[f32; 32]; 8]`, or one with swizzled rows, `[Swizzled<bf16, 64>; 128]`"
)]
pub trait TensorTile: DeviceCopy + sealed::Sealed {
    /// The type of the elements.
    type Element: TensorElement;
    /// What the tile is an array of.
    #[doc(hidden)]
    type Part: DeviceCopy;
    /// A number for each dimension, `[i32; 2]`.
    type Coordinates: AsRef<[i32]> + Copy;
    #[doc(hidden)]
    const SHAPE: TileShape;
    /// The number of `Part`s.
    #[doc(hidden)]
    const LENGTH: usize;
}

mod sealed {
    pub trait Sealed {}
}

/// Checks when the program is compiled that a tensor map describes the tile.
pub const fn tensor_tile<T: TensorTile>() {
    T::SHAPE.check();
}

const fn shape<T: TensorElement>(rank: usize, dims: [usize; MAX_RANK], swizzled: bool) -> TileShape {
    TileShape { data_type: T::DATA_TYPE, element: size_of::<T>(), rank, dims, swizzled }
}

macro_rules! tiles {
    ($($rank:literal: $part:ty, [$($n:ident)*], [$($dim:expr),*], $swizzled:literal;)*) => {$(
        impl<T: TensorElement, $(const $n: usize),*> sealed::Sealed for [$part; A] {}
        #[diagnostic::do_not_recommend]
        impl<T: TensorElement, $(const $n: usize),*> TensorTile for [$part; A] {
            type Element = T;
            type Part = $part;
            type Coordinates = [i32; $rank];
            const SHAPE: TileShape = shape::<T>($rank, [$($dim),*], $swizzled);
            const LENGTH: usize = A;
        }
    )*};
}

tiles! {
    1: T, [A], [A, 1, 1, 1, 1], false;
    2: [T; B], [A B], [A, B, 1, 1, 1], false;
    3: [[T; C]; B], [A B C], [A, B, C, 1, 1], false;
    4: [[[T; D]; C]; B], [A B C D], [A, B, C, D, 1], false;
    5: [[[[T; E]; D]; C]; B], [A B C D E], [A, B, C, D, E], false;
    2: Swizzled<T, B>, [A B], [A, B, 1, 1, 1], true;
    3: [Swizzled<T, C>; B], [A B C], [A, B, C, 1, 1], true;
    4: [[Swizzled<T, D>; C]; B], [A B C D], [A, B, C, D, 1], true;
    5: [[[Swizzled<T, E>; D]; C]; B], [A B C D E], [A, B, C, D, E], true;
}

/// An element that copies to a tensor add (PTX ISA, cp.reduce.async.bulk.tensor). The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "no copy adds to elements of type `{Self}`",
    note = "`reduce_add_async` takes u32, i32, u64, f16, bf16 and f32"
)]
pub trait AddedElement: TensorElement {
    #[doc(hidden)]
    fn added(self, other: Self) -> Self;
}

/// An element that copies to a tensor take the smaller or the larger of. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "no copy compares with elements of type `{Self}`",
    note = "`reduce_min_async` and `reduce_max_async` take u32, i32, u64, i64, f16 and bf16"
)]
pub trait ComparedElement: TensorElement {
    #[doc(hidden)]
    fn smaller(self, other: Self) -> Self;
    #[doc(hidden)]
    fn larger(self, other: Self) -> Self;
}

/// An element that copies to a tensor combine bit by bit. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "no copy combines the bits of elements of type `{Self}`",
    note = "`reduce_and_async`, `reduce_or_async` and `reduce_xor_async` take u32, i32 and u64"
)]
pub trait BitsElement: TensorElement {
    #[doc(hidden)]
    fn and(self, other: Self) -> Self;
    #[doc(hidden)]
    fn or(self, other: Self) -> Self;
    #[doc(hidden)]
    fn xor(self, other: Self) -> Self;
}

macro_rules! reduced {
    (add: $($added:ident: $add:expr),*; compare: $($compared:ident)*; floats: $($float:ident)*; bits: $($bits:ident)*;) => {
        $(
            #[diagnostic::do_not_recommend]
            impl AddedElement for $added {
                fn added(self, other: Self) -> Self {
                    let add: fn($added, $added) -> $added = $add;
                    add(self, other)
                }
            }
        )*
        $(
            #[diagnostic::do_not_recommend]
            impl ComparedElement for $compared {
                fn smaller(self, other: Self) -> Self {
                    self.min(other)
                }
                fn larger(self, other: Self) -> Self {
                    self.max(other)
                }
            }
        )*
        $(
            #[diagnostic::do_not_recommend]
            impl ComparedElement for $float {
                fn smaller(self, other: Self) -> Self {
                    $float::from_f32(self.to_f32().min(other.to_f32()))
                }
                fn larger(self, other: Self) -> Self {
                    $float::from_f32(self.to_f32().max(other.to_f32()))
                }
            }
        )*
        $(
            #[diagnostic::do_not_recommend]
            impl BitsElement for $bits {
                fn and(self, other: Self) -> Self {
                    self & other
                }
                fn or(self, other: Self) -> Self {
                    self | other
                }
                fn xor(self, other: Self) -> Self {
                    self ^ other
                }
            }
        )*
    };
}

reduced! {
    add:
        u32: u32::wrapping_add,
        i32: i32::wrapping_add,
        u64: u64::wrapping_add,
        f16: |a, b| f16::from_f32(a.to_f32() + b.to_f32()),
        bf16: |a, b| bf16::from_f32(a.to_f32() + b.to_f32()),
        f32: |a, b| a + b;
    compare: u32 i32 u64 i64;
    floats: f16 bf16;
    bits: u32 i32 u64;
}
