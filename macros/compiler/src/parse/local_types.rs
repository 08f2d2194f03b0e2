//! Types as a function writes them for its locals, as far as each is a name with constants, perhaps of another module: `State`, `State<4>`,
//! `ring::State`. They are guesses of which methods are called, since only rustc resolves names.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{GenericArgument, Path, PathArguments, PathSegment, Type};

/// A type that is a name, with constants for its parameters.
#[derive(Clone)]
pub(super) struct NamedType {
    /// The modules before the name.
    before: Vec<Ident>,
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
        NamedType::of_segments(path.segments.iter()).filter(|_| path.leading_colon.is_none())
    }

    pub(super) fn of_segments<'s>(mut segments: impl DoubleEndedIterator<Item = &'s PathSegment>) -> Option<NamedType> {
        let last = segments.next_back()?;
        let module = |segment: &PathSegment| segment.arguments.is_none().then(|| segment.ident.clone());
        let before = segments.map(module).collect::<Option<_>>()?;
        Some(NamedType { before, ..NamedType::of_segment(last)? })
    }

    fn of_segment(segment: &PathSegment) -> Option<NamedType> {
        let arguments = match &segment.arguments {
            PathArguments::None => Vec::new(),
            PathArguments::Parenthesized(_) => return None,
            PathArguments::AngleBracketed(arguments) => arguments.args.iter().map(single).collect::<Option<_>>()?,
        };
        Some(NamedType { before: Vec::new(), name: segment.ident.clone(), arguments })
    }

    pub(super) fn name(&self) -> &Ident {
        &self.name
    }

    /// The names that lead to it, and its own.
    pub(super) fn path(&self) -> impl Iterator<Item = &Ident> {
        self.before.iter().chain([&self.name])
    }

    /// Whether it is named as one of the module.
    pub(super) fn is_one_name(&self) -> bool {
        self.before.is_empty()
    }

    pub(super) fn arguments(&self) -> &[TokenTree] {
        &self.arguments
    }

    /// Returns the type in a form that can stand in an expression too: `State::<4>`.
    pub(super) fn tokens(&self) -> TokenStream {
        let (before, name, arguments) = (&self.before, &self.name, &self.arguments);
        let arguments = (!arguments.is_empty()).then(|| quote!(::<#(#arguments),*>));
        quote!(#(#before::)* #name #arguments)
    }
}

/// The token that an argument is, if it is one literal or name.
pub(super) fn single(argument: &GenericArgument) -> Option<TokenTree> {
    let mut tokens = argument.to_token_stream().into_iter();
    let (first, None) = (tokens.next()?, tokens.next()) else { return None };
    matches!(first, TokenTree::Ident(_) | TokenTree::Literal(_)).then_some(first)
}
