//! What the threads of a tile or a coalesced group do together, as tables: the methods have the same names in Rust and
//! in CUDA C++, so that the printers need one arm for all of them. CUDA C++ Programming Guide, Cooperative Groups.

/// A collective of a group of one warp.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WarpMethod {
    pub(crate) name: &'static str,
    pub(crate) operands: &'static [WarpOperand],
    /// Coalesced groups do not have it.
    pub(crate) of_tiles: bool,
}

/// An argument of a [`WarpMethod`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WarpOperand {
    /// Of any type, which the text shows.
    Value,
    /// Of the type that the method has it in.
    Given,
    /// `op::Plus`, or a closure of two values.
    Operator,
    /// A closure of nothing.
    Once,
}

use WarpOperand::{Given, Once, Operator, Value};

const fn method(name: &'static str, operands: &'static [WarpOperand]) -> WarpMethod {
    WarpMethod { name, operands, of_tiles: false }
}

pub(crate) static WARP_METHODS: [WarpMethod; 13] = [
    method("shfl", &[Value, Given]),
    method("shfl_up", &[Value, Given]),
    method("shfl_down", &[Value, Given]),
    WarpMethod { name: "shfl_xor", operands: &[Value, Given], of_tiles: true },
    method("any", &[Given]),
    method("all", &[Given]),
    method("ballot", &[Given]),
    method("match_any", &[Value]),
    method("match_all", &[Value]),
    method("reduce", &[Value, Operator]),
    method("inclusive_scan", &[Value, Operator]),
    method("exclusive_scan", &[Value, Operator]),
    method("invoke_one_broadcast", &[Once]),
];

/// An operator of `reduce` and the scans.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NamedOperator {
    /// In `phalanx::op`.
    pub(crate) rust_name: &'static str,
    /// In `phalanx::op` of the text.
    pub(crate) cuda_name: &'static str,
}

pub(crate) static OPERATORS: [NamedOperator; 6] = [
    NamedOperator { rust_name: "Plus", cuda_name: "op::plus" },
    NamedOperator { rust_name: "Min", cuda_name: "op::min" },
    NamedOperator { rust_name: "Max", cuda_name: "op::max" },
    NamedOperator { rust_name: "And", cuda_name: "op::bit_and" },
    NamedOperator { rust_name: "Or", cuda_name: "op::bit_or" },
    NamedOperator { rust_name: "Xor", cuda_name: "op::bit_xor" },
];

/// The functions that make coalesced groups of a group of one warp.
pub(crate) const PARTITIONS: [(&str, WarpOperand); 2] = [("labeled_partition", Value), ("binary_partition", Given)];
