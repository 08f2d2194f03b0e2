//! A symmetry of a ring: to go on by some rounds with all actors renames barriers and slots, and nothing else. It is not
//! taken from the form of the indexes but found as a map of the automata's nodes, and held against each of them.

use std::collections::BTreeSet;

use super::automaton::{Action, Automaton, Node};
use super::machine::{ACTOR, BARRIER, Machine, SLOT, STORES};
use super::moves::Move;
use super::places::CopyKind;

/// The largest number of turns of a rotation, and of rounds that are tried as one.
const LARGEST: usize = 256;

/// One turn of a ring, or several.
#[derive(Clone, PartialEq)]
struct Turn {
    /// For each automaton the node that each node becomes, if the symmetry covers it.
    nodes: Vec<Vec<Option<u16>>>,
    /// What each barrier becomes, and whether its parity is the other one then.
    barriers: Vec<(usize, bool)>,
    slots: Vec<usize>,
    copies: Vec<usize>,
}

/// What a turn does to the numbers of a state that are those of barriers, slots and copies, counted from the first one.
struct Moved {
    /// Where each number goes.
    to: Vec<usize>,
    /// The numbers whose parity is the other one then.
    flipped: Vec<usize>,
}

pub(super) struct Rotation {
    /// The turns by number; turn 0 changes nothing.
    turns: Vec<Turn>,
    moved: Vec<Moved>,
    /// For each node the number of turns that bring it to the representative of its orbit, if turns move it at all.
    home: Vec<Vec<Option<usize>>>,
}

impl Rotation {
    /// Returns the rotation of a machine by the fewest rounds, if it has one.
    pub(super) fn find(machine: &Machine) -> Option<Rotation> {
        let heads: Vec<Vec<u16>> = machine.automata.iter().map(heads).collect();
        let longest = heads.iter().map(Vec::len).max().unwrap_or(0);
        if longest > LARGEST {
            return None;
        }
        (1..longest).find_map(|rounds| Rotation::of(Turn::by(machine, &heads, rounds)?))
    }

    fn of(turn: Turn) -> Option<Rotation> {
        let identity = turn.identity();
        let mut turns = vec![identity.clone()];
        let mut next = turn.clone();
        while next != identity {
            if turns.len() > LARGEST {
                return None;
            }
            turns.push(next.clone());
            next = next.then(&turn)?;
        }
        let home = |automaton: usize| {
            let nodes = 0..turn.nodes[automaton].len();
            let image = |turn: &Turn, node: usize| turn.nodes[automaton][node];
            let home = nodes.map(|node| {
                let moved = image(&turn, node)? as usize != node;
                let orbit = turns.iter().enumerate().filter_map(|(number, turn)| Some((image(turn, node)?, number)));
                orbit.min().filter(|_| moved).map(|(_, number)| number)
            });
            home.collect()
        };
        let home = (0..turn.nodes.len()).map(home).collect();
        let moved = turns.iter().map(Turn::moved).collect();
        (turns.len() > 1).then_some(Rotation { turns, moved, home })
    }

    /// Brings a state to the representative of those that are the same but for turns; returns the number of turns.
    pub(super) fn apply(&self, machine: &Machine, state: &mut Vec<u16>) -> usize {
        let mut turns = None;
        for (number, actor) in machine.actors.iter().enumerate() {
            let node = usize::from(state[ACTOR * number]);
            if self.turns.last().is_none_or(|turn| turn.nodes[actor.automaton][node].is_none()) {
                return 0;
            }
            turns = turns.or(self.home[actor.automaton][node]);
        }
        let turns = turns.unwrap_or(0);
        if turns > 0 {
            *state = self.turned(machine, state, turns);
        }
        turns
    }

    fn turned(&self, machine: &Machine, state: &[u16], turns: usize) -> Vec<u16> {
        let turn = &self.turns[turns];
        let mut turned = state.to_vec();
        for (number, actor) in machine.actors.iter().enumerate() {
            let node = &mut turned[ACTOR * number];
            *node = turn.nodes[actor.automaton][usize::from(*node)].unwrap_or(*node);
        }
        let Moved { to, flipped } = &self.moved[turns];
        let mut at = 0;
        while at < to.len() {
            turned[machine.barriers_at + to[at]] = state[machine.barriers_at + at];
            at += 1;
        }
        for parity in flipped {
            turned[machine.barriers_at + parity] ^= 1;
        }
        for actor in &machine.actors {
            for (barrier, at) in &actor.tokens {
                let image = actor.tokens.iter().find(|(other, _)| *other == turn.barriers[*barrier].0);
                turned[image.map_or(*at, |(_, at)| *at)] = state[*at];
            }
            for store in actor.stores.iter().flat_map(|(_, at)| *at..at + STORES) {
                let slot = usize::from(state[store]).checked_sub(1);
                turned[store] = slot.map_or(0, |slot| u16::try_from(turn.slots[slot] + 1).unwrap_or(0));
            }
        }
        turned
    }

    /// Returns the move that some turns bring to a move.
    pub(super) fn before(&self, chosen: Move, turns: usize) -> Move {
        let back = &self.turns[(self.turns.len() - turns % self.turns.len()) % self.turns.len()];
        match chosen {
            Move::Land(kind) => Move::Land(back.copies[kind]),
            Move::LandAll(barrier) => Move::LandAll(back.barriers[barrier].0),
            Move::Actor(_) => chosen,
        }
    }
}

/// Returns the decisions of one loop in which an automaton ends if all decisions are to go on, in order.
fn heads(automaton: &Automaton) -> Vec<u16> {
    let next = |node: u16| automaton.nodes[usize::from(node)].after(true).0;
    let last = automaton.nodes.iter().fold(automaton.start.0, |node, _| next(node));
    let mut cycle = vec![last];
    while next(cycle[cycle.len() - 1]) != last && cycle.len() <= automaton.nodes.len() {
        cycle.push(next(cycle[cycle.len() - 1]));
    }
    let step = |node: &u16| automaton.nodes[usize::from(*node)].step;
    let first = cycle.iter().find(|node| automaton.nodes[usize::from(**node)].action == Action::Shared);
    first.map_or(Vec::new(), |first| cycle.iter().filter(|node| step(node) == step(first)).copied().collect())
}

/// What is known so far of a turn.
struct Draft<'a> {
    machine: &'a Machine,
    barriers: Vec<Option<(usize, Option<bool>)>>,
    slots: Vec<Option<usize>>,
}

impl Turn {
    /// Returns the turn by a number of rounds, if there is one.
    fn by(machine: &Machine, heads: &[Vec<u16>], rounds: usize) -> Option<Turn> {
        let places = &machine.places;
        let (barriers, slots) = (vec![None; places.barriers.len()], vec![None; places.slots.len()]);
        let mut draft = Draft { machine, barriers, slots };
        let maps = machine.automata.iter().zip(heads).map(|(automaton, heads)| draft.follow(automaton, heads, rounds));
        let nodes: Vec<Vec<Option<u16>>> = maps.collect::<Option<_>>()?;
        let barriers = draft.barriers.iter().enumerate();
        let barriers: Vec<_> =
            barriers.map(|(own, to)| to.map_or((own, false), |(to, flips)| (to, flips == Some(true)))).collect();
        let slots: Vec<_> = draft.slots.iter().enumerate().map(|(own, to)| to.unwrap_or(own)).collect();
        let copies = places.copies.iter().map(|copy| {
            let from = copy.from.map(|from| slots[from]);
            let image = CopyKind { slot: slots[copy.slot], barrier: barriers[copy.barrier].0, from, ..*copy };
            places.copies.iter().position(|other| *other == image)
        });
        let copies: Vec<_> = copies.collect::<Option<_>>()?;
        // The tokens of a thread are those of the same barriers, turned or not.
        let keeps_tokens = machine.automata.iter().all(|automaton| {
            let of = |node: &Node| match node.action {
                Action::Arrive { barrier, token: true, .. } => Some(barrier),
                _ => None,
            };
            let own: BTreeSet<usize> = automaton.nodes.iter().filter_map(of).collect();
            own.iter().all(|barrier| own.contains(&barriers[*barrier].0))
        });
        let is_one_to_one = keeps_tokens
            && is_permutation(barriers.iter().map(|(to, _)| *to))
            && is_permutation(slots.iter().copied())
            && is_permutation(copies.iter().copied());
        is_one_to_one.then_some(Turn { nodes, barriers, slots, copies })
    }

    fn identity(&self) -> Turn {
        let nodes = self.nodes.iter().map(|nodes| {
            let own = |(node, image): (usize, &Option<u16>)| image.and_then(|_| u16::try_from(node).ok());
            nodes.iter().enumerate().map(own).collect()
        });
        Turn {
            nodes: nodes.collect(),
            barriers: (0..self.barriers.len()).map(|barrier| (barrier, false)).collect(),
            slots: (0..self.slots.len()).collect(),
            copies: (0..self.copies.len()).collect(),
        }
    }

    fn moved(&self) -> Moved {
        let slots_at = BARRIER * self.barriers.len();
        let copies_at = slots_at + SLOT * self.slots.len();
        let barriers = self.barriers.iter().flat_map(|(to, _)| BARRIER * to..BARRIER * (to + 1));
        let slots = self.slots.iter().flat_map(|to| slots_at + SLOT * to..slots_at + SLOT * (to + 1));
        let copies = self.copies.iter().map(|to| copies_at + to);
        let flipped = self.barriers.iter().filter(|(_, flips)| *flips).map(|(to, _)| BARRIER * to);
        Moved { to: barriers.chain(slots).chain(copies).collect(), flipped: flipped.collect() }
    }

    fn then(&self, next: &Turn) -> Option<Turn> {
        let mut nodes = Vec::new();
        for (first, second) in self.nodes.iter().zip(&next.nodes) {
            let image = |node: &Option<u16>| match node {
                Some(node) => second[usize::from(*node)].map(Some),
                None => Some(None),
            };
            nodes.push(first.iter().map(image).collect::<Option<_>>()?);
        }
        let barriers = self.barriers.iter().map(|(to, flips)| {
            let (to, more) = next.barriers[*to];
            (to, *flips != more)
        });
        Some(Turn {
            nodes,
            barriers: barriers.collect(),
            slots: self.slots.iter().map(|slot| next.slots[*slot]).collect(),
            copies: self.copies.iter().map(|kind| next.copies[*kind]).collect(),
        })
    }
}

impl Draft<'_> {
    /// Maps the nodes of an automaton: a loop's decision becomes the one that comes some rounds later, and what follows a node
    /// becomes what follows its image.
    fn follow(&mut self, automaton: &Automaton, heads: &[u16], rounds: usize) -> Option<Vec<Option<u16>>> {
        let mut map: Vec<Option<u16>> = vec![None; automaton.nodes.len()];
        let mut open: Vec<(u16, u16)> = match heads.first() {
            Some(first) => vec![(*first, heads[rounds % heads.len()])],
            None => vec![(automaton.start.0, automaton.start.0)],
        };
        while let Some((node, image)) = open.pop() {
            match map[usize::from(node)] {
                Some(known) if known == image => continue,
                Some(_) => return None,
                None => map[usize::from(node)] = Some(image),
            }
            let (from, to) = (&automaton.nodes[usize::from(node)], &automaton.nodes[usize::from(image)]);
            if from.step != to.step || !self.agree(&from.action, &to.action) {
                return None;
            }
            for (from, to) in from.next.iter().zip(&to.next) {
                if from.1 != to.1 {
                    return None;
                }
                open.push((from.0, to.0));
            }
        }
        let mut images: Vec<u16> = map.iter().copied().flatten().collect();
        let number = images.len();
        images.sort_unstable();
        images.dedup();
        // The images are the nodes that have one.
        let closed = images.iter().all(|image| map[usize::from(*image)].is_some());
        (images.len() == number && closed).then_some(map)
    }

    fn agree(&mut self, from: &Action, to: &Action) -> bool {
        match (from, to) {
            (Action::Wait { barrier, parity }, Action::Wait { barrier: image, parity: other })
            | (Action::Over { barrier, parity }, Action::Over { barrier: image, parity: other }) => {
                self.barrier(*barrier, *image, Some(parity != other))
            }
            (Action::WaitToken { barrier }, Action::WaitToken { barrier: image })
            | (Action::Past { barrier }, Action::Past { barrier: image }) => self.barrier(*barrier, *image, None),
            (
                Action::Arrive { barrier, count, drops, token },
                Action::Arrive { barrier: image, count: other, drops: drop, token: kept },
            ) => (count, drops, token) == (other, drop, kept) && self.barrier(*barrier, *image, None),
            (Action::Expect { barrier, units }, Action::Expect { barrier: image, units: other }) => {
                units == other && self.barrier(*barrier, *image, None)
            }
            (Action::Copy { kind, data }, Action::Copy { kind: other, data: others }) => {
                let (copy, image) = (self.machine.places.copies[*kind], self.machine.places.copies[*other]);
                data == others
                    && copy.units == image.units
                    && match (copy.from, image.from) {
                        (Some(from), Some(image)) => self.slot(from, image),
                        (from, image) => from == image,
                    }
                    && self.slot(copy.slot, image.slot)
                    && self.barrier(copy.barrier, image.barrier, None)
            }
            (Action::Share { one, data, .. }, Action::Share { one: other, data: others, .. }) => {
                let (copy, image) = (self.machine.places.copies[*one], self.machine.places.copies[*other]);
                data == others && self.slot(copy.slot, image.slot) && self.barrier(copy.barrier, image.barrier, None)
            }
            (Action::BeginFill { slot, data }, Action::BeginFill { slot: image, data: other })
            | (Action::BeginRead { slot, data }, Action::BeginRead { slot: image, data: other }) => {
                data == other && self.slot(*slot, *image)
            }
            (Action::EndFill { slot }, Action::EndFill { slot: image })
            | (Action::EndRead { slot }, Action::EndRead { slot: image }) => self.slot(*slot, *image),
            (Action::Store { slot, queue }, Action::Store { slot: image, queue: other }) => {
                queue == other && self.slot(*slot, *image)
            }
            (from, to) => from == to,
        }
    }

    fn barrier(&mut self, from: usize, to: usize, flips: Option<bool>) -> bool {
        let (own, image) = (&self.machine.places.barriers[from], &self.machine.places.barriers[to]);
        let (known, before) = self.barriers[from].unwrap_or((to, None));
        self.barriers[from] = Some((to, before.or(flips)));
        let same = before.is_none() || flips.is_none() || before == flips;
        known == to && same && own.count == image.count && own.object.block == image.object.block
    }

    fn slot(&mut self, from: usize, to: usize) -> bool {
        let (own, image) = (&self.machine.places.slots[from], &self.machine.places.slots[to]);
        let known = *self.slots[from].get_or_insert(to);
        known == to && own.parts == image.parts && own.stored == image.stored && own.object.block == image.object.block
    }
}

fn is_permutation(images: impl Iterator<Item = usize>) -> bool {
    let mut images: Vec<usize> = images.collect();
    images.sort_unstable();
    images.iter().enumerate().all(|(number, image)| number == *image)
}
