//! Methods that only compute, as closures: `shape.index(x, y)` with `fn index(&self, x: u32, y: u32) -> usize { (y * self.width + x) as usize }`
//! is a call of a closure that stands behind the declaration of `shape`, whose type is written there.

use std::collections::BTreeMap;

use proc_macro2::Ident;
use quote::{format_ident, quote};
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprMethodCall, FnArg, ItemFn, Pat, Stmt, Type, parse_quote_spanned};

use super::computing::{Closures, signature_of};
use super::local_types::NamedType;
use super::readable::name_of;
use super::same_file::Method;
use crate::model::followed::{Followed, FollowedMethod, Selected};
use crate::span::respanned;

/// A local whose type is written.
struct Receiver {
    ty: NamedType,
    /// The number of the statements of the body before which it does not exist.
    behind: usize,
}

/// The names of the closures, by the local and the method that each is of.
type Names = BTreeMap<(String, String), Ident>;

impl Closures<'_> {
    /// Adds closures for the methods that only compute, and makes their calls those of the closures.
    pub(super) fn add_methods(&mut self, item: &mut ItemFn) {
        let receivers = self.receivers(item);
        if receivers.is_empty() {
            return;
        }
        let mut names = Names::new();
        for call in Calls::of(item) {
            let Some((local, method)) = local_and_method(&call) else { continue };
            let key = (local.to_string(), method.to_string());
            let Some(receiver) = receivers.get(&key.0).filter(|_| !names.contains_key(&key)) else { continue };
            if let Some(name) = self.add_method(local, method, receiver) {
                names.insert(key, name);
            }
        }
        Rename { names: &names }.visit_block_mut(&mut item.block);
    }

    /// Returns the locals that a method may be called of, which are declared once, and never change.
    fn receivers(&self, item: &ItemFn) -> BTreeMap<String, Receiver> {
        let params = item.sig.inputs.iter().filter_map(|input| {
            let FnArg::Typed(input) = input else { return None };
            let ty = match &*input.ty {
                Type::Reference(reference) if reference.mutability.is_none() => &*reference.elem,
                ty => ty,
            };
            Some((constant(&input.pat)?, Receiver { ty: NamedType::of(ty)?, behind: 0 }))
        });
        let lets = item.block.stmts.iter().enumerate().filter_map(|(index, statement)| {
            let Stmt::Local(local) = statement else { return None };
            let (pat, ty) = match (&local.pat, local.init.as_ref().map(|init| &*init.expr)) {
                (Pat::Type(typed), _) => (&*typed.pat, NamedType::of(&typed.ty)),
                (pat, Some(Expr::Struct(literal))) => (pat, NamedType::of_path(&literal.path)),
                _ => return None,
            };
            Some((constant(pat)?, Receiver { ty: ty?, behind: index + 1 }))
        });
        let is_only = |name: &String| self.declared.iter().filter(|other| *other == name).count() == 1;
        params
            .chain(lets)
            .filter(|(name, receiver)| is_only(name) && !self.declared.contains(&receiver.ty.name().to_string()))
            .collect()
    }

    /// Adds the closure of a method, and returns its name.
    fn add_method(&mut self, local: &Ident, method: &Ident, Receiver { ty, behind }: &Receiver) -> Option<Ident> {
        let Method { known, constants, elsewhere: None } = self.module.method(ty, method)? else { return None };
        let takes_self = known.receiver().is_some_and(|receiver| receiver.mutability.is_none());
        (takes_self && constants.is_empty()).then_some(())?;
        let (name, at) = (format_ident!("{local}_{method}", span = method.span()), method.span());
        let is_free = self.names.is_free(&name.to_string()) && !self.declared.contains(&name.to_string());
        (is_free && self.means_the_same(known)).then_some(())?;
        let (params, result) = signature_of(known)?;
        // A name of the body's own would hide the local.
        params.iter().all(|(param, _)| *param != local).then_some(())?;
        let itself = params.iter().map(|(name, _)| (name.to_string(), parse_quote_spanned!(at=> #name)));
        let own = [("self".to_string(), parse_quote_spanned!(at=> #local))];
        let result = self.computed(result, &itself.chain(own).collect(), at)?;
        let closure = {
            let params = params.iter().map(|(name, ty)| quote!(#name: #ty));
            respanned(quote!(|#(#params),*| #result), at)
        };
        self.statements.push((*behind, parse_quote_spanned!(at=> let #name = #closure;)));
        let of_type = FollowedMethod {
            ty: respanned(ty.tokens(), at),
            of: known.of.clone(),
            constants: Vec::new(),
            arguments: params.len(),
            selected: Selected::ByReceiver(Vec::new()),
        };
        self.follow(Followed { name: method.clone(), elsewhere: None, text: known.identity, method: Some(of_type) });
        Some(name)
    }
}

/// The name that a pattern gives to a value which never changes.
fn constant(pat: &Pat) -> Option<String> {
    name_of(pat).filter(|name| name.mutability.is_none()).map(|name| name.ident.to_string())
}

fn local_and_method(call: &ExprMethodCall) -> Option<(&Ident, &Ident)> {
    let Expr::Path(receiver) = &*call.receiver else { return None };
    receiver.path.get_ident().filter(|_| call.turbofish.is_none()).map(|local| (local, &call.method))
}

/// The calls of methods in a body.
struct Calls(Vec<ExprMethodCall>);

impl Calls {
    fn of(item: &ItemFn) -> Vec<ExprMethodCall> {
        let mut calls = Calls(Vec::new());
        calls.visit_block(&item.block);
        calls.0
    }
}

impl<'a> Visit<'a> for Calls {
    fn visit_expr_method_call(&mut self, call: &'a ExprMethodCall) {
        self.0.push(call.clone());
        visit::visit_expr_method_call(self, call);
    }

    fn visit_item(&mut self, _: &'a syn::Item) {}
}

/// Makes calls of methods those of closures.
struct Rename<'n> {
    names: &'n Names,
}

impl VisitMut for Rename<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        if let Expr::MethodCall(call) = expr
            && let Some((local, method)) = local_and_method(call)
            && let Some(name) = self.names.get(&(local.to_string(), method.to_string()))
        {
            let (name, arguments) = (Ident::new(&name.to_string(), method.span()), &call.args);
            *expr = parse_quote_spanned!(method.span()=> #name(#arguments));
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
