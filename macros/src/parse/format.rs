//! `assert!` and `panic!`: the message is cut into text and values here, so that the GPU passes values only and the
//! host puts the sentence together.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{Expr as SynExpr, Lit, Macro, Token};

use super::Parser;
use super::expr::binary_op;
use crate::messages;
use crate::model::Segment;
use crate::model::expr::{BinaryOp, Expr, ExprKind};
use crate::model::ty::Kind;
use crate::span::SpanRange;

/// What a failure record has room for.
const MOST_VALUES: usize = 4;

impl Parser<'_> {
    pub(super) fn macro_call(&mut self, call: &Macro) -> Expr {
        let span = SpanRange::of(call);
        let name = call.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        let arguments = match call.parse_body_with(Punctuated::<SynExpr, Token![,]>::parse_terminated) {
            Ok(arguments) => arguments.into_iter().collect::<Vec<_>>(),
            Err(_) if name == "assert" || name == "panic" => {
                return self.error(messages::format_string(span, "its arguments are not expressions"));
            }
            Err(_) => Vec::new(),
        };
        match name.as_str() {
            "assert" => self.assert(&arguments, span),
            "panic" => self.panic(&arguments, span),
            _ => self.error(messages::unknown_macro(SpanRange::of(&call.path), &name)),
        }
    }

    fn assert(&mut self, arguments: &[SynExpr], span: SpanRange) -> Expr {
        let Some((condition, message)) = arguments.split_first() else {
            return self.error(messages::argument_count(span, "assert!", 1, 0));
        };
        let text = condition.to_token_stream().to_string();
        // Without a message, the two sides of a comparison are what one wants to see.
        let sides = comparison(condition).filter(|_| message.is_empty());
        let show_sides = sides.is_some();
        let condition = match sides {
            Some((op, left, right)) => {
                // Both are shown, so a literal needs its type here.
                let (at, left, right) = (SpanRange::of(condition), self.value(left), self.value(right));
                let kind = ExprKind::Binary { op, left: Box::new(left), right: Box::new(right), site: None };
                Expr { kind, gives: Kind::Value, span: at }
            }
            None => self.value(condition),
        };
        let (segments, values) = match (message.is_empty(), show_sides) {
            (true, true) => (
                vec![
                    Segment::Text(format!("assertion failed: {text} (left: ")),
                    Segment::Value,
                    Segment::Text(", right: ".into()),
                    Segment::Value,
                    Segment::Text(")".into()),
                ],
                Vec::new(),
            ),
            (true, false) => (vec![Segment::Text(format!("assertion failed: {text}"))], Vec::new()),
            (false, _) => match self.message(message, span) {
                Some(message) => message,
                None => return Expr::error(span),
            },
        };
        let site = self.site(span, segments);
        let kind = ExprKind::Assert { condition: Box::new(condition), values, site, show_sides };
        Expr { kind, gives: Kind::Unit, span }
    }

    fn panic(&mut self, arguments: &[SynExpr], span: SpanRange) -> Expr {
        let (segments, values) = match arguments.is_empty() {
            true => (vec![Segment::Text("explicit panic".into())], Vec::new()),
            false => match self.message(arguments, span) {
                Some(message) => message,
                None => return Expr::error(span),
            },
        };
        let site = self.site(span, segments);
        Expr { kind: ExprKind::Panic { values, site }, gives: Kind::Never, span }
    }

    /// A format string and its arguments as segments and values.
    fn message(&mut self, arguments: &[SynExpr], span: SpanRange) -> Option<(Vec<Segment>, Vec<Expr>)> {
        let (format, arguments) = arguments.split_first()?;
        let at = SpanRange::of(format);
        let SynExpr::Lit(syn::ExprLit { lit: Lit::Str(format), .. }) = format else {
            self.diags.push(messages::format_string(at, "it does not start with a string literal"));
            return None;
        };
        let mut positional = arguments.iter();
        let mut segments = Vec::new();
        let mut values = Vec::new();
        let mut text = String::new();
        let format = format.value();
        let mut rest = format.as_str();
        while let Some(position) = rest.find(['{', '}']) {
            text.push_str(&rest[..position]);
            let (brace, after) = rest[position..].split_at(1);
            if let Some(after) = after.strip_prefix(brace) {
                // `{{` and `}}`
                text.push_str(brace);
                rest = after;
                continue;
            }
            let Some((inside, after)) = after.split_once('}').filter(|_| brace == "{") else {
                self.diags.push(messages::format_string(at, "a brace has no partner"));
                return None;
            };
            let value = match inside {
                "" | ":?" => match positional.next() {
                    Some(argument) => self.expr(argument),
                    None => {
                        self.diags.push(messages::format_string(at, "it has more `{}` than arguments"));
                        return None;
                    }
                },
                name => {
                    let name = name.strip_suffix(":?").unwrap_or(name);
                    let ident = syn::parse_str::<Ident>(name).map(|mut ident| {
                        ident.set_span(at.lo);
                        ident
                    });
                    let Some(local) = ident.ok().and_then(|ident| self.lookup(&ident)) else {
                        let why = format!("`{{{inside}}}` is neither a local variable nor `{{}}`");
                        self.diags.push(messages::format_string(at, &why));
                        return None;
                    };
                    Expr { kind: ExprKind::Local(local), gives: self.function.kind(local), span: at }
                }
            };
            self.require_value(&value);
            segments.extend((!text.is_empty()).then(|| Segment::Text(std::mem::take(&mut text))));
            segments.push(Segment::Value);
            values.push(value);
            rest = after;
        }
        text.push_str(rest);
        segments.extend((!text.is_empty()).then_some(Segment::Text(text)));
        if positional.next().is_some() {
            self.diags.push(messages::format_string(at, "it has fewer `{}` than arguments"));
            return None;
        }
        if values.len() > MOST_VALUES {
            self.diags.push(messages::too_many_values(span));
            return None;
        }
        Some((segments, values))
    }
}

/// The sides of `left < right` and its like.
fn comparison(expr: &SynExpr) -> Option<(BinaryOp, &SynExpr, &SynExpr)> {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    let SynExpr::Binary(binary) = expr else { return None };
    match binary_op(&binary.op) {
        Some((op @ (Eq | Ne | Lt | Le | Gt | Ge), false)) => Some((op, &binary.left, &binary.right)),
        _ => None,
    }
}
