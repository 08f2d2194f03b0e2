//! The items that replace a function: the marker type that names it, and its body as a function that takes a visitor.
//! `launcher`, `device` and `method` have what launches or calls it.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

use super::host::{HostBody, all_slots, methods_of_rust, private_api, slot_declarations};
use crate::model::barrier::{Barrier, BarrierForm};
use crate::model::ty::{Brand, ParamType};
use crate::model::{Function, GenericParam, Generics, Param, Role, ValueId};

/// Generics, as they are declared and as they are used.
pub(super) struct Declared {
    pub(super) declared: TokenStream,
    pub(super) used: TokenStream,
    pub(super) where_clause: TokenStream,
}

pub(super) fn declared(generics: &Generics) -> Declared {
    let declared = &generics.declared;
    let used = generics.params.iter().map(|param| match param {
        GenericParam::Type(ident) | GenericParam::Const(ident, _) => ident,
    });
    Declared { declared: quote!(#(#declared),*), used: quote!(#(#used),*), where_clause: generics.where_clause.clone() }
}

/// Returns an attribute that keeps the lints of the user's crate off generated items.
pub(super) fn unlinted() -> TokenStream {
    quote! {
        #[allow(
            clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction, missing_debug_implementations,
            missing_copy_implementations, reason = "made by an attribute"
        )]
    }
}

/// Makes `struct name`, beside the function `name` in the other namespace. Calls, launches and the text use it.
pub(super) fn marker(function: &Function) -> TokenStream {
    let Function { name, vis, attrs, .. } = function;
    let Declared { declared, used, where_clause } = declared(&function.generics);
    let params = &function.generics.params;
    let types = params.iter().filter_map(|param| match param {
        GenericParam::Type(ident) => Some(ident),
        GenericParam::Const(..) => None,
    });
    // The type parameters have defaults, so that the name alone is a type: its `Summary` is that of every instance.
    let defaults = params.iter().map(|param| match param {
        GenericParam::Type(ident) => quote!(#ident = ()),
        GenericParam::Const(ident, ty) if ty.to_string() == "bool" => quote!(const #ident: #ty = false),
        GenericParam::Const(ident, ty) => quote!(const #ident: #ty = 0),
    });
    let unbounded = params.iter().map(|param| match param {
        GenericParam::Type(ident) => quote!(#ident),
        GenericParam::Const(ident, ty) => quote!(const #ident: #ty),
    });
    let source = match function.role {
        Role::Kernel => quote! {
            impl<#declared> #name<#used> #where_clause {
                /// The CUDA C++ that this kernel becomes.
                ///
                /// # Errors
                /// If device functions call each other in a cycle.
                #[allow(dead_code, reason = "a kernel need not be printed")]
                #vis fn cuda_source() -> ::phalanx::Result<::std::string::String> {
                    ::phalanx::Program::of::<Self>().map(|program| ::std::borrow::ToOwned::to_owned(program.cuda_source()))
                }

                /// The arrivals at the cluster's barrier, each with the fence that was chosen for it and what keeps it from being
                /// weaker.
                ///
                /// # Errors
                /// If device functions call each other in a cycle.
                #[allow(dead_code, reason = "few ask for the fences")]
                #vis fn barriers() -> ::phalanx::Result<::std::vec::Vec<::phalanx::BarrierFence>> {
                    ::phalanx::Program::of::<Self>().map(|program| program.barriers().to_vec())
                }
            }
        },
        Role::Device | Role::Method => TokenStream::new(),
    };
    let unlinted = unlinted();
    // The span is the function's name, where rustc says "method defined here".
    quote_spanned! {name.span()=>
        #attrs
        #unlinted
        #[allow(non_camel_case_types, dead_code, reason = "named after the function, and nobody's value")]
        #vis struct #name<#(#defaults),*> {
            #[doc(hidden)]
            __phalanx_types: ::core::marker::PhantomData<fn() -> (#(#types,)*)>,
        }
        #source
        // The function has no bounds: rustc reports one that is not met at the call alone.
        #unlinted
        impl<#(#unbounded),*> #name<#used> {
            #[doc(hidden)]
            #[allow(dead_code, clippy::pedantic, reason = "kernels may be its only callers")]
            #[inline(always)]
            #vis fn __phalanx_marker() -> Self {
                #name { __phalanx_types: ::core::marker::PhantomData }
            }
        }
    }
}

/// Returns a parameter's type in the host body.
pub(super) fn host_type(function: &Function, param: &Param) -> TokenStream {
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
        ParamType::OptionalSlice { mutable, element } => {
            let element = &element.tokens;
            match mutable {
                true => quote!(::core::option::Option<::phalanx::__private::GlobalMut<'__phalanx, #element>>),
                false => quote!(::core::option::Option<::phalanx::__private::Global<'__phalanx, #element>>),
            }
        }
        ParamType::TensorMap { mutable, tile } => {
            let tile = &tile.tokens;
            match mutable {
                true => quote!(::phalanx::TensorMapMut<'__phalanx, #tile>),
                false => quote!(::phalanx::TensorMap<'__phalanx, #tile>),
            }
        }
        ParamType::Group(group) => {
            let group = format_ident!("{}", group.rust_name());
            quote!(&'__phalanx ::phalanx::#group)
        }
        ParamType::Tile { tokens, .. } => quote!(&'__phalanx ::phalanx::Tile<{ #tokens }>),
        // Slices are references already.
        ParamType::Memory { by_reference, tokens, memory, .. } => {
            let reference = (*by_reference && !memory.is_slice()).then(|| quote!(&'__phalanx));
            quote!(#reference #tokens)
        }
        ParamType::Barrier { barrier, length, brand } => barrier_type(function, *barrier, *length, brand.as_ref()),
        ParamType::Closure { index, .. } => {
            let closure = closure_name(*index);
            quote!(#closure)
        }
    }
}

fn barrier_type(function: &Function, barrier: Barrier, length: Option<ValueId>, brand: Option<&Brand>) -> TokenStream {
    let name = format_ident!("{}", barrier.rust_name());
    let brand = brand.map(|brand| match brand {
        Brand::Elided(index) => Brand::elided_name(*index).into_token_stream(),
        Brand::Written(brand) => brand.clone(),
    });
    match length.map(|length| &function.values[usize::from(length.0)].tokens) {
        Some(length) => quote!(&'__phalanx ::phalanx::#name<{ #length }, #brand>),
        None if barrier.form == BarrierForm::Remote => quote!(::phalanx::#name),
        None => quote!(&'__phalanx ::phalanx::#name<#brand>),
    }
}

/// Returns the type parameter that stands for a closure's type.
fn closure_name(index: usize) -> Ident {
    format_ident!("__PhalanxClosure{index}")
}

/// Returns `unsafe` for a function that switches off rules, which its caller promises to keep.
pub(super) fn unsafety(function: &Function) -> Option<TokenStream> {
    function.is_unsafe().then(|| quote!(unsafe))
}

/// Returns the type parameters for closures and for the brands of barriers.
pub(super) fn closures(function: &Function) -> Vec<TokenStream> {
    let closures = function.params.iter().filter_map(|param| match &param.ty {
        ParamType::Closure { index, inputs, output, calls } => {
            let (name, inputs) = (closure_name(*index), inputs.iter().map(|input| &input.tokens));
            let output = output.as_ref().map(|output| &output.tokens).map(|output| quote!(-> #output));
            let calls = format_ident!("{calls}");
            Some(quote!(#name: ::core::ops::#calls(#(#inputs),*) #output))
        }
        _ => None,
    });
    let brands = (0..function.brands).map(Brand::elided_name).map(|brand| quote!(#brand: ::phalanx::Brand));
    closures.chain(brands).collect()
}

/// Returns types for those parameters where only the text is needed: plain function pointers.
pub(super) fn closure_stand_ins(function: &Function) -> Vec<TokenStream> {
    let stand_ins = function.params.iter().filter_map(|param| match &param.ty {
        ParamType::Closure { inputs, output, .. } => {
            let inputs = inputs.iter().map(|input| &input.tokens);
            let output = output.as_ref().map(|output| &output.tokens).map(|output| quote!(-> #output));
            Some(quote!(fn(#(#inputs),*) #output))
        }
        _ => None,
    });
    let brands = (0..function.brands).map(|_| quote!(()));
    stand_ins.chain(brands).collect()
}

pub(super) fn name<'f>(function: &'f Function, param: &Param) -> &'f Ident {
    &function.local(param.local).name
}

pub(super) fn result(function: &Function) -> Option<TokenStream> {
    function.ret.as_ref().map(|ret| {
        let tokens = &ret.tokens;
        quote!(-> #tokens)
    })
}

/// Makes the body's first statement, `let (a, mut b) = arguments;`.
pub(super) fn bindings(function: &Function) -> TokenStream {
    let names = function.params.iter().map(|param| {
        let mutable = function.local(param.local).mutable.map(|at| quote_spanned!(at=> mut));
        let name = name(function, param);
        quote_spanned!(name.span()=> #mutable #name)
    });
    quote!(let (#(#names,)*) = __phalanx_arguments;)
}

/// Makes the function that passes the body to a visitor.
pub(super) fn body(function: &Function, body: HostBody) -> TokenStream {
    let HostBody { block, description } = body;
    let Declared { declared, used, where_clause } = declared(&function.generics);
    let Function { name: marker, lints, .. } = function;
    let types: Vec<TokenStream> = function.params.iter().map(|param| host_type(function, param)).collect();
    let closures = closures(function);
    let (declared_slots, slots) = (slot_declarations(&function.slots), all_slots(function.slots.len()));
    let (private_api, methods) = (private_api(), methods_of_rust(function));
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
            fn __phalanx_body<'__phalanx, __PhalanxVisitor, #(#closures),*>(__phalanx_visitor: __PhalanxVisitor) -> __PhalanxVisitor::Output
            where
                __PhalanxVisitor: ::phalanx::__private::Visitor<'__phalanx, (#(#types,)*), #ret>,
            {
                #private_api
                #methods
                __phalanx_visitor.visit(|__phalanx_arguments: (#(#types,)*)| {
                    #declared_slots
                    let __phalanx_result: #ret = #block;
                    (__phalanx_result, #slots)
                }, #description)
            }
        }
    }
}
