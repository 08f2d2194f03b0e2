//! Formats the messages of kernels from their recorded values. The macro writes the user's own `format!` as a closure
//! over the values, and passes it to a function of this file together with a slot, whose type rustc infers from it. The
//! simulator calls the closure; for a GPU, [`Filled::describe`] returns a function of the bytes that message.cuh
//! writes.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::ptr::NonNull;

use super::template::{Filled, Slot};
use crate::program::types::DeviceCopy;
use crate::program::validity;
use crate::shape::Dim3;

/// The space for the values of one message in bytes: `most_words` of failure.cuh.
pub(crate) const MOST_BYTES: usize = 256;

/// The slot of a message, which holds the types of its values and of the closure that formats them.
#[derive(Debug)]
pub struct MessageSlot<V, F>(PhantomData<fn() -> (V, F)>);

impl<V, F> Default for MessageSlot<V, F> {
    fn default() -> Self {
        MessageSlot(PhantomData)
    }
}

impl<V: Values, F: Fn(V) -> String> Filled for MessageSlot<V, F> {
    fn describe() -> Slot {
        const { assert!(V::BYTES <= MOST_BYTES, "a message can show at most 256 bytes of values") };
        Slot::Message(format_bytes::<V, F>)
    }
}

/// Formats the values in `bytes`; the implementation of a [`Format`](super::template::Format).
unsafe fn format_bytes<V: Values, F: Fn(V) -> String>(bytes: &[u8]) -> Option<String> {
    const { assert!(size_of::<F>() == 0, "a message's closure captures nothing") };
    // SAFETY: the caller's promise.
    let values = (bytes.len() == V::BYTES).then(|| unsafe { V::read(bytes) })??;
    // SAFETY: a closure that the macro wrote and that captures nothing is of size zero and has only one value.
    let format = unsafe { NonNull::<F>::dangling().read() };
    Some(format(values))
}

/// A value that a message can show. The kernel writes it (`written` of message.cuh), and the host reads it.
///
/// # Safety
/// `BYTES` is what message.cuh writes for it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shown in a message",
    note = "a message can show values that can be kept in device memory, tuples and `Option`s of them, and a `Dim3`"
)]
pub unsafe trait Shown: Copy {
    /// The size that the value takes, in words of 8 bytes.
    const BYTES: usize;

    /// Returns the value at the start of `bytes`, which is long enough; `None` if they are no value of the type.
    ///
    /// # Safety
    /// A kernel wrote the bytes for a value of this type.
    unsafe fn read(bytes: &[u8]) -> Option<Self>;
}

/// Returns the `T` at the start of `bytes`.
///
/// # Safety
/// They are a value of `T`.
unsafe fn plain<T: Copy>(bytes: &[u8]) -> T {
    assert!(size_of::<T>() <= bytes.len(), "the caller has counted them");
    // SAFETY: so many bytes are there, and the caller promises that they are a `T`.
    unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }
}

// SAFETY: its bytes, rounded up to words.
unsafe impl<T: DeviceCopy> Shown for T {
    const BYTES: usize = size_of::<T>().next_multiple_of(8);

    unsafe fn read(bytes: &[u8]) -> Option<Self> {
        let valid = validity::first_invalid::<T>(&bytes[..size_of::<T>()]).is_none();
        // SAFETY: the bytes are a value, as just checked.
        valid.then(|| unsafe { plain(bytes) })
    }
}

// SAFETY: three `u32`s, on both sides.
unsafe impl Shown for Dim3 {
    const BYTES: usize = 16;

    unsafe fn read(bytes: &[u8]) -> Option<Self> {
        // SAFETY: any bytes are numbers.
        Some(unsafe { plain(bytes) })
    }
}

// SAFETY: a word that says whether there is a value, and room for it.
unsafe impl<T: Shown> Shown for Option<T> {
    const BYTES: usize = 8 + T::BYTES;

    unsafe fn read(bytes: &[u8]) -> Option<Self> {
        let (present, value) = bytes.split_at(8);
        if present[0] == 0 {
            return Some(None);
        }
        // SAFETY: the caller's promise: where there is a value, it was written.
        unsafe { T::read(value) }.map(Some)
    }
}

/// The values of a message, as a tuple, which is a value itself.
pub trait Values: Shown {}

/// Takes a value off the start of `bytes`.
///
/// # Safety
/// As for [`Shown::read`].
unsafe fn take<T: Shown>(bytes: &mut &[u8]) -> Option<T> {
    let (own, rest) = bytes.split_at(T::BYTES);
    *bytes = rest;
    // SAFETY: the caller's promise.
    unsafe { T::read(own) }
}

macro_rules! tuples {
    ($($name:ident)*) => {
        // SAFETY: the parts, one after the other.
        unsafe impl<$($name: Shown),*> Shown for ($($name,)*) {
            const BYTES: usize = 0 $(+ $name::BYTES)*;

            #[allow(unused_variables, unused_mut, clippy::unused_unit, reason = "the empty tuple takes nothing")]
            unsafe fn read(mut bytes: &[u8]) -> Option<Self> {
                // SAFETY: the caller's promise. Operands are evaluated from left to right.
                Some(($(unsafe { take::<$name>(&mut bytes) }?,)*))
            }
        }

        impl<$($name: Shown),*> Values for ($($name,)*) {}
    };
}

macro_rules! tuples_up_to {
    ($($first:ident $($rest:ident)*)?) => {
        tuples!($($first $($rest)*)?);
        $(tuples_up_to!($($rest)*);)?
    };
}

tuples_up_to!(A B C D E F G H I J K L M N O P);

/// Returns `lead: text`, as `todo!` and similar macros print it.
pub fn led(lead: &str, text: String) -> String {
    format!("{lead}: {text}")
}

/// Returns the text as a line.
pub fn line(mut text: String) -> String {
    text.push('\n');
    text
}

/// Appends both sides of a comparison, for `assert!(a < b)`.
pub fn with_sides(text: String, left: impl Debug, right: impl Debug) -> String {
    format!("{text} (left: {left:?}, right: {right:?})")
}

/// Appends both sides of a comparison, as `assert_eq!` shows them.
pub fn with_sides_below(text: String, left: impl Debug, right: impl Debug) -> String {
    format!("{text}\n  left: {left:?}\n right: {right:?}")
}

/// Returns the function with which the host formats a message of this closure.
#[cfg(test)]
pub(crate) fn format_of<V: Values, F: Fn(V) -> String>(_closure: F) -> super::template::Format {
    match MessageSlot::<V, F>::describe() {
        Slot::Message(format) => format,
        other => panic!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of<T: DeviceCopy>(values: &[T]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for value in values {
            // SAFETY: plain data without padding.
            bytes.extend(unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast::<u8>(), size_of::<T>()) });
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        bytes
    }

    fn text<V: Values, F: Fn(V) -> String>(closure: F, bytes: &[u8]) -> Option<String> {
        // SAFETY: the tests pass the bytes of such values.
        unsafe { format_of(closure)(bytes) }
    }

    #[test]
    fn values_begin_at_words() {
        let bytes = [bytes_of(&[-1i8]), bytes_of(&[0.1f32]), bytes_of(&[i128::MIN]), bytes_of(&[true])].concat();
        assert_eq!(bytes.len(), 40);
        assert_eq!(<(i8, f32, i128, bool)>::BYTES, 40);
        let shown = text(|(a, b, c, d): (i8, f32, i128, bool)| format!("{a} {b} {c:x} {d}"), &bytes);
        assert_eq!(shown.as_deref(), Some("-1 0.1 80000000000000000000000000000000 true"));
    }

    #[test]
    fn arrays_are_values_too() {
        let bytes = bytes_of(&[[1u8, 2, 3]]);
        assert_eq!(text(|(a,): ([u8; 3],)| format!("{a:?}"), &bytes).as_deref(), Some("[1, 2, 3]"));
    }

    #[test]
    fn tuples_and_options_are_their_parts() {
        let bytes = [bytes_of(&[true]), bytes_of(&[7u16]), bytes_of(&[0u64, 0]), bytes_of(&[-1i64])].concat();
        type Parts = (Option<u16>, (Option<i64>, i64));
        assert_eq!(Parts::BYTES, bytes.len());
        let shown = text(|(a, b): Parts| format!("{a:?} {b:?}"), &bytes);
        assert_eq!(shown.as_deref(), Some("Some(7) (None, -1)"));
    }

    #[test]
    fn bytes_that_are_no_value_are_not_shown() {
        let shown = |byte| text(|(a, b): (u8, Option<bool>)| format!("{a} {b:?}"), &bytes_of(&[7u64, 1, byte]));
        assert_eq!(shown(1).as_deref(), Some("7 Some(true)"));
        assert_eq!(shown(2), None);
    }

    #[test]
    fn bytes_that_are_missing_are_no_values() {
        assert_eq!(text(|(a, b): (u64, u64)| format!("{a}{b}"), &[0; 15]), None);
        assert_eq!(text(|()| "no values".into(), &[]).as_deref(), Some("no values"));
    }

    #[test]
    fn sixteen_of_the_largest_fit() {
        type Sixteen = (u128, u128, u128, u128, u128, u128, u128, u128, u128, u128, u128, u128, u128, u128, u128, u128);
        assert_eq!(Sixteen::BYTES, MOST_BYTES);
    }
}
