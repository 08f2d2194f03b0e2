//! The variables that a pattern binds, as far as the host's checks (`checks`) know their values.

use super::parts::Whence;
use super::scope::{MOST_READ, Origin, Scope};
use super::terms::{one_of, outcomes};
use crate::emit::cuda::at_launch::{Term, Terms};
use crate::emit::cuda::name::field_name;
use crate::model::expr::{Expr, ExprKind, Member};
use crate::model::pattern::{Pattern, PatternKind};

impl<'e> Scope<'e> {
    /// Notes the values of variables that are parts of a tuple: of what a device function returns, or of the values of an `if` or a `match`.
    pub(super) fn declare_parts(&mut self, pattern: &Pattern, init: &'e Expr) {
        if let PatternKind::Array { elements, .. } = &pattern.kind
            && let Some(constant) = self.constant(init)
        {
            elements.iter().for_each(|element| self.declare_part(element, vec![Term::AnyIn(constant)]));
        }
        if let PatternKind::Tuple { .. } | PatternKind::Struct { .. } = &pattern.kind
            && let Some(whence @ (Whence::Parameter(..) | Whence::Result(..))) = self.whence(init)
        {
            return self.declare_fields(pattern, &whence);
        }
        let PatternKind::Tuple { elements, rest: false } = &pattern.kind else { return };
        if let ExprKind::Tuple { elements: values, .. } = &init.kind {
            elements.iter().zip(values).for_each(|(pattern, value)| self.declare_parts(pattern, value));
            return;
        }
        let Some(outcomes) = outcomes(init) else { return };
        for (index, element) in (0..).zip(elements) {
            self.left = MOST_READ;
            let part = |outcome: &&'e Expr| match &outcome.kind {
                ExprKind::Call { slot, .. } => {
                    Some(vec![Term::Result(*slot, vec![field_name(&Member::Unnamed(index))])])
                }
                ExprKind::Tuple { elements, .. } => Some(self.terms(elements.get(index as usize)?)),
                _ => self.constant(outcome).map(|constant| vec![Term::AnyIn(constant)]),
            };
            if let Some(parts) = outcomes.iter().map(part).collect() {
                self.declare_part(element, one_of(parts));
            }
        }
    }

    /// Notes the values of variables that are fields of a parameter or of what a function returns.
    fn declare_fields(&mut self, pattern: &Pattern, of: &Whence<'e>) {
        match &pattern.kind {
            PatternKind::Tuple { elements, rest: false } => {
                (0..)
                    .zip(elements)
                    .for_each(|(index, element)| self.declare_field(element, of, &Member::Unnamed(index)));
            }
            PatternKind::Struct { fields, .. } => {
                fields.iter().for_each(|(name, element)| self.declare_field(element, of, name));
            }
            _ => of.terms().into_iter().for_each(|terms| self.declare_part(pattern, terms)),
        }
    }

    fn declare_field(&mut self, pattern: &Pattern, of: &Whence<'e>, name: &Member) {
        if let Some(field) = of.field(name) {
            self.declare_fields(pattern, &field);
        }
    }

    /// Notes the value of a variable, unless it may change.
    fn declare_part(&mut self, pattern: &Pattern, terms: Terms) {
        if let PatternKind::Bind { local, sub: None } = pattern.kind
            && self.function.local(local).mutable.is_none()
        {
            self.bind(local, Origin::Terms(terms));
        }
    }
}
