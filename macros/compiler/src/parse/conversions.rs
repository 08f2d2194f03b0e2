//! Conversions of numbers that may fail, `u8::try_from(x)` and `x.try_into()`, and those of parts of memory to arrays. No value of the language
//! is their result, whose error no kernel can hold: where it is consumed, they are rewritten as options. `u8::try_from(x).unwrap_or(255)`
//! becomes the same of an option, and `Ok` and `Err(_)` in a pattern become `Some` and `None`.

use proc_macro2::{Ident, Span};
use quote::{format_ident, quote, quote_spanned};
use syn::{Expr, ExprMethodCall, GenericArgument, Local, Pat, PatIdent, PathArguments, Stmt, Type, parse2};

use super::Parser;
use super::named_iterators::replaced;
use super::scalar_functions::is_number;
use super::syntax::{binds, strip};
use crate::span::SpanRange;

/// The text of Rust's error.
const ERROR: &str = "TryFromIntError(())";

impl Parser<'_> {
    /// Returns the call of an option's method in place of the one that consumes a conversion.
    pub(super) fn converted(&self, call: &ExprMethodCall) -> Option<Expr> {
        let at = SpanRange::of(&call.method).lo;
        let name = call.method.to_string();
        if let (Expr::MethodCall(conversion), "unwrap" | "expect") = (strip(&call.receiver), name.as_str())
            && let Some(array) = self.array_of_part(conversion)
        {
            return Some(array);
        }
        let option = option_of(&call.receiver)?;
        let argument = call.args.first();
        let function = match argument.map(strip) {
            // The error is not looked at.
            Some(Expr::Closure(closure)) if name == "unwrap_or_else" => match closure.inputs.first() {
                Some(Pat::Wild(_)) if closure.inputs.len() == 1 => {
                    let body = &closure.body;
                    Some(quote_spanned!(at=> || #body))
                }
                _ => return None,
            },
            _ => argument.map(|argument| quote!(#argument)),
        };
        let text = |before: &str| format!("{before}: {ERROR}");
        let of_option = match (name.as_str(), argument) {
            ("ok", None) => return Some(option),
            ("unwrap", None) => {
                let text = text("called `Result::unwrap()` on an `Err` value");
                quote_spanned!(at=> expect(#text))
            }
            ("expect", Some(Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(message), .. }))) => {
                let text = text(&message.value());
                quote_spanned!(at=> expect(#text))
            }
            ("is_ok", None) => quote_spanned!(at=> is_some()),
            ("is_err", None) => quote_spanned!(at=> is_none()),
            ("is_ok_and", Some(_)) => quote_spanned!(at=> is_some_and(#function)),
            ("unwrap_or" | "unwrap_or_default" | "unwrap_or_else" | "map_or", _) => {
                let (method, arguments) = (&call.method, &call.args);
                match function {
                    Some(function) if name == "unwrap_or_else" => quote_spanned!(at=> #method(#function)),
                    _ => quote_spanned!(at=> #method(#arguments)),
                }
            }
            _ => return None,
        };
        parse2(quote_spanned!(at=> #option.#of_option)).ok()
    }

    /// Returns a pattern and the option that it is matched with, in place of those of a conversion.
    pub(super) fn converted_pattern(&self, pat: &Pat, conversion: &Expr) -> Option<(Pat, Expr)> {
        Some((of_option(pat)?, option_of(conversion)?))
    }

    /// Returns `match option { Some(y) => .., None => .. }` in place of the `match` of a conversion.
    pub(super) fn converted_match(&self, choice: &syn::ExprMatch) -> Option<syn::ExprMatch> {
        let expr = Box::new(option_of(&choice.expr)?);
        let arm = |arm: &syn::Arm| Some(syn::Arm { pat: of_option(&arm.pat)?, ..arm.clone() });
        let arms = choice.arms.iter().map(arm).collect::<Option<Vec<_>>>()?;
        Some(syn::ExprMatch { expr, arms, ..choice.clone() })
    }

    /// Returns the statements in place of `let name = u8::try_from(x);` and of those after it, in which the name stands for the conversion of a
    /// number that has been evaluated.
    pub(super) fn without_named_conversion(&self, local: &Local, rest: &[&Stmt]) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let (pat, ty) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            pat => (pat, None),
        };
        let Pat::Ident(PatIdent { by_ref: None, mutability: None, ident: name, subpat: None, .. }) = pat else {
            return None;
        };
        let conversion = strip(&init.expr);
        if !is_conversion(conversion) || binds(rest.iter().copied(), name) {
            return None;
        }
        let at = SpanRange::of(conversion).lo;
        let held = format_ident!("number_of_{name}", span = at.resolved_at(Span::mixed_site()));
        let (number, conversion) = match conversion {
            Expr::MethodCall(call) => {
                let stated = ty.and_then(converted_to);
                let conversion = match stated {
                    Some(Type::Infer(_)) | None => quote_spanned!(at=> #held.try_into()),
                    Some(ty) => quote_spanned!(at=> #ty::try_from(#held)),
                };
                (&*call.receiver, conversion)
            }
            Expr::Call(call) => {
                let function = &call.func;
                (call.args.first()?, quote_spanned!(at=> #function(#held)))
            }
            _ => return None,
        };
        let number = parse2(quote_spanned!(at=> let #held = #number;)).ok()?;
        let rest = replaced(rest, name, &parse2(conversion).ok()?)?;
        Some(std::iter::once(number).chain(rest).collect())
    }

    /// Returns the array that a part is converted to, `part.try_into()`: its length is inferred.
    fn array_of_part(&self, conversion: &ExprMethodCall) -> Option<Expr> {
        let part = match strip(&conversion.receiver) {
            Expr::Reference(reference) => strip(&reference.expr),
            receiver => receiver,
        };
        let is_part = matches!(part, Expr::Index(index) if matches!(strip(&index.index), Expr::Range(_)));
        let is_slice = is_part || self.named_part(part).is_some() || self.names_memory(part);
        if conversion.method != "try_into" || !conversion.args.is_empty() || !is_slice {
            return None;
        }
        let at = SpanRange::of(&conversion.method).lo;
        let fresh = |name: &str| Ident::new(name, at.resolved_at(Span::mixed_site()));
        let (elements, made, i) = (fresh("elements"), fresh("made"), fresh("i"));
        let (bound, elements) = match is_part {
            true => (quote_spanned!(at=> let #elements = &#part;), quote!(#elements)),
            false => (quote!(), quote!(#part)),
        };
        parse2(quote_spanned!(at=> {
            #bound
            let #made = ::phalanx::__private::array_of(|#i| #elements[#i]);
            assert!(#elements.len() == #made.len(), "called `Result::unwrap()` on an `Err` value: TryFromSliceError(())");
            #made
        }))
        .ok()
    }
}

/// The type that a `Result` with this type is one of.
fn converted_to(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Result")?;
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.first()? {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        },
        _ => None,
    }
}

/// Whether it is `u8::try_from(x)` or `x.try_into()`.
pub(super) fn is_conversion(expr: &Expr) -> bool {
    match strip(expr) {
        Expr::Call(call) => match strip(&call.func) {
            Expr::Path(path) => {
                let names: Vec<_> = path.path.segments.iter().collect();
                matches!(names[..], [.., owner, name] if name.ident == "try_from" && is_number(&owner.ident.to_string()))
            }
            _ => false,
        },
        Expr::MethodCall(call) => call.method == "try_into" && call.args.is_empty() && call.turbofish.is_none(),
        _ => false,
    }
}

/// Returns a conversion as an option.
fn option_of(expr: &Expr) -> Option<Expr> {
    match strip(expr) {
        Expr::MethodCall(call) if call.method == "map" && call.args.len() == 1 => {
            let receiver = Box::new(option_of(&call.receiver)?);
            Some(Expr::MethodCall(ExprMethodCall { receiver, ..call.clone() }))
        }
        conversion if !is_conversion(conversion) => None,
        Expr::MethodCall(call) => {
            let (receiver, at) = (&call.receiver, call.method.span());
            parse2(quote_spanned!(at=> ::phalanx::__private::checked_into(#receiver))).ok()
        }
        Expr::Call(call) => {
            let Expr::Path(path) = strip(&call.func) else { return None };
            let mut owner = path.path.clone();
            let at = owner.segments.pop()?.ident.span();
            owner.segments.pop_punct();
            let arguments = &call.args;
            parse2(quote_spanned!(at=> ::phalanx::__private::checked_from::<#owner, _>(#arguments))).ok()
        }
        _ => None,
    }
}

/// Returns `Some(p)` for `Ok(p)`, and `None` for `Err(_)`.
fn of_option(pat: &Pat) -> Option<Pat> {
    match pat {
        Pat::Paren(paren) => of_option(&paren.pat),
        Pat::Wild(_) => Some(pat.clone()),
        Pat::Guard(guarded) => {
            Some(Pat::Guard(syn::PatGuard { pat: Box::new(of_option(&guarded.pat)?), ..guarded.clone() }))
        }
        Pat::Or(alternatives) => {
            let mut alternatives = alternatives.clone();
            for case in &mut alternatives.cases {
                *case = of_option(case)?;
            }
            Some(Pat::Or(alternatives))
        }
        Pat::TupleStruct(variant) if variant.elems.len() == 1 && variant.path.segments.len() == 1 => {
            let (inner, at) = (&variant.elems[0], SpanRange::of(pat).lo);
            match (variant.path.segments[0].ident.to_string().as_str(), inner) {
                ("Ok", _) => syn::parse::Parser::parse2(Pat::parse_single, quote_spanned!(at=> Some(#inner))).ok(),
                ("Err", Pat::Wild(_)) => syn::parse::Parser::parse2(Pat::parse_single, quote_spanned!(at=> None)).ok(),
                _ => None,
            }
        }
        _ => None,
    }
}
