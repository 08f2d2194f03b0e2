//! Implements the barriers of groups by the abstract rules of cooperative groups: every thread of the group arrives
//! once and waits once in each phase. An exited thread does not count as arrived, although current hardware counts it.

use std::rc::Rc;

use phalanx_contract::fence::Fence;

use super::context::Context;
use super::cost;
use super::group::Group;
use super::race::Participants;
use super::site::Site;
use super::state::{Arrival, Barrier, Cluster, Collective, Operation, Phases, Status, Thread};
use crate::report::failure::Cause;
use crate::report::timeline::EventKind;
use crate::scope::Scope;

impl Barrier {
    /// Counts an arrival and returns its phase, which the last arrival completes. The caller wakes the threads of other
    /// clusters that wait at the grid's barrier.
    fn arrive(&self, cluster: &Cluster<'_>, time: u64) -> u64 {
        let Phases { expected, arrived, current, reached, ended, releases, released, weak } = &*self.phases;
        let phase = current.get();
        arrived.set(arrived.get() + 1);
        reached.set(reached.get().max(time));
        if arrived.get() == *expected {
            arrived.set(0);
            current.set(phase + 1);
            ended.set(reached.get());
            if let Some(races) = &cluster.launch.races {
                let mut releases = releases.borrow_mut();
                weak.replace(releases.take_weak().into());
                released.replace(releases.end(&races.layout, Participants::Blocks));
            }
            self.release(cluster);
        }
        phase
    }

    /// Wakes the cluster's threads that wait at this barrier, so that they check the phase again.
    pub(super) fn release(&self, cluster: &Cluster<'_>) {
        for thread in self.waiting.borrow_mut().drain(..) {
            cluster.wake(&cluster.threads[thread]);
        }
    }
}

impl Context<'_> {
    /// Executes `sync`: the thread arrives and waits.
    pub(crate) fn sync(&self, group: Group, site: Site) {
        let collective = Collective { group, operation: Operation::Sync, site };
        self.check_nothing_pending(collective);
        let phase = self.arrive(collective, self.chosen_fence());
        let start = self.thread.time.get();
        self.wait(phase, collective);
        self.record(EventKind::Sync, group.name(), site, start);
    }

    /// Arrives and returns the phase for the matching wait.
    pub(crate) fn barrier_arrive(&self, group: Group, site: Site) -> u64 {
        self.arrive_alone(group, site, self.chosen_fence())
    }

    /// Arrives without releasing, which publishes only what the thread's earlier fences have released.
    pub(crate) fn barrier_arrive_relaxed(&self, group: Group, site: Site) -> u64 {
        self.arrive_alone(group, site, Fence::Relaxed)
    }

    /// Sets the fence of the thread's next arrival to the one that the program has at this place.
    pub(crate) fn choose_fence_of(&self, place: (&'static str, u32, u32)) {
        let fence = self.cluster.launch.simulator.fences.get(&place);
        self.choose_fence(fence.copied().unwrap_or(Fence::Full));
    }

    /// Sets the fence of the thread's next arrival, which is at the cluster's barrier or at a peer's phase barrier.
    pub(crate) fn choose_fence(&self, fence: Fence) {
        let weaker = self.cluster.launch.simulator.weaker_fences;
        self.thread.fence.set(match fence {
            Fence::Full if weaker => Fence::Shared,
            Fence::Shared if weaker => Fence::Relaxed,
            Fence::Full | Fence::Shared | Fence::Relaxed => fence,
        });
    }

    /// Takes the fence that was chosen for this arrival. One for which none was chosen is full.
    pub(super) fn chosen_fence(&self) -> Fence {
        self.thread.fence.replace(Fence::Full)
    }

    fn arrive_alone(&self, group: Group, site: Site, fence: Fence) -> u64 {
        let collective = Collective { group, operation: Operation::Arrive, site };
        self.check_nothing_pending(collective);
        let phase = self.arrive(collective, fence);
        self.thread.arrivals[group as usize].set(Arrival::Pending { phase, site });
        self.record(EventKind::Arrive, group.name(), site, self.thread.time.get());
        self.point(cost::ATOMIC);
        phase
    }

    /// Waits until the phase in which the thread arrived has completed.
    pub(crate) fn barrier_wait(&self, group: Group, phase: u64, site: Site) {
        let collective = Collective { group, operation: Operation::Wait, site };
        let arrival = &self.thread.arrivals[group as usize];
        let fault = match arrival.get() {
            Arrival::Pending { phase: arrived, .. } if arrived == phase => None,
            Arrival::Pending { site, .. } => Some(format!("its token is older than the last arrival, at {site}")),
            Arrival::Waited { site } => Some(format!("the last arrival was already waited for at {site}")),
            Arrival::Forgotten { site } => Some(format!("its token was forgotten at {site}")),
            Arrival::None => Some("this thread has not arrived".to_owned()),
        };
        if let Some(fault) = fault {
            self.fail(Cause::Protocol(format!("{collective} must follow an arrival: {fault}")), site);
        }
        self.check_nothing_forgotten(collective);
        arrival.set(Arrival::Waited { site });
        let start = self.thread.time.get();
        self.wait(phase, collective);
        self.record(EventKind::Wait, group.name(), site, start);
    }

    /// Forgets the token of the phase in which the thread arrived: the thread will not wait.
    pub(crate) fn barrier_forget(&self, group: Group, site: Site) {
        self.thread.arrivals[group as usize].set(Arrival::Forgotten { site });
    }

    /// Checks that the group's collective does not stand between an arrival and its wait, where the arrival is at the
    /// group itself or at a group inside it: cooperative groups allow only collectives of smaller groups there.
    fn check_nothing_pending(&self, collective: Collective) {
        for &group in with_those_inside(collective.group) {
            match self.thread.arrivals[group as usize].get() {
                Arrival::Pending { site, .. } => {
                    let arrive = Collective { group, operation: Operation::Arrive, site };
                    let wait = Collective { group, operation: Operation::Wait, site };
                    let sentence = format!("{collective} must not come between {arrive} at {site} and its {wait}");
                    self.fail(Cause::Protocol(sentence), collective.site);
                }
                Arrival::None | Arrival::Waited { .. } | Arrival::Forgotten { .. } => {}
            }
        }
        self.check_nothing_forgotten(collective);
    }

    /// Checks that the thread has forgotten no token of the collective's group, nor of a group inside it.
    fn check_nothing_forgotten(&self, collective: Collective) {
        for &group in with_those_inside(collective.group) {
            if let Arrival::Forgotten { site } = self.thread.arrivals[group as usize].get() {
                let group = group.name();
                let sentence = format!(
                    "{collective} must not come after a forgotten token of the {group}, which the thread forgot at {site}"
                );
                self.fail(Cause::Protocol(sentence), collective.site);
            }
        }
    }

    fn barrier(&self, collective: Collective) -> &Barrier {
        match collective.group {
            Group::Block => &self.cluster.blocks[self.thread.block_rank as usize].barrier,
            Group::Cluster => &self.cluster.barrier,
            Group::Grid => match &self.cluster.grid_barrier {
                Some(barrier) => barrier,
                None => {
                    let sentence = format!(
                        "{collective} must be called by the kernel itself, not only by the closure of a `cuda!`"
                    );
                    self.fail(Cause::Protocol(sentence), collective.site)
                }
            },
        }
    }

    /// Arrives at the group's barrier and returns the phase. What the fence orders happens-before what follows the waits of
    /// this phase.
    fn arrive(&self, collective: Collective, fence: Fence) -> u64 {
        let barrier = self.barrier(collective);
        // On a GPU, a block arrives at the grid's barrier as a whole.
        if collective.group == Group::Grid {
            let exchange = &self.cluster.blocks[self.thread.block_rank as usize].before_grid_barrier;
            self.wait_at(exchange, exchange.arrive(self.cluster, self.thread.time.get()), collective);
        }
        if self.cluster.launch.races.is_some() {
            let scope = match collective.group {
                Group::Block => Scope::Block,
                Group::Cluster => Scope::Cluster,
                Group::Grid => Scope::Device,
            };
            let (actor, epochs) = (&self.thread.actor, &self.cluster.epochs);
            actor.arrive(collective.group as usize, fence);
            let mut releases = barrier.phases.releases.borrow_mut();
            releases.arrive(actor, epochs, Participants::Blocks, fence, scope, collective.site);
        }
        self.step();
        barrier.arrive(self.cluster, self.thread.time.get())
    }

    /// Waits until `phase` has completed, and acquires what its arrivals released.
    fn wait(&self, phase: u64, collective: Collective) {
        let barrier = self.barrier(collective);
        self.wait_at(barrier, phase, collective);
        self.thread.time.set(self.thread.time.get().max(barrier.phases.ended.get()));
        if let Some(races) = &self.cluster.launch.races {
            self.thread.actor.wait(&races.layout, &barrier.phases.released.borrow(), collective.group as usize);
            let weak = barrier.phases.weak.borrow();
            if !weak.is_empty() {
                self.thread.weak_arrivals.replace(Rc::clone(&weak));
            }
        }
        match collective.group {
            Group::Cluster | Group::Grid => self.thread.peers_started.set(true),
            Group::Block => {}
        }
    }

    fn wait_at(&self, barrier: &Barrier, phase: u64, collective: Collective) {
        if barrier.phases.current() != phase {
            self.point(cost::ATOMIC);
        }
        // The end of an older phase may have woken the thread.
        while barrier.phases.current() == phase {
            barrier.waiting.borrow_mut().push(self.thread.rank);
            self.thread.status.set(Status::AtGroupBarrier(collective));
            self.suspend();
        }
    }
}

/// Returns the group and the groups that lie inside it.
fn with_those_inside(group: Group) -> &'static [Group] {
    match group {
        Group::Block => &[Group::Block],
        Group::Cluster => &[Group::Cluster, Group::Block],
        Group::Grid => &[Group::Grid, Group::Cluster, Group::Block],
    }
}

/// Returns the failure of a thread that exits with a pending arrival, and the site of that arrival.
pub(super) fn check_exit(thread: &Thread) -> Option<(Cause, Site)> {
    [Group::Grid, Group::Cluster, Group::Block].into_iter().find_map(|group| {
        match thread.arrivals[group as usize].get() {
            Arrival::Pending { site, .. } => {
                let arrive = Collective { group, operation: Operation::Arrive, site };
                let wait = Collective { group, operation: Operation::Wait, site };
                Some((
                    Cause::Protocol(format!("{arrive} must be waited for, but the thread exited without {wait}")),
                    site,
                ))
            }
            Arrival::None | Arrival::Waited { .. } | Arrival::Forgotten { .. } => None,
        }
    })
}
