//! Runs a kernel under every order of its atomics, as a depth-first search with one run per order. A thread is tried
//! earlier where it later accesses what is accessed here (dynamic partial-order reduction: Flanagan and Godefroid
//! 2005), unless that order has been seen (sleep sets: Godefroid 1996): of the orders that differ only in independent
//! accesses, one is run. Only atomics need ordering: barriers do not show who arrives first, and a plain access whose
//! result depends on the order is a race, which is found under any order.
//!
//! Bounds: a thread that polls a location unchanged since its last look does not run while another thread can. A
//! polling loop is therefore tried for as many iterations as there are changes, and the path on which a loop gives up
//! after some number of iterations may not be seen. `LONGEST` decisions of a run are searched; the rest runs round
//! robin.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::scheduler::{AtomicAccess, Pending, Scheduler, Turn};
use crate::sim::memory::LocationKey;

/// The fuel of a turn, which lasts to the thread's next atomic; it ends a loop that has none.
const FUEL: u32 = 1 << 16;

/// The number of decisions of a run that are searched.
const LONGEST: usize = 10_000;

/// The search: what has been run so far, and what is left. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct OrderSearch(Arc<Mutex<Search>>);

#[derive(Debug, Default)]
struct Search {
    path: Vec<Node>,
    /// Whether a run had more decisions than are searched.
    cut: bool,
}

/// A decision between threads that are about to execute atomics.
#[derive(Debug, Clone, Default)]
struct Node {
    chosen: usize,
    /// The access of the chosen thread.
    access: Option<AtomicAccess>,
    /// The threads that could run here.
    choices: Vec<usize>,
    /// The threads that were run here before, and those whose turn here would show nothing new.
    done: Vec<usize>,
    /// The threads that are still to be run here.
    left: Vec<usize>,
}

impl Node {
    /// Notes a later access by `thread`: if it depends on the access made here, the thread goes first in another run.
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
    /// One that begins with these decisions.
    fn from(choices: &[usize]) -> Self {
        let path = choices.iter().map(|&chosen| Node { chosen, ..Node::default() }).collect();
        OrderSearch(Arc::new(Mutex::new(Search { path, cut: false })))
    }
}

impl OrderSearch {
    /// After a run: whether there is another one.
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

    /// Returns whether all orders were run once `advance` finds no other.
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
    /// How many decisions have been made.
    depth: usize,
    /// The sleep set: threads whose turn would show nothing new.
    sleep: Vec<usize>,
    /// The ready threads, in the order in which they became ready.
    ready: Vec<(usize, Pending)>,
    /// How often each location was changed.
    changes: BTreeMap<LocationKey, u64>,
    /// The last access of each thread that changed nothing, and how often its location had been changed by then.
    fruitless: BTreeMap<usize, (AtomicAccess, u64)>,
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

    /// Returns whether the thread would find again what it has already found.
    fn idles(&self, thread: usize, access: AtomicAccess) -> bool {
        self.fruitless.get(&thread).is_some_and(|(last, changes)| *last == access && *changes == self.changed(access))
    }

    fn take(&mut self, thread: usize) -> Turn {
        self.ready.retain(|(ready, _)| *ready != thread);
        Turn { thread, fuel: FUEL }
    }

    /// Decides between threads that are about to execute atomics; `None` if no choice shows anything new.
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
        // The choices are those of another kernel.
        let Some(access) = pending_access(*chosen) else { return Some(first) };
        *accessed = Some(access);
        before.iter_mut().for_each(|node| node.try_before(*chosen, access));
        let asleep =
            |thread: &usize| *thread != *chosen && pending_access(*thread).is_some_and(|other| commute(other, access));
        self.sleep = done.iter().copied().filter(asleep).collect();
        Some(*chosen)
    }
}

/// Returns whether the two accesses are independent.
fn commute(a: AtomicAccess, b: AtomicAccess) -> bool {
    a.location != b.location || !(a.writes || b.writes)
}

impl Scheduler for Exhaustive {
    fn ready(&mut self, thread: usize, pending: Pending) {
        self.ready.push((thread, pending));
    }

    fn next(&mut self) -> Option<Turn> {
        // A thread that executes no atomic goes first.
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
