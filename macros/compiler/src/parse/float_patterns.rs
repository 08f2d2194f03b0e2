//! Floats in the patterns of a `match`, `0.0..=0.5` and `1.0`: a name stands in their place, and the arm's guard compares it. rustc asks for an
//! arm that takes all other floats in both cases.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprBinary, Lit, Pat, PatRange, RangeLimits, parse2};

use super::syntax::strip;
use crate::span::SpanRange;

/// Returns a pattern without floats, and what has to hold of the names in their place; `None` if it has no floats.
pub(super) fn without(pat: &Pat, guard: Option<&Expr>) -> Option<(Pat, Expr)> {
    let mut floats = Floats { tests: Vec::new(), is_possible: true };
    let mut pat = pat.clone();
    floats.visit_pat_mut(&mut pat);
    let tests = floats.tests;
    if tests.is_empty() || !floats.is_possible {
        return None;
    }
    let test: Expr = parse2(quote!(#(#tests)&&*)).ok()?;
    let guard = match guard {
        None => test,
        Some(guard) => Expr::Binary(ExprBinary {
            attrs: Vec::new(),
            left: Box::new(test),
            op: syn::BinOp::And(Default::default()),
            right: Box::new(guard.clone()),
        }),
    };
    Some((pat, guard))
}

struct Floats {
    tests: Vec<TokenStream>,
    is_possible: bool,
}

impl Floats {
    fn named(&mut self, at: Span) -> Ident {
        format_ident!("float_{}", self.tests.len(), span = at.resolved_at(Span::mixed_site()))
    }
}

impl VisitMut for Floats {
    fn visit_pat_mut(&mut self, pat: &mut Pat) {
        let at = SpanRange::of(&*pat).lo;
        match pat {
            Pat::Ident(name) => {
                if let Some((_, of)) = &name.subpat
                    && let Some(test) = test_of(of, &name.ident)
                {
                    self.tests.push(test);
                    name.subpat = None;
                    return;
                }
            }
            Pat::Or(alternatives) => {
                // The alternatives would have names that the others have not.
                let before = self.tests.len();
                let name = self.named(at);
                let mut tests = alternatives.cases.iter().map(|case| test_of(case, &name));
                if let Some(tests) = tests.by_ref().collect::<Option<Vec<_>>>() {
                    self.tests.push(quote_spanned!(at=> (#(#tests)||*)));
                    *pat = bound(name);
                    return;
                }
                visit_mut::visit_pat_or_mut(self, alternatives);
                self.is_possible &= self.tests.len() == before;
                return;
            }
            ref other => {
                let name = self.named(at);
                if let Some(test) = test_of(other, &name) {
                    self.tests.push(test);
                    *pat = bound(name);
                    return;
                }
            }
        }
        visit_mut::visit_pat_mut(self, pat);
    }
}

fn bound(name: Ident) -> Pat {
    Pat::Ident(syn::PatIdent { attrs: Vec::new(), by_ref: None, mutability: None, ident: name, subpat: None })
}

/// Returns the test whether a name matches a float or a range of floats.
fn test_of(pat: &Pat, name: &Ident) -> Option<TokenStream> {
    let at = SpanRange::of(pat).lo;
    match pat {
        Pat::Paren(paren) => test_of(&paren.pat, name),
        Pat::Lit(literal) if matches!(literal.lit, Lit::Float(_)) => Some(quote_spanned!(at=> (#name == #literal))),
        Pat::Range(PatRange { start, limits, end, .. }) => {
            if !start.iter().chain(end).any(|end| is_float(end)) {
                return None;
            }
            let low = start.as_ref().map(|low| quote_spanned!(at=> #low <= #name));
            let high = end.as_ref().map(|high| match limits {
                RangeLimits::HalfOpen(_) => quote_spanned!(at=> #name < #high),
                RangeLimits::Closed(_) => quote_spanned!(at=> #name <= #high),
            });
            let tests = low.into_iter().chain(high);
            Some(quote_spanned!(at=> (#(#tests)&&*)).into_token_stream())
        }
        _ => None,
    }
}

fn is_float(end: &Expr) -> bool {
    match strip(end) {
        Expr::Lit(literal) => matches!(literal.lit, Lit::Float(_)),
        Expr::Unary(minus) => is_float(&minus.expr),
        _ => false,
    }
}
