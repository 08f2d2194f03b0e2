//! Sentences about `cuda!`.

use crate::diag::Diag;
use crate::rules::Rule;
use crate::span::SpanRange;

const FORM: &str = "write `cuda!(\"C++ statements\", in(x), in(y = expr), inout(z), out(w); else |x, y, z| ...)`";

pub(crate) fn malformed_cuda(at: SpanRange, why: &str) -> Diag {
    Diag::new(Rule::Cuda, at, format!("this `cuda!` cannot be read: {why}")).help(FORM)
}

pub(crate) fn cuda_text(at: SpanRange, why: &str) -> Diag {
    Diag::new(Rule::Cuda, at, format!("this text cannot stand in a function's body: {why}"))
        .help("write whole statements, as between `{` and `}`")
}

pub(crate) fn repeated_operand(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::Cuda, at, format!("two operands are named `{name}`"))
        .help("use `inout` for what is read and written, and `in(name = value)` for another name")
}

pub(crate) fn cuda_operand(at: SpanRange, is_input: bool) -> Diag {
    match is_input {
        true => Diag::new(Rule::Cuda, at, "an input is a value, or memory under its name")
            .help("groups and tokens stay with the kernel: what the text does must not be a collective"),
        false => Diag::new(Rule::Cuda, at, "an output is a local variable that holds a value")
            .help("store to memory after the text, or hand the memory in: `in(array)`"),
    }
}

pub(crate) fn cuda_operand_changes(at: SpanRange) -> Diag {
    Diag::new(Rule::Cuda, at, "an operand of `cuda!` only reads").help("bind the value with `let` first")
}

pub(crate) fn closure_parameters(at: SpanRange, inputs: usize, found: usize) -> Diag {
    Diag::new(Rule::Cuda, at, format!("parameters of this closure: {found}; inputs of the text: {inputs}"))
        .help("it takes the `in` and `inout` operands in their order, and gives the `out` and `inout` ones")
}
