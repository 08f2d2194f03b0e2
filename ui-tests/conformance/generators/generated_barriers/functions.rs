//! Phase barriers that device functions declare. Functions with a barrier of their own are called by others, by a kernel, twice, in
//! loops and in branches, and a block of threads that stay together executes the program: what one call leaves, the next one
//! finds. The checks see one function at a time.

use std::fmt::Write as _;

use phalanx_compiler::Fault;

use super::super::{is_of_traces, session};
use crate::random::Random;
use crate::shrink::{Nested, shrink};

const PROGRAMS: u64 = 4_000;

/// The threads of a block that execute a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    One,
    All,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Stmt {
    /// What a function does with its own barrier.
    Init(Who),
    InitCollective,
    Meet,
    Invalidate(Who),
    Sync,
    /// A call of an earlier function.
    Call(usize),
    Twice(Vec<Stmt>),
    /// A test of a parameter of the kernel, or of the function, that nothing else tests.
    If(usize, Vec<Stmt>),
}

impl Nested for Stmt {
    fn blocks(&mut self) -> Vec<&mut Vec<Stmt>> {
        match self {
            Stmt::Twice(body) | Stmt::If(_, body) => vec![body],
            Stmt::Init(_) | Stmt::InitCollective | Stmt::Meet | Stmt::Invalidate(_) | Stmt::Sync | Stmt::Call(_) => {
                Vec::new()
            }
        }
    }
}

/// The functions, of which the last one is the kernel. The first ones have barriers and call nothing; the others only call.
type Program = Vec<Vec<Stmt>>;

/// The number of parameters that are tested.
const TESTS: usize = 3;

fn generate(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let leaves = 1 + random.below(2);
    let mut program: Program = (0..leaves).map(|_| leaf(&mut random)).collect();
    let mut tests = 0;
    for _ in 0..1 + random.below(3) {
        let callees = program.len();
        let count = 1 + random.below(3);
        program.push((0..count).map(|_| caller(&mut random, callees, &mut tests, 0)).collect());
    }
    program
}

/// Generates a function with a barrier, half of them as right functions are.
fn leaf(random: &mut Random) -> Vec<Stmt> {
    // Without a barrier of the block, one thread could call the function.
    let mut body = vec![Stmt::Sync];
    if random.chance(50) {
        body.push([Stmt::InitCollective, Stmt::Init(Who::One)][random.below(2)].clone());
        body.extend([Stmt::Sync, Stmt::Meet]);
        if random.chance(50) {
            body.extend([Stmt::Sync, Stmt::Invalidate(Who::One), Stmt::Sync]);
        }
    }
    for _ in 0..random.below(4) {
        let stmt = match random.weighted(&[3, 1, 2, 4, 3, 1, 5]) {
            0 => Stmt::Init(Who::One),
            1 => Stmt::Init(Who::All),
            2 => Stmt::InitCollective,
            3 => Stmt::Meet,
            4 => Stmt::Invalidate(Who::One),
            5 => Stmt::Invalidate(Who::All),
            _ => Stmt::Sync,
        };
        body.insert(1 + random.below(body.len()), stmt);
    }
    body
}

fn caller(random: &mut Random, callees: usize, tests: &mut usize, depth: usize) -> Stmt {
    let nested = usize::from(depth < 2);
    let test = usize::from(*tests < TESTS && depth < 2);
    let inside = |random: &mut Random, tests: &mut usize| {
        (0..1 + random.below(2)).map(|_| caller(random, callees, tests, depth + 1)).collect()
    };
    match random.weighted(&[6, 1, nested, 2 * test]) {
        0 => Stmt::Call(random.below(callees)),
        1 => Stmt::Sync,
        2 => Stmt::Twice(inside(random, tests)),
        _ => {
            *tests += 1;
            let test = *tests - 1;
            Stmt::If(test, inside(random, tests))
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    New,
    Live,
    Invalid,
}

/// The state of one barrier.
#[derive(Debug, Clone, Copy)]
struct Barrier {
    life: Life,
    /// One thread has changed it, and the block has not synchronized since.
    is_changing: bool,
    /// Threads may still be at a wait.
    is_waited_for: bool,
}

struct Run<'p> {
    program: &'p Program,
    tests: usize,
    barriers: Vec<Barrier>,
    is_wrong: bool,
    /// A thread has ended the life of a barrier and begun another one, with no barrier of the block in between: the checks take it for
    /// the first one.
    is_open: bool,
}

impl Run<'_> {
    fn synchronize(&mut self, but: Option<usize>) {
        for (_, barrier) in self.barriers.iter_mut().enumerate().filter(|(at, _)| Some(*at) != but) {
            barrier.is_changing = false;
            barrier.is_waited_for = false;
        }
    }

    fn function(&mut self, function: usize) {
        let program = self.program;
        self.block(function, &program[function]);
    }

    fn block(&mut self, function: usize, body: &[Stmt]) {
        for stmt in body {
            if let Stmt::Sync | Stmt::InitCollective = stmt {
                self.synchronize(None);
            }
            let barrier = self.barriers[function];
            match stmt {
                Stmt::Sync => {}
                Stmt::Call(callee) => self.function(*callee),
                Stmt::Twice(body) => (0..2).for_each(|_| self.block(function, body)),
                Stmt::If(test, body) => {
                    if self.tests >> test & 1 == 1 {
                        self.block(function, body);
                    }
                }
                Stmt::Init(_) | Stmt::InitCollective => {
                    self.is_wrong |= *stmt == Stmt::Init(Who::All) || barrier.life == Life::Live;
                    let is_changing = *stmt != Stmt::InitCollective;
                    self.is_open |= barrier.life == Life::Invalid && barrier.is_changing;
                    self.barriers[function] = Barrier { life: Life::Live, is_changing, is_waited_for: false };
                }
                Stmt::Meet => {
                    self.is_wrong |= barrier.life != Life::Live || barrier.is_changing;
                    // All threads have met.
                    self.synchronize(Some(function));
                    self.barriers[function].is_waited_for = true;
                }
                Stmt::Invalidate(who) => {
                    self.is_wrong |= *who == Who::All || barrier.life != Life::Live || barrier.is_waited_for;
                    self.barriers[function] = Barrier { life: Life::Invalid, is_changing: true, is_waited_for: false };
                }
            }
        }
    }
}

/// Returns whether the program is wrong in some run, and whether a run leaves that open. A function that nobody calls is wrong if a
/// call of it would be.
fn verdict(program: &Program) -> (bool, bool) {
    let new = Barrier { life: Life::New, is_changing: false, is_waited_for: false };
    let runs = (0..program.len()).flat_map(|function| (0..1 << TESTS).map(move |tests| (function, tests)));
    runs.fold((false, false), |(is_wrong, is_open), (function, tests)| {
        let mut run = Run { program, tests, barriers: vec![new; program.len()], is_wrong: false, is_open: false };
        run.function(function);
        (is_wrong | run.is_wrong, is_open | run.is_open)
    })
}

fn texts(program: &Program) -> Vec<String> {
    let tests: String = (0..TESTS).map(|test| format!("p{test}: u32, ")).collect();
    let functions = program.iter().enumerate().map(|(at, body)| {
        let name = if at + 1 == program.len() { "kernel".into() } else { format!("f{at}") };
        let mut text = format!("fn {name}({tests}) {{\nlet block = this_thread_block();\n");
        if has_barrier(body) {
            text += "let bar = shared_barrier();\n";
        }
        print(body, &mut text);
        text + "}\n"
    });
    functions.collect()
}

fn has_barrier(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Init(_) | Stmt::InitCollective | Stmt::Meet | Stmt::Invalidate(_) => true,
        Stmt::Sync | Stmt::Call(_) | Stmt::Twice(_) | Stmt::If(..) => false,
    })
}

fn print(body: &[Stmt], text: &mut String) {
    let by = |who: Who, call: &str| match who {
        Who::One => format!("if block.thread_rank() == 0 {{ {call} }}"),
        Who::All => call.into(),
    };
    for stmt in body {
        let line = match stmt {
            Stmt::Init(who) => by(*who, "bar.init(64);"),
            Stmt::InitCollective => "bar.init_collective(&block, 64);".into(),
            Stmt::Meet => "bar.arrive_and_wait();".into(),
            Stmt::Invalidate(who) => by(*who, "bar.invalidate();"),
            Stmt::Sync => "block.sync();".into(),
            Stmt::Call(callee) => format!("f{callee}(p0, p1, p2);"),
            Stmt::Twice(inside) | Stmt::If(_, inside) => {
                match stmt {
                    Stmt::If(test, _) => writeln!(text, "if p{test} == 1 {{").expect("a string"),
                    _ => *text += "for _ in 0..2 {\n",
                }
                print(inside, text);
                "}".into()
            }
        };
        writeln!(text, "{line}").expect("a string");
    }
}

fn faults(program: &Program) -> Vec<Fault> {
    let parse = |text: &String| text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut texts = texts(program);
    let kernel = texts.pop().expect("a kernel");
    let options = "block = 64".parse().expect("options are tokens");
    let mut faults = session().check_program(texts.iter().map(parse).collect(), (options, parse(&kernel)));
    assert!(faults.iter().all(|fault| fault.rule().requirement().is_some()), "{faults:?}\n{}{kernel}", texts.concat());
    faults.retain(|fault| !is_of_traces(fault));
    faults
}

fn agrees(program: &Program) -> bool {
    let (is_wrong, is_open) = verdict(program);
    is_open || is_wrong != faults(program).is_empty()
}

/// Compares the checks with the runs; shows the smallest program on which they differ.
fn compare(seeds: impl Iterator<Item = u64>) {
    let (mut all, mut wrong) = (0, 0);
    for seed in seeds {
        let mut program = generate(seed);
        all += 1;
        wrong += usize::from(verdict(&program).0);
        if agrees(&program) {
            continue;
        }
        for at in (0..program.len()).rev() {
            let with = |body: &Vec<Stmt>| {
                let mut smaller = program.clone();
                smaller[at].clone_from(body);
                smaller
            };
            program[at] = shrink(program[at].clone(), |body| !agrees(&with(body)));
        }
        let (is_wrong, reported) = (verdict(&program).0, faults(&program));
        panic!("program {seed} is wrong: {is_wrong}, and reported: {reported:?}\n{}", texts(&program).concat());
    }
    eprintln!("{all} programs: {wrong} wrong");
    assert!((all / 5..all * 4 / 5).contains(&wrong), "{wrong} of {all} are wrong");
}

#[test]
fn random_programs() {
    compare(0..PROGRAMS);
}

/// A long run: `KERNELS=20000 cargo test --release -p phalanx-generators --test generators barriers::functions -- --ignored`.
#[test]
#[ignore = "as long as one likes"]
fn more_random_programs() {
    let programs = std::env::var("KERNELS").ok().and_then(|kernels| kernels.parse().ok()).unwrap_or(10 * PROGRAMS);
    compare(0..programs);
}
