//! Attributes inside a function: on parameters, statements, expressions, arms. They would apply to neither of the two
//! texts, so they are refused. Those of the function itself, and of constants and imports in it, keep their meaning.

use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemFn};

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

impl<'ast> Visit<'ast> for Refuse<'_> {
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        self.diags.push(messages::statement_attribute(SpanRange::of(attribute)));
    }

    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Const(_) | Item::Use(_) => {}
            item => visit::visit_item(self, item),
        }
    }
}
