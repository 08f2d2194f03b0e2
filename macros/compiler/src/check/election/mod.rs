//! Election: of which threads of a block some point is reached, as far as branches on the threads' ranks decide it. A forward
//! must-analysis over values: which digits of a thread's coordinates are the same for all threads that are at a point, and for
//! all threads for which a condition holds. Two threads that agree in enough digits are one.
//!
//! What the block's threads do not share is not compared: a condition on memory, or on a value that differs within the block,
//! elects nobody.

mod equalities;
mod operators;
mod state;

use std::collections::BTreeSet;

use phalanx_contract::uniformity::Uniformity;

use super::cfg::{
    BarrierCallId, BlockId, Cfg, Coordinate, Digit, End, Extent, Granule, NodeId, Position, Select, Source, Step,
    StepKind, ValueStep,
};
use super::engine::{self, Analysis};
use super::fixed::FixedValues;
use super::sorted_map::SortedMap;
use super::uniform::values::Values;
use crate::model::group::Group;
use crate::model::options::Extents;
use crate::model::{Function, Role};
use equalities::Equalities;
use operators::equality;
use state::{Holder, Known, State, and, or};

const WARP: Granule = Granule::Number(32);

/// The text of the value of a parameter that is true.
const TRUE: &str = "true";

/// The threads of a block that may do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MaxThreads {
    /// At most one thread of each block.
    One,
    /// At most one thread of each warp.
    OneOfEachWarp,
    Several,
}

/// The threads that are at a step.
pub(super) struct Threads<'e, 'a, 'f> {
    election: &'e Election<'a, 'f>,
    /// The block of the graph that has the step.
    pub(super) block: BlockId,
    state: State,
    /// Further digits that are the same for all of them.
    same: Vec<Digit>,
}

impl Threads<'_, '_, '_> {
    /// Restricts the set to threads that agree on a value.
    pub(super) fn with_same(mut self, value: NodeId) -> Self {
        self.same.extend(self.election.digit(&self.state, value));
        self
    }

    /// Restricts the set to threads for which a value is true.
    pub(super) fn with_true(mut self, value: NodeId) -> Self {
        if let Some(known) = self.state.values.get(&Holder::Node(value)) {
            self.state.here = and(&self.state.here, &known.outcomes[1]);
        }
        self
    }

    /// Returns the union with the threads at another point.
    pub(super) fn or(mut self, other: &Self) -> Self {
        self.state.here = or(&self.state.here, &other.state.here, Uniformity::Divergent);
        self.same.retain(|digit| other.same.contains(digit));
        self
    }

    /// Returns how many threads of a block there may be.
    pub(super) fn max_threads(&self) -> MaxThreads {
        if self.elect(&[]) {
            MaxThreads::One
        } else if self.elect(&[Digit { divisor: WARP, ..Digit::whole(Coordinate::Rank) }]) {
            MaxThreads::OneOfEachWarp
        } else {
            MaxThreads::Several
        }
    }

    /// Restricts the set to one thread of each warp.
    pub(super) fn of_each_warp(mut self) -> Self {
        self.same.push(Digit { modulus: Some(WARP), ..Digit::whole(Coordinate::Rank) });
        self
    }

    /// The parameter of a device function that has one value for all of them, and whether it is known to be `true`.
    pub(super) fn same_parameter(&self) -> Option<(usize, bool)> {
        let equalities = self.state.here.as_ref()?;
        equalities.0.iter().find_map(|(digit, equality)| match digit.of {
            Coordinate::Param(index)
                if *digit == Digit::whole(digit.of) && equality.within().covers(Uniformity::Block) =>
            {
                Some((index, equality.value.as_ref().is_some_and(|(value, _)| value == TRUE)))
            }
            Coordinate::Param(_) | Coordinate::Rank | Coordinate::Axis(_) => None,
        })
    }

    fn elect(&self, more: &[Digit]) -> bool {
        let same = [&self.same, more].concat();
        self.state.here.as_ref().is_none_or(|equalities| equalities.elect(&same, self.election.extents()))
    }
}

/// The solved analysis.
pub(super) struct Election<'a, 'f> {
    function: &'f Function,
    cfg: &'a Cfg<'f>,
    values: &'a Values<'a, 'f>,
    fixed: &'a FixedValues<'a, 'f>,
    /// The nodes that are used in another block than where they are evaluated.
    outlive: BTreeSet<NodeId>,
    states: Vec<Option<State>>,
    /// For each block, what holds at its end where the condition there is false, and where it is true, if that is known.
    outcomes: Vec<Option<[Option<Equalities>; 2]>>,
}

impl<'a, 'f> Election<'a, 'f> {
    pub(super) fn of(function: &'f Function, cfg: &'a Cfg<'f>, values: &'a Values<'a, 'f>) -> Election<'a, 'f> {
        let mut election = Election {
            function,
            cfg,
            values,
            fixed: &values.fixed,
            outlive: outlive(cfg),
            states: Vec::new(),
            outcomes: Vec::new(),
        };
        election.states = engine::solve(&election, cfg);
        election.outcomes = (0..cfg.blocks.len()).map(|block| election.at_end(BlockId(block))).collect();
        election
    }

    /// What is known where control comes to a step; `None` if it never does.
    pub(super) fn at(&self, block: BlockId, is_at: impl Fn(&Step) -> bool) -> Option<Threads<'_, 'a, 'f>> {
        self.before(block, is_at).map(|state| Threads { election: self, block, state, same: Vec::new() })
    }

    /// The group of which only one block has a thread that takes this edge of a branch; the block's rank, if it is known.
    pub(super) fn one_block(&self, branch: BlockId, holds: bool) -> Option<(Group, Option<u64>)> {
        let equalities = self.outcome(branch, holds)?.as_ref()?;
        let blocks = self.function.options.cluster.as_ref().and_then(Extents::count);
        equalities.0.iter().find_map(|(digit, equality)| {
            let group = equality.one_block_of.filter(|group| *group != Group::Cluster || blocks != Some(1))?;
            let Granule::Number(divisor) = digit.divisor else { return Some((group, None)) };
            let first = equality.literal.map(|value| value.saturating_mul(divisor));
            let threads = self.extents().and_then(Extents::count);
            Some((group, first.and_then(|first| if first == 0 { Some(0) } else { Some(first / threads?) })))
        })
    }

    /// Whether the text shows that no thread of a block takes this edge of a branch.
    pub(super) fn is_never(&self, branch: BlockId, holds: bool) -> bool {
        match self.outcome(branch, holds) {
            Some(held) => held.as_ref().is_none_or(|equalities| equalities.is_empty_set(self.extents())),
            None => false,
        }
    }

    fn outcome(&self, branch: BlockId, holds: bool) -> Option<&Option<Equalities>> {
        self.outcomes[branch.0].as_ref().map(|outcomes| &outcomes[usize::from(holds)])
    }

    fn at_end(&self, block: BlockId) -> Option<[Option<Equalities>; 2]> {
        let on = self.cfg.blocks[block.0].end.condition()?;
        let state = self.before(block, |_| false)?;
        Some(state.values.get(&Holder::Node(on))?.outcomes.clone())
    }

    /// The state before the first step for which `is_at` holds, or at the block's end.
    fn before(&self, block: BlockId, is_at: impl Fn(&Step) -> bool) -> Option<State> {
        let mut state = self.states[block.0].clone()?;
        for step in self.cfg.blocks[block.0].steps.iter().take_while(|step| !is_at(step)) {
            self.transfer(&mut state, step);
        }
        Some(state)
    }

    fn extents(&self) -> Option<&'f Extents> {
        self.function.options.block.as_ref()
    }

    /// The digit that a value is for, if the rest of the value is the same in the block.
    fn digit(&self, state: &State, node: NodeId) -> Option<Digit> {
        let (position, scope) = state.values.get(&Holder::Node(node))?.position?;
        scope.covers(Uniformity::Block).then_some(position.digit)
    }

    /// The groups in which a value is the same.
    fn scope(&self, node: NodeId) -> Uniformity {
        let level = self.values.level(node);
        let is_known = level.unknown.is_empty() && level.at_most != Uniformity::Rank;
        if is_known { level.at_most } else { Uniformity::Divergent }
    }

    fn evaluate(&self, state: &State, node: NodeId) -> Known {
        let Known { position, outcomes } = self.evaluate_uncut(state, node);
        let is_cast = matches!(self.cfg.nodes[node.0].source, Source::Operands);
        match self.cfg.cuts.get(&node).filter(|_| is_cast) {
            Some(bits) => {
                let operand = self.position(state, self.cfg.nodes[node.0].operands[0]);
                let cut = operand.and_then(|(position, scope)| Some((position.cut(*bits)?, scope)));
                Known { position: cut, outcomes }
            }
            None => Known { position, outcomes },
        }
    }

    fn position(&self, state: &State, node: NodeId) -> Option<(Position, Uniformity)> {
        state.values.get(&Holder::Node(node))?.position
    }

    fn evaluate_uncut(&self, state: &State, node: NodeId) -> Known {
        if let Some(position) = self.cfg.positions.get(&node) {
            return Known { position: Some((*position, Uniformity::Grid)), ..Known::nothing() };
        }
        let known = |holder: Holder| state.values.get(&holder).cloned().unwrap_or_else(Known::nothing);
        let whole = &self.cfg.nodes[node.0];
        match (&whole.source, &whole.operands[..]) {
            (Source::Integer(number @ 0..=1), _) => {
                let mut known = Known::nothing();
                known.outcomes[usize::from(*number == 0)] = None;
                known
            }
            (Source::Param(index), _) if self.function.role != Role::Kernel => {
                let digit = Digit::whole(Coordinate::Param(*index));
                let [no, _] = Known::nothing().outcomes;
                let yes = Some(Equalities::one(digit, equality(TRUE.into(), Uniformity::Grid, None)));
                Known { position: Some((Position::exactly(digit), Uniformity::Grid)), outcomes: [no, yes] }
            }
            (Source::Not, [operand]) => {
                let mut known = known(Holder::Node(*operand));
                known.outcomes.swap(0, 1);
                Known { position: None, ..known }
            }
            (Source::Read(variable), _) => known(Holder::Variable(*variable)),
            (Source::Binary(op) | Source::Round(_, op), [first, second]) => {
                let operands = [*first, *second].map(|operand| known(Holder::Node(operand)));
                self.operation(node, *op, [*first, *second], operands)
            }
            (
                Source::Operands
                | Source::Integer(_)
                | Source::Constant(_)
                | Source::Binary(_)
                | Source::Not
                | Source::Counter { .. }
                | Source::Param(_)
                | Source::Known { .. }
                | Source::ThreadRank
                | Source::Round(..)
                | Source::Load(_)
                | Source::Agreed { .. }
                | Source::Shuffled { .. }
                | Source::Call { .. },
                _,
            ) => Known::nothing(),
        }
    }
}

impl Analysis for Election<'_, '_> {
    type State = State;

    fn entry(&self) -> State {
        State { here: Some(Equalities::default()), values: SortedMap::default() }
    }

    fn transfer(&self, state: &mut State, step: &Step) {
        match &step.kind {
            StepKind::Value(ValueStep::Evaluate(node)) => {
                let known = self.evaluate(state, *node);
                state.put(Holder::Node(*node), known);
            }
            StepKind::Value(ValueStep::Set { variable, value, extent }) => {
                let known = match extent {
                    Extent::Whole => state.values.get(&Holder::Node(*value)).cloned().unwrap_or_else(Known::nothing),
                    Extent::Field | Extent::Part => Known::nothing(),
                };
                // Only threads that are here have the value.
                let outcomes = known.outcomes.each_ref().map(|held| and(held, &state.here));
                if let (Some(fields), Extent::Whole | Extent::Part) = (variable.fields(), extent) {
                    let fields = Holder::Variable(*fields.start())..=Holder::Variable(*fields.end());
                    state.values.remove_range(fields);
                }
                let known = if *extent == Extent::Whole { Known { outcomes, ..known } } else { known };
                state.put(Holder::Variable(*variable), known);
            }
            // A group of other threads has its own numbers.
            StepKind::Value(ValueStep::Name { .. } | ValueStep::Return(_))
            | StepKind::Memory(_)
            | StepKind::Copy(_)
            | StepKind::Group(_)
            | StepKind::BarrierCall(_)
            | StepKind::Call(_)
            | StepKind::Token(_) => {}
        }
    }

    fn edge(&self, state: &mut State, cfg: &Cfg<'_>, from: BlockId, to: BlockId) {
        if let End::Branch { on, then, otherwise } = cfg.blocks[from.0].end
            && then != otherwise
            && let Some(known) = state.values.get(&Holder::Node(on))
        {
            state.here = and(&state.here, &known.outcomes[usize::from(to == then)]);
        }
        state.values.retain(|holder, _| match holder {
            Holder::Node(node) => self.outlive.contains(node),
            Holder::Variable(variable) => self.values.live.contains(to, *variable),
        });
        for branch in &self.values.control.merges[to.0] {
            let tested = self.values.tested(*branch);
            let agree = if tested.unknown.is_empty() { tested.at_most } else { Uniformity::Divergent };
            if agree.covers(Uniformity::Grid) {
                continue;
            }
            if let Some(equalities) = &mut state.here {
                equalities.demote(agree);
            }
            for variable in self.values.control.assigned.get(branch).into_iter().flatten() {
                if let Some(known) = state.values.get_mut(&Holder::Variable(*variable)) {
                    known.demote(agree);
                }
            }
        }
    }
}

/// The nodes that are used in another block than where they are evaluated: the operands of `&&` and `||`, and of calls with
/// branches in their arguments.
fn outlive(cfg: &Cfg<'_>) -> BTreeSet<NodeId> {
    let mut home: Vec<Option<usize>> = vec![None; cfg.nodes.len()];
    let mut outlive = BTreeSet::new();
    for (at, block) in cfg.blocks.iter().enumerate() {
        for step in &block.steps {
            if let StepKind::Value(ValueStep::Evaluate(node)) = step.kind {
                home[node.0] = Some(at);
            }
        }
    }
    for (at, block) in cfg.blocks.iter().enumerate() {
        let used = block.steps.iter().flat_map(|step| match &step.kind {
            StepKind::Value(ValueStep::Evaluate(node)) => cfg.nodes[node.0].operands.clone(),
            StepKind::BarrierCall(BarrierCallId(call)) => {
                cfg.barrier_calls[*call].region.path.iter().flat_map(Select::nodes).collect()
            }
            StepKind::Value(ValueStep::Set { value, .. }) => vec![*value],
            StepKind::Value(ValueStep::Name { .. } | ValueStep::Return(_))
            | StepKind::Memory(_)
            | StepKind::Copy(_)
            | StepKind::Group(_)
            | StepKind::Call(_)
            | StepKind::Token(_) => Vec::new(),
        });
        outlive.extend(used.chain(block.end.condition()).filter(|node| home[node.0] != Some(at)));
    }
    outlive
}
