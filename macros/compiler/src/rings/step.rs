//! One step of an actor, of a copy or of a bulk copy, with the faults that it may have.

use super::automaton::Action;
use super::ledger::Ledger;
use super::machine::{ACTOR, BARRIER, EMPTY, Machine, SLOT, STORES, State, data_number, units};
use super::skeleton::Data;
use super::verdict::{Content, CountFault, Event, EventAction, Fault, LateWait, Object, Reason, UndrainedFault, Use};

/// The largest number of copies of one kind in flight.
const LARGEST: u16 = 1024;

/// A state that is being changed, and what has been done to it.
pub(super) struct Work<'a> {
    pub(super) machine: &'a Machine,
    pub(super) ledger: &'a mut Ledger,
    pub(super) state: State,
    /// What has happened, if somebody asks for it.
    pub(super) log: Option<Vec<Event>>,
}

/// Why a step has no state after it.
#[derive(Debug)]
pub(super) enum Stop {
    Fault(Box<Fault>),
    /// The state is one that the search leaves out.
    Cut(Reason),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Fault(Box::new(fault))
    }
}

/// Whose step it was.
#[derive(PartialEq, Eq)]
pub(super) enum Done {
    /// The step cannot be executed yet.
    Blocked,
    Alone,
    /// A meeting of these actors.
    Together(Vec<usize>),
}

impl Work<'_> {
    /// Executes the step that an actor stands at; not a decision.
    pub(super) fn step(&mut self, actor: usize) -> Result<Done, Stop> {
        let machine = self.machine;
        let own = &machine.actors[actor];
        let node = machine.node(&self.state, actor);
        let (threads, weight) = (own.threads, own.weight);
        let event = (EventAction::Step { threads, step: node.id, index: node.index() }, machine.slot_of(&node.action));
        let mut about = None;
        let mut finishes = false;
        match &node.action {
            Action::Wait { barrier, parity } => {
                if self.parity(*barrier) == *parity {
                    return Ok(Done::Blocked);
                }
                about = Some(*barrier);
            }
            Action::WaitToken { barrier } => {
                about = Some(*barrier);
                let at = own.tokens.iter().find(|(known, _)| known == barrier).map(|(_, at)| *at);
                let wait = match at.map_or(0, |at| self.state[at]) {
                    0 => Some(LateWait::NoToken),
                    1 => return Ok(Done::Blocked),
                    2 => None,
                    _ => Some(LateWait::StaleToken),
                };
                if let Some(wait) = wait {
                    self.log(event, about);
                    return Err(
                        Fault::Overtaken { threads, barrier: machine.places.barriers[*barrier].object, wait }.into()
                    );
                }
                if let Some(at) = at {
                    self.state[at] = 0;
                }
            }
            Action::Arrive { barrier, count, drops, token } => {
                about = Some(*barrier);
                finishes = true;
                self.arrive(actor, *barrier, *count, *drops).inspect_err(|_| self.log(event, about))?;
                let at = own.tokens.iter().find(|(known, _)| *token && known == barrier);
                if let Some((_, at)) = at {
                    self.state[*at] = 1;
                }
            }
            Action::Expect { barrier, units } => {
                about = Some(*barrier);
                self.add_units(*barrier, i64::from(*units) * i64::from(weight))?;
            }
            Action::Copy { kind, data } => {
                let copy = machine.places.copies[*kind];
                if let Some(from) = copy.from {
                    self.read(actor, from, None).inspect_err(|_| self.log(event, about))?;
                }
                self.fill(actor, copy.slot, *data, weight).inspect_err(|_| self.log(event, about))?;
                let count = &mut self.state[machine.copies_at + *kind];
                *count += weight;
                if *count > LARGEST {
                    return Err(Stop::Cut(Reason::Lead { role: threads.role }));
                }
            }
            Action::Share { one, rest, data } => {
                let kind = if weight > 1 { *rest } else { *one };
                let copy = machine.places.copies[kind];
                about = Some(copy.barrier);
                self.owes(actor, copy.barrier);
                self.add_units(copy.barrier, i64::from(copy.units))?;
                self.fill(actor, copy.slot, *data, weight).inspect_err(|_| self.log(event, about))?;
                let count = &mut self.state[machine.copies_at + kind];
                *count += 1;
                if *count > LARGEST {
                    return Err(Stop::Cut(Reason::Lead { role: threads.role }));
                }
            }
            Action::BeginFill { slot, data } => {
                self.fill(actor, *slot, *data, weight).inspect_err(|_| self.log(event, about))?;
            }
            Action::EndFill { slot } => self.filled(*slot, weight),
            Action::BeginRead { slot, data } => {
                self.read(actor, *slot, Some(*data)).inspect_err(|_| self.log(event, about))?;
            }
            Action::EndRead { slot } => self.has_read(*slot),
            Action::Store { slot, queue } => {
                self.read(actor, *slot, None).inspect_err(|_| self.log(event, about))?;
                let at = own.queue(*queue).unwrap_or(0);
                let free = (at..at + STORES).find(|at| self.state[*at] == 0);
                let Some(free) = free else { return Err(Stop::Cut(Reason::Stores { role: threads.role })) };
                self.state[free] = u16::try_from(*slot + 1).unwrap_or(0);
            }
            Action::WaitStores { queue, but } => {
                if let Some(at) = own.queue(*queue) {
                    self.have_read(actor, (*queue, at), *but);
                }
            }
            Action::Sync { meeting, among } => {
                if !machine.meets(&self.state, actor, *meeting, among) {
                    return Ok(Done::Blocked);
                }
                let group: Vec<usize> = machine.members(actor, among).collect();
                self.log(event, None);
                for other in &group {
                    self.go_on(*other, true)?;
                }
                return Ok(Done::Together(group));
            }
            Action::Missing => {
                self.log(event, None);
                return Err(Fault::Count(CountFault::Index { threads, step: node.id }).into());
            }
            Action::Shared
            | Action::Ahead(_)
            | Action::Constant(_)
            | Action::Free
            | Action::Over { .. }
            | Action::Past { .. }
            | Action::End => {
                return Ok(Done::Alone);
            }
        }
        if finishes {
            let barrier = about.unwrap_or(0);
            self.finish_phase(barrier).inspect_err(|_| self.log(event, about))?;
        }
        self.log(event, about);
        self.go_on(actor, true)?;
        Ok(Done::Alone)
    }

    /// Moves an actor to the next node.
    pub(super) fn go_on(&mut self, actor: usize, taken: bool) -> Result<(), Stop> {
        let (node, rounds) = self.machine.node(&self.state, actor).after(taken);
        let fields = &mut self.state[ACTOR * actor..ACTOR * (actor + 1)];
        fields[0] = node;
        if self.machine.actors[actor].rounds && rounds > 0 {
            fields[2] += rounds;
            if fields[2] > 200 {
                return Err(Stop::Cut(Reason::Lead { role: self.machine.actors[actor].threads.role }));
            }
        }
        Ok(())
    }

    /// Lands a copy of a kind of which one is in flight.
    pub(super) fn land(&mut self, kind: usize) -> Result<(), Stop> {
        self.land_together(kind, 1)
    }

    /// Lands copies of a kind that are in flight: all, or those up to the one that completes a phase.
    pub(super) fn land_some(&mut self, kind: usize) -> Result<(), Stop> {
        let copy = self.machine.places.copies[kind];
        let in_flight = self.state[self.machine.copies_at + kind];
        // Each is recorded.
        if self.log.is_some() || copy.units == 0 {
            return self.land(kind);
        }
        let at = self.barrier_at(copy.barrier);
        let lacks = u32::try_from(units(&self.state[at..])).ok().filter(|_| self.state[at] >> 1 == 0);
        let until = lacks.filter(|lacks| lacks % copy.units == 0).map_or(0, |lacks| lacks / copy.units);
        let until = u16::try_from(until).ok().filter(|until| (1..=in_flight).contains(until));
        self.land_together(kind, until.unwrap_or(in_flight))
    }

    /// Lands so many copies of a kind, of which none but the last one completes a phase.
    fn land_together(&mut self, kind: usize, number: u16) -> Result<(), Stop> {
        let copy = self.machine.places.copies[kind];
        let slot = self.machine.places.slots[copy.slot].object;
        let event = (EventAction::Lands { slot }, None);
        self.state[self.machine.copies_at + kind] -= number;
        let signals = self.machine.places.barriers[copy.barrier].object.block;
        let source = copy.from.map(|from| self.machine.places.slots[from].object.block);
        if [Some(slot.block), Some(signals), source].into_iter().flatten().any(|block| self.has_left(block)) {
            self.log(event, Some(copy.barrier));
            return Err(Fault::Undrained(UndrainedFault::Copy { slot }).into());
        }
        self.filled(copy.slot, self.machine.parts(&copy).saturating_mul(number));
        if let Some(from) = copy.from {
            (0..number).for_each(|_| self.has_read(from));
        }
        self.add_units(copy.barrier, -i64::from(copy.units) * i64::from(number))?;
        self.finish_phase(copy.barrier).inspect_err(|_| self.log(event, Some(copy.barrier)))?;
        self.log(event, Some(copy.barrier));
        Ok(())
    }

    /// Lets the bulk copies of an actor in the queue that begins at a place, but for the last ones, have read their slots. They have done
    /// so at the latest now, and until now they may be in the way of others.
    fn have_read(&mut self, actor: usize, (queue, at): (u8, usize), but: usize) {
        let begun = self.state[at..at + STORES].iter().filter(|store| **store != 0).count();
        let over = begun.saturating_sub(but);
        for number in 0..over {
            let slot = usize::from(self.state[at + number]).saturating_sub(1);
            self.has_read(slot);
            let threads = self.machine.actors[actor].threads;
            let slot = self.machine.places.slots[slot].object;
            self.log((EventAction::Stored { threads, queue, slot }, None), None);
        }
        let stores = &mut self.state[at..at + STORES];
        stores.rotate_left(over);
        stores[STORES - over..].fill(0);
    }

    /// Checks that an actor may exit.
    pub(super) fn leave(&self, actor: usize) -> Result<(), Stop> {
        let own = &self.machine.actors[actor];
        let store = own.stores.iter().map(|(_, at)| self.state[*at]).find(|store| *store != 0);
        let Some(store) = store else { return Ok(()) };
        let slot = self.machine.places.slots[usize::from(store).saturating_sub(1)].object;
        Err(Fault::Undrained(UndrainedFault::Store { threads: own.threads, slot }).into())
    }

    fn barrier_at(&self, barrier: usize) -> usize {
        self.machine.barriers_at + BARRIER * barrier
    }

    fn parity(&self, barrier: usize) -> bool {
        self.state[self.barrier_at(barrier)] % 2 == 1
    }

    fn has_left(&self, block: u32) -> bool {
        let mut own = (0..self.machine.actors.len()).filter(|actor| self.machine.actors[*actor].block == block);
        own.all(|actor| self.machine.ended(&self.state, actor))
    }

    fn arrive(&mut self, actor: usize, barrier: usize, count: u32, drops: bool) -> Result<(), Stop> {
        let own = &self.machine.actors[actor];
        let (threads, object) = (own.threads, self.machine.places.barriers[barrier].object);
        if self.has_left(object.block) {
            return Err(Fault::Undrained(UndrainedFault::Arrival { threads, barrier: object }).into());
        }
        let at = self.barrier_at(barrier);
        let lacks = self.state[at] >> 1;
        let arrivals = count.saturating_mul(u32::from(own.weight));
        let number = u16::try_from(arrivals).ok().filter(|arrivals| *arrivals <= lacks);
        if number.is_none() && self.machine.carries && !drops && count > 0 {
            return self.arrive_in_turn(actor, barrier, count);
        }
        let Some(number) = number else {
            let lacks = u32::from(lacks);
            return Err(Fault::Count(CountFault::Arrivals { threads, barrier: object, arrivals, lacks }).into());
        };
        self.state[at] -= number << 1;
        if own.bit != 0 {
            self.ledger.arrives(self.machine, barrier, self.state[at + 3], own.bit);
            self.state[at + 3] |= own.bit;
        }
        if drops {
            self.state[at + 2] = self.state[at + 2].saturating_sub(number);
            self.state[at + 4] |= own.bit;
        }
        Ok(())
    }

    /// Lets the threads of an actor arrive one after the other: where some complete a phase, the rest arrives in the next one.
    fn arrive_in_turn(&mut self, actor: usize, barrier: usize, count: u32) -> Result<(), Stop> {
        let own = &self.machine.actors[actor];
        let at = self.barrier_at(barrier);
        let mut rest = u32::from(own.weight);
        self.ledger.mixes(barrier);
        while rest > 0 {
            let lacks = u32::from(self.state[at] >> 1);
            let now = rest.min(lacks / count);
            if now == 0 {
                let (threads, barrier) = (own.threads, self.machine.places.barriers[barrier].object);
                return Err(Fault::Count(CountFault::Arrivals { threads, barrier, arrivals: count, lacks }).into());
            }
            self.state[at] -= u16::try_from(now * count).unwrap_or(0) << 1;
            self.state[at + 3] |= own.bit;
            rest -= now;
            if rest > 0 {
                self.finish_phase(barrier)?;
            }
        }
        Ok(())
    }

    /// Notes a share of a copy. That all threads of a unit tell the same phase of it is sure only if each arrives in that phase later on.
    fn owes(&mut self, actor: usize, barrier: usize) {
        let own = &self.machine.actors[actor];
        if self.state[self.barrier_at(barrier) + 3] & own.bit != 0 {
            self.ledger.mixes(barrier);
        }
    }

    fn add_units(&mut self, barrier: usize, more: i64) -> Result<(), Stop> {
        let at = self.barrier_at(barrier);
        let sum = i64::from(units(&self.state[at..])) + more;
        let sum = i32::try_from(sum).map_err(|_| Stop::Cut(Reason::Size))?.cast_unsigned();
        (self.state[at + 1], self.state[at + 5]) = ((sum & 0xffff) as u16, (sum >> 16) as u16);
        Ok(())
    }

    /// Begins the next phase of a barrier that lacks nothing.
    fn finish_phase(&mut self, barrier: usize) -> Result<(), Stop> {
        let at = self.barrier_at(barrier);
        let parity = self.state[at] % 2 == 1;
        if self.state[at] >> 1 != 0 || units(&self.state[at..]) != 0 {
            return Ok(());
        }
        self.state[at] = (self.state[at + 2] << 1) | u16::from(!parity);
        self.ledger.completes(self.machine, barrier, self.state[at + 3], self.state[at + 4]);
        self.state[at + 3] = 0;
        let mut copies = self.machine.places.copies.iter().zip(&self.state[self.machine.copies_at..]);
        if copies.any(|(copy, count)| copy.barrier == barrier && *count > 0) {
            self.ledger.completed_early = true;
        }
        for (number, actor) in self.machine.actors.iter().enumerate() {
            if let Action::Wait { barrier: awaited, parity: wanted } = self.machine.node(&self.state, number).action
                && awaited == barrier
                && wanted != parity
            {
                let barrier = self.machine.places.barriers[barrier].object;
                return Err(Fault::Overtaken { threads: actor.threads, barrier, wait: LateWait::Parity }.into());
            }
            for (_, token) in actor.tokens.iter().filter(|(known, _)| *known == barrier) {
                if (1..3).contains(&self.state[*token]) {
                    self.state[*token] += 1;
                }
            }
        }
        Ok(())
    }

    fn fill(&mut self, actor: usize, slot: usize, data: Data, parts: u16) -> Result<(), Stop> {
        let threads = self.machine.actors[actor].threads;
        let of = &self.machine.places.slots[slot];
        let data = data_number(data, self.state[ACTOR * actor + 2]);
        let fields = &mut self.state[self.machine.slots_at + SLOT * slot..][..SLOT];
        let fault = |by| Err(Fault::Overwrite { threads, slot: of.object, by }.into());
        if fields[3] > 0 {
            return fault(Use::Read);
        }
        if of.parts == 0 {
            fields[1] += parts;
            return Ok(());
        }
        if fields[0] != data || fields[1] + fields[2] >= of.parts {
            if fields[1] > 0 {
                return fault(Use::Fill);
            }
            fields[..3].copy_from_slice(&[data, 0, 0]);
        }
        fields[1] += parts;
        if fields[1] + fields[2] > of.parts { fault(Use::Fill) } else { Ok(()) }
    }

    fn filled(&mut self, slot: usize, parts: u16) {
        let at = self.machine.slots_at + SLOT * slot;
        self.state[at + 1] = self.state[at + 1].saturating_sub(parts);
        if self.machine.places.slots[slot].parts > 0 {
            self.state[at + 2] += parts;
        }
    }

    fn has_read(&mut self, slot: usize) {
        let readers = &mut self.state[self.machine.slots_at + SLOT * slot + 3];
        *readers = readers.saturating_sub(1);
    }

    /// Begins to read a slot, of which a bulk copy takes any data.
    fn read(&mut self, actor: usize, slot: usize, data: Option<Data>) -> Result<(), Stop> {
        let of = &self.machine.places.slots[slot];
        let data = data.map(|data| data_number(data, self.state[ACTOR * actor + 2]));
        let fields = &mut self.state[self.machine.slots_at + SLOT * slot..][..SLOT];
        let content = if fields[1] > 0 {
            Content::BeingFilled
        } else if of.parts == 0 {
            fields[3] += 1;
            return Ok(());
        } else if fields[0] == EMPTY || fields[2] < of.parts {
            Content::Incomplete
        } else if data.is_some_and(|data| data != fields[0]) {
            Content::OtherRound
        } else {
            fields[3] += 1;
            return Ok(());
        };
        Err(Fault::Read { threads: self.machine.actors[actor].threads, slot: of.object, content }.into())
    }

    fn log(&mut self, (action, slot): (EventAction, Option<Object>), barrier: Option<usize>) {
        let barrier = barrier.map(|barrier| self.machine.barrier_state(&self.state, barrier));
        self.log.iter_mut().for_each(|log| log.push(Event { action, barrier, slot }));
    }
}
