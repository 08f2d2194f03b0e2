//! A certain launch: the numbers that its parameters, lengths and elements have, and those worth a try, and what the grid says in one of its
//! clusters.

use std::collections::{BTreeMap, BTreeSet};

use super::counters::Counters;
use super::given::{Arguments, Elements, Given};
use super::kernel::{Kernel, Point};
use super::value::{Evaluator, Value, binary};
use crate::check::cfg::{Formula, NodeId, Source};
use crate::model::expr::BinaryOp;
use crate::model::group::Group;
use crate::model::query::{Answer, UniformAt};
use crate::rings::Expr;

/// The largest granule of the numbers that are tried.
const GRANULE: i64 = 1 << 16;

/// What the steps of a kernel depend on.
#[derive(Debug, Clone)]
pub(super) struct Depends {
    /// Whether a number of the launch decides about them.
    pub(super) on_numbers: bool,
    /// Whether a query does, whose answer the grid of a certain launch gives.
    pub(super) on_queries: bool,
    /// Whether the number of blocks, clusters or threads of the grid does.
    pub(super) on_grid: bool,
    /// Whether the place of the block in the grid does.
    pub(super) on_place: bool,
    /// Whether a truth value or an element of a slice does.
    pub(super) on_choices: bool,
    /// The steps in which the numbers have to grow so that what they are divided to grows by 1.
    pub(super) granule: i64,
    /// The nodes of those numbers.
    pub(super) given: BTreeSet<NodeId>,
}

impl Depends {
    /// The number of rounds of a launch, as far as its arguments decide about it.
    pub(super) fn rounds(&self, arguments: &Arguments) -> Option<i64> {
        self.on_numbers.then(|| arguments.number / self.granule)
    }
}

impl Kernel<'_, '_> {
    /// Returns how such values depend on what a launch is given.
    pub(super) fn depends(&self, nodes: &[(NodeId, Point)]) -> Depends {
        let needed = self.needed_by(nodes.iter().map(|(node, _)| *node));
        let set = needed.iter().flat_map(|variable| self.sets(*variable).iter().map(|(_, value, _)| *value));
        let mut work: Vec<NodeId> = nodes.iter().map(|(node, _)| *node).chain(set).collect();
        let mut seen = BTreeSet::new();
        let given = BTreeSet::new();
        let mut depends = Depends {
            on_numbers: false,
            on_queries: false,
            on_grid: false,
            on_place: false,
            on_choices: false,
            granule: 1,
            given,
        };
        let mut granules = BTreeMap::new();
        while let Some(node) = work.pop() {
            if !seen.insert(node) {
                continue;
            }
            if let Some(given) = self.given(node) {
                depends.on_numbers = true;
                depends.given.insert(node);
                depends.on_choices |=
                    matches!(given, Given::Number { index: Some(_), .. } | Given::Number { most: 1, .. });
            }
            let query = self.cfg.queries.get(&node);
            depends.on_queries |= query.is_some();
            depends.on_grid |= query.is_some_and(|(group, query)| {
                let is_number = matches!(query.answer, Answer::BlockCount | Answer::Number | Answer::ThreadCount);
                *group == Group::Grid && is_number
            });
            depends.on_place |= self.is_place(node);
            depends.granule = common(depends.granule, self.granule(node, &mut granules, 0));
            work.extend(&self.cfg.nodes[node.0].operands);
        }
        depends
    }

    /// Whether a value is the rank of the block or of its cluster in the grid, or the index of one of them.
    fn is_place(&self, node: NodeId) -> bool {
        let query = |node: NodeId| self.cfg.queries.get(&node);
        let extent = self.cfg.axes.get(&node).and_then(|(extent, _)| query(self.cfg.origin(*extent)));
        match (query(node), extent) {
            (Some((Group::Grid, query)), _) => {
                let is_number = query.answer == Answer::Number && query.uniform_at != UniformAt::Grid;
                query.answer == Answer::BlockRank || is_number
            }
            (_, Some((Group::ThreadBlock | Group::Grid, query))) => {
                query.answer == Answer::Extent && matches!(query.uniform_at, UniformAt::Block | UniformAt::Cluster)
            }
            _ => false,
        }
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
        let evaluator =
            Evaluator { kernel: self, counters: &counters, arguments: None, thread: 0, after: None, inlines: false };
        evaluator.value(node, self.evaluated(node)?).known()
    }

    /// The index of a block in its cluster, on one axis: consecutive ranks differ on the first one.
    pub(super) fn block_index(&self, axis: usize) -> Option<Value> {
        let each = self.function.options.cluster.as_ref().map_or(&[][..], |cluster| &cluster.each);
        let extents = each.iter().map(|extent| self.constants.setting(extent)).collect::<Option<Vec<i64>>>()?;
        let Some(extent) = extents.get(axis) else { return Some(Value::constant(0)) };
        let before = extents[..axis].iter().product();
        let index = binary(BinaryOp::Div, Value::Expr(Expr::rank()), Value::constant(before));
        Some(match extents.len() == axis + 1 {
            true => index,
            false => binary(BinaryOp::Rem, index, Value::constant(*extent)),
        })
    }

    /// The number of blocks of a cluster along the first axis.
    fn first_extent(&self) -> Option<i64> {
        let each = self.function.options.cluster.as_ref().and_then(|cluster| cluster.each.first());
        each.map_or(Some(1), |extent| self.constants.setting(extent))
    }

    /// Whether a value is computed from what the launch is given, and not from what loops count.
    fn is_given(&self, node: NodeId) -> bool {
        let counters = Counters::default();
        let arguments = Arguments::new(1, Elements::Same);
        let of = |arguments| Evaluator {
            kernel: self,
            counters: &counters,
            arguments,
            thread: 0,
            after: None,
            inlines: false,
        };
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
            Some(Given::Length) => kernel.number_of(node).map(|number| Value::constant(arguments.value(number))),
            Some(Given::Number { index: Some(index), .. }) if arguments.elements == Elements::Alternating => {
                Some(binary(BinaryOp::Rem, value(index), Value::constant(2)))
            }
            Some(Given::Number { most: 1, .. }) => {
                let truth = arguments.number > 0 && arguments.elements != Elements::Alternating;
                Some(Value::constant(i64::from(truth)))
            }
            Some(Given::Number { index: Some(index), most }) if arguments.elements == Elements::Ascending => {
                let element = binary(BinaryOp::Mul, value(index), Value::constant(arguments.number));
                Some(element).filter(|element| element.known().is_none_or(|element| element <= most))
            }
            Some(Given::Number { most, .. }) => {
                let number = kernel.number_of(node).map_or(arguments.number, |number| arguments.value(number));
                (number <= most).then(|| Value::constant(number))
            }
            None => self.of_grid(node, arguments),
        }
    }

    /// The answers to queries in a cluster of a grid, whose clusters lie along its first axis.
    fn of_grid(&self, node: NodeId, arguments: &Arguments) -> Option<Value> {
        let kernel = self.kernel;
        let Arguments { clusters, cluster, .. } = *arguments;
        let blocks = i64::from(kernel.blocks);
        let query = |node: NodeId| kernel.cfg.queries.get(&node).copied();
        if let Some((group, query)) = query(node) {
            return match (group, query.answer) {
                // The number of clusters, or the rank of the cluster.
                (Group::Grid, Answer::Number) => {
                    let is_count = query.uniform_at == UniformAt::Grid;
                    Some(Value::constant(if is_count { clusters } else { cluster }))
                }
                (Group::Grid, Answer::BlockCount) => Some(Value::constant(blocks.checked_mul(clusters)?)),
                (Group::Grid, Answer::BlockRank) => {
                    // Ranks go along the first axis of the grid, and then along the others.
                    let is_in_a_row = clusters == 1 || kernel.first_extent() == Some(blocks);
                    is_in_a_row.then_some(())?;
                    let own = Value::Expr(if blocks == 1 { Expr::constant(0) } else { Expr::rank() });
                    Some(binary(BinaryOp::Add, own, Value::constant(blocks.checked_mul(cluster)?)))
                }
                (group @ (Group::Grid | Group::Cluster), Answer::ThreadCount) => {
                    let blocks = blocks.checked_mul(if group == Group::Grid { clusters } else { 1 })?;
                    blocks.checked_mul(i64::from(kernel.threads)).map(Value::constant)
                }
                (Group::ThreadBlock | Group::Cluster | Group::Grid | Group::Tile | Group::Coalesced, _) => None,
            };
        }
        // The axes of the index of a block, or of a cluster.
        let (extent, axis) = kernel.cfg.axes.get(&node)?;
        let (group, query) = query(kernel.cfg.origin(*extent))?;
        match (group, query.answer, query.uniform_at) {
            (Group::ThreadBlock | Group::Grid, Answer::Extent, UniformAt::Block) => {
                let within = kernel.block_index(*axis)?;
                let before = if *axis == 0 { kernel.first_extent()?.checked_mul(cluster)? } else { 0 };
                Some(binary(BinaryOp::Add, within, Value::constant(before)))
            }
            (Group::Grid, Answer::Extent, UniformAt::Cluster) => {
                Some(Value::constant(if *axis == 0 { cluster } else { 0 }))
            }
            (Group::ThreadBlock | Group::Cluster | Group::Grid | Group::Tile | Group::Coalesced, ..) => None,
        }
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
