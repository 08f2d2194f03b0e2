//! What the attributes make of `array.map(f)`, of `std::array::from_fn(f)`, of parts of arrays and of default values. It is written in the
//! kernel language itself: a closure is called for the elements in their order, once for each.

use phalanx_macros::device;

use super::numeric::Integer;
use crate::program::types::{DeviceOrd, DeviceType};

/// Returns what `f` makes of each element.
#[device]
pub fn mapped<T: DeviceType + Copy, U: DeviceType + Copy, const N: usize>(
    values: [T; N],
    mut f: impl FnMut(T) -> U,
) -> [U; N] {
    let mut mapped = [f(values[0]); N];
    for i in 1..N {
        mapped[i] = f(values[i]);
    }
    mapped
}

/// Returns what `f` makes of each index.
#[device]
pub fn array_of<U: DeviceType + Copy, const N: usize>(mut f: impl FnMut(usize) -> U) -> [U; N] {
    let mut elements = [f(0); N];
    for i in 1..N {
        elements[i] = f(i);
    }
    elements
}

/// Returns the lesser of two values, and the first if they are equal.
#[device]
pub fn least<T: DeviceOrd + Ord + Copy>(first: T, second: T) -> T {
    if second < first { second } else { first }
}

/// Returns the greater of two values, and the second if they are equal.
#[device]
pub fn greatest<T: DeviceOrd + Ord + Copy>(first: T, second: T) -> T {
    if second < first { first } else { second }
}

/// Whether a value is less than another. Rust's sorts, and the least of several, ask this of their keys.
#[device]
pub fn is_less<T: DeviceOrd + Ord + Copy>(first: T, second: T) -> bool {
    first < second
}

/// Returns an integer as one of another type, if that holds it.
#[device]
pub fn checked_into<T: Integer, U: Integer + TryFrom<T>>(value: T) -> Option<U> {
    ::phalanx::__private::checked_from::<U, _>(value)
}

/// The position that an index of a part of a local array names; a negative one is above every length.
#[device]
pub trait PartIndex {
    /// Returns the position.
    fn position(self) -> usize;
}

macro_rules! part_indexes {
    ($($index:ident)*) => {$(
        #[device]
        impl PartIndex for $index {
            fn position(self) -> usize {
                self as usize
            }
        }
    )*};
}

part_indexes!(u32 i32 usize);

/// Returns the elements of a constant that is a reference, as an array of their number.
pub const fn elements_of<T: Copy, const N: usize>(elements: &[T]) -> [T; N] {
    let mut array = [elements[0]; N];
    let mut i = 1;
    while i < N {
        array[i] = elements[i];
        i += 1;
    }
    array
}

/// Takes the place of a type's default value, which the compiler evaluates on the host as a constant of the text.
pub fn default_of<T: Default>() -> T {
    T::default()
}
