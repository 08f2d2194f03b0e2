//! The steps of a block, in families: an analysis handles the families that concern it, each variant by name, and passes over the
//! others as a whole.
//!
//! | family | tokens | uniformity | cluster memory | phase barriers | copies |
//! |---|---|---|---|---|---|
//! | `Value` | | x | x (indexes) | x | |
//! | `Memory` | | x | x | | x |
//! | `Group` | x | x | x | x | |
//! | `Token` | x | | | | |
//! | `BarrierCall` | | | x (meetings) | x | x |
//! | `Copy` | | | | | x |
//! | `Call` | x | x | x | x | |

use phalanx_contract::uniformity::Uniformity;

use super::memory::Region;
use super::team::Team;
use super::value::{Extent, Variable};
use super::{AccessId, BarrierCallId, CopyId, NodeId};
use crate::messages::Loss;
use crate::model::SlotId;
use crate::model::barrier::{Barrier, PhaseMethod};
use crate::model::group::Group;
use crate::model::group_barrier::BarrierMethod;
use crate::span::SpanRange;

/// Something that a thread does, and where the text says so.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) kind: StepKind,
    pub(crate) at: SpanRange,
}

/// What a step does, by family.
#[derive(Debug)]
pub(crate) enum StepKind {
    Value(ValueStep),
    Memory(MemoryStep),
    Group(GroupStep),
    Token(TokenStep),
    /// A method of a phase barrier is called.
    BarrierCall(BarrierCallId),
    /// An asynchronous copy begins, or is waited for.
    Copy(CopyId),
    /// A device function is called. The tokens that it was given, of these groups, have moved to it; it may return one.
    Call {
        slot: SlotId,
        takes: Vec<Group>,
        gives: Option<(Group, Variable)>,
        node: NodeId,
    },
}

/// A step of the computation of values.
#[derive(Debug)]
pub(crate) enum ValueStep {
    /// A value is computed.
    Evaluate(NodeId),
    /// A variable gets a value.
    Set { variable: Variable, value: NodeId, extent: Extent },
    /// The value is the function's result.
    Return(NodeId),
}

/// A step that accesses or orders memory.
#[derive(Debug)]
pub(crate) enum MemoryStep {
    /// Memory is read or written.
    Access(AccessId),
    /// What the thread did before is visible to the cluster before what it does after.
    Fence,
}

/// A step that the threads of a group execute together.
#[derive(Debug)]
pub(crate) enum GroupStep {
    /// A collective that is neither an arrival nor a wait. If it is a barrier, all threads of the group have reached it before
    /// one of them continues.
    Collective { team: Team, name: &'static str, barrier: bool },
    /// Something that all threads of a group execute and that orders nothing.
    Convergent { team: Team, name: &'static str },
    /// All threads of a warp execute what comes next together.
    Aligned { name: &'static str },
    /// A group is formed of the threads that are here. What another such group agreed on, this one may not.
    FormGroup(Uniformity),
    /// The group's split barrier is arrived at; the token goes into a variable.
    Arrive { group: Group, method: &'static BarrierMethod, into: Variable },
    /// The group's split barrier is waited at, with the token of a variable.
    Wait { group: Group, from: Variable },
    /// An arrival whose token some thread may forget, so that not all threads wait for it: it proves nothing about those
    /// that do not. `forgotten::mark` makes it of an `Arrive`.
    ArriveForgotten { group: Group, method: &'static BarrierMethod, into: Variable },
    /// A wait for such an arrival, by the threads that are elected to: no barrier of the whole group.
    WaitElected { group: Group, from: Variable },
}

/// A step that moves or loses a token.
#[derive(Debug)]
pub(crate) enum TokenStep {
    /// The token moves to another variable.
    Move { from: Variable, into: Variable },
    /// The token leaves the function by its result or into a device function.
    HandOver { from: Variable },
    /// The token is forgotten: the thread does not wait for its arrival.
    Forget { group: Group, from: Variable },
    /// The variable is set to `None`.
    Clear { variable: Variable },
    /// What the variable holds is dropped.
    Drop { variable: Variable, how: Loss },
}

/// A call of a method of a phase barrier.
#[derive(Debug)]
pub(crate) struct BarrierCall {
    pub(crate) barrier: Barrier,
    pub(crate) method: &'static PhaseMethod,
    /// The barrier's memory: whose it is, and which element of an array.
    pub(crate) region: Region,
    /// The arguments, without the barrier.
    pub(crate) operands: Vec<NodeId>,
    /// The result.
    pub(crate) gives: NodeId,
    pub(crate) at: SpanRange,
}
