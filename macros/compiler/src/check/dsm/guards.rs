//! Guards: a branch on a comparison bounds the thread's rank, the block's rank in its cluster, and variables, on the paths
//! where the comparison holds. Only comparisons of two numbers are understood, not what `if` makes of
//! truth values that were joined.

use super::affine::{Affine, Change, Wraparound};
use super::index_value::{Form, IndexValue, Size};
use crate::check::cfg::{BasicBlock, BlockId, Cfg, End, NodeId, Source, Step, StepKind, ValueStep, Variable};
use crate::model::expr::BinaryOp;
use crate::model::group::Group;
use crate::model::query::Answer;

/// A value that bounds are known of, and that is the same wherever it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    /// The thread's rank in its block.
    ThreadRank,
    /// The block's rank in its cluster.
    BlockRank,
    /// The current value of a variable.
    Variable(Variable),
}

impl Subject {
    /// The value that a node is.
    pub(super) fn of(cfg: &Cfg<'_>, node: NodeId) -> Option<Subject> {
        let known = |node: NodeId| match &cfg.nodes[node.0].source {
            Source::ThreadRank => Some(Subject::ThreadRank),
            Source::Known { .. } => {
                let (group, query) = cfg.queries.get(&node)?;
                let is_rank = matches!((group, query.answer), (Group::Cluster, Answer::BlockRank));
                is_rank.then_some(Subject::BlockRank)
            }
            Source::Operands
            | Source::Integer(_)
            | Source::Constant(_)
            | Source::Binary(_)
            | Source::Not
            | Source::Counter { .. }
            | Source::Read(_)
            | Source::Param(_)
            | Source::Round(..)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => None,
        };
        known(cfg.origin(node)).or_else(|| cfg.nodes[node.0].source.read().map(Subject::Variable))
    }
}

/// A comparison that a block's end tests.
#[derive(Debug, Clone, Copy)]
pub(super) struct Comparison {
    left: NodeId,
    right: NodeId,
    op: Ordering,
    /// The block where control continues if it holds, and if it does not, as far as the branch tells.
    then: Option<BlockId>,
    otherwise: Option<BlockId>,
    /// The subjects that the operands are, if nothing changes them between the comparison and the branch.
    pub(super) subjects: [Option<Subject>; 2],
    /// The number `d`, if it tests whether `rank & d` or `rank % (2 * d)` is zero.
    bit: Option<NodeId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ordering {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

impl Ordering {
    fn of(op: BinaryOp) -> Option<Ordering> {
        match op {
            BinaryOp::Lt => Some(Ordering::Less),
            BinaryOp::Le => Some(Ordering::LessOrEqual),
            BinaryOp::Gt => Some(Ordering::Greater),
            BinaryOp::Ge => Some(Ordering::GreaterOrEqual),
            BinaryOp::Eq => Some(Ordering::Equal),
            BinaryOp::Ne => Some(Ordering::NotEqual),
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::And
            | BinaryOp::Or => None,
        }
    }

    /// The ordering that holds where this one does not.
    fn negated(self) -> Ordering {
        match self {
            Ordering::Less => Ordering::GreaterOrEqual,
            Ordering::LessOrEqual => Ordering::Greater,
            Ordering::Greater => Ordering::LessOrEqual,
            Ordering::GreaterOrEqual => Ordering::Less,
            Ordering::Equal => Ordering::NotEqual,
            Ordering::NotEqual => Ordering::Equal,
        }
    }

    /// The ordering of the operands in the other order.
    fn turned(self) -> Ordering {
        match self {
            Ordering::Less => Ordering::Greater,
            Ordering::LessOrEqual => Ordering::GreaterOrEqual,
            Ordering::Greater => Ordering::Less,
            Ordering::GreaterOrEqual => Ordering::LessOrEqual,
            Ordering::Equal | Ordering::NotEqual => self,
        }
    }
}

impl Comparison {
    /// The comparisons that decide where control continues after a block.
    pub(super) fn of_block(cfg: &Cfg<'_>, block: &BasicBlock) -> Vec<Comparison> {
        let End::Branch { on, then, otherwise } = block.end else { return Vec::new() };
        let mut comparisons = Vec::new();
        let mut conditions = vec![(on, Some(then), Some(otherwise))];
        while let Some((on, then, otherwise)) = conditions.pop() {
            let on = cfg.origin(on);
            let node = &cfg.nodes[on.0];
            match (&node.source, &node.operands[..]) {
                // An operator on what a cast has cut off says nothing of what was cast.
                _ if cfg.cuts.contains_key(&on) => {}
                (Source::Not, [negated]) => conditions.push((*negated, otherwise, then)),
                (Source::Binary(BinaryOp::And), [a, b]) => {
                    conditions.extend([(*a, then, None), (*b, then, None)]);
                }
                (Source::Binary(BinaryOp::Or), [a, b]) => {
                    conditions.extend([(*a, None, otherwise), (*b, None, otherwise)]);
                }
                (Source::Binary(op) | Source::Round(_, op), [left, right]) => {
                    let Some(op) = Ordering::of(*op) else { continue };
                    let subject =
                        |operand| Subject::of(cfg, operand).filter(|subject| subject.is_unchanged(cfg, operand, block));
                    comparisons.push(Comparison {
                        left: *left,
                        right: *right,
                        op,
                        then,
                        otherwise,
                        subjects: [subject(*left), subject(*right)],
                        bit: bit_of_rank(cfg, *left).filter(|_| cfg.nodes[right.0].source.integer() == Some(0)),
                    });
                }
                _ => {}
            }
        }
        comparisons
    }

    /// The values that it depends on.
    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        [Some(self.left), Some(self.right), self.bit].into_iter().flatten()
    }

    /// Whether an operand is the block's rank, or is computed from it and something else.
    fn compares_block_ranks(&self, cfg: &Cfg<'_>) -> bool {
        let is_rank = |node: NodeId| Subject::of(cfg, node) == Some(Subject::BlockRank);
        [self.left, self.right].into_iter().any(|operand| {
            let operands = &cfg.nodes[cfg.origin(operand).0].operands;
            is_rank(operand) || operands.iter().any(|operand| is_rank(*operand))
        })
    }

    /// Whether it tells something of a value that `matters`.
    pub(super) fn matters(&self, cfg: &Cfg<'_>, matters: impl Fn(Variable) -> bool) -> bool {
        let about = |subject: Option<Subject>, limit: NodeId| match subject {
            Some(Subject::Variable(variable)) => matters(variable) && may_be_number(cfg, limit),
            Some(Subject::ThreadRank) => may_be_number(cfg, limit),
            Some(Subject::BlockRank) => true,
            None => false,
        };
        let [left, right] = self.subjects;
        about(left, self.right) || about(right, self.left) || self.bit.is_some() || self.compares_block_ranks(cfg)
    }

    /// Whether it may bound the block's rank by what a variable holds.
    pub(super) fn bounds_block_rank(&self, cfg: &Cfg<'_>) -> bool {
        let is_literal = |node: NodeId| cfg.nodes[node.0].source.integer().is_some();
        self.bit.is_some() || self.compares_block_ranks(cfg) && !is_literal(self.left) && !is_literal(self.right)
    }

    /// Calls `learn` with each bound that holds on the edge to a block.
    pub(super) fn learn(
        &self,
        to: BlockId,
        blocks: Option<u64>,
        value: impl Fn(NodeId) -> IndexValue,
        mut learn: impl FnMut(Fact),
    ) {
        let op = match (Some(to) == self.then, Some(to) == self.otherwise) {
            (true, false) => self.op,
            (false, true) => self.op.negated(),
            (true, true) | (false, false) => return,
        };
        let (left, right) = (value(self.left), value(self.right));
        if let (Some(bit), Ordering::Equal) = (self.bit, op) {
            learn(Fact::Ranks(Box::new(RankBounds { clear: value(bit).affine(), ..RankBounds::default() })));
        }
        for (subject, value, op, limit) in
            [(self.subjects[0], left, op, right), (self.subjects[1], right, op.turned(), left)]
        {
            let bounds = Bounds::of(op, &value, &limit);
            if let Some(subject) = subject.filter(|_| bounds != Bounds::default()) {
                learn(Fact::Bounds(subject, bounds));
            }
            let congruent = || RankBounds::congruent(op, &value, &limit, blocks);
            if let Some(ranks) = RankBounds::of(op, &value, &limit, blocks).or_else(congruent) {
                learn(Fact::Ranks(Box::new(ranks)));
            }
        }
    }
}

/// Whether a value may be known as a number: it is made of literals, constants, ranks and numbers of threads and blocks. Others are
/// bounded by nothing.
fn may_be_number(cfg: &Cfg<'_>, node: NodeId) -> bool {
    let origin = cfg.origin(node);
    let node = &cfg.nodes[origin.0];
    match &node.source {
        Source::Integer(_) | Source::Constant(_) | Source::ThreadRank => true,
        Source::Known { .. } => cfg.queries.contains_key(&origin),
        Source::Binary(_) | Source::Round(..) => node.operands.iter().all(|operand| may_be_number(cfg, *operand)),
        Source::Operands
        | Source::Not
        | Source::Counter { .. }
        | Source::Read(_)
        | Source::Param(_)
        | Source::Load(_)
        | Source::Agreed { .. }
        | Source::Shuffled { .. }
        | Source::Call { .. } => false,
    }
}

/// The number `d` of `rank & d` and of `rank % (2 * d)`.
fn bit_of_rank(cfg: &Cfg<'_>, node: NodeId) -> Option<NodeId> {
    let node = &cfg.nodes[cfg.origin(node).0];
    let is_rank = |node: NodeId| Subject::of(cfg, node) == Some(Subject::BlockRank);
    let is = |node: NodeId, number: u64| cfg.nodes[node.0].source.integer() == Some(number);
    match (&node.source, &node.operands[..]) {
        (Source::Binary(BinaryOp::BitAnd), [a, b]) if is_rank(*a) => Some(*b),
        (Source::Binary(BinaryOp::BitAnd), [a, b]) if is_rank(*b) => Some(*a),
        (Source::Binary(BinaryOp::Rem), [a, b]) if is_rank(*a) => {
            let node = &cfg.nodes[cfg.origin(*b).0];
            match (&node.source, &node.operands[..]) {
                (Source::Binary(BinaryOp::Mul), [two, d]) if is(*two, 2) => Some(*d),
                (Source::Binary(BinaryOp::Mul), [d, two]) if is(*two, 2) => Some(*d),
                (Source::Binary(BinaryOp::Shl), [d, one]) if is(*one, 1) => Some(*d),
                _ => None,
            }
        }
        _ => None,
    }
}

impl Subject {
    /// Whether the operand's value is still what the subject is at the end of the block.
    fn is_unchanged(self, cfg: &Cfg<'_>, operand: NodeId, block: &BasicBlock) -> bool {
        let Subject::Variable(variable) = self else { return true };
        if cfg.only_value(variable).is_some() {
            return true;
        }
        let steps = &block.steps;
        let read = |step: &Step| matches!(step.kind, StepKind::Value(ValueStep::Evaluate(node)) if node == operand);
        let Some(read) = steps.iter().rposition(read) else { return false };
        let changes = |step: &Step| {
            let sets =
                |set: Variable| set == variable || variable.whole() == Some(set) || set.whole() == Some(variable);
            step.kind.set().is_some_and(|(set, ..)| sets(set))
        };
        !steps[read..].iter().any(changes)
    }
}

/// Something that holds on an edge.
pub(super) enum Fact {
    Bounds(Subject, Bounds),
    Ranks(Box<RankBounds>),
}

/// Bounds of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Bounds {
    /// The inclusive lower bound.
    lower: Option<u64>,
    /// The exclusive upper bound, if the number is not negative.
    upper: Option<Size>,
}

impl Bounds {
    /// The bounds of a value that compares with the limit in this way.
    fn of(op: Ordering, value: &IndexValue, limit: &IndexValue) -> Bounds {
        let after = limit.plus(&IndexValue::literal(1));
        match op {
            Ordering::Less => Bounds { lower: None, upper: limit.as_upper_bound() },
            Ordering::LessOrEqual => Bounds { lower: None, upper: after.as_upper_bound() },
            Ordering::Greater => Bounds { lower: limit.lower.and_then(|lower| lower.checked_add(1)), upper: None },
            Ordering::GreaterOrEqual => Bounds { lower: limit.lower, upper: None },
            Ordering::Equal => Bounds { lower: limit.lower, upper: after.as_upper_bound() },
            // The first of the possible values is excluded, or the last one.
            Ordering::NotEqual => {
                let limit = limit.number().and_then(|number| u64::try_from(number).ok());
                let lower = limit.filter(|limit| value.lower == Some(*limit)).and_then(|limit| limit.checked_add(1));
                let is_last = |limit: &u64| value.upper == limit.checked_add(1).map(Size::Number);
                Bounds { lower, upper: limit.filter(is_last).map(Size::Number) }
            }
        }
    }

    /// Adds what other bounds say.
    pub(super) fn narrow(&mut self, other: Bounds) {
        self.lower = self.lower.max(other.lower);
        self.upper = match (self.upper, other.upper) {
            (Some(Size::Number(a)), Some(Size::Number(b))) => Some(Size::Number(a.min(b))),
            (known @ Some(Size::Number(_)), _) => known,
            (known, new) => new.or(known),
        };
    }

    /// The value within these bounds.
    pub(super) fn apply(self, value: IndexValue) -> IndexValue {
        let mut bounds = Bounds { lower: value.lower, upper: value.upper };
        bounds.narrow(self);
        // A number of which only an upper bound is known may be negative.
        let upper = bounds.upper.filter(|_| bounds.lower.is_some());
        IndexValue { lower: bounds.lower, upper: upper.or(value.upper), ..value }
    }
}

/// Bounds of the rank of the block that executes a step, in terms of what variables hold now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct RankBounds {
    /// The inclusive lower bound.
    lower: Option<Affine>,
    /// The exclusive upper bound.
    upper: Option<Affine>,
    /// A number `d` for which `rank & d` or `rank % (2 * d)` is zero, so that neither is of `rank + d`.
    clear: Option<Affine>,
    /// A value that the rank is equal to modulo what that is known modulo: of `rank == k % 2`, that of `k`.
    congruent: Option<Affine>,
}

impl RankBounds {
    /// Finds the value that the rank is equal to modulo a number, if it is the rank that compares with the limit in this way.
    fn congruent(op: Ordering, value: &IndexValue, limit: &IndexValue, blocks: Option<u64>) -> Option<RankBounds> {
        value.affine().filter(|value| *value == Affine::RANK)?;
        let of = limit
            .affine()
            .filter(|limit| limit.rank == 0 && limit.modulus > 1 && limit.cycle.is_none() && !limit.may_wrap())?;
        let congruent = match op {
            Ordering::Equal => of,
            // There is one other number.
            Ordering::NotEqual if of.modulus == 2 && blocks == Some(2) && limit.is_below(Size::Number(2)) => {
                of.plus(Affine::of_number(1))?
            }
            Ordering::NotEqual
            | Ordering::Less
            | Ordering::LessOrEqual
            | Ordering::Greater
            | Ordering::GreaterOrEqual => return None,
        };
        Some(RankBounds { congruent: Some(congruent), ..RankBounds::default() })
    }

    /// Whether the owner's rank and a peer's, which are two, would be one.
    fn are_one(&self, peers: &RankBounds, blocks: Option<u32>) -> bool {
        let between = self.congruent.zip(peers.congruent).and_then(|(own, peers)| own.minus(peers));
        between.is_some_and(|between| {
            let is_zero = between.factor == 0 && between.constant.is_none() && between.blocks == 0;
            let by = i64::from(between.modulus);
            is_zero
                && i64::from(between.offset) % by.max(1) == 0
                && blocks.is_some_and(|blocks| i64::from(blocks) <= by)
        })
    }

    /// The bounds of the rank, if the value is the rank plus something, and compares with the limit in this way.
    fn of(op: Ordering, value: &IndexValue, limit: &IndexValue, blocks: Option<u64>) -> Option<RankBounds> {
        let value = value
            .affine()
            .filter(|value| value.rank == 1 && value.modulus == 0 && value.cycle.is_none() && !value.may_wrap())?;
        let limit = limit.affine().filter(|limit| limit.is_exact() && !limit.may_wrap())?;
        let limit = limit.minus(Affine { rank: 0, ..value })?;
        let after = limit.plus(Affine::of_number(1));
        let bounds = |lower, upper| RankBounds { lower, upper, ..RankBounds::default() };
        let is_last = after
            .and_then(Affine::number)
            .is_some_and(|after| blocks.is_some_and(|blocks| i64::try_from(blocks) == Ok(i64::from(after))));
        match op {
            Ordering::Less => Some(bounds(None, Some(limit))),
            Ordering::LessOrEqual => Some(bounds(None, after)),
            Ordering::Greater => Some(bounds(after, None)),
            Ordering::GreaterOrEqual => Some(bounds(Some(limit), None)),
            Ordering::Equal => Some(bounds(Some(limit), after)),
            Ordering::NotEqual if limit.number() == Some(0) => Some(bounds(after, None)),
            Ordering::NotEqual => limit.number().filter(|_| is_last).map(|_| bounds(None, Some(limit))),
        }
    }

    /// Adds what other bounds say. Of two bounds that cannot be compared, the later one stays.
    pub(super) fn narrow(&mut self, other: RankBounds) {
        let stays = |known: Affine, new: Affine, sign: i32| {
            known.minus(new).and_then(Affine::number).is_some_and(|difference| difference.signum() * sign >= 0)
        };
        if let Some(new) = other.lower {
            self.lower = Some(self.lower.filter(|known| stays(*known, new, 1)).unwrap_or(new));
        }
        if let Some(new) = other.upper {
            self.upper = Some(self.upper.filter(|known| stays(*known, new, -1)).unwrap_or(new));
        }
        self.clear = other.clear.or(self.clear);
        self.congruent = other.congruent.or(self.congruent);
    }

    /// Keeps the bounds that are equal in both; says whether any was dropped.
    pub(super) fn join(&mut self, other: &RankBounds) -> bool {
        let before = *self;
        self.lower = self.lower.filter(|lower| other.lower == Some(*lower));
        self.upper = self.upper.filter(|upper| other.upper == Some(*upper));
        self.clear = self.clear.filter(|clear| other.clear == Some(*clear));
        self.congruent = self.congruent.filter(|congruent| other.congruent == Some(*congruent));
        before != *self
    }

    /// States the bounds in terms of what the variable holds after the change.
    pub(super) fn rewrite(&mut self, variable: Variable, change: Change) {
        for bound in [&mut self.lower, &mut self.upper, &mut self.clear, &mut self.congruent] {
            if let Some(affine) = bound
                && affine.depends_on(variable)
            {
                *bound = affine.rewritten(variable, change);
            }
        }
    }

    /// Whether the owner's rank within these bounds is never the rank that a peer, within the others, maps.
    pub(super) fn excludes(&self, mapped: Option<Affine>, peers: &RankBounds, blocks: Option<u32>) -> bool {
        if self.are_one(peers, blocks) {
            return true;
        }
        let Some(mapped) = mapped else { return false };
        if let (Some(own), Some(peers)) = (self.clear, peers.clear)
            && own == peers
            && own.is_exact()
            && !own.may_wrap()
            && Affine::RANK.plus(own) == Some(mapped)
        {
            return true;
        }
        let Some((lower, upper)) = peers.image(mapped) else { return false };
        let is_before = |end: Option<Affine>, start: Option<Affine>| {
            let difference = end.zip(start).and_then(|(end, start)| end.minus(start)?.number());
            difference.is_some_and(|difference| difference <= 0)
        };
        let first = self.lower.or(Some(Affine::of_number(0)));
        is_before(self.upper, lower) || is_before(upper, first)
    }

    /// Whether a block of this rank may be within these bounds; `at` says what a bound is there.
    pub(super) fn admits(&self, rank: u32, at: impl Fn(IndexValue) -> IndexValue) -> bool {
        let number = |bound: Option<Affine>| at(IndexValue::from(Form::Affine(bound?))).number().map(i64::from);
        let rank = i64::from(rank);
        number(self.lower).is_none_or(|lower| lower <= rank) && number(self.upper).is_none_or(|upper| rank < upper)
    }

    /// Bounds of the value that is affine in a rank within these bounds.
    fn image(&self, value: Affine) -> Option<(Option<Affine>, Option<Affine>)> {
        if value.modulus != 0 || value.cycle.is_some() {
            return None;
        }
        let rest = Affine { rank: 0, wraparound: Wraparound::No, ..value };
        let (first, end) = (self.lower.or(Some(Affine::of_number(0))), self.upper);
        let (lower, upper) = match value.rank {
            0 => (Some(rest), rest.plus(Affine::of_number(1))),
            1 => (first.and_then(|first| rest.plus(first)), end.and_then(|end| rest.plus(end))),
            -1 => (
                end.and_then(|end| rest.minus(end)?.plus(Affine::of_number(1))),
                first.and_then(|first| rest.minus(first)?.plus(Affine::of_number(1))),
            ),
            _ => return None,
        };
        // A difference that goes below zero is a very large number.
        let is_positive = lower.and_then(Affine::lower_bound).is_some_and(|least| least >= 0);
        (!value.may_wrap() || is_positive).then_some((lower, upper))
    }
}
