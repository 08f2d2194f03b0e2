//! The plan of a kernel's runs, made once for all of them: the steps that a run executes, how a thread finds each value, and where it keeps
//! each variable. A run executes tens of thousands of steps, and looks nothing up in a map for most of them.

use std::collections::BTreeMap;

use super::{Number, booleans, is_integer_argument, long_loops, needed};
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{
    BlockId, ByVariable, Cfg, CountedLoop, Digit, Extent, Formula, NodeId, Offset, Root, Source, StepKind, ValueStep,
    Variable,
};
use crate::model::Function;
use crate::model::expr::BinaryOp;
use crate::model::ty::ParamType;

/// The steps and the values of a kernel, as all of its runs have them.
pub(super) struct Plan {
    /// By block of the graph.
    pub(super) blocks: Vec<PlannedBlock>,
    /// The number of the place where each variable is kept that is read, or of which a field is.
    variables: ByVariable<usize>,
    /// By the place of a variable, those of its fields.
    fields: Vec<Vec<usize>>,
    /// A value for each node, before the thread has computed any.
    pub(super) nothing_known: Box<[Option<Number>]>,
}

/// A block of the graph, as all runs of the kernel execute it.
#[derive(Default)]
pub(super) struct PlannedBlock {
    /// The steps that are executed.
    pub(super) steps: Vec<PlannedStep>,
    /// The loop over a range that the block is the head of.
    pub(super) counted: Option<CountedLoop>,
    /// The heads of the loops over ranges that it comes before.
    pub(super) enters: Vec<BlockId>,
    /// The head of the loop over a range of which an iteration begins here.
    pub(super) iterates: Option<BlockId>,
    /// Whether the loop that it is the head of only computes and accesses memory.
    pub(super) heads_plain_loop: bool,
    /// Whether the block has assertions.
    pub(super) asserts: bool,
}

/// A step that is executed.
pub(super) struct PlannedStep {
    /// The number of the step in its block.
    pub(super) number: usize,
    pub(super) action: Action,
}

#[derive(Clone, Copy)]
pub(super) enum Action {
    /// Evaluates a node.
    Evaluate(NodeId, Recipe),
    /// Sets the variable that is kept at this place.
    Set { variable: usize, value: NodeId, extent: Extent },
    /// Something else: the step tells what.
    Other,
}

/// How a thread finds the value of a node.
#[derive(Clone, Copy)]
pub(super) struct Recipe {
    pub(super) how: How,
    /// The number of bits that the node keeps, if it is a cast.
    pub(super) bits: Option<u32>,
    /// Whether it is a quotient or a remainder.
    pub(super) divides: bool,
    /// Whether it is the rank of a peer whose memory or barrier is named.
    pub(super) names_peer: bool,
}

#[derive(Clone, Copy)]
pub(super) enum How {
    /// It is this number in all launches, or unknown in all.
    Is(Option<Number>),
    /// It is the thread's rank in its block, or exactly this digit of it.
    Rank,
    Digit(Digit),
    /// It is the value of the variable that is kept at this place.
    Variable(usize),
    /// It is an integer that the host passes.
    Argument,
    /// It is an element of memory, which the kernel only reads or may write.
    Load {
        is_read_only: bool,
    },
    Not(NodeId),
    Binary(BinaryOp, NodeId, NodeId),
    /// It is the value of its only operand.
    Same(NodeId),
    /// It is the number of the current iteration.
    Counter,
    /// It is this function of its operands.
    Formula(Formula),
    /// It is the length of a slice that the host passes.
    LengthOfSlice,
    /// Something else: the node tells what.
    Other,
}

impl Plan {
    pub(super) fn of(
        function: &Function,
        cfg: &Cfg<'_>,
        regions: &BTreeMap<BlockId, (BlockSet, Option<BlockId>)>,
    ) -> Plan {
        let needed = needed::nodes(cfg);
        let mut plan = Plan {
            blocks: Vec::new(),
            variables: ByVariable::default(),
            fields: Vec::new(),
            nothing_known: vec![None; cfg.nodes.len()].into(),
        };
        for (node, is_needed) in cfg.nodes.iter().zip(&needed) {
            if let (Some(variable), true) = (node.source.read(), *is_needed) {
                plan.keep(variable);
            }
        }
        plan.blocks = plan.blocks(cfg, &needed, &plan.recipes(function, cfg));
        for (head, counted) in &cfg.counted {
            plan.blocks[counted.before.0].enters.push(*head);
            plan.blocks[counted.inside.0].iterates = Some(*head);
            let head_block = &mut plan.blocks[head.0];
            head_block.counted = Some(*counted);
            head_block.heads_plain_loop =
                regions.get(head).is_some_and(|(arms, end)| end.is_some() && long_loops::is_plain(cfg, arms));
        }
        for assertion in &cfg.assertions {
            plan.blocks[assertion.at.0.0].asserts = true;
        }
        plan
    }

    /// Finds a place for a variable, and for the whole that it is a field of.
    fn keep(&mut self, variable: Variable) {
        let whole = variable.whole().map(|whole| self.place(whole));
        let is_new = self.variable(variable).is_none();
        let place = self.place(variable);
        if let Some(whole) = whole.filter(|_| is_new) {
            self.fields[whole].push(place);
        }
    }

    fn place(&mut self, variable: Variable) -> usize {
        let next = self.fields.len();
        let place = *self.variables.get_or_insert(variable, next);
        if place == next {
            self.fields.push(Vec::new());
        }
        place
    }

    fn blocks(&self, cfg: &Cfg<'_>, needed: &[bool], recipes: &[Recipe]) -> Vec<PlannedBlock> {
        let action = |kind: &StepKind| match *kind {
            StepKind::Value(ValueStep::Evaluate(node)) => {
                needed[node.0].then(|| Action::Evaluate(node, recipes[node.0]))
            }
            StepKind::Value(ValueStep::Set { variable, value, extent }) => {
                Some(Action::Set { variable: self.variable(variable)?, value, extent })
            }
            StepKind::Value(ValueStep::Return(_)) => None,
            StepKind::Value(ValueStep::Name { .. })
            | StepKind::Memory(_)
            | StepKind::Group(_)
            | StepKind::Token(_)
            | StepKind::BarrierCall(_)
            | StepKind::Copy(_)
            | StepKind::Call(_) => Some(Action::Other),
        };
        let mut blocks = Vec::new();
        for block in &cfg.blocks {
            let mut steps = Vec::new();
            for (number, step) in block.steps.iter().enumerate() {
                if let Some(action) = action(&step.kind) {
                    steps.push(PlannedStep { number, action });
                }
            }
            blocks.push(PlannedBlock { steps, ..PlannedBlock::default() });
        }
        blocks
    }

    fn recipes(&self, function: &Function, cfg: &Cfg<'_>) -> Vec<Recipe> {
        let unknown = How::Is(None);
        let booleans = booleans::of(cfg);
        let mut recipes = Vec::new();
        for node in &cfg.nodes {
            let how = match (&node.source, &node.operands[..]) {
                (Source::Integer(number), _) => How::Is(Number::own(*number)),
                (Source::ThreadRank, _) => How::Rank,
                (Source::Read(variable), _) => self.variable(*variable).map_or(unknown, How::Variable),
                (Source::Param(position), _) if is_integer_argument(function, *position) => How::Argument,
                (Source::Load(root), _) => How::Load { is_read_only: *root == Root::ReadOnly },
                (Source::Not, [operand]) if booleans.contains(&NodeId(recipes.len())) => How::Not(*operand),
                (Source::Binary(op) | Source::Round(_, op), [a, b]) => How::Binary(*op, *a, *b),
                (Source::Counter { .. }, _) => How::Counter,
                (Source::Known { .. }, []) => How::Other,
                (
                    Source::Operands
                    | Source::Param(_)
                    | Source::Not
                    | Source::Binary(_)
                    | Source::Round(..)
                    | Source::Constant(_)
                    | Source::Known { .. }
                    | Source::Agreed { .. }
                    | Source::Shuffled { .. }
                    | Source::Call { .. },
                    _,
                ) => unknown,
            };
            let divides = matches!(node.source, Source::Binary(BinaryOp::Div | BinaryOp::Rem));
            recipes.push(Recipe { how, bits: None, divides, names_peer: false });
        }
        let is_operands = |node: NodeId| matches!(cfg.nodes[node.0].source, Source::Operands);
        for (node, bits) in &cfg.cuts {
            let recipe = &mut recipes[node.0];
            recipe.bits = Some(*bits);
            if let ([operand], true) = (&cfg.nodes[node.0].operands[..], is_operands(*node)) {
                recipe.how = How::Same(*operand);
            }
        }
        for (node, formula) in cfg.formulas.iter().filter(|(node, _)| is_operands(**node)) {
            recipes[node.0].how = match (formula, &cfg.nodes[node.0].operands[..]) {
                (Formula::Length, [of]) if is_slice_argument(function, cfg, *of) => How::LengthOfSlice,
                _ => How::Formula(*formula),
            };
        }
        let others = cfg.axes.keys().chain(cfg.computed.keys());
        let is_computed = |node: NodeId| is_operands(node) || matches!(cfg.nodes[node.0].source, Source::Agreed { .. });
        others.filter(|node| is_computed(**node)).for_each(|node| recipes[node.0].how = How::Other);
        for (node, position) in &cfg.positions {
            if position.offset == Offset::Zero && position.rank_in.is_none() {
                recipes[node.0].how = How::Digit(position.digit);
                recipes[node.0].bits = None;
            }
        }
        let regions = cfg.accesses.iter().map(|access| &access.region);
        let regions = regions.chain(cfg.barrier_calls.iter().map(|call| &call.region));
        for rank in regions.filter_map(|region| region.rank) {
            recipes[rank.0].names_peer = true;
        }
        recipes
    }

    /// Where a variable is kept.
    pub(super) fn variable(&self, variable: Variable) -> Option<usize> {
        self.variables.get(variable).copied()
    }

    /// The number of variables that are kept.
    pub(super) fn variables(&self) -> usize {
        self.fields.len()
    }

    /// Where the fields are kept of the variable that is kept at a place.
    pub(super) fn fields(&self, variable: usize) -> &[usize] {
        &self.fields[variable]
    }
}

/// Whether a value is a slice that the host passes.
fn is_slice_argument(function: &Function, cfg: &Cfg<'_>, node: NodeId) -> bool {
    let Source::Param(position) = cfg.nodes[cfg.origin(node).0].source else { return false };
    matches!(function.params.get(position).map(|param| &param.ty), Some(ParamType::Slice { .. }))
}
