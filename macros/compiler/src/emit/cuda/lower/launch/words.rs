//! The operations on integers of 64 bits that are faster on words, if the host knows before a launch that their numbers are natural ones of 32
//! bits (`checks`). Most indexes are: `usize` is the type that Rust asks for.
//!
//! Not here are sums, which the compiler of CUDA C++ narrows by itself where only the word is used, and products that it makes of two words:
//! addresses of neighbours have more in common if their arithmetic is that of 64 bits.

use super::scope::{Origin, Scope};
use crate::emit::cuda::at_launch::{NumberKind, Operation, Term, Terms, may_be_known, number_kind};
use crate::model::LocalId;
use crate::model::expr::{BinaryOp, Expr, ExprKind};
use crate::model::ty::TypeShape;
use crate::model::walk::walk;

/// How many names are followed from a value to what it is computed of.
const MOST_NAMES: usize = 8;

impl<'e> Scope<'e> {
    /// Returns the number of an operation that is to be a word, or the largest one of them; `None` if it would not be faster.
    pub(super) fn word(&mut self, expr: &'e Expr) -> Option<Terms> {
        match &expr.kind {
            ExprKind::Binary { op, left, right, .. } if op.compares() => self.words(&[left, right]),
            ExprKind::Cast(value, ty) => match &ty.shape {
                TypeShape::Scalar(name, _) => self.converted_word(expr, value, NumberKind::named(name)),
                _ => None,
            },
            ExprKind::Binary { op: BinaryOp::Div | BinaryOp::Rem, left, right, .. } => {
                // By a constant, the compiler of CUDA C++ multiplies, with its inverse of as many bits as the dividend has.
                let is_slow = match &right.kind {
                    ExprKind::Int { .. } => {
                        right.integer().is_some_and(|divisor| !divisor.is_power_of_two())
                            && self.has_product(left, MOST_NAMES)
                    }
                    ExprKind::Constant(_) => self.has_product(left, MOST_NAMES),
                    ExprKind::Float { .. } => false,
                    _ => true,
                };
                let is_constant =
                    matches!(left.kind, ExprKind::Int { .. } | ExprKind::Float { .. } | ExprKind::Constant(_));
                (is_slow && !is_constant).then(|| self.words(&[left, right])).flatten()
            }
            ExprKind::Binary { op: BinaryOp::Mul, left, right, .. } => {
                let is_product = self.has_product(left, MOST_NAMES) || self.has_product(right, MOST_NAMES);
                let is_literal = matches!(left.kind, ExprKind::Int { .. } | ExprKind::Float { .. });
                (is_product && !is_literal && !self.counts(expr)).then(|| self.words(&[left, right])).flatten()
            }
            ExprKind::Method { method, operands, .. } => match (method.name, &operands[..]) {
                ("min" | "max" | "saturating_sub", [_, _]) | ("clamp", [_, _, _]) => {
                    self.words(&operands.iter().collect::<Vec<_>>())
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the dividend of a remainder and twice the divisor: if the one is less than the other, as in `(x + 1) % width`, it takes a difference at
    /// most. Remainders by constants are products anyway.
    pub(super) fn once(&mut self, expr: &'e Expr) -> Option<[Terms; 2]> {
        let ExprKind::Binary { op: BinaryOp::Rem, left, right, .. } = &expr.kind else { return None };
        let is_sum = matches!(left.kind, ExprKind::Binary { op: BinaryOp::Add | BinaryOp::Sub, .. });
        if !is_sum || matches!(right.kind, ExprKind::Int { .. } | ExprKind::Float { .. } | ExprKind::Constant(_)) {
            return None;
        }
        let (dividend, mut twice) = (self.terms(left), vec![Term::Literal(2)]);
        twice.extend(self.terms(right));
        twice.push(Term::Operation(Operation::Mul));
        let is_integer = number_kind(&dividend, self.function) != NumberKind::Float;
        (is_integer && may_be_known(&dividend) && may_be_known(&twice)).then_some([dividend, twice])
    }

    /// Returns the integer of a conversion from or to a float.
    fn converted_word(&mut self, expr: &'e Expr, value: &'e Expr, to: NumberKind) -> Option<Terms> {
        let terms = self.terms(value);
        let from = number_kind(&terms, self.function);
        match (from, to) {
            (NumberKind::Float, NumberKind::Wide) => Some(self.terms(expr)),
            // The compiler of CUDA C++ knows what it has of an argument.
            (NumberKind::Wide, NumberKind::Float) if !matches!(terms[..], [Term::Parameter(_)]) => Some(terms),
            _ => None,
        }
    }

    /// Returns the largest of an operation's numbers, if they may be integers of 64 bits.
    fn words(&mut self, operands: &[&'e Expr]) -> Option<Terms> {
        let operands: Vec<Terms> = operands.iter().map(|operand| self.terms(operand)).collect();
        let kind = |terms: &Terms| number_kind(terms, self.function);
        let is_wide = |terms: &Terms| matches!(kind(terms), NumberKind::Wide | NumberKind::Unknown);
        // A word in memory is one whatever is there.
        let is_loaded = |terms: &Terms| match &terms[..] {
            [Term::AnyOf(_, NumberKind::Narrow, _), conversions @ ..] => {
                conversions.iter().all(|term| matches!(term, Term::Cast(..)))
            }
            _ => false,
        };
        let may_be_word = |terms: &Terms| is_wide(terms) && (may_be_known(terms) || is_loaded(terms));
        operands.iter().all(may_be_word).then(|| {
            let mut largest = Terms::new();
            for (index, terms) in operands.into_iter().enumerate() {
                largest.extend(terms);
                largest.extend((index > 0).then_some(Term::Operation(Operation::Max)));
            }
            largest
        })
    }

    /// Whether a value is computed of a product of values, which has 64 bits as far as the compiler of CUDA C++ sees.
    fn has_product(&self, expr: &Expr, names: usize) -> bool {
        let is_number = |operand: &Expr| matches!(operand.kind, ExprKind::Int { .. } | ExprKind::Constant(_));
        match &expr.kind {
            ExprKind::Binary { op: BinaryOp::Mul, left, right, .. } if !is_number(left) && !is_number(right) => true,
            ExprKind::Binary { op: BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, left, right, .. } => {
                self.has_product(left, names) || self.has_product(right, names)
            }
            ExprKind::Typed(inner, _) => self.has_product(inner, names),
            ExprKind::Local(local) => match (self.origin(*local), names.checked_sub(1)) {
                (Some(Origin::Value(init, _)), Some(names)) => self.has_product(init, names),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether an operation depends on the variable of a loop, along which the compiler of CUDA C++ goes by a sum.
    fn counts(&self, expr: &Expr) -> bool {
        let mut counts = false;
        walk(expr, &mut |inner| {
            if let ExprKind::Local(local) = inner.kind {
                counts |= self.is_counter(local);
            }
        });
        counts
    }

    fn is_counter(&self, local: LocalId) -> bool {
        match self.origin(local) {
            Some(Origin::Range(_)) => true,
            Some(Origin::Value(init, _)) => self.counts(init),
            _ => false,
        }
    }
}
