//! A body in the place of a call (`inline`): what stands in it for the parameters and the constants of its function.

use std::collections::BTreeSet;

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Lifetime, parse_quote_spanned};

use crate::model::words::words;

/// What stands in a body for a parameter.
pub(super) enum Stands {
    /// A name, of a local that has the parameter's value.
    Name(Ident),
    /// A place, to which the parameter is a reference.
    Place(Expr),
    /// A place that has the parameter's value, and that the body does not change.
    Value(Expr),
}

/// Puts what stands for the parameters in their place, and the type for `Self`.
pub(super) struct Substitute<'s> {
    pub(super) stands: &'s [(String, Stands)],
    /// The type that `Self` is, as a path of an expression.
    pub(super) own: Option<&'s TokenStream>,
    pub(super) declares: &'s BTreeSet<String>,
    /// Whether all uses are such that this is possible.
    pub(super) fits: bool,
}

impl Substitute<'_> {
    fn stand(&mut self, expr: &Expr) -> Option<&Stands> {
        let Expr::Path(path) = expr else { return None };
        let name = path.path.get_ident()?;
        let stand = &self.stands.iter().find(|(param, _)| *name == **param)?.1;
        // A local of the body may have the name that stands for the parameter.
        let hidden = match stand {
            Stands::Name(name) => self.declares.contains(&name.to_string()),
            Stands::Place(place) | Stands::Value(place) => {
                words(&place.to_token_stream()).any(|word| self.declares.contains(&word.to_string()))
            }
        };
        self.fits &= !hidden;
        Some(stand)
    }

    fn place(&mut self, expr: &Expr) -> Option<Expr> {
        match self.stand(expr)? {
            Stands::Place(place) | Stands::Value(place) => Some(place.clone()),
            Stands::Name(_) => None,
        }
    }
}

impl VisitMut for Substitute<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let place = match expr {
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => self.place(&unary.expr),
            Expr::Field(field) => {
                if let Some(place) = self.place(&field.base) {
                    *field.base = place;
                    return;
                }
                None
            }
            Expr::Index(index) => {
                if let Some(place) = self.place(&index.expr) {
                    *index.expr = place;
                    self.visit_expr_mut(&mut index.index);
                    return;
                }
                None
            }
            Expr::MethodCall(call) => {
                if let Some(place) = self.place(&call.receiver) {
                    *call.receiver = place;
                    call.args.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
                    return;
                }
                None
            }
            Expr::Path(_) => match self.stand(expr) {
                Some(Stands::Name(name)) => Some(Expr::Path(parse_quote_spanned!(name.span()=> #name))),
                Some(Stands::Value(place)) => Some(place.clone()),
                // The reference itself is used.
                Some(Stands::Place(_)) => {
                    self.fits = false;
                    None
                }
                None => None,
            },
            _ => None,
        };
        match place {
            Some(place) => *expr = place,
            None => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn visit_field_value_mut(&mut self, field: &mut syn::FieldValue) {
        // `S { x }` names the field and the value at once.
        if field.colon_token.is_none() && self.stand(&field.expr).is_some() {
            field.colon_token = Some(Default::default());
        }
        visit_mut::visit_field_value_mut(self, field);
    }

    fn visit_pat_ident_mut(&mut self, pat: &mut syn::PatIdent) {
        // A local hides a parameter.
        self.fits &= !self.stands.iter().any(|(param, _)| pat.ident == *param);
        visit_mut::visit_pat_ident_mut(self, pat);
    }

    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        if let Some(first) = path.segments.first_mut()
            && first.ident == "Self"
        {
            match self.own.map(|own| syn::parse2(own.clone())) {
                Some(Ok(own)) => *first = own,
                Some(Err(_)) | None => self.fits = false,
            }
        }
        visit_mut::visit_path_mut(self, path);
    }
}

/// Makes each `return` of a body leave the block that has this label.
pub(super) struct LeaveBlock<'l>(pub(super) &'l Lifetime);

impl VisitMut for LeaveBlock<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        if let Expr::Return(leaves) = expr {
            let (label, value) = (self.0, &leaves.expr);
            *expr = parse_quote_spanned!(label.span()=> break #label #value);
        }
    }
}

/// Puts the constants in the place of their names.
pub(super) fn with_constants(tokens: TokenStream, constants: &[(String, TokenTree)]) -> TokenStream {
    let replace = |tree| match tree {
        TokenTree::Group(group) => Group::new(group.delimiter(), with_constants(group.stream(), constants)).into(),
        TokenTree::Ident(word) => match constants.iter().find(|(name, _)| word == *name) {
            Some((_, constant)) => constant.clone(),
            None => word.into(),
        },
        tree @ (TokenTree::Punct(_) | TokenTree::Literal(_)) => tree,
    };
    tokens.into_iter().map(replace).collect()
}
