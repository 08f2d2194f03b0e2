//! The transition system of a skeleton: its actors, and a state as a row of numbers. An actor is one thread of a role, or the
//! rest of the role's threads, which does each step when the slowest of them does.

use super::automaton::{Action, Automaton, Node, automaton};
use super::places::{CopyKind, Places};
use super::skeleton::{Among, Data, Op, Skeleton};
use super::verdict::{BarrierState, Object, Reason, Threads};

/// A state: the fields of all actors, streams, barriers, slots, copies, constants, tokens and stores, in this order.
pub(super) type State = Vec<u16>;

/// The fields of an actor: its node, how many decisions of its stream's window it has taken, its round.
pub(super) const ACTOR: usize = 3;
/// The fields of a stream: how many decisions are in its window, and the decisions as 64 bits.
pub(super) const STREAM: usize = 5;
/// The fields of a barrier: twice the arrivals that lack, plus the parity; the units of bytes that lack, in two's complement, their lower
/// and, in the last field, their upper 16 bits; the arrivals of the next phase; the actors that have arrived in this phase; the actors that
/// have dropped out.
pub(super) const BARRIER: usize = 6;
/// The fields of a slot: what it holds, the parts that are being written, the parts that are written, the readers.
pub(super) const SLOT: usize = 4;
/// The bulk copies in one queue of a thread that may be in flight.
pub(super) const STORES: usize = 8;

/// How a slot's data are numbered.
pub(super) const EMPTY: u16 = 0;
pub(super) const OLD: u16 = 1;
const FIXED: u16 = 2;
const ROUNDS: u16 = 0x1000;
/// The number that is added to the rounds of data, so that they are not negative.
const BIAS: i32 = 256;

#[derive(Clone)]
pub(super) struct Actor {
    pub(super) threads: Threads,
    pub(super) weight: u16,
    pub(super) block: u32,
    pub(super) automaton: usize,
    pub(super) stream: usize,
    /// The number of its unit, the threads of a role in a block.
    pub(super) unit: usize,
    /// The actor's bit in the sets of arrived actors; 0 for a role of one thread.
    pub(super) bit: u16,
    /// Whether its rounds count.
    pub(super) rounds: bool,
    /// Where its tokens are, by barrier.
    pub(super) tokens: Vec<(usize, usize)>,
    /// Where its bulk copies are, by queue.
    pub(super) stores: Vec<(u8, usize)>,
}

impl Actor {
    /// Returns where the bulk copies of a queue are.
    pub(super) fn queue(&self, queue: u8) -> Option<usize> {
        self.stores.iter().find(|(known, _)| *known == queue).map(|(_, at)| *at)
    }
}

/// The threads of a role in a block.
#[derive(Clone)]
pub(super) struct Unit {
    pub(super) role: usize,
    pub(super) block: u32,
    pub(super) threads: u32,
}

/// The units of bytes that a barrier lacks, of the threads of all of a large block, by its fields.
pub(super) fn units(fields: &[u16]) -> i32 {
    (u32::from(fields[5]) << 16 | u32::from(fields[1])).cast_signed()
}

#[derive(Clone)]
pub(super) struct Machine {
    pub(super) places: Places,
    pub(super) automata: Vec<Automaton>,
    pub(super) units: Vec<Unit>,
    pub(super) actors: Vec<Actor>,
    pub(super) streams: usize,
    /// Whether a role has several shared decisions, so that rounds without steps may have to be forgotten.
    pub(super) nested: bool,
    /// Whether the rounds of some actor count.
    pub(super) counts: bool,
    /// Whether threads that arrive as one may complete a phase and go on in the next one, as one by one they would.
    pub(super) carries: bool,
    /// Whether there are more actors than a set of arrived actors holds.
    pub(super) crowded: bool,
    /// The furthest that data lie behind the round of a thread that names them.
    pub(super) behind: i32,
    pub(super) barriers_at: usize,
    pub(super) slots_at: usize,
    pub(super) copies_at: usize,
    /// Where the constants are: 0 is one that nobody has asked for, 1 goes on, 2 goes the other way.
    pub(super) constants_at: usize,
    pub(super) size: usize,
}

impl Machine {
    /// Builds the automata of a skeleton; the actors come with [`Machine::split`].
    pub(super) fn new(skeleton: &Skeleton) -> Result<Machine, Reason> {
        let mut places = Places::new(skeleton)?;
        let (mut units, mut automata) = (Vec::new(), Vec::new());
        for block in 0..skeleton.blocks {
            for (number, role) in skeleton.roles.iter().enumerate().filter(|(_, role)| role.threads > 0) {
                let name = u32::try_from(number).map_err(|_| Reason::Size)?;
                automata.push(automaton(role, name, block, &mut places)?);
                units.push(Unit { role: number, block, threads: role.threads });
                if role.threads >= 1 << 15 {
                    return Err(Reason::Size);
                }
            }
        }
        let steps = || skeleton.roles.iter().flat_map(|role| &role.steps);
        let data = steps().filter_map(|step| data_of(&step.op));
        let mut behind = 0;
        for data in data {
            if let Data::Round { ahead, kind } = data {
                if ahead.unsigned_abs() > 64 || kind > 15 {
                    return Err(Reason::Size);
                }
                behind = behind.min(i32::from(ahead));
            }
        }
        let decisions = |automaton: &Automaton| {
            let mut shared: Vec<_> = automaton.nodes.iter().filter(|node| node.action == Action::Shared).collect();
            shared.sort_by_key(|node| node.step);
            shared.dedup_by_key(|node| node.step);
            shared.len()
        };
        let nested = automata.iter().any(|automaton| decisions(automaton) > 1);
        let (actors, streams) = (Vec::new(), 0);
        let (barriers_at, slots_at, copies_at, constants_at, size) = (0, 0, 0, 0, 0);
        let counts = false;
        Ok(Machine {
            places,
            automata,
            units,
            actors,
            streams,
            nested,
            counts,
            carries: false,
            crowded: false,
            behind,
            barriers_at,
            slots_at,
            copies_at,
            constants_at,
            size,
        })
    }

    /// Sets the number of actors of each unit.
    pub(super) fn split(&mut self, skeleton: &Skeleton, split: &[u32]) -> Result<(), Reason> {
        let mut streams: Vec<u32> = Vec::new();
        self.actors.clear();
        self.crowded = false;
        let mut bits = 0;
        for (number, unit) in self.units.iter().enumerate() {
            let role = &skeleton.roles[unit.role];
            let stream = streams.iter().position(|stream| *stream == role.stream).unwrap_or_else(|| {
                streams.push(role.stream);
                streams.len() - 1
            });
            let rounds = role.steps.iter().any(|step| matches!(data_of(&step.op), Some(Data::Round { .. })));
            let count = split[number].clamp(1, unit.threads);
            for representative in 0..count {
                let weight = if representative + 1 == count { unit.threads - count + 1 } else { 1 };
                let bit = if unit.threads == 1 { 0 } else { 1u16.checked_shl(bits).unwrap_or(0) };
                self.crowded |= unit.threads > 1 && bit == 0;
                bits += u32::from(unit.threads > 1);
                let role = u32::try_from(unit.role).map_err(|_| Reason::Size)?;
                self.actors.push(Actor {
                    threads: Threads { role, block: unit.block, representative, number: weight },
                    weight: u16::try_from(weight).map_err(|_| Reason::Size)?,
                    block: unit.block,
                    automaton: number,
                    stream,
                    unit: number,
                    bit,
                    rounds,
                    tokens: Vec::new(),
                    stores: Vec::new(),
                });
            }
        }
        self.streams = streams.len();
        self.counts = self.actors.iter().any(|actor| actor.rounds);
        self.barriers_at = ACTOR * self.actors.len() + STREAM * self.streams;
        self.slots_at = self.barriers_at + BARRIER * self.places.barriers.len();
        self.copies_at = self.slots_at + SLOT * self.places.slots.len();
        self.constants_at = self.copies_at + self.places.copies.len();
        let nodes = self.automata.iter().flat_map(|automaton| &automaton.nodes);
        let constants = nodes.filter_map(|node| match node.action {
            Action::Constant(number) => Some(number as usize + 1),
            _ => None,
        });
        self.size = self.constants_at + constants.max().unwrap_or(0);
        for actor in &mut self.actors {
            for node in &self.automata[actor.automaton].nodes {
                match node.action {
                    Action::Arrive { barrier, token: true, .. }
                        if !actor.tokens.iter().any(|(known, _)| *known == barrier) =>
                    {
                        actor.tokens.push((barrier, self.size));
                        self.size += 1;
                    }
                    Action::Store { queue, .. } if actor.queue(queue).is_none() => {
                        actor.stores.push((queue, self.size));
                        self.size += STORES;
                    }
                    _ => {}
                }
            }
        }
        // A move is a number of 16 bits.
        if self.actors.len() > 255 || self.places.copies.len() > 4096 { Err(Reason::Size) } else { Ok(()) }
    }

    /// Returns the state before the first step.
    pub(super) fn start(&self) -> State {
        let mut state = vec![0; self.size];
        for (number, actor) in self.actors.iter().enumerate() {
            let (node, rounds) = self.automata[actor.automaton].start;
            state[ACTOR * number] = node;
            state[ACTOR * number + 2] = if actor.rounds { rounds } else { 0 };
        }
        for (number, barrier) in self.places.barriers.iter().enumerate() {
            let at = self.barriers_at + BARRIER * number;
            state[at] = barrier.count << 1;
            state[at + 2] = barrier.count;
        }
        state
    }

    pub(super) fn node(&self, state: &[u16], actor: usize) -> &Node {
        &self.automata[self.actors[actor].automaton].nodes[usize::from(state[ACTOR * actor])]
    }

    /// Returns the slot that a step is about.
    pub(super) fn slot_of(&self, action: &Action) -> Option<Object> {
        let slot = match *action {
            Action::Copy { kind, .. } | Action::Share { one: kind, .. } => self.places.copies[kind].slot,
            Action::BeginFill { slot, .. }
            | Action::EndFill { slot }
            | Action::BeginRead { slot, .. }
            | Action::EndRead { slot }
            | Action::Store { slot, .. } => slot,
            _ => return None,
        };
        Some(self.places.slots[slot].object)
    }

    /// Returns what a barrier's current phase lacks.
    pub(super) fn barrier_state(&self, state: &[u16], barrier: usize) -> BarrierState {
        let at = self.barriers_at + BARRIER * barrier;
        let units = i64::from(units(&state[at..]));
        BarrierState {
            barrier: self.places.barriers[barrier].object,
            parity: state[at] & 1 == 1,
            arrivals: u32::from(state[at] >> 1),
            bytes: units * i64::from(self.places.unit),
        }
    }

    pub(super) fn ended(&self, state: &[u16], actor: usize) -> bool {
        self.node(state, actor).action == Action::End
    }

    /// Returns the slots that bulk copies of an actor still read.
    pub(super) fn stored(&self, state: &[u16], actor: usize) -> Vec<usize> {
        let stores = self.actors[actor].stores.iter().flat_map(|(_, at)| &state[*at..*at + STORES]);
        stores.filter_map(|store| usize::from(*store).checked_sub(1)).collect()
    }

    /// Returns which way a constant goes, if somebody has asked for it.
    pub(super) fn constant(&self, state: &[u16], number: u32) -> Option<bool> {
        let known = state[self.constants_at + number as usize];
        (known > 0).then_some(known == 1)
    }

    /// Returns where a stream's fields are.
    pub(super) fn stream_at(&self, stream: usize) -> usize {
        ACTOR * self.actors.len() + STREAM * stream
    }

    /// Returns the parts of its slot that a copy fills.
    pub(super) fn parts(&self, copy: &CopyKind) -> u16 {
        let Some(role) = copy.rest_of else { return 1 };
        let block = self.places.slots[copy.slot].object.block;
        let of_unit = self.actors.iter().filter(|actor| actor.threads.role == role && actor.block == block);
        of_unit.map(|actor| actor.weight).max().unwrap_or(1)
    }

    /// Returns whether an actor is the first of a group that stands at a meeting.
    pub(super) fn meets(&self, state: &[u16], actor: usize, meeting: u32, among: &Among) -> bool {
        let is_here = |other: usize| matches!(self.node(state, other).action, Action::Sync { meeting: theirs, .. } if theirs == meeting);
        self.members(actor, among).next() == Some(actor) && self.members(actor, among).all(is_here)
    }

    /// Returns the actors that meet an actor.
    pub(super) fn members<'a>(&'a self, actor: usize, among: &'a Among) -> impl Iterator<Item = usize> + 'a {
        let block = self.actors[actor].block;
        (0..self.actors.len()).filter(move |other| {
            let other = &self.actors[*other];
            match among {
                Among::Cluster => true,
                Among::Block => other.block == block,
                Among::Roles(roles) => other.block == block && roles.contains(&other.threads.role),
            }
        })
    }
}

/// Returns the decision at a position of a stream's fields.
pub(super) fn decision(stream: &[u16], position: u16) -> bool {
    stream[1 + usize::from(position / 16)] >> (position % 16) & 1 == 1
}

pub(super) fn data_of(op: &Op) -> Option<Data> {
    match op {
        Op::Copy { data, .. } | Op::Share { data, .. } | Op::BeginFill { data, .. } | Op::BeginRead { data, .. } => {
            Some(*data)
        }
        _ => None,
    }
}

/// Returns the number of the data that a thread names in its round.
pub(super) fn data_number(data: Data, round: u16) -> u16 {
    match data {
        Data::Fixed(number) => FIXED + u16::from(number),
        Data::Round { ahead, kind } => {
            let round = u16::try_from(i32::from(round) + i32::from(ahead) + BIAS).unwrap_or(0);
            ROUNDS + round * 16 + u16::from(kind)
        }
    }
}

/// Returns the number of the same data after all rounds are counted from a later one. Data that no thread will name are old.
pub(super) fn data_after(number: u16, rounds: u16, behind: i32) -> u16 {
    if number < ROUNDS {
        return number;
    }
    let round = i32::from((number - ROUNDS) / 16) - i32::from(rounds) - BIAS;
    if round < behind { OLD } else { number - 16 * rounds }
}
