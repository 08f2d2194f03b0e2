//! Visits the body of a function, whose types rustc has inferred: to call it, or to read those types.

use super::template::Slot;

/// Receives a body. `Args` is the tuple of its arguments, `R` its result.
pub trait Visitor<'a, Args: 'a, R> {
    /// The result of the visit.
    type Output;
    /// Visits the body, with a function that describes its slots, whose types rustc has inferred.
    fn visit<S, F, D>(self, body: F, describe: D) -> Self::Output
    where
        S: Default,
        F: Fn(Args) -> (R, S) + Copy + Send + Sync + 'a,
        D: Fn(&S, &mut Vec<Slot>);
}

/// The visitor that reads the types of the body's slots and never calls the body.
#[derive(Debug)]
pub struct Describe;

impl<'a, Args: 'a, R> Visitor<'a, Args, R> for Describe {
    type Output = Vec<Slot>;
    fn visit<S, F, D>(self, _body: F, describe: D) -> Vec<Slot>
    where
        S: Default,
        F: Fn(Args) -> (R, S) + Copy + Send + Sync + 'a,
        D: Fn(&S, &mut Vec<Slot>),
    {
        let mut slots = Vec::new();
        describe(&S::default(), &mut slots);
        slots
    }
}
