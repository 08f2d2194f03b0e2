//! Outcomes of branches that decide about later ones: a condition that is tested twice and cannot have changed (`if split { .. } ..
//! if split { .. }`), an `Option` of a token whose variant an earlier branch has determined, and whether the iteration of a loop is
//! its last one (`if k + 1 < rounds { .. }`), limits that a variable has passed (`thresholds`), tests that
//! another test of the same value implies (`implied`), and comparisons of variables that move (`moving`). `partition` splits the graph by them, so that paths that no thread takes are none.
//!
//! Only branches that the whole cluster takes together are followed: the arms that two threads take would otherwise not be
//! compared with each other.

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::uniformity::Uniformity;

use super::cfg::{BlockId, Cfg, End, GroupStep, NodeId, Source, StepKind, TokenStep, ValueStep, Variable};
use super::fixed::{FixedValues, MAX_DEPTH};
use super::implied::{Implied, Known};
use super::liveness;
use super::moving::Moving;
use super::sorted_map::SortedMap;
use super::thresholds::{self, Threshold, without_negation};
use super::uniform::values::Values;
use crate::model::expr::BinaryOp;

/// The most conditions that are followed.
const MOST_CONDITIONS: usize = 4;

/// Something that an earlier branch may have determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    /// A condition, by its number.
    Condition(usize),
    /// Whether this loop has another iteration, by the block of its test.
    Again(BlockId),
    /// Whether this variable holds a token.
    Holds(Variable),
    /// Whether a variable that only grows has passed the limit that the branch at the end of this block compares it with.
    Passed(BlockId),
    /// A comparison of variables that are set several times, by its number.
    Moving(usize),
    /// The numbers that a value may have, by its number.
    Numbers(usize),
}

/// What is known at a point.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Outcomes(SortedMap<Subject, bool>, Known);

impl Outcomes {
    /// Notes whether the variable holds a token, or that this is not known.
    fn put(&mut self, variable: Variable, holds: Option<bool>) {
        let subject = Subject::Holds(variable);
        match holds {
            Some(holds) => self.0.insert(subject, holds),
            None => _ = self.0.remove(&subject),
        }
    }
}

/// What a branch tests, and whether its `then` or `some` edge means that the subject is true.
type Test = (Subject, bool);

/// The branches that are followed.
#[derive(Default)]
pub(super) struct Followed {
    /// The tests of the branch at the end of each block.
    tests: BTreeMap<BlockId, Vec<Test>>,
    /// The subjects that a branch may test from the start of each block on.
    live: Vec<BTreeSet<Subject>>,
    thresholds: Vec<Threshold>,
    moving: Moving,
    implied: Implied,
}

impl Followed {
    pub(super) fn of(cfg: &Cfg<'_>, values: &Values<'_, '_>) -> Followed {
        let is_together = |block: BlockId, on: NodeId| {
            values.level(on).is_uniform(Uniformity::Cluster) && values.is_reached_uniformly(block, Uniformity::Cluster)
        };
        let ends = (0..).map(BlockId).zip(cfg.blocks.iter().map(|block| &block.end));
        let ends: Vec<(BlockId, &End)> =
            ends.filter(|(block, end)| end.condition().is_some_and(|on| is_together(*block, on))).collect();
        // One branch alone has none that it could decide about.
        if ends.len() < 2 {
            return Followed::default();
        }
        let mut followed = Followed::default();
        let fixed = &values.fixed;
        followed.follow_conditions(cfg, fixed, &ends);
        followed.follow_loops(cfg, fixed, &ends);
        followed.thresholds = thresholds::find(values, fixed, &ends);
        followed.thresholds.truncate(MOST_CONDITIONS);
        for Threshold { block, then, .. } in &followed.thresholds {
            followed.tests.entry(*block).or_default().push((Subject::Passed(*block), *then));
        }
        for (block, end) in &ends {
            if let End::Option { variable, .. } = end {
                followed.tests.entry(*block).or_default().push((Subject::Holds(*variable), true));
            }
        }
        followed.moving = Moving::of(values, fixed, &ends);
        for (block, (number, holds)) in &followed.moving.tests {
            followed.tests.entry(*block).or_default().push((Subject::Moving(*number), *holds));
        }
        followed.implied = Implied::of(values.function(), cfg, fixed, &ends);
        if !followed.is_empty() {
            followed.live = followed.live_subjects(cfg);
        }
        followed
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tests.is_empty() && self.moving.is_empty() && self.implied.is_empty()
    }

    /// Leaves out the comparisons of variables that move; says whether there were any.
    pub(super) fn leave_out_moving(&mut self) -> bool {
        let any = !self.moving.is_empty();
        self.moving = Moving::default();
        self.tests.values_mut().for_each(|tests| tests.retain(|(subject, _)| !matches!(subject, Subject::Moving(_))));
        self.tests.retain(|_, tests| !tests.is_empty());
        any
    }

    /// Leaves out what branches imply about others; says whether there was any.
    pub(super) fn leave_out_implied(&mut self) -> bool {
        let any = !self.implied.is_empty();
        self.implied = Implied::default();
        any
    }

    /// Follows the conditions that several branches test.
    fn follow_conditions(&mut self, cfg: &Cfg<'_>, fixed: &FixedValues<'_, '_>, ends: &[(BlockId, &End)]) {
        let mut tested: BTreeMap<String, Vec<(BlockId, bool)>> = BTreeMap::new();
        for (block, end) in ends {
            if let End::Branch { on, .. } = end {
                let (condition, holds) = without_negation(cfg, *on);
                if let Some(text) = fixed.text(condition, MAX_DEPTH) {
                    tested.entry(text).or_default().push((*block, holds));
                }
            }
        }
        let several = tested.into_values().filter(|branches| branches.len() > 1).take(MOST_CONDITIONS);
        for (number, branches) in several.enumerate() {
            for (block, holds) in branches {
                self.tests.entry(block).or_default().push((Subject::Condition(number), holds));
            }
        }
    }

    /// Follows the branches that tell whether a loop over a range has another iteration.
    fn follow_loops(&mut self, cfg: &Cfg<'_>, fixed: &FixedValues<'_, '_>, ends: &[(BlockId, &End)]) {
        for (test, end) in ends {
            let End::Branch { on, then, .. } = end else { continue };
            let Some((counter, last)) = counter_of(cfg, *on, *then) else { continue };
            let Some(last) = fixed.text(last, MAX_DEPTH) else { continue };
            let mut found = false;
            for (block, end) in ends {
                if let End::Branch { on, .. } = end
                    && let Some(again) = compares_with_end(cfg, fixed, *on, counter, &last)
                {
                    self.tests.entry(*block).or_default().push((Subject::Again(*test), again));
                    found = true;
                }
            }
            if found {
                self.tests.entry(*test).or_default().push((Subject::Again(*test), true));
            }
        }
    }

    /// Returns what each block, or a block that may follow it, tests or moves.
    fn live_subjects(&self, cfg: &Cfg<'_>) -> Vec<BTreeSet<Subject>> {
        liveness::solve(cfg, |block, subjects| {
            let tested = self.tests.get(&block).into_iter().flatten();
            subjects.extend(tested.map(|(subject, _)| *subject));
            subjects.extend(self.moving.parts(block).map(Subject::Moving));
            subjects.extend(self.implied.tested(block).map(Subject::Numbers));
            for step in cfg.blocks[block.0].steps.iter().rev() {
                if let StepKind::Token(TokenStep::Move { from, into }) = step.kind
                    && subjects.contains(&Subject::Holds(into))
                {
                    subjects.insert(Subject::Holds(from));
                }
                if let Some((variable, value, _)) = step.kind.set() {
                    let asked = self.moving.with(variable).filter(|number| subjects.remove(&Subject::Moving(*number)));
                    let asked: Vec<usize> = asked.collect();
                    let before = asked.into_iter().filter_map(|number| self.moving.before((variable, value), number));
                    subjects.extend(before.map(Subject::Moving));
                }
            }
        })
    }

    /// The state after a step.
    pub(super) fn transfer(&self, outcomes: &mut Outcomes, step: &StepKind) {
        match step {
            StepKind::Group(GroupStep::Arrive { into, .. } | GroupStep::ArriveForgotten { into, .. }) => {
                outcomes.put(*into, Some(true))
            }
            StepKind::Token(TokenStep::Clear { variable }) => outcomes.put(*variable, Some(false)),
            StepKind::Token(TokenStep::Move { from, into }) => {
                let held = outcomes.0.remove(&Subject::Holds(*from));
                outcomes.put(*into, held);
            }
            StepKind::Group(GroupStep::Wait { from, .. } | GroupStep::WaitElected { from, .. })
            | StepKind::Token(
                TokenStep::HandOver { from } | TokenStep::Forget { from, .. } | TokenStep::Drop { variable: from, .. },
            ) => outcomes.put(*from, None),
            // What a function returns is not known.
            StepKind::Call(_) => outcomes.0.retain(|subject, _| !matches!(subject, Subject::Holds(_))),
            StepKind::Group(
                GroupStep::Collective { .. }
                | GroupStep::Aligned { .. }
                | GroupStep::FormGroup(_)
                | GroupStep::Convergent { .. },
            )
            | StepKind::Value(ValueStep::Evaluate(_) | ValueStep::Name { .. } | ValueStep::Return(_))
            | StepKind::Memory(_)
            | StepKind::Copy(_)
            | StepKind::BarrierCall(_) => {}
            // The variable begins anew.
            StepKind::Value(ValueStep::Set { variable, value, extent }) => {
                let known = |number| outcomes.0.get(&Subject::Moving(number)).copied();
                for (number, told) in self.moving.set((*variable, *value, *extent), known) {
                    match told {
                        Some(told) => outcomes.0.insert(Subject::Moving(number), told),
                        None => _ = outcomes.0.remove(&Subject::Moving(number)),
                    }
                }
                let begins = |of: &&Threshold| of.variable == *variable && !of.growing.contains(value);
                for threshold in self.thresholds.iter().filter(begins) {
                    outcomes.0.remove(&Subject::Passed(threshold.block));
                }
            }
        }
    }

    /// Which of the two edges at the end of a block is taken, if that is known: the one where the test holds.
    pub(super) fn decided(&self, outcomes: &Outcomes, block: BlockId) -> Option<bool> {
        let mut tests = self.tests.get(&block).into_iter().flatten();
        let tested = tests.find_map(|(subject, holds)| Some(outcomes.0.get(subject)? == holds));
        let implied = || self.implied.decided(&outcomes.1, block);
        let moving = || self.moving.decided(block, |number| outcomes.0.get(&Subject::Moving(number)).copied());
        tested.or_else(implied).or_else(moving)
    }

    /// The state on an edge: where the test at the end of the block holds, or where it does not.
    pub(super) fn after(&self, outcomes: &Outcomes, block: BlockId, to: BlockId, holds: Option<bool>) -> Outcomes {
        let mut known = outcomes.0.clone();
        if let Some(holds) = holds {
            for (subject, if_true) in self.tests.get(&block).into_iter().flatten() {
                match subject {
                    // The next iteration may be the last one.
                    Subject::Again(test) if *test == block => _ = known.remove(subject),
                    // What has not passed yet may pass.
                    Subject::Passed(_) if holds != *if_true => _ = known.remove(subject),
                    Subject::Passed(_)
                    | Subject::Condition(_)
                    | Subject::Again(_)
                    | Subject::Holds(_)
                    | Subject::Numbers(_)
                    | Subject::Moving(_) => {
                        known.insert(*subject, holds == *if_true);
                    }
                }
            }
        }
        let learned = holds.map(|holds| self.moving.learned(block, holds)).unwrap_or_default();
        known.extend(learned.into_iter().map(|(number, answer)| (Subject::Moving(number), answer)));
        let is_live = |subject: &Subject| self.live.get(to.0).is_some_and(|live| live.contains(subject));
        known.retain(|subject, _| is_live(subject));
        let mut numbers = outcomes.1.clone();
        holds.into_iter().for_each(|holds| self.implied.learn(&mut numbers, block, holds));
        numbers.retain(|value, _| is_live(&Subject::Numbers(*value)));
        Outcomes(known, numbers)
    }
}

/// The counter of the loop whose test is this, and the end of its range, if it counts by one and the body does not change it.
fn counter_of(cfg: &Cfg<'_>, on: NodeId, body: BlockId) -> Option<(Variable, NodeId)> {
    cfg.blocks[body.0].steps.iter().find_map(|step| {
        let (variable, value, _) = step.kind.set()?;
        let node = &cfg.nodes[value.0];
        let Source::Counter { of, by: Some(1), range: Some((_, end)) } = node.source else { return None };
        (of == variable && node.operands == cfg.nodes[on.0].operands).then_some((of, end))
    })
}

/// Whether the condition holds in all iterations but the last one (`true`), or in that alone (`false`).
fn compares_with_end(
    cfg: &Cfg<'_>,
    fixed: &FixedValues<'_, '_>,
    on: NodeId,
    counter: Variable,
    end: &str,
) -> Option<bool> {
    let (condition, holds) = without_negation(cfg, on);
    let node = &cfg.nodes[condition.0];
    let (Source::Binary(op) | Source::Round(_, op), [first, second]) = (&node.source, &node.operands[..]) else {
        return None;
    };
    let is_counter = |node: NodeId| cfg.nodes[node.0].source.read() == Some(counter);
    let is_one = |node: NodeId| matches!(cfg.nodes[node.0].source, Source::Integer(1));
    let is_end = |node: NodeId| fixed.text(node, MAX_DEPTH).is_some_and(|text| text == *end);
    let operation = |node: NodeId, wanted: BinaryOp| {
        let Source::Binary(op) = cfg.nodes[node.0].source else { return None };
        let [first, second] = cfg.nodes[node.0].operands[..] else { return None };
        (op == wanted).then_some((first, second))
    };
    let is_next = |node: NodeId| {
        operation(node, BinaryOp::Add).is_some_and(|(a, b)| is_counter(a) && is_one(b) || is_one(a) && is_counter(b))
    };
    let is_last = |node: NodeId| operation(node, BinaryOp::Sub).is_some_and(|(a, b)| is_end(a) && is_one(b));
    let (left, right) = (*first, *second);
    let is_turned = if is_next(left) && is_end(right) || is_counter(left) && is_last(right) {
        false
    } else if is_end(left) && is_next(right) || is_last(left) && is_counter(right) {
        true
    } else {
        return None;
    };
    // The counter is at most the last one.
    match (op, is_turned) {
        (BinaryOp::Ne, _) | (BinaryOp::Lt, false) | (BinaryOp::Gt, true) => Some(holds),
        (BinaryOp::Eq, _) | (BinaryOp::Ge, false) | (BinaryOp::Le, true) => Some(!holds),
        (
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
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge
            | BinaryOp::And
            | BinaryOp::Or,
            _,
        ) => None,
    }
}
