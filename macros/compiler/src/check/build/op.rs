//! Operations: groups, their questions and collectives, barriers, memory.

use super::memory::{atomically, piece_of_kind};
use super::{Builder, Source, StepKind, Value};
use crate::check::cfg::{How, PhaseCall, PhaseId, Piece, Root, Select};
use crate::check::scope::{Scope, Team};
use crate::model::ValueId;
use crate::model::barrier::{BarrierForm, What};
use crate::model::expr::{Expr, ExprKind};
use crate::model::op::{BarrierMethod, Op, Query};
use crate::model::options::Extents;
use crate::model::ty::{Group, Kind, ParamType};
use crate::span::SpanRange;

impl<'f> Builder<'f> {
    pub(super) fn op(&mut self, op: Op, operands: &'f [Expr], expr: &'f Expr) -> Value {
        let at = expr.span;
        let values = self.values(operands);
        let token = values.iter().find_map(|value| value.token);
        let nodes: Vec<_> = values.iter().map(|value| value.node).collect();
        let piece = values.first().and_then(|first| first.piece.clone());
        let team = operands.first().and_then(|first| self.team_of_argument(first));
        let team = |group: Group| team.unwrap_or(Team::whole(group));
        let node = match op {
            Op::Arrive(group, method) => {
                let into = self.temporary();
                self.aligned(method, at);
                self.step(StepKind::Arrive { group, method, into }, at);
                return self.nothing(at).with(Some(into));
            }
            Op::Wait(group, method) => {
                self.aligned(method, at);
                if let Some(from) = token {
                    self.step(StepKind::Wait { group, from }, at);
                }
                self.nothing(at).node
            }
            Op::Sync(group, method) => {
                let team = team(group);
                self.aligned(method, at);
                self.step(StepKind::Collective { team, name: method.name, barrier: true }, at);
                self.nothing(at).node
            }
            Op::Warp(group, method) => {
                let team = team(group);
                self.step(StepKind::Collective { team, name: method.name, barrier: false }, at);
                match method.name {
                    "shfl" => self.node(Source::Shuffled { team }, nodes[1..].to_vec(), at),
                    "any" | "all" | "ballot" | "match_all" | "reduce" | "invoke_one_broadcast" => {
                        self.node(Source::Agreed { team, what: method.name }, nodes[1..].to_vec(), at)
                    }
                    _ => self.node(Source::Known { scope: Scope::Nothing, what: method.name }, nodes, at),
                }
            }
            Op::Partition(group, name) => {
                let team = team(group);
                self.step(StepKind::Collective { team, name, barrier: false }, at);
                self.nothing(at).node
            }
            Op::Take => {
                let into = self.temporary();
                self.move_token(into, token, at);
                return Value::of(nodes[0]).with(Some(into));
            }
            Op::Query(group, query) => {
                let team = team(group);
                let scope = self.rank_scope(team, query).unwrap_or_else(|| Self::query_scope(team, query));
                let source = match (group, query.name) {
                    (Group::ThreadBlock, "thread_rank") => Source::ThreadRank,
                    _ => Source::Known { scope, what: query.name },
                };
                let node = self.node(source, Vec::new(), at);
                if !group.is_of_a_warp() {
                    self.queries.insert(node, (group, query.name));
                }
                node
            }
            Op::QuerySharedRank => {
                self.node(Source::Known { scope: Scope::Block, what: "query_shared_rank" }, nodes, at)
            }
            // A vector is several elements.
            Op::LoadVec(_) => return self.load(piece.map(|piece| piece.at(Select::Unknown)), nodes, at),
            Op::LoadUnchecked => return self.load(piece.map(|piece| piece.at(Select::At(nodes[1]))), nodes, at),
            Op::StoreVec => {
                self.access(piece.unwrap_or(Piece::of(Root::Global)).at(Select::Unknown), How::Write, at);
                self.nothing(at).node
            }
            Op::Atomic(atomic) => {
                let element = piece.unwrap_or(Piece::of(Root::Global)).at(Select::At(nodes[1]));
                self.access(element, atomically(atomic), at);
                self.node(Source::Known { scope: Scope::Nothing, what: "the result of an atomic operation" }, nodes, at)
            }
            Op::Uniform(group) => {
                let team = team(group);
                self.step(StepKind::Together { team, name: "uniform" }, at);
                self.node(Source::Agreed { team, what: "uniform" }, nodes[1..].to_vec(), at)
            }
            Op::Barrier(barrier, method) => {
                if method.what == What::InitTogether {
                    let team = Team::whole(barrier.scope.group());
                    self.step(StepKind::Collective { team, name: method.name, barrier: true }, at);
                }
                let piece = piece.unwrap_or_else(|| piece_of_kind(Kind::Barrier(barrier)));
                if barrier.form == BarrierForm::Remote {
                    self.access(piece.clone(), How::Atomic, at);
                }
                let operands = nodes[1..].to_vec();
                let gives = self.node(Source::Known { scope: Scope::Nothing, what: method.name }, nodes, at);
                self.phases.push(PhaseCall { barrier, method, piece, operands, gives, at });
                self.step(StepKind::Phase(PhaseId(self.phases.len() - 1)), at);
                gives
            }
            Op::Copy(copy) => {
                let team = operands.first().and_then(|first| self.team_of_argument(first));
                self.copy(copy, operands, &values, team, at);
                self.nothing(at).node
            }
            Op::Fence(order, scope) => {
                if order.releases() && scope.has_cluster() {
                    self.step(StepKind::Fence, at);
                }
                self.nothing(at).node
            }
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
                let element = match &expr.kind {
                    ExprKind::Op { types: Some((element, _)), .. } => Some(element),
                    _ => None,
                };
                return match self.piece_of_op(op, &values, element, expr.gives) {
                    Some(piece) => value.in_memory(piece),
                    None => value,
                };
            }
            Op::Is(_) => {
                self.drop_temporary(token, at);
                nodes[0]
            }
        };
        Value::of(node)
    }

    fn aligned(&mut self, method: &'static BarrierMethod, at: SpanRange) {
        if method.aligned {
            self.step(StepKind::Aligned { name: method.name }, at);
        }
    }

    /// What an expression that is a group is a group of.
    pub(super) fn team(&mut self, expr: &Expr) -> Team {
        let group = match expr.gives {
            Kind::Group(group) => group,
            _ => Group::Coalesced,
        };
        match &expr.kind {
            ExprKind::Local(local) => match self.teams.get(local) {
                Some(team) => *team,
                None => self.unknown_team(group),
            },
            ExprKind::Borrow { target, .. } | ExprKind::Deref(target) => self.team(target),
            ExprKind::Op { op: Op::TiledPartition(_, size), .. } => self.tile(*size),
            ExprKind::Op { op: Op::This(Group::Coalesced) | Op::Partition(..), .. } => self.unknown_team(group),
            ExprKind::Op { op: Op::This(group), .. } => Team::whole(*group),
            _ => self.unknown_team(group),
        }
    }

    /// Of an argument that is a group.
    pub(super) fn team_of_argument(&mut self, argument: &Expr) -> Option<Team> {
        matches!(argument.gives, Kind::Group(_)).then(|| self.team(argument))
    }

    /// A group of the threads that are here.
    fn unknown_team(&mut self, group: Group) -> Team {
        if !group.is_of_a_warp() {
            return Team::whole(group);
        }
        let scope = self.fresh_scope();
        self.step(StepKind::Renew(scope), SpanRange::at(self.function.name.span()));
        Team { group, scope, made: Some(self.current), param: None }
    }

    fn fresh_scope(&mut self) -> Scope {
        self.groups = self.groups.saturating_add(1);
        Scope::Group(self.groups)
    }

    fn tile(&mut self, size: ValueId) -> Team {
        let text = self.function.values[usize::from(size.0)].tokens.to_string();
        let scope = match text.trim_end_matches("u32").trim_end_matches('_').parse() {
            Ok(threads) => Scope::of_threads(threads),
            // Tiles of one size are one partition, whatever the size is.
            Err(_) => match self.sizes.get(&text) {
                Some(scope) => *scope,
                None => {
                    let scope = self.fresh_scope();
                    self.sizes.insert(text, scope);
                    scope
                }
            },
        };
        Team { group: Group::Tile, scope, made: None, param: None }
    }

    pub(super) fn team_of_param(&mut self, index: usize) -> Option<Team> {
        Some(match &self.function.params[index].ty {
            ParamType::Group(group) if group.is_of_a_warp() => {
                Team { group: *group, scope: self.fresh_scope(), made: None, param: Some(index) }
            }
            ParamType::Group(group) => Team::whole(*group),
            ParamType::Tile { size, .. } => {
                let team = self.tile(*size);
                match team.scope {
                    Scope::Group(_) => Team { param: Some(index), ..team },
                    _ => team,
                }
            }
            _ => return None,
        })
    }

    /// How far threads agree on the answer to a question.
    pub(super) fn query_scope(team: Team, query: &Query) -> Scope {
        match (team.group, query.name) {
            (_, "thread_rank" | "thread_index") => Scope::Nothing,
            (Group::Tile, "meta_group_rank") | (Group::Coalesced, _) => team.scope,
            (Group::Cluster | Group::Grid, "block_rank" | "block_index") | (Group::ThreadBlock, "group_index") => {
                Scope::Block
            }
            (Group::Grid, "cluster_rank" | "cluster_index") => Scope::Cluster,
            _ => Scope::Grid,
        }
    }

    /// Of what is a rank.
    fn rank_scope(&self, team: Team, query: &Query) -> Option<Scope> {
        let is_rank = match (team.group, query.name) {
            (Group::ThreadBlock, "thread_rank") => true,
            // Blocks of whole warps go before it.
            (Group::Cluster | Group::Grid, "thread_rank") => {
                self.block_extents()?.count().is_some_and(|threads| threads % 32 == 0)
            }
            _ => false,
        };
        is_rank.then_some(Scope::Rank)
    }

    fn block_extents(&self) -> Option<&'f Extents> {
        self.function.options.block.as_ref()
    }

    /// `extent.x`: what a thread's index says of its warp follows from the block's extents.
    pub(super) fn axis(&mut self, extent: &'f Expr, axis: char, at: SpanRange) -> Value {
        let of_thread =
            matches!(&extent.kind, ExprKind::Op { op: Op::Query(_, query), .. } if query.name == "thread_index");
        let node = self.value(extent).node;
        if !of_thread {
            return Value::of(node);
        }
        let literals: Option<Vec<u64>> =
            self.block_extents().and_then(|extents| extents.each.iter().map(|extent| extent.literal).collect());
        let scope = match (axis, literals.as_deref()) {
            ('x', Some([_])) => Scope::Rank,
            ('x', Some([x, ..])) if x % 32 == 0 => Scope::Rank,
            ('y', Some([x, _, ..])) => Scope::of_threads(*x),
            ('z', Some([x, y, _])) => Scope::of_threads(x * y),
            ('y' | 'z', Some([_])) | ('z', Some([_, _])) => Scope::Grid,
            _ => Scope::Nothing,
        };
        let node = self.node(Source::Known { scope, what: "thread_index" }, Vec::new(), at);
        Value::of(node)
    }
}
