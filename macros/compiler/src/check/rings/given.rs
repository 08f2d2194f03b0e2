//! Finds the nodes whose values a launch gives: scalar parameters, lengths of slices, and elements of slices that nothing writes.

use std::collections::{BTreeMap, BTreeSet};

use super::kernel::Kernel;
use crate::check::cfg::{Formula, NodeId, Root, Source};
use crate::model::ty::{ParamType, TypeShape, ValueType};

/// The arguments of a certain launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arguments {
    /// The value of each scalar parameter and of each length that is not among the others.
    pub(super) number: i64,
    pub(super) elements: Elements,
    /// The number of clusters of the grid.
    pub(super) clusters: i64,
    /// The cluster that the threads are of.
    pub(super) cluster: i64,
    /// Whether data that branches compare with literals are all larger than those, or none, if that is certain, too.
    pub(super) large_data: Option<bool>,
    others: BTreeMap<Number, i64>,
}

/// A scalar parameter, or the length of a slice, by the position of the parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Number {
    position: usize,
    pub(super) is_length: bool,
}

impl Arguments {
    pub(super) fn new(number: i64, elements: Elements) -> Arguments {
        Arguments { number, elements, clusters: 1, cluster: 0, large_data: None, others: BTreeMap::new() }
    }

    /// Returns these arguments for a grid of so many clusters.
    pub(super) fn of_clusters(self, clusters: i64) -> Arguments {
        Arguments { clusters, ..self }
    }

    /// Returns these arguments for the last cluster of a grid of so many.
    pub(super) fn of_last_cluster(self, clusters: i64) -> Arguments {
        Arguments { clusters, cluster: clusters - 1, ..self }
    }

    /// Returns these arguments with data that are all large, or all small.
    pub(super) fn of_data(self, large: bool) -> Arguments {
        Arguments { large_data: Some(large), ..self }
    }

    /// Returns these arguments with another value for one of them.
    pub(super) fn with(&self, number: Number, value: i64) -> Arguments {
        let mut other = self.clone();
        other.others.insert(number, value);
        other
    }

    pub(super) fn value(&self, number: Number) -> i64 {
        self.others.get(&number).copied().unwrap_or(self.number)
    }

    /// The numbers that have a value of their own.
    pub(super) fn others(&self) -> impl Iterator<Item = (Number, i64)> {
        self.others.iter().map(|(number, value)| (*number, *value))
    }
}

/// The elements of slices in a certain launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Elements {
    /// Each is the number of the launch.
    Same,
    /// They are 0 and 1 in turn, and truth values are false.
    Alternating,
    /// They are the multiples of the number of the launch from 0 on, as the places where parts of so many begin.
    Ascending,
}

/// The kind of number that a launch gives to a node.
#[derive(Debug, Clone, Copy)]
pub(super) enum Given {
    /// A parameter or an element whose type has no number above `most`; the index of the element.
    Number {
        most: i64,
        index: Option<NodeId>,
    },
    Length,
}

impl Kernel<'_, '_> {
    pub(super) fn given(&self, node: NodeId) -> Option<Given> {
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

    /// The numbers of the launch among nodes.
    pub(super) fn numbers_of(&self, given: &BTreeSet<NodeId>) -> BTreeSet<Number> {
        given.iter().filter_map(|node| self.number_of(*node)).collect()
    }

    /// The parameter or the length that a launch gives to a node, unless it is a truth value or an element.
    pub(super) fn number_of(&self, node: NodeId) -> Option<Number> {
        let position = |node: NodeId| {
            let source = &self.cfg.nodes[self.cfg.origin(node).0].source;
            if let Source::Param(position) = source { Some(*position) } else { None }
        };
        match self.given(node)? {
            Given::Number { index: None, most: 2.. } => Some(Number { position: position(node)?, is_length: false }),
            Given::Length => {
                Some(Number { position: position(*self.cfg.nodes[node.0].operands.first()?)?, is_length: true })
            }
            Given::Number { .. } => None,
        }
    }

    /// The text that names a number of a launch: `n`, `x.len()`.
    pub(super) fn name_of_number(&self, number: Number) -> Option<String> {
        let name = &self.function.local(self.function.params.get(number.position)?.local).name;
        Some(if number.is_length { format!("{name}.len()") } else { name.to_string() })
    }

    /// Whether a value is a parameter of an unsigned type, or a length.
    pub(super) fn is_natural(&self, node: NodeId) -> bool {
        let Source::Param(position) = self.cfg.nodes[node.0].source else {
            return matches!(self.given(node), Some(Given::Length));
        };
        let ty = self.function.params.get(position).map(|param| &param.ty);
        let Some(ParamType::Value(ValueType { shape: TypeShape::Scalar(name, _), .. })) = ty else { return false };
        name.starts_with('u')
    }

    /// The text that names what a launch gives to a node: `n`, `x.len()`, `x[..]`.
    pub(super) fn name_of_given(&self, node: NodeId) -> Option<String> {
        let of = &self.cfg.nodes[node.0];
        let parameter = |node: NodeId| {
            let Source::Param(position) = self.cfg.nodes[self.cfg.origin(node).0].source else { return None };
            Some(&self.function.local(self.function.params.get(position)?.local).name)
        };
        match self.given(node)? {
            Given::Number { index: None, .. } => Some(parameter(node)?.to_string()),
            Given::Number { index: Some(_), .. } => {
                let place = &self.cfg.nodes[of.operands.first()?.0];
                Some(format!("{}[..]", parameter(*place.operands.first()?)?))
            }
            Given::Length => self.name_of_number(self.number_of(node)?),
        }
    }

    /// The element type of the parameter that a node is, if that is a slice.
    fn slice(&self, node: NodeId) -> Option<&ValueType> {
        let Source::Param(position) = self.cfg.nodes[self.cfg.origin(node).0].source else { return None };
        let ParamType::Slice { element, .. } = &self.function.params.get(position)?.ty else { return None };
        Some(element)
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
