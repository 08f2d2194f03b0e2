//! Sentences about `cuda!`.

use crate::diag::Diag;
use crate::rules::Rule;
use crate::span::SpanRange;

const FORM: &str = "write `cuda!(\"C++ statements\", in(x), in(y = expr), inout(z), out(w); else |x, y, z| ...)`";

pub(crate) fn malformed_cuda(at: SpanRange, why: &str) -> Diag {
    Diag::new(Rule::Cuda, at, format!("this `cuda!` cannot be parsed: {why}")).help(FORM)
}

pub(crate) fn cuda_text(at: SpanRange, why: &str) -> Diag {
    Diag::new(Rule::Cuda, at, format!("this C++ code is not valid in a function body: {why}"))
        .help("write complete statements, as between `{` and `}`")
}

pub(crate) fn repeated_operand(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::Cuda, at, format!("two operands are named `{name}`"))
        .help("use `inout` for what is read and written, and `in(name = value)` for another name")
}

pub(crate) fn cuda_operand(at: SpanRange, is_input: bool) -> Diag {
    match is_input {
        true => Diag::new(
            Rule::Cuda,
            at,
            "an input must be a value, or the name of memory, of a barrier or of a tensor's map",
        )
        .help("groups and tokens cannot be passed in: the C++ code must not execute a collective"),
        false => Diag::new(Rule::Cuda, at, "an output must be a local variable that holds a value")
            .help("store to memory after the C++ code, or pass the memory in: `in(array)`"),
    }
}

pub(crate) fn cuda_operand_changes(at: SpanRange) -> Diag {
    Diag::new(Rule::Cuda, at, "an operand of `cuda!` must have no side effects").help("bind the value with `let` first")
}

pub(crate) fn closure_parameters(at: SpanRange, inputs: usize, found: usize) -> Diag {
    Diag::new(
        Rule::Cuda,
        at,
        format!("this closure must take one parameter per input of the C++ code: expected {inputs}, found {found}"),
    )
    .help("it takes the `in` and `inout` operands in their order, and returns the `out` and `inout` ones")
}
