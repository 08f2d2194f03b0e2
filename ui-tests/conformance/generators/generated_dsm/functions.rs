//! Programs of several functions: device functions that name the dynamic shared memory, declare arrays, call each other and call
//! closures that they are given, between their barriers. A program is judged as the one kernel that it is when all calls are
//! replaced by what they do; the checks see one function at a time, and join what these leave behind.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use phalanx_compiler::{Fault, Rule};

use super::super::random::Random;
use super::super::shrink::{Nested, shrink};
use super::super::{is_of_traces, session};
use super::judge::judge;
use super::run::Unknown;
use super::tree::{
    Access, Array, Block, Form, Index, Kernel, Kind, LENGTH, Number, Owner, Parity, Place, Rounds, Stmt, THREADS, Test,
};
use super::words;

const PROGRAMS: u64 = 4_000;
/// The percentages of right programs that may be refused: in all, and of those that are right whichever elements they access. A
/// function's summary names no elements.
const REFUSED: usize = 12;
const REFUSED_FOR_NO_ELEMENT: usize = 1;

/// A statement of a function. [`Array::A`] is the dynamic memory, which each function names itself; [`Array::B`] is an array of the
/// kernel, which functions are given; [`Array::Rows`] is an array that function 0 declares.
#[derive(Debug, Clone, PartialEq)]
enum Item {
    Access(Access),
    Sync,
    /// `let t = cluster.barrier_arrive(); .. cluster.barrier_wait(t);`
    Split(Vec<Item>),
    If(Test, Vec<Item>),
    Twice(Vec<Item>),
    /// A call of an earlier function, with a closure if it takes one: one of these statements, or, where there is none, the function's
    /// own.
    Call(usize, Option<Vec<Item>>),
    /// A call of the closure that the function is given.
    Closure,
}

impl Nested for Item {
    fn blocks(&mut self) -> Vec<&mut Vec<Item>> {
        match self {
            Item::Split(body) | Item::If(_, body) | Item::Twice(body) | Item::Call(_, Some(body)) => vec![body],
            Item::Access(_) | Item::Sync | Item::Call(_, None) | Item::Closure => Vec::new(),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Function {
    takes_closure: bool,
    body: Vec<Item>,
}

/// The last function is the kernel.
#[derive(Debug, Clone, PartialEq)]
struct Program {
    functions: Vec<Function>,
}

struct Generator {
    random: Random,
    synced: usize,
    left: usize,
}

fn generate(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let synced = [15, 45, 80][random.below(3)];
    let mut generator = Generator { random, synced, left: 0 };
    let count = 1 + generator.random.below(3);
    let mut functions: Vec<Function> = Vec::new();
    for at in 0..=count {
        generator.left = 3 + generator.random.below(5);
        let is_kernel = at == count;
        let takes_closure = !is_kernel && generator.random.chance(50);
        let mut body = if is_kernel { generator.start() } else { Vec::new() };
        let start = body.len();
        body.extend(generator.block(at, &functions, takes_closure, 0));
        generator.use_all(start, &mut body, &functions, takes_closure, is_kernel);
        if is_kernel && generator.random.chance(85) {
            body.push(Item::Sync);
        }
        functions.push(Function { takes_closure, body });
    }
    Program { functions }
}

impl Generator {
    fn start(&mut self) -> Vec<Item> {
        let own = |array| {
            let place = Place { array, row: Parity::Literal(0), index: Index::Own };
            Item::Access(Access { site: 0, kind: Kind::Write, owner: Owner::Own, named: false, place })
        };
        let mut body = vec![own(Array::A), own(Array::B)];
        if self.random.chance(90) {
            body.push(Item::Sync);
        }
        body
    }

    fn access(&mut self, function: usize, in_kernel: bool) -> Item {
        let kind = [Kind::Read, Kind::Write, Kind::Update, Kind::Atomic][self.random.weighted(&[10, 8, 1, 2])];
        let owner = [Owner::Own, Owner::Next, Owner::Rank(0)][self.random.weighted(&[5, 5, 1])];
        let own_array = if function == 0 && !in_kernel { 6 } else { 0 };
        let array = Array::ALL[self.random.weighted(&[5, 4, own_array])];
        let index = [Index::Own, Index::Other, Index::Literal(3)][self.random.weighted(&[6, 2, 1])];
        let place = Place { array, row: Parity::Literal(0), index };
        Item::Access(Access { site: 0, kind, owner, named: false, place })
    }

    /// Generates the accesses of a closure, which holds no barrier.
    fn closure(&mut self, function: usize) -> Vec<Item> {
        (0..1 + self.random.below(2)).map(|_| self.access(function, true)).collect()
    }

    /// Adds a call of the closure, if there is none, and in a kernel of each function that nobody calls: a fault that never happens is
    /// no fault.
    fn use_all(
        &mut self,
        start: usize,
        body: &mut Vec<Item>,
        earlier: &[Function],
        takes_closure: bool,
        is_kernel: bool,
    ) {
        let mut missing = Vec::new();
        if takes_closure && !has(body, &|item| *item == Item::Closure) {
            missing.push(Item::Closure);
        }
        let calls =
            |items: &[Item], callee| has(items, &|item| matches!(item, Item::Call(called, _) if *called == callee));
        for callee in (0..earlier.len()).filter(|_| is_kernel) {
            if !calls(body, callee) && !earlier.iter().any(|function| calls(&function.body, callee)) {
                let given = earlier[callee].takes_closure.then(|| self.closure(callee));
                missing.push(Item::Call(callee, given));
            }
        }
        for item in missing {
            let at = start + self.random.below(body.len() - start + 1);
            body.insert(at, item);
        }
    }

    fn block(&mut self, function: usize, earlier: &[Function], takes_closure: bool, depth: usize) -> Vec<Item> {
        let mut block = Vec::new();
        let wanted = if depth == 0 { 8 } else { 1 + self.random.below(3) };
        while block.len() < wanted && self.left > 0 {
            self.left -= 1;
            let nested = usize::from(depth < 2);
            let calls = if earlier.is_empty() { 0 } else { 8 };
            let closure = if takes_closure { 3 } else { 0 };
            let item = match self.random.weighted(&[10, 2, 2 * nested, 2 * nested, nested, calls, closure]) {
                0 => self.access(function, false),
                1 => Item::Sync,
                2 => Item::Split((0..1 + self.random.below(2)).map(|_| self.access(function, false)).collect()),
                3 if self.random.chance(50) => Item::If(Test::ThreadRank(0), vec![self.access(function, false)]),
                3 => {
                    let test = Test::Equals(Number::Parameter(0), self.random.below(2) as u32);
                    Item::If(test, self.block(function, earlier, takes_closure, depth + 1))
                }
                4 => Item::Twice(self.block(function, earlier, takes_closure, depth + 1)),
                5 => {
                    let callee = self.random.below(earlier.len());
                    let passes_own = takes_closure && self.random.chance(40);
                    let given = earlier[callee].takes_closure && !passes_own;
                    Item::Call(callee, given.then(|| self.closure(function)))
                }
                _ => Item::Closure,
            };
            block.push(item);
            if self.random.chance(self.synced) {
                block.push(Item::Sync);
            }
        }
        block
    }
}

/// Returns whether there is such an item, also inside of others.
fn has(items: &[Item], is: &dyn Fn(&Item) -> bool) -> bool {
    items.iter().any(|item| is(item) || item.clone().blocks().into_iter().any(|inner| has(inner, is)))
}

impl Program {
    /// Returns whether each call gives the callee a closure if and only if it takes one.
    fn is_whole(&self) -> bool {
        fn fits(program: &Program, function: &Function, items: &[Item]) -> bool {
            items.iter().all(|item| match item {
                Item::Call(callee, given) => {
                    let takes = program.functions[*callee].takes_closure;
                    takes == (given.is_some() || takes && function.takes_closure)
                }
                Item::Closure => function.takes_closure,
                Item::Split(body) | Item::If(_, body) | Item::Twice(body) => fits(program, function, body),
                Item::Access(_) | Item::Sync => true,
            })
        }
        self.functions.iter().all(|function| fits(self, function, &function.body))
    }

    /// Returns the kernel that the program is without functions. The sites are numbered anew.
    fn inlined(&self) -> Kernel {
        let mut labels = 0;
        let kernel = self.functions.last().expect("a kernel");
        Kernel { blocks: 2, body: self.expanded(&kernel.body, None, &mut labels) }
    }

    fn expanded(&self, items: &[Item], closure: Option<&Block>, labels: &mut usize) -> Block {
        let mut block = Block::new();
        for item in items {
            *labels += 1;
            let label = *labels;
            match item {
                Item::Access(access) => block.push(Stmt::Access(Access { site: label, ..*access })),
                Item::Sync => block.push(Stmt::Sync),
                Item::Split(body) => {
                    block.push(Stmt::Split(label, super::tree::Arrival::Full, self.expanded(body, closure, labels)));
                }
                Item::If(test, body) => block.push(Stmt::If(*test, self.expanded(body, closure, labels), None)),
                Item::Twice(body) => {
                    let body = self.expanded(body, closure, labels);
                    block.push(Stmt::Loop(label, Rounds::Literal(2), Form::For, body));
                }
                Item::Call(callee, given) => {
                    let given = given.as_ref().map(|given| self.expanded(given, None, labels));
                    let callee = &self.functions[*callee];
                    block.extend(self.expanded(&callee.body, given.as_ref().or(closure), labels));
                }
                // Each call of a closure is another place in the kernel.
                Item::Closure => block.extend(closure.into_iter().flatten().map(|stmt| {
                    *labels += 1;
                    let Stmt::Access(access) = stmt else { unreachable!("a closure only accesses memory") };
                    Stmt::Access(Access { site: *labels, ..*access })
                })),
            }
        }
        block
    }

    /// Returns the texts of the device functions, and that of the kernel.
    fn texts(&self) -> (Vec<String>, String) {
        let mut texts: Vec<String> = Vec::new();
        for (at, function) in self.functions.iter().enumerate() {
            let mut text = String::new();
            let is_kernel = at + 1 == self.functions.len();
            if is_kernel {
                writeln!(text, "fn kernel(p0: u32) {{\nlet b = shared_array::<u32, {LENGTH}>();").expect("a string");
            } else {
                let closure = if function.takes_closure { ", g: impl Fn(u32)" } else { "" };
                writeln!(text, "fn f{at}(b: &SharedArray<u32, {LENGTH}>, p0: u32{closure}) {{").expect("a string");
            }
            text += "let cluster = this_cluster();\nlet i = this_thread_block().thread_rank();\n";
            text += "let rank = cluster.block_rank();\nlet n = cluster.num_blocks();\nlet mut sum = 0;\n";
            text += "let a = dynamic_shared::<u32>();\n";
            if at == 0 && !is_kernel {
                writeln!(text, "let rows = shared_array::<[u32; {LENGTH}], 2>();").expect("a string");
            }
            self.print(&function.body, is_kernel, &mut text);
            text += "}\n";
            texts.push(text);
        }
        let kernel = texts.pop().expect("a kernel");
        (texts, kernel)
    }

    fn print(&self, items: &[Item], in_kernel: bool, text: &mut String) {
        for item in items {
            match item {
                Item::Access(access) => {
                    let memory = words::memory(access);
                    // A parameter is a reference already, and the dynamic memory a slice.
                    let is_reference = access.place.array == Array::A || access.place.array == Array::B && !in_kernel;
                    let memory = if is_reference { memory.replace("(&", "(") } else { memory };
                    writeln!(text, "{}", words::touch(access, &memory)).expect("a string");
                }
                Item::Sync => *text += "cluster.sync();\n",
                Item::Split(body) => {
                    *text += "let t = cluster.barrier_arrive();\n";
                    self.print(body, in_kernel, text);
                    *text += "cluster.barrier_wait(t);\n";
                }
                Item::If(test, body) => {
                    writeln!(text, "if {} {{", words::test(*test)).expect("a string");
                    self.print(body, in_kernel, text);
                    *text += "}\n";
                }
                Item::Twice(body) => {
                    *text += "for _ in 0..2 {\n";
                    self.print(body, in_kernel, text);
                    *text += "}\n";
                }
                Item::Call(callee, given) => {
                    let memory = if in_kernel { "&b" } else { "b" };
                    write!(text, "f{callee}({memory}, p0").expect("a string");
                    if let Some(given) = given {
                        let mut inside = String::new();
                        self.print(given, in_kernel, &mut inside);
                        write!(text, ", |_k| {{ let mut sum = 0;\n{inside}}}").expect("a string");
                    } else if self.functions[*callee].takes_closure {
                        *text += ", g";
                    }
                    *text += ");\n";
                }
                Item::Closure => *text += "g(i);\n",
            }
        }
    }

    fn faults(&self) -> Vec<Fault> {
        let parse = |text: &String| text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
        let (functions, kernel) = self.texts();
        let options = format!("cluster = 2, block = {THREADS}").parse().expect("options are tokens");
        let faults = session().check_program(functions.iter().map(parse).collect(), (options, parse(&kernel)));
        assert!(faults.iter().all(|fault| fault.rule().requirement().is_some()), "{faults:?}\n{functions:?}\n{kernel}");
        faults
    }

    /// Returns the rules that the program breaks, and those that are reported. What is wrong with a kernel by itself hides what
    /// its calls break: then nothing is compared.
    fn compared(&self) -> (Vec<Rule>, Vec<Rule>) {
        let (of_traces, others): (Vec<Fault>, Vec<Fault>) = self.faults().into_iter().partition(is_of_traces);
        if others.is_empty() && !of_traces.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let broken = judge(&self.inlined(), Unknown::default()).must;
        let broken = broken.into_iter().flat_map(|(_, rules)| rules).collect();
        (broken, others.iter().map(Fault::rule).collect())
    }

    fn is_missed(&self) -> bool {
        let (broken, reported) = self.compared();
        !broken.is_empty() && reported.is_empty()
    }

    /// Returns the smallest program that is missed, too.
    fn least(mut self) -> Program {
        for at in (0..self.functions.len()).rev() {
            let with = |body: &Vec<Item>| {
                let mut smaller = self.clone();
                smaller.functions[at].body.clone_from(body);
                smaller
            };
            let fails = |body: &Vec<Item>| with(body).is_whole() && with(body).is_missed();
            let body = shrink(self.functions[at].body.clone(), fails);
            self.functions[at].body = body;
        }
        self
    }
}

/// The numbers of programs by outcome, and of the right ones that are refused, by rule.
#[derive(Debug, Default)]
struct Count {
    all: u64,
    wrong: usize,
    refused: usize,
    /// The programs that are refused though no element that they access matters, by rule, with one of each.
    for_no_element: BTreeMap<Rule, (usize, u64)>,
}

fn compare(seeds: impl Iterator<Item = u64>) -> Count {
    let mut count = Count::default();
    for seed in seeds {
        let program = generate(seed);
        let (broken, mut reported) = program.compared();
        if !broken.is_empty() && reported.is_empty() {
            let least = program.least();
            let (functions, kernel) = least.texts();
            panic!("{:?} is missed in program {seed}:\n{}{kernel}", least.compared().0, functions.concat());
        }
        count.all += 1;
        count.wrong += usize::from(!broken.is_empty());
        // Another test compares reads of memory that is not written yet.
        reported.retain(|rule| *rule != Rule::UninitSharedRead);
        if broken.is_empty() && !reported.is_empty() {
            count.refused += 1;
            let elements = Unknown { elements: true, ..Unknown::default() };
            let verdict = judge(&program.inlined(), elements);
            if verdict.may.is_empty() {
                reported.iter().for_each(|rule| count.for_no_element.entry(*rule).or_insert((0, seed)).0 += 1);
            }
        }
    }
    let Count { all, wrong, refused, for_no_element } = &count;
    let right = *all as usize - wrong;
    eprintln!(
        "{all} programs: {wrong} wrong, {right} right; {refused} refused for nothing, by no element: {for_no_element:?}"
    );
    let by_no_element: usize = for_no_element.values().map(|(times, _)| times).sum();
    assert!(right * 5 > *all as usize && wrong * 5 > *all as usize, "{count:?}");
    assert!(refused * 100 < right * REFUSED && by_no_element * 100 < right * REFUSED_FOR_NO_ELEMENT, "{count:?}");
    count
}

#[test]
fn random_programs() {
    compare(0..PROGRAMS);
}

/// Shows a program with what is reported: `SEED=7 cargo test -p phalanx-generators -- --ignored one_program --nocapture`.
#[test]
#[ignore = "for reading"]
fn one_program() {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let program = generate(seed);
    let (functions, kernel) = program.texts();
    let faults = program.faults();
    let faults: Vec<_> = faults.iter().map(|fault| (fault.line(), fault.text())).collect();
    eprintln!("{}{kernel}{faults:#?}", functions.concat());
}

/// A long run: `KERNELS=20000 cargo test --release -p phalanx-generators --test generators functions -- --ignored`.
#[test]
#[ignore = "as long as one likes"]
fn more_random_programs() {
    let programs = std::env::var("KERNELS").ok().and_then(|kernels| kernels.parse().ok()).unwrap_or(10 * PROGRAMS);
    compare(0..programs);
}
