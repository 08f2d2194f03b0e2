//! Warps whose lanes do different things between the places where they meet, such as one that tells each peer by another lane. For a
//! fault, a warp is then one actor that does what its lanes do in one order: all of them what they do alike, and each of them its own
//! steps before that (but see `unmet`). A run in which they take this order is one of the kernel, because none of the steps that a lane does by
//! itself ever waits.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::leaders::do_the_same;
use super::unmet::others_lag_behind;
use super::walk::Program;
use crate::rings::{Condition, Op, Step};

/// The largest number of steps of the actor.
const STEPS: usize = 1024;

/// Some lanes of a warp with the same steps: the steps, and the number of lanes.
pub(super) type Lanes<'p> = (&'p Program, u32);

/// Where the lanes stand: the index of a step in each program.
type Places = Vec<usize>;

/// The steps of a warp, if its lanes meet and do nothing by themselves that may wait.
pub(super) fn in_one_order(lanes: &[Lanes<'_>]) -> Option<Program> {
    let (first, _) = lanes.first()?;
    let mut program =
        Program { steps: Vec::new(), keys: BTreeMap::new(), meetings: BTreeSet::new(), ..(*first).clone() };
    for (other, _) in lanes {
        program.allows_more |= other.allows_more;
        program.meets_aside |= other.meets_aside;
        program.uncertain.extend(&other.uncertain);
        program.together.extend(other.together.clone());
    }
    let mut labels: BTreeMap<Places, usize> = BTreeMap::new();
    // Whether all lanes take a step.
    let mut is_of_all: BTreeMap<usize, bool> = BTreeMap::new();
    // The branches whose other targets are open.
    let mut open: Vec<(Option<usize>, Places)> = vec![(None, vec![0; lanes.len()])];
    while let Some((branch, mut places)) = open.pop() {
        places = behind_jumps(lanes, &places)?;
        let target = labels.get(&places).copied().unwrap_or(program.steps.len());
        if let Some(Op::Branch { otherwise, .. }) = branch.map(|at| &mut program.steps[at].op) {
            *otherwise = target;
        }
        if target < program.steps.len() {
            continue;
        }
        loop {
            places = behind_jumps(lanes, &places)?;
            if let Some(known) = labels.get(&places) {
                let id = program.steps.last().map_or(0, |step| step.id);
                program.steps.push(Step { id, op: Op::Jump(*known) });
                break;
            }
            (program.steps.len() < STEPS).then_some(())?;
            labels.insert(places.clone(), program.steps.len());
            let goes = next(lanes, &places)?;
            let at = program.steps.len();
            let own = goes.by.map_or(0, |lane| lane);
            let Some(step) = lanes[own].0.steps.get(places[own]) else {
                program.steps.push(Step { id: program.steps.last().map_or(0, |step| step.id), op: Op::Leave });
                break;
            };
            let many = lanes.iter().enumerate().filter(|(lane, _)| goes.moves(*lane)).map(|(_, (_, many))| many).sum();
            if goes.by.is_none() && lanes.iter().zip(&places).any(|((of, _), at)| of.meetings.contains(at)) {
                program.meetings.insert(at);
            }
            program.steps.extend(by_lanes(step, many)?);
            is_of_all.extend((at..program.steps.len()).map(|step| (step, goes.by.is_none())));
            if let Op::Branch { otherwise: _, .. } = &step.op {
                let mut other = places.clone();
                for (lane, place) in other.iter_mut().enumerate().filter(|(lane, _)| goes.moves(*lane)) {
                    let Some(Op::Branch { otherwise, .. }) = lanes[lane].0.steps.get(*place).map(|step| &step.op)
                    else {
                        return None;
                    };
                    *place = *otherwise;
                }
                open.push((Some(at), other));
            } else if matches!(step.op, Op::Leave) {
                break;
            }
            places.iter_mut().enumerate().filter(|(lane, _)| goes.moves(*lane)).for_each(|(_, place)| *place += 1);
        }
    }
    others_lag_behind(&mut program, is_of_all);
    Some(program)
}

/// The lanes that take the next step: those with one program by themselves, or all.
struct Goes {
    by: Option<usize>,
}

impl Goes {
    fn moves(&self, lane: usize) -> bool {
        self.by.is_none_or(|by| by == lane)
    }
}

/// Whether all lanes take the next step together, and otherwise which of them go on until they do.
fn next(lanes: &[Lanes<'_>], places: &[usize]) -> Option<Goes> {
    // Each of the steps where some lanes stand may be the next one that all take.
    let distances = |meant: usize| -> Option<Vec<usize>> {
        let meant = (lanes[meant].0, places[meant]);
        lanes.iter().zip(places).map(|((of, _), at)| distance((of, *at), meant)).collect()
    };
    let nearest = (0..lanes.len()).filter_map(distances).min_by_key(|all| all.iter().sum::<usize>())?;
    let by = nearest.iter().position(|steps| *steps > 0);
    let is_alone =
        |lane: usize| lanes[lane].0.steps.get(places[lane]).is_some_and(|step| is_of_some(&step.op, lane, lanes));
    by.is_none_or(is_alone).then_some(Goes { by })
}

/// The number of steps that a lane takes by itself before it comes to a step.
fn distance((of, from): (&Program, usize), meant: (&Program, usize)) -> Option<usize> {
    let mut work = VecDeque::from([(from, 0)]);
    let mut seen = BTreeSet::new();
    while let Some((at, steps)) = work.pop_front() {
        let at = of.behind_jumps(at)?;
        if !seen.insert(at) {
            continue;
        }
        if is_same((of, at), meant) {
            return Some(steps);
        }
        let Some(step) = of.steps.get(at) else { continue };
        work.extend(step.op.targets(at).into_iter().map(|next| (next, steps + 1)));
    }
    None
}

/// Whether two steps are one that all lanes take together.
fn is_same((of, at): (&Program, usize), (other, and): (&Program, usize)) -> bool {
    let ends = |step: Option<&Step>| step.is_none_or(|step| matches!(step.op, Op::Leave));
    let (one, two) = (of.steps.get(at), other.steps.get(and));
    if ends(one) || ends(two) {
        return ends(one) && ends(two);
    }
    let (Some(one), Some(two)) = (one, two) else { return false };
    do_the_same(Some(&one.op), Some(&two.op))
        && one.id == two.id
        && of.meetings.contains(&at) == other.meetings.contains(&and)
}

/// Whether some lanes may take a step by themselves: it never waits, and what it sets no others read.
fn is_of_some(op: &Op, lane: usize, lanes: &[Lanes<'_>]) -> bool {
    match op {
        Op::Arrive { token: false, drops: false, .. }
        | Op::Expect { .. }
        | Op::Copy { .. }
        | Op::BeginFill { .. }
        | Op::EndFill { .. }
        | Op::BeginRead { .. }
        | Op::EndRead { .. }
        | Op::Branch { condition: Condition::Counters(_), .. } => true,
        Op::Set(values) => {
            let others = lanes.iter().enumerate().filter(|(other, _)| *other != lane);
            let read: BTreeSet<u32> =
                others.flat_map(|(_, (of, _))| &of.steps).flat_map(|step| step.op.counters()).collect();
            values.iter().all(|(counter, _)| !read.contains(counter))
        }
        Op::Wait { .. }
        | Op::WaitToken { .. }
        | Op::Arrive { .. }
        | Op::Share { .. }
        | Op::Store { .. }
        | Op::WaitStores { .. }
        | Op::Sync { .. }
        | Op::NextRound
        | Op::Branch { .. }
        | Op::Jump(_)
        | Op::Leave => false,
    }
}

/// A step that as many lanes take as one.
fn by_lanes(step: &Step, many: u32) -> Option<Vec<Step>> {
    let of = |op: Op| Step { id: step.id, op };
    Some(match &step.op {
        Op::Arrive { barrier, block, count, drops: false, token } => {
            let (barrier, block) = (barrier.clone(), block.clone());
            vec![of(Op::Arrive { barrier, block, count: count.checked_mul(many)?, drops: false, token: *token })]
        }
        Op::Expect { .. } | Op::Copy { .. } => vec![step.clone(); many as usize],
        // Each thread leaves for itself; what all decide alike of a launch is known.
        Op::Arrive { .. }
        | Op::Branch {
            condition:
                Condition::Shared | Condition::Ahead(_) | Condition::Free | Condition::Over { .. } | Condition::Past { .. },
            ..
        } => {
            return None;
        }
        Op::Wait { .. }
        | Op::WaitToken { .. }
        | Op::Share { .. }
        | Op::BeginFill { .. }
        | Op::EndFill { .. }
        | Op::BeginRead { .. }
        | Op::EndRead { .. }
        | Op::Store { .. }
        | Op::WaitStores { .. }
        | Op::Sync { .. }
        | Op::Set(_)
        | Op::NextRound
        | Op::Branch { condition: Condition::Counters(_) | Condition::Constant(_), .. }
        | Op::Leave => vec![step.clone()],
        Op::Jump(_) => return None,
    })
}

fn behind_jumps(lanes: &[Lanes<'_>], places: &[usize]) -> Option<Places> {
    lanes.iter().zip(places).map(|((of, _), at)| of.behind_jumps(*at)).collect()
}
