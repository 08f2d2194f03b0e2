//! Small numbers that a function counts by hand: the stage of a ring (`stage += 1; if stage == 4 { stage = 0; }`), the indexes of two
//! buffers that it swaps. A variable is followed if all blocks of the cluster assign it alike, and an index, or a branch that
//! decides about one, may depend on it. `partition` splits the graph by what they hold.
//!
//! Not done here: numbers that depend on parameters or ranks; `dsm/index_analysis` knows how they relate to each other.

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::uniformity::Uniformity;

use super::accessors::{each_region, selectors};
use super::cfg::{BlockId, ByNode, Cfg, Extent, Node, NodeId, Select, Source, Step, StepKind, ValueStep, Variable};
use super::liveness;
use super::residues::{Assignment, Remainders, Residues};
use super::short_loops::{Iterations, ShortLoops};
use super::sorted_map::SortedMap;
use super::thresholds::number;
use super::uniform::values::Values;
use crate::model::ValueId;
use crate::model::expr::BinaryOp;

/// The largest number that is followed: stages, buffers and offsets of halves are smaller.
const LARGEST: u64 = 1 << 16;

/// A number that is followed: a multiple of a constant whose value rustc knows, plus a small number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Number {
    plus: u64,
    /// The constant and its coefficient, which is not 0.
    multiple: Option<(ValueId, u64)>,
}

/// What is known of the small numbers at a point.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Constants {
    variables: SortedMap<Variable, Number>,
    /// The numbers of values: at the start of a block, of those that an earlier one has computed and that are used again; later in the
    /// block, of all that it has computed so far, too.
    nodes: SortedMap<NodeId, Number>,
    remainders: Remainders,
    iterations: Iterations,
}

/// The assignments to each variable.
type Sets = BTreeMap<Variable, Vec<Assignment>>;

/// The variables that are followed.
pub(super) struct ConstantPropagation<'a, 'f> {
    cfg: &'a Cfg<'f>,
    followed: BTreeSet<Variable>,
    residues: Residues,
    loops: ShortLoops,
    /// The sizes of groups that the kernel's attribute fixes, by the node that asks for one.
    sizes: ByNode<u64>,
    /// The values that are live at the start of each block.
    live: Vec<BTreeSet<NodeId>>,
}

impl<'a, 'f> ConstantPropagation<'a, 'f> {
    /// Finds the variables; with loops, their counters as well, and all variables on which a branch depends.
    pub(super) fn of(cfg: &'a Cfg<'f>, values: &Values<'_, 'f>, by_iterations: Option<ShortLoops>) -> Self {
        let mut sets: Sets = BTreeMap::new();
        for (here, step) in steps(cfg) {
            if let Some((variable, value, extent)) = step.kind.set() {
                sets.entry(variable).or_default().push((here, value, extent));
            }
        }
        let is_alike = |(here, value, extent): &Assignment| {
            *extent == Extent::Whole
                && values.level(*value).is_uniform(Uniformity::Cluster)
                && values.is_reached_uniformly(*here, Uniformity::Cluster)
        };
        // One that is set once holds the same throughout, which an index analysis knows as well.
        let is_counted = |variable: &Variable| sets.get(variable).is_some_and(|sets| sets.len() > 1);
        let set_alike =
            |variable: Variable| sets.get(&variable).filter(|sets| sets.iter().all(is_alike)).map(Vec::as_slice);
        let selectors = selectors(cfg);
        let residues = Residues::of(cfg, values, &selectors, set_alike);
        let live = if residues.is_empty() { Vec::new() } else { live_values(cfg, residues.nodes()) };
        let followed = sets.keys().copied().collect();
        let sizes = cfg.queries.keys().filter_map(|query| Some((*query, number(values, *query)?)));
        let sizes = ByNode::from(sizes.collect::<BTreeMap<NodeId, u64>>());
        let conditions =
            cfg.blocks.iter().filter(|_| by_iterations.is_some()).filter_map(|block| block.end.condition());
        let loops = by_iterations.clone().unwrap_or_default();
        let mut numbers = ConstantPropagation { cfg, followed, residues, loops, sizes, live };
        numbers.keep_countable(&sets);
        if !numbers.followed.iter().any(is_counted) {
            numbers.followed.clone_from(numbers.residues.variables());
            return numbers;
        }
        let countable = std::mem::take(&mut numbers.followed);
        let mut work: Vec<NodeId> = selectors.into_iter().collect();
        work.extend(conditions);
        let mut seen = BTreeSet::new();
        while let Some(node) = work.pop() {
            if !seen.insert(node) {
                continue;
            }
            work.extend(&cfg.nodes[node.0].operands);
            if let Some(variable) = cfg.nodes[node.0].source.read()
                && countable.contains(&variable)
                && let Some(sets) = set_alike(variable)
            {
                numbers.followed.insert(variable);
                for (here, value, _) in sets {
                    work.push(*value);
                    work.extend(values.control.deciders(*here).filter_map(|on| cfg.blocks[on.0].end.condition()));
                }
            }
        }
        if !numbers.followed.iter().any(is_counted) {
            numbers.followed.clone_from(numbers.residues.variables());
            return numbers;
        }
        seen.extend(numbers.residues.nodes());
        numbers.followed.extend(numbers.residues.variables());
        numbers.live = live_values(cfg, &seen);
        numbers
    }

    /// Keeps the variables that literals can reach.
    fn keep_countable(&mut self, sets: &Sets) {
        let mut countable = BTreeSet::new();
        loop {
            let before = countable.len();
            for variable in &self.followed {
                let mut values = sets.get(variable).into_iter().flatten();
                if values.any(|(_, value, _)| self.is_countable(*value, &countable)) {
                    countable.insert(*variable);
                }
            }
            if countable.len() == before {
                break;
            }
        }
        self.followed = countable;
    }

    /// Whether a value is made of literals and these variables.
    fn is_countable(&self, node: NodeId, variables: &BTreeSet<Variable>) -> bool {
        if self.sizes.contains_key(&node) {
            return true;
        }
        let node = &self.cfg.nodes[node.0];
        match &node.source {
            Source::Integer(_) | Source::Constant(_) => true,
            Source::Counter { of, .. } => self.loops.contains(*of),
            Source::Read(variable) => variables.contains(variable),
            Source::Binary(_) | Source::Round(..) => {
                node.operands.iter().all(|operand| self.is_countable(*operand, variables))
            }
            Source::Operands
            | Source::Not
            | Source::Param(_)
            | Source::Known { .. }
            | Source::ThreadRank
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => false,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.followed.is_empty() && self.residues.is_empty()
    }

    /// Leaves the counters out that are followed modulo a number; `None` if there are none.
    pub(super) fn without_residues(&self) -> Option<Self> {
        let Self { cfg, followed, loops, live, sizes, .. } = self;
        let (followed, loops, live, sizes) = (followed.clone(), loops.clone(), live.clone(), sizes.clone());
        let others = Self { cfg, followed, loops, live, sizes, residues: Residues::default() };
        (!self.residues.is_empty()).then_some(others)
    }

    /// Leaves variables out.
    pub(super) fn leave_out(&mut self, variables: &BTreeSet<Variable>) {
        self.followed.retain(|variable| !variables.contains(variable));
    }

    /// Leaves all variables out but those that are followed modulo a number; says whether there were any.
    pub(super) fn leave_out_values(&mut self) -> bool {
        let before = self.followed.len();
        self.followed.clone_from(self.residues.variables());
        self.followed.len() < before
    }

    /// The state after a step.
    pub(super) fn transfer(&self, numbers: &mut Constants, step: &StepKind) {
        match step {
            StepKind::Value(ValueStep::Evaluate(node)) => {
                match self.evaluate(numbers, *node).filter(|number| number.is_small()) {
                    Some(number) => numbers.nodes.insert(*node, number),
                    None => _ = numbers.nodes.remove(node),
                }
            }
            StepKind::Value(ValueStep::Set { variable, value, extent }) => {
                self.residues.set(self.cfg, &mut numbers.remainders, *variable, *value);
                self.loops.set(self.cfg, &mut numbers.iterations, *variable, *value);
                if let (Some(fields), Extent::Whole | Extent::Part) = (variable.fields(), extent) {
                    numbers.variables.remove_range(fields);
                }
                match numbers.nodes.get(value).copied().filter(|_| self.followed.contains(variable)) {
                    Some(number) => numbers.variables.insert(*variable, number),
                    None => _ = numbers.variables.remove(variable),
                }
            }
            StepKind::Value(ValueStep::Name { .. } | ValueStep::Return(_))
            | StepKind::Memory(_)
            | StepKind::Group(_)
            | StepKind::Token(_)
            | StepKind::BarrierCall(_)
            | StepKind::Copy(_)
            | StepKind::Call(_) => {}
        }
    }

    /// The value of a node that is computed here.
    fn evaluate(&self, numbers: &Constants, node: NodeId) -> Option<Number> {
        if self.cfg.cuts.contains_key(&node) {
            return None;
        }
        if let Some(remainder) = self.residues.evaluate(self.cfg, &numbers.remainders, node) {
            return Some(Number::from(remainder));
        }
        if let Some(size) = self.sizes.get(&node) {
            return Some(Number::from(*size));
        }
        let node = &self.cfg.nodes[node.0];
        let operand = |index: usize| numbers.nodes.get(node.operands.get(index)?).copied();
        match &node.source {
            Source::Integer(number) => Some(Number::from(*number)),
            Source::Constant(constant) => Some(Number { plus: 0, multiple: Some((*constant, 1)) }),
            Source::Read(variable) => numbers.variables.get(variable).copied(),
            Source::Counter { of, .. } => self.loops.next(&numbers.iterations, *of).map(Number::from),
            Source::Binary(op) | Source::Round(_, op) => match (operand(0), operand(1)) {
                (Some(first), Some(second)) => first.operate(*op, second),
                (first, second) => first.or(second)?.decides(*op),
            },
            Source::Operands
            | Source::Not
            | Source::Param(_)
            | Source::Known { .. }
            | Source::ThreadRank
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => None,
        }
    }

    /// Whether a condition holds.
    pub(super) fn holds(&self, numbers: &Constants, condition: NodeId) -> Option<bool> {
        match (&self.cfg.nodes[condition.0].source, &self.cfg.nodes[condition.0].operands[..]) {
            (Source::Not, [negated]) => self.holds(numbers, *negated).map(|holds| !holds),
            _ => numbers.nodes.get(&condition)?.literal().map(|number| number != 0),
        }
    }

    /// Whether the loop whose test is at the end of a block goes on, if that is known.
    pub(super) fn goes_on(&self, numbers: &Constants, test: BlockId) -> Option<bool> {
        let by_remainder = || self.residues.goes_on(&numbers.remainders, test).then_some(true);
        self.loops.goes_on(&numbers.iterations, test).or_else(by_remainder)
    }

    /// Whether a block joins a condition that decided about the way there with another one.
    fn is_joined(&self, block: BlockId, condition: NodeId) -> bool {
        joins(self.cfg, block).any(|(first, _)| first == condition)
    }

    /// Returns the state at the start of a block: only numbers of variables and values that are live there. `tested` is the condition that
    /// decided about the edge to the block, and whether it holds: a block that computes `a && b` then knows `a`.
    pub(super) fn kept(
        &self,
        numbers: &Constants,
        at: BlockId,
        tested: Option<(NodeId, bool)>,
        is_live: impl Fn(Variable) -> bool,
    ) -> Constants {
        let variables = numbers.variables.iter().filter(|(variable, _)| is_live(**variable));
        let mut nodes = SortedMap::default();
        if let Some(live) = self.live.get(at.0).filter(|live| !live.is_empty()) {
            let kept = numbers.nodes.iter().filter(|(node, _)| live.contains(node));
            kept.for_each(|(node, number)| nodes.insert(*node, *number));
            let tested = tested.filter(|(node, _)| live.contains(node) && self.is_joined(at, *node));
            tested.into_iter().for_each(|(node, holds)| nodes.insert(node, Number::from(u64::from(holds))));
        }
        Constants {
            remainders: self.residues.kept(&numbers.remainders, at),
            iterations: self.loops.kept(&numbers.iterations, at),
            variables: variables.map(|(variable, number)| (*variable, *number)).collect(),
            nodes,
        }
    }
}

impl Constants {
    pub(super) fn number(&self, node: NodeId) -> Option<Number> {
        self.nodes.get(&node).copied()
    }

    pub(super) fn variables(&self) -> impl Iterator<Item = (Variable, Number)> + '_ {
        self.variables.iter().map(|(variable, number)| (*variable, *number))
    }
}

fn steps<'c>(cfg: &'c Cfg<'_>) -> impl Iterator<Item = (BlockId, &'c Step)> {
    (0..).map(BlockId).zip(&cfg.blocks).flat_map(|(here, block)| block.steps.iter().map(move |step| (here, step)))
}

/// The conditions that a block joins by `&&` or `||`.
fn joins(cfg: &Cfg<'_>, block: BlockId) -> impl Iterator<Item = (NodeId, NodeId)> {
    cfg.blocks[block.0].steps.iter().filter_map(|step| {
        let StepKind::Value(ValueStep::Evaluate(node)) = step.kind else { return None };
        let Node { source, operands, .. } = &cfg.nodes[node.0];
        let [first, second] = operands[..] else { return None };
        matches!(source, Source::Binary(BinaryOp::And | BinaryOp::Or)).then_some((first, second))
    })
}

/// By block, those of the values that are used after its start before they are computed.
fn live_values(cfg: &Cfg<'_>, of: &BTreeSet<NodeId>) -> Vec<BTreeSet<NodeId>> {
    liveness::solve(cfg, |block, values| {
        let block = &cfg.blocks[block.0];
        // Where the first condition decides, the second one is not computed. If it were kept over a loop, threads that have computed it
        // and threads that have not would be on no common path.
        for (first, second) in block.end.successors().flat_map(|next| joins(cfg, next)) {
            if block.end.condition() == Some(first) {
                values.remove(&second);
            }
        }
        values.extend(block.end.condition());
        for step in block.steps.iter().rev() {
            match step.kind {
                StepKind::Value(ValueStep::Evaluate(node)) => {
                    values.remove(&node);
                    values.extend(&cfg.nodes[node.0].operands);
                }
                StepKind::Value(ValueStep::Set { value, .. }) => _ = values.insert(value),
                StepKind::Value(ValueStep::Name { .. } | ValueStep::Return(_))
                | StepKind::Memory(_)
                | StepKind::Group(_)
                | StepKind::Token(_)
                | StepKind::BarrierCall(_)
                | StepKind::Copy(_)
                | StepKind::Call(_) => {}
            }
            each_region(cfg, step, |region| {
                values.extend(region.path.iter().flat_map(Select::nodes).chain(region.rank));
            });
        }
        values.retain(|value| of.contains(value));
    })
}

impl From<u64> for Number {
    fn from(plus: u64) -> Number {
        Number { plus, multiple: None }
    }
}

impl Number {
    /// The number without the multiple of the constant.
    pub(super) fn plus(self) -> u64 {
        self.plus
    }

    /// The constant and its coefficient.
    pub(super) fn multiple(self) -> Option<(ValueId, u64)> {
        self.multiple
    }

    fn literal(self) -> Option<u64> {
        self.multiple.is_none().then_some(self.plus)
    }

    fn is_small(self) -> bool {
        self.plus <= LARGEST && self.multiple.is_none_or(|(_, times)| times <= LARGEST)
    }

    /// The result of an operator that has this number as one operand, if it is the same for all numbers as the other one.
    fn decides(self, op: BinaryOp) -> Option<Number> {
        let is_decided = match op {
            BinaryOp::And | BinaryOp::BitAnd | BinaryOp::Mul => self.literal() == Some(0),
            BinaryOp::Or => self.literal() == Some(1),
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => false,
        };
        is_decided.then_some(self)
    }

    /// The result of an operator; `None` if it is no such number.
    fn operate(self, op: BinaryOp, other: Number) -> Option<Number> {
        if let (Some(a), Some(b)) = (self.literal(), other.literal()) {
            return operate(op, a, b).map(Number::from);
        }
        let times = |number: Number, constant| match number.multiple {
            Some((of, times)) => (of == constant).then_some(times),
            None => Some(0),
        };
        let (constant, _) = self.multiple.or(other.multiple)?;
        match op {
            BinaryOp::Add | BinaryOp::Sub => {
                let all = operate(op, times(self, constant)?, times(other, constant)?)?;
                let multiple = (all != 0).then_some((constant, all));
                Some(Number { plus: operate(op, self.plus, other.plus)?, multiple })
            }
            BinaryOp::Mul => {
                let by = self.literal().or(other.literal())?;
                let of = if self.multiple.is_some() { self } else { other };
                let all = times(of, constant)?.checked_mul(by)?;
                let multiple = (all != 0).then_some((constant, all));
                Some(Number { plus: of.plus.checked_mul(by)?, multiple })
            }
            BinaryOp::BitXor if self == other => Some(Number::from(0)),
            BinaryOp::BitXor if self.literal() == Some(0) => Some(other),
            BinaryOp::BitXor if other.literal() == Some(0) => Some(self),
            BinaryOp::BitXor
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge
            | BinaryOp::And
            | BinaryOp::Or => None,
        }
    }
}

/// The result of an operator on small numbers; `None` if it would not be one.
pub(super) fn operate(op: BinaryOp, a: u64, b: u64) -> Option<u64> {
    match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::Div => a.checked_div(b),
        BinaryOp::Rem => a.checked_rem(b),
        BinaryOp::BitAnd | BinaryOp::And => Some(a & b),
        BinaryOp::BitOr | BinaryOp::Or => Some(a | b),
        BinaryOp::BitXor => Some(a ^ b),
        BinaryOp::Shl => u32::try_from(b).ok().filter(|bits| *bits < 8).and_then(|bits| a.checked_shl(bits)),
        BinaryOp::Shr => u32::try_from(b).ok().filter(|bits| *bits < 8).and_then(|bits| a.checked_shr(bits)),
        BinaryOp::Eq => Some(u64::from(a == b)),
        BinaryOp::Ne => Some(u64::from(a != b)),
        BinaryOp::Lt => Some(u64::from(a < b)),
        BinaryOp::Le => Some(u64::from(a <= b)),
        BinaryOp::Gt => Some(u64::from(a > b)),
        BinaryOp::Ge => Some(u64::from(a >= b)),
    }
}
