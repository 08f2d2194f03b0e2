//! The comparisons that have been made on every way to a place, and that hold there: those of assertions, and of branches that were
//! taken.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use super::symbol::Symbol;
use crate::check::cfg::{BlockId, Cfg, End, NodeId, Source};
use crate::check::uniform::control::following_until;
use crate::model::expr::BinaryOp;

/// A block, and the index of a step.
type Point = (BlockId, usize);

/// A comparison that holds behind a place.
pub(super) struct Test {
    /// Behind all of the block, or behind one of its steps.
    block: BlockId,
    step: usize,
    pub(super) op: BinaryOp,
    pub(super) sides: [NodeId; 2],
    /// Where the sides are evaluated.
    pub(super) at: Point,
}

/// What the tests of a kernel say, and whether they are asked.
#[derive(Default)]
pub(super) struct Tests {
    all: Vec<Test>,
    /// The names of numbers that are not negative.
    natural: BTreeSet<String>,
    /// For two blocks, whether each way to the second one leads by the first.
    leads: RefCell<BTreeMap<(BlockId, BlockId), bool>>,
    ignored: Cell<bool>,
    mattered: Cell<bool>,
}

impl Tests {
    pub(super) fn of(cfg: &Cfg<'_>, is_natural: impl Fn(NodeId) -> bool) -> Tests {
        let mut tests = Tests::default();
        for assertion in &cfg.assertions {
            let (block, step) = assertion.at;
            match (assertion.compares, &assertion.operands[..]) {
                (Some(op), [left, right]) => {
                    tests.all.push(Test { block, step, op, sides: [*left, *right], at: assertion.at });
                }
                (None, [condition]) => tests.add(cfg, (block, step), *condition, true, assertion.at),
                _ => {}
            }
        }
        let mut before: BTreeMap<BlockId, Vec<BlockId>> = BTreeMap::new();
        for (block, content) in (0..).map(BlockId).zip(&cfg.blocks) {
            content.end.successors().for_each(|next| before.entry(next).or_default().push(block));
        }
        for (block, content) in (0..).map(BlockId).zip(&cfg.blocks) {
            let End::Branch { on, then, otherwise } = content.end else { continue };
            for (arm, holds) in [(then, true), (otherwise, false)] {
                // The arm is entered by the branch alone.
                if then != otherwise && before.get(&arm).is_some_and(|all| all[..] == [block]) {
                    tests.add(cfg, (arm, 0), on, holds, (block, content.steps.len()));
                }
            }
        }
        let natural = (0..cfg.nodes.len()).map(NodeId).filter(|node| is_natural(*node));
        tests.natural = natural.map(|node| Symbol::name(node.0)).collect();
        tests
    }

    /// Adds the comparisons that hold if a condition does, or if it does not.
    fn add(&mut self, cfg: &Cfg<'_>, (block, step): Point, on: NodeId, holds: bool, at: Point) {
        let of = &cfg.nodes[cfg.origin(on).0];
        match (&of.source, &of.operands[..]) {
            (Source::Binary(op) | Source::Round(_, op), [left, right]) => match (op, holds) {
                (BinaryOp::And, true) | (BinaryOp::Or, false) => {
                    self.add(cfg, (block, step), *left, holds, at);
                    self.add(cfg, (block, step), *right, holds, at);
                }
                (_, true) => self.all.push(Test { block, step, op: *op, sides: [*left, *right], at }),
                (_, false) => {
                    let op = negated(*op);
                    self.all.extend(op.map(|op| Test { block, step, op, sides: [*left, *right], at }));
                }
            },
            (Source::Not, [operand]) => self.add(cfg, (block, step), *operand, !holds, at),
            _ => {}
        }
    }

    /// Whether the number of this name is not negative.
    pub(super) fn is_natural(&self, name: &str) -> bool {
        self.natural.contains(name)
    }

    /// The comparisons that hold at a point.
    pub(super) fn behind<'t>(&'t self, cfg: &'t Cfg<'_>, point: Point) -> impl Iterator<Item = &'t Test> {
        let all = if self.ignored.get() { &[][..] } else { &self.all };
        all.iter().filter(move |test| match test.block == point.0 {
            true => test.step <= point.1,
            false => self.leads(cfg, test.block, point.0),
        })
    }

    /// Notes that something rests on a test.
    pub(super) fn matters(&self) {
        self.mattered.set(true);
    }

    /// Says whether something rests on a test since the last time, and whether tests are asked for from now on.
    pub(super) fn ignore(&self, ignored: bool) -> bool {
        self.ignored.set(ignored);
        self.mattered.take()
    }

    fn leads(&self, cfg: &Cfg<'_>, by: BlockId, to: BlockId) -> bool {
        let find = || by == cfg.entry || to != cfg.entry && !following_until(cfg, cfg.entry, by).contains(to);
        *self.leads.borrow_mut().entry((by, to)).or_insert_with(find)
    }
}

/// The comparison that holds where one does not.
pub(super) fn negated(op: BinaryOp) -> Option<BinaryOp> {
    match op {
        BinaryOp::Lt => Some(BinaryOp::Ge),
        BinaryOp::Le => Some(BinaryOp::Gt),
        BinaryOp::Gt => Some(BinaryOp::Le),
        BinaryOp::Ge => Some(BinaryOp::Lt),
        BinaryOp::Eq => Some(BinaryOp::Ne),
        BinaryOp::Ne => Some(BinaryOp::Eq),
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
