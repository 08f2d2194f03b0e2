//! A kernel as the extraction reads it: its graph, the sizes of its groups, and where variables are set.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use phalanx_contract::uniformity::Uniformity;

use super::arms::OnArms;
use super::constants::Constants;
use super::handed::Handed;
use super::long_loops::LongLoops;
use super::pipelines::Pipelines;
pub(crate) use super::refusal::Refusal;
use super::steps::acts;
pub(super) use super::steps::{DYNAMIC, Point, WARP, array_of, is_by_parity, is_warp, is_within_warp};
use super::symbol::Symbol;
use super::tested::Tests;
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{
    Access, BlockId, ByVariable, Cfg, CountedLoop, Extent, Formula, GroupStep, MemoryStep, NodeId, Shared, Source,
    Step, StepKind, ValueStep, Variable,
};
use crate::check::uniform::control::{following, following_until};
use crate::check::uniform::values::Values;
use crate::model::Function;
use crate::model::barrier::PhaseAction;
use crate::model::expr::BinaryOp;
use crate::span::SpanRange;

/// A kernel, its graph, and facts about both.
pub(super) struct Kernel<'a, 'f> {
    pub(super) function: &'f Function,
    pub(super) cfg: &'a Cfg<'f>,
    pub(super) values: &'a Values<'a, 'f>,
    pub(super) constants: &'a Constants<'f>,
    /// The number of threads in a block.
    pub(super) threads: u32,
    /// The number of blocks in a cluster.
    pub(super) blocks: u32,
    /// The assignments to each variable.
    sets: ByVariable<Vec<(Point, NodeId, Extent)>>,
    /// By assignment to a struct or a tuple, the fields that hold something unknown afterwards.
    lost: BTreeMap<Point, Vec<Variable>>,
    /// Where each node is evaluated.
    evaluated: Vec<Option<Point>>,
    /// For each block, the indexes of the steps that do more than compute a value that no other thread has a part in: most do not.
    acting: Vec<Vec<usize>>,
    /// The loops over ranges, by the variables that hold their numbers.
    counting: BTreeMap<Variable, &'a CountedLoop>,
    /// The calls, with their nodes.
    calls: Vec<(Point, NodeId)>,
    /// For each block, those that control may come to behind it.
    following: Vec<BlockSet>,
    /// For each branch, the blocks on its arms and the block where those have merged.
    pub(super) regions: BTreeMap<BlockId, (BlockSet, Option<BlockId>)>,
    /// The facts of the steps on those arms, by block of the graph.
    on_arms: Vec<Option<OnArms>>,
    /// For each block, the heads of the loops over ranges that it comes before.
    heads_behind: Vec<Vec<BlockId>>,
    /// The variables that are truth values, because a branch or a wait takes them for one.
    booleans: BTreeSet<Variable>,
    pub(super) pipelines: Pipelines,
    pub(super) tests: Tests,
    /// Whether loops that a thread's rank decides about are passed over, although what they access is known: there are too many of them.
    pub(super) passes_over: Cell<bool>,
    /// Whether a read of an element and a write of perhaps another one were taken for one access, between two steps of a thread.
    pub(super) merged: Cell<bool>,
    /// Whether loops over ranges from a small number on are taken for the rest of loops from 0 on.
    pub(super) from_zero: Cell<bool>,
    pub(super) long_loops: LongLoops,
    /// The tests whether a phase is over, by the nodes of their answers.
    pub(super) tested: BTreeMap<NodeId, usize>,
    /// The tickets and numbers that threads hand out in the launch that is followed.
    pub(super) handed: RefCell<Option<Rc<Handed>>>,
    /// The calls that are taken to keep no thread waiting for another, and to access no memory that threads share: rustc has to confirm it.
    pub(super) quiet: RefCell<BTreeSet<usize>>,
    /// For each block that was asked for, the branches on whose arms it is, each with whether it has to go to its first arm.
    pub(super) guards: RefCell<BTreeMap<BlockId, Vec<(BlockId, bool)>>>,
    /// The nodes whose values depend on what other threads write.
    pub(super) learned: OnceCell<BTreeSet<NodeId>>,
}

impl<'a, 'f> Kernel<'a, 'f> {
    pub(super) fn new(
        function: &'f Function,
        cfg: &'a Cfg<'f>,
        values: &'a Values<'a, 'f>,
        constants: &'a Constants<'f>,
        (threads, blocks): (u32, u32),
    ) -> Kernel<'a, 'f> {
        let mut kernel = Kernel {
            function,
            cfg,
            values,
            constants,
            threads,
            blocks,
            sets: ByVariable::default(),
            lost: BTreeMap::new(),
            evaluated: vec![None; cfg.nodes.len()],
            acting: Vec::new(),
            counting: BTreeMap::new(),
            calls: Vec::new(),
            following: (0..cfg.blocks.len()).map(|block| following(cfg, BlockId(block))).collect(),
            regions: values.control.regions(cfg).map(|(branch, arms, end)| (branch, (arms, end))).collect(),
            on_arms: Vec::new(),
            heads_behind: vec![Vec::new(); cfg.blocks.len()],
            booleans: BTreeSet::new(),
            pipelines: Pipelines::default(),
            tests: Tests::default(),
            quiet: RefCell::default(),
            passes_over: Cell::new(false),
            merged: Cell::new(false),
            from_zero: Cell::new(false),
            long_loops: LongLoops::default(),
            tested: (0..)
                .zip(&cfg.barrier_calls)
                .filter(|(_, call)| call.method.action == PhaseAction::TryWait)
                .map(|(at, call)| (call.result, at))
                .collect(),
            handed: RefCell::default(),
            guards: RefCell::default(),
            learned: OnceCell::default(),
        };
        for (block, content) in cfg.blocks.iter().enumerate() {
            let mut acting = Vec::new();
            for (index, step) in content.steps.iter().enumerate() {
                let point = (BlockId(block), index);
                if acts(cfg, &step.kind) {
                    acting.push(index);
                }
                if let StepKind::Value(ValueStep::Evaluate(node)) = step.kind {
                    kernel.evaluated[node.0] = Some(point);
                }
                if let StepKind::Call(call) = step.kind {
                    kernel.calls.push((point, cfg.calls[call.0].node));
                }
                if let Some((variable, value, extent)) = step.kind.set() {
                    kernel.sets.get_or_insert(variable, Vec::new()).push((point, value, extent));
                }
            }
            kernel.acting.push(acting);
        }
        // The first loop of a variable is the one, as in the order of the graph.
        for counted in cfg.counted.values() {
            let first = cfg.blocks[counted.inside.0].steps.iter().find_map(|step| step.kind.set());
            first.into_iter().for_each(|(variable, ..)| _ = kernel.counting.entry(variable).or_insert(counted));
        }
        kernel.find_lost_fields();
        kernel.find_booleans();
        let values = |sets: &Vec<(Point, NodeId, Extent)>| sets.iter().map(|(_, value, _)| *value).collect();
        let sets = kernel.sets.iter().map(|(variable, sets)| (variable, values(sets)));
        kernel.pipelines = Pipelines::of(cfg, &sets.collect());
        kernel.tests = Tests::of(cfg, |node| kernel.is_natural(node));
        cfg.counted.iter().for_each(|(head, counted)| kernel.heads_behind[counted.before.0].push(*head));
        let on_arms = |branch| {
            let (arms, end) = kernel.regions.get(&branch)?;
            let repeats = end.is_none_or(|end| kernel.repeats(branch, arms, end));
            let on = |arm| kernel.acting(arm).map(move |(index, step)| ((arm, index), step));
            let steps = arms.iter().flat_map(on).map(|(point, step)| (point, step, kernel.lost(point)));
            Some(OnArms::of(cfg, (arms, repeats), steps, |step| kernel.is_relevant(step, &|_| false)))
        };
        kernel.on_arms = (0..cfg.blocks.len()).map(|block| on_arms(BlockId(block))).collect();
        kernel
    }

    /// The fields that hold something unknown after a step that sets the whole, or an unknown part of it.
    pub(super) fn lost(&self, point: Point) -> &[Variable] {
        self.lost.get(&point).map_or(&[], Vec::as_slice)
    }

    fn find_lost_fields(&mut self) {
        let read = self.cfg.nodes.iter().filter_map(|node| node.source.read());
        let fields: BTreeSet<Variable> = read.filter(|variable| variable.whole().is_some()).collect();
        for (block, content) in (0..).map(BlockId).zip(&self.cfg.blocks) {
            for (index, step) in content.steps.iter().enumerate() {
                let Some((whole, value, extent)) = step.kind.set() else { continue };
                // The fields whose values are known have steps of their own, which follow.
                let following = content.steps[index + 1..].iter().map_while(|step| step.kind.set());
                let known: BTreeSet<Variable> = following.map(|(variable, ..)| variable).collect();
                let of_it = |field: &&Variable| field.whole() == Some(whole) && extent != Extent::Field;
                let lost = fields.iter().filter(of_it).filter(|field| extent == Extent::Part || !known.contains(field));
                let lost: Vec<Variable> = lost.copied().collect();
                for field in &lost {
                    self.sets.get_or_insert(*field, Vec::new()).push(((block, index), value, Extent::Part));
                }
                if !lost.is_empty() {
                    self.lost.insert((block, index), lost);
                }
            }
        }
    }

    /// The place of what concerns no step: the kernel's name.
    pub(super) fn whole(&self) -> SpanRange {
        SpanRange::at(self.function.name.span())
    }

    /// The accesses of a shared array, with their places.
    pub(super) fn accesses_of(&self, array: usize) -> Vec<(&'a Access, Point)> {
        let cfg = self.cfg;
        let steps = cfg.blocks.iter().enumerate().flat_map(|(block, content)| {
            content.steps.iter().enumerate().map(move |(index, step)| ((BlockId(block), index), step))
        });
        let access = steps.filter_map(|(point, step)| {
            let StepKind::Memory(MemoryStep::Access(access)) = step.kind else { return None };
            let access = &cfg.accesses[access.0];
            (array_of(&access.region) == Some(array)).then_some((access, point))
        });
        access.collect()
    }

    /// The name of a shared array.
    pub(super) fn name_of(&self, array: usize) -> String {
        let shared = if array == DYNAMIC { Shared::Dynamic } else { Shared::Array(array) };
        let name = self.cfg.name_of(self.function, shared);
        name.map_or_else(|| "shared memory".into(), ToString::to_string)
    }

    /// The scope at which all threads of the skeleton agree.
    pub(super) fn scope(&self) -> Uniformity {
        if self.blocks > 1 { Uniformity::Cluster } else { Uniformity::Block }
    }

    /// The steps of a block that do more than compute a value that no other thread has a part in, with their indexes.
    pub(super) fn acting(&self, block: BlockId) -> impl Iterator<Item = (usize, &'a Step)> {
        let steps = &self.cfg.blocks[block.0].steps;
        self.acting[block.0].iter().map(|index| (*index, &steps[*index]))
    }

    pub(super) fn is_in_loop(&self, block: BlockId) -> bool {
        self.following(block).contains(block)
    }

    /// The blocks that control may come to behind a block.
    pub(super) fn following(&self, block: BlockId) -> &BlockSet {
        &self.following[block.0]
    }

    /// Returns the loop over a range whose numbers a variable holds.
    pub(super) fn loop_of(&self, variable: Variable) -> Option<&'a CountedLoop> {
        self.counting.get(&variable).copied()
    }

    /// Whether the loop over a range whose numbers a variable holds is followed, and not passed over.
    pub(super) fn follows_loop_of(&self, variable: Variable, counts: &dyn Fn(Variable) -> bool) -> bool {
        let Some(counted) = self.loop_of(variable) else { return false };
        let mut heads = self.cfg.counted.iter().filter(|(_, other)| other.inside == counted.inside);
        heads.any(|(head, _)| !self.is_skipped(*head, counts))
    }

    /// Whether there is a loop over a range from a small number on whose end arguments may decide.
    pub(super) fn has_later_loops(&self) -> bool {
        let number = |node: NodeId| self.cfg.nodes[self.cfg.origin(node).0].source.integer();
        let is_later = |counted: &CountedLoop| {
            let start = self.cfg.origin(counted.start);
            let is_number = matches!(self.cfg.nodes[start.0].source, Source::Constant(_))
                || self.cfg.formulas.get(&start) == Some(&Formula::Min);
            number(counted.end).is_none() && (is_number || number(counted.start).is_some_and(|first| first > 0))
        };
        self.cfg.counted.values().any(is_later)
    }

    /// Whether a thread may come to some block again on the arms of a branch, before they have merged.
    pub(super) fn repeats(&self, branch: BlockId, arms: &BlockSet, end: BlockId) -> bool {
        let mut blocks = arms.iter().chain([branch]);
        blocks.any(|block| block != end && following_until(self.cfg, block, end).contains(block))
    }

    pub(super) fn sets(&self, variable: Variable) -> &[(Point, NodeId, Extent)] {
        self.sets.get(variable).map_or(&[], Vec::as_slice)
    }

    /// Whether the body of the loop whose numbers a variable holds cannot change it.
    pub(super) fn is_kept_by_body(&self, variable: Variable) -> bool {
        matches!(variable, Variable::Local(local) if self.function.local(local).mutable.is_none())
    }

    /// Whether a step concerns barriers, or a variable that counts.
    pub(super) fn is_relevant(&self, step: &StepKind, counts: &dyn Fn(Variable) -> bool) -> bool {
        match step {
            StepKind::BarrierCall(call) => {
                let call = &self.cfg.barrier_calls[call.0];
                !matches!(call.method.action, PhaseAction::Init | PhaseAction::InitCollective)
            }
            StepKind::Copy(_) => true,
            StepKind::Group(GroupStep::Collective { team, barrier, .. }) => *barrier && !team.group.is_of_a_warp(),
            StepKind::Group(
                GroupStep::Arrive { .. }
                | GroupStep::Wait { .. }
                | GroupStep::ArriveForgotten { .. }
                | GroupStep::WaitElected { .. },
            ) => true,
            StepKind::Call(call) => {
                let call = &self.cfg.calls[call.0];
                !call.barriers.is_empty() || self.pipelines.called(call).is_some()
            }
            StepKind::Value(ValueStep::Set { variable, .. }) => counts(*variable),
            StepKind::Value(ValueStep::Evaluate(node)) => self.hands(*node),
            StepKind::Memory(MemoryStep::Access(access)) => {
                self.handed.borrow().as_ref().is_some_and(|handed| handed.is_access(*access))
            }
            StepKind::Value(ValueStep::Name { .. } | ValueStep::Return(_))
            | StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
            | StepKind::Group(GroupStep::Convergent { .. } | GroupStep::Aligned { .. } | GroupStep::FormGroup(_))
            | StepKind::Token(_) => false,
        }
    }

    /// Whether a thread is handed something where it evaluates a node.
    pub(super) fn hands(&self, node: NodeId) -> bool {
        self.handed.borrow().as_ref().is_some_and(|handed| handed.hands(node))
    }

    /// Whether nothing on the arms of a branch is relevant, so that it need not be followed.
    pub(super) fn is_skipped(&self, block: BlockId, counts: &dyn Fn(Variable) -> bool) -> bool {
        let (Some(on), Some((arms, Some(_)))) = (self.on_arms(block), self.regions.get(&block)) else { return false };
        let hands_out =
            || arms.iter().flat_map(|arm| self.acting(arm)).any(|(_, step)| self.is_relevant(&step.kind, counts));
        !on.is_relevant
            && !on.set.iter().any(|variable| counts(*variable))
            && (self.handed.borrow().is_none() || !hands_out())
    }

    /// Returns the facts of the steps on the arms of a branch.
    pub(super) fn on_arms(&self, branch: BlockId) -> Option<&OnArms> {
        self.on_arms[branch.0].as_ref()
    }

    /// The heads of the loops over ranges that a block comes before.
    pub(super) fn heads_behind(&self, block: BlockId) -> &[BlockId] {
        &self.heads_behind[block.0]
    }

    /// The variables that values are computed from.
    pub(super) fn needed_by(&self, nodes: impl Iterator<Item = NodeId>) -> BTreeSet<Variable> {
        let mut needed = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut work: Vec<NodeId> = nodes.collect();
        while let Some(node) = work.pop() {
            if !seen.insert(node) {
                continue;
            }
            let of = &self.cfg.nodes[node.0];
            work.extend(&of.operands);
            if let Some(variable) = of.source.read()
                && needed.insert(variable)
            {
                work.extend(self.sets(variable).iter().map(|(_, value, _)| *value));
            }
        }
        needed
    }

    /// The types to which a value is cast that need not hold it, in their order.
    pub(super) fn cast_of(&self, node: NodeId) -> Option<&str> {
        let is_truth = self.is_boolean(node) || self.is_boolean(self.cfg.first_origin(node));
        self.cfg.recast.get(&node).filter(|_| !is_truth).map(String::as_str)
    }

    /// What casts make of the value of a node.
    pub(super) fn cast(&self, node: NodeId, symbol: Symbol) -> Symbol {
        match self.cast_of(node) {
            Some(types) => Symbol::of(format!("({symbol}{types})")),
            None => symbol,
        }
    }

    pub(super) fn evaluated(&self, node: NodeId) -> Option<Point> {
        self.evaluated[node.0]
    }

    pub(super) fn at(&self, node: NodeId) -> SpanRange {
        self.cfg.nodes[node.0].at
    }

    /// Whether a value is a truth value.
    pub(super) fn is_boolean(&self, node: NodeId) -> bool {
        let of = &self.cfg.nodes[node.0];
        match &of.source {
            Source::Binary(op) | Source::Round(_, op) => {
                use BinaryOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
                matches!(op, Eq | Ne | Lt | Le | Gt | Ge | And | Or)
            }
            Source::Not => self.is_boolean(of.operands[0]),
            Source::Read(variable) => self.booleans.contains(variable),
            Source::Operands => match self.cfg.formulas.get(&node) {
                Some(Formula::Pick) => of.operands[1..].iter().all(|element| self.is_boolean(*element)),
                _ => false,
            },
            Source::Known { .. } => self.answers(node).is_some(),
            Source::Integer(_)
            | Source::Constant(_)
            | Source::Counter { .. }
            | Source::Param(_)
            | Source::ThreadRank
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => false,
        }
    }

    /// Whether some step sets the variable on the way from one point to another, which comes later.
    pub(super) fn may_be_set_between(&self, variable: Variable, from: Point, to: Point) -> bool {
        self.may_pass_between(self.sets(variable).iter().map(|(point, ..)| *point), from, to)
    }

    /// Whether one of these points may be on the way from one point to another, which comes later.
    pub(super) fn may_pass_between(&self, mut points: impl Iterator<Item = Point>, from: Point, to: Point) -> bool {
        if from.0 == to.0 && from.1 <= to.1 {
            return points.any(|(block, index)| block == from.0 && from.1 < index && index < to.1);
        }
        let between = following_until(self.cfg, from.0, to.0);
        let mut before: Option<BTreeSet<BlockId>> = None;
        points.any(|(block, index)| {
            let is_beside = block == from.0 && index > from.1 || block == to.0 && index < to.1;
            // What comes before the first point is passed there once more.
            is_beside
                || between.contains(block) && before.get_or_insert_with(|| self.before(to.0, from.0)).contains(&block)
        })
    }

    /// Whether one of these points may be on a way from one point to another that always comes later, also on one that has come to the second
    /// point before, and not to the first one since.
    pub(super) fn may_pass_since(&self, mut points: impl Iterator<Item = Point>, from: Point, to: Point) -> bool {
        if from.0 == to.0 {
            return points.any(|(block, index)| block == from.0 && from.1 < index && index < to.1);
        }
        let since = following_until(self.cfg, from.0, from.0);
        let before = self.before(to.0, from.0);
        points.any(|(block, index)| {
            let is_beside = block == from.0 && index > from.1 || block == to.0 && index < to.1;
            is_beside || since.contains(block) && before.contains(&block)
        })
    }

    /// The blocks from which a way leads to a block without passing by another one.
    fn before(&self, to: BlockId, without: BlockId) -> BTreeSet<BlockId> {
        let mut before = BTreeSet::new();
        let mut work = vec![to];
        while let Some(next) = work.pop() {
            for (block, content) in (0..).map(BlockId).zip(&self.cfg.blocks) {
                let leads = content.end.successors().any(|successor| successor == next);
                if leads && block != without && before.insert(block) {
                    work.push(block);
                }
            }
        }
        before
    }

    /// Whether the pipeline is at the same stage at both points, of which the second comes later.
    pub(super) fn keeps_stage(&self, pipeline: Variable, from: Point, to: Point) -> bool {
        let changes = self.calls.iter().filter(|(_, node)| self.pipelines.changes(*node, pipeline));
        !self.may_pass_between(changes.map(|(point, _)| *point), from, to)
    }

    fn find_booleans(&mut self) {
        let mut work: Vec<NodeId> = self.cfg.blocks.iter().filter_map(|block| block.end.condition()).collect();
        for call in &self.cfg.barrier_calls {
            if call.method.action == PhaseAction::WaitParity || is_by_parity(call) {
                work.extend(&call.operands);
            }
        }
        while let Some(node) = work.pop() {
            let of = &self.cfg.nodes[node.0];
            if let Source::Not = of.source {
                work.push(of.operands[0]);
            }
            if let Some(Formula::Pick | Formula::Replaced { .. }) = self.cfg.formulas.get(&node) {
                work.extend(&of.operands[1..]);
            }
            if let Some(variable) = of.source.read()
                && self.booleans.insert(variable)
            {
                work.extend(self.sets.get(variable).into_iter().flatten().map(|(_, value, _)| *value));
            }
        }
    }
}
