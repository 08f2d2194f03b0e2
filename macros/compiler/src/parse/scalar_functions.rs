//! Numeric functions: those of scalar types, of `fast` and of `cuda`, by path, and the parts that they share with methods.

use quote::ToTokens;
use syn::Path;

use super::Parser;
use super::syntax::{Arguments, type_argument};
use crate::messages;
use crate::model::expr::{Expr, ExprKind};
use crate::model::kind::Kind;
use crate::model::method::{Intrinsic, ScalarFunction, ValueMethod};
use crate::model::ty;
use crate::model::{SiteId, SiteMessage};
use crate::span::SpanRange;

/// Scalars that the crate defines and not the compiler: literals do not have them as suffixes.
const NARROW_FLOATS: [&str; 4] = ["f16", "bf16", "e4m3", "e5m2"];

/// Whether the name is that of a scalar, of the compiler or of the crate.
pub(super) fn is_number(name: &str) -> bool {
    ty::scalar(name).is_some() || NARROW_FLOATS.contains(&name)
}

impl Parser<'_> {
    /// Parses `f32::from_bits(x)`, `u64::from(x)`, `f32::max(x, y)`, `T::default()`, `fast::sin(x)`, `cuda::dp4a(a, b, c)`;
    /// returns `None` for any other path.
    pub(super) fn number_function(&mut self, path: &Path, arguments: &Arguments, span: SpanRange) -> Option<Expr> {
        let mut owner = path.segments.iter().rev().skip(1);
        let (last, owner) = (path.segments.last()?, &owner.next()?.ident);
        let name = last.ident.to_string();
        // A number's default is zero; a parameter that has one by a bound of its own may stand for other types.
        let of_parameter = name == "default"
            && self.function.generics.names_one_of(&owner.to_token_stream())
            && !self.function.generics.has_bound("Default");
        let owner = owner.to_string();
        if let Some(function) = Intrinsic::by_name(&owner, &name) {
            return Some(self.intrinsic(function, path, arguments, span));
        }
        if !is_number(&owner) && !of_parameter {
            return None;
        }
        // Any other name may be that of a function of a user's trait.
        let function = ScalarFunction::by_name(&name).filter(|_| last.arguments.is_none())?;
        // `u32::from(color)`, of a type of the file.
        if matches!(function, ScalarFunction::From) && arguments.first().is_some_and(|of| self.is_of_file(of)) {
            return None;
        }
        Some(self.scalar_function(function, path, arguments, span))
    }

    /// Parses `checked_from::<u8, _>(x)`, which `conversions` makes.
    pub(super) fn checked_from(&mut self, path: &Path, arguments: &Arguments, span: SpanRange) -> Option<Expr> {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if names != ["phalanx", "__private", "checked_from"] {
            return None;
        }
        let owner = type_argument(&path.segments.last()?.arguments, 0)?.to_token_stream();
        let ty = self.type_name(owner.clone());
        let operands = arguments.iter().map(|argument| self.value(argument)).collect();
        let function = ScalarFunction::CheckedFrom;
        let kind = ExprKind::ScalarCall { ty, owner, function, operands, site: None };
        Some(Expr { kind, result_kind: Kind::Value, span })
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
        // rustc resolves the type, so that an alias of the name is no problem.
        let mut owner = path.clone();
        owner.segments.pop();
        owner.segments.pop_punct();
        let owner = owner.to_token_stream();
        let ty = self.type_name(owner.clone());
        let (operands, site) = match function {
            ScalarFunction::Default => (Vec::new(), None),
            ScalarFunction::From | ScalarFunction::CheckedFrom => {
                (arguments.iter().map(|argument| self.value(argument)).collect(), None)
            }
            ScalarFunction::Constructor(_) => {
                (arguments.iter().map(|argument| self.argument_beside(argument)).collect(), None)
            }
            ScalarFunction::Method(method) => {
                let mut operands: Vec<Expr> = arguments.iter().take(1).map(|receiver| self.value(receiver)).collect();
                operands.extend(arguments.iter().skip(1).map(|argument| self.argument_beside(argument)));
                (operands, self.method_site(method, span))
            }
        };
        Expr { kind: ExprKind::ScalarCall { ty, owner, function, operands, site }, result_kind: Kind::Value, span }
    }

    pub(super) fn intrinsic(
        &mut self,
        function: &'static Intrinsic,
        path: &Path,
        arguments: &Arguments,
        span: SpanRange,
    ) -> Expr {
        if arguments.len() != function.arguments {
            return self.error(messages::argument_count(span, function.name, function.arguments, arguments.len()));
        }
        let operands = arguments.iter().map(|argument| self.value(argument)).collect();
        let path = path.to_token_stream();
        Expr { kind: ExprKind::Intrinsic { path, function, operands }, result_kind: Kind::Value, span }
    }

    /// Parses an argument whose type the function's parameter fixes: a literal is printed bare.
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
