//! The collectives of tiles and coalesced groups, as tables: the methods have the same names in Rust and in CUDA C++,
//! so that the printers need one arm for all of them. CUDA C++ Programming Guide, Cooperative Groups.

#![warn(clippy::wildcard_enum_match_arm)]

/// A collective of a group within one warp.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WarpMethod {
    pub(crate) name: &'static str,
    pub(crate) operands: &'static [WarpOperand],
    /// Whether only tiles have the method, and coalesced groups do not.
    pub(crate) tiles_only: bool,
    pub(crate) result: WarpResult,
}

/// The threads of the group that get the same result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WarpResult {
    /// All threads, whatever each of them contributes; each applies its own closure, if there is one.
    Agreed,
    /// All threads, which get what one of them computes by its closure.
    ComputedByOne,
    /// The threads that ask for the same thread's value: all of them, if its rank, the last operand, is uniform in the
    /// group.
    OfOneThread,
    /// No two threads need get the same result.
    PerThread,
}

/// An argument of a [`WarpMethod`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WarpOperand {
    /// A value of any type, which the text has to show.
    AnyType,
    /// A value of the type that the method's signature fixes.
    FixedType,
    /// `op::Plus` and its like, or a closure with two parameters.
    Operator,
    /// A closure without parameters.
    NullaryClosure,
}

use super::group::Group;
use WarpOperand::{AnyType, FixedType, NullaryClosure, Operator};

pub(crate) static WARP_METHODS: [WarpMethod; 14] = {
    use WarpResult::{Agreed, ComputedByOne, OfOneThread, PerThread};
    [
        WarpMethod { name: "shfl", operands: &[AnyType, FixedType], tiles_only: false, result: OfOneThread },
        WarpMethod { name: "shfl_up", operands: &[AnyType, FixedType], tiles_only: false, result: PerThread },
        WarpMethod { name: "shfl_down", operands: &[AnyType, FixedType], tiles_only: false, result: PerThread },
        WarpMethod { name: "shfl_xor", operands: &[AnyType, FixedType], tiles_only: true, result: PerThread },
        WarpMethod { name: "any", operands: &[FixedType], tiles_only: false, result: Agreed },
        WarpMethod { name: "all", operands: &[FixedType], tiles_only: false, result: Agreed },
        WarpMethod { name: "ballot", operands: &[FixedType], tiles_only: false, result: Agreed },
        WarpMethod { name: "match_any", operands: &[AnyType], tiles_only: false, result: PerThread },
        WarpMethod { name: "match_all", operands: &[AnyType], tiles_only: false, result: Agreed },
        WarpMethod { name: "reduce", operands: &[AnyType, Operator], tiles_only: false, result: Agreed },
        WarpMethod { name: "inclusive_scan", operands: &[AnyType, Operator], tiles_only: false, result: PerThread },
        WarpMethod { name: "exclusive_scan", operands: &[AnyType, Operator], tiles_only: false, result: PerThread },
        WarpMethod {
            name: "invoke_one_broadcast",
            operands: &[NullaryClosure],
            tiles_only: false,
            result: ComputedByOne,
        },
        // Of tiles, only the whole warp has it, which rustc checks.
        WarpMethod { name: "mma", operands: &[FixedType, FixedType, FixedType], tiles_only: true, result: PerThread },
    ]
};

impl WarpMethod {
    /// Returns the method of this name, if the group has it.
    pub(crate) fn of(group: Group, name: &str) -> Option<&'static WarpMethod> {
        let known = WARP_METHODS.iter();
        #[cfg(test)]
        let known = known.chain(&crate::tests::made_up::WARP_METHODS);
        let fits = |method: &WarpMethod| match group {
            Group::Tile => true,
            Group::Coalesced => !method.tiles_only,
            Group::ThreadBlock | Group::Cluster | Group::Grid => false,
        };
        known.into_iter().find(|method| method.name == name && fits(method))
    }
}

/// An operator of `reduce` and the scans.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NamedOperator {
    /// The name in `phalanx::op`.
    pub(crate) rust_name: &'static str,
    /// The name in the text.
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

/// The functions that partition a group within one warp into coalesced groups.
pub(crate) const PARTITIONS: [(&str, WarpOperand); 2] =
    [("labeled_partition", AnyType), ("binary_partition", FixedType)];
