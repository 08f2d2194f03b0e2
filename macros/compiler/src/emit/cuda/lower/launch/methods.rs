//! The terms of methods of numbers, for the checks that the host makes before a launch (`terms`).

use super::scope::Scope;
use crate::emit::cuda::at_launch::{Operation, Term, Terms};
use crate::model::expr::Expr;

impl<'e> Scope<'e> {
    /// Returns what a method computes of a value and other operands.
    pub(super) fn method(&mut self, name: &str, operands: &'e [Expr]) -> Terms {
        let operation = match (name, operands) {
            ("min", [_, _]) => Operation::Min,
            ("max", [_, _]) => Operation::Max,
            ("saturating_sub", [_, _]) => Operation::SaturatingSub,
            ("abs_diff", [_, _]) => Operation::AbsDiff,
            ("rem_euclid", [_, _]) => Operation::RemEuclid,
            ("div_ceil" | "next_multiple_of", [value, by]) => return self.rounded_up(name, value, by),
            ("pow", [base, exponent]) => return self.power(base, exponent.integer()),
            (
                "leading_zeros" | "trailing_zeros" | "leading_ones" | "trailing_ones" | "count_ones" | "count_zeros",
                [_],
            ) => {
                let ends = [0, 128].map(|number| Term::Suffixed(number, "u32"));
                return ends.into_iter().chain([Term::Operation(Operation::RangeInclusive)]).collect();
            }
            ("floor" | "ceil" | "trunc" | "round" | "abs", [value]) => {
                let mut terms = self.terms(value);
                terms.push(Term::Rounded(match name {
                    "floor" => "Floor",
                    "ceil" => "Ceil",
                    "trunc" => "Trunc",
                    "round" => "Round",
                    _ => "Abs",
                }));
                return terms;
            }
            ("mul_add", [factor, other, term]) => {
                let factor = self.terms(factor);
                let product = self.operation(Operation::Mul, factor, other);
                return self.operation(Operation::Add, product, term);
            }
            ("wrapping_add", [_, _]) => Operation::Add,
            ("wrapping_sub", [_, _]) => Operation::Sub,
            ("wrapping_mul", [_, _]) => Operation::Mul,
            ("clamp", [value, least, most]) => {
                let mut terms = self.terms(value);
                terms.extend(self.terms(least));
                terms.extend(self.terms(most));
                terms.push(Term::Clamp);
                return terms;
            }
            _ => return vec![Term::Unknown],
        };
        let left = self.terms(&operands[0]);
        self.operation(operation, left, &operands[1])
    }

    /// Returns what `div_ceil` or `next_multiple_of` makes of a value.
    fn rounded_up(&mut self, name: &str, value: &'e Expr, by: &'e Expr) -> Terms {
        let value = self.terms(value);
        let mut terms = self.operation(Operation::Add, value, by);
        terms.extend([Term::Literal(1), Term::Operation(Operation::Sub)]);
        let quotient = self.operation(Operation::Div, terms, by);
        if name == "div_ceil" { quotient } else { self.operation(Operation::Mul, quotient, by) }
    }

    /// Returns a power whose exponent is a small literal.
    fn power(&mut self, base: &'e Expr, exponent: Option<u64>) -> Terms {
        let Some(exponent) = exponent.filter(|exponent| (1..=4).contains(exponent)) else { return vec![Term::Unknown] };
        let first = self.terms(base);
        (1..exponent).fold(first, |power, _| self.operation(Operation::Mul, power, base))
    }
}
