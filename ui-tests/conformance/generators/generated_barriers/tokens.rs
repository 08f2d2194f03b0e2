//! Tests the age of tokens on every path, for every moment at which the phases may end that the thread does not know
//! of.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use phalanx_compiler::Rule;

use super::reports;
use crate::random::Random;
use crate::shrink::{Nested, shrink};

const KERNELS: u64 = 3_000;

const TOKENS: usize = 2;

#[derive(Debug, Clone)]
enum Stmt {
    /// Arrives at one of the barriers, into one of the variables.
    Arrive(usize),
    /// Waits with one of the tokens.
    Wait(usize),
    /// Polls one of the tokens until its phase completes.
    Spin(usize),
    Meet,
    Other,
    If(Vec<Stmt>, Vec<Stmt>),
    Repeat(Vec<Stmt>),
}

impl Nested for Stmt {
    fn blocks(&mut self) -> Vec<&mut Vec<Stmt>> {
        match self {
            Stmt::If(then, otherwise) => vec![then, otherwise],
            Stmt::Repeat(body) => vec![body],
            _ => Vec::new(),
        }
    }
}

/// The number of lines before the first statement.
const HEAD: usize = 3;

fn print(body: &[Stmt]) -> String {
    let mut text = String::from(
        "fn kernel(n: u32, m: u32) {\nlet block = this_thread_block(); let bars = shared_barriers::<2>(); bars.init_collective(&block, n);\n",
    );
    text += "let mut t0 = bars[0].arrive_n(m); let mut t1 = bars[0].arrive_n(m);\n";
    print_block(body, &mut text);
    text + "}\n"
}

fn print_block(body: &[Stmt], out: &mut String) {
    for stmt in body {
        _ = match stmt {
            Stmt::Arrive(token) => writeln!(out, "t{token} = bars[0].arrive_n(m);"),
            Stmt::Wait(token) => writeln!(out, "bars[0].wait(t{token});"),
            Stmt::Spin(token) => writeln!(out, "while !bars[0].try_wait(&t{token}) {{}}"),
            Stmt::Meet => writeln!(out, "bars[0].arrive_and_wait();"),
            Stmt::Other => writeln!(out, "bars[1].arrive_and_wait();"),
            Stmt::If(then, otherwise) => {
                // Each condition is one of its own, so that none decides about another.
                let number = out.len();
                _ = writeln!(out, "if n > m + {number} {{");
                print_block(then, out);
                _ = writeln!(out, "}} else {{");
                print_block(otherwise, out);
                writeln!(out, "}}")
            }
            Stmt::Repeat(body) => {
                _ = writeln!(out, "for _ in 0..n {{");
                print_block(body, out);
                writeln!(out, "}}")
            }
        };
    }
}

/// All worlds that are possible on one path.
type Way = BTreeSet<World>;

/// The current phase, and those of the tokens, relative to the oldest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct World {
    phase: u8,
    tokens: [u8; TOKENS],
}

struct Ways {
    stale: BTreeSet<usize>,
}

impl Ways {
    /// Returns the paths after a block, and the line after it.
    fn block(&mut self, mut ways: BTreeSet<Way>, body: &[Stmt], mut line: usize) -> (BTreeSet<Way>, usize) {
        for stmt in body {
            let at = line;
            line += 1;
            ways = match stmt {
                Stmt::Arrive(token) => each(ways, |world| world.tokens[*token] = world.phase),
                Stmt::Wait(token) | Stmt::Spin(token) => {
                    let is_stale = |way: &Way| way.iter().all(|world| world.phase >= world.tokens[*token] + 2);
                    if ways.iter().any(is_stale) {
                        self.stale.insert(at);
                    }
                    each(ways, |world| world.phase = world.phase.max(world.tokens[*token] + 1))
                }
                Stmt::Meet => each(ways, |world| world.phase += 1),
                Stmt::Other => ways,
                Stmt::If(then, otherwise) => {
                    let (mut after, middle) = self.block(ways.clone(), then, line);
                    let (other, end) = self.block(ways, otherwise, middle + 1);
                    after.extend(other);
                    line = end + 1;
                    after
                }
                Stmt::Repeat(body) => {
                    let mut all = ways;
                    loop {
                        let (after, end) = self.block(all.clone(), body, line);
                        let before = all.len();
                        all.extend(after);
                        if all.len() == before {
                            line = end + 1;
                            break all;
                        }
                    }
                }
            };
        }
        (ways, line)
    }
}

/// Applies a step to each world, where unobserved phases may have ended before it.
fn each(ways: BTreeSet<Way>, change: impl Fn(&mut World)) -> BTreeSet<Way> {
    let changed = |world: &World, more: u8| {
        let mut world = world.clone();
        world.phase += more;
        change(&mut world);
        // Phases more than three apart count as three apart.
        let mut points = [world.phase, world.tokens[0], world.tokens[1]];
        points.sort_unstable();
        let nearer = |of: u8| points.windows(2).filter(|two| two[1] <= of).map(|two| (two[1] - two[0]).min(3)).sum();
        World { phase: nearer(world.phase), tokens: world.tokens.map(nearer) }
    };
    let ways =
        ways.iter().map(|way| way.iter().flat_map(|world| (0..3).map(move |more| changed(world, more))).collect());
    ways.collect()
}

fn stale(body: &[Stmt]) -> BTreeSet<usize> {
    let mut ways = Ways { stale: BTreeSet::new() };
    let start = (0..3).map(|between| World { phase: between, tokens: [0, between] }).collect();
    ways.block(BTreeSet::from([start]), body, HEAD + 1);
    ways.stale
}

fn block(random: &mut Random, left: &mut usize, most: usize) -> Vec<Stmt> {
    let mut body = Vec::new();
    for _ in 0..random.below(most + 1) {
        let Some(less) = left.checked_sub(1) else { break };
        *left = less;
        let token = random.below(TOKENS);
        body.push(match random.weighted(&[4, 4, 2, 4, 1, 2, 2]) {
            0 => Stmt::Arrive(token),
            1 => Stmt::Wait(token),
            2 => Stmt::Spin(token),
            3 => Stmt::Meet,
            4 => Stmt::Other,
            5 => Stmt::If(block(random, left, 3), block(random, left, 2)),
            _ => Stmt::Repeat(block(random, left, 3)),
        });
    }
    body
}

fn kernel(seed: u64) -> Vec<Stmt> {
    block(&mut Random::new(seed), &mut 9, 8)
}

/// Returns the lines that are reported and not stale on any path, and vice versa.
fn differences(body: &[Stmt]) -> (Vec<usize>, Vec<usize>) {
    let reported = reports(&print(body)).into_iter().filter(|(rule, _)| *rule == Rule::BarrierStaleToken);
    let reported: BTreeSet<usize> = reported.map(|(_, line)| line).collect();
    let stale = stale(body);
    (reported.difference(&stale).copied().collect(), stale.difference(&reported).copied().collect())
}

#[test]
fn random_kernels() {
    let (mut faulty, mut different) = (0, 0);
    for seed in 0..KERNELS {
        let body = kernel(seed);
        faulty += usize::from(!stale(&body).is_empty());
        if differences(&body) == (Vec::new(), Vec::new()) {
            continue;
        }
        different += 1;
        if different < 6 {
            let least = shrink(body, |body| differences(body) != (Vec::new(), Vec::new()));
            eprintln!("{}false, missed: {:?}\n", print(&least), differences(&least));
        }
    }
    assert_eq!(different, 0, "of {KERNELS}, {faulty} of them faulty");
    assert!((KERNELS as usize / 5..KERNELS as usize * 4 / 5).contains(&faulty), "{faulty}");
}
