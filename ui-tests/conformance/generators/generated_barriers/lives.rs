//! Tests which threads initialize, use and invalidate two barriers, and whether the block synchronizes in between.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use phalanx_compiler::Rule;

use super::reports;
use crate::random::Random;
use crate::shrink::{Nested, shrink};

const KERNELS: u64 = 3_000;

const BARRIERS: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Test {
    First,
    Other,
    Warp,
    /// A test of the launch: by the parameter, and whether it is negated.
    Launch(usize, bool),
}

#[derive(Debug, Clone)]
enum Stmt {
    Init(usize),
    InitAll(usize),
    Invalidate(usize),
    Arrive(usize),
    Meet(usize),
    Leave(usize),
    Copy(usize),
    Sync,
    If(Test, Vec<Stmt>, Vec<Stmt>),
    Repeat(Vec<Stmt>),
}

impl Nested for Stmt {
    fn blocks(&mut self) -> Vec<&mut Vec<Stmt>> {
        match self {
            Stmt::If(_, then, otherwise) => vec![then, otherwise],
            Stmt::Repeat(body) => vec![body],
            _ => Vec::new(),
        }
    }
}

/// Prints the text; every statement is on a line of its own, and they are numbered as they are printed.
fn print(body: &[Stmt]) -> String {
    let mut text = String::from("fn kernel(input: &[u32], n: u32, m: u32, rounds: u32, inner: u32) {\n");
    text += "let block = this_thread_block(); let a = shared_barrier(); let b = shared_barrier(); let deep = n > 3; let words = shared_array::<u32, 4>();\n";
    print_block(body, &mut text, 0);
    text + "}\n"
}

/// The number of lines before the first statement.
const HEAD: usize = 2;

fn print_block(body: &[Stmt], out: &mut String, loops: usize) {
    let name = |barrier: &usize| ["a", "b"][*barrier];
    for stmt in body {
        _ = match stmt {
            Stmt::Init(barrier) => writeln!(out, "{}.init(64);", name(barrier)),
            Stmt::InitAll(barrier) => writeln!(out, "{}.init_collective(&block, 64);", name(barrier)),
            Stmt::Invalidate(barrier) => writeln!(out, "{}.invalidate();", name(barrier)),
            Stmt::Arrive(barrier) => writeln!(out, "let _ = {}.arrive_n(n);", name(barrier)),
            Stmt::Meet(barrier) => writeln!(out, "{}.arrive_and_wait();", name(barrier)),
            Stmt::Leave(barrier) => writeln!(out, "{}.arrive_and_drop();", name(barrier)),
            Stmt::Copy(barrier) => writeln!(out, "bulk_copy_async(&words, &input[0..4], &{});", name(barrier)),
            Stmt::Sync => writeln!(out, "block.sync();"),
            Stmt::If(test, then, otherwise) => {
                let test = match test {
                    Test::First => "block.thread_rank() == 0",
                    Test::Other => "block.thread_rank() == 32",
                    Test::Warp => "block.thread_rank() < 32",
                    Test::Launch(0, true) => "n > 3",
                    Test::Launch(0, false) => "!deep",
                    Test::Launch(_, true) => "m == 0",
                    Test::Launch(_, false) => "m != 0",
                };
                _ = writeln!(out, "if {test} {{");
                print_block(then, out, loops);
                _ = writeln!(out, "}} else {{");
                print_block(otherwise, out, loops);
                writeln!(out, "}}")
            }
            Stmt::Repeat(body) => {
                _ = writeln!(out, "for _ in 0..{} {{", if loops == 0 { "rounds" } else { "inner" });
                print_block(body, out, loops + 1);
                writeln!(out, "}}")
            }
        };
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    Init,
    InitAll,
    Invalidate,
    Use { arrives: bool, waits: bool, leaves: bool },
}

/// The operations of a thread between two barriers of the block, with their lines.
type Segment = Vec<(usize, usize, Deed)>;

#[derive(Clone, Copy)]
struct Thread {
    first: bool,
    other: bool,
    warp: bool,
}

/// The threads of a block, and then combinations that do not occur: the checks do not know how tests relate.
const THREADS: [Thread; 8] = [
    Thread { first: true, other: false, warp: true },
    Thread { first: false, other: false, warp: true },
    Thread { first: false, other: true, warp: false },
    Thread { first: false, other: false, warp: false },
    Thread { first: true, other: true, warp: true },
    Thread { first: true, other: true, warp: false },
    Thread { first: true, other: false, warp: false },
    Thread { first: false, other: true, warp: true },
];

const REAL: usize = 4;

struct Run {
    thread: Thread,
    launch: [bool; 2],
    /// The iterations of a loop, and of an inner one: the checks do not know that they are equal.
    rounds: [usize; 2],
    loops: usize,
    segments: Vec<Segment>,
}

impl Run {
    fn block(&mut self, body: &[Stmt], mut line: usize) -> usize {
        for stmt in body {
            let at = line;
            line += 1;
            let (barrier, deed) = match stmt {
                Stmt::Init(barrier) => (*barrier, Deed::Init),
                Stmt::InitAll(barrier) => (*barrier, Deed::InitAll),
                Stmt::Invalidate(barrier) => (*barrier, Deed::Invalidate),
                Stmt::Arrive(barrier) => (*barrier, Deed::Use { arrives: true, waits: false, leaves: false }),
                Stmt::Meet(barrier) => (*barrier, Deed::Use { arrives: true, waits: true, leaves: false }),
                Stmt::Leave(barrier) => (*barrier, Deed::Use { arrives: true, waits: false, leaves: true }),
                Stmt::Copy(barrier) => (*barrier, Deed::Use { arrives: false, waits: false, leaves: false }),
                Stmt::Sync => {
                    self.segments.push(Segment::new());
                    continue;
                }
                Stmt::If(test, then, otherwise) => {
                    let holds = match test {
                        Test::First => self.thread.first,
                        Test::Other => self.thread.other,
                        Test::Warp => self.thread.warp,
                        Test::Launch(which, holds) => self.launch[*which] == *holds,
                    };
                    let mut away = Run { segments: vec![Segment::new()], ..*self };
                    let middle = if holds { self.block(then, line) } else { away.block(then, line) };
                    line =
                        1 + if holds { away.block(otherwise, middle + 1) } else { self.block(otherwise, middle + 1) };
                    continue;
                }
                Stmt::Repeat(body) => {
                    let rounds = self.rounds[self.loops.min(1)];
                    self.loops += 1;
                    let mut end = Run { segments: vec![Segment::new()], ..*self }.block(body, line);
                    for _ in 0..rounds {
                        end = self.block(body, line);
                    }
                    self.loops -= 1;
                    line = end + 1;
                    continue;
                }
            };
            if deed == Deed::InitAll {
                self.segments.push(Segment::new());
            }
            self.segments.last_mut().expect("one is there").push((at, barrier, deed));
            if deed == Deed::InitAll {
                // This statement publishes by itself.
                self.segments.push(Segment::new());
            }
        }
        line
    }
}

/// Returns whether a loop is inside a loop.
fn nests(body: &[Stmt], loops: usize) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::If(_, then, otherwise) => nests(then, loops) || nests(otherwise, loops),
        Stmt::Repeat(body) => loops > 0 || nests(body, 1),
        _ => false,
    })
}

#[derive(Debug, Default)]
struct Verdict {
    /// The rules and lines that some run shows, and those about which the checks cannot know better.
    faults: BTreeSet<(Rule, usize)>,
    /// The barriers whose faults must be reported.
    told: BTreeSet<usize>,
    /// Barriers that two threads leave in different states: what is right after that is unknown.
    blurred: BTreeSet<usize>,
    /// The lines that a thread reaches.
    reached: BTreeSet<usize>,
    /// Whether a thread that reaches an arrival has dropped out of the barrier.
    after_drop: BTreeMap<(usize, usize), bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    New,
    Live,
    Invalid,
}

impl Verdict {
    fn of(body: &[Stmt]) -> Verdict {
        let mut verdict = Verdict::default();
        let inner = if nests(body, 0) { 3 } else { 1 };
        for bits in 0..4 {
            for rounds in (0..4).flat_map(|rounds| (0..inner).map(move |inner| [rounds, inner])) {
                let launch = [bits & 1 != 0, bits & 2 != 0];
                let runs = THREADS.map(|thread| {
                    let mut run = Run { thread, launch, rounds, loops: 0, segments: vec![Segment::new()] };
                    run.block(body, HEAD + 1);
                    run.segments
                });
                (0..BARRIERS).for_each(|barrier| verdict.barrier(&runs, barrier));
            }
        }
        for ((_, line), left) in &verdict.after_drop {
            if *left {
                verdict.faults.insert((Rule::BarrierUseAfterDrop, *line));
            }
        }
        verdict
    }

    fn barrier(&mut self, runs: &[Vec<Segment>; THREADS.len()], barrier: usize) {
        let mut life = Life::New;
        // By thread: what other threads' barriers publish to it is not followed any more.
        let mut open = [false; THREADS.len()];
        let mut left = [false; THREADS.len()];
        for at in 0..runs[0].len() {
            let segments = runs.each_ref().map(|run| &run[at]);
            let changes = |thread: usize| -> Option<Life> {
                let own = segments[thread].iter().filter(|(_, of, _)| *of == barrier);
                let mut lives = own.filter_map(|(.., deed)| match deed {
                    Deed::Init | Deed::InitAll => Some(Life::Live),
                    Deed::Invalidate => Some(Life::Invalid),
                    Deed::Use { .. } => None,
                });
                lives.next_back()
            };
            let does = |thread: usize, what: Deed| {
                segments[thread].iter().any(|(_, of, deed)| *of == barrier && *deed == what)
            };
            let inits = |thread: usize| does(thread, Deed::Init);
            let uses = |thread: usize| {
                let uses = |deed: &Deed| matches!(deed, Deed::Use { .. });
                segments[thread].iter().any(|(_, of, deed)| *of == barrier && uses(deed))
            };
            for thread in 0..THREADS.len() {
                let others = (0..REAL).any(|other| other != thread && inits(other));
                let changed = (0..REAL).any(|other| other != thread && changes(other).is_some());
                let mut own = life;
                let mut own_change = false;
                for (line, of, deed) in segments[thread] {
                    self.reached.insert(*line);
                    if *of != barrier {
                        open[thread] |= matches!(deed, Deed::Use { waits: true, .. }) && changed && !own_change;
                        continue;
                    }
                    let mut fault = |rule, told: bool| {
                        self.faults.insert((rule, *line));
                        if told && thread < REAL {
                            self.told.insert(barrier);
                        }
                    };
                    match deed {
                        Deed::Init | Deed::InitAll => {
                            let again = own == Life::Live;
                            if again {
                                fault(Rule::BarrierReinit, !open[thread] && (own_change || !changed));
                            }
                            if others && *deed == Deed::Init {
                                fault(Rule::BarrierInitNotElected, !again && !open[thread] && !own_change);
                            }
                            own = Life::Live;
                            own_change = true;
                            left[thread] = false;
                        }
                        Deed::Invalidate | Deed::Use { .. } => {
                            if *deed == Deed::Invalidate {
                                if (0..REAL).any(|other| other != thread && does(other, Deed::Invalidate)) {
                                    fault(Rule::BarrierInitNotElected, true);
                                }
                                if (0..REAL).any(|other| other != thread && uses(other)) {
                                    fault(Rule::BarrierUnpublished, false);
                                }
                            }
                            if own != Life::Live {
                                let unknown = others && !own_change;
                                let rule = if unknown { Rule::BarrierUnpublished } else { Rule::BarrierUninitialized };
                                fault(rule, !open[thread]);
                                if own == Life::Invalid && own_change {
                                    fault(Rule::BarrierUnpublished, false);
                                }
                            }
                            if let (Deed::Use { arrives: true, leaves, .. }, true) = (deed, thread < REAL) {
                                *self.after_drop.entry((barrier, *line)).or_default() |= left[thread];
                                left[thread] |= leaves;
                            }
                            if *deed == Deed::Invalidate {
                                own = Life::Invalid;
                                own_change = true;
                            } else if matches!(deed, Deed::Use { waits: true, .. }) {
                                open[thread] |= changed && !own_change;
                            }
                        }
                    }
                }
            }
            if segments
                .iter()
                .any(|segment| segment.iter().any(|(_, of, deed)| *of == barrier && *deed == Deed::InitAll))
            {
                left = [false; THREADS.len()];
            }
            let now: Vec<Life> = (0..REAL).filter_map(changes).collect();
            if let Some(last) = now.first() {
                life = *last;
            }
            // The threads disagree, or one does not know: the state is unknown.
            if now.iter().any(|other| *other != life) {
                open = [true; THREADS.len()];
                self.blurred.insert(barrier);
            }
        }
    }
}

/// The test that decides which threads reach a statement, so that no test of a thread contradicts another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    All,
    Warp,
    Some,
}

struct Generator {
    random: Random,
    left: usize,
}

impl Generator {
    fn block(&mut self, who: Who, most: usize) -> Vec<Stmt> {
        (0..self.random.below(most + 1)).filter_map(|_| self.stmt(who)).collect()
    }

    fn stmt(&mut self, who: Who) -> Option<Stmt> {
        self.left = self.left.checked_sub(1)?;
        let whole = who == Who::All;
        let barrier = self.random.below(BARRIERS);
        let weights = if whole { [2, 2, 1, 3, 4, 1, 5, 5, 1, 2] } else { [5, 0, 2, 3, 2, 1, 0, 2, 1, 2] };
        Some(match self.random.weighted(&weights) {
            0 => Stmt::Init(barrier),
            1 => Stmt::InitAll(barrier),
            2 => Stmt::Invalidate(barrier),
            3 => Stmt::Arrive(barrier),
            4 => Stmt::Meet(barrier),
            5 => Stmt::Leave(barrier),
            6 => Stmt::Sync,
            7 => {
                let launch = Test::Launch(self.random.below(2), self.random.chance(50));
                let tests = match who {
                    Who::All => vec![Test::First, Test::First, Test::Other, Test::Warp, launch, launch],
                    Who::Warp => vec![Test::First, launch],
                    Who::Some => vec![launch],
                };
                let test = self.random.pick(&tests)?;
                let (yes, no) = match test {
                    Test::Launch(..) => (who, who),
                    Test::Warp => (Who::Warp, Who::Some),
                    Test::First | Test::Other => (Who::Some, Who::Some),
                };
                let then = self.block(yes, 3);
                let otherwise = if self.random.chance(40) { self.block(no, 2) } else { Vec::new() };
                Stmt::If(test, then, otherwise)
            }
            8 => Stmt::Repeat(self.block(who, 3)),
            _ => Stmt::Copy(barrier),
        })
    }
}

/// Generates a kernel; half of them begin as right kernels do.
fn kernel(seed: u64) -> Vec<Stmt> {
    let mut generator = Generator { random: Random::new(seed), left: 9 };
    let mut body = Vec::new();
    if seed.is_multiple_of(2) {
        let inits = (0..=generator.random.below(BARRIERS)).map(Stmt::Init).collect();
        body.push(Stmt::If(Test::First, inits, Vec::new()));
        if generator.random.chance(80) {
            body.push(Stmt::Sync);
        }
    }
    body.extend(generator.block(Who::All, 7));
    body
}

/// Returns the lines of statements, with their barriers.
fn barriers(body: &[Stmt]) -> BTreeMap<usize, usize> {
    let text = print(body);
    let is_of = |line: &str, name: &str| {
        line.trim_start_matches("let _ = ").starts_with(&format!("{name}.")) || line.ends_with(&format!("&{name});"))
    };
    let of = |line: &str| ["a", "b"].iter().position(|name| is_of(line, name));
    text.lines().enumerate().filter_map(|(at, line)| Some((at + 1, of(line)?))).collect()
}

const RULES: [Rule; 5] = [
    Rule::BarrierUninitialized,
    Rule::BarrierUnpublished,
    Rule::BarrierInitNotElected,
    Rule::BarrierReinit,
    Rule::BarrierUseAfterDrop,
];

/// Returns the barriers with an unreported fault, and the reports that no run explains.
fn differences(body: &[Stmt]) -> (BTreeSet<usize>, BTreeSet<(Rule, usize)>) {
    let reported = reports(&print(body));
    let verdict = Verdict::of(body);
    let barriers = barriers(body);
    let reported: BTreeSet<(Rule, usize)> = reported.into_iter().filter(|(rule, _)| RULES.contains(rule)).collect();
    let told: BTreeSet<usize> = reported.iter().filter_map(|(_, line)| barriers.get(line).copied()).collect();
    let missed = verdict.told.difference(&told).copied().collect();
    let unexplained = reported.into_iter().filter(|(rule, line)| {
        // Reports about statements that are never executed do not count either.
        let blurred = barriers.get(line).is_some_and(|barrier| verdict.blurred.contains(barrier));
        if blurred || !verdict.reached.contains(line) {
            return false;
        }
        // The order of two threads' statements is unknown.
        let alike = |known: &Rule| {
            let pairs = [
                [Rule::BarrierUninitialized, Rule::BarrierUnpublished],
                [Rule::BarrierInitNotElected, Rule::BarrierReinit],
            ];
            known == rule || pairs.iter().any(|pair| pair.contains(known) && pair.contains(rule))
        };
        !verdict.faults.iter().any(|(known, at)| at == line && alike(known))
    });
    (missed, unexplained.collect())
}

fn agrees(body: &[Stmt]) -> bool {
    let (missed, unexplained) = differences(body);
    missed.is_empty() && unexplained.is_empty()
}

#[test]
fn random_kernels() {
    let (mut faulty, mut different, mut shown) = (0, 0, 0);
    for seed in 0..KERNELS {
        let body = kernel(seed);
        faulty += usize::from(!Verdict::of(&body).told.is_empty());
        if agrees(&body) {
            continue;
        }
        different += 1;
        if shown < 5 {
            shown += 1;
            let least = shrink(body, |body| !agrees(body));
            eprintln!("{}{:?}\n{:?}\n", print(&least), differences(&least), Verdict::of(&least));
        }
    }
    assert_eq!(different, 0, "of {KERNELS}, {faulty} of them faulty");
    assert!((KERNELS as usize / 4..KERNELS as usize * 3 / 4).contains(&faulty), "{faulty}");
}
