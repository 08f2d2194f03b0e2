//! Operations: groups, their queries and collectives, barriers, memory.

use phalanx_contract::uniformity::Uniformity;

use super::memory::region_of_kind;
use super::{Builder, GroupStep, MemoryStep, Source, StepKind, TokenStep, Value};
use crate::check::cfg::{
    AccessKind, BarrierCall, BarrierCallId, Coordinate, Covers, Digit, Formula, Granule, NodeId, Position, Region,
    Root, Select, Shared, Team, Tile,
};
use crate::model::ValueId;
use crate::model::barrier::{BarrierForm, PhaseAction};
use crate::model::expr::{Expr, ExprKind};
use crate::model::group::Group;
use crate::model::group_barrier::BarrierMethod;
use crate::model::kind::Kind;
use crate::model::op::{LeftOperand, Op};
use crate::model::options::Extents;
use crate::model::query::{Answer, Query, UniformAt};
use crate::model::ty::ParamType;
use crate::model::warp::WarpResult;
use crate::span::SpanRange;

impl<'f> Builder<'f> {
    pub(super) fn op(&mut self, op: Op, operands: &'f [Expr], expr: &'f Expr) -> Value {
        let at = expr.span;
        let mut values = self.values(operands);
        self.give_closures(&mut values, at);
        let token = values.iter().find_map(|value| value.token);
        let nodes: Vec<_> = values.iter().map(|value| value.node).collect();
        let region = values.first().and_then(|first| first.region.clone());
        let team = operands.first().and_then(|first| self.argument_team(first));
        let team = |group: Group| team.unwrap_or(Team::whole(group));
        let node = match op {
            Op::Arrive(group, method) => {
                let into = self.temporary();
                self.aligned(method, at);
                self.step(StepKind::Group(GroupStep::Arrive { group, method, into }), at);
                return self.nothing(at).with(Some(into));
            }
            Op::Wait(group, method) => {
                self.aligned(method, at);
                if let Some(from) = token {
                    self.step(StepKind::Group(GroupStep::Wait { group, from }), at);
                }
                self.nothing(at).node
            }
            Op::Forget(group) => {
                if let Some(from) = token {
                    self.step(StepKind::Token(TokenStep::Forget { group, from }), at);
                }
                self.nothing(at).node
            }
            Op::Sync(group, method) => {
                let team = team(group);
                self.collectives_of_warps.push((team, method.name, at));
                self.aligned(method, at);
                self.step(StepKind::Group(GroupStep::Collective { team, name: method.name, barrier: true }), at);
                self.nothing(at).node
            }
            Op::Warp(group, method) => {
                let team = team(group);
                self.collectives_of_warps.push((team, method.name, at));
                self.step(StepKind::Group(GroupStep::Collective { team, name: method.name, barrier: false }), at);
                match method.result {
                    WarpResult::OfOneThread => self.node(Source::Shuffled { team }, nodes[1..].to_vec(), at),
                    WarpResult::ComputedByOne => {
                        self.node(Source::Agreed { team, what: method.name }, nodes[1..].to_vec(), at)
                    }
                    WarpResult::Agreed => {
                        let agreed = self.node(Source::Agreed { team, what: method.name }, nodes[1..].to_vec(), at);
                        let own = values.iter().filter(|value| value.closure.is_some());
                        let own: Vec<_> = own.map(|value| value.node).collect();
                        if own.is_empty() { agreed } else { self.combined([vec![agreed], own].concat(), at).node }
                    }
                    WarpResult::PerThread => {
                        self.node(Source::Known { uniformity: Uniformity::Divergent, what: method.name }, nodes, at)
                    }
                }
            }
            Op::Partition(group, name) => {
                let team = team(group);
                self.step(StepKind::Group(GroupStep::Collective { team, name, barrier: false }), at);
                self.nothing(at).node
            }
            Op::Take => {
                let into = self.temporary();
                self.move_token(into, token, at);
                let taken = self.with_variant(&values[0], at);
                let nothing = self.nothing(at);
                let none = self.in_variant(nothing, at);
                self.store(&operands[0], &none, at);
                return taken.with(Some(into));
            }
            Op::Query(group, query) => {
                let team = team(group);
                let source = self.answer(team, query);
                let node = self.node(source, Vec::new(), at);
                self.positions.extend(self.position(team, query).map(|position| (node, position)));
                if !group.is_of_a_warp() {
                    self.queries.insert(node, (group, query));
                }
                node
            }
            Op::QuerySharedRank => {
                self.node(Source::Known { uniformity: Uniformity::Block, what: "query_shared_rank" }, nodes, at)
            }
            // A vector covers several elements.
            Op::LoadVec(lanes) => {
                let lanes = self.function.values[usize::from(lanes.0)].literal.unwrap_or(1);
                let vector = self.load(region.map(|region| region.at(Select::Unknown)), nodes.clone(), at);
                self.last_access_covers(Covers::Vector { first: nodes[1], lanes });
                return vector;
            }
            Op::LoadUnchecked => return self.load(region.map(|region| region.at(Select::At(nodes[1]))), nodes, at),
            Op::StoreVec => {
                let vector = region.unwrap_or(Region::of(Root::Global)).at(Select::Unknown);
                // rustc knows how many elements it has.
                let covers = Covers::Vector { first: nodes[1], lanes: 1 };
                self.access_part(vector, AccessKind::Write, covers, at);
                self.nothing(at).node
            }
            Op::LoadMatrix { stored, .. } => {
                let team = team(Group::Tile);
                self.place_of_matrix(team, stored.load(), operands, &nodes);
                self.step(StepKind::Group(GroupStep::Collective { team, name: stored.load(), barrier: false }), at);
                let covers = Covers::Matrix { row: nodes[2], column: nodes[3] };
                self.access_part(rows_of_matrix(&values), AccessKind::Read, covers, at);
                // Each lane gets other elements.
                self.node(Source::Known { uniformity: Uniformity::Divergent, what: stored.load() }, nodes, at)
            }
            Op::StoreMatrix { stored } => {
                let team = team(Group::Tile);
                self.place_of_matrix(team, stored.store(), operands, &nodes);
                self.step(StepKind::Group(GroupStep::Collective { team, name: stored.store(), barrier: false }), at);
                let covers = Covers::Matrix { row: nodes[2], column: nodes[3] };
                self.access_part(rows_of_matrix(&values), AccessKind::Write, covers, at);
                self.nothing(at).node
            }
            Op::MmaAsync { left, .. } => {
                let team = warpgroup(team(Group::Tile));
                let tiles: &[&str] = match left {
                    LeftOperand::Tile(_) => &["first tile", "second tile"],
                    LeftOperand::Registers => &["tile"],
                };
                let first = values.len() - tiles.len();
                for (argument, value) in tiles.iter().copied().zip(nodes.iter().skip(first)) {
                    let argument = Some((argument, *value));
                    self.step(StepKind::Group(GroupStep::Convergent { team, name: "mma_async", argument }), at);
                }
                self.product(team, &values[first..], left == LeftOperand::Registers, at);
                self.node(Source::Known { uniformity: Uniformity::Divergent, what: "mma_async" }, nodes, at)
            }
            Op::MmaWait { prior } => {
                let team = warpgroup(team(Group::Tile));
                self.wait_for_products(team, prior, at);
                self.node(Source::Known { uniformity: Uniformity::Divergent, what: "wait_mma" }, nodes, at)
            }
            Op::ChangeRegisters { change, .. } => {
                let team = warpgroup(team(Group::Tile));
                self.register_changes.push((self.current, change, at));
                self.step(StepKind::Group(GroupStep::Collective { team, name: change.name(), barrier: false }), at);
                self.nothing(at).node
            }
            Op::Atomic(atomic) => {
                let element = region.unwrap_or(Region::of(Root::Global)).at(Select::At(nodes[1]));
                self.access_atomically(element, atomic, at);
                self.node(
                    Source::Known { uniformity: Uniformity::Divergent, what: "the result of an atomic operation" },
                    nodes,
                    at,
                )
            }
            Op::Uniform(group) => {
                let team = team(group);
                self.step(StepKind::Group(GroupStep::Convergent { team, name: "uniform", argument: None }), at);
                self.node(Source::Agreed { team, what: "uniform" }, nodes[1..].to_vec(), at)
            }
            Op::Barrier(barrier, method) => {
                if method.action == PhaseAction::InitCollective {
                    let team = Team::whole(barrier.scope.group());
                    self.step(StepKind::Group(GroupStep::Collective { team, name: method.name, barrier: true }), at);
                }
                let region = region.unwrap_or_else(|| region_of_kind(Kind::Barrier(barrier)));
                if barrier.form == BarrierForm::Remote {
                    self.access(region.clone(), AccessKind::Atomic, at);
                }
                let operands = nodes[1..].to_vec();
                let result =
                    self.node(Source::Known { uniformity: Uniformity::Divergent, what: method.name }, nodes, at);
                self.barrier_calls.push(BarrierCall { barrier, method, region, operands, result, at });
                self.step(StepKind::BarrierCall(BarrierCallId(self.barrier_calls.len() - 1)), at);
                result
            }
            Op::Copy(copy) => {
                let team = operands.first().and_then(|first| self.argument_team(first));
                self.copy(copy, operands, &values, team, at);
                self.nothing(at).node
            }
            Op::Fence(order, scope) => {
                if order.releases() && scope.includes_cluster() {
                    self.step(StepKind::Memory(MemoryStep::Fence), at);
                }
                self.nothing(at).node
            }
            Op::WaitPrevious => {
                self.step(StepKind::Memory(MemoryStep::WaitPrevious), at);
                self.nothing(at).node
            }
            // A thread that sleeps, or lets later launches begin, is ordered with no other by that.
            Op::Nanosleep | Op::LaunchDependents => self.nothing(at).node,
            Op::This(_)
            | Op::SharedBarrier(..)
            | Op::MapBarrier(_)
            | Op::TiledPartition(..)
            | Op::MapSharedRank(_)
            | Op::SharedArray(_)
            | Op::DynamicShared
            | Op::DynamicSharedSlice
            | Op::Part { .. }
            | Op::SplitAt { .. }
            | Op::Length
            | Op::IsEmpty
            | Op::Unwrap
            | Op::UnwrapOr => {
                let value = self.combined(nodes, at);
                if op == Op::Length {
                    self.formulas.insert(value.node, Formula::Length);
                }
                let types = if let ExprKind::Op { types, .. } = &expr.kind { types.as_ref() } else { None };
                let element = types.map(|(element, _)| element);
                return match self.result_region(op, &values, element, expr.result_kind) {
                    Some(region) => value.in_memory(region),
                    None => value,
                };
            }
            Op::Is(_) => {
                self.drop_temporary(token, at);
                match values.first() {
                    Some(value) => self.is_variant(value, at),
                    None => self.nothing(at).node,
                }
            }
        };
        Value::of(node)
    }

    /// The threads of a tile that load or store a matrix say together where it lies.
    fn place_of_matrix(&mut self, team: Team, name: &'static str, operands: &[Expr], nodes: &[NodeId]) {
        let arguments = ["memory", "row", "column"].into_iter().zip(operands.iter().zip(nodes).skip(1));
        for (argument, (operand, value)) in arguments {
            let argument = Some((argument, *value));
            self.step(StepKind::Group(GroupStep::Convergent { team, name, argument }), operand.span);
        }
    }

    fn aligned(&mut self, method: &'static BarrierMethod, at: SpanRange) {
        if method.aligned {
            self.step(StepKind::Group(GroupStep::Aligned { name: method.name }), at);
        }
    }

    /// The group of threads that an expression stands for.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not known to be another's group is one of its own")]
    pub(super) fn team(&mut self, expr: &Expr) -> Team {
        // An expression with a reported fault has no known group.
        let group = if let Kind::Group(group) = expr.result_kind { group } else { Group::Coalesced };
        match &expr.kind {
            // Which group it is where, is unknown: a result of one need not hold for the next.
            ExprKind::Local(local) if self.reassigned.contains(local) && group.is_of_a_warp() => {
                Team { group, uniformity: self.fresh_group(), formed_at: None, param: None, tile: None }
            }
            ExprKind::Local(local) => match self.teams.get(local) {
                Some(team) => *team,
                None => self.unknown_team(group),
            },
            ExprKind::Borrow { target, .. } | ExprKind::Deref(target) => self.team(target),
            ExprKind::Op { op: Op::TiledPartition(parent, size), operands, .. } => {
                let of = match (parent, operands.first()) {
                    (Group::ThreadBlock, _) => Some(None),
                    (_, Some(parent)) => self.team(parent).tile.map(|tile| Some(tile.size)),
                    (_, None) => None,
                };
                let team = self.tile(*size);
                Team { tile: team.tile.map(|tile| Tile { of, ..tile }), ..team }
            }
            ExprKind::Op { op: Op::This(Group::Coalesced) | Op::Partition(..), .. } => self.unknown_team(group),
            ExprKind::Op { op: Op::This(group), .. } => Team::whole(*group),
            _ => self.unknown_team(group),
        }
    }

    /// The group of threads that an argument stands for, if it is a group.
    pub(super) fn argument_team(&mut self, argument: &Expr) -> Option<Team> {
        matches!(argument.result_kind, Kind::Group(_)).then(|| self.team(argument))
    }

    /// A new group of the threads that reach this point.
    fn unknown_team(&mut self, group: Group) -> Team {
        if !group.is_of_a_warp() {
            return Team::whole(group);
        }
        let uniformity = self.fresh_group();
        self.step(StepKind::Group(GroupStep::FormGroup(uniformity)), SpanRange::at(self.function.name.span()));
        Team { group, uniformity, formed_at: Some(self.current), param: None, tile: None }
    }

    fn fresh_group(&mut self) -> Uniformity {
        self.groups = self.groups.saturating_add(1);
        Uniformity::Group(self.groups)
    }

    fn tile(&mut self, size: ValueId) -> Team {
        let uniformity = match self.function.values[usize::from(size.0)].literal {
            Some(threads) => Uniformity::of_threads(u128::from(threads)),
            // Tiles of the same size are the same partition, even if the size is unknown.
            None => match self.sizes.get(&size) {
                Some(uniformity) => *uniformity,
                None => {
                    let uniformity = self.fresh_group();
                    self.sizes.insert(size, uniformity);
                    uniformity
                }
            },
        };
        let literal = self.function.values[usize::from(size.0)].literal;
        let size = literal.map_or(Granule::Constant(size), Granule::Number);
        Team { group: Group::Tile, uniformity, formed_at: None, param: None, tile: Some(Tile { size, of: None }) }
    }

    pub(super) fn parameter_team(&mut self, index: usize) -> Option<Team> {
        Some(match &self.function.params[index].ty {
            ParamType::Group(group) if group.is_of_a_warp() => {
                Team { group: *group, uniformity: self.fresh_group(), formed_at: None, param: Some(index), tile: None }
            }
            ParamType::Group(group) => Team::whole(*group),
            ParamType::Tile { size, .. } => {
                let team = self.tile(*size);
                match team.uniformity {
                    Uniformity::Group(_) => Team { param: Some(index), ..team },
                    Uniformity::Divergent
                    | Uniformity::Rank
                    | Uniformity::Parameter(_)
                    | Uniformity::Tile(_)
                    | Uniformity::Warp
                    | Uniformity::Warpgroup
                    | Uniformity::Block
                    | Uniformity::Cluster
                    | Uniformity::Grid => team,
                }
            }
            ParamType::Value(_)
            | ParamType::Reference { .. }
            | ParamType::Slice { .. }
            | ParamType::OptionalSlice { .. }
            | ParamType::Memory { .. }
            | ParamType::TensorMap { .. }
            | ParamType::Barrier { .. }
            | ParamType::Closure { .. } => return None,
        })
    }

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
            Answer::ThreadIndex
            | Answer::BlockRank
            | Answer::BlockCount
            | Answer::GroupRank
            | Answer::Number
            | Answer::Extent => known(Self::query_uniformity(team, query)),
        }
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
        let at = usize::from(u8::try_from(axis).ok()?.checked_sub(b'x')?);
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
            return self.combined(vec![node], at);
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

/// A tile of 128 threads, whatever the text says of its size: rustc knows that it is one.
fn warpgroup(team: Team) -> Team {
    Team { uniformity: Uniformity::Warpgroup, param: None, formed_at: None, ..team }
}

/// The rows of the memory, the second operand, in which a matrix lies.
fn rows_of_matrix(values: &[Value]) -> Region {
    let memory = values.get(1).and_then(|memory| memory.region.clone());
    memory.unwrap_or(Region::of(Root::Shared(Shared::Any))).several(Select::Unknown)
}
