//! Whether threads have come to as many turns of what is published wherever they decide about it.

use std::collections::{BTreeMap, BTreeSet};

use super::decision::Key;
use super::settled::{constant_of, target};
use super::walk::Program;
use crate::rings::{Condition, Expr, Op};

/// The largest number of steps and values of counters between two decisions.
const STATES: usize = 2000;

/// The largest number of turns between two decisions, and of those that one thread is ahead of another.
const TURNS: u32 = 2;

/// Whether two threads, of blocks of all ranks, have come to as many turns wherever they decide about what has been published.
pub(super) fn come_to_the_same(one: &Program, other: &Program, constants: &BTreeMap<u32, bool>, blocks: u32) -> bool {
    let is_turn = |key: &Key| matches!(key, Key::Turn(_));
    if !one.keys.values().chain(other.keys.values()).flatten().any(is_turn) {
        return true;
    }
    let ranks = (0..i64::from(blocks)).flat_map(|rank| (0..i64::from(blocks)).map(move |other| (rank, other)));
    ranks.into_iter().all(|(rank, other_rank)| {
        let mut seen = BTreeSet::new();
        // With how many turns more the first thread has begun than the second one.
        let mut work = vec![(0, 0, 0)];
        while let Some((from, and, before)) = work.pop() {
            let (Some(firsts), Some(seconds)) =
                (decisions(one, from, rank, constants), decisions(other, and, other_rank, constants))
            else {
                return false;
            };
            for (first, turns) in &firsts {
                for (second, others) in &seconds {
                    let keys = [&one.keys[first], &other.keys[second]];
                    if !keys[0].iter().any(|key| keys[1].contains(key)) {
                        return false;
                    }
                    let is_told = keys[0].iter().any(|key| !is_turn(key) && keys[1].contains(key));
                    for (turns, others) in
                        turns.iter().flat_map(|turns| others.iter().map(move |others| (turns, others)))
                    {
                        let ahead = before + i64::from(*turns) - i64::from(*others);
                        if !is_told && ahead != 0 || ahead.abs() > i64::from(TURNS) {
                            return false;
                        }
                        if seen.insert((*first, *second, ahead)) {
                            work.push((first + 1, second + 1, ahead));
                            work.push((target(one, *first), target(other, *second), ahead));
                        }
                    }
                }
            }
        }
        true
    })
}

/// The shared decisions that come next after a step, each with the numbers of turns that may begin before; nothing if there are too many ways.
fn decisions(
    program: &Program,
    from: usize,
    rank: i64,
    constants: &BTreeMap<u32, bool>,
) -> Option<BTreeMap<usize, BTreeSet<u32>>> {
    type Known = BTreeMap<u32, i64>;
    let mut found: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
    let mut seen: BTreeSet<(usize, u32, Known)> = BTreeSet::new();
    let mut work: Vec<(usize, u32, Known)> = vec![(from, 0, Known::new())];
    while let Some((at, turns, mut known)) = work.pop() {
        let Some(step) = program.steps.get(at) else { continue };
        if !seen.insert((at, turns, known.clone())) {
            continue;
        }
        if seen.len() > STATES || turns > TURNS {
            return None;
        }
        let value = |expr: &Expr, known: &Known| {
            let is_known = expr.counters().all(|counter| known.contains_key(&counter));
            let size = known.keys().max().map_or(0, |last| *last as usize + 1);
            let mut counters = vec![0; size];
            known.iter().for_each(|(counter, value)| counters[*counter as usize] = *value);
            if is_known { expr.value(&counters, rank, step.id).ok() } else { None }
        };
        match &step.op {
            Op::Branch { condition: Condition::Shared, .. } => drop(found.entry(at).or_default().insert(turns)),
            Op::Branch { condition, otherwise } => {
                let holds = match condition {
                    Condition::Counters(test) => value(test, &known).map(|holds| holds != 0),
                    Condition::Shared
                    | Condition::Ahead(_)
                    | Condition::Constant(_)
                    | Condition::Free
                    | Condition::Over { .. }
                    | Condition::Past { .. } => {
                        constant_of(step).and_then(|constant| constants.get(&constant)).copied()
                    }
                };
                if holds != Some(false) {
                    work.push((at + 1, turns, known.clone()));
                }
                if holds != Some(true) {
                    work.push((*otherwise, turns, known));
                }
            }
            Op::Set(values) => {
                let values: Vec<_> = values.iter().map(|(counter, expr)| (*counter, value(expr, &known))).collect();
                for (counter, value) in values {
                    match value {
                        Some(value) => drop(known.insert(counter, value)),
                        None => drop(known.remove(&counter)),
                    }
                }
                work.push((at + 1, turns, known));
            }
            Op::NextRound => work.push((at + 1, turns + 1, known)),
            Op::Jump(to) => work.push((*to, turns, known)),
            Op::Leave => {}
            Op::Wait { .. }
            | Op::WaitToken { .. }
            | Op::Arrive { .. }
            | Op::Expect { .. }
            | Op::Copy { .. }
            | Op::Share { .. }
            | Op::BeginFill { .. }
            | Op::EndFill { .. }
            | Op::BeginRead { .. }
            | Op::EndRead { .. }
            | Op::Store { .. }
            | Op::WaitStores { .. }
            | Op::Sync { .. } => work.push((at + 1, turns, known)),
        }
    }
    Some(found)
}
