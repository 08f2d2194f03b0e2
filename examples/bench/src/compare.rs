//! Comparison of results with a computation in `f64` on the host.

use crate::Result;

/// Checks that each value is within `bound` of what is wanted, relative to values larger than one.
pub fn close(
    what: &str,
    got: impl IntoIterator<Item = f64>,
    want: impl IntoIterator<Item = f64>,
    bound: f64,
) -> Result<()> {
    close_to(what, got, want, bound, 1.0)
}

/// Checks that each value is within `bound` of what is wanted, relative to values larger than `unit`, which is the size of
/// a typical value.
pub fn close_to(
    what: &str,
    got: impl IntoIterator<Item = f64>,
    want: impl IntoIterator<Item = f64>,
    bound: f64,
    unit: f64,
) -> Result<()> {
    let (mut got, mut want) = (got.into_iter(), want.into_iter());
    for i in 0.. {
        let (got, want) = match (got.next(), want.next()) {
            (Some(got), Some(want)) => (got, want),
            (None, None) => break,
            (got, want) => return Err(format!("{what}: {got:?} at {i}, and f64 has {want:?}").into()),
        };
        let error = (got - want).abs() / want.abs().max(unit);
        if error.is_nan() || error > bound {
            return Err(format!("{what}: element {i} is {got}, and f64 says {want}").into());
        }
    }
    Ok(())
}

/// Checks that the values are those that are wanted.
pub fn equal<T: PartialEq + std::fmt::Debug>(what: &str, got: &[T], want: &[T]) -> Result<()> {
    if got.len() != want.len() {
        return Err(format!("{what}: {} values, and not {}", got.len(), want.len()).into());
    }
    match got.iter().zip(want).position(|(got, want)| got != want) {
        None => Ok(()),
        Some(at) => Err(format!("{what}: element {at} is {:?}, and not {:?}", got[at], want[at]).into()),
    }
}
