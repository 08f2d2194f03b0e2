//! The published crates keep to the language of the oldest Rust that they support (`rust-version`). clippy's
//! `incompatible_msrv` finds newer items of the standard library; syntax that is newer is found here.

use quote::ToTokens;
use syn::visit::{self, Visit};

use crate::{files, none};

/// The guards of a file's match arms that bind by `if let`, which Rust 1.95 has and 1.88 has not.
#[derive(Default)]
struct LetGuards(Vec<String>);

/// Whether a condition has a `let` of its own.
#[derive(Default)]
struct HasLet(bool);

impl<'f> Visit<'f> for HasLet {
    fn visit_expr_let(&mut self, _: &'f syn::ExprLet) {
        self.0 = true;
    }

    // A `let` in a block is none of the condition's.
    fn visit_block(&mut self, _: &'f syn::Block) {}

    fn visit_expr_match(&mut self, _: &'f syn::ExprMatch) {}

    fn visit_expr_if(&mut self, _: &'f syn::ExprIf) {}
}

impl<'f> Visit<'f> for LetGuards {
    fn visit_pat_guard(&mut self, pattern: &'f syn::PatGuard) {
        let mut has = HasLet::default();
        has.visit_expr(&pattern.guard);
        if has.0 {
            self.0.push(pattern.guard.to_token_stream().to_string());
        }
        visit::visit_pat_guard(self, pattern);
    }
}

fn let_guards(text: &str) -> Vec<String> {
    let mut guards = LetGuards::default();
    guards.visit_file(&syn::parse_file(text).expect("the file compiles"));
    guards.0
}

#[test]
fn published_crates_use_no_newer_syntax() {
    let folders = ["macros/src", "macros/compiler/src", "macros/contract/src", "runtime/src"];
    let sources = folders.into_iter().flat_map(|folder| files(folder, "rs"));
    let newer =
        sources.flat_map(|(name, text)| let_guards(&text).into_iter().map(move |guard| format!("{name}: if {guard}")));
    none("an `if let` guard, which needs Rust 1.95", newer);
}

#[test]
fn let_guards_are_found() {
    let text = "fn f() { match x { A if let B = c => 1, D if e && let F = g => match y { H if { if let I = j {} k } => 2, _ => 3 } } }";
    assert_eq!(let_guards(text), ["let B = c", "e && let F = g"]);
}
