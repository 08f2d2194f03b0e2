//! Tests which threads of a block initialize a barrier: conditions over ranks are evaluated thread by thread, for blocks of
//! several shapes. Several threads must be refused. Kernels in which there is one are mostly accepted, and most of those in which
//! a block of the cluster has none are refused: which of them the checks understand is theirs to say.

use std::fmt::Write as _;

use phalanx_compiler::Rule;

use crate::kernel_faults;
use crate::random::Random;
use crate::shrink::{Nested, shrink};

const KERNELS: u64 = 6_000;

/// The blocks' extents; their product is the number of threads.
const SHAPES: [&[u64]; 5] = [&[64], &[8, 8], &[16, 4], &[4, 4, 4], &[33]];

/// The blocks of the cluster.
const BLOCKS: u64 = 2;

/// The values of the parameters `n` and `m`.
const LAUNCHES: [[u64; 2]; 4] = [[0, 0], [2, 1], [5, 33], [40, 3]];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    Rank,
    Lane,
    WarpRank,
    QuadRank,
    QuadOfWarp,
    X,
    Y,
    Z,
    BlockRank,
    ClusterRank,
    N,
    /// A value from memory, which differs between threads.
    Memory,
}

#[derive(Debug, Clone)]
enum Number {
    Value(Value),
    Literal(u64),
    Over(Box<Number>, u64),
    Rest(Box<Number>, u64),
    /// By a power of two.
    Shifted(Box<Number>, u32),
    Masked(Box<Number>, u64),
    Plus(Box<Number>, Box<Number>),
    Times(Box<Number>, u64),
    Cast(Box<Number>, &'static str),
}

#[derive(Debug, Clone)]
enum Test {
    Compare(&'static str, Number, Number),
    Both(Box<Test>, Box<Test>),
    Either(Box<Test>, Box<Test>),
    Not(Box<Test>),
    Launch,
    /// The named truth value of this number.
    Named(usize),
}

#[derive(Debug, Clone)]
enum Stmt {
    Init,
    /// An element of an array.
    InitAt(Number),
    If(Test, Vec<Stmt>, Vec<Stmt>),
    Match(Number, u64, Vec<Stmt>, Vec<Stmt>),
    /// Sets a named truth value.
    Name(usize, Test),
}

impl Nested for Stmt {
    fn blocks(&mut self) -> Vec<&mut Vec<Stmt>> {
        match self {
            Stmt::If(_, then, otherwise) | Stmt::Match(_, _, then, otherwise) => vec![then, otherwise],
            Stmt::Init | Stmt::InitAt(_) | Stmt::Name(..) => Vec::new(),
        }
    }
}

/// The number of named truth values, and of elements of the array.
const NAMES: usize = 2;
const ELEMENTS: u64 = 256;

fn number(number: &Number) -> String {
    let inner = |inner: &Number| format!("({})", self::number(inner));
    match number {
        Number::Value(value) => match value {
            Value::Rank => "block.thread_rank()",
            Value::Lane => "lane",
            Value::WarpRank => "warp.meta_group_rank()",
            Value::QuadRank => "quad.thread_rank()",
            Value::QuadOfWarp => "quad.meta_group_rank()",
            Value::X => "block.thread_index().x",
            Value::Y => "block.thread_index().y",
            Value::Z => "block.thread_index().z",
            Value::BlockRank => "cluster.block_rank()",
            Value::ClusterRank => "cluster.thread_rank()",
            Value::N => "n",
            Value::Memory => "words[block.thread_rank()]",
        }
        .into(),
        Number::Literal(literal) => literal.to_string(),
        Number::Over(of, by) => format!("{} / {by}", inner(of)),
        Number::Rest(of, by) => format!("{} % {by}", inner(of)),
        Number::Shifted(of, by) => format!("{} >> {by}", inner(of)),
        Number::Masked(of, mask) => format!("{} & {mask}", inner(of)),
        Number::Plus(a, b) => format!("{} + {}", inner(a), inner(b)),
        Number::Times(of, by) => format!("{} * {by}", inner(of)),
        Number::Cast(of, ty) => format!("{} as {ty} as u32", inner(of)),
    }
}

fn test(of: &Test) -> String {
    match of {
        Test::Compare(op, a, b) => format!("({}) {op} ({})", number(a), number(b)),
        Test::Both(a, b) => format!("({}) && ({})", test(a), test(b)),
        Test::Either(a, b) => format!("({}) || ({})", test(a), test(b)),
        Test::Not(inner) => format!("!({})", test(inner)),
        Test::Launch => "m > 2".into(),
        Test::Named(name) => format!("b{name}"),
    }
}

fn print(body: &[Stmt]) -> String {
    let mut text = String::from("fn kernel(words: &mut [u32], n: u32, m: u32) {\n");
    text +=
        "let cluster = this_cluster(); let block = this_thread_block(); let warp = tiled_partition::<32>(&block);\n";
    text += "let lane = warp.thread_rank(); let quad = tiled_partition::<4>(&warp); let bar = shared_barrier();\n";
    text += "let bars = shared_barriers::<256>(); let mut b0 = false; let mut b1 = block.thread_rank() == 0;\n";
    print_block(body, &mut text);
    text + "cluster.sync(); bar.arrive_and_wait();\n}\n"
}

fn print_block(body: &[Stmt], out: &mut String) {
    for stmt in body {
        _ = match stmt {
            Stmt::Init => writeln!(out, "bar.init(block.num_threads());"),
            Stmt::InitAt(index) => writeln!(out, "bars[{}].init(64);", number(index)),
            Stmt::Name(name, of) => writeln!(out, "b{name} = {};", test(of)),
            Stmt::If(of, then, otherwise) => {
                _ = writeln!(out, "if {} {{", test(of));
                print_block(then, out);
                _ = writeln!(out, "}} else {{");
                print_block(otherwise, out);
                writeln!(out, "}}")
            }
            Stmt::Match(of, literal, then, otherwise) => {
                _ = writeln!(out, "match {} {{ {literal} => {{", number(of));
                print_block(then, out);
                _ = writeln!(out, "}} _ => {{");
                print_block(otherwise, out);
                writeln!(out, "}} }}")
            }
        };
    }
}

/// One thread of a launch.
struct Thread<'a> {
    shape: &'a [u64],
    block: u64,
    rank: u64,
    launch: [u64; 2],
    names: [bool; NAMES],
    /// How often it initializes the barrier, and the elements of the array that it initializes.
    inits: u64,
    elements: Vec<u64>,
}

impl Thread<'_> {
    fn number(&self, of: &Number) -> u64 {
        let [x, y] = [0, 1].map(|axis| self.shape.get(axis).copied().unwrap_or(1));
        match of {
            Number::Value(value) => match value {
                Value::Rank => self.rank,
                Value::Lane => self.rank % 32,
                Value::WarpRank => self.rank / 32,
                Value::QuadRank => self.rank % 4,
                Value::QuadOfWarp => self.rank % 32 / 4,
                Value::X => self.rank % x,
                Value::Y => self.rank / x % y,
                Value::Z => self.rank / (x * y),
                Value::BlockRank => self.block,
                Value::ClusterRank => self.block * self.shape.iter().product::<u64>() + self.rank,
                Value::N => self.launch[0],
                Value::Memory => (self.rank * 7 + self.launch[1]) % 5,
            },
            Number::Literal(literal) => *literal,
            Number::Over(of, by) => self.number(of) / by,
            Number::Rest(of, by) => self.number(of) % by,
            Number::Shifted(of, by) => self.number(of) >> by,
            Number::Masked(of, mask) => self.number(of) & mask,
            Number::Plus(a, b) => self.number(a) + self.number(b),
            Number::Times(of, by) => self.number(of) * by,
            Number::Cast(of, "u8") => self.number(of) & 0xff,
            Number::Cast(of, _) => self.number(of),
        }
    }

    fn test(&self, of: &Test) -> bool {
        match of {
            Test::Compare(op, a, b) => {
                let (a, b) = (self.number(a), self.number(b));
                match *op {
                    "==" => a == b,
                    "!=" => a != b,
                    "<" => a < b,
                    "<=" => a <= b,
                    ">" => a > b,
                    _ => a >= b,
                }
            }
            Test::Both(a, b) => self.test(a) && self.test(b),
            Test::Either(a, b) => self.test(a) || self.test(b),
            Test::Not(inner) => !self.test(inner),
            Test::Launch => self.launch[1] > 2,
            Test::Named(name) => self.names[*name],
        }
    }

    fn run(&mut self, body: &[Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Init => self.inits += 1,
                Stmt::InitAt(index) => self.elements.push(self.number(index)),
                Stmt::Name(name, of) => self.names[*name] = self.test(of),
                Stmt::If(of, then, otherwise) => self.run(if self.test(of) { then } else { otherwise }),
                Stmt::Match(of, literal, then, otherwise) => {
                    self.run(if self.number(of) == *literal { then } else { otherwise });
                }
            }
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Verdict {
    /// Several threads of some block initialize a barrier, in some launch.
    several: bool,
    /// No thread of some block initializes the barrier that all use, in any launch.
    none: bool,
    /// One thread of each block initializes it, in every launch, and no other barrier is initialized by two.
    one: bool,
}

fn judge(body: &[Stmt], shape: &[u64]) -> Verdict {
    let mut verdict = Verdict { several: false, none: false, one: true };
    let mut initialized = [false; BLOCKS as usize];
    for (launch, block) in LAUNCHES.into_iter().flat_map(|launch| (0..BLOCKS).map(move |block| (launch, block))) {
        let (mut inits, mut elements) = (0, Vec::new());
        for rank in 0..shape.iter().product() {
            let names = [false, rank == 0];
            let mut thread = Thread { shape, block, rank, launch, names, inits: 0, elements: Vec::new() };
            thread.run(body);
            // A thread that initializes a barrier twice breaks another rule.
            inits += thread.inits.min(1);
            thread.elements.sort_unstable();
            thread.elements.dedup();
            elements.append(&mut thread.elements);
        }
        elements.sort_unstable();
        let twice = elements.windows(2).any(|two| two[0] == two[1]);
        // An index out of bounds ends the launch.
        let ends = elements.last().is_some_and(|last| *last >= ELEMENTS);
        verdict.several |= !ends && (inits > 1 || twice);
        verdict.one &= inits == 1 && !twice;
        initialized[usize::try_from(block).expect("there are few")] |= inits > 0;
    }
    verdict.none = initialized.contains(&false);
    verdict
}

fn any_value(random: &mut Random) -> Value {
    use Value::{BlockRank, ClusterRank, Lane, Memory, N, QuadOfWarp, QuadRank, Rank, WarpRank, X, Y, Z};
    [Rank, Lane, WarpRank, X, Y, Z, QuadRank, QuadOfWarp, ClusterRank, BlockRank, N, Memory]
        [random.weighted(&[8, 5, 5, 4, 4, 2, 2, 2, 2, 2, 1, 1])]
}

fn any_number(random: &mut Random, depth: u32) -> Number {
    let inner = |random: &mut Random| Box::new(any_number(random, depth - 1));
    match random.weighted(&[if depth > 0 { 10 } else { 1 }, 2, 2, 1, 1, 1, 1, 1]) {
        _ if depth == 0 => Number::Value(any_value(random)),
        0 => Number::Value(any_value(random)),
        1 => Number::Over(inner(random), [1, 2, 3, 4, 8, 16, 32][random.below(7)]),
        2 => Number::Rest(inner(random), [2, 3, 4, 8, 16, 32, 64][random.below(7)]),
        3 => Number::Shifted(inner(random), [1, 2, 3, 5][random.below(4)]),
        4 => Number::Masked(inner(random), [1, 3, 5, 31, 63][random.below(5)]),
        5 => {
            let by = if random.chance(50) { Number::Literal([1, 3, 32][random.below(3)]) } else { *inner(random) };
            Number::Plus(inner(random), Box::new(by))
        }
        6 => Number::Times(inner(random), [1, 2, 3][random.below(3)]),
        _ => Number::Cast(inner(random), ["u8", "i32", "u64", "usize"][random.below(4)]),
    }
}

fn any_test(random: &mut Random, depth: u32) -> Test {
    let inner = |random: &mut Random| Box::new(any_test(random, depth - 1));
    match random.weighted(&[10, if depth > 0 { 6 } else { 0 }, usize::from(depth > 0), usize::from(depth > 0), 1, 2]) {
        0 => {
            let op = ["==", "!=", "<", "<=", ">", ">="][random.weighted(&[14, 2, 2, 1, 1, 1])];
            let of = any_number(random, 2);
            let with = match random.weighted(&[8, 2, 1]) {
                0 => Number::Literal([0, 1, 2, 31, 32, 63, 64][random.weighted(&[8, 4, 2, 1, 1, 1, 1])]),
                1 => Number::Value(Value::N),
                _ => any_number(random, 1),
            };
            if random.chance(80) { Test::Compare(op, of, with) } else { Test::Compare(op, with, of) }
        }
        1 => Test::Both(inner(random), inner(random)),
        2 => Test::Either(inner(random), inner(random)),
        3 => Test::Not(inner(random)),
        4 => Test::Launch,
        _ => Test::Named(random.below(NAMES)),
    }
}

fn block(random: &mut Random, left: &mut usize, depth: u32) -> Vec<Stmt> {
    let mut body = Vec::new();
    for _ in 0..=random.below(2) {
        let Some(less) = left.checked_sub(1) else { break };
        *left = less;
        let deeper = if depth > 0 { 6 } else { 0 };
        body.push(match random.weighted(&[3, 1, deeper, deeper / 3, 2]) {
            0 => Stmt::Init,
            1 => Stmt::InitAt(any_number(random, 2)),
            2 => {
                let then = block(random, left, depth - 1);
                let otherwise = if random.chance(25) { block(random, left, depth - 1) } else { Vec::new() };
                Stmt::If(any_test(random, 2), then, otherwise)
            }
            3 => {
                let literal = [0, 1, 5][random.below(3)];
                let then = block(random, left, depth - 1);
                Stmt::Match(any_number(random, 1), literal, then, Vec::new())
            }
            _ => Stmt::Name(random.below(NAMES), any_test(random, 2)),
        });
    }
    body
}

/// Generates a kernel: an `init` behind some branches, and more in half of them.
fn kernel(seed: u64) -> (Vec<Stmt>, &'static [u64]) {
    let random = &mut Random::new(seed);
    let shape = SHAPES[random.below(SHAPES.len())];
    let mut body = vec![Stmt::Init];
    for _ in 0..=random.below(3) {
        let (tested, name) = (any_test(random, 1), random.below(NAMES));
        body = match random.below(4) {
            0 => vec![Stmt::Name(name, tested), Stmt::If(Test::Named(name), body, Vec::new())],
            1 => vec![Stmt::If(Test::Not(Box::new(tested)), Vec::new(), body)],
            _ => vec![Stmt::If(tested, body, Vec::new())],
        };
    }
    if random.chance(30) {
        let before = block(random, &mut 4, 2);
        body.splice(0..0, before);
    }
    (body, shape)
}

fn rules(body: &[Stmt], shape: &[u64]) -> Vec<Rule> {
    let shape = shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let faults = kernel_faults(&format!("cluster = 2, block = ({shape})"), &print(body));
    // Blocks that are no whole warps elect as others do, though their launches fail.
    faults.iter().map(|fault| fault.rule()).filter(|rule| *rule != Rule::LaunchLimit).collect()
}

/// Whether several threads initialize a barrier, and no report says so.
fn is_missed(body: &[Stmt], shape: &[u64]) -> bool {
    let about = |rule: &Rule| matches!(rule, Rule::BarrierInitNotElected | Rule::BarrierReinit);
    judge(body, shape).several && !rules(body, shape).iter().any(about)
}

#[test]
fn random_kernels() {
    let (mut missed, mut several) = (0, 0);
    // Right ones, and those accepted; those in which a block has no such thread, and those refused.
    let (mut right, mut accepted, mut none, mut refused) = (0_u32, 0_u32, 0_u32, 0_u32);
    for seed in 0..KERNELS {
        let (body, shape) = kernel(seed);
        let verdict = judge(&body, shape);
        several += u32::from(verdict.several);
        if is_missed(&body, shape) {
            missed += 1;
            if missed < 4 {
                let least = shrink(body.clone(), |body| is_missed(body, shape));
                eprintln!("{shape:?} {}{:?}\n", print(&least), rules(&least, shape));
            }
        }
        if verdict.one {
            right += 1;
            accepted += u32::from(rules(&body, shape).is_empty());
        } else if verdict.none && !verdict.several {
            none += 1;
            refused += u32::from(!rules(&body, shape).is_empty());
        }
    }
    assert_eq!(missed, 0, "of {KERNELS}, {several} of them faulty");
    assert!(accepted * 5 > right * 3, "{accepted} of {right} right kernels are accepted");
    assert!(refused * 5 > none * 4, "{refused} of {none} kernels in which a block has no such thread are refused");
}
