//! Runs of single threads: what a thread of a block does with phase barriers, step by step, in a launch whose integers are known. All
//! integers that the host passes by value have one value, and so have all elements of read-only memory.
//!
//! A value that the text does not show is unknown. A branch on it is passed over, if its arms merge, and with it what they do. Other threads
//! are not followed, so that a run says what a thread does, and not when.

use std::collections::{BTreeMap, BTreeSet};

use super::bit_set::BlockSet;
use super::cfg::{
    BarrierCallId, BlockId, Cfg, CountedLoop, End, Extent, Formula, MemoryStep, NodeId, Offset, Region, Root, Select,
    Shared, Source, Step, StepKind, ValueStep, Variable,
};
use super::constant_propagation::operate;
use super::key_range::remove_range;
use super::uniform::control::Control;
use crate::model::Function;
use crate::model::expr::BinaryOp;
use crate::model::group::Group;
use crate::model::query::Answer;
use crate::model::ty::{ParamType, TypeShape, ValueType};

/// The integers of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Launch {
    /// The value of each integer that is an argument.
    pub(super) argument: u64,
    /// The value of each element of read-only memory.
    pub(super) element: u64,
}

/// A call of a method of a phase barrier that a thread makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) call: BarrierCallId,
    /// The index of the barrier in its array, if the call selects one by an index that is known.
    pub(super) index: Option<u64>,
    /// The call's last operand, if it is known.
    pub(super) operand: Option<u64>,
}

/// The run of one thread: the calls that it makes.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) events: Vec<Event>,
    /// The blocks that the run passed over: the thread may execute them, any number of times.
    pub(super) passed: BTreeSet<BlockId>,
    /// Whether the run reaches the end of the kernel.
    pub(super) ends: bool,
}

/// The thread fails, so that the launch is not one that works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fails;

/// The runs of a kernel.
pub(super) struct Runs<'a, 'f> {
    function: &'f Function,
    cfg: &'a Cfg<'f>,
    /// The number of threads in a block.
    threads: u64,
    regions: BTreeMap<BlockId, (BlockSet, Option<BlockId>)>,
    /// The heads of loops over ranges, by the first blocks of their iterations.
    heads: BTreeMap<BlockId, BlockId>,
    /// The values that are truth values.
    booleans: BTreeSet<NodeId>,
    pub(super) has_integers: bool,
    /// Whether all read-only memory has integers for elements.
    pub(super) reads_integers: bool,
}

impl<'a, 'f> Runs<'a, 'f> {
    pub(super) fn of(function: &'f Function, cfg: &'a Cfg<'f>, control: &Control, threads: u64) -> Self {
        let mut read_only = function.params.iter().filter_map(|param| match &param.ty {
            ParamType::Slice { mutable: false, element } | ParamType::OptionalSlice { mutable: false, element } => {
                Some(is_integer(element))
            }
            ParamType::Value(_)
            | ParamType::Reference { .. }
            | ParamType::Slice { .. }
            | ParamType::OptionalSlice { .. }
            | ParamType::Group(_)
            | ParamType::Tile { .. }
            | ParamType::Memory { .. }
            | ParamType::TensorMap { .. }
            | ParamType::Barrier { .. }
            | ParamType::Closure { .. } => None,
        });
        let reads_integers = read_only.next().is_some_and(|first| first && read_only.all(|is_integer| is_integer));
        let has_integers =
            function.params.iter().any(|param| matches!(&param.ty, ParamType::Value(ty) if is_integer(ty)));
        Runs {
            function,
            cfg,
            threads,
            regions: control.regions(cfg).map(|(branch, arms, end)| (branch, (arms, end))).collect(),
            heads: cfg.counted.iter().map(|(head, counted)| (counted.inside, *head)).collect(),
            booleans: booleans(cfg),
            has_integers,
            reads_integers,
        }
    }

    /// Follows the thread of this rank for as many steps as there are left.
    pub(super) fn run(&self, launch: Launch, rank: u64, left: &mut usize) -> Result<Run, Fails> {
        let mut thread = Thread {
            runs: self,
            launch,
            rank,
            nodes: BTreeMap::new(),
            variables: BTreeMap::new(),
            iterations: BTreeMap::new(),
            run: Run::default(),
        };
        let mut block = self.cfg.entry;
        loop {
            for step in &self.cfg.blocks[block.0].steps {
                let Some(rest) = left.checked_sub(1) else { return Ok(thread.run) };
                *left = rest;
                thread.step(block, step)?;
            }
            match thread.next(block)? {
                Next::Goes(next) => block = next,
                Next::Ends => {
                    thread.run.ends = true;
                    return Ok(thread.run);
                }
                Next::Unknown => return Ok(thread.run),
            }
            // A loop without steps never ends.
            let Some(rest) = left.checked_sub(1) else { return Ok(thread.run) };
            *left = rest;
        }
    }

    fn is_integer_argument(&self, position: usize) -> bool {
        let ty = self.function.params.get(position).map(|param| &param.ty);
        matches!(ty, Some(ParamType::Value(ty)) if is_integer(ty))
    }

    /// The length of a shared array, if it is a literal.
    pub(super) fn length(&self, shared: Shared) -> Option<u64> {
        let Shared::Array(array) = shared else { return None };
        let (_, length) = self.function.shared.get(array)?;
        self.function.values[usize::from(length.0)].literal
    }
}

fn is_integer(ty: &ValueType) -> bool {
    matches!(ty.shape, TypeShape::Scalar(name, _) if !matches!(name, "bool" | "f32" | "f64"))
}

enum Next {
    Goes(BlockId),
    Ends,
    Unknown,
}

/// A thread at a point of its run.
struct Thread<'r, 'a, 'f> {
    runs: &'r Runs<'a, 'f>,
    launch: Launch,
    rank: u64,
    nodes: BTreeMap<NodeId, u64>,
    variables: BTreeMap<Variable, u64>,
    /// The number of iterations that each loop over a range has begun, by its head.
    iterations: BTreeMap<BlockId, u64>,
    run: Run,
}

impl Thread<'_, '_, '_> {
    fn step(&mut self, block: BlockId, step: &Step) -> Result<(), Fails> {
        let cfg = self.runs.cfg;
        match step.kind {
            StepKind::Value(ValueStep::Evaluate(node)) => {
                let value = self.evaluate(block, node);
                set(&mut self.nodes, node, value);
            }
            StepKind::Value(ValueStep::Set { variable, value, extent }) => {
                let value = self.nodes.get(&value).copied().filter(|_| extent == Extent::Whole);
                if extent != Extent::Field {
                    self.forget_fields(variable);
                }
                set(&mut self.variables, variable, value);
            }
            StepKind::BarrierCall(call) => {
                let of = &cfg.barrier_calls[call.0];
                let index = self.index(&of.region)?;
                let operand = of.operands.last().and_then(|operand| self.nodes.get(operand).copied());
                self.run.events.push(Event { call, index, operand });
            }
            StepKind::Memory(MemoryStep::Access(id)) => {
                self.index(&cfg.accesses[id.0].region)?;
            }
            StepKind::Value(ValueStep::Name { .. } | ValueStep::Return(_))
            | StepKind::Memory(MemoryStep::Fence)
            | StepKind::Group(_)
            | StepKind::Token(_)
            | StepKind::Copy(_)
            | StepKind::Call(_) => {}
        }
        Ok(())
    }

    /// The index of an element of a shared array, if it is known.
    fn index(&self, region: &Region) -> Result<Option<u64>, Fails> {
        let index = match region.path.first() {
            Some(Select::At(index)) => self.nodes.get(index).copied(),
            Some(Select::Chunk { .. } | Select::Range { .. } | Select::Half { .. } | Select::Unknown) | None => None,
        };
        let length = region.root.party().and_then(|(_, shared)| self.runs.length(shared));
        match (index, length) {
            (Some(index), Some(length)) if index >= length => Err(Fails),
            (index, _) => Ok(index),
        }
    }

    fn next(&mut self, block: BlockId) -> Result<Next, Fails> {
        let cfg = self.runs.cfg;
        self.check_assertions(block)?;
        let next = match cfg.blocks[block.0].end {
            End::Never => return Err(Fails),
            End::Leave => return Ok(Next::Ends),
            End::Goto(next) => next,
            End::Option { .. } => return Ok(self.pass_over(block)),
            End::Branch { on, then, otherwise } => {
                // A thread that fails ends the launch.
                let fails = |block: BlockId| matches!(cfg.blocks[block.0].end, End::Never);
                let holds = match cfg.counted.get(&block) {
                    Some(counted) => {
                        let begun = self.iterations.get(&block).copied().unwrap_or(0);
                        self.trips(counted).map(|trips| begun < trips)
                    }
                    None => self.nodes.get(&on).map(|value| *value != 0),
                };
                match holds {
                    Some(true) => then,
                    Some(false) => otherwise,
                    None if fails(then) => otherwise,
                    None if fails(otherwise) => then,
                    None => return Ok(self.pass_over(block)),
                }
            }
        };
        for head in cfg.counted.iter().filter(|(_, counted)| counted.before == block).map(|(head, _)| *head) {
            self.iterations.insert(head, 0);
        }
        if let Some(head) = self.runs.heads.get(&next) {
            *self.iterations.entry(*head).or_default() += 1;
        }
        Ok(Next::Goes(next))
    }

    /// Continues where the arms of a branch have merged. What they set is unknown from then on.
    fn pass_over(&mut self, branch: BlockId) -> Next {
        let Some((arms, Some(end))) = self.runs.regions.get(&branch) else { return Next::Unknown };
        for arm in arms.iter() {
            self.run.passed.insert(arm);
            for step in &self.runs.cfg.blocks[arm.0].steps {
                if let StepKind::Value(ValueStep::Evaluate(node)) = step.kind {
                    self.nodes.remove(&node);
                }
                if let Some((variable, ..)) = step.kind.set() {
                    self.variables.remove(&variable);
                    self.forget_fields(variable);
                }
            }
        }
        Next::Goes(*end)
    }

    fn forget_fields(&mut self, whole: Variable) {
        if let Some(fields) = whole.fields() {
            remove_range(&mut self.variables, fields);
        }
    }

    fn check_assertions(&self, block: BlockId) -> Result<(), Fails> {
        let known = |node: &NodeId| self.nodes.get(node).copied();
        let fails = self.runs.cfg.assertions.iter().filter(|assertion| assertion.at.0 == block).any(|assertion| {
            let holds = match (assertion.compares, &assertion.operands[..]) {
                (Some(op), [a, b]) => known(a).zip(known(b)).and_then(|(a, b)| operate(op, a, b)),
                (_, operands) => operands.first().and_then(known),
            };
            holds == Some(0)
        });
        if fails { Err(Fails) } else { Ok(()) }
    }

    fn trips(&self, counted: &CountedLoop) -> Option<u64> {
        let (start, end) = (*self.nodes.get(&counted.start)?, *self.nodes.get(&counted.end)?);
        let by = counted.by?.unsigned_abs();
        let length = (end + u64::from(counted.inclusive)).saturating_sub(start);
        (by > 0).then(|| length.div_ceil(by))
    }

    /// The number of the current iteration.
    fn counter(&self, block: BlockId) -> Option<u64> {
        let head = self.runs.heads.get(&block)?;
        let counted = self.runs.cfg.counted.get(head)?;
        let before = self.iterations.get(head)?.checked_sub(1)?;
        match counted.by? {
            by @ 1.. => self.nodes.get(&counted.start)?.checked_add(before.checked_mul(by.unsigned_abs())?),
            -1 => (self.nodes.get(&counted.end)? + u64::from(counted.inclusive)).checked_sub(before + 1),
            _ => None,
        }
    }

    fn evaluate(&self, block: BlockId, node: NodeId) -> Option<u64> {
        let Runs { cfg, threads, .. } = *self.runs;
        let whole = &cfg.nodes[node.0];
        let known = |node: &NodeId| self.nodes.get(node).copied();
        if let Some(position) = cfg.positions.get(&node) {
            let is_exact = position.offset == Offset::Zero && position.rank_in.is_none();
            return position.digit.of_rank(self.rank).filter(|_| is_exact);
        }
        let blocks = || match &self.runs.function.options.cluster {
            Some(cluster) => cluster.count(),
            None => Some(1),
        };
        let value = match (&whole.source, &whole.operands[..]) {
            (Source::Integer(number), _) => Some(*number),
            (Source::ThreadRank, _) => Some(self.rank),
            (Source::Read(variable), _) => self.variables.get(variable).copied(),
            (Source::Counter { .. }, _) => self.counter(block),
            (Source::Param(position), _) => self.runs.is_integer_argument(*position).then_some(self.launch.argument),
            (Source::Load(Root::ReadOnly), _) => self.runs.reads_integers.then_some(self.launch.element),
            (Source::Not, [operand]) if self.runs.booleans.contains(&node) => {
                known(operand)?.checked_sub(1).map_or(Some(1), |rest| (rest == 0).then_some(0))
            }
            (Source::Known { .. }, []) => match cfg.queries.get(&node).map(|(group, query)| (*group, query.answer))? {
                (Group::ThreadBlock, Answer::ThreadCount) => Some(threads),
                (Group::Cluster, Answer::ThreadCount) => blocks()?.checked_mul(threads),
                (Group::Cluster, Answer::BlockCount) => blocks(),
                (Group::Cluster, Answer::BlockRank) => blocks().filter(|blocks| *blocks == 1).map(|_| 0),
                (Group::ThreadBlock | Group::Cluster | Group::Grid | Group::Tile | Group::Coalesced, _) => None,
            },
            (Source::Binary(op) | Source::Round(_, op), [a, b]) => match (op, known(a), known(b)) {
                (BinaryOp::And, Some(0), _) => Some(0),
                (BinaryOp::Or, Some(1), _) => Some(1),
                (_, Some(a), Some(b)) => operate(*op, a, b),
                (_, Some(_) | None, _) => None,
            },
            (Source::Operands, operands) => match (cfg.formulas.get(&node), operands) {
                (Some(Formula::DivCeil), [a, b]) => {
                    known(a)?.checked_add(known(b)?.checked_sub(1)?)?.checked_div(known(b)?)
                }
                (Some(Formula::NextMultiple), [a, b]) => known(a)?.checked_next_multiple_of(known(b)?),
                (None, [operand]) if cfg.cuts.contains_key(&node) => known(operand),
                (
                    Some(
                        Formula::DivCeil
                        | Formula::NextMultiple
                        | Formula::Min
                        | Formula::Max
                        | Formula::Length
                        | Formula::GoesOn { .. },
                    )
                    | None,
                    _,
                ) => None,
            },
            (
                Source::Constant(_)
                | Source::Binary(_)
                | Source::Not
                | Source::Known { .. }
                | Source::Round(..)
                | Source::Load(_)
                | Source::Agreed { .. }
                | Source::Shuffled { .. }
                | Source::Call { .. },
                _,
            ) => None,
        }?;
        // A value that its type would cut is not followed.
        cfg.cuts.get(&node).is_none_or(|bits| *bits >= 64 || value >> bits == 0).then_some(value)
    }
}

fn set<K: Ord>(map: &mut BTreeMap<K, u64>, key: K, value: Option<u64>) {
    match value {
        Some(value) => _ = map.insert(key, value),
        None => _ = map.remove(&key),
    }
}

/// The values that a branch takes for truth values, and those that they are made of.
fn booleans(cfg: &Cfg<'_>) -> BTreeSet<NodeId> {
    let mut sets: BTreeMap<Variable, Vec<NodeId>> = BTreeMap::new();
    for (variable, value, _) in cfg.blocks.iter().flat_map(|block| &block.steps).filter_map(|step| step.kind.set()) {
        sets.entry(variable).or_default().push(value);
    }
    let mut found = BTreeSet::new();
    let mut work: Vec<NodeId> = cfg.blocks.iter().filter_map(|block| block.end.condition()).collect();
    while let Some(node) = work.pop() {
        if !found.insert(node) {
            continue;
        }
        let of = &cfg.nodes[node.0];
        match &of.source {
            Source::Not
            | Source::Binary(BinaryOp::And | BinaryOp::Or | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor) => {
                work.extend(&of.operands);
            }
            Source::Read(variable) => work.extend(sets.get(variable).into_iter().flatten()),
            Source::Operands
            | Source::Integer(_)
            | Source::Constant(_)
            | Source::Binary(_)
            | Source::Counter { .. }
            | Source::Param(_)
            | Source::Known { .. }
            | Source::ThreadRank
            | Source::Round(..)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => {}
        }
    }
    found
}
