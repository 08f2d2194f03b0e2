//! Constants that are references, `const PRIMES: &[u32] = &[2, 3, 5];`, and byte strings, `b"GATC"`. The text has arrays: the body gets a
//! constant with the elements, and names it instead. Which constants are references, the file shows, or the body itself.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span};
use quote::{format_ident, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprLit, ItemFn, Lit, Pat, Stmt, Type, UnOp, parse2};

use super::scalar_functions::is_number;
use super::syntax::strip;
use crate::source;
use crate::span::SpanRange;

/// The beginning of the names of constants that have the elements of others.
pub(super) const ELEMENTS: &str = "ELEMENTS_OF_";
/// The beginning of the names of constants that have the bytes of a byte string.
pub(super) const BYTES: &str = "BYTES_OF_TEXT_";

/// Replaces the byte strings of a function, and the constants that are references.
pub(super) fn replaced(mut item: ItemFn) -> ItemFn {
    let of_body = item.block.stmts.iter().filter_map(|stmt| match stmt {
        Stmt::Item(syn::Item::Const(of)) => Some((of.ident.to_string(), (*of.ty).clone())),
        Stmt::Item(syn::Item::Static(of)) => Some((of.ident.to_string(), (*of.ty).clone())),
        _ => None,
    });
    let of_body = of_body.collect();
    let mut constants = Constants { of_body, file: None, at: item.sig.ident.span(), made: BTreeMap::new(), texts: 0 };
    constants.visit_block_mut(&mut item.block);
    // Behind the constants of the body, which they may name.
    item.block.stmts.splice(0..0, constants.made.into_values().flatten());
    item
}

struct Constants {
    /// The types of the body's own constants.
    of_body: BTreeMap<String, Type>,
    file: Option<Option<String>>,
    at: Span,
    made: BTreeMap<String, Option<Stmt>>,
    texts: usize,
}

impl Constants {
    /// Returns the name of the array in place of a byte string, or of a constant that is a reference.
    fn array_of(&mut self, expr: &Expr) -> Option<Ident> {
        let at = SpanRange::of(expr).lo;
        match strip(expr) {
            Expr::Lit(ExprLit { lit: Lit::ByteStr(text), .. }) if !text.value().is_empty() => {
                self.texts += 1;
                let name = format_ident!("{BYTES}{}", self.texts, span = at);
                let length = text.value().len();
                let item = parse2(quote_spanned!(at=> const #name: [::core::primitive::u8; #length] = *#text;));
                self.made.insert(name.to_string(), item.ok());
                Some(name)
            }
            Expr::Path(path) if path.qself.is_none() => {
                let (text, prefix) = named(&path.path)?;
                let of = &path.path;
                let name = format_ident!("{ELEMENTS}{prefix}{text}", span = at);
                if let Some(made) = self.made.get(&name.to_string()) {
                    return made.is_some().then_some(name);
                }
                let item = self.type_of(&text).and_then(|ty| {
                    let Type::Reference(reference) = ty else { return None };
                    let item = match *reference.elem {
                        Type::Slice(slice) => {
                            let element = slice.elem;
                            quote_spanned!(at=>
                                const #name: [#element; #of.len()] = ::phalanx::__private::elements_of(#of);
                            )
                        }
                        array @ Type::Array(_) => quote_spanned!(at=> const #name: #array = *#of;),
                        Type::Path(text) if text.path.is_ident("str") => quote_spanned!(at=>
                            const #name: [::core::primitive::u8; #of.len()] =
                                ::phalanx::__private::elements_of(#of.as_bytes());
                        ),
                        _ => return None,
                    };
                    parse2(item).ok()
                });
                let is_one = item.is_some();
                self.made.insert(name.to_string(), item);
                is_one.then_some(name)
            }
            _ => None,
        }
    }

    fn type_of(&mut self, name: &str) -> Option<Type> {
        if let Some(ty) = self.of_body.get(name) {
            return Some(ty.clone());
        }
        let at = self.at;
        let file = self.file.get_or_insert_with(|| source::text(at));
        source::constant_type(file.as_deref()?, name)
    }

    fn is_text(&mut self, expr: &Expr) -> bool {
        let Expr::Path(path) = strip(expr) else { return false };
        let Some((name, _)) = named(&path.path) else { return false };
        matches!(self.type_of(&name), Some(Type::Reference(of))
                if matches!(&*of.elem, Type::Path(path) if path.path.is_ident("str")))
    }

    /// Replaces what is read by its parts, which needs no reference.
    fn place(&mut self, expr: &mut Expr) {
        match self.array_of(expr) {
            Some(name) => replace(expr, name, false),
            None => self.visit_expr_mut(expr),
        }
    }
}

/// Returns the name of a constant, and what its array's name has of the type that it is associated with: `Table::PRIMES`. An item in the
/// body cannot name `Self`.
fn named(path: &syn::Path) -> Option<(String, String)> {
    let mut names = path.segments.iter().rev().map(|segment| (segment.ident.to_string(), segment.arguments.is_none()));
    let (name, _) = names.next().filter(|(name, is_plain)| *is_plain && name.starts_with(char::is_uppercase))?;
    match (names.next(), names.next()) {
        (None, _) => Some((name, String::new())),
        (Some((owner, true)), None) if owner != "Self" && owner.starts_with(char::is_uppercase) => {
            Some((name, format!("{}_", owner.to_uppercase())))
        }
        _ => None,
    }
}

/// The code of a letter, as a number.
fn code_of(letter: &syn::LitChar, ty: &syn::Path) -> Option<Expr> {
    let code = proc_macro2::Literal::u64_unsuffixed(u32::from(letter.value()).into());
    parse2(quote_spanned!(letter.span()=> (#code as #ty))).ok()
}

fn replace(expr: &mut Expr, name: Ident, is_reference: bool) {
    let at = SpanRange::of(&*expr).lo;
    let array = match is_reference {
        true => quote_spanned!(at=> &#name),
        false => quote_spanned!(at=> #name),
    };
    *expr = parse2(array).unwrap_or_else(|_| expr.clone());
}

impl VisitMut for Constants {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::MethodCall(call) => {
                // The bytes of a text are the array itself.
                if call.method == "as_bytes" && call.args.is_empty() {
                    if self.is_text(&call.receiver)
                        && let Some(name) = self.array_of(&call.receiver)
                    {
                        return replace(expr, name, true);
                    }
                    if let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = strip(&call.receiver) {
                        let bytes = syn::LitByteStr::new(text.value().as_bytes(), text.span());
                        *expr = Expr::Lit(ExprLit { attrs: Vec::new(), lit: Lit::ByteStr(bytes) });
                        return self.visit_expr_mut(expr);
                    }
                }
                if !self.is_text(&call.receiver) || call.method == "len" || call.method == "is_empty" {
                    match &mut *call.receiver {
                        // `TEXT.as_bytes().len()`
                        Expr::MethodCall(inner) if inner.method == "as_bytes" && self.is_text(&inner.receiver) => {
                            let mut text = (*inner.receiver).clone();
                            self.place(&mut text);
                            *call.receiver = text;
                        }
                        receiver => self.place(receiver),
                    }
                }
                call.args.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
            }
            Expr::Index(index) => {
                match &mut *index.expr {
                    Expr::MethodCall(inner) if inner.method == "as_bytes" && self.is_text(&inner.receiver) => {
                        let mut text = (*inner.receiver).clone();
                        self.place(&mut text);
                        *index.expr = text;
                    }
                    base => self.place(base),
                }
                self.visit_expr_mut(&mut index.index);
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => match self.array_of(&unary.expr) {
                Some(name) => replace(expr, name, false),
                None => self.visit_expr_mut(&mut unary.expr),
            },
            // `u32::from('a')`
            Expr::Call(call)
                if matches!(&*call.func, Expr::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "from"))
                    && matches!(call.args.first().map(strip), Some(Expr::Lit(ExprLit { lit: Lit::Char(_), .. }))) =>
            {
                let Expr::Path(path) = &*call.func else { return };
                let mut owner = path.path.clone();
                owner.segments.pop();
                owner.segments.pop_punct();
                if let Some(Expr::Lit(ExprLit { lit: Lit::Char(letter), .. })) = call.args.first().map(strip)
                    && owner.get_ident().is_some_and(|ty| ["u32", "u64", "u128"].iter().any(|wide| ty == wide))
                {
                    *expr = code_of(letter, &owner).unwrap_or_else(|| expr.clone());
                }
            }
            // `'a' as u8`
            Expr::Cast(cast) => match (strip(&cast.expr), &*cast.ty) {
                (Expr::Lit(ExprLit { lit: Lit::Char(letter), .. }), Type::Path(ty))
                    if ty.path.get_ident().is_some_and(|ty| is_number(&ty.to_string())) =>
                {
                    *expr = code_of(letter, &ty.path).unwrap_or_else(|| expr.clone());
                }
                _ => visit_mut::visit_expr_cast_mut(self, cast),
            },
            // A text alone is no value.
            text if self.is_text(text) => {}
            _ => match self.array_of(expr) {
                Some(name) => replace(expr, name, true),
                None => visit_mut::visit_expr_mut(self, expr),
            },
        }
    }

    fn visit_pat_mut(&mut self, pat: &mut Pat) {
        if let Pat::Lit(ExprLit { lit: Lit::ByteStr(text), .. }) = pat {
            let at = text.span();
            let bytes = text.value().into_iter().map(|byte| syn::LitByte::new(byte, at));
            let elements = syn::parse::Parser::parse2(Pat::parse_single, quote_spanned!(at=> [#(#bytes),*]));
            *pat = elements.unwrap_or_else(|_| pat.clone());
            return;
        }
        visit_mut::visit_pat_mut(self, pat);
    }

    /// What a nested item has is rustc's.
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
