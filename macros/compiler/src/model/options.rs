//! The options in the parentheses of an attribute. Their values may be constants, which only rustc knows.

use proc_macro2::TokenStream;

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
    /// Whether barriers are recorded on the GPU too.
    pub(crate) profile: bool,
    /// The rules that `unchecked(...)` switches off. The function is unsafe to call if there are any.
    pub(crate) unchecked: Option<Vec<Waiver>>,
}

impl Options {
    pub(crate) fn waives(&self, rule: Rule) -> bool {
        self.unchecked.iter().flatten().any(|waiver| waiver.rule == rule)
    }
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
}

/// A rule that `unchecked(...)` switches off.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiver {
    pub(crate) rule: Rule,
    /// The requirement that the rule states.
    pub(crate) summary: &'static str,
    pub(crate) at: SpanRange,
}
