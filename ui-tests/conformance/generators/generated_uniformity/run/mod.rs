//! Runs a kernel on inputs: all threads of a small grid step by step together, each with its own values, with a mask of
//! the threads that are active. A collective that only some threads of a group reach in the same iteration of all loops
//! is divergent. It shares nothing with the checks.

mod memory;
mod rounds;
mod value;

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{Block, Expr, GRID, Group, Jump, Label, Site, Stmt, Var};
use memory::Memory;
use rounds::Rounds;

/// The bounds on iterations of one loop, and statements of one run: a kernel that exceeds them does not terminate.
const ROUNDS: usize = 12;
const STATEMENTS: usize = 6_000;

/// The active threads.
type Mask = Vec<bool>;

/// The value of each thread.
type Values = Vec<u32>;

/// The findings of the runs.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// The collectives that some threads of a group did not reach.
    pub(super) divergent: BTreeSet<usize>,
    /// The probes at which a collective of the group would be divergent.
    pub(super) probes: BTreeSet<(usize, Group)>,
    /// Whether two writes, or a write after a read, have no barrier between them. That is not a matter of uniformity,
    /// and not checked.
    pub(super) races: bool,
    /// Whether all threads of a group reached a collective, but one after the other: its result is unknown.
    pub(super) apart: bool,
    /// Whether a run did not terminate.
    pub(super) endless: bool,
    /// Whether a variable or a label does not exist, for which rustc refuses the kernel.
    pub(super) misuse: bool,
}

impl Verdict {
    /// Returns whether the runs show if the kernel is uniform.
    pub(super) fn is_sound(&self) -> bool {
        !self.misuse && !self.races && !self.endless && (!self.apart || !self.divergent.is_empty())
    }
}

/// A collective or a probe, by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Site(usize),
    Probe(usize),
}

/// Runs the kernel on all inputs.
pub(super) fn run(kernel: &Block, inputs: u64) -> Verdict {
    let mut verdict = Verdict::default();
    let rounds = Rounds::of(kernel);
    for input in 0..inputs {
        let mut run = Run {
            input,
            rounds_of: &rounds,
            rounds: Vec::new(),
            came: BTreeMap::new(),
            verdict,
            memory: Memory::new(),
            vars: BTreeMap::new(),
            scopes: vec![Vec::new()],
            targets: Vec::new(),
            jumps: BTreeMap::new(),
            clock: 0,
            stuck: false,
        };
        run.block(kernel, vec![true; GRID]);
        run.compare();
        verdict = run.verdict;
        verdict.endless |= run.stuck;
        if verdict.misuse {
            break;
        }
    }
    verdict
}

struct Run<'k> {
    input: u64,
    rounds_of: &'k Rounds,
    /// The enclosing loops, and their iterations.
    rounds: Vec<(Label, usize)>,
    /// The threads that have reached each instance.
    came: BTreeMap<(Place, Vec<usize>), (Option<Group>, Mask)>,
    verdict: Verdict,
    memory: Memory,
    vars: BTreeMap<usize, [Values; 2]>,
    /// The variables in scope, innermost last.
    scopes: Vec<Vec<Var>>,
    /// The enclosing loops and labelled blocks, and whether they are loops.
    targets: Vec<(Label, bool)>,
    /// The threads that are jumping to each target.
    jumps: BTreeMap<Jump, Mask>,
    /// The number of statements so far.
    clock: usize,
    /// Whether the run does not terminate.
    stuck: bool,
}

fn any(mask: &Mask) -> bool {
    mask.contains(&true)
}

fn both(left: &Mask, right: &Mask) -> Mask {
    left.iter().zip(right).map(|(left, right)| *left && *right).collect()
}

fn either(left: &Mask, right: &Mask) -> Mask {
    left.iter().zip(right).map(|(left, right)| *left || *right).collect()
}

fn not(mask: &Mask) -> Mask {
    mask.iter().map(|here| !here).collect()
}

/// Returns whether only some threads of a group are active.
fn is_divided(mask: &Mask, group: Group) -> bool {
    mask.chunks(group.threads()).any(|group| group.contains(&true) && group.contains(&false))
}

/// Returns the same number for the same words.
fn hash(words: &[u64]) -> u32 {
    let mut mixed = 0x9e37_79b9_7f4a_7c15_u64;
    for word in words {
        mixed = (mixed ^ word).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^= mixed >> 29;
    }
    (mixed >> 16) as u32
}

impl Run<'_> {
    fn collective(&mut self, site: Site, mask: &Mask) {
        self.come(Place::Site(site.id), Some(site.group), mask);
    }

    /// Records an operation that needs all threads of the group at once.
    fn together(&mut self, site: Site, mask: &Mask) {
        self.verdict.apart |= is_divided(mask, site.group);
    }

    fn come(&mut self, place: Place, group: Option<Group>, mask: &Mask) {
        let of = self.rounds_of.of.get(&place);
        let counts = |label: &Label| of.is_some_and(|of| of.contains(label));
        let instance = self.rounds.iter().filter(|(label, _)| counts(label)).map(|(_, round)| *round).collect();
        let (_, came) = self.came.entry((place, instance)).or_insert_with(|| (group, vec![false; GRID]));
        *came = either(came, mask);
    }

    /// Finds the groups in which some threads have reached an instance and others have not.
    fn compare(&mut self) {
        for ((place, _), (group, mask)) in &self.came {
            match (place, group) {
                (Place::Site(id), Some(group)) if is_divided(mask, *group) => {
                    self.verdict.divergent.insert(*id);
                }
                (Place::Site(_), _) => {}
                (Place::Probe(id), _) => {
                    let divided = Group::ALL.into_iter().filter(|group| is_divided(mask, *group));
                    self.verdict.probes.extend(divided.map(|group| (*id, group)));
                }
            }
        }
    }

    fn take(&mut self, jump: Jump) -> Mask {
        self.jumps.remove(&jump).unwrap_or_else(|| vec![false; GRID])
    }

    fn declare(&mut self, var: Var) {
        self.scopes.last_mut().expect("inside a block").push(var);
        self.vars.insert(var.id, [vec![0; GRID], vec![0; GRID]]);
    }

    /// Resolves a variable by its name to the innermost one that has it.
    fn named(&mut self, var: Var) -> usize {
        let meant = self.scopes.iter().flatten().rev().find(|other| other.name == var.name);
        if meant != Some(&var) {
            self.verdict.misuse = true;
            self.vars.entry(var.id).or_insert_with(|| [vec![0; GRID], vec![0; GRID]]);
        }
        var.id
    }

    fn set(&mut self, var: Var, half: usize, values: &Values, mask: &Mask) {
        let id = self.named(var);
        let known = self.vars.get_mut(&id).expect("declared");
        for (thread, known) in known[half].iter_mut().enumerate().filter(|(thread, _)| mask[*thread]) {
            *known = values[thread];
        }
    }

    /// Runs a block, and returns the threads that reach its end.
    fn block(&mut self, block: &Block, mask: Mask) -> Mask {
        self.scopes.push(Vec::new());
        let after = self.statements(block, mask);
        self.scopes.pop();
        after
    }

    /// Runs statements in the enclosing scope, and returns the threads that reach their end.
    fn statements(&mut self, block: &Block, mut mask: Mask) -> Mask {
        for stmt in block {
            self.clock += 1;
            self.stuck |= self.clock > STATEMENTS;
            if self.stuck || self.verdict.misuse {
                return vec![false; GRID];
            }
            // Statements that no thread runs must be valid, too.
            mask = self.statement(stmt, mask);
        }
        mask
    }

    fn statement(&mut self, stmt: &Stmt, mask: Mask) -> Mask {
        match stmt {
            Stmt::Let(var, value) => {
                let value = self.value(value, &mask);
                self.declare(*var);
                self.set(*var, 0, &value, &mask);
            }
            Stmt::LetPair(var, left, right) => {
                let halves = [left, right].map(|half| self.value(half, &mask));
                self.declare(*var);
                self.set_pair(*var, &halves, &mask);
            }
            Stmt::LetBoth(vars, left, right) => {
                let halves = [left, right].map(|half| self.value(half, &mask));
                for (var, value) in vars.iter().zip(&halves) {
                    self.declare(*var);
                    self.set(*var, 0, value, &mask);
                }
            }
            Stmt::Assign(var, value) => {
                let value = self.value(value, &mask);
                self.set(*var, 0, &value, &mask);
            }
            Stmt::Increase(var, value) => {
                let by = self.value(value, &mask);
                let id = self.named(*var);
                let sum = self.vars[&id][0].iter().zip(&by).map(|(value, by)| value.wrapping_add(*by)).collect();
                self.set(*var, 0, &sum, &mask);
            }
            Stmt::AssignField(var, half, value) => {
                let value = self.value(value, &mask);
                self.set(*var, *half, &value, &mask);
            }
            Stmt::AssignPair(var, left, right) => {
                let halves = [left, right].map(|half| self.value(half, &mask));
                self.set_pair(*var, &halves, &mask);
            }
            Stmt::Copy(to, from) => {
                let id = self.named(*from);
                let halves = self.vars[&id].clone();
                self.set_pair(*to, &halves, &mask);
            }
            Stmt::Store(index, value) => {
                let value = self.value(value, &mask);
                self.verdict.races |= self.memory.write(*index, &value, &mask);
            }
            // The value that is read from there is unknown.
            Stmt::StoreState(index, value) => {
                self.value(index, &mask);
                self.value(value, &mask);
            }
            Stmt::If(test, then, otherwise) => {
                let test = self.test(test, &mask);
                let first = self.block(then, both(&mask, &test));
                let second = both(&mask, &not(&test));
                let second = match otherwise {
                    Some(otherwise) => self.block(otherwise, second),
                    None => second,
                };
                return either(&first, &second);
            }
            Stmt::Match(value, arms) => {
                let value = self.value(value, &mask);
                let mut after = vec![false; GRID];
                for (index, arm) in arms.iter().enumerate() {
                    let last = index + 1 == arms.len();
                    let taken = value.iter().map(|value| *value as usize == index || last && *value as usize >= index);
                    let here = both(&mask, &taken.collect());
                    after = either(&after, &self.block(arm, here));
                }
                return after;
            }
            Stmt::While(label, test, body) => {
                return self.repeat(*label, mask, |run, mask, _| {
                    let test = run.test(test, &mask);
                    let rest = run.block(body, both(&mask, &test));
                    (both(&mask, &not(&test)), rest)
                });
            }
            Stmt::For(label, var, end, body) => {
                let end = self.value(end, &mask);
                return self.repeat(*label, mask, |run, mask, round| {
                    let goes_on = both(&mask, &end.iter().map(|end| round < *end as usize).collect());
                    run.scopes.push(Vec::new());
                    run.declare(*var);
                    run.set(*var, 0, &vec![round as u32; GRID], &goes_on);
                    let rest = run.block(body, goes_on.clone());
                    run.scopes.pop();
                    (both(&mask, &not(&goes_on)), rest)
                });
            }
            Stmt::Strided(label, var, [start, end], step, body) => {
                let (start, end) = (self.value(start, &mask), self.value(end, &mask));
                return self.repeat(*label, mask, |run, mask, round| {
                    let at = |start: u32| u64::from(start) + round as u64 * u64::from(*step);
                    let below = start.iter().zip(&end).map(|(start, end)| at(*start) < u64::from(*end));
                    let goes_on = both(&mask, &below.collect());
                    run.scopes.push(Vec::new());
                    run.declare(*var);
                    run.set(*var, 0, &start.iter().map(|start| at(*start) as u32).collect::<Vec<_>>(), &goes_on);
                    let rest = run.block(body, goes_on.clone());
                    run.scopes.pop();
                    (both(&mask, &not(&goes_on)), rest)
                });
            }
            Stmt::Loop(label, body) => {
                return self.repeat(*label, mask, |run, mask, _| (vec![false; GRID], run.block(body, mask)));
            }
            Stmt::Labelled(label, body) => {
                self.targets.push((*label, false));
                let after = self.block(body, mask);
                self.targets.pop();
                return either(&after, &self.take(Jump::Break(*label)));
            }
            Stmt::Jump(jump) => {
                self.verdict.misuse |= match jump {
                    Jump::Break(label) => !self.targets.iter().any(|(known, _)| known == label),
                    Jump::Continue(label) => !self.targets.contains(&(*label, true)),
                    Jump::Return => false,
                };
                let waiting = self.take(*jump);
                self.jumps.insert(*jump, either(&waiting, &mask));
                return vec![false; GRID];
            }
            Stmt::Sync(site) => {
                self.collective(*site, &mask);
                self.together(*site, &mask);
                self.memory.arrive(site.group, &mask);
                self.memory.wait(site.group, &mask);
            }
            Stmt::Split(arrive, wait, body) => {
                self.collective(*arrive, &mask);
                self.together(*arrive, &mask);
                self.memory.arrive(arrive.group, &mask);
                let after = self.statements(body, mask);
                self.collective(*wait, &after);
                self.memory.wait(wait.group, &after);
                return after;
            }
            Stmt::Assert(value) => {
                self.value(value, &mask);
            }
            Stmt::Probe(id) => self.come(Place::Probe(*id), None, &mask),
        }
        mask
    }

    fn set_pair(&mut self, var: Var, halves: &[Values; 2], mask: &Mask) {
        halves.iter().enumerate().for_each(|(half, value)| self.set(var, half, value, mask));
    }

    /// Runs a loop. `once` makes one iteration: the threads that leave by the test, and those that reach the body's
    /// end.
    fn repeat(
        &mut self,
        label: Label,
        mut mask: Mask,
        mut once: impl FnMut(&mut Self, Mask, usize) -> (Mask, Mask),
    ) -> Mask {
        let mut out = vec![false; GRID];
        for round in 0.. {
            self.targets.push((label, true));
            self.rounds.push((label, round));
            let (left, rest) = once(self, mask, round);
            self.targets.pop();
            self.rounds.pop();
            out = either(&out, &either(&left, &self.take(Jump::Break(label))));
            mask = either(&rest, &self.take(Jump::Continue(label)));
            self.stuck |= round > ROUNDS;
            if !any(&mask) || self.stuck || self.verdict.misuse {
                break;
            }
        }
        out
    }

    fn test(&mut self, test: &Expr, mask: &Mask) -> Mask {
        self.value(test, mask).iter().map(|truth| *truth != 0).collect()
    }
}
