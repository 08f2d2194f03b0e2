//! The values of the variables of the loops inside of a loop, before which all their accesses are tested: of a range, also where it
//! starts or ends at the variable of a loop around it, as in `for j in i + 1..n`, and of the counter of a `while`.

use std::collections::BTreeMap;

use super::access::Region;
use super::counter::{Counter, InnerCounter};
use super::intervals::{Source, Value, Values};
use crate::emit::cuda::ast::CuExpr;
use crate::model::LocalId;
use crate::model::range::{Adaptor, Range};

impl<'e> Values<'_, '_, 'e> {
    /// Adds the variables of the loops inside, from the outermost in, whose values may depend on those of the loops around them.
    pub(super) fn insert_inner(&mut self) {
        let loops = self.nest.loops.iter().map(|(local, (statement, range))| (*local, (*statement, Some(*range))));
        let counters = self.nest.counters.iter().map(|(local, inner)| (*local, (inner.statement, None)));
        let inner: BTreeMap<LocalId, (usize, Option<&'e Range>)> = loops.chain(counters).collect();
        for (local, (statement, range)) in inner {
            let values = match range {
                Some(range) => self.inner_range(range, statement),
                None => self.inner_counter(local),
            };
            if let Some((values, sources)) = values {
                self.insert(local, values, sources);
            }
        }
    }

    /// Returns the values of the variable of an inner loop, of whose range the values are known before the outer one.
    fn inner_range(&mut self, range: &'e Range, statement: usize) -> Option<(CuExpr, Vec<Source>)> {
        let Some(ends) = self.fixed(&range.start).zip(self.fixed(&range.end)) else {
            range.adaptors.is_empty().then_some(())?;
            let (first, end) = (self.index(&range.start, statement)?, self.index(&range.end, statement)?);
            return Some(values_from(
                if range.inclusive { "values_through" } else { "values_below" },
                [first, end],
                None,
            ));
        };
        let ends = vec![ends.0, ends.1];
        let whole = CuExpr::call(if range.inclusive { "range_inclusive" } else { "range" }, ends);
        let whole = match (range.inclusive, &range.adaptors[..]) {
            (_, []) => whole,
            (false, [Adaptor::StepBy(step, _)]) => {
                // A step of zero fails where it is evaluated, and not here.
                let is_literal = step.integer().is_some_and(|step| step > 0);
                let name = if is_literal { "step_by" } else { "stepped" };
                let arguments = vec![self.fixed(step)?];
                CuExpr::Method { base: Box::new(whole), name, arguments, site: None }
            }
            _ => return None,
        };
        Some((CuExpr::call("values_of", vec![whole]), Vec::new()))
    }

    /// Returns the values of the counter of an inner loop where it is below its bound.
    fn inner_counter(&mut self, local: LocalId) -> Option<(CuExpr, Vec<Source>)> {
        let InnerCounter { counter: Counter { end, inclusive, step, .. }, statement, init, .. } =
            self.nest.counters.get(&local)?;
        let (end, inclusive, step, statement, (declared, init)) = (*end, *inclusive, *step, *statement, *init);
        if !self.lower.integers.has(local) || self.nest.receivers.contains(&local) {
            return None;
        }
        let (first, end) = (self.index(init, declared)?, self.index(end, statement)?);
        let step = self.fixed(step)?;
        Some(values_from(if inclusive { "counted_through" } else { "counted_below" }, [first, end], Some(step)))
    }
}

/// Returns the values from those of the first to those of the second, and what they depend on.
fn values_from(callee: &'static str, [first, end]: [Value; 2], step: Option<CuExpr>) -> (CuExpr, Vec<Source>) {
    let sources = [first.sources(), end.sources()].concat();
    let arguments = [first.interval(), end.text()].into_iter().chain(step).collect();
    (CuExpr::call(callee, arguments), sources)
}
