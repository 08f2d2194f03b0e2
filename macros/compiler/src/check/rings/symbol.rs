//! Values that do not change while a kernel runs and that the text does not say: parameters, and what is computed from them. Two
//! are the same if their canonical forms are.

use std::collections::BTreeMap;
use std::fmt;

/// A sum of multiples of unknown numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Symbol {
    terms: BTreeMap<String, i64>,
    constant: i64,
}

impl Symbol {
    /// Returns an unknown number by its name.
    pub(super) fn of(name: String) -> Symbol {
        Symbol { terms: BTreeMap::from([(name, 1)]), constant: 0 }
    }

    /// The name of what a node holds, if nothing else is known of it.
    pub(super) fn name(node: usize) -> String {
        format!("n{node}")
    }

    /// Returns the name of the one unknown number of which this one is the sum with a constant, and the constant.
    pub(super) fn unit(&self) -> Option<(&str, i64)> {
        let mut terms = self.terms.iter();
        match (terms.next(), terms.next()) {
            (Some((name, 1)), None) => Some((name, self.constant)),
            _ => None,
        }
    }

    /// Returns the sum without its constant, and the constant.
    pub(super) fn split(self) -> (Symbol, i64) {
        (Symbol { terms: self.terms, constant: 0 }, self.constant)
    }

    pub(super) fn constant(constant: i64) -> Symbol {
        Symbol { terms: BTreeMap::new(), constant }
    }

    /// Returns the number if it is known.
    pub(super) fn known(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Returns the number divided by another, if that divides each of its parts.
    pub(super) fn divided(&self, by: i64) -> Option<Symbol> {
        let quotient = |number: i64| if number % by == 0 { number.checked_div(by) } else { None };
        let terms = self.terms.iter().map(|(name, factor)| Some((name.clone(), quotient(*factor)?)));
        Some(Symbol { terms: terms.collect::<Option<_>>()?, constant: quotient(self.constant)? })
    }

    /// Returns `self + times * other`.
    pub(super) fn plus(mut self, times: i64, other: &Symbol) -> Option<Symbol> {
        for (name, factor) in &other.terms {
            let term = self.terms.entry(name.clone()).or_insert(0);
            *term = term.checked_add(factor.checked_mul(times)?)?;
        }
        self.terms.retain(|_, factor| *factor != 0);
        self.constant = self.constant.checked_add(other.constant.checked_mul(times)?)?;
        Some(self)
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}", self.constant)?;
        for (name, factor) in &self.terms {
            write!(f, " + {factor} * {name}")?;
        }
        f.write_str(")")
    }
}
