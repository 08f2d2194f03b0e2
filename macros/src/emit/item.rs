//! The items around a body: the marker type that names the function among types, the launcher of a kernel, the plain
//! function of a device function.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::host::slots_declaration;
use crate::model::ty::ParamType;
use crate::model::{Function, GenericParam, Param, Role};

/// The user's generics, as they are declared and as they are used.
pub(super) struct Generics {
    pub(super) declared: TokenStream,
    pub(super) used: TokenStream,
    pub(super) where_clause: TokenStream,
}

pub(super) fn generics(function: &Function) -> Generics {
    let generics = &function.generics;
    let declared = &generics.declared;
    let used = generics.params.iter().map(|param| match param {
        GenericParam::Type(ident) | GenericParam::Const(ident) => ident,
    });
    Generics { declared: quote!(#(#declared),*), used: quote!(#(#used),*), where_clause: generics.where_clause.clone() }
}

/// `struct name`: beside the function `name` in the other namespace. Calls, launches and the text go through it.
pub(super) fn marker(function: &Function) -> TokenStream {
    let Function { name, vis, attrs, .. } = function;
    let Generics { declared, used, where_clause } = generics(function);
    let types = function.generics.params.iter().filter_map(|param| match param {
        GenericParam::Type(ident) => Some(ident),
        GenericParam::Const(_) => None,
    });
    let source = match function.role {
        Role::Kernel(_) => quote! {
            /// The CUDA C++ that this kernel becomes.
            ///
            /// # Errors
            /// If device functions call each other in a circle.
            #[allow(dead_code, reason = "a kernel need not be printed")]
            #vis fn cuda_source() -> ::phalanx::Result<::std::string::String> {
                ::phalanx::Program::of::<Self>().map(|program| program.cuda_source().into())
            }
        },
        Role::Device => TokenStream::new(),
    };
    quote! {
        #attrs
        #[allow(non_camel_case_types, dead_code, reason = "named after the function")]
        #vis struct #name<#declared> #where_clause {
            #[doc(hidden)]
            __phalanx_types: ::core::marker::PhantomData<fn() -> (#(#types,)*)>,
        }
        impl<#declared> #name<#used> #where_clause {
            #source
        }
    }
}

/// A parameter's type in the host body.
fn host_type(param: &Param) -> TokenStream {
    match &param.ty {
        ParamType::Value(value) => value.tokens.clone(),
        ParamType::Reference { mutable, target } => {
            let (mutable, target) = (mutable.then(|| quote!(mut)), &target.tokens);
            quote!(&'__phalanx #mutable #target)
        }
        ParamType::Slice { mutable, element } => {
            let element = &element.tokens;
            match mutable {
                true => quote!(::phalanx::__private::GlobalMut<'__phalanx, #element>),
                false => quote!(::phalanx::__private::Global<'__phalanx, #element>),
            }
        }
        ParamType::Group(group) => {
            let group = format_ident!("{}", group.rust_name());
            quote!(&'__phalanx ::phalanx::#group)
        }
        ParamType::Memory { by_reference, tokens, .. } => {
            let reference = by_reference.then(|| quote!(&'__phalanx));
            quote!(#reference #tokens)
        }
    }
}

/// The lifetime of reference parameters, where there are any.
fn lifetime(function: &Function) -> Option<TokenStream> {
    let refers =
        |param: &Param| !matches!(param.ty, ParamType::Value(_) | ParamType::Memory { by_reference: false, .. });
    function.params.iter().any(refers).then(|| quote!(<'__phalanx>))
}

fn name<'f>(function: &'f Function, param: &Param) -> &'f Ident {
    &function.local(param.local).name
}

/// `let (a, mut b) = arguments;`, the body's first statement.
pub(super) fn bindings(function: &Function) -> TokenStream {
    let names = function.params.iter().map(|param| {
        let mutable = function.local(param.local).mutable.then(|| quote!(mut));
        let name = name(function, param);
        quote_spanned!(name.span()=> #mutable #name)
    });
    quote!(let (#(#names,)*) = __phalanx_arguments;)
}

/// The function that hands the body to a visitor.
pub(super) fn body(function: &Function, statements: TokenStream) -> TokenStream {
    let Generics { declared, used, where_clause } = generics(function);
    let Function { name: marker, lints, .. } = function;
    let types: Vec<TokenStream> = function.params.iter().map(host_type).collect();
    let slots = slots_declaration(&function.slots);
    let ret = match &function.ret {
        Some(ret) => ret.tokens.clone(),
        None => quote!(()),
    };
    quote! {
        impl<#declared> #marker<#used> #where_clause {
            #[doc(hidden)]
            #[allow(
                unused_labels, unused_parens, unused_braces, unused_unsafe, unused_assignments, unreachable_code,
                clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction,
                reason = "this is the user's code in another shape; lints see the shape"
            )]
            #lints
            #[inline(always)]
            fn __phalanx_body<'__phalanx, __PhalanxVisitor>(visitor: __PhalanxVisitor) -> __PhalanxVisitor::Output
            where
                __PhalanxVisitor: ::phalanx::__private::Visitor<'__phalanx, (#(#types,)*), #ret>,
            {
                visitor.visit(|__phalanx_arguments: (#(#types,)*)| {
                    let __phalanx_slots = #slots;
                    let __phalanx_result: #ret = #statements;
                    (__phalanx_result, __phalanx_slots)
                })
            }
        }
    }
}

/// The parts that the launcher and its stub share.
fn launcher_signature(function: &Function) -> TokenStream {
    let Function { name: kernel, vis, attrs, .. } = function;
    let Generics { declared, where_clause, .. } = generics(function);
    let params = function.params.iter().map(|param| {
        let name = name(function, param);
        let ty = match &param.ty {
            ParamType::Slice { mutable, element } => {
                let (mutable, element) = (mutable.then(|| quote!(mut)), &element.tokens);
                quote!(&'__phalanx #mutable ::phalanx::Buffer<#element>)
            }
            ParamType::Value(value) | ParamType::Reference { target: value, .. } => value.tokens.clone(),
            ParamType::Group(_) | ParamType::Memory { .. } => quote!(()),
        };
        quote!(#name: #ty)
    });
    quote! {
        #attrs
        #[allow(clippy::too_many_arguments, reason = "as many as the kernel has")]
        #vis fn #kernel<'__phalanx, #declared>(#(#params),*) -> ::phalanx::Launch<'__phalanx> #where_clause
    }
}

pub(super) fn launcher(function: &Function) -> TokenStream {
    let signature = launcher_signature(function);
    let marker = &function.name;
    let Generics { used, .. } = generics(function);
    let arguments = function.params.iter().map(|param| {
        let name = name(function, param);
        match &param.ty {
            ParamType::Slice { mutable: true, .. } => quote!(.slice_mut(#name)),
            ParamType::Slice { mutable: false, .. } => quote!(.slice(#name)),
            _ => quote!(.scalar(#name)),
        }
    });
    let views = function.params.iter().map(|param| {
        let name = name(function, param);
        match &param.ty {
            ParamType::Slice { mutable: true, .. } => quote!(::phalanx::__private::global_mut(#name)),
            ParamType::Slice { mutable: false, .. } => quote!(::phalanx::__private::global(#name)),
            _ => quote!(#name),
        }
    });
    quote! {
        #signature {
            let arguments = ::phalanx::__private::Arguments::new() #(#arguments)*;
            let threads = #marker::<#used>::__phalanx_body(::phalanx::__private::Threads((#(#views,)*)));
            ::phalanx::Launch::new::<#marker<#used>>(arguments, threads)
        }
    }
}

/// How bodies call a device function, and, where it takes nothing but values, how host code does.
pub(super) fn device_function(function: &Function) -> TokenStream {
    let entry = device_entry(function, true);
    let plain = plain_function(function, true);
    quote!(#entry #plain)
}

fn result(function: &Function) -> Option<TokenStream> {
    function.ret.as_ref().map(|ret| {
        let tokens = &ret.tokens;
        quote!(-> #tokens)
    })
}

fn device_entry(function: &Function, real: bool) -> TokenStream {
    let marker = &function.name;
    let vis = &function.vis;
    let ret = result(function);
    let params = function.params.iter().map(|param| {
        let name = name(function, param);
        let ty = match &param.ty {
            // A `&mut [T]` can be lent as a `&[T]`.
            ParamType::Slice { mutable: false, element } => {
                let element = &element.tokens;
                quote!(impl ::core::convert::Into<::phalanx::__private::Global<'__phalanx, #element>>)
            }
            _ => host_type(param),
        };
        quote_spanned!(name.span()=> #name: #ty)
    });
    let arguments = function.params.iter().map(|param| {
        let name = name(function, param);
        match &param.ty {
            ParamType::Slice { mutable: false, .. } => quote!(#name.into()),
            _ => quote!(#name),
        }
    });
    let lifetime = lifetime(function);
    let Generics { declared, used, where_clause } = generics(function);
    let (own, call) = match real {
        true => (
            quote!(#marker { __phalanx_types: ::core::marker::PhantomData }),
            quote!(Self::__phalanx_body(::phalanx::__private::Call((#(#arguments,)*)))),
        ),
        false => (quote!(loop {}), quote!(loop {})),
    };
    // At the function's name, where rustc points at it: "method defined here".
    quote_spanned! {marker.span()=>
        impl<#declared> ::phalanx::__private::DeviceFunction for #marker<#used> #where_clause {
            type Marker = Self;
            #[inline(always)]
            fn marker() -> Self { #own }
        }

        impl<#declared> #marker<#used> #where_clause {
            #[doc(hidden)]
            #[allow(clippy::too_many_arguments, unused_variables, reason = "as many as the function has")]
            #[inline(always)]
            #vis fn call #lifetime(self, #(#params),*) #ret { #call }
        }
    }
}

fn plain_function(function: &Function, real: bool) -> Option<TokenStream> {
    let values = function.params.iter().all(|param| match &param.ty {
        ParamType::Value(_) | ParamType::Reference { .. } => true,
        ParamType::Slice { .. } | ParamType::Group(_) | ParamType::Memory { .. } => false,
    });
    if !values {
        return None;
    }
    let Function { name: marker, vis, attrs, .. } = function;
    let ret = result(function);
    let params = function.params.iter().map(|param| {
        let (name, ty) = (name(function, param), host_type(param));
        quote!(#name: #ty)
    });
    let arguments = function.params.iter().map(|param| name(function, param));
    let lifetime = lifetime(function);
    let body = match real {
        true => quote!(#marker::__phalanx_body(::phalanx::__private::Call((#(#arguments,)*)))),
        false => quote!(loop {}),
    };
    Some(quote! {
        #attrs
        #[allow(dead_code, unused_variables, clippy::too_many_arguments, reason = "kernels may be its only callers")]
        #vis fn #marker #lifetime(#(#params),*) #ret { #body }
    })
}

pub(super) fn stub(function: &Function) -> TokenStream {
    let marker = marker(function);
    let Generics { declared, used, where_clause } = generics(function);
    let ident = &function.name;
    let definition = quote! {
        impl<#declared> ::phalanx::__private::Function for #ident<#used> #where_clause {
            const COLLECTIVES: u8 = 0;
            fn definition() -> ::phalanx::__private::Definition { loop {} }
        }
    };
    let door = match function.role {
        Role::Kernel(_) => {
            let signature = launcher_signature(function);
            quote!(#[allow(unused_variables, reason = "a stub")] #signature { loop {} })
        }
        Role::Device => {
            let entry = device_entry(function, false);
            let plain = plain_function(function, false);
            quote!(#entry #plain)
        }
    };
    quote!(#marker #definition #door)
}
