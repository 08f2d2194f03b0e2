//! What holds at a step whatever way control took to it, found once: which part of memory an access chooses, how an assignment
//! changes what others are counted from, and whether an arrival is pending.

use std::collections::BTreeMap;

use super::linear::Change;
use super::number::Number;
use super::numbers::{Known, Numbers};
use super::path::Path;
use super::phases::{is_for_cluster, party_of};
use crate::check::cfg::{AccessId, Cfg, NodeId, Piece, Place, Select, Source, StepKind};
use crate::check::engine;
use crate::check::tokens::Tokens;

/// Of something that touches memory.
#[derive(Default)]
pub(super) struct Point {
    pub(super) path: Path,
    /// An arrival at a barrier of the cluster is not waited for yet.
    pub(super) arrived: bool,
}

pub(super) struct Points {
    accesses: Vec<Point>,
    /// By slot.
    calls: BTreeMap<u16, Vec<Point>>,
    /// By the value that is assigned.
    changes: Vec<Vec<(Place, Change)>>,
}

impl Points {
    pub(super) fn of(cfg: &Cfg<'_>, numbers: &Numbers<'_, '_>, tokens: &Tokens<'_>) -> Points {
        let mut points = Points {
            accesses: cfg.accesses.iter().map(|_| Point::default()).collect(),
            calls: BTreeMap::new(),
            changes: vec![Vec::new(); cfg.nodes.len()],
        };
        let known = engine::solve(numbers, cfg);
        engine::visit(numbers, cfg, &known, |state, step| match &step.kind {
            StepKind::Access(id) => points.accesses[id.0].path = path(state, &cfg.accesses[id.0].piece, &[]),
            StepKind::Call { slot, node, .. } => {
                let call = &cfg.nodes[node.0];
                if let Source::Call { pieces, .. } = &call.source {
                    let path = |piece: &Piece| path(state, piece, &call.operands);
                    let given = pieces
                        .iter()
                        .map(|piece| Point { path: piece.as_ref().map(path).unwrap_or_default(), arrived: false });
                    points.calls.insert(slot.0, given.collect());
                }
            }
            StepKind::Set { value, .. } => {
                let change = numbers.assigned(state, step).map(|(place, number)| (place, number.change_of(place)));
                points.changes[value.0].extend(change);
            }
            _ => {}
        });
        engine::visit(tokens, cfg, tokens.states(), |held, step| {
            let touched = match &step.kind {
                StepKind::Access(id) => std::slice::from_mut(&mut points.accesses[id.0]),
                StepKind::Call { slot, .. } => points.calls.entry(slot.0).or_default(),
                _ => return,
            };
            let arrived = tokens.is_pending(held, is_for_cluster);
            touched.iter_mut().for_each(|point| point.arrived = arrived);
        });
        points
    }

    pub(super) fn access(&self, id: AccessId) -> &Point {
        &self.accesses[id.0]
    }

    /// What a device function is given as this argument.
    pub(super) fn argument(&self, slot: u16, argument: usize) -> Option<&Point> {
        self.calls.get(&slot)?.get(argument)
    }

    /// What becomes of a place that this value is assigned to.
    pub(super) fn change(&self, place: Place, value: NodeId) -> Option<Change> {
        let mut of = self.changes[value.0].iter().filter(|(changed, _)| *changed == place);
        let (_, change) = of.next()?;
        Some(if of.next().is_some() { Change::Lost } else { *change })
    }
}

/// `arguments`: of a call that is given it.
fn path(state: &Known, piece: &Piece, arguments: &[NodeId]) -> Path {
    if party_of(piece.root).is_none() {
        return Path::default();
    }
    let owner = piece.rank.map_or(Number::UNKNOWN, |rank| state.node(rank));
    let choices: Vec<Number> = piece.path.iter().map(|select| number(state, select)).collect();
    // A row of a part is not one of the whole.
    let arguments = if piece.open { &[] } else { arguments };
    let arguments: Vec<Number> = arguments.iter().map(|argument| state.node(*argument)).collect();
    Path::of(owner, &choices, &arguments)
}

fn number(state: &Known, select: &Select) -> Number {
    let node = |node| state.node(node);
    match *select {
        Select::At(index) => node(index),
        Select::Chunk { size, index } => node(index).times(&node(size)).as_chunk(),
        Select::Range { start, end } => node(start).up_to(&node(end)),
        Select::Half { mid, second } => node(mid).half(second),
        Select::Unknown => Number::UNKNOWN,
    }
}
