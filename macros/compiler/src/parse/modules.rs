//! The modules that a file shows, and what a path means in one of them, as far as the text says: only rustc resolves names. What rests on
//! this has to be confirmed by rustc (`emit/followed`). `same_file` reads the functions, `elsewhere` those of other modules.

use std::collections::BTreeMap;

use syn::{Attribute, Item, UseTree, Visibility};

use crate::model::followed::Place;

/// The most imports that lead from a name to its item.
const DEPTH: u32 = 4;

/// The file itself.
const ROOT: usize = 0;

/// The item or the module that a path names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Meaning {
    /// The module of the item.
    pub(super) module: usize,
    pub(super) name: String,
    kind: Kind,
    /// The outermost module in all of which the item can be named.
    seen_in: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Module(usize),
    Function,
    Constant,
    /// A structure.
    Type,
    /// Something else, or an item that is there under a condition.
    Unknown,
}

impl Meaning {
    fn of_module(module: usize) -> Meaning {
        Meaning { module, name: String::new(), kind: Kind::Module(module), seen_in: ROOT }
    }

    fn unknown(module: usize) -> Meaning {
        Meaning { module, name: String::new(), kind: Kind::Unknown, seen_in: module }
    }
}

/// The modules of a file, in the order of their text.
pub(super) struct Modules(Vec<Module>);

#[derive(Default)]
struct Module {
    path: Vec<String>,
    parent: Option<usize>,
    items: BTreeMap<String, Vec<Meaning>>,
    /// The paths that are imported, by the name that each has here.
    imports: BTreeMap<String, Vec<Vec<String>>>,
    /// The modules all of whose items are imported.
    globs: Vec<Vec<String>>,
    /// Whether there may be items that the text does not show: macros or conditions make them.
    has_others: bool,
}

impl Modules {
    pub(super) fn of(items: &[Item]) -> Modules {
        let mut all = Modules(vec![Module::default()]);
        all.read(items, ROOT);
        all
    }

    fn read(&mut self, items: &[Item], own: usize) {
        for item in items {
            let (name, vis, attrs, mut kind) = match item {
                Item::Fn(item) => (&item.sig.ident, &item.vis, &item.attrs, Kind::Function),
                Item::Const(item) => (&item.ident, &item.vis, &item.attrs, Kind::Constant),
                Item::Enum(item) => (&item.ident, &item.vis, &item.attrs, Kind::Unknown),
                Item::Static(item) => (&item.ident, &item.vis, &item.attrs, Kind::Unknown),
                Item::Struct(item) => (&item.ident, &item.vis, &item.attrs, Kind::Type),
                Item::Trait(item) => (&item.ident, &item.vis, &item.attrs, Kind::Unknown),
                Item::Type(item) => (&item.ident, &item.vis, &item.attrs, Kind::Unknown),
                Item::Union(item) => (&item.ident, &item.vis, &item.attrs, Kind::Unknown),
                Item::Mod(item) => {
                    let kind = item.content.as_ref().map(|(_, inside)| {
                        let (number, mut path) = (self.0.len(), self.0[own].path.clone());
                        path.push(item.ident.to_string());
                        self.0.push(Module { path, parent: Some(own), ..Module::default() });
                        self.read(inside, number);
                        Kind::Module(number)
                    });
                    (&item.ident, &item.vis, &item.attrs, kind.unwrap_or(Kind::Unknown))
                }
                Item::Use(item) if item.attrs.iter().all(is_harmless) => {
                    self.import(&item.tree, Vec::new(), own);
                    continue;
                }
                Item::Impl(_) => continue,
                _ => {
                    self.0[own].has_others = true;
                    continue;
                }
            };
            if !attrs.iter().all(is_harmless) {
                kind = Kind::Unknown;
            }
            let seen_in = self.seen_in(vis, own);
            let meaning = Meaning { module: own, name: name.to_string(), kind, seen_in };
            self.0[own].items.entry(name.to_string()).or_default().push(meaning);
        }
    }

    fn import(&mut self, tree: &UseTree, mut path: Vec<String>, own: usize) {
        let module = &mut self.0[own];
        let mut add = |name: String, path| module.imports.entry(name).or_default().push(path);
        match tree {
            UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                self.import(&inner.tree, path, own);
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, path.clone(), own)),
            UseTree::Glob(_) => module.globs.push(path),
            UseTree::Name(name) if name.ident == "self" => {
                if let Some(last) = path.last().cloned() {
                    add(last, path);
                }
            }
            UseTree::Name(name) => {
                path.push(name.ident.to_string());
                add(name.ident.to_string(), path);
            }
            UseTree::Rename(name) => {
                if name.ident != "self" {
                    path.push(name.ident.to_string());
                }
                add(name.rename.to_string(), path);
            }
        }
    }

    /// The module that has this path, among those of the file.
    pub(super) fn at(&self, path: &[String]) -> Option<usize> {
        self.0.iter().position(|module| module.path == path)
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    pub(super) fn path(&self, module: usize) -> &[String] {
        &self.0[module].path
    }

    /// Returns what a path names in a module; `None` if the file does not show where its first name comes from.
    pub(super) fn resolve(&self, path: &[String], module: usize) -> Option<Meaning> {
        self.resolved(path, module, DEPTH)
    }

    fn resolved(&self, path: &[String], module: usize, depth: u32) -> Option<Meaning> {
        let (first, rest) = path.split_first()?;
        let mut meaning = match &**first {
            "self" => Meaning::of_module(module),
            "crate" => Meaning::of_module(ROOT),
            "super" => Meaning::of_module(self.0[module].parent?),
            first => self.named(first, module, depth)?,
        };
        for name in rest {
            let within = if let Kind::Module(within) = meaning.kind { Some(within) } else { None };
            let next = match (within, &**name) {
                (Some(within), "super") => self.0[within].parent.map(Meaning::of_module),
                (Some(within), name) => self.named(name, within, depth),
                (None, _) => None,
            };
            meaning = next.unwrap_or_else(|| Meaning::unknown(module));
        }
        Some(meaning)
    }

    /// Returns what a name means in a module.
    fn named(&self, name: &str, module: usize, depth: u32) -> Option<Meaning> {
        let own = &self.0[module];
        let only = |mut all: Vec<Meaning>| {
            all.dedup();
            let last = all.pop()?;
            Some(if all.is_empty() { last } else { Meaning::unknown(module) })
        };
        if let Some(items) = own.items.get(name) {
            // Of two definitions, a condition decides which one there is, and an import may have the name in another of Rust's namespaces.
            return Some(match &items[..] {
                [item] if !own.imports.contains_key(name) => item.clone(),
                _ => Meaning::unknown(module),
            });
        }
        let imported = |path: &Vec<String>, depth| self.resolved(path, module, depth);
        let unknown = || Meaning::unknown(module);
        if let Some(paths) = own.imports.get(name) {
            let inner = depth.checked_sub(1);
            let each = paths.iter().map(|path| inner.and_then(|depth| imported(path, depth)).unwrap_or_else(unknown));
            return only(each.collect());
        }
        if own.has_others {
            return Some(unknown());
        }
        let inner = depth.checked_sub(1)?;
        let of_glob = |path: &Vec<String>| match imported(path, inner)?.kind {
            Kind::Module(other) if other != module => self.named(name, other, inner),
            Kind::Module(_) | Kind::Function | Kind::Constant | Kind::Type | Kind::Unknown => None,
        };
        only(own.globs.iter().filter_map(of_glob).collect())
    }

    /// Whether a module imports all of phalanx's prelude.
    pub(super) fn has_prelude(&self, module: usize) -> bool {
        self.0[module].globs.iter().any(|path| path.iter().eq(["phalanx", "prelude"]))
    }

    /// Where a module stands, seen from another one.
    pub(super) fn place(&self, module: usize, from: usize) -> Place {
        let (path, from) = (self.path(module), self.path(from));
        let shared = path.iter().zip(from).take_while(|(one, other)| one == other).count();
        Place { up: from.len() - shared, down: path[shared..].to_vec() }
    }

    /// The path by which a module names an item of another one, if it is a function, a constant or a structure that may be named there.
    pub(super) fn path_to(&self, item: &Meaning, from: usize) -> Option<Vec<String>> {
        let is_named = matches!(item.kind, Kind::Function | Kind::Constant | Kind::Type);
        if is_named && self.is_within(from, item.seen_in) { self.path_through(item, from) } else { None }
    }

    /// The path that would lead to a function that may not be named there, though its module may.
    pub(super) fn hidden_path_to(&self, item: &Meaning, from: usize) -> Option<Vec<String>> {
        let is_hidden = item.kind == Kind::Function && !self.is_within(from, item.seen_in);
        if is_hidden { self.path_through(item, from) } else { None }
    }

    fn path_through(&self, item: &Meaning, from: usize) -> Option<Vec<String>> {
        Some(self.path_between(item.module, from)?.into_iter().chain([item.name.clone()]).collect())
    }

    /// Whether a path names a structure.
    pub(super) fn is_type(&self, meaning: &Meaning) -> bool {
        meaning.kind == Kind::Type
    }

    /// The path by which a module names another one, if it may.
    pub(super) fn path_between(&self, to: usize, from: usize) -> Option<Vec<String>> {
        let Place { up, down } = self.place(to, from);
        // The modules in between have to be visible, too.
        let mut module = (0..up).try_fold(from, |module, _| self.0[module].parent)?;
        for name in &down {
            let [meaning] = &self.0[module].items.get(name)?[..] else { return None };
            let Kind::Module(next) = meaning.kind else { return None };
            self.is_within(from, meaning.seen_in).then_some(())?;
            module = next;
        }
        let begin = if up == 0 { vec!["self".to_string()] } else { vec!["super".to_string(); up] };
        Some(begin.into_iter().chain(down).collect())
    }

    /// Whether something of a module with this visibility may be named in another one.
    pub(super) fn is_seen(&self, vis: &Visibility, module: usize, from: usize) -> bool {
        self.is_within(from, self.seen_in(vis, module))
    }

    fn seen_in(&self, vis: &Visibility, own: usize) -> usize {
        match vis {
            Visibility::Public(_) => ROOT,
            Visibility::Restricted(vis) if vis.path.is_ident("crate") => ROOT,
            Visibility::Restricted(vis) if vis.path.is_ident("super") => self.0[own].parent.unwrap_or(ROOT),
            Visibility::Restricted(_) | Visibility::Inherited => own,
        }
    }

    fn is_within(&self, module: usize, outer: usize) -> bool {
        self.path(module).starts_with(self.path(outer))
    }
}

/// Whether an attribute leaves an item as it is, but for ours, which keep its name.
fn is_harmless(attr: &Attribute) -> bool {
    const HARMLESS: [&str; 11] =
        ["allow", "cluster_kernel", "deny", "derive", "device", "doc", "expect", "inline", "must_use", "repr", "warn"];
    let last = attr.path().segments.last();
    last.is_some_and(|last| HARMLESS.iter().any(|harmless| last.ident == harmless))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "
        use ring::{stage, parity as flips}; use shapes::*; use phalanx::prelude::*; use other::wait;
        const TOP: u32 = 1;
        #[cfg(test)] fn tested() {}
        fn twice() {} fn twice() {}
        mod ring {
            use super::*;
            pub const STAGES: u32 = 4; const OWN: u32 = 2;
            #[device] pub fn stage() {} pub(crate) fn parity() {}
            pub mod inner { pub fn deep() {} pub(super) fn hidden() {} }
            mod closed { pub fn shut() {} }
        }
        mod shapes { pub fn rows() {} }
        mod made { items!(); use super::*; }";

    /// The path by which a module names what a path means there.
    #[track_caller]
    fn check(module: &str, path: &str, expected: Option<&str>) {
        let file = syn::parse_file(FILE).unwrap();
        let modules = Modules::of(&file.items);
        let words =
            |path: &str| path.split("::").filter(|word| !word.is_empty()).map(str::to_string).collect::<Vec<_>>();
        let from = modules.at(&words(module)).unwrap();
        let meaning = modules.resolve(&words(path), from);
        let named = meaning.and_then(|meaning| modules.path_to(&meaning, from)).map(|path| path.join("::"));
        assert_eq!(named.as_deref(), expected, "{path} in {module}");
    }

    #[test]
    fn items_of_other_modules() {
        check("", "ring::stage", Some("self::ring::stage"));
        check("", "stage", Some("self::ring::stage"));
        check("", "flips", Some("self::ring::parity"));
        check("", "rows", Some("self::shapes::rows"));
        check("", "crate::ring::inner::deep", Some("self::ring::inner::deep"));
        check("", "self::TOP", Some("self::TOP"));
        check("ring", "STAGES", Some("self::STAGES"));
        check("ring", "TOP", Some("super::TOP"));
        check("ring", "rows", Some("super::shapes::rows"));
        check("ring", "inner::hidden", Some("self::inner::hidden"));
        check("ring::inner", "super::super::shapes::rows", Some("super::super::shapes::rows"));
    }

    /// The path that would lead to a function that only its own module may name.
    #[test]
    fn hidden_functions() {
        let file =
            syn::parse_file("mod ring { fn own() {} const STAGES: u32 = 2; mod closed { fn shut() {} } }").unwrap();
        let modules = Modules::of(&file.items);
        let hidden = |path: &[&str]| {
            let words: Vec<String> = path.iter().map(ToString::to_string).collect();
            let path = modules.hidden_path_to(&modules.resolve(&words, ROOT)?, ROOT)?;
            Some(path.join("::"))
        };
        assert_eq!(hidden(&["ring", "own"]).as_deref(), Some("self::ring::own"));
        // Nothing could confirm a constant, nor what is in a module out of sight.
        assert_eq!(hidden(&["ring", "STAGES"]), None);
        assert_eq!(hidden(&["ring", "closed", "shut"]), None);
    }

    #[test]
    fn what_is_not_known() {
        // Private, or in a private module.
        check("", "ring::OWN", None);
        check("", "ring::inner::hidden", None);
        check("", "ring::closed::shut", None);
        // Under a condition, twice, of another file, or of a macro that may define it.
        check("", "tested", None);
        check("", "twice", None);
        check("", "wait", None);
        check("", "shared_array", None);
        check("made", "TOP", None);
        check("", "ring::absent", None);
    }
}
