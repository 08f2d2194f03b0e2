//! Types as a function writes them for its locals, as far as each is a name with constants: `State`, `State<4>`. They are guesses of
//! which methods are called, since only rustc resolves names.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{GenericArgument, Path, PathArguments, PathSegment, Type};

/// A type that is a name, with constants for its parameters.
#[derive(Clone)]
pub(super) struct NamedType {
    name: Ident,
    /// Its arguments, each one literal or name.
    arguments: Vec<TokenTree>,
}

impl NamedType {
    pub(super) fn of(ty: &Type) -> Option<NamedType> {
        let Type::Path(path) = ty else { return None };
        NamedType::of_path(&path.path).filter(|_| path.qself.is_none())
    }

    pub(super) fn of_path(path: &Path) -> Option<NamedType> {
        let (only, None) = (path.segments.first()?, path.segments.get(1)) else { return None };
        NamedType::of_segment(only).filter(|_| path.leading_colon.is_none())
    }

    pub(super) fn of_segment(segment: &PathSegment) -> Option<NamedType> {
        let arguments = match &segment.arguments {
            PathArguments::None => Vec::new(),
            PathArguments::Parenthesized(_) => return None,
            PathArguments::AngleBracketed(arguments) => arguments.args.iter().map(single).collect::<Option<_>>()?,
        };
        Some(NamedType { name: segment.ident.clone(), arguments })
    }

    pub(super) fn name(&self) -> &Ident {
        &self.name
    }

    pub(super) fn arguments(&self) -> &[TokenTree] {
        &self.arguments
    }

    /// Returns the type in a form that can stand in an expression too: `State::<4>`.
    pub(super) fn tokens(&self) -> TokenStream {
        let (name, arguments) = (&self.name, &self.arguments);
        if arguments.is_empty() { name.to_token_stream() } else { quote!(#name::<#(#arguments),*>) }
    }
}

/// The token that an argument is, if it is one literal or name.
pub(super) fn single(argument: &GenericArgument) -> Option<TokenTree> {
    let mut tokens = argument.to_token_stream().into_iter();
    let (first, None) = (tokens.next()?, tokens.next()) else { return None };
    matches!(first, TokenTree::Ident(_) | TokenTree::Literal(_)).then_some(first)
}
