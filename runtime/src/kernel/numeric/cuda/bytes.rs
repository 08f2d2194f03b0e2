//! CUDA's SIMD functions of the two halves or the four bytes of words. A name ends with the number of parts; before it, `s` is for
//! parts with a sign, `u` for those without, and `ss` and `us` for sums that saturate.

/// Functions of each part by itself. A part is computed as one type and stored as its bits.
macro_rules! of_parts {
    ($($doc:literal $two:ident $four:ident ($a:ident, $b:ident: $t2:ident $t4:ident) $value:expr;)*) => {$(
        #[doc = concat!($doc, ", of halves: `__", stringify!($two), "`.")]
        #[inline]
        pub fn $two(a: u32, b: u32) -> u32 {
            of_halves(a, b, |a, b| {
                let ($a, $b) = (a as $t2, b as $t2);
                $value as u16
            })
        }
        #[doc = concat!($doc, ", of bytes: `__", stringify!($four), "`.")]
        #[inline]
        pub fn $four(a: u32, b: u32) -> u32 {
            of_bytes(a, b, |a, b| {
                let ($a, $b) = (a as $t4, b as $t4);
                $value as u8
            })
        }
    )*};
}

/// Functions that are all bits of a part where a condition holds.
macro_rules! comparisons {
    ($($doc:literal $two:ident $four:ident ($a:ident, $b:ident: $t2:ident $t4:ident) $holds:expr;)*) => {
        of_parts! {$(
            $doc $two $four ($a, $b: $t2 $t4) (if $holds { -1_i32 } else { 0 });
        )*}
    };
}

of_parts! {
    "Sums, wrapping" vadd2 vadd4 (a, b: u16 u8) a.wrapping_add(b);
    "Differences, wrapping" vsub2 vsub4 (a, b: u16 u8) a.wrapping_sub(b);
    "Sums with signs, saturating" vaddss2 vaddss4 (a, b: i16 i8) a.saturating_add(b);
    "Sums without signs, saturating" vaddus2 vaddus4 (a, b: u16 u8) a.saturating_add(b);
    "Differences with signs, saturating" vsubss2 vsubss4 (a, b: i16 i8) a.saturating_sub(b);
    "Differences without signs, saturating" vsubus2 vsubus4 (a, b: u16 u8) a.saturating_sub(b);
    "Maxima with signs" vmaxs2 vmaxs4 (a, b: i16 i8) a.max(b);
    "Maxima without signs" vmaxu2 vmaxu4 (a, b: u16 u8) a.max(b);
    "Minima with signs" vmins2 vmins4 (a, b: i16 i8) a.min(b);
    "Minima without signs" vminu2 vminu4 (a, b: u16 u8) a.min(b);
    "Distances of numbers with signs, which have none" vabsdiffs2 vabsdiffs4 (a, b: i16 i8) a.abs_diff(b);
    "Distances of numbers without signs" vabsdiffu2 vabsdiffu4 (a, b: u16 u8) a.abs_diff(b);
    "Means without signs, rounded up" vavgu2 vavgu4 (a, b: u16 u8) (u32::from(a) + u32::from(b)).div_ceil(2);
}

comparisons! {
    "All bits of equal parts" vcmpeq2 vcmpeq4 (a, b: u16 u8) a == b;
    "All bits of parts that differ" vcmpne2 vcmpne4 (a, b: u16 u8) a != b;
    "All bits of greater parts with signs" vcmpgts2 vcmpgts4 (a, b: i16 i8) a > b;
    "All bits of greater parts without signs" vcmpgtu2 vcmpgtu4 (a, b: u16 u8) a > b;
    "All bits of greater or equal parts with signs" vcmpges2 vcmpges4 (a, b: i16 i8) a >= b;
    "All bits of greater or equal parts without signs" vcmpgeu2 vcmpgeu4 (a, b: u16 u8) a >= b;
}

/// The sum of the distances of halves with signs: `__vsads2`.
#[inline]
pub fn vsads2(a: u32, b: u32) -> u32 {
    sum_of_halves(vabsdiffs2(a, b))
}

/// The sum of the distances of bytes with signs: `__vsads4`.
#[inline]
pub fn vsads4(a: u32, b: u32) -> u32 {
    sum_of_bytes(vabsdiffs4(a, b))
}

/// The sum of the distances of halves without signs: `__vsadu2`.
#[inline]
pub fn vsadu2(a: u32, b: u32) -> u32 {
    sum_of_halves(vabsdiffu2(a, b))
}

/// The sum of the distances of bytes without signs: `__vsadu4`.
#[inline]
pub fn vsadu4(a: u32, b: u32) -> u32 {
    sum_of_bytes(vabsdiffu4(a, b))
}

fn sum_of_halves(a: u32) -> u32 {
    (a & 0xffff) + (a >> 16)
}

fn sum_of_bytes(a: u32) -> u32 {
    a.to_le_bytes().into_iter().map(u32::from).sum()
}

fn of_halves(a: u32, b: u32, value: impl Fn(u16, u16) -> u16) -> u32 {
    let upper = value((a >> 16) as u16, (b >> 16) as u16);
    u32::from(upper) << 16 | u32::from(value(a as u16, b as u16))
}

fn of_bytes(a: u32, b: u32, value: impl Fn(u8, u8) -> u8) -> u32 {
    let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
    u32::from_le_bytes(std::array::from_fn(|i| value(a[i], b[i])))
}
