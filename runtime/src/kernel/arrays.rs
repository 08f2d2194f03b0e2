//! What the attributes make of `array.map(f)` and `std::array::from_fn(f)`. It is written in the kernel language itself: the closure is
//! called for the elements in their order, once for each.

use phalanx_macros::device;

use crate::program::types::DeviceType;

/// Returns what `f` makes of each element.
#[device]
pub fn mapped<T: DeviceType + Copy, U: DeviceType + Copy, const N: usize>(
    values: [T; N],
    f: impl Fn(T) -> U,
) -> [U; N] {
    let mut mapped = [f(values[0]); N];
    for i in 1..N {
        mapped[i] = f(values[i]);
    }
    mapped
}

/// Returns what `f` makes of each index.
#[device]
pub fn array_of<U: DeviceType + Copy, const N: usize>(f: impl Fn(usize) -> U) -> [U; N] {
    let mut elements = [f(0); N];
    for i in 1..N {
        elements[i] = f(i);
    }
    elements
}
