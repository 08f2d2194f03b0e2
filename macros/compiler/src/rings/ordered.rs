//! A proof from one order of the steps: where whatever could be a conflict is ordered by barriers, all orders of the steps of a
//! run are like the one that is followed, so that the number of roles and blocks does not multiply the states.
//!
//! [docs/analyses.md](../../../../docs/analyses.md#why-a-proof-is-one) says why that is a proof. It finds no faults.

use super::automaton::Action;
use super::known::{Agent, Fact, Facts, Use};
use super::ledger::Ledger;
use super::machine::{ACTOR, BARRIER, Machine, SLOT, State, data_number};
use super::moves::{Mode, Move, Outcome, attempt, begin, moves};
use super::skeleton::Data;
use super::table::Table;

/// Returns the number of states of the orders that were followed, one for each way to decide, if they prove the skeleton.
/// Each unit has to be one actor.
pub(super) fn proved(machine: &Machine, limit: usize) -> Option<usize> {
    let supported = |action: &Action| match action {
        Action::Share { .. } | Action::Free | Action::Over { .. } | Action::Past { .. } | Action::Missing => false,
        Action::Arrive { count, .. } => *count > 0,
        Action::Copy { kind, .. } => machine.places.copies[*kind].units > 0,
        _ => true,
    };
    let mut nodes = machine.automata.iter().flat_map(|automaton| &automaton.nodes);
    let counted = machine.places.barriers.iter().all(|barrier| barrier.count > 0);
    if !counted || !nodes.all(|node| supported(&node.action)) {
        return None;
    }
    let facts = Facts::of(machine)?;
    let mut ledger = Ledger::new(machine.places.barriers.len());
    let mode = Mode { reduced: false, logged: false };
    let (Outcome::States(begun), None) = begin(machine, &mut ledger, mode) else { return None };
    // What is known is the same in many states, which have its number.
    let mut table = Table::new(machine.size + NUMBER);
    let mut sets = Table::new(facts.start().len());
    let mut edges: Vec<(usize, usize)> = Vec::new();
    for (state, _) in begun {
        table.number(&with_number(state, sets.number(&facts.start()))?);
    }
    let (mut number, mut ends) = (0, Vec::new());
    while number < table.len() {
        if table.len() > limit {
            return None;
        }
        let row = table.state(number).to_vec();
        let (state, known) = row.split_at(machine.size);
        let known = sets.state(number_of(known)).to_vec();
        let mut moved = false;
        for chosen in in_order(machine, state) {
            ledger.completed_early = false;
            let states = match attempt(machine, &mut ledger, state, chosen, mode) {
                (Outcome::Blocked, None) => continue,
                (Outcome::States(states), None) => states,
                _ => return None,
            };
            for (after, _) in states {
                let step = Step { machine, facts: &facts, before: state, after: &after };
                let known = step.learn(chosen, known.clone()).filter(|_| !ledger.completed_early)?;
                edges.push((number, table.number(&with_number(after, sets.number(&known))?)));
            }
            moved = true;
            break;
        }
        if !moved {
            if (0..machine.actors.len()).any(|actor| !machine.ended(state, actor)) {
                return None;
            }
            ends.push(number);
        }
        number += 1;
    }
    all_end(table.len(), &edges, ends).then_some(table.len())
}

/// The numbers of a state that name one of many rows.
const NUMBER: usize = 2;

/// Adds the number of a row to a state.
fn with_number(mut state: State, number: usize) -> Option<State> {
    let number = u32::try_from(number).ok()?;
    state.extend([number as u16, (number >> 16) as u16]);
    Some(state)
}

fn number_of(row: &[u16]) -> usize {
    row[0] as usize | (row[1] as usize) << 16
}

/// The moves of a state, of which the first that can happen is followed: landings, and then the actors that are behind.
fn in_order(machine: &Machine, state: &[u16]) -> Vec<Move> {
    let (mut all, _) = moves(machine, state, false);
    all.sort_by_key(|chosen| match chosen {
        Move::Land(_) | Move::LandAll(_) => (0, 0),
        Move::Actor(actor) => (1, state[ACTOR * actor + 1]),
    });
    all
}

/// Whether each state leads to an end.
fn all_end(states: usize, edges: &[(usize, usize)], mut work: Vec<usize>) -> bool {
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); states];
    edges.iter().for_each(|(from, to)| before[*to].push(*from));
    let mut leads = vec![false; states];
    let mut number = 0;
    while let Some(state) = work.pop() {
        if !std::mem::replace(&mut leads[state], true) {
            number += 1;
            work.extend(&before[state]);
        }
    }
    number == states
}

/// One step of a run that is followed.
struct Step<'a> {
    machine: &'a Machine,
    facts: &'a Facts,
    before: &'a [u16],
    after: &'a [u16],
}

impl Step<'_> {
    /// Returns what is known after the step, unless the step might come at another moment, or in conflict with others.
    fn learn(&self, chosen: Move, mut known: Vec<u128>) -> Option<Vec<u128>> {
        let machine = self.machine;
        match chosen {
            Move::Actor(actor) => self.acts(actor, &mut known)?,
            Move::Land(kind) => {
                let barrier = machine.places.copies[kind].barrier;
                if self.after[machine.copies_at + kind] == 0 {
                    for fact in self.facts.of_agent(Agent::Copy(kind)) {
                        known[fact] = self.facts.current(barrier);
                    }
                }
                self.completes(barrier, &mut known)?;
            }
            Move::LandAll(_) => return None,
        }
        let live: Vec<usize> = (0..machine.actors.len()).filter(|actor| !machine.ended(self.after, *actor)).collect();
        self.facts.settle(&live, &mut known);
        // A block exits when all that others do to it is over.
        let is_left = |block: u32| live.iter().all(|actor| machine.actors[*actor].block != block);
        let is_over = |block: u32| self.facts.touches(block).iter().all(|fact| self.facts.is_settled(known[*fact]));
        (0..machine.places.blocks).all(|block| !is_left(block) || is_over(block)).then_some(known)
    }

    fn acts(&self, actor: usize, known: &mut [u128]) -> Option<()> {
        let (machine, facts) = (self.machine, self.facts);
        let own = Agent::Actor(actor);
        let knows = |known: &[u128], fact: Fact| facts.knows(known, fact, actor).then_some(());
        match &machine.node(self.before, actor).action {
            Action::Wait { barrier, .. } => {
                // It cannot have passed by an earlier phase of the same parity.
                knows(known, Fact::PhaseBefore(*barrier))?;
                self.waited(actor, *barrier, known);
            }
            Action::WaitToken { barrier } => self.waited(actor, *barrier, known),
            Action::Arrive { barrier, .. } => {
                knows(known, Fact::Phase(*barrier))?;
                let block = machine.places.barriers[*barrier].object.block;
                facts.close(machine, known, Fact::Touch(block, own), actor);
                facts.carry(known, actor, facts.current(*barrier));
                self.completes(*barrier, known)?;
            }
            Action::Expect { barrier, .. } => {
                knows(known, Fact::Phase(*barrier))?;
                facts.close(machine, known, Fact::Expected(*barrier, actor), actor);
            }
            Action::Copy { kind, data } => {
                let copy = machine.places.copies[*kind];
                knows(known, Fact::Phase(copy.barrier))?;
                self.fills(actor, copy.slot, *data, known)?;
                // The phase is not over before the copy has landed, and so not before it begins.
                facts.carry(known, actor, facts.current(copy.barrier));
                facts.of_agent(Agent::Copy(*kind)).for_each(|fact| known[fact] = facts.open());
            }
            Action::BeginFill { slot, data } => {
                self.fills(actor, *slot, *data, known)?;
                facts.set(known, Fact::Access(*slot, own, Use::Fill), facts.open());
            }
            Action::EndFill { slot } => facts.close(machine, known, Fact::Access(*slot, own, Use::Fill), actor),
            Action::BeginRead { slot, .. } => {
                self.reads(actor, *slot, known)?;
                facts.set(known, Fact::Access(*slot, own, Use::Read), facts.open());
            }
            Action::EndRead { slot } => facts.close(machine, known, Fact::Access(*slot, own, Use::Read), actor),
            Action::Store { slot, .. } => {
                self.reads(actor, *slot, known)?;
                facts.set(known, Fact::Access(*slot, own, Use::Store), facts.open());
            }
            Action::WaitStores { .. } => {
                let stores = |state: &[u16]| machine.stored(state, actor);
                let left = stores(self.after);
                for slot in stores(self.before).into_iter().filter(|slot| !left.contains(slot)) {
                    facts.close(machine, known, Fact::Access(slot, own, Use::Store), actor);
                }
            }
            Action::Sync { among, .. } => {
                let members: Vec<usize> = machine.members(actor, among).collect();
                facts.meet(known, &members);
            }
            Action::Share { .. } | Action::Free | Action::Over { .. } | Action::Past { .. } | Action::Missing => {
                return None;
            }
            Action::Shared | Action::Ahead(_) | Action::Constant(_) | Action::End => {}
        }
        Some(())
    }

    /// Notes a wait of an actor, which learns what those knew who completed the phase.
    fn waited(&self, actor: usize, barrier: usize, known: &mut [u128]) {
        self.facts.acquire(known, barrier, actor);
        self.facts.close(self.machine, known, Fact::Waited(barrier, actor), actor);
    }

    /// Notes the end of a phase, if the step is that.
    fn completes(&self, barrier: usize, known: &mut [u128]) -> Option<()> {
        let at = self.machine.barriers_at + BARRIER * barrier;
        match self.before[at] % 2 == self.after[at] % 2 {
            true => Some(()),
            false => self.facts.complete(known, barrier),
        }
    }

    /// Checks that a fill by an actor comes after the accesses that it must not meet.
    fn fills(&self, actor: usize, slot: usize, data: Data, known: &mut [u128]) -> Option<()> {
        let (machine, facts) = (self.machine, self.facts);
        let knows = |known: &[u128], fact: usize| facts.knows_number(known, fact, actor);
        let parts = machine.places.slots[slot].parts;
        if !facts.uses(slot, false).iter().all(|fact| knows(known, *fact)) {
            return None;
        }
        if parts == 0 {
            return Some(());
        }
        let fields = &self.before[machine.slots_at + SLOT * slot..][..SLOT];
        let anew = fields[0] != data_number(data, self.before[ACTOR * actor + 2]) || fields[1] + fields[2] >= parts;
        facts.knows(known, Fact::Before(slot), actor).then_some(())?;
        if anew {
            let fills = facts.uses(slot, true);
            fills.iter().all(|fact| knows(known, *fact)).then_some(())?;
            facts.renew(known, slot);
        }
        Some(())
    }

    /// Checks that a read by an actor comes after the fills of the slot.
    fn reads(&self, actor: usize, slot: usize, known: &[u128]) -> Option<()> {
        let facts = self.facts;
        let ordered = facts.uses(slot, true).iter().all(|fact| facts.knows_number(known, *fact, actor));
        (ordered && facts.knows(known, Fact::Before(slot), actor)).then_some(())
    }
}
