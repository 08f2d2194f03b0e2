//! The pipeline, on one screen: parse -> model -> check -> emit. Parser and checks both report before the one gate, so
//! that a compile shows all that is wrong.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;
use syn::{Item, ItemFn, ItemImpl, ItemTrait};

use crate::check;
use crate::diag::{Diags, Reported};
use crate::emit;
use crate::fragment;
use crate::messages;
use crate::model::options::Options;
use crate::model::{Function, Role};
use crate::parse;
use crate::span::SpanRange;

/// `#[cluster_kernel(options)] item`
pub(crate) fn kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut diags = Diags::default();
    let options = parse::attribute::kernel_options(options, &mut diags);
    expand(item, Role::Kernel, options, "cluster_kernel", diags)
}

/// `#[device(options)] item`
pub(crate) fn device(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut diags = Diags::default();
    let options = parse::attribute::device_options(options, &mut diags);
    expand(item, Role::Device, options, "device", diags)
}

fn expand(item: TokenStream, role: Role, options: Options, attribute: &str, mut diags: Diags) -> TokenStream {
    let item = fragment::opened(item);
    let parsed = match syn::parse2::<Item>(item.clone()) {
        Ok(Item::Fn(parsed)) => parsed,
        Ok(Item::Impl(parsed)) if role == Role::Device => {
            parse::attribute::refuse_options(&options, &mut diags);
            return implementation(&parsed, diags);
        }
        Ok(Item::Trait(parsed)) if role == Role::Device => {
            parse::attribute::refuse_options(&options, &mut diags);
            return declaration(&parsed, diags);
        }
        Ok(_) => {
            diags.push(messages::not_a_function(SpanRange::of(&item), attribute));
            let errors = diags.into_tokens();
            return quote!(#errors #item);
        }
        Err(error) => return unread(item, role, &error, diags),
    };
    if parsed.sig.receiver().is_some() {
        // Inside an `impl`, where the items that stand for a function have no place.
        diags.push(messages::receiver(SpanRange::of(&parsed.sig.ident)));
        let errors = diags.into_tokens();
        return quote!(#errors #item);
    }
    let function = Function { options, ..parse::function(&parsed, role, &mut diags) };
    let items = match generate(&function, &mut diags) {
        Ok(items) => items,
        Err(Reported) => {
            let (errors, stub) = (diags.into_tokens(), emit::stub(&function));
            quote!(#errors #stub)
        }
    };
    under_conditions(&parsed, items)
}

/// An item that is no Rust. rustc has said so before it called the macro, and its callers are to say no more.
fn unread(item: TokenStream, role: Role, error: &syn::Error, mut diags: Diags) -> TokenStream {
    let fault = messages::not_parsed(SpanRange::at(error.span()), &error.to_string()).unless_rustc_says_more();
    let mut trees: Vec<TokenTree> = item.clone().into_iter().collect();
    trees.pop();
    trees.push(Group::new(Delimiter::Brace, TokenStream::new()).into());
    let stub = match syn::parse2::<ItemFn>(trees.into_iter().collect()) {
        Ok(signature) if signature.sig.receiver().is_none() => {
            emit::stub(&parse::function(&signature, role, &mut diags))
        }
        _ => item,
    };
    let errors = diags.into_tokens();
    quote!(#errors #fault #stub)
}

/// `#[device] impl`: each method is checked, and left as its signature where it has faults.
fn implementation(item: &ItemImpl, mut diags: Diags) -> TokenStream {
    let implementation = parse::implementation::implementation(item, &mut diags);
    let checked = implementation.methods.iter().map(|method| {
        let mut faults = Diags::default();
        let checked = check::run(&method.function, &mut faults).ok();
        diags.append(faults);
        (method, checked)
    });
    let checked: Vec<_> = checked.collect();
    let items = match diags.gate() {
        Ok(()) => emit::implementation(&implementation, &checked),
        // Which method a fault of the parser is in, only its place says.
        Err(Reported) => {
            let stubs: Vec<_> = implementation.methods.iter().map(|method| (method, None)).collect();
            emit::implementation(&implementation, &stubs)
        }
    };
    let errors = diags.into_tokens();
    quote!(#errors #items)
}

/// `#[device] trait`
fn declaration(item: &ItemTrait, mut diags: Diags) -> TokenStream {
    let declaration = parse::implementation::declaration(item, &mut diags);
    let (errors, items) = (diags.into_tokens(), emit::declaration(&declaration));
    quote!(#errors #items)
}

/// A `#[cfg]` below the attribute holds for all that stands for the function.
fn under_conditions(function: &ItemFn, items: TokenStream) -> TokenStream {
    let conditions: Vec<_> = function.attrs.iter().filter(|attr| attr.path().is_ident("cfg")).collect();
    match (conditions.is_empty(), syn::parse2::<syn::File>(items.clone())) {
        (false, Ok(syn::File { items, .. })) => items.iter().map(|item| quote!(#(#conditions)* #item)).collect(),
        _ => items,
    }
}

fn generate(function: &Function, diags: &mut Diags) -> Result<TokenStream, Reported> {
    let checked = check::run(function, diags)?;
    Ok(emit::items(&checked))
}
