//! Patterns, as plain data. Only rustc knows which patterns cover a type, and which names are its constants.

use proc_macro2::{Ident, TokenStream};

use super::expr::Member;
use super::op::Variant;
use super::{LocalId, ValueId};
use crate::span::SpanRange;

#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) kind: PatternKind,
    pub(crate) span: SpanRange,
}

#[derive(Debug)]
pub(crate) enum PatternKind {
    /// An error was reported for this pattern.
    Error,
    /// `_`
    Wild,
    /// `name`, `name @ pattern`
    Bind {
        local: LocalId,
        sub: Option<Box<Pattern>>,
    },
    Bool(bool),
    /// An integer, with its suffix if it has one.
    Int {
        digits: String,
        negative: bool,
        suffix: &'static str,
    },
    /// A constant or a variant without fields, by its path.
    Constant(ValueId),
    /// `low..=high`, `low..high`, `low..`, `..=high`; the ends are integers or constants.
    Range {
        low: Option<Box<Pattern>>,
        high: Option<Box<Pattern>>,
        inclusive: bool,
    },
    /// `(a, b, ..)`
    Tuple {
        elements: Vec<Pattern>,
        rest: bool,
    },
    /// `[a, rest @ .., b]`: elements before `..` count from the front, elements after it from the end.
    Array {
        elements: Vec<Pattern>,
        rest: Option<usize>,
        /// The name of the array of all others.
        others: Option<Box<Pattern>>,
    },
    /// `Point { x, y: 0, .. }` and `Meters(m)`, or `Event::Hit { t, .. }` and `Event::Lost(n)`
    Struct {
        path: TokenStream,
        /// The variant of an enum that the path names.
        variant: Option<Ident>,
        fields: Vec<(Member, Pattern)>,
        rest: bool,
    },
    /// `Some(pattern)`, `None`, `Ok(pattern)`, `Err(pattern)`
    Variant {
        variant: Variant,
        field: Option<Box<Pattern>>,
    },
    /// `a | b`, whose alternatives bind the same locals.
    Or(Vec<Pattern>),
}

impl Pattern {
    /// Whether the pattern matches every value, as far as syntax shows.
    pub(crate) fn is_irrefutable(&self) -> bool {
        match &self.kind {
            PatternKind::Error | PatternKind::Wild => true,
            PatternKind::Bind { sub, .. } => sub.as_ref().is_none_or(|sub| sub.is_irrefutable()),
            PatternKind::Tuple { elements, .. } | PatternKind::Array { elements, .. } => {
                elements.iter().all(Pattern::is_irrefutable)
            }
            PatternKind::Struct { variant, fields, .. } => {
                variant.is_none() && fields.iter().all(|(_, field)| field.is_irrefutable())
            }
            PatternKind::Bool(_)
            | PatternKind::Int { .. }
            | PatternKind::Constant(_)
            | PatternKind::Range { .. }
            | PatternKind::Variant { .. } => false,
            PatternKind::Or(alternatives) => alternatives.iter().any(Pattern::is_irrefutable),
        }
    }

    /// Returns the locals that the pattern binds, in source order.
    pub(crate) fn locals(&self) -> Vec<LocalId> {
        let mut locals = Vec::new();
        self.walk(&mut |pattern| {
            if let PatternKind::Bind { local, .. } = pattern.kind
                && !locals.contains(&local)
            {
                locals.push(local);
            }
        });
        locals
    }

    /// Whether the alternative that matches decides the value of a local.
    pub(crate) fn has_choice(&self) -> bool {
        let mut found = false;
        self.walk(&mut |pattern| {
            found |= matches!(pattern.kind, PatternKind::Or(_)) && !pattern.locals().is_empty();
        });
        found
    }

    /// Returns the alternatives for which a guard is tried one after the other, or `None` if a nested pattern has
    /// alternatives.
    pub(crate) fn tried(&self) -> Option<&[Pattern]> {
        let alternatives = match &self.kind {
            PatternKind::Or(alternatives) if self.has_choice() => alternatives,
            _ => std::slice::from_ref(self),
        };
        (!alternatives.iter().any(Pattern::has_choice)).then_some(alternatives)
    }

    /// Visits the pattern and its nested patterns, outer before inner.
    pub(crate) fn walk(&self, visit: &mut impl FnMut(&Pattern)) {
        visit(self);
        match &self.kind {
            PatternKind::Error
            | PatternKind::Wild
            | PatternKind::Bool(_)
            | PatternKind::Int { .. }
            | PatternKind::Constant(_) => {}
            PatternKind::Bind { sub: inner, .. } | PatternKind::Variant { field: inner, .. } => {
                inner.iter().for_each(|inner| inner.walk(visit));
            }
            PatternKind::Range { low, high, .. } => low.iter().chain(high).for_each(|end| end.walk(visit)),
            PatternKind::Tuple { elements, .. } | PatternKind::Or(elements) => {
                elements.iter().for_each(|element| element.walk(visit));
            }
            PatternKind::Array { elements, others, .. } => {
                elements.iter().chain(others.as_deref()).for_each(|element| element.walk(visit));
            }
            PatternKind::Struct { fields, .. } => fields.iter().for_each(|(_, field)| field.walk(visit)),
        }
    }
}
