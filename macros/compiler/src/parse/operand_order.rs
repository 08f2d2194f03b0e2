//! The operands of a call that is rewritten, in Rust's order of evaluation. A rewriting uses an operand later than Rust
//! evaluates it, or more than once: where that can be observed, the operand is first bound to a name.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

use super::slice::is_part;
use super::syntax::strip;

/// The operands of one call. Each is handed over once, in the order of the source.
pub(super) struct OperandOrder {
    /// Whether an operand may change what another one reads.
    matters: bool,
    bindings: TokenStream,
    count: usize,
    fresh: Span,
}

impl OperandOrder {
    /// Begins the operands of a call. `all` are all of them, however they are used.
    pub(super) fn of(all: &[&syn::Expr], fresh: Span) -> OperandOrder {
        let matters = all.iter().any(|operand| may_change(operand));
        OperandOrder { matters, bindings: TokenStream::new(), count: 0, fresh }
    }

    /// Returns the statements that evaluate the operands.
    pub(super) fn bindings(self) -> TokenStream {
        self.bindings
    }

    /// Returns the operand, or the name that its value is bound to.
    pub(super) fn value(&mut self, operand: &syn::Expr) -> TokenStream {
        match self.matters && !is_constant(operand) {
            true => self.bound(whole(operand)),
            false => whole(operand),
        }
    }

    /// Returns a place whose evaluation has no effects: its indexes are bound. `None` if it is no place.
    pub(super) fn place(&mut self, place: &syn::Expr) -> Option<TokenStream> {
        match strip(place) {
            syn::Expr::Path(path) => Some(path.to_token_stream()),
            syn::Expr::Field(field) => {
                let (base, member) = (self.place(&field.base)?, &field.member);
                Some(quote!(#base.#member))
            }
            syn::Expr::Unary(syn::ExprUnary { op: syn::UnOp::Deref(_), expr, .. }) => {
                let reference = self.place(expr)?;
                Some(quote!((*#reference)))
            }
            syn::Expr::Index(index) if !is_part(index) => {
                let (base, index) = (self.place(&index.expr)?, self.value(&index.index));
                Some(quote!(#base[#index]))
            }
            _ => None,
        }
    }

    /// Returns the source of an iterator, whose bounds and counts are bound.
    pub(super) fn source(&mut self, source: &syn::Expr) -> TokenStream {
        if !self.matters {
            return source.to_token_stream();
        }
        match strip(source) {
            syn::Expr::Range(range) => {
                let start = range.start.as_ref().map(|start| self.value(start));
                let end = range.end.as_ref().map(|end| self.value(end));
                let limits = &range.limits;
                quote!((#start #limits #end))
            }
            syn::Expr::MethodCall(call) => {
                let name = call.method.to_string();
                let base = match name.as_str() {
                    "iter" | "iter_mut" | "into_iter" | "chunks" | "chunks_exact" | "windows" => {
                        self.elements(&call.receiver)
                    }
                    "rev" | "enumerate" | "copied" | "cloned" | "step_by" | "skip" | "take" | "zip" | "chain"
                    | "flatten" => self.source(&call.receiver),
                    "flat_map" => {
                        let (base, arguments) = (self.source(&call.receiver), &call.args);
                        return quote!(#base.flat_map(#arguments));
                    }
                    // A method that returns an array.
                    _ => return self.elements(source),
                };
                let arguments = call.args.iter().map(|argument| match name.as_str() {
                    "zip" | "chain" => self.source(argument),
                    _ => self.value(argument),
                });
                let (arguments, method) = (arguments.collect::<Vec<_>>(), &call.method);
                quote!(#base.#method(#(#arguments),*))
            }
            syn::Expr::Reference(reference) => {
                let (mutability, elements) = (&reference.mutability, self.elements(&reference.expr));
                quote!(&#mutability #elements)
            }
            source => self.elements(source),
        }
    }

    /// Returns what holds the elements: a place, or the name that a value or a part of memory is bound to.
    fn elements(&mut self, elements: &syn::Expr) -> TokenStream {
        match strip(elements) {
            syn::Expr::Index(index) if is_part(index) => self.bound(quote!(&#index)),
            elements => match self.place(elements) {
                Some(place) => place,
                None => self.bound(whole(elements)),
            },
        }
    }

    fn bound(&mut self, value: TokenStream) -> TokenStream {
        self.count += 1;
        let (name, fresh) = (format_ident!("operand_{}", self.count, span = self.fresh), self.fresh);
        self.bindings.extend(quote_spanned!(fresh=> let #name = #value;));
        Ident::to_token_stream(&name)
    }
}

/// Returns the expression in parentheses, so that it stays one wherever it is written: `{ 10 } - x` would otherwise be two
/// statements at the start of a block.
pub(super) fn whole(expr: &syn::Expr) -> TokenStream {
    match strip(expr) {
        syn::Expr::Lit(_) | syn::Expr::Path(_) | syn::Expr::Paren(_) => expr.to_token_stream(),
        _ => quote!((#expr)),
    }
}

/// Whether it is a literal, whose type its place decides.
pub(super) fn is_constant(expr: &syn::Expr) -> bool {
    match strip(expr) {
        syn::Expr::Lit(_) => true,
        syn::Expr::Unary(unary) => matches!(unary.op, syn::UnOp::Neg(_)) && is_constant(&unary.expr),
        _ => false,
    }
}

/// Whether the evaluation of an expression may change what another one reads, as far as syntax shows.
pub(super) fn may_change(expr: &syn::Expr) -> bool {
    match expr {
        syn::Expr::Lit(_) | syn::Expr::Path(_) => false,
        syn::Expr::Paren(inner) => may_change(&inner.expr),
        syn::Expr::Group(inner) => may_change(&inner.expr),
        syn::Expr::Field(field) => may_change(&field.base),
        syn::Expr::Unary(unary) => may_change(&unary.expr),
        syn::Expr::Cast(cast) => may_change(&cast.expr),
        syn::Expr::Reference(reference) => may_change(&reference.expr),
        syn::Expr::Index(index) => may_change(&index.expr) || may_change(&index.index),
        syn::Expr::Tuple(tuple) => tuple.elems.iter().any(may_change),
        syn::Expr::Range(range) => range.start.iter().chain(&range.end).any(|bound| may_change(bound)),
        syn::Expr::Binary(binary) => !is_plain(&binary.op) || may_change(&binary.left) || may_change(&binary.right),
        // Those of iterators and of lengths.
        syn::Expr::MethodCall(call) if is_pure(&call.method) => {
            may_change(&call.receiver) || call.args.iter().any(may_change)
        }
        _ => true,
    }
}

fn is_pure(method: &Ident) -> bool {
    const METHODS: [&str; 15] = [
        "len",
        "iter",
        "iter_mut",
        "into_iter",
        "rev",
        "enumerate",
        "copied",
        "cloned",
        "zip",
        "step_by",
        "skip",
        "take",
        "chunks",
        "chunks_exact",
        "windows",
    ];
    METHODS.iter().any(|pure| method == pure)
}

/// Whether the operator is none of those that assign.
fn is_plain(op: &syn::BinOp) -> bool {
    super::operators::binary_op(op).is_some_and(|(_, assigns)| !assigns)
}
