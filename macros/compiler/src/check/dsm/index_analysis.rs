//! What is known of the numbers in variables at each point: the relation of one to another, which `prev = k`, `k += 1`,
//! `cur ^= 1` and `(cur + 1) % 3` make. Only of what is the same for the whole cluster; of anything else, a bound at most.

use std::collections::BTreeMap;

use phalanx_contract::uniformity::Uniformity;

use super::affine::Base;
use super::blocks_of_cluster;
use super::index_value::{Form, IndexValue, Size};
use crate::check::cfg::{
    BlockId, Cfg, Extent, MemoryStep, NodeId, Region, Select, Source, Step, StepKind, ValueStep, Variable,
};
use crate::check::engine::{Analysis, Join};
use crate::check::liveness::Live;
use crate::check::uniform::values::Values;
use crate::model::expr::BinaryOp;
use crate::model::group::Group;
use crate::model::options::Extents;
use crate::model::query::Answer;
use crate::model::{Function, ValueId};

pub(super) struct IndexAnalysis<'a, 'f> {
    function: &'f Function,
    cfg: &'a Cfg<'f>,
    live: &'a Live,
    values: &'a Values<'a, 'f>,
    /// Nodes that choose parts of memory which are touched in another block.
    kept: Vec<bool>,
    /// All that choose, and what they are made of.
    asked: Vec<bool>,
    /// The variables that they are read from, as `Live` numbers them.
    variables: Vec<bool>,
    /// How many blocks a cluster has, and the constant that says it.
    blocks: Option<u64>,
    named: Option<ValueId>,
}

/// What is not named holds just what it holds, or is not read any more.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    variables: BTreeMap<Variable, IndexValue>,
    nodes: BTreeMap<NodeId, IndexValue>,
}

impl Join for Known {
    // bottom = everything is known; join = what both say
    fn join(&mut self, other: &Self) -> bool {
        let before = (self.variables.len(), self.nodes.len());
        self.variables.retain(|variable, number| other.variables.get(variable) == Some(number));
        self.nodes.retain(|node, number| other.nodes.get(node) == Some(number));
        before != (self.variables.len(), self.nodes.len())
    }
}

impl Known {
    pub(super) fn node(&self, node: NodeId) -> IndexValue {
        self.nodes.get(&node).copied().unwrap_or_default()
    }

    /// A variable gets a value.
    fn set(&mut self, variable: Variable, number: IndexValue) {
        let change = number.change_of(variable);
        self.nodes.values_mut().for_each(|other| other.change(variable, change));
        self.variables.retain(|known, other| {
            other.change(variable, change);
            // Its fields that are known get theirs by steps of their own.
            known.whole() != Some(variable) && other.is_known()
        });
        // Of what it was, only what it is below.
        let number =
            if number.is_counted_from(variable) { IndexValue { form: Form::Unknown, ..number } } else { number };
        match number.is_known() {
            true => self.variables.insert(variable, number),
            false => self.variables.remove(&variable),
        };
    }
}

impl<'a, 'f> IndexAnalysis<'a, 'f> {
    pub(super) fn new(function: &'f Function, cfg: &'a Cfg<'f>, live: &'a Live, values: &'a Values<'a, 'f>) -> Self {
        let (mut chosen, mut kept) = (Vec::new(), vec![false; cfg.nodes.len()]);
        let mut at = vec![BlockId(0); cfg.nodes.len()];
        for (block, step) in
            (0..cfg.blocks.len()).flat_map(|block| cfg.blocks[block].steps.iter().map(move |s| (block, s)))
        {
            let mut choose = |region: &Region, arguments: &[NodeId]| {
                if region.root.party().is_some() {
                    let choices = region.path.iter().flat_map(nodes_of).chain(region.rank);
                    for node in choices.chain(arguments.iter().copied()) {
                        chosen.push(node);
                        kept[node.0] |= at[node.0] != BlockId(block);
                    }
                }
            };
            match &step.kind {
                StepKind::Value(ValueStep::Evaluate(node)) => at[node.0] = BlockId(block),
                StepKind::Memory(MemoryStep::Access(id)) => choose(&cfg.accesses[id.0].region, &[]),
                StepKind::Call { node, .. } => {
                    let call = &cfg.nodes[node.0];
                    if let Source::Call { regions, .. } = &call.source {
                        regions.iter().flatten().for_each(|region| choose(region, &call.operands));
                    }
                }
                _ => {}
            }
        }
        let (asked, variables) = (vec![false; cfg.nodes.len()], vec![false; live.variables().count()]);
        let blocks = blocks_of_cluster(function);
        let named = function.options.cluster.as_ref().and_then(|extents| constant(function, extents));
        let mut indexes = IndexAnalysis { function, cfg, live, values, asked, variables, kept, blocks, named };
        indexes.ask(chosen);
        indexes
    }

    /// Follows what chooses back to what it is made of: of nothing else anything needs to be known.
    fn ask(&mut self, mut work: Vec<NodeId>) {
        let variables = self.live.variables();
        let mut sets: Vec<Vec<NodeId>> = vec![Vec::new(); variables.count()];
        for step in self.cfg.blocks.iter().flat_map(|block| &block.steps) {
            if let Some((variable, value, _)) = step.kind.set() {
                sets[variables.number(variable)].push(value);
            }
        }
        while let Some(id) = work.pop() {
            if std::mem::replace(&mut self.asked[id.0], true) {
                continue;
            }
            let node = &self.cfg.nodes[id.0];
            work.extend(&node.operands);
            let (variable, end) = match node.source {
                Source::Read(variable) => (variable, None),
                Source::Counter { of, range, .. } => (of, range.map(|(_, end)| end)),
                _ => continue,
            };
            // It is evaluated before the loop.
            if let Some(end) = end {
                self.kept[end.0] = true;
                work.push(end);
            }
            // With the whole, its fields change.
            for variable in std::iter::once(variable).chain(variable.whole()).map(|variable| variables.number(variable))
            {
                if !std::mem::replace(&mut self.variables[variable], true) {
                    work.extend(&sets[variable]);
                }
            }
        }
    }

    /// Whether anything may be counted from it.
    pub(super) fn counts_from(&self, variable: Variable) -> bool {
        self.variables[self.live.variables().number(variable)]
    }

    /// What a step assigns, if others may be counted from it.
    pub(super) fn assigned(&self, state: &Known, step: &Step) -> Option<(Variable, IndexValue)> {
        let (variable, value, extent) = step.kind.set()?;
        match extent {
            // The field has a step of its own.
            Extent::Field => None,
            Extent::Whole | Extent::Part if !self.counts_from(variable) => None,
            Extent::Whole => Some((variable, state.node(value))),
            Extent::Part => Some((variable, IndexValue::UNKNOWN)),
        }
    }

    fn evaluate(&self, state: &Known, id: NodeId) -> IndexValue {
        let node = &self.cfg.nodes[id.0];
        let operand =
            |index: usize| node.operands.get(index).map_or(IndexValue::UNKNOWN, |operand| state.node(*operand));
        match &node.source {
            Source::Integer(number) => IndexValue::literal(*number),
            Source::Constant(value) if self.named == Some(*value) => IndexValue::blocks(self.blocks),
            Source::Constant(value) => IndexValue::of(Base::Constant(*value)),
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
                    | BinaryOp::Or => IndexValue::UNKNOWN,
                }
            }
            Source::Read(variable) => self.read(state, id, *variable),
            Source::Counter { of, by, range } => {
                let counted = by.map_or(IndexValue::UNKNOWN, |by| self.read_counter(id, *of, by));
                let bounds = range.map(|(from, end)| IndexValue::between(from, state.node(end).limit()));
                IndexValue { form: counted.form, ..bounds.unwrap_or_default() }
            }
            Source::ThreadRank => IndexValue::between(0, self.block_size()),
            Source::Known { .. } => match self.cfg.queries.get(&id).map(|(group, query)| (group, query.answer)) {
                Some((Group::Cluster, Answer::BlockRank)) => IndexValue::rank(self.blocks),
                Some((Group::Cluster, Answer::BlockCount)) => IndexValue::blocks(self.blocks),
                Some(_) | None => IndexValue::UNKNOWN,
            },
            Source::Operands
            | Source::Param(_)
            | Source::Round(..)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => IndexValue::UNKNOWN,
        }
    }

    fn read(&self, state: &Known, node: NodeId, variable: Variable) -> IndexValue {
        let known = state.variables.get(&variable).copied().unwrap_or_default();
        match known.form {
            Form::Unknown if self.is_uniform(node) => {
                IndexValue { form: IndexValue::of(Base::Variable(variable)).form, ..known }
            }
            _ => known,
        }
    }

    fn read_counter(&self, node: NodeId, variable: Variable, by: i64) -> IndexValue {
        if !self.is_uniform(node) {
            return IndexValue::UNKNOWN;
        }
        let before = IndexValue::of(Base::Variable(variable));
        match u64::try_from(by) {
            Ok(by) => before.plus(&IndexValue::literal(by)),
            Err(_) => before.minus(&IndexValue::literal(by.unsigned_abs())),
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

impl Analysis for IndexAnalysis<'_, '_> {
    type State = Known;

    fn entry(&self) -> Known {
        Known::default()
    }

    fn transfer(&self, state: &mut Known, step: &Step) {
        match &step.kind {
            StepKind::Value(ValueStep::Evaluate(node)) if self.asked[node.0] => {
                let number = self.evaluate(state, *node);
                if number.is_known() {
                    state.nodes.insert(*node, number);
                } else if self.kept[node.0] {
                    state.nodes.remove(node);
                }
            }
            _ => {
                if let Some((variable, number)) = self.assigned(state, step) {
                    state.set(variable, number);
                }
            }
        }
    }

    fn edge(&self, state: &mut Known, _cfg: &Cfg<'_>, _from: BlockId, to: BlockId) {
        state.variables.retain(|variable, _| self.live.contains(to, *variable));
        state.nodes.retain(|node, _| self.kept[node.0]);
    }
}
