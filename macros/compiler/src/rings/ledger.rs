//! The ledger of a search: facts about whole phases, which units complete them, and whether the reductions' conditions held. It is
//! not a part of a state.

use super::machine::Machine;

/// The phases of one barrier that the search has seen.
#[derive(Clone, Default)]
struct Phases {
    /// The sets of units that arrived in a phase before it was complete.
    begun: Vec<u32>,
    /// The sets of units that completed a phase, those included that had dropped out.
    complete: Vec<u32>,
    /// Whether a thread arrived twice in a phase, or a phase was completed by a part of a unit.
    mixed: bool,
}

#[derive(Clone, Default)]
pub(super) struct Ledger {
    phases: Vec<Phases>,
    /// Whether a phase was complete while a copy for its barrier was in flight.
    pub(super) completed_early: bool,
}

impl Ledger {
    pub(super) fn new(barriers: usize) -> Ledger {
        Ledger { phases: vec![Phases::default(); barriers], completed_early: false }
    }

    /// Notes an arrival by the actor with a bit, after those with the bits of `arrived`.
    pub(super) fn arrives(&mut self, machine: &Machine, barrier: usize, arrived: u16, bit: u16) {
        let phases = &mut self.phases[barrier];
        phases.mixed |= arrived & bit != 0;
        let units = units(machine, arrived | bit);
        if !phases.begun.contains(&units) {
            phases.begun.push(units);
        }
    }

    /// Notes that threads of one unit may concern different phases by the same step.
    pub(super) fn mixes(&mut self, barrier: usize) {
        self.phases[barrier].mixed = true;
    }

    /// Notes the end of a phase.
    pub(super) fn completes(&mut self, machine: &Machine, barrier: usize, arrived: u16, dropped: u16) {
        let (phases, present) = (&mut self.phases[barrier], arrived | dropped);
        let units = units(machine, present);
        phases.mixed |= actors(machine, units) != present;
        if !phases.complete.contains(&units) {
            phases.complete.push(units);
        }
    }

    /// Returns a barrier whose phases are not each completed by all threads of units that complete no phase together with others.
    /// `one` asks that they are the same units in all phases.
    pub(super) fn irregular(&self, one: bool) -> Option<usize> {
        self.phases.iter().position(|phases| {
            let complete = &phases.complete;
            let apart = |(at, set): (usize, &u32)| complete[at + 1..].iter().all(|other| set & other == 0);
            let known = |begun: &u32| complete.is_empty() || complete.iter().any(|set| begun & !set == 0);
            let classes = complete.iter().filter(|set| **set != 0).count();
            phases.mixed
                || one && classes > 1
                || !complete.iter().enumerate().all(apart)
                || !phases.begun.iter().all(known)
        })
    }
}

fn units(machine: &Machine, bits: u16) -> u32 {
    let present = machine.actors.iter().filter(|actor| actor.bit & bits != 0);
    present.fold(0, |units, actor| units | 1 << (actor.unit % 32))
}

/// Returns the bits of all actors of units.
fn actors(machine: &Machine, units: u32) -> u16 {
    let all = machine.actors.iter().filter(|actor| units & 1 << (actor.unit % 32) != 0);
    all.fold(0, |bits, actor| bits | actor.bit)
}
