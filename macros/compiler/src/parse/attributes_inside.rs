//! Attributes inside a function that mean the same for both texts: `#[cfg]` and lints. Whether a `#[cfg]` holds only rustc
//! knows, so that the item becomes two, one with what stands under the attribute and one without, of which rustc keeps one. A lint is
//! allowed in the whole function.

use std::cell::RefCell;

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Block, Expr, ImplItem, Item, Meta, Signature, Stmt, TraitItem};

use crate::model::Role;

/// The lints' attributes that hold for a function as they would for a statement in it.
const LINTS: [&str; 2] = ["allow", "expect"];

/// An item with attributes inside of its functions.
pub(crate) enum Settled {
    /// There are no such attributes.
    Unchanged,
    /// The attributes of lints are on the functions now.
    Item(TokenStream),
    /// The item if a condition holds, and if it does not.
    Either { condition: TokenStream, with: TokenStream, without: TokenStream },
}

/// Takes the attributes out of an item's functions.
pub(crate) fn settled(tokens: &TokenStream) -> Settled {
    if !tokens.clone().into_iter().any(|tree| matches!(tree, TokenTree::Group(group) if has_attribute(&group))) {
        return Settled::Unchanged;
    }
    let Ok(mut item) = syn::parse2::<Item>(tokens.clone()) else { return Settled::Unchanged };
    let mut lints = Lints { found: Vec::new(), any: false };
    functions(&mut item, &mut |attrs, signature, body| {
        signature.inputs.iter_mut().for_each(|input| lints.visit_fn_arg_mut(input));
        lints.visit_block_mut(body);
        attrs.append(&mut lints.found);
    });
    let mut find = Keep { condition: None, holds: true, first: RefCell::new(None) };
    functions(&mut item, &mut |_, signature, body| find.visit_function(signature, body));
    let Some(condition) = find.first.into_inner() else {
        return if lints.any { Settled::Item(item.into_token_stream()) } else { Settled::Unchanged };
    };
    let [with, without] = [true, false].map(|holds| {
        let mut item = item.clone();
        let mut keep = Keep { condition: Some(condition.to_string()), holds, first: RefCell::new(None) };
        functions(&mut item, &mut |_, signature, body| keep.visit_function(signature, body));
        item.into_token_stream()
    });
    Settled::Either { condition, with, without }
}

/// Whether there is an attribute inside.
fn has_attribute(group: &Group) -> bool {
    group.stream().into_iter().any(|tree| match tree {
        TokenTree::Group(group) => has_attribute(&group),
        TokenTree::Punct(punct) => punct.as_char() == '#',
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    })
}

/// Calls a function with the parts of each function of an item.
fn functions(item: &mut Item, each: &mut dyn FnMut(&mut Vec<Attribute>, &mut Signature, &mut Block)) {
    match item {
        Item::Fn(item) => each(&mut item.attrs, &mut item.sig, &mut item.block),
        Item::Impl(item) => {
            for member in &mut item.items {
                if let ImplItem::Fn(method) = member {
                    each(&mut method.attrs, &mut method.sig, &mut method.block);
                }
            }
        }
        Item::Trait(item) => {
            for member in &mut item.items {
                if let TraitItem::Fn(method) = member
                    && let Some(body) = &mut method.default
                {
                    each(&mut method.attrs, &mut method.sig, body);
                }
            }
        }
        _ => {}
    }
}

/// Returns the condition of a `#[cfg(condition)]`.
fn condition_of(attr: &Attribute) -> Option<TokenStream> {
    match &attr.meta {
        Meta::List(list) if attr.path().is_ident("cfg") => Some(list.tokens.clone()),
        Meta::List(_) | Meta::Path(_) | Meta::NameValue(_) => None,
    }
}

/// Takes the attributes of lints.
struct Lints {
    found: Vec<Attribute>,
    any: bool,
}

impl VisitMut for Lints {
    fn visit_attributes_mut(&mut self, attrs: &mut Vec<Attribute>) {
        let is_lint = |attr: &Attribute| LINTS.iter().any(|lint| attr.path().is_ident(lint));
        let of_tool = |attr: &Attribute| attr.path().segments.first().is_some_and(|first| first.ident == "rustfmt");
        for attr in attrs.extract_if(.., |attr| is_lint(attr) || of_tool(attr)) {
            self.any = true;
            if of_tool(&attr) {
                continue;
            }
            // Whether a lint that is expected is found there alone cannot be told any more.
            let Meta::List(list) = &attr.meta else { continue };
            let (at, lints) = (&attr.pound_token, &list.tokens);
            self.found.push(syn::parse_quote_spanned!(at.span=> #[allow(#lints)]));
        }
    }

    // An item keeps its own.
    fn visit_item_mut(&mut self, _: &mut Item) {}
}

/// Takes out a condition that holds, and what stands under one that does not; or finds the first one. An expression in a place that must
/// have one keeps its attribute, and is refused.
struct Keep {
    /// The condition that is meant; none if one is sought.
    condition: Option<String>,
    holds: bool,
    first: RefCell<Option<TokenStream>>,
}

impl Keep {
    fn visit_function(&mut self, signature: &mut Signature, body: &mut Block) {
        self.list(&mut signature.inputs, |input| match input {
            syn::FnArg::Receiver(receiver) => &mut receiver.attrs,
            syn::FnArg::Typed(typed) => &mut typed.attrs,
        });
        self.visit_block_mut(body);
    }

    /// Says whether what has these attributes stays, and takes the condition off it.
    fn stays(&self, attrs: &mut Vec<Attribute>) -> bool {
        let Some(meant) = &self.condition else {
            let mut first = self.first.borrow_mut();
            *first = first.take().or_else(|| attrs.iter().find_map(condition_of));
            return true;
        };
        let is_meant = |attr: &Attribute| condition_of(attr).is_some_and(|condition| condition.to_string() == *meant);
        let meant = attrs.iter().any(is_meant);
        attrs.retain(|attr| !is_meant(attr));
        self.holds || !meant
    }

    fn list<T, P: Default>(&self, list: &mut Punctuated<T, P>, attrs: impl Fn(&mut T) -> &mut Vec<Attribute>) {
        let all = std::mem::take(list).into_iter();
        *list = all.filter_map(|mut each| self.stays(attrs(&mut each)).then_some(each)).collect();
    }

    fn expressions<P: Default>(&self, list: &mut Punctuated<Expr, P>) {
        let all = std::mem::take(list).into_iter();
        *list = all.filter_map(|mut each| self.expression_stays(&mut each).then_some(each)).collect();
    }

    /// The same of an expression, whose attributes are those of its first operand.
    fn expression_stays(&self, expr: &mut Expr) -> bool {
        struct First<'k>(&'k Keep, Option<bool>);
        impl VisitMut for First<'_> {
            fn visit_attributes_mut(&mut self, attrs: &mut Vec<Attribute>) {
                if self.1.is_none() {
                    self.1 = Some(self.0.stays(attrs));
                }
            }
        }
        let mut own = expr;
        loop {
            own = match own {
                Expr::Assign(assign) => &mut assign.left,
                Expr::Binary(binary) => &mut binary.left,
                Expr::Cast(cast) => &mut cast.expr,
                own => {
                    let mut first = First(self, None);
                    first.visit_expr_mut(own);
                    return first.1.unwrap_or(true);
                }
            };
        }
    }
}

impl VisitMut for Keep {
    fn visit_block_mut(&mut self, block: &mut Block) {
        block.stmts.retain_mut(|stmt| match stmt {
            Stmt::Local(local) => self.stays(&mut local.attrs),
            Stmt::Macro(call) => self.stays(&mut call.attrs),
            Stmt::Expr(expr, _) => self.expression_stays(expr),
            Stmt::Item(_) => true,
        });
        visit_mut::visit_block_mut(self, block);
    }

    fn visit_expr_array_mut(&mut self, array: &mut syn::ExprArray) {
        self.expressions(&mut array.elems);
        visit_mut::visit_expr_array_mut(self, array);
    }

    fn visit_expr_tuple_mut(&mut self, tuple: &mut syn::ExprTuple) {
        self.expressions(&mut tuple.elems);
        visit_mut::visit_expr_tuple_mut(self, tuple);
    }

    fn visit_expr_call_mut(&mut self, call: &mut syn::ExprCall) {
        self.expressions(&mut call.args);
        visit_mut::visit_expr_call_mut(self, call);
    }

    fn visit_expr_method_call_mut(&mut self, call: &mut syn::ExprMethodCall) {
        self.expressions(&mut call.args);
        visit_mut::visit_expr_method_call_mut(self, call);
    }

    fn visit_expr_match_mut(&mut self, choice: &mut syn::ExprMatch) {
        choice.arms.retain_mut(|arm| self.stays(&mut arm.attrs));
        visit_mut::visit_expr_match_mut(self, choice);
    }

    fn visit_expr_struct_mut(&mut self, literal: &mut syn::ExprStruct) {
        self.list(&mut literal.fields, |field| &mut field.attrs);
        visit_mut::visit_expr_struct_mut(self, literal);
    }

    fn visit_pat_struct_mut(&mut self, pattern: &mut syn::PatStruct) {
        self.list(&mut pattern.fields, |field| &mut field.attrs);
        visit_mut::visit_pat_struct_mut(self, pattern);
    }

    fn visit_item_mut(&mut self, _: &mut Item) {}
}

/// Makes the two items, each under the attribute once more; rustc keeps one.
pub(crate) fn either(
    role: Role,
    options: &TokenStream,
    condition: &TokenStream,
    [with, without]: [&TokenStream; 2],
) -> TokenStream {
    let attribute = match role {
        Role::Kernel => quote!(#[::phalanx::cluster_kernel(#options)]),
        Role::Device | Role::Method if options.is_empty() => quote!(#[::phalanx::device]),
        Role::Device | Role::Method => quote!(#[::phalanx::device(#options)]),
    };
    quote!(#[cfg(#condition)] #attribute #with #[cfg(not(#condition))] #attribute #without)
}
