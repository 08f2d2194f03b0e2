//! What is known at a place of a body, for the checks that the host makes before a launch (`checks`): where the values of variables come
//! from, and the conditions that hold.

use std::collections::BTreeMap;

use super::assigned::{Assigned, assigned, may_change};
use super::limits::{Limit, limits};
use crate::emit::cuda::at_launch::Terms;
use crate::emit::cuda::lower::closures::{Closures, Conditions};
use crate::model::expr::Expr;
use crate::model::range::Range;
use crate::model::ty::{ParamType, ValueType};
use crate::model::{Function, LocalId};

/// The most expressions that are read for one check, one argument, or one variable.
pub(super) const MOST_READ: usize = 400;

/// Where the value of a variable comes from.
#[derive(Clone)]
pub(super) enum Origin<'e> {
    Value(&'e Expr, Option<&'e ValueType>),
    Range(&'e Range),
    Parameter(u8),
    Terms(Terms),
}

/// What is known at a place of the body.
pub(super) struct Scope<'e> {
    pub(super) function: &'e Function,
    pub(super) closures: &'e Closures<'e>,
    conditions: &'e Conditions,
    origins: BTreeMap<LocalId, Origin<'e>>,
    /// The initial values of all variables, also of those that change.
    inits: BTreeMap<LocalId, &'e Expr>,
    pub(super) assigned: Assigned<'e>,
    /// The variables whose assignments are being read.
    pub(super) open: Vec<LocalId>,
    /// The conditions around the place; none in place of one of a variable that has changed.
    pub(super) limits: Vec<Option<Limit<'e>>>,
    /// The limits whose bounds are being read.
    pub(super) busy: Vec<usize>,
    /// The limits of the expressions around the one that is read.
    pub(super) around: Vec<usize>,
    /// The expression that is limited by the condition whose sides are being read.
    pub(super) conditioned: Option<&'e Expr>,
    /// How deep the expression that is read lies in another one, and how many more are read for the same purpose.
    pub(super) depth: usize,
    pub(super) left: usize,
}

impl<'e> Scope<'e> {
    /// Returns what is known where the body begins.
    pub(super) fn of(function: &'e Function, closures: &'e Closures<'e>, conditions: &'e Conditions) -> Scope<'e> {
        let params = function.params.iter().enumerate().filter_map(|(index, param)| {
            let is_fixed = function.local(param.local).mutable.is_none();
            let is_value = !matches!(param.ty, ParamType::Reference { mutable: true, .. });
            let index = u8::try_from(index).ok().filter(|_| is_fixed && is_value)?;
            Some((param.local, Origin::Parameter(index)))
        });
        Scope {
            function,
            closures,
            conditions,
            origins: params.collect(),
            inits: BTreeMap::new(),
            assigned: assigned(function),
            open: Vec::new(),
            limits: Vec::new(),
            busy: Vec::new(),
            around: Vec::new(),
            conditioned: None,
            depth: 0,
            left: MOST_READ,
        }
    }

    pub(super) fn origin(&self, local: LocalId) -> Option<Origin<'e>> {
        self.origins.get(&local).cloned()
    }

    /// Notes the initial value of a variable.
    pub(super) fn begin(&mut self, local: LocalId, init: &'e Expr) {
        self.inits.insert(local, init);
    }

    /// Returns the initial value of a variable, which has the type of all that follow.
    pub(super) fn init(&self, local: LocalId) -> Option<&'e Expr> {
        self.inits.get(&local).copied()
    }

    /// Sets where a value comes from. Returns where it came from before, which `restore` takes.
    pub(super) fn bind(&mut self, local: LocalId, origin: Origin<'e>) -> Option<Origin<'e>> {
        self.origins.insert(local, origin)
    }

    pub(super) fn restore(&mut self, local: LocalId, origin: Option<Origin<'e>>) {
        match origin {
            Some(origin) => self.origins.insert(local, origin),
            None => self.origins.remove(&local),
        };
    }

    /// Goes to an expression that is evaluated where a condition has this value. Returns what `leave` takes.
    pub(super) fn enter(&mut self, condition: &'e Expr, holds: bool, expr: &Expr) -> usize {
        let outer = self.limits.len();
        self.assume(condition, holds);
        self.forget_changed(expr);
        outer
    }

    /// Goes back to where a number of conditions was known.
    pub(super) fn leave(&mut self, outer: usize) {
        self.limits.truncate(outer);
    }

    /// Notes that a condition has this value from here on.
    pub(super) fn assume(&mut self, condition: &'e Expr, holds: bool) {
        let origins = &self.origins;
        let named = |local: LocalId| match origins.get(&local) {
            Some(Origin::Value(init, _)) => Some(*init),
            _ => None,
        };
        let limits = limits(condition, holds, self.function, self.conditions, &named);
        self.limits.extend(limits.into_iter().map(Some));
        self.forget_changed(condition);
    }

    /// Forgets what conditions say of variables that an expression may change.
    pub(super) fn forget_changed(&mut self, expr: &Expr) {
        for limit in &mut self.limits {
            let changed = |limit: &Limit<'_>| limit.changing.iter().any(|local| may_change(expr, *local));
            if limit.as_ref().is_some_and(changed) {
                *limit = None;
            }
        }
    }
}
