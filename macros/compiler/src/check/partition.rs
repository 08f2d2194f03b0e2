//! Trace partitioning by identity: a name of memory that is assigned anew, as two buffers are that a loop swaps, stands for one
//! object at one time and for another at another; and so does an element whose index is a small number that a loop counts
//! (`constant_propagation`). Where all blocks of the cluster assign them alike, the graph is split: each of its blocks stands in the
//! split graph once for each combination of what the names stand for and the numbers are there, so that the checks of memory
//! see fixed objects, and swapped buffers stay disjoint. A branch that the numbers decide, or the outcome of an earlier branch
//! (`branch_correlation`), has one successor.
//!
//! Partitions are merged where the names and numbers that are still used are the same. A name that only some blocks assign, or of
//! which there are too many combinations, keeps the region that covers all that it may stand for ([`Region::via`]). After
//! Rival and Mauborgne, "The Trace Partitioning Abstract Domain" (TOPLAS 2007).
//!
//! Not done here: anything about groups and tokens. Their checks use the graph as it was built.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::uniformity::Uniformity;

mod explored;

use super::accessors::each_region;
use super::branch_correlation::Followed;
use super::cfg::{
    Access, AccessId, Assertion, BarrierCall, BarrierCallId, BasicBlock, BlockId, ByVariable, Call, CallId, Cfg,
    CopyId, CopyStep, End, MemoryStep, Region, Step, StepKind, ValueStep,
};
use super::cfg::{Node, NodeId, Select, Source, Variable};
use super::constant_propagation::{ConstantPropagation, Constants, Number};
use super::liveness::{self, Live};
use super::short_loops::ShortLoops;
use super::uniform::values::Values;
use crate::model::LocalId;
use crate::model::expr::BinaryOp;
use crate::span::SpanRange;
use explored::{Explored, Known, Names, Partition};

/// The most combinations for each block of the graph, on average.
const MOST_PARTITIONS: usize = 8;

/// Splits the graph; `None` if there is nothing to split, or too much.
pub(super) fn split<'f>(cfg: &Cfg<'f>, live: &Live, values: &Values<'_, 'f>) -> Option<Cfg<'f>> {
    split_by(cfg, live, values, None)
}

/// Splits the graph by the iterations of short loops, and by the numbers on which branches depend; `None` if there are none, or too many.
pub(super) fn split_iterations<'f>(cfg: &Cfg<'f>, live: &Live, values: &Values<'_, 'f>) -> Option<Cfg<'f>> {
    let mut loops = ShortLoops::of(cfg, values);
    loop {
        let split = split_by(cfg, live, values, Some(loops.clone()));
        match loops.longest() {
            Some(longest) if split.is_none() => loops.leave_out(longest),
            _ => return split,
        }
    }
}

/// Splits the graph by names and by the outcomes of branches, but not by the numbers of variables; `None` if there are no numbers, which
/// [`split`] follows, no outcomes, or too many of them.
pub(super) fn split_outcomes<'f>(cfg: &Cfg<'f>, live: &Live, values: &Values<'_, 'f>) -> Option<Cfg<'f>> {
    let mut numbers = ConstantPropagation::of(cfg, values, None);
    let any = numbers.leave_out_values();
    let splitter = Splitter::of(cfg, live, values, numbers);
    if !any || splitter.branches.is_empty() {
        return None;
    }
    let mut explored = Explored::from_entry(cfg);
    splitter.explore(&mut explored).ok()?;
    splitter.is_needed(explored.partitions()).then(|| splitter.build(explored.partitions()))
}

fn split_by<'f>(cfg: &Cfg<'f>, live: &Live, values: &Values<'_, 'f>, loops: Option<ShortLoops>) -> Option<Cfg<'f>> {
    let by_iterations = loops.is_some();
    let mut splitter = Splitter::of(cfg, live, values, ConstantPropagation::of(cfg, values, loops));
    let mut explored = Explored::from_entry(cfg);
    while !splitter.followed.is_empty() || !splitter.numbers.is_empty() || !splitter.branches.is_empty() {
        match splitter.explore(&mut explored) {
            Ok(()) if splitter.is_needed(explored.partitions()) => return Some(splitter.build(explored.partitions())),
            Ok(()) => return None,
            Err(_) if by_iterations => return None,
            Err(too_many) => {
                if !splitter.leave_out(too_many, &mut explored) {
                    return None;
                }
            }
        }
    }
    None
}

/// There are too many partitions, and these variables have more than a few values each.
struct TooManyPartitions {
    variables: BTreeSet<Variable>,
    /// Whether these alone have too many values.
    of_values: bool,
}

/// The names that all blocks of the cluster assign alike.
fn followed(cfg: &Cfg<'_>, values: &Values<'_, '_>) -> BTreeSet<LocalId> {
    let (mut alike, mut others) = (BTreeSet::new(), BTreeSet::new());
    for (number, block) in cfg.blocks.iter().enumerate() {
        for step in &block.steps {
            if let StepKind::Value(ValueStep::Name { local, .. }) = step.kind {
                let is_alike = values.is_reached_uniformly(BlockId(number), Uniformity::Cluster);
                if is_alike {
                    alike.insert(local)
                } else {
                    others.insert(local)
                };
            }
        }
    }
    &alike - &others
}

/// Returns the blocks that assign each variable.
fn assigned(cfg: &Cfg<'_>) -> ByVariable<Vec<BlockId>> {
    let mut assigned: ByVariable<Vec<BlockId>> = ByVariable::default();
    for (block, content) in (0..).map(BlockId).zip(&cfg.blocks) {
        for (variable, ..) in content.steps.iter().filter_map(|step| step.kind.set()) {
            assigned.get_or_insert(variable, Vec::new()).push(block);
        }
    }
    assigned
}

/// Returns the names that are live at the start of each block.
fn live_names(cfg: &Cfg<'_>) -> Vec<BTreeSet<LocalId>> {
    liveness::solve(cfg, |block, names| {
        for step in cfg.blocks[block.0].steps.iter().rev() {
            if let StepKind::Value(ValueStep::Name { local, .. }) = step.kind {
                names.remove(&local);
            }
            each_region(cfg, step, |region| names.extend(region.via));
        }
    })
}

struct Splitter<'a, 'f> {
    cfg: &'a Cfg<'f>,
    live: &'a Live,
    live_names: Vec<BTreeSet<LocalId>>,
    followed: BTreeSet<LocalId>,
    /// The blocks that assign each variable.
    assigned: ByVariable<Vec<BlockId>>,
    numbers: ConstantPropagation<'a, 'f>,
    branches: Followed,
    literals: RefCell<Literals<'f>>,
}

/// The numbers that select memory or that variables are set to, as values of the split graph, behind those of the graph.
#[derive(Default)]
struct Literals<'f> {
    nodes: Vec<Node<'f>>,
    known: BTreeMap<Number, NodeId>,
}

impl<'a, 'f> Splitter<'a, 'f> {
    /// Creates a splitter by these numbers, all names and the outcomes of all branches.
    fn of(cfg: &'a Cfg<'f>, live: &'a Live, values: &Values<'_, 'f>, numbers: ConstantPropagation<'a, 'f>) -> Self {
        Splitter {
            cfg,
            live,
            live_names: live_names(cfg),
            followed: followed(cfg, values),
            assigned: assigned(cfg),
            numbers,
            branches: Followed::of(cfg, values),
            literals: RefCell::default(),
        }
    }

    /// Follows fewer branches, or numbers without their remainders, in the whole graph; says whether there was something to leave out.
    fn follow_less(&mut self, of_values: bool) -> bool {
        if !of_values && (self.branches.leave_out_implied() || self.branches.leave_out_moving()) {
            return true;
        }
        if !of_values && !self.branches.is_empty() {
            self.branches = Followed::default();
            return true;
        }
        if let Some(numbers) = self.numbers.without_residues() {
            self.numbers = numbers;
            return true;
        }
        false
    }

    /// Follows less, after too many partitions; says whether there was something to leave out. Of what is explored, the partitions stay
    /// that do not depend on it.
    fn leave_out(
        &mut self,
        TooManyPartitions { variables, of_values }: TooManyPartitions,
        explored: &mut Explored,
    ) -> bool {
        if self.follow_less(of_values) {
            explored.back_to(0);
            return true;
        }
        self.numbers.leave_out(&variables);
        let assign = variables.iter().filter_map(|variable| self.assigned.get(*variable)).flatten();
        let assign: BTreeSet<BlockId> = assign.copied().collect();
        explored.back_to_first(|block| assign.contains(&block));
        !variables.is_empty()
    }

    /// Finds the partitions that control reaches, beyond what is explored already.
    fn explore(&self, explored: &mut Explored) -> Result<(), TooManyPartitions> {
        let most = MOST_PARTITIONS * self.cfg.blocks.len();
        while let Some((block, known)) = explored.next() {
            let mut after = known.clone();
            self.cfg.blocks[block.0].steps.iter().for_each(|step| self.transfer(&mut after, step));
            let following = self.successors(block, &after).into_iter().map(|to| {
                let live = after.names.iter().filter(|(local, _)| self.live_names[to.0].contains(local));
                let names: Names = live.map(|(local, region)| (*local, region.clone())).collect();
                let end = &self.cfg.blocks[block.0].end;
                let holds = end.holds_on_edge(to);
                let tested = end.condition().zip(holds);
                let numbers =
                    self.numbers.kept(&after.numbers, to, tested, |variable| self.live.contains(to, variable));
                let outcomes = self.branches.after(&after.outcomes, block, to, holds);
                (to, Known { names, numbers, outcomes })
            });
            explored.add(following);
            let variables = explored.with_too_many_values();
            if !variables.is_empty() {
                return Err(TooManyPartitions { variables: variables.clone(), of_values: true });
            }
            if explored.count() > most {
                return Err(TooManyPartitions { variables: explored.variables(), of_values: false });
            }
        }
        Ok(())
    }

    /// Whether the partitions say more than the graph: of names or numbers, or of a branch that is decided.
    fn is_needed(&self, partitions: &[Partition]) -> bool {
        let is_decided = |partition: &Partition| {
            let following: BTreeSet<BlockId> = self.cfg.blocks[partition.block.0].end.successors().collect();
            partition.next.len() < following.len()
        };
        !self.followed.is_empty() || !self.numbers.is_empty() || partitions.iter().any(is_decided)
    }

    /// The blocks that may follow: one, if what is known decides.
    fn successors(&self, block: BlockId, known: &Known) -> Vec<BlockId> {
        let only = self.decided(block, known);
        let all = self.cfg.blocks[block.0].end.successors();
        all.filter(|next| only.is_none_or(|only| only == *next)).collect()
    }

    fn decided(&self, block: BlockId, known: &Known) -> Option<BlockId> {
        let decided = || self.branches.decided(&known.outcomes, block);
        match self.cfg.blocks[block.0].end {
            End::Branch { on, then, otherwise } => {
                let goes_on = || self.numbers.goes_on(&known.numbers, block);
                let holds = self.numbers.holds(&known.numbers, on).or_else(decided).or_else(goes_on);
                holds.map(|holds| if holds { then } else { otherwise })
            }
            End::Option { some, none, .. } => decided().map(|holds| if holds { some } else { none }),
            End::Never | End::Leave | End::Goto(_) => None,
        }
    }

    fn transfer(&self, known: &mut Known, step: &Step) {
        self.numbers.transfer(&mut known.numbers, &step.kind);
        self.branches.transfer(&mut known.outcomes, &step.kind);
        let Known { names, numbers, .. } = known;
        match &step.kind {
            StepKind::Value(ValueStep::Name { local, region }) => {
                let region = self.numbered(numbers, self.resolved(names, region));
                match region.via {
                    None if self.followed.contains(local) => names.insert(*local, region),
                    _ => _ = names.remove(local),
                }
            }
            // An index that is computed anew is another one from now on.
            StepKind::Value(ValueStep::Evaluate(node)) => {
                names.values_mut().for_each(|region| region.forget(*node));
            }
            StepKind::Value(ValueStep::Set { .. } | ValueStep::Return(_))
            | StepKind::Memory(_)
            | StepKind::Group(_)
            | StepKind::Token(_)
            | StepKind::BarrierCall(_)
            | StepKind::Copy(_)
            | StepKind::Call(_) => {}
        }
    }

    /// The region with the name that leads to it replaced by what that stands for, if it is known.
    fn resolved(&self, names: &Names, region: &Region) -> Region {
        let known = region.via.and_then(|via| names.get(&via));
        known.map_or_else(|| region.clone(), |base| region.within(base))
    }

    /// The region with the values that select it replaced by their numbers, where those are known.
    fn numbered(&self, numbers: &Constants, mut region: Region) -> Region {
        let literal = |node: NodeId| self.known(numbers, node);
        for select in &mut region.path {
            match select {
                Select::At(node) => *node = literal(*node),
                Select::Range { start, end } => (*start, *end) = (literal(*start), literal(*end)),
                Select::Chunk { .. } | Select::Half { .. } | Select::Unknown => {}
            }
        }
        region.rank = region.rank.map(literal);
        region
    }

    /// The node of a value's number, or the value itself if it has none.
    fn known(&self, numbers: &Constants, node: NodeId) -> NodeId {
        numbers.number(node).map_or(node, |number| self.literal(number, self.cfg.nodes[node.0].at))
    }

    /// The node of a number in the split graph.
    fn literal(&self, number: Number, at: SpanRange) -> NodeId {
        let mut literals = self.literals.borrow_mut();
        let Literals { nodes, known } = &mut *literals;
        let mut add = |source, operands| {
            nodes.push(Node { source, operands, at });
            NodeId(self.cfg.nodes.len() + nodes.len() - 1)
        };
        *known.entry(number).or_insert_with(|| match number.multiple() {
            None => add(Source::Integer(number.plus()), Vec::new()),
            Some((constant, times)) => {
                let (constant, times) = (add(Source::Constant(constant), vec![]), add(Source::Integer(times), vec![]));
                let product = add(Source::Binary(BinaryOp::Mul), vec![constant, times]);
                let plus = add(Source::Integer(number.plus()), vec![]);
                add(Source::Binary(BinaryOp::Add), vec![product, plus])
            }
        })
    }

    /// The nodes that the number is computed from, in order, and its own.
    fn literal_nodes(&self, number: Number, at: SpanRange) -> impl Iterator<Item = NodeId> + use<> {
        let NodeId(last) = self.literal(number, at);
        (last - if number.multiple().is_some() { 4 } else { 0 }..=last).map(NodeId)
    }

    fn build(&self, partitions: &[Partition]) -> Cfg<'f> {
        let mut split = Cfg {
            collectives_of_warps: Vec::new(),
            register_changes: Vec::new(),
            blocks: Vec::new(),
            entry: BlockId(0),
            nodes: self.cfg.nodes.clone(),
            accesses: Vec::new(),
            copies: Vec::new(),
            barrier_calls: Vec::new(),
            calls: Vec::new(),
            queries: self.cfg.queries.clone(),
            axes: self.cfg.axes.clone(),
            positions: self.cfg.positions.clone(),
            cuts: self.cfg.cuts.clone(),
            formulas: self.cfg.formulas.clone(),
            computed: self.cfg.computed.clone(),
            variants: self.cfg.variants.clone(),
            differences: self.cfg.differences.clone(),
            recast: self.cfg.recast.clone(),
            added: self.cfg.added.clone(),
            of_lanes: self.cfg.of_lanes.clone(),
            // Only the rings ask for them, and of the graph that was not split.
            named_lengths: Vec::new(),
            counted: BTreeMap::new(),
            contents: BTreeMap::new(),
            assertions: Vec::new(),
            slices: self.cfg.slices.clone(),
            dynamic: self.cfg.dynamic.clone(),
            names: self.cfg.names.clone(),
            read_only: self.cfg.read_only.clone(),
            teams: self.cfg.teams.clone(),
            only_values: OnceCell::new(),
            callees: OnceCell::new(),
        };
        for Partition { block, known, next, .. } in partitions {
            let mut known = Known::clone(known);
            let BasicBlock { steps, end } = &self.cfg.blocks[block.0];
            let mut copied = Vec::new();
            let here = BlockId(split.blocks.len());
            let asserted = |before: usize| self.cfg.assertions.iter().filter(move |of| of.at == (*block, before));
            for (number, step) in steps.iter().enumerate() {
                let at = (here, copied.len());
                split.assertions.extend(asserted(number).map(|assertion| Assertion { at, ..assertion.clone() }));
                if let StepKind::Value(ValueStep::Set { value, .. }) = step.kind
                    && let Some(number) = known.numbers.number(value)
                {
                    let evaluated = self.literal_nodes(number, step.at).map(ValueStep::Evaluate);
                    copied.extend(evaluated.map(|kind| Step { kind: StepKind::Value(kind), at: step.at }));
                }
                copied.push(Step { kind: self.copy(&mut split, &known, &step.kind), at: step.at });
                self.transfer(&mut known, step);
            }
            let at = (here, copied.len());
            split.assertions.extend(asserted(steps.len()).map(|assertion| Assertion { at, ..assertion.clone() }));
            let end = match (end, self.decided(*block, &known)) {
                (End::Never, _) => End::Never,
                (End::Leave, _) => End::Leave,
                (End::Goto(to), _) => End::Goto(next[to]),
                (_, Some(to)) => End::Goto(next[&to]),
                (End::Branch { on, then, otherwise }, None) => {
                    End::Branch { on: *on, then: next[then], otherwise: next[otherwise] }
                }
                (End::Option { on, variable, some, none }, None) => {
                    End::Option { on: *on, variable: *variable, some: next[some], none: next[none] }
                }
            };
            split.blocks.push(BasicBlock { steps: copied, end });
        }
        self.add_literals(&mut split);
        split
    }

    /// Adds the nodes of numbers, which are evaluated at the function's start.
    fn add_literals(&self, split: &mut Cfg<'f>) {
        let Some(at) = self.cfg.nodes.first().map(|node| node.at) else { return };
        split.nodes.extend(self.literals.take().nodes);
        let evaluated = (self.cfg.nodes.len()..split.nodes.len()).map(NodeId);
        let evaluated = evaluated.map(|node| Step { kind: StepKind::Value(ValueStep::Evaluate(node)), at });
        split.blocks[0].steps.splice(0..0, evaluated);
    }

    /// A step of a partition: its own access, call or copy, of known memory.
    fn copy(&self, split: &mut Cfg<'f>, known: &Known, step: &StepKind) -> StepKind {
        let resolve = |region: &Region| self.numbered(&known.numbers, self.resolved(&known.names, region));
        match step {
            StepKind::Memory(MemoryStep::Access(AccessId(id))) => {
                let access = &self.cfg.accesses[*id];
                split.accesses.push(Access { region: resolve(&access.region), ..access.clone() });
                StepKind::Memory(MemoryStep::Access(AccessId(split.accesses.len() - 1)))
            }
            StepKind::BarrierCall(BarrierCallId(id)) => {
                let call = &self.cfg.barrier_calls[*id];
                split.barrier_calls.push(BarrierCall { region: resolve(&call.region), ..call.clone() });
                StepKind::BarrierCall(BarrierCallId(split.barrier_calls.len() - 1))
            }
            StepKind::Copy(CopyId(id)) => {
                split.copies.push(match &self.cfg.copies[*id] {
                    CopyStep::Begin { reads, writes, completion, by, at } => CopyStep::Begin {
                        reads: reads.iter().map(resolve).collect(),
                        writes: writes.as_ref().map(resolve),
                        completion: *completion,
                        by: *by,
                        at: *at,
                    },
                    wait @ CopyStep::Wait { .. } => wait.clone(),
                });
                StepKind::Copy(CopyId(split.copies.len() - 1))
            }
            StepKind::Call(CallId(id)) => {
                let call = &self.cfg.calls[*id];
                let regions = call.regions.iter().map(|region| region.as_ref().map(resolve)).collect();
                let barriers = call.barriers.iter().map(|(at, region)| (*at, resolve(region))).collect();
                split.calls.push(Call { regions, barriers, ..call.clone() });
                StepKind::Call(CallId(split.calls.len() - 1))
            }
            StepKind::Value(ValueStep::Set { variable, value, extent }) => {
                let value = self.known(&known.numbers, *value);
                StepKind::Value(ValueStep::Set { variable: *variable, value, extent: *extent })
            }
            StepKind::Value(ValueStep::Evaluate(_) | ValueStep::Name { .. } | ValueStep::Return(_))
            | StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
            | StepKind::Group(_)
            | StepKind::Token(_) => step.clone(),
        }
    }
}
