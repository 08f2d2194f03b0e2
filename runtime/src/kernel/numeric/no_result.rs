//! The failures of arithmetic whose result is undefined, which end the launch.

use std::panic::Location;

use crate::program::types::DeviceScalar;
use crate::report::failure::Cause;
use crate::sim::fail_at;

/// Ends the launch, because a method is not defined for this value.
#[cold]
#[track_caller]
pub(super) fn refuse(message: &'static str) -> ! {
    fail_at(Cause::Assertion(message.into()), Location::caller())
}

/// Ends the launch, because a division has no result.
#[cold]
#[track_caller]
pub(super) fn division<T: DeviceScalar + Default + PartialEq>(dividend: T, divisor: T) -> ! {
    let dividend = dividend.scalar();
    let by_zero = divisor == T::default();
    fail_at(
        if by_zero { Cause::DivisionByZero { dividend } } else { Cause::DivisionOverflow { dividend } },
        Location::caller(),
    )
}
