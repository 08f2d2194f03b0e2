//! Runs of single threads: what a thread of a block does, step by step, in a launch whose integers are known. All integers that the host
//! passes by value have one value, and so may have all elements of read-only memory. A run says what a thread does, and not when.
//!
//! A value that the text does not show is unknown. A branch on it is passed over, if its arms merge, and with it what they do. A loop with
//! barriers may have a few iterations, whatever ends it (`exits`).

mod agreed;
mod booleans;
mod computed;
mod exits;
mod idle;
mod long_loops;
mod needed;
mod on_data;
mod plan;
mod signature;
mod tokens;
mod value;

use std::collections::{BTreeMap, BTreeSet};

use super::bit_set::BlockSet;
use super::cfg::{
    BlockId, Cfg, End, Extent, MemoryStep, NodeId, Region, Root, Select, Shared, Step, StepKind, ValueStep,
};
use super::uniform::control::Control;
use crate::model::expr::BinaryOp;
use crate::model::ty::{ParamType, TypeShape, ValueType};
use crate::model::{Function, LocalId};
use idle::Idle;
use on_data::OnData;
use plan::{Action, Plan, Recipe};
use tokens::Tokens;
pub(super) use value::Number;

/// The number of iterations of a loop if the text does not show when it ends: enough that an iteration meets the one before.
const ITERATIONS: u32 = 2;

/// The integers of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Launch {
    /// The value of each integer that is an argument, if it is known.
    pub(super) argument: Option<u64>,
    /// The value of each element of read-only memory, if it is known.
    pub(super) element: Option<u64>,
    /// The length of each slice that is an argument, if it is known.
    pub(super) length: Option<u64>,
    /// What each load gives that the text does not show, if all threads of the block get the same.
    pub(super) agreed: Option<u64>,
    /// What each load of an integer gives that the host passes, if the thread is one whose data are all alike.
    pub(super) data: Option<u64>,
    /// A branch on a value that the text does not show, and whether the value is true.
    pub(super) holds: Option<(BlockId, bool)>,
}

/// A thread of a launch with one cluster, or with several of one block each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ThreadId {
    /// The rank of its block in the cluster or the grid, if that is known.
    pub(super) block: Option<u64>,
    /// The thread's rank in its block.
    pub(super) rank: u64,
}

/// An analysis that looks at the steps of a run, one after the other.
pub(super) trait Observer {
    /// The thread executes a step, the one of this number in its block of the graph.
    fn step(&mut self, thread: &Thread<'_, '_, '_>, at: (BlockId, usize), step: &Step);
    /// The thread passes over the arms of a branch: it may execute their blocks, any number of times.
    fn pass_over(&mut self, branch: BlockId, arms: &BlockSet);
    /// The text does not show whether the thread stays in a loop with barriers. Returns whether it is taken to stay for a few iterations;
    /// or else it passes over the loop.
    fn iterates(&mut self) -> bool;
    /// Whether the run may pass over what is left of a long loop that only computes and accesses memory, so that it comes further.
    fn shortens(&self) -> bool;
    /// Whether it looks at all steps that only compute or set a variable, and not just at those that compute a peer's rank.
    fn sees_values(&self) -> bool;
}

/// Memory as a thread names it.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) root: Root,
    /// The rank of the block that has the memory, if it is a peer's.
    pub(super) owner: Option<Number>,
    /// From one index up to another in each dimension that selects, if they are known.
    pub(super) ranges: Vec<Option<(Number, Number)>>,
    /// Whether the last selection has several elements.
    open: bool,
    /// Whether it is a part of that which is not known further.
    pub(super) part: bool,
}

impl Place {
    /// The rank of the peer that has the memory, if it is the same in all launches.
    pub(super) fn peer(&self) -> Option<u64> {
        self.owner.filter(|owner| !owner.is_given)?.natural()
    }
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
    /// The number of blocks of the grid, if clusters have one block each: then the rank of a thread's block is that in the grid.
    grid: Option<u64>,
    /// Whether the grid may have any number of clusters, so that nothing is known of it.
    in_any_grid: bool,
    regions: BTreeMap<BlockId, (BlockSet, Option<BlockId>)>,
    /// The ways out of loops with barriers, each with the block where the loop goes on.
    exits: BTreeMap<BlockId, BlockId>,
    /// The loops that runs pass over, by their heads.
    idle: BTreeMap<BlockId, Idle>,
    /// The loads of what the text does not show by which all threads of the block get the same.
    agreed: BTreeSet<NodeId>,
    /// The loads of integers that the host passes, and what depends on them.
    on_data: OnData,
    plan: Plan,
    /// The number of arguments that are integers.
    pub(super) integers: usize,
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
        let integers = function.params.iter();
        let integers = integers.filter(|param| matches!(&param.ty, ParamType::Value(ty) if is_integer(ty))).count();
        let regions = control.regions(cfg).map(|(branch, arms, end)| (branch, (arms, end))).collect();
        Runs {
            function,
            cfg,
            threads,
            grid: None,
            in_any_grid: false,
            plan: Plan::of(function, cfg, &regions),
            exits: exits::of(cfg, control),
            regions,
            idle: BTreeMap::new(),
            agreed: BTreeSet::new(),
            on_data: OnData::default(),
            integers,
            has_integers: integers > 0,
            reads_integers,
        }
        .without_idle_loops()
    }

    /// Follows a thread for as many steps as there are left. Returns whether it comes to the end of the kernel.
    pub(super) fn run(
        &self,
        launch: Launch,
        id: ThreadId,
        left: &mut usize,
        observer: &mut impl Observer,
    ) -> Result<bool, Fails> {
        let mut thread = Thread {
            runs: self,
            launch,
            id,
            nodes: self.plan.nothing_known.clone(),
            variables: vec![None; self.plan.variables()].into(),
            names: BTreeMap::new(),
            tokens: Tokens::default(),
            iterations: vec![0; self.cfg.blocks.len()].into(),
            left_before: vec![0; self.cfg.blocks.len()].into(),
            stays: BTreeMap::new(),
        };
        let (mut block, all, sees_values) = (self.cfg.entry, *left, observer.sees_values());
        let (blocks, plan) = (&self.cfg.blocks[..], &self.plan.blocks[..]);
        loop {
            while let Some(end) = thread.after_idle_loop(block) {
                block = end;
            }
            let steps = &blocks[block.0].steps[..];
            for planned in &plan[block.0].steps[..] {
                if *left == 0 {
                    return Ok(false);
                }
                *left -= 1;
                let is_seen = match &planned.action {
                    Action::Evaluate(node, recipe) => {
                        thread.compute(block, *node, recipe)?;
                        recipe.names_peer || sees_values
                    }
                    Action::Set { variable, value, extent } => {
                        thread.set(*variable, *value, *extent);
                        sees_values
                    }
                    Action::Other => {
                        thread.step(&steps[planned.number])?;
                        true
                    }
                };
                if is_seen {
                    observer.step(&thread, (block, planned.number), &steps[planned.number]);
                }
            }
            let is_long = observer.shortens() && thread.is_in_long_loop(block, all, *left);
            let next = if is_long { thread.pass_over(block, observer) } else { thread.next(block, observer)? };
            thread.enter_loops(block, *left);
            match next {
                Next::Goes(next) => block = next,
                Next::Ends => return Ok(true),
                Next::Unknown => return Ok(false),
            }
            // A loop without steps never ends.
            if *left == 0 {
                return Ok(false);
            }
            *left -= 1;
        }
    }

    /// The blocks on the arms of a branch.
    pub(super) fn arms(&self, branch: BlockId) -> Option<&BlockSet> {
        self.regions.get(&branch).map(|(arms, _)| arms)
    }

    /// The length of a shared array, if it is a literal.
    pub(super) fn length(&self, shared: Shared) -> Option<u64> {
        let Shared::Array(array) = shared else { return None };
        let (_, length) = self.function.shared.get(array)?;
        self.function.values[usize::from(length.0)].literal
    }
}

fn is_integer_argument(function: &Function, position: usize) -> bool {
    let ty = function.params.get(position).map(|param| &param.ty);
    matches!(ty, Some(ParamType::Value(ty)) if is_integer(ty))
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
pub(super) struct Thread<'r, 'a, 'f> {
    runs: &'r Runs<'a, 'f>,
    launch: Launch,
    pub(super) id: ThreadId,
    // These are slices, because a run indexes them at each step: an index into a vector is a call of two functions where the compiler does
    // not optimize.
    nodes: Box<[Option<Number>]>,
    /// The values of variables, each where the plan keeps it.
    variables: Box<[Option<Number>]>,
    /// The memory that each name stands for, of names that are assigned anew.
    names: BTreeMap<LocalId, Place>,
    tokens: Tokens,
    /// The number of iterations that each loop over a range has begun, by its head: one for each block of the graph.
    iterations: Box<[u64]>,
    /// The number of steps that were left before each such loop, by its head.
    left_before: Box<[usize]>,
    /// How often the thread has stayed in a loop at a way out that the text does not decide.
    stays: BTreeMap<BlockId, u32>,
}

impl Thread<'_, '_, '_> {
    /// The value of a node, as the thread computed it last.
    pub(super) fn known(&self, node: NodeId) -> Option<Number> {
        self.nodes[node.0]
    }

    fn compute(&mut self, block: BlockId, node: NodeId, recipe: &Recipe) -> Result<(), Fails> {
        if recipe.divides {
            self.check_divisor(node)?;
        }
        self.nodes[node.0] = self.evaluate(block, node, recipe);
        Ok(())
    }

    fn set(&mut self, variable: usize, value: NodeId, extent: Extent) {
        if extent != Extent::Field {
            self.forget_fields(variable);
        }
        self.variables[variable] = if extent == Extent::Whole { self.known(value) } else { None };
    }

    /// Executes a step that neither computes nor sets a variable.
    fn step(&mut self, step: &Step) -> Result<(), Fails> {
        let cfg = self.runs.cfg;
        match step.kind {
            StepKind::BarrierCall(call) => self.check_bounds(&cfg.barrier_calls[call.0].region)?,
            StepKind::Memory(MemoryStep::Access(id)) => self.check_bounds(&cfg.accesses[id.0].region)?,
            StepKind::Value(ValueStep::Name { local, ref region }) => match self.place(region) {
                Some(place) => _ = self.names.insert(local, place),
                None => _ = self.names.remove(&local),
            },
            StepKind::Value(ValueStep::Evaluate(_) | ValueStep::Set { .. } | ValueStep::Return(_))
            | StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
            | StepKind::Copy(_) => {}
            StepKind::Group(_) | StepKind::Token(_) | StepKind::Call(_) => self.tokens.step(cfg, step),
        }
        Ok(())
    }

    /// The memory that a region is for the thread now; `None` if the text does not show which it is.
    pub(super) fn place(&self, region: &Region) -> Option<Place> {
        let range = |select: &Select| match *select {
            Select::At(index) => {
                let start = self.known(index)?;
                Some((start, Number { value: start.value.checked_add(1)?, ..start }))
            }
            Select::Range { start, end } => Some((self.known(start)?, self.known(end)?)),
            Select::Chunk { size, index } => {
                let size = self.known(size)?;
                let start = size.operate(BinaryOp::Mul, self.known(index)?)?;
                Some((start, start.operate(BinaryOp::Add, size)?))
            }
            Select::Half { .. } | Select::Unknown => None,
        };
        let ranges = region.path.iter().map(range);
        let owner = region.rank.and_then(|rank| self.known(rank));
        let Some(name) = region.via else {
            let mut ranges: Vec<_> = ranges.collect();
            let inner =
                region.inner.and_then(|(number, index)| Some((number, self.inner(region.path[number], index)?)));
            if let Some((number, element)) = inner {
                ranges[number] = Some(element);
            }
            let part = region.part && inner.is_none();
            return Some(Place { root: region.root, owner, ranges, open: region.open, part });
        };
        // As `Region::within` does.
        let base = self.names.get(&name)?;
        let root = match (region.root, base.root) {
            (Root::Remote(_), Root::Shared(shared)) => Root::Remote(shared),
            (_, root) => root,
        };
        let selects_inside = base.open && !region.path.is_empty();
        Some(Place {
            root,
            owner: owner.or(base.owner),
            ranges: base.ranges.iter().copied().chain(ranges.skip(usize::from(selects_inside))).collect(),
            open: if region.path.is_empty() { base.open } else { region.open },
            part: base.part || region.part || selects_inside,
        })
    }

    /// The element of this index among the several that are selected.
    fn inner(&self, several: Select, index: NodeId) -> Option<(Number, Number)> {
        let first = match several {
            Select::Range { start, .. } | Select::Half { mid: start, second: true } => self.known(start)?,
            Select::Half { second: false, .. } => Number { value: 0, is_given: false },
            Select::Chunk { size, index } => self.known(size)?.operate(BinaryOp::Mul, self.known(index)?)?,
            Select::At(_) | Select::Unknown => return None,
        };
        let at = first.operate(BinaryOp::Add, self.known(index)?)?;
        Some((at, Number { value: at.value.checked_add(1)?, ..at }))
    }

    /// The index of an element of a shared array, if it is known.
    pub(super) fn index(&self, region: &Region) -> Option<Number> {
        match region.path.first() {
            Some(Select::At(index)) => self.known(*index),
            Some(Select::Chunk { .. } | Select::Range { .. } | Select::Half { .. } | Select::Unknown) | None => None,
        }
    }

    fn check_bounds(&self, region: &Region) -> Result<(), Fails> {
        let length = region.root.party().and_then(|(_, shared)| self.runs.length(shared));
        match (self.index(region), length) {
            (Some(index), Some(length)) if index.natural().is_none_or(|index| index >= length) => Err(Fails),
            _ => Ok(()),
        }
    }

    fn check_divisor(&self, node: NodeId) -> Result<(), Fails> {
        let of = &self.runs.cfg.nodes[node.0];
        let divisor = of.operands.get(1).and_then(|divisor| self.known(*divisor));
        // The quotient of two floats is a number.
        let is_integer = of.operands.first().is_some_and(|dividend| self.known(*dividend).is_some());
        if is_integer && divisor.is_some_and(|divisor| divisor.value == 0) { Err(Fails) } else { Ok(()) }
    }

    fn next(&mut self, block: BlockId, observer: &mut impl Observer) -> Result<Next, Fails> {
        let cfg = self.runs.cfg;
        let planned = &self.runs.plan.blocks[block.0];
        if planned.asserts {
            self.check_assertions(block)?;
        }
        let next = match cfg.blocks[block.0].end {
            End::Never => return Err(Fails),
            End::Leave => return Ok(Next::Ends),
            End::Goto(next) => next,
            End::Option { variable, some, none, .. } => match self.tokens.is_there(variable) {
                Some(true) => some,
                Some(false) => none,
                None => return Ok(self.pass_over(block, observer)),
            },
            End::Branch { on, then, otherwise } => {
                // A thread that fails ends the launch.
                let fails = |block: BlockId| matches!(cfg.blocks[block.0].end, End::Never);
                let holds = match &planned.counted {
                    Some(counted) => self.trips(counted).map(|trips| self.iterations[block.0] < trips),
                    None => self.known(on).map(|number| number.value != 0),
                };
                let holds = holds.filter(|_| !self.is_left_to_all(block));
                let holds = holds.or(self.launch.holds.filter(|(at, _)| *at == block).map(|(_, holds)| holds));
                match holds {
                    Some(true) => then,
                    Some(false) => otherwise,
                    None if fails(then) => otherwise,
                    None if fails(otherwise) => then,
                    None if self.runs.exits.contains_key(&block) && observer.iterates() => {
                        self.iterate(block, [then, otherwise])
                    }
                    None => return Ok(self.pass_over(block, observer)),
                }
            }
        };
        for head in &planned.enters {
            self.iterations[head.0] = 0;
        }
        if let Some(head) = self.runs.plan.blocks[next.0].iterates {
            self.iterations[head.0] += 1;
        }
        Ok(Next::Goes(next))
    }

    /// Stays in a loop for a few iterations.
    fn iterate(&mut self, exit: BlockId, arms: [BlockId; 2]) -> BlockId {
        let stays = self.stays.entry(exit).or_default();
        let inside = self.runs.exits[&exit];
        let goes_on = *stays < ITERATIONS;
        *stays += u32::from(goes_on);
        arms.into_iter().find(|arm| (*arm == inside) == goes_on).unwrap_or(inside)
    }

    /// Continues where the arms of a branch have merged. What they set is unknown from then on.
    fn pass_over(&mut self, branch: BlockId, observer: &mut impl Observer) -> Next {
        let Some((arms, Some(end))) = self.runs.regions.get(&branch) else { return Next::Unknown };
        observer.pass_over(branch, arms);
        for arm in arms.iter() {
            for step in &self.runs.cfg.blocks[arm.0].steps {
                if let StepKind::Value(ValueStep::Evaluate(node)) = step.kind {
                    self.nodes[node.0] = None;
                }
                if let StepKind::Value(ValueStep::Name { local, .. }) = step.kind {
                    self.names.remove(&local);
                }
                self.tokens.may(self.runs.cfg, step);
                if let Some((variable, ..)) = step.kind.set()
                    && let Some(variable) = self.runs.plan.variable(variable)
                {
                    self.variables[variable] = None;
                    self.forget_fields(variable);
                }
            }
        }
        Next::Goes(*end)
    }

    fn forget_fields(&mut self, whole: usize) {
        for field in self.runs.plan.fields(whole) {
            self.variables[*field] = None;
        }
    }

    fn check_assertions(&self, block: BlockId) -> Result<(), Fails> {
        let known = |node: &NodeId| self.known(*node);
        let fails = self.runs.cfg.assertions.iter().filter(|assertion| assertion.at.0 == block).any(|assertion| {
            let holds = match (assertion.compares, &assertion.operands[..]) {
                (Some(op), [a, b]) => known(a).zip(known(b)).and_then(|(a, b)| a.operate(op, b)),
                (_, operands) => operands.first().and_then(known),
            };
            holds.is_some_and(|holds| holds.value == 0)
        });
        if fails { Err(Fails) } else { Ok(()) }
    }
}
