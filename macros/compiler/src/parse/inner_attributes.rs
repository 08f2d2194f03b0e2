//! Attributes inside a function: on parameters, statements, expressions, arms. They would apply to neither of the two
//! texts, so they are refused, but for `#[unroll]` on a loop and `#[unchecked(..)]` on an `unsafe` block. Those of the function
//! itself, and of constants and imports in it, keep their meaning.

use syn::visit::{self, Visit};
use syn::{Attribute, ExprForLoop, ExprLoop, ExprUnsafe, ExprWhile, Item, ItemFn};

use super::unchecked::is_unchecked;
use super::unroll::is_unroll;
use crate::diag::Diags;
use crate::messages;
use crate::span::SpanRange;

pub(super) fn refuse(function: &ItemFn, diags: &mut Diags) {
    let mut visitor = Refuse { diags };
    function.sig.inputs.iter().for_each(|input| visitor.visit_fn_arg(input));
    visitor.visit_block(&function.block);
}

struct Refuse<'d> {
    diags: &'d mut Diags,
}

impl Refuse<'_> {
    /// Refuses all attributes but these.
    fn all_but(&mut self, allowed: impl Fn(&Attribute) -> bool, attributes: &[Attribute]) {
        let refused = attributes.iter().filter(|attribute| !allowed(attribute));
        refused.for_each(|attribute| self.visit_attribute(attribute));
    }
}

impl<'ast> Visit<'ast> for Refuse<'_> {
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        let at = SpanRange::of(attribute);
        self.diags.push(match (is_unroll(attribute), is_unchecked(attribute)) {
            (true, _) => messages::misplaced_unroll(at),
            (_, true) => messages::misplaced_unchecked(at),
            (false, false) => messages::statement_attribute(at),
        });
    }

    fn visit_expr_unsafe(&mut self, block: &'ast ExprUnsafe) {
        self.all_but(is_unchecked, &block.attrs);
        self.visit_block(&block.block);
    }

    fn visit_expr_for_loop(&mut self, repeat: &'ast ExprForLoop) {
        self.all_but(is_unroll, &repeat.attrs);
        self.visit_pat(&repeat.pat);
        self.visit_expr(&repeat.expr);
        self.visit_block(&repeat.body);
    }

    fn visit_expr_while(&mut self, repeat: &'ast ExprWhile) {
        self.all_but(is_unroll, &repeat.attrs);
        self.visit_expr(&repeat.cond);
        self.visit_block(&repeat.body);
    }

    fn visit_expr_loop(&mut self, repeat: &'ast ExprLoop) {
        self.all_but(is_unroll, &repeat.attrs);
        self.visit_block(&repeat.body);
    }

    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            // A function is refused as such.
            Item::Const(_) | Item::Use(_) | Item::Fn(_) => {}
            item => visit::visit_item(self, item),
        }
    }
}
