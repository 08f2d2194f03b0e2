//! Device functions of other modules of a file than that of their caller, and methods of types that stand in other modules, with the names in
//! their bodies as paths from the caller's module, in which the bodies then stand in place of calls (`inline`).

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, Expr, GenericParam, ImplItem, ImplItemFn, Item, ItemFn, ItemImpl, ItemTrait, PatIdent, Path, PathSegment,
    Token, TraitItem,
};

use super::files::Files;
use super::local_types::NamedType;
use super::modules::{Meaning, Modules};
use super::readable::{Known, OfType, declared_in, identity_of, is_device, with_failures};
use crate::model::followed::Place;
use crate::model::name::NAMES;
use crate::model::ty;

/// A function of another module.
pub(super) struct Elsewhere {
    /// The module, and the name in it.
    of: (usize, String),
    pub(super) known: Known,
    pub(super) place: Place,
}

/// A method whose `impl` stands in another module.
pub(super) struct MethodElsewhere {
    /// The module of the type, and its name in it.
    of: (usize, String),
    name: String,
    pub(super) known: Known,
    pub(super) place: Place,
    /// The path from the caller's module to that of the `impl`.
    pub(super) module: TokenStream,
}

/// The functions of other modules.
pub(super) struct Others {
    modules: Modules,
    own: usize,
    functions: Vec<Elsewhere>,
    methods: Vec<MethodElsewhere>,
}

impl Others {
    /// Reads the modules of a file beside the one that has this path.
    pub(super) fn of(items: &[Item], own: &[String]) -> Option<Others> {
        let modules = Modules::of(items);
        let own = modules.at(own)?;
        let (mut functions, mut methods) = (Vec::new(), Vec::new());
        for module in (0..modules.count()).filter(|module| *module != own) {
            let Some(items) = items_at(items, modules.path(module)) else { continue };
            let place = modules.place(module, own);
            for item in items {
                if let Item::Impl(item) = item {
                    methods.extend(methods_of(&modules, item, (module, own)));
                }
                let Item::Fn(item) = item else { continue };
                let (sig, block) = (&item.sig, &item.block);
                let text = identity_of(&quote!(#sig #block));
                let of_type = (text, OfType::default(), Vec::new());
                let known = if is_device(&item.attrs) { moved(&modules, item, (module, own), of_type) } else { None };
                let of = (module, item.sig.ident.to_string());
                functions.extend(known.map(|known| Elsewhere { of, known, place: place.clone() }));
            }
        }
        Some(Others { modules, own, functions, methods })
    }

    pub(super) fn known(&self) -> impl Iterator<Item = &Known> {
        let methods = self.methods.iter().map(|method| &method.known);
        self.functions.iter().map(|function| &function.known).chain(methods)
    }

    /// The methods of a type, whose `impl`s stand in other modules.
    fn methods<'o>(&'o self, ty: &NamedType) -> impl Iterator<Item = &'o MethodElsewhere> {
        let path: Vec<String> = ty.path().map(ToString::to_string).collect();
        let meaning = self
            .modules
            .resolve(&path, self.own)
            .filter(|meaning| self.modules.is_type(meaning) && self.modules.path_to(meaning, self.own).is_some());
        let is_of = move |method: &&MethodElsewhere| {
            meaning.as_ref().is_some_and(|of| (method.of.0, &method.of.1) == (of.module, &of.name))
        };
        self.methods.iter().filter(is_of)
    }

    pub(super) fn has_methods(&self, ty: &NamedType) -> bool {
        self.methods(ty).next().is_some()
    }

    /// The method of a type, if one of this name is in sight and the only one.
    pub(super) fn method(&self, ty: &NamedType, name: &Ident) -> Option<&MethodElsewhere> {
        let mut named = self.methods(ty).filter(|method| *name == *method.name);
        let (only, None) = (named.next()?, named.next()) else { return None };
        Some(only)
    }

    /// The function that a path names in the caller's module, if it is one of another module, and whether it is hidden there: only a body of
    /// its own module names it.
    pub(super) fn named(&self, path: &Path) -> Option<(&Elsewhere, bool)> {
        let meaning = self.meaning(path)?;
        let is_hidden = self.modules.path_to(&meaning, self.own).is_none();
        if is_hidden {
            self.modules.hidden_path_to(&meaning, self.own)?;
        }
        let is_it = |function: &&Elsewhere| (function.of.0, &function.of.1) == (meaning.module, &meaning.name);
        self.functions.iter().find(is_it).map(|function| (function, is_hidden))
    }

    /// Whether a body names functions that may not be named in the caller's module.
    pub(super) fn are_hidden_in(&self, body: &Block) -> bool {
        struct Hidden<'o>(&'o Others, bool);
        impl<'a> Visit<'a> for Hidden<'_> {
            fn visit_path(&mut self, path: &'a Path) {
                let Hidden(others, any) = self;
                let meaning = if path.segments.len() > 1 { others.meaning(path) } else { None };
                *any |= meaning.is_some_and(|meaning| others.modules.hidden_path_to(&meaning, others.own).is_some());
                visit::visit_path(self, path);
            }
        }
        let mut hidden = Hidden(self, false);
        hidden.visit_block(body);
        hidden.1
    }

    fn meaning(&self, path: &Path) -> Option<Meaning> {
        if path.leading_colon.is_some() { None } else { self.modules.resolve(&names(path), self.own) }
    }
}

/// Returns the device trait that a path names in a file, if it stands in another file, with its provided methods as they would stand here.
/// A method of which some name could not stand here has a body that does nothing, and is named.
pub(super) fn trait_elsewhere(files: &Files, path: &Path) -> Option<(ItemTrait, Vec<String>)> {
    let modules = Modules::of(&files.items);
    let own = modules.at(&files.own)?;
    let meaning = modules.resolve(&names(path), own)?;
    let items = items_at(&files.items, modules.path(meaning.module))?;
    let mut found = items.iter().filter_map(|item| match item {
        Item::Trait(item) if item.ident == meaning.name && is_device(&item.attrs) => Some(item),
        _ => None,
    });
    let (only, None) = (found.next()?, found.next()) else { return None };
    let mut of_trait = only.clone();
    let of_generics = only.generics.params.iter().filter_map(|param| match param {
        GenericParam::Type(param) => Some(param.ident.to_string()),
        GenericParam::Const(param) => Some(param.ident.to_string()),
        GenericParam::Lifetime(_) => None,
    });
    let of_generics: Vec<String> = of_generics.collect();
    let mut unfit = Vec::new();
    for member in &mut of_trait.items {
        let TraitItem::Fn(provided) = member else { continue };
        let Some(body) = &provided.default else { continue };
        let sig = &provided.sig;
        let method: ItemFn = syn::parse2(quote!(#sig #body)).ok()?;
        let generics = sig.generics.type_params().map(|param| param.ident.to_string());
        let constants = sig.generics.const_params().map(|param| param.ident.to_string());
        let locals =
            declared_in(&method).into_iter().chain(of_generics.clone()).chain(generics).chain(constants).collect();
        let mut mover = Mover { modules: &modules, module: meaning.module, own, locals, is_emitted: true, fits: true };
        let (mut sig, mut body) = (sig.clone(), body.clone());
        mover.visit_signature_mut(&mut sig);
        mover.visit_block_mut(&mut body);
        if mover.fits {
            (provided.sig, provided.default) = (sig, Some(body));
        } else {
            unfit.push(provided.sig.ident.to_string());
            provided.default = Some(syn::parse_quote!({ loop {} }));
        }
    }
    Some((of_trait, unfit))
}

fn items_at<'i>(items: &'i [Item], path: &[String]) -> Option<&'i [Item]> {
    let Some((first, rest)) = path.split_first() else { return Some(items) };
    let mut inside = items.iter().filter_map(|item| match item {
        Item::Mod(module) if module.ident == *first => module.content.as_ref().map(|(_, items)| &items[..]),
        _ => None,
    });
    // Of two modules of one name, a condition decides which one there is.
    let (only, None) = (inside.next()?, inside.next()) else { return None };
    items_at(only, rest)
}

fn names(path: &Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

/// Reads the methods of an `impl` of another module that may be called in the caller's.
fn methods_of(modules: &Modules, item: &ItemImpl, (module, own): (usize, usize)) -> Vec<MethodElsewhere> {
    let self_ty = &item.self_ty;
    let ty = if is_device(&item.attrs) && item.trait_.is_none() { NamedType::of(self_ty) } else { None };
    let path: Vec<String> = ty.iter().flat_map(NamedType::path).map(ToString::to_string).collect();
    let meaning = modules.resolve(&path, module).filter(|meaning| modules.is_type(meaning));
    let (Some(meaning), Some(way)) = (meaning, modules.path_between(module, own)) else { return Vec::new() };
    let way = way.iter().map(|name| Ident::new(name, Span::call_site()));
    let way = quote!(#(#way)::*);
    let of = |member: &ImplItem| {
        let ImplItem::Fn(ImplItemFn { attrs, vis, sig, block, .. }) = member else { return None };
        let is_plain = attrs.iter().all(|attr| attr.path().is_ident("doc")) && modules.is_seen(vis, module, own);
        let of_type = OfType::of(item).filter(|_| is_plain)?;
        let text = identity_of(&quote!(#self_ty #sig #block));
        let method: ItemFn = syn::parse2(quote!(#vis #sig #block)).ok()?;
        let generics = item.generics.const_params().map(|param| param.ident.to_string());
        let known = moved(modules, &method, (module, own), (text, of_type, generics.collect()))?;
        let name = method.sig.ident.to_string();
        let of = (meaning.module, meaning.name.clone());
        Some(MethodElsewhere { of, name, known, place: modules.place(module, own), module: way.clone() })
    };
    item.items.iter().filter_map(of).collect()
}

/// Reads a function as its body would stand in the caller's module; `None` if some name in it could not stand there. Of a method, it is known
/// what its `impl` says.
fn moved(
    modules: &Modules,
    item: &ItemFn,
    (module, own): (usize, usize),
    (identity, of_type, of_impl): (u64, OfType, Vec<String>),
) -> Option<Known> {
    let sig = &item.sig;
    let generics = sig.generics.params.iter().filter_map(|param| match param {
        GenericParam::Type(param) => Some(param.ident.to_string()),
        GenericParam::Const(param) => Some(param.ident.to_string()),
        GenericParam::Lifetime(_) => None,
    });
    let locals = declared_in(item).into_iter().chain(generics).chain(of_impl).collect();
    let mut moved = item.clone();
    *moved.block = with_failures(&item.block);
    let mut mover = Mover { modules, module, own, locals, is_emitted: false, fits: true };
    mover.visit_signature_mut(&mut moved.sig);
    mover.visit_block_mut(&mut moved.block);
    // What its body cannot have elsewhere, it does not have here.
    if mover.fits { Known::of(&moved.sig, &moved.block, identity, of_type) } else { None }
}

/// Writes the paths of one module as they are in another one.
struct Mover<'m> {
    modules: &'m Modules,
    module: usize,
    own: usize,
    locals: BTreeSet<String>,
    /// Whether rustc is given the body there: it may have assertions and panics as they are, and names no function that is hidden there.
    is_emitted: bool,
    fits: bool,
}

impl VisitMut for Mover<'_> {
    fn visit_path_mut(&mut self, path: &mut Path) {
        visit_mut::visit_path_mut(self, path);
        let names = names(path);
        let Some(first) = names.first().filter(|_| path.leading_colon.is_none()) else { return };
        // The receiver, and its type.
        if first == "Self" || names.len() == 1 && first == "self" {
            return;
        }
        let meaning = self.modules.resolve(&names, self.module);
        if names.len() == 1 && self.locals.contains(first) {
            self.fits &= meaning.is_none();
            return;
        }
        let Some(meaning) = meaning else {
            self.fits &= self.means_the_same(first);
            return;
        };
        let hidden = || self.modules.hidden_path_to(&meaning, self.own).filter(|_| !self.is_emitted);
        let Some(mut segments) = self.modules.path_to(&meaning, self.own).or_else(hidden) else {
            self.fits = false;
            return;
        };
        let Some(mut last) = path.segments.pop() else { return };
        last.ident = Ident::new(&segments.pop().unwrap_or_default(), Span::call_site());
        path.segments.clear();
        path.segments.extend(segments.iter().map(|name| PathSegment::from(Ident::new(name, Span::call_site()))));
        path.segments.push(last);
    }

    fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
        // It may be a constant, as a name in a pattern.
        let name = pat.ident.to_string();
        self.fits &= self.modules.resolve(&[name], self.module).is_none();
        visit_mut::visit_pat_ident_mut(self, pat);
    }

    fn visit_attribute_mut(&mut self, _: &mut syn::Attribute) {}

    fn visit_macro_mut(&mut self, of: &mut syn::Macro) {
        let name = of.path.get_ident().map(ToString::to_string).unwrap_or_default();
        if self.is_emitted && MESSAGES.contains(&name.as_str()) {
            let is_taken = [self.module, self.own]
                .iter()
                .any(|of| self.modules.resolve(std::slice::from_ref(&name), *of).is_some());
            let Ok(mut values) = of.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated) else {
                self.fits = false;
                return;
            };
            self.fits &= !is_taken && !values.iter().any(names_in_text);
            values.iter_mut().for_each(|value| self.visit_expr_mut(value));
            of.tokens = values.to_token_stream();
            return;
        }
        // The function itself has it, under this name.
        self.fits &= of.path.is_ident("panic") && self.modules.resolve(&["panic".into()], self.own).is_none();
    }
}

/// The macros whose arguments are values, after a text.
const MESSAGES: [&str; 10] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "panic",
    "todo",
    "unreachable",
    "println",
];

/// Whether a text names values that are not local variables, by Rust's convention.
fn names_in_text(value: &Expr) -> bool {
    let Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = value else { return false };
    text.value().split('{').skip(1).any(|rest| rest.starts_with(char::is_uppercase))
}

impl Mover<'_> {
    /// Whether a name that no item of the module has means the same in the caller's module: one of Rust's own, or of phalanx's prelude. That
    /// each of these is what the language takes it for, the function's own attribute has rustc confirm.
    fn means_the_same(&self, name: &str) -> bool {
        let is_taken = self.modules.resolve(&[name.to_string()], self.own).is_some();
        let is_of_rust = ty::scalar(name).is_some() || ["None", "Option", "Some"].contains(&name);
        let is_ours = NAMES.iter().any(|(space, names)| space.is_imported() && names.contains(&name));
        let is_imported = || self.modules.has_prelude(self.module) && self.modules.has_prelude(self.own);
        !is_taken && (is_of_rust || is_ours && is_imported())
    }
}
