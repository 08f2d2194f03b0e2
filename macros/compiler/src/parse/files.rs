//! The files of a crate as if they stood in one: that of an item, those of the modules around it and those of the modules that it names,
//! each where its `mod` stands. Like all that is read there, it is a guess, since only rustc knows which file a module is: what rests on it
//! has to be confirmed by rustc (`emit/followed`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use syn::{Attribute, Expr, ExprLit, File, Item, ItemMod, Lit, Meta, UseTree};

use crate::model::words::words;

/// The most other files that are read.
const MOST_FILES: usize = 12;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 200_000;

/// How many modules may stand around a file.
const DEPTH: usize = 6;

/// The items of a file, and of others around it.
pub(crate) struct Files {
    pub(super) items: Vec<Item>,
    /// The path of the file's own module.
    pub(super) own: Vec<String>,
    /// The items of the file alone, where there are others.
    alone: Option<Vec<Item>>,
    /// The texts of the other files.
    pub(crate) others: Vec<String>,
}

impl Files {
    /// A file without others.
    pub(crate) fn alone(text: &str) -> Option<Files> {
        let items = syn::parse_file(text).ok()?.items;
        Some(Files { items, own: Vec::new(), alone: None, others: Vec::new() })
    }

    /// The items of the file itself.
    pub(super) fn of_file(&self) -> &[Item] {
        self.alone.as_ref().unwrap_or(&self.items)
    }

    /// A file with the others whose modules an item in it names, directly or through what these import; `None` if there are none.
    pub(crate) fn around(path: &Path, text: &str, item: &TokenStream) -> Option<Files> {
        let may_lead = ["crate", "super", "mod"].iter().any(|word| text.contains(word));
        let alone = if may_lead { syn::parse_file(text).ok()?.items } else { return None };
        let mut wanted = Wanted::default();
        wanted.add(&alone);
        if !wanted.are_named_in(item) {
            return None;
        }
        let mut files = Files { items: alone.clone(), own: Vec::new(), alone: Some(alone), others: Vec::new() };
        let root = files.add_around(path);
        if wanted.has_glob {
            wanted.add(&files.items);
        }
        // What a file imports is where another one may stand.
        loop {
            let before = files.others.len();
            let mut items = std::mem::take(&mut files.items);
            files.fill(&mut items, &root, &mut wanted);
            files.items = items;
            if files.others.len() == before {
                return (before > 0).then_some(files);
            }
        }
    }

    /// Puts the file where its `mod` stands, as often as there is one; returns the folder in which the outermost file has its modules.
    fn add_around(&mut self, path: &Path) -> PathBuf {
        let mut path = path.to_path_buf();
        for _ in 0..DEPTH {
            let Some((name, folder)) = module_of(&path) else { break };
            let above =
                [folder.join("lib.rs"), folder.join("main.rs"), folder.join("mod.rs"), folder.with_extension("rs")];
            let found = above.into_iter().filter(|above| *above != path).find_map(|above| {
                let (text, mut file) = read(&above)?;
                let item = file.items.iter_mut().find_map(|item| declared(item).filter(|item| item.ident == name))?;
                item.content = Some((Default::default(), std::mem::take(&mut self.items)));
                Some((above, text, file.items))
            });
            let Some((above, text, items)) = found else { break };
            self.own.insert(0, name);
            self.others.push(text);
            (self.items, path) = (items, above);
        }
        folder_of(&path)
    }

    /// Reads the files of modules that are wanted, whose `mod`s are among items of a module that has this folder.
    fn fill(&mut self, items: &mut [Item], folder: &Path, wanted: &mut Wanted) {
        for item in items {
            let Item::Mod(item) = item else { continue };
            let inside = folder.join(item.ident.to_string());
            if item.content.is_none()
                && wanted.names.contains(&item.ident.to_string())
                && self.others.len() < MOST_FILES
            {
                let at = match path_of(&item.attrs) {
                    // It is meant from the folder of the file that says it, which is one outwards but for `mod.rs` and a crate's first file.
                    Some(path) => vec![folder.with_file_name(&path), folder.join(path)],
                    None => vec![inside.with_extension("rs"), inside.join("mod.rs")],
                };
                let Some((text, file)) = at.iter().find_map(|at| read(at)) else { continue };
                wanted.add(&file.items);
                item.attrs.retain(|attr| !attr.path().is_ident("path"));
                item.content = Some((Default::default(), file.items));
                self.others.push(text);
            }
            if let Some((_, items)) = &mut item.content {
                self.fill(items, &inside, wanted);
            }
        }
    }
}

/// The module whose `mod` stands in another file.
fn declared(item: &mut Item) -> Option<&mut ItemMod> {
    if let Item::Mod(item) = item { Some(item).filter(|item| item.content.is_none()) } else { None }
}

fn read(path: &Path) -> Option<(String, File)> {
    std::fs::metadata(path).ok().filter(|file| file.is_file() && file.len() <= LARGEST)?;
    let text = std::fs::read_to_string(path).ok()?;
    let file = syn::parse_file(&text).ok()?;
    Some((text, file))
}

/// The name of the module that a file is, and the folder in which it stands with the others of its parent; `None` of a crate's first file.
fn module_of(path: &Path) -> Option<(String, PathBuf)> {
    let (stem, folder) = (path.file_stem()?.to_str()?, path.parent()?);
    match stem {
        "lib" | "main" => None,
        "mod" => Some((folder.file_name()?.to_str()?.to_string(), folder.parent()?.to_path_buf())),
        name => Some((name.to_string(), folder.to_path_buf())),
    }
}

/// The folder in which a file has its modules. That of a crate's first file is its own one, whatever its name is.
fn folder_of(path: &Path) -> PathBuf {
    path.parent().map(Path::to_path_buf).unwrap_or_default()
}

/// The file that `#[path = "..."]` says.
fn path_of(attrs: &[Attribute]) -> Option<String> {
    attrs.iter().find_map(|attr| match &attr.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) => Some(path.value()),
            _ => None,
        },
        _ => None,
    })
}

/// The names that may lead to other files.
#[derive(Default)]
struct Wanted {
    /// The names in the paths of what is imported from other modules of the crate.
    names: BTreeSet<String>,
    /// The modules in files of their own.
    modules: BTreeSet<String>,
    /// Whether all items of some module are imported.
    has_glob: bool,
}

impl Wanted {
    fn add(&mut self, items: &[Item]) {
        let modules: Vec<String> = items
            .iter()
            .filter_map(|item| match item {
                Item::Mod(item) => Some(item.ident.to_string()),
                _ => None,
            })
            .collect();
        for item in items {
            match item {
                Item::Use(item) => {
                    let is_own =
                        |first: &String| ["crate", "self", "super"].contains(&&**first) || modules.contains(first);
                    let mut paths = Vec::new();
                    names_of(&item.tree, &mut Vec::new(), &mut paths);
                    let own = paths.into_iter().filter(|(path, _)| path.first().is_some_and(is_own));
                    for (path, is_glob) in own {
                        self.has_glob |= is_glob;
                        self.names.extend(path);
                    }
                }
                Item::Mod(item) => {
                    if item.content.is_none() {
                        self.modules.insert(item.ident.to_string());
                    }
                    item.content.iter().for_each(|(_, items)| self.add(items));
                }
                _ => {}
            }
        }
    }

    /// Whether an item names something that may stand in another file. What a path in the item names is wanted, too.
    fn are_named_in(&mut self, item: &TokenStream) -> bool {
        let words: Vec<String> = words(item).map(|word| word.to_string()).collect();
        let leads = |word: &String| {
            ["crate", "super"].contains(&&**word) || self.names.contains(word) || self.modules.contains(word)
        };
        let any = self.has_glob || words.iter().any(leads);
        self.names.extend(words);
        any
    }
}

/// Returns the names in the paths of a `use`, and whether each ends with all of a module.
fn names_of(tree: &UseTree, before: &mut Vec<String>, found: &mut Vec<(Vec<String>, bool)>) {
    let with = |last: &[String], before: &[String]| before.iter().chain(last).cloned().collect();
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            names_of(&path.tree, before, found);
            before.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| names_of(tree, before, found)),
        UseTree::Glob(_) => found.push((with(&[], before), true)),
        UseTree::Name(name) => found.push((with(&[name.ident.to_string()], before), false)),
        UseTree::Rename(name) => {
            found.push((with(&[name.ident.to_string(), name.rename.to_string()], before), false));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::inline::inlined;
    use crate::parse::readable::Reads;

    /// A crate in a folder of its own.
    struct Crate(PathBuf);

    impl Crate {
        fn new(name: &str, files: &[(&str, &str)]) -> Crate {
            let folder = std::env::temp_dir().join(format!("phalanx-files-{name}-{}", std::process::id()));
            for (path, text) in files {
                let path = folder.join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            Crate(folder)
        }

        /// The functions whose bodies stand in place of calls in the only function of a file, each with the way to its module.
        fn followed(&self, file: &str) -> Vec<String> {
            let path = self.0.join(file);
            let text = std::fs::read_to_string(&path).unwrap();
            let kernel = text[text.find("#[cluster_kernel]").unwrap()..].replace("#[cluster_kernel]", "");
            let item: TokenStream = kernel.parse().unwrap();
            let Some(files) = Files::around(&path, &text, &item) else { return Vec::new() };
            let inlined = inlined(&item, &files, Reads::All);
            let place = |followed: &crate::model::followed::Followed| {
                let (_, place) = followed.elsewhere.as_ref().unwrap();
                format!("{} {}{}", followed.name, "super::".repeat(place.up), place.down.join("::"))
            };
            inlined.iter().flat_map(|inlined| &inlined.followed).map(place).collect()
        }
    }

    impl Drop for Crate {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    const RING: &str = "use phalanx::prelude::*; #[device] pub fn stage(k: u32) -> u32 { k % 4 }";

    fn kernel(uses: &str, body: &str) -> String {
        format!("use phalanx::prelude::*; {uses}\n#[cluster_kernel] fn k(n: u32) {{ {body} }}")
    }

    #[test]
    fn modules_of_other_files() {
        let of_crate = kernel("use crate::ring::stage;", "let s = stage(n);");
        let by_path = kernel("mod ring;", "let s = ring::stage(n);");
        let files = [
            ("src/lib.rs", "mod ring; mod kernels; mod outer; mod unread;"),
            ("src/ring.rs", RING),
            ("src/kernels.rs", &of_crate),
            ("src/outer/mod.rs", "mod inner; mod ring;"),
            ("src/outer/ring.rs", RING),
            ("src/outer/inner.rs", &kernel("use super::ring::*;", "let s = stage(n);")),
            ("src/unread.rs", "this is no Rust"),
            ("src/bin/alone.rs", &by_path),
            ("src/bin/ring/mod.rs", RING),
            ("src/bin/named.rs", &by_path.replace("mod ring;", "#[path = \"../ring.rs\"] mod ring;")),
            ("src/bin/none.rs", &kernel("", "let s = n;")),
        ];
        let files = Crate::new("modules", &files);
        assert_eq!(files.followed("src/kernels.rs"), ["stage super::ring"]);
        assert_eq!(files.followed("src/outer/inner.rs"), ["stage super::ring"]);
        assert_eq!(files.followed("src/bin/alone.rs"), ["stage ring"]);
        assert_eq!(files.followed("src/bin/named.rs"), ["stage ring"]);
        assert!(files.followed("src/bin/none.rs").is_empty());
    }

    /// What another file imports is read, too, under the names that it has there.
    #[test]
    fn what_other_files_import() {
        let files = [
            ("src/main.rs", "pub use steps::stage as place; mod steps; mod sizes; mod kernels;"),
            (
                "src/steps.rs",
                "use phalanx::prelude::*; use crate::sizes::{self, wrapped};
                #[device] pub fn stage(k: u32) -> u32 { wrapped(k) + sizes::STAGES }",
            ),
            (
                "src/sizes.rs",
                "use phalanx::prelude::*; pub const STAGES: u32 = 4; #[device] pub fn wrapped(k: u32) -> u32 { k % STAGES }",
            ),
            ("src/kernels.rs", &kernel("use super::*;", "let s = place(n);")),
        ];
        let files = Crate::new("imports", &files);
        assert_eq!(files.followed("src/kernels.rs"), ["place super::steps", "wrapped super::sizes"]);
    }

    /// The methods that a trait of another file provides, with the names of that file, and those with names that cannot stand elsewhere.
    #[test]
    fn provided_methods_of_other_files() {
        let shapes = "use phalanx::prelude::*; use crate::area::Area; const UNIT: u32 = 3;
            #[device] impl Area for Square { fn area(&self) -> u32 { self.side } }";
        let files = [
            ("src/lib.rs", "mod area; mod shapes;"),
            (
                "src/area.rs",
                "use phalanx::prelude::*; pub const UNIT: u32 = 7; #[device] fn hidden(x: u32) -> u32 { x }
                #[device] pub trait Area {
                    fn area(&self) -> u32;
                    fn twice(&self) -> u32 { assert!(self.area() < UNIT); self.area() * 2 + UNIT }
                    fn other(&self) -> u32 { hidden(self.area()) }
                }",
            ),
            ("src/shapes.rs", shapes),
        ];
        let files = Crate::new("provided", &files);
        let item: TokenStream = shapes[shapes.find("impl").unwrap()..].parse().unwrap();
        let mut diags = crate::diag::Diags::new(crate::session::Session::default());
        let path = files.0.join("src/shapes.rs");
        let added = crate::parse::provided_methods::added(&item, shapes, Some(&path), &mut diags).unwrap().to_string();
        assert!(added.contains("assert ! (self . area () < super :: area :: UNIT)"), "{added}");
        assert!(added.contains("self . area () * 2 + super :: area :: UNIT"), "{added}");
        assert!(added.contains("fn other"), "{added}");
        let faults = diags.into_faults();
        assert!(matches!(&faults[..], [fault] if fault.text().contains("`other` of this trait")), "{faults:#?}");
    }

    /// A condition may leave a module out, and a file that is too large is not read.
    #[test]
    fn what_is_left_out() {
        let files = [
            ("src/lib.rs", "#[cfg(test)] mod ring; mod large; mod kernels; mod others;"),
            ("src/ring.rs", RING),
            ("src/large.rs", &format!("{RING} // {}", " ".repeat(200_000))),
            ("src/kernels.rs", &kernel("use crate::ring::stage;", "let s = stage(n);")),
            ("src/others.rs", &kernel("use crate::large::stage;", "let s = stage(n);")),
        ];
        let files = Crate::new("left-out", &files);
        assert!(files.followed("src/kernels.rs").is_empty());
        assert!(files.followed("src/others.rs").is_empty());
    }
}
