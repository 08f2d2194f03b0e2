//! What an index is computed of, for the checks that the host makes before a launch (`checks`): back to the function's parameters and the
//! shape of the launch. What is not understood is unknown, and so is what a variable holds that changes, unless a condition limits it.

use crate::emit::cuda::lower::called::computed_by;
use crate::emit::cuda::lower::control::plain_tail;

use crate::emit::cuda::at_launch::{NumberKind, Operation, Term, Terms};
use crate::model::expr::{BinaryOp, Condition, Expr, ExprKind, LiteralType, UnaryOp, integer};
use crate::model::group::Group;
use crate::model::op::Op;
use crate::model::query::{Answer, Query};
use crate::model::range::{Adaptor, Range};
use crate::model::ty::{ParamType, TypeShape, ValueType};
use crate::model::{LocalId, TypeId, ValueId};

use super::limits::is_same;
use super::parts::Whence;
use super::scope::{Origin, Scope};

/// The most terms of an expression.
const MOST_TERMS: usize = 300;

/// The most arms of an `if` or a `match` whose values are read.
const MOST_OUTCOMES: usize = 16;

/// How deep the names of values are followed.
const DEEPEST: usize = 24;

impl<'e> Scope<'e> {
    /// Returns what an integer is computed of.
    pub(super) fn terms(&mut self, expr: &'e Expr) -> Terms {
        if self.conditioned.is_some_and(|conditioned| is_same(conditioned, expr)) {
            return vec![Term::Conditioned];
        }
        // Names of names of values would be read again and again.
        let Some(left) = self.left.checked_sub(1).filter(|_| self.depth < DEEPEST) else { return vec![Term::Unknown] };
        self.left = left;
        self.depth += 1;
        let (limits, conditions) = (self.limits_of(expr), self.conditions_of(expr));
        let outer = self.around.len();
        self.around.extend(limits.iter().map(|(index, _)| index).chain(&conditions));
        let terms = self.computed(expr);
        self.around.truncate(outer);
        let terms = self.limited(limits, terms);
        let terms = self.limited_by_conditions(expr, conditions, terms);
        self.depth -= 1;
        if terms.len() > MOST_TERMS { vec![Term::Unknown] } else { terms }
    }

    fn computed(&mut self, expr: &'e Expr) -> Terms {
        match &expr.kind {
            ExprKind::Int { digits, ty } => vec![literal(digits, *ty, false)],
            ExprKind::Float { digits, ty } => vec![match *ty {
                LiteralType::Beside => Term::Float(digits.clone()),
                LiteralType::Suffix(name) => Term::SuffixedFloat(digits.clone(), name),
                LiteralType::Slot(slot) | LiteralType::Start(slot) => Term::TypedFloat(digits.clone(), slot),
            }],
            ExprKind::Unary(UnaryOp::Neg, inner) => match &inner.kind {
                ExprKind::Int { digits, ty } => vec![literal(digits, *ty, true)],
                _ => self.operation(Operation::Sub, vec![Term::Literal(0)], inner),
            },
            ExprKind::Constant(value) => vec![Term::Constant(*value)],
            ExprKind::Local(local) => self.local(*local),
            ExprKind::Typed(inner, _) | ExprKind::Deref(inner) | ExprKind::Borrow { mutable: false, target: inner } => {
                self.terms(inner)
            }
            ExprKind::Cast(inner, ty) => {
                let terms = self.terms(inner);
                converted(terms, ty)
            }
            ExprKind::Field { .. } => match self.whence(expr) {
                Some(Whence::Value(field)) => self.terms(field),
                Some(part) => part.terms().unwrap_or_else(|| vec![Term::Unknown]),
                None => self.constant(expr).map_or(vec![Term::Unknown], |constant| vec![Term::AnyIn(constant)]),
            },
            ExprKind::Binary { op, left, right, .. } => match operation(*op) {
                Some(operation) => {
                    let left = self.terms(left);
                    self.operation(operation, left, right)
                }
                None => vec![Term::Unknown],
            },
            ExprKind::Method { method, operands, .. } => self.method(method.name, operands),
            ExprKind::Op { op: Op::Query(group, query), operands, .. } => {
                self.query(*group, query, operands.first(), None).unwrap_or_else(|| vec![Term::Unknown])
            }
            ExprKind::Axis(base, axis) => self.axis(base, *axis).unwrap_or_else(|| vec![Term::Unknown]),
            ExprKind::Op { op: Op::Length, operands, .. } => {
                operands.first().and_then(|memory| self.length(memory)).unwrap_or_else(|| vec![Term::Unknown])
            }
            ExprKind::If { condition, then, otherwise: Some(otherwise), .. } => {
                match (&**condition, plain_tail(then)) {
                    (Condition::Value(condition), Some(then)) => self.either(condition, then, otherwise),
                    _ => self.one_of_outcomes(expr),
                }
            }
            ExprKind::Block(_) | ExprKind::Unsafe(_) | ExprKind::Match { .. } => self.one_of_outcomes(expr),
            ExprKind::Index { base, index, .. } => match (self.elements(base), self.constant(expr), self.element(base))
            {
                (Some(elements), ..) => self.one_of_elements(elements, index.integer()),
                (None, Some(constant), _) => vec![Term::AnyIn(constant)],
                (None, None, Some(TypeShape::Scalar(name, ty))) => vec![any_of(name, *ty)],
                (None, None, _) => vec![Term::Unknown],
            },
            ExprKind::CallClosure { closure, arguments, .. } => self.called(*closure, arguments),
            ExprKind::Call { slot, .. } => vec![Term::Result(*slot, Vec::new())],
            _ => vec![Term::Unknown],
        }
    }

    pub(super) fn operation(&mut self, operation: Operation, mut left: Terms, right: &'e Expr) -> Terms {
        left.extend(self.terms(right));
        left.push(Term::Operation(operation));
        left
    }

    fn either(&mut self, condition: &'e Expr, then: &'e Expr, otherwise: &'e Expr) -> Terms {
        let mut terms = Terms::new();
        for (holds, arm) in [(true, then), (false, otherwise)] {
            let outer = self.enter(condition, holds, arm);
            terms.extend(self.terms(arm));
            self.leave(outer);
        }
        terms.push(Term::Operation(Operation::Either));
        terms
    }

    /// Returns one of the values that the arms of an `if` or a `match` have.
    fn one_of_outcomes(&mut self, expr: &'e Expr) -> Terms {
        match outcomes(expr) {
            Some(outcomes) => one_of(outcomes.into_iter().map(|outcome| self.terms(outcome)).collect()),
            None => vec![Term::Unknown],
        }
    }

    /// Returns the elements of an array that never changes, if the text shows them.
    fn elements(&self, array: &'e Expr) -> Option<&'e [Expr]> {
        match &array.kind {
            ExprKind::Array { elements, .. } => Some(elements),
            ExprKind::Typed(inner, _) | ExprKind::Deref(inner) | ExprKind::Borrow { mutable: false, target: inner } => {
                self.elements(inner)
            }
            ExprKind::Local(local) => match self.origin(*local)? {
                Origin::Value(init, _) => self.elements(init),
                Origin::Range(_) | Origin::Parameter(_) | Origin::Terms(_) => None,
            },
            _ => None,
        }
    }

    fn one_of_elements(&mut self, elements: &'e [Expr], index: Option<u64>) -> Terms {
        let index = index.and_then(|index| usize::try_from(index).ok());
        match index.and_then(|index| elements.get(index)) {
            Some(element) => self.terms(element),
            None if elements.len() <= MOST_OUTCOMES => {
                one_of(elements.iter().map(|element| self.terms(element)).collect())
            }
            None => vec![Term::Unknown],
        }
    }

    /// Returns the constant of which an expression is a part: an offset in a table.
    pub(super) fn constant(&self, expr: &'e Expr) -> Option<ValueId> {
        match &expr.kind {
            ExprKind::Constant(value) => Some(*value),
            ExprKind::Index { base: inner, .. }
            | ExprKind::Field { base: inner, .. }
            | ExprKind::Deref(inner)
            | ExprKind::Borrow { mutable: false, target: inner } => self.constant(inner),
            ExprKind::Local(local) => match self.origin(*local)? {
                Origin::Value(init, None) => self.constant(init),
                Origin::Value(..) | Origin::Range(_) | Origin::Parameter(_) | Origin::Terms(_) => None,
            },
            _ => None,
        }
    }

    /// Returns the value of a variable that does not change.
    fn local(&mut self, local: LocalId) -> Terms {
        match self.origin(local) {
            Some(Origin::Value(init, ty)) => {
                let terms = self.terms(init);
                match ty {
                    Some(ty) => converted(terms, ty),
                    None => terms,
                }
            }
            Some(Origin::Range(range)) => self.range(range),
            Some(Origin::Parameter(index)) => match self.function.params[usize::from(index)].ty {
                ParamType::Value(_) | ParamType::Reference { .. } => vec![Term::Parameter(index)],
                _ => vec![Term::Unknown],
            },
            Some(Origin::Terms(terms)) => terms,
            None => self.one_of_all(local).unwrap_or_else(|| vec![Term::Unknown]),
        }
    }

    /// Returns one of all values that a variable ever has; `None` if they are not known, or are being read. What conditions say of other
    /// variables, they need not say where a value is assigned, and these have other values there.
    fn one_of_all(&mut self, local: LocalId) -> Option<Terms> {
        let values = self.assigned.get(&local).filter(|_| !self.open.contains(&local))?.clone();
        self.open.push(local);
        let (outer, conditioned) = (std::mem::take(&mut self.limits), self.conditioned.take());
        let value = |(op, value)| match op {
            Some(op) => self.assigned_by(op, value),
            None => self.terms(value),
        };
        let all = values.into_iter().map(value).collect();
        (self.limits, self.conditioned) = (outer, conditioned);
        self.open.pop();
        Some(one_of(all))
    }

    /// Returns what `variable op= value` assigns.
    fn assigned_by(&mut self, op: BinaryOp, value: &'e Expr) -> Terms {
        match operation(op) {
            Some(operation) => self.operation(operation, vec![Term::Unknown], value),
            None => vec![Term::Unknown],
        }
    }

    /// Returns the numbers of a range.
    pub(super) fn range(&mut self, range: &'e Range) -> Terms {
        let start = self.terms(&range.start);
        let operation = if range.inclusive { Operation::RangeInclusive } else { Operation::Range };
        let numbers = self.operation(operation, start, &range.end);
        // Backwards, they step from the end.
        let Some(Adaptor::StepBy(step, _)) = range.adaptors.first() else { return numbers };
        let start = self.terms(&range.start);
        let parts = self.operation(Operation::Or, start, step);
        [numbers, parts, vec![Term::Operation(Operation::Stepped)]].concat()
    }

    /// Returns the value of a closure that only computes, whose body sees its parameters and variables that exist where it is called, too.
    fn called(&mut self, closure: LocalId, arguments: &'e [Expr]) -> Terms {
        let Some((params, result)) = computed_by(self.closures, closure) else { return vec![Term::Unknown] };
        let values: Vec<Terms> = arguments.iter().map(|argument| self.terms(argument)).collect();
        let of_other_calls: Vec<_> = params
            .iter()
            .zip(values)
            .map(|((param, _), value)| (*param, self.bind(*param, Origin::Terms(value))))
            .collect();
        let terms = self.terms(result);
        for (param, origin) in of_other_calls {
            self.restore(param, origin);
        }
        terms
    }

    fn axis(&mut self, base: &'e Expr, axis: char) -> Option<Terms> {
        let dimension = match axis {
            'x' => 0,
            'y' => 1,
            'z' => 2,
            _ => return None,
        };
        match &base.kind {
            ExprKind::Op { op: Op::Query(group, query), operands, .. } => {
                self.query(*group, query, operands.first(), Some(dimension))
            }
            ExprKind::Local(local) => match self.origin(*local)? {
                Origin::Value(init, _) => self.axis(init, axis),
                Origin::Range(_) | Origin::Parameter(_) | Origin::Terms(_) => None,
            },
            _ => None,
        }
    }

    /// Returns the answer of a group to a query, in one of its dimensions if it has three.
    fn query(&self, group: Group, query: &Query, of: Option<&Expr>, dimension: Option<u8>) -> Option<Terms> {
        if group == Group::Tile {
            let size = self.tile_size(of?)?;
            return match query.answer {
                Answer::ThreadRank => Some(vec![Term::RankInTile(size)]),
                Answer::GroupRank => Some(vec![Term::TileRank(size)]),
                _ => None,
            };
        }
        let name = match (group, query.name, dimension) {
            (Group::ThreadBlock, "thread_rank", None) => "RankInBlock",
            (Group::ThreadBlock, "num_threads" | "size", None) => "ThreadsOfBlock",
            (Group::ThreadBlock, "thread_index", Some(_)) => "ThreadIndex",
            (Group::ThreadBlock, "group_index", Some(_)) | (Group::Grid, "block_index", Some(_)) => "BlockIndex",
            (Group::ThreadBlock, "dim_threads" | "group_dim", Some(_)) => "BlockExtent",
            (Group::Cluster, "thread_rank", None) => "RankInCluster",
            (Group::Cluster, "num_threads" | "size", None) => "ThreadsOfCluster",
            (Group::Cluster, "block_rank", None) => "BlockRankInCluster",
            (Group::Cluster, "num_blocks", None) => "BlocksOfCluster",
            (Group::Cluster, "block_index", Some(_)) => "BlockIndexInCluster",
            (Group::Cluster, "dim_blocks", Some(_)) => "ClusterExtent",
            (Group::Grid, "thread_rank", None) => "RankInGrid",
            (Group::Grid, "num_threads" | "size", None) => "ThreadsOfGrid",
            (Group::Grid, "block_rank", None) => "BlockRankInGrid",
            (Group::Grid, "num_blocks", None) => "BlocksOfGrid",
            (Group::Grid, "dim_blocks", Some(_)) => "GridExtent",
            (Group::Grid, "cluster_rank", None) => "ClusterRank",
            (Group::Grid, "num_clusters", None) => "ClustersOfGrid",
            _ => return None,
        };
        Some(vec![Term::Launch(name, dimension)])
    }

    /// Returns the number of threads of a tile of a block.
    fn tile_size(&self, tile: &Expr) -> Option<ValueId> {
        let ExprKind::Local(local) = tile.kind else { return None };
        match self.origin(local)? {
            Origin::Value(init, _) => match init.kind {
                ExprKind::Op { op: Op::TiledPartition(Group::ThreadBlock, size), .. } => Some(size),
                _ => None,
            },
            Origin::Parameter(_) | Origin::Range(_) | Origin::Terms(_) => None,
        }
    }
}

/// Returns the expressions of which one is the value of an expression: those of the arms of an `if` or a `match`, but for arms that end
/// elsewhere.
pub(super) fn outcomes(expr: &Expr) -> Option<Vec<&Expr>> {
    fn of<'e>(expr: &'e Expr, all: &mut Vec<&'e Expr>) -> Option<()> {
        match &expr.kind {
            ExprKind::Block(block) | ExprKind::Unsafe(block) => of(block.tail.as_deref()?, all),
            ExprKind::If { then, otherwise: Some(otherwise), .. } => {
                of(then.tail.as_deref()?, all)?;
                of(otherwise, all)
            }
            ExprKind::Match { arms, .. } => arms.iter().try_for_each(|arm| of(&arm.body, all)),
            ExprKind::Return { .. } | ExprKind::Break { .. } | ExprKind::Continue { .. } | ExprKind::Panic(_) => {
                Some(())
            }
            _ => {
                all.push(expr);
                (all.len() <= MOST_OUTCOMES).then_some(())
            }
        }
    }
    let mut all = Vec::new();
    of(expr, &mut all)?;
    (!all.is_empty()).then_some(all)
}

/// Returns one of several values.
pub(super) fn one_of(all: Vec<Terms>) -> Terms {
    let mut one = Terms::new();
    for (index, terms) in all.into_iter().enumerate() {
        one.extend(terms);
        one.extend((index > 0).then_some(Term::Operation(Operation::Either)));
    }
    one
}

fn operation(op: BinaryOp) -> Option<Operation> {
    match op {
        BinaryOp::Add => Some(Operation::Add),
        BinaryOp::Sub => Some(Operation::Sub),
        BinaryOp::Mul => Some(Operation::Mul),
        BinaryOp::Div => Some(Operation::Div),
        BinaryOp::Rem => Some(Operation::Rem),
        BinaryOp::Shl => Some(Operation::Shl),
        BinaryOp::Shr => Some(Operation::Shr),
        BinaryOp::BitAnd => Some(Operation::And),
        BinaryOp::BitOr => Some(Operation::Or),
        BinaryOp::BitXor => Some(Operation::Xor),
        _ => None,
    }
}

fn literal(digits: &str, ty: LiteralType, is_negative: bool) -> Term {
    let Some(number) = integer(digits).and_then(|number| i64::try_from(number).ok()) else { return Term::Unknown };
    let number = if is_negative { -number } else { number };
    match ty {
        LiteralType::Beside => Term::Literal(number),
        LiteralType::Suffix(name) => Term::Suffixed(number, name),
        LiteralType::Slot(slot) | LiteralType::Start(slot) => Term::Typed(number, slot),
    }
}

/// Returns any value of a type with this name.
fn any_of(name: &str, ty: TypeId) -> Term {
    match name {
        "u8" | "i8" | "u16" | "i16" => Term::AnyOf(ty, NumberKind::Narrow, true),
        "u32" | "i32" | "u64" | "i64" | "usize" | "isize" => Term::AnyOf(ty, NumberKind::named(name), false),
        _ => Term::Unknown,
    }
}

/// Returns values after a conversion to a type.
fn converted(mut terms: Terms, ty: &ValueType) -> Terms {
    match ty.shape {
        TypeShape::Scalar(name, ty) => {
            terms.push(Term::Cast(ty, NumberKind::named(name)));
            terms
        }
        TypeShape::Named(ty) => {
            terms.push(Term::Cast(ty, NumberKind::Unknown));
            terms
        }
        _ => vec![Term::Unknown],
    }
}
