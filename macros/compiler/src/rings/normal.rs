//! The normal form of a state: of decisions and rounds, only what somebody has still to meet is kept.

use super::automaton::{Action, Automaton};
use super::machine::{ACTOR, EMPTY, Machine, OLD, SLOT, STREAM, data_after, decision};

/// Brings a state into its normal form.
pub(super) fn normalise(machine: &Machine, state: &mut [u16]) {
    for (actor, fields) in state[..ACTOR * machine.actors.len()].chunks_exact_mut(ACTOR).enumerate() {
        let automaton = &machine.automata[machine.actors[actor].automaton];
        let node = &automaton.nodes[usize::from(fields[0])];
        if !node.decides {
            fields[1] = 0;
        }
        if node.action == Action::End {
            fields[2] = 0;
        }
    }
    for stream in 0..machine.streams {
        if state[machine.stream_at(stream)] == 0 {
            continue;
        }
        while machine.nested && drop_idle(machine, state, stream) {}
        let length = state[machine.stream_at(stream)];
        let going = going(machine, state, stream);
        let cut = going.iter().map(|actor| state[ACTOR * actor + 1]).min().unwrap_or(length);
        if cut > 0 {
            remove(machine, state, stream, 0, cut);
        }
    }
    if !machine.counts {
        return;
    }
    let counted = |actor: &usize| machine.actors[*actor].rounds && !machine.ended(state, *actor);
    let counted: Vec<usize> = (0..machine.actors.len()).filter(counted).collect();
    let rounds = counted.iter().map(|actor| state[ACTOR * actor + 2]).min().unwrap_or(0);
    if rounds > 0 {
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
}

/// Returns the actors of a stream that may still meet decisions.
fn going(machine: &Machine, state: &[u16], stream: usize) -> Vec<usize> {
    let actors = 0..machine.actors.len();
    actors.filter(|actor| machine.actors[*actor].stream == stream && machine.node(state, *actor).decides).collect()
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
    let (length, words) = (state[fields], &state[fields + 1..fields + STREAM]);
    let bits = words.iter().rev().fold(0, |bits: u64, word| bits << 16 | u64::from(*word));
    let low = bits & ((1 << at) - 1);
    let high = bits.checked_shr(u32::from(at + count)).unwrap_or(0).checked_shl(u32::from(at)).unwrap_or(0);
    state[fields] = length - count;
    for (number, word) in state[fields + 1..fields + STREAM].iter_mut().enumerate() {
        *word = ((low | high) >> (16 * number)) as u16;
    }
}

/// Forgets decisions that bring those who have still to meet them to where they are: rounds in which they do nothing.
fn drop_idle(machine: &Machine, state: &mut [u16], stream: usize) -> bool {
    let going = going(machine, state, stream);
    let fields = machine.stream_at(stream);
    let length = state[fields];
    let position = |actor: &usize| state[ACTOR * actor + 1];
    for count in 1..=length.min(3) {
        for at in 0..=length - count {
            let behind = going.iter().filter(|actor| position(actor) <= at);
            let among = going.iter().any(|actor| position(actor) > at && position(actor) < at + count);
            let number = behind.clone().count();
            if among || number == 0 || number == going.len() {
                continue;
            }
            let window = &state[fields..fields + STREAM];
            let idle = |actor: &usize| {
                let automaton = &machine.automata[machine.actors[*actor].automaton];
                let here = walk(automaton, state[ACTOR * actor], window, position(actor)..at, false);
                here.is_some_and(|here| walk(automaton, here, window, at..at + count, true) == Some(here))
            };
            if behind.clone().all(idle) {
                remove(machine, state, stream, at, count);
                return true;
            }
        }
    }
    false
}

/// Returns the shared decision that comes after those of a range. There is none if it depends on another decision, or if
/// `idle` and there is a step or a round on the way.
fn walk(
    automaton: &Automaton,
    mut node: u16,
    window: &[u16],
    mut range: std::ops::Range<u16>,
    idle: bool,
) -> Option<u16> {
    for _ in 0..4096 {
        let here = &automaton.nodes[usize::from(node)];
        let (next, rounds) = match here.action {
            Action::Shared => match range.next() {
                Some(position) => here.after(decision(window, position)),
                None => return Some(node),
            },
            Action::End | Action::Free => return None,
            _ if idle => return None,
            _ => here.after(true),
        };
        if idle && rounds > 0 {
            return None;
        }
        node = next;
    }
    None
}
