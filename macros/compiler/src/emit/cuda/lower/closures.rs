//! The closures of a function that have a name.

use std::collections::BTreeMap;

use crate::model::effect::effect;
use crate::model::expr::{Expr, ExprKind, StmtKind};
use crate::model::facts::Effect;
use crate::model::kind::Kind;
use crate::model::ty::ValueType;
use crate::model::walk::{Node, block_nodes};
use crate::model::{Function, LocalId, SiteId};

/// A closure that has a name.
pub(super) struct Closure<'f> {
    pub(super) effect: Effect,
    pub(super) params: &'f [(LocalId, Option<ValueType>)],
    pub(super) body: &'f Expr,
    pub(super) by_value: bool,
}

impl<'f> Closure<'f> {
    /// Returns the expression that is its result, if it has nothing else.
    pub(super) fn result(&self) -> Option<&'f Expr> {
        if let ExprKind::Block(block) = &self.body.kind {
            return block.tail.as_deref().filter(|_| block.statements.is_empty());
        }
        Some(self.body)
    }
}

/// The conditions that calls of closures stand for, by the calls' sites.
pub(super) type Conditions = BTreeMap<SiteId, Expr>;

/// The closures that have a name. The checks allow nothing in them that threads do together.
pub(super) type Closures<'f> = BTreeMap<LocalId, Closure<'f>>;

/// Returns the closure with a name that an argument is, or is a reference to.
pub(super) fn named_closure(argument: &Expr) -> Option<LocalId> {
    if let ExprKind::Borrow { target, .. } = &argument.kind {
        return named_closure(target);
    }
    let ExprKind::Local(local) = argument.kind else { return None };
    (argument.result_kind == Kind::Closure).then_some(local)
}

pub(super) fn closures(function: &Function) -> Closures<'_> {
    let mut closures = BTreeMap::new();
    block_nodes(&function.body, &mut |node| {
        if let Node::Statement(statement) = node
            && let StmtKind::Let { local, init: Some(init), .. } = &statement.kind
            && let ExprKind::Closure { params, body, by_value } = &init.kind
        {
            let (effect, by_value) = (effect(function, body), by_value.is_some());
            closures.insert(*local, Closure { effect, params, body, by_value });
        }
    });
    closures
}
