//! The faults of rings that a kernel has if constants have certain values, or if the functions that it calls are those whose bodies
//! were read in its file: rustc confirms both. And the list of the kernel's rings, with what is known of each under the same conditions.

#![warn(clippy::wildcard_enum_match_arm)]

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

use super::{callee, constant, item};
use crate::check::Checked;
use crate::check::rings::{Assumed, Case, Known};
use crate::model::{Function, Role};
use crate::span::SpanRange;

/// Why nothing is known of a kernel's rings, where no case holds.
const OTHER_CONSTANTS: &str = "its constants are other ones than those that were tried";

/// Makes the checks of the kernel's constants, at the spans of the faults.
pub(super) fn checks(checked: &Checked<'_>) -> TokenStream {
    let function = checked.function();
    let checks = cases(checked).filter_map(|(case, condition)| {
        let fault = match &case.known {
            Known::Faulty(fault) => fault.as_ref()?,
            Known::Proved { .. } | Known::Open(_) => return None,
        };
        let (span, message) = (fault.at.lo, fault.text());
        let condition = self::condition(case, condition.as_ref(), span);
        let refuse = quote_spanned!(span=> ::phalanx::__private::contract::constant::refuse(#message));
        let block = quote_spanned!(span=> { if #condition { #refuse } });
        Some(constant::evaluated(function, &condition, &block, span))
    });
    checks.collect()
}

/// The cases of a kernel's rings, those last that hold if the called functions are the ones that were read.
fn cases<'c>(checked: &'c Checked<'_>) -> impl Iterator<Item = (&'c Case, Option<TokenStream>)> {
    let followed = checked.rings_if();
    let own = checked.rings().cases.iter().map(move |case| {
        // What those do is known better then.
        let unless = followed.filter(|_| case.takes_for_quiet());
        (case, unless.map(|(_, condition)| quote!(!(#condition))))
    });
    let of_bodies = followed.into_iter();
    own.chain(of_bodies.flat_map(|(rings, condition)| rings.cases.iter().map(|case| (case, Some(condition.clone())))))
}

/// What has to hold for a case.
fn condition(case: &Case, followed: Option<&TokenStream>, span: Span) -> TokenStream {
    let each = case.assumed.iter().map(|assumed| match assumed {
        Assumed::Constant(constant, value) => {
            let value = i128::from(*value);
            quote_spanned!(span=> (#constant) as i128 == #value)
        }
        // The constant of our type comes before the one that the trait gives all others.
        Assumed::Pipeline(ty) => quote_spanned!(span=> {
            #[allow(unused_imports, reason = "our type does not need it")]
            use ::phalanx::__private::OtherPipeline as _;
            <#ty>::IS_OURS
        }),
        Assumed::Quiet { function, has_memory } => {
            let (uniformity, protocol) = (callee::summary(function, "UNIFORMITY"), callee::summary(function, "PROTOCOL"));
            let needs_memory = has_memory.then(|| callee::summary(function, "NEEDS_MEMORY")).into_iter();
            quote_spanned!(span=> (#uniformity.collectives.is_empty() && !#protocol.names_memory() #(&& !#needs_memory)*))
        }
    });
    let each = followed.cloned().into_iter().chain(each);
    quote_spanned!(span=> #(#each)&&*)
}

/// Makes the method that lists a kernel's rings.
pub(super) fn list(checked: &Checked<'_>) -> TokenStream {
    let function = checked.function();
    if function.role != Role::Kernel {
        return TokenStream::new();
    }
    let span = function.name.span();
    // What is known with the bodies of functions is known of more.
    let is_followed = |(case, followed): &(&Case, Option<TokenStream>)| followed.is_some() && !case.takes_for_quiet();
    let (followed, own): (Vec<_>, Vec<_>) = cases(checked).partition(is_followed);
    let cases = followed.into_iter().chain(own).filter_map(|(case, followed)| {
        let verdict = match &case.known {
            Known::Proved { arrays, .. } => {
                let mut arrays = arrays.clone();
                arrays.sort_unstable();
                arrays.dedup();
                quote!(Proved { arrays: ::std::vec![#(#arrays),*] })
            }
            Known::Open(refusal) => {
                let (line, reason) = (refusal.at.line(), &refusal.why);
                quote!(NotProved { line: #line, reason: #reason })
            }
            Known::Faulty(None) => quote!(Unchecked),
            // rustc reports it.
            Known::Faulty(Some(_)) => return None,
        };
        let condition = condition(case, followed.as_ref(), span);
        let condition = if condition.is_empty() { quote!(true) } else { condition };
        Some(quote_spanned!(span=> if #condition { return __phalanx_rings(::phalanx::RingVerdict::#verdict); }))
    });
    let rings = &checked.rings().barriers;
    let names = rings.iter().map(|(name, at)| {
        let (line, column) = (at.line(), at.column());
        quote!((#name, #line, #column))
    });
    let (line, reason) = (SpanRange::at(span).line(), OTHER_CONSTANTS);
    let items = function.items();
    let list = match rings.is_empty() {
        true => quote!(::std::vec::Vec::new()),
        false => quote_spanned! {span=>
            #(#items)*
            let __phalanx_rings = |verdict: ::phalanx::RingVerdict| {
                ::phalanx::__private::rings(::core::file!(), &[#(#names),*], &verdict)
            };
            #(#cases)*
            __phalanx_rings(::phalanx::RingVerdict::NotProved { line: #line, reason: #reason })
        },
    };
    let vis = &function.vis;
    let item::Declared { declared, used, where_clause } = item::declared(&function.generics);
    let (marker, unlinted) = (&function.name, item::unlinted());
    quote_spanned! {span=>
        #unlinted
        impl<#declared> #marker<#used> #where_clause {
            /// The phase barriers of the kernel, each with whether its ring is proved for every number of rounds, or why it is not.
            #[allow(dead_code, unused_imports, unreachable_code, reason = "few ask for the rings")]
            #vis fn rings() -> ::std::vec::Vec<::phalanx::Ring> {
                #list
            }
        }
    }
}

/// Makes the same method of a kernel with errors.
pub(super) fn stub(function: &Function) -> TokenStream {
    if function.role != Role::Kernel {
        return TokenStream::new();
    }
    let item::Declared { declared, used, where_clause } = item::declared(&function.generics);
    let (marker, vis) = (&function.name, &function.vis);
    quote! {
        impl<#declared> #marker<#used> #where_clause {
            #[allow(dead_code, reason = "a stub")]
            #vis fn rings() -> ::std::vec::Vec<::phalanx::Ring> { loop {} }
        }
    }
}
