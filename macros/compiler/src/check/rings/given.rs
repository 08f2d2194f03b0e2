//! What a certain launch is given: numbers that stand for the kernel's scalar parameters, for the lengths of its slices, and for the
//! elements of those that nothing writes. Its grid is one cluster.

use std::collections::{BTreeMap, BTreeSet};

use super::kernel::{Kernel, Point};
use super::value::{Counters, Evaluator, Value, binary};
use crate::check::cfg::{Formula, NodeId, Root, Source};
use crate::model::expr::BinaryOp;
use crate::model::group::Group;
use crate::model::query::{Answer, UniformAt};
use crate::model::ty::{ParamType, TypeShape, ValueType};

/// The largest granule of the numbers that are tried.
const GRANULE: i64 = 1 << 16;

/// The arguments of a certain launch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arguments {
    /// The value of each scalar parameter, of each length, and of each element that is read.
    pub(super) number: i64,
    /// Whether elements are 0 and 1 in turn instead, and truth values are false.
    pub(super) alternating: bool,
}

/// What a node takes from the launch.
#[derive(Debug, Clone, Copy)]
enum Given {
    /// A parameter or an element whose type has no number above `most`; the index of the element.
    Number {
        most: i64,
        index: Option<NodeId>,
    },
    Length,
}

/// What the steps of a kernel depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Depends {
    /// Whether a number of the launch decides about them.
    pub(super) on_numbers: bool,
    /// Whether a truth value or an element of a slice does.
    pub(super) on_choices: bool,
    /// The steps in which the numbers have to grow so that what they are divided to grows by 1.
    pub(super) granule: i64,
}

impl Kernel<'_, '_> {
    fn given(&self, node: NodeId) -> Option<Given> {
        let of = &self.cfg.nodes[node.0];
        match of.source {
            Source::Param(position) => match &self.function.params.get(position)?.ty {
                ParamType::Value(ty) => Some(Given::Number { most: most(ty).unwrap_or(i64::MAX), index: None }),
                ParamType::Reference { .. }
                | ParamType::Slice { .. }
                | ParamType::OptionalSlice { .. }
                | ParamType::Group(_)
                | ParamType::Tile { .. }
                | ParamType::Memory { .. }
                | ParamType::TensorMap { .. }
                | ParamType::Barrier { .. }
                | ParamType::Closure { .. } => None,
            },
            Source::Operands if matches!(self.cfg.formulas.get(&node), Some(Formula::Length)) => {
                self.slice(*of.operands.first()?).map(|_| Given::Length)
            }
            Source::Load(Root::ReadOnly) => {
                let place = &self.cfg.nodes[of.operands.first()?.0];
                let ([base, index], Source::Operands) = (&place.operands[..], &place.source) else { return None };
                let most = most(self.slice(*base)?)?;
                Some(Given::Number { most, index: Some(*index) })
            }
            Source::Operands
            | Source::Integer(_)
            | Source::Constant(_)
            | Source::Binary(_)
            | Source::Not
            | Source::Counter { .. }
            | Source::Read(_)
            | Source::Known { .. }
            | Source::ThreadRank
            | Source::Round(..)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => None,
        }
    }

    /// The element type of the parameter that a node is, if that is a slice.
    fn slice(&self, node: NodeId) -> Option<&ValueType> {
        let Source::Param(position) = self.cfg.nodes[self.cfg.origin(node).0].source else { return None };
        let ParamType::Slice { element, .. } = &self.function.params.get(position)?.ty else { return None };
        Some(element)
    }

    /// Returns how such values depend on what a launch is given.
    pub(super) fn depends(&self, nodes: &[(NodeId, Point)]) -> Depends {
        let needed = self.needed_by(nodes.iter().map(|(node, _)| *node));
        let set = needed.iter().flat_map(|variable| self.sets(*variable).iter().map(|(_, value, _)| *value));
        let mut work: Vec<NodeId> = nodes.iter().map(|(node, _)| *node).chain(set).collect();
        let mut seen = BTreeSet::new();
        let mut depends = Depends { on_numbers: false, on_choices: false, granule: 1 };
        let mut granules = BTreeMap::new();
        while let Some(node) = work.pop() {
            if !seen.insert(node) {
                continue;
            }
            if let Some(given) = self.given(node) {
                depends.on_numbers = true;
                depends.on_choices |=
                    matches!(given, Given::Number { index: Some(_), .. } | Given::Number { most: 1, .. });
            }
            depends.granule = common(depends.granule, self.granule(node, &mut granules, 0));
            work.extend(&self.cfg.nodes[node.0].operands);
        }
        depends
    }

    /// The granule of the numbers of which a value is a quotient; 1 if it is none.
    fn granule(&self, node: NodeId, known: &mut BTreeMap<NodeId, i64>, depth: u32) -> i64 {
        if let Some(granule) = known.get(&node) {
            return *granule;
        }
        if depth > 32 {
            return 1;
        }
        let of = &self.cfg.nodes[node.0];
        let origin = self.cfg.origin(node);
        let granule = if origin != node {
            self.granule(origin, known, depth + 1)
        } else {
            let own = of.operands.iter().fold(1, |all, part| common(all, self.granule(*part, known, depth + 1)));
            let divides = if let Source::Binary(op) | Source::Round(_, op) = of.source { Some(op) } else { None };
            let divides = divides.filter(|op| matches!(op, BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shr));
            let rounds = matches!(self.cfg.formulas.get(&node), Some(Formula::DivCeil | Formula::NextMultiple));
            let divisor = of.operands.get(1).filter(|_| divides.is_some() || rounds);
            let by = divisor.and_then(|by| self.number(*by)).map(|by| match divides == Some(BinaryOp::Shr) {
                true => u32::try_from(by).ok().and_then(|by| 1i64.checked_shl(by)).unwrap_or(1),
                false => by,
            });
            let is_given = of.operands.first().is_some_and(|value| self.is_given(*value));
            match by.filter(|by| *by > 1 && is_given).and_then(|by| own.checked_mul(by)) {
                Some(granule) if granule <= GRANULE => granule,
                Some(_) | None => own,
            }
        };
        known.insert(node, granule);
        granule
    }

    /// A number that the text shows.
    fn number(&self, node: NodeId) -> Option<i64> {
        let counters = Counters::default();
        let evaluator = Evaluator { kernel: self, counters: &counters, arguments: None, thread: 0 };
        evaluator.value(node, self.evaluated(node)?).known()
    }

    /// Whether a value is computed from what the launch is given, and not from what loops count.
    fn is_given(&self, node: NodeId) -> bool {
        let counters = Counters::default();
        let arguments = Arguments { number: 1, alternating: false };
        let of = |arguments| Evaluator { kernel: self, counters: &counters, arguments, thread: 0 };
        let Some(point) = self.evaluated(node) else { return false };
        of(None).value(node, point).known().is_none() && of(Some(&arguments)).value(node, point).known().is_some()
    }
}

impl Evaluator<'_, '_, '_> {
    /// The value of a node that takes it from a certain launch.
    pub(super) fn given(&self, node: NodeId, value: impl Fn(NodeId) -> Value) -> Option<Value> {
        let arguments = self.arguments?;
        let kernel = self.kernel;
        match kernel.given(node) {
            Some(Given::Length) => Some(Value::constant(arguments.number)),
            Some(Given::Number { index: Some(index), .. }) if arguments.alternating => {
                Some(binary(BinaryOp::Rem, value(index), Value::constant(2)))
            }
            Some(Given::Number { most: 1, .. }) => {
                Some(Value::constant(i64::from(arguments.number > 0 && !arguments.alternating)))
            }
            Some(Given::Number { most, .. }) => {
                Some(Value::constant(arguments.number)).filter(|_| arguments.number <= most)
            }
            None => self.of_grid(node),
        }
    }

    /// What queries say of a grid of one cluster.
    fn of_grid(&self, node: NodeId) -> Option<Value> {
        let kernel = self.kernel;
        let blocks = i64::from(kernel.blocks);
        let query = |node: NodeId| kernel.cfg.queries.get(&node).copied();
        if let Some((group, query)) = query(node) {
            return match (group, query.answer) {
                (Group::Grid, Answer::BlockCount) => Some(Value::constant(blocks)),
                (Group::Grid, Answer::BlockRank) => Some(Value::Expr(if blocks == 1 {
                    crate::rings::Expr::constant(0)
                } else {
                    crate::rings::Expr::rank()
                })),
                (Group::Grid | Group::Cluster, Answer::ThreadCount) => {
                    blocks.checked_mul(i64::from(kernel.threads)).map(Value::constant)
                }
                (Group::ThreadBlock | Group::Cluster | Group::Grid | Group::Tile | Group::Coalesced, _) => None,
            };
        }
        // The axes of the index of the only block.
        let of = &kernel.cfg.nodes[node.0];
        let ([extent], Source::Operands, 1) = (&of.operands[..], &of.source, blocks) else { return None };
        let (_, query) = query(kernel.cfg.origin(*extent))?;
        let is_index = query.answer == Answer::Extent && query.uniform_at != UniformAt::Grid;
        is_index.then(|| Value::constant(0))
    }
}

/// The largest number of an integer type.
fn most(ty: &ValueType) -> Option<i64> {
    let TypeShape::Scalar(name, _) = &ty.shape else { return None };
    match (*name, ty.shape.bytes()?) {
        ("bool", _) => Some(1),
        (name, bytes) if name.starts_with(['u', 'i']) => {
            let bits = bytes * 8 - u64::from(name.starts_with('i'));
            Some(if bits < 63 { (1 << bits) - 1 } else { i64::MAX })
        }
        _ => None,
    }
}

/// The least common multiple, or the first number if that is too large.
fn common(one: i64, other: i64) -> i64 {
    let (mut divisor, mut rest) = (one, other);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (one / divisor).checked_mul(other).filter(|multiple| *multiple <= GRANULE).unwrap_or(one)
}
