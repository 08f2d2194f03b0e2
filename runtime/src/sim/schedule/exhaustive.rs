//! Every order of a kernel's atomics, run by run: a search in depth. Another thread is tried first where it came to touch
//! later what is touched there (dynamic partial-order reduction: Flanagan and Godefroid 2005), and not where that was seen
//! (sleep sets: Godefroid 1996): of orders that differ only in accesses to different places, or in reads, one is run. Nothing else needs an order: barriers do not
//! tell who comes first, and what plain accesses do in another order is a race, which is found in any.
//!
//! Bounds: a thread that looks again at what nobody changed since it looked last is not run while another can. So of a loop
//! that waits no more rounds are tried than there are changes, and one that gives up after a number of rounds may not be
//! seen to. `LONGEST` decisions are searched in a run; what comes after goes in turn.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::scheduler::{Pending, Scheduler, Touch, Turn};

/// A thread's turn goes to its next atomic; a loop without one ends it.
const FUEL: u32 = 1 << 16;

/// Decisions of a run that are searched.
const LONGEST: usize = 10_000;

/// What has been run so far, and what is to come. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct OrderSearch(Arc<Mutex<Search>>);

#[derive(Debug, Default)]
struct Search {
    path: Vec<Node>,
    /// A run was longer than is searched.
    cut: bool,
}

/// A decision between threads that are about to touch memory.
#[derive(Debug, Clone, Default)]
struct Node {
    chosen: usize,
    /// What it touched.
    touch: Option<Touch>,
    /// All that could be run here.
    choices: Vec<usize>,
    /// Those that were run here before, and those whose turn here would show nothing new.
    done: Vec<usize>,
    /// Those to be run here.
    left: Vec<usize>,
}

impl Node {
    /// A thread has come to touch something later: if that is what was touched here, it goes first in another run.
    fn try_before(&mut self, thread: usize, touch: Touch) {
        if self.chosen == thread || self.touch.is_none_or(|here| commute(here, touch)) {
            return;
        }
        // Where it could not go first, any other may lead there.
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

    /// Whether all orders were run, if `advance` finds no other.
    pub(crate) fn is_whole(&self) -> bool {
        !self.search().cut
    }

    /// The threads in the order of the decisions of the last run.
    pub(crate) fn choices(&self) -> Vec<usize> {
        self.search().path.iter().map(|node| node.chosen).collect()
    }

    fn search(&self) -> MutexGuard<'_, Search> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One run.
pub(super) struct Exhaustive {
    exploration: OrderSearch,
    /// How many decisions have been made.
    depth: usize,
    /// Those whose turn would show nothing new.
    sleep: Vec<usize>,
    /// Ready threads, in the order in which they came.
    ready: Vec<(usize, Pending)>,
    /// How often a place was changed.
    changes: BTreeMap<(usize, usize), u64>,
    /// What each thread touched last without a change, and how often it had been changed then.
    looked: BTreeMap<usize, (Touch, u64)>,
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
            looked: BTreeMap::new(),
            redundant: false,
        }
    }

    fn changed(&self, touch: Touch) -> u64 {
        self.changes.get(&touch.place).copied().unwrap_or(0)
    }

    /// Whether the thread would see what it has seen.
    fn idles(&self, thread: usize, touch: Touch) -> bool {
        self.looked.get(&thread).is_some_and(|(last, changes)| *last == touch && *changes == self.changed(touch))
    }

    fn take(&mut self, thread: usize) -> Turn {
        self.ready.retain(|(ready, _)| *ready != thread);
        Turn { thread, fuel: FUEL }
    }

    /// Decides between threads that are about to touch memory; `None` if nothing new comes of any.
    fn decide(&mut self, choices: &[(usize, Touch)]) -> Option<usize> {
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
        let touch_of =
            |thread: usize| self.ready.iter().find(|(ready, _)| *ready == thread).and_then(|(_, touch)| *touch);
        let (before, now) = search.path.split_at_mut(self.depth);
        let Node { chosen, done, touch: touched, .. } = &mut now[0];
        self.depth += 1;
        // A list of another kernel's.
        let Some(touch) = touch_of(*chosen) else { return Some(first) };
        *touched = Some(touch);
        before.iter_mut().for_each(|node| node.try_before(*chosen, touch));
        let asleep =
            |thread: &usize| *thread != *chosen && touch_of(*thread).is_some_and(|other| commute(other, touch));
        self.sleep = done.iter().copied().filter(asleep).collect();
        Some(*chosen)
    }
}

/// Whether the order of the two does not matter.
fn commute(a: Touch, b: Touch) -> bool {
    a.place != b.place || !(a.writes || b.writes)
}

impl Scheduler for Exhaustive {
    fn ready(&mut self, thread: usize, pending: Pending) {
        self.ready.push((thread, pending));
    }

    fn next(&mut self) -> Option<Turn> {
        // What touches nothing goes first.
        if let Some((thread, _)) = self.ready.iter().find(|(_, pending)| pending.is_none()) {
            let thread = *thread;
            return Some(self.take(thread));
        }
        let touching = self.ready.iter().filter_map(|(thread, pending)| Some((*thread, (*pending)?)));
        let (idle, useful): (Vec<_>, Vec<_>) = touching.partition(|(thread, touch)| self.idles(*thread, *touch));
        let thread = self.decide(if useful.is_empty() { &idle } else { &useful })?;
        Some(self.take(thread))
    }

    fn announces(&self) -> bool {
        true
    }

    fn touched(&mut self, thread: usize, touch: Touch, wrote: bool) {
        if wrote {
            *self.changes.entry(touch.place).or_insert(0) += 1;
            self.looked.remove(&thread);
        } else {
            self.looked.insert(thread, (touch, self.changed(touch)));
        }
    }

    fn is_redundant(&self) -> bool {
        self.redundant
    }
}
