//! The function's text as data for the runtime: a static template, and the values that rustc evaluates for it.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};

use super::cuda::{Fragment, Text, has_collectives, launch_terms};
use super::headers::headers;
use super::host::internal;
use super::{constant, fences, followed, item, protocol, uniformity};
use crate::check::{Checked, previous};
use crate::model::capability;
use crate::model::options::{Extents, Setting};
use crate::model::{Function, Role, SiteMessage, SlotId, ValueId};
use crate::rules::Rule;
use crate::span::SpanRange;

pub(super) fn definition(function: &Function, text: &Text, checked: &Checked<'_>) -> TokenStream {
    let name = &function.title;
    let items: Vec<TokenStream> = function
        .items()
        .map(|item| quote!(#[allow(dead_code, unused_imports, reason = "not every user of the items needs all")] #item))
        .collect();
    let headers = headers(function, text);
    let (role, options) = match function.role {
        Role::Kernel => (quote!(Kernel), quote!(Self::__PHALANX_OPTIONS)),
        Role::Device | Role::Method => (quote!(Device), quote!(::phalanx::__private::KernelOptions::NONE)),
    };
    let [signature, body] = [&text.signature, &text.body].map(|text| in_scope(&quote!(Fragment::*), fragments(text)));
    let sites = function.sites.iter().map(|site| {
        let (line, column) = (site.at.line(), site.at.column());
        match &site.message {
            SiteMessage::None => quote!(Site::silent(#line, #column)),
            SiteMessage::Text(text) => quote!(Site::text(#line, #column, #text)),
            SiteMessage::Slot(SlotId(slot)) => quote!(Site::slot(#line, #column, #slot)),
        }
    });
    let sites = in_scope(&quote!(Site), sites.collect());
    let needs = capability::needs(function).into_iter().map(|(need, _)| constant::need(need));
    let (locals, constants, continued) = (&text.locals, &text.constants, text.continued);
    let collective = has_collectives(function);
    let launch = launch_terms(&text.at_launch, function);
    let converged = !Rule::CONVERGENCE.into_iter().any(|rule| function.waives(rule));
    let types = function.types.iter().map(|ty| quote!(<#ty as ::phalanx::__private::DeviceType>::info()));
    let values = function.values.iter().enumerate().map(|(index, constant)| {
        let tokens = &constant.tokens;
        // The span is the constant, where rustc reports a constant that the language does not support.
        let at = SpanRange::of(tokens).lo;
        let value = match constant.ty {
            Some(ty) => {
                let ty = quote::format_ident!("{ty}");
                quote!({ let __phalanx_value: ::core::primitive::#ty = #tokens; ::phalanx::__private::constant(&__phalanx_value) })
            }
            None if constant.in_pattern => quote_spanned!(at=> ::phalanx::__private::pattern_constant(&#tokens)),
            None => quote_spanned!(at=> ::phalanx::__private::constant(&#tokens)),
        };
        match checked.scattered().contains(&ValueId(index as u16)) {
            true => quote!(#value.scattered()),
            false => value,
        }
    });
    let values = values.chain(text.numbers.iter().map(|number| quote!(::phalanx::__private::number(#number))));
    let shared = function.shared.iter().map(|(ty, length)| {
        let length = &function.values[usize::from(length.0)].tokens;
        quote!(::phalanx::__private::SharedInfo::of::<[#ty; { #length }]>())
    });
    let stand_ins = item::closure_stand_ins(function);
    let item::Declared { declared, used, where_clause } = item::declared(&function.generics);
    let marker = &function.name;
    let (summary, summarised) = (uniformity::constants(checked, &items), summarised(function));
    let protocol = protocol::constants(checked, &items);
    let fences = fences::of(checked);
    let identity = followed::constant(function);
    // The span is the function's name, where rustc reports recursion.
    let summary = quote_spanned!(marker.span()=> #summarised { #summary #protocol #identity });
    quote! {
        #summary

        impl<#declared> ::phalanx::__private::Function for #marker<#used> #where_clause {
            fn definition() -> ::phalanx::__private::Definition {
                static __PHALANX_TEMPLATE: ::phalanx::__private::Template = ::phalanx::__private::Template {
                    name: #name,
                    module: ::core::module_path!(),
                    file: ::core::file!(),
                    role: ::phalanx::__private::Role::#role,
                    signature: #signature,
                    body: #body,
                    sites: #sites,
                    headers: &[#(#headers),*],
                    locals: &[#(#locals),*],
                    constants: &[#(#constants),*],
                    collective: #collective,
                    converged: #converged,
                    fences: #fences,
                    needs: &[#(#needs),*],
                    launch: #launch,
                    continued: #continued,
                };
                #(#items)*
                ::phalanx::__private::Definition {
                    template: &__PHALANX_TEMPLATE,
                    options: #options,
                    instance: ::core::any::type_name::<Self>(),
                    slots: Self::__phalanx_body::<::phalanx::__private::Describe, #(#stand_ins),*>(::phalanx::__private::Describe),
                    types: ::std::vec![#(#types),*],
                    values: ::std::vec![#(#values),*],
                    shared: ::std::vec![#(#shared),*],
                }
            }
        }
    }
}

/// Makes the definition of a function with errors, which has no text.
pub(super) fn stub(function: &Function) -> TokenStream {
    let item::Declared { declared, used, where_clause } = item::declared(&function.generics);
    let (marker, summarised) = (&function.name, summarised(function));
    // Nothing is required of its callers: the error is reported already.
    quote! {
        #summarised {}

        impl<#declared> ::phalanx::__private::Function for #marker<#used> #where_clause {
            fn definition() -> ::phalanx::__private::Definition { loop {} }
        }
    }
}

/// Starts the `impl` of a function's `Summary`. A function is named by its path, whose type parameters have defaults; a
/// method by the type that rustc infers, with all of its parameters.
fn summarised(function: &Function) -> TokenStream {
    let marker = &function.name;
    let item::Declared { declared, used, where_clause } = item::declared(&function.generics);
    let at = marker.span();
    match function.role {
        Role::Kernel | Role::Device => quote_spanned!(at=> impl ::phalanx::__private::Summary for #marker),
        Role::Method => {
            quote_spanned!(at=> impl<#declared> ::phalanx::__private::Summary for #marker<#used> #where_clause)
        }
    }
}

/// Makes a constant of the options that the attribute fixes. rustc evaluates it at once, unless it depends on generic
/// parameters.
pub(super) fn options(function: &Function) -> Option<TokenStream> {
    if function.role != Role::Kernel {
        return None;
    }
    let options = &function.options;
    // The span is the value, where rustc reports its errors.
    let set = |name: &str, at: SpanRange, arguments: TokenStream| {
        let (field, place) = (Ident::new(name, at.lo), internal("__phalanx", at));
        quote_spanned!(at.lo=> #place.#field = ::core::option::Option::Some(::phalanx::__private::#field(#arguments));)
    };
    let extents = |name: &str, extents: &Extents, more: TokenStream| {
        let each: Vec<TokenStream> = extents.each.iter().map(number).collect();
        let rest = std::iter::repeat_n(quote!(1), 3usize.saturating_sub(each.len()));
        let at = extents.each.first().map_or(extents.at, |first| first.at);
        set(name, at, quote!([#(#each,)* #(#rest),*] #more))
    };
    let (non_portable, fast_math, fmad) = (options.non_portable, options.fast_math, options.fmad);
    let profile = options.profile;
    let dynamic_shared = function.dynamic_shared;
    let early = previous::early_parameters(function);
    let cluster = options.cluster.iter().map(|cluster| extents("cluster", cluster, quote!(, #non_portable)));
    let block = options.block.iter().map(|block| extents("block", block, TokenStream::new()));
    let sized = |name: &'static str, setting: &Setting| {
        let value = number(setting);
        set(name, setting.at, quote!(#value, __phalanx.block))
    };
    let min_blocks = options.min_blocks.iter().map(|blocks| sized("min_blocks", blocks));
    let max_registers = options.max_registers.iter().map(|registers| sized("max_registers", registers));
    let shared_bytes = options.shared_bytes.iter().map(|bytes| set("shared_bytes", bytes.at, number(bytes)));
    let item::Declared { declared, used, where_clause } = item::declared(&function.generics);
    let marker = &function.name;
    let name = internal("__PHALANX_OPTIONS", SpanRange::of(marker));
    let constant = |value: TokenStream| quote!(const #name: ::phalanx::__private::KernelOptions = #value;);
    let value = quote!({
        let mut __phalanx = ::phalanx::__private::KernelOptions::NONE;
        #(#cluster)* #(#block)* #(#min_blocks)* #(#max_registers)* #(#shared_bytes)*
        __phalanx.non_portable = #non_portable;
        __phalanx.fast_math = #fast_math;
        __phalanx.fmad = #fmad;
        __phalanx.profile = #profile;
        __phalanx.dynamic_shared = #dynamic_shared;
        __phalanx.early = &[#(#early),*];
        __phalanx
    });
    let allow = quote!(#[allow(clippy::all, reason = "a value that may be a constant")]);
    let own = |constant: TokenStream| quote!(impl<#declared> #marker<#used> #where_clause { #allow #constant });
    // rustc evaluates a free constant at once, and an associated one where it is used: that of a generic kernel with
    // the kernel's instances.
    Some(match function.generics.params.is_empty() {
        true => {
            let (first, second) = (constant(value), own(constant(quote!(#name))));
            quote!(const _: () = { #allow #first #second };)
        }
        false => own(constant(value)),
    })
}

/// Prints a number of any integer type; `as` alone would accept other types.
fn number(setting: &Setting) -> TokenStream {
    let value = &setting.tokens;
    quote_spanned!(setting.at.lo=> ::phalanx::__private::whole(#value) as i128)
}

/// Makes a reference to a list of values by short names, which must not stand beside the user's: a long body has thousands of
/// them, and the time of a path is that of its words.
fn in_scope(names: &TokenStream, values: Vec<TokenStream>) -> TokenStream {
    match values.is_empty() {
        true => quote!(&[]),
        false => quote!({
            #[allow(clippy::pedantic, reason = "a glob of variants")]
            use ::phalanx::__private::#names;
            &[#(#values),*]
        }),
    }
}

/// Makes the fragments, by the names of their variants.
fn fragments(fragments: &[Fragment]) -> Vec<TokenStream> {
    let fragment = |fragment: &Fragment| match fragment {
        Fragment::Text(text) => quote!(Text(#text)),
        Fragment::Line(line) => quote!(Line(#line)),
        Fragment::Type(slot) => {
            let slot = slot.0;
            quote!(Type(#slot))
        }
        Fragment::Literal { slot, digits } => {
            let slot = slot.0;
            quote!(Literal { slot: #slot, digits: #digits })
        }
        Fragment::Named(id) => {
            let id = id.0;
            quote!(Named(#id))
        }
        Fragment::Declare(id) => {
            let id = id.0;
            quote!(Declare(#id))
        }
        Fragment::Constant(id) => {
            let id = id.0;
            quote!(Constant(#id))
        }
        Fragment::Struct { slot, variant, fields, base } => {
            let slot = slot.0;
            let fields = fields.iter().map(|(name, value)| {
                let value = self::fragments(value);
                quote!((#name, &[#(#value),*]))
            });
            let base = match base {
                Some(base) => {
                    let base = self::fragments(base);
                    quote!(::core::option::Option::Some(&[#(#base),*]))
                }
                None => quote!(::core::option::Option::None),
            };
            quote!(Struct { slot: #slot, variant: #variant, fields: &[#(#fields),*], base: #base })
        }
        Fragment::Shared { index, ty, name } => {
            let ty = self::fragments(ty);
            quote!(Shared { index: #index, ty: &[#(#ty),*], name: #name })
        }
        Fragment::Digits(id) => {
            let id = id.0;
            quote!(Digits(#id))
        }
        Fragment::Callee(slot) => {
            let slot = slot.0;
            quote!(Callee(#slot))
        }
        Fragment::Operation { callee, symbol, operands, site } => {
            let operands = operands.iter().map(|operand| {
                let operand = self::fragments(operand);
                quote!(&[#(#operand),*])
            });
            let site = match site {
                Some(site) => {
                    let site = site.0;
                    quote!(::core::option::Option::Some(#site))
                }
                None => quote!(::core::option::Option::None),
            };
            let callee = callee.0;
            quote!(Operation { callee: #callee, symbol: (#symbol, #site), operands: &[#(#operands),*] })
        }
        Fragment::Alone { callees, text } => {
            let callees = callees.iter().map(|slot| slot.0);
            let text = self::fragments(text);
            quote!(Alone { callees: &[#(#callees),*], text: &[#(#text),*] })
        }
        Fragment::Within { of, text } => {
            let (number, least, most) = (of.number.0, of.least, of.most);
            let text = self::fragments(text);
            quote!(Within { number: #number, least: #least, most: #most, text: &[#(#text),*] })
        }
        Fragment::Operator { text } => {
            let text = self::fragments(text);
            quote!(Operator { text: &[#(#text),*] })
        }
        Fragment::Then { callee, has_arguments, inside } => {
            let (callee, inside) = (callee.0, inside.iter().map(|slot| slot.0));
            quote!(Then { callee: #callee, has_arguments: #has_arguments, inside: &[#(#inside),*] })
        }
        Fragment::Name => quote!(Name),
        Fragment::Bounds => quote!(Bounds),
        Fragment::Prologue { known, has_wide, has_arrays } => {
            quote!(Prologue { known: #known, has_wide: #has_wide, has_arrays: #has_arrays })
        }
        Fragment::Fence(index) => quote!(Fence(#index)),
        Fragment::LaunchCheck(index) => quote!(LaunchCheck(#index)),
        Fragment::AtLaunch { checks, text } => {
            let text = self::fragments(text);
            quote!(AtLaunch(&[#(#checks),*], &[#(#text),*]))
        }
        Fragment::Site(site) => {
            let site = site.0;
            quote!(Site(#site))
        }
    };
    fragments.iter().map(fragment).collect()
}
