//! Generates the items of a checked function. It takes a [`Checked`] only, which only `check` makes.

mod callee;
mod constant;
mod conversion;
mod cuda;
mod device;
mod fences;
pub(crate) mod followed;
mod headers;
mod host;
mod instances;
mod item;
mod launcher;
mod method;
mod operator;
mod protocol;
mod rings;
mod template;
mod uniformity;

use proc_macro2::TokenStream;
use quote::quote;

use crate::check::Checked;
use crate::model::{Function, Implementation, Method, Role};

/// Makes the items that replace the function.
pub(crate) fn items(checked: &Checked<'_>) -> TokenStream {
    let function = checked.function();
    let text = text(checked);
    let entry = match function.role {
        Role::Kernel => launcher::launcher(function),
        Role::Device | Role::Method => device::function(function, true),
    };
    quote!(#text #entry)
}

/// Makes the marker, the body and its text.
fn text(checked: &Checked<'_>) -> TokenStream {
    let function = checked.function();
    let marker = item::marker(function);
    let broken = checked.broken().iter().map(|broken| host::one_collective(function, broken));
    let bindings = item::bindings(function);
    let checks = uniformity::checks(checked);
    let (protocol, rings) = (protocol::checks(checked), rings::checks(checked));
    let instances = instances::checks(checked);
    let memory = operator::memory_checks(function);
    let start = quote!(#(#broken)* #bindings #checks #protocol #rings #instances #memory);
    let body = item::body(function, host::body(checked, &start));
    let options = template::options(function);
    let definition = template::definition(function, &cuda::text(checked), checked);
    let rings = rings::list(checked);
    let hidden = followed::hidden(function);
    quote!(#marker #hidden #rings #body #options #definition)
}

/// Makes the signature alone, so that call sites still resolve after an error and rustc reports nothing more.
pub(crate) fn stub(function: &Function) -> TokenStream {
    let text = text_stub(function);
    let entry = match function.role {
        Role::Kernel => launcher::stub(function),
        Role::Device | Role::Method => device::function(function, false),
    };
    quote!(#text #entry)
}

fn text_stub(function: &Function) -> TokenStream {
    let (marker, definition, rings) = (item::marker(function), template::stub(function), rings::stub(function));
    let hidden = followed::hidden(function);
    quote!(#marker #hidden #rings #definition)
}

/// Makes the items of `#[device] impl`: each method comes with its check, or with nothing if it has errors.
pub(crate) fn implementation(
    implementation: &Implementation,
    methods: &[(&Method, Option<Checked<'_>>)],
) -> TokenStream {
    let texts = methods.iter().map(|(method, checked)| match checked {
        Some(checked) => text(checked),
        None => text_stub(&method.function),
    });
    let Implementation { head, others, operator, inherent, conversion, .. } = implementation;
    let members = methods.iter().map(|(method, checked)| match (operator, inherent, conversion) {
        (None, None, None) => method::members(method, checked.is_some()),
        _ => method::plain_member(method, checked.is_some()),
    });
    let inherent = inherent.iter().map(|head| {
        let entries = methods.iter().map(|(method, checked)| method::entry_member(method, checked.is_some()));
        quote!(#head { #(#entries)* })
    });
    let operators = operator
        .iter()
        .flat_map(|of| methods.iter().map(|(method, checked)| operator::implementation(of, method, checked.is_some())));
    let conversions = conversion.iter().flat_map(|of| {
        methods.iter().map(|(method, checked)| conversion::implementation(of, method, checked.is_some()))
    });
    quote!(#(#texts)* #head { #(#others)* #(#members)* } #(#inherent)* #(#operators)* #(#conversions)*)
}

/// Makes the items of `#[device] trait`.
pub(crate) fn declaration(declaration: &Implementation) -> TokenStream {
    let Implementation { head, others, methods, .. } = declaration;
    let methods = methods.iter().map(method::declaration);
    quote!(#head { #(#others)* #(#methods)* })
}
