//! Finds the factors of values: the numbers that divide a value, whatever the value is. Arithmetic wraps around, which keeps
//! multiples of powers of two alone; other factors are known only of numbers that are too small for that.

use std::collections::BTreeSet;

use super::factors::{Factors, MAX_DEPTH, Name, Whole};
use super::values::Values;
use crate::check::cfg::{Formula, Node, NodeId, Source};
use crate::model::expr::BinaryOp;
use crate::model::group::Group;
use crate::model::options::Extents;
use crate::model::query::Answer;

/// The bits that the length of memory may have.
const LENGTH_BITS: u32 = 48;

impl Values<'_, '_> {
    /// The numbers that certainly divide a value.
    pub(super) fn factors(&self, node: NodeId) -> Factors {
        if let Some(known) = self.factors.borrow().get(&node) {
            return known.clone();
        }
        let factors = self.factors_within(node, MAX_DEPTH);
        self.factors.borrow_mut().insert(node, factors.clone());
        factors
    }

    fn factors_within(&self, node: NodeId, depth: u8) -> Factors {
        let mut factors = depth.checked_sub(1).map_or(Factors::NONE, |depth| self.factors_of_source(node, depth));
        factors.names.extend(self.fixed.text(node, MAX_DEPTH).map(Name::Text));
        factors
    }

    fn factors_of_source(&self, node: NodeId, depth: u8) -> Factors {
        let Node { source, operands, .. } = &self.cfg.nodes[node.0];
        let of =
            |index: usize| operands.get(index).map_or(Factors::NONE, |operand| self.factors_within(*operand, depth));
        let exact = |factors: Factors| if self.is_exact(node) { factors } else { factors.wrapped() };
        match source {
            Source::Integer(number) => Factors::of(*number),
            Source::Constant(value) => {
                let options = &self.function.options;
                let sizes = [(&options.block, Name::ThreadsOf(Whole::Block)), (&options.cluster, Name::Blocks)];
                let is_size = |extents: &Option<Extents>| {
                    extents.as_ref().is_some_and(|extents| self.function.is_extent(*value, extents))
                };
                let names = sizes.into_iter().filter(|(extents, _)| is_size(extents)).map(|(_, name)| name);
                Factors { number: 1, names: names.collect() }
            }
            Source::Binary(BinaryOp::Mul) => exact(of(0).times(of(1))),
            Source::Binary(BinaryOp::Add | BinaryOp::Sub) => of(0).common(&of(1)).wrapped(),
            Source::Binary(BinaryOp::Shl) => match operands.get(1).and_then(|by| self.cfg.nodes[by.0].source.integer())
            {
                Some(bits @ 0..64) => of(0).times(Factors::of(1 << bits)).wrapped(),
                Some(_) | None => Factors::NONE,
            },
            Source::Binary(BinaryOp::BitAnd) => {
                let (first, second) = (of(0).wrapped().number, of(1).wrapped().number);
                Factors::of(if first == 0 || second == 0 { 0 } else { first.max(second) })
            }
            // The complement of ones has as many zeros.
            Source::Not => match operands.first().and_then(|of| self.cfg.nodes[of.0].source.integer()) {
                Some(number) => Factors::of(1 << number.trailing_ones().min(63)),
                None => Factors::NONE,
            },
            Source::Read(variable) => match self.fixed.of_variable(*variable) {
                Some(value) => self.factors_within(value, depth),
                None => Factors::NONE,
            },
            Source::Operands => match self.cfg.formulas.get(&node) {
                Some(Formula::NextMultiple) => exact(of(1)),
                Some(
                    Formula::Length
                    | Formula::DivCeil
                    | Formula::Min
                    | Formula::Max
                    | Formula::Negative
                    | Formula::RemEuclid
                    | Formula::Array
                    | Formula::Element
                    | Formula::Pick
                    | Formula::Replaced { .. }
                    | Formula::GoesOn { .. },
                ) => Factors::NONE,
                None if self.cfg.cuts.contains_key(&node) => of(0).wrapped(),
                None => Factors::NONE,
            },
            Source::Known { .. } => match self.cfg.queries.get(&node) {
                Some((group, query)) if query.answer == Answer::ThreadCount => self.threads(*group),
                Some((Group::Cluster, query)) if query.answer == Answer::BlockCount => {
                    Factors { number: self.blocks_of_cluster().unwrap_or(1), names: BTreeSet::from([Name::Blocks]) }
                }
                Some(_) | None => Factors::NONE,
            },
            Source::Binary(_)
            | Source::Counter { .. }
            | Source::Param(_)
            | Source::ThreadRank
            | Source::Round(..)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => Factors::NONE,
        }
    }

    /// The factors of the number of threads in a group.
    fn threads(&self, group: Group) -> Factors {
        let Some(whole) = Whole::of(group) else { return Factors::NONE };
        let parts = [Whole::Block, Whole::Cluster, Whole::Grid].into_iter().filter(|part| *part <= whole);
        let block = self.threads_of_block().unwrap_or(1);
        let number = if whole == Whole::Block { block } else { self.threads_of_cluster().unwrap_or(block) };
        Factors { number, names: parts.map(Name::ThreadsOf).collect() }
    }

    pub(super) fn threads_of_block(&self) -> Option<u64> {
        self.function.options.block.as_ref().and_then(Extents::count).filter(|threads| *threads > 0)
    }

    pub(super) fn blocks_of_cluster(&self) -> Option<u64> {
        self.function.options.cluster.as_ref().and_then(Extents::count).filter(|blocks| *blocks > 0)
    }

    pub(super) fn threads_of_cluster(&self) -> Option<u64> {
        self.threads_of_block()?.checked_mul(self.blocks_of_cluster()?)
    }

    /// Whether a value is too small to wrap around: it is computed from the length of memory, so that its type has 64 bits.
    fn is_exact(&self, node: NodeId) -> bool {
        self.bits(node, MAX_DEPTH).is_some_and(|(bits, of_length)| of_length && bits <= 64)
    }

    /// The bits that a value may have, and whether its type is that of lengths.
    fn bits(&self, node: NodeId, depth: u8) -> Option<(u32, bool)> {
        let depth = depth.checked_sub(1)?;
        let Node { source, operands, .. } = &self.cfg.nodes[node.0];
        let both = || Some((self.bits(*operands.first()?, depth)?, self.bits(*operands.get(1)?, depth)?));
        match (source, self.cfg.formulas.get(&node)) {
            (Source::Integer(number), _) => Some((u64::BITS - number.leading_zeros(), false)),
            (Source::Operands, Some(Formula::Length)) => Some((LENGTH_BITS, true)),
            (Source::Operands, Some(Formula::DivCeil)) | (Source::Round(_, BinaryOp::Div), _) => {
                let (value, divisor) = both()?;
                Some((value.0, value.1 || divisor.1))
            }
            (Source::Operands, Some(Formula::NextMultiple)) => {
                let (value, multiple) = both()?;
                Some((value.0.max(multiple.0) + 1, value.1 || multiple.1))
            }
            (Source::Binary(BinaryOp::Mul), _) => {
                let (first, second) = both()?;
                Some((first.0 + second.0, first.1 || second.1))
            }
            (Source::Read(variable), _) => self.bits(self.fixed.of_variable(*variable)?, depth),
            (Source::Known { .. }, _) if self.cfg.queries.contains_key(&node) => Some((u32::BITS, false)),
            (
                Source::Operands
                | Source::Constant(_)
                | Source::Binary(_)
                | Source::Not
                | Source::Counter { .. }
                | Source::Param(_)
                | Source::Known { .. }
                | Source::ThreadRank
                | Source::Round(..)
                | Source::Load(_)
                | Source::Agreed { .. }
                | Source::Shuffled { .. }
                | Source::Call { .. },
                _,
            ) => None,
        }
    }
}
