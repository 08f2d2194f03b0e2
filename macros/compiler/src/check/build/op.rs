//! Operations: groups, their queries and collectives, barriers, memory.

use phalanx_contract::uniformity::Uniformity;

use super::memory::region_of_kind;
use super::{Builder, GroupStep, MemoryStep, Source, StepKind, TokenStep, Value};
use crate::check::cfg::{
    AccessKind, BarrierCall, BarrierCallId, ChangeOfRegisters, Computed, Covers, Granule, NodeId, Region, Root, Select,
    Shared, Team, Tile,
};
use crate::model::ValueId;
use crate::model::barrier::{BarrierForm, PhaseAction};
use crate::model::expr::{BinaryOp, Expr, ExprKind};
use crate::model::group::Group;
use crate::model::group_barrier::BarrierMethod;
use crate::model::kind::Kind;
use crate::model::op::{LeftOperand, Op};
use crate::model::ty::ParamType;
use crate::model::warp::{WarpMethod, WarpResult};
use crate::span::SpanRange;

impl<'f> Builder<'f> {
    pub(super) fn op(&mut self, op: Op, operands: &'f [Expr], expr: &'f Expr) -> Value {
        let at = expr.span;
        let mut values = self.values(operands);
        match matches!(op, Op::Warp(_, WarpMethod { result: WarpResult::ComputedByOne, .. })) {
            true => self.give_closure_to_one(operands, &mut values, at),
            false => self.give_closures(&mut values, at),
        }
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
                        let of_lane = self.node(
                            Source::Known { uniformity: Uniformity::Divergent, what: method.name },
                            nodes,
                            at,
                        );
                        self.of_lanes.insert(of_lane);
                        of_lane
                    }
                }
            }
            Op::Partition(group, name) => {
                let team = team(group);
                self.step(StepKind::Group(GroupStep::Collective { team, name, barrier: false }), at);
                self.nothing(at).node
            }
            Op::Take => {
                // An `Option` of another value holds no token, of which a branch on it could tell.
                let into = token.map(|_| self.temporary());
                into.into_iter().for_each(|into| self.move_token(into, token, at));
                let taken = self.with_variant(&values[0], at);
                let taken = self.with_kept_variant(taken, at);
                let nothing = self.nothing(at);
                let none = self.in_variant(nothing, false, at);
                self.store(&operands[0], &none, at);
                return taken.with(into);
            }
            Op::Query(group, query) => {
                let node = self.query(team(group), query, at);
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
                let vector = self.read_value(region.map(|region| region.at(Select::Unknown)), nodes.clone(), at);
                self.last_access_covers(Covers::Vector { first: nodes[1], lanes });
                return vector;
            }
            Op::LoadUnchecked => {
                return self.read_value(region.map(|region| region.at(Select::At(nodes[1]))), nodes, at);
            }
            Op::StoreVec => {
                let vector = region.unwrap_or(Region::of(Root::Global)).at(Select::Unknown);
                // rustc knows how many elements it has, where the text does not show it.
                let lanes = operands.get(2).and_then(|vector| self.lanes(vector)).unwrap_or(1);
                let covers = Covers::Vector { first: nodes[1], lanes };
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
                self.wait_for_products(team, prior, None, at);
                self.node(Source::Known { uniformity: Uniformity::Divergent, what: "wait_mma" }, nodes, at)
            }
            Op::MmaWaitExceptLast { one } => {
                let team = warpgroup(team(Group::Tile));
                self.wait_for_products(team, Some(one), nodes.get(1).copied(), at);
                self.node(Source::Known { uniformity: Uniformity::Divergent, what: "wait_mma" }, nodes, at)
            }
            Op::ChangeRegisters { change, count } => {
                let team = warpgroup(team(Group::Tile));
                let step = self.blocks[self.current.0].steps.len();
                self.register_changes.push(ChangeOfRegisters { block: self.current, step, change, count, at });
                self.step(StepKind::Group(GroupStep::Collective { team, name: change.name(), barrier: false }), at);
                self.nothing(at).node
            }
            Op::Atomic(atomic) => {
                let element = region.unwrap_or(Region::of(Root::Global)).at(Select::At(nodes[1]));
                self.access_atomically(element, atomic, at);
                let added = nodes.get(2).copied().filter(|_| atomic.method.name == "fetch_add");
                let result = self.node(
                    Source::Known { uniformity: Uniformity::Divergent, what: "the result of an atomic operation" },
                    nodes,
                    at,
                );
                self.added.extend(added.map(|added| (result, added)));
                result
            }
            Op::Uniform(group) => {
                let team = team(group);
                self.step(StepKind::Group(GroupStep::Convergent { team, name: "uniform", argument: None }), at);
                let stated = self.node(Source::Agreed { team, what: "uniform" }, nodes[1..].to_vec(), at);
                self.computed.insert(stated, Computed::Held);
                stated
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
                self.barrier_calls.push(BarrierCall {
                    barrier,
                    method,
                    region,
                    operands,
                    result,
                    is_ignored: false,
                    at,
                });
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
                if let (Op::Length | Op::IsEmpty, Some(memory)) = (op, operands.first()) {
                    let length = self.length(memory, region.as_ref(), nodes, at);
                    if op == Op::Length {
                        return Value::of(length);
                    }
                    let nothing = self.node(Source::Integer(0), Vec::new(), at);
                    return Value::of(self.node(Source::Binary(BinaryOp::Eq), vec![length, nothing], at));
                }
                if let (Op::Unwrap | Op::UnwrapOr, Some(value)) = (op, values.first()) {
                    return self.unwrapped(value, &nodes, at);
                }
                let value = self.combined(nodes, at);
                let types = if let ExprKind::Op { types, .. } = &expr.kind { types.as_ref() } else { None };
                let element = types.map(|(element, _)| element);
                return match self.result_region(op, &values, element, expr.result_kind) {
                    Some(region) => value.in_memory(region),
                    None => value,
                };
            }
            Op::Is(variant) => {
                self.drop_temporary(token, at);
                match values.first() {
                    Some(value) => self.is_variant(value, variant, at),
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
