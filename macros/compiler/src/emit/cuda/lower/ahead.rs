//! Loops of which several iterations are taken at a time, although the kernel does not ask for it, because the compiler of CUDA C++ takes
//! too few by itself:
//!
//! - Recurrences store in each iteration what they compute of what the one before has left in a variable, as an average along the time
//!   does. Their iterations wait for each other, so that the time of a load shows unless those of several iterations are in flight.
//! - Loops in which threads meet and whose stages take turns (`k % 2`). With as many iterations as there are stages, the stage is a
//!   constant in each, and so is what would be computed of it. The tests of accesses keep the compiler from seeing that.
//! - Loops that read a peer's memory in each iteration, which takes several times as long as of the block's own: eight reads are in flight,
//!   where the compiler has four.
//! - Loops in which lanes load vectors, and their warp combines what it computes of them, as a warp does that takes a key or a row in each
//!   iteration. The loads of an iteration wait for the shuffles of the one before. `hoist` prints them twice, too: with tests between them,
//!   loads of several iterations do not come together.

use proc_macro2::TokenStream;

use super::access::{Access, AccessForm};
use super::collectives::is_collective;
use super::constant_loops::size;
use super::nest::Nest;
use super::numbers::{self, count, number};
use super::peers::is_remote;
use crate::model::expr::{BinaryOp, Expr, ExprKind};
use crate::model::op::Op;
use crate::model::place::{local_of, writes};
use crate::model::walk::{walk, walk_block};
use crate::model::{Function, LocalId};

/// The largest body of a recurrence, in expressions as they are written, and the number of its iterations that are taken at a time. Of a
/// larger one, even four at a time take more registers than they are worth.
const LARGEST_RECURRENCE: u64 = 128;
const RECURRENCE: u64 = 8;

/// The largest body of a loop that reads a peer's memory, in expressions as they are written, and the number of its iterations that are taken
/// at a time.
const LARGEST_READ: u64 = 128;
const READ: u64 = 8;

/// The largest body of a loop in which a warp combines, in expressions that an iteration evaluates, and the number of its iterations that
/// are taken at a time. A larger one takes several rows at once by itself.
const LARGEST_COMBINATION: u64 = 250;
const COMBINATION: u64 = 4;

/// The largest body of a loop with stages, in expressions that an iteration evaluates: with 32 rows of a grid each.
const LARGEST_STAGE: u64 = 4000;

/// The most iterations of a loop inside of a loop.
const MOST_INNER: u64 = 8;

/// The numbers of stages by which a loop is unrolled.
pub(super) const STAGES: [u64; 2] = [2, 4];

/// The number of iterations of a loop that are to be taken at a time.
pub(super) enum Ahead {
    Rounds(u64),
    /// The same, if an iteration evaluates at most so many expressions, a number that only the runtime knows.
    RoundsIf {
        rounds: u64,
        size: TokenStream,
        most: u64,
    },
    /// A number of stages that has a name.
    Stages(TokenStream),
}

/// Returns the number of iterations of a loop that are to be taken at a time.
pub(super) fn ahead(function: &Function, nest: &Nest<'_>) -> Option<Ahead> {
    let is_small = |sizes: &Sizes| sizes.all == Some(sizes.written) && sizes.written <= LARGEST_READ;
    if reads_peer(nest) && Sizes::of(function, nest).is_some_and(|sizes| is_small(&sizes)) {
        return Some(Ahead::Rounds(READ));
    }
    // What to do with another constant number of iterations, the compiler knows.
    if matches!(&nest.whole.kind, ExprKind::For { range, .. } if range.count().is_some() || count(function, range).is_some())
    {
        return None;
    }
    let (ExprKind::For { body, .. } | ExprKind::While { body, .. }) = &nest.whole.kind else { return None };
    let is_stage = || nest.callees.is_empty() && size(body).is_some_and(|size| size <= LARGEST_STAGE);
    if let Some(stages) = stages(function, nest).filter(|_| is_stage()) {
        return Some(stages);
    }
    let sizes = Sizes::of(function, nest)?;
    if sizes.written <= LARGEST_RECURRENCE && is_recurrence(nest) {
        return Some(match sizes.all {
            Some(_) => Ahead::Rounds(RECURRENCE),
            None => Ahead::RoundsIf {
                rounds: RECURRENCE,
                size: numbers::size(function, body)?,
                most: MOST_INNER * LARGEST_RECURRENCE,
            },
        });
    }
    is_combination(function, nest).then_some(Ahead::Rounds(COMBINATION))
}

/// Whether a loop reads an element of a peer's memory, or a vector, in each iteration.
fn reads_peer(nest: &Nest<'_>) -> bool {
    nest.accesses.iter().filter_map(|(_, access)| Access::of(access)).any(|access| {
        let is_read = matches!(access.form, AccessForm::Element | AccessForm::LoadVec(_));
        is_read && access.memory.memory().is_some_and(is_remote) && !nest.conditional.contains_key(&access.site)
    })
}

/// Whether the lanes of a warp combine values in each iteration of a loop that loads vectors in each, and stores nothing. The loop is small:
/// printed twice, a large one is slower, and so is one whose size only the runtime knows, as that of four keys with a name.
pub(super) fn is_combination(function: &Function, nest: &Nest<'_>) -> bool {
    let (mut loads, mut combines, mut stores) = (false, false, false);
    walk(nest.whole, &mut |expr| match &expr.kind {
        ExprKind::Op { op: Op::LoadVec(_), site, .. } => {
            loads |= site.is_some_and(|site| !nest.conditional.contains_key(&site));
        }
        ExprKind::Op { op: Op::Warp(..), .. } => combines = true,
        ExprKind::Op { op: Op::StoreVec, .. } => stores = true,
        ExprKind::Assign(place, _) | ExprKind::AssignOp { place, .. } => stores |= is_memory(place),
        _ => {}
    });
    let is_small = |sizes: Sizes| sizes.all.is_some_and(|all| all <= LARGEST_COMBINATION);
    loads && combines && !stores && Sizes::of(function, nest).is_some_and(is_small)
}

/// The size of a loop whose loops inside have few iterations, and which calls nothing.
struct Sizes {
    /// The number of its expressions.
    written: u64,
    /// The number of those that an iteration evaluates, unless the length of a loop inside has a name.
    all: Option<u64>,
}

impl Sizes {
    fn of(function: &Function, nest: &Nest<'_>) -> Option<Sizes> {
        nest.callees.is_empty().then_some(())?;
        let (mut written, mut repeated, mut is_plain) = (0, Some(0), true);
        walk(nest.whole, &mut |expr| {
            written += 1;
            match &expr.kind {
                ExprKind::For { range, body, .. } if !std::ptr::eq(expr, nest.whole) => match range.count() {
                    Some(count) if count <= MOST_INNER => {
                        walk_block(body, &mut |_| repeated = repeated.map(|all| all + count.saturating_sub(1)));
                    }
                    Some(_) => is_plain = false,
                    None if count(function, range).is_some() => repeated = None,
                    None => is_plain = false,
                },
                ExprKind::Loop { .. } => is_plain = false,
                ExprKind::While { .. } => is_plain &= std::ptr::eq(expr, nest.whole),
                _ => {}
            }
        });
        is_plain.then_some(Sizes { written, all: repeated.map(|repeated| written + repeated) })
    }
}

/// Whether a loop is a recurrence, and loads from memory in every iteration.
fn is_recurrence(nest: &Nest<'_>) -> bool {
    let (mut stores, mut loads, mut carries) = (0, 0, false);
    let is_outer = |place: &Expr| local_of(place).filter(|local| !nest.declared.contains(local));
    walk(nest.whole, &mut |expr| match &expr.kind {
        ExprKind::Index { base, site, .. } => {
            loads += usize::from(base.memory().is_some() && !nest.conditional.contains_key(site));
        }
        ExprKind::Assign(place, _) | ExprKind::AssignOp { place, .. } => {
            stores += usize::from(is_memory(place));
            carries |= is_outer(place).is_some_and(|local| is_carried(nest, local));
        }
        _ => {}
    });
    // A place that is stored to is an index, too.
    carries && stores > 0 && loads > stores
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

/// Returns the number of stages that take turns in a loop in which threads meet: of `k % 2`, of its variable `k`.
fn stages(function: &Function, nest: &Nest<'_>) -> Option<Ahead> {
    let variable = nest.variable?;
    let (mut meets, mut multiplies, mut stages, mut named) = (false, false, None, None);
    walk(nest.whole, &mut |expr| match &expr.kind {
        ExprKind::Op { op, .. } => {
            meets |= is_collective(*op);
            multiplies |= matches!(op, Op::MmaAsync { .. });
        }
        ExprKind::Binary { op: BinaryOp::Rem, left, right, .. } if local_of(left) == Some(variable) => {
            stages = stages.max(right.integer());
            named = named.take().or_else(|| number(function, right));
        }
        _ => {}
    });
    let [least, most] = STAGES;
    match stages {
        _ if !meets => None,
        Some(stages) => (least..=most).contains(&stages).then_some(Ahead::Rounds(stages)),
        // Several iterations with products in flight would take registers from them.
        None => named.filter(|_| !multiplies).map(Ahead::Stages),
    }
}

/// Whether a place is an element of memory.
pub(super) fn is_memory(place: &Expr) -> bool {
    matches!(&place.kind, ExprKind::Index { base, .. } if base.memory().is_some())
}

fn reads_memory(expr: &Expr) -> bool {
    let mut found = false;
    walk(expr, &mut |inner| found |= is_memory(inner));
    found
}
