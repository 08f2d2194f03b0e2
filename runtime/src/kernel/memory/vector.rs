//! Vectors of up to 16 bytes, which a GPU loads or stores with one instruction. They have no arithmetic of their own;
//! their lanes do.

use std::any::TypeId;
use std::fmt;
use std::panic::Location;

use half::{bf16, f16};

use super::slice::out_of_bounds;
use super::{Addressed, Index, MemoryMut, read_as, write_as};
use crate::fp8::{e4m3, e5m2};
use crate::program::constant::Value;
use crate::program::type_info::{TypeArgument, TypeInfo};
use crate::program::types::{DeviceConstant, DeviceCopy, DeviceScalar, DeviceType};
use crate::report::failure::Cause;
use crate::sim::fail_at;

/// `N` scalars of at most 16 bytes together, aligned to their size, which `load_vec` and `store_vec` move at once (PTX
/// ISA, ld and st, `.v2` and `.v4`). In a kernel, `v[k]` reads and writes a lane.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[cluster_kernel(block = 8)]
/// fn double(values: &mut [f32]) {
///     let i = this_grid().thread_rank() * 4;
///     let mut v = values.load_vec::<4>(i);
///     for k in 0..v.len() {
///         v[k] *= 2.0;
///     }
///     values.store_vec(i, v);
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let mut values = device.upload(&[1.5; 32])?;
/// double(&mut values).grid(1).launch(&device)?;
/// assert_eq!(values.read()?, [3.0; 32]);
/// // On the host:
/// let v = f32x4::new([1.0, 2.0, 3.0, 4.0]);
/// assert_eq!(v.lanes()[2], 3.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Vector<T: VectorElement<N>, const N: usize> {
    alignment: [T::Alignment; 0],
    lanes: [T; N],
}

/// A scalar that has vectors of `N` lanes. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "there is no vector of {N} `{Self}`",
    note = "a vector holds 1, 2, 4, 8 or 16 scalars, and at most 16 bytes"
)]
pub trait VectorElement<const N: usize>: DeviceScalar + sealed::Sealed {
    /// A type with the vector's alignment.
    #[doc(hidden)]
    type Alignment: Copy + Send + Sync + 'static;
    /// The short name of the vector in the text, or an empty text.
    #[doc(hidden)]
    const NAME: &'static str;
}

mod sealed {
    pub trait Sealed {}
}

/// Empty types with an alignment.
mod aligned {
    #[derive(Debug, Clone, Copy)]
    #[repr(align(2))]
    pub struct To2;
    #[derive(Debug, Clone, Copy)]
    #[repr(align(4))]
    pub struct To4;
    #[derive(Debug, Clone, Copy)]
    #[repr(align(8))]
    pub struct To8;
    #[derive(Debug, Clone, Copy)]
    #[repr(align(16))]
    pub struct To16;
}

macro_rules! vectors {
    ($($t:ident: $($n:literal $alignment:ty $(= $name:ident $($of_rust:ident)?)?),*;)*) => {
        $(
            impl sealed::Sealed for $t {}
            $(
                #[diagnostic::do_not_recommend]
                impl VectorElement<$n> for $t {
                    type Alignment = $alignment;
                    const NAME: &'static str = vectors!(@name $($name $($of_rust)?)?);
                }
            )*
        )*

        /// The vectors by name, as in `std::simd`.
        #[allow(non_camel_case_types, reason = "named as in `std::simd`")]
        pub mod vectors {
            use super::{Vector, bf16, e4m3, e5m2, f16};
            $($($(
                #[doc = concat!("A vector of ", $n, " `", stringify!($t), "`.")]
                pub type $name = Vector<$t, $n>;
            )?)*)*
        }
    };
    (@name $name:ident) => { stringify!($name) };
    (@name $($name:ident in_rust)?) => { "" };
}

use aligned::{To2, To4, To8, To16};

// The text has no short names for what few kernels use: those of `e4m3` and `e5m2` would need a header of their own.
vectors! {
    bool: 1 (), 2 To2, 4 To4, 8 To8, 16 To16;
    i8: 1 (), 2 To2 = i8x2, 4 To4 = i8x4, 8 To8 = i8x8, 16 To16 = i8x16;
    u8: 1 (), 2 To2 = u8x2, 4 To4 = u8x4, 8 To8 = u8x8, 16 To16 = u8x16;
    e4m3: 1 (), 2 To2 = e4m3x2 in_rust, 4 To4 = e4m3x4 in_rust, 8 To8 = e4m3x8 in_rust, 16 To16 = e4m3x16 in_rust;
    e5m2: 1 (), 2 To2 = e5m2x2 in_rust, 4 To4 = e5m2x4 in_rust, 8 To8 = e5m2x8 in_rust, 16 To16 = e5m2x16 in_rust;
    i16: 1 To2, 2 To4 = i16x2, 4 To8 = i16x4, 8 To16 = i16x8;
    u16: 1 To2, 2 To4 = u16x2, 4 To8 = u16x4, 8 To16 = u16x8;
    f16: 1 To2, 2 To4 = f16x2, 4 To8 = f16x4, 8 To16 = f16x8;
    bf16: 1 To2, 2 To4 = bf16x2, 4 To8 = bf16x4, 8 To16 = bf16x8;
    i32: 1 To4, 2 To8 = i32x2, 4 To16 = i32x4;
    u32: 1 To4, 2 To8 = u32x2, 4 To16 = u32x4;
    f32: 1 To4, 2 To8 = f32x2, 4 To16 = f32x4;
    i64: 1 To8, 2 To16 = i64x2;
    u64: 1 To8, 2 To16 = u64x2;
    f64: 1 To8, 2 To16 = f64x2;
    isize: 1 To8, 2 To16;
    usize: 1 To8, 2 To16;
    i128: 1 To16;
    u128: 1 To16;
}

impl<T: VectorElement<N>, const N: usize> Vector<T, N> {
    /// Returns a vector of these lanes.
    #[inline]
    pub const fn new(lanes: [T; N]) -> Self {
        Vector { alignment: [], lanes }
    }

    /// Returns a vector with the same value in all lanes.
    #[inline]
    pub const fn splat(value: T) -> Self {
        Vector::new([value; N])
    }

    /// Returns `N`.
    #[inline]
    pub const fn len(&self) -> usize {
        N
    }

    /// Returns `false`, because every vector has a lane.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        N == 0
    }

    /// Returns the lanes.
    #[inline]
    pub const fn lanes(&self) -> &[T; N] {
        &self.lanes
    }

    /// Returns the lanes for writing.
    #[inline]
    pub const fn lanes_mut(&mut self) -> &mut [T; N] {
        &mut self.lanes
    }
}

impl<T: VectorElement<N> + PartialEq, const N: usize> PartialEq for Vector<T, N> {
    fn eq(&self, other: &Self) -> bool {
        self.lanes == other.lanes
    }
}

impl<T: VectorElement<N> + fmt::Debug, const N: usize> fmt::Debug for Vector<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.lanes).finish()
    }
}

#[diagnostic::do_not_recommend]
impl<T: VectorElement<N>, const N: usize> DeviceType for Vector<T, N> {
    fn info() -> TypeInfo {
        match T::NAME {
            "" => {
                let arguments = vec![TypeArgument::Type(T::info()), TypeArgument::Value(N.scalar())];
                TypeInfo::template::<Self>("vector", "lanes.cuh", arguments)
            }
            name => TypeInfo::template::<Self>(name, "lanes.cuh", Vec::new()),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T: VectorElement<N>, const N: usize> DeviceConstant for Vector<T, N> {
    fn value(&self) -> Value {
        Value::Elements(self.lanes.iter().map(T::value).collect())
    }
}

// SAFETY: there is no padding between the lanes, and none after them, because the size is the alignment. They are plain
// data.
#[diagnostic::do_not_recommend]
unsafe impl<T: VectorElement<N>, const N: usize> DeviceCopy for Vector<T, N> {
    fn scalar_type() -> TypeId {
        T::scalar_type()
    }
}

/// Returns the vector. Generated code calls it, so that rustc rejects a constructor that is not a vector's.
#[inline]
pub fn vector<T: VectorElement<N>, const N: usize>(value: Vector<T, N>) -> Vector<T, N> {
    value
}

/// Evaluates `memory.load_vec::<N>(index)`, the elements from `index` to `index + N`.
#[inline]
#[track_caller]
pub fn load_vec<M, const N: usize>(memory: &M, index: impl Index) -> Vector<M::Element, N>
where
    M: Addressed<Element: VectorElement<N>> + ?Sized,
{
    read_as(memory, place::<M, N>(memory, index), Location::caller())
}

/// Executes `memory.store_vec(index, value)`, which writes the elements from `index` to `index + N`.
#[inline]
#[track_caller]
pub fn store_vec<M, const N: usize>(memory: &M, index: impl Index, value: Vector<M::Element, N>)
where
    M: MemoryMut<Element: VectorElement<N>> + ?Sized,
{
    write_as(memory, place::<M, N>(memory, index), value, Location::caller());
}

/// Returns the index, if `N` elements from there on lie in the memory and the first is aligned for a vector. All memory
/// starts at a multiple of 16 bytes, here as on the device.
#[inline]
#[track_caller]
fn place<M: Addressed + ?Sized, const N: usize>(memory: &M, index: impl Index) -> usize {
    let (size, length) = (size_of::<M::Element>(), memory.length());
    let at = index.to_usize();
    if at > length || N > length - at {
        out_of_bounds(index.to_i128(), index.to_i128() + N as i128, false, length);
    }
    if !(memory.start() + at * size).is_multiple_of(N * size) {
        let cause = Cause::MisalignedVector { index: index.to_i128(), bytes: (N * size) as u64 };
        fail_at(cause, Location::caller());
    }
    at
}
