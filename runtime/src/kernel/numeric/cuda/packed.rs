//! CUDA's functions of two packed halves: `__half2` is `f16x2`, and `__nv_bfloat162` is `bf16x2`. The hardware computes both by one instruction.
//! Each lane is rounded once, as that of the same operation of one number.

use half::{bf16, f16};

use crate::kernel::memory::{Vector, VectorElement};
use crate::kernel::numeric::{Float, abs, add, max, min, mul, mul_add, neg, sub};

/// A float of which a word holds two: `f16` or `bf16`. The trait is sealed.
#[diagnostic::on_unimplemented(message = "`{Self}` is not `f16` or `bf16`, of which a word holds two")]
pub trait PackedFloat: Float + VectorElement<2> + sealed::Sealed {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! packed_floats {
    ($($t:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl PackedFloat for $t {}
        impl sealed::Sealed for $t {}
    )*};
}

packed_floats!(f16 bf16);

/// The sums of lanes: `__hadd2`.
///
/// ```
/// use phalanx::prelude::*;
///
/// /// `a * x + y`, two numbers at a time.
/// #[cluster_kernel(block = 32)]
/// fn axpy(a: f16, x: &[f16], y: &mut [f16]) {
///     let i = this_grid().thread_rank() * 2;
///     let sum = cuda::hfma2(f16x2::splat(a), x.load_vec::<2>(i), y.load_vec::<2>(i));
///     y.store_vec(i, cuda::hmax2(sum, f16x2::splat(f16::ZERO)));
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let x = device.upload(&Vec::from_iter((0..64).map(|i| f16::from_f32(i as f32 - 8.0))))?;
/// let mut y = device.upload(&[f16::ONE; 64])?;
/// axpy(f16::from_f32(0.5), &x, &mut y).grid(1).launch(&device)?;
/// assert_eq!(y.read()?[..10].iter().map(|y| y.to_f32()).sum::<f32>(), 0.5 + 1.0 + 1.5);
/// # Ok(())
/// # }
/// ```
#[inline]
pub fn hadd2<T: PackedFloat>(a: Vector<T, 2>, b: Vector<T, 2>) -> Vector<T, 2> {
    by_lane(a, b, add)
}

/// The differences of lanes: `__hsub2`.
#[inline]
pub fn hsub2<T: PackedFloat>(a: Vector<T, 2>, b: Vector<T, 2>) -> Vector<T, 2> {
    by_lane(a, b, sub)
}

/// The products of lanes: `__hmul2`.
#[inline]
pub fn hmul2<T: PackedFloat>(a: Vector<T, 2>, b: Vector<T, 2>) -> Vector<T, 2> {
    by_lane(a, b, mul)
}

/// `a * b + c` of lanes, rounded once: `__hfma2`.
#[inline]
pub fn hfma2<T: PackedFloat>(a: Vector<T, 2>, b: Vector<T, 2>, c: Vector<T, 2>) -> Vector<T, 2> {
    let (a, b, c) = (a.lanes(), b.lanes(), c.lanes());
    Vector::new(std::array::from_fn(|i| mul_add(a[i], b[i], c[i])))
}

/// The minima of lanes, as `a.min(b)`: `__hmin2`.
#[inline]
pub fn hmin2<T: PackedFloat>(a: Vector<T, 2>, b: Vector<T, 2>) -> Vector<T, 2> {
    by_lane(a, b, min)
}

/// The maxima of lanes, as `a.max(b)`: `__hmax2`.
#[inline]
pub fn hmax2<T: PackedFloat>(a: Vector<T, 2>, b: Vector<T, 2>) -> Vector<T, 2> {
    by_lane(a, b, max)
}

/// The lanes with the opposite signs: `__hneg2`.
#[inline]
pub fn hneg2<T: PackedFloat>(a: Vector<T, 2>) -> Vector<T, 2> {
    Vector::new(a.lanes().map(neg))
}

/// The lanes without signs: `__habs2`.
#[inline]
pub fn habs2<T: PackedFloat>(a: Vector<T, 2>) -> Vector<T, 2> {
    Vector::new(a.lanes().map(abs))
}

fn by_lane<T: PackedFloat>(a: Vector<T, 2>, b: Vector<T, 2>, value: fn(T, T) -> T) -> Vector<T, 2> {
    let (a, b) = (a.lanes(), b.lanes());
    Vector::new(std::array::from_fn(|i| value(a[i], b[i])))
}
