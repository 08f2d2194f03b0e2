//! The rules of the kernel language that rustc does not check. All rules report before the gate, and only this folder makes a
//! [`Checked`].

// A forgotten variant would be a fault that nobody reports. This holds for the whole folder.
#![warn(clippy::wildcard_enum_match_arm)]

mod accessors;
mod alike;
mod barriers;
mod bit_set;
mod branch_correlation;
pub(crate) mod build;
pub(crate) mod cfg;
mod completion;
mod constant_propagation;
mod copies;
pub(crate) mod dsm;
mod election;
pub(crate) mod engine;
pub(crate) mod fences;
mod fixed;
mod forgotten;
mod ignored;
mod implied;
mod liveness;
mod memory;
mod moving;
mod multicast;
pub(crate) mod one_barrier;
mod partition;
pub(crate) mod previous;
mod program;
mod reached;
mod receipts;
mod registers;
mod residues;
pub(crate) mod rings;
mod runs;
mod short_loops;
mod sorted_map;
mod thresholds;
mod tokens;
mod traces;
mod unchecked;
pub(crate) mod uniform;

pub(crate) use program::Program;
pub(crate) use unchecked::BrokenAt;
use unchecked::LeftToRustc;

use std::collections::BTreeSet;

use bitflags::bitflags;
use phalanx_contract::Groups;
use phalanx_contract::capability::Capability;
use proc_macro2::TokenStream;

use crate::diag::{Diag, Diags, Reported};
use crate::messages;
use crate::model::capability;
use crate::model::expr::{Expr, ExprKind};
use crate::model::group::Group;
use crate::model::op::Op;
use crate::model::walk::walk_block;
use crate::model::{Function, Role, SiteId, SlotId, ValueId};
use crate::rules::Rule;
use crate::span::SpanRange;
use cfg::{Cfg, Granule, Tile};
use dsm::protocol::Protocol;
use fences::Fences;
use liveness::Live;
use memory::check_memory;
use rings::Rings;
use tokens::Tokens;
use uniform::WholeWarps;
use uniform::control::Control;
use uniform::level::Required;
use uniform::summary::Summary;
use uniform::values::Values;

bitflags! {
    /// Questions about called functions that are left to rustc.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct Asks: u8 {
        /// The question which shared memory they access, and which of a peer's.
        const MEMORY = 1;
        /// The question whether their results differ between threads.
        const UNIFORMITY = 1 << 1;
        /// The same question about methods, which rustc is asked where it builds the kernel.
        const METHODS = 1 << 2;
    }
}

/// Questions that the bodies of called functions answer, and the condition that these are what is called.
struct Answered {
    answers: Asks,
    condition: TokenStream,
}

/// A function that breaks no rule, with the facts that the checks found.
pub(crate) struct Checked<'f> {
    function: &'f Function,
    pending: tokens::PendingAtCalls,
    forgotten: forgotten::ForgottenAtCalls,
    hidden_calls: BTreeSet<SlotId>,
    broken: Vec<BrokenAt>,
    ranks_left_to_rustc: BTreeSet<SiteId>,
    summary: Summary,
    protocol: Protocol,
    fences: Fences<'f>,
    rings: Rings,
    whole_warps: WholeWarps,
    scattered: BTreeSet<ValueId>,
    answered: Option<Answered>,
    rings_if: Option<(Rings, TokenStream)>,
    faulty_if: Vec<(Diag, TokenStream)>,
}

/// Checks a function by all rules.
pub(crate) fn run<'f>(function: &'f Function, diags: &mut Diags) -> Result<Checked<'f>, Reported> {
    run_with(function, true, diags)
}

/// Checks a function by all rules but those about rings.
pub(crate) fn run_without_rings<'f>(function: &'f Function, diags: &mut Diags) -> Result<Checked<'f>, Reported> {
    run_with(function, false, diags)
}

/// Refuses the collectives of a tile whose threads are in several warps, which have products of matrices alone. Where the size is a
/// named constant, rustc does so with the kernel's instance.
fn several_warps(cfg: &Cfg<'_>, diags: &mut Diags) {
    for (team, name, at) in &cfg.collectives_of_warps {
        if let Some(Tile { size: Granule::Number(size), .. }) = team.tile
            && size > WARP
        {
            diags.push(messages::collective_of_several_warps(*at, name, size));
        }
    }
}

/// Refuses tiles into which the kernel's blocks cannot be partitioned: such a launch fails.
fn partitions_of_block(function: &Function, diags: &mut Diags) {
    let threads = function.options.block.as_ref().and_then(|block| block.count());
    let Some(threads) = threads.filter(|_| function.role == Role::Kernel) else { return };
    walk_block(&function.body, &mut |expr| {
        let ExprKind::Op { op: Op::TiledPartition(Group::ThreadBlock, size), .. } = &expr.kind else { return };
        let size = function.values[usize::from(size.0)].literal;
        if let Some(size) = size.filter(|size| *size > 0 && threads % size != 0) {
            diags.push(messages::partial_tile(expr.span, threads, size));
        }
    });
}

/// Refuses what the architecture of the kernel's attribute lacks. What device functions need is compared with the GPU at the launch.
fn check_arch(function: &Function, diags: &mut Diags) {
    let Some(arch) = function.options.arch else { return };
    let cluster = function.options.cluster.as_ref();
    if let Some(cluster) = cluster.filter(|cluster| cluster.count().is_some_and(|blocks| blocks > 1))
        && !Capability::Clusters.is_met_by(arch)
    {
        diags.push(messages::beyond_arch(cluster.at, "a cluster of several blocks", Capability::Clusters.name(), arch));
    }
    for (need, at) in capability::needs(function) {
        if !need.capability.is_met_by(arch) {
            diags.push(messages::beyond_arch(at, need.what, need.capability.name(), arch));
        }
    }
}

/// The graph of a function, with what is known of its tests. It fails at a call that would make it too large.
fn graph(function: &Function) -> Result<Cfg<'_>, SpanRange> {
    let mut cfg = build::build(function)?;
    ignored::mark(&mut cfg);
    Ok(cfg)
}

/// Follows the threads of a function that other checks have not looked at yet, and reports the faults of [`traces`]. Returns whether a
/// launch was followed in which no thread fails, or none could be.
pub(crate) fn follow_threads(function: &Function, diags: &mut Diags) -> bool {
    let Ok(mut cfg) = graph(function) else { return true };
    let tokens = Tokens::of(function, &cfg);
    forgotten::mark(&mut cfg, &tokens, &mut diags.nested());
    let (control, live) = (Control::of(&cfg), Live::of(&cfg));
    let values = Values::of(function, &cfg, &control, &live);
    traces::ends::check(function, &cfg, &values, diags);
    traces::check(function, &cfg, &values, false, diags)
}

/// Reports the elements to which two threads of a function send.
pub(crate) fn follow_sends(function: &Function, diags: &mut Diags) {
    if let Ok(cfg) = graph(function) {
        receipts::check(function, &cfg, &Control::of(&cfg), diags);
    }
}

/// Compares the accesses of owners and peers alone, and reports the faults of [`dsm`].
pub(crate) fn compare_blocks(function: &Function, diags: &mut Diags) {
    let Ok(mut cfg) = graph(function) else { return };
    let tokens = Tokens::of(function, &cfg);
    forgotten::mark(&mut cfg, &tokens, &mut diags.nested());
    let (control, live) = (Control::of(&cfg), Live::of(&cfg));
    let values = Values::of(function, &cfg, &control, &live);
    let required = uniform::check(function, &cfg, &values, &mut diags.nested()).required();
    values.assume(&required);
    check_memory(function, (&cfg, &tokens, &live), &values, (&required, &BTreeSet::new()), diags);
}

/// The number of threads in a warp.
const WARP: u64 = 32;

fn run_with<'f>(function: &'f Function, with_rings: bool, diags: &mut Diags) -> Result<Checked<'f>, Reported> {
    let parsed = diags.is_empty();
    let mut cfg = match graph(function) {
        Ok(cfg) => cfg,
        Err(call) => return Err(diags.refuse(messages::too_many_closure_bodies(call, build::MOST_CLOSURE_BODIES))),
    };
    several_warps(&cfg, diags);
    partitions_of_block(function, diags);
    previous::check(function, &cfg, diags);
    registers::check(function, &cfg, diags);
    check_arch(function, diags);
    let tokens = Tokens::of(function, &cfg);
    forgotten::mark(&mut cfg, &tokens, diags);
    let mut of_tokens = diags.nested();
    let mut pending = tokens::check(&cfg, &tokens, &mut of_tokens);
    let mut forgotten = forgotten::check(&cfg, diags);
    let control = Control::of(&cfg);
    registers::check_sum(function, &cfg, &control, diags);
    let live = Live::of(&cfg);
    let values = Values::of(function, &cfg, &control, &live);
    if !of_tokens.is_empty() && tokens::is_right_by_outcomes(function, &cfg, &live, &values, diags) {
        of_tokens = diags.nested();
    }
    diags.append(of_tokens);
    let mut summary = uniform::check(function, &cfg, &values, diags);
    let required = summary.required();
    values.assume(&required);
    let whole_warps = uniform::whole_warps(function, &cfg, &values);
    let scattered = uniform::scattered(function, &cfg, &values);
    let mut found = diags.nested();
    let nothing = BTreeSet::new();
    let mut protocol = check_memory(function, (&cfg, &tokens, &live), &values, (&required, &nothing), &mut found);
    if function.role == Role::Device && found.any(|rule, _| Rule::OF_PAIRS.contains(&rule)) {
        let again = |required: &Required| {
            let values = Values::of(function, &cfg, &control, &live);
            values.assume(required);
            let mut found = diags.nested();
            let protocol = check_memory(function, (&cfg, &tokens, &live), &values, (required, &nothing), &mut found);
            (!found.any(|rule, _| Rule::OF_PAIRS.contains(&rule))).then_some((protocol, found))
        };
        if let Some((params, right)) = alike::params(function, &cfg, &required, again) {
            params.into_iter().for_each(|(param, at)| summary.add_alike(param, at));
            (protocol, found) = right;
        }
    }
    traces::ends::check(function, &cfg, &values, &mut found);
    // What a waived rule about phase barriers would have refused is a fault of its ring, too.
    let is_waived = |rule, at| function.waives_at(rule, at) && !Rule::OF_KNOWN_NUMBERS.contains(&rule);
    let mut of_rings = diags.nested();
    let mut rings = Rings::default();
    let may_be_ordered = |rule| Rule::OF_ORDER.contains(&rule);
    if with_rings
        && diags.is_right_but_for(is_waived)
        && found.is_right_but_for(|rule, at| may_be_ordered(rule) || is_waived(rule, at))
    {
        rings = rings::check(function, &cfg, &values, &mut of_rings);
    }
    let asks = found.any(|rule, _| may_be_ordered(rule)) || protocol.demands.iter().any(|ask| may_be_ordered(ask.rule));
    let ordered = if asks { rings.ordered(&cfg) } else { BTreeSet::new() };
    if !ordered.is_empty() {
        found = diags.nested();
        protocol = check_memory(function, (&cfg, &tokens, &live), &values, (&required, &ordered), &mut found);
    }
    diags.append(found);
    // The write that is lacking may be in a statement that was not understood, and so may the wait for a product, and the barrier, of which a
    // wait was given no token.
    if !parsed {
        let is_of_wait = diags.any(|rule, _| rule == Rule::WrongKind);
        let is_of_order =
            |rule| may_be_ordered(rule) || matches!(rule, Rule::RemoteBeforeEntry | Rule::ExitBeforePeersDone);
        let is_lacking = |rule| matches!(rule, Rule::UninitSharedRead | Rule::MmaInFlight);
        diags.waive(|rule, _| is_lacking(rule) || is_of_wait && is_of_order(rule));
    }
    // A thread that returns before a barrier of the cluster has no barrier after its accesses: that is one fault.
    let exits = |rule, at| rule == Rule::DivergentExit && !function.waives_at(rule, at);
    if diags.any(exits) && !function.waives(Rule::ExitBeforePeersDone) {
        diags.waive(|rule, _| rule == Rule::ExitBeforePeersDone);
    }
    match diags.is_right_but_for(is_waived) {
        true => diags.append(of_rings),
        false => rings = Rings::default(),
    }
    // What the other checks have found may be the cause.
    if diags.is_right_but_for(|rule, at| function.waives_at(rule, at)) {
        traces::check(function, &cfg, &values, rings.are_open(), diags);
    }
    if diags.is_right_but_for(|_, _| false) {
        receipts::check(function, &cfg, &control, diags);
    }
    let left_to_rustc = LeftToRustc {
        pending: &mut pending,
        forgotten: &mut forgotten,
        summary: &mut summary,
        protocol: &mut protocol,
        rings: &mut rings,
    };
    let broken = unchecked::apply(function, left_to_rustc, parsed, diags);
    diags.gate()?;
    let ranks_left_to_rustc = dsm::ranks::left_to_rustc(function, |at| !function.waives_at(Rule::RankOutOfRange, at));
    let hidden_calls = hidden_calls(function);
    let fences = fences::infer(function, &cfg, &tokens);
    Ok(Checked {
        function,
        pending,
        forgotten,
        hidden_calls,
        broken,
        ranks_left_to_rustc,
        summary,
        protocol,
        fences,
        rings,
        whole_warps,
        scattered,
        answered: None,
        rings_if: None,
        faulty_if: Vec::new(),
    })
}

/// The calls in methods and closures, which the callers of those do not see.
fn hidden_calls(function: &Function) -> BTreeSet<SlotId> {
    let mut calls = BTreeSet::new();
    let mut within = |block| {
        walk_block(block, &mut |expr: &Expr| {
            calls.extend(expr.called());
        });
    };
    if function.role == Role::Method {
        within(&function.body);
    }
    walk_block(&function.body, &mut |expr| {
        if let ExprKind::Closure { body, .. } = &expr.kind
            && let ExprKind::Block(body) = &body.kind
        {
            within(body);
        }
    });
    calls
}

impl<'f> Checked<'f> {
    pub(crate) fn function(&self) -> &'f Function {
        self.function
    }

    /// Returns the questions that are left to rustc, and that the bodies of called functions may answer.
    pub(crate) fn asks(&self) -> Asks {
        let mut asks = Asks::empty();
        asks.set(Asks::MEMORY, self.protocol.demands.iter().any(|demand| Rule::OF_PAIRS.contains(&demand.rule)));
        asks.set(Asks::UNIFORMITY, self.summary.asked().any(|obligation| obligation.message.is_some()));
        asks.set(Asks::METHODS, self.summary.methods().next().is_some());
        asks
    }

    /// Makes rustc ask what is answered only if a condition does not hold.
    pub(crate) fn answered_if(self, answers: Asks, condition: TokenStream) -> Checked<'f> {
        Checked { answered: Some(Answered { answers, condition }), ..self }
    }

    /// The condition under which something need not be asked.
    pub(crate) fn is_answered_if(&self, asked: Asks) -> Option<&TokenStream> {
        self.answered.as_ref().filter(|answered| answered.answers.contains(asked)).map(|answered| &answered.condition)
    }

    /// For each call while an arrival is pending, by slot, the groups of which the callee must execute no collective.
    pub(crate) fn pending_at_calls(&self) -> &tokens::PendingAtCalls {
        &self.pending
    }

    /// For calls made where tokens may have been forgotten, by slot: the groups of which the callee must use no
    /// collective, and what rustc says if it does.
    pub(crate) fn forgotten_at_calls(&self) -> &forgotten::ForgottenAtCalls {
        &self.forgotten
    }

    /// The calls in methods and closures, whose callees must execute no collective at all.
    pub(crate) fn hidden_calls(&self) -> &BTreeSet<SlotId> {
        &self.hidden_calls
    }

    /// What callers must know of the function's uniformity, and what it asks of its callees.
    pub(crate) fn summary(&self) -> &Summary {
        &self.summary
    }

    /// What callers must know of the function's use of distributed shared memory, and what it asks of its callees.
    pub(crate) fn protocol(&self) -> &Protocol {
        &self.protocol
    }

    /// The collectives of tiles and the waits that whole warps reach.
    pub(crate) fn whole_warps(&self) -> &WholeWarps {
        &self.whole_warps
    }

    /// The constants of which the threads of a warp may read different elements at once.
    pub(crate) fn scattered(&self) -> &BTreeSet<ValueId> {
        &self.scattered
    }

    /// The fences of the function's barriers of the cluster, and its effects on memory.
    pub(crate) fn fences(&self) -> &Fences<'f> {
        &self.fences
    }

    /// What is known of the function's rings of phase barriers.
    pub(crate) fn rings(&self) -> &Rings {
        &self.rings
    }

    /// Adds what is known of the rings if a condition holds.
    pub(crate) fn with_rings_if(self, rings: Rings, condition: TokenStream) -> Checked<'f> {
        Checked { rings_if: Some((rings, condition)), ..self }
    }

    /// Returns what is known of the rings if a condition holds, with the condition.
    pub(crate) fn rings_if(&self) -> Option<&(Rings, TokenStream)> {
        self.rings_if.as_ref()
    }

    /// Takes what is known of the rings if a condition holds.
    pub(crate) fn take_rings_if(&mut self) -> Option<(Rings, TokenStream)> {
        self.rings_if.take()
    }

    /// Adds faults of the instances of which a condition holds.
    pub(crate) fn with_faulty_if(self, faulty_if: Vec<(Diag, TokenStream)>) -> Checked<'f> {
        Checked { faulty_if, ..self }
    }

    /// Returns the faults of the instances of which a condition holds.
    pub(crate) fn faulty_if(&self) -> &[(Diag, TokenStream)] {
        &self.faulty_if
    }

    /// Takes what is known of the function's rings.
    pub(crate) fn take_rings(&mut self) -> Rings {
        std::mem::take(&mut self.rings)
    }

    /// For each rule that is switched off, the calls of which one must break it.
    pub(crate) fn broken(&self) -> &[BrokenAt] {
        &self.broken
    }

    /// The sites of `map_shared_rank` whose rank rustc must compare with the size of the cluster.
    pub(crate) fn ranks_left_to_rustc(&self) -> &BTreeSet<SiteId> {
        &self.ranks_left_to_rustc
    }

    /// Whether rustc compares the rank at this place with the size of the cluster.
    pub(crate) fn leaves_rank_to_rustc(&self, at: SpanRange) -> bool {
        dsm::ranks::is_left_at(self.function, at)
    }

    /// The groups of which the function itself executes a collective.
    pub(crate) fn collectives(&self) -> Groups {
        let mut groups = Groups::empty();
        walk_block(&self.function.body, &mut |expr| {
            if let ExprKind::Op { op, .. } = &expr.kind
                && let Some(group) = op.facts().convergence.collective()
            {
                groups |= group.flag();
            }
        });
        groups
    }
}
