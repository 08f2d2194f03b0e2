//! Moves some statements of generated kernels into a device function: rustc then combines from two functions what the
//! checks see whole in one. The kernels are written as a crate, which `cargo xtask agree` compiles; each kernel says
//! whether the simulator finds it right.

use std::fmt::Write as _;
use std::path::Path;

use super::super::generated_dsm::tree::{Jump, Label};
use super::super::random::Random;
use super::print::{Part, print_outlined};
use super::*;

/// The variables that name the crate's folder and the number of kernels.
const FOLDER: &str = "OUTLINED_FOLDER";
const COUNT: &str = "OUTLINED_KERNELS";

/// Returns whether only a run reveals the fault across two functions: which memory was written, and which ranks exist.
fn is_told(shown: Shown) -> bool {
    !matches!(shown, Shown::Unwritten | Shown::Open | Shown::NoSuchRank)
}

/// Returns whether a function of its own can hold the statement: it does not jump out, needs no token in a variable,
/// forgets none, and leaves no variable but `cur` changed.
fn stands_alone(stmt: &Stmt, loops: &mut Vec<Label>) -> bool {
    let here = match stmt {
        // Only a kernel forgets.
        Stmt::Arms(_, _, _, arms) => arms.iter().all(|(_, ending)| *ending != Ending::Forget),
        Stmt::Put(_) | Stmt::Take(_) | Stmt::Set(_) | Stmt::Jump(Jump::Return) => false,
        Stmt::Jump(Jump::Break(label) | Jump::Continue(label)) => loops.contains(label),
        _ => true,
    };
    let depth = loops.len();
    if let Stmt::Loop(label, ..) = stmt {
        loops.push(*label);
    }
    let inside = stmt.clone().blocks().into_iter().flatten().all(|inner| stands_alone(inner, loops));
    loops.truncate(depth);
    here && inside
}

/// Collects up to four statements of a block, or of one inside of it.
fn parts(block: &mut Block, all: &mut Vec<Part>) {
    let does = |stmt: &Stmt| !matches!(stmt, Stmt::Flip | Stmt::Choose(_));
    let stands = |stmt: &Stmt| !matches!(stmt, Stmt::Let(..)) && stands_alone(stmt, &mut Vec::new());
    let is_whole = |run: &[Stmt]| run.iter().any(does) && run.iter().all(stands);
    let runs = (1..=4).flat_map(|count| block.windows(count)).filter(|run| is_whole(run));
    all.extend(runs.map(|run| Part { first: &run[0], count: run.len() }));
    block.iter_mut().flat_map(Stmt::blocks).for_each(|inner| parts(inner, all));
}

#[test]
#[ignore = "`cargo xtask agree` compiles what it writes"]
fn outlined() {
    let folder = std::env::var(FOLDER).expect("a folder");
    let count: u64 = std::env::var(COUNT).ok().and_then(|count| count.parse().ok()).expect("a number of kernels");
    let mut text = String::from("#![allow(warnings)]\nuse phalanx::prelude::*;\n");
    for seed in 0..count {
        let mut kernel = generate::either(seed);
        let mut all = Vec::new();
        parts(&mut kernel.body, &mut all);
        let Some(part) = Random::new(seed).pick(&all) else { continue };
        let source = print_outlined(&kernel, part, "part");
        let is_wrong = shown(&Arc::new(kernel), is_told).into_iter().any(is_told);
        let verdict = if is_wrong { "wrong" } else { "right" };
        write!(text, "mod {verdict}_{seed} {{\nuse super::*;\n{source}}}\n").expect("a string takes all");
    }
    std::fs::write(Path::new(&folder).join("lib.rs"), text).expect("the folder takes files");
}
