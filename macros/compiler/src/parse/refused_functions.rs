//! Functions of Rust's library that make what kernels have in another form: iterators of `std::iter`, `Wrapping(x)`, a `char`. One error
//! says so where they stand. `std::iter::zip(a, b)` is the method `zip`.

use quote::quote_spanned;
use syn::{Expr as SynExpr, ExprMethodCall, ExprPath, parse2};

use super::Parser;
use super::syntax::strip;
use super::ty::{OF_LETTERS, help_for_number};
use crate::messages;
use crate::model::expr::Expr;
use crate::span::SpanRange;

/// The functions of `std::iter` that make iterators of no memory.
const ITERATORS: [&str; 8] =
    ["repeat", "repeat_n", "repeat_with", "once", "once_with", "empty", "successors", "from_fn"];

impl Parser<'_> {
    /// Refuses a call of `Wrapping(x)`, `Saturating(x)`, or of a function of `char`.
    pub(super) fn refused_of_rust(&mut self, path: &ExprPath) -> Option<Expr> {
        let mut names = path.path.segments.iter().rev().map(|segment| &segment.ident);
        let last = names.next()?;
        let help = match names.next() {
            _ if ["Wrapping", "Saturating"].iter().any(|name| last == name) && self.is_of_rust(last) => {
                help_for_number(last)
            }
            Some(owner) if owner == "char" => OF_LETTERS,
            _ => return None,
        };
        let span = SpanRange::of(path);
        self.report_type(span, help);
        Some(Expr::error(span))
    }

    /// Reports a type of Rust's library, once for each help.
    pub(super) fn report_type(&mut self, at: SpanRange, help: &str) {
        if self.reported_types.insert(help.to_string()) {
            self.diags.push(messages::unsupported_type_with(at, help));
        }
    }

    /// Refuses an iterator that a function of `std::iter` makes, from which methods may make another.
    pub(super) fn refused_iterator(&mut self, source: &SynExpr) -> Option<Expr> {
        let path = match strip(source) {
            SynExpr::MethodCall(call) => return self.refused_iterator(&call.receiver),
            SynExpr::Call(call) => match &*call.func {
                SynExpr::Path(path) => path,
                _ => return None,
            },
            _ => return None,
        };
        let mut names = path.path.segments.iter().rev().map(|segment| segment.ident.to_string());
        let last = names.next().filter(|name| ITERATORS.contains(&name.as_str()))?;
        let is_of_rust = match names.next() {
            Some(module) => module == "iter",
            None => self.file().is_some_and(|file| {
                let mut imports = file.split("use ").skip(1).filter_map(|rest| rest.split(';').next());
                imports.any(|import| {
                    import.contains("iter::")
                        && import.split(|of: char| !of.is_alphanumeric() && of != '_').any(|word| word == last)
                })
            }),
        };
        is_of_rust.then(|| self.error(messages::made_iterator(SpanRange::of(path), &last)))
    }
}

/// Returns an iterator that begins with `iter::zip(a, b)`, with the method in place of the function.
pub(super) fn zipped(source: &SynExpr) -> Option<SynExpr> {
    match strip(source) {
        SynExpr::MethodCall(call) => {
            let receiver = Box::new(zipped(&call.receiver)?);
            Some(SynExpr::MethodCall(ExprMethodCall { receiver, ..call.clone() }))
        }
        SynExpr::Call(call) => {
            let SynExpr::Path(path) = &*call.func else { return None };
            let names: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            let [.., module, name] = &names[..] else { return None };
            let [first, second] = call.args.iter().collect::<Vec<_>>()[..] else { return None };
            if module != "iter" || name != "zip" {
                return None;
            }
            let at = SpanRange::of(path).lo;
            let first = match strip(first) {
                SynExpr::Range(_) | SynExpr::MethodCall(_) => quote_spanned!(at=> (#first)),
                SynExpr::Reference(reference) if reference.mutability.is_some() => {
                    let of = &reference.expr;
                    quote_spanned!(at=> #of.iter_mut())
                }
                SynExpr::Reference(reference) => {
                    let of = &reference.expr;
                    quote_spanned!(at=> #of.iter())
                }
                first => quote_spanned!(at=> #first.into_iter()),
            };
            parse2(quote_spanned!(at=> #first.zip(#second))).ok()
        }
        _ => None,
    }
}
