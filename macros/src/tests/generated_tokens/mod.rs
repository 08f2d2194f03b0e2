//! An independent verdict on `token_never_waited`, `arrive_while_pending` and `collective_while_pending`: kernels are
//! written at random, an interpreter of the generator's own tree follows every path, and what it finds is compared with
//! what the attribute reports, fault by fault with its line. Not compared: columns, notes and help.

mod flow;
mod generate;
mod interpret;
mod print;
mod shrink;
mod systematic;
mod tree;

use std::collections::BTreeSet;

use interpret::{Options, Verdict, interpret};
use tree::Kernel;

const KERNELS: u64 = 3_000;

/// A rule and a line.
type Faults = BTreeSet<(String, usize)>;

/// What is wrong with a kernel, by the interpreter and by the attribute.
struct Comparison {
    source: String,
    /// Faults on some path.
    real: Faults,
    /// Faults if no test of an `Option` told anything about other variables.
    most: Faults,
    reported: Faults,
}

/// `None` where rustc's move checker refuses the kernel.
fn compare(kernel: &Kernel) -> Option<Comparison> {
    let most = interpret(kernel, Options::Opaque);
    if most.misuse {
        return None;
    }
    let real = interpret(kernel, Options::Known);
    let source = print::print(kernel);
    let lines = |verdict: Verdict| {
        let faults = verdict.faults.into_iter();
        faults.map(|(rule, site)| (rule.name().to_string(), source.lines[&site.id])).collect::<Faults>()
    };
    let (real, most) = (lines(real), lines(most));
    let reported =
        super::faults(&super::expand(&source.text)).into_iter().map(|fault| (fault.rule().to_string(), fault.line));
    let reported = reported.collect();
    Some(Comparison { source: source.text, real, most, reported })
}

impl Comparison {
    /// Every real fault is reported, and nothing else, except that a check which keeps no memory of paths may take two
    /// `Option`s for independent.
    fn agrees(&self) -> bool {
        self.real.is_subset(&self.reported) && self.reported.is_subset(&self.most)
    }

    fn is_foreign(&self) -> bool {
        self.reported.iter().any(|(rule, _)| {
            !["token_never_waited", "arrive_while_pending", "collective_while_pending"].contains(&&**rule)
        })
    }

    /// Nothing was left open.
    fn is_exact(&self) -> bool {
        self.real == self.most
    }
}

#[track_caller]
fn check(kernel: Kernel) -> Option<Comparison> {
    let comparison = compare(&kernel)?;
    if !comparison.agrees() {
        let fails = |kernel: &Kernel| {
            compare(kernel).is_some_and(|comparison| !comparison.agrees() && !comparison.is_foreign())
        };
        let Comparison { source, real, most, reported } = compare(&shrink::shrink(kernel, fails))?;
        panic!("{source}\non some path: {real:?}\nat most: {most:?}\nreported: {reported:?}");
    }
    Some(comparison)
}

#[test]
fn the_checks_agree_with_the_interpreter() {
    let compared: Vec<Comparison> =
        (0..KERNELS).filter_map(|seed| check(generate::kernel(seed, std::env::var("GAPS").is_ok()))).collect();
    let count = |what: &dyn Fn(&Comparison) -> bool| compared.iter().filter(|kernel| what(kernel)).count();
    let (exact, right) = (count(&Comparison::is_exact), count(&|kernel| kernel.real.is_empty()));
    eprintln!("{} kernels, {exact} exact, {right} without fault", compared.len());
    for rule in ["token_never_waited", "arrive_while_pending", "collective_while_pending"] {
        let with = count(&|kernel| kernel.real.iter().any(|(found, _)| found == rule));
        eprintln!("{rule}: {with}");
    }
}

#[test]
fn explore() {
    let Ok(n) = std::env::var("EXPLORE") else { return };
    let mut seen = std::collections::BTreeMap::<String, (usize, String)>::new();
    let (mut kernels, mut exact, mut right, mut misuse) = (0, 0, 0, 0);
    let mut rules = std::collections::BTreeMap::<String, usize>::new();
    let start = std::time::Instant::now();
    for seed in 0..n.parse::<u64>().unwrap() {
        let kernel = generate::kernel(seed, std::env::var("GAPS").is_ok());
        let Some(c) = compare(&kernel) else {
            misuse += 1;
            continue;
        };
        kernels += 1;
        exact += usize::from(c.is_exact());
        right += usize::from(c.real.is_empty());
        for r in c.real.iter().map(|r| r.0.clone()).collect::<BTreeSet<_>>() {
            *rules.entry(r).or_default() += 1;
        }
        if !c.agrees() {
            let fails = |kernel: &Kernel| {
                compare(kernel).is_some_and(|comparison| !comparison.agrees() && !comparison.is_foreign())
            };
            let small = shrink::shrink(kernel, fails);
            let c = compare(&small).unwrap();
            let key: String = c
                .source
                .chars()
                .filter(|c| !c.is_ascii_digit())
                .collect::<String>()
                .replace("block", "cluster")
                .replace("ThreadBlock", "Cluster");
            let text =
                format!("seed {seed}\n{}real {:?}\nmost {:?}\nreported {:?}\n", c.source, c.real, c.most, c.reported);
            seen.entry(key).or_insert((0, text)).0 += 1;
        }
    }
    let mut all: Vec<_> = seen.into_values().collect();
    all.sort_by_key(|x| std::cmp::Reverse(x.0));
    for (count, text) in all.iter().take(40) {
        println!("=== {count} times\n{text}");
    }
    println!(
        "{kernels} kernels {misuse} misuse {exact} exact {right} right {rules:?} {:?} distinct {}",
        start.elapsed(),
        all.len()
    );
}

#[test]
fn every_attacker_and_detector() {
    let start = std::time::Instant::now();
    let kernels: Vec<Comparison> = systematic::kernels().filter_map(check).collect();
    let right = kernels.iter().filter(|kernel| kernel.real.is_empty()).count();
    eprintln!("{} of {} {right} right {:?}", kernels.len(), systematic::kernels().count(), start.elapsed());
}
