//! The rings of a kernel: its skeleton is extracted from the graph, and `rings` checks it for all trip counts.
//!
//! A proof is one for all arguments: the skeleton allows every run of the kernel. A fault is reported only if it is a fault of the
//! kernel for certain small arguments, whose skeleton allows no other run. What is neither stays with the simulator.
//!
//! `constants` and `symbol` have values that the text does not say, `value` the values of nodes, `objects` the barriers and slots, `walk` and
//! `calls` a thread's steps, `assemble` the roles, `report` the faults as messages.

mod assemble;
mod calls;
mod constants;
mod kernel;
mod objects;
mod report;
mod symbol;
mod value;
mod walk;

use assemble::{Assembled, assemble};
pub(crate) use constants::Constants;
use kernel::Kernel;
pub(crate) use kernel::Refusal;
use objects::Objects;
use value::Arguments;
use walk::Sites;

use super::cfg::Cfg;
use super::uniform::values::Values;
use crate::diag::Diags;
use crate::model::ty::ParamType;
use crate::model::{Function, Role};
use crate::rings::{self, Verdict};
use crate::span::SpanRange;

/// The largest number of states of one check.
const STATES: usize = 200_000;

/// The largest argument that is tried, beyond the number of stages.
const ARGUMENTS: i64 = 3;

/// What is known of a kernel's rings.
#[derive(Debug, Clone)]
pub(crate) enum Rings {
    /// The kernel has no phase barrier.
    None,
    /// No run of the kernel has a fault at these barriers, or in the accesses of these arrays.
    Proved { barriers: Vec<String>, arrays: Vec<String>, states: usize },
    /// A fault was reported.
    Faulty,
    /// There is neither a proof nor a fault.
    Open(Refusal),
}

/// Checks the rings of a kernel, and reports a fault.
pub(super) fn check<'f>(function: &'f Function, cfg: &Cfg<'f>, values: &Values<'_, 'f>, diags: &mut Diags) -> Rings {
    let uses = |call: &super::cfg::BarrierCall| !call.method.action.begins();
    if function.role != Role::Kernel || !cfg.barrier_calls.iter().any(uses) {
        return Rings::None;
    }
    let constants = Constants::default();
    let found = judge(function, cfg, values, &constants, diags);
    found.unwrap_or_else(Rings::Open)
}

fn judge<'f>(
    function: &'f Function,
    cfg: &Cfg<'f>,
    values: &Values<'_, 'f>,
    constants: &Constants,
    diags: &mut Diags,
) -> Result<Rings, Refusal> {
    let whole = SpanRange::at(function.name.span());
    let refuse = |why: &str| Refusal::new(whole, why);
    let block = function.options.block.as_ref().and_then(|block| constants.count(block));
    let threads =
        block.ok_or_else(|| refuse("the number of threads in a block is not known where the kernel is compiled"))?;
    let blocks = match &function.options.cluster {
        Some(cluster) => constants
            .count(cluster)
            .ok_or_else(|| refuse("the number of blocks in a cluster is not known where the kernel is compiled"))?,
        None => 1,
    };
    let kernel = Kernel::new(function, cfg, values, constants, (threads, blocks));
    let mut objects = Objects::of(&kernel)?;
    loop {
        let sites = Sites::default();
        let assembled = match assemble(&kernel, &objects, &sites, None) {
            Ok(assembled) => assembled,
            // Without its slots, the barriers alone may be proved.
            Err(_) if !objects.slots.is_empty() && assemble_without(&kernel, &objects).is_some() => {
                objects.slots.pop();
                continue;
            }
            Err(refusal) => return Err(refusal),
        };
        match rings::check(&assembled.skeleton, STATES) {
            Verdict::Proved { states } => {
                let name = |array: usize| kernel.name_of(array);
                return Ok(Rings::Proved {
                    barriers: objects.barriers.iter().map(|(array, ..)| name(*array)).collect(),
                    arrays: objects.slots.iter().map(|slot| name(slot.array)).collect(),
                    states,
                });
            }
            Verdict::NotProved(reason) => return Err(report::reason(&kernel, &objects, &sites, reason)),
            Verdict::Fault { fault, trace } => {
                if let Some(diag) = confirm(&kernel, &objects) {
                    diags.push(diag);
                    return Ok(Rings::Faulty);
                }
                // An access that need not be a conflict keeps its array from being proved, and no other.
                let slot = report::slot_of(&fault);
                match slot {
                    Some(slot) => drop(objects.slots.remove(slot as usize)),
                    None => return Err(report::unconfirmed(&sites, whole, &fault, &trace)),
                }
            }
        }
    }
}

fn assemble_without(kernel: &Kernel<'_, '_>, objects: &Objects) -> Option<Assembled> {
    let objects = Objects { slots: Vec::new(), ..objects.clone() };
    assemble(kernel, &objects, &Sites::default(), None).ok()
}

/// Looks for small arguments with which the kernel has a fault.
fn confirm(kernel: &Kernel<'_, '_>, objects: &Objects) -> Option<crate::diag::Diag> {
    let scalars: Vec<usize> = kernel
        .function
        .params
        .iter()
        .enumerate()
        .filter(|(_, param)| matches!(param.ty, ParamType::Value(_)))
        .map(|(position, _)| position)
        .collect();
    let stages = objects.barriers.iter().map(|(_, barriers, _)| i64::from(barriers.stages)).max().unwrap_or(1);
    for number in 0..=stages + ARGUMENTS {
        let arguments: Arguments = scalars.iter().map(|position| (*position, number)).collect();
        let sites = Sites::default();
        // An argument may be too small for the kernel.
        let Ok(assembled) = assemble(kernel, objects, &sites, Some(&arguments)) else { continue };
        if assembled.allows_more {
            return None;
        }
        if let Verdict::Fault { fault, trace } = rings::check(&assembled.skeleton, STATES) {
            let certain = report::slot_of(&fault).is_none_or(|slot| {
                let slot = &objects.slots[slot as usize];
                slot.whole && !assembled.uncertain.contains(&slot.array)
            });
            return certain.then(|| report::fault(kernel, objects, &sites, &assembled, &fault, &trace));
        }
        if scalars.is_empty() {
            return None;
        }
    }
    None
}
