//! The faults of rings that a kernel has if constants have certain values, or if the functions that it calls are those whose bodies
//! were read in its file: rustc confirms both.

#![warn(clippy::wildcard_enum_match_arm)]

use proc_macro2::TokenStream;
use quote::quote_spanned;

use super::constant;
use crate::check::Checked;
use crate::check::rings::{Assumed, Known};

/// Makes the checks of the kernel's constants, at the spans of the faults.
pub(super) fn checks(checked: &Checked<'_>) -> TokenStream {
    let function = checked.function();
    let own = checked.rings().cases.iter().map(|case| (case, None));
    let followed = checked.rings_if().into_iter();
    let followed = followed.flat_map(|(rings, condition)| rings.cases.iter().map(move |case| (case, Some(condition))));
    let checks = own.chain(followed).filter_map(|(case, condition)| {
        let fault = match &case.known {
            Known::Faulty(fault) => fault.as_ref()?,
            Known::Proved { .. } | Known::Open(_) => return None,
        };
        let (span, message) = (fault.at.lo, fault.text());
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
        });
        let each = condition.cloned().into_iter().chain(each);
        let condition = quote_spanned!(span=> #(#each)&&*);
        let refuse = quote_spanned!(span=> ::phalanx::__private::contract::constant::refuse(#message));
        let block = quote_spanned!(span=> { if #condition { #refuse } });
        Some(constant::evaluated(function, &condition, &block, span))
    });
    checks.collect()
}
