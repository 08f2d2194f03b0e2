//! The rings of a kernel: its skeleton is extracted from the graph, and `rings` checks it for all trip counts.
//!
//! A proof is one for all arguments: the skeleton allows every run of the kernel. A fault is reported only if it is a fault of the
//! kernel for certain small arguments, whose skeleton allows no other run. What is neither stays with the simulator.
//!
//! Named constants have the values that definitions in the file show, or several are tried: each is a case, and rustc reports the fault
//! of a case whose values the constants have.
//!
//! `pipelines` has the methods of `Pipeline`, `constants`, `reader` and `symbol` have values that the text does not say, `value` the values of nodes, `handed`, `queues` and `published` those that a thread hands out,
//! `given` and `launch` those of a certain launch, `unequal` launches whose numbers differ, `data` the branches on what is copied in one, `ahead` and `settled` the branches on later decisions, `turns`, `compared` and `same_turns` those about what is published, `preconditions` what has to hold of it, `objects` the barriers and slots, `walk` and
//! `calls` a thread's steps, `skipped` and `raised` what they pass over, `arms` what is there, `reached` what their ranks exclude, `classes` the threads with the same ones, `ranks` those that cannot differ, `warps` and `lanes` the actors, `assemble` the roles,
//! `quiet` the calls that concern no other thread, `staged` the rows that bulk copies or products read and threads write again, `multiplied` those of products, `prove` looks for a proof, `find` for a fault, `report` has the faults as messages.

mod accesses;
mod ahead;
mod arms;
mod arrays;
mod assemble;
mod calls;
mod certain;
mod classes;
mod compared;
pub(super) mod constants;
mod copies;
mod counters;
mod data;
mod decision;
mod elements;
mod find;
mod flat;
mod gathered;
mod given;
mod handed;
mod kernel;
mod lanes;
mod last_token;
mod launch;
mod leaders;
mod least;
mod lengths;
mod listed;
mod long_loops;
mod loops;
mod meet;
mod mend;
mod multiplied;
mod objects;
mod options;
mod out;
mod part;
mod parts;
mod pipelines;
mod polls;
mod preconditions;
mod prove;
mod published;
mod queues;
mod quiet;
mod races;
mod raised;
mod ranks;
mod reached;
mod reader;
mod refusal;
mod report;
mod same_arms;
mod same_turns;
mod settled;
mod skipped;
mod slots;
mod staged;
mod steps;
mod symbol;
mod tested;
mod turns;
mod unequal;
mod unmet;
mod unread;
mod value;
mod walk;
mod warps;

use classes::Classes;
pub(crate) use constants::Assumed;
pub(crate) use constants::Constants;
pub(super) use constants::{array, count_of_literals, inner};
use find::{Sought, find, find_staged};
use kernel::Kernel;
pub(crate) use kernel::Refusal;
use kernel::array_of;
use objects::Objects;
use prove::{prove_by_tests, prove_by_turns, prove_long_loops};

use std::collections::{BTreeMap, BTreeSet};

use super::cfg::{Cfg, CopyStep, Shared, StepKind};
use super::uniform::values::Values;
use crate::diag::{Diag, Diags};
use crate::messages::rings as messages;
use crate::model::{Function, Role};
use crate::rules::Rule;
use crate::span::SpanRange;

/// The largest number of states of one check.
const STATES: usize = 20_000;

/// The largest number of states of all checks with values that are only tried.
const STATES_OF_TRIED: usize = 2_000;

/// The largest number of cases.
const CASES: usize = 8;

/// What is known of a kernel's rings, case by case. There are none if the kernel has no phase barrier.
#[derive(Debug, Default)]
pub(crate) struct Rings {
    pub(crate) cases: Vec<Case>,
    /// The phase barriers that the kernel uses, and arrays of them, by their names and where they are declared.
    pub(crate) barriers: Vec<(String, SpanRange)>,
    /// Whether more may be known with the lengths of local arrays that the text does not show.
    pub(crate) asks_lengths: bool,
}

/// What is known of a kernel's rings if constants have certain values.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) assumed: Vec<Assumed>,
    pub(crate) known: Known,
}

/// What is known of a kernel's rings.
#[derive(Debug)]
pub(crate) enum Known {
    /// No run of the kernel has a fault at these barriers, or in the accesses of these arrays, which are those of `slots`, by their
    /// index in `Function::shared`. Of others that were followed, if any is `left_out`, nothing is known.
    Proved { barriers: Vec<String>, arrays: Vec<String>, slots: BTreeSet<usize>, states: usize, left_out: bool },
    /// There is a fault. It is here if rustc has to report it, where the constants have the values.
    Faulty(Option<Box<Diag>>),
    /// There is neither a proof nor a fault.
    Open(Refusal),
}

impl Case {
    /// Whether functions that are called are taken to concern no other thread.
    pub(crate) fn takes_for_quiet(&self) -> bool {
        self.assumed.iter().any(|assumed| matches!(assumed, Assumed::Quiet { .. }))
    }

    /// The constants with the values that they are taken to have.
    pub(crate) fn values(&self) -> Vec<(String, i64)> {
        let value = |assumed: &Assumed| match assumed {
            Assumed::Constant(constant, value) => {
                let path = constant.to_string().replace(' ', "");
                Some((path.trim_start_matches("::core::mem::").to_string(), *value))
            }
            Assumed::Pipeline(_) | Assumed::Quiet { .. } => None,
        };
        self.assumed.iter().filter_map(value).collect()
    }
}

impl Rings {
    /// The rings of a function that has these faults, whatever values its constants have.
    pub(crate) fn faulty(faults: impl Iterator<Item = Diag>) -> Rings {
        let case = |fault| Case { assumed: Vec::new(), known: Known::Faulty(Some(Box::new(fault))) };
        let cases = faults.filter(|fault| Rule::OF_RINGS.contains(&fault.rule)).map(case).collect();
        Rings { cases, barriers: Vec::new(), asks_lengths: false }
    }

    /// The arrays whose accesses the rings order, whatever values constants have.
    pub(super) fn ordered(&self, cfg: &Cfg<'_>) -> BTreeSet<usize> {
        let [Case { assumed, known: Known::Proved { slots, .. } }] = &self.cases[..] else { return BTreeSet::new() };
        if !assumed.is_empty() {
            return BTreeSet::new();
        }
        // What copies write is in another proxy, and rules of their own ask for its order.
        let of_copies = cfg.copies.iter().flat_map(|copy| match copy {
            CopyStep::Begin { reads, writes, .. } => reads.iter().chain(writes).collect(),
            CopyStep::Wait { .. } => Vec::new(),
        });
        let completed = cfg.accesses.iter().filter(|access| access.completion.is_some());
        let copied: BTreeSet<usize> =
            of_copies.chain(completed.map(|access| &access.region)).filter_map(array_of).collect();
        slots.difference(&copied).copied().collect()
    }

    /// The faults that do not depend on values of constants.
    pub(crate) fn faults(&self) -> impl Iterator<Item = &Diag> {
        self.cases.iter().filter(|case| case.assumed.is_empty()).filter_map(|case| match &case.known {
            Known::Faulty(fault) => fault.as_deref(),
            Known::Proved { .. } | Known::Open(_) => None,
        })
    }

    /// Whether there is neither a proof nor a fault for some values of constants, or for some array.
    pub(crate) fn are_open(&self) -> bool {
        let is_open = |case: &Case| match &case.known {
            Known::Open(_) => true,
            Known::Proved { left_out, .. } => *left_out,
            // A function that is not as it is taken to be may leave the kernel with another fault.
            Known::Faulty(_) => case.takes_for_quiet(),
        };
        self.cases.iter().any(is_open)
    }

    /// Forgets such faults, of those that are left to rustc, each given by its rule and its place; says whether there were any.
    pub(super) fn waive(&mut self, waived: impl Fn(Rule, SpanRange) -> bool) -> bool {
        let mut any = false;
        for case in &mut self.cases {
            if let Known::Faulty(fault) = &mut case.known {
                any |= fault.take_if(|fault| waived(fault.rule, fault.at)).is_some();
            }
        }
        any
    }
}

/// Checks the rings of a kernel, and reports a fault.
pub(super) fn check<'f>(function: &'f Function, cfg: &Cfg<'f>, values: &Values<'_, 'f>, diags: &mut Diags) -> Rings {
    let uses = |step: &super::cfg::Step| match step.kind {
        StepKind::BarrierCall(call) => !cfg.barrier_calls[call.0].method.action.begins(),
        StepKind::Call(call) => !cfg.calls[call.0].barriers.is_empty(),
        StepKind::Value(_) | StepKind::Memory(_) | StepKind::Group(_) | StepKind::Token(_) | StepKind::Copy(_) => false,
    };
    let mut rings = Rings::default();
    if function.role != Role::Kernel || !cfg.blocks.iter().flat_map(|block| &block.steps).any(uses) {
        return rings;
    }
    rings.barriers = barriers(function, cfg);
    rings.asks_lengths = lengths::matter(cfg);
    let mut open = vec![BTreeMap::new()];
    let mut left = STATES_OF_TRIED;
    while let Some(tried) = open.pop()
        && rings.cases.len() < CASES
    {
        let limit = if tried.is_empty() { STATES } else { left };
        let constants = Constants::new(function, tried);
        let mut assumed = Vec::new();
        let mut unstored = Vec::new();
        let known =
            judge(function, cfg, values, (&constants, &mut assumed, &mut unstored), limit).unwrap_or_else(Known::Open);
        assumed.extend(constants.assumed());
        if let Known::Open(_) = known {
            let others = constants.alternatives();
            if !others.is_empty() {
                open.extend(others.into_iter().rev());
                continue;
            }
            // It is not for want of a value: others are left open, too.
            open.clear();
            if limit < STATES && !rings.cases.is_empty() {
                continue;
            }
        }
        left = left.saturating_sub(match known {
            Known::Proved { states, .. } => states,
            // It was searched several times.
            Known::Faulty(_) => STATES_OF_TRIED / CASES,
            Known::Open(_) => 0,
        });
        rings.cases.push(Case { assumed, known });
        rings.cases.extend(of_stores(function, cfg, values, unstored));
    }
    for case in &mut rings.cases {
        let values = case.values();
        if let Known::Faulty(fault) = &mut case.known {
            let reported = fault.take_if(|fault| case.assumed.is_empty() || !diags.reports(fault.rule));
            reported.into_iter().for_each(|fault| diags.push(*fault));
            *fault = fault.take().map(|fault| Box::new(messages::for_values(*fault, &values)));
        }
    }
    rings
}

/// The phase barriers that a kernel uses, in the order of their declarations.
fn barriers(function: &Function, cfg: &Cfg<'_>) -> Vec<(String, SpanRange)> {
    let of_calls = cfg.calls.iter().flat_map(|call| call.barriers.iter().map(|(_, region)| region));
    let used = cfg.barrier_calls.iter().map(|call| &call.region).chain(of_calls);
    let used: BTreeSet<usize> = used.filter_map(array_of).collect();
    let named = used.into_iter().filter_map(|array| cfg.name_of(function, Shared::Array(array)));
    let mut named: Vec<_> = named.map(|name| (name.to_string(), SpanRange::at(name.span()))).collect();
    named.sort_by_key(|(_, at)| (at.line(), at.column()));
    named
}

/// Values that are tried for constants, by their names.
type Tried = BTreeMap<String, i64>;

/// Looks for rows that are stored too early where a proof does not depend on constants, but what is stored does, for these values and those
/// that they lead to.
fn of_stores<'f>(function: &'f Function, cfg: &Cfg<'f>, values: &Values<'_, 'f>, mut open: Vec<Tried>) -> Vec<Case> {
    let mut cases = Vec::new();
    for _ in 0..CASES {
        let Some(tried) = open.pop() else { break };
        let constants = Constants::new(function, tried);
        let Ok(kernel) = followed(function, cfg, values, &constants) else { continue };
        let Ok(objects) = Objects::of(&kernel) else { continue };
        let objects = elements::split(&kernel, objects);
        match find_staged(&kernel, &objects, &Classes::of(&kernel, &objects), &BTreeSet::new()) {
            Some(fault) => {
                let assumed = [constants.assumed(), kernel.of_quiet_calls()].concat();
                cases.push(Case { assumed, known: Known::Faulty(Some(Box::new(fault))) });
            }
            None => open.extend(constants.alternatives_but_sizes()),
        }
    }
    cases
}

/// Returns a kernel whose number of threads and blocks is known.
fn followed<'c, 'f>(
    function: &'f Function,
    cfg: &'c Cfg<'f>,
    values: &'c Values<'_, 'f>,
    constants: &'c Constants<'f>,
) -> Result<Kernel<'c, 'f>, Refusal> {
    let refuse = |why: &str| Refusal::new(SpanRange::at(function.name.span()), why);
    let block = function.options.block.as_ref().and_then(|block| constants.count(block));
    let threads =
        block.ok_or_else(|| refuse("the number of threads in a block is not known where the kernel is compiled"))?;
    let blocks = match &function.options.cluster {
        Some(cluster) => constants
            .count(cluster)
            .ok_or_else(|| refuse("the number of blocks in a cluster is not known where the kernel is compiled"))?,
        None => 1,
    };
    Ok(Kernel::new(function, cfg, values, constants, (threads, blocks)))
}

fn judge<'f>(
    function: &'f Function,
    cfg: &Cfg<'f>,
    values: &Values<'_, 'f>,
    (constants, assumed, unstored): (&Constants<'f>, &mut Vec<Assumed>, &mut Vec<Tried>),
    limit: usize,
) -> Result<Known, Refusal> {
    let kernel = followed(function, cfg, values, constants)?;
    assumed.extend(kernel.pipelines.types().cloned().map(Assumed::Pipeline));
    let objects = elements::split(&kernel, Objects::of(&kernel)?);
    let classes = Classes::of(&kernel, &objects);
    let found = prove_by_tests(&kernel, &objects, &classes, limit);
    let found = found.or_else(|refusal| prove_by_turns(&kernel, &objects, &classes, limit).ok_or(refusal));
    let found = found.or_else(|refusal| prove_long_loops(&kernel, &objects, &classes, limit).ok_or(refusal));
    let (known, sought) = match found {
        Ok((mut proved, arrays, may_be_stale)) => {
            let followed = objects.followed().count();
            if arrays == followed {
                // What is stored out of other arrays may still be written too early.
                let slots = if let Known::Proved { slots, .. } = &proved { slots.clone() } else { BTreeSet::new() };
                let asked = constants.asked();
                kernel.quiet.take();
                if let Some(fault) = find_staged(&kernel, &objects, &classes, &slots) {
                    assumed.extend(kernel.of_quiet_calls());
                    return Ok(Known::Faulty(Some(Box::new(fault))));
                }
                // A value that only the stores ask for is no part of what is proved.
                *unstored = constants.alternatives_but_sizes();
                constants.forget(asked);
                if let Known::Proved { slots, left_out, .. } = &mut proved {
                    *left_out |= !staged::arrays(&kernel).is_subset(slots);
                }
                if !may_be_stale && !kernel.merged.get() {
                    return Ok(proved);
                }
            }
            // Where a write is one access with a read of another element, other threads may write that meanwhile.
            let is_sought = arrays < followed || kernel.merged.get();
            (Ok(proved), is_sought.then_some(Sought { limit, indexes: false, may_be_stale }))
        }
        Err((refusal, indexes)) => (Err(refusal), Some(Sought { limit, indexes, may_be_stale: true })),
    };
    // What is not proved may still be wrong, and what is proved may still take old data for new.
    let asked = constants.asked();
    kernel.quiet.take();
    if let Some(fault) = find(&kernel, &objects, &classes, sought) {
        assumed.extend(kernel.of_quiet_calls());
        return Ok(Known::Faulty(Some(Box::new(fault))));
    }
    constants.forget(asked);
    known
}
