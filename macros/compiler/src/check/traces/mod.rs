//! Traces: what the threads of a cluster do to shared memory, in a launch whose integers are known ([runs](super::runs)), and the faults
//! that are certain of it:
//!
//! - `unsynchronized_access`: two threads of a block access an element, one writes, and no barrier comes between (`races`), or a copy
//!   reads or writes the element for one of them (`transfers`), or more threads change an element each than there are (`crowded`);
//! - `unordered_remote_write`: threads of two blocks do so in the memory of a third (`races`);
//! - `copy_in_flight`: a thread accesses what a copy of its block writes before a wait covers the copy (`copies`);
//! - `rank_out_of_range`: a thread maps the memory of a block that its cluster lacks (`recorder`);
//! - `ring_count`: copies bring more or fewer bytes to a phase barrier than it expects (`bytes`), or to one of another block than that whose
//!   memory they write (`ends`);
//! - `uninit_shared_read`: a thread reads an element that no thread has written (`unwritten`);
//! - `copy_length`: a bulk copy whose size or whose place in shared memory is no multiple of 16 bytes (`copies`).
//!
//! What is not known is left out: an element at an index that depends on an argument or on memory, what a branch on an unknown value
//! does (but for one branch at a time that all threads of a block take alike), and all that may be ordered by something other than a barrier of the block or of the cluster. Not all threads are followed.

mod anywhere;
mod argument;
mod bytes;
mod copies;
mod crowded;
mod data;
mod elements;
pub(super) mod ends;
mod exchanged;
mod grid;
mod grouped;
mod inputs;
mod learned;
mod races;
mod recorder;
mod slices;
mod threads;
mod trace;
mod transfers;
mod unwritten;

use std::cell::RefCell;
use std::collections::BTreeSet;

use phalanx_contract::uniformity::Uniformity;

use super::bit_set::{BitSet, BlockSet};
use super::cfg::{AccessId, AccessKind, BlockId, Cfg, CopyBy, CopyStep, GroupStep, NodeId, Root, Source, StepKind};
use super::dsm::ranks::blocks_of_cluster;
use super::rings::count_of_literals;
use super::runs::{Launch, Runs, ThreadId};
use super::uniform::values::Values;
use crate::diag::{Diag, Diags};
use crate::model::atomic::MemoryOrder;
use crate::model::expr::ExprKind;
use crate::model::op::Op;
use crate::model::walk::walk_block;
use crate::model::{Function, Role};
use crate::rules::Rule;
use data::Data;
use elements::Elements;
use learned::{Learners, Learning};
use recorder::{Assumed, Recorder};
use threads::{are_few, blocks_to_follow, ranks_to_follow};
use trace::{Seen, Trace};

/// The largest number of steps that are followed in all runs of a launch.
const STEPS: usize = 40_000;

/// The largest number of steps of one thread: what comes later in a long loop is what came before.
const STEPS_OF_THREAD: usize = 2_400;

/// The largest number of steps of one thread where all of a small block are followed.
const STEPS_OF_EACH: usize = 640;

/// The largest number of launches in which the value of a branch is set that the text does not show.
const ENTERED: usize = 4;

/// The number of threads of a block that are followed, if the kernel does not say how many there are.
const THREADS: u64 = 64;

/// Reports what is certain, one fault of each rule. Returns whether a launch was followed in which no thread fails, or none could be.
///
/// `counts_bytes` says whether nothing is known of the bytes that phase barriers expect.
pub(super) fn check<'f>(
    function: &'f Function,
    cfg: &Cfg<'f>,
    values: &Values<'_, 'f>,
    counts_bytes: bool,
    diags: &mut Diags,
) -> bool {
    if function.role != Role::Kernel {
        return true;
    }
    let threads = match &function.options.block {
        Some(block) => block.count().or_else(|| count_of_literals(function, block)),
        None => Some(THREADS),
    };
    let blocks = match &function.options.cluster {
        Some(_) => blocks_of_cluster(function),
        None => Some(1),
    };
    let (threads, blocks) = match (threads, blocks) {
        (Some(threads @ 1..=1024), Some(blocks @ 1..=16)) => (threads, blocks),
        (Some(_), Some(_)) => return false,
        (None, _) | (_, None) => return true,
    };
    let elements = Elements::of(function, cfg);
    let questions = Questions::of(cfg, &elements);
    if !questions.has_any() {
        return true;
    }
    let data = Data::of(cfg, values.control);
    let runs = Runs::of(function, cfg, values.control, threads).with_agreed(values);
    let runs = if questions.races { runs.with_data(data.integers(function, cfg)) } else { runs };
    let (elements, questions, runs) = (&elements, &questions, &runs);
    let (orders, acquires) = orders(function);
    let (learning, of_peers) = (&Learning::of_block(cfg, acquires), &Learning::of_peers(cfg, acquires));
    let check = Check {
        function,
        cfg,
        values,
        elements,
        questions,
        runs,
        learning,
        of_peers,
        learners: RefCell::default(),
        orders,
        threads,
        blocks,
        is_of_grid: false,
        follows_all: false,
        accepts_given: false,
    };
    let mut seen = Seen::default();
    let first = launches(runs, threads * blocks, &check.bounds_of_barriers());
    let crowd = crowded::check(&check);
    let is_crowded = crowd.is_some();
    crowd.into_iter().for_each(|fault| diags.push(fault));
    let mut works = false;
    if questions.copies && runs.has_integers {
        check.push(check.run_without_rounds(Launch { argument: Some(0), element: None, ..first[0] }), diags);
    }
    let mut longest = first[0];
    for (number, launch) in first.iter().enumerate() {
        let mut launch = *launch;
        let mut is_right = check.report(launch, number == 0 && counts_bytes, &mut seen, diags);
        // Arguments may count no more elements than there are threads.
        if !is_right && launch.argument == Some(2 * threads * blocks) {
            launch.argument = Some(threads * blocks);
            is_right = check.report(launch, false, &mut seen, diags);
        }
        if is_right && launch.argument > longest.argument {
            longest = launch;
        }
        works |= is_right;
    }
    // One in which each thread has its part of a loop over what the arguments count.
    let longest = Launch { element: None, ..longest };
    if works && questions.races && are_few(threads) {
        let all = Check { learners: RefCell::default(), follows_all: true, ..check };
        all.report(longest, false, &mut Seen::default(), diags);
    }
    if questions.races && runs.integers == 1 && seen.has_given {
        let given = Check { learners: RefCell::default(), accepts_given: true, ..check };
        check.push(given.run_for_arguments(first[0]), diags);
    }
    for branch in seen.passed.iter().filter(|branch| questions.races && check.is_on_data(&data, **branch)).take(ENTERED)
    {
        check.push(check.run_assumed(Launch { element: None, ..first[0] }, *branch), diags);
    }
    if questions.races && !is_crowded && check.has_inputs() {
        check.push(check.run_on_data(longest), diags);
    }
    let entered =
        seen.passed.iter().filter(|branch| check.decides_for_all(**branch)).flat_map(|at| [(*at, true), (*at, false)]);
    for holds in entered.take(ENTERED) {
        check.report(Launch { holds: Some(holds), element: None, ..first[0] }, false, &mut Seen::default(), diags);
    }
    if runs.may_agree() && !seen.passed.is_empty() {
        check.report(Launch { agreed: Some(0), element: None, ..first[0] }, false, &mut Seen::default(), diags);
    }
    if works && diags.is_right_but_for(|_, _| false) {
        check.push(unwritten::check(&check, &first).map(|fault| vec![fault]), diags);
    }
    if works && grid::is_asked(function, cfg, elements) {
        let runs = &Runs::of(function, cfg, values.control, threads).in_grid(grid::BLOCKS);
        let check = Check { runs, learners: RefCell::default(), blocks: grid::BLOCKS, is_of_grid: true, ..check };
        first.iter().for_each(|launch| check.push(grid::check(&check, *launch), diags));
    }
    works
}

/// The launches that are tried: arguments that are few rounds of a loop, and arguments that no thread's rank reaches; elements of which
/// two are alike, and elements of which nothing is known. `bounds` are arguments at which a barrier may be left out.
fn launches(runs: &Runs<'_, '_>, threads: u64, bounds: &BTreeSet<u64>) -> Vec<Launch> {
    let launch = |argument, element| Launch {
        argument: Some(argument),
        element,
        length: Some(4 * threads),
        agreed: None,
        data: None,
        holds: None,
    };
    match (runs.has_integers, runs.reads_integers) {
        (false, false) => vec![launch(0, None)],
        (false, true) => vec![launch(0, Some(1)), launch(0, None)],
        (true, _) => {
            let few = [launch(5, Some(1)), launch(2 * threads, None)];
            // What all threads do to elements that memory names shows where each of them has a round.
            let many = runs.reads_integers.then(|| launch(2 * threads, Some(1)));
            few.into_iter().chain(many).chain(bounds.iter().map(|bound| launch(*bound, None))).collect()
        }
    }
}

/// What the graph has that may be at fault.
struct Questions {
    /// Some shared memory is written, and accessed by more than its writer.
    races: bool,
    /// A group begins copies.
    copies: bool,
    /// One thread begins copies, or stores asynchronously.
    bulk_copies: bool,
    /// Products of matrices read tiles.
    products: bool,
    /// The ranks of peers that are not literals.
    ranks: BitSet<NodeId>,
    /// Whether there are such ranks.
    asks_ranks: bool,
    /// A peer's memory is written.
    writes_peers: bool,
}

impl Questions {
    fn of(cfg: &Cfg<'_>, elements: &Elements<'_, '_>) -> Questions {
        let begins =
            |who: CopyBy| cfg.copies.iter().any(|copy| matches!(copy, CopyStep::Begin { by, .. } if *by == who));
        let regions = cfg.accesses.iter().map(|access| &access.region);
        let regions = regions.chain(cfg.barrier_calls.iter().map(|call| &call.region));
        let ranks = regions.filter(|region| matches!(region.root, Root::Remote(_))).filter_map(|region| region.rank);
        let is_write = |kind: AccessKind| matches!(kind, AccessKind::Write | AccessKind::Atomic);
        let plain = || cfg.accesses.iter().filter(|access| access.completion.is_none());
        let mut unknown = BitSet::none(cfg.nodes.len());
        unknown.extend(ranks.filter(|rank| cfg.nodes[rank.0].source.integer().is_none()));
        Questions {
            races: elements.may_meet(),
            copies: begins(CopyBy::Group),
            bulk_copies: begins(CopyBy::Thread)
                || begins(CopyBy::Tile)
                || cfg.accesses.iter().any(|access| access.kind == AccessKind::AsyncWrite),
            products: cfg
                .copies
                .iter()
                .any(|copy| matches!(copy, CopyStep::Begin { by: CopyBy::Warpgroup { .. }, .. })),
            asks_ranks: !unknown.is_empty(),
            ranks: unknown,
            writes_peers: plain().any(|access| is_write(access.kind) && matches!(access.region.root, Root::Remote(_))),
        }
    }

    fn has_any(&self) -> bool {
        self.races || self.copies || self.bulk_copies || self.products || self.writes_peers || self.asks_ranks
    }
}

struct Check<'a, 'f> {
    function: &'f Function,
    cfg: &'a Cfg<'f>,
    values: &'a Values<'a, 'f>,
    elements: &'a Elements<'a, 'f>,
    questions: &'a Questions,
    runs: &'a Runs<'a, 'f>,
    learning: &'a Learning<'a, 'f>,
    /// What threads may learn of other blocks.
    of_peers: &'a Learning<'a, 'f>,
    learners: RefCell<Learners>,
    /// Whether atomics or fences may order what threads do.
    orders: bool,
    threads: u64,
    blocks: u64,
    /// Whether the blocks are those of a grid, and not of a cluster.
    is_of_grid: bool,
    /// Whether all threads are followed, each for a few steps.
    follows_all: bool,
    /// Whether elements count at indexes that depend on arguments.
    accepts_given: bool,
}

/// Whether an atomic or a fence of the function may order what threads do before and after it, and whether a thread may learn by an
/// atomic what another has done.
fn orders(function: &Function) -> (bool, bool) {
    let (mut orders, mut acquires) = (false, false);
    walk_block(&function.body, &mut |expr| {
        if let ExprKind::Op { op: Op::Atomic(atomic), .. } = &expr.kind {
            for order in atomic.orders.iter().flatten() {
                orders |= *order != MemoryOrder::Relaxed;
                acquires |= order.acquires();
            }
        }
        let is_fence = matches!(&expr.kind, ExprKind::Op { op: Op::Fence(..), .. });
        (orders, acquires) = (orders | is_fence, acquires | is_fence);
    });
    (orders, acquires)
}

impl Check<'_, '_> {
    /// Whether all threads of a block take one arm of the branch, and an arm has accesses that may meet.
    fn decides_for_all(&self, branch: BlockId) -> bool {
        let accesses = |block: BlockId| {
            let steps = self.cfg.blocks[block.0].steps.iter();
            let accesses = steps.filter_map(|step| step.kind.accessed()).map(|AccessId(id)| &self.cfg.accesses[id]);
            accesses.filter(|access| elements::is_followed(access) && Elements::memory(&access.region).is_some())
        };
        self.values.tested(branch).is_uniform(Uniformity::Block)
            && self.runs.arms(branch).is_some_and(|arms| {
                let all: Vec<bool> = arms.iter().flat_map(accesses).map(|access| access.kind.changes()).collect();
                all.len() > 1 && all.contains(&true)
            })
    }

    /// Reports the faults of a launch, and notes the branches whose arms some thread passed over. Returns whether no thread fails.
    fn report(&self, launch: Launch, counts_bytes: bool, seen: &mut Seen, diags: &mut Diags) -> bool {
        let found = self.run(launch, counts_bytes, seen);
        let works = found.is_some();
        self.push(found, diags);
        works
    }

    fn push(&self, faults: Option<Vec<Diag>>, diags: &mut Diags) {
        for fault in faults.unwrap_or_default() {
            // One of each rule is enough, and one that is waived hides no other.
            let is_waived = |rule, at| self.function.waives_at(rule, at);
            let of_fault = (fault.rule, is_waived(fault.rule, fault.at));
            if !diags.any(|rule, at| (rule, is_waived(rule, at)) == of_fault) {
                diags.push(fault);
            }
        }
    }

    /// The faults of a launch; `None` if a thread fails, so that it is none that works.
    fn run(&self, launch: Launch, counts_bytes: bool, seen: &mut Seen) -> Option<Vec<Diag>> {
        let (mut traces, mut faults) = (Vec::new(), Vec::new());
        self.trace(launch, None, &mut traces, &mut faults)?;
        seen.add(&traces);
        for waived in [false, true] {
            faults.extend(races::within_block(self, &traces, waived));
            faults.extend(anywhere::check(self, &traces, waived));
            if self.questions.writes_peers {
                faults.extend(races::across_blocks(self, &traces, waived));
            }
        }
        // What overtakes a copy of the block is a fault of its own.
        if !faults.iter().any(|fault| fault.rule == Rule::CopyInFlight) {
            faults.extend([false, true].into_iter().filter_map(|waived| transfers::check(self, &traces, waived)));
        }
        if counts_bytes {
            faults.extend(bytes::check(self, launch));
        }
        Some(faults)
    }

    /// The copies that are left in a launch whose loops have no rounds.
    fn run_without_rounds(&self, launch: Launch) -> Option<Vec<Diag>> {
        let mut faults = Vec::new();
        self.trace(launch, None, &mut Vec::new(), &mut faults)?;
        faults.retain(|fault| fault.rule == Rule::CopyInFlight);
        Some(faults)
    }

    /// The faults of a launch in which one thread enters an arm of a branch on data, and nothing is known of the others there.
    fn run_assumed(&self, launch: Launch, branch: BlockId) -> Option<Vec<Diag>> {
        let (arms, mut traces) = (self.runs.arms(branch)?, Vec::new());
        self.trace(launch, None, &mut traces, &mut Vec::new())?;
        for holds in [true, false] {
            let launch = Launch { holds: Some((branch, holds)), ..launch };
            self.trace(launch, Some(arms), &mut traces, &mut Vec::new())?;
        }
        Some([false, true].into_iter().filter_map(|waived| races::within_block(self, &traces, waived)).collect())
    }

    /// Whether copies are compared with what other threads do.
    fn follows_copies(&self) -> bool {
        self.questions.copies || self.questions.bulk_copies || self.questions.products
    }

    /// Follows the threads; `None` if one fails.
    fn trace(
        &self,
        launch: Launch,
        assumed: Option<&BlockSet>,
        traces: &mut Vec<Trace>,
        faults: &mut Vec<Diag>,
    ) -> Option<()> {
        let across = self.is_of_grid || self.questions.writes_peers || !self.questions.ranks.is_empty();
        let copies = self.follows_copies();
        let meet = across || self.questions.races || copies;
        // Where all threads of a block are followed, they are compared with each other alone.
        let blocks = blocks_to_follow(self.blocks, across && !self.follows_all);
        let extents = self.function.options.block.as_ref().map_or(&[][..], |block| &block.each);
        let row = extents.first().filter(|_| extents.len() > 1).and_then(|row| row.literal);
        let of_each = |among: usize| ranks_to_follow(self.cfg, row, self.threads, among, meet);
        let ids =
            |block: u64, ranks: Vec<u64>| ranks.into_iter().map(move |rank| ThreadId { block: Some(block), rank });
        let (followed, most): (Vec<ThreadId>, usize) = match self.follows_all {
            true => (blocks.iter().flat_map(|block| ids(*block, (0..self.threads).collect())).collect(), STEPS_OF_EACH),
            // Threads of one block meet in every block: where each has few that are followed, the first has as many as in a pair.
            false => {
                let of_block =
                    |block: &u64| ids(*block, of_each(if *block == 0 { blocks.len().min(2) } else { blocks.len() }));
                (blocks.iter().flat_map(of_block).collect(), STEPS_OF_THREAD)
            }
        };
        // Threads that stop at different places have not less in common.
        let among = if self.follows_all { followed.len() } else { followed.len().min(threads::MOST) };
        let each = most.min(STEPS / among);
        for id in followed {
            let mut recorder = Recorder::new(self, launch, id, assumed.map_or(Assumed::Nothing, Assumed::Arms));
            let mut left = each;
            let ends = self.runs.run(launch, id, &mut left, &mut recorder).ok()?;
            let (trace, found) = recorder.end(ends);
            faults.extend(found);
            traces.push(trace);
        }
        Some(())
    }

    /// The literals, and the numbers beside them, that arguments are compared with to decide about a barrier of the block, or about a wait for
    /// copies.
    fn bounds_of_barriers(&self) -> BTreeSet<u64> {
        let has_barrier = |block: BlockId| {
            self.cfg.blocks[block.0].steps.iter().any(|step| match &step.kind {
                StepKind::Group(GroupStep::Collective { team, barrier, .. }) => *barrier && !team.group.is_of_a_warp(),
                StepKind::Copy(copy) => matches!(self.cfg.copies[copy.0], CopyStep::Wait { .. }),
                StepKind::Group(_)
                | StepKind::Value(_)
                | StepKind::Memory(_)
                | StepKind::BarrierCall(_)
                | StepKind::Call(_)
                | StepKind::Token(_) => false,
            })
        };
        let decides = |branch: &BlockId| {
            let arms = self.runs.arms(*branch);
            arms.is_some_and(|arms| !arms.contains(*branch) && arms.iter().any(has_barrier))
        };
        let branches = (0..self.cfg.blocks.len()).map(BlockId).filter(decides);
        let conditions = branches.filter_map(|branch| self.cfg.blocks[branch.0].end.condition());
        let source = |node: NodeId| &self.cfg.nodes[self.cfg.origin(node).0].source;
        let compared = conditions.filter_map(|condition| {
            let operands = &self.cfg.nodes[self.cfg.origin(condition).0].operands[..];
            let &[a, b] = operands else { return None };
            match (source(a), source(b)) {
                (Source::Param(_), Source::Integer(bound)) | (Source::Integer(bound), Source::Param(_)) => Some(*bound),
                _ => None,
            }
        });
        compared.take(1).flat_map(|bound| [bound.saturating_sub(1), bound, bound.saturating_add(1)]).collect()
    }
}
