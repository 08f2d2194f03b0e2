//! Warps of which several lanes do more than the others: their steps as those of one leader, who does them one after the other.

use std::collections::{BTreeMap, BTreeSet};

use super::walk::Program;
use crate::rings::{Condition, Op, Step};

/// The largest number of steps of a leader.
const LONGEST: usize = 1024;

/// Where each lane stands: those of the leaders, and one of the others.
type Places = Vec<usize>;

/// Returns the program of a leader who does what the leaders of a warp do beside the others' steps, if that is nothing but arrivals, and
/// branches on counters.
pub(super) fn merged(leaders: &[&Program], others: &Program) -> Option<Program> {
    let all: Vec<&Program> = leaders.iter().copied().chain([others]).collect();
    let first = Program { steps: Vec::new(), keys: BTreeMap::new(), meetings: BTreeSet::new(), ..others.clone() };
    let mut merging = Merging { all, program: first, labels: BTreeMap::new(), targets: Vec::new(), open: Vec::new() };
    let begin = merging.settled(vec![0; leaders.len() + 1])?;
    merging.open.push(begin);
    while let Some(places) = merging.open.pop() {
        if !merging.labels.contains_key(&places) {
            merging.chain(places)?;
        }
    }
    for (branch, places) in std::mem::take(&mut merging.targets) {
        let target = merging.labels.get(&places).copied()?;
        if let Op::Jump(to) | Op::Branch { otherwise: to, .. } = &mut merging.program.steps[branch].op {
            *to = target;
        }
    }
    let mut program = merging.program;
    for leader in leaders {
        program.allows_more |= leader.allows_more;
        program.meets_aside |= leader.meets_aside;
        program.uncertain.extend(&leader.uncertain);
        program.together.extend(leader.together.clone());
    }
    Some(program)
}

struct Merging<'p> {
    all: Vec<&'p Program>,
    program: Program,
    labels: BTreeMap<Places, usize>,
    targets: Vec<(usize, Places)>,
    open: Vec<Places>,
}

impl Merging<'_> {
    fn settled(&self, places: Places) -> Option<Places> {
        places.into_iter().zip(&self.all).map(|(at, program)| program.behind_jumps(at)).collect()
    }

    /// Whether a lane stands at the step at which the others stand.
    fn is_with_others(&self, lane: usize, places: &Places) -> bool {
        let (own, others) = (self.all[lane], self.all[self.all.len() - 1]);
        let (at, other) = (places[lane], places[places.len() - 1]);
        match (own.steps.get(at), others.steps.get(other)) {
            (Some(step), Some(others_step)) => {
                let is_same = step.id == others_step.id && do_the_same(Some(&step.op), Some(&others_step.op));
                is_same && own.meetings.contains(&at) == others.meetings.contains(&other)
            }
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    /// Adds the steps from some places on, up to places that have been added.
    fn chain(&mut self, mut places: Places) -> Option<()> {
        let last = self.all.len() - 1;
        while self.program.steps.len() < LONGEST {
            let index = self.program.steps.len();
            if self.labels.contains_key(&places) {
                self.targets.push((index, places));
                self.program.steps.push(Step { id: 0, op: Op::Jump(usize::MAX) });
                return Some(());
            }
            self.labels.insert(places.clone(), index);
            let ahead = (0..last).find(|lane| !self.is_with_others(*lane, &places));
            let (program, at) = (self.all[ahead.unwrap_or(last)], places[ahead.unwrap_or(last)]);
            let Some(step) = program.steps.get(at) else {
                ahead.is_none().then_some(())?;
                self.program.steps.push(Step { id: 0, op: Op::Leave });
                return Some(());
            };
            let moving: Vec<usize> = ahead.map_or_else(|| (0..=last).collect(), |lane| vec![lane]);
            if let Op::Branch { condition, .. } = &step.op {
                (ahead.is_none() || matches!(condition, Condition::Counters(_))).then_some(())?;
                let mut otherwise = places.clone();
                for lane in &moving {
                    let Op::Branch { otherwise: to, .. } = &self.all[*lane].steps[places[*lane]].op else {
                        return None;
                    };
                    otherwise[*lane] = *to;
                }
                let mut keys = program.keys.get(&at).cloned().unwrap_or_default();
                let known = |lane: &usize| self.all[*lane].keys.get(&places[*lane]);
                keys.retain(|key| moving.iter().all(|lane| known(lane).is_some_and(|keys| keys.contains(key))));
                self.program.keys.extend((!keys.is_empty()).then_some((index, keys)));
                let otherwise = self.settled(otherwise)?;
                self.targets.push((index, otherwise.clone()));
                self.open.push(otherwise);
            } else {
                // What one lane does alone never blocks, and nobody but its barrier can tell when.
                let arrives = matches!(step.op, Op::Arrive { token: false, drops: false, .. });
                (ahead.is_none() || arrives).then_some(())?;
            }
            if ahead.is_none() && program.meetings.contains(&at) {
                self.program.meetings.insert(index);
            }
            let ends = matches!(step.op, Op::Leave);
            self.program.steps.push(step.clone());
            if ends {
                return Some(());
            }
            moving.iter().for_each(|lane| places[*lane] += 1);
            places = self.settled(places)?;
        }
        None
    }
}

/// Whether two steps do the same, wherever they lead.
pub(super) fn do_the_same(one: Option<&Op>, other: Option<&Op>) -> bool {
    match (one, other) {
        (Some(Op::Branch { condition: one, .. }), Some(Op::Branch { condition: other, .. })) => one == other,
        (one, other) => one == other,
    }
}
