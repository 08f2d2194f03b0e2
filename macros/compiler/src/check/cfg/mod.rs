//! The control-flow graph that the checks walk: basic blocks of steps in evaluation order. `break`, `continue` and `return`
//! are ordinary edges, and the locals that they drop are explicit steps, so that no check needs to know how they nest.
//! Values are nodes of a graph of their own (`value`), each evaluated at a step; `step` has the steps, `memory` the regions
//! of memory and the accesses to it, `team` groups of threads, `position` what tells
//! the threads of a block apart. `build` makes all of it from the model's tree. Data, no
//! analysis.

mod by_node;
mod by_variable;
mod memory;
mod position;
mod step;
mod team;
mod value;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) use by_node::ByNode;
pub(crate) use by_variable::ByVariable;
pub(crate) use memory::{
    Access, AccessKind, Completion, Content, CopyBy, CopyStep, Covers, GivenTo, Region, Root, Select, Shared, Slice,
};
pub(crate) use position::{Coordinate, Digit, Granule, Offset, Position, gcd};
pub(crate) use step::{BarrierCall, Call, GroupStep, MemoryStep, Step, StepKind, TokenStep, ValueStep, WARPGROUP};
pub(crate) use team::{Team, Tile, spans_cluster};
pub(crate) use value::{Assertion, BelowZero, Computed, CountedLoop, Extent, Formula, Node, Source, Variable};

use proc_macro2::Ident;

use crate::model::group::Group;
use crate::model::op::RegisterChange;
use crate::model::query::Query;
use crate::model::{Function, LocalId, SlotId, ValueId};
use crate::span::SpanRange;

/// An index into [`Cfg::blocks`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BlockId(pub(crate) usize);

/// An index into [`Cfg::accesses`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AccessId(pub(crate) usize);

/// An index into [`Cfg::barrier_calls`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BarrierCallId(pub(crate) usize);

/// An index into [`Cfg::copies`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CopyId(pub(crate) usize);

/// An index into [`Cfg::calls`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallId(pub(crate) usize);

/// An index into [`Cfg::nodes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeId(pub(crate) usize);

/// The control-flow graph of a function, with the tables that its steps index.
#[derive(Debug)]
pub(crate) struct Cfg<'f> {
    pub(crate) blocks: Vec<BasicBlock>,
    pub(crate) entry: BlockId,
    pub(crate) nodes: Vec<Node<'f>>,
    pub(crate) accesses: Vec<Access>,
    pub(crate) copies: Vec<CopyStep>,
    pub(crate) barrier_calls: Vec<BarrierCall>,
    pub(crate) calls: Vec<Call<'f>>,
    /// The queries of blocks and larger groups, by the nodes that hold their answers.
    pub(crate) queries: ByNode<(Group, &'static Query)>,
    /// The axes of `Dim3`s, each with the node of the `Dim3` and the number of the axis.
    pub(crate) axes: ByNode<(NodeId, usize)>,
    /// The results of `fetch_add`, each with what it adds. The steps before are the accesses.
    pub(crate) added: BTreeMap<NodeId, NodeId>,
    /// The results of what a warp does together of which each thread has its own, such as those of a scan.
    pub(crate) of_lanes: BTreeSet<NodeId>,
    /// By access that writes a struct, or that a copy of one element makes, what it writes.
    pub(crate) contents: BTreeMap<AccessId, Content>,
    /// The nodes that say where in its block the thread is.
    pub(crate) positions: ByNode<Position>,
    /// The nodes that keep only the lower bits of an integer, their first operand: casts, and operators on the result of one.
    pub(crate) cuts: ByNode<u32>,
    /// The differences, with what comes below zero; the sums of unsigned ones with others, which wrap back; and the quotients and remainders of
    /// numbers with a sign.
    pub(crate) differences: BTreeMap<NodeId, BelowZero>,
    /// The nodes that casts read and are taken to keep, although the text does not show that their types hold all of the values: with these types.
    pub(crate) recast: BTreeMap<NodeId, String>,
    /// The nodes that are computed from their operands by a known function.
    pub(crate) formulas: ByNode<Formula>,
    /// The nodes that runs compute from their operands in another way.
    pub(crate) computed: ByNode<Computed>,
    /// The fields that stand for the variant of an `Option`, each with the field that is the `Option`, if it is not the whole variable.
    pub(crate) variants: BTreeMap<u16, Option<u16>>,
    /// The local arrays of equal elements whose lengths the text does not show.
    pub(crate) named_lengths: Vec<NodeId>,
    /// The `for` loops over ranges, by the block that decides whether there is one more iteration.
    pub(crate) counted: BTreeMap<BlockId, CountedLoop>,
    /// The tests of `assert!` and its like. A thread for which one does not hold ends the launch.
    pub(crate) assertions: Vec<Assertion>,
    /// The collectives that only the threads of one warp have, by name.
    pub(crate) collectives_of_warps: Vec<(Team, &'static str, SpanRange)>,
    /// Where warpgroups change the number of their registers.
    pub(crate) register_changes: Vec<ChangeOfRegisters>,
    /// The slices of dynamic shared memory, by number.
    pub(crate) slices: Vec<Slice>,
    /// By use of all of dynamic shared memory, the size of an element in bytes, if it is a scalar.
    pub(crate) dynamic: Vec<Option<u64>>,
    /// The locals that name shared memory.
    pub(crate) names: BTreeMap<Shared, LocalId>,
    /// The names of global memory that only ever stand for parameters that nobody writes.
    pub(crate) read_only: BTreeSet<LocalId>,
    /// The groups that are parameters.
    pub(crate) teams: Vec<Team>,
    /// The values of the variables that are set once, which are found when they are asked for.
    pub(crate) only_values: OnceCell<OnlyValues>,
    /// Maps the slot of each call to its function; filled on demand.
    pub(crate) callees: OnceCell<BTreeMap<SlotId, Callee>>,
}

/// A change of the number of registers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChangeOfRegisters {
    pub(crate) block: BlockId,
    /// The number of its step in the block.
    pub(crate) step: usize,
    pub(crate) change: RegisterChange,
    /// The new number.
    pub(crate) count: ValueId,
    pub(crate) at: SpanRange,
}

/// A function that is called by a path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Callee {
    /// The number of the path, of all that are called.
    number: usize,
    /// The slot of the first call of the function that is given no closure, unless this call is given one.
    same: SlotId,
}

/// Steps that control executes one after another.
#[derive(Debug, Default)]
pub(crate) struct BasicBlock {
    pub(crate) steps: Vec<Step>,
    pub(crate) end: End,
}

/// The end of a block: where control continues.
#[derive(Debug, Default)]
pub(crate) enum End {
    /// Control does not continue: the code is unreachable, or the launch has ended.
    #[default]
    Never,
    /// Control leaves the function, at its end or by a `return`.
    Leave,
    /// Control always continues at this block.
    Goto(BlockId),
    /// A value decides. Only its sources are known.
    Branch { on: NodeId, then: BlockId, otherwise: BlockId },
    /// The presence of an optional token decides.
    Option { on: NodeId, variable: Variable, some: BlockId, none: BlockId },
}

impl End {
    pub(crate) fn successors(&self) -> impl Iterator<Item = BlockId> {
        let (first, second) = match *self {
            End::Never | End::Leave => (None, None),
            End::Goto(next) => (Some(next), None),
            End::Branch { then, otherwise, .. } => (Some(then), Some(otherwise)),
            End::Option { some, none, .. } => (Some(some), Some(none)),
        };
        first.into_iter().chain(second)
    }

    /// Whether an edge is that where the condition holds, or the token is present; `None` if there is no choice.
    pub(crate) fn holds_on_edge(&self, to: BlockId) -> Option<bool> {
        match *self {
            End::Branch { then: yes, otherwise: no, .. } | End::Option { some: yes, none: no, .. } if yes != no => {
                Some(to == yes)
            }
            End::Never | End::Leave | End::Goto(_) | End::Branch { .. } | End::Option { .. } => None,
        }
    }

    /// The value that decides where control continues.
    pub(crate) fn condition(&self) -> Option<NodeId> {
        match *self {
            End::Never | End::Leave | End::Goto(_) => None,
            End::Branch { on, .. } | End::Option { on, .. } => Some(on),
        }
    }
}

impl Cfg<'_> {
    /// The value that a node reads from a variable that is set only once; otherwise the node itself.
    pub(crate) fn origin(&self, node: NodeId) -> NodeId {
        self.nodes[node.0].source.read().and_then(|variable| self.only_value(variable)).unwrap_or(node)
    }

    /// The elements of an array that the text lists.
    pub(crate) fn listed(&self, array: NodeId) -> Option<&[NodeId]> {
        let array = self.first_origin(array);
        let is_listed = self.formulas.get(&array) == Some(&Formula::Array);
        is_listed.then(|| &self.nodes[array.0].operands[..])
    }

    /// The value that a node reads, perhaps by names of names: each has only one.
    pub(crate) fn first_origin(&self, node: NodeId) -> NodeId {
        const NAMES: usize = 4;
        (0..NAMES).fold(node, |node, _| self.origin(node))
    }

    /// Whether this holds of all the sources from which a value is computed. A variable is followed to its only value; one that is set
    /// more than once has none.
    pub(crate) fn is_computed_from(&self, value: NodeId, mut is: impl FnMut(&Source<'_>) -> bool) -> bool {
        let mut seen = BTreeSet::new();
        let mut work = vec![value];
        while let Some(node) = work.pop() {
            if !seen.insert(node) {
                continue;
            }
            let node = &self.nodes[node.0];
            match node.source.read() {
                Some(variable) => match self.only_value(variable) {
                    Some(value) => work.push(value),
                    None => return false,
                },
                None if !is(&node.source) => return false,
                None => {}
            }
            work.extend(&node.operands);
        }
        true
    }

    /// All values that each variable gets.
    pub(crate) fn values_of_variables(&self) -> BTreeMap<Variable, Vec<NodeId>> {
        let mut values: BTreeMap<Variable, Vec<NodeId>> = BTreeMap::new();
        for (variable, value, _) in self.blocks.iter().flat_map(|block| &block.steps).filter_map(|step| step.kind.set())
        {
            values.entry(variable).or_default().push(value);
        }
        values
    }

    /// The nodes that a value may be, through all variables that may hold it: those that are no reads of variables.
    pub(crate) fn may_come_from(&self, value: NodeId) -> BTreeSet<NodeId> {
        let (mut seen, mut found, mut work) = (BTreeSet::new(), BTreeSet::new(), vec![value]);
        let values = self.values_of_variables();
        while let Some(node) = work.pop() {
            match self.nodes[node.0].source.read() {
                Some(variable) if seen.insert(node) => {
                    work.extend(values.get(&variable).into_iter().flatten());
                }
                Some(_) => {}
                None => _ = found.insert(node),
            }
        }
        found
    }

    /// The name that the graph's function has for a shared object.
    pub(crate) fn name_of<'n>(&self, function: &'n Function, shared: Shared) -> Option<&'n Ident> {
        self.names.get(&shared).map(|local| &function.local(*local).name)
    }

    /// The number of the path that names the function called at a slot; `None` for a method.
    pub(crate) fn callee(&self, slot: SlotId) -> Option<usize> {
        self.callees().get(&slot).map(|callee| callee.number)
    }

    /// The slot that stands for a call where all that counts is the summary of its function: one for all calls of a function,
    /// so that they have the same questions. What a call does beside a closure that it is given is asked about this call.
    pub(crate) fn representative(&self, call: &Call<'_>) -> u16 {
        let SlotId(slot) = self.callees().get(&call.slot).map_or(call.slot, |callee| callee.same);
        slot
    }

    fn callees(&self) -> &BTreeMap<SlotId, Callee> {
        let numbered = || {
            let given = self.accesses.iter().map(|access| access.given_to);
            let given = given.chain(self.calls.iter().map(|call| call.given_to));
            let with_closure: BTreeSet<SlotId> = given.flatten().map(GivenTo::slot).collect();
            let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
            let mut first: BTreeMap<usize, SlotId> = BTreeMap::new();
            let mut callee = |call: &Call<'_>| {
                let path = call.function()?.path.to_string();
                let next = numbers.len();
                let number = *numbers.entry(path).or_insert(next);
                let has_closure = call.passes_closure || with_closure.contains(&call.slot);
                let same = if has_closure { call.slot } else { *first.entry(number).or_insert(call.slot) };
                Some((call.slot, Callee { number, same }))
            };
            self.calls.iter().filter_map(&mut callee).collect()
        };
        self.callees.get_or_init(numbered)
    }

    /// The value of a variable that is set once, as a whole. A field's is known if the whole is set once and no function changes it.
    pub(crate) fn only_value(&self, variable: Variable) -> Option<NodeId> {
        let OnlyValues { values, wholes } = self.only_values.get_or_init(|| OnlyValues::of(&self.blocks));
        let value = (*values.get(variable)?)?;
        match variable.whole() {
            Some(whole) => wholes.get(whole)?.map(|_| value),
            None => Some(value),
        }
    }
}

/// The values of the variables that are set once, as a whole; `None` of those that are set otherwise.
#[derive(Debug)]
pub(crate) struct OnlyValues {
    values: ByVariable<Option<NodeId>>,
    /// The values of structs and tuples that are assigned once as a whole, regardless of assignments to their fields.
    wholes: ByVariable<Option<NodeId>>,
}

impl OnlyValues {
    fn of(blocks: &[BasicBlock]) -> OnlyValues {
        let mut only = OnlyValues { values: ByVariable::default(), wholes: ByVariable::default() };
        let mut field_of = None;
        for (variable, value, extent) in blocks.iter().flat_map(|block| &block.steps).filter_map(|step| step.kind.set())
        {
            // A field that is assigned by itself held something else before.
            let by_itself = field_of.is_some() && field_of == variable.whole();
            let value = Some(value).filter(|_| extent == Extent::Whole && !by_itself);
            // In a graph that was split, one assignment stands at several places.
            let set = |values: &mut ByVariable<Option<NodeId>>| {
                let known = values.get_or_insert(variable, value);
                *known = known.filter(|known| Some(*known) == value);
            };
            set(&mut only.values);
            if extent != Extent::Field {
                set(&mut only.wholes);
            }
            field_of = Some(variable).filter(|_| extent == Extent::Field);
        }
        only
    }
}
