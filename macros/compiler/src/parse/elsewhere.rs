//! Device functions of other modules of a file than that of their caller, with the names in their bodies as paths from the caller's
//! module, in which the bodies then stand in place of calls (`inline`).

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span};
use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{GenericParam, Item, ItemFn, PatIdent, Path, PathSegment};

use super::modules::Modules;
use super::readable::{Known, OfType, declared_in, identity_of, is_device};
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

/// The functions of other modules.
pub(super) struct Others {
    modules: Modules,
    own: usize,
    functions: Vec<Elsewhere>,
}

impl Others {
    /// Reads the modules of a file beside the one that has this path.
    pub(super) fn of(items: &[Item], own: &[String]) -> Option<Others> {
        let modules = Modules::of(items);
        let own = modules.at(own)?;
        let mut functions = Vec::new();
        for module in (0..modules.count()).filter(|module| *module != own) {
            let Some(items) = items_at(items, modules.path(module)) else { continue };
            let place = modules.place(module, own);
            for item in items {
                let Item::Fn(item) = item else { continue };
                let known = if is_device(&item.attrs) { moved(&modules, item, (module, own)) } else { None };
                let of = (module, item.sig.ident.to_string());
                functions.extend(known.map(|known| Elsewhere { of, known, place: place.clone() }));
            }
        }
        Some(Others { modules, own, functions })
    }

    pub(super) fn known(&self) -> impl Iterator<Item = &Known> {
        self.functions.iter().map(|function| &function.known)
    }

    /// The function that a path names in the caller's module, if it is one of another module.
    pub(super) fn named(&self, path: &Path) -> Option<&Elsewhere> {
        if path.leading_colon.is_some() {
            return None;
        }
        let meaning = self.modules.resolve(&names(path), self.own)?;
        self.modules.path_to(&meaning, self.own)?;
        self.functions.iter().find(|function| (function.of.0, &function.of.1) == (meaning.module, &meaning.name))
    }
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

/// Reads a function as its body would stand in the caller's module; `None` if some name in it could not stand there.
fn moved(modules: &Modules, item: &ItemFn, (module, own): (usize, usize)) -> Option<Known> {
    let (sig, block) = (&item.sig, &item.block);
    let identity = identity_of(&quote!(#sig #block));
    let generics = sig.generics.params.iter().filter_map(|param| match param {
        GenericParam::Type(param) => Some(param.ident.to_string()),
        GenericParam::Const(param) => Some(param.ident.to_string()),
        GenericParam::Lifetime(_) => None,
    });
    let locals = declared_in(item).into_iter().chain(generics).collect();
    let mut moved = item.clone();
    let mut mover = Mover { modules, module, own, locals, fits: true };
    mover.visit_signature_mut(&mut moved.sig);
    mover.visit_block_mut(&mut moved.block);
    // What its body cannot have elsewhere, it does not have here.
    if mover.fits { Known::of(&moved.sig, &moved.block, identity, OfType::default()) } else { None }
}

/// Writes the paths of one module as they are in another one.
struct Mover<'m> {
    modules: &'m Modules,
    module: usize,
    own: usize,
    locals: BTreeSet<String>,
    fits: bool,
}

impl VisitMut for Mover<'_> {
    fn visit_path_mut(&mut self, path: &mut Path) {
        visit_mut::visit_path_mut(self, path);
        let names = names(path);
        let Some(first) = names.first().filter(|_| path.leading_colon.is_none()) else { return };
        let meaning = self.modules.resolve(&names, self.module);
        if names.len() == 1 && self.locals.contains(first) {
            self.fits &= meaning.is_none();
            return;
        }
        let Some(meaning) = meaning else {
            self.fits &= self.means_the_same(first);
            return;
        };
        let Some(mut segments) = self.modules.path_to(&meaning, self.own) else {
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
