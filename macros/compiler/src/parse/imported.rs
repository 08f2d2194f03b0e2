//! Functions of Rust's library that `use` has imported: `max(a, b)`, `mem::swap(&mut a, &mut b)`, also by another name, `use std::cmp::max as
//! larger;`. No syntax of a call shows what its name is, so the `use` declarations of the function and of its file are read, and a path that
//! means one of these functions is marked. The host body has rustc compare the function with the library's.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Expr, ExprCall, ExprMethodCall, ExprPath, Item, ItemUse, PatIdent, Path, PathArguments, UseTree, parse_str, parse2,
};

use super::Parser;
use crate::model::expr::Expr as Value;
use crate::model::method::Intrinsic;
use crate::span::SpanRange;

/// The functions, with their modules in `core`.
const FUNCTIONS: [(&str, &str); 6] =
    [("cmp", "max"), ("cmp", "min"), ("mem", "replace"), ("mem", "swap"), ("mem", "take"), ("array", "from_fn")];

/// The segments before the library's name of the function in a marked path, which the user's path follows.
const MARK: [&str; 3] = ["phalanx", "__private", "imported"];

/// Marks the paths of imported functions; `None` if there are none. The text is that of the file around the item.
pub(crate) fn marked(item: &TokenStream, file: &str) -> Option<TokenStream> {
    let mut found = Imports::default();
    for declaration in uses_of(file).filter_map(|text| parse_str::<ItemUse>(text).ok()) {
        found.add(&declaration.tree, &mut Vec::new());
    }
    // The declarations may stand in other modules of the file than the item.
    let Imports { of_rust: mut imports, others } = found;
    imports.retain(|(path, _)| path.contains("::") || !others.contains(path) && !defines(file, path));
    let mut found = Imports::default();
    uses_within(item.clone()).iter().for_each(|declaration| found.add(&declaration.tree, &mut Vec::new()));
    imports.extend(found.of_rust);
    if imports.is_empty() || !may_call(item.clone(), &imports) {
        return None;
    }
    let mut item: Item = parse2(item.clone()).ok()?;
    let mut names = Bound::default();
    names.visit_item(&item);
    let mut mark = Mark { imports: &imports, bound: names.0, any: false };
    mark.visit_item_mut(&mut item);
    mark.any.then(|| item.into_token_stream())
}

/// Whether a text has a path that ends as one of the imports does: a word that stands alone or before parentheses.
fn may_call(tokens: TokenStream, imports: &[(String, &'static str)]) -> bool {
    let is_last = |name: &str| imports.iter().any(|(path, _)| path.rsplit("::").next() == Some(name));
    // Of `x.max(y)`, not of `0..max(x, y)`.
    let (mut after_dot, mut dots) = (false, 0);
    for token in tokens {
        match &token {
            TokenTree::Group(group) if may_call(group.stream(), imports) => return true,
            TokenTree::Ident(name) if !after_dot && is_last(&name.to_string()) => return true,
            TokenTree::Group(_) | TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
        dots = if matches!(&token, TokenTree::Punct(dot) if dot.as_char() == '.') { dots + 1 } else { 0 };
        after_dot = dots == 1;
    }
    false
}

/// The `use` declarations of a file that name one of the functions or a module of them.
fn uses_of(file: &str) -> impl Iterator<Item = &str> {
    file.match_indices("use ").filter_map(move |(at, _)| {
        let line = file[..at].rfind('\n').map_or(0, |end| end + 1);
        let begins = !file[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
        let declaration = file[at..].split_inclusive(';').next()?;
        let names = |name: &str| declaration.contains(name);
        let is_meant = FUNCTIONS.iter().any(|(module, function)| names(module) || names(function));
        (begins && is_meant && !file[line..at].contains("//")).then_some(declaration)
    })
}

/// The `use` declarations within a function.
fn uses_within(tokens: TokenStream) -> Vec<ItemUse> {
    let mut found = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                found.extend(uses_within(group.stream()))
            }
            TokenTree::Ident(name) if name == "use" => {
                let mut text = name.into_token_stream();
                for token in tokens.by_ref() {
                    let ends = matches!(&token, TokenTree::Punct(end) if end.as_char() == ';');
                    text.extend([token]);
                    if ends {
                        break;
                    }
                }
                found.extend(parse2::<ItemUse>(text));
            }
            TokenTree::Group(_) | TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    found
}

/// What `use` declarations make known.
#[derive(Default)]
struct Imports {
    /// The paths of functions of Rust's library, `max`, `mem::swap`, and the library's names of these functions.
    of_rust: Vec<(String, &'static str)>,
    /// The names of other items.
    others: Vec<String>,
}

impl Imports {
    fn add(&mut self, tree: &UseTree, before: &mut Vec<String>) {
        let within = match &before[..] {
            [root, within @ ..] if root == "std" || root == "core" => Some(within),
            _ => None,
        };
        match (tree, within) {
            (UseTree::Path(path), _) => {
                before.push(path.ident.to_string());
                self.add(&path.tree, before);
                before.pop();
            }
            (UseTree::Group(group), _) => group.items.iter().for_each(|tree| self.add(tree, before)),
            (UseTree::Name(name), Some([module])) if name.ident == "self" => self.add_module(module, module),
            (UseTree::Name(name), Some([])) => self.add_module(&name.ident.to_string(), &name.ident.to_string()),
            (UseTree::Name(name), _) => self.add_item(within, &name.ident.to_string(), &name.ident.to_string()),
            (UseTree::Glob(_), Some([module])) => {
                let functions = FUNCTIONS.iter().filter(|(of, _)| of == module);
                self.of_rust.extend(functions.map(|(_, function)| ((*function).to_string(), *function)));
            }
            (UseTree::Rename(name), Some([module])) if name.ident == "self" => {
                self.add_module(module, &name.rename.to_string());
            }
            (UseTree::Rename(name), Some([])) => self.add_module(&name.ident.to_string(), &name.rename.to_string()),
            (UseTree::Rename(name), _) => self.add_item(within, &name.ident.to_string(), &name.rename.to_string()),
            (UseTree::Glob(_), _) => {}
        }
    }

    /// Adds an item of this name, which is called by another one.
    fn add_item(&mut self, within: Option<&[String]>, item: &str, called: &str) {
        let function = within.and_then(|within| match within {
            [module] => FUNCTIONS.iter().find(|(of, function)| module == of && item == *function),
            _ => None,
        });
        match function {
            Some((_, function)) => self.of_rust.push((called.into(), function)),
            None => self.others.push(called.into()),
        }
    }

    /// Adds a module of this name, which is called by another one.
    fn add_module(&mut self, module: &str, called: &str) {
        let functions = FUNCTIONS.iter().filter(|(of, _)| *of == module);
        self.of_rust.extend(functions.map(|(_, function)| (format!("{called}::{function}"), *function)));
    }
}

/// Whether a file defines a function of this name.
fn defines(file: &str, name: &str) -> bool {
    file.match_indices("fn ").any(|(at, word)| {
        let rest = file[at + word.len()..].trim_start();
        rest.strip_prefix(name).is_some_and(|rest| !rest.starts_with(|of: char| of.is_alphanumeric() || of == '_'))
    })
}

/// The names that a function binds.
#[derive(Default)]
struct Bound(Vec<String>);

impl Visit<'_> for Bound {
    fn visit_pat_ident(&mut self, name: &PatIdent) {
        self.0.push(name.ident.to_string());
        visit::visit_pat_ident(self, name);
    }
}

struct Mark<'a> {
    imports: &'a [(String, &'static str)],
    bound: Vec<String>,
    any: bool,
}

impl Mark<'_> {
    /// Marks the path of a function that is passed on, if no variable can be meant.
    fn mark_value(&mut self, argument: &mut Expr) {
        if let Expr::Path(path) = argument
            && !path.path.get_ident().is_some_and(|name| self.bound.contains(&name.to_string()))
        {
            self.mark(path);
        }
    }

    fn mark(&mut self, path: &mut ExprPath) {
        if path.qself.is_some() || path.path.leading_colon.is_some() || path.path.segments.len() > 2 {
            return;
        }
        let names: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let has_arguments = path.path.segments.iter().any(|segment| !matches!(segment.arguments, PathArguments::None));
        let called = names.join("::");
        let Some((_, function)) = self.imports.iter().find(|(path, _)| *path == called).filter(|_| !has_arguments)
        else {
            return;
        };
        let at = SpanRange::of(&*path).lo;
        let (own, function) = (&path.path, Ident::new(function, at));
        if let Ok(marked) = parse2(quote_spanned!(at=> ::phalanx::__private::imported::#function::#own)) {
            path.path = marked;
            self.any = true;
        }
    }
}

impl VisitMut for Mark<'_> {
    fn visit_expr_call_mut(&mut self, call: &mut ExprCall) {
        if let Expr::Path(path) = &mut *call.func {
            self.mark(path);
        }
        call.args.iter_mut().for_each(|argument| self.mark_value(argument));
        visit_mut::visit_expr_call_mut(self, call);
    }

    /// A function as a value, `fold(0, max)`.
    fn visit_expr_method_call_mut(&mut self, call: &mut ExprMethodCall) {
        call.args.iter_mut().for_each(|argument| self.mark_value(argument));
        visit_mut::visit_expr_method_call_mut(self, call);
    }
}

/// Returns the path that is marked, as the user wrote it, and the library's name of the function.
fn path_of(path: &Path) -> Option<(Path, Ident)> {
    let names = path.segments.iter().map(|segment| segment.ident.to_string());
    let is_marked = path.segments.len() > MARK.len() + 1 && names.zip(MARK).all(|(name, mark)| name == mark);
    let function = path.segments.get(MARK.len()).filter(|_| is_marked)?.ident.clone();
    let segments = path.segments.iter().skip(MARK.len() + 1).cloned().collect();
    Some((Path { leading_colon: None, segments }, function))
}

/// Whether a path is marked.
pub(super) fn is_marked(path: &Path) -> bool {
    path_of(path).is_some()
}

impl Parser<'_> {
    /// Parses the call of a function that is marked; what a variable hides is called as if there were no mark.
    pub(super) fn imported_call(&mut self, call: &ExprCall, span: SpanRange) -> Option<Value> {
        let Expr::Path(marked) = &*call.func else { return None };
        let (path, function) = path_of(&marked.path)?;
        let name = function.to_string();
        if path.get_ident().is_none_or(|name| self.lookup(name).is_none()) {
            if let Some(function) = Intrinsic::by_name("cmp", &name) {
                return Some(self.intrinsic(function, &path, &call.args, span));
            }
            if let Some(exchange) = self.exchange_of(&name, &path, call, span) {
                return Some(exchange);
            }
        }
        let func = Box::new(Expr::Path(ExprPath { path, ..marked.clone() }));
        Some(self.call(&ExprCall { func, ..call.clone() }, span))
    }
}
