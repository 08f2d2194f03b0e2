//! Copies to a peer whose memory and whose barrier are of two blocks, in a launch whose integers are known.

use std::collections::BTreeSet;

use super::{ENTERED, STEPS_OF_EACH, THREADS, blocks_to_follow, ranks_to_follow};
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{AccessKind, BlockId, Cfg, MemoryStep, Region, Root, Step, StepKind};
use crate::check::dsm::ranks::blocks_of_cluster;
use crate::check::runs::{Launch, Observer, Runs, Thread, ThreadId};
use crate::check::uniform::values::Values;
use crate::diag::{Diag, Diags};
use crate::messages;
use crate::model::barrier::PhaseAction;
use crate::model::{Function, Role};

/// `ring_count`: the bytes of a copy to a peer come to a barrier of the block whose memory it writes (PTX ISA, `st.async` and
/// `cp.async.bulk`).
///
/// ```text
/// cluster.map_shared_rank(&inbox, next).store_async(t, x, &cluster.map_shared_rank(&bar, previous));
/// ```
pub(in crate::check) fn check<'f>(function: &'f Function, cfg: &Cfg<'f>, values: &Values<'_, 'f>, diags: &mut Diags) {
    let sends = |step: &Step| match step.kind {
        StepKind::BarrierCall(call) => {
            let call = &cfg.barrier_calls[call.0];
            call.method.action == PhaseAction::Copy && matches!(call.region.root, Root::Remote(_))
        }
        StepKind::Value(_)
        | StepKind::Memory(_)
        | StepKind::Group(_)
        | StepKind::Token(_)
        | StepKind::Copy(_)
        | StepKind::Call(_) => false,
    };
    let threads = function.options.block.as_ref().map_or(Some(THREADS), |block| block.count());
    let (Role::Kernel, Some(threads @ 1..=1024), Some(blocks @ 2..=16)) =
        (function.role, threads, blocks_of_cluster(function))
    else {
        return;
    };
    if !cfg.blocks.iter().flat_map(|block| &block.steps).any(sends) {
        return;
    }
    let runs = Runs::of(function, cfg, values.control, threads).with_agreed(values);
    let check = Check { cfg, runs, threads, blocks };
    let launch =
        Launch { argument: Some(5), element: None, length: Some(4 * threads), agreed: None, data: None, holds: None };
    let mut passed = BTreeSet::new();
    let first = check.run(launch, &mut passed);
    let entered = passed.into_iter().flat_map(|branch| [(branch, true), (branch, false)]).take(ENTERED);
    let launches = entered.map(|holds| Launch { holds: Some(holds), ..launch });
    let fault = first.or_else(|| launches.into_iter().find_map(|launch| check.run(launch, &mut BTreeSet::new())));
    fault.into_iter().for_each(|fault| diags.push(fault));
}

struct Check<'a, 'f> {
    cfg: &'a Cfg<'f>,
    runs: Runs<'a, 'f>,
    threads: u64,
    blocks: u64,
}

impl Check<'_, '_> {
    /// The first fault of a launch in which no thread fails.
    fn run(&self, launch: Launch, passed: &mut BTreeSet<BlockId>) -> Option<Diag> {
        let blocks = blocks_to_follow(self.blocks, true);
        let ranks = ranks_to_follow(self.cfg, None, self.threads, blocks.len(), true);
        let mut ends = Ends { check: self, passed, fault: None };
        for block in blocks {
            for rank in &ranks {
                let (id, mut left) = (ThreadId { block: Some(block), rank: *rank }, STEPS_OF_EACH);
                self.runs.run(launch, id, &mut left, &mut ends).ok()?;
            }
        }
        ends.fault
    }

    /// The rank of the block of a peer's memory, or of its barrier, if it does not depend on the launch.
    fn owner(&self, thread: &Thread<'_, '_, '_>, region: &Region) -> Option<u64> {
        let place = thread.place(region).filter(|place| matches!(place.root, Root::Remote(_)))?;
        place.owner.filter(|owner| !owner.is_given)?.natural()
    }
}

/// Looks for a copy whose ends are of two blocks.
struct Ends<'a, 'c, 'f> {
    check: &'c Check<'a, 'f>,
    passed: &'c mut BTreeSet<BlockId>,
    fault: Option<Diag>,
}

impl Observer for Ends<'_, '_, '_> {
    fn step(&mut self, thread: &Thread<'_, '_, '_>, (block, number): (BlockId, usize), step: &Step) {
        let (StepKind::BarrierCall(call), None) = (&step.kind, &self.fault) else { return };
        let call = &self.check.cfg.barrier_calls[call.0];
        if call.method.action != PhaseAction::Copy {
            return;
        }
        // What the copy writes comes right before.
        let before = self.check.cfg.blocks[block.0].steps[..number].iter().rev();
        let written = before.into_iter().find_map(|step| match step.kind {
            StepKind::Memory(MemoryStep::Access(id)) => {
                Some(&self.check.cfg.accesses[id.0]).filter(|access| access.kind == AccessKind::AsyncWrite)
            }
            StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
            | StepKind::Value(_)
            | StepKind::Group(_)
            | StepKind::Token(_)
            | StepKind::BarrierCall(_)
            | StepKind::Copy(_)
            | StepKind::Call(_) => None,
        });
        let owner = |region: &Region| self.check.owner(thread, region);
        let Some(written) = written.filter(|written| written.at.line() == call.at.line()) else { return };
        if let (Some(memory), Some(barrier)) = (owner(&written.region), owner(&call.region))
            && memory != barrier
        {
            let by = thread.id.block.unwrap_or(0);
            self.fault = Some(messages::rings::ends_of_copy(call.at, by, memory, barrier));
        }
    }

    fn iterates(&mut self) -> bool {
        true
    }

    fn shortens(&self) -> bool {
        true
    }

    fn sees_values(&self) -> bool {
        false
    }

    fn pass_over(&mut self, branch: BlockId, _: &BlockSet) {
        self.passed.insert(branch);
    }
}
