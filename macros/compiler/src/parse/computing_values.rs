//! Methods and functions that only compute with the fields of a value, as closures: `shape.index(x, y)`, or `index(&shape, x, y)`, is a call of a
//! closure that stands behind the declaration of `shape`, whose type is written there.

use std::collections::BTreeMap;

use proc_macro2::Ident;
use quote::{format_ident, quote};
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprCall, ExprMethodCall, FnArg, ItemFn, Pat, Stmt, Type, parse_quote_spanned};

use super::computing::{Bound, Closures, is_integer, is_typed, signature_of, signature_with_values};
use super::local_types::NamedType;
use super::readable::{Known, name_of};
use super::same_file::Method;
use crate::model::followed::{Followed, FollowedMethod, Selected};
use crate::span::respanned;

/// A local whose type is written.
struct Receiver {
    ty: NamedType,
    is_reference: bool,
    /// The number of the statements of the body before which it does not exist.
    behind: usize,
}

type Receivers = BTreeMap<String, Receiver>;

/// The calls that become calls of closures.
#[derive(Default)]
struct Names {
    /// For each function, whether each of its arguments is a value with fields.
    values: BTreeMap<String, Vec<bool>>,
    /// The closures, by the locals and the method or function that each is of.
    closures: BTreeMap<(Vec<String>, String), Ident>,
}

/// A call of a method or a function: the locals with fields that it takes, its name, and its other arguments.
struct Called<'c> {
    locals: Vec<&'c Ident>,
    name: &'c Ident,
    others: Vec<&'c Expr>,
}

impl Names {
    fn called<'c>(&self, expr: &'c Expr) -> Option<Called<'c>> {
        match expr {
            Expr::MethodCall(ExprMethodCall { receiver, method, turbofish: None, args, .. }) => {
                Some(Called { locals: vec![named(receiver)?], name: method, others: args.iter().collect() })
            }
            Expr::Call(ExprCall { func, args, .. }) => {
                let name = named(func)?;
                let are_values = self.values.get(&name.to_string()).filter(|values| values.len() == args.len())?;
                let all = || args.iter().zip(are_values);
                let locals = all().filter(|(_, is_value)| **is_value).map(|(argument, _)| local_of(argument));
                let others = all().filter(|(_, is_value)| !**is_value).map(|(argument, _)| argument);
                Some(Called { locals: locals.collect::<Option<_>>()?, name, others: others.collect() })
            }
            _ => None,
        }
    }
}

impl Called<'_> {
    fn key(&self) -> (Vec<String>, String) {
        (self.locals.iter().map(ToString::to_string).collect(), self.name.to_string())
    }
}

impl Closures<'_> {
    /// Adds closures for the methods and functions that only compute, and makes their calls those of the closures.
    pub(super) fn add_of_values(&mut self, item: &mut ItemFn) {
        let receivers = self.receivers(item);
        if receivers.is_empty() {
            return;
        }
        let mut names = Names::default();
        for call in Calls::of(item) {
            if let Expr::Call(ExprCall { func, .. }) = &call
                && let Some(name) = named(func)
                && let Some((params, _)) = self.known(name).and_then(signature_with_values)
            {
                let are_values: Vec<bool> = params.iter().map(|(_, ty)| !is_integer(ty)).collect();
                names.values.extend(are_values.contains(&true).then(|| (name.to_string(), are_values)));
            }
            let Some(called) = names.called(&call).filter(|called| !names.closures.contains_key(&called.key())) else {
                continue;
            };
            let closure = self.followed_if_some(|closures| match &call {
                Expr::Call(call) => closures.add_function(&called, call, &receivers),
                _ => closures.add_method(&called, &receivers),
            });
            let key = called.key();
            names.closures.extend(closure.map(|closure| (key, closure)));
        }
        Rename { names: &names }.visit_block_mut(&mut item.block);
    }

    /// Returns the locals whose fields may be computed with, which are declared once, and never change.
    fn receivers(&self, item: &ItemFn) -> Receivers {
        let params = item.sig.inputs.iter().filter_map(|input| {
            let FnArg::Typed(input) = input else { return None };
            let (ty, is_reference) = (referent(&input.ty), matches!(*input.ty, Type::Reference(_)));
            Some((constant(&input.pat)?, Receiver { ty: NamedType::of(ty)?, is_reference, behind: 0 }))
        });
        let lets = item.block.stmts.iter().enumerate().filter_map(|(index, statement)| {
            let Stmt::Local(local) = statement else { return None };
            let (pat, ty) = match (&local.pat, local.init.as_ref().map(|init| &*init.expr)) {
                (Pat::Type(typed), _) => (&*typed.pat, NamedType::of(&typed.ty)),
                (pat, Some(Expr::Struct(literal))) => (pat, NamedType::of_path(&literal.path)),
                _ => return None,
            };
            Some((constant(pat)?, Receiver { ty: ty?, is_reference: false, behind: index + 1 }))
        });
        let is_declared_once = |name: &String| self.declared.iter().filter(|other| *other == name).count() == 1;
        let is_of_module = |ty: &NamedType| ty.is_one_name() && !self.declared.contains(&ty.name().to_string());
        let all = params.chain(lets);
        all.filter(|(name, receiver)| is_declared_once(name) && is_of_module(&receiver.ty)).collect()
    }

    /// Adds the closure of a method, and returns its name.
    fn add_method(&mut self, called: &Called<'_>, receivers: &Receivers) -> Option<Ident> {
        let (local, method) = (*called.locals.first()?, called.name);
        let Receiver { ty, behind, .. } = receivers.get(&local.to_string())?;
        let Method { known, constants, elsewhere: None } = self.module.method(ty, method)? else { return None };
        let takes_self = known.receiver().is_some_and(|receiver| receiver.mutability.is_none());
        (takes_self && constants.is_empty()).then_some(())?;
        let (params, result) = signature_of(known)?;
        let at = method.span();
        let own = [("self".to_string(), parse_quote_spanned!(at=> #local))].into();
        let name = self.add_closure(known, called, (&params, result), own, *behind)?;
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

    /// Adds the closure of a function, and returns its name. rustc does not see the arguments with fields any more, so that they have to
    /// be of the parameters' types.
    fn add_function(&mut self, called: &Called<'_>, call: &ExprCall, receivers: &Receivers) -> Option<Ident> {
        let known = self.known(called.name)?;
        let (params, result) = signature_with_values(known)?;
        let (mut integers, mut own, mut behind) = (Vec::new(), Bound::new(), 0);
        for ((param, ty), argument) in params.iter().zip(&call.args) {
            if is_integer(ty) {
                integers.push((*param, *ty));
                continue;
            }
            let local = local_of(argument)?;
            let receiver = receivers.get(&local.to_string())?;
            let is_reference = matches!(argument, Expr::Reference(_)) != receiver.is_reference;
            let is_same = NamedType::of(referent(ty))?.tokens().to_string() == receiver.ty.tokens().to_string();
            (is_same && is_reference == matches!(ty, Type::Reference(_))).then_some(())?;
            own.insert(param.to_string(), parse_quote_spanned!(called.name.span()=> #local));
            behind = behind.max(receiver.behind);
        }
        let name = self.add_closure(known, called, (&integers, result), own, behind)?;
        self.follow(Followed { name: called.name.clone(), elsewhere: None, text: known.identity, method: None });
        Some(name)
    }

    /// Adds a closure of these parameters that captures locals, and returns its name.
    fn add_closure(
        &mut self,
        known: &Known,
        Called { locals, name: function, .. }: &Called<'_>,
        (params, result): (&[(&Ident, &Type)], &Expr),
        own: Bound,
        behind: usize,
    ) -> Option<Ident> {
        let of_locals = locals.iter().map(ToString::to_string).collect::<Vec<_>>().join("_");
        let (name, at) = (format_ident!("{of_locals}_{function}", span = function.span()), function.span());
        // A parameter would hide a local of its name.
        let hides = params.iter().any(|(param, _)| locals.contains(param));
        (self.names.is_free(&name.to_string()) && !hides && self.means_the_same(known)).then_some(())?;
        let itself = |name: &Ident| (name.to_string(), parse_quote_spanned!(at=> #name));
        let bound = params.iter().map(|(name, _)| itself(name)).chain(own).collect();
        let result = self.computed(result, &bound, at).filter(is_typed)?;
        let params = params.iter().map(|(name, ty)| quote!(#name: #ty));
        let closure = respanned(quote!(|#(#params),*| #result), at);
        self.statements.push((behind, parse_quote_spanned!(at=> let #name = #closure;)));
        Some(name)
    }
}

/// The name that a pattern gives to a value which never changes.
fn constant(pat: &Pat) -> Option<String> {
    name_of(pat).filter(|name| name.mutability.is_none()).map(|name| name.ident.to_string())
}

fn named(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Path(path) => path.path.get_ident(),
        _ => None,
    }
}

/// The local that an argument is, or refers to.
fn local_of(argument: &Expr) -> Option<&Ident> {
    match argument {
        Expr::Reference(reference) if reference.mutability.is_none() => named(&reference.expr),
        argument => named(argument),
    }
}

/// The type that a reference refers to, or the type itself.
fn referent(ty: &Type) -> &Type {
    match ty {
        Type::Reference(reference) if reference.mutability.is_none() => &reference.elem,
        ty => ty,
    }
}

/// The calls in a body.
struct Calls(Vec<Expr>);

impl Calls {
    fn of(item: &ItemFn) -> Vec<Expr> {
        let mut calls = Calls(Vec::new());
        calls.visit_block(&item.block);
        calls.0
    }
}

impl<'a> Visit<'a> for Calls {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if matches!(expr, Expr::Call(_) | Expr::MethodCall(_)) {
            self.0.push(expr.clone());
        }
        visit::visit_expr(self, expr);
    }

    fn visit_item(&mut self, _: &'a syn::Item) {}
}

/// Makes calls those of closures.
struct Rename<'n> {
    names: &'n Names,
}

impl VisitMut for Rename<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        if let Some(called) = self.names.called(expr)
            && let Some(closure) = self.names.closures.get(&called.key())
        {
            let (at, arguments) = (called.name.span(), &called.others);
            let closure = Ident::new(&closure.to_string(), at);
            *expr = parse_quote_spanned!(at=> #closure(#(#arguments),*));
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
