//! Iterators over parts, `chunks(n)`, `chunks_exact(n)`, `rchunks(n)` and `windows(n)`: of memory, and of local arrays.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{ExprIndex, ExprMethodCall};

use super::Parser;
use super::iter_sources::{ElementAccess, Prologue, Sequence};
use super::local_parts::Elements;
use super::loop_items::Item;
use super::slice::EXACT_CHUNKS;
use super::syntax::strip;
use crate::messages;
use crate::model::kind::{Kind, Memory};
use crate::span::SpanRange;

impl Parser<'_> {
    /// Returns the parts of memory that `chunks(n)`, `chunks_exact(n)` or `windows(n)` yields.
    pub(super) fn parts(
        &mut self,
        call: &ExprMethodCall,
        name: &str,
        at: TokenStream,
        prologue: &mut Prologue,
    ) -> Option<Sequence> {
        let mutable = name.ends_with("_mut");
        if let Some(elements) = self.elements_before(&call.receiver, prologue) {
            return self.local_parts(elements, call, name, at, prologue);
        }
        // Parts of memory are written by index.
        if mutable && !self.is_local_array(&call.receiver) {
            self.diags.push(messages::loop_adaptor(SpanRange::of(&call.method), name));
            return None;
        }
        let (memory, by) = self.evaluated(&call.receiver, ElementAccess::ByReference { mutable }, prologue)?;
        if by.is_some() {
            let elements = Elements { start: quote!(0), length: quote!(#memory.len()), whole: memory };
            return self.local_parts(elements, call, name, at, prologue);
        }
        let (size, lo) = (prologue.name("size"), SpanRange::of(&call.method).lo);
        let what = if name == "windows" { "window size must be non-zero" } else { "chunk size must be non-zero" };
        self.count(&size, call.args.first()?, Some(what), prologue);
        let (part, length) = match name {
            "windows" => (
                quote_spanned!(lo=> #memory[#at..#at + #size]),
                quote_spanned!(lo=> (#memory.len() + 1).saturating_sub(#size)),
            ),
            "chunks" => {
                (quote_spanned!(lo=> #memory.chunks(#size)[#at]), quote_spanned!(lo=> #memory.len().div_ceil(#size)))
            }
            "rchunks" => {
                let end = quote_spanned!(lo=> (#memory.len() - #at * #size));
                (
                    quote_spanned!(lo=> #memory[#end.saturating_sub(#size)..#end]),
                    quote_spanned!(lo=> #memory.len().div_ceil(#size)),
                )
            }
            _ => {
                let exact = Ident::new(EXACT_CHUNKS, lo);
                (quote_spanned!(lo=> #memory.#exact(#size)[#at]), quote_spanned!(lo=> (#memory.len() / #size)))
            }
        };
        Some(Sequence { at: Item::Part(part), length })
    }

    /// Returns the parts of a local array.
    fn local_parts(
        &mut self,
        of: Elements,
        call: &ExprMethodCall,
        name: &str,
        at: TokenStream,
        prologue: &mut Prologue,
    ) -> Option<Sequence> {
        let (size, lo) = (prologue.name("size"), SpanRange::of(&call.method).lo);
        let what = if name == "windows" { "window size must be non-zero" } else { "chunk size must be non-zero" };
        self.count(&size, call.args.first()?, Some(what), prologue);
        let all = of.length.clone();
        let (start, length, count) = match name {
            "windows" => (at, size.to_token_stream(), quote_spanned!(lo=> (#all + 1).saturating_sub(#size))),
            "chunks" | "chunks_mut" => (
                quote_spanned!(lo=> (#at * #size)),
                quote_spanned!(lo=> (#all - #at * #size).min(#size)),
                quote_spanned!(lo=> #all.div_ceil(#size)),
            ),
            "rchunks" => (
                quote_spanned!(lo=> (#all - #at * #size).saturating_sub(#size)),
                quote_spanned!(lo=> (#all - #at * #size).min(#size)),
                quote_spanned!(lo=> #all.div_ceil(#size)),
            ),
            _ => (quote_spanned!(lo=> (#at * #size)), size.to_token_stream(), quote_spanned!(lo=> (#all / #size))),
        };
        let at = Item::LocalPart { elements: of.within(&start, length), mutable: name.ends_with("_mut") };
        Some(Sequence { at, length: count })
    }

    /// Returns the items of an iterator and then those of another, which have no one place.
    pub(super) fn chained(
        &mut self,
        call: &ExprMethodCall,
        at: TokenStream,
        prologue: &mut Prologue,
    ) -> Option<Sequence> {
        let lo = SpanRange::of(&call.method).lo;
        let length = prologue.name("length");
        let first = self.items(&call.receiver, at.clone(), prologue)?;
        self.before(&length, first.length, prologue);
        let second = self.items(call.args.first()?, quote_spanned!(lo=> (#at - #length)), prologue)?;
        let (Some((one, are_references)), Some((other, _))) = (first.at.copied(), second.at.copied()) else {
            self.diags.push(messages::chained_items(SpanRange::of(&call.method)));
            return None;
        };
        let either = quote_spanned!(lo=> (if #at < #length { #one } else { #other }));
        let rest = second.length;
        let at = if are_references { Item::Copy(either) } else { Item::Value(either) };
        Some(Sequence { at, length: quote_spanned!(lo=> (#length + #rest)) })
    }

    /// Returns the elements of a slice that may be written, by the name of a parameter: all of them, without a start, or those of a part. The
    /// names of a loop's items stand for their places, `memory[i]`.
    pub(super) fn written_memory(&mut self, expr: &syn::Expr, prologue: &mut Prologue) -> Option<Elements> {
        let (base, range) = match strip(expr) {
            syn::Expr::Index(ExprIndex { expr: base, index, .. }) => match strip(index) {
                syn::Expr::Range(range) => (strip(base), Some(range)),
                _ => return None,
            },
            expr => (expr, None),
        };
        let local = self.named_local(base)?;
        let is_written = self.function.kind(local) == Kind::Memory(Memory::GlobalMut);
        if !is_written || self.function.local(local).mutable.is_some() {
            return None;
        }
        let all = Elements { whole: quote!(#base), start: TokenStream::new(), length: quote!(#base.len()) };
        let Some(range) = range else { return Some(all) };
        let mut bounds = TokenStream::new();
        let part = self.bounded(Elements { start: quote!(0), ..all }, range, &mut bounds);
        let bounds = self.made(bounds);
        prologue.statements.extend(bounds);
        Some(part)
    }

    /// Returns the elements of a part of a local array, whose bounds are evaluated before the loop.
    pub(super) fn elements_before(&mut self, expr: &syn::Expr, prologue: &mut Prologue) -> Option<Elements> {
        let mut bounds = TokenStream::new();
        let elements = self.local_elements(expr, &mut bounds)?;
        let bounds = self.made(bounds);
        prologue.statements.extend(bounds);
        Some(elements)
    }
}
