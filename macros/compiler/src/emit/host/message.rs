//! Messages of the host body: a call with the values, and a closure that formats them with the user's own `format!`.
//! rustc checks the format string, and writes the closure's type into a slot, by which the host formats what a GPU
//! recorded. The closure captures nothing, so that its type is enough to call it.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};

use super::value::binary;
use super::{Host, internal, private};
use crate::model::message::{Ending, Message, Test};
use crate::span::SpanRange;

impl Host<'_> {
    pub(super) fn assert(&self, test: &Test, message: &Message, at: SpanRange) -> TokenStream {
        let lo = at.lo;
        match test {
            Test::Value(condition) => {
                let condition = self.operand(condition);
                let fail = self.message("fail_assertion", message, &[], at);
                quote_spanned!(lo=> if !#condition { #fail })
            }
            Test::Compare(op, left, right) => {
                let (left_value, right_value) = (self.binary_operand(*op, left), self.binary_operand(*op, right));
                let (first, second) = (internal("__phalanx_left", left.span), internal("__phalanx_right", right.span));
                let compare = binary(*op, quote!(#first), quote!(#second), at);
                let fail = self.message("fail_assertion", message, &[first.clone(), second.clone()], at);
                quote_spanned! {lo=>
                    match (#left_value, #right_value) {
                        (#first, #second) => if !(#compare) { #fail }
                    }
                }
            }
        }
    }

    /// Makes `function(&slot, (sides, values), |(sides, values)| text)`.
    pub(super) fn message(&self, function: &str, message: &Message, sides: &[Ident], at: SpanRange) -> TokenStream {
        let slot = self.slot(message.slot, at);
        let values: Vec<TokenStream> = message.values.iter().map(|value| self.expr(value)).collect();
        let names = message.values.iter().enumerate();
        let names: Vec<Ident> =
            names.map(|(index, value)| internal(&format!("__phalanx_{index}"), value.span)).collect();
        let text = text(message, sides, &names, at);
        let all = quote!((#(#sides,)* #(#names,)*));
        private(at, function, quote!(#slot, (#(#sides,)* #(#values,)*), |#all| #text))
    }
}

/// Makes an expression of type `String` of the variables with these names.
fn text(message: &Message, sides: &[Ident], values: &[Ident], at: SpanRange) -> TokenStream {
    let format = message.format.as_ref().map(|format| {
        let literal = &format.literal;
        let arguments = format.names.iter().zip(values).map(|(name, value)| {
            let name = name.as_ref().map(|name| {
                // The identifier is raw, because `r#type = x` is what `{type}` names.
                let name = Ident::new_raw(name, literal.span());
                quote!(#name =)
            });
            quote!(#name #value)
        });
        quote!(::std::format!(#literal #(, #arguments)*))
    });
    let text = match (&message.lead, format) {
        (Some(lead), Some(format)) => private(at, "led", quote!(#lead, #format)),
        (Some(lead), None) => quote!(::std::borrow::ToOwned::to_owned(#lead)),
        (None, Some(format)) => format,
        (None, None) => quote!(::std::string::String::new()),
    };
    match message.ending {
        Ending::Nothing => text,
        Ending::Newline => private(at, "line", text),
        Ending::Sides => private(at, "with_sides", quote!(#text, #(#sides),*)),
        Ending::SidesBelow => private(at, "with_sides_below", quote!(#text, #(#sides),*)),
    }
}
