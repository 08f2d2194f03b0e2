//! Functions of numbers: those of scalar types and of `fast`, by path, and what methods have in common with them.

use quote::ToTokens;
use syn::Path;

use super::Parser;
use super::syntax::Arguments;
use crate::messages;
use crate::model::expr::{Expr, ExprKind};
use crate::model::kind::Kind;
use crate::model::method::{FastFunction, ScalarFunction, ValueMethod};
use crate::model::ty;
use crate::model::{SiteId, SiteMessage};
use crate::span::SpanRange;

/// Scalars that are a crate's, not the compiler's: no suffix of a literal.
const HALVES: [&str; 2] = ["f16", "bf16"];

/// The name of a scalar, the compiler's or the crate's.
pub(super) fn is_number(name: &str) -> bool {
    ty::scalar(name).is_some() || HALVES.contains(&name)
}

impl Parser<'_> {
    /// `f32::from_bits(x)`, `u64::from(x)`, `f32::max(x, y)`, `T::default()`, `fast::sin(x)`; `None` where the path is none of these.
    pub(super) fn number_function(&mut self, path: &Path, arguments: &Arguments, span: SpanRange) -> Option<Expr> {
        let mut owner = path.segments.iter().rev().skip(1);
        let (last, owner) = (path.segments.last()?, &owner.next()?.ident);
        let name = last.ident.to_string();
        let of_parameter = name == "default" && self.function.generics.names_one_of(&owner.to_token_stream());
        let owner = owner.to_string();
        if owner == "fast" {
            let function = FastFunction::by_name(&name)?;
            return Some(self.fast_function(function, path, arguments, span));
        }
        if !is_number(&owner) && !of_parameter {
            return None;
        }
        // Any other may be a user's, of a trait.
        let function = ScalarFunction::by_name(&name).filter(|_| last.arguments.is_none())?;
        Some(self.scalar_function(function, path, arguments, span))
    }

    fn scalar_function(
        &mut self,
        function: ScalarFunction,
        path: &Path,
        arguments: &Arguments,
        span: SpanRange,
    ) -> Expr {
        if arguments.len() != function.arguments() {
            let name = path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
            return self.error(messages::argument_count(span, &name, function.arguments(), arguments.len()));
        }
        // Rustc says what the type is, so that an alias of the name does no harm.
        let mut owner = path.clone();
        owner.segments.pop();
        owner.segments.pop_punct();
        let ty = self.type_name(owner.to_token_stream());
        let (operands, site) = match function {
            ScalarFunction::Default => (Vec::new(), None),
            ScalarFunction::From => (arguments.iter().map(|argument| self.value(argument)).collect(), None),
            ScalarFunction::Constructor(_) => {
                (arguments.iter().map(|argument| self.argument_beside(argument)).collect(), None)
            }
            ScalarFunction::Method(method) => {
                let mut operands: Vec<Expr> = arguments.iter().take(1).map(|receiver| self.value(receiver)).collect();
                operands.extend(arguments.iter().skip(1).map(|argument| self.argument_beside(argument)));
                (operands, self.method_site(method, span))
            }
        };
        Expr { kind: ExprKind::ScalarCall { ty, function, operands, site }, result_kind: Kind::Value, span }
    }

    fn fast_function(
        &mut self,
        function: &'static FastFunction,
        path: &Path,
        arguments: &Arguments,
        span: SpanRange,
    ) -> Expr {
        if arguments.len() != function.arguments {
            return self.error(messages::argument_count(span, function.name, function.arguments, arguments.len()));
        }
        let operands = arguments.iter().map(|argument| self.value(argument)).collect();
        let path = path.to_token_stream();
        Expr { kind: ExprKind::FastCall { path, function, operands }, result_kind: Kind::Value, span }
    }

    /// An argument whose type the function's parameter says: a literal stands bare.
    pub(super) fn argument_beside(&mut self, argument: &syn::Expr) -> Expr {
        let argument = self.beside(argument);
        self.require_value(&argument);
        argument
    }

    pub(super) fn method_site(&mut self, method: &ValueMethod, span: SpanRange) -> Option<SiteId> {
        method.fails.map(|message| match message {
            "" => self.site(span),
            message => self.site_with(span, SiteMessage::Text(message.into())),
        })
    }
}
