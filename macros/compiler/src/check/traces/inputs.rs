//! Threads whose data decide where they access memory, or whether: one thread is followed with data that are all the same number, and what it
//! does then is compared with what others do whatever their data are.
//!
//! ```text
//! bins[i] = 0;                            // and no `block.sync()`
//! let x = bins[digits[i] % 16];           // an element of another thread, for most digits
//! ```

use std::collections::BTreeSet;

use super::recorder::{Assumed, Recorder};
use super::trace::Trace;
use super::{Check, elements, races};
use crate::check::cfg::{AccessId, BlockId, Select};
use crate::check::runs::{Launch, ThreadId};
use crate::diag::Diag;

/// The numbers that are tried. They are larger than any array, so that they are indexes only where the text makes one of any number (`% 16`, a
/// digit): what the host passes as an index may be the thread's own. Their digits to the bases of usual sizes are small, or all alike.
const NUMBERS: [u64; 6] = [0x0100_0001, 0x0100_0002, 0x0100_00ff, 0x0100_0000, 0x1111_1111, 0x2222_2222];

/// The largest number of steps of a thread whose data are known.
const STEPS: usize = 800;

/// Some of the threads: of the first block, and those that have the same ranks in another one.
fn some_of(traces: &[Trace]) -> Vec<ThreadId> {
    let mut some: Vec<ThreadId> = Vec::new();
    let mut add = |id: Option<ThreadId>| some.extend(id.filter(|id| !some.contains(id)));
    for number in [0, 1, traces.len() / 2, traces.len() - 1] {
        add(traces.get(number).or(traces.last()).map(|trace| trace.id));
    }
    let first = traces.first().map(|trace| trace.id);
    let is_beside = |id: &ThreadId| first.is_some_and(|first| id.rank == first.rank && id.block != first.block);
    add(traces.iter().map(|trace| trace.id).find(is_beside));
    some
}

impl Check<'_, '_> {
    /// Whether an access that may meet others depends on data, or some branch.
    pub(super) fn has_inputs(&self) -> bool {
        let accesses = self.cfg.accesses.iter().filter(|access| elements::is_followed(access));
        let regions = accesses.map(|access| &access.region);
        let mut indexes = regions.flat_map(|region| region.path.iter().flat_map(Select::nodes).chain(region.rank));
        let conditions = || self.cfg.blocks.iter().filter_map(|block| block.end.condition());
        indexes.any(|index| self.runs.is_on_data(index)) || conditions().any(|on| self.runs.is_on_data(on))
    }

    /// The faults of one thread for whatever data of others.
    pub(super) fn run_on_data(&self, launch: Launch) -> Option<Vec<Diag>> {
        let mut others = Vec::new();
        self.trace(launch, None, &mut others, &mut Vec::new())?;
        let some = some_of(&others);
        for number in NUMBERS {
            let launch = Launch { data: Some(number), ..launch };
            let of_number = some.iter().filter_map(|id| self.trace_on_data(launch, *id));
            let traces: Vec<Trace> = others.drain(..).chain(of_number).collect();
            let faults = [false, true].into_iter().filter_map(|waived| races::within_block(self, &traces, waived));
            let mut faults: Vec<Diag> = faults.collect();
            let (alike, rest): (Vec<Trace>, Vec<Trace>) = traces.into_iter().partition(|trace| trace.is_assumed);
            others = rest;
            if faults.is_empty() {
                faults = self.of_data_alike(alike);
            }
            if !faults.is_empty() {
                return Some(faults);
            }
        }
        None
    }

    /// The faults of threads that all have the same number for data, as the host may pass it. What data decide about is left out: that only
    /// one thread finds what it looks for, the host may promise.
    fn of_data_alike(&self, mut traces: Vec<Trace>) -> Vec<Diag> {
        let decided = self.decided_by_data();
        for trace in &mut traces {
            trace.is_assumed = false;
            trace.made.retain(|made| !decided.contains(&made.access));
            trace.made.iter_mut().for_each(|made| made.is_assumed = false);
        }
        [false, true].into_iter().filter_map(|waived| races::of_data_alike(self, &traces, waived)).collect()
    }

    /// The accesses on the arms of branches on data.
    fn decided_by_data(&self) -> BTreeSet<AccessId> {
        let blocks = self.cfg.blocks.iter().enumerate();
        let on_data = blocks.filter(|(_, block)| block.end.condition().is_some_and(|on| self.runs.is_on_data(on)));
        let arms = on_data.filter_map(|(number, _)| self.runs.arms(BlockId(number)));
        let steps = arms.flat_map(|arms| arms.iter()).flat_map(|block| &self.cfg.blocks[block.0].steps);
        steps.filter_map(|step| step.kind.accessed()).collect()
    }

    /// What a thread does if its data are known; `None` if it fails then.
    fn trace_on_data(&self, launch: Launch, id: ThreadId) -> Option<Trace> {
        let mut recorder = Recorder::new(self, launch, id, Assumed::Data);
        let mut left = STEPS;
        let ends = self.runs.run(launch, id, &mut left, &mut recorder).ok()?;
        Some(recorder.end(ends).0)
    }
}
