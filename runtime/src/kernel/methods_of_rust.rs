//! Methods of Rust's own types that the compiler takes for those of a user's trait, written in the kernel language itself: bodies import
//! these traits, and rustc finds the method by the receiver. What is neither here nor an operation is listed in the compiler's `messages/method.rs`.

use std::cmp::Ordering;

use phalanx_macros::device;

use super::numeric::Number;
use crate::program::types::{DeviceConstant, DeviceEq, DeviceOrd, DeviceType};

/// The traits without their names, which a user's types may have.
pub mod unnamed {
    pub use crate::kernel::ascii::Ascii as _;
    pub use crate::kernel::conversion::DeviceFrom as _;

    pub use super::{
        Bytes as _, Compared as _, Contains as _, DefaultValue as _, Elements as _, IntoNumber as _, OptionOf as _,
        OptionOfNumber as _, OptionOfOption as _, OptionWith as _, Ordered as _, OrderingMethods as _, Sorted as _,
        TotalOrder as _,
    };
}

/// The methods of an `Option` that take another one.
#[device]
pub trait OptionWith<T, U> {
    fn and(self, other: Option<U>) -> Option<U>;
    fn zip(self, other: Option<U>) -> Option<(T, U)>;
}

#[device]
impl<T: DeviceType + Copy, U: DeviceType + Copy> OptionWith<T, U> for Option<T> {
    fn and(self, other: Option<U>) -> Option<U> {
        if self.is_some() { other } else { None }
    }

    fn zip(self, other: Option<U>) -> Option<(T, U)> {
        match self {
            Some(first) => match other {
                Some(second) => Some((first, second)),
                None => None,
            },
            None => None,
        }
    }
}

/// The methods of an `Option` that take a value like its own.
#[device]
pub trait OptionOf<T> {
    fn or(self, other: Option<T>) -> Option<T>;
    fn xor(self, other: Option<T>) -> Option<T>;
    fn replace(&mut self, value: T) -> Option<T>;
}

#[device]
impl<T: DeviceType + Copy> OptionOf<T> for Option<T> {
    fn or(self, other: Option<T>) -> Option<T> {
        if self.is_some() { self } else { other }
    }

    fn xor(self, other: Option<T>) -> Option<T> {
        if self.is_none() {
            other
        } else if other.is_none() {
            self
        } else {
            None
        }
    }

    fn replace(&mut self, value: T) -> Option<T> {
        let before = *self;
        *self = Some(value);
        before
    }
}

/// `option.flatten()`.
#[device]
pub trait OptionOfOption<T> {
    fn flatten(self) -> Option<T>;
}

#[device]
impl<T: DeviceType + Copy> OptionOfOption<T> for Option<Option<T>> {
    fn flatten(self) -> Option<T> {
        match self {
            Some(inner) => inner,
            None => None,
        }
    }
}

/// `option.unwrap_or_default()` of numbers.
#[device]
pub trait OptionOfNumber<T> {
    fn unwrap_or_default(self) -> T;
}

#[device]
impl<T: Number> OptionOfNumber<T> for Option<T> {
    fn unwrap_or_default(self) -> T {
        match self {
            Some(value) => value,
            None => T::default(),
        }
    }
}

/// The methods of arrays. Where the text shows an array, the compiler writes them as loops in place, also of elements of other memory.
#[device]
pub trait Elements<T> {
    fn swap(&mut self, i: usize, j: usize);
    fn reverse(&mut self);
    fn fill(&mut self, value: T);
}

#[device]
impl<T: DeviceType + Copy, const N: usize> Elements<T> for [T; N] {
    fn swap(&mut self, i: usize, j: usize) {
        let held = self[i];
        self[i] = self[j];
        self[j] = held;
    }

    fn reverse(&mut self) {
        for i in 0..N / 2 {
            let held = self[i];
            self[i] = self[N - 1 - i];
            self[N - 1 - i] = held;
        }
    }

    fn fill(&mut self, value: T) {
        for i in 0..N {
            self[i] = value;
        }
    }
}

/// The sorts of arrays, whose elements stay in registers where the loops are unrolled.
#[device]
pub trait Sorted {
    fn sort(&mut self);
    fn sort_unstable(&mut self);
}

#[device]
impl<T: DeviceOrd + Ord + Copy, const N: usize> Sorted for [T; N] {
    fn sort(&mut self) {
        for end in (1..N).rev() {
            for i in 0..end {
                let (first, second) = (self[i], self[i + 1]);
                // Equal elements keep their order.
                if second < first {
                    self[i] = second;
                    self[i + 1] = first;
                }
            }
        }
    }

    fn sort_unstable(&mut self) {
        for end in (1..N).rev() {
            for i in 0..end {
                let (first, second) = (self[i], self[i + 1]);
                if second < first {
                    self[i] = second;
                    self[i + 1] = first;
                }
            }
        }
    }
}

/// `array.contains(&x)`
#[device]
pub trait Contains<T> {
    fn contains(&self, value: &T) -> bool;
}

#[device]
impl<T: DeviceEq + PartialEq + Copy, const N: usize> Contains<T> for [T; N] {
    fn contains(&self, value: &T) -> bool {
        for i in 0..N {
            if self[i] == *value {
                return true;
            }
        }
        false
    }
}

/// The comparisons of numbers, and of what else has an order.
#[device]
pub trait Compared<T> {
    fn eq(&self, other: &T) -> bool;
    fn ne(&self, other: &T) -> bool;
    fn lt(&self, other: &T) -> bool;
    fn le(&self, other: &T) -> bool;
    fn gt(&self, other: &T) -> bool;
    fn ge(&self, other: &T) -> bool;
    fn partial_cmp(&self, other: &T) -> Option<Ordering>;
}

#[device]
impl<T: DeviceOrd + PartialOrd + Copy> Compared<T> for T {
    fn eq(&self, other: &T) -> bool {
        *self == *other
    }

    fn ne(&self, other: &T) -> bool {
        *self != *other
    }

    fn lt(&self, other: &T) -> bool {
        *self < *other
    }

    fn le(&self, other: &T) -> bool {
        *self <= *other
    }

    fn gt(&self, other: &T) -> bool {
        *self > *other
    }

    fn ge(&self, other: &T) -> bool {
        *self >= *other
    }

    fn partial_cmp(&self, other: &T) -> Option<Ordering> {
        if *self < *other {
            Some(Ordering::Less)
        } else if *self == *other {
            Some(Ordering::Equal)
        } else if *self > *other {
            Some(Ordering::Greater)
        } else {
            None
        }
    }
}

/// The total order of integers, and of tuples and structs of them.
#[device]
pub trait Ordered<T> {
    fn cmp(&self, other: &T) -> Ordering;
}

#[device]
impl<T: DeviceOrd + Ord + Copy> Ordered<T> for T {
    fn cmp(&self, other: &T) -> Ordering {
        if *self < *other {
            Ordering::Less
        } else if *self == *other {
            Ordering::Equal
        } else {
            Ordering::Greater
        }
    }
}

/// The methods of `Ordering`.
#[device]
pub trait OrderingMethods {
    fn is_eq(self) -> bool;
    fn is_ne(self) -> bool;
    fn is_lt(self) -> bool;
    fn is_le(self) -> bool;
    fn is_gt(self) -> bool;
    fn is_ge(self) -> bool;
    fn reverse(self) -> Ordering;
    fn then(self, other: Ordering) -> Ordering;
}

#[device]
impl OrderingMethods for Ordering {
    fn is_eq(self) -> bool {
        self == Ordering::Equal
    }

    fn is_ne(self) -> bool {
        self != Ordering::Equal
    }

    fn is_lt(self) -> bool {
        self == Ordering::Less
    }

    fn is_le(self) -> bool {
        self != Ordering::Greater
    }

    fn is_gt(self) -> bool {
        self == Ordering::Greater
    }

    fn is_ge(self) -> bool {
        self != Ordering::Less
    }

    fn reverse(self) -> Ordering {
        match self {
            Ordering::Less => Ordering::Greater,
            Ordering::Equal => Ordering::Equal,
            Ordering::Greater => Ordering::Less,
        }
    }

    fn then(self, other: Ordering) -> Ordering {
        if self == Ordering::Equal { other } else { self }
    }
}

/// `P::default()` and `Default::default()`, for what derives `Default` or implements it in plain Rust.
#[device]
pub trait DefaultValue {
    fn default() -> Self;
}

#[device]
impl<T: DeviceConstant + Default + Copy> DefaultValue for T {
    fn default() -> T {
        ::phalanx::__private::default_of::<T>()
    }
}

/// The bytes of a number, of which there are `N`.
#[device]
pub trait Bytes<const N: usize> {
    fn to_le_bytes(self) -> [u8; N];
    fn to_be_bytes(self) -> [u8; N];
    fn from_le_bytes(bytes: [u8; N]) -> Self;
    fn from_be_bytes(bytes: [u8; N]) -> Self;
}

macro_rules! bytes_of_integers {
    ($($integer:ident $bits:ident $size:literal;)*) => {$(
        #[device]
        impl Bytes<$size> for $integer {
            fn to_le_bytes(self) -> [u8; $size] {
                let mut bytes = [0; $size];
                for i in 0..$size {
                    bytes[i] = (self >> (8 * i)) as u8;
                }
                bytes
            }

            fn to_be_bytes(self) -> [u8; $size] {
                let mut bytes = [0; $size];
                for i in 0..$size {
                    bytes[$size - 1 - i] = (self >> (8 * i)) as u8;
                }
                bytes
            }

            fn from_le_bytes(bytes: [u8; $size]) -> $integer {
                let mut bits: $bits = 0;
                for i in 0..$size {
                    bits |= (bytes[i] as $bits) << (8 * i);
                }
                bits as $integer
            }

            fn from_be_bytes(bytes: [u8; $size]) -> $integer {
                let mut bits: $bits = 0;
                for i in 0..$size {
                    bits |= (bytes[$size - 1 - i] as $bits) << (8 * i);
                }
                bits as $integer
            }
        }
    )*};
}

bytes_of_integers! {
    u16 u16 2;
    i16 u16 2;
    u32 u32 4;
    i32 u32 4;
    u64 u64 8;
    i64 u64 8;
}

macro_rules! bytes_of_floats {
    ($($float:ident $bits:ident $size:literal;)*) => {$(
        #[device]
        impl Bytes<$size> for $float {
            fn to_le_bytes(self) -> [u8; $size] {
                self.to_bits().to_le_bytes()
            }

            fn to_be_bytes(self) -> [u8; $size] {
                self.to_bits().to_be_bytes()
            }

            fn from_le_bytes(bytes: [u8; $size]) -> $float {
                $float::from_bits($bits::from_le_bytes(bytes))
            }

            fn from_be_bytes(bytes: [u8; $size]) -> $float {
                $float::from_bits($bits::from_be_bytes(bytes))
            }
        }
    )*};
}

bytes_of_floats! {
    f32 u32 4;
    f64 u64 8;
}

macro_rules! total_order {
    ($($float:ident $signed:ident $last:literal;)*) => {$(
        #[device]
        impl TotalOrder for $float {
            fn total_cmp(&self, other: &$float) -> Ordering {
                // Of negative numbers, those with greater bits are less.
                let (a, b) = (self.to_bits() as $signed, other.to_bits() as $signed);
                let (a, b) = (a ^ ((a >> $last) & $signed::MAX), b ^ ((b >> $last) & $signed::MAX));
                if a < b {
                    Ordering::Less
                } else if a == b {
                    Ordering::Equal
                } else {
                    Ordering::Greater
                }
            }
        }
    )*};
}

/// `total_cmp` of floats.
#[device]
pub trait TotalOrder {
    fn total_cmp(&self, other: &Self) -> Ordering;
}

total_order! {
    f32 i32 31;
    f64 i64 63;
}

/// `x.into()` of a number, and of a type with a `#[device] impl From`.
#[diagnostic::on_unimplemented(
    message = "`{U}` does not hold all values of `{Self}`",
    label = "this number is not converted without loss",
    note = "cast: `x as f32`; a type of yours has it with `#[device] impl From<{Self}> for {U}`"
)]
#[device]
pub trait IntoNumber<U> {
    fn into(self) -> U;
}

macro_rules! into {
    ($($from:ident: $($to:ident)*;)*) => {$($(
        #[device]
        impl IntoNumber<$to> for $from {
            fn into(self) -> $to {
                self as $to
            }
        }
    )*)*};
}

into! {
    bool: u8 u16 u32 u64 i32 i64;
    u8: u16 u32 u64 u128 usize i16 i32 i64 f32 f64;
    u16: u32 u64 u128 usize i32 i64 f32 f64;
    u32: u64 u128 i64 f64;
    u64: u128 i128;
    i8: i16 i32 i64 isize f32 f64;
    i16: i32 i64 isize f32 f64;
    i32: i64 i128 f64;
    i64: i128;
    f32: f64;
}
