//! Macros: assertions, panics, printing. Each is split into the condition that it tests and the message that it prints.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::{Expr as SynExpr, Macro, Token};

use super::Parser;
use super::format::Argument;
use super::operators::binary_op;
use crate::messages;
use crate::model::expr::{BinaryOp, Block, Condition, Expr, ExprKind, Stmt, StmtKind};
use crate::model::kind::Kind;
use crate::model::message::{Ending, Test};
use crate::model::name::Space;
use crate::span::SpanRange;

impl Parser<'_> {
    pub(super) fn macro_call(&mut self, call: &Macro) -> Expr {
        let span = SpanRange::of(call);
        let Some(name) = self.known(&call.path, Space::Macro) else {
            let name = call.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
            return self.error(messages::unknown_macro(SpanRange::of(&call.path), &name));
        };
        if name == "cuda" {
            return self.cuda(call, span);
        }
        let (base, debug) = match name.strip_prefix("debug_") {
            Some(base) => (base, true),
            None => (name, false),
        };
        let Ok(arguments) = call.parse_body_with(Punctuated::<Argument, Token![,]>::parse_terminated) else {
            return self.error(messages::format_string(span, "its arguments are not expressions"));
        };
        let arguments: Vec<Argument> = arguments.into_iter().collect();
        let expr = match base {
            "assert" => self.assert(name, &arguments, span),
            "assert_eq" => self.assert_sides(name, BinaryOp::Eq, &arguments, span),
            "assert_ne" => self.assert_sides(name, BinaryOp::Ne, &arguments, span),
            "panic" => {
                let lead = arguments.is_empty().then_some("explicit panic");
                self.panic(lead, &arguments, span)
            }
            "unreachable" => self.panic(Some("internal error: entered unreachable code"), &arguments, span),
            "todo" => self.panic(Some("not yet implemented"), &arguments, span),
            "unimplemented" => self.panic(Some("not implemented"), &arguments, span),
            "print" if arguments.is_empty() => self.error(messages::argument_count(span, "print!", 1, 0)),
            _ => {
                let ending = if base == "println" { Ending::Newline } else { Ending::Nothing };
                let message = self.message(None, ending, &arguments, 0, span);
                let print =
                    message.map(|message| Expr { kind: ExprKind::Print(message), result_kind: Kind::Unit, span });
                print.unwrap_or(Expr::error(span))
            }
        };
        if debug { self.if_debug(expr, span) } else { expr }
    }

    fn assert(&mut self, name: &str, arguments: &[Argument], span: SpanRange) -> Expr {
        let Some((condition, words)) = arguments.split_first() else {
            return self.error(messages::argument_count(span, &format!("{name}!"), 1, 0));
        };
        let condition = &condition.value;
        // An assertion without a message shows the two operands. Those of `==` are shown as by `assert_eq!`.
        let (test, ending) = match ordering(condition).filter(|_| words.is_empty()) {
            // A literal that is shown needs its type here.
            Some((op, left, right)) => {
                (Test::Compare(op, Box::new(self.shown(left)), Box::new(self.shown(right))), Ending::Sides)
            }
            None => (Test::Value(Box::new(self.value(condition))), Ending::Nothing),
        };
        let lead = words.is_empty().then(|| format!("assertion failed: {}", condition.to_token_stream()));
        self.assertion(test, lead, ending, words, span)
    }

    /// Parses `assert_eq!` and `assert_ne!`.
    fn assert_sides(&mut self, name: &str, op: BinaryOp, arguments: &[Argument], span: SpanRange) -> Expr {
        let [left, right, words @ ..] = arguments else {
            return self.error(messages::argument_count(span, &format!("{name}!"), 2, arguments.len()));
        };
        let test = Test::Compare(op, Box::new(self.shown(&left.value)), Box::new(self.shown(&right.value)));
        let lead = format!("assertion `left {} right` failed", op.symbol());
        self.assertion(test, Some(lead), Ending::SidesBelow, words, span)
    }

    fn assertion(
        &mut self,
        test: Test,
        lead: Option<String>,
        ending: Ending,
        words: &[Argument],
        span: SpanRange,
    ) -> Expr {
        let sides = if ending == Ending::Nothing { 0 } else { 2 };
        match self.message(lead, ending, words, sides, span) {
            Some(message) => Expr { kind: ExprKind::Assert(test, message), result_kind: Kind::Unit, span },
            None => Expr::error(span),
        }
    }

    fn panic(&mut self, lead: Option<&str>, arguments: &[Argument], span: SpanRange) -> Expr {
        match self.message(lead.map(String::from), Ending::Nothing, arguments, 0, span) {
            Some(message) => Expr { kind: ExprKind::Panic(message), result_kind: Kind::Never, span },
            None => Expr::error(span),
        }
    }

    /// Makes `if cfg!(debug_assertions) { ... }`, which rustc evaluates for the user's crate.
    fn if_debug(&mut self, assertion: Expr, span: SpanRange) -> Expr {
        if matches!(assertion.kind, ExprKind::Error) {
            return assertion;
        }
        let cfg: TokenStream = quote!(::core::cfg!(debug_assertions));
        let constant = ExprKind::Constant(self.constant(cfg, "debug_assertions"));
        let condition = Condition::Value(Expr { kind: constant, result_kind: Kind::Value, span });
        let statement = Stmt { kind: StmtKind::Expr(assertion), span };
        let then = Block { statements: vec![statement], tail: None, span, declared: Vec::new() };
        let kind = ExprKind::If { condition: Box::new(condition), then, otherwise: None, slot: None };
        Expr { kind, result_kind: Kind::Unit, span }
    }
}

/// Returns the operands of `left < right` and its like.
fn ordering(expr: &SynExpr) -> Option<(BinaryOp, &SynExpr, &SynExpr)> {
    use BinaryOp::{Ge, Gt, Le, Lt};
    let SynExpr::Binary(binary) = expr else { return None };
    match binary_op(&binary.op) {
        Some((op @ (Lt | Le | Gt | Ge), false)) => Some((op, &binary.left, &binary.right)),
        _ => None,
    }
}
