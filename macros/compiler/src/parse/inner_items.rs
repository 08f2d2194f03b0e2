//! Constants and types in inner blocks: `{ const N: usize = 3; .. }`. They are moved to the top of the function, where the text's constants
//! are evaluated, under another name if the function has theirs elsewhere, too.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Item, ItemFn, Stmt, parse2};

use crate::model::words::words;

/// Moves the constants and types of inner blocks to the top of the function.
pub(super) fn at_the_top(mut item: ItemFn) -> ItemFn {
    let mut moving = Moving { all: words_in(&item), moved: Vec::new() };
    for stmt in &mut item.block.stmts {
        moving.visit_stmt_mut(stmt);
    }
    item.block.stmts.splice(0..0, moving.moved);
    item
}

fn words_in(tokens: &impl ToTokens) -> Vec<String> {
    words(&tokens.to_token_stream()).map(|word| word.to_string()).collect()
}

struct Moving {
    /// All words of the function, each as often as it occurs.
    all: Vec<String>,
    moved: Vec<Stmt>,
}

impl Moving {
    /// Returns a name for an item of a block: its own, if all that has it is in the block. `None` if it has to be another and a format
    /// string may name it.
    fn name(&mut self, own: &Ident, block: &Block) -> Option<Ident> {
        let count = |words: &[String], name: &str| words.iter().filter(|word| *word == name).count();
        let text = own.to_string();
        if count(&self.all, &text) == count(&words_in(block), &text) {
            return Some(own.clone());
        }
        if block.to_token_stream().to_string().contains(&format!("{{{text}")) {
            return None;
        }
        let free = (2..).map(|number| format!("{text}_{number}")).find(|name| count(&self.all, name) == 0)?;
        self.all.push(free.clone());
        Some(Ident::new(&free, own.span()))
    }
}

impl VisitMut for Moving {
    fn visit_block_mut(&mut self, block: &mut Block) {
        // Those of the blocks inside have their names first: what is left of a name in them is this block's.
        visit_mut::visit_block_mut(self, block);
        let own: Vec<Ident> = block.stmts.iter().filter_map(|stmt| moved_name(stmt).cloned()).collect();
        for from in &own {
            let Some(to) = self.name(from, block) else { continue };
            if to != *from {
                let Ok(renamed) = parse2(renamed(block.to_token_stream(), from, &to)) else { continue };
                *block = renamed;
            }
            let is_it = |stmt: &Stmt| moved_name(stmt).is_some_and(|name| *name == to);
            let (it, kept) = std::mem::take(&mut block.stmts).into_iter().partition::<Vec<Stmt>, _>(is_it);
            block.stmts = kept;
            self.moved.extend(it);
        }
    }

    // Their items are theirs.
    fn visit_item_mut(&mut self, _: &mut Item) {}
}

/// Returns the name of a constant or a type.
fn moved_name(stmt: &Stmt) -> Option<&Ident> {
    match stmt {
        Stmt::Item(Item::Const(of)) if of.ident != "_" => Some(&of.ident),
        Stmt::Item(Item::Static(of)) => Some(&of.ident),
        Stmt::Item(Item::Type(of)) => Some(&of.ident),
        Stmt::Local(_) | Stmt::Item(_) | Stmt::Expr(..) | Stmt::Macro(_) => None,
    }
}

/// Gives an item another name in its block. What stands behind a dot or in a path is another thing's.
fn renamed(tokens: TokenStream, from: &Ident, to: &Ident) -> TokenStream {
    let mut before = String::new();
    let one = |tree| {
        let is_part =
            before.ends_with("::") || before.ends_with('\'') || before.ends_with('.') && !before.ends_with("..");
        match &tree {
            TokenTree::Punct(of) => before.push(of.as_char()),
            TokenTree::Ident(_) | TokenTree::Group(_) | TokenTree::Literal(_) => before.clear(),
        }
        match tree {
            TokenTree::Ident(word) if word == *from && !is_part => {
                TokenTree::Ident(Ident::new(&to.to_string(), word.span()))
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), renamed(group.stream(), from, to));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            tree => tree,
        }
    };
    tokens.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;
    use syn::parse_str;

    use super::at_the_top;

    #[test]
    fn constants_of_blocks_stand_at_the_top() {
        for (body, wanted) in [
            ("{ const N: u32 = 1; a(N); }", "const N: u32 = 1; { a(N); }"),
            (
                "const N: u32 = 1; { const N: u32 = 2; a(N, m::N, x.N); } a(N);",
                "const N_2: u32 = 2; const N: u32 = 1; { a(N_2, m::N, x.N); } a(N);",
            ),
            (
                "{ { type W = u8; a(0 as W); } type W = u16; let x: W = 1; }",
                "type W_2 = u8; type W_3 = u16; { { a(0 as W_2); } let x: W_3 = 1; }",
            ),
            // A string may name the constant of the block.
            (
                "const N: u32 = 1; { const N: u32 = 2; println!(\"{N}\"); }",
                "const N: u32 = 1; { const N: u32 = 2; println!(\"{N}\"); }",
            ),
        ] {
            let function = |body: &str| parse_str::<syn::ItemFn>(&format!("fn f() {{ {body} }}")).expect("a function");
            let text = |item: syn::ItemFn| item.block.to_token_stream().to_string();
            assert_eq!(text(at_the_top(function(body))), text(function(wanted)));
        }
    }
}
