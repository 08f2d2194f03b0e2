//! Records the events of a run for a timeline. Each thread counts its own time in steps: an access, an arrival or a
//! loop iteration takes one, and a thread that waits resumes at the time of the last arrival. All threads therefore run
//! in parallel at the same speed, in whatever order the simulator runs them. Spinning on memory and collectives of a
//! warp delay no thread here.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use super::context::Context;
use super::group::LANES;
use super::recorder::{EventKey, RecordedEvent, Recorder};
use super::site::{Site, location};
use super::state::{Cluster, Thread};
use crate::report::timeline::{Event, EventKind, TimeUnit, Timeline};

impl Recorder {
    fn push(&self, cluster: &Cluster<'_>, thread: &Thread, key: EventKey, start: u64) {
        let launch = cluster.launch;
        let block = launch.block_rank(cluster.blocks[thread.block_rank as usize].index);
        let recorded = RecordedEvent { block, thread: thread.rank_in_block, key, start, end: thread.time.get() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(recorded);
    }

    /// Returns the timeline of the recorded events, which are merged by warp.
    pub(crate) fn timeline(&self, kernel: &str) -> Timeline {
        let mut times: BTreeMap<(u64, u32, EventKey), u32> = BTreeMap::new();
        let mut events: BTreeMap<(u64, u32, EventKey, u32), Event> = BTreeMap::new();
        for &RecordedEvent { block, thread, key, start, end } in
            self.0.lock().unwrap_or_else(PoisonError::into_inner).iter()
        {
            let time = times.entry((block, thread, key)).or_default();
            *time += 1;
            let (warp, (kind, barrier, site)) = (thread / LANES, key);
            let event = events.entry((block, warp, key, *time)).or_insert_with(|| {
                let location = site.map(location);
                Event { block, warp, kind, barrier, location, start, end }
            });
            (event.start, event.end) = (event.start.min(start), event.end.max(end));
        }
        Timeline::new(kernel, TimeUnit::Steps, events.into_values().collect(), 0)
    }
}

impl Cluster<'_> {
    /// Records the run of a thread that has exited.
    pub(super) fn record_run(&self, thread: &Thread) {
        if let Some(recorder) = &self.launch.simulator.recorder {
            recorder.push(self, thread, (EventKind::Run, "", None), 0);
        }
    }
}

impl Context<'_> {
    /// Advances the running thread's time by one step.
    #[inline]
    pub(super) fn step(&self) {
        self.thread.time.set(self.thread.time.get() + 1);
    }

    /// Records an event of the running thread that began at `start` and ends now.
    pub(super) fn record(&self, kind: EventKind, barrier: &'static str, site: Site, start: u64) {
        if let Some(recorder) = &self.cluster.launch.simulator.recorder {
            recorder.push(self.cluster, self.thread, (kind, barrier, Some(site)), start);
        }
    }
}
