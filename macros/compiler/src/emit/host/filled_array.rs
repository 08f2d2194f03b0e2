//! Arrays that `std::array::from_fn` makes, which the model has as a declaration and a loop that assigns their elements.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::Host;
use crate::model::LocalId;
use crate::model::expr::{Expr, ExprKind, StmtKind};
use crate::span::SpanRange;

impl Host<'_> {
    /// Prints the declaration of the array whose elements a loop assigns, if a statement is that loop.
    pub(super) fn filled_array(&self, whole: &Expr, at: SpanRange) -> Option<TokenStream> {
        let ExprKind::For { id, .. } = &whole.kind else { return None };
        let info = self.function.locals.iter().find(|local| local.filled_by == Some(*id))?;
        let (name, lo) = (&info.name, at.lo);
        let mutable = info.mutable.map(|at| quote_spanned!(at=> mut));
        let ty = info.ty.as_ref().map(|ty| &ty.tokens)?;
        let made = self.made(whole)?;
        Some(quote_spanned!(lo=> let #mutable #name: #ty = #made;))
    }

    /// Prints the call that makes the elements which a loop assigns.
    fn made(&self, whole: &Expr) -> Option<TokenStream> {
        let (variable, assigned) = parts(whole)?;
        let lo = whole.span.lo;
        let variable = match variable {
            Some(variable) => {
                let info = self.function.local(variable);
                let (name, mutable) = (&info.name, info.mutable.map(|at| quote_spanned!(at=> mut)));
                quote!(#mutable #name)
            }
            None => quote_spanned!(lo=> _),
        };
        let value = match &assigned.kind {
            ExprKind::Assign(_, value) => self.expr(value),
            _ => self.made(assigned)?,
        };
        Some(quote_spanned!(lo=> ::core::array::from_fn(|#variable| #value)))
    }
}

/// Returns the variable of a loop whose body is one statement, and that statement.
fn parts(whole: &Expr) -> Option<(Option<LocalId>, &Expr)> {
    let ExprKind::For { local, body, .. } = &whole.kind else { return None };
    let [statement] = &body.statements[..] else { return None };
    let StmtKind::Expr(assigned) = &statement.kind else { return None };
    Some((*local, assigned))
}
