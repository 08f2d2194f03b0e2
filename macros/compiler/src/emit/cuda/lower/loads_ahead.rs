//! Elements next to each other that a short loop loads, as `x[i * 8 + k]` in `for k in 0..8 { out[i * 8 + k] = f(x[i * 8 + k]); }`: they are loaded
//! before it, so that nothing stands between the loads, and the compiler of CUDA C++ joins them to few wide ones. In the loop, a store or an
//! instruction that it does not understand, as a rounding to `bf16`, would keep them apart. This is for memory that nothing writes while the kernel
//! runs; loads_ahead.cuh leaves other loads where they are.

use std::collections::{BTreeMap, BTreeSet};

use super::Lower;
use super::access::may_fail;
use super::adjacent::{Neighbours, Rounds, passes_values, steps_by_one};
use super::short_arrays::conditional;
use crate::emit::cuda::ast::{CuExpr, CuStmt, Fragment};
use crate::emit::cuda::signature::template;
use crate::model::effect::effect;
use crate::model::expr::{Block, Expr, ExprKind, Stmt, StmtKind};
use crate::model::facts::Effect;
use crate::model::kind::{Kind, Memory};
use crate::model::place::local_of;
use crate::model::walk::{Node, block_nodes, walk, walk_block};
use crate::model::{LocalId, SiteId};

/// The most arrays that are loaded before a loop.
const MOST_ARRAYS: usize = 4;

/// A load of `memory[index]`.
struct Load<'e> {
    site: SiteId,
    memory: LocalId,
    index: &'e Expr,
    /// The variables of the loop's body of which the index is computed.
    lets: Vec<&'e Stmt>,
}

/// What the index of a load is computed of.
struct Index<'e> {
    variable: LocalId,
    changed: BTreeSet<LocalId>,
    /// The variables that the body declares and never assigns, with their initial values.
    lets: BTreeMap<LocalId, (&'e Stmt, &'e Expr)>,
}

impl Lower<'_> {
    /// Lowers the loads that are made before a loop without checks over the range `steps`, whose variable has this name. The accesses in the loop
    /// find what is loaded until `end_loads_ahead`.
    pub(super) fn loads_ahead(&mut self, whole: &Expr, steps: &str, variable: &str) -> Vec<CuStmt> {
        let mut loads = Vec::new();
        for Load { site, memory, index, lets } in self.loadable(whole) {
            let Some(rounds) = self.rounds_of(whole) else { break };
            let (index, mut body) = self.nested(|lower| {
                lower.beforehand(|lower| {
                    lets.into_iter().for_each(|statement| lower.statement(statement));
                    lower.value(index)
                })
            });
            self.adjacent.insert(site, Neighbours::Few);
            let of = self.names.free("memory");
            let base = Box::new(CuExpr::name(&of));
            let value = CuExpr::Method { base, name: "get_adjacent", arguments: vec![index], site: None };
            let params = [of, variable.to_string()].map(|param| (vec!["auto".into()], param)).into();
            body.push(CuStmt::Return(Some(value)));
            let load = CuExpr::Lambda { capture: "[&]".into(), params, body };
            let arguments = vec![CuExpr::name(self.names.local(memory)), CuExpr::name(steps), load];
            let init = Some(CuExpr::Call { callee: template("loaded_ahead", vec![rounds]), arguments, site: None });
            let name = self.names.fresh(&format!("{}_ahead", self.names.local(memory)));
            loads.push(CuStmt::Declare { ty: vec!["const auto".into()], name: name.clone(), init });
            self.loaded.insert(site, [name, variable.to_string()]);
        }
        loads
    }

    pub(super) fn end_loads_ahead(&mut self) {
        self.loaded.clear();
    }

    /// Returns the number of iterations, as the text of a template's argument.
    fn rounds_of(&mut self, whole: &Expr) -> Option<Fragment> {
        let ExprKind::For { range, .. } = &whole.kind else { return None };
        match Rounds::of(self.function, range)? {
            Rounds::Literal(number) => Some(Fragment::Text(number.to_string())),
            Rounds::Named(number) => Some(Fragment::Digits(self.number(number))),
            Rounds::Length(_) | Rounds::Other => None,
        }
    }

    /// Returns the loads of a loop that may be made before it.
    fn loadable<'e>(&self, whole: &'e Expr) -> Vec<Load<'e>> {
        let ExprKind::For { local: Some(variable), range, body, .. } = &whole.kind else { return Vec::new() };
        let is_plain = range.start.integer() == Some(0) && range.adaptors.is_empty();
        if !is_plain || !self.goes_through(body) {
            return Vec::new();
        }
        let (changed, conditional) = (changed(body), conditional(body));
        let lets = body.statements.iter().filter_map(|statement| match &statement.kind {
            StmtKind::Let { local, init: Some(init), .. } if self.function.local(*local).mutable.is_none() => {
                Some((*local, (statement, init)))
            }
            _ => None,
        });
        let of = Index { variable: *variable, changed, lets: lets.collect() };
        let mut found = Vec::new();
        walk_block(body, &mut |expr| {
            if let ExprKind::Index { base, index, site } = &expr.kind
                && let ExprKind::Local(memory) = base.kind
                && self.function.kind(memory) == Kind::Memory(Memory::Global)
                && !of.changed.contains(&memory)
                && !conditional.contains(site)
                && self.unchecked.contains(site)
                && steps_by_one(index, *variable, &|local| of.lets.get(&local).map(|(_, init)| *init), &|part| {
                    self.is_same(part, &of)
                })
            {
                found.push(Load { site: *site, memory, index, lets: of.lets_of(index) });
            }
        });
        let is_few = found.len() <= MOST_ARRAYS;
        found.retain(|_| is_few);
        found
    }

    /// Whether a body does in each iteration all that it does, and neither waits nor calls what may.
    fn goes_through(&self, body: &Block) -> bool {
        let mut goes_through = true;
        walk_block(body, &mut |expr| {
            goes_through &= match &expr.kind {
                ExprKind::Op { op, .. } => op.facts().effect != Effect::Changes,
                ExprKind::Call { callee, arguments, .. } => passes_values(callee, arguments),
                ExprKind::CallClosure { .. }
                | ExprKind::Closure { .. }
                | ExprKind::Cuda(_)
                | ExprKind::Assert(..)
                | ExprKind::Panic(_)
                | ExprKind::Print(_)
                | ExprKind::Break { .. }
                | ExprKind::Continue { .. }
                | ExprKind::Return { .. }
                | ExprKind::Loop { .. }
                | ExprKind::While { .. }
                | ExprKind::For { .. } => false,
                _ => true,
            };
        });
        goes_through
    }

    /// Whether a part of an index is arithmetic that is the same in all iterations.
    fn is_same(&self, part: &Expr, of: &Index<'_>) -> bool {
        let mut is_same = effect(self.function, part) != Effect::Changes;
        walk(part, &mut |inner| {
            is_same &= match &inner.kind {
                ExprKind::Local(local) => match of.lets.get(local) {
                    Some((_, init)) => self.is_same(init, of),
                    None => *local != of.variable && !of.changed.contains(local),
                },
                ExprKind::Binary { op, right, .. } => !may_fail(*op, right),
                ExprKind::Int { .. } | ExprKind::Constant(_) | ExprKind::Cast(..) | ExprKind::Axis(..) => true,
                ExprKind::Op { op, .. } => op.facts().effect == Effect::Pure,
                _ => false,
            };
        });
        is_same
    }
}

impl<'e> Index<'e> {
    /// Returns the declarations of the variables that an index names, each behind those that it needs itself.
    fn lets_of(&self, index: &Expr) -> Vec<&'e Stmt> {
        let mut lets: Vec<&Stmt> = Vec::new();
        walk(index, &mut |inner| {
            if let ExprKind::Local(local) = inner.kind
                && let Some((statement, init)) = self.lets.get(&local)
            {
                lets.extend(self.lets_of(init));
                lets.push(statement);
            }
        });
        let mut seen = Vec::new();
        lets.retain(|statement| {
            let is_new = !seen.iter().any(|known| std::ptr::eq(*known, *statement));
            seen.push(*statement);
            is_new
        });
        lets
    }
}

/// The variables that a body declares, assigns or lends.
fn changed(body: &Block) -> BTreeSet<LocalId> {
    let mut changed = BTreeSet::new();
    block_nodes(body, &mut |node| match node {
        Node::Statement(statement) => match &statement.kind {
            StmtKind::Let { local, .. } => changed.extend([*local]),
            StmtKind::LetPattern { pattern, .. } => changed.extend(pattern.locals()),
            StmtKind::Split { halves, .. } => changed.extend(halves.iter().flatten()),
            StmtKind::Discard(_) | StmtKind::Expr(_) | StmtKind::Item(_) => {}
        },
        Node::Expr(expr) => match &expr.kind {
            ExprKind::Assign(place, _)
            | ExprKind::AssignOp { place, .. }
            | ExprKind::Borrow { mutable: true, target: place } => changed.extend(local_of(place)),
            _ => {}
        },
    });
    changed
}
