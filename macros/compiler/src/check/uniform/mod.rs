//! Uniformity: `divergent_collective`, `divergent_exit`, `divergent_aligned`.
//!
//! CUDA C++ Programming Guide, Cooperative Groups: all threads of a group execute its collectives together. Branches decide
//! whether they do, so the values that branches test must be uniform in the group. WGSL section 15.2 requires the same of its
//! barriers, for one scope. Here each group has its own scope, control dependence is that of the graph, and a device function
//! is checked once: its summary says what it requires of its callers.
//!
//! Not checked here: data races on memory that is read without a barrier, except on a fixed element (`overwritten`), and whether an
//! argument of `uniform(x)` is uniform as claimed. The simulator checks both.

mod alike;
pub(crate) mod control;
mod explain;
mod factored;
mod factors;
pub(crate) mod level;
mod overwritten;
mod own_elements;
mod quotient;
mod rewritten;
pub(crate) mod summary;
mod tables;
mod told;
mod unseen;
pub(crate) mod values;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::uniformity::Uniformity;

use super::cfg::{
    BarrierCallId, BlockId, CallId, Cfg, Completion, CopyStep, GroupStep, MemoryStep, NodeId, Source, Step, StepKind,
    Team, ValueStep,
};
use super::reached::Reached;
use crate::diag::{Diag, Diags};
use crate::messages;
use crate::model::barrier::PhaseAction;
use crate::model::expr::BinaryOp;
use crate::model::group::Group;
use crate::model::query::Answer;
use crate::model::{Function, Role};
use crate::rules::Rule;
use crate::span::SpanRange;
use control::Control;
use explain::Explain;
use level::Level;
use summary::{Need, Summary};
pub(super) use tables::scattered;
use values::Values;

/// The places where all threads of a warp are together.
#[derive(Debug, Default)]
pub(crate) struct WholeWarps {
    /// Places of collectives of tiles that are smaller than a warp, which the whole warp does there at once, and of waits at phase
    /// barriers while products of warpgroups may be in flight.
    collectives: BTreeSet<(u32, u32)>,
    /// Places of a kernel's accesses to memory, and of what blocks and clusters do together.
    accesses: BTreeSet<(u32, u32)>,
}

impl WholeWarps {
    pub(crate) fn contains(&self, at: SpanRange) -> bool {
        self.collectives.contains(&position(at))
    }

    /// Returns what is known of an access, or of a barrier of a block or a cluster.
    pub(crate) fn access(&self, at: SpanRange) -> bool {
        self.accesses.contains(&position(at))
    }
}

/// Finds the places of whole warps, after what rustc must find to be uniform is assumed to be so.
pub(super) fn whole_warps(function: &Function, cfg: &Cfg<'_>, values: &Values<'_, '_>) -> WholeWarps {
    // A function that begins products, or waits for those that it is given.
    let of_products = |copy: &CopyStep| copy.completion() == Completion::Product;
    let multiplies = cfg.copies.iter().any(of_products) || function.role == Role::Kernel && passes_products(cfg);
    let may_be_whole = |step: &Step| match &step.kind {
        // Which threads of a warp call a device function, only its callers know.
        StepKind::Group(GroupStep::Collective { team, .. } | GroupStep::Convergent { team, argument: None, .. }) => {
            team.group == Group::Tile && team.uniformity != Uniformity::Warp && function.role == Role::Kernel
        }
        // What multiplies is called by whole warpgroups.
        StepKind::BarrierCall(BarrierCallId(call)) => {
            let waits = [PhaseAction::Wait, PhaseAction::WaitParity, PhaseAction::ArriveAndWait];
            multiplies && waits.contains(&cfg.barrier_calls[*call].method.action)
        }
        StepKind::Group(
            GroupStep::Convergent { argument: Some(_), .. }
            | GroupStep::Arrive { .. }
            | GroupStep::ArriveForgotten { .. }
            | GroupStep::Aligned { .. }
            | GroupStep::Wait { .. }
            | GroupStep::WaitElected { .. }
            | GroupStep::FormGroup(_),
        )
        | StepKind::Value(_)
        | StepKind::Memory(_)
        | StepKind::Copy(_)
        | StepKind::Call(_)
        | StepKind::Token(_) => false,
    };
    let collectives = whole(cfg, values, may_be_whole);
    // Where a rule is waived, threads may be elsewhere than the analysis says.
    let is_known = function.role == Role::Kernel && !Rule::CONVERGENCE.into_iter().any(|rule| function.waives(rule));
    let accesses = whole(cfg, values, |step| {
        let is_access = matches!(step.kind, StepKind::Memory(MemoryStep::Access(_)));
        let is_of_block =
            matches!(&step.kind, StepKind::Group(GroupStep::Collective { team, .. }) if team.group != Group::Tile);
        is_known && (is_access || is_of_block)
    });
    WholeWarps { collectives, accesses }
}

/// Whether the function may pass a product from one function to another: both are given a warpgroup, and one the other's result.
fn passes_products(cfg: &Cfg<'_>) -> bool {
    let given: Vec<NodeId> =
        cfg.calls.iter().filter(|call| call.warpgroups().next().is_some()).map(|call| call.node).collect();
    let is_of_one = |argument: &NodeId| cfg.may_come_from(*argument).iter().any(|node| given.contains(node));
    given.iter().any(|call| cfg.nodes[call.0].operands.iter().any(is_of_one))
}

/// Returns the places that all threads of a warp reach together, whichever of the steps is meant. A macro may give several the same place.
fn whole(cfg: &Cfg<'_>, values: &Values<'_, '_>, is_meant: impl Fn(&Step) -> bool) -> BTreeSet<(u32, u32)> {
    let mut places: BTreeMap<(u32, u32), bool> = BTreeMap::new();
    for block in (0..cfg.blocks.len()).map(BlockId).filter(|block| values.is_reached(*block)) {
        let mut steps = cfg.blocks[block.0].steps.iter().filter(|step| is_meant(step)).peekable();
        if steps.peek().is_some() {
            let is_whole = values.is_reached_uniformly(block, Uniformity::Warp);
            steps.for_each(|step| *places.entry(position(step.at)).or_insert(true) &= is_whole);
        }
    }
    places.into_iter().filter_map(|(at, is_whole)| is_whole.then_some(at)).collect()
}

pub(super) fn check<'f>(function: &'f Function, cfg: &Cfg<'f>, values: &Values<'_, 'f>, diags: &mut Diags) -> Summary {
    let groups = groups(cfg);
    let summary = Summary::of(cfg, groups, |node| values.level(NodeId(node)));
    let mut check = Check {
        function,
        cfg,
        values,
        reached: OnceCell::new(),
        found: BTreeMap::new(),
        unaligned: Vec::new(),
        unagreed: Vec::new(),
        summary,
    };
    for block in (0..cfg.blocks.len()).map(BlockId).filter(|block| values.is_reached(*block)) {
        cfg.blocks[block.0].steps.iter().for_each(|step| check.step(block, step));
    }
    check.report(diags)
}

fn position(at: SpanRange) -> (u32, u32) {
    (at.line(), at.column())
}

/// A collective that some threads of its group may not reach.
#[derive(Clone, Copy)]
struct Fault {
    at: SpanRange,
    name: &'static str,
    team: Team,
    /// Whether it is a wait where other threads forget their token.
    elected: bool,
    /// The number of further collectives that depend on the same branch.
    more: usize,
}

struct Check<'a, 'f> {
    function: &'f Function,
    cfg: &'a Cfg<'f>,
    values: &'a Values<'a, 'f>,
    /// Which threads come where, if it was asked.
    reached: OnceCell<Reached>,
    /// The faults by branch, and whether some threads return from the function there.
    found: BTreeMap<(BlockId, bool), Fault>,
    /// The faults of `.aligned` barriers.
    unaligned: Vec<Diag>,
    /// The faults of arguments that must be the same in all threads of a group.
    unagreed: Vec<Diag>,
    summary: Summary,
}

impl<'a, 'f> Check<'a, 'f> {
    fn step(&mut self, block: BlockId, step: &Step) {
        match &step.kind {
            StepKind::Group(GroupStep::Collective { team, name, .. })
            | StepKind::Group(GroupStep::Convergent { team, name, argument: None }) => {
                self.check_convergent(block, *team, name, step.at);
            }
            StepKind::Group(
                GroupStep::Arrive { group, method, .. } | GroupStep::ArriveForgotten { group, method, .. },
            ) => self.check_convergent(block, Team::whole(*group), method.name, step.at),
            StepKind::Group(GroupStep::Convergent { team, name, argument: Some((argument, value)) }) => {
                self.check_agreed(*team, name, argument, *value, step.at);
            }
            StepKind::Group(GroupStep::Aligned { name }) => self.check_aligned(block, name, step.at),
            StepKind::Group(GroupStep::Wait { group, .. }) => {
                self.check_convergent(block, Team::whole(*group), "barrier_wait", step.at)
            }
            StepKind::Group(GroupStep::WaitElected { group, .. }) => self.check_elected(block, *group, step.at),
            StepKind::Call(CallId(call)) => {
                let call = &self.cfg.calls[*call];
                if call.is_of_function() && !call.in_closure {
                    for branch in self.control().deciders(block) {
                        // A branch before the point where a group was formed decided which threads are in it.
                        let before =
                            |team: &Team| team.formed_at.is_some_and(|made| self.control().decides(branch, made));
                        let groups = call.teams.iter().map(|team| team.filter(|team| !before(team)));
                        let groups =
                            groups.map(|team| team.map_or(Uniformity::Divergent, |team| team.uniformity)).collect();
                        let on = self.values.tested(branch);
                        let explain = Explain::new(self.function, self.values, beyond(&on));
                        let message = || messages::divergent_call(step.at, explain.branch(branch)).text();
                        self.summary.oblige(Need::Control(call.slot.0, groups), on, step.at, message);
                    }
                    for (index, operand) in self.cfg.nodes[call.node.0].operands.iter().enumerate() {
                        let on = self.values.level(*operand);
                        let explain = Explain::new(self.function, self.values, beyond(&on));
                        let at = self.cfg.nodes[operand.0].at;
                        let message = || messages::divergent_argument(at, explain.value(*operand)).text();
                        self.summary.oblige(Need::Argument(call.slot.0, index), on, at, message);
                    }
                }
            }
            StepKind::Value(ValueStep::Return(node)) => {
                self.summary.add_result(&self.values.level(*node));
                for branch in self.control().deciders(block) {
                    self.summary.add_result(&self.values.tested(branch));
                }
            }
            StepKind::Value(ValueStep::Evaluate(_) | ValueStep::Set { .. } | ValueStep::Name { .. })
            | StepKind::Memory(_)
            | StepKind::Copy(_)
            | StepKind::BarrierCall(_)
            | StepKind::Group(GroupStep::FormGroup(_))
            | StepKind::Token(_) => {}
        }
    }

    fn control(&self) -> &'a Control {
        self.values.control
    }

    /// `divergent_collective`, `divergent_exit`: all threads of the group reach its collective together.
    ///
    /// ```text
    /// if block.thread_rank() == 0 { block.sync(); }            // the others never reach it
    /// if i >= n { return; } block.sync();                      // some have returned
    /// ```
    fn check_convergent(&mut self, block: BlockId, team: Team, name: &'static str, at: SpanRange) {
        // For a group of the threads that reached some point, only branches since then matter.
        let branches = self.control().deciders_since(block, team.formed_at);
        let fault = Fault { at, name, team, elected: false, more: 0 };
        self.check_branches(branches.iter(), block, fault);
    }

    /// `divergent_collective`: all threads of the group give its collective the same argument.
    ///
    /// ```text
    /// let a: MatrixA<f16, 16, 16> = warp.load_matrix(&tile, warp.thread_rank(), 0);    // each lane another row
    /// ```
    fn check_agreed(&mut self, team: Team, name: &str, argument: &str, value: NodeId, at: SpanRange) {
        let level = self.values.level(value);
        let explain = Explain::new(self.function, self.values, team.uniformity);
        let fault = || messages::divergent_place(at, name, argument, team.group, explain.value(value));
        if level.at_most.covers(team.uniformity) {
            self.summary.oblige(Need::Team(team), level, at, || fault().text());
        } else {
            let fault = fault();
            self.unagreed.push(fault);
        }
    }

    /// Where the threads that do not wait forget their token, those that do are elected: any threads of a block, whole
    /// warps of a cluster (its barrier is `.aligned`), whole blocks of a grid (a block waits as one). A branch that keeps
    /// these together may be divergent in the group.
    ///
    /// ```text
    /// if block.thread_rank() < 32 { cluster.barrier_wait(token); } else { token.forget(); }    // one warp
    /// if block.thread_rank() == 0 { cluster.barrier_wait(token); } else { token.forget(); }    // a part of a warp
    /// ```
    fn check_elected(&mut self, block: BlockId, group: Group, at: SpanRange) {
        let elects = |branch: &BlockId| {
            let tested = self.values.tested(*branch);
            let whole = match group {
                Group::Coalesced | Group::Tile | Group::ThreadBlock => return true,
                Group::Cluster => Uniformity::Warp,
                Group::Grid => Uniformity::Block,
            };
            tested.is_uniform(whole)
        };
        let branches: Vec<BlockId> = self.control().deciders(block).filter(|branch| !elects(branch)).collect();
        let fault = Fault { at, name: "barrier_wait", team: Team::whole(group), elected: true, more: 0 };
        self.check_branches(branches.into_iter(), block, fault);
    }

    /// Checks that the branches, which decide about `block`, are uniform in the group; `fault` is what to report otherwise.
    fn check_branches(&mut self, branches: impl Iterator<Item = BlockId>, block: BlockId, fault: Fault) {
        let Fault { at, name, team, .. } = fault;
        self.summary.add_group(team);
        for branch in branches {
            let tested = self.values.tested(branch);
            if tested.at_most.covers(team.uniformity) {
                let explain = Explain::new(self.function, self.values, Uniformity::Grid);
                let chain = || explain.branch(branch);
                let message = || messages::divergent_collective(at, name, team.group, 0, chain()).text();
                self.summary.oblige(Need::Team(team), tested, at, message);
                continue;
            }
            if self.keeps_together(branch, block, team.uniformity) {
                continue;
            }
            let leaves = control::leaves(self.cfg, branch, block);
            self.found.entry((branch, leaves)).and_modify(|fault| fault.more += 1).or_insert(fault);
        }
    }

    /// Whether no group of which a thread comes to `block` parts at a branch, by the ranks of its threads.
    ///
    /// ```text
    /// if rank == 64 { .. } else if rank < 64 { warp.sync(); }  // the warp of thread 64 does not come
    /// ```
    fn keeps_together(&self, branch: BlockId, block: BlockId, group: Uniformity) -> bool {
        let size = match group {
            Uniformity::Tile(bits) => 1 << bits,
            Uniformity::Warp => 32,
            Uniformity::Warpgroup => 128,
            Uniformity::Divergent
            | Uniformity::Rank
            | Uniformity::Group(_)
            | Uniformity::Parameter(_)
            | Uniformity::Block
            | Uniformity::Cluster
            | Uniformity::Grid => return false,
        };
        let reached = || Reached::of(self.function, self.cfg);
        self.function.role == Role::Kernel && self.reached.get_or_init(reached).keeps_together(branch, block, size)
    }

    /// `divergent_aligned`: all threads of a warp reach an `.aligned` barrier together, even where some of its group may not.
    ///
    /// ```text
    /// if block.thread_rank() < 16 { block.sync_aligned(); }    // half of a warp
    /// ```
    fn check_aligned(&mut self, block: BlockId, name: &'static str, at: SpanRange) {
        if self.function.role != Role::Kernel {
            self.unaligned.push(messages::aligned_in_function(at, name));
            return;
        }
        let proved = |branch: &BlockId| self.values.tested(*branch).is_uniform(Uniformity::Warp);
        let Some(branch) = self.control().deciders(block).find(|branch| !proved(branch)) else { return };
        let leaves = control::leaves(self.cfg, branch, block);
        let rule = if leaves { Rule::DivergentExit } else { Rule::DivergentCollective };
        if self.function.waives(rule) {
            let explain = Explain::new(self.function, self.values, Uniformity::Warp);
            self.unaligned.push(messages::divergent_aligned(at, name, explain.branch(branch)));
        }
    }

    fn report(self, diags: &mut Diags) -> Summary {
        let mut reports: Vec<Diag> = Vec::new();
        for ((branch, leaves), fault) in &self.found {
            let condition = self.cfg.blocks[branch.0].end.condition().map(|on| self.cfg.nodes[on.0].at);
            if let Some(known) = reports.iter_mut().find(|known| known.at.begins_with(fault.at))
                && let Some(condition) = condition
            {
                *known = messages::decides_too(known.clone(), condition);
                continue;
            }
            let explain = Explain::new(self.function, self.values, fault.team.uniformity);
            let chain = explain.branch(*branch);
            let diag = match leaves {
                true => messages::divergent_exit(fault.at, fault.name, fault.team.group, fault.more, chain),
                false => {
                    let diag =
                        messages::divergent_collective(fault.at, fault.name, fault.team.group, fault.more, chain);
                    let condition = self.cfg.blocks[branch.0].end.condition();
                    if condition.is_some_and(|on| compares_rank(self.cfg, on)) {
                        messages::certainly(diag, fault.team.group)
                    } else {
                        diag
                    }
                }
            };
            let diag = match explain.unordered_read() {
                Some((read, group)) => messages::barrier_before(diag, read, group),
                None => match explain.overwritten_read() {
                    Some(read) => messages::barrier_after(diag, read),
                    None => diag,
                },
            };
            reports.push(if fault.elected { messages::elected_wait(diag, fault.team.group) } else { diag });
        }
        reports.into_iter().chain(self.unaligned).chain(self.unagreed).for_each(|diag| diags.push(diag));
        self.summary
    }
}

/// Whether a condition compares a rank with a number, so that it differs between threads.
fn compares_rank(cfg: &Cfg<'_>, on: NodeId) -> bool {
    let node = &cfg.nodes[on.0];
    let (Source::Binary(op) | Source::Round(_, op), [a, b]) = (&node.source, &node.operands[..]) else { return false };
    let is_number = |node: NodeId| cfg.nodes[node.0].source.integer().is_some();
    let is_rank = |node: NodeId| {
        let origin = cfg.origin(node);
        let is_of_block = cfg.queries.get(&origin).is_some_and(|(_, query)| query.answer == Answer::BlockRank);
        is_of_block
            || matches!(cfg.nodes[origin.0].source, Source::ThreadRank | Source::Known { what: "thread_rank", .. })
    };
    let compares =
        matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge);
    compares && (is_rank(*a) && is_number(*b) || is_number(*a) && is_rank(*b))
}

/// The groups whose sizes only callers know, with the positions of their parameters.
fn groups(cfg: &Cfg<'_>) -> Vec<(Uniformity, usize)> {
    cfg.teams.iter().filter_map(|team| Some((team.uniformity, team.param?))).collect()
}

/// A scope at which a value of this level is not uniform.
fn beyond(level: &Level) -> Uniformity {
    match level.at_most {
        Uniformity::Divergent
        | Uniformity::Rank
        | Uniformity::Group(_)
        | Uniformity::Parameter(_)
        | Uniformity::Tile(_)
        | Uniformity::Warp
        | Uniformity::Warpgroup => Uniformity::Block,
        Uniformity::Block => Uniformity::Cluster,
        Uniformity::Cluster | Uniformity::Grid => Uniformity::Grid,
    }
}
