//! Comparisons of variables that are set several times: `if j >= near { .. } .. if j >= near { .. }` in one iteration of a loop, and, over several,
//! `if j / 2 >= near { .. } .. j /= 2 .. if j >= near { .. }`. What a comparison says after a variable is set is what another one, of the value that
//! it is set to, said before (a weakest precondition). A variable that is tested itself, `let far = x[k] > near; if far { .. } .. if far { .. }`,
//! is such a comparison. `branch_correlation` follows them.
//!
//! Not done here: arithmetic, but that `x * c / c` is at most `x` for unsigned numbers, whether they wrap around or not.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::uniformity::Uniformity;

use super::bit_set::BitSet;
use super::cfg::{BlockId, ByVariable, Cfg, End, Extent, NodeId, Source, Step, StepKind, ValueStep, Variable};
use super::fixed::{FixedValues, MAX_DEPTH};
use super::thresholds::without_negation;
use super::uniform::control::following_until;
use super::uniform::values::Values;
use crate::model::expr::BinaryOp;
use crate::model::{Function, Param};

/// The most comparisons that are followed, and the most that are looked at.
const MOST: (usize, usize) = (6, 24);

/// The most variables that are set between two comparisons.
const STEPS: usize = 3;

/// The most operators and operands of a comparison.
const LARGEST: usize = 12;

/// A value at a point, by what it is made of. Two with the same term are equal if none of its variables is set in between.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Term {
    Fixed(String),
    Variable(Variable),
    Binary(BinaryOp, Box<Term>, Box<Term>),
}

impl Term {
    fn size(&self) -> usize {
        match self {
            Term::Fixed(_) | Term::Variable(_) => 1,
            Term::Binary(_, left, right) => 1 + left.size() + right.size(),
        }
    }

    fn mentions(&self, variable: Variable) -> bool {
        match self {
            Term::Fixed(_) => false,
            Term::Variable(of) => *of == variable,
            Term::Binary(_, left, right) => left.mentions(variable) || right.mentions(variable),
        }
    }

    fn each_variable(&self, visit: &mut impl FnMut(Variable)) {
        match self {
            Term::Fixed(_) => {}
            Term::Variable(of) => visit(*of),
            Term::Binary(_, left, right) => {
                left.each_variable(visit);
                right.each_variable(visit);
            }
        }
    }

    /// The term with another one in the place of a variable.
    fn with(&self, variable: Variable, value: &Term) -> Term {
        match self {
            Term::Variable(of) if *of == variable => value.clone(),
            Term::Fixed(_) | Term::Variable(_) => self.clone(),
            Term::Binary(op, left, right) => {
                Term::Binary(*op, Box::new(left.with(variable, value)), Box::new(right.with(variable, value)))
            }
        }
    }
}

/// The answer of a comparison after a step, by that of one before it: the number of that one, and the only answer that carries over, if not both do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Carried {
    before: usize,
    only: Option<bool>,
}

/// A condition that several comparisons make up: `a || b`, or `a && b`.
#[derive(Debug)]
struct Joined {
    /// The answer of one part that decides the whole: that it holds, of `||`.
    deciding: bool,
    /// Whether the `then` edge means that the whole holds.
    then: bool,
    /// The comparisons, each with whether the part holds if it does.
    parts: Vec<(usize, bool)>,
}

/// A step that sets a variable to a value.
type Setting = (Variable, NodeId);

/// The comparisons that are followed, by their numbers.
#[derive(Default)]
pub(super) struct Moving {
    /// The comparison at the end of each block, and whether its `then` edge means that it holds.
    pub(super) tests: BTreeMap<BlockId, (usize, bool)>,
    joined: BTreeMap<BlockId, Joined>,
    carried: BTreeMap<(Setting, usize), Carried>,
    /// The comparisons that each variable is a part of.
    with: ByVariable<Vec<usize>>,
}

impl Moving {
    /// The comparisons that branches among these make, as far as one may tell another.
    pub(super) fn of(values: &Values<'_, '_>, fixed: &FixedValues<'_, '_>, ends: &[(BlockId, &End)]) -> Moving {
        let (function, cfg) = (values.function(), values.cfg);
        let terms = Terms { cfg, fixed, whole: set_together(values), evaluated: evaluated(cfg) };
        let mut all: Vec<Term> = Vec::new();
        let mut tests: BTreeMap<BlockId, (usize, bool)> = BTreeMap::new();
        let mut joined: BTreeMap<BlockId, Joined> = BTreeMap::new();
        for (block, end) in ends {
            let End::Branch { on, .. } = end else { continue };
            let (condition, holds) = without_negation(cfg, *on);
            if let Source::Binary(op @ (BinaryOp::Or | BinaryOp::And)) = cfg.nodes[condition.0].source {
                let mut parts = Vec::new();
                terms.parts(op, condition, *block, &mut parts);
                let parts = parts.into_iter().map(|(term, holds)| (number(&mut all, term), holds)).collect();
                joined.insert(*block, Joined { deciding: op == BinaryOp::Or, then: holds, parts });
            } else if let Some(term) = terms.comparison(condition, *block) {
                tests.insert(*block, (number(&mut all, term), holds));
            }
        }
        let tested = all.len();
        if tests.len() + joined.len() < 2 || tested > MOST.1 {
            return Moving::default();
        }
        let settings = terms.settings();
        let unsigned = OnceCell::new();
        let is_unsigned = |variable| unsigned.get_or_init(|| unsigned_variables(function, cfg)).contains(&variable);
        let mut carried: BTreeMap<(Setting, usize), Carried> = BTreeMap::new();
        let mut from = 0;
        for _ in 0..STEPS {
            let to = all.len();
            for after in from..to {
                for ((variable, node), value) in &settings {
                    if !all[after].mentions(*variable) {
                        continue;
                    }
                    let (term, only) = simplified(all[after].with(*variable, value), is_unsigned);
                    if term.size() <= LARGEST && (all.len() < MOST.1 || all.contains(&term)) {
                        let before = number(&mut all, term);
                        carried.insert(((*variable, *node), after), Carried { before, only });
                    }
                }
            }
            from = to;
        }
        let mut with: ByVariable<Vec<usize>> = ByVariable::default();
        for (number, term) in all.iter().enumerate() {
            term.each_variable(&mut |variable| {
                let numbers = with.get_or_insert(variable, Vec::new());
                if numbers.last() != Some(&number) {
                    numbers.push(number);
                }
            });
        }
        let mut moving = Moving { tests, joined, carried, with };
        moving.keep_useful(tested);
        if moving.followed().len() > MOST.0 { Moving::default() } else { moving }
    }

    /// Keeps what leads from one of the comparisons that branches make, which come first, to one of them.
    fn keep_useful(&mut self, tested: usize) {
        let mut known: BTreeSet<usize> = (0..tested).collect();
        let mut asked = known.clone();
        loop {
            let before = (known.len(), asked.len());
            for ((_, after), Carried { before, .. }) in &self.carried {
                if known.contains(before) {
                    known.insert(*after);
                }
                if asked.contains(after) {
                    asked.insert(*before);
                }
            }
            if before == (known.len(), asked.len()) {
                break;
            }
        }
        self.carried.retain(|(_, after), Carried { before, .. }| asked.contains(after) && known.contains(before));
        let linked: BTreeSet<usize> =
            self.carried.iter().flat_map(|((_, after), carried)| [*after, carried.before]).collect();
        let parts = self.joined.values().flat_map(|joined| &joined.parts);
        let tests: Vec<usize> = self.tests.values().chain(parts).map(|(number, _)| *number).collect();
        let is_again = |number: &usize| tests.iter().filter(|other| *other == number).count() > 1;
        let is_useful = |number: &usize| linked.contains(number) || is_again(number);
        self.tests.retain(|_, (number, _)| is_useful(number));
        self.joined.retain(|_, joined| joined.parts.iter().any(|(number, _)| is_useful(number)));
    }

    /// The numbers of the comparisons that are followed.
    pub(super) fn followed(&self) -> BTreeSet<usize> {
        let linked = self.carried.iter().flat_map(|((_, after), carried)| [*after, carried.before]);
        let parts = self.joined.values().flat_map(|joined| &joined.parts);
        linked.chain(self.tests.values().chain(parts).map(|(number, _)| *number)).collect()
    }

    /// The comparisons that the end of a block asks for as parts of a condition.
    pub(super) fn parts(&self, block: BlockId) -> impl Iterator<Item = usize> {
        self.joined.get(&block).into_iter().flat_map(|joined| &joined.parts).map(|(number, _)| *number)
    }

    /// Whether the edge at the end of a block is taken where its test holds, as far as its parts say so.
    pub(super) fn decided(&self, block: BlockId, known: impl Fn(usize) -> Option<bool>) -> Option<bool> {
        let Joined { deciding, then, parts } = self.joined.get(&block)?;
        let parts: Vec<Option<bool>> =
            parts.iter().map(|(number, holds)| known(*number).map(|answer| answer == *holds)).collect();
        let whole = match parts.contains(&Some(*deciding)) {
            true => *deciding,
            false => parts.iter().all(Option::is_some).then_some(!deciding)?,
        };
        Some(whole == *then)
    }

    /// Returns the answers of the parts of a block's test that follow from the edge that is taken at its end.
    pub(super) fn learned(&self, block: BlockId, edge: bool) -> Vec<(usize, bool)> {
        let Some(Joined { deciding, then, parts }) = self.joined.get(&block) else { return Vec::new() };
        // Each part is then the other way.
        let is_known = (edge == *then) != *deciding;
        parts.iter().filter(|_| is_known).map(|(number, holds)| (*number, *holds != *deciding)).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tests.is_empty() && self.joined.is_empty()
    }

    /// The comparisons that a variable is a part of, after a step that sets it: each with what is known of it, by what was known before.
    pub(super) fn set(
        &self,
        (variable, value, extent): (Variable, NodeId, Extent),
        known: impl Fn(usize) -> Option<bool>,
    ) -> Vec<(usize, Option<bool>)> {
        let told = |after: usize| {
            let Carried { before, only } =
                self.carried.get(&((variable, value), after)).filter(|_| extent == Extent::Whole)?;
            known(*before).filter(|answer| only.is_none_or(|only| only == *answer))
        };
        self.with(variable).map(|number| (number, told(number))).collect()
    }

    /// The comparison before a step that one after it depends on.
    pub(super) fn before(&self, setting: Setting, after: usize) -> Option<usize> {
        self.carried.get(&(setting, after)).map(|carried| carried.before)
    }

    /// The comparisons that a variable is a part of.
    pub(super) fn with(&self, variable: Variable) -> impl Iterator<Item = usize> {
        self.with.get(variable).into_iter().flatten().copied()
    }
}

fn number(all: &mut Vec<Term>, term: Term) -> usize {
    all.iter().position(|known| *known == term).unwrap_or_else(|| {
        all.push(term);
        all.len() - 1
    })
}

fn compares(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge)
}

/// A comparison of `x` in the place of one of `x * c / c`, and the answer that is the same for both.
fn simplified(term: Term, is_unsigned: impl Fn(Variable) -> bool) -> (Term, Option<bool>) {
    let inner = |term: &Term| {
        let Term::Binary(outer, of, by) = term else { return None };
        let Term::Binary(inner, of, times) = &**of else { return None };
        let (Term::Variable(variable), true) = (&**of, by == times) else { return None };
        let is_inverse = matches!((outer, inner), (BinaryOp::Div, BinaryOp::Mul) | (BinaryOp::Shr, BinaryOp::Shl));
        (is_inverse && matches!(**by, Term::Fixed(_)) && is_unsigned(*variable)).then(|| (**of).clone())
    };
    let Term::Binary(op, left, right) = &term else { return (term, None) };
    // It is less where the product has wrapped around.
    let only = matches!(op, BinaryOp::Lt | BinaryOp::Le);
    if !only && !matches!(op, BinaryOp::Ge | BinaryOp::Gt) {
        return (term, None);
    }
    match inner(left) {
        Some(of) => (Term::Binary(*op, Box::new(of), right.clone()), Some(only)),
        None => (term, None),
    }
}

/// The variables that are only set as a whole, by all threads of the cluster or none: what is known of them is then known of all threads alike.
fn set_together(values: &Values<'_, '_>) -> BTreeSet<Variable> {
    let mut together = BTreeSet::new();
    let mut others = BTreeSet::new();
    for (block, content) in (0..).map(BlockId).zip(&values.cfg.blocks) {
        let is_reached = OnceCell::new();
        for step in &content.steps {
            let Some((variable, _, extent)) = step.kind.set() else { continue };
            let is_whole = matches!((variable, extent), (Variable::Local(_), Extent::Whole));
            if is_whole && *is_reached.get_or_init(|| values.is_reached_uniformly(block, Uniformity::Cluster)) {
                together.insert(variable);
            } else {
                others.extend([Some(variable), variable.whole()].into_iter().flatten());
            }
        }
    }
    &together - &others
}

/// Makes terms of values.
struct Terms<'a, 'f> {
    cfg: &'a Cfg<'f>,
    fixed: &'a FixedValues<'a, 'f>,
    whole: BTreeSet<Variable>,
    evaluated: Vec<Evaluated>,
}

/// Where a node is evaluated.
#[derive(Clone, Copy)]
enum Evaluated {
    Nowhere,
    /// At this step of this block, and in no other block.
    At(BlockId, usize),
    InSeveralBlocks,
}

/// Where each node is evaluated.
fn evaluated(cfg: &Cfg<'_>) -> Vec<Evaluated> {
    let mut evaluated = vec![Evaluated::Nowhere; cfg.nodes.len()];
    for (number, block) in cfg.blocks.iter().enumerate() {
        for (at, step) in block.steps.iter().enumerate() {
            if let StepKind::Value(ValueStep::Evaluate(node)) = step.kind {
                let known = &mut evaluated[node.0];
                *known = match *known {
                    Evaluated::Nowhere => Evaluated::At(BlockId(number), at),
                    Evaluated::At(block, _) if block.0 == number => *known,
                    Evaluated::At(..) | Evaluated::InSeveralBlocks => Evaluated::InSeveralBlocks,
                };
            }
        }
    }
    evaluated
}

impl Terms<'_, '_> {
    /// The comparison of variables, or the variable, that a value is at the end of a block.
    fn comparison(&self, node: NodeId, block: BlockId) -> Option<Term> {
        let Evaluated::At(from, at) = self.evaluated[node.0] else { return None };
        let term = self.at(node, (from, at + 1), MAX_DEPTH)?;
        let is_followed = self.whole.iter().any(|variable| term.mentions(*variable));
        // A variable that is a condition itself is one of `true` and `false`.
        let is_comparison = match term {
            Term::Binary(op, ..) => compares(op),
            Term::Variable(_) => true,
            Term::Fixed(_) => false,
        };
        let is_set = |step: &Step| step.kind.set().is_some_and(|(of, ..)| term.mentions(of));
        let steps = |of: BlockId| &self.cfg.blocks[of.0].steps[..];
        let between = (from != block).then(|| following_until(self.cfg, from, block));
        let mut later = steps(from)[at..].iter().chain(between.iter().flat_map(|_| steps(block)));
        let is_kept = !later.any(is_set)
            && !between.iter().any(|all| {
                (0..self.cfg.blocks.len()).map(BlockId).any(|of| all.contains(of) && steps(of).iter().any(is_set))
            });
        (is_followed && is_comparison && is_kept).then_some(term)
    }

    /// The comparisons that `a || b || c`, or `a && b && c`, consists of, as far as they are some; each with whether the part holds if it does.
    /// A part without one is unknown: it is a comparison that no step tells anything about.
    fn parts(&self, op: BinaryOp, node: NodeId, block: BlockId, parts: &mut Vec<(Term, bool)>) {
        let of = &self.cfg.nodes[node.0];
        if matches!(of.source, Source::Binary(other) if other == op) {
            of.operands.iter().for_each(|operand| self.parts(op, *operand, block, parts));
            return;
        }
        let (condition, holds) = without_negation(self.cfg, node);
        let unknown = || Term::Fixed(format!("node {}", condition.0));
        parts.push((self.comparison(condition, block).unwrap_or_else(unknown), holds));
    }

    /// The term of a value before a step of a block: what it reads is read in that block, and not set there in between.
    fn at(&self, node: NodeId, point: (BlockId, usize), depth: u8) -> Option<Term> {
        let depth = depth.checked_sub(1)?;
        if let Some(text) = self.fixed.text(node, depth) {
            return Some(Term::Fixed(text));
        }
        if self.cfg.cuts.contains_key(&node) || self.cfg.recast.contains_key(&node) {
            return None;
        }
        let of = &self.cfg.nodes[node.0];
        match (&of.source, &of.operands[..]) {
            (Source::Read(variable), _) if self.whole.contains(variable) => {
                self.is_read_before(node, *variable, point).then_some(Term::Variable(*variable))
            }
            (Source::Binary(op) | Source::Round(_, op), [left, right]) => {
                let (left, right) = (self.at(*left, point, depth)?, self.at(*right, point, depth)?);
                Some(Term::Binary(*op, Box::new(left), Box::new(right)))
            }
            _ => None,
        }
    }

    fn is_read_before(&self, node: NodeId, variable: Variable, (block, until): (BlockId, usize)) -> bool {
        let steps = &self.cfg.blocks[block.0].steps[..until];
        let is_read = |kind: &StepKind| matches!(kind, StepKind::Value(ValueStep::Evaluate(read)) if *read == node);
        let read = steps.iter().rposition(|step| is_read(&step.kind));
        let is_set = |kind: &StepKind| kind.set().is_some_and(|(of, ..)| of == variable);
        read.is_some_and(|read| !steps[read..].iter().any(|step| is_set(&step.kind)))
    }

    /// The steps that set variables to values with terms. One that stands at two places has none.
    fn settings(&self) -> BTreeMap<Setting, Term> {
        let mut settings: BTreeMap<Setting, Option<Term>> = BTreeMap::new();
        for (block, content) in (0..).map(BlockId).zip(&self.cfg.blocks) {
            for (at, step) in content.steps.iter().enumerate() {
                if let Some((variable, value, Extent::Whole)) = step.kind.set()
                    && self.whole.contains(&variable)
                {
                    let term = self.at(value, (block, at), MAX_DEPTH);
                    let is_first = !settings.contains_key(&(variable, value));
                    settings.insert((variable, value), term.filter(|_| is_first));
                }
            }
        }
        settings.into_iter().filter_map(|(setting, term)| Some((setting, term?))).collect()
    }
}

/// The variables whose type is an unsigned one, because an operator or an assignment that needs equal types has them beside such a value.
fn unsigned_variables(function: &Function, cfg: &Cfg<'_>) -> BTreeSet<Variable> {
    let is_unsigned = |position: usize| function.params.get(position).is_some_and(Param::is_unsigned);
    let is_given = |node: &NodeId| {
        let source = &cfg.nodes[node.0].source;
        let is_param = if let Source::Param(position) = source { is_unsigned(*position) } else { false };
        is_param || matches!(source, Source::ThreadRank) || cfg.positions.contains_key(node)
    };
    let all = (0..cfg.nodes.len()).map(NodeId);
    let mut nodes = BitSet::none(cfg.nodes.len());
    nodes.extend(all.clone().filter(is_given));
    let mut variables: BTreeSet<Variable> = BTreeSet::new();
    // Pairs of values of one type.
    let mut pairs: Vec<(NodeId, NodeId)> = Vec::new();
    for node in all {
        let of = &cfg.nodes[node.0];
        let (Source::Binary(op) | Source::Round(_, op), [left, right]) = (&of.source, &of.operands[..]) else {
            continue;
        };
        if cfg.cuts.contains_key(&node) || matches!(op, BinaryOp::And | BinaryOp::Or) {
            continue;
        }
        let shifts = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        pairs.extend((!shifts).then_some((*left, *right)));
        pairs.extend((!compares(*op)).then_some((node, *left)));
    }
    let settings = cfg.blocks.iter().flat_map(|block| &block.steps).filter_map(|step| step.kind.set());
    let settings =
        settings.filter(|(.., extent)| *extent == Extent::Whole).map(|(variable, value, _)| (variable, value));
    let reads = cfg.nodes.iter().enumerate().filter_map(|(number, of)| Some((of.source.read()?, NodeId(number))));
    let equal: Vec<(Variable, NodeId)> = settings.chain(reads).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (one, other) in &pairs {
            changed |= nodes.contains(*one) && nodes.insert(*other);
            changed |= nodes.contains(*other) && nodes.insert(*one);
        }
        for (variable, node) in &equal {
            changed |= nodes.contains(*node) && variables.insert(*variable);
            changed |= variables.contains(variable) && nodes.insert(*node);
        }
    }
    variables
}
