//! Mutants of kernels: small changes to the text of one function, of the kinds that a mistake would make. A statement is
//! removed, repeated or moved; a number, an operator, a group, an order or a scope is another one; a branch is always or
//! never taken. Whether a mutant means something else, and whether it compiles, is not known here.

use std::ops::Range;

use phalanx_compiler::Session;
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Attribute, BinOp, Block, Expr, Item, ItemFn, Lit, Meta, Stmt};

/// A replacement of a part of a file's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mutant {
    /// The bytes of the file that are replaced.
    at: Range<usize>,
    text: String,
    /// The function, from its attributes to its end.
    function: Range<usize>,
}

impl Mutant {
    /// Returns the file with the change.
    pub(super) fn of(&self, file: &str) -> String {
        format!("{}{}{}", &file[..self.at.start], self.text, &file[self.at.end..])
    }

    /// Describes the change: the line, and the text before and after it.
    pub(super) fn describe(&self, file: &str) -> String {
        let line = file[..self.at.start].matches('\n').count() + 1;
        let short = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("line {line}: `{}` -> `{}`", short(&file[self.at.clone()]), short(&self.text))
    }

    /// Returns whether the checks of the function accept it. What only rustc finds is not looked at.
    pub(super) fn is_accepted(&self, file: &str) -> bool {
        let mutated = self.of(file);
        let end = self.function.end + self.text.len() - self.at.len();
        let Ok(function) = syn::parse_str::<ItemFn>(&mutated[self.function.start..end]) else { return false };
        let Some((kind, options)) = attribute(&function.attrs) else { return false };
        let item = without_attribute(function);
        match kind {
            Attached::Kernel => Session::default().check_kernel(options, item).is_empty(),
            Attached::Device => Session::default().check_device(options, item).is_empty(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attached {
    Kernel,
    Device,
}

/// Returns which of phalanx's attributes a function has, with its options.
fn attribute(attributes: &[Attribute]) -> Option<(Attached, TokenStream)> {
    attributes.iter().find_map(|attribute| {
        let kind = match attribute.path().segments.last()?.ident.to_string().as_str() {
            "cluster_kernel" => Attached::Kernel,
            "device" => Attached::Device,
            _ => return None,
        };
        let options = match &attribute.meta {
            Meta::List(list) => list.tokens.clone(),
            Meta::Path(_) | Meta::NameValue(_) => TokenStream::new(),
        };
        Some((kind, options))
    })
}

/// Returns the function as rustc hands it to phalanx's attribute.
fn without_attribute(mut function: ItemFn) -> TokenStream {
    function.attrs.retain(|one| attribute(std::slice::from_ref(one)).is_none());
    function.into_token_stream()
}

/// Returns every mutant of the kernels in a file, and of the device functions that no other file uses.
pub(super) fn mutants(file: &str) -> Result<Vec<Mutant>, syn::Error> {
    let mut mutants = Vec::new();
    for item in syn::parse_file(file)?.items {
        let Item::Fn(function) = item else { continue };
        let Some((kind, options)) = attribute(&function.attrs) else { continue };
        let is_local = kind == Attached::Kernel || matches!(function.vis, syn::Visibility::Inherited);
        if !is_local || options.to_string().contains("unchecked") {
            continue;
        }
        let mut finder = Finder { file, function: range(&function), found: Vec::new() };
        finder.visit_block(&function.block);
        mutants.append(&mut finder.found);
    }
    Ok(mutants)
}

fn range(tokens: &impl ToTokens) -> Range<usize> {
    let mut spans = tokens.to_token_stream().into_iter().map(|token| token.span());
    let Some(first) = spans.next() else { return 0..0 };
    first.byte_range().start..spans.last().unwrap_or(first).byte_range().end
}

struct Finder<'a> {
    file: &'a str,
    function: Range<usize>,
    found: Vec<Mutant>,
}

impl Finder<'_> {
    fn replace(&mut self, at: Range<usize>, text: impl Into<String>) {
        let text = text.into();
        if !at.is_empty() && self.file[at.clone()] != text {
            self.found.push(Mutant { at, text, function: self.function.clone() });
        }
    }

    fn replace_word(&mut self, at: Span, words: &[(&str, &[&str])]) {
        let at = at.byte_range();
        let word = &self.file[at.clone()];
        for other in words.iter().filter(|(from, _)| *from == word).flat_map(|(_, to)| *to) {
            self.replace(at.clone(), *other);
        }
    }

    fn text(&self, of: &impl ToTokens) -> &str {
        &self.file[range(of)]
    }
}

/// Names that stand for one of several: groups, methods, orders and scopes.
const NAMES: [(&str, &[&str]); 16] = [
    ("block", &["cluster", "grid"]),
    ("cluster", &["block", "grid"]),
    ("grid", &["cluster"]),
    ("barrier_arrive", &["barrier_arrive_relaxed"]),
    ("thread_rank", &["num_threads", "block_rank"]),
    ("block_rank", &["num_blocks", "thread_rank"]),
    ("num_blocks", &["num_threads"]),
    ("num_threads", &["num_blocks"]),
    ("Release", &["Relaxed"]),
    ("Acquire", &["Relaxed"]),
    ("AcqRel", &["Relaxed", "Release", "Acquire"]),
    ("System", &["Block"]),
    ("Gpu", &["Block"]),
    ("Cluster", &["Block"]),
    ("wait", &["try_wait"]),
    ("arrive_and_wait", &["arrive"]),
];

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_block(&mut self, block: &'a Block) {
        for (index, statement) in block.stmts.iter().enumerate() {
            let at = range(statement);
            self.replace(at.clone(), "");
            if let Stmt::Expr(_, Some(_)) | Stmt::Macro(_) = statement {
                self.replace(at.clone(), format!("{0} {0}", &self.file[at.clone()]));
            }
            // The statement changes places with each later one, so that it also moves over several.
            for later in &block.stmts[index + 1..] {
                let other = range(later);
                let between = &self.file[at.end..other.start];
                let swapped = format!("{}{between}{}", &self.file[other.clone()], &self.file[at.clone()]);
                self.replace(at.start..other.end, swapped);
            }
        }
        visit::visit_block(self, block);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::If(branch) => {
                let condition = range(&branch.cond);
                if !matches!(*branch.cond, Expr::Let(_)) {
                    self.replace(condition.clone(), format!("!({})", &self.file[condition]));
                    self.replace(range(expr), self.text(&branch.then_branch).to_owned());
                }
            }
            Expr::Binary(binary) => {
                let others: &[&str] = match binary.op {
                    BinOp::Add(_) => &["-"],
                    BinOp::Sub(_) => &["+"],
                    BinOp::Rem(_) => &["/"],
                    BinOp::Div(_) => &["%"],
                    BinOp::Lt(_) => &["<=", ">"],
                    BinOp::Le(_) => &["<"],
                    BinOp::Gt(_) => &[">=", "<"],
                    BinOp::Ge(_) => &[">"],
                    BinOp::Eq(_) => &["!=", "<="],
                    BinOp::Ne(_) => &["=="],
                    BinOp::And(_) => &["||"],
                    BinOp::Or(_) => &["&&"],
                    BinOp::AddAssign(_) => &["-=", "="],
                    BinOp::BitXorAssign(_) => &["="],
                    _ => &[],
                };
                others.iter().for_each(|other| self.replace(range(&binary.op), *other));
                // One operand in place of both: a term that was forgotten.
                self.replace(range(expr), self.text(&binary.left).to_owned());
            }
            _ => {}
        }
        visit::visit_expr(self, expr);
    }

    fn visit_lit(&mut self, literal: &'a Lit) {
        let Lit::Int(digits) = literal else { return };
        let Ok(value) = digits.base10_parse::<u128>() else { return };
        for other in [value + 1, value.saturating_sub(1), value * 2, 0, 1] {
            self.replace(range(literal), format!("{other}{}", digits.suffix()));
        }
    }

    fn visit_ident(&mut self, name: &'a syn::Ident) {
        self.replace_word(name.span(), &NAMES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
use phalanx::prelude::*;

#[cluster_kernel(cluster = 2, block = 32)]
fn share(out: &mut [u32]) {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    cluster.barrier_wait(token);
    if cluster.block_rank() == 0 {
        out[0] = 1;
    }
}

#[cluster_kernel(unchecked(token_never_waited))]
fn not_looked_at() {
    let token = this_cluster().barrier_arrive();
}

fn on_the_host() {}
";

    fn all() -> Vec<Mutant> {
        mutants(FILE).expect("the file is Rust")
    }

    fn with(change: &str) -> Mutant {
        let all = all();
        let found = all.iter().find(|mutant| mutant.describe(FILE).contains(change));
        found.unwrap_or_else(|| panic!("{:#?}", all.iter().map(|one| one.describe(FILE)).collect::<Vec<_>>())).clone()
    }

    #[test]
    fn a_mutant_differs_where_it_says() {
        let mutant = with("line 7: `cluster.barrier_wait(token);` -> ``");
        assert!(!mutant.of(FILE).contains("barrier_wait"));
        assert_eq!(mutant.of(FILE).len(), FILE.len() - "cluster.barrier_wait(token);".len());
        assert!(with("`==` -> `!=`").of(FILE).contains("block_rank() != 0"));
    }

    #[test]
    fn only_checked_kernels_are_changed() {
        assert!(all().iter().all(|mutant| (4..=10).contains(&(FILE[..mutant.at.start].matches('\n').count() + 1))));
    }

    #[test]
    fn the_checks_refuse_a_mutant_or_accept_it() {
        assert!(!with("line 7: `cluster.barrier_wait(token);` -> ``").is_accepted(FILE));
        assert!(with("`out[0] = 1;` -> `out[0] = 1; out[0] = 1;`").is_accepted(FILE));
    }
}
