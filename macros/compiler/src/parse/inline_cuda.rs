//! `cuda!("text", in(x), in(y = expr), out(z), inout(w); else |x, y, w| ...)`: CUDA C++ written by the user. The text
//! is not parsed, except to see that its literals and brackets are closed. The closure is plain Rust and goes to the
//! host body as it is.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Expr as SynExpr, ExprClosure, LitStr, Macro, Pat, Token, parenthesized};

use super::Parser;
use super::expr::dereferenced;
use crate::messages;
use crate::model::effect::effect;
use crate::model::expr::{Expr, ExprKind};
use crate::model::facts::Effect;
use crate::model::inline_cuda::{Closure, Direction, InlineCuda, Operand};
use crate::model::kind::Kind;
use crate::span::SpanRange;

/// The content of the parentheses.
struct Input {
    text: LitStr,
    operands: Vec<(Direction, Ident, Option<SynExpr>)>,
    closure: Option<ExprClosure>,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let text = input.parse()?;
        let mut operands = Vec::new();
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() && !input.peek(Token![;]) {
            operands.push(operand(input)?);
        }
        let closure = match input.parse::<Option<Token![;]>>()? {
            Some(_) => {
                input.parse::<Token![else]>()?;
                let closure = input.parse()?;
                input.parse::<Option<Token![,]>>()?;
                Some(closure)
            }
            None => None,
        };
        Ok(Input { text, operands, closure })
    }
}

fn operand(input: ParseStream<'_>) -> syn::Result<(Direction, Ident, Option<SynExpr>)> {
    let direction = match input.parse::<Option<Token![in]>>()? {
        Some(_) => Direction::In,
        None => {
            let word: Ident = input.parse()?;
            match word.to_string().as_str() {
                "out" => Direction::Out,
                "inout" => Direction::InOut,
                _ => return Err(syn::Error::new(word.span(), "expected `in`, `out` or `inout`")),
            }
        }
    };
    let inside;
    parenthesized!(inside in input);
    let name = inside.parse()?;
    let value = match inside.parse::<Option<Token![=]>>()? {
        Some(equals) if direction != Direction::In => {
            return Err(syn::Error::new(equals.span, "only an input has a value of its own"));
        }
        Some(_) => Some(inside.parse()?),
        None => None,
    };
    match inside.is_empty() {
        true => Ok((direction, name, value)),
        false => Err(inside.error("expected one name")),
    }
}

impl Parser<'_> {
    pub(super) fn cuda(&mut self, call: &Macro, span: SpanRange) -> Expr {
        let Input { text, operands, closure } = match call.parse_body::<Input>() {
            Ok(input) => input,
            Err(error) => return self.error(messages::malformed_cuda(SpanRange::at(error.span()), &error.to_string())),
        };
        let text_at = SpanRange::of(&text);
        let value = text.value();
        if let Some(why) = fault(&value) {
            return self.error(messages::cuda_text(text_at, why));
        }
        let mut names: Vec<&Ident> = Vec::new();
        for (_, name, _) in &operands {
            if names.contains(&name) {
                return self.error(messages::repeated_operand(SpanRange::of(name), &name.to_string()));
            }
            names.push(name);
        }
        let parsed: Option<Vec<Operand>> = operands
            .iter()
            .map(|(direction, name, value)| self.cuda_operand(*direction, name, value.as_ref()))
            // All operands are parsed, so that each error is reported.
            .collect::<Vec<_>>()
            .into_iter()
            .collect();
        let Some(operands) = parsed else { return Expr::error(span) };
        let inputs = operands.iter().filter(|operand| operand.direction != Direction::Out).count();
        let closure = match closure.map(|closure| plain_closure(&closure, inputs)).transpose() {
            Ok(closure) => closure,
            Err(diag) => return self.error(*diag),
        };
        let inline_cuda = InlineCuda { text: value, line: text_at.line(), operands, closure };
        Expr { kind: ExprKind::Cuda(Box::new(inline_cuda)), result_kind: Kind::Unit, span }
    }

    fn cuda_operand(&mut self, direction: Direction, name: &Ident, value: Option<&SynExpr>) -> Option<Operand> {
        let at = SpanRange::of(name);
        let path: SynExpr;
        let expr = match value {
            Some(value) => value,
            None => {
                path = syn::parse_quote!(#name);
                &path
            }
        };
        let mut value = self.expr(expr);
        let is_local = matches!(value.kind, ExprKind::Local(_));
        let fits = match (direction, value.result_kind) {
            (_, Kind::Unknown) => return None,
            (Direction::In, Kind::Reference { .. }) => {
                value = dereferenced(value);
                true
            }
            (Direction::In, Kind::Memory(_) | Kind::TensorMap { .. })
            | (Direction::Out | Direction::InOut, Kind::Value) => is_local,
            // One of several barriers is named by its index.
            (Direction::In, Kind::Barrier(_)) => is_local || matches!(value.kind, ExprKind::Index { .. }),
            (Direction::In, Kind::Value) => {
                value = self.with_type(value);
                true
            }
            _ => false,
        };
        if !fits {
            self.diags.push(messages::cuda_operand(value.span, direction == Direction::In));
            return None;
        }
        // The order of evaluation would be observable if an operand had side effects.
        if effect(&self.function, &value) == Effect::Changes {
            self.diags.push(messages::cuda_operand_changes(value.span));
            return None;
        }
        Some(Operand { direction, name: name.clone(), value, at })
    }
}

/// Splits a closure that has as many parameters as there are inputs.
fn plain_closure(closure: &ExprClosure, inputs: usize) -> Result<Closure, Box<crate::diag::Diag>> {
    let at = SpanRange::of(closure);
    if closure.asyncness.is_some() || closure.constness.is_some() || closure.lifetimes.is_some() {
        return Err(Box::new(messages::malformed_cuda(at, "the closure must be `|x, y| value`")));
    }
    if closure.inputs.len() != inputs {
        return Err(Box::new(messages::closure_parameters(at, inputs, closure.inputs.len())));
    }
    let parameter = |pat: &Pat| match pat {
        Pat::Type(typed) => (typed.pat.to_token_stream(), typed.ty.to_token_stream()),
        pat => (pat.to_token_stream(), quote!(_)),
    };
    let (patterns, types): (Vec<TokenStream>, Vec<TokenStream>) = closure.inputs.iter().map(parameter).unzip();
    let (output, body) = (&closure.output, &closure.body);
    Ok(Closure { patterns, types, body: quote!(#output #body), at })
}

/// Returns the reason why the text might not end at its end, or why its lines would not be those of the Rust file.
fn fault(text: &str) -> Option<&'static str> {
    if text.contains('\0') {
        return Some("it has a zero byte");
    }
    if text.contains("\\\n") || text.contains("\\\r") || text.ends_with('\\') {
        return Some("a line ends with a backslash");
    }
    if text.lines().any(|line| line.trim_start().starts_with('#')) {
        return Some("it has a preprocessor directive");
    }
    let mut open = Vec::new();
    let mut rest = text;
    let mut word = String::new();
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        rest = match c {
            '/' if after.starts_with('/') => after.split_once('\n').map_or("", |(_, next)| next),
            '/' if after.starts_with('*') => match after[1..].split_once("*/") {
                Some((_, next)) => next,
                None => return Some("a comment does not end"),
            },
            '"' if word.ends_with('R') => return Some("it has a raw string literal"),
            // A digit separator, as in `1'000`.
            '\'' if word.starts_with(|c: char| c.is_ascii_digit()) => after,
            '"' | '\'' => match after_literal(after, c) {
                Some(next) => next,
                None => return Some("a literal does not end on its line"),
            },
            '(' | '[' | '{' => {
                open.push(c);
                after
            }
            ')' | ']' | '}' => {
                let partner = match c {
                    ')' => '(',
                    ']' => '[',
                    _ => '{',
                };
                if open.pop() != Some(partner) {
                    return Some("a bracket has no partner");
                }
                after
            }
            _ => after,
        };
        match c.is_ascii_alphanumeric() || c == '_' {
            true => word.push(c),
            false => word.clear(),
        }
    }
    (!open.is_empty()).then_some("a bracket has no partner")
}

/// Returns the text after a literal that `quote` closes.
fn after_literal(text: &str, quote: char) -> Option<&str> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            '\n' => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return Some(&text[at + 1..]),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_end_where_they_should() {
        let whole = [
            "",
            "y = x; { z = x; } // }",
            "/* } */ asm(\"{ .reg .u32 t; }\" : \"=r\"(y.value)); char c = '}'; int n = 1'000;",
            "f(\"\\\"}\"); g('\\'', '\"');",
            "y = x >> 2; a[b(1)] = {1, 2};",
        ];
        for text in whole {
            assert_eq!(fault(text), None, "{text}");
        }
    }

    #[test]
    fn texts_that_do_not_are_refused() {
        let broken = [
            ("}", "a bracket has no partner"),
            ("{", "a bracket has no partner"),
            ("f(]", "a bracket has no partner"),
            ("} {", "a bracket has no partner"),
            ("/* y = x;", "a comment does not end"),
            ("f(\"x);\n\"", "a literal does not end on its line"),
            ("c = 'x;", "a literal does not end on its line"),
            ("f(R\"(})\");", "it has a raw string literal"),
            ("y = x;\n  #define z", "it has a preprocessor directive"),
            ("// \\\ny = x;", "a line ends with a backslash"),
            ("// \\", "a line ends with a backslash"),
            ("\0", "it has a zero byte"),
        ];
        for (text, why) in broken {
            assert_eq!(fault(text), Some(why), "{text}");
        }
    }
}
