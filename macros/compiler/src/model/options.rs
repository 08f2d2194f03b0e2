//! What stands in the parentheses of an attribute. Values may be constants, which only rustc knows.

use proc_macro2::TokenStream;

use crate::rules::Rule;
use crate::span::SpanRange;

/// `#[cluster_kernel(...)]`, `#[device(...)]`; `None` is left to the launch.
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
    /// Barriers are recorded on the GPU too.
    pub(crate) profile: bool,
    /// The rules that `unchecked(...)` switches off. Where it stands, the function is unsafe to call.
    pub(crate) unchecked: Option<Vec<Waiver>>,
}

impl Options {
    pub(crate) fn waives(&self, rule: Rule) -> bool {
        self.unchecked.iter().flatten().any(|waiver| waiver.rule == rule)
    }
}

/// A number.
#[derive(Debug)]
pub(crate) struct Setting {
    /// As the user wrote it.
    pub(crate) tokens: TokenStream,
    /// Of a literal. Limits of others are rustc's to check, by functions of the runtime.
    pub(crate) literal: Option<u64>,
    pub(crate) at: SpanRange,
}

/// `4`, `(4, 2)` or `(4, 2, 1)`.
#[derive(Debug)]
pub(crate) struct Extents {
    pub(crate) each: Vec<Setting>,
    pub(crate) at: SpanRange,
}

impl Extents {
    /// How many that is, if all of them are literals.
    pub(crate) fn count(&self) -> Option<u64> {
        self.each.iter().try_fold(1, |product: u64, extent| Some(product.saturating_mul(extent.literal?)))
    }
}

/// A rule that `unchecked(...)` switches off.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiver {
    pub(crate) rule: Rule,
    /// What the rule asks for.
    pub(crate) summary: &'static str,
    pub(crate) at: SpanRange,
}
