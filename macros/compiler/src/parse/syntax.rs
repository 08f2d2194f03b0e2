//! Functions of syn's syntax tree that need no state of the parser.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{GenericArgument, Pat, PatIdent, PathArguments, Stmt, Token, Type};

/// The arguments of a call.
pub(super) type Arguments = Punctuated<syn::Expr, Token![,]>;

/// Returns the expression inside parentheses and the groups of `macro_rules!`.
pub(super) fn strip(expr: &syn::Expr) -> &syn::Expr {
    match expr {
        syn::Expr::Paren(paren) => strip(&paren.expr),
        syn::Expr::Group(group) => strip(&group.expr),
        expr => expr,
    }
}

/// Whether a length is the literal `0`.
pub(super) fn is_zero(length: &syn::Expr) -> bool {
    match unbraced(length) {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(digits), .. }) => digits.base10_digits() == "0",
        _ => false,
    }
}

/// Returns the generic argument at `index` as a constant: `N`, `32`, `{ A * B }`.
pub(super) fn const_argument(arguments: &PathArguments, index: usize) -> Option<TokenStream> {
    let PathArguments::AngleBracketed(arguments) = arguments else { return None };
    match arguments.args.iter().nth(index)? {
        GenericArgument::Const(expr) => Some(unbraced(expr).to_token_stream()),
        // A const parameter or a constant that is named looks like a type.
        GenericArgument::Type(Type::Path(path)) => Some(path.to_token_stream()),
        _ => None,
    }
}

/// Returns `{ A * B }` without its braces: the constant needs none where it is printed, and rustc would warn of them.
fn unbraced(expr: &syn::Expr) -> &syn::Expr {
    match expr {
        syn::Expr::Block(syn::ExprBlock { attrs, label: None, block }) if attrs.is_empty() => match &block.stmts[..] {
            [syn::Stmt::Expr(value, None)] => value,
            _ => expr,
        },
        _ => expr,
    }
}

/// Returns the generic argument at `index` as a type.
pub(super) fn type_argument(arguments: &PathArguments, index: usize) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = arguments else { return None };
    match arguments.args.iter().nth(index)? {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}

/// A closure's parameter without its type.
pub(super) fn untyped(input: &Pat) -> &Pat {
    if let Pat::Type(typed) = input { &typed.pat } else { input }
}

/// Returns a type's name in a form that can stand in an expression too: `Pair::<T>`.
pub(super) fn turbofished(ty: &Type) -> TokenStream {
    let Type::Path(path) = ty else { return ty.to_token_stream() };
    let mut path = path.clone();
    for segment in &mut path.path.segments {
        if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
            arguments.colon2_token = Some(Default::default());
        }
    }
    path.to_token_stream()
}

/// Whether statements bind a name.
pub(super) fn binds<'s>(statements: impl IntoIterator<Item = &'s Stmt>, name: &Ident) -> bool {
    struct Binds<'a> {
        name: &'a Ident,
        found: bool,
    }
    impl Visit<'_> for Binds<'_> {
        fn visit_pat_ident(&mut self, bound: &PatIdent) {
            self.found |= bound.ident == *self.name;
            visit::visit_pat_ident(self, bound);
        }
    }
    let mut binds = Binds { name, found: false };
    statements.into_iter().for_each(|statement| binds.visit_stmt(statement));
    binds.found
}
