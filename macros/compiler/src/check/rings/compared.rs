//! What a condition compares: a part of what a thread publishes with what stays the same while the kernel runs, or the values that the thread itself
//! tests. Two conditions with the same comparison hold alike.
//!
//! The graph has one node for a number and for what a cast makes of it, where a rank is meant. A part, or a variable, that is cast to a type that need
//! not hold it is compared with nothing here.

use std::collections::BTreeSet;
use std::fmt;

use super::counters::Counters;
use super::handed::{Load, Published};
use super::kernel::{Kernel, Point};
use super::part::Part;
use super::value::{Evaluator, Value};
use crate::check::cfg::{Extent, Formula, NodeId, Root, Shared, Source, Variable};
use crate::model::expr::BinaryOp;
use crate::model::ty::{ParamType, TypeShape, ValueType};

/// A value that is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Side {
    Part(Part),
    Number(i64),
    Symbol(String),
    Variable(Variable),
    Node(NodeId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Less,
    /// The first value is at least the second one. Integers have `Less` that does not hold instead; of floats, which need not have an order,
    /// that is another relation.
    AtLeast,
    Equal,
}

/// A condition: that two values have a relation, or that they do not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Comparison {
    pub(super) relation: Relation,
    pub(super) sides: [Side; 2],
    pub(super) holds: bool,
    /// Whether the values are known to be integers.
    of_integers: bool,
}

impl fmt::Display for Comparison {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(text, "{:?} {:?}", self.relation, self.sides)
    }
}

impl Comparison {
    pub(super) fn part(&self) -> Option<Part> {
        self.sides.iter().find_map(|side| if let Side::Part(part) = side { Some(*part) } else { None })
    }

    /// The comparison of a part with what stays the same while the kernel runs.
    pub(super) fn of_a_part(self) -> Option<Comparison> {
        let parts = self.sides.iter().filter(|side| matches!(side, Side::Part(_))).count();
        let others = self.sides.iter().filter(|side| matches!(side, Side::Number(_) | Side::Symbol(_))).count();
        (parts == 1 && others == 1).then_some(self)
    }

    /// Returns the comparison with a value in the place of the part.
    pub(super) fn with(&self, value: &Side) -> Comparison {
        let sides = self.sides.clone().map(|side| if let Side::Part(_) = side { value.clone() } else { side });
        Comparison { sides, ..self.clone() }
    }

    /// Whether the relation holds, of numbers.
    pub(super) fn known(&self) -> Option<bool> {
        let [Side::Number(left), Side::Number(right)] = &self.sides else { return None };
        Some(match self.relation {
            Relation::Less => left < right,
            Relation::AtLeast => left >= right,
            Relation::Equal => left == right,
        })
    }

    /// Whether the other condition holds where this one does, and only there, or just where this one does not; nothing if they are about
    /// something else.
    pub(super) fn holds_like(&self, other: &Comparison) -> Option<bool> {
        let of_integers = self.of_integers || other.of_integers;
        let of = |comparison: &Comparison| Comparison { of_integers, ..comparison.clone() }.of_one_order();
        let (one, other) = (of(self), of(other));
        (one.relation == other.relation && one.sides == other.sides).then_some(one.holds == other.holds)
    }

    /// Returns the condition with `Less` in the place of `AtLeast`, if the values are integers.
    fn of_one_order(self) -> Comparison {
        match self.relation {
            Relation::AtLeast if self.of_integers => {
                Comparison { relation: Relation::Less, holds: !self.holds, ..self }
            }
            Relation::AtLeast | Relation::Less | Relation::Equal => self,
        }
    }
}

impl Evaluator<'_, '_, '_> {
    /// The comparison that a condition is at a point, and the loads of what is published that it is about.
    pub(super) fn compared(
        &self,
        on: NodeId,
        point: Point,
        (of, loads): (&Published, &mut Vec<Load>),
    ) -> Option<Comparison> {
        let cfg = self.kernel.cfg;
        let node = cfg.first_origin(on);
        let source = &cfg.nodes[node.0];
        match (&source.source, &source.operands[..]) {
            // It is about the lower bits alone.
            _ if cfg.cuts.contains_key(&node) => None,
            (Source::Not, [operand]) => {
                let of = self.compared(*operand, point, (of, loads))?;
                Some(Comparison { holds: !of.holds, ..of })
            }
            (Source::Binary(op) | Source::Round(_, op), [left, right]) => {
                let (relation, turned, holds) = match op {
                    BinaryOp::Lt => (Relation::Less, false, true),
                    BinaryOp::Gt => (Relation::Less, true, true),
                    BinaryOp::Ge => (Relation::AtLeast, false, true),
                    BinaryOp::Le => (Relation::AtLeast, true, true),
                    BinaryOp::Eq => (Relation::Equal, false, true),
                    BinaryOp::Ne => (Relation::Equal, false, false),
                    BinaryOp::Add
                    | BinaryOp::Sub
                    | BinaryOp::Mul
                    | BinaryOp::Div
                    | BinaryOp::Rem
                    | BinaryOp::BitAnd
                    | BinaryOp::BitOr
                    | BinaryOp::BitXor
                    | BinaryOp::Shl
                    | BinaryOp::Shr
                    | BinaryOp::And
                    | BinaryOp::Or => return None,
                };
                let mut sides = [self.side(*left, point, (of, loads))?, self.side(*right, point, (of, loads))?];
                if turned || relation == Relation::Equal && matches!(sides[0], Side::Number(_) | Side::Symbol(_)) {
                    sides.reverse();
                }
                let of_integers = [left, right].into_iter().any(|operand| self.kernel.is_integer(*operand));
                Some(Comparison { relation, sides, holds, of_integers }.of_one_order())
            }
            _ => {
                let sides = [self.side(on, point, (of, loads))?, Side::Number(1)];
                Some(Comparison { relation: Relation::Equal, sides, holds: true, of_integers: true })
            }
        }
    }

    /// What a value is, that has been evaluated before a point and is the same there.
    pub(super) fn side(&self, node: NodeId, point: Point, (of, loads): (&Published, &mut Vec<Load>)) -> Option<Side> {
        let (kernel, cfg) = (self.kernel, self.kernel.cfg);
        let counters = Counters::default();
        let evaluated = kernel.evaluated(node)?;
        match self.aside(&counters).value(node, evaluated) {
            value if value.known().is_some() => {
                // Any type to which a cast is not followed holds these.
                let number = value.known().filter(|number| (0..=i64::from(u32::MAX)).contains(number));
                return number.map(Side::Number);
            }
            Value::Symbol(symbol) => return Some(Side::Symbol(symbol.to_string())),
            Value::Expr(_) | Value::Unknown => {}
        }
        if kernel.is_recast(node) {
            return None;
        }
        // A variable that is set once has what the last evaluation of its value has given: no way leads from there to a use but by the
        // assignment.
        let origin = cfg.first_origin(node);
        let source = &cfg.nodes[origin.0];
        let is_kept = |from: Point| !kernel.may_pass_between(kernel.evaluated(origin).into_iter(), from, point);
        let mut part = |load: &Load, part: Part| {
            loads.push(*load);
            Some(Side::Part(part))
        };
        if let Some(load) = of.loads.get(&origin).filter(|load| load.part.field.is_none()) {
            return part(load, load.part);
        }
        // A field that is read on its own.
        let is_plain = || {
            !cfg.formulas.contains_key(&origin)
                && !cfg.computed.contains_key(&origin)
                && !cfg.cuts.contains_key(&origin)
        };
        if let (Source::Operands, [load]) = (&source.source, &source.operands[..])
            && let Some(load) = of.loads.get(load).filter(|load| load.part.field.is_some() && is_plain())
        {
            return part(load, load.part);
        }
        let Some(variable) = source.source.read() else { return is_kept(evaluated).then_some(Side::Node(origin)) };
        // A field of a struct that is read as a whole.
        if let (Variable::Field(_, field), Some(whole)) = (variable, variable.whole())
            && let Some(load) = cfg.only_value(whole).and_then(|value| of.loads.get(&value))
            && matches!(kernel.sets(variable), [(_, _, Extent::Part)])
        {
            return part(load, Part { field: Some(field), ..load.part });
        }
        let is_kept = !kernel.may_be_set_between(variable, kernel.evaluated(origin)?, point);
        is_kept.then_some(Side::Variable(variable))
    }

    /// Whether what a comparison is about is the same at two points.
    pub(super) fn is_kept(&self, of: &Comparison, from: Point, to: Point) -> bool {
        of.sides.iter().all(|side| match side {
            Side::Number(_) | Side::Symbol(_) => true,
            Side::Variable(variable) => !self.kernel.may_be_set_between(*variable, from, to),
            Side::Node(node) => {
                self.kernel.evaluated(*node).is_some_and(|at| !self.kernel.may_pass_between([at].into_iter(), from, to))
            }
            Side::Part(_) => false,
        })
    }
}

impl Kernel<'_, '_> {
    /// Whether a value, or what it is another name of, is cast to a type that need not hold it.
    fn is_recast(&self, node: NodeId) -> bool {
        let is_cast = |node: NodeId| self.cast_of(node).is_some();
        let origin = self.cfg.first_origin(node);
        let mut name = node;
        while name != origin && !is_cast(name) {
            name = self.cfg.origin(name);
        }
        is_cast(name)
    }

    /// Whether the text shows that a value is an integer: one of those with which it is computed is, and has its type.
    fn is_integer(&self, node: NodeId) -> bool {
        let mut seen = BTreeSet::new();
        let mut work = vec![node];
        while let Some(node) = work.pop() {
            if !seen.insert(node) || self.cfg.recast.contains_key(&node) {
                continue;
            }
            let of = &self.cfg.nodes[node.0];
            match &of.source {
                Source::Integer(_) | Source::ThreadRank => return true,
                Source::Param(position) if self.is_integral_param(*position) => return true,
                Source::Load(Root::Shared(Shared::Array(array)) | Root::Remote(Shared::Array(array)))
                    if self.has_integers(*array) =>
                {
                    return true;
                }
                Source::Operands if self.cfg.formulas.get(&node) == Some(&Formula::Length) => return true,
                Source::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem) => {
                    work.extend(&of.operands);
                }
                Source::Round(_, BinaryOp::Div) => work.extend(&of.operands),
                Source::Read(variable) => work.extend(
                    self.sets(*variable)
                        .iter()
                        .filter_map(|(_, value, extent)| (*extent == Extent::Whole).then_some(*value)),
                ),
                Source::Binary(_)
                | Source::Round(..)
                | Source::Operands
                | Source::Constant(_)
                | Source::Not
                | Source::Counter { .. }
                | Source::Param(_)
                | Source::Known { .. }
                | Source::Load(_)
                | Source::Agreed { .. }
                | Source::Shuffled { .. }
                | Source::Call { .. } => {}
            }
        }
        false
    }

    fn is_integral_param(&self, position: usize) -> bool {
        let ty = self.function.params.get(position).map(|param| &param.ty);
        let Some(ParamType::Value(ValueType { shape: TypeShape::Scalar(name, _), .. })) = ty else { return false };
        name.starts_with(['u', 'i'])
    }

    /// Whether the elements of a shared array are integers.
    fn has_integers(&self, array: usize) -> bool {
        let element = self.function.shared.get(array).map(|(element, _)| element.to_string());
        element.is_some_and(|element| {
            matches!(&element[..], "u8" | "u16" | "u32" | "u64" | "i8" | "i16" | "i32" | "i64" | "usize" | "isize")
        })
    }
}
