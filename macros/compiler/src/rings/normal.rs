//! The normal form of a state: of decisions and rounds, only what somebody has still to meet is kept. It is made after each move:
//! the loops are over indexes, which are several times faster than iterators where the compiler does not optimize.

use super::automaton::{Action, Node};
use super::machine::{ACTOR, EMPTY, Machine, OLD, SLOT, STREAM, data_after};

/// Brings a state into its normal form.
pub(super) fn normalise(machine: &Machine, state: &mut [u16]) {
    let mut actor = 0;
    while actor < machine.actors.len() {
        end_early(machine, state, actor);
        let node = machine.node(state, actor);
        if !node.decides {
            state[ACTOR * actor + 1] = 0;
        }
        if node.action == Action::End {
            state[ACTOR * actor + 2] = 0;
        }
        actor += 1;
    }
    let mut stream = 0;
    while stream < machine.streams {
        if state[machine.stream_at(stream)] > 0 {
            while machine.nested
                && let Some((at, count)) = idle(machine, state, stream)
            {
                remove(machine, state, stream, at, count);
            }
            let mut cut = state[machine.stream_at(stream)];
            for actor in going(machine, state, stream) {
                cut = cut.min(state[ACTOR * actor + 1]);
            }
            if cut > 0 {
                remove(machine, state, stream, 0, cut);
            }
        }
        stream += 1;
    }
    if machine.counts {
        count_from_hindmost(machine, state);
    }
}

/// Lets an actor exit if nothing is left to it but decisions, as constants are.
fn end_early(machine: &Machine, state: &mut [u16], actor: usize) {
    let own = &machine.actors[actor];
    let automaton = &machine.automata[own.automaton];
    for ((constant, taken), spent) in &automaton.spent {
        if spent[usize::from(state[ACTOR * actor])]
            && machine.constant(state, *constant) == Some(*taken)
            && own.stores.iter().all(|(_, at)| state[*at] == 0)
            && let Some(end) = automaton.end
        {
            state[ACTOR * actor] = end;
            return;
        }
    }
}

/// Counts rounds from that of the hindmost actor.
fn count_from_hindmost(machine: &Machine, state: &mut [u16]) {
    let counted = |actor: &usize| machine.actors[*actor].rounds && !machine.ended(state, *actor);
    let counted: Vec<usize> = (0..machine.actors.len()).filter(counted).collect();
    let rounds = counted.iter().map(|actor| state[ACTOR * actor + 2]).min().unwrap_or(0);
    if rounds == 0 {
        return;
    }
    counted.iter().for_each(|actor| state[ACTOR * actor + 2] -= rounds);
    for (slot, of) in machine.places.slots.iter().enumerate() {
        let fields = &mut state[machine.slots_at + SLOT * slot..][..SLOT];
        fields[0] = data_after(fields[0], rounds, machine.behind);
        // Only a bulk copy out of the slot could tell old data from none.
        if fields[0] == OLD && fields[1] == 0 && fields[3] == 0 && !of.stored {
            fields.fill(EMPTY);
        }
    }
}

/// Returns the actors of a stream that may still meet decisions.
fn going(machine: &Machine, state: &[u16], stream: usize) -> Vec<usize> {
    let (mut going, mut actor) = (Vec::new(), 0);
    while actor < machine.actors.len() {
        if machine.actors[actor].stream == stream && machine.node(state, actor).decides {
            going.push(actor);
        }
        actor += 1;
    }
    going
}

/// The decisions of a window, from the lowest bit on.
fn window(state: &[u16], fields: usize) -> u64 {
    u64::from(state[fields + 1])
        | u64::from(state[fields + 2]) << 16
        | u64::from(state[fields + 3]) << 32
        | u64::from(state[fields + 4]) << 48
}

/// Removes decisions from a window.
fn remove(machine: &Machine, state: &mut [u16], stream: usize, at: u16, count: u16) {
    for actor in going(machine, state, stream) {
        let position = &mut state[ACTOR * actor + 1];
        if *position > at {
            *position -= count;
        }
    }
    let fields = machine.stream_at(stream);
    let (length, bits) = (state[fields], window(state, fields));
    let low = bits & ((1 << at) - 1);
    let high = bits.checked_shr(u32::from(at + count)).unwrap_or(0).checked_shl(u32::from(at)).unwrap_or(0);
    state[fields] = length - count;
    for (number, word) in state[fields + 1..fields + STREAM].iter_mut().enumerate() {
        *word = ((low | high) >> (16 * number)) as u16;
    }
}

/// An actor that has still to take decisions of a window, and the decisions that it comes to.
struct Behind<'a> {
    machine: &'a Machine,
    state: &'a [u16],
    nodes: &'a [Node],
    position: u16,
    /// The decision that it stands at after each number of decisions from its position on, as far as they alone decide.
    stands: Vec<Option<u16>>,
}

impl Behind<'_> {
    /// Whether some decisions bring the actor from a decision back to it, without a step and without a round.
    fn is_idle(&self, at: u16, count: u16, bits: u64) -> bool {
        let Some(here) = self.stands[usize::from(at - self.position)] else { return false };
        let (mut node, mut taken) = (here, 0);
        while taken < count {
            let (next, rounds) = self.nodes[usize::from(node)].after(bits >> (at + taken) & 1 == 1);
            let Some(next) = past_constants(self.machine, self.state, self.nodes, next).filter(|_| rounds == 0) else {
                return false;
            };
            if self.nodes[usize::from(next)].action != Action::Shared {
                return false;
            }
            node = next;
            taken += 1;
        }
        node == here
    }
}

/// The first node from one on that is no branch on a constant, if all constants on the way are known.
fn past_constants(machine: &Machine, state: &[u16], nodes: &[Node], mut node: u16) -> Option<u16> {
    for _ in 0..nodes.len() {
        match nodes[usize::from(node)].action {
            Action::Constant(number) => node = nodes[usize::from(node)].after(machine.constant(state, number)?).0,
            _ => return Some(node),
        }
    }
    None
}

/// The shared decision that comes next, if constants that are known lead there.
fn next_shared(machine: &Machine, state: &[u16], nodes: &[Node], mut node: u16) -> Option<u16> {
    for _ in 0..nodes.len() {
        let ahead = nodes[usize::from(node)].ahead?;
        node = past_constants(machine, state, nodes, ahead)?;
        if node == ahead {
            return Some(node);
        }
    }
    None
}

/// Returns decisions, by the position of the first and their number, that bring those who have still to meet them to where they are:
/// rounds in which they do nothing.
fn idle(machine: &Machine, state: &[u16], stream: usize) -> Option<(u16, u16)> {
    let fields = machine.stream_at(stream);
    let (length, bits) = (state[fields], window(state, fields));
    let going = going(machine, state, stream);
    let mut behind = Vec::new();
    for actor in &going {
        let position = state[ACTOR * actor + 1];
        if position == length {
            continue;
        }
        let nodes = &machine.automata[machine.actors[*actor].automaton].nodes;
        let mut stands = vec![None; usize::from(length - position)];
        let (mut next, mut at) = (state[ACTOR * actor], position);
        while at < length
            && let Some(here) = next_shared(machine, state, nodes, next)
        {
            stands[usize::from(at - position)] = Some(here);
            next = nodes[usize::from(here)].after(bits >> at & 1 == 1).0;
            at += 1;
        }
        behind.push(Behind { machine, state, nodes, position, stands });
    }
    let mut count = 1;
    while count <= length.min(3) {
        let mut at = 0;
        while at + count <= length {
            let (mut number, mut all) = (0, true);
            for actor in &behind {
                if actor.position <= at {
                    number += 1;
                    all = all && actor.is_idle(at, count, bits);
                } else if actor.position < at + count {
                    // It is among these decisions.
                    all = false;
                }
                if !all {
                    break;
                }
            }
            if all && number > 0 && number < going.len() {
                return Some((at, count));
            }
            at += 1;
        }
        count += 1;
    }
    None
}
