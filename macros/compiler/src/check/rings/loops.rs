//! Loops over ranges: their numbers, their decisions, and what is certain to happen in them.

use std::collections::BTreeMap;

use super::counters::{Counter, Counters};
use super::decision::{ByHand, Certain, Decision, Key, any_of};
use super::kernel::{Point, Refusal};
use super::long_loops::LONG;
use super::symbol::Symbol;
use super::tested::negated;
use super::value::Evaluator;
use super::walk::Walker;
use crate::check::cfg::{BlockId, Cfg, CountedLoop, End, Extent, NodeId, Source, Step, StepKind, Variable};
use crate::check::uniform::control::{following, following_until};
use crate::model::expr::BinaryOp;
use crate::rings::{Condition, Expr, Op, Operator};
use crate::span::SpanRange;

/// The largest number of iterations that are followed before the first decision of a loop.
const CERTAIN: i64 = 2 * LONG;

impl Walker<'_, '_, '_, '_> {
    /// Counts where control comes to the head of a loop: resets the number of iterations of one that begins, and goes on to the next
    /// number of one that is repeated.
    pub(super) fn count(&mut self, from: BlockId, to: BlockId) {
        let cfg = self.evaluator.kernel.cfg;
        if let Some(counted) = cfg.counted.get(&to).filter(|counted| counted.before != from) {
            let inside = &cfg.blocks[counted.inside.0].steps;
            let variable = inside.iter().find_map(|step| step.kind.set()).map(|(variable, ..)| variable);
            if let Some((variable, counter)) =
                variable.and_then(|variable| Some((variable, self.evaluator.counter(variable)?)))
                && let Some((_, by)) = self.evaluator.first(variable)
            {
                let now = Expr::counter(counter);
                // A range that is counted down may end at 0.
                let next = match by {
                    0.. => now.apply(Operator::Add, Expr::constant(by)),
                    _ => now.clone().apply(Operator::Sub, now.apply(Operator::Ne, Expr::constant(0))),
                };
                let at = self.kernel().whole();
                self.push((from, cfg.blocks[from.0].steps.len()), at, Op::Set(vec![(counter, next)]));
            }
        }
        let behind = self.evaluator.kernel.heads_behind(from).iter();
        let head = behind.copied().find(|head| *head == to || cfg.counted[head].inside == to);
        if let Some(head) = head
            && let Some(counter) = self.evaluator.counters.get(Counter::Iterations(head))
        {
            let begun = i64::from(head != to);
            let at = self.kernel().whole();
            let point = (from, cfg.blocks[from.0].steps.len());
            self.push(point, at, Op::Set(vec![(counter, Expr::constant(begun))]));
        }
    }

    /// Adds what is decided where control comes to a loop; returns the block where it goes on.
    pub(super) fn enter(
        &mut self,
        from: BlockId,
        next: BlockId,
        (end, at): (Point, SpanRange),
    ) -> Result<BlockId, Refusal> {
        let passed = self.passed_rounds(from, next)?;
        let mut rounds = passed.as_ref().map_or(0, |(rounds, ..)| *rounds);
        let mut block = next;
        if let Some((says, then, otherwise)) = self.first_time(from, next)? {
            let constant = self.sites.constant(says);
            self.targets.push((self.program.steps.len(), otherwise));
            self.push(end, at, Op::Branch { condition: Condition::Constant(constant), otherwise: usize::MAX });
            self.open.push(otherwise);
            if rounds == 0 {
                if let Some(counter) = self.evaluator.counters.get(Counter::Iterations(next)) {
                    let next = Expr::counter(counter).apply(Operator::Add, Expr::constant(1));
                    self.push(end, at, Op::Set(vec![(counter, next)]));
                }
                // The loop's test is that of all other iterations.
                self.open.push(next);
                block = then;
            }
            rounds -= 1;
        }
        if let Some((_, keys, otherwise)) = passed {
            for _ in 0..rounds {
                let branch = self.program.steps.len();
                self.targets.push((branch, otherwise));
                self.program.keys.insert(branch, keys.clone());
                self.program.decided_at.insert(branch, next);
                self.push(end, at, Op::Branch { condition: Condition::Shared, otherwise: usize::MAX });
            }
            self.open.push(otherwise);
        }
        Ok(block)
    }

    /// If control comes to a loop that is taken for the rest of one from 0 on: the number of rounds before, the keys of their decisions, and
    /// where control goes on without one of them.
    fn passed_rounds(&self, from: BlockId, head: BlockId) -> Result<Option<(i64, Vec<Key>, BlockId)>, Refusal> {
        let kernel = self.kernel();
        let End::Branch { on, otherwise, .. } = kernel.cfg.blocks[head.0].end else { return Ok(None) };
        let Some(counted) = kernel.cfg.counted.get(&head).filter(|counted| counted.before == from) else {
            return Ok(None);
        };
        let first = self.evaluator.start(counted).known().unwrap_or(0);
        let counts = |variable| self.evaluator.counter(variable).is_some();
        if self.begins_at(first) == first || self.evaluator.arguments.is_some() || kernel.is_skipped(head, &counts) {
            return Ok(None);
        }
        let Decision { condition: Condition::Shared, mut keys, .. } = self.counted(head, on, counted)? else {
            return Ok(None);
        };
        keys.retain(|key| matches!(key, Key::Form(_)));
        Ok((!keys.is_empty() && counted.by == Some(1)).then_some((first, keys, otherwise)))
    }

    /// If control comes to a loop that is in another one, and arguments decide how often it runs: what says whether it runs at all, which
    /// is the same each time, and where control goes on then and otherwise. So a loop runs in all rounds of the outer one or in none.
    pub(super) fn first_time(
        &self,
        from: BlockId,
        head: BlockId,
    ) -> Result<Option<(String, BlockId, BlockId)>, Refusal> {
        let kernel = self.kernel();
        let content = &kernel.cfg.blocks[head.0];
        let End::Branch { on, then, otherwise } = content.end else { return Ok(None) };
        let Some(counted) = kernel.cfg.counted.get(&head) else { return Ok(None) };
        if counted.before != from || !self.is_asked_once(head, counted) {
            return Ok(None);
        }
        let Decision { condition: Condition::Shared, keys, certain: None, .. } = self.counted(head, on, counted)?
        else {
            return Ok(None);
        };
        // A length that is known is not 0.
        Ok(any_of(&keys).map(|says| (says, then, otherwise)))
    }

    /// Whether a loop is in another one, so that whether it has iterations about which arguments decide is the same each time.
    fn is_asked_once(&self, head: BlockId, counted: &CountedLoop) -> bool {
        let kernel = self.kernel();
        let counts = |variable| self.evaluator.counters.get(Counter::Variable(variable)).is_some();
        let is_plain =
            |step: &Step| !matches!(step.kind, StepKind::Memory(_) | StepKind::Group(_)) && !self.is_relevant(step);
        self.evaluator.arguments.is_none()
            && kernel.is_in_loop(counted.before)
            && kernel.cfg.blocks[head.0].steps.iter().all(is_plain)
            && !kernel.is_skipped(head, &counts)
    }

    /// The decision of a loop over a range.
    pub(super) fn counted(&self, block: BlockId, on: NodeId, counted: &CountedLoop) -> Result<Decision, Refusal> {
        let kernel = self.kernel();
        let before = (counted.before, kernel.cfg.blocks[counted.before.0].steps.len());
        let value = |node| self.evaluator.value(node, before);
        let (start, end) = (self.evaluator.start(counted), value(counted.end));

        // What comes after the loop may ask for the number of its iterations.
        let counts = self.evaluator.counters.get(Counter::Iterations(block));
        let more = i64::from(counted.inclusive);
        let length = end.symbol().zip(start.symbol()).and_then(|(end, start)| end.plus(-1, &start));
        let by = self.evaluator.stride(counted, on);
        let Some(by) = by.known().filter(|by| *by > 0) else {
            let form = |(length, by): (Symbol, Symbol)| trips_by(length, &by, more);
            let keys = length.zip(by.symbol()).and_then(form).into_iter().chain(self.agreed(block, on).ok());
            let keys: Vec<Key> = keys.collect();
            return match keys.is_empty() || self.evaluator.arguments.is_some() {
                true => Ok(Decision::new(Condition::Shared, vec![self.agreed(block, on)?], None)),
                false => Ok(Decision::new(Condition::Shared, keys, counts)),
            };
        };
        let iterations = |length: i64| (length + more).max(0).checked_add(by - 1).map(|length| length / by);
        match length.as_ref().and_then(|length| length.known()) {
            Some(length) if self.evaluator.arguments.is_none() && !kernel.long_loops.is_followed(length) => {
                let form = format!("for {}", iterations(length).unwrap_or(0));
                return Ok(Decision::new(Condition::Shared, vec![Key::Form(form)], counts));
            }
            Some(length) => {
                let counter = self.evaluator.counters.number(Counter::Iterations(block));
                let most = Expr::constant(iterations(length).unwrap_or(0));
                let condition = Condition::Counters(Expr::counter(counter).apply(Operator::Lt, most));
                return Ok(Decision::new(condition, Vec::new(), Some(counter)));
            }
            None => {}
        }
        if let Some(first) = start.known()
            && self.begins_at(first) != first
            && by == 1
            && let Some(length) = length.as_ref().and_then(|length| length.clone().plus(first, &Symbol::constant(1)))
        {
            let keys = trips(length, by, more).into_iter().chain(self.agreed(block, on).ok());
            return Ok(Decision::new(Condition::Shared, keys.collect(), counts));
        }
        if let Some(length) = length {
            let keys = || self.agreed(block, on).ok().into_iter().collect();
            if let Some((most, mut decision)) =
                if self.evaluator.arguments.is_none() { self.at_most(block, counted, keys()) } else { None }
            {
                let counter = self.evaluator.counters.number(Counter::Iterations(block));
                decision
                    .only_if
                    .insert(0, Condition::Counters(Expr::counter(counter).apply(Operator::Lt, Expr::constant(most))));
                decision.counts = Some(counter);
                return Ok(decision);
            }
            let iterations = self.evaluator.least(&length, before).and_then(iterations).unwrap_or(0);
            let iterations = if (1..=CERTAIN).contains(&iterations) { iterations } else { 0 };
            let rest = length.plus(-by * iterations, &Symbol::constant(1));
            let keys = rest.and_then(|rest| trips(rest, by, more)).into_iter().chain(self.agreed(block, on).ok());
            let mut decision = Decision::new(Condition::Shared, keys.collect(), counts);
            if iterations > 0 {
                decision.counts = Some(self.evaluator.counters.number(Counter::Iterations(block)));
                let any = any_of(&decision.keys).filter(|_| self.is_asked_once(block, counted));
                decision.certain = Some(Certain { iterations, any });
            }
            return Ok(decision);
        }
        if let (Some(start), Some(end)) = (start.expr(), end.expr())
            && self.is_kept(&start, block, counted)
            && self.is_kept(&end, block, counted)
        {
            let counter = self.evaluator.counters.number(Counter::Iterations(block));
            let next = Expr::counter(counter).apply(Operator::Mul, Expr::constant(by)).apply(Operator::Add, start);
            let condition =
                Condition::Counters(next.apply(Operator::Lt, end.apply(Operator::Add, Expr::constant(more))));
            return Ok(Decision::new(condition, Vec::new(), Some(counter)));
        }
        Ok(Decision::new(Condition::Shared, vec![self.agreed(block, on)?], None))
    }

    /// Adds the steps of a decision, of which the last ones lead on where it is for one more iteration.
    pub(super) fn decide(&mut self, end: Point, at: SpanRange, decision: Decision, otherwise: BlockId) {
        let Decision { condition, keys, counts, certain, already, cases, only_if, looked } = decision;
        let branches = |condition, otherwise| Op::Branch { condition, otherwise };
        let next = |walker: &Self| walker.program.steps.len();
        let mut leads_on = Vec::new();
        if let (Some(Certain { iterations, any }), Some(counter)) = (certain, counts) {
            let begun =
                |number: i64| Condition::Counters(Expr::counter(counter).apply(Operator::Lt, Expr::constant(number)));
            self.push(end, at, branches(begun(iterations), next(self) + 2));
            leads_on.push(next(self));
            self.push(end, at, Op::Jump(usize::MAX));
            if let Some(says) = any {
                let constant = self.sites.constant(says);
                self.targets.push((next(self), otherwise));
                self.push(end, at, branches(Condition::Constant(constant), usize::MAX));
                self.push(end, at, branches(begun(iterations + 1), next(self) + 2));
                leads_on.push(next(self));
                self.push(end, at, Op::Jump(usize::MAX));
            }
        }
        for condition in only_if {
            self.targets.push((next(self), otherwise));
            self.push(end, at, branches(condition, usize::MAX));
        }
        for holds in already {
            self.push(end, at, branches(Condition::Counters(holds), next(self) + 2));
            leads_on.push(next(self));
            self.push(end, at, Op::Jump(usize::MAX));
        }
        let decide = |walker: &mut Self, condition| {
            let branch = next(walker);
            walker.targets.push((branch, otherwise));
            walker.program.decided_at.insert(branch, end.0);
            walker.program.looked.extend(looked.clone().map(|looked| (branch, looked)));
            walker.program.keys.extend((!keys.is_empty()).then(|| (branch, keys.clone())));
            walker.push(end, at, branches(condition, usize::MAX));
        };
        for (case, number) in cases {
            self.push(end, at, branches(Condition::Counters(case), next(self) + 3));
            decide(self, Condition::Ahead(number));
            leads_on.push(next(self));
            self.push(end, at, Op::Jump(usize::MAX));
        }
        decide(self, condition);
        for jump in leads_on {
            self.program.steps[jump].op = Op::Jump(next(self));
        }
        if let Some(counter) = counts {
            let more = Expr::counter(counter).apply(Operator::Add, Expr::constant(1));
            self.push(end, at, Op::Set(vec![(counter, more)]));
        }
    }

    /// Whether what a value is computed from stays the same while a loop runs: then the loop's end may ask for it each time.
    fn is_kept(&self, value: &Expr, head: BlockId, counted: &CountedLoop) -> bool {
        let all = self.evaluator.counters.all();
        let inside = following_until(self.kernel().cfg, counted.inside, head);
        let is_kept = |variable: Variable| {
            let mut sets = self.kernel().sets(variable).iter();
            !sets.any(|((block, _), ..)| *block == counted.inside || *block == head || inside.contains(*block))
        };
        // In a proof, the values of such counters need not be few.
        (self.evaluator.arguments.is_some() || !value.has_counters())
            && value
                .counters()
                .all(|counter| all.get(counter as usize).and_then(|counter| counter.variable()).is_some_and(is_kept))
    }

    /// If a branch is that of a loop which counts a variable by hand up or down to a bound, and arguments decide about it: the key of
    /// its decisions, which are those of a loop over a range, and the arms that go on and leave.
    pub(super) fn by_hand(&self, head: BlockId, on: NodeId) -> Option<ByHand> {
        let kernel = self.kernel();
        let cfg = kernel.cfg;
        let End::Branch { then, otherwise, .. } = cfg.blocks[head.0].end else { return None };
        let point = (head, cfg.blocks[head.0].steps.len());
        let comes_back = |arm: BlockId| arm == head || following(cfg, arm).contains(head);
        let body = |arm: BlockId| following_until(cfg, arm, head);
        let of = &cfg.nodes[on.0];
        let (Source::Binary(op) | Source::Round(_, op), [left, right]) = (&of.source, &of.operands[..]) else {
            return None;
        };
        let counters = Counters::default();
        let evaluator = Evaluator {
            kernel,
            counters: &counters,
            arguments: None,
            thread: self.evaluator.thread,
            after: None,
            inlines: false,
        };
        let symbol = |node: NodeId, point: Point| evaluator.value(node, point).symbol();
        for (counts, bound, op) in [(*left, *right, Some(*op)), (*right, *left, mirrored(*op))] {
            let Some(variable) =
                cfg.nodes[counts.0].source.read().filter(|variable| cfg.only_value(*variable).is_none())
            else {
                continue;
            };
            // The arm that is repeated; the variable is set once before, and by one step on each way round.
            for (inside, outside, op) in [(then, otherwise, op), (otherwise, then, op.and_then(negated))] {
                let inner = body(inside);
                let is_inside = |block: BlockId| block == inside || inner.contains(block);
                let (within, before): (Vec<_>, Vec<_>) =
                    kernel.sets(variable).iter().partition(|((block, _), ..)| is_inside(*block));
                let ([(first, start, Extent::Whole)], true) = (&before[..], comes_back(inside)) else { continue };
                let leads =
                    first.0 != head && !following_until(cfg, outside, first.0).contains(head) && outside != head;
                let steps: Option<Vec<Symbol>> = within
                    .iter()
                    .map(|(set, value, extent)| {
                        let by = self.difference(&evaluator, variable, *value, *set)?;
                        (*extent == Extent::Whole).then_some(by)
                    })
                    .collect();
                let steps = steps.filter(|steps| steps.iter().all(|step| Some(step) == steps.first()));
                let Some(by) = steps.and_then(|steps| steps.into_iter().next()) else { continue };
                let places: Vec<BlockId> = within.iter().map(|((block, _), ..)| *block).collect();
                if !leads || !is_set_once(cfg, inside, head, &places) {
                    continue;
                }
                let (start, bound) = (symbol(*start, *first)?, symbol(bound, point)?);
                let up = bound.clone().plus(-1, &start);
                let Some(by) = by.known() else {
                    // A step that is not known is one of a range, which counts up.
                    let op = op.filter(|op| [BinaryOp::Lt, BinaryOp::Le].contains(op))?;
                    let more = i64::from(op == BinaryOp::Le);
                    return Some(ByHand { key: trips_by(up?, &by, more)?, inside, outside, range: None });
                };
                let (first, end) = (start.known(), bound.clone());
                let (length, more) = match (op?, by) {
                    (BinaryOp::Lt, 1..) => (up?, 0),
                    (BinaryOp::Le, 1..) => (up?, 1),
                    // It does not pass by the bound if it begins below.
                    (BinaryOp::Ne, 1) if start.known() == Some(0) => (up?, 0),
                    (BinaryOp::Gt, ..=-1) => (start.plus(-1, &bound)?, 0),
                    (BinaryOp::Ge, ..=-1) => (start.plus(-1, &bound)?, 1),
                    (BinaryOp::Ne, -1) if bound.known() == Some(0) => (start.plus(-1, &bound)?, 0),
                    _ => return None,
                };
                let first = first.filter(|first| by == 1 && *first >= 0 && end.clone().split().1 >= 0);
                let range = first.and_then(|first| Some((variable, first, end.plus(more, &Symbol::constant(1))?)));
                return trips(length, by.abs(), more).map(|key| ByHand { key, inside, outside, range });
            }
        }
        None
    }

    /// The difference that a step makes to a variable, if it adds a number that does not change, or takes away one that is known.
    pub(super) fn difference(
        &self,
        evaluator: &Evaluator<'_, '_, '_>,
        variable: Variable,
        value: NodeId,
        point: Point,
    ) -> Option<Symbol> {
        let cfg = self.kernel().cfg;
        let of = &cfg.nodes[cfg.origin(value).0];
        let (Source::Binary(op), [left, right]) = (&of.source, &of.operands[..]) else { return None };
        let is_variable = cfg.nodes[left.0].source.read() == Some(variable);
        let read = self.kernel().evaluated(*left)?;
        let is_now = !self.kernel().may_be_set_between(variable, read, point) && read.0 == point.0;
        let step = evaluator.value(*right, point).symbol().filter(|_| is_variable && is_now)?;
        if let BinaryOp::Add = op {
            return Some(step);
        }
        step.known().filter(|_| *op == BinaryOp::Sub).map(|number| Symbol::constant(-number))
    }
}

/// The key of the decisions of a loop over a range of this length. Loops of equal numbers of iterations have equal keys.
fn trips(length: Symbol, by: i64, more: i64) -> Option<Key> {
    let length = length.plus(more, &Symbol::constant(1))?;
    let form = match length.divided(by) {
        Some(trips) => format!("for {trips}"),
        None => format!("for {length} by {by}"),
    };
    length.known().is_none().then_some(Key::Form(form))
}

/// The same of a step that is not known.
fn trips_by(length: Symbol, by: &Symbol, more: i64) -> Option<Key> {
    let length = length.plus(more, &Symbol::constant(1))?;
    Some(Key::Form(format!("for {length} by {by}")))
}

/// Whether each way from a block back to the head of its loop passes exactly one of these places.
fn is_set_once(cfg: &Cfg<'_>, inside: BlockId, head: BlockId, places: &[BlockId]) -> bool {
    let mut seen: BTreeMap<BlockId, usize> = BTreeMap::new();
    let mut work = vec![(inside, 0)];
    while let Some((block, before)) = work.pop() {
        if block == head {
            if before != 1 {
                return false;
            }
            continue;
        }
        match seen.insert(block, before) {
            Some(known) if known != before => return false,
            Some(_) => continue,
            None => {}
        }
        let after = before + places.iter().filter(|place| **place == block).count();
        let comes_back = |next: &BlockId| *next == head || following(cfg, *next).contains(head);
        work.extend(cfg.blocks[block.0].end.successors().filter(comes_back).map(|next| (next, after)));
    }
    true
}

fn mirrored(op: BinaryOp) -> Option<BinaryOp> {
    match op {
        BinaryOp::Lt => Some(BinaryOp::Gt),
        BinaryOp::Le => Some(BinaryOp::Ge),
        BinaryOp::Gt => Some(BinaryOp::Lt),
        BinaryOp::Ge => Some(BinaryOp::Le),
        BinaryOp::Eq | BinaryOp::Ne => Some(op),
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
