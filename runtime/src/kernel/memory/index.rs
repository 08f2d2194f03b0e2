//! The types that index memory, and the bounds check.

use std::panic::Location;

use super::At;
use crate::report::failure::Cause;
use crate::sim::fail_at;

/// An integer of up to 64 bits, which can index memory.
#[diagnostic::on_unimplemented(message = "`{Self}` cannot index memory: an index must be an integer of up to 64 bits")]
pub trait Index: sealed::Sealed + Copy {
    /// Returns the value. A negative one becomes larger than every length.
    #[doc(hidden)]
    fn to_usize(self) -> usize;
    /// Returns the value, for a report.
    #[doc(hidden)]
    fn to_i128(self) -> i128;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! indexes {
    ($($t:ident)*) => {$(
        impl sealed::Sealed for $t {}
        #[diagnostic::do_not_recommend]
        impl Index for $t {
            #[inline]
            fn to_usize(self) -> usize {
                self as usize
            }
            #[inline]
            fn to_i128(self) -> i128 {
                self as i128
            }
        }
    )*};
}

indexes!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

impl<I: Index> sealed::Sealed for At<I> {}

#[diagnostic::do_not_recommend]
impl<I: Index> Index for At<I> {
    #[inline]
    fn to_usize(self) -> usize {
        self.0.to_usize()
    }

    #[inline]
    fn to_i128(self) -> i128 {
        self.0.to_i128()
    }
}

/// Returns the index, if it is below `length`, and otherwise ends the launch with a failure.
#[inline]
#[track_caller]
pub(crate) fn position<I: Index>(index: I, length: usize) -> usize {
    if index.to_usize() < length { index.to_usize() } else { out_of_bounds(index.to_i128(), length) }
}

#[cold]
#[track_caller]
fn out_of_bounds(index: i128, length: usize) -> ! {
    fail_at(Cause::IndexOutOfBounds { index, length: length as u64 }, Location::caller())
}
