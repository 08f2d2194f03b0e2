//! Names that are recognised by their spelling, each of which is claimed as `model/name.rs` says.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{ExprPath, Path, PathArguments, TypePath};

use super::Parser;
use crate::messages;
use crate::model::expr::Expr;
use crate::model::name::{Claim, Meaning, RESOLVED, Space, known};
use crate::model::ty;
use crate::span::SpanRange;

impl Parser<'_> {
    /// Returns the name that a path ends with, if the parser recognises it, and claims it. A path through a type ends
    /// with an associated item, and a generic parameter is what the signature says.
    pub(super) fn known(&mut self, path: &Path, space: Space) -> Option<&'static str> {
        let mut segments = path.segments.iter().rev();
        let last = &segments.next()?.ident;
        let name = known(&last.to_string(), space)?;
        let owner = segments.next().map(|owner| owner.ident.to_string());
        let is_associated = match owner.as_deref() {
            Some("Option" | "Result") if space == Space::Variant => false,
            Some(_) if matches!(space, Space::Order | Space::Scope) => false,
            Some(owner) => is_type(owner),
            None => self.function.generics.names_one_of(&last.to_token_stream()),
        };
        if is_associated {
            return None;
        }
        if name != RESOLVED {
            let in_path = owner.is_some() || path.leading_colon.is_some();
            self.claim(path, Meaning::Item { name: last.clone(), space, in_path });
        }
        Some(name)
    }

    /// Recognizes the name of a type, as [`Parser::known`] does.
    pub(super) fn known_type(&mut self, path: &TypePath) -> Option<&'static str> {
        path.qself.is_none().then(|| self.known(&path.path, Space::Type))?
    }

    /// Recognizes a name that stands alone, as [`Parser::known`] does.
    pub(super) fn known_name(&mut self, name: &Ident, space: Space) -> Option<&'static str> {
        self.known(&Path::from(name.clone()), space)
    }

    /// Returns the name of the language's function that a call names, if it names one: a variable of this name hides it.
    pub(super) fn function_named(&mut self, path: &ExprPath) -> Option<&'static str> {
        if self.hiding(&path.path).is_some() || path.qself.is_some() {
            return None;
        }
        self.known(&path.path, Space::Function)
    }

    /// Claims that a path means this. Each claim is kept once.
    pub(super) fn claim(&mut self, path: &Path, meaning: Meaning) {
        let mut path = path.clone();
        path.segments.iter_mut().for_each(|segment| segment.arguments = PathArguments::None);
        let path = path.to_token_stream();
        let text = path.to_string();
        let is_known = |claim: &Claim| claim.meaning == meaning && claim.path.to_string() == text;
        if !self.function.claims.iter().any(is_known) {
            self.function.claims.push(Claim { path, meaning });
        }
    }

    /// Returns the name of the variable that a path in a call names.
    fn hiding<'p>(&self, path: &'p Path) -> Option<&'p Ident> {
        let segment = path.segments.first().filter(|_| path.segments.len() == 1 && path.leading_colon.is_none())?;
        self.lookup(&segment.ident).map(|_| &segment.ident)
    }

    /// Refuses the call of a variable, which hides a function of its name.
    pub(super) fn hidden_function(&mut self, path: &Path) -> Option<Expr> {
        let name = self.hiding(path)?;
        Some(self.error(messages::called_variable(SpanRange::of(name), &name.to_string())))
    }
}

/// Whether a name in a path is that of a type, by Rust's convention.
fn is_type(name: &str) -> bool {
    name.starts_with(char::is_uppercase) || ty::scalar(name).is_some()
}
