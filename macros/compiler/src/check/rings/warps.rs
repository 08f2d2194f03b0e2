//! Warps as single actors: where one thread of a warp does more than the others, and the warp meets before it does, all 32 are one
//! thread of a role. docs/analyses.md says why the warp then stands for its threads.

use std::collections::{BTreeMap, BTreeSet};

use super::kernel::WARP;
use super::lanes;
use super::leaders::{do_the_same, merged};
use super::unmet::{others_go_ahead, others_lag_behind};
use super::walk::Program;
use crate::rings::{Among, Condition, Op};

/// What the threads of a warp have done since they met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Since {
    /// Nothing that others see.
    Nothing,
    /// The leader has done something that never blocks.
    LeaderActed,
    /// The leader has waited: the others must wait for it.
    LeaderWaited,
    /// All of them have done something.
    All,
}

/// What an actor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Thread,
    /// A warp, which one of its threads leads.
    Warp,
}

/// Actors with the same program.
#[derive(Debug)]
pub(super) struct Actors {
    pub(super) program: Program,
    /// The ranks of the threads; of each warp, that of its leader.
    pub(super) threads: Vec<u32>,
    pub(super) unit: Unit,
}

/// What the actors are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aim {
    /// A proof: a warp is one actor only if that has each fault that its threads have.
    Proof,
    /// A proof of what warps fill, too: one that fills and whose lanes never meet is no actor, since that would hide conflicts between them.
    ProofOfFills,
    /// A fault: a run in which the lanes of a warp stay together is one of the kernel, whether or not they must.
    Fault,
    /// A fault of the lanes of a block that is one warp: they are together where they meet, and nowhere else.
    FaultOfLanes,
}

/// Makes one actor of each warp that may be one.
pub(super) fn join(programs: Vec<(Program, Vec<u32>)>, aim: Aim) -> Vec<Actors> {
    if aim == Aim::FaultOfLanes {
        let alone = |(program, threads)| Actors { program: meeting_as_block(program), threads, unit: Unit::Thread };
        return programs.into_iter().map(alone).collect();
    }
    let threads = programs.iter().flat_map(|(_, threads)| threads).max().map_or(0, |last| last + 1);
    let mut by_thread: Vec<Option<usize>> = vec![None; threads as usize];
    for (number, (_, threads)) in programs.iter().enumerate() {
        threads.iter().for_each(|thread| by_thread[*thread as usize] = Some(number));
    }
    // By the programs of its lanes, with how many have each.
    let mut joined: BTreeMap<Vec<(usize, u32)>, Option<Actors>> = BTreeMap::new();
    // By warp.
    let mut in_warps = vec![false; threads as usize / WARP as usize + 1];
    let mut lanes_of = vec![0_u32; programs.len()];
    for first in (0..threads / WARP).map(|warp| warp * WARP) {
        // Loops over indexes are several times faster where the compiler does not optimize.
        lanes_of.fill(0);
        let mut thread = first;
        while thread < first + WARP {
            if let Some(program) = by_thread[thread as usize] {
                lanes_of[program] += 1;
            }
            thread += 1;
        }
        if lanes_of.iter().sum::<u32>() != WARP {
            continue;
        }
        let mut present =
            programs.iter().zip(&lanes_of).filter(|(_, lanes)| **lanes > 0).map(|((program, _), _)| program);
        if aim == Aim::ProofOfFills && present.clone().all(|program| program.meetings.is_empty()) && present.any(fills)
        {
            continue;
        }
        let is_alone = |lane: &u32| by_thread[*lane as usize].is_some_and(|program| lanes_of[program] == 1);
        let leader = (first..first + WARP).find(is_alone).unwrap_or(first);
        let present = lanes_of.iter().copied().enumerate().filter(|(_, lanes)| *lanes > 0);
        let warps = joined.entry(present.collect()).or_insert_with_key(|lanes| {
            let program = led(&programs, lanes, aim).or_else(|| in_one_order(&programs, lanes, aim))?;
            Some(Actors { program, threads: Vec::new(), unit: Unit::Warp })
        });
        if let Some(warps) = warps {
            warps.threads.push(leader);
            in_warps[(first / WARP) as usize] = true;
        }
    }
    let alone = programs.into_iter().filter_map(|(mut program, mut threads)| {
        threads.retain(|thread| !in_warps[(thread / WARP) as usize]);
        program.allows_more |= !program.meetings.is_empty();
        (!threads.is_empty()).then_some(Actors { program, threads, unit: Unit::Thread })
    });
    let mut all: Vec<Actors> = alone.chain(joined.into_values().flatten()).collect();
    // Messages say from which thread to which.
    all.iter_mut().for_each(|actors| actors.threads.sort_unstable());
    all
}

/// The steps of a thread whose warp is all of its block.
fn meeting_as_block(mut program: Program) -> Program {
    for at in std::mem::take(&mut program.meetings) {
        let step = &mut program.steps[at];
        step.op = Op::Sync { meeting: step.id, among: Among::Block };
    }
    program
}

fn fills(program: &Program) -> bool {
    program.steps.iter().any(|step| matches!(step.op, Op::BeginFill { .. }))
}

/// Returns the steps of a warp whose leaders are the lanes whose programs no others have, or any one where all do the same and meet, and whose
/// others do the same.
fn led(programs: &[(Program, Vec<u32>)], lanes: &[(usize, u32)], aim: Aim) -> Option<Program> {
    let (leaders, others): (Vec<_>, Vec<_>) = lanes.iter().partition(|(_, lanes)| *lanes == 1);
    let [(follows, _)] = others[..] else { return None };
    let others = &programs[follows].0;
    let leaders: Vec<&Program> = leaders.iter().map(|(leader, _)| &programs[*leader].0).collect();
    match &leaders[..] {
        [] if others.meetings.is_empty() => None,
        [] => of_warp(others, others, aim),
        [leader] => of_warp(leader, others, aim),
        several => of_warp(&merged(several, others)?, others, aim),
    }
}

/// Returns the steps of a warp whose lanes meet, and do different things in one order, in which some run of the kernel does them.
fn in_one_order(programs: &[(Program, Vec<u32>)], lanes: &[(usize, u32)], aim: Aim) -> Option<Program> {
    let meet = lanes.iter().any(|(program, _)| !programs[*program].0.meetings.is_empty());
    let lanes: Vec<_> = lanes.iter().map(|(program, lanes)| (&programs[*program].0, *lanes)).collect();
    (aim == Aim::Fault && meet).then(|| lanes::in_one_order(&lanes)).flatten()
}

/// Returns the steps of a warp, if they are those of its leader, of which the other threads do some as well.
fn of_warp(leader: &Program, others: &Program, aim: Aim) -> Option<Program> {
    // Whether a step of the leader is one of all threads.
    let mut is_of_all: BTreeMap<usize, bool> = BTreeMap::new();
    let counted_by_others: BTreeSet<u32> = others.steps.iter().flat_map(|step| step.op.counters()).collect();
    let mut keys = leader.keys.clone();
    // As single threads, lanes that meet have runs that the kernel does not have, so that no fault of theirs would count.
    let stays_together = aim == Aim::Fault && !leader.meetings.is_empty();
    let mut seen = BTreeSet::new();
    // With the counters that the leader has set alone: they are not what the others have counted.
    let mut work = vec![(0, 0, Since::Nothing, BTreeSet::new())];
    while let Some((at, other, since, mut apart)) = work.pop() {
        let since = if stays_together { Since::Nothing } else { since };
        let (at, other) = (leader.behind_jumps(at)?, others.behind_jumps(other)?);
        if !seen.insert((at, other, since, apart.clone())) {
            continue;
        }
        let (step, others_step) = (leader.steps.get(at), others.steps.get(other));
        let (op, others_op) = (step.map(|step| &step.op), others_step.map(|step| &step.op));
        let ends = |op: Option<&Op>| matches!(op, None | Some(Op::Leave));
        if ends(op) && ends(others_op) {
            // A thread that leaves early neither waits nor arrives.
            (since != Since::LeaderWaited).then_some(())?;
            continue;
        }
        let meets = leader.meetings.contains(&at) && others.meetings.contains(&other);
        let same =
            do_the_same(op, others_op) && (!meets || step.map(|step| step.id) == others_step.map(|step| step.id));
        let together = same && leader.meetings.contains(&at) == others.meetings.contains(&other);
        (*is_of_all.entry(at).or_insert(together) == together).then_some(())?;
        let op = op?;
        if let (false, Op::Branch { condition: Condition::Counters(_) | Condition::Ahead(_), otherwise }) =
            (together, op)
        {
            // What the leader does alone may depend on the round.
            work.extend([(at + 1, other, since, apart.clone()), (*otherwise, other, since, apart)]);
        } else if !together {
            if let Op::Set(values) = op {
                apart.extend(values.iter().map(|(counter, _)| *counter).filter(|set| counted_by_others.contains(set)));
            }
            work.push((at + 1, other, alone(op, since)?, apart));
        } else if reads(op).any(|counter| apart.contains(&counter)) {
            return None;
        } else if let (Op::Branch { condition, otherwise }, Some(Op::Branch { otherwise: others_otherwise, .. })) =
            (op, others_op)
        {
            if let Condition::Shared = condition {
                let known = others.keys.get(&other)?;
                let keys = keys.get_mut(&at)?;
                keys.retain(|key| known.contains(key));
                (!keys.is_empty()).then_some(())?;
            }
            work.extend([(at + 1, other + 1, since, apart.clone()), (*otherwise, *others_otherwise, since, apart)]);
        } else {
            let since = if meets { Since::Nothing } else { all_do(op, since)? };
            if let Op::Set(values) = op {
                apart.retain(|counter| values.iter().all(|(set, _)| set != counter));
            }
            work.push((at + 1, other + 1, since, apart));
        }
    }
    let mut program = Program { keys, ..leader.clone() };
    program.allows_more |= others.allows_more;
    program.uncertain.extend(&others.uncertain);
    program.together.extend(others.together.clone());
    for (at, step) in program.steps.iter_mut().enumerate() {
        if let Op::Arrive { count, .. } = &mut step.op
            && is_of_all.get(&at) == Some(&true)
        {
            *count = count.checked_mul(WARP)?;
        }
    }
    if stays_together {
        others_go_ahead(&mut program, &is_of_all);
        others_lag_behind(&mut program, is_of_all);
    }
    Some(program)
}

/// The counters whose values a step reads.
fn reads(op: &Op) -> impl Iterator<Item = u32> {
    let set = if let Op::Set(values) = op { Some(values) } else { None };
    let read: BTreeSet<u32> = match set {
        Some(values) => values.iter().flat_map(|(_, value)| value.counters()).collect(),
        None => op.counters(),
    };
    read.into_iter()
}

/// What the threads have done after a step that all of them do, if a warp may do it as one.
fn all_do(op: &Op, since: Since) -> Option<Since> {
    match op {
        Op::Set(_) | Op::NextRound => Some(since),
        // All threads of the block meet.
        Op::Sync { .. } => Some(Since::Nothing),
        // It would be done 32 times.
        Op::Expect { .. } | Op::Copy { .. } | Op::Arrive { drops: true, .. } => None,
        Op::Wait { .. }
        | Op::WaitToken { .. }
        | Op::Arrive { drops: false, .. }
        | Op::BeginFill { .. }
        | Op::EndFill { .. }
        | Op::BeginRead { .. }
        | Op::EndRead { .. }
        // Each thread's copy, or its part of a product, reads the slot until the thread has waited.
        | Op::Store { .. }
        | Op::WaitStores { .. }
        // The phase waits for the last of the shares.
        | Op::Share { .. } => (since != Since::LeaderWaited).then_some(Since::All),
        Op::Branch { .. } | Op::Jump(_) | Op::Leave => None,
    }
}

/// What the threads have done after a step of the leader alone.
fn alone(op: &Op, since: Since) -> Option<Since> {
    match op {
        Op::Wait { .. } => (since != Since::All).then_some(Since::LeaderWaited),
        Op::Arrive { token: false, drops: false, .. } | Op::Expect { .. } | Op::Copy { .. } => match since {
            Since::Nothing | Since::LeaderActed => Some(Since::LeaderActed),
            Since::LeaderWaited => Some(Since::LeaderWaited),
            // Others would take it for the whole warp's.
            Since::All => None,
        },
        // All threads make it.
        Op::Share { .. } => None,
        // It tells others nothing.
        Op::Store { .. }
        | Op::WaitStores { .. }
        | Op::BeginFill { .. }
        | Op::EndFill { .. }
        | Op::BeginRead { .. }
        | Op::EndRead { .. } => match since {
            Since::Nothing => Some(Since::LeaderActed),
            Since::LeaderActed | Since::LeaderWaited | Since::All => Some(since),
        },
        Op::Set(_) => Some(since),
        Op::WaitToken { .. }
        | Op::Arrive { .. }
        | Op::Sync { .. }
        | Op::NextRound
        | Op::Branch { .. }
        | Op::Jump(_)
        | Op::Leave => None,
    }
}
