//! The lengths of shared arrays as a function writes them, and the constants of a called function that they are: of `f(&keys)` the `N` of
//! `fn f<const N: usize>(keys: &SharedArray<u32, N>)` is the length that `keys` was made with, unless the call names it.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenTree};
use syn::{Expr, FnArg, GenericArgument, GenericParam, Local, Path, PathArguments, Type};

use super::local_types::single;
use super::readable::{Known, name_of};
use super::syntax::strip;

/// The lengths of the arrays that a function makes, each one literal or name, by the names of their variables.
#[derive(Default)]
pub(super) struct Lengths(BTreeMap<String, TokenTree>);

impl Lengths {
    /// Notes the array that a `let` makes.
    pub(super) fn declare(&mut self, local: &Local) {
        let Some(name) = name_of(&local.pat) else { return };
        let made = local.init.as_ref().map(|init| strip(&init.expr));
        let Some(Expr::Call(call)) = made else { return };
        let Expr::Path(path) = &*call.func else { return };
        let length =
            path.path.segments.last().filter(|last| last.ident == "shared_array").and_then(|_| length(&path.path));
        if let Some(length) = length {
            self.0.insert(name.ident.to_string(), length);
        }
    }

    /// The constants that a function's body needs, if arrays among the arguments have them for lengths. `is_own` says of a name whether
    /// it can be no other variable.
    pub(super) fn constants(
        &self,
        known: &Known,
        arguments: impl Iterator<Item = Expr>,
        is_own: impl Fn(&Ident) -> bool,
    ) -> Option<Vec<(String, TokenTree)>> {
        let arguments: Vec<Expr> = arguments.collect();
        let needed = known.constants.iter().filter(|(_, used)| *used).map(|(name, _)| name);
        let constant = |constant: &String| {
            let mut pairs = known.sig.inputs.iter().zip(&arguments);
            let length = pairs.find_map(|(input, argument)| {
                let FnArg::Typed(input) = input else { return None };
                let Type::Reference(reference) = &*input.ty else { return None };
                let Type::Path(path) = &*reference.elem else { return None };
                let is_array = path.path.segments.last().is_some_and(|last| last.ident == "SharedArray");
                let name = length(&path.path).filter(|name| is_array && name.to_string() == *constant);
                let Expr::Path(argument) = (match strip(argument) {
                    Expr::Reference(argument) => strip(&argument.expr),
                    argument => argument,
                }) else {
                    return None;
                };
                let of = argument.path.get_ident().filter(|of| name.is_some() && is_own(of))?;
                self.0.get(&of.to_string()).cloned()
            });
            Some((constant.clone(), length?))
        };
        needed.map(constant).collect()
    }
}

/// The second of two arguments of a path's last name, if it is one literal or name.
fn length(path: &Path) -> Option<TokenTree> {
    let PathArguments::AngleBracketed(arguments) = &path.segments.last()?.arguments else { return None };
    let mut arguments = arguments.args.iter().filter(|argument| !matches!(argument, GenericArgument::Lifetime(_)));
    let (_, second, None) = (arguments.next()?, arguments.next()?, arguments.next()) else { return None };
    single(second)
}

/// Returns the constants that a call names for the parameters of a function, each one literal or name; `None` if one that the body
/// needs is not shown.
pub(super) fn constants_of(known: &Known, arguments: &PathArguments) -> Option<Vec<(String, TokenTree)>> {
    let given: Vec<Option<TokenTree>> = match arguments {
        PathArguments::None if known.constants.iter().any(|(_, used)| *used) => return None,
        PathArguments::None => return Some(Vec::new()),
        PathArguments::Parenthesized(_) => return None,
        PathArguments::AngleBracketed(arguments) => arguments.args.iter().map(single).collect(),
    };
    let params = || known.sig.generics.params.iter().filter(|param| !matches!(param, GenericParam::Lifetime(_)));
    if given.len() != params().count() {
        return None;
    }
    let constant = |(param, given): (&GenericParam, Option<TokenTree>)| match param {
        GenericParam::Const(param) => Some(given.map(|given| (param.ident.to_string(), given))),
        GenericParam::Type(_) | GenericParam::Lifetime(_) => None,
    };
    params().zip(given).filter_map(constant).collect()
}
