//! Closures. The body of a closure stands in the graph wherever the closure is called, with its parameters as variables that
//! each call sets: what it captures, accesses, begins and writes is analysed like any other part of the function. A closure that
//! is an argument is called by somebody else, any number of times and by any of the threads: its body is a loop there, whose
//! trip count and whose parameters are unknown.
//!
//! Closures cannot call themselves, so this ends; that the number of bodies grows with the product of nested calls is limited by
//! [`MOST_BODIES`].

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::uniformity::Uniformity;

use super::{Builder, End, NodeId, Source, Value, Variable};
use crate::check::cfg::{AccessKind, GivenTo, Region, Root, Shared, Team};
use crate::model::LocalId;
use crate::model::expr::{BinaryOp, Expr, ExprKind};
use crate::model::group::Group;
use crate::model::kind::Kind;
use crate::model::query::THREAD_RANK;
use crate::model::ty::ValueType;
use crate::model::walk::walk;
use crate::span::SpanRange;

/// The most closure bodies that the graph of a function has.
pub(crate) const MOST_BODIES: usize = 1024;

/// An index into `Builder::closures`.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClosureId(usize);

/// A closure that the function makes.
pub(super) struct Closure<'f> {
    params: &'f [(LocalId, Option<ValueType>)],
    body: &'f Expr,
    /// The copies of locals that are seen inside, made by it and by the `move` closures around it.
    copies_of: BTreeMap<LocalId, Variable>,
}

impl<'f> Builder<'f> {
    /// Makes a closure. A `move` closure copies the variables that it captures, as they are now.
    pub(super) fn closure(
        &mut self,
        body: &'f Expr,
        params: &'f [(LocalId, Option<ValueType>)],
        by_value: bool,
    ) -> ClosureId {
        let mut copies_of = self.copies_of.clone();
        if by_value {
            for local in self.captured_variables(body) {
                let (copy, held) = (self.temporary(), self.read(self.variable_of(local), body.span));
                self.set(copy, &Value::of(held), body.span);
                copies_of.insert(local, copy);
            }
        }
        self.closures.push(Closure { params, body, copies_of });
        ClosureId(self.closures.len() - 1)
    }

    /// The variables around a closure that it names and that may change.
    fn captured_variables(&self, body: &Expr) -> BTreeSet<LocalId> {
        let mut captured = BTreeSet::new();
        walk(body, &mut |expr| {
            if let ExprKind::Local(local) = expr.kind
                && self.is_in_scope(local)
                && self.function.local(local).mutable.is_some()
                && matches!(self.function.kind(local), Kind::Value | Kind::Reference { .. })
            {
                captured.insert(local);
            }
        });
        captured
    }

    /// The variable that a name stands for, which is a copy inside a `move` closure.
    pub(super) fn variable_of(&self, local: LocalId) -> Variable {
        self.copies_of.get(&local).copied().unwrap_or(Variable::Local(local))
    }

    /// The variable that a field of a local stands for. A copy of the local has no fields of its own.
    pub(super) fn field_variable(&self, local: LocalId, field: u16) -> Variable {
        self.copies_of.get(&local).copied().unwrap_or(Variable::Field(local, field))
    }

    /// A call of a closure by the function itself.
    pub(super) fn call_closure(&mut self, ClosureId(closure): ClosureId, arguments: &[Value], at: SpanRange) -> Value {
        if self.closure_bodies == MOST_BODIES {
            self.too_many_bodies.get_or_insert(at);
            return self.nothing(at);
        }
        self.closure_bodies += 1;
        let Closure { params, body, ref copies_of } = self.closures[closure];
        let around = std::mem::replace(&mut self.copies_of, copies_of.clone());
        for ((param, _), argument) in params.iter().zip(arguments) {
            self.set(Variable::Local(*param), argument, at);
        }
        self.scopes.push(params.iter().map(|(param, _)| *param).collect());
        self.closure_depth += 1;
        let value = self.value(body);
        self.closure_depth -= 1;
        self.scopes.pop();
        self.copies_of = around;
        value
    }

    /// Closures among the arguments of an operation: the value of each is what it contributes to the result.
    pub(super) fn give_closures(&mut self, arguments: &mut [Value], at: SpanRange) {
        for argument in arguments {
            if let Some(closure) = argument.closure {
                argument.node = self.calls_by_another(closure, at);
            }
        }
    }

    /// A closure that the thread of rank 0 of a group calls once, for all of them.
    pub(super) fn give_closure_to_one(&mut self, operands: &'f [Expr], values: &mut [Value], at: SpanRange) {
        let Some(closure) = values.iter().find_map(|value| value.closure) else { return };
        let team = operands.first().and_then(|group| self.argument_team(group));
        let rank = self.query(team.unwrap_or(Team::whole(Group::Coalesced)), &THREAD_RANK, at);
        let zero = self.node(Source::Integer(0), Vec::new(), at);
        let on = self.node(Source::Binary(BinaryOp::Eq), vec![rank, zero], at);
        let (inside, after) = (self.new_block(), self.new_block());
        self.end(End::Branch { on, then: inside, otherwise: after });
        self.current = inside;
        let first = self.nodes.len();
        self.call_closure(closure, &[], at);
        let own = self.contributions(first, closure);
        self.goto(after);
        let node = self.node(Source::Operands, own, at);
        values.iter_mut().filter(|value| value.closure.is_some()).for_each(|value| value.node = node);
    }

    /// Closures among the arguments of a call, which the callee may call at this time.
    pub(super) fn give_closures_to(
        &mut self,
        time: Option<GivenTo>,
        arguments: &'f [Expr],
        values: &mut [Value],
        at: SpanRange,
    ) {
        let around = self.given_to;
        // What a function in a closure does, it does without barriers, as a part of that closure.
        self.given_to = around.or(time);
        for (argument, value) in arguments.iter().zip(values) {
            match value.closure {
                Some(closure) => value.node = self.calls_by_another(closure, at),
                None if argument.result_kind == Kind::Closure => self.given_closure(at),
                None => {}
            }
        }
        self.given_to = around;
    }

    /// Calls of a closure that is a parameter: its accesses are to any memory of the callers.
    pub(super) fn given_closure(&mut self, at: SpanRange) {
        for root in [Root::Shared(Shared::Any), Root::Remote(Shared::Any)] {
            self.access(Region::of(root), AccessKind::ByClosure, at);
        }
    }

    /// Calls of a closure by somebody else. Returns what the closure contributes to a result, beside its arguments.
    pub(super) fn calls_by_another(&mut self, closure: ClosureId, at: SpanRange) -> NodeId {
        let (again, inside, after) = (self.new_block(), self.new_block(), self.new_block());
        let unknown = Source::Known { uniformity: Uniformity::Divergent, what: "whether a closure is called" };
        let on = self.node(unknown, Vec::new(), at);
        self.goto(again);
        self.end(End::Branch { on, then: inside, otherwise: after });
        self.current = inside;
        let params = self.closures[closure.0].params.len();
        let arguments: Vec<_> = (0..params)
            .map(|_| {
                let unknown = Source::Known {
                    uniformity: Uniformity::Divergent,
                    what: "an argument that a closure is called with",
                };
                Value::of(self.node(unknown, Vec::new(), at))
            })
            .collect();
        let first = self.nodes.len();
        self.call_closure(closure, &arguments, at);
        let own = self.contributions(first, closure);
        self.end(End::Goto(again));
        self.current = after;
        self.node(Source::Operands, own, at)
    }

    /// The nodes from `first` on that bring in something: what the others are made of, but for the closure's own variables.
    fn contributions(&self, first: usize, closure: ClosureId) -> Vec<NodeId> {
        let is_outside = |variable: Variable| match variable {
            Variable::Local(local) | Variable::Field(local, _) => self.is_in_scope(local),
            Variable::Temporary(_) => self.closures[closure.0].copies_of.values().any(|copy| *copy == variable),
        };
        let brings_in = |source: &Source<'_>| match source {
            Source::Read(variable) => is_outside(*variable),
            Source::Known { .. }
            | Source::Param(_)
            | Source::ThreadRank
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => true,
            Source::Operands
            | Source::Integer(_)
            | Source::Constant(_)
            | Source::Binary(_)
            | Source::Not
            | Source::Counter { .. }
            | Source::Round(..) => false,
        };
        let nodes = (first..self.nodes.len()).map(NodeId);
        nodes.filter(|node| brings_in(&self.nodes[node.0].source)).collect()
    }
}
