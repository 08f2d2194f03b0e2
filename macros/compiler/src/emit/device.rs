//! Calls of a device function: from bodies through its marker, and, if all of its parameters are values, from host code
//! as the function that it looks like.

#![warn(clippy::wildcard_enum_match_arm)]

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::item::{Declared, closures, declared, host_type, name, result, unlinted, unsafety};
use crate::model::barrier::BarrierForm;
use crate::model::expr::{Callee, ExprKind};
use crate::model::kind::{Kind, Memory};
use crate::model::op::Op;
use crate::model::ty::ParamType;
use crate::model::walk::walk_block;
use crate::model::{Function, Param, Role};

/// Makes the function that callers name. `real` is false in the stub of a function with errors.
pub(super) fn function(function: &Function, real: bool) -> TokenStream {
    let entry = entry(function, real);
    let plain = plain_function(function, real);
    quote!(#entry #plain)
}

/// Returns the generics of a function that stands for this one: the lifetime of reference parameters if there are any,
/// `declared`, and the types of closures.
pub(super) fn call_generics(function: &Function, declared: &[TokenStream]) -> TokenStream {
    let refers = |param: &Param| match &param.ty {
        ParamType::Value(_) | ParamType::Memory { by_reference: false, .. } | ParamType::Closure { .. } => false,
        ParamType::Barrier { barrier, .. } => barrier.form != BarrierForm::Remote,
        ParamType::Reference { .. }
        | ParamType::Slice { .. }
        | ParamType::OptionalSlice { .. }
        | ParamType::Group(_)
        | ParamType::Tile { .. }
        | ParamType::TensorMap { .. }
        | ParamType::Memory { by_reference: true, .. } => true,
    };
    let lifetime = function.params.iter().any(refers).then(|| quote!('__phalanx));
    let all = lifetime.into_iter().chain(declared.iter().cloned()).chain(closures(function));
    quote!(#(#all),*)
}

/// Returns a parameter of the entry that bodies call, and the expression that passes it on.
pub(super) fn entry_param(function: &Function, param: &Param) -> (TokenStream, TokenStream) {
    let name = name(function, param);
    match &param.ty {
        // A `&mut [T]` can be reborrowed as a `&[T]`.
        ParamType::Slice { mutable: false, element } => {
            let element = &element.tokens;
            let lent = if reads_as_memory(function) { quote!(LentMemory) } else { quote!(Lent) };
            let ty = quote!(impl ::phalanx::__private::#lent<'__phalanx, #element>);
            let marker = marker_of(function);
            (quote_spanned!(name.span()=> #name: #ty), quote!(::phalanx::__private::lend::<#marker, _, _>(#name)))
        }
        ParamType::Slice { mutable: true, element } => {
            let element = &element.tokens;
            let lent = if reads_as_memory(function) { quote!(LentMutMemory) } else { quote!(LentMut) };
            let ty = quote!(impl ::phalanx::__private::#lent<'__phalanx, #element>);
            let marker = marker_of(function);
            (quote_spanned!(name.span()=> #name: #ty), quote!(::phalanx::__private::lend_mut::<#marker, _, _>(#name)))
        }
        // An array can be borrowed as a slice.
        ParamType::Memory { memory, tokens, .. } if memory.is_slice() => (
            quote_spanned!(name.span()=> #name: impl ::core::convert::Into<#tokens>),
            quote!(::core::convert::Into::into(#name)),
        ),
        ParamType::Memory { .. }
        | ParamType::Value(_)
        | ParamType::Reference { .. }
        | ParamType::OptionalSlice { .. }
        | ParamType::Group(_)
        | ParamType::Tile { .. }
        | ParamType::TensorMap { .. }
        | ParamType::Barrier { .. }
        | ParamType::Closure { .. } => {
            let ty = host_type(function, param);
            (quote_spanned!(name.span()=> #name: #ty), quote!(#name))
        }
    }
}

/// The marker whose summary says what the function does with memory. That of a function is the same for all instances, and is that of the
/// defaults of its marker's parameters; methods have one for each.
fn marker_of(function: &Function) -> TokenStream {
    let (marker, used) = (&function.name, declared(&function.generics).used);
    match function.role {
        Role::Method if !used.is_empty() => quote!(#marker<#used>),
        Role::Method | Role::Device | Role::Kernel => quote!(#marker),
    }
}

/// Makes the constants by which a function says whether it, or a function that it passes memory to, does with memory what needs more than its
/// elements, and whether a method is given memory that it may change.
pub(super) fn needs_memory(function: &Function) -> TokenStream {
    let (own, mut changed_by_method) = (has_memory_operations(function), false);
    let (mut needs, mut changes) = (Vec::new(), Vec::new());
    walk_block(&function.body, &mut |expr| {
        let ExprKind::Call { callee, arguments, .. } = &expr.kind else { return };
        let slices =
            || arguments.iter().filter(|of| matches!(of.result_kind, Kind::Memory(memory) if memory.is_slice()));
        match callee {
            Callee::Function(path) if slices().next().is_some() => {
                needs.push(super::callee::summary(path, "NEEDS_MEMORY"));
                changes.push(super::callee::summary(path, "CHANGED_BY_METHOD"));
            }
            // Which method it is, the text does not show.
            Callee::Method(..) | Callee::Associated(..) => {
                changed_by_method |= slices().any(|of| of.result_kind == Kind::Memory(Memory::GlobalMut));
            }
            Callee::Function(_) | Callee::Operator(_) => {}
        }
    });
    quote! {
        const NEEDS_MEMORY: bool = #own #(|| #needs)*;
        const CHANGED_BY_METHOD: bool = #changed_by_method #(|| #changes)*;
    }
}

/// Whether a function does with memory what needs more than its elements: the hardware has no such access to a thread's own array.
fn reads_as_memory(function: &Function) -> bool {
    // A method of a trait has one signature, whatever its bodies do.
    function.role != Role::Method && has_memory_operations(function)
}

fn has_memory_operations(function: &Function) -> bool {
    let mut found = false;
    walk_block(&function.body, &mut |expr| {
        found |= matches!(
            expr.kind,
            ExprKind::Op { op: Op::Copy(_) | Op::LoadVec(_) | Op::LoadMatrix { .. } | Op::Atomic(_), .. }
        );
    });
    found
}

fn entry(function: &Function, real: bool) -> TokenStream {
    let Function { name: marker, vis, .. } = function;
    let ret = result(function);
    let (params, arguments): (Vec<_>, Vec<_>) =
        function.params.iter().map(|param| entry_param(function, param)).unzip();
    let (generics, unsafety) = (call_generics(function, &[]), unsafety(function));
    let Declared { declared, used, where_clause } = declared(&function.generics);
    let call = match real {
        true => quote!(Self::__phalanx_body(::phalanx::__private::Call::new((#(#arguments,)*)))),
        false => quote!(loop {}),
    };
    let unlinted = unlinted();
    // The span is the function's name, where rustc says "method defined here".
    quote_spanned! {marker.span()=>
        #unlinted
        impl<#declared> ::phalanx::__private::DeviceFunction for #marker<#used> #where_clause {
            type Marker = Self;
            #[allow(clippy::inline_always, reason = "debug builds would pay for each call")]
            #[inline(always)]
            fn marker(self) -> Self { self }
        }

        #unlinted
        impl<#declared> #marker<#used> #where_clause {
            #[doc(hidden)]
            #[allow(
                clippy::too_many_arguments, clippy::pedantic, unused_variables, dead_code,
                reason = "as many as the function has"
            )]
            #[inline(always)]
            #[track_caller]
            #vis #unsafety fn call<#generics>(self, #(#params),*) #ret { #call }
        }
    }
}

fn plain_function(function: &Function, real: bool) -> Option<TokenStream> {
    if !function.takes_values() {
        return None;
    }
    let Function { name: marker, vis, attrs, .. } = function;
    let ret = result(function);
    let params = function.params.iter().map(|param| {
        let (name, ty) = (name(function, param), host_type(function, param));
        quote!(#name: #ty)
    });
    let arguments = function.params.iter().map(|param| name(function, param));
    let (generics, unsafety) = (call_generics(function, &function.generics.declared), unsafety(function));
    let Declared { used, where_clause, .. } = declared(&function.generics);
    let lints = quote!(#[allow(dead_code, unused_variables, clippy::too_many_arguments, clippy::pedantic, reason = "kernels may be its only callers")]);
    // In a constant there is no call to make: rustc evaluates what the user wrote.
    if let Some(written) = &function.constant {
        return Some(quote!(#attrs #lints #vis #written));
    }
    let body = match real {
        true => quote!(#marker::<#used>::__phalanx_body(::phalanx::__private::Call::new((#(#arguments,)*)))),
        false => quote!(loop {}),
    };
    Some(quote! {
        #attrs
        #lints
        #vis #unsafety fn #marker<#generics>(#(#params),*) #ret #where_clause { #body }
    })
}
