//! `copy_in_flight`: a thread does not touch what an asynchronous copy reads or writes until a wait has shown that the copy
//! is complete, and the kernel does not end before.
//!
//! A copy is in flight on the paths from its beginning to a wait for it (`completion`): at its phase barrier or at one where a
//! thread arrives that has waited there, of its group, or of the thread's bulk copies; the end of one to a peer, its
//! receiver tells (`sends`). If another path has such a wait, the
//! thread may have synchronized with that path's thread: nothing is reported, and a barrier of a group completes the copy.
//! Only certain overlap is reported: all of what is copied, or the same literal element. The simulator finds the rest.
//!
//! A device function may leave a copy in flight, wait for one, or access what one writes: `summary` says so to its callers, and what
//! depends on a call is a question to rustc.

mod flight;
mod held;
mod holder;
mod lengths;
mod newest;
mod paths;
mod products;
mod rounds;
mod sends;
mod state;
mod summary;
mod sums;

use std::collections::BTreeSet;

use phalanx_contract::protocol::{CopyUses, ParameterUses};
use phalanx_contract::uniformity::Uniformity;

use super::cfg::{Access, AccessId, AccessKind, BlockId, CallId, Cfg, CopyStep, MemoryStep, Region, Root, StepKind};
use super::completion::{Begun, Completions};
use super::dsm::protocol::{Guard, Predicate, Protocol};
use super::engine::{self, Analysis};
use super::uniform::values::Values;
use crate::diag::{Diag, Diags};
use crate::messages;
use crate::model::{Function, Role};
use crate::span::SpanRange;
use flight::{Ending, Flight, FlightId, Flights, covers, overlap};
use rounds::Rounds;
use sends::Sends;
use state::{InFlight, State};

/// `copy_in_flight`: what a copy reads and writes is left alone until a wait has shown its completion.
///
/// ```text
/// bulk_copy_async(&tile, slice, &full);
/// let x = tile[0];                        // the copy may not be complete
/// full.wait_parity(false);
/// ```
pub(super) fn check(
    function: &Function,
    cfg: &Cfg<'_>,
    values: &Values<'_, '_>,
    waits: &Completions,
    protocol: &mut Protocol,
    diags: &mut Diags,
) {
    let begins = cfg.copies.iter().any(|copy| matches!(copy, CopyStep::Begin { .. }));
    if !begins && cfg.calls.is_empty() && function.role != Role::Device {
        return;
    }
    lengths::check(function, cfg, diags);
    let in_flight = InFlight {
        function,
        cfg,
        waits,
        sends: Sends::of(cfg, values, waits),
        rounds: Rounds::of(cfg),
        flights: Flights::of(function, cfg),
    };
    let states = engine::solve(&in_flight, cfg);
    let mut found: Vec<(Guard, Diag)> = Vec::new();
    let mut effects = Vec::new();
    for (block, known) in states.iter().enumerate() {
        let Some(mut state) = known.clone() else { continue };
        let by_all = values.is_reached_uniformly(BlockId(block), Uniformity::Block);
        for step in &cfg.blocks[block].steps {
            match step.kind {
                StepKind::Memory(MemoryStep::Access(id)) => found.extend(in_flight.faults(&state, id, by_all)),
                StepKind::Call(call) => {
                    found.extend(in_flight.faults_of_call(&state, call));
                    found.extend(in_flight.registers_in_flight(&state, Begun::Call(call), step.at));
                }
                StepKind::Copy(copy) => {
                    found.extend(in_flight.registers_in_flight(&state, Begun::Copy(copy), step.at));
                    found.extend(in_flight.sums_in_flight(&state, copy, step.at));
                }
                StepKind::Value(_)
                | StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
                | StepKind::Group(_)
                | StepKind::Token(_)
                | StepKind::BarrierCall(_) => {}
            }
            in_flight.summarize(&state, step, &mut effects);
            in_flight.transfer(&mut state, step);
        }
    }
    let ends: Vec<State> = engine::leaves(&in_flight, cfg, &states).into_iter().map(|(_, state)| state).collect();
    let of_sums = sums::check(function, cfg, &in_flight.flights, |call| in_flight.slot(call));
    let left = in_flight.products_left(&ends).into_iter();
    let left: Vec<_> = left.filter(|(_, diag)| !of_sums.reported.contains(&sums::place(diag.at))).collect();
    // What nobody waits for, nobody asks for either.
    let is_left = |guard: &Guard, diag: &Diag| {
        left.iter().any(|(of, known)| sums::place(known.at) == sums::place(diag.at) && of == guard)
    };
    let of_sums: Vec<_> = of_sums.faults.into_iter().filter(|(guard, diag)| !is_left(guard, diag)).collect();
    found.extend(left);
    found.extend(of_sums);
    match function.role {
        Role::Kernel => ends.iter().for_each(|state| found.extend(in_flight.left_at_end(state))),
        Role::Device => {
            effects.extend(in_flight.left_to_callers(values, &ends));
            in_flight.summarize_products(&ends, &mut effects);
            effects.into_iter().for_each(|effect| {
                if !protocol.effects.contains(&effect) {
                    protocol.effects.push(effect);
                }
            });
        }
        Role::Method => {}
    }
    let mut reported = BTreeSet::new();
    // What a peer's multicast brings is in flight for the peer and for the block that expects it.
    let is_known = |diags: &Diags, diag: &Diag| {
        let place = |at: SpanRange| (at.line(), at.column());
        diags.any(|rule, at| rule == diag.rule && place(at) == place(diag.at))
    };
    for (guard, diag) in found {
        match guard.is_certain() {
            true if is_known(diags, &diag) => {}
            true if reported.insert((diag.at.line(), diag.at.column())) => diags.push(diag),
            true => {}
            false => protocol.ask(guard, &diag),
        }
    }
}

impl InFlight<'_, '_> {
    fn name_of(&self, region: &Region) -> Option<String> {
        let local = match (region.root, region.param) {
            (Root::Shared(shared), _) => return self.cfg.name_of(self.function, shared).map(ToString::to_string),
            (Root::ReadOnly | Root::Global, Some(param)) => self.function.params[param].local,
            (Root::ReadOnly | Root::Global, None) | (Root::Remote(_), _) => return None,
        };
        Some(self.function.local(local).name.to_string())
    }

    fn faults(&self, state: &State, id: AccessId, by_all: bool) -> Vec<(Guard, Diag)> {
        let Access { region, kind, at, completion, .. } = &self.cfg.accesses[id.0];
        // Two copies to one place in global memory are not compared.
        if completion.is_some() && region.root.party().is_none() {
            return Vec::new();
        }
        let writes = match kind {
            AccessKind::Read | AccessKind::AtomicRead => false,
            AccessKind::Write | AccessKind::Atomic => true,
            // The call is asked about, and inline CUDA is unknown.
            AccessKind::Lent | AccessKind::Opaque | AccessKind::ByClosure | AccessKind::AsyncWrite => {
                return Vec::new();
            }
        };
        let Some(name) = self.name_of(region) else { return Vec::new() };
        let faults = self.surely_in_flight(state).filter(|(flight, _)| {
            let Flight { region: copied, is_written, .. } = &self.flights.all[*flight];
            (*is_written || writes) && overlap(self.cfg, copied, region, by_all)
        });
        let mut faults: Vec<(Guard, Diag)> =
            faults.map(|(flight, guard)| (guard, self.message(flight, *at, &name, writes))).collect();
        // One that is certain is enough.
        if let Some(certain) = faults.iter().position(|(guard, _)| guard.is_certain()) {
            faults = vec![faults.swap_remove(certain)];
        }
        faults
    }

    fn message(&self, flight: FlightId, at: SpanRange, name: &str, writes: bool) -> Diag {
        let Flight { is_written, ending, at: begun, .. } = &self.flights.all[flight];
        match ending {
            Ending::Product => messages::tile_in_flight(at, *begun, name),
            Ending::Barriers(_) | Ending::Receiver(_) | Ending::Group | Ending::BulkReads | Ending::BulkWrites => {
                messages::copy_in_flight(at, *begun, name, writes, *is_written, ending.mechanism())
            }
        }
    }

    /// A device function that is given what a copy reads or writes accesses it before a wait.
    ///
    /// ```text
    /// fn sum(a: &SharedArray<f32, 64>) -> f32 { a[0] + a[1] }
    /// memcpy_async(&block, &tile, slice); let x = sum(&tile); block.wait_async();
    /// ```
    fn faults_of_call(&self, state: &State, id: CallId) -> Vec<(Guard, Diag)> {
        let call = &self.cfg.calls[id.0];
        let mut faults = Vec::new();
        if !call.is_of_function() {
            return faults;
        }
        let uses = |argument: usize, what| (self.slot(id), argument, ParameterUses::of_copies(what));
        for (flight, guard) in self.surely_in_flight(state) {
            let Flight { region: copied, is_written, .. } = &self.flights.all[flight];
            for (argument, region) in call.regions.iter().enumerate() {
                let Some(region) = region.as_ref().filter(|region| covers(self.cfg, copied, region)) else { continue };
                let Some(name) = self.name_of(region) else { continue };
                let (slot, position, writes) = uses(argument, CopyUses::WRITES_FIRST);
                let (.., reads) = uses(argument, CopyUses::READS_FIRST);
                let write = guard.clone().when(Predicate::Uses(slot, position, writes));
                let write = if *is_written { write.when(Predicate::NeverUses(slot, position, reads)) } else { write };
                faults.push((write, self.message(flight, call.at, &name, true)));
                if *is_written {
                    let read = guard.clone().when(Predicate::Uses(slot, position, reads));
                    faults.push((read, self.message(flight, call.at, &name, false)));
                }
            }
        }
        faults
    }

    /// Reports copies that only their own thread or group can wait for, and that it has not waited for.
    fn left_at_end(&self, state: &State) -> Vec<(Guard, Diag)> {
        let left = self.surely_in_flight(state).filter_map(|(flight, guard)| {
            let Flight { region, ending, at, .. } = &self.flights.all[flight];
            let is_shared = region.root.party().is_some();
            match ending {
                Ending::Group | Ending::BulkReads if is_shared => {
                    Some((guard, messages::copy_left(*at, ending.mechanism())))
                }
                Ending::Group
                | Ending::BulkReads
                | Ending::BulkWrites
                | Ending::Product
                | Ending::Barriers(_)
                | Ending::Receiver(_) => None,
            }
        });
        left.collect()
    }
}
