//! What the parser and the checks need to know of each operation. Each arm states every fact: none has a default, so that a
//! new operation is not by omission one that anybody may call anywhere and in any order.

#![warn(clippy::wildcard_enum_match_arm)]

use super::barrier::{Barrier, BarrierForm, BarrierScope, PhaseAction, PhaseMethod, PhaseResult};
use super::copy::CopyOp;
use super::group::Group;
use super::kind::{Kind, Memory};
use super::op::Op;

/// The facts of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Which threads must execute it together.
    pub(crate) convergence: Convergence,
    /// Its order against other operands.
    pub(crate) effect: Effect,
    /// It can fail at run time, and so has a site.
    pub(crate) fails: bool,
    pub(crate) result: Kind,
}

/// Which threads must execute an operation together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Convergence {
    /// Any thread by itself.
    Individual,
    /// All threads of the group. It is no barrier: arrivals may be pending.
    Convergent(Group),
    /// All threads of the group, which have no arrival pending.
    Collective(Group),
}

impl Convergence {
    /// The group whose threads all come to it.
    pub(crate) fn group(self) -> Option<Group> {
        match self {
            Convergence::Individual => None,
            Convergence::Convergent(group) | Convergence::Collective(group) => Some(group),
        }
    }

    /// The group whose collective it is.
    pub(crate) fn collective(self) -> Option<Group> {
        match self {
            Convergence::Individual | Convergence::Convergent(_) => None,
            Convergence::Collective(group) => Some(group),
        }
    }
}

/// Whether an operand may be evaluated in another order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effect {
    /// Gives the same value whenever it is evaluated.
    Pure,
    /// Reads what others may change, or may fail.
    Reads,
    /// Changes something.
    Changes,
}

impl Op {
    /// The operation's facts.
    pub(crate) fn facts(self) -> Facts {
        use Effect::{Changes, Pure, Reads};
        let individual = |effect, fails, result| Facts { convergence: Convergence::Individual, effect, fails, result };
        // What threads do together changes something.
        let convergent = |group, fails, result| {
            let convergence = Convergence::Convergent(group);
            Facts { convergence, effect: Changes, fails, result }
        };
        let collective = |group, fails, result| {
            let convergence = Convergence::Collective(group);
            Facts { convergence, effect: Changes, fails, result }
        };
        let (never, at_its_site) = (false, true);
        match self {
            // Who is here together depends on the place.
            Op::This(group @ Group::Coalesced) => individual(Changes, never, Kind::Group(group)),
            Op::This(group @ (Group::Tile | Group::ThreadBlock | Group::Cluster | Group::Grid)) => {
                individual(Pure, never, Kind::Group(group))
            }
            Op::TiledPartition(Group::ThreadBlock, _) => individual(Reads, at_its_site, Kind::Group(Group::Tile)),
            Op::TiledPartition(Group::Coalesced | Group::Tile | Group::Cluster | Group::Grid, _) => {
                individual(Pure, never, Kind::Group(Group::Tile))
            }
            Op::Partition(group, _) => collective(group, never, Kind::Group(Group::Coalesced)),
            Op::Warp(group, _) => collective(group, never, Kind::Value),
            Op::Query(_, query) => {
                individual(Pure, never, if query.answer.is_extent() { Kind::Extent } else { Kind::Value })
            }
            Op::Uniform(group) => convergent(group, never, Kind::Value),
            Op::Sync(group, _) | Op::Wait(group, _) => collective(group, never, Kind::Unit),
            Op::Arrive(group, _) => collective(group, never, Kind::Token(group)),
            Op::MapSharedRank(memory) => {
                let remote = match memory {
                    Memory::SharedSlice => Memory::RemoteSlice,
                    Memory::SharedArray
                    | Memory::Global
                    | Memory::GlobalMut
                    | Memory::RemoteArray
                    | Memory::RemoteSlice => Memory::RemoteArray,
                };
                individual(Reads, at_its_site, Kind::Memory(remote))
            }
            Op::MapBarrier(barrier) => {
                let remote = Barrier { form: BarrierForm::Remote, ..barrier };
                individual(Reads, at_its_site, Kind::Barrier(remote))
            }
            Op::QuerySharedRank | Op::Length | Op::IsEmpty => individual(Pure, never, Kind::Value),
            Op::SharedArray(_) => individual(Pure, never, Kind::Memory(Memory::SharedArray)),
            Op::SharedBarrier(barrier, _) => individual(Pure, never, Kind::Barrier(barrier)),
            Op::Barrier(barrier, method) => method.facts(barrier.scope),
            Op::DynamicShared => individual(Pure, never, Kind::Memory(Memory::SharedSlice)),
            Op::DynamicSharedSlice => individual(Reads, at_its_site, Kind::Memory(Memory::SharedSlice)),
            Op::Part { of, mutable, .. } | Op::SplitAt { of, mutable } => {
                individual(Reads, at_its_site, Kind::Memory(of.part(mutable)))
            }
            Op::LoadVec(_) => individual(Reads, at_its_site, Kind::Value),
            Op::StoreVec => individual(Changes, at_its_site, Kind::Unit),
            // As in Rust, a reference: `*` reads it.
            Op::LoadUnchecked => individual(Reads, never, Kind::Reference { mutable: false }),
            Op::Atomic(atomic) => individual(Changes, at_its_site, atomic.method.result),
            Op::Copy(copy) => match copy {
                CopyOp::Cooperative { group, .. } => convergent(group, at_its_site, Kind::Unit),
                CopyOp::Bulk(_) | CopyOp::Store => individual(Changes, at_its_site, Kind::Unit),
                CopyOp::Wait { group, .. } => collective(group, never, Kind::Unit),
                CopyOp::BulkWait { .. } => individual(Changes, never, Kind::Unit),
            },
            Op::Fence(..) => individual(Changes, never, Kind::Unit),
            Op::Take => individual(Changes, never, Kind::OptionalToken(None)),
            Op::Is(_) | Op::UnwrapOr => individual(Reads, never, Kind::Value),
            Op::Unwrap => individual(Reads, at_its_site, Kind::Value),
        }
    }
}

impl PhaseMethod {
    fn facts(&self, scope: BarrierScope) -> Facts {
        let (convergence, fails) = match self.action {
            // The count is looked at.
            PhaseAction::InitCollective => (Convergence::Collective(scope.group()), true),
            PhaseAction::Init => (Convergence::Individual, true),
            PhaseAction::Arrive
            | PhaseAction::ArriveN
            | PhaseAction::ArriveAndDrop
            | PhaseAction::Wait
            | PhaseAction::WaitParity
            | PhaseAction::ArriveAndWait
            | PhaseAction::TryWait
            | PhaseAction::ExpectTx
            | PhaseAction::Copy
            | PhaseAction::Invalidate => (Convergence::Individual, false),
        };
        let result = match self.result {
            PhaseResult::Nothing => Kind::Unit,
            // Plain data, of a type that rustc tells apart by the barrier: it may be dropped, and is not copied.
            PhaseResult::Token | PhaseResult::Bool => Kind::Value,
        };
        Facts { convergence, effect: Effect::Changes, fails, result }
    }
}
