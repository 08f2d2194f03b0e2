//! The values that calls of closures pass to their parameters, for the checks that the host makes before a launch (`checks`): an access in a
//! closure holds if it does in every call. The closures are those with a name, and those that are parameters of the function.

use std::collections::{BTreeMap, BTreeSet};

use crate::emit::cuda::at_launch::{ClosureCall, Term, Terms};
use crate::emit::cuda::lower::closures::Closures;
use crate::model::expr::{Expr, ExprKind};
use crate::model::kind::Kind;
use crate::model::ty::{ParamType, ValueType};
use crate::model::walk::walk_block;
use crate::model::{Function, LocalId};

/// A closure, with its number.
struct Uses<'e> {
    number: u8,
    /// The parameters, if it has a body in this function, and how many there are.
    params: &'e [(LocalId, Option<ValueType>)],
    count: usize,
    /// The expressions that name it of which nothing is known yet. One that gets another name, or goes elsewhere, keeps one.
    unknown: BTreeSet<*const Expr>,
}

/// The closures of a function, and their calls as far as they are known.
pub(super) struct ClosureUses<'e> {
    closures: BTreeMap<LocalId, Uses<'e>>,
    calls: Vec<(LocalId, Vec<Terms>)>,
}

impl<'e> ClosureUses<'e> {
    pub(super) fn of(function: &Function, closures: &Closures<'e>) -> ClosureUses<'e> {
        let passed = function.params.iter().enumerate().filter_map(|(index, param)| match &param.ty {
            ParamType::Closure { inputs, .. } => Some((index, param.local, &[][..], inputs.len())),
            _ => None,
        });
        let named = closures.iter().enumerate().map(|(index, (local, closure))| {
            (function.params.len() + index, *local, closure.params, closure.params.len())
        });
        let all = passed.chain(named).filter_map(|(number, local, params, count)| {
            let number = u8::try_from(number).ok()?;
            Some((local, Uses { number, params, count, unknown: BTreeSet::new() }))
        });
        let mut closures: BTreeMap<_, _> = all.collect();
        walk_block(&function.body, &mut |expr| {
            if let ExprKind::Local(local) | ExprKind::CallClosure { closure: local, .. } = &expr.kind
                && let Some(uses) = closures.get_mut(local)
            {
                uses.unknown.insert(std::ptr::from_ref(expr));
            }
        });
        ClosureUses { closures, calls: Vec::new() }
    }

    /// Returns the parameters of the closures, and the values that stand for what the calls pass to them.
    pub(super) fn params(&self, function: &Function) -> Vec<(LocalId, Terms)> {
        let of_closure = |uses: &Uses<'e>| {
            let number = uses.number;
            let params = (0..=u8::MAX).zip(uses.params);
            params.map(move |(index, (param, _))| (*param, vec![Term::OfClosure(number, index)]))
        };
        let is_known = |param: LocalId| {
            matches!(function.kind(param), Kind::Value | Kind::Memory(_)) && function.local(param).mutable.is_none()
        };
        self.closures.values().flat_map(of_closure).filter(|(param, _)| is_known(*param)).collect()
    }

    /// Returns how many parameters a closure has, as far as they have numbers.
    pub(super) fn params_of(&self, closure: LocalId) -> u8 {
        self.closures.get(&closure).map_or(0, |uses| u8::try_from(uses.count).unwrap_or(u8::MAX))
    }

    /// Notes what a closure is called with where an expression names it.
    pub(super) fn is_called(&mut self, closure: LocalId, by: &Expr, arguments: Vec<Terms>) {
        if let Some(uses) = self.closures.get_mut(&closure) {
            uses.unknown.remove(&std::ptr::from_ref(by));
            self.calls.push((closure, arguments));
        }
    }

    /// Returns the calls of the closures of which all calls are known.
    pub(super) fn calls(&mut self) -> Vec<ClosureCall> {
        let calls = self.calls.drain(..).filter_map(|(closure, arguments)| {
            let uses = self.closures.get(&closure).filter(|uses| uses.unknown.is_empty())?;
            let known = |terms: Terms| if terms.is_empty() { vec![Term::Unknown] } else { terms };
            Some(ClosureCall { closure: uses.number, arguments: arguments.into_iter().map(known).collect() })
        });
        calls.collect()
    }
}

/// Returns the expression that names a closure in an argument: `f` in `&f`.
pub(super) fn named_by(argument: &Expr) -> &Expr {
    match &argument.kind {
        ExprKind::Borrow { target, .. } => named_by(target),
        _ => argument,
    }
}
