//! The options in the parentheses of an attribute. Their values may be constants, which only rustc knows.

use proc_macro2::{Ident, TokenStream};

use crate::rules::Rule;
use crate::span::SpanRange;

/// The options of `#[cluster_kernel(...)]` and `#[device(...)]`; `None` is left to the launch.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) cluster: Option<Extents>,
    pub(crate) block: Option<Extents>,
    pub(crate) min_blocks: Option<Setting>,
    pub(crate) max_registers: Option<Setting>,
    pub(crate) shared_bytes: Option<Setting>,
    pub(crate) non_portable: bool,
    pub(crate) fast_math: bool,
    pub(crate) fmad: bool,
    /// Whether every barrier of the cluster orders all memory, rather than what it must.
    pub(crate) full_fences: bool,
    /// The compute capability of `arch`, which the kernel must run on.
    pub(crate) arch: Option<(i32, i32)>,
    /// Whether barriers are recorded on the GPU too.
    pub(crate) profile: bool,
    /// The parameters that may be read before `wait_previous()`, as the attribute names them.
    pub(crate) early: Vec<Ident>,
    /// The rules that `unchecked(...)` switches off. The function is unsafe to call if there are any.
    pub(crate) unchecked: Option<Vec<Waiver>>,
}

/// A numeric option.
#[derive(Debug)]
pub(crate) struct Setting {
    /// The value as the user wrote it.
    pub(crate) tokens: TokenStream,
    /// The value of a literal. The limits of other values are checked by rustc, with functions of the runtime.
    pub(crate) literal: Option<u64>,
    pub(crate) at: SpanRange,
}

/// Up to three extents: `4`, `(4, 2)` or `(4, 2, 1)`.
#[derive(Debug)]
pub(crate) struct Extents {
    pub(crate) each: Vec<Setting>,
    pub(crate) at: SpanRange,
}

impl Extents {
    /// Returns the product of the extents, if all of them are literals.
    pub(crate) fn count(&self) -> Option<u64> {
        self.each.iter().try_fold(1, |product: u64, extent| Some(product.saturating_mul(extent.literal?)))
    }

    /// Returns the index of a rank on one axis, if the extents up to it are literals: consecutive ranks differ on the first axis.
    pub(crate) fn index_on(&self, axis: usize, rank: u64) -> Option<u64> {
        let mut rest = rank;
        for (at, extent) in self.each.iter().enumerate() {
            let extent = extent.literal.filter(|extent| *extent > 0)?;
            if at == axis {
                return Some(rest % extent);
            }
            rest /= extent;
        }
        Some(0)
    }
}

/// A rule that `unchecked(...)` switches off, in a function or in one of its blocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiver {
    pub(crate) rule: Rule,
    /// The requirement that the rule states.
    pub(crate) summary: &'static str,
    pub(crate) at: SpanRange,
    /// The block in which the rule is off; `None` if it is off in the whole function.
    pub(crate) block: Option<SpanRange>,
}

impl Waiver {
    /// Whether the waiver removes a fault of this rule that is reported here.
    pub(crate) fn covers(&self, rule: Rule, at: SpanRange) -> bool {
        self.rule == rule && self.block.is_none_or(|block| block.contains(at))
    }
}
