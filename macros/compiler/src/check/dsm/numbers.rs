//! What is known of the numbers in variables at each point: the relation of one to another, which `prev = k`, `k += 1`,
//! `cur ^= 1` and `(cur + 1) % 3` make. Only of what is the same for the whole cluster; of anything else, a bound at most.

use std::collections::BTreeMap;

use phalanx_contract::uniformity::Uniformity;

use super::blocks_of_cluster;
use super::linear::Base;
use super::number::{Form, Number, Size};
use super::phases::party_of;
use crate::check::cfg::{BlockId, Cfg, Extent, NodeId, Piece, Place, Select, Source, Step, StepKind};
use crate::check::engine::{Analysis, Join};
use crate::check::live::Live;
use crate::check::uniform::values::Values;
use crate::model::expr::BinaryOp;
use crate::model::group::Group;
use crate::model::options::Extents;
use crate::model::query::Answer;
use crate::model::{Function, ValueId};

pub(super) struct Numbers<'a, 'f> {
    function: &'f Function,
    cfg: &'a Cfg<'f>,
    live: &'a Live,
    values: &'a Values<'a, 'f>,
    /// Nodes that choose parts of memory which are touched in another block.
    kept: Vec<bool>,
    /// All that choose, and what they are made of.
    asked: Vec<bool>,
    /// The places that they are read from, as `Live` numbers them.
    places: Vec<bool>,
    /// How many blocks a cluster has, and the constant that says it.
    blocks: Option<u64>,
    named: Option<ValueId>,
}

/// What is not named holds just what it holds, or is not read any more.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    places: BTreeMap<Place, Number>,
    nodes: BTreeMap<NodeId, Number>,
}

impl Join for Known {
    // bottom = everything is known; join = what both say
    fn join(&mut self, other: &Self) -> bool {
        let before = (self.places.len(), self.nodes.len());
        self.places.retain(|place, number| other.places.get(place) == Some(number));
        self.nodes.retain(|node, number| other.nodes.get(node) == Some(number));
        before != (self.places.len(), self.nodes.len())
    }
}

impl Known {
    pub(super) fn node(&self, node: NodeId) -> Number {
        self.nodes.get(&node).copied().unwrap_or_default()
    }

    /// A place gets a value.
    fn set(&mut self, place: Place, number: Number) {
        let change = number.change_of(place);
        self.nodes.values_mut().for_each(|other| other.change(place, change));
        self.places.retain(|known, other| {
            other.change(place, change);
            // Its fields that are known get theirs by steps of their own.
            known.whole() != Some(place) && other.is_known()
        });
        // Of what it was, only what it is below.
        let number = if number.is_counted_from(place) { Number { form: Form::Unknown, ..number } } else { number };
        match number.is_known() {
            true => self.places.insert(place, number),
            false => self.places.remove(&place),
        };
    }
}

impl<'a, 'f> Numbers<'a, 'f> {
    pub(super) fn new(function: &'f Function, cfg: &'a Cfg<'f>, live: &'a Live, values: &'a Values<'a, 'f>) -> Self {
        let (mut chosen, mut kept) = (Vec::new(), vec![false; cfg.nodes.len()]);
        let mut at = vec![BlockId(0); cfg.nodes.len()];
        for (block, step) in
            (0..cfg.blocks.len()).flat_map(|block| cfg.blocks[block].steps.iter().map(move |s| (block, s)))
        {
            let mut choose = |piece: &Piece, arguments: &[NodeId]| {
                if party_of(piece.root).is_some() {
                    let choices = piece.path.iter().flat_map(nodes_of).chain(piece.rank);
                    for node in choices.chain(arguments.iter().copied()) {
                        chosen.push(node);
                        kept[node.0] |= at[node.0] != BlockId(block);
                    }
                }
            };
            match &step.kind {
                StepKind::Evaluate(node) => at[node.0] = BlockId(block),
                StepKind::Access(id) => choose(&cfg.accesses[id.0].piece, &[]),
                StepKind::Call { node, .. } => {
                    let call = &cfg.nodes[node.0];
                    if let Source::Call { pieces, .. } = &call.source {
                        pieces.iter().flatten().for_each(|piece| choose(piece, &call.operands));
                    }
                }
                _ => {}
            }
        }
        let (asked, places) = (vec![false; cfg.nodes.len()], vec![false; live.places().count()]);
        let blocks = blocks_of_cluster(function);
        let named = function.options.cluster.as_ref().and_then(|extents| constant(function, extents));
        let mut numbers = Numbers { function, cfg, live, values, asked, places, kept, blocks, named };
        numbers.ask(chosen);
        numbers
    }

    /// Follows what chooses back to what it is made of: of nothing else anything needs to be known.
    fn ask(&mut self, mut work: Vec<NodeId>) {
        let places = self.live.places();
        let mut sets: Vec<Vec<NodeId>> = vec![Vec::new(); places.count()];
        for step in self.cfg.blocks.iter().flat_map(|block| &block.steps) {
            if let Some((place, value, _)) = step.kind.set() {
                sets[places.number(place)].push(value);
            }
        }
        while let Some(id) = work.pop() {
            if std::mem::replace(&mut self.asked[id.0], true) {
                continue;
            }
            let node = &self.cfg.nodes[id.0];
            work.extend(&node.operands);
            let (place, end) = match node.source {
                Source::Read(place) => (place, None),
                Source::Counter { of, range, .. } => (of, range.map(|(_, end)| end)),
                _ => continue,
            };
            // It is evaluated before the loop.
            if let Some(end) = end {
                self.kept[end.0] = true;
                work.push(end);
            }
            // With the whole, its fields change.
            for place in std::iter::once(place).chain(place.whole()).map(|place| places.number(place)) {
                if !std::mem::replace(&mut self.places[place], true) {
                    work.extend(&sets[place]);
                }
            }
        }
    }

    /// Whether anything may be counted from it.
    pub(super) fn counts_from(&self, place: Place) -> bool {
        self.places[self.live.places().number(place)]
    }

    /// What a step assigns, if others may be counted from it.
    pub(super) fn assigned(&self, state: &Known, step: &Step) -> Option<(Place, Number)> {
        let (place, value, extent) = step.kind.set()?;
        match extent {
            // The field has a step of its own.
            Extent::Field => None,
            Extent::Whole | Extent::Part if !self.counts_from(place) => None,
            Extent::Whole => Some((place, state.node(value))),
            Extent::Part => Some((place, Number::UNKNOWN)),
        }
    }

    fn evaluate(&self, state: &Known, id: NodeId) -> Number {
        let node = &self.cfg.nodes[id.0];
        let operand = |index: usize| node.operands.get(index).map_or(Number::UNKNOWN, |operand| state.node(*operand));
        match &node.source {
            Source::Integer(number) => Number::literal(*number),
            Source::Constant(value) if self.named == Some(*value) => Number::blocks(self.blocks),
            Source::Constant(value) => Number::of(Base::Constant(*value)),
            Source::Not => operand(0).flipped(),
            Source::Binary(op) => {
                let (a, b) = (operand(0), operand(1));
                match op {
                    BinaryOp::Add => a.plus(&b),
                    BinaryOp::Sub => a.minus(&b),
                    BinaryOp::Mul => a.times(&b),
                    BinaryOp::Rem => a.remainder(&b),
                    BinaryOp::BitAnd => a.and(&b),
                    BinaryOp::BitXor => a.xor(&b),
                    BinaryOp::Shl => a.shifted_left(&b),
                    BinaryOp::Div
                    | BinaryOp::BitOr
                    | BinaryOp::Shr
                    | BinaryOp::Eq
                    | BinaryOp::Ne
                    | BinaryOp::Lt
                    | BinaryOp::Le
                    | BinaryOp::Gt
                    | BinaryOp::Ge
                    | BinaryOp::And
                    | BinaryOp::Or => Number::UNKNOWN,
                }
            }
            Source::Read(place) => self.read(state, id, *place),
            Source::Counter { of, by, range } => {
                let counted = by.map_or(Number::UNKNOWN, |by| self.read_counter(id, *of, by));
                let bounds = range.map(|(from, end)| Number::between(from, state.node(end).limit()));
                Number { form: counted.form, ..bounds.unwrap_or_default() }
            }
            Source::ThreadRank => Number::between(0, self.block_size()),
            Source::Known { .. } => match self.cfg.queries.get(&id).map(|(group, query)| (group, query.answer)) {
                Some((Group::Cluster, Answer::BlockRank)) => Number::rank(self.blocks),
                Some((Group::Cluster, Answer::BlockCount)) => Number::blocks(self.blocks),
                Some(_) | None => Number::UNKNOWN,
            },
            Source::Operands
            | Source::Param(_)
            | Source::Round(..)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => Number::UNKNOWN,
        }
    }

    fn read(&self, state: &Known, node: NodeId, place: Place) -> Number {
        let known = state.places.get(&place).copied().unwrap_or_default();
        match known.form {
            Form::Unknown if self.is_uniform(node) => Number { form: Number::of(Base::Place(place)).form, ..known },
            _ => known,
        }
    }

    fn read_counter(&self, node: NodeId, place: Place, by: i64) -> Number {
        if !self.is_uniform(node) {
            return Number::UNKNOWN;
        }
        let before = Number::of(Base::Place(place));
        match u64::try_from(by) {
            Ok(by) => before.plus(&Number::literal(by)),
            Err(_) => before.minus(&Number::literal(by.unsigned_abs())),
        }
    }

    /// The whole cluster has the same.
    pub(super) fn is_uniform(&self, node: NodeId) -> bool {
        let level = self.values.level(node);
        level.at_most.covers(Uniformity::Cluster) && level.unknown.is_empty()
    }

    /// How many threads a block has.
    fn block_size(&self) -> Option<Size> {
        let extents = self.function.options.block.as_ref()?;
        extents.count().map(Size::Number).or_else(|| constant(self.function, extents).map(Size::Constant))
    }
}

/// The constant that a body uses for extents of one dimension.
fn constant(function: &Function, extents: &Extents) -> Option<ValueId> {
    let [extent] = &extents.each[..] else { return None };
    let text = extent.tokens.to_string();
    let value = function.values.iter().position(|value| value.declared && value.tokens.to_string() == text)?;
    u16::try_from(value).ok().map(ValueId)
}

/// What is evaluated for a choice.
fn nodes_of(select: &Select) -> impl Iterator<Item = NodeId> {
    let (first, second) = match *select {
        Select::At(node) | Select::Half { mid: node, .. } => (Some(node), None),
        Select::Chunk { size: a, index: b } | Select::Range { start: a, end: b } => (Some(a), Some(b)),
        Select::Unknown => (None, None),
    };
    first.into_iter().chain(second)
}

impl Analysis for Numbers<'_, '_> {
    type State = Known;

    fn entry(&self) -> Known {
        Known::default()
    }

    fn transfer(&self, state: &mut Known, step: &Step) {
        match &step.kind {
            StepKind::Evaluate(node) if self.asked[node.0] => {
                let number = self.evaluate(state, *node);
                if number.is_known() {
                    state.nodes.insert(*node, number);
                } else if self.kept[node.0] {
                    state.nodes.remove(node);
                }
            }
            _ => {
                if let Some((place, number)) = self.assigned(state, step) {
                    state.set(place, number);
                }
            }
        }
    }

    fn edge(&self, state: &mut Known, _cfg: &Cfg<'_>, _from: BlockId, to: BlockId) {
        state.places.retain(|place, _| self.live.contains(to, *place));
        state.nodes.retain(|node, _| self.kept[node.0]);
    }
}
