//! `#[device] impl` and `#[device] trait`: each method becomes a function of its own, in which `self` is a parameter
//! and `Self` is replaced by the type.

use proc_macro2::{Group, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{FnArg, ImplItem, ItemFn, ItemImpl, ItemTrait, Signature, TraitItem, Type};

use super::Parser;
use super::comparisons::{compares_itself, is_comparison};
use super::impl_parameters;
use super::indexed_types::{gives_places, is_index};
use super::operator_traits;
use super::readable::identity_of;
use super::signature::{bounded, bounded_by_kernels};
use super::syntax::{turbofished, type_argument};
use crate::diag::Diags;
use crate::messages;
use crate::model::followed::{joined_words, method_marker};
use crate::model::options::Options;
use crate::model::{ConversionImpl, Generics, Implementation, Method, Role};
use crate::span::SpanRange;

/// Traits of the standard library that a type may well implement, and those of the compound assignment operators.
const STANDARD_TRAITS: [&str; 26] = [
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Rem",
    "Neg",
    "Not",
    "BitAnd",
    "BitOr",
    "BitXor",
    "Shl",
    "Shr",
    "Index",
    "IndexMut",
    "Deref",
    "DerefMut",
    "PartialEq",
    "Eq",
    "PartialOrd",
    "Ord",
    "Clone",
    "Default",
    "From",
    "Into",
    "Iterator",
    "Drop",
];

/// Parses `impl Type { .. }` or `impl Trait for Type { .. }`; `None` if the type has no name.
pub(crate) fn implementation(item: &ItemImpl, diags: &mut Diags) -> Option<Implementation> {
    let (attrs, generics) = (&item.attrs, &item.generics);
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let (safety, own_type) = (&item.unsafety, &item.self_ty);
    let of_trait = item.trait_.as_ref().map(|(path, of)| quote!(#path #of));
    let head = quote!(#(#attrs)* #safety impl #impl_generics #of_trait #own_type #where_clause);
    bounded(generics, diags);
    bounded_by_kernels(generics, diags);
    let mut parsed = Implementation {
        head,
        others: Vec::new(),
        methods: Vec::new(),
        operator: None,
        inherent: None,
        conversion: None,
    };
    if let Some((path, _)) = &item.trait_
        && let Some(name) = standard_trait(path)
    {
        let operator = operator_traits::operator_impl(item, &name, diags);
        let is_operator = operator.is_ok();
        parsed.operator = operator.unwrap_or_default();
        if is_comparison(&name) && compares_itself(item) {
            parsed.inherent = Some(quote!(impl #impl_generics #own_type #where_clause));
        } else if let Some(conversion) = conversion_impl(item, &name) {
            parsed.conversion = Some(conversion);
        } else if parsed.operator.is_none() {
            if is_index(&name) {
                if !gives_places(item) {
                    diags.push(messages::index_of_place(SpanRange::of(path), &name));
                }
            } else if is_operator {
                diags.push(messages::standard_trait(SpanRange::of(path), &name));
            }
            // The items are kept as rustc reads them, so that it reports nothing more.
            parsed.others = item.items.iter().map(ToTokens::to_token_stream).collect();
            return Some(parsed);
        }
    }
    let output = parsed.operator.as_ref().and_then(|_| operator_traits::output(item));
    let Some(name) = type_name(own_type) else {
        diags.push(messages::implementing_type(SpanRange::of(own_type)));
        return None;
    };
    for member in &item.items {
        match member {
            ImplItem::Fn(item_fn) => {
                let mut sig = item_fn.sig.clone();
                let has_receiver = self_to_parameter(&mut sig, diags);
                let (attrs, vis, block) = (&item_fn.attrs, &item_fn.vis, &item_fn.block);
                let mut text = quote!(#(#attrs)* #vis #sig #block);
                if let Some(output) = &output {
                    text = operator_traits::replace_output(text, output);
                }
                let replaced = replace_self(text, &turbofished(own_type));
                let Ok(mut whole) = syn::parse2::<ItemFn>(replaced).map(impl_parameters::named) else {
                    diags.push(messages::not_parsed(
                        SpanRange::of(&item_fn.sig),
                        "`self` or `Self` is used where no value or type is allowed",
                    ));
                    continue;
                };
                let own = own_generics(&whole.sig);
                let (method, display) = (&item_fn.sig.ident, format!("{name}::{}", item_fn.sig.ident));
                // The name tells apart methods of `S<u32>` and `S<f32>`, and of `Trait<u32>` and `Trait<f32>` for one
                // type.
                let implemented = item.trait_.as_ref().map(|(path, _)| path);
                let prefix = joined_words(&quote!(#own_type #implemented));
                whole.sig.ident = Ident::new(&method_marker(&prefix, method), method.span());
                let mut all = generics.clone();
                all.params.extend(whole.sig.generics.params.clone());
                if let Some(bounds) = &whole.sig.generics.where_clause {
                    all.make_where_clause().predicates.extend(bounds.predicates.clone());
                }
                whole.sig.generics = all;
                let vis = whole.vis.to_token_stream();
                // The marker is named in the signatures of methods that may be public.
                whole.vis = syn::parse_quote!(pub);
                let mut function = super::function(&whole, Role::Method, Options::default(), diags);
                function.title = display;
                function.is_operator = parsed.operator.is_some();
                let (sig, block) = (&item_fn.sig, &item_fn.block);
                function.constant = sig.constness.is_some().then(|| quote!(#sig #block));
                function.text = identity_of(&quote!(#own_type #sig #block));
                let attrs = std::mem::replace(&mut function.attrs, quote!(#[doc(hidden)]));
                // A trait of the standard library has no other members than Rust's.
                let of_trait = item.trait_.is_some()
                    && parsed.operator.is_none()
                    && parsed.inherent.is_none()
                    && parsed.conversion.is_none();
                let method = Method { function, name: method.clone(), vis, attrs, own, has_receiver, of_trait };
                if let Some(operator) = &parsed.operator {
                    operator_traits::check_operator(&method, operator, diags);
                }
                parsed.methods.push(method);
            }
            ImplItem::Const(_) | ImplItem::Type(_) => parsed.others.push(member.to_token_stream()),
            _ => diags.push(messages::implementation_member(SpanRange::of(member))),
        }
    }
    Some(parsed)
}

/// Parses `trait Trait { .. }`.
pub(crate) fn declaration(item: &ItemTrait, diags: &mut Diags) -> Implementation {
    let ItemTrait { attrs, vis, unsafety, ident, generics, supertraits, .. } = item;
    let (params, where_clause) = (&generics.params, &generics.where_clause);
    // What has methods with a receiver is a value of kernels, also where only a bound of this trait says so.
    let has_receivers =
        item.items.iter().any(|member| matches!(member, TraitItem::Fn(of) if of.sig.receiver().is_some()));
    let mut bounds: Vec<TokenStream> = supertraits.iter().map(ToTokens::to_token_stream).collect();
    bounds.extend(has_receivers.then(|| quote!(::phalanx::DeviceType)));
    let colon = (!bounds.is_empty()).then(|| quote!(:));
    let head = quote!(#(#attrs)* #vis #unsafety trait #ident <#params> #colon #(#bounds)+* #where_clause);
    let mut parsed = Implementation {
        head,
        others: Vec::new(),
        methods: Vec::new(),
        operator: None,
        inherent: None,
        conversion: None,
    };
    for member in &item.items {
        match member {
            TraitItem::Fn(function) => {
                let is_generic =
                    function.sig.generics.params.iter().any(|param| !matches!(param, syn::GenericParam::Lifetime(_)));
                if let Some(body) = function.default.as_ref().filter(|_| !is_generic) {
                    provided_body(&function.sig, body, diags);
                }
                if is_generic {
                    diags.push(messages::generic_trait_method(SpanRange::of(&function.sig.generics)));
                } else if let Some(parameter) = impl_parameters::first(&function.sig) {
                    diags.push(messages::generic_trait_method(parameter));
                    continue;
                }
                let mut sig = function.sig.clone();
                let has_receiver = self_to_parameter(&mut sig, diags);
                let attrs = &function.attrs;
                let Ok(whole) = syn::parse2::<ItemFn>(quote!(#(#attrs)* #sig {})) else { continue };
                let options = Options::default();
                let mut parser = Parser::new(&whole, Role::Method, &options, Vec::new(), diags);
                parser.signature(&whole);
                let mut function = parser.function;
                let (name, own) = (whole.sig.ident.clone(), own_generics(&whole.sig));
                let attrs = std::mem::take(&mut function.attrs);
                parsed.methods.push(Method {
                    function,
                    name,
                    vis: TokenStream::new(),
                    attrs,
                    own,
                    has_receiver,
                    of_trait: true,
                });
            }
            TraitItem::Const(_) | TraitItem::Type(_) => parsed.others.push(member.to_token_stream()),
            _ => diags.push(messages::implementation_member(SpanRange::of(member))),
        }
    }
    parsed
}

/// Returns the conversion of `impl From<Source> for OwnType`.
fn conversion_impl(item: &ItemImpl, name: &str) -> Option<ConversionImpl> {
    let (path, _) = item.trait_.as_ref().filter(|_| name == "From")?;
    let source = type_argument(&path.segments.last()?.arguments, 0)?;
    let (generics, _, where_clause) = item.generics.split_for_impl();
    let is_parameter = item.generics.type_params().any(|param| match source {
        Type::Path(path) => path.path.is_ident(&param.ident),
        _ => false,
    });
    Some(ConversionImpl {
        generics: generics.to_token_stream(),
        own_type: item.self_ty.to_token_stream(),
        where_clause: where_clause.to_token_stream(),
        source: source.to_token_stream(),
        has_into: !is_parameter && !matches!(source, Type::Reference(_)),
    })
}

/// Reports what is wrong with a body that a trait provides: the `impl`s that have it as theirs do not repeat it.
fn provided_body(sig: &Signature, body: &syn::Block, diags: &mut Diags) {
    let mut sig = sig.clone();
    // The declaration says what is wrong with the signature.
    self_to_parameter(&mut sig, &mut diags.nested());
    if let Ok(whole) = syn::parse2::<ItemFn>(replace_self(quote!(#sig #body), &quote!(Self))) {
        let mut faults = diags.nested();
        super::function(&whole, Role::Method, Options::default(), &mut faults);
        let mut of_signature = diags.nested();
        let empty = ItemFn { block: syn::parse_quote!({ loop {} }), ..whole };
        super::function(&empty, Role::Method, Options::default(), &mut of_signature);
        if of_signature.is_empty() {
            diags.append(faults);
        }
    }
}

/// Returns the name of a trait of the standard library, as far as the path shows: `Add`, `std::ops::Add`.
pub(super) fn standard_trait(path: &syn::Path) -> Option<String> {
    let (first, last) = (path.segments.first()?.ident.to_string(), path.segments.last()?.ident.to_string());
    let is_known = path.segments.len() == 1 && STANDARD_TRAITS.contains(&last.trim_end_matches("Assign"));
    (is_known || ["std", "core"].contains(&first.as_str())).then_some(last)
}

/// Returns the generics that a method declares itself.
fn own_generics(sig: &Signature) -> Generics {
    let params = sig.generics.params.iter().filter(|param| !matches!(param, syn::GenericParam::Lifetime(_)));
    Generics {
        declared: params.map(ToTokens::to_token_stream).collect(),
        params: Vec::new(),
        where_clause: sig.generics.where_clause.to_token_stream(),
    }
}

/// Returns the receiver's name in a body. Its hygiene distinguishes it from every name of the user's.
fn parameter_name(at: Span) -> Ident {
    Ident::new("self_", at.resolved_at(Span::mixed_site()))
}

/// Rewrites `&self` as `self_: &Self`. Returns whether there is a receiver.
fn self_to_parameter(sig: &mut Signature, diags: &mut Diags) -> bool {
    let Some(FnArg::Receiver(receiver)) = sig.inputs.first() else { return false };
    let at = receiver.self_token.span;
    let name = parameter_name(at);
    let own = Ident::new("Self", at);
    let text = receiver.to_token_stream().to_string().replace(' ', "");
    let parameter = match text.as_str() {
        "&mutself" => quote_spanned!(at=> #name: &mut #own),
        "&self" => quote_spanned!(at=> #name: &#own),
        "mutself" => quote_spanned!(at=> mut #name: #own),
        "self" => quote_spanned!(at=> #name: #own),
        _ => {
            diags.push(messages::typed_receiver(SpanRange::of(receiver)));
            quote_spanned!(at=> #name: #own)
        }
    };
    if let (Ok(parameter), Some(first)) = (syn::parse2::<FnArg>(parameter), sig.inputs.first_mut()) {
        *first = parameter;
    }
    true
}

fn replace_self(stream: TokenStream, own_type: &TokenStream) -> TokenStream {
    let mut trees = stream.into_iter().peekable();
    let mut replaced = TokenStream::new();
    while let Some(tree) = trees.next() {
        // `self::name` begins with a module.
        let leads = matches!(trees.peek(), Some(TokenTree::Punct(colon)) if colon.as_char() == ':' && colon.spacing() == Spacing::Joint);
        let own = match tree {
            TokenTree::Ident(ident) if ident == "Self" => own_type.clone(),
            TokenTree::Ident(ident) if ident == "self" && !leads => parameter_name(ident.span()).to_token_stream(),
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), replace_self(group.stream(), own_type));
                inner.set_span(group.span());
                TokenTree::Group(inner).into()
            }
            tree => tree.into(),
        };
        replaced.extend(own);
    }
    replaced
}

fn type_name(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) if path.qself.is_none() => Some(path.path.segments.last()?.ident.unraw().to_string()),
        Type::Array(_) => Some("array".into()),
        _ => None,
    }
}
