//! Branches, loops and jumps of the host body: Rust's own, with a tick in every loop at which the simulator can switch
//! threads.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::{Host, braces, generic_call, private};
use crate::model::expr::{Arm, Block, Condition, Expr, ExprKind, LiteralType};
use crate::model::range::{Adaptor, Range};
use crate::model::{LoopId, Unroll};
use crate::span::SpanRange;

fn lifetime(name: &Ident) -> TokenStream {
    let mut lifetime = syn::Lifetime::new(&format!("'{name}"), name.span());
    lifetime.set_span(name.span());
    quote!(#lifetime)
}

pub(super) fn label_prefix(label: Option<&Ident>) -> Option<TokenStream> {
    label.map(|label| {
        let label = lifetime(label);
        quote!(#label:)
    })
}

impl Host<'_> {
    pub(super) fn condition(&self, condition: &Condition) -> TokenStream {
        match condition {
            Condition::Value(condition) => self.expr(condition),
            Condition::Let { pattern, scrutinee } => {
                let (pattern, value) = (self.pattern(pattern), self.operand(scrutinee));
                quote_spanned!(scrutinee.span.lo=> let #pattern = #value)
            }
            Condition::All(parts) => {
                let parts = parts.iter().map(|part| match part {
                    Condition::Value(value) => self.operand(value),
                    part => self.condition(part),
                });
                quote!(#(#parts)&&*)
            }
        }
    }

    pub(super) fn branch(
        &self,
        condition: &Condition,
        then: &Block,
        otherwise: Option<&Expr>,
        discarded: bool,
        at: SpanRange,
    ) -> TokenStream {
        let condition = self.condition(condition);
        let (then, otherwise) = match discarded {
            true => (self.discarded_block(then), otherwise.map(|otherwise| self.discarded(otherwise))),
            false => (self.block(then), otherwise.map(|otherwise| self.expr(otherwise))),
        };
        // An `else if` may have gained braces of its own.
        let otherwise = otherwise.map(|otherwise| quote_spanned!(at.lo=> else { #otherwise }));
        quote_spanned!(at.lo=> if #condition #then #otherwise)
    }

    pub(super) fn match_expr(&self, scrutinee: &Expr, arms: &[Arm], discarded: bool, at: SpanRange) -> TokenStream {
        let scrutinee = self.operand(scrutinee);
        let arms = arms.iter().map(|arm| {
            let pattern = self.pattern(&arm.pattern);
            let guard = arm.guard.as_ref().map(|guard| {
                let condition = self.condition(guard);
                quote_spanned!(arm.pattern.span.lo=> if #condition)
            });
            let body = if discarded { self.discarded(&arm.body) } else { self.expr(&arm.body) };
            quote_spanned!(arm.pattern.span.lo=> #pattern #guard => #body)
        });
        let arms = braces(at, quote!(#(#arms,)*));
        quote_spanned!(at.lo=> match #scrutinee #arms)
    }

    /// Prints a loop's body, which starts with a tick.
    fn loop_body(&self, id: LoopId, body: &Block) -> TokenStream {
        let inside = self.discarded_block(body);
        let tick = private(SpanRange::at(body.span.lo), "tick", TokenStream::new());
        // The number of iterations to unroll counts as used.
        let factor = match self.function.unrolled.get(&id) {
            Some(Unroll::By(factor)) => {
                let factor = &self.function.values[usize::from(factor.0)].tokens;
                quote!(let _: ::core::primitive::usize = #factor;)
            }
            Some(Unroll::Fully | Unroll::Ahead(_)) | None => TokenStream::new(),
        };
        braces(body.span, quote!(#tick; #factor #inside))
    }

    pub(super) fn plain_loop(&self, id: LoopId, label: Option<&Ident>, body: &Block, at: SpanRange) -> TokenStream {
        let (label, body) = (label_prefix(label), self.loop_body(id, body));
        quote_spanned!(at.lo=> #label loop #body)
    }

    pub(super) fn while_loop(
        &self,
        id: LoopId,
        label: Option<&Ident>,
        condition: &Condition,
        body: &Block,
        at: SpanRange,
    ) -> TokenStream {
        let (label, condition, body) = (label_prefix(label), self.condition(condition), self.loop_body(id, body));
        quote_spanned!(at.lo=> #label while #condition #body)
    }

    pub(super) fn for_loop(
        &self,
        id: LoopId,
        label: Option<&Ident>,
        name: Option<(&Ident, Option<Span>)>,
        range: &Range,
        body: &Block,
        at: SpanRange,
    ) -> TokenStream {
        let label = label_prefix(label);
        let name = match name {
            Some((name, mutable)) => {
                let mutable = mutable.map(|at| quote_spanned!(at=> mut));
                quote!(#mutable #name)
            }
            None => quote!(_),
        };
        let (range, body) = (self.range(range), self.loop_body(id, body));
        quote_spanned!(at.lo=> #label for #name in #range #body)
    }

    fn range(&self, range: &Range) -> TokenStream {
        let (start, end) = (self.expr(&range.start), self.expr(&range.end));
        let lo = range.start.span.lo;
        let mut out = match range.inclusive {
            true => quote_spanned!(lo=> (#start..=#end)),
            false => quote_spanned!(lo=> (#start..#end)),
        };
        for adaptor in &range.adaptors {
            out = match adaptor {
                Adaptor::Rev => quote_spanned!(lo=> #out.rev()),
                Adaptor::StepBy(step, _) => {
                    // Rust would read a bare literal as an `i32`.
                    let generics = match step.kind {
                        ExprKind::Int { ty: LiteralType::Beside | LiteralType::Slot(_), .. } => {
                            quote_spanned!(lo=> ::core::primitive::usize)
                        }
                        _ => TokenStream::new(),
                    };
                    let step = generic_call(step.span, &["__private", "step"], generics, self.expr(step));
                    quote_spanned!(lo=> #out.step_by(#step))
                }
            };
        }
        out
    }

    pub(super) fn labelled(&self, label: &Ident, block: TokenStream, at: SpanRange) -> TokenStream {
        let label = lifetime(label);
        quote_spanned!(at.lo=> #label: #block)
    }

    /// A block behind a `break` would look like a labelled one, of which a lint warns.
    pub(super) fn jump_value(&self, value: &Expr) -> TokenStream {
        let tokens = self.expr(value);
        match value.kind {
            ExprKind::Block(_) => quote!((#tokens)),
            _ => tokens,
        }
    }

    pub(super) fn jump(
        &self,
        keyword: &str,
        label: Option<&Ident>,
        value: Option<TokenStream>,
        at: Span,
    ) -> TokenStream {
        let keyword = Ident::new(keyword, at);
        let label = label.map(lifetime);
        quote_spanned!(at=> #keyword #label #value)
    }
}
