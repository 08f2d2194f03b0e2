//! A kernel whose warpgroups change the number of their registers says how large its blocks are, from which the number at the start
//! follows, and each of them does so at most once. After a change, its warps must synchronize explicitly before the next
//! one (PTX ISA, setmaxnreg), and whether a number is more or fewer than before is known of the first change alone.
//!
//! One that wants more waits until others have left so many. Which change each warpgroup comes to is followed in [runs](super::runs) of its
//! first thread, and what all of them keep and get is compared with what the block has.

use super::bit_set::BlockSet;
use super::cfg::{BlockId, Cfg, ChangeOfRegisters, Step};
use super::runs::{Launch, Observer, Runs, Thread, ThreadId};
use super::uniform::control::{Control, following};
use crate::diag::Diags;
use crate::messages;
use crate::model::op::RegisterChange;
use crate::model::options::Setting;
use crate::model::{Function, Role};

/// The registers of a multiprocessor.
const REGISTERS: u64 = 65_536;

/// The most registers that a thread can have, and the fewest that it can keep.
const MOST: u64 = 256;
const FEWEST: u64 = 24;

/// The number of threads in a warpgroup.
const WARPGROUP: u64 = 128;

/// The arguments that are tried: a fault in each of them is one whatever the host passes.
const ARGUMENTS: &[u64] = &[0, 1, 2, 3, 5, 1_000];

/// The largest number of steps that are followed of one thread.
const STEPS: usize = 4_000;

/// Refuses changes in blocks of any size, and one that may come after another one, or after itself in a loop.
///
/// ```text
/// for k in 0..n { warpgroup.decrease_registers::<40>(); .. }
/// ```
pub(super) fn check(function: &Function, cfg: &Cfg<'_>, diags: &mut Diags) {
    let changes = &cfg.register_changes;
    for (number, ChangeOfRegisters { block, change, at, .. }) in changes.iter().enumerate() {
        if function.options.block.is_none() {
            diags.push(messages::registers_without_block(*at, change.name()));
        }
        let before = changes.iter().enumerate().find(|(other, earlier)| {
            let in_one_block = *other < number && earlier.block == *block;
            in_one_block || following(cfg, earlier.block).contains(*block)
        });
        if let Some((other, earlier)) = before {
            let earlier = (other != number).then_some(earlier.at);
            diags.push(messages::registers_twice(*at, change.name(), earlier));
        }
    }
}

/// Refuses changes of which some wait for ever, because the warpgroups of a block keep and want more registers than it has.
///
/// ```text
/// if which == 0 { warpgroup.decrease_registers::<40>(); } else { warpgroup.increase_registers::<240>(); }   // 40 + 2 * 240 > 3 * 168
/// ```
pub(super) fn check_sum(function: &Function, cfg: &Cfg<'_>, control: &Control, diags: &mut Diags) {
    let changes = &cfg.register_changes;
    let increases = changes.iter().any(|of| of.change == RegisterChange::Increase);
    let threads = function.options.block.as_ref().and_then(|block| block.count());
    let Some(threads) = threads.filter(|threads| increases && function.role == Role::Kernel && *threads <= 1024) else {
        return;
    };
    // What rustc refuses by itself, and what it alone knows, is left to it.
    let Some(at_start) = at_start(function, threads).filter(|_| threads % WARPGROUP == 0) else { return };
    let counts = changes.iter().map(|of| function.values[usize::from(of.count.0)].literal);
    let Some(counts) = counts.collect::<Option<Vec<u64>>>() else { return };
    let has = at_start * (threads / WARPGROUP);
    let is_possible = |(count, change): (&u64, RegisterChange)| match change {
        _ if count % 8 != 0 => false,
        RegisterChange::Increase => {
            (at_start..=MOST).contains(count) && count + (threads / WARPGROUP - 1) * FEWEST <= has
        }
        RegisterChange::Decrease => (FEWEST..=at_start).contains(count),
    };
    if !counts.iter().zip(changes.iter().map(|of| of.change)).all(is_possible) {
        return;
    }
    let fewest = counts.iter().copied().chain([at_start]).min().unwrap_or(FEWEST);
    let runs = Runs::of(function, cfg, control, threads);
    let arguments = if runs.has_integers { ARGUMENTS } else { &ARGUMENTS[..1] };
    let mut fault = None;
    for argument in arguments {
        let launch = Launch {
            argument: Some(*argument),
            element: None,
            length: Some(4 * threads),
            agreed: None,
            data: None,
            holds: None,
        };
        // The change of each warpgroup, or the registers that it has without one.
        let mut all = Vec::new();
        for warpgroup in 0..threads / WARPGROUP {
            let mut first = FirstChange { cfg, found: None };
            let id = ThreadId { block: None, rank: warpgroup * WARPGROUP };
            let Ok(ends) = runs.run(launch, id, &mut STEPS.clone(), &mut first) else { break };
            all.push(match first.found {
                Some(Found::At(number)) => (counts[number], Some(number)),
                None if ends => (at_start, None),
                Some(Found::Unknown) | None => (fewest, None),
            });
        }
        if all.len() as u64 != threads / WARPGROUP {
            continue;
        }
        let increases = all.iter().filter_map(|(_, number)| *number);
        let increases = increases.filter(|number| changes[*number].change == RegisterChange::Increase);
        let most = increases.max_by_key(|number| counts[*number]);
        match most.filter(|_| all.iter().map(|(count, _)| count).sum::<u64>() > has) {
            Some(most) => _ = fault.get_or_insert((most, all)),
            // The host may promise such an argument.
            None => return,
        }
    }
    let Some((most, all)) = fault else { return };
    let each: Vec<u64> = all.iter().map(|(count, _)| *count).collect();
    let others: u64 = all.iter().filter(|(_, of)| *of != Some(most)).map(|(count, _)| count).sum();
    let alike = all.iter().filter(|(_, of)| *of == Some(most)).count() as u64;
    let fits = has.checked_sub(others).map(|left| left / alike / 8 * 8);
    diags.push(messages::registers_do_not_suffice(changes[most].at, (&each, has), (counts[most], at_start), fits));
}

/// The number of registers that a thread has at the start, if literals give it: those that the bounds of the launch allow, in steps of 8.
fn at_start(function: &Function, threads: u64) -> Option<u64> {
    let literal = |setting: &Option<Setting>| setting.as_ref().map_or(Some(None), |setting| setting.literal.map(Some));
    let (most, blocks) = (literal(&function.options.max_registers)?, literal(&function.options.min_blocks)?);
    let allowed = most.unwrap_or(REGISTERS.checked_div(threads * blocks.unwrap_or(1))?);
    Some(allowed.min(MOST) / 8 * 8)
}

/// The change that a thread comes to first.
struct FirstChange<'a, 'f> {
    cfg: &'a Cfg<'f>,
    found: Option<Found>,
}

enum Found {
    /// The change of this number.
    At(usize),
    /// There may have been one, by a value that is not known.
    Unknown,
}

impl Observer for FirstChange<'_, '_> {
    fn step(&mut self, _thread: &Thread<'_, '_, '_>, at: (BlockId, usize), _step: &Step) {
        let is_here = |of: &ChangeOfRegisters| (of.block, of.step) == at;
        if self.found.is_none() {
            self.found = self.cfg.register_changes.iter().position(is_here).map(Found::At);
        }
    }

    fn pass_over(&mut self, _branch: BlockId, arms: &BlockSet) {
        if self.found.is_none() && self.cfg.register_changes.iter().any(|of| arms.contains(of.block)) {
            self.found = Some(Found::Unknown);
        }
    }

    fn iterates(&mut self) -> bool {
        false
    }

    fn shortens(&self) -> bool {
        true
    }

    fn sees_values(&self) -> bool {
        true
    }
}
