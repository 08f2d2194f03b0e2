//! Facts of a step that hold on every path to it, computed once: which part of memory an access selects, how an assignment changes
//! a variable that indexes depend on, and whether an arrival is pending.

use phalanx_contract::protocol::DYNAMIC;

use super::affine::Change;
use super::each_pair;
use super::index_analysis::{IndexAnalysis, KnownValues};
use super::index_path::IndexPath;
use super::index_value::{IndexValue, Size};
use crate::check::cfg::{
    AccessId, CallId, Cfg, Covers, MemoryStep, NodeId, Region, Select, Source, StepKind, ValueStep, Variable,
    spans_cluster,
};
use crate::check::engine;
use crate::check::tokens::Tokens;
use crate::model::expr::BinaryOp;

/// The facts of an access to memory, or of an argument of a call that is memory.
#[derive(Default)]
pub(super) struct AccessFacts {
    pub(super) path: IndexPath,
    /// The thread may have arrived at a barrier of the cluster and not waited yet.
    pub(super) arrival_pending: bool,
    /// It is to memory that is mapped by the rank of the block itself.
    pub(super) is_of_own_block: bool,
}

/// The facts of all steps of a function.
pub(super) struct StepFacts {
    /// The facts of each access.
    accesses: Vec<AccessFacts>,
    /// The facts of each call: an entry for each argument, and one for the memory that the callee names itself.
    calls: Vec<Vec<AccessFacts>>,
    /// The changes that the assignment of each node makes to variables.
    changes: Vec<Vec<(Variable, Change)>>,
}

impl StepFacts {
    pub(super) fn of(cfg: &Cfg<'_>, indexes: &IndexAnalysis<'_, '_>, tokens: &Tokens<'_>) -> StepFacts {
        let mut facts = StepFacts {
            accesses: cfg.accesses.iter().map(|_| AccessFacts::default()).collect(),
            calls: cfg.calls.iter().map(|_| Vec::new()).collect(),
            changes: vec![Vec::new(); cfg.nodes.len()],
        };
        let mut known = engine::solve(indexes, cfg);
        if indexes.names_variables() {
            known = engine::narrow(indexes, cfg, known);
        }
        engine::visit(indexes, cfg, &known, |state, step| match &step.kind {
            StepKind::Memory(MemoryStep::Access(id)) => {
                let access = &cfg.accesses[id.0];
                let path = path(cfg, state, &access.region, access.covers, &[]);
                let is_of_own_block = !each_pair::reaches_another(&path, indexes.blocks());
                facts.accesses[id.0] = AccessFacts { path, is_of_own_block, arrival_pending: false };
            }
            StepKind::Call(CallId(id)) => {
                let call = &cfg.calls[*id];
                let path = |region: &Region| path(cfg, state, region, Covers::Whole, &cfg.nodes[call.node.0].operands);
                let given = call.regions.iter().map(|region| AccessFacts {
                    path: region.as_ref().map(path).unwrap_or_default(),
                    ..AccessFacts::default()
                });
                // The last entry is for what the callee names itself.
                facts.calls[*id] = given.chain([AccessFacts::default()]).collect();
            }
            StepKind::Value(ValueStep::Set { value, .. }) => {
                let assigned = indexes.assigned(state, step);
                let change = assigned.map(|(variable, value)| (variable, indexes.skews.change(variable, &value)));
                let changes = &mut facts.changes[value.0];
                changes.extend(change.filter(|change| !changes.contains(change)));
            }
            StepKind::Value(ValueStep::Evaluate(_) | ValueStep::Name { .. } | ValueStep::Return(_))
            | StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
            | StepKind::Group(_)
            | StepKind::Token(_)
            | StepKind::BarrierCall(_)
            | StepKind::Copy(_) => {}
        });
        engine::visit(tokens, cfg, tokens.states(), |held, step| {
            let accesses = match &step.kind {
                StepKind::Memory(MemoryStep::Access(id)) => std::slice::from_mut(&mut facts.accesses[id.0]),
                StepKind::Call(CallId(call)) => &mut facts.calls[*call],
                StepKind::Value(_)
                | StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
                | StepKind::Group(_)
                | StepKind::Token(_)
                | StepKind::BarrierCall(_)
                | StepKind::Copy(_) => return,
            };
            let pending = tokens.is_pending(held, spans_cluster);
            accesses.iter_mut().for_each(|access| access.arrival_pending = pending);
        });
        facts
    }

    pub(super) fn access(&self, id: AccessId) -> &AccessFacts {
        &self.accesses[id.0]
    }

    /// The facts of the memory that a call is given as this argument, or of the dynamic memory.
    pub(super) fn argument(&self, CallId(call): CallId, argument: usize) -> Option<&AccessFacts> {
        let facts = &self.calls[call];
        if argument == DYNAMIC { facts.last() } else { facts.get(argument) }
    }

    /// What assigning this node to the variable does to it; `None` if no index depends on the variable.
    pub(super) fn change(&self, variable: Variable, node: NodeId) -> Option<Change> {
        let mut changes = self.changes[node.0].iter().filter(|(changed, _)| *changed == variable);
        let (_, change) = changes.next()?;
        Some(if changes.next().is_some() { Change::Lost } else { *change })
    }
}

/// The path of a region that is accessed, or is given to a call with these arguments.
fn path(cfg: &Cfg<'_>, state: &KnownValues, region: &Region, covers: Covers, arguments: &[NodeId]) -> IndexPath {
    if region.root.party().is_none() {
        return IndexPath::default();
    }
    let owner = region.rank.map_or(IndexValue::UNKNOWN, |rank| state.node(rank));
    let mut indexes: Vec<IndexValue> = region.path.iter().map(|select| index(cfg, state, select)).collect();
    // A vector's elements follow each other. Where the text does not show how many it has, it stands for one.
    if let (Covers::Vector { first, lanes: lanes @ 2.. }, [.., Select::Unknown]) = (covers, &region.path[..])
        && let Some(last) = indexes.last_mut().filter(|_| !region.part)
    {
        *last = state.node(first).plus(&IndexValue::between(0, Some(Size::Number(lanes))));
    }
    // An index into a chunk or a range is no index into the whole.
    let arguments = if region.open { &[] } else { arguments };
    let arguments: Vec<IndexValue> = arguments.iter().map(|argument| state.node(*argument)).collect();
    IndexPath::of(owner, &indexes, &arguments, state.ranks)
}

fn index(cfg: &Cfg<'_>, state: &KnownValues, select: &Select) -> IndexValue {
    let node = |node| state.node(node);
    match *select {
        Select::At(index) => node(index),
        Select::Chunk { size, index } => node(index).times(&node(size)).chunk_of(&node(size)),
        Select::Range { start, end } => match length(cfg, start, end) {
            Some(length) => node(start).and_further(&node(length)),
            None => node(start).up_to(&node(end)),
        },
        Select::Half { mid, second } => node(mid).half(second),
        Select::Unknown => IndexValue::UNKNOWN,
    }
}

/// The length of a range from a variable that is set once to the sum of that variable and the length.
fn length(cfg: &Cfg<'_>, start: NodeId, end: NodeId) -> Option<NodeId> {
    let (Source::Binary(BinaryOp::Add), [first, second]) = (&cfg.nodes[end.0].source, &cfg.nodes[end.0].operands[..])
    else {
        return None;
    };
    let variable = cfg.nodes[start.0].source.read()?;
    cfg.only_value(variable)?;
    let is_start = |node: NodeId| cfg.nodes[node.0].source.read() == Some(variable);
    if is_start(*first) { Some(*second) } else { Some(*first).filter(|_| is_start(*second)) }
}
