//! `#[unchecked(rule, ...)]` on an `unsafe` block, which switches rules off for what is reported in the block.

use syn::{Attribute, ExprUnsafe};

use super::{Parser, options};
use crate::model::expr::{Expr, ExprKind};
use crate::model::options::Waiver;
use crate::span::SpanRange;

pub(super) fn is_unchecked(attribute: &Attribute) -> bool {
    attribute.path().is_ident("unchecked")
}

impl Parser<'_> {
    pub(super) fn unsafe_block(&mut self, expr: &ExprUnsafe, span: SpanRange) -> Expr {
        for attribute in expr.attrs.iter().filter(|attribute| is_unchecked(attribute)) {
            for waiver in options::waivers(&attribute.meta, self.diags) {
                // A block may be parsed more than once: as what a macro is given, for one.
                let is_known = |known: &Waiver| known.rule == waiver.rule && known.at.begins_with(waiver.at);
                if !self.function.block_waivers.iter().any(is_known) {
                    self.function.block_waivers.push(Waiver { block: Some(span), ..waiver });
                }
            }
        }
        let block = self.block(&expr.block);
        let result_kind = self.block_gives(&block);
        Expr { kind: ExprKind::Unsafe(block), result_kind, span }
    }
}
