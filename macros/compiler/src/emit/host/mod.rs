//! The host body: the user's function as ordinary Rust over the host API, with the user's spans, so that rustc's
//! messages and the simulator's locations point into the user's source. rustc checks its types and moves; the simulator
//! runs it.

mod claim;
mod control;
mod copy;
mod filled_array;
mod inline_cuda;
mod memory;
mod message;
mod methods;
mod op;
mod pattern;
mod place;
mod slots;
mod value;

use std::cell::RefCell;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

pub(crate) use methods::methods_of_rust;
pub(crate) use op::one_collective;
pub(crate) use slots::{all as all_slots, declarations as slot_declarations, place as slot_place};

use crate::check::Checked;
use crate::model::barrier::{Barrier, BarrierForm};
use crate::model::expr::{Block, Expr, ExprKind, Stmt, StmtKind};
use crate::model::kind::Kind;
use crate::model::op::Op;
use crate::model::{Function, LocalId, SlotId};
use crate::span::SpanRange;

/// Returns the label of the whole body, which `return` leaves.
pub(crate) fn body_label() -> syn::Lifetime {
    syn::Lifetime::new("'__phalanx_body", Span::call_site())
}

/// A function's body in the host.
pub(crate) struct HostBody {
    /// The statements and the value.
    pub(crate) block: TokenStream,
    /// A closure that describes the body's slots.
    pub(crate) description: TokenStream,
}

pub(crate) fn body(checked: &Checked<'_>, start: &TokenStream) -> HostBody {
    let function = checked.function();
    let filled = RefCell::new(vec![None; function.slots.len()]);
    let host = Host { function, checked, filled: &filled, receivers: Vec::new() };
    let inside = host.inside(&function.body, function.ret.is_none());
    let label = body_label();
    // The statements stand in the block of the body's own items: a constant that hides a parameter is an error, as for
    // any local.
    let claims = claim::claims(function);
    let body = braces(function.body.span, quote!(#claims #start #inside));
    HostBody { block: quote!(#label: #body), description: slots::description(&filled.into_inner()) }
}

struct Host<'f> {
    function: &'f Function,
    checked: &'f Checked<'f>,
    /// The span where each slot is filled first.
    filled: &'f RefCell<Vec<Option<SpanRange>>>,
    /// The variables whose methods take the current expression as an argument: it may call no method that changes them.
    /// Rust copies a receiver that is taken by value before it evaluates the arguments, and the text does not.
    receivers: Vec<LocalId>,
}

/// Makes `::phalanx::path(arguments)`, with every token at the user's span: only then do rustc and `#[track_caller]`
/// name it.
fn call(at: SpanRange, path: &[&str], arguments: TokenStream) -> TokenStream {
    generic_call(at, path, TokenStream::new(), arguments)
}

/// Makes `::phalanx::path::<generics>(arguments)` in the same way.
fn generic_call(at: SpanRange, path: &[&str], generics: TokenStream, arguments: TokenStream) -> TokenStream {
    let lo = at.lo;
    let segments = path.iter().map(|segment| Ident::new(segment, lo));
    let generics = (!generics.is_empty()).then(|| quote_spanned!(lo=> ::<#generics>));
    let arguments = grouped(Delimiter::Parenthesis, at.hi, arguments);
    quote_spanned!(lo=> ::phalanx #(::#segments)* #generics #arguments)
}

/// Makes an identifier of generated code: it has the user's span, but resolves apart from the user's names, as kernels
/// made by `macro_rules!` need.
pub(super) fn internal(name: &str, at: SpanRange) -> Ident {
    Ident::new(name, at.lo.resolved_at(Span::call_site()))
}

/// Imports the private API into a body under a short name: a path is as expensive as it is long, for the macro and for rustc.
pub(crate) fn private_api() -> TokenStream {
    quote! {
        #[allow(unused_imports, reason = "an empty body calls nothing")]
        use ::phalanx::__private as __phalanx;
    }
}

/// Calls a function of the private API.
fn private(at: SpanRange, name: &str, arguments: TokenStream) -> TokenStream {
    // An import is found from every span, and a span that is not the user's would show in rustc's messages.
    let [api, name] = ["__phalanx", name].map(|word| Ident::new(word, at.lo));
    let arguments = grouped(Delimiter::Parenthesis, at.hi, arguments);
    quote_spanned!(at.lo=> #api::#name #arguments)
}

fn grouped(delimiter: Delimiter, span: Span, inside: TokenStream) -> TokenTree {
    let mut group = Group::new(delimiter, inside);
    group.set_span(span);
    group.into()
}

impl Host<'_> {
    fn ident(&self, local: LocalId, at: SpanRange) -> Ident {
        let name = &self.function.local(local).name;
        let mut ident = name.clone();
        ident.set_span(name.span().located_at(at.lo));
        ident
    }

    fn slot(&self, slot: SlotId, at: SpanRange) -> TokenStream {
        self.filled.borrow_mut()[usize::from(slot.0)].get_or_insert(at);
        slots::place(slot, at)
    }

    /// Has rustc write a value's type into a slot.
    fn typed(&self, slot: SlotId, value: TokenStream, at: SpanRange) -> TokenStream {
        let slot = self.slot(slot, at);
        private(at, "typed", quote!(#slot, #value))
    }

    /// Prints an expression as an operand of Rust's own syntax.
    fn operand(&self, expr: &Expr) -> TokenStream {
        parentheses(expr.span, self.expr(expr))
    }

    /// Prints a reference to a group or to memory.
    fn borrowed(&self, expr: &Expr) -> TokenStream {
        let value = self.expr(expr);
        let lo = expr.span.lo;
        match expr.kind {
            // These names are references in the host body too.
            ExprKind::Local(local) if slots::is_reference(self.function, local) => value,
            _ => quote_spanned!(lo=> &#value),
        }
    }

    fn block(&self, block: &Block) -> TokenStream {
        braces(block.span, self.inside(block, false))
    }

    /// Prints a block whose value is `()` or not used.
    fn discarded_block(&self, block: &Block) -> TokenStream {
        braces(block.span, self.inside(block, true))
    }

    fn inside(&self, block: &Block, discarded: bool) -> TokenStream {
        let statements = block.statements.iter().map(|statement| self.statement(statement));
        let tail = block.tail.as_ref().map(|tail| if discarded { self.discarded(tail) } else { self.expr(tail) });
        quote!(#(#statements)* #tail)
    }

    fn statement(&self, statement: &Stmt) -> TokenStream {
        match &statement.kind {
            // The loop behind it declares it.
            StmtKind::Let { local, init: None, .. } if self.function.local(*local).filled_by.is_some() => {
                TokenStream::new()
            }
            StmtKind::Let { local, ty, init } => {
                self.declare(*local, ty.as_ref().map(|ty| &ty.tokens), init.as_ref(), statement.span)
            }
            StmtKind::Split { halves, init } => {
                let halves = halves.map(|half| match half {
                    Some(local) => {
                        let info = self.function.local(local);
                        let (name, mutable) = (&info.name, info.mutable.map(|at| quote_spanned!(at=> mut)));
                        quote!(#mutable #name)
                    }
                    None => quote!(_),
                });
                let value = self.expr(init);
                quote_spanned!(statement.span.lo=> let (#(#halves),*) = #value;)
            }
            StmtKind::LetPattern { pattern, ty, init, otherwise } => {
                let lo = statement.span.lo;
                let (pattern, value) = (self.pattern(pattern), self.expr(init));
                let ty = ty.as_ref().map(|ty| &ty.tokens).map(|ty| quote_spanned!(lo=> : #ty));
                // The value has parentheses, because `let .. else` takes none that ends with a brace.
                let value = if otherwise.is_some() { parentheses(init.span, value) } else { value };
                let otherwise = otherwise.as_ref().map(|otherwise| {
                    let block = self.block(otherwise);
                    quote_spanned!(lo=> else #block)
                });
                quote_spanned!(lo=> let #pattern #ty = #value #otherwise;)
            }
            StmtKind::Discard(expr) => {
                let value = self.expr(expr);
                quote_spanned!(statement.span.lo=> let _ = #value;)
            }
            StmtKind::Expr(expr) => {
                if let Some(filled) = self.filled_array(expr, statement.span) {
                    return filled;
                }
                let value = self.discarded(expr);
                quote!(#value;)
            }
            StmtKind::Item(item) => item.clone(),
        }
    }

    fn declare(&self, local: LocalId, ty: Option<&TokenStream>, init: Option<&Expr>, at: SpanRange) -> TokenStream {
        let info = self.function.local(local);
        let (name, lo) = (&info.name, at.lo);
        let mutable = info.mutable.map(|at| quote_spanned!(at=> mut));
        let ty = ty.filter(|ty| !ty.is_empty()).map(|ty| quote_spanned!(lo=> : #ty));
        let init = init.map(|init| {
            let value = match &init.kind {
                ExprKind::Op { op: Op::SharedBarrier(barrier, index), .. } => {
                    self.shared_barrier(*barrier, *index, local, init.span)
                }
                // The result of a function that returns nothing cannot be a variable.
                ExprKind::Call { callee, slot, arguments } if init.result_kind == Kind::Value => {
                    self.checked_call(callee, *slot, arguments, (init, "value"))
                }
                ExprKind::CallClosure { .. } if init.result_kind == Kind::Value => {
                    private(init.span, "value", self.expr(init))
                }
                _ => self.expr(init),
            };
            quote_spanned!(lo=> = #value)
        });
        // The slot of a token's local stays empty.
        let unused = info.slot.filter(|_| info.kind != Kind::Value).map(|slot| {
            let slot = self.slot(slot, at);
            quote!(::phalanx::__private::unused(#slot);)
        });
        quote_spanned!(lo=> #unused let #mutable #name #ty #init;)
    }

    /// Makes a barrier of a new brand: a type that is named after the variable, for rustc's messages.
    fn shared_barrier(&self, barrier: Barrier, index: usize, local: LocalId, at: SpanRange) -> TokenStream {
        let (lo, brand) = (at.lo, &self.function.local(local).name);
        let length =
            self.function.shared.get(index).map(|(_, length)| &self.function.values[usize::from(length.0)].tokens);
        let length =
            length.filter(|_| barrier.form == BarrierForm::Array).map(|length| quote_spanned!(lo=> , { #length }));
        let made = generic_call(at, &[barrier.origin()], quote_spanned!(lo=> #brand #length), TokenStream::new());
        let allow = quote_spanned!(lo=> #[allow(non_camel_case_types, reason = "named after the barrier")]);
        quote_spanned!(lo=> { #allow enum #brand {} #made })
    }

    /// Prints an expression as a statement: the slot for its value stays empty.
    fn discarded(&self, expr: &Expr) -> TokenStream {
        let value = match &expr.kind {
            ExprKind::If { condition, then, otherwise, .. } => {
                self.branch(condition, then, otherwise.as_deref(), true, expr.span)
            }
            ExprKind::Match { scrutinee, arms, .. } => self.match_expr(scrutinee, arms, true, expr.span),
            ExprKind::Loop { id, label, body, .. } => self.plain_loop(*id, label.as_ref(), body, expr.span),
            ExprKind::Labelled { label, block, .. } => self.labelled(label, self.discarded_block(block), expr.span),
            ExprKind::Block(block) => self.discarded_block(block),
            ExprKind::Unsafe(block) => {
                let block = self.discarded_block(block);
                quote_spanned!(expr.span.lo=> unsafe #block)
            }
            _ => self.expr(expr),
        };
        match expr.value_slot() {
            Some(slot) => {
                let slot = self.slot(slot, expr.span);
                quote!({ ::phalanx::__private::unused(#slot); #value })
            }
            None => value,
        }
    }
}

/// Makes parentheses with the span of their content: rustc reports a call inside at their span.
fn parentheses(at: SpanRange, inside: TokenStream) -> TokenStream {
    grouped(Delimiter::Parenthesis, at.lo, inside).into()
}

fn braces(at: SpanRange, inside: TokenStream) -> TokenStream {
    grouped(Delimiter::Brace, at.hi, inside).into()
}
