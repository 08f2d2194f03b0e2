//! Runs a kernel under every order of its atomics, as a depth-first search with one run per order. Of the orders that
//! differ only in independent accesses, one is run: a thread is tried at an earlier decision if its later access
//! depends on the one made there (dynamic partial-order reduction: Flanagan and Godefroid 2005), unless that order has
//! been seen (sleep sets: Godefroid 1996). Only atomics need to be reordered: the order of arrivals at a barrier is not
//! observable, and a plain access whose result depends on the order is a race, which is found under any order.
//!
//! The search is bounded. A thread that polls a location which has not changed since its last poll does not run while
//! another thread can. A polling loop is therefore run for as many iterations as there are changes, and the path on
//! which a loop gives up after some number of iterations may be missed. Only the first `LONGEST` decisions of a run are
//! searched; after them, the first thread that is ready runs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::scheduler::{AtomicAccess, Pending, Scheduler, Turn};
use crate::sim::memory::LocationKey;

/// The fuel of a turn. A turn ends before the thread's next atomic, so the fuel only limits loops without atomics.
const FUEL: u32 = 1 << 16;

/// The largest number of decisions of a run that are searched.
const LONGEST: usize = 10_000;

/// The state of the search, which its clones share.
#[derive(Debug, Clone, Default)]
pub(crate) struct OrderSearch(Arc<Mutex<Search>>);

#[derive(Debug, Default)]
struct Search {
    /// The decisions of the current run.
    path: Vec<Node>,
    /// Whether a run had more decisions than are searched.
    cut: bool,
}

/// A decision between threads that are about to execute atomics.
#[derive(Debug, Clone, Default)]
struct Node {
    chosen: usize,
    /// The chosen thread's access, once it is known.
    access: Option<AtomicAccess>,
    /// The threads that could run here.
    choices: Vec<usize>,
    /// The threads that were chosen here in earlier runs, and those in the sleep set.
    done: Vec<usize>,
    /// The threads that are still to be chosen here.
    left: Vec<usize>,
}

impl Node {
    /// Considers a later access by `thread`: if it depends on the access made here, another run tries the thread first.
    fn try_before(&mut self, thread: usize, access: AtomicAccess) {
        if self.chosen == thread || self.access.is_none_or(|here| commute(here, access)) {
            return;
        }
        // If the thread could not run here, any other choice may lead to it.
        let only = self.choices.contains(&thread).then_some(thread);
        let Node { chosen, choices, done, left, .. } = self;
        for choice in choices.iter().filter(|choice| only.is_none_or(|only| **choice == only)) {
            if choice != chosen && !done.contains(choice) && !left.contains(choice) {
                left.push(*choice);
            }
        }
    }
}

impl From<&[usize]> for OrderSearch {
    /// Returns a search whose first run begins with these decisions.
    fn from(choices: &[usize]) -> Self {
        let path = choices.iter().map(|&chosen| Node { chosen, ..Node::default() }).collect();
        OrderSearch(Arc::new(Mutex::new(Search { path, cut: false })))
    }
}

impl OrderSearch {
    /// Advances to the next run, and returns whether there is one.
    pub(crate) fn advance(&self) -> bool {
        let path = &mut self.search().path;
        while let Some(node) = path.last_mut() {
            if let Some(next) = node.left.pop() {
                node.done.push(std::mem::replace(&mut node.chosen, next));
                return true;
            }
            path.pop();
        }
        false
    }

    /// Returns whether all orders have been run when `advance` finds no other.
    pub(crate) fn is_whole(&self) -> bool {
        !self.search().cut
    }

    /// Returns the threads that the last run chose, in order.
    pub(crate) fn choices(&self) -> Vec<usize> {
        self.search().path.iter().map(|node| node.chosen).collect()
    }

    fn search(&self) -> MutexGuard<'_, Search> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One run of the search.
pub(super) struct Exhaustive {
    exploration: OrderSearch,
    /// The number of decisions made so far.
    depth: usize,
    /// The sleep set: the threads whose turn would lead to no new order.
    sleep: Vec<usize>,
    /// The ready threads, in the order in which they became ready.
    ready: Vec<(usize, Pending)>,
    /// The number of changes of each location.
    changes: BTreeMap<LocationKey, u64>,
    /// Each thread's last access, if it did not write, and the number of its location's changes until then.
    fruitless: BTreeMap<usize, (AtomicAccess, u64)>,
    /// Whether everything that was left to run has been seen.
    redundant: bool,
}

impl Exhaustive {
    pub(super) fn new(exploration: OrderSearch) -> Self {
        Exhaustive {
            exploration,
            depth: 0,
            sleep: Vec::new(),
            ready: Vec::new(),
            changes: BTreeMap::new(),
            fruitless: BTreeMap::new(),
            redundant: false,
        }
    }

    fn changed(&self, access: AtomicAccess) -> u64 {
        self.changes.get(&access.location).copied().unwrap_or(0)
    }

    /// Returns whether the thread would repeat an access to a location that has not changed since.
    fn idles(&self, thread: usize, access: AtomicAccess) -> bool {
        self.fruitless.get(&thread).is_some_and(|(last, changes)| *last == access && *changes == self.changed(access))
    }

    fn take(&mut self, thread: usize) -> Turn {
        self.ready.retain(|(ready, _)| *ready != thread);
        Turn { thread, fuel: FUEL }
    }

    /// Chooses among threads that are about to execute atomics; `None` if every choice leads to an order that has been
    /// seen.
    fn decide(&mut self, choices: &[(usize, AtomicAccess)]) -> Option<usize> {
        let exploration = self.exploration.clone();
        let mut search = exploration.search();
        let first = choices.first()?.0;
        if self.depth == LONGEST {
            search.cut |= choices.len() > 1;
            return Some(first);
        }
        if self.depth == search.path.len() {
            let choices: Vec<usize> = choices.iter().map(|(thread, _)| *thread).collect();
            let Some(&chosen) = choices.iter().find(|thread| !self.sleep.contains(thread)) else {
                self.redundant = true;
                return None;
            };
            search.path.push(Node { chosen, choices, done: self.sleep.clone(), ..Node::default() });
        }
        let pending_access =
            |thread: usize| self.ready.iter().find(|(ready, _)| *ready == thread).and_then(|(_, access)| *access);
        let (before, now) = search.path.split_at_mut(self.depth);
        let Node { chosen, done, access: accessed, .. } = &mut now[0];
        self.depth += 1;
        // The choices to replay are those of another kernel.
        let Some(access) = pending_access(*chosen) else { return Some(first) };
        *accessed = Some(access);
        before.iter_mut().for_each(|node| node.try_before(*chosen, access));
        let asleep =
            |thread: &usize| *thread != *chosen && pending_access(*thread).is_some_and(|other| commute(other, access));
        self.sleep = done.iter().copied().filter(asleep).collect();
        Some(*chosen)
    }
}

/// Returns whether the two accesses commute, which makes their order irrelevant.
fn commute(a: AtomicAccess, b: AtomicAccess) -> bool {
    a.location != b.location || !(a.writes || b.writes)
}

impl Scheduler for Exhaustive {
    fn ready(&mut self, thread: usize, pending: Pending) {
        self.ready.push((thread, pending));
    }

    fn next(&mut self) -> Option<Turn> {
        // A thread that has announced no atomic runs first.
        if let Some((thread, _)) = self.ready.iter().find(|(_, pending)| pending.is_none()) {
            let thread = *thread;
            return Some(self.take(thread));
        }
        let pending_accesses = self.ready.iter().filter_map(|(thread, pending)| Some((*thread, (*pending)?)));
        let (idle, useful): (Vec<_>, Vec<_>) =
            pending_accesses.partition(|(thread, access)| self.idles(*thread, *access));
        let thread = self.decide(if useful.is_empty() { &idle } else { &useful })?;
        Some(self.take(thread))
    }

    fn announces(&self) -> bool {
        true
    }

    fn accessed(&mut self, thread: usize, access: AtomicAccess, wrote: bool) {
        if wrote {
            *self.changes.entry(access.location).or_insert(0) += 1;
            self.fruitless.remove(&thread);
        } else {
            self.fruitless.insert(thread, (access, self.changed(access)));
        }
    }

    fn is_redundant(&self) -> bool {
        self.redundant
    }
}
