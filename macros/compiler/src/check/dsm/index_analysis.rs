//! A must-analysis of the values that select elements of shared memory. Relations between variables, as `prev = k`, `k += 1`,
//! `cur ^= 1` and `(cur + 1) % 3` make them, are known only of values that are uniform for the cluster; of others, only bounds.

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::uniformity::Uniformity;

use super::affine::{Base, Change};
use super::blocks_of_cluster;
use super::guards::{Bounds, Comparison, Fact, RankBounds, Subject};
use super::index_value::{Form, IndexValue, Size};
use super::least::LeastValues;
use super::skew::Skews;
use crate::check::cfg::{
    BasicBlock, BlockId, CallId, Cfg, Extent, Formula, MemoryStep, NodeId, Region, Select, Source, Step, StepKind,
    ValueStep, Variable,
};
use crate::check::engine::{Analysis, Join};
use crate::check::liveness::Live;
use crate::check::sorted_map::SortedMap;
use crate::check::uniform::control::following;
use crate::check::uniform::values::Values;
use crate::model::expr::BinaryOp;
use crate::model::group::Group;
use crate::model::options::Extents;
use crate::model::query::Answer;
use crate::model::{Function, ValueId};

/// The analysis, with the nodes and variables that it follows.
pub(super) struct IndexAnalysis<'a, 'f> {
    function: &'f Function,
    pub(super) cfg: &'a Cfg<'f>,
    live: &'a Live,
    values: &'a Values<'a, 'f>,
    /// By node, whether it is used in another basic block than the one that evaluates it.
    outlives_block: Vec<bool>,
    /// By node, whether it is an index or an index is computed from it.
    relevant: Vec<bool>,
    /// By variable, as `Live` numbers them, whether a relevant node reads it.
    relevant_variables: Vec<bool>,
    /// By block, the comparisons that its end tests and that tell something of relevant values.
    comparisons: Vec<Vec<Comparison>>,
    /// By node, what it is, if a comparison tells something of that.
    subjects: Vec<Option<Subject>>,
    /// The number of blocks in a cluster, if it is a literal.
    pub(super) blocks: Option<u64>,
    /// The constant of the program that is the number of blocks in a cluster.
    cluster_constant: Option<ValueId>,
    /// Whether it follows guards, numbers of threads, quotients and skews.
    pub(super) in_detail: bool,
    /// The variables that never change.
    fixed: BTreeSet<Variable>,
    /// The least values that variables can have.
    least: LeastValues,
    /// The variables that differ between blocks by their ranks.
    pub(super) skews: Skews,
}

/// The known values of variables and nodes. A variable without an entry is unknown or not live; if it is uniform for the cluster,
/// it is still a base that others are affine in.
#[derive(Debug, Clone, Default)]
pub(super) struct KnownValues {
    variables: SortedMap<Variable, IndexValue>,
    nodes: SortedMap<NodeId, IndexValue>,
    /// The bounds that the branches on the way imply.
    bounds: BTreeMap<Subject, Bounds>,
    /// Bounds of the block's rank.
    pub(super) ranks: RankBounds,
}

impl Join for KnownValues {
    // bottom = not reached; join = what holds of both
    fn join(&mut self, other: &Self) -> bool {
        let before = self.bounds.len();
        self.bounds.retain(|subject, bounds| other.bounds.get(subject) == Some(bounds));
        let mut changed = self.ranks.join(&other.ranks) || before != self.bounds.len();
        changed |= join(&mut self.variables, &other.variables);
        changed | join(&mut self.nodes, &other.nodes)
    }
}

/// Keeps what is known in both; says whether anything was dropped.
fn join<Key: Ord>(values: &mut SortedMap<Key, IndexValue>, others: &SortedMap<Key, IndexValue>) -> bool {
    let mut changed = false;
    values.retain(|key, value| match others.get(key) {
        Some(other) if value == other => true,
        Some(other) => {
            changed |= value.join(other);
            value.is_known()
        }
        None => {
            changed = true;
            false
        }
    });
    changed
}

impl KnownValues {
    /// A variable may hold another value in each block: nothing is counted from it.
    fn differ(&mut self, variable: Variable) {
        let forget = |value: &mut IndexValue| {
            if value.depends_on(variable) {
                value.form = Form::Unknown;
            }
        };
        self.nodes.values_mut().for_each(forget);
        self.variables.values_mut().for_each(forget);
        self.ranks.rewrite(variable, Change::Lost);
    }

    pub(super) fn node(&self, node: NodeId) -> IndexValue {
        self.nodes.get(&node).copied().unwrap_or_default()
    }

    pub(super) fn variable(&self, variable: Variable) -> Option<&IndexValue> {
        self.variables.get(&variable)
    }

    /// Sets a variable, and states what is affine in it in terms of its new value.
    fn set(&mut self, variable: Variable, value: IndexValue, change: Change) {
        self.ranks.rewrite(variable, change);
        self.bounds.retain(|subject, _| match subject {
            Subject::Variable(known) => *known != variable && known.whole() != Some(variable),
            Subject::ThreadRank | Subject::BlockRank => true,
        });
        self.nodes.values_mut().for_each(|other| other.rewrite(variable, change));
        self.variables.retain(|known, other| {
            other.rewrite(variable, change);
            // Fields whose values are known are set by steps of their own.
            known.whole() != Some(variable) && other.is_known()
        });
        // What depends on the old value keeps its bounds alone.
        let value = if value.depends_on(variable) { IndexValue { form: Form::Unknown, ..value } } else { value };
        match value.is_known() {
            true => self.variables.insert(variable, value),
            false => _ = self.variables.remove(&variable),
        }
    }
}

impl<'a, 'f> IndexAnalysis<'a, 'f> {
    /// Prepares the analysis. In detail, it follows guards, and numbers of threads and quotients too.
    pub(super) fn new(
        function: &'f Function,
        cfg: &'a Cfg<'f>,
        live: &'a Live,
        values: &'a Values<'a, 'f>,
        in_detail: bool,
    ) -> Self {
        let (mut indexes, mut outlives_block) = (Vec::new(), vec![false; cfg.nodes.len()]);
        let mut evaluated_in = vec![BlockId(0); cfg.nodes.len()];
        for (block, step) in
            (0..cfg.blocks.len()).flat_map(|block| cfg.blocks[block].steps.iter().map(move |s| (block, s)))
        {
            let mut visit = |region: &Region, arguments: &[NodeId]| {
                if region.root.party().is_some() {
                    let selectors = region.path.iter().flat_map(Select::nodes).chain(region.rank);
                    for node in selectors.chain(arguments.iter().copied()) {
                        indexes.push(node);
                        outlives_block[node.0] |= evaluated_in[node.0] != BlockId(block);
                    }
                }
            };
            match &step.kind {
                StepKind::Value(ValueStep::Evaluate(node)) => evaluated_in[node.0] = BlockId(block),
                StepKind::Memory(MemoryStep::Access(id)) => {
                    let access = &cfg.accesses[id.0];
                    visit(&access.region, &access.covers.first_of_vector().into_iter().collect::<Vec<_>>());
                }
                StepKind::Call(CallId(call)) => {
                    let call = &cfg.calls[*call];
                    let arguments = &cfg.nodes[call.node.0].operands;
                    call.regions.iter().flatten().for_each(|region| visit(region, arguments));
                }
                StepKind::Value(ValueStep::Set { .. } | ValueStep::Name { .. } | ValueStep::Return(_))
                | StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
                | StepKind::Group(_)
                | StepKind::Token(_)
                | StepKind::BarrierCall(_)
                | StepKind::Copy(_) => {}
            }
        }
        let (relevant, relevant_variables) = (vec![false; cfg.nodes.len()], vec![false; live.variables().count()]);
        let blocks = blocks_of_cluster(function);
        let cluster_constant = function.options.cluster.as_ref().and_then(|extents| constant(function, extents));
        let mut analysis = IndexAnalysis {
            function,
            cfg,
            live,
            values,
            relevant,
            relevant_variables,
            comparisons: vec![Vec::new(); cfg.blocks.len()],
            subjects: vec![None; cfg.nodes.len()],
            outlives_block,
            blocks,
            cluster_constant,
            in_detail,
            fixed: if in_detail { fixed(function, cfg) } else { BTreeSet::new() },
            least: LeastValues::default(),
            skews: Skews::default(),
        };
        analysis.mark_relevant(indexes);
        if in_detail {
            analysis.mark_comparisons(&evaluated_in);
            analysis.least = LeastValues::of(cfg, |variable| analysis.is_relevant(variable));
        }
        analysis
    }

    /// Finds the comparisons that tell something of relevant values.
    fn mark_comparisons(&mut self, evaluated_in: &[BlockId]) {
        let matters = |variable| self.is_relevant(variable);
        let comparisons = |block: &BasicBlock| {
            let mut comparisons = Comparison::of_block(self.cfg, block);
            comparisons.retain(|comparison| comparison.matters(self.cfg, matters));
            comparisons
        };
        self.comparisons = self.cfg.blocks.iter().map(comparisons).collect();
        let found = (0..).map(BlockId).zip(&self.comparisons);
        let found: Vec<(BlockId, Comparison)> =
            found.flat_map(|(block, found)| found.iter().map(move |found| (block, *found))).collect();
        for (block, comparison) in &found {
            for node in comparison.nodes() {
                self.outlives_block[node.0] |= evaluated_in[node.0] != *block;
            }
        }
        self.mark_relevant(found.iter().flat_map(|(_, comparison)| comparison.nodes()).collect());
        let compared: BTreeSet<Subject> = found.iter().flat_map(|(_, found)| found.subjects).flatten().collect();
        if !compared.is_empty() {
            for node in (0..self.relevant.len()).map(NodeId).filter(|node| self.relevant[node.0]) {
                self.subjects[node.0] = Subject::of(self.cfg, node).filter(|subject| compared.contains(subject));
            }
        }
    }

    /// Marks the nodes and variables that these nodes are computed from. The analysis ignores all others.
    fn mark_relevant(&mut self, mut work: Vec<NodeId>) {
        let variables = self.live.variables();
        let mut sets: Vec<Vec<NodeId>> = vec![Vec::new(); variables.count()];
        for step in self.cfg.blocks.iter().flat_map(|block| &block.steps) {
            if let Some((variable, value, _)) = step.kind.set() {
                sets[variables.number(variable)].push(value);
            }
        }
        while let Some(id) = work.pop() {
            if std::mem::replace(&mut self.relevant[id.0], true) {
                continue;
            }
            let node = &self.cfg.nodes[id.0];
            work.extend(&node.operands);
            let (variable, ends) = match node.source {
                Source::Read(variable) => (variable, &[][..]),
                Source::Counter { of, .. } => (of, &node.operands[..]),
                Source::Operands
                | Source::Integer(_)
                | Source::Constant(_)
                | Source::Binary(_)
                | Source::Not
                | Source::Param(_)
                | Source::Known { .. }
                | Source::ThreadRank
                | Source::Round(..)
                | Source::Load(_)
                | Source::Agreed { .. }
                | Source::Shuffled { .. }
                | Source::Call { .. } => continue,
            };
            // The ends are evaluated before the loop.
            for end in ends {
                self.outlives_block[end.0] = true;
            }
            // An assignment to the whole changes its fields.
            for variable in std::iter::once(variable).chain(variable.whole()).map(|variable| variables.number(variable))
            {
                if !std::mem::replace(&mut self.relevant_variables[variable], true) {
                    work.extend(&sets[variable]);
                }
            }
        }
    }

    /// Whether a guard names what a variable held before a loop, so that a solution is worth narrowing.
    pub(super) fn names_variables(&self) -> bool {
        self.comparisons.iter().flatten().any(|comparison| comparison.bounds_block_rank(self.cfg))
    }

    /// The number of blocks in a cluster, if it is known.
    pub(super) fn blocks(&self) -> Option<u32> {
        self.blocks.and_then(|blocks| u32::try_from(blocks).ok())
    }

    /// Whether an index may depend on the variable.
    pub(super) fn is_relevant(&self, variable: Variable) -> bool {
        self.relevant_variables[self.live.variables().number(variable)]
    }

    /// The variable that a step sets and its new value, if an index may depend on the variable.
    pub(super) fn assigned(&self, state: &KnownValues, step: &Step) -> Option<(Variable, IndexValue)> {
        let (variable, value, extent) = step.kind.set()?;
        match extent {
            // The field is set by a step of its own.
            Extent::Field => None,
            Extent::Whole | Extent::Part if !self.is_relevant(variable) => None,
            Extent::Whole => Some((variable, state.node(value))),
            Extent::Part => Some((variable, IndexValue::UNKNOWN)),
        }
    }

    fn evaluate(&self, state: &KnownValues, id: NodeId) -> IndexValue {
        let node = &self.cfg.nodes[id.0];
        let operand =
            |index: usize| node.operands.get(index).map_or(IndexValue::UNKNOWN, |operand| state.node(*operand));
        match &node.source {
            Source::Integer(number) => IndexValue::literal(*number),
            Source::Constant(value) if self.cluster_constant == Some(*value) => IndexValue::blocks(self.blocks),
            Source::Constant(value) => IndexValue::constant(*value),
            Source::Not => operand(0).complement(),
            Source::Binary(op) => self.operator(*op, &operand(0), &operand(1)),
            Source::Read(variable) => self.read(state, id, *variable),
            Source::Counter { of, by, range } => self.counter(state, id, *of, *by, *range),
            Source::ThreadRank => IndexValue::between(0, self.block_size()),
            Source::Known { .. } => match self.cfg.queries.get(&id).map(|(group, query)| (group, query.answer)) {
                Some((Group::Cluster, Answer::BlockRank)) => IndexValue::rank(self.blocks),
                Some((Group::Cluster, Answer::BlockCount)) => IndexValue::blocks(self.blocks),
                Some((Group::ThreadBlock, Answer::ThreadCount)) if self.in_detail => match self.block_size() {
                    Some(Size::Number(threads)) => IndexValue::literal(threads),
                    Some(Size::Constant(_) | Size::Blocks | Size::Fixed(_)) | None => IndexValue::between(1, None),
                },
                Some((Group::Cluster, answer)) if self.in_detail => self.of_cluster(answer),
                Some(_) | None => IndexValue::UNKNOWN,
            },
            Source::Round(..) if !self.in_detail || self.cfg.cuts.contains_key(&id) => IndexValue::UNKNOWN,
            Source::Round(_, op @ (BinaryOp::Div | BinaryOp::Shr)) => self.operator(*op, &operand(0), &operand(1)),
            Source::Operands => match self.cfg.formulas.get(&id) {
                Some(Formula::Min) => operand(0).smaller(&operand(1)),
                Some(Formula::Max) => operand(0).larger(&operand(1)),
                Some(_) | None => IndexValue::UNKNOWN,
            },
            Source::Param(_)
            | Source::Round(..)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => IndexValue::UNKNOWN,
        }
    }

    /// The result of an operator. In detail, it may be known in each block where it is not affine.
    fn operator(&self, op: BinaryOp, a: &IndexValue, b: &IndexValue) -> IndexValue {
        let result = IndexValue::of_operator(op, a, b, self.in_detail);
        if !self.in_detail || result.form != Form::Unknown && op != BinaryOp::BitXor {
            return result;
        }
        self.blocks.and_then(|blocks| IndexValue::by_rank(op, a, b, blocks)).unwrap_or(result)
    }

    /// The value of a node wherever it is evaluated, which the second operand of `&&` may not have been.
    fn constant_value(&self, node: NodeId) -> IndexValue {
        match (&self.cfg.nodes[node.0].source, self.subjects[node.0]) {
            (Source::Integer(number), _) => IndexValue::literal(*number),
            (_, Some(Subject::BlockRank)) => IndexValue::rank(self.blocks),
            (_, Some(Subject::ThreadRank)) => IndexValue::between(0, self.block_size()),
            (_, Some(Subject::Variable(_)) | None) => IndexValue::UNKNOWN,
        }
    }

    fn read(&self, state: &KnownValues, node: NodeId, variable: Variable) -> IndexValue {
        let known = state.variables.get(&variable).copied().unwrap_or_default();
        match known.form {
            // What a loop counts up by hand is compared between rounds, and so in terms of the round.
            Form::Affine(_) if self.least.counts(variable) && self.is_uniform(node) => {
                IndexValue { form: IndexValue::of(Base::Variable(variable)).form, ..known }
            }
            Form::Unknown | Form::Affine(_) if !known.has_terms() && self.is_uniform(node) => {
                let base = if self.is_fixed(variable) { Base::Fixed(variable) } else { Base::Variable(variable) };
                IndexValue { form: IndexValue::of(base).form, ..known }
            }
            Form::Unknown => {
                self.skews.read(variable).map_or(known, |IndexValue { form, .. }| IndexValue { form, ..known })
            }
            Form::Affine(_) | Form::InChunk { .. } | Form::InHalf { .. } | Form::ByRank(_) => known,
        }
    }

    /// Whether a variable never changes: a parameter, or what is set once and not in a loop.
    fn is_fixed(&self, variable: Variable) -> bool {
        self.fixed.contains(&variable)
    }

    /// Whether the value is uniform for the cluster.
    pub(super) fn is_uniform(&self, node: NodeId) -> bool {
        self.values.level(node).is_uniform(Uniformity::Cluster)
    }

    /// The number of threads in a block.
    pub(super) fn block_size(&self) -> Option<Size> {
        let extents = self.function.options.block.as_ref()?;
        extents.count().map(Size::Number).or_else(|| constant(self.function, extents).map(Size::Constant))
    }
}

/// The parameters that are not assigned, and the variables that are set once, as a whole and not in a loop.
fn fixed(function: &Function, cfg: &Cfg<'_>) -> BTreeSet<Variable> {
    let mut sets: BTreeMap<Variable, Vec<bool>> = BTreeMap::new();
    for (number, block) in cfg.blocks.iter().enumerate() {
        for (variable, _, extent) in block.steps.iter().filter_map(|step| step.kind.set()) {
            let once = extent == Extent::Whole && !following(cfg, BlockId(number)).contains(BlockId(number));
            for set in [Some(variable), variable.whole()].into_iter().flatten() {
                sets.entry(set).or_default().push(once);
            }
        }
    }
    let params =
        function.params.iter().map(|param| Variable::Local(param.local)).filter(|param| !sets.contains_key(param));
    let once = sets.iter().filter(|(_, once)| once[..] == [true]).map(|(variable, _)| *variable);
    params.chain(once).collect()
}

/// The constant that the extent of one dimension is, if the body also uses that constant as an expression.
fn constant(function: &Function, extents: &Extents) -> Option<ValueId> {
    let mut values = (0..function.values.len()).filter_map(|value| u16::try_from(value).ok()).map(ValueId);
    values.find(|value| function.values[usize::from(value.0)].declared && function.is_extent(*value, extents))
}

impl Analysis for IndexAnalysis<'_, '_> {
    type State = KnownValues;

    fn entry(&self) -> KnownValues {
        KnownValues::default()
    }

    fn transfer(&self, state: &mut KnownValues, step: &Step) {
        match &step.kind {
            StepKind::Value(ValueStep::Evaluate(node)) if self.relevant[node.0] => {
                let mut value = self.evaluate(state, *node);
                if let Some(bounds) = self.subjects[node.0].and_then(|subject| state.bounds.get(&subject)) {
                    value = bounds.apply(value);
                }
                if value.is_known() {
                    state.nodes.insert(*node, value);
                } else if self.outlives_block[node.0] {
                    state.nodes.remove(node);
                }
            }
            StepKind::Value(ValueStep::Set { .. }) => {
                if let Some((variable, value)) = self.assigned(state, step) {
                    state.set(variable, value, self.skews.change(variable, &value));
                }
            }
            StepKind::Value(ValueStep::Evaluate(_) | ValueStep::Name { .. } | ValueStep::Return(_))
            | StepKind::Memory(_)
            | StepKind::Group(_)
            | StepKind::Token(_)
            | StepKind::BarrierCall(_)
            | StepKind::Copy(_)
            | StepKind::Call(_) => {}
        }
    }

    fn edge(&self, state: &mut KnownValues, _cfg: &Cfg<'_>, from: BlockId, to: BlockId) {
        for comparison in &self.comparisons[from.0] {
            let KnownValues { nodes, bounds: known, ranks: known_ranks, .. } = state;
            let value = |node: NodeId| nodes.get(&node).copied().unwrap_or_else(|| self.constant_value(node));
            comparison.learn(to, self.blocks, value, |fact| match fact {
                Fact::Bounds(subject, bounds) => known.entry(subject).or_default().narrow(bounds),
                Fact::Ranks(ranks) => known_ranks.narrow(*ranks),
            });
        }
        // Where arms merge on which blocks may differ, a variable that they assign is not the same in all blocks any more.
        for branch in &self.values.control.merges[to.0] {
            if !self.values.tested(*branch).is_uniform(Uniformity::Cluster) {
                self.values
                    .control
                    .assigned
                    .get(branch)
                    .into_iter()
                    .flatten()
                    .for_each(|variable| state.differ(*variable));
            }
        }
        for (variable, least) in self.least.at(to.0).filter(|(variable, _)| self.live.contains(to, *variable)) {
            let lower = &mut state.variables.get_or_default(variable).lower;
            *lower = (*lower).max(Some(least));
        }
        state.variables.retain(|variable, _| self.live.contains(to, *variable));
        state.bounds.retain(|subject, _| match subject {
            Subject::Variable(variable) => self.live.contains(to, *variable),
            Subject::ThreadRank | Subject::BlockRank => true,
        });
        state.nodes.retain(|node, _| self.outlives_block[node.0]);
    }
}
