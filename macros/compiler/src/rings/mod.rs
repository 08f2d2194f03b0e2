//! Rings of phase barriers: whether the skeleton of a kernel's synchronization is free of deadlocks and races for all trip
//! counts. Plain data comes in and a verdict goes out; nothing here reads a kernel.
//!
//! [docs/analyses.md](../../../../docs/analyses.md#rings-of-phase-barriers) says why a proof is one.

mod accesses;
mod automaton;
mod counters;
pub(crate) mod expr;
mod known;
mod ledger;
mod live;
mod machine;
mod moves;
mod normal;
mod ordered;
mod places;
mod rotation;
mod sample;
mod search;
mod skeleton;
mod splits;
mod stale;
mod step;
mod table;
mod verdict;

pub use expr::{Expr, Operator};
pub use skeleton::{Among, BarrierArray, Condition, Data, Element, Op, Role, Skeleton, SlotArray, Step};
pub use stale::{Stale, may_be_stale};
pub use verdict::{
    BarrierState, Content, CountFault, Event, EventAction, Fault, LateWait, Object, Reason, Threads, UndrainedFault,
    Use, Verdict, Waiting,
};

use automaton::Action;
use ledger::Ledger;
use machine::Machine;
use rotation::Rotation;
use search::{Search, search};
use splits::Splits;

/// A skeleton with the automata of its roles, which several checks of it share.
pub struct Prepared<'s> {
    skeleton: &'s Skeleton,
    machine: Result<Machine, Reason>,
}

impl<'s> Prepared<'s> {
    /// Makes the automata.
    pub fn new(skeleton: &'s Skeleton) -> Prepared<'s> {
        Prepared { skeleton, machine: Machine::new(skeleton) }
    }

    /// Checks the skeleton; visits at most about `limit_of_states` states.
    pub fn check(&self, limit_of_states: usize) -> Verdict {
        judge(self, limit_of_states, false).unwrap_or_else(Verdict::NotProved)
    }

    /// Looks for a fault in some runs of the skeleton.
    pub fn sample(&self) -> Option<(Fault, Vec<Event>)> {
        sample::sample(self.skeleton, self.machine.clone().ok()?)
    }

    /// Looks for a stale parity in one run of the skeleton, whose runs are all alike in this.
    pub fn stale(&self) -> Option<Stale> {
        stale::stale(self.skeleton, self.machine.clone().ok()?)
    }
}

/// Checks a skeleton; visits at most about `limit_of_states` states.
pub fn check(skeleton: &Skeleton, limit_of_states: usize) -> Verdict {
    Prepared::new(skeleton).check(limit_of_states)
}

/// Checks a skeleton in the same way, but does not look for faults where no proof can come of it.
pub fn prove(skeleton: &Skeleton, limit_of_states: usize) -> Verdict {
    judge(&Prepared::new(skeleton), limit_of_states, true).unwrap_or_else(Verdict::NotProved)
}

/// Returns the number of states that prove a skeleton if one order of the steps of each run does.
#[cfg(test)]
pub(crate) fn proved_in_order(skeleton: &Skeleton, limit: usize) -> Option<usize> {
    in_order(skeleton, &mut Machine::new(skeleton).ok()?, limit)
}

fn in_order(skeleton: &Skeleton, machine: &mut Machine, limit: usize) -> Option<usize> {
    let is_paired = machine.automata.iter().all(|automaton| accesses::unpaired(automaton).is_none());
    // The threads of a role are one actor.
    let is_represented = splits::not_represented(skeleton).is_none();
    // Who knows that the source of a copy has been read is not followed there.
    let has_sources = machine.places.copies.iter().any(|copy| copy.from.is_some());
    if !is_paired || !is_represented || has_sources {
        return None;
    }
    let whole = vec![1; machine.units.len()];
    machine.split(skeleton, &whole).ok()?;
    ordered::proved(machine, limit)
}

fn judge(Prepared { skeleton, machine }: &Prepared<'_>, limit: usize, only_proofs: bool) -> Result<Verdict, Reason> {
    let mut machine = machine.clone()?;
    match in_order(skeleton, &mut machine, limit) {
        Some(states) => Ok(Verdict::Proved { states }),
        None => searched(skeleton, machine, limit, only_proofs),
    }
}

/// Searches all orders of the steps.
fn searched(skeleton: &Skeleton, mut machine: Machine, limit: usize, only_proofs: bool) -> Result<Verdict, Reason> {
    if let Some(reason) = machine.automata.iter().find_map(accesses::unpaired) {
        return Err(reason);
    }
    let rotation = Rotation::find(&machine);
    let splits = splits::splits(&machine);
    let mut checker = Checker {
        skeleton,
        rotation: rotation.as_ref(),
        ledger: Ledger::new(machine.places.barriers.len()),
        reduced: machine
            .automata
            .iter()
            .flat_map(|automaton| &automaton.nodes)
            .all(|node| node.owned || !matches!(node.action, Action::Expect { .. } | Action::Share { .. })),
        limit,
        states: 0,
        reason: splits::tests(skeleton).or_else(|| match splits.exact {
            true => None,
            false => splits::not_represented(skeleton).or_else(|| splits::not_owned(&machine)),
        }),
    };
    if let Some(reason) = checker.reason.filter(|_| only_proofs) {
        return Err(reason);
    }
    for split in &splits.searches {
        if let Some(fault) = checker.search(&mut machine, split)? {
            let is_of_count = matches!(fault, Verdict::Fault { fault: Fault::Count(_), .. });
            let other = if only_proofs || is_of_count { None } else { checker.of_count(&mut machine) };
            let found = other.unwrap_or(fault);
            return match overruns(&found) {
                Some(barrier) if !checker.has_fault_in_turn(&mut machine, &splits) => Err(Reason::Arrivals { barrier }),
                Some(_) | None => Ok(found),
            };
        }
    }
    // Where units complete the phases of a barrier in turn, threads of several units have to be single at once.
    let in_turn =
        |checker: &Checker<'_>| checker.ledger.irregular(true).is_some() && checker.ledger.irregular(false).is_none();
    if !splits.exact
        && !splits.searches.contains(&splits.all)
        && in_turn(&checker)
        && let Some(fault) = checker.search(&mut machine, &splits.all)?
    {
        return Ok(fault);
    }
    if !splits.exact
        && let Some(barrier) = checker.ledger.irregular(false)
    {
        let barrier = machine.places.barriers[barrier].object.array;
        checker.reason = checker.reason.or(Some(Reason::Arrivals { barrier }));
    }
    Ok(checker.reason.map_or(Verdict::Proved { states: checker.states }, Verdict::NotProved))
}

/// The barrier at which several threads arrive as one where a phase expects fewer.
fn overruns(found: &Verdict) -> Option<u32> {
    match found {
        Verdict::Fault { fault: Fault::Count(CountFault::Arrivals { threads, barrier, .. }), .. } => {
            (threads.number > 1).then_some(barrier.array)
        }
        Verdict::Fault { .. } | Verdict::Proved { .. } | Verdict::NotProved(_) => None,
    }
}

/// The searches of one check.
struct Checker<'a> {
    skeleton: &'a Skeleton,
    rotation: Option<&'a Rotation>,
    ledger: Ledger,
    /// Whether the reductions are sound for the skeleton, as far as its text shows.
    reduced: bool,
    limit: usize,
    states: usize,
    /// Why there is no proof.
    reason: Option<Reason>,
}

impl Checker<'_> {
    /// Searches with a number of actors for each unit; returns the fault that it finds.
    fn search(&mut self, machine: &mut Machine, split: &[u32]) -> Result<Option<Verdict>, Reason> {
        machine.split(self.skeleton, split)?;
        if machine.crowded {
            return Err(Reason::Size);
        }
        self.ledger.completed_early = false;
        let mut found = self.once(machine, self.reduced);
        if self.ledger.completed_early && self.reduced && found.fault.is_none() {
            found = self.once(machine, false);
        }
        if let Some((fault, trace)) = found.fault {
            return Ok(Some(Verdict::Fault { fault, trace }));
        }
        self.reason = self.reason.or(found.reason);
        Ok(None)
    }

    /// Where a skeleton has a fault: one that whole roles have, if it is about the count of a barrier, which then is the reason for others.
    fn of_count(&mut self, machine: &mut Machine) -> Option<Verdict> {
        let whole = vec![1; machine.units.len()];
        let found = self.search(machine, &whole).ok()??;
        matches!(found, Verdict::Fault { fault: Fault::Count(CountFault::Arrivals { .. }), .. }).then_some(found)
    }

    /// Where threads that arrive as one have too many arrivals for a phase: whether something is wrong if the rest of them arrives in the
    /// next one.
    fn has_fault_in_turn(&mut self, machine: &mut Machine, splits: &Splits) -> bool {
        machine.carries = true;
        let whole = vec![1; machine.units.len()];
        self.states = 0;
        let mut all = splits.searches.iter().chain([&splits.all, &whole]);
        let mut is_open = false;
        let is_found = all.any(|split| {
            let found = self.search(machine, split);
            is_open |= found.is_err();
            matches!(found, Ok(Some(_)))
        });
        let is_open = is_open || matches!(self.reason, Some(Reason::States | Reason::ManyThreads { .. }));
        is_found || is_open && sample::sample_in_turn(self.skeleton).is_some()
    }

    fn once(&mut self, machine: &Machine, reduced: bool) -> Search {
        let left = self.limit.saturating_sub(self.states);
        let found = search(machine, self.rotation, &mut self.ledger, reduced, left);
        self.states += found.states;
        found
    }
}
