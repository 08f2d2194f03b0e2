//! Messages: a format string and its values. The string is passed on as it is, and rustc reports its errors; the parser
//! finds the values that a kernel has to pass, among them those that the string names itself.

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Expr as SynExpr, Lit, LitStr, Token};

use super::Parser;
use super::expr::dereferenced;
use crate::messages;
use crate::model::expr::Expr;
use crate::model::kind::Kind;
use crate::model::message::{Ending, Format, Message};
use crate::model::{SiteMessage, SlotUse};
use crate::span::SpanRange;

/// The largest number of values in a message.
const MOST_VALUES: usize = 16;

/// An argument of a message: `value` or `name = value`.
pub(super) struct Argument {
    name: Option<Ident>,
    pub(super) value: SynExpr,
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let named = input.peek(syn::Ident) && input.peek2(Token![=]) && !input.peek2(Token![==]);
        let name = if named { Some(input.parse()?) } else { None };
        if named {
            input.parse::<Token![=]>()?;
        }
        Ok(Argument { name, value: input.parse()? })
    }
}

impl Parser<'_> {
    /// Parses a macro's message, a format string and its arguments, of which `words` are the user's; there may be none.
    /// `sides` values are shown beside those.
    pub(super) fn message(
        &mut self,
        lead: Option<String>,
        ending: Ending,
        words: &[Argument],
        sides: usize,
        span: SpanRange,
    ) -> Option<Message> {
        let (format, values) = match words.split_first() {
            Some((format, arguments)) => {
                let Some(literal) = string_literal(format) else {
                    let at = SpanRange::of(&format.value);
                    self.diags.push(messages::format_string(at, "it does not start with a string literal"));
                    return None;
                };
                let (format, values) = self.format(literal, arguments);
                (Some(format), values)
            }
            None => (None, Vec::new()),
        };
        if values.len() + sides > MOST_VALUES {
            self.diags.push(messages::too_many_values(span, MOST_VALUES));
            return None;
        }
        let slot = self.slot(SlotUse::Message);
        let site = self.site_with(span, SiteMessage::Slot(slot));
        Some(Message { site, slot, lead, format, ending, values })
    }

    /// Parses a format string. As in Rust, its arguments are evaluated from left to right, and after them the variables
    /// that the string names.
    fn format(&mut self, literal: &LitStr, arguments: &[Argument]) -> (Format, Vec<Expr>) {
        let mut names: Vec<Option<String>> = Vec::new();
        let mut values = Vec::new();
        for Argument { name, value } in arguments {
            names.push(name.as_ref().map(|name| name.unraw().to_string()));
            values.push(self.shown(value));
        }
        for name in names_in(&literal.value()) {
            if names.iter().flatten().any(|known| known.trim_start_matches("r#") == name) {
                continue;
            }
            // rustc refuses anything but a name in the string.
            if let Ok(mut ident) = syn::parse_str::<Ident>(&name) {
                ident.set_span(literal.span());
                values.push(self.shown(&syn::parse_quote!(#ident)));
                names.push(Some(name));
            }
        }
        (Format { literal: literal.token(), names }, values)
    }

    /// Parses a value of a message. As in Rust, a reference shows its target.
    pub(super) fn shown(&mut self, value: &SynExpr) -> Expr {
        let mut value = self.expr(value);
        self.plain_option(&mut value);
        match value.result_kind {
            Kind::Value | Kind::Extent | Kind::Unknown | Kind::Never => value,
            Kind::Reference { .. } => dereferenced(value),
            kind @ (Kind::Unit
            | Kind::Group(_)
            | Kind::Token(_)
            | Kind::OptionalToken(_)
            | Kind::Closure
            | Kind::OptionalMemory(_)
            | Kind::Barrier(_)
            | Kind::TensorMap { .. }
            | Kind::Memory(_)) => self.error(messages::not_shown(value.span, kind)),
        }
    }
}

fn string_literal(argument: &Argument) -> Option<&LitStr> {
    fn literal(expr: &SynExpr) -> Option<&LitStr> {
        match expr {
            SynExpr::Lit(syn::ExprLit { lit: Lit::Str(literal), .. }) => Some(literal),
            // `macro_rules!` puts a fragment into such a group.
            SynExpr::Group(group) => literal(&group.expr),
            _ => None,
        }
    }
    literal(&argument.value).filter(|_| argument.name.is_none())
}

/// Returns the names that a format string mentions, as arguments, widths (`{:width$}`) or precisions
/// (`{:.precision$}`), each once. The grammar is that of `std::fmt`.
fn names_in(format: &str) -> Vec<String> {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let mut names: Vec<String> = Vec::new();
    let mut rest = format;
    while let Some(open) = rest.find('{') {
        rest = &rest[open + 1..];
        if let Some(after) = rest.strip_prefix('{') {
            rest = after;
            continue;
        }
        let argument_end = rest.find([':', '}']).unwrap_or(rest.len());
        // A brace may be the fill character: `{:}<8}`.
        let mut spec = rest[argument_end..].chars();
        let fill = match (spec.next(), spec.next(), spec.next()) {
            (Some(':'), Some(fill), Some('<' | '^' | '>')) => 1 + fill.len_utf8(),
            _ => 0,
        };
        let spec_start = argument_end + fill;
        let Some(length) = rest[spec_start..].find('}') else { break };
        let (argument, spec) = (&rest[..argument_end], &rest[spec_start..spec_start + length]);
        rest = &rest[spec_start + length + 1..];
        // The count before each `$`, without a flag `0`.
        let counts = spec.match_indices('$').map(|(end, _)| {
            let word = spec[..end].rsplit(|c: char| !is_letter(c)).next().unwrap_or_default();
            word.trim_start_matches(|c: char| c.is_ascii_digit())
        });
        for name in [argument.trim()].into_iter().chain(counts) {
            let is_name = name.chars().all(is_letter) && !name.starts_with(|c: char| c.is_ascii_digit());
            if is_name && !name.is_empty() && !names.iter().any(|known| known == name) {
                names.push(name.into());
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::names_in;

    #[test]
    fn names_are_found_wherever_they_stand() {
        let cases: [(&str, &[&str]); 10] = [
            ("{} {0} {:?} {{x}} }}", &[]),
            ("{x}{y:?}{x:#x}", &["x", "y"]),
            ("{x:>8.3} {y:+e} {z:08b} { w }", &["x", "y", "z", "w"]),
            ("{:width$} {:.precision$} {:1$} {:.*}", &["width", "precision"]),
            ("{x:>0width$.precision$?}", &["x", "width", "precision"]),
            ("{:é<width$} {größe}", &["width", "größe"]),
            ("{{{x}}}", &["x"]),
            ("{:}<w$} {x:{>v$}", &["w", "x", "v"]),
            ("{", &[]),
            ("{x {y}", &[]),
        ];
        for (format, names) in cases {
            assert_eq!(names_in(format), names, "{format}");
        }
    }
}
