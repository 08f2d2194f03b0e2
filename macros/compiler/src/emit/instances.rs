//! The faults that a generic kernel has in instances with certain constants, while others are right: rustc reports those that a program has.

use proc_macro2::TokenStream;
use quote::quote_spanned;

use super::constant;
use crate::check::Checked;

/// Makes the checks of the kernel's constants, at the spans of the faults.
pub(super) fn checks(checked: &Checked<'_>) -> TokenStream {
    let checks = checked.faulty_if().iter().map(|(fault, condition)| {
        let (span, message) = (fault.at.lo, fault.text());
        let refuse = quote_spanned!(span=> ::phalanx::__private::contract::constant::refuse(#message));
        let block = quote_spanned!(span=> { if #condition { #refuse } });
        constant::evaluated(checked.function(), condition, &block, span)
    });
    checks.collect()
}
