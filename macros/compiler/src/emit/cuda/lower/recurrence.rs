//! Recurrences: loops that store in each iteration what they compute of what the one before has left in a variable, as an average
//! along the time does. Their iterations wait for each other, so that the time of a load shows unless those of several
//! iterations are in flight. The compiler of CUDA C++ takes too few of them at a time by itself.

use super::nest::Nest;
use crate::model::LocalId;
use crate::model::expr::{Expr, ExprKind};
use crate::model::place::{local_of, writes};
use crate::model::range::Range;
use crate::model::walk::walk;

/// The largest body that is unrolled, in expressions.
const LARGEST_BODY: usize = 64;

/// The most iterations of a loop inside of it.
const MOST_INNER: u64 = 8;

/// Whether a loop is a recurrence, has a small body and loads from memory in every iteration.
pub(super) fn is_recurrence(nest: &Nest<'_>) -> bool {
    // What to do with a constant number of iterations, the compiler knows.
    if matches!(&nest.whole.kind, ExprKind::For { range, .. } if count(range).is_some()) {
        return false;
    }
    let (mut size, mut stores, mut loads, mut carries, mut is_plain) = (0, 0, 0, false, nest.callees.is_empty());
    let is_outer = |place: &Expr| local_of(place).filter(|local| !nest.declared.contains(local));
    walk(nest.whole, &mut |expr| {
        size += 1;
        match &expr.kind {
            ExprKind::Index { base, site, .. } => {
                loads += usize::from(base.memory().is_some() && !nest.conditional.contains_key(site));
            }
            ExprKind::Assign(place, _) | ExprKind::AssignOp { place, .. } => {
                stores += usize::from(is_memory(place));
                carries |= is_outer(place).is_some_and(|local| is_carried(nest, local));
            }
            ExprKind::For { range, .. } if !std::ptr::eq(expr, nest.whole) => {
                is_plain &= count(range).is_some_and(|count| count <= MOST_INNER);
            }
            ExprKind::Loop { .. } => is_plain = false,
            ExprKind::While { .. } => is_plain &= std::ptr::eq(expr, nest.whole),
            _ => {}
        }
    });
    // A place that is stored to is an index, too.
    is_plain && carries && stores > 0 && loads > stores && size <= LARGEST_BODY
}

/// Whether an iteration uses what the one before has left in a variable. One that grows by what the loop does not load is known.
fn is_carried(nest: &Nest<'_>, local: LocalId) -> bool {
    let mut occurrences = 0;
    walk(nest.whole, &mut |expr| {
        occurrences += usize::from(matches!(expr.kind, ExprKind::Local(other) if other == local));
        occurrences +=
            usize::from(matches!(&expr.kind, ExprKind::AssignOp { place, .. } if local_of(place) == Some(local)));
    });
    let steps = nest.inductions.get(&local);
    occurrences > writes(nest.whole, local) && steps.is_none_or(|induction| reads_memory(induction.step))
}

fn is_memory(place: &Expr) -> bool {
    matches!(&place.kind, ExprKind::Index { base, .. } if base.memory().is_some())
}

fn reads_memory(expr: &Expr) -> bool {
    let mut found = false;
    walk(expr, &mut |inner| found |= is_memory(inner));
    found
}

fn count(range: &Range) -> Option<u64> {
    let (start, end) = range.start.integer().zip(range.end.integer())?;
    Some(end.saturating_sub(start))
}
