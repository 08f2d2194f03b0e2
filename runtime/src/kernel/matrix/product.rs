//! The arithmetic of `warp.mma(a, b, c)`, for one lane's elements of the result. A product of floats is exact and is added to
//! the sum in `f32`, in the order of the columns of `a`, beginning with the element of `c`; each addition is rounded to
//! nearest. A sum of `f16` is rounded once more at the end. Integers are exact, and wrap around. Hardware adds floats in
//! another order and rounds sums of several products at once, so that its results differ in the last bits.

use half::{bf16, f16};

use super::{
    Accumulator, AccumulatorElement, ElementOfA, ElementOfB, Matrix, MatrixA, MatrixB, MatrixElement, ValueOf, tf32,
};
use crate::fp8::{e4m3, e5m2};

/// A left operand that `mma` multiplies by a `B`, and adds to a `C`. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`mma` does not multiply a `{Self}` by a `{B}` and add it to a `{C}`",
    note = "it multiplies a `MatrixA<T, 16, K>` by a `MatrixB<U, K, N>`, and adds to an `Accumulator<V, 16, N>`",
    note = "two operands of `f16` add to `f32` or `f16`, two of `bf16` or of `tf32` to `f32`, `e4m3` and `e5m2` to `f32`, and `i8` and `u8` to `i32`"
)]
pub trait MultipliedBy<B: Matrix, C: Matrix>: Matrix {
    /// Returns a lane's elements of `a * b + c`, where the two functions return the operands of a lane, and `c` is the
    /// lane's own.
    #[doc(hidden)]
    fn multiplied(lane: usize, a: impl Fn(usize) -> Self, b: impl Fn(usize) -> B, c: C) -> C;
}

/// An element of `a` that is multiplied by a `U` of `b` and added to a `V` of `c`. The trait is sealed.
#[doc(hidden)]
pub trait Product<U: MatrixElement, V: MatrixElement>: MatrixElement {
    type Sum: Copy;
    fn start(c: ValueOf<V>) -> Self::Sum;
    fn step(a: ValueOf<Self>, b: ValueOf<U>, sum: Self::Sum) -> Self::Sum;
    fn end(sum: Self::Sum) -> ValueOf<V>;
}

macro_rules! products {
    ($($t:ident $u:ident $v:ident: $sum:ident, $start:expr, $step:expr, $end:expr;)*) => {$(
        impl Product<$u, $v> for $t {
            type Sum = $sum;
            #[inline]
            fn start(c: ValueOf<$v>) -> $sum {
                let start: fn(ValueOf<$v>) -> $sum = $start;
                start(c)
            }
            #[inline]
            fn step(a: ValueOf<$t>, b: ValueOf<$u>, sum: $sum) -> $sum {
                let step: fn(ValueOf<$t>, ValueOf<$u>, $sum) -> $sum = $step;
                step(a, b, sum)
            }
            #[inline]
            fn end(sum: $sum) -> ValueOf<$v> {
                let end: fn($sum) -> ValueOf<$v> = $end;
                end(sum)
            }
        }
    )*};
}

products! {
    f16 f16 f32: f32, |c| c, |a, b, sum| a.to_f32().mul_add(b.to_f32(), sum), |sum| sum;
    f16 f16 f16: f32, f16::to_f32, |a, b, sum| a.to_f32().mul_add(b.to_f32(), sum), f16::from_f32;
    bf16 bf16 f32: f32, |c| c, |a, b, sum| a.to_f32().mul_add(b.to_f32(), sum), |sum| sum;
    tf32 tf32 f32: f32, |c| c, |a, b, sum| rounded(a).mul_add(rounded(b), sum), |sum| sum;
    e4m3 e4m3 f32: f32, |c| c, |a, b, sum| a.to_f32().mul_add(b.to_f32(), sum), |sum| sum;
    e4m3 e5m2 f32: f32, |c| c, |a, b, sum| a.to_f32().mul_add(b.to_f32(), sum), |sum| sum;
    e5m2 e4m3 f32: f32, |c| c, |a, b, sum| a.to_f32().mul_add(b.to_f32(), sum), |sum| sum;
    e5m2 e5m2 f32: f32, |c| c, |a, b, sum| a.to_f32().mul_add(b.to_f32(), sum), |sum| sum;
    i8 i8 i32: i32, |c| c, |a, b, sum| sum.wrapping_add(i32::from(a) * i32::from(b)), |sum| sum;
    i8 u8 i32: i32, |c| c, |a, b, sum| sum.wrapping_add(i32::from(a) * i32::from(b)), |sum| sum;
    u8 i8 i32: i32, |c| c, |a, b, sum| sum.wrapping_add(i32::from(a) * i32::from(b)), |sum| sum;
    u8 u8 i32: i32, |c| c, |a, b, sum| sum.wrapping_add(i32::from(a) * i32::from(b)), |sum| sum;
}

/// The most columns of a left operand.
const LONGEST: usize = 32;

/// Rounds to the 10 bits after the point that `tf32` has, to nearest, ties away from zero.
fn rounded(value: f32) -> f32 {
    const REST: u32 = (1 << 13) - 1;
    match value.is_finite() {
        true => f32::from_bits((value.to_bits() + (REST / 2 + 1)) & !REST),
        false => value,
    }
}

#[diagnostic::do_not_recommend]
impl<T, U, V, const K: usize, const N: usize> MultipliedBy<MatrixB<U, K, N>, Accumulator<V, 16, N>>
    for MatrixA<T, 16, K>
where
    T: ElementOfA<16, K> + Product<U, V>,
    U: ElementOfB<K, N>,
    V: AccumulatorElement<16, N>,
{
    fn multiplied(
        lane: usize,
        a: impl Fn(usize) -> Self,
        b: impl Fn(usize) -> MatrixB<U, K, N>,
        mut c: Accumulator<V, 16, N>,
    ) -> Accumulator<V, 16, N> {
        // The lane's two rows of `a` are in the registers of its group of four, its columns of `b` in those of two groups.
        let mut rows = [[ValueOf::<T>::default(); LONGEST]; 2];
        let mut columns = [[ValueOf::<U>::default(); LONGEST]; 4];
        let (group, pair) = (lane / 4 * 4, lane % 4 * 8);
        for lane in group..group + 4 {
            for (index, value) in a(lane).registers().iter().enumerate() {
                let (row, k) = Self::LAYOUT.position(lane, index);
                rows[row / 8][k] = *value;
            }
        }
        for lane in pair..pair + 8 {
            for (index, value) in b(lane).registers().iter().enumerate() {
                let (k, column) = MatrixB::<U, K, N>::LAYOUT.position(lane, index);
                columns[column / 8 * 2 + column % 2][k] = *value;
            }
        }
        for (index, element) in c.registers_mut().iter_mut().enumerate() {
            let (row, column) = Accumulator::<V, 16, N>::LAYOUT.position(lane, index);
            let factors = rows[row / 8].iter().zip(&columns[column / 8 * 2 + column % 2]).take(K);
            *element = T::end(factors.fold(T::start(*element), |sum, (a, b)| T::step(*a, *b, sum)));
        }
        c
    }
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn tf32_rounds_ties_away() {
        let step = 2.0_f32.powi(-10);
        assert_eq!(rounded(1.0 + step / 2.0), 1.0 + step);
        assert_eq!(rounded(-1.0 - step / 2.0), -1.0 - step);
        assert_eq!(rounded(1.0 + step / 2.001), 1.0);
        assert_eq!((rounded(0.0).to_bits(), rounded(f32::INFINITY)), (0, f32::INFINITY));
        assert!(rounded(f32::NAN).is_nan() && rounded(f32::MAX).is_infinite());
    }
}
