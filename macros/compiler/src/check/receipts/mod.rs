//! Receipts: a block waits at a phase barrier for all that its peers do to its memory, so that it cannot exit before, and they need no
//! other barrier with it. What a `store_async` sends is counted by the barrier; of another access, the peer tells by an arrival there (`told`).
//!
//! All threads of the cluster are followed ([runs](super::runs)) in a launch of which nothing is known that the host decides. Of each
//! of these barriers, the whole life must be known: one
//! `init`, as many arrivals as it counts, as many bytes as are sent, and waits for its first phase. Phases that a loop counts are none
//! of this analysis (`rings` has them), and a copy from shared memory is none either: it reads the sender's memory.
//!
//! After a block has waited, all that it does to its memory comes after what peers have done there (`Receipts::orders`), whatever the text's order.

mod log;
mod told;
mod unwritten;

use std::collections::{BTreeMap, BTreeSet};

use super::cfg::{AccessId, AccessKind, Cfg, Region, Root, Shared};
use super::dsm::ranks::blocks_of_cluster;
use super::runs::{Launch, Runs, ThreadId};
use super::uniform::control::Control;
use crate::diag::Diags;
use crate::messages;
use crate::model::barrier::PhaseAction;
use crate::model::expr::{Expr, ExprKind};
use crate::model::op::Op;
use crate::model::walk::{walk, walk_block};
use crate::model::{Function, Role};
use log::Log;
pub(super) use unwritten::is_written_by_peers_alone;

/// The largest number of steps that are followed in the runs of all threads: of a cluster of 16,384 threads, each has some fifty.
const STEPS: usize = 800_000;

/// A barrier: the rank of its block, its array and its index there.
type BarrierAt = (u64, Shared, u64);

/// A thread: the rank of its block, and its rank there.
type Id = (u64, u64);

/// What all threads of the cluster do to one barrier.
#[derive(Debug, Default)]
struct Life {
    /// The counts with which it is initialized.
    counts: Vec<u64>,
    arrivals: u64,
    expected: u64,
    sent: u64,
    /// The threads that have let it expect bytes and have not arrived since.
    yet_to_arrive: BTreeSet<Id>,
    /// The threads of its block that have waited for its first phase.
    waited: BTreeSet<u64>,
    /// The least number of barriers of the block that came before one of those waits.
    waited_after: Option<usize>,
    /// Whether a barrier of the block follows one of those waits.
    is_told: bool,
}

/// A thread comes to an access to its block's memory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Visit {
    /// The rank of its block.
    block: u64,
    /// The barriers at which it has waited for the first phase.
    waited: BTreeSet<BarrierAt>,
    /// The number of barriers of the block so far, if it is known.
    meetings: Option<usize>,
}

/// The result: facts of accesses to peers' memory, those to their barriers among them.
#[derive(Debug, Default)]
pub(super) struct Receipts {
    /// The accesses to memory whose owners wait for them before they exit.
    received: BTreeSet<AccessId>,
    /// By access, the barriers at which it is counted or told. The access is over when their phase ends.
    ends: BTreeMap<AccessId, BTreeSet<BarrierAt>>,
    /// By access to the own block's memory, how threads come to it.
    visits: BTreeMap<AccessId, BTreeSet<Visit>>,
    /// By barrier, the least number of barriers of its block that came before a wait for it.
    waited_after: BTreeMap<BarrierAt, usize>,
    /// The elements to which two threads send in one phase.
    sent_twice: Vec<(Element, [Send; 2])>,
    /// By access to a peer's memory, a barrier at which its block waits for other bytes than come.
    unbalanced: BTreeMap<AccessId, Unbalanced>,
    /// The reads of arrays of the own block to which no thread writes, and the rank of that block.
    pub(super) unwritten: Vec<(AccessId, Shared, u64)>,
}

/// A barrier of a block that expects another number of bytes in all than is sent there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unbalanced {
    pub(super) shared: Shared,
    pub(super) block: u64,
    pub(super) expected: u64,
    pub(super) sent: u64,
}

/// An element of shared memory to which threads send, with the barrier of its block that counts the bytes.
type Element = (BarrierAt, Shared, Vec<u64>);

/// The access by which a thread sends.
type Send = (AccessId, Id);

impl Receipts {
    /// Whether the block whose memory an access is to waits for it before it exits.
    pub(super) fn has(&self, access: AccessId) -> bool {
        self.received.contains(&access)
    }

    /// The barrier because of which an access is none of these, if all that it lacks is the right number of bytes.
    pub(super) fn unbalanced(&self, access: AccessId) -> Option<Unbalanced> {
        self.unbalanced.get(&access).copied()
    }

    /// Whether what a peer's access does to a block comes before each access of the block here: its thread has waited for the barrier
    /// at which that is told, or a barrier of the block comes between another thread's wait and the access.
    pub(super) fn orders(&self, peers: AccessId, access: AccessId) -> bool {
        let (Some(ends), Some(visits)) = (self.ends.get(&peers), self.visits.get(&access)) else { return false };
        let is_told = |visit: &Visit, at: &BarrierAt| {
            visit.waited.contains(at)
                || visit.meetings.zip(self.waited_after.get(at)).is_some_and(|(meetings, wait)| *wait < meetings)
        };
        visits.iter().all(|visit| ends.iter().filter(|at| at.0 == visit.block).all(|at| is_told(visit, at)))
    }
}

/// `unordered_remote_write`: no two threads send to one element of a peer's memory in one phase of a barrier.
///
/// ```text
/// peer.store_async(i % 16, x, &bar);                      // threads 0 and 16 both send to element 0
/// ```
pub(super) fn check(function: &Function, cfg: &Cfg<'_>, control: &Control, diags: &mut Diags) {
    if !cfg.accesses.iter().any(|access| access.kind == AccessKind::AsyncWrite) {
        return;
    }
    let receipts = receipts(function, cfg, control);
    let mut reported = BTreeSet::new();
    for (((owner, ..), shared, _), [first, second]) in &receipts.sent_twice {
        if let Some(name) = cfg.name_of(function, *shared)
            && reported.insert(second.0)
        {
            let at = |send: &Send| cfg.accesses[send.0.0].at;
            let who = [first.1, second.1];
            let other = (first.0 != second.0).then(|| at(first));
            diags.push(messages::sent_twice((at(second), other), (&name.to_string(), *owner), who));
        }
    }
}

/// Follows all threads of a cluster, and returns which accesses to peers' memory their owners wait for.
pub(super) fn receipts(function: &Function, cfg: &Cfg<'_>, control: &Control) -> Receipts {
    let is_remote = |region: &Region| matches!(region.root, Root::Remote(_));
    let comes_from_peers =
        cfg.barrier_calls.iter().any(|call| is_remote(&call.region) && call.method.action != PhaseAction::Wait);
    let (Some(blocks), Some(threads)) =
        (blocks_of_cluster(function), function.options.block.as_ref().and_then(|extents| extents.count()))
    else {
        return Receipts::default();
    };
    let is_asked = comes_from_peers || is_written_by_peers_alone(cfg);
    if function.role != Role::Kernel || !is_asked || hides_barriers(function, cfg) {
        return Receipts::default();
    }
    let runs = Runs::of(function, cfg, control, threads).in_any_grid();
    let launch = Launch { argument: None, element: None, length: None, agreed: None, data: None, holds: None };
    let mut log = Log::new(function, cfg);
    let mut left = STEPS;
    for block in 0..blocks {
        for rank in 0..threads {
            let id = ThreadId { block: Some(block), rank };
            log.begins(block);
            if runs.run(launch, id, &mut left, &mut log) != Ok(true) || log.is_lost {
                return Receipts::default();
            }
            log.ends();
        }
    }
    let Log { lives, mut ends, told, writes, visits, lost, sent_twice, .. } = log;
    let (told, not_told) = told.by_others();
    told.into_iter().for_each(|(access, at)| _ = ends.entry(access).or_default().insert(at));
    ends.retain(|access, _| !not_told.contains(access));
    let life = |at: &BarrierAt| lives.get(at).filter(|life| !lost.contains(&at.1) && life.has_one_phase());
    let unbalanced = |at: &BarrierAt| {
        let life = lives.get(at).filter(|life| !lost.contains(&at.1) && life.counts == [life.arrivals])?;
        let Life { expected, sent, .. } = *life;
        let is_wrong = expected != sent && life.is_waited_for(threads);
        is_wrong.then_some(Unbalanced { shared: at.1, block: at.0, expected, sent })
    };
    let unbalanced =
        ends.iter().filter_map(|(access, ends)| Some((*access, ends.iter().find_map(unbalanced)?))).collect();
    ends.retain(|_, ends| ends.iter().all(|at| life(at).is_some()));
    let is_received = |at: &BarrierAt| life(at).is_some_and(|life| life.is_waited_for(threads));
    let received = ends.iter().filter(|(_, ends)| ends.iter().all(is_received)).map(|(access, _)| *access).collect();
    let is_in_one_phase = |(element, _): &(Element, [Send; 2])| life(&element.0).is_some();
    let sent_twice = sent_twice.into_iter().filter(is_in_one_phase).collect();
    let waited_after = lives.iter().filter_map(|(at, life)| Some((*at, life.waited_after?))).collect();
    Receipts { received, ends, visits, waited_after, sent_twice, unbalanced, unwritten: writes.unwritten(cfg) }
}

/// Whether another function or inline CUDA may use a barrier, or the text does not show which one is used.
fn hides_barriers(function: &Function, cfg: &Cfg<'_>) -> bool {
    let is_hidden = |region: &Region| {
        region.via.is_some() || region.root.party().is_none_or(|(_, shared)| !matches!(shared, Shared::Array(_)))
    };
    let barriers: BTreeSet<Shared> =
        cfg.barrier_calls.iter().filter_map(|call| Some(call.region.root.party()?.1)).collect();
    let hides = |kind: AccessKind| matches!(kind, AccessKind::Opaque | AccessKind::Lent | AccessKind::ByClosure);
    let is_of_barrier = |region: &Region| region.root.party().is_some_and(|(_, shared)| barriers.contains(&shared));
    cfg.barrier_calls.iter().any(|call| is_hidden(&call.region))
        || has_closure_of_barriers(function)
        || cfg.calls.iter().any(|call| !call.barriers.is_empty())
        || cfg
            .accesses
            .iter()
            .any(|access| is_of_barrier(&access.region) && (hides(access.kind) || access.given_to.is_some()))
}

/// Whether a closure does something to a barrier, which another function may have it do any number of times.
fn has_closure_of_barriers(function: &Function) -> bool {
    let mut has = false;
    walk_block(&function.body, &mut |expr: &Expr| {
        if let ExprKind::Closure { body, .. } = &expr.kind {
            walk(body, &mut |expr| {
                has |= matches!(expr.kind, ExprKind::Op { op: Op::Barrier(..) | Op::Copy(_), .. });
            });
        }
    });
    has
}

impl Life {
    /// Whether nobody arrives and no byte comes any more after the first phase.
    ///
    /// It ends when all arrivals have come, and so after all that let it expect bytes, and when all of these bytes have come.
    /// Where that is all that is ever done, nothing is left.
    fn has_one_phase(&self) -> bool {
        self.counts == [self.arrivals] && self.expected == self.sent && self.yet_to_arrive.is_empty()
    }

    /// Whether its block waits for the first phase before it exits.
    fn is_waited_for(&self, threads: u64) -> bool {
        self.waited.len() as u64 == threads || self.is_told
    }
}
