//! Functions of whole words: dot products of their parts, permutations of their bytes, shifts of two words, upper halves of products.

/// A word of 32 bits, with a sign or without: `i32` or `u32`. The trait is sealed.
#[diagnostic::on_unimplemented(message = "`{Self}` is not `i32` or `u32`, as CUDA's function takes")]
pub trait Word: Copy + sealed::Word {}

/// An integer whose products have an upper half: `i32`, `u32`, `i64` or `u64`. The trait is sealed.
#[diagnostic::on_unimplemented(message = "`{Self}` is not `i32`, `u32`, `i64` or `u64`, as CUDA's function takes")]
pub trait Factor: Copy + sealed::Factor {}

mod sealed {
    pub trait Word: Sized {
        /// Returns `c` and the products of bytes.
        fn of_bytes(a: Self, b: Self, c: Self) -> Self;
        /// Returns `c` and the products of the halves of `a` with bytes of `b`, from this one on.
        fn of_halves(a: Self, b: Self, c: Self, first: usize) -> Self;
        fn distance(a: Self, b: Self) -> u32;
    }

    pub trait Factor: Sized {
        fn upper_half(x: Self, y: Self) -> Self;
    }
}

macro_rules! words {
    ($($t:ident of $byte:ident, $half:ident;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Word for $t {}
        impl sealed::Word for $t {
            #[inline]
            fn of_bytes(a: $t, b: $t, c: $t) -> $t {
                let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
                (0..4).fold(c, |sum, i| sum.wrapping_add($t::from(a[i] as $byte) * $t::from(b[i] as $byte)))
            }
            #[inline]
            fn of_halves(a: $t, b: $t, c: $t, first: usize) -> $t {
                let (halves, bytes) = ([a as $half, (a >> 16) as $half], b.to_le_bytes());
                (0..2).fold(c, |sum, i| sum.wrapping_add($t::from(halves[i]) * $t::from(bytes[first + i] as $byte)))
            }
            #[inline]
            fn distance(a: $t, b: $t) -> u32 {
                a.abs_diff(b)
            }
        }
    )*};
}

words! {
    i32 of i8, i16;
    u32 of u8, u16;
}

macro_rules! factors {
    ($($t:ident in $wide:ident;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Factor for $t {}
        impl sealed::Factor for $t {
            #[inline]
            fn upper_half(x: $t, y: $t) -> $t {
                (($wide::from(x) * $wide::from(y)) >> $t::BITS) as $t
            }
        }
    )*};
}

factors! {
    i32 in i64;
    u32 in u64;
    i64 in i128;
    u64 in u128;
}

/// The sum of `c` and of the products of the four bytes of `a` with those of `b`, wrapping: `__dp4a`. The bytes have signs if the words do.
///
/// ```
/// use phalanx::prelude::*;
///
/// /// The products of rows of bytes, four at a time, with a column.
/// #[cluster_kernel(block = 32)]
/// fn matvec(rows: &[[i32; 8]], column: &[i32], out: &mut [i32]) {
///     let i = this_grid().thread_rank();
///     let mut sum = 0;
///     for k in 0..8 {
///         sum = cuda::dp4a(rows[i][k], column[k], sum);
///     }
///     out[i] = sum;
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let word = |byte: i8| i32::from_le_bytes([byte as u8; 4]);
/// let rows = device.upload(&Vec::from_iter((0..32).map(|i| [word(i - 16); 8])))?;
/// let mut out = device.zeros(32)?;
/// matvec(&rows, &device.upload(&[word(-3); 8])?, &mut out).grid(1).launch(&device)?;
/// assert_eq!(out.read()?[10], 32 * -6 * -3);
/// # Ok(())
/// # }
/// ```
#[inline]
pub fn dp4a<T: Word>(a: T, b: T, c: T) -> T {
    T::of_bytes(a, b, c)
}

/// The sum of `c` and of the products of the two halves of `a` with the two lower bytes of `b`, wrapping: `__dp2a_lo`.
#[inline]
pub fn dp2a_lo<T: Word>(a: T, b: T, c: T) -> T {
    T::of_halves(a, b, c, 0)
}

/// The sum of `c` and of the products of the two halves of `a` with the two upper bytes of `b`, wrapping: `__dp2a_hi`.
#[inline]
pub fn dp2a_hi<T: Word>(a: T, b: T, c: T) -> T {
    T::of_halves(a, b, c, 2)
}

/// Four of the eight bytes of `x` and `y`: `__byte_perm`. The lower three bits of each of the selector's four lower hexadecimal digits
/// choose a byte, of `x` by 0 to 3 and of `y` by 4 to 7; its other bits do not count.
#[inline]
pub fn byte_perm(x: u32, y: u32, selector: u32) -> u32 {
    let bytes = (u64::from(y) << 32 | u64::from(x)).to_le_bytes();
    u32::from_le_bytes(std::array::from_fn(|i| bytes[(selector >> (4 * i)) as usize & 7]))
}

/// The upper word of the two words `hi` and `lo`, shifted left by the lower five bits of `shift`: `__funnelshift_l`.
#[inline]
pub fn funnelshift_l(lo: u32, hi: u32, shift: u32) -> u32 {
    (both(lo, hi) << (shift & 31) >> 32) as u32
}

/// The lower word of the two words `hi` and `lo`, shifted right by the lower five bits of `shift`: `__funnelshift_r`.
#[inline]
pub fn funnelshift_r(lo: u32, hi: u32, shift: u32) -> u32 {
    (both(lo, hi) >> (shift & 31)) as u32
}

/// The upper word of the two words `hi` and `lo`, shifted left by `shift`, or by 32 if it is more: `__funnelshift_lc`.
#[inline]
pub fn funnelshift_lc(lo: u32, hi: u32, shift: u32) -> u32 {
    (both(lo, hi) << shift.min(32) >> 32) as u32
}

/// The lower word of the two words `hi` and `lo`, shifted right by `shift`, or by 32 if it is more: `__funnelshift_rc`.
#[inline]
pub fn funnelshift_rc(lo: u32, hi: u32, shift: u32) -> u32 {
    (both(lo, hi) >> shift.min(32)) as u32
}

fn both(lo: u32, hi: u32) -> u64 {
    u64::from(hi) << 32 | u64::from(lo)
}

/// The upper half of a product: `__mulhi`, `__umulhi`, `__mul64hi` and `__umul64hi`.
#[inline]
pub fn mulhi<T: Factor>(x: T, y: T) -> T {
    T::upper_half(x, y)
}

/// `z` and the distance of `x` and `y`, wrapping: `__sad` and `__usad`.
#[inline]
pub fn sad<T: Word>(x: T, y: T, z: u32) -> u32 {
    T::distance(x, y).wrapping_add(z)
}
