//! Quotients that threads share although their values differ: `t / 64` of all ranks below 64, and so whether `t` is below a multiple
//! of 64, and how often `(t..n.next_multiple_of(64)).step_by(64)` runs. What divides a value is told by `factored`.
//!
//! The claims are those of the parent module, about threads that are at one point in the same iteration of all loops around it.

use phalanx_contract::uniformity::Uniformity;

use super::factors::{Factors, MAX_DEPTH, Name, Whole};
use super::level::{Level, Unknown};
use super::values::Values;
use crate::check::cfg::{BlockId, Coordinate, Extent, Formula, Granule, Node, NodeId, Offset, Source, Variable};
use crate::model::expr::BinaryOp;
use crate::model::group::Group;
use crate::model::options::Extents;
use crate::model::query::Answer;

/// The number of variables that are set several times through which a quotient is followed.
const MAX_VARIABLES: usize = 2;

/// A search for the quotient of a value.
#[derive(Debug, Default)]
struct Search {
    /// The variables whose quotients this one depends on, as the greatest solution, each with its factors.
    within: Vec<(Variable, Factors)>,
    /// Whether the quotient is rounded towards zero, as `/` rounds it: so it is the same of numbers that are not negative.
    towards_zero: bool,
}

impl Values<'_, '_> {
    /// The level of an operator's result, if more of it is known than that its operands may differ.
    pub(super) fn level_by_quotients(&self, node: NodeId) -> Option<Level> {
        let Node { source, operands, .. } = &self.cfg.nodes[node.0];
        // The value is another one in a small type.
        if self.cfg.cuts.contains_key(&node) {
            return None;
        }
        let (value, by, others) = match (source, &operands[..]) {
            (Source::Round(Granule::Number(number), _), [value, _]) => (*value, Factors::of(*number), &[][..]),
            (Source::Round(Granule::Constant(_), _), [value, by]) => (*value, self.factors(*by), &operands[1..]),
            (Source::Binary(BinaryOp::Lt | BinaryOp::Ge | BinaryOp::Div), [value, by]) => {
                (*value, self.factors(*by), &operands[1..])
            }
            (Source::Binary(BinaryOp::Gt | BinaryOp::Le), [by, value]) => (*value, self.factors(*by), &operands[..1]),
            // How often a range goes on depends on the quotient of its start by a number that divides its end and the step.
            (Source::Operands, [start, end, step])
                if matches!(self.cfg.formulas.get(&node), Some(Formula::GoesOn { inclusive: false })) =>
            {
                (*start, self.factors(*end).common(&self.factors(*step)), &operands[1..])
            }
            (
                Source::Operands
                | Source::Integer(_)
                | Source::Constant(_)
                | Source::Binary(_)
                | Source::Not
                | Source::Counter { .. }
                | Source::Read(_)
                | Source::Param(_)
                | Source::Known { .. }
                | Source::ThreadRank
                | Source::Round(..)
                | Source::Load(_)
                | Source::Agreed { .. }
                | Source::Shuffled { .. }
                | Source::Call { .. },
                _,
            ) => return None,
        };
        let towards_zero = matches!(source, Source::Binary(BinaryOp::Div) | Source::Round(_, BinaryOp::Div));
        let mut level = self.quotient(value, &by, &mut Search { towards_zero, ..Search::default() })?;
        // The same literal for all threads is no condition of the launch, as one that the block takes as a whole may be: elections
        // know better which threads it selects.
        let is_literal = matches!(source, Source::Round(Granule::Number(_), _)) && level.at_most == Uniformity::Grid;
        if is_literal && !self.is_counted(value) {
            return None;
        }
        for other in others {
            level.meet(&self.level(*other).combined());
        }
        Some(level)
    }

    /// The level of a value's quotient by one of the factors; `None` if no more is known than of the value.
    fn quotient(&self, value: NodeId, by: &Factors, search: &mut Search) -> Option<Level> {
        if by.is_none() || search.within.len() > MAX_VARIABLES {
            return None;
        }
        let own = self.level(value);
        let of_rank = (own.at_most == Uniformity::Rank).then(|| {
            let uniformity = Uniformity::of_threads(u128::from(by.number));
            Level { at_most: uniformity, unknown: own.unknown.clone() }
        });
        let own = own.combined();
        let known = [self.quotient_of_source(value, by, search), of_rank].into_iter().flatten();
        let better = known.filter(|level| !own.at_most.covers(level.at_most) && is_lasting(level));
        better.reduce(|best, level| if level.at_most.covers(best.at_most) { level } else { best })
    }

    /// The quotient's level, or else the value's.
    fn quotient_or_value(&self, value: NodeId, by: &Factors, search: &mut Search) -> Level {
        self.quotient(value, by, search).unwrap_or_else(|| self.level(value).combined())
    }

    fn quotient_of_source(&self, value: NodeId, by: &Factors, search: &mut Search) -> Option<Level> {
        if self.is_below(value, by) {
            return Some(Level::known(Uniformity::Grid));
        }
        let Node { source, operands, .. } = &self.cfg.nodes[value.0];
        let operand = |index: usize| operands.get(index).copied();
        let number = |index: usize| self.cfg.nodes[operand(index)?.0].source.integer();
        let two_to = match by.number {
            0 => 1,
            number => 1 << number.trailing_zeros(),
        };
        match source {
            Source::Read(variable) => match self.fixed.of_variable(*variable) {
                Some(set) => self.quotient(set, by, search),
                None if search.towards_zero && !self.is_counter(*variable) => None,
                None => self.quotient_of_variable(*variable, by, search),
            },
            // A multiple of the factor is added to the quotient.
            Source::Binary(BinaryOp::Add) if !search.towards_zero => {
                [(operand(0)?, operand(1)?), (operand(1)?, operand(0)?)]
                    .into_iter()
                    .filter(|(_, multiple)| two_to > 1 && self.factors(*multiple).number.is_multiple_of(two_to))
                    .find_map(|(rest, multiple)| {
                        let mut level = self.quotient(rest, &Factors::of(two_to), search)?;
                        level.meet(&self.level(multiple).combined());
                        Some(level)
                    })
            }
            Source::Binary(BinaryOp::Mul) if !search.towards_zero => {
                [(operand(0)?, number(1)), (operand(1)?, number(0))]
                    .into_iter()
                    .filter_map(|(value, times)| Some((value, times.filter(|times| times.is_power_of_two())?)))
                    .filter(|(_, times)| two_to % times == 0)
                    .find_map(|(value, times)| self.quotient(value, &Factors::of(two_to / times), search))
            }
            Source::Binary(BinaryOp::Shl) if !search.towards_zero => {
                let times = 1_u64.checked_shl(u32::try_from(number(1)?).ok()?)?;
                let rest = two_to.checked_div(times).filter(|rest| *rest > 0)?;
                self.quotient(operand(0)?, &Factors::of(rest), search)
            }
            Source::Round(Granule::Number(divisor), op @ (BinaryOp::Div | BinaryOp::Shr))
                if !self.cfg.cuts.contains_key(&value) =>
            {
                let number = Factors::of(by.number.checked_mul(*divisor)?);
                let before = search.towards_zero;
                search.towards_zero |= *op == BinaryOp::Div;
                let level = self.quotient(operand(0)?, &number, search);
                search.towards_zero = before;
                level
            }
            Source::Counter { by: Some(step), .. } if *step > 0 => {
                self.quotient(operand(0)?, &Factors::of(step.unsigned_abs()).common(by), search)
            }
            Source::Known { .. } => self.quotient_of_query(value, by),
            Source::Operands
            | Source::Integer(_)
            | Source::Constant(_)
            | Source::Binary(_)
            | Source::Not
            | Source::Counter { .. }
            | Source::Param(_)
            | Source::ThreadRank
            | Source::Round(..)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => None,
        }
    }

    /// Whether a value is below a factor, so that its quotient is zero.
    fn is_below(&self, value: NodeId, by: &Factors) -> bool {
        let Node { source, operands, .. } = &self.cfg.nodes[value.0];
        let at_most_number = |bound: Option<u64>| bound.is_some_and(|bound| 0 < bound && bound <= by.number);
        if let Some(position) = self.cfg.positions.get(&value)
            && position.digit.of == Coordinate::Rank
            && position.offset == Offset::Zero
            && position.rank_in.is_none()
        {
            let end = |granule: Option<Granule>| match granule {
                Some(Granule::Number(number)) => Some(number),
                Some(Granule::Constant(_)) => None,
                None => self.threads_of_block(),
            };
            let (modulus, divisor) = (end(position.digit.modulus), end(Some(position.digit.divisor)));
            let bound = modulus
                .zip(divisor)
                .and_then(|(modulus, divisor)| Some(modulus.checked_sub(1)?.checked_div(divisor)? + 1));
            if at_most_number(bound) {
                return true;
            }
        }
        match source {
            Source::ThreadRank => by.names.iter().any(|name| matches!(name, Name::ThreadsOf(_))),
            Source::Known { .. } => match self.cfg.queries.get(&value) {
                Some((group, query)) if query.answer == Answer::ThreadRank => {
                    let all = if *group == Group::Cluster { self.threads_of_cluster() } else { None };
                    let spans = |name: &Name| matches!(name, Name::ThreadsOf(of) if Some(*of) >= Whole::of(*group));
                    at_most_number(all) || by.names.iter().any(spans)
                }
                Some((Group::Cluster, query)) if query.answer == Answer::BlockRank => {
                    at_most_number(self.blocks_of_cluster()) || by.names.contains(&Name::Blocks)
                }
                Some(_) | None => false,
            },
            // What is left of a negative number is negative.
            Source::Binary(BinaryOp::Rem) if operands.first().is_some_and(|value| self.is_rank(*value, MAX_DEPTH)) => {
                operands.get(1).is_some_and(|divisor| {
                    let named = self.fixed.text(*divisor, MAX_DEPTH).map(Name::Text);
                    at_most_number(self.cfg.nodes[divisor.0].source.integer())
                        || named.is_some_and(|name| by.names.contains(&name))
                })
            }
            Source::Binary(BinaryOp::BitAnd) => {
                operands.iter().any(|mask| self.cfg.nodes[mask.0].source.integer().is_some_and(|mask| mask < by.number))
            }
            Source::Operands
            | Source::Integer(_)
            | Source::Constant(_)
            | Source::Binary(_)
            | Source::Not
            | Source::Counter { .. }
            | Source::Read(_)
            | Source::Param(_)
            | Source::Round(..)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => false,
        }
    }

    /// Whether a value is a rank or an index of the thread, which is not negative.
    fn is_rank(&self, node: NodeId, depth: u8) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match &self.cfg.nodes[node.0].source {
            Source::ThreadRank => true,
            Source::Known { .. } => self.cfg.queries.contains_key(&node) || self.cfg.positions.contains_key(&node),
            Source::Read(variable) => self.fixed.of_variable(*variable).is_some_and(|value| self.is_rank(value, depth)),
            Source::Operands
            | Source::Integer(_)
            | Source::Constant(_)
            | Source::Binary(_)
            | Source::Not
            | Source::Counter { .. }
            | Source::Param(_)
            | Source::Round(..)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => false,
        }
    }

    /// The quotient of a rank in a cluster or the grid. Blocks follow each other there if the attribute fixes their size in one
    /// dimension, and so do clusters.
    fn quotient_of_query(&self, value: NodeId, by: &Factors) -> Option<Level> {
        let (group, query) = self.cfg.queries.get(&value)?;
        let is_line = |extents: &Option<Extents>| extents.as_ref().is_some_and(|extents| extents.each.len() == 1);
        let (block, cluster) = (is_line(&self.function.options.block), is_line(&self.function.options.cluster));
        let is_multiple = |of: Option<u64>| of.is_some_and(|of| by.number.is_multiple_of(of));
        let has_threads_of =
            |whole: Whole| by.names.iter().any(|name| matches!(name, Name::ThreadsOf(known) if *known >= whole));
        let uniformity = match (group, query.answer) {
            (Group::Grid, Answer::ThreadRank)
                if block && cluster && (is_multiple(self.threads_of_cluster()) || has_threads_of(Whole::Cluster)) =>
            {
                Uniformity::Cluster
            }
            (Group::Grid | Group::Cluster, Answer::ThreadRank)
                if block && (is_multiple(self.threads_of_block()) || has_threads_of(Whole::Block)) =>
            {
                Uniformity::Block
            }
            (Group::Grid, Answer::BlockRank)
                if cluster && (is_multiple(self.blocks_of_cluster()) || by.names.contains(&Name::Blocks)) =>
            {
                Uniformity::Cluster
            }
            (
                Group::Coalesced | Group::Tile | Group::ThreadBlock | Group::Cluster | Group::Grid,
                Answer::ThreadRank
                | Answer::ThreadIndex
                | Answer::ThreadCount
                | Answer::BlockRank
                | Answer::BlockCount
                | Answer::GroupRank
                | Answer::GroupCount
                | Answer::Number
                | Answer::Extent,
            ) => return None,
        };
        Some(Level::known(uniformity))
    }

    /// Whether a value is that of a variable that is set several times.
    fn is_counted(&self, value: NodeId) -> bool {
        let variable = self.cfg.nodes[value.0].source.read();
        variable.is_some_and(|variable| match self.fixed.of_variable(variable) {
            Some(set) => self.is_counted(set),
            None => true,
        })
    }

    /// Whether a variable is set by a loop over a range alone, so that it is not below the range's start.
    fn is_counter(&self, variable: Variable) -> bool {
        let steps = self.cfg.blocks.iter().flat_map(|block| &block.steps);
        let mut set = steps.filter_map(|step| step.kind.set()).filter(|(set, ..)| *set == variable);
        set.any(|(_, value, _)| match self.cfg.nodes[value.0].source {
            // The body does not change a counter whose steps are known.
            Source::Counter { of, by, .. } => of == variable && by.is_some(),
            Source::Operands
            | Source::Integer(_)
            | Source::Constant(_)
            | Source::Binary(_)
            | Source::Not
            | Source::Read(_)
            | Source::Param(_)
            | Source::Known { .. }
            | Source::ThreadRank
            | Source::Round(..)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => false,
        })
    }

    /// The quotient of a variable that is set several times: all threads that come to a point together have set it at the same places
    /// before, if the branches that decide about those places are uniform.
    fn quotient_of_variable(&self, variable: Variable, by: &Factors, search: &mut Search) -> Option<Level> {
        if search.within.iter().any(|(known, factors)| (*known, factors) == (variable, by)) {
            return Some(Level::known(Uniformity::Grid));
        }
        let mut level: Option<Level> = None;
        search.within.push((variable, by.clone()));
        for (block, steps) in self.cfg.blocks.iter().map(|block| &block.steps).enumerate() {
            for (set, value, extent) in steps.iter().filter_map(|step| step.kind.set()) {
                if set == variable || set.whole() == Some(variable) || variable.whole() == Some(set) {
                    let is_whole = set == variable && extent == Extent::Whole;
                    let new = is_whole.then(|| self.quotient_or_value(value, by, search));
                    let all = level.get_or_insert(Level::known(Uniformity::Grid));
                    all.meet(&new.unwrap_or(Level::known(Uniformity::Divergent)));
                    self.control.deciders(BlockId(block)).for_each(|branch| {
                        all.meet(&self.tested(branch).combined());
                    });
                }
            }
        }
        search.within.pop();
        level
    }
}

/// Whether a value of this level stays as uniform when a group is formed of other threads.
fn is_lasting(level: &Level) -> bool {
    let of_group = matches!(level.at_most, Uniformity::Group(_) | Uniformity::Parameter(_));
    !of_group && level.unknown.iter().all(|unknown| !matches!(unknown, Unknown::Call(_)))
}
