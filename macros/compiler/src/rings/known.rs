//! A record of who knows what has happened: for each last access, wait and phase, the actors and the phases of barriers that come after it.

use std::collections::BTreeMap;

use super::automaton::Action;
use super::machine::Machine;

/// An actor, or the copies of a kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Agent {
    Actor(usize),
    Copy(usize),
}

/// How a slot is used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Use {
    Read,
    Fill,
    Store,
}

/// Something that has happened, which later steps may have to come after. Each is about the last time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fact {
    /// The agent's use of the slot is over; fills are those of the slot's present data.
    Access(usize, Agent, Use),
    /// The fills of the data before are over.
    Before(usize),
    /// The barrier's last phase is over.
    Phase(usize),
    /// The phase before the last one is over.
    PhaseBefore(usize),
    /// The actor has passed its wait at the barrier.
    Waited(usize, usize),
    /// The actor has expected bytes at the barrier.
    Expected(usize, usize),
    /// The agent has done something to a block, which may be a peer's.
    Touch(u32, Agent),
}

/// What may be known of a machine. A fact's value is a set: of the actors that come after it, and of the phases, the current one and
/// the last complete one of each barrier, to whose arrivals it is known.
pub(super) struct Facts {
    numbers: BTreeMap<Fact, usize>,
    owners: Vec<Option<usize>>,
    by_slot: Vec<[Vec<usize>; 2]>,
    by_block: Vec<Vec<usize>>,
    by_agent: BTreeMap<Agent, Vec<usize>>,
    settles: Vec<Settles>,
    actors: usize,
    waits: BTreeMap<usize, Vec<usize>>,
}

/// When nobody has still to learn a fact.
#[derive(Clone, Copy)]
enum Settles {
    /// The end of the phase, which need not be an arrival, has to come after it.
    Never,
    /// One of these actors knows it.
    Any(u128),
    /// All actors know it that have not exited.
    All,
}

/// In a set, that the access is not over.
const OPEN: u128 = 1 << 127;
/// The set of a fact that everything comes after.
const ALL: u128 = !OPEN;

impl Facts {
    /// Returns the facts of a machine, unless it has too many actors and barriers.
    pub(super) fn of(machine: &Machine) -> Option<Facts> {
        let (actors, barriers) = (machine.actors.len(), machine.places.barriers.len());
        if actors + 2 * barriers > 127 {
            return None;
        }
        let mut all: Vec<Fact> = (0..machine.places.slots.len()).map(Fact::Before).collect();
        all.extend((0..barriers).flat_map(|barrier| [Fact::Phase(barrier), Fact::PhaseBefore(barrier)]));
        for (number, actor) in machine.actors.iter().enumerate() {
            let own = Agent::Actor(number);
            for node in &machine.automata[actor.automaton].nodes {
                match node.action {
                    Action::Wait { barrier, .. } | Action::WaitToken { barrier } => {
                        all.push(Fact::Waited(barrier, number));
                    }
                    Action::Expect { barrier, .. } => all.push(Fact::Expected(barrier, number)),
                    Action::Arrive { barrier, .. } => {
                        let block = machine.places.barriers[barrier].object.block;
                        all.extend((block != actor.block).then_some(Fact::Touch(block, own)));
                    }
                    Action::BeginFill { slot, .. } => all.push(Fact::Access(slot, own, Use::Fill)),
                    Action::BeginRead { slot, .. } => all.push(Fact::Access(slot, own, Use::Read)),
                    Action::Store { slot, .. } => all.push(Fact::Access(slot, own, Use::Store)),
                    _ => {}
                }
            }
        }
        for (kind, copy) in machine.places.copies.iter().enumerate() {
            let own = Agent::Copy(kind);
            all.push(Fact::Access(copy.slot, own, Use::Fill));
            all.push(Fact::Touch(machine.places.slots[copy.slot].object.block, own));
            all.push(Fact::Touch(machine.places.barriers[copy.barrier].object.block, own));
        }
        all.sort_unstable();
        all.dedup();
        let owner = |agent: Agent| if let Agent::Actor(actor) = agent { Some(actor) } else { None };
        let mut facts = Facts {
            numbers: BTreeMap::new(),
            owners: Vec::new(),
            by_slot: vec![[Vec::new(), Vec::new()]; machine.places.slots.len()],
            by_block: vec![Vec::new(); machine.places.blocks as usize],
            by_agent: BTreeMap::new(),
            settles: Vec::new(),
            actors,
            waits: BTreeMap::new(),
        };
        for (number, fact) in all.into_iter().enumerate() {
            facts.numbers.insert(fact, number);
            facts.settles.push(match fact {
                Fact::Waited(..) | Fact::Expected(..) => Settles::Never,
                Fact::Touch(block, _) => {
                    let own = machine.actors.iter().enumerate().filter(|(_, actor)| actor.block == block);
                    Settles::Any(own.fold(0, |set, (actor, _)| set | 1 << actor))
                }
                Fact::Access(..) | Fact::Before(_) | Fact::Phase(_) | Fact::PhaseBefore(_) => Settles::All,
            });
            facts.owners.push(match fact {
                Fact::Access(slot, agent, used) => {
                    facts.by_slot[slot][usize::from(used == Use::Fill)].push(number);
                    facts.by_agent.entry(agent).or_default().push(number);
                    owner(agent)
                }
                Fact::Touch(block, agent) => {
                    facts.by_block[block as usize].push(number);
                    facts.by_agent.entry(agent).or_default().push(number);
                    owner(agent)
                }
                Fact::Waited(barrier, actor) | Fact::Expected(barrier, actor) => {
                    facts.waits.entry(barrier).or_default().push(number);
                    Some(actor)
                }
                Fact::Before(_) | Fact::Phase(_) | Fact::PhaseBefore(_) => None,
            });
        }
        Some(facts)
    }

    /// Returns the sets of all facts before the first step.
    pub(super) fn start(&self) -> Vec<u128> {
        vec![ALL; self.owners.len()]
    }

    /// Brings sets into their normal form, in which what no actor has still to learn is known to all. The loops are over indexes, which
    /// are several times faster than iterators where the compiler does not optimize.
    pub(super) fn settle(&self, live: &[usize], known: &mut [u128]) {
        let all: u128 = live.iter().fold(0, |set, actor| set | 1 << actor);
        let mut fact = 0;
        while fact < known.len() {
            let set = known[fact];
            if set & OPEN == 0 && set != ALL {
                let is_settled = match self.settles[fact] {
                    Settles::Never => false,
                    Settles::Any(actors) => set & actors != 0,
                    Settles::All => set & all == all,
                };
                if is_settled {
                    known[fact] = ALL;
                }
            }
            fact += 1;
        }
    }

    pub(super) fn open(&self) -> u128 {
        OPEN
    }

    pub(super) fn is_settled(&self, set: u128) -> bool {
        set == ALL
    }

    /// Returns the set of a barrier's current phase alone.
    pub(super) fn current(&self, barrier: usize) -> u128 {
        1 << (self.actors + 2 * barrier)
    }

    fn complete_of(&self, barrier: usize) -> u128 {
        self.current(barrier) << 1
    }

    pub(super) fn of_agent(&self, agent: Agent) -> impl Iterator<Item = usize> {
        self.by_agent.get(&agent).into_iter().flatten().copied()
    }

    /// Returns the fills of a slot, or its other uses.
    pub(super) fn uses(&self, slot: usize, fills: bool) -> &[usize] {
        &self.by_slot[slot][usize::from(fills)]
    }

    pub(super) fn touches(&self, block: u32) -> &[usize] {
        &self.by_block[block as usize]
    }

    pub(super) fn knows(&self, known: &[u128], fact: Fact, actor: usize) -> bool {
        self.numbers.get(&fact).is_none_or(|fact| self.knows_number(known, *fact, actor))
    }

    pub(super) fn knows_number(&self, known: &[u128], fact: usize, actor: usize) -> bool {
        known[fact] & 1 << actor != 0
    }

    pub(super) fn set(&self, known: &mut [u128], fact: Fact, set: u128) {
        if let Some(fact) = self.numbers.get(&fact) {
            known[*fact] = set;
        }
    }

    /// Notes that what an actor does is over. One of several threads knows it of itself alone.
    pub(super) fn close(&self, machine: &Machine, known: &mut [u128], fact: Fact, actor: usize) {
        let set = if machine.actors[actor].weight == 1 { 1 << actor } else { 0 };
        self.set(known, fact, set);
    }

    /// Whether all threads of an actor together know a fact: of what they do, each knows its own part.
    fn brings(&self, known: &[u128], fact: usize, actor: usize) -> bool {
        known[fact] & 1 << actor != 0 || self.owners[fact] == Some(actor) && known[fact] & OPEN == 0
    }

    /// Adds what an actor knows to a phase.
    pub(super) fn carry(&self, known: &mut [u128], actor: usize, phase: u128) {
        let mut fact = 0;
        while fact < known.len() {
            if known[fact] & phase == 0 && self.brings(known, fact, actor) {
                known[fact] |= phase;
            }
            fact += 1;
        }
    }

    /// Lets an actor know what is known to a barrier's last phase.
    pub(super) fn acquire(&self, known: &mut [u128], barrier: usize, actor: usize) {
        let phase = self.complete_of(barrier);
        let mut fact = 0;
        while fact < known.len() {
            if known[fact] & phase != 0 {
                known[fact] |= 1 << actor;
            }
            fact += 1;
        }
    }

    /// Lets actors that meet know what one of them knows.
    pub(super) fn meet(&self, known: &mut [u128], members: &[usize]) {
        let all: u128 = members.iter().fold(0, |set, actor| set | 1 << actor);
        for fact in 0..known.len() {
            if members.iter().any(|actor| self.brings(known, fact, *actor)) {
                known[fact] |= all;
            }
        }
    }

    /// Begins a barrier's next phase, unless a thread may still have to pass its wait for the phase before, or to expect bytes.
    pub(super) fn complete(&self, known: &mut [u128], barrier: usize) -> Option<()> {
        let (current, complete) = (self.current(barrier), self.complete_of(barrier));
        for fact in self.waits.get(&barrier).into_iter().flatten() {
            (known[*fact] & current != 0).then_some(())?;
            known[*fact] = ALL;
        }
        let mut fact = 0;
        while fact < known.len() {
            let set = known[fact];
            if set != ALL {
                known[fact] = set & !(current | complete) | if set & current != 0 { complete } else { 0 };
            }
            fact += 1;
        }
        let (last, before) = (self.numbers[&Fact::Phase(barrier)], self.numbers[&Fact::PhaseBefore(barrier)]);
        known[before] = known[last];
        known[last] = complete;
        Some(())
    }

    /// Begins new data of a slot: the fills of the present ones are those of the data before.
    pub(super) fn renew(&self, known: &mut [u128], slot: usize) {
        let before = self.numbers[&Fact::Before(slot)];
        for fill in self.uses(slot, true) {
            known[before] &= known[*fill];
            known[*fill] = ALL;
        }
    }
}
