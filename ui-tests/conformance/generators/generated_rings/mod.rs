//! An independent verdict on the rules about rings: kernels with a ring of phase barriers, right ones and ones with mistakes, go through
//! the checks and through the simulator. A ring that is proved shows no fault under any schedule tried, with any number of
//! rounds; a ring that is refused shows one. Rings that are neither are counted. Not compared: which rule a fault breaks.

mod tree;
mod walk;

use std::collections::BTreeMap;
use std::sync::Arc;

use phalanx::{Cause, Schedule, Simulator};
use phalanx_compiler::RingReport;
use tree::Kernel;

use super::random::Random;
use super::session;

/// The number of kernels of the test.
const KERNELS: u64 = 400;

/// The numbers of rounds that are tried last where a fault is known to exist: arrivals that are left over of each round add up.
const MANY_ROUNDS: [u32; 2] = [24, 72];

/// Returns the schedules that a kernel runs under: a few, and many more where a fault is known to exist.
fn simulators(many: bool) -> impl Iterator<Item = Simulator> {
    let schedules = (1..=if many { 150 } else { 3 })
        .flat_map(|seed| [Schedule::Priority { seed, changes: seed as u32 % 4 }, Schedule::Random { seed }]);
    std::iter::once(Simulator::new()).chain(schedules.map(|schedule| Simulator::new().schedule(schedule)))
}

/// Returns a failure of the kernel, with the number of rounds.
fn failure(kernel: &Arc<Kernel>, many: bool) -> Option<(u32, Cause)> {
    let fewest = u32::from(kernel.roles.iter().any(|role| role.more < 0));
    // With fewer rounds, the kernel fails on purpose.
    let asserted = kernel.least.filter(|least| !least.returns).map_or(0, |least| least.rounds);
    let fewest = fewest.max(asserted);
    let last = MANY_ROUNDS.into_iter().filter(|_| many);
    (fewest..=2 * kernel.stages + 4).chain(last).find_map(|rounds| {
        let causes = simulators(many).find_map(|simulator| walk::run(kernel, rounds, simulator));
        causes.map(|cause| (rounds, cause))
    })
}

/// The numbers of kernels by outcome.
#[derive(Debug, Default)]
struct Count {
    proved: usize,
    refused: usize,
    /// Neither proved nor refused, although it is right; although it is wrong.
    open: [usize; 2],
    /// The reasons for that.
    why: BTreeMap<String, usize>,
    disagree: usize,
}

impl Count {
    fn add(&mut self, seed: u64) {
        let mut random = Random::new(seed);
        let mut kernel = Kernel::right(&mut random);
        (0..random.below(3)).for_each(|_| kernel.mutate(&mut random));
        if seed % 2 == 1 {
            kernel.begin_early(&mut random);
        }
        let text = kernel.text();
        let item = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
        let options = format!("block = {}", if kernel.named { "THREADS".into() } else { kernel.block().to_string() });
        let options = options.parse().expect("options are made of tokens");
        // The file's constants have one value each, so that there is one case.
        let report =
            session().rings(&kernel.constants(), options, item).map(|mut cases| cases.pop().map(|case| case.report));
        let report = match report {
            Ok(Some(RingReport::Refused(fault))) => Err(vec![fault]),
            other => other,
        };
        let kernel = Arc::new(kernel);
        let failure = failure(&kernel, false).or_else(|| report.is_err().then(|| self::failure(&kernel, true))?);
        // A proof is about the barriers, and about conflicts in the arrays that it names. It takes writes that may not be made to be made.
        let is_open = |cause: &Cause, arrays: &[String]| match cause {
            Cause::Race(_) => arrays.is_empty(),
            Cause::UninitializedShared { .. } => arrays.is_empty() || kernel.may_not_fill(),
            _ => false,
        };
        match (&report, &failure) {
            (Ok(Some(RingReport::Proved { arrays, .. })), Some((_, cause))) if is_open(cause, arrays) => {
                self.open[1] += 1
            }
            (Ok(Some(RingReport::Proved { .. })), None) => self.proved += 1,
            (Err(_), Some(_)) => self.refused += 1,
            (Ok(Some(RingReport::Open { why, .. })), failure) => {
                self.open[usize::from(failure.is_some())] += 1;
                *self.why.entry(why.clone()).or_default() += 1;
            }
            (Ok(None), None) => self.open[0] += 1,
            _ => {
                self.disagree += 1;
                let said =
                    report.map_err(|faults| faults.iter().map(|fault| fault.text().into()).collect::<Vec<String>>());
                eprintln!("seed {seed}: {said:#?}, and runs show {failure:?}\n{text}");
            }
        }
    }
}

#[test]
fn proved_rings_show_no_fault_and_refused_ones_show_one() {
    let number = |name| std::env::var(name).ok().and_then(|number| number.parse().ok());
    let (first, kernels) = (number("PHALANX_SEED").unwrap_or(0), number("PHALANX_RINGS").unwrap_or(KERNELS));
    let mut count = Count::default();
    (first..first + kernels).for_each(|seed| count.add(seed));
    eprintln!("{kernels} kernels: {count:?}");
    assert_eq!(count.disagree, 0);
    // What is left open must be the exception.
    assert!(count.open.iter().sum::<usize>() * 4 < kernels as usize, "{count:?}");
}
