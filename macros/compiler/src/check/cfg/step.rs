//! The steps of a block, in families: an analysis handles the families that concern it variant by variant, and ignores the
//! others as a whole. docs/analyses.md has the table of which analysis handles which step.

use phalanx_contract::protocol::{DYNAMIC, Party};
use phalanx_contract::uniformity::Uniformity;

use super::memory::{GivenTo, Region, Root, Shared};
use super::position::Granule;
use super::team::{Team, Tile, spans_cluster};
use super::value::{Extent, Variable};
use super::{AccessId, BarrierCallId, CallId, CopyId, NodeId};
use crate::model::barrier::{Barrier, PhaseMethod};
use crate::model::expr::{Callee, FunctionPath};
use crate::model::group::Group;
use crate::model::group_barrier::BarrierMethod;
use crate::model::token::TokenLoss;
use crate::model::{LocalId, SlotId};
use crate::span::SpanRange;

/// An action of a thread, with its place in the source.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) kind: StepKind,
    pub(crate) at: SpanRange,
}

/// The kind of a step, by family.
#[derive(Debug, Clone)]
pub(crate) enum StepKind {
    Value(ValueStep),
    Memory(MemoryStep),
    Group(GroupStep),
    Token(TokenStep),
    /// A call of a method of a phase barrier.
    BarrierCall(BarrierCallId),
    /// An asynchronous copy begins, or a thread waits for copies.
    Copy(CopyId),
    /// A device function is called.
    Call(CallId),
}

/// A step that computes values.
#[derive(Debug, Clone)]
pub(crate) enum ValueStep {
    /// A value is computed.
    Evaluate(NodeId),
    /// A variable gets a value.
    Set { variable: Variable, value: NodeId, extent: Extent },
    /// A name of memory, which is assigned more than once, stands for this from now on.
    Name { local: LocalId, region: Region },
    /// The function returns this value, or leaves it behind a `&mut` parameter.
    Return(NodeId),
}

/// A step that accesses or orders memory.
#[derive(Debug, Clone)]
pub(crate) enum MemoryStep {
    /// Memory is read or written.
    Access(AccessId),
    /// A fence: what the thread did before it is visible to the cluster before what it does after it.
    Fence,
    /// `wait_previous()`: the launches before this one have ended, and what they wrote is visible.
    WaitPrevious,
}

/// A step that the threads of a group execute together.
#[derive(Debug, Clone)]
pub(crate) enum GroupStep {
    /// A collective that is neither an arrival nor a wait. If it is a barrier, all threads of the group reach it before one
    /// of them continues.
    Collective { team: Team, name: &'static str, barrier: bool },
    /// An operation that all threads of a group execute together and that orders nothing. Or an argument of the group's next
    /// collective, by what it is, which all threads give the same value.
    Convergent { team: Team, name: &'static str, argument: Option<(&'static str, NodeId)> },
    /// All threads of a warp execute the next step together.
    Aligned { name: &'static str },
    /// A group is formed of the threads that reach this point. A value that was uniform in an earlier group of this number
    /// may not be in this one.
    FormGroup(Uniformity),
    /// An arrival at the group's split barrier, whose token goes into a variable.
    Arrive { group: Group, method: &'static BarrierMethod, into: Variable },
    /// A wait at the group's split barrier, with the token of a variable.
    Wait { group: Group, from: Variable },
    /// An arrival whose token some thread may forget, so that not all threads wait for it: it proves nothing about those
    /// that do not. `forgotten::mark` makes it of an `Arrive`.
    ArriveForgotten { group: Group, method: &'static BarrierMethod, into: Variable },
    /// A wait for such an arrival, by the threads that are elected to: no barrier of the whole group.
    WaitElected { group: Group, from: Variable },
}

/// A step that moves or loses a token.
#[derive(Debug, Clone)]
pub(crate) enum TokenStep {
    /// The token moves to another variable.
    Move { from: Variable, into: Variable },
    /// The token leaves the function, as its result or as an argument of a device function.
    HandOver { from: Variable },
    /// The token is forgotten: the thread does not wait for its arrival.
    Forget { group: Group, from: Variable },
    /// The variable is set to `None`.
    Clear { variable: Variable },
    /// The value of the variable is dropped.
    Drop { variable: Variable, how: TokenLoss },
}

/// A call of a method of a phase barrier.
#[derive(Debug, Clone)]
pub(crate) struct BarrierCall {
    pub(crate) barrier: Barrier,
    pub(crate) method: &'static PhaseMethod,
    /// The barrier's region: its owner, and the element of an array.
    pub(crate) region: Region,
    /// The arguments, without the barrier.
    pub(crate) operands: Vec<NodeId>,
    /// The result.
    pub(crate) result: NodeId,
    /// Whether it is a test whose answer decides nothing (`ignored::mark`).
    pub(crate) is_ignored: bool,
    pub(crate) at: SpanRange,
}

/// The threads of a warpgroup.
pub(crate) const WARPGROUP: u64 = 128;

/// A call of a device function. Of one call in the source, there is one for each place of the graph where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Call<'f> {
    /// The slot by which rustc knows the callee.
    pub(crate) slot: SlotId,
    pub(crate) callee: &'f Callee,
    /// The result, whose operands are the arguments.
    pub(crate) node: NodeId,
    /// The group that each argument is, if it is one.
    pub(crate) teams: Vec<Option<Team>>,
    /// The memory that each argument is, if it is memory.
    pub(crate) regions: Vec<Option<Region>>,
    /// The arguments that are phase barriers, by position.
    pub(crate) barriers: Vec<(usize, Region)>,
    /// The groups whose tokens were moved to the callee, which waits for them: an optional one may be `None`.
    pub(crate) given_tokens: Vec<Group>,
    /// The group whose token the callee returns, and the variable that gets it.
    pub(crate) returned_token: Option<(Group, Variable)>,
    /// Whether the call stands in a closure, where the callee must execute no collective.
    pub(crate) in_closure: bool,
    /// The call that is given this closure.
    pub(crate) given_to: Option<GivenTo>,
    /// Whether an argument is a closure that is a parameter of the function itself.
    pub(crate) passes_closure: bool,
    /// Whether the callee always returns a token, rather than an optional one.
    pub(crate) always_returns: bool,
    pub(crate) at: SpanRange,
}

impl<'f> Call<'f> {
    /// Whether the callee is named by its path, so that rustc finds its summary.
    pub(crate) fn is_of_function(&self) -> bool {
        self.function().is_some()
    }

    /// Whether it is a method that is given values, and memory that nothing writes, alone. Methods have no collectives, so that a thread learns
    /// nothing of others by it.
    pub(crate) fn is_of_values(&self) -> bool {
        let is_told =
            self.barriers.is_empty() && self.regions.iter().flatten().all(|region| region.root == Root::ReadOnly);
        self.function().is_none() && is_told && self.teams.iter().all(Option::is_none) && !self.passes_closure
    }

    /// The groups that the callee is given and that may be warpgroups. A function leaves products to its caller only of those.
    pub(crate) fn warpgroups(&self) -> impl Iterator<Item = &Team> {
        let may_be_one = |team: &&Team| match team.tile {
            Some(Tile { size: Granule::Number(size), .. }) => size == WARPGROUP,
            Some(Tile { size: Granule::Constant(_), .. }) | None => team.group == Group::Tile,
        };
        self.teams.iter().flatten().filter(may_be_one)
    }

    /// Whether the callee is given a token of a barrier of the cluster, for which it waits.
    pub(crate) fn takes_token_of_cluster(&self) -> bool {
        self.given_tokens.iter().any(|group| spans_cluster(*group))
    }

    /// The positions of the arguments that are shared memory, and of the dynamic memory, which the callee may name itself.
    pub(crate) fn shared_memory(&self) -> impl Iterator<Item = usize> {
        (0..self.regions.len()).chain([DYNAMIC]).filter(|argument| self.argument(*argument).is_some())
    }

    /// The shared memory that is the argument of this position.
    pub(crate) fn argument(&self, position: usize) -> Option<(Party, Shared)> {
        if position == DYNAMIC {
            return Some((Party::Owner, Shared::Dynamic));
        }
        self.regions.get(position)?.as_ref()?.root.party()
    }

    /// The path of the callee, unless it is a method or an associated function.
    pub(crate) fn function(&self) -> Option<&'f FunctionPath> {
        match self.callee {
            Callee::Function(path) => Some(path),
            Callee::Associated(..) | Callee::Method(..) | Callee::Operator(_) => None,
        }
    }
}
