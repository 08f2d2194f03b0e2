//! The methods that a device trait provides: an `impl` without one of them has the trait's body, as if it were written there. The trait stands
//! in the file of the `impl`, or in another file of the crate, whose names are then paths. Of a trait of another crate, and of a method with
//! names that cannot stand beside the `impl`, rustc says that it is missing.

use std::collections::BTreeMap;
use std::path::Path;

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{GenericArgument, GenericParam, ImplItem, ImplItemFn, Item, ItemImpl, ItemTrait, PathArguments, TraitItem};

use super::elsewhere::trait_elsewhere;
use super::files::Files;
use super::implementation::{implementation, standard_trait};
use super::syntax::turbofished;
use crate::diag::Diags;
use crate::messages;
use crate::source;
use crate::span::SpanRange;

/// Adds the methods that its trait provides to an `impl`; `None` if there are none.
pub(crate) fn added(
    tokens: &TokenStream,
    file: &str,
    of_file: Option<&Path>,
    diags: &mut Diags,
) -> Option<TokenStream> {
    let mut trees = tokens.clone().into_iter();
    if !trees.any(|tree| matches!(&tree, TokenTree::Ident(word) if word == "impl")) {
        return None;
    }
    let Ok(Item::Impl(mut item)) = syn::parse2::<Item>(tokens.clone()) else { return None };
    let (path, _) = item.trait_.as_ref()?;
    if standard_trait(path).is_some() {
        return None;
    }
    let of_trait = source::trait_of(file, &path.segments.last()?.ident.to_string());
    let elsewhere = || trait_elsewhere(&Files::around(of_file?, file, tokens)?, path);
    let (of_trait, unfit) = of_trait.map(|of_trait| (of_trait, Vec::new())).or_else(elsewhere)?;
    let at = SpanRange::of(path);
    let replaced = Replaced::of(&item, &of_trait)?;
    let mut any = false;
    for member in of_trait.items {
        let TraitItem::Fn(provided) = member else { continue };
        let is_own = |own: &ImplItem| matches!(own, ImplItem::Fn(own) if own.sig.ident == provided.sig.ident);
        let Some(body) = provided.default.filter(|_| !item.items.iter().any(is_own)) else { continue };
        if unfit.contains(&provided.sig.ident.to_string()) {
            diags.push(messages::provided_elsewhere(at, &provided.sig.ident.to_string()));
        }
        let (attrs, sig) = (&provided.attrs, &provided.sig);
        let method = replaced.tokens(quote!(#(#attrs)* #sig #body));
        let Ok(method) = syn::parse2::<ImplItemFn>(method) else { continue };
        item.items.push(ImplItem::Fn(without_faults(&item, method, diags)));
        any = true;
    }
    any.then(|| item.into_token_stream())
}

/// Leaves out the body if something is wrong with it, which the trait reports.
fn without_faults(item: &ItemImpl, method: ImplItemFn, diags: &Diags) -> ImplItemFn {
    let mut faults = diags.nested();
    let mut alone = item.clone();
    alone.items.retain(|member| matches!(member, ImplItem::Type(_)));
    alone.items.push(ImplItem::Fn(method.clone()));
    implementation(&alone, &mut faults);
    match faults.is_empty() {
        true => method,
        false => ImplItemFn { block: syn::parse_quote!({ loop {} }), ..method },
    }
}

/// What stands for the parameters and the types of a trait in an `impl` of it.
struct Replaced {
    parameters: BTreeMap<String, TokenStream>,
    types: BTreeMap<String, TokenStream>,
}

impl Replaced {
    fn of(item: &ItemImpl, of_trait: &ItemTrait) -> Option<Replaced> {
        let (path, _) = item.trait_.as_ref()?;
        let arguments: Vec<TokenStream> = match &path.segments.last()?.arguments {
            PathArguments::AngleBracketed(arguments) => {
                let values = arguments.args.iter().filter(|argument| !matches!(argument, GenericArgument::Lifetime(_)));
                values
                    .map(|argument| match argument {
                        GenericArgument::Type(ty) => turbofished(ty),
                        other => other.to_token_stream(),
                    })
                    .collect()
            }
            PathArguments::None | PathArguments::Parenthesized(_) => Vec::new(),
        };
        let names = of_trait.generics.params.iter().filter_map(|param| match param {
            GenericParam::Type(param) => Some(param.ident.to_string()),
            GenericParam::Const(param) => Some(param.ident.to_string()),
            GenericParam::Lifetime(_) => None,
        });
        let names: Vec<String> = names.collect();
        let types = item.items.iter().filter_map(|member| match member {
            ImplItem::Type(of) => Some((of.ident.to_string(), turbofished(&of.ty))),
            _ => None,
        });
        // A parameter that has a default is not followed.
        (names.len() == arguments.len())
            .then(|| Replaced { parameters: names.into_iter().zip(arguments).collect(), types: types.collect() })
    }

    /// Replaces the names in tokens: `T`, and `Self::Output`.
    fn tokens(&self, stream: TokenStream) -> TokenStream {
        let trees: Vec<TokenTree> = stream.into_iter().collect();
        let (mut replaced, mut at) = (TokenStream::new(), 0);
        while let Some(tree) = trees.get(at) {
            at += 1;
            match (tree, &trees[at..]) {
                (
                    TokenTree::Ident(own),
                    [TokenTree::Punct(first), TokenTree::Punct(second), TokenTree::Ident(name), ..],
                ) if own == "Self" && first.as_char() == ':' && second.as_char() == ':' => {
                    if let Some(ty) = self.types.get(&name.to_string()) {
                        replaced.extend(ty.clone());
                        at += 3;
                    } else {
                        replaced.extend([tree.clone()]);
                    }
                }
                (TokenTree::Ident(name), _) => match self.parameters.get(&name.to_string()) {
                    Some(argument) => replaced.extend(argument.clone()),
                    None => replaced.extend([tree.clone()]),
                },
                (TokenTree::Group(group), _) => {
                    let mut inner = Group::new(group.delimiter(), self.tokens(group.stream()));
                    inner.set_span(group.span());
                    replaced.extend([TokenTree::Group(inner)]);
                }
                (tree, _) => replaced.extend([tree.clone()]),
            }
        }
        replaced
    }
}
