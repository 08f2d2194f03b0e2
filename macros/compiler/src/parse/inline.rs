//! A function once more, with the bodies of device functions and methods in place of their calls, as far as they stand beside it in its
//! file (`same_file`), or in another one of its crate (`files`). It is for checks that do not see through calls; the calls are kept wherever the checks do not need this.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, Expr, ExprCall, ExprMethodCall, FnArg, ItemFn, Lifetime, Local, Pat, PatIdent, PathArguments, ReceiverKind,
    Type, parse_quote_spanned,
};

use super::files::Files;
use super::lengths::{Lengths, constants_of};
use super::local_types::NamedType;
use super::passed::{has_place, is_handle, is_value};
use super::readable::{Known, Reads, are_apart, declared_everywhere, declared_in, is_place, name_of};
use super::same_file::{Method, Module};
use super::stand_ins::{LeaveBlock, Stands, Substitute, with_constants};
use crate::model::followed::{Followed, FollowedMethod, Place, Selected, text_marker};
use crate::model::words::words;
use crate::span::respanned;

/// The most bodies that are put in place of calls.
const MOST_BODIES: usize = 64;

/// A function with the bodies of what it calls.
pub(crate) struct Inlined {
    pub(crate) item: TokenStream,
    /// What rustc has to confirm.
    pub(crate) followed: Vec<Followed>,
}

/// Puts bodies in place of calls; `None` if there is no call whose body is known.
pub(crate) fn inlined(item: &TokenStream, files: &Files, reads: Reads) -> Option<Inlined> {
    let mut item: ItemFn = syn::parse2(item.clone()).ok()?;
    let module = Module::around(&item.sig.ident, files)?;
    let everywhere = declared_everywhere(&item);
    let declared = [declared_in(&item), everywhere.clone()].concat();
    let mut taken: BTreeSet<String> = declared.iter().cloned().collect();
    taken.extend(module.known().flat_map(|known| known.declares.iter().cloned()));
    let mut inliner = Inliner {
        module: &module,
        taken,
        declared,
        everywhere,
        types: Vec::new(),
        lengths: Lengths::default(),
        open: Vec::new(),
        followed: Vec::new(),
        left: MOST_BODIES,
        reads,
    };
    inliner.parameters(&item);
    inliner.visit_block_mut(&mut item.block);
    let followed = inliner.followed;
    // What is compiled of this names no function that is out of sight.
    (!followed.is_empty() && !module.others.are_hidden_in(&item.block))
        .then(|| Inlined { item: item.into_token_stream(), followed })
}

struct Inliner<'m> {
    module: &'m Module,
    /// Names that mean something else in the function than in its module.
    taken: BTreeSet<String>,
    /// The names that the function declares, each as often as it does.
    declared: Vec<String>,
    /// Those of them that mean the same in all of the function: its generics, and the words of items in its body.
    everywhere: Vec<String>,
    /// The locals in scope, the innermost last, with the types that are written.
    types: Vec<(String, Option<NamedType>)>,
    lengths: Lengths,
    /// The functions whose bodies are being put in place of a call.
    open: Vec<u64>,
    followed: Vec<Followed>,
    left: usize,
    reads: Reads,
}

/// A function that a path names: one of the module, of a type, or of another module.
struct Named<'m, 'p> {
    known: &'m Known,
    own: Option<NamedType>,
    name: &'p Ident,
    /// The constants that the type's arguments are for it.
    of_type: Vec<(String, TokenTree)>,
    /// The path of a function of another module, or of the module of a method's `impl`, and where that module stands.
    elsewhere: Option<(TokenStream, Place)>,
}

impl VisitMut for Inliner<'_> {
    fn visit_local_mut(&mut self, local: &mut Local) {
        let ty = self.declare(local);
        self.lengths.declare(local);
        if let Some(init) = &mut local.init {
            visit_mut::visit_local_init_mut(self, init);
        }
        let pat = match &local.pat {
            Pat::Type(typed) => &*typed.pat,
            pat => pat,
        };
        match name_of(pat) {
            Some(name) => self.types.push((name.ident.to_string(), ty)),
            None => self.visit_pat_mut(&mut local.pat),
        }
    }

    fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
        self.types.push((pat.ident.to_string(), None));
        visit_mut::visit_pat_ident_mut(self, pat);
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        let outside = self.types.len();
        visit_mut::visit_block_mut(self, block);
        self.types.truncate(outside);
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let replaced = match expr {
            Expr::Call(call) => self.call(call),
            Expr::MethodCall(call) => self.method_call(call),
            _ => None,
        };
        if let Some((identity, body)) = replaced {
            self.open.push(identity);
            *expr = body;
            self.visit_in_scope(expr);
            self.open.pop();
            return;
        }
        self.visit_in_scope(expr);
    }
}

impl<'m> Inliner<'m> {
    /// Visits the parts of an expression. What they declare ends with it, but for a condition's, which its body sees.
    fn visit_in_scope(&mut self, expr: &mut Expr) {
        let is_condition = matches!(expr, Expr::Let(_) | Expr::Binary(_));
        let outside = self.types.len();
        visit_mut::visit_expr_mut(self, expr);
        if !is_condition {
            self.types.truncate(outside);
        }
    }

    fn parameters(&mut self, item: &ItemFn) {
        for input in &item.sig.inputs {
            let FnArg::Typed(input) = input else { continue };
            let ty = match &*input.ty {
                Type::Reference(reference) => &*reference.elem,
                ty => ty,
            };
            match name_of(&input.pat) {
                Some(name) => self.types.push((name.ident.to_string(), NamedType::of(ty))),
                None => self.visit_pat_mut(&mut input.pat.clone()),
            }
        }
    }

    /// Returns the type of a local, which the declaration then states, and what it begins with.
    fn declare(&mut self, local: &mut Local) -> Option<NamedType> {
        match &local.pat {
            Pat::Type(typed) => {
                let ty = NamedType::of(&typed.ty)?;
                if let Some(init) = &mut local.init
                    && let Expr::Call(call) = &mut *init.expr
                    && let Expr::Path(path) = &mut *call.func
                    && self.returns_own(&path.path, &ty)
                    && let Some(first) = path.path.segments.first_mut()
                {
                    let (at, arguments) = (first.ident.span(), ty.arguments());
                    first.arguments = PathArguments::AngleBracketed(parse_quote_spanned!(at=> ::<#(#arguments),*>));
                }
                Some(ty)
            }
            Pat::Ident(name) => {
                let ty = self.type_of(&local.init.as_ref()?.expr)?;
                let (pat, at) = (&local.pat, name.ident.span());
                let stated = respanned(ty.tokens(), at);
                local.pat = Pat::Type(parse_quote_spanned!(at=> #pat: #stated));
                Some(ty)
            }
            _ => None,
        }
    }

    /// Whether a path names a function of a type without the type's arguments, and the function returns the type.
    fn returns_own(&self, path: &syn::Path, ty: &NamedType) -> bool {
        let Some((own, name)) = type_and_name(path) else { return false };
        let is_bare = own.arguments().is_empty() && !ty.arguments().is_empty() && own.name() == ty.name();
        is_bare && self.module.method(ty, name).is_some_and(|method| method.known.returns_own(ty.name()))
    }

    /// Returns the type of a struct's literal, or of what a function of the type returns.
    fn type_of(&self, expr: &Expr) -> Option<NamedType> {
        match expr {
            Expr::Struct(literal) => NamedType::of_path(&literal.path).filter(|ty| self.module.has_methods(ty)),
            Expr::Call(call) => {
                let Expr::Path(path) = &*call.func else { return None };
                let (ty, name) = type_and_name(&path.path)?;
                let method = self.module.method(&ty, name)?;
                method.known.returns_own(ty.name()).then_some(ty)
            }
            _ => None,
        }
    }

    /// Whether a name may mean something else here than in the module: what bodies declare is seen in them alone.
    fn is_taken(&self, name: &String) -> bool {
        let is_in_scope = || self.types.iter().any(|(local, _)| local == name);
        match self.open.is_empty() {
            true => is_in_scope() || self.everywhere.contains(name),
            false => self.taken.contains(name),
        }
    }

    /// Whether some function of the module declares a name.
    fn in_bodies(&self, name: &Ident) -> bool {
        self.module.known().flat_map(|known| &known.declares).any(|declared| *name == **declared)
    }

    fn may_stand(&self, known: &Known) -> bool {
        let is_open = self.open.contains(&known.identity);
        let is_read = self.reads == Reads::All || known.is_plain();
        is_read && self.left > 0 && !is_open && known.names.iter().all(|name| !self.is_taken(name))
    }

    /// The function that a path names: one of the module, of its types, or of another module.
    fn named<'p>(&self, path: &'p syn::Path) -> Option<Named<'m, 'p>> {
        let module = self.module;
        let of_module = one_name(path).and_then(|name| Some((module.functions.get(&name.to_string())?, name)));
        if let Some((known, name)) = of_module {
            return Some(Named { known, own: None, name, of_type: Vec::new(), elsewhere: None });
        }
        let of_type = type_and_name(path).and_then(|(ty, name)| Some((module.method(&ty, name)?, ty, name)));
        if let Some((Method { known, constants, elsewhere }, ty, name)) = of_type {
            return Some(Named { known, own: Some(ty), name, of_type: constants, elsewhere });
        }
        let (function, is_hidden) = module.others.named(path)?;
        let mut bare = path.clone();
        bare.segments.iter_mut().for_each(|segment| segment.arguments = PathArguments::None);
        if let Some(last) = bare.segments.last_mut().filter(|_| is_hidden) {
            last.ident = Ident::new(&text_marker(&last.ident), last.ident.span());
        }
        let elsewhere = Some((bare.into_token_stream(), function.place.clone()));
        let name = &path.segments.last()?.ident;
        Some(Named { known: &function.known, own: None, name, of_type: Vec::new(), elsewhere })
    }

    /// Returns the body of a function that is called by its name, or by its type and its name.
    fn call(&mut self, call: &ExprCall) -> Option<(u64, Expr)> {
        let Expr::Path(path) = &*call.func else { return None };
        let Named { known, own, name, of_type, elsewhere } = self.named(&path.path)?;
        let arguments = &path.path.segments.last()?.arguments;
        let mut constants = match constants_of(known, arguments) {
            None if arguments.is_none() => {
                let is_declared = |name: &Ident| self.declared.iter().filter(|other| *name == **other).count() == 1;
                let is_own = |name: &Ident| is_declared(name) && (self.open.is_empty() || !self.in_bodies(name));
                self.lengths.constants(known, call.args.iter().cloned(), is_own)?
            }
            constants => constants?,
        };
        constants.extend(of_type);
        let own = own.as_ref();
        let first = path.path.segments.first()?.ident.to_string();
        if own.is_some() && !(takes_values(known) && known.types.is_empty()) {
            return None;
        }
        if self.is_taken(&first) || known.receiver().is_some() || !self.may_stand(known) {
            return None;
        }
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let body = self.body(known, (own, name, &constants), None, &arguments)?;
        self.follow(known, (own, name), Selected::ByType, elsewhere);
        Some((known.identity, body))
    }

    /// Returns the body of a method of a local whose type is written.
    fn method_call(&mut self, call: &ExprMethodCall) -> Option<(u64, Expr)> {
        let Expr::Path(receiver) = &*call.receiver else { return None };
        let (local, name) = (receiver.path.get_ident()?, &call.method);
        let own = self.types.iter().rev().find(|(known, _)| *local == **known)?.1.clone()?;
        let Method { known, constants, elsewhere } = self.module.method(&own, name)?;
        known.receiver()?;
        let mentions = |argument: &Expr| words(&argument.to_token_stream()).any(|word| word == *local);
        let arguments: Vec<&Expr> = call.args.iter().collect();
        // The receiver is read before the arguments are computed.
        let in_order = arguments.iter().all(|argument| is_place(argument) || !mentions(argument));
        let first = own.path().next()?.to_string();
        if self.is_taken(&first) || !in_order || !self.may_stand(known) {
            return None;
        }
        if !takes_values(known) || !known.types.is_empty() {
            return None;
        }
        let turbofish = call.turbofish.clone().map_or(PathArguments::None, PathArguments::AngleBracketed);
        let given = constants_of(known, &turbofish)?;
        // Where rustc selects the method, a constant of a body has no name.
        if given.iter().any(|(_, given)| self.is_taken(&given.to_string())) {
            return None;
        }
        let selected = Selected::ByReceiver(given.iter().map(|(_, given)| given.clone()).collect());
        let constants = [given, constants].concat();
        let body = self.body(known, (Some(&own), name, &constants), Some(&call.receiver), &arguments)?;
        self.follow(known, (Some(&own), name), selected, elsewhere);
        Some((known.identity, body))
    }

    fn follow(
        &mut self,
        known: &Known,
        (own, name): (Option<&NamedType>, &Ident),
        selected: Selected,
        elsewhere: Option<(TokenStream, Place)>,
    ) {
        self.left -= 1;
        let method = own.map(|own| FollowedMethod {
            ty: respanned(own.tokens(), name.span()),
            of: known.of.clone(),
            constants: self.module.resolved(own).arguments().to_vec(),
            arguments: known.sig.inputs.len() - usize::from(known.receiver().is_some()),
            selected,
        });
        let followed = Followed { name: name.clone(), elsewhere, text: known.identity, method };
        if !self.followed.iter().any(|other| other.is_same(&followed)) {
            self.followed.push(followed);
        }
    }

    /// Makes the block that a call stands for: its arguments, each under a name that nothing else has, and the body.
    fn body(
        &self,
        known: &Known,
        (own, name, constants): (Option<&NamedType>, &Ident, &[(String, TokenTree)]),
        receiver: Option<&Expr>,
        arguments: &[&Expr],
    ) -> Option<Expr> {
        let at = name.span();
        let of_call = |tokens: TokenStream| respanned(with_constants(tokens, constants), at);
        let fresh = |of: &str| format_ident!("{name}_{of}", span = at);
        let mut lets = Vec::new();
        let mut patterns = Vec::new();
        let mut stands = Vec::new();
        let (all, mut arguments) = (arguments, arguments.iter());
        for input in &known.sig.inputs {
            match input {
                FnArg::Receiver(by) => {
                    let place = receiver?;
                    let by_value = matches!(by.kind, ReceiverKind::Value);
                    match by_value && by.mutability.is_some() {
                        true => {
                            let own = fresh("self");
                            lets.push(quote_spanned!(at=> let mut #own = #place;));
                            stands.push(("self".to_string(), Stands::Name(own)));
                        }
                        false if by_value => {
                            stands.push(("self".to_string(), Stands::Value(place.clone())));
                        }
                        false => stands.push(("self".to_string(), Stands::Place(place.clone()))),
                    }
                }
                FnArg::Typed(input) => {
                    let argument = arguments.next()?;
                    let Some(param) = name_of(&input.pat) else {
                        let whole = fresh(&format!("argument_{}", lets.len()));
                        let (pat, ty) = (of_call(input.pat.to_token_stream()), of_call(input.ty.to_token_stream()));
                        lets.push(quote_spanned!(at=> let #whole: #ty = #argument;));
                        // Its names may be those of other arguments.
                        patterns.push(quote_spanned!(at=> let #pat: #ty = #whole;));
                        continue;
                    };
                    let (local, mutable) = (fresh(&param.ident.to_string()), &param.mutability);
                    let outer: &Expr = argument;
                    let stand = match (&*input.ty, outer) {
                        (Type::Reference(ty), Expr::Reference(argument))
                            if ty.mutability.is_some() && has_place(&ty.elem) =>
                        {
                            let place = is_place(&argument.expr).then(|| argument.expr.clone())?;
                            // rustc would refuse a second use of what is borrowed.
                            let names: Vec<Ident> = words(&place.to_token_stream()).collect();
                            let mentions =
                                |tokens: TokenStream| words(&tokens).any(|word| names.first() == Some(&word));
                            let mut others = all.iter().filter(|other| !std::ptr::eq(**other, outer));
                            if others.any(|other| mentions(other.to_token_stream()) && !are_apart(&place, other)) {
                                return None;
                            }
                            Stands::Place(*place)
                        }
                        // A name of a reference is passed on as it is.
                        (Type::Reference(_), Expr::Path(path)) => Stands::Name(path.path.get_ident()?.clone()),
                        (Type::Reference(_), argument) => {
                            lets.push(quote_spanned!(at=> let #mutable #local = #argument;));
                            Stands::Name(local)
                        }
                        // A closure that is made for the call, and may be called by a name.
                        (_, Expr::Closure(closure)) if mutable.is_none() => {
                            lets.push(quote_spanned!(at=> let #local = #closure;));
                            Stands::Name(local)
                        }
                        (Type::ImplTrait(_), Expr::Path(path)) => Stands::Name(path.path.get_ident()?.clone()),
                        (Type::ImplTrait(_), _) => return None,
                        // What is no plain data has no type that a `let` could state: a peer's memory, a token.
                        (ty, Expr::Path(path)) if mutable.is_none() && is_handle(ty) => {
                            Stands::Name(path.path.get_ident()?.clone())
                        }
                        (ty, argument) if known.is_generic(ty) => {
                            lets.push(quote_spanned!(at=> let #mutable #local = #argument;));
                            Stands::Name(local)
                        }
                        (ty, argument) => {
                            let ty = of_call(ty.to_token_stream());
                            lets.push(quote_spanned!(at=> let #mutable #local: #ty = #argument;));
                            Stands::Name(local)
                        }
                    };
                    stands.push((param.ident.to_string(), stand));
                }
            }
        }
        if arguments.next().is_some() {
            return None;
        }
        let mut block: Block = syn::parse2(of_call(known.block.to_token_stream())).ok()?;
        let own_path = own.map(|own| respanned(own.tokens(), at));
        let mut substitute =
            Substitute { stands: &stands, own: own_path.as_ref(), declares: &known.declares, fits: true };
        substitute.visit_block_mut(&mut block);
        if !substitute.fits {
            return None;
        }
        if known.returns && known.result().is_some_and(|ty| !is_value(ty)) {
            return None;
        }
        let body = match &block.stmts[..] {
            _ if known.returns => {
                let label = Lifetime::new(&format!("'{name}_end"), at);
                LeaveBlock(&label).visit_block_mut(&mut block);
                quote_spanned!(at=> #label: #block)
            }
            [syn::Stmt::Expr(value, None)] => value.to_token_stream(),
            _ => block.to_token_stream(),
        };
        let is_own = own.is_some_and(|own| known.returns_own(own.name()));
        let value = match known.result().filter(|ty| is_value(ty) && !is_own) {
            Some(ty) if known.is_generic(ty) => {
                let result = fresh("result");
                quote_spanned!(at=> let #result = #body; #result)
            }
            Some(ty) => {
                let (ty, result) = (of_call(ty.to_token_stream()), fresh("result"));
                quote_spanned!(at=> let #result: #ty = #body; #result)
            }
            None if lets.is_empty() && known.result().is_some() => {
                return syn::parse2(quote_spanned!(at=> (#body))).ok();
            }
            None => body,
        };
        syn::parse2(quote_spanned!(at=> { #(#lets)* #(#patterns)* #value })).ok()
    }
}

/// Whether the parameters are plain data or references to such, by their syntax.
fn takes_values(known: &Known) -> bool {
    known.sig.inputs.iter().all(|input| match input {
        FnArg::Receiver(_) => true,
        FnArg::Typed(input) => match &*input.ty {
            Type::Reference(reference) => is_value(&reference.elem),
            ty => is_value(ty),
        },
    })
}

/// Returns the name of a path that is one, with or without arguments.
fn one_name(path: &syn::Path) -> Option<&Ident> {
    let mut segments = path.segments.iter();
    let (only, None) = (segments.next()?, segments.next()) else { return None };
    path.leading_colon.is_none().then_some(&only.ident)
}

/// Returns the type and the name of a path that ends with these two.
fn type_and_name(path: &syn::Path) -> Option<(NamedType, &Ident)> {
    let mut segments = path.segments.iter();
    let last = segments.next_back()?;
    let own = NamedType::of_segments(segments).filter(|_| path.leading_colon.is_none())?;
    Some((own, &last.ident))
}
