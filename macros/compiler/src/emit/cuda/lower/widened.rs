//! Indexes that are made of words, as `now[(y - r) as usize * width + x as usize]`, in a loop whose accesses a test has found within bounds
//! (`hoist`). The test knows that none of their conversions wraps (interval.cuh), so that each may be made before the sums that it
//! converts: `as<usize>(y) - as<usize>(r)`. Where the compiler of CUDA C++ unrolls the loop, `r` is a constant, which it adds to
//! an address that it has already. Of `as<usize>(y - r)` it has to expect any value.

use std::collections::BTreeMap;

use super::access::{Access, AccessForm, Region};
use super::called::computed_by;
use super::intervals::{Value, Values};
use super::numbers::count;
use crate::emit::cuda::ast::{CuExpr, Fragment};
use crate::emit::cuda::signature::cast;
use crate::model::LocalId;
use crate::model::expr::{BinaryOp, Expr, ExprKind};
use crate::model::ty::{TypeShape, ValueType};

/// The most iterations of a loop of literals that the compiler certainly unrolls. One whose number has a name is taken to have few.
const MOST_ROUNDS: u64 = 16;

/// A value of which an index is made.
#[derive(Clone)]
enum Term {
    /// A value, and whether it is a literal, whose type the others give it.
    Value { text: CuExpr, is_literal: bool, is_of_loop: bool },
    /// The sum of both, or their difference.
    Sum { is_minus: bool, left: Box<Term>, right: Box<Term> },
    /// A text whose value may have wrapped, of which the test does not know.
    Other(CuExpr),
}

impl Term {
    fn text(self) -> CuExpr {
        match self {
            Term::Value { text, .. } | Term::Other(text) => text,
            Term::Sum { is_minus, left, right } => {
                let (left, right) = (Box::new(left.text()), Box::new(right.text()));
                CuExpr::Infix { op: if is_minus { "-" } else { "+" }, left, right, site: None }
            }
        }
    }

    /// Returns the same sum of converted values, unless it is of others.
    fn converted(&self, conversion: &[Fragment]) -> Option<Term> {
        match self {
            Term::Value { is_literal: true, .. } => Some(self.clone()),
            Term::Value { text, is_of_loop, .. } => Some(Term::Value {
                text: convert(conversion, text.clone()),
                is_literal: false,
                is_of_loop: *is_of_loop,
            }),
            Term::Sum { is_minus, left, right } => Some(Term::Sum {
                is_minus: *is_minus,
                left: Box::new(left.converted(conversion)?),
                right: Box::new(right.converted(conversion)?),
            }),
            Term::Other(_) => None,
        }
    }

    /// Whether one of the values is that of an unrolled loop's variable.
    fn is_of_loop(&self) -> bool {
        match self {
            Term::Value { is_of_loop, .. } => *is_of_loop,
            Term::Sum { left, right, .. } => left.is_of_loop() || right.is_of_loop(),
            Term::Other(_) => false,
        }
    }
}

fn convert(conversion: &[Fragment], value: CuExpr) -> CuExpr {
    CuExpr::Call { callee: conversion.to_vec(), arguments: vec![value], site: None }
}

/// The terms of an index, and whether a conversion in it is made earlier.
struct Terms<'v, 'l, 'f, 'e> {
    values: &'v mut Values<'l, 'f, 'e>,
    arguments: BTreeMap<LocalId, Term>,
    is_widened: bool,
}

impl Values<'_, '_, '_> {
    /// Returns the index of an access with conversions that are made before the sums that they convert, if it has any.
    pub(super) fn widened(&mut self, access: &Expr) -> Option<CuExpr> {
        let access = Access::of(access)?;
        let AccessForm::Element = access.form else { return None };
        let mut terms = Terms { values: self, arguments: BTreeMap::new(), is_widened: false };
        let index = terms.term(access.index)?;
        terms.is_widened.then(|| index.text())
    }

    /// Whether a variable counts the iterations of a loop that the compiler certainly unrolls; `None` if it counts none.
    fn is_unrolled(&self, local: LocalId) -> Option<bool> {
        let outer = match &self.nest.whole.kind {
            ExprKind::For { local: Some(variable), range, .. } if *variable == local => Some(&**range),
            _ => None,
        };
        let range = outer.or_else(|| self.nest.loops.get(&local).map(|(_, range)| *range))?;
        Some(match range.count() {
            Some(count) => count <= MOST_ROUNDS,
            None => count(self.lower.function, range).is_some(),
        })
    }
}

impl Terms<'_, '_, '_, '_> {
    fn term(&mut self, expr: &Expr) -> Option<Term> {
        if let Some(text) = self.values.fixed(expr) {
            return Some(Term::Value { is_literal: text.is_number(), text, is_of_loop: false });
        }
        match &expr.kind {
            ExprKind::Local(local) => match self.arguments.get(local) {
                Some(argument) => Some(argument.clone()),
                None => {
                    let is_of_loop = self.values.is_unrolled(*local)?;
                    let text = CuExpr::name(self.values.lower.names.local(*local));
                    Some(Term::Value { text, is_literal: false, is_of_loop })
                }
            },
            ExprKind::Binary { op: op @ (BinaryOp::Add | BinaryOp::Sub), left, right, .. } => {
                let (left, right) = (Box::new(self.term(left)?), Box::new(self.term(right)?));
                Some(Term::Sum { is_minus: *op == BinaryOp::Sub, left, right })
            }
            ExprKind::Binary { op: BinaryOp::Mul, left, right, .. } => {
                let (left, right) = (Box::new(self.term(left)?.text()), Box::new(self.term(right)?.text()));
                Some(Term::Other(CuExpr::Infix { op: "*", left, right, site: None }))
            }
            ExprKind::Cast(value, ty) => {
                let (value, conversion) = (self.term(value)?, cast(ty));
                if let Term::Sum { .. } = value
                    && value.is_of_loop()
                    && is_wide(ty)
                    && let Some(sum) = value.converted(&conversion)
                {
                    self.is_widened = true;
                    return Some(sum);
                }
                let is_of_loop = value.is_of_loop();
                let text = convert(&conversion, value.text());
                // The test takes the numbers of a wide value for those of a narrow one.
                Some(match is_wide(ty) {
                    true => Term::Value { text, is_literal: false, is_of_loop },
                    false => Term::Other(text),
                })
            }
            ExprKind::CallClosure { closure, arguments, .. } => {
                let computed = computed_by(self.values.lower.closures, *closure);
                let (params, result) = computed.filter(|_| self.values.keeps(*closure))?;
                let mut terms = Vec::new();
                for ((param, _), argument) in params.iter().zip(arguments) {
                    terms.push((*param, self.term(argument)?));
                }
                for (param, term) in terms {
                    // What names it is not fixed.
                    self.values.arguments.insert(param, Value::Fixed(term.clone().text()));
                    self.arguments.insert(param, term);
                }
                let result = self.term(result);
                for (param, _) in params {
                    self.values.arguments.remove(param);
                    self.arguments.remove(param);
                }
                result
            }
            _ => None,
        }
    }
}

/// Whether a type is one of 64 bits.
fn is_wide(ty: &ValueType) -> bool {
    matches!(ty.shape, TypeShape::Scalar("i64" | "isize" | "u64" | "usize", _))
}
