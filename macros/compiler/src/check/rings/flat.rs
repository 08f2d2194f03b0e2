//! Stages that are parts of one flat array: which part an index or a range of indexes is in, and where in it. Both come from the
//! index as a sum, of which some terms are multiples of a part's length, and the others together stay below it.

use super::counters::Counters;
use super::kernel::{Kernel, Point};
use super::value::{Evaluator, Value};
use crate::check::cfg::{Formula, NodeId, Region, Select, Source, Variable};
use crate::model::expr::BinaryOp;
use crate::rings::{Expr, Operator};

/// The longest chain of operands that is followed.
const DEPTH: u32 = 16;

/// A number as a sum.
#[derive(Debug, Clone, Default)]
struct Sum {
    /// Values with their factors.
    terms: Vec<(NodeId, i64)>,
    constant: i64,
}

/// An index as the part that it is in, and the place in it.
struct Place {
    stage: Sum,
    inside: Sum,
    /// The smallest and the largest place.
    range: (i64, i64),
}

/// The length of the ranges that copies write of an array, if all of them have one length and begin at a multiple of it.
pub(super) fn copied<'w>(kernel: &Kernel<'_, '_>, writes: impl Iterator<Item = &'w (Region, Point)>) -> Option<i64> {
    let counters = Counters::default();
    let evaluator = Evaluator { kernel, counters: &counters, arguments: None, thread: 0, after: None, inlines: false };
    let mut all = None;
    for (region, point) in writes {
        let [Select::Range { start, end }] = region.path[..] else { return None };
        let length = evaluator.length(start, end, *point).filter(|length| *length > 1 && !region.part)?;
        (*all.get_or_insert(length) == length).then_some(())?;
    }
    all
}

impl<'a, 'f> Evaluator<'_, 'a, 'f> {
    /// The part of a flat array that a selection is in, of parts of this length.
    pub(super) fn part(&self, select: Select, tile: i64, point: Point) -> Value {
        let part = match select {
            Select::At(index) => self.place(index, tile, point).and_then(|place| self.stage(&place, tile, point)),
            Select::Range { start, end } => self.place(start, tile, point).and_then(|place| {
                let length = self.length(start, end, point)?;
                let fits = place.range.1.checked_add(length)? <= tile;
                fits.then(|| self.stage(&place, tile, point))?
            }),
            Select::Chunk { .. } | Select::Half { .. } | Select::Unknown => None,
        };
        match (part, select) {
            (Some(part), _) => Value::Expr(part),
            // The index as a whole shows it, too.
            (None, Select::At(index)) => {
                let quotient = |index: Expr| index.apply(Operator::Div, Expr::constant(tile));
                self.value(index, point).expr().map_or(Value::Unknown, |index| Value::Expr(quotient(index)))
            }
            (None, _) => Value::Unknown,
        }
    }

    /// Whether a selection is all of a part.
    pub(super) fn is_whole_part(&self, select: Select, tile: i64, point: Point) -> bool {
        let Select::Range { start, end } = select else { return false };
        self.place(start, tile, point).is_some_and(|place| place.range == (0, 0))
            && self.length(start, end, point) == Some(tile)
    }

    /// The place of an index in its part of a flat array, or the index itself if the array has no parts, as a function of the counters of loops.
    pub(super) fn inside(&self, index: NodeId, tile: Option<i64>, point: Point) -> Option<Expr> {
        let Some(tile) = tile else { return self.value(index, point).expr() };
        let place = self.place(index, tile, point)?;
        self.sum(&place.inside, point)
    }

    fn stage(&self, place: &Place, tile: i64, point: Point) -> Option<Expr> {
        let terms = place.stage.terms.iter().map(|(node, factor)| (*node, factor / tile)).collect();
        self.sum(&Sum { terms, constant: place.stage.constant / tile }, point)
    }

    fn sum(&self, sum: &Sum, point: Point) -> Option<Expr> {
        let mut all = Expr::constant(sum.constant);
        for (node, factor) in &sum.terms {
            let term = self.value(*node, point).expr()?;
            all = all.apply(Operator::Add, term.apply(Operator::Mul, Expr::constant(*factor)));
        }
        Some(all)
    }

    /// The number of elements between two indexes, if it is known.
    pub(super) fn length(&self, start: NodeId, end: NodeId, point: Point) -> Option<i64> {
        let mut length = Sum::default();
        self.add(end, 1, point, &mut length, DEPTH)?;
        self.add(start, -1, point, &mut length, DEPTH)?;
        length.terms.is_empty().then_some(length.constant)
    }

    fn place(&self, index: NodeId, tile: i64, point: Point) -> Option<Place> {
        let mut all = Sum::default();
        self.add(index, 1, point, &mut all, DEPTH)?;
        let (terms, rest): (Vec<_>, Vec<_>) = all.terms.into_iter().partition(|(_, factor)| factor % tile == 0);
        let mut range = (all.constant, all.constant);
        for (node, factor) in &rest {
            let of = self.range(*node, point, DEPTH)?;
            range = plus(range, times(of, (*factor, *factor))?)?;
        }
        // All of it is in one part.
        let part = range.0.div_euclid(tile);
        (range.1.div_euclid(tile) == part).then_some(())?;
        let first = part.checked_mul(tile)?;
        Some(Place {
            stage: Sum { terms, constant: first },
            inside: Sum { terms: rest, constant: all.constant - first },
            range: (range.0 - first, range.1 - first),
        })
    }

    /// The indexes that a selection may be, as a thread comes there again and again: from the first in steps to the last.
    pub(super) fn indexes(&self, select: Select, point: Point) -> Option<(i64, i64, i64)> {
        let Select::At(index) = select else { return None };
        let mut sum = Sum::default();
        self.add(index, 1, point, &mut sum, DEPTH)?;
        match sum.terms[..] {
            [] => Some((sum.constant, 1, sum.constant)),
            [(node, factor)] if factor > 0 => {
                let (first, last) = self.range(node, point, DEPTH)?;
                let at = |number: i64| number.checked_mul(factor)?.checked_add(sum.constant);
                Some((at(first)?, factor, at(last)?))
            }
            _ => None,
        }
    }

    /// Adds a multiple of a value to a sum.
    fn add(&self, node: NodeId, factor: i64, point: Point, sum: &mut Sum, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        let kernel = self.kernel;
        if let Some(known) = self.known(node, point) {
            sum.constant = sum.constant.checked_add(known.checked_mul(factor)?)?;
            return Some(());
        }
        let of = &kernel.cfg.nodes[node.0];
        let is_cut = kernel.cfg.cuts.contains_key(&node);
        if let (Source::Binary(op), [left, right], false) = (&of.source, &of.operands[..], is_cut) {
            match op {
                BinaryOp::Add | BinaryOp::Sub => {
                    self.add(*left, factor, point, sum, depth)?;
                    let factor = if *op == BinaryOp::Add { factor } else { factor.checked_neg()? };
                    return self.add(*right, factor, point, sum, depth);
                }
                BinaryOp::Mul => {
                    for (times, of) in [(*left, *right), (*right, *left)] {
                        if let Some(times) = self.known(times, point) {
                            return self.add(of, factor.checked_mul(times)?, point, sum, depth);
                        }
                    }
                }
                BinaryOp::Shl => {
                    if let Some(bits @ 0..31) = self.known(*right, point) {
                        return self.add(*left, factor.checked_mul(1 << bits)?, point, sum, depth);
                    }
                }
                BinaryOp::Div
                | BinaryOp::Rem
                | BinaryOp::BitAnd
                | BinaryOp::BitOr
                | BinaryOp::BitXor
                | BinaryOp::Shr
                | BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Eq
                | BinaryOp::Ne
                | BinaryOp::Lt
                | BinaryOp::Le
                | BinaryOp::Gt
                | BinaryOp::Ge => {}
            }
        }
        // A name for a value: what that is computed from is asked where the index is.
        if let Some(value) = of.source.read().and_then(|variable| kernel.cfg.only_value(variable))
            && self.range_of_loop(node).is_none()
        {
            return self.add(value, factor, point, sum, depth);
        }
        let same = |other: NodeId| other == node || self.is_same(other, node, point);
        match sum.terms.iter().position(|(other, _)| same(*other)) {
            Some(at) => {
                sum.terms[at].1 = sum.terms[at].1.checked_add(factor)?;
                if sum.terms[at].1 == 0 {
                    sum.terms.remove(at);
                }
            }
            None => sum.terms.push((node, factor)),
        }
        Some(())
    }

    /// An evaluator whose counters are nobody else's: what is only asked about need not be counted.
    pub(super) fn aside<'s>(&'s self, counters: &'s Counters) -> Evaluator<'s, 'a, 'f> {
        Evaluator { counters, ..*self }
    }

    fn known(&self, node: NodeId, point: Point) -> Option<i64> {
        let counters = Counters::default();
        self.aside(&counters).value(node, point).known()
    }

    /// Whether two values are the same at a point.
    fn is_same(&self, one: NodeId, other: NodeId, point: Point) -> bool {
        let counters = Counters::default();
        let aside = self.aside(&counters);
        match (aside.value(one, point), aside.value(other, point)) {
            (Value::Expr(one), Value::Expr(other)) => one == other,
            (Value::Symbol(one), Value::Symbol(other)) => one == other,
            (Value::Expr(_) | Value::Symbol(_) | Value::Unknown, _) => false,
        }
    }

    /// The numbers that a value may be.
    fn range(&self, node: NodeId, point: Point, depth: u32) -> Option<(i64, i64)> {
        let depth = depth.checked_sub(1)?;
        if let Some(known) = self.known(node, point) {
            return Some((known, known));
        }
        let kernel = self.kernel;
        let of = &kernel.cfg.nodes[node.0];
        let range = match (&of.source, &of.operands[..]) {
            (Source::Read(variable), _) => match kernel.cfg.only_value(*variable) {
                Some(value) => self.range(value, point, depth),
                None => {
                    let (start, end, inclusive) = self.range_of_loop(node)?;
                    let (first, last) = (self.range(start, point, depth)?.0, self.range(end, point, depth)?.1);
                    Some((first, last - i64::from(!inclusive)))
                }
            },
            (Source::Binary(op), [left, right]) => {
                let left = || self.range(*left, point, depth);
                let number = || self.known(*right, point).filter(|number| *number > 0);
                match op {
                    BinaryOp::Add => plus(left()?, self.range(*right, point, depth)?),
                    BinaryOp::Sub => plus(left()?, times(self.range(*right, point, depth)?, (-1, -1))?),
                    BinaryOp::Mul => times(left()?, self.range(*right, point, depth)?),
                    BinaryOp::Div => number().zip(left()).map(|(by, (first, last))| (first / by, last / by)),
                    BinaryOp::Rem => {
                        let (by, (first, last)) = number().zip(left())?;
                        (first >= 0).then_some((0, last.min(by - 1)))
                    }
                    BinaryOp::BitAnd => number().map(|mask| (0, mask)),
                    BinaryOp::Shr => {
                        let bits = self.known(*right, point).filter(|bits| (0..31).contains(bits))?;
                        left().map(|(first, last)| (first >> bits, last >> bits))
                    }
                    BinaryOp::Shl
                    | BinaryOp::BitOr
                    | BinaryOp::BitXor
                    | BinaryOp::And
                    | BinaryOp::Or
                    | BinaryOp::Eq
                    | BinaryOp::Ne
                    | BinaryOp::Lt
                    | BinaryOp::Le
                    | BinaryOp::Gt
                    | BinaryOp::Ge => None,
                }
            }
            (Source::Operands, [left, right]) => {
                let both = || self.range(*left, point, depth).zip(self.range(*right, point, depth));
                match kernel.cfg.formulas.get(&node) {
                    Some(Formula::Min) => both().map(|(one, other)| (one.0.min(other.0), one.1.min(other.1))),
                    Some(Formula::Max) => both().map(|(one, other)| (one.0.max(other.0), one.1.max(other.1))),
                    Some(
                        Formula::Length
                        | Formula::DivCeil
                        | Formula::NextMultiple
                        | Formula::Negative
                        | Formula::RemEuclid
                        | Formula::Array
                        | Formula::Element
                        | Formula::Pick
                        | Formula::Replaced { .. }
                        | Formula::GoesOn { .. },
                    )
                    | None => None,
                }
            }
            _ => None,
        };
        let fits = |(first, last): &(i64, i64)| {
            let bits = kernel.cfg.cuts.get(&node);
            bits.is_none_or(|bits| *first >= 0 && (*bits >= 63 || last >> bits == 0))
        };
        range.filter(fits)
    }

    /// The ends of the range whose numbers a value is, if a loop counts them.
    fn range_of_loop(&self, node: NodeId) -> Option<(NodeId, NodeId, bool)> {
        let kernel = self.kernel;
        let variable: Variable = kernel.cfg.nodes[node.0].source.read()?;
        let counted = kernel.loop_of(variable)?;
        let of_loop = |value: NodeId| {
            let of = &kernel.cfg.nodes[value.0];
            let is_first = matches!(of.source, Source::Operands) && of.operands.is_empty();
            is_first || matches!(of.source, Source::Counter { of, .. } if of == variable)
        };
        let is_counted = kernel.sets(variable).iter().all(|(_, value, _)| of_loop(*value));
        is_counted.then_some((counted.start, counted.end, counted.inclusive))
    }
}

fn plus(one: (i64, i64), other: (i64, i64)) -> Option<(i64, i64)> {
    Some((one.0.checked_add(other.0)?, one.1.checked_add(other.1)?))
}

fn times(one: (i64, i64), other: (i64, i64)) -> Option<(i64, i64)> {
    let all = [(one.0, other.0), (one.0, other.1), (one.1, other.0), (one.1, other.1)];
    let all: Option<Vec<i64>> = all.iter().map(|(one, other)| one.checked_mul(*other)).collect();
    let all = all?;
    Some((*all.iter().min()?, *all.iter().max()?))
}
