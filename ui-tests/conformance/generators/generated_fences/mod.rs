//! An independent verdict on the fences that are inferred: random kernels of the generator's own language run in the simulator, whose
//! race detection models each fence. A kernel that has no race with full fences has none with those that the compiler chose. The
//! judge knows nothing of the inference. That the chosen fences are needed is counted: with each of them one step weaker, most kernels
//! race. Not here: device functions, phase barriers and copies, whose fences are full.

mod generate;
mod run;
mod tree;

use phalanx::{Cause, Fence, Schedule, Simulator};
use tree::Kernel;

use super::session;
use super::shrink::shrink;

const KERNELS: u64 = 6_000;

/// Returns the fences that the compiler chose for the kernel's arrivals, or nothing if it refuses the kernel.
fn inferred(kernel: &Kernel) -> Option<Vec<Fence>> {
    let item = kernel.print().parse().expect("a kernel is made of tokens");
    let options = format!("cluster = {}, block = {}", tree::BLOCKS, tree::THREADS);
    let chosen = session().fences(options.parse().expect("options are made of tokens"), item).ok()?;
    Some(chosen.into_iter().filter(|chosen| !chosen.waits).map(|chosen| chosen.fence).collect())
}

fn simulators() -> [Simulator; 2] {
    [Simulator::new(), Simulator::new().schedule(Schedule::Random { seed: 3 })]
}

/// Returns the fault that the kernel shows with these fences.
fn fault(kernel: &Kernel, fences: &[Fence], weaker: bool) -> Option<Cause> {
    let run = |simulator: Simulator, parameter| run::run(kernel, fences, parameter, simulator.weaker_fences(weaker));
    simulators().into_iter().find_map(|simulator| (0..2).find_map(|parameter| run(simulator.clone(), parameter)))
}

/// The comparison of the inferred fences with the runs of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// The compiler refuses the kernel, or it has a fault with full fences.
    Wrong,
    /// It is right with the inferred fences.
    Right,
    TooWeak,
}

fn judge(kernel: &Kernel) -> (Verdict, Vec<Fence>) {
    let Some(fences) = inferred(kernel) else { return (Verdict::Wrong, Vec::new()) };
    assert_eq!(fences.len(), kernel.arrivals, "{}", kernel.print());
    if fault(kernel, &vec![Fence::Full; kernel.arrivals], false).is_some() {
        return (Verdict::Wrong, fences);
    }
    let verdict = if fault(kernel, &fences, false).is_some() { Verdict::TooWeak } else { Verdict::Right };
    (verdict, fences)
}

#[test]
fn the_inferred_fences_suffice() {
    let (mut right, mut weak, mut needed) = (0, 0, 0);
    for seed in 0..KERNELS {
        let kernel = generate::kernel(seed);
        let (verdict, fences) = judge(&kernel);
        match verdict {
            Verdict::Wrong => continue,
            Verdict::Right => right += 1,
            Verdict::TooWeak => {
                let least = shrink(kernel.body, |body| judge(&Kernel::new(body.clone())).0 == Verdict::TooWeak);
                let least = Kernel::new(least);
                let fault = fault(&least, &judge(&least).1, false).map(|cause| cause.to_string());
                panic!("{}\n{:?}\n{}", least.print(), judge(&least).1, fault.unwrap_or_default());
            }
        }
        if fences.iter().any(|fence| *fence != Fence::Full) {
            weak += 1;
        }
        if fault(&kernel, &fences, true).is_some() {
            needed += 1;
        }
    }
    eprintln!(
        "{KERNELS} kernels: {right} right, {weak} of them with a fence that is not full, {needed} race with weaker ones"
    );
    assert!(right * 4 > KERNELS && weak * 3 > right && needed * 3 > right);
}
