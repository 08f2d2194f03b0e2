//! Numbers of literals and of constants that have names, as of `for k in 0..TAPS * 2`. The text does not show what they are, but the runtime
//! knows them when it fills the holes, and leaves out the pragma of a loop that would be unrolled too far.

use proc_macro2::TokenStream;
use quote::quote;

use super::Lower;
use crate::emit::cuda::ast::Within;
use crate::model::expr::{BinaryOp, Block, Expr, ExprKind, UnaryOp};
use crate::model::op::Op;
use crate::model::range::Range;
use crate::model::walk::{walk, walk_block};
use crate::model::{Function, ValueId};

impl Lower<'_> {
    /// Adds a number that the runtime is to know. A loop may be lowered several times.
    pub(super) fn number(&mut self, number: TokenStream) -> ValueId {
        let text = number.to_string();
        let known = self.numbers.iter().position(|known| known.to_string() == text);
        let index = known.unwrap_or_else(|| {
            self.numbers.push(number);
            self.numbers.len() - 1
        });
        ValueId((self.function.values.len() + index) as u16)
    }

    /// Returns the condition that a number lies in an interval.
    pub(super) fn number_within(&mut self, number: TokenStream, [least, most]: [u64; 2]) -> Within {
        Within { number: self.number(number), least, most }
    }
}

/// Returns what Rust computes of literals and constants in 128 bits, where it neither wraps nor fails. `None` if the expression has other parts.
pub(super) fn number(function: &Function, expr: &Expr) -> Option<TokenStream> {
    match &expr.kind {
        ExprKind::Int { .. } => {
            let literal = i128::from(expr.integer()?);
            Some(quote!(#literal))
        }
        ExprKind::Constant(value) => {
            let tokens = &function.values[usize::from(value.0)].tokens;
            Some(quote!(((#tokens) as ::core::primitive::i128)))
        }
        // The number of elements of an array that is a constant.
        ExprKind::Op { op: Op::Length, operands, .. } => {
            let [Expr { kind: ExprKind::Constant(value), .. }] = &operands[..] else { return None };
            let tokens = &function.values[usize::from(value.0)].tokens;
            Some(quote!(((#tokens).len() as ::core::primitive::i128)))
        }
        ExprKind::Cast(inner, _) | ExprKind::Typed(inner, _) => number(function, inner),
        ExprKind::Unary(UnaryOp::Neg, inner) => {
            let inner = number(function, inner)?;
            Some(quote!(#inner.wrapping_neg()))
        }
        ExprKind::Binary { op, left, right, .. } => {
            let [left, right] = [left, right].map(|operand| number(function, operand));
            let (left, right) = (left?, right?);
            match op {
                BinaryOp::Add => Some(quote!(#left.wrapping_add(#right))),
                BinaryOp::Sub => Some(quote!(#left.wrapping_sub(#right))),
                BinaryOp::Mul => Some(quote!(#left.wrapping_mul(#right))),
                BinaryOp::Div => Some(quote!(#left.checked_div(#right).unwrap_or(0))),
                BinaryOp::Rem => Some(quote!(#left.checked_rem(#right).unwrap_or(0))),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns the number of iterations of a range, at most: a step skips some.
pub(super) fn count(function: &Function, range: &Range) -> Option<TokenStream> {
    let (start, end) = (number(function, &range.start)?, number(function, &range.end)?);
    let beyond = i128::from(range.inclusive);
    Some(quote!(#end.wrapping_sub(#start).wrapping_add(#beyond).max(0)))
}

/// Returns the number of expressions that a loop's body evaluates. `None` if it calls a function or has a loop whose length is none of
/// literals and constants.
pub(super) fn size(function: &Function, body: &Block) -> Option<TokenStream> {
    let mut expressions = Vec::new();
    walk_block(body, &mut |expr| expressions.push(expr));
    // How often the body and each loop in it evaluate an expression, and how many there are.
    let mut repeated = vec![(quote!(1i128), 0i128)];
    // The loops around an expression: the number of the first expression behind each, and which it is.
    let mut around: Vec<(usize, usize)> = Vec::new();
    for (at, expr) in expressions.into_iter().enumerate() {
        while around.last().is_some_and(|(end, _)| *end <= at) {
            around.pop();
        }
        let inner = around.last().map_or(0, |(_, number)| *number);
        repeated[inner].1 += 1;
        match &expr.kind {
            ExprKind::For { range, .. } => {
                let (times, count) = (&repeated[inner].0, count(function, range)?);
                repeated.push((quote!(#times.wrapping_mul(#count)), 0));
                let mut inside = 0;
                walk(expr, &mut |_| inside += 1);
                around.push((at + inside, repeated.len() - 1));
            }
            ExprKind::While { .. } | ExprKind::Loop { .. } | ExprKind::Call { .. } => return None,
            _ => {}
        }
    }
    let parts = repeated.into_iter().map(|(times, expressions)| quote!(#times.wrapping_mul(#expressions)));
    parts.reduce(|all, part| quote!(#all.wrapping_add(#part)))
}
