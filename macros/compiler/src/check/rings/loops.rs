//! Loops over ranges: their numbers, their decisions, and what is certain to happen in them.

use std::collections::BTreeSet;

use super::kernel::Refusal;
use super::value::Counter;
use super::walk::{Key, Walker};
use crate::check::cfg::{BlockId, CountedLoop, End, NodeId};
use crate::rings::{Condition, Expr, Op, Operator};

/// The largest number of iterations that is followed exactly where arguments are open. The iterations of longer loops are taken
/// to be open, too.
const LONGEST: i64 = 8;

impl Walker<'_, '_, '_, '_> {
    /// Counts where control comes to the head of a loop: resets the number of iterations of one that begins, and goes on to the next
    /// number of one that is repeated.
    pub(super) fn count(&mut self, from: BlockId, to: BlockId) {
        let cfg = self.evaluator.kernel.cfg;
        if let Some(counted) = cfg.counted.get(&to).filter(|counted| counted.before != from) {
            let inside = &cfg.blocks[counted.inside.0].steps;
            let variable = inside.iter().find_map(|step| step.kind.set()).map(|(variable, ..)| variable);
            if let Some((variable, counter)) = variable
                .and_then(|variable| Some((variable, self.evaluator.counters.get(Counter::Variable(variable))?)))
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
        let head =
            cfg.counted.iter().find(|(head, counted)| counted.before == from && (**head == to || counted.inside == to));
        if let Some((head, _)) = head
            && let Some(counter) = self.evaluator.counters.get(Counter::Iterations(*head))
        {
            let begun = i64::from(*head != to);
            let at = self.kernel().whole();
            let point = (from, cfg.blocks[from.0].steps.len());
            self.push(point, at, Op::Set(vec![(counter, Expr::constant(begun))]));
        }
    }

    /// The decision of a loop over a range.
    pub(super) fn counted(
        &self,
        block: BlockId,
        on: NodeId,
        counted: &CountedLoop,
    ) -> Result<(Condition, Vec<Key>, Option<u32>), Refusal> {
        let kernel = self.kernel();
        let before = (counted.before, kernel.cfg.blocks[counted.before.0].steps.len());
        let value = |node| self.evaluator.value(node, before);
        let (start, end) = (value(counted.start), value(counted.end));
        let Some(by) = counted.by.map(i64::abs).filter(|by| *by > 0) else {
            return Ok((Condition::Shared, vec![self.agreed(block, on)?], None));
        };
        let more = i64::from(counted.inclusive);
        let iterations = |length: i64| (length + more).max(0).checked_add(by - 1).map(|length| length / by);
        let length = end.symbol().zip(start.symbol()).and_then(|(end, start)| end.plus(-1, &start));
        match length.as_ref().and_then(|length| length.known()) {
            Some(length) if self.evaluator.arguments.is_none() && length > LONGEST => {
                let form = format!("for {}", iterations(length).unwrap_or(0));
                return Ok((Condition::Shared, vec![Key::Form(form)], None));
            }
            Some(length) => {
                let counter = self.evaluator.counters.number(Counter::Iterations(block));
                let most = Expr::constant(iterations(length).unwrap_or(0));
                let condition = Condition::Counters(Expr::counter(counter).apply(Operator::Lt, most));
                return Ok((condition, Vec::new(), Some(counter)));
            }
            None => {}
        }
        if let Some(length) = length {
            let form = format!("for {length} by {by} and {more}");
            let keys = std::iter::once(Key::Form(form)).chain(self.agreed(block, on).ok());
            return Ok((Condition::Shared, keys.collect(), None));
        }
        if let (Some(start), Some(end)) = (start.expr(), end.expr())
            && !start.has_counters()
            && !end.has_counters()
        {
            let counter = self.evaluator.counters.number(Counter::Iterations(block));
            let next = Expr::counter(counter).apply(Operator::Mul, Expr::constant(by)).apply(Operator::Add, start);
            let condition =
                Condition::Counters(next.apply(Operator::Lt, end.apply(Operator::Add, Expr::constant(more))));
            return Ok((condition, Vec::new(), Some(counter)));
        }
        Ok((Condition::Shared, vec![self.agreed(block, on)?], None))
    }

    /// The blocks that a thread comes to in each iteration of a loop over a range that has one.
    pub(super) fn certain(&self, head: BlockId) -> BTreeSet<BlockId> {
        let cfg = self.kernel().cfg;
        let mut certain = BTreeSet::new();
        let is_run = |head: BlockId| {
            let counted = cfg.counted.get(&head)?;
            self.evaluator.trips(counted).filter(|trips| *trips > 0)?;
            Some(counted.inside)
        };
        let mut next = is_run(head);
        while let Some(block) = next {
            next = match cfg.blocks[block.0].end {
                // The numbers of an inner loop follow, and then the rest.
                End::Branch { otherwise, .. } if certain.contains(&block) => Some(otherwise),
                End::Branch { .. } => is_run(block),
                End::Goto(next) if next != head => Some(next),
                End::Goto(_) | End::Option { .. } | End::Never | End::Leave => None,
            };
            if !certain.insert(block) && next.is_some_and(|next| certain.contains(&next)) {
                break;
            }
        }
        certain
    }
}
