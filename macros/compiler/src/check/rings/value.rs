//! The values of nodes, as one thread of a block computes them: an expression over the counters of its role, a symbol, or nothing
//! that is known.
//!
//! A variable that is set once to a value without counters is that value. Every other variable that is needed is a counter itself,
//! which the role's steps set where the kernel sets the variable.

use std::collections::BTreeSet;

use super::counters::{Counter, Counters};
use super::given::Arguments;
use super::kernel::{Kernel, Point};
use super::symbol::Symbol;
use crate::check::cfg::{BlockId, CountedLoop, Extent, Formula, NodeId, Source, Variable};
use crate::model::expr::BinaryOp;
use crate::model::group::Group;
use crate::model::query::{Answer, UniformAt};
use crate::rings::{Expr, Operator};

/// The longest chain of operands that is followed.
const DEPTH: u32 = 32;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// An expression over counters and the block's rank.
    Expr(Expr),
    /// A number that does not change, and that all threads of the scope share.
    Symbol(Symbol),
    Unknown,
}

impl Value {
    pub(super) fn constant(value: i64) -> Value {
        Value::Expr(Expr::constant(value))
    }

    pub(super) fn known(&self) -> Option<i64> {
        match self {
            Value::Expr(expr) => expr.known(),
            Value::Symbol(symbol) => symbol.known(),
            Value::Unknown => None,
        }
    }

    pub(super) fn expr(self) -> Option<Expr> {
        match self {
            Value::Expr(expr) => Some(expr),
            Value::Symbol(_) | Value::Unknown => None,
        }
    }

    /// The value as a symbol, unless it depends on counters or ranks.
    pub(super) fn symbol(&self) -> Option<Symbol> {
        match self {
            Value::Expr(expr) => expr.known().map(Symbol::constant),
            Value::Symbol(symbol) => Some(symbol.clone()),
            Value::Unknown => None,
        }
    }
}

/// Evaluates nodes for one thread.
#[derive(Clone, Copy)]
pub(super) struct Evaluator<'k, 'a, 'f> {
    pub(super) kernel: &'k Kernel<'a, 'f>,
    pub(super) counters: &'k Counters,
    pub(super) arguments: Option<&'k Arguments>,
    /// The thread's rank in its block.
    pub(super) thread: u32,
    /// The point where loops may have ended whose bounds are then the numbers of their iterations.
    pub(super) after: Option<Point>,
    /// Whether a variable that is set once stands for its value, also where that changes from round to round: two threads' values compare
    /// only so.
    pub(super) inlines: bool,
}

impl Evaluator<'_, '_, '_> {
    /// The counter that holds a variable's value, if the thread's steps depend on it.
    pub(super) fn counter(&self, variable: Variable) -> Option<u32> {
        self.counters.get(Counter::Variable(variable)).filter(|_| !self.is_lost(variable))
    }

    /// Notes that the thread sets a variable to what is not counted by rounds: what depends on it is unknown.
    pub(super) fn lose(&self, variable: Variable) {
        self.counters.lose(self.thread, variable);
    }

    fn is_lost(&self, variable: Variable) -> bool {
        self.counters.is_lost(self.thread, variable)
    }

    /// Returns what a node that is evaluated at or before a point holds there.
    pub(super) fn value(&self, node: NodeId, point: Point) -> Value {
        self.value_within(node, point, DEPTH)
    }

    /// Returns the value of a node where the thread's steps depend on it: as a function of counters, if it is one.
    pub(super) fn decisive(&self, node: NodeId, point: Point) -> Value {
        match self.value(node, point) {
            Value::Expr(expr) => Value::Expr(expr),
            other @ (Value::Symbol(_) | Value::Unknown) if self.arguments.is_some() => other,
            other @ (Value::Symbol(_) | Value::Unknown) => {
                match (Evaluator { after: Some(point), ..*self }).value(node, point) {
                    Value::Expr(expr) => Value::Expr(expr),
                    Value::Symbol(_) | Value::Unknown => other,
                }
            }
        }
    }

    /// The part of a condition that the thread's rank leaves open: `k + 1 < n` of `rank == 0 && k + 1 < n`, for the first thread.
    pub(super) fn open_part(&self, on: NodeId, point: Point) -> NodeId {
        let of = &self.kernel.cfg.nodes[on.0];
        let (Source::Binary(op @ (BinaryOp::And | BinaryOp::Or)), [left, right]) = (&of.source, &of.operands[..])
        else {
            return on;
        };
        let neutral = i64::from(*op == BinaryOp::And);
        let known = |node: &NodeId| self.value(*node, point).known();
        // The other part, or the one that decides alone.
        match (known(left), known(right)) {
            (Some(known), _) => self.open_part(if known == neutral { *right } else { *left }, point),
            (None, Some(known)) => self.open_part(if known == neutral { *left } else { *right }, point),
            (None, None) => on,
        }
    }

    pub(super) fn value_within(&self, node: NodeId, point: Point, depth: u32) -> Value {
        let value = match self.fixed_within(node, point, depth) {
            Value::Symbol(symbol) if symbol.known().is_none() => Value::Symbol(self.kernel.cast(node, symbol)),
            value @ (Value::Expr(_) | Value::Symbol(_) | Value::Unknown) => value,
        };
        match (&value, self.after) {
            (Value::Symbol(number), Some(after)) => self.counted_to(number, after).map_or(value, Value::Expr),
            (Value::Expr(_) | Value::Unknown, _) | (Value::Symbol(_), None) => value,
        }
    }

    /// The value, as a symbol also where a loop has ended that counts to it.
    fn fixed_within(&self, node: NodeId, point: Point, depth: u32) -> Value {
        let Some(depth) = depth.checked_sub(1) else { return Value::Unknown };
        let kernel = self.kernel;
        let of = &kernel.cfg.nodes[node.0];
        let operand = |index: usize| {
            let operand = of.operands.get(index);
            operand.map_or(Value::Unknown, |operand| self.value_within(*operand, point, depth))
        };
        if let Some(value) = self.position(node).or_else(|| self.given(node, |of| self.value_within(of, point, depth)))
        {
            return value;
        }
        let value = match &of.source {
            Source::Integer(number) => i64::try_from(*number).map_or(Value::Unknown, Value::constant),
            Source::Constant(value) => match kernel.constants.of(*value) {
                Some(value) => Value::constant(value),
                None => Value::Unknown,
            },
            Source::ThreadRank => Value::constant(i64::from(self.thread)),
            Source::Binary(op) | Source::Round(_, op) => self.uncut(node, self.operated(node, *op, operand)),
            Source::Not if kernel.is_boolean(of.operands[0]) => binary(BinaryOp::Sub, Value::constant(1), operand(0)),
            Source::Read(variable) => return self.variable(*variable, node, point, depth),
            // The loop's head adds to it.
            Source::Counter { of: variable, .. } => {
                return match self.first(*variable) {
                    Some(_) => Value::Expr(Expr::counter(self.counters.number(Counter::Variable(*variable)))),
                    None => Value::Unknown,
                };
            }
            Source::Call { .. } => match kernel.pipelines.stage_of(node) {
                Some(pipeline) => {
                    let called = kernel.evaluated(node).unwrap_or(point);
                    return match kernel.keeps_stage(pipeline, called, point) {
                        true => Value::Expr(Expr::counter(self.counters.number(Counter::Stage(pipeline)))),
                        false => Value::Unknown,
                    };
                }
                None => Value::Unknown,
            },
            Source::Operands => match kernel.cfg.formulas.get(&node) {
                Some(Formula::Length) => match kernel.cfg.listed(of.operands[0]) {
                    Some(elements) => i64::try_from(elements.len()).map_or(Value::Unknown, Value::constant),
                    None => Value::Unknown,
                },
                Some(Formula::Element) => {
                    let elements = kernel.cfg.listed(of.operands[0]).unwrap_or_default();
                    self.of_list(elements, || operand(1), |element| self.value_within(element, point, depth))
                }
                Some(formula @ (Formula::Pick | Formula::Replaced { .. })) => {
                    Self::of_array(*formula, of.operands.len(), operand)
                }
                // Their operands are not asked for, or they would be counted.
                Some(Formula::Negative | Formula::Array | Formula::GoesOn { .. }) => Value::Unknown,
                Some(Formula::RemEuclid) => self.euclidean(operand(0), operand(1)),
                Some(formula) => computed(*formula, operand(0), operand(1)),
                None if kernel.cfg.cuts.contains_key(&node) => self.cast(node, operand(0)),
                None if self.is_field_handed(&of.operands) => operand(0),
                None => self.of_option(node, operand),
            },
            Source::Known { .. } | Source::Load(_) | Source::Shuffled { .. } => {
                let handed = self.handed(node, |own| self.value_within(own, point, depth));
                handed.or_else(|| self.answer(node)).unwrap_or(Value::Unknown)
            }
            Source::Agreed { .. } => self.of_option(node, operand),
            Source::Param(_) | Source::Not => Value::Unknown,
        };
        if value == Value::Unknown { self.opaque(node) } else { value }
    }

    /// The result of an operation that keeps only the lower bits, if it is certain that they are all.
    pub(super) fn uncut(&self, node: NodeId, value: Value) -> Value {
        let Some(bits) = self.kernel.cfg.cuts.get(&node) else { return value };
        let fits = |number: i64| number >= 0 && (*bits >= 63 || number >> bits == 0);
        if value.known().is_some_and(fits) { value } else { Value::Unknown }
    }

    /// What queries of groups say of the thread and of the launch.
    fn position(&self, node: NodeId) -> Option<Value> {
        let kernel = self.kernel;
        if let Some((group, query)) = kernel.cfg.queries.get(&node) {
            match (group, query.answer) {
                (Group::ThreadBlock, Answer::ThreadCount) => return Some(Value::constant(i64::from(kernel.threads))),
                (Group::Cluster, Answer::BlockCount) => return Some(Value::constant(i64::from(kernel.blocks))),
                (Group::Cluster, Answer::BlockRank) if kernel.blocks == 1 => return Some(Value::constant(0)),
                (Group::Cluster, Answer::BlockRank) => return Some(Value::Expr(Expr::rank())),
                (Group::ThreadBlock | Group::Cluster | Group::Grid | Group::Tile | Group::Coalesced, _) => {}
            }
        }
        if let Some((extent, axis)) = kernel.cfg.axes.get(&node)
            && let Some((Group::Cluster, query)) = kernel.cfg.queries.get(&kernel.cfg.origin(*extent))
            && (query.answer, query.uniform_at) == (Answer::Extent, UniformAt::Block)
        {
            return kernel.block_index(*axis);
        }
        let position = kernel.cfg.positions.get(&node)?;
        let exact = position.offset == crate::check::cfg::Offset::Zero && position.rank_in.is_none();
        let rank = position.digit.of_rank(u64::from(self.thread)).filter(|_| exact)?;
        i64::try_from(rank).ok().map(Value::constant)
    }

    /// A value that nothing here explains: a symbol if it is computed once and all threads of the scope have the same.
    fn opaque(&self, node: NodeId) -> Value {
        let kernel = self.kernel;
        let once = kernel.evaluated(node).is_some_and(|(block, _)| !kernel.is_in_loop(block));
        let is_alike = || kernel.values.level(node).is_uniform(kernel.scope());
        // What a group says of itself stays the same, wherever a thread asks. A `Dim3` is no number.
        let query =
            kernel.cfg.queries.get(&node).filter(|(group, query)| {
                !group.is_of_a_warp() && !query.answer.is_extent() && self.arguments.is_none()
            });
        if let Some((group, query)) = query.filter(|_| is_alike()) {
            return Value::Symbol(Symbol::of(format!("{group:?} {}", query.name)));
        }
        match self.arguments.is_none() && once && is_alike() {
            true => Value::Symbol(Symbol::of(Symbol::name(node.0))),
            false => Value::Unknown,
        }
    }

    fn variable(&self, variable: Variable, read: NodeId, point: Point, depth: u32) -> Value {
        let kernel = self.kernel;
        if let Some(value) = kernel.cfg.only_value(variable) {
            let set = kernel.sets(variable).first().map_or(point, |(point, ..)| *point);
            let bound = || (Evaluator { after: None, ..*self }).value_within(value, set, depth);
            let is_bound = self.after.is_some() && matches!(bound(), Value::Symbol(_));
            let value = self.value_within(value, set, depth);
            let changes = !self.inlines && !is_bound && matches!(&value, Value::Expr(expr) if expr.has_counters());
            if !changes && value != Value::Unknown {
                return value;
            }
            if value == Value::Unknown {
                return Value::Unknown;
            }
        }
        let evaluated = kernel.evaluated(read).unwrap_or(point);
        if let Some((set, value)) = self.reached(variable, evaluated, depth) {
            return self.value_within(value, set, depth);
        }
        if matches!(variable, Variable::Field(..)) && kernel.sets(variable).is_empty()
            || kernel.may_be_set_between(variable, evaluated, point)
        {
            return Value::Unknown;
        }
        if self.arguments.is_none() && self.is_settled(variable, evaluated, depth) {
            return Value::Symbol(Symbol::of(format!("v{variable:?}")));
        }
        if self.is_lost(variable) {
            return Value::Unknown;
        }
        Value::Expr(Expr::counter(self.counters.number(Counter::Variable(variable))))
    }

    /// Whether a variable has its last value at a point, the same for all threads of the scope, and not a number that the text shows:
    /// `let rounds = if first < tiles { (tiles - first).div_ceil(stride) } else { 0 };`.
    fn is_settled(&self, variable: Variable, read: Point, depth: u32) -> bool {
        let kernel = self.kernel;
        let open = Evaluator { after: None, ..*self };
        let sets = kernel.sets(variable);
        let later = kernel.following(read.0);
        let is_alike = |block: BlockId| {
            let mut around = kernel.regions.iter().filter(|(_, (arms, _))| arms.contains(block));
            around.all(|(branch, _)| kernel.values.tested(*branch).is_uniform(kernel.scope()))
        };
        let is_last = |(point, _, extent): &(Point, NodeId, Extent)| {
            let is_later = later.contains(point.0) || point.0 == read.0 && point.1 > read.1;
            *extent == Extent::Whole && !kernel.is_in_loop(point.0) && !is_later && is_alike(point.0)
        };
        let symbol = |(point, value, _): &(Point, NodeId, Extent)| {
            let is_number = |node: NodeId| !kernel.is_boolean(node);
            is_number(*value).then(|| open.value_within(*value, *point, depth).symbol())?
        };
        let mut any = false;
        let all = !sets.is_empty() && sets.iter().all(is_last);
        all && sets.iter().all(|set| {
            symbol(set).is_some_and(|symbol| {
                any |= symbol.known().is_none();
                true
            })
        }) && any
    }

    /// Returns the first value of a loop's variable and the difference to the next, where they are known.
    pub(super) fn first(&self, variable: Variable) -> Option<(Expr, i64)> {
        let cfg = self.kernel.cfg;
        let by = self.kernel.sets(variable).iter().find_map(|(_, value, _)| {
            if let Source::Counter { of, by, .. } = cfg.nodes[value.0].source {
                (of == variable).then_some(by)
            } else {
                None
            }
        })?;
        let counted = self.kernel.loop_of(variable)?;
        let before = (counted.before, cfg.blocks[counted.before.0].steps.len());
        let step = counted.step.filter(|_| self.kernel.is_kept_by_body(variable));
        let by = by.or_else(|| self.value(step?, before).known())?;
        let first = match by {
            1.. => self.start(counted).expr()?,
            -1 => {
                let end = self.value(counted.end, before).expr()?;
                let last = i64::from(!counted.inclusive);
                match end.known() {
                    // A range without numbers has no first one.
                    Some(end) => Expr::constant((end - last).max(0)),
                    None => end.apply(Operator::Sub, Expr::constant(last)),
                }
            }
            _ => return None,
        };
        Some((first, by))
    }

    /// Returns the number of iterations of a loop over a range, if it is known.
    pub(super) fn trips(&self, counted: &CountedLoop) -> Option<i64> {
        let before = (counted.before, self.kernel.cfg.blocks[counted.before.0].steps.len());
        let step = || self.value(counted.step?, before).known();
        let by = counted.by.map(i64::abs).or_else(step).filter(|by| *by > 0)?;
        let length = self.length(counted.start, counted.end, before)? + i64::from(counted.inclusive);
        Some(length.max(0).checked_add(by - 1)? / by)
    }

    /// The difference between consecutive numbers of a loop over a range, as a number above 0.
    pub(super) fn stride(&self, counted: &CountedLoop, on: NodeId) -> Value {
        let cfg = self.kernel.cfg;
        let before = (counted.before, cfg.blocks[counted.before.0].steps.len());
        match (counted.by, cfg.nodes[on.0].operands.get(2)) {
            (Some(by), _) => Value::constant(by.abs()),
            (None, Some(step)) => self.value(*step, before),
            (None, None) => Value::Unknown,
        }
    }

    /// Returns the value that a step sets a variable to.
    pub(super) fn set(&self, variable: Variable, value: NodeId, point: Point) -> Value {
        let of = &self.kernel.cfg.nodes[value.0];
        if let (Source::Operands, true, Some((first, _))) = (&of.source, of.operands.is_empty(), self.first(variable)) {
            return Value::Expr(first);
        }
        match self.value(value, point) {
            // `step += steps;` behind a loop over `0..steps`.
            Value::Symbol(_) | Value::Unknown => self.decisive(value, point),
            of_counters @ Value::Expr(_) => of_counters,
        }
    }
}

/// The nodes whose values depend on which thread of the block computes them.
pub(super) fn differing(kernel: &Kernel<'_, '_>) -> BTreeSet<NodeId> {
    reached_from(kernel, |node| {
        matches!(kernel.cfg.nodes[node.0].source, Source::ThreadRank) || kernel.cfg.positions.contains_key(&node)
    })
}

/// The nodes whose values depend on some of these.
pub(super) fn reached_from(kernel: &Kernel<'_, '_>, by_itself: impl Fn(NodeId) -> bool) -> BTreeSet<NodeId> {
    let mut reached: BTreeSet<NodeId> = BTreeSet::new();
    let mut variables: BTreeSet<Variable> = BTreeSet::new();
    loop {
        let before = (reached.len(), variables.len());
        for (index, node) in kernel.cfg.nodes.iter().enumerate() {
            let is_set = |variable: Variable| {
                variables.contains(&variable) || variable.whole().is_some_and(|whole| variables.contains(&whole))
            };
            let of_variable = node.source.read().is_some_and(is_set);
            let of_operand = node.operands.iter().any(|operand| reached.contains(operand));
            if of_variable || of_operand || by_itself(NodeId(index)) {
                reached.insert(NodeId(index));
            }
        }
        for step in kernel.cfg.blocks.iter().flat_map(|block| &block.steps) {
            if let Some((variable, value, _)) = step.kind.set()
                && reached.contains(&value)
            {
                variables.insert(variable);
            }
        }
        if before == (reached.len(), variables.len()) {
            return reached;
        }
    }
}

/// The value of a known function.
pub(super) fn computed(formula: Formula, left: Value, right: Value) -> Value {
    let (Value::Expr(_), Value::Expr(_)) = (&left, &right) else { return Value::Unknown };
    let up = |left: Value, right: &Value| {
        let more = binary(BinaryOp::Sub, right.clone(), Value::constant(1));
        binary(BinaryOp::Div, binary(BinaryOp::Add, left, more), right.clone())
    };
    // One of two by whether they are in this order.
    let select = |if_less: Value, otherwise: Value| {
        let is_less = binary(BinaryOp::Lt, left.clone(), right.clone());
        let is_not = binary(BinaryOp::Sub, Value::constant(1), is_less.clone());
        let parts = (binary(BinaryOp::Mul, is_less, if_less), binary(BinaryOp::Mul, is_not, otherwise));
        binary(BinaryOp::Add, parts.0, parts.1)
    };
    match formula {
        Formula::DivCeil => up(left, &right),
        Formula::NextMultiple => binary(BinaryOp::Mul, up(left, &right), right),
        Formula::Min => select(left.clone(), right.clone()),
        Formula::Max => select(right.clone(), left.clone()),
        // Of natural numbers; that of others has no value.
        Formula::RemEuclid => binary(BinaryOp::Rem, left, right),
        Formula::Length
        | Formula::Negative
        | Formula::Array
        | Formula::Element
        | Formula::Pick
        | Formula::Replaced { .. }
        | Formula::GoesOn { .. } => Value::Unknown,
    }
}

pub(super) fn binary(op: BinaryOp, left: Value, right: Value) -> Value {
    let operator = match op {
        BinaryOp::Add => Operator::Add,
        BinaryOp::Sub => Operator::Sub,
        BinaryOp::Mul | BinaryOp::And => Operator::Mul,
        BinaryOp::Div => Operator::Div,
        BinaryOp::Rem => Operator::Rem,
        BinaryOp::BitAnd => Operator::And,
        BinaryOp::BitXor => Operator::Xor,
        BinaryOp::Eq => Operator::Eq,
        BinaryOp::Ne => Operator::Ne,
        BinaryOp::Lt => Operator::Lt,
        BinaryOp::Le => Operator::Le,
        BinaryOp::Gt => return binary(BinaryOp::Lt, right, left),
        BinaryOp::Ge => return binary(BinaryOp::Le, right, left),
        BinaryOp::Or => {
            let both = binary(BinaryOp::Mul, left.clone(), right.clone());
            return binary(BinaryOp::Sub, binary(BinaryOp::Add, left, right), both);
        }
        BinaryOp::Shl | BinaryOp::Shr => match (op, right.known()) {
            (BinaryOp::Shl, Some(bits @ 0..31)) => return binary(BinaryOp::Mul, left, Value::constant(1 << bits)),
            (_, Some(bits @ 0..31)) => return binary(BinaryOp::Div, left, Value::constant(1 << bits)),
            (_, Some(_)) => return Value::Unknown,
            (BinaryOp::Shl, None) => Operator::Shl,
            (_, None) => Operator::Shr,
        },
        BinaryOp::BitOr => {
            let both = binary(BinaryOp::BitAnd, left.clone(), right.clone());
            return binary(BinaryOp::Sub, binary(BinaryOp::Add, left, right), both);
        }
    };
    if let (Value::Expr(left), Value::Expr(right)) = (&left, &right) {
        if let (Some(one), Some(other)) = (left.known(), right.known()) {
            return operator.apply(one, other).map_or(Value::Unknown, Value::constant);
        }
        return Value::Expr(left.clone().apply(operator, right.clone()));
    }
    let (Some(one), Some(other)) = (left.symbol(), right.symbol()) else { return Value::Unknown };
    let sum = match (operator, one.known(), other.known()) {
        (Operator::Add, ..) => one.clone().plus(1, &other),
        (Operator::Sub, ..) => one.clone().plus(-1, &other),
        (Operator::Mul, Some(times), _) => Symbol::constant(0).plus(times, &other),
        (Operator::Mul, _, Some(times)) => Symbol::constant(0).plus(times, &one),
        _ => None,
    };
    Value::Symbol(sum.unwrap_or_else(|| Symbol::of(format!("({one} {operator:?} {other})"))))
}
