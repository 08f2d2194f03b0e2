//! Queries of groups, and the axes of a thread's index: what the text shows of the answers.

use phalanx_contract::uniformity::Uniformity;

use super::{Builder, Source, Value};
use crate::check::cfg::{Coordinate, Digit, Formula, Granule, NodeId, Position, Region, Select, Shared, Team, Tile};
use crate::check::rings::inner;
use crate::model::expr::{BinaryOp, Expr, ExprKind};
use crate::model::group::Group;
use crate::model::op::Op;
use crate::model::options::Extents;
use crate::model::query::{Answer, Query, UniformAt};
use crate::span::SpanRange;

impl<'f> Builder<'f> {
    /// The scope at which a query's answer is uniform, without what is known of ranks beyond that.
    pub(super) fn query_uniformity(team: Team, query: &Query) -> Uniformity {
        match query.uniform_at {
            UniformAt::Thread => Uniformity::Divergent,
            UniformAt::Group => team.uniformity,
            UniformAt::Block => Uniformity::Block,
            UniformAt::Cluster => Uniformity::Cluster,
            UniformAt::Grid => Uniformity::Grid,
        }
    }

    /// The answer to a query.
    pub(super) fn query(&mut self, team: Team, query: &Query, at: SpanRange) -> NodeId {
        let source = self.answer(team, query);
        let node = self.node(source, Vec::new(), at);
        self.positions.extend(self.position(team, query).map(|position| (node, position)));
        node
    }

    /// The source of a query's answer. More is known of a thread's rank than its scope.
    fn answer(&self, team: Team, query: &Query) -> Source<'f> {
        let known = |uniformity| Source::Known { uniformity, what: query.name };
        match query.answer {
            Answer::ThreadRank => match team.group {
                Group::ThreadBlock => Source::ThreadRank,
                // The blocks before this one consist of whole warps, so that a multiple of 32 is added to the rank in the block.
                Group::Cluster | Group::Grid if self.are_blocks_whole_warps() => known(Uniformity::Rank),
                Group::Cluster | Group::Grid | Group::Tile | Group::Coalesced => {
                    known(Self::query_uniformity(team, query))
                }
            },
            Answer::ThreadCount => match team.tile {
                Some(Tile { size: Granule::Number(number), .. }) => Source::Integer(number),
                Some(Tile { size: Granule::Constant(value), .. }) => Source::Constant(value),
                None => known(Self::query_uniformity(team, query)),
            },
            Answer::GroupCount => match self.number_of_tiles(team) {
                Some(number) => Source::Integer(number),
                None => known(Self::query_uniformity(team, query)),
            },
            Answer::ThreadIndex
            | Answer::BlockRank
            | Answer::BlockCount
            | Answer::GroupRank
            | Answer::Number
            | Answer::Extent => known(Self::query_uniformity(team, query)),
        }
    }

    /// Returns the number of tiles of a partition, if the text shows the sizes of the tile and of what is partitioned.
    fn number_of_tiles(&self, team: Team) -> Option<u64> {
        let Tile { size: Granule::Number(size @ 1..), of } = team.tile? else { return None };
        match of? {
            None => Some(self.block_extents()?.count()?.div_ceil(size)),
            Some(Granule::Number(threads)) => Some(threads.div_ceil(size)),
            Some(Granule::Constant(_)) => None,
        }
    }

    /// Returns the length of memory or of a local array, which is the first of these operands.
    pub(super) fn length(&mut self, of: &Expr, memory: Option<&Region>, nodes: Vec<NodeId>, at: SpanRange) -> NodeId {
        if let Some(length) = self.length_of_array(memory).or_else(|| self.length_of_local(of)) {
            return self.node(Source::Integer(length), Vec::new(), at);
        }
        if self.is_local_array(of) {
            return self.hidden_length(of, at).node;
        }
        if let Some(length) = self.length_of_chunk(memory, at) {
            return length;
        }
        if let Some((start, end)) = memory.and_then(Region::ends) {
            return self.node(Source::Binary(BinaryOp::Sub), vec![end, start], at);
        }
        let length = self.combined(nodes, at).node;
        self.formulas.insert(length, Formula::Length);
        length
    }

    /// Returns the number of elements of a whole shared array, or of a row of one, if it is a literal.
    pub(super) fn length_of_array(&self, memory: Option<&Region>) -> Option<u64> {
        let region = memory.filter(|region| !region.part && region.via.is_none())?;
        let (_, Shared::Array(array)) = region.root.party()? else { return None };
        let (element, length) = self.function.shared.get(array)?;
        let Some(rows) = region.path.len().checked_sub(1) else {
            return self.function.values[usize::from(length.0)].literal;
        };
        let is_element = |select: &Select| matches!(select, Select::At(_));
        let row = (0..rows).try_fold(element.clone(), |row, _| inner(&row).map(|(element, _)| element));
        let (_, length) = row.filter(|_| region.path.iter().all(is_element)).and_then(|row| inner(&row))?;
        length.to_string().parse().ok()
    }

    /// The length of a chunk of a shared array: the last one has what is left.
    pub(super) fn length_of_chunk(&mut self, memory: Option<&Region>, at: SpanRange) -> Option<NodeId> {
        let mut whole = memory.filter(|region| region.open && !region.part)?.clone();
        let Some(Select::Chunk { size, index }) = whole.path.pop() else { return None };
        let length = self.length_of_array(Some(&whole))?;
        let length = self.node(Source::Integer(length), Vec::new(), at);
        let before = self.node(Source::Binary(BinaryOp::Mul), vec![size, index], at);
        let rest = self.node(Source::Binary(BinaryOp::Sub), vec![length, before], at);
        let least = self.combined(vec![size, rest], at).node;
        self.formulas.insert(least, Formula::Min);
        Some(least)
    }

    /// Returns the thread's position in its block that a query's answer determines.
    fn position(&self, team: Team, query: &Query) -> Option<Position> {
        let rank = Digit::whole(Coordinate::Rank);
        match (query.answer, team.group, team.tile) {
            (Answer::ThreadRank, Group::ThreadBlock, _) => Some(Position::exactly(rank)),
            (Answer::ThreadRank, group @ (Group::Cluster | Group::Grid), _) => {
                let threads = self.block_extents().and_then(Extents::count).unwrap_or(1);
                Some(Position { rank_in: Some(group), ..Position::exactly(rank).plus(threads) })
            }
            (Answer::ThreadRank, _, Some(Tile { size, .. })) => {
                Some(Position::exactly(Digit { modulus: Some(size), ..rank }))
            }
            (Answer::GroupRank, _, Some(Tile { size, of: Some(modulus) })) => {
                Some(Position::exactly(Digit { modulus, divisor: size, ..rank }))
            }
            (
                Answer::ThreadRank
                | Answer::ThreadIndex
                | Answer::ThreadCount
                | Answer::BlockRank
                | Answer::BlockCount
                | Answer::GroupRank
                | Answer::GroupCount
                | Answer::Number
                | Answer::Extent,
                _,
                _,
            ) => None,
        }
    }

    /// Returns the thread's position in its block that an axis of its index determines.
    fn position_on_axis(&self, axis: char) -> Option<Position> {
        let each = self.block_extents().map(|extents| &extents.each[..]);
        let number = |axis: usize| each?.get(axis)?.literal;
        let digit = |modulus, divisor| Digit { of: Coordinate::Rank, modulus, divisor: Granule::Number(divisor) };
        let at = number_of(axis)?;
        let of_rank = match (at, each.map(<[_]>::len)) {
            (0, Some(1)) => Some(digit(None, 1)),
            (0, _) => number(0).map(|x| digit(Some(Granule::Number(x)), 1)),
            (1, Some(2)) => number(0).map(|x| digit(None, x)),
            (1, _) => number(0).zip(number(1)).map(|(x, y)| digit(Some(Granule::Number(x.saturating_mul(y))), x)),
            _ => number(0).zip(number(1)).map(|(x, y)| digit(None, x.saturating_mul(y))),
        };
        // All threads of a block are at 0 of an axis that it lacks.
        let lacks = each.is_some_and(|each| at >= each.len());
        let axis = Digit::whole(Coordinate::Axis(u8::try_from(at).ok()?));
        (!lacks).then(|| Position::exactly(of_rank.unwrap_or(axis)))
    }

    fn are_blocks_whole_warps(&self) -> bool {
        let threads = self.block_extents().and_then(|extents| extents.count());
        threads.is_some_and(|threads| threads % 32 == 0)
    }

    fn block_extents(&self) -> Option<&'f Extents> {
        self.function.options.block.as_ref()
    }

    /// Whether an expression is the thread's index in its block, or a name of it.
    pub(super) fn is_thread_index(&self, expr: &Expr) -> bool {
        if let ExprKind::Local(local) = &expr.kind {
            return self.thread_indexes.contains(local);
        }
        matches!(&expr.kind, ExprKind::Op { op: Op::Query(_, query), .. } if query.answer == Answer::ThreadIndex)
    }

    /// Builds `extent.x`. The block's extents decide how far the axes of a thread's index are uniform.
    pub(super) fn axis(&mut self, extent: &'f Expr, axis: char, at: SpanRange) -> Value {
        let node = self.value(extent).node;
        if !self.is_thread_index(extent) {
            // The axes are different values.
            let value = self.combined(vec![node], at);
            self.axes.extend(number_of(axis).map(|number| (value.node, (node, number))));
            return value;
        }
        let literals: Option<Vec<u64>> =
            self.block_extents().and_then(|extents| extents.each.iter().map(|extent| extent.literal).collect());
        let uniformity = match (axis, literals.as_deref()) {
            ('x', Some([_])) => Uniformity::Rank,
            ('x', Some([x, ..])) if x % 32 == 0 => Uniformity::Rank,
            ('y', Some([x, _, ..])) => Uniformity::of_threads(u128::from(*x)),
            ('z', Some([x, y, _])) => Uniformity::of_threads(u128::from(*x) * u128::from(*y)),
            ('y' | 'z', Some([_])) | ('z', Some([_, _])) => Uniformity::Grid,
            _ => Uniformity::Divergent,
        };
        let node = self.node(Source::Known { uniformity, what: "thread_index" }, Vec::new(), at);
        self.positions.extend(self.position_on_axis(axis).map(|position| (node, position)));
        Value::of(node)
    }
}

/// The number of an axis, from its name.
fn number_of(axis: char) -> Option<usize> {
    ['x', 'y', 'z'].iter().position(|name| *name == axis)
}
