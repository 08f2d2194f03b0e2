//! The facts of each operation that the parser and the checks need. Each arm states every fact: none has a default, so
//! that an operation is not by omission one that any thread may execute anywhere and in any order.

#![warn(clippy::wildcard_enum_match_arm)]

use super::barrier::{Barrier, BarrierForm, BarrierScope, PhaseAction, PhaseMethod, PhaseResult};
use super::copy::{CopyOp, TensorCopy};
use super::group::Group;
use super::kind::{Kind, Memory};
use super::op::{Op, Part};

/// The facts of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The threads that must execute the operation together.
    pub(crate) convergence: Convergence,
    /// The operation's effect, which decides whether it may be reordered with other operands.
    pub(crate) effect: Effect,
    /// Whether the operation can fail at run time, and so has a site.
    pub(crate) fails: bool,
    pub(crate) result: Kind,
}

/// The threads that must execute an operation together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Convergence {
    /// Each thread executes it independently.
    Individual,
    /// All threads of the group must reach it. It is no barrier: arrivals may be pending.
    Convergent(Group),
    /// All threads of the group must reach it, and none of them may have an arrival pending.
    Collective(Group),
}

impl Convergence {
    /// Returns the group whose threads must all reach the operation.
    pub(crate) fn group(self) -> Option<Group> {
        match self {
            Convergence::Individual => None,
            Convergence::Convergent(group) | Convergence::Collective(group) => Some(group),
        }
    }

    /// Returns the group of which the operation is a collective.
    pub(crate) fn collective(self) -> Option<Group> {
        match self {
            Convergence::Individual | Convergence::Convergent(_) => None,
            Convergence::Collective(group) => Some(group),
        }
    }
}

/// The effect of an operand, which decides whether it may be evaluated in another order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effect {
    /// It has the same value whenever it is evaluated.
    Pure,
    /// It reads what other operands may change, or it may fail.
    Reads,
    /// It has side effects.
    Changes,
}

impl Op {
    /// Returns the operation's facts.
    pub(crate) fn facts(self) -> Facts {
        use Effect::{Changes, Pure, Reads};
        let individual = |effect, fails, result| Facts { convergence: Convergence::Individual, effect, fails, result };
        // An operation that threads execute together counts as a side effect.
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
            // The threads of a coalesced group are those that are converged at this point of the program.
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
            Op::Part { form: Part::Array, of, mutable } => individual(Pure, never, Kind::Memory(of.part(mutable))),
            Op::Part { of, mutable, .. } | Op::SplitAt { of, mutable } => {
                individual(Reads, at_its_site, Kind::Memory(of.part(mutable)))
            }
            Op::LoadVec(_) => individual(Reads, at_its_site, Kind::Value),
            Op::StoreVec => individual(Changes, at_its_site, Kind::Unit),
            // Each lane addresses a row for the others (PTX ISA, ldmatrix and stmatrix).
            Op::LoadMatrix { .. } => collective(Group::Tile, at_its_site, Kind::Value),
            Op::StoreMatrix { .. } => collective(Group::Tile, at_its_site, Kind::Unit),
            // The warps of a warpgroup execute it together (PTX ISA, wgmma.mma_async).
            Op::MmaAsync { .. } => collective(Group::Tile, at_its_site, Kind::Value),
            Op::MmaWait { prior: None } | Op::MmaWaitExceptLast { .. } => collective(Group::Tile, never, Kind::Value),
            Op::MmaWait { prior: Some(_) } => collective(Group::Tile, never, Kind::Unit),
            // All warps of the warpgroup execute the same one (PTX ISA, setmaxnreg).
            Op::ChangeRegisters { .. } => collective(Group::Tile, never, Kind::Unit),
            // The result is a reference, as in Rust, which `*` reads.
            Op::LoadUnchecked => individual(Reads, never, Kind::Reference { mutable: false }),
            Op::Atomic(atomic) => individual(Changes, at_its_site, atomic.method.result),
            Op::Copy(copy) => match copy {
                CopyOp::Cooperative { group, .. } => convergent(group, at_its_site, Kind::Unit),
                CopyOp::Bulk(_) | CopyOp::Store => individual(Changes, at_its_site, Kind::Unit),
                CopyOp::Tensor(tensor) => match tensor {
                    TensorCopy::Load
                    | TensorCopy::Store
                    | TensorCopy::Reduce(_)
                    | TensorCopy::Multicast
                    | TensorCopy::Expect => individual(Changes, at_its_site, Kind::Unit),
                    TensorCopy::Prefetch => individual(Changes, never, Kind::Unit),
                },
                CopyOp::Wait { group, .. } => collective(group, never, Kind::Unit),
                CopyOp::BulkWait { .. } => individual(Changes, never, Kind::Unit),
            },
            // A thread forgets by itself: its group needs it no more.
            // Each thread waits for the earlier launches by itself, and a block has let later ones begin once one of its threads has.
            Op::Fence(..) | Op::Nanosleep | Op::LaunchDependents | Op::WaitPrevious | Op::Forget(_) => {
                individual(Changes, never, Kind::Unit)
            }
            Op::Take => individual(Changes, never, Kind::OptionalToken(None)),
            Op::Is(_) | Op::UnwrapOr => individual(Reads, never, Kind::Value),
            Op::Unwrap => individual(Reads, at_its_site, Kind::Value),
        }
    }
}

impl PhaseMethod {
    fn facts(&self, scope: BarrierScope) -> Facts {
        let (convergence, fails) = match self.action {
            // The count is checked at run time.
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
            // A barrier's token is plain data, of a type that rustc distinguishes by the barrier's brand. It may be
            // dropped, but not copied.
            PhaseResult::Token | PhaseResult::Bool => Kind::Value,
        };
        Facts { convergence, effect: Effect::Changes, fails, result }
    }
}
