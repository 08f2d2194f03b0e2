//! What stands for a function, and for a type in a signature, that an attribute has refused.

use super::template::{Definition, Function, Summary};

/// The marker of a function in an `impl` that was refused. Nothing is required of its callers: the error is reported already.
#[derive(Debug)]
pub struct RefusedFunction;

impl Summary for RefusedFunction {}

impl Function for RefusedFunction {
    fn definition() -> Definition {
        unreachable!("no program with a refused function compiles")
    }
}

/// Stands for a type in a signature that the macro rejected: `<Refused<{ compile_error!("...") }> as
/// RefusedType>::Type` is an error about which rustc says nothing more.
#[derive(Debug)]
pub struct Refused<const FAULT: usize>;

/// Provides the type of a [`Refused`].
pub trait RefusedType {
    /// The type, which is never named.
    type Type;
}

impl RefusedType for Refused<0> {
    type Type = ();
}
