//! Loops that do nothing but raise counters by known numbers: passed over at once where the number of their iterations is that of a loop
//! before, so that `for _ in 0..steps { begun += 1; }` behind a loop over `0..steps` is `begun += steps`.

use super::counters::Counter;
use super::symbol::Symbol;
use super::walk::Walker;
use crate::check::cfg::{BlockId, CountedLoop, End, Extent, Source};
use crate::rings::{Expr, Op, Operator};

/// The largest number by which a counter is raised.
const MOST: i64 = 8;

impl Walker<'_, '_, '_, '_> {
    /// Raises the counters of such a loop; says whether this is one.
    pub(super) fn raise(&mut self, head: BlockId, counted: &CountedLoop) -> bool {
        let cfg = self.kernel().cfg;
        let (begin, inside) = (&cfg.blocks[head.0], &cfg.blocks[counted.inside.0]);
        let goes_back = matches!(inside.end, End::Goto(next) if next == head);
        if self.evaluator.arguments.is_some() || !goes_back || begin.steps.iter().any(|step| self.is_relevant(step)) {
            return false;
        }
        let Some(iterations) = self.iterations(counted) else { return false };
        let mut raised = Vec::new();
        for (index, step) in inside.steps.iter().enumerate().filter(|(_, step)| self.is_relevant(step)) {
            let Some((variable, value, Extent::Whole)) = step.kind.set() else { return false };
            let Some(counter) = self.evaluator.counter(variable) else { return false };
            // The loop's own number is asked for in it alone.
            if matches!(cfg.nodes[value.0].source, Source::Counter { of, .. } if of == variable) {
                return false;
            }
            let by = self.difference(self.evaluator, variable, value, (counted.inside, index));
            let is_once = raised.iter().all(|(other, _)| *other != counter);
            let Some(by) = by.and_then(|by| by.known()).filter(|by| (1..=MOST).contains(by) && is_once) else {
                return false;
            };
            let more = (0..by).fold(Expr::counter(counter), |sum, _| sum.apply(Operator::Add, iterations.clone()));
            raised.push((counter, more));
        }
        if let Some(counter) = self.evaluator.counters.get(Counter::Iterations(head)) {
            raised.push((counter, iterations));
        }
        let point = (head, begin.steps.len());
        let at = begin.end.condition().map_or(self.kernel().whole(), |on| self.kernel().at(on));
        self.push(point, at, Op::Set(raised));
        true
    }

    /// The iterations of a loop in terms of those of a loop before.
    fn iterations(&self, counted: &CountedLoop) -> Option<Expr> {
        let before = (counted.before, self.kernel().cfg.blocks[counted.before.0].steps.len());
        let value = |node| self.evaluator.value(node, before);
        let (start, end) = (value(counted.start).known()?, value(counted.end).symbol()?);
        let is_plain = counted.by == Some(1) && !counted.inclusive;
        // A range that ends before it starts has none.
        self.evaluator.least(&end, before).filter(|least| is_plain && *least >= start)?;
        self.evaluator.counted_to(&end.plus(-start, &Symbol::constant(1))?, before)
    }
}
