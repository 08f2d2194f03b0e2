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
pub use sample::sample;
pub use skeleton::{Among, BarrierArray, Condition, Data, Element, Op, Role, Skeleton, SlotArray, Step};
pub use stale::{Stale, may_be_stale, stale};
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

/// Checks a skeleton; visits at most about `limit_of_states` states.
pub fn check(skeleton: &Skeleton, limit_of_states: usize) -> Verdict {
    judge(skeleton, limit_of_states, false).unwrap_or_else(Verdict::NotProved)
}

/// Checks a skeleton in the same way, but does not look for faults where no proof can come of it.
pub fn prove(skeleton: &Skeleton, limit_of_states: usize) -> Verdict {
    judge(skeleton, limit_of_states, true).unwrap_or_else(Verdict::NotProved)
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

fn judge(skeleton: &Skeleton, limit: usize, only_proofs: bool) -> Result<Verdict, Reason> {
    let mut machine = Machine::new(skeleton)?;
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
            if let Verdict::Fault { fault, .. } = &found
                && let Some(reason) = harmless(fault)
                && !checker.goes_wrong(&mut machine, &splits, fault)
            {
                return Err(reason);
            }
            return Ok(found);
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

/// What is known of a skeleton with a fault that need not harm anybody: several threads arrive as one where a phase expects fewer, or a
/// wait by parity is overtaken, which may be again, so that the thread goes on.
fn harmless(fault: &Fault) -> Option<Reason> {
    match fault {
        Fault::Count(CountFault::Arrivals { barrier, .. }) => Some(Reason::Arrivals { barrier: barrier.array }),
        Fault::Overtaken { barrier, wait: LateWait::Parity, .. } => Some(Reason::Overtaken { barrier: barrier.array }),
        Fault::Overtaken { wait: LateWait::StaleToken | LateWait::NoToken, .. }
        | Fault::Count(CountFault::Index { .. })
        | Fault::Deadlock { .. }
        | Fault::Overwrite { .. }
        | Fault::Read { .. }
        | Fault::Undrained(_) => None,
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

    /// Whether something is wrong in a run that goes on behind a fault that need not harm anybody. Where the searches do not come to an end, it
    /// is taken to be, unless several threads arrive as one, and no lanes of warps do: of those, a few runs are followed.
    fn goes_wrong(&mut self, machine: &mut Machine, splits: &Splits, fault: &Fault) -> bool {
        let by_threads = match fault {
            Fault::Count(CountFault::Arrivals { threads, barrier, .. }) => {
                threads.number > 1 && !machine.has_lanes_at(*barrier)
            }
            _ => false,
        };
        (machine.carries, machine.waits_on) = (true, !by_threads);
        let whole = vec![1; machine.units.len()];
        (self.states, self.reason) = (0, None);
        for split in splits.searches.iter().chain([&splits.all, &whole]) {
            match self.search(machine, split) {
                Ok(Some(_)) => return true,
                Ok(None) => {}
                Err(reason) => self.reason = self.reason.or(Some(reason)),
            }
        }
        match by_threads {
            true => self.reason == Some(Reason::States) && sample::sample_in_turn(self.skeleton).is_some(),
            false => self.reason.is_some(),
        }
    }

    fn once(&mut self, machine: &Machine, reduced: bool) -> Search {
        let left = self.limit.saturating_sub(self.states);
        let found = search(machine, self.rotation, &mut self.ledger, reduced, left);
        self.states += found.states;
        found
    }
}
