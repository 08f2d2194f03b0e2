//! The function that stands for one that an attribute has refused.

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
