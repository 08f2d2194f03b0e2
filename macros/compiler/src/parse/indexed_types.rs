//! Types of the file with an `Index` that is written by hand, `grid[(x, y)]`. The function there returns a reference to a part of the value,
//! `&self.cells[y * 4 + x]`: the index is replaced by that place, so that it is read, written and borrowed as any other.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Expr, ExprIndex, FnArg, ImplItem, ImplItemFn, ItemImpl, Pat, Stmt, Type, parse2};

use super::Parser;
use super::desugared_methods::is_plain;
use super::named_iterators::names_in;
use super::operand_types::TypeHint;
use super::syntax::strip;
use crate::source;
use crate::span::SpanRange;

/// Whether a trait is that of `[]`.
pub(super) fn is_index(name: &str) -> bool {
    ["Index", "IndexMut"].contains(&name)
}

/// Whether an `impl` of it can be replaced by a place.
pub(super) fn gives_places(item: &ItemImpl) -> bool {
    item.items.iter().all(|member| match member {
        ImplItem::Fn(function) => Indexed::of(function).is_some(),
        _ => true,
    })
}

impl Parser<'_> {
    /// Returns the place that an index of a value of such a type names.
    pub(super) fn indexed_by_hand(&self, index: &ExprIndex) -> Option<Expr> {
        let TypeHint::Named(name) = self.hint_of_place(&index.expr) else { return None };
        let file = self.file()?;
        let functions: Vec<ImplItemFn> =
            source::index_functions(file, &name)?.into_iter().flat_map(functions).collect();
        let (first, rest) = functions.split_first()?;
        let indexed = Indexed::of(first)?;
        // One place, whether it is read or written.
        let same = |other: &ImplItemFn| Indexed::of(other).is_some_and(|other| other.text() == indexed.text());
        if !rest.iter().all(same) {
            return None;
        }
        indexed.place(&index.expr, &index.index)
    }
}

fn functions(item: ItemImpl) -> impl Iterator<Item = ImplItemFn> {
    item.items.into_iter().filter_map(|member| match member {
        ImplItem::Fn(function) => Some(function),
        _ => None,
    })
}

/// The function of an `Index`, taken apart.
struct Indexed {
    pat: Pat,
    ty: Type,
    /// The statements before the place.
    statements: Vec<Stmt>,
    /// The place, which begins with `self`.
    place: Expr,
}

impl Indexed {
    fn of(function: &ImplItemFn) -> Option<Indexed> {
        let mut inputs = function.sig.inputs.iter();
        let (FnArg::Receiver(_), FnArg::Typed(index), None) = (inputs.next()?, inputs.next()?, inputs.next()) else {
            return None;
        };
        let (last, statements) = function.block.stmts.split_last()?;
        let Stmt::Expr(Expr::Reference(reference), None) = last else { return None };
        let is_simple = |stmt: &Stmt| matches!(stmt, Stmt::Local(_) | Stmt::Macro(_));
        let place = strip(&reference.expr).clone();
        (is_place(&place) && statements.iter().all(is_simple)).then(|| Indexed {
            pat: (*index.pat).clone(),
            ty: (*index.ty).clone(),
            statements: statements.to_vec(),
            place,
        })
    }

    fn text(&self) -> String {
        let Indexed { pat, ty, statements, place } = self;
        quote!(#pat #ty #(#statements)* #place).to_string()
    }

    /// Returns the place in a value, at an index.
    fn place(&self, base: &Expr, index: &Expr) -> Option<Expr> {
        let at = SpanRange::of(index).lo;
        let Indexed { pat, ty, statements, place } = self;
        let mut bound = names_in(pat.to_token_stream());
        for stmt in statements {
            if let Stmt::Local(local) = stmt {
                bound.extend(names_in(local.pat.to_token_stream()));
            }
        }
        // What the caller calls by the same names is something else.
        let own = |tokens: TokenStream| renamed(tokens, &bound, at);
        let (pat, statements) = (own(pat.to_token_stream()), own(quote!(#(#statements)*)));
        let before = quote_spanned!(at=> let #pat: #ty = #index; #statements);
        let mut count = 0;
        let place = in_base(place, base, &mut |position| {
            count += 1;
            let position = own(position.to_token_stream());
            quote_spanned!(at=> { #before #position })
        });
        // With several indexes, it is evaluated several times.
        let is_repeatable = match strip(index) {
            Expr::Tuple(tuple) => tuple.elems.iter().all(has_no_effect),
            index => has_no_effect(index),
        };
        (count == 1 || is_repeatable && statements.is_empty()).then(|| parse2(place).ok())?
    }
}

/// Whether it may be evaluated several times.
fn has_no_effect(expr: &Expr) -> bool {
    match strip(expr) {
        Expr::Unary(unary) => !matches!(unary.op, syn::UnOp::Deref(_)) && has_no_effect(&unary.expr),
        Expr::Binary(binary) => {
            has_no_effect(&binary.left) && has_no_effect(&binary.right) && is_plain_operator(binary)
        }
        expr => is_plain(expr),
    }
}

/// Whether it is no assignment.
fn is_plain_operator(binary: &syn::ExprBinary) -> bool {
    use syn::BinOp::{Add, Div, Mul, Rem, Sub};
    matches!(binary.op, Add(_) | Sub(_) | Mul(_) | Div(_) | Rem(_))
}

/// Whether it is a part of `self`.
fn is_place(place: &Expr) -> bool {
    match strip(place) {
        Expr::Path(path) => path.path.is_ident("self"),
        Expr::Field(field) => is_place(&field.base),
        Expr::Index(index) => !matches!(strip(&index.index), Expr::Range(_)) && is_place(&index.expr),
        _ => false,
    }
}

fn in_base(place: &Expr, base: &Expr, index: &mut impl FnMut(&Expr) -> TokenStream) -> TokenStream {
    match strip(place) {
        Expr::Field(field) => {
            let (inner, member) = (in_base(&field.base, base, index), &field.member);
            quote!(#inner.#member)
        }
        Expr::Index(element) => {
            let inner = in_base(&element.expr, base, index);
            let position = index(&element.index);
            quote!(#inner[#position])
        }
        _ => base.to_token_stream(),
    }
}

/// Gives names others, and all tokens the place of the index.
fn renamed(tokens: TokenStream, names: &[Ident], at: Span) -> TokenStream {
    let mut is_member = false;
    let rename = |tree: TokenTree| {
        let was_member =
            std::mem::replace(&mut is_member, matches!(&tree, TokenTree::Punct(dot) if dot.as_char() == '.'));
        match tree {
            TokenTree::Ident(name) if !was_member && names.contains(&name) => {
                format_ident!("{name}_of_index", span = at.resolved_at(Span::mixed_site())).into()
            }
            TokenTree::Group(group) => {
                let mut inner = proc_macro2::Group::new(group.delimiter(), renamed(group.stream(), names, at));
                inner.set_span(at);
                TokenTree::Group(inner)
            }
            mut tree => {
                tree.set_span(at);
                tree
            }
        }
    };
    tokens.into_iter().map(rename).collect()
}
