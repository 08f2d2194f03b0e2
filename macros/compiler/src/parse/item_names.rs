//! The names of an iterator's items, where a closure takes references to them: `a.iter().zip(b).filter(|(x, y)| x < y)`. The text has no
//! references to references, so that the closure's names are replaced by those of the items, each with one `*` less.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::visit_mut::{self, VisitMut};
use syn::{ExprClosure, Pat, UnOp};

use super::operand_order::whole;
use super::syntax::strip;

/// The names of the parts of an item.
#[derive(Debug, Clone)]
pub(super) enum Names {
    One(Ident),
    Pair(Box<Names>, Box<Names>),
}

impl Names {
    /// New names for what a source yields, as far as syntax shows that it yields pairs.
    pub(super) fn of(source: &syn::Expr, fresh: Span) -> Names {
        let mut count = 0;
        Names::within(source, &mut |what| {
            count += 1;
            format_ident!("{what}_{count}", span = fresh)
        })
    }

    fn within(source: &syn::Expr, next: &mut impl FnMut(&str) -> Ident) -> Names {
        if let syn::Expr::MethodCall(call) = strip(source) {
            match (call.method.to_string().as_str(), call.args.first()) {
                ("zip", Some(other)) => {
                    let first = Names::within(&call.receiver, next);
                    return Names::Pair(Box::new(first), Box::new(Names::within(other, next)));
                }
                ("enumerate", None) => {
                    let position = Names::One(next("position_of"));
                    return Names::Pair(Box::new(position), Box::new(Names::within(&call.receiver, next)));
                }
                ("rev" | "skip" | "take" | "step_by" | "copied" | "cloned", _) => {
                    return Names::within(&call.receiver, next);
                }
                _ => {}
            }
        }
        Names::One(next("item"))
    }

    pub(super) fn is_pair(&self) -> bool {
        matches!(self, Names::Pair(..))
    }

    /// The pattern of a loop that binds them.
    pub(super) fn pattern(&self) -> TokenStream {
        match self {
            Names::One(name) => name.to_token_stream(),
            Names::Pair(first, second) => {
                let (first, second) = (first.pattern(), second.pattern());
                quote!((#first, #second))
            }
        }
    }

    /// Returns these names, with those of a loop's pattern in their place. What binds the pattern's other parts is added to `bindings`.
    pub(super) fn renamed(self, pat: &Pat, bindings: &mut TokenStream) -> Option<Names> {
        Some(match (pat, self) {
            (Pat::Paren(paren), names) => return names.renamed(&paren.pat, bindings),
            (Pat::Wild(_), names) => names,
            (Pat::Tuple(tuple), Names::Pair(first, second)) if tuple.elems.len() == 2 => {
                let first = first.renamed(&tuple.elems[0], bindings)?;
                Names::Pair(Box::new(first), Box::new(second.renamed(&tuple.elems[1], bindings)?))
            }
            (Pat::Ident(bound), Names::One(_)) if bound.mutability.is_none() && bound.by_ref.is_none() => {
                Names::One(bound.ident.clone())
            }
            (Pat::Reference(reference), Names::One(name)) if reference.mutability.is_none() => {
                let value = &reference.pat;
                bindings.extend(quote!(let #value = *#name;));
                Names::One(name)
            }
            (pat, Names::One(name)) => {
                bindings.extend(quote!(let #pat = #name;));
                Names::One(name)
            }
            (_, Names::Pair(..)) => return None,
        })
    }

    /// Returns what a closure that is written in place gives for the item, or for a reference to it (`by_reference`).
    pub(super) fn applied(&self, function: &syn::Expr, by_reference: bool) -> Option<TokenStream> {
        let syn::Expr::Closure(ExprClosure { inputs, body, .. }) = function else { return None };
        let (Some(input), 1) = (inputs.last(), inputs.len()) else { return None };
        let mut body = syn::parse2(whole(body)).ok()?;
        self.replace(input, by_reference, &mut body)?;
        Some(body.to_token_stream())
    }

    /// Replaces the names of a pattern, as whose item or reference to it this is taken.
    pub(super) fn replace(&self, pat: &Pat, by_reference: bool, body: &mut syn::Expr) -> Option<()> {
        match (pat, self) {
            (Pat::Paren(paren), _) => self.replace(&paren.pat, by_reference, body),
            (Pat::Type(typed), _) => self.replace(&typed.pat, by_reference, body),
            (Pat::Wild(_), _) => Some(()),
            (Pat::Reference(reference), _) if by_reference && reference.mutability.is_none() => {
                self.replace(&reference.pat, false, body)
            }
            (Pat::Tuple(tuple), Names::Pair(first, second)) if tuple.elems.len() == 2 => {
                first.replace(&tuple.elems[0], by_reference, body)?;
                second.replace(&tuple.elems[1], by_reference, body)
            }
            // `&x` of an item that is a reference.
            (Pat::Reference(reference), Names::One(name)) if reference.mutability.is_none() => {
                let Pat::Ident(bound) = &*reference.pat else { return None };
                let value = syn::parse2(quote!((*#name))).ok()?;
                rename(bound, &value, false, body)
            }
            (Pat::Ident(bound), Names::One(name)) => {
                let value = syn::parse2(name.to_token_stream()).ok()?;
                rename(bound, &value, by_reference, body)
            }
            _ => None,
        }
    }
}

/// Replaces a name by a value, and `*name`, too, if the name is a reference to it.
fn rename(bound: &syn::PatIdent, value: &syn::Expr, by_reference: bool, body: &mut syn::Expr) -> Option<()> {
    if bound.by_ref.is_some() || bound.mutability.is_some() || bound.subpat.is_some() {
        return None;
    }
    let mut renamed = Renamed { name: &bound.ident, value, by_reference, is_hidden: false };
    renamed.visit_expr_mut(body);
    (!renamed.is_hidden).then_some(())
}

struct Renamed<'n> {
    name: &'n Ident,
    value: &'n syn::Expr,
    by_reference: bool,
    /// Whether the name may mean something else inside.
    is_hidden: bool,
}

impl Renamed<'_> {
    fn is_name(&self, expr: &syn::Expr) -> bool {
        matches!(strip(expr), syn::Expr::Path(path) if path.path.is_ident(self.name))
    }
}

impl VisitMut for Renamed<'_> {
    fn visit_expr_mut(&mut self, expr: &mut syn::Expr) {
        let is_target = match &*expr {
            syn::Expr::Unary(unary) if self.by_reference && matches!(unary.op, UnOp::Deref(_)) => {
                self.is_name(&unary.expr)
            }
            expr => self.is_name(expr),
        };
        if is_target {
            *expr = self.value.clone();
            return;
        }
        visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_pat_ident_mut(&mut self, pat: &mut syn::PatIdent) {
        self.is_hidden |= pat.ident == *self.name;
        visit_mut::visit_pat_ident_mut(self, pat);
    }

    /// `Point { x }` has the name as a field, too.
    fn visit_field_value_mut(&mut self, field: &mut syn::FieldValue) {
        self.is_hidden |= field.colon_token.is_none() && self.is_name(&field.expr);
        visit_mut::visit_field_value_mut(self, field);
    }

    /// A macro's arguments are not parsed here.
    fn visit_macro_mut(&mut self, _: &mut syn::Macro) {
        self.is_hidden = true;
    }
}
