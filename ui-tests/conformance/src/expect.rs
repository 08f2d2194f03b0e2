//! Comparisons: results bit for bit, texts line by line, failures with their cause, location and
//! thread.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use phalanx::{Device, Dim3, Error, Failure, Location, bf16, e4m3, e5m2, f16};

use crate::Outcome;

/// Equality of bits, with one exception: a NaN is a NaN, because Rust leaves its payload open.
pub trait Bits: Copy + Debug {
    /// Returns whether both are the same.
    fn same(self, other: Self) -> bool;
}

macro_rules! bits {
    ($($t:ident)*) => {$(
        impl Bits for $t {
            fn same(self, other: Self) -> bool {
                self == other
            }
        }
    )*};
}

bits!(bool i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

macro_rules! float_bits {
    ($($t:ident)*) => {$(
        impl Bits for $t {
            fn same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits() || self.is_nan() && other.is_nan()
            }
        }
    )*};
}

float_bits!(f32 f64 f16 bf16 e4m3 e5m2);

/// How many differences a message shows.
const SHOWN: usize = 5;

/// Checks that all of `got` is `want`; `describe` names an element.
pub fn same<T: Bits>(got: &[T], want: &[T], describe: impl Fn(usize) -> String) -> Outcome {
    if got.len() != want.len() {
        return Err(format!("{} results, and not {}", got.len(), want.len()).into());
    }
    let wrong: Vec<usize> = (0..got.len()).filter(|&i| !got[i].same(want[i])).collect();
    if wrong.is_empty() {
        return Ok(());
    }
    let mut text = format!("{} of {} results are wrong", wrong.len(), got.len());
    for &i in wrong.iter().take(SHOWN) {
        text += &format!("\n    {}: got {:?}, want {:?}", describe(i), got[i], want[i]);
    }
    Err(text.into())
}

/// Checks that all of `got` is `want`, for types that compare themselves.
pub fn equal<T: PartialEq + Debug>(got: &[T], want: &[T]) -> Outcome {
    match (0..got.len().max(want.len())).find(|&i| got.get(i) != want.get(i)) {
        None => Ok(()),
        Some(i) => Err(format!("{i}: got {:?}, want {:?}", got.get(i), want.get(i)).into()),
    }
}

/// Returns what is printed while `launch` runs, and how it ends.
pub fn printed(device: &Device, launch: impl FnOnce() -> phalanx::Result<()>) -> (String, phalanx::Result<()>) {
    let page = Arc::new(Mutex::new(String::new()));
    let writer = page.clone();
    device.on_print(move |text| writer.lock().unwrap_or_else(PoisonError::into_inner).push_str(text));
    let result = launch();
    let text = page.lock().unwrap_or_else(PoisonError::into_inner).clone();
    (text, result)
}

/// Checks that all of a text is as expected, line by line.
pub fn same_text(got: &str, want: &str) -> Outcome {
    match got.lines().zip(want.lines()).find(|(got, want)| got != want) {
        Some((got, want)) => Err(format!("got  {got}\n    want {want}").into()),
        None if got == want => Ok(()),
        None => Err(format!("{} lines, and not {}", got.lines().count(), want.lines().count()).into()),
    }
}

/// Returns the failure that a launch ends with.
pub fn failure(result: phalanx::Result<()>) -> Outcome<Failure> {
    match result {
        Err(Error::Kernel(failure)) => Ok(*failure),
        Err(error) => Err(format!("not a kernel's failure: {error}").into()),
        Ok(()) => Err("the kernel did not fail".into()),
    }
}

/// Checks that a launch fails with a cause of these words at `location`, in this block and thread.
pub fn fails(
    result: phalanx::Result<()>,
    cause: &str,
    location: &Location,
    block: impl Into<Dim3>,
    thread: impl Into<Dim3>,
) -> Outcome {
    let failure = failure(result)?;
    let (block, thread) = (block.into(), thread.into());
    // Compares the words, because the GPU's record keeps no more of a value's type than they show.
    let same_cause = failure.cause.to_string() == cause;
    if same_cause && failure.location.as_ref() == Some(location) && (failure.block, failure.thread) == (block, thread) {
        return Ok(());
    }
    Err(format!("got  {failure}\n    want at {location}: {cause}, block {block} thread {thread}").into())
}

/// Returns the location of what follows the comment `/* name */` in a source file, on its line or on the next.
pub fn find(file: &str, source: &str, name: &str) -> Location {
    let marker = format!("/* {name} */");
    let after = source.find(&marker).unwrap_or_else(|| panic!("no comment `{marker}` in {file}")) + marker.len();
    let start = after + source[after..].find(|c: char| !c.is_whitespace()).unwrap_or(0);
    let before = &source[..start];
    let line = before.matches('\n').count() as u32 + 1;
    let column = before.chars().rev().take_while(|&c| c != '\n').count() as u32 + 1;
    Location::new(file, line, column)
}

/// Returns the part of a tensor of this shape from a place on, in a tensor of zeros.
pub(crate) fn part(dims: &[usize], from: &[i32], tile: &[usize], data: &[i32]) -> Vec<i32> {
    let split = |mut at: usize, dims: &[usize]| {
        let mut index = vec![0i32; dims.len()];
        for dimension in (0..dims.len()).rev() {
            index[dimension] = (at % dims[dimension]) as i32;
            at /= dims[dimension];
        }
        index
    };
    let element = |i: usize| {
        let index = split(i, dims);
        if index.iter().zip(tile).any(|(index, length)| *index >= *length as i32) {
            return 0;
        }
        let mut at = 0;
        for ((index, from), length) in index.iter().zip(from).zip(dims) {
            let index = index + from;
            if !(0..*length as i32).contains(&index) {
                return 0;
            }
            at = at * length + index as usize;
        }
        data[at]
    };
    (0..data.len()).map(element).collect()
}
