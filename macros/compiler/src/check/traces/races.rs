//! Pairs of accesses that no barrier orders.

use phalanx_contract::uniformity::Uniformity;

use super::Check;
use super::elements::{Element, Elements};
use super::grouped::Grouped;
use super::trace::{Made, MadeBy, Stored, Time, Trace, Use};
use crate::check::cfg::{Covers, NodeId, Shared};
use crate::diag::Diag;
use crate::messages;
use crate::rules::Rule;

/// The largest number of pairs that are compared.
const PAIRS: usize = 200_000;

/// `unsynchronized_access`: between a thread's write to shared memory and another thread's access to the same element there is a barrier.
///
/// ```text
/// s[t] = input[t];
/// let next = s[(t + 1) % 64];             // another thread may not have written it yet
/// ```
pub(super) fn within_block(check: &Check<'_, '_>, traces: &[Trace], waived: bool) -> Option<Diag> {
    if waived && !check.function.waives(Rule::UnsynchronizedAccess) {
        return None;
    }
    let (one, two) = first_pair(traces, |one, two| are_unordered(check, one, two, waived))?;
    Some(unsynchronized(check, one, two))
}

/// Returns a race of threads whose data are alike, if one reads what the other writes: that no two of them write one element, the host may promise.
///
/// ```text
/// bins[digits[i] % 64] += 1;              // and no atomic
/// ```
pub(super) fn of_data_alike(check: &Check<'_, '_>, traces: &[Trace], waived: bool) -> Option<Diag> {
    let is_pair = |one: MadeBy<'_>, two: MadeBy<'_>| {
        one.1.by.writes() != two.1.by.writes() && are_unordered(check, one, two, waived)
    };
    let within = first_pair(traces, is_pair).map(|(one, two)| unsynchronized(check, one, two));
    within.or_else(|| across(check, traces, waived, |a, b| a.by.writes() != b.by.writes()))
}

/// Whether no barrier is between two accesses of threads of one block that need one.
pub(super) fn are_unordered(check: &Check<'_, '_>, (one, a): MadeBy<'_>, (two, b): MadeBy<'_>, waived: bool) -> bool {
    let in_one_warp = one.is_in_warp_of(two);
    let is_told =
        |of: &Made, other: &Made| of.may_be_told && other.time.may_know && !of.time.has_waited_alike(other.time);
    one.id.block == two.id.block
        && are_certain((one, a), (two, b))
        && !check.are_fields(a, b)
        && !(a.time.is_lost || b.time.is_lost)
        && (!in_one_warp || a.time.with_warp == b.time.with_warp)
        && !are_ordered(a.time, b.time, 0)
        && !(is_told(a, b) || is_told(b, a))
        && check.conflict((one, a), (two, b))
        && !wrote_it_alike((one, a), b)
        && !wrote_it_alike((two, b), a)
        && check.is_waived(Rule::UnsynchronizedAccess, if a.by.writes() { b } else { a }) == waived
}

/// The fault of two such accesses.
pub(super) fn unsynchronized(check: &Check<'_, '_>, one: MadeBy<'_>, two: MadeBy<'_>) -> Diag {
    let (reader, writer) = if one.1.by.writes() { (two, one) } else { (one, two) };
    let [at, other] = [reader, writer].map(|(_, made)| check.cfg.accesses[made.access.0].at);
    let name = check.name_at(reader.1);
    let in_one_warp = reader.0.is_in_warp_of(writer.0);
    let (reads, ranks) = (!reader.1.by.writes(), (reader.0.id.rank, writer.0.id.rank));
    let fault = messages::unsynchronized_access(at, other, &name, reads, ranks, in_one_warp);
    let [first, last] = [reader.1, writer.1].map(|made| made.time.phases[1].arrivals);
    let is_between = |before: u32| (first.min(last)..first.max(last)).contains(&before);
    match reader.0.relaxed.iter().find(|(before, _)| is_between(*before)) {
        Some((_, arrival)) => messages::with_relaxed_arrival(fault, *arrival),
        None => fault,
    }
}

/// `unordered_remote_write`: the accesses of two blocks to an element of a third, of which one is a write, are ordered, and so are a peer's
/// write and an access of the block that has the element.
///
/// ```text
/// if rank == 1 || rank == 2 { cluster.map_shared_rank(&array, 0)[i] = rank; }
/// ```
///
/// Owners and peers are compared for all values of variables, too (`dsm`), but not by the thread that accesses an element, nor where names
/// of memory are assigned anew.
pub(super) fn across_blocks(check: &Check<'_, '_>, traces: &[Trace], waived: bool) -> Option<Diag> {
    across(check, traces, waived, |_, _| true)
}

fn across(
    check: &Check<'_, '_>,
    traces: &[Trace],
    waived: bool,
    is_asked: impl Fn(&Made, &Made) -> bool,
) -> Option<Diag> {
    // A fence of another thread, behind a barrier of the block, may have released what a relaxed arrival does not.
    let may_be_fenced = check.orders && traces.iter().any(|trace| !trace.relaxed.is_empty());
    if may_be_fenced || waived && !check.function.waives(Rule::UnorderedRemoteWrite) {
        return None;
    }
    let is_pair = |(one, a): MadeBy<'_>, (two, b): MadeBy<'_>| {
        let is_by_peer = |made: &Made| made.is_remote && made.by.writes();
        one.id.block != two.id.block
            && (a.is_remote && b.is_remote || is_by_peer(a) || is_by_peer(b))
            && !(a.time.is_lost || b.time.is_lost)
            && !check.are_fields(a, b)
            && (a.by.writes() || b.by.writes())
            && is_asked(a, b)
            && !(a.by.is_atomic() && b.by.is_atomic())
            && !are_ordered(a.time, b.time, 1)
            && !(a.may_know_peers || b.may_know_peers)
            && check.is_waived(Rule::UnorderedRemoteWrite, if a.by.writes() { a } else { b }) == waived
    };
    let (one, two) = first_pair(traces, is_pair)?;
    let is_first = one.1.by.writes() && (one.1.is_remote || !two.1.by.writes());
    let (first, second) = if is_first { (one, two) } else { (two, one) };
    let [at, other] = [first, second].map(|(_, made)| check.cfg.accesses[made.access.0].at);
    let block = |by: MadeBy<'_>| by.0.id.block.unwrap_or(0);
    let (name, owner, writes) = (check.name(first.1.element), first.1.element.0, second.1.by.writes());
    Some(match block(second) == owner {
        true => messages::unordered_remote_write(at, other, &name, (true, writes), false),
        false => messages::two_blocks_meet(at, other, &name, writes, (block(first), block(second), owner)),
    })
}

/// `unsynchronized_access` between two blocks of a grid: what one writes to a parameter, another accesses behind a barrier of the grid.
///
/// ```text
/// sums[block_rank] = sum; block.sync();   // and no `grid.sync()`
/// let other = sums[block_rank ^ 1];       // the other block may not have written it yet
/// ```
pub(super) fn across_grid(check: &Check<'_, '_>, traces: &[Trace], waived: bool) -> Option<Diag> {
    if waived && !check.function.waives(Rule::UnsynchronizedAccess) {
        return None;
    }
    let is_pair = |(one, a): MadeBy<'_>, (two, b): MadeBy<'_>| {
        let is_told = |of: &Made, other: &Made| of.may_be_told && other.time.may_know;
        one.id.block != two.id.block
            && matches!(a.element.1, Shared::Param(_))
            && !check.are_fields(a, b)
            && !(a.time.is_lost || b.time.is_lost)
            && !are_ordered(a.time, b.time, 2)
            && !(is_told(a, b) || is_told(b, a))
            && check.conflict((one, a), (two, b))
            && !wrote_it_alike((one, a), b)
            && !wrote_it_alike((two, b), a)
            && check.is_waived(Rule::UnsynchronizedAccess, if a.by.writes() { b } else { a }) == waived
    };
    let (one, two) = first_pair(traces, is_pair)?;
    let (reader, writer) = if one.1.by.writes() { (two, one) } else { (one, two) };
    let [at, other] = [reader, writer].map(|(_, made)| check.cfg.accesses[made.access.0].at);
    let of = |(trace, _): MadeBy<'_>| (trace.id.rank, trace.id.block.unwrap_or(0));
    let name = check.name(reader.1.element);
    Some(messages::unsynchronized_blocks(at, other, &name, !reader.1.by.writes(), of(reader), of(writer)))
}

/// Whether both accesses are made: nothing is assumed, or that one of the two threads enters an arm, and no other.
fn are_certain((one, a): MadeBy<'_>, (two, b): MadeBy<'_>) -> bool {
    (one.is_assumed, two.is_assumed) == (a.is_assumed, b.is_assumed) && !(one.is_assumed && two.is_assumed)
}

/// Whether the thread that reads an element has written it before where the other thread writes it: that may be the same value.
fn wrote_it_alike((reader, read): MadeBy<'_>, write: &Made) -> bool {
    let before = reader.made.iter().take_while(|made| !std::ptr::eq(*made, read));
    read.by == Use::Read
        && write.by == Use::Write
        && before.into_iter().any(|made| (made.access, made.element) == (write.access, write.element))
}

fn are_ordered(a: Time, b: Time, smallest: usize) -> bool {
    a.comes_before(b, smallest) || b.comes_before(a, smallest)
}

fn first_pair<'t>(
    traces: &'t [Trace],
    is_pair: impl Fn(MadeBy<'t>, MadeBy<'t>) -> bool,
) -> Option<(MadeBy<'t>, MadeBy<'t>)> {
    let mut left = PAIRS;
    for (_, accesses) in Grouped::of(traces).written() {
        // Two reads never meet.
        let writes: Vec<usize> = (0..accesses.len()).filter(|number| accesses[*number].1.by.writes()).collect();
        let Some(last) = writes.last() else { continue };
        for (number, one) in accesses.iter().enumerate() {
            let one_writes = one.1.by.writes();
            if !one_writes && number > *last {
                break;
            }
            let later_writes = &writes[writes.partition_point(|write| *write <= number)..];
            let others = if one_writes { accesses.len() - number - 1 } else { later_writes.len() };
            left = left.checked_sub(others)?;
            for other in 0..others {
                let two = &accesses[if one_writes { number + 1 + other } else { later_writes[other] }];
                if one.0.id != two.0.id && is_pair(*one, *two) {
                    return Some((*one, *two));
                }
            }
        }
    }
    None
}

impl Check<'_, '_> {
    /// Whether two accesses of an element have to be in order.
    fn conflict(&self, (one, a): MadeBy<'_>, (two, b): MadeBy<'_>) -> bool {
        match (a.by, b.by) {
            // All threads may have calculated what one statement writes to global memory, each for itself.
            (Use::Write, Use::Write) if a.access == b.access && matches!(a.element.1, Shared::Param(_)) => false,
            (Use::Write, Use::Write) => self.differ((one, a), (two, b)),
            // Two atomics are in order.
            _ => (a.by.writes() || b.by.writes()) && !(a.by.is_atomic() && b.by.is_atomic()),
        }
    }

    /// Whether two threads write different values, unless two elements of memory happen to be equal.
    fn differ(&self, (one, a): MadeBy<'_>, (two, b): MadeBy<'_>) -> bool {
        let stored = |made: &Made| self.cfg.accesses[made.access.0].stored;
        let (Some(first), Some(second)) = (stored(a), stored(b)) else { return false };
        if a.stored.is_some() && a.stored == b.stored {
            return false;
        }
        // Values of which nothing is known differ if each thread, or each group of threads, has its own.
        let is_own = |node: NodeId| {
            let level = self.values.level(node);
            let threads = match level.at_most {
                Uniformity::Divergent | Uniformity::Rank => Some(1),
                Uniformity::Tile(bits) => Some(1 << bits),
                Uniformity::Warp => Some(32),
                Uniformity::Warpgroup => Some(128),
                Uniformity::Group(_)
                | Uniformity::Parameter(_)
                | Uniformity::Block
                | Uniformity::Cluster
                | Uniformity::Grid => None,
            };
            level.unknown.is_empty() && threads.is_some_and(|threads| one.id.rank / threads != two.id.rank / threads)
        };
        match (a.stored, b.stored) {
            (Some(Stored::Number(_)), Some(Stored::Number(_))) => true,
            (None | Some(Stored::Number(_) | Stored::Hash(_)), _) => is_own(first) || is_own(second),
        }
    }

    /// Whether the two may access different fields of an element.
    fn are_fields(&self, a: &Made, b: &Made) -> bool {
        let covers = |made: &Made| self.cfg.accesses[made.access.0].covers;
        // What is one field's is compared where both are known to be of one.
        let known = |covers| match covers {
            Covers::Field(field) | Covers::Item { field, .. } => Some(field),
            Covers::Whole | Covers::Receiver | Covers::Vector { .. } | Covers::Matrix { .. } => None,
        };
        match (covers(a), covers(b)) {
            (Covers::Item { .. }, Covers::Item { .. }) if known(covers(a)) == known(covers(b)) => {
                a.inside.is_none() || b.inside.is_none() || a.inside != b.inside
            }
            (one, other) => match (known(one), known(other)) {
                (Some(Some(one)), Some(Some(other))) => one != other,
                (Some(_), Some(_)) => a.access != b.access,
                _ => false,
            },
        }
    }

    fn is_waived(&self, rule: Rule, made: &Made) -> bool {
        self.function.waives_at(rule, self.cfg.accesses[made.access.0].at)
    }

    /// The element that an access names, as the text would name it: one memory may have several names.
    fn name_at(&self, made: &Made) -> String {
        let (owner, shared, indexes) = made.element;
        match Elements::memory(&self.cfg.accesses[made.access.0].region) {
            Some(named @ Shared::Slice(_)) => self.name((owner, named, indexes)),
            Some(Shared::Array(_) | Shared::Dynamic | Shared::Param(_) | Shared::Any) | None => {
                self.name((owner, shared, indexes))
            }
        }
    }

    /// The element as the text would name it.
    pub(super) fn name(&self, (_, shared, _): Element) -> String {
        let name = match shared {
            Shared::Param(position) => Some(&self.function.local(self.function.params[position].local).name),
            Shared::Array(_) | Shared::Slice(_) | Shared::Dynamic | Shared::Any => {
                self.cfg.name_of(self.function, shared)
            }
        };
        name.map_or_else(|| "the memory".into(), |name| format!("`{name}`"))
    }
}
