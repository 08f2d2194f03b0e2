//! Functions inside of functions: `fn gcd(..)` in the body of a kernel. In both texts a function stands beside its caller, under a name of its
//! own; the constants, types and imports of the body that it names go with it. That it names nothing else of the body, rustc says.

use std::collections::BTreeSet;

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Block, ExprPath, FieldPat, FieldValue, ImplItem, Item, ItemFn, Macro, Member, PatIdent, Stmt};

use crate::model::words::words;

/// Takes the functions out of the bodies of an item. Returns the item, and each function with the options of its `#[device]`; `None` if there
/// are none.
pub(crate) fn separated(tokens: &TokenStream) -> Option<(TokenStream, Vec<ItemFn>)> {
    // Most items have none, and are not read twice.
    if functions_in(tokens) < 2 {
        return None;
    }
    let mut item = syn::parse2::<Item>(tokens.clone()).ok()?;
    let mut all = Vec::new();
    match &mut item {
        Item::Fn(of) => Separation::new(&of.sig.ident, &of.attrs, &mut all).visit_block_mut(&mut of.block),
        Item::Impl(of) => {
            for member in &mut of.items {
                if let ImplItem::Fn(method) = member {
                    let attrs = [&of.attrs[..], &method.attrs].concat();
                    Separation::new(&method.sig.ident, &attrs, &mut all).visit_block_mut(&mut method.block);
                }
            }
        }
        _ => {}
    }
    (!all.is_empty()).then(|| (item.into_token_stream(), all))
}

fn functions_in(tokens: &TokenStream) -> usize {
    let of = |tree: TokenTree| match tree {
        TokenTree::Ident(word) => usize::from(word == "fn"),
        TokenTree::Group(group) => functions_in(&group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => 0,
    };
    tokens.clone().into_iter().map(of).sum()
}

struct Separation<'a> {
    outer: String,
    /// The conditions of the item.
    conditions: Vec<Attribute>,
    /// The other items of the blocks around, from the outermost on.
    items: Vec<Item>,
    all: &'a mut Vec<ItemFn>,
}

impl<'a> Separation<'a> {
    fn new(outer: &Ident, attrs: &[Attribute], all: &'a mut Vec<ItemFn>) -> Self {
        let conditions = attrs.iter().filter(|attr| attr.path().is_ident("cfg")).cloned().collect();
        Separation { outer: outer.to_string().trim_matches('_').into(), conditions, items: Vec::new(), all }
    }

    fn name(&self, of: &Ident) -> Ident {
        let first = format_ident!("{}_of_{}", of, self.outer, span = of.span());
        let is_taken = |name: &Ident| self.all.iter().any(|function| function.sig.ident == *name);
        let others = (2..).map(|number| format_ident!("{first}_{number}", span = of.span()));
        std::iter::once(first.clone()).chain(others).find(|name| !is_taken(name)).unwrap_or(first)
    }

    /// Puts the items of the blocks around that a function names into its body.
    fn complete(&self, function: &mut ItemFn) {
        let mut named: BTreeSet<String> = words(&function.to_token_stream()).map(|word| word.to_string()).collect();
        let mut kept = vec![false; self.items.len()];
        loop {
            let more = self
                .items
                .iter()
                .enumerate()
                .find(|(at, item)| !kept[*at] && declared(item).iter().any(|name| named.contains(name)));
            let Some((at, item)) = more else { break };
            kept[at] = true;
            named.extend(words(&item.to_token_stream()).map(|word| word.to_string()));
        }
        let items = self.items.iter().zip(&kept).filter(|(_, is_kept)| **is_kept);
        function.block.stmts.splice(0..0, items.map(|(item, _)| Stmt::Item(item.clone())));
    }
}

impl VisitMut for Separation<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let is_function = |stmt: &Stmt| matches!(stmt, Stmt::Item(Item::Fn(_)));
        let names: Vec<(Ident, Ident)> = block
            .stmts
            .iter()
            .filter_map(|stmt| match stmt {
                Stmt::Item(Item::Fn(of)) => Some((of.sig.ident.clone(), self.name(&of.sig.ident))),
                _ => None,
            })
            .collect();
        for (from, to) in &names {
            Renaming { from, to }.visit_block_mut(block);
        }
        let outside = self.items.len();
        let is_item =
            |stmt: &Stmt| matches!(stmt, Stmt::Item(Item::Const(_) | Item::Static(_) | Item::Type(_) | Item::Use(_)));
        self.items.extend(block.stmts.iter().filter(|stmt| is_item(stmt)).filter_map(|stmt| match stmt {
            Stmt::Item(item) => Some(item.clone()),
            Stmt::Local(_) | Stmt::Expr(..) | Stmt::Macro(_) => None,
        }));
        let (functions, rest) = std::mem::take(&mut block.stmts).into_iter().partition::<Vec<Stmt>, _>(is_function);
        block.stmts = rest;
        for stmt in functions {
            let Stmt::Item(Item::Fn(mut function)) = stmt else { continue };
            self.complete(&mut function);
            let is_ours = |attr: &Attribute| attr.path().segments.last().is_some_and(|last| last.ident == "device");
            function.attrs.retain(|attr| !is_ours(attr));
            function.attrs.extend(self.conditions.iter().cloned());
            self.all.push(function);
        }
        visit_mut::visit_block_mut(self, block);
        self.items.truncate(outside);
    }

    // The functions in a function are taken out where it is expanded itself.
    fn visit_item_mut(&mut self, _: &mut Item) {}
}

/// The names that an item declares.
fn declared(item: &Item) -> Vec<String> {
    match item {
        Item::Const(of) => vec![of.ident.to_string()],
        Item::Static(of) => vec![of.ident.to_string()],
        Item::Type(of) => vec![of.ident.to_string()],
        Item::Use(of) => {
            let mut all: Vec<String> = words(&of.tree.to_token_stream()).map(|word| word.to_string()).collect();
            // Anything may come from a glob: the function's own names show nothing.
            if of.tree.to_token_stream().to_string().contains('*') {
                all.push("fn".into());
            }
            all
        }
        _ => Vec::new(),
    }
}

/// Gives a function another name, in the block where it is declared. A variable of the same name hides it as before.
struct Renaming<'a> {
    from: &'a Ident,
    to: &'a Ident,
}

impl Renaming<'_> {
    fn renamed(&self, ident: &mut Ident) {
        if *ident == *self.from {
            *ident = Ident::new(&self.to.to_string(), ident.span());
        }
    }

    fn in_tokens(&self, tokens: TokenStream) -> TokenStream {
        let mut is_member = false;
        let renamed = |tree| {
            let before =
                std::mem::replace(&mut is_member, matches!(&tree, TokenTree::Punct(dot) if dot.as_char() == '.'));
            match tree {
                TokenTree::Ident(mut word) => {
                    if !before {
                        self.renamed(&mut word);
                    }
                    TokenTree::Ident(word)
                }
                TokenTree::Group(group) => {
                    let mut inner = Group::new(group.delimiter(), self.in_tokens(group.stream()));
                    inner.set_span(group.span());
                    TokenTree::Group(inner)
                }
                tree => tree,
            }
        };
        tokens.into_iter().map(renamed).collect()
    }
}

impl VisitMut for Renaming<'_> {
    fn visit_expr_path_mut(&mut self, path: &mut ExprPath) {
        if path.qself.is_none() && path.path.leading_colon.is_none() && path.path.segments.len() == 1 {
            self.renamed(&mut path.path.segments[0].ident);
        }
        visit_mut::visit_expr_path_mut(self, path);
    }

    fn visit_pat_ident_mut(&mut self, name: &mut PatIdent) {
        self.renamed(&mut name.ident);
        visit_mut::visit_pat_ident_mut(self, name);
    }

    fn visit_field_value_mut(&mut self, field: &mut FieldValue) {
        if matches!(&field.member, Member::Named(name) if name == self.from) {
            field.colon_token.get_or_insert_default();
        }
        visit_mut::visit_field_value_mut(self, field);
    }

    fn visit_field_pat_mut(&mut self, field: &mut FieldPat) {
        if matches!(&field.member, Member::Named(name) if name == self.from) {
            field.colon_token.get_or_insert_default();
        }
        visit_mut::visit_field_pat_mut(self, field);
    }

    fn visit_item_fn_mut(&mut self, function: &mut ItemFn) {
        self.renamed(&mut function.sig.ident);
        visit_mut::visit_item_fn_mut(self, function);
    }

    fn visit_macro_mut(&mut self, of: &mut Macro) {
        of.tokens = self.in_tokens(std::mem::take(&mut of.tokens));
    }
}
