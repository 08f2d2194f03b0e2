//! PhaseAction holds at a step whatever way control took to it, found once: which part of memory an access chooses, how an assignment
//! changes what others are counted from, and whether an arrival is pending.

use std::collections::BTreeMap;

use super::affine::Change;
use super::index_analysis::{IndexAnalysis, Known};
use super::index_value::IndexValue;
use super::path::Path;
use crate::check::cfg::{
    AccessId, Cfg, MemoryStep, NodeId, Region, Select, Source, StepKind, ValueStep, Variable, spans_cluster,
};
use crate::check::engine;
use crate::check::tokens::Tokens;

/// Of something that sites memory.
#[derive(Default)]
pub(super) struct AccessFacts {
    pub(super) path: Path,
    /// An arrival at a barrier of the cluster is not waited for yet.
    pub(super) arrived: bool,
}

pub(super) struct StepFacts {
    accesses: Vec<AccessFacts>,
    /// By slot.
    calls: BTreeMap<u16, Vec<AccessFacts>>,
    /// By the value that is assigned.
    changes: Vec<Vec<(Variable, Change)>>,
}

impl StepFacts {
    pub(super) fn of(cfg: &Cfg<'_>, indexes: &IndexAnalysis<'_, '_>, tokens: &Tokens<'_>) -> StepFacts {
        let mut facts = StepFacts {
            accesses: cfg.accesses.iter().map(|_| AccessFacts::default()).collect(),
            calls: BTreeMap::new(),
            changes: vec![Vec::new(); cfg.nodes.len()],
        };
        let known = engine::solve(indexes, cfg);
        engine::visit(indexes, cfg, &known, |state, step| match &step.kind {
            StepKind::Memory(MemoryStep::Access(id)) => {
                facts.accesses[id.0].path = path(state, &cfg.accesses[id.0].region, &[])
            }
            StepKind::Call { slot, node, .. } => {
                let call = &cfg.nodes[node.0];
                if let Source::Call { regions, .. } = &call.source {
                    let path = |region: &Region| path(state, region, &call.operands);
                    let given = regions.iter().map(|region| AccessFacts {
                        path: region.as_ref().map(path).unwrap_or_default(),
                        arrived: false,
                    });
                    facts.calls.insert(slot.0, given.collect());
                }
            }
            StepKind::Value(ValueStep::Set { value, .. }) => {
                let change =
                    indexes.assigned(state, step).map(|(variable, number)| (variable, number.change_of(variable)));
                facts.changes[value.0].extend(change);
            }
            _ => {}
        });
        engine::visit(tokens, cfg, tokens.states(), |held, step| {
            let touched = match &step.kind {
                StepKind::Memory(MemoryStep::Access(id)) => std::slice::from_mut(&mut facts.accesses[id.0]),
                StepKind::Call { slot, .. } => facts.calls.entry(slot.0).or_default(),
                _ => return,
            };
            let arrived = tokens.is_pending(held, spans_cluster);
            touched.iter_mut().for_each(|point| point.arrived = arrived);
        });
        facts
    }

    pub(super) fn access(&self, id: AccessId) -> &AccessFacts {
        &self.accesses[id.0]
    }

    /// What a device function is given as this argument.
    pub(super) fn argument(&self, slot: u16, argument: usize) -> Option<&AccessFacts> {
        self.calls.get(&slot)?.get(argument)
    }

    /// PhaseAction becomes of a variable that this value is assigned to.
    pub(super) fn change(&self, variable: Variable, value: NodeId) -> Option<Change> {
        let mut of = self.changes[value.0].iter().filter(|(changed, _)| *changed == variable);
        let (_, change) = of.next()?;
        Some(if of.next().is_some() { Change::Lost } else { *change })
    }
}

/// `arguments`: of a call that is given it.
fn path(state: &Known, region: &Region, arguments: &[NodeId]) -> Path {
    if region.root.party().is_none() {
        return Path::default();
    }
    let owner = region.rank.map_or(IndexValue::UNKNOWN, |rank| state.node(rank));
    let choices: Vec<IndexValue> = region.path.iter().map(|select| number(state, select)).collect();
    // A row of a part is not one of the whole.
    let arguments = if region.open { &[] } else { arguments };
    let arguments: Vec<IndexValue> = arguments.iter().map(|argument| state.node(*argument)).collect();
    Path::of(owner, &choices, &arguments)
}

fn number(state: &Known, select: &Select) -> IndexValue {
    let node = |node| state.node(node);
    match *select {
        Select::At(index) => node(index),
        Select::Chunk { size, index } => node(index).times(&node(size)).as_chunk(),
        Select::Range { start, end } => node(start).up_to(&node(end)),
        Select::Half { mid, second } => node(mid).half(second),
        Select::Unknown => IndexValue::UNKNOWN,
    }
}
