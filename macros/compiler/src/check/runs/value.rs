//! The values that a thread computes in its run: small integers, each with whether it depends on what the host passes.

use super::plan::{How, Recipe};
use super::{Runs, Thread};
use crate::check::cfg::{BlockId, CountedLoop, Formula, NodeId, Source};
use crate::check::constant_propagation::operate;
use crate::model::expr::BinaryOp;
use crate::model::group::Group;
use crate::model::options::Extents;
use crate::model::query::{Answer, UniformAt};

/// An integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::check) struct Number {
    /// The value. One below zero is what a difference wraps around to, in whatever type it has.
    pub(in crate::check) value: i64,
    /// Whether it depends on an argument or on memory. How many rounds a loop makes does not count.
    pub(in crate::check) is_given: bool,
}

impl Number {
    pub(super) fn own(value: u64) -> Option<Number> {
        Some(Number { value: i64::try_from(value).ok()?, is_given: false })
    }

    fn given(value: u64) -> Option<Number> {
        Some(Number { is_given: true, ..Number::own(value)? })
    }

    /// The value, unless it is below zero.
    pub(in crate::check) fn natural(self) -> Option<u64> {
        u64::try_from(self.value).ok()
    }

    /// The result of an operator; `None` if it depends on the type, or is too large to be sure of.
    pub(in crate::check) fn operate(self, op: BinaryOp, other: Number) -> Option<Number> {
        let (a, b) = (self.value, other.value);
        if (0..SMALL).contains(&a) && (0..SMALL).contains(&b) {
            let value = of_small(op, a, b)?;
            return Some(Number { value, is_given: self.is_given || other.is_given });
        }
        let value = match (op, self.natural(), other.natural()) {
            (BinaryOp::Add, ..) => a.checked_add(b)?,
            (BinaryOp::Sub, ..) => a.checked_sub(b)?,
            (BinaryOp::Mul, ..) => a.checked_mul(b)?,
            (BinaryOp::Shl, Some(a), Some(bits @ 0..31)) => i64::try_from(a.checked_shl(bits as u32)?).ok()?,
            (BinaryOp::Shr, Some(a), Some(bits @ 0..31)) => i64::try_from(a >> bits).ok()?,
            (_, Some(a), Some(b)) => i64::try_from(operate(op, a, b)?).ok()?,
            // Bits below the 32nd are the same in all types.
            (BinaryOp::BitAnd, None, Some(_)) | (BinaryOp::BitAnd, Some(_), None) => a & b,
            (BinaryOp::Eq, None, Some(_)) | (BinaryOp::Eq, Some(_), None) => 0,
            (BinaryOp::Ne, None, Some(_)) | (BinaryOp::Ne, Some(_), None) => 1,
            (
                BinaryOp::Div
                | BinaryOp::Rem
                | BinaryOp::BitAnd
                | BinaryOp::BitOr
                | BinaryOp::BitXor
                | BinaryOp::Shl
                | BinaryOp::Shr
                | BinaryOp::Eq
                | BinaryOp::Ne
                | BinaryOp::Lt
                | BinaryOp::Le
                | BinaryOp::Gt
                | BinaryOp::Ge
                | BinaryOp::And
                | BinaryOp::Or,
                ..,
            ) => return None,
        };
        // What is no larger than its operands is the same in each type that holds them.
        let bits = match op {
            BinaryOp::Div | BinaryOp::Rem | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::Shr => 32,
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Shl
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge
            | BinaryOp::And
            | BinaryOp::Or => 31,
        };
        let is_small = value.unsigned_abs() < 1 << bits;
        is_small.then_some(Number { value, is_given: self.is_given || other.is_given })
    }

    fn function(self, other: Number, of: impl FnOnce(u64, u64) -> Option<u64>) -> Option<Number> {
        let value = of(self.natural()?, other.natural()?)?;
        Some(Number { is_given: self.is_given || other.is_given, ..Number::own(value)? })
    }
}

/// Numbers from 0 up to here have the same sum, product and so on in each type that holds them and the result, if that is below, too.
const SMALL: i64 = 1 << 31;

/// The result of an operator on two small numbers, if it is small: most are, and this is what a run computes most.
fn of_small(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    let value = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div if b > 0 => a / b,
        BinaryOp::Rem if b > 0 => a % b,
        BinaryOp::BitAnd | BinaryOp::And => a & b,
        BinaryOp::BitOr | BinaryOp::Or => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::Shl if b < 31 => a << b,
        BinaryOp::Shr if b < 31 => a >> b,
        BinaryOp::Eq => (a == b) as i64,
        BinaryOp::Ne => (a != b) as i64,
        BinaryOp::Lt => (a < b) as i64,
        BinaryOp::Le => (a <= b) as i64,
        BinaryOp::Gt => (a > b) as i64,
        BinaryOp::Ge => (a >= b) as i64,
        BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr => return None,
    };
    if value < SMALL { Some(value) } else { None }
}

impl Runs<'_, '_> {
    /// Returns the runs of threads in a grid of so many clusters of one block each.
    pub(in crate::check) fn in_grid(self, blocks: u64) -> Self {
        Runs { grid: Some(blocks), ..self }
    }

    /// Returns the runs of threads in a cluster of a grid of which nothing is known.
    pub(in crate::check) fn in_any_grid(self) -> Self {
        Runs { in_any_grid: true, ..self }
    }
}

impl Thread<'_, '_, '_> {
    /// The number of the current iteration.
    fn counter(&self, block: BlockId) -> Option<Number> {
        let head = self.runs.plan.blocks[block.0].iterates?;
        let counted = self.runs.plan.blocks[head.0].counted.as_ref()?;
        let before = self.iterations[head.0].checked_sub(1)?;
        let (by, by_given) = self.stride(counted)?;
        match by {
            by @ 1.. => {
                let start = self.known(counted.start)?;
                let steps = i64::try_from(before).ok()?.checked_mul(by)?;
                Some(Number { value: start.value.checked_add(steps)?, is_given: start.is_given || by_given })
            }
            -1 => {
                let end = self.known(counted.end)?;
                let value = end.value + i64::from(counted.inclusive) - i64::try_from(before).ok()? - 1;
                Some(Number { value, ..end })
            }
            _ => None,
        }
    }

    /// The number of iterations of a loop over a range, if it is known.
    pub(super) fn trips(&self, counted: &CountedLoop) -> Option<u64> {
        let (start, end) = (self.known(counted.start)?.value, self.known(counted.end)?.value);
        let length = u64::try_from(end.saturating_add(counted.inclusive.into()).saturating_sub(start)).unwrap_or(0);
        Some(length.div_ceil(Some(self.stride(counted)?.0.unsigned_abs()).filter(|by| *by > 0)?))
    }

    /// The difference between consecutive numbers of a loop, and whether it depends on what the host passes.
    pub(super) fn stride(&self, counted: &CountedLoop) -> Option<(i64, bool)> {
        let of_value = || {
            let step = self.known(counted.step?)?;
            Some((step.value, step.is_given))
        };
        counted.by.map(|by| (by, false)).or_else(of_value)
    }

    pub(super) fn evaluate(&self, block: BlockId, node: NodeId, recipe: &Recipe) -> Option<Number> {
        let value = match recipe.how {
            How::Is(number) => number,
            How::Rank => Number::own(self.id.rank),
            How::Digit(digit) => Number::own(digit.of_rank(self.id.rank)?),
            How::Variable(place) => self.variables[place],
            How::Argument => Number::given(self.launch.argument?),
            How::Load { is_read_only } => return self.loaded(node, is_read_only),
            How::Not(operand) => {
                let of = self.known(operand)?;
                (of.natural()? <= 1).then_some(Number { value: 1 - of.value, ..of })
            }
            How::Binary(op, a, b) => match (op, self.known(a), self.known(b)) {
                (BinaryOp::And, Some(a @ Number { value: 0, .. }), _) => Some(a),
                (BinaryOp::Or, Some(a @ Number { value: 1, .. }), _) => Some(a),
                (_, Some(a), Some(b)) => a.operate(op, b),
                (_, Some(_) | None, _) => None,
            },
            How::Same(operand) => self.known(operand),
            How::Counter => self.counter(block),
            How::Formula(formula) => self.formula(formula, &self.runs.cfg.nodes[node.0].operands),
            How::LengthOfSlice => Number::given(self.launch.length?),
            How::Other => self.other(node),
        }?;
        // A value that its type would cut is not followed.
        let fits = |bits: u32| value.natural().is_some_and(|value| bits >= 64 || value >> bits == 0);
        if recipe.bits.is_none_or(fits) { Some(value) } else { None }
    }

    /// The value that a load gives.
    fn loaded(&self, node: NodeId, is_read_only: bool) -> Option<Number> {
        // Its thread is certain of it.
        if let Some(of_data) = self.launch.data.and_then(|number| self.runs.on_data.load(node, number)) {
            return Number::own(of_data);
        }
        Number::given(match is_read_only {
            true => self.launch.element.filter(|_| self.runs.reads_integers)?,
            false => self.launch.agreed.filter(|_| self.runs.agreed.contains(&node))?,
        })
    }

    fn formula(&self, formula: Formula, operands: &[NodeId]) -> Option<Number> {
        let known = |node: &NodeId| self.known(*node);
        match (formula, operands) {
            (Formula::DivCeil, [a, b]) => {
                known(a)?.function(known(b)?, |a, b| a.checked_add(b.checked_sub(1)?)?.checked_div(b))
            }
            (Formula::NextMultiple, [a, b]) => known(a)?.function(known(b)?, u64::checked_next_multiple_of),
            (Formula::Min, [a, b]) => known(a)?.function(known(b)?, |a, b| Some(a.min(b))),
            (Formula::Max, [a, b]) => known(a)?.function(known(b)?, |a, b| Some(a.max(b))),
            (Formula::Length, [of]) => Number::own(self.listed(*of)?.len() as u64),
            (Formula::Pick, [index, elements @ ..]) => {
                let index = known(index)?;
                let element = elements.get(usize::try_from(index.value).ok()?).and_then(known)?;
                Some(Number { is_given: element.is_given || index.is_given, ..element })
            }
            (Formula::Replaced { element }, [index, new, old]) => {
                let index = known(index)?;
                let value = known(if index.natural() == Some(element) { new } else { old })?;
                Some(Number { is_given: value.is_given || index.is_given, ..value })
            }
            (Formula::Element, [array, index]) => {
                let index = known(index)?;
                let element = self.listed(*array)?.get(usize::try_from(index.value).ok()?).and_then(known)?;
                Some(Number { is_given: element.is_given || index.is_given, ..element })
            }
            (Formula::Negative, [of]) => known(of).map(|of| Number { value: -of.value, ..of }),
            (Formula::RemEuclid, [a, b]) => {
                let (a, b) = (known(a)?, known(b)?);
                let value = a.value.checked_rem_euclid(b.value).filter(|_| b.value > 0)?;
                Some(Number { value, is_given: a.is_given || b.is_given })
            }
            (
                Formula::DivCeil
                | Formula::NextMultiple
                | Formula::Min
                | Formula::Max
                | Formula::Negative
                | Formula::RemEuclid
                | Formula::Length
                | Formula::Array
                | Formula::Element
                | Formula::Pick
                | Formula::Replaced { .. }
                | Formula::GoesOn { .. },
                _,
            ) => None,
        }
    }

    /// The value of a node that is the answer to a query, a number on an axis, or computed in another way.
    fn other(&self, node: NodeId) -> Option<Number> {
        let cfg = self.runs.cfg;
        if matches!(cfg.nodes[node.0].source, Source::Known { .. }) {
            Number::own(self.answer(node)?)
        } else if cfg.axes.contains_key(&node) {
            Number::own(self.axis(node)?)
        } else {
            self.computed(*cfg.computed.get(&node)?, &cfg.nodes[node.0].operands)
        }
    }

    /// The number on an axis of a block's index, or of a size, in a grid of one cluster.
    fn axis(&self, node: NodeId) -> Option<u64> {
        let cfg = self.runs.cfg;
        let (of, axis) = *cfg.axes.get(&node)?;
        let (group, query) = cfg.queries.get(&cfg.origin(of)).filter(|(_, query)| query.answer == Answer::Extent)?;
        let options = &self.runs.function.options;
        let literals = |extents: &Extents| extents.each.iter().map(|extent| extent.literal).collect::<Option<Vec<_>>>();
        let along = |extents: &Option<Extents>| {
            let extents = extents.as_ref().map_or(Some(vec![1]), literals)?;
            Some((0..3).map(|axis| extents.get(axis).copied().unwrap_or(1)).collect::<Vec<u64>>())
        };
        match (query.uniform_at, group) {
            (UniformAt::Block, _) if self.runs.grid.is_some() => {
                if axis == 0 {
                    self.id.block
                } else {
                    Some(0)
                }
            }
            (UniformAt::Cluster, _) if self.runs.grid.is_some() => None,
            (UniformAt::Block | UniformAt::Cluster, _) if self.runs.in_any_grid => None,
            (UniformAt::Block, _) => {
                let (extents, rank) = (along(&options.cluster)?, self.id.block?);
                let before = extents[..axis].iter().product::<u64>();
                rank.checked_div(before)?.checked_rem(extents[axis])
            }
            (UniformAt::Cluster, _) => Some(0),
            (UniformAt::Grid, Group::ThreadBlock) => {
                along(&options.block).filter(|_| options.block.is_some())?.get(axis).copied()
            }
            // Some are sizes in threads.
            (UniformAt::Grid | UniformAt::Group | UniformAt::Thread, _) => None,
        }
    }

    /// The answer to a query, in a grid of one cluster if the thread's block is known.
    fn answer(&self, node: NodeId) -> Option<u64> {
        let threads = self.runs.threads;
        let blocks = match &self.runs.function.options.cluster {
            Some(cluster) => cluster.count(),
            None => Some(1),
        };
        let block = || self.id.block.or(blocks.filter(|blocks| *blocks == 1).map(|_| 0));
        let (group, query) = self.runs.cfg.queries.get(&node)?;
        if let (Some(grid), Group::Cluster | Group::Grid) = (self.runs.grid, group) {
            let (blocks, rank) = if *group == Group::Grid { (grid, self.id.block?) } else { (1, 0) };
            return match query.answer {
                Answer::ThreadCount => Some(blocks * threads),
                Answer::BlockCount => Some(blocks),
                Answer::BlockRank => Some(rank),
                Answer::ThreadRank => Some(rank * threads + self.id.rank),
                Answer::ThreadIndex | Answer::GroupRank | Answer::GroupCount | Answer::Number | Answer::Extent => None,
            };
        }
        match (group, query.answer) {
            (Group::ThreadBlock, Answer::ThreadCount) => Some(threads),
            (Group::Grid, _) if self.id.block.is_none() || self.runs.in_any_grid => None,
            (Group::Cluster | Group::Grid, Answer::ThreadCount) => blocks?.checked_mul(threads),
            (Group::Cluster | Group::Grid, Answer::BlockCount) => blocks,
            (Group::Cluster | Group::Grid, Answer::BlockRank) => block(),
            (Group::Grid, Answer::Number) => Some(u64::from(query.uniform_at == UniformAt::Grid)),
            (Group::Cluster | Group::Grid, Answer::ThreadRank) if self.id.block.is_some() => {
                block()?.checked_mul(threads)?.checked_add(self.id.rank)
            }
            (Group::ThreadBlock | Group::Cluster | Group::Grid | Group::Tile | Group::Coalesced, _) => None,
        }
    }
}
