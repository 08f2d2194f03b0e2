//! Rows that threads write, that products or bulk copies to global memory or to a peer read, and that are written again: with certain
//! arguments, the threads of the warp that begins the copies take known steps, so that a copy that nobody has waited for is found. No barrier
//! of the ring is needed for that: one thread of each kind in the warp stands for itself alone. Where nothing is found so, all threads are followed with the
//! barriers by which they order a row's copy and its writes: those of another warp may write what is still read, or what is read too early.

use std::collections::BTreeSet;

use super::assemble::{Assembled, assemble};
use super::classes::Classes;
use super::counters::Counters;
use super::given::Arguments;
use super::kernel::{DYNAMIC, Kernel, Refusal, WARP, array_of};
use super::multiplied;
use super::objects::Objects;
use super::races::Guard;
use super::report;
use super::slots::{Slot, length};
use super::value::Evaluator;
use super::walk::{Program, Sites, walk};
use super::warps::{Aim, Unit};
use crate::check::cfg::{AccessKind, BlockId, Completion, CopyStep, Region, Select, Step as GraphStep, StepKind};
use crate::diag::Diag;
use crate::rings::{
    self, Among, Content, Fault, Op, Prepared, Reason, Role, Skeleton, SlotArray, Step, UndrainedFault, Use, Verdict,
};

/// The largest number of states of one check: a warp's steps are nearly in a row.
const STATES: usize = 1_000;

/// The largest number of states of a search with all threads.
const STATES_OF_ALL: usize = 10_000;

/// The largest number of threads that are followed with all of their warps.
const FOLLOWED: usize = 32;

/// Returns the arrays that bulk copies to global memory, or to a peer, read, and those that threads write for products.
pub(super) fn arrays(kernel: &Kernel<'_, '_>) -> BTreeSet<usize> {
    let stored = stored(kernel).filter_map(array_of);
    stored.chain(multiplied::arrays(kernel)).filter(|array| *array != DYNAMIC).collect()
}

/// Looks for a copy out of a row of one of these arrays that is written again before the copy has read it; the launch has so many rounds, if
/// its arguments decide about that.
pub(super) fn find(
    kernel: &Kernel<'_, '_>,
    objects: &Objects,
    classes: &Classes,
    (arrays, arguments): (&BTreeSet<usize>, &Arguments),
    rounds: Option<i64>,
) -> Option<Diag> {
    arrays.iter().copied().filter_map(|array| slot(kernel, array)).find_map(|slot| {
        let barriers = objects;
        let objects = Objects { barriers: objects.barriers.clone(), slots: vec![slot] };
        let begun_in = blocks_with_copies(kernel, slot.array);
        let counters = Counters::default();
        let may_begin = |thread: &&u32| {
            let evaluator = Evaluator {
                kernel,
                counters: &counters,
                arguments: Some(arguments),
                thread: **thread,
                after: None,
                inlines: false,
            };
            begun_in.iter().any(|block| evaluator.may_come_to(*block))
        };
        let each = classes.all.iter().filter_map(|class| class.threads.first()).filter(may_begin);
        // Each warp reads rows of its own.
        let mut left = if multiplied::is_left_alone(kernel, slot.array) { 0 } else { FOLLOWED };
        each.into_iter()
            .find_map(|thread| of_thread(kernel, (&objects, classes), arguments, *thread, &mut left).ok()?)
            .or_else(|| {
                // The last row is used again, and earlier ones, too.
                let enough = 2 + i64::from(slot.stages > 1);
                let is_one = rounds.is_none_or(|rounds| rounds == enough);
                // The lanes of one warp are apart where they do not meet.
                let aims = [Aim::Fault, Aim::FaultOfLanes];
                let aims = if is_sent(kernel, slot.array) && kernel.threads <= WARP { &aims[..] } else { &aims[..1] };
                let of_all = |aim: &Aim| of_all(kernel, barriers, slot, (arguments, *aim));
                if is_one { aims.iter().find_map(of_all) } else { None }
            })
    })
}

/// Looks for the fault in the steps of all threads, of whose accesses those of one array are followed, and of these those that are certain.
fn of_all(kernel: &Kernel<'_, '_>, objects: &Objects, slot: Slot, (arguments, aim): (&Arguments, Aim)) -> Option<Diag> {
    let mut objects = objects.clone();
    // What copies bring to a row is in it when a barrier says so.
    if multiplied::is_copied(kernel, slot.array) {
        return None;
    }
    objects.slots.retain(|known| known.array != slot.array);
    objects.leave_out(|_| true);
    let number = objects.slots.len();
    objects.slots.push(Slot { whole: false, ..slot });
    let classes = Classes::of(kernel, &objects).with(kernel, arguments);
    let sites = Sites::default();
    let mut assembled = assemble(kernel, (&objects, &classes), &sites, (Some(arguments), aim)).ok()?;
    // Threads may read and write different elements.
    for step in assembled.skeleton.roles.iter_mut().flat_map(|role| &mut role.steps) {
        if let Op::BeginRead { slot, .. } | Op::EndRead { slot, .. } = &step.op
            && slot.array as usize == number
        {
            step.op = Op::Set(Vec::new());
        }
    }
    if let Ok(number) = u32::try_from(number) {
        multiplied::leave_out_own_rows(kernel, &mut assembled, &sites, (&slot, number), arguments);
    }
    assembled.skeleton.slots[number].parts = 0;
    assembled.guards[number].stored = true;
    if assembled.allows_more {
        return None;
    }
    let prepared = Prepared::new(&assembled.skeleton);
    let found = match prepared.check(STATES_OF_ALL) {
        Verdict::Fault { fault, trace } => Some((fault, trace)),
        Verdict::NotProved(Reason::States | Reason::Size | Reason::ManyThreads { .. }) => prepared.sample(),
        Verdict::NotProved(_) | Verdict::Proved { .. } => None,
    };
    let (fault, trace) = found.filter(|(fault, _)| is_of_copies(fault))?;
    Some(report::fault(kernel, &objects, &sites, &assembled, &fault, &trace))
}

/// The regions that bulk copies to global memory, or to a peer, read.
fn stored<'k>(kernel: &'k Kernel<'_, '_>) -> impl Iterator<Item = &'k Region> {
    kernel.cfg.copies.iter().flat_map(|copy| match copy {
        CopyStep::Begin { reads, completion: Completion::BulkGroup, .. } => &reads[..],
        CopyStep::Begin { .. } | CopyStep::Wait { .. } => sources(copy),
    })
}

/// The regions that a bulk copy to a peer reads.
fn sources(copy: &CopyStep) -> &[Region] {
    match copy {
        CopyStep::Begin { reads, writes: None, completion: Completion::Barrier(_), .. } => reads,
        CopyStep::Begin { .. } | CopyStep::Wait { .. } => &[],
    }
}

/// Whether a bulk copy to a peer reads an array.
fn is_sent(kernel: &Kernel<'_, '_>, array: usize) -> bool {
    kernel.cfg.copies.iter().flat_map(sources).any(|region| array_of(region) == Some(array))
}

/// The slots of an array that threads write, and of which copies read whole ones: its rows, or all of it.
fn slot(kernel: &Kernel<'_, '_>, array: usize) -> Option<Slot> {
    let is_of = |region: &&Region| array_of(region) == Some(array);
    let of_threads = || kernel.cfg.accesses.iter().filter(|access| access.completion.is_none());
    let written = of_threads().any(|access| access.kind.changes() && is_of(&&access.region));
    // What is lent, or accessed by a closure, need not be written.
    let is_open = |kind: AccessKind| matches!(kind, AccessKind::Lent | AccessKind::Opaque | AccessKind::ByClosure);
    if of_threads().any(|access| is_open(access.kind) && is_of(&&access.region)) {
        return None;
    }
    let is_row = |region: &Region| matches!(region.path[..], [Select::At(_)]) && !region.open && !region.part;
    let is_whole = |region: &Region| region.path.is_empty() && !region.open && !region.part;
    let operands = if stored(kernel).any(|region| is_of(&region)) { None } else { Some(multiplied::operands(kernel)) };
    let read: Vec<&Region> = stored(kernel).chain(operands.into_iter().flatten()).filter(is_of).collect();
    let rows = read.iter().all(|region| is_row(region));
    let accesses = || kernel.cfg.accesses.iter().map(|access| &access.region).filter(is_of);
    let names_rows = rows && accesses().all(|region| matches!(region.path.first(), Some(Select::At(_))));
    (written && (names_rows || read.iter().all(|region| is_whole(region)))).then_some(())?;
    Some(Slot::whole(array, usize::from(rows), if rows { length(kernel, array)? } else { 1 }))
}

/// The blocks of the graph in which threads begin copies that read an array.
fn blocks_with_copies(kernel: &Kernel<'_, '_>, array: usize) -> Vec<BlockId> {
    let begins = |step: &GraphStep| match step.kind {
        StepKind::Copy(copy) => match &kernel.cfg.copies[copy.0] {
            CopyStep::Begin { reads, .. } => reads.iter().any(|region| array_of(region) == Some(array)),
            CopyStep::Wait { .. } => false,
        },
        StepKind::Value(_)
        | StepKind::Memory(_)
        | StepKind::Group(_)
        | StepKind::Token(_)
        | StepKind::BarrierCall(_)
        | StepKind::Call(_) => false,
    };
    let blocks = (0..).map(BlockId).zip(&kernel.cfg.blocks);
    blocks.filter(|(_, content)| content.steps.iter().any(begins)).map(|(block, _)| block).collect()
}

/// Looks for the fault in the steps of a thread that begins copies, and of the others of its warp where it is known when they meet.
fn of_thread(
    kernel: &Kernel<'_, '_>,
    (objects, classes): (&Objects, &Classes),
    arguments: &Arguments,
    thread: u32,
    left: &mut usize,
) -> Result<Option<Diag>, Refusal> {
    let (counters, sites) = (Counters::default(), Sites::default());
    let steps = |thread: u32| {
        walk(
            &Evaluator { kernel, counters: &counters, arguments: Some(arguments), thread, after: None, inlines: false },
            objects,
            &sites,
        )
    };
    let first = thread / WARP * WARP;
    let lane = |threads: &[u32]| threads.iter().copied().find(|other| (first..first + WARP).contains(other));
    let others = classes.all.iter().filter_map(|class| lane(&class.threads)).filter(|other| *other != thread);
    let others: Vec<u32> = others.collect();
    let mut lanes: Vec<(Program, u32)>;
    loop {
        let known = counters.len();
        lanes = vec![(steps(thread)?, thread)];
        let begins = |step: &Step| matches!(step.op, Op::Store { .. });
        if *left == 0 || !lanes[0].0.steps.iter().any(begins) {
            return Ok(None);
        }
        for other in &others {
            lanes.push((steps(*other)?, *other));
        }
        // The numbers of counters are those of all lanes.
        if counters.len() == known {
            break;
        }
    }
    *left -= 1;
    let is_known = |program: &Program| !program.allows_more && program.uncertain.is_empty();
    if !is_known(&lanes[0].0) {
        return Ok(None);
    }
    if !lanes.iter().all(|(program, _)| is_known(program) && !program.meets_aside) || tells_others(&lanes) {
        lanes.truncate(1);
    }
    let roles = lanes.iter().map(|(program, _)| Role { threads: 1, stream: 0, steps: of_copies(program) }).collect();
    let slots = vec![SlotArray { stages: objects.slots[0].stages, parts: 0 }];
    let assembled = Assembled {
        skeleton: Skeleton { blocks: 1, barriers: Vec::new(), slots, roles },
        threads: lanes.iter().map(|(_, thread)| (vec![*thread], Unit::Thread)).collect(),
        allows_more: false,
        guards: vec![Guard { slot: 0, certain: true, stored: true }],
        early: BTreeSet::new(),
        filled_by_warps: BTreeSet::new(),
    };
    Ok(match rings::check(&assembled.skeleton, STATES) {
        Verdict::Fault { fault, trace } if is_of_copies(&fault) => {
            Some(report::fault(kernel, objects, &sites, &assembled, &fault, &trace))
        }
        Verdict::Fault { .. } | Verdict::Proved { .. } | Verdict::NotProved(_) => None,
    })
}

/// Whether a copy and a write are at the same time, or a copy is left.
fn is_of_copies(fault: &Fault) -> bool {
    matches!(
        fault,
        Fault::Overwrite { by: Use::Read, .. }
            | Fault::Read { content: Content::BeingFilled, .. }
            | Fault::Undrained(UndrainedFault::Store { .. })
    )
}

/// Whether some lane arrives at a barrier where another waits: that orders them, too.
fn tells_others(lanes: &[(Program, u32)]) -> bool {
    let steps = || lanes.iter().flat_map(|(program, _)| &program.steps);
    let awaited = |step: &Step| {
        if let Op::Wait { barrier, .. } | Op::WaitToken { barrier } = &step.op { Some(barrier.array) } else { None }
    };
    let awaited: BTreeSet<u32> = steps().filter_map(awaited).collect();
    let arrives = |step: &Step| matches!(&step.op, Op::Arrive { barrier, .. } if awaited.contains(&barrier.array));
    steps().any(arrives)
}

/// The steps of a lane that concern copies, and its meetings.
fn of_copies(program: &Program) -> Vec<Step> {
    let step = |(at, step): (usize, &Step)| {
        let op = match &step.op {
            _ if program.meetings.contains(&at) => Op::Sync { meeting: step.id, among: Among::Block },
            Op::Sync { meeting, .. } => Op::Sync { meeting: *meeting, among: Among::Block },
            Op::Wait { .. }
            | Op::WaitToken { .. }
            | Op::Arrive { .. }
            | Op::Expect { .. }
            | Op::Copy { .. }
            | Op::Share { .. }
            | Op::BeginRead { .. }
            | Op::EndRead { .. } => Op::Set(Vec::new()),
            Op::BeginFill { .. }
            | Op::EndFill { .. }
            | Op::Store { .. }
            | Op::WaitStores { .. }
            | Op::Set(_)
            | Op::NextRound
            | Op::Branch { .. }
            | Op::Jump(_)
            | Op::Leave => step.op.clone(),
        };
        Step { id: step.id, op }
    };
    program.steps.iter().enumerate().map(step).collect()
}
