//! Records a run for a timeline. Each thread has its own clock: an access, an arrival or a loop iteration is a step,
//! and a waiting thread resumes at the step of the last arrival. Threads are thus equally fast and run in parallel,
//! whatever the order in which the simulator runs them. Flags in memory and meetings of a warp delay no thread here.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use super::context::Context;
use super::group::LANES;
use super::recorder::{EventKey, RecordedEvent, Recorder};
use super::site::{Site, location};
use super::state::{Cluster, Thread};
use crate::report::timeline::{Event, EventKind, TimeUnit, Timeline};

impl Recorder {
    fn push(&self, cluster: &Cluster<'_>, thread: &Thread, what: EventKey, start: u64) {
        let launch = cluster.launch;
        let block = launch.block_rank(cluster.blocks[thread.block_rank as usize].index);
        let recorded = RecordedEvent { block, thread: thread.rank_in_block, what, start, end: thread.time.get() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(recorded);
    }

    /// Returns what was recorded, warp by warp.
    pub(crate) fn timeline(&self, kernel: &str) -> Timeline {
        let mut times: BTreeMap<(u64, u32, EventKey), u32> = BTreeMap::new();
        let mut events: BTreeMap<(u64, u32, EventKey, u32), Event> = BTreeMap::new();
        for &RecordedEvent { block, thread, what, start, end } in
            self.0.lock().unwrap_or_else(PoisonError::into_inner).iter()
        {
            let time = times.entry((block, thread, what)).or_default();
            *time += 1;
            let (warp, (kind, barrier, site)) = (thread / LANES, what);
            let event = events.entry((block, warp, what, *time)).or_insert_with(|| {
                let location = site.map(location);
                Event { block, warp, kind, barrier, location, start, end }
            });
            (event.start, event.end) = (event.start.min(start), event.end.max(end));
        }
        Timeline::new(kernel, TimeUnit::Steps, events.into_values().collect(), 0)
    }
}

impl Cluster<'_> {
    /// Records that a thread has reached its end.
    pub(super) fn record_run(&self, thread: &Thread) {
        if let Some(recorder) = &self.launch.simulator.recorder {
            recorder.push(self, thread, (EventKind::Run, "", None), 0);
        }
    }
}

impl Context<'_> {
    /// Advances the running thread's clock by a step.
    #[inline]
    pub(super) fn step(&self) {
        self.thread.time.set(self.thread.time.get() + 1);
    }

    /// What the running thread did, and is done with now.
    pub(super) fn record(&self, kind: EventKind, barrier: &'static str, site: Site, start: u64) {
        if let Some(recorder) = &self.cluster.launch.simulator.recorder {
            recorder.push(self.cluster, self.thread, (kind, barrier, Some(site)), start);
        }
    }
}
