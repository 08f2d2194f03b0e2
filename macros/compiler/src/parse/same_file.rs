//! The device functions and methods that stand in the file of an item, in the item's module, as syntax: what may be read in place of
//! a call (`elsewhere` has those of other modules). They are guesses of what is called, since only rustc resolves names; what rests on one has to be confirmed by rustc, by the
//! identity of its text.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::visit::Visit;
use syn::{Attribute, ImplItem, Item, ItemFn, Type};

use super::elsewhere::{MethodElsewhere, Others};
use super::files::Files;
use super::local_types::NamedType;
use super::nested_functions::separated;
use super::readable::{Known, OfType, identity_of, is_device};
use crate::model::followed::Place;
use crate::model::words::words;

/// The functions of a module, by name, and the methods of its types, by type and name.
pub(super) struct Module {
    pub(super) functions: BTreeMap<String, Known>,
    pub(super) methods: BTreeMap<(String, String), Known>,
    /// Other names for types.
    aliases: BTreeMap<String, NamedType>,
    /// The functions of the file's other modules.
    pub(super) others: Others,
}

impl Module {
    /// Reads the module of the only function of this name in a file.
    pub(super) fn around(name: &Ident, files: &Files) -> Option<Module> {
        let mut found = Vec::new();
        modules(files.of_file(), name, &mut Vec::new(), &mut found);
        let [(items, path)] = &found[..] else { return None };
        let path = [&files.own[..], path].concat();
        Some(Module::of(items, Others::of(&files.items, &path)?))
    }

    fn of(items: &[Item], others: Others) -> Module {
        let (mut functions, mut methods, mut aliases) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for item in items {
            match item {
                Item::Fn(ItemFn { attrs, sig, block, .. }) if is_device(attrs) => {
                    let known = Known::of(sig, block, identity_of(&quote!(#sig #block)), OfType::default());
                    functions.entry(sig.ident.to_string()).or_insert_with(Vec::new).push(known);
                }
                Item::Impl(item) if is_device(&item.attrs) => {
                    let own = &item.self_ty;
                    let Type::Path(path) = &**own else { continue };
                    let Some(name) = path.path.segments.last() else { continue };
                    for member in &item.items {
                        let ImplItem::Fn(method) = member else { continue };
                        let (sig, block) = (&method.sig, &method.block);
                        let is_plain = method.attrs.iter().all(|attr| attr.path().is_ident("doc"));
                        let of = OfType::of(item).filter(|_| is_plain);
                        let known = of.and_then(|of| Known::of(sig, block, identity_of(&quote!(#own #sig #block)), of));
                        let key = (name.ident.to_string(), sig.ident.to_string());
                        methods.entry(key).or_insert_with(Vec::new).push(known);
                    }
                }
                Item::Type(item) if item.generics.params.is_empty() && item.attrs.is_empty() => {
                    aliases.extend(NamedType::of(&item.ty).map(|ty| (item.ident.to_string(), ty)));
                }
                _ => {}
            }
        }
        // Of two definitions, a condition decides which one there is.
        Module { functions: only(functions), methods: only(methods), aliases, others }
    }

    /// All functions that may be read in place of their calls.
    pub(super) fn known(&self) -> impl Iterator<Item = &Known> {
        self.functions.values().chain(self.methods.values()).chain(self.others.known())
    }

    /// The type that another name stands for.
    pub(super) fn resolved<'t>(&'t self, ty: &'t NamedType) -> &'t NamedType {
        let alias = self.aliases.get(&ty.name().to_string()).filter(|_| ty.arguments().is_empty());
        alias.unwrap_or(ty)
    }

    pub(super) fn has_methods(&self, ty: &NamedType) -> bool {
        let ty = self.resolved(ty);
        ty.is_one_name() && self.methods.keys().any(|(of, _)| *ty.name() == **of) || self.others.has_methods(ty)
    }

    /// Returns a function of a type.
    pub(super) fn method(&self, ty: &NamedType, name: &Ident) -> Option<Method<'_>> {
        let ty = self.resolved(ty);
        let own = self.methods.get(&(ty.name().to_string(), name.to_string())).filter(|_| ty.is_one_name());
        let (known, elsewhere) = match own {
            Some(known) => (known, None),
            None => {
                let MethodElsewhere { known, place, module, .. } = self.others.method(ty, name)?;
                (known, Some((module.clone(), place.clone())))
            }
        };
        let (names, given) = (known.of_type.iter().cloned(), ty.arguments().iter().cloned());
        (names.len() == given.len()).then(|| Method { known, constants: names.zip(given).collect(), elsewhere })
    }
}

/// A function of a type.
pub(super) struct Method<'m> {
    pub(super) known: &'m Known,
    /// The constants that the type's arguments are for it.
    pub(super) constants: Vec<(String, TokenTree)>,
    /// The path of the module in which its `impl` stands, if that is another one, and where that is.
    pub(super) elsewhere: Option<(TokenStream, Place)>,
}

fn only<K: Ord>(all: BTreeMap<K, Vec<Option<Known>>>) -> BTreeMap<K, Known> {
    let one = |mut known: Vec<Option<Known>>| if known.len() == 1 { known.pop().flatten() } else { None };
    all.into_iter().filter_map(|(key, known)| Some((key, one(known)?))).collect()
}

/// Collects the items and the path of each module that has a function of this name.
fn modules<'i>(items: &'i [Item], name: &Ident, path: &mut Vec<String>, found: &mut Vec<(&'i [Item], Vec<String>)>) {
    for item in items {
        match item {
            Item::Fn(item) if item.sig.ident == *name => found.push((items, path.clone())),
            Item::Mod(item) => {
                path.push(item.ident.to_string());
                item.content.iter().for_each(|(_, items)| modules(items, name, path, found));
                path.pop();
            }
            _ => {}
        }
    }
}

/// An item under an attribute of phalanx, without it.
pub(crate) struct Attributed {
    pub(crate) is_kernel: bool,
    pub(crate) options: TokenStream,
    pub(crate) item: TokenStream,
}

/// Returns the items of a file that have an attribute, functions before those that call them.
pub(crate) fn attributed(file: &str) -> syn::Result<Vec<Attributed>> {
    struct All(Vec<(String, Attributed)>);
    impl All {
        fn add(&mut self, name: String, attrs: &[Attribute], item: impl FnOnce(Vec<Attribute>) -> TokenStream) {
            let named = |attr: &Attribute| attr.path().segments.last().map(|last| last.ident.to_string());
            let is_ours =
                |attr: &&Attribute| named(attr).is_some_and(|name| ["device", "cluster_kernel"].contains(&&*name));
            let Some(ours) = attrs.iter().find(is_ours) else { return };
            let options = match &ours.meta {
                syn::Meta::List(list) => list.tokens.clone(),
                syn::Meta::Path(_) | syn::Meta::NameValue(_) => TokenStream::new(),
            };
            let others = attrs.iter().filter(|attr| !is_ours(attr)).cloned().collect();
            let is_kernel = named(ours).is_some_and(|name| name == "cluster_kernel");
            let mut item = item(others);
            if let Some((outer, nested)) = separated(&item) {
                item = outer;
                self.0.extend(nested.iter().map(|function| {
                    let (options, item) = (TokenStream::new(), function.to_token_stream());
                    (function.sig.ident.to_string(), Attributed { is_kernel: false, options, item })
                }));
            }
            self.0.push((name, Attributed { is_kernel, options, item }));
        }
    }
    impl<'a> Visit<'a> for All {
        fn visit_item_fn(&mut self, item: &'a ItemFn) {
            let with = |attrs| ItemFn { attrs, ..item.clone() }.into_token_stream();
            self.add(item.sig.ident.to_string(), &item.attrs, with);
        }

        fn visit_item_impl(&mut self, item: &'a syn::ItemImpl) {
            let with = |attrs| syn::ItemImpl { attrs, ..item.clone() }.into_token_stream();
            self.add(String::new(), &item.attrs, with);
        }
    }
    let mut all = All(Vec::new());
    all.visit_file(&syn::parse_file(file)?);
    let (mut rest, mut sorted) = (all.0, Vec::new());
    while !rest.is_empty() {
        let names: Vec<String> = rest.iter().map(|(name, _)| name.clone()).collect();
        let calls = |(own, of): &(String, Attributed)| {
            let words = words(&of.item).map(|word| word.to_string());
            words.filter(|word| word != own).any(|word| names.contains(&word))
        };
        // Of a cycle, all at once.
        let (later, mut now): (Vec<_>, Vec<_>) = rest.into_iter().partition(calls);
        rest = later;
        if now.is_empty() {
            now = std::mem::take(&mut rest);
        }
        sorted.extend(now.into_iter().map(|(_, item)| item));
    }
    sorted.sort_by_key(|item| item.is_kernel);
    Ok(sorted)
}
